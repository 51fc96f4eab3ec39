/* SPDX-License-Identifier: MIT */
/*
 * Packed f32: two f32 operations on register pairs.  OP_SEL chooses which
 * register of a source's pair the low result takes, OP_SEL_HI which the high
 * result takes, so no data moves: the selects only choose rows.
 */
#include "sem/vector/packed.h"

enum f32_op { F32_ADD, F32_MUL, F32_FMA };

/* Which registers of the pairs: [low or high result][source]. */
struct selection {
    const uint32_t *s[2][3];
};

static void negate(uint32_t *to, const uint32_t *from)
{
    for (int l = 0; l < WAVE_LANES; l++)
        to[l] = from[l] ^ 0x80000000u;
}

V_INLINE void pair_sources(struct wave *w, const struct xinst *in, int n, struct selection *sel,
                           wave_row temp[2][3])
{
    if (in->any_prep)
        exec_prepare(w, in);
    for (int i = 0; i < n; i++) {
        const wave_row *s = w->v + in->s[i];
        sel->s[0][i] = s[0];
        sel->s[1][i] = s[1];
        if (!in->post)
            continue;
        const struct isa_inst *inst = in->isa;
        sel->s[0][i] = s[inst->op_sel >> i & 1];
        sel->s[1][i] = s[inst->op_sel_hi >> i & 1];
        if (inst->neg >> i & 1) {
            negate(temp[0][i], sel->s[0][i]);
            sel->s[0][i] = temp[0][i];
        }
        if (inst->neg_hi >> i & 1) {
            negate(temp[1][i], sel->s[1][i]);
            sel->s[1][i] = temp[1][i];
        }
    }
}

V_INLINE vreg apply(enum f32_op op, vreg a, vreg b, vreg c, bool plain_mode)
{
    switch (op) {
    case F32_ADD:
        return (vreg)((v_f32)a + (v_f32)b);
    case F32_MUL:
        return (vreg)((v_f32)a * (v_f32)b);
    default:
        return plain_mode ? v_fma(a, b, c, false) : v_fma_mode(a, b, c);
    }
}

/* Out of line: some result is a NaN. */
static __attribute__((noinline, cold)) void fix_nans(uint32_t *r, const uint32_t *a, const uint32_t *b,
                                                     const uint32_t *c)
{
    for (int l = 0; l < WAVE_LANES; l++)
        r[l] = c ? f32_nan3(r[l], a[l], b[l], c[l]) : f32_nan2(r[l], a[l], b[l]);
}

V_INLINE const struct xinst *packed_f32(struct wave *w, const struct xinst *in, enum f32_op op)
{
    alignas(64) wave_row temp[2][3], out[2];
    struct selection sel;
    int n = op == F32_FMA ? 3 : 2;
    pair_sources(w, in, n, &sel, temp);
    unsigned csr = 0;
    if (w->mode_slow)
        csr = VALU_ENTER_S(w);
    vnans nans = {0};
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++)
#pragma GCC unroll 4
        for (int l = 0; l < WAVE_LANES; l += VL) {
            vreg a = v_load(sel.s[h][0] + l), b = v_load(sel.s[h][1] + l);
            vreg r = apply(op, a, b, n == 3 ? v_load(sel.s[h][2] + l) : a, false);
            nans = v_nans(nans, r, r);
            v_store(out[h] + l, r);
        }
    if (w->mode_slow)
        valu_float_leave(csr);
    if (v_any(nans))
        for (int h = 0; h < 2; h++)
            fix_nans(out[h], sel.s[h][0], sel.s[h][1], n == 3 ? sel.s[h][2] : NULL);
    if (packed_clamp(in)) {
        bool dx10 = w->mode & MODE_DX10_CLAMP;
        for (int h = 0; h < 2; h++)
            for (int l = 0; l < WAVE_LANES; l++)
                out[h][l] = f32_bits(modify_clamp_f32(f32_from_bits(out[h][l]), dx10));
    }
    row_merge(w->v[in->d], out[0], w->exec);
    row_merge(w->v[in->d + 1], out[1], w->exec);
    return in + 1;
}

/*
 * No modifiers, and no result register is another row's source: each row goes
 * from registers to registers.
 */
V_INLINE const struct xinst *packed_f32_plain(struct wave *w, const struct xinst *in, enum f32_op op)
{
    if (in->any_prep)
        exec_prepare(w, in);
    int n = op == F32_FMA ? 3 : 2;
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
        const uint32_t *a = w->v[in->s[0] + h], *b = w->v[in->s[1] + h], *c = w->v[in->s[n - 1] + h];
        uint32_t *d = w->v[in->d + h];
        vreg r[WAVE_LANES / VL];
        vnans nans = {0};
#pragma GCC unroll 16
        for (int i = 0; i < WAVE_LANES / VL; i++)
            r[i] = apply(op, v_load(a + i * VL), v_load(b + i * VL), v_load(c + i * VL), true);
#pragma GCC unroll 8
        for (int i = 0; i < WAVE_LANES / VL; i += 2) /* one comparison looks at two vectors */
            nans = v_nans(nans, r[i], r[i + 1]);
        if (w->exec == UINT64_MAX && !v_any(nans)) {
#pragma GCC unroll 16
            for (int i = 0; i < WAVE_LANES / VL; i++)
                v_store(d + i * VL, r[i]);
            continue;
        }
        alignas(64) wave_row out;
#pragma GCC unroll 16
        for (int i = 0; i < WAVE_LANES / VL; i++)
            v_store(out + i * VL, r[i]);
        if (v_any(nans))
            fix_nans(out, a, b, n == 3 ? c : NULL);
        row_merge(d, out, w->exec);
    }
    return in + 1;
}

static bool can_be_plain(const struct xinst *x, int sources)
{
    bool plain = !x->post;
    for (int i = 0; i < sources; i++)
        plain &= x->s[i] + 1 != x->d;
    for (int i = 0; i < sources; i++)
        plain &= x->s[i] != x->d + 1;
    return plain;
}

#define PK_F32(name, op, n, fn)                                                                              \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        return packed_f32(w, in, op);                                                                        \
    }                                                                                                        \
    static const struct xinst *x_plain_##name(struct wave *w, const struct xinst *in)                        \
    {                                                                                                        \
        return w->mode_slow ? x_##name(w, in) : packed_f32_plain(w, in, op);                                 \
    }
#include "sem/vector/packed.def"

/* The low result is one register of source 0's pair, the high result one of source 1's: both by OP_SEL. */
static const struct xinst *x_v_pk_mov_b32(struct wave *w, const struct xinst *in)
{
    if (in->any_prep)
        exec_prepare(w, in);
    unsigned op_sel = in->post ? in->isa->op_sel : 0;
    alignas(64) wave_row out[2];
    memcpy(out[0], w->v[in->s[0] + (int)(op_sel & 1)], sizeof(wave_row));
    memcpy(out[1], w->v[in->s[1] + (int)(op_sel >> 1 & 1)], sizeof(wave_row));
    row_merge(w->v[in->d], out[0], w->exec);
    row_merge(w->v[in->d + 1], out[1], w->exec);
    return in + 1;
}

exec_fn *SEM(sem_packed_f32)(const struct isa_inst *inst, struct xinst *x)
{
    switch (inst->op) {
#define PK_F32(name, op, n, fn)                                                                              \
    case ISA_OP_##name:                                                                                      \
        return can_be_plain(x, n) ? x_plain_##name : x_##name;
#include "sem/vector/packed.def"
    case ISA_OP_v_pk_mov_b32:
        return x_v_pk_mov_b32;
    default:
        return NULL;
    }
}
