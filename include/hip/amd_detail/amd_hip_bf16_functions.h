// SPDX-License-Identifier: MIT
// Arithmetic, comparison, math and warp functions of bfloat16. Part of amd_hip_bf16.h; include hip_bf16.h.
#ifndef HIP_AMD_DETAIL_AMD_HIP_BF16_FUNCTIONS_H
#define HIP_AMD_DETAIL_AMD_HIP_BF16_FUNCTIONS_H

// Arithmetic and its operators.
#define __HIP_BF16_ARITHMETIC(name, name2, op)                                                               \
    static __HIP_HD__ __hip_bfloat16 name(__hip_bfloat16 x, __hip_bfloat16 y)                                \
    {                                                                                                        \
        return __hip_bfloat16(static_cast<float>(x) op static_cast<float>(y));                               \
    }                                                                                                        \
    static __HIP_HD__ __hip_bfloat162 name2(__hip_bfloat162 x, __hip_bfloat162 y)                            \
    {                                                                                                        \
        return __hip_bfloat162(name(x.x, y.x), name(x.y, y.y));                                              \
    }                                                                                                        \
    static __HIP_HD__ __hip_bfloat16 operator op(const __hip_bfloat16 &x, const __hip_bfloat16 &y)           \
    {                                                                                                        \
        return name(x, y);                                                                                   \
    }                                                                                                        \
    static __HIP_HD__ __hip_bfloat162 operator op(const __hip_bfloat162 &x, const __hip_bfloat162 &y)        \
    {                                                                                                        \
        return name2(x, y);                                                                                  \
    }                                                                                                        \
    static __HIP_HD__ __hip_bfloat16 &operator op## = (__hip_bfloat16 & x, const __hip_bfloat16 &y)          \
    {                                                                                                        \
        return x = name(x, y);                                                                               \
    }                                                                                                        \
    static __HIP_HD__ __hip_bfloat162 &operator op## = (__hip_bfloat162 & x, const __hip_bfloat162 &y)       \
    {                                                                                                        \
        return x = name2(x, y);                                                                              \
    }
__HIP_BF16_ARITHMETIC(__hadd, __hadd2, +)
__HIP_BF16_ARITHMETIC(__hsub, __hsub2, -)
__HIP_BF16_ARITHMETIC(__hmul, __hmul2, *)
__HIP_BF16_ARITHMETIC(__hdiv, __h2div, /)
#undef __HIP_BF16_ARITHMETIC
static __HIP_HD__ __hip_bfloat16 __hadd_rn(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hadd(x, y);
}
static __HIP_HD__ __hip_bfloat16 __hsub_rn(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hsub(x, y);
}
static __HIP_HD__ __hip_bfloat16 __hmul_rn(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hmul(x, y);
}
static __HIP_HD__ __hip_bfloat16 __hneg(__hip_bfloat16 x)
{
    return __hip_bfloat(__hip_bits(x) ^ 0x8000);
}
static __HIP_HD__ __hip_bfloat16 __habs(__hip_bfloat16 x)
{
    return __hip_bfloat(__hip_bits(x) & 0x7fff);
}
static __HIP_HD__ __hip_bfloat162 __hneg2(__hip_bfloat162 x)
{
    return __hip_bfloat162(__hneg(x.x), __hneg(x.y));
}
static __HIP_HD__ __hip_bfloat162 __habs2(__hip_bfloat162 x)
{
    return __hip_bfloat162(__habs(x.x), __habs(x.y));
}
static __HIP_HD__ __hip_bfloat16 __hfma(__hip_bfloat16 x, __hip_bfloat16 y, __hip_bfloat16 z)
{
    return __hip_bfloat16(
        __builtin_fmaf(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)));
}
static __HIP_HD__ __hip_bfloat162 __hfma2(__hip_bfloat162 x, __hip_bfloat162 y, __hip_bfloat162 z)
{
    return __hip_bfloat162(__hfma(x.x, y.x, z.x), __hfma(x.y, y.y, z.y));
}
static __HIP_HD__ __hip_bfloat16 __hip_saturate(__hip_bfloat16 x)
{
    const float v = static_cast<float>(x);
    return v > 0 ? (v < 1 ? x : __hip_bfloat16(1.0f)) : __hip_bfloat(0);
}
static __HIP_HD__ __hip_bfloat16 __hadd_sat(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hip_saturate(__hadd(x, y));
}
static __HIP_HD__ __hip_bfloat162 __hadd2_sat(__hip_bfloat162 x, __hip_bfloat162 y)
{
    return __hip_bfloat162(__hadd_sat(x.x, y.x), __hadd_sat(x.y, y.y));
}
static __HIP_HD__ __hip_bfloat16 __hsub_sat(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hip_saturate(__hsub(x, y));
}
static __HIP_HD__ __hip_bfloat162 __hsub2_sat(__hip_bfloat162 x, __hip_bfloat162 y)
{
    return __hip_bfloat162(__hsub_sat(x.x, y.x), __hsub_sat(x.y, y.y));
}
static __HIP_HD__ __hip_bfloat16 __hmul_sat(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hip_saturate(__hmul(x, y));
}
static __HIP_HD__ __hip_bfloat162 __hmul2_sat(__hip_bfloat162 x, __hip_bfloat162 y)
{
    return __hip_bfloat162(__hmul_sat(x.x, y.x), __hmul_sat(x.y, y.y));
}
static __HIP_HD__ __hip_bfloat16 __hfma_sat(__hip_bfloat16 x, __hip_bfloat16 y, __hip_bfloat16 z)
{
    return __hip_saturate(__hfma(x, y, z));
}
static __HIP_HD__ __hip_bfloat16 operator-(const __hip_bfloat16 &x)
{
    return __hneg(x);
}
static __HIP_HD__ __hip_bfloat16 operator+(const __hip_bfloat16 &x)
{
    return x;
}
static __HIP_HD__ __hip_bfloat16 &operator++(__hip_bfloat16 &x)
{
    return x += __hip_bfloat16(1.0f);
}
static __HIP_HD__ __hip_bfloat16 operator++(__hip_bfloat16 &x, int)
{
    const __hip_bfloat16 old = x;
    x += __hip_bfloat16(1.0f);
    return old;
}
static __HIP_HD__ __hip_bfloat16 &operator--(__hip_bfloat16 &x)
{
    return x -= __hip_bfloat16(1.0f);
}
static __HIP_HD__ __hip_bfloat16 operator--(__hip_bfloat16 &x, int)
{
    const __hip_bfloat16 old = x;
    x -= __hip_bfloat16(1.0f);
    return old;
}
static __HIP_HD__ __hip_bfloat162 operator-(const __hip_bfloat162 &x)
{
    return __hneg2(x);
}
static __HIP_HD__ __hip_bfloat162 operator+(const __hip_bfloat162 &x)
{
    return x;
}
static __HIP_HD__ __hip_bfloat162 &operator++(__hip_bfloat162 &x)
{
    return x += __float2bfloat162_rn(1.0f);
}
static __HIP_HD__ __hip_bfloat162 operator++(__hip_bfloat162 &x, int)
{
    const __hip_bfloat162 old = x;
    x += __float2bfloat162_rn(1.0f);
    return old;
}
static __HIP_HD__ __hip_bfloat162 &operator--(__hip_bfloat162 &x)
{
    return x -= __float2bfloat162_rn(1.0f);
}
static __HIP_HD__ __hip_bfloat162 operator--(__hip_bfloat162 &x, int)
{
    const __hip_bfloat162 old = x;
    x -= __float2bfloat162_rn(1.0f);
    return old;
}

// Comparisons. The u forms are true when either side is NaN.
#define __HIP_BF16_COMPARE(name, op, name_u, unordered)                                                      \
    static __HIP_HD__ bool __h##name(__hip_bfloat16 x, __hip_bfloat16 y)                                     \
    {                                                                                                        \
        return static_cast<float>(x) op static_cast<float>(y);                                               \
    }                                                                                                        \
    static __HIP_HD__ bool __h##name_u(__hip_bfloat16 x, __hip_bfloat16 y)                                   \
    {                                                                                                        \
        const float a = static_cast<float>(x), b = static_cast<float>(y);                                    \
        return unordered;                                                                                    \
    }                                                                                                        \
    static __HIP_HD__ bool __hb##name##2(__hip_bfloat162 x, __hip_bfloat162 y)                               \
    {                                                                                                        \
        return __h##name(x.x, y.x) && __h##name(x.y, y.y);                                                   \
    }                                                                                                        \
    static __HIP_HD__ bool __hb##name_u##2(__hip_bfloat162 x, __hip_bfloat162 y)                             \
    {                                                                                                        \
        return __h##name_u(x.x, y.x) && __h##name_u(x.y, y.y);                                               \
    }                                                                                                        \
    static __HIP_HD__ __hip_bfloat162 __h##name##2(__hip_bfloat162 x, __hip_bfloat162 y)                     \
    {                                                                                                        \
        return __hip_bfloat162(__hip_bfloat16(__h##name(x.x, y.x) ? 1.0f : 0.0f),                            \
                               __hip_bfloat16(__h##name(x.y, y.y) ? 1.0f : 0.0f));                           \
    }                                                                                                        \
    static __HIP_HD__ __hip_bfloat162 __h##name_u##2(__hip_bfloat162 x, __hip_bfloat162 y)                   \
    {                                                                                                        \
        return __hip_bfloat162(__hip_bfloat16(__h##name_u(x.x, y.x) ? 1.0f : 0.0f),                          \
                               __hip_bfloat16(__h##name_u(x.y, y.y) ? 1.0f : 0.0f));                         \
    }                                                                                                        \
    static __HIP_HD__ bool operator op(const __hip_bfloat16 &x, const __hip_bfloat16 &y)                     \
    {                                                                                                        \
        return __h##name(x, y);                                                                              \
    }
__HIP_BF16_COMPARE(eq, ==, equ, !(a < b || a > b))
__HIP_BF16_COMPARE(ne, !=, neu, !(a == b))
__HIP_BF16_COMPARE(lt, <, ltu, !(a >= b))
__HIP_BF16_COMPARE(le, <=, leu, !(a > b))
__HIP_BF16_COMPARE(gt, >, gtu, !(a <= b))
__HIP_BF16_COMPARE(ge, >=, geu, !(a < b))
#undef __HIP_BF16_COMPARE
static __HIP_HD__ bool operator==(const __hip_bfloat162 &x, const __hip_bfloat162 &y)
{
    return __hbeq2(x, y);
}
static __HIP_HD__ bool operator<(const __hip_bfloat162 &x, const __hip_bfloat162 &y)
{
    return __hblt2(x, y);
}
static __HIP_HD__ bool operator<=(const __hip_bfloat162 &x, const __hip_bfloat162 &y)
{
    return __hble2(x, y);
}
static __HIP_HD__ bool operator>(const __hip_bfloat162 &x, const __hip_bfloat162 &y)
{
    return __hbgt2(x, y);
}
static __HIP_HD__ bool operator>=(const __hip_bfloat162 &x, const __hip_bfloat162 &y)
{
    return __hbge2(x, y);
}
static __HIP_HD__ bool operator!=(const __hip_bfloat162 &x, const __hip_bfloat162 &y)
{
    return !(x == y);
}
static __HIP_HD__ bool __hisnan(__hip_bfloat16 x)
{
    return (__hip_bits(x) & 0x7fff) > 0x7f80;
}
static __HIP_HD__ int __hisinf(__hip_bfloat16 x)
{
    return (__hip_bits(x) & 0x7fff) != 0x7f80 ? 0 : __hip_bits(x) & 0x8000 ? -1 : 1;
}
static __HIP_HD__ __hip_bfloat162 __hisnan2(__hip_bfloat162 x)
{
    return __hip_bfloat162(__hip_bfloat16(__hisnan(x.x) ? 1.0f : 0.0f),
                           __hip_bfloat16(__hisnan(x.y) ? 1.0f : 0.0f));
}

// The number when one is NaN; the _nan forms NaN.
static __HIP_HD__ __hip_bfloat16 __hmax(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hisnan(x) ? y : __hisnan(y) ? x : __hgt(x, y) ? x : y;
}
static __HIP_HD__ __hip_bfloat16 __hmax_nan(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hisnan(x) ? x : __hisnan(y) ? y : __hgt(x, y) ? x : y;
}
static __HIP_HD__ __hip_bfloat162 __hmax2(__hip_bfloat162 x, __hip_bfloat162 y)
{
    return __hip_bfloat162(__hmax(x.x, y.x), __hmax(x.y, y.y));
}
static __HIP_HD__ __hip_bfloat162 __hmax2_nan(__hip_bfloat162 x, __hip_bfloat162 y)
{
    return __hip_bfloat162(__hmax_nan(x.x, y.x), __hmax_nan(x.y, y.y));
}
static __HIP_HD__ __hip_bfloat16 __hmin(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hisnan(x) ? y : __hisnan(y) ? x : __hlt(x, y) ? x : y;
}
static __HIP_HD__ __hip_bfloat16 __hmin_nan(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hisnan(x) ? x : __hisnan(y) ? y : __hlt(x, y) ? x : y;
}
static __HIP_HD__ __hip_bfloat162 __hmin2(__hip_bfloat162 x, __hip_bfloat162 y)
{
    return __hip_bfloat162(__hmin(x.x, y.x), __hmin(x.y, y.y));
}
static __HIP_HD__ __hip_bfloat162 __hmin2_nan(__hip_bfloat162 x, __hip_bfloat162 y)
{
    return __hip_bfloat162(__hmin_nan(x.x, y.x), __hmin_nan(x.y, y.y));
}

#if __HIP_CLANG_ONLY__
#include <hip/amd_detail/amd_warp_functions.h>

// Math functions, in float.
#define __HIP_BF16_MATH(name, function)                                                                      \
    static inline __device__ __hip_bfloat16 h##name(__hip_bfloat16 x)                                        \
    {                                                                                                        \
        return __hip_bfloat16(function(static_cast<float>(x)));                                              \
    }                                                                                                        \
    static inline __device__ __hip_bfloat162 h2##name(__hip_bfloat162 x)                                     \
    {                                                                                                        \
        return __hip_bfloat162(h##name(x.x), h##name(x.y));                                                  \
    }
__HIP_BF16_MATH(ceil, __ocml_ceil_f32)
__HIP_BF16_MATH(floor, __ocml_floor_f32)
__HIP_BF16_MATH(trunc, __ocml_trunc_f32)
__HIP_BF16_MATH(rint, __ocml_rint_f32)
__HIP_BF16_MATH(cos, __ocml_cos_f32)
__HIP_BF16_MATH(sin, __ocml_sin_f32)
__HIP_BF16_MATH(exp, __ocml_exp_f32)
__HIP_BF16_MATH(exp2, __ocml_exp2_f32)
__HIP_BF16_MATH(exp10, __ocml_exp10_f32)
__HIP_BF16_MATH(log, __ocml_log_f32)
__HIP_BF16_MATH(log2, __ocml_log2_f32)
__HIP_BF16_MATH(log10, __ocml_log10_f32)
__HIP_BF16_MATH(sqrt, __ocml_sqrt_f32)
__HIP_BF16_MATH(rsqrt, __ocml_rsqrt_f32)
__HIP_BF16_MATH(tanh, __ocml_tanh_f32)
__HIP_BF16_MATH(rcp, 1.0f /)
#undef __HIP_BF16_MATH

#define __HIP_BF16_SHUFFLE(name, argument)                                                                   \
    static inline __device__ __hip_bfloat16 name(__hip_bfloat16 var, argument lane, int width = warpSize)    \
    {                                                                                                        \
        return __hip_bfloat(                                                                                 \
            static_cast<unsigned short>(name(static_cast<int>(__hip_bits(var)), lane, width)));              \
    }                                                                                                        \
    static inline __device__ __hip_bfloat162 name(__hip_bfloat162 var, argument lane, int width = warpSize)  \
    {                                                                                                        \
        const __hip_bfloat162_raw r = var;                                                                   \
        const unsigned int word =                                                                            \
            name(static_cast<unsigned int>(r.x) | static_cast<unsigned int>(r.y) << 16, lane, width);        \
        return __hip_bfloat162_raw{static_cast<unsigned short>(word),                                        \
                                   static_cast<unsigned short>(word >> 16)};                                 \
    }
__HIP_BF16_SHUFFLE(__shfl, int)
__HIP_BF16_SHUFFLE(__shfl_up, unsigned int)
__HIP_BF16_SHUFFLE(__shfl_down, unsigned int)
__HIP_BF16_SHUFFLE(__shfl_xor, int)
#undef __HIP_BF16_SHUFFLE

// The packed addition of the hardware, relaxed at device scope. Its memory must be ordinary device memory.
static inline __device__ __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162 *address, __hip_bfloat162 value)
{
    const __hip_bfloat162_raw r = value;
#if __HIP_DEVICE_PASS__ && __has_builtin(__builtin_amdgcn_flat_atomic_fadd_v2bf16)
    typedef short pair __attribute__((ext_vector_type(2)));
    const pair old = __builtin_amdgcn_flat_atomic_fadd_v2bf16(
        reinterpret_cast<pair *>(address), pair{static_cast<short>(r.x), static_cast<short>(r.y)});
    return __hip_bfloat162_raw{static_cast<unsigned short>(old[0]), static_cast<unsigned short>(old[1])};
#else
    unsigned int *word = reinterpret_cast<unsigned int *>(address);
    unsigned int old = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    unsigned int seen;
    __hip_bfloat162 before;
    do {
        seen = old;
        before =
            __hip_bfloat162_raw{static_cast<unsigned short>(seen), static_cast<unsigned short>(seen >> 16)};
        const __hip_bfloat162_raw sum = __hadd2(before, r);
        __hip_atomic_compare_exchange_strong(
            word, &old, static_cast<unsigned int>(sum.x) | static_cast<unsigned int>(sum.y) << 16,
            __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    } while (old != seen);
    return before;
#endif
}
static inline __device__ __hip_bfloat162 atomicAdd(__hip_bfloat162 *address, __hip_bfloat162 value)
{
    return unsafeAtomicAdd(address, value);
}
#endif

#endif
