// SPDX-License-Identifier: MIT
// The message-passing litmus test of "Chiplet Level Release/Acquire Fence on the AMD MI300X" (Yue,
// Sciortino), listing 3: two workgroups meet on every XCD; the one that takes the XCD's lock writes a message
// and releases, the other acquires and reads it. The fence reaches the XCD's L2 and no further.
#include "check.h"

constexpr int MAX_XCDS = 8;

struct result {
    int producer, consumer;
    long long cycles;
};

// Bits of S_GETREG's immediate: size - 1 in 15:11, offset in 10:6, register in 5:0. XCC_ID is register 20.
__device__ int current_xcd()
{
    return static_cast<int>(__builtin_amdgcn_s_getreg(20 | (3 << 11)));
}

__device__ __forceinline__ void chiplet_release()
{
    asm volatile("s_waitcnt vmcnt(0)\n"
                 "s_dcache_wb\n"
                 "s_waitcnt lgkmcnt(0)" ::
                     : "memory");
}

__device__ __forceinline__ void chiplet_acquire()
{
    asm volatile("buffer_inv sc1\n"
                 "s_dcache_inv\n"
                 "s_waitcnt vmcnt(0) lgkmcnt(0)" ::
                     : "memory");
}

__device__ bool try_lock(int *lock)
{
    int expected = 0;
    return __hip_atomic_compare_exchange_strong(lock, &expected, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                __HIP_MEMORY_SCOPE_AGENT);
}

__device__ void semaphore_release(int *semaphore)
{
    __hip_atomic_fetch_add(semaphore, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__device__ void semaphore_acquire(int *semaphore)
{
    for (;;) {
        int value = __hip_atomic_load(semaphore, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        if (value > 0 && __hip_atomic_compare_exchange_strong(semaphore, &value, value - 1, __ATOMIC_RELAXED,
                                                              __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
            return;
    }
}

__global__ void message_passing(int *roles, int *semaphores, int *buffer, result *results)
{
    if (threadIdx.x != 0)
        return;
    const int xcd = current_xcd();
    if (try_lock(&roles[xcd])) {
        buffer[xcd] = xcd;
        chiplet_release();
        semaphore_release(&semaphores[xcd]);
    } else {
        semaphore_acquire(&semaphores[xcd]);
        long long start = clock64();
        chiplet_acquire();
        int observed = buffer[xcd];
        long long end = clock64();
        results[xcd] = {observed, xcd, end - start};
    }
}

int main()
{
    int *roles, *semaphores, *buffer;
    result *results;
    CHECK_HIP(hipMallocManaged(&roles, MAX_XCDS * sizeof(int)));
    CHECK_HIP(hipMallocManaged(&semaphores, MAX_XCDS * sizeof(int)));
    CHECK_HIP(hipMallocManaged(&buffer, MAX_XCDS * sizeof(int)));
    CHECK_HIP(hipMallocManaged(&results, MAX_XCDS * sizeof(result)));
    hipDeviceProp_t properties;
    CHECK_HIP(hipGetDeviceProperties(&properties, 0));
    const int xcds = properties.multiProcessorCount / 38; // MI300's XCDs have 38 active CUs

    const int rounds = 20;
    int wrong = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < MAX_XCDS; i++) {
            roles[i] = semaphores[i] = 0;
            buffer[i] = -1;
            results[i] = {-1, -1, 0};
        }
        message_passing<<<2 * static_cast<unsigned>(xcds), 64>>>(roles, semaphores, buffer, results);
        CHECK_HIP(hipGetLastError());
        CHECK_HIP(hipDeviceSynchronize());
        int met = 0;
        for (int i = 0; i < MAX_XCDS; i++) {
            if (!roles[i])
                continue;
            met++;
            wrong += results[i].consumer != i || results[i].producer != i;
        }
        wrong += met != xcds;
    }
    CHECK_HIP(hipFree(roles));
    CHECK_HIP(hipFree(semaphores));
    CHECK_HIP(hipFree(buffer));
    CHECK_HIP(hipFree(results));
    return report(wrong == 0 && xcds > 0, "%d XCDs, %d rounds, %d violations", xcds, rounds, wrong);
}
