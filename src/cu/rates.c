/* SPDX-License-Identifier: MIT */
/*
 * Units and cycles of instructions, from what isa/facts.def knows of them.
 *
 * A wave of 64 lanes takes a pass of 4 cycles on the 16 lanes of a SIMD, and
 * more where there are fewer lanes or more work; a scalar unit takes a cycle.
 *
 * Sources: GCN white paper, compute unit front end: the issue ports; passes:
 * isa/fixes/facts.fixes.
 */
#include <stdlib.h>

#include "chip/chip.h"
#include "cu/cu.h"
#include "exec/code.h"
#include "isa/isa.h"

static const uint8_t port_of[ISA_UNIT_COUNT] = {
    [ISA_UNIT_CONTROL] = UNIT_NONE,    [ISA_UNIT_SALU] = UNIT_SALU,     [ISA_UNIT_BRANCH] = UNIT_BRANCH,
    [ISA_UNIT_MESSAGE] = UNIT_MESSAGE, [ISA_UNIT_SMEM] = UNIT_SMEM,     [ISA_UNIT_VALU] = UNIT_VALU,
    [ISA_UNIT_TRANS] = UNIT_VALU,      [ISA_UNIT_MATRIX] = UNIT_MATRIX, [ISA_UNIT_LDS] = UNIT_LDS,
    [ISA_UNIT_GWS] = UNIT_LDS,         [ISA_UNIT_VMEM] = UNIT_VMEM,     [ISA_UNIT_FLAT] = UNIT_FLAT,
};

/*
 * A matrix instruction takes the VALU's issue: a turn, or two when it reads an index besides its factors.
 * Those of f64, and of f32 that is no xf32, leave it nothing until they are done, as if they were its own.
 * Source: AMD's matrix instruction calculator, CDNA 3: VALU co-execution and its delay.
 */
static uint8_t beside_matrix(const struct isa_facts *facts, uint8_t cycles)
{
    if (facts->effects & ISA_E_SPARSE)
        return 2 * CU_TURN;
    return facts->effects & ISA_E_XDL ? CU_TURN : cycles;
}

struct cu_rate *cu_rates_make(const struct chip *chip)
{
    struct cu_rate *rates = calloc(ISA_OP_COUNT, sizeof(*rates));
    if (!rates)
        return NULL;
    const unsigned extra = chip_get(chip, CHIP_cu_matrix_result);
    const bool beside = chip_get(chip, CHIP_cu_trans_beside);
    for (unsigned op = 0; op < ISA_OP_COUNT; op++) {
        const struct isa_facts *facts = &isa_facts[op];
        struct cu_rate *rate = &rates[op];
        rate->unit = port_of[facts->unit];
        rate->cycles = (uint8_t)(facts->passes ? 4 * facts->passes : 1);
        rate->result = (uint8_t)(rate->cycles + extra);
        rate->alone = beside_matrix(facts, rate->cycles);
        rate->math = facts->math;
        rate->mops = facts->mops;
        rate->later = exec_is_own(op);
        rate->beside = beside && facts->unit == ISA_UNIT_TRANS;
    }
    return rates;
}
