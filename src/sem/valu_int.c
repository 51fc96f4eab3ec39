/* SPDX-License-Identifier: MIT */
/* Handlers of the integer instructions of the vector ALU. */
#include "sem/lane_int.h"
#include "sem/valu.h"

#define FN_1            VALU_FN_1
#define FN_2            VALU_FN_2
#define FN_3            VALU_FN_3
#define CL_2(name, ...) VALU_FN_2(clamp_##name, __VA_ARGS__)
#define CL_3(name, ...) VALU_FN_3(clamp_##name, __VA_ARGS__)
#include "sem/valu_int.def"

/* In halves: joining them to 64 bits and splitting them again costs more than the carry. */
VALU_HANDLER(v_lshl_add_u64)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];
    wave_row *r = valu_result(w, in);
#pragma GCC ivdep
    VALU_EACH_LANE(i)
    {
        const uint32_t shift = b[0][i] & 7; /* the manual shows three bits; above 4 is reserved */
        const uint32_t low = a[0][i] << shift, high = a[1][i] << shift | a[0][i] >> 1 >> (31 - shift);
        const uint32_t sum = low + c[0][i], carry = sum < low ? 1 : 0, top = high + c[1][i] + carry;
        r[0][i] = sum;
        r[1][i] = top;
    }
    return valu_commit(w, in, r, 2);
}

/* Four sums of 32 bits at once: the only result of four dwords. */
static void mqsad_u32_u8(wave_row *r, const wave_row *a, const wave_row *b, const wave_row *c, bool clamp)
{
    wave_row sum[4];
    VALU_EACH_LANE(i)
    {
        const uint64_t window = valu_pair(a, i);
        for (int k = 0; k < 4; k++) {
            const uint32_t s = u8_msad4((uint32_t)(window >> 8 * k), b[0][i]);
            sum[k][i] = clamp ? u32_add_sat(s, c[k][i]) : s + c[k][i];
        }
    }
    memcpy(r, sum, sizeof sum); /* the result may overlap the sources at other rows */
}

static const struct xinst *mqsad_u32(struct wave *w, const struct xinst *in, bool clamp)
{
    valu_prepare(w, in);
    wave_row *r = valu_result(w, in);
    mqsad_u32_u8(r, w->v + in->s[0], w->v + in->s[1], w->v + in->s[2], clamp);
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
