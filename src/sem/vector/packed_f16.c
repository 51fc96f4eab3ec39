/* SPDX-License-Identifier: MIT */
/*
 * Packed f16, and the mixed-precision fused multiply-adds.
 *
 * An f16 operation is done in f32 and rounded to f16: f32's 24 bits are more
 * than twice f16's 11 plus two, so for a sum or a product the second rounding
 * does no harm; v_fma_f16() takes care of the third case.  When MODE asks for
 * another rounding, flushed denormals or FP16_OVFL, elements are done one by one
 * in f64, which holds sums and products of f16 exactly.
 */
#include "sem/vector/lane_f16.h"
#include "sem/vector/packed.h"

enum f16_op { F16_ADD, F16_MUL, F16_FMA, F16_MIN, F16_MAX };

V_INLINE uint16_t f16_min_max(uint32_t a, uint32_t b, bool max, bool ieee)
{
    return (uint16_t)(max ? f16_max(a, b, ieee) : f16_min(a, b, ieee));
}

/* ---- exact path ---- */

static uint16_t f16_exact(enum f16_op op, uint16_t a, uint16_t b, uint16_t c, uint32_t mode)
{
    if (!(mode & 0x40)) /* MODE.denorm[2]: source denormals */
        a = (uint16_t)f16_flush(a), b = (uint16_t)f16_flush(b), c = (uint16_t)f16_flush(c);
    enum float_round round = (enum float_round)((mode & MODE_ROUND_16_64) >> 2);
    double x = f16_to_f32(a), y = f16_to_f32(b), z = f16_to_f32(c), r;
    switch (op) {
    case F16_MIN:
    case F16_MAX:
        return f16_min_max(a, b, op == F16_MAX, mode & MODE_IEEE);
    case F16_MUL:
        r = x * y;
        break;
    case F16_FMA:
        r = f16_exact_fma(x, y, z, round);
        break;
    default:
        r = f16_exact_add(x, y, round);
        break;
    }
    uint32_t bits = f16_from_f64(r, round);
    bool finite =
        (a & 0x7c00) != 0x7c00 && (b & 0x7c00) != 0x7c00 && (op != F16_FMA || (c & 0x7c00) != 0x7c00);
    if ((mode & MODE_FP16_OVFL) && (bits & 0x7fff) == 0x7c00 && finite)
        bits--;
    if (!(mode & 0x80)) /* result denormals */
        bits = f16_flush(bits);
    return (uint16_t)(op == F16_FMA ? f16_nan3(bits, a, b, c) : f16_nan2(bits, a, b));
}

/* ---- rows ---- */

V_INLINE const struct xinst *packed_f16(struct wave *w, const struct xinst *in, enum f16_op op)
{
    alignas(64) wave_row temp[3], out;
    const uint32_t *s[3];
    int n = op == F16_FMA ? 3 : 2;
    packed_sources(w, in, n, true, temp, s);
    const packed_half *a = (const packed_half *)s[0], *b = (const packed_half *)s[1];
    const packed_half *c = (const packed_half *)s[n - 1];
    packed_half *d = (packed_half *)out;
    if (w->mode_slow || (w->mode & MODE_FP16_OVFL)) {
        for (int i = 0; i < HALVES; i++)
            d[i] = f16_exact(op, a[i], b[i], c[i], w->mode);
    } else if (op == F16_MIN || op == F16_MAX) {
        bool ieee = w->mode & MODE_IEEE;
        for (int i = 0; i < HALVES; i++)
            d[i] = f16_min_max(a[i], b[i], op == F16_MAX, ieee);
    } else {
        vnans nans = {0};
        for (int i = 0; i < HALVES; i += VL) {
            vreg x = v_from_f16(a + i), y = v_from_f16(b + i), r;
            if (op == F16_FMA)
                r = v_fma_f16(x, y, v_from_f16(c + i));
            else
                r = op == F16_ADD ? (vreg)((v_f32)x + (v_f32)y) : (vreg)((v_f32)x * (v_f32)y);
            nans = v_nans(nans, r, r);
            v_to_f16(d + i, r);
        }
        if (v_any(nans))
            for (int i = 0; i < HALVES; i++)
                if (f16_is_nan(d[i]))
                    d[i] = f16_exact(op, a[i], b[i], c[i], w->mode);
    }
    if (packed_clamp(in)) {
        bool dx10 = w->mode & MODE_DX10_CLAMP;
        for (int i = 0; i < HALVES; i++)
            d[i] = (uint16_t)modify_clamp_f16(d[i], dx10);
    }
    return packed_commit(w, in, out);
}

#define PK_F16(name, op, n)                                                                                  \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        return packed_f16(w, in, op);                                                                        \
    }
#include "sem/vector/packed.def"

/* ---- mixed precision ---- */

enum mix { MIX_F32, MIX_LOW, MIX_HIGH };

/*
 * A source of v_fma_mix: f32, or with its OP_SEL_HI bit f16 from the half that
 * OP_SEL says.  NEG_HI is the absolute value here.
 */
static const uint32_t *mix_source(uint32_t *temp, struct wave *w, const struct xinst *in, int i)
{
    const struct isa_inst *inst = in->isa;
    const uint32_t *s = w->v[in->s[i]];
    if (inst->op_sel_hi >> i & 1) {
        alignas(64) wave_row other;
        bool high = inst->op_sel >> i & 1;
        for (int l = 0; l < WAVE_LANES; l += VL)
            v_f16_to_f32((high ? other : temp) + l, (high ? temp : other) + l, s + l);
        s = temp;
    }
    if ((inst->neg | inst->neg_hi) >> i & 1) {
        uint32_t clear = inst->neg_hi >> i & 1 ? 0x7fffffffu : UINT32_MAX;
        uint32_t flip = inst->neg >> i & 1 ? 0x80000000u : 0;
        for (int l = 0; l < WAVE_LANES; l++)
            temp[l] = (s[l] & clear) ^ flip;
        s = temp;
    }
    return s;
}

/* Rounds the results to f16, under MODE's half of the rules. */
static void mix_round(packed_half *half, const uint32_t *f, uint32_t mode)
{
    if ((mode & (MODE_ROUND_16_64 | MODE_DENORM_16_64 | MODE_FP16_OVFL)) == MODE_DENORM_16_64) {
        for (int l = 0; l < WAVE_LANES; l += VL)
            v_to_f16(half + l, v_load(f + l));
        return;
    }
    for (int l = 0; l < WAVE_LANES; l++) {
        uint32_t r = f16_from_f64(f32_from_bits(f[l]), (enum float_round)((mode & MODE_ROUND_16_64) >> 2));
        if (!(mode & 0x80)) /* MODE.denorm[3]: result denormals */
            r = f16_flush(r);
        if ((mode & MODE_FP16_OVFL) && (r & 0x7fff) == 0x7c00 && (f[l] & 0x7fffffff) != 0x7f800000u)
            r--;
        half[l] = (uint16_t)r;
    }
}

V_INLINE const struct xinst *fma_mix(struct wave *w, const struct xinst *in, enum mix to)
{
    alignas(64) wave_row temp[3], out;
    const uint32_t *s[3];
    if (in->any_prep)
        exec_prepare(w, in);
    for (int i = 0; i < 3; i++)
        s[i] = mix_source(temp[i], w, in, i);
    unsigned csr = w->mode_slow ? VALU_ENTER_S(w) : 0;
    vnans nans = {0};
    for (int l = 0; l < WAVE_LANES; l += VL) {
        vreg r = v_fma_mode(v_load(s[0] + l), v_load(s[1] + l), v_load(s[2] + l));
        nans = v_nans(nans, r, r);
        v_store(out + l, r);
    }
    if (w->mode_slow)
        valu_float_leave(csr);
    if (v_any(nans))
        for (int l = 0; l < WAVE_LANES; l++)
            out[l] = f32_nan3(out[l], s[0][l], s[1][l], s[2][l]);
    if (packed_clamp(in)) {
        bool dx10 = w->mode & MODE_DX10_CLAMP;
        for (int l = 0; l < WAVE_LANES; l++)
            out[l] = f32_bits(modify_clamp_f32(f32_from_bits(out[l]), dx10));
    }
    if (to != MIX_F32) {
        alignas(64) packed_half half[WAVE_LANES];
        const uint32_t *old = w->v[in->d];
        mix_round(half, out, w->mode);
        for (int l = 0; l < WAVE_LANES; l++)
            out[l] = to == MIX_LOW ? (old[l] & 0xffff0000u) | half[l]
                                   : (old[l] & 0xffff) | (uint32_t)half[l] << 16;
    }
    return packed_commit(w, in, out);
}

#define PK_MIX(name, to)                                                                                     \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        return fma_mix(w, in, to);                                                                           \
    }
#include "sem/vector/packed.def"

exec_fn *SEM(sem_packed_f16)(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
#define PK_F16(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return x_##name;
#define PK_MIX PK_F16
#include "sem/vector/packed.def"
    default:
        return NULL;
    }
}
