// SPDX-License-Identifier: MIT
// A least-significant-digit radix sort of keys with values, four bits at a time: count digits, scan the
// counts, scatter stably. Ranks within a wave come from ballots.
#include "check.h"

#include <algorithm>
#include <numeric>
#include <vector>

constexpr int BITS = 4, DIGITS = 1 << BITS, BLOCK = 256;

__device__ unsigned digit_of(unsigned key, int shift)
{
    return key >> shift & (DIGITS - 1);
}

// counts[digit * gridDim.x + block]: in this order the scan gives every block its place for every digit.
__global__ void count_digits(const unsigned *keys, int n, int shift, unsigned *counts)
{
    __shared__ unsigned local[DIGITS];
    if (threadIdx.x < DIGITS)
        local[threadIdx.x] = 0;
    __syncthreads();
    const int i = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
    if (i < n)
        atomicAdd(&local[digit_of(keys[i], shift)], 1u);
    __syncthreads();
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

// One workgroup scans all counts in place.
__global__ void scan_counts(unsigned *counts, int n)
{
    __shared__ unsigned sums[BLOCK];
    const int each = (n + BLOCK - 1) / BLOCK, t = static_cast<int>(threadIdx.x);
    const int first = min(t * each, n), last = min(first + each, n);
    unsigned sum = 0;
    for (int i = first; i < last; i++)
        sum += counts[i];
    sums[t] = sum;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        unsigned other = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += other;
        __syncthreads();
    }
    unsigned before = sums[t] - sum;
    for (int i = first; i < last; i++) {
        unsigned value = counts[i];
        counts[i] = before;
        before += value;
    }
}

__global__ void scatter(const unsigned *keys, const unsigned *values, unsigned *keys_out,
                        unsigned *values_out, int n, int shift, const unsigned *starts)
{
    __shared__ unsigned wave_counts[BLOCK / 64][DIGITS];
    const int i = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
    const int lane = static_cast<int>(threadIdx.x) % warpSize,
              wave = static_cast<int>(threadIdx.x) / warpSize;
    const bool valid = i < n;
    const unsigned key = valid ? keys[i] : 0, digit = digit_of(key, shift);
    // The lanes of this wave that have the same digit.
    unsigned long long same = __ballot(valid);
    for (int bit = 0; bit < BITS; bit++) {
        unsigned long long ones = __ballot(static_cast<int>(digit >> bit & 1));
        same &= digit >> bit & 1 ? ones : ~ones;
    }
    const unsigned rank = static_cast<unsigned>(__popcll(same & ((1ull << lane) - 1)));
    for (int d = lane; d < DIGITS; d += warpSize)
        wave_counts[wave][d] = 0;
    __syncthreads();
    if (valid && rank == 0)
        wave_counts[wave][digit] = static_cast<unsigned>(__popcll(same));
    __syncthreads();
    if (valid) {
        unsigned to = starts[digit * gridDim.x + blockIdx.x] + rank;
        for (int w = 0; w < wave; w++)
            to += wave_counts[w][digit];
        keys_out[to] = key;
        values_out[to] = values[i];
    }
}

int main()
{
    const int n = 100000, blocks = (n + BLOCK - 1) / BLOCK;
    const size_t bytes = n * sizeof(unsigned);
    std::vector<unsigned> keys(n), values(n), sorted(n), order(n);
    random_numbers random{13};
    for (auto &key : keys)
        key = random.next() % 5 ? random.next() : 42; // some equal keys, to see that their order stays
    std::iota(values.begin(), values.end(), 0u);
    unsigned *k[2], *v[2], *counts;
    for (int i = 0; i < 2; i++) {
        CHECK_HIP(hipMalloc(&k[i], bytes));
        CHECK_HIP(hipMalloc(&v[i], bytes));
    }
    CHECK_HIP(hipMalloc(&counts, sizeof(unsigned) * DIGITS * blocks));
    CHECK_HIP(hipMemcpy(k[0], keys.data(), bytes, hipMemcpyHostToDevice));
    CHECK_HIP(hipMemcpy(v[0], values.data(), bytes, hipMemcpyHostToDevice));
    for (int shift = 0; shift < 32; shift += BITS) {
        count_digits<<<blocks, BLOCK>>>(k[0], n, shift, counts);
        scan_counts<<<1, BLOCK>>>(counts, DIGITS * blocks);
        scatter<<<blocks, BLOCK>>>(k[0], v[0], k[1], v[1], n, shift, counts);
        CHECK_HIP(hipGetLastError());
        std::swap(k[0], k[1]);
        std::swap(v[0], v[1]);
    }
    CHECK_HIP(hipMemcpy(sorted.data(), k[0], bytes, hipMemcpyDeviceToHost));
    CHECK_HIP(hipMemcpy(order.data(), v[0], bytes, hipMemcpyDeviceToHost));
    for (int i = 0; i < 2; i++) {
        CHECK_HIP(hipFree(k[i]));
        CHECK_HIP(hipFree(v[i]));
    }
    CHECK_HIP(hipFree(counts));
    std::sort(values.begin(), values.end(),
              [&](unsigned a, unsigned b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += order[i] != values[i] || sorted[i] != keys[values[i]];
    return report(wrong == 0, "%d keys, %d out of place", n, wrong);
}
