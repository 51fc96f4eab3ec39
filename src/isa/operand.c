/* SPDX-License-Identifier: MIT */
/*
 * Operand fields: register numbers, the target's to those of inst.h, inline
 * constants by the operand's type, literals.
 *
 * Source: "AMD Instinct MI300 ISA", 13.3.1 (source encodings), 5.2 and 6.2
 * (what constants mean by operand size).
 */
#include "isa/operand.h"

/* 0.5 -0.5 1.0 -1.0 2.0 -2.0 4.0 -4.0 1/(2*pi) */
static const uint16_t float16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118};
static const uint32_t float32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                   0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
static const uint64_t float64[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                   0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                   0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};

static void set_register(struct isa_operand *o, unsigned kind, unsigned reg, unsigned type)
{
    *o = (struct isa_operand){.kind = (uint8_t)kind,
                              .type = (uint8_t)type,
                              .dwords = (uint8_t)isa_type_dwords(type),
                              .reg = (uint16_t)reg};
}

/* One of a pair with a name, or both. */
static bool named_register(const struct isa_sreg_numbers *n, unsigned field, unsigned dwords, unsigned *reg)
{
    const struct {
        uint8_t number;
        uint8_t reg;
    } pairs[] = {{n->flat_scratch, SREG_FLAT_SCRATCH},
                 {n->xnack_mask, SREG_XNACK_MASK},
                 {n->vcc, SREG_VCC},
                 {n->exec, SREG_EXEC}};
    if (dwords > 2 || (dwords == 2 && (field & 1)))
        return false;
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        *reg = pairs[i].reg + (field - pairs[i].number);
        if (pairs[i].number != ISA_NO_SREG && field - pairs[i].number < 2)
            return true;
    }
    return false;
}

bool isa_operand_sgpr(const struct isa_target *target, struct isa_operand *o, unsigned field, unsigned type)
{
    const struct isa_sreg_numbers *n = &target->sreg;
    unsigned dwords = isa_type_dwords(type), reg;
    unsigned align = dwords <= 1 ? 1 : dwords == 2 ? 2 : 4;
    if (field < n->sgprs) {
        /* The low bits of a tuple's number are ignored. */
        reg = field & ~(align - 1);
        if (reg + dwords > n->tuples_end)
            return false;
    } else if (field - n->ttmp < n->ttmps) {
        reg = (field - n->ttmp) & ~(align - 1);
        if (reg + dwords > n->ttmps)
            return false;
        reg += SREG_TTMP;
    } else if (field == n->m0) {
        if (dwords != 1)
            return false;
        reg = SREG_M0;
    } else if (field == n->null) {
        set_register(o, ISA_SPECIAL, SRC_NULL, type);
        return true;
    } else if (!named_register(n, field, dwords, &reg)) {
        return false;
    }
    set_register(o, ISA_SGPR, reg, type);
    return true;
}

bool isa_operand_vgpr(struct isa_operand *o, unsigned reg, unsigned type, bool agpr)
{
    unsigned dwords = isa_type_dwords(type);
    /* Tuples start at an even register: "AMD Instinct MI300 ISA", 3.6.4. */
    if (dwords > 1 && (reg & 1))
        return false;
    if (agpr && reg + dwords > 256) /* of VGPRs assemblers do not check this: isa_decode() marks them */
        return false;
    set_register(o, agpr ? ISA_AGPR : ISA_VGPR, reg, type);
    return true;
}

bool isa_operand_literal(struct isa_operand *o, struct isa_bits *bits, unsigned type)
{
    if (!bits->literal_allowed || !bits->has_literal)
        return false;
    bits->literal_used = true;
    set_register(o, ISA_CONST, SRC_LITERAL, type);
    o->literal = true;
    switch (type) {
    case ISA_T_F64: /* the high half */
        o->value = (uint64_t)bits->literal << 32;
        break;
    case ISA_T_I64:
        o->value = (uint64_t)(int64_t)(int32_t)bits->literal;
        break;
    default:
        o->value = bits->literal;
        break;
    }
    return true;
}

static uint64_t inline_float(unsigned which, unsigned type)
{
    switch (type) {
    case ISA_T_F16:
    case ISA_T_PKF16:
    case ISA_T_B16:
    case ISA_T_I16:
    case ISA_T_U16:
        return float16[which];
    case ISA_T_F64:
    case ISA_T_I64:
    case ISA_T_U64:
    case ISA_T_B64:
    case ISA_T_MASK:
    case ISA_T_B256: /* the accumulator of an f64 matrix product */
        return float64[which];
    default:
        return float32[which];
    }
}

static bool scalar_constant(struct isa_operand *o, unsigned field, unsigned type)
{
    uint64_t value;
    if (field >= SRC_INT_MIN && field <= SRC_INT_MAX)
        value = field <= SRC_INT_MIN + 64 ? field - SRC_INT_MIN : (uint64_t)(int64_t)(192 - (int)field);
    else if (field >= SRC_FLOAT_MIN && field <= SRC_FLOAT_MAX)
        value = inline_float(field - SRC_FLOAT_MIN, type);
    else
        return false;
    set_register(o, ISA_CONST, field, type);
    o->value = value;
    return true;
}

bool isa_operand_source(const struct isa_target *target, struct isa_operand *o, struct isa_bits *bits,
                        unsigned field, unsigned type, char where, bool agpr)
{
    if (field >= SRC_VGPR) {
        if (where == 'c' || where == 's')
            return false;
        return isa_operand_vgpr(o, field - SRC_VGPR, type, agpr);
    }
    /* Assemblers take specials, but neither SGPRs nor constants, for a VGPR: isa_decode() marks those. */
    bool vector = where == 'v' || where == 'l' || where == 'x' || where == 'g';
    if (field < SRC_INT_MIN && (!vector || field == target->sreg.null))
        return isa_operand_sgpr(target, o, field, type);
    if (where != 's' && !vector && field == SRC_LITERAL)
        return isa_operand_literal(o, bits, type);
    if ((field >= SRC_APERTURE_MIN && field <= SRC_APERTURE_MAX) ||
        (field >= SRC_FLAT_BASE && field <= SRC_FLAT_BASE + 1) || (field >= SRC_VCCZ && field <= SRC_SCC)) {
        if (isa_type_dwords(type) > 2 || (isa_type_dwords(type) == 2 && field == SRC_FLAT_BASE + 1))
            return false;
        set_register(o, ISA_SPECIAL, field, type);
        return true;
    }
    if (field == SRC_LDS_DIRECT && (where == 'a' || where == 'l') && isa_type_dwords(type) == 1) {
        set_register(o, ISA_SPECIAL, field, type);
        return true;
    }
    return where != 's' && !vector && scalar_constant(o, field, type);
}

void isa_operand_vcc(struct isa_operand *o)
{
    set_register(o, ISA_SGPR, SREG_VCC, ISA_T_MASK);
}
