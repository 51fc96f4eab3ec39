// SPDX-License-Identifier: MIT
// Its first kernel is one that prints, for determinism.sh: who serves it must be there before it runs.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void say()
{
    printf("workgroup %d\n", static_cast<int>(blockIdx.x));
}

int main()
{
    say<<<4, 1>>>();
    std::printf("%s\n", hipGetErrorName(hipDeviceSynchronize()));
    return 0;
}
