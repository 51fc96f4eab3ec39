/* SPDX-License-Identifier: MIT */
/* Which sums can be put off; see fuse.h. */
#include "wave/fuse.h"

#include "exec/code.h"

#include <stdlib.h>

#include "isa/isa.h"

/* So far ahead is looked for the end of a sum's life. */
enum { LOOK_AHEAD = 64 };

static bool overlap(const struct isa_operand *o, unsigned reg, unsigned count)
{
    return o->kind == ISA_VGPR && o->reg < reg + count && reg < (unsigned)o->reg + o->dwords;
}

static bool reads(const struct isa_inst *inst, unsigned reg)
{
    for (int i = 0; i < 4; i++)
        if (overlap(&inst->src[i], reg, 1))
            return true;
    return false;
}

/* After such an instruction comes the next one, with the same EXEC. */
static bool goes_on(const struct isa_inst *inst)
{
    switch (inst->format) {
    case ISA_SMEM:
    case ISA_GLOBAL:
        return true;
    case ISA_SOP2:
        return inst->dst.kind == ISA_SGPR && inst->dst.reg < SREG_FLAT_SCRATCH;
    case ISA_SOPP:
        return inst->op == ISA_OP_s_waitcnt || inst->op == ISA_OP_s_nop;
    case ISA_VOP1:
    case ISA_VOP2:
    case ISA_VOP3:
        return inst->dst.kind == ISA_VGPR && (inst->sdst.kind == ISA_NONE || inst->sdst.reg <= SREG_VCC);
    default:
        return false;
    }
}

/* It gives all lanes of its result new values, whatever they were. */
static bool writes_all(const struct isa_inst *inst)
{
    if (inst->dpp || inst->sdwa)
        return false;
    switch (inst->op) {
    case ISA_OP_global_load_dword:
    case ISA_OP_global_load_dwordx2:
    case ISA_OP_global_load_dwordx3:
    case ISA_OP_global_load_dwordx4:
    case ISA_OP_v_mov_b32:
    case ISA_OP_v_add_u32:
    case ISA_OP_v_lshlrev_b32:
    case ISA_OP_v_lshlrev_b64:
    case ISA_OP_v_lshl_add_u64:
    case ISA_OP_v_add_f32:
    case ISA_OP_v_mul_f32:
    case ISA_OP_v_fma_f32:
        return true;
    default:
        return false;
    }
}

/* Is a VGPR written anew before it is read, from instruction i on? */
static bool is_dead(const struct exec_block *block, size_t i, unsigned reg)
{
    for (size_t end = i + LOOK_AHEAD; i < end && i < block->count; i++) {
        const struct isa_inst *inst = &block->isa[i];
        if (inst->op == ISA_OP_s_endpgm)
            return true;
        if (!goes_on(inst) || reads(inst, reg))
            return false;
        if (overlap(&inst->dst, reg, 1))
            return writes_all(inst);
    }
    return false;
}

static bool is_sum(const struct isa_inst *inst, const struct xinst *x)
{
    return inst->op == ISA_OP_v_lshl_add_u64 && !x->post && inst->dst.kind == ISA_VGPR &&
           x->prep[0] == XPREP_SGPR && x->reg[0] < SREG_FLAT_SCRATCH && x->prep[1] == XPREP_CONST &&
           (x->literal[1] & 7) == 0 && x->prep[2] == XPREP_PLAIN && inst->src[2].kind == ISA_VGPR;
}

/* An instruction between a sum and its access leaves the sum and what it is made of alone. */
static bool leaves_alone(const struct isa_inst *inst, const struct isa_inst *sum)
{
    const unsigned scalar = sum->src[0].reg;
    const bool changes = inst->dst.kind == ISA_SGPR && inst->dst.reg < scalar + 2 &&
                         scalar < (unsigned)inst->dst.reg + inst->dst.dwords;
    return goes_on(inst) && !changes && !overlap(&inst->dst, sum->src[2].reg, 2) &&
           !overlap(&inst->dst, sum->dst.reg, 2) && !reads(inst, sum->dst.reg) &&
           !reads(inst, sum->dst.reg + 1u);
}

/* Whether instruction `at` accesses memory there, and the sum is of no use afterwards. */
static bool is_its_access(const struct exec_block *block, size_t at, const struct isa_inst *sum)
{
    const struct isa_inst *inst = &block->isa[at];
    const struct isa_operand *address = &inst->src[ISA_ADDR];
    if (inst->format != ISA_GLOBAL || inst->reserved || address->kind != ISA_VGPR ||
        address->reg != sum->dst.reg || address->dwords != 2 || inst->src[ISA_SBASE].kind == ISA_SGPR)
        return false;
    /* The offsets are wanted again when it faults; what it stores is not the sum. */
    if (overlap(&inst->dst, sum->src[2].reg, 2) || overlap(&inst->src[ISA_DATA], sum->dst.reg, 2))
        return false;
    for (unsigned reg = sum->dst.reg; reg < sum->dst.reg + 2u; reg++)
        if (!overlap(&inst->dst, reg, 1) && !is_dead(block, at + 1, reg))
            return false;
    return true;
}

/* The access of the sum at i, 0 when there is none. */
static size_t find_access(const struct exec_block *block, const bool *is_target, size_t i)
{
    const struct isa_inst *sum = &block->isa[i];
    for (size_t at = i + 1; at < block->count && at < i + LOOK_AHEAD && !is_target[at]; at++) {
        if (is_its_access(block, at, sum))
            return at;
        if (!leaves_alone(&block->isa[at], sum))
            return 0;
    }
    return 0;
}

static const struct xinst *x_put_off(struct wave *w, const struct xinst *in)
{
    return fuse_waits(w) ? in + 1 : fuse_single(in)(w, in);
}

static void replace(struct xinst *x, exec_fn *fn)
{
    x->alone = x->fn;
    x->fn = fn;
}

void fuse_block(struct exec_block *block, fuse_lookup_fn *lookup)
{
    bool *is_target = calloc(block->count + 1, sizeof(*is_target));
    if (!is_target)
        return;
    for (size_t i = 0; i < block->count; i++)
        if (block->x[i].cls == XC_BRANCH && block->x[i].target)
            is_target[block->x[i].target - block->x] = true;
    for (size_t i = 0; i < block->count; i++) {
        if (block->isa[i].op == ISA_OP_INVALID || !is_sum(&block->isa[i], &block->x[i]))
            continue;
        size_t at = find_access(block, is_target, i);
        exec_fn *fn = at ? lookup(&block->isa[at]) : NULL;
        if (!fn)
            continue;
        replace(&block->x[i], x_put_off);
        replace(&block->x[at], fn);
        block->x[at].mem.partner = (uint8_t)(at - i);
        block->x[i].partner = (uint16_t)(at - i);
    }
    free(is_target);
}
