/* SPDX-License-Identifier: MIT */
/*
 * Conversions and the transcendental unit.  The references round by hand
 * (format.h) or come from the host's long double functions, whose error is far
 * below an f32's last place.
 */
#include "format.h"

#define F(v) ((long double)vop_f32(v))
#define D(v) ((long double)vop_f64(v))

static uint64_t integer(long double v, long double low, long double high)
{
    return isnan(v) ? 0 : (uint64_t)(int64_t)(v < low ? low : v > high ? high : truncl(v));
}

#define I32(v) (uint32_t)integer(v, -2147483648.0L, 2147483647.0L)
#define U32(v) (uint32_t)integer(v, 0, 4294967295.0L)

static uint64_t norm(long double v, bool is_signed)
{
    if (isnan(v))
        return 0;
    const long double low = is_signed ? -1 : 0, scale = is_signed ? 32767 : 65535;
    const float in = (float)(v < low ? low
                             : v > 1 ? 1
                                     : v) *
                     (float)scale; /* in f32, as the unit multiplies */
    return (uint64_t)(int64_t)rintl((long double)in) & 0xffff;
}

static uint64_t widened(uint64_t a)
{
    return is_nan(&single, a) ? (a & 0x80000000) << 32 | 0x7ff8000000000000 | (a & 0x3fffff) << 29
                              : vop_f64_bits((double)F(a));
}

static uint64_t narrowed(uint64_t a, const struct vop_case *x)
{
    const uint64_t sign = a >> 32 & 0x80000000;
    if (is_nan(&twice, a))
        return sign | 0x7fc00000 | (a >> 29 & 0x3fffff);
    return (a & 0x7fffffffffffffff) == twice.inf
               ? sign | 0x7f800000
               : rounded(&single, value(&twice, a), 0, round_of(&single, x), sign);
}

static uint64_t to_f32(__float128 v, const struct vop_case *x)
{
    return rounded(&single, v, 0, round_of(&single, x), 0);
}

/* By search: the largest f16 that is not above the magnitude. */
static uint64_t toward_zero(uint64_t a)
{
    const uint64_t sign = a >> 16 & 0x8000;
    uint64_t r = 0;
    if (is_nan(&single, a))
        return sign | 0x7e00 | (a >> 13 & 0x3ff);
    if ((a & 0x7fffffff) == 0x7f800000)
        return sign | 0x7c00;
    for (uint64_t bit = 0x4000; bit; bit >>= 1)
        if ((r | bit) < 0x7c00 && vop_f16(r | bit) <= fabs((double)vop_f32(a)))
            r |= bit;
    return sign | r;
}

/* 8-bit floats by enumeration. */
static double small(unsigned code, int mantissa_bits, int bias)
{
    const int exponent = (int)(code & 127) >> mantissa_bits,
              mantissa = (int)code & ((1 << mantissa_bits) - 1);
    const double m = exponent ? ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)
                              : ldexp(mantissa, 1 - bias - mantissa_bits);
    return code & 128 ? -m : m;
}

static uint64_t small_to_f32(uint64_t a, int mantissa_bits, int bias)
{
    a &= 255;
    return a == 0x80 ? 0x7fc00000 : vop_f32_bits((float)small((unsigned)a, mantissa_bits, bias));
}

static uint64_t small_from_f32(uint64_t a, int mantissa_bits, int bias, const struct vop_case *x)
{
    const double v = fabs((double)vop_f32(a));
    const double top = small(127, mantissa_bits, bias);
    const double beyond = top + (top - small(126, mantissa_bits, bias)); /* where the next number would be */
    unsigned best = 0;
    if (is_nan(&single, a) || isinf(v))
        return 0x80;
    if (v - top > beyond - v || (v - top == beyond - v && 127 % 2 == 1))
        return x->mode & MODE_FP16_OVFL ? (127u | (a >> 24 & 0x80)) : 0x80;
    for (unsigned k = 1; k < 128; k++) {
        const double was = fabs(small(best, mantissa_bits, bias) - v),
                     is = fabs(small(k, mantissa_bits, bias) - v);
        if (is < was || (is == was && !(k & 1)))
            best = k;
    }
    return best ? best | (a >> 24 & 0x80) : 0;
}

/* The neighbours below and above, and which of them the random bits (as a fraction) choose. */
static uint64_t small_random(uint64_t a, uint64_t random, int mantissa_bits, int bias,
                             const struct vop_case *x)
{
    const double v = fabs((double)vop_f32(a));
    const int used = 23 - mantissa_bits;
    if (is_nan(&single, a) || isinf(v))
        return 0x80;
    unsigned below = 0;
    while (below < 127 && small(below + 1, mantissa_bits, bias) <= v)
        below++;
    const double low = small(below, mantissa_bits, bias);
    const double step =
        below < 127 ? small(below + 1, mantissa_bits, bias) - low : low - small(126, mantissa_bits, bias);
    if (v >= low + step)
        return x->mode & MODE_FP16_OVFL ? (127u | (a >> 24 & 0x80)) : 0x80;
    const double part = floor(ldexp((v - low) / step, used)) + (double)(random >> (32 - used));
    below += part >= ldexp(1, used);
    if (below > 127)
        return x->mode & MODE_FP16_OVFL ? (127u | (a >> 24 & 0x80)) : 0x80;
    return below ? below | (a >> 24 & 0x80) : 0;
}

static uint64_t placed(uint64_t old, uint64_t v, unsigned at, unsigned bits)
{
    const uint64_t mask = ((UINT64_C(1) << bits) - 1) << at;
    return (old & ~mask) | (v << at & mask);
}

#define CONVERSIONS(X)                                                                                       \
    X(v_cvt_i32_f32, "u", "f", I32(F(a)))                                                                    \
    X(v_cvt_u32_f32, "u", "f", U32(F(a)))                                                                    \
    X(v_cvt_flr_i32_f32, "u", "f", I32(floorl(F(a))))                                                        \
    X(v_cvt_rpi_i32_f32, "u", "f", I32(floorl((long double)(vop_f32(a) + 0.5f))))                            \
    X(v_cvt_i32_f64, "u", "d", I32(D(a)))                                                                    \
    X(v_cvt_u32_f64, "u", "d", U32(D(a)))                                                                    \
    X(v_cvt_f32_i32, "f", "u", to_f32((int32_t)a, x))                                                        \
    X(v_cvt_f32_u32, "f", "u", to_f32(a, x))                                                                 \
    X(v_cvt_f64_i32, "d", "u", vop_f64_bits((double)(int32_t)a))                                             \
    X(v_cvt_f64_u32, "d", "u", vop_f64_bits((double)a))                                                      \
    X(v_cvt_f32_f64, "f", "d", narrowed(a, x))                                                               \
    X(v_cvt_f64_f32, "d", "f", widened(a))                                                                   \
    X(v_cvt_f32_ubyte0, "f", "u", to_f32(a & 255, x))                                                        \
    X(v_cvt_f32_ubyte1, "f", "u", to_f32(a >> 8 & 255, x))                                                   \
    X(v_cvt_f32_ubyte2, "f", "u", to_f32(a >> 16 & 255, x))                                                  \
    X(v_cvt_f32_ubyte3, "f", "u", to_f32(a >> 24 & 255, x))                                                  \
    X(v_cvt_off_f32_i4, "f", "u", to_f32((__float128)((a & 15) ^ 8) / 16 - 0.5Q, x))

#define IN_ONE_MODE(X)                                                                                       \
    X(v_cvt_i16_f16, "h", "e", (uint16_t)integer((long double)vop_f16(a), -32768, 32767))                    \
    X(v_cvt_u16_f16, "h", "e", (uint16_t)integer((long double)vop_f16(a), 0, 65535))                         \
    X(v_cvt_norm_i16_f16, "h", "e", norm((long double)vop_f16(a), true))                                     \
    X(v_cvt_norm_u16_f16, "h", "e", norm((long double)vop_f16(a), false))                                    \
    X(v_cvt_pknorm_i16_f32, "u", "ff", norm(F(a), true) | norm(F(b), true) << 16)                            \
    X(v_cvt_pknorm_u16_f32, "u", "ff", norm(F(a), false) | norm(F(b), false) << 16)                          \
    X(v_cvt_pknorm_i16_f16, "u", "ee",                                                                       \
      norm((long double)vop_f16(a), true) | norm((long double)vop_f16(b), true) << 16)                       \
    X(v_cvt_pknorm_u16_f16, "u", "ee",                                                                       \
      norm((long double)vop_f16(a), false) | norm((long double)vop_f16(b), false) << 16)                     \
    X(v_cvt_pkrtz_f16_f32, "u", "ff", toward_zero(a) | toward_zero(b) << 16)                                 \
    X(v_cvt_pk_u8_f32, "u", "fuu", placed(c, integer(F(a), 0, 255), 8 * (b & 3), 8))                         \
    X(v_cvt_pkaccum_u8_f32, "u", "fu", placed(old, integer(F(a), 0, 255), 8 * (b & 3), 8))                   \
    X(v_cvt_f32_fp8, "f", "u", small_to_f32(a, 3, 8))                                                        \
    X(v_cvt_f32_bf8, "f", "u", small_to_f32(a, 2, 16))                                                       \
    X(v_cvt_pk_f32_fp8, "q", "u", small_to_f32(a, 3, 8) | small_to_f32(a >> 8, 3, 8) << 32)                  \
    X(v_cvt_pk_f32_bf8, "q", "u", small_to_f32(a, 2, 16) | small_to_f32(a >> 8, 2, 16) << 32)

#define TO_SMALL(X)                                                                                          \
    X(v_cvt_pk_fp8_f32, "u", "ff",                                                                           \
      placed(old, small_from_f32(a, 3, 8, x) | small_from_f32(b, 3, 8, x) << 8, x->op_sel & 8 ? 16 : 0, 16)) \
    X(v_cvt_pk_bf8_f32, "u", "ff",                                                                           \
      placed(old, small_from_f32(a, 2, 16, x) | small_from_f32(b, 2, 16, x) << 8, x->op_sel & 8 ? 16 : 0,    \
             16))                                                                                            \
    X(v_cvt_sr_fp8_f32, "u", "fu", placed(old, small_random(a, b, 3, 8, x), 8u * (x->op_sel >> 2), 8))       \
    X(v_cvt_sr_bf8_f32, "u", "fu", placed(old, small_random(a, b, 2, 16, x), 8u * (x->op_sel >> 2), 8))

/* ---- transcendentals: special values exactly, the rest within 1 ULP ---- */

/* The result before rounding in `exact`; denormals count as zero on both sides. */
static uint64_t trans(uint64_t a, long double exact, uint64_t zero)
{
    if (is_nan(&single, a))
        return a | 0x400000;
    if (isnan(exact))
        return 0xffc00000;
    if (isinf(exact))
        return exact < 0 ? 0xff800000 : 0x7f800000;
    if (fabsl(exact) < 0x1p-126L)
        return (exact < 0 ? 0x80000000 : 0) | (exact == 0 ? zero : 0);
    return rounded(&single, (__float128)exact, 0, 0, zero);
}

static bool within_ulp(uint64_t got, uint64_t want, uint64_t a)
{
    (void)a;
    const float g = vop_f32(got), w = vop_f32(want);
    if (isnan(g) || isnan(w) || isinf(w))
        return false;
    /* At the edge of the denormals either side is right. */
    if (fabsf(g) <= 0x1p-126f && fabsf(w) <= 0x1p-126f)
        return true;
    return got + 1 == want || got == want + 1;
}

#define IN ((long double)vop_f32(flushed(&single, a, true)))
#define PI 3.14159265358979323846264338327950288L

static long double sine(long double v)
{
    return fabsl(v) > 256          ? (isinf(v) ? (long double)NAN : 0)
           : 2 * v == rintl(2 * v) ? 0
                                   : sinl(2 * PI * (v - rintl(v)));
}

static long double cosine(long double v)
{
    const long double r = v - rintl(v);
    return fabsl(v) > 256 ? (isinf(v) ? (long double)NAN : 1) : fabsl(r) == 0.25L ? 0 : cosl(2 * PI * r);
}

static uint64_t double_of(uint64_t a, long double exact, uint64_t zero)
{
    if (is_nan(&twice, a))
        return a | twice.quiet_bit;
    if (isnan(exact))
        return 0xfff8000000000000;
    return isinf(exact) ? vop_f64_bits((double)exact) : rounded(&twice, (__float128)exact, 0, 0, zero);
}

static bool next_to(uint64_t got, uint64_t want, uint64_t a)
{
    (void)a;
    return got + 1 == want || got == want + 1;
}

#define SIGN32 (a & 0x80000000)
#define SIGN64 (a & 0x8000000000000000)

#define TRANS(X)                                                                                             \
    X(v_rcp_f32, "f", "f", trans(a, 1 / IN, SIGN32))                                                         \
    X(v_rcp_iflag_f32, "f", "f", trans(a, 1 / IN, SIGN32))                                                   \
    X(v_rsq_f32, "f", "f", trans(a, IN == 0 ? 1 / IN : 1 / sqrtl(IN), 0))                                    \
    X(v_sqrt_f32, "f", "f", trans(a, sqrtl(IN), SIGN32))                                                     \
    X(v_exp_f32, "f", "f", trans(a, exp2l(IN), 0))                                                           \
    X(v_exp_legacy_f32, "f", "f", trans(a, exp2l(IN), 0))                                                    \
    X(v_log_f32, "f", "f", trans(a, log2l(IN), 0))                                                           \
    X(v_log_legacy_f32, "f", "f", trans(a, log2l(IN), 0))                                                    \
    X(v_sin_f32, "f", "f", trans(a, sine(IN), fabsl(IN) > 256 ? 0 : SIGN32))                                 \
    X(v_cos_f32, "f", "f", trans(a, cosine(IN), 0))

#define TRANS64(X)                                                                                           \
    X(v_rcp_f64, "d", "d", double_of(a, 1 / D(a), SIGN64))                                                   \
    X(v_sqrt_f64, "d", "d", double_of(a, sqrtl(D(a)), SIGN64))                                               \
    X(v_rsq_f64, "d", "d", double_of(a, D(a) == 0 ? 1 / D(a) : 1 / sqrtl(D(a)), 0))

CONVERSIONS(VOP_REFERENCE)
IN_ONE_MODE(VOP_REFERENCE)
TO_SMALL(VOP_REFERENCE)
TRANS(VOP_REFERENCE)
TRANS64(VOP_REFERENCE)
static const struct vop_case conversions[] = {CONVERSIONS(VOP_CASE)};
static const struct vop_case one_mode[] = {IN_ONE_MODE(VOP_CASE)};
static const struct vop_case to_small[] = {TO_SMALL(VOP_CASE)};
static const struct vop_case transcendental[] = {TRANS(VOP_CASE)};
static const struct vop_case double_trans[] = {TRANS64(VOP_CASE)};

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

int main(void)
{
    for (size_t k = 0; k < COUNT(one_mode); k++)
        vop_check(&one_mode[k]);
    for (size_t k = 0; k < COUNT(conversions); k++) {
        struct vop_case c = conversions[k];
        vop_check(&c);
        /* Rounding addition is not what v_cvt_rpi's reference does. */
        for (uint32_t round = 1; round < 4 && strcmp(c.name, "v_cvt_rpi_i32_f32"); round++) {
            c.mode = round * 5 | MODE_FLOAT_PLAIN;
            vop_check_batches(&c, 4);
        }
    }
    for (size_t k = 0; k < COUNT(to_small); k++)
        for (unsigned more = 0; more < 8; more++) {
            struct vop_case c = to_small[k];
            c.op_sel = (uint8_t)((more & 3) << 2);
            c.mode = MODE_FLOAT_PLAIN | (more & 4 ? MODE_FP16_OVFL : 0);
            vop_check_batches(&c, 4);
        }
    for (size_t k = 0; k < COUNT(transcendental); k++) {
        struct vop_case c = transcendental[k];
        c.close = within_ulp;
        vop_check_batches(&c, 400);
    }
    for (size_t k = 0; k < COUNT(double_trans); k++) {
        struct vop_case c = double_trans[k];
        c.close = next_to;
        vop_check(&c);
    }
    return check_status();
}
