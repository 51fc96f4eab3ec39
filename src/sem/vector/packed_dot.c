/* SPDX-License-Identifier: MIT */
/*
 * Dot products of two, four or eight elements with a 32-bit sum.  Integer sums
 * wrap; clamped they saturate the exact sum.  v_dot2_f32_f16 adds the products,
 * which are exact in f32, one after the other to the third source.
 */
#include "sem/vector/packed.h"

/* ---- integers: element e of `bits` bits ---- */

static inline int32_t element_i(uint32_t x, int e, int bits)
{
    return (int32_t)(x << (32 - bits * (e + 1))) >> (32 - bits);
}

static inline uint32_t element_u(uint32_t x, int e, int bits)
{
    return x << (32 - bits * (e + 1)) >> (32 - bits);
}

V_INLINE uint32_t dot_clamped(uint32_t a, uint32_t b, uint32_t c, int bits, bool is_signed)
{
    int64_t sum = is_signed ? (int64_t)(int32_t)c : (int64_t)c;
    for (int e = 0; e < 32 / bits; e++)
        sum += is_signed ? (int64_t)element_i(a, e, bits) * element_i(b, e, bits)
                         : (int64_t)element_u(a, e, bits) * element_u(b, e, bits);
    int64_t most = is_signed ? INT32_MAX : UINT32_MAX, least = is_signed ? INT32_MIN : 0;
    return (uint32_t)(sum > most ? most : sum < least ? least : sum);
}

V_INLINE uint32_t dot_wrapped(uint32_t a, uint32_t b, uint32_t c, int bits, bool is_signed)
{
    int count = 32 / bits; /* not in the condition: the check of a sanitizer there would forbid unrolling */
#pragma GCC unroll 8
    for (int e = 0; e < count; e++)
        c += is_signed ? (uint32_t)element_i(a, e, bits) * (uint32_t)element_i(b, e, bits)
                       : element_u(a, e, bits) * element_u(b, e, bits);
    return c;
}

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

static const struct xinst *x_v_dot2_f32_f16(struct wave *w, const struct xinst *in)
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
            out[l] = packed_clamp_f32(out[l], dx10);
    }
    return packed_commit(w, in, out);
}

#define DOT(name, bits, is_signed)                                                                           \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        return dot_int(w, in, bits, is_signed);                                                              \
    }
#define LIST(X)                                                                                              \
    X(v_dot2_i32_i16, 16, true)                                                                              \
    X(v_dot2_u32_u16, 16, false)                                                                             \
    X(v_dot4_i32_i8, 8, true)                                                                                \
    X(v_dot4_u32_u8, 8, false)                                                                               \
    X(v_dot8_i32_i4, 4, true)                                                                                \
    X(v_dot8_u32_u4, 4, false)
LIST(DOT)

exec_fn *SEM(sem_packed_dot)(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
#define CASE(name, ...)                                                                                      \
    case ISA_OP_##name:                                                                                      \
        return x_##name;
        LIST(CASE)
#undef CASE
    case ISA_OP_v_dot2_f32_f16:
        return x_v_dot2_f32_f16;
    default:
        return NULL;
    }
}
