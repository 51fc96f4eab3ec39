/* SPDX-License-Identifier: MIT */
/*
 * Handlers of the scalar ALU and of program control: SOP1, SOP2, SOPC, SOPK,
 * SOPP.  What the arithmetic means is in sem/scalar/scalar.h; here are operands,
 * branches and the instructions that touch the wave itself.
 */
#include <limits.h>

#include "wave/aperture.h"
#include "wave/fault.h"
#include "wave/handlers.h"
#include "wave/hwreg.h"
#include "wave/operand.h"
#include "wave/special.h"
#include "sem/scalar/scalar.h"

/* ---- operands ---- */

uint64_t exec_special(const struct wave *w, unsigned reg)
{
    switch (reg) {
    case 235: /* SHARED_BASE: the aperture's address */
        return APERTURE_SHARED_BASE;
    case 236:
        return APERTURE_SHARED_BASE | UINT32_MAX;
    case 237:
        return APERTURE_PRIVATE_BASE;
    case 238:
        return APERTURE_PRIVATE_BASE | UINT32_MAX;
    case 251:
        return w->vcc == 0;
    case 252:
        return w->exec == 0;
    case 253:
        return w->scc;
    default:
        return 0; /* pops_exiting_wave_id, lds_direct: zero in compute */
    }
}

static inline void dst32(struct wave *w, const struct xinst *in, uint32_t value)
{
    w->s[in->sd] = value;
}

static inline void dst64(struct wave *w, const struct xinst *in, uint64_t value)
{
    wave_set_sgpr64(w, in->sd, value);
}

#define HANDLER(name) static const struct xinst *x_##name(struct wave *w, const struct xinst *in)

/* ---- what computes ---- */

#define SDST32(w, in) ((w)->s[(in)->sd])
#define SDST64(w, in) wave_sgpr64(w, (in)->sd)

#define OP2(name, D, S0, S1)                                                                                 \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        dst##D(w, in, name(src##S0(w, in, 0), src##S1(w, in, 1), &w->scc));                                  \
        return in + 1;                                                                                       \
    }
#define OP1(name, D, S0)                                                                                     \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        dst##D(w, in, name(src##S0(w, in, 0), &w->scc));                                                     \
        return in + 1;                                                                                       \
    }
#define UPDATE(name, D, S0, expression)                                                                      \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        const uint##S0##_t a = src##S0(w, in, 0);                                                            \
        const uint##D##_t d = SDST##D(w, in);                                                                \
        dst##D(w, in, expression);                                                                           \
        return in + 1;                                                                                       \
    }
#define WHEN_SCC(name, D)                                                                                    \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        if (w->scc)                                                                                          \
            dst##D(w, in, src##D(w, in, 0));                                                                 \
        return in + 1;                                                                                       \
    }

/* SOPK: the constant is sign-extended; unsigned compares zero-extend it. */
#define CONSTANT(name, function)                                                                             \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        dst32(w, in, function(w->s[in->sd], (uint32_t)in->control.simm, &w->scc));                           \
        return in + 1;                                                                                       \
    }
#define COMPARE_K(name, type, widen, operator)                                                               \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        w->scc = (type)w->s[in->sd] operator(type)(widen) in->control.simm;                                  \
        return in + 1;                                                                                       \
    }

/* D = old EXEC, EXEC = S0 op old EXEC (wrexec: both the new one). */
#define SAVEEXEC(name, expression)                                                                           \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        uint64_t s = src64(w, in, 0), exec = w->exec;                                                        \
        dst64(w, in, exec);                                                                                  \
        w->exec = (expression);                                                                              \
        w->scc = w->exec != 0;                                                                               \
        return in + 1;                                                                                       \
    }
#define WREXEC(name, expression)                                                                             \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        uint64_t s = src64(w, in, 0), exec = w->exec;                                                        \
        w->exec = (expression);                                                                              \
        w->scc = w->exec != 0;                                                                               \
        dst64(w, in, w->exec);                                                                               \
        return in + 1;                                                                                       \
    }
#define COMPARE(name, type, bits, operator)                                                                  \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        w->scc = (type)src##bits(w, in, 0) operator(type) src##bits(w, in, 1);                               \
        return in + 1;                                                                                       \
    }
#define COMPARE_BIT(name, bits, value)                                                                       \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        w->scc = (src##bits(w, in, 0) >> (src32(w, in, 1) & (bits - 1)) & 1) == (value);                     \
        return in + 1;                                                                                       \
    }
#include "sem/scalar/compute.def"

/* ---- hardware registers: offset [10:6], size - 1 [15:11] ---- */

HANDLER(s_getreg_b32)
{
    unsigned field = (unsigned)in->control.simm;
    uint64_t value = hwreg_read(w, in->isa->hwreg) >> (field >> 6 & 31);
    dst32(w, in, (uint32_t)(value & ((UINT64_C(2) << (field >> 11 & 31)) - 1)));
    return in + 1;
}

static const struct xinst *setreg(struct wave *w, const struct xinst *in, uint32_t value)
{
    unsigned field = (unsigned)in->control.simm, offset = field >> 6 & 31;
    uint32_t mask = (uint32_t)(((UINT64_C(2) << (field >> 11 & 31)) - 1) << offset);
    hwreg_write(w, in->isa->hwreg, (hwreg_read(w, in->isa->hwreg) & ~mask) | (value << offset & mask));
    return w->mode & MODE_SPECIAL ? exec_special_run(w, in + 1) : in + 1;
}

HANDLER(s_setreg_b32)
{
    return setreg(w, in, w->s[in->sd]);
}

HANDLER(s_setreg_imm32_b32)
{
    return setreg(w, in, (uint32_t)in->control.source);
}

/* ---- branches ---- */

static const struct xinst *go(struct wave *w, const struct xinst *in)
{
    if (__builtin_expect(in->target != NULL, 1)) {
        const ptrdiff_t back = (const char *)(in + 1) - (const char *)in->target;
        w->gone_back += back > 0 ? (uint64_t)back : 0;
        return take(w, in->target);
    }
    return take(w, exec_code_at(w, in, branch_pc(in)));
}

HANDLER(s_branch)
{
    return go(w, in);
}

#define BRANCH_IF(name, condition)                                                                           \
    HANDLER(name)                                                                                            \
    {                                                                                                        \
        return (condition) ? go(w, in) : in + 1;                                                             \
    }
BRANCH_IF(s_cbranch_scc0, !w->scc)
BRANCH_IF(s_cbranch_scc1, w->scc)
BRANCH_IF(s_cbranch_vccz, w->vcc == 0)
BRANCH_IF(s_cbranch_vccnz, w->vcc != 0)
BRANCH_IF(s_cbranch_execz, w->exec == 0)
BRANCH_IF(s_cbranch_execnz, w->exec != 0)
/* Debugger flags of STATUS, never set here. */
BRANCH_IF(s_cbranch_cdbgsys, false)
BRANCH_IF(s_cbranch_cdbguser, false)
BRANCH_IF(s_cbranch_cdbgsys_or_user, false)
BRANCH_IF(s_cbranch_cdbgsys_and_user, false)

HANDLER(s_getpc_b64)
{
    dst64(w, in, in->pc + in->isa->size);
    return in + 1;
}

HANDLER(s_setpc_b64)
{
    return take(w, exec_code_at(w, in, src64(w, in, 0)));
}

HANDLER(s_swappc_b64)
{
    uint64_t target = src64(w, in, 0);
    dst64(w, in, in->pc + in->isa->size);
    return take(w, exec_code_at(w, in, target));
}

HANDLER(s_call_b64)
{
    dst64(w, in, in->pc + in->isa->size);
    return go(w, in);
}

/* ---- relative scalar moves: M0 is added to the register number ---- */

static unsigned indexed_sgpr(struct wave *w, const struct xinst *in, unsigned reg, unsigned count)
{
    unsigned index = reg + w->m0;
    if (index > 102 - count)
        wave_fault(w, in, EHP_FAULT_ILLEGAL_INSTRUCTION, 0, false, UINT_MAX);
    return index;
}

HANDLER(s_movrels_b32)
{
    dst32(w, in, w->s[indexed_sgpr(w, in, in->ss[0], 1)]);
    return in + 1;
}

HANDLER(s_movrels_b64)
{
    dst64(w, in, wave_sgpr64(w, indexed_sgpr(w, in, in->ss[0], 2)));
    return in + 1;
}

HANDLER(s_movreld_b32)
{
    w->s[indexed_sgpr(w, in, in->sd, 1)] = src32(w, in, 0);
    return in + 1;
}

HANDLER(s_movreld_b64)
{
    wave_set_sgpr64(w, indexed_sgpr(w, in, in->sd, 2), src64(w, in, 0));
    return in + 1;
}

/* ---- program control ---- */

HANDLER(s_nop)
{
    (void)w;
    return in + 1;
}

HANDLER(s_endpgm)
{
    w->next = in;
    w->state = WAVE_DONE;
    return NULL;
}

HANDLER(s_barrier)
{
    if (w->last)
        return in + 1;
    w->next = in + 1;
    w->state = WAVE_BARRIER;
    return NULL;
}

HANDLER(s_sleep)
{
    w->next = in + 1;
    w->state = WAVE_YIELD;
    w->slept = true;
    return NULL;
}

/* Messages: only the interrupt means something to compute. */
HANDLER(s_sendmsg)
{
    if ((in->control.simm & 15) == 1)
        wave_interrupt(w);
    return in + 1;
}

HANDLER(s_trap)
{
    /* 2 is llvm.trap; 3 and above are breakpoints, which the runtime's trap handler ignores without a
     * debugger. */
    unsigned id = (unsigned)in->control.simm & 0xff;
    if (id > 2)
        return in + 1;
    w->guard->trap_id = (int)id;
    wave_fault(w, in, EHP_FAULT_TRAP, 0, false, UINT_MAX);
}

/* A halted wave never goes on: what code without a trap handler does instead of trapping. */
_Noreturn static void halt(struct wave *w, const struct xinst *in)
{
    w->guard->trap_id = -1;
    wave_fault(w, in, EHP_FAULT_TRAP, 0, false, UINT_MAX);
}

HANDLER(s_sethalt)
{
    if (in->control.simm & 1)
        halt(w, in);
    return in + 1;
}

HANDLER(s_sendmsghalt)
{
    x_s_sendmsg(w, in);
    halt(w, in);
}

/* Only a trap handler may return from an exception. */
HANDLER(privileged)
{
    wave_fault(w, in, EHP_FAULT_ILLEGAL_INSTRUCTION, 0, false, UINT_MAX);
}

exec_fn *sem_salu(const struct isa_inst *inst, struct xinst *x)
{
    switch (inst->op) {
#define CASE(name, ...)                                                                                      \
    case ISA_OP_##name:                                                                                      \
        return x_##name;
#define OP2         CASE
#define OP1         CASE
#define UPDATE      CASE
#define WHEN_SCC    CASE
#define CONSTANT    CASE
#define SAVEEXEC    CASE
#define WREXEC      CASE
#define COMPARE     CASE
#define COMPARE_K   CASE
#define COMPARE_BIT CASE
#include "sem/scalar/compute.def"
        CASE(s_getreg_b32)
        CASE(s_setreg_b32)
        CASE(s_setreg_imm32_b32)
        CASE(s_branch)
        CASE(s_cbranch_scc0)
        CASE(s_cbranch_scc1)
        CASE(s_cbranch_vccz)
        CASE(s_cbranch_vccnz)
        CASE(s_cbranch_execz)
        CASE(s_cbranch_execnz)
        CASE(s_cbranch_cdbgsys)
        CASE(s_cbranch_cdbguser)
        CASE(s_cbranch_cdbgsys_or_user)
        CASE(s_cbranch_cdbgsys_and_user)
        CASE(s_getpc_b64)
        CASE(s_setpc_b64)
        CASE(s_swappc_b64)
        CASE(s_call_b64)
        CASE(s_movrels_b32)
        CASE(s_movrels_b64)
        CASE(s_movreld_b32)
        CASE(s_movreld_b64)
        CASE(s_nop)
        CASE(s_endpgm)
        CASE(s_barrier)
        CASE(s_sleep)
        CASE(s_sendmsg)
        CASE(s_trap)
        CASE(s_sethalt)
        CASE(s_sendmsghalt)
#undef CASE
    case ISA_OP_s_endpgm_saved:
    case ISA_OP_s_endpgm_ordered_ps_done:
        return x_s_endpgm;
    /* Timing hints, cache and profiling controls: no architected effect. s_waitcnt: memory is in order here.
     */
    case ISA_OP_s_waitcnt:
    case ISA_OP_s_wakeup:
    case ISA_OP_s_setprio:
    case ISA_OP_s_icache_inv:
    case ISA_OP_s_incperflevel:
    case ISA_OP_s_decperflevel:
    case ISA_OP_s_ttracedata:
    case ISA_OP_s_setkill:
        return x_s_nop;
    case ISA_OP_s_rfe_b64:
    case ISA_OP_s_rfe_restore_b64:
        return x_privileged;
    default:
        return sem_special(inst, x);
    }
}
