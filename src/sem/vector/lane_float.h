/* SPDX-License-Identifier: MIT */
/*
 * f32 and f64 lane functions of the vector ALU.
 *
 * Arithmetic (f32_add and so on) is the host's; the handlers give NaN results
 * their AMD bits (base/float.h) and set the host's rounding and denormal mode.
 * Functions on uint32_t/uint64_t take and give bits and are exact about NaNs
 * themselves.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 12, VOP1, VOP2, VOP3.
 */
#ifndef EHP_SEM_VECTOR_LANE_FLOAT_H
#define EHP_SEM_VECTOR_LANE_FLOAT_H

#include <math.h>

#include "base/float.h"
#include "sem/vector/lane_int.h"

/* ---- arithmetic ---- */

LANE float f32_add(float a, float b)
{
    return a + b;
}

LANE float f32_sub(float a, float b)
{
    return a - b;
}

LANE float f32_subrev(float a, float b)
{
    return b - a;
}

LANE float f32_mul(float a, float b)
{
    return a * b;
}

LANE float f32_fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

LANE double f64_add(double a, double b)
{
    return a + b;
}

LANE double f64_mul(double a, double b)
{
    return a * b;
}

LANE double f64_fma(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

/* ---- minimum and maximum ---- */

/* Maps bits to integers in the order of the numbers, -0 below +0. */
LANE int32_t f32_key(uint32_t a)
{
    return (int32_t)(a ^ ((0 - (a >> 31)) >> 1));
}

LANE int64_t f64_key(uint64_t a)
{
    return (int64_t)(a ^ ((0 - (a >> 63)) >> 1));
}

LANE int32_t f16_key(uint32_t a)
{
    return (int32_t)(int16_t)(a ^ ((uint32_t)((int32_t)(int16_t)a >> 15) & 0x7fffu));
}

/* When no NaN is about. */
LANE uint32_t f32_min_number(uint32_t a, uint32_t b)
{
    return f32_key(a) < f32_key(b) ? a : b;
}

LANE uint32_t f32_max_number(uint32_t a, uint32_t b)
{
    return f32_key(a) > f32_key(b) ? a : b;
}

/*
 * The result when a NaN may be about: the other operand, unless IEEE mode sees
 * a signalling one, which it quiets and returns.  n is the result without NaNs.
 */
LANE uint32_t f32_minmax_nan(uint32_t a, uint32_t b, uint32_t n, bool ieee)
{
    /* Signalling means that setting the quiet bit changes it.  Conditions as numbers, which combine in
     * vectors. */
    const uint32_t quiet = ieee ? 0x00400000u : 0, qa = a | quiet, qb = b | quiet;
    const uint32_t nan_a = f32_is_nan(a) ? 1 : 0, nan_b = f32_is_nan(b) ? 1 : 0;
    const uint32_t signals_a = nan_a & (qa != a ? 1u : 0), signals_b = nan_b & (qb != b ? 1u : 0);
    uint32_t r = nan_b ? a : n;
    r = nan_a ? b : r;
    r = signals_b ? qb : r;
    return signals_a ? qa : r;
}

LANE uint32_t f32_min(uint32_t a, uint32_t b, bool ieee)
{
    return f32_minmax_nan(a, b, f32_min_number(a, b), ieee);
}

LANE uint32_t f32_max(uint32_t a, uint32_t b, bool ieee)
{
    return f32_minmax_nan(a, b, f32_max_number(a, b), ieee);
}

LANE uint32_t f32_min3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return f32_min(f32_min(a, b, ieee), c, ieee);
}

LANE uint32_t f32_max3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return f32_max(f32_max(a, b, ieee), c, ieee);
}

/* Zeros of either sign are equal here, as in the manual's pseudocode. */
LANE uint32_t f32_same(uint32_t a, uint32_t b)
{
    return (a == b ? 1u : 0) | (((a | b) & 0x7fffffffu) == 0 ? 1u : 0);
}

LANE uint32_t f32_min3_number(uint32_t a, uint32_t b, uint32_t c)
{
    return f32_min_number(f32_min_number(a, b), c);
}

LANE uint32_t f32_max3_number(uint32_t a, uint32_t b, uint32_t c)
{
    return f32_max_number(f32_max_number(a, b), c);
}

LANE uint32_t f32_med3_number(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t most = f32_max3_number(a, b, c);
    const uint32_t r = f32_same(most, b) ? f32_max_number(a, c) : f32_max_number(a, b);
    return f32_same(most, a) ? f32_max_number(b, c) : r;
}

LANE uint32_t f32_med3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return f32_is_nan(a) || f32_is_nan(b) || f32_is_nan(c) ? f32_min3(a, b, c, ieee)
                                                           : f32_med3_number(a, b, c);
}

LANE uint64_t f64_minmax_nan(uint64_t a, uint64_t b, uint64_t n, bool ieee)
{
    const uint64_t quiet = ieee ? 0x0008000000000000u : 0, qa = a | quiet, qb = b | quiet;
    const uint32_t nan_a = f64_is_nan(a) ? 1 : 0, nan_b = f64_is_nan(b) ? 1 : 0;
    const uint32_t signals_a = nan_a & (qa != a ? 1u : 0), signals_b = nan_b & (qb != b ? 1u : 0);
    uint64_t r = nan_b ? a : n;
    r = nan_a ? b : r;
    r = signals_b ? qb : r;
    return signals_a ? qa : r;
}

LANE uint64_t f64_min_number(uint64_t a, uint64_t b)
{
    return f64_key(a) < f64_key(b) ? a : b;
}

LANE uint64_t f64_max_number(uint64_t a, uint64_t b)
{
    return f64_key(a) > f64_key(b) ? a : b;
}

LANE uint64_t f64_min(uint64_t a, uint64_t b, bool ieee)
{
    return f64_minmax_nan(a, b, f64_min_number(a, b), ieee);
}

LANE uint64_t f64_max(uint64_t a, uint64_t b, bool ieee)
{
    return f64_minmax_nan(a, b, f64_max_number(a, b), ieee);
}

LANE uint32_t f16_minmax_nan(uint32_t a, uint32_t b, uint32_t n, bool ieee)
{
    const uint32_t quiet = ieee ? 0x0200u : 0, qa = a | quiet, qb = b | quiet;
    const uint32_t nan_a = f16_is_nan(a) ? 1 : 0, nan_b = f16_is_nan(b) ? 1 : 0;
    const uint32_t signals_a = nan_a & (qa != a ? 1u : 0), signals_b = nan_b & (qb != b ? 1u : 0);
    uint32_t r = nan_b ? a : n;
    r = nan_a ? b : r;
    r = signals_b ? qb : r;
    return signals_a ? qa : r;
}

LANE uint32_t f16_min_number(uint32_t a, uint32_t b)
{
    return f16_key(a) < f16_key(b) ? a : b;
}

LANE uint32_t f16_max_number(uint32_t a, uint32_t b)
{
    return f16_key(a) > f16_key(b) ? a : b;
}

LANE uint32_t f16_min(uint32_t a, uint32_t b, bool ieee)
{
    return f16_minmax_nan(a, b, f16_min_number(a, b), ieee);
}

LANE uint32_t f16_max(uint32_t a, uint32_t b, bool ieee)
{
    return f16_minmax_nan(a, b, f16_max_number(a, b), ieee);
}

LANE uint32_t f16_min3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return f16_min(f16_min(a, b, ieee), c, ieee);
}

LANE uint32_t f16_max3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return f16_max(f16_max(a, b, ieee), c, ieee);
}

LANE uint32_t f16_same(uint32_t a, uint32_t b)
{
    return (a == b ? 1u : 0) | (((a | b) & 0x7fffu) == 0 ? 1u : 0);
}

LANE uint32_t f16_min3_number(uint32_t a, uint32_t b, uint32_t c)
{
    return f16_min_number(f16_min_number(a, b), c);
}

LANE uint32_t f16_max3_number(uint32_t a, uint32_t b, uint32_t c)
{
    return f16_max_number(f16_max_number(a, b), c);
}

LANE uint32_t f16_med3_number(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t most = f16_max3_number(a, b, c);
    const uint32_t r = f16_same(most, b) ? f16_max_number(a, c) : f16_max_number(a, b);
    return f16_same(most, a) ? f16_max_number(b, c) : r;
}

LANE uint32_t f16_med3(uint32_t a, uint32_t b, uint32_t c, bool ieee)
{
    return f16_is_nan(a) || f16_is_nan(b) || f16_is_nan(c) ? f16_min3(a, b, c, ieee)
                                                           : f16_med3_number(a, b, c);
}

/* ---- rounding to integers and pieces of numbers ---- */

LANE float f32_trunc(float a)
{
    return __builtin_truncf(a);
}

LANE float f32_ceil(float a)
{
    return __builtin_ceilf(a);
}

LANE float f32_floor(float a)
{
    return __builtin_floorf(a);
}

/* To even, so these run in the host's own mode; a flushed denormal gives the same zero. */
LANE float f32_rndne(float a)
{
    return __builtin_rintf(a);
}

LANE double f64_trunc(double a)
{
    return __builtin_trunc(a);
}

LANE double f64_ceil(double a)
{
    return __builtin_ceil(a);
}

LANE double f64_floor(double a)
{
    return __builtin_floor(a);
}

LANE double f64_rndne(double a)
{
    return __builtin_rint(a);
}

/* Never rounds up to 1. */
LANE uint32_t f32_fract(uint32_t a)
{
    const float x = f32_from_bits(a), f = x - __builtin_floorf(x);
    const uint32_t r = f32_bits(f < 0x1.fffffep-1f ? f : 0x1.fffffep-1f);
    return f32_nan1((a & 0x7fffffffu) == 0x7f800000u ? F32_DEFAULT_NAN : r, a);
}

LANE uint64_t f64_fract(uint64_t a)
{
    const double x = f64_from_bits(a), f = x - __builtin_floor(x);
    const uint64_t r = f64_bits(f < 0x1.fffffffffffffp-1 ? f : 0x1.fffffffffffffp-1);
    return f64_nan1((a & 0x7fffffffffffffffu) == 0x7ff0000000000000u ? F64_DEFAULT_NAN : r, a);
}

/* f16 inside of f32: 1 - 2^-11 is the largest f16 below 1. */
LANE float f16_fract(float a)
{
    const float f = a - __builtin_floorf(a), r = f < 0x1.ffcp-1f ? f : 0x1.ffcp-1f;
    const float nan = f32_from_bits(f32_nan1(F32_DEFAULT_NAN, f32_bits(a)));
    return __builtin_fabsf(a) < 0x1p20f ? r : nan;
}

/* A denormal has the exponent that it would have if it were normal. */
LANE uint32_t f32_frexp_exp(uint32_t a)
{
    const uint32_t mag = a & 0x7fffffffu;
    const uint32_t scaled = f32_bits((float)(int32_t)mag); /* a denormal's value is its bits, times 2^-149 */
    const uint32_t normal = (mag >> 23) - 126, denormal = (scaled >> 23) - 127 - 148;
    const uint32_t r = mag < 0x00800000u ? denormal : normal;
    return mag == 0 || mag >= 0x7f800000u ? 0 : r;
}

LANE uint32_t f32_frexp_mant(uint32_t a)
{
    const uint32_t mag = a & 0x7fffffffu;
    const uint32_t bits = mag < 0x00800000u ? f32_bits((float)(int32_t)mag) : mag;
    const uint32_t r = (a & 0x80000000u) | (bits & 0x007fffffu) | 0x3f000000u;
    const uint32_t special = f32_is_nan(a) ? f32_quiet(a) : a;
    return mag == 0 || mag >= 0x7f800000u ? special : r;
}

LANE uint32_t f64_frexp_exp(uint64_t a)
{
    const uint64_t mag = a & 0x7fffffffffffffffu;
    const uint64_t scaled = f64_bits((double)(int64_t)(mag & 0x000fffffffffffffu));
    const uint32_t normal = (uint32_t)(mag >> 52) - 1022, denormal = (uint32_t)(scaled >> 52) - 1023 - 1073;
    const uint32_t r = mag < 0x0010000000000000u ? denormal : normal;
    return mag == 0 || mag >= 0x7ff0000000000000u ? 0 : r;
}

LANE uint64_t f64_frexp_mant(uint64_t a)
{
    const uint64_t mag = a & 0x7fffffffffffffffu;
    const uint64_t scaled = f64_bits((double)(int64_t)(mag & 0x000fffffffffffffu));
    const uint64_t bits = mag < 0x0010000000000000u ? scaled : mag;
    const uint64_t r = (a & 0x8000000000000000u) | (bits & 0x000fffffffffffffu) | 0x3fe0000000000000u;
    const uint64_t special = f64_is_nan(a) ? f64_quiet(a) : a;
    return mag == 0 || mag >= 0x7ff0000000000000u ? special : r;
}

/* 2^e for -1022 <= e <= 1023. */
LANE double f64_exp2i(int32_t e)
{
    return f64_from_bits((uint64_t)(uint32_t)(e + 1023) << 52);
}

LANE int32_t i32_between(int32_t x, int32_t low, int32_t high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* 2^e for -126 <= e <= 127. */
LANE float f32_exp2i(int32_t e)
{
    return f32_from_bits((uint32_t)(e + 127) << 23);
}

/*
 * In three steps, of which only the last rounds: where one before it makes a value smaller, the last one is
 * by 2^-126, and makes zero of what those had to round.  Of an exponent that is known to be small one step is
 * left.
 */
LANE uint32_t f32_ldexp_number(uint32_t a, uint32_t b)
{
    const int32_t last = i32_between((int32_t)b, -126, 127);
    const int32_t rest = i32_between((int32_t)b, -300, 300) - last;
    const int32_t second = i32_between(rest, -126, 127), first = rest - second;
    return f32_bits(f32_from_bits(a) * f32_exp2i(first) * f32_exp2i(second) * f32_exp2i(last));
}

/* Through f64, where the product is exact, so that a denormal is rounded once, and flushed if it is to be. */
LANE uint32_t f32_ldexp(uint32_t a, uint32_t b)
{
    const float x = f32_from_bits(a);
    const float r = (float)((double)x * f64_exp2i(i32_between((int32_t)b, -500, 500)));
    return f32_nan1(f32_bits(r), a);
}

/* The mantissa takes the exponent in two steps, of which only the second can round. */
LANE uint64_t f64_ldexp(uint64_t a, uint32_t b)
{
    const uint64_t mag = a & 0x7fffffffffffffffu;
    const bool denormal = mag < 0x0010000000000000u;
    const uint64_t bits = denormal ? f64_bits(f64_from_bits(a) * 0x1p64) : a;
    const int32_t exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023 - (denormal ? 64 : 0);
    const int32_t to = i32_between(exponent + i32_between((int32_t)b, -5000, 5000), -1200, 1200);
    const int32_t first = i32_between(to, -1022, 1023);
    const double m = f64_from_bits((bits & 0x800fffffffffffffu) | 0x3ff0000000000000u);
    const uint64_t r = f64_bits(m * f64_exp2i(first) * f64_exp2i(to - first));
    const uint64_t special = f64_is_nan(a) ? f64_quiet(a) : bits;
    return (bits & 0x7fffffffffffffffu) == 0 || mag >= 0x7ff0000000000000u ? special : r;
}

/* ---- cube maps ---- */

LANE float f32_abs(float a)
{
    return __builtin_fabsf(a);
}

/* Which axis is the major one: 0 x, 1 y, 2 z. */
LANE int f32_cube_axis(float x, float y, float z)
{
    const int xy = f32_abs(y) >= f32_abs(x) ? 1 : 0;
    return f32_abs(z) >= f32_abs(x) && f32_abs(z) >= f32_abs(y) ? 2 : xy;
}

LANE float f32_cubeid(float x, float y, float z)
{
    const int axis = f32_cube_axis(x, y, z);
    const float major = axis == 2 ? z : axis == 1 ? y : x;
    return (float)(2 * axis) + (major < 0.0f ? 1.0f : 0.0f);
}

LANE float f32_cubesc(float x, float y, float z)
{
    const int axis = f32_cube_axis(x, y, z);
    const float on_z = z < 0.0f ? -x : x, on_x = x < 0.0f ? z : -z;
    return axis == 2 ? on_z : axis == 1 ? x : on_x;
}

LANE float f32_cubetc(float x, float y, float z)
{
    const float on_y = y < 0.0f ? -z : z;
    return f32_cube_axis(x, y, z) == 1 ? on_y : -y;
}

LANE float f32_cubema(float x, float y, float z)
{
    const int axis = f32_cube_axis(x, y, z);
    return (axis == 2 ? z : axis == 1 ? y : x) * 2.0f;
}

/* ---- comparisons ---- */

#define LANE_COMPARE(name, type)                                                                             \
    LANE bool name##_f(type a, type b)                                                                       \
    {                                                                                                        \
        (void)a, (void)b;                                                                                    \
        return false;                                                                                        \
    }                                                                                                        \
    LANE bool name##_tru(type a, type b)                                                                     \
    {                                                                                                        \
        (void)a, (void)b;                                                                                    \
        return true;                                                                                         \
    }                                                                                                        \
    LANE bool name##_lt(type a, type b)                                                                      \
    {                                                                                                        \
        return a < b;                                                                                        \
    }                                                                                                        \
    LANE bool name##_eq(type a, type b)                                                                      \
    {                                                                                                        \
        return a == b;                                                                                       \
    }                                                                                                        \
    LANE bool name##_le(type a, type b)                                                                      \
    {                                                                                                        \
        return a <= b;                                                                                       \
    }                                                                                                        \
    LANE bool name##_gt(type a, type b)                                                                      \
    {                                                                                                        \
        return a > b;                                                                                        \
    }                                                                                                        \
    LANE bool name##_ge(type a, type b)                                                                      \
    {                                                                                                        \
        return a >= b;                                                                                       \
    }                                                                                                        \
    LANE bool name##_ne(type a, type b)                                                                      \
    {                                                                                                        \
        return a != b;                                                                                       \
    }
LANE_COMPARE(f32_cmp, float)
LANE_COMPARE(f64_cmp, double)
LANE_COMPARE(u16_cmp, uint16_t)
LANE_COMPARE(i16_cmp, int16_t)
LANE_COMPARE(u32_cmp, uint32_t)
LANE_COMPARE(i32_cmp, int32_t)
LANE_COMPARE(u64_cmp, uint64_t)
LANE_COMPARE(i64_cmp, int64_t)

/* "lg" is ordered and different, "o" and "u" are ordered and unordered, n.. the negations. */
#define LANE_COMPARE_FLOAT(name, type)                                                                       \
    LANE bool name##_lg(type a, type b)                                                                      \
    {                                                                                                        \
        return a < b || a > b;                                                                               \
    }                                                                                                        \
    LANE bool name##_u(type a, type b)                                                                       \
    {                                                                                                        \
        return __builtin_isunordered(a, b);                                                                  \
    }                                                                                                        \
    LANE bool name##_o(type a, type b)                                                                       \
    {                                                                                                        \
        return !__builtin_isunordered(a, b);                                                                 \
    }                                                                                                        \
    LANE bool name##_nge(type a, type b)                                                                     \
    {                                                                                                        \
        return !(a >= b);                                                                                    \
    }                                                                                                        \
    LANE bool name##_nlg(type a, type b)                                                                     \
    {                                                                                                        \
        return !(a < b || a > b);                                                                            \
    }                                                                                                        \
    LANE bool name##_ngt(type a, type b)                                                                     \
    {                                                                                                        \
        return !(a > b);                                                                                     \
    }                                                                                                        \
    LANE bool name##_nle(type a, type b)                                                                     \
    {                                                                                                        \
        return !(a <= b);                                                                                    \
    }                                                                                                        \
    LANE bool name##_neq(type a, type b)                                                                     \
    {                                                                                                        \
        return !(a == b);                                                                                    \
    }                                                                                                        \
    LANE bool name##_nlt(type a, type b)                                                                     \
    {                                                                                                        \
        return !(a < b);                                                                                     \
    }
LANE_COMPARE_FLOAT(f32_cmp, float)
LANE_COMPARE_FLOAT(f64_cmp, double)

/*
 * The bit of v_cmp_class that a number falls under.  kind counts from zero over
 * denormal and normal to infinity; negative numbers come in the other order.
 */
LANE uint32_t float_class_bit(uint32_t negative, uint32_t kind)
{
    return 6 + (kind ^ (0 - negative));
}

LANE uint32_t f32_class_bit(uint32_t a)
{
    const uint32_t mag = a & 0x7fffffffu;
    const uint32_t kind = (mag != 0 ? 1u : 0) + (mag >= 0x00800000u ? 1u : 0) + (mag >= 0x7f800000u ? 1u : 0);
    const uint32_t nan = a >> 22 & 1;
    return mag > 0x7f800000u ? nan : float_class_bit(a >> 31, kind);
}

LANE uint32_t f16_class_bit(uint32_t a)
{
    const uint32_t mag = a & 0x7fffu;
    const uint32_t kind = (mag != 0 ? 1u : 0) + (mag >= 0x0400u ? 1u : 0) + (mag >= 0x7c00u ? 1u : 0);
    const uint32_t nan = a >> 9 & 1;
    return mag > 0x7c00u ? nan : float_class_bit(a >> 15 & 1, kind);
}

/* All that matters of the low half is whether it is zero: it joins the bottom of the high half. */
LANE uint32_t f64_class_bit(uint64_t a)
{
    const uint32_t high = (uint32_t)(a >> 32), low = (uint32_t)a;
    const uint32_t mag =
        (high & 0x7fffffffu) | (low | (0 - low)) >> 31; /* no comparison, that none is of 64 bits */
    const uint32_t kind = (mag != 0 ? 1u : 0) + (mag >= 0x00100000u ? 1u : 0) + (mag >= 0x7ff00000u ? 1u : 0);
    const uint32_t nan = high >> 19 & 1;
    return mag > 0x7ff00000u ? nan : float_class_bit(high >> 31, kind);
}

LANE bool f32_class(uint32_t a, uint32_t mask)
{
    return mask >> f32_class_bit(a) & 1;
}

LANE bool f16_class(uint16_t a, uint32_t mask)
{
    return mask >> f16_class_bit(a) & 1;
}

LANE bool f64_class(uint64_t a, uint32_t mask)
{
    return mask >> f64_class_bit(a) & 1;
}

#endif
