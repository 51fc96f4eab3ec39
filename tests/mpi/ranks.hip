// SPDX-License-Identifier: MIT
// HIP and MPI: a rank a device; sums over all ranks of what lies in device memory, and memory of another
// rank's.
#include <mpi.h>

#include <vector>

#include "../hip/check_hip.h"

__global__ void fill(float *p, int n, float first)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        p[i] = first + static_cast<float>(i % 7);
}

int main(int argc, char **argv)
{
    const int n = 1 << 14;
    int rank, ranks, devices, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    HIP_OK(hipGetDeviceCount(&devices));
    HIP_OK(hipSetDevice(rank % devices));
    float *own, *sum, *other;
    std::vector<float> host(n);
    HIP_OK(hipMalloc(&own, n * sizeof(float)));
    HIP_OK(hipMalloc(&sum, n * sizeof(float)));
    fill<<<n / 256, 256>>>(own, n, static_cast<float>(rank));
    HIP_OK(hipDeviceSynchronize());
    MPI_Allreduce(own, sum, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); // device memory is the process's
    HIP_OK(hipMemcpy(host.data(), sum, n * sizeof(float), hipMemcpyDefault));
    for (int i = 0; i < n; i++)
        wrong += host[i] != static_cast<float>(ranks * (i % 7) + ranks * (ranks - 1) / 2);

    hipIpcMemHandle_t handle;
    std::vector<hipIpcMemHandle_t> handles(ranks);
    HIP_OK(hipIpcGetMemHandle(&handle, own));
    MPI_Allgather(&handle, sizeof handle, MPI_BYTE, handles.data(), sizeof handle, MPI_BYTE, MPI_COMM_WORLD);
    const int next = (rank + 1) % ranks;
    HIP_OK(
        hipIpcOpenMemHandle(reinterpret_cast<void **>(&other), handles[next], hipIpcMemLazyEnablePeerAccess));
    HIP_OK(hipMemcpy(host.data(), other, n * sizeof(float), hipMemcpyDefault));
    for (int i = 0; i < n; i++)
        wrong += host[i] != static_cast<float>(next + i % 7);
    MPI_Barrier(MPI_COMM_WORLD);
    HIP_OK(hipIpcCloseMemHandle(other));
    HIP_OK(hipFree(own));
    HIP_OK(hipFree(sum));
    std::printf("rank %d of %d, device %d of %d: %d wrong\n", rank, ranks, rank % devices, devices, wrong);
    MPI_Finalize();
    return wrong != 0;
}
