/* SPDX-License-Identifier: MIT */
/* What compiled code has not done, done by the handlers; see stretch.c, loop.c and region.c. */
#include <assert.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/emit.h"
#include "wave/fuse.h"
#include "wave/operand.h"

/* Whether it is of the scalar ALU, but goes by masks that the stretch has `made`. */
static bool is_logic(const struct xinst *in, bool made[SREGS])
{
    const struct isa_inst *inst = in->isa;
    const bool logic = masks_has_made(made, inst);
    if (inst->format < ISA_VOP1 && !logic)
        return false;
    const struct isa_operand *mask = inst->sdst.kind == ISA_SGPR ? &inst->sdst : &inst->dst;
    if (mask->kind == ISA_SGPR)
        made[mask->reg] = true;
    return inst->format < ISA_VOP1;
}

/*
 * Executes a stretch's instructions from first to last, the lane-wise ones for some lanes.  `after` gets the
 * scalar registers as they leave them, and what SCC follows from; the wave's stay as they were.
 */
static void redo_stretch(struct wave *w, const struct xinst *first, const struct xinst *last, uint64_t lanes,
                         uint32_t after[MASKS])
{
    uint32_t before[SREGS];
    bool made[SREGS] = {false};
    const bool scc = w->scc;
    struct wave_stats *stats = w->stats;
    static_assert(sizeof(before) == sizeof(w->s), "all of them");
    memcpy(before, w->s, sizeof(before));
    w->stretch.first = NULL;
    w->stats = NULL; /* they are counted already */
    const uint64_t exec = w->exec;
    for (const struct xinst *in = first; in <= last; in++) {
        const bool logic = is_logic(in, made);
        if (in->cls == XC_SMEM || lift_does_nothing(in->op)) /* which is done */
            continue;
        w->exec = logic || in->isa->format >= ISA_VOP1 ? lanes : exec;
        fuse_single(in)(w, in);
        if (logic && isa_facts[in->op].effects & ISA_E_SETS_SCC)
            memcpy(after + MASK_SCC, w->s + in->isa->dst.reg, 2 * sizeof(uint32_t));
    }
    w->stats = stats;
    w->scc = scc;
    memcpy(after, w->s, sizeof(before));
    memcpy(w->s, before, sizeof(before));
}

/*
 * Executes a loop until it is left or the wave gives way, lane-wise instructions for some lanes.  Scalar
 * registers are as they were before the first iteration, and then as after the last; masks have these lanes'
 * bits.  Returns what comes next, NULL: the wave gives way.
 */
static const struct xinst *redo_loop(struct wave *w, const struct xinst *first, const struct xinst *last,
                                     uint64_t lanes)
{
    const uint64_t exec = w->exec;
    struct wave_stats *stats = w->stats;
    const struct xinst *in = first;
    w->stretch.first = NULL;
    w->stats = NULL; /* who calls counts them */
    while (in && in >= first && in <= last) {
        w->exec = in->isa->format >= ISA_VOP1 ? lanes : exec;
        in = fuse_single(in)(w, in);
    }
    w->stats = stats;
    w->exec = exec;
    return in;
}

/*
 * The same of a loop that lanes leave one by one, with EXEC: some lanes have more iterations, and `least` is
 * how many others had.  Adds to `active` how many lanes each has.
 */
static const struct xinst *redo_leaving(struct wave *w, const struct xinst *first, const struct xinst *last,
                                        uint64_t lanes, uint64_t least, uint64_t *active)
{
    struct wave_stats *stats = w->stats;
    const struct xinst *next = first;
    w->stretch.first = NULL;
    w->stats = NULL;
    w->exec = lanes;
    for (uint64_t turn = 1; next == first; turn++) {
        *active += (uint64_t)__builtin_popcountll(w->exec);
        for (const struct xinst *in = first; in < last;)
            in = fuse_single(in)(w, in);
        next = w->exec || turn < least ? take(w, first) : last + 1;
    }
    w->stats = stats;
    return next;
}

/* Goes on from the head of a region, of which nothing has happened, until the wave gives way. */
static void redo_region(struct wave *w, const struct xinst *in)
{
    w->stretch.first = NULL;
    while (in)
        in = fuse_single(in)(w, in);
}

void lift_redo(struct wave *w)
{
    uint32_t after[MASKS];
    uint64_t active = 0;
    const struct xinst *first = w->stretch.first, *last = w->stretch.last;
    if (!last)
        redo_region(w, first);
    else if (last->op == ISA_OP_s_cbranch_execnz)
        redo_leaving(w, first, last, w->stretch.lanes, 0, &active);
    else if (isa_facts[last->op].effects & ISA_E_BRANCH)
        redo_loop(w, first, last, w->stretch.lanes);
    else
        redo_stretch(w, first, last, w->stretch.lanes, after);
}

void *lift_symbol(void *context, const char *name)
{
    (void)context;
    if (strcmp(name, "redo_leaving") == 0)
        return (void *)(uintptr_t)redo_leaving;
    if (strcmp(name, "redo_loop") == 0)
        return (void *)(uintptr_t)redo_loop;
    return strcmp(name, "redo_stretch") == 0 ? (void *)(uintptr_t)redo_stretch : NULL;
}
