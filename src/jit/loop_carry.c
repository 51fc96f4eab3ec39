/* SPDX-License-Identifier: MIT */
/* What slices of a loop leave behind for those after them, and for the wave; see loop.c. */
#include <assert.h>

#include "jit/emit.h"
#include "jit/loop.h"

size_t loop_place(unsigned reg)
{
    return offsetof(struct wave, s) + reg * 4;
}

llvm_value loop_budget(struct emit *e)
{
    static_assert(sizeof(((struct wave *)0)->budget) == 4, "loaded as an i32");
    return emit_load(e, e->i32, e->w, offsetof(struct wave, budget));
}

llvm_value loop_iterations(struct emit *e, llvm_value before, llvm_value after, llvm_value left)
{
    const struct llvm *l = e->l;
    llvm_value taken = l->BuildZExt(e->b, l->BuildSub(e->b, before, after, ""), e->i64, "");
    return l->BuildAdd(e->b, taken, l->BuildZExt(e->b, left, e->i64, ""), "");
}

llvm_value loop_is_some(struct emit *e, llvm_value bits)
{
    return e->l->BuildICmp(e->b, LLVM_NE, bits, e->l->ConstNull(e->l->TypeOf(bits)), "");
}

/*
 * What slices leave behind: masks, in the place of their registers, and of a loop that lanes leave one by one
 * scalars too, of the slice that had most iterations; which slices had as many; the budget as those have left
 * it, had the branch been taken; which lanes have not left the loop; how many lanes all iterations had.
 */
enum carried { MOST = SREGS / 2, LEAST_BUDGET, LEFT, ACTIVE, CARRIED };

static llvm_value carried(struct emit *e, llvm_type type, unsigned what)
{
    return emit_load_whole(e, type, e->carried, (int64_t)what * 8);
}

/* In one piece: where LLVM stores the half that differs, the host waits when all of it is loaded. */
static void carry(struct emit *e, unsigned what, llvm_value value)
{
    emit_store_whole(e, value, e->carried, (int64_t)what * 8);
}

/* What the slices that are done together have of a mask. */
static void carry_lanes(struct emit *e, unsigned what, const llvm_value lanes[LOOP_PARTS])
{
    llvm_value all = carried(e, e->i64, what);
    for (unsigned i = 0; i < e->loop->parts; i++)
        all = lanes_put(e, all, lanes[i], e->loop->part[i].shift);
    carry(e, what, all);
}

void loop_begin_carrying(struct emit *e, const struct loop *loop, llvm_value budget)
{
    const struct llvm *l = e->l;
    if (!e->carried) {
        llvm_block here = l->GetInsertBlock(e->b);
        emit_goto(e, e->entry);
        e->carried = l->BuildAlloca(e->b, l->ArrayType2(e->i64, CARRIED), "");
        emit_goto(e, here);
    }
    for (unsigned reg = 0; reg < SREGS; reg += 2)
        if (loop->mask_at_end[reg])
            carry(e, reg / 2,
                  loop->idle[reg] == LOOP_IDLE_KEPT
                      ? emit_load_whole(e, e->i64, e->w, (int64_t)loop_place(reg))
                      : emit_i64(e, loop->idle[reg] == LOOP_IDLE_ALL ? ~UINT64_C(0) : 0));
    if (!loop->leave)
        return;
    carry(e, MOST, emit_i64(e, 0));
    carry(e, LEAST_BUDGET, budget);
    carry(e, LEFT, emit_i64(e, 0));
    carry(e, ACTIVE, emit_i64(e, 0));
}

/* The slice had more iterations than any before it: what is scalar is as it left it. */
static void carry_scalars(struct emit *e, llvm_value budget)
{
    const struct llvm *l = e->l;
    llvm_block most = emit_block(e), on = emit_block(e);
    llvm_value more = l->BuildICmp(e->b, LLVM_SLT, budget, carried(e, e->i32, LEAST_BUDGET), "");
    llvm_value values[SREGS];
    for (unsigned reg = 0; reg < SREGS; reg++)
        values[reg] = e->loop->scalar_left[reg] ? scalars_get32(e, reg) : NULL;
    l->BuildCondBr(e->b, more, most, on);
    emit_goto(e, most);
    carry(e, LEAST_BUDGET, budget);
    carry(e, MOST, emit_i64(e, 0));
    for (unsigned reg = 0; reg < SREGS; reg++)
        if (values[reg])
            emit_store(e, values[reg], e->carried, (int64_t)reg * 4);
    l->BuildBr(e->b, on);
    emit_goto(e, on);
}

void loop_end_slices(struct emit *e, llvm_value budget, const llvm_value *left, llvm_value active)
{
    const struct llvm *l = e->l;
    const struct slice *part = e->loop->part;
    llvm_value lanes[LOOP_PARTS];
    for (unsigned reg = 0; reg < SREGS; reg += 2) {
        if (!e->loop->mask_at_end[reg])
            continue;
        for (unsigned i = 0; i < e->loop->parts; i++)
            lanes[i] = part[i].mask[reg];
        carry_lanes(e, reg / 2, lanes);
    }
    if (!e->loop->leave)
        return;
    carry_scalars(e, budget);
    llvm_value most = l->BuildICmp(e->b, LLVM_EQ, budget, carried(e, e->i32, LEAST_BUDGET), "");
    most = l->BuildSelect(e->b, most, l->ConstAllOnes(e->lanes), l->ConstNull(e->lanes), "");
    for (unsigned i = 0; i < e->loop->parts; i++)
        lanes[i] = most;
    carry_lanes(e, MOST, lanes);
    carry_lanes(e, LEFT, left);
    if (e->counts)
        carry(e, ACTIVE, l->BuildAdd(e->b, carried(e, e->i64, ACTIVE), active, ""));
}

/* A mask of all lanes.  Slices that had fewer iterations than the `most` would have had the others without
 * lanes. */
static llvm_value whole_mask(struct emit *e, unsigned reg, llvm_value most)
{
    const struct llvm *l = e->l;
    llvm_value mask = carried(e, e->i64, reg / 2);
    if (!e->loop->leave || e->loop->idle[reg] == LOOP_IDLE_KEPT)
        return mask;
    return e->loop->idle[reg] == LOOP_IDLE_NONE ? l->BuildAnd(e->b, mask, most, "")
                                                : l->BuildOr(e->b, mask, l->BuildNot(e->b, most, ""), "");
}

void loop_settle_masks(struct emit *e)
{
    llvm_value most = e->loop->leave ? carried(e, e->i64, MOST) : NULL;
    for (unsigned reg = 0; reg < SREGS; reg += 2)
        if (e->loop->mask_at_end[reg])
            scalars_set64(e, reg, whole_mask(e, reg, most));
}

void loop_settle_left(struct emit *e, llvm_value *taken, llvm_value *less, llvm_value *budget)
{
    const struct llvm *l = e->l;
    for (unsigned reg = 0; reg < SREGS; reg++)
        if (e->loop->scalar_left[reg])
            scalars_set32(e, reg, emit_load_whole(e, e->i32, e->carried, (int64_t)reg * 4));
    llvm_value left = carried(e, e->i64, LEFT);
    scalars_set64(e, SREG_EXEC, left);
    *taken = loop_is_some(e, left);
    scalars_set_scc(e, l->BuildZExt(e->b, *taken, e->i8, ""));
    *less = carried(e, e->i32, LEAST_BUDGET);
    *budget = l->BuildAdd(e->b, *less, emit_i32(e, 1), "");
}

void loop_count(struct emit *e, llvm_value exec, llvm_value times)
{
    if (e->counts)
        counts_store(e,
                     e->loop->leave ? carried(e, e->i64, ACTIVE)
                                    : e->l->BuildMul(e->b, counts_active(e, exec), times, ""),
                     times);
}

/* The lanes that are left in a loop that they leave one by one: returns what comes next. */
static llvm_value redo_leaving(struct emit *e, llvm_value lanes, llvm_value budget)
{
    const struct llvm *l = e->l;
    llvm_value left = carried(e, e->i64, LEFT);
    llvm_value done = loop_iterations(e, budget, carried(e, e->i32, LEAST_BUDGET), l->ConstNull(e->i1));
    /* Others that have not left go on until the wave gives way. */
    llvm_value least = l->BuildSelect(e->b, loop_is_some(e, left), emit_i64(e, UINT64_MAX), done, "");
    llvm_value arguments[] = {
        e->w,  emit_instruction_at(e, e->loop->first), emit_instruction_at(e, e->loop->last), lanes,
        least, emit_at(e, e->carried, ACTIVE * 8)};
    llvm_value next = l->BuildCall2(e->b, e->redo_leaving_type, e->redo_leaving, arguments, 6, "");
    const int64_t place_of_exec = (int64_t)loop_place(SREG_EXEC);
    llvm_value exec = l->BuildOr(e->b, emit_load(e, e->i64, e->w, place_of_exec), left, "");
    emit_store(e, exec, e->w, place_of_exec);
    emit_store(e, l->BuildZExt(e->b, loop_is_some(e, exec), e->i8, ""), e->w, offsetof(struct wave, scc));
    return next;
}

void loop_emit_redo(struct emit *e, llvm_value exec, llvm_value lanes, llvm_value budget)
{
    const struct llvm *l = e->l;
    const struct loop *loop = e->loop;
    emit_goto(e, loop->redo);
    if (!loop->redoes) {
        l->BuildUnreachable(e->b);
        return;
    }
    llvm_value next;
    if (loop->leave) {
        next = redo_leaving(e, lanes, budget);
    } else {
        llvm_value arguments[] = {e->w, emit_instruction_at(e, loop->first),
                                  emit_instruction_at(e, loop->last), lanes};
        next = l->BuildCall2(e->b, e->redo_loop_type, e->redo_loop, arguments, 4, "");
    }
    llvm_value left = loop_is_some(e, next), times = loop_iterations(e, budget, loop_budget(e), left),
               most = NULL;
    if (loop->leave) {
        llvm_value done = loop_iterations(e, budget, carried(e, e->i32, LEAST_BUDGET), l->ConstNull(e->i1));
        most = l->BuildSelect(e->b, l->BuildICmp(e->b, LLVM_EQ, done, times, ""), carried(e, e->i64, MOST),
                              emit_i64(e, 0), "");
    }
    llvm_value here = l->BuildShl(e->b, emit_i64(e, UINT64_MAX), loop->part[0].shift, "");
    for (unsigned reg = 0; reg < SREGS; reg += 2) {
        if (!loop->mask_at_end[reg])
            continue;
        llvm_value bits = l->BuildAnd(e->b, emit_load(e, e->i64, e->w, (int64_t)loop_place(reg)), here, "");
        llvm_value others = l->BuildAnd(e->b, whole_mask(e, reg, most), l->BuildNot(e->b, here, ""), "");
        emit_store(e, l->BuildOr(e->b, bits, others, ""), e->w, (int64_t)loop_place(reg));
    }
    loop_count(e, exec, times);
    if (e->accesses)
        stretch_end_accesses(e);
    llvm_block stop = emit_block(e);
    l->BuildCondBr(e->b, left, e->blocks[loop->last + 1 - e->block->x], stop);
    emit_goto(e, stop);
    l->BuildRet(e->b, l->ConstNull(e->ptr));
}
