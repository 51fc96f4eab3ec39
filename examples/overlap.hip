// SPDX-License-Identifier: MIT
// The CPU works on a kernel's results while the kernel runs (Smith et al., "Realizing the AMD Exascale
// Heterogeneous Processor Vision", ISCA'24, figure 15): the GPU sets a flag for each tile that is done, the
// CPU spins on the flags. Once with and once without flags, with the timeline of both.
#include "check.h"

#include <hip/ehp_host.h>

#include <algorithm>
#include <thread>
#include <vector>

constexpr int TILES = 48, TILE = 4096, THREADS = 256, WORKGROUPS = 6, ROUNDS = 160;

struct span {
    long long begin, end; // in ticks of 10 ns
};

// Goes to (i % 1000 + 1/4) / 1000, on both sides as far as its part of the histogram is concerned.
__host__ __device__ static float element(int i)
{
    const float goal = (static_cast<float>(i % 1000) + 0.25f) / 1000;
    float x = 0.5f;
    for (int k = 0; k < ROUNDS; k++)
        x += (goal - x) / 16;
    return x;
}

// Each workgroup makes several tiles, one after the other.
__global__ void produce(float *out, int *done, span *times)
{
    for (int tile = static_cast<int>(blockIdx.x); tile < TILES; tile += WORKGROUPS) {
        const long long begin = wall_clock64();
        for (int i = static_cast<int>(threadIdx.x); i < TILE; i += THREADS)
            out[tile * TILE + i] = element(tile * TILE + i);
        __syncthreads();
        if (threadIdx.x == 0) {
            times[tile] = {begin, wall_clock64()};
            __hip_atomic_store(&done[tile], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
        }
    }
}

// In simulated time what the CPU does is said: what a core reads, and how many instructions it executes.
static bool simulated(const void *base, size_t bytes, uint64_t instructions)
{
    ehp_cpu_work work = {};
    work.size = sizeof work;
    work.operation = EHP_CPU_STREAM;
    work.cores = work.passes = 1;
    work.ranges = bytes ? 1 : 0;
    work.base[0] = const_cast<void *>(base);
    work.bytes[0] = bytes;
    work.instructions = instructions;
    return ehp_host_run(&work) == EHP_OK;
}

// The post-processing: how often values fall into each of 16 parts.
static void count_up(const float *tile, unsigned *histogram)
{
    simulated(tile, TILE * sizeof(float), TILE * 6);
    for (int i = 0; i < TILE; i++)
        histogram[std::min(15, static_cast<int>(tile[i] * 16))]++;
}

struct result {
    std::vector<span> gpu, cpu; // of each tile
    unsigned histogram[16];
    long long begin, end;
};

static result run(float *out, int *done, span *times, bool flags)
{
    result r = {std::vector<span>(TILES), std::vector<span>(TILES), {}, 0, 0};
    std::fill(done, done + TILES, 0);
    r.begin = static_cast<long long>(ehp_host_time());
    produce<<<WORKGROUPS, THREADS>>>(out, done, times);
    CHECK_HIP(hipGetLastError());
    if (!flags)
        CHECK_HIP(hipDeviceSynchronize());
    for (int tile = 0; tile < TILES; tile++) {
        while (!__atomic_load_n(&done[tile], __ATOMIC_ACQUIRE))
            if (!simulated(nullptr, 0, 1000))
                std::this_thread::yield();
        r.cpu[static_cast<size_t>(tile)].begin = static_cast<long long>(ehp_host_time());
        count_up(out + tile * TILE, r.histogram);
        r.cpu[static_cast<size_t>(tile)].end = static_cast<long long>(ehp_host_time());
    }
    r.end = static_cast<long long>(ehp_host_time());
    CHECK_HIP(hipDeviceSynchronize());
    std::copy(times, times + TILES, r.gpu.begin());
    return r;
}

// A line of time: in each column what share of the tiles' spans falls there, up to `most` at once.
static void draw(const char *who, const std::vector<span> &spans, long long begin, double column, double most)
{
    std::printf("  %s |", who);
    for (int c = 0; c < 64; c++) {
        const double from = static_cast<double>(begin) + c * column, to = from + column;
        double busy = 0;
        for (const span &s : spans)
            busy += std::max(0.0, std::min(to, static_cast<double>(s.end)) -
                                      std::max(from, static_cast<double>(s.begin)));
        const double share = busy / (column * most);
        std::printf("%c", share > 0.66 ? '#' : share > 0.33 ? '+' : share > 0.02 ? '-' : ' ');
    }
    std::printf("|\n");
}

int main()
{
    float *out;
    int *done;
    span *times;
    CHECK_HIP(hipHostMalloc(&out, TILES * TILE * sizeof(float), hipHostMallocCoherent));
    CHECK_HIP(hipHostMalloc(&done, TILES * sizeof(int), hipHostMallocCoherent));
    CHECK_HIP(hipHostMalloc(&times, TILES * sizeof(span), hipHostMallocCoherent));
    run(out, done, times, false); // code is loaded, pages are there
    const result one = run(out, done, times, false), two = run(out, done, times, true);
    const double column = static_cast<double>(std::max(one.end - one.begin, two.end - two.begin)) / 64;
    for (const result *r : {&one, &two}) {
        std::printf("%s: %.1f us\n", r == &one ? "after the kernel" : "with flags",
                    static_cast<double>(r->end - r->begin) / 100);
        draw("GPU", r->gpu, r->begin, column, WORKGROUPS);
        draw("CPU", r->cpu, r->begin, column, 1);
    }

    unsigned want[16] = {};
    for (int i = 0; i < TILES * TILE; i++)
        want[std::min(15, static_cast<int>(element(i) * 16))]++;
    int wrong = 0, early = 0;
    for (int i = 0; i < 16; i++)
        wrong += one.histogram[i] != want[i] || two.histogram[i] != want[i];
    long long last = 0;
    for (const span &s : two.gpu)
        last = std::max(last, s.end);
    for (const span &s : two.cpu)
        early += s.end <= last;
    // In simulated time the machine's load has no say in it.
    const bool sooner =
        !simulated(nullptr, 0, 1) || (early > TILES / 4 && two.end - two.begin < one.end - one.begin);
    CHECK_HIP(hipHostFree(out));
    CHECK_HIP(hipHostFree(done));
    CHECK_HIP(hipHostFree(times));
    return report(wrong == 0 && sooner, "%d of %d tiles were used while the kernel ran, %d wrong counts",
                  early, TILES, wrong);
}
