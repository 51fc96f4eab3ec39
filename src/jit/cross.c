/* SPDX-License-Identifier: MIT */
/*
 * What lanes have of each other and of their numbers: DPP, lane numbers, and v_writelane_b32.
 *
 * DPP whose lanes read within a slice is a shuffle with constant indices.  What reads from other slices is
 * moved for the whole wave first, to the row that handlers have it in as well; see crossbar.c.
 */
#include "jit/emit.h"

/* ---- DPP ---- */

bool cross_is_wide(const struct emit *e, const struct xinst *x)
{
    const struct xdpp *dpp = x->dpp;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        const unsigned from = dpp->from[lane];
        if (from / e->slice != lane / e->slice || from % e->slice != dpp->from[lane % e->slice])
            return true;
    }
    return false;
}

static llvm_value shuffle_wave(struct emit *e, llvm_value value, const struct xdpp *dpp)
{
    llvm_value index[WAVE_LANES];
    for (unsigned i = 0; i < WAVE_LANES; i++)
        index[i] = emit_i32(e, dpp->from[i]);
    return e->l->BuildShuffleVector(e->b, value, e->l->GetPoison(e->l->TypeOf(value)),
                                    e->l->ConstVector(index, WAVE_LANES), "");
}

llvm_value cross_move_wave(struct emit *e, const struct xinst *x)
{
    const struct llvm *l = e->l;
    llvm_type wave = l->VectorType(e->i32, WAVE_LANES);
    for (int d = 0; d < x->isa->src[0].dwords; d++) {
        llvm_value row = emit_load(e, wave, e->v, (x->reg[0] + d) * (int64_t)sizeof(wave_row));
        l->SetAlignment(row, 64);
        llvm_value to = emit_at(e, e->v, (x->s[0] + d) * (int64_t)sizeof(wave_row));
        l->SetAlignment(l->BuildStore(e->b, shuffle_wave(e, row, x->dpp), to), 64);
    }
    llvm_value on = l->BuildBitCast(e->b, scalars_get64(e, SREG_EXEC), l->VectorType(e->i1, WAVE_LANES), "");
    on = l->BuildBitCast(e->b, shuffle_wave(e, on, x->dpp), e->i64, "");
    return l->BuildAnd(e->b, on, emit_i64(e, x->dpp->exists), "");
}

static llvm_value moved_row(struct emit *e, const struct slice *s, int row)
{
    llvm_value value = emit_load(e, e->row, s->rows, row * (int64_t)sizeof(wave_row));
    e->l->SetAlignment(value, e->slice * 4);
    return value;
}

static llvm_value shuffle(struct emit *e, llvm_value value, const struct xdpp *dpp)
{
    llvm_value index[16];
    for (unsigned i = 0; i < e->slice; i++)
        index[i] = emit_i32(e, dpp->from[i]);
    return e->l->BuildShuffleVector(e->b, value, e->l->GetPoison(e->l->TypeOf(value)),
                                    e->l->ConstVector(index, e->slice), "");
}

/* The slice's part of bits for all lanes, as a vector of i1. */
static llvm_value part_of(struct emit *e, const struct slice *s, llvm_value bits)
{
    return lanes_vector(e, lanes_take(e, bits, s->shift));
}

/* Lanes that have somebody active to read from. */
static llvm_value readers(struct emit *e, const struct slice *s, const struct lane_op *op)
{
    const struct llvm *l = e->l;
    const struct xdpp *dpp = op->x->dpp;
    if (op->readers)
        return part_of(e, s, op->readers);
    llvm_value on = shuffle(e, lanes_vector(e, s->exec), dpp);
    return dpp->exists == UINT64_MAX ? on
                                     : l->BuildAnd(e->b, on, part_of(e, s, emit_i64(e, dpp->exists)), "");
}

void cross_move_source(struct emit *e, const struct slice *s, const struct lane_op *op, llvm_value *row)
{
    const struct xinst *x = op->x;
    llvm_value on = x->isa->bound_ctrl ? readers(e, s, op) : NULL;
    for (int d = 0; d < x->isa->src[0].dwords; d++) {
        row[d] = op->readers ? moved_row(e, s, x->s[0] + d) : shuffle(e, row[d], x->dpp);
        if (on)
            row[d] = e->l->BuildSelect(e->b, on, row[d], e->l->ConstNull(e->row), "");
    }
}

llvm_value cross_written(struct emit *e, const struct slice *s, const struct lane_op *op)
{
    const uint64_t writes = op->x->dpp->writes;
    llvm_value written = writes == UINT64_MAX ? NULL : part_of(e, s, emit_i64(e, writes));
    if (op->x->isa->bound_ctrl)
        return written;
    llvm_value on = readers(e, s, op);
    return written ? e->l->BuildAnd(e->b, on, written, "") : on;
}

/* ---- lane numbers ---- */

static llvm_value lane_numbers(struct emit *e, const struct slice *s)
{
    llvm_value lanes[16];
    for (unsigned i = 0; i < e->slice; i++)
        lanes[i] = emit_i32(e, i);
    return e->l->BuildAdd(e->b, emit_splat(e, e->l->BuildTrunc(e->b, s->shift, e->i32, "")),
                          e->l->ConstVector(lanes, e->slice), "");
}

static bool counts_lanes(unsigned op)
{
    return op == ISA_OP_v_mbcnt_lo_u32_b32 || op == ISA_OP_v_mbcnt_hi_u32_b32;
}

bool cross_implies_source(unsigned op)
{
    switch (op) {
    case ISA_OP_v_mbcnt_lo_u32_b32:
    case ISA_OP_v_mbcnt_hi_u32_b32:
    case ISA_OP_v_cvt_pk_fp8_f32:
    case ISA_OP_v_cvt_pk_bf8_f32:
    case ISA_OP_v_cvt_sr_fp8_f32:
    case ISA_OP_v_cvt_sr_bf8_f32:
        return true;
    default:
        return false;
    }
}

llvm_value cross_implied_source(struct emit *e, struct slice *s, const struct isa_inst *inst)
{
    if (counts_lanes(inst->op))
        return lane_numbers(e, s);
    const bool pair = inst->op == ISA_OP_v_cvt_pk_fp8_f32 || inst->op == ISA_OP_v_cvt_pk_bf8_f32;
    return slice_constant(e, pair ? (inst->op_sel & 8 ? 16 : 0) : 8u * (inst->op_sel >> 2 & 3));
}

/* Of a mask of ones, which is how a lane asks for its number, nothing needs to be counted. */
llvm_value cross_count_lanes(struct emit *e, struct slice *s, const struct isa_inst *inst, llvm_value add)
{
    const struct llvm *l = e->l;
    if (!counts_lanes(inst->op) || inst->src[0].kind != ISA_CONST ||
        (uint32_t)inst->src[0].value != UINT32_MAX || (inst->neg | inst->abs) & 1)
        return NULL;
    llvm_value lane = lane_numbers(e, s), half = slice_constant(e, 32);
    llvm_value is_low = l->BuildICmp(e->b, LLVM_ULT, lane, half, "");
    llvm_value below =
        inst->op == ISA_OP_v_mbcnt_lo_u32_b32
            ? l->BuildSelect(e->b, is_low, lane, half, "")
            : l->BuildSelect(e->b, is_low, l->ConstNull(e->row), l->BuildSub(e->b, lane, half, ""), "");
    return l->BuildAdd(e->b, below, add, "");
}

/* ---- one lane ---- */

static bool is_scalar(const struct isa_operand *o)
{
    return o->kind == ISA_CONST || o->kind == ISA_SGPR;
}

static llvm_value scalar(struct emit *e, const struct isa_operand *o)
{
    return o->kind == ISA_CONST ? emit_i32(e, (uint32_t)o->value) : scalars_get32(e, o->reg);
}

bool cross_write_lane(struct emit *e, const struct xinst *x)
{
    const struct llvm *l = e->l;
    const struct isa_operand *from = &x->isa->src[0], *which = &x->isa->src[1];
    if (x->op != ISA_OP_v_writelane_b32 || !is_scalar(from) || !is_scalar(which))
        return false;
    stretch_flush(e);
    llvm_value lane = l->BuildAnd(e->b, scalar(e, which), emit_i32(e, WAVE_LANES - 1), "");
    lane = l->BuildZExt(e->b, lane, e->i64, "");
    llvm_value row = emit_at(e, e->v, (int64_t)x->d * (int64_t)sizeof(wave_row));
    l->BuildStore(e->b, scalar(e, from), l->BuildGEP2(e->b, e->i32, row, &lane, 1, ""));
    return true;
}
