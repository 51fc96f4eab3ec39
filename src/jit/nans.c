/* SPDX-License-Identifier: MIT */
/* Which results are looked at for NaNs: not those that only go where another one comes of them. */
#include "isa/facts.h"
#include "jit/emit.h"

/* Arithmetic and other functions whose result is a NaN when a source of its type is one. */
enum nan_kind nans_kind(unsigned op)
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
#define AR_3                    AR_2
#define KIND_u                  NAN_F32
#define KIND_q                  NAN_F64
#define HN_1                    AR_2
#define HT_1                    AR_2
#define HN_2(name, M, T, B, fn) AR_2(name, M, T, fn)
#define CV_1(name, ...)
#include "sem/vector/valu_cvt.def"
#include "sem/vector/valu_float.def"
#define PK_F32(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return NAN_PAIR;
#include "sem/vector/packed.def"
    case ISA_OP_v_div_fmas_f32:
        return NAN_F32;
    case ISA_OP_v_div_fmas_f64:
        return NAN_F64;
    default:
        return NAN_NONE;
    }
}

/* Halves of a pair, and what has none. */
enum { LOW = 1, HIGH = 2, WHOLE = LOW | HIGH };

/* Which halves of its result arithmetic makes a NaN of a NaN in this row of f32, or pair of f64. */
static unsigned hands_on(const struct lane_op *op, unsigned row, enum nan_kind kind)
{
    unsigned halves = 0;
    const struct isa_inst *inst = op->x->isa;
    if (inst->sdwa || inst->dpp || inst->clamp || !op->nan_kind ||
        (op->nan_kind == NAN_F64) != (kind == NAN_F64))
        return 0;
    for (int i = 0; i < 3; i++) {
        const struct isa_operand *o = &inst->src[i];
        if (!stretch_is_row(o) || (o->type != ISA_T_F32 && o->type != ISA_T_F64 && o->type != ISA_T_PKF32))
            continue;
        const unsigned low = stretch_row(o) + (inst->op_sel >> i & 1),
                       high = stretch_row(o) + (inst->op_sel_hi >> i & 1);
        if (op->nan_kind == NAN_PAIR)
            halves |= (low == row ? LOW : 0) | (high == row ? HIGH : 0);
        else if (stretch_row(o) == row)
            halves = WHOLE;
    }
    return halves;
}

static bool writes_row(const struct lane_op *op, unsigned row, unsigned count)
{
    const struct isa_operand *d = &op->x->isa->dst;
    return stretch_is_row(d) && stretch_row(d) < row + count && stretch_row(d) + d->dwords > row;
}

/*
 * Harmless NaNs.  Divisions and roots go by way of NaNs when an operand is zero: what divides makes one on
 * purpose, refinement hands it on, and v_div_fixup drops it for the right result.  Nobody looks at what NaN
 * that is when all that reads it is arithmetic whose result is as harmless, a comparison, or one of these
 * that drop it, and of which the result is looked at.
 */
bool nans_is_comparison(unsigned op)
{
    switch (op) {
#define CMP_H(name)
#define CMP_N(name)
#define CMP_S(name)         case ISA_OP_v_cmp_##name:
#define CMP_D               CMP_S
#define CMP(name, M, L, fn) CMP_##M(name)
#define CMP_CLASS(...)
#include "sem/vector/valu_cmp.def"
        return true;
    default:
        return false;
    }
}

static bool reads_source(const struct lane_op *op, int i, unsigned row, unsigned count)
{
    const struct isa_operand *o = &op->x->isa->src[i];
    for (unsigned d = 0; stretch_is_row(o) && d < o->dwords; d++)
        if (stretch_row(o) + d - row < count && packed_rows_read(op->x->isa, i) >> d & 1)
            return true;
    return false;
}

static bool reads_rows(const struct emit *e, const struct lane_op *op, unsigned row, unsigned count)
{
    for (int i = 0; i < 4; i++)
        if (reads_source(op, i, row, count))
            return true;
    return writes_row(op, row, count) &&
           (!live_overwrites(e, op->x, op) || (op->body && body_reads(op->body, BODY_O)));
}

/* Whether it drops a NaN that is there, or has it as its result. */
static bool may_stop(const struct lane_op *op, unsigned row, enum nan_kind kind)
{
    const struct isa_inst *inst = op->x->isa;
    if (inst->sdwa || inst->dpp || !stretch_is_row(&inst->dst))
        return false;
    if (op->x->op == ISA_OP_v_cndmask_b32)
        return kind == NAN_F32;
    const unsigned count = kind == NAN_F64 ? 2 : 1;
    return op->x->op == (kind == NAN_F64 ? ISA_OP_v_div_fixup_f64 : ISA_OP_v_div_fixup_f32) &&
           stretch_row(&inst->src[0]) == row && !reads_source(op, 1, row, count) &&
           !reads_source(op, 2, row, count);
}

static bool use_is_harmless(struct lane_op *op, unsigned row, enum nan_kind kind)
{
    const unsigned halves = op->nan_kind ? hands_on(op, row, kind) : 0;
    if (halves)
        return !(halves & ~op->harmless);
    if (!may_stop(op, row, kind))
        return nans_is_comparison(op->x->op) && !op->x->isa->sdwa && !op->x->isa->dpp;
    op->stops_nans = true;
    return true;
}

static bool row_is_harmless(struct emit *e, unsigned at, unsigned row, enum nan_kind kind)
{
    const unsigned rows = kind == NAN_F64 ? 2 : 1;
    for (unsigned j = at + 1; j < e->ops; j++) {
        if (reads_rows(e, &e->op[j], row, rows) && !use_is_harmless(&e->op[j], row, kind))
            return false;
        const struct isa_operand *d = &e->op[j].x->isa->dst;
        if (writes_row(&e->op[j], row, rows))
            return stretch_row(d) <= row && stretch_row(d) + d->dwords >= row + rows;
    }
    if (e->loop)
        return false;
    const size_t behind = (size_t)(e->op[e->ops - 1].x - e->block->x) + 1;
    for (unsigned i = row; i < row + rows; i++)
        if (live_before(e->live, behind, i) || live_before(e->live, e->at, i))
            return false;
    return true;
}

static unsigned find_harmless(struct emit *e, unsigned at)
{
    const struct lane_op *op = &e->op[at];
    const struct isa_inst *inst = op->x->isa;
    if (!op->nan_kind || inst->clamp || inst->sdwa || inst->dpp)
        return 0;
    const unsigned row = stretch_row(&inst->dst);
    if (op->nan_kind != NAN_PAIR)
        return row_is_harmless(e, at, row, op->nan_kind) ? WHOLE : 0;
    return (row_is_harmless(e, at, row, NAN_F32) ? LOW : 0) |
           (row_is_harmless(e, at, row + 1, NAN_F32) ? HIGH : 0);
}

/* Whether it hands a row on as it is, and nothing else. */
static bool copies(const struct lane_op *op, unsigned row, enum nan_kind kind)
{
    const struct isa_inst *inst = op->x->isa;
    return kind == NAN_F32 && op->x->op == ISA_OP_v_mov_b32 && !inst->sdwa && !inst->dpp &&
           stretch_is_row(&inst->src[0]) && stretch_row(&inst->src[0]) == row &&
           !((inst->neg | inst->abs) & 1);
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
        if (hands_on(&e->op[j], row, kind) & ~e->op[j].harmless)
            return true;
        if (copies(&e->op[j], row, kind) && row_is_seen_later(e, j, stretch_row(&e->op[j].x->isa->dst), kind))
            return true;
        if (writes_row(&e->op[j], row, rows))
            return false;
    }
    if (!e->loop || e->loop->reads_memory)
        return false;
    for (unsigned j = 0; j <= at; j++) {
        if (hands_on(&e->op[j], row, kind) & ~e->op[j].harmless) {
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
    return (op->harmless & LOW || row_is_seen_later(e, at, row, NAN_F32)) &&
           (op->harmless & HIGH || row_is_seen_later(e, at, row + 1, NAN_F32));
}

/* Its NaN may stand for another number, which the handler knows: somebody has to look. */
static bool makes_tokens(const struct lane_op *op)
{
    switch (op->x->op) {
#undef HN_1
#undef HT_1
#define HN_1(name, ...)
#define HT_1(name, ...) case ISA_OP_##name:
#include "sem/vector/valu_cvt.def"
        return true;
    default:
        return false;
    }
}

void nans_find(struct emit *e)
{
    for (unsigned i = 0; i < e->ops; i++)
        e->op[i].nan_kind = nans_kind(e->op[i].x->isa->op); /* of a read none */
    for (unsigned i = e->ops; i-- > 0;)
        e->op[i].harmless =
            makes_tokens(&e->op[i])
                ? 0
                : (uint8_t)(find_harmless(e, i) | (e->region ? region_hides_nans(e, &e->op[i]) : 0));
    for (unsigned i = 0; i < e->ops; i++)
        e->op[i].checks = e->op[i].harmless != WHOLE && !is_seen_later(e, i);
}

llvm_value nans_of_half(struct emit *e, const struct lane_op *op, const llvm_value *rows)
{
    return op->harmless ? nans_in(e, NULL, rows[op->harmless == LOW]) : NULL;
}

llvm_value nans_in(struct emit *e, llvm_value low, llvm_value high)
{
    const struct llvm *l = e->l;
    if (!low) {
        llvm_type floats = l->VectorType(l->FloatTypeInContext(e->context), e->slice);
        llvm_value values = l->BuildBitCast(e->b, high, floats, "");
        return l->BuildFCmp(e->b, LLVM_UNORDERED, values, values, "");
    }
    llvm_value magnitude = l->BuildAnd(e->b, high, slice_constant(e, INT32_MAX), "");
    llvm_value infinity = slice_constant(e, 0x7ff00000);
    llvm_value nan = l->BuildICmp(e->b, LLVM_ULT, infinity, magnitude, "");
    llvm_value some = l->BuildICmp(e->b, LLVM_NE, low, l->ConstNull(e->row), "");
    some = l->BuildAnd(e->b, some, l->BuildICmp(e->b, LLVM_EQ, infinity, magnitude, ""), "");
    return l->BuildOr(e->b, nan, some, "");
}
