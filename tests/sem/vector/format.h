/* SPDX-License-Identifier: MIT */
/*
 * Float arithmetic for the tests to compare with: in __float128, rounded by
 * hand to f16, f32 or f64 in any of MODE's ways, with AMD's NaN rules.
 */
#ifndef EHP_TESTS_SEM_FORMAT_H
#define EHP_TESTS_SEM_FORMAT_H

#include "vop.h"

/* ---- an own rounding, from __float128 or bits, to any precision ---- */

struct format {
    int digits, least,
        most; /* mantissa bits with the hidden one, exponents of the least and greatest normal */
    uint64_t inf, quiet_bit, default_nan, sign;
};

static const struct format single = {24, -126, 127, 0x7f800000, 0x00400000, 0x7fc00000, 0x80000000};
static const struct format half = {11, -14, 15, 0x7c00, 0x0200, 0x7e00, 0x8000};
static const struct format twice = {
    53, -1022, 1023, 0x7ff0000000000000, 0x0008000000000000, 0x7ff8000000000000, 0x8000000000000000};

static inline bool is_nan(const struct format *f, uint64_t v)
{
    return (v & ~f->sign) > f->inf;
}

static inline bool is_denormal(const struct format *f, uint64_t v)
{
    const uint64_t magnitude = v & ~f->sign;
    return magnitude && magnitude < UINT64_C(1) << (f->digits - 1);
}

static inline uint64_t flushed(const struct format *f, uint64_t v, bool flush)
{
    return flush && is_denormal(f, v) ? v & f->sign : v;
}

static inline __float128 value(const struct format *f, uint64_t v)
{
    return f == &half     ? (__float128)vop_f16(v)
           : f == &single ? (__float128)vop_f32(v)
                          : (__float128)vop_f64(v);
}

/* v * 2^n */
static inline __float128 scaled(__float128 v, int n)
{
    for (int step; n; n -= step) {
        step = n > 1000 ? 1000 : n < -1000 ? -1000 : n;
        v *= ldexp(1, step);
    }
    return v;
}

/* Rounds v + (a bit of `rest`'s sign, too small for any digit) as MODE.round r says. */
static inline uint64_t rounded(const struct format *f, __float128 v, int rest, int r, uint64_t zero_sign)
{
    if (v == 0)
        return zero_sign;
    const bool negative = v < 0;
    __float128 m = negative ? -v : v;
    if (negative)
        rest = -rest;
    if (m > scaled(1, 1100))
        m = scaled(1, 1100); /* overflows as well, and is sooner brought down */
    int e = 0;
    for (int step = 2048; step; step /= 2) {
        if (m >= scaled(1, step))
            m = scaled(m, -step), e += step;
        if (m < scaled(1, 1 - step))
            m = scaled(m, step), e -= step;
    }
    const int unit = (e < f->least ? f->least : e) - f->digits + 1; /* exponent of the last digit */
    m = scaled(m, e - unit);
    uint64_t q = (uint64_t)m;
    const __float128 part = m - q;
    bool up;
    if (r == 0)
        up = part > 0.5 || (part == 0.5 && (rest > 0 || (rest == 0 && (q & 1))));
    else if (r == 1)
        up = !negative && (part > 0 || rest > 0);
    else if (r == 2)
        up = negative && (part > 0 || rest > 0);
    else
        up = false;
    q += up;
    const int exponent = e < f->least ? 0 : e - f->least;
    uint64_t bits = q + ((uint64_t)exponent << (f->digits - 1));
    /* A hair below a number that has these bits, and not rounded up to it. */
    if (part == 0 && rest < 0 && (r == 3 || (r == 1 && negative) || (r == 2 && !negative)))
        bits--;
    if (bits >= f->inf)
        bits = r == 0 || (r == 1 && !negative) || (r == 2 && negative) ? f->inf : f->inf - 1;
    return (negative ? f->sign : 0) | bits;
}

static inline uint64_t one_of(const struct format *f)
{
    return f == &half ? 0x3c00 : f == &single ? 0x3f800000 : 0x3ff0000000000000;
}

static inline int round_of(const struct format *f, const struct vop_case *x)
{
    return (int)(f == &single ? x->mode & 3 : x->mode >> 2 & 3);
}

static inline unsigned denorm_of(const struct format *f, const struct vop_case *x)
{
    return f == &single ? x->mode >> 4 & 3 : x->mode >> 6 & 3;
}

/* The NaN of an operation on n operands, or 0. */
static inline uint64_t nan_of(const struct format *f, const uint64_t *v, int n)
{
    for (int k = 0; k < n; k++)
        if (is_nan(f, v[k]))
            return v[k] | f->quiet_bit;
    return 0;
}

/* p + q with p exact, of two operands and perhaps a third. */
static inline uint64_t sum_of(const struct format *f, __float128 p, __float128 q, bool negative_zero,
                              const struct vop_case *x)
{
    const int r = round_of(f, x);
    const __float128 s = p + q, q_part = s - p;
    const __float128 lost = (p - (s - q_part)) + (q - q_part);
    const uint64_t zero = negative_zero || (r == 2 && !(p == 0 && q == 0)) ? f->sign : 0;
    const int rest = lost > 0 ? 1 : lost < 0 ? -1 : 0;
    const uint64_t bits = rounded(f, s, rest, r, zero);
    /* Denormal is what would be after rounding to all digits, as the host has it; the manual does not say. */
    const int up = f == &half ? 14 : 200;
    const uint64_t digits = rounded(f, scaled(s, up), rest, r, zero) & ~f->sign;
    const bool tiny = value(f, digits) < scaled(1, f->least + up) && s > -1 && s < 1;
    return tiny && !(denorm_of(f, x) & 2) ? bits & f->sign : bits;
}

static inline bool sign_of(const struct format *f, uint64_t v)
{
    return (v & f->sign) != 0;
}

static inline uint64_t fma_of(const struct format *f, uint64_t a, uint64_t b, uint64_t c,
                              const struct vop_case *x)
{
    const uint64_t nan = nan_of(f, (uint64_t[]){a, b, c}, 3);
    const bool flush = !(denorm_of(f, x) & 1);
    a = flushed(f, a, flush), b = flushed(f, b, flush), c = flushed(f, c, flush);
    const uint64_t ma = a & ~f->sign, mb = b & ~f->sign, mc = c & ~f->sign;
    const bool negative = sign_of(f, a) != sign_of(f, b);
    if (nan)
        return nan;
    if ((ma == f->inf && !mb) || (mb == f->inf && !ma))
        return f->default_nan;
    if (ma == f->inf || mb == f->inf)
        return mc == f->inf && sign_of(f, c) != negative ? f->default_nan : (negative ? f->sign : 0) | f->inf;
    if (mc == f->inf)
        return c;
    const __float128 p = value(f, a) * value(f, b), q = value(f, c);
    bool zero = negative && sign_of(f, c);
    if (p == 0 && q == 0 && round_of(f, x) == 2)
        zero = negative || sign_of(f, c);
    return sum_of(f, p, q, zero, x);
}

static inline uint64_t add_of(const struct format *f, uint64_t a, uint64_t b, const struct vop_case *x)
{
    return fma_of(f, a, one_of(f), b, x);
}

/* b negated, unless it is a NaN, which goes through as it is; the first operand's NaN goes first. */
static inline uint64_t sub_of(const struct format *f, uint64_t a, uint64_t b, bool reverse,
                              const struct vop_case *x)
{
    const uint64_t nan = nan_of(f, (uint64_t[]){a, b}, 2);
    if (nan)
        return nan;
    return reverse ? add_of(f, b, a ^ f->sign, x) : add_of(f, a, b ^ f->sign, x);
}

static inline uint64_t mul_of(const struct format *f, uint64_t a, uint64_t b, const struct vop_case *x)
{
    const uint64_t nan = nan_of(f, (uint64_t[]){a, b}, 2);
    if (nan)
        return nan;
    /* Adding a zero of the product's sign changes nothing. */
    return fma_of(f, a, b, (a ^ b) & f->sign, x);
}

static inline uint64_t minmax_of(const struct format *f, uint64_t a, uint64_t b, bool max,
                                 const struct vop_case *x)
{
    const bool ieee = x->mode & MODE_IEEE, flush = denorm_of(f, x) != 3;
    a = flushed(f, a, flush), b = flushed(f, b, flush);
    if (ieee && is_nan(f, a) && !(a & f->quiet_bit))
        return a | f->quiet_bit;
    if (ieee && is_nan(f, b) && !(b & f->quiet_bit))
        return b | f->quiet_bit;
    if (is_nan(f, a))
        return b;
    if (is_nan(f, b))
        return a;
    if (value(f, a) == 0 && value(f, b) == 0)
        return max ? a & b : a | b;
    return (value(f, a) < value(f, b)) != max ? a : b;
}

static inline uint64_t minmax3_of(const struct format *f, uint64_t a, uint64_t b, uint64_t c, bool max,
                                  const struct vop_case *x)
{
    return minmax_of(f, minmax_of(f, a, b, max, x), c, max, x);
}

/* As the manual has it, with equality of values. */
static inline uint64_t med3_of(const struct format *f, uint64_t a, uint64_t b, uint64_t c,
                               const struct vop_case *x)
{
    const bool flush = denorm_of(f, x) != 3;
    a = flushed(f, a, flush), b = flushed(f, b, flush), c = flushed(f, c, flush);
    if (nan_of(f, (uint64_t[]){a, b, c}, 3))
        return minmax3_of(f, a, b, c, false, x);
    const __float128 top = value(f, minmax3_of(f, a, b, c, true, x));
    if (top == value(f, a))
        return minmax_of(f, b, c, true, x);
    if (top == value(f, b))
        return minmax_of(f, a, c, true, x);
    return minmax_of(f, a, b, true, x);
}

enum { TO_TRUNC, TO_CEIL, TO_FLOOR, TO_EVEN };

static inline uint64_t whole_of(const struct format *f, uint64_t a, int how, const struct vop_case *x)
{
    if (is_nan(f, a))
        return a | f->quiet_bit;
    a = flushed(f, a, !(denorm_of(f, x) & 1));
    const __float128 v = value(f, a), huge = scaled(1, f->digits);
    if (v == 0 || v >= huge || v <= -huge)
        return a;
    int64_t t = (int64_t)v;
    const __float128 part = v - t;
    if (how == TO_CEIL && part > 0)
        t++;
    else if (how == TO_FLOOR && part < 0)
        t--;
    else if (how == TO_EVEN && (part > 0.5 || (part == 0.5 && (t & 1))))
        t++;
    else if (how == TO_EVEN && (part < -0.5 || (part == -0.5 && (t & 1))))
        t--;
    return rounded(f, (__float128)t, 0, 0, a & f->sign);
}

static inline uint64_t fract_of(const struct format *f, uint64_t a)
{
    if (is_nan(f, a))
        return a | f->quiet_bit;
    const uint64_t one = one_of(f);
    if ((a & ~f->sign) == f->inf)
        return f->default_nan;
    const __float128 v = value(f, a), huge = scaled(1, f->digits);
    if (v == 0 || v >= huge || v <= -huge)
        return 0;
    int64_t t = (int64_t)v;
    if (v < t)
        t--;
    const uint64_t r = rounded(f, v - t, 0, 0, 0);
    return r >= one ? one - 1 : r;
}

static inline uint64_t ldexp_of(const struct format *f, uint64_t a, int32_t n, const struct vop_case *x)
{
    if (is_nan(f, a))
        return a | f->quiet_bit;
    if ((a & ~f->sign) == f->inf)
        return a;
    a = flushed(f, a, !(denorm_of(f, x) & 1));
    n = n > 2500 ? 2500 : n < -2500 ? -2500 : n;
    return flushed(f, rounded(f, scaled(value(f, a), n), 0, round_of(f, x), a & f->sign),
                   !(denorm_of(f, x) & 2));
}

#endif
