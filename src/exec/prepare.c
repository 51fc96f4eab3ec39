/* SPDX-License-Identifier: MIT */
/*
 * Operands that are not plain VGPRs, and results that are not plain writes.
 * Compiled once per instruction set level of the host, like the handlers that
 * use it.
 *
 * Source: MI300 ISA, 6 "Vector ALU operations": input and output modifiers,
 * SDWA, DPP.
 */
#include <math.h>
#include <string.h>

#include "base/float.h"
#include "exec/handlers.h"

static void fill_row(uint32_t *restrict row, uint32_t value)
{
    for (int lane = 0; lane < WAVE_LANES; lane++)
        row[lane] = value;
}

/* ---- DPP ---- */

/* The lane that `lane` reads, or -1 when there is none. */
static int dpp_source(unsigned control, int lane)
{
    int row = lane & ~15, in_row = lane & 15, amount = (int)(control & 15);
    if (control <= 0xff) /* quad_perm */
        return (lane & ~3) | (int)(control >> 2 * (lane & 3) & 3);
    switch (control & 0x1f0) {
    case 0x100: /* row_shl: from a higher lane */
        return in_row + amount < 16 ? lane + amount : -1;
    case 0x110: /* row_shr */
        return in_row - amount >= 0 ? lane - amount : -1;
    case 0x120: /* row_ror */
        return row | ((in_row - amount) & 15);
    case 0x150: /* row_newbcast */
        return row | amount;
    default:
        break;
    }
    switch (control) {
    case 0x130: /* wave_shl:1 */
        return lane < 63 ? lane + 1 : -1;
    case 0x134: /* wave_rol:1 */
        return (lane + 1) & 63;
    case 0x138: /* wave_shr:1 */
        return lane > 0 ? lane - 1 : -1;
    case 0x13c: /* wave_ror:1 */
        return (lane - 1) & 63;
    case 0x140: /* row_mirror */
        return row | (15 - in_row);
    case 0x141: /* row_half_mirror */
        return (lane & ~7) | (7 - (lane & 7));
    case 0x142: /* row_bcast:15: the last lane of a row to the next row */
        return lane >= 16 ? row - 1 : -1;
    case 0x143: /* row_bcast:31: lane 31 to rows 2 and 3 */
        return lane >= 32 ? 31 : -1;
    default:
        return -1;
    }
}

/*
 * Permutes rows of source 0 in place (in the temp rows) and notes in
 * w->dpp_lanes which lanes may be written: a lane without a source (beyond the
 * row, or switched off by EXEC) reads 0 with bound_ctrl and is not written
 * without it; row_mask and bank_mask switch off more.
 */
static void apply_dpp(struct wave *w, const struct xinst *in)
{
    const struct isa_inst *inst = in->isa;
    wave_row *temp = w->v + in->s[0];
    uint64_t enabled = 0;
    int from[WAVE_LANES];
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        from[lane] = dpp_source(inst->dpp_ctrl, lane);
        if (from[lane] >= 0 && !(w->exec >> from[lane] & 1))
            from[lane] = -1;
        bool masked = !(inst->row_mask >> lane / 16 & 1) || !(inst->bank_mask >> (lane & 15) / 4 & 1);
        if (!masked && (from[lane] >= 0 || inst->bound_ctrl))
            enabled |= UINT64_C(1) << lane;
    }
    for (int r = 0; r < in->rows[0]; r++) {
        wave_row old;
        memcpy(old, temp[r], sizeof(old));
        for (int lane = 0; lane < WAVE_LANES; lane++)
            temp[r][lane] = from[lane] >= 0 ? old[from[lane]] : 0;
    }
    w->dpp_lanes = enabled;
}

/* ---- SDWA ---- */

static uint32_t select_part(uint32_t value, unsigned select, bool sign_extend)
{
    switch (select) {
    case ISA_BYTE_0:
    case ISA_BYTE_1:
    case ISA_BYTE_2:
    case ISA_BYTE_3: {
        uint32_t byte = value >> 8 * select & 0xff;
        return sign_extend ? (uint32_t)(int32_t)(int8_t)byte : byte;
    }
    case ISA_WORD_0:
    case ISA_WORD_1: {
        uint32_t word = value >> (select == ISA_WORD_1 ? 16 : 0) & 0xffff;
        return sign_extend ? (uint32_t)(int32_t)(int16_t)word : word;
    }
    default:
        return value;
    }
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
        row[lane] = (row[lane] & clear) ^ flip;
}

static bool is_16bit(unsigned type)
{
    return type == ISA_T_F16 || type == ISA_T_BF16 || type == ISA_T_I16 || type == ISA_T_U16 ||
           type == ISA_T_B16;
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
    if (inst->dpp && i == 0)
        apply_dpp(w, in);
    if (inst->sdwa && i < 2)
        for (int lane = 0; lane < WAVE_LANES; lane++)
            temp[0][lane] = select_part(temp[0][lane], inst->src_sel[i], inst->sext >> i & 1);
    else if (inst->op_sel >> i & 1 && is_16bit(o->type))
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

/* Clamps to [0, 1]; a NaN becomes 0 with DX10_CLAMP and stays without it. */
static float clamp_f32(float value, bool dx10)
{
    if (isnan(value))
        return dx10 ? 0.0f : value;
    return value <= 0.0f ? 0.0f : value > 1.0f ? 1.0f : value;
}

static double clamp_f64(double value, bool dx10)
{
    if (isnan(value))
        return dx10 ? 0.0 : value;
    return value <= 0.0 ? 0.0 : value > 1.0 ? 1.0 : value;
}

static void finish_f32(uint32_t *row, unsigned omod, unsigned round, bool clamp, bool dx10)
{
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        if (omod)
            row[lane] = (uint32_t)scale_result(row[lane], 23, 8, omod, round);
        if (clamp)
            row[lane] = f32_bits(clamp_f32(f32_from_bits(row[lane]), dx10));
    }
}

static void finish_f64(wave_row *rows, unsigned omod, unsigned round, bool clamp, bool dx10)
{
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        uint64_t bits = rows[0][lane] | (uint64_t)rows[1][lane] << 32;
        if (omod)
            bits = scale_result(bits, 52, 11, omod, round);
        if (clamp)
            bits = f64_bits(clamp_f64(f64_from_bits(bits), dx10));
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
    if (!clamp)
        return half;
    if ((half & 0x7fff) > 0x7c00)
        return dx10 ? 0 : half;
    return half & 0x8000 ? 0 : half > 0x3c00 ? 0x3c00 : half;
}

/* Puts results into the part of the destination that SDWA selects; `old` is the destination before. */
static uint32_t place_part(uint32_t value, uint32_t old, unsigned select, unsigned unused)
{
    unsigned shift = select <= ISA_BYTE_3 ? 8 * select : select == ISA_WORD_1 ? 16 : 0;
    unsigned bits = select <= ISA_BYTE_3 ? 8 : 16;
    uint32_t mask = ((1u << bits) - 1) << shift;
    uint32_t placed = value << shift & mask;
    if (unused == ISA_UNUSED_PRESERVE)
        return (old & ~mask) | placed;
    if (unused == ISA_UNUSED_SEXT && placed >> (shift + bits - 1) & 1)
        placed |= shift + bits < 32 ? UINT32_MAX << (shift + bits) : 0;
    return placed;
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
            for (int lane = 0; lane < WAVE_LANES; lane++)
                result[0][lane] = place_part(result[0][lane], old[lane], inst->dst_sel, inst->dst_unused);
    } else if (is_16bit(inst->dst.type)) {
        if (inst->op_sel & 8)
            for (int lane = 0; lane < WAVE_LANES; lane++)
                result[0][lane] = (old[lane] & 0xffff) | result[0][lane] << 16;
        else if (in->keep_high)
            for (int lane = 0; lane < WAVE_LANES; lane++)
                result[0][lane] = (old[lane] & 0xffff0000) | (result[0][lane] & 0xffff);
    }
}

void exec_finish(struct wave *w, const struct xinst *in)
{
    if (in->post)
        modify_result(w, in);
    uint64_t lanes = exec_lanes(w, in);
    int rows = in->drows;
    for (int r = 0; r < rows; r++) {
        uint32_t *restrict to = w->v[in->d + r];
        const uint32_t *restrict from = w->v[TEMP_DST + r];
        if (lanes == UINT64_MAX) {
            memcpy(to, from, sizeof(wave_row));
        } else {
            for (int lane = 0; lane < WAVE_LANES; lane++)
                to[lane] = lanes >> lane & 1 ? from[lane] : to[lane];
        }
    }
}
