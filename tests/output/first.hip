// SPDX-License-Identifier: MIT
// All workgroups from one on fault, those behind it sooner; or those before it wait for one that never comes.
#include <cstdlib>
#include <hip/hip_runtime.h>

constexpr unsigned FIRST = 37, GROUPS = 4000, FLAG = 100;

__global__ void fault(unsigned *data, bool waits)
{
    const unsigned group = blockIdx.x, turns = group == FIRST ? 20000 : group < FIRST ? 2000 : 1;
    unsigned value = group;
    for (unsigned i = 0; i < turns; i++)
        value = value * 1664525 + 1013904223;
    data[threadIdx.x] = value;
    if (waits && group < FIRST && group % 2)
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
    fault<<<GROUPS, 64>>>(data, std::atoi(arguments[1]) != 0);
    return hipDeviceSynchronize() == hipSuccess;
}
