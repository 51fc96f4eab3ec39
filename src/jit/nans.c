/* SPDX-License-Identifier: MIT */
/* Which results are looked at for NaNs: not those that only go where another one comes of them. */
#include "isa/facts.h"
#include "jit/emit.h"

/* Arithmetic whose result is a NaN when a source of its type is one. */
static enum nan_kind nan_kind_of(unsigned op)
{
    switch (op) {
#define FN_1(name, ...)
#define FN_2(name, ...)
#define FN_3(name, ...)
#define MM_2(name, ...)
#define MM_3(name, ...)
#define KIND_f NAN_F32
#define KIND_d NAN_F64
#define AR_2(name, M, T, fn)                                                                                 \
    case ISA_OP_##name:                                                                                      \
        return KIND_##T;
#define AR_3 AR_2
#include "sem/vector/valu_float.def"
#define PK_F32(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return NAN_PAIR;
#include "sem/vector/packed.def"
    default:
        return NAN_NONE;
    }
}

/* Whether it is arithmetic that makes a NaN of a NaN in this row of f32, or pair of f64. */
static bool hands_on(const struct lane_op *op, unsigned row, enum nan_kind kind)
{
    const struct isa_inst *inst = op->x->isa;
    if (inst->sdwa || inst->dpp || inst->clamp || !op->nan_kind ||
        (op->nan_kind == NAN_F64) != (kind == NAN_F64))
        return false;
    for (int i = 0; i < 3; i++) {
        const struct isa_operand *o = &inst->src[i];
        if (!stretch_is_row(o))
            continue;
        const unsigned low = stretch_row(o) + (inst->op_sel >> i & 1),
                       high = stretch_row(o) + (inst->op_sel_hi >> i & 1);
        if (op->nan_kind == NAN_PAIR ? low == row || high == row : stretch_row(o) == row)
            return true;
    }
    return false;
}

static bool writes_row(const struct lane_op *op, unsigned row, unsigned count)
{
    const struct isa_operand *d = &op->x->isa->dst;
    return stretch_is_row(d) && stretch_row(d) < row + count && stretch_row(d) + d->dwords > row;
}

/*
 * A NaN that only goes into arithmetic of the stretch makes a NaN there: it is enough to look at that.  In a
 * loop it may be that of the next iteration; then the row is looked at when the loop is left.  Not so where
 * lanes read memory, as a NaN may come to be an address until then.
 */
static bool row_is_seen_later(struct emit *e, unsigned at, unsigned row, enum nan_kind kind)
{
    const unsigned rows = kind == NAN_F64 ? 2 : 1;
    for (unsigned j = at + 1; j < e->ops; j++) {
        if (e->op[j].writes) /* what it stores must be right */
            return false;
        if (hands_on(&e->op[j], row, kind))
            return true;
        if (writes_row(&e->op[j], row, rows))
            return false;
    }
    if (!e->loop || e->loop->reads_memory)
        return false;
    for (unsigned j = 0; j <= at; j++) {
        if (hands_on(&e->op[j], row, kind)) {
            (kind == NAN_F64 ? e->loop->pair_checked_after : e->loop->checked_after)[row] = true;
            return true;
        }
        if (writes_row(&e->op[j], row, rows))
            return false;
    }
    return false;
}

static bool is_seen_later(struct emit *e, unsigned at)
{
    const struct lane_op *op = &e->op[at];
    const struct isa_inst *inst = op->x->isa;
    if (!op->nan_kind || inst->clamp || inst->sdwa)
        return false;
    const unsigned row = stretch_row(&inst->dst);
    if (op->nan_kind != NAN_PAIR)
        return row_is_seen_later(e, at, row, op->nan_kind);
    return row_is_seen_later(e, at, row, NAN_F32) && row_is_seen_later(e, at, row + 1, NAN_F32);
}

void nans_find(struct emit *e)
{
    for (unsigned i = 0; i < e->ops; i++)
        e->op[i].nan_kind = nan_kind_of(e->op[i].x->isa->op); /* of a read none */
    for (unsigned i = 0; i < e->ops; i++)
        e->op[i].checks = !is_seen_later(e, i);
}
