/* SPDX-License-Identifier: MIT */
/*
 * No encoding names a register that a wave has no room for: handlers index with what decoding leaves.  Random
 * bits for every opcode; those that are reserved are not executed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../check.h"
#include "wave/wave.h"
#include "isa/isa.h"

static uint64_t state = 1;

static uint32_t random32(void)
{
    state = state * 6364136223846793005 + 1442695040888963407;
    return (uint32_t)(state >> 32);
}

static bool fits(const struct isa_operand *o)
{
    switch (o->kind) {
    case ISA_SGPR:
        return o->reg + o->dwords <= 128;
    case ISA_VGPR:
        return o->reg + o->dwords <= WAVE_ACC;
    case ISA_AGPR:
        return o->reg + o->dwords <= WAVE_ROWS - WAVE_ACC;
    default:
        return true;
    }
}

static void check_one(const uint32_t *words)
{
    struct isa_inst inst;
    if (!isa_decode(&isa_gfx942, words, 4, &inst) || inst.reserved)
        return;
    const struct isa_operand *all[] = {&inst.dst,    &inst.sdst,   &inst.soffset, &inst.src[0],
                                       &inst.src[1], &inst.src[2], &inst.src[3]};
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (!CHECK(fits(all[i])))
            fprintf(stderr, "%s (%08x %08x): operand %u is register %u, of %u dwords\n", isa_op_name(inst.op),
                    words[0], words[1], i, all[i]->reg, all[i]->dwords);
}

int main(void)
{
    for (unsigned i = 0; i < 3000000; i++) {
        uint32_t words[4] = {random32(), random32(), random32(), random32()};
        if (i % 4 == 1)
            words[0] |= 0xc0000000; /* formats of two dwords are all there */
        if (i % 4 == 2)
            words[1] |= random32() | random32(); /* high register numbers */
        if (i % 4 == 3)
            words[0] |= random32() | random32();
        check_one(words);
    }
    return check_status();
}
