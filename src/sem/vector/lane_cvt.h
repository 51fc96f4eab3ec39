/* SPDX-License-Identifier: MIT */
/*
 * Conversions between number formats.  To integers they truncate and saturate,
 * and a NaN gives 0.  Those to floats round as the host does, which the
 * handlers set from MODE.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 12, v_cvt_*.
 */
#ifndef EHP_SEM_VECTOR_LANE_CVT_H
#define EHP_SEM_VECTOR_LANE_CVT_H

#include "base/float.h"
#include "sem/vector/lane_int.h"

/* ---- to integers ---- */

LANE uint32_t f32_to_i32(float a)
{
    const float low = a > -0x1p31f ? a : -0x1p31f; /* also for a NaN */
    const uint32_t r = low < 0x1p31f ? (uint32_t)(int32_t)low : 0x7fffffffu;
    return a == a ? r : 0;
}

LANE uint32_t f32_to_u32(float a)
{
    const float low = a > 0.0f ? a : 0.0f;
    /* Halves, since hosts before AVX-512 convert only to signed integers. */
    const bool high = low >= 0x1p31f;
    const float half = high ? low - 0x1p31f : low;
    const uint32_t r = half < 0x1p31f ? (uint32_t)(int32_t)half ^ (high ? 0x80000000u : 0) : ~0u;
    return r;
}

LANE uint32_t f64_to_i32(double a)
{
    const double low = a > -0x1p31 ? a : -0x1p31;
    const double in = low < 2147483647.0 ? low : 2147483647.0;
    const uint32_t r = (uint32_t)(int32_t)in;
    return a == a ? r : 0;
}

LANE uint32_t f64_to_u32(double a)
{
    const double low = a > 0.0 ? a : 0.0;
    const double in = low < 4294967295.0 ? low : 4294967295.0;
    /* In [-2^31, 2^31) by an offset that truncation does not see: both are whole. */
    const double whole = __builtin_trunc(in);
    return (uint32_t)(int32_t)(whole - 0x1p31) ^ 0x80000000u;
}

LANE uint32_t f32_to_i32_floor(float a)
{
    return f32_to_i32(__builtin_floorf(a));
}

LANE uint32_t f32_to_i32_rpi(float a)
{
    return f32_to_i32(__builtin_floorf(a + 0.5f));
}

LANE uint32_t f16_to_i16(uint16_t a)
{
    return i32_clamp_i16(f32_to_i32(f16_to_f32(a)));
}

LANE uint32_t f16_to_u16(uint16_t a)
{
    return u32_min(f32_to_u32(f16_to_f32(a)), 65535);
}

/* ---- normalised integers: [-1, 1] and [0, 1] in full scale, to nearest ---- */

LANE uint32_t f32_to_snorm16(float a)
{
    const float low = a > -1.0f ? a : -1.0f, in = low < 1.0f ? low : 1.0f;
    const uint32_t r = (uint32_t)(int32_t)__builtin_rintf(in * 32767.0f) & 0xffff;
    return a == a ? r : 0;
}

LANE uint32_t f32_to_unorm16(float a)
{
    const float low = a > 0.0f ? a : 0.0f, in = low < 1.0f ? low : 1.0f;
    return (uint32_t)(int32_t)__builtin_rintf(in * 65535.0f);
}

LANE uint32_t f16_to_snorm16(uint16_t a)
{
    return f32_to_snorm16(f16_to_f32(a));
}

LANE uint32_t f16_to_unorm16(uint16_t a)
{
    return f32_to_unorm16(f16_to_f32(a));
}

LANE uint32_t f32_pk_snorm16(float a, float b)
{
    return f32_to_snorm16(a) | f32_to_snorm16(b) << 16;
}

LANE uint32_t f32_pk_unorm16(float a, float b)
{
    return f32_to_unorm16(a) | f32_to_unorm16(b) << 16;
}

LANE uint32_t f16_pk_snorm16(uint16_t a, uint16_t b)
{
    return f16_to_snorm16(a) | f16_to_snorm16(b) << 16;
}

LANE uint32_t f16_pk_unorm16(uint16_t a, uint16_t b)
{
    return f16_to_unorm16(a) | f16_to_unorm16(b) << 16;
}

LANE uint32_t f32_to_u8(float a)
{
    const float low = a > 0.0f ? a : 0.0f, in = low < 255.0f ? low : 255.0f;
    return (uint32_t)(int32_t)in;
}

/* Byte b of c becomes a. */
LANE uint32_t f32_cvt_pk_u8(float a, uint32_t b, uint32_t c)
{
    const uint32_t shift = (b & 3) * 8;
    return (c & ~(0xffu << shift)) | f32_to_u8(a) << shift;
}

/* ---- to floats ---- */

LANE float i32_to_f32(uint32_t a)
{
    return (float)(int32_t)a;
}

LANE float u32_to_f32(uint32_t a)
{
    return (float)a;
}

LANE double i32_to_f64(uint32_t a)
{
    return (double)(int32_t)a;
}

LANE double u32_to_f64(uint32_t a)
{
    return (double)(int32_t)(a ^ 0x80000000u) + 0x1p31;
}

LANE float u8_to_f32_0(uint32_t a)
{
    return (float)(int32_t)(a & 0xff);
}

LANE float u8_to_f32_1(uint32_t a)
{
    return (float)(int32_t)(a >> 8 & 0xff);
}

LANE float u8_to_f32_2(uint32_t a)
{
    return (float)(int32_t)(a >> 16 & 0xff);
}

LANE float u8_to_f32_3(uint32_t a)
{
    return (float)(int32_t)(a >> 24);
}

/* Sixteenths from -8/16 to 7/16: where a sample lies in a pixel. */
LANE float i4_to_f32_offset(uint32_t a)
{
    return (float)((int32_t)(a << 28) >> 28) * 0.0625f;
}

LANE float f64_to_f32(double a)
{
    return (float)a;
}

LANE double f32_to_f64(float a)
{
    return (double)a;
}

/* Toward zero, whatever MODE says; too large a number gives the largest. */
LANE uint32_t f32_to_f16_rtz(uint32_t a)
{
    const uint32_t sign = a >> 16 & 0x8000u, mag = a & 0x7fffffffu;
    const uint32_t normal = u32_min((mag - 0x38000000u) >> 13, 0x7bffu);
    const uint32_t shift = u32_min(126 - (mag >> 23), 31); /* a denormal f16's unit is 2^-24 */
    const uint32_t denormal = ((mag & 0x7fffffu) | 0x800000u) >> (shift & 31);
    const uint32_t finite = mag < 0x38800000u ? denormal : normal;
    const uint32_t special = mag > 0x7f800000u ? 0x7e00u | (mag >> 13 & 0x3ffu) : 0x7c00u;
    return sign | (mag >= 0x7f800000u ? special : finite);
}

LANE uint32_t f32_pk_f16_rtz(uint32_t a, uint32_t b)
{
    return f32_to_f16_rtz(a) | f32_to_f16_rtz(b) << 16;
}

/* ---- 8-bit floats ---- */

LANE float fp8_cvt_f32(uint32_t a)
{
    return fp8_to_f32((uint8_t)a);
}

LANE float bf8_cvt_f32(uint32_t a)
{
    return bf8_to_f32((uint8_t)a);
}

LANE uint64_t fp8_pk_f32(uint32_t a)
{
    return f32_bits(fp8_to_f32((uint8_t)a)) | (uint64_t)f32_bits(fp8_to_f32((uint8_t)(a >> 8))) << 32;
}

LANE uint64_t bf8_pk_f32(uint32_t a)
{
    return f32_bits(bf8_to_f32((uint8_t)a)) | (uint64_t)f32_bits(bf8_to_f32((uint8_t)(a >> 8))) << 32;
}

/*
 * Stochastic rounding: random bits are added to those that go away, then these
 * are cut off.  Only as many random bits count as an f32 has more of mantissa,
 * from the top of `random`.
 */
LANE uint32_t fnuz_from_f32_random(uint32_t a, uint32_t random, int mantissa_bits, int bias, bool saturate)
{
    const uint32_t mag = a & 0x7fffffffu;
    if (mag >= 0x7f800000u)
        return 0x80;
    if (mag < 0x00800000u)
        return 0;
    const int drop = 23 - mantissa_bits, exponent = (int)(mag >> 23) - 127, least = 1 - bias;
    const int lost = exponent < least ? least - exponent : 0;
    if (lost > 24)
        return 0;
    const uint32_t mantissa = ((mag & 0x7fffffu) | 0x800000u) >> lost;
    const uint32_t q = (mantissa + (random >> (32 - drop))) >> drop;
    uint32_t code = ((uint32_t)(lost ? 0 : exponent - least) << mantissa_bits) + q;
    if (code > 0x7f) {
        if (!saturate)
            return 0x80;
        code = 0x7f;
    }
    return code ? code | (a >> 24 & 0x80) : 0;
}

#endif
