// SPDX-License-Identifier: MIT
// Each device's memory: how long a load of it takes, and how much there is of it.
#include <cstdio>
#include <hip/hip_runtime.h>
#include <vector>

#define HIP(call)                                                                                            \
    do {                                                                                                     \
        hipError_t error_ = (call);                                                                          \
        if (error_ != hipSuccess)                                                                            \
            return std::printf("%s: %s\n", #call, hipGetErrorString(error_)), 1;                             \
    } while (0)

enum : unsigned { WORDS = 3 << 20, LINE = 32, LOADS = 1000 };

__global__ void chase(const unsigned *next, unsigned long long *ticks)
{
    unsigned at = 0;
    for (unsigned i = 0; i < LOADS; i++) // the pages' translations
        at = next[at];
    at = 0;
    unsigned long long begin = clock64();
    for (unsigned i = 0; i < LOADS; i++)
        at = next[at];
    ticks[0] = clock64() - begin;
    ticks[1] = at;
}

int main()
{
    int devices;
    HIP(hipGetDeviceCount(&devices));
    std::vector<unsigned> next(WORDS);
    for (unsigned i = 0; i < LOADS; i++) // a line each, all over 12 MiB: no L2 has them
        next[i * 97u % (WORDS / LINE) * LINE] = (i + 1) * 97u % (WORDS / LINE) * LINE;
    for (int i = 0; i < devices; i++) {
        HIP(hipSetDevice(i));
        unsigned *list;
        unsigned long long *ticks, of[2];
        size_t left, all, bytes = WORDS * sizeof(unsigned);
        HIP(hipMalloc(&list, bytes));
        HIP(hipMalloc(&ticks, sizeof(of)));
        HIP(hipMemcpy(list, next.data(), bytes, hipMemcpyHostToDevice));
        chase<<<1, 1>>>(list, ticks);
        HIP(hipMemcpy(of, ticks, sizeof(of), hipMemcpyDeviceToHost));
        HIP(hipMemGetInfo(&left, &all));
        std::printf("%d %llu %zu %zu\n", i, of[0] / LOADS, (all - left) >> 20, all >> 30);
    }
}
