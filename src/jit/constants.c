/* SPDX-License-Identifier: MIT */
/*
 * Rows that are likely to hold a constant in all active lanes: the compiler keeps there what an instruction
 * has no room for.  A fact, that v_mov_b32 has put a constant into a row, holds along all ways of the
 * function until the row is written or EXEC gains lanes.  As waves may come from elsewhere, it is no more
 * than likely; who goes by it has to look (loop.c).
 */
#include "jit/constants.h"

#include <stdlib.h>

#include "isa/facts.h"
#include "jit/emit.h"

enum { FACTS_MAX = 64 };

struct constants {
    struct {
        unsigned row;
        uint32_t value;
    } fact[FACTS_MAX];
    unsigned facts;
    uint64_t holds[]; /* facts, by instruction: before it */
};

static bool is_constant(const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    return x->op == ISA_OP_v_mov_b32 && stretch_is_row(&inst->dst) && inst->src[0].kind == ISA_CONST &&
           !inst->sdwa && !inst->dpp && !inst->neg && !inst->abs && !inst->clamp && !inst->omod;
}

/* The fact that an instruction makes, as a bit; 0: none, or there are too many. */
static uint64_t make_fact(struct constants *c, const struct xinst *x)
{
    if (!is_constant(x))
        return 0;
    const unsigned row = stretch_row(&x->isa->dst);
    const uint32_t value = (uint32_t)x->isa->src[0].value;
    unsigned i = 0;
    while (i < c->facts && (c->fact[i].row != row || c->fact[i].value != value))
        i++;
    if (i == FACTS_MAX)
        return 0;
    c->fact[i].row = row;
    c->fact[i].value = value;
    c->facts = i == c->facts ? i + 1 : c->facts;
    return UINT64_C(1) << i;
}

static uint64_t facts_of(const struct constants *c, const struct isa_operand *o)
{
    uint64_t of = 0;
    for (unsigned i = 0; stretch_is_row(o) && i < c->facts; i++)
        if (c->fact[i].row - stretch_row(o) < o->dwords)
            of |= UINT64_C(1) << i;
    return of;
}

/* Of those that write EXEC: whether it gains no lane. */
static bool narrows(const struct isa_inst *inst)
{
    return inst->op == ISA_OP_s_and_saveexec_b64 ||
           ((inst->op == ISA_OP_s_and_b64 || inst->op == ISA_OP_s_andn2_b64) &&
            inst->src[0].kind == ISA_SGPR && inst->src[0].reg == SREG_EXEC);
}

/* What holds behind an instruction. */
static uint64_t facts_behind(struct constants *c, const struct xinst *x, uint64_t holds)
{
    const struct isa_inst *inst = x->isa;
    const bool sets_exec =
        lift_writes_exec(x) || (inst->sdst.kind == ISA_SGPR && inst->sdst.reg >= SREG_EXEC);
    if (sets_exec && !narrows(inst))
        return 0;
    holds &= ~facts_of(c, &inst->dst);
    if (x->op == ISA_OP_v_swap_b32)
        holds &= ~facts_of(c, &inst->src[0]);
    return holds | make_fact(c, x);
}

/* What follows an instruction that is none of a straight run. */
static uint64_t facts_left(const struct xinst *x, uint64_t holds)
{
    if (!x->isa || x->isa->op == ISA_OP_INVALID || x->isa->reserved)
        return 0;
    return isa_facts[x->op].effects & ISA_E_BRANCH && !lift_is_branch(x) ? 0 : holds;
}

/* Goes through the function once; whether that is news. */
static bool pass(const struct emit *e, struct constants *c)
{
    const struct exec_block *block = e->block;
    bool changed = false;
    for (size_t i = 0; i < block->count; i++) {
        const struct xinst *x = &block->x[i];
        const bool leaves = lift_leaves(x);
        uint64_t holds = leaves ? facts_left(x, c->holds[i]) : facts_behind(c, x, c->holds[i]);
        if (leaves && x->isa && lift_is_branch(x)) {
            uint64_t *at = &c->holds[x->target - block->x];
            changed |= (*at & holds) != *at;
            *at &= holds;
        }
        if (leaves && x->isa && isa_facts[x->op].effects & ISA_E_END) /* nobody comes from here */
            holds = UINT64_MAX;
        changed |= (c->holds[i + 1] & holds) != c->holds[i + 1];
        c->holds[i + 1] &= holds;
    }
    return changed;
}

struct constants *constants_find(const struct emit *e)
{
    const size_t count = e->block->count;
    struct constants *c = malloc(sizeof(*c) + (count + 1) * sizeof(c->holds[0]));
    if (!c)
        return NULL;
    c->facts = 0;
    for (size_t i = 0; i <= count; i++)
        c->holds[i] = UINT64_MAX;
    c->holds[0] = 0;
    while (pass(e, c))
        continue;
    return c;
}

bool constants_likely(const struct constants *c, size_t at, unsigned row, uint32_t *value)
{
    for (unsigned i = 0; c && i < c->facts; i++)
        if (c->fact[i].row == row && c->holds[at] >> i & 1) {
            *value = c->fact[i].value;
            return true;
        }
    return false;
}
