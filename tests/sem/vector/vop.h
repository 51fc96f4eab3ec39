/* SPDX-License-Identifier: MIT */
/*
 * Runs one vector ALU instruction on a wave built by hand, at every level that
 * the host has, and compares with a reference: the tests of this directory.
 *
 * A test lists VOP(mnemonic, result, sources, expression): letters as below and
 * the reference, an expression in a, b, c (the sources' bits), old (the
 * destination's) and x (the circumstances).  vop_check() runs it over hard
 * values and random ones, with all lanes on and with some off (which must then
 * stay untouched), with the result on top of its sources, and with sources that are
 * SGPRs or constants.
 *
 *   u 32 bits   q 64 bits   h 16 bits   f f32   d f64   e f16   p a pair of f16
 *   s four selectors of v_perm_b32
 */
#ifndef EHP_TESTS_SEM_VOP_H
#define EHP_TESTS_SEM_VOP_H

#include <fenv.h>
#include <math.h>
#include <stdalign.h>

#include "../../check.h"
#include "../../hard.h"
#include "wave/handlers.h"

#define VOP_LANES 64

struct vop_case {
    uint16_t op;
    const char *name, *result, *sources;
    uint64_t (*reference)(uint64_t a, uint64_t b, uint64_t c, uint64_t old, const struct vop_case *x);
    bool clamp;
    uint32_t mode; /* 0: MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP */
    uint8_t op_sel;
    int lane;      /* while the reference runs */
    uint64_t mask; /* of source 2, and VCC */
    /* May allow a difference, in place of equality. */
    bool (*close)(uint64_t got, uint64_t want, uint64_t a);
};

struct vop_wave {
    struct wave w;
    alignas(64) wave_row rows[WAVE_TEMPS + WAVE_ROWS];
};

static struct vop_wave vop_wave;
static uint64_t vop_seed = 0x9e3779b97f4a7c15u;

static inline uint64_t vop_random(void)
{
    vop_seed ^= vop_seed << 13;
    vop_seed ^= vop_seed >> 7;
    vop_seed ^= vop_seed << 17;
    return vop_seed * 0x2545f4914f6cdd1du;
}

static inline bool vop_has_level(int level)
{
    __builtin_cpu_init();
    return level == 2 || (level == 3 && __builtin_cpu_supports("x86-64-v3")) ||
           (level == 4 && __builtin_cpu_supports("x86-64-v4"));
}

static inline exec_fn *vop_handler(int level, const struct isa_inst *inst, struct xinst *x)
{
    return level == 2 ? sem_valu_v2(inst, x) : level == 3 ? sem_valu_v3(inst, x) : sem_valu_v4(inst, x);
}

static inline int vop_dwords(char letter)
{
    return letter == 'q' || letter == 'd' ? 2 : 1;
}

/* Values that have broken arithmetic before, and random ones near them. */
static inline uint64_t vop_value(char letter)
{
    const uint64_t r = vop_random(), more = vop_random();
    switch (letter) {
    case 'u':
        return hard_u32(r);
    case 'q':
        return hard_u64(r, more);
    case 'h':
        return hard_u16(r) | (more & 0xffff) << 16;
    case 'f':
        return hard_f32(r);
    case 'd':
        return hard_f64(r, more);
    case 'e':
        return hard_f16(r) | (more & 0xffff) << 16;
    case 'p':
        return hard_f16(r) | hard_f16(more) << 16;
    case 's':
        return r & 7 ? more & 0x0f0f0f0f : more & 0xffffffff;
    default:
        return 0;
    }
}

static inline void vop_put(int row, int dwords, int lane, uint64_t value)
{
    vop_wave.w.v[row][lane] = (uint32_t)value;
    if (dwords > 1)
        vop_wave.w.v[row + 1][lane] = (uint32_t)(value >> 32);
}

static inline uint64_t vop_get(int row, int dwords, int lane)
{
    return vop_wave.w.v[row][lane] | (dwords > 1 ? (uint64_t)vop_wave.w.v[row + 1][lane] << 32 : 0);
}

enum { VOP_SGPR = 30 }; /* source k, when it is one: s[30 + 2 k] */

/* Instruction, as translated: plain VGPRs in rows s[], result in d; the mask of source 2 in s[20:21], sdst
 * vcc.  Sources in the set `sgprs` are SGPRs, those in `constants` the same values as constants. */
static inline exec_fn *vop_build(int level, const struct vop_case *c, struct isa_inst *inst, struct xinst *x,
                                 int d, const int *s, unsigned sgprs, unsigned constants)
{
    static const int16_t temp[3] = {TEMP_SRC0, TEMP_SRC1, TEMP_SRC2};
    *inst =
        (struct isa_inst){.op = c->op, .format = ISA_VOP3, .size = 8, .clamp = c->clamp, .op_sel = c->op_sel};
    const char letter = c->result[0];
    inst->dst.kind = ISA_VGPR;
    inst->dst.dwords = (uint8_t)vop_dwords(letter);
    inst->dst.type = letter == 'f'   ? ISA_T_F32
                     : letter == 'd' ? ISA_T_F64
                     : letter == 'e' ? ISA_T_F16
                     : letter == 'q' ? ISA_T_U64
                     : letter == 'h' ? ISA_T_U16
                                     : ISA_T_U32;
    *x = (struct xinst){.isa = inst, .d = (int16_t)d, .drows = inst->dst.dwords, .sd = SREG_VCC};
    for (int i = 0; i < 3; i++) {
        x->s[i] = (int16_t)s[i];
        x->ss[i] = XSRC_CONST;
    }
    x->ss[2] = 20;
    for (int i = 0; i < 3; i++) {
        if (!((sgprs | constants) >> i & 1))
            continue;
        x->s[i] = temp[i];
        x->rows[i] = (uint8_t)vop_dwords(c->sources[i]);
        x->prep[i] = sgprs >> i & 1 ? XPREP_SGPR : XPREP_CONST;
        x->reg[i] = (uint16_t)(VOP_SGPR + 2 * i);
        x->literal[i] = wave_sgpr64(&vop_wave.w, VOP_SGPR + 2 * (unsigned)i);
        x->any_prep = true;
    }
    x->fn = vop_handler(level, inst, x);
    return x->fn;
}

static inline bool vop_batch_scalar(const struct vop_case *c, int level, uint64_t exec, int d, const int *s,
                                    unsigned sgprs, unsigned constants)
{
    struct vop_case x = *c;
    const int dwords = vop_dwords(c->result[0]), n = (int)strlen(c->sources);
    uint64_t in[3][VOP_LANES] = {{0}}, old[VOP_LANES], high[VOP_LANES];
    struct isa_inst inst;
    struct xinst xi[2];
    struct wave *w = &vop_wave.w;
    bool good = true;

    w->v = vop_wave.rows + WAVE_TEMPS;
    for (int r = -WAVE_TEMPS; r < 64; r++)
        for (int i = 0; i < VOP_LANES; i++)
            w->v[r][i] = (uint32_t)vop_random();
    for (int k = 0; k < n; k++)
        for (int i = 0; i < VOP_LANES; i++)
            vop_put(s[k], vop_dwords(c->sources[k]), i, vop_value(c->sources[k]));
    /* Sources may share registers: what the instruction sees is what is there now. */
    for (int i = 0; i < VOP_LANES; i++) {
        for (int k = 0; k < n; k++)
            in[k][i] = vop_get(s[k], vop_dwords(c->sources[k]), i);
        old[i] = vop_get(d, dwords, i);
        high[i] = w->v[d + dwords][i];
    }
    for (int k = 0; k < n; k++)
        if ((sgprs | constants) >> k & 1) {
            const uint64_t value = vop_value(c->sources[k]);
            wave_set_sgpr64(w, VOP_SGPR + 2 * (unsigned)k, value);
            for (int i = 0; i < VOP_LANES; i++)
                in[k][i] = vop_dwords(c->sources[k]) > 1 ? value : (uint32_t)value;
        }
    w->exec = exec;
    x.mask = vop_random();
    wave_set_sgpr64(w, 20, x.mask);
    w->vcc = x.mask;
    w->mode = c->mode ? c->mode : MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP;
    w->mode_slow = (w->mode & MODE_FLOAT_BITS) != MODE_FLOAT_PLAIN;
    x.mode = w->mode;
    if (!CHECK(vop_build(level, c, &inst, xi, d, s, sgprs, constants) != NULL)) {
        fprintf(stderr, "  %s is missing\n", c->name);
        return false;
    }
    CHECK(xi->fn(w, xi) == xi + 1);
    for (int i = 0; i < VOP_LANES; i++) {
        const uint64_t got = vop_get(d, dwords, i);
        x.lane = i;
        const bool on = exec >> i & 1;
        const uint64_t want = on ? c->reference(in[0][i], in[1][i], in[2][i], old[i], &x) : old[i];
        const bool same = got == want || (on && c->close && c->close(got, want, in[0][i]));
        check_count++;
        if (!same && good) {
            good = false;
            check_failures++;
            fprintf(stderr,
                    "%s v%d%s mode 0x%x%s lane %d: (0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64
                    ", old 0x%" PRIx64 ") gives 0x%" PRIx64 ", not 0x%" PRIx64 "\n",
                    c->name, level, c->clamp ? " clamp" : "", w->mode, on ? "" : " inactive", i, in[0][i],
                    in[1][i], in[2][i], old[i], got, want);
        }
        /* The row after the result stays, when no source overlaps it. */
        if (w->v[d + dwords][i] != high[i] && good) {
            good = false;
            CHECK(!"wrote a row too many");
        }
    }
    return good;
}

static inline bool vop_batch(const struct vop_case *c, int level, uint64_t exec, int d, const int *s)
{
    return vop_batch_scalar(c, level, exec, d, s, 0, 0);
}

static inline void vop_check_batches(const struct vop_case *c, int batches)
{
    static const int apart[3] = {10, 20, 30}, aliased[3] = {40, 20, 40}, shifted[3] = {41, 39, 30};
    for (int level = 2; level <= 4; level++) {
        if (!vop_has_level(level))
            continue;
        vop_seed = 0x9e3779b97f4a7c15u;
        bool good = true;
        for (int k = 0; k < batches && good; k++)
            good = vop_batch(c, level, UINT64_MAX, 40, apart);
        for (int k = 0; k < batches && good; k++)
            good = vop_batch(c, level, vop_random(), 40, apart);
        for (int k = 0; k < 4 && good; k++)
            good = vop_batch(c, level, UINT64_MAX, 40, aliased);
        for (int k = 0; k < 4 && good && vop_dwords(c->result[0]) == 2; k++)
            good = vop_batch(c, level, k & 1 ? UINT64_MAX : vop_random(), 40, shifted);
        const unsigned all = (1u << strlen(c->sources)) - 1;
        for (unsigned set = 1; set <= all; set++)
            for (int k = 0; k < 6 && good; k++) {
                const unsigned sgprs = set & (unsigned)vop_random();
                good = vop_batch_scalar(c, level, k & 1 ? UINT64_MAX : vop_random(), 40,
                                        k & 2 ? aliased : apart, sgprs, set & ~sgprs);
            }
        if (good)
            vop_batch(c, level, 0, 40, apart);
    }
}

static inline void vop_check(const struct vop_case *c)
{
    vop_check_batches(c, 24);
}

#define VOP_REFERENCE(op, result, sources, ...)                                                              \
    static uint64_t reference_##op(uint64_t a, uint64_t b, uint64_t c, uint64_t old,                         \
                                   const struct vop_case *x)                                                 \
    {                                                                                                        \
        (void)a, (void)b, (void)c, (void)old, (void)x;                                                       \
        return (uint64_t)(__VA_ARGS__);                                                                      \
    }
#define VOP_CASE(mnemonic, r, s, ...)                                                                        \
    {.op = ISA_OP_##mnemonic,                                                                                \
     .name = #mnemonic,                                                                                      \
     .result = r,                                                                                            \
     .sources = s,                                                                                           \
     .reference = reference_##mnemonic},

static inline float vop_f32(uint64_t bits)
{
    const uint32_t u = (uint32_t)bits;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static inline uint32_t vop_f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static inline double vop_f64(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

static inline uint64_t vop_f64_bits(double d)
{
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
}

static inline double vop_f16(uint64_t bits)
{
    const uint16_t u = (uint16_t)bits;
    const int exponent = u >> 10 & 31, mantissa = u & 1023;
    const double magnitude = exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                             : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                            : ldexp(mantissa, -24);
    return u >> 15 ? -magnitude : magnitude;
}

#endif
