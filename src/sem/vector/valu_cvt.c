/* SPDX-License-Identifier: MIT */
/* Handlers of conversions and of the transcendental unit. */
#include "sem/vector/lane_cvt.h"
#include "sem/vector/lane_trans.h"
#include "sem/vector/valu.h"

#define FN_1 VALU_FN_1
#define CV_1 VALU_FN_1
#define FN_2 VALU_FN_2
#define FN_3 VALU_FN_3
#include "sem/vector/valu_cvt.def"

/* Replaces byte S1[1:0] of the destination. */
VALU_HANDLER(v_cvt_pkaccum_u8_f32)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *o = w->v + in->d;
    wave_row *r = valu_result(w, in);
    VALU_EACH_LANE(i)
    {
        r[0][i] = f32_cvt_pk_u8(VALU_LD_f(a, i), b[0][i], o[0][i]);
    }
    return valu_commit(w, in, r, 1);
}

/*
 * To 8-bit floats: a pair goes to the half of the destination that op_sel[3]
 * says, a single one to byte op_sel[3:2]; the rest of the destination stays.
 */
#define CVT_PK(name, convert)                                                                                \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *o = w->v + in->d;                        \
        wave_row *r = valu_result(w, in);                                                                    \
        const bool saturate = w->mode & MODE_FP16_OVFL;                                                      \
        const unsigned shift = in->isa->op_sel & 8 ? 16 : 0;                                                 \
        VALU_EACH_LANE(i)                                                                                    \
        {                                                                                                    \
            const uint32_t low = convert(VALU_LD_f(a, i), saturate),                                         \
                           high = convert(VALU_LD_f(b, i), saturate);                                        \
            r[0][i] = (o[0][i] & ~(0xffffu << shift)) | (low | high << 8) << shift;                          \
        }                                                                                                    \
        return valu_commit(w, in, r, 1);                                                                     \
    }
CVT_PK(v_cvt_pk_fp8_f32, fp8_from_f32)
CVT_PK(v_cvt_pk_bf8_f32, bf8_from_f32)

#define CVT_SR(name, mantissa_bits, bias)                                                                    \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *o = w->v + in->d;                        \
        wave_row *r = valu_result(w, in);                                                                    \
        const bool saturate = w->mode & MODE_FP16_OVFL;                                                      \
        const unsigned shift = 8u * (in->isa->op_sel >> 2 & 3);                                              \
        VALU_EACH_LANE(i)                                                                                    \
        {                                                                                                    \
            const uint32_t x = fnuz_from_f32_random(a[0][i], b[0][i], mantissa_bits, bias, saturate);        \
            r[0][i] = (o[0][i] & ~(0xffu << shift)) | x << shift;                                            \
        }                                                                                                    \
        return valu_commit(w, in, r, 1);                                                                     \
    }
CVT_SR(v_cvt_sr_fp8_f32, 3, 8)
CVT_SR(v_cvt_sr_bf8_f32, 2, 16)
