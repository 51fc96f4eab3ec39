/* SPDX-License-Identifier: MIT */
/* Recording float exceptions; see observe.h. */
#define SEM_LEVEL v2 /* of exec_prepare(): every host has it */
#include "exec/observe.h"

#include "wave/fault.h"
#include "wave/hwreg.h"
#include "isa/isa.h"
#include "sem/vector/exceptions.h"

enum { MODE_EXCP_SHIFT = 12 };

bool exec_observes(const struct isa_target *target, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct isa_inst inst;
        if (words[i] >> 28 != 0xb || !isa_decode(target, words + i, count - i, &inst)) /* not SOPK */
            continue;
        const unsigned field = (unsigned)inst.simm16, low = field >> 6 & 31;
        const unsigned high = low + (field >> 11 & 31);
        if (inst.op == ISA_OP_s_getreg_b32 && inst.hwreg == HWREG_TRAPSTS)
            return true;
        if ((inst.op == ISA_OP_s_setreg_b32 || inst.op == ISA_OP_s_setreg_imm32_b32) &&
            inst.hwreg == HWREG_MODE && low < MODE_EXCP_SHIFT + 7 && high >= MODE_EXCP_SHIFT)
            return true;
    }
    return false;
}

static uint64_t source(const struct wave *w, const struct xinst *x, int i, int lane)
{
    const wave_row *rows = w->v + x->s[i];
    return rows[0][lane] | (x->rows[i] > 1 ? (uint64_t)rows[1][lane] << 32 : 0);
}

static const struct xinst *x_observed(struct wave *w, const struct xinst *in)
{
    struct xinst plain;
    exec_observe(w, in, in);
    exec_translate(w->guard->code->level, in->isa, &plain, in->pc);
    if (in->isa->dpp)
        plain.dpp = in->dpp;
    plain.fn(w, &plain);
    return in + 1;
}

void exec_observe(struct wave *w, const struct xinst *x, const struct xinst *in)
{
    if (in->fn != x_observed)
        return;
    if (x->any_prep)
        exec_prepare(w, x);
    const uint32_t enabled = w->mode >> MODE_EXCP_SHIFT & EXCEPTION_ALL;
    for (uint64_t lanes = exec_lanes(w, x); lanes; lanes &= lanes - 1) {
        const int lane = __builtin_ctzll(lanes);
        uint64_t sources[3] = {0};
        for (int i = 0; i < 3; i++)
            if (x->isa->src[i].kind != ISA_NONE)
                sources[i] = source(w, x, i, lane);
        const uint32_t raised = sem_raised(x->isa, w->mode, sources);
        w->trapsts |= raised;
        if (raised & enabled) {
            w->guard->trap_id = __builtin_ctz(raised & enabled);
            wave_fault(w, in, EHP_FAULT_EXCEPTION, 0, false, (unsigned)lane);
        }
    }
}

void exec_observe_block(struct exec_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->x[i].cls == XC_VALU && !block->isa[i].reserved && sem_can_raise(&block->isa[i]))
            block->x[i].fn = x_observed;
}
