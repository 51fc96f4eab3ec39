/* SPDX-License-Identifier: MIT */
/* What registers hold in a region, and which of its branches are all lanes' or a slice's; see region.h. */
#include <string.h>

#include "isa/facts.h"
#include "jit/region.h"
#include "sem/memory/memop.h"

/* ---- EXEC ---- */

static bool is_mask_source(const struct isa_operand *o)
{
    return o->kind == ISA_CONST ||
           (o->kind == ISA_SGPR && o->dwords == 2 && !(o->reg & 1) && o->reg <= SREG_EXEC);
}

static bool find_saveexec(const struct isa_inst *inst, struct region_exec *x)
{
    static const struct {
        uint16_t op, logic;
        bool swapped;
    } ways[] = {
        {ISA_OP_s_and_saveexec_b64, ISA_OP_s_and_b64, false},
        {ISA_OP_s_or_saveexec_b64, ISA_OP_s_or_b64, false},
        {ISA_OP_s_xor_saveexec_b64, ISA_OP_s_xor_b64, false},
        {ISA_OP_s_andn2_saveexec_b64, ISA_OP_s_andn2_b64, false},
        {ISA_OP_s_orn2_saveexec_b64, ISA_OP_s_orn2_b64, false},
        {ISA_OP_s_nand_saveexec_b64, ISA_OP_s_nand_b64, false},
        {ISA_OP_s_nor_saveexec_b64, ISA_OP_s_nor_b64, false},
        {ISA_OP_s_xnor_saveexec_b64, ISA_OP_s_xnor_b64, false},
        {ISA_OP_s_andn1_saveexec_b64, ISA_OP_s_andn2_b64, true},
        {ISA_OP_s_orn1_saveexec_b64, ISA_OP_s_orn2_b64, true},
    };
    const struct isa_operand *d = &inst->dst;
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (inst->op != ways[i].op)
            continue;
        x->op = ways[i].logic;
        x->source[ways[i].swapped] = &inst->src[0];
        x->source[!ways[i].swapped] = NULL;
        x->saved = d->reg;
        return is_mask_source(&inst->src[0]) && d->kind == ISA_SGPR && !(d->reg & 1) && d->reg <= SREG_VCC;
    }
    return false;
}

bool region_exec(const struct isa_inst *inst, struct region_exec *x)
{
    if (find_saveexec(inst, x))
        return true;
    struct isa_inst other = *inst; /* the same with VCC */
    if (inst->dst.kind != ISA_SGPR || inst->dst.reg != SREG_EXEC || inst->dst.dwords != 2)
        return false;
    other.dst.reg = SREG_VCC;
    if (!masks_is_logic(&other))
        return false;
    *x = (struct region_exec){.op = inst->op, .saved = -1};
    for (unsigned i = 0; i < masks_sources(inst); i++)
        x->source[i] = &inst->src[i];
    return true;
}

static bool uses_of_exec(const struct xinst *x, struct loop_uses *u)
{
    struct region_exec exec;
    memset(u, 0, sizeof(*u));
    if (!region_exec(x->isa, &exec))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (exec.source[i] && exec.source[i]->kind == ISA_SGPR && exec.source[i]->reg != SREG_EXEC)
            u->read[u->reads++] = (struct loop_use){exec.source[i]->reg, 2, true};
    if (exec.saved >= 0) {
        u->writes = true;
        u->write = (struct loop_use){(unsigned)exec.saved, 2, true};
    }
    u->logic = true;
    u->sets_scc = isa_facts[x->op].effects & ISA_E_SETS_SCC;
    return true;
}

bool region_uses(struct emit *e, const struct region *r, size_t at, unsigned number, struct loop_uses *u)
{
    const struct xinst *x = &e->block->x[at];
    return x->cls == XC_SALU && !lift_does_nothing(x->op) && lift_writes_exec(x)
               ? uses_of_exec(x, u)
               : loop_uses_of(e, x, r->logic[number], true, u);
}

/* ---- blocks ---- */

static size_t end_of(const struct emit *e, size_t first, size_t end)
{
    while (first + 1 < end && !lift_leaves(&e->block->x[first]))
        first++;
    return first + 1;
}

/* Where an edge goes: to a block of the region, or to one behind an exit. */
static bool find_edge(struct region *r, int to, const unsigned *numbers, int *edge)
{
    *edge = REGION_NOWHERE;
    if (to < 0)
        return true;
    for (unsigned i = 0; i < r->blocks; i++)
        if (numbers[i] == (unsigned)to)
            *edge = (int)i;
    const size_t at = r->flow->first[to];
    for (unsigned i = 0; *edge == REGION_NOWHERE && i < r->exits; i++)
        if (r->exit[i] == at)
            *edge = (int)(REGION_OUT + i);
    if (*edge != REGION_NOWHERE)
        return true;
    if (r->exits == REGION_EXITS)
        return false;
    *edge = (int)(REGION_OUT + r->exits);
    r->exit[r->exits++] = at;
    return true;
}

static bool find_blocks(struct emit *e, struct region *r)
{
    unsigned numbers[REGION_BLOCKS];
    r->blocks = region_flow_loop(r->flow, r->flow->number[r->head], numbers);
    for (unsigned i = 0; i < r->blocks; i++) {
        struct region_block *b = &r->block[i];
        b->first = r->flow->first[numbers[i]];
        b->end = end_of(e, b->first, r->flow->first[numbers[i] + 1]);
        b->base = r->instructions;
        r->instructions += (unsigned)(b->end - b->first);
        if (r->instructions > REGION_INSTRUCTIONS)
            return false;
        for (unsigned k = 0; k < 2; k++)
            if (!find_edge(r, r->flow->to[numbers[i]][k], numbers, &b->to[k]))
                return false;
    }
    return r->blocks > 0;
}

/* Which edges go back, other than to the head. */
static void find_back(struct region *r)
{
    enum { NEW, OPEN, DONE };
    unsigned stack[REGION_BLOCKS], depth = 1, state[REGION_BLOCKS] = {OPEN}, next[REGION_BLOCKS] = {0};
    stack[0] = 0;
    while (depth) {
        const unsigned at = stack[depth - 1], k = next[at]++;
        if (k == 2) {
            state[at] = DONE;
            depth--;
            continue;
        }
        const int to = r->block[at].to[k];
        if (to <= 0 || to >= REGION_OUT)
            continue;
        if (state[to] == OPEN)
            r->nested = r->block[at].back[k] = true;
        if (state[to] != NEW)
            continue;
        state[to] = OPEN;
        stack[depth++] = (unsigned)to;
    }
}

static const struct xinst *branch_of(const struct emit *e, const struct region_block *b)
{
    const struct xinst *x = &e->block->x[b->end - 1];
    return lift_leaves(x) ? x : NULL;
}

/* ---- forms ---- */

static bool join_forms(struct loop_forms *to, const struct loop_forms *from)
{
    bool changed = from->scc_of_lanes && !to->scc_of_lanes;
    to->scc_of_lanes |= from->scc_of_lanes;
    for (unsigned reg = 0; reg < SREGS; reg++) {
        changed |= from->mask[reg] && !to->mask[reg];
        to->mask[reg] |= from->mask[reg];
    }
    return changed;
}

/* From the forms before a block to those at its end. */
static bool pass_block(struct emit *e, struct region *r, const struct region_block *b, struct loop_forms *f)
{
    for (size_t at = b->first; at < b->end; at++) {
        const struct xinst *x = &e->block->x[at];
        const unsigned number = b->base + (unsigned)(at - b->first);
        struct loop_uses u;
        if (lift_leaves(x))
            return at + 1 == b->end && x->isa && lift_is_branch(x);
        r->logic[number] = x->cls == XC_SALU && masks_has_made(f->mask, x->isa);
        if (!region_uses(e, r, at, number, &u) || !loop_read_forms(f, &u) || !loop_write_forms(f, &u))
            return false;
    }
    return true;
}

static bool find_forms(struct emit *e, struct region *r)
{
    r->block[0].form.mask[SREG_EXEC] = r->block[0].form.mask[SREG_EXEC + 1] = true;
    r->block[0].reached = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < r->blocks; i++) {
            const struct region_block *b = &r->block[i];
            struct loop_forms f = b->form;
            if (!b->reached)
                continue;
            if (!pass_block(e, r, b, &f))
                return false;
            for (unsigned k = 0; k < 2; k++) {
                if (b->to[k] >= REGION_OUT)
                    join_forms(&r->exit_form, &f);
                if (b->to[k] < 0 || b->to[k] >= REGION_OUT)
                    continue;
                struct region_block *to = &r->block[b->to[k]];
                changed |= join_forms(&to->form, &f) || !to->reached;
                to->reached = true;
            }
        }
    }
    r->head_form = r->block[0].form;
    return true;
}

/* ---- branches ---- */

/* What follows from memory or from lanes. */
struct taint {
    bool reg[SREGS], scc;
};

static void taint_by(struct taint *t, const struct loop_uses *u)
{
    bool tainted = u->from_memory || !u->scalar || (u->reads_scc && t->scc);
    for (unsigned i = 0; i < u->reads; i++)
        for (unsigned reg = u->read[i].reg; reg < u->read[i].reg + u->read[i].count; reg++)
            tainted |= t->reg[reg];
    if (u->writes)
        memset(t->reg + u->write.reg, tainted, u->write.count);
    if (u->sets_scc)
        t->scc = tainted;
}

static bool join_taint(struct taint *to, const struct taint *from)
{
    bool changed = from->scc && !to->scc;
    to->scc |= from->scc;
    for (unsigned reg = 0; reg < SREGS; reg++) {
        changed |= from->reg[reg] && !to->reg[reg];
        to->reg[reg] |= from->reg[reg];
    }
    return changed;
}

/* VCC is EXEC's lanes by a scalar that is all or none, as compilers have it of what is the same for all. */
static bool is_uniform_vcc(const struct xinst *x, const struct taint *t, const struct loop_forms *f)
{
    const struct isa_operand *s0 = &x->isa->src[0], *s1 = &x->isa->src[1];
    if ((x->op != ISA_OP_s_and_b64 && x->op != ISA_OP_s_andn2_b64) || x->isa->dst.kind != ISA_SGPR ||
        x->isa->dst.reg != SREG_VCC || s0->kind != ISA_SGPR || s0->reg != SREG_EXEC || s1->kind != ISA_SGPR ||
        s1->dwords != 2 || s1->reg & 1 || s1->reg >= SREG_EXEC)
        return false;
    return !f->mask[s1->reg] && !f->mask[s1->reg + 1] && !t->reg[s1->reg] && !t->reg[s1->reg + 1];
}

/* Follows a block; says how it ends, once `last`. */
static bool taint_block(struct emit *e, struct region *r, struct region_block *b, struct taint *t, bool last)
{
    struct loop_forms f = b->form;
    b->by_scalars = false;
    for (size_t at = b->first; at < b->end; at++) {
        const struct xinst *x = &e->block->x[at];
        struct loop_uses u;
        if (lift_leaves(x))
            break;
        region_uses(e, r, at, b->base + (unsigned)(at - b->first), &u);
        if (x->cls == XC_SALU && is_uniform_vcc(x, t, &f)) {
            b->by_scalars = true;
            b->uniform_at = at;
        } else if (u.writes && u.write.reg < SREG_VCC + 2 && u.write.reg + u.write.count > SREG_VCC) {
            b->by_scalars = false;
        }
        taint_by(t, &u);
        loop_write_forms(&f, &u);
    }
    const struct xinst *branch = branch_of(e, b);
    if (!last || !branch)
        return true;
    b->how = REGION_ALIKE;
    switch (branch->op) {
    case ISA_OP_s_branch:
        b->how = REGION_GOES;
        return true;
    case ISA_OP_s_cbranch_execz:
    case ISA_OP_s_cbranch_execnz:
        b->how = REGION_OF_LANES;
        b->empty = branch->op == ISA_OP_s_cbranch_execz;
        return true;
    case ISA_OP_s_cbranch_scc0:
    case ISA_OP_s_cbranch_scc1:
        b->by_scalars = false;
        return !t->scc && !f.scc_of_lanes;
    case ISA_OP_s_cbranch_vccz:
    case ISA_OP_s_cbranch_vccnz:
        if (b->by_scalars)
            return true;
        return !f.mask[SREG_VCC] && !t->reg[SREG_VCC] && !t->reg[SREG_VCC + 1];
    default:
        return false;
    }
}

static bool find_branches(struct emit *e, struct region *r)
{
    static const struct taint none;
    struct taint before[REGION_BLOCKS];
    for (unsigned i = 0; i < r->blocks; i++)
        before[i] = none;
    bool changed;
    do {
        changed = false;
        for (unsigned i = 0; i < r->blocks; i++) {
            struct taint t = before[i];
            if (!r->block[i].reached)
                continue;
            taint_block(e, r, &r->block[i], &t, false);
            for (unsigned k = 0; k < 2; k++)
                if (r->block[i].to[k] >= 0 && r->block[i].to[k] < REGION_OUT)
                    changed |= join_taint(&before[r->block[i].to[k]], &t);
        }
    } while (changed);
    for (unsigned i = 0; i < r->blocks; i++) {
        struct taint t = before[i];
        if (r->block[i].reached && !taint_block(e, r, &r->block[i], &t, true))
            return false;
    }
    return true;
}

/* Slices that leave by EXEC do so by one edge: then those that come as far know the same. */
static bool exits_by_one(const struct region *r)
{
    unsigned edges = 0, of_lanes = 0;
    for (unsigned i = 0; i < r->blocks; i++)
        for (unsigned k = 0; k < 2; k++)
            if (r->block[i].reached && r->block[i].to[k] >= REGION_OUT) {
                edges++;
                of_lanes += r->block[i].how == REGION_OF_LANES;
            }
    return edges > 0 && (edges == 1 || !of_lanes);
}

/* ---- what they use ---- */

static void note_rows(struct region *r, const struct xinst *x)
{
    const struct isa_operand *dst = &x->isa->dst;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned d = 0; d < x->isa->src[i].dwords && stretch_is_row(&x->isa->src[i]); d++)
            r->row_used[stretch_row(&x->isa->src[i]) + d] = true;
    for (unsigned d = 0; d < dst->dwords && stretch_is_row(dst); d++)
        r->row_used[stretch_row(dst) + d] = r->row_written[stretch_row(dst) + d] = true;
}

static bool note_uses(struct emit *e, struct region *r)
{
    unsigned scalars = 0;
    for (unsigned i = 0; i < r->blocks; i++) {
        const struct region_block *b = &r->block[i];
        for (size_t at = b->first; b->reached && at < b->end; at++) {
            const struct xinst *x = &e->block->x[at];
            struct loop_uses u;
            struct lane_op op;
            if (lift_leaves(x) || lift_does_nothing(x->op))
                continue;
            region_uses(e, r, at, b->base + (unsigned)(at - b->first), &u);
            if (u.writes && u.write.mask)
                r->mask_written[u.write.reg / 2] = true;
            else if (u.writes)
                memset(r->scalar_written + u.write.reg, true, u.write.count);
            if (u.sets_scc && u.logic)
                r->mask_written[REGION_SCC] = true;
            else if (u.sets_scc)
                r->scalar_written[SREGS] = true;
            scalars += u.scalar;
            r->ops += !u.scalar;
            if (x->cls == XC_SMEM && !r->access)
                r->access = x;
            if (x->cls == XC_SALU || x->cls == XC_SMEM)
                continue;
            note_rows(r, x);
            stretch_takes(e, x, &op);
            if (!op.body && x->isa->format != ISA_DS) {
                r->reads_memory = true;
                if (!r->access)
                    r->access = x;
            }
            r->reads_memory |= !op.body;
        }
    }
    return r->ops > 0 && scalars <= 2 * r->ops;
}

/* Rows that somebody reads behind the region, or when it goes on after the wave has given way. */
static bool find_left(struct emit *e, struct region *r)
{
    unsigned count = 0;
    for (unsigned row = 0; row < WAVE_ROWS; row++) {
        bool left = live_before(e->live, r->head, row) || live_idle(e->live, r->head, row);
        for (unsigned i = 0; i < r->exits; i++)
            left |= live_before(e->live, r->exit[i], row) || live_idle(e->live, r->exit[i], row);
        r->row_left[row] = r->row_written[row] && left;
        count += r->row_left[row];
    }
    return count <= REGION_ROWS;
}

/* How many slices to do together, so that the host waits less for results: two, unless there are too many
 * registers.  More of them go the same way less often. */
static unsigned parts_of(const struct emit *e, const struct region *r)
{
    const unsigned most = e->slice == 16 ? 20 : 10;
    unsigned rows = 0;
    for (unsigned row = 0; row < WAVE_ROWS; row++)
        rows += r->row_used[row];
    return rows <= most ? 2 : 1;
}

bool region_find(struct emit *e, struct region *r, size_t head)
{
    r->head = head;
    if (!find_blocks(e, r) || !find_forms(e, r) || !find_branches(e, r) || !exits_by_one(r) ||
        !note_uses(e, r) || !find_left(e, r))
        return false;
    find_back(r);
    region_find_nans(e, r);
    r->parts = parts_of(e, r);
    return region_find_idle(e, r);
}
