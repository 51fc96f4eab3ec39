/* SPDX-License-Identifier: MIT */
/* Handlers of f32 and f64 arithmetic. */
#include "sem/vector/lane_float.h"
#include "sem/vector/valu_arith.h"

#define BITS_f(r, i)       VALU_LD_u(r, i)
#define BITS_d(r, i)       VALU_LD_q(r, i)
#define ST_BITS_f(r, i, x) VALU_ST_u(r, i, x, 0)
#define ST_BITS_d(r, i, x) VALU_ST_q(r, i, x, 0)
#define FLUSH_f            f32_flush
#define FLUSH_d            f64_flush

#define GET_2(T) chunk_load_##T(x0, a, base), chunk_load_##T(x1, b, base)
#define GET_3(T) GET_2(T), chunk_load_##T(x2, c, base)
#define ARITHMETIC(name, M, T, n, fn)                                                                        \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];                     \
        wave_row *r = valu_result(w, in);                                                                    \
        const bool slow = w->mode_slow;                                                                      \
        const unsigned csr = VALU_UNLIKELY(slow) ? VALU_ENTER_##M(w) : 0;                                    \
        (void)c;                                                                                             \
        VALU_ARITHMETIC(T, GET_##n(T), VALU_CALL_##n(fn), VALU_FIX_##n##_##T)                                \
        if (VALU_UNLIKELY(slow))                                                                             \
            valu_float_leave(csr);                                                                           \
        return valu_commit(w, in, r, VALU_ROWS_##T);                                                         \
    }
#define AR_2(name, M, T, fn) ARITHMETIC(name, M, T, 2, fn)
#define AR_3(name, M, T, fn) ARITHMETIC(name, M, T, 3, fn)

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
#include "sem/vector/valu_float.def"

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
