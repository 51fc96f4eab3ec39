/* SPDX-License-Identifier: MIT */
/*
 * A wave and one hand-made instruction, to run a handler of every build that
 * this host can execute, and random operands of every element type.
 */
#ifndef EHP_TESTS_SEM_MATRIX_MATRIX_WAVE_H
#define EHP_TESTS_SEM_MATRIX_MATRIX_WAVE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../oracle/record.h"
#include "wave/handlers.h"

struct rig {
    struct wave w;
    alignas(64) wave_row rows[WAVE_TEMPS + WAVE_ROWS];
    struct isa_inst inst;
    struct xinst x;
    uint64_t seed;
    uint64_t integer[8][7]; /* elements that hold -3..3, once known */
    bool known[8][7];
    long checks, failures;
};

/* The family that a test is about. */
#ifndef RIG_FAMILY
#define RIG_FAMILY(level) sem_matrix_##level
#endif

struct rig_level {
    const char *name;
    sem_lookup_fn *lookup;
};

static inline struct rig *rig_new(uint64_t seed)
{
    struct rig *r = aligned_alloc(64, (sizeof(*r) + 63) / 64 * 64);
    memset(r, 0, sizeof(*r));
    r->w.v = r->rows + WAVE_TEMPS;
    r->w.vgprs = r->w.agprs = 256;
    r->w.exec = UINT64_MAX;
    r->w.mode = MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP;
    r->seed = seed;
    return r;
}

static inline uint32_t rig_random(struct rig *r)
{
    r->seed ^= r->seed << 13;
    r->seed ^= r->seed >> 7;
    r->seed ^= r->seed << 17;
    return (uint32_t)(r->seed * 0x9e3779b97f4a7c15ull >> 32);
}

/* Builds that the host can run; ends with a NULL name. */
static inline const struct rig_level *rig_levels(void)
{
    static const struct rig_level all[] = {
        {"v4", RIG_FAMILY(v4)}, {"v3", RIG_FAMILY(v3)}, {"v2", RIG_FAMILY(v2)}, {NULL, NULL}};
    if (__builtin_cpu_supports("x86-64-v4"))
        return all;
    return __builtin_cpu_supports("x86-64-v3") ? all + 1 : all + 2;
}

static inline void rig_operand(struct rig *r, int which, enum isa_kind kind, unsigned reg, unsigned dwords)
{
    struct isa_operand *o = which < 0 ? &r->inst.dst : &r->inst.src[which];
    int row = kind == ISA_AGPR ? WAVE_ACC + (int)reg : (int)reg;
    o->kind = (uint8_t)kind;
    o->reg = (uint16_t)reg;
    o->dwords = (uint8_t)dwords;
    if (which < 0) {
        r->x.d = (int16_t)row;
        r->x.drows = (uint8_t)dwords;
    } else if (which < 3) {
        r->x.s[which] = (int16_t)row;
        r->x.rows[which] = (uint8_t)dwords;
        r->x.prep[which] = XPREP_PLAIN;
    }
}

static inline void rig_constant(struct rig *r, int which, uint64_t value, unsigned dwords)
{
    static const int temp[3] = {TEMP_SRC0, TEMP_SRC1, TEMP_SRC2};
    struct isa_operand *o = &r->inst.src[which];
    *o = (struct isa_operand){.kind = ISA_CONST, .dwords = (uint8_t)dwords, .value = value};
    r->x.s[which] = (int16_t)temp[which];
    r->x.rows[which] = (uint8_t)dwords;
    r->x.prep[which] = XPREP_CONST;
    r->x.literal[which] = value;
    r->x.any_prep = true;
}

static inline void rig_scalar(struct rig *r, int which, unsigned reg, unsigned dwords)
{
    rig_constant(r, which, 0, dwords);
    r->inst.src[which].kind = ISA_SGPR;
    r->inst.src[which].reg = (uint16_t)reg;
    r->x.prep[which] = XPREP_SGPR;
    r->x.reg[which] = (uint16_t)reg;
}

static inline void rig_clear(struct rig *r, unsigned op)
{
    memset(&r->inst, 0, sizeof(r->inst));
    memset(&r->x, 0, sizeof(r->x));
    r->inst.op = (uint16_t)op;
    r->x.isa = &r->inst;
}

static inline void rig_fail(struct rig *r, const char *what, const char *level, int i, int j, int b,
                            double got, double want)
{
    if (r->failures++ < 20)
        fprintf(stderr, "%s (%s): [%d][%d] of block %d is %.17g, not %.17g\n", what, level, i, j, b, got,
                want);
}

/* Small integers are exact in every type; otherwise bit patterns of finite values. */
enum rig_type { RIG_F32, RIG_XF32, RIG_F16, RIG_BF16, RIG_FP8, RIG_BF8, RIG_I8, RIG_F64 };

static inline unsigned rig_bits(enum rig_type t)
{
    return t == RIG_F64 ? 64 : t <= RIG_XF32 ? 32 : t <= RIG_BF16 ? 16 : 8;
}

/* The value of an element, by the definition of its format. */
static inline double rig_value(enum rig_type t, uint64_t bits)
{
    int exponent_bits = 0, mantissa_bits = 0, bias = 0;
    switch (t) {
    case RIG_F64: {
        double d;
        memcpy(&d, &bits, 8);
        return d;
    }
    case RIG_I8:
        return (double)(int)(bits ^ 0x80) - 128;
    case RIG_XF32:
    case RIG_F32:
        exponent_bits = 8, mantissa_bits = 23, bias = 127;
        break;
    case RIG_BF16:
        exponent_bits = 8, mantissa_bits = 7, bias = 127;
        break;
    case RIG_F16:
        exponent_bits = 5, mantissa_bits = 10, bias = 15;
        break;
    case RIG_FP8:
        exponent_bits = 4, mantissa_bits = 3, bias = 8;
        break;
    case RIG_BF8:
        exponent_bits = 5, mantissa_bits = 2, bias = 16;
        break;
    }
    double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
    int e = (int)(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
    double m = (double)(bits & ((1u << mantissa_bits) - 1));
    bool fnuz = t == RIG_FP8 || t == RIG_BF8;
    if (fnuz && bits == 0x80)
        return NAN;
    if (!fnuz && e == (1 << exponent_bits) - 1)
        return m != 0 ? NAN : sign * INFINITY;
    double one = ldexp(1, mantissa_bits);
    double v = sign * (e ? ldexp(one + m, e - bias - mantissa_bits) : ldexp(m, 1 - bias - mantissa_bits));
    /* Ten bits of mantissa, ties to even. */
    return t == RIG_XF32 && e ? sign * ldexp(nearbyint(ldexp(fabs(v), 10 - (e - bias))), e - bias - 10) : v;
}

/* An element that holds the small integer n. */
static inline uint64_t rig_integer(enum rig_type t, int n)
{
    if (t == RIG_I8)
        return (uint64_t)n & 0xff;
    uint64_t limit = 1ull << (rig_bits(t) < 32 ? rig_bits(t) : 16);
    if (t <= RIG_XF32) {
        float f = (float)n;
        uint32_t u;
        memcpy(&u, &f, 4);
        return u;
    }
    if (t == RIG_F64) {
        double f = n;
        uint64_t u;
        memcpy(&u, &f, 8);
        return u;
    }
    for (uint64_t u = 0; u < limit; u++)
        if (rig_value(t, u) == n)
            return u;
    abort();
}

/* Random: an integer of -3..3, or (wild) any finite value of moderate size, denormals and zeros included. */
static inline uint64_t rig_element(struct rig *r, enum rig_type t, bool wild)
{
    if (!wild) {
        unsigned i = rig_random(r) % 7;
        if (!r->known[t][i])
            r->integer[t][i] = rig_integer(t, (int)i - 3), r->known[t][i] = true;
        return r->integer[t][i];
    }
    for (;;) {
        uint64_t u = rig_random(r) | (uint64_t)rig_random(r) << 32;
        if (rig_bits(t) < 64)
            u &= (1ull << rig_bits(t)) - 1;
        double v = rig_value(t, u);
        if (t == RIG_I8 || (rig_random(r) % 16 == 0 && fabs(v) < 1e-30) ||
            (fabs(v) < 1e5 && (fabs(v) > 1e-8 || v == 0)))
            return u;
    }
}

#endif
