/* SPDX-License-Identifier: MIT */
/*
 * One-sided communication in simulated time: what it gives is right, and what it takes is printed, for
 * times.sh to compare with the node file.  Every line must be the same on every run.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, wrong;

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("rank %d, line %d: %s\n", rank, __LINE__, #condition);                                    \
            wrong++;                                                                                         \
        }                                                                                                    \
    } while (0)

static double now(void)
{
    return MPI_Wtime() * 1e6;
}

/* All begin at one time. */
static double begin(void)
{
    double mine, latest;
    MPI_Barrier(MPI_COMM_WORLD);
    mine = MPI_Wtime();
    MPI_Allreduce(&mine, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    while (MPI_Wtime() < latest + 20e-6)
        ;
    return now();
}

static void until(double us)
{
    while (now() < us)
        ;
}

/* The host lets ranks wait as it likes. */
static void dawdle(int n)
{
    usleep((useconds_t)((rank * 7919 + n * 104729) % 13 * 700));
}

/* What a put, a get and a sum take of rank 0, while the others compute. */
static void measure(int to, int bytes)
{
    char *base, *data = calloc(1, (size_t)bytes + 8);
    MPI_Win window;
    MPI_Win_allocate(bytes + 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    memset(base, rank, (size_t)bytes);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    const double all = begin();
    if (rank == 0) {
        memset(data, 77, (size_t)bytes);
        double start = now();
        MPI_Put(data, bytes, MPI_BYTE, to, 0, bytes, MPI_BYTE, window);
        MPI_Win_flush(to, window);
        printf("put %d %d %.6f\n", to, bytes, now() - start - 0.025);
        memset(data, 0, (size_t)bytes);
        start = now();
        MPI_Get(data, bytes, MPI_BYTE, to, 0, bytes, MPI_BYTE, window);
        MPI_Win_flush(to, window);
        printf("get %d %d %.6f\n", to, bytes, now() - start - 0.025);
        EXPECT(bytes == 0 || (data[0] == 77 && data[bytes - 1] == 77));
        start = now();
        MPI_Accumulate(data, bytes, MPI_BYTE, to, 0, bytes, MPI_BYTE, MPI_BXOR, window);
        MPI_Win_flush_local(to, window);
        printf("sum %d %d %.6f\n", to, bytes, now() - start - 0.025);
    } else {
        until(all + 3000);
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(rank != to || bytes == 0 || (base[0] == 0 && base[bytes - 1] == 0));
    MPI_Win_free(&window);
    free(data);
}

/* Tickets go to whoever is there first in simulated time, which is not the order of ranks, nor the host's. */
static void tickets(void)
{
    int *next, one = 1, mine[3], all[64];
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &next, &window);
    *next = 0;
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < 3; i++) {
        const double start = begin();
        dawdle(i);
        until(start + (rank * 5 + i * 3) % ranks * 10 + 10);
        MPI_Fetch_and_op(&one, &mine[i], MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
    }
    MPI_Win_unlock_all(window);
    MPI_Gather(mine, 3, MPI_INT, all, 3, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3 && rank == 0; i++)
        for (int r = 0; r < ranks; r++)
            EXPECT(all[3 * r + i] == i * ranks + (r * 5 + i * 3) % ranks);
    MPI_Win_free(&window);
}

/* Who has the lock is alone; a reader is not kept out by others. */
static void locks(void)
{
    struct {
        int64_t sum, spare;
    } *base;
    MPI_Win window;
    MPI_Win_allocate(16, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    base->sum = 0;
    double start = begin();
    for (int i = 0; i < 5; i++) {
        int64_t value = -1;
        dawdle(i);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        MPI_Get(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, window);
        MPI_Win_flush(1, window);
        value += rank + 1;
        until(now() + 3);
        MPI_Put(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, window);
        MPI_Win_unlock(1, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        EXPECT(base->sum == 5 * ranks * (ranks + 1) / 2);
        MPI_Win_unlock(1, window);
    }
    if (rank == 0)
        printf("locks %.6f\n", now() - start);
    start = begin();
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    until(start + 100);
    MPI_Win_unlock(0, window);
    EXPECT(now() < start + 105);
    MPI_Win_free(&window);
}

static void fences(void)
{
    int *base, value = rank;
    MPI_Win window;
    MPI_Alloc_mem((MPI_Aint)sizeof(int) * ranks, MPI_INFO_NULL, &base);
    MPI_Win_create(base, (MPI_Aint)sizeof(int) * ranks, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < ranks; i++)
        base[i] = -1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    double start = begin();
    dawdle(0);
    MPI_Win_fence(0, window);
    if (rank == 0)
        printf("fence %.6f\n", now() - start - 0.025);
    for (int i = 0; i < ranks; i++)
        MPI_Put(&value, 1, MPI_INT, i, rank, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < ranks; i++)
        EXPECT(base[i] == i);
    for (int i = 0; i < ranks; i++)
        MPI_Accumulate(&value, 1, MPI_INT, i, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    EXPECT(base[0] == ranks * (ranks - 1) / 2);
    if (rank == 0)
        printf("fences %.6f\n", now() - start);
    /* No epoch; and what is beyond the window. */
    int kind = 0;
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window), &kind);
    EXPECT(kind == MPI_ERR_RMA_SYNC);
    MPI_Win_fence(0, window);
    MPI_Error_class(MPI_Put(&value, 1, MPI_INT, 0, ranks, 1, MPI_INT, window), &kind);
    EXPECT(kind == MPI_ERR_RMA_RANGE);
    MPI_Error_class(MPI_Win_unlock(0, window), &kind);
    EXPECT(kind == MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window) == MPI_SUCCESS);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Free_mem(base);
}

/* Each has an epoch with its neighbours, which others do not wait for. */
static void neighbours(void)
{
    int *base, flag = 0, looks = 0;
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Group all, sources, targets;
    MPI_Win window;
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_get_group(window, &all);
    MPI_Group_incl(all, 1, &left, &sources);
    MPI_Group_incl(all, 1, &right, &targets);
    const double start = begin();
    for (int i = 0; i < 4; i++) {
        const int value = 100 * i + rank;
        base[0] = base[1] = -1;
        dawdle(i);
        MPI_Win_post(sources, 0, window);
        MPI_Win_start(targets, 0, window);
        MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, window);
        MPI_Win_complete(window);
        if (i % 2) {
            MPI_Win_wait(window);
        } else {
            for (flag = 0; !flag; looks++)
                MPI_Win_test(window, &flag);
        }
        EXPECT(base[0] == -1 && base[1] == 100 * i + left);
    }
    if (rank == 0)
        printf("neighbours %d %.6f\n", looks, now() - start);
    MPI_Group_free(&all);
    MPI_Group_free(&sources);
    MPI_Group_free(&targets);
    MPI_Win_free(&window);
}

/* Types of many parts at the target, requests, swaps, pairs, memory that is attached, shared memory. */
static void calls(void)
{
    int *base, got[12], mine[6];
    const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    MPI_Win window;
    MPI_Datatype column, back;
    MPI_Request request[3];
    MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    for (int i = 0; i < 64; i++)
        base[i] = 1000 * rank + i;
    for (int i = 0; i < 6; i++)
        mine[i] = -10 * rank - i;
    MPI_Type_vector(3, 1, 4, MPI_INT, &column);        /* 0, 4, 8; the next begins at 9 */
    const int lengths[2] = {1, 2}, places[2] = {5, 1}; /* 5, 1, 2: backwards */
    MPI_Type_indexed(2, lengths, places, MPI_INT, &back);
    MPI_Type_commit(&column);
    MPI_Type_commit(&back);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    MPI_Rput(mine, 6, MPI_INT, to, 10, 2, column, window, &request[0]);
    MPI_Rget(got, 1, column, to, 40, 1, back, window, &request[1]);
    MPI_Raccumulate(mine, 3, MPI_INT, to, 50, 1, back, MPI_SUM, window, &request[2]);
    MPI_Type_free(&column);
    MPI_Type_free(&back);
    MPI_Win_flush(to, window);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    EXPECT(got[0] == 1000 * to + 45 && got[4] == 1000 * to + 41 && got[8] == 1000 * to + 42);
    MPI_Rget_accumulate(mine, 1, MPI_INT, &got[1], 1, MPI_INT, to, 50, 1, MPI_INT, MPI_NO_OP, window,
                        request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    EXPECT(got[1] == 1000 * to + 50);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    static const int where[6] = {10, 14, 18, 19, 23, 27};
    for (int i = 0; i < 6; i++)
        EXPECT(base[where[i]] == -10 * from - i);
    EXPECT(base[11] == 1000 * rank + 11 && base[50] == 1000 * rank + 50);
    EXPECT(base[55] == 1000 * rank + 55 - 10 * from && base[51] == 1000 * rank + 51 - 10 * from - 1);
    /* Who finds 62 there writes its number; then the largest, and where it was. */
    int old = -1, compare = 62;
    if (rank == 0)
        base[60] = 62;
    MPI_Win_fence(0, window);
    MPI_Compare_and_swap(&rank, &compare, &old, MPI_INT, 0, 60, window);
    MPI_Win_fence(0, window);
    const int won = old == 62;
    int winners;
    MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(winners == 1 && (!won || rank == 0 || old == 62));
    struct {
        short value;
        int where;
    } pair = {(short)((rank * 3 + 2) % ranks), rank};
    memset(base, 0, 8);
    MPI_Win_fence(0, window);
    MPI_Accumulate(&pair, 1, MPI_SHORT_INT, 0, 0, 1, MPI_SHORT_INT, MPI_MAXLOC, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    memcpy(&pair, base, sizeof(pair));
    EXPECT(rank || (pair.value == ranks - 1 && (pair.where * 3 + 2) % ranks == ranks - 1));
    MPI_Win_free(&window);

    /* Displacements are addresses. */
    int word = -1;
    MPI_Aint address, other;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, &word, sizeof(word));
    MPI_Get_address(&word, &address);
    MPI_Sendrecv(&address, 1, MPI_AINT, from, 0, &other, 1, MPI_AINT, to, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, to, other, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    EXPECT(word == from);
    MPI_Win_detach(window, &word);
    MPI_Win_free(&window);

    /* A word that another puts there is seen after it has arrived, by who looks. */
    int looks = 0;
    const double start = begin();
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    *base = 0;
    MPI_Win_lock_all(0, window);
    dawdle(7);
    if (rank == 1) {
        const int one = 1;
        until(start + 150);
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    } else if (rank == 0) {
        for (; *(volatile int *)base == 0; looks++)
            MPI_Win_sync(window);
        printf("looks %d %.6f\n", looks, now() - start);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);

    /* Stores of the program's own, between two of a node. */
    MPI_Comm node;
    int peer, peers, unit, *theirs;
    MPI_Aint size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &peer);
    MPI_Comm_size(node, &peers);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &base, &window);
    MPI_Win_shared_query(window, (peer + 1) % peers, &size, &unit, &theirs);
    MPI_Win_fence(0, window);
    *theirs = peer;
    MPI_Win_fence(0, window);
    EXPECT(*base == (peer + peers - 1) % peers);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int to = 1; to < ranks; to += 2)
        for (int bytes = 0; bytes <= 1000000; bytes += 1000000)
            measure(to, bytes);
    tickets();
    locks();
    fences();
    neighbours();
    calls();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("end %.6f\nwrong %d\n", now(), wrong);
    MPI_Finalize();
    return wrong != 0;
}
