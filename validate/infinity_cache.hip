// SPDX-License-Identifier: MIT
// Reads of what the Infinity Cache holds and the L2s do not, or writes: `infinity_cache NAME SHARE` prints
// the bandwidth times SHARE as NAME, for a partition of the package that is one of SHARE.
#include "measure.h"

#include <cstring>

typedef unsigned quad __attribute__((ext_vector_type(4)));
constexpr unsigned LOADS = 4, BLOCK = 256;

__global__ void read(const quad *a, quad *out)
{
    const size_t first = blockIdx.x * size_t{BLOCK * LOADS} + threadIdx.x;
    quad value[LOADS];
#pragma unroll
    for (unsigned i = 0; i < LOADS; i++)
        value[i] = a[first + i * BLOCK];
#pragma unroll
    for (unsigned i = 0; i < LOADS; i++)
        if (value[i].x == 1)
            *out = value[i];
}

__global__ void write(quad *a)
{
    const size_t first = blockIdx.x * size_t{BLOCK * LOADS} + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < LOADS; i++)
        a[first + i * BLOCK] = quad{blockIdx.y, 0, 0, 0};
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 1;
    // Twice what the L2s hold: whoever goes through it finds nothing there.
    const size_t bytes = static_cast<size_t>(compute_units() / 38) << 23;
    quad *a;
    CHECK_HIP(hipMalloc(&a, bytes));
    stopwatch watch;
    const bool writes = std::strstr(argv[1], "write");
    const unsigned more = writes ? 1 : 3;
    auto time = [&](unsigned rounds) {
        const dim3 grid(static_cast<unsigned>(bytes / (BLOCK * LOADS * sizeof(quad))), rounds);
        watch.start();
        if (writes)
            write<<<grid, BLOCK>>>(a);
        else
            read<<<grid, BLOCK>>>(a, a);
        return watch.stop();
    };
    time(1);
    double few = time(1), many = time(1 + more);
    row(argv[1], 0, more * static_cast<double>(bytes) / (many - few) / 1e6 * std::atof(argv[2]));
    CHECK_HIP(hipFree(a));
    return 0;
}
