/* SPDX-License-Identifier: MIT */
/* Calls of all of a communicator's ranks; see client.h.  Open MPI moves the bytes when all have come. */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/client.h"
#include "mpi/schedule.h"

/* What a call is, as struct schedule has it. */
struct what {
    enum collect_kind kind;
    int root;
    uint64_t bytes;
    uint64_t *parts; /* NULL: they do not differ */
};

static struct what whole(enum collect_kind kind, int root, int count, MPI_Datatype type)
{
    return (struct what){kind, root, message_bytes(count, type), NULL};
}

/* Counts of one type, or of one for each rank. */
static struct what parted(enum collect_kind kind, int root, MPI_Comm comm, const int counts[],
                          MPI_Datatype type, const MPI_Datatype types[])
{
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    struct what w = {kind, root, 0, must(calloc((size_t)ranks, sizeof(*w.parts)))};
    for (int i = 0; i < ranks; i++)
        w.parts[i] = message_bytes(counts[i], types ? types[i] : type);
    return w;
}

static bool is_root(MPI_Comm comm, int root)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

/* The root knows all parts, and another its own. */
static struct what rooted(enum collect_kind kind, int root, MPI_Comm comm, const int counts[],
                          MPI_Datatype type, int own, MPI_Datatype own_type)
{
    if (is_root(comm, root))
        return parted(kind, root, comm, counts, type, NULL);
    struct what w = whole(kind, root, own, own_type);
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    w.parts = must(calloc((size_t)ranks, sizeof(*w.parts)));
    return w;
}

/* All of what is reduced and then dealt out. */
static struct what summed(const int counts[], MPI_Comm comm, MPI_Datatype type)
{
    struct what w = parted(COLLECT_REDUCE_SCATTER, 0, comm, counts, type, NULL);
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    for (int i = 0; i < ranks; i++)
        w.bytes += w.parts[i];
    free(w.parts);
    w.parts = NULL;
    return w;
}

static struct what times_ranks(int count, MPI_Comm comm, MPI_Datatype type)
{
    struct what w = whole(COLLECT_REDUCE_SCATTER, 0, count, type);
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    w.bytes *= (uint64_t)ranks;
    return w;
}

static void tell(const struct turn *turn, MPI_Comm comm, const struct what *w, uint32_t number,
                 uint32_t flags)
{
    struct group_known *g = group_of(comm);
    client_tell(turn,
                (struct order_op){.kind = ORDER_COLLECT,
                                  .flags = flags,
                                  .context = g->context,
                                  .serial = ++g->collectives,
                                  .tag = (int32_t)w->kind,
                                  .peer = w->root,
                                  .bytes = w->bytes,
                                  .request = number,
                                  .words = w->parts ? (uint32_t)g->ranks : 0},
                w->parts);
    free(w->parts);
}

/* Whether the order knows the ranks; and the root is one, or it is wrong, which Open MPI's call says. */
static bool is_known(MPI_Comm comm, int root)
{
    const struct group_known *g = group_of(comm);
    return g && root >= 0 && root < g->ranks;
}

static uint64_t come(const struct turn *turn, MPI_Comm comm, const struct what *w)
{
    const uint64_t number = request_number();
    tell(turn, comm, w, (uint32_t)number, ORDER_BLOCKS);
    client_tell(turn, (struct order_op){.kind = ORDER_AWAIT, .flags = ORDER_BLOCKS, .words = 1}, &number);
    client_await_go();
    return number;
}

uint64_t collective_come(const struct turn *turn, MPI_Comm comm)
{
    const struct what barrier = whole(COLLECT_BARRIER, 0, 0, MPI_BYTE);
    return come(turn, comm, &barrier);
}

void collective_leave(struct turn *turn, uint64_t number)
{
    struct order_done done;
    if (!number)
        return;
    client_await(turn, &done);
    request_free_number((uint32_t)number);
}

static void begin(const struct turn *turn, MPI_Comm comm, const struct what *w, MPI_Request *request)
{
    const struct call c = {
        .kind = CALL_COLLECT, .number = request_number(), .active = true, .real = *request};
    tell(turn, comm, w, c.number, 0);
    client_busy(1);
    request_give(&c, request);
}

#define WITH(...) __VA_ARGS__
/* MPI_Name(parameters), and MPI_Iname(parameters, request). */
#define COLLECTIVE(Name, Iname, parameters, arguments, root, call)                                           \
    ENTRY int MPI_##Name(parameters)                                                                         \
    {                                                                                                        \
        struct turn turn;                                                                                    \
        uint64_t number = 0;                                                                                 \
        if (!turn_begin(&turn))                                                                              \
            return PMPI_##Name(arguments);                                                                   \
        if (is_known(comm, root)) {                                                                          \
            const struct what w = call;                                                                      \
            number = come(&turn, comm, &w);                                                                  \
        } else if (comm != MPI_COMM_NULL && !group_of(comm)) {                                               \
            turn_outside(&turn, "MPI_" #Name " between groups");                                             \
        }                                                                                                    \
        const int error = PMPI_##Name(arguments);                                                            \
        collective_leave(&turn, number);                                                                     \
        turn_end(&turn);                                                                                     \
        return error;                                                                                        \
    }                                                                                                        \
    ENTRY int MPI_##Iname(parameters, MPI_Request *request)                                                  \
    {                                                                                                        \
        struct turn turn;                                                                                    \
        if (!turn_begin(&turn))                                                                              \
            return PMPI_##Iname(arguments, request);                                                         \
        const int error = PMPI_##Iname(arguments, request);                                                  \
        if (error == MPI_SUCCESS && is_known(comm, root)) {                                                  \
            const struct what w = call;                                                                      \
            begin(&turn, comm, &w, request);                                                                 \
        }                                                                                                    \
        turn_end(&turn);                                                                                     \
        return error;                                                                                        \
    }

COLLECTIVE(Barrier, Ibarrier, WITH(MPI_Comm comm), WITH(comm), 0, whole(COLLECT_BARRIER, 0, 0, MPI_BYTE))
COLLECTIVE(Bcast, Ibcast, WITH(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm),
           WITH(data, count, type, root, comm), root, whole(COLLECT_BROADCAST, root, count, type))
COLLECTIVE(Reduce, Ireduce,
           WITH(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           WITH(from, to, count, type, op, root, comm), root, whole(COLLECT_REDUCE, root, count, type))
COLLECTIVE(Allreduce, Iallreduce,
           WITH(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           WITH(from, to, count, type, op, comm), 0, whole(COLLECT_ALL_REDUCE, 0, count, type))
COLLECTIVE(Scan, Iscan,
           WITH(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           WITH(from, to, count, type, op, comm), 0, whole(COLLECT_SCAN, 0, count, type))
COLLECTIVE(Exscan, Iexscan,
           WITH(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           WITH(from, to, count, type, op, comm), 0, whole(COLLECT_SCAN, 0, count, type))
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           WITH(const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           WITH(from, to, counts, type, op, comm), 0, summed(counts, comm, type))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           WITH(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           WITH(from, to, count, type, op, comm), 0, times_ranks(count, comm, type))
COLLECTIVE(Gather, Igather,
           WITH(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                int root, MPI_Comm comm),
           WITH(from, count, type, to, to_count, to_type, root, comm), root,
           is_root(comm, root) ? whole(COLLECT_GATHER, root, to_count, to_type)
                               : whole(COLLECT_GATHER, root, count, type))
COLLECTIVE(Gatherv, Igatherv,
           WITH(const void *from, int count, MPI_Datatype type, void *to, const int counts[],
                const int places[], MPI_Datatype to_type, int root, MPI_Comm comm),
           WITH(from, count, type, to, counts, places, to_type, root, comm), root,
           rooted(COLLECT_GATHER, root, comm, counts, to_type, count, type))
COLLECTIVE(Scatter, Iscatter,
           WITH(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                int root, MPI_Comm comm),
           WITH(from, count, type, to, to_count, to_type, root, comm), root,
           is_root(comm, root) ? whole(COLLECT_SCATTER, root, count, type)
                               : whole(COLLECT_SCATTER, root, to_count, to_type))
COLLECTIVE(Scatterv, Iscatterv,
           WITH(const void *from, const int counts[], const int places[], MPI_Datatype type, void *to,
                int to_count, MPI_Datatype to_type, int root, MPI_Comm comm),
           WITH(from, counts, places, type, to, to_count, to_type, root, comm), root,
           rooted(COLLECT_SCATTER, root, comm, counts, type, to_count, to_type))
COLLECTIVE(Allgather, Iallgather,
           WITH(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                MPI_Comm comm),
           WITH(from, count, type, to, to_count, to_type, comm), 0,
           whole(COLLECT_ALL_GATHER, 0, to_count, to_type))
COLLECTIVE(Allgatherv, Iallgatherv,
           WITH(const void *from, int count, MPI_Datatype type, void *to, const int counts[],
                const int places[], MPI_Datatype to_type, MPI_Comm comm),
           WITH(from, count, type, to, counts, places, to_type, comm), 0,
           parted(COLLECT_ALL_GATHER, 0, comm, counts, to_type, NULL))
COLLECTIVE(Alltoall, Ialltoall,
           WITH(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                MPI_Comm comm),
           WITH(from, count, type, to, to_count, to_type, comm), 0,
           whole(COLLECT_ALL_TO_ALL, 0, to_count, to_type))
/* In place, as much goes to each as comes from it. */
COLLECTIVE(Alltoallv, Ialltoallv,
           WITH(const void *from, const int counts[], const int places[], MPI_Datatype type, void *to,
                const int to_counts[], const int to_places[], MPI_Datatype to_type, MPI_Comm comm),
           WITH(from, counts, places, type, to, to_counts, to_places, to_type, comm), 0,
           from == MPI_IN_PLACE ? parted(COLLECT_ALL_TO_ALL, 0, comm, to_counts, to_type, NULL)
                                : parted(COLLECT_ALL_TO_ALL, 0, comm, counts, type, NULL))
COLLECTIVE(Alltoallw, Ialltoallw,
           WITH(const void *from, const int counts[], const int places[], const MPI_Datatype types[],
                void *to, const int to_counts[], const int to_places[], const MPI_Datatype to_types[],
                MPI_Comm comm),
           WITH(from, counts, places, types, to, to_counts, to_places, to_types, comm), 0,
           from == MPI_IN_PLACE ? parted(COLLECT_ALL_TO_ALL, 0, comm, to_counts, MPI_DATATYPE_NULL, to_types)
                                : parted(COLLECT_ALL_TO_ALL, 0, comm, counts, MPI_DATATYPE_NULL, types))
