// SPDX-License-Identifier: MIT
// All workgroups from one on fault, those behind it sooner; those before it end, or half of them wait for one
// that never comes, or compute for ages.
#include <cstdlib>
#include <hip/hip_runtime.h>

constexpr unsigned FIRST = 37, GROUPS = 4000, FLAG = 100, WAITS = 1, COMPUTES = 2;

__device__ unsigned next(unsigned value)
{
    return value * 1664525 + 1013904223;
}

__global__ void fault(unsigned *data, unsigned how)
{
    const unsigned group = blockIdx.x, turns = group == FIRST ? 20000 : group < FIRST ? 2000 : 1;
    const bool stays = group < FIRST && group % 2;
    unsigned value = group;
    for (unsigned i = 0; i < turns; i++)
        value = next(value);
    if (stays && how == COMPUTES)
        for (unsigned long i = 0; i < 1ul << 40; i++)
            value = next(value) ^ threadIdx.x;
    data[threadIdx.x] = value;
    if (stays && how == WAITS)
        while (!__hip_atomic_load(&data[FLAG], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
            __builtin_amdgcn_s_sleep(1);
    if (group >= FIRST && threadIdx.x == group % 64)
        data[(1ull << 40) + group] = value;
}

int main(int, char **arguments)
{
    unsigned *data;
    if (hipMalloc(&data, 1024) != hipSuccess || hipMemset(data, 0, 1024) != hipSuccess)
        return 2;
    fault<<<GROUPS, 64>>>(data, static_cast<unsigned>(std::atoi(arguments[1])));
    return hipDeviceSynchronize() == hipSuccess;
}
