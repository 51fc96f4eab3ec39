// SPDX-License-Identifier: MIT
// hip_bfloat16: a plain 16-bit structure with float arithmetic, as the ROCm libraries pass it about.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_BFLOAT16_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_BFLOAT16_H

#include <hip/hip_common.h>
#include <hip/amd_detail/host_defines.h>

#if !defined(__HIPCC_RTC__)
#include <stdint.h>
#endif

#if !defined(__cplusplus)
typedef struct {
    uint16_t data;
} hip_bfloat16;
#else

#include <hip/amd_detail/amd_hip_bf16.h>

struct hip_bfloat16 {
    unsigned short data;

    enum truncate_t { truncate };

    hip_bfloat16() = default;
    explicit __host__ __device__ hip_bfloat16(float f) : data(__hip_bf16_nearest(f))
    {
    }
    explicit __host__ __device__ hip_bfloat16(float f, truncate_t) : data(__hip_bf16_cut(f, false, false))
    {
    }
    __host__ __device__ operator float() const
    {
        return __hip_bits_float(static_cast<unsigned int>(data) << 16);
    }
    __host__ __device__ hip_bfloat16 &operator=(const float &f)
    {
        data = __hip_bf16_nearest(f);
        return *this;
    }
    static __host__ __device__ hip_bfloat16 round_to_bfloat16(float f)
    {
        return hip_bfloat16(f);
    }
    static __host__ __device__ hip_bfloat16 round_to_bfloat16(float f, truncate_t)
    {
        return hip_bfloat16(f, truncate);
    }
};
static_assert(sizeof(hip_bfloat16) == 2, "hip_bfloat16 is 16 bits");

#define __HIP_BFLOAT16_ARITHMETIC(op)                                                                        \
    inline __host__ __device__ hip_bfloat16 operator op(hip_bfloat16 a, hip_bfloat16 b)                      \
    {                                                                                                        \
        return hip_bfloat16(static_cast<float>(a) op static_cast<float>(b));                                 \
    }                                                                                                        \
    inline __host__ __device__ hip_bfloat16 &operator op## = (hip_bfloat16 & a, hip_bfloat16 b)              \
    {                                                                                                        \
        return a = a op b;                                                                                   \
    }
#define __HIP_BFLOAT16_COMPARE(op)                                                                           \
    inline __host__ __device__ bool operator op(hip_bfloat16 a, hip_bfloat16 b)                              \
    {                                                                                                        \
        return static_cast<float>(a) op static_cast<float>(b);                                               \
    }
__HIP_BFLOAT16_ARITHMETIC(+)
__HIP_BFLOAT16_ARITHMETIC(-)
__HIP_BFLOAT16_ARITHMETIC(*)
__HIP_BFLOAT16_ARITHMETIC(/)
__HIP_BFLOAT16_COMPARE(==)
__HIP_BFLOAT16_COMPARE(!=)
__HIP_BFLOAT16_COMPARE(<)
__HIP_BFLOAT16_COMPARE(>)
__HIP_BFLOAT16_COMPARE(<=)
__HIP_BFLOAT16_COMPARE(>=)
#undef __HIP_BFLOAT16_ARITHMETIC
#undef __HIP_BFLOAT16_COMPARE

inline __host__ __device__ hip_bfloat16 operator+(hip_bfloat16 a)
{
    return a;
}
inline __host__ __device__ hip_bfloat16 operator-(hip_bfloat16 a)
{
    a.data ^= 0x8000;
    return a;
}
inline __host__ __device__ hip_bfloat16 &operator++(hip_bfloat16 &a)
{
    return a = hip_bfloat16(static_cast<float>(a) + 1.0f);
}
inline __host__ __device__ hip_bfloat16 &operator--(hip_bfloat16 &a)
{
    return a = hip_bfloat16(static_cast<float>(a) - 1.0f);
}
inline __host__ __device__ hip_bfloat16 operator++(hip_bfloat16 &a, int)
{
    const hip_bfloat16 old = a;
    ++a;
    return old;
}
inline __host__ __device__ hip_bfloat16 operator--(hip_bfloat16 &a, int)
{
    const hip_bfloat16 old = a;
    --a;
    return old;
}

#if !defined(__HIPCC_RTC__)
namespace std
{
constexpr __host__ __device__ bool isinf(hip_bfloat16 a)
{
    return (a.data & 0x7fff) == 0x7f80;
}
constexpr __host__ __device__ bool isnan(hip_bfloat16 a)
{
    return (a.data & 0x7fff) > 0x7f80;
}
constexpr __host__ __device__ bool iszero(hip_bfloat16 a)
{
    return (a.data & 0x7fff) == 0;
}
} // namespace std
#endif

#endif

#endif
