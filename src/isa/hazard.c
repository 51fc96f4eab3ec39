/* SPDX-License-Identifier: MIT */
/*
 * Where code breaks a rule that its target leaves to software: instructions that
 * must be so many wait states apart.  The rules are the target's.
 *
 * Paths into an instruction are followed backwards, over branches, as far as the
 * longest rule reaches.
 */
#include <stdlib.h>

#include "ehp/ehp.h"
#include "isa/isa.h"

/* ---- paths ---- */

struct code {
    const struct isa_target *target;
    struct isa_inst *inst;
    uint64_t *pc;
    size_t count;
    uint32_t *branch_from; /* the first branch to an instruction, and the next with the same target; + 1 */
    uint32_t *branch_next;
};

static unsigned states_of(const struct isa_inst *i)
{
    return i->op == ISA_OP_s_nop ? ((unsigned)i->simm16 & 15) + 1 : 1;
}

struct search {
    const struct code *code;
    size_t at;
    struct ehp_hazard worst;
    unsigned steps;
};

static void back(struct search *s, size_t i, unsigned states);

static void visit(struct search *s, size_t p, unsigned states)
{
    const struct code *c = s->code;
    const struct isa_need n = c->target->hazard(&c->inst[p], &c->inst[s->at]);
    if (n.states > states && n.states - states > s->worst.missing)
        s->worst = (struct ehp_hazard){.size = sizeof(struct ehp_hazard),
                                       .pc = c->pc[s->at],
                                       .from = c->pc[p],
                                       .needed = n.states,
                                       .missing = n.states - states,
                                       .rule = n.why};
    back(s, p, states + states_of(&c->inst[p]));
}

/* Everything that may come right before instruction i. */
static void back(struct search *s, size_t i, unsigned states)
{
    const struct code *c = s->code;
    if (states >= c->target->hazard_reach || s->steps++ > 2000)
        return;
    if (i > 0 && !(isa_facts[c->inst[i - 1].op].effects & ISA_E_END))
        visit(s, i - 1, states);
    for (uint32_t b = c->branch_from[i]; b; b = c->branch_next[b - 1])
        visit(s, b - 1, states);
}

static void free_code(struct code *c)
{
    free(c->inst);
    free(c->pc);
    free(c->branch_from);
    free(c->branch_next);
}

/* The instructions of one function; data in between end it. */
static bool read_code(struct code *c, const uint32_t *words, size_t count, uint64_t pc)
{
    c->inst = malloc((count + 1) * sizeof *c->inst);
    c->pc = malloc((count + 1) * sizeof *c->pc);
    c->branch_from = calloc(count + 1, sizeof *c->branch_from);
    c->branch_next = calloc(count + 1, sizeof *c->branch_next);
    if (!c->inst || !c->pc || !c->branch_from || !c->branch_next)
        return false;
    for (size_t at = 0; at < count && isa_decode(c->target, words + at, count - at, &c->inst[c->count]);) {
        c->pc[c->count] = pc + at * 4;
        at += c->inst[c->count++].size / 4u;
    }
    for (size_t i = 0; i < c->count; i++) {
        const struct isa_inst *inst = &c->inst[i];
        const uint64_t target = c->pc[i] + inst->size + (uint64_t)((int64_t)inst->simm16 * 4);
        size_t low = 0, high = c->count;
        if (inst->format != ISA_SOPP || !(isa_facts[inst->op].effects & ISA_E_BRANCH))
            continue;
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (c->pc[middle] < target)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < c->count && c->pc[low] == target) {
            c->branch_next[i] = c->branch_from[low];
            c->branch_from[low] = (uint32_t)i + 1;
        }
    }
    return true;
}

int ehp_hazards(const char *isa, const uint32_t *code, size_t words, uint64_t pc, ehp_hazard_fn *fn,
                void *user)
{
    struct code c = {.target = isa_target_find(isa)};
    int found = 0;
    if (!c.target)
        return EHP_ERR_WRONG_ISA;
    if (!read_code(&c, code, words, pc)) {
        free_code(&c);
        return EHP_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < c.count; i++) {
        struct search s = {.code = &c, .at = i};
        back(&s, i, 0);
        if (s.worst.missing) {
            found++;
            fn(&s.worst, user);
        }
    }
    free_code(&c);
    return found;
}
