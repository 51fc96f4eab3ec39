/* SPDX-License-Identifier: MIT */
/*
 * Operands that are not plain VGPRs, and results that are not plain writes.
 * Compiled once per instruction set level of the host, like the handlers that
 * use it.
 *
 * Source: MI300 ISA, 6 "Vector ALU operations": input and output modifiers,
 * SDWA, DPP.
 */
#include <string.h>

#include "base/float.h"
#include "isa/facts.h"
#include "sem/vector/lane_modify.h"
#include "sem/vector/valu_rows.h"
#include "wave/handlers.h"

static void fill_row(uint32_t *restrict row, uint32_t value)
{
    for (int lane = 0; lane < WAVE_LANES; lane++)
        row[lane] = value;
}

/* ---- DPP ---- */

static void permute(uint32_t *d, const uint32_t *s, const struct xdpp *dpp)
{
    if (dpp->in_rows)
        row_permute_rows(d, s, dpp->from);
    else
        row_permute(d, s, dpp->from);
}

/*
 * Permutes the rows of source 0 on their way to the temp rows and notes in
 * w->dpp_lanes which lanes may be written: a lane without a source (beyond the
 * row, or switched off by EXEC) reads 0 with bound_ctrl and is not written
 * without it; row_mask and bank_mask switch off more.
 */
static void apply_dpp(struct wave *w, const struct xinst *in)
{
    const struct xdpp *dpp = in->dpp;
    wave_row *temp = w->v + in->s[0];
    const wave_row *source = w->v + in->reg[0];
    uint64_t read = dpp->exists;
    alignas(64) wave_row on, moved;
    if (w->exec != UINT64_MAX) {
        row_from_mask(on, w->exec);
        permute(moved, on, dpp);
        read &= row_to_mask(moved);
    }
    for (int r = 0; r < in->rows[0]; r++)
        permute(temp[r], source[r], dpp);
    if (read != UINT64_MAX) {
        row_from_mask(on, read);
        for (int r = 0; r < in->rows[0]; r++)
            VALU_EACH_LANE(lane)
        temp[r][lane] &= on[lane];
    }
    w->dpp_lanes = dpp->writes & (in->isa->bound_ctrl ? UINT64_MAX : read);
}

/* ---- SDWA ---- */

static unsigned part_shift(unsigned select)
{
    return select <= ISA_BYTE_3 ? 8 * select : select == ISA_WORD_1 ? 16 : 0;
}

static unsigned part_bits(unsigned select)
{
    return select <= ISA_BYTE_3 ? 8 : select <= ISA_WORD_1 ? 16 : 32;
}

static void select_part(uint32_t *row, const uint32_t *source, unsigned select, bool sign_extend)
{
    const unsigned shift = part_shift(select), bits = part_bits(select);
    const uint32_t mask = UINT32_MAX >> (32 - bits), sign = sign_extend ? 1u << (bits - 1) : 0;
    VALU_EACH_LANE(lane)
    row[lane] = modify_part(source[lane], shift, mask, sign);
}

/* ---- neg and abs ---- */

static void apply_sign(wave_row *rows, unsigned type, bool negate, bool absolute)
{
    uint32_t sign = 0x80000000;
    uint32_t *row = rows[0];
    switch (type) {
    case ISA_T_F64:
    case ISA_T_B64:
    case ISA_T_I64:
    case ISA_T_U64:
        row = rows[1]; /* the sign is in the high dword */
        break;
    case ISA_T_F16:
    case ISA_T_BF16:
    case ISA_T_B16:
    case ISA_T_I16:
    case ISA_T_U16:
        sign = 0x8000;
        break;
    default:
        break;
    }
    uint32_t clear = absolute ? ~sign : UINT32_MAX, flip = negate ? sign : 0;
    for (int lane = 0; lane < WAVE_LANES; lane++)
        row[lane] = modify_sign(row[lane], clear, flip);
}

static void prepare_slow(struct wave *w, const struct xinst *in, int i)
{
    const struct isa_inst *inst = in->isa;
    const struct isa_operand *o = &inst->src[i];
    wave_row *temp = w->v + in->s[i];
    int rows = in->rows[i];
    switch (o->kind) {
    case ISA_VGPR:
    case ISA_AGPR:
        if (inst->dpp && i == 0)
            apply_dpp(w, in);
        else
            memcpy(temp, w->v + in->reg[i], (size_t)rows * sizeof(wave_row));
        break;
    case ISA_SGPR:
        for (int r = 0; r < rows; r++)
            fill_row(temp[r], w->s[o->reg + r]);
        break;
    default: {
        uint64_t value = o->kind == ISA_CONST ? o->value : exec_special(w, o->reg);
        fill_row(temp[0], (uint32_t)value);
        if (rows > 1)
            fill_row(temp[1], (uint32_t)(value >> 32));
        break;
    }
    }
    if (inst->sdwa && i < 2)
        select_part(temp[0], temp[0], inst->src_sel[i], inst->sext >> i & 1);
    else if (inst->op_sel >> i & 1 && isa_type_is_16bit(o->type))
        for (int lane = 0; lane < WAVE_LANES; lane++)
            temp[0][lane] >>= 16;
    if ((inst->neg | inst->abs) >> i & 1)
        apply_sign(temp, o->type, inst->neg >> i & 1, inst->abs >> i & 1);
}

void exec_prepare(struct wave *w, const struct xinst *in)
{
    for (int i = 0; i < 3; i++) {
        wave_row *temp = w->v + in->s[i];
        switch (in->prep[i]) {
        case XPREP_SGPR:
            fill_row(temp[0], w->s[in->reg[i]]);
            for (int r = 1; r < in->rows[i]; r++)
                fill_row(temp[r], w->s[in->reg[i] + r]);
            break;
        case XPREP_CONST:
            fill_row(temp[0], (uint32_t)in->literal[i]);
            if (in->rows[i] > 1)
                fill_row(temp[1], (uint32_t)(in->literal[i] >> 32));
            break;
        case XPREP_SLOW:
            prepare_slow(w, in, i);
            break;
        default:
            break;
        }
    }
}

/* ---- results ---- */

uint64_t exec_lanes(const struct wave *w, const struct xinst *in)
{
    return in->isa->dpp ? w->exec & w->dpp_lanes : w->exec;
}

/*
 * OMOD moves the exponent.  It has no effect where results may be denormal or MODE.IEEE is on; elsewhere its
 * results have neither denormals nor a negative zero.  MI300 ISA, 6.2.2.
 */
static uint64_t scale_result(uint64_t bits, int mantissa, int exponent_bits, unsigned omod, unsigned round)
{
    const int most = (1 << exponent_bits) - 1, exponent = (int)(bits >> mantissa) & most;
    const uint64_t sign = bits & UINT64_C(1) << (mantissa + exponent_bits),
                   field = (uint64_t)most << mantissa;
    const int to = exponent + (omod == 3 ? -1 : (int)omod);
    if (exponent == most) /* infinity, NaN */
        return bits;
    if (exponent == 0 || to <= 0)
        return 0;
    if (to >= most) {
        const bool infinite = round == ROUND_EVEN || round == (sign ? ROUND_DOWN : ROUND_UP);
        return sign | (infinite ? field : field - 1);
    }
    return (bits & ~field) | (uint64_t)to << mantissa;
}

static unsigned effective_omod(const struct wave *w, const struct isa_inst *inst)
{
    uint32_t denormals = inst->dst.type == ISA_T_F32 ? 0x20 : 0x80;
    return w->mode & (MODE_IEEE | denormals) ? 0 : inst->omod;
}

static void finish_f32(uint32_t *row, unsigned omod, unsigned round, bool clamp, bool dx10)
{
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        if (omod)
            row[lane] = (uint32_t)scale_result(row[lane], 23, 8, omod, round);
        if (clamp)
            row[lane] = f32_bits(modify_clamp_f32(f32_from_bits(row[lane]), dx10));
    }
}

static void finish_f64(wave_row *rows, unsigned omod, unsigned round, bool clamp, bool dx10)
{
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        uint64_t bits = rows[0][lane] | (uint64_t)rows[1][lane] << 32;
        if (omod)
            bits = scale_result(bits, 52, 11, omod, round);
        if (clamp)
            bits = f64_bits(modify_clamp_f64(f64_from_bits(bits), dx10));
        rows[0][lane] = (uint32_t)bits;
        rows[1][lane] = (uint32_t)(bits >> 32);
    }
}

static uint16_t finish_f16(uint16_t half, unsigned omod, unsigned round, bool no_overflow, bool clamp,
                           bool dx10)
{
    if (omod) {
        bool finite = (half & 0x7c00) != 0x7c00;
        half = (uint16_t)scale_result(half, 10, 5, omod, round);
        half = (uint16_t)(half - (no_overflow && finite && (half & 0x7fff) == 0x7c00));
    }
    return clamp ? (uint16_t)modify_clamp_f16(half, dx10) : half;
}

/* Puts results into the part of the destination that SDWA selects; `old` is the destination before. */
static void place_part(uint32_t *result, const uint32_t *old, unsigned select, unsigned unused)
{
    const unsigned shift = part_shift(select), top = shift + part_bits(select);
    const uint32_t mask = (UINT32_MAX >> (32 - part_bits(select))) << shift;
    const uint32_t keep = unused == ISA_UNUSED_PRESERVE ? ~mask : 0;
    const uint32_t sign = unused == ISA_UNUSED_SEXT ? 1u << (top - 1) : 0;
    VALU_EACH_LANE(lane)
    result[lane] = modify_place(result[lane], old[lane], shift, mask, keep, sign);
}

static void modify_result(struct wave *w, const struct xinst *in)
{
    const struct isa_inst *inst = in->isa;
    wave_row *result = w->v + TEMP_DST;
    const uint32_t *old = w->v[in->d];
    bool dx10 = w->mode & MODE_DX10_CLAMP;
    unsigned omod = effective_omod(w, inst);
    if (omod || inst->clamp) {
        unsigned round = w->mode & MODE_ROUND_32, round_wide = (w->mode & MODE_ROUND_16_64) >> 2;
        switch (inst->dst.type) {
        case ISA_T_F32:
            finish_f32(result[0], omod, round, inst->clamp, dx10);
            break;
        case ISA_T_F64:
            finish_f64(result, omod, round_wide, inst->clamp, dx10);
            break;
        case ISA_T_F16:
            for (int lane = 0; lane < WAVE_LANES; lane++)
                result[0][lane] =
                    (result[0][lane] & 0xffff0000) | finish_f16((uint16_t)result[0][lane], omod, round_wide,
                                                                w->mode & MODE_FP16_OVFL, inst->clamp, dx10);
            break;
        default:
            break; /* integer clamps are part of the operation */
        }
    }
    if (inst->sdwa) {
        if (inst->dst_sel != ISA_DWORD)
            place_part(result[0], old, inst->dst_sel, inst->dst_unused);
    } else if (isa_type_is_16bit(inst->dst.type)) {
        if (inst->op_sel & 8)
            for (int lane = 0; lane < WAVE_LANES; lane++)
                result[0][lane] = modify_high(result[0][lane], old[lane]);
        else if (isa_facts[inst->op].effects & ISA_E_KEEPS_HIGH)
            for (int lane = 0; lane < WAVE_LANES; lane++)
                result[0][lane] = modify_low(result[0][lane], old[lane]);
    }
}

void exec_finish(struct wave *w, const struct xinst *in)
{
    if (in->post)
        modify_result(w, in);
    uint64_t lanes = exec_lanes(w, in);
    int rows = in->drows;
    for (int r = 0; r < rows; r++) {
        if (lanes == UINT64_MAX)
            memcpy(w->v[in->d + r], w->v[TEMP_DST + r], sizeof(wave_row));
        else
            row_merge(w->v[in->d + r], w->v[TEMP_DST + r], lanes);
    }
}
