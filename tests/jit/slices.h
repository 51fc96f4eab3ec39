/* SPDX-License-Identifier: MIT */
/* What the tests of slice functions share: registers of 64 lanes, what is put there, both ways of executing.
 */
#ifndef EHP_TESTS_JIT_SLICES_H
#define EHP_TESTS_JIT_SLICES_H

#include <stdlib.h>

#include "../check.h"
#include "../hard.h"
#include "sem/vector/valu.h"

typedef void slice_fn(uint32_t *restrict d, uint32_t *restrict dm, const uint32_t *restrict a,
                      const uint32_t *restrict b, const uint32_t *restrict c, const uint32_t *restrict m,
                      const uint32_t *restrict o, uint32_t *restrict bad);

enum {
    ROWS = 4, /* of an operand */
    ROW_A = 0,
    ROW_B = 4,
    ROW_C = 8,
    ROW_D = 12,
    SGPR_MASK = 20,
    SGPR_RESULT = 30,
    SENTINEL = 0x5a5a5a5a,
};

typedef wave_row operand[ROWS];

/* Everything that an instruction reads, and what it gave. */
struct registers {
    alignas(64) operand a, b, c, m, o;
    operand d;
    wave_row dm, bad;
};

static inline uint64_t random_bits(void)
{
    static uint64_t seed = 0x9e3779b97f4a7c15u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1du;
}

/* Of any type: what is hard for one. */
static inline void fill_hard(operand x)
{
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        const uint64_t f64 = hard_f64(random_bits(), random_bits());
        const unsigned how = random_bits() >> 60 & 3;
        for (int r = 0; r < ROWS; r++)
            x[r][lane] = how == 0   ? hard_u32(random_bits())
                         : how == 1 ? hard_f32(random_bits())
                         : how == 2 ? hard_f16(random_bits()) | hard_f16(random_bits()) << 16
                                    : (uint32_t)(f64 >> 32 * (r & 1));
    }
}

/* Of every type: as an f32, as a pair of f16 and as half of an f64 neither large nor small. */
static inline void fill_ordinary(operand x)
{
    for (int lane = 0; lane < WAVE_LANES; lane++)
        for (int r = 0; r < ROWS; r++) {
            const uint64_t bits = random_bits();
            x[r][lane] = (uint32_t)(bits & 0x80ff83ff) | 0x3f003400u;
        }
}

static inline void fill_masks(struct registers *r, bool ordinary)
{
    for (int lane = 0; lane < WAVE_LANES; lane++)
        r->m[0][lane] = ordinary || random_bits() >> 63 ? 0 : ~0u;
}

static inline void fill_constant(operand x, uint32_t value)
{
    for (int lane = 0; lane < WAVE_LANES; lane++)
        x[0][lane] = value;
}

/* Lanes that the function reports join those that are bad already. */
static inline void run_slices(struct registers *r, slice_fn *fn)
{
    alignas(64) uint32_t a[ROWS][SLICE], b[ROWS][SLICE], c[ROWS][SLICE], m[ROWS][SLICE], o[ROWS][SLICE],
        d[ROWS][SLICE], dm[SLICE], bad[SLICE];
    for (int at = 0; at < WAVE_LANES; at += SLICE) {
        for (int k = 0; k < ROWS; k++) {
            memcpy(a[k], r->a[k] + at, sizeof(a[k]));
            memcpy(b[k], r->b[k] + at, sizeof(b[k]));
            memcpy(c[k], r->c[k] + at, sizeof(c[k]));
            memcpy(m[k], r->m[k] + at, sizeof(m[k]));
            memcpy(o[k], r->o[k] + at, sizeof(o[k]));
            memcpy(d[k], r->o[k] + at, sizeof(d[k]));
        }
        for (int i = 0; i < SLICE; i++)
            dm[i] = SENTINEL, bad[i] = 0;
        fn(d[0], dm, a[0], b[0], c[0], m[0], o[0], bad);
        for (int k = 0; k < ROWS; k++)
            memcpy(r->d[k] + at, d[k], sizeof(d[k]));
        memcpy(r->dm + at, dm, sizeof(dm));
        for (int i = 0; i < SLICE; i++)
            r->bad[at + i] |= bad[i];
    }
}

/* A modifier of one row, or of two: x becomes what the function makes of it and of constants. */
static inline void run_modifier(struct registers *r, slice_fn *fn, wave_row *x, int rows, uint32_t b,
                                uint32_t c, uint32_t m)
{
    struct registers part = {0};
    memcpy(part.a, x, (size_t)rows * sizeof(*x));
    memcpy(part.o, r->o, sizeof(part.o));
    fill_constant(part.b, b);
    fill_constant(part.c, c);
    fill_constant(part.m, m);
    run_slices(&part, fn);
    memcpy(x, part.d, (size_t)rows * sizeof(*x));
    for (int lane = 0; lane < WAVE_LANES; lane++)
        r->bad[lane] |= part.bad[lane];
}

struct test_wave {
    struct wave w;
    alignas(64) wave_row rows[WAVE_TEMPS + WAVE_ROWS];
};

/* A wave with the operands in its registers, all lanes on, and an instruction that reads them there. */
static inline void set_up(struct test_wave *t, const struct registers *r, struct isa_inst *inst,
                          struct xinst *x)
{
    struct wave *w = &t->w;
    w->v = t->rows + WAVE_TEMPS;
    w->exec = UINT64_MAX;
    w->mode = MODE_FLOAT_PLAIN | (random_bits() >> 63 ? MODE_IEEE : 0) |
              (random_bits() >> 63 ? MODE_DX10_CLAMP : 0);
    memcpy(w->v[ROW_A], r->a, sizeof(operand));
    memcpy(w->v[ROW_B], r->b, sizeof(operand));
    memcpy(w->v[ROW_C], r->c, sizeof(operand));
    memcpy(w->v[ROW_D], r->o, sizeof(operand));
    w->vcc = row_to_mask(r->m[0]);
    memcpy(w->s + SGPR_MASK, &w->vcc, sizeof(w->vcc));
    static const int16_t rows[3] = {ROW_A, ROW_B, ROW_C};
    x->isa = inst;
    x->d = ROW_D;
    x->sd = SGPR_RESULT;
    x->ss[2] = SGPR_MASK;
    for (int i = 0; i < 3; i++) {
        inst->src[i].kind = ISA_VGPR;
        x->s[i] = rows[i];
    }
}

/* What the wave has and what the functions gave, in the lanes that are not bad: those are counted. */
static inline unsigned compare(const char *name, const struct test_wave *t, const struct registers *r,
                               int rows)
{
    uint64_t mask;
    unsigned bad = 0;
    memcpy(&mask, t->w.s + SGPR_RESULT, sizeof(mask));
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        if (r->bad[lane]) {
            bad++;
            continue;
        }
        bool same = true;
        for (int k = 0; k < rows; k++)
            same &= t->w.v[ROW_D + k][lane] == r->d[k][lane];
        if (r->dm[lane] != SENTINEL)
            same &= r->dm[lane] == (mask >> lane & 1 ? ~0u : 0);
        if (!CHECK(same)) {
            fprintf(stderr,
                    "%s lane %d: a %08x %08x b %08x %08x c %08x %08x m %x o %08x: %08x %08x, not %08x %08x\n",
                    name, lane, r->a[0][lane], r->a[1][lane], r->b[0][lane], r->b[1][lane], r->c[0][lane],
                    r->c[1][lane], r->m[0][lane], r->o[0][lane], r->d[0][lane], r->d[1][lane],
                    t->w.v[ROW_D][lane], t->w.v[ROW_D + 1][lane]);
            exit(check_status());
        }
    }
    return bad;
}

/* As programs without the level would crash in their first lines. */
static inline bool has_level(void)
{
    __builtin_cpu_init();
    return SLICE == 16 ? __builtin_cpu_supports("x86-64-v4") : __builtin_cpu_supports("x86-64-v3");
}

#endif
