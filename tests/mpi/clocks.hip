// SPDX-License-Identifier: MIT
// Host code in simulated time and MPI: the system's clock is that of MPI, and all ranks'.
#include <mpi.h>

#include <cstdio>
#include <ctime>
#include <vector>

static double clock_us()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec % 1000) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double mpi[3], host[3], sum = 0;
    std::vector<double> data(20000 * (rank + 1), 1.0);
    mpi[0] = MPI_Wtime() * 1e6;
    host[0] = clock_us();
    for (int k = 0; k < 4; k++)
        for (double x : data)
            sum += x * k;
    mpi[1] = MPI_Wtime() * 1e6;
    host[1] = clock_us();
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    mpi[2] = MPI_Wtime() * 1e6;
    host[2] = clock_us();
    for (int i = 0; i < 2; i++) { // one after another
        if (i == rank) {
            std::printf("clocks %d %.3f %.3f %.3f %.3f %.3f %g\n", rank, mpi[1] - mpi[0], host[1] - host[0],
                        mpi[2] - mpi[1], host[2] - host[1], mpi[2], sum);
            std::fflush(stdout);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
