/* SPDX-License-Identifier: MIT */
/*
 * What lanes are likely to access next, which the host fetches meanwhile.
 *
 * The host finds streams by the address of the instruction that loads.  Handlers load for all instructions of
 * the GPU at one place; of host code each loads at a place of its own, and a function of many, such as an
 * unrolled loop of the GPU's, waits for every line: the host has too few addresses in mind, or each jumps.
 * There, waves that come next mostly go on where this one accesses, which it has fetched some pages ahead.
 * Where few loads follow each other the host does better, when it is led to what comes right behind.
 *
 * In a loop an access may go on anywhere, by rows or planes of an array.  It is fetched as far ahead as some
 * iterations have come, by the step from the last one: each access has a place on the host's stack for where
 * it was then.  The first iteration finds there what another wave has left, or nothing of use, and what is
 * fetched then nobody may need.
 */
#include "jit/loop.h"
#include "jit/places.h"

enum { FAR = 8192, NEAR = 1024, NEAR_WRITE = 512, LANES = 64 };

void ahead_find(struct emit *e, const struct exec_block *block)
{
    enum { MANY = 8 };
    const struct xinst *loop = block->x + block->count;
    unsigned loads = 0;
    e->loops_end = block->x;
    for (const struct xinst *x = loop; x-- > block->x;) {
        if (lift_is_branch(x) && x->target <= x && e->loops_end == block->x)
            e->loops_end = x + 1;
        if (lift_is_branch(x) && x->target < loop)
            loop = x->target;
        if (x->cls == XC_VMEM && isa_facts[x->op].effects & ISA_E_LOAD)
            loads += x >= loop ? MANY : 1;
    }
    e->ahead = loads >= MANY ? FAR : NEAR;
}

/* Between iterations other waves have had their turn, and have left where they were. */
static bool has_barrier(const struct xinst *first, const struct xinst *last)
{
    while (first < last && first->op != ISA_OP_s_barrier)
        first++;
    return first < last;
}

/* Of the innermost loop around `x`: how many instructions; 0: there is none that a wave stays in. */
static unsigned find_length(const struct emit *e, const struct xinst *x)
{
    for (const struct xinst *last = x; last < e->loops_end; last++)
        if (lift_is_branch(last) && last->target <= x)
            return has_barrier(last->target, last) ? 0 : (unsigned)(last - last->target) + 1;
    return 0;
}

/* Where the access of a slice's lanes was in the last iteration; NULL: too many others have a place. */
static llvm_value place_of(struct emit *e, const struct slice *s, const struct xinst *x)
{
    const struct llvm *l = e->l;
    const unsigned slices = LANES / e->slice;
    unsigned place = 0;
    while (place < e->placed && e->has_place[place] != x) /* in another version of the same code */
        place++;
    if (place == AHEAD_MAX)
        return NULL;
    if (place == e->placed)
        e->has_place[e->placed++] = x;
    if (!e->last_places) {
        llvm_block here = l->GetInsertBlock(e->b);
        emit_goto(e, e->entry);
        e->last_places = l->BuildAlloca(e->b, l->ArrayType2(e->i64, AHEAD_MAX * slices), "");
        emit_goto(e, here);
    }
    llvm_value slice = l->BuildLShr(e->b, s->shift, emit_i64(e, e->slice == 16 ? 4 : 3), "");
    slice = l->BuildAdd(e->b, slice, emit_i64(e, place * slices), "");
    return l->BuildGEP2(e->b, e->i64, e->last_places, &slice, 1, "");
}

/* How many iterations ahead: what they take is to be what memory takes. */
static unsigned find_iterations(const struct emit *e, unsigned length)
{
    enum { WHILE = 256, MOST = 32 }; /* WHILE: instructions of a slice, twice as many of a wave */
    const unsigned iterations = WHILE / (emit_turns(e) ? length : length * LANES / e->slice / 2);
    return iterations < 1 ? 1 : iterations > MOST ? MOST : iterations;
}

/* From an access in a loop of such a length to where it will be; NULL: nobody knows. */
static llvm_value find_step(struct emit *e, const struct slice *s, const struct xinst *x, llvm_value address,
                            unsigned length)
{
    const struct llvm *l = e->l;
    llvm_value place = place_of(e, s, x);
    if (!place)
        return NULL;
    llvm_value last = l->BuildLoad2(e->b, e->i64, place, "");
    l->SetVolatile(last, 1); /* of what may not have been stored */
    l->BuildStore(e->b, address, place);
    llvm_value step = l->BuildSub(e->b, l->BuildPtrToInt(e->b, address, e->i64, ""), last, "");
    return l->BuildMul(e->b, step, emit_i64(e, find_iterations(e, length)), "");
}

static void fetch(struct emit *e, llvm_value address, llvm_value step, unsigned kind, bool write)
{
    enum { LINE = 64, KEEP = 2, DATA = 1 };
    const uint32_t span = memop_bytes((enum memop_kind)kind) * e->slice;
    llvm_value first = e->l->BuildGEP2(e->b, e->i8, address, &step, 1, "");
    for (uint32_t at = 0; at < span; at += LINE) {
        llvm_value arguments[] = {emit_at(e, first, at), emit_i32(e, write), emit_i32(e, KEEP),
                                  emit_i32(e, DATA)};
        emit_intrinsic(e, "llvm.prefetch", &e->ptr, 1, arguments, 4);
    }
}

void ahead_of_read(struct emit *e, const struct slice *s, const struct xinst *x, llvm_value address,
                   unsigned kind)
{
    const unsigned length = find_length(e, x);
    llvm_value step = length ? find_step(e, s, x, address, length) : NULL;
    if (step)
        fetch(e, address, step, kind, false);
    if (!step || !emit_turns(e)) /* for the wave that comes next, in a loop of few iterations too */
        fetch(e, address, emit_i64(e, e->ahead), kind, false);
}

void ahead_in_even_loop(struct emit *e, struct lane_op *op, unsigned part)
{
    const struct llvm *l = e->l;
    if (part) /* as far as the first one */
        return;
    llvm_block here = l->GetInsertBlock(e->b);
    emit_goto(e, e->loop->enter);
    llvm_value place = place_of(e, &e->loop->part[0], op->x), last = NULL;
    if (place) {
        last = l->BuildLoad2(e->b, e->i64, place, "");
        l->SetVolatile(last, 1); /* of what may not have been stored */
    }
    emit_goto(e, here);
    if (!place)
        return;
    llvm_value before = loop_make_phi(e, e->i64, last), step = l->BuildSub(e->b, op->at.first, before, "");
    step = l->BuildMul(e->b, step, emit_i64(e, find_iterations(e, find_length(e, op->x))), "");
    op->ahead = (struct lane_ahead){step, op->at.first, before, place};
}

void ahead_of_even_read(struct emit *e, const struct lane_op *op, llvm_value address, unsigned kind)
{
    fetch(e, address, op->ahead.far ? op->ahead.far : emit_i64(e, e->ahead), kind, false);
}

void ahead_close_even_loop(struct emit *e)
{
    llvm_block latch = e->l->GetInsertBlock(e->b);
    for (struct lane_op *op = e->op; op < e->op + e->ops; op++)
        if (op->ahead.before)
            e->l->AddIncoming(op->ahead.before, &op->ahead.now, &latch, 1);
}

void ahead_leave_even_loop(struct emit *e)
{
    for (const struct lane_op *op = e->op; op < e->op + e->ops; op++)
        if (op->ahead.before)
            e->l->BuildStore(e->b, op->ahead.now, op->ahead.place);
}

/* A line that is fetched to be written saves asking for it again, and what streams of stores wait for. */
void ahead_of_write(struct emit *e, const struct slice *s, const struct xinst *x, llvm_value address,
                    unsigned kind)
{
    const unsigned length = find_length(e, x);
    llvm_value step = length ? find_step(e, s, x, address, length) : NULL;
    fetch(e, address, step ? step : emit_i64(e, e->ahead == FAR ? FAR : NEAR_WRITE), kind, true);
}
