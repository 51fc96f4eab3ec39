/* SPDX-License-Identifier: MIT */
/*
 * Numbers as integers, to say what rounding to a float format does to them:
 * which of the exceptions of IEEE 754 it is.  Much slower than the host's
 * floats, and only for code that asks for exceptions.
 *
 * Source: IEEE 754-2008, chapter 7; tininess is detected after rounding.
 */
#ifndef EHP_BASE_EXACT_H
#define EHP_BASE_EXACT_H

#include "base/minifloat.h"

/* Bits of TRAPSTS, and 12 places higher of MODE.  x86 has the first six in the same order in MXCSR. */
enum {
    EXCEPTION_INVALID = 1,
    EXCEPTION_DENORMAL = 2, /* of a source */
    EXCEPTION_DIVISION = 4, /* by zero */
    EXCEPTION_OVERFLOW = 8,
    EXCEPTION_UNDERFLOW = 16,
    EXCEPTION_INEXACT = 32,
    EXCEPTION_INTEGER_DIVISION = 64, /* by zero */
    EXCEPTION_ALL = 127,
};

/* A format, and how results become it. */
struct exact_format {
    int exponent_bits, mantissa_bits;
    enum float_round round;
    bool flush; /* denormal results to zero */
};

typedef unsigned __int128 exact_man;

/* man * 2^exp, and man < 2^125; what man cannot hold is told by its last bit, which is then set. */
struct exact {
    bool negative;
    int exp;
    exact_man man;
};

/* The number of the highest bit; man is not 0. */
static inline int exact_top(exact_man man)
{
    const uint64_t high = (uint64_t)(man >> 64);
    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)man);
}

/* x in units of 2^unit, rounded; *inexact: it was between two. */
static inline exact_man exact_in_units(struct exact x, int unit, enum float_round round, bool *inexact)
{
    int drop = unit - x.exp;
    *inexact = false;
    if (drop <= 0)
        return x.man << -drop;
    if (drop > 126) { /* anything below a half */
        drop = 126;
        x.man = 1;
    }
    const exact_man whole = x.man >> drop, rest = x.man - (whole << drop), half = (exact_man)1 << (drop - 1);
    if (!rest)
        return whole;
    *inexact = true;
    switch (round) {
    case ROUND_EVEN:
        return whole + (rest > half || (rest == half && (whole & 1)));
    case ROUND_UP:
        return whole + !x.negative;
    case ROUND_DOWN:
        return whole + x.negative;
    default:
        return whole;
    }
}

/* x as the format, without its sign; *raised gets what that raises. */
static inline uint64_t exact_pack(struct exact x, struct exact_format f, uint32_t *raised)
{
    const int bias = (1 << (f.exponent_bits - 1)) - 1, least = 1 - bias;
    const uint64_t infinity = ((UINT64_C(1) << f.exponent_bits) - 1) << f.mantissa_bits;
    if (!x.man)
        return 0;
    const int top = exact_top(x.man) + x.exp;
    bool inexact;
    exact_man man = exact_in_units(x, top - f.mantissa_bits, f.round, &inexact);
    const int to = exact_top(man) + top - f.mantissa_bits; /* of the result, if exponents had no bounds */
    if (to > bias) {
        *raised |= EXCEPTION_OVERFLOW | EXCEPTION_INEXACT;
        const bool away = f.round == ROUND_EVEN || f.round == (x.negative ? ROUND_DOWN : ROUND_UP);
        return away ? infinity : infinity - 1;
    }
    if (top >= least) {
        *raised |= inexact ? EXCEPTION_INEXACT : 0;
        return ((uint64_t)(top + bias - 1) << f.mantissa_bits) + (uint64_t)man;
    }
    const bool tiny = to < least;
    if (tiny && f.flush) {
        *raised |= EXCEPTION_UNDERFLOW | EXCEPTION_INEXACT;
        return 0;
    }
    man = exact_in_units(x, least - f.mantissa_bits, f.round, &inexact);
    *raised |= (inexact ? EXCEPTION_INEXACT : 0) | (inexact && tiny ? EXCEPTION_UNDERFLOW : 0);
    return (uint64_t)man;
}

static inline struct exact exact_multiply(struct exact a, struct exact b)
{
    return (struct exact){a.negative != b.negative, a.exp + b.exp, a.man * b.man};
}

static inline struct exact exact_add(struct exact a, struct exact b)
{
    if (!a.man || !b.man)
        return a.man ? a : b;
    if (exact_top(a.man) + a.exp < exact_top(b.man) + b.exp) {
        const struct exact t = a;
        a = b;
        b = t;
    }
    /* The larger goes to the top, so that what is lost of the other is far below any rounding. */
    const int up = 123 - exact_top(a.man);
    a.man <<= up;
    a.exp -= up;
    const int down = a.exp - b.exp;
    if (down <= 0) {
        b.man <<= -down;
    } else if (down > 126) {
        b.man = 1;
    } else {
        const exact_man kept = b.man >> down;
        b.man = kept | (b.man != kept << down);
    }
    if (a.negative == b.negative)
        a.man += b.man;
    else if (a.man >= b.man)
        a.man -= b.man;
    else
        a = (struct exact){b.negative, a.exp, b.man - a.man};
    return a;
}

/* Neither has more than 53 bits, and b is not 0. */
static inline struct exact exact_divide(struct exact a, struct exact b)
{
    if (!a.man)
        return a;
    const int up = 124 - exact_top(a.man);
    const exact_man n = a.man << up, q = n / b.man;
    return (struct exact){a.negative != b.negative, a.exp - up - b.exp, q | (q * b.man != n)};
}

#endif
