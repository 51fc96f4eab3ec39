/* SPDX-License-Identifier: MIT */
/*
 * Even loops: a version of a loop (loop.c) for slices of which all lanes are active when it begins, or the
 * first two if they leave one by one, and whose lanes load from addresses that go up by an element from lane
 * to lane, or are all the same, in every iteration.  Addresses are scalars there: of a slice the first
 * lane's.
 *
 * They follow from rows, the leaves.  That those go up by a step from lane to lane is looked at before the
 * first iteration; and an iteration leaves them as they were, or adds the same to all lanes, which is known
 * from the instructions (affine.h).  What else has to hold is added up in `wrong`, and where it does not, or
 * a lane is bad, the slice begins anew in the other version, as nothing is stored before a loop is left.
 *
 * A leaf that nobody needs but for addresses is made of its first lane's value when the loop is left.  As no
 * address comes of floats, NaNs may be looked at then.
 */
#include <string.h>

#include "jit/affine_node.h"
#include "jit/loop.h"
#include "jit/places.h"

/* ---- whether there is one ---- */

/* Nodes by what becomes of them in the course of the loop. */
struct kinds {
    bool uniform[AFFINE_NODES], varies[AFFINE_NODES]; /* the same for all lanes; not the same each time */
    bool needed[AFFINE_NODES];
};

static bool has_two(const struct affine_node *n)
{
    return n->kind == AFFINE_ADD || n->kind == AFFINE_SUB || n->kind == AFFINE_MUL || n->kind == AFFINE_AND ||
           n->kind == AFFINE_OR || n->kind == AFFINE_JOIN;
}

static bool is_leaf(const struct affine_node *n)
{
    return n->kind == AFFINE_ROW || n->kind == AFFINE_PAIR;
}

static bool loads_memory(const struct lane_op *op)
{
    const unsigned format = op->x->isa->format;
    return !op->body && !op->logic && (format == ISA_GLOBAL || format == ISA_FLAT);
}

/* Where the host cannot load parts of dwords for some lanes only, those of others may not be there. */
static bool may_be_even(struct emit *e, const struct loop *loop, const struct lane_op *op)
{
    return !loop->leave || !places_is_part(places_kind(op->x)) || places_masks_parts(e);
}

/* Notes what an iteration makes of rows, and the nodes of where it loads from; returns how many. */
static unsigned follow(struct emit *e, const struct loop *loop, uint16_t *places)
{
    unsigned count = 0;
    affine_clear(&e->affine);
    e->affine.pairs = true;
    for (const struct xinst *x = loop->first; x < loop->last; x++) {
        struct loop_uses u;
        struct lane_op op = {.x = x, .logic = loop->logic[x - loop->first]};
        loop_uses(e, loop, x, &u);
        if (x == loop->leave || lift_does_nothing(x->op))
            continue;
        if (op.logic || !(x->cls == XC_SALU || x->cls == XC_SMEM)) {
            if (!op.logic)
                stretch_takes(e, x, &op);
            if (loads_memory(&op)) {
                op.base = memop_has_sbase(x) ? emit_i64(e, 0) : NULL;
                places[count++] =
                    may_be_even(e, loop, &op) ? (uint16_t)affine_place_of(e, &op) : AFFINE_UNKNOWN;
            }
            affine_follow(e, &op);
        }
        if (u.writes && !u.write.mask)
            affine_forget_masks(&e->affine, u.write.reg, u.write.count);
    }
    return count;
}

static void find_uniform(const struct affine *a, struct kinds *k)
{
    for (unsigned i = AFFINE_FIRST; i < a->count; i++) {
        const struct affine_node *n = &a->node[i];
        k->uniform[i] = n->kind == AFFINE_SCALAR ||
                        (!is_leaf(n) && k->uniform[n->a] && (!has_two(n) || k->uniform[n->b]));
    }
}

/* Whether node `to` is node `from`, and something that is the same for all lanes. */
static bool goes_on(const struct affine *a, const struct kinds *k, unsigned from, unsigned to)
{
    while (to > from) {
        const struct affine_node *n = &a->node[to];
        if (n->kind == AFFINE_ADD && k->uniform[n->a])
            to = n->b;
        else if ((n->kind == AFFINE_ADD || n->kind == AFFINE_SUB) && k->uniform[n->b])
            to = n->a;
        else
            return false;
    }
    return to == from;
}

/* Whether an iteration leaves a leaf with lanes as far apart as they were. */
static bool leaf_goes_on(struct emit *e, const struct loop *loop, const struct kinds *k, unsigned node,
                         struct loop_leaf *leaf)
{
    struct affine *a = &e->affine;
    const struct affine_node *n = &a->node[node];
    const unsigned count = a->count;
    *leaf = (struct loop_leaf){.node = (uint16_t)node, .wide = n->wide, .row = n->number};
    for (unsigned d = 0; d < 1u + leaf->wide; d++) {
        leaf->written |= loop->row_written[leaf->row + d];
        if (loop->leave && loop->row_held[leaf->row + d])
            return false;
    }
    if (!leaf->written)
        return true;
    const unsigned next = leaf->wide ? affine_wide(a, leaf->row) : affine_row(a, leaf->row);
    a->count = count; /* one that there was not before is none that goes on */
    leaf->next = (uint16_t)next;
    return next >= AFFINE_FIRST && next < count && goes_on(a, k, node, next);
}

/* Which nodes go up evenly, of what is needed for these places, and their leaves. */
static void find_nodes(struct emit *e, struct loop *loop, struct kinds *k)
{
    const struct affine *a = &e->affine;
    for (unsigned i = AFFINE_FIRST; i < a->count; i++) {
        const struct affine_node *n = &a->node[i];
        struct loop_leaf *leaf = &loop->leaf[loop->leaves];
        if (n->kind == AFFINE_SCALAR) {
            loop->goes_up[i] = true;
        } else if (!is_leaf(n)) {
            const bool two = has_two(n),
                       bits = n->kind == AFFINE_AND || n->kind == AFFINE_LSHR || n->kind == AFFINE_ASHR;
            k->varies[i] = k->varies[n->a] || (two && k->varies[n->b]);
            /* Bits of what grows are soon something else. */
            loop->goes_up[i] =
                loop->goes_up[n->a] && (!two || loop->goes_up[n->b]) && !(bits && k->varies[i]);
        } else if (k->needed[i] && loop->leaves < LOOP_LEAVES && leaf_goes_on(e, loop, k, i, leaf)) {
            loop->goes_up[i] = true;
            k->varies[i] = leaf->written;
            loop->leaves++;
        }
    }
}

static void find_needed(const struct affine *a, struct kinds *k)
{
    for (unsigned i = a->count; i-- > AFFINE_FIRST;) {
        const struct affine_node *n = &a->node[i];
        if (!k->needed[i] || is_leaf(n) || n->kind == AFFINE_SCALAR)
            continue;
        k->needed[n->a] = true;
        if (has_two(n))
            k->needed[n->b] = true;
    }
}

bool loop_even_find(struct emit *e, struct loop *loop)
{
    struct kinds k;
    uint16_t places[STRETCH_MAX];
    const unsigned count = follow(e, loop, places);
    unsigned known = 0;
    memset(&k, 0, sizeof(k));
    for (unsigned i = 0; i < count; i++)
        k.needed[places[i]] = true;
    find_uniform(&e->affine, &k);
    find_needed(&e->affine, &k);
    find_nodes(e, loop, &k);
    for (unsigned i = 0; i < count; i++)
        known += places[i] >= AFFINE_FIRST && loop->goes_up[places[i]];
    affine_clear(&e->affine);
    loop->even = known > 0;
    loop->reads_memory &= known < count;
    return loop->even;
}

unsigned loop_even_place(struct emit *e, const struct lane_op *op)
{
    const unsigned place = may_be_even(e, e->loop, op) ? affine_place_of(e, op) : AFFINE_UNKNOWN;
    return place >= AFFINE_FIRST && e->loop->goes_up[place] ? place : AFFINE_UNKNOWN;
}

/* ---- before the first iteration ---- */

static void doubt(struct emit *e, llvm_value good)
{
    llvm_value bad = e->l->BuildNot(e->b, good, "");
    e->loop->uneven = e->loop->uneven ? e->l->BuildOr(e->b, e->loop->uneven, bad, "") : bad;
}

/* Of a slice whose lanes leave one by one some may not be in the loop at all. */
static void doubt_active(struct emit *e, llvm_value lanes, llvm_value good)
{
    llvm_value idle = e->l->BuildNot(e->b, lanes, "");
    doubt(e, lanes_all(e, e->l->BuildOr(e->b, lanes_of(e, good), idle, "")));
}

static llvm_value lane(struct emit *e, llvm_value row, unsigned number)
{
    return e->l->BuildExtractElement(e->b, row, emit_i32(e, number), "");
}

static llvm_value times_lanes(struct emit *e, llvm_value step)
{
    return e->l->BuildMul(e->b, emit_splat(e, step), places_row(e, 0, 1), "");
}

/* A leaf of a slice, as it is in the wave. */
static void load_leaf(struct emit *e, const struct slice *s, struct loop_leaf *leaf, unsigned part)
{
    enum { STEP_MAX = 1 << 20 };
    const struct llvm *l = e->l;
    llvm_value lanes = e->loop->entered[part], low = slice_load(e, s, leaf->row), first = lane(e, low, 0);
    llvm_value step = l->BuildSub(e->b, lane(e, low, 1), first, "");
    llvm_value want = l->BuildAdd(e->b, emit_splat(e, first), times_lanes(e, step), "");
    doubt_active(e, lanes, l->BuildICmp(e->b, LLVM_EQ, low, want, ""));
    doubt(e, l->BuildICmp(e->b, LLVM_ULT, step, emit_i32(e, STEP_MAX), ""));
    if (leaf->wide) {
        llvm_value high = slice_load(e, s, leaf->row + 1), first_high = lane(e, high, 0);
        doubt_active(e, lanes, l->BuildICmp(e->b, LLVM_EQ, high, emit_splat(e, first_high), ""));
        step = l->BuildZExt(e->b, step, e->i64, "");
        first = l->BuildZExt(e->b, first, e->i64, "");
        llvm_value last = l->BuildMul(e->b, step, emit_i64(e, e->slice - 1), "");
        last = l->BuildAdd(e->b, first, last, "");
        doubt(e, l->BuildICmp(e->b, LLVM_ULE, last, emit_i64(e, UINT32_MAX), ""));
        first_high = l->BuildShl(e->b, l->BuildZExt(e->b, first_high, e->i64, ""), emit_i64(e, 32), "");
        first = l->BuildOr(e->b, first, first_high, "");
    }
    leaf->first[part] = first;
    leaf->step[part] = step;
}

/* All lanes are in the loop, or two of which leaves follow. */
static void doubt_lanes(struct emit *e, llvm_value lanes)
{
    if (!e->loop->leave) {
        doubt(e, lanes_all(e, lanes));
        return;
    }
    llvm_value two = emit_i64(e, 3), bits = e->l->BuildAnd(e->b, lanes_bits(e, lanes), two, "");
    doubt(e, e->l->BuildICmp(e->b, LLVM_EQ, bits, two, ""));
}

void loop_even_enter(struct emit *e)
{
    struct loop *loop = e->loop;
    emit_goto(e, loop->enter);
    for (unsigned i = 0; i < loop->parts; i++) {
        doubt_lanes(e, loop->entered[i]);
        for (struct loop_leaf *leaf = loop->leaf; leaf < loop->leaf + loop->leaves; leaf++)
            load_leaf(e, &loop->part[i], leaf, i);
    }
    for (struct loop_leaf *leaf = loop->leaf; leaf < loop->leaf + loop->leaves; leaf++)
        for (unsigned i = 0; leaf->written && i < loop->parts; i++)
            leaf->first[i] = loop_make_phi(e, leaf->wide ? e->i64 : e->i32, leaf->first[i]);
}

/* ---- an iteration ---- */

static void need_zero(struct emit *e, llvm_value value)
{
    if (value)
        e->loop->wrong = e->loop->wrong ? e->l->BuildOr(e->b, e->loop->wrong, value, "") : value;
}

/* Whether a step is of a leaf, and so known before the loop. */
static bool is_of_leaf(const struct loop *loop, llvm_value step, unsigned part)
{
    for (unsigned i = 0; i < loop->leaves; i++)
        if (loop->leaf[i].step[part] == step)
            return true;
    return false;
}

static void find_place(struct emit *e, struct lane_op *op, unsigned part)
{
    const struct llvm *l = e->l;
    need_zero(e, even_find(e, op));
    if (!is_of_leaf(e->loop, op->at.step, part)) {
        need_zero(e, l->BuildZExt(e->b, l->BuildNot(e->b, even_is_step(e, op), ""), e->i64, ""));
        return;
    }
    llvm_block here = l->GetInsertBlock(e->b);
    emit_goto(e, e->loop->enter);
    doubt(e, even_is_step(e, op));
    emit_goto(e, here);
}

llvm_value loop_even_part(struct emit *e, unsigned part)
{
    struct loop *loop = e->loop;
    struct affine *a = &e->affine;
    loop->wrong = NULL;
    for (unsigned i = AFFINE_FIRST; i < a->count; i++)
        a->node[i].first = a->node[i].step = a->node[i].wrong.one = NULL;
    for (unsigned i = 0; i < loop->leaves; i++) {
        struct affine_node *n = &a->node[loop->leaf[i].node];
        n->first = loop->leaf[i].first[part];
        n->step = loop->leaf[i].step[part];
    }
    for (unsigned i = 0; i < e->ops; i++)
        if (loads_memory(&e->op[i]) && e->op[i].place >= AFFINE_FIRST) {
            find_place(e, &e->op[i], part);
            ahead_in_even_loop(e, &e->op[i], part);
        }
    for (unsigned i = 0; i < loop->leaves; i++)
        if (loop->leaf[i].written) {
            const struct affine_place next = affine_find(e, loop->leaf[i].next);
            need_zero(e, next.wrong.one);
            loop->leaf[i].after[part] = next.first;
        }
    return loop->wrong;
}

void loop_even_close(struct emit *e)
{
    const struct loop *loop = e->loop;
    llvm_block latch = e->l->GetInsertBlock(e->b);
    for (unsigned i = 0; i < loop->leaves; i++)
        for (unsigned part = 0; loop->leaf[i].written && part < loop->parts; part++)
            e->l->AddIncoming(loop->leaf[i].first[part], (llvm_value *)&loop->leaf[i].after[part], &latch, 1);
    ahead_close_even_loop(e);
}

/* ---- behind it ---- */

void loop_even_leave(struct emit *e)
{
    const struct llvm *l = e->l;
    ahead_leave_even_loop(e);
    for (struct loop_leaf *leaf = e->loop->leaf; leaf < e->loop->leaf + e->loop->leaves; leaf++)
        for (unsigned i = 0; leaf->written && i < e->loop->parts; i++) {
            struct slice *s = &e->loop->part[i];
            llvm_value first = leaf->after[i], step = leaf->step[i], low = first;
            if (leaf->wide) {
                low = l->BuildTrunc(e->b, first, e->i32, "");
                step = l->BuildTrunc(e->b, step, e->i32, "");
            }
            low = emit_splat(e, low);
            s->value[leaf->row] = l->BuildAdd(e->b, low, times_lanes(e, step), "");
            if (!leaf->wide)
                continue;
            llvm_value high = l->BuildTrunc(e->b, l->BuildLShr(e->b, first, emit_i64(e, 32), ""), e->i32, "");
            llvm_value carry = l->BuildICmp(e->b, LLVM_ULT, s->value[leaf->row], low, "");
            s->value[leaf->row + 1] =
                l->BuildAdd(e->b, emit_splat(e, high), l->BuildZExt(e->b, carry, e->row, ""), "");
        }
}
