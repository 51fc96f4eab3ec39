// SPDX-License-Identifier: MIT
// Waves of all XCDs are busy and fault at the same time, each at an address of its own: for determinism.sh.
#include <hip/hip_runtime.h>

#include <cstdio>

constexpr unsigned BLOCKS = 480, THREADS = 256;

__global__ void fault(const int *p, long long until)
{
    int sum = 0;
    while (wall_clock64() < until)
        for (int i = 0; i < 8; i++)
            sum += p[(blockIdx.x * THREADS * 8 + i * THREADS + threadIdx.x + sum) % (BLOCKS * THREADS)];
    *reinterpret_cast<volatile int *>(uintptr_t{4096} * (blockIdx.x + 1)) = sum;
}

__global__ void now(long long *ticks)
{
    *ticks = wall_clock64();
}

int main()
{
    int *p;
    long long *ticks;
    if (hipMalloc(&p, BLOCKS * THREADS * sizeof(*p)) != hipSuccess ||
        hipHostMalloc(&ticks, 8) != hipSuccess ||
        hipMemset(p, 0, BLOCKS * THREADS * sizeof(*p)) != hipSuccess)
        return 1;
    now<<<1, 1>>>(ticks);
    (void)hipDeviceSynchronize();
    fault<<<BLOCKS, THREADS>>>(p, *ticks + 1500);
    std::printf("%s\n", hipGetErrorName(hipDeviceSynchronize()));
    return 0;
}
