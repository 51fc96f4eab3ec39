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

static bool uses_of_lanes(const struct emit *e, const struct xinst *x, struct loop_uses *u)
{
    struct lane_op op;
    if (!stretch_takes(e, x, &op) || op.alone || op.writes)
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

bool loop_uses(struct emit *e, const struct xinst *x, struct loop_uses *u)
{
    memset(u, 0, sizeof(*u));
    if (lift_does_nothing(x->op))
        return true;
    if (x->cls == XC_SALU)
        return uses_of_scalar(e, x, u);
    if (x->cls == XC_SMEM)
        return uses_of_load(x, u);
    return uses_of_lanes(e, x, u);
}

/* What a register holds in the course of an iteration: what it did at its beginning, or this. */
enum form { UNTOUCHED, SCALAR, MASK };

struct forms {
    enum form now[SREGS];
    bool first_scalar[SREGS]; /* is read as a scalar before it is written */
};

static bool read_forms(struct forms *f, const struct loop_use *use)
{
    const bool untouched = use->mask && f->now[use->reg] == UNTOUCHED && f->now[use->reg + 1] == UNTOUCHED;
    for (unsigned reg = use->reg; reg < use->reg + use->count; reg++) {
        if (f->now[reg] == MASK && !use->mask)
            return false;
        if (f->now[reg] == UNTOUCHED && !untouched)
            f->first_scalar[reg] = true;
    }
    return true;
}

static bool write_forms(struct forms *f, const struct loop_use *use)
{
    const unsigned end = use->reg + use->count;
    for (unsigned reg = use->reg; reg < end; reg++) {
        const unsigned other = reg ^ 1;
        if (!use->mask && f->now[reg] == MASK && (other < use->reg || other >= end))
            return false; /* half of a mask, of which nobody has all bits */
    }
    for (unsigned reg = use->reg; reg < end; reg++)
        f->now[reg] = use->mask ? MASK : SCALAR;
    return true;
}

/* Which registers are scalars, and which are masks that each slice has its bits of. */
static bool find_forms(struct emit *e, struct loop *loop)
{
    struct forms f = {0};
    struct loop_uses u;
    for (const struct xinst *x = loop->first; x < loop->last; x++) {
        if (!loop_uses(e, x, &u))
            return false;
        for (unsigned i = 0; i < u.reads; i++)
            if (!read_forms(&f, &u.read[i]))
                return false;
        if (u.writes && !write_forms(&f, &u.write))
            return false;
    }
    for (unsigned reg = 0; reg < SREGS; reg++) {
        if (f.first_scalar[reg] && f.now[reg] == MASK)
            return false;
        loop->scalar_written[reg] = f.now[reg] == SCALAR;
        loop->mask_at_end[reg] = f.now[reg] == MASK;
    }
    return true;
}

/* What follows from memory or from lanes. */
struct taint {
    bool reg[SREGS], scc;
};

static bool is_tainted(const struct taint *t, const struct loop_uses *u)
{
    bool tainted = u->from_memory || !u->scalar || (u->reads_scc && t->scc);
    for (unsigned i = 0; i < u->reads; i++)
        for (unsigned reg = u->read[i].reg; reg < u->read[i].reg + u->read[i].count; reg++)
            tainted |= t->reg[reg];
    return tainted;
}

/* Whether all slices have the same number of iterations, whoever writes to memory meanwhile. */
static bool ends_alike(struct emit *e, const struct loop *loop)
{
    struct taint head = {0}, now;
    bool changed;
    do {
        now = head;
        for (const struct xinst *x = loop->first; x < loop->last; x++) {
            struct loop_uses u;
            loop_uses(e, x, &u);
            const bool tainted = is_tainted(&now, &u);
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

/* What its lane-wise instructions write, and whether they read; false when there are too many. */
static bool find_rows(struct emit *e, struct loop *loop)
{
    unsigned ops = 0;
    for (const struct xinst *x = loop->first; x < loop->last; x++) {
        struct lane_op op;
        if (lift_does_nothing(x->op) || x->cls == XC_SALU || x->cls == XC_SMEM)
            continue;
        const struct isa_operand *dst = &x->isa->dst;
        stretch_takes(e, x, &op);
        ops++;
        for (unsigned d = 0; d < dst->dwords && (dst->kind == ISA_VGPR || dst->kind == ISA_AGPR); d++)
            loop->row_written[stretch_row(dst) + d] = true;
        loop->reads_memory |= !op.body && x->isa->format != ISA_DS;
    }
    return ops > 0 && ops <= STRETCH_MAX;
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
    return find_forms(e, loop) && ends_alike(e, loop) && find_rows(e, loop);
}
