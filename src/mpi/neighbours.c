/* SPDX-License-Identifier: MIT */
/*
 * Collective calls of a topology's neighbours: a message to each and one from each, as in Open MPI's
 * coll/basic, over a communicator of ours, so that the program's receives do not meet them.
 */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/client.h"

/* What goes to a neighbour, or comes from one. */
struct part {
    void *at;
    int count;
    MPI_Datatype type;
    int rank, tag;
};

struct exchange {
    MPI_Comm comm;
    int outs, ins;
    struct part *out, *in;
};

static void make_room(struct exchange *x, int outs, int ins)
{
    x->outs = outs;
    x->ins = ins;
    x->out = must(calloc((size_t)outs + 1, sizeof(*x->out)));
    x->in = must(calloc((size_t)ins + 1, sizeof(*x->in)));
}

/* Two in each dimension, which may be the same rank: tags tell one way from the other. */
static void cartesian(MPI_Comm comm, struct exchange *x)
{
    int dimensions;
    PMPI_Cartdim_get(comm, &dimensions);
    make_room(x, 2 * dimensions, 2 * dimensions);
    for (int i = 0; i < x->ins; i += 2) {
        int before, behind;
        PMPI_Cart_shift(comm, i / 2, 1, &before, &behind);
        x->in[i].rank = x->out[i].rank = before;
        x->in[i + 1].rank = x->out[i + 1].rank = behind;
        x->in[i].tag = x->out[i + 1].tag = i;
        x->in[i + 1].tag = x->out[i].tag = i + 1;
    }
}

/* What two have more than one edge for is in the order of the edges. */
static void graph(MPI_Comm comm, struct exchange *x)
{
    int rank, count;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &count);
    make_room(x, count, count);
    int *ranks = must(calloc((size_t)count + 1, sizeof(*ranks)));
    PMPI_Graph_neighbors(comm, rank, count, ranks);
    for (int i = 0; i < count; i++)
        x->in[i].rank = x->out[i].rank = ranks[i];
    free(ranks);
}

static void directed_graph(MPI_Comm comm, struct exchange *x)
{
    int ins, outs, weighted;
    PMPI_Dist_graph_neighbors_count(comm, &ins, &outs, &weighted);
    make_room(x, outs, ins);
    const size_t all = (size_t)ins + (size_t)outs;
    int *ranks = must(calloc(2 * all + 1, sizeof(*ranks))), *weights = ranks + all;
    PMPI_Dist_graph_neighbors(comm, ins, ranks, weights, outs, ranks + ins, weights + ins);
    for (int i = 0; i < ins; i++)
        x->in[i].rank = ranks[i];
    for (int i = 0; i < outs; i++)
        x->out[i].rank = ranks[ins + i];
    free(ranks);
}

static void find(MPI_Comm comm, struct exchange *x)
{
    int kind;
    x->comm = group_of(comm)->around;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART)
        cartesian(comm, x);
    else if (kind == MPI_GRAPH)
        graph(comm, x);
    else
        directed_graph(comm, x);
}

/* By our own calls, which take their time. */
static int run(struct exchange *x)
{
    const size_t all = (size_t)x->ins + (size_t)x->outs;
    MPI_Request *request = must(calloc(all + 1, sizeof(MPI_Request)));
    int error = MPI_SUCCESS, begun = 0;
    for (int i = 0; i < x->ins && error == MPI_SUCCESS; i++) {
        const struct part *p = &x->in[i];
        error = MPI_Irecv(p->at, p->count, p->type, p->rank, p->tag, x->comm, &request[begun++]);
    }
    for (int i = 0; i < x->outs && error == MPI_SUCCESS; i++) {
        const struct part *p = &x->out[i];
        error = MPI_Isend(p->at, p->count, p->type, p->rank, p->tag, x->comm, &request[begun++]);
    }
    if (error == MPI_SUCCESS)
        error = MPI_Waitall(begun, request, MPI_STATUSES_IGNORE);
    free(request);
    free(x->out);
    free(x->in);
    return error;
}

static void *behind(const void *base, MPI_Aint elements, MPI_Datatype type)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    return (char *)base + elements * extent;
}

#define WITH(...) __VA_ARGS__
/* Of the i-th neighbour: what goes there, and what comes. */
#define NEIGHBOURS(Name, parameters, arguments, goes, comes)                                                 \
    ENTRY int MPI_##Name(parameters)                                                                         \
    {                                                                                                        \
        struct turn turn;                                                                                    \
        struct exchange x;                                                                                   \
        if (!turn_begin(&turn))                                                                              \
            return PMPI_##Name(arguments);                                                                   \
        const struct group_known *g = group_of(comm);                                                        \
        if (!g || g->around == MPI_COMM_NULL) { /* or it is wrong, which Open MPI says */                    \
            if (!g && comm != MPI_COMM_NULL)                                                                 \
                turn_outside(&turn, "MPI_" #Name " between groups");                                         \
            const int error = PMPI_##Name(arguments);                                                        \
            turn_end(&turn);                                                                                 \
            return error;                                                                                    \
        }                                                                                                    \
        find(comm, &x);                                                                                      \
        turn_end(&turn);                                                                                     \
        for (int i = 0; i < x.outs; i++) {                                                                   \
            const struct part p = {goes, x.out[i].rank, x.out[i].tag};                                       \
            x.out[i] = p;                                                                                    \
        }                                                                                                    \
        for (int i = 0; i < x.ins; i++) {                                                                    \
            const struct part p = {comes, x.in[i].rank, x.in[i].tag};                                        \
            x.in[i] = p;                                                                                     \
        }                                                                                                    \
        return run(&x);                                                                                      \
    }

NEIGHBOURS(Neighbor_allgather,
           WITH(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                MPI_Comm comm),
           WITH(from, count, type, to, to_count, to_type, comm), WITH((void *)from, count, type),
           WITH(behind(to, (MPI_Aint)i *to_count, to_type), to_count, to_type))
NEIGHBOURS(Neighbor_allgatherv,
           WITH(const void *from, int count, MPI_Datatype type, void *to, const int counts[],
                const int places[], MPI_Datatype to_type, MPI_Comm comm),
           WITH(from, count, type, to, counts, places, to_type, comm), WITH((void *)from, count, type),
           WITH(behind(to, places[i], to_type), counts[i], to_type))
NEIGHBOURS(Neighbor_alltoall,
           WITH(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                MPI_Comm comm),
           WITH(from, count, type, to, to_count, to_type, comm),
           WITH(behind(from, (MPI_Aint)i *count, type), count, type),
           WITH(behind(to, (MPI_Aint)i *to_count, to_type), to_count, to_type))
NEIGHBOURS(Neighbor_alltoallv,
           WITH(const void *from, const int counts[], const int places[], MPI_Datatype type, void *to,
                const int to_counts[], const int to_places[], MPI_Datatype to_type, MPI_Comm comm),
           WITH(from, counts, places, type, to, to_counts, to_places, to_type, comm),
           WITH(behind(from, places[i], type), counts[i], type),
           WITH(behind(to, to_places[i], to_type), to_counts[i], to_type))
NEIGHBOURS(Neighbor_alltoallw,
           WITH(const void *from, const int counts[], const MPI_Aint places[], const MPI_Datatype types[],
                void *to, const int to_counts[], const MPI_Aint to_places[], const MPI_Datatype to_types[],
                MPI_Comm comm),
           WITH(from, counts, places, types, to, to_counts, to_places, to_types, comm),
           WITH((char *)from + places[i], counts[i], types[i]),
           WITH((char *)to + to_places[i], to_counts[i], to_types[i]))
