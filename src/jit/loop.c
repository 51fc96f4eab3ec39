/* SPDX-License-Identifier: MIT */
/*
 * Loops turned inside out.  An innermost loop of one basic block, whose lane-wise instructions make no store
 * and whose end does not depend on lanes or memory, is emitted as
 *
 *   for each slice of lanes
 *       load the VGPRs that it reads
 *       do the scalar and then the lane-wise instructions while its branch is taken
 *       store the VGPRs that it has written
 *
 * so that VGPRs stay in the host's registers from one iteration to the next.  Each slice has the same number
 * of iterations, which the wave's budget bounds.
 *
 * The wave's scalar registers, and the rows of slices that are not done, stay as they were until the loop is
 * left: when a lane is bad (see stretch.c), or memory is not the GPU's own, handlers execute all iterations
 * for the lanes that are left.
 */
#include <assert.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/emit.h"
#include "jit/loop.h"
#include "sem/memory/memop.h"

/* ---- what is from the iteration before ---- */

/* Makes a phi at the head: `first` in the first iteration. */
static llvm_value make_phi(struct emit *e, llvm_type type, llvm_value first)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->loop->head);
    llvm_value phi = e->l->BuildPhi(e->b, type, "");
    e->l->AddIncoming(phi, &first, &e->loop->enter, 1);
    emit_goto(e, here);
    return phi;
}

llvm_value loop_row(struct emit *e, unsigned row)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->loop->enter);
    llvm_value value = slice_load(e, &e->now, row);
    emit_goto(e, here);
    if (e->loop->row_written[row])
        value = e->loop->row[row] = make_phi(e, e->row, value);
    return value;
}

/* A value of the wave's, as it is before the loop. */
static llvm_value load_before(struct emit *e, llvm_type type, size_t offset)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->loop->before);
    llvm_value value = emit_load_whole(e, type, e->w, (int64_t)offset);
    emit_goto(e, here);
    return value;
}

static size_t place(unsigned reg)
{
    return offsetof(struct wave, s) + reg * 4;
}

llvm_value loop_scalar32(struct emit *e, unsigned reg)
{
    llvm_value value = load_before(e, e->i32, place(reg));
    if (e->loop->scalar_written[reg])
        value = e->loop->scalar[reg] = make_phi(e, e->i32, value);
    return value;
}

llvm_value loop_scalar64(struct emit *e, unsigned reg)
{
    if (e->loop->scalar_written[reg] || e->loop->scalar_written[reg + 1])
        return NULL;
    return load_before(e, e->i64, place(reg));
}

llvm_value loop_scc(struct emit *e)
{
    e->loop->scc = make_phi(e, e->i8, load_before(e, e->i8, offsetof(struct wave, scc)));
    return e->loop->scc;
}

/* A mask that the iteration before has made. */
static void use_mask(struct emit *e, unsigned reg)
{
    const struct llvm *l = e->l;
    if (!e->loop->mask_at_end[reg] || e->mask_written[reg] || e->dirty[reg] || e->dirty[reg + 1])
        return;
    llvm_value all = load_before(e, e->i64, place(reg));
    llvm_block here = l->GetInsertBlock(e->b);
    emit_goto(e, e->loop->enter);
    llvm_value bits = l->BuildTrunc(e->b, l->BuildLShr(e->b, all, e->now.shift, ""), e->bits, "");
    bits = l->BuildAnd(e->b, bits, e->now.exec, "");
    emit_goto(e, here);
    e->now.mask[reg] = e->loop->mask[reg] = make_phi(e, e->bits, bits);
    memset(e->mask_written + reg, true, 2);
}

/* Two rows as values of 64 bits, and a half of such as a row. */
static llvm_value join_rows(struct emit *e, llvm_value low, llvm_value high)
{
    llvm_value index[32];
    for (unsigned i = 0; i < 2 * e->slice; i++)
        index[i] = emit_i32(e, i / 2 + i % 2 * e->slice);
    return e->l->BuildShuffleVector(e->b, low, high, e->l->ConstVector(index, 2 * e->slice), "");
}

static llvm_value half_row(struct emit *e, llvm_value joined, unsigned half)
{
    llvm_value index[16];
    for (unsigned i = 0; i < e->slice; i++)
        index[i] = emit_i32(e, 2 * i + half);
    return e->l->BuildShuffleVector(e->b, joined, e->l->GetPoison(e->l->TypeOf(joined)),
                                    e->l->ConstVector(index, e->slice), "");
}

/* The phi of values of 64 bits that is the phis of two rows; NULL: an iteration leaves them by themselves. */
static llvm_value close_pair(struct emit *e, unsigned low)
{
    const struct llvm *l = e->l;
    const llvm_value *phi = e->loop->row + low;
    llvm_value wide = phi[0] && phi[1]
                          ? pairs_find(body_pairs(e->library), e->now.value[low], e->now.value[low + 1])
                          : NULL;
    if (!wide)
        return NULL;
    llvm_block latch = l->GetInsertBlock(e->b);
    llvm_type type = l->VectorType(e->i32, 2 * e->slice);
    wide = l->BuildBitCast(e->b, wide, type, "");
    emit_goto(e, e->loop->enter);
    llvm_value first = join_rows(e, l->GetIncomingValue(phi[0], 0), l->GetIncomingValue(phi[1], 0));
    emit_goto(e, e->loop->head);
    llvm_value joined = l->BuildPhi(e->b, type, "");
    l->AddIncoming(joined, &first, &e->loop->enter, 1);
    l->AddIncoming(joined, &wide, &latch, 1);
    emit_goto(e, latch);
    return joined;
}

/*
 * Rows that an iteration leaves as the halves of values of 64 bits become one phi of such, so that no
 * iteration takes them apart, or joins them.
 */
static void close_pairs(struct emit *e)
{
    llvm_value joined[WAVE_ROWS] = {NULL};
    for (unsigned row = 0; row + 1 < WAVE_ROWS; row++)
        joined[row] = row && joined[row - 1] ? NULL : close_pair(e, row);
    llvm_block latch = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->loop->head); /* behind all phis */
    for (unsigned row = 0; row < WAVE_ROWS; row++)
        for (unsigned half = 0; joined[row] && half < 2; half++)
            e->l->ReplaceAllUsesWith(e->loop->row[row + half], half_row(e, joined[row], half));
    emit_goto(e, latch);
}

/* What the phis are in the next iteration. */
static void close_phis(struct emit *e)
{
    const struct llvm *l = e->l;
    struct loop *loop = e->loop;
    llvm_value values[SREGS];
    for (unsigned reg = 0; reg < SREGS; reg++)
        values[reg] = loop->scalar[reg] ? scalars_get32(e, reg) : NULL;
    llvm_block latch = l->GetInsertBlock(e->b);
    for (unsigned reg = 0; reg < SREGS; reg++) {
        if (loop->scalar[reg])
            l->AddIncoming(loop->scalar[reg], &values[reg], &latch, 1);
        if (loop->mask[reg])
            l->AddIncoming(loop->mask[reg], &e->now.mask[reg], &latch, 1);
    }
    if (loop->scc)
        l->AddIncoming(loop->scc, &e->scc, &latch, 1);
    for (unsigned row = 0; row < WAVE_ROWS; row++)
        if (loop->row[row])
            l->AddIncoming(loop->row[row], &e->now.value[row], &latch, 1);
    close_pairs(e);
}

/* ---- one iteration ---- */

static void emit_iteration(struct emit *e)
{
    for (const struct xinst *x = e->loop->first; x < e->loop->last; x++) {
        struct loop_uses u;
        loop_uses(e, x, &u);
        counts_add(e, x);
        if (lift_does_nothing(x->op))
            continue;
        if (x->cls == XC_SALU) {
            scalars_emit(e, x);
        } else if (x->cls == XC_SMEM) {
            scalars_load(e, x);
            counts_add_bytes(e, x);
        } else {
            for (unsigned i = 0; i < u.reads; i++)
                if (u.read[i].mask)
                    use_mask(e, u.read[i].reg);
            stretch_add(e, x);
            counts_add_bytes(e, x);
        }
        if (u.writes && !u.write.mask)
            memset(e->mask_written + u.write.reg, false, u.write.count);
    }
    counts_add(e, e->loop->last);
    stretch_emit(e, &e->now);
}

/* Goes to where the slice is redone when one of these lanes is bad. */
static void leave_if_bad(struct emit *e, llvm_value bad)
{
    const struct llvm *l = e->l;
    if (!bad)
        return;
    llvm_block on = emit_block(e);
    bad = l->BuildAnd(e->b, bad, e->now.exec, "");
    llvm_value is_bad = l->BuildICmp(e->b, LLVM_NE, bad, l->ConstNull(e->bits), "");
    l->SetMetadata(l->BuildCondBr(e->b, is_bad, e->loop->redo, on), e->md_prof, e->unlikely);
    e->loop->redoes = true;
    emit_goto(e, on);
}

/* The lanes that have a NaN in a row or pair that iterations did not look at. */
static llvm_value late_nans(struct emit *e)
{
    const struct llvm *l = e->l;
    llvm_value bad = NULL;
    for (unsigned row = 0; row < WAVE_ROWS; row++) {
        const bool pair = e->loop->pair_checked_after[row];
        if (!pair && !e->loop->checked_after[row])
            continue;
        llvm_value nan = nans_in(e, pair ? e->now.value[row] : NULL, e->now.value[row + pair]);
        bad = bad ? l->BuildOr(e->b, bad, nan, "") : nan;
    }
    return bad ? l->BuildBitCast(e->b, bad, e->bits, "") : NULL;
}

/* ---- the loop ---- */

static llvm_value load_budget(struct emit *e)
{
    static_assert(sizeof(((struct wave *)0)->budget) == 4, "loaded as an i32");
    return emit_load(e, e->i32, e->w, offsetof(struct wave, budget));
}

/* How often the branch was executed: as often as it was taken, and once more when the loop was `left`. */
static llvm_value iterations(struct emit *e, llvm_value before, llvm_value after, llvm_value left)
{
    const struct llvm *l = e->l;
    llvm_value taken = l->BuildZExt(e->b, l->BuildSub(e->b, before, after, ""), e->i64, "");
    return l->BuildAdd(e->b, taken, l->BuildZExt(e->b, left, e->i64, ""), "");
}

/* The first lane of the last slice that has one of these. */
static llvm_value last_slice(struct emit *e, llvm_value lanes)
{
    const struct llvm *l = e->l;
    llvm_type types[] = {e->i64, e->i1};
    llvm_value arguments[] = {lanes, l->ConstNull(e->i1)};
    llvm_value zeros = l->BuildCall2(e->b, l->FunctionType(e->i64, types, 2, 0), e->ctlz, arguments, 2, "");
    llvm_value last = l->BuildSub(e->b, emit_i64(e, WAVE_LANES - 1), zeros, "");
    return l->BuildAnd(e->b, last, emit_i64(e, ~(uint64_t)(e->slice - 1)), "");
}

/* Handlers do what is left; `mask` are the bits of slices that are done. */
static void emit_redo(struct emit *e, llvm_value exec, llvm_value lanes, llvm_value budget,
                      const uint8_t *regs, unsigned masks, const llvm_value *mask)
{
    const struct llvm *l = e->l;
    const struct loop *loop = e->loop;
    emit_goto(e, loop->redo);
    if (!loop->redoes) {
        l->BuildUnreachable(e->b);
        return;
    }
    llvm_value arguments[] = {e->w, emit_instruction_at(e, loop->first), emit_instruction_at(e, loop->last),
                              lanes};
    llvm_value next = l->BuildCall2(e->b, e->redo_loop_type, e->redo_loop, arguments, 4, "");
    for (unsigned i = 0; i < masks; i++) {
        llvm_value bits = emit_load(e, e->i64, e->w, (int64_t)place(regs[i]));
        bits = l->BuildOr(e->b, l->BuildAnd(e->b, bits, lanes, ""), mask[i], "");
        emit_store(e, bits, e->w, (int64_t)place(regs[i]));
    }
    llvm_value left = l->BuildICmp(e->b, LLVM_NE, next, l->ConstNull(e->ptr), "");
    counts_store(e, exec, iterations(e, budget, load_budget(e), left));
    if (e->accesses)
        stretch_end_accesses(e);
    llvm_block stop = emit_block(e);
    l->BuildCondBr(e->b, left, e->blocks[loop->last + 1 - e->block->x], stop);
    emit_goto(e, stop);
    l->BuildRet(e->b, l->ConstNull(e->ptr));
}

static const struct xinst *first_access(const struct loop *loop)
{
    for (const struct xinst *x = loop->first; x < loop->last; x++)
        if (x->cls == XC_SMEM || x->isa->format == ISA_GLOBAL || x->isa->format == ISA_FLAT)
            return x;
    return NULL;
}

const struct xinst *loop_emit(struct emit *e, const struct xinst *first)
{
    const struct llvm *l = e->l;
    struct loop loop;
    if (!loop_find(e, first, &loop))
        return NULL;
    llvm_value exec = scalars_get64(e, SREG_EXEC), before = load_budget(e);
    const struct xinst *access = first_access(&loop);
    if (access) {
        stretch_begin_accesses(e, loop.first, loop.last);
        emit_access(e, access);
    }
    /* One slice at least, as the scalar instructions are executed without lanes too. */
    llvm_value some = l->BuildICmp(e->b, LLVM_NE, exec, emit_i64(e, 0), "");
    llvm_value turns = l->BuildSelect(e->b, some, exec, emit_i64(e, 1), "");
    llvm_value last = last_slice(e, turns);
    uint8_t regs[SREGS / 2];
    unsigned masks = 0;
    for (unsigned reg = 0; reg < SREGS; reg += 2)
        if (loop.mask_at_end[reg])
            regs[masks++] = (uint8_t)reg;
    llvm_value mask[SREGS / 2], after[SREGS / 2];

    llvm_block slices = emit_block(e), body = emit_block(e), next = emit_block(e), done = emit_block(e),
               leave = emit_block(e);
    loop.before = l->GetInsertBlock(e->b);
    loop.enter = emit_block(e);
    loop.head = emit_block(e);
    loop.redo = emit_block(e);
    e->accesses = access != NULL;
    e->loop = &loop;
    struct slice *s = &e->now;
    memset(s, 0, sizeof(*s));

    emit_goto(e, slices);
    s->shift = l->BuildPhi(e->b, e->i64, "");
    for (unsigned i = 0; i < masks; i++)
        mask[i] = l->BuildPhi(e->b, e->i64, "");
    s->exec = l->BuildTrunc(e->b, l->BuildLShr(e->b, exec, s->shift, ""), e->bits, "");
    llvm_value turn = l->BuildTrunc(e->b, l->BuildLShr(e->b, turns, s->shift, ""), e->bits, "");
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, turn, l->ConstNull(e->bits), ""), next, loop.enter);

    emit_goto(e, loop.enter);
    llvm_value rest = l->BuildAnd(e->b, exec, l->BuildShl(e->b, emit_i64(e, UINT64_MAX), s->shift, ""), "");
    if (access)
        emit_store(e, rest, e->w, offsetof(struct wave, stretch.lanes));
    llvm_value bytes = l->BuildShl(e->b, s->shift, emit_i64(e, 2), "");
    s->rows = l->BuildGEP2(e->b, e->i8, e->v, &bytes, 1, "");

    emit_goto(e, body);
    llvm_value budget = make_phi(e, e->i32, before);
    emit_iteration(e);
    leave_if_bad(e, s->bad);
    llvm_value taken = emit_condition(e, loop.last->op);
    llvm_value less = l->BuildSub(e->b, budget, emit_i32(e, 1), "");
    llvm_value again = l->BuildAnd(
        e->b, taken, l->BuildNot(e->b, l->BuildICmp(e->b, LLVM_SLT, less, emit_i32(e, 0), ""), ""), "");
    close_phis(e);
    llvm_block latch = l->GetInsertBlock(e->b);
    l->AddIncoming(budget, &less, &latch, 1);
    l->BuildCondBr(e->b, again, loop.head, leave);

    emit_goto(e, leave);
    leave_if_bad(e, late_nans(e));
    e->at = (size_t)(loop.last - e->block->x);
    stretch_store(e, s);
    for (unsigned i = 0; i < masks; i++)
        after[i] =
            l->BuildOr(e->b, mask[i],
                       l->BuildShl(e->b, l->BuildZExt(e->b, s->mask[regs[i]], e->i64, ""), s->shift, ""), "");
    llvm_block stored = l->GetInsertBlock(e->b);
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, s->shift, last, ""), done, next);

    emit_goto(e, next);
    llvm_block from[] = {slices, stored};
    llvm_value kept[SREGS / 2];
    for (unsigned i = 0; i < masks; i++) {
        kept[i] = l->BuildPhi(e->b, e->i64, "");
        llvm_value values[] = {mask[i], after[i]};
        l->AddIncoming(kept[i], values, from, 2);
    }
    llvm_value shift = l->BuildAdd(e->b, s->shift, emit_i64(e, e->slice), "");
    l->BuildBr(e->b, slices);
    llvm_block into[] = {loop.before, next};
    llvm_value shifts[] = {emit_i64(e, 0), shift};
    l->AddIncoming(s->shift, shifts, into, 2);
    for (unsigned i = 0; i < masks; i++) {
        llvm_value values[] = {emit_i64(e, 0), kept[i]};
        l->AddIncoming(mask[i], values, into, 2);
    }
    emit_goto(e, loop.before);
    l->BuildBr(e->b, slices);
    emit_goto(e, loop.enter);
    l->BuildBr(e->b, loop.head);
    emit_goto(e, loop.head);
    l->BuildBr(e->b, body);
    emit_redo(e, exec, rest, before, regs, masks, mask);
    e->loop = NULL;

    emit_goto(e, done);
    for (unsigned i = 0; i < masks; i++)
        scalars_set64(e, regs[i], after[i]);
    llvm_value end = l->BuildSelect(e->b, taken, less, budget, "");
    emit_store(e, end, e->w, offsetof(struct wave, budget));
    counts_store(e, exec, iterations(e, before, end, l->BuildNot(e->b, taken, "")));
    counts_clear(e);
    if (access)
        stretch_end_accesses(e);
    scalars_store(e);
    llvm_block yield = emit_block(e);
    l->BuildCondBr(e->b, taken, yield, e->blocks[loop.last + 1 - e->block->x]);
    emit_goto(e, yield);
    emit_yield(e, loop.first);
    stretch_clear(e);
    return loop.last;
}
