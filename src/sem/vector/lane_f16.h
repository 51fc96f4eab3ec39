/* SPDX-License-Identifier: MIT */
/*
 * f16 lane functions.  Arithmetic runs in f32 and is rounded to f16 after it.
 * Rounding twice is harmless for sums, products, quotients and roots, because
 * f32 has more than twice the digits of f16 and two more; for a fused multiply
 * and add it is not, so that one rounds to f32 "to odd", which keeps in the last
 * bit that something was cut off (Boldo and Melquiond, "Emulation of a FMA and
 * correctly rounded sums", IEEE Trans. Computers 57(4), 2008).
 *
 * The functions on doubles serve the modes that round otherwise: their results
 * are exact or rounded to odd, and the caller rounds to f16 once.
 */
#ifndef EHP_SEM_VECTOR_LANE_F16_H
#define EHP_SEM_VECTOR_LANE_F16_H

#include "sem/vector/lane_float.h"
#include "sem/vector/lane_trans.h"

/* a * b is exact: 22 bits. */
LANE float f16_fma(float a, float b, float c)
{
    const float p = a * b, s = p + c, c_part = s - p;
    const float error = (p - (s - c_part)) + (c - c_part);
    const uint32_t bits = f32_bits(s);
    const uint32_t toward = (error > 0.0f) == (s > 0.0f) ? 1 : ~0u;
    const bool inexact = error > 0.0f || error < 0.0f;
    return f32_from_bits(inexact && !(bits & 1) ? bits + toward : bits);
}

/* Terms of opposite signs that cancel give -0 when rounding is downwards. */
LANE double f16_exact_zero(double sum, double p, double c, enum float_round round)
{
    const bool positive = p == 0.0 && c == 0.0 && !((f64_bits(p) | f64_bits(c)) >> 63);
    return round == ROUND_DOWN && sum == 0.0 && !positive ? -0.0 : sum;
}

LANE double f16_exact_fma(double a, double b, double c, enum float_round round)
{
    const double p = a * b, s = p + c, c_part = s - p;
    const double error = (p - (s - c_part)) + (c - c_part);
    const uint64_t bits = f64_bits(s);
    const uint64_t toward = (error > 0.0) == (s > 0.0) ? 1 : ~UINT64_C(0);
    const bool inexact = error > 0.0 || error < 0.0;
    return f16_exact_zero(f64_from_bits(inexact && !(bits & 1) ? bits + toward : bits), p, c, round);
}

LANE double f16_exact_add(double a, double b, enum float_round round)
{
    return f16_exact_zero(a + b, a, b, round);
}

LANE double f16_exact_sub(double a, double b, enum float_round round)
{
    return f16_exact_zero(a - b, a, -b, round);
}

LANE double f16_exact_subrev(double a, double b, enum float_round round)
{
    return f16_exact_zero(b - a, -a, b, round);
}

LANE double f16_exact_mul(double a, double b, enum float_round round)
{
    (void)round;
    return a * b;
}

/* Zero instead of less than the least normal f16, which is also what rounds up to it. */
LANE float f16_flush_float(float a)
{
    return f32_from_bits(__builtin_fabsf(a) < 0x1.ffep-15f ? f32_bits(a) & 0x80000000u : f32_bits(a));
}

LANE double f16_flush_double(double a)
{
    return (a < 0.0 ? -a : a) < 0x1p-14 ? f64_from_bits(f64_bits(a) & 0x8000000000000000u) : a;
}

/* Not fused: the product is rounded to f16.  No denormals, whatever MODE says. */
LANE float f16_mad(float a, float b, float c)
{
    const float product = f16_flush_float(f16_flush_float(a) * f16_flush_float(b));
    const float sum = f16_to_f32(f16_from_f32(product)) + f16_flush_float(c);
    return f16_flush_float(sum);
}

/* One-source functions have no exact form that matters: f32's 13 extra bits decide the rounding. */
#define LANE_F16_EXACT_1(name, fn)                                                                           \
    LANE double name(double a, enum float_round round)                                                       \
    {                                                                                                        \
        (void)round;                                                                                         \
        return (double)fn((float)a);                                                                         \
    }
LANE_F16_EXACT_1(f16_exact_rcp, trans_rcp)
LANE_F16_EXACT_1(f16_exact_sqrt, trans_sqrt)
LANE_F16_EXACT_1(f16_exact_rsq, trans_rsq)
LANE_F16_EXACT_1(f16_exact_log, trans_log)
LANE_F16_EXACT_1(f16_exact_sin, trans_sin)
LANE_F16_EXACT_1(f16_exact_cos, trans_cos)
LANE_F16_EXACT_1(f16_exact_floor, f32_floor)
LANE_F16_EXACT_1(f16_exact_ceil, f32_ceil)
LANE_F16_EXACT_1(f16_exact_trunc, f32_trunc)
LANE_F16_EXACT_1(f16_exact_rndne, f32_rndne)

LANE double f16_exact_fract(double a, enum float_round round)
{
    return f16_exact_zero((double)f16_fract((float)a), a, -a, round);
}

/* Large results stay finite, so that they count as overflow. */
LANE double f16_exact_exp(double a, enum float_round round)
{
    (void)round;
    return (double)trans_exp(a > 100.0 && a < 0x1p20 ? 100.0f : (float)a);
}

/* An f16 without denormals; what overflows stays as it is. */
LANE double f16_mad_round(double a, enum float_round round)
{
    const uint16_t r = f16_from_f64(a, round);
    const bool tiny = a > -0x1p-14 && a < 0x1p-14 && (f16_from_f64(a * 0x1p14, round) & 0x7fffu) < 0x3c00;
    const bool overflow = (r & 0x7fffu) == 0x7c00;
    return tiny ? (double)f16_to_f32(r & 0x8000) : overflow ? a : (double)f16_to_f32(r);
}

LANE double f16_exact_mad(double a, double b, double c, enum float_round round)
{
    const double x = f16_flush_double(a), y = f16_flush_double(b), z = f16_flush_double(c);
    const double p = f16_mad_round(x * y, round);
    const uint16_t bits = f16_from_f64(p, round);
    const double product = (bits & 0x7fffu) == 0x7c00 ? (double)f16_to_f32(bits) : p;
    return f16_mad_round(f16_exact_zero(product + z, product, z, round), round);
}

/* Beyond 60, all is zero or infinite. */
LANE float f16_ldexp(float a, uint16_t b)
{
    const int32_t e = i32_between((int16_t)b, -60, 60);
    return a * f32_from_bits((uint32_t)(e + 127) << 23);
}

LANE float f16_identity(float a)
{
    return a;
}

LANE double f16_exact_identity(double a, enum float_round round)
{
    (void)round;
    return a;
}

LANE uint32_t f16_frexp_exp(uint16_t a)
{
    return f32_frexp_exp(f32_bits(f16_to_f32(a)));
}

LANE uint32_t f16_frexp_mant(uint16_t a)
{
    return f16_from_f32(f32_from_bits(f32_frexp_mant(f32_bits(f16_to_f32(a)))));
}

/* Special cases of a quotient a of c / b, as the manual lists them. */
LANE uint32_t f16_div_fixup(uint16_t a, uint16_t b, uint16_t c)
{
    const uint32_t sign = (b ^ c) & 0x8000u, den = b & 0x7fffu, num = c & 0x7fffu;
    uint32_t r = sign | (a & 0x7fffu);
    r = den == 0x7c00u || num == 0 ? sign : r;
    r = den == 0 || num == 0x7c00u ? sign | 0x7c00u : r;
    r = (den == 0 && num == 0) || (den == 0x7c00u && num == 0x7c00u) ? 0xfe00u : r;
    r = f16_is_nan(b) ? f16_quiet(b) : r;
    return f16_is_nan(c) ? f16_quiet(c) : r;
}

#endif
