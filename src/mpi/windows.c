/* SPDX-License-Identifier: MIT */
/*
 * Windows, and when what is done with them may begin and is over; see window.h.  As in Open MPI's osc/ucx, a
 * fence is over when all that has been begun is and all ranks have met; locks are words of the rank that they
 * lock; and what is done locally is done everywhere.
 */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/schedule.h"
#include "mpi/window.h"

enum { TAG_POST, TAG_COMPLETE };
#define UNTIMED "one-sided communication (MPI_Win_...) over such a communicator"

static struct {
    int key;
    struct window *list;
} windows = {.key = MPI_KEYVAL_INVALID};

struct window *window_of(MPI_Win win)
{
    void *value;
    int found = 0;
    if (win != MPI_WIN_NULL && windows.key != MPI_KEYVAL_INVALID)
        PMPI_Win_get_attr(win, windows.key, &value, &found);
    return found ? value : NULL;
}

struct window *window_by(uint64_t context)
{
    struct window *w = windows.list;
    while (w->group->context != context)
        w = w->next;
    return w;
}

int window_error(const struct window *w, int error)
{
    PMPI_Win_call_errhandler(w->handle, error);
    return error;
}

static bool is_among(const uint64_t *ranks, int count, uint64_t rank)
{
    for (int i = 0; i < count; i++)
        if (ranks[i] == rank)
            return true;
    return false;
}

bool window_is_open(const struct window *w, int target)
{
    return w->fenced || w->lock[target] != LOCK_NONE ||
           is_among(w->started, w->starts, w->group->rank[target]);
}

/* ---- making ---- */

static void add(MPI_Win win, MPI_Comm comm, void *base, int64_t bytes, int unit)
{
    struct window *w = must(calloc(1, sizeof(*w)));
    const struct window_part mine = {bytes, unit};
    w->comm = group_copy(comm);
    w->group = group_of(w->comm);
    w->handle = win;
    w->base = base;
    w->dynamic = bytes < 0;
    w->end = &w->first;
    w->starts = w->posts = -1;
    w->part = must(calloc((size_t)w->group->ranks, sizeof(*w->part)));
    w->lock = must(calloc((size_t)w->group->ranks, 1));
    PMPI_Allgather(&mine, sizeof(mine), MPI_BYTE, w->part, sizeof(mine), MPI_BYTE, w->comm);
    if (windows.key == MPI_KEYVAL_INVALID)
        PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &windows.key, NULL);
    PMPI_Win_set_attr(win, windows.key, w);
    w->next = windows.list;
    windows.list = w;
}

static void drop(struct window *w)
{
    struct window **at = &windows.list;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    PMPI_Comm_free(&w->comm);
    free(w->part);
    free(w->lock);
    free(w->started);
    free(w->posted);
    free(w->awaited);
    free(w);
}

#define MAKES(Name, parameters, arguments, base, bytes, unit)                                                \
    ENTRY int MPI_##Name parameters                                                                          \
    {                                                                                                        \
        struct turn turn;                                                                                    \
        if (!turn_begin(&turn))                                                                              \
            return PMPI_##Name arguments;                                                                    \
        struct group_known *group = group_of(comm);                                                          \
        if (group)                                                                                           \
            group_meet(&turn, group, COLLECT_MEET);                                                          \
        else if (comm != MPI_COMM_NULL)                                                                      \
            turn_outside(&turn, UNTIMED);                                                                    \
        const int error = PMPI_##Name arguments;                                                             \
        if (error == MPI_SUCCESS && group)                                                                   \
            add(*win, comm, base, bytes, unit);                                                              \
        turn_end(&turn);                                                                                     \
        return error;                                                                                        \
    }
MAKES(Win_create, (void *memory, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
      (memory, size, unit, info, comm, win), memory, size, unit)
MAKES(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *win),
      (size, unit, info, comm, memory, win), *(void **)memory, size, unit)
MAKES(Win_allocate_shared,
      (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *win),
      (size, unit, info, comm, memory, win), *(void **)memory, size, unit)
MAKES(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win), NULL, -1, 1)

/* ---- what the calls do ---- */

static uint64_t *ranks_of(MPI_Group group, int *count)
{
    MPI_Group all;
    PMPI_Group_size(group, count);
    int *own = must(calloc((size_t)*count + 1, sizeof(*own))),
        *world = must(calloc((size_t)*count + 1, sizeof(*world)));
    uint64_t *ranks = must(calloc((size_t)*count + 1, sizeof(*ranks)));
    for (int i = 0; i < *count; i++)
        own[i] = i;
    PMPI_Comm_group(client_wire(), &all);
    PMPI_Group_translate_ranks(group, *count, own, all, world);
    PMPI_Group_free(&all);
    for (int i = 0; i < *count; i++)
        ranks[i] = (uint64_t)world[i];
    free(own);
    free(world);
    return ranks;
}

/* True: they are done, and their numbers are free. */
static bool await(struct turn *turn, const uint64_t *numbers, int count, uint32_t flags)
{
    struct order_done *done = must(calloc((size_t)count + 1, sizeof(*done)));
    const uint32_t n =
        client_ask(turn, (struct order_op){.kind = ORDER_AWAIT, .flags = flags, .words = (uint32_t)count},
                   numbers, done);
    free(done);
    if (n < (uint32_t)count)
        return false;
    for (int i = 0; i < count; i++)
        request_free_number((uint32_t)numbers[i]);
    return true;
}

static void notify(struct turn *turn, const struct window *w, uint64_t rank, int tag)
{
    turn->ps += client_overhead_ps();
    client_tell(turn,
                (struct order_op){
                    .kind = ORDER_SEND, .context = w->group->context, .peer = (int32_t)rank, .tag = tag},
                NULL);
}

/* Requests for that of each. */
static uint64_t *expect(const struct turn *turn, const struct window *w, const uint64_t *ranks, int count,
                        int tag)
{
    uint64_t *numbers = must(calloc((size_t)count + 1, sizeof(*numbers)));
    for (int i = 0; i < count; i++) {
        numbers[i] = request_number();
        client_tell(turn,
                    (struct order_op){.kind = ORDER_RECEIVE,
                                      .context = w->group->context,
                                      .request = (uint32_t)numbers[i],
                                      .peer = (int32_t)ranks[i],
                                      .tag = tag},
                    NULL);
    }
    return numbers;
}

static int fence(struct turn *turn, struct window *w, int assertion)
{
    access_flush(turn, w, -1);
    group_meet(turn, w->group, COLLECT_BARRIER);
    w->fenced = !(assertion & MPI_MODE_NOSUCCEED);
    return MPI_SUCCESS;
}

static int post(struct turn *turn, struct window *w, MPI_Group group, int assertion)
{
    if (w->posts >= 0)
        return window_error(w, MPI_ERR_RMA_SYNC);
    w->posted = ranks_of(group, &w->posts);
    w->awaited = expect(turn, w, w->posted, w->posts, TAG_COMPLETE);
    for (int i = 0; i < w->posts && !(assertion & MPI_MODE_NOCHECK); i++)
        notify(turn, w, w->posted[i], TAG_POST);
    return MPI_SUCCESS;
}

static int wait(struct turn *turn, struct window *w, int *flag)
{
    if (w->posts < 0)
        return window_error(w, MPI_ERR_RMA_SYNC);
    const bool done = await(turn, w->awaited, w->posts, flag ? 0 : ORDER_BLOCKS);
    if (flag)
        *flag = done;
    if (done) {
        free(w->posted);
        free(w->awaited);
        w->posted = w->awaited = NULL;
        w->posts = -1;
    }
    return MPI_SUCCESS;
}

static int start(struct turn *turn, struct window *w, MPI_Group group, int assertion)
{
    if (w->starts >= 0)
        return window_error(w, MPI_ERR_RMA_SYNC);
    w->started = ranks_of(group, &w->starts);
    w->fenced = false;
    if (assertion & MPI_MODE_NOCHECK)
        return MPI_SUCCESS;
    uint64_t *numbers = expect(turn, w, w->started, w->starts, TAG_POST);
    await(turn, numbers, w->starts, ORDER_BLOCKS);
    free(numbers);
    return MPI_SUCCESS;
}

static int complete(struct turn *turn, struct window *w)
{
    if (w->starts < 0)
        return window_error(w, MPI_ERR_RMA_SYNC);
    access_flush(turn, w, -1);
    for (int i = 0; i < w->starts; i++)
        notify(turn, w, w->started[i], TAG_COMPLETE);
    free(w->started);
    w->started = NULL;
    w->starts = -1;
    return MPI_SUCCESS;
}

static void tell_lock(struct turn *turn, const struct window *w, int rank, enum order_remote what,
                      uint64_t number)
{
    turn->ps += client_overhead_ps();
    client_tell(turn,
                (struct order_op){.kind = ORDER_REMOTE,
                                  .context = w->group->context,
                                  .request = (uint32_t)number,
                                  .peer = (int32_t)w->group->rank[rank],
                                  .tag = (int32_t)what},
                NULL);
}

/* Of ranks from `first` to before `end`: asked for one after another, and waited for together. */
static int lock(struct turn *turn, struct window *w, enum order_remote what, int first, int end,
                int assertion)
{
    for (int i = first; i < end; i++)
        if (w->lock[i] != LOCK_NONE)
            return window_error(w, MPI_ERR_RMA_SYNC);
    uint64_t *numbers = must(calloc((size_t)w->group->ranks, sizeof(*numbers)));
    const bool unchecked = assertion & MPI_MODE_NOCHECK;
    for (int i = first; i < end; i++) {
        w->lock[i] = unchecked ? LOCK_UNCHECKED : LOCK_TAKEN;
        if (unchecked)
            continue;
        numbers[i - first] = request_number();
        tell_lock(turn, w, i, what, numbers[i - first]);
    }
    if (!unchecked && end > first)
        await(turn, numbers, end - first, ORDER_BLOCKS);
    free(numbers);
    w->fenced = false;
    return MPI_SUCCESS;
}

static int unlock(struct turn *turn, struct window *w, int first, int end)
{
    for (int i = first; i < end; i++)
        if (w->lock[i] == LOCK_NONE)
            return window_error(w, MPI_ERR_RMA_SYNC);
    access_flush(turn, w, end - first == 1 ? first : -1);
    for (int i = first; i < end; i++) {
        if (w->lock[i] == LOCK_TAKEN)
            tell_lock(turn, w, i, REMOTE_UNLOCK, 0);
        w->lock[i] = LOCK_NONE;
    }
    return MPI_SUCCESS;
}

/* Of one rank: MPI_PROC_NULL has nothing, and what is none is wrong. */
static bool is_rank(const struct window *w, int rank, int *error)
{
    const bool good = rank >= 0 && rank < w->group->ranks;
    *error = good || rank == MPI_PROC_NULL ? MPI_SUCCESS : window_error(w, MPI_ERR_RANK);
    return good;
}

static int lock_one(struct turn *turn, struct window *w, int kind, int rank, int assertion)
{
    const enum order_remote what = kind == MPI_LOCK_SHARED ? REMOTE_LOCK_SHARED : REMOTE_LOCK;
    int error;
    return is_rank(w, rank, &error) ? lock(turn, w, what, rank, rank + 1, assertion) : error;
}

static int unlock_one(struct turn *turn, struct window *w, int rank)
{
    int error;
    return is_rank(w, rank, &error) ? unlock(turn, w, rank, rank + 1) : error;
}

static int flush(struct turn *turn, struct window *w, int rank)
{
    int error;
    if (is_rank(w, rank, &error))
        access_flush(turn, w, rank);
    return error;
}

static int flush_all(struct turn *turn, struct window *w)
{
    access_flush(turn, w, -1);
    return MPI_SUCCESS;
}

/* What others have done until now is there; who looks again and again gets on. */
static int sync_memory(struct turn *turn)
{
    await(turn, NULL, 0, 0);
    turn->ps += client_poll_ps();
    return MPI_SUCCESS;
}

static int free_window(struct turn *turn, struct window *w, MPI_Win *win)
{
    access_flush(turn, w, -1);
    group_meet(turn, w->group, COLLECT_MEET); /* of a barrier, who is through would wait in Open MPI's call */
    drop(w);
    return PMPI_Win_free(win);
}

#define CALL(Name, parameters, arguments, win, call)                                                         \
    ENTRY int MPI_##Name parameters                                                                          \
    {                                                                                                        \
        struct turn turn;                                                                                    \
        int error;                                                                                           \
        if (!turn_begin(&turn))                                                                              \
            return PMPI_##Name arguments;                                                                    \
        struct window *w = window_of(win);                                                                   \
        if (w) {                                                                                             \
            error = call;                                                                                    \
        } else {                                                                                             \
            turn_outside(&turn, UNTIMED);                                                                    \
            error = PMPI_##Name arguments;                                                                   \
        }                                                                                                    \
        turn_end(&turn);                                                                                     \
        return error;                                                                                        \
    }
CALL(Win_free, (MPI_Win * win), (win), *win, free_window(&turn, w, win))
CALL(Win_fence, (int assertion, MPI_Win win), (assertion, win), win, fence(&turn, w, assertion))
CALL(Win_post, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win), win,
     post(&turn, w, group, assertion))
CALL(Win_start, (MPI_Group group, int assertion, MPI_Win win), (group, assertion, win), win,
     start(&turn, w, group, assertion))
CALL(Win_complete, (MPI_Win win), (win), win, complete(&turn, w))
CALL(Win_wait, (MPI_Win win), (win), win, wait(&turn, w, NULL))
CALL(Win_test, (MPI_Win win, int *flag), (win, flag), win, wait(&turn, w, flag))
CALL(Win_lock, (int kind, int rank, int assertion, MPI_Win win), (kind, rank, assertion, win), win,
     lock_one(&turn, w, kind, rank, assertion))
CALL(Win_unlock, (int rank, MPI_Win win), (rank, win), win, unlock_one(&turn, w, rank))
CALL(Win_lock_all, (int assertion, MPI_Win win), (assertion, win), win,
     lock(&turn, w, REMOTE_LOCK_SHARED, 0, w->group->ranks, assertion))
CALL(Win_unlock_all, (MPI_Win win), (win), win, unlock(&turn, w, 0, w->group->ranks))
CALL(Win_flush, (int rank, MPI_Win win), (rank, win), win, flush(&turn, w, rank))
CALL(Win_flush_local, (int rank, MPI_Win win), (rank, win), win, flush(&turn, w, rank))
CALL(Win_flush_all, (MPI_Win win), (win), win, flush_all(&turn, w))
CALL(Win_flush_local_all, (MPI_Win win), (win), win, flush_all(&turn, w))
CALL(Win_sync, (MPI_Win win), (win), win, sync_memory(&turn))
