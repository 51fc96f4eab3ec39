/* SPDX-License-Identifier: MIT */
/*
 * What is known of each instruction beside its operands and its result: the
 * unit that executes it and for how long, the arithmetic that it is counted as,
 * and what it does to registers that no operand names, to memory and to
 * control.  Whoever treats instructions differently asks here, and looks at no
 * mnemonic.
 *
 * The facts belong to the meaning, whatever its encoding.  isa/facts.def has
 * them, and isa/fixes/facts.fixes their sources.  The oracles' tests compare
 * registers that change, and that matter, with them (tests/oracle/one_instruction.h).
 */
#ifndef EHP_ISA_FACTS_H
#define EHP_ISA_FACTS_H

#include "isa/inst.h"

/* The part of a CU that executes it. */
enum isa_unit {
    ISA_UNIT_CONTROL, /* none: s_nop, s_waitcnt, s_barrier, ... are done where instructions wait for their
                         issue */
    ISA_UNIT_SALU,
    ISA_UNIT_BRANCH,
    ISA_UNIT_MESSAGE,
    ISA_UNIT_SMEM,
    ISA_UNIT_VALU,
    ISA_UNIT_TRANS, /* the VALU's lanes for transcendentals, a quarter as many */
    ISA_UNIT_MATRIX,
    ISA_UNIT_LDS,
    ISA_UNIT_GWS,  /* global wave sync, by the LDS's way */
    ISA_UNIT_VMEM, /* GLOBAL, SCRATCH, MUBUF, MTBUF */
    ISA_UNIT_FLAT, /* both vector memory and the LDS */
    ISA_UNIT_COUNT
};

/* The arithmetic that the profiler counts it as. */
enum isa_math {
    ISA_MATH_NONE,
    ISA_MATH_ADD_F16, /* subtractions too */
    ISA_MATH_MUL_F16,
    ISA_MATH_FMA_F16,
    ISA_MATH_TRANS_F16,
    ISA_MATH_ADD_F32,
    ISA_MATH_MUL_F32,
    ISA_MATH_FMA_F32,
    ISA_MATH_TRANS_F32,
    ISA_MATH_ADD_F64,
    ISA_MATH_MUL_F64,
    ISA_MATH_FMA_F64,
    ISA_MATH_TRANS_F64,
    ISA_MATH_INT32,
    ISA_MATH_INT64,
    ISA_MATH_CVT,
    ISA_MATH_MFMA_I8, /* the matrix core's, by type of the factors */
    ISA_MATH_MFMA_F8,
    ISA_MATH_MFMA_F16,
    ISA_MATH_MFMA_BF16,
    ISA_MATH_MFMA_F32, /* xf32 too */
    ISA_MATH_MFMA_F64,
    ISA_MATH_COUNT
};

enum isa_effect {
    /* Registers that no operand of the decoded instruction names. */
    ISA_E_READS_SCC = 1 << 0,
    ISA_E_SETS_SCC = 1 << 1,
    ISA_E_READS_VCC = 1 << 2,
    ISA_E_SETS_VCC = 1 << 3,
    ISA_E_READS_EXEC = 1 << 4,
    ISA_E_SETS_EXEC = 1 << 5,
    ISA_E_READS_M0 = 1 << 6,
    ISA_E_SETS_M0 = 1 << 7,
    ISA_E_READS_MODE = 1 << 8,
    ISA_E_SETS_MODE = 1 << 9,
    /* Control. */
    ISA_E_BRANCH = 1 << 10, /* goes elsewhere, or may */
    ISA_E_END = 1 << 11,    /* the next instruction in memory does not follow */
    /* Memory.  An atomic loads and stores; whether it returns what was there, its dst says. */
    ISA_E_LOAD = 1 << 12,  /* the width and sign of memory are dst's type */
    ISA_E_STORE = 1 << 13, /* src[ISA_DATA]'s type */
    ISA_E_ATOMIC = 1 << 14,
    ISA_E_LDS = 1 << 15,   /* memory is the LDS, or a load goes there */
    ISA_E_CACHE = 1 << 16, /* writes a cache back, or invalidates it */
    /* Results. */
    ISA_E_KEEPS_HIGH = 1 << 17, /* 16 bits, which leave the other half of their VGPR alone */
    ISA_E_XDL = 1 << 18,        /* matrix: done by the part for narrow types, and there one state later */
    ISA_E_SPARSE = 1 << 19,     /* matrix: of a factor, an index says where what is no zero belongs */
};

struct isa_facts {
    uint8_t unit;   /* enum isa_unit */
    uint8_t passes; /* of 4 cycles each that it keeps a vector unit busy for; 0: no vector unit */
    uint8_t math;   /* enum isa_math */
    uint8_t mops;   /* matrix: operations of all lanes, in units of 512 */
    uint32_t effects;
};

extern const struct isa_facts isa_facts[ISA_OP_COUNT];

/* With what modifiers add: a buffer load that goes to the LDS reads M0; MODE says what OMOD and CLAMP do. */
static inline uint32_t isa_effects_of(const struct isa_inst *inst)
{
    uint32_t effects = isa_facts[inst->op].effects;
    if (inst->lds)
        effects |= ISA_E_READS_M0 | ISA_E_LDS;
    if (inst->omod || inst->clamp)
        effects |= ISA_E_READS_MODE;
    return effects;
}

#endif
