/* SPDX-License-Identifier: MIT */
/* What VOP3P's modifiers make of sources, whose meaning depends on the instruction (MI300 ISA, 13.3.6). */
#include <limits.h>
#include <string.h>

#include "jit/emit.h"

enum packed {
    PACKED_OTHER,
    PACKED_PAIRS,        /* OP_SEL chooses registers, NEG and NEG_HI are signs of f32 */
    PACKED_MOVE,         /* OP_SEL chooses each source's register */
    PACKED_HALVES,       /* OP_SEL chooses halves */
    PACKED_FLOAT_HALVES, /* whose signs are NEG and NEG_HI */
    PACKED_DOT_HALVES,   /* OP_SEL chooses halves of the first two sources */
    PACKED_DOT_F16,      /* whose signs are NEG and NEG_HI, and NEG the third source's */
    PACKED_DOT,          /* no modifiers */
    PACKED_MIX,          /* OP_SEL_HI: an f16, from the half that OP_SEL says; NEG_HI is the absolute value */
};

static enum packed packed_of(unsigned op)
{
    switch (op) {
#define PK_F32(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return PACKED_PAIRS;
#define PK_F16(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return PACKED_FLOAT_HALVES;
#define PK_INT(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return PACKED_HALVES;
#define PK_DOT(name, bits, ...)                                                                              \
    case ISA_OP_##name:                                                                                      \
        return (bits) == 16 ? PACKED_DOT_HALVES : PACKED_DOT;
#define PK_DOT_F16(name)                                                                                     \
    case ISA_OP_##name:                                                                                      \
        return PACKED_DOT_F16;
#define PK_MIX(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return PACKED_MIX;
#include "sem/vector/packed.def"
    case ISA_OP_v_pk_mov_b32:
        return PACKED_MOVE;
    default:
        return PACKED_OTHER;
    }
}

bool packed_is_known(const struct isa_inst *inst)
{
    switch (packed_of(inst->op)) {
    case PACKED_OTHER:
        return false;
    case PACKED_MIX:
        return !inst->clamp; /* which is done before the result is narrowed */
    default:
        return true;
    }
}

unsigned packed_rows_read(const struct isa_inst *inst, int i)
{
    if (inst->format != ISA_VOP3P || packed_of(inst->op) != PACKED_PAIRS || inst->src[i].dwords != 2)
        return UINT_MAX;
    return 1u << (inst->op_sel >> i & 1) | 1u << (inst->op_sel_hi >> i & 1);
}

/* The sign of a row: cleared, then flipped. */
static llvm_value with_sign(struct emit *e, struct slice *s, llvm_value row, bool absolute, bool negate)
{
    if (!absolute && !negate)
        return row;
    struct body_rows r = {0};
    r.row[BODY_A][0] = row;
    r.row[BODY_B][0] = slice_constant(e, absolute ? 0x7fffffff : UINT32_MAX);
    r.row[BODY_C][0] = slice_constant(e, negate ? 0x80000000 : 0);
    slice_modify(e, s, "slice_modify_sign", &r);
    return r.row[BODY_D][0];
}

static llvm_value halves(struct emit *e, struct slice *s, llvm_value row, bool low, bool high, uint32_t flip)
{
    if (!low && high && !flip)
        return row;
    struct body_rows r = {0};
    r.row[BODY_A][0] = row;
    r.row[BODY_B][0] = slice_constant(e, low);
    r.row[BODY_C][0] = slice_constant(e, high);
    r.row[BODY_M][0] = slice_constant(e, flip);
    slice_modify(e, s, "slice_modify_halves", &r);
    return r.row[BODY_D][0];
}

void packed_modify_source(struct emit *e, struct slice *s, const struct isa_inst *inst, int i,
                          llvm_value row[BODY_ROWS_MAX])
{
    const bool low = inst->op_sel >> i & 1, high = inst->op_sel_hi >> i & 1;
    const bool neg = inst->neg >> i & 1, neg_hi = inst->neg_hi >> i & 1;
    switch (packed_of(inst->op)) {
    case PACKED_PAIRS: {
        llvm_value first = row[low], second = row[high];
        row[0] = with_sign(e, s, first, false, neg);
        row[1] = with_sign(e, s, second, false, neg_hi);
        break;
    }
    case PACKED_MOVE:
        row[0] = row[low];
        break;
    case PACKED_FLOAT_HALVES:
    case PACKED_DOT_F16:
        if (packed_of(inst->op) == PACKED_DOT_F16 && i == 2)
            row[0] = with_sign(e, s, row[0], false, neg);
        else
            row[0] = halves(e, s, row[0], low, high, (neg ? 0x8000u : 0) | (neg_hi ? 0x80000000u : 0));
        break;
    case PACKED_DOT_HALVES:
        if (i < 2)
            row[0] = halves(e, s, row[0], low, high, 0);
        break;
    case PACKED_HALVES:
        row[0] = halves(e, s, row[0], low, high, 0);
        break;
    case PACKED_MIX:
        if (high) {
            struct body_rows r = {0};
            r.row[BODY_A][0] = row[0];
            slice_modify(e, s, low ? "slice_modify_mix_high" : "slice_modify_mix_low", &r);
            row[0] = r.row[BODY_D][0];
        }
        row[0] = with_sign(e, s, row[0], neg_hi, neg);
        break;
    default:
        break;
    }
}
