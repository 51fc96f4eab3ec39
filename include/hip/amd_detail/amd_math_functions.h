// SPDX-License-Identifier: MIT
// The math functions that clang's wrapper leaves out: CUDA's directed-rounding operations, for which the
// device libraries of Debian have no entry points. They set the rounding field of the wave's MODE register
// around one instruction; one asm statement keeps the compiler from moving anything between. (CDNA 3 ISA
// manual, section 3.2: MODE bits 1:0 round f32, bits 3:2 round f64 and f16.)
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_MATH_FUNCTIONS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_MATH_FUNCTIONS_H

#include <hip/amd_detail/host_defines.h>
#include <hip/amd_detail/amd_conversion_functions.h>
#include <hip/hip_vector_types.h>

#if __HIP_CLANG_ONLY__ && !defined(OCML_BASIC_ROUNDED_OPERATIONS)

#if __HIP_DEVICE_PASS__
#define __HIP_ROUNDED(mode, instruction)                                                                     \
    "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), " mode "\n\t" instruction                                  \
    "\n\ts_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0"
#define __HIP_ROUNDED_2(mode, instruction)                                                                   \
    asm volatile(__HIP_ROUNDED(mode, instruction " %0, %1, %2") : "=&v"(r) : "v"(x), "v"(y))
#define __HIP_ROUNDED_3(mode, instruction)                                                                   \
    asm volatile(__HIP_ROUNDED(mode, instruction " %0, %1, %2, %3") : "=&v"(r) : "v"(x), "v"(y), "v"(z))
#else
#define __HIP_ROUNDED_2(mode, instruction) (void)(x), (void)(y), r = 0
#define __HIP_ROUNDED_3(mode, instruction) (void)(x), (void)(y), (void)(z), r = 0
#endif

// The neighbour of x away from or towards zero.
static inline __device__ float __hip_step(float x, bool away)
{
    return __builtin_bit_cast(float, __builtin_bit_cast(unsigned int, x) + (away ? 1u : ~0u));
}
static inline __device__ double __hip_step(double x, bool away)
{
    return __builtin_bit_cast(double, __builtin_bit_cast(unsigned long long, x) + (away ? 1ull : ~0ull));
}
// A quotient or root r rounded to nearest, moved to the neighbour the direction asks for. `side` has the sign
// of (exact - r); direction is -1, 1 or 0 for towards zero.
template <typename F> static inline __device__ F __hip_redirect(F r, F side, int direction)
{
    if (!(side != 0) || !__builtin_isfinite(r) || r == 0)
        return r;
    const bool negative = r < 0;
    if (direction == 0)
        direction = negative ? 1 : -1;
    if (direction < 0 ? side < 0 : side > 0)
        return __hip_step(r, (direction < 0) == negative);
    return r;
}
template <typename F> static inline __device__ F __hip_divide(F x, F y, int direction)
{
    const F q = x / y;
    const F remainder = __builtin_elementwise_fma(-q, y, x);
    return __hip_redirect(q, y < 0 ? -remainder : remainder, direction);
}
template <typename F> static inline __device__ F __hip_square_root(F x, int direction)
{
    const F r = __builtin_elementwise_sqrt(x);
    return __hip_redirect(r, __builtin_elementwise_fma(-r, r, x), direction);
}

// mode: 0b0000 nearest, 0b0101 up, 0b1010 down, 0b1111 towards zero, the same for both widths.
#define __HIP_DIRECTED(suffix, mode, direction)                                                              \
    static inline __device__ float __fadd_##suffix(float x, float y)                                         \
    {                                                                                                        \
        float r;                                                                                             \
        __HIP_ROUNDED_2(mode, "v_add_f32");                                                                  \
        return r;                                                                                            \
    }                                                                                                        \
    static inline __device__ float __fsub_##suffix(float x, float y)                                         \
    {                                                                                                        \
        return __fadd_##suffix(x, -y);                                                                       \
    }                                                                                                        \
    static inline __device__ float __fmul_##suffix(float x, float y)                                         \
    {                                                                                                        \
        float r;                                                                                             \
        __HIP_ROUNDED_2(mode, "v_mul_f32");                                                                  \
        return r;                                                                                            \
    }                                                                                                        \
    static inline __device__ float __fmaf_##suffix(float x, float y, float z)                                \
    {                                                                                                        \
        float r;                                                                                             \
        __HIP_ROUNDED_3(mode, "v_fma_f32");                                                                  \
        return r;                                                                                            \
    }                                                                                                        \
    static inline __device__ double __dadd_##suffix(double x, double y)                                      \
    {                                                                                                        \
        double r;                                                                                            \
        __HIP_ROUNDED_2(mode, "v_add_f64");                                                                  \
        return r;                                                                                            \
    }                                                                                                        \
    static inline __device__ double __dsub_##suffix(double x, double y)                                      \
    {                                                                                                        \
        return __dadd_##suffix(x, -y);                                                                       \
    }                                                                                                        \
    static inline __device__ double __dmul_##suffix(double x, double y)                                      \
    {                                                                                                        \
        double r;                                                                                            \
        __HIP_ROUNDED_2(mode, "v_mul_f64");                                                                  \
        return r;                                                                                            \
    }                                                                                                        \
    static inline __device__ double __fma_##suffix(double x, double y, double z)                             \
    {                                                                                                        \
        double r;                                                                                            \
        __HIP_ROUNDED_3(mode, "v_fma_f64");                                                                  \
        return r;                                                                                            \
    }                                                                                                        \
    static inline __device__ float __fdiv_##suffix(float x, float y)                                         \
    {                                                                                                        \
        return __hip_divide(x, y, direction);                                                                \
    }                                                                                                        \
    static inline __device__ double __ddiv_##suffix(double x, double y)                                      \
    {                                                                                                        \
        return __hip_divide(x, y, direction);                                                                \
    }                                                                                                        \
    static inline __device__ float __frcp_##suffix(float x)                                                  \
    {                                                                                                        \
        return __hip_divide(1.0f, x, direction);                                                             \
    }                                                                                                        \
    static inline __device__ double __drcp_##suffix(double x)                                                \
    {                                                                                                        \
        return __hip_divide(1.0, x, direction);                                                              \
    }                                                                                                        \
    static inline __device__ float __fsqrt_##suffix(float x)                                                 \
    {                                                                                                        \
        return __hip_square_root(x, direction);                                                              \
    }                                                                                                        \
    static inline __device__ double __dsqrt_##suffix(double x)                                               \
    {                                                                                                        \
        return __hip_square_root(x, direction);                                                              \
    }
__HIP_DIRECTED(ru, "5", 1)
__HIP_DIRECTED(rd, "10", -1)
__HIP_DIRECTED(rz, "15", 0)
#undef __HIP_DIRECTED
#undef __HIP_ROUNDED
#undef __HIP_ROUNDED_2
#undef __HIP_ROUNDED_3

#endif

// Dot products of packed integers, added to c; saturated they stay within its type. The host's pass, and
// chips without these instructions, have the declarations alone.
#if __HIP_CLANG_ONLY__
#if defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) ||              \
    defined(__gfx950__)
#define __HIP_DOT(name, native, a, b, c, saturate)                                                           \
    {                                                                                                        \
        const native x = __builtin_bit_cast(native, a), y = __builtin_bit_cast(native, b);                   \
        return saturate ? __builtin_amdgcn_##name(x, y, c, true) : __builtin_amdgcn_##name(x, y, c, false);  \
    }
#else
#define __HIP_DOT(name, native, a, b, c, saturate) ;
#endif
#define __HIP_MIXED_DOT(vector, scalar, name, native)                                                        \
    __device__ __attribute__((always_inline)) inline scalar amd_mixed_dot(                                   \
        vector a, vector b, scalar c, bool saturate) __HIP_DOT(name, native, a, b, c, saturate)
typedef short __hip_short2 __attribute__((ext_vector_type(2)));
typedef unsigned short __hip_ushort2 __attribute__((ext_vector_type(2)));
__HIP_MIXED_DOT(short2, int, sdot2, __hip_short2)
__HIP_MIXED_DOT(ushort2, unsigned int, udot2, __hip_ushort2)
__HIP_MIXED_DOT(char4, int, sdot4, int)
__HIP_MIXED_DOT(uchar4, unsigned int, udot4, unsigned int)
__HIP_MIXED_DOT(int, int, sdot8, int)
__HIP_MIXED_DOT(unsigned int, unsigned int, udot8, unsigned int)
#undef __HIP_MIXED_DOT
#undef __HIP_DOT
#endif

#endif
