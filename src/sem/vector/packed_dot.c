/* SPDX-License-Identifier: MIT */
/*
 * Dot products of two, four or eight elements with a 32-bit sum.  Integer sums
 * wrap; clamped they saturate the exact sum.  v_dot2_f32_f16 adds the products,
 * which are exact in f32, one after the other to the third source.
 */
#include "sem/vector/lane_dot.h"
#include "sem/vector/packed.h"

V_INLINE const struct xinst *dot_int(struct wave *w, const struct xinst *in, int bits, bool is_signed)
{
    alignas(64) wave_row temp[3], out;
    const uint32_t *s[3];
    packed_sources(w, in, bits == 16 ? 2 : 0, false, temp, s); /* only halves can be selected */
    for (int i = bits == 16 ? 2 : 0; i < 3; i++)
        s[i] = w->v[in->s[i]];
    if (packed_clamp(in))
        for (int l = 0; l < WAVE_LANES; l++)
            out[l] = dot_clamped(s[0][l], s[1][l], s[2][l], bits, is_signed);
    else
        for (int l = 0; l < WAVE_LANES; l++)
            out[l] = dot_wrapped(s[0][l], s[1][l], s[2][l], bits, is_signed);
    return packed_commit(w, in, out);
}

/* ---- f16 ---- */

static const struct xinst *dot_f16(struct wave *w, const struct xinst *in)
{
    alignas(64) wave_row temp[3], out;
    const uint32_t *s[3];
    packed_sources(w, in, 2, true, temp, s);
    s[2] = w->v[in->s[2]];
    if (in->isa->neg & 4) {
        for (int l = 0; l < WAVE_LANES; l++)
            temp[2][l] = s[2][l] ^ 0x80000000u;
        s[2] = temp[2];
    }
    vnans nans = {0};
    for (int l = 0; l < WAVE_LANES; l += VL) {
        uint32_t a_low[VL], a_high[VL], b_low[VL], b_high[VL];
        v_f16_to_f32(a_low, a_high, s[0] + l);
        v_f16_to_f32(b_low, b_high, s[1] + l);
        vreg r = v_fma(v_load(a_low), v_load(b_low), v_load(s[2] + l), true);
        r = v_fma(v_load(a_high), v_load(b_high), r, true);
        nans = v_nans(nans, r, r);
        v_store(out + l, r);
    }
    if (v_any(nans)) /* which NaN is not documented: the default one */
        for (int l = 0; l < WAVE_LANES; l++)
            out[l] = f32_is_nan(out[l]) ? F32_DEFAULT_NAN : out[l];
    if (packed_clamp(in)) {
        bool dx10 = w->mode & MODE_DX10_CLAMP;
        for (int l = 0; l < WAVE_LANES; l++)
            out[l] = f32_bits(modify_clamp_f32(f32_from_bits(out[l]), dx10));
    }
    return packed_commit(w, in, out);
}

#define PK_DOT(name, bits, is_signed)                                                                        \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        return dot_int(w, in, bits, is_signed);                                                              \
    }
#define PK_DOT_F16(name)                                                                                     \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        return dot_f16(w, in);                                                                               \
    }
#include "sem/vector/packed.def"

exec_fn *SEM(sem_packed_dot)(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
#define PK_DOT(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return x_##name;
#define PK_DOT_F16 PK_DOT
#include "sem/vector/packed.def"
    default:
        return NULL;
    }
}
