/* SPDX-License-Identifier: MIT */
/*
 * Even stretches: all lanes are active, and the addresses of loads and stores go up by an element from lane
 * to lane, or are all the same.  That is found once for the wave, with scalars (affine.h), so that slices
 * look at no addresses.
 *
 * As whole ranges are known, such a stretch may have stores among its loads, where they do not meet.  A slice
 * does its stores at its end, when all else is known to be right: what is redone has stored nothing.
 */
#include "jit/places.h"

enum { ACCESSES_MAX = 16 };

static enum memop_kind kind_of(const struct lane_op *op)
{
    return places_kind(op->x);
}

static bool is_known(const struct lane_op *op)
{
    return op->place >= AFFINE_FIRST;
}

bool even_is_likely(const struct emit *e)
{
    for (unsigned i = 0; i < e->ops; i++)
        if (is_known(&e->op[i]))
            return true;
    return false;
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

bool even_may_join(const struct emit *e, const struct lane_op *op)
{
    unsigned accesses = 0, stores = op->writes;
    if (!is_known(op) || op->x->isa->format != ISA_GLOBAL)
        return false;
    for (unsigned i = 0; i < e->ops; i++) {
        const struct lane_op *other = &e->op[i];
        if (other->logic) /* handlers that redo a part of the stretch would not know that it is */
            return false;
        if (other->body || other->x->isa->format == ISA_DS || other->x->isa->format == ISA_SCRATCH)
            continue;
        if (!is_known(other) || other->x->isa->format != ISA_GLOBAL)
            return false;
        accesses++;
        stores += other->writes;
    }
    return accesses < ACCESSES_MAX && stores <= EVEN_STORES_MAX;
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

/* The first address that it does not reach in any case. */
static llvm_value end_of(struct emit *e, const struct lane_op *op)
{
    return e->l->BuildAdd(e->b, op->at.first, emit_i64(e, WAVE_LANES * memop_bytes(kind_of(op))), "");
}

llvm_value even_find(struct emit *e, struct lane_op *op, unsigned lanes)
{
    const struct llvm *l = e->l;
    op->at = affine_find(e, op->place);
    op->at.first = l->BuildAdd(e->b, op->at.first, emit_i64(e, op->x->mem.offset), "");
    llvm_value last = l->BuildAdd(e->b, op->at.first, emit_i64(e, lanes * memop_bytes(kind_of(op)) - 1), "");
    llvm_value outside = l->BuildOr(e->b, l->BuildXor(e->b, op->at.first, e->arena, ""),
                                    l->BuildXor(e->b, last, e->arena, ""), "");
    return either(e, op->at.wrong, l->BuildAnd(e->b, outside, e->arena_mask, ""));
}

llvm_value even_is_step(struct emit *e, const struct lane_op *op)
{
    llvm_value good = is_step(e, op, memop_bytes(kind_of(op)));
    if (!op->writes)
        good = either(e, good, is_step(e, op, 0));
    unsigned step[READS_STEPS];
    const unsigned steps = op->writes ? 0 : reads_steps_of(kind_of(op), step);
    for (unsigned i = 0; i < steps; i++)
        good = either(e, good, is_step(e, op, step[i]));
    return good;
}

/* What has to be 0 for an access to be even, and to be in the GPU's own memory. */
static llvm_value find_access(struct emit *e, struct lane_op *op)
{
    llvm_value wrong = even_find(e, op, WAVE_LANES), uneven = e->l->BuildNot(e->b, even_is_step(e, op), "");
    return either(e, wrong, e->l->BuildZExt(e->b, uneven, e->i64, ""));
}

/* Whether one access may go slice by slice before a later one of which one or both store. */
static llvm_value do_not_meet(struct emit *e, const struct lane_op *op, const struct lane_op *later)
{
    const struct llvm *l = e->l;
    llvm_value apart = either(e, l->BuildICmp(e->b, LLVM_ULE, end_of(e, op), later->at.first, ""),
                              l->BuildICmp(e->b, LLVM_ULE, end_of(e, later), op->at.first, ""));
    if (!later->writes || memop_bytes(kind_of(op)) != memop_bytes(kind_of(later)))
        return apart;
    llvm_value same = places_and(e, l->BuildICmp(e->b, LLVM_EQ, op->at.first, later->at.first, ""),
                                 l->BuildICmp(e->b, LLVM_EQ, op->at.step, later->at.step, ""));
    return either(e, apart, same); /* each lane's element is its own */
}

llvm_value even_test(struct emit *e)
{
    const struct llvm *l = e->l;
    llvm_value wrong = NULL, good = NULL;
    for (unsigned i = 0; i < e->ops; i++)
        if (is_known(&e->op[i]))
            wrong = either(e, find_access(e, &e->op[i]), wrong ? wrong : emit_i64(e, 0));
    if (!wrong)
        return l->ConstAllOnes(e->i1);
    good = l->BuildICmp(e->b, LLVM_EQ, wrong, emit_i64(e, 0), "");
    for (unsigned i = 0; i < e->ops; i++)
        for (unsigned j = i + 1; j < e->ops; j++)
            if (is_known(&e->op[i]) && is_known(&e->op[j]) && (e->op[i].writes || e->op[j].writes))
                good = places_and(e, good, do_not_meet(e, &e->op[i], &e->op[j]));
    return good;
}

/* ---- what is done ---- */

bool even_does(const struct slice *s, const struct lane_op *op)
{
    return s->even && is_known(op);
}

static llvm_value address_of(struct emit *e, const struct slice *s, const struct lane_op *op, unsigned step)
{
    const struct llvm *l = e->l;
    if (e->loop) /* it is the slice's */
        return l->BuildIntToPtr(e->b, op->at.first, e->ptr, "");
    llvm_value bytes = l->BuildMul(e->b, s->shift, emit_i64(e, step), "");
    return l->BuildGEP2(e->b, e->i8, l->BuildIntToPtr(e->b, op->at.first, e->ptr, ""), &bytes, 1, "");
}

void even_read(struct emit *e, const struct slice *s, const struct lane_op *op, llvm_value *rows)
{
    const struct llvm *l = e->l;
    const enum memop_kind kind = kind_of(op);
    const unsigned dwords = memop_dwords(kind), bytes = memop_bytes(kind);
    unsigned step[READS_STEPS];
    const unsigned steps = reads_steps_of(kind, step);
    llvm_value lanes = e->loop && e->loop->leave ? places_active(e, s) : NULL;
    llvm_block dense = emit_block(e), other = emit_block(e), done = emit_block(e);
    struct read_way way[2 + READS_STEPS];
    unsigned ways = 0;
    l->BuildCondBr(e->b, is_step(e, op, bytes), dense, other);
    emit_goto(e, dense);
    llvm_value address = address_of(e, s, op, bytes);
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
        reads_steps(e, address_of(e, s, op, step[i]), kind, step[i], lanes, way[ways].rows);
        reads_end_way(e, &way[ways++], done);
        emit_goto(e, not_by);
    }
    address = address_of(e, s, op, 0);
    if (e->loop && e->loop->parts > 1 && lanes) /* those of others may all have left */
        address = l->BuildSelect(e->b, lanes_some(e, s->exec), address, e->w, "");
    reads_equal(e, address, kind, way[ways].rows);
    reads_end_way(e, &way[ways++], done);
    emit_goto(e, done);
    reads_merge(e, way, ways, dwords, rows);
}

void even_put_off(struct slice *s, const struct lane_op *op, const llvm_value *rows)
{
    struct put_off *p = &s->store[s->stores++];
    p->op = op;
    memcpy(p->rows, rows, writes_dwords(op->x) * sizeof(*rows));
}

void even_store(struct emit *e, struct slice *s)
{
    for (unsigned i = 0; i < s->stores; i++) {
        const struct put_off *p = &s->store[i];
        emit_access(e, p->op->x);
        llvm_value address = address_of(e, s, p->op, memop_bytes(kind_of(p->op)));
        ahead_of_write(e, s, p->op->x, address, kind_of(p->op));
        writes_dense(e, address, kind_of(p->op), p->rows, NULL);
    }
    s->stores = 0;
}
