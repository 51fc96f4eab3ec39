/* SPDX-License-Identifier: MIT */
/*
 * Even stretches: the addresses of loads and stores go up by an element from lane to lane of each slice, or
 * are all the same, in lanes that are not active too.  That is found once for the wave (affine.h), so that
 * slices look at no addresses.  In LDS it is the step that guess.h expects, and nothing is left to choose.
 *
 * As ranges are known, such a stretch may have stores among its loads, where they do not meet.  A slice
 * does its stores at its end, when all else is known to be right: what is redone has stored nothing.
 */
#include "jit/guess.h"
#include "jit/places.h"

enum { ACCESSES_MAX = 16, SIGN = 63 };

static enum memop_kind kind_of(const struct lane_op *op)
{
    return places_kind(op->x);
}

static bool is_known(const struct lane_op *op)
{
    return op->place >= AFFINE_FIRST;
}

static bool is_local(const struct lane_op *op)
{
    return op->x->isa->format == ISA_DS;
}

/* Whether there is a way for it. */
static bool has_way(const struct lane_op *op, uint32_t step)
{
    const enum memop_kind kind = kind_of(op);
    uint32_t way[READS_STEPS];
    if (step == memop_bytes(kind))
        return true;
    const unsigned ways = op->writes ? 0 : reads_steps_of(kind, way);
    for (unsigned i = 0; i < ways; i++)
        if (step == way[i])
            return true;
    return !op->writes && step == 0;
}

bool even_is_hopeless(const struct emit *e, struct lane_op *op)
{
    uint32_t step;
    const bool guessed = guess_step(e->guess, op->x, &step);
    op->step = step;
    return guessed ? !has_way(op, step) : is_local(op);
}

bool even_is_likely(const struct emit *e)
{
    for (unsigned i = 0; i < e->ops; i++)
        if (is_known(&e->op[i]))
            return true;
    return false;
}

/* Where the host cannot access parts of dwords for some lanes only, those of others may not be there. */
bool even_may_be_part(const struct emit *e)
{
    for (unsigned i = 0; i < e->ops; i++)
        if (is_known(&e->op[i]) && places_is_part(kind_of(&e->op[i])) && !places_masks_parts(e))
            return false;
    return even_is_likely(e) && e->effort >= LIFT_VERSIONS;
}

bool even_is_worth(const struct emit *e)
{
    enum { SHORT = 24 };
    if (e->lanes == e->bits || e->ops > SHORT || e->effort < LIFT_VERSIONS)
        return false;
    for (unsigned i = 0; i < e->ops; i++)
        if (e->op[i].alone || e->op[i].once || !(e->op[i].body || e->op[i].logic))
            return false;
    return true;
}

/* How far from the address that is its place an access goes: of two addresses from the lower one on. */
static int64_t offset_of(const struct lane_op *op)
{
    const int64_t first = (int64_t)op->x->mem.offset, second = op->x->mem.second;
    if (op->second)
        return second;
    return !op->writes && memop_of(op->x->isa->op)->action == MEMOP_LOAD2 && second < first ? second : first;
}

static int64_t end_of(const struct lane_op *op)
{
    const int64_t first = (int64_t)op->x->mem.offset, second = op->x->mem.second,
                  bytes = memop_bytes(kind_of(op));
    if (op->second)
        return second + bytes;
    return (memop_of(op->x->isa->op)->action == MEMOP_LOAD2 && second > first ? second : first) + bytes;
}

/* Whether the wave's lanes are likely to access the same elements of LDS in other slices. */
static bool is_likely_to_meet(const struct emit *e, const struct lane_op *a, const struct lane_op *b)
{
    const bool same = b->writes && offset_of(a) == offset_of(b) && end_of(a) == end_of(b);
    return guess_meets(e->guess, a->x, (uint32_t)offset_of(a), (uint32_t)end_of(a), b->x,
                       (uint32_t)offset_of(b), (uint32_t)end_of(b), same);
}

bool even_may_join(const struct emit *e, const struct lane_op *op)
{
    const unsigned space = is_local(op) ? EMIT_LDS : EMIT_MEMORY;
    unsigned accesses = 0;
    if (!is_known(op) || stretch_spaces(op->x) != space)
        return false;
    for (unsigned i = 0; i < e->ops; i++) {
        const struct lane_op *other = &e->op[i];
        if (other->logic) /* handlers that redo a part of the stretch would not know that it is */
            return false;
        if (other->body || !(stretch_spaces(other->x) & space))
            continue;
        if (!is_known(other) || stretch_spaces(other->x) != space)
            return false;
        if (is_local(op) && (op->writes || other->writes) && is_likely_to_meet(e, other, op))
            return false;
        accesses++;
    }
    return accesses < ACCESSES_MAX;
}

bool even_is_full(const struct emit *e)
{
    unsigned stores = 0;
    for (unsigned i = 0; i < e->ops; i++)
        stores += e->op[i].writes && is_known(&e->op[i]);
    return stores == EVEN_STORES_MAX;
}

bool even_stores_memory(const struct emit *e)
{
    for (unsigned i = 0; i < e->ops; i++)
        if (e->op[i].writes && is_known(&e->op[i]) && !is_local(&e->op[i]))
            return true;
    return false;
}

/* ---- the test ---- */

static llvm_value either(struct emit *e, llvm_value a, llvm_value b)
{
    return a ? e->l->BuildOr(e->b, a, b, "") : b;
}

static llvm_value is_step(struct emit *e, const struct lane_op *op, unsigned bytes)
{
    return e->l->BuildICmp(e->b, LLVM_EQ, op->at.step, emit_i64(e, bytes), "");
}

/* Of a slice. */
static unsigned span_of(const struct emit *e, const struct lane_op *op)
{
    return e->slice * memop_bytes(kind_of(op));
}

/* What is set of addresses that are not all in the GPU's own memory. */
static llvm_value outside(struct emit *e, llvm_value first, llvm_value end)
{
    const struct llvm *l = e->l;
    llvm_value last = l->BuildSub(e->b, end, emit_i64(e, 1), "");
    llvm_value bits =
        l->BuildOr(e->b, l->BuildXor(e->b, first, e->arena, ""), l->BuildXor(e->b, last, e->arena, ""), "");
    return l->BuildAnd(e->b, bits, e->arena_mask, "");
}

llvm_value even_find(struct emit *e, struct lane_op *op)
{
    const struct llvm *l = e->l;
    op->at = affine_find(e, op->place);
    llvm_value first = l->BuildAdd(e->b, op->at.first, emit_i64(e, (uint64_t)offset_of(op)), "");
    llvm_value end = l->BuildAdd(e->b, first, emit_i64(e, span_of(e, op)), "");
    return either(e, op->at.wrong.one, outside(e, first, end));
}

llvm_value even_is_step(struct emit *e, const struct lane_op *op)
{
    if (is_local(op))
        return is_step(e, op, op->step);
    llvm_value good = is_step(e, op, memop_bytes(kind_of(op)));
    if (!op->writes)
        good = either(e, good, is_step(e, op, 0));
    unsigned step[READS_STEPS];
    const unsigned steps = op->writes ? 0 : reads_steps_of(kind_of(op), step);
    for (unsigned i = 0; i < steps; i++)
        good = either(e, good, is_step(e, op, step[i]));
    return good;
}

/* From where on the wave accesses, and the first address that it does not reach in any case. */
struct range {
    llvm_value first, end;
};

/* Slices have to begin between the first and the last one, or `order` is negative. */
static struct range range_of(struct emit *e, const struct lane_op *op, llvm_value *order)
{
    const struct llvm *l = e->l;
    llvm_value each = op->at.first, first = each, last = each;
    if (affine_is_each(e, each)) {
        first = l->BuildExtractElement(e->b, each, emit_i32(e, 0), "");
        last = l->BuildExtractElement(e->b, each, emit_i32(e, WAVE_LANES / e->slice - 1), "");
        llvm_value before = l->BuildSub(e->b, each, affine_each(e, first), "");
        llvm_value behind = l->BuildSub(e->b, affine_each(e, last), each, "");
        *order = either(e, *order, l->BuildOr(e->b, before, behind, ""));
    }
    const int64_t lanes =
        is_local(op) ? (e->slice - 1) * op->step + end_of(op) : span_of(e, op) + offset_of(op);
    return (struct range){l->BuildAdd(e->b, first, emit_i64(e, (uint64_t)offset_of(op)), ""),
                          l->BuildAdd(e->b, last, emit_i64(e, (uint64_t)lanes), "")};
}

/* What is not 0 if that is not all the workgroup's, of places from 0 on. */
static llvm_value outside_lds(struct emit *e, llvm_value end)
{
    llvm_value left = e->l->BuildSub(e->b, e->l->BuildZExt(e->b, e->lds_bytes, e->i64, ""), end, "");
    return e->l->BuildLShr(e->b, left, emit_i64(e, SIGN), "");
}

/* How far beyond a row's addresses the stretch goes in LDS. */
static int64_t end_of_all(const struct emit *e, unsigned place)
{
    int64_t end = 0;
    for (unsigned i = 0; i < e->ops; i++)
        if (is_local(&e->op[i]) && e->op[i].place == place && end_of(&e->op[i]) > end)
            end = end_of(&e->op[i]);
    return end;
}

/* The step is known: what is not 0 if a row goes by another one, or is not all the workgroup's. */
static llvm_value look_at_row(struct emit *e, unsigned number, uint32_t step, int64_t end)
{
    const struct llvm *l = e->l;
    llvm_value row = emit_at(e, e->v, (int64_t)(number * sizeof(wave_row))), differ = NULL, top = NULL;
    for (unsigned i = 0; i < WAVE_LANES / e->slice; i++) {
        llvm_value at = emit_at(e, row, i * e->slice * 4), have = l->BuildLoad2(e->b, e->row, at, "");
        l->SetAlignment(have, e->slice * 4);
        llvm_value want =
            l->BuildAdd(e->b, emit_splat(e, emit_load(e, e->i32, at, 0)), places_row(e, 0, step), "");
        llvm_value larger[] = {top, have};
        differ = either(e, differ, l->BuildXor(e->b, have, want, ""));
        top = top ? emit_intrinsic(e, "llvm.umax", &e->row, 1, larger, 2) : have;
    }
    differ = l->BuildICmp(e->b, LLVM_NE, differ, l->ConstNull(e->row), "");
    llvm_value inside = places_in_lds(e, top, (unsigned)end);
    llvm_value wrong = l->BuildOr(e->b, differ, l->BuildNot(e->b, inside, ""), "");
    return l->BuildZExt(e->b, lanes_some(e, lanes_of(e, wrong)), e->i64, "");
}

/* Finds a place in LDS that is a row as it is before the stretch, of which slices know where they begin;
 * false: it is none. */
static bool find_row(struct emit *e, struct lane_op *op, struct affine_wrong *wrong)
{
    unsigned number;
    if (!is_local(op) || !affine_is_row(&e->affine, op->place, &number))
        return false;
    for (const struct lane_op *other = e->op; other < op; other++)
        if (is_local(other) && other->place == op->place) {
            op->at = other->at;
            return true;
        }
    affine_need_zero(e, wrong, look_at_row(e, number, op->step, end_of_all(e, op->place)));
    op->at = (struct affine_place){.step = emit_i64(e, op->step)};
    if (e->joined)
        op->at.first = e->l->BuildZExt(e->b, affine_firsts(e, number),
                                       e->l->VectorType(e->i64, WAVE_LANES / e->slice), "");
    return true;
}

/* Where accesses are, and what has to be 0 for them to be even, and in the GPU's own memory. */
static struct affine_wrong find_accesses(struct emit *e, struct range *range)
{
    const struct llvm *l = e->l;
    struct affine_wrong wrong = {NULL, NULL};
    llvm_value order = NULL;
    for (unsigned i = 0; i < e->ops; i++) {
        struct lane_op *op = &e->op[i];
        if (!is_known(op))
            continue;
        if (find_row(e, op, &wrong)) {
            if (e->joined)
                range[i] = range_of(e, op, &order);
            continue;
        }
        op->at = affine_find(e, op->place);
        affine_need(e, &wrong, &op->at.wrong);
        range[i] = range_of(e, op, &order);
        affine_need_zero(e, &wrong,
                         is_local(op) ? outside_lds(e, range[i].end)
                                      : outside(e, range[i].first, range[i].end));
        affine_need_zero(e, &wrong,
                         l->BuildZExt(e->b, l->BuildNot(e->b, even_is_step(e, op), ""), e->i64, ""));
    }
    if (order)
        affine_need_zero(e, &wrong, affine_make(e, l->BuildLShr, order, emit_i64(e, SIGN)));
    return wrong;
}

static llvm_value are_apart(struct emit *e, const struct range *a, const struct range *b)
{
    return either(e, e->l->BuildICmp(e->b, LLVM_ULE, a->end, b->first, ""),
                  e->l->BuildICmp(e->b, LLVM_ULE, b->end, a->first, ""));
}

/* Whether both access the same elements in each slice. */
static llvm_value are_same(struct emit *e, const struct lane_op *a, const struct lane_op *b)
{
    struct affine_wrong differ = {NULL, NULL};
    llvm_value first =
        affine_make(e, e->l->BuildAdd, b->at.first, emit_i64(e, (uint64_t)(offset_of(b) - offset_of(a))));
    affine_need_zero(e, &differ, affine_make(e, e->l->BuildXor, a->at.first, first));
    affine_need_zero(e, &differ, affine_make(e, e->l->BuildXor, a->at.step, b->at.step));
    return affine_is_right(e, &differ);
}

/* Whether each slice begins where the one before has ended, or behind that: rows that lie on each other have
 * lanes that access other slices' elements. */
static llvm_value slices_are_apart(struct emit *e, const struct lane_op *op)
{
    const struct llvm *l = e->l;
    const unsigned count = WAVE_LANES / e->slice;
    llvm_value each = op->at.first, from[WAVE_LANES], to[WAVE_LANES];
    if (!affine_is_each(e, each))
        return l->ConstNull(e->i1);
    for (unsigned i = 0; i < count; i++) { /* the last pair follows from the others */
        from[i] = emit_i32(e, i + 1 < count ? i : 0);
        to[i] = emit_i32(e, i + 1 < count ? i + 1 : i);
    }
    llvm_value none = l->GetPoison(l->TypeOf(each));
    llvm_value far =
        l->BuildSub(e->b, l->BuildShuffleVector(e->b, each, none, l->ConstVector(to, count), ""),
                    l->BuildShuffleVector(e->b, each, none, l->ConstVector(from, count), ""), "");
    struct affine_wrong near = {NULL, NULL};
    far = affine_make(e, l->BuildSub, far, emit_i64(e, span_of(e, op)));
    affine_need_zero(e, &near, affine_make(e, l->BuildLShr, far, emit_i64(e, SIGN)));
    return affine_is_right(e, &near);
}

/*
 * Whether one access may go slice by slice before a later one of which one or both store.  What a slice has
 * stored no later one may load, which all of the wave's lanes do before any of them stores; of stores to the
 * same elements the last one counts, slice by slice too.
 */
static llvm_value do_not_meet(struct emit *e, const struct range *range, unsigned at, unsigned later)
{
    const struct lane_op *a = &e->op[at], *b = &e->op[later];
    llvm_value apart = are_apart(e, &range[at], &range[later]);
    if (!b->writes || memop_bytes(kind_of(a)) != memop_bytes(kind_of(b)))
        return apart;
    llvm_value same = are_same(e, a, b);
    if (!a->writes)
        same = places_and(e, same, slices_are_apart(e, b));
    return either(e, apart, same);
}

/* Where slices' first addresses are while the stretch's slices are done. */
static void keep_places(struct emit *e)
{
    const struct llvm *l = e->l;
    for (unsigned i = 0; i < e->ops; i++) {
        struct lane_op *op = &e->op[i];
        unsigned number;
        if (!is_known(op) || (is_local(op) && affine_is_row(&e->affine, op->place, &number)) ||
            !affine_is_each(e, op->at.first))
            continue;
        for (unsigned j = 0; j < i && !op->firsts; j++)
            if (is_known(&e->op[j]) && e->op[j].at.first == op->at.first)
                op->firsts = e->op[j].firsts;
        if (op->firsts)
            continue;
        if (!e->firsts[i]) {
            llvm_block here = l->GetInsertBlock(e->b);
            emit_goto(e, e->entry);
            e->firsts[i] = l->BuildAlloca(e->b, l->TypeOf(op->at.first), "");
            emit_goto(e, here);
        }
        l->BuildStore(e->b, op->at.first, e->firsts[i]);
        op->firsts = e->firsts[i];
    }
}

llvm_value even_test(struct emit *e)
{
    struct range range[STRETCH_MAX];
    const struct affine_wrong wrong = find_accesses(e, range);
    llvm_value good = affine_is_right(e, &wrong);
    for (unsigned i = 0; e->joined && i < e->ops; i++)
        for (unsigned j = i + 1; j < e->ops; j++)
            if (is_known(&e->op[i]) && is_known(&e->op[j]) && is_local(&e->op[i]) == is_local(&e->op[j]) &&
                (e->op[i].writes || e->op[j].writes))
                good = places_and(e, good, do_not_meet(e, range, i, j));
    keep_places(e);
    return good;
}

/* ---- what is done ---- */

bool even_does(const struct slice *s, const struct lane_op *op)
{
    return s->even && is_known(op);
}

/* Where a slice's first lane is, but for the instruction's offset. */
static llvm_value address_of(struct emit *e, const struct slice *s, const struct lane_op *op)
{
    const struct llvm *l = e->l;
    unsigned row;
    llvm_value first = op->at.first; /* it is the slice's, in a loop, or that of all */
    if (is_local(op) && affine_is_row(&e->affine, op->place, &row)) { /* which is not yet stored to */
        first = emit_load(e, e->i32, s->rows, (int64_t)(row * sizeof(wave_row)));
        first = l->BuildZExt(e->b, first, e->i64, "");
    } else if (op->firsts) {
        llvm_value slice = l->BuildLShr(e->b, s->shift, emit_i64(e, e->slice == 16 ? 4 : 3), "");
        first = l->BuildLoad2(e->b, e->i64, l->BuildGEP2(e->b, e->i64, op->firsts, &slice, 1, ""), "");
    }
    return is_local(op) ? l->BuildGEP2(e->b, e->i8, e->lds, &first, 1, "")
                        : l->BuildIntToPtr(e->b, first, e->ptr, "");
}

/* One element's dwords for all lanes, which nobody else changes meanwhile. */
static void read_one(struct emit *e, llvm_value address, enum memop_kind kind, llvm_value *rows)
{
    if (places_is_part(kind)) {
        reads_equal(e, address, kind, rows);
        return;
    }
    for (unsigned d = 0; d < memop_dwords(kind); d++) {
        llvm_value word = emit_load(e, e->i32, address, d * 4);
        e->l->SetAlignment(word, 1);
        rows[d] = emit_splat(e, word);
    }
}

/* By the one step that it is known to be, for all lanes: unrolled loops have dozens of such reads. */
static void read_lds(struct emit *e, const struct lane_op *op, llvm_value address, llvm_value *rows)
{
    const enum memop_kind kind = kind_of(op);
    const bool twice = memop_of(op->x->isa->op)->action == MEMOP_LOAD2;
    for (unsigned i = 0; i < (twice ? 2 : 1); i++, rows += memop_dwords(kind)) {
        llvm_value at = emit_at(e, address, (int64_t)(i ? op->x->mem.second : op->x->mem.offset));
        if (op->step == 0)
            read_one(e, at, kind, rows);
        else if (op->step == memop_bytes(kind))
            reads_dense(e, at, kind, NULL, rows);
        else
            reads_steps(e, at, kind, op->step, NULL, rows);
    }
}

static void read_memory(struct emit *e, const struct slice *s, const struct lane_op *op, llvm_value address,
                        llvm_value *rows)
{
    const struct llvm *l = e->l;
    const enum memop_kind kind = kind_of(op);
    const unsigned dwords = memop_dwords(kind), bytes = memop_bytes(kind);
    unsigned step[READS_STEPS];
    const unsigned steps = reads_steps_of(kind, step);
    llvm_value lanes = s->whole ? NULL : places_active(e, s);
    llvm_block dense = emit_block(e), other = emit_block(e), done = emit_block(e);
    struct read_way way[2 + READS_STEPS];
    unsigned ways = 0;
    l->BuildCondBr(e->b, is_step(e, op, bytes), dense, other);
    emit_goto(e, dense);
    if (e->loop)
        ahead_of_even_read(e, op, address, kind);
    else
        ahead_of_read(e, s, op->x, address, kind);
    reads_dense(e, address, kind, lanes, way[ways].rows);
    reads_end_way(e, &way[ways++], done);
    emit_goto(e, other);
    for (unsigned i = 0; i < steps; i++) {
        llvm_block by = emit_block(e), not_by = emit_block(e);
        l->BuildCondBr(e->b, is_step(e, op, step[i]), by, not_by);
        emit_goto(e, by);
        reads_steps(e, address, kind, step[i], lanes, way[ways].rows);
        reads_end_way(e, &way[ways++], done);
        emit_goto(e, not_by);
    }
    if (e->loop && e->loop->parts > 1 && lanes) /* those of others may all have left */
        address = l->BuildSelect(e->b, lanes_some(e, s->exec), address, e->w, "");
    reads_equal(e, address, kind, way[ways].rows);
    reads_end_way(e, &way[ways++], done);
    emit_goto(e, done);
    reads_merge(e, way, ways, dwords, rows);
}

void even_read(struct emit *e, const struct slice *s, const struct lane_op *op, llvm_value *rows)
{
    llvm_value address = address_of(e, s, op);
    if (is_local(op))
        read_lds(e, op, address, rows);
    else
        read_memory(e, s, op, emit_at(e, address, offset_of(op)), rows);
}

void even_put_off(struct slice *s, const struct lane_op *op, const llvm_value *rows)
{
    struct put_off *p = &s->store[s->stores++];
    p->op = op;
    memcpy(p->rows, rows, writes_dwords(op->x) * sizeof(*rows));
}

/* i1: it goes past the host's caches; NULL: it does not. */
static llvm_value goes_past(struct emit *e, const struct slice *s, const struct lane_op *op,
                            llvm_value address)
{
    enum { LINE = 64 };
    const struct llvm *l = e->l;
    if (!e->in_cache || !s->whole || memop_bytes(kind_of(op)) < WRITES_PAST_LEAST || span_of(e, op) % LINE)
        return NULL;
    llvm_value bits = l->BuildOr(e->b, e->in_cache, l->BuildPtrToInt(e->b, address, e->i64, ""), "");
    bits = l->BuildAnd(e->b, bits, emit_i64(e, LINE - 1), "");
    return l->BuildICmp(e->b, LLVM_EQ, bits, emit_i64(e, 0), "");
}

static void store_memory(struct emit *e, const struct slice *s, const struct put_off *p, llvm_value address,
                         llvm_value lanes)
{
    const struct llvm *l = e->l;
    const unsigned kind = kind_of(p->op);
    llvm_value past = goes_past(e, s, p->op, address);
    llvm_block done = past ? emit_block(e) : NULL;
    emit_access(e, p->op->x);
    if (past) {
        llvm_block to_memory = emit_block(e), to_cache = emit_block(e);
        l->BuildCondBr(e->b, past, to_memory, to_cache);
        emit_goto(e, to_memory);
        writes_past(e, address, kind, p->rows);
        l->BuildBr(e->b, done);
        emit_goto(e, to_cache);
    }
    ahead_of_write(e, s, p->op->x, address, kind);
    writes_dense(e, address, kind, p->rows, lanes);
    if (past) {
        l->BuildBr(e->b, done);
        emit_goto(e, done);
    }
}

static void store_all(struct emit *e, const struct slice *s, llvm_value lanes)
{
    for (unsigned i = 0; i < s->stores; i++) {
        const struct put_off *p = &s->store[i];
        llvm_value address = emit_at(e, address_of(e, s, p->op), offset_of(p->op));
        if (is_local(p->op))
            writes_dense(e, address, kind_of(p->op), p->rows, lanes);
        else
            store_memory(e, s, p, address, lanes);
    }
}

void even_store(struct emit *e, struct slice *s)
{
    const struct llvm *l = e->l;
    if (s->stores && !s->whole) {
        llvm_block all = emit_block(e), some = emit_block(e), done = emit_block(e);
        l->BuildCondBr(e->b, lanes_all(e, s->exec), all, some);
        emit_goto(e, some);
        store_all(e, s, places_active(e, s));
        l->BuildBr(e->b, done);
        emit_goto(e, all);
        store_all(e, s, NULL);
        l->BuildBr(e->b, done);
        emit_goto(e, done);
    } else {
        store_all(e, s, NULL);
    }
    s->stores = 0;
}
