/* SPDX-License-Identifier: MIT */
/* See loop.h. */
#include "jit/loop.h"

#include <string.h>

#include "isa/facts.h"
#include "sem/memory/memop.h"

static void add_use(struct loop_uses *u, unsigned reg, unsigned count, bool mask)
{
    u->read[u->reads++] = (struct loop_use){reg, count, mask};
}

static void add_source(struct loop_uses *u, const struct isa_operand *o)
{
    if (o->kind == ISA_SGPR)
        add_use(u, o->reg, o->dwords, false);
}

static void set_write(struct loop_uses *u, unsigned reg, unsigned count, bool mask)
{
    u->writes = true;
    u->write = (struct loop_use){reg, count, mask};
}

static bool uses_of_scalar(struct emit *e, const struct xinst *x, struct loop_uses *u)
{
    const struct isa_inst *inst = x->isa;
    const struct body *body = lift_writes_exec(x) ? NULL : scalars_body(e, x);
    if (!body)
        return false;
    add_source(u, &inst->src[0]);
    add_source(u, &inst->src[1]);
    if (scalars_reads_old(body) && inst->format == ISA_SOPK)
        add_use(u, x->sd, 1, false);
    else if (scalars_reads_old(body))
        add_source(u, &inst->dst);
    if (inst->dst.kind == ISA_SGPR)
        set_write(u, inst->dst.reg, inst->dst.dwords, false);
    u->scalar = true;
    u->reads_scc = isa_facts[x->op].effects & ISA_E_READS_SCC;
    u->sets_scc = isa_facts[x->op].effects & ISA_E_SETS_SCC;
    return true;
}

static bool uses_of_load(const struct xinst *x, struct loop_uses *u)
{
    const struct isa_inst *inst = x->isa;
    if (!scalars_is_load(x))
        return false;
    add_source(u, &inst->src[ISA_SBASE]);
    add_source(u, &inst->soffset);
    set_write(u, inst->dst.reg, inst->dst.dwords, false);
    u->scalar = u->from_memory = true;
    return true;
}

static bool uses_of_logic(const struct xinst *x, struct loop_uses *u)
{
    const struct isa_inst *inst = x->isa;
    for (unsigned i = 0; i < masks_sources(inst); i++)
        if (inst->src[i].kind == ISA_SGPR && inst->src[i].reg != SREG_EXEC)
            add_use(u, inst->src[i].reg, 2, true);
    set_write(u, inst->dst.reg, 2, true);
    u->logic = true;
    u->sets_scc = isa_facts[x->op].effects & ISA_E_SETS_SCC;
    return true;
}

/* Lanes that have left a loop have not what they had: nobody is to read theirs. */
static bool uses_of_lanes(const struct emit *e, const struct xinst *x, bool leaving, struct loop_uses *u)
{
    struct lane_op op;
    const bool scratch = x->isa->format == ISA_SCRATCH;
    if (!stretch_takes(e, x, &op) || op.alone || op.writes || scratch || (leaving && x->isa->dpp))
        return false;
    if (!op.body) {
        if (memop_has_sbase(x))
            add_use(u, x->ss[0], 2, false);
        return true;
    }
    for (int i = 0; i < 3; i++)
        if (!stretch_is_mask(&op, i))
            add_source(u, &x->isa->src[i]);
    if (op.mask_reg >= 0)
        add_use(u, (unsigned)op.mask_reg, 2, true);
    if (stretch_makes_mask(&op))
        set_write(u, x->sd, 2, true);
    return true;
}

bool loop_uses_of(struct emit *e, const struct xinst *x, bool logic, bool leaving, struct loop_uses *u)
{
    memset(u, 0, sizeof(*u));
    if (lift_does_nothing(x->op))
        return true;
    if (logic)
        return uses_of_logic(x, u);
    if (x->cls == XC_SALU)
        return uses_of_scalar(e, x, u);
    if (x->cls == XC_SMEM)
        return uses_of_load(x, u);
    return uses_of_lanes(e, x, leaving, u);
}

bool loop_uses(struct emit *e, const struct loop *loop, const struct xinst *x, struct loop_uses *u)
{
    if (x != loop->leave)
        return loop_uses_of(e, x, loop->logic[x - loop->first], loop->leave != NULL, u);
    memset(u, 0, sizeof(*u));
    add_use(u, x->isa->src[1].reg, 2, true);
    u->logic = u->sets_scc = true;
    return true;
}

bool loop_read_forms(const struct loop_forms *f, const struct loop_uses *u)
{
    if (u->reads_scc && f->scc_of_lanes)
        return false;
    for (unsigned i = 0; i < u->reads; i++)
        for (unsigned reg = u->read[i].reg; reg < u->read[i].reg + u->read[i].count; reg++)
            if (f->mask[reg] && !u->read[i].mask)
                return false;
    return true;
}

bool loop_write_forms(struct loop_forms *f, const struct loop_uses *u)
{
    const struct loop_use *use = &u->write;
    const unsigned end = use->reg + use->count;
    if (u->sets_scc)
        f->scc_of_lanes = u->logic;
    for (unsigned reg = use->reg; u->writes && reg < end; reg++) {
        const unsigned other = reg ^ 1;
        if (!use->mask && f->mask[reg] && (other < use->reg || other >= end))
            return false; /* half of a mask, of which nobody has all bits */
    }
    for (unsigned reg = use->reg; u->writes && reg < end; reg++) {
        f->mask[reg] = use->mask;
        f->written[reg] = true;
    }
    return true;
}

/* From the forms at the loop's head to those at its end; says which instructions are logic of masks. */
static bool pass_forms(struct emit *e, struct loop *loop, struct loop_forms *f)
{
    memset(f->written, 0, sizeof(f->written));
    for (const struct xinst *x = loop->first; x < loop->last; x++) {
        struct loop_uses u;
        loop->logic[x - loop->first] = x->cls == XC_SALU && masks_has_made(f->mask, x->isa);
        if (!loop_uses(e, loop, x, &u) || !loop_read_forms(f, &u) || !loop_write_forms(f, &u))
            return false;
    }
    return true;
}

/* Which registers are scalars, and which are masks that each slice has its bits of. */
static bool find_forms(struct emit *e, struct loop *loop)
{
    enum { PASSES = 4 };
    struct loop_forms head = {.scc_of_lanes = loop->leave != NULL}, end;
    memset(head.mask + SREG_EXEC, loop->leave != NULL, 2);
    bool same = false;
    for (unsigned pass = 0; pass < PASSES && !same; pass++) {
        end = head;
        if (!pass_forms(e, loop, &end))
            return false;
        same = memcmp(end.mask, head.mask, sizeof(end.mask)) == 0 && end.scc_of_lanes == head.scc_of_lanes;
        memcpy(head.mask, end.mask, sizeof(end.mask));
        head.scc_of_lanes = end.scc_of_lanes;
    }
    if (!same || (end.scc_of_lanes && !loop->leave))
        return false;
    for (unsigned reg = 0; reg < SREGS; reg++) {
        loop->scalar_written[reg] = end.written[reg] && !end.mask[reg];
        loop->mask_at_end[reg] = end.written[reg] && end.mask[reg];
    }
    return true;
}

/* ---- masks of lanes that are not active ---- */

static int opposite(int a)
{
    return a == LOOP_IDLE_NONE ? LOOP_IDLE_ALL : a == LOOP_IDLE_ALL ? LOOP_IDLE_NONE : LOOP_IDLE_OTHER;
}

/* `absorbs` AND anything is that, `opposite` of it AND something is the latter; and so for OR. */
static int join(int a, int b, int absorbs)
{
    if (a == absorbs || b == absorbs)
        return absorbs;
    return a == opposite(absorbs) || a == b ? b : b == opposite(absorbs) ? a : LOOP_IDLE_OTHER;
}

int loop_idle_of(unsigned op, int a, int b)
{
    switch (op) {
    case ISA_OP_s_and_b64:
        return join(a, b, LOOP_IDLE_NONE);
    case ISA_OP_s_or_b64:
        return join(a, b, LOOP_IDLE_ALL);
    case ISA_OP_s_andn2_b64:
        return join(a, opposite(b), LOOP_IDLE_NONE);
    case ISA_OP_s_orn2_b64:
        return join(a, opposite(b), LOOP_IDLE_ALL);
    case ISA_OP_s_nand_b64:
        return opposite(join(a, b, LOOP_IDLE_NONE));
    case ISA_OP_s_nor_b64:
        return opposite(join(a, b, LOOP_IDLE_ALL));
    case ISA_OP_s_xor_b64:
        return a == LOOP_IDLE_NONE ? b : b == LOOP_IDLE_NONE ? a : LOOP_IDLE_OTHER;
    case ISA_OP_s_not_b64:
        return opposite(a);
    case ISA_OP_s_mov_b64:
        return a;
    default:
        return LOOP_IDLE_OTHER;
    }
}

/*
 * What becomes of masks in lanes that are not active: a slice without any is not executed, and of those that
 * have left the loop, others may have more iterations.  It must not be another thing each time.
 */
static bool find_idle(struct emit *e, struct loop *loop)
{
    int now[SREGS];
    for (int reg = 0; reg < SREGS; reg++)
        now[reg] = LOOP_IDLES + reg;
    now[SREG_EXEC] = LOOP_IDLE_NONE;
    for (const struct xinst *x = loop->first; x < loop->last; x++) {
        struct loop_uses u;
        loop_uses(e, loop, x, &u);
        int value = u.write.mask ? LOOP_IDLE_NONE : LOOP_IDLE_OTHER, source[2] = {0, 0};
        for (unsigned i = 0; u.logic && i < masks_sources(x->isa); i++) {
            const struct isa_operand *o = &x->isa->src[i];
            source[i] = o->kind == ISA_SGPR      ? now[o->reg]
                        : o->value == 0          ? LOOP_IDLE_NONE
                        : o->value == UINT64_MAX ? LOOP_IDLE_ALL
                                                 : LOOP_IDLE_OTHER;
        }
        if (u.logic)
            value = loop_idle_of(x->op, source[0], source[1]);
        for (unsigned reg = u.write.reg; u.writes && reg < u.write.reg + u.write.count; reg++)
            now[reg] = value;
    }
    for (unsigned reg = 0; reg < SREGS; reg += 2) {
        const bool kept = now[reg] == LOOP_IDLES + (int)reg;
        if (!loop->mask_at_end[reg])
            continue;
        if (!kept && now[reg] != LOOP_IDLE_NONE && now[reg] != LOOP_IDLE_ALL)
            return false;
        loop->idle[reg] = kept ? LOOP_IDLE_KEPT : (enum loop_idle)now[reg];
    }
    return true;
}

/* Which rows lanes that have left the loop are to have as they then were. */
static void find_held(struct emit *e, struct loop *loop)
{
    const struct xinst *next = loop->last + 1;
    const size_t at = (size_t)(next - e->block->x);
    const unsigned left = loop->leave->isa->src[1].reg;
    /* EXEC is then what it was when the loop began, at least. */
    const bool all = at < e->block->count && next->op == ISA_OP_s_or_b64 && next->isa->dst.kind == ISA_SGPR &&
                     next->isa->dst.reg == SREG_EXEC && next->isa->src[0].kind == ISA_SGPR &&
                     next->isa->src[0].reg == SREG_EXEC && next->isa->src[1].kind == ISA_SGPR &&
                     next->isa->src[1].reg == left && loop->idle[left] == LOOP_IDLE_KEPT;
    for (unsigned row = 0; row < WAVE_ROWS; row++)
        loop->row_held[row] =
            loop->row_written[row] && (all ? live_before(e->live, at + 1, row) : live_idle(e->live, at, row));
}

/* What follows from memory or from lanes. */
struct taint {
    bool reg[SREGS], scc;
};

static bool reads_tainted(const struct taint *t, const struct loop_uses *u)
{
    bool tainted = u->reads_scc && t->scc;
    for (unsigned i = 0; i < u->reads; i++)
        for (unsigned reg = u->read[i].reg; reg < u->read[i].reg + u->read[i].count; reg++)
            tainted |= t->reg[reg];
    return tainted;
}

static bool is_tainted(const struct taint *t, const struct loop_uses *u)
{
    return u->from_memory || !u->scalar || reads_tainted(t, u);
}

/* Whether all slices have the same number of iterations, whoever writes to memory meanwhile. */
static bool ends_alike(struct emit *e, struct loop *loop)
{
    struct taint head = {0}, now;
    bool changed;
    do {
        now = head;
        loop->loads_blind = true;
        for (const struct xinst *x = loop->first; x < loop->last; x++) {
            struct loop_uses u;
            loop_uses(e, loop, x, &u);
            const bool tainted = is_tainted(&now, &u);
            loop->loads_blind &= x->cls != XC_SMEM || !reads_tainted(&now, &u);
            if (u.writes)
                memset(now.reg + u.write.reg, tainted, u.write.count);
            if (u.sets_scc)
                now.scc = tainted;
        }
        changed = now.scc && !head.scc;
        head.scc |= now.scc;
        for (unsigned reg = 0; reg < SREGS; reg++) {
            changed |= now.reg[reg] && !head.reg[reg];
            head.reg[reg] |= now.reg[reg];
        }
    } while (changed);
    switch (loop->last->op) {
    case ISA_OP_s_cbranch_scc0:
    case ISA_OP_s_cbranch_scc1:
        return !now.scc;
    case ISA_OP_s_cbranch_vccz:
    case ISA_OP_s_cbranch_vccnz:
        return !now.reg[SREG_VCC] && !now.reg[SREG_VCC + 1];
    default:
        return false;
    }
}

/*
 * How many slices to do together.  An iteration follows from the one before: of a short one the host waits
 * for results, but for those of other slices; of many registers it has not all.
 */
static unsigned parts_of(const struct emit *e, const struct loop *loop, unsigned ops)
{
    enum { OPS = 160 };
    const unsigned registers = e->slice == 16 ? 28 : 12;
    unsigned rows = 0, parts = LOOP_PARTS;
    for (unsigned row = 0; row < WAVE_ROWS; row++)
        rows += loop->row_written[row] || loop->row_read[row];
    while (parts > 1 && (parts * rows > registers || parts * ops > OPS))
        parts /= 2;
    return parts;
}

/* What its lane-wise instructions write, and whether they read; false when there are too many. */
static bool find_rows(struct emit *e, struct loop *loop)
{
    unsigned ops = 0;
    for (const struct xinst *x = loop->first; x < loop->last; x++) {
        struct lane_op op;
        ops += loop->logic[x - loop->first];
        if (lift_does_nothing(x->op) || x->cls == XC_SALU || x->cls == XC_SMEM)
            continue;
        const struct isa_operand *dst = &x->isa->dst;
        stretch_takes(e, x, &op);
        ops++;
        for (unsigned i = 0; i < 3; i++)
            for (unsigned d = 0; d < x->isa->src[i].dwords && stretch_is_row(&x->isa->src[i]); d++)
                loop->row_read[stretch_row(&x->isa->src[i]) + d] = true;
        for (unsigned d = 0; d < dst->dwords && (dst->kind == ISA_VGPR || dst->kind == ISA_AGPR); d++)
            loop->row_written[stretch_row(dst) + d] = true;
        loop->reads_memory |= !op.body && x->isa->format != ISA_DS;
    }
    loop->parts = parts_of(e, loop, ops);
    return ops > 0 && ops <= STRETCH_MAX;
}

/* The loop ends when all lanes have left it, by an s_andn2_b64 of EXEC before its branch. */
static bool find_leave(struct loop *loop)
{
    const struct xinst *x = loop->last - 1;
    while (x > loop->first && lift_does_nothing(x->op))
        x--;
    const struct isa_operand *d = &x->isa->dst, *s0 = &x->isa->src[0], *s1 = &x->isa->src[1];
    if (x->op != ISA_OP_s_andn2_b64 || d->kind != ISA_SGPR || d->reg != SREG_EXEC || s0->kind != ISA_SGPR ||
        s0->reg != SREG_EXEC || s1->kind != ISA_SGPR || s1->reg & 1 || s1->reg > SREG_VCC)
        return false;
    loop->leave = x;
    return true;
}

static void find_left(const struct emit *e, struct loop *loop)
{
    const size_t head = (size_t)(loop->first - e->block->x), behind = (size_t)(loop->last + 1 - e->block->x);
    for (unsigned reg = 0; reg < SREGS; reg++)
        loop->scalar_left[reg] = loop->scalar_written[reg] &&
                                 (live_scalar(e->live, head, reg) || live_scalar(e->live, behind, reg));
}

bool loop_find(struct emit *e, const struct xinst *first, struct loop *loop)
{
    const struct xinst *x = first, *end = e->block->x + e->block->count;
    while (x < end && !lift_leaves(x) && (x == first || !e->blocks[x - e->block->x]))
        x++;
    if (x == end || x == first || e->blocks[x - e->block->x] || !lift_leaves(x) || !x->isa ||
        !lift_is_branch(x) || x->target != first)
        return false;
    memset(loop, 0, sizeof(*loop));
    loop->first = first;
    loop->last = x;
    if (x - first > LOOP_MAX || (x->op == ISA_OP_s_cbranch_execnz && !find_leave(loop)))
        return false;
    if (!find_forms(e, loop) || !find_idle(e, loop) || !(loop->leave || ends_alike(e, loop)) ||
        !find_rows(e, loop))
        return false;
    loop->loads_blind &= !loop->reads_memory;
    find_left(e, loop);
    if (loop->leave)
        find_held(e, loop);
    return true;
}
