// SPDX-License-Identifier: MIT
// Arithmetic, comparison, math and warp functions of __half and __half2. Part of amd_hip_fp16.h; include
// hip_fp16.h.
#ifndef HIP_AMD_DETAIL_AMD_HIP_FP16_FUNCTIONS_H
#define HIP_AMD_DETAIL_AMD_HIP_FP16_FUNCTIONS_H

#define __HIP_HD__ __host__ __device__ inline

// Arithmetic, one element.
#define __HIP_HALF_ARITHMETIC(name, op)                                                                      \
    static __HIP_HD__ __half __h##name(__half x, __half y)                                                   \
    {                                                                                                        \
        return __half(static_cast<_Float16>(__hip_f16(x) op __hip_f16(y)));                                  \
    }                                                                                                        \
    static __HIP_HD__ __half __h##name##_rn(__half x, __half y)                                              \
    {                                                                                                        \
        return __h##name(x, y);                                                                              \
    }
__HIP_HALF_ARITHMETIC(add, +)
__HIP_HALF_ARITHMETIC(sub, -)
__HIP_HALF_ARITHMETIC(mul, *)
#undef __HIP_HALF_ARITHMETIC
static __HIP_HD__ __half __hdiv(__half x, __half y)
{
    return __half(static_cast<_Float16>(__hip_f16(x) / __hip_f16(y)));
}
static __HIP_HD__ __half __hneg(__half x)
{
    return __hip_half(__hip_bits(x) ^ 0x8000);
}
static __HIP_HD__ __half __habs(__half x)
{
    return __hip_half(__hip_bits(x) & 0x7fff);
}
// One rounding. On the host: the product is exact in double, and where double must round the sum, the smaller
// term is far below half a unit of the result, so that the second rounding cannot go wrong.
static __HIP_HD__ __half __hfma(__half x, __half y, __half z)
{
#if __HIP_DEVICE_PASS__
    return __half(__builtin_elementwise_fma(__hip_f16(x), __hip_f16(y), __hip_f16(z)));
#else
    return __half(
        static_cast<_Float16>(static_cast<double>(__hip_f16(x)) * static_cast<double>(__hip_f16(y)) +
                              static_cast<double>(__hip_f16(z))));
#endif
}
// Saturation to [0, 1], NaN to 0.
static __HIP_HD__ __half __hip_saturate(__half x)
{
    const _Float16 v = __hip_f16(x), zero = 0, one = 1;
    return __half(v > zero ? (v < one ? v : one) : zero);
}
static __HIP_HD__ __half __hadd_sat(__half x, __half y)
{
    return __hip_saturate(__hadd(x, y));
}
static __HIP_HD__ __half __hsub_sat(__half x, __half y)
{
    return __hip_saturate(__hsub(x, y));
}
static __HIP_HD__ __half __hmul_sat(__half x, __half y)
{
    return __hip_saturate(__hmul(x, y));
}
static __HIP_HD__ __half __hfma_sat(__half x, __half y, __half z)
{
    return __hip_saturate(__hfma(x, y, z));
}
static __HIP_HD__ __half __hfma_relu(__half x, __half y, __half z)
{
    const __half r = __hfma(x, y, z);
    return __hip_f16(r) < static_cast<_Float16>(0) ? __hip_half(0) : r;
}

// Comparisons. The u forms are true when either side is NaN.
static __HIP_HD__ bool __heq(__half x, __half y)
{
    return __hip_f16(x) == __hip_f16(y);
}
static __HIP_HD__ bool __hne(__half x, __half y)
{
    return __hip_f16(x) != __hip_f16(y);
}
static __HIP_HD__ bool __hle(__half x, __half y)
{
    return __hip_f16(x) <= __hip_f16(y);
}
static __HIP_HD__ bool __hge(__half x, __half y)
{
    return __hip_f16(x) >= __hip_f16(y);
}
static __HIP_HD__ bool __hlt(__half x, __half y)
{
    return __hip_f16(x) < __hip_f16(y);
}
static __HIP_HD__ bool __hgt(__half x, __half y)
{
    return __hip_f16(x) > __hip_f16(y);
}
static __HIP_HD__ bool __hequ(__half x, __half y)
{
    return !(__hip_f16(x) < __hip_f16(y) || __hip_f16(x) > __hip_f16(y));
}
static __HIP_HD__ bool __hneu(__half x, __half y)
{
    return !(__hip_f16(x) == __hip_f16(y));
}
static __HIP_HD__ bool __hleu(__half x, __half y)
{
    return !(__hip_f16(x) > __hip_f16(y));
}
static __HIP_HD__ bool __hgeu(__half x, __half y)
{
    return !(__hip_f16(x) < __hip_f16(y));
}
static __HIP_HD__ bool __hltu(__half x, __half y)
{
    return !(__hip_f16(x) >= __hip_f16(y));
}
static __HIP_HD__ bool __hgtu(__half x, __half y)
{
    return !(__hip_f16(x) <= __hip_f16(y));
}
static __HIP_HD__ bool __hisnan(__half x)
{
    return (__hip_bits(x) & 0x7fff) > 0x7c00;
}
static __HIP_HD__ int __hisinf(__half x)
{
    return (__hip_bits(x) & 0x7fff) != 0x7c00 ? 0 : __hip_bits(x) & 0x8000 ? -1 : 1;
}

// The number when one is NaN; the _nan forms NaN.
static __HIP_HD__ __half __hmax(__half x, __half y)
{
    return __hisnan(x) ? y : __hisnan(y) ? x : __hip_f16(x) > __hip_f16(y) ? x : y;
}
static __HIP_HD__ __half __hmax_nan(__half x, __half y)
{
    return __hisnan(x) ? x : __hisnan(y) ? y : __hip_f16(x) > __hip_f16(y) ? x : y;
}
static __HIP_HD__ __half __hmin(__half x, __half y)
{
    return __hisnan(x) ? y : __hisnan(y) ? x : __hip_f16(x) < __hip_f16(y) ? x : y;
}
static __HIP_HD__ __half __hmin_nan(__half x, __half y)
{
    return __hisnan(x) ? x : __hisnan(y) ? y : __hip_f16(x) < __hip_f16(y) ? x : y;
}

// The same on pairs.
static __HIP_HD__ __half2 __hadd2(__half2 x, __half2 y)
{
    return __half2(x.__pair() + y.__pair());
}
static __HIP_HD__ __half2 __hsub2(__half2 x, __half2 y)
{
    return __half2(x.__pair() - y.__pair());
}
static __HIP_HD__ __half2 __hmul2(__half2 x, __half2 y)
{
    return __half2(x.__pair() * y.__pair());
}
static __HIP_HD__ __half2 __h2div(__half2 x, __half2 y)
{
    return __half2(x.__pair() / y.__pair());
}
static __HIP_HD__ __half2 __hadd2_rn(__half2 x, __half2 y)
{
    return __hadd2(x, y);
}
static __HIP_HD__ __half2 __hadd2_sat(__half2 x, __half2 y)
{
    return __half2(__hadd_sat(x.x, y.x), __hadd_sat(x.y, y.y));
}
static __HIP_HD__ __half2 __hsub2_rn(__half2 x, __half2 y)
{
    return __hsub2(x, y);
}
static __HIP_HD__ __half2 __hsub2_sat(__half2 x, __half2 y)
{
    return __half2(__hsub_sat(x.x, y.x), __hsub_sat(x.y, y.y));
}
static __HIP_HD__ __half2 __hmul2_rn(__half2 x, __half2 y)
{
    return __hmul2(x, y);
}
static __HIP_HD__ __half2 __hmul2_sat(__half2 x, __half2 y)
{
    return __half2(__hmul_sat(x.x, y.x), __hmul_sat(x.y, y.y));
}
static __HIP_HD__ __half2 __hneg2(__half2 x)
{
    return __half2(__hneg(x.x), __hneg(x.y));
}
static __HIP_HD__ __half2 __habs2(__half2 x)
{
    return __half2(__habs(x.x), __habs(x.y));
}
static __HIP_HD__ __half2 __hfma2(__half2 x, __half2 y, __half2 z)
{
#if __HIP_DEVICE_PASS__
    return __half2(__builtin_elementwise_fma(x.__pair(), y.__pair(), z.__pair()));
#else
    return __half2(__hfma(x.x, y.x, z.x), __hfma(x.y, y.y, z.y));
#endif
}
static __HIP_HD__ __half2 __hfma2_sat(__half2 x, __half2 y, __half2 z)
{
    return __half2(__hfma_sat(x.x, y.x, z.x), __hfma_sat(x.y, y.y, z.y));
}
static __HIP_HD__ __half2 __hfma2_relu(__half2 x, __half2 y, __half2 z)
{
    return __half2(__hfma_relu(x.x, y.x, z.x), __hfma_relu(x.y, y.y, z.y));
}
static __HIP_HD__ __half2 __hmax2(__half2 x, __half2 y)
{
    return __half2(__hmax(x.x, y.x), __hmax(x.y, y.y));
}
static __HIP_HD__ __half2 __hmin2(__half2 x, __half2 y)
{
    return __half2(__hmin(x.x, y.x), __hmin(x.y, y.y));
}
static __HIP_HD__ __half2 __hmax2_nan(__half2 x, __half2 y)
{
    return __half2(__hmax_nan(x.x, y.x), __hmax_nan(x.y, y.y));
}
static __HIP_HD__ __half2 __hmin2_nan(__half2 x, __half2 y)
{
    return __half2(__hmin_nan(x.x, y.x), __hmin_nan(x.y, y.y));
}
static __HIP_HD__ __half2 __hisnan2(__half2 x)
{
    return __half2(__half(__hisnan(x.x) ? 1.0f : 0.0f), __half(__hisnan(x.y) ? 1.0f : 0.0f));
}

// Comparisons of pairs: 1 or 0 for each element; the b forms true when both hold.
static __HIP_HD__ __half2 __heq2(__half2 x, __half2 y)
{
    return __half2(__half(__heq(x.x, y.x) ? 1.0f : 0.0f), __half(__heq(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbeq2(__half2 x, __half2 y)
{
    return __heq(x.x, y.x) && __heq(x.y, y.y);
}
static __HIP_HD__ __half2 __hne2(__half2 x, __half2 y)
{
    return __half2(__half(__hne(x.x, y.x) ? 1.0f : 0.0f), __half(__hne(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbne2(__half2 x, __half2 y)
{
    return __hne(x.x, y.x) && __hne(x.y, y.y);
}
static __HIP_HD__ __half2 __hle2(__half2 x, __half2 y)
{
    return __half2(__half(__hle(x.x, y.x) ? 1.0f : 0.0f), __half(__hle(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hble2(__half2 x, __half2 y)
{
    return __hle(x.x, y.x) && __hle(x.y, y.y);
}
static __HIP_HD__ __half2 __hge2(__half2 x, __half2 y)
{
    return __half2(__half(__hge(x.x, y.x) ? 1.0f : 0.0f), __half(__hge(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbge2(__half2 x, __half2 y)
{
    return __hge(x.x, y.x) && __hge(x.y, y.y);
}
static __HIP_HD__ __half2 __hlt2(__half2 x, __half2 y)
{
    return __half2(__half(__hlt(x.x, y.x) ? 1.0f : 0.0f), __half(__hlt(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hblt2(__half2 x, __half2 y)
{
    return __hlt(x.x, y.x) && __hlt(x.y, y.y);
}
static __HIP_HD__ __half2 __hgt2(__half2 x, __half2 y)
{
    return __half2(__half(__hgt(x.x, y.x) ? 1.0f : 0.0f), __half(__hgt(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbgt2(__half2 x, __half2 y)
{
    return __hgt(x.x, y.x) && __hgt(x.y, y.y);
}
static __HIP_HD__ __half2 __hequ2(__half2 x, __half2 y)
{
    return __half2(__half(__hequ(x.x, y.x) ? 1.0f : 0.0f), __half(__hequ(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbequ2(__half2 x, __half2 y)
{
    return __hequ(x.x, y.x) && __hequ(x.y, y.y);
}
static __HIP_HD__ __half2 __hneu2(__half2 x, __half2 y)
{
    return __half2(__half(__hneu(x.x, y.x) ? 1.0f : 0.0f), __half(__hneu(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbneu2(__half2 x, __half2 y)
{
    return __hneu(x.x, y.x) && __hneu(x.y, y.y);
}
static __HIP_HD__ __half2 __hleu2(__half2 x, __half2 y)
{
    return __half2(__half(__hleu(x.x, y.x) ? 1.0f : 0.0f), __half(__hleu(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbleu2(__half2 x, __half2 y)
{
    return __hleu(x.x, y.x) && __hleu(x.y, y.y);
}
static __HIP_HD__ __half2 __hgeu2(__half2 x, __half2 y)
{
    return __half2(__half(__hgeu(x.x, y.x) ? 1.0f : 0.0f), __half(__hgeu(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbgeu2(__half2 x, __half2 y)
{
    return __hgeu(x.x, y.x) && __hgeu(x.y, y.y);
}
static __HIP_HD__ __half2 __hltu2(__half2 x, __half2 y)
{
    return __half2(__half(__hltu(x.x, y.x) ? 1.0f : 0.0f), __half(__hltu(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbltu2(__half2 x, __half2 y)
{
    return __hltu(x.x, y.x) && __hltu(x.y, y.y);
}
static __HIP_HD__ __half2 __hgtu2(__half2 x, __half2 y)
{
    return __half2(__half(__hgtu(x.x, y.x) ? 1.0f : 0.0f), __half(__hgtu(x.y, y.y) ? 1.0f : 0.0f));
}
static __HIP_HD__ bool __hbgtu2(__half2 x, __half2 y)
{
    return __hgtu(x.x, y.x) && __hgtu(x.y, y.y);
}

#undef __HIP_HD__

#if __HIP_CLANG_ONLY__
#include <hip/amd_detail/device_library_decls.h>

// Math functions, from the device library or one instruction.
#define __HIP_HALF_MATH(name, ocml)                                                                          \
    static inline __device__ __half h##name(__half x)                                                        \
    {                                                                                                        \
        return __half(__ocml_##ocml##_f16(__hip_f16(x)));                                                    \
    }                                                                                                        \
    static inline __device__ __half2 h2##name(__half2 x)                                                     \
    {                                                                                                        \
        return __half2(h##name(x.x), h##name(x.y));                                                          \
    }
__HIP_HALF_MATH(ceil, ceil)
__HIP_HALF_MATH(floor, floor)
__HIP_HALF_MATH(trunc, trunc)
__HIP_HALF_MATH(rint, rint)
__HIP_HALF_MATH(cos, cos)
__HIP_HALF_MATH(sin, sin)
__HIP_HALF_MATH(exp, exp)
__HIP_HALF_MATH(exp2, exp2)
__HIP_HALF_MATH(exp10, exp10)
__HIP_HALF_MATH(log, log)
__HIP_HALF_MATH(log2, log2)
__HIP_HALF_MATH(log10, log10)
__HIP_HALF_MATH(sqrt, sqrt)
__HIP_HALF_MATH(rsqrt, rsqrt)
#undef __HIP_HALF_MATH
extern "C" __device__ __attribute__((const)) _Float16 __ocml_tanh_f16(_Float16);
static inline __device__ __half htanh(__half x)
{
    return __half(__ocml_tanh_f16(__hip_f16(x)));
}
static inline __device__ __half2 h2tanh(__half2 x)
{
    return __half2(htanh(x.x), htanh(x.y));
}
static inline __device__ __half hrcp(__half x)
{
    return __half(static_cast<_Float16>(static_cast<_Float16>(1) / __hip_f16(x)));
}
static inline __device__ __half2 h2rcp(__half2 x)
{
    return __half2(hrcp(x.x), hrcp(x.y));
}
static inline __device__ __half __hpown(__half x, int n)
{
    return __half(__ocml_pown_f16(__hip_f16(x), n));
}
static inline __device__ float amd_mixed_dot(__half2 a, __half2 b, float c, bool saturate)
{
#if defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) ||              \
    defined(__gfx950__)
    // Not __ockl_fdot2: the device libraries of ROCm 5 saturate whatever they are asked.
    return saturate ? __builtin_amdgcn_fdot2(a.data, b.data, c, true)
                    : __builtin_amdgcn_fdot2(a.data, b.data, c, false);
#else
    const float sum = __builtin_fmaf(__half2float(a.y), __half2float(b.y),
                                     __builtin_fmaf(__half2float(a.x), __half2float(b.x), c));
    return saturate ? __saturatef(sum) : sum;
#endif
}
static inline __device__ __half2 __hcmadd(__half2 a, __half2 b, __half2 c)
{
    // (a.x + a.y i)(b.x + b.y i) + c
    const __half re = __hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x));
    const __half im = __hfma(a.y, b.x, __hfma(a.x, b.y, c.y));
    return __half2(re, im);
}

// Shuffles move dwords, so a half travels in the low part of one.
#include <hip/amd_detail/amd_warp_functions.h>
#define __HIP_HALF_SHUFFLE(name, argument)                                                                   \
    static inline __device__ __half name(__half var, argument lane, int width = warpSize)                    \
    {                                                                                                        \
        return __hip_half(                                                                                   \
            static_cast<unsigned short>(name(static_cast<int>(__hip_bits(var)), lane, width)));              \
    }                                                                                                        \
    static inline __device__ __half2 name(__half2 var, argument lane, int width = warpSize)                  \
    {                                                                                                        \
        return __half2(                                                                                      \
            __builtin_bit_cast(_Float16_2, name(__builtin_bit_cast(int, var.data), lane, width)));           \
    }
__HIP_HALF_SHUFFLE(__shfl, int)
__HIP_HALF_SHUFFLE(__shfl_up, unsigned int)
__HIP_HALF_SHUFFLE(__shfl_down, unsigned int)
__HIP_HALF_SHUFFLE(__shfl_xor, int)
#undef __HIP_HALF_SHUFFLE

// The packed addition of the hardware, relaxed at device scope. Its memory must be ordinary device memory.
static inline __device__ __half2 unsafeAtomicAdd(__half2 *address, __half2 value)
{
#if __HIP_DEVICE_PASS__ && __has_builtin(__builtin_amdgcn_flat_atomic_fadd_v2f16)
    return __half2(
        __builtin_amdgcn_flat_atomic_fadd_v2f16(reinterpret_cast<_Float16_2 *>(address), value.data));
#else
    unsigned int *word = reinterpret_cast<unsigned int *>(address);
    unsigned int old = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    unsigned int seen;
    do {
        seen = old;
        const _Float16_2 sum = __builtin_bit_cast(_Float16_2, seen) + value.data;
        __hip_atomic_compare_exchange_strong(word, &old, __builtin_bit_cast(unsigned int, sum),
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    } while (old != seen);
    return __half2(__builtin_bit_cast(_Float16_2, old));
#endif
}
static inline __device__ __half2 atomicAdd(__half2 *address, __half2 value)
{
    return unsafeAtomicAdd(address, value);
}

// Reads with a cache hint; the hints have no counterpart here.
#define __HIP_HALF_READ(name)                                                                                \
    static inline __device__ __half name(const __half *ptr)                                                  \
    {                                                                                                        \
        return *ptr;                                                                                         \
    }                                                                                                        \
    static inline __device__ __half2 name(const __half2 *ptr)                                                \
    {                                                                                                        \
        return *ptr;                                                                                         \
    }
__HIP_HALF_READ(__ldg)
__HIP_HALF_READ(__ldcg)
__HIP_HALF_READ(__ldca)
__HIP_HALF_READ(__ldcs)
#undef __HIP_HALF_READ
#endif

#endif
