/* SPDX-License-Identifier: MIT */
/*
 * Floating point by integer arithmetic, for expected values: any binary format,
 * any of MODE's roundings, denormals kept or flushed, results exact before the
 * one rounding.  Nothing here uses the host's floating point, and nothing is
 * shared with what is tested.
 *
 * A number is (-1)^sign * man * 2^exp, man not normalised; its lowest bit may
 * stand for "and something below".
 */
#ifndef EHP_TESTS_ORACLE_SOFT_H
#define EHP_TESTS_ORACLE_SOFT_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 soft_wide;

struct soft_format {
    int exponent_bits, mantissa_bits;
};
static const struct soft_format soft_f16 = {5, 10}, soft_bf16 = {8, 7}, soft_f32 = {8, 23},
                                soft_f64 = {11, 52};

enum soft_class { SOFT_ZERO, SOFT_FINITE, SOFT_INF, SOFT_NAN };

struct soft {
    enum soft_class cls;
    bool sign, signalling;
    int exp;
    soft_wide man;
};

static inline uint64_t soft_mask(int bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static inline uint64_t soft_sign_bit(struct soft_format f)
{
    return UINT64_C(1) << (f.exponent_bits + f.mantissa_bits);
}

static inline uint64_t soft_inf(struct soft_format f)
{
    return soft_mask(f.exponent_bits) << f.mantissa_bits;
}

static inline uint64_t soft_quiet_bit(struct soft_format f)
{
    return UINT64_C(1) << (f.mantissa_bits - 1);
}

static inline struct soft soft_unpack(struct soft_format f, uint64_t bits, bool flush)
{
    struct soft n = {.sign = (bits & soft_sign_bit(f)) != 0};
    const uint64_t mantissa = bits & soft_mask(f.mantissa_bits);
    const int exponent = (int)(bits >> f.mantissa_bits & soft_mask(f.exponent_bits));
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    if (exponent == (int)soft_mask(f.exponent_bits)) {
        n.cls = mantissa ? SOFT_NAN : SOFT_INF;
        n.signalling = mantissa && !(mantissa & soft_quiet_bit(f));
        return n;
    }
    if (!exponent && (!mantissa || flush))
        return n;
    n.cls = SOFT_FINITE;
    n.man = exponent ? mantissa | UINT64_C(1) << f.mantissa_bits : mantissa;
    n.exp = (exponent ? exponent : 1) - bias - f.mantissa_bits;
    return n;
}

static inline int soft_top(soft_wide man)
{
    int top = -1;
    for (; man; man >>= 1)
        top++;
    return top;
}

/* man * 2^-shift as an integer, rounded: 0 to even, 1 up, 2 down, 3 to zero. */
static inline soft_wide soft_shift_round(soft_wide man, int shift, bool sign, unsigned round)
{
    if (shift <= 0)
        return man << -shift;
    const soft_wide q = shift < 128 ? man >> shift : 0;
    const soft_wide rest = shift < 128 ? man - (q << shift) : man;
    if (!rest)
        return q;
    const soft_wide half = shift < 128 ? (soft_wide)1 << (shift - 1) : 0;
    switch (round) {
    case 0:
        return q + (shift < 128 && (rest > half || (rest == half && (q & 1))));
    case 1:
        return q + !sign;
    case 2:
        return q + sign;
    default:
        return q;
    }
}

/* Not for NaNs.  flush: a result that is tiny after rounding becomes zero. */
static inline uint64_t soft_pack(struct soft_format f, struct soft n, unsigned round, bool flush)
{
    const uint64_t sign = n.sign ? soft_sign_bit(f) : 0;
    const int bias = (1 << (f.exponent_bits - 1)) - 1, least = 1 - bias;
    if (n.cls == SOFT_ZERO || (n.cls == SOFT_FINITE && !n.man))
        return sign;
    if (n.cls == SOFT_INF)
        return sign | soft_inf(f);
    int top = soft_top(n.man) + n.exp; /* 2^top <= value < 2^(top + 1) */
    if (top < least && flush) {
        const soft_wide man = soft_shift_round(n.man, top - f.mantissa_bits - n.exp, n.sign, round);
        if (soft_top(man) + top - f.mantissa_bits < least)
            return sign;
    }
    const int unit = (top < least ? least : top) - f.mantissa_bits;
    const soft_wide man = soft_shift_round(n.man, unit - n.exp, n.sign, round);
    top = soft_top(man) + unit;
    if (top > bias) {
        const bool away = round == 0 || (round == 1 && !n.sign) || (round == 2 && n.sign);
        return sign | (away ? soft_inf(f) : soft_inf(f) - 1);
    }
    /* A carry out of the mantissa raises the exponent by itself. */
    const uint64_t exponent = (uint64_t)(unit + f.mantissa_bits - least);
    return sign | ((exponent << f.mantissa_bits) + (uint64_t)man);
}

static inline struct soft soft_mul(struct soft a, struct soft b)
{
    struct soft r = {.sign = a.sign != b.sign};
    if (a.cls == SOFT_NAN || b.cls == SOFT_NAN || (a.cls == SOFT_INF && b.cls == SOFT_ZERO) ||
        (a.cls == SOFT_ZERO && b.cls == SOFT_INF)) {
        r.cls = SOFT_NAN;
    } else if (a.cls == SOFT_INF || b.cls == SOFT_INF) {
        r.cls = SOFT_INF;
    } else if (a.cls == SOFT_FINITE && b.cls == SOFT_FINITE) {
        r.cls = SOFT_FINITE;
        r.man = a.man * b.man;
        r.exp = a.exp + b.exp;
    }
    return r;
}

/* A zero by cancellation is negative only when rounding downwards. */
static inline struct soft soft_add(struct soft a, struct soft b, unsigned round)
{
    struct soft r = {.sign = a.sign};
    if (a.cls == SOFT_NAN || b.cls == SOFT_NAN ||
        (a.cls == SOFT_INF && b.cls == SOFT_INF && a.sign != b.sign)) {
        r.cls = SOFT_NAN;
        return r;
    }
    if (a.cls == SOFT_INF || b.cls == SOFT_INF) {
        return a.cls == SOFT_INF ? a : b;
    }
    if (a.cls == SOFT_ZERO && b.cls == SOFT_ZERO) {
        r.sign = a.sign == b.sign ? a.sign : round == 2;
        return r;
    }
    if (a.cls == SOFT_ZERO || b.cls == SOFT_ZERO)
        return a.cls == SOFT_ZERO ? b : a;
    if (soft_top(a.man) + a.exp < soft_top(b.man) + b.exp) {
        const struct soft t = a;
        a = b;
        b = t;
    }
    /* a, the larger, gets its first bit at 124, so that all that matters of b is kept. */
    const int up = 124 - soft_top(a.man);
    a.man <<= up;
    a.exp -= up;
    const int down = a.exp - b.exp;
    if (down <= 0) {
        b.man <<= -down;
    } else if (down > 127) {
        b.man = 1;
    } else {
        const soft_wide lost = b.man - (b.man >> down << down);
        b.man = b.man >> down | (lost ? 1 : 0);
    }
    r = (struct soft){.cls = SOFT_FINITE, .sign = a.sign, .exp = a.exp};
    if (a.sign == b.sign) {
        r.man = a.man + b.man;
    } else if (a.man == b.man) {
        r.cls = SOFT_ZERO;
        r.sign = round == 2;
    } else {
        r.sign = a.man > b.man ? a.sign : b.sign;
        r.man = a.man > b.man ? a.man - b.man : b.man - a.man;
    }
    return r;
}

/* -1 less, 0 equal, 1 greater, 2 unordered. */
static inline int soft_compare(struct soft a, struct soft b)
{
    if (a.cls == SOFT_NAN || b.cls == SOFT_NAN)
        return 2;
    if (a.cls == SOFT_INF && b.cls == SOFT_INF && a.sign == b.sign)
        return 0;
    b.sign = !b.sign;
    const struct soft d = soft_add(a, b, 0);
    return d.cls == SOFT_ZERO ? 0 : d.sign ? -1 : 1;
}

/* To an integer of the same value: 0 to even, 1 up, 2 down, 3 to zero. */
static inline struct soft soft_integral(struct soft n, unsigned round)
{
    if (n.cls != SOFT_FINITE || n.exp >= 0)
        return n;
    n.man = soft_shift_round(n.man, -n.exp, n.sign, round);
    n.exp = 0;
    if (!n.man)
        n.cls = SOFT_ZERO;
    return n;
}

/* An integral number, saturated to [low, high]; NaN is 0. */
static inline int64_t soft_to_int(struct soft n, int64_t low, int64_t high)
{
    if (n.cls == SOFT_NAN || n.cls == SOFT_ZERO)
        return 0 < low ? low : 0;
    if (n.cls == SOFT_INF || soft_top(n.man) + n.exp > 62)
        return n.sign ? low : high;
    const int64_t v = (int64_t)(n.exp >= 0 ? n.man << n.exp : n.man >> -n.exp);
    const int64_t s = n.sign ? -v : v;
    return s < low ? low : s > high ? high : s;
}

static inline struct soft soft_from_int(int64_t v)
{
    return (struct soft){.cls = v ? SOFT_FINITE : SOFT_ZERO,
                         .sign = v < 0,
                         .man = v < 0 ? (soft_wide) - (__int128)v : (soft_wide)v};
}

#endif
