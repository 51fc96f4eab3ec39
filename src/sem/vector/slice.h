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
#ifndef EHP_SEM_VECTOR_SLICE_H
#define EHP_SEM_VECTOR_SLICE_H

#include <stdalign.h>

#include "sem/vector/lane_float.h"
#include "sem/vector/lane_int.h"
#include "sem/vector/lane_modify.h"
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
/* By the letter, of bits. */
#define IS_NAN_f f32_is_nan
#define IS_NAN_d f64_is_nan
#define IS_NAN_h f16_is_nan
#define H(x)     ((x) & 0xffffu)

/* ---- f16: as f32 ---- */

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

/* Cut, with a second row in the high halves. */
LANE void to_cut_pairs(uint32_t *r, const uint32_t *low, const uint32_t *high)
{
    alignas(64) uint16_t l[SLICE], h[SLICE];
    v_to_f16_cut(l, v_load(low));
    v_to_f16_cut(h, v_load(high));
    EACH_LANE(i) r[i] = l[i] | (uint32_t)h[i] << 16;
}

#endif
