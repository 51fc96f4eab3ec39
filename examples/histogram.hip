// SPDX-License-Identifier: MIT
// A histogram with two levels of atomics: counters in LDS for each workgroup, then one sum in global memory.
#include "check.h"

#include <vector>

constexpr int BINS = 256;

__global__ void count(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned local[BINS];
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += static_cast<int>(gridDim.x * blockDim.x))
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&bins[i], local[i]);
}

int main()
{
    const int n = 2000000;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> expected(BINS), bins(BINS);
    random_numbers random{11};
    for (auto &byte : data) { // a heap around 100: many lanes hit the same counter
        byte = static_cast<unsigned char>((random.next() & 63) + (random.next() & 63) + (random.next() & 63));
        expected[byte]++;
    }
    unsigned char *ddata;
    unsigned *dbins;
    CHECK_HIP(hipMalloc(&ddata, n));
    CHECK_HIP(hipMalloc(&dbins, BINS * sizeof(unsigned)));
    CHECK_HIP(hipMemcpy(ddata, data.data(), n, hipMemcpyHostToDevice));
    CHECK_HIP(hipMemset(dbins, 0, BINS * sizeof(unsigned)));
    count<<<304, 256>>>(ddata, n, dbins);
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipMemcpy(bins.data(), dbins, BINS * sizeof(unsigned), hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(ddata));
    CHECK_HIP(hipFree(dbins));
    int wrong = 0;
    for (int i = 0; i < BINS; i++)
        wrong += bins[i] != expected[i];
    return report(wrong == 0, "%d bytes in %d bins, %d wrong", n, BINS, wrong);
}
