/* SPDX-License-Identifier: MIT */
/* Calls of MPI's that take no simulated time, among those that do: outside FILE. */
#include <mpi.h>
#include <stdio.h>

static int rank, ranks, wrong;

static void expect(int good, const char *what)
{
    if (good)
        return;
    printf("rank %d: %s\n", rank, what);
    wrong++;
}

/* A message from anybody is received meanwhile, which whoever waits in the fence may still send. */
static void windows(void)
{
    int *word, one = 1, old, value = -1;
    MPI_Win window;
    MPI_Group group;
    MPI_Comm all;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &all);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, (void *)&word, &window);
    *word = -1;
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
    if (rank == 1)
        MPI_Send(&one, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, window);
    expect(*word == (rank + ranks - 1) % ranks && (rank || value == 1), "a window's word");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    expect(rank || *word == ranks - 1 + ranks, "a window's sum");
    MPI_Win_free(&window);
    MPI_Group_free(&group);
    MPI_Comm_free(&all);
}

static void groups(void)
{
    int value = -1;
    MPI_Comm half, other;
    MPI_Request request[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &other);
    MPI_Isend(&rank, 1, MPI_INT, rank / 2, 0, other, &request[0]);
    MPI_Irecv(&value, 1, MPI_INT, rank / 2, 0, other, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    expect(value == (rank ^ 1), "a message between groups");
    MPI_Comm_free(&other);
    MPI_Comm_free(&half);
}

static void files(const char *name)
{
    int value = -1, again = -1;
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)rank * 4, &rank, 1, MPI_INT, &status);
    MPI_File_read_at_all(file, (MPI_Offset)((rank + 1) % ranks) * 4, &value, 1, MPI_INT, &status);
    MPI_File_iread_at(file, (MPI_Offset)rank * 4, &again, 1, MPI_INT, &request);
    MPI_Wait(&request, &status);
    expect(value == (rank + 1) % ranks && again == rank, "a file's word");
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    windows();
    groups();
    files(argv[1]);
    MPI_Finalize();
    return wrong != 0;
}
