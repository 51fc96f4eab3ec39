/* SPDX-License-Identifier: MIT */
/*
 * Conversions between f32/f64 and the narrow float formats of gfx942: f16
 * (IEEE binary16), bf16, and the two 8-bit formats, which are "FNUZ": no
 * infinity, no negative zero, one NaN (0x80).
 *
 *            exponent  mantissa  bias  largest
 *   fp8          4         3       8      240
 *   bf8          5         2      16    57344
 *
 * All are pure functions on bit patterns and need no MXCSR or MODE: rounding is
 * an argument or round-to-nearest-even, denormals are kept.  Loops over them
 * vectorise, except where a comment says otherwise.
 *
 * Source: "AMD Instinct MI300 ISA", chapters 2 (data types) and 12 (v_cvt_*).
 */
#ifndef EHP_BASE_MINIFLOAT_H
#define EHP_BASE_MINIFLOAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* As the fields of MODE have them. */
enum float_round { ROUND_EVEN, ROUND_UP, ROUND_DOWN, ROUND_ZERO };

static inline uint32_t f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline float f32_from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof(f));
    return f;
}

static inline uint64_t f64_bits(double f)
{
    uint64_t u;
    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline double f64_from_bits(uint64_t u)
{
    double f;
    memcpy(&f, &u, sizeof(f));
    return f;
}

/* Exact; a signalling NaN becomes quiet. */
static inline float f16_to_f32(uint16_t h)
{
    uint32_t magnitude = h & 0x7fffu;
    uint32_t normal = (magnitude << 13) + (112u << 23), denormal = f32_bits((float)(int)magnitude * 0x1p-24f);
    uint32_t finite = magnitude < 0x400 ? denormal : normal;
    uint32_t special = magnitude << 13 | 0x7f800000u | (magnitude > 0x7c00 ? 0x400000u : 0);
    return f32_from_bits((magnitude >= 0x7c00 ? special : finite) | (uint32_t)(h & 0x8000) << 16);
}

/* Round to nearest even; overflow gives infinity; a NaN keeps the top of its payload and is quiet. */
static inline uint16_t f16_from_f32(float f)
{
    uint32_t bits = f32_bits(f), magnitude = bits & 0x7fffffffu;
    /* Adding 0.5 leaves a denormal f16's 10 bits, rounded, at the bottom of the sum. */
    uint32_t denormal = f32_bits(f32_from_bits(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x3ff);
    uint32_t r = magnitude < 0x38800000u ? denormal : normal;
    r = magnitude >= 0x477ff000u ? 0x7c00u : r;
    r = magnitude > 0x7f800000u ? nan : r;
    return (uint16_t)(r | (bits >> 16 & 0x8000u));
}

/*
 * Rounds a value to f16 in any mode.  f64 holds the sum, difference and product
 * of two f16 exactly.  Not vectorised.
 */
static inline uint16_t f16_from_f64(double f, enum float_round round)
{
    uint64_t bits = f64_bits(f);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t mantissa = bits & 0xfffffffffffffull;
    if (exponent == 1024)
        return sign | (mantissa ? 0x7e00 | (uint16_t)(mantissa >> 42) : 0x7c00);
    if ((bits & 0x7fffffffffffffffull) == 0)
        return sign;
    mantissa |= 1ull << 52;
    int kept = exponent < -14 ? -14 : exponent, shift = 42 + (kept - exponent);
    bool away = round == ROUND_UP ? !sign : round == ROUND_DOWN ? sign != 0 : false;
    uint64_t q = 0, rest = 1, half = 2; /* below the smallest denormal's half */
    if (shift < 54) {
        q = mantissa >> shift;
        rest = mantissa & ((1ull << shift) - 1);
        half = 1ull << (shift - 1);
    }
    if (round == ROUND_EVEN ? rest > half || (rest == half && (q & 1)) : away && rest)
        q++;
    uint64_t code = (kept > 15 ? 0x7c00u : (uint64_t)(kept + 14) << 10) + q;
    if (code >= 0x7c00)
        code = round == ROUND_EVEN || away ? 0x7c00 : 0x7bff;
    return sign | (uint16_t)code;
}

static inline float bf16_to_f32(uint16_t h)
{
    return f32_from_bits((uint32_t)h << 16);
}

/* Round to nearest even; NaNs stay NaNs, quiet. */
static inline uint16_t bf16_from_f32(float f)
{
    uint32_t bits = f32_bits(f);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

static inline float fnuz_to_f32(uint8_t x, int mantissa_bits, int bias)
{
    uint32_t magnitude = x & 0x7fu, shift = 23 - (uint32_t)mantissa_bits;
    uint32_t normal = (magnitude << shift) + ((127u - (uint32_t)bias) << 23);
    float unit = f32_from_bits((uint32_t)(128 - bias - mantissa_bits) << 23); /* the smallest denormal */
    uint32_t denormal = f32_bits((float)(int)magnitude * unit);
    uint32_t r = (magnitude >> mantissa_bits ? normal : denormal) | (uint32_t)(x & 0x80) << 24;
    return f32_from_bits(x == 0x80 ? 0x7fc00000u : r);
}

static inline float fp8_to_f32(uint8_t x)
{
    return fnuz_to_f32(x, 3, 8);
}

static inline float bf8_to_f32(uint8_t x)
{
    return fnuz_to_f32(x, 2, 16);
}

/*
 * f32 to an 8-bit FNUZ format, round to nearest even.  Infinity and NaN give
 * NaN; too large a finite value gives NaN, or the largest value when `saturate`
 * (MODE.FP16_OVFL).
 */
static inline uint8_t fnuz_from_f32(float f, int mantissa_bits, int bias, bool saturate)
{
    uint32_t bits = f32_bits(f), magnitude = bits & 0x7fffffffu;
    int exponent = (int)(magnitude >> 23) - 127, least = 1 - bias;
    uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u, sign = bits >> 24 & 0x80;
    int kept = exponent < least ? least : exponent, by = 23 - mantissa_bits + (kept - exponent);
    int shift = by > 25 ? 25 : by; /* nothing is left, of zero and f32 denormals as well */
    uint32_t half = 1u << (shift - 1), q = (mantissa + half - 1 + (mantissa >> shift & 1)) >> shift;
    uint32_t code = ((uint32_t)(kept - least) << mantissa_bits) + q;
    uint32_t r = code ? code | sign : 0;
    r = code > 0x7f ? (saturate ? 0x7f | sign : 0x80) : r;
    return (uint8_t)(magnitude >= 0x7f800000u ? 0x80 : r);
}

static inline uint8_t fp8_from_f32(float f, bool saturate)
{
    return fnuz_from_f32(f, 3, 8, saturate);
}

static inline uint8_t bf8_from_f32(float f, bool saturate)
{
    return fnuz_from_f32(f, 2, 16, saturate);
}

#endif
