/* SPDX-License-Identifier: MIT */
/*
 * MFMA with 32-bit results.  A and B are converted to tiles once; then a block
 * of four rows of D (four registers, the same lanes) by a few vectors of columns
 * stays in host registers while k runs, with A's elements broadcast.
 *
 * One body serves all shapes: it is inlined with constants for each.
 */
#include "sem/matrix/matrix_tile.h"

enum { COLUMN_VECTORS = 2 }; /* with four rows: eight accumulators */

/* Everything about a shape: constants at each call. */
struct shape {
    int m, k, blocks;
    enum matrix_elem a, b;
};

MX_INLINE int elem_bits(enum matrix_elem type)
{
    return type == MX_F32 || type == MX_XF32 ? 32 : type == MX_F16 || type == MX_BF16 ? 16 : 8;
}

/* The result of `rows` x `vectors` elements: d, c and ta point to the first row's, tb to the first column's.
 */
MX_INLINE vnans block_4(uint32_t (*d)[WAVE_LANES], const uint32_t (*c)[WAVE_LANES], const wave_row *ta,
                        int a_lane, const wave_row *tb, int b_lane, int d_lane, struct shape s, int steps,
                        int vectors, bool exact, vnans nans)
{
    int share = steps * s.m * s.blocks / WAVE_LANES; /* tile rows: what a lane holds of k */
    vreg acc[4][COLUMN_VECTORS];
    /* Sixteen registers are too few for A's broadcasts to live from one block to the next: do not let them.
     */
    if (VL < 16)
        __asm__("" : "+r"(a_lane));
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            acc[q][v] = v_load(&c[q][d_lane + v * VL]);
    for (int kg = 0; kg < steps / share; kg++) {
        int offset = s.m * s.blocks * kg;
#pragma GCC unroll 8
        for (int e = 0; e < share; e++) {
            const uint32_t *pa = &ta[e][a_lane + offset], *pb = &tb[e][b_lane + offset];
            vreg b[COLUMN_VECTORS];
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++)
                b[v] = v_load(pb + v * VL);
#pragma GCC unroll 4
            for (int q = 0; q < 4; q++) {
                vreg a = v_set1(pa[q]);
#pragma GCC unroll 2
                for (int v = 0; v < vectors; v++)
                    acc[q][v] = tile_mac(a, b[v], acc[q][v], s.a, exact);
            }
        }
    }
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            v_store(&d[q][d_lane + v * VL], acc[q][v]);
            if (s.a != MX_I8)
                nans = v_nans(nans, acc[q][v], acc[q][v]);
        }
    return nans;
}

MX_INLINE vnans multiply(wave_row *d, const wave_row *c, const wave_row *ta, const wave_row *tb,
                         struct shape s, bool exact)
{
    int steps = s.a == MX_I8 ? s.k / 2 : s.k;
    int groups = WAVE_LANES / s.m, block_regs = s.m * s.m / WAVE_LANES;
    int vectors = s.m / VL < COLUMN_VECTORS ? s.m / VL : COLUMN_VECTORS;
    vnans nans = {0};
    for (int b = 0; b < s.blocks; b++)
        for (int r = 0; r < block_regs; r += 4)
            for (int g = 0; g < groups; g++)
                for (int j = 0; j < s.m; j += vectors * VL) {
                    int i = r * groups + 4 * g, reg = b * block_regs + r;
                    nans = block_4(d + reg, c + reg, ta, b * s.m + i, tb, b * s.m + j, g * s.m + j, s, steps,
                                   vectors, exact, nans);
                }
    return nans;
}

MX_INLINE const struct xinst *mfma(struct wave *w, const struct xinst *in, struct shape s)
{
    enum { MOST_DWORDS = 2, MOST_ROWS = 8, MOST_RESULTS = 32 };
    alignas(64) wave_row a_tile[MOST_ROWS], b_tile[MOST_ROWS], a_copy[MOST_DWORDS], b_copy[MOST_DWORDS];
    alignas(64) wave_row c_copy[MOST_RESULTS];
    int dwords = s.k * s.m * s.blocks / WAVE_LANES * elem_bits(s.a) / 32;
    int results = s.m * s.m * s.blocks / WAVE_LANES;
    const wave_row *ta = tile_a(a_copy, w->v + in->s[0], dwords, in->isa, s.m, s.blocks);
    const wave_row *tb = tile_b(b_copy, w->v + in->s[1], dwords, in->isa);
    ta = tile_load(a_tile, ta, dwords, s.a, true);
    tb = tile_load(b_tile, tb, dwords, s.b, true);
    const wave_row *c = tile_c(c_copy, w, in, results, false);
    wave_row *d = w->v + in->d;
    if (s.a == MX_F32 && abs(in->s[0] - in->d) < MOST_RESULTS) { /* f32 is used in place */
        memcpy(a_tile, ta, sizeof(wave_row) * (size_t)dwords);
        ta = a_tile;
    }
    if (s.a == MX_F32 && abs(in->s[1] - in->d) < MOST_RESULTS) {
        memcpy(b_tile, tb, sizeof(wave_row) * (size_t)dwords);
        tb = b_tile;
    }

    const int rows = tile_rows(s.a, dwords, true);
    const bool always = tile_always_exact(s.a);
    vnans nans;
    if (!always && !V_HAS_FMA && tile_products_exact(ta, rows, tb, rows))
        nans = multiply(d, c, ta, tb, s, true);
    else
        nans = multiply(d, c, ta, tb, s, always);
    if (s.a != MX_I8 && v_any(nans))
        tile_fix_nans(d, results);
    return in + 1;
}

#define DENSE(name, M, K, blocks, A, B)                                                                      \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        return mfma(w, in, (struct shape){M, K, blocks, A, B});                                              \
    }
MATRIX_DENSE(DENSE)

/* 4x4, sixteen blocks: a vector holds whole blocks, so A is broadcast within groups of four lanes. */
MX_INLINE const struct xinst *mfma_4x4(struct wave *w, const struct xinst *in, int k, enum matrix_elem type)
{
    enum { M = 4, BLOCKS = 16, RESULTS = 4, MOST_DWORDS = 2, MOST_ROWS = 4 };
    alignas(64) wave_row a_tile[MOST_ROWS], b_tile[MOST_ROWS], a_copy[MOST_DWORDS], b_copy[MOST_DWORDS];
    alignas(64) wave_row c_copy[RESULTS], result[RESULTS];
    int dwords = k * elem_bits(type) / 32, rows = tile_rows(type, dwords, true);
    const wave_row *ta = tile_a(a_copy, w->v + in->s[0], dwords, in->isa, M, BLOCKS);
    const wave_row *tb = tile_b(b_copy, w->v + in->s[1], dwords, in->isa);
    ta = tile_load(a_tile, ta, dwords, type, true);
    tb = tile_load(b_tile, tb, dwords, type, true);
    const wave_row *c = tile_c(c_copy, w, in, RESULTS, false);
    vnans nans = {0};
    for (int l = 0; l < WAVE_LANES; l += VL) {
#pragma GCC unroll 4
        for (int i = 0; i < M; i++) {
            vreg acc = v_load(&c[i][l]);
            for (int e = 0; e < rows; e++)
                acc = tile_mac(v_quad(v_load(&ta[e][l]), i), v_load(&tb[e][l]), acc, type,
                               tile_always_exact(type));
            v_store(&result[i][l], acc);
            if (type != MX_I8)
                nans = v_nans(nans, acc, acc);
        }
    }
    memcpy(w->v + in->d, result, sizeof(result));
    if (type != MX_I8 && v_any(nans))
        tile_fix_nans(w->v + in->d, RESULTS);
    return in + 1;
}

#define DENSE_4X4(name, K, TYPE)                                                                             \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        return mfma_4x4(w, in, K, TYPE);                                                                     \
    }
MATRIX_4X4(DENSE_4X4)

exec_fn *SEM(sem_matrix_dense)(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
#define CASE(name, ...)                                                                                      \
    case ISA_OP_##name:                                                                                      \
        return x_##name;
        MATRIX_DENSE(CASE)
        MATRIX_4X4(CASE)
#undef CASE
    default:
        return NULL;
    }
}
