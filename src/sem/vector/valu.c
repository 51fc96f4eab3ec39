/* SPDX-License-Identifier: MIT */
/* Finds the handler of a VOP1, VOP2, VOPC or VOP3 instruction. */
#include "sem/vector/valu.h"

static bool is_integer(unsigned type)
{
    return type != ISA_T_F16 && type != ISA_T_F32 && type != ISA_T_F64 && type != ISA_T_BF16 &&
           type != ISA_T_PKF16;
}

/* Lane masks and lane numbers are read as scalars, so they are not spread over rows. */
static void take_scalar_sources(const struct isa_inst *inst, struct xinst *x)
{
    if (inst->src[2].type == ISA_T_MASK)
        x->prep[2] = XPREP_PLAIN;
    if (inst->op == ISA_OP_v_readlane_b32 || inst->op == ISA_OP_v_writelane_b32)
        x->prep[1] = XPREP_PLAIN;
    x->any_prep = inst->dpp;
    for (int i = 0; i < 3; i++)
        x->any_prep |= x->prep[i] != XPREP_PLAIN;
}

exec_fn *SEM(sem_valu)(const struct isa_inst *inst, struct xinst *x)
{
    static exec_fn *const plain[ISA_OP_COUNT] = {
#define VALU_ENTRY(name) [ISA_OP_##name] = SEM(valu_##name),
#define VALU_CLAMP(name)
#include "sem/vector/valu_ops.def"
    };
    static exec_fn *const clamp[ISA_OP_COUNT] = {
#define VALU_ENTRY(name)
#define VALU_CLAMP(name) [ISA_OP_##name] = SEM(valu_clamp_##name),
#include "sem/vector/valu_ops.def"
    };
    if (inst->op >= ISA_OP_COUNT || !plain[inst->op])
        return NULL;

    take_scalar_sources(inst, x);
    /* Handlers of 16-bit results that keep the other half, and those to bytes, merge it themselves. */
    const bool to_bytes = inst->op == ISA_OP_v_cvt_pk_fp8_f32 || inst->op == ISA_OP_v_cvt_pk_bf8_f32 ||
                          inst->op == ISA_OP_v_cvt_sr_fp8_f32 || inst->op == ISA_OP_v_cvt_sr_bf8_f32;
    if (x->post && !inst->dpp && !inst->sdwa) {
        const bool high = !to_bytes && (inst->op_sel & 8) != 0;
        const bool modified = !is_integer(inst->dst.type) && (inst->clamp || inst->omod);
        x->post = high || modified;
    }
    if (inst->clamp && is_integer(inst->dst.type) && clamp[inst->op])
        return clamp[inst->op];
    exec_fn *scalar = SEM(valu_scalar)(inst, x);
    if (scalar)
        return scalar;
    return plain[inst->op];
}
