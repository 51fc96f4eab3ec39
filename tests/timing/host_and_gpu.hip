// SPDX-License-Identifier: MIT
// A kernel and a thread of the host in one simulation with one clock: they bounce a line, and hand each other
// messages, in memory of each kind.
#include <hip/ehp_host.h>
#include <hip/hip_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if ((call) != hipSuccess) {                                                                          \
            std::printf("failed: %s\n", #call);                                                              \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static const unsigned ROUNDS = 100, FIRST = 10, WORDS = 64, MESSAGES = 20;

__global__ void answer(unsigned *flag, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        for (unsigned expected = 2 * i + 1; !__hip_atomic_compare_exchange_strong(
                 flag, &expected, 2 * i + 2, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);)
            expected = 2 * i + 1;
}

static double bounce(unsigned *flag)
{
    using clock = std::chrono::steady_clock;
    *flag = 0;
    answer<<<1, 1>>>(flag, ROUNDS);
    auto *a = reinterpret_cast<std::atomic<unsigned> *>(flag);
    auto begin = clock::now();
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i == FIRST)
            begin = clock::now();
        for (unsigned expected = 2 * i; !a->compare_exchange_strong(expected, 2 * i + 1);)
            expected = 2 * i;
    }
    double ns = std::chrono::duration<double, std::nano>(clock::now() - begin).count() / (ROUNDS - FIRST) / 2;
    CHECK(hipDeviceSynchronize());
    return *flag == 2 * ROUNDS ? ns : 0;
}

// Each message is of plain words, after the last one has come back with one added to each.
__global__ void echo(unsigned *flag, unsigned *words, unsigned messages)
{
    for (unsigned m = 0; m < messages; m++) {
        while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 2 * m + 1)
            __builtin_amdgcn_s_sleep(1);
        words[threadIdx.x]++;
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0)
            __hip_atomic_store(flag, 2 * m + 2, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    }
}

static unsigned wrong_words(unsigned *flag, unsigned *words)
{
    unsigned wrong = 0;
    auto *a = reinterpret_cast<std::atomic<unsigned> *>(flag);
    *flag = 0;
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = 0;
    echo<<<1, WORDS>>>(flag, words, MESSAGES);
    for (unsigned m = 0; m < MESSAGES; m++) {
        for (unsigned i = 0; i < WORDS; i++)
            words[i] = m * 1000 + i;
        a->store(2 * m + 1, std::memory_order_release);
        while (a->load(std::memory_order_acquire) != 2 * m + 2) {
        }
        for (unsigned i = 0; i < WORDS; i++)
            wrong += words[i] != m * 1000 + i + 1;
    }
    CHECK(hipDeviceSynchronize());
    return wrong;
}

// In ticks of 10 ns.
static uint64_t count_to(unsigned n, bool untimed)
{
    const uint64_t begin = ehp_host_time();
    ehp_host_untimed(untimed);
    for (volatile unsigned i = 0; i < n; i = i + 1) {
    }
    ehp_host_untimed(false);
    return ehp_host_time() - begin;
}

int main(int argc, char **argv)
{
    const bool timed = argc > 1 && std::strcmp(argv[1], "timing") == 0;
    unsigned *pinned, *device, failed = 0;
    CHECK(hipHostMalloc(&pinned, 4096, 0));
    CHECK(hipMalloc(&device, 4096));
    const double ns = bounce(pinned);
    if (timed)
        std::printf("a line from CPU to GPU, or back: %.1f ns\n", ns);
    failed |= timed && (ns < 180 || ns > 280); // Chips and Cheese, MI300A: 222 ns
    struct {
        const char *name;
        unsigned *words;
    } kinds[] = {{"pinned", pinned + 64}, {"device", device}};
    for (auto &kind : kinds) {
        const unsigned wrong = wrong_words(pinned, kind.words);
        std::printf("%u messages in %s memory: %u words wrong\n", MESSAGES, kind.name, wrong);
        failed |= wrong != 0;
    }
    if (timed) { // calls alone, and a store that the next load waits for, each time
        const uint64_t nothing = count_to(0, true), untimed = count_to(2000, true),
                       own = count_to(2000, false);
        std::printf("a loop, untimed and not: %u, %u ticks\n", static_cast<unsigned>(untimed),
                    static_cast<unsigned>(own));
        failed |= untimed > nothing + 1 || own < 100;
    }
    CHECK(hipHostFree(pinned));
    CHECK(hipFree(device));
    return static_cast<int>(failed);
}
