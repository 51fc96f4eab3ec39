// SPDX-License-Identifier: MIT
// What threads of the host do with each other and with a kernel, compiled with --time-host: how long a line
// takes from core to core on different CCDs, by where its home is, and from CPU to GPU; what a core gains
// that takes a kernel's results as they are made.
#include "measure.h"

#include <hip/ehp_host.h>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
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

// ---- a core's loads from memory while others read ----

static const unsigned CCD_CORES = 8, CORES = 24, LOADS = 9000;
static const size_t CHASED = size_t{128} << 20, READ = size_t{32} << 20; // bytes; READ: of each core

static void on_cpu(unsigned cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set))
        std::exit(1);
}

// Threads that are created from then on begin on cores of their own, and not behind this one.
static void on_any_cpu()
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (unsigned cpu = 0; cpu < CORES; cpu++)
        CPU_SET(cpu, &all);
    if (sched_setaffinity(0, sizeof all, &all) != 0)
        std::exit(1);
}

// One load after the other, each from somewhere else; all of it is 0, but that is known when it is there.
// The page table has been in the caches before.
static double chase(const uint64_t *memory, uint64_t seed)
{
    random_numbers random{seed};
    uint64_t last = 0;
    for (size_t page = 0; page < CHASED; page += 4096)
        last += memory[page / 8];
    const double begin = now();
    for (unsigned i = 0; i < LOADS; i++)
        last = memory[(random.next() + last) % (CHASED / 64) * 8];
    return (now() - begin + static_cast<double>(last)) / LOADS;
}

// Nanoseconds of a load by the first core, while these cores read as fast as they can: GB/s of all of them.
static double loaded(const uint64_t *memory, unsigned first, unsigned readers, double *rate)
{
    std::atomic<bool> begun{false}, over{false};
    std::atomic<unsigned> ready{0};
    std::atomic<uint64_t> sums{0};
    std::vector<double> rates(readers);
    std::vector<std::thread> threads;
    on_any_cpu();
    for (unsigned i = 0; i < readers; i++)
        threads.emplace_back([&, i] {
            const uint64_t *own = memory + (CHASED + i * READ) / 8, *end = own + READ / 8, *p = own;
            const size_t part = (1 << 20) / 8; // to ask whether it is over is to wait for the core
            uint64_t sum = 0, parts = 0;
            on_cpu(first + i);
            ready++;
            while (!begun.load(std::memory_order_relaxed))
                _mm_pause();
            const double begin = now();
            for (; !over.load(std::memory_order_relaxed); parts++) {
                for (size_t k = 0; k < part; k++)
                    sum += p[k];
                p = p + part == end ? own : p + part;
            }
            rates[i] = static_cast<double>(parts * part * 8) / (now() - begin);
            sums += sum;
        });
    on_cpu(0);
    while (ready < readers)
        _mm_pause();
    begun = true;
    const double ns = chase(memory, first + readers);
    over = true;
    for (std::thread &t : threads)
        t.join();
    *rate = std::accumulate(rates.begin(), rates.end(), 0.0);
    return ns;
}

static void loaded_latency()
{
    char *memory;
    double rate;
    CHECK_HIP(hipMalloc(&memory, CHASED + CORES * READ));
    const auto *words = reinterpret_cast<const uint64_t *>(memory);
    const double alone = loaded(words, 0, 0, &rate);
    row("loaded_none", 0, alone);
    const double same = loaded(words, 1, CCD_CORES - 1, &rate);
    row("loaded_same", 0, 100 * (same / alone - 1));
    row("loaded_same_rate", 0, rate);
    const double others = loaded(words, CCD_CORES, CORES - CCD_CORES, &rate);
    row("loaded_others", 0, 100 * (others / alone - 1));
    row("loaded_others_rate", 0, rate);
    CHECK_HIP(hipMemset(memory, 0, CHASED));
    CHECK_HIP(hipDeviceSynchronize()); // so that the Infinity Cache has it
    row("loaded_cache", 0, loaded(words, CORES + 1, 0, &rate));
    CHECK_HIP(hipFree(memory));
}

// ---- ISCA'24, figure 15: a flag for each part of a kernel's output, on which the CPU waits ----

static const int TILES = 48, TILE = 4096, THREADS = 256, WORKGROUPS = 6, ITERATIONS = 160, PARTS = 16;

// The flag is when the tile was done, in ticks of 10 ns.
__global__ void produce(float *out, unsigned long long *done)
{
    for (int tile = static_cast<int>(blockIdx.x); tile < TILES; tile += WORKGROUPS) {
        for (int i = static_cast<int>(threadIdx.x); i < TILE; i += THREADS) {
            const float goal = static_cast<float>((tile * TILE + i) % 1000) / 1000;
            float x = 0.5f;
            for (int k = 0; k < ITERATIONS; k++)
                x += (goal - x) / 16;
            out[tile * TILE + i] = x;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            __hip_atomic_store(&done[tile], static_cast<unsigned long long>(wall_clock64()), __ATOMIC_RELEASE,
                               __HIP_MEMORY_SCOPE_SYSTEM);
    }
}

// Ticks until all is counted up; how many tiles were before the kernel had ended, in `*early`.
static double process(float *out, unsigned long long *done, bool flags, unsigned *counts, int *early)
{
    uint64_t counted[TILES];
    std::fill(done, done + TILES, 0);
    std::fill(counts, counts + PARTS, 0);
    const uint64_t begin = ehp_host_time();
    produce<<<WORKGROUPS, THREADS>>>(out, done);
    if (!flags)
        CHECK_HIP(hipDeviceSynchronize());
    for (int tile = 0; tile < TILES; tile++) {
        while (!__atomic_load_n(&done[tile], __ATOMIC_ACQUIRE)) {
        }
        for (int i = 0; i < TILE; i++)
            counts[std::min(PARTS - 1, static_cast<int>(out[tile * TILE + i] * PARTS))]++;
        counted[tile] = ehp_host_time();
    }
    CHECK_HIP(hipDeviceSynchronize());
    const uint64_t end = *std::max_element(done, done + TILES);
    *early = static_cast<int>(std::count_if(counted, counted + TILES, [&](uint64_t at) { return at < end; }));
    return static_cast<double>(counted[TILES - 1] - begin);
}

static void overlap()
{
    float *out;
    unsigned long long *done;
    unsigned counts[2][PARTS];
    int early[2];
    CHECK_HIP(hipHostMalloc(&out, TILES * TILE * sizeof *out, hipHostMallocCoherent));
    CHECK_HIP(hipHostMalloc(&done, TILES * sizeof *done, hipHostMallocCoherent));
    process(out, done, false, counts[0], &early[0]); // code is loaded, pages are there
    const double after = process(out, done, false, counts[0], &early[0]),
                 with = process(out, done, true, counts[1], &early[1]);
    if (early[0] || !std::equal(counts[0], counts[0] + PARTS, counts[1]))
        std::exit(1);
    row("overlap_less", 0, 100 * (1 - with / after));
    row("overlap_early", 0, 100.0 * early[1] / TILES);
    CHECK_HIP(hipHostFree(out));
    CHECK_HIP(hipHostFree(done));
}

// malloc() and free() of the C library, as the mean of many small blocks, or of one that is mapped.
static void allocate(size_t bytes, unsigned blocks, double *allocating, double *freeing)
{
    std::vector<void *> block(blocks);
    double begin = now();
    for (void *&b : block)
        b = std::malloc(bytes);
    *allocating = (now() - begin) / blocks;
    begin = now();
    for (void *b : block)
        std::free(b);
    *freeing = (now() - begin) / blocks;
}

static void allocations()
{
    const size_t large = size_t{1} << 30;
    double small[2], mapped[2];
    for (unsigned pass = 0; pass < 2;
         pass++) { // what the heap has to grow for, and what faults, in the first
        allocate(32, 1000, &small[0], &small[1]);
        allocate(large, 1, &mapped[0], &mapped[1]);
    }
    row("host_malloc_small", 32, small[0]);
    row("host_free_less", 32, 100 * (1 - small[1] / small[0]));
    row("host_malloc", large >> 10, mapped[0] / 1e3);
    row("host_free_times", large >> 10, mapped[1] / mapped[0]);
}

int main()
{
    allocations();
    core_to_core();
    cpu_to_gpu();
    overlap();
    loaded_latency();
    return 0;
}
