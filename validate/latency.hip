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

// What lies in the caches of the first XCD after many rounds: of a buffer larger than they are some part.
__global__ void sweep(const line *lines, size_t count, unsigned xcds, size_t *sum)
{
    if (blockIdx.x % xcds)
        return;
    size_t step = size_t{gridDim.x / xcds} * blockDim.x, total = 0;
    for (size_t i = blockIdx.x / xcds * blockDim.x + threadIdx.x; i < count; i += step)
        total += lines[i].next != nullptr;
    if (total == 1)
        *sum = total;
}

// The same chase with scalar loads, which the scalar cache serves.
__global__ void chase_scalar(uint64_t first, int warm, int count, uint64_t *cycles)
{
    uint64_t p = first;
    for (int i = 0; i < warm; i++)
        asm volatile("s_load_dwordx2 %0, %0, 0x0\n\ts_waitcnt lgkmcnt(0)" : "+s"(p)::"memory");
    uint64_t start = clock64();
#pragma unroll
    for (int i = 0; i < count; i++)
        asm volatile("s_load_dwordx2 %0, %0, 0x0\n\ts_waitcnt lgkmcnt(0)" : "+s"(p)::"memory");
    *cycles = clock64() - start;
    cycles[1] = p;
}

__global__ void chase_lds(int count, uint64_t *cycles)
{
    __shared__ unsigned next[256];
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < 256; i++)
            next[i] = (i * 37 + 11) % 256 * 4;
        unsigned at = 0;
        __threadfence_block();
        uint64_t start = clock64();
#pragma unroll
        for (int i = 0; i < count; i++)
            asm volatile("ds_read_b32 %0, %0\n\ts_waitcnt lgkmcnt(0)" : "+v"(at)::"memory");
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

// Links `visited` of the buffer's lines into one ring in random order.
static line *link(line *lines, size_t count, size_t visited, uint64_t seed)
{
    random_numbers random{seed};
    std::vector<uint32_t> order;
    if (visited == count) {
        order.resize(count);
        std::iota(order.begin(), order.end(), 0u);
    } else {
        while (order.size() < visited)
            order.push_back(static_cast<uint32_t>(random.next() % count));
        std::sort(order.begin(), order.end());
        order.erase(std::unique(order.begin(), order.end()), order.end());
    }
    for (size_t i = order.size() - 1; i > 0; i--)
        std::swap(order[i], order[random.next() % (i + 1)]);
    for (size_t i = 0; i < order.size(); i++)
        lines[order[i]].next = &lines[order[(i + 1) % order.size()]];
    return &lines[order[0]];
}

static void vector_curve()
{
    static const double kib[] = {2,    4,    8,     16,    28,    48,    96,     256,    1024,   1536,   3072,   5120,
                                 8192, 16384, 32768, 49152, 65536, 131072, 196608, 262144, 393216, 524288, 1048576, 2097152, 4194304};
    const unsigned xcds = static_cast<unsigned>(compute_units()) / 38;
    const size_t sample = 2000, resident = size_t{256} << 20;
    size_t *sum;
    CHECK_HIP(hipMalloc(&sum, sizeof *sum));
    for (double size : kib) {
        size_t bytes = static_cast<size_t>(size * 1024), count = bytes / sizeof(line);
        line *lines;
        CHECK_HIP(hipMalloc(&lines, bytes));
        bool whole = count <= 4096;
        line *first = link(lines, count, whole ? count : std::min(count, sample + 400), 7);
        double each;
        if (whole) {
            each = measure(first, static_cast<int>(count + 64), static_cast<int>(std::max<size_t>(count, 256)));
        } else {
            size_t warm = std::min(bytes, resident) / sizeof(line);
            sweep<<<compute_units() * 2, 256>>>(lines + count - warm, warm, xcds, sum);
            each = measure(first, 200, static_cast<int>(sample));
        }
        row("latency_vector", size, each);
        CHECK_HIP(hipFree(lines));
    }
    CHECK_HIP(hipFree(sum));
}

int main()
{
    CHECK_HIP(hipHostMalloc(&cycles, 64));
    line *lines;
    CHECK_HIP(hipMalloc(&lines, 1 << 20));
    line *first = link(lines, 64, 64, 3);
    for (size_t bytes : {size_t{4096}, size_t{256} << 10}) {
        first = link(lines, bytes / sizeof(line), bytes / sizeof(line), 5);
        int n = static_cast<int>(bytes / sizeof(line));
        chase_scalar<<<1, 1>>>(reinterpret_cast<uint64_t>(first), n + 8, std::max(n, 256), cycles);
        CHECK_HIP(hipDeviceSynchronize());
        row("latency_scalar", static_cast<double>(bytes) / 1024, static_cast<double>(cycles[0]) / std::max(n, 256));
    }
    CHECK_HIP(hipFree(lines));
    chase_lds<<<1, 64>>>(1024, cycles);
    CHECK_HIP(hipDeviceSynchronize());
    row("latency_lds", 0, static_cast<double>(cycles[0]) / 1024);
    vector_curve();
    CHECK_HIP(hipHostFree(cycles));
    return 0;
}
