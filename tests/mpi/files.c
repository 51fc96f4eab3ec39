/* SPDX-License-Identifier: MIT */
/*
 * MPI-IO in simulated time: what is read is right, and what collective calls take is printed, for times.sh to
 * compare with the node file: outside FILE.  Every line must be the same on every run.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank, ranks, wrong;
static MPI_File file;

static double now(void)
{
    return MPI_Wtime() * 1e6;
}

static void expect(int good, const char *what)
{
    if (good)
        return;
    printf("rank %d: %s\n", rank, what);
    wrong++;
}

/* From the time at which the last of them comes, which is 200 us after the first; on a host that lets them
 * wait as it likes. */
static double begin(int n)
{
    double mine, latest;
    MPI_Barrier(MPI_COMM_WORLD);
    mine = now();
    MPI_Allreduce(&mine, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    usleep((useconds_t)((rank * 7919 + n * 104729) % 13 * 700));
    while (now() < latest + 20 + (rank == n % ranks ? 200 : 0))
        ;
    return latest + 220;
}

static void end(const char *what, double began)
{
    double mine = now() - began, least, most;
    MPI_Reduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("file %s %.6f %.6f\n", what, least, most);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int value = -1, next = (rank + 1) % ranks;
    double began = begin(0);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    end("open", began);
    began = begin(1);
    MPI_File_write_at_all(file, (MPI_Offset)rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    end("write", began);
    began = begin(2);
    MPI_File_read_at_all(file, (MPI_Offset)next * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    end("read", began);
    expect(value == next, "another's word");

    /* A view, both pointers, and calls in two parts. */
    MPI_File_set_view(file, (MPI_Offset)rank * 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    value = rank + 100;
    MPI_File_write_all_begin(file, &value, 1, MPI_INT);
    MPI_File_write_all_end(file, &value, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    value = -1;
    MPI_File_read_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect(value == rank + 100, "a word in order");
    /* Of one rank: the others have no part in it. */
    value = -1;
    began = now();
    if (rank == 0)
        MPI_File_read_at(file, 3, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    expect(rank || (value == 103 && now() - began < 0.1), "one rank's read");
    MPI_File_set_size(file, 0);
    began = begin(3);
    MPI_File_close(&file);
    end("close", began);

    /* Who opens a file alone waits for nobody; and an error is one of all. */
    char own[4096];
    snprintf(own, sizeof(own), "%s.%d", argv[1], rank);
    began = now();
    MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_all(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    expect(now() - began < 0.1, "a file of one's own");
    expect(MPI_File_open(MPI_COMM_WORLD, "/nowhere/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) !=
               MPI_SUCCESS,
           "a file that does not exist");
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("end %.6f\nwrong %d\n", now(), wrong);
    MPI_Finalize();
    return wrong != 0;
}
