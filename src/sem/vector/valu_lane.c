/* SPDX-License-Identifier: MIT */
/*
 * Handlers that are more than a function of one lane: carries through lane
 * masks, moves between lanes and scalar registers, lane numbers, swaps.
 */
#include "sem/vector/lane_carry.h"
#include "sem/vector/lane_int.h"
#include "sem/vector/valu.h"

/* ---- carries ---- */

#define CARRY(name, with_carry, fn, clamp, limit)                                                            \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1];                                           \
        wave_row *r = valu_result(w, in);                                                                    \
        alignas(64) wave_row m, carry;                                                                       \
        if (with_carry)                                                                                      \
            row_from_mask(carry, valu_mask(w, in));                                                          \
        _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                               \
        {                                                                                                    \
            uint32_t out;                                                                                    \
            const uint32_t x = fn(a[0][i], b[0][i], with_carry ? carry[i] & 1 : 0, &out);                    \
            r[0][i] = (clamp) && out ? limit : x;                                                            \
            m[i] = 0 - out;                                                                                  \
        }                                                                                                    \
        const uint64_t lanes = VALU_UNLIKELY(in->post) ? exec_lanes(w, in) : w->exec;                        \
        const struct xinst *next = valu_commit(w, in, r, 1);                                                 \
        wave_set_sgpr64(w, in->sd, row_to_mask(m) & lanes);                                                  \
        return next;                                                                                         \
    }
#define MAD64(name, fn, clamp)                                                                               \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];                     \
        wave_row *r = valu_result(w, in);                                                                    \
        alignas(64) wave_row m;                                                                              \
        _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                               \
        {                                                                                                    \
            uint32_t out;                                                                                    \
            const uint64_t x = fn(a[0][i], b[0][i], valu_pair(c, i), clamp, &out);                           \
            r[0][i] = (uint32_t)x;                                                                           \
            r[1][i] = (uint32_t)(x >> 32);                                                                   \
            m[i] = 0 - out;                                                                                  \
        }                                                                                                    \
        const uint64_t lanes = w->exec; /* which may be what the carries go to */                            \
        const struct xinst *next = valu_commit(w, in, r, 2);                                                 \
        wave_set_sgpr64(w, in->sd, row_to_mask(m) & lanes);                                                  \
        return next;                                                                                         \
    }
#include "sem/vector/valu_carry.def"

/* ---- lanes and scalars; EXEC does not matter to these ---- */

static inline uint32_t scalar_source(const struct wave *w, const struct xinst *in, int i)
{
    if (in->ss[i] < 128)
        return w->s[in->ss[i]];
    return in->ss[i] == XSRC_CONST ? (uint32_t)in->literal[i] : (uint32_t)exec_special(w, in->reg[i]);
}

/* The lowest active lane, or lane 0 when there is none. */
VALU_HANDLER(v_readfirstlane_b32)
{
    valu_prepare(w, in);
    const int lane = w->exec ? __builtin_ctzll(w->exec) : 0;
    w->s[in->sd] = w->v[in->s[0]][lane];
    return in + 1;
}

VALU_HANDLER(v_readlane_b32)
{
    valu_prepare(w, in);
    w->s[in->sd] = w->v[in->s[0]][scalar_source(w, in, 1) & 63];
    return in + 1;
}

VALU_HANDLER(v_writelane_b32)
{
    w->v[in->d][scalar_source(w, in, 1) & 63] = scalar_source(w, in, 0);
    return in + 1;
}

VALU_HANDLER(v_mbcnt_lo_u32_b32)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1];
    wave_row *r = valu_result(w, in);
#pragma GCC ivdep
    VALU_EACH_LANE(i)
    {
        r[0][i] = u32_mbcnt_lo(a[0][i], b[0][i], (uint32_t)i);
    }
    return valu_commit(w, in, r, 1);
}

VALU_HANDLER(v_mbcnt_hi_u32_b32)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1];
    wave_row *r = valu_result(w, in);
#pragma GCC ivdep
    VALU_EACH_LANE(i)
    {
        r[0][i] = u32_mbcnt_hi(a[0][i], b[0][i], (uint32_t)i);
    }
    return valu_commit(w, in, r, 1);
}

/* ---- the rest ---- */

VALU_HANDLER(v_swap_b32)
{
    uint32_t *d = w->v[in->d], *s = w->v[in->s[0]];
    alignas(64) wave_row was_d, was_s;
    memcpy(was_d, d, sizeof was_d);
    memcpy(was_s, s, sizeof was_s);
    row_merge(d, was_s, w->exec);
    row_merge(s, was_d, w->exec);
    return in + 1;
}

/* The destination is an AccVGPR, which is a row like any other. */
VALU_FN_1(v_accvgpr_mov_b32, N, u, u, u32_mov)

VALU_HANDLER(v_nop)
{
    (void)w;
    return in + 1;
}

/* Clears the exception flags, TRAPSTS[8:0]. */
VALU_HANDLER(v_clrexcp)
{
    w->trapsts &= ~0x1ffu;
    return in + 1;
}
