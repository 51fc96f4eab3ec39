/* SPDX-License-Identifier: MIT */
/* See guess.h. */
#include "jit/guess.h"

#include <stdlib.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/emit.h"
#include "wave/fuse.h"
#include "wave/operand.h"

/* It is executed twice, each time with other numbers for what cannot be known. */
enum { TIMES = 2 };

struct guess {
    const struct exec_block *block;
    size_t *number; /* by instruction: which of the accesses it is */
    struct access {
        uint32_t lane[TIMES][WAVE_LANES];
    } access[];
};

static bool is_access(const struct xinst *x)
{
    if (!x->isa || !x->rows[0] || x->s[0] < 0)
        return false;
    return x->isa->format == ISA_GLOBAL || x->isa->format == ISA_FLAT ||
           (x->isa->format == ISA_DS && x->cls == XC_LDS);
}

/* ---- the wave ---- */

/* A number that nobody has a use for: another one for each row, lane and time. */
static uint32_t nobody(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223; /* Numerical Recipes, 7.1 */
    return *seed ^ *seed >> 15;
}

/* Too large to be somebody's step. */
static uint32_t scalar(unsigned time)
{
    return 1u << (20 + time);
}

static void forget_rows(struct wave *w, unsigned row, unsigned rows, uint32_t *seed)
{
    for (unsigned r = row; r < row + rows && r < w->rows; r++)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            w->v[r][lane] = nobody(seed);
}

/* What is in rows before: lanes differ alike each time, as it is not from memory. */
static void begin_rows(struct wave *w, unsigned time)
{
    uint32_t seed = 0;
    forget_rows(w, 0, w->rows, &seed);
    for (unsigned r = 0; r < w->rows; r++)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            w->v[r][lane] = r ? w->v[r][lane] + scalar(time) : lane;
}

static void forget_scalars(struct wave *w, unsigned reg, unsigned count, unsigned time)
{
    for (unsigned i = reg; i < reg + count && i < SREG_EXEC; i++)
        w->s[i] = scalar(time);
}

/* What an instruction would have written. */
static void forget(struct wave *w, const struct isa_inst *inst, unsigned time, uint32_t *seed)
{
    const struct isa_operand *const to[] = {&inst->dst, &inst->sdst};
    for (unsigned i = 0; i < 2; i++) {
        const struct isa_operand *o = to[i];
        if (o->kind == ISA_SGPR)
            forget_scalars(w, o->reg, o->dwords, time);
        else if (stretch_is_row(o))
            forget_rows(w, stretch_row(o), o->dwords, seed);
    }
}

/* Whether a wave without a workgroup can execute it, and would in any turn. */
static bool is_executed(const struct xinst *x)
{
    const enum isa_unit unit = isa_facts[x->op].unit;
    return (unit == ISA_UNIT_SALU || unit == ISA_UNIT_VALU || unit == ISA_UNIT_TRANS) && exec_is_own(x->op) &&
           exec_is_implemented(x) && !(isa_facts[x->op].effects & ISA_E_READS_M0);
}

static void execute(struct guess *g, struct wave *w, unsigned time)
{
    uint32_t seed = time;
    wave_set_mode(w, MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP);
    forget_scalars(w, 0, SREG_EXEC, time);
    begin_rows(w, time);
    for (size_t i = 0; i < g->block->count; i++) {
        const struct xinst *x = &g->block->x[i];
        if (!x->isa || x->isa->op == ISA_OP_INVALID || x->isa->reserved)
            continue;
        if (is_access(x))
            memcpy(g->access[g->number[i]].lane[time], w->v[x->s[0]], sizeof(wave_row));
        w->exec = UINT64_MAX; /* whatever the last one has done */
        if (is_executed(x))
            fuse_single(x)(w, x);
        else
            forget(w, x->isa, time, &seed);
    }
}

/* ---- the function ---- */

static struct guess *number_accesses(const struct exec_block *block)
{
    size_t count = 0, *number = calloc(block->count + 1, sizeof(*number));
    for (size_t i = 0; number && i < block->count; i++) {
        number[i] = count;
        count += is_access(&block->x[i]);
    }
    struct guess *g = NULL;
    if (count)
        g = malloc(sizeof(*g) + count * sizeof(g->access[0]) + (block->count + 1) * sizeof(*number));
    if (g) {
        g->block = block;
        g->number = (size_t *)(void *)&g->access[count];
        memcpy(g->number, number, (block->count + 1) * sizeof(*number));
    }
    free(number);
    return g;
}

struct guess *guess_find(const struct exec_block *block)
{
    struct guess *g = number_accesses(block);
    struct wave *w = g ? aligned_alloc(alignof(struct wave), sizeof(*w)) : NULL;
    wave_row *rows = w ? aligned_alloc(64, (WAVE_TEMPS + block->rows) * sizeof(*rows)) : NULL;
    if (rows) {
        for (unsigned time = 0; time < TIMES; time++) {
            memset(w, 0, sizeof(*w));
            memset(rows, 0, WAVE_TEMPS * sizeof(*rows));
            w->v = rows + WAVE_TEMPS;
            w->rows = block->rows;
            execute(g, w, time);
        }
    } else {
        free(g);
        g = NULL;
    }
    free(rows);
    free(w);
    return g;
}

static const struct access *find_access(const struct guess *g, const struct xinst *x)
{
    return g && is_access(x) ? &g->access[g->number[x - g->block->x]] : NULL;
}

bool guess_step(const struct guess *g, const struct xinst *x, uint32_t *step)
{
    const struct access *a = find_access(g, x);
    *step = a ? a->lane[0][1] - a->lane[0][0] : 0;
    for (unsigned time = 0; a && time < TIMES; time++)
        for (unsigned l = 1; l < GUESS_LANES; l++)
            if (a->lane[time][l] - a->lane[time][l - 1] != *step)
                return false;
    return a != NULL;
}

const uint32_t *guess_lanes(const struct guess *g, const struct xinst *x)
{
    const struct access *a = find_access(g, x);
    return a && memcmp(a->lane[0], a->lane[1], sizeof(wave_row)) == 0 ? a->lane[0] : NULL;
}

bool guess_scatters(const struct guess *g, const struct xinst *x)
{
    const struct access *a = find_access(g, x);
    for (unsigned l = 1; a && l < WAVE_LANES; l++)
        if (a->lane[0][l] - a->lane[0][l - 1] != a->lane[1][l] - a->lane[1][l - 1])
            return true;
    return false;
}

static void find_range(const uint32_t *lane, uint32_t from, uint32_t to, uint64_t range[2])
{
    range[0] = UINT64_MAX;
    range[1] = 0;
    for (unsigned l = 0; l < WAVE_LANES; l++) {
        const uint64_t first = (uint64_t)lane[l] + from, end = (uint64_t)lane[l] + to;
        range[0] = first < range[0] ? first : range[0];
        range[1] = end > range[1] ? end : range[1];
    }
}

bool guess_meets(const struct guess *g, const struct xinst *x, uint32_t x_from, uint32_t x_to,
                 const struct xinst *y, uint32_t y_from, uint32_t y_to, bool same)
{
    const struct access *a = find_access(g, x), *b = find_access(g, y);
    for (unsigned time = 0; a && b && time < TIMES; time++) {
        uint64_t range[2][2];
        find_range(a->lane[time], x_from, x_to, range[0]);
        find_range(b->lane[time], y_from, y_to, range[1]);
        if (range[0][0] < range[1][1] && range[1][0] < range[0][1] &&
            !(same && memcmp(a->lane[time], b->lane[time], sizeof(a->lane[time])) == 0))
            return true;
    }
    return !a || !b;
}
