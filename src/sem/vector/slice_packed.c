/* SPDX-License-Identifier: MIT */
/* Packed instructions, dot products of f16 and modifiers as functions on a slice of the lanes; see slice.h.
 */
#include "sem/vector/lane_dot.h"
#include "sem/vector/slice.h"

typedef uint16_t slice_half __attribute__((may_alias));

/* ---- packed ---- */

#define PK_PAIR_2(fn) fn(AS_f(xa[i]), AS_f(xb[i]))
#define PK_PAIR_3(fn) fn(AS_f(xa[i]), AS_f(xb[i]), AS_f(xc[i]))
#define PK_F32(name, op, n, fn)                                                                              \
    BODY(name)                                                                                               \
    {                                                                                                        \
        alignas(64) float f[2 * SLICE];                                                                      \
        ARRAY(nan, u);                                                                                       \
        PK_F32_HALF(0, n, fn);                                                                               \
        PK_F32_HALF(SLICE, n, fn);                                                                           \
        EACH_LANE(i) nan[i] = MASK((f[i] != f[i]) | (f[i + SLICE] != f[i + SLICE]));                         \
        put_32(d, f);                                                                                        \
        put_32(d + SLICE, f + SLICE);                                                                        \
        put_32(bad, nan);                                                                                    \
    }
#define PK_F32_HALF(at, n, fn)                                                                               \
    do {                                                                                                     \
        GET(xa, a + (at), f);                                                                                \
        GET(xb, b + (at), f);                                                                                \
        ARRAY(xc, f);                                                                                        \
        if (n > 2)                                                                                           \
            get_32(xc, c + (at));                                                                            \
        EACH_LANE(i) f[(at) + i] = PK_PAIR_##n(fn);                                                          \
    } while (0)

BODY(v_pk_mov_b32)
{
    put_32(d, a);
    put_32(d + SLICE, b);
}

/* The halves of a row, in their order, as two vectors of floats. */
struct half_vectors {
    vreg x[2];
};

LANE struct half_vectors halves_of(const uint32_t *p)
{
    const slice_row row = *(const slice_row *)p; /* in one piece, which a register is */
    alignas(64) uint16_t h[2 * SLICE];
    typedef uint32_t half_row __attribute__((vector_size(SLICE * 2), may_alias));
    *(half_row *)h = __builtin_shufflevector(row, row, FIRST);
    *(half_row *)(h + SLICE) = __builtin_shufflevector(row, row, LAST);
    return (struct half_vectors){{v_from_f16(h), v_from_f16(h + SLICE)}};
}

/* A row as halves. */
typedef int16_t half_row __attribute__((vector_size(SLICE * 4), may_alias));

LANE half_row half_nans(half_row x)
{
    return (x & 0x7fff) > 0x7c00;
}

/* In the order of the numbers, as f16_key(). */
LANE half_row half_keys(half_row x)
{
    return x ^ (x >> 15 & 0x7fff);
}

LANE void put_halves(uint32_t *d, uint32_t *bad, struct half_vectors r)
{
    ARRAY(x, u);
    v_to_f16((uint16_t *)(void *)x, r.x[0]);
    v_to_f16((uint16_t *)(void *)x + SLICE, r.x[1]);
    const half_row row = *(const half_row *)(const void *)x;
    *(half_row *)d = row;
    *(half_row *)bad = half_nans(row);
}

#define HALVES_F16_ADD(k) (vreg)((v_f32)xa.x[k] + (v_f32)xb.x[k])
#define HALVES_F16_MUL(k) (vreg)((v_f32)xa.x[k] * (v_f32)xb.x[k])
#define HALVES_F16_FMA(k) v_fma_f16(xa.x[k], xb.x[k], xc.x[k])
#define PK_F16_ARITHMETIC(name, op, third)                                                                   \
    BODY(name)                                                                                               \
    {                                                                                                        \
        const struct half_vectors xa = halves_of(a), xb = halves_of(b), xc = halves_of(third);               \
        (void)xc;                                                                                            \
        put_halves(d, bad, (struct half_vectors){{HALVES_##op(0), HALVES_##op(1)}});                         \
    }
#define PK_F16_MINMAX(name, over)                                                                            \
    BODY(name)                                                                                               \
    {                                                                                                        \
        const half_row xa = *(const half_row *)a, xb = *(const half_row *)b;                                 \
        const half_row pick = half_keys(xa) over half_keys(xb), r = (xa & pick) | (xb & ~pick);              \
        *(half_row *)d = r;                                                                                  \
        *(half_row *)bad = half_nans(xa) | half_nans(xb);                                                    \
    }
#define PK_F16_ADD(name)    PK_F16_ARITHMETIC(name, F16_ADD, b)
#define PK_F16_MUL(name)    PK_F16_ARITHMETIC(name, F16_MUL, b)
#define PK_F16_FMA(name)    PK_F16_ARITHMETIC(name, F16_FMA, c)
#define PK_F16_MIN(name)    PK_F16_MINMAX(name, <)
#define PK_F16_MAX(name)    PK_F16_MINMAX(name, >)
#define PK_F16(name, op, n) PK_##op(name)

/* Elements of 16 bits, two in a lane. */
#define PK_INT_BODY(name, n, type, call)                                                                     \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, u);                                                                                       \
        GET(xb, b, u);                                                                                       \
        ARRAY(xc, u);                                                                                        \
        ARRAY(r, u);                                                                                         \
        if (n > 2)                                                                                           \
            get_32(xc, c);                                                                                   \
        else                                                                                                 \
            get_32(xc, b);                                                                                   \
        const slice_half *ha = (const slice_half *)xa, *hb = (const slice_half *)xb;                         \
        const slice_half *hc = (const slice_half *)xc;                                                       \
        slice_half *hr = (slice_half *)r;                                                                    \
        EACH_HALF(i)                                                                                         \
        {                                                                                                    \
            const type x = (type)ha[i], y = (type)hb[i], z = (type)hc[i];                                    \
            (void)z;                                                                                         \
            hr[i] = (uint16_t)(call);                                                                        \
        }                                                                                                    \
        put_32(d, r);                                                                                        \
    }
#ifdef __clang__
#define EACH_HALF(i)                                                                                         \
    _Pragma("clang loop vectorize(assume_safety) interleave_count(1) unroll(disable)")                       \
        _Pragma("clang loop vectorize_width(2 * SLICE)") for (int i = 0; i < 2 * SLICE; i++)
#else
#define EACH_HALF(i) EACH(2 * SLICE, i)
#endif
#define PK_INT(name, n, type, wrapped, clamped)                                                              \
    PK_INT_BODY(name, n, type, wrapped)                                                                      \
    PK_INT_BODY(clamp_##name, n, type, clamped)

#define PK_DOT(name, bits, is_signed)                                                                        \
    BODY_3(name, u, u, u, u, dot_wrapped(xa[i], xb[i], xc[i], bits, is_signed))                              \
    BODY_3(clamp_##name, u, u, u, u, dot_clamped(xa[i], xb[i], xc[i], bits, is_signed))

#define MIX_F32(x)  (x)
#define MIX_LOW(x)  modify_low(x, xo[i])
#define MIX_HIGH(x) modify_high(x, xo[i])
#define MIX_MIX_F32(f)
#define MIX_MIX_LOW(f)                                                                                       \
    GET(xo, o, u);                                                                                           \
    to_halves(r, f)
#define MIX_MIX_HIGH(f) MIX_MIX_LOW(f)
/* The clamped f32 is what is rounded to f16. */
#define MIX_BODY(name, to, finish)                                                                           \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, f);                                                                                       \
        GET(xb, b, f);                                                                                       \
        GET(xc, c, f);                                                                                       \
        alignas(64) float f[SLICE];                                                                          \
        ARRAY(r, u);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            const float x = f32_fma(AS_f(xa[i]), AS_f(xb[i]), AS_f(xc[i]));                                  \
            nan[i] = MASK(x != x);                                                                           \
            f[i] = finish;                                                                                   \
            r[i] = f32_bits(f[i]);                                                                           \
        }                                                                                                    \
        MIX_##to(f);                                                                                         \
        EACH_LANE(i) r[i] = to(r[i]);                                                                        \
        put_32(d, r);                                                                                        \
        put_32(bad, nan);                                                                                    \
    }
#define PK_MIX(name, to)                                                                                     \
    MIX_BODY(name, to, x)                                                                                    \
    MIX_BODY(clamp_##name, to, modify_clamp_f32(x, false))

/* Two products of f16, which are exact in f32, are added one after the other; in v_dot2 without rounding in
 * between, which is the same. */
#define DOT2_LOAD                                                                                            \
    alignas(64) float a0[SLICE], a1[SLICE], b0[SLICE], b1[SLICE];                                            \
    low_halves(a0, a);                                                                                       \
    high_halves(a1, a);                                                                                      \
    low_halves(b0, b);                                                                                       \
    high_halves(b1, b);                                                                                      \
    GET(xc, c, u)
BODY(v_dot2c_f32_f16)
{
    DOT2_LOAD;
    ARITHMETIC(f, AS_f(xc[i]) + a0[i] * b0[i] + a1[i] * b1[i]);
}

#define PK_DOT_F16(name)                                                                                     \
    BODY(name)                                                                                               \
    {                                                                                                        \
        DOT2_LOAD;                                                                                           \
        ARITHMETIC(f, f32_fma(a1[i], b1[i], f32_fma(a0[i], b0[i], AS_f(xc[i]))));                            \
    }
#include "sem/vector/packed.def"

PK_F16_FMA(v_pk_fmac_f16)

/* ---- modifiers: the arguments besides a are rows that hold the same in each lane ---- */

/* neg and abs: a & b ^ c. */
BODY_3(modify_sign, u, u, u, u, modify_sign(xa[i], xb[i], xc[i]))

/* SDWA source: b is the shift, c the mask, m the sign bit or 0. */
BODY(modify_part)
{
    GET(xa, a, u);
    GET(shift, b, u);
    GET(mask, c, u);
    GET(sign, m, u);
    ARRAY(r, u);
    EACH_LANE(i) r[i] = modify_part(xa[i], shift[i], mask[i], sign[i]);
    put_32(d, r);
}

/* SDWA destination: b is the shift, c the mask of the part in its place; place: m the sign bit there, or 0.
 */
BODY(modify_place)
{
    GET(xa, a, u);
    GET(shift, b, u);
    GET(mask, c, u);
    GET(sign, m, u);
    ARRAY(r, u);
    EACH_LANE(i) r[i] = modify_place(xa[i], 0, shift[i], mask[i], 0, sign[i]);
    put_32(d, r);
}

BODY(modify_place_keep)
{
    GET(xa, a, u);
    GET(shift, b, u);
    GET(mask, c, u);
    GET(xo, o, u);
    ARRAY(r, u);
    EACH_LANE(i) r[i] = modify_place(xa[i], xo[i], shift[i], mask[i], ~mask[i], 0);
    put_32(d, r);
}

/* A 16-bit result in one half of the destination. */
BODY(modify_high)
{
    GET(xa, a, u);
    GET(xo, o, u);
    ARRAY(r, u);
    EACH_LANE(i) r[i] = modify_high(xa[i], xo[i]);
    put_32(d, r);
}

BODY(modify_low)
{
    GET(xa, a, u);
    GET(xo, o, u);
    ARRAY(r, u);
    EACH_LANE(i) r[i] = modify_low(xa[i], xo[i]);
    put_32(d, r);
}

/* Packed halves: b nonzero takes the high one for the low result, c for the high one; m flips signs. */
BODY(modify_halves)
{
    GET(xa, a, u);
    GET(low, b, u);
    GET(high, c, u);
    GET(flip, m, u);
    ARRAY(r, u);
    EACH_LANE(i) r[i] = modify_halves(xa[i], low[i] != 0, high[i] != 0, flip[i]);
    put_32(d, r);
}

/* A source of v_fma_mix that is f16. */
BODY(modify_mix_low)
{
    alignas(64) float f[SLICE];
    low_halves(f, a);
    put_32(d, f);
}

BODY(modify_mix_high)
{
    alignas(64) float f[SLICE];
    high_halves(f, a);
    put_32(d, f);
}

/* clamp, of the low half for f16, of both for pk_f16. */
#define CLAMP(name, T, fn)                                                                                   \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        ARRAY(r, T);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            r[i] = TO_##T(fn(AS_##T(xa[i]), false));                                                         \
            nan[i] = MASK(IS_NAN_##T(xa[i]));                                                                \
        }                                                                                                    \
        PUT(d, r, T);                                                                                        \
        put_32(bad, nan);                                                                                    \
    }
CLAMP(modify_clamp_f32, f, modify_clamp_f32)
CLAMP(modify_clamp_f64, d, modify_clamp_f64)

BODY(modify_clamp_f16)
{
    GET(xa, a, u);
    ARRAY(r, u);
    ARRAY(nan, u);
    EACH_LANE(i)
    {
        r[i] = modify_low(modify_clamp_f16(H(xa[i]), false), xa[i]);
        nan[i] = MASK(f16_is_nan(xa[i]));
    }
    put_32(d, r);
    put_32(bad, nan);
}

BODY(modify_clamp_pk_f16)
{
    GET(xa, a, u);
    ARRAY(r, u);
    ARRAY(nan, u);
    EACH_LANE(i)
    {
        r[i] = modify_clamp_f16(H(xa[i]), false) | modify_clamp_f16(xa[i] >> 16, false) << 16;
        nan[i] = MASK(f16_is_nan(xa[i]) | f16_is_nan(xa[i] >> 16));
    }
    put_32(d, r);
    put_32(bad, nan);
}
