/* SPDX-License-Identifier: MIT */
/*
 * Runs: what timing mode executes of a wave in a row, between two instructions that others can see.
 *
 * A run is within a basic block and has none that accesses memory, so that it cannot fault.  It ends behind
 * an instruction that writes EXEC, which is the same for all of it then, and behind s_waitcnt, where waves
 * mostly are when data comes, and all before it has to be executed.
 */
#include <stdlib.h>

#include "isa/facts.h"
#include "jit/emit.h"

/* Shorter ones take no longer by their handlers. */
enum { SHORTEST = 6 };

static bool is_alone(const struct xinst *x)
{
    return lift_leaves(x) || !exec_is_own(x->op) ||
           (x->cls == XC_SALU && isa_facts[x->op].effects & ISA_E_READS_M0);
}

static size_t run_at(const struct exec_block *block, const bool *target, size_t first, struct exec_run *run)
{
    size_t i = first;
    for (bool ends = false; i < block->count && !ends && (i == first || !target[i]); i++) {
        const struct xinst *x = &block->x[i];
        ends = x->op == ISA_OP_s_waitcnt;
        if (!ends && is_alone(x))
            break;
        if (ends)
            continue;
        ends = lift_writes_exec(x);
        if (isa_facts[x->op].unit == ISA_UNIT_VALU || isa_facts[x->op].unit == ISA_UNIT_TRANS) {
            run->valu = (uint16_t)(run->valu + (x->cls == XC_VALU));
            run->passes += isa_facts[x->op].passes;
        }
    }
    run->length = (uint16_t)(i - first);
    return i;
}

bool lift_runs(const struct exec_block *block, uint32_t *heads, struct exec_run *runs)
{
    bool *target = calloc(block->count + 1, sizeof(*target));
    if (!target)
        return false;
    for (size_t i = 0; i < block->count; i++)
        if (block->x[i].isa && lift_is_branch(&block->x[i]))
            target[block->x[i].target - block->x] = true;
    uint32_t count = 0;
    for (size_t i = 0; i < block->count;) {
        struct exec_run run = {0};
        const size_t end = run_at(block, target, i, &run);
        if (run.valu >= SHORTEST) {
            heads[i] = ++count;
            runs[i] = run;
        }
        i = end > i ? end : i + 1;
    }
    free(target);
    return true;
}
