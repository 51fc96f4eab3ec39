// SPDX-License-Identifier: MIT
// __half and __half2: types, conversions, arithmetic, comparisons. Arithmetic is that of _Float16, which the
// device has and the host compiler provides; every operation rounds once to half.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_FP16_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_FP16_H

#include <hip/hip_common.h>
#include <hip/amd_detail/host_defines.h>

#if defined(__cplusplus)

#if !defined(__FLT16_MANT_DIG__)
#error "hip_fp16.h needs a compiler with _Float16: clang, or GCC 12 and later for x86-64"
#endif

#include <hip/amd_detail/amd_hip_vector_types.h>
#include <hip/amd_detail/hip_type_traits.h>

#define __HIP_HD__ __host__ __device__ inline

#if defined(__clang__)
typedef _Float16 _Float16_2 __attribute__((ext_vector_type(2)));
#else
typedef _Float16 _Float16_2 __attribute__((vector_size(4)));
#endif

struct __half_raw {
    union {
        _Float16 data;
        unsigned short x;
    };
};

template <typename T> struct __hip_is_floating {
    static constexpr bool value =
        __hip_internal::is_floating_point<T>::value || __hip_internal::is_same<T, _Float16>::value;
};

struct __half {
  protected:
    union {
        _Float16 data;
        unsigned short __x;
    };

  public:
    __half() = default;
    constexpr __host__ __device__ __half(const __half_raw &x) : data(x.data)
    {
    }
    template <typename T, typename __hip_internal::enable_if<__hip_is_floating<T>::value, int>::type = 0>
    constexpr __host__ __device__ __half(T x) : data(static_cast<_Float16>(x))
    {
    }
#if !defined(__HIP_NO_HALF_CONVERSIONS__)
    template <typename T,
              typename __hip_internal::enable_if<__hip_internal::is_integral<T>::value, int>::type = 0>
    constexpr __host__ __device__ __half(T x) : data(static_cast<_Float16>(x))
    {
    }
#endif
    __host__ __device__ __half &operator=(const __half_raw &x)
    {
        data = x.data;
        return *this;
    }
    __host__ __device__ volatile __half &operator=(const __half_raw &x) volatile
    {
        data = x.data;
        return *this;
    }
    /* A volatile __half takes another through __half_raw: a copy assignment of our own would cost triviality.
     */
    __half &operator=(const __half &) = default;
    __half(const __half &) = default;
#if !defined(__HIP_NO_HALF_CONVERSIONS__)
    template <typename T,
              typename __hip_internal::enable_if<
                  __hip_is_floating<T>::value || __hip_internal::is_integral<T>::value, int>::type = 0>
    __host__ __device__ __half &operator=(T x)
    {
        data = static_cast<_Float16>(x);
        return *this;
    }
#endif

    template <typename T, typename __hip_internal::enable_if<__hip_is_floating<T>::value, int>::type = 0>
    constexpr __host__ __device__ operator T() const
    {
        return static_cast<T>(data);
    }
    __host__ __device__ operator __half_raw() const
    {
        __half_raw r;
        r.data = data;
        return r;
    }
    __host__ __device__ operator __half_raw() const volatile
    {
        __half_raw r;
        r.data = data;
        return r;
    }
#if !defined(__HIP_NO_HALF_CONVERSIONS__)
    template <typename T,
              typename __hip_internal::enable_if<__hip_internal::is_integral<T>::value, int>::type = 0>
    constexpr __host__ __device__ operator T() const
    {
        return static_cast<T>(data);
    }
#endif

#if !defined(__HIP_NO_HALF_OPERATORS__)
#define __HIP_HALF_ASSIGN(op)                                                                                \
    __host__ __device__ __half &operator op(const __half &x)                                                 \
    {                                                                                                        \
        data op x.data;                                                                                      \
        return *this;                                                                                        \
    }
    __HIP_HALF_ASSIGN(+=)
    __HIP_HALF_ASSIGN(-=)
    __HIP_HALF_ASSIGN(*=)
    __HIP_HALF_ASSIGN(/=)
#undef __HIP_HALF_ASSIGN
    __host__ __device__ __half &operator++()
    {
        data += static_cast<_Float16>(1);
        return *this;
    }
    __host__ __device__ __half operator++(int)
    {
        __half old(*this);
        ++*this;
        return old;
    }
    __host__ __device__ __half &operator--()
    {
        data -= static_cast<_Float16>(1);
        return *this;
    }
    __host__ __device__ __half operator--(int)
    {
        __half old(*this);
        --*this;
        return old;
    }
    constexpr __host__ __device__ __half operator+() const
    {
        return *this;
    }
    constexpr __host__ __device__ __half operator-() const
    {
        return __half(static_cast<_Float16>(-data));
    }
#define __HIP_HALF_BINARY(op)                                                                                \
    friend constexpr __host__ __device__ __half operator op(const __half &x, const __half &y)                \
    {                                                                                                        \
        return __half(static_cast<_Float16>(x.data op y.data));                                              \
    }
#define __HIP_HALF_COMPARE(op)                                                                               \
    friend constexpr __host__ __device__ bool operator op(const __half &x, const __half &y)                  \
    {                                                                                                        \
        return x.data op y.data;                                                                             \
    }
    __HIP_HALF_BINARY(+)
    __HIP_HALF_BINARY(-)
    __HIP_HALF_BINARY(*)
    __HIP_HALF_BINARY(/)
    __HIP_HALF_COMPARE(==)
    __HIP_HALF_COMPARE(!=)
    __HIP_HALF_COMPARE(<)
    __HIP_HALF_COMPARE(>)
    __HIP_HALF_COMPARE(<=)
    __HIP_HALF_COMPARE(>=)
#undef __HIP_HALF_BINARY
#undef __HIP_HALF_COMPARE
#endif
};

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnested-anon-types"
#pragma clang diagnostic ignored "-Wgnu-anonymous-struct"
#endif
struct __half2_raw {
    union {
        _Float16_2 data;
        __extension__ struct {
            unsigned short x;
            unsigned short y;
        };
    };
};

struct __half2 {
#if defined(__clang__)
    union {
        _Float16_2 data;
        __extension__ struct {
            __half x;
            __half y;
        };
    };
    __host__ __device__ _Float16_2 __pair() const
    {
        return data;
    }
#else
    // GCC does not take classes with constructors into unnamed structs.
    alignas(4) __half x;
    __half y;
    _Float16_2 __pair() const
    {
        return _Float16_2{static_cast<__half_raw>(x).data, static_cast<__half_raw>(y).data};
    }
#endif

    __half2() = default;
    __half2(const __half2 &) = default;
    __half2(__half2 &&) = default;
    __half2 &operator=(const __half2 &) = default;
    __half2 &operator=(__half2 &&) = default;
    __host__ __device__ __half2(const __half2_raw &v) : __half2(v.data)
    {
    }
    __host__ __device__ __half2(_Float16_2 v) : x(v[0]), y(v[1])
    {
    }
    constexpr __host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b)
    {
    }
    __host__ __device__ __half2 &operator=(const __half2_raw &v)
    {
        return *this = __half2(v.data);
    }
    __host__ __device__ operator _Float16_2() const
    {
        return __pair();
    }
    __host__ __device__ operator __half2_raw() const
    {
        __half2_raw r;
        r.data = __pair();
        return r;
    }

#if !defined(__HIP_NO_HALF_OPERATORS__)
#define __HIP_HALF_ASSIGN(assign, op)                                                                        \
    __host__ __device__ __half2 &operator assign(const __half2 &v)                                           \
    {                                                                                                        \
        return *this = *this op v;                                                                           \
    }
    __HIP_HALF_ASSIGN(+=, +)
    __HIP_HALF_ASSIGN(-=, -)
    __HIP_HALF_ASSIGN(*=, *)
    __HIP_HALF_ASSIGN(/=, /)
#undef __HIP_HALF_ASSIGN
    __host__ __device__ __half2 &operator++()
    {
        return *this += __half2(__half(1.0f), __half(1.0f));
    }
    __host__ __device__ __half2 operator++(int)
    {
        __half2 old(*this);
        ++*this;
        return old;
    }
    __host__ __device__ __half2 &operator--()
    {
        return *this -= __half2(__half(1.0f), __half(1.0f));
    }
    __host__ __device__ __half2 operator--(int)
    {
        __half2 old(*this);
        --*this;
        return old;
    }
    __host__ __device__ __half2 operator+() const
    {
        return *this;
    }
    __host__ __device__ __half2 operator-() const
    {
        return __half2(-__pair());
    }
#define __HIP_HALF_BINARY(op)                                                                                \
    friend __host__ __device__ __half2 operator op(const __half2 &a, const __half2 &b)                       \
    {                                                                                                        \
        return __half2(a.__pair() op b.__pair());                                                            \
    }
// True when it holds for both elements.
#define __HIP_HALF_COMPARE(op)                                                                               \
    friend __host__ __device__ bool operator op(const __half2 &a, const __half2 &b)                          \
    {                                                                                                        \
        return a.__pair()[0] op b.__pair()[0] && a.__pair()[1] op b.__pair()[1];                             \
    }
    __HIP_HALF_BINARY(+)
    __HIP_HALF_BINARY(-)
    __HIP_HALF_BINARY(*)
    __HIP_HALF_BINARY(/)
    __HIP_HALF_COMPARE(==)
    __HIP_HALF_COMPARE(<)
    __HIP_HALF_COMPARE(>)
    __HIP_HALF_COMPARE(<=)
    __HIP_HALF_COMPARE(>=)
#undef __HIP_HALF_BINARY
#undef __HIP_HALF_COMPARE
    friend __host__ __device__ bool operator!=(const __half2 &a, const __half2 &b)
    {
        return a.__pair()[0] != b.__pair()[0] || a.__pair()[1] != b.__pair()[1];
    }
#endif
};
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

typedef __half half;
typedef __half2 half2;

static_assert(sizeof(__half) == 2 && alignof(__half) == 2, "__half is 16 bits");
static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4, "__half2 is one dword");

// Inside these headers: the value behind a __half, and the bits.
static __HIP_HD__ _Float16 __hip_f16(const __half &x)
{
    return static_cast<_Float16>(static_cast<__half_raw>(x).data);
}
static __HIP_HD__ unsigned short __hip_bits(const __half &x)
{
    return static_cast<__half_raw>(x).x;
}
static __HIP_HD__ __half __hip_half(unsigned short bits)
{
    __half_raw r;
    r.x = bits;
    return r;
}

// Rounding to half in a direction: nearest first, then to the neighbour if that went the other way.
// Everything up to 64 bits passes through double: what double cannot hold exactly is beyond the largest half
// anyway.
static __HIP_HD__ __half __hip_half_rd(double x)
{
    const __half nearest(static_cast<_Float16>(x));
    if (!(static_cast<double>(__hip_f16(nearest)) > x))
        return nearest;
    const unsigned short bits = __hip_bits(nearest);
    if ((bits & 0x7fff) == 0)
        return __hip_half(0x8001);
    return __hip_half(static_cast<unsigned short>(bits & 0x8000 ? bits + 1 : bits - 1));
}
static __HIP_HD__ __half __hip_half_ru(double x)
{
    return __hip_half(__hip_bits(__hip_half_rd(-x)) ^ 0x8000);
}
static __HIP_HD__ __half __hip_half_rz(double x)
{
    return x < 0 ? __hip_half_ru(x) : __hip_half_rd(x);
}

// Conversions from and to float and double.
static __HIP_HD__ __half __float2half(float x)
{
    return __half(static_cast<_Float16>(x));
}
static __HIP_HD__ __half __float2half_rn(float x)
{
    return __half(static_cast<_Float16>(x));
}
static __HIP_HD__ __half __float2half_rz(float x)
{
    return __hip_half_rz(static_cast<double>(x));
}
static __HIP_HD__ __half __float2half_rd(float x)
{
    return __hip_half_rd(static_cast<double>(x));
}
static __HIP_HD__ __half __float2half_ru(float x)
{
    return __hip_half_ru(static_cast<double>(x));
}
static __HIP_HD__ __half __double2half(double x)
{
    return __half(static_cast<_Float16>(x));
}
static __HIP_HD__ float __half2float(__half x)
{
    return static_cast<float>(__hip_f16(x));
}
static __HIP_HD__ __half2 __float2half2_rn(float x)
{
    return __half2(__float2half(x), __float2half(x));
}
static __HIP_HD__ __half2 __floats2half2_rn(float x, float y)
{
    return __half2(__float2half(x), __float2half(y));
}
static __HIP_HD__ __half2 __float22half2_rn(float2 x)
{
    return __half2(__float2half(x.x), __float2half(x.y));
}
static __HIP_HD__ float2 __half22float2(__half2 x)
{
    return make_float2(__half2float(x.x), __half2float(x.y));
}
static __HIP_HD__ float __low2float(__half2 x)
{
    return __half2float(x.x);
}
static __HIP_HD__ float __high2float(__half2 x)
{
    return __half2float(x.y);
}

// Conversions from and to integers.
static __HIP_HD__ signed char __half2char_rz(__half x)
{
    return static_cast<signed char>(__builtin_truncf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned char __half2uchar_rz(__half x)
{
    return static_cast<unsigned char>(__builtin_truncf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ short __half2short_rn(__half x)
{
    return static_cast<short>(__builtin_rintf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ short __half2short_rz(__half x)
{
    return static_cast<short>(__builtin_truncf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ short __half2short_rd(__half x)
{
    return static_cast<short>(__builtin_floorf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ short __half2short_ru(__half x)
{
    return static_cast<short>(__builtin_ceilf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ __half __short2half_rn(short x)
{
    return __half(static_cast<_Float16>(x));
}
static __HIP_HD__ __half __short2half_rz(short x)
{
    return __hip_half_rz(static_cast<double>(x));
}
static __HIP_HD__ __half __short2half_rd(short x)
{
    return __hip_half_rd(static_cast<double>(x));
}
static __HIP_HD__ __half __short2half_ru(short x)
{
    return __hip_half_ru(static_cast<double>(x));
}
static __HIP_HD__ unsigned short __half2ushort_rn(__half x)
{
    return static_cast<unsigned short>(__builtin_rintf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned short __half2ushort_rz(__half x)
{
    return static_cast<unsigned short>(__builtin_truncf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned short __half2ushort_rd(__half x)
{
    return static_cast<unsigned short>(__builtin_floorf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned short __half2ushort_ru(__half x)
{
    return static_cast<unsigned short>(__builtin_ceilf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ __half __ushort2half_rn(unsigned short x)
{
    return __half(static_cast<_Float16>(x));
}
static __HIP_HD__ __half __ushort2half_rz(unsigned short x)
{
    return __hip_half_rz(static_cast<double>(x));
}
static __HIP_HD__ __half __ushort2half_rd(unsigned short x)
{
    return __hip_half_rd(static_cast<double>(x));
}
static __HIP_HD__ __half __ushort2half_ru(unsigned short x)
{
    return __hip_half_ru(static_cast<double>(x));
}
static __HIP_HD__ int __half2int_rn(__half x)
{
    return static_cast<int>(__builtin_rintf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ int __half2int_rz(__half x)
{
    return static_cast<int>(__builtin_truncf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ int __half2int_rd(__half x)
{
    return static_cast<int>(__builtin_floorf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ int __half2int_ru(__half x)
{
    return static_cast<int>(__builtin_ceilf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ __half __int2half_rn(int x)
{
    return __half(static_cast<_Float16>(x));
}
static __HIP_HD__ __half __int2half_rz(int x)
{
    return __hip_half_rz(static_cast<double>(x));
}
static __HIP_HD__ __half __int2half_rd(int x)
{
    return __hip_half_rd(static_cast<double>(x));
}
static __HIP_HD__ __half __int2half_ru(int x)
{
    return __hip_half_ru(static_cast<double>(x));
}
static __HIP_HD__ unsigned int __half2uint_rn(__half x)
{
    return static_cast<unsigned int>(__builtin_rintf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned int __half2uint_rz(__half x)
{
    return static_cast<unsigned int>(__builtin_truncf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned int __half2uint_rd(__half x)
{
    return static_cast<unsigned int>(__builtin_floorf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned int __half2uint_ru(__half x)
{
    return static_cast<unsigned int>(__builtin_ceilf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ __half __uint2half_rn(unsigned int x)
{
    return __half(static_cast<_Float16>(x));
}
static __HIP_HD__ __half __uint2half_rz(unsigned int x)
{
    return __hip_half_rz(static_cast<double>(x));
}
static __HIP_HD__ __half __uint2half_rd(unsigned int x)
{
    return __hip_half_rd(static_cast<double>(x));
}
static __HIP_HD__ __half __uint2half_ru(unsigned int x)
{
    return __hip_half_ru(static_cast<double>(x));
}
static __HIP_HD__ long long __half2ll_rn(__half x)
{
    return static_cast<long long>(__builtin_rintf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ long long __half2ll_rz(__half x)
{
    return static_cast<long long>(__builtin_truncf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ long long __half2ll_rd(__half x)
{
    return static_cast<long long>(__builtin_floorf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ long long __half2ll_ru(__half x)
{
    return static_cast<long long>(__builtin_ceilf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ __half __ll2half_rn(long long x)
{
    return __half(static_cast<_Float16>(x));
}
static __HIP_HD__ __half __ll2half_rz(long long x)
{
    return __hip_half_rz(static_cast<double>(x));
}
static __HIP_HD__ __half __ll2half_rd(long long x)
{
    return __hip_half_rd(static_cast<double>(x));
}
static __HIP_HD__ __half __ll2half_ru(long long x)
{
    return __hip_half_ru(static_cast<double>(x));
}
static __HIP_HD__ unsigned long long __half2ull_rn(__half x)
{
    return static_cast<unsigned long long>(__builtin_rintf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned long long __half2ull_rz(__half x)
{
    return static_cast<unsigned long long>(__builtin_truncf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned long long __half2ull_rd(__half x)
{
    return static_cast<unsigned long long>(__builtin_floorf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ unsigned long long __half2ull_ru(__half x)
{
    return static_cast<unsigned long long>(__builtin_ceilf(static_cast<float>(__hip_f16(x))));
}
static __HIP_HD__ __half __ull2half_rn(unsigned long long x)
{
    return __half(static_cast<_Float16>(x));
}
static __HIP_HD__ __half __ull2half_rz(unsigned long long x)
{
    return __hip_half_rz(static_cast<double>(x));
}
static __HIP_HD__ __half __ull2half_rd(unsigned long long x)
{
    return __hip_half_rd(static_cast<double>(x));
}
static __HIP_HD__ __half __ull2half_ru(unsigned long long x)
{
    return __hip_half_ru(static_cast<double>(x));
}

// Reinterpretation of the bits.
static __HIP_HD__ short __half_as_short(__half x)
{
    return static_cast<short>(__hip_bits(x));
}
static __HIP_HD__ unsigned short __half_as_ushort(__half x)
{
    return __hip_bits(x);
}
static __HIP_HD__ __half __short_as_half(short x)
{
    return __hip_half(static_cast<unsigned short>(x));
}
static __HIP_HD__ __half __ushort_as_half(unsigned short x)
{
    return __hip_half(x);
}

// Taking pairs apart and putting them together.
static __HIP_HD__ __half2 __half2half2(__half x)
{
    return __half2(x, x);
}
static __HIP_HD__ __half2 __halves2half2(__half x, __half y)
{
    return __half2(x, y);
}
static __HIP_HD__ __half2 make_half2(__half x, __half y)
{
    return __half2(x, y);
}
static __HIP_HD__ __half2 __low2half2(__half2 x)
{
    return __half2(x.x, x.x);
}
static __HIP_HD__ __half2 __high2half2(__half2 x)
{
    return __half2(x.y, x.y);
}
static __HIP_HD__ __half2 __lows2half2(__half2 x, __half2 y)
{
    return __half2(x.x, y.x);
}
static __HIP_HD__ __half2 __highs2half2(__half2 x, __half2 y)
{
    return __half2(x.y, y.y);
}
static __HIP_HD__ __half2 __lowhigh2highlow(__half2 x)
{
    return __half2(x.y, x.x);
}
static __HIP_HD__ __half __low2half(__half2 x)
{
    return x.x;
}
static __HIP_HD__ __half __high2half(__half2 x)
{
    return x.y;
}

#undef __HIP_HD__

#include <hip/amd_detail/amd_hip_fp16_functions.h>

#else
// C: storage only.
typedef struct __half_raw {
    unsigned short x;
} __half_raw;
typedef __half_raw __half;
typedef struct __half2_raw {
    unsigned short x;
    unsigned short y;
} __half2_raw;
typedef __half2_raw __half2;
#endif

#endif
