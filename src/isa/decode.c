/* SPDX-License-Identifier: MIT */
/*
 * The decoder: find the row by format and opcode, check the bits that the row
 * fixes, take the fields apart.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 13 (microcode formats).  Which
 * bits must be clear is data: the forms of the target's rows.
 */
#include "isa/decode.h"

static uint32_t field(const struct isa_decoder *d, unsigned low, unsigned width)
{
    return isa_field(d->bits.raw, low, width);
}

/* A modifier: zero when the instruction does not have it. */
static uint32_t modifier(const struct isa_decoder *d, unsigned low, unsigned width)
{
    return isa_field(d->bits.live, low, width);
}

static int32_t sign_extend(uint32_t value, unsigned width)
{
    return (int32_t)(value << (32 - width)) >> (32 - width);
}

static bool source(struct isa_decoder *d, unsigned i, unsigned f)
{
    return isa_operand_source(d->target, &d->out->src[i], &d->bits, f, d->row->src[i], d->row->where[i],
                              false);
}

/* ---- scalar ------------------------------------------------------------------------------------------- */

bool isa_decode_sop(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    d->bits.literal_allowed = true;
    if (row->dst && !isa_operand_sgpr(d->target, &out->dst, field(d, 16, 7), row->dst))
        return false;
    switch (row->format) {
    case ISA_SOP1:
        if (row->src[0] && !source(d, 0, field(d, 0, 8)))
            return false;
        /* s_movreld and the like name a destination that the table calls a source. */
        if (row->src[1])
            return isa_operand_sgpr(d->target, &out->src[1], field(d, 16, 7), row->src[1]);
        return true;
    case ISA_SOPK:
        out->simm16 = sign_extend(field(d, 0, 16), 16);
        if (row->op == ISA_OP_s_getreg_b32 || row->op == ISA_OP_s_setreg_b32 ||
            row->op == ISA_OP_s_setreg_imm32_b32)
            out->hwreg = d->target->hwreg[field(d, 0, 6)].which;
        if (row->op == ISA_OP_s_setreg_imm32_b32)
            return isa_operand_literal(&out->src[0], &d->bits, row->src[0]);
        if (row->src[0])
            return isa_operand_sgpr(d->target, &out->src[0], field(d, 16, 7), row->src[0]);
        return true;
    default: /* SOP2, SOPC */
        if (row->src[0] && !source(d, 0, field(d, 0, 8)))
            return false;
        if (row->op == ISA_OP_s_set_gpr_idx_on) { /* an immediate, not a source */
            out->src[1] = (struct isa_operand){
                .kind = ISA_CONST, .type = ISA_T_B32, .dwords = 1, .value = field(d, 8, 8)};
            return true;
        }
        return !row->src[1] || source(d, 1, field(d, 8, 8));
    }
}

/* Scalar data cannot be M0 or EXEC: "AMD Instinct MI300 ISA", 8.1. */
static bool scalar_data(const struct isa_decoder *d, struct isa_operand *o, unsigned f, unsigned type)
{
    return isa_operand_sgpr(d->target, o, f, type) &&
           (o->kind != ISA_SGPR || (o->reg != SREG_M0 && o->reg < SREG_EXEC));
}

static uint32_t effects(const struct isa_row *row)
{
    return isa_facts[row->op].effects;
}

bool isa_decode_smem(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    bool imm = field(d, 17, 1), soe = field(d, 14, 1);
    out->sc0 = effects(row) & ISA_E_ATOMIC ? field(d, 16, 1) : modifier(d, 16, 1);
    if (row->src[ISA_SBASE]) {
        if (!isa_operand_sgpr(d->target, &out->src[ISA_SBASE], field(d, 0, 6) * 2, row->src[ISA_SBASE]))
            return false;
        out->imm_offset = imm;
        out->soffset_en = soe || !imm;
        if (imm)
            out->offset = sign_extend(field(d, 32, 21), 21);
        if (out->soffset_en &&
            !isa_operand_sgpr(d->target, &out->soffset, soe ? field(d, 57, 7) : field(d, 32, 7), ISA_T_U32))
            return false;
    }
    if (row->op == ISA_OP_s_atc_probe || row->op == ISA_OP_s_atc_probe_buffer) {
        out->simm16 = (int32_t)field(d, 6, 7); /* which access to probe for */
        return true;
    }
    unsigned sdata = field(d, 6, 7);
    if (effects(row) & ISA_E_ATOMIC) {
        if (!scalar_data(d, &out->src[ISA_DATA], sdata, row->src[ISA_DATA]))
            return false;
        /* The old value goes where the data is, whose number was rounded down if it is a tuple. */
        return !out->sc0 || scalar_data(d, &out->dst, out->src[ISA_DATA].reg, row->dst);
    }
    if (row->src[ISA_DATA])
        return scalar_data(d, &out->src[ISA_DATA], sdata, row->src[ISA_DATA]);
    return !row->dst || scalar_data(d, &out->dst, sdata, row->dst);
}

/* ---- vector ALU --------------------------------------------------------------------------------------- */

static bool decode_sdwa(struct isa_decoder *d, unsigned vsrc1)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    out->sdwa = true;
    bool compare = row->format == ISA_VOPC;
    bool selects = !compare && (row->form[ISA_FORM_SDWA].live >> 40 & 7); /* conversions of fp8 do not */
    out->dst_sel = selects ? (uint8_t)field(d, 40, 3) : ISA_DWORD;
    out->dst_unused = selects ? (uint8_t)field(d, 43, 2) : ISA_UNUSED_PAD;
    out->clamp = !compare && modifier(d, 45, 1);
    out->omod = compare ? 0 : (uint8_t)modifier(d, 46, 2);
    if (out->dst_sel > ISA_DWORD || out->dst_unused > ISA_UNUSED_PRESERVE)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        unsigned base = 48 + i * 8;
        out->src_sel[i] = ISA_DWORD;
        if (!row->src[i])
            continue;
        out->src_sel[i] = (uint8_t)field(d, base, 3);
        if (out->src_sel[i] > ISA_DWORD)
            return false;
        out->sext |= (uint8_t)(modifier(d, base + 3, 1) << i);
        out->neg |= (uint8_t)(modifier(d, base + 4, 1) << i);
        out->abs |= (uint8_t)(modifier(d, base + 5, 1) << i);
        unsigned f = (i ? vsrc1 : field(d, 32, 8)) | (field(d, base + 7, 1) ? 0 : SRC_VGPR);
        if (f == SRC_SDWA || f == SRC_DPP || f == SRC_LITERAL)
            return false;
        if (!isa_operand_source(d->target, &out->src[i], &d->bits, f, row->src[i], 'a', false))
            return false;
    }
    return true;
}

/* The 64-bit units move data by row_newbcast only: "AMD Instinct MI300 ISA", 6.2.1.2. */
static bool dpp_control_valid(unsigned ctrl, bool wide)
{
    bool newbcast = ctrl >= 0x150 && ctrl <= 0x15f;
    if (wide)
        return newbcast;
    return ctrl <= 0xff || (ctrl > 0x100 && ctrl <= 0x12f && (ctrl & 15)) || ctrl == 0x130 || ctrl == 0x134 ||
           ctrl == 0x138 || ctrl == 0x13c || (ctrl >= 0x140 && ctrl <= 0x143) || newbcast;
}

static bool decode_dpp(struct isa_decoder *d, unsigned vsrc1)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    out->dpp = true;
    out->dpp_ctrl = (uint16_t)field(d, 40, 9);
    out->bound_ctrl = field(d, 51, 1);
    out->bank_mask = (uint8_t)field(d, 56, 4);
    out->row_mask = (uint8_t)field(d, 60, 4);
    bool wide = isa_type_dwords(row->dst) > 1 || isa_type_dwords(row->src[0]) > 1;
    if (!dpp_control_valid(out->dpp_ctrl, wide))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        out->neg |= (uint8_t)(modifier(d, 52 + i * 2, 1) << i);
        out->abs |= (uint8_t)(modifier(d, 53 + i * 2, 1) << i);
        if (row->src[i] && !isa_operand_vgpr(&out->src[i], i ? vsrc1 : field(d, 32, 8), row->src[i], false))
            return false;
    }
    return true;
}

/* An SGPR in the field of a VGPR.  A lane's value cannot go to M0. */
static bool scalar_result(struct isa_decoder *d, unsigned f)
{
    return isa_operand_source(d->target, &d->out->dst, &d->bits, f, d->row->dst, 's', false) &&
           (f != d->target->sreg.m0 || !(d->row->flags & ISA_F_DST_SGPR));
}

/* Operands that VOP1, VOP2 and VOPC imply. */
static bool decode_implied(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    if (row->sdst)
        isa_operand_vcc(&out->sdst);
    if (row->src[2] == ISA_T_MASK)
        isa_operand_vcc(&out->src[2]);
    if (row->flags & ISA_F_ACCUMULATE)
        out->src[2] = out->dst;
    return true;
}

bool isa_decode_vop12c(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    unsigned vsrc1 = field(d, 9, 8), vdst = field(d, 17, 8);
    if (row->format == ISA_VOPC) {
        isa_operand_vcc(&out->dst);
        if (d->form == ISA_FORM_SDWA && field(d, 47, 1) &&
            !isa_operand_sgpr(d->target, &out->dst, field(d, 40, 7), ISA_T_MASK))
            return false;
    } else if (row->flags & ISA_F_DST_SGPR) {
        if (!scalar_result(d, vdst))
            return false;
    } else if (row->dst && !isa_operand_vgpr(&out->dst, vdst, row->dst, row->where[0] == 'g')) {
        return false;
    }
    if (d->form == ISA_FORM_SDWA)
        return decode_sdwa(d, vsrc1) && decode_implied(d);
    if (d->form == ISA_FORM_DPP)
        return decode_dpp(d, vsrc1) && decode_implied(d);

    d->bits.literal_allowed = true;
    unsigned src0 = field(d, 0, 9);
    if (row->src[0] && !isa_operand_source(d->target, &out->src[0], &d->bits, src0, row->src[0],
                                           row->where[0], row->where[0] == 'g'))
        return false;
    if (row->flags & ISA_F_LITERAL_K) {
        unsigned k = row->where[1] == 'k' ? 1 : 2;
        return isa_operand_literal(&out->src[k], &d->bits, row->src[k]) &&
               isa_operand_vgpr(&out->src[3 - k], vsrc1, row->src[3 - k], false);
    }
    if (row->src[1] && !isa_operand_vgpr(&out->src[1], vsrc1, row->src[1], false))
        return false;
    return decode_implied(d);
}

bool isa_decode_vop3(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    unsigned vdst = field(d, 0, 8);
    if (row->dst == ISA_T_MASK || (row->flags & ISA_F_DST_SGPR)) {
        if (!scalar_result(d, vdst))
            return false;
    } else if (row->dst && !isa_operand_vgpr(&out->dst, vdst, row->dst, false)) {
        return false;
    }
    if (row->sdst) {
        if (!isa_operand_sgpr(d->target, &out->sdst, field(d, 8, 7), row->sdst))
            return false;
    } else {
        out->abs = (uint8_t)modifier(d, 8, 3);
        out->op_sel = (uint8_t)modifier(d, 11, 4);
    }
    out->clamp = modifier(d, 15, 1);
    out->omod = (uint8_t)modifier(d, 59, 2);
    out->neg = (uint8_t)modifier(d, 61, 3);
    unsigned count = row->flags & ISA_F_ACCUMULATE ? 2 : 3;
    if (row->src[2] == ISA_T_MASK && field(d, 58, 1)) { /* no lane mask: isa_decode() marks it */
        out->src[2] = (struct isa_operand){ISA_VGPR, ISA_T_MASK, 2, false, (uint16_t)field(d, 50, 8), 0};
        count = 2;
    }
    for (unsigned i = 0; i < count; i++)
        if (row->src[i] && !source(d, i, field(d, 32 + 9 * i, 9)))
            return false;
    if (row->flags & ISA_F_ACCUMULATE)
        out->src[2] = out->dst;
    return true;
}

static bool decode_mai(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    bool acc_cd = field(d, 15, 1);
    unsigned vdst = field(d, 0, 8);
    if (row->op == ISA_OP_v_accvgpr_read_b32)
        return isa_operand_vgpr(&out->dst, vdst, row->dst, false) &&
               isa_operand_source(d->target, &out->src[0], &d->bits, field(d, 32, 9), row->src[0], 'g', true);
    if (row->op == ISA_OP_v_accvgpr_write_b32)
        return isa_operand_vgpr(&out->dst, vdst, row->dst, true) && source(d, 0, field(d, 32, 9));

    out->cbsz = (uint8_t)modifier(d, 8, 3);
    out->abid = (uint8_t)modifier(d, 11, 4);
    out->blgp = (uint8_t)modifier(d, 61, 3);
    if (!isa_operand_vgpr(&out->dst, vdst, row->dst, acc_cd))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (!isa_operand_source(d->target, &out->src[i], &d->bits, field(d, 32 + 9 * i, 9), row->src[i], 'x',
                                field(d, 59 + i, 1)))
            return false;
    if (row->flags & ISA_F_ACCUMULATE) { /* sparse: the third source is the index */
        out->src[3] = out->dst;
        return isa_operand_source(d->target, &out->src[2], &d->bits, field(d, 50, 9), row->src[2], 'v',
                                  false);
    }
    unsigned c = field(d, 50, 9);
    if (c < SRC_INT_MIN && c != d->target->sreg.null)
        return false;
    return isa_operand_source(d->target, &out->src[2], &d->bits, c, row->src[2], 'a', acc_cd);
}

bool isa_decode_vop3p(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    if (row->format == ISA_VOP3PMAI)
        return decode_mai(d);
    if (!isa_operand_vgpr(&out->dst, field(d, 0, 8), row->dst, false))
        return false;
    out->neg_hi = (uint8_t)modifier(d, 8, 3);
    out->op_sel = (uint8_t)modifier(d, 11, 3);
    out->op_sel_hi = (uint8_t)(modifier(d, 59, 2) | modifier(d, 14, 1) << 2);
    out->clamp = modifier(d, 15, 1);
    out->neg = (uint8_t)modifier(d, 61, 3);
    /* Of the mixed ones the high negation is an absolute value. */
    bool mix = row->op == ISA_OP_v_fma_mix_f32 || row->op == ISA_OP_v_fma_mixlo_f16 ||
               row->op == ISA_OP_v_fma_mixhi_f16;
    if (mix)
        out->abs = out->neg_hi;
    for (unsigned i = 0; i < 3; i++) {
        if (!row->src[i])
            continue;
        /* The mixed ones read an f32, or one half as f16, by op_sel_hi: 12.11, V_MAD_MIX_F32. */
        unsigned type = mix && !(out->op_sel_hi >> i & 1) ? ISA_T_F32 : row->src[i];
        if (!isa_operand_source(d->target, &out->src[i], &d->bits, field(d, 32 + 9 * i, 9), type,
                                row->where[i], false))
            return false;
    }
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------------- */

/* AccVGPRs of a returning atomic of the DS and FLAT formats: assemblers do not check that tuples start even.
 */
static bool data_register(struct isa_decoder *d, struct isa_operand *o, unsigned reg, unsigned type, bool acc)
{
    const struct isa_row *row = d->row;
    bool returns = row->format == ISA_DS ? row->dst != 0 : d->out->sc0;
    if (acc && returns && (effects(row) & ISA_E_ATOMIC) && row->format != ISA_MUBUF) {
        *o = (struct isa_operand){.kind = ISA_AGPR, .type = (uint8_t)type, .reg = (uint16_t)reg};
        o->dwords = (uint8_t)isa_type_dwords(type);
        return reg + o->dwords <= 256;
    }
    return isa_operand_vgpr(o, reg, type, acc);
}

bool isa_decode_ds(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    bool acc = field(d, 25, 1);
    bool gws = isa_facts[row->op].unit == ISA_UNIT_GWS;
    out->gds = gws;
    if (row->flags & ISA_F_TWO_ADDRESSES) {
        out->offset = (int32_t)field(d, 0, 8);
        out->offset1 = (uint8_t)field(d, 8, 8);
    } else {
        out->offset = (int32_t)field(d, 0, 16);
    }
    /* The global wave sync has its data in the address field. */
    if (row->src[ISA_ADDR] &&
        !isa_operand_vgpr(&out->src[ISA_ADDR], field(d, 32, 8), row->src[ISA_ADDR], gws && acc))
        return false;
    if (row->src[ISA_DATA] &&
        !data_register(d, &out->src[ISA_DATA], field(d, 40, 8), row->src[ISA_DATA], acc))
        return false;
    if (row->src[ISA_DATA2] &&
        !data_register(d, &out->src[ISA_DATA2], field(d, 48, 8), row->src[ISA_DATA2], acc))
        return false;
    return !row->dst || data_register(d, &out->dst, field(d, 56, 8), row->dst, acc);
}

/* The data register of a buffer or flat instruction: source, destination, or, of an atomic, both. */
static bool decode_data(struct isa_decoder *d, unsigned vdata, unsigned vdst, bool acc)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    if (row->src[ISA_DATA] && !data_register(d, &out->src[ISA_DATA], vdata, row->src[ISA_DATA], acc))
        return false;
    if (!row->dst || out->lds || ((effects(row) & ISA_E_ATOMIC) && !out->sc0))
        return true;
    if (acc && ((row->flags & ISA_F_NO_ACC_RETURN) || (out->sc1 && (row->flags & ISA_F_NO_ACC_RETURN_SC1))))
        return false;
    return data_register(d, &out->dst, vdst, row->dst, acc);
}

bool isa_decode_buffer(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    bool typed = row->format == ISA_MTBUF;
    bool acc = field(d, 55, 1);
    out->offset = (int32_t)modifier(d, 0, 12);
    out->offen = modifier(d, 12, 1) || (row->src[ISA_SBASE] && field(d, 12, 1));
    out->idxen = modifier(d, 13, 1) || (row->src[ISA_SBASE] && field(d, 13, 1));
    out->sc0 = field(d, 14, 1);
    if (typed) {
        out->sc1 = modifier(d, 53, 1);
        out->nt = modifier(d, 54, 1);
        out->dfmt = (uint8_t)field(d, 19, 4);
        out->nfmt = (uint8_t)field(d, 23, 3);
    } else {
        out->sc1 = modifier(d, 15, 1);
        out->nt = modifier(d, 17, 1);
        out->lds = field(d, 16, 1);
    }
    if (!row->src[ISA_SBASE]) /* cache control */
        return true;
    if (out->lds && acc)
        return false;
    unsigned vaddr = out->offen && out->idxen ? ISA_T_B64 : ISA_T_U32;
    unsigned vreg = field(d, 32, 8);
    if (typed && vaddr == ISA_T_B64) /* assemblers ask for an even register of the untyped ones only */
        out->src[ISA_ADDR] = (struct isa_operand){ISA_VGPR, ISA_T_B64, 2, false, (uint16_t)vreg, 0};
    else if ((out->offen || out->idxen) && !isa_operand_vgpr(&out->src[ISA_ADDR], vreg, vaddr, false))
        return false;
    if (!isa_operand_sgpr(d->target, &out->src[ISA_SBASE], field(d, 48, 5) * 4, row->src[ISA_SBASE]))
        return false;
    if (!isa_operand_source(d->target, &out->soffset, &d->bits, field(d, 56, 8), ISA_T_U32, 'c', false))
        return false;
    unsigned vdata = field(d, 40, 8);
    return decode_data(d, vdata, vdata, acc);
}

bool isa_decode_flat(struct isa_decoder *d)
{
    struct isa_inst *out = d->out;
    const struct isa_row *row = d->row;
    bool acc = field(d, 55, 1);
    unsigned saddr = field(d, 48, 7);
    if (row->format == ISA_FLAT) { /* 12 bits, without a sign; the 13th is ignored */
        out->offset = (int32_t)field(d, 0, 12);
        out->offset1 = (uint8_t)field(d, 12, 1);
    } else {
        out->offset = sign_extend(field(d, 0, 13), 13);
    }
    out->sc0 = field(d, 16, 1);
    out->nt = field(d, 17, 1);
    out->sc1 = field(d, 25, 1);
    out->lds = effects(row) & ISA_E_LDS;
    bool has_saddr = row->format != ISA_FLAT && saddr != 0x7f;
    bool has_vaddr = row->format != ISA_SCRATCH || field(d, 13, 1);
    /* EXEC cannot be the base. */
    if (has_saddr && (!isa_operand_sgpr(d->target, &out->src[ISA_SBASE], saddr, row->src[ISA_SBASE]) ||
                      (!out->lds && saddr == d->target->sreg.exec + (row->format == ISA_GLOBAL ? 0u : 1u))))
        return false;
    unsigned type = has_saddr || row->format == ISA_SCRATCH ? ISA_T_U32 : ISA_T_U64;
    if (has_vaddr && !isa_operand_vgpr(&out->src[ISA_ADDR], field(d, 32, 8), type, false))
        return false;
    return decode_data(d, field(d, 40, 8), field(d, 56, 8), acc);
}

/* ---- formats ------------------------------------------------------------------------------------------ */

bool isa_decode_sopp(struct isa_decoder *d)
{
    d->out->simm16 = sign_extend(field(d, 0, 16), 16);
    return true;
}

static bool is_reserved(const struct isa_target *target, const struct isa_operand *o)
{
    if (o->kind == ISA_SGPR) /* a tuple that runs into the registers behind the last */
        return o->reg < target->sreg.sgprs && o->reg + o->dwords > target->sreg.sgprs;
    if (o->kind == ISA_VGPR)
        return o->dwords > 1 && ((o->reg & 1) || o->reg + o->dwords > target->registers.vgprs);
    if (o->kind == ISA_AGPR)
        return o->dwords > 1 && ((o->reg & 1) || o->reg + o->dwords > target->registers.agprs);
    if (o->kind == ISA_SPECIAL)
        for (const uint8_t *r = target->reserved; *r; r++)
            if (o->reg == *r)
                return true;
    return false;
}

/* Results and masks cannot be specials; assemblers accept them in 8- and 9-bit fields. */
static bool is_misplaced(const struct isa_row *row, const struct isa_inst *inst)
{
    const char *where = row->where;
    for (unsigned i = 0; i < 3; i++)
        if (inst->src[i].kind == ISA_SPECIAL && (where[i] == 'v' || where[i] == 'l' || where[i] == 'x' ||
                                                 where[i] == 'g' || inst->src[i].dwords > 2))
            return true;
    return inst->dst.kind == ISA_SPECIAL || inst->sdst.kind == ISA_SPECIAL ||
           (inst->src[2].type == ISA_T_MASK && inst->src[2].kind == ISA_VGPR);
}

/* What its cache bits ask for. */
static struct isa_policy policy_of(const struct isa_decoder *d)
{
    const struct isa_inst *out = d->out;
    const uint32_t e = effects(d->row);
    const enum isa_access access = e & ISA_E_ATOMIC  ? ISA_ACCESS_ATOMIC
                                   : e & ISA_E_STORE ? ISA_ACCESS_STORE
                                   : e & ISA_E_LOAD  ? ISA_ACCESS_LOAD
                                                     : ISA_ACCESS_CONTROL;
    return d->target->policy[access][out->sc0 | out->sc1 << 1 | out->nt << 2];
}

static bool form_matches(const struct isa_row *row, unsigned form, const uint32_t *words, size_t count)
{
    const struct isa_form *f = &row->form[form];
    return f->mask && count > 1 && ((words[0] | (uint64_t)words[1] << 32) & f->mask) == f->match;
}

bool isa_decode(const struct isa_target *target, const uint32_t *words, size_t count, struct isa_inst *out)
{
    *out = (struct isa_inst){0};
    if (count == 0)
        return false;
    const struct isa_encoding e = target->encoding(words[0]);
    if (!e.format)
        return false;
    struct isa_decoder d = {.target = target, .out = out, .size = e.size};
    unsigned opcode = isa_field(words[0], e.opcode_low, e.opcode_width);
    d.row = isa_row_find(target, e.format, opcode);
    if (!d.row)
        return false;
    if (e.extends && (words[0] & 0x1ff) == SRC_SDWA)
        d.form = ISA_FORM_SDWA;
    else if (e.extends && (words[0] & 0x1ff) == SRC_DPP)
        d.form = ISA_FORM_DPP;
    /* An instruction without sources ignores the field that would say SDWA or DPP. */
    if (d.form != ISA_FORM_PLAIN && !d.row->src[0] && !form_matches(d.row, d.form, words, count))
        d.form = ISA_FORM_PLAIN;
    if (d.form != ISA_FORM_PLAIN)
        d.size = 8;
    if (count * 4 < d.size)
        return false;
    const struct isa_form *form = &d.row->form[d.form];
    d.bits.raw = words[0] | (d.size > 4 ? (uint64_t)words[1] << 32 : 0);
    if (!form->mask || (d.bits.raw & form->mask) != form->match)
        return false;
    d.bits.live = d.bits.raw & form->live;
    d.bits.has_literal = count > d.size / 4;
    if (d.bits.has_literal)
        d.bits.literal = words[d.size / 4];

    out->op = d.row->op;
    out->row = (uint16_t)(d.row - target->rows);
    out->format = d.row->format;
    out->opcode = (uint16_t)opcode;
    if (!e.decode(&d))
        return false;
    out->policy = policy_of(&d);
    out->reserved = is_misplaced(d.row, out) || is_reserved(target, &out->dst) ||
                    is_reserved(target, &out->sdst) || is_reserved(target, &out->soffset);
    for (unsigned i = 0; i < 4; i++)
        out->reserved = out->reserved || is_reserved(target, &out->src[i]);
    out->size = (uint8_t)(d.size + (d.bits.literal_used ? 4 : 0));
    return true;
}
