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
    return loop_load_in(e, e->region->before, type, offset);
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

llvm_type region_bits_type(struct emit *e)
{
    return e->l->IntTypeInContext(e->context, e->region->parts * e->slice);
}

llvm_value region_take(struct emit *e, llvm_value all)
{
    llvm_value from = e->l->BuildLShr(e->b, all, e->region->part[0].shift, "");
    return e->l->BuildTrunc(e->b, from, region_bits_type(e), "");
}

/* SCC as a mask that it follows from. */
static llvm_value bits_of_scc(struct emit *e, llvm_value scc)
{
    return e->l->BuildSExt(e->b, loop_is_some(e, scc), region_bits_type(e), "");
}

static llvm_value mask_variable(struct emit *e, unsigned mask)
{
    llvm_value *variable = &e->region->mask[mask];
    if (!*variable) {
        llvm_value all = mask == REGION_SCC ? known_scc(e) : known64(e, 2 * mask);
        llvm_block here = e->l->GetInsertBlock(e->b);
        emit_goto(e, e->region->enter);
        llvm_value some = mask == REGION_SCC ? bits_of_scc(e, all) : region_take(e, all);
        emit_goto(e, here);
        *variable = make_from(e, region_bits_type(e), some);
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

llvm_value region_mask_now(struct emit *e, unsigned mask)
{
    llvm_value *bits = &e->region->bits[mask];
    if (!*bits)
        *bits = emit_load(e, region_bits_type(e), mask_variable(e, mask), 0);
    return *bits;
}

void region_make_variables(struct emit *e, const llvm_value *entered, llvm_value budget)
{
    struct region *r = e->region;
    for (unsigned i = 0; i < r->parts; i++)
        r->exec[i] = make_from(e, e->lanes, entered[i]);
    r->bad = make_from(e, e->lanes, e->l->ConstNull(e->lanes));
    r->turns = make_from(e, e->i32, emit_i32(e, 0));
    r->fuel = make_from(e, e->i32, budget);
}

llvm_value region_row(struct emit *e, struct slice *s, unsigned row)
{
    return region_row_now(e, (unsigned)(s - e->region->part), row);
}

bool region_writes(const struct emit *e, unsigned row)
{
    return e->region->row_written[row];
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

/*
 * A mask is bits of all lanes that are done together, which the host has in registers of its own; what makes
 * or takes it in lane-wise instructions has it in the form of those (lanes.c).
 */
static llvm_value lanes_of_bits(struct emit *e, llvm_value bits, unsigned part)
{
    const struct llvm *l = e->l;
    if (e->lanes == e->bits) {
        llvm_value shift = l->ConstInt(region_bits_type(e), part * e->slice, 0);
        return l->BuildTrunc(e->b, l->BuildLShr(e->b, bits, shift, ""), e->bits, "");
    }
    /* Not by a compare: LLVM would have all masks as vectors of one bit, which the host has not. */
    llvm_value row = emit_splat(e, l->BuildZExt(e->b, bits, e->i32, "")), places[16];
    for (unsigned i = 0; i < e->slice; i++)
        places[i] = emit_i32(e, 31 - part * e->slice - i);
    row = l->BuildShl(e->b, row, l->ConstVector(places, e->slice), "");
    return l->BuildAShr(e->b, row, slice_constant(e, 31), "");
}

/* The bits do not wait for those of EXEC in the other form. */
static llvm_value bits_of_compare(struct emit *e, unsigned reg)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    llvm_type type = region_bits_type(e);
    llvm_value all = NULL;
    for (unsigned i = 0; i < r->parts; i++) {
        llvm_value bits = l->BuildBitCast(e->b, lanes_vector(e, r->part[i].loose[reg]), e->bits, "");
        bits = l->BuildZExt(e->b, bits, type, "");
        bits = l->BuildShl(e->b, bits, l->ConstInt(type, i * e->slice, 0), "");
        all = all ? l->BuildOr(e->b, all, bits, "") : bits;
    }
    return l->BuildAnd(e->b, all, region_mask_now(e, SREG_EXEC / 2), "");
}

static void use_mask(struct emit *e, unsigned reg)
{
    struct region *r = e->region;
    if (e->mask_written[reg] || !r->now.mask[reg])
        return;
    for (unsigned i = 0; i < r->parts; i++)
        r->part[i].mask[reg] = lanes_of_bits(e, region_mask_now(e, reg / 2), i);
    memset(e->mask_written + reg, true, 2);
}

static void set_bits(struct emit *e, unsigned mask, llvm_value bits)
{
    e->region->bits[mask] = bits;
    emit_store(e, bits, mask_variable(e, mask), 0);
    memset(e->mask_written + 2 * mask, false, 2);
    for (unsigned i = 0; i < e->region->parts && mask != REGION_SCC; i++)
        e->region->part[i].loose[2 * mask] = NULL;
}

llvm_value region_bits_of(struct emit *e, unsigned reg)
{
    if (e->region->now.mask[reg])
        return region_mask_now(e, reg / 2);
    must_know(e, reg, 2);
    return region_take(e, scalars_get64(e, reg));
}

static llvm_value bits_of_operand(struct emit *e, const struct isa_operand *o)
{
    if (!o)
        return region_mask_now(e, SREG_EXEC / 2);
    if (o->kind == ISA_SGPR)
        return region_bits_of(e, o->reg);
    llvm_type type = region_bits_type(e);
    return o->value == 0            ? e->l->ConstNull(type)
           : o->value == UINT64_MAX ? e->l->ConstAllOnes(type)
                                    : region_take(e, emit_i64(e, o->value));
}

/* A pair has become a mask. */
static void forget_scalar(struct emit *e, unsigned reg)
{
    e->dirty[reg] = e->dirty[reg + 1] = false;
    e->pair[reg / 2] = e->s[reg] = e->s[reg + 1] = NULL;
}

static void set_scc_bits(struct emit *e, llvm_value bits)
{
    set_bits(e, REGION_SCC, bits);
    e->region->now.scc_of_lanes = true;
    e->scc_dirty = false;
    e->scc = NULL;
}

/* Whether logic of masks can be emitted before the lane-wise instructions that are not emitted yet. */
static bool comes_before(struct emit *e, const struct loop_uses *u)
{
    const struct region *r = e->region;
    if (!e->ops)
        return true;
    for (unsigned i = 0; i < u->reads; i++)
        if (r->mask_dirty[u->read[i].reg / 2])
            return false;
    return !e->mask_written[u->write.reg] && !r->mask_dirty[u->write.reg / 2];
}

static void emit_logic(struct emit *e, const struct xinst *x, const struct loop_uses *u)
{
    const struct isa_inst *inst = x->isa;
    llvm_value source[2] = {NULL, NULL};
    for (unsigned i = 0; i < masks_sources(inst); i++)
        source[i] = bits_of_operand(e, &inst->src[i]);
    llvm_value result = masks_combine(e, inst->op, source);
    set_bits(e, u->write.reg / 2, result);
    if (u->sets_scc)
        set_scc_bits(e, result);
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
        if (!s->held[row] && live_idle(e->live, e->at, row))
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
        if (!s->exec)
            s->exec = emit_load(e, e->lanes, r->exec[i], 0);
        stretch_emit(e, s);
        store_rows(e, i);
        note_bad(e, s);
    }
    for (unsigned m = 0; m < REGION_MASKS; m++)
        if (r->mask_dirty[m]) {
            r->bits[m] = bits_of_compare(e, 2 * m);
            emit_store(e, r->bits[m], mask_variable(e, m), 0);
        }
    memset(r->mask_dirty, 0, sizeof(r->mask_dirty));
    e->ops = 0;
}

/* EXEC in the form that lane-wise instructions have it in, when what it is made of is there in that form. */
static llvm_value exec_of(struct emit *e, const struct region_exec *exec, unsigned part)
{
    const struct slice *s = &e->region->part[part];
    llvm_value source[2];
    for (unsigned k = 0; k < 2; k++) {
        const struct isa_operand *o = exec->source[k];
        const bool is_exec = !o || (o->kind == ISA_SGPR && o->reg == SREG_EXEC);
        if (!is_exec && o->kind == ISA_SGPR && !e->mask_written[o->reg])
            return NULL;
        source[k] = is_exec                ? s->exec
                    : o->kind == ISA_CONST ? lanes_constant(e, o->value, s->shift)
                                           : s->mask[o->reg];
        if (!source[k])
            return NULL;
    }
    return masks_combine(e, exec->op, source);
}

static void emit_exec(struct emit *e, const struct xinst *x)
{
    struct region *r = e->region;
    struct region_exec exec;
    region_exec(x->isa, &exec);
    llvm_value source[2], before = region_mask_now(e, SREG_EXEC / 2), lanes[LOOP_PARTS], result;
    for (unsigned k = 0; k < 2; k++)
        source[k] = bits_of_operand(e, exec.source[k]);
    result = masks_combine(e, exec.op, source);
    for (unsigned i = 0; i < r->parts; i++) {
        struct slice *s = &r->part[i];
        llvm_value made = exec_of(e, &exec, i);
        lanes[i] = s->exec;
        s->exec = made ? made : lanes_of_bits(e, result, i);
        emit_store(e, s->exec, r->exec[i], 0);
        memset(s->loose, 0, sizeof(s->loose));
        s->shapes = 0;
    }
    r->bits[SREG_EXEC / 2] = result;
    emit_store(e, result, mask_variable(e, SREG_EXEC / 2), 0);
    if (exec.saved >= 0) {
        set_bits(e, (unsigned)exec.saved / 2, before);
        for (unsigned i = 0; i < r->parts && lanes[0]; i++)
            r->part[i].mask[exec.saved] = lanes[i];
        memset(e->mask_written + exec.saved, lanes[0] != NULL, 2);
        memset(r->now.mask + exec.saved, true, 2);
        forget_scalar(e, (unsigned)exec.saved);
    }
    if (isa_facts[x->op].effects & ISA_E_SETS_SCC)
        set_scc_bits(e, result);
}

/* VCC is EXEC's lanes by a scalar: of any or none, for slices that have some. */
static void note_uniform(struct emit *e, const struct xinst *x)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    llvm_value value = scalars_get64(e, x->isa->src[1].reg);
    if (x->op == ISA_OP_s_andn2_b64)
        value = l->BuildNot(e->b, value, "");
    r->uniform = l->BuildICmp(e->b, LLVM_NE, value, emit_i64(e, 0), "");
    llvm_value all = l->BuildICmp(e->b, LLVM_EQ, value, emit_i64(e, UINT64_MAX), "");
    all = l->BuildAnd(e->b, all, loop_is_some(e, region_mask_now(e, SREG_EXEC / 2)), "");
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
    if (b->by_scalars && at == b->uniform_at)
        note_uniform(e, x);
    if (u.logic) {
        if (!comes_before(e, &u))
            flush(e);
        emit_logic(e, x, &u);
        forget_scalar(e, u.write.reg);
        loop_write_forms(&r->now, &u);
        return;
    }
    for (unsigned i = 0; i < u.reads; i++)
        if (u.read[i].mask)
            use_mask(e, u.read[i].reg);
    if (x->cls == XC_SALU)
        scalars_emit(e, x);
    else if (x->cls == XC_SMEM)
        scalars_load(e, x);
    else
        stretch_add(e, x);
    if (u.writes && u.write.mask)
        r->mask_dirty[u.write.reg / 2] = true;
    for (unsigned reg = u.write.reg; u.writes && !u.write.mask && reg < u.write.reg + u.write.count; reg++) {
        e->mask_written[reg] = false;
        r->mask_dirty[reg / 2] = false;
    }
    if (u.writes && u.write.mask)
        forget_scalar(e, u.write.reg);
    loop_write_forms(&r->now, &u);
}

/* ---- the end of a block ---- */

/* What is a mask at the other end of an edge becomes one. */
static void convert(struct emit *e, const struct loop_forms *to, size_t at)
{
    const struct region *r = e->region;
    for (unsigned reg = 0; reg < SREG_EXEC; reg += 2)
        if (to->mask[reg] && !r->now.mask[reg] &&
            (live_scalar(e->live, at, reg) || live_scalar(e->live, at, reg + 1)))
            emit_store(e, region_bits_of(e, reg), mask_variable(e, reg / 2), 0);
    if (!to->scc_of_lanes || r->now.scc_of_lanes || !live_scalar(e->live, at, MASK_SCC))
        return;
    must_know(e, SREGS, 1);
    emit_store(e, bits_of_scc(e, scalars_get_scc(e)), mask_variable(e, REGION_SCC), 0);
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
    llvm_value wrong = NULL;
    for (unsigned m = 0; m < REGION_MASKS; m++) {
        if (!b->check_none[m] && !b->check_all[m])
            continue;
        llvm_value bits = emit_load(e, region_bits_type(e), mask_variable(e, m), 0);
        if (b->check_all[m])
            bits = l->BuildNot(e->b, bits, "");
        wrong = wrong ? l->BuildOr(e->b, wrong, bits, "") : bits;
    }
    if (wrong)
        region_bail_if(e, loop_is_some(e, wrong));
    for (unsigned reg = 0; reg <= SREGS; reg++)
        if (b->poisons[reg])
            emit_store(e, l->ConstAllOnes(e->i1), poison_variable(e, reg), 0);
}

/* It has been here before, and will not be for ever. */
static void go_back(struct emit *e)
{
    enum { FAR = 65536 };
    const struct llvm *l = e->l;
    llvm_value fuel = l->BuildSub(e->b, emit_load(e, e->i32, e->region->fuel, 0), emit_i32(e, 1), "");
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
        llvm_value some = loop_is_some(e, region_mask_now(e, SREG_EXEC / 2));
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
    memset(r->bits, 0, sizeof(r->bits));
    r->now = *form;
    for (unsigned i = 0; i < r->parts; i++) {
        struct slice *s = &r->part[i];
        memset(s->value, 0, sizeof(s->value));
        memset(s->mask, 0, sizeof(s->mask));
        memset(s->loose, 0, sizeof(s->loose));
        s->shapes = s->chosens = 0;
        s->exec = NULL;
    }
    *body_pairs(e->library) = (struct pairs){0};
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
