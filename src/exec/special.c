/* SPDX-License-Identifier: MIT */
/* VGPR indexing, VSKIP, and branches that fork; see special.h. */
#include "wave/special.h"

#include "exec/code.h"
#include "wave/fault.h"
#include "wave/fuse.h"
#include "wave/hwreg.h"
#include "exec/observe.h"
#include "wave/operand.h"
#include "isa/isa.h"

#define HANDLER(name) static const struct xinst *x_##name(struct wave *w, const struct xinst *in)

/* ---- the modes ---- */

/* False when the registers are not the wave's. */
static bool shift(const struct wave *w, struct isa_operand *o, unsigned index)
{
    if (o->reg + index + o->dwords > w->vgprs)
        return false;
    o->reg = (uint16_t)(o->reg + index);
    return true;
}

/* Which bit of M0[15:12] a source belongs to: an accumulator's is the destination that it is. */
static int select_of(const struct isa_target *target, const struct isa_inst *inst, int i)
{
    const unsigned flags = target->rows[inst->row].flags;
    if (flags & ISA_F_ACCUMULATE && i == 2)
        return 3;
    return flags & ISA_F_LITERAL_K && i == 2 ? 1 : i; /* v_fmamk has its constant between the two */
}

/* A source out of range is VGPR 0; with a destination out of range nothing happens. */
static const struct xinst *run_indexed(struct wave *w, const struct xinst *in)
{
    const unsigned index = w->m0 & 0xff, which = w->m0 >> 12 & 15;
    struct isa_inst inst = *in->isa;
    for (int i = 0; i < 3; i++)
        if (inst.src[i].kind == ISA_VGPR && which >> select_of(w->guard->code->target, &inst, i) & 1 &&
            !shift(w, &inst.src[i], index))
            inst.src[i].reg = 0;
    if (which & 8 && inst.dst.kind == ISA_VGPR && !shift(w, &inst.dst, index))
        return in + 1;
    struct xinst x = *in;
    if (inst.op == ISA_OP_v_mov_b32 && !inst.sdwa && !inst.dpp) { /* what compilers emit */
        x.isa = &inst;
        x.d = (int16_t)inst.dst.reg;
        if (inst.src[0].kind == ISA_VGPR) {
            x.s[0] = (int16_t)inst.src[0].reg;
            x.reg[0] = inst.src[0].reg;
        }
    } else {
        exec_translate(w->guard->code->level, &inst, &x, in->pc);
        if (inst.dpp) /* the lanes are the same */
            x.dpp = in->dpp;
        exec_observe(w, &x, in);
    }
    x.fn(w, &x);
    return in + 1;
}

static bool is_vector(const struct xinst *in)
{
    return in->isa && in->isa->format >= ISA_VOP1;
}

const struct xinst *exec_special_step(struct wave *w, const struct xinst *in)
{
    if (w->mode & MODE_VSKIP && is_vector(in))
        return in + 1;
    if (w->mode & MODE_GPR_IDX_EN && is_vector(in) && in->cls == XC_VALU &&
        in->isa->format != ISA_VOP3PMAI) /* AccVGPRs are not indexed */
        return run_indexed(w, in);
    return fuse_single(in)(w, in);
}

const struct xinst *exec_special_run(struct wave *w, const struct xinst *in)
{
    if (w->special || w->slot) /* who runs the instruction that asks goes by steps already */
        return in;
    w->special = true;
    w->guard->cache->stops = false; /* who goes on would not heed the mode */
    while (in && w->mode & MODE_SPECIAL) {
        if (w->stats)
            w->stats->count[in->cls]++;
        in = exec_special_step(w, in);
    }
    w->special = false;
    return in;
}

/* The operand select is what the second source's field contains. */
HANDLER(s_set_gpr_idx_on)
{
    wave_set_mode(w, w->mode | MODE_GPR_IDX_EN);
    w->m0 = (w->m0 & 0xffff0f00) | (src32(w, in, 0) & 0xff) | ((uint32_t)in->control.simm & 15) << 12;
    return exec_special_run(w, in + 1);
}

HANDLER(s_set_gpr_idx_off)
{
    wave_set_mode(w, w->mode & ~(uint32_t)MODE_GPR_IDX_EN);
    return in + 1;
}

HANDLER(s_set_gpr_idx_idx)
{
    w->m0 = (w->m0 & 0xffffff00) | (src32(w, in, 0) & 0xff);
    return in + 1;
}

HANDLER(s_set_gpr_idx_mode)
{
    w->m0 = (w->m0 & 0xffff0fff) | ((uint32_t)in->control.simm & 15) << 12;
    return in + 1;
}

HANDLER(s_setvskip)
{
    const bool on = src32(w, in, 0) >> (src32(w, in, 1) & 31) & 1;
    wave_set_mode(w, (w->mode & ~(uint32_t)MODE_VSKIP) | (on ? MODE_VSKIP : 0));
    return on ? exec_special_run(w, in + 1) : in + 1;
}

/* ---- forks: the side with more lanes waits on a stack in SGPRs, four for each of MODE.CSP ---- */

static void set_csp(struct wave *w, uint32_t csp)
{
    wave_set_mode(w, (w->mode & ~(uint32_t)MODE_CSP) | csp << 29);
}

static const struct xinst *fork_paths(struct wave *w, const struct xinst *in, uint64_t condition,
                                      uint64_t target)
{
    const uint64_t exec = w->exec, pass = condition & exec, fail = ~condition & exec;
    const uint32_t csp = w->mode >> 29;
    if (pass == exec)
        return take(w, exec_code_at(w, in, target));
    if (fail == exec)
        return in + 1;
    const bool stay = __builtin_popcountll(fail) < __builtin_popcountll(pass);
    w->exec = stay ? fail : pass;
    wave_set_sgpr64(w, 4 * csp, stay ? pass : fail);
    wave_set_sgpr64(w, 4 * csp + 2, stay ? target : in->pc + in->isa->size);
    set_csp(w, csp + 1);
    return stay ? in + 1 : take(w, exec_code_at(w, in, target));
}

HANDLER(s_cbranch_g_fork)
{
    return fork_paths(w, in, src64(w, in, 0), src64(w, in, 1));
}

HANDLER(s_cbranch_i_fork)
{
    return fork_paths(w, in, src64(w, in, 0), branch_pc(in));
}

HANDLER(s_cbranch_join)
{
    const uint32_t csp = w->mode >> 29;
    if (csp == src32(w, in, 0)) /* both sides have been here */
        return in + 1;
    set_csp(w, csp - 1);
    const uint64_t *top = &w->s64[2 * (w->mode >> 29)], target = top[1];
    w->exec = top[0];
    return take(w, exec_code_at(w, in, target));
}

exec_fn *sem_special(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
#define CASE(name)                                                                                           \
    case ISA_OP_##name:                                                                                      \
        return x_##name;
        CASE(s_set_gpr_idx_on)
        CASE(s_set_gpr_idx_off)
        CASE(s_set_gpr_idx_idx)
        CASE(s_set_gpr_idx_mode)
        CASE(s_setvskip)
        CASE(s_cbranch_g_fork)
        CASE(s_cbranch_i_fork)
        CASE(s_cbranch_join)
#undef CASE
    default:
        return NULL;
    }
}
