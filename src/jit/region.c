/* SPDX-License-Identifier: MIT */
/*
 * Regions: loops of several basic blocks, or with changes of EXEC, turned inside out as those of one block
 * are (loop.c).  For each slice of lanes, or some of them together, its blocks are emitted as they are, with
 * the slice's own part of EXEC and of other masks, and VGPRs in the host's registers.  A branch that goes by
 * EXEC goes by the slice's lanes: where a slice has none, it goes where the wave would without lanes,
 * whatever others do.
 *
 * That comes to what the wave would do when
 *  - what others do where a slice is not leaves its lanes as they are.  Masks: region_idle.c says what
 * becomes of them, and the slice looks whether it is what it has.
 *  - a slice does not look at scalars that others have written there: region_block.c.
 *  - all slices take the same way at other branches, which follow from scalars that do not come from lanes or
 *    from memory, and so are the same for all that know them.
 *
 * Nothing of the wave's changes before all slices are done, and it is known what the wave's registers become.
 * When something turns out otherwise, when a lane is bad (stretch.c) or memory is not the GPU's own, the
 * region is left as it was entered: its blocks are emitted once more for the wave as a whole, and executed in
 * that form until the wave's turn is over.  So they are when control comes to one from elsewhere.
 */
#include "jit/region.h"

#include <stdlib.h>

/* Where it is noted that the region did not do, in this turn of the wave. */
static llvm_value make_note(struct emit *e)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->entry);
    llvm_value note = e->l->BuildAlloca(e->b, e->i8, "");
    e->l->SetVolatile(e->l->BuildStore(e->b, e->l->ConstNull(e->i8), note), 1);
    emit_goto(e, here);
    return note;
}

static void begin_accesses(struct emit *e, struct region *r)
{
    if (!r->access)
        return;
    e->region = NULL; /* in it, nothing is said of single instructions */
    emit_access(e, r->access);
    e->region = r;
    emit_store(e, emit_instruction_at(e, &e->block->x[r->head]), e->w, offsetof(struct wave, stretch.first));
    emit_store(e, e->l->ConstNull(e->ptr), e->w,
               offsetof(struct wave, stretch.last)); /* to wherever it goes */
}

static void end_accesses(struct emit *e, struct region *r)
{
    if (!r->access)
        return;
    e->region = NULL;
    stretch_end_accesses(e);
    e->region = r;
}

/* A slice has gone through the loop once: it goes on when there is time. */
static void emit_latch(struct emit *e, llvm_block stay)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    region_begin_block(e, &r->head_form, r->latch);
    region_bail_if(e, lanes_some(e, emit_load(e, e->lanes, r->bad, 0)));
    llvm_value turns = l->BuildAdd(e->b, emit_load(e, e->i32, r->turns, 0), emit_i32(e, 1), "");
    emit_store(e, turns, r->turns, 0);
    if (r->nested) {
        llvm_value fuel = l->BuildSub(e->b, emit_load(e, e->i32, r->fuel, 0), emit_i32(e, 1), "");
        emit_store(e, fuel, r->fuel, 0);
    }
    l->BuildCondBr(e->b, region_stops(e, turns), stay, r->start[0]);
}

llvm_value region_next(struct emit *e, llvm_value exec, llvm_value begin)
{
    return e->l->BuildTrunc(e->b, e->l->BuildLShr(e->b, exec, begin, ""), region_bits_type(e), "");
}

static void emit_slices(struct emit *e, llvm_value exec, llvm_value budget)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    llvm_block slices = emit_block(e), next = emit_block(e), done = emit_block(e), stay = emit_block(e);
    llvm_value entered[LOOP_PARTS];
    r->enter = emit_block(e);
    r->latch = emit_block(e);
    for (unsigned i = 0; i < r->blocks; i++)
        r->start[i] = emit_block(e);
    for (unsigned i = 0; i < r->exits; i++)
        r->leave[i] = emit_block(e);
    region_begin_carrying(e, budget);

    emit_goto(e, slices);
    llvm_value begin = l->BuildPhi(e->b, e->i64, "");
    l->BuildCondBr(e->b, loop_is_some(e, region_next(e, exec, begin)), r->enter, next);
    emit_goto(e, r->enter);
    if (r->access) {
        llvm_value rest = l->BuildAnd(e->b, exec, l->BuildShl(e->b, emit_i64(e, UINT64_MAX), begin, ""), "");
        emit_store(e, rest, e->w, offsetof(struct wave, stretch.lanes));
    }
    for (unsigned i = 0; i < r->parts; i++) {
        struct slice *s = &r->part[i];
        s->shift = l->BuildAdd(e->b, begin, emit_i64(e, (uint64_t)i * e->slice), "");
        llvm_value bytes = l->BuildShl(e->b, s->shift, emit_i64(e, 2), "");
        s->rows = l->BuildGEP2(e->b, e->i8, e->v, &bytes, 1, "");
        entered[i] = lanes_take(e, exec, s->shift);
    }
    region_make_variables(e, entered, budget);

    for (unsigned i = 0; i < r->blocks; i++) {
        if (r->block[i].reached) {
            region_emit_block(e, i);
        } else {
            emit_goto(e, r->start[i]);
            l->BuildUnreachable(e->b);
        }
    }
    emit_latch(e, stay);
    region_begin_block(e, &r->head_form, stay);
    region_carry(e, -1, entered);
    l->BuildBr(e->b, next);
    for (unsigned i = 0; i < r->exits; i++) {
        region_begin_block(e, &r->exit_form, r->leave[i]);
        region_carry(e, (int)i, entered);
        l->BuildBr(e->b, next);
    }

    emit_goto(e, next);
    llvm_value shift = l->BuildAdd(e->b, begin, emit_i64(e, r->parts * e->slice), "");
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, shift, emit_i64(e, WAVE_LANES), ""), done, slices);
    llvm_value begins[] = {emit_i64(e, 0), shift};
    llvm_block from[] = {r->before, next};
    l->AddIncoming(begin, begins, from, 2);
    emit_goto(e, r->enter);
    l->BuildBr(e->b, r->start[0]);
    emit_goto(e, r->before);
    l->BuildBr(e->b, slices);
    emit_goto(e, done);
}

/* Emits the region; what is to be executed else begins in `other`. */
static void emit_region(struct emit *e, llvm_block other)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    llvm_value note = make_note(e), exec = emit_load_whole(e, e->i64, e->w, (int64_t)loop_place(SREG_EXEC));
    llvm_value noted = loop_is_some(e, emit_load_whole(e, e->i8, note, 0));
    llvm_value does = l->BuildAnd(e->b, loop_is_some(e, exec), l->BuildNot(e->b, noted, ""), "");
    r->before = emit_block(e);
    r->bail = emit_block(e);
    l->BuildCondBr(e->b, does, r->before, other);
    emit_goto(e, r->before);
    llvm_value budget = loop_budget(e);
    begin_accesses(e, r);
    emit_slices(e, exec, budget);
    end_accesses(e, r);
    region_settle(e, exec, budget);

    emit_goto(e, r->bail);
    l->SetVolatile(l->BuildStore(e->b, l->ConstInt(e->i8, 1, 0), note), 1);
    end_accesses(e, r);
    l->BuildBr(e->b, other);
}

void region_emit(struct emit *e, size_t head)
{
    if (e->counts || !e->flow || !e->live)
        return;
    struct region *r = calloc(1, sizeof(*r));
    if (!r)
        return;
    r->flow = e->flow;
    if (region_find(e, r, head)) {
        llvm_block other = emit_block(e);
        const size_t at = e->at;
        e->region = r;
        emit_region(e, other);
        e->region = NULL;
        e->at = at;
        stretch_clear(e);
        emit_goto(e, other);
        scalars_forget(e);
    }
    free(r);
}
