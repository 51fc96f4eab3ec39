// SPDX-License-Identifier: MIT
// Latency of dependent loads of one thread over the size of what they go through: lines of 128 bytes in
// random order, warm as after many rounds. Besides, of scalar loads and of LDS, and over the stride; how much
// caches hold, and how much they fetch at once. `latency latency_between` is the curve between its other
// points.
#include "measure.h"

#include <algorithm>
#include <vector>

struct line {
    line *next;
    char rest[120];
};

__global__ void chase(line *p, int warm, int count, uint64_t *cycles)
{
    for (int i = 0; i < warm; i++)
        p = p->next;
    uint64_t start = clock64();
#pragma unroll 4
    for (int i = 0; i < count; i++)
        p = p->next;
    asm volatile("" ::"v"(p));
    *cycles = clock64() - start;
    cycles[1] = reinterpret_cast<uint64_t>(p);
}

// Reads every `step`th line but those that are linked, so that the caches of the first XCD hold them, and of
// L2s no others.
__global__ void sweep(const line *lines, size_t count, unsigned step, unsigned linked, unsigned xcds,
                      size_t *sum)
{
    if (blockIdx.x % xcds)
        return;
    size_t threads = size_t{gridDim.x / xcds} * blockDim.x, total = 0;
    for (size_t i = (blockIdx.x / xcds * blockDim.x + threadIdx.x) * step + 1; i < count; i += threads * step)
        if (i % linked)
            total += lines[i].next == nullptr;
    if (total == 1)
        *sum = total;
}

// By loads that no vector cache serves.
__global__ void chase_device(char *p, int count, uint64_t *cycles)
{
    uint64_t start = clock64();
    for (int i = 0; i < count; i++)
        p = __hip_atomic_load(reinterpret_cast<char **>(p), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    asm volatile("" ::"v"(p));
    *cycles = clock64() - start;
    cycles[1] = reinterpret_cast<uint64_t>(p);
}

// Chases of 64 rounds.  With scalar loads, which the scalar cache serves:
__global__ void chase_scalar(uint64_t first, int warm, int count, uint64_t *cycles)
{
    uint64_t p = first, start = 0;
    for (int i = 0; i < warm + count; i++) {
        if (i == warm)
            start = clock64();
        asm volatile(".rept 64\n\ts_load_dwordx2 %0, %0, 0x0\n\ts_waitcnt lgkmcnt(0)\n\t.endr"
                     : "+s"(p)::"memory");
    }
    *cycles = clock64() - start;
    cycles[1] = p;
}

// In the LDS:
__global__ void chase_lds(int count, uint64_t *cycles)
{
    __shared__ unsigned next[256];
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < 256; i++)
            next[i] = (i * 37 + 11) % 256 * 4;
        unsigned at = 0;
        uint64_t start = 0;
        for (int i = 0; i < 1 + count; i++) {
            if (i == 1)
                start = clock64();
            asm volatile(".rept 64\n\tds_read_b32 %0, %0\n\ts_waitcnt lgkmcnt(0)\n\t.endr"
                         : "+v"(at)::"memory");
        }
        *cycles = clock64() - start;
        cycles[1] = at + next[0];
    }
}

static uint64_t *cycles;

static double measure(line *first, int warm, int count)
{
    chase<<<1, 1>>>(first, warm, count, cycles);
    CHECK_HIP(hipDeviceSynchronize());
    return static_cast<double>(cycles[0]) / count;
}

// Links lines of the buffer, all of them or `most` of those that `apart` divides, into a ring in random
// order. Returns them in its order.
static std::vector<line *> link(line *lines, size_t count, size_t most, size_t apart = 1)
{
    random_numbers random{count};
    std::vector<size_t> order(std::min(count / apart, most));
    for (size_t i = 0; i < order.size(); i++) { // one of each part of the buffer
        size_t part = count / apart / order.size();
        order[i] = i * part + random.next() % part;
    }
    for (size_t i = 1; i < order.size(); i++)
        std::swap(order[i], order[random.next() % (i + 1)]);
    std::vector<line *> ring;
    for (size_t index : order)
        ring.push_back(&lines[index * apart]);
    for (size_t i = 0; i < ring.size(); i++)
        ring[i]->next = ring[(i + 1) % ring.size()];
    return ring;
}

// The same, but that they lie in pieces of 64 pages, of which it goes through one after the other, as
// multichase does: a TLB misses once in a piece.
static std::vector<line *> link_in_pieces(line *lines, size_t count, size_t most, size_t apart)
{
    constexpr size_t PIECE = (size_t{64} << 12) / sizeof(line), EACH = 128;
    const size_t pieces = std::max<size_t>(most / EACH, 1);
    std::vector<line *> ring;
    for (size_t i = 0; i < pieces; i++) {
        std::vector<line *> piece = link(lines + count / PIECE / pieces * i * PIECE, PIECE, EACH, apart);
        ring.insert(ring.end(), piece.begin(), piece.end());
    }
    for (size_t i = 0; i < ring.size(); i++)
        ring[i]->next = ring[(i + 1) % ring.size()];
    return ring;
}

static line *allocate(size_t bytes)
{
    void *lines;
    CHECK_HIP(hipMalloc(&lines, bytes));
    return static_cast<line *>(lines);
}

// Of a buffer that is too large to go through: some of its lines, with the caches as whole rounds leave them.
// Between two rounds all others were read, or twice as much as the Infinity Cache holds.
static double measure_some(line *lines, size_t bytes, bool in_pieces, unsigned xcds, size_t *sum)
{
    constexpr size_t INFINITY_CACHE = size_t{256} << 20, PAGE = size_t{2} << 20;
    constexpr unsigned COUNT = 1024;
    const unsigned blocks = static_cast<unsigned>(compute_units()), apart = in_pieces ? 8 : 64;
    const size_t count = bytes / sizeof(line);
    std::vector<line *> ring =
        in_pieces ? link_in_pieces(lines, count, COUNT, apart) : link(lines, count, COUNT, apart);
    measure(ring[0], 0, COUNT);
    sweep<<<blocks, 256>>>(lines, std::min(bytes, 2 * INFINITY_CACHE) / sizeof(line), 1, apart, xcds, sum);
    sweep<<<blocks, 256>>>(lines, count, PAGE / sizeof(line), apart, xcds, sum); // for the TLBs
    return measure(ring[0], 0, COUNT);
}

static void vector_curve(const char *name, std::initializer_list<double> sizes, bool in_pieces = false)
{
    const unsigned xcds = static_cast<unsigned>(compute_units()) / 38;
    size_t *sum;
    CHECK_HIP(hipMalloc(&sum, sizeof *sum));
    for (double kib : sizes) {
        size_t bytes = static_cast<size_t>(kib * 1024), count = bytes / sizeof(line);
        line *lines = allocate(bytes);
        double each;
        if (kib <= 8192) {
            std::vector<line *> ring = link(lines, count, count);
            each = measure(ring[0], static_cast<int>(count),
                           static_cast<int>(std::clamp<size_t>(count, 256, 2048)));
        } else {
            each = measure_some(lines, bytes, in_pieces, xcds, sum);
        }
        row(name, kib, each);
        CHECK_HIP(hipFree(lines));
    }
    CHECK_HIP(hipFree(sum));
}

// Cycles of a load of those that go once through `bytes` at a stride, in random order.
using chaser = double (*)(char *first, unsigned loads);
static double once(chaser chase_from, size_t bytes, size_t stride, bool warm)
{
    char *buffer;
    CHECK_HIP(hipMalloc(&buffer, bytes));
    random_numbers random{stride};
    std::vector<char *> ring;
    for (size_t at = 0; at < bytes; at += stride)
        ring.push_back(buffer + at);
    for (size_t i = 1; i < ring.size(); i++)
        std::swap(ring[i], ring[random.next() % (i + 1)]);
    for (size_t i = 0; i < ring.size(); i++)
        *reinterpret_cast<char **>(ring[i]) = ring[(i + 1) % ring.size()];
    double each = chase_from(ring[0], static_cast<unsigned>(ring.size()));
    if (warm)
        each = chase_from(ring[0], static_cast<unsigned>(ring.size()));
    CHECK_HIP(hipFree(buffer));
    return each;
}

// The least stride at which each load misses.
static double granularity(chaser chase_from, size_t bytes, bool warm)
{
    const double all = once(chase_from, bytes, 256, warm);
    for (size_t stride : {16, 32, 64, 128})
        if (once(chase_from, bytes, stride, warm) > 0.92 * all)
            return static_cast<double>(stride);
    return 256;
}

static double by_vector(char *first, unsigned loads)
{
    chase<<<1, 1>>>(reinterpret_cast<line *>(first), 0, static_cast<int>(loads), cycles);
    CHECK_HIP(hipDeviceSynchronize());
    return static_cast<double>(cycles[0]) / loads;
}

static double by_device(char *first, unsigned loads)
{
    chase_device<<<1, 1>>>(first, static_cast<int>(loads), cycles);
    CHECK_HIP(hipDeviceSynchronize());
    return static_cast<double>(cycles[0]) / loads;
}

static double by_scalar(char *first, unsigned loads)
{
    chase_scalar<<<1, 1>>>(reinterpret_cast<uint64_t>(first), 0, static_cast<int>(loads / 64), cycles);
    CHECK_HIP(hipDeviceSynchronize());
    return static_cast<double>(cycles[0]) / (loads / 64 * 64);
}

// What a scalar cache holds, by when another round misses.
static double scalar_size()
{
    double most = 0, least = 0;
    for (unsigned kib : {8, 12, 14, 15, 16, 17, 18, 20, 24}) {
        line *lines = allocate(kib << 10);
        line *first = link(lines, kib * 8, SIZE_MAX)[0];
        int rounds = static_cast<int>(kib * 8 / 64) + 1;
        chase_scalar<<<1, 1>>>(reinterpret_cast<uint64_t>(first), rounds, rounds, cycles);
        CHECK_HIP(hipDeviceSynchronize());
        const double each = static_cast<double>(cycles[0]) / (64 * rounds);
        least = least == 0 ? each : least;
        most = each < least + 10 ? kib : most;
        CHECK_HIP(hipFree(lines));
    }
    return most;
}

// Lines at a stride: up to which footprint the loads take no longer than those of few lines.
static size_t reach(size_t stride, std::initializer_list<size_t> footprints, double longer, double *penalty)
{
    size_t most = 0;
    double least = 0;
    for (size_t bytes : footprints) {
        line *lines = allocate(bytes);
        std::vector<line *> ring = link(lines, bytes / sizeof(line), SIZE_MAX, stride / sizeof(line));
        int rounds = static_cast<int>(std::max<size_t>(ring.size(), 256));
        double each = measure(ring[0], rounds, rounds);
        CHECK_HIP(hipFree(lines));
        if (least == 0)
            least = each;
        if (each < least + longer)
            most = bytes;
        *penalty = each - least;
    }
    return most;
}

static void reaches()
{
    double penalty;
    row("reach_vl1", 4,
        static_cast<double>(
            reach(4096, {4096 * 16, 4096 * 48, 4096 * 64, 4096 * 80, 4096 * 128}, 20, &penalty)) /
            4096 * sizeof(line) / 1024);
    row("reach_l2", 4,
        static_cast<double>(
            reach(4096, {4096 * 256, 4096 * 1024, 4096 * 1536, 4096 * 2048, 4096 * 3072}, 40, &penalty)) /
            4096 * sizeof(line) / 1024);
    const size_t mib = 1 << 20, page = 2 * mib;
    row("reach_tlb", 2048,
        static_cast<double>(
            reach(page + 256, {16 * mib, 32 * mib, 48 * mib, 64 * mib, 80 * mib, 128 * mib}, 20, &penalty)) /
            mib);
    row("tlb_miss", 2048, penalty);
}

static void sizes()
{
    double penalty;
    row("size_vl1", 0,
        static_cast<double>(reach(128, {16 << 10, 24 << 10, 30 << 10, 31 << 10, 32 << 10, 33 << 10, 34 << 10},
                                  10, &penalty)) /
            1024);
    row("size_sl1", 0, scalar_size());
    row("line_vl1", 0, granularity(by_vector, 16 << 10, true));
    row("line_l2", 0, granularity(by_device, 256 << 10, false));
    row("line_sl1", 0, granularity(by_scalar, 16 << 10, true));
}

int main(int argc, char **)
{
    CHECK_HIP(hipHostMalloc(&cycles, 64));
    if (argc > 1) {
        vector_curve("latency_between",
                     {12.8,    19.9,    32,      33.9,    40.6,    81.1,    132,     190.1,   382.5,
                      753.8,   1539.4,  2535.5,  3530.2,  3834.8,  3996.9,  4166,    4341.6,  4714.8,
                      5562.4,  6295.4,  7125.2,  7738.4,  9126.1,  10327.4, 11214.8, 12177.9, 13223.4,
                      24525.2, 40191.8, 71511.4, 80909.1, 95384.8, 107917,  160407,  210740,  241551,
                      276867,  317346,  363742,  477876,  719612});
        return 0;
    }
    for (double kib : {4, 256}) {
        size_t count = static_cast<size_t>(kib * 1024) / sizeof(line);
        line *lines = allocate(count * sizeof(line));
        line *first = link(lines, count, count)[0];
        int rounds = static_cast<int>(std::max<size_t>(count / 64, 4));
        chase_scalar<<<1, 1>>>(reinterpret_cast<uint64_t>(first), rounds, rounds, cycles);
        CHECK_HIP(hipDeviceSynchronize());
        row("latency_scalar", kib, static_cast<double>(cycles[0]) / (64 * rounds));
        CHECK_HIP(hipFree(lines));
    }
    chase_lds<<<1, 64>>>(16, cycles);
    CHECK_HIP(hipDeviceSynchronize());
    row("latency_lds", 0, static_cast<double>(cycles[0]) / (64 * 16));
    reaches();
    sizes();
    vector_curve("latency_vector", {1,     2,     4,     8,      16,     24,      28,      48,     64,
                                    96,    256,   512,   1024,   2048,   3072,    5120,    8192,   16384,
                                    32768, 49152, 65536, 131072, 196608, 1048576, 2097152, 4194304});
    vector_curve("latency_in_pieces", {131072, 4194304}, true);
    CHECK_HIP(hipHostFree(cycles));
    return 0;
}
