/* SPDX-License-Identifier: MIT */
/*
 * What slices of a region leave behind for those after them, and for the wave.
 *
 * The wave goes as far as the slice that goes farthest: by turns, and farther when that goes on at the head,
 * the wave having given way, than when it leaves in that turn.  What such slices know of scalars is what they
 * are.  Of masks, those of the others were without lanes meanwhile: what they become is in exit_idle and
 * head_idle.  Where that depends on whether there was a way between, it must come to the same.
 */
#include <string.h>

#include "jit/region.h"

enum slot {
    BEST,  /* twice the turns of who came farthest, and 1 more who goes on */
    MOST,  /* lanes of slices that came as far */
    WHERE, /* by which exit */
    LIMIT,
    FLOOR, /* how many turns there are at most and, when time is over, at least */
    MASK,  /* EXEC is one of them */
    SCALAR = MASK + REGION_MASKS,
    KNOWN = SCALAR + SREGS + 1, /* somebody knows it */
    SLOTS = KNOWN + SREGS + 1
};

static llvm_value get(struct emit *e, llvm_type type, unsigned slot)
{
    return emit_load_whole(e, type, e->region_left, (int64_t)slot * 8);
}

static void put(struct emit *e, unsigned slot, llvm_value value)
{
    emit_store_whole(e, value, e->region_left, (int64_t)slot * 8);
}

static llvm_value array(struct emit *e, unsigned count, unsigned alignment)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->entry);
    llvm_value all = e->l->BuildAlloca(e->b, e->l->ArrayType2(e->i64, count), "");
    e->l->SetAlignment(all, alignment);
    emit_goto(e, here);
    return all;
}

/* Of masks: somebody reads it behind the region, or at its head. */
static bool leaves_mask(struct emit *e, const struct region *r, unsigned mask)
{
    bool leaves = false;
    for (unsigned i = 0; i < r->exits; i++)
        leaves |= region_has_mask(e, &r->exit_form, r->exit[i], mask);
    return leaves;
}

static bool keeps_mask(struct emit *e, const struct region *r, unsigned mask)
{
    return region_has_mask(e, &r->head_form, r->head, mask);
}

/* The same of scalar registers and SCC that the region writes. */
static bool leaves_scalar(struct emit *e, const struct region *r, unsigned reg)
{
    const bool mask = reg == SREGS ? r->exit_form.scc_of_lanes : r->exit_form.mask[reg];
    bool leaves = false;
    for (unsigned i = 0; i < r->exits && r->scalar_written[reg] && !mask; i++)
        leaves |= live_scalar(e->live, r->exit[i], reg == SREGS ? MASK_SCC : reg);
    return leaves;
}

static bool keeps_scalar(struct emit *e, const struct region *r, unsigned reg)
{
    const bool mask = reg == SREGS ? r->head_form.scc_of_lanes : r->head_form.mask[reg];
    return r->scalar_written[reg] && !mask && live_scalar(e->live, r->head, reg == SREGS ? MASK_SCC : reg);
}

static llvm_value wave_mask(struct emit *e, unsigned mask)
{
    if (mask != REGION_SCC)
        return emit_load_whole(e, e->i64, e->w, (int64_t)loop_place(2 * mask));
    llvm_value scc = emit_load_whole(e, e->i8, e->w, offsetof(struct wave, scc));
    return e->l->BuildSExt(e->b, loop_is_some(e, scc), e->i64, "");
}

void region_begin_carrying(struct emit *e, llvm_value budget)
{
    const struct region *r = e->region;
    if (!e->region_left) {
        e->region_left = array(e, SLOTS, 8);
        e->region_rows = array(e, REGION_ROWS * sizeof(wave_row) / 8, 64);
    }
    put(e, BEST, emit_i32(e, UINT32_MAX));
    put(e, MOST, emit_i64(e, 0));
    put(e, WHERE, emit_i32(e, 0));
    put(e, LIMIT, e->l->BuildAdd(e->b, budget, emit_i32(e, 1), ""));
    put(e, FLOOR, emit_i32(e, 0));
    put(e, MASK + SREG_EXEC / 2, emit_i64(e, 0));
    for (unsigned m = 0; m < REGION_MASKS; m++)
        if (leaves_mask(e, r, m) || keeps_mask(e, r, m))
            put(e, MASK + m, wave_mask(e, m));
    for (unsigned reg = 0; reg <= SREGS; reg++)
        if (leaves_scalar(e, r, reg) || keeps_scalar(e, r, reg))
            put(e, KNOWN + reg, emit_i64(e, 0));
}

/* ---- a slice ---- */

static void carry_rows(struct emit *e, const llvm_value *entered)
{
    const struct llvm *l = e->l;
    const struct region *r = e->region;
    for (unsigned i = 0; i < r->parts; i++) {
        const struct slice *s = &r->part[i];
        llvm_value bytes = l->BuildShl(e->b, s->shift, emit_i64(e, 2), "");
        llvm_value rows = l->BuildGEP2(e->b, e->i8, e->region_rows, &bytes, 1, "");
        int64_t place = 0;
        for (unsigned row = 0; row < WAVE_ROWS; row++) {
            if (!r->row_left[row])
                continue;
            llvm_value value = l->BuildSelect(e->b, lanes_vector(e, entered[i]), region_row_now(e, i, row),
                                              slice_load(e, s, row), "");
            l->SetAlignment(l->BuildStore(e->b, value, emit_at(e, rows, place)), e->slice * 4);
            place += (int64_t)sizeof(wave_row);
        }
    }
}

/* Bits of the slices' lanes go to their place. */
static llvm_value put_bits(struct emit *e, llvm_value all, llvm_value bits)
{
    const struct llvm *l = e->l;
    llvm_value shift = e->region->part[0].shift,
               here = l->BuildZExt(e->b, l->ConstAllOnes(region_bits_type(e)), e->i64, "");
    llvm_value others = l->BuildAnd(e->b, all, l->BuildNot(e->b, l->BuildShl(e->b, here, shift, ""), ""), "");
    bits = l->BuildShl(e->b, l->BuildZExt(e->b, bits, e->i64, ""), shift, "");
    return l->BuildOr(e->b, others, bits, "");
}

static void carry_masks(struct emit *e)
{
    struct region *r = e->region;
    for (unsigned m = 0; m < REGION_MASKS; m++) {
        if (m != SREG_EXEC / 2 && !leaves_mask(e, r, m) && !keeps_mask(e, r, m))
            continue;
        if (m == REGION_SCC && !r->now.scc_of_lanes)
            continue;
        llvm_value bits = m == REGION_SCC ? region_mask_now(e, m) : region_bits_of(e, 2 * m);
        put(e, MASK + m, put_bits(e, get(e, e->i64, MASK + m), bits));
    }
}

/* Of slices that came farthest: `more`, farther than any before; `as_far`, at least. */
static void carry_scalars(struct emit *e, bool exits, llvm_value more, llvm_value as_far)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    for (unsigned reg = 0; reg <= SREGS; reg++) {
        const bool leaves = leaves_scalar(e, r, reg), keeps = keeps_scalar(e, r, reg);
        if (!leaves && !keeps)
            continue;
        llvm_value known = l->BuildSelect(e->b, more, emit_i64(e, 0), get(e, e->i64, KNOWN + reg), "");
        if (exits ? leaves : keeps) {
            llvm_value poison = region_poison_now(e, reg), take = as_far;
            if (poison)
                take = l->BuildAnd(e->b, take, l->BuildNot(e->b, poison, ""), "");
            llvm_type type = reg == SREGS ? e->i8 : e->i32;
            llvm_value value = reg == SREGS ? scalars_get_scc(e) : scalars_get32(e, reg);
            put(e, SCALAR + reg, l->BuildSelect(e->b, take, value, get(e, type, SCALAR + reg), ""));
            known = l->BuildSelect(e->b, take, emit_i64(e, 1), known, "");
        }
        put(e, KNOWN + reg, known);
    }
}

/* Not before all of the region is emitted, when it is known of which rows nobody looked. */
static void look_for_nans(struct emit *e, const llvm_value *entered)
{
    llvm_value bad = emit_load(e, e->lanes, e->region->bad, 0);
    for (unsigned i = 0; i < e->region->parts; i++) {
        llvm_value late = region_late_nans(e, i);
        if (late)
            bad = e->l->BuildOr(e->b, bad, e->l->BuildAnd(e->b, late, entered[i], ""), "");
    }
    region_bail_if(e, lanes_some(e, bad));
}

void region_carry(struct emit *e, int exit, const llvm_value *entered)
{
    const struct llvm *l = e->l;
    struct region *r = e->region;
    look_for_nans(e, entered);
    llvm_value turns = emit_load(e, e->i32, r->turns, 0);
    llvm_value rank = l->BuildShl(e->b, turns, emit_i32(e, 1), "");
    if (exit < 0)
        rank = l->BuildOr(e->b, rank, emit_i32(e, 1), "");
    llvm_value best = get(e, e->i32, BEST);
    llvm_value more = l->BuildICmp(e->b, LLVM_SGT, rank, best, ""),
               as_far = l->BuildICmp(e->b, LLVM_SGE, rank, best, "");
    put(e, BEST, l->BuildSelect(e->b, more, rank, best, ""));
    llvm_value most = l->BuildSelect(e->b, more, emit_i64(e, 0), get(e, e->i64, MOST), "");
    put(e, MOST, put_bits(e, most, l->BuildSExt(e->b, as_far, region_bits_type(e), "")));
    if (exit >= 0) {
        put(e, WHERE, l->BuildSelect(e->b, as_far, emit_i32(e, (uint32_t)exit), get(e, e->i32, WHERE), ""));
        llvm_value after = l->BuildAdd(e->b, turns, emit_i32(e, 1), ""), floor = get(e, e->i32, FLOOR);
        llvm_value later = l->BuildICmp(e->b, LLVM_SGT, after, floor, "");
        put(e, FLOOR, l->BuildSelect(e->b, later, after, floor, ""));
    } else {
        put(e, LIMIT, turns); /* the others go on as far */
        put(e, FLOOR, turns);
    }
    carry_scalars(e, exit >= 0, more, as_far);
    carry_masks(e);
    carry_rows(e, entered);
}

llvm_value region_stops(struct emit *e, llvm_value turns)
{
    const struct llvm *l = e->l;
    llvm_value stops = l->BuildICmp(e->b, LLVM_SGE, turns, get(e, e->i32, LIMIT), "");
    if (!e->region->nested)
        return stops;
    llvm_value over =
        l->BuildICmp(e->b, LLVM_SLT, emit_load(e, e->i32, e->region->fuel, 0), emit_i32(e, 0), "");
    over = l->BuildAnd(e->b, over, l->BuildICmp(e->b, LLVM_SGE, turns, get(e, e->i32, FLOOR), ""), "");
    return l->BuildOr(e->b, stops, over, "");
}

/* ---- the wave ---- */

/* What masks are: of lanes that did not come as far, `idle` says what they became, or were. */
static void settle_masks(struct emit *e, const struct region_idle *idle, bool exits, llvm_value *mask,
                         llvm_value *wrong)
{
    const struct llvm *l = e->l;
    const struct region *r = e->region;
    llvm_value rest = l->BuildNot(e->b, get(e, e->i64, MOST), "");
    for (unsigned m = 0; m < REGION_MASKS; m++) {
        if (!(exits ? leaves_mask(e, r, m) : keeps_mask(e, r, m)))
            continue;
        const unsigned none = 1u << LOOP_IDLE_NONE, all = 1u << LOOP_IDLE_ALL;
        mask[m] = get(e, e->i64, MASK + m);
        if (exits && idle->set[m] == none)
            mask[m] = l->BuildAnd(e->b, mask[m], l->BuildNot(e->b, rest, ""), "");
        else if (exits && idle->set[m] == all)
            mask[m] = l->BuildOr(e->b, mask[m], rest, "");
        else if (idle->set[m] & (none | all)) {
            llvm_value other = idle->set[m] & none ? mask[m] : l->BuildNot(e->b, mask[m], "");
            *wrong = l->BuildOr(e->b, *wrong, l->BuildAnd(e->b, other, rest, ""), "");
        }
    }
}

static void store_masks(struct emit *e, const llvm_value *mask)
{
    const struct llvm *l = e->l;
    for (unsigned m = 0; m < REGION_SCC; m++)
        if (mask[m])
            emit_store(e, mask[m], e->w, (int64_t)loop_place(2 * m));
    if (mask[REGION_SCC])
        emit_store(e, l->BuildZExt(e->b, loop_is_some(e, mask[REGION_SCC]), e->i8, ""), e->w,
                   offsetof(struct wave, scc));
    emit_store(e, get(e, e->i64, MASK + SREG_EXEC / 2), e->w, (int64_t)loop_place(SREG_EXEC));
}

/* Looks whether all is known, and then stores what is scalar. */
static void settle_scalars(struct emit *e, bool exits, llvm_block done)
{
    const struct llvm *l = e->l;
    const struct region *r = e->region;
    llvm_value mask[REGION_MASKS] = {NULL}, wrong = emit_i64(e, 0);
    settle_masks(e, exits ? &r->exit_idle : &r->head_idle, exits, mask, &wrong);
    wrong = loop_is_some(e, wrong);
    for (unsigned reg = 0; reg <= SREGS; reg++)
        if (exits ? leaves_scalar(e, r, reg) : keeps_scalar(e, r, reg))
            wrong =
                l->BuildOr(e->b, wrong,
                           l->BuildICmp(e->b, LLVM_EQ, get(e, e->i64, KNOWN + reg), emit_i64(e, 0), ""), "");
    region_bail_if(e, wrong);
    store_masks(e, mask);
    for (unsigned reg = 0; reg <= SREGS; reg++) {
        if (!(exits ? leaves_scalar(e, r, reg) : keeps_scalar(e, r, reg)))
            continue;
        llvm_value value = get(e, reg == SREGS ? e->i8 : e->i32, SCALAR + reg);
        emit_store(e, value, e->w, (int64_t)(reg == SREGS ? offsetof(struct wave, scc) : loop_place(reg)));
    }
    l->BuildBr(e->b, done);
}

/* Rows of slices that have had lanes. */
static void copy_rows(struct emit *e, llvm_value exec)
{
    const struct llvm *l = e->l;
    const struct region *r = e->region;
    llvm_block before = l->GetInsertBlock(e->b), head = emit_block(e), body = emit_block(e),
               next = emit_block(e), done = emit_block(e);
    l->BuildBr(e->b, head);
    emit_goto(e, head);
    llvm_value begin = l->BuildPhi(e->b, e->i64, "");
    l->BuildCondBr(e->b, loop_is_some(e, region_next(e, exec, begin)), body, next);
    emit_goto(e, body);
    llvm_value bytes = l->BuildShl(e->b, begin, emit_i64(e, 2), "");
    llvm_value from = l->BuildGEP2(e->b, e->i8, e->region_rows, &bytes, 1, ""),
               to = l->BuildGEP2(e->b, e->i8, e->v, &bytes, 1, "");
    int64_t place = 0;
    for (unsigned row = 0; row < WAVE_ROWS; row++) {
        for (unsigned i = 0; i < r->parts && r->row_left[row]; i++) {
            const int64_t lanes = 4 * (int64_t)(i * e->slice);
            llvm_value value = emit_load(e, e->row, from, place + lanes);
            l->SetAlignment(value, e->slice * 4);
            llvm_value at = emit_at(e, to, (int64_t)(row * sizeof(wave_row)) + lanes);
            l->SetAlignment(l->BuildStore(e->b, value, at), e->slice * 4);
        }
        place += r->row_left[row] ? (int64_t)sizeof(wave_row) : 0;
    }
    l->BuildBr(e->b, next);
    emit_goto(e, next);
    llvm_value shift = l->BuildAdd(e->b, begin, emit_i64(e, r->parts * e->slice), "");
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, shift, emit_i64(e, WAVE_LANES), ""), done, head);
    llvm_value begins[] = {emit_i64(e, 0), shift};
    llvm_block from_blocks[] = {before, next};
    l->AddIncoming(begin, begins, from_blocks, 2);
    emit_goto(e, done);
}

void region_settle(struct emit *e, llvm_value exec, llvm_value budget)
{
    const struct llvm *l = e->l;
    const struct region *r = e->region;
    llvm_block leaves = emit_block(e), keeps = emit_block(e), copy = emit_block(e), gives_way = emit_block(e),
               on = emit_block(e);
    llvm_value best = get(e, e->i32, BEST);
    llvm_value goes_on = loop_is_some(e, l->BuildAnd(e->b, best, emit_i32(e, 1), ""));
    l->BuildCondBr(e->b, goes_on, keeps, leaves);
    emit_goto(e, leaves);
    settle_scalars(e, true, copy);
    emit_goto(e, keeps);
    settle_scalars(e, false, copy);

    emit_goto(e, copy);
    llvm_value left = l->BuildSub(e->b, budget, l->BuildLShr(e->b, best, emit_i32(e, 1), ""), "");
    emit_store(e, left, e->w, offsetof(struct wave, budget));
    copy_rows(e, exec);
    l->BuildCondBr(e->b, goes_on, gives_way, on);
    emit_goto(e, gives_way);
    emit_yield(e, &e->block->x[r->head]);
    emit_goto(e, on);
    llvm_value where = l->BuildSwitch(e->b, get(e, e->i32, WHERE), e->blocks[r->exit[0]], r->exits);
    for (unsigned i = 1; i < r->exits; i++)
        l->AddCase(where, emit_i32(e, i), e->blocks[r->exit[i]]);
}
