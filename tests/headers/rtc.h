// SPDX-License-Identifier: MIT
// What hipRTC compiles: device code alone, with no C++ standard library. See compile.sh.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_complex.h>
#include <hip/hip_cooperative_groups.h>

template <typename T> __global__ void scale(T *data, T factor, unsigned int n)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * factor + static_cast<T>(sinf(static_cast<float>(i)));
}
template __global__ void scale<float>(float *, float, unsigned int);

extern "C" __global__ void sums(float4 *v, __half *h, float *total)
{
    const float4 sum = v[threadIdx.x] + v[threadIdx.x + blockDim.x];
    v[threadIdx.x] = sum;
    h[threadIdx.x] = __float2half(sum.x);
    atomicAdd(total, __shfl_xor(sum.y, 1));
    cooperative_groups::this_thread_block().sync();
    if (threadIdx.x == 0)
        printf("%f\n", static_cast<double>(*total));
}
