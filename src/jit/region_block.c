/* SPDX-License-Identifier: MIT */
/*
 * A region's basic blocks, for one slice or some together.  Registers are variables, which LLVM makes values
 * of, and values within a block.
 *
 * A scalar that others have written where the slice has not been is not known.  Nobody who was there before
 * reads it, in what compilers make: a slice that comes to do so gives the region up.
 */
#include <string.h>

#include "isa/facts.h"
#include "jit/region.h"

/* ---- variables ---- */

static llvm_value make_variable(struct emit *e, llvm_type type)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->entry);
    llvm_value variable = e->l->BuildAlloca(e->b, type, "");
    emit_goto(e, here);
    return variable;
}

/* Makes one that is `value` when a slice begins, which is made in a block before. */
static llvm_value make_from(struct emit *e, llvm_type type, llvm_value value)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    llvm_value variable = make_variable(e, type);
    emit_goto(e, e->region->enter);
    emit_store(e, value, variable, 0);
    emit_goto(e, here);
    return variable;
}

/* A value of the wave's, as it is before the region. */
static llvm_value load_before(struct emit *e, llvm_type type, size_t offset)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->region->before);
    llvm_value value = emit_load_whole(e, type, e->w, (int64_t)offset);
    emit_goto(e, here);
    return value;
}

static llvm_value known32(struct emit *e, unsigned reg)
{
    llvm_value *known = &e->region->known[reg];
    if (!*known)
        *known = load_before(e, e->i32, loop_place(reg));
    return *known;
}

static llvm_value known64(struct emit *e, unsigned reg)
{
    llvm_value *known = &e->region->known64[reg / 2];
    if (!*known)
        *known = load_before(e, e->i64, loop_place(reg));
    return *known;
}

static llvm_value known_scc(struct emit *e)
{
    if (!e->region->known_scc)
        e->region->known_scc = load_before(e, e->i8, offsetof(struct wave, scc));
    return e->region->known_scc;
}

static llvm_value row_variable(struct emit *e, unsigned part, unsigned row)
{
    llvm_value *variable = &e->region->row[part][row];
    if (!*variable) {
        llvm_block here = e->l->GetInsertBlock(e->b);
        emit_goto(e, e->region->enter);
        llvm_value value = slice_load(e, &e->region->part[part], row);
        emit_goto(e, here);
        *variable = make_from(e, e->row, value);
    }
    return *variable;
}

/* SCC as a mask that it follows from. */
static llvm_value lanes_of_scc(struct emit *e, llvm_value scc)
{
    llvm_value is = e->l->BuildICmp(e->b, LLVM_NE, scc, e->l->ConstNull(e->i8), "");
    return e->l->BuildSelect(e->b, is, e->l->ConstAllOnes(e->lanes), e->l->ConstNull(e->lanes), "");
}

static llvm_value mask_variable(struct emit *e, unsigned part, unsigned mask)
{
    llvm_value *variable = &e->region->mask[part][mask];
    if (!*variable) {
        llvm_value all = mask == REGION_SCC ? known_scc(e) : known64(e, 2 * mask);
        llvm_block here = e->l->GetInsertBlock(e->b);
        emit_goto(e, e->region->enter);
        llvm_value some = mask == REGION_SCC ? lanes_of_scc(e, all)
                                             : lanes_take(e, all, e->region->part[part].shift);
        emit_goto(e, here);
        *variable = make_from(e, e->lanes, some);
    }
    return *variable;
}

static llvm_value scalar_variable(struct emit *e, unsigned reg)
{
    llvm_value *variable = &e->region->scalar[reg];
    if (!*variable)
        *variable = reg == SREGS ? make_from(e, e->i8, known_scc(e)) : make_from(e, e->i32, known32(e, reg));
    return *variable;
}

static llvm_value poison_variable(struct emit *e, unsigned reg)
{
    llvm_value *variable = &e->region->poison[reg];
    if (!*variable)
        *variable = make_from(e, e->i1, e->l->ConstNull(e->i1));
    return *variable;
}

llvm_value region_row_now(struct emit *e, unsigned part, unsigned row)
{
    return emit_load(e, e->row, row_variable(e, part, row), 0);
}

llvm_value region_mask_now(struct emit *e, unsigned part, unsigned mask)
{
    return emit_load(e, e->lanes, mask_variable(e, part, mask), 0);
}

void region_make_variables(struct emit *e, llvm_value budget)
{
    struct region *r = e->region;
    r->bad = make_from(e, e->lanes, e->l->ConstNull(e->lanes));
    r->turns = make_from(e, e->i32, emit_i32(e, 0));
    r->fuel = make_from(e, e->i32, budget);
}

llvm_value region_row(struct emit *e, struct slice *s, unsigned row)
{
    return region_row_now(e, (unsigned)(s - e->region->part), row);
}

llvm_value region_scalar32(struct emit *e, unsigned reg)
{
    if (!e->region->scalar_written[reg])
        return known32(e, reg);
    return emit_load(e, e->i32, scalar_variable(e, reg), 0);
}

llvm_value region_scalar64(struct emit *e, unsigned reg)
{
    return e->region->scalar_written[reg] || e->region->scalar_written[reg + 1] ? NULL : known64(e, reg);
}

llvm_value region_scc(struct emit *e)
{
    if (!e->region->scalar_written[SREGS])
        return known_scc(e);
    return emit_load(e, e->i8, scalar_variable(e, SREGS), 0);
}

llvm_block region_bail(struct emit *e)
{
    return e->region->bail;
}

void region_bail_if(struct emit *e, llvm_value wrong)
{
    llvm_block on = emit_block(e);
    e->l->SetMetadata(e->l->BuildCondBr(e->b, wrong, e->region->bail, on), e->md_prof, e->unlikely);
    emit_goto(e, on);
}

/* ---- what is not known ---- */

/* Whether the slice does not know a register, or SCC; NULL: it does. */
llvm_value region_poison_now(struct emit *e, unsigned reg)
{
    struct region *r = e->region;
    if (!r->poisoned[reg])
        return NULL;
    if (!r->poison_now[reg])
        r->poison_now[reg] = emit_load(e, e->i1, poison_variable(e, reg), 0);
    return r->poison_now[reg];
}

static llvm_value either(struct emit *e, llvm_value a, llvm_value b)
{
    return a && b ? e->l->BuildOr(e->b, a, b, "") : a ? a : b;
}

static llvm_value poison_of(struct emit *e, unsigned reg, unsigned count)
{
    llvm_value any = NULL;
    for (unsigned i = reg; i < reg + count; i++)
        any = either(e, any, region_poison_now(e, i));
    return any;
}

static void must_know(struct emit *e, unsigned reg, unsigned count)
{
    llvm_value poison = poison_of(e, reg, count);
    if (poison)
        region_bail_if(e, poison);
}

/* What follows from what is not known, is not known; lanes are not to see it. */
static void look_at_sources(struct emit *e, const struct loop_uses *u)
{
    struct region *r = e->region;
    llvm_value poison = u->reads_scc ? region_poison_now(e, SREGS) : NULL;
    for (unsigned i = 0; i < u->reads; i++)
        if (!u->read[i].mask || !r->now.mask[u->read[i].reg])
            poison = either(e, poison, poison_of(e, u->read[i].reg, u->read[i].count));
    if (poison && (!u->scalar || u->from_memory)) {
        region_bail_if(e, poison);
        poison = NULL;
    }
    if (!u->scalar)
        return;
    for (unsigned reg = u->write.reg; u->writes && reg < u->write.reg + u->write.count; reg++)
        r->poison_now[reg] = poison ? poison : e->l->ConstNull(e->i1);
    if (u->sets_scc)
        r->poison_now[SREGS] = poison ? poison : e->l->ConstNull(e->i1);
}

/* ---- masks ---- */

static void use_mask(struct emit *e, unsigned reg)
{
    struct region *r = e->region;
    if (e->mask_written[reg] || !r->now.mask[reg])
        return;
    for (unsigned i = 0; i < r->parts; i++)
        r->part[i].mask[reg] = region_mask_now(e, i, reg / 2);
    memset(e->mask_written + reg, true, 2);
}

static void set_mask(struct emit *e, unsigned mask, const llvm_value *lanes)
{
    struct region *r = e->region;
    for (unsigned i = 0; i < r->parts; i++) {
        r->part[i].mask[2 * mask] = lanes[i];
        if (mask != REGION_SCC)
            r->part[i].loose[2 * mask] = NULL;
        emit_store(e, lanes[i], mask_variable(e, i, mask), 0);
    }
    memset(e->mask_written + 2 * mask, true, 2);
}

/* A register's bits of the slices' lanes. */
void region_lanes_of(struct emit *e, unsigned reg, llvm_value *lanes)
{
    struct region *r = e->region;
    if (r->now.mask[reg]) {
        use_mask(e, reg);
        for (unsigned i = 0; i < r->parts; i++)
            lanes[i] = r->part[i].mask[reg];
        return;
    }
    must_know(e, reg, 2);
    for (unsigned i = 0; i < r->parts; i++)
        lanes[i] = lanes_take(e, scalars_get64(e, reg), r->part[i].shift);
}

/* ---- instructions ---- */

/* Lanes that are not active keep what they had, in rows that they may read. */
static void store_rows(struct emit *e, unsigned part)
{
    struct slice *s = &e->region->part[part];
    for (unsigned row = 0; row < WAVE_ROWS; row++) {
        if (!s->dirty[row])
            continue;
        llvm_value variable = row_variable(e, part, row);
        if (live_idle(e->live, e->at, row))
            s->value[row] = e->l->BuildSelect(e->b, lanes_vector(e, s->exec), s->value[row],
                                              emit_load(e, e->row, variable, 0), "");
        emit_store(e, s->value[row], variable, 0);
        s->dirty[row] = false;
    }
}

static void note_bad(struct emit *e, struct slice *s)
{
    if (!s->bad)
        return;
    llvm_value bad = e->l->BuildAnd(e->b, s->bad, s->exec, "");
    bad = e->l->BuildOr(e->b, bad, emit_load(e, e->lanes, e->region->bad, 0), "");
    emit_store(e, bad, e->region->bad, 0);
    s->bad = NULL;
}

/* Emits the lane-wise instructions that are there, of which `e->at` comes next. */
static void flush(struct emit *e)
{
    struct region *r = e->region;
    if (!e->ops)
        return;
    for (unsigned i = 0; i < r->parts; i++) {
        struct slice *s = &r->part[i];
        stretch_emit(e, s);
        store_rows(e, i);
        note_bad(e, s);
        for (unsigned m = 0; m < REGION_MASKS; m++)
            if (r->mask_dirty[m])
                emit_store(e, s->mask[2 * m], mask_variable(e, i, m), 0);
    }
    memset(r->mask_dirty, 0, sizeof(r->mask_dirty));
    e->ops = 0;
}

/* A pair has become a mask. */
static void forget_scalar(struct emit *e, unsigned reg)
{
    e->dirty[reg] = e->dirty[reg + 1] = false;
    e->pair[reg / 2] = e->s[reg] = e->s[reg + 1] = NULL;
}

static void emit_exec(struct emit *e, const struct xinst *x)
{
    struct region *r = e->region;
    struct region_exec exec;
    llvm_value source[2][LOOP_PARTS], result[LOOP_PARTS], before[LOOP_PARTS];
    region_exec(x->isa, &exec);
    for (unsigned k = 0; k < 2; k++) {
        const struct isa_operand *o = exec.source[k];
        if (o && o->kind == ISA_SGPR && o->reg != SREG_EXEC)
            region_lanes_of(e, o->reg, source[k]);
        for (unsigned i = 0; i < r->parts; i++)
            if (!o || (o->kind == ISA_SGPR && o->reg == SREG_EXEC))
                source[k][i] = r->part[i].exec;
            else if (o->kind == ISA_CONST)
                source[k][i] = lanes_constant(e, o->value, r->part[i].shift);
    }
    for (unsigned i = 0; i < r->parts; i++) {
        const llvm_value of[] = {source[0][i], source[1][i]};
        struct slice *s = &r->part[i];
        before[i] = s->exec;
        s->exec = result[i] = masks_combine(e, exec.op, of);
        emit_store(e, s->exec, mask_variable(e, i, SREG_EXEC / 2), 0);
        memset(s->loose, 0, sizeof(s->loose));
        s->shapes = 0;
    }
    if (exec.saved >= 0) {
        set_mask(e, (unsigned)exec.saved / 2, before);
        r->now.mask[exec.saved] = r->now.mask[exec.saved + 1] = true;
        forget_scalar(e, (unsigned)exec.saved);
    }
    if (isa_facts[x->op].effects & ISA_E_SETS_SCC) {
        set_mask(e, REGION_SCC, result);
        r->now.scc_of_lanes = true;
        e->scc_dirty = false;
        e->scc = NULL;
    }
}

/* VCC is EXEC's lanes by a scalar: of any or none, for slices that have some. */
static void note_uniform(struct emit *e, const struct xinst *x)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    llvm_value value = scalars_get64(e, x->isa->src[1].reg), lanes = r->part[0].exec;
    if (x->op == ISA_OP_s_andn2_b64)
        value = l->BuildNot(e->b, value, "");
    for (unsigned i = 1; i < r->parts; i++)
        lanes = l->BuildOr(e->b, lanes, r->part[i].exec, "");
    r->uniform = l->BuildICmp(e->b, LLVM_NE, value, emit_i64(e, 0), "");
    llvm_value all = l->BuildICmp(e->b, LLVM_EQ, value, emit_i64(e, UINT64_MAX), "");
    all = l->BuildAnd(e->b, all, lanes_some(e, lanes), "");
    region_bail_if(e, l->BuildAnd(e->b, r->uniform, l->BuildNot(e->b, all, ""), ""));
}

static void emit_one(struct emit *e, const struct region_block *b, size_t at)
{
    struct region *r = e->region;
    const struct xinst *x = &e->block->x[at];
    const unsigned number = b->base + (unsigned)(at - b->first);
    struct loop_uses u;
    if (lift_does_nothing(x->op))
        return;
    if ((x->cls == XC_SALU && lift_writes_exec(x)) || e->ops + 2 >= STRETCH_MAX)
        flush(e);
    if (x->cls == XC_SALU && lift_writes_exec(x)) {
        emit_exec(e, x);
        return;
    }
    region_uses(e, r, at, number, &u);
    look_at_sources(e, &u);
    for (unsigned i = 0; i < u.reads; i++)
        if (u.read[i].mask)
            use_mask(e, u.read[i].reg);
    if (b->by_scalars && at == b->uniform_at)
        note_uniform(e, x);
    if (u.logic)
        masks_take(e, x);
    else if (x->cls == XC_SALU)
        scalars_emit(e, x);
    else if (x->cls == XC_SMEM)
        scalars_load(e, x);
    else
        stretch_add(e, x);
    if (u.writes && u.write.mask)
        r->mask_dirty[u.write.reg / 2] = true;
    if (u.sets_scc && u.logic) {
        r->mask_dirty[REGION_SCC] = true;
        e->scc_dirty = false;
        e->scc = NULL;
    }
    for (unsigned reg = u.write.reg; u.writes && !u.write.mask && reg < u.write.reg + u.write.count; reg++) {
        e->mask_written[reg] = false;
        r->mask_dirty[reg / 2] = false;
    }
    if (u.sets_scc && !u.logic)
        r->mask_dirty[REGION_SCC] = false;
    if (u.writes && u.write.mask)
        forget_scalar(e, u.write.reg);
    loop_write_forms(&r->now, &u);
}

/* ---- the end of a block ---- */

/* What is a mask at the other end of an edge becomes one. */
static void convert(struct emit *e, const struct loop_forms *to, size_t at)
{
    struct region *r = e->region;
    llvm_value lanes[LOOP_PARTS];
    for (unsigned reg = 0; reg < SREG_EXEC; reg += 2)
        if (to->mask[reg] && !r->now.mask[reg] &&
            (live_scalar(e->live, at, reg) || live_scalar(e->live, at, reg + 1))) {
            region_lanes_of(e, reg, lanes);
            for (unsigned i = 0; i < r->parts; i++)
                emit_store(e, lanes[i], mask_variable(e, i, reg / 2), 0);
        }
    if (!to->scc_of_lanes || r->now.scc_of_lanes || !live_scalar(e->live, at, MASK_SCC))
        return;
    must_know(e, SREGS, 1);
    for (unsigned i = 0; i < r->parts; i++)
        emit_store(e, lanes_of_scc(e, scalars_get_scc(e)), mask_variable(e, i, REGION_SCC), 0);
}

static void convert_for(struct emit *e, int to)
{
    struct region *r = e->region;
    if (to >= REGION_OUT)
        convert(e, &r->exit_form, r->exit[to - REGION_OUT]);
    else if (to >= 0)
        convert(e, &r->block[to].form, r->block[to].first);
}

static void store_scalars(struct emit *e)
{
    struct region *r = e->region;
    for (unsigned reg = 0; reg < SREGS; reg++)
        if (e->dirty[reg])
            emit_store(e, scalars_get32(e, reg), scalar_variable(e, reg), 0);
    if (e->scc_dirty)
        emit_store(e, scalars_get_scc(e), scalar_variable(e, SREGS), 0);
    for (unsigned reg = 0; reg <= SREGS; reg++)
        if (r->poisoned[reg] && r->poison_now[reg])
            emit_store(e, r->poison_now[reg], poison_variable(e, reg), 0);
    memset(e->dirty, 0, sizeof(e->dirty));
    e->scc_dirty = false;
}

static llvm_block target(const struct region *r, int to)
{
    return to >= REGION_OUT ? r->leave[to - REGION_OUT] : to == 0 ? r->latch : r->start[to];
}

/* A slice without lanes goes by itself. */
static void depart(struct emit *e, const struct region_block *b)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    llvm_value wrong = NULL;
    for (unsigned m = 0; m < REGION_MASKS; m++)
        for (unsigned i = 0; i < r->parts && (b->check_none[m] || b->check_all[m]); i++) {
            llvm_value lanes = region_mask_now(e, i, m);
            if (b->check_all[m])
                lanes = l->BuildNot(e->b, lanes, "");
            wrong = wrong ? l->BuildOr(e->b, wrong, lanes, "") : lanes;
        }
    if (wrong)
        region_bail_if(e, lanes_some(e, wrong));
    for (unsigned reg = 0; reg <= SREGS; reg++)
        if (b->poisons[reg])
            emit_store(e, l->ConstAllOnes(e->i1), poison_variable(e, reg), 0);
}

/* It has been here before, and will not be for ever. */
static void go_back(struct emit *e)
{
    enum { FAR = 65536 };
    const struct llvm *l = e->l;
    llvm_value fuel =
        l->BuildSub(e->b, emit_load(e, e->i32, e->region->fuel, 0), emit_i32(e, 1), "");
    emit_store(e, fuel, e->region->fuel, 0);
    region_bail_if(e, l->BuildICmp(e->b, LLVM_SLT, fuel, emit_i32(e, (uint32_t)-FAR), ""));
}

static llvm_block make_edge(struct emit *e, const struct region_block *b, unsigned k)
{
    struct region *r = e->region;
    const bool departs = b->how == REGION_OF_LANES && k == b->empty && b->to[k] < REGION_OUT;
    if (!departs && !b->back[k])
        return target(r, b->to[k]);
    llvm_block here = e->l->GetInsertBlock(e->b), edge = emit_block(e);
    emit_goto(e, edge);
    if (departs)
        depart(e, b);
    if (b->back[k])
        go_back(e);
    e->l->BuildBr(e->b, target(r, b->to[k]));
    emit_goto(e, here);
    return edge;
}

static llvm_value condition(struct emit *e, const struct region_block *b, const struct xinst *branch)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    if (b->how == REGION_OF_LANES) {
        llvm_value lanes = r->part[0].exec;
        for (unsigned i = 1; i < r->parts; i++)
            lanes = l->BuildOr(e->b, lanes, r->part[i].exec, "");
        llvm_value some = lanes_some(e, lanes);
        return branch->op == ISA_OP_s_cbranch_execz ? l->BuildNot(e->b, some, "") : some;
    }
    if (b->by_scalars)
        return branch->op == ISA_OP_s_cbranch_vccz ? l->BuildNot(e->b, r->uniform, "") : r->uniform;
    if (branch->op == ISA_OP_s_cbranch_scc0 || branch->op == ISA_OP_s_cbranch_scc1)
        must_know(e, SREGS, 1);
    else
        must_know(e, SREG_VCC, 2);
    return emit_condition(e, branch->op);
}

void region_begin_block(struct emit *e, const struct loop_forms *form, llvm_block start)
{
    struct region *r = e->region;
    emit_goto(e, start);
    scalars_forget(e);
    memset(e->mask_written, 0, sizeof(e->mask_written));
    memset(r->mask_dirty, 0, sizeof(r->mask_dirty));
    memset(r->poison_now, 0, sizeof(r->poison_now));
    r->now = *form;
    for (unsigned i = 0; i < r->parts; i++) {
        struct slice *s = &r->part[i];
        memset(s->value, 0, sizeof(s->value));
        memset(s->mask, 0, sizeof(s->mask));
        memset(s->loose, 0, sizeof(s->loose));
        s->shapes = 0;
        s->exec = region_mask_now(e, i, SREG_EXEC / 2);
    }
}

void region_emit_block(struct emit *e, unsigned number)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    const struct region_block *b = &r->block[number];
    region_begin_block(e, &b->form, r->start[number]);
    const struct xinst *last = &e->block->x[b->end - 1];
    const struct xinst *branch = lift_leaves(last) ? last : NULL;
    const size_t end = b->end - (branch != NULL);
    for (size_t at = b->first; at < end; at++) {
        e->at = at;
        emit_one(e, b, at);
    }
    e->at = end;
    flush(e);
    for (unsigned k = 0; k < 2; k++)
        convert_for(e, b->to[k]);
    if (r->reads_memory) /* what is wrong must not come to be an address */
        region_bail_if(e, lanes_some(e, emit_load(e, e->lanes, r->bad, 0)));
    llvm_value taken = b->how == REGION_GOES ? NULL : condition(e, b, branch);
    store_scalars(e);
    if (!taken) {
        l->BuildBr(e->b, make_edge(e, b, b->to[0] == REGION_NOWHERE));
        return;
    }
    llvm_block edges[] = {make_edge(e, b, 0), make_edge(e, b, 1)};
    l->BuildCondBr(e->b, taken, edges[1], edges[0]);
}
