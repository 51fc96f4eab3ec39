// SPDX-License-Identifier: MIT
// Reads and writes of footprints that the L2s hold, or not: `l2 l2_read` and `l2_more_read` over the number
// of waves, `l2_write` over the footprint, one element a thread; `l2_wide_read` and `l2_wide_write` by waves
// that stay, 16 bytes a thread at a time.
#include "measure.h"

#include <algorithm>
#include <cstring>

// A row of the grid goes through the array once.
__global__ void read_once(const double *a, double *out)
{
    extern __shared__ double unused[]; // limits how many workgroups a compute unit takes
    double value = a[blockIdx.x * blockDim.x + threadIdx.x];
    if (value == 1.25)
        *out = value;
}

// Every XCD reads all.
__global__ void warm(const double *a, unsigned xcds, double *out)
{
    if (double value = a[blockIdx.x / xcds * blockDim.x + threadIdx.x]; value == 1.25)
        *out = value;
}

__global__ void write_once(double *a, double value)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

typedef unsigned quad __attribute__((ext_vector_type(4)));
constexpr unsigned STEPS = 4;

// Each workgroup goes through what its XCD has of the array, and begins elsewhere than the others: vL1s do
// not hold it.
template <bool WRITE> __global__ void stay(quad *a, unsigned xcds, unsigned items, unsigned rounds)
{
    quad *mine = a + size_t{blockIdx.x % xcds} * items;
    const unsigned first = blockIdx.x / xcds * STEPS * blockDim.x + threadIdx.x;
    quad sum = {};
    for (unsigned r = 0; r < rounds; r++) {
#pragma unroll
        for (unsigned i = 0; i < STEPS; i++) {
            quad *p = mine + (first + (STEPS * r + i) * blockDim.x) % items;
            if (WRITE)
                *p = quad{r, i, 0, 0};
            else
                sum |= *p;
        }
    }
    if (!WRITE && sum.x == 1)
        *mine = sum;
}

static double *array;
static unsigned run; // workgroups that go through it

// So many workgroups, or more: whole rows, unless they do not get through the array once.
static dim3 grid(unsigned blocks)
{
    return run > blocks ? dim3(blocks) : dim3(run, (blocks + run - 1) / run);
}

struct span {
    double blocks, us;
};

// From launches that differ in how often they go through the array: what each launch takes apart from that
// drops out.
template <class LAUNCH> static span between(unsigned few, unsigned many, LAUNCH launch)
{
    stopwatch watch;
    auto time = [&](dim3 blocks) {
        watch.start();
        launch(blocks);
        return watch.stop();
    };
    const dim3 a = grid(few), b = grid(many);
    const double first = time(a);
    return {double(b.x) * b.y - double(a.x) * a.y, time(b) - first};
}

static unsigned xcd_count()
{
    return static_cast<unsigned>(compute_units()) / 38;
}

struct occupancy {
    int block, per_cu;
};

static void read_curve(const char *name, unsigned kib, std::initializer_list<occupancy> points)
{
    const unsigned bytes = kib << 10, xcds = xcd_count();
    CHECK_HIP(hipMalloc(&array, bytes));
    warm<<<bytes / 8192 * xcds, 1024>>>(array, xcds, array);
    for (const occupancy &o : points) {
        const int block = o.block, per_cu = o.per_cu;
        const unsigned shared = 65536 / static_cast<unsigned>(per_cu),
                       in_block = static_cast<unsigned>(block) * 8;
        run = bytes / in_block;
        const unsigned at_once = static_cast<unsigned>(compute_units() * per_cu);
        auto read = [&](dim3 blocks) { read_once<<<blocks, block, shared>>>(array, array); };
        read(grid(at_once)); // code, TLBs
        const span s = between(at_once * 8, at_once * 48, read);
        row(name, 100.0 * block * per_cu / 2048, s.blocks * in_block / s.us / 1e3);
    }
    CHECK_HIP(hipFree(array));
}

static void write_curve()
{
    const unsigned xcds = xcd_count(), full = xcds * 512; // what fills the L2s
    for (unsigned kib : {895, 2431, 4479, 7167, 11007, 16255, 23423, 33279, 46591, 64895, 90111, 124415,
                         171391}) { // of two arrays; one is written
        run = (kib * 64 + 1023) / 1024;
        CHECK_HIP(hipMalloc(&array, size_t{run} * 8192));
        const unsigned before = kib < 8192 ? xcds * run : full * 5 / 4, then = kib < 8192 ? full * 2 : full;
        auto write = [](dim3 blocks) { write_once<<<blocks, 1024>>>(array, 2.5); };
        write(dim3(std::min(run, before + then))); // pages
        const span s = between(before, before + then, write);
        row("l2_write", kib, 8192.0 * s.blocks / s.us / 1e3);
        CHECK_HIP(hipFree(array));
    }
}

template <bool WRITE> static void wide(const char *name)
{
    const unsigned xcds = xcd_count(), bytes = 2u << 20, few_rounds = 1, many_rounds = 3,
                   blocks = 2 * static_cast<unsigned>(compute_units());
    quad *a;
    CHECK_HIP(hipMalloc(&a, size_t{xcds} * bytes));
    stopwatch watch;
    auto time = [&](unsigned count) {
        watch.start();
        stay<WRITE><<<blocks, 1024>>>(a, xcds, bytes / sizeof(quad), count);
        return watch.stop();
    };
    time(few_rounds);
    double few = time(few_rounds), many = time(many_rounds);
    row(name, 0,
        double{many_rounds - few_rounds} * STEPS * blocks * 1024 * sizeof(quad) / (many - few) / 1e6);
    CHECK_HIP(hipFree(a));
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (!std::strcmp(name, "l2_read"))
            read_curve(name, 1536,
                       {{96, 1},
                        {112, 1},
                        {64, 2},
                        {192, 1},
                        {128, 2},
                        {192, 2},
                        {256, 2},
                        {384, 2},
                        {512, 2},
                        {640, 2},
                        {768, 2},
                        {896, 2}});
        else if (!std::strcmp(name, "l2_more_read"))
            read_curve(name, 1920,
                       {{96, 1},
                        {112, 1},
                        {64, 2},
                        {192, 1},
                        {128, 2},
                        {192, 2},
                        {256, 2},
                        {384, 2},
                        {512, 2},
                        {640, 2},
                        {768, 2},
                        {896, 2}});
        else if (!std::strcmp(name, "l2_launch"))
            read_curve(name, 1536, {{768, 2}});
        else if (!std::strcmp(name, "l2_write"))
            write_curve();
        else if (!std::strcmp(name, "l2_wide_read"))
            wide<false>(name);
        else
            wide<true>(name);
    }
    return 0;
}
