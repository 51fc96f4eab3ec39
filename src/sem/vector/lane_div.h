/* SPDX-License-Identifier: MIT */
/*
 * The steps of division.  A compiler divides c by b as
 *
 *     d = div_scale(b, b, c)    n, VCC = div_scale(c, b, c)
 *     r = rcp(d), refined       q = n * r, refined, the last step by div_fmas
 *     div_fixup(q, b, c)
 *
 * div_scale moves operands out of the range where the refinement would lose
 * bits, div_fmas moves the quotient back when VCC says so, div_fixup supplies
 * what the formula cannot.  The quotient comes out correctly rounded, which
 * needs div_fmas to round once, denormal results included.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 12, v_div_*.  Where its pseudocode
 * is silent or cannot be meant: a result that no case sets is the first
 * operand; "denormal" includes what would round to zero; a denominator whose
 * reciprocal is denormal is always scaled down (up would overflow); div_fmas
 * scales up when the quotient was made too small (its exponent is then above
 * the middle) and down when it was made too large, by as much as div_scale did;
 * div_fixup knows an overflow by the difference of the exponents, as it knows
 * an underflow.
 */
#ifndef EHP_SEM_VECTOR_LANE_DIV_H
#define EHP_SEM_VECTOR_LANE_DIV_H

#include "sem/vector/lane_float.h"

/* Scales a, which is b (the denominator) or c (the numerator); *vcc says that the quotient must be scaled
 * back. */
LANE uint32_t f32_div_scale(uint32_t a, uint32_t b, uint32_t c, bool *vcc)
{
    const int32_t eb = (int32_t)(b >> 23 & 0xff), ec = (int32_t)(c >> 23 & 0xff);
    const double den = __builtin_fabs((double)f32_from_bits(b)),
                 num = __builtin_fabs((double)f32_from_bits(c));
    const bool zero = (b & 0x7fffffffu) == 0 || (c & 0x7fffffffu) == 0;
    const bool large = ec - eb >= 96, den_denormal = eb == 0;
    const bool rcp_denormal = den > 0x1p126, quotient_denormal = num < den * 0x1p-126;
    const bool is_den = f32_from_bits(a) == f32_from_bits(b), is_num = f32_from_bits(a) == f32_from_bits(c);
    int32_t up = 0;
    if (large)
        up = is_den ? 64 : 0;
    else if (den_denormal)
        up = 64;
    else if (rcp_denormal && quotient_denormal)
        up = is_den ? -64 : 0;
    else if (rcp_denormal)
        up = -64;
    else if (quotient_denormal)
        up = is_num ? 64 : 0;
    else if (ec <= 23)
        up = 64;
    *vcc = !zero && (large || (!den_denormal && quotient_denormal));
    return zero ? F32_DEFAULT_NAN : up ? f32_ldexp(a, (uint32_t)up) : a;
}

LANE uint64_t f64_div_scale(uint64_t a, uint64_t b, uint64_t c, bool *vcc)
{
    const int32_t eb = (int32_t)(b >> 52 & 0x7ff), ec = (int32_t)(c >> 52 & 0x7ff);
    const double den = __builtin_fabs(f64_from_bits(b)), num = __builtin_fabs(f64_from_bits(c));
    const bool zero = den == 0.0 || num == 0.0;
    const bool large = ec - eb >= 768, den_denormal = eb == 0;
    const bool rcp_denormal = den > 0x1p1022, quotient_denormal = num / den < 0x1p-1022;
    const bool is_den = f64_from_bits(a) == f64_from_bits(b), is_num = f64_from_bits(a) == f64_from_bits(c);
    int32_t up = 0;
    if (large)
        up = is_den ? 128 : 0;
    else if (den_denormal)
        up = 128;
    else if (rcp_denormal && quotient_denormal)
        up = is_den ? -128 : 0;
    else if (rcp_denormal)
        up = -128;
    else if (quotient_denormal)
        up = is_num ? 128 : 0;
    else if (ec <= 53)
        up = 128;
    *vcc = !zero && (large || (!den_denormal && quotient_denormal));
    return zero ? F64_DEFAULT_NAN : up ? f64_ldexp(a, (uint32_t)up) : a;
}

/*
 * Whether the exponents of denominator and numerator, in their high dwords at `shift`, are near an end or far
 * apart: else nothing is scaled.
 */
LANE uint32_t div_scale_special(uint32_t b, uint32_t c, int shift, uint32_t least, uint32_t most,
                                uint32_t apart)
{
    const uint32_t mask = (2u << (30 - shift)) - 1, eb = b >> shift & mask, ec = c >> shift & mask;
    return (eb - least > most - least ? 1u : 0) | (ec - least > most - least ? 1u : 0) |
           (ec - eb + apart > 2 * apart ? 1u : 0);
}
#define F32_DIV_SCALE 23, 24, 230, 90
#define F64_DIV_SCALE 20, 54, 2000, 700

LANE uint32_t f32_div_fmas(uint32_t a, uint32_t b, uint32_t c, bool vcc)
{
    const float plain = __builtin_fmaf(f32_from_bits(a), f32_from_bits(b), f32_from_bits(c));
    /* In f64 the product is exact; the sum is rounded to odd, so that rounding after scaling is the only one.
     */
    const double p = (double)f32_from_bits(a) * (double)f32_from_bits(b), z = (double)f32_from_bits(c);
    const double s = p + z, z_part = s - p, error = (p - (s - z_part)) + (z - z_part);
    const uint64_t bits = f64_bits(s), toward = (error > 0.0) == (s > 0.0) ? 1 : ~UINT64_C(0);
    const bool odd = (error > 0.0 || error < 0.0) && !(bits & 1);
    const double scale = (c >> 23 & 0xff) > 127 ? 0x1p64 : 0x1p-64;
    const float scaled = (float)(f64_from_bits(odd ? bits + toward : bits) * scale);
    return f32_nan3(f32_bits(vcc ? scaled : plain), a, b, c);
}

/*
 * r * 2^-128, where r is x * y + z, rounded.  That rounds again when the result
 * is denormal, and then wrongly only to the nearest from the middle between two
 * denormals, where the sign of what r lost decides.  The host may be set to take
 * denormal operands for zero, as comparing with zero tells; r is looked at as bits.
 */
LANE double f64_scaled_down(double x, double y, double z, double r)
{
    const uint64_t bits = f64_bits(r), m = (bits & 0xfffffffffffffu) | UINT64_C(1) << 52;
    const int32_t shift = 129 - (int32_t)(bits >> 52 & 0x7ff); /* to a denormal's place */
    double q = (shift > 128 ? __builtin_copysign(r != 0.0 || bits << 1 ? 0x1p-1022 : 0.0, r) : r) * 0x1p-128;
    const uint64_t middle = shift >= 1 && shift <= 53 ? UINT64_C(1) << (shift - 1) : 0;
    if (middle && (m & (2 * middle - 1)) == middle && !(__builtin_ia32_stmxcsr() & 0x6000)) {
        /* The product is exact here; the larger part goes first, so that the smaller is not lost. */
        const __float128 p = x != 0.0 && y != 0.0 ? (__float128)x * y : 0, c = z != 0.0 ? z : 0,
                         larger = __builtin_fabs((double)p) > __builtin_fabs(z) ? p : c,
                         lost = (larger - r) + (larger == p ? c : p);
        const uint64_t magnitude = (m >> shift) + ((lost > 0) == (r > 0.0));
        const bool flushed = !(magnitude >> 52) && __builtin_ia32_stmxcsr() & 0x8000;
        if (lost != 0)
            q = f64_from_bits((bits & UINT64_C(1) << 63) | (flushed ? 0 : magnitude));
    }
    return q;
}

LANE uint64_t f64_div_fmas(uint64_t a, uint64_t b, uint64_t c, bool vcc)
{
    const double x = f64_from_bits(a), y = f64_from_bits(b), z = f64_from_bits(c);
    const double r = __builtin_fma(x, y, z);
    double q = r;
    if (vcc && (c >> 52 & 0x7ff) > 1023) {
        q = r * 0x1p128;
    } else if (vcc && __builtin_fabs(r) >= 0x1p1000) { /* may be too large before, but not after */
        const bool first = __builtin_fabs(x) > __builtin_fabs(y);
        const bool tiny = z != 0.0 && __builtin_fabs(z) < 0x1p-894; /* only its sign matters */
        q = __builtin_fma(first ? x * 0x1p-128 : x, first ? y : y * 0x1p-128,
                          tiny ? __builtin_copysign(0x1p-1022, z) : z * 0x1p-128);
    } else if (vcc) {
        q = f64_scaled_down(x, y, z, r);
    }
    return f64_nan3(f64_bits(q), a, b, c);
}

/* a is the quotient of c / b.  A quotient far below the least denormal is `tiny`, which the rounding mode
 * decides. */
LANE uint32_t f32_div_fixup(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t sign = (b ^ c) & 0x80000000u, den = b & 0x7fffffffu, num = c & 0x7fffffffu;
    const int32_t eb = (int32_t)(den >> 23), ec = (int32_t)(num >> 23);
    /* Rounds as the host is set to. */
    const uint32_t tiny = f32_bits(f32_from_bits(sign | 0x00800000u) * 0x1p-100f);
    const uint32_t huge = f32_bits(f32_from_bits(sign | 0x7f000000u) * 0x1p100f);
    uint32_t r = sign | (a & 0x7fffffffu);
    r = ec - eb < -150 ? tiny : r;
    r = ec - eb > 128 ? huge : r;
    r = den == 0x7f800000u || num == 0 ? sign : r;
    r = den == 0 || num == 0x7f800000u ? sign | 0x7f800000u : r;
    r = (den == 0 && num == 0) || (den == 0x7f800000u && num == 0x7f800000u) ? 0xffc00000u : r;
    r = f32_is_nan(b) ? f32_quiet(b) : r;
    return f32_is_nan(c) ? f32_quiet(c) : r;
}

LANE uint64_t f64_div_fixup(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t sign = (b ^ c) & 0x8000000000000000u, inf = 0x7ff0000000000000u;
    const uint64_t den = b & 0x7fffffffffffffffu, num = c & 0x7fffffffffffffffu;
    const int32_t eb = (int32_t)(den >> 52), ec = (int32_t)(num >> 52);
    const uint64_t tiny = f64_bits(f64_from_bits(sign | 0x0010000000000000u) * 0x1p-200);
    const uint64_t huge = f64_bits(f64_from_bits(sign | 0x7fe0000000000000u) * 0x1p200);
    uint64_t r = sign | (a & 0x7fffffffffffffffu);
    r = ec - eb < -1075 ? tiny : r;
    r = ec - eb > 1024 ? huge : r;
    r = den == inf || num == 0 ? sign : r;
    r = den == 0 || num == inf ? sign | inf : r;
    r = (den == 0 && num == 0) || (den == inf && num == inf) ? 0xfff8000000000000u : r;
    r = f64_is_nan(b) ? f64_quiet(b) : r;
    return f64_is_nan(c) ? f64_quiet(c) : r;
}

/*
 * 53 bits of 2/pi as a double, from where segment b of the reduction of a large
 * a begins: each segment is 53 bits further down, and the larger a is, the more
 * leading bits only make whole turns.
 */
LANE uint64_t f64_trig_preop(uint64_t a, uint32_t b)
{
#define WORD(x) __builtin_bswap64(x)
    /* As a string of bytes, the first bits first. */
    static const uint64_t two_over_pi[42] = {
        WORD(0xa2f9836e4e441529), WORD(0xfc2757d1f534ddc0), WORD(0xdb6295993c439041),
        WORD(0xfe5163abdebbc561), WORD(0xb7246e3a424dd2e0), WORD(0x06492eea09d1921c),
        WORD(0xfe1deb1cb129a73e), WORD(0xe88235f52ebb4484), WORD(0xe99c7026b45f7e41),
        WORD(0x3991d639835339f4), WORD(0x9c845f8bbdf9283b), WORD(0x1ff897ffde05980f),
        WORD(0xef2f118b5a0a6d1f), WORD(0x6d367ecf27cb09b7), WORD(0x4f463f669e5fea2d),
        WORD(0x7527bac7ebe5f17b), WORD(0x3d0739f78a5292ea), WORD(0x6bfb5fb11f8d5d08),
        WORD(0x56033046fc7b0000), /* 1201 bits; zeros follow */
    };
#undef WORD
    const int32_t exponent = (int32_t)(a >> 52 & 0x7ff);
    const int32_t shift = (int32_t)(b & 31) * 53 + i32_between(exponent - 1077, 0, 2047);
    uint64_t bytes;
    memcpy(&bytes, (const char *)two_over_pi + (shift >> 3), sizeof(bytes));
    const uint64_t top = __builtin_bswap64(bytes) << (shift & 7); /* 57 bits at least */
    const int32_t scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
    const double segment = (double)(int64_t)(top >> 11);
    if (scale < -1128) /* 2^53 times that is less than half of the least denormal */
        return 0;
    return scale >= -1022 ? f64_bits(segment * f64_exp2i(scale))
                          : f64_ldexp(f64_bits(segment), (uint32_t)scale);
}

#endif
