// SPDX-License-Identifier: MIT
// Kernels whose items work together: LDS, barriers, permutations, atomics.
#include <hip/hip_runtime.h>

#include "pairs.h"

template <typename T> static T *on_device(const struct both &b)
{
    return static_cast<T *>(b.device);
}

// Each block adds up 16 elements an item, in its first wave at last.
__global__ void reduce(const float *in, float *out, int each)
{
    __shared__ float waves[BLOCK / 64];
    const float *mine = in + static_cast<size_t>(blockIdx.x) * BLOCK * each + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < each; i++)
        sum += mine[i * BLOCK];
    for (int step = 32; step; step /= 2)
        sum += __shfl_down(sum, step);
    if (threadIdx.x % 64 == 0)
        waves[threadIdx.x / 64] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = waves[0] + waves[1] + waves[2] + waves[3];
}

static void run_reduce(const struct both *a)
{
    enum { FIRST = ITEMS / BLOCK / 16 };
    reduce<<<FIRST, BLOCK>>>(on_device<float>(a[0]), on_device<float>(a[1]), 16);
    reduce<<<1, BLOCK>>>(on_device<float>(a[1]), on_device<float>(a[2]), FIRST / BLOCK);
}

// Sums of blocks of 4 elements an item.
__global__ void scan_sums(const uint4 *in, uint32_t *sums)
{
    __shared__ uint32_t all;
    if (threadIdx.x == 0)
        all = 0;
    __syncthreads();
    const uint4 v = in[blockIdx.x * BLOCK + threadIdx.x];
    uint32_t sum = v.x + v.y + v.z + v.w;
    for (int step = 32; step; step /= 2)
        sum += __shfl_down(sum, step);
    if (threadIdx.x % 64 == 0)
        atomicAdd(&all, sum);
    __syncthreads();
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

// Of a block's items: what those before have together.
static __device__ uint32_t before(uint32_t mine, uint32_t *waves)
{
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    uint32_t sum = mine;
    for (int step = 1; step < 64; step *= 2) {
        const uint32_t other = __shfl_up(sum, step);
        sum += lane >= step ? other : 0;
    }
    if (lane == 63)
        waves[wave] = sum;
    __syncthreads();
    uint32_t start = 0;
    for (int w = 0; w < wave; w++)
        start += waves[w];
    return start + sum - mine;
}

// One block; each item takes a run of sums.
__global__ void scan_starts(uint32_t *sums, int each)
{
    __shared__ uint32_t waves[BLOCK / 64];
    uint32_t *mine = sums + threadIdx.x * each, sum = 0;
    for (int i = 0; i < each; i++)
        sum += mine[i];
    uint32_t next = before(sum, waves);
    for (int i = 0; i < each; i++) {
        const uint32_t count = mine[i];
        mine[i] = next;
        next += count;
    }
}

__global__ void scan_blocks(const uint4 *in, const uint32_t *starts, uint4 *out)
{
    __shared__ uint32_t waves[BLOCK / 64];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const uint4 v = in[i];
    const uint32_t start = starts[blockIdx.x] + before(v.x + v.y + v.z + v.w, waves);
    out[i] = make_uint4(start, start + v.x, start + v.x + v.y, start + v.x + v.y + v.z);
}

static void run_scan(const struct both *a)
{
    enum { BLOCKS = ITEMS / 4 / BLOCK };
    scan_sums<<<BLOCKS, BLOCK>>>(on_device<uint4>(a[0]), on_device<uint32_t>(a[1]));
    scan_starts<<<1, BLOCK>>>(on_device<uint32_t>(a[1]), BLOCKS / BLOCK);
    scan_blocks<<<BLOCKS, BLOCK>>>(on_device<uint4>(a[0]), on_device<uint32_t>(a[1]), on_device<uint4>(a[2]));
}

__global__ void histogram(const uint32_t *in, uint32_t *out)
{
    __shared__ uint32_t bins[DIGITS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t *mine = in + blockIdx.x * BLOCK * 64 + threadIdx.x;
    for (int i = 0; i < 64; i++)
        atomicAdd(&bins[mine[i * BLOCK] % DIGITS], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

static void run_histogram(const struct both *a)
{
    (void)hipMemsetAsync(a[1].device, 0, DIGITS * 4);
    histogram<<<ITEMS / BLOCK / 64, BLOCK>>>(on_device<uint32_t>(a[0]), on_device<uint32_t>(a[1]));
}

enum { RADIX_BLOCKS = KEYS / BLOCK_KEYS };

__global__ void radix_count(const uint32_t *in, uint32_t *counts)
{
    __shared__ uint32_t bins[DIGITS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t *mine = in + blockIdx.x * BLOCK_KEYS + threadIdx.x;
    for (int i = 0; i < BLOCK_KEYS / BLOCK; i++)
        atomicAdd(&bins[mine[i * BLOCK] % DIGITS], 1);
    __syncthreads();
    counts[threadIdx.x * RADIX_BLOCKS + blockIdx.x] = bins[threadIdx.x];
}

// A wave takes its keys 64 at a time; those of the same digit keep their order.
__global__ void radix_scatter(const uint32_t *in, const uint32_t *starts, uint32_t *out)
{
    __shared__ uint32_t next[DIGITS];
    for (int d = threadIdx.x; d < DIGITS; d += 64)
        next[d] = starts[d * RADIX_BLOCKS + blockIdx.x];
    __syncthreads();
    const uint32_t *mine = in + blockIdx.x * BLOCK_KEYS + threadIdx.x;
    for (int i = 0; i < BLOCK_KEYS / 64; i++) {
        const uint32_t key = mine[i * 64], digit = key % DIGITS;
        uint64_t same = ~0ull;
        for (int bit = 0; bit < 8; bit++) {
            const uint64_t set = __ballot(digit >> bit & 1);
            same &= digit >> bit & 1 ? set : ~set;
        }
        const uint32_t rank = __popcll(same & ((1ull << threadIdx.x) - 1)), start = next[digit];
        __syncthreads();
        if (rank + 1 == __popcll(same))
            next[digit] = start + rank + 1;
        __syncthreads();
        out[start + rank] = key;
    }
}

static void run_radix(const struct both *a)
{
    radix_count<<<RADIX_BLOCKS, BLOCK>>>(on_device<uint32_t>(a[0]), on_device<uint32_t>(a[1]));
    enum { SUMS = DIGITS * RADIX_BLOCKS / 4 / BLOCK };
    scan_sums<<<SUMS, BLOCK>>>(on_device<uint4>(a[1]), on_device<uint32_t>(a[2]));
    scan_starts<<<1, BLOCK>>>(on_device<uint32_t>(a[2]), SUMS / BLOCK);
    scan_blocks<<<SUMS, BLOCK>>>(on_device<uint4>(a[1]), on_device<uint32_t>(a[2]), on_device<uint4>(a[1]));
    radix_scatter<<<RADIX_BLOCKS, 64>>>(on_device<uint32_t>(a[0]), on_device<uint32_t>(a[1]),
                                        on_device<uint32_t>(a[3]));
}

struct pair group_pairs[] = {
    {"reduction",
     "GB/s",
     4e-9 * ITEMS,
     {{FILL_UNIT, ITEMS * 4L}, {FILL_ZERO, ITEMS / BLOCK / 16 * 4L}, {FILL_ZERO, 4}},
     CLOSE_F32,
     1e-4,
     run_reduce,
     host_reduce,
     2},
    {"exclusive scan",
     "M items/s",
     1e-6 * ITEMS,
     {{FILL_BITS, ITEMS * 4L}, {FILL_ZERO, ITEMS / BLOCK * 4L}, {FILL_ZERO, ITEMS * 4L}},
     SAME_BITS,
     0,
     run_scan,
     host_scan,
     2},
    {"histogram, LDS atomics",
     "M items/s",
     1e-6 * ITEMS,
     {{FILL_BITS, ITEMS * 4L}, {FILL_ZERO, DIGITS * 4}},
     SAME_BITS,
     0,
     run_histogram,
     host_histogram,
     1},
    {"radix sort, a pass",
     "M keys/s",
     1e-6 * KEYS,
     {{FILL_BITS, KEYS * 4L},
      {FILL_ZERO, DIGITS * RADIX_BLOCKS * 4L},
      {FILL_ZERO, DIGITS * RADIX_BLOCKS / BLOCK * 4L},
      {FILL_ZERO, KEYS * 4L}},
     SAME_BITS,
     0,
     run_radix,
     host_radix,
     3},
    {},
};
