// SPDX-License-Identifier: MIT
// What a compute unit calculates in a cycle: loops of independent FMAs and matrix instructions by eight waves
// a CU.
#include "measure.h"

typedef float float4_t __attribute__((ext_vector_type(4)));
typedef float float16_t __attribute__((ext_vector_type(16)));
typedef float float2_t __attribute__((ext_vector_type(2)));
typedef double double4_t __attribute__((ext_vector_type(4)));
typedef int int4_t __attribute__((ext_vector_type(4)));
typedef _Float16 half4_t __attribute__((ext_vector_type(4)));
typedef short short4_t __attribute__((ext_vector_type(4)));

constexpr int ROUNDS = 384, CHAINS = 4;

// One chain of `step` in each of CHAINS accumulators, ROUNDS times; what one step calculates stands beside
// it.
template <typename T, typename F> __device__ void run(F step, uint64_t *cycles, T *sink)
{
    T sum[CHAINS] = {};
    __syncthreads();
    uint64_t start = clock64();
#pragma unroll 32
    for (int i = 0; i < ROUNDS; i++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            sum[k] = step(sum[k]);
    // In each wave the last results are there.
#pragma unroll
    for (int k = 0; k < CHAINS; k++)
        asm volatile("" : "+v"(sum[k]));
    __syncthreads();
    uint64_t end = clock64();
    if (threadIdx.x == 0)
        *cycles = end - start;
    if (sink)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            sink[k] = sum[k];
}

#define RATE(NAME, TYPE, ...)                                                                                \
    __global__ void NAME(uint64_t *cycles, TYPE *sink)                                                       \
    {                                                                                                        \
        run<TYPE>([=](TYPE x) { __VA_ARGS__ }, cycles, sink);                                                \
    }

RATE(fma_f32, float2_t, asm volatile("v_pk_fma_f32 %0, %0, %0, %0" : "+v"(x)); return x;)
RATE(fma_f64, double, asm volatile("v_fma_f64 %0, %0, %0, %0" : "+v"(x)); return x;)
RATE(exp_f32, float, asm volatile("v_exp_f32 %0, %0" : "+v"(x)); return x;)
RATE(add_u32, int, asm volatile("v_add_u32 %0, %0, %0" : "+v"(x)); return x;)
RATE(add_u16, int, asm volatile("v_pk_add_u16 %0, %0, %0" : "+v"(x)); return x;)
RATE(mfma_f64, double4_t, return __builtin_amdgcn_mfma_f64_16x16x4f64(1.0, 1.0, x, 0, 0, 0);)
RATE(mfma_f32, float16_t, return __builtin_amdgcn_mfma_f32_32x32x2f32(1.0f, 1.0f, x, 0, 0, 0);)
RATE(mfma_xf32, float16_t, float2_t a = {1, 1};
     return __builtin_amdgcn_mfma_f32_32x32x4_xf32(a, a, x, 0, 0, 0);)
RATE(mfma_f16, float16_t, half4_t a = {1, 1, 1, 1};
     return __builtin_amdgcn_mfma_f32_32x32x8f16(a, a, x, 0, 0, 0);)
RATE(mfma_bf16, float16_t, short4_t a = {1, 1, 1, 1};
     return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, a, x, 0, 0, 0);)
RATE(mfma_fp8, float16_t, return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(1L, 1L, x, 0, 0, 0);)
typedef int int2_t __attribute__((ext_vector_type(2)));
RATE(smfmac_fp8, float16_t, int2_t a = {1, 1}; int4_t b = {1, 1, 1, 1};
     return __builtin_amdgcn_smfmac_f32_32x32x32_fp8_fp8(a, b, x, 0, 0, 0);)
typedef int int16_t_ __attribute__((ext_vector_type(16)));
RATE(mfma_i8, int16_t_, return __builtin_amdgcn_mfma_i32_32x32x16_i8(1L, 1L, x, 0, 0, 0);)

static uint64_t *cycles;

// Operations of a CU in a cycle, of which one instruction of a wave does `operations`.
template <typename K> static void rate(const char *name, K kernel, double operations)
{
    const int threads = 1024;
    kernel<<<1, threads>>>(cycles, nullptr);
    kernel<<<1, threads>>>(cycles, nullptr);
    CHECK_HIP(hipDeviceSynchronize());
    row(name, 0, operations * ROUNDS * CHAINS * (threads / 64) / static_cast<double>(*cycles));
}

int main()
{
    CHECK_HIP(hipHostMalloc(&cycles, 64));
    rate("rate_vector_f64", fma_f64, 2 * 64);
    rate("rate_vector_f32", fma_f32, 4 * 64);
    rate("rate_special_f32", exp_f32, 64);
    rate("rate_vector_i32", add_u32, 64);
    rate("rate_vector_i16", add_u16, 2 * 64);
    rate("rate_matrix_f64", mfma_f64, 2 * 16 * 16 * 4);
    rate("rate_matrix_f32", mfma_f32, 2 * 32 * 32 * 2);
    rate("rate_matrix_xf32", mfma_xf32, 2 * 32 * 32 * 4);
    rate("rate_matrix_f16", mfma_f16, 2 * 32 * 32 * 8);
    rate("rate_matrix_bf16", mfma_bf16, 2 * 32 * 32 * 8);
    rate("rate_matrix_fp8", mfma_fp8, 2 * 32 * 32 * 16);
    rate("rate_matrix_fp8_sparse", smfmac_fp8, 2 * 32 * 32 * 32);
    rate("rate_matrix_i8", mfma_i8, 2 * 32 * 32 * 16);
    return 0;
}
