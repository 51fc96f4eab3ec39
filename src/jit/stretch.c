/* SPDX-License-Identifier: MIT */
/*
 * Stretches of lane-wise instructions.  All lanes do the same, so a stretch is
 * emitted as a loop over slices of as many lanes as the host's vectors have:
 * within a turn a VGPR is one host vector, loaded when it is first read and
 * stored once at the end, under EXEC.
 *
 * Bodies assume what nearly always holds (no NaNs, mostly) and say which lanes
 * are bad.  From a slice with such a lane on nothing is stored; redo_stretch() executes
 * the stretch for the lanes that are left by the handlers.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/emit.h"
#include "jit/guess.h"
#include "sem/memory/memop.h"
#include "wave/fault.h"

enum { NO_MASK = -1 };

/* ---- which instructions ---- */

bool stretch_is_row(const struct isa_operand *o)
{
    return o->kind == ISA_VGPR || o->kind == ISA_AGPR;
}

unsigned stretch_row(const struct isa_operand *o)
{
    return o->kind == ISA_AGPR ? WAVE_ACC + o->reg : o->reg;
}

static unsigned high_row(unsigned rows)
{
    unsigned n = 0;
    while (rows >> n)
        n++;
    return n;
}

/* Somebody who redoes a stretch has other lanes there: such an instruction is one by itself, that nobody
 * redoes. */
static bool reads_exec(const struct isa_inst *inst)
{
    bool reads = false;
    for (int i = 0; i < 3; i++)
        reads |= inst->src[i].kind == ISA_SGPR && inst->src[i].reg + inst->src[i].dwords > SREG_EXEC;
    return reads;
}

/* No modifiers that stretch_add() has no body for, and no sources that it has no value of.  OMOD has no
 * effect in the mode that compiled code is for, which keeps denormals. */
static bool is_plain_enough(const struct isa_inst *inst)
{
    if (inst->reserved)
        return false;
    for (int i = 0; i < 3; i++) {
        const unsigned kind = inst->src[i].kind;
        if (kind == ISA_SPECIAL || inst->src[i].dwords > BODY_ROWS_MAX)
            return false;
        if (!stretch_is_row(&inst->src[i]) && inst->src[i].dwords > 2)
            return false;
    }
    return inst->src[3].kind == ISA_NONE;
}

static const struct body *find_body(const struct emit *e, const struct isa_inst *inst)
{
    char name[64];
    const bool clamps = inst->clamp && !slice_clamps_after(inst);
    snprintf(name, sizeof(name), "slice_%s%s", clamps ? "clamp_" : "", emit_op_name(inst->op));
    return body_find(e->library, name);
}

/* The register pair with the mask that the body reads, and whether it is one. */
static bool find_mask(const struct xinst *x, const struct body *body, int *reg)
{
    *reg = NO_MASK;
    if (!body_reads(body, BODY_M))
        return true;
    if (x->op == ISA_OP_v_div_fmas_f32 || x->op == ISA_OP_v_div_fmas_f64)
        *reg = SREG_VCC;
    else if (x->ss[2] < SREGS)
        *reg = x->ss[2];
    return *reg >= 0 && !(*reg & 1);
}

bool stretch_is_mask(const struct lane_op *op, int i)
{
    return i == 2 && op->mask_reg >= 0 && op->x->op != ISA_OP_v_div_fmas_f32 &&
           op->x->op != ISA_OP_v_div_fmas_f64;
}

static bool writes_mask(const struct body *body)
{
    return body_writes(body, BODY_DM);
}

bool stretch_makes_mask(const struct lane_op *op)
{
    return op->body && writes_mask(op->body);
}

bool stretch_needs(const struct emit *e, unsigned reg, unsigned count, bool writes)
{
    if (emit_turns(e)) /* what is lane-wise follows all that is scalar there */
        return false;
    for (unsigned i = reg; i < reg + count && i < SREGS; i++)
        if (e->mask_written[i] || (writes && e->scalar_read[i]))
            return true;
    return false;
}

static bool shapes_fit(const struct isa_inst *inst, const struct body *body)
{
    for (int i = 0; i < 3; i++) {
        const unsigned given = i == 2 && cross_implies_source(inst->op) ? 1 : inst->src[i].dwords;
        if (high_row(body_reads(body, (enum body_parameter)(BODY_A + i))) > given)
            return false;
    }
    const unsigned rows = high_row(body_writes(body, BODY_D));
    if (rows && (!stretch_is_row(&inst->dst) || inst->dst.dwords != rows))
        return false;
    return high_row(body_reads(body, BODY_O)) <= (stretch_is_row(&inst->dst) ? inst->dst.dwords : 0u);
}

void stretch_take(struct emit *e, const struct lane_op *op)
{
    e->op[e->ops++] = *op;
    if (!emit_turns(e) || loop_is_even(e))
        affine_follow(e, op);
}

bool stretch_takes(const struct emit *e, const struct xinst *x, struct lane_op *op)
{
    const struct isa_inst *inst = x->isa;
    *op = (struct lane_op){.x = x, .mask_reg = NO_MASK};
    op->once = inst->format > ISA_VOP3PMAI && atomics_is_known(e, x);
    op->writes = op->once || (inst->format > ISA_VOP3PMAI && writes_is_known(x));
    if (inst->format > ISA_VOP3PMAI)
        return op->writes || reads_is_known(x);
    if (inst->format < ISA_VOP1 || !is_plain_enough(inst))
        return false;
    if (inst->format == ISA_VOP3P && !packed_is_known(inst))
        return false;
    const struct body *body = find_body(e, inst);
    if (!body || !shapes_fit(inst, body) || !find_mask(x, body, &op->mask_reg))
        return false;
    op->body = body;
    op->checks = true;
    const bool wide = inst->dpp && cross_is_wide(e, x);
    op->alone = wide || reads_exec(inst);
    if (op->alone && !wide && (body_writes(body, BODY_BAD) || inst->clamp))
        return false;
    if (inst->clamp && slice_clamps_after(inst) && !body_find(e->library, slice_clamp_name(inst)))
        return false;
    if (writes_mask(body) && (x->sd & 1 || x->sd >= SREG_M0 || inst->dpp))
        return false;
    return writes_mask(body) || body_writes(body, BODY_D) || inst->op == ISA_OP_v_nop;
}

unsigned stretch_spaces(const struct xinst *x)
{
    return x->isa->format == ISA_SCRATCH ? 0 /* a lane's own */
           : x->isa->format == ISA_DS    ? EMIT_LDS
           : x->isa->format == ISA_FLAT  ? EMIT_LDS | EMIT_MEMORY
                                         : EMIT_MEMORY;
}

/* Slices go one after another: what one writes, the next must not read, nor write over. */
static bool may_meet(const struct emit *e, const struct lane_op *op)
{
    const unsigned spaces = stretch_spaces(op->x);
    return e->writes & spaces || (op->writes && e->reads & spaces);
}

static void note_access(struct emit *e, const struct lane_op *op)
{
    *(op->writes ? &e->writes : &e->reads) |= stretch_spaces(op->x);
    e->accesses |= op->x->isa->format == ISA_GLOBAL || op->x->isa->format == ISA_FLAT;
}

static void find_place(struct emit *e, struct lane_op *op)
{
    const bool memory = op->x->isa->format == ISA_GLOBAL || op->x->isa->format == ISA_FLAT;
    const bool found =
        (memory || op->x->isa->format == ISA_DS) && !op->once && !emit_turns(e) && !even_is_hopeless(e, op);
    op->place = (uint16_t)(found                       ? affine_place_of(e, op)
                           : memory && loop_is_even(e) ? loop_even_place(e, op)
                                                       : AFFINE_UNKNOWN);
}

/* An access of memory faults in some slice: those before it would have written to LDS already. */
static bool may_fault_first(const struct emit *e, const struct lane_op *op)
{
    return op->writes && e->accesses && stretch_spaces(op->x) == EMIT_LDS;
}

/* Whether it goes, where its place is, with what is there. */
static bool may_follow(const struct emit *e, const struct lane_op *op)
{
    if (may_fault_first(e, op) || (op->writes && even_is_full(e)))
        return false;
    return !may_meet(e, op) || (!e->scc_late && even_may_join(e, op));
}

/* Where it does not follow the first one it is a stretch by itself: whoever redoes it does both, and the
 * first would go over what the second has stored for lanes before. */
static void add_second(struct emit *e, struct lane_op *op)
{
    op->second = true;
    const bool follows = e->ops < STRETCH_MAX && may_follow(e, op);
    if (!follows)
        stretch_flush(e);
    find_place(e, op);
    e->joined |= may_meet(e, op);
    note_access(e, op);
    stretch_take(e, op);
    if (!follows)
        stretch_flush(e);
}

static bool add_access(struct emit *e, struct lane_op *op)
{
    const struct xinst *x = op->x;
    const bool scratch = x->isa->format == ISA_SCRATCH;
    const unsigned base = memop_has_sbase(x) ? scratch ? 1 : 2 : 0; /* registers */
    if (stretch_needs(e, x->ss[0], base, false) || e->ops == STRETCH_MAX)
        stretch_flush(e);
    if (base == 1)
        op->scalar[0][0] = scalars_get32(e, x->ss[0]);
    else if (base)
        op->base = scalars_get64(e, x->ss[0]);
    find_place(e, op);
    if (scratch ? scratch_may_spoil(e, op) : scratch_may_fault_first(e, op) || !may_follow(e, op)) {
        stretch_flush(e);
        find_place(e, op);
    }
    e->joined |= may_meet(e, op);
    if (base)
        memset(e->scalar_read + x->ss[0], true, base);
    note_access(e, op);
    stretch_take(e, op);
    if (op->writes && writes_twice(x))
        add_second(e, op);
    return true;
}

/* Only logic of masks may follow, which is never bad. */
static bool ends_with_atomic(const struct emit *e)
{
    unsigned last = e->ops;
    while (last > 0 && e->op[last - 1].logic)
        last--;
    return last > 0 && e->op[last - 1].once;
}

/*
 * Addresses that come from memory: handlers access for one lane right after the other, as many as the host
 * has in mind at once, and have what they wait for sooner than code that looks at a slice's addresses between
 * them.  Not with AVX-512, whose slices are twice as long, and of which the host has twice as many in mind.
 */
static bool is_scattered(const struct emit *e, const struct lane_op *op)
{
    return e->slice == 8 && op->x->cls == XC_VMEM && !op->once && !emit_turns(e) &&
           guess_scatters(e->guess, op->x);
}

/* Ways to access make most of what LLVM is given, but for scratch. */
static bool is_left(const struct emit *e, const struct lane_op *op)
{
    return e->effort == LIFT_PLAIN && op->x->isa->format != ISA_SCRATCH && !emit_turns(e);
}

bool stretch_add(struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    struct lane_op op;
    if (!stretch_takes(e, x, &op))
        return false;
    if (ends_with_atomic(e))
        stretch_flush(e);
    if (!op.body && (is_scattered(e, &op) || is_left(e, &op)))
        return false;
    if (!op.body)
        return add_access(e, &op);
    if (op.alone)
        stretch_flush(e);
    if (op.alone && inst->dpp && cross_is_wide(e, x))
        op.readers = cross_move_wave(e, x);
    for (int i = 0; i < 3; i++)
        if (inst->src[i].kind == ISA_SGPR && !stretch_is_mask(&op, i) &&
            stretch_needs(e, inst->src[i].reg, inst->src[i].dwords, false))
            stretch_flush(e);
    if (writes_mask(op.body) && e->joined && scalars_are_late(e, x->sd, 2)) /* of which part is it then? */
        stretch_flush(e);
    if (e->ops == STRETCH_MAX)
        stretch_flush(e);
    if (op.mask_reg >= 0 && !e->mask_written[op.mask_reg])
        op.mask = scalars_get64(e, (unsigned)op.mask_reg);
    for (int i = 0; i < 3; i++) {
        const struct isa_operand *o = &inst->src[i];
        if (stretch_is_row(o) || o->kind == ISA_NONE || stretch_is_mask(&op, i))
            continue;
        for (unsigned d = 0; d < o->dwords; d++)
            op.scalar[i][d] = o->kind == ISA_CONST ? emit_i32(e, (uint32_t)(o->value >> 32 * d))
                                                   : scalars_get32(e, o->reg + d);
        if (o->kind == ISA_SGPR)
            memset(e->scalar_read + o->reg, true, o->dwords);
    }
    if (op.mask_reg >= 0)
        memset(e->scalar_read + op.mask_reg, true, 2);
    if (writes_mask(op.body))
        memset(e->mask_written + x->sd, true, 2);
    stretch_take(e, &op);
    if (op.readers)
        crossbar_emit_dpp(e);
    else if (op.alone)
        stretch_flush(e);
    return true;
}

/* ---- the loop ---- */

/* Masks that a stretch makes and somebody may read: of these register pairs, and what they are. */
struct masks {
    unsigned count;
    uint8_t reg[MASKS / 2];
    llvm_value value[MASKS / 2]; /* in the end; of MASK_SCC what SCC is */
};

static void find_masks(const struct emit *e, struct masks *m)
{
    const size_t behind = (size_t)(e->op[e->ops - 1].x + 1 - e->block->x);
    m->count = 0;
    for (unsigned reg = 0; reg < MASKS; reg += 2)
        if (e->mask_written[reg] &&
            (live_scalar(e->live, behind, reg) || (reg != MASK_SCC && live_scalar(e->live, behind, reg + 1))))
            m->reg[m->count++] = (uint8_t)reg;
}

/* Has the only instruction of a stretch, a store or an atomic, executed for some lanes. */
static void emit_redo_write(struct emit *e, const struct xinst *x, llvm_value lanes)
{
    const int64_t place = offsetof(struct wave, s) + SREG_EXEC * sizeof(uint32_t);
    if (e->accesses)
        emit_store(e, e->l->ConstNull(e->ptr), e->w, offsetof(struct wave, stretch.first));
    emit_store(e, lanes, e->w, place);
    emit_call_uncounted(e, x);
    emit_store(e, scalars_get64(e, SREG_EXEC), e->w, place);
}

/* Has the stretch executed by handlers for some lanes, and takes the bits of each mask from `shift` on. */
static void emit_redo(struct emit *e, llvm_value lanes, llvm_value shift, const struct masks *m,
                      const llvm_value *before, llvm_value *after)
{
    const struct llvm *l = e->l;
    if (e->ops == 1 && e->op[0].writes) { /* it changes no scalar registers */
        emit_redo_write(e, e->op[0].x, lanes);
        return;
    }
    if (!e->saved) {
        llvm_block here = l->GetInsertBlock(e->b);
        l->PositionBuilderAtEnd(e->b, e->entry);
        e->saved = l->BuildAlloca(e->b, l->ArrayType2(e->i32, MASKS), "");
        l->PositionBuilderAtEnd(e->b, here);
    }
    const struct xinst *first = e->op[0].x, *last = e->op[e->ops - 1].x;
    llvm_value arguments[] = {e->w, emit_instruction_at(e, first), emit_instruction_at(e, last), lanes,
                              e->saved};
    l->BuildCall2(e->b, e->redo_type, e->redo, arguments, 5, "");
    llvm_value left = l->BuildShl(e->b, emit_i64(e, UINT64_MAX), shift, "");
    for (unsigned i = 0; i < m->count; i++) {
        llvm_value bits = emit_load(e, e->i64, e->saved, m->reg[i] * 4);
        llvm_value kept = l->BuildAnd(e->b, before[i], l->BuildNot(e->b, left, ""), "");
        after[i] = l->BuildOr(e->b, kept, l->BuildAnd(e->b, bits, left, ""), "");
    }
}

void stretch_begin_accesses(struct emit *e, const struct xinst *first, const struct xinst *last)
{
    emit_store(e, emit_instruction_at(e, first), e->w, offsetof(struct wave, stretch.first));
    emit_store(e, emit_instruction_at(e, last), e->w, offsetof(struct wave, stretch.last));
}

void stretch_end_accesses(struct emit *e)
{
    emit_store(e, e->l->ConstNull(e->ptr), e->w, offsetof(struct wave, stretch.first));
    emit_access(e, NULL);
}

void stretch_clear(struct emit *e)
{
    e->op = e->all;
    e->ops = 0;
    affine_clear(&e->affine);
    e->accesses = e->joined = false;
    e->reads = e->writes = 0;
    memset(e->mask_written, 0, sizeof(e->mask_written));
    memset(e->scalar_read, 0, sizeof(e->scalar_read));
    memset(e->scalar_made, 0, sizeof(e->scalar_made));
    memset(e->late, 0, sizeof(e->late));
    e->scc_read = e->scc_late = false;
}

/* Emits them for a slice, and stores it; what it makes of masks, `mask` before. */
static llvm_block emit_slice(struct emit *e, struct slice *s, const struct masks *m, const llvm_value *mask,
                             llvm_value *hot)
{
    stretch_emit(e, s);
    for (unsigned i = 0; i < m->count; i++)
        hot[i] = lanes_put(e, mask[i], s->mask[m->reg[i]], s->shift);
    if (s->bad)
        slice_redo(e, s, s->bad);
    even_store(e, s);
    stretch_store(e, s);
    return e->l->GetInsertBlock(e->b);
}

/* Emits them for all slices; `even`: see even.c; `whole`: all lanes are active.  What masks are is set. */
static void emit_slices(struct emit *e, bool even, bool whole, struct masks *m)
{
    const struct llvm *l = e->l;
    llvm_value exec = whole ? emit_i64(e, UINT64_MAX) : scalars_get64(e, SREG_EXEC);
    llvm_value mask[MASKS / 2], hot[MASKS / 2], cold[MASKS / 2], idle[MASKS];
    masks_without_lanes(e, idle);

    if (e->accesses)
        stretch_begin_accesses(e, e->op[0].x, e->op[e->ops - 1].x);
    const bool stores = even && even_stores_memory(e); /* each slice then says so of itself */
    if (even && e->accesses && !stores)
        emit_access(e, e->op[0].x);
    llvm_block before = l->GetInsertBlock(e->b), loop = emit_block(e), body = emit_block(e),
               next = emit_block(e), done = emit_block(e);
    l->BuildBr(e->b, loop);
    emit_goto(e, loop);
    struct slice *s = &e->now;
    memset(s, 0, sizeof(*s));
    s->even = even;
    s->whole = whole;
    s->shift = l->BuildPhi(e->b, e->i64, "");
    for (unsigned i = 0; i < m->count; i++)
        mask[i] = l->BuildPhi(e->b, e->i64, "");
    llvm_value bits = lanes_take_bits(e, exec, s->shift);
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, bits, l->ConstNull(e->bits), ""), next, body);

    emit_goto(e, body);
    s->exec = whole ? l->ConstAllOnes(e->lanes) : lanes_take(e, exec, s->shift);
    /* The lanes that are not done. */
    llvm_value rest = l->BuildAnd(e->b, exec, l->BuildShl(e->b, emit_i64(e, UINT64_MAX), s->shift, ""), "");
    if (e->accesses)
        emit_store(e, rest, e->w, offsetof(struct wave, stretch.lanes));
    if (stores)
        emit_access(e, e->op[0].x);
    llvm_value bytes = l->BuildShl(e->b, s->shift, emit_i64(e, 2), "");
    s->rows = l->BuildGEP2(e->b, e->i8, e->v, &bytes, 1, "");
    llvm_block stored = emit_slice(e, s, m, mask, hot);
    l->BuildBr(e->b, next);
    llvm_block redone = s->redone;
    if (redone) {
        emit_goto(e, redone);
        /* All lanes that are left, as handlers take no longer for many than for few, and of several faults
         * the first instruction's is to be found. */
        emit_redo(e, rest, s->shift, m, mask, cold);
        redone = l->GetInsertBlock(e->b);
        l->BuildBr(e->b, done);
    }

    emit_goto(e, next);
    for (unsigned i = 0; i < m->count; i++) {
        m->value[i] = l->BuildPhi(e->b, e->i64, "");
        llvm_value values[] = {mask[i], hot[i]};
        llvm_block from[] = {loop, stored};
        l->AddIncoming(m->value[i], values, from, 2);
    }
    llvm_value shift = l->BuildAdd(e->b, s->shift, emit_i64(e, e->slice), ""), last;
    if (whole) { /* else, up to the last active lane */
        last = l->BuildICmp(e->b, LLVM_EQ, shift, emit_i64(e, WAVE_LANES), "");
    } else {
        llvm_value behind =
            l->BuildLShr(e->b, l->BuildLShr(e->b, exec, s->shift, ""), emit_i64(e, e->slice), "");
        last = l->BuildICmp(e->b, LLVM_EQ, behind, emit_i64(e, 0), "");
    }
    l->BuildCondBr(e->b, last, done, loop);
    llvm_block from[] = {before, next};
    llvm_value shifts[] = {emit_i64(e, 0), shift};
    l->AddIncoming(s->shift, shifts, from, 2);
    for (unsigned i = 0; i < m->count; i++) {
        llvm_value values[] = {idle[m->reg[i]], m->value[i]};
        l->AddIncoming(mask[i], values, from, 2);
    }
    emit_goto(e, done);
    for (unsigned i = 0; redone && i < m->count; i++) {
        llvm_value all = l->BuildPhi(e->b, e->i64, "");
        llvm_value values[] = {m->value[i], cold[i]};
        llvm_block ends[] = {next, redone};
        l->AddIncoming(all, values, ends, 2);
        m->value[i] = all;
    }
    for (unsigned i = 0; i < m->count; i++)
        if (m->reg[i] == MASK_SCC)
            m->value[i] =
                l->BuildZExt(e->b, l->BuildICmp(e->b, LLVM_NE, m->value[i], emit_i64(e, 0), ""), e->i8, "");
    if (e->accesses)
        stretch_end_accesses(e);
}

static void set_masks(struct emit *e, const struct masks *m)
{
    for (unsigned i = 0; i < m->count; i++)
        if (m->reg[i] == MASK_SCC)
            scalars_set_scc(e, m->value[i]);
        else
            scalars_set64(e, m->reg[i], m->value[i]);
}

/* Emits what is there as one stretch, and what it makes of masks is known. */
static void emit_part(struct emit *e)
{
    struct masks m;
    scalars_store(e); /* handlers that redo it read them */
    find_masks(e, &m);
    emit_slices(e, false, false, &m);
    set_masks(e, &m);
}

/* Takes the instructions from `first` on that may be in one stretch; returns where they end. */
static unsigned take_part(struct emit *e, struct lane_op *op, unsigned first, unsigned count)
{
    unsigned end = first;
    e->reads = e->writes = 0;
    e->accesses = false;
    memset(e->mask_written, 0, sizeof(e->mask_written));
    for (; end < count && (op[end].body || !may_meet(e, &op[end])); end++) {
        if (end > first && op[end - 1].second) /* see add_second() */
            break;
        if (!op[end].body)
            note_access(e, &op[end]);
        if (op[end].mask_reg >= 0 && !op[end].mask && !e->mask_written[op[end].mask_reg])
            op[end].mask = scalars_get64(e, (unsigned)op[end].mask_reg); /* a part before has made it */
        if (stretch_makes_mask(&op[end]))
            memset(e->mask_written + op[end].x->sd, true, 2);
    }
    e->op = op + first;
    e->ops = end - first;
    return end;
}

/* Emits them as one stretch, or as several where slices must not go one after another. */
static void emit_parts(struct emit *e)
{
    struct lane_op *const op = e->op;
    const unsigned count = e->ops;
    const size_t at = e->at;
    if (!e->joined) {
        emit_part(e);
        return;
    }
    for (unsigned first = 0; first < count;) {
        first = take_part(e, op, first, count);
        e->at = first < count ? (size_t)(op[first].x - e->block->x) : at;
        emit_part(e);
        if (first < count)
            scalars_store_late(e, e->at); /* who redoes the next part begins there */
    }
    e->at = at;
}

/* What a version makes of masks, and the block that it ends with. */
struct version {
    llvm_block end;
    struct masks m;
};

/* Emits one that is even, and goes on at `done`. */
static void emit_even(struct emit *e, bool whole, struct version *v, llvm_block done)
{
    emit_slices(e, true, whole, &v->m);
    v->end = e->l->GetInsertBlock(e->b);
    e->l->BuildBr(e->b, done);
}

/* Emits them in versions: even ones, for all lanes and for some, and one for whatever else there is. */
static void emit_versions(struct emit *e)
{
    const struct llvm *l = e->l;
    llvm_value all = l->BuildICmp(e->b, LLVM_EQ, scalars_get64(e, SREG_EXEC), emit_i64(e, UINT64_MAX), "");
    llvm_block look = emit_block(e), even = emit_block(e), whole = emit_block(e), other = emit_block(e),
               done = emit_block(e), part = even_may_be_part(e) ? emit_block(e) : NULL;
    struct version version[3];
    unsigned versions = 0;
    struct scalars_known known;
    find_masks(e, &version[0].m);
    version[2].m = version[1].m = version[0].m;
    scalars_keep(e, &known);
    if (part)
        l->BuildBr(e->b, look);
    else
        l->BuildCondBr(e->b, all, look, other);
    emit_goto(e, look);
    l->BuildCondBr(e->b, even_test(e), even, other);
    emit_goto(e, even);
    if (part)
        l->BuildCondBr(e->b, all, whole, part);
    else
        l->BuildBr(e->b, whole);
    emit_goto(e, whole);
    emit_even(e, true, &version[versions++], done);
    if (part) {
        emit_goto(e, part);
        emit_even(e, false, &version[versions++], done);
    }
    emit_goto(e, other);
    emit_parts(e);
    struct version *last = &version[versions++];
    for (unsigned i = 0; i < last->m.count; i++)
        last->m.value[i] = last->m.reg[i] == MASK_SCC ? scalars_get_scc(e) : scalars_get64(e, last->m.reg[i]);
    last->end = l->GetInsertBlock(e->b);
    l->BuildBr(e->b, done);
    emit_goto(e, done);
    scalars_restore(e, &known);
    struct masks m = last->m;
    for (unsigned i = 0; i < m.count; i++) {
        m.value[i] = l->BuildPhi(e->b, l->TypeOf(last->m.value[i]), "");
        for (unsigned v = 0; v < versions; v++)
            l->AddIncoming(m.value[i], &version[v].m.value[i], &version[v].end, 1);
    }
    set_masks(e, &m);
}

void stretch_flush(struct emit *e)
{
    if (!e->ops)
        return;
    scalars_store(e);
    if (even_is_likely(e) || even_is_worth(e))
        emit_versions(e);
    else
        emit_parts(e);
    stretch_clear(e);
}
