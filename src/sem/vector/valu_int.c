/* SPDX-License-Identifier: MIT */
/* Handlers of the integer instructions of the vector ALU. */
#include "sem/vector/lane_carry.h"
#include "sem/vector/lane_int.h"
#include "sem/vector/valu.h"

#define FN_1            VALU_FN_1
#define FN_2            VALU_FN_2
#define FN_3            VALU_FN_3
#define CL_2(name, ...) VALU_FN_2(clamp_##name, __VA_ARGS__)
#define CL_3(name, ...) VALU_FN_3(clamp_##name, __VA_ARGS__)
#include "sem/vector/valu_int.def"

VALU_HANDLER(v_lshl_add_u64)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];
    wave_row *r = valu_result(w, in);
#pragma GCC ivdep
    VALU_EACH_LANE(i)
    {
        uint32_t high;
        r[0][i] = u64_lshl_add(a[0][i], a[1][i], b[0][i], c[0][i], c[1][i], &high);
        r[1][i] = high;
    }
    return valu_commit(w, in, r, 2);
}

/* u8_msad4() of four windows of a pair, a byte apart, in rows of bytes: a lane's bytes alone fill no vector.
 */
static void masked_sums(wave_row *sum, const wave_row *a, const wave_row *b)
{
    alignas(64) wave_row window, difference;
    const uint8_t *x = (const uint8_t *)window, *y = (const uint8_t *)b[0];
    uint8_t *d = (uint8_t *)difference;
    for (unsigned k = 0; k < 4; k++) {
        VALU_EACH_LANE(i)
        window[i] = k ? a[0][i] >> 8 * k | a[1][i] << (32 - 8 * k) : a[0][i];
        for (unsigned i = 0; i < 4 * WAVE_LANES; i++) {
            const uint8_t more = x[i] > y[i] ? x[i] : y[i], less = x[i] > y[i] ? y[i] : x[i];
            d[i] = y[i] ? (uint8_t)(more - less) : 0;
        }
        VALU_EACH_LANE(i)
        {
            const uint32_t pairs = (difference[i] & 0xff00ffu) + (difference[i] >> 8 & 0xff00ffu);
            sum[k][i] = (pairs & 0xffffu) + (pairs >> 16);
        }
    }
}

/* Four sums of 32 bits: the only result of four dwords.  It may overlap the sources at other rows. */
static const struct xinst *mqsad_u32(struct wave *w, const struct xinst *in, bool clamp)
{
    valu_prepare(w, in);
    const wave_row *c = w->v + in->s[2];
    wave_row *r = valu_result(w, in);
    alignas(64) wave_row sum[4];
    masked_sums(sum, w->v + in->s[0], w->v + in->s[1]);
    for (int k = 0; k < 4; k++)
        VALU_EACH_LANE(i)
    sum[k][i] = clamp ? u32_add_sat(sum[k][i], c[k][i]) : sum[k][i] + c[k][i];
    memcpy(r, sum, sizeof(sum));
    return valu_commit(w, in, r, 4);
}

VALU_HANDLER(v_mqsad_u32_u8)
{
    return mqsad_u32(w, in, false);
}

VALU_HANDLER(clamp_v_mqsad_u32_u8)
{
    return mqsad_u32(w, in, true);
}

/* Four sums of 16 bits. */
static const struct xinst *mqsad_u16(struct wave *w, const struct xinst *in, bool clamp)
{
    valu_prepare(w, in);
    const wave_row *c = w->v + in->s[2];
    wave_row *r = valu_result(w, in);
    alignas(64) wave_row sum[4];
    masked_sums(sum, w->v + in->s[0], w->v + in->s[1]);
    for (int k = 0; k < 2; k++) {
        uint32_t *low = sum[2 * k], *high = sum[2 * k + 1];
        VALU_EACH_LANE(i)
        {
            low[i] += c[k][i] & 0xffffu;
            high[i] += c[k][i] >> 16;
            if (clamp) {
                low[i] = u32_min(low[i], 0xffff);
                high[i] = u32_min(high[i], 0xffff);
            }
            low[i] = (low[i] & 0xffffu) | high[i] << 16;
        }
    }
    memcpy(r[0], sum[0], sizeof(wave_row));
    memcpy(r[1], sum[2], sizeof(wave_row));
    return valu_commit(w, in, r, 2);
}

VALU_HANDLER(v_mqsad_pk_u16_u8)
{
    return mqsad_u16(w, in, false);
}

VALU_HANDLER(clamp_v_mqsad_pk_u16_u8)
{
    return mqsad_u16(w, in, true);
}
