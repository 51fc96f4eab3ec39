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
    if (e->loop) /* what is lane-wise follows all that is scalar there */
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

static void take_op(struct emit *e, const struct lane_op *op)
{
    e->op[e->ops++] = *op;
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
    op->alone = reads_exec(inst) || (inst->dpp && cross_is_wide(e, x));
    if (op->alone && (body_writes(body, BODY_BAD) || inst->clamp))
        return false;
    if (inst->clamp && slice_clamps_after(inst) && !body_find(e->library, slice_clamp_name(inst)))
        return false;
    if (writes_mask(body) && (x->sd & 1 || x->sd >= SREG_M0 || inst->dpp))
        return false;
    return writes_mask(body) || body_writes(body, BODY_D) || inst->op == ISA_OP_v_nop;
}

static unsigned spaces_of(const struct xinst *x)
{
    return x->isa->format == ISA_DS     ? EMIT_LDS
           : x->isa->format == ISA_FLAT ? EMIT_LDS | EMIT_MEMORY
                                        : EMIT_MEMORY;
}

/* Slices go one after another: what one writes, the next must not read, nor write over. */
static bool add_access(struct emit *e, struct lane_op *op)
{
    const struct xinst *x = op->x;
    const unsigned spaces = spaces_of(x);
    if ((memop_has_sbase(x) && stretch_needs(e, x->ss[0], 2, false)) || e->writes & spaces ||
        (op->writes && e->reads & spaces) || e->ops == STRETCH_MAX)
        stretch_flush(e);
    if (memop_has_sbase(x)) {
        op->base = scalars_get64(e, x->ss[0]);
        memset(e->scalar_read + x->ss[0], true, 2);
    }
    *(op->writes ? &e->writes : &e->reads) |= spaces;
    e->accesses |= x->isa->format != ISA_DS;
    take_op(e, op);
    if (op->writes && writes_twice(x)) {
        stretch_flush(e);
        op->second = true;
        e->writes = spaces;
        take_op(e, op);
    }
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

bool stretch_add(struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    struct lane_op op;
    if (!stretch_takes(e, x, &op))
        return false;
    if (ends_with_atomic(e))
        stretch_flush(e);
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
    if (writes_mask(op.body) && stretch_needs(e, x->sd, 2, true) && !e->mask_written[x->sd])
        stretch_flush(e); /* registers that it has read must stay for those who redo it */
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
    take_op(e, &op);
    if (op.alone)
        stretch_flush(e);
    return true;
}

/* ---- the loop ---- */

static unsigned masks_of(const struct emit *e, uint8_t regs[MASKS / 2])
{
    unsigned count = 0;
    for (unsigned reg = 0; reg < MASKS; reg += 2)
        if (e->mask_written[reg])
            regs[count++] = (uint8_t)reg;
    return count;
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
static void emit_redo(struct emit *e, llvm_value lanes, llvm_value shift, const uint8_t *regs, unsigned masks,
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
    for (unsigned i = 0; i < masks; i++) {
        llvm_value bits = emit_load(e, e->i64, e->saved, regs[i] * 4);
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
    e->ops = 0;
    e->accesses = false;
    e->reads = e->writes = 0;
    memset(e->mask_written, 0, sizeof(e->mask_written));
    memset(e->scalar_read, 0, sizeof(e->scalar_read));
}

/* A slice's bits, among those of all lanes. */
static llvm_value put_bits(struct emit *e, llvm_value all, llvm_value bits, llvm_value shift)
{
    const struct llvm *l = e->l;
    llvm_value here = l->BuildShl(e->b, l->BuildZExt(e->b, l->ConstAllOnes(e->bits), e->i64, ""), shift, "");
    llvm_value others = l->BuildAnd(e->b, all, l->BuildNot(e->b, here, ""), "");
    return l->BuildOr(e->b, others, l->BuildShl(e->b, l->BuildZExt(e->b, bits, e->i64, ""), shift, ""), "");
}

void stretch_flush(struct emit *e)
{
    if (!e->ops)
        return;
    const struct llvm *l = e->l;
    scalars_store(e); /* handlers that redo it read them */
    llvm_value exec = scalars_get64(e, SREG_EXEC);
    uint8_t regs[MASKS / 2];
    const unsigned masks = masks_of(e, regs);
    llvm_value mask[MASKS / 2], hot[MASKS / 2], cold[MASKS / 2], idle[MASKS];
    masks_without_lanes(e, idle);

    if (e->accesses)
        stretch_begin_accesses(e, e->op[0].x, e->op[e->ops - 1].x);
    llvm_block before = l->GetInsertBlock(e->b), loop = emit_block(e), body = emit_block(e),
               next = emit_block(e), done = emit_block(e);
    l->BuildBr(e->b, loop);
    emit_goto(e, loop);
    struct slice *s = &e->now;
    memset(s, 0, sizeof(*s));
    s->shift = l->BuildPhi(e->b, e->i64, "");
    for (unsigned i = 0; i < masks; i++)
        mask[i] = l->BuildPhi(e->b, e->i64, "");
    s->exec = l->BuildTrunc(e->b, l->BuildLShr(e->b, exec, s->shift, ""), e->bits, "");
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, s->exec, l->ConstNull(e->bits), ""), next, body);

    emit_goto(e, body);
    /* The lanes that are not done. */
    llvm_value rest = l->BuildAnd(e->b, exec, l->BuildShl(e->b, emit_i64(e, UINT64_MAX), s->shift, ""), "");
    if (e->accesses)
        emit_store(e, rest, e->w, offsetof(struct wave, stretch.lanes));
    llvm_value bytes = l->BuildShl(e->b, s->shift, emit_i64(e, 2), "");
    s->rows = l->BuildGEP2(e->b, e->i8, e->v, &bytes, 1, "");
    stretch_emit(e, s);
    for (unsigned i = 0; i < masks; i++)
        hot[i] = put_bits(e, mask[i], s->mask[regs[i]], s->shift);
    if (s->bad)
        slice_redo(e, s, s->bad);
    llvm_block redone = s->redone, good = l->GetInsertBlock(e->b);
    if (redone) {
        emit_goto(e, redone);
        /* All lanes that are left, as handlers take no longer for many than for few, and of several faults
         * the first instruction's is to be found. */
        emit_redo(e, rest, s->shift, regs, masks, mask, cold);
        redone = l->GetInsertBlock(e->b);
        l->BuildBr(e->b, done);
        emit_goto(e, good);
    }
    stretch_store(e, s);
    llvm_block stored = l->GetInsertBlock(e->b);
    l->BuildBr(e->b, next);

    emit_goto(e, next);
    llvm_value after[MASKS / 2];
    for (unsigned i = 0; i < masks; i++) {
        after[i] = l->BuildPhi(e->b, e->i64, "");
        llvm_value values[] = {mask[i], hot[i]};
        llvm_block from[] = {loop, stored};
        l->AddIncoming(after[i], values, from, 2);
    }
    llvm_value shift = l->BuildAdd(e->b, s->shift, emit_i64(e, e->slice), "");
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, shift, emit_i64(e, WAVE_LANES), ""), done, loop);
    llvm_block from[] = {before, next};
    llvm_value shifts[] = {emit_i64(e, 0), shift};
    l->AddIncoming(s->shift, shifts, from, 2);
    for (unsigned i = 0; i < masks; i++) {
        llvm_value values[] = {idle[regs[i]], after[i]};
        l->AddIncoming(mask[i], values, from, 2);
    }
    emit_goto(e, done);
    for (unsigned i = 0; i < masks; i++) {
        llvm_value all = after[i];
        if (redone) {
            all = l->BuildPhi(e->b, e->i64, "");
            llvm_value values[] = {after[i], cold[i]};
            llvm_block ends[] = {next, redone};
            l->AddIncoming(all, values, ends, 2);
        }
        after[i] = all;
    }
    for (unsigned i = 0; i < masks; i++) {
        if (regs[i] < MASK_SCC)
            scalars_set64(e, regs[i], after[i]);
        else
            scalars_set_scc(
                e, l->BuildZExt(e->b, l->BuildICmp(e->b, LLVM_NE, after[i], emit_i64(e, 0), ""), e->i8, ""));
    }
    if (e->accesses)
        stretch_end_accesses(e);
    stretch_clear(e);
}
