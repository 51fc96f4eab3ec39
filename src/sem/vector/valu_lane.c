/* SPDX-License-Identifier: MIT */
/*
 * Handlers that are more than a function of one lane: carries through lane
 * masks, moves between lanes and scalar registers, lane numbers, swaps.
 */
#include "sem/vector/lane_int.h"
#include "sem/vector/valu.h"

/* ---- carries ---- */

/* Carries as the adder's top bit has them, in place of comparisons, which do not combine in vectors. */
LANE uint32_t carry_add(uint32_t a, uint32_t b, uint32_t carry, uint32_t *out)
{
    const uint32_t r = a + b + carry;
    *out = ((a & b) | ((a | b) & ~r)) >> 31;
    return r;
}

LANE uint32_t carry_sub(uint32_t a, uint32_t b, uint32_t borrow, uint32_t *out)
{
    const uint32_t r = a - b - borrow;
    *out = ((~a & b) | (~(a ^ b) & r)) >> 31;
    return r;
}

LANE uint32_t carry_subrev(uint32_t a, uint32_t b, uint32_t borrow, uint32_t *out)
{
    return carry_sub(b, a, borrow, out);
}

/* Saturated: a carry out of an addition gives the largest number, out of a subtraction 0. */
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
CARRY(v_add_co_u32, false, carry_add, false, 0)
CARRY(v_sub_co_u32, false, carry_sub, false, 0)
CARRY(v_subrev_co_u32, false, carry_subrev, false, 0)
CARRY(v_addc_co_u32, true, carry_add, false, 0)
CARRY(v_subb_co_u32, true, carry_sub, false, 0)
CARRY(v_subbrev_co_u32, true, carry_subrev, false, 0)
CARRY(clamp_v_add_co_u32, false, carry_add, true, ~0u)
CARRY(clamp_v_sub_co_u32, false, carry_sub, true, 0)
CARRY(clamp_v_subrev_co_u32, false, carry_subrev, true, 0)
CARRY(clamp_v_addc_co_u32, true, carry_add, true, ~0u)
CARRY(clamp_v_subb_co_u32, true, carry_sub, true, 0)
CARRY(clamp_v_subbrev_co_u32, true, carry_subrev, true, 0)

/* 65-bit sums; the top bit goes to the mask, and says with clamp that the unsigned sum has to be saturated.
 */
LANE uint64_t mad_u64(uint32_t a, uint32_t b, uint64_t c, bool clamp, uint32_t *out)
{
    const uint64_t r = (uint64_t)a * b + c;
    const uint64_t over = r < c ? ~UINT64_C(0) : 0;
    *out = (uint32_t)over & 1;
    return clamp ? r | over : r;
}

LANE uint64_t mad_i64(uint32_t a, uint32_t b, uint64_t c, bool clamp, uint32_t *out)
{
    const uint64_t p = (uint64_t)((int64_t)(int32_t)a * (int32_t)b), r = p + c;
    /* Signed overflow: both terms have the sign that the sum does not have. */
    const uint64_t over = ~(p ^ c) & (p ^ r);
    const uint64_t negative = ((over & p) | (~over & r)) >> 63;
    *out = (uint32_t)negative;
    return clamp && over >> 63 ? INT64_MAX + negative : r;
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
MAD64(v_mad_u64_u32, mad_u64, false)
MAD64(v_mad_i64_i32, mad_i64, false)
MAD64(clamp_v_mad_u64_u32, mad_u64, true)
MAD64(clamp_v_mad_i64_i32, mad_i64, true)

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

/* Bits of a below this lane, counted, plus b. */
VALU_HANDLER(v_mbcnt_lo_u32_b32)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1];
    wave_row *r = valu_result(w, in);
#pragma GCC ivdep
    VALU_EACH_LANE(i)
    {
        const uint32_t below = i < 32 ? (1u << (i & 31)) - 1 : ~0u;
        r[0][i] = u32_popcount(a[0][i] & below) + b[0][i];
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
        const uint32_t below = i < 32 ? 0 : (1u << (i & 31)) - 1;
        r[0][i] = u32_popcount(a[0][i] & below) + b[0][i];
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
