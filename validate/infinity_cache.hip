// SPDX-License-Identifier: MIT
// Reads of what the Infinity Cache holds and the L2s do not.
#include "measure.h"

typedef unsigned quad __attribute__((ext_vector_type(4)));
constexpr unsigned LOADS = 4, BLOCK = 256, ROUNDS = 3;

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

int main()
{
    // Twice what the L2s hold: whoever goes through it finds nothing there.
    const size_t bytes = static_cast<size_t>(compute_units() / 38) << 23;
    quad *a;
    CHECK_HIP(hipMalloc(&a, bytes));
    stopwatch watch;
    auto time = [&](unsigned rounds) {
        watch.start();
        read<<<dim3(static_cast<unsigned>(bytes / (BLOCK * LOADS * sizeof(quad))), rounds), BLOCK>>>(a, a);
        return watch.stop();
    };
    time(1);
    double few = time(1), many = time(1 + ROUNDS);
    row("infinity_cache_read", 0, ROUNDS * static_cast<double>(bytes) / (many - few) / 1e6);
    CHECK_HIP(hipFree(a));
    return 0;
}
