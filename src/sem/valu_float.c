/* SPDX-License-Identifier: MIT */
/*
 * Handlers of f32 and f64 arithmetic.
 *
 * The fast path computes with the host's instructions and looks once at the
 * whole row for a NaN; only when there is one does it run again with the lane
 * function that gets NaNs right.  The destination must then still hold what
 * the sources held, so a result that overlaps a source goes through TEMP_DST.
 */
#include "sem/lane_float.h"
#include "sem/valu.h"

#define BITS_f(r, i)       VALU_LD_u(r, i)
#define BITS_d(r, i)       VALU_LD_q(r, i)
#define ST_BITS_f(r, i, x) VALU_ST_u(r, i, x, 0)
#define ST_BITS_d(r, i, x) VALU_ST_q(r, i, x, 0)
#define AS_BITS_f(x)       f32_bits(x)
#define AS_BITS_d(x)       f64_bits(x)
#define NAN2_f             f32_nan2
#define NAN2_d             f64_nan2
#define NAN3_f             f32_nan3
#define NAN3_d             f64_nan3
#define FLUSH_f            f32_flush
#define FLUSH_d            f64_flush
#define ANY_NAN_f(r)       row_any_nan((r)[0])
#define ANY_NAN_d(r)       rows_any_nan64(r)

#define ARITHMETIC(name, M, T, call, fix)                                                                    \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2], *o = NULL;          \
        wave_row *r = valu_apart(w, in, VALU_ROWS_##T);                                                      \
        const bool slow = w->mode_slow;                                                                      \
        const unsigned csr = VALU_UNLIKELY(slow) ? VALU_ENTER_##M(w) : 0;                                    \
        (void)c, (void)o;                                                                                    \
        VALU_LOOP(T, call);                                                                                  \
        if (VALU_UNLIKELY(ANY_NAN_##T(r))) {                                                                 \
            _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                           \
            {                                                                                                \
                ST_BITS_##T(r, i, fix);                                                                      \
            }                                                                                                \
        }                                                                                                    \
        if (VALU_UNLIKELY(slow))                                                                             \
            valu_float_leave(csr);                                                                           \
        return valu_commit_apart(w, in, r, VALU_ROWS_##T);                                                   \
    }
#define AR_2(name, M, T, fn)                                                                                 \
    ARITHMETIC(name, M, T, fn(VALU_LD_##T(a, i), VALU_LD_##T(b, i)),                                         \
               NAN2_##T(BITS_##T(r, i), BITS_##T(a, i), BITS_##T(b, i)))
#define AR_3(name, M, T, fn)                                                                                 \
    ARITHMETIC(name, M, T, fn(VALU_LD_##T(a, i), VALU_LD_##T(b, i), VALU_LD_##T(c, i)),                      \
               NAN3_##T(BITS_##T(r, i), BITS_##T(a, i), BITS_##T(b, i), BITS_##T(c, i)))

/* Minimum and maximum return a source as it is, but for denormals that MODE flushes. */
#define KEEP(x)             (x)
#define MM_CALL_2(fn, T, W) fn(W(BITS_##T(a, i)), W(BITS_##T(b, i)), ieee)
#define MM_CALL_3(fn, T, W) fn(W(BITS_##T(a, i)), W(BITS_##T(b, i)), W(BITS_##T(c, i)), ieee)
#define MM_NUMBER_2(fn, T)  fn##_number(BITS_##T(a, i), BITS_##T(b, i))
#define MM_NUMBER_3(fn, T)  fn##_number(BITS_##T(a, i), BITS_##T(b, i), BITS_##T(c, i))
#define MM_NAN_2_f          row_any_nan2(a[0], b[0])
#define MM_NAN_3_f          (row_any_nan2(a[0], b[0]) || row_any_nan(c[0]))
#define MM_NAN_2_d          (rows_any_nan64(a) || rows_any_nan64(b))
#define MM_LOOP(T, call)                                                                                     \
    do {                                                                                                     \
        _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                               \
        {                                                                                                    \
            ST_BITS_##T(r, i, call);                                                                         \
        }                                                                                                    \
    } while (0)
#define MINMAX(name, M, T, n, fn)                                                                            \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];                     \
        wave_row *r = valu_result(w, in);                                                                    \
        const bool ieee = w->mode & MODE_IEEE;                                                               \
        (void)c;                                                                                             \
        if (VALU_UNLIKELY(w->mode_slow && valu_mode_denorm(w, #M[0]) != 3))                                  \
            MM_LOOP(T, MM_CALL_##n(fn, T, FLUSH_##T));                                                       \
        else if (VALU_UNLIKELY(MM_NAN_##n##_##T))                                                            \
            MM_LOOP(T, MM_CALL_##n(fn, T, KEEP));                                                            \
        else                                                                                                 \
            MM_LOOP(T, MM_NUMBER_##n(fn, T));                                                                \
        return valu_commit(w, in, r, VALU_ROWS_##T);                                                         \
    }
#define MM_2(name, M, T, fn) MINMAX(name, M, T, 2, fn)
#define MM_3(name, M, T, fn) MINMAX(name, M, T, 3, fn)

#define FN_1 VALU_FN_1
#define FN_2 VALU_FN_2
#define FN_3 VALU_FN_3
#include "sem/valu_float.def"

/* Zero times anything is +0, so the NaN rule applies to what is left. */
VALU_HANDLER(v_mul_legacy_f32)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1];
    wave_row *r = valu_result(w, in);
    const bool slow = w->mode_slow;
    const unsigned csr = VALU_UNLIKELY(slow) ? VALU_ENTER_S(w) : 0;
#pragma GCC ivdep
    VALU_EACH_LANE(i)
    {
        const float x = VALU_LD_f(a, i), y = VALU_LD_f(b, i);
        const uint32_t product = f32_nan2(f32_bits(x * y), a[0][i], b[0][i]);
        r[0][i] = x == 0.0f || y == 0.0f ? 0 : product;
    }
    if (VALU_UNLIKELY(slow))
        valu_float_leave(csr);
    return valu_commit(w, in, r, 1);
}
