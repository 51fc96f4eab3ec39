/* SPDX-License-Identifier: MIT */
/*
 * The transcendental unit: reciprocals, roots, 2^x, log2, sine and cosine of
 * turns.
 *
 * The manual promises 1 ULP for f32 and hardly more for f16, which goes through
 * the same functions.  What is cheap in f32 alone is done there, since f64 has
 * half as many lanes; only operations that every host rounds alike (no fused
 * ones) are used, so that all levels agree bit for bit.
 *
 * In f32 these instructions take and give no denormals, whatever MODE says
 * (LLVM "User Guide for AMDGPU Backend", llvm.log2 and llvm.exp2): compilers
 * scale around them.  f16 arguments that are denormal are normal numbers here.
 *
 * An invalid argument gives the negative NaN 0xffc00000.
 */
#ifndef EHP_SEM_VECTOR_LANE_TRANS_H
#define EHP_SEM_VECTOR_LANE_TRANS_H

#include "base/float.h"
#include "sem/vector/lane_int.h"

#define F32_INVALID 0xffc00000u

/* x, or a NaN from argument a. */
LANE float f32_or_nan(float x, float a)
{
    return f32_from_bits(a == a ? f32_bits(x) : f32_quiet(f32_bits(a)));
}

LANE float f32_or_invalid(float x, bool valid)
{
    return f32_from_bits(valid ? f32_bits(x) : F32_INVALID);
}

LANE float trans_rcp(float a)
{
    return 1.0f / a;
}

LANE float trans_sqrt(float a)
{
    return f32_or_nan(__builtin_sqrtf(a), a);
}

/* Zero or a denormal; of bits LLVM makes a test of classes, which hosts do in five instructions. */
LANE bool trans_tiny(float a)
{
    return __builtin_fabsf(a) < 0x1p-126f;
}

/*
 * 1/sqrt(a), infinite for denormals: the root halves the relative error of the
 * quotient, so that both roundings together stay below 1 ULP.  4/a is never a
 * denormal; where it overflows though a does not count as zero, at 2^-126, the
 * largest number is near enough.  Without its limit, -infinity would give -0.
 */
LANE float trans_rsq(float a)
{
    const float x = -0x1.fffffep127f > a ? -0x1.fffffep127f : a, q = 4.0f / x;
    const float r = 0.5f * __builtin_sqrtf(0x1.fffffep127f < q ? 0x1.fffffep127f : q);
    return f32_from_bits(trans_tiny(a) ? (f32_bits(a) & 0x80000000u) | 0x7f800000u : f32_bits(r));
}

/* x + tail for x the rounded sum of the parts a and b, |a| >= |b|: what was rounded off counts. */
LANE float trans_sum(float a, float b, float tail)
{
    const float x = a + b;
    return x + ((b - (x - a)) + tail);
}

/*
 * 2^a = 2^n 2^r with |r| <= 1/2, where 2^r = 1 + r + r p(r): a polynomial with
 * an error of 2^-28.  Adding 1.5 2^23 rounds to n and leaves it in the low bits,
 * from where it goes to the exponent.  Arguments are limited to those whose
 * exponents do: from 2^128 on that gives infinity, below 2^-126 a denormal that
 * says no more than that the result is not zero.
 */
LANE float trans_exp(float a)
{
    const float low = a > -126.5f ? a : -126.5f, x = low < 128.0f ? low : 128.0f;
    const float shifted = x + 0x1.8p23f, r = x - (shifted - 0x1.8p23f);
    float p = 0x1.458b6ep-13f;
    p = p * r + 0x1.5f5a4ep-10f;
    p = p * r + 0x1.3b2848p-7f;
    p = p * r + 0x1.c6ae9ap-5f;
    p = p * r + 0x1.ebfbe2p-3f;
    p = p * r - 0x1.3a379ep-2f;
    const float y = trans_sum(1.0f, r, r * p);
    return f32_or_nan(f32_from_bits(f32_bits(y) + (f32_bits(shifted) << 23)), a);
}

/*
 * log2(a) = e + log2(1 + f) with 1 + f in [0.6797, 1.3594), where
 * log2(1 + f) = 1.5 f + f p(f): a polynomial with a relative error of 2^-27.
 * 1.5 f is exact and near enough for what f p(f) loses not to matter; the
 * interval is the one with the smallest errors.  Denormals give -infinity.
 */
LANE float trans_log(float a)
{
    const uint32_t b = f32_bits(a), from = 0x3f2e0000u; /* 0.6797 */
    const int32_t e = (int32_t)(b - from) >> 23;
    const float f = f32_from_bits(b - ((uint32_t)e << 23)) - 1.0f, f2 = f * f;
    float p = (f * -0x1.425dd0p-3f + 0x1.9c2650p-3f) * f2 + (f * -0x1.74d872p-3f + 0x1.9dbf40p-3f);
    p = p * f2 + (f * -0x1.ebed4cp-3f + 0x1.27a2a0p-2f);
    p = p * f2 + (f * -0x1.715692p-2f + 0x1.ec6fe6p-2f);
    p = p * f - 0x1.715476p-1f;
    p = p * f - 0x1.d57132p-5f;
    const float r = trans_sum((float)e, 1.5f * f, f * p);
    const float finite = a < __builtin_inff() ? r : a + a;
    const float positive = f32_or_invalid(finite, !(a < 0.0f));
    return f32_from_bits(trans_tiny(a) ? 0xff800000u : f32_bits(positive));
}

/* sin(2 pi r) for |r| <= 1/4: an odd polynomial with a relative error of 2^-27. */
LANE double trans_sin_turns(double r)
{
    const double z = r * r;
    double p = 0x1.3db043ecd7225p+5;
    p = p * z - 0x1.324cc067cfd69p+6;
    p = p * z + 0x1.4668ae06df2eap+6;
    p = p * z - 0x1.4abbc1539e89ap+5;
    p = p * z + 0x1.921fb51f56465p+2;
    return p * r;
}

/* The argument is in turns, within [-256, 256]; beyond that the sine is 0 and the cosine 1. */
LANE float trans_sin(float a)
{
    const float r = a - __builtin_rintf(a), from_0 = __builtin_fabsf(r), from_half = 0.5f - from_0;
    const float folded = from_0 < from_half ? from_0 : from_half;
    const float s = (float)trans_sin_turns((double)folded), mag = __builtin_fabsf(a);
    const uint32_t x = f32_bits(s) | (f32_bits(s == 0.0f ? a : r) & 0x80000000u);
    const float within = f32_from_bits(mag <= 256.0f ? x : 0);
    return f32_or_nan(f32_or_invalid(within, mag != __builtin_inff()), a);
}

LANE float trans_cos(float a)
{
    const float r = a - __builtin_rintf(a), mag = __builtin_fabsf(a);
    const float c = (float)trans_sin_turns(0.25 - (double)__builtin_fabsf(r));
    const float within = mag <= 256.0f ? c : 1.0f;
    return f32_or_nan(f32_or_invalid(within, mag != __builtin_inff()), a);
}

/* ---- as f32 instructions: denormals flushed on both sides ---- */

LANE float trans_flush(float a)
{
    return f32_from_bits(f32_flush(f32_bits(a)));
}

LANE float f32_rcp(float a)
{
    return trans_flush(trans_rcp(trans_flush(a)));
}

LANE float f32_sqrt(float a)
{
    return trans_sqrt(trans_flush(a));
}

LANE float f32_rsq(float a)
{
    return trans_rsq(a);
}

LANE float f32_exp(float a)
{
    return trans_flush(trans_exp(a));
}

LANE float f32_log(float a)
{
    return trans_log(a);
}

LANE float f32_sin(float a)
{
    return trans_sin(trans_flush(a));
}

LANE float f32_cos(float a)
{
    return trans_cos(a);
}

/* ---- f64: the manual asks for less than this ---- */

LANE uint64_t f64_rcp(uint64_t a)
{
    const uint64_t r = f64_bits(1.0 / f64_from_bits(a));
    return f64_is_nan(a) ? f64_quiet(a) : r;
}

LANE uint64_t f64_sqrt(uint64_t a)
{
    const uint64_t r = f64_bits(__builtin_sqrt(f64_from_bits(a)));
    return f64_is_nan(a) ? f64_quiet(a) : r;
}

LANE uint64_t f64_rsq(uint64_t a)
{
    const uint64_t r = f64_bits(1.0 / __builtin_sqrt(f64_from_bits(a)));
    return f64_is_nan(a) ? f64_quiet(a) : r;
}

#endif
