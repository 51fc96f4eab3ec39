/* SPDX-License-Identifier: MIT */
/* Words of valu_float.def for the steps of division, for v_trig_preop and for conversions to 8-bit floats. */
#ifndef EHP_TESTS_ORACLE_VALU_STEPS_H
#define EHP_TESTS_ORACLE_VALU_STEPS_H

#include "valu_mean.h"

/* ---- division ---- */

static inline int exponent_field(struct soft_format f, uint64_t x)
{
    return (int)(x >> f.mantissa_bits & soft_mask(f.exponent_bits));
}

/* Is |a| * 2^up below |b|? */
static inline bool below_scaled(struct soft a, int up, struct soft b)
{
    a.sign = b.sign = false;
    a.exp += up;
    return soft_compare(a, b) == -1;
}

/*
 * The cases of the pseudocode in its order.  "Denormal" takes in what is too
 * small even for that; a denominator with such a reciprocal is scaled down.
 */
static inline uint64_t scaled_for_division(struct lane *l, struct soft_format f, uint64_t a, uint64_t b,
                                           uint64_t c)
{
    const int bias = (1 << (f.exponent_bits - 1)) - 1, step = f.exponent_bits == 8 ? 64 : 128;
    const int far = f.exponent_bits == 8 ? 96 : 768;
    const struct soft x = soft_unpack(f, bits_of(f, a), false), den = soft_unpack(f, bits_of(f, b), false),
                      num = soft_unpack(f, bits_of(f, c), false), one = soft_from_int(1);
    const bool numbers = den.cls != SOFT_NAN && num.cls != SOFT_NAN;
    const bool is_den = soft_compare(x, den) == 0, is_num = soft_compare(x, num) == 0;
    const bool tiny_reciprocal = den.cls == SOFT_INF || below_scaled(one, bias - 1, den);
    const bool tiny_quotient =
        numbers && (den.cls == SOFT_INF ? num.cls != SOFT_INF : below_scaled(num, bias - 1, den));
    int by = 0;
    if (den.cls == SOFT_ZERO || num.cls == SOFT_ZERO)
        return default_nan(f);
    if (exponent_field(f, c) - exponent_field(f, b) >= far) {
        l->bit = true;
        by = is_den ? step : 0;
    } else if (exponent_field(f, b) == 0) {
        by = step;
    } else if (tiny_reciprocal && tiny_quotient) {
        l->bit = true;
        by = is_den ? -step : 0;
    } else if (tiny_reciprocal) {
        by = -step;
    } else if (tiny_quotient) {
        l->bit = true;
        by = is_num ? step : 0;
    } else if (exponent_field(f, c) <= f.mantissa_bits + (f.exponent_bits == 11)) {
        by = step;
    }
    if (!by || x.cls != SOFT_FINITE)
        return by && x.cls == SOFT_NAN ? quiet(f, a) : bits_of(f, a);
    struct soft r = x;
    r.exp += by;
    return soft_pack(f, r, 0, false);
}

/* The fused sum, scaled back by what v_div_scale did, and rounded once. */
static inline uint64_t fused_and_scaled(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b,
                                        uint64_t c)
{
    const int bias = (1 << (f.exponent_bits - 1)) - 1, step = f.exponent_bits == 8 ? 64 : 128;
    const struct soft p = soft_mul(value(l, f, a), value(l, f, b));
    struct soft r = soft_add(p, value(l, f, c), rounding(l, f));
    if (l->vcc)
        r.exp += exponent_field(f, c) > bias ? step : -step;
    return result(l, f, r, 3, a, b, c);
}

/* ---- 2 / pi to 1201 bits, by Machin's formula and long division ---- */

enum { PI_WORDS = 48 }; /* one before the point */
struct long_number {
    uint32_t word[PI_WORDS];
};

static inline void long_divide(struct long_number *n, uint32_t by)
{
    uint64_t rest = 0;
    for (int i = 0; i < PI_WORDS; i++) {
        rest = rest << 32 | n->word[i];
        n->word[i] = (uint32_t)(rest / by);
        rest %= by;
    }
}

static inline void long_add(struct long_number *n, const struct long_number *x, bool minus)
{
    int64_t carry = 0;
    for (int i = PI_WORDS; i--;) {
        carry += (int64_t)n->word[i] + (minus ? -(int64_t)x->word[i] : (int64_t)x->word[i]);
        n->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* times * atan(1 / k) */
static inline struct long_number long_atan(uint32_t times, uint32_t k)
{
    struct long_number power = {{times}}, sum = {{0}};
    long_divide(&power, k);
    for (uint32_t n = 0; n < 700; n++) {
        struct long_number term = power;
        long_divide(&term, 2 * n + 1);
        long_add(&sum, &term, n & 1);
        long_divide(&power, k);
        long_divide(&power, k);
    }
    return sum;
}

static inline const uint8_t *two_over_pi_bits(void)
{
    static uint8_t bits[1280];
    static bool known;
    if (known)
        return bits;
    struct long_number half = long_atan(8, 5), rest = {{1}};
    const struct long_number small = long_atan(2, 239);
    long_add(&half, &small, true); /* pi / 2 */
    for (int i = 0; i < 1201; i++) {
        const struct long_number twice = rest;
        long_add(&rest, &twice, false);
        if (memcmp(&rest, &half, sizeof rest) != 0) {
            int at = 0;
            while (rest.word[at] == half.word[at])
                at++;
            bits[i] = rest.word[at] > half.word[at];
        }
        if (bits[i])
            long_add(&rest, &half, true);
    }
    known = true;
    return bits;
}

static inline uint64_t trig_segment(uint64_t a, uint64_t b)
{
    const uint8_t *bits = two_over_pi_bits();
    const int exponent = exponent_field(D, a);
    const int shift = (int)(b & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    struct soft r = {.cls = SOFT_FINITE, .exp = -53 - shift + (exponent >= 1968 ? 128 : 0)};
    for (int i = 0; i < 53; i++)
        r.man = r.man << 1 | (shift + i < 1201 ? bits[shift + i] : 0);
    return soft_pack(D, r, 0, false);
}

/* ---- to 8-bit floats: no infinity, no negative zero, 0x80 is NaN ---- */

static inline uint64_t small_of(const struct lane *l, struct soft x, int mantissa_bits, int bias,
                                soft_wide random)
{
    const int least = 1 - bias - mantissa_bits; /* exponent of the last place of denormals */
    if (x.cls == SOFT_NAN || x.cls == SOFT_INF)
        return 0x80;
    if (x.cls == SOFT_ZERO)
        return 0;
    const int top = soft_top(x.man) + x.exp;
    const int unit = top - mantissa_bits > least ? top - mantissa_bits : least;
    soft_wide q;
    if (l->nearest) {
        q = soft_shift_round(x.man, unit - x.exp, x.sign, 0);
    } else { /* as many random bits as f32 has more of mantissa go away with the rest */
        const int more = 23 - mantissa_bits;
        const soft_wide kept = soft_shift_round(x.man, unit - more - x.exp, false, 2);
        q = (kept + (random >> (32 - more))) >> more;
    }
    const uint64_t code = ((uint64_t)(unit - least) << mantissa_bits) + (uint64_t)q;
    if (code > 127)
        return l->mode & MODE_FP16_OVFL ? 127 | (x.sign ? 128 : 0) : 0x80;
    return code ? code | (x.sign ? 128 : 0) : 0;
}

/* An f32 denormal is far below the least value, of which at most random bits would make something: none do.
 */
static inline struct soft small_source(uint64_t a)
{
    return soft_unpack(S, bits_of(S, a), true);
}

static inline uint64_t small_pair(struct lane *l, uint64_t a, uint64_t b, int mantissa_bits, int bias)
{
    l->nearest = true;
    const uint64_t pair = small_of(l, small_source(a), mantissa_bits, bias, 0) |
                          small_of(l, small_source(b), mantissa_bits, bias, 0) << 8;
    return l->op_sel & 8 ? (l->old & 0xffff) | pair << 16 : (l->old & 0xffff0000) | pair;
}

static inline uint64_t small_random(struct lane *l, uint64_t a, uint64_t random, int mantissa_bits, int bias)
{
    const int at = 8 * (int)(l->op_sel >> 2 & 3);
    return (l->old & ~(UINT64_C(255) << at)) | small_of(l, small_source(a), mantissa_bits, bias, U32(random))
                                                   << at;
}

#endif
