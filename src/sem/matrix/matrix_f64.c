/* SPDX-License-Identifier: MIT */
/*
 * MFMA in double precision.  The halves of an f64 live in different registers;
 * vectors of doubles are joined from them, in an order of lanes of its own
 * (v_join()), which is the same for all operands.  The accumulation is a chain
 * of fused multiply-adds in ascending k.
 */
#include "sem/matrix/matrix_tile.h"

struct operands {
    const wave_row *a, *b, *c;
    wave_row copy[2], a_copy[2], b_copy[2], c_copy[8], signs[12];
};

/* BLGP's bits are negations of whole operands. */
static const wave_row *negated(wave_row *copy, const wave_row *src, int dwords)
{
    for (int r = 0; r < dwords; r++)
        for (int l = 0; l < WAVE_LANES; l++)
            copy[r][l] = src[r][l] ^ (r & 1 ? 0x80000000u : 0);
    return copy;
}

/* A source's two registers, which writing D's must not change. */
MX_INLINE const wave_row *apart(wave_row *copy, const wave_row *src, const wave_row *d, int dwords)
{
    if (src + 2 <= d || src >= d + dwords)
        return src;
    memcpy(copy, src, 2 * sizeof(*src));
    return copy;
}

MX_INLINE void load(struct operands *o, const struct wave *w, const struct xinst *in, int m, int blocks,
                    int dwords)
{
    o->a = apart(o->a_copy, tile_a(o->copy, w->v + in->s[0], 2, in->isa, m, blocks), w->v + in->d, dwords);
    o->b = apart(o->b_copy, w->v + in->s[1], w->v + in->d, dwords);
    o->c = tile_c(o->c_copy, w, in, dwords, true);
    if (in->isa->blgp & 1)
        o->a = negated(o->signs, o->a, 2);
    if (in->isa->blgp & 2)
        o->b = negated(o->signs + 2, o->b, 2);
    if (in->isa->blgp & 4)
        o->c = negated(o->signs + 4, o->c, dwords);
}

/* The pair's step: acc += a * b. */
MX_INLINE struct v_pair mac(struct v_pair a, struct v_pair b, struct v_pair acc)
{
    return (struct v_pair){v_fma_f64(a.a, b.a, acc.a), v_fma_f64(a.b, b.b, acc.b)};
}

/* Some result is a NaN: all of them become the one that the matrix cores make. */
static void fix_nans(wave_row *d, int dwords)
{
    for (int r = 0; r < dwords; r += 2)
        for (int l = 0; l < WAVE_LANES; l++) {
            uint64_t bits = d[r][l] | (uint64_t)d[r + 1][l] << 32;
            if ((bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull) {
                d[r][l] = 0;
                d[r + 1][l] = 0x7ff80000u;
            }
        }
}

static const struct xinst *x_v_mfma_f64_16x16x4_f64(struct wave *w, const struct xinst *in)
{
    enum { M = 16, K = 4, GROUPS = WAVE_LANES / M, DWORDS = 8 };
    alignas(64) struct operands o;
    alignas(64) double a[WAVE_LANES];
    wave_row *d = w->v + in->d;
    load(&o, w, in, M, 1, DWORDS);
    for (int l = 0; l < WAVE_LANES; l++)
        a[l] = f64_from_bits(o.a[0][l] | (uint64_t)o.a[1][l] << 32);
    bool nans = false;
    for (int j = 0; j < M; j += VL) {
        struct v_pair b[K];
#pragma GCC unroll 4
        for (int k = 0; k < K; k++)
            b[k] = v_join(&o.b[0][j + M * k], &o.b[1][j + M * k]);
        for (int r = 0; r < DWORDS; r += 2)
            for (int g = 0; g < GROUPS; g++) {
                int lane = g * M + j;
                struct v_pair acc = v_join(&o.c[r][lane], &o.c[r + 1][lane]);
#pragma GCC unroll 4
                for (int k = 0; k < K; k++) {
                    vdouble x = v_set1_f64(a[2 * r + g + M * k]);
                    acc = mac((struct v_pair){x, x}, b[k], acc);
                }
                nans |= v_any_nan_f64(acc.a, acc.b);
                v_split(&d[r][lane], &d[r + 1][lane], acc);
            }
    }
    if (nans)
        fix_nans(d, DWORDS);
    return in + 1;
}

/* Lanes 16 * i + 4 * b + j: row i of every block side by side, four lanes a block. */
static const struct xinst *x_v_mfma_f64_4x4x4_4b_f64(struct wave *w, const struct xinst *in)
{
    enum { M = 4, K = 4, BLOCKS = 4, ROW = M * BLOCKS, DWORDS = 2 };
    alignas(64) struct operands o;
    wave_row *d = w->v + in->d;
    load(&o, w, in, M, BLOCKS, DWORDS);
    bool nans = false;
    for (int l = 0; l < ROW; l += VL) {
        struct v_pair a[K], b[K];
#pragma GCC unroll 4
        for (int k = 0; k < K; k++) {
            a[k] = v_join(&o.a[0][l + ROW * k], &o.a[1][l + ROW * k]);
            b[k] = v_join(&o.b[0][l + ROW * k], &o.b[1][l + ROW * k]);
        }
#pragma GCC unroll 4
        for (int i = 0; i < M; i++) {
            int lane = ROW * i + l;
            struct v_pair acc = v_join(&o.c[0][lane], &o.c[1][lane]);
#pragma GCC unroll 4
            for (int k = 0; k < K; k++) {
                vdouble pair = i < 2 ? a[k].a : a[k].b, x = i & 1 ? v_odd_f64(pair) : v_even_f64(pair);
                acc = mac((struct v_pair){x, x}, b[k], acc);
            }
            nans |= v_any_nan_f64(acc.a, acc.b);
            v_split(&d[0][lane], &d[1][lane], acc);
        }
    }
    if (nans)
        fix_nans(d, DWORDS);
    return in + 1;
}

exec_fn *SEM(sem_matrix_f64)(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
    case ISA_OP_v_mfma_f64_16x16x4_f64:
        return x_v_mfma_f64_16x16x4_f64;
    case ISA_OP_v_mfma_f64_4x4x4_4b_f64:
        return x_v_mfma_f64_4x4x4_4b_f64;
    default:
        return NULL;
    }
}
