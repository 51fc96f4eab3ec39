// SPDX-License-Identifier: MIT
// Conversions between integers and floating point with a stated rounding, and reinterpretations.
#ifndef HIP_AMD_DETAIL_AMD_CONVERSION_FUNCTIONS_H
#define HIP_AMD_DETAIL_AMD_CONVERSION_FUNCTIONS_H

#include <hip/amd_detail/host_defines.h>

// Reinterpretation of the bits.
static inline __device__ int __float_as_int(float x)
{
    static_assert(sizeof(int) == sizeof(float), "same bits");
    return __builtin_bit_cast(int, x);
}
static inline __device__ unsigned int __float_as_uint(float x)
{
    static_assert(sizeof(unsigned int) == sizeof(float), "same bits");
    return __builtin_bit_cast(unsigned int, x);
}
static inline __device__ float __int_as_float(int x)
{
    static_assert(sizeof(float) == sizeof(int), "same bits");
    return __builtin_bit_cast(float, x);
}
static inline __device__ float __uint_as_float(unsigned int x)
{
    static_assert(sizeof(float) == sizeof(unsigned int), "same bits");
    return __builtin_bit_cast(float, x);
}
static inline __device__ long long int __double_as_longlong(double x)
{
    static_assert(sizeof(long long int) == sizeof(double), "same bits");
    return __builtin_bit_cast(long long int, x);
}
static inline __device__ double __longlong_as_double(long long int x)
{
    static_assert(sizeof(double) == sizeof(long long int), "same bits");
    return __builtin_bit_cast(double, x);
}
static inline __device__ int __double2hiint(double x)
{
    return static_cast<int>(__builtin_bit_cast(unsigned long long, x) >> 32);
}
static inline __device__ int __double2loint(double x)
{
    return static_cast<int>(__builtin_bit_cast(unsigned long long, x));
}
static inline __device__ double __hiloint2double(int hi, int lo)
{
    return __builtin_bit_cast(double, static_cast<unsigned long long>(static_cast<unsigned int>(hi)) << 32 |
                                          static_cast<unsigned int>(lo));
}

// The largest float not above x.
static inline __device__ float __hip_narrow_down(double x)
{
    const float nearest = static_cast<float>(x);
    if (!(static_cast<double>(nearest) > x))
        return nearest;
    const unsigned int bits = __builtin_bit_cast(unsigned int, nearest);
    if ((bits & 0x7fffffffu) == 0)
        return __builtin_bit_cast(float, 0x80000001u);
    return __builtin_bit_cast(float, nearest > 0 ? bits - 1 : bits + 1);
}

// 64-bit integers to floating point, rounded downwards, upwards or towards zero: cut the magnitude to the
// format's precision, which is exact, and step up if something was cut off and that is the direction.
template <typename F> static inline __device__ F __hip_magnitude(unsigned long long m, bool up)
{
    const int precision = sizeof(F) == 4 ? 24 : 53;
    const int excess = m == 0 ? 0 : 64 - __builtin_clzll(m) - precision;
    if (excess <= 0)
        return static_cast<F>(m);
    const unsigned long long unit = 1ull << excess;
    const unsigned long long kept = m & ~(unit - 1);
    // kept + unit may be 2^64; adding in F is exact because both are multiples of the unit.
    return static_cast<F>(kept) + (up && kept != m ? static_cast<F>(unit) : F(0));
}
template <typename F, typename I> static inline __device__ F __hip_integer_rd(I x)
{
    return x < 0 ? -__hip_magnitude<F>(0ull - static_cast<unsigned long long>(x), true)
                 : __hip_magnitude<F>(static_cast<unsigned long long>(x), false);
}
template <typename F, typename I> static inline __device__ F __hip_integer_ru(I x)
{
    return x < 0 ? -__hip_magnitude<F>(0ull - static_cast<unsigned long long>(x), false)
                 : __hip_magnitude<F>(static_cast<unsigned long long>(x), true);
}
template <typename F, typename I> static inline __device__ F __hip_integer_rz(I x)
{
    return x < 0 ? -__hip_magnitude<F>(0ull - static_cast<unsigned long long>(x), false)
                 : __hip_magnitude<F>(static_cast<unsigned long long>(x), false);
}

// Float to integer: round as asked, then convert. At run time the 32-bit conversions are one instruction,
// which saturates and makes 0 of NaN; as everywhere in C++ a constant that does not fit is undefined.
static inline __device__ int __float2int_rd(float x)
{
    return static_cast<int>(__builtin_floorf(x));
}
static inline __device__ int __float2int_rn(float x)
{
    return static_cast<int>(__builtin_rintf(x));
}
static inline __device__ int __float2int_ru(float x)
{
    return static_cast<int>(__builtin_ceilf(x));
}
static inline __device__ int __float2int_rz(float x)
{
    return static_cast<int>(__builtin_truncf(x));
}
static inline __device__ unsigned int __float2uint_rd(float x)
{
    return static_cast<unsigned int>(__builtin_floorf(x));
}
static inline __device__ unsigned int __float2uint_rn(float x)
{
    return static_cast<unsigned int>(__builtin_rintf(x));
}
static inline __device__ unsigned int __float2uint_ru(float x)
{
    return static_cast<unsigned int>(__builtin_ceilf(x));
}
static inline __device__ unsigned int __float2uint_rz(float x)
{
    return static_cast<unsigned int>(__builtin_truncf(x));
}
static inline __device__ long long int __float2ll_rd(float x)
{
    return static_cast<long long int>(__builtin_floorf(x));
}
static inline __device__ long long int __float2ll_rn(float x)
{
    return static_cast<long long int>(__builtin_rintf(x));
}
static inline __device__ long long int __float2ll_ru(float x)
{
    return static_cast<long long int>(__builtin_ceilf(x));
}
static inline __device__ long long int __float2ll_rz(float x)
{
    return static_cast<long long int>(__builtin_truncf(x));
}
static inline __device__ unsigned long long int __float2ull_rd(float x)
{
    return static_cast<unsigned long long int>(__builtin_floorf(x));
}
static inline __device__ unsigned long long int __float2ull_rn(float x)
{
    return static_cast<unsigned long long int>(__builtin_rintf(x));
}
static inline __device__ unsigned long long int __float2ull_ru(float x)
{
    return static_cast<unsigned long long int>(__builtin_ceilf(x));
}
static inline __device__ unsigned long long int __float2ull_rz(float x)
{
    return static_cast<unsigned long long int>(__builtin_truncf(x));
}
static inline __device__ int __double2int_rd(double x)
{
    return static_cast<int>(__builtin_floor(x));
}
static inline __device__ int __double2int_rn(double x)
{
    return static_cast<int>(__builtin_rint(x));
}
static inline __device__ int __double2int_ru(double x)
{
    return static_cast<int>(__builtin_ceil(x));
}
static inline __device__ int __double2int_rz(double x)
{
    return static_cast<int>(__builtin_trunc(x));
}
static inline __device__ unsigned int __double2uint_rd(double x)
{
    return static_cast<unsigned int>(__builtin_floor(x));
}
static inline __device__ unsigned int __double2uint_rn(double x)
{
    return static_cast<unsigned int>(__builtin_rint(x));
}
static inline __device__ unsigned int __double2uint_ru(double x)
{
    return static_cast<unsigned int>(__builtin_ceil(x));
}
static inline __device__ unsigned int __double2uint_rz(double x)
{
    return static_cast<unsigned int>(__builtin_trunc(x));
}
static inline __device__ long long int __double2ll_rd(double x)
{
    return static_cast<long long int>(__builtin_floor(x));
}
static inline __device__ long long int __double2ll_rn(double x)
{
    return static_cast<long long int>(__builtin_rint(x));
}
static inline __device__ long long int __double2ll_ru(double x)
{
    return static_cast<long long int>(__builtin_ceil(x));
}
static inline __device__ long long int __double2ll_rz(double x)
{
    return static_cast<long long int>(__builtin_trunc(x));
}
static inline __device__ unsigned long long int __double2ull_rd(double x)
{
    return static_cast<unsigned long long int>(__builtin_floor(x));
}
static inline __device__ unsigned long long int __double2ull_rn(double x)
{
    return static_cast<unsigned long long int>(__builtin_rint(x));
}
static inline __device__ unsigned long long int __double2ull_ru(double x)
{
    return static_cast<unsigned long long int>(__builtin_ceil(x));
}
static inline __device__ unsigned long long int __double2ull_rz(double x)
{
    return static_cast<unsigned long long int>(__builtin_trunc(x));
}

// Double to float. Rounding to nearest is the plain cast; the others step one float away from it where
// needed.
static inline __device__ float __double2float_rn(double x)
{
    return static_cast<float>(x);
}
static inline __device__ float __double2float_rd(double x)
{
    return __hip_narrow_down(x);
}
static inline __device__ float __double2float_ru(double x)
{
    return -__hip_narrow_down(-x);
}
static inline __device__ float __double2float_rz(double x)
{
    return x < 0 ? -__hip_narrow_down(-x) : __hip_narrow_down(x);
}

// Integer to floating point.
static inline __device__ double __int2double_rn(int x)
{
    return static_cast<double>(x);
}
static inline __device__ float __int2float_rd(int x)
{
    return __double2float_rd(static_cast<double>(x)); // exact in double
}
static inline __device__ float __int2float_rn(int x)
{
    return static_cast<float>(x);
}
static inline __device__ float __int2float_ru(int x)
{
    return __double2float_ru(static_cast<double>(x)); // exact in double
}
static inline __device__ float __int2float_rz(int x)
{
    return __double2float_rz(static_cast<double>(x)); // exact in double
}
static inline __device__ double __uint2double_rn(unsigned int x)
{
    return static_cast<double>(x);
}
static inline __device__ float __uint2float_rd(unsigned int x)
{
    return __double2float_rd(static_cast<double>(x)); // exact in double
}
static inline __device__ float __uint2float_rn(unsigned int x)
{
    return static_cast<float>(x);
}
static inline __device__ float __uint2float_ru(unsigned int x)
{
    return __double2float_ru(static_cast<double>(x)); // exact in double
}
static inline __device__ float __uint2float_rz(unsigned int x)
{
    return __double2float_rz(static_cast<double>(x)); // exact in double
}
static inline __device__ double __ll2double_rd(long long int x)
{
    return __hip_integer_rd<double>(x);
}
static inline __device__ double __ll2double_rn(long long int x)
{
    return static_cast<double>(x);
}
static inline __device__ double __ll2double_ru(long long int x)
{
    return __hip_integer_ru<double>(x);
}
static inline __device__ double __ll2double_rz(long long int x)
{
    return __hip_integer_rz<double>(x);
}
static inline __device__ float __ll2float_rd(long long int x)
{
    return __hip_integer_rd<float>(x);
}
static inline __device__ float __ll2float_rn(long long int x)
{
    return static_cast<float>(x);
}
static inline __device__ float __ll2float_ru(long long int x)
{
    return __hip_integer_ru<float>(x);
}
static inline __device__ float __ll2float_rz(long long int x)
{
    return __hip_integer_rz<float>(x);
}
static inline __device__ double __ull2double_rd(unsigned long long int x)
{
    return __hip_integer_rd<double>(x);
}
static inline __device__ double __ull2double_rn(unsigned long long int x)
{
    return static_cast<double>(x);
}
static inline __device__ double __ull2double_ru(unsigned long long int x)
{
    return __hip_integer_ru<double>(x);
}
static inline __device__ double __ull2double_rz(unsigned long long int x)
{
    return __hip_integer_rz<double>(x);
}
static inline __device__ float __ull2float_rd(unsigned long long int x)
{
    return __hip_integer_rd<float>(x);
}
static inline __device__ float __ull2float_rn(unsigned long long int x)
{
    return static_cast<float>(x);
}
static inline __device__ float __ull2float_ru(unsigned long long int x)
{
    return __hip_integer_ru<float>(x);
}
static inline __device__ float __ull2float_rz(unsigned long long int x)
{
    return __hip_integer_rz<float>(x);
}

#endif
