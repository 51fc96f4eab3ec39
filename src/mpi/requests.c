/* SPDX-License-Identifier: MIT */
/* Requests, and the calls that wait for them; see client.h. */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/window.h"

enum { BUCKETS = 1024 };

static struct {
    struct call *bucket[BUCKETS];
    uint32_t *spare; /* numbers that are used again */
    uint32_t spares, room, most;
} requests;

uint32_t request_number(void)
{
    return requests.spares ? requests.spare[--requests.spares] : ++requests.most;
}

void request_free_number(uint32_t number)
{
    if (requests.spares == requests.room) {
        requests.room = requests.room ? 2 * requests.room : 64;
        requests.spare = must(realloc(requests.spare, requests.room * sizeof(*requests.spare)));
    }
    requests.spare[requests.spares++] = number;
}

static struct call **bucket_of(MPI_Request handle)
{
    return &requests.bucket[(uintptr_t)handle / 64 % BUCKETS];
}

static struct call *call_of(MPI_Request handle)
{
    struct call *c = handle == MPI_REQUEST_NULL ? NULL : *bucket_of(handle);
    while (c && c->handle != handle)
        c = c->next;
    return c;
}

/* Type and communicator are the program's, which may free them. */
static bool is_message(const struct call *c)
{
    return c->kind == CALL_SEND || c->kind == CALL_RECEIVE;
}

void request_give(const struct call *call, MPI_Request *handle)
{
    struct call *c = must(malloc(sizeof(*c)));
    *c = *call;
    /* One that is Open MPI's, and that it makes nothing of. */
    PMPI_Recv_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, handle);
    if (is_message(c)) {
        PMPI_Type_dup(c->type, &c->type);
        c->group = group_keep(c->comm);
    }
    c->handle = *handle;
    c->next = *bucket_of(*handle);
    *bucket_of(*handle) = c;
}

static void drop(struct call *c)
{
    struct call **at = bucket_of(c->handle);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    request_free_number(c->number);
    if (is_message(c)) {
        PMPI_Type_free(&c->type);
        group_drop(c->group);
    }
    PMPI_Request_free(&c->handle);
    free(c);
}

/* Its error is told by calls that complete several, and is left alone by those of one (MPI 4.0, 3.2.5). */
static void give(MPI_Status *status, const MPI_Status *found)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    const int error = status->MPI_ERROR;
    *status = *found;
    status->MPI_ERROR = error;
}

void request_empty(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
}

int request_receive(const struct call *c, const struct order_done *done, MPI_Status *status)
{
    MPI_Status own;
    const struct group_known *g = c->group ? c->group : group_of(c->comm);
    int error = PMPI_Recv(c->into, c->count, c->type, done->peer, (int)done->serial, client_wire(), &own);
    own.MPI_SOURCE = group_rank_of(g, done->peer);
    own.MPI_TAG = done->tag;
    give(status, &own);
    return error == MPI_SUCCESS ? error : message_error(c->comm, error);
}

/* What the order says is done is done here as well. */
static int finish(MPI_Request *handle, const struct order_done *done, MPI_Status *status)
{
    struct call *c = call_of(*handle);
    int error = MPI_SUCCESS;
    request_empty(status);
    if (c->kind == CALL_COLLECT) {
        error = PMPI_Wait(&c->real, status);
        client_busy(-1);
    } else if (c->kind == CALL_ACCESS) {
        error = access_finish(c->access);
    } else if (done->cancelled) {
        if (status != MPI_STATUS_IGNORE)
            PMPI_Status_set_cancelled(status, 1);
    } else if (c->kind == CALL_RECEIVE) {
        error = request_receive(c, done, status);
    }
    c->active = false;
    if (!c->persistent) {
        drop(c);
        *handle = MPI_REQUEST_NULL;
    }
    return error;
}

/* ---- calls that wait, or look ---- */

static MPI_Status *nth(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

#define PENDING "a request of MPI-IO, or of another call that takes none,"

/* Those of a call's requests that are the order's, and where they stand there. */
struct asked {
    uint64_t *number;
    int *place;
    struct order_done *done;
    uint32_t count;
    /* There are some of Open MPI's as well; and they are not done yet, as those to nobody are. */
    bool others, pending;
};

static struct asked look_up(int count, const MPI_Request handles[])
{
    const size_t n = count > 0 ? (size_t)count : 1;
    struct asked a = {.number = must(calloc(n, sizeof(*a.number))),
                      .place = must(calloc(n, sizeof(*a.place))),
                      .done = must(calloc(n, sizeof(*a.done)))};
    for (int i = 0; i < count; i++) {
        const struct call *c = call_of(handles[i]);
        if (c && c->active) {
            a.place[a.count] = i;
            a.number[a.count++] = c->number;
        }
        if (!c && handles[i] != MPI_REQUEST_NULL) {
            int done;
            PMPI_Request_get_status(handles[i], &done, MPI_STATUS_IGNORE);
            a.others = true;
            a.pending |= !done;
        }
    }
    return a;
}

static void put_back(const struct asked *a)
{
    free(a->number);
    free(a->place);
    free(a->done);
}

static uint32_t ask(struct turn *turn, const struct asked *a, uint32_t flags)
{
    return client_ask(turn, (struct order_op){.kind = ORDER_AWAIT, .flags = flags, .words = a->count},
                      a->number, a->done);
}

/* All of them; *flag false: not all are done, and none is taken. */
static int all(int count, MPI_Request handles[], MPI_Status statuses[], int *flag)
{
    struct turn turn;
    int error = MPI_SUCCESS;
    if (!turn_begin(&turn))
        return flag ? PMPI_Testall(count, handles, flag, statuses) : PMPI_Waitall(count, handles, statuses);
    struct asked a = look_up(count, handles);
    bool done = true;
    if (flag && a.pending) /* ours are not to be taken unless theirs are done as well */
        done = false;
    if (done && a.count)
        done = ask(&turn, &a, flag ? 0 : ORDER_BLOCKS) == a.count;
    if (flag)
        *flag = done;
    if (done && a.pending)
        turn_outside(&turn, PENDING);
    uint32_t next = 0;
    for (int i = 0; i < count && done; i++) {
        int one = MPI_SUCCESS;
        if (next < a.count && a.place[next] == i)
            one = finish(&handles[i], &a.done[next++], nth(statuses, i));
        else if (!call_of(handles[i]))
            one = PMPI_Wait(&handles[i], nth(statuses, i));
        else
            request_empty(nth(statuses, i));
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = one;
        if (one != MPI_SUCCESS)
            error = MPI_ERR_IN_STATUS;
    }
    put_back(&a);
    turn_end(&turn);
    return error;
}

/* One of Open MPI's that is done; false: none is. */
static bool any_other(int count, MPI_Request handles[], int *index, MPI_Status *status, int *error)
{
    for (int i = 0; i < count; i++) {
        int flag = 0;
        if (handles[i] == MPI_REQUEST_NULL || call_of(handles[i]))
            continue;
        *error = PMPI_Test(&handles[i], &flag, status);
        if (flag) {
            *index = i;
            return true;
        }
    }
    return false;
}

static int any(int count, MPI_Request handles[], int *index, MPI_Status *status, int *flag)
{
    struct turn turn;
    int error = MPI_SUCCESS;
    if (!turn_begin(&turn))
        return flag ? PMPI_Testany(count, handles, index, flag, status)
                    : PMPI_Waitany(count, handles, index, status);
    struct asked a = look_up(count, handles);
    bool done = !a.count && !a.others;
    *index = MPI_UNDEFINED;
    if (done)
        request_empty(status);
    if (a.others)
        done = any_other(count, handles, index, status, &error);
    if (!done && a.pending)
        turn_outside(&turn, PENDING);
    while (!done) {
        done = a.pending && any_other(count, handles, index, status, &error);
        if (!done && a.count && !turn.outside &&
            ask(&turn, &a, ORDER_ONE | (flag ? 0 : (uint32_t)ORDER_BLOCKS))) {
            *index = a.place[a.done->index];
            error = finish(&handles[*index], a.done, status);
            done = true;
        } else if (!done && a.count && turn.outside) { /* both kinds: by turns */
            client_ask(&turn, (struct order_op){.kind = ORDER_IN}, NULL, NULL);
            if (ask(&turn, &a, ORDER_ONE)) {
                *index = a.place[a.done->index];
                error = finish(&handles[*index], a.done, status);
                done = true;
            }
            client_tell(&turn, (struct order_op){.kind = ORDER_OUT}, NULL);
        }
        if (flag)
            break;
    }
    if (flag)
        *flag = done;
    put_back(&a);
    turn_end(&turn);
    return error;
}

static int some(int count, MPI_Request handles[], int *taken, int indices[], MPI_Status statuses[],
                bool waits)
{
    struct turn turn;
    int error = MPI_SUCCESS;
    if (!turn_begin(&turn))
        return waits ? PMPI_Waitsome(count, handles, taken, indices, statuses)
                     : PMPI_Testsome(count, handles, taken, indices, statuses);
    struct asked a = look_up(count, handles);
    *taken = a.count || a.others ? 0 : MPI_UNDEFINED;
    if (!a.count && a.pending) { /* none that the order knows of */
        turn_outside(&turn, PENDING);
        put_back(&a);
        error = waits ? PMPI_Waitsome(count, handles, taken, indices, statuses)
                      : PMPI_Testsome(count, handles, taken, indices, statuses);
        turn_end(&turn);
        return error;
    }
    for (int i = 0; i < count && a.others; i++) {
        int flag = 0;
        if (handles[i] == MPI_REQUEST_NULL || call_of(handles[i]))
            continue;
        const int one = PMPI_Test(&handles[i], &flag, nth(statuses, *taken));
        if (flag && statuses != MPI_STATUSES_IGNORE)
            statuses[*taken].MPI_ERROR = one;
        if (flag)
            indices[(*taken)++] = i;
    }
    if (a.count) {
        const uint32_t n =
            ask(&turn, &a, ORDER_SOME | (waits && *taken == 0 && !a.pending ? (uint32_t)ORDER_BLOCKS : 0));
        for (uint32_t i = 0; i < n; i++) {
            const int place = a.place[a.done[i].index];
            const int one = finish(&handles[place], &a.done[i], nth(statuses, *taken));
            if (statuses != MPI_STATUSES_IGNORE)
                statuses[*taken].MPI_ERROR = one;
            if (one != MPI_SUCCESS)
                error = MPI_ERR_IN_STATUS;
            indices[(*taken)++] = place;
        }
    }
    put_back(&a);
    turn_end(&turn);
    return waits && *taken == 0 ? some(count, handles, taken, indices, statuses, waits) : error;
}

/* Of one request its error is the call's. */
static int error_of(int error, const MPI_Status *status)
{
    return error == MPI_ERR_IN_STATUS ? status->MPI_ERROR : error;
}

ENTRY int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status own = {0};
    const int error = all(1, request, &own, NULL);
    give(status, &own);
    return error_of(error, &own);
}

ENTRY int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own = {0};
    const int error = all(1, request, &own, flag);
    if (*flag)
        give(status, &own);
    return error_of(error, &own);
}

ENTRY int MPI_Waitall(int count, MPI_Request requests_[], MPI_Status statuses[])
{
    return all(count, requests_, statuses, NULL);
}

ENTRY int MPI_Testall(int count, MPI_Request requests_[], int *flag, MPI_Status statuses[])
{
    return all(count, requests_, statuses, flag);
}

ENTRY int MPI_Waitany(int count, MPI_Request requests_[], int *index, MPI_Status *status)
{
    return any(count, requests_, index, status, NULL);
}

ENTRY int MPI_Testany(int count, MPI_Request requests_[], int *index, int *flag, MPI_Status *status)
{
    return any(count, requests_, index, status, flag);
}

ENTRY int MPI_Waitsome(int count, MPI_Request requests_[], int *taken, int indices[], MPI_Status statuses[])
{
    return some(count, requests_, taken, indices, statuses, true);
}

ENTRY int MPI_Testsome(int count, MPI_Request requests_[], int *taken, int indices[], MPI_Status statuses[])
{
    return some(count, requests_, taken, indices, statuses, false);
}

/* It stays as it is. */
ENTRY int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct turn turn;
    const struct call *c = call_of(request);
    if (!c || !turn_begin(&turn))
        return PMPI_Request_get_status(request, flag, status);
    struct asked a = look_up(1, &request);
    request_empty(status);
    *flag = !a.count || ask(&turn, &a, ORDER_KEEP);
    if (*flag && a.count && c->kind == CALL_RECEIVE && status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = group_rank_of(c->group, a.done->peer);
        status->MPI_TAG = a.done->tag;
        PMPI_Status_set_elements(status, MPI_BYTE, (int)a.done->bytes);
    }
    put_back(&a);
    turn_end(&turn);
    return MPI_SUCCESS;
}

ENTRY int MPI_Start(MPI_Request *request)
{
    struct turn turn;
    struct call *c = call_of(*request);
    if (!c || !turn_begin(&turn))
        return PMPI_Start(request);
    const int error = message_start(&turn, c);
    turn_end(&turn);
    return error;
}

ENTRY int MPI_Startall(int count, MPI_Request requests_[])
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        error = MPI_Start(&requests_[i]);
    return error;
}

ENTRY int MPI_Cancel(MPI_Request *request)
{
    struct turn turn;
    const struct call *c = call_of(*request);
    if (!c || !turn_begin(&turn))
        return PMPI_Cancel(request);
    if (c->active && c->kind == CALL_RECEIVE)
        client_tell(&turn, (struct order_op){.kind = ORDER_CANCEL, .request = c->number}, NULL);
    turn_end(&turn);
    return MPI_SUCCESS;
}

/* What is active is waited for: who frees it may not ask any more, but its bytes have to come. */
ENTRY int MPI_Request_free(MPI_Request *request)
{
    struct turn turn;
    struct call *c = call_of(*request);
    if (!c || !turn_begin(&turn))
        return PMPI_Request_free(request);
    if (c->active) {
        struct asked a = look_up(1, request);
        c->persistent = false;
        ask(&turn, &a, ORDER_BLOCKS);
        finish(request, a.done, MPI_STATUS_IGNORE);
        put_back(&a);
    } else {
        drop(c);
        *request = MPI_REQUEST_NULL;
    }
    turn_end(&turn);
    return MPI_SUCCESS;
}
