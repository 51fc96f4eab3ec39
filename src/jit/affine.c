/* SPDX-License-Identifier: MIT */
/* What instructions make of their sources; see affine.h. */
#include "jit/affine.h"

#include <string.h>

#include "jit/affine_node.h"
#include "jit/emit.h"
#include "sem/memory/memop.h"

void affine_clear(struct affine *a)
{
    memset(a->row, 0, sizeof(a->row));
    memset(a->carry, 0, sizeof(a->carry));
    a->count = AFFINE_FIRST;
    a->pairs = false;
}

void affine_forget_masks(struct affine *a, unsigned reg, unsigned count)
{
    memset(a->carry + reg, 0, count * sizeof(*a->carry));
}

/* ---- nodes ---- */

static unsigned add_node(struct affine *a, struct affine_node node)
{
    if (a->count == AFFINE_NODES)
        return AFFINE_UNKNOWN;
    a->node[a->count] = node;
    return a->count++;
}

/* Of one or two others, of which none may be unknown. */
static unsigned make(struct affine *a, enum affine_kind kind, bool wide, unsigned x, unsigned y)
{
    if (x == AFFINE_UNKNOWN || y == AFFINE_UNKNOWN)
        return AFFINE_UNKNOWN;
    return add_node(a, (struct affine_node){.kind = kind, .wide = wide, .a = (uint16_t)x, .b = (uint16_t)y});
}

/* Of another and a constant. */
static unsigned make_by(struct affine *a, enum affine_kind kind, bool wide, unsigned x, uint32_t number)
{
    if (x == AFFINE_UNKNOWN || ((kind == AFFINE_LSHR || kind == AFFINE_SHL) && !number))
        return x;
    return add_node(a, (struct affine_node){.kind = kind, .wide = wide, .a = (uint16_t)x, .number = number});
}

static unsigned scalar(struct affine *a, bool wide, llvm_value low, llvm_value high)
{
    return add_node(a, (struct affine_node){.kind = AFFINE_SCALAR, .wide = wide, .scalar = {low, high}});
}

static unsigned row(struct affine *a, unsigned number)
{
    if (a->row[number] == AFFINE_UNTOUCHED)
        a->row[number] = (uint16_t)add_node(a, (struct affine_node){.kind = AFFINE_ROW, .number = number});
    return a->row[number];
}

/* Two rows as they are before. */
static unsigned pair(struct affine *a, unsigned number)
{
    for (unsigned i = AFFINE_FIRST; i < a->count; i++)
        if (a->node[i].kind == AFFINE_PAIR && a->node[i].number == number)
            return i;
    return add_node(a, (struct affine_node){.kind = AFFINE_PAIR, .wide = true, .number = number});
}

/* Two values of 32 bits as one of 64. */
static unsigned join(struct affine *a, unsigned low, unsigned high)
{
    const struct affine_node *l = &a->node[low], *h = &a->node[high];
    if (low == AFFINE_UNKNOWN || high == AFFINE_UNKNOWN)
        return AFFINE_UNKNOWN;
    if (h->kind == AFFINE_HIGH && h->b == low) /* of one value */
        return h->a;
    if (a->pairs && l->kind == AFFINE_ROW && h->kind == AFFINE_ROW && h->number == l->number + 1)
        return pair(a, l->number);
    if (h->kind == AFFINE_ASHR && h->number == 31 && h->a == low)
        return make(a, AFFINE_SEXT, true, low, 0);
    if (l->kind == AFFINE_SCALAR && h->kind == AFFINE_SCALAR)
        return scalar(a, true, l->scalar[0], h->scalar[0]);
    return make(a, AFFINE_JOIN, true, low, high);
}

unsigned affine_row(struct affine *a, unsigned number)
{
    return row(a, number);
}

unsigned affine_wide(struct affine *a, unsigned number)
{
    return join(a, row(a, number), row(a, number + 1));
}

/* ---- sources and results ---- */

static unsigned source(struct affine *a, const struct lane_op *op, int i)
{
    const struct isa_operand *o = &op->x->isa->src[i];
    return stretch_is_row(o) ? row(a, stretch_row(o)) : scalar(a, false, op->scalar[i][0], NULL);
}

static unsigned wide_source(struct affine *a, const struct lane_op *op, int i)
{
    const struct isa_operand *o = &op->x->isa->src[i];
    if (stretch_is_row(o))
        return join(a, row(a, stretch_row(o)), row(a, stretch_row(o) + 1));
    return scalar(a, true, op->scalar[i][0], op->scalar[i][1]);
}

/* A source that is a small constant. */
static bool constant(const struct lane_op *op, int i, uint32_t limit, uint32_t *number)
{
    const struct isa_operand *o = &op->x->isa->src[i];
    *number = (uint32_t)o->value;
    return o->kind == ISA_CONST && o->value < limit;
}

static void set(struct affine *a, const struct lane_op *op, unsigned node)
{
    a->row[stretch_row(&op->x->isa->dst)] = (uint16_t)node;
}

/* The lower half is known where the upper one of a source is not. */
static void set_wide(struct affine *a, const struct lane_op *op, unsigned node, unsigned low)
{
    const unsigned at = stretch_row(&op->x->isa->dst);
    a->row[at] = (uint16_t)low;
    a->row[at + 1] = (uint16_t)make(a, AFFINE_HIGH, false, low == AFFINE_UNKNOWN ? low : node, low);
}

static void forget(struct affine *a, const struct isa_operand *o)
{
    for (unsigned d = 0; stretch_is_row(o) && d < o->dwords; d++)
        a->row[stretch_row(o) + d] = AFFINE_UNKNOWN;
}

/* ---- instructions ---- */

static unsigned sum(struct affine *a, unsigned x, unsigned y)
{
    return make(a, AFFINE_ADD, false, x, y);
}

static unsigned shifted(struct affine *a, const struct lane_op *op, unsigned value, int by)
{
    uint32_t number;
    return constant(op, by, 32, &number) ? make_by(a, AFFINE_SHL, false, value, number) : AFFINE_UNKNOWN;
}

static unsigned masked(struct affine *a, const struct lane_op *op, int x, int y)
{
    const bool swap = !stretch_is_row(&op->x->isa->src[x]);
    return make(a, AFFINE_AND, false, source(a, op, swap ? y : x), source(a, op, swap ? x : y));
}

static unsigned field(struct emit *e, const struct lane_op *op)
{
    struct affine *a = &e->affine;
    uint32_t first, width;
    if (!constant(op, 1, 32, &first) || !constant(op, 2, 32, &width) || !width)
        return AFFINE_UNKNOWN;
    const unsigned value = make_by(a, AFFINE_LSHR, false, source(a, op, 0), first);
    return make(a, AFFINE_AND, false, value, scalar(a, false, emit_i32(e, (1u << width) - 1), NULL));
}

static unsigned product24(struct affine *a, const struct lane_op *op)
{
    return make(a, AFFINE_MUL, false, make_by(a, AFFINE_FITS, false, source(a, op, 0), 24),
                make_by(a, AFFINE_FITS, false, source(a, op, 1), 24));
}

/* The 32 bits that an instruction makes. */
static unsigned result(struct emit *e, const struct lane_op *op)
{
    struct affine *a = &e->affine;
    uint32_t by;
    switch (op->x->op) {
    case ISA_OP_v_mov_b32:
        return source(a, op, 0);
    case ISA_OP_v_add_u32:
        return sum(a, source(a, op, 0), source(a, op, 1));
    case ISA_OP_v_sub_u32:
        return make(a, AFFINE_SUB, false, source(a, op, 0), source(a, op, 1));
    case ISA_OP_v_subrev_u32:
        return make(a, AFFINE_SUB, false, source(a, op, 1), source(a, op, 0));
    case ISA_OP_v_add3_u32:
        return sum(a, sum(a, source(a, op, 0), source(a, op, 1)), source(a, op, 2));
    case ISA_OP_v_lshl_add_u32:
        return sum(a, shifted(a, op, source(a, op, 0), 1), source(a, op, 2));
    case ISA_OP_v_add_lshl_u32:
        return shifted(a, op, sum(a, source(a, op, 0), source(a, op, 1)), 2);
    case ISA_OP_v_lshl_or_b32:
        return make(a, AFFINE_OR, false, shifted(a, op, source(a, op, 0), 1), source(a, op, 2));
    case ISA_OP_v_or_b32:
        return make(a, AFFINE_OR, false, source(a, op, 0), source(a, op, 1));
    case ISA_OP_v_and_b32:
        return masked(a, op, 0, 1);
    case ISA_OP_v_and_or_b32:
        return make(a, AFFINE_OR, false, masked(a, op, 0, 1), source(a, op, 2));
    case ISA_OP_v_bfe_u32:
        return field(e, op);
    case ISA_OP_v_lshlrev_b32:
        return shifted(a, op, source(a, op, 1), 0);
    case ISA_OP_v_lshrrev_b32:
        return constant(op, 0, 32, &by) ? make_by(a, AFFINE_LSHR, false, source(a, op, 1), by)
                                        : AFFINE_UNKNOWN;
    case ISA_OP_v_ashrrev_i32:
        return constant(op, 0, 32, &by) && by ? make_by(a, AFFINE_ASHR, false, source(a, op, 1), by)
                                              : AFFINE_UNKNOWN;
    case ISA_OP_v_mul_lo_u32:
        return make(a, AFFINE_MUL, false, source(a, op, 0), source(a, op, 1));
    case ISA_OP_v_mul_u32_u24:
        return product24(a, op);
    case ISA_OP_v_mad_u32_u24:
        return sum(a, product24(a, op), source(a, op, 2));
    default:
        return AFFINE_UNKNOWN;
    }
}

/* The 64 bits that one makes, and the lower half of that by itself. */
static unsigned wide_result(struct affine *a, const struct lane_op *op, unsigned *low)
{
    uint32_t by;
    *low = AFFINE_UNKNOWN;
    switch (op->x->op) {
    case ISA_OP_v_lshlrev_b64:
        if (!constant(op, 0, 32, &by))
            return AFFINE_UNKNOWN;
        *low = make_by(a, AFFINE_SHL, false, source(a, op, 1), by);
        return make_by(a, AFFINE_SHL, true, wide_source(a, op, 1), by);
    case ISA_OP_v_lshl_add_u64:
        if (!constant(op, 1, 5, &by))
            return AFFINE_UNKNOWN;
        *low = sum(a, make_by(a, AFFINE_SHL, false, source(a, op, 0), by), source(a, op, 2));
        return make(a, AFFINE_ADD, true, make_by(a, AFFINE_SHL, true, wide_source(a, op, 0), by),
                    wide_source(a, op, 2));
    case ISA_OP_v_mad_u64_u32:
    case ISA_OP_v_mad_i64_i32: {
        const enum affine_kind widen = op->x->op == ISA_OP_v_mad_u64_u32 ? AFFINE_ZEXT : AFFINE_SEXT;
        const unsigned x = make(a, widen, true, source(a, op, 0), 0),
                       y = make(a, widen, true, source(a, op, 1), 0);
        *low = sum(a, make(a, AFFINE_MUL, false, source(a, op, 0), source(a, op, 1)), source(a, op, 2));
        return make(a, AFFINE_ADD, true, make(a, AFFINE_MUL, true, x, y), wide_source(a, op, 2));
    }
    default:
        return AFFINE_UNKNOWN;
    }
}

/* The upper halves of a sum of 64 bits, of which the lower ones are a sum that has been seen. */
static unsigned upper_sum(struct affine *a, const struct lane_op *op)
{
    const unsigned low = op->mask_reg >= 0 ? a->carry[op->mask_reg] : 0;
    if (!low)
        return AFFINE_UNKNOWN;
    const unsigned x = join(a, a->node[low].a, source(a, op, 0)),
                   y = join(a, a->node[low].b, source(a, op, 1));
    const unsigned all = make(a, AFFINE_ADD, true, x, y);
    return make(a, AFFINE_HIGH, false, all, low);
}

static bool is_plain(const struct isa_inst *inst)
{
    return !(inst->sdwa || inst->dpp || inst->neg || inst->abs || inst->clamp || inst->omod ||
             inst->op_sel) &&
           stretch_is_row(&inst->dst);
}

void affine_follow(struct emit *e, const struct lane_op *op)
{
    const struct isa_inst *inst = op->x->isa;
    struct affine *a = &e->affine;
    const bool plain = op->body && is_plain(inst);
    unsigned node = AFFINE_UNKNOWN, low = AFFINE_UNKNOWN;
    if (op->logic) {
        a->carry[inst->dst.reg] = 0;
        return;
    }
    if (plain && op->x->op == ISA_OP_v_addc_co_u32)
        node = upper_sum(a, op);
    else if (plain && op->x->op == ISA_OP_v_add_co_u32)
        node = sum(a, source(a, op, 0), source(a, op, 1));
    else if (plain && inst->dst.dwords == 1)
        node = result(e, op);
    else if (plain && inst->dst.dwords == 2)
        node = wide_result(a, op, &low);
    forget(a, &inst->dst);
    if (op->x->op == ISA_OP_v_swap_b32)
        forget(a, &inst->src[0]);
    if (stretch_makes_mask(op))
        a->carry[op->x->sd] = node != AFFINE_UNKNOWN && op->x->op == ISA_OP_v_add_co_u32 ? (uint16_t)node : 0;
    if (low != AFFINE_UNKNOWN)
        set_wide(a, op, node, low);
    else if (node != AFFINE_UNKNOWN && inst->dst.dwords == 1)
        set(a, op, node);
}

/* One that says the same and was there before, instead of the last node; a loop's go by their number. */
static unsigned known(struct affine *a, unsigned last)
{
    const struct affine_node *n = &a->node[last];
    for (unsigned i = AFFINE_FIRST; !a->pairs && last >= AFFINE_FIRST && i < last; i++) {
        const struct affine_node *o = &a->node[i];
        if (o->kind == n->kind && o->wide == n->wide && o->a == n->a && o->b == n->b &&
            o->number == n->number && o->scalar[0] == n->scalar[0] && o->scalar[1] == n->scalar[1]) {
            a->count -= last + 1 == a->count;
            return i;
        }
    }
    return last;
}

/* Instructions whose addresses are made alike have one node. */
unsigned affine_place_of(struct emit *e, const struct lane_op *op)
{
    struct affine *a = &e->affine;
    const unsigned at = (unsigned)op->x->s[0];
    if (op->x->isa->format != ISA_DS && !op->base)
        return known(a, join(a, row(a, at), row(a, at + 1)));
    const unsigned offset = known(a, make(a, AFFINE_ZEXT, true, row(a, at), 0));
    if (!op->base)
        return offset;
    return known(a, make(a, AFFINE_ADD, true, offset, known(a, scalar(a, true, op->base, NULL))));
}

bool affine_is_row(const struct affine *a, unsigned place, unsigned *number)
{
    const struct affine_node *n = &a->node[place], *of = &a->node[n->a];
    *number = of->number;
    return n->kind == AFFINE_ZEXT && of->kind == AFFINE_ROW;
}
