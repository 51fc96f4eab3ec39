// SPDX-License-Identifier: MIT
// Latency of dependent loads of one thread over the size of what they go through: lines of 128 bytes in
// random order, warm as after many rounds. Then of scalar loads, of LDS, and over the stride.
#include "measure.h"

#include <algorithm>
#include <numeric>
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

// One line in sixteen, by chance.
__host__ __device__ bool sampled(size_t index)
{
    return static_cast<uint32_t>(index * 0x9e3779b1u) >> 28 == 0;
}

// Reads the other lines into the caches of the first XCD, as a whole round through the buffer does before it
// comes back to the sampled ones.
__global__ void sweep(const line *lines, size_t count, unsigned xcds, size_t *sum)
{
    if (blockIdx.x % xcds)
        return;
    size_t step = size_t{gridDim.x / xcds} * blockDim.x, total = 0;
    for (size_t i = blockIdx.x / xcds * blockDim.x + threadIdx.x; i < count; i += step)
        if (!sampled(i))
            total += lines[i].next != nullptr;
    if (total == 1)
        *sum = total;
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

// Links lines of the buffer, all of them or up to `most` sampled ones, into one ring in random order.
static line *link(line *lines, size_t count, size_t most, size_t *linked)
{
    random_numbers random{count};
    std::vector<uint32_t> order;
    if (count <= most) {
        order.resize(count);
        std::iota(order.begin(), order.end(), 0u);
    } else {
        for (size_t tries = 0; order.size() < most && tries < 64 * most; tries++) {
            size_t index = random.next() % count;
            if (sampled(index))
                order.push_back(static_cast<uint32_t>(index));
        }
        std::sort(order.begin(), order.end());
        order.erase(std::unique(order.begin(), order.end()), order.end());
    }
    for (size_t i = order.size() - 1; i > 0; i--)
        std::swap(order[i], order[random.next() % (i + 1)]);
    for (size_t i = 0; i < order.size(); i++)
        lines[order[i]].next = &lines[order[(i + 1) % order.size()]];
    *linked = order.size();
    return &lines[order[0]];
}

static void vector_curve()
{
    const unsigned xcds = static_cast<unsigned>(compute_units()) / 38;
    const size_t most_lines = (size_t{320} << 20) / sizeof(line); // more than the caches hold
    size_t *sum;
    CHECK_HIP(hipMalloc(&sum, sizeof *sum));
    for (double kib : {1,    2,    4,    8,     16,    28,    48,     96,     256,     1024,   2048,
                       3072, 5120, 8192, 16384, 32768, 65536, 131072, 393216, 2097152, 4194304}) {
        size_t bytes = static_cast<size_t>(kib * 1024), count = bytes / sizeof(line), linked;
        line *lines;
        CHECK_HIP(hipMalloc(&lines, bytes));
        line *first = link(lines, count, 4096, &linked);
        double each;
        if (linked == count) {
            each = measure(first, static_cast<int>(count), static_cast<int>(std::max<size_t>(count, 256)));
        } else {
            measure(first, 0, static_cast<int>(linked)); // the sampled lines, and then the others
            size_t others = std::min(count, most_lines);
            sweep<<<compute_units() * 2, 256>>>(lines, others, xcds, sum);
            each = measure(first, 0, static_cast<int>(std::min<size_t>(linked, 1500)));
        }
        row("latency_vector", kib, each);
        CHECK_HIP(hipFree(lines));
    }
    CHECK_HIP(hipFree(sum));
}

int main()
{
    CHECK_HIP(hipHostMalloc(&cycles, 64));
    for (double kib : {4, 256}) {
        size_t count = static_cast<size_t>(kib * 1024) / sizeof(line), linked;
        line *lines;
        CHECK_HIP(hipMalloc(&lines, count * sizeof(line)));
        line *first = link(lines, count, count, &linked);
        int rounds = static_cast<int>(std::max<size_t>(count / 64, 4));
        chase_scalar<<<1, 1>>>(reinterpret_cast<uint64_t>(first), rounds, rounds, cycles);
        CHECK_HIP(hipDeviceSynchronize());
        row("latency_scalar", kib, static_cast<double>(cycles[0]) / (64 * rounds));
        CHECK_HIP(hipFree(lines));
    }
    chase_lds<<<1, 64>>>(16, cycles);
    CHECK_HIP(hipDeviceSynchronize());
    row("latency_lds", 0, static_cast<double>(cycles[0]) / (64 * 16));
    vector_curve();
    CHECK_HIP(hipHostFree(cycles));
    return 0;
}
