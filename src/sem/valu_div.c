/* SPDX-License-Identifier: MIT */
/* Handlers of the division steps and of v_trig_preop. */
#include "sem/lane_div.h"
#include "sem/valu.h"

/* Each lane gives a result and a bit of VCC. */
#define DIV_SCALE(name, T, L, fn)                                                                            \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];                     \
        wave_row *r = valu_result(w, in);                                                                    \
        alignas(64) wave_row m;                                                                              \
        _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                               \
        {                                                                                                    \
            bool vcc;                                                                                        \
            VALU_ST_##L(r, i, fn(VALU_LD_##L(a, i), VALU_LD_##L(b, i), VALU_LD_##L(c, i), &vcc), 0);         \
            m[i] = vcc ? ~0u : 0;                                                                            \
        }                                                                                                    \
        wave_set_sgpr64(w, in->sd, row_to_mask(m) & w->exec);                                                \
        return valu_commit(w, in, r, VALU_ROWS_##L);                                                         \
    }
DIV_SCALE(v_div_scale_f32, f, u, f32_div_scale)
DIV_SCALE(v_div_scale_f64, d, q, f64_div_scale)

#define DIV_FMAS(name, M, L, fn)                                                                             \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];                     \
        wave_row *r = valu_result(w, in);                                                                    \
        alignas(64) wave_row m;                                                                              \
        const bool slow = w->mode_slow;                                                                      \
        const unsigned csr = VALU_UNLIKELY(slow) ? VALU_ENTER_##M(w) : 0;                                    \
        if (VALU_LIKELY(w->vcc == 0)) {                                                                      \
            _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                           \
            {                                                                                                \
                VALU_ST_##L(r, i, fn(VALU_LD_##L(a, i), VALU_LD_##L(b, i), VALU_LD_##L(c, i), false), 0);    \
            }                                                                                                \
        } else {                                                                                             \
            row_from_mask(m, w->vcc);                                                                        \
            VALU_EACH_LANE(i)                                                                                \
            {                                                                                                \
                VALU_ST_##L(r, i, fn(VALU_LD_##L(a, i), VALU_LD_##L(b, i), VALU_LD_##L(c, i), m[i] != 0),    \
                            0);                                                                              \
            }                                                                                                \
        }                                                                                                    \
        if (VALU_UNLIKELY(slow))                                                                             \
            valu_float_leave(csr);                                                                           \
        return valu_commit(w, in, r, VALU_ROWS_##L);                                                         \
    }
DIV_FMAS(v_div_fmas_f32, S, u, f32_div_fmas)
DIV_FMAS(v_div_fmas_f64, D, q, f64_div_fmas)

VALU_FN_3(v_div_fixup_f32, S, u, u, u, u, f32_div_fixup)
VALU_FN_3(v_div_fixup_f64, D, q, q, q, q, f64_div_fixup)
VALU_FN_2(v_trig_preop_f64, N, q, q, u, f64_trig_preop)
