/* SPDX-License-Identifier: MIT */
/*
 * Logic of masks.  What the scalar ALU makes of a mask that a compare of the stretch has made is lane-wise
 * too: each slice does it with its own bits, so that the stretch goes on.  SCC, whether any lane's bit is
 * set, is found from the bits of all slices when somebody reads it.
 *
 * Whether an instruction is such follows from those before it in the stretch: the handlers that redo the
 * stretch go by the same rule (redo.c).
 */
#include <string.h>

#include "isa/facts.h"
#include "jit/emit.h"

static bool is_pair(const struct isa_operand *o, unsigned last)
{
    return o->kind == ISA_SGPR && o->dwords == 2 && !(o->reg & 1) && o->reg <= last;
}

static bool is_source(const struct isa_operand *o)
{
    return o->kind == ISA_CONST || is_pair(o, SREG_EXEC);
}

bool masks_is_logic(const struct isa_inst *inst)
{
    switch (inst->op) {
    case ISA_OP_s_and_b64:
    case ISA_OP_s_or_b64:
    case ISA_OP_s_xor_b64:
    case ISA_OP_s_andn2_b64:
    case ISA_OP_s_orn2_b64:
    case ISA_OP_s_nand_b64:
    case ISA_OP_s_nor_b64:
    case ISA_OP_s_xnor_b64:
        return is_pair(&inst->dst, SREG_VCC) && is_source(&inst->src[0]) && is_source(&inst->src[1]);
    case ISA_OP_s_mov_b64:
    case ISA_OP_s_not_b64:
        return is_pair(&inst->dst, SREG_VCC) && is_source(&inst->src[0]);
    default:
        return false;
    }
}

unsigned masks_sources(const struct isa_inst *inst)
{
    return inst->op == ISA_OP_s_mov_b64 || inst->op == ISA_OP_s_not_b64 ? 1 : 2;
}

bool masks_has_made(const bool *made, const struct isa_inst *inst)
{
    if (!masks_is_logic(inst))
        return false;
    for (unsigned i = 0; i < masks_sources(inst); i++)
        if (inst->src[i].kind == ISA_SGPR && made[inst->src[i].reg])
            return true;
    return false;
}

llvm_value masks_combine(struct emit *e, unsigned op, const llvm_value source[2])
{
    const struct llvm *l = e->l;
    llvm_value a = source[0], b = source[1];
    switch (op) {
    case ISA_OP_s_and_b64:
        return l->BuildAnd(e->b, a, b, "");
    case ISA_OP_s_or_b64:
        return l->BuildOr(e->b, a, b, "");
    case ISA_OP_s_xor_b64:
        return l->BuildXor(e->b, a, b, "");
    case ISA_OP_s_andn2_b64:
        return l->BuildAnd(e->b, a, l->BuildNot(e->b, b, ""), "");
    case ISA_OP_s_orn2_b64:
        return l->BuildOr(e->b, a, l->BuildNot(e->b, b, ""), "");
    case ISA_OP_s_nand_b64:
        return l->BuildNot(e->b, l->BuildAnd(e->b, a, b, ""), "");
    case ISA_OP_s_nor_b64:
        return l->BuildNot(e->b, l->BuildOr(e->b, a, b, ""), "");
    case ISA_OP_s_xnor_b64:
        return l->BuildNot(e->b, l->BuildXor(e->b, a, b, ""), "");
    case ISA_OP_s_not_b64:
        return l->BuildNot(e->b, a, "");
    default: /* s_mov_b64 */
        return a;
    }
}

void masks_take(struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    struct lane_op op = {.x = x, .mask_reg = -1, .logic = true};
    for (unsigned i = 0; i < masks_sources(inst); i++) {
        const struct isa_operand *o = &inst->src[i];
        if (o->kind == ISA_CONST) {
            op.pair[i] = emit_i64(e, o->value);
        } else if (o->reg != SREG_EXEC && !e->mask_written[o->reg]) {
            op.pair[i] = scalars_get64(e, o->reg);
            memset(e->scalar_read + o->reg, true, 2);
        }
    }
    memset(e->mask_written + inst->dst.reg, true, 2);
    if (isa_facts[inst->op].effects & ISA_E_SETS_SCC)
        memset(e->mask_written + MASK_SCC, true, 2);
    stretch_take(e, &op);
}

bool masks_add(struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    if (!masks_has_made(e->mask_written, inst))
        return false;
    const unsigned to = inst->dst.reg;
    bool late = scalars_are_late(e, to, 2);
    for (unsigned i = 0; i < masks_sources(inst); i++)
        late |= inst->src[i].kind == ISA_SGPR && scalars_are_late(e, inst->src[i].reg, 2);
    if (e->ops == STRETCH_MAX || e->joined || late) {
        stretch_flush(e); /* then it is scalar */
        return false;
    }
    masks_take(e, x);
    return true;
}

void masks_emit(struct emit *e, struct slice *s, const struct lane_op *op)
{
    const struct isa_inst *inst = op->x->isa;
    llvm_value source[2] = {NULL, NULL};
    for (unsigned i = 0; i < masks_sources(inst); i++)
        source[i] = inst->src[i].kind == ISA_CONST  ? lanes_constant(e, inst->src[i].value, s->shift)
                    : op->pair[i]                   ? lanes_take(e, op->pair[i], s->shift)
                    : inst->src[i].reg == SREG_EXEC ? s->exec
                                                    : s->mask[inst->src[i].reg];
    llvm_value result = masks_combine(e, inst->op, source);
    s->mask[inst->dst.reg] = result;
    s->loose[inst->dst.reg] = NULL;
    if (isa_facts[inst->op].effects & ISA_E_SETS_SCC)
        s->mask[MASK_SCC] = result;
}

void masks_without_lanes(struct emit *e, llvm_value value[MASKS])
{
    for (unsigned n = 0; n < e->ops; n++) {
        const struct lane_op *op = &e->op[n];
        const struct isa_inst *inst = op->x->isa;
        if (stretch_makes_mask(op))
            value[op->x->sd] = emit_i64(e, 0);
        if (!op->logic)
            continue;
        llvm_value source[2] = {NULL, NULL};
        for (unsigned i = 0; i < masks_sources(inst); i++)
            source[i] = op->pair[i]                     ? op->pair[i]
                        : inst->src[i].reg == SREG_EXEC ? emit_i64(e, 0)
                                                        : value[inst->src[i].reg];
        value[inst->dst.reg] = masks_combine(e, inst->op, source);
        if (isa_facts[inst->op].effects & ISA_E_SETS_SCC)
            value[MASK_SCC] = value[inst->dst.reg];
    }
}
