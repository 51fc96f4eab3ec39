// SPDX-License-Identifier: MIT
// A histogram that cores, a kernel, or both count into: additions to random elements of an array of 64-bit
// integers, over its size and the number of threads, and how much of that is left beside the other side.
#include "measure.h"

#include <algorithm>
#include <cmath>
#include <hip/ehp_host.h>

/*
 * An addition and the number that it takes, of libstdc++'s std::minstd_rand and std::uniform_int_distribution
 * as clang compiles them: 42 instructions, and 16 for each time that a number is drawn, until one is of a
 * whole multiple of the elements; of 2^30 half of them are not.  Four of them a cycle, a guess that does not
 * count while an atomic operation takes as long, and a core forgets what it has begun when a number is drawn
 * again (13 cycles: AMD, Zen 4).
 */
static const double DRAWN = 2147483645, AGAIN = 13;
static double draws_of(uint64_t elements)
{
    return DRAWN / (std::floor(DRAWN / static_cast<double>(elements)) * static_cast<double>(elements));
}

__global__ void count(unsigned long long *array, uint64_t elements, int times)
{
    uint64_t state = (blockIdx.x * blockDim.x + threadIdx.x) * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < times; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        auto old = atomicAdd_system(&array[(state >> 33) & (elements - 1)], 1ull);
        asm volatile("s_waitcnt vmcnt(0)" ::"v"(old) : "memory"); // one after another
    }
}

// Of all cores together, in millions a second.
static double cores_count(unsigned long long *array, uint64_t elements, unsigned cores, uint64_t times)
{
    ehp_cpu_work work = EHP_CPU_WORK_INIT;
    work.operation = EHP_CPU_UPDATE;
    work.cores = cores;
    work.passes = times;
    work.ranges = 1;
    work.base[0] = array;
    work.bytes[0] = elements * sizeof *array;
    const double draws = draws_of(elements), instructions = 42 + 16 * draws,
                 all = static_cast<double>(times * cores);
    work.instructions = static_cast<uint64_t>(all * instructions);
    work.cycles = static_cast<uint64_t>(all * (instructions / 4 + AGAIN * (draws - 1)));
    if (ehp_host_run(&work) != EHP_OK) {
        std::fprintf(stderr, "ehp_host_run: not in simulated time\n");
        std::exit(1);
    }
    return static_cast<double>(times * cores) * 1e3 / static_cast<double>(work.ns);
}

static unsigned long long *array_of(uint64_t elements)
{
    unsigned long long *array;
    CHECK_HIP(hipMalloc(&array, std::max<size_t>(elements * sizeof *array, 4096)));
    return array;
}

static void cores(int log)
{
    const uint64_t elements = uint64_t{1} << log;
    unsigned long long *array = array_of(elements);
    char name[32];
    std::snprintf(name, sizeof name, "histogram_cores_2^%d", log);
    if (log == 30) // until caches have what they can of the page table
        cores_count(array, elements, 24, 30000);
    for (unsigned threads : {1, 2, 3, 6, 12, 24}) {
        const uint64_t times = (log == 20 ? 400000 : 60000) / threads;
        cores_count(array, elements, threads, times);
        row(name, threads, cores_count(array, elements, threads, times));
    }
    CHECK_HIP(hipFree(array));
}

// Each side's rate beside the other, which has begun before and ends after it, over the rate that it has
// alone.
static void both(const char *name, int log, unsigned threads, int gpu_threads, uint64_t additions,
                 double slower)
{
    stopwatch watch;
    const uint64_t elements = uint64_t{1} << log;
    unsigned long long *array = array_of(elements);
    const int block = 64, blocks = gpu_threads / block, times = 40;
    const uint64_t few = additions / threads;
    char quantity[64];
    cores_count(array, elements, threads, elements / threads + few);
    const double cores_alone = cores_count(array, elements, threads, few);
    count<<<blocks, block>>>(array, elements, times);
    watch.start();
    count<<<blocks, block>>>(array, elements, times);
    const double gpu_alone = watch.stop();

    // As long as the cores take when they are so much slower.
    const double us = slower * static_cast<double>(few * threads) / cores_alone;
    count<<<blocks, block>>>(array, elements, static_cast<int>(us / gpu_alone * times) + times);
    const double cores_beside = cores_count(array, elements, threads, few);
    CHECK_HIP(hipDeviceSynchronize());
    std::snprintf(quantity, sizeof quantity, "%s_cores", name);
    row(quantity, threads, 100 * cores_beside / cores_alone);

    watch.start();
    count<<<blocks, block>>>(array, elements, times);
    CHECK_HIP(hipEventRecord(watch.to));
    cores_count(array, elements, threads, static_cast<uint64_t>(2 * gpu_alone * cores_alone / threads));
    CHECK_HIP(hipEventSynchronize(watch.to));
    float ms;
    CHECK_HIP(hipEventElapsedTime(&ms, watch.from, watch.to));
    std::snprintf(quantity, sizeof quantity, "%s_gpu", name);
    row(quantity, threads, 100 * gpu_alone / (1e3 * static_cast<double>(ms)));
    CHECK_HIP(hipFree(array));
}

int main()
{
    for (int log : {0, 10, 20, 30})
        cores(log);
    both("histogram_1K", 10, 24, 14592, 12000, 8);
    both("histogram_1M", 20, 6, 3328, 60000, 2);
    return 0;
}
