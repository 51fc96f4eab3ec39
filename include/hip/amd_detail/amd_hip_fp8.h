// SPDX-License-Identifier: MIT
// 8-bit floating point: E4M3 and E5M2, each as the Open Compute Project defines it and in the FNUZ form
// (finite, NaN, unsigned zero) that gfx942 computes in. The device converts FNUZ by instruction; everything
// else, and the host, by the integer code below, which gives the same answers.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_FP8_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_FP8_H

#include <hip/hip_common.h>
#include <hip/amd_detail/host_defines.h>
#include <hip/amd_detail/amd_hip_fp16.h>
#include <hip/amd_detail/amd_hip_bf16.h>

#if defined(__cplusplus)

// Which forms the device has instructions for.
#if __HIP_DEVICE_PASS__ && (defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__))
#define HIP_FP8_CVT_FAST_PATH 1
#define HIP_FP8_TYPE_OCP      0
#define HIP_FP8_TYPE_FNUZ     1
#elif __HIP_DEVICE_PASS__
#define HIP_FP8_CVT_FAST_PATH 0
#define HIP_FP8_TYPE_OCP      1
#define HIP_FP8_TYPE_FNUZ     0
#else
#define HIP_FP8_CVT_FAST_PATH 0
#define HIP_FP8_TYPE_OCP      1
#define HIP_FP8_TYPE_FNUZ     1
#endif

#define __HIP_HD__ __host__ __device__ inline

enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
enum __hip_fp8_interpretation_t { __HIP_E4M3 = 0, __HIP_E5M2 = 1, __HIP_E4M3_FNUZ = 2, __HIP_E5M2_FNUZ = 3 };
typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short int __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;

struct __hip_fp8_format {
    int mantissa;         // bits
    int bias;             // of the exponent
    unsigned int largest; // code of the largest finite value
    unsigned int beyond;  // code of what is larger: infinity, or NaN where there is no infinity
    unsigned int nan;
    bool fnuz;
};
static constexpr __HIP_HD__ __hip_fp8_format __hip_fp8_format_of(__hip_fp8_interpretation_t i)
{
    return i == __HIP_E4M3        ? __hip_fp8_format{3, 7, 0x7e, 0x7f, 0x7f, false}
           : i == __HIP_E5M2      ? __hip_fp8_format{2, 15, 0x7b, 0x7c, 0x7f, false}
           : i == __HIP_E4M3_FNUZ ? __hip_fp8_format{3, 8, 0x7f, 0x80, 0x80, true}
                                  : __hip_fp8_format{2, 16, 0x7f, 0x80, 0x80, true};
}

// Round to nearest even, then saturate or overflow. In the FNUZ forms infinity is NaN even when saturating,
// as the device's clamp leaves it alone.
static __HIP_HD__ __hip_fp8_storage_t __hip_fp8_encode(float x, __hip_saturation_t saturation,
                                                       __hip_fp8_interpretation_t interpretation)
{
    const __hip_fp8_format f = __hip_fp8_format_of(interpretation);
    const unsigned int bits = __hip_float_bits(x), magnitude = bits & 0x7fffffffu;
    const unsigned int sign = bits >> 24 & 0x80u;
    if (magnitude > 0x7f800000u)
        return static_cast<__hip_fp8_storage_t>(f.fnuz ? f.nan : f.nan | sign);
    if (magnitude == 0x7f800000u) {
        if (f.fnuz)
            return static_cast<__hip_fp8_storage_t>(f.nan);
        return static_cast<__hip_fp8_storage_t>((saturation == __HIP_SATFINITE ? f.largest : f.beyond) |
                                                sign);
    }
    int exponent = static_cast<int>(magnitude >> 23) - 127 + f.bias;
    int shift = 23 - f.mantissa;
    if (exponent < 1) {
        shift += 1 - exponent; // a denormal: the point stays where it is for the smallest exponent
        exponent = 0;
    }
    unsigned int code = 0;
    if (shift <= 24) {
        const unsigned int m = (magnitude & 0x7fffffu) | 0x800000u;
        unsigned int kept = m >> shift;
        const unsigned int cut = m & ((1u << shift) - 1), half = 1u << (shift - 1);
        if (cut > half || (cut == half && (kept & 1)))
            kept++;
        // A carry out of the mantissa goes into the exponent by itself.
        code = exponent == 0
                   ? kept
                   : (static_cast<unsigned int>(exponent) << f.mantissa) + kept - (1u << f.mantissa);
    }
    if (code > f.largest) {
        if (saturation != __HIP_SATFINITE)
            return static_cast<__hip_fp8_storage_t>(f.fnuz ? f.beyond : f.beyond | sign);
        code = f.largest;
    }
    return static_cast<__hip_fp8_storage_t>(f.fnuz && code == 0 ? 0 : code | sign);
}
static __HIP_HD__ float __hip_fp8_decode(__hip_fp8_storage_t code, __hip_fp8_interpretation_t interpretation)
{
    const __hip_fp8_format f = __hip_fp8_format_of(interpretation);
    const unsigned int sign = (code & 0x80u) << 24, magnitude = code & 0x7fu;
    if (f.fnuz ? code == 0x80 : magnitude > f.largest) {
        const bool infinite = interpretation == __HIP_E5M2 && magnitude == f.beyond;
        return __hip_bits_float(sign | (infinite ? 0x7f800000u : 0x7fc00000u));
    }
    const unsigned int exponent = magnitude >> f.mantissa, m = magnitude & ((1u << f.mantissa) - 1);
    if (exponent == 0) {
        // m units of the smallest denormal, a power of two that float holds
        const float unit = __hip_bits_float(static_cast<unsigned int>(1 - f.bias - f.mantissa + 127) << 23);
        const float value = static_cast<float>(m) * unit;
        return sign ? -value : value;
    }
    return __hip_bits_float(sign | (exponent - static_cast<unsigned int>(f.bias) + 127u) << 23 |
                            m << (23 - f.mantissa));
}

static __HIP_HD__ __hip_fp8_storage_t __hip_cvt_float_to_fp8(const float f, const __hip_saturation_t sat,
                                                             const __hip_fp8_interpretation_t type)
{
#if HIP_FP8_CVT_FAST_PATH
    if (type == __HIP_E4M3_FNUZ || type == __HIP_E5M2_FNUZ) {
        float v = f;
        if (sat == __HIP_SATFINITE && __builtin_fabsf(v) < __builtin_inff()) {
            const float largest = type == __HIP_E4M3_FNUZ ? 240.0f : 57344.0f;
            v = __builtin_amdgcn_fmed3f(v, -largest, largest);
        }
        return static_cast<__hip_fp8_storage_t>(type == __HIP_E4M3_FNUZ
                                                    ? __builtin_amdgcn_cvt_pk_fp8_f32(v, v, 0, false)
                                                    : __builtin_amdgcn_cvt_pk_bf8_f32(v, v, 0, false));
    }
#endif
    return __hip_fp8_encode(f, sat, type);
}
static __HIP_HD__ float __hip_cvt_fp8_to_float(const __hip_fp8_storage_t x,
                                               const __hip_fp8_interpretation_t type)
{
#if HIP_FP8_CVT_FAST_PATH
    if (type == __HIP_E4M3_FNUZ)
        return __builtin_amdgcn_cvt_f32_fp8(x, 0);
    if (type == __HIP_E5M2_FNUZ)
        return __builtin_amdgcn_cvt_f32_bf8(x, 0);
#endif
    return __hip_fp8_decode(x, type);
}

// From and to the other formats. Every value of half and bfloat16 is a float; double goes by way of a float
// rounded to odd, so that the rounding to 8 bits is the only one that counts.
static __HIP_HD__ __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(const float2 f2,
                                                                  const __hip_saturation_t sat,
                                                                  const __hip_fp8_interpretation_t type)
{
    return static_cast<__hip_fp8x2_storage_t>(__hip_cvt_float_to_fp8(f2.x, sat, type) |
                                              __hip_cvt_float_to_fp8(f2.y, sat, type) << 8);
}
static __HIP_HD__ __hip_fp8_storage_t __hip_cvt_double_to_fp8(const double d, const __hip_saturation_t sat,
                                                              const __hip_fp8_interpretation_t type)
{
    return __hip_cvt_float_to_fp8(__hip_double_to_odd(d), sat, type);
}
static __HIP_HD__ __hip_fp8x2_storage_t __hip_cvt_double2_to_fp8x2(const double2 d2,
                                                                   const __hip_saturation_t sat,
                                                                   const __hip_fp8_interpretation_t type)
{
    return static_cast<__hip_fp8x2_storage_t>(__hip_cvt_double_to_fp8(d2.x, sat, type) |
                                              __hip_cvt_double_to_fp8(d2.y, sat, type) << 8);
}
static __HIP_HD__ __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(const __half_raw x,
                                                               const __hip_saturation_t sat,
                                                               const __hip_fp8_interpretation_t type)
{
    return __hip_cvt_float_to_fp8(static_cast<float>(x.data), sat, type);
}
static __HIP_HD__ __hip_fp8x2_storage_t __hip_cvt_halfraw2_to_fp8x2(const __half2_raw x,
                                                                    const __hip_saturation_t sat,
                                                                    const __hip_fp8_interpretation_t type)
{
    return __hip_cvt_float2_to_fp8x2(
        make_float2(static_cast<float>(x.data[0]), static_cast<float>(x.data[1])), sat, type);
}
static __HIP_HD__ __hip_fp8_storage_t __hip_cvt_bfloat16raw_to_fp8(const __hip_bfloat16_raw x,
                                                                   const __hip_saturation_t sat,
                                                                   const __hip_fp8_interpretation_t type)
{
    return __hip_cvt_float_to_fp8(static_cast<float>(__hip_bfloat16(x)), sat, type);
}
static __HIP_HD__ __hip_fp8x2_storage_t __hip_cvt_bfloat16raw2_to_fp8x2(const __hip_bfloat162_raw x,
                                                                        const __hip_saturation_t sat,
                                                                        const __hip_fp8_interpretation_t type)
{
    return __hip_cvt_float2_to_fp8x2(__bfloat1622float2(__hip_bfloat162(x)), sat, type);
}
static __HIP_HD__ __half_raw __hip_cvt_fp8_to_halfraw(const __hip_fp8_storage_t x,
                                                      const __hip_fp8_interpretation_t type)
{
    return __float2half(__hip_cvt_fp8_to_float(x, type));
}
static __HIP_HD__ __half2_raw __hip_cvt_fp8x2_to_halfraw2(const __hip_fp8x2_storage_t x,
                                                          const __hip_fp8_interpretation_t type)
{
    return __floats2half2_rn(__hip_cvt_fp8_to_float(static_cast<__hip_fp8_storage_t>(x), type),
                             __hip_cvt_fp8_to_float(static_cast<__hip_fp8_storage_t>(x >> 8), type));
}

template <__hip_fp8_interpretation_t kind> struct __hip_fp8_one {
    __hip_fp8_storage_t __x;
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
    static constexpr __hip_fp8_interpretation_t __default_interpret = kind;

    __hip_fp8_one() = default;
    __host__ __device__ __hip_fp8_one(float f) : __x(__hip_cvt_float_to_fp8(f, __HIP_SATFINITE, kind))
    {
    }
    __host__ __device__ __hip_fp8_one(double d) : __x(__hip_cvt_double_to_fp8(d, __HIP_SATFINITE, kind))
    {
    }
    template <typename T,
              typename __hip_internal::enable_if<__hip_internal::is_integral<T>::value, int>::type = 0>
    __host__ __device__ __hip_fp8_one(T i) : __hip_fp8_one(static_cast<double>(i))
    {
    }
    __host__ __device__ __hip_fp8_one(const __half &h)
        : __x(__hip_cvt_halfraw_to_fp8(static_cast<__half_raw>(h), __HIP_SATFINITE, kind))
    {
    }
    __host__ __device__ __hip_fp8_one(const __hip_bfloat16 &b)
        : __x(__hip_cvt_bfloat16raw_to_fp8(static_cast<__hip_bfloat16_raw>(b), __HIP_SATFINITE, kind))
    {
    }
    __host__ __device__ operator float() const
    {
        return __hip_cvt_fp8_to_float(__x, kind);
    }
    explicit __host__ __device__ operator double() const
    {
        return static_cast<double>(static_cast<float>(*this));
    }
    explicit __host__ __device__ operator __half() const
    {
        return __half(static_cast<float>(*this));
    }
    explicit __host__ __device__ operator __hip_bfloat16() const
    {
        return __hip_bfloat16(static_cast<float>(*this));
    }
    template <typename T,
              typename __hip_internal::enable_if<__hip_internal::is_integral<T>::value, int>::type = 0>
    explicit __host__ __device__ operator T() const
    {
        return static_cast<T>(static_cast<float>(*this));
    }
};

template <__hip_fp8_interpretation_t kind> struct __hip_fp8_two {
    __hip_fp8x2_storage_t __x;
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
    static constexpr __hip_fp8_interpretation_t __default_interpret = kind;

    __hip_fp8_two() = default;
    __host__ __device__ __hip_fp8_two(const float2 &v)
        : __x(__hip_cvt_float2_to_fp8x2(v, __HIP_SATFINITE, kind))
    {
    }
    __host__ __device__ __hip_fp8_two(const double2 &v)
        : __x(__hip_cvt_double2_to_fp8x2(v, __HIP_SATFINITE, kind))
    {
    }
    __host__ __device__ __hip_fp8_two(const __half2 &v)
        : __x(__hip_cvt_halfraw2_to_fp8x2(static_cast<__half2_raw>(v), __HIP_SATFINITE, kind))
    {
    }
    __host__ __device__ __hip_fp8_two(const __hip_bfloat162 &v)
        : __x(__hip_cvt_bfloat16raw2_to_fp8x2(static_cast<__hip_bfloat162_raw>(v), __HIP_SATFINITE, kind))
    {
    }
    __host__ __device__ operator float2() const
    {
        return make_float2(__hip_cvt_fp8_to_float(static_cast<__hip_fp8_storage_t>(__x), kind),
                           __hip_cvt_fp8_to_float(static_cast<__hip_fp8_storage_t>(__x >> 8), kind));
    }
    explicit __host__ __device__ operator __half2() const
    {
        return __half2(__hip_cvt_fp8x2_to_halfraw2(__x, kind));
    }
    explicit __host__ __device__ operator __hip_bfloat162() const
    {
        return __hip_bfloat162(static_cast<float2>(*this));
    }
};

template <__hip_fp8_interpretation_t kind> struct __hip_fp8_four {
    __hip_fp8x4_storage_t __x;
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
    static constexpr __hip_fp8_interpretation_t __default_interpret = kind;

    __hip_fp8_four() = default;
    __host__ __device__ __hip_fp8_four(const float4 &v)
        : __x(static_cast<__hip_fp8x4_storage_t>(
                  __hip_cvt_float2_to_fp8x2(make_float2(v.x, v.y), __HIP_SATFINITE, kind)) |
              static_cast<__hip_fp8x4_storage_t>(
                  __hip_cvt_float2_to_fp8x2(make_float2(v.z, v.w), __HIP_SATFINITE, kind))
                  << 16)
    {
    }
    __host__ __device__ __hip_fp8_four(const double4 &v)
        : __x(static_cast<__hip_fp8x4_storage_t>(
                  __hip_cvt_double2_to_fp8x2(make_double2(v.x, v.y), __HIP_SATFINITE, kind)) |
              static_cast<__hip_fp8x4_storage_t>(
                  __hip_cvt_double2_to_fp8x2(make_double2(v.z, v.w), __HIP_SATFINITE, kind))
                  << 16)
    {
    }
    __host__ __device__ __hip_fp8_four(const __half2 &low, const __half2 &high)
        : __x(static_cast<__hip_fp8x4_storage_t>(__hip_fp8_two<kind>(low).__x) |
              static_cast<__hip_fp8x4_storage_t>(__hip_fp8_two<kind>(high).__x) << 16)
    {
    }
    __host__ __device__ __hip_fp8_four(const __hip_bfloat162 &low, const __hip_bfloat162 &high)
        : __x(static_cast<__hip_fp8x4_storage_t>(__hip_fp8_two<kind>(low).__x) |
              static_cast<__hip_fp8x4_storage_t>(__hip_fp8_two<kind>(high).__x) << 16)
    {
    }
    __host__ __device__ operator float4() const
    {
        return make_float4(__hip_cvt_fp8_to_float(static_cast<__hip_fp8_storage_t>(__x), kind),
                           __hip_cvt_fp8_to_float(static_cast<__hip_fp8_storage_t>(__x >> 8), kind),
                           __hip_cvt_fp8_to_float(static_cast<__hip_fp8_storage_t>(__x >> 16), kind),
                           __hip_cvt_fp8_to_float(static_cast<__hip_fp8_storage_t>(__x >> 24), kind));
    }
};

#define __HIP_FP8_TYPES(name, kind)                                                                          \
    struct __hip_fp8_##name : __hip_fp8_one<kind> {                                                          \
        using __hip_fp8_one<kind>::__hip_fp8_one;                                                            \
        __hip_fp8_##name() = default;                                                                        \
    };                                                                                                       \
    struct __hip_fp8x2_##name : __hip_fp8_two<kind> {                                                        \
        using __hip_fp8_two<kind>::__hip_fp8_two;                                                            \
        __hip_fp8x2_##name() = default;                                                                      \
    };                                                                                                       \
    struct __hip_fp8x4_##name : __hip_fp8_four<kind> {                                                       \
        using __hip_fp8_four<kind>::__hip_fp8_four;                                                          \
        __hip_fp8x4_##name() = default;                                                                      \
    };
__HIP_FP8_TYPES(e4m3, __HIP_E4M3)
__HIP_FP8_TYPES(e5m2, __HIP_E5M2)
__HIP_FP8_TYPES(e4m3_fnuz, __HIP_E4M3_FNUZ)
__HIP_FP8_TYPES(e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef __HIP_FP8_TYPES

static_assert(sizeof(__hip_fp8_e4m3_fnuz) == 1 && sizeof(__hip_fp8x2_e4m3_fnuz) == 2 &&
                  sizeof(__hip_fp8x4_e4m3_fnuz) == 4,
              "8 bits an element");

#undef __HIP_HD__

#endif

#endif
