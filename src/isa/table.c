/* SPDX-License-Identifier: MIT */
/*
 * What the instruction sets share, as C: isa/facts.def, names, and which targets there are.
 */
#include <string.h>

#include "isa/isa.h"

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

const struct isa_target *isa_target_find(const char *id)
{
    static const struct isa_target *const targets[] = {&isa_gfx942};
    const size_t length = strcspn(id, ":");
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++)
        if (strlen(targets[i]->name) == length && !memcmp(targets[i]->name, id, length))
            return targets[i];
    return NULL;
}

const struct isa_row *isa_row_find(const struct isa_target *target, unsigned format, unsigned opcode)
{
    if (format >= ISA_FMT_COUNT || opcode >= ISA_OPCODES)
        return NULL;
    unsigned row = target->index[format][opcode];
    if (!row && format == ISA_VOP3P)
        row = target->index[ISA_VOP3PMAI][opcode];
    return row ? &target->rows[row - 1] : NULL;
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
