/* SPDX-License-Identifier: MIT */
/* What is done with windows; see window.h. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "mpi/window.h"

/* Bytes of the target's type, from its place on. */
struct run {
    int64_t offset, bytes;
};

/* What goes to the window's rank: this, its runs, and the packed bytes of what is put there.  A type or an
 * operation is one of MPI's own, by its number in Fortran, which is the same in every process. */
struct head {
    uint64_t window;
    int64_t place;
    uint32_t kind;
    int32_t op, type;
    uint32_t runs;
    uint64_t bytes; /* of all runs */
    bool back;      /* what was there goes back */
};

/* ---- types ---- */

static bool is_named(MPI_Datatype type)
{
    int ints, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* What all of it is made of. */
static MPI_Datatype element_of(MPI_Datatype type)
{
    int ints, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED)
        return type;
    if (types == 0)
        return MPI_BYTE;
    int *integer = must(calloc((size_t)ints + 1, sizeof(*integer)));
    MPI_Aint *address = must(calloc((size_t)addresses + 1, sizeof(*address)));
    MPI_Datatype *part = must(calloc((size_t)types, sizeof(*part)));
    PMPI_Type_get_contents(type, ints, addresses, types, integer, address, part);
    const MPI_Datatype element = element_of(part[0]);
    for (int i = 0; i < types; i++)
        if (!is_named(part[i]))
            PMPI_Type_free(&part[i]);
    free(integer);
    free(address);
    free(part);
    return element;
}

/* Where each byte of so many of a type is: bytes of memory that say where they are, packed. */
static int64_t *places_of(MPI_Datatype type, int count, int64_t bytes)
{
    MPI_Aint none, extent, low, length;
    PMPI_Type_get_extent(type, &none, &extent);
    PMPI_Type_get_true_extent(type, &low, &length);
    const int64_t last = (int64_t)(count - 1) * extent, first = low + (last < 0 ? last : 0),
                  span = (last < 0 ? -last : last) + length;
    int64_t *place = must(calloc((size_t)bytes + 1, sizeof(*place)));
    unsigned char *memory = must(malloc((size_t)span + 1)), *packed = must(malloc((size_t)bytes + 1));
    for (unsigned shift = 0; shift < 64 && (span - 1) >> shift > 0; shift += 8) {
        int at = 0;
        for (int64_t i = 0; i < span; i++)
            memory[i] = (unsigned char)(i >> shift);
        PMPI_Pack(memory - first, count, type, packed, (int)bytes, &at, client_wire());
        for (int64_t i = 0; i < bytes; i++)
            place[i] |= (int64_t)packed[i] << shift;
    }
    for (int64_t i = 0; i < bytes; i++)
        place[i] += first;
    free(memory);
    free(packed);
    return place;
}

static struct run *runs_of(MPI_Datatype type, int count, uint32_t *runs)
{
    const int64_t bytes = (int64_t)message_bytes(count, type);
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    if (bytes == 0 || (is_named(type) && extent * count == bytes)) {
        struct run *whole = must(malloc(sizeof(*whole)));
        *whole = (struct run){0, bytes};
        *runs = bytes != 0;
        return whole;
    }
    int64_t *place = places_of(type, count, bytes);
    uint32_t n = 0;
    for (int64_t i = 0; i < bytes; i++)
        n += i == 0 || place[i] != place[i - 1] + 1;
    struct run *run = must(malloc(n * sizeof(*run)));
    n = 0;
    for (int64_t i = 0; i < bytes; i++) {
        if (i == 0 || place[i] != place[i - 1] + 1)
            run[n++] = (struct run){place[i], 0};
        run[n - 1].bytes++;
    }
    free(place);
    *runs = n;
    return run;
}

/* ---- of the rank that asks ---- */

static int check(const struct window *w, const struct access_call *c, const struct run *run, uint32_t runs)
{
    const struct window_part *part = &w->part[c->target];
    const uint64_t bytes = message_bytes(c->count, c->type);
    if (!window_is_open(w, c->target))
        return MPI_ERR_RMA_SYNC;
    if ((c->brings && message_bytes(c->from_count, c->from_type) != bytes) ||
        (c->fetches && message_bytes(c->into_count, c->into_type) != bytes))
        return MPI_ERR_TYPE;
    if (sizeof(struct head) + runs * sizeof(*run) + 2 * bytes > INT_MAX)
        return MPI_ERR_COUNT;
    for (uint32_t i = 0; i < runs && !w->dynamic; i++) {
        const int64_t at = c->place * part->unit + run[i].offset;
        if (at < 0 || at + run[i].bytes > part->bytes)
            return MPI_ERR_RMA_RANGE;
    }
    return MPI_SUCCESS;
}

/* Its number, of what goes to that rank. */
static uint64_t put_on_wire(const struct window *w, const struct access_call *c, const struct run *run,
                            uint32_t runs, uint64_t bytes)
{
    const bool has_type = c->kind == ACCESS_COMBINE || c->kind == ACCESS_SWAP;
    const struct head head = {.window = w->group->context,
                              .place = c->place,
                              .kind = (uint32_t)c->kind,
                              .op = c->kind == ACCESS_COMBINE ? PMPI_Op_c2f(c->op) : 0,
                              .type = has_type ? PMPI_Type_c2f(element_of(c->type)) : 0,
                              .runs = runs,
                              .bytes = bytes,
                              .back = c->fetches};
    const int room = (int)(sizeof(head) + runs * sizeof(*run) + 2 * bytes);
    int at = (int)(sizeof(head) + runs * sizeof(*run));
    char *memory = must(malloc((size_t)room));
    memcpy(memory, &head, sizeof(head));
    memcpy(memory + sizeof(head), run, runs * sizeof(*run));
    if (c->compare)
        PMPI_Pack(c->compare, 1, c->type, memory, room, &at, client_wire());
    if (c->brings)
        PMPI_Pack(c->from, c->from_count, c->from_type, memory, room, &at, client_wire());
    return message_put(memory, at, (int)w->group->rank[c->target]);
}

static void tell(struct turn *turn, const struct window *w, const struct access_call *c, uint64_t bytes,
                 const struct access *a)
{
    const bool combines =
        c->kind == ACCESS_SWAP || (c->kind == ACCESS_COMBINE && c->op != MPI_REPLACE && c->op != MPI_NO_OP);
    const uint64_t back = c->fetches ? bytes : 0;
    turn->ps += client_overhead_ps();
    client_tell(turn,
                (struct order_op){.kind = ORDER_REMOTE,
                                  .context = w->group->context,
                                  .bytes = (c->brings ? bytes : 0) + (c->compare ? bytes : 0),
                                  .serial = a->serial,
                                  .request = a->number,
                                  .peer = (int32_t)w->group->rank[c->target],
                                  .tag = combines ? REMOTE_COMBINE : REMOTE_ACCESS,
                                  .words = 1},
                &back);
}

/* `request`: NULL, or one that the program waits for. */
static int begin(struct turn *turn, struct window *w, const struct access_call *c, MPI_Request *request)
{
    uint32_t runs;
    if (c->target == MPI_PROC_NULL)
        return request ? PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request)
                       : MPI_SUCCESS;
    if (c->target < 0 || c->target >= w->group->ranks)
        return window_error(w, MPI_ERR_RANK);
    if (c->count < 0)
        return window_error(w, MPI_ERR_COUNT);
    struct run *run = runs_of(c->type, c->count, &runs);
    const uint64_t bytes = message_bytes(c->count, c->type);
    const int error = check(w, c, run, runs);
    if (error == MPI_SUCCESS) {
        struct access *a = must(calloc(1, sizeof(*a)));
        *a = (struct access){.number = request_number(),
                             .target = c->target,
                             .serial = put_on_wire(w, c, run, runs, bytes),
                             .given = request != NULL,
                             .window = w,
                             .fetches = c->fetches,
                             .into = c->into,
                             .count = c->into_count};
        if (a->fetches)
            PMPI_Type_dup(c->into_type, &a->type);
        *w->end = a;
        w->end = &a->next;
        tell(turn, w, c, bytes, a);
        if (request)
            request_give(
                &(struct call){.kind = CALL_ACCESS, .number = a->number, .active = true, .access = a},
                request);
    }
    free(run);
    return error == MPI_SUCCESS ? error : window_error(w, error);
}

/* What comes of it is here. */
static int take_back(struct access *a)
{
    if (!a->fetches)
        return MPI_SUCCESS;
    const int error = PMPI_Recv(a->into, a->count, a->type, (int)a->window->group->rank[a->target],
                                (int)a->serial, client_back(), MPI_STATUS_IGNORE);
    PMPI_Type_free(&a->type);
    return error == MPI_SUCCESS ? error : window_error(a->window, error);
}

static void unlink_at(struct window *w, struct access **at)
{
    struct access *a = *at;
    *at = a->next;
    if (!a->next)
        w->end = at;
}

static bool is_of(const struct access *a, int target)
{
    return target < 0 || a->target == target;
}

/* Those that the program has a request for, or has none. */
static void await(struct turn *turn, const struct window *w, int target, bool given)
{
    uint32_t count = 0;
    for (const struct access *a = w->first; a; a = a->next)
        count += is_of(a, target) && a->given == given;
    if (!count)
        return;
    uint64_t *number = must(calloc(count, sizeof(*number)));
    struct order_done *done = must(calloc(count, sizeof(*done)));
    count = 0;
    for (const struct access *a = w->first; a; a = a->next)
        if (is_of(a, target) && a->given == given)
            number[count++] = a->number;
    client_ask(turn,
               (struct order_op){.kind = ORDER_AWAIT,
                                 .flags = ORDER_BLOCKS | (given ? (uint32_t)ORDER_KEEP : 0),
                                 .words = count},
               number, done);
    free(number);
    free(done);
}

void access_flush(struct turn *turn, struct window *w, int target)
{
    await(turn, w, target, false);
    await(turn, w, target, true);
    for (struct access **at = &w->first, *a; (a = *at);) {
        if (!is_of(a, target)) {
            at = &a->next;
            continue;
        }
        unlink_at(w, at);
        take_back(a);
        a->over = true;
        if (!a->given) {
            request_free_number(a->number);
            free(a);
        }
    }
}

int access_finish(struct access *a)
{
    int error = MPI_SUCCESS;
    if (!a->over) {
        struct access **at = &a->window->first;
        while (*at != a)
            at = &(*at)->next;
        unlink_at(a->window, at);
        error = take_back(a);
    }
    free(a);
    return error;
}

/* ---- of the rank whose window it is ---- */

/* From the runs, one after another, or to them. */
static void gather(char *packed, const char *place, const struct run *run, uint32_t runs)
{
    for (uint32_t i = 0; i < runs; packed += run[i++].bytes)
        memcpy(packed, place + run[i].offset, (size_t)run[i].bytes);
}

static void scatter(char *place, const char *packed, const struct run *run, uint32_t runs)
{
    for (uint32_t i = 0; i < runs; packed += run[i++].bytes)
        memcpy(place + run[i].offset, packed, (size_t)run[i].bytes);
}

/* Packed elements of one type: what has come and what was there. */
static void combine(const struct head *head, const char *came, const char *was, char *result)
{
    const MPI_Datatype type = PMPI_Type_f2c(head->type);
    const int bytes = (int)head->bytes, count = bytes / (int)message_bytes(1, type);
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    char *in = must(calloc((size_t)count, (size_t)extent)),
         *inout = must(calloc((size_t)count, (size_t)extent));
    int at = 0;
    PMPI_Unpack(came, bytes, &at, in, count, type, client_wire());
    at = 0;
    PMPI_Unpack(was, bytes, &at, inout, count, type, client_wire());
    PMPI_Reduce_local(in, inout, count, type, PMPI_Op_f2c(head->op));
    at = 0;
    PMPI_Pack(inout, count, type, result, bytes, &at, client_wire());
    free(in);
    free(inout);
}

static void perform(const struct head *head, const struct run *run, const char *came, char *place, char *was)
{
    const MPI_Op op = head->kind == ACCESS_COMBINE ? PMPI_Op_f2c(head->op) : MPI_OP_NULL;
    gather(was, place, run, head->runs);
    if (head->kind == ACCESS_SWAP && memcmp(was, came, head->bytes) == 0)
        scatter(place, came + head->bytes, run, head->runs);
    if (head->kind == ACCESS_PUT || op == MPI_REPLACE)
        scatter(place, came, run, head->runs);
    if (head->kind == ACCESS_COMBINE && op != MPI_REPLACE && op != MPI_NO_OP && head->bytes) {
        char *result = must(malloc(head->bytes));
        combine(head, came, was, result);
        scatter(place, result, run, head->runs);
        free(result);
    }
}

void access_serve(int rank, uint64_t serial)
{
    struct head head;
    MPI_Message message;
    MPI_Status status;
    MPI_Request real;
    int bytes;
    PMPI_Mprobe(rank, (int)serial, client_wire(), &message, &status);
    PMPI_Get_count(&status, MPI_PACKED, &bytes);
    char *memory = must(malloc((size_t)bytes));
    PMPI_Mrecv(memory, bytes, MPI_PACKED, &message, MPI_STATUS_IGNORE);
    memcpy(&head, memory, sizeof(head));
    const struct window *w = window_by(head.window);
    struct run *run = must(malloc((head.runs + 1) * sizeof(*run)));
    memcpy(run, memory + sizeof(head), head.runs * sizeof(*run));
    char *was = must(malloc(head.bytes + 1)),
         *place = w->dynamic ? (char *)head.place : w->base + head.place * w->part[w->group->me].unit;
    perform(&head, run, memory + sizeof(head) + head.runs * sizeof(*run), place, was);
    free(run);
    free(memory);
    if (!head.back) {
        free(was);
        return;
    }
    PMPI_Isend(was, (int)head.bytes, MPI_PACKED, rank, (int)serial, client_back(), &real);
    client_keep(real, was);
}

/* ---- the calls ---- */

static int enter(MPI_Win win, const struct access_call *c, MPI_Request *request, bool *timed)
{
    struct turn turn;
    int error = MPI_SUCCESS;
    struct window *w = window_of(win);
    *timed = w && turn_begin(&turn);
    if (*timed) {
        error = begin(&turn, w, c, request);
        turn_end(&turn);
    }
    return error;
}

#define ACCESS(Name, parameters, arguments, request, ...)                                                    \
    ENTRY int MPI_##Name parameters                                                                          \
    {                                                                                                        \
        const struct access_call call = {__VA_ARGS__, .target = rank, .place = place, .count = count,        \
                                         .type = type};                                                      \
        bool timed;                                                                                          \
        const int error = enter(win, &call, request, &timed);                                                \
        return timed ? error : PMPI_##Name arguments;                                                        \
    }
#define FROM .brings = true, .from = from, .from_count = from_count, .from_type = from_type
#define INTO .fetches = true, .into = into, .into_count = into_count, .into_type = into_type

ACCESS(Put,
       (const void *from, int from_count, MPI_Datatype from_type, int rank, MPI_Aint place, int count,
        MPI_Datatype type, MPI_Win win),
       (from, from_count, from_type, rank, place, count, type, win), NULL, .kind = ACCESS_PUT, FROM)
ACCESS(Rput,
       (const void *from, int from_count, MPI_Datatype from_type, int rank, MPI_Aint place, int count,
        MPI_Datatype type, MPI_Win win, MPI_Request *request),
       (from, from_count, from_type, rank, place, count, type, win, request), request, .kind = ACCESS_PUT,
       FROM)
ACCESS(Get,
       (void *into, int into_count, MPI_Datatype into_type, int rank, MPI_Aint place, int count,
        MPI_Datatype type, MPI_Win win),
       (into, into_count, into_type, rank, place, count, type, win), NULL, .kind = ACCESS_GET, INTO)
ACCESS(Rget,
       (void *into, int into_count, MPI_Datatype into_type, int rank, MPI_Aint place, int count,
        MPI_Datatype type, MPI_Win win, MPI_Request *request),
       (into, into_count, into_type, rank, place, count, type, win, request), request, .kind = ACCESS_GET,
       INTO)
ACCESS(Accumulate,
       (const void *from, int from_count, MPI_Datatype from_type, int rank, MPI_Aint place, int count,
        MPI_Datatype type, MPI_Op op, MPI_Win win),
       (from, from_count, from_type, rank, place, count, type, op, win), NULL, .kind = ACCESS_COMBINE,
       .op = op, FROM)
ACCESS(Raccumulate,
       (const void *from, int from_count, MPI_Datatype from_type, int rank, MPI_Aint place, int count,
        MPI_Datatype type, MPI_Op op, MPI_Win win, MPI_Request *request),
       (from, from_count, from_type, rank, place, count, type, op, win, request), request,
       .kind = ACCESS_COMBINE, .op = op, FROM)
#undef FROM
/* What is not put there need not be anywhere. */
#define FROM .brings = op != MPI_NO_OP, .from = from, .from_count = from_count, .from_type = from_type
ACCESS(Get_accumulate,
       (const void *from, int from_count, MPI_Datatype from_type, void *into, int into_count,
        MPI_Datatype into_type, int rank, MPI_Aint place, int count, MPI_Datatype type, MPI_Op op,
        MPI_Win win),
       (from, from_count, from_type, into, into_count, into_type, rank, place, count, type, op, win), NULL,
       .kind = ACCESS_COMBINE, .op = op, FROM, INTO)
ACCESS(Rget_accumulate,
       (const void *from, int from_count, MPI_Datatype from_type, void *into, int into_count,
        MPI_Datatype into_type, int rank, MPI_Aint place, int count, MPI_Datatype type, MPI_Op op,
        MPI_Win win, MPI_Request *request),
       (from, from_count, from_type, into, into_count, into_type, rank, place, count, type, op, win, request),
       request, .kind = ACCESS_COMBINE, .op = op, FROM, INTO)
#undef FROM
#undef INTO

/* Of one element. */
ENTRY int MPI_Fetch_and_op(const void *from, void *into, MPI_Datatype type, int rank, MPI_Aint place,
                           MPI_Op op, MPI_Win win)
{
    const struct access_call call = {.kind = ACCESS_COMBINE,
                                     .brings = op != MPI_NO_OP,
                                     .fetches = true,
                                     .from = from,
                                     .from_count = 1,
                                     .from_type = type,
                                     .into = into,
                                     .into_count = 1,
                                     .into_type = type,
                                     .target = rank,
                                     .place = place,
                                     .count = 1,
                                     .type = type,
                                     .op = op};
    bool timed;
    const int error = enter(win, &call, NULL, &timed);
    return timed ? error : PMPI_Fetch_and_op(from, into, type, rank, place, op, win);
}

ENTRY int MPI_Compare_and_swap(const void *from, const void *compare, void *into, MPI_Datatype type, int rank,
                               MPI_Aint place, MPI_Win win)
{
    const struct access_call call = {.kind = ACCESS_SWAP,
                                     .brings = true,
                                     .fetches = true,
                                     .from = from,
                                     .compare = compare,
                                     .from_count = 1,
                                     .from_type = type,
                                     .into = into,
                                     .into_count = 1,
                                     .into_type = type,
                                     .target = rank,
                                     .place = place,
                                     .count = 1,
                                     .type = type};
    bool timed;
    const int error = enter(win, &call, NULL, &timed);
    return timed ? error : PMPI_Compare_and_swap(from, compare, into, type, rank, place, win);
}
