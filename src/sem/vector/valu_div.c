/* SPDX-License-Identifier: MIT */
/* Handlers of the division steps and of v_trig_preop. */
#include <string.h>

#include "sem/vector/lane_div.h"
#include "sem/vector/valu.h"

static inline bool scale_special(const uint32_t *b, const uint32_t *c, int shift, uint32_t least,
                                 uint32_t most, uint32_t apart)
{
    uint32_t special = 0;
    VALU_EACH_LANE(i)
    {
        special |= div_scale_special(b[i], c[i], shift, least, most, apart);
    }
    return special != 0;
}

#define SCALE_SPECIAL_u scale_special(b[0], c[0], F32_DIV_SCALE)
#define SCALE_SPECIAL_q scale_special(b[1], c[1], F64_DIV_SCALE)

/* Each lane gives a result and a bit of VCC. */
#define DIV_SCALE(name, T, L, fn)                                                                            \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];                     \
        wave_row *r = valu_result(w, in);                                                                    \
        alignas(64) wave_row m;                                                                              \
        uint64_t bits = 0;                                                                                   \
        if (VALU_UNLIKELY(SCALE_SPECIAL_##L)) {                                                              \
            _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                           \
            {                                                                                                \
                bool vcc;                                                                                    \
                VALU_ST_##L(r, i, fn(VALU_LD_##L(a, i), VALU_LD_##L(b, i), VALU_LD_##L(c, i), &vcc), 0);     \
                m[i] = vcc ? ~0u : 0;                                                                        \
            }                                                                                                \
            bits = row_to_mask(m) & w->exec;                                                                 \
        } else {                                                                                             \
            memmove(r, a, VALU_ROWS_##L * sizeof(wave_row));                                                 \
        }                                                                                                    \
        const struct xinst *next = valu_commit(w, in, r, VALU_ROWS_##L);                                     \
        wave_set_sgpr64(w, in->sd, bits); /* which may be EXEC */                                            \
        return next;                                                                                         \
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

/* Whether some lane's operands need more than the quotient's sign set, by exponents alone: either is zero,
 * denormal, infinite or NaN, or they are far apart. */
static inline bool fixup_special(const uint32_t *b, const uint32_t *c)
{
    uint32_t special = 0;
    VALU_EACH_LANE(i)
    {
        const uint32_t eb = b[i] >> 20 & 0x7ff, ec = c[i] >> 20 & 0x7ff;
        special |= eb - 1 > 2045u ? 1u : 0;
        special |= ec - 1 > 2045u ? 1u : 0;
        special |= ec - eb + 1075 > 1075u + 1024u ? 1u : 0;
    }
    return special != 0;
}

VALU_HANDLER(v_div_fixup_f64)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2], *o = NULL;
    wave_row *r = valu_result(w, in);
    const bool slow = w->mode_slow;
    const unsigned csr = VALU_UNLIKELY(slow) ? VALU_ENTER_D(w) : 0;
    (void)o;
    if (VALU_UNLIKELY(fixup_special(b[1], c[1])))
        VALU_LOOP(q, f64_div_fixup(VALU_LD_q(a, i), VALU_LD_q(b, i), VALU_LD_q(c, i)));
    else
        VALU_LOOP(q, (VALU_LD_q(a, i) & 0x7fffffffffffffffu) |
                         ((uint64_t)((b[1][i] ^ c[1][i]) & 0x80000000u) << 32));
    if (VALU_UNLIKELY(slow))
        valu_float_leave(csr);
    return valu_commit(w, in, r, 2);
}

VALU_FN_2(v_trig_preop_f64, N, q, q, u, f64_trig_preop)
