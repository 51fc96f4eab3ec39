/* SPDX-License-Identifier: MIT */
/* Scalar operands of a translated instruction, and taken branches: what handlers of the scalar ALU begin
 * with. */
#ifndef EHP_WAVE_OPERAND_H
#define EHP_WAVE_OPERAND_H

#include "wave/handlers.h"

static inline uint32_t src32(const struct wave *w, const struct xinst *in, int i)
{
    unsigned reg = in->ss[i];
    if (__builtin_expect(reg < XSRC_SPECIAL, 1))
        return w->s[reg];
    return (uint32_t)(reg == XSRC_CONST ? in->literal[i] : exec_special(w, in->reg[i]));
}

static inline uint64_t src64(const struct wave *w, const struct xinst *in, int i)
{
    unsigned reg = in->ss[i];
    if (__builtin_expect(reg < XSRC_SPECIAL, 1))
        return wave_sgpr64(w, reg);
    return reg == XSRC_CONST ? in->literal[i] : exec_special(w, in->reg[i]);
}

/* Where a branch with a distance in its encoding goes. */
static inline uint64_t branch_pc(const struct xinst *in)
{
    return in->pc + in->isa->size + in->control.simm * 4;
}

/* Every taken branch spends budget, so that a wave that spins lets others run. */
static inline const struct xinst *take(struct wave *w, const struct xinst *target)
{
    if (__builtin_expect(--w->budget >= 0, 1))
        return target;
    w->next = target;
    w->state = WAVE_YIELD;
    return NULL;
}

#endif
