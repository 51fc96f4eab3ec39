/* SPDX-License-Identifier: MIT */
/*
 * The lane-wise instructions of the vector ALU as functions for code generators: compiled to bitcode, from
 * which src/jit takes the body of each, a single block of vector instructions on SLICE lanes, as many dwords
 * as the host's vectors have.
 *
 *   d     the result: row r of it at d + r * SLICE, low dwords first
 *   dm    a lane mask as a result, in dwords of 0 or ~0
 *   a, b, c   sources, in rows as well
 *   m     a lane mask as a source, in dwords of 0 or ~0
 *   o     the destination before the instruction
 *   bad   becomes nonzero in lanes whose result is not the instruction's, as a NaN's payload mostly: who runs
 *         the code has them done again by the handlers.  A function without such lanes leaves it alone.
 *
 * MODE is the plain one here: round to nearest even, denormals kept, no FP16_OVFL.  Nothing depends on
 * MODE.IEEE and MODE.DX10_CLAMP, as they matter to NaNs alone.
 *
 * Arguments that are no rows of the instruction, or that OP_SEL decides about:
 *
 *   v_cvt_pk_fp8_f32, v_cvt_pk_bf8_f32, v_cvt_sr_*   c is how many bits up in the destination the result goes
 *   v_div_fmas_*               m is VCC
 *   v_mbcnt_*                  c is the numbers of the lanes
 *   v_fma_mix*                 sources are f32: modify_mix_low and modify_mix_high make them of f16
 *   v_pk_*_f32, v_pk_mov_b32   rows are those that OP_SEL selects
 */
#include <stdalign.h>

#include "sem/vector/lane_carry.h"
#include "sem/vector/lane_cvt.h"
#include "sem/vector/lane_div.h"
#include "sem/vector/lane_dot.h"
#include "sem/vector/lane_f16.h"
#include "sem/vector/lane_float.h"
#include "sem/vector/lane_int.h"
#include "sem/vector/lane_modify.h"
#include "sem/vector/lane_trans.h"
#include "sem/vector/vec.h"

_Static_assert(SLICE == VL, "a slice is a vector of the host");

typedef const uint32_t *restrict slice_in;
typedef uint32_t *restrict slice_out;

#define BODY(name)                                                                                           \
    void slice_##name(slice_out d, slice_out dm, slice_in a, slice_in b, slice_in c, slice_in m, slice_in o, \
                      slice_out bad);                                                                        \
    void slice_##name(slice_out d, slice_out dm, slice_in a, slice_in b, slice_in c, slice_in m, slice_in o, \
                      slice_out bad)

/*
 * One vector operation for each operation of the loop's body.  Without the hints, clang would take the loop
 * apart before it looks for vectors.
 */
#ifdef __clang__
#define EACH(count, i)                                                                                       \
    _Pragma("clang loop vectorize(assume_safety) interleave_count(1) unroll(disable)")                       \
        _Pragma("clang loop vectorize_width(SLICE)") for (int i = 0; i < (count); i++)
#else
#define EACH(count, i) _Pragma("GCC ivdep") for (int i = 0; i < (count); i++)
#endif
#define EACH_LANE(i) EACH(SLICE, i)

/* ---- rows ---- */

typedef uint32_t slice_row __attribute__((vector_size(SLICE * 4), may_alias));
typedef uint32_t slice_rows __attribute__((vector_size(SLICE * 8), may_alias));

#if SLICE == 16
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD  1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define MERGE                                                                                                \
    0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,    \
        14, 30, 15, 31
#define FIRST 0, 1, 2, 3, 4, 5, 6, 7
#define LAST  8, 9, 10, 11, 12, 13, 14, 15
#else
#define FIRST 0, 1, 2, 3
#define LAST  4, 5, 6, 7
#define EVEN  0, 2, 4, 6, 8, 10, 12, 14
#define ODD   1, 3, 5, 7, 9, 11, 13, 15
#define MERGE 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15
#endif

LANE void get_32(void *x, const uint32_t *p)
{
    *(slice_row *)x = *(const slice_row *)p;
}

LANE void put_32(uint32_t *p, const void *x)
{
    *(slice_row *)p = *(const slice_row *)x;
}

/* 64 bits have their halves in two rows. */
LANE void get_64(void *x, const uint32_t *p)
{
    const slice_row low = *(const slice_row *)p, high = *(const slice_row *)(p + SLICE);
    *(slice_rows *)x = __builtin_shufflevector(low, high, MERGE);
}

LANE void put_64(uint32_t *p, const void *x)
{
    const slice_rows both = *(const slice_rows *)x;
    *(slice_row *)p = __builtin_shufflevector(both, both, EVEN);
    *(slice_row *)(p + SLICE) = __builtin_shufflevector(both, both, ODD);
}

/* Types by their letters in the lists (see valu.h): how many bits, and as what a lane function takes and
 * gives them. */
#define BITS_u  32
#define BITS_f  32
#define BITS_h  32
#define BITS_k  32
#define BITS_q  64
#define BITS_d  64
#define AS_u(x) (x)
#define AS_f(x) f32_from_bits(x)
#define AS_h(x) ((uint16_t)(x))
#define AS_q(x) (x)
#define AS_d(x) f64_from_bits(x)
#define TO_u(x) (x)
#define TO_f(x) f32_bits(x)
#define TO_h(x) ((x) & 0xffffu)
#define TO_k(x) modify_low(x, xo[i])
#define TO_q(x) (x)
#define TO_d(x) f64_bits(x)

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
/* An array x of the lanes of source p, or for those of a result. */
#define ARRAY_32(x) alignas(64) uint32_t x[SLICE]
#define ARRAY_64(x) alignas(128) uint64_t x[SLICE]
#define ARRAY(x, T) PASTE(ARRAY_, BITS_##T)(x)
#define GET(x, p, T)                                                                                         \
    ARRAY(x, T);                                                                                             \
    PASTE(get_, BITS_##T)(x, p)
#define PUT(p, x, T) PASTE(put_, BITS_##T)(p, x)
#define GET_OLD_k    GET(xo, o, u)
#define GET_OLD_u
#define GET_OLD_f
#define GET_OLD_h
#define GET_OLD_q
#define GET_OLD_d
#define MASK(x) ((x) ? ~0u : 0)

/* ---- a function of one, two or three sources ---- */

#define BODY_1(name, D, A, call)                                                                             \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, A);                                                                                       \
        GET_OLD_##D;                                                                                         \
        ARRAY(r, D);                                                                                         \
        EACH_LANE(i) r[i] = TO_##D(call);                                                                    \
        PUT(d, r, D);                                                                                        \
    }
#define BODY_2(name, D, A, B, call)                                                                          \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, A);                                                                                       \
        GET(xb, b, B);                                                                                       \
        GET_OLD_##D;                                                                                         \
        ARRAY(r, D);                                                                                         \
        EACH_LANE(i) r[i] = TO_##D(call);                                                                    \
        PUT(d, r, D);                                                                                        \
    }
#define BODY_3(name, D, A, B, C, call)                                                                       \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, A);                                                                                       \
        GET(xb, b, B);                                                                                       \
        GET(xc, c, C);                                                                                       \
        GET_OLD_##D;                                                                                         \
        ARRAY(r, D);                                                                                         \
        EACH_LANE(i) r[i] = TO_##D(call);                                                                    \
        PUT(d, r, D);                                                                                        \
    }
#define FN_1(name, M, D, A, fn)    BODY_1(name, D, A, fn(AS_##A(xa[i])))
#define FN_2(name, M, D, A, B, fn) BODY_2(name, D, A, B, fn(AS_##A(xa[i]), AS_##B(xb[i])))
#define FN_3(name, M, D, A, B, C, fn)                                                                        \
    BODY_3(name, D, A, B, C, fn(AS_##A(xa[i]), AS_##B(xb[i]), AS_##C(xc[i])))
#define CL_2(name, ...) FN_2(clamp_##name, __VA_ARGS__)
#define CL_3(name, ...) FN_3(clamp_##name, __VA_ARGS__)

/* Arithmetic: the host's NaN is not the instruction's. */
#define FLOAT_f float
#define FLOAT_d double
#define ARITHMETIC(T, call)                                                                                  \
    ARRAY(r, T);                                                                                             \
    ARRAY(nan, u);                                                                                           \
    EACH_LANE(i)                                                                                             \
    {                                                                                                        \
        const FLOAT_##T x = call;                                                                            \
        r[i] = TO_##T(x);                                                                                    \
        nan[i] = MASK(x != x);                                                                               \
    }                                                                                                        \
    PUT(d, r, T);                                                                                            \
    PUT(bad, nan, u)
#define AR_2(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        ARITHMETIC(T, fn(AS_##T(xa[i]), AS_##T(xb[i])));                                                     \
    }
#define AR_3(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        GET(xc, c, T);                                                                                       \
        ARITHMETIC(T, fn(AS_##T(xa[i]), AS_##T(xb[i]), AS_##T(xc[i])));                                      \
    }

/* Minimum and maximum: what they make of NaNs, MODE.IEEE decides. */
#define IS_NAN_f     f32_is_nan
#define IS_NAN_d     f64_is_nan
#define IS_NAN_h     f16_is_nan
#define BITS_OF_f(x) (x)
#define BITS_OF_d(x) (x)
#define BITS_OF_h(x) ((x) & 0xffffu)
#define MM_2(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        ARRAY(r, T);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            r[i] = fn##_number(xa[i], xb[i]);                                                                \
            nan[i] = MASK(IS_NAN_##T(xa[i]) | IS_NAN_##T(xb[i]));                                            \
        }                                                                                                    \
        PUT(d, r, T);                                                                                        \
        PUT(bad, nan, u);                                                                                    \
    }
#define MM_3(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        GET(xc, c, T);                                                                                       \
        ARRAY(r, T);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            r[i] = fn##_number(xa[i], xb[i], xc[i]);                                                         \
            nan[i] = MASK(IS_NAN_##T(xa[i]) | IS_NAN_##T(xb[i]) | IS_NAN_##T(xc[i]));                        \
        }                                                                                                    \
        PUT(d, r, T);                                                                                        \
        PUT(bad, nan, u);                                                                                    \
    }
#include "sem/vector/valu_cvt.def"
#include "sem/vector/valu_float.def"
#include "sem/vector/valu_int.def"

/* ---- f16: as f32 ---- */

typedef uint16_t slice_half __attribute__((may_alias));

/* The low or the high halves of a row, as floats. */
LANE void low_halves(float *f, const void *row)
{
#if SLICE == 16
    /* An intrinsic that LLVM does not see through: it would do floor() and the like in f16, which hosts do
     * not. */
    const __m256i x = _mm512_cvtepi32_epi16(_mm512_load_si512(row));
    _mm512_store_ps(f, _mm512_cvt_roundph_ps(x, _MM_FROUND_NO_EXC));
#else
    alignas(64) uint32_t low[SLICE], high[SLICE];
    v_f16_to_f32(low, high, row);
    get_32(f, low);
#endif
}

LANE void high_halves(float *f, const uint32_t *row)
{
    ARRAY(x, u);
    EACH_LANE(i) x[i] = row[i] >> 16;
    low_halves(f, x);
}

/* A row of floats, rounded, in the low halves. */
LANE void to_halves(uint32_t *r, const float *f)
{
    alignas(64) uint16_t half[SLICE];
    v_to_f16(half, v_load((const uint32_t *)(const void *)f));
    EACH_LANE(i) r[i] = half[i];
}

#define LOAD_f16(f, p)                                                                                       \
    alignas(64) float f[SLICE];                                                                              \
    low_halves(f, p)
#define LOAD_f32(f, p)                                                                                       \
    alignas(64) float f[SLICE];                                                                              \
    get_32(f, p)
#define LOAD_u16(f, p)                                                                                       \
    alignas(64) float f[SLICE];                                                                              \
    GET(bits_##f, p, u);                                                                                     \
    EACH_LANE(i) f[i] = (float)(int32_t)(bits_##f[i] & 0xffff)
#define LOAD_i16(f, p)                                                                                       \
    alignas(64) float f[SLICE];                                                                              \
    GET(bits_##f, p, u);                                                                                     \
    EACH_LANE(i) f[i] = (float)(int32_t)(int16_t)bits_##f[i]

#define F16_LOAD_1(L) LOAD_##L(fa, a)
#define F16_LOAD_2(L)                                                                                        \
    F16_LOAD_1(L);                                                                                           \
    LOAD_f16(fb, b)
#define F16_LOAD_3(L)                                                                                        \
    F16_LOAD_2(L);                                                                                           \
    LOAD_f16(fc, c)
#define F16_CALL_1(fn) fn(fa[i])
#define F16_CALL_2(fn) fn(fa[i], fb[i])
#define F16_CALL_3(fn) fn(fa[i], fb[i], fc[i])
/* One source's NaN survives the conversions. */
#define F16_NAN_1 (void)nan
#define F16_NAN_2 PUT(bad, nan, u)
#define F16_NAN_3 PUT(bad, nan, u)
#define HF(name, D, n, L, fast, exact)                                                                       \
    BODY(name)                                                                                               \
    {                                                                                                        \
        F16_LOAD_##n(L);                                                                                     \
        alignas(64) float f[SLICE];                                                                          \
        ARRAY(half, u);                                                                                      \
        ARRAY(r, u);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            f[i] = F16_CALL_##n(fast);                                                                       \
            nan[i] = MASK(f[i] != f[i]);                                                                     \
        }                                                                                                    \
        to_halves(half, f);                                                                                  \
        GET_OLD_##D;                                                                                         \
        EACH_LANE(i) r[i] = TO_##D(half[i]);                                                                 \
        PUT(d, r, u);                                                                                        \
        F16_NAN_##n;                                                                                         \
    }

#define H(x)          ((x) & 0xffffu)
#define HM_CALL_2(fn) fn##_number(H(xa[i]), H(xb[i]))
#define HM_CALL_3(fn) fn##_number(H(xa[i]), H(xb[i]), H(xc[i]))
#define HM_NAN_2      (f16_is_nan(xa[i]) | f16_is_nan(xb[i]))
#define HM_NAN_3      (HM_NAN_2 | f16_is_nan(xc[i]))
#define HM_GET_2                                                                                             \
    GET(xa, a, u);                                                                                           \
    GET(xb, b, u)
#define HM_GET_3                                                                                             \
    HM_GET_2;                                                                                                \
    GET(xc, c, u)
#define HM(name, D, n, fn)                                                                                   \
    BODY(name)                                                                                               \
    {                                                                                                        \
        HM_GET_##n;                                                                                          \
        GET_OLD_##D;                                                                                         \
        ARRAY(r, u);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            r[i] = TO_##D(HM_CALL_##n(fn));                                                                  \
            nan[i] = MASK(HM_NAN_##n);                                                                       \
        }                                                                                                    \
        PUT(d, r, u);                                                                                        \
        PUT(bad, nan, u);                                                                                    \
    }
#include "sem/vector/valu_f16.def"

BODY(v_cvt_f32_f16)
{
    LOAD_f16(f, a);
    put_32(d, f);
}

BODY(v_ldexp_f16)
{
    LOAD_f16(fa, a);
    GET(xb, b, u);
    alignas(64) float f[SLICE];
    ARRAY(r, u);
    EACH_LANE(i) f[i] = f16_ldexp(fa[i], (uint16_t)xb[i]);
    to_halves(r, f);
    put_32(d, r);
}

/* ---- comparisons ---- */

#define BITS_i16  32
#define BITS_i32  32
#define BITS_i64  64
#define AS_i16(x) ((int16_t)(x))
#define AS_i32(x) ((int32_t)(x))
#define AS_i64(x) ((int64_t)(x))
#define COMPARE(T, call)                                                                                     \
    ARRAY(r, u);                                                                                             \
    EACH_LANE(i) r[i] = MASK(call);                                                                          \
    put_32(dm, r)
#define COMPARE_N(T, fn)                                                                                     \
    GET(xa, a, T);                                                                                           \
    GET(xb, b, T);                                                                                           \
    COMPARE(T, fn(AS_##T(xa[i]), AS_##T(xb[i])))
#define COMPARE_S COMPARE_N
#define COMPARE_D COMPARE_N
#define COMPARE_H(T, fn)                                                                                     \
    LOAD_f16(fa, a);                                                                                         \
    LOAD_f16(fb, b);                                                                                         \
    COMPARE(T, fn(fa[i], fb[i]))
#define CMP(name, M, T, fn)                                                                                  \
    BODY(v_cmp_##name)                                                                                       \
    {                                                                                                        \
        COMPARE_##M(T, fn);                                                                                  \
    }
#define CMP_CLASS(name, T, fn)                                                                               \
    BODY(v_cmp_##name)                                                                                       \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, u);                                                                                       \
        COMPARE(T, fn(AS_##T(xa[i]), xb[i]));                                                                \
    }
#include "sem/vector/valu_cmp.def"

BODY(v_cndmask_b32)
{
    GET(xa, a, u);
    GET(xb, b, u);
    GET(xm, m, u);
    ARRAY(r, u);
    EACH_LANE(i)
    {
        const uint32_t x = xa[i], y = xb[i];
        r[i] = xm[i] ? y : x;
    }
    put_32(d, r);
}

/* ---- sums with carries ---- */

#define CARRY(name, with_carry, fn, clamp, limit)                                                            \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, u);                                                                                       \
        GET(xb, b, u);                                                                                       \
        ARRAY(xm, u);                                                                                        \
        ARRAY(r, u);                                                                                         \
        ARRAY(carry, u);                                                                                     \
        if (with_carry)                                                                                      \
            get_32(xm, m);                                                                                   \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            uint32_t out;                                                                                    \
            const uint32_t x = fn(xa[i], xb[i], with_carry ? xm[i] & 1 : 0, &out);                           \
            r[i] = (clamp) && out ? limit : x;                                                               \
            carry[i] = 0 - out;                                                                              \
        }                                                                                                    \
        put_32(d, r);                                                                                        \
        put_32(dm, carry);                                                                                   \
    }
#define MAD64(name, fn, clamp)                                                                               \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, u);                                                                                       \
        GET(xb, b, u);                                                                                       \
        GET(xc, c, q);                                                                                       \
        ARRAY(r, q);                                                                                         \
        ARRAY(carry, u);                                                                                     \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            uint32_t out;                                                                                    \
            r[i] = fn(xa[i], xb[i], xc[i], clamp, &out);                                                     \
            carry[i] = 0 - out;                                                                              \
        }                                                                                                    \
        put_64(d, r);                                                                                        \
        put_32(dm, carry);                                                                                   \
    }
#include "sem/vector/valu_carry.def"

BODY(v_lshl_add_u64)
{
    GET(low, a, u);
    GET(high, a + SLICE, u);
    GET(shift, b, u);
    GET(addend, c, u);
    GET(addend_high, c + SLICE, u);
    ARRAY(r, u);
    ARRAY(r_high, u);
    EACH_LANE(i) r[i] = u64_lshl_add(low[i], high[i], shift[i], addend[i], addend_high[i], r_high + i);
    put_32(d, r);
    put_32(d + SLICE, r_high);
}

/* ---- division ---- */

/* Where nothing is scaled, or an operand is zero; the rest is rare, and long. */
BODY(v_div_scale_f32)
{
    GET(xa, a, u);
    GET(xb, b, u);
    GET(xc, c, u);
    ARRAY(r, u);
    ARRAY(vcc, u);
    ARRAY(other, u);
    EACH_LANE(i)
    {
        const uint32_t zero = MASK(!(xb[i] << 1)) | MASK(!(xc[i] << 1));
        r[i] = zero ? F32_DEFAULT_NAN : xa[i];
        vcc[i] = 0;
        other[i] = (0 - div_scale_special(xb[i], xc[i], F32_DIV_SCALE)) & ~zero;
    }
    put_32(d, r);
    put_32(dm, vcc);
    put_32(bad, other);
}

BODY(v_div_scale_f64)
{
    GET(xa, a, q);
    GET(xb, b, q);
    GET(xc, c, q);
    ARRAY(r, q);
    ARRAY(vcc, u);
    ARRAY(other, u);
    EACH_LANE(i)
    {
        const uint32_t zero = MASK(!(xb[i] << 1)) | MASK(!(xc[i] << 1));
        r[i] = zero ? F64_DEFAULT_NAN : xa[i];
        vcc[i] = 0;
        other[i] =
            (0 - div_scale_special((uint32_t)(xb[i] >> 32), (uint32_t)(xc[i] >> 32), F64_DIV_SCALE)) & ~zero;
    }
    put_64(d, r);
    put_32(dm, vcc);
    put_32(bad, other);
}

/* Where div_scale did nothing: the sum that it is then. */
#define DIV_FMAS(name, T, fn)                                                                                \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        GET(xc, c, T);                                                                                       \
        GET(xm, m, u);                                                                                       \
        ARRAY(r, T);                                                                                         \
        ARRAY(other, u);                                                                                     \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            const FLOAT_##T x = fn(AS_##T(xa[i]), AS_##T(xb[i]), AS_##T(xc[i]));                             \
            r[i] = TO_##T(x);                                                                                \
            other[i] = MASK(x != x) | xm[i];                                                                 \
        }                                                                                                    \
        PUT(d, r, T);                                                                                        \
        put_32(bad, other);                                                                                  \
    }
DIV_FMAS(v_div_fmas_f32, f, f32_fma)
DIV_FMAS(v_div_fmas_f64, d, f64_fma)
BODY_3(v_div_fixup_f32, u, u, u, u, f32_div_fixup(xa[i], xb[i], xc[i]))
BODY_3(v_div_fixup_f64, q, q, q, q, f64_div_fixup(xa[i], xb[i], xc[i]))

/* ---- more with a shape of their own ---- */

BODY(v_mul_legacy_f32)
{
    GET(xa, a, f);
    GET(xb, b, f);
    ARRAY(r, u);
    ARRAY(nan, u);
    EACH_LANE(i)
    {
        const float x = AS_f(xa[i]), y = AS_f(xb[i]), product = x * y;
        const uint32_t zero = MASK(x == 0.0f) | MASK(y == 0.0f);
        r[i] = f32_bits(product) & ~zero;
        nan[i] = MASK(product != product) & ~zero;
    }
    put_32(d, r);
    put_32(bad, nan);
}

BODY_3(v_mbcnt_lo_u32_b32, u, u, u, u, u32_mbcnt_lo(xa[i], xb[i], xc[i]))
BODY_3(v_mbcnt_hi_u32_b32, u, u, u, u, u32_mbcnt_hi(xa[i], xb[i], xc[i]))
BODY_1(v_accvgpr_mov_b32, u, u, u32_mov(xa[i]))
BODY_1(v_accvgpr_read_b32, u, u, u32_mov(xa[i]))
BODY_1(v_accvgpr_write_b32, u, u, u32_mov(xa[i]))

BODY(v_cvt_pkaccum_u8_f32)
{
    GET(xa, a, u);
    GET(xb, b, u);
    GET(xo, o, u);
    ARRAY(r, u);
    EACH_LANE(i) r[i] = f32_cvt_pk_u8(AS_f(xa[i]), xb[i], xo[i]);
    put_32(d, r);
}

#define CVT_8(name, bits, call)                                                                              \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, u);                                                                                       \
        GET(xb, b, u);                                                                                       \
        GET(xc, c, u);                                                                                       \
        GET(xo, o, u);                                                                                       \
        ARRAY(r, u);                                                                                         \
        EACH_LANE(i) r[i] = modify_place(call, xo[i], xc[i], bits << xc[i], ~(bits << xc[i]), 0);            \
        put_32(d, r);                                                                                        \
    }
#define PAIR_8(convert) convert(AS_f(xa[i]), false) | (uint32_t)convert(AS_f(xb[i]), false) << 8
CVT_8(v_cvt_pk_fp8_f32, 0xffffu, PAIR_8(fp8_from_f32))
CVT_8(v_cvt_pk_bf8_f32, 0xffffu, PAIR_8(bf8_from_f32))
CVT_8(v_cvt_sr_fp8_f32, 0xffu, fnuz_from_f32_random(xa[i], xb[i], 3, 8, false))
CVT_8(v_cvt_sr_bf8_f32, 0xffu, fnuz_from_f32_random(xa[i], xb[i], 2, 16, false))

/* Four windows of a pair, a byte apart. */
#define WINDOW(k) ((uint32_t)(xa[i] >> 8 * (k)))
#define SUM(k)    u8_msad4(WINDOW(k), xb[i])
#define MQSAD_U32(name, add)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, q);                                                                                       \
        GET(xb, b, u);                                                                                       \
        GET(x0, c, u);                                                                                       \
        GET(x1, c + SLICE, u);                                                                               \
        GET(x2, c + 2 * SLICE, u);                                                                           \
        GET(x3, c + 3 * SLICE, u);                                                                           \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            x0[i] = add(SUM(0), x0[i]);                                                                      \
            x1[i] = add(SUM(1), x1[i]);                                                                      \
            x2[i] = add(SUM(2), x2[i]);                                                                      \
            x3[i] = add(SUM(3), x3[i]);                                                                      \
        }                                                                                                    \
        put_32(d, x0);                                                                                       \
        put_32(d + SLICE, x1);                                                                               \
        put_32(d + 2 * SLICE, x2);                                                                           \
        put_32(d + 3 * SLICE, x3);                                                                           \
    }
MQSAD_U32(v_mqsad_u32_u8, u32_add)
MQSAD_U32(clamp_v_mqsad_u32_u8, u32_add_sat)

#define MQSAD_U16(name, add)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, q);                                                                                       \
        GET(xb, b, u);                                                                                       \
        GET(x0, c, u);                                                                                       \
        GET(x1, c + SLICE, u);                                                                               \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            x0[i] = (add((uint16_t)SUM(0), (uint16_t)x0[i]) & 0xffff) |                                      \
                    add((uint16_t)SUM(1), (uint16_t)(x0[i] >> 16)) << 16;                                    \
            x1[i] = (add((uint16_t)SUM(2), (uint16_t)x1[i]) & 0xffff) |                                      \
                    add((uint16_t)SUM(3), (uint16_t)(x1[i] >> 16)) << 16;                                    \
        }                                                                                                    \
        put_32(d, x0);                                                                                       \
        put_32(d + SLICE, x1);                                                                               \
    }
MQSAD_U16(v_mqsad_pk_u16_u8, u16_add)
MQSAD_U16(clamp_v_mqsad_pk_u16_u8, u16_add_sat)

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

LANE void put_halves(uint32_t *d, uint32_t *bad, struct half_vectors r)
{
    ARRAY(x, u);
    ARRAY(nan, u);
    v_to_f16((uint16_t *)(void *)x, r.x[0]);
    v_to_f16((uint16_t *)(void *)x + SLICE, r.x[1]);
    EACH_LANE(i) nan[i] = MASK(f16_is_nan(x[i]) | f16_is_nan(x[i] >> 16));
    put_32(d, x);
    put_32(bad, nan);
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
#define PK_F16_MINMAX(name, fn)                                                                              \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, u);                                                                                       \
        GET(xb, b, u);                                                                                       \
        ARRAY(r, u);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            r[i] = fn(H(xa[i]), H(xb[i])) | fn(xa[i] >> 16, xb[i] >> 16) << 16;                              \
            nan[i] = MASK(f16_is_nan(xa[i]) | f16_is_nan(xb[i]) | f16_is_nan(xa[i] >> 16) |                  \
                          f16_is_nan(xb[i] >> 16));                                                          \
        }                                                                                                    \
        put_32(d, r);                                                                                        \
        put_32(bad, nan);                                                                                    \
    }
#define PK_F16_ADD(name)    PK_F16_ARITHMETIC(name, F16_ADD, b)
#define PK_F16_MUL(name)    PK_F16_ARITHMETIC(name, F16_MUL, b)
#define PK_F16_FMA(name)    PK_F16_ARITHMETIC(name, F16_FMA, c)
#define PK_F16_MIN(name)    PK_F16_MINMAX(name, f16_min_number)
#define PK_F16_MAX(name)    PK_F16_MINMAX(name, f16_max_number)
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
