/* SPDX-License-Identifier: MIT */
/*
 * MFMA in double precision.  A register pair is joined to one double a lane,
 * because the halves of an f64 live in different registers; the accumulation is
 * a chain of fused multiply-adds in ascending k.
 */
#include "sem/matrix_tile.h"

typedef double tile_f64[WAVE_LANES];

/* Joins pairs of registers; BLGP's bits are negations of whole operands. */
MX_INLINE void join(tile_f64 *t, const wave_row *src, int pairs, bool negate)
{
    uint64_t sign = (uint64_t)negate << 63;
    for (int p = 0; p < pairs; p++)
        for (int l = 0; l < WAVE_LANES; l++)
            t[p][l] = f64_from_bits((src[2 * p][l] | (uint64_t)src[2 * p + 1][l] << 32) ^ sign);
}

MX_INLINE void split(wave_row *dst, const tile_f64 *t, int pairs)
{
    for (int p = 0; p < pairs; p++)
        for (int l = 0; l < WAVE_LANES; l++) {
            uint64_t bits = f64_bits(t[p][l]);
            bits = (bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x7ff8000000000000ull : bits;
            dst[2 * p][l] = (uint32_t)bits;
            dst[2 * p + 1][l] = (uint32_t)(bits >> 32);
        }
}

struct operands {
    tile_f64 a[1], b[1], c[4];
};

MX_INLINE void load(struct operands *o, const struct wave *w, const struct xinst *in, int m, int blocks,
                    int pairs)
{
    alignas(64) wave_row copy[8];
    int neg = in->isa->blgp;
    join(o->a, tile_a(copy, w->v + in->s[0], 2, in->isa, m, blocks), 1, neg & 1);
    join(o->b, w->v + in->s[1], 1, neg & 2);
    join(o->c, tile_c(copy, w, in, 2 * pairs, true), pairs, neg & 4);
}

static const struct xinst *x_v_mfma_f64_16x16x4_f64(struct wave *w, const struct xinst *in)
{
    enum { M = 16, K = 4, PAIRS = 4 };
    alignas(64) struct operands o;
    load(&o, w, in, M, 1, PAIRS);
    for (int r = 0; r < PAIRS; r++)
        for (int g = 0; g < WAVE_LANES / M; g++) {
            int i = 4 * r + g;
            double acc[M];
            memcpy(acc, &o.c[r][g * M], sizeof(acc));
            for (int k = 0; k < K; k++)
                for (int j = 0; j < M; j++)
                    acc[j] = __builtin_fma(o.a[0][i + M * k], o.b[0][j + M * k], acc[j]);
            memcpy(&o.c[r][g * M], acc, sizeof(acc));
        }
    split(w->v + in->d, o.c, PAIRS);
    return in + 1;
}

/* Lanes 16 * i + 4 * b + j: row i of every block side by side. */
static const struct xinst *x_v_mfma_f64_4x4x4_4b_f64(struct wave *w, const struct xinst *in)
{
    enum { M = 4, K = 4, BLOCKS = 4, ROW = M * BLOCKS };
    alignas(64) struct operands o;
    load(&o, w, in, M, BLOCKS, 1);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int l = 0; l < ROW; l++)
                o.c[0][ROW * i + l] =
                    __builtin_fma(o.a[0][(l & ~3) + i + ROW * k], o.b[0][l + ROW * k], o.c[0][ROW * i + l]);
    split(w->v + in->d, o.c, 1);
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
