/* SPDX-License-Identifier: MIT */
/*
 * Every SMFMAC against a dense product: the oracle first spreads A over all k by
 * the index, as a dense matrix of sums, then multiplies.
 */
#include "matrix_wave.h"
#include "sem/matrix/matrix.h"

enum { A_REG = 10, B_REG = 20, INDEX_REG = 30, D_REG = 80 };

static const struct test_case {
    unsigned op;
    const char *name;
    int m, k;
    enum rig_type a, b;
} cases[] = {
#define MX_RIG_MX_F16          RIG_F16
#define MX_RIG_MX_BF16         RIG_BF16
#define MX_RIG_MX_FP8          RIG_FP8
#define MX_RIG_MX_BF8          RIG_BF8
#define MX_RIG_MX_I8           RIG_I8
#define CASE(name, m, k, a, b) {ISA_OP_##name, #name, m, k, MX_RIG_##a, MX_RIG_##b},
    MATRIX_SPARSE(CASE)
#undef CASE
};

static double element(enum rig_type t, const wave_row *rows, int lane, int e)
{
    int per = 32 / (int)rig_bits(t);
    return rig_value(t, rows[e / per][lane] >> (e % per * (int)rig_bits(t)) & ((1u << rig_bits(t)) - 1));
}

static double output(bool integer, uint32_t bits)
{
    return integer ? (double)(int32_t)bits : rig_value(RIG_F32, bits);
}

static void run(struct rig *r, const struct rig_level *level, const struct test_case *t, bool wild, int cbsz,
                int abid)
{
    static double a[32][64], weight[32][64], b[64][32];
    bool integer = t->a == RIG_I8, wide = rig_bits(t->a) == 16;
    int out = t->m * t->m / 64, share = t->k * t->m / 64; /* of dense k */
    wave_row *v = r->w.v;
    rig_clear(r, t->op);
    r->inst.cbsz = (uint8_t)cbsz;
    r->inst.abid = (uint8_t)abid;
    rig_operand(r, -1, ISA_AGPR, D_REG, (unsigned)out);
    rig_operand(r, 0, ISA_AGPR, A_REG, 2);
    rig_operand(r, 1, ISA_VGPR, B_REG, 4);
    rig_operand(r, 2, ISA_VGPR, INDEX_REG, 1);
    for (int l = 0; l < 64; l++) {
        for (int d = 0; d < 6; d++) {
            uint32_t *p = d < 2 ? &v[WAVE_ACC + A_REG + d][l] : &v[B_REG + d - 2][l];
            unsigned bits = rig_bits(t->a);
            *p = 0;
            for (unsigned at = 0; at < 32; at += bits)
                *p |= (uint32_t)rig_element(r, d < 2 ? t->a : t->b, wild) << at;
        }
        /* Two different positions, ascending, of each four. */
        static const uint8_t pairs[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
        v[INDEX_REG][l] = 0;
        for (int n = 0; n < 8; n++)
            v[INDEX_REG][l] |= (uint32_t)pairs[rig_random(r) % 6] << 4 * n;
        for (int d = 0; d < out; d++)
            v[WAVE_ACC + D_REG + d][l] = integer ? rig_random(r) : (uint32_t)rig_element(r, RIG_F32, wild);
    }
    memset(a, 0, sizeof(a));
    memset(weight, 0, sizeof(weight));
    for (int l = 0; l < 64; l++) {
        int base = l / t->m * share;
        int set = cbsz ? 0 : abid % (wide ? 4 : 2);
        for (int k = 0; k < share; k++)
            b[base + k][l % t->m] = element(t->b, v + B_REG, l, k);
        for (int e = 0; e < share / 2; e++) {
            uint32_t index = v[INDEX_REG][l] >> (set * share + 2 * e) & 3;
            a[l % t->m][base + 4 * (e / 2) + (int)index] += element(t->a, v + WAVE_ACC + A_REG, l, e);
            weight[l % t->m][base + 4 * (e / 2) + (int)index] += 1;
        }
    }
    static wave_row before[16];
    memcpy(before, v + WAVE_ACC + D_REG, sizeof(wave_row) * (size_t)out);
    exec_fn *fn = level->lookup(&r->inst, &r->x);
    if (!fn) {
        fprintf(stderr, "%s has no handler\n", t->name);
        r->failures++;
        return;
    }
    oracle_ran_op(r->inst.op, ORACLE_HANDLER);
    fn(&r->w, &r->x);
    for (int d = 0; d < out; d++)
        for (int l = 0; l < 64; l++) {
            int j = l % t->m, i = t->m == 16 ? l / 16 * 4 + d : d / 4 * 8 + l / 32 * 4 + d % 4;
            double sum = output(integer, before[d][l]), magnitude = fabs(sum);
            for (int k = 0; k < t->k; k++)
                if (weight[i][k] != 0) {
                    sum += a[i][k] * b[k][j];
                    magnitude += fabs(a[i][k] * b[k][j]);
                }
            if (integer)
                sum = (double)(int32_t)(uint32_t)(int64_t)sum;
            double got = output(integer, v[WAVE_ACC + D_REG + d][l]);
            r->checks++;
            if (integer || !wild ? got != sum : !(fabs(got - sum) <= magnitude * (t->k + 1) * 0x1p-24))
                rig_fail(r, t->name, level->name, i, j, 0, got, sum);
        }
}

int main(void)
{
    struct rig *r = rig_new(99);
    for (const struct rig_level *level = rig_levels(); level->name; level++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            for (int abid = 0; abid < 4; abid++)
                for (int wild = 0; wild < 2; wild++) {
                    run(r, level, &cases[i], wild, 0, abid);
                    run(r, level, &cases[i], wild, 1, abid);
                }
    printf("%ld elements compared, %ld wrong\n", r->checks, r->failures);
    long failures = r->failures;
    free(r);
    return failures != 0;
}
