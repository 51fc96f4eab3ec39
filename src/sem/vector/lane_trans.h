/* SPDX-License-Identifier: MIT */
/*
 * The transcendental unit: reciprocals, roots, 2^x, log2, sine and cosine of
 * turns.
 *
 * The manual promises 1 ULP for f32.  The polynomials here work in f64, which
 * leaves the one rounding to f32, and use only operations that every host
 * rounds alike (no fused ones), so that all levels agree bit for bit.  f16 goes
 * through the same functions.
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

/*
 * 1/sqrt(a): a first guess from halving the exponent (off by 3.5 %), and three
 * steps of Newton's iteration, each of which squares the error.
 */
LANE float trans_rsq(float a)
{
    const double x = (double)a, half = 0.5 * x;
    double y = f64_from_bits(0x5fe6eb50c7b537a9u - (f64_bits(x) >> 1));
    y = y * (1.5 - half * y * y);
    y = y * (1.5 - half * y * y);
    y = y * (1.5 - half * y * y);
    const uint32_t bits = f32_bits(a), sign = bits & 0x80000000u;
    const uint32_t r = (bits & 0x7fffffffu) == 0 ? sign | 0x7f800000u
                       : bits == 0x7f800000u     ? 0
                                                 : f32_bits((float)y);
    return f32_or_nan(f32_or_invalid(f32_from_bits(r), !(a < 0.0f)), a);
}

/* 2^a = 2^n 2^r with |r| <= 1/2; the series of e^(r ln 2) to r^8 leaves 2^-32. */
LANE double trans_exp2_f64(float a)
{
    const float low = a > -300.0f ? a : -300.0f, x = low < 300.0f ? low : 300.0f;
    const float n = __builtin_rintf(x);
    const double t = (double)(x - n) * 0x1.62e42fefa39efp-1; /* ln 2 */
    double p = 1.0 / 40320;
    p = p * t + 1.0 / 5040;
    p = p * t + 1.0 / 720;
    p = p * t + 1.0 / 120;
    p = p * t + 1.0 / 24;
    p = p * t + 1.0 / 6;
    p = p * t + 0.5;
    p = p * t + 1.0;
    p = p * t + 1.0;
    return p * f64_from_bits((uint64_t)(uint32_t)((int32_t)n + 1023) << 52);
}

LANE float trans_exp(float a)
{
    return f32_or_nan((float)trans_exp2_f64(a), a);
}

/*
 * log2(a) = e + log2(m) with m in [sqrt(1/2), sqrt(2)) and log2(m) =
 * 2/ln2 atanh(s), s = (m - 1)/(m + 1), |s| < 0.172: terms to s^11 leave 2^-34.
 */
LANE float trans_log(float a)
{
    const uint32_t b = f32_bits(a), from = 0x3f3504f3u; /* sqrt(1/2) */
    const int32_t e = (int32_t)(b - from) >> 23;
    const double m = (double)f32_from_bits(b - ((uint32_t)e << 23));
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1.0;
    const double r = (double)e + p * s * 0x1.71547652b82fep+1; /* 2 / ln 2 */
    const uint32_t special = (b & 0x7fffffffu) == 0 ? 0xff800000u : b == 0x7f800000u ? b : f32_bits((float)r);
    return f32_or_nan(f32_or_invalid(f32_from_bits(special), !(a < 0.0f)), a);
}

/* sin(2 pi r) for |r| <= 1/4: the series to r^15 leaves 2^-37. */
LANE double trans_sin_turns(double r)
{
    const double x = r * 0x1.921fb54442d18p+2, z = x * x; /* 2 pi */
    double p = -1.0 / 1307674368000;
    p = p * z + 1.0 / 6227020800;
    p = p * z - 1.0 / 39916800;
    p = p * z + 1.0 / 362880;
    p = p * z - 1.0 / 5040;
    p = p * z + 1.0 / 120;
    p = p * z - 1.0 / 6;
    p = p * z + 1.0;
    return p * x;
}

/* The argument is in turns, within [-256, 256]; beyond that the sine is 0 and the cosine 1. */
LANE float trans_sin(float a)
{
    const float mag = __builtin_fabsf(a), in = mag <= 256.0f ? a : 0.0f;
    const float r = in - __builtin_rintf(in);
    const float half = f32_from_bits(0x3f000000u | (f32_bits(r) & 0x80000000u));
    const float folded = __builtin_fabsf(r) > 0.25f ? half - r : r;
    const float s = (float)trans_sin_turns((double)folded);
    const uint32_t zero = mag <= 256.0f ? f32_bits(a) & 0x80000000u : 0;
    const float x = f32_from_bits(s == 0.0f ? zero : f32_bits(s));
    return f32_or_nan(f32_or_invalid(x, mag != __builtin_inff()), a);
}

LANE float trans_cos(float a)
{
    const float mag = __builtin_fabsf(a), in = mag <= 256.0f ? a : 0.0f;
    const float r = in - __builtin_rintf(in);
    const float c = (float)trans_sin_turns(0.25 - (double)__builtin_fabsf(r));
    return f32_or_nan(f32_or_invalid(c, mag != __builtin_inff()), a);
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
    return trans_rsq(trans_flush(a));
}

LANE float f32_exp(float a)
{
    return trans_flush(trans_exp(a));
}

LANE float f32_log(float a)
{
    return trans_log(trans_flush(a));
}

LANE float f32_sin(float a)
{
    return trans_flush(trans_sin(trans_flush(a)));
}

LANE float f32_cos(float a)
{
    return trans_flush(trans_cos(trans_flush(a)));
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
