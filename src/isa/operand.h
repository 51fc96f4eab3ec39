/* SPDX-License-Identifier: MIT */
/*
 * Source and destination fields to operands: what decode.c shares between formats.
 */
#ifndef EHP_ISA_OPERAND_H
#define EHP_ISA_OPERAND_H

#include "isa/isa.h"

/* Source field encodings that all targets have, from "AMD Instinct MI300 ISA", 13.3.1, table 76; scalar
 * registers, below SRC_INT_MIN, have the target's numbers.  Specials have these as registers, too. */
enum {
    SRC_NULL = 125, /* as a register; the field's number is the target's */
    SRC_INT_MIN = 128,
    SRC_INT_MAX = 208,
    SRC_FLAT_BASE = 230, /* and 231 */
    SRC_APERTURE_MIN = 235,
    SRC_APERTURE_MAX = 239,
    SRC_FLOAT_MIN = 240,
    SRC_FLOAT_MAX = 248,
    SRC_SDWA = 249,
    SRC_DPP = 250,
    SRC_VCCZ = 251,
    SRC_SCC = 253,
    SRC_LDS_DIRECT = 254,
    SRC_LITERAL = 255,
    SRC_VGPR = 256,
};

/* The instruction's bits, and its literal once somebody asked for it. */
struct isa_bits {
    uint64_t raw;         /* the first two dwords; the second is 0 when there is none */
    uint64_t live;        /* raw, less the fields that this instruction ignores */
    uint32_t literal;     /* the dword behind the encoding */
    bool has_literal;     /* it can be read */
    bool literal_allowed; /* this encoding may have one */
    bool literal_used;
};

static inline uint32_t isa_field(uint64_t bits, unsigned low, unsigned width)
{
    return (uint32_t)(bits >> low & ((UINT64_C(1) << width) - 1));
}

/* Each returns false when the field is nothing that the operand can be. */
bool isa_operand_sgpr(const struct isa_target *target, struct isa_operand *o, unsigned field, unsigned type);
bool isa_operand_vgpr(struct isa_operand *o, unsigned reg, unsigned type, bool agpr);
bool isa_operand_literal(struct isa_operand *o, struct isa_bits *bits, unsigned type);
/* A 9-bit source field (8 for scalar formats); `where` as in struct isa_row, 'x' and 'g' with `agpr`. */
bool isa_operand_source(const struct isa_target *target, struct isa_operand *o, struct isa_bits *bits,
                        unsigned field, unsigned type, char where, bool agpr);
void isa_operand_vcc(struct isa_operand *o);

#endif
