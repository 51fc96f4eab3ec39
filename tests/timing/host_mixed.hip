/* SPDX-License-Identifier: MIT */
/* Host code that takes pages while kernels are loaded and copies begin: simulated time follows where they
 * lie. */
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <vector>

__global__ void scale(float *a, unsigned n, unsigned turns)
{
    unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % n;
    float x = a[i];
    for (unsigned j = 0; j < turns; j++)
        x = x * 1.0001f + 0.5f;
    a[i] = x;
}

int main()
{
    enum { COUNT = 1 << 16, LISTS = 200 };
    float *device;
    if (hipMalloc(&device, COUNT * sizeof(float)) != hipSuccess)
        return 1;
    auto start = std::chrono::steady_clock::now();
    double sum = 0;
    for (unsigned turn = 0; turn < 2; turn++) {
        std::vector<float> values(40000 + turn * 1000);
        std::vector<std::vector<int>> lists;
        for (int i = 0; i < LISTS; i++)
            lists.emplace_back(i * 7, i);
        for (size_t i = 0; i < values.size(); i++)
            values[i] = (float)i * 0.5f;
        if (hipMemcpy(device, values.data(), values.size() * sizeof(float), hipMemcpyHostToDevice) !=
            hipSuccess)
            return 1;
        scale<<<COUNT / 256, 256>>>(device, COUNT, 50);
        if (hipDeviceSynchronize() != hipSuccess)
            return 1;
        for (auto &list : lists)
            for (int value : list)
                sum += value;
        std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        printf("mixed, turn %u: %.3f us\n", turn, took.count());
    }
    printf("%g\n", sum);
    return hipFree(device) != hipSuccess;
}
