/* SPDX-License-Identifier: MIT */
/*
 * Instructions as LLVM's assembler writes them: mnemonic, operands in the
 * format's order, modifiers.  "AMDGPU instruction syntax" in LLVM's
 * documentation (AMDGPUInstructionSyntax, AMDGPUAsmGFX940).
 */
#include "isa/text.h"

#include <ehp/ehp.h>

static const struct isa_row *row_of(const struct isa_text *t, const struct isa_inst *inst)
{
    return &t->target->rows[inst->row];
}

static void text_mnemonic(struct isa_text *t, const struct isa_inst *inst)
{
    const struct isa_row *row = row_of(t, inst);
    const char *suffix = "";
    if (inst->sdwa)
        suffix = "_sdwa";
    else if (inst->dpp)
        suffix = row->flags & ISA_F_SUFFIX ? "_dpp" : "";
    else if (row->flags & ISA_F_SUFFIX)
        suffix = inst->format == ISA_VOP3 ? "_e64" : "_e32";
    isa_text_add(t, "%s%s", row->name, suffix);
}

/* The separator before the next operand. */
static void next(struct isa_text *t, unsigned *n)
{
    isa_text_add(t, (*n)++ ? ", " : " ");
}

static void text_next(struct isa_text *t, unsigned *n, const struct isa_operand *o)
{
    next(t, n);
    isa_text_operand(t, o);
}

static void text_list(struct isa_text *t, const char *name, unsigned bits, unsigned count)
{
    isa_text_add(t, " %s:[", name);
    for (unsigned i = 0; i < count; i++)
        isa_text_add(t, "%s%u", i ? "," : "", bits >> i & 1);
    isa_text_add(t, "]");
}

static void text_omod(struct isa_text *t, const struct isa_inst *inst)
{
    static const char *const names[] = {"", " mul:2", " mul:4", " div:2"};
    if (inst->clamp)
        isa_text_add(t, " clamp");
    isa_text_add(t, "%s", names[inst->omod & 3]);
}

/* ---- scalar ------------------------------------------------------------------------------------------- */

static void print_sop(struct isa_text *t, const struct isa_inst *inst)
{
    unsigned n = 0;
    unsigned imm = (unsigned)inst->simm16 & 0xffff;
    if (inst->dst.kind)
        text_next(t, &n, &inst->dst);
    if (inst->format == ISA_SOPK) {
        switch (inst->op) {
        case ISA_OP_s_getreg_b32:
            next(t, &n);
            isa_text_hwreg(t, imm);
            return;
        case ISA_OP_s_setreg_b32:
        case ISA_OP_s_setreg_imm32_b32: {
            next(t, &n);
            isa_text_hwreg(t, imm);
            struct isa_operand value = inst->src[0];
            if (value.literal) { /* always one: shown as an inline constant would be */
                value.literal = false;
                value.value = (uint64_t)(int32_t)value.value;
                if ((int32_t)value.value < -16)
                    value.value &= UINT32_MAX;
            }
            text_next(t, &n, &value);
            return;
        }
        default:
            break;
        }
        if (inst->src[0].kind && !inst->dst.kind)
            text_next(t, &n, &inst->src[0]);
        next(t, &n);
        isa_text_add(t, isa_facts[inst->op].effects & ISA_E_BRANCH ? "%u" : "0x%x", imm);
        return;
    }
    if (inst->src[0].kind)
        text_next(t, &n, &inst->src[0]);
    if (inst->op == ISA_OP_s_set_gpr_idx_on) {
        next(t, &n);
        isa_text_gpr_idx(t, (unsigned)inst->src[1].value);
    } else if (inst->src[1].kind && inst->format != ISA_SOP1) {
        text_next(t, &n, &inst->src[1]);
    }
}

static void print_sopp(struct isa_text *t, const struct isa_inst *inst)
{
    unsigned imm = (unsigned)inst->simm16 & 0xffff;
    switch (inst->op) {
    case ISA_OP_s_barrier:
    case ISA_OP_s_wakeup:
    case ISA_OP_s_icache_inv:
    case ISA_OP_s_ttracedata:
    case ISA_OP_s_endpgm_saved:
    case ISA_OP_s_endpgm_ordered_ps_done:
    case ISA_OP_s_set_gpr_idx_off:
        return;
    case ISA_OP_s_endpgm:
        if (imm)
            isa_text_add(t, " %u", imm);
        return;
    default:
        isa_text_add(t, " ");
        break;
    }
    switch (inst->op) {
    case ISA_OP_s_waitcnt:
        isa_text_waitcnt(t, imm);
        break;
    case ISA_OP_s_sendmsg:
    case ISA_OP_s_sendmsghalt:
        isa_text_sendmsg(t, imm);
        break;
    case ISA_OP_s_set_gpr_idx_mode:
        isa_text_gpr_idx(t, imm);
        break;
    default: /* a relative branch, or a number that is shown as an operand's constant would be */
        isa_text_add(t, imm > 64 && !(isa_facts[inst->op].effects & ISA_E_BRANCH) ? "0x%x" : "%u", imm);
        break;
    }
}

static void print_smem(struct isa_text *t, const struct isa_inst *inst)
{
    unsigned n = 0;
    if (inst->op == ISA_OP_s_atc_probe || inst->op == ISA_OP_s_atc_probe_buffer) {
        next(t, &n);
        isa_text_add(t, inst->simm16 > 64 ? "0x%x" : "%d", (unsigned)inst->simm16);
    } else if (inst->src[ISA_DATA].kind) { /* of an atomic, what is returned goes there too */
        text_next(t, &n, &inst->src[ISA_DATA]);
    } else if (inst->dst.kind) {
        text_next(t, &n, &inst->dst);
    }
    if (!inst->src[ISA_SBASE].kind)
        return;
    text_next(t, &n, &inst->src[ISA_SBASE]);
    next(t, &n);
    unsigned magnitude = inst->offset < 0 ? 0u - (unsigned)inst->offset : (unsigned)inst->offset;
    if (inst->soffset_en)
        isa_text_operand(t, &inst->soffset);
    if (inst->imm_offset)
        isa_text_add(t, "%s%s0x%x", inst->soffset_en ? " offset:" : "", inst->offset < 0 ? "-" : "",
                     magnitude);
    if (inst->sc0)
        isa_text_add(t, " %s", t->target->cache_name[3]);
}

/* ---- vector ALU --------------------------------------------------------------------------------------- */

static void text_sdwa(struct isa_text *t, const struct isa_inst *inst)
{
    static const char *const sel[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                      "WORD_0", "WORD_1", "DWORD",  "?"};
    static const char *const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "?"};
    text_omod(t, inst);
    if (row_of(t, inst)->form[ISA_FORM_SDWA].live >> 40 & 7 && inst->format != ISA_VOPC)
        isa_text_add(t, " dst_sel:%s dst_unused:%s", sel[inst->dst_sel & 7], unused[inst->dst_unused & 3]);
    for (unsigned i = 0; i < 2; i++)
        if (row_of(t, inst)->src[i])
            isa_text_add(t, " src%u_sel:%s", i, sel[inst->src_sel[i] & 7]);
}

static void text_dpp(struct isa_text *t, const struct isa_inst *inst)
{
    isa_text_add(t, " ");
    isa_text_dpp_ctrl(t, inst->dpp_ctrl);
    isa_text_add(t, " row_mask:0x%x bank_mask:0x%x", inst->row_mask, inst->bank_mask);
    if (inst->bound_ctrl)
        isa_text_add(t, " bound_ctrl:1");
}

static void print_valu(struct isa_text *t, const struct isa_inst *inst)
{
    const struct isa_row *row = row_of(t, inst);
    unsigned n = 0;
    if (inst->dst.kind)
        text_next(t, &n, &inst->dst);
    if (inst->sdst.kind)
        text_next(t, &n, &inst->sdst);
    unsigned count = row->flags & ISA_F_ACCUMULATE ? 2 : 3;
    for (unsigned i = 0; i < count; i++) {
        if (!inst->src[i].kind)
            continue;
        next(t, &n);
        if (row->where[i] == 'k')
            isa_text_add(t, "0x%x", (unsigned)inst->src[i].value);
        else
            isa_text_modified(t, &inst->src[i], inst->neg >> i & 1, inst->abs >> i & 1, inst->sext >> i & 1);
    }
    if (inst->sdwa) {
        text_sdwa(t, inst);
    } else if (inst->dpp) {
        text_dpp(t, inst);
    } else if (inst->format == ISA_VOP3) {
        if (inst->op_sel) {
            unsigned sources = 0;
            while (sources < 3 && row->src[sources])
                sources++;
            if (row->form[ISA_FORM_PLAIN].live >> 13 & 1) /* two sources and a byte of the result */
                sources = 3;
            unsigned bits = (inst->op_sel & ((1u << sources) - 1)) | (unsigned)(inst->op_sel >> 3) << sources;
            text_list(t, "op_sel", bits, sources + 1);
        }
        text_omod(t, inst);
    }
}

static void print_vop3p(struct isa_text *t, const struct isa_inst *inst)
{
    bool mix = inst->op == ISA_OP_v_fma_mix_f32 || inst->op == ISA_OP_v_fma_mixlo_f16 ||
               inst->op == ISA_OP_v_fma_mixhi_f16;
    unsigned n = 0, sources = 0;
    text_next(t, &n, &inst->dst);
    for (; sources < 3 && inst->src[sources].kind; sources++) {
        next(t, &n);
        isa_text_modified(t, &inst->src[sources], mix && (inst->neg >> sources & 1),
                          mix && (inst->neg_hi >> sources & 1), false);
    }
    unsigned all = (1u << sources) - 1;
    if (inst->op_sel & all)
        text_list(t, "op_sel", inst->op_sel, sources);
    bool halves = row_of(t, inst)->form[ISA_FORM_PLAIN].live >> 59 & 1; /* not of the dot products of bytes */
    if (halves && (inst->op_sel_hi & all) != (mix ? 0 : all))
        text_list(t, "op_sel_hi", inst->op_sel_hi, sources);
    if (!mix) {
        if (inst->neg & all)
            text_list(t, "neg_lo", inst->neg, sources);
        if (inst->neg_hi & all)
            text_list(t, "neg_hi", inst->neg_hi, sources);
    }
    if (inst->clamp)
        isa_text_add(t, " clamp");
}

static void print_mai(struct isa_text *t, const struct isa_inst *inst)
{
    unsigned n = 0;
    text_next(t, &n, &inst->dst);
    for (unsigned i = 0; i < 3; i++)
        if (inst->src[i].kind)
            text_next(t, &n, &inst->src[i]);
    if (inst->cbsz)
        isa_text_add(t, " cbsz:%u", inst->cbsz);
    if (inst->abid)
        isa_text_add(t, " abid:%u", inst->abid);
    if (!inst->blgp)
        return;
    /* The f64 ones negate sources with these bits. */
    if (inst->op == ISA_OP_v_mfma_f64_16x16x4_f64 || inst->op == ISA_OP_v_mfma_f64_4x4x4_4b_f64)
        text_list(t, "neg", inst->blgp, 3);
    else
        isa_text_add(t, " blgp:%u", inst->blgp);
}

/* ---- memory ------------------------------------------------------------------------------------------- */

static void text_cache(struct isa_text *t, const struct isa_inst *inst)
{
    const bool set[] = {inst->sc0, inst->nt, inst->sc1};
    for (unsigned i = 0; i < 3; i++)
        if (set[i])
            isa_text_add(t, " %s", t->target->cache_name[i]);
}

static void print_ds(struct isa_text *t, const struct isa_inst *inst)
{
    unsigned n = 0;
    if (inst->dst.kind)
        text_next(t, &n, &inst->dst);
    for (unsigned i = ISA_ADDR; i <= ISA_DATA2; i++)
        if (inst->src[i].kind)
            text_next(t, &n, &inst->src[i]);
    if (inst->op == ISA_OP_ds_swizzle_b32) {
        isa_text_swizzle(t, (unsigned)inst->offset);
    } else if (row_of(t, inst)->flags & ISA_F_TWO_ADDRESSES) {
        if (inst->offset)
            isa_text_add(t, " offset0:%d", inst->offset);
        if (inst->offset1)
            isa_text_add(t, " offset1:%u", inst->offset1);
    } else if (inst->offset) {
        isa_text_add(t, " offset:%d", inst->offset);
    }
    if (inst->gds)
        isa_text_add(t, " gds");
}

static void print_buffer(struct isa_text *t, const struct isa_inst *inst)
{
    unsigned n = 0;
    if (!inst->src[ISA_SBASE].kind) {
        text_cache(t, inst);
        return;
    }
    if (inst->src[ISA_DATA].kind) /* of an atomic, what is returned goes there too */
        text_next(t, &n, &inst->src[ISA_DATA]);
    else if (inst->dst.kind)
        text_next(t, &n, &inst->dst);
    text_next(t, &n, &inst->src[ISA_ADDR]);
    text_next(t, &n, &inst->src[ISA_SBASE]);
    text_next(t, &n, &inst->soffset);
    if (inst->format == ISA_MTBUF)
        isa_text_buffer_format(t, inst->dfmt, inst->nfmt);
    isa_text_add(t, "%s%s", inst->idxen ? " idxen" : "", inst->offen ? " offen" : "");
    if (inst->offset)
        isa_text_add(t, " offset:%d", inst->offset);
    text_cache(t, inst);
    if (inst->lds)
        isa_text_add(t, " lds");
}

static void print_flat(struct isa_text *t, const struct isa_inst *inst)
{
    unsigned n = 0;
    if (inst->dst.kind)
        text_next(t, &n, &inst->dst);
    bool scratch = inst->format == ISA_SCRATCH;
    if (inst->src[ISA_ADDR].kind || scratch)
        text_next(t, &n, &inst->src[ISA_ADDR]);
    if (inst->src[ISA_DATA].kind)
        text_next(t, &n, &inst->src[ISA_DATA]);
    if (inst->format != ISA_FLAT)
        text_next(t, &n, &inst->src[ISA_SBASE]);
    int offset = inst->offset | (inst->format == ISA_FLAT ? inst->offset1 << 12 : 0);
    if (offset)
        isa_text_add(t, " offset:%d", offset);
    text_cache(t, inst);
}

size_t isa_print(const struct isa_target *target, const struct isa_inst *inst, uint64_t pc, char *buf,
                 size_t len)
{
    (void)pc; /* branch targets are relative, as llvm-objdump prints them */
    struct isa_text t = {target, buf, len, 0};
    if (len)
        buf[0] = 0;
    if (inst->op == ISA_OP_INVALID) {
        isa_text_add(&t, "<not an instruction>");
        return t.used < len ? t.used : len ? len - 1 : 0;
    }
    text_mnemonic(&t, inst);
    switch (inst->format) {
    case ISA_SOP2:
    case ISA_SOPK:
    case ISA_SOP1:
    case ISA_SOPC:
        print_sop(&t, inst);
        break;
    case ISA_SOPP:
        print_sopp(&t, inst);
        break;
    case ISA_SMEM:
        print_smem(&t, inst);
        break;
    case ISA_VOP3P:
        print_vop3p(&t, inst);
        break;
    case ISA_VOP3PMAI:
        print_mai(&t, inst);
        break;
    case ISA_DS:
        print_ds(&t, inst);
        break;
    case ISA_MUBUF:
    case ISA_MTBUF:
        print_buffer(&t, inst);
        break;
    case ISA_FLAT:
    case ISA_GLOBAL:
    case ISA_SCRATCH:
        print_flat(&t, inst);
        break;
    default:
        print_valu(&t, inst);
        break;
    }
    return t.used < len ? t.used : len ? len - 1 : 0;
}

unsigned ehp_disassemble(const char *isa, const uint32_t *code, size_t words, uint64_t pc, char *text,
                         size_t bytes)
{
    const struct isa_target *target = isa_target_find(isa);
    struct isa_inst inst;
    if (!target || !isa_decode(target, code, words, &inst))
        return 0;
    isa_print(target, &inst, pc, text, bytes);
    return inst.size;
}

bool ehp_branch_target(const char *isa, const uint32_t *code, size_t words, uint64_t pc, uint64_t *to)
{
    const struct isa_target *target = isa_target_find(isa);
    struct isa_inst inst;
    if (!target || !isa_decode(target, code, words, &inst) ||
        (inst.format != ISA_SOPP && inst.format != ISA_SOPK) || !(isa_facts[inst.op].effects & ISA_E_BRANCH))
        return false;
    *to = pc + inst.size + (uint64_t)((int64_t)inst.simm16 * 4);
    return true;
}
