/* SPDX-License-Identifier: MIT */
/* Collective calls of neighbours: what they give is right, and what they take is printed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, wrong;

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("rank %d, line %d: %s\n", rank, __LINE__, #condition);                                    \
            wrong++;                                                                                         \
        }                                                                                                    \
    } while (0)

/* What `from` says to its i-th neighbour. */
static int word(int from, int i)
{
    return 1000 * (from + 1) + i;
}

/* Which of its slots holds what it got, where the sender has put it in its own order: `slot` of who sent it.
 */
static void check_calls(MPI_Comm comm, const int from[], const int slot[], int in)
{
    int out[8], got[8], counts[8], places[8];
    MPI_Aint bytes[8];
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++) {
        out[i] = word(rank, i);
        counts[i] = 1;
        places[i] = i;
        bytes[i] = 4 * i;
        types[i] = MPI_INT;
        got[i] = -1;
    }
#define CHECK_ALL(expected)                                                                                  \
    for (int i = 0; i < 8; i++) {                                                                            \
        EXPECT(got[i] == (i < in && from[i] >= 0 ? (expected) : -1));                                        \
        got[i] = -1;                                                                                         \
    }
    MPI_Neighbor_allgather(out, 1, MPI_INT, got, 1, MPI_INT, comm);
    CHECK_ALL(word(from[i], 0))
    MPI_Neighbor_allgatherv(out, 1, MPI_INT, got, counts, places, MPI_INT, comm);
    CHECK_ALL(word(from[i], 0))
    MPI_Neighbor_alltoall(out, 1, MPI_INT, got, 1, MPI_INT, comm);
    CHECK_ALL(word(from[i], slot[i]))
    MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, got, counts, places, MPI_INT, comm);
    CHECK_ALL(word(from[i], slot[i]))
    MPI_Neighbor_alltoallw(out, counts, bytes, types, got, counts, bytes, types, comm);
    CHECK_ALL(word(from[i], slot[i]))
}

/* A torus of two columns, in which both neighbours across are one, and a dimension that has one rank. */
static void torus(void)
{
    const int sizes[3] = {ranks / 2, 2, 1}, periodic[3] = {0, 1, 1}, slot[6] = {1, 0, 3, 2, 5, 4};
    int from[6];
    MPI_Comm cart, copy;
    MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, periodic, 0, &cart);
    for (int d = 0; d < 3; d++)
        MPI_Cart_shift(cart, d, 1, &from[2 * d], &from[2 * d + 1]);
    check_calls(cart, from, slot, 6);
    MPI_Comm_dup(cart, &copy);
    MPI_Comm_free(&cart);
    check_calls(copy, from, slot, 6);
    MPI_Comm_free(&copy);
}

/* Each tells the next, and the one behind that. */
static void directed(void)
{
    const int to[2] = {(rank + 1) % ranks, (rank + 2) % ranks},
              from[2] = {(rank + ranks - 2) % ranks, (rank + ranks - 1) % ranks}, slot[2] = {1, 0};
    MPI_Comm comm;
    const int weights[2] = {1, 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 2, to, weights, MPI_INFO_NULL, 0, &comm);
    check_calls(comm, from, slot, 2);
    MPI_Comm_free(&comm);
}

/* A row: the ends have one neighbour. */
static void row(void)
{
    int *index = malloc((size_t)ranks * sizeof(*index)), *edges = malloc(2 * (size_t)ranks * sizeof(*edges)),
        n = 0;
    int from[2], slot[2], in = 0;
    MPI_Comm comm;
    for (int r = 0; r < ranks; r++) {
        if (r)
            edges[n++] = r - 1;
        if (r < ranks - 1)
            edges[n++] = r + 1;
        index[r] = n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm);
    if (rank) {
        from[in] = rank - 1;
        slot[in++] = rank > 1;
    }
    if (rank < ranks - 1) {
        from[in] = rank + 1;
        slot[in++] = 0;
    }
    check_calls(comm, from, slot, in);
    MPI_Comm_free(&comm);
    free(index);
    free(edges);
}

/* A pair's exchange, of which the others know nothing: they come late. */
static void pairs(void)
{
    static char out[2000000], in[2000000];
    const int peer = rank ^ 1;
    MPI_Comm comm;
    const int weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, &weight, 1, &peer, &weight, MPI_INFO_NULL, 0,
                                   &comm);
    for (int bytes = 8; bytes <= 2000000; bytes *= 250000) {
        double mine, start;
        MPI_Barrier(MPI_COMM_WORLD);
        mine = MPI_Wtime();
        MPI_Allreduce(&mine, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        start += 20e-6 + (rank > 1) * 500e-6;
        while (MPI_Wtime() < start)
            ;
        start = MPI_Wtime();
        MPI_Neighbor_alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
        if (rank == 0)
            printf("around %d %.6f\n", bytes, (MPI_Wtime() - start) * 1e6);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    torus();
    directed();
    row();
    pairs();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("wrong %d\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
