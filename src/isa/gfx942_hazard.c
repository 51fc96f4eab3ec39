/* SPDX-License-Identifier: MIT */
/*
 * The rules on wait states that gfx942 leaves to software: instructions that
 * must be so many states apart, by s_nop or by others in between (hazard.c).
 *
 * Between matrix instructions the same registers as result and then as
 * accumulator need nothing; all others are counted by the passes that the first
 * one takes.
 *
 * Source: "AMD Instinct MI300 ISA", 4.5 "Manually Inserted Wait States (NOPs)";
 * what LLVM 22 inserts for gfx942.
 */
#include "isa/decode.h"
#include "isa/isa.h"

/* ---- what instructions are ---- */

static const struct isa_facts *facts_of(const struct isa_inst *i)
{
    return &isa_facts[i->op];
}

static bool is_matrix(const struct isa_inst *i)
{
    return facts_of(i)->unit == ISA_UNIT_MATRIX;
}

static bool is_transcendental(const struct isa_inst *i)
{
    return facts_of(i)->unit == ISA_UNIT_TRANS;
}

static bool is_valu(const struct isa_inst *i)
{
    return facts_of(i)->unit == ISA_UNIT_VALU || is_transcendental(i);
}

static bool is_salu(const struct isa_inst *i)
{
    return i->format >= ISA_SOP2 && i->format <= ISA_SOPC;
}

static bool is_vmem(const struct isa_inst *i)
{
    return facts_of(i)->unit == ISA_UNIT_VMEM || facts_of(i)->unit == ISA_UNIT_FLAT;
}

static bool is_lane_move(const struct isa_inst *i)
{
    return i->op == ISA_OP_v_readlane_b32 || i->op == ISA_OP_v_writelane_b32;
}

/* ---- registers ---- */

static bool is_vector(const struct isa_operand *o)
{
    return o->kind == ISA_VGPR || o->kind == ISA_AGPR;
}

static bool overlap(const struct isa_operand *a, const struct isa_operand *b)
{
    return a->kind == b->kind && a->kind != ISA_NONE && a->dwords && b->dwords &&
           a->reg < b->reg + b->dwords && b->reg < a->reg + a->dwords;
}

static bool writes_scalar(const struct isa_inst *i, unsigned reg, unsigned dwords)
{
    const struct isa_operand range = {.kind = ISA_SGPR, .reg = (uint16_t)reg, .dwords = (uint8_t)dwords};
    if (reg == SREG_EXEC && facts_of(i)->effects & ISA_E_SETS_EXEC)
        return true;
    return overlap(&i->dst, &range) || overlap(&i->sdst, &range);
}

/* Scalar registers that i reads and p writes. */
static bool scalar_from(const struct isa_inst *p, const struct isa_inst *i)
{
    for (int k = 0; k < 4; k++)
        if (i->src[k].kind == ISA_SGPR && writes_scalar(p, i->src[k].reg, i->src[k].dwords))
            return true;
    return (i->soffset.kind == ISA_SGPR && writes_scalar(p, i->soffset.reg, 1)) ||
           (facts_of(i)->effects & ISA_E_READS_VCC && writes_scalar(p, SREG_VCC, 2));
}

static bool reads_vector(const struct isa_inst *i, const struct isa_operand *o)
{
    for (int k = 0; k < 4; k++)
        if (is_vector(&i->src[k]) && overlap(&i->src[k], o))
            return true;
    return false;
}

/* ---- stores whose data are still being read ---- */

static bool holds_data(const struct isa_inst *p)
{
    if (!is_vmem(p) || !is_vector(&p->src[ISA_DATA]) || p->src[ISA_DATA].dwords <= 2)
        return false;
    return (p->format != ISA_MUBUF && p->format != ISA_MTBUF) || p->soffset.kind != ISA_SGPR;
}

/* ---- matrix instructions ---- */

static bool is_f64(const struct isa_inst *i)
{
    return facts_of(i)->math == ISA_MATH_MFMA_F64;
}

static bool is_xdl(const struct isa_inst *i)
{
    return facts_of(i)->effects & ISA_E_XDL;
}

static struct isa_need after_matrix(const struct isa_inst *p, const struct isa_inst *i)
{
    const unsigned n = facts_of(p)->passes, done = n + (is_xdl(p) ? 3 : 2);
    const bool wide = is_f64(p), small = wide && n == 4;
    const struct isa_operand *d = &p->dst, *c = &i->src[2];
    if (is_matrix(i)) {
        if (overlap(&i->src[0], d) || overlap(&i->src[1], d))
            return (struct isa_need){wide ? (small ? 6 : 11) : done, "matrix operand from a matrix result"};
        if (overlap(c, d) && (c->reg != d->reg || c->dwords != d->dwords))
            return (struct isa_need){wide ? (small ? 4 : 9) : n + (is_xdl(p) ? 1 : 0),
                                     "matrix accumulator over a part of a matrix result"};
        return (struct isa_need){0};
    }
    if (is_vmem(i) || i->format == ISA_DS) {
        if (reads_vector(i, d))
            return (struct isa_need){wide ? (small ? 9 : 18) : done,
                                     "memory instruction with a matrix result"};
        return (struct isa_need){0};
    }
    if (is_valu(i) && (reads_vector(i, d) || overlap(&i->dst, d)))
        return (struct isa_need){wide ? (small ? 6 : 11) : done, "vector instruction on a matrix result"};
    if (is_valu(i) && !wide && overlap(&i->dst, &p->src[2]))
        return (struct isa_need){n - 1, "vector result over a matrix accumulator"};
    return (struct isa_need){0};
}

/* ---- the rules ---- */

static bool is_setreg(const struct isa_inst *i)
{
    return i->op == ISA_OP_s_setreg_b32 || i->op == ISA_OP_s_setreg_imm32_b32;
}

static struct isa_need after_setreg(const struct isa_inst *p, const struct isa_inst *i)
{
    if ((is_setreg(i) || i->op == ISA_OP_s_getreg_b32) && ((i->simm16 ^ p->simm16) & 63) == 0)
        return (struct isa_need){2, "s_setreg and another access to that register"};
    if (p->hwreg == HWREG_TRAPSTS && (i->op == ISA_OP_s_rfe_b64 || i->op == ISA_OP_s_rfe_restore_b64))
        return (struct isa_need){1, "s_rfe after setting TRAPSTS"};
    return (struct isa_need){0};
}

/* The LDS's counters, and modes of indexing that keep some of its bits, have no rule. */
static bool uses_m0(const struct isa_inst *i)
{
    const uint32_t effects = isa_effects_of(i);
    return effects & ISA_E_READS_M0 && !(effects & ISA_E_SETS_MODE) && i->op != ISA_OP_ds_append &&
           i->op != ISA_OP_ds_consume;
}

static struct isa_need after_valu(const struct isa_inst *p, const struct isa_inst *i)
{
    struct isa_need most = {0};
#define RULE(condition, count, text)                                                                         \
    if ((count) > most.states && (condition))                                                                \
        most = (struct isa_need)                                                                             \
        {                                                                                                    \
            count, text                                                                                      \
        }
    const bool result = is_vector(&p->dst) && reads_vector(i, &p->dst), valu = is_valu(i);
    bool zero_flag = false;
    for (int k = 0; k < 3; k++)
        zero_flag |= valu && i->src[k].kind == ISA_SPECIAL &&
                     ((i->src[k].reg == 251 && writes_scalar(p, SREG_VCC, 2)) ||
                      (i->src[k].reg == 252 && writes_scalar(p, SREG_EXEC, 2)));
    RULE(zero_flag, 5, "VCCZ or EXECZ as data after a vector instruction that sets VCC or EXEC");
    RULE(is_vmem(i) && scalar_from(p, i), 5,
         "memory instruction with a scalar register of a vector instruction");
    RULE(i->dpp && writes_scalar(p, SREG_EXEC, 2), 5, "DPP after a vector instruction that sets EXEC");
    RULE(is_lane_move(i) && i->src[1].kind == ISA_SGPR && writes_scalar(p, i->src[1].reg, 1), 4,
         "lane select from a vector instruction");
    RULE((i->op == ISA_OP_v_div_fmas_f32 || i->op == ISA_OP_v_div_fmas_f64) && writes_scalar(p, SREG_VCC, 2),
         4, "v_div_fmas after VCC is set");
    RULE((is_lane_move(i) || i->op == ISA_OP_v_readfirstlane_b32) && writes_scalar(p, SREG_EXEC, 2), 4,
         "access to a lane after a vector instruction that sets EXEC");
    RULE(is_matrix(i) && writes_scalar(p, SREG_EXEC, 2), 4, "matrix instruction after EXEC is set");
    RULE(i->dpp && is_vector(&p->dst) && overlap(&i->src[0], &p->dst), 2, "DPP on a vector result");
    RULE(is_matrix(i) && result, 2, "matrix operand from a vector instruction");
    RULE(valu && scalar_from(p, i), 2, "vector instruction with a scalar register of another");
    RULE(result && (i->op == ISA_OP_v_readlane_b32 || i->op == ISA_OP_v_readfirstlane_b32), 1,
         "lane of a vector result");
    RULE(result && valu && is_transcendental(p) && !is_transcendental(i), 1, "result of a transcendental");
    RULE(
        result && valu &&
            ((p->sdwa && p->dst_sel != ISA_DWORD) || (p->format == ISA_VOP3 && p->op_sel & 8 && p->dst.kind)),
        1, "result in a part of a register");
#undef RULE
    return most;
}

/* Wait states that must lie between p and a later i. */
struct isa_need isa_gfx942_hazard(const struct isa_inst *p, const struct isa_inst *i)
{
    if (is_setreg(p))
        return after_setreg(p, i);
    if (p->op == ISA_OP_s_setvskip && i->op == ISA_OP_s_getreg_b32 && i->hwreg == HWREG_MODE)
        return (struct isa_need){2, "MODE after s_setvskip"};
    if (is_matrix(p))
        return after_matrix(p, i);
    if (is_valu(p))
        return after_valu(p, i);
    if (is_salu(p) && writes_scalar(p, SREG_M0, 1) && uses_m0(i))
        return (struct isa_need){1, "use of M0 after it is set"};
    if (holds_data(p) && is_valu(i) && overlap(&i->dst, &p->src[ISA_DATA]))
        return (struct isa_need){2, "vector result over data being stored"};
    return (struct isa_need){0};
}
