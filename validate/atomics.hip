// SPDX-License-Identifier: MIT
// Atomic additions of the system scope to random elements of an array: updates a second over the array's size
// and the number of threads.
#include "measure.h"

template <typename T> __global__ void update(T *array, uint64_t elements, int count)
{
    uint64_t state = (blockIdx.x * blockDim.x + threadIdx.x) * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        T old = atomicAdd_system(&array[(state >> 33) & (elements - 1)], T(1));
        asm volatile("s_waitcnt vmcnt(0)" ::"v"(old) : "memory"); // one after another
    }
}

// What the host has just written is in the Infinity Cache.
template <typename T> __global__ void touch(T *array, uint64_t elements, uint64_t step)
{
    const uint64_t threads = uint64_t{gridDim.x} * blockDim.x;
    for (uint64_t i = (blockIdx.x * blockDim.x + threadIdx.x) * step; i < elements; i += threads * step)
        __hip_atomic_store(&array[i], T(1), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM); // no L2 keeps it
}

template <typename T> static void curve(const char *name, int log)
{
    stopwatch watch;
    const uint64_t elements = uint64_t{1} << log;
    T *array; // coherent memory, zero as the system hands it out
    CHECK_HIP(hipHostMalloc(&array, elements * sizeof(T)));
    // Of a large array the tables alone stay in it, of which a line is for 64 KiB.
    touch<T><<<compute_units(), 256>>>(array, elements, log <= 20 ? 1 : 65536 / sizeof(T));
    for (int threads : {1, 64, 256, 768, 1792, 3328, 5376, 7424, 10496, 14592}) {
        const int count = threads == 1    ? 24
                          : threads <= 64 ? 12
                                          : 4,
                  block = threads < 64 ? threads : 64, blocks = threads / block;
        update<T><<<blocks, block>>>(array, elements, count);
        watch.start();
        update<T><<<blocks, block>>>(array, elements, count);
        double few = watch.stop();
        watch.start();
        update<T><<<blocks, block>>>(array, elements, 3 * count);
        double many = watch.stop();
        char quantity[32];
        std::snprintf(quantity, sizeof quantity, "%s_2^%d", name, log);
        row(quantity, threads, 2.0 * count * threads / (many - few) * 1e6);
    }
    CHECK_HIP(hipHostFree(array));
}

int main()
{
    for (int log : {0, 10, 20, 30})
        curve<unsigned long long>("atomics_u64", log);
    for (int log : {0, 20})
        curve<double>("atomics_f64", log);
    return 0;
}
