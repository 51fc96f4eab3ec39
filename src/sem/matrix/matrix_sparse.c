/* SPDX-License-Identifier: MIT */
/*
 * SMFMAC: A has two of every four k, so every row of D multiplies its own
 * selection of B's rows.  The accumulation is the dense one's (matrix_dense.c).
 */
#include "sem/matrix/matrix_tile.h"

enum { COLUMN_VECTORS = 2 };

struct shape {
    int m, k; /* k dense */
    enum matrix_elem a, b;
};

MX_INLINE vnans multiply(wave_row *d, const wave_row *ta, const wave_row *tb, const uint32_t *index,
                         int share, struct shape s, bool exact)
{
    int results = s.m * s.m / WAVE_LANES, groups = WAVE_LANES / s.m;
    int vectors = s.m / VL < COLUMN_VECTORS ? s.m / VL : COLUMN_VECTORS;
    vnans nans = {0};
    for (int r = 0; r < results; r++)
        for (int g = 0; g < groups; g++)
            for (int j = 0; j < s.m; j += vectors * VL) {
                int i = r / 4 * 4 * groups + 4 * g + r % 4;
                uint32_t *pd = &d[r][g * s.m + j];
                vreg acc[COLUMN_VECTORS];
#pragma GCC unroll 2
                for (int v = 0; v < vectors; v++)
                    acc[v] = v_load(pd + v * VL);
                for (int kg = 0; kg < groups; kg++) {
                    uint32_t which = index[i + s.m * kg];
#pragma GCC unroll 8
                    for (int e = 0; e < share; e++) {
                        vreg a = v_set1(ta[e][i + s.m * kg]);
                        const uint32_t *pb = &tb[4 * (e / 2) + (int)(which >> 2 * e & 3)][s.m * kg + j];
#pragma GCC unroll 2
                        for (int v = 0; v < vectors; v++)
                            acc[v] = tile_mac(a, v_load(pb + v * VL), acc[v], s.a, exact);
                    }
                }
#pragma GCC unroll 2
                for (int v = 0; v < vectors; v++) {
                    v_store(pd + v * VL, acc[v]);
                    if (s.a != MX_I8)
                        nans = v_nans(nans, acc[v], acc[v]);
                }
            }
    return nans;
}

MX_INLINE const struct xinst *smfmac(struct wave *w, const struct xinst *in, struct shape s)
{
    enum { A_DWORDS = 2, B_DWORDS = 4, MOST_RESULTS = 16 };
    alignas(64) wave_row a_tile[8], b_tile[16], index;
    bool wide = s.a == MX_F16 || s.a == MX_BF16;
    int share = wide ? 4 : 8; /* elements of A a lane; B has twice as many */
    int bits = 2 * share;     /* of index a lane */
    const wave_row *ta = tile_load(a_tile, w->v + in->s[0], A_DWORDS, s.a, false);
    const wave_row *tb = tile_load(b_tile, w->v + in->s[1], B_DWORDS, s.b, false);
    unsigned set = in->isa->cbsz ? 0 : in->isa->abid & (wide ? 3u : 1u);
    for (int l = 0; l < WAVE_LANES; l++)
        index[l] = w->v[in->s[2]][l] >> set * (unsigned)bits;

    wave_row *d = w->v + in->d;
    const bool always = tile_always_exact(s.a);
    vnans nans;
    if (!always && !V_HAS_FMA &&
        tile_products_exact(ta, tile_rows(s.a, A_DWORDS, false), tb, tile_rows(s.b, B_DWORDS, false)))
        nans = multiply(d, ta, tb, index, share, s, true);
    else
        nans = multiply(d, ta, tb, index, share, s, always);
    if (s.a != MX_I8 && v_any(nans))
        tile_fix_nans(d, s.m * s.m / WAVE_LANES);
    return in + 1;
}

#define SPARSE(name, M, K, A, B)                                                                             \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        return smfmac(w, in, (struct shape){M, K, A, B});                                                    \
    }
MATRIX_SPARSE(SPARSE)

exec_fn *SEM(sem_matrix_sparse)(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
#define CASE(name, ...)                                                                                      \
    case ISA_OP_##name:                                                                                      \
        return x_##name;
        MATRIX_SPARSE(CASE)
#undef CASE
    default:
        return NULL;
    }
}
