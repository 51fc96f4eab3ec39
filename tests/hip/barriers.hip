// SPDX-License-Identifier: MIT
// Barriers of a whole grid that programs build themselves, with as many workgroups as the chip holds: waiting
// ones must cost next to nothing, or the run takes minutes; rows of workgroups that wait for each other,
// likewise. And barriers of a workgroup, where one is left out that the chip's timing makes up for.
#include "check_hip.h"

#include <hip/hip_cooperative_groups.h>

constexpr int GROUPS = 912, ROUNDS = 6;

// Every workgroup takes its neighbour's value of the round before.
__device__ void exchange(int *data, int round)
{
    const int n = static_cast<int>(gridDim.x), here = static_cast<int>(blockIdx.x);
    if (threadIdx.x == 0)
        data[(round & 1) * n + here] = round ? data[((round + 1) & 1) * n + (here + 1) % n] + 1 : here;
}

__device__ unsigned arrived;
__device__ volatile unsigned generation;
__global__ void counter_and_generation(int *data)
{
    for (int round = 0; round < ROUNDS; round++) {
        exchange(data, round);
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned mine = generation;
            __threadfence();
            if (atomicAdd(&arrived, 1u) == gridDim.x - 1) {
                arrived = 0;
                __threadfence();
                generation = mine + 1;
            } else {
                unsigned long turns = 0; // spinning does not mean that no register changes
                while (generation == mine && turns < 1ul << 60)
                    turns++;
            }
            __threadfence();
        }
        __syncthreads();
    }
}

// The first workgroup gathers everybody's flag with all its threads, then answers.
__device__ volatile int in[GROUPS], out[GROUPS];
__global__ void flags(int *data)
{
    for (int round = 0; round < ROUNDS; round++) {
        exchange(data, round);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            in[blockIdx.x] = round + 1;
        }
        if (blockIdx.x == 0) {
            for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
                while (in[i] != round + 1) {
                }
            __syncthreads();
            for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
                out[i] = round + 1;
        }
        if (threadIdx.x == 0)
            for (long long end = clock64() + (1ll << 60); out[blockIdx.x] != round + 1 && clock64() < end;) {
            }
        __syncthreads();
    }
}

__device__ int goal;
__global__ void atomic_poll(int *data)
{
    for (int round = 0; round < ROUNDS; round++) {
        exchange(data, round);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&goal, 1);
            while (atomicAdd(&goal, 0) < (round + 1) * static_cast<int>(gridDim.x)) {
            }
        }
        __syncthreads();
    }
}

__global__ void cooperative(int *data)
{
    for (int round = 0; round < ROUNDS; round++) {
        exchange(data, round);
        cooperative_groups::this_grid().sync();
    }
}

// As rows of a triangular matrix do: each lane waits for a workgroup of its own, which all come later. There
// are more workgroups than the chip holds, and those that wait are enough to fill it.
constexpr int ROW_GROUPS = 4096, CHAIN = 16;
__device__ int solved[ROW_GROUPS];
__global__ void rows(int *turns)
{
    const int here = static_cast<int>(blockIdx.x), last = here | (CHAIN - 1),
              wanted = here + 1 + static_cast<int>(threadIdx.x);
    int n = 0;
    if (wanted <= last)
        while (!__hip_atomic_load(&solved[wanted], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT))
            n++;
    if (n)
        atomicMax(&turns[here], n);
    __syncthreads();
    if (threadIdx.x == 0)
        __hip_atomic_store(&solved[here], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

// As greedy colourings and independent sets do: each lane looks at many places, again and again, until the
// last is written; all that it waits for come later.
constexpr int VERTICES = 1024, REACH = 40;
__device__ volatile int decided[VERTICES + REACH];
__global__ void neighbours(int *turns)
{
    const int here = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int n = 0;
    bool waits;
    do {
        waits = false;
        for (int i = here + 1; i <= here + REACH; i++)
            if (i < VERTICES && !decided[i]) {
                waits = true;
                if (i & 1) // they are not all of one stretch of code
                    break;
            }
        if (!waits) // here, as lanes that have left a loop wait for the others of their wave
            decided[here] = 1;
        n++;
    } while (waits);
    turns[here] = n;
}

// Two waves hand a number to each other again and again.
constexpr int HANDED = 2000;
__global__ void hand_over(int *turns)
{
    __shared__ int number;
    const int wave = static_cast<int>(threadIdx.x) / warpSize;
    int n = 0;
    number = 0;
    __syncthreads();
    for (int i = wave; i < HANDED; i += 2) {
        while (__hip_atomic_load(&number, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) != i)
            n++;
        __hip_atomic_store(&number, i + 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    turns[wave] = n;
}

// LDS is used again at once after it was read: each value belongs behind a barrier of its own.
__global__ void reuse(int *wrong)
{
    __shared__ int partial[16], ticket;
    const int wave = static_cast<int>(threadIdx.x) / warpSize,
              waves = static_cast<int>(blockDim.x) / warpSize;
    for (int round = 0; round < ROUNDS; round++) {
        if (threadIdx.x % warpSize == 0)
            partial[wave] = round + wave;
        if (threadIdx.x == 0)
            ticket = round;
        __syncthreads();
        int sum = 0;
        for (int i = 0; i < waves; i++)
            sum += partial[i];
        if (sum != waves * round + waves * (waves - 1) / 2 || ticket != round)
            atomicAdd(wrong, 1);
    }
}

// Wave after wave ends, and the others go on to meet at barriers; the last one is by itself for long.
__global__ void thinning(int *wrong)
{
    __shared__ int met;
    const int wave = static_cast<int>(threadIdx.x) / warpSize,
              waves = static_cast<int>(blockDim.x) / warpSize, rounds = wave == waves - 1 ? 100 : wave + 1;
    if (threadIdx.x == 0)
        met = 0;
    __syncthreads();
    for (int round = 0, sum = 0; round < rounds; round++) {
        if (threadIdx.x % warpSize == 0)
            atomicAdd(&met, 1);
        __syncthreads();
        sum += round < waves ? waves - round : 1;
        if (met != sum)
            atomicAdd(wrong, 1);
        __syncthreads();
    }
}

int main()
{
    buffer<int> wrong(1);
    reuse<<<3, 1024>>>(wrong.get());
    wrong.down();
    CHECK(wrong[0] == 0, "%d threads read what was written later", wrong[0]);
    thinning<<<3, 64>>>(wrong.get());
    thinning<<<3, 1024>>>(wrong.get());
    wrong.down();
    CHECK(wrong[0] == 0, "%d threads did not meet the waves that were left", wrong[0]);

    buffer<int> turns(ROW_GROUPS);
    rows<<<ROW_GROUPS, 128>>>(turns.get());
    turns.down();
    int many = 0;
    for (size_t i = 0; i < ROW_GROUPS; i++)
        many += turns[i] > 512;
    CHECK(many < ROW_GROUPS / 64, "%d workgroups waited for many turns", many);

    neighbours<<<VERTICES / 256, 256>>>(turns.get());
    turns.down();
    for (int i = 0; i < VERTICES; i++)
        CHECK(turns[i] > 0 && turns[i] < 10000, "vertex %d looked %d times", i, turns[i]);

    hand_over<<<1, 128>>>(turns.get());
    turns.down();
    CHECK(turns[0] + turns[1] < HANDED * 64, "%d turns of waiting", turns[0] + turns[1]);

    int groups = 0, threads = 0;
    HIP_OK(hipOccupancyMaxPotentialBlockSize(&groups, &threads, flags));
    CHECK(threads == 1024, "%d", threads);
    HIP_OK(hipOccupancyMaxPotentialBlockSize(&groups, &threads, reinterpret_cast<void *>(flags), 0, 128));
    CHECK(threads == 128 && groups >= GROUPS, "%d of %d", groups, threads);

    buffer<int> data(2 * GROUPS);
    int *pointer = data.get();
    void *arguments[] = {&pointer};
    void (*kernels[])(int *) = {counter_and_generation, flags, atomic_poll, cooperative};
    for (int k = 0; k < 4; k++) {
        const void *kernel = reinterpret_cast<const void *>(kernels[k]);
        HIP_OK(hipLaunchCooperativeKernel(kernel, dim3(GROUPS), dim3(128), arguments, 0, nullptr));
        data.down();
        for (int i = 0; i < GROUPS; i++)
            CHECK(data[static_cast<size_t>(((ROUNDS - 1) & 1) * GROUPS + i)] ==
                      (i + ROUNDS - 1) % GROUPS + ROUNDS - 1,
                  "kernel %d, workgroup %d", k, i);
    }
    return check_done();
}
