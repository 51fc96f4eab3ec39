/* SPDX-License-Identifier: MIT */
/*
 * Every dense MFMA against three loops over i, j, k.  The oracle knows where an
 * element lives only by reading registers lane by lane and saying which element
 * that is (the inverse of what the handlers do), and sums in double precision.
 */
#include "matrix_wave.h"
#include "sem/matrix/matrix.h"

enum { A_REG = 10, B_REG = 20, C_REG = 40, D_REG = 80 };

struct test_case {
    unsigned op;
    const char *name;
};

static const struct test_case cases[] = {
#define CASE(name, ...) {ISA_OP_##name, #name},
    MATRIX_DENSE(CASE) MATRIX_4X4(CASE) CASE(v_mfma_f64_16x16x4_f64) CASE(v_mfma_f64_4x4x4_4b_f64)
#undef CASE
};

struct shape {
    int m, k, blocks;
    enum rig_type a, b;
};

static enum rig_type type_of(const char *s)
{
    static const struct {
        const char *name;
        enum rig_type type;
    } types[] = {{"f32", RIG_F32}, {"xf32", RIG_XF32}, {"f16", RIG_F16}, {"bf16", RIG_BF16},
                 {"fp8", RIG_FP8}, {"bf8", RIG_BF8},   {"i8", RIG_I8},   {"f64", RIG_F64}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!strncmp(s, types[i].name, strlen(types[i].name)))
            return types[i].type;
    fprintf(stderr, "type %s?\n", s);
    exit(1);
}

/* v_mfma_<d>_MxNxK[_<blocks>b]_<a>[_<b>] */
static struct shape parse(const char *name)
{
    struct shape s = {.blocks = 1};
    int n, used = 0;
    const char *p = strchr(name + strlen("v_mfma_"), '_') + 1;
    if (sscanf(p, "%dx%dx%d%n", &s.m, &n, &s.k, &used) != 3 || n != s.m)
        exit(1);
    p += used + 1;
    char b;
    if (sscanf(p, "%d%c_%n", &s.blocks, &b, &used) == 2 && b == 'b')
        p += used;
    else
        s.blocks = 1;
    s.a = type_of(p);
    const char *second = strchr(p, '_');
    s.b = second ? type_of(second + 1) : s.a;
    return s;
}

struct matrices {
    double a[16][32][32], b[16][32][32], c[16][32][32], d[16][32][32]; /* [block][row][column] */
};

static uint64_t element(const wave_row *rows, int lane, int e, unsigned bits)
{
    if (bits == 64)
        return rows[2 * e][lane] | (uint64_t)rows[2 * e + 1][lane] << 32;
    unsigned per = 32 / bits;
    return rows[e / (int)per][lane] >> (unsigned)e % per * bits & (bits == 32 ? ~0u : (1u << bits) - 1);
}

/* A (or B, transposed): lanes are rows first, then blocks, then k. */
static void gather_input(double out[16][32][32], const wave_row *rows, struct shape s, enum rig_type t,
                         bool b, int blgp)
{
    int per_lane = s.k * s.m * s.blocks / 64;
    for (int lane = 0; lane < 64; lane++) {
        int from = lane;
        if (b && blgp == 1)
            from = lane % 32;
        else if (b && blgp == 2)
            from = lane % 32 + 32;
        else if (b && blgp == 3)
            from = lane < 48 ? lane + 16 : lane - 48;
        else if (b && blgp > 3)
            from = lane % 16 + 16 * (blgp - 4);
        int i = lane % s.m, block = lane / s.m % s.blocks, k0 = lane / s.m / s.blocks * per_lane;
        for (int e = 0; e < per_lane; e++) {
            double v = rig_value(t, element(rows, from, e, rig_bits(t)));
            *(b ? &out[block][k0 + e][i] : &out[block][i][k0 + e]) = v;
        }
    }
}

static void gather_output(double out[16][32][32], const wave_row *rows, struct shape s)
{
    bool f64 = s.a == RIG_F64;
    int values = s.m * s.m * s.blocks / 64;
    for (int reg = 0; reg < values; reg++)
        for (int lane = 0; lane < 64; lane++) {
            int j = lane % s.m, i, block = 0, high = lane / s.m;
            if (f64 && s.m == 16)
                i = 4 * reg + high;
            else if (f64)
                i = lane / 16, block = high % 4;
            else if (s.m == 4)
                i = reg, block = high;
            else {
                int of_block = s.m == 32 ? 16 : 4;
                block = reg / of_block;
                i = reg % of_block / 4 * 8 + high * 4 + reg % 4;
            }
            out[block][i][j] = f64             ? rig_value(RIG_F64, element(rows, lane, reg, 64))
                               : s.a == RIG_I8 ? (double)(int32_t)rows[reg][lane]
                                               : rig_value(RIG_F32, rows[reg][lane]);
        }
}

static void check(struct rig *r, const char *name, const char *level, struct shape s,
                  const struct matrices *m, bool exact, int cbsz, int abid, int neg)
{
    for (int b = 0; b < s.blocks; b++)
        for (int i = 0; i < s.m; i++)
            for (int j = 0; j < s.m; j++) {
                int from = cbsz ? b / (1 << cbsz) * (1 << cbsz) + abid : b;
                double sum = m->c[b][i][j] * (neg & 4 ? -1 : 1), magnitude = fabs(sum);
                for (int k = 0; k < s.k; k++) {
                    double p = m->a[from][i][k] * m->b[b][k][j] * (((neg & 1) ^ (neg >> 1 & 1)) ? -1 : 1);
                    sum += p;
                    magnitude += fabs(p);
                }
                double got = m->d[b][i][j],
                       bound = magnitude * (s.k + 1) * (s.a == RIG_F64 ? 0x1p-52 : 0x1p-24);
                if (s.a == RIG_I8)
                    sum = (double)(int32_t)(uint32_t)(int64_t)sum;
                r->checks++;
                if (isnan(sum)               ? !isnan(got)
                    : exact || s.a == RIG_I8 ? got != sum
                                             : !(fabs(got - sum) <= bound + 0x1p-149 * s.k))
                    rig_fail(r, name, level, i, j, b, got, sum);
            }
}

static void fill(struct rig *r, wave_row *rows, int dwords, enum rig_type t, bool wild)
{
    unsigned bits = rig_bits(t);
    for (int d = 0; d < dwords; d++)
        for (int l = 0; l < 64; l++) {
            if (bits == 64) {
                uint64_t e = rig_element(r, t, wild);
                rows[d & ~1][l] = (uint32_t)e;
                rows[d | 1][l] = (uint32_t)(e >> 32);
                continue;
            }
            rows[d][l] = 0;
            for (unsigned at = 0; at < 32; at += bits)
                rows[d][l] |= (uint32_t)rig_element(r, t, wild) << at;
        }
}

enum place { SEPARATE, IN_PLACE, CONSTANT, OVERLAP, PLACES };

static void run(struct rig *r, const struct rig_level *level, const struct test_case *t, bool wild,
                enum place place, int cbsz, int abid, int blgp)
{
    static struct matrices m;
    struct shape s = parse(t->name);
    bool f64 = s.a == RIG_F64;
    int in_dwords = s.k * s.m * s.blocks / 64 * (int)rig_bits(s.a) / 32;
    int out_dwords = s.m * s.m * s.blocks / 64 * (f64 ? 2 : 1);
    enum rig_type out = f64 ? RIG_F64 : s.a == RIG_I8 ? RIG_I8 : RIG_F32;
    wave_row *v = r->w.v;

    rig_clear(r, t->op);
    r->inst.cbsz = (uint8_t)cbsz;
    r->inst.abid = (uint8_t)abid;
    r->inst.blgp = (uint8_t)blgp;
    /* A in VGPRs, B in AccVGPRs, C and D in either. */
    bool acc = rig_random(r) & 1;
    int c = place == IN_PLACE || place == OVERLAP ? D_REG : C_REG, base = acc ? WAVE_ACC : 0;
    int d = place == OVERLAP && out_dwords > 2 ? D_REG + 2 : D_REG;
    const unsigned shared = D_REG + (out_dwords > 2 ? 3u : 1u); /* of A, or B, with D */
    rig_operand(r, -1, acc ? ISA_AGPR : ISA_VGPR, (unsigned)d, (unsigned)out_dwords);
    rig_operand(r, 0, ISA_VGPR, place == OVERLAP && !acc ? shared : A_REG, (unsigned)in_dwords);
    rig_operand(r, 1, ISA_AGPR, place == OVERLAP && acc ? shared : B_REG, (unsigned)in_dwords);
    rig_operand(r, 2, acc ? ISA_AGPR : ISA_VGPR, (unsigned)c, (unsigned)out_dwords);
    fill(r, v + base + c, out_dwords, out, wild);
    fill(r, v + r->x.s[0], in_dwords, s.a, wild);
    fill(r, v + r->x.s[1], in_dwords, s.b, wild);
    const wave_row *c_rows = v + base + c;
    static wave_row constant[32];
    if (place == CONSTANT) {
        uint64_t value = out == RIG_I8 ? (uint64_t)-7 : rig_integer(out, -2);
        rig_constant(r, 2, value, (unsigned)out_dwords);
        for (int i = 0; i < out_dwords; i++)
            for (int l = 0; l < 64; l++)
                constant[i][l] = (uint32_t)(f64 && i & 1 ? value >> 32 : value);
        c_rows = constant;
    }
    /* Read before D overwrites them. */
    gather_input(m.a, v + r->x.s[0], s, s.a, false, 0);
    gather_input(m.b, v + r->x.s[1], s, s.b, true, f64 ? 0 : blgp);
    gather_output(m.c, c_rows, s);

    exec_fn *fn = level->lookup(&r->inst, &r->x);
    if (!fn) {
        fprintf(stderr, "%s has no handler\n", t->name);
        r->failures++;
        return;
    }
    r->w.exec = rig_random(r); /* ignored */
    oracle_ran_op(r->inst.op, ORACLE_HANDLER);
    if (fn(&r->w, &r->x) != &r->x + 1)
        r->failures++;
    gather_output(m.d, v + r->x.d, s);
    /* Where A or B lies in C's registers, C is not small integers. */
    check(r, t->name, level->name, s, &m, !wild && place != OVERLAP, cbsz, abid, f64 ? blgp : 0);
}

/* A NaN and an infinity reach exactly the row and column they belong to. */
static void run_special(struct rig *r, const struct rig_level *level, const struct test_case *t)
{
    struct shape s = parse(t->name);
    if (s.a == RIG_I8 || s.a == RIG_F64)
        return;
    wave_row *v = r->w.v;
    int in_dwords = s.k * s.m * s.blocks / 64 * (int)rig_bits(s.a) / 32,
        out_dwords = s.m * s.m * s.blocks / 64;
    rig_clear(r, t->op);
    rig_operand(r, -1, ISA_VGPR, D_REG, (unsigned)out_dwords);
    rig_operand(r, 0, ISA_VGPR, A_REG, (unsigned)in_dwords);
    rig_operand(r, 1, ISA_VGPR, B_REG, (unsigned)in_dwords);
    rig_constant(r, 2, 0, (unsigned)out_dwords);
    fill(r, v + A_REG, in_dwords, s.a, false);
    fill(r, v + B_REG, in_dwords, s.b, false);
    static const uint32_t nan[] = {[RIG_F32] = 0xffa12345, [RIG_XF32] = 0xffa12345, [RIG_F16] = 0xfd01,
                                   [RIG_BF16] = 0xff81,    [RIG_FP8] = 0x80,        [RIG_BF8] = 0x80};
    unsigned bits = rig_bits(s.a);
    v[A_REG][1] = (v[A_REG][1] & (bits == 32 ? 0 : ~0u << bits)) | nan[s.a]; /* A[1][0] of block 0 */
    level->lookup(&r->inst, &r->x)(&r->w, &r->x);
    for (int reg = 0; reg < out_dwords; reg++)
        for (int lane = 0; lane < 64; lane++) {
            bool hit = reg == 1 && lane < s.m;
            uint32_t got = v[D_REG + reg][lane];
            r->checks++;
            if (hit ? got != 0x7fc00000 : (got & 0x7f800000) == 0x7f800000)
                rig_fail(r, t->name, level->name, reg, lane, -1, got, 0x7fc00000);
        }
}

int main(void)
{
    struct rig *r = rig_new(1234567);
    for (const struct rig_level *level = rig_levels(); level->name; level++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            struct shape s = parse(cases[i].name);
            for (int place = 0; place < PLACES; place++)
                for (int wild = 0; wild < 2; wild++)
                    run(r, level, &cases[i], wild, (enum place)place, 0, 0, 0);
            for (int blgp = 1; blgp < 8; blgp++)
                run(r, level, &cases[i], blgp & 1, SEPARATE, 0, 0, blgp);
            for (int cbsz = 1; 1 << cbsz <= s.blocks; cbsz++)
                for (int abid = 0; abid < 1 << cbsz; abid++)
                    run(r, level, &cases[i], abid & 1, IN_PLACE, cbsz, abid, 0);
            run_special(r, level, &cases[i]);
        }
    printf("%ld elements compared, %ld wrong\n", r->checks, r->failures);
    long failures = r->failures;
    free(r);
    return failures != 0;
}
