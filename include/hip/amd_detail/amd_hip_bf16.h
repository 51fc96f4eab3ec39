// SPDX-License-Identifier: MIT
// __hip_bfloat16 and __hip_bfloat162. gfx942 computes bfloat16 outside its matrix instructions in float: each
// operation is done in float and rounded once to nearest even, which for + - * / equals rounding the exact
// result (float has more than twice bfloat16's 8 bits).
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_BF16_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_BF16_H

#include <hip/hip_common.h>
#include <hip/amd_detail/host_defines.h>

#if defined(__cplusplus)

#include <hip/amd_detail/amd_hip_vector_types.h>
#include <hip/amd_detail/hip_type_traits.h>

#define __HIP_HD__ __host__ __device__ inline

static __HIP_HD__ unsigned int __hip_float_bits(float x)
{
    unsigned int u;
    __builtin_memcpy(&u, &x, sizeof(u));
    return u;
}
static __HIP_HD__ float __hip_bits_float(unsigned int u)
{
    float x;
    __builtin_memcpy(&x, &u, sizeof(x));
    return x;
}
static __HIP_HD__ unsigned short __hip_bf16_nearest(float x)
{
    const unsigned int u = __hip_float_bits(x);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return static_cast<unsigned short>(u >> 16 | 0x40); // a quiet NaN
    return static_cast<unsigned short>((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}
// Towards zero is to cut; downwards and upwards add a unit in the last place to what was cut on that side.
static __HIP_HD__ unsigned short __hip_bf16_cut(float x, bool grow_negative, bool grow_positive)
{
    const unsigned int u = __hip_float_bits(x);
    if ((u & 0x7fffffffu) > 0x7f800000u)
        return static_cast<unsigned short>(u >> 16 | 0x40);
    const bool grow = (u & 0xffffu) != 0 && (u >> 31 ? grow_negative : grow_positive);
    return static_cast<unsigned short>((u >> 16) + (grow ? 1u : 0u));
}
// double to float so that the rounding to bfloat16 afterwards sees whether anything was lost: round to odd.
static __HIP_HD__ float __hip_double_to_odd(double x)
{
    const float nearest = static_cast<float>(x);
    if (!(static_cast<double>(nearest) != x) || x != x)
        return nearest;
    unsigned int u = __hip_float_bits(nearest);
    if (u & 1)
        return nearest;
    // The other neighbour of x is the odd one.
    const bool away = (static_cast<double>(nearest) < x) == (x > 0);
    return __hip_bits_float(away ? u + 1 : u - 1);
}

struct __hip_bfloat16_raw {
    unsigned short x;
};
struct alignas(4) __hip_bfloat162_raw {
    unsigned short x;
    unsigned short y;
};

struct __hip_bfloat16 {
  protected:
    unsigned short __x;

  public:
    __hip_bfloat16() = default;
    __host__ __device__ __hip_bfloat16(const __hip_bfloat16_raw &r) : __x(r.x)
    {
    }
    __host__ __device__ __hip_bfloat16(float x) : __x(__hip_bf16_nearest(x))
    {
    }
    __host__ __device__ __hip_bfloat16(double x) : __x(__hip_bf16_nearest(__hip_double_to_odd(x)))
    {
    }
    template <typename T,
              typename __hip_internal::enable_if<__hip_internal::is_integral<T>::value, int>::type = 0>
    __host__ __device__ __hip_bfloat16(T x) : __hip_bfloat16(static_cast<double>(x))
    {
    }
    __host__ __device__ operator __hip_bfloat16_raw() const
    {
        return __hip_bfloat16_raw{__x};
    }
    __host__ __device__ operator __hip_bfloat16_raw() const volatile
    {
        return __hip_bfloat16_raw{__x};
    }
    __host__ __device__ operator float() const
    {
        return __hip_bits_float(static_cast<unsigned int>(__x) << 16);
    }
    template <typename T,
              typename __hip_internal::enable_if<__hip_internal::is_integral<T>::value, int>::type = 0>
    __host__ __device__ operator T() const
    {
        return static_cast<T>(static_cast<float>(*this));
    }
    template <typename T,
              typename __hip_internal::enable_if<__hip_internal::is_same<T, double>::value, int>::type = 0>
    __host__ __device__ operator T() const
    {
        return static_cast<double>(static_cast<float>(*this));
    }
};
static_assert(sizeof(__hip_bfloat16) == 2, "__hip_bfloat16 is 16 bits");

static __HIP_HD__ unsigned short __hip_bits(const __hip_bfloat16 &x)
{
    return static_cast<__hip_bfloat16_raw>(x).x;
}
static __HIP_HD__ __hip_bfloat16 __hip_bfloat(unsigned short bits)
{
    return __hip_bfloat16_raw{bits};
}

struct alignas(4) __hip_bfloat162 {
    __hip_bfloat16 x;
    __hip_bfloat16 y;

    __hip_bfloat162() = default;
    __host__ __device__ __hip_bfloat162(const __hip_bfloat16 &a, const __hip_bfloat16 &b) : x(a), y(b)
    {
    }
    __host__ __device__ __hip_bfloat162(const __hip_bfloat162_raw &r)
        : x(__hip_bfloat16_raw{r.x}), y(__hip_bfloat16_raw{r.y})
    {
    }
    __host__ __device__ __hip_bfloat162(const float2 &v) : x(v.x), y(v.y)
    {
    }
    __host__ __device__ operator __hip_bfloat162_raw() const
    {
        return __hip_bfloat162_raw{__hip_bits(x), __hip_bits(y)};
    }
    __host__ __device__ operator float2() const
    {
        return make_float2(static_cast<float>(x), static_cast<float>(y));
    }
};
static_assert(sizeof(__hip_bfloat162) == 4, "__hip_bfloat162 is one dword");

// Conversions.
static __HIP_HD__ float __bfloat162float(__hip_bfloat16 x)
{
    return static_cast<float>(x);
}
static __HIP_HD__ __hip_bfloat16 __float2bfloat16(float x)
{
    return __hip_bfloat16(x);
}
static __HIP_HD__ __hip_bfloat16 __float2bfloat16_rn(float x)
{
    return __hip_bfloat16(x);
}
static __HIP_HD__ __hip_bfloat16 __float2bfloat16_rz(float x)
{
    return __hip_bfloat(__hip_bf16_cut(x, false, false));
}
static __HIP_HD__ __hip_bfloat16 __float2bfloat16_rd(float x)
{
    return __hip_bfloat(__hip_bf16_cut(x, true, false));
}
static __HIP_HD__ __hip_bfloat16 __float2bfloat16_ru(float x)
{
    return __hip_bfloat(__hip_bf16_cut(x, false, true));
}
static __HIP_HD__ __hip_bfloat16 __double2bfloat16(double x)
{
    return __hip_bfloat16(x);
}
static __HIP_HD__ __hip_bfloat162 __float2bfloat162_rn(float x)
{
    return __hip_bfloat162(__hip_bfloat16(x), __hip_bfloat16(x));
}
static __HIP_HD__ __hip_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return __hip_bfloat162(__hip_bfloat16(x), __hip_bfloat16(y));
}
static __HIP_HD__ __hip_bfloat162 __float22bfloat162_rn(float2 x)
{
    return __hip_bfloat162(__hip_bfloat16(x.x), __hip_bfloat16(x.y));
}
static __HIP_HD__ float2 __bfloat1622float2(__hip_bfloat162 x)
{
    return make_float2(static_cast<float>(x.x), static_cast<float>(x.y));
}
static __HIP_HD__ float __low2float(__hip_bfloat162 x)
{
    return static_cast<float>(x.x);
}
static __HIP_HD__ float __high2float(__hip_bfloat162 x)
{
    return static_cast<float>(x.y);
}
static __HIP_HD__ signed char __bfloat162char_rz(__hip_bfloat16 x)
{
    return static_cast<signed char>(__builtin_truncf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned char __bfloat162uchar_rz(__hip_bfloat16 x)
{
    return static_cast<unsigned char>(__builtin_truncf(static_cast<float>(x)));
}
static __HIP_HD__ short __bfloat162short_rn(__hip_bfloat16 x)
{
    return static_cast<short>(__builtin_rintf(static_cast<float>(x)));
}
static __HIP_HD__ short __bfloat162short_rz(__hip_bfloat16 x)
{
    return static_cast<short>(__builtin_truncf(static_cast<float>(x)));
}
static __HIP_HD__ short __bfloat162short_rd(__hip_bfloat16 x)
{
    return static_cast<short>(__builtin_floorf(static_cast<float>(x)));
}
static __HIP_HD__ short __bfloat162short_ru(__hip_bfloat16 x)
{
    return static_cast<short>(__builtin_ceilf(static_cast<float>(x)));
}
static __HIP_HD__ __hip_bfloat16 __short2bfloat16_rn(short x)
{
    return __hip_bfloat16(x);
}
static __HIP_HD__ unsigned short __bfloat162ushort_rn(__hip_bfloat16 x)
{
    return static_cast<unsigned short>(__builtin_rintf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned short __bfloat162ushort_rz(__hip_bfloat16 x)
{
    return static_cast<unsigned short>(__builtin_truncf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned short __bfloat162ushort_rd(__hip_bfloat16 x)
{
    return static_cast<unsigned short>(__builtin_floorf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned short __bfloat162ushort_ru(__hip_bfloat16 x)
{
    return static_cast<unsigned short>(__builtin_ceilf(static_cast<float>(x)));
}
static __HIP_HD__ __hip_bfloat16 __ushort2bfloat16_rn(unsigned short x)
{
    return __hip_bfloat16(x);
}
static __HIP_HD__ int __bfloat162int_rn(__hip_bfloat16 x)
{
    return static_cast<int>(__builtin_rintf(static_cast<float>(x)));
}
static __HIP_HD__ int __bfloat162int_rz(__hip_bfloat16 x)
{
    return static_cast<int>(__builtin_truncf(static_cast<float>(x)));
}
static __HIP_HD__ int __bfloat162int_rd(__hip_bfloat16 x)
{
    return static_cast<int>(__builtin_floorf(static_cast<float>(x)));
}
static __HIP_HD__ int __bfloat162int_ru(__hip_bfloat16 x)
{
    return static_cast<int>(__builtin_ceilf(static_cast<float>(x)));
}
static __HIP_HD__ __hip_bfloat16 __int2bfloat16_rn(int x)
{
    return __hip_bfloat16(x);
}
static __HIP_HD__ unsigned int __bfloat162uint_rn(__hip_bfloat16 x)
{
    return static_cast<unsigned int>(__builtin_rintf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned int __bfloat162uint_rz(__hip_bfloat16 x)
{
    return static_cast<unsigned int>(__builtin_truncf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned int __bfloat162uint_rd(__hip_bfloat16 x)
{
    return static_cast<unsigned int>(__builtin_floorf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned int __bfloat162uint_ru(__hip_bfloat16 x)
{
    return static_cast<unsigned int>(__builtin_ceilf(static_cast<float>(x)));
}
static __HIP_HD__ __hip_bfloat16 __uint2bfloat16_rn(unsigned int x)
{
    return __hip_bfloat16(x);
}
static __HIP_HD__ long long __bfloat162ll_rn(__hip_bfloat16 x)
{
    return static_cast<long long>(__builtin_rintf(static_cast<float>(x)));
}
static __HIP_HD__ long long __bfloat162ll_rz(__hip_bfloat16 x)
{
    return static_cast<long long>(__builtin_truncf(static_cast<float>(x)));
}
static __HIP_HD__ long long __bfloat162ll_rd(__hip_bfloat16 x)
{
    return static_cast<long long>(__builtin_floorf(static_cast<float>(x)));
}
static __HIP_HD__ long long __bfloat162ll_ru(__hip_bfloat16 x)
{
    return static_cast<long long>(__builtin_ceilf(static_cast<float>(x)));
}
static __HIP_HD__ __hip_bfloat16 __ll2bfloat16_rn(long long x)
{
    return __hip_bfloat16(x);
}
static __HIP_HD__ unsigned long long __bfloat162ull_rn(__hip_bfloat16 x)
{
    return static_cast<unsigned long long>(__builtin_rintf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned long long __bfloat162ull_rz(__hip_bfloat16 x)
{
    return static_cast<unsigned long long>(__builtin_truncf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned long long __bfloat162ull_rd(__hip_bfloat16 x)
{
    return static_cast<unsigned long long>(__builtin_floorf(static_cast<float>(x)));
}
static __HIP_HD__ unsigned long long __bfloat162ull_ru(__hip_bfloat16 x)
{
    return static_cast<unsigned long long>(__builtin_ceilf(static_cast<float>(x)));
}
static __HIP_HD__ __hip_bfloat16 __ull2bfloat16_rn(unsigned long long x)
{
    return __hip_bfloat16(x);
}

// Reinterpretation of the bits.
static __HIP_HD__ short __bfloat16_as_short(__hip_bfloat16 x)
{
    return static_cast<short>(__hip_bits(x));
}
static __HIP_HD__ unsigned short __bfloat16_as_ushort(__hip_bfloat16 x)
{
    return __hip_bits(x);
}
static __HIP_HD__ __hip_bfloat16 __short_as_bfloat16(short x)
{
    return __hip_bfloat(static_cast<unsigned short>(x));
}
static __HIP_HD__ __hip_bfloat16 __ushort_as_bfloat16(unsigned short x)
{
    return __hip_bfloat(x);
}

// Taking pairs apart and putting them together.
static __HIP_HD__ __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 x)
{
    return __hip_bfloat162(x, x);
}
static __HIP_HD__ __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hip_bfloat162(x, y);
}
static __HIP_HD__ __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y)
{
    return __hip_bfloat162(x, y);
}
static __HIP_HD__ __hip_bfloat162 __low2bfloat162(__hip_bfloat162 x)
{
    return __hip_bfloat162(x.x, x.x);
}
static __HIP_HD__ __hip_bfloat162 __high2bfloat162(__hip_bfloat162 x)
{
    return __hip_bfloat162(x.y, x.y);
}
static __HIP_HD__ __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 x, __hip_bfloat162 y)
{
    return __hip_bfloat162(x.x, y.x);
}
static __HIP_HD__ __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 x, __hip_bfloat162 y)
{
    return __hip_bfloat162(x.y, y.y);
}
static __HIP_HD__ __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 x)
{
    return __hip_bfloat162(x.y, x.x);
}
static __HIP_HD__ __hip_bfloat16 __low2bfloat16(__hip_bfloat162 x)
{
    return x.x;
}
static __HIP_HD__ __hip_bfloat16 __high2bfloat16(__hip_bfloat162 x)
{
    return x.y;
}

#include <hip/amd_detail/amd_hip_bf16_functions.h>

#undef __HIP_HD__

#endif

#endif
