/* SPDX-License-Identifier: MIT */
/*
 * The instruction tables as C: isa/gfx942.def expanded into rows, the index
 * from (format, opcode) to a row, and isa/facts.def.
 */
#include "isa/isa.h"

#define FORM(mask, match, live) {mask, match, live}
#define NOFORM                  {0, 0, 0}

/* clang-format off */
const struct isa_row isa_rows[] = {
#define INST(fmt, opcode, name, flags, dst, sdst, s0, s1, s2, s3, where, plain, sdwa, dpp)                   \
    {#name, ISA_##fmt, opcode, ISA_OP_##name, flags, ISA_T_##dst, ISA_T_##sdst,                              \
     {ISA_T_##s0, ISA_T_##s1, ISA_T_##s2, ISA_T_##s3}, where, {plain, sdwa, dpp}},
#include "gfx942.def"
#undef INST
};
/* clang-format on */

const size_t isa_row_count = sizeof isa_rows / sizeof isa_rows[0];

enum row_number {
#define INST(fmt, opcode, ...) ROW_##fmt##_##opcode,
#include "gfx942.def"
#undef INST
};

enum { OPCODES = 768 };
static const uint16_t row_index[ISA_FMT_COUNT][OPCODES] = {
#define INST(fmt, opcode, ...) [ISA_##fmt][opcode] = ROW_##fmt##_##opcode + 1,
#include "gfx942.def"
#undef INST
};

const struct isa_facts isa_facts[ISA_OP_COUNT] = {
#define FACTS(name, unit, passes, math, mops, effects)                                                       \
    [ISA_OP_##name] = {ISA_UNIT_##unit, passes, ISA_MATH_##math, mops, effects},
#include "facts.def"
#undef FACTS
};

static const char *const op_names[ISA_OP_COUNT] = {
    [ISA_OP_INVALID] = "invalid",
#define FACTS(name, ...) [ISA_OP_##name] = #name,
#include "facts.def"
#undef FACTS
};

static const char *const format_names[ISA_FMT_COUNT] = {
    [ISA_FMT_NONE] = "none",     [ISA_SOP2] = "SOP2",     [ISA_SOPK] = "SOPK",       [ISA_SOP1] = "SOP1",
    [ISA_SOPC] = "SOPC",         [ISA_SOPP] = "SOPP",     [ISA_SMEM] = "SMEM",       [ISA_VOP1] = "VOP1",
    [ISA_VOP2] = "VOP2",         [ISA_VOPC] = "VOPC",     [ISA_VOP3] = "VOP3",       [ISA_VOP3P] = "VOP3P",
    [ISA_VOP3PMAI] = "VOP3PMAI", [ISA_DS] = "DS",         [ISA_MUBUF] = "MUBUF",     [ISA_MTBUF] = "MTBUF",
    [ISA_FLAT] = "FLAT",         [ISA_GLOBAL] = "GLOBAL", [ISA_SCRATCH] = "SCRATCH",
};

static const uint8_t type_dwords[ISA_T_COUNT] = {
    [ISA_T_B8] = 1,     [ISA_T_I8] = 1,   [ISA_T_U8] = 1,    [ISA_T_B16] = 1,    [ISA_T_I16] = 1,
    [ISA_T_U16] = 1,    [ISA_T_F16] = 1,  [ISA_T_BF16] = 1,  [ISA_T_B32] = 1,    [ISA_T_I32] = 1,
    [ISA_T_U32] = 1,    [ISA_T_F32] = 1,  [ISA_T_B64] = 2,   [ISA_T_I64] = 2,    [ISA_T_U64] = 2,
    [ISA_T_F64] = 2,    [ISA_T_PK16] = 1, [ISA_T_PKF16] = 1, [ISA_T_PKBF16] = 1, [ISA_T_PKF32] = 2,
    [ISA_T_PKB32] = 2,  [ISA_T_B96] = 3,  [ISA_T_B128] = 4,  [ISA_T_B256] = 8,   [ISA_T_B512] = 16,
    [ISA_T_B1024] = 32, [ISA_T_MASK] = 2,
};

const struct isa_row *isa_row_find(unsigned format, unsigned opcode)
{
    if (format >= ISA_FMT_COUNT || opcode >= OPCODES)
        return NULL;
    unsigned row = row_index[format][opcode];
    if (!row && format == ISA_VOP3P)
        row = row_index[ISA_VOP3PMAI][opcode];
    return row ? &isa_rows[row - 1] : NULL;
}

const char *isa_op_name(unsigned op)
{
    return op_names[op < ISA_OP_COUNT ? op : ISA_OP_INVALID];
}

const char *isa_format_name(unsigned format)
{
    return format_names[format < ISA_FMT_COUNT ? format : ISA_FMT_NONE];
}

unsigned isa_type_dwords(unsigned type)
{
    return type < ISA_T_COUNT ? type_dwords[type] : 0;
}
