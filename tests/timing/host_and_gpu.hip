// SPDX-License-Identifier: MIT
// A kernel and a thread of the host bounce a line: one simulation with one clock.
#include <hip/hip_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>

__global__ void answer(unsigned *flag, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        for (unsigned expected = 2 * i + 1; !__hip_atomic_compare_exchange_strong(
                 flag, &expected, 2 * i + 2, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);)
            expected = 2 * i + 1;
}

int main(int argc, char **argv)
{
    using clock = std::chrono::steady_clock;
    const unsigned rounds = 100, first = 10;
    unsigned *flag;
    if (hipHostMalloc(&flag, 128, 0) != hipSuccess)
        return 1;
    *flag = 0;
    answer<<<1, 1>>>(flag, rounds);
    auto *a = reinterpret_cast<std::atomic<unsigned> *>(flag);
    auto begin = clock::now();
    for (unsigned i = 0; i < rounds; i++) {
        if (i == first)
            begin = clock::now();
        for (unsigned expected = 2 * i; !a->compare_exchange_strong(expected, 2 * i + 1);)
            expected = 2 * i;
    }
    double ns = std::chrono::duration<double, std::nano>(clock::now() - begin).count() / (rounds - first) / 2;
    if (hipDeviceSynchronize() != hipSuccess || *flag != 2 * rounds)
        return 1;
    if (argc > 1 && std::strcmp(argv[1], "timing") == 0) {
        std::printf("a line from CPU to GPU, or back: %.1f ns\n", ns);
        return ns < 180 || ns > 280; // Chips and Cheese, MI300A: 222 ns
    }
    return 0;
}
