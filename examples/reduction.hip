// SPDX-License-Identifier: MIT
// A sum, a minimum and a maximum by shuffles: lanes of a wave exchange registers, waves meet in LDS, and
// workgroups meet in an atomic.
#include "check.h"

#include <algorithm>
#include <climits>
#include <vector>

template <typename Op> __device__ int reduce_wave(int value, Op op)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value = op(value, __shfl_down(value, static_cast<unsigned>(offset)));
    return value; // in lane 0
}

template <typename Op> __device__ int reduce_block(int value, int neutral, Op op, int *shared)
{
    const int lane = static_cast<int>(threadIdx.x) % warpSize,
              wave = static_cast<int>(threadIdx.x) / warpSize;
    value = reduce_wave(value, op);
    __syncthreads();
    if (lane == 0)
        shared[wave] = value;
    __syncthreads();
    const int waves = static_cast<int>(blockDim.x) / warpSize;
    return reduce_wave(lane < waves ? shared[lane] : neutral, op);
}

__global__ void reduce(const int *data, int n, int *sum, int *least, int *most)
{
    __shared__ int shared[16];
    int s = 0, low = INT_MAX, high = INT_MIN;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += static_cast<int>(gridDim.x * blockDim.x)) {
        s += data[i];
        low = min(low, data[i]);
        high = max(high, data[i]);
    }
    s = reduce_block(s, 0, [](int a, int b) { return a + b; }, shared);
    low = reduce_block(low, INT_MAX, [](int a, int b) { return min(a, b); }, shared);
    high = reduce_block(high, INT_MIN, [](int a, int b) { return max(a, b); }, shared);
    if (threadIdx.x == 0) {
        atomicAdd(sum, s);
        atomicMin(least, low);
        atomicMax(most, high);
    }
}

int main()
{
    const int n = 1500007;
    std::vector<int> data(n);
    random_numbers random{5};
    long total = 0;
    for (auto &x : data) {
        x = static_cast<int>(random.next() % 2001) - 1000;
        total += x;
    }
    data[123456] = -70000;
    data[765432] = 80000;
    total = 0;
    for (int x : data)
        total += x;
    int start[3] = {0, INT_MAX, INT_MIN}, result[3];
    int *ddata, *dresult;
    CHECK_HIP(hipMalloc(&ddata, n * sizeof(int)));
    CHECK_HIP(hipMalloc(&dresult, sizeof start));
    CHECK_HIP(hipMemcpy(ddata, data.data(), n * sizeof(int), hipMemcpyHostToDevice));
    CHECK_HIP(hipMemcpy(dresult, start, sizeof start, hipMemcpyHostToDevice));
    reduce<<<256, 512>>>(ddata, n, dresult, dresult + 1, dresult + 2);
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipMemcpy(result, dresult, sizeof result, hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(ddata));
    CHECK_HIP(hipFree(dresult));
    bool right = result[0] == total && result[1] == *std::min_element(data.begin(), data.end()) &&
                 result[2] == *std::max_element(data.begin(), data.end());
    return report(right, "%d numbers, sum %d, least %d, most %d", n, result[0], result[1], result[2]);
}
