/* SPDX-License-Identifier: MIT */
/*
 * The float rules of the CDNA vector ALU that the host's C does not share:
 * which NaN comes out, and how denormals are flushed.  Conversions to and from
 * the narrow formats are in minifloat.h.
 *
 * Every function is branch-free where a loop over lanes uses it, so that the
 * compiler vectorises the loop.  Values are passed as bits: a float in a host
 * register could lose its NaN.
 *
 * Sources: "AMD Instinct MI300 ISA", sections 6.5 (VALU, float modes) and 7.x;
 * IEEE 754-2008 for what the manual takes for granted.  The vector ALU returns
 * a source NaN, quieted, the first in operand order; an invalid operation gives
 * the default NaN, which is positive (x86 gives a negative one).
 */
#ifndef EHP_BASE_FLOAT_H
#define EHP_BASE_FLOAT_H

#include "base/minifloat.h"

#define F16_DEFAULT_NAN 0x7e00u
#define F32_DEFAULT_NAN 0x7fc00000u
#define F64_DEFAULT_NAN 0x7ff8000000000000u

static inline bool f32_is_nan(uint32_t a)
{
    return (a & 0x7fffffffu) > 0x7f800000u;
}

static inline bool f32_is_snan(uint32_t a)
{
    return f32_is_nan(a) && !(a & 0x00400000u);
}

static inline uint32_t f32_quiet(uint32_t a)
{
    return a | 0x00400000u;
}

static inline bool f64_is_nan(uint64_t a)
{
    return (a & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}

static inline bool f64_is_snan(uint64_t a)
{
    return f64_is_nan(a) && !(a & 0x0008000000000000u);
}

static inline uint64_t f64_quiet(uint64_t a)
{
    return a | 0x0008000000000000u;
}

static inline bool f16_is_nan(uint32_t a)
{
    return (a & 0x7fffu) > 0x7c00u;
}

static inline bool f16_is_snan(uint32_t a)
{
    return f16_is_nan(a) && !(a & 0x0200u);
}

static inline uint32_t f16_quiet(uint32_t a)
{
    return a | 0x0200u;
}

/* Denormals to a zero of the same sign. */
static inline uint32_t f32_flush(uint32_t a)
{
    return a & 0x7f800000u ? a : a & 0x80000000u;
}

static inline uint64_t f64_flush(uint64_t a)
{
    return a & 0x7ff0000000000000u ? a : a & 0x8000000000000000u;
}

static inline uint32_t f16_flush(uint32_t a)
{
    return a & 0x7c00u ? a : a & 0x8000u;
}

/* The NaN that an operation on a, b (and c) returns, or r when it returns no NaN. */
static inline uint32_t f32_nan1(uint32_t r, uint32_t a)
{
    r = f32_is_nan(r) ? F32_DEFAULT_NAN : r;
    return f32_is_nan(a) ? f32_quiet(a) : r;
}

static inline uint32_t f32_nan2(uint32_t r, uint32_t a, uint32_t b)
{
    r = f32_is_nan(r) ? F32_DEFAULT_NAN : r;
    r = f32_is_nan(b) ? f32_quiet(b) : r;
    return f32_is_nan(a) ? f32_quiet(a) : r;
}

static inline uint32_t f32_nan3(uint32_t r, uint32_t a, uint32_t b, uint32_t c)
{
    r = f32_is_nan(r) ? F32_DEFAULT_NAN : r;
    r = f32_is_nan(c) ? f32_quiet(c) : r;
    r = f32_is_nan(b) ? f32_quiet(b) : r;
    return f32_is_nan(a) ? f32_quiet(a) : r;
}

static inline uint64_t f64_nan1(uint64_t r, uint64_t a)
{
    r = f64_is_nan(r) ? F64_DEFAULT_NAN : r;
    return f64_is_nan(a) ? f64_quiet(a) : r;
}

static inline uint64_t f64_nan2(uint64_t r, uint64_t a, uint64_t b)
{
    r = f64_is_nan(r) ? F64_DEFAULT_NAN : r;
    r = f64_is_nan(b) ? f64_quiet(b) : r;
    return f64_is_nan(a) ? f64_quiet(a) : r;
}

static inline uint64_t f64_nan3(uint64_t r, uint64_t a, uint64_t b, uint64_t c)
{
    r = f64_is_nan(r) ? F64_DEFAULT_NAN : r;
    r = f64_is_nan(c) ? f64_quiet(c) : r;
    r = f64_is_nan(b) ? f64_quiet(b) : r;
    return f64_is_nan(a) ? f64_quiet(a) : r;
}

static inline uint32_t f16_nan1(uint32_t r, uint32_t a)
{
    r = f16_is_nan(r) ? F16_DEFAULT_NAN : r;
    return f16_is_nan(a) ? f16_quiet(a) : r;
}

static inline uint32_t f16_nan2(uint32_t r, uint32_t a, uint32_t b)
{
    r = f16_is_nan(r) ? F16_DEFAULT_NAN : r;
    r = f16_is_nan(b) ? f16_quiet(b) : r;
    return f16_is_nan(a) ? f16_quiet(a) : r;
}

static inline uint32_t f16_nan3(uint32_t r, uint32_t a, uint32_t b, uint32_t c)
{
    r = f16_is_nan(r) ? F16_DEFAULT_NAN : r;
    r = f16_is_nan(c) ? f16_quiet(c) : r;
    r = f16_is_nan(b) ? f16_quiet(b) : r;
    return f16_is_nan(a) ? f16_quiet(a) : r;
}

#endif
