/* SPDX-License-Identifier: MIT */
/*
 * Communicators: all ranks of one have the same number for it, and know each other's in the world.  Calls
 * that make one are over for nobody before all have come; what else they cost is not known.
 */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/client.h"
#include "mpi/schedule.h"

static int key = MPI_KEYVAL_INVALID;

struct group_known *group_of(MPI_Comm comm)
{
    void *value;
    int found = 0;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_get_attr(comm, key, &value, &found);
    return found ? value : NULL;
}

int group_rank_of(const struct group_known *g, int world)
{
    int i = 0;
    while (i < g->ranks && g->rank[i] != (uint64_t)world)
        i++;
    return i;
}

struct group_known *group_keep(MPI_Comm comm)
{
    struct group_known *g = group_of(comm);
    g->users++;
    return g;
}

void group_drop(struct group_known *g)
{
    if (--g->users == 0)
        free(g);
}

static int forget(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    struct group_known *g = value;
    if (g->around != MPI_COMM_NULL)
        PMPI_Comm_free(&g->around);
    group_drop(g);
    return MPI_SUCCESS;
}

void group_add(MPI_Comm comm)
{
    static uint64_t made;
    int between, ranks, *own, *world;
    MPI_Group group, all;
    struct turn none = {0};
    PMPI_Comm_test_inter(comm, &between);
    if (between)
        return;
    PMPI_Comm_size(comm, &ranks);
    struct group_known *g = must(calloc(1, sizeof(*g) + (size_t)ranks * sizeof(g->rank[0])));
    own = must(calloc((size_t)ranks, sizeof(*own)));
    world = must(calloc((size_t)ranks, sizeof(*world)));
    for (int i = 0; i < ranks; i++)
        own[i] = i;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(client_wire(), &all);
    PMPI_Group_translate_ranks(group, ranks, own, all, world);
    PMPI_Group_free(&group);
    PMPI_Group_free(&all);
    g->ranks = ranks;
    g->users = 1;
    g->around = MPI_COMM_NULL;
    PMPI_Comm_rank(comm, &g->me);
    bool within = true;
    for (int i = 0; i < ranks; i++) {
        within &= world[i] != MPI_UNDEFINED;
        g->rank[i] = (uint64_t)world[i];
    }
    free(own);
    free(world);
    if (!within) { /* with ranks that were begun by another, whose time is their own */
        free(g);
        return;
    }
    /* Its first rank's and how many that one has made. */
    g->context = (uint64_t)client_rank() << 32 | ++made;
    PMPI_Bcast(&g->context, 1, MPI_UINT64_T, 0, comm);
    PMPI_Comm_set_attr(comm, key, g);
    client_tell(&none,
                (struct order_op){.kind = ORDER_GROUP, .context = g->context, .words = (uint32_t)ranks},
                g->rank);
}

MPI_Comm group_copy(MPI_Comm comm)
{
    MPI_Comm copy;
    MPI_Group group;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_create(comm, group, &copy); /* MPI_Comm_dup() would have the program's attributes */
    PMPI_Group_free(&group);
    group_add(copy);
    return copy;
}

/* The same of one that may have a topology. */
static void add_made(MPI_Comm comm)
{
    int topology;
    MPI_Comm around;
    group_add(comm);
    struct group_known *g = group_of(comm);
    if (!g)
        return;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_UNDEFINED)
        return;
    PMPI_Comm_dup(comm, &around);
    group_add(around);
    g->around = around;
}

void group_open(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
    group_add(MPI_COMM_WORLD);
    group_add(MPI_COMM_SELF);
}

void group_meet(struct turn *turn, struct group_known *g, int kind)
{
    struct order_done done;
    const uint64_t number = request_number();
    client_tell(turn,
                (struct order_op){.kind = ORDER_COLLECT,
                                  .context = g->context,
                                  .serial = ++g->collectives,
                                  .tag = kind,
                                  .request = (uint32_t)number},
                NULL);
    client_ask(turn, (struct order_op){.kind = ORDER_AWAIT, .flags = ORDER_BLOCKS, .words = 1}, &number,
               &done);
    request_free_number((uint32_t)number);
}

/* Makes `*made` out of `comm`, by all of that one's ranks. */
#define MAKES(Name, parameters, arguments)                                                                   \
    ENTRY int MPI_##Name parameters                                                                          \
    {                                                                                                        \
        struct turn turn;                                                                                    \
        if (!turn_begin(&turn))                                                                              \
            return PMPI_##Name arguments;                                                                    \
        struct group_known *g = group_of(comm);                                                              \
        if (g)                                                                                               \
            group_meet(&turn, g, COLLECT_MEET);                                                              \
        else if (comm != MPI_COMM_NULL)                                                                      \
            turn_outside(&turn, "MPI_" #Name " between groups");                                             \
        const int error = PMPI_##Name arguments;                                                             \
        if (error == MPI_SUCCESS && *made != MPI_COMM_NULL)                                                  \
            add_made(*made);                                                                                 \
        turn_end(&turn);                                                                                     \
        return error;                                                                                        \
    }

MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKES(Comm_split, (MPI_Comm comm, int colour, int order, MPI_Comm *made), (comm, colour, order, made))
MAKES(Comm_split_type, (MPI_Comm comm, int kind, int order, MPI_Info info, MPI_Comm *made),
      (comm, kind, order, info, made))
MAKES(Cart_create, (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm *made),
      (comm, n, dims, periods, reorder, made))
MAKES(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made))
MAKES(Graph_create, (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm *made),
      (comm, n, index, edges, reorder, made))
MAKES(Dist_graph_create,
      (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
       const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
      (comm, n, sources, degrees, destinations, weights, info, reorder, made))
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int sources[], const int source_weights[], int out,
       const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
      (comm, in, sources, source_weights, out, destinations, weights, info, reorder, made))
