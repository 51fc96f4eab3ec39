// SPDX-License-Identifier: MIT
// An array that lies in the device memory of every rank of MPI is summed over all of them, in three ways:
// by MPI_Allreduce(), whose sums are a core's; around a ring by MPI_Sendrecv(), with a kernel that adds what
// has come; and around the same ring by MPI_Put() into the next rank's memory, in an epoch of the
// neighbours'. A rank takes the device of its number.
//
//     mpi_all_reduce [FLOATS]       65536 unless told, for each rank
//     mpirun -np 4 ehp run --node mi300a-x4 --mode timing ./mpi_all_reduce
//
// Compile it with what `mpicc --showme:compile` and `mpicc --showme:link` say.
#include <mpi.h>

#include "check.h"

#include <algorithm>
#include <vector>

enum way { CALL, MESSAGES, PUTS, WAYS };
static const char *const title[WAYS] = {"MPI_Allreduce()", "a ring of MPI_Sendrecv()", "a ring of MPI_Put()"};

static int rank, ranks;

__global__ void add(float *to, const float *from, int n)
{
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += static_cast<int>(gridDim.x * blockDim.x))
        to[i] += from[i];
}

struct arrays {
    float *sum, *came; // what has come from the rank before: a piece
    int floats, piece;
    hipStream_t stream;
    MPI_Win window; // all of `came`, then all of `sum`
};

static void add_piece(const arrays &a, int piece)
{
    add<<<std::clamp((a.piece + 255) / 256, 1, 228), 256, 0, a.stream>>>(a.sum + piece * a.piece, a.came,
                                                                         a.piece);
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipStreamSynchronize(a.stream));
}

// Steps 0 to ranks - 2 add what comes to the own piece, the others bring what is complete.
static void ring(const arrays &a, bool puts)
{
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Group all, to, from;
    MPI_Win_get_group(a.window, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &before, &from);
    for (int step = 0; step < 2 * (ranks - 1); step++) {
        const bool adds = step < ranks - 1;
        const int goes = (rank + 2 * ranks - step) % ranks, comes = (goes + ranks - 1) % ranks;
        if (puts) {
            const MPI_Aint place = adds ? 0 : a.piece * (1 + goes);
            MPI_Win_post(from, 0, a.window);
            MPI_Win_start(to, 0, a.window);
            MPI_Put(a.sum + goes * a.piece, a.piece, MPI_FLOAT, next, place, a.piece, MPI_FLOAT, a.window);
            MPI_Win_complete(a.window);
            MPI_Win_wait(a.window);
        } else {
            MPI_Sendrecv(a.sum + goes * a.piece, a.piece, MPI_FLOAT, next, 0,
                         adds ? a.came : a.sum + comes * a.piece, a.piece, MPI_FLOAT, before, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (adds)
            add_piece(a, comes);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
}

// Microseconds that the slowest rank takes; `wrong` sums.
static double run(const arrays &a, way how, int *wrong)
{
    std::vector<float> host(a.floats);
    for (int i = 0; i < a.floats; i++)
        host[i] = static_cast<float>(i % 1000 + rank * 1000);
    CHECK_HIP(hipMemcpy(a.sum, host.data(), a.floats * sizeof(float), hipMemcpyHostToDevice));
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (how == CALL)
        MPI_Allreduce(MPI_IN_PLACE, a.sum, a.floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else
        ring(a, how == PUTS);
    double took = (MPI_Wtime() - start) * 1e6, slowest;
    MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    CHECK_HIP(hipMemcpy(host.data(), a.sum, a.floats * sizeof(float), hipMemcpyDeviceToHost));
    for (int i = 0; i < a.floats; i++)
        *wrong += host[i] != static_cast<float>(i % 1000 * ranks + 500 * ranks * (ranks - 1));
    return slowest;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int devices, wrong = 0;
    CHECK_HIP(hipGetDeviceCount(&devices));
    CHECK_HIP(hipSetDevice(rank % devices));

    arrays a = {};
    a.piece = (std::max(argc > 1 ? atoi(argv[1]) : 65536, 1) + ranks - 1) / ranks;
    a.floats = a.piece * ranks;
    const size_t bytes = static_cast<size_t>(a.piece + a.floats) * sizeof(float);
    CHECK_HIP(hipMalloc(&a.came, bytes));
    a.sum = a.came + a.piece;
    CHECK_HIP(hipStreamCreateWithFlags(&a.stream, hipStreamNonBlocking));
    MPI_Win_create(a.came, static_cast<MPI_Aint>(bytes), sizeof(float), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &a.window);

    add_piece(a, 0); // loads the code
    for (int how = CALL; how < WAYS; how++) {
        const double us = run(a, static_cast<way>(how), &wrong);
        if (rank == 0)
            std::printf("%-26s %8.1f us\n", title[how], us);
    }
    MPI_Win_free(&a.window);
    CHECK_HIP(hipStreamDestroy(a.stream));
    CHECK_HIP(hipFree(a.came));
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const int code =
        rank ? wrong != 0
             : report(wrong == 0, "%d floats of each of %d ranks, %d wrong sums", a.floats, ranks, wrong);
    MPI_Finalize();
    return code;
}
