// SPDX-License-Identifier: MIT
// What threads of the host do with each other and with a kernel, compiled with --time-host: how long a line
// takes from core to core on different CCDs, by where its home is, and from CPU to GPU; atomic additions of
// several threads.
#include "measure.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using line_t = std::atomic<uint32_t>;
static const uint32_t FIRST = 4;

static double now() // ns
{
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static void bounce(line_t *line, uint32_t own, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        for (uint32_t expected = 2 * i + own; !line->compare_exchange_strong(expected, 2 * i + own + 1);)
            expected = 2 * i + own;
}

// One way, in nanoseconds: this thread goes first.
template <typename F> static double one_way(line_t *line, uint32_t rounds, F begin)
{
    *line = 0;
    begin();
    bounce(line, 0, FIRST);
    const double t = now();
    for (uint32_t i = FIRST; i < rounds; i++)
        for (uint32_t expected = 2 * i; !line->compare_exchange_strong(expected, 2 * i + 1);)
            expected = 2 * i;
    return (now() - t) / (rounds - FIRST) / 2;
}

__global__ void answer(uint32_t *line, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        for (uint32_t expected = 2 * i + 1; !__hip_atomic_compare_exchange_strong(
                 line, &expected, 2 * i + 2, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);)
            expected = 2 * i + 1;
}

static void core_to_core()
{
    const uint32_t rounds = 40;
    const size_t lines = 16, apart = 9 * 4096 + 640; // other stacks and channels
    std::vector<char> memory(lines * apart + 128);
    std::vector<double> ns;
    for (size_t i = 0; i < lines; i++) {
        auto *line = reinterpret_cast<line_t *>(
            (reinterpret_cast<uintptr_t>(memory.data()) + i * apart + 127) & ~uintptr_t{127});
        std::thread other;
        ns.push_back(one_way(line, rounds, [&] { other = std::thread(bounce, line, 1, rounds); }));
        other.join();
    }
    row("core_to_core_least", 0, *std::min_element(ns.begin(), ns.end()));
    row("core_to_core_most", 0, *std::max_element(ns.begin(), ns.end()));
}

static void cpu_to_gpu()
{
    const uint32_t rounds = 200;
    uint32_t *line;
    CHECK_HIP(hipHostMalloc(&line, 128, 0));
    row("cpu_to_gpu", 0,
        one_way(reinterpret_cast<line_t *>(line), rounds, [&] { answer<<<1, 1>>>(line, rounds); }));
    CHECK_HIP(hipDeviceSynchronize());
    CHECK_HIP(hipHostFree(line));
}

int main()
{
    core_to_core();
    cpu_to_gpu();
    return 0;
}
