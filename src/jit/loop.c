/* SPDX-License-Identifier: MIT */
/*
 * Loops turned inside out.  An innermost loop of one basic block, whose lane-wise instructions make no store,
 * and whose end follows from scalars or from which lanes have left it, is emitted as
 *
 *   for each slice of lanes, or some of them together
 *       load the VGPRs that it reads
 *       do the scalar and then the lane-wise instructions while its branch is taken
 *       store the VGPRs that it has written
 *
 * so that VGPRs stay in the host's registers from one iteration to the next.  The wave's budget bounds the
 * iterations.
 *
 * Of a loop that ends when all lanes have left EXEC, slices have iterations of their own; the wave has as
 * many as the slice with most.  Those with fewer would have had the others without lanes: nothing of theirs
 * changes then but masks, of which it is known what they become (loop_find.c).  Lanes that have left keep
 * their VGPRs.
 *
 * The wave's scalar registers, and the rows of slices that are not done, stay as they were until the loop is
 * left: when a lane is bad (see stretch.c), or memory is not the GPU's own, handlers execute all iterations
 * for the lanes that are left.
 */
#include <assert.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/constants.h"
#include "jit/emit.h"
#include "jit/loop.h"
#include "sem/memory/memop.h"

/* ---- what is from the iteration before ---- */

llvm_value loop_make_phi(struct emit *e, llvm_type type, llvm_value first)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->loop->head);
    llvm_value phi = e->l->BuildPhi(e->b, type, "");
    e->l->AddIncoming(phi, &first, &e->loop->enter, 1);
    emit_goto(e, here);
    return phi;
}

/* What a row is likely to be, of which it is looked whether it is before the loop. */
static llvm_value guess_row(struct emit *e, const struct slice *s, uint32_t constant, llvm_value loaded)
{
    const struct llvm *l = e->l;
    struct loop *loop = e->loop;
    llvm_value guess = slice_constant(e, constant);
    llvm_value doubt = lanes_of(e, l->BuildICmp(e->b, LLVM_NE, loaded, guess, ""));
    doubt = l->BuildAnd(e->b, doubt, loop->entered[s - loop->part], "");
    loop->doubt = loop->doubt ? l->BuildOr(e->b, loop->doubt, doubt, "") : doubt;
    return guess;
}

llvm_value loop_row(struct emit *e, struct slice *s, unsigned row)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    const bool written = e->loop->row_written[row];
    emit_goto(e, e->loop->enter);
    llvm_value value = slice_load(e, s, row);
    const size_t at = (size_t)(e->loop->first - e->block->x);
    uint32_t constant;
    if (!written && constants_likely(e->constants, at, row, &constant))
        value = guess_row(e, s, constant, value);
    emit_goto(e, here);
    if (written)
        value = s->row_phi[row] = loop_make_phi(e, e->row, value);
    return value;
}

llvm_value loop_load_in(struct emit *e, llvm_block block, llvm_type type, size_t offset)
{
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, block);
    llvm_value value = emit_load_whole(e, type, e->w, (int64_t)offset);
    emit_goto(e, here);
    return value;
}

/* A value of the wave's, as it is before the loop. */
static llvm_value load_before(struct emit *e, llvm_type type, size_t offset)
{
    return loop_load_in(e, e->loop->before, type, offset);
}

llvm_value loop_scalar32(struct emit *e, unsigned reg)
{
    llvm_value value = load_before(e, e->i32, loop_place(reg));
    if (e->loop->scalar_written[reg])
        value = e->loop->scalar[reg] = loop_make_phi(e, e->i32, value);
    return value;
}

llvm_value loop_scalar64(struct emit *e, unsigned reg)
{
    if (e->loop->scalar_written[reg] || e->loop->scalar_written[reg + 1])
        return NULL;
    return load_before(e, e->i64, loop_place(reg));
}

llvm_value loop_scc(struct emit *e)
{
    e->loop->scc = loop_make_phi(e, e->i8, load_before(e, e->i8, offsetof(struct wave, scc)));
    return e->loop->scc;
}

/* A mask that the iteration before has made. */
static void use_mask(struct emit *e, unsigned reg)
{
    const struct llvm *l = e->l;
    if (!e->loop->mask_at_end[reg] || e->mask_written[reg] || e->dirty[reg] || e->dirty[reg + 1])
        return;
    llvm_value all = load_before(e, e->i64, loop_place(reg));
    for (struct slice *s = e->loop->part; s < e->loop->part + e->loop->parts; s++) {
        llvm_block here = l->GetInsertBlock(e->b);
        emit_goto(e, e->loop->enter);
        llvm_value lanes = lanes_take(e, all, s->shift);
        emit_goto(e, here);
        s->mask[reg] = s->mask_phi[reg] = loop_make_phi(e, e->lanes, lanes);
    }
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

void loop_join(struct emit *e, unsigned row, const llvm_value rows[2])
{
    struct pairs *pairs = body_pairs(e->library);
    if (e->loop->row_written[row] || e->loop->row_written[row + 1] || pairs_find(pairs, rows[0], rows[1]))
        return;
    llvm_block here = e->l->GetInsertBlock(e->b);
    emit_goto(e, e->loop->enter);
    llvm_value wide = join_rows(e, rows[0], rows[1]);
    emit_goto(e, here);
    pairs_note(pairs, rows[0], wide, 0);
    pairs_note(pairs, rows[1], wide, 1);
}

/* The phi of values of 64 bits that is the phis of two rows; NULL: an iteration leaves them by themselves. */
static llvm_value close_pair(struct emit *e, const struct slice *s, unsigned low)
{
    const struct llvm *l = e->l;
    const llvm_value *phi = s->row_phi + low;
    llvm_value wide =
        phi[0] && phi[1] ? pairs_find(body_pairs(e->library), s->value[low], s->value[low + 1]) : NULL;
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
    struct loop *loop = e->loop;
    llvm_value joined[LOOP_PARTS][WAVE_ROWS] = {{NULL}};
    for (unsigned i = 0; i < loop->parts; i++)
        for (unsigned row = 0; row + 1 < WAVE_ROWS; row++)
            joined[i][row] = row && joined[i][row - 1] ? NULL : close_pair(e, &loop->part[i], row);
    llvm_block latch = e->l->GetInsertBlock(e->b);
    emit_goto(e, loop->head); /* behind all phis */
    for (unsigned i = 0; i < loop->parts; i++)
        for (unsigned row = 0; row < WAVE_ROWS; row++)
            for (unsigned half = 0; joined[i][row] && half < 2; half++)
                e->l->ReplaceAllUsesWith(loop->part[i].row_phi[row + half],
                                         half_row(e, joined[i][row], half));
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
    for (unsigned reg = 0; reg < SREGS; reg++)
        if (loop->scalar[reg])
            l->AddIncoming(loop->scalar[reg], &values[reg], &latch, 1);
    if (loop->scc)
        l->AddIncoming(loop->scc, &e->scc, &latch, 1);
    for (struct slice *s = loop->part; s < loop->part + loop->parts; s++) {
        for (unsigned reg = 0; reg < SREGS; reg++)
            if (s->mask_phi[reg])
                l->AddIncoming(s->mask_phi[reg], &s->mask[reg], &latch, 1);
        for (unsigned row = 0; row < WAVE_ROWS; row++)
            if (s->row_phi[row])
                l->AddIncoming(s->row_phi[row], &s->value[row], &latch, 1);
    }
    if (loop->even)
        loop_even_close(e);
    close_pairs(e);
}

/* ---- one iteration ---- */

/* Goes to where the slices are redone if some bit of `wrong` is set. */
static void leave_if(struct emit *e, llvm_value wrong)
{
    const struct llvm *l = e->l;
    llvm_block on = emit_block(e);
    l->SetMetadata(l->BuildCondBr(e->b, loop_is_some(e, wrong), e->loop->redo, on), e->md_prof, e->unlikely);
    e->loop->redoes = true;
    emit_goto(e, on);
}

/* And if an active lane is bad, as `bad` says of each slice. */
static void leave_if_bad(struct emit *e, llvm_value bad_of(struct emit *e, const struct slice *s))
{
    const struct llvm *l = e->l;
    llvm_value bad = NULL;
    for (struct slice *s = e->loop->part; s < e->loop->part + e->loop->parts; s++) {
        llvm_value one = bad_of(e, s);
        if (one)
            one = l->BuildAnd(e->b, one, s->exec, "");
        bad = bad && one ? l->BuildOr(e->b, bad, one, "") : one ? one : bad;
    }
    if (bad)
        leave_if(e, lanes_bits(e, bad));
}

static void emit_iteration(struct emit *e)
{
    for (const struct xinst *x = e->loop->first; x < e->loop->last; x++) {
        struct loop_uses u;
        loop_uses(e, e->loop, x, &u);
        counts_add(e, x);
        if (lift_does_nothing(x->op))
            continue;
        for (unsigned i = 0; i < u.reads; i++)
            if (u.read[i].mask)
                use_mask(e, u.read[i].reg);
        if (x == e->loop->leave)
            continue;
        if (u.logic) {
            masks_take(e, x);
        } else if (x->cls == XC_SALU) {
            scalars_emit(e, x);
        } else if (x->cls == XC_SMEM) {
            scalars_load(e, x);
            counts_add_bytes(e, x);
        } else {
            stretch_add(e, x);
            counts_add_bytes(e, x);
        }
        if (u.writes && !u.write.mask) {
            memset(e->mask_written + u.write.reg, false, u.write.count);
            affine_forget_masks(&e->affine, u.write.reg, u.write.count);
        }
    }
    counts_add(e, e->loop->last);
    for (unsigned i = 0; i < e->loop->parts; i++) {
        llvm_value wrong = e->loop->even ? loop_even_part(e, i) : NULL;
        if (wrong) /* before it loads from where no lane does */
            leave_if(e, wrong);
        stretch_emit(e, &e->loop->part[i]);
    }
}

static llvm_value bad_lanes(struct emit *e, const struct slice *s)
{
    (void)e;
    return s->bad;
}

/* The lanes that have a NaN in a row or pair that iterations did not look at. */
static llvm_value late_nans(struct emit *e, const struct slice *s)
{
    const struct llvm *l = e->l;
    llvm_value bad = NULL;
    for (unsigned row = 0; row < WAVE_ROWS; row++) {
        const bool pair = e->loop->pair_checked_after[row];
        if (!pair && !e->loop->checked_after[row])
            continue;
        llvm_value nan = nans_in(e, pair ? s->value[row] : NULL, s->value[row + pair]);
        bad = bad ? l->BuildOr(e->b, bad, nan, "") : nan;
    }
    return bad ? lanes_of(e, bad) : NULL;
}

/* ---- the loop ---- */

/* The first lane of the last slices that have one of these. */
static llvm_value last_slices(struct emit *e, llvm_value lanes, unsigned lanes_of_parts)
{
    const struct llvm *l = e->l;
    llvm_type types[] = {e->i64, e->i1};
    llvm_value arguments[] = {lanes, l->ConstNull(e->i1)};
    llvm_value zeros = l->BuildCall2(e->b, l->FunctionType(e->i64, types, 2, 0), e->ctlz, arguments, 2, "");
    llvm_value last = l->BuildSub(e->b, emit_i64(e, WAVE_LANES - 1), zeros, "");
    return l->BuildAnd(e->b, last, emit_i64(e, ~(uint64_t)(lanes_of_parts - 1)), "");
}

static const struct xinst *first_access(const struct loop *loop)
{
    for (const struct xinst *x = loop->first; x < loop->last; x++)
        if (x->cls == XC_SMEM || x->isa->format == ISA_GLOBAL || x->isa->format == ISA_FLAT)
            return x;
    return NULL;
}

/* Which lanes have another iteration. */
static llvm_value stay(struct emit *e, const struct slice *s)
{
    const struct llvm *l = e->l;
    const unsigned reg = e->loop->leave->isa->src[1].reg;
    llvm_value off = e->mask_written[reg] ? s->mask[reg] : lanes_take(e, scalars_get64(e, reg), s->shift);
    return l->BuildAnd(e->b, s->exec, l->BuildNot(e->b, off, ""), "");
}

bool loop_holds(const struct emit *e, unsigned row)
{
    const struct loop *loop = e->loop;
    const bool pair = loop->pair_checked_after[row] || (row && loop->pair_checked_after[row - 1]);
    return loop->row_held[row] || loop->checked_after[row] || pair;
}

/* Lanes that have left the loop keep what they had, in rows that somebody looks at. */
static void hold_rows(struct emit *e, struct slice *s)
{
    for (unsigned row = 0; row < WAVE_ROWS; row++) {
        if (!s->dirty[row] || s->held[row] || !loop_holds(e, row))
            continue;
        if (!s->row_phi[row])
            loop_row(e, s, row);
        s->value[row] = e->l->BuildSelect(e->b, lanes_vector(e, s->exec), s->value[row], s->row_phi[row], "");
    }
}

/* Rows that nobody looks at when the loop is left, or goes on after the wave has given way, are not stored.
 */
static void drop_rows(struct emit *e, struct slice *s)
{
    for (unsigned row = 0; row < WAVE_ROWS; row++)
        s->dirty[row] &=
            e->loop->row_held[row] || live_before(e->live, (size_t)(e->loop->first - e->block->x), row);
}

/* From where a slice's rows are into its first iteration. */
static void enter(struct emit *e)
{
    const struct llvm *l = e->l;
    struct loop *loop = e->loop;
    emit_goto(e, loop->enter);
    llvm_value wrong = loop->doubt ? lanes_some(e, loop->doubt) : NULL;
    if (loop->uneven)
        wrong = wrong ? l->BuildOr(e->b, wrong, loop->uneven, "") : loop->uneven;
    if (!wrong) {
        l->BuildBr(e->b, loop->head);
        return;
    }
    l->SetMetadata(l->BuildCondBr(e->b, wrong, loop->redo, loop->head), e->md_prof, e->unlikely);
    loop->redoes = true;
}

/* What the slices of a loop's versions have in common. */
struct nest {
    llvm_value before, begin, last; /* the wave's budget; the first lane of this turn, and of the last one */
    llvm_block next, done;
};

/* As a version leaves the loop: whether the branch is taken in the end, the budget if it is, and if not; and
 * what is scalar. */
struct left {
    llvm_value taken, less, budget, scc, scalar[SREGS];
    llvm_block end;
};

/* The iterations of some slices, from `enter` on. */
static void emit_turn(struct emit *e, const struct nest *nest, struct left *left)
{
    const struct llvm *l = e->l;
    struct loop *const loop = e->loop;
    struct slice *const end_part = loop->part + loop->parts;
    llvm_value stays[LOOP_PARTS], active = NULL, more = NULL, taken = NULL;
    llvm_block body = emit_block(e), leave = emit_block(e);
    loop->head = emit_block(e);
    if (loop->even)
        loop_even_enter(e);
    emit_goto(e, body);
    llvm_value budget = loop_make_phi(e, e->i32, nest->before);
    for (unsigned i = 0; i < loop->parts; i++)
        loop->part[i].exec = loop->leave ? loop_make_phi(e, e->lanes, loop->entered[i]) : loop->entered[i];
    if (loop->leave && e->counts) {
        more = active = loop_make_phi(e, e->i64, emit_i64(e, 0));
        for (struct slice *s = loop->part; s < end_part; s++)
            more = l->BuildAdd(e->b, more, counts_active(e, lanes_bits(e, s->exec)), "");
    }
    loop->far = NULL;
    emit_iteration(e);
    if (loop->far)
        leave_if(e, loop->far);
    leave_if_bad(e, bad_lanes);
    for (struct slice *s = loop->part; loop->leave && s < end_part; s++) {
        llvm_value stay_on = stays[s - loop->part] = stay(e, s);
        taken = taken ? l->BuildOr(e->b, taken, stay_on, "") : stay_on;
        hold_rows(e, s);
    }
    taken = loop->leave ? lanes_some(e, taken) : emit_condition(e, loop->last->op);
    llvm_value less = l->BuildSub(e->b, budget, emit_i32(e, 1), "");
    llvm_value again = l->BuildAnd(
        e->b, taken, l->BuildNot(e->b, l->BuildICmp(e->b, LLVM_SLT, less, emit_i32(e, 0), ""), ""), "");
    close_phis(e);
    llvm_block latch = l->GetInsertBlock(e->b);
    l->AddIncoming(budget, &less, &latch, 1);
    if (active)
        l->AddIncoming(active, &more, &latch, 1);
    for (struct slice *s = loop->part; loop->leave && s < end_part; s++)
        l->AddIncoming(s->exec, &stays[s - loop->part], &latch, 1);
    l->BuildCondBr(e->b, again, loop->head, leave);

    emit_goto(e, leave);
    for (unsigned i = 0; i < loop->parts; i++)
        loop->part[i].exec = loop->entered[i];
    leave_if_bad(e, late_nans);
    if (loop->even)
        loop_even_leave(e);
    e->at = (size_t)(loop->last - e->block->x);
    for (struct slice *s = loop->part; s < end_part; s++) {
        if (loop->leave)
            drop_rows(e, s);
        stretch_store(e, s);
    }
    loop_end_slices(e, less, stays, more);
    *left = (struct left){.taken = taken, .less = less, .budget = budget, .scc = e->scc};
    for (unsigned reg = 0; reg < SREGS; reg++)
        left->scalar[reg] = loop->scalar_left[reg] ? scalars_get32(e, reg) : NULL;
    left->end = l->GetInsertBlock(e->b);
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, nest->begin, nest->last, ""), nest->done, nest->next);
    enter(e);
    emit_goto(e, loop->head);
    l->BuildBr(e->b, body);
}

static llvm_value merge(struct emit *e, llvm_value a, llvm_value b, const struct left from[2])
{
    llvm_value both[] = {a, b}, phi = e->l->BuildPhi(e->b, e->l->TypeOf(a), "");
    llvm_block ends[] = {from[0].end, from[1].end};
    e->l->AddIncoming(phi, both, ends, 2);
    return phi;
}

/* What both versions leave behind, of a loop that lanes do not leave one by one; else it is carried. */
static void merge_versions(struct emit *e, struct left left[2])
{
    left->taken = merge(e, left[0].taken, left[1].taken, left);
    left->less = merge(e, left[0].less, left[1].less, left);
    left->budget = merge(e, left[0].budget, left[1].budget, left);
    if (e->scc_dirty)
        left->scc = merge(e, left[0].scc, left[1].scc, left);
    for (unsigned reg = 0; reg < SREGS; reg++)
        if (left->scalar[reg])
            left->scalar[reg] = merge(e, left[0].scalar[reg], left[1].scalar[reg], left);
}

const struct xinst *loop_emit(struct emit *e, const struct xinst *first)
{
    const struct llvm *l = e->l;
    struct loop loop, even;
    if (!loop_find(e, first, &loop))
        return NULL;
    llvm_value exec = scalars_get64(e, SREG_EXEC), before = loop_budget(e);
    const struct xinst *access = first_access(&loop);
    if (access) {
        stretch_begin_accesses(e, loop.first, loop.last);
        emit_access(e, access);
    }
    loop_begin_carrying(e, &loop, before);
    const unsigned width = loop.parts * e->slice;
    /* One slice at least, as the scalar instructions are executed without lanes too. */
    llvm_value turns = l->BuildSelect(e->b, loop_is_some(e, exec), exec, emit_i64(e, 1), "");
    llvm_block slices = emit_block(e), some = emit_block(e);
    struct nest nest = {
        .before = before, .last = last_slices(e, turns, width), .next = emit_block(e), .done = emit_block(e)};
    struct left left[2];
    loop.before = l->GetInsertBlock(e->b);
    loop.enter = emit_block(e);
    loop.redo = emit_block(e);

    emit_goto(e, slices);
    nest.begin = l->BuildPhi(e->b, e->i64, "");
    llvm_value turn = l->BuildTrunc(e->b, l->BuildLShr(e->b, turns, nest.begin, ""),
                                    l->IntTypeInContext(e->context, width), "");
    l->BuildCondBr(e->b, loop_is_some(e, turn), some, nest.next);

    emit_goto(e, some);
    llvm_value rest = l->BuildAnd(e->b, exec, l->BuildShl(e->b, emit_i64(e, UINT64_MAX), nest.begin, ""), "");
    if (access)
        emit_store(e, rest, e->w, offsetof(struct wave, stretch.lanes));
    for (unsigned i = 0; i < loop.parts; i++) {
        struct slice *s = &loop.part[i];
        s->shift = l->BuildAdd(e->b, nest.begin, emit_i64(e, (uint64_t)i * e->slice), "");
        llvm_value bytes = l->BuildShl(e->b, s->shift, emit_i64(e, 2), "");
        s->rows = l->BuildGEP2(e->b, e->i8, e->v, &bytes, 1, "");
        loop.entered[i] = lanes_take(e, exec, s->shift);
    }
    even = loop;
    const unsigned versions = loop_even_find(e, &even) ? 2 : 1;
    if (versions == 2) {
        struct scalars_known known;
        even.enter = emit_block(e);
        even.redo = loop.enter;
        for (unsigned i = 0; i < even.parts; i++) {
            even.part[i].even = true;
            even.part[i].whole = !even.leave;
        }
        l->BuildBr(e->b, even.enter);
        scalars_keep(e, &known);
        e->accesses = access != NULL;
        e->loop = &even;
        e->affine.pairs = true;
        emit_turn(e, &nest, &left[1]);
        scalars_restore(e, &known);
        counts_clear(e);
        stretch_clear(e);
    } else {
        l->BuildBr(e->b, loop.enter);
    }
    e->accesses = access != NULL;
    e->loop = &loop;
    emit_turn(e, &nest, &left[0]);

    emit_goto(e, nest.next);
    llvm_value shift = l->BuildAdd(e->b, nest.begin, emit_i64(e, width), "");
    l->BuildBr(e->b, slices);
    llvm_block into[] = {loop.before, nest.next};
    llvm_value shifts[] = {emit_i64(e, 0), shift};
    l->AddIncoming(nest.begin, shifts, into, 2);
    emit_goto(e, loop.before);
    l->BuildBr(e->b, slices);
    loop_emit_redo(e, exec, rest, before);

    emit_goto(e, nest.done);
    if (loop.leave) {
        loop_settle_left(e, &left->taken, &left->less, &left->budget);
    } else if (versions == 2) {
        merge_versions(e, left);
        for (unsigned reg = 0; reg < SREGS; reg++)
            if (left->scalar[reg])
                scalars_set32(e, reg, left->scalar[reg]);
        e->scc = e->scc_dirty ? left->scc : NULL;
    }
    loop_settle_masks(e);
    llvm_value end = l->BuildSelect(e->b, left->taken, left->less, left->budget, "");
    emit_store(e, end, e->w, offsetof(struct wave, budget));
    loop_count(e, exec, loop_iterations(e, before, end, l->BuildNot(e->b, left->taken, "")));
    for (unsigned reg = 0; reg < SREGS; reg++)
        e->dirty[reg] &= loop.scalar_left[reg] || !loop.scalar_written[reg];
    e->loop = NULL;
    counts_clear(e);
    if (access)
        stretch_end_accesses(e);
    scalars_store(e);
    llvm_block yield = emit_block(e);
    l->BuildCondBr(e->b, left->taken, yield, e->blocks[loop.last + 1 - e->block->x]);
    emit_goto(e, yield);
    emit_yield(e, loop.first);
    stretch_clear(e);
    return loop.last;
}
