/* SPDX-License-Identifier: MIT */
/*
 * The words that valu_int.def and valu_float.def are written in.
 *
 * Floats: sources lose denormals when MODE's input bit for the width is off,
 * results when its output bit is; rounding is MODE's for the width; a NaN among
 * the sources is the result, quiet, the first in order.
 */
#ifndef EHP_TESTS_ORACLE_VALU_MEAN_H
#define EHP_TESTS_ORACLE_VALU_MEAN_H

#include <math.h>

#include "wave/wave.h"
#include "soft.h"

typedef __int128 wide;
typedef unsigned __int128 uwide;

struct lane {
    uint64_t a, b, c, old;
    int lane;
    bool mask, clamp, vcc, nearest;
    unsigned op_sel;
    uint32_t mode;
    bool bit;     /* second result */
    bool inexact; /* an approximation: neighbours by `nudge` units are right too */
    int nudge;
};

typedef uint64_t meaning(struct lane *l);

#define S soft_f32
#define D soft_f64
#define H soft_f16

/* ---- integers ---- */

static inline uint32_t U32(uint64_t x)
{
    return (uint32_t)x;
}

static inline int32_t I32(uint64_t x)
{
    return (int32_t)x;
}

static inline int64_t I64(uint64_t x)
{
    return (int64_t)x;
}

static inline uint32_t U16(uint64_t x)
{
    return (uint16_t)x;
}

static inline int32_t I16(uint64_t x)
{
    return (int16_t)x;
}

static inline uint32_t U24(uint64_t x)
{
    return x & 0xffffff;
}

static inline int64_t sign_from(uint64_t x, int bits)
{
    const uint64_t low = x & soft_mask(bits);
    return low >> (bits - 1) ? (int64_t)(low - (UINT64_C(1) << (bits - 1)) * 2) : (int64_t)low;
}

static inline int64_t I24(uint64_t x)
{
    return sign_from(x, 24);
}

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t most(int64_t a, int64_t b)
{
    return a < b ? b : a;
}

static inline int64_t between(int64_t a, int64_t low, int64_t high)
{
    return most(low, least(a, high));
}

static inline int64_t middle(int64_t a, int64_t b, int64_t c)
{
    return most(least(a, b), least(most(a, b), c));
}

/* With the clamp bit the exact result saturates, else it wraps. */
static inline uint64_t fit(const struct lane *l, wide x, int64_t low, int64_t high)
{
    return (uint64_t)(l->clamp ? (x < low ? low : x > high ? high : x) : x);
}

static inline uint64_t carried(struct lane *l, wide x)
{
    l->bit = x < 0 || x > UINT32_MAX;
    return fit(l, x, 0, UINT32_MAX);
}

static inline uint64_t mad64(struct lane *l, wide x, wide low, wide high)
{
    l->bit = x >> 64 & 1;
    return (uint64_t)(l->clamp ? (x < low ? low : x > high ? high : x) : x);
}

static inline uint64_t ones(uint64_t x)
{
    uint64_t n = 0;
    for (int i = 0; i < 64; i++)
        n += x >> i & 1;
    return n;
}

static inline uint64_t reversed(uint64_t x)
{
    uint64_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}

/* Number of the lowest set bit of 32; all ones when there is none. */
static inline int64_t first_one(uint64_t x)
{
    for (int i = 0; i < 32; i++)
        if (x >> i & 1)
            return i;
    return -1;
}

static inline uint64_t below(int lane)
{
    return (UINT64_C(1) << lane) - 1;
}

static inline uint64_t permuted(uint64_t data, uint64_t selects, int byte)
{
    const unsigned s = selects >> 8 * byte & 255;
    uint64_t r = 255;
    if (s <= 7)
        r = data >> 8 * s & 255;
    else if (s <= 11)
        r = data >> (16 * (s - 8) + 15) & 1 ? 255 : 0;
    else if (s == 12)
        r = 0;
    return r << 8 * byte;
}

static inline uint64_t lerp(uint64_t a, uint64_t b, uint64_t c, int byte)
{
    const int at = 8 * byte;
    return ((a >> at & 255) + (b >> at & 255) + (c >> at & 1)) / 2 << at;
}

static inline uint64_t sad_sum(uint64_t a, uint64_t b, int bits, bool masked)
{
    uint64_t sum = 0;
    for (int at = 0; at < 32; at += bits) {
        const int64_t x = (int64_t)(a >> at & soft_mask(bits)), y = (int64_t)(b >> at & soft_mask(bits));
        if (!masked || y)
            sum += (uint64_t)(x > y ? x - y : y - x);
    }
    return sum;
}

static inline uint64_t sad(const struct lane *l, uint64_t a, uint64_t b, int bits, bool masked, uint64_t to,
                           int width)
{
    return fit(l, (wide)sad_sum(a, b, bits, masked) + to, 0, (int64_t)soft_mask(width)) & soft_mask(width);
}

static inline uint64_t qsad(const struct lane *l, uint64_t a, uint64_t b, uint64_t c, bool masked)
{
    uint64_t r = 0;
    for (int k = 0; k < 4; k++)
        r |= sad(l, a >> 8 * k, b, 8, masked, c >> 16 * k & 0xffff, 16) << 16 * k;
    return r;
}

/* Products of the elements, added to what the destination held. */
static inline uint64_t dot_sum(const struct lane *l, uint64_t a, uint64_t b, uint64_t c, int bits,
                               bool is_signed)
{
    wide sum = is_signed ? (wide)I32(c) : (wide)U32(c);
    for (int at = 0; at < 32; at += bits)
        sum += is_signed ? (wide)sign_from(a >> at, bits) * sign_from(b >> at, bits)
                         : (wide)(a >> at & soft_mask(bits)) * (b >> at & soft_mask(bits));
    return is_signed ? fit(l, sum, INT32_MIN, INT32_MAX) : fit(l, sum, 0, UINT32_MAX);
}

static inline uint64_t dot(const struct lane *l, uint64_t a, uint64_t b, int bits, bool is_signed)
{
    return dot_sum(l, a, b, l->old, bits, is_signed);
}

/* ---- floats ---- */

static inline unsigned rounding(const struct lane *l, struct soft_format f)
{
    return f.mantissa_bits == 23 ? l->mode & 3 : l->mode >> 2 & 3;
}

static inline bool flush_in(const struct lane *l, struct soft_format f)
{
    return !(l->mode >> (f.mantissa_bits == 23 ? 4 : 6) & 1);
}

static inline bool flush_out(const struct lane *l, struct soft_format f)
{
    return !(l->mode >> (f.mantissa_bits == 23 ? 5 : 7) & 1);
}

static inline uint64_t bits_of(struct soft_format f, uint64_t x)
{
    return x & (soft_sign_bit(f) * 2 - 1);
}

static inline struct soft value(const struct lane *l, struct soft_format f, uint64_t x)
{
    return soft_unpack(f, bits_of(f, x), flush_in(l, f));
}

static inline bool is_nan(struct soft_format f, uint64_t x)
{
    return soft_unpack(f, bits_of(f, x), false).cls == SOFT_NAN;
}

static inline bool is_signalling(struct soft_format f, uint64_t x)
{
    return soft_unpack(f, bits_of(f, x), false).signalling;
}

static inline bool is_zero(const struct lane *l, struct soft_format f, uint64_t x)
{
    return value(l, f, x).cls == SOFT_ZERO;
}

static inline uint64_t default_nan(struct soft_format f)
{
    return soft_inf(f) | soft_quiet_bit(f);
}

static inline uint64_t quiet(struct soft_format f, uint64_t x)
{
    return bits_of(f, x) | soft_quiet_bit(f);
}

/* With FP16_OVFL a finite f16 stays finite, whatever the rounding. */
static inline uint64_t packed_up(const struct lane *l, struct soft_format f, struct soft x)
{
    const uint64_t r = soft_pack(f, x, rounding(l, f), flush_out(l, f));
    const bool overflow = x.cls == SOFT_FINITE && (r & ~soft_sign_bit(f)) == soft_inf(f);
    return overflow && f.mantissa_bits == 10 && (l->mode & MODE_FP16_OVFL) ? r - 1 : r;
}

/* r, or the NaN that it is. */
static inline uint64_t result(const struct lane *l, struct soft_format f, struct soft r, unsigned n,
                              uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t sources[3] = {a, b, c};
    for (unsigned i = 0; i < n; i++)
        if (is_nan(f, sources[i]))
            return quiet(f, sources[i]);
    return r.cls == SOFT_NAN ? default_nan(f) : packed_up(l, f, r);
}

static inline uint64_t minus(struct soft_format f, uint64_t x)
{
    return is_nan(f, x) ? x : x ^ soft_sign_bit(f);
}

static inline uint64_t sum(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b)
{
    return result(l, f, soft_add(value(l, f, a), value(l, f, b), rounding(l, f)), 2, a, b, 0);
}

static inline uint64_t sum_reversed(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b)
{
    const uint64_t from = minus(f, a);
    return result(l, f, soft_add(value(l, f, b), value(l, f, from), rounding(l, f)), 2, a, b, 0);
}

static inline uint64_t product(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b)
{
    return result(l, f, soft_mul(value(l, f, a), value(l, f, b)), 2, a, b, 0);
}

static inline uint64_t fused(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b, uint64_t c)
{
    const struct soft p = soft_mul(value(l, f, a), value(l, f, b));
    return result(l, f, soft_add(p, value(l, f, c), rounding(l, f)), 3, a, b, c);
}

/* The product is rounded; no denormals anywhere, whatever MODE says. */
static inline uint64_t unfused(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b, uint64_t c)
{
    struct lane flushing = *l;
    flushing.mode &= ~0xf0u;
    if (is_nan(f, a) || is_nan(f, b))
        return quiet(f, is_nan(f, a) ? a : b);
    struct lane first = flushing;
    first.mode &= ~(uint32_t)MODE_FP16_OVFL;
    return sum(&flushing, f, is_nan(f, c) ? 0 : product(&first, f, a, b), c);
}

/* The smaller (direction -1) or larger. */
static inline uint64_t extreme(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b,
                               int direction)
{
    const bool ieee = l->mode & MODE_IEEE;
    if (ieee && (is_signalling(f, a) || is_signalling(f, b)))
        return quiet(f, is_signalling(f, a) ? a : b);
    const bool flush = flush_in(l, f) || flush_out(l, f);
    const struct soft x = soft_unpack(f, bits_of(f, a), flush), y = soft_unpack(f, bits_of(f, b), flush);
    if (x.cls == SOFT_NAN)
        return y.cls == SOFT_NAN ? bits_of(f, b) : soft_pack(f, y, 0, false);
    if (y.cls == SOFT_NAN)
        return soft_pack(f, x, 0, false);
    int order = soft_compare(x, y);
    if (order == 0) /* -0 is below +0 */
        order = y.sign - x.sign;
    return soft_pack(f, order * direction > 0 ? x : y, 0, false);
}

static inline bool same(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b)
{
    const bool flush = flush_in(l, f) || flush_out(l, f);
    return soft_compare(soft_unpack(f, bits_of(f, a), flush), soft_unpack(f, bits_of(f, b), flush)) == 0;
}

static inline uint64_t median(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b, uint64_t c)
{
    if (is_nan(f, a) || is_nan(f, b) || is_nan(f, c))
        return extreme(l, f, extreme(l, f, a, b, -1), c, -1);
    const uint64_t top = extreme(l, f, extreme(l, f, a, b, 1), c, 1);
    if (same(l, f, top, a))
        return extreme(l, f, b, c, 1);
    return same(l, f, top, b) ? extreme(l, f, a, c, 1) : extreme(l, f, a, b, 1);
}

static inline uint64_t integral(const struct lane *l, struct soft_format f, uint64_t a, unsigned round)
{
    return result(l, f, soft_integral(value(l, f, a), round), 1, a, 0, 0);
}

/* Below 1, whatever the rounding. */
static inline uint64_t fraction(const struct lane *l, struct soft_format f, uint64_t a)
{
    const struct soft x = value(l, f, a);
    struct soft whole = soft_integral(x, 2);
    whole.sign = !whole.sign;
    const uint64_t one = (UINT64_C(1) << (f.exponent_bits - 1)) - 1, below_one = (one << f.mantissa_bits) - 1;
    if (x.cls == SOFT_INF)
        return default_nan(f);
    const uint64_t r = result(l, f, soft_add(x, whole, rounding(l, f)), 1, a, 0, 0);
    return x.cls != SOFT_NAN && r < soft_sign_bit(f) && r > below_one ? below_one : r;
}

static inline uint64_t exponent_of(struct soft_format f, uint64_t a)
{
    const struct soft x = soft_unpack(f, bits_of(f, a), false);
    return x.cls == SOFT_FINITE ? (uint64_t)(int64_t)(soft_top(x.man) + x.exp + 1) : 0;
}

static inline uint64_t mantissa_of(struct soft_format f, uint64_t a)
{
    struct soft x = soft_unpack(f, bits_of(f, a), false);
    if (x.cls == SOFT_NAN)
        return quiet(f, a);
    x.exp = -1 - soft_top(x.man);
    return soft_pack(f, x, 0, false);
}

static inline uint64_t scaled(const struct lane *l, struct soft_format f, uint64_t a, int64_t by)
{
    struct soft x = value(l, f, a);
    x.exp += (int)between(by, -5000, 5000);
    return result(l, f, x, 1, a, 0, 0);
}

static inline uint64_t cube(const struct lane *l, uint64_t a, uint64_t b, uint64_t c, int what)
{
    const uint64_t v[3] = {a, b, c};
    struct soft mag[3];
    for (int i = 0; i < 3; i++) {
        mag[i] = value(l, S, v[i]);
        mag[i].sign = false;
    }
#define NOT_LESS(x, y) (soft_compare(x, y) == 0 || soft_compare(x, y) == 1)
    const int axis = NOT_LESS(mag[2], mag[0]) && NOT_LESS(mag[2], mag[1]) ? 2
                     : NOT_LESS(mag[1], mag[0])                           ? 1
                                                                          : 0;
#undef NOT_LESS
    const struct soft major = value(l, S, v[axis]);
    const bool less = soft_compare(major, (struct soft){0}) == -1;
    const uint64_t flip = UINT64_C(0x80000000);
    switch (what) {
    case 0:
        return soft_pack(S, soft_from_int(2 * axis + less), 0, false);
    case 1:
        return U32(axis == 2 ? (less ? a ^ flip : a) : axis == 1 ? a : less ? c : c ^ flip);
    case 2:
        return U32(axis != 1 ? b ^ flip : less ? c ^ flip : c);
    default:
        return scaled(l, S, v[axis], 1);
    }
}

static inline uint64_t to_int(const struct lane *l, struct soft_format f, uint64_t a, unsigned round,
                              int64_t low, int64_t high)
{
    return (uint64_t)soft_to_int(soft_integral(value(l, f, a), round), low, high);
}

static inline uint64_t to_int_up_from_half(const struct lane *l, uint64_t a)
{
    return to_int(l, S, sum(l, S, a, 0x3f000000), 2, INT32_MIN, INT32_MAX);
}

static inline uint64_t from_int(const struct lane *l, struct soft_format f, int64_t x)
{
    return packed_up(l, f, soft_from_int(x));
}

static inline uint64_t convert_nan(struct soft_format to, struct soft_format from, uint64_t a)
{
    const int shift = to.mantissa_bits - from.mantissa_bits;
    const uint64_t payload = a & soft_mask(from.mantissa_bits);
    return (a & soft_sign_bit(from) ? soft_sign_bit(to) : 0) | default_nan(to) |
           (shift > 0 ? payload << shift : payload >> -shift);
}

static inline uint64_t converted(const struct lane *l, struct soft_format to, struct soft_format from,
                                 uint64_t a)
{
    const struct soft x = value(l, from, a);
    if (x.cls == SOFT_NAN)
        return convert_nan(to, from, bits_of(from, a));
    return packed_up(l, to, x);
}

static inline uint64_t to_f16_down(uint64_t a)
{
    const struct soft x = soft_unpack(S, bits_of(S, a), false);
    return x.cls == SOFT_NAN ? convert_nan(H, S, bits_of(S, a)) : soft_pack(H, x, 3, false);
}

/* In units of 2^bits - 1, which stands for 1; the unit multiplies in f32. */
static inline uint64_t normalised(struct soft_format f, uint64_t a, int bits, bool is_signed)
{
    const struct soft x = soft_unpack(f, bits_of(f, a), false);
    const int64_t full = (INT64_C(1) << bits) - 1;
    struct soft units = soft_mul(x, soft_from_int(full));
    if (units.cls == SOFT_FINITE)
        units = soft_unpack(S, soft_pack(S, units, 0, false), false);
    const int64_t r = soft_to_int(soft_integral(units, 0), is_signed ? -full : 0, full);
    return (uint64_t)r & 0xffff;
}

static inline uint64_t fixed_up(const struct lane *l, struct soft_format f, uint64_t a, uint64_t b,
                                uint64_t c)
{
    const struct soft den = soft_unpack(f, bits_of(f, b), false), num = soft_unpack(f, bits_of(f, c), false);
    const uint64_t sign = (bits_of(f, b) ^ bits_of(f, c)) & soft_sign_bit(f);
    if (num.cls == SOFT_NAN || den.cls == SOFT_NAN)
        return quiet(f, num.cls == SOFT_NAN ? c : b);
    if (num.cls == den.cls && (num.cls == SOFT_ZERO || num.cls == SOFT_INF))
        return default_nan(f) | soft_sign_bit(f);
    if (den.cls == SOFT_ZERO || num.cls == SOFT_INF)
        return sign | soft_inf(f);
    if (den.cls == SOFT_INF || num.cls == SOFT_ZERO)
        return sign;
    const int64_t mask = (int64_t)soft_mask(f.exponent_bits);
    const int64_t apart =
        (int64_t)(c >> f.mantissa_bits & (uint64_t)mask) - (int64_t)(b >> f.mantissa_bits & (uint64_t)mask);
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    if (f.exponent_bits != 5) { /* far beyond the range: what rounding makes of it */
        struct soft far = {.cls = SOFT_FINITE, .sign = sign != 0, .man = 1, .exp = 3 * bias};
        if (apart > bias + 1)
            return soft_pack(f, far, rounding(l, f), false);
        far.exp = -3 * bias;
        if (apart < -(bias + f.mantissa_bits + (f.mantissa_bits == 23 ? 0 : 0)))
            return soft_pack(f, far, rounding(l, f), flush_out(l, f));
    }
    return sign | (bits_of(f, a) & ~soft_sign_bit(f));
}

/* f16 products are exact in f32, denormals too; they are added one after the other. */
static inline uint64_t dot_f16(const struct lane *l, uint64_t a, uint64_t b)
{
    uint64_t r = U32(l->old);
    for (int k = 0; k < 32; k += 16) {
        const uint64_t x = U16(a >> k), y = U16(b >> k);
        const struct soft p = soft_mul(soft_unpack(H, x, false), soft_unpack(H, y, false));
        const struct soft total = soft_add(value(l, S, r), p, rounding(l, S));
        r = is_nan(S, r)            ? quiet(S, r)
            : is_nan(H, x)          ? convert_nan(S, H, x)
            : is_nan(H, y)          ? convert_nan(S, H, y)
            : total.cls == SOFT_NAN ? default_nan(S)
                                    : packed_up(l, S, total);
    }
    return r;
}

static inline uint64_t from_small(uint64_t a, int mantissa_bits, int bias)
{
    const uint64_t code = a & 127, mantissa = code & soft_mask(mantissa_bits);
    const int exponent = (int)(code >> mantissa_bits);
    struct soft x = {.cls = code ? SOFT_FINITE : SOFT_ZERO, .sign = a >> 7 & 1};
    if ((a & 255) == 128)
        return default_nan(S);
    x.man = exponent ? mantissa | UINT64_C(1) << mantissa_bits : mantissa;
    x.exp = (exponent ? exponent : 1) - bias - mantissa_bits;
    return soft_pack(S, x, 0, false);
}

/* ---- approximations: within a unit in the last place, two of f64 ---- */

enum function { FN_RCP, FN_RSQ, FN_SQRT, FN_EXP, FN_LOG, FN_SIN, FN_COS };

/* In long double: to be rounded to f64 at most. */
static inline long double near_value(enum function fn, long double x)
{
    const long double turn = 6.283185307179586476925286766559L, part = x - rintl(x);
    switch (fn) {
    case FN_RCP:
        return 1.0L / x;
    case FN_RSQ:
        return 1.0L / sqrtl(x);
    case FN_SQRT:
        return sqrtl(x);
    case FN_EXP:
        return exp2l(x);
    case FN_LOG:
        return log2l(x);
    case FN_SIN:
        return fabsl(x) > 256        ? 0
               : fabsl(part) > 0.25L ? sinl(turn * (copysignl(0.5L, part) - part))
                                     : sinl(turn * part);
    default:
        return fabsl(x) > 256 ? 1 : sinl(turn * (0.25L - fabsl(part)));
    }
}

static inline long double to_host(struct soft x)
{
    const long double m = (long double)(uint64_t)x.man;
    return x.cls == SOFT_INF ? (x.sign ? -INFINITY : INFINITY) : ldexpl(x.sign ? -m : m, x.exp);
}

static inline struct soft from_host(long double v)
{
    struct soft x = {.sign = signbit(v)};
    if (v == 0 || isnan(v))
        return x.cls = isnan(v) ? SOFT_NAN : SOFT_ZERO, x;
    x.cls = isinf(v) ? SOFT_INF : SOFT_FINITE;
    if (x.cls == SOFT_FINITE)
        x.man = (uint64_t)ldexpl(frexpl(fabsl(v), &x.exp), 64), x.exp -= 64;
    return x;
}

/* f32 knows no denormals here, whatever MODE says; f16 and f64 as it says. */
static inline uint64_t near(struct lane *l, struct soft_format f, uint64_t a, enum function fn)
{
    const bool single = f.mantissa_bits == 23;
    const struct soft x = soft_unpack(f, bits_of(f, a), single || flush_in(l, f));
    if (x.cls == SOFT_NAN)
        return quiet(f, a);
    const bool negative = x.sign && x.cls != SOFT_ZERO;
    const bool trigonometric = fn == FN_SIN || fn == FN_COS;
    if ((negative && (fn == FN_RSQ || fn == FN_SQRT || fn == FN_LOG)) || (x.cls == SOFT_INF && trigonometric))
        return default_nan(f) | soft_sign_bit(f);
    if (x.cls == SOFT_ZERO && fn == FN_RSQ)
        return (x.sign ? soft_sign_bit(f) : 0) | soft_inf(f);
    if (fn == FN_SIN && (x.cls == SOFT_ZERO || (fabsl(to_host(x)) <= 256 && near_value(fn, to_host(x)) == 0)))
        return x.sign ? soft_sign_bit(f) : 0;
    const uint64_t r =
        soft_pack(f, from_host(near_value(fn, x.cls == SOFT_ZERO ? (x.sign ? -0.0L : 0.0L) : to_host(x))), 0,
                  single || flush_out(l, f));
    l->inexact = true;
    const uint64_t moved = (r & ~soft_sign_bit(f)) + (uint64_t)(int64_t)l->nudge;
    return moved <= soft_inf(f) ? (r & soft_sign_bit(f)) | moved : r;
}

#endif
