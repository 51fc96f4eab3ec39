/* SPDX-License-Identifier: MIT */
/*
 * Handlers of comparisons, v_cmp (a lane mask in an SGPR pair) and v_cmpx (EXEC
 * as well), and of v_cndmask, which uses such a mask.  Lanes that EXEC switches
 * off give 0 in the mask.
 */
#include "sem/vector/lane_float.h"
#include "sem/vector/valu.h"

static inline uint64_t valu_lanes(const struct wave *w, const struct xinst *in)
{
    return VALU_UNLIKELY(in->post) ? exec_lanes(w, in) : w->exec;
}

#define LD_i16(r, i) ((int16_t)(r)[0][i])
#define LD_i32(r, i) ((int32_t)(r)[0][i])
#define LD_i64(r, i) ((int64_t)valu_pair(r, i))
#define LD_h(r, i)   VALU_LD_h(r, i)
#define LD_u(r, i)   VALU_LD_u(r, i)
#define LD_q(r, i)   VALU_LD_q(r, i)
#define LD_f(r, i)   VALU_LD_f(r, i)
#define LD_d(r, i)   VALU_LD_d(r, i)

/* f16 compares as f32, to which every f16 converts exactly. */
static inline void load_f16(float *f, const uint32_t *h, bool flush)
{
    alignas(64) wave_row flushed;
    if (VALU_UNLIKELY(flush)) {
        VALU_EACH_LANE(i)
        {
            flushed[i] = f16_flush(h[i] & 0xffff);
        }
        h = flushed;
    }
    row_from_f16(f, h);
}

#define COMPARE_LOOP(call)                                                                                   \
    do {                                                                                                     \
        _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                               \
        {                                                                                                    \
            m[i] = (call) ? ~0u : 0;                                                                         \
        }                                                                                                    \
    } while (0)

#define COMPARE_N(L, fn) COMPARE_LOOP(fn(LD_##L(a, i), LD_##L(b, i)))
#define COMPARE_H(L, fn)                                                                                     \
    do {                                                                                                     \
        alignas(64) float fa[WAVE_LANES], fb[WAVE_LANES];                                                    \
        const bool flush = !(valu_mode_denorm(w, 'D') & 1);                                                  \
        load_f16(fa, a[0], flush);                                                                           \
        load_f16(fb, b[0], flush);                                                                           \
        COMPARE_LOOP(fn(fa[i], fb[i]));                                                                      \
    } while (0)
#define COMPARE_IN_MODE(M, L, fn)                                                                            \
    do {                                                                                                     \
        const bool slow = w->mode_slow;                                                                      \
        const unsigned csr = VALU_UNLIKELY(slow) ? VALU_ENTER_##M(w) : 0;                                    \
        COMPARE_N(L, fn);                                                                                    \
        if (VALU_UNLIKELY(slow))                                                                             \
            valu_float_leave(csr);                                                                           \
    } while (0)
#define COMPARE_S(L, fn) COMPARE_IN_MODE(S, L, fn)
#define COMPARE_D(L, fn) COMPARE_IN_MODE(D, L, fn)

#define COMPARE(name, M, L, fn, exec_too)                                                                    \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1];                                           \
        alignas(64) wave_row m;                                                                              \
        (void)a, (void)b;                                                                                    \
        COMPARE_##M(L, fn);                                                                                  \
        const uint64_t mask = row_to_mask(m) & valu_lanes(w, in);                                            \
        wave_set_sgpr64(w, in->sd, mask);                                                                    \
        if (exec_too)                                                                                        \
            w->exec = mask;                                                                                  \
        return in + 1;                                                                                       \
    }
#define CMP(name, M, L, fn)                                                                                  \
    COMPARE(v_cmp_##name, M, L, fn, false)                                                                   \
    COMPARE(v_cmpx_##name, M, L, fn, true)

#define COMPARE_C(L, fn) COMPARE_LOOP(fn(LD_##L(a, i), b[0][i]))
#define CMP_CLASS(name, L, fn)                                                                               \
    COMPARE(v_cmp_##name, C, L, fn, false)                                                                   \
    COMPARE(v_cmpx_##name, C, L, fn, true)
#include "sem/vector/valu_cmp.def"

VALU_HANDLER(v_cndmask_b32)
{
    valu_prepare(w, in);
    const uint64_t mask = valu_mask(w, in);
    wave_row *r = valu_result(w, in);
    row_select(r[0], w->v[in->s[0]], w->v[in->s[1]], mask);
    return valu_commit(w, in, r, 1);
}
