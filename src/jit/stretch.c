/* SPDX-License-Identifier: MIT */
/*
 * Stretches of lane-wise instructions.  All lanes do the same, so a stretch is
 * emitted as a loop over slices of as many lanes as the host's vectors have:
 * within a turn a VGPR is one host vector, loaded when it is first read and
 * stored once at the end, under EXEC.
 *
 * Bodies assume what nearly always holds (no NaNs, mostly) and say which lanes
 * are bad.  From a slice with such a lane on nothing is stored; redo_stretch() executes
 * the stretch for the lanes that are left by the handlers.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/emit.h"
#include "sem/memory/memop.h"
#include "wave/fault.h"

enum { ROW_BYTES = sizeof(wave_row), NO_MASK = -1 };

/* ---- which instructions ---- */

/* Arithmetic whose result is a NaN when a source of its type is one. */
static enum nan_kind nan_kind_of(unsigned op)
{
    switch (op) {
#define FN_1(name, ...)
#define FN_2(name, ...)
#define FN_3(name, ...)
#define MM_2(name, ...)
#define MM_3(name, ...)
#define KIND_f NAN_F32
#define KIND_d NAN_F64
#define AR_2(name, M, T, fn)                                                                                 \
    case ISA_OP_##name:                                                                                      \
        return KIND_##T;
#define AR_3 AR_2
#include "sem/vector/valu_float.def"
#define PK_F32(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return NAN_PAIR;
#include "sem/vector/packed.def"
    default:
        return NAN_NONE;
    }
}

static bool is_row(const struct isa_operand *o)
{
    return o->kind == ISA_VGPR || o->kind == ISA_AGPR;
}

unsigned stretch_row(const struct isa_operand *o)
{
    return o->kind == ISA_AGPR ? WAVE_ACC + o->reg : o->reg;
}

static unsigned high_row(unsigned rows)
{
    unsigned n = 0;
    while (rows >> n)
        n++;
    return n;
}

/* Somebody who redoes a stretch has other lanes there: such an instruction is one by itself, that nobody
 * redoes. */
static bool reads_exec(const struct isa_inst *inst)
{
    bool reads = false;
    for (int i = 0; i < 3; i++)
        reads |= inst->src[i].kind == ISA_SGPR && inst->src[i].reg + inst->src[i].dwords > SREG_EXEC;
    return reads;
}

/* No modifiers that stretch_add() has no body for, and no sources that it has no value of.  OMOD has no
 * effect in the mode that compiled code is for, which keeps denormals. */
static bool is_plain_enough(const struct isa_inst *inst)
{
    if (inst->reserved)
        return false;
    for (int i = 0; i < 3; i++) {
        const unsigned kind = inst->src[i].kind;
        if (kind == ISA_SPECIAL || inst->src[i].dwords > BODY_ROWS_MAX)
            return false;
        if (!is_row(&inst->src[i]) && inst->src[i].dwords > 2)
            return false;
    }
    return inst->src[3].kind == ISA_NONE;
}

static const char *clamp_name(const struct isa_inst *inst)
{
    switch (inst->dst.type) {
    case ISA_T_F16:
        return "slice_modify_clamp_f16";
    case ISA_T_F64:
        return "slice_modify_clamp_f64";
    case ISA_T_PKF16:
        return "slice_modify_clamp_pk_f16";
    default:
        return "slice_modify_clamp_f32";
    }
}

/* CLAMP of floats is done to the result, of pairs only in VOP3P; for integers it is another operation. */
static bool clamps_after(const struct isa_inst *inst)
{
    switch (inst->dst.type) {
    case ISA_T_F16:
    case ISA_T_F32:
    case ISA_T_F64:
        return true;
    case ISA_T_PKF16:
    case ISA_T_PKF32:
        return inst->format == ISA_VOP3P;
    default:
        return false;
    }
}

static const struct body *find_body(const struct emit *e, const struct isa_inst *inst)
{
    char name[64];
    const bool clamps = inst->clamp && !clamps_after(inst);
    snprintf(name, sizeof(name), "slice_%s%s", clamps ? "clamp_" : "", emit_op_name(inst->op));
    return body_find(e->library, name);
}

/* The register pair with the mask that the body reads, and whether it is one. */
static bool find_mask(const struct xinst *x, const struct body *body, int *reg)
{
    *reg = NO_MASK;
    if (!body_reads(body, BODY_M))
        return true;
    if (x->op == ISA_OP_v_div_fmas_f32 || x->op == ISA_OP_v_div_fmas_f64)
        *reg = SREG_VCC;
    else if (x->ss[2] < SREGS)
        *reg = x->ss[2];
    return *reg >= 0 && !(*reg & 1);
}

bool stretch_is_mask(const struct lane_op *op, int i)
{
    return i == 2 && op->mask_reg >= 0 && op->x->op != ISA_OP_v_div_fmas_f32 &&
           op->x->op != ISA_OP_v_div_fmas_f64;
}

static bool writes_mask(const struct body *body)
{
    return body_writes(body, BODY_DM);
}

bool stretch_makes_mask(const struct lane_op *op)
{
    return op->body && writes_mask(op->body);
}

bool stretch_needs(const struct emit *e, unsigned reg, unsigned count, bool writes)
{
    if (e->loop) /* what is lane-wise follows all that is scalar there */
        return false;
    for (unsigned i = reg; i < reg + count && i < SREGS; i++)
        if (e->mask_written[i] || (writes && e->scalar_read[i]))
            return true;
    return false;
}

static bool shapes_fit(const struct isa_inst *inst, const struct body *body)
{
    for (int i = 0; i < 3; i++) {
        const unsigned given = i == 2 && cross_implies_source(inst->op) ? 1 : inst->src[i].dwords;
        if (high_row(body_reads(body, (enum body_parameter)(BODY_A + i))) > given)
            return false;
    }
    const unsigned rows = high_row(body_writes(body, BODY_D));
    if (rows && (!is_row(&inst->dst) || inst->dst.dwords != rows))
        return false;
    return high_row(body_reads(body, BODY_O)) <= (is_row(&inst->dst) ? inst->dst.dwords : 0u);
}

static void take_op(struct emit *e, const struct lane_op *op)
{
    e->op[e->ops++] = *op;
}

bool stretch_takes(const struct emit *e, const struct xinst *x, struct lane_op *op)
{
    const struct isa_inst *inst = x->isa;
    *op = (struct lane_op){.x = x, .mask_reg = NO_MASK};
    op->writes = inst->format > ISA_VOP3PMAI && writes_is_known(x);
    if (inst->format > ISA_VOP3PMAI)
        return op->writes || reads_is_known(x);
    if (inst->format < ISA_VOP1 || !is_plain_enough(inst))
        return false;
    if (inst->format == ISA_VOP3P && !packed_is_known(inst))
        return false;
    const struct body *body = find_body(e, inst);
    if (!body || !shapes_fit(inst, body) || !find_mask(x, body, &op->mask_reg))
        return false;
    op->body = body;
    op->checks = true;
    op->alone = reads_exec(inst) || (inst->dpp && cross_is_wide(e, x));
    if (op->alone && (body_writes(body, BODY_BAD) || inst->clamp))
        return false;
    if (inst->clamp && clamps_after(inst) && !body_find(e->library, clamp_name(inst)))
        return false;
    if (writes_mask(body) && (x->sd & 1 || x->sd >= SREG_M0 || inst->dpp))
        return false;
    return writes_mask(body) || body_writes(body, BODY_D) || inst->op == ISA_OP_v_nop;
}

static unsigned spaces_of(const struct xinst *x)
{
    return x->isa->format == ISA_DS     ? EMIT_LDS
           : x->isa->format == ISA_FLAT ? EMIT_LDS | EMIT_MEMORY
                                        : EMIT_MEMORY;
}

/* Slices go one after another: what one writes, the next must not read, nor write over. */
static bool add_access(struct emit *e, struct lane_op *op)
{
    const struct xinst *x = op->x;
    const unsigned spaces = spaces_of(x);
    if ((memop_has_sbase(x) && stretch_needs(e, x->ss[0], 2, false)) || e->writes & spaces ||
        (op->writes && e->reads & spaces) || e->ops == STRETCH_MAX)
        stretch_flush(e);
    if (memop_has_sbase(x)) {
        op->base = scalars_get64(e, x->ss[0]);
        memset(e->scalar_read + x->ss[0], true, 2);
    }
    *(op->writes ? &e->writes : &e->reads) |= spaces;
    e->accesses |= x->isa->format != ISA_DS;
    take_op(e, op);
    if (op->writes && writes_twice(x)) {
        stretch_flush(e);
        op->second = true;
        e->writes = spaces;
        take_op(e, op);
    }
    return true;
}

bool stretch_add(struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    struct lane_op op;
    if (!stretch_takes(e, x, &op))
        return false;
    if (!op.body)
        return add_access(e, &op);
    if (op.alone)
        stretch_flush(e);
    if (op.alone && inst->dpp && cross_is_wide(e, x))
        op.readers = cross_move_wave(e, x);
    for (int i = 0; i < 3; i++)
        if (inst->src[i].kind == ISA_SGPR && !stretch_is_mask(&op, i) &&
            stretch_needs(e, inst->src[i].reg, inst->src[i].dwords, false))
            stretch_flush(e);
    if (writes_mask(op.body) && stretch_needs(e, x->sd, 2, true) && !e->mask_written[x->sd])
        stretch_flush(e); /* registers that it has read must stay for those who redo it */
    if (e->ops == STRETCH_MAX)
        stretch_flush(e);
    if (op.mask_reg >= 0 && !e->mask_written[op.mask_reg])
        op.mask = scalars_get64(e, (unsigned)op.mask_reg);
    for (int i = 0; i < 3; i++) {
        const struct isa_operand *o = &inst->src[i];
        if (is_row(o) || o->kind == ISA_NONE || stretch_is_mask(&op, i))
            continue;
        for (unsigned d = 0; d < o->dwords; d++)
            op.scalar[i][d] = o->kind == ISA_CONST ? emit_i32(e, (uint32_t)(o->value >> 32 * d))
                                                   : scalars_get32(e, o->reg + d);
        if (o->kind == ISA_SGPR)
            memset(e->scalar_read + o->reg, true, o->dwords);
    }
    if (op.mask_reg >= 0)
        memset(e->scalar_read + op.mask_reg, true, 2);
    if (writes_mask(op.body))
        memset(e->mask_written + x->sd, true, 2);
    take_op(e, &op);
    if (op.alone)
        stretch_flush(e);
    return true;
}

/* ---- one slice ---- */

llvm_value emit_splat(struct emit *e, llvm_value scalar)
{
    const struct llvm *l = e->l;
    llvm_value one = l->BuildInsertElement(e->b, l->GetPoison(e->row), scalar, emit_i32(e, 0), "");
    return l->BuildShuffleVector(e->b, one, l->GetPoison(e->row), l->ConstNull(e->row), "");
}

llvm_value slice_load(struct emit *e, const struct slice *s, unsigned row)
{
    llvm_value value = emit_load(e, e->row, s->rows, (int64_t)row * ROW_BYTES);
    e->l->SetAlignment(value, e->slice * 4);
    return value;
}

static llvm_value slice_row(struct emit *e, struct slice *s, unsigned row)
{
    if (!s->value[row])
        s->value[row] = e->loop ? loop_row(e, row) : slice_load(e, s, row);
    return s->value[row];
}

static llvm_value bits_of(struct emit *e, llvm_value lanes)
{
    return e->l->BuildBitCast(e->b, lanes, e->bits, "");
}

static llvm_value lanes_of(struct emit *e, llvm_value bits)
{
    return e->l->BuildBitCast(e->b, bits, e->l->VectorType(e->i1, e->slice), "");
}

/* A mask of all lanes, as this slice's dwords of 0 or ~0. */
static llvm_value mask_row(struct emit *e, struct slice *s, const struct lane_op *op)
{
    llvm_value bits = op->mask
                          ? e->l->BuildTrunc(e->b, e->l->BuildLShr(e->b, op->mask, s->shift, ""), e->bits, "")
                          : s->mask[op->mask_reg];
    return e->l->BuildSExt(e->b, lanes_of(e, bits), e->row, "");
}

static void add_bad(struct emit *e, struct slice *s, llvm_value bits)
{
    s->bad = s->bad ? e->l->BuildOr(e->b, s->bad, bits, "") : bits;
}

/* What a body has said to be bad, as a row. */
static void add_bad_row(struct emit *e, struct slice *s, llvm_value row)
{
    if (row)
        add_bad(e, s, bits_of(e, e->l->BuildICmp(e->b, LLVM_NE, row, e->l->ConstNull(e->row), "")));
}

void slice_redo(struct emit *e, struct slice *s, llvm_value bad)
{
    const struct llvm *l = e->l;
    if (!s->redone)
        s->redone = emit_block(e);
    if (!bad) {
        l->BuildBr(e->b, s->redone);
        return;
    }
    llvm_block good = emit_block(e);
    llvm_value active = l->BuildAnd(e->b, bad, s->exec, "");
    llvm_value is_bad = l->BuildICmp(e->b, LLVM_NE, active, l->ConstNull(e->bits), "");
    l->SetMetadata(l->BuildCondBr(e->b, is_bad, s->redone, good), e->md_prof, e->unlikely);
    emit_goto(e, good);
}

void slice_modify(struct emit *e, struct slice *s, const char *name, struct body_rows *rows)
{
    const struct body *body = body_find(e->library, name);
    assert(body);
    body_emit(e->library, body, e->module, e->b, rows);
    add_bad_row(e, s, rows->row[BODY_BAD][0]);
}

llvm_value slice_constant(struct emit *e, uint32_t value)
{
    llvm_value lanes[16];
    for (unsigned i = 0; i < e->slice; i++)
        lanes[i] = emit_i32(e, value);
    return e->l->ConstVector(lanes, e->slice);
}

static unsigned part_shift(unsigned select)
{
    return select <= ISA_BYTE_3 ? 8 * select : select == ISA_WORD_1 ? 16 : 0;
}

static unsigned part_bits(unsigned select)
{
    return select <= ISA_BYTE_3 ? 8 : select <= ISA_WORD_1 ? 16 : 32;
}

/* SDWA and op_sel selects, then abs and neg. */
static void modify_source(struct emit *e, struct slice *s, const struct isa_inst *inst, int i,
                          llvm_value row[BODY_ROWS_MAX])
{
    const unsigned type = inst->src[i].type;
    const bool half = isa_type_is_16bit(type);
    unsigned select = ISA_DWORD;
    if (inst->sdwa && i < 2)
        select = inst->src_sel[i];
    if (select != ISA_DWORD) {
        const unsigned bits = part_bits(select);
        struct body_rows r = {0};
        r.row[BODY_A][0] = row[0];
        r.row[BODY_B][0] = slice_constant(e, part_shift(select));
        r.row[BODY_C][0] = slice_constant(e, UINT32_MAX >> (32 - bits));
        r.row[BODY_M][0] = slice_constant(e, inst->sext >> i & 1 ? 1u << (bits - 1) : 0);
        slice_modify(e, s, "slice_modify_part", &r);
        row[0] = r.row[BODY_D][0];
    } else if (!inst->sdwa && inst->op_sel >> i & 1 && half) {
        row[0] = e->l->BuildLShr(e->b, row[0], slice_constant(e, 16), "");
    }
    if (!((inst->neg | inst->abs) >> i & 1))
        return;
    const bool wide = inst->src[i].dwords == 2;
    const uint32_t sign = half ? 0x8000 : 0x80000000;
    struct body_rows r = {0};
    r.row[BODY_A][0] = row[wide];
    r.row[BODY_B][0] = slice_constant(e, inst->abs >> i & 1 ? ~sign : UINT32_MAX);
    r.row[BODY_C][0] = slice_constant(e, inst->neg >> i & 1 ? sign : 0);
    slice_modify(e, s, "slice_modify_sign", &r);
    row[wide] = r.row[BODY_D][0];
}

/* CLAMP, and which part of the destination it is that a result goes to. */
static void modify_result(struct emit *e, struct slice *s, const struct isa_inst *inst,
                          struct body_rows *rows)
{
    struct body_rows r = {0};
    llvm_value *result = rows->row[BODY_D];
    if (inst->clamp && clamps_after(inst)) {
        const unsigned parts = inst->dst.type == ISA_T_PKF32 ? 2 : 1, rows_each = inst->dst.dwords / parts;
        for (unsigned part = 0; part < parts; part++) {
            r = (struct body_rows){0};
            memcpy(r.row[BODY_A], result + part, rows_each * sizeof(*result));
            slice_modify(e, s, clamp_name(inst), &r);
            memcpy(result + part, r.row[BODY_D], rows_each * sizeof(*result));
        }
    }
    if (inst->format == ISA_VOP3P)
        return;
    const bool half = isa_type_is_16bit(inst->dst.type);
    if (inst->sdwa ? inst->dst_sel == ISA_DWORD
                   : !half || !(inst->op_sel & 8 || isa_facts[inst->op].effects & ISA_E_KEEPS_HIGH))
        return;
    llvm_value old = slice_row(e, s, stretch_row(&inst->dst));
    memset(&r, 0, sizeof(r));
    r.row[BODY_A][0] = result[0];
    r.row[BODY_O][0] = old;
    if (inst->sdwa) {
        const unsigned shift = part_shift(inst->dst_sel), top = shift + part_bits(inst->dst_sel);
        const uint32_t mask = (UINT32_MAX >> (32 - part_bits(inst->dst_sel))) << shift;
        r.row[BODY_B][0] = slice_constant(e, shift);
        r.row[BODY_C][0] = slice_constant(e, mask);
        r.row[BODY_M][0] =
            slice_constant(e, inst->dst_unused == ISA_UNUSED_SEXT && top < 32 ? 1u << (top - 1) : 0);
        slice_modify(
            e, s, inst->dst_unused == ISA_UNUSED_PRESERVE ? "slice_modify_place_keep" : "slice_modify_place",
            &r);
    } else {
        slice_modify(e, s, inst->op_sel & 8 ? "slice_modify_high" : "slice_modify_low", &r);
    }
    result[0] = r.row[BODY_D][0];
}

static void emit_write(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low,
                       llvm_value high)
{
    const unsigned from = (unsigned)op->x->s[op->second ? 2 : 1];
    llvm_value rows[BODY_ROWS_MAX];
    for (unsigned d = 0; d < writes_dwords(op->x); d++)
        rows[d] = slice_row(e, s, from + d);
    if (s->bad) /* nobody is to see what is not right */
        slice_redo(e, s, s->bad);
    s->bad = NULL;
    writes_emit(e, s, op, low, high, rows);
}

static void emit_access_op(struct emit *e, struct slice *s, const struct lane_op *op)
{
    const unsigned at = (unsigned)op->x->s[0];
    const bool wide = op->x->isa->format != ISA_DS && !op->base;
    llvm_value rows[BODY_ROWS_MAX], low = slice_row(e, s, at), high = wide ? slice_row(e, s, at + 1) : NULL;
    if (op->writes) {
        emit_write(e, s, op, low, high);
        return;
    }
    reads_emit(e, s, op, low, high, rows);
    for (unsigned d = 0; d < op->x->isa->dst.dwords; d++) {
        s->value[op->x->d + (int)d] = rows[d];
        s->dirty[op->x->d + (int)d] = true;
    }
}

static void emit_op(struct emit *e, struct slice *s, const struct lane_op *op)
{
    const struct isa_inst *inst = op->x->isa;
    if (!op->body) {
        emit_access_op(e, s, op);
        return;
    }
    struct body_rows rows = {0};
    for (int i = 0; i < 3; i++) {
        const struct isa_operand *o = &inst->src[i];
        llvm_value *row = rows.row[BODY_A + i];
        if (o->kind == ISA_NONE || stretch_is_mask(op, i))
            continue;
        for (unsigned d = 0; d < o->dwords; d++)
            row[d] = is_row(o) ? slice_row(e, s, stretch_row(o) + d) : emit_splat(e, op->scalar[i][d]);
        if (inst->dpp && i == 0)
            cross_move_source(e, s, op, row);
        if (inst->format == ISA_VOP3P)
            packed_modify_source(e, s, inst, i, row);
        else
            modify_source(e, s, inst, i, row);
    }
    if (cross_implies_source(inst->op))
        rows.row[BODY_C][0] = cross_implied_source(e, s, inst);
    if (op->mask_reg >= 0)
        rows.row[BODY_M][0] = mask_row(e, s, op);
    if (is_row(&inst->dst))
        for (unsigned d = 0; d < inst->dst.dwords; d++)
            if (body_reads(op->body, BODY_O) >> d & 1)
                rows.row[BODY_O][d] = slice_row(e, s, stretch_row(&inst->dst) + d);
    llvm_value simple = cross_count_lanes(e, s, inst, rows.row[BODY_B][0]);
    if (simple)
        rows.row[BODY_D][0] = simple;
    else
        body_emit(e->library, op->body, e->module, e->b, &rows);
    llvm_value written = inst->dpp ? cross_written(e, s, op) : NULL, bad = rows.row[BODY_BAD][0];
    if (bad && written)
        bad = e->l->BuildSelect(e->b, written, bad, e->l->ConstNull(e->row), "");
    if (op->checks)
        add_bad_row(e, s, bad);
    if (is_row(&inst->dst) && body_writes(op->body, BODY_D)) {
        modify_result(e, s, inst, &rows);
        for (unsigned d = 0; d < inst->dst.dwords; d++) {
            const unsigned row = stretch_row(&inst->dst) + d;
            llvm_value value = rows.row[BODY_D][d];
            if (written)
                value = e->l->BuildSelect(e->b, written, value, slice_row(e, s, row), "");
            s->value[row] = value;
            s->dirty[row] = true;
        }
    }
    if (writes_mask(op->body)) {
        llvm_value set = e->l->BuildICmp(e->b, LLVM_SLT, rows.row[BODY_DM][0], e->l->ConstNull(e->row), "");
        s->mask[op->x->sd] = e->l->BuildAnd(e->b, bits_of(e, set), s->exec, "");
    }
}

/* Whether it is arithmetic that makes a NaN of a NaN in this row of f32, or pair of f64. */
static bool hands_on(const struct lane_op *op, unsigned row, enum nan_kind kind)
{
    const struct isa_inst *inst = op->x->isa;
    if (inst->sdwa || inst->dpp || inst->clamp || !op->nan_kind ||
        (op->nan_kind == NAN_F64) != (kind == NAN_F64))
        return false;
    for (int i = 0; i < 3; i++) {
        const struct isa_operand *o = &inst->src[i];
        if (!is_row(o))
            continue;
        const unsigned low = stretch_row(o) + (inst->op_sel >> i & 1),
                       high = stretch_row(o) + (inst->op_sel_hi >> i & 1);
        if (op->nan_kind == NAN_PAIR ? low == row || high == row : stretch_row(o) == row)
            return true;
    }
    return false;
}

static bool writes_row(const struct lane_op *op, unsigned row, unsigned count)
{
    const struct isa_operand *d = &op->x->isa->dst;
    return is_row(d) && stretch_row(d) < row + count && stretch_row(d) + d->dwords > row;
}

/*
 * A NaN that only goes into arithmetic of the stretch makes a NaN there: it is enough to look at that.  In a
 * loop it may be that of the next iteration; then the row is looked at when the loop is left.  Not so where
 * lanes read memory, as a NaN may come to be an address until then.
 */
static bool row_is_seen_later(struct emit *e, unsigned at, unsigned row, enum nan_kind kind)
{
    const unsigned rows = kind == NAN_F64 ? 2 : 1;
    for (unsigned j = at + 1; j < e->ops; j++) {
        if (e->op[j].writes) /* what it stores must be right */
            return false;
        if (hands_on(&e->op[j], row, kind))
            return true;
        if (writes_row(&e->op[j], row, rows))
            return false;
    }
    if (!e->loop || e->loop->reads_memory)
        return false;
    for (unsigned j = 0; j <= at; j++) {
        if (hands_on(&e->op[j], row, kind)) {
            (kind == NAN_F64 ? e->loop->pair_checked_after : e->loop->checked_after)[row] = true;
            return true;
        }
        if (writes_row(&e->op[j], row, rows))
            return false;
    }
    return false;
}

static bool is_seen_later(struct emit *e, unsigned at)
{
    const struct lane_op *op = &e->op[at];
    const struct isa_inst *inst = op->x->isa;
    if (!op->nan_kind || inst->clamp || inst->sdwa)
        return false;
    const unsigned row = stretch_row(&inst->dst);
    if (op->nan_kind != NAN_PAIR)
        return row_is_seen_later(e, at, row, op->nan_kind);
    return row_is_seen_later(e, at, row, NAN_F32) && row_is_seen_later(e, at, row + 1, NAN_F32);
}

void stretch_emit(struct emit *e, struct slice *s)
{
    for (unsigned i = 0; i < e->ops; i++)
        e->op[i].nan_kind = nan_kind_of(e->op[i].x->isa->op); /* of a read none */
    for (unsigned i = 0; i < e->ops; i++)
        e->op[i].checks = !is_seen_later(e, i);
    for (unsigned i = 0; i < e->ops; i++)
        emit_op(e, s, &e->op[i]);
}

static void store_rows(struct emit *e, const struct slice *s, bool masked)
{
    /* What comes next is what is behind the last of these, or more of the instruction that is being emitted.
     */
    const size_t behind = (size_t)(e->op[e->ops - 1].x - e->block->x) + 1;
    for (unsigned row = 0; row < WAVE_ROWS; row++) {
        if (!s->dirty[row] || (!live_before(e->live, behind, row) && !live_before(e->live, e->at, row)))
            continue;
        llvm_value place = emit_at(e, s->rows, (int64_t)row * ROW_BYTES), value = s->value[row];
        if (masked) {
            llvm_value old = e->l->BuildLoad2(e->b, e->row, place, "");
            e->l->SetAlignment(old, e->slice * 4);
            value = e->l->BuildSelect(e->b, lanes_of(e, s->exec), value, old, "");
        }
        e->l->SetAlignment(e->l->BuildStore(e->b, value, place), e->slice * 4);
    }
}

void stretch_store(struct emit *e, const struct slice *s)
{
    const struct llvm *l = e->l;
    llvm_block whole = emit_block(e), part = emit_block(e), done = emit_block(e);
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, s->exec, l->ConstAllOnes(e->bits), ""), whole, part);
    emit_goto(e, whole);
    store_rows(e, s, false);
    l->BuildBr(e->b, done);
    emit_goto(e, part);
    store_rows(e, s, true);
    l->BuildBr(e->b, done);
    emit_goto(e, done);
}

/* ---- the loop ---- */

static unsigned masks_of(const struct emit *e, uint8_t regs[SREGS / 2])
{
    unsigned count = 0;
    for (unsigned reg = 0; reg < SREGS; reg += 2)
        if (e->mask_written[reg])
            regs[count++] = (uint8_t)reg;
    return count;
}

/* Has the only instruction of a stretch, a store, executed for some lanes. */
static void emit_redo_write(struct emit *e, const struct xinst *x, llvm_value lanes)
{
    const int64_t place = offsetof(struct wave, s) + SREG_EXEC * sizeof(uint32_t);
    if (e->accesses)
        emit_store(e, e->l->ConstNull(e->ptr), e->w, offsetof(struct wave, stretch.first));
    emit_store(e, lanes, e->w, place);
    emit_call_uncounted(e, x);
    emit_store(e, scalars_get64(e, SREG_EXEC), e->w, place);
}

/* Has the stretch executed by handlers for some lanes, and takes their bits of each mask. */
static void emit_redo(struct emit *e, llvm_value lanes, const uint8_t *regs, unsigned masks,
                      const llvm_value *before, llvm_value *after)
{
    const struct llvm *l = e->l;
    if (e->ops == 1 && e->op[0].writes) { /* it changes no registers */
        emit_redo_write(e, e->op[0].x, lanes);
        return;
    }
    if (!e->saved) {
        llvm_block here = l->GetInsertBlock(e->b);
        l->PositionBuilderAtEnd(e->b, e->entry);
        e->saved = l->BuildAlloca(e->b, l->ArrayType2(e->i32, SREGS), "");
        l->PositionBuilderAtEnd(e->b, here);
    }
    const struct xinst *first = e->op[0].x, *last = e->op[e->ops - 1].x;
    llvm_value arguments[] = {e->w, emit_instruction_at(e, first), emit_instruction_at(e, last), lanes,
                              e->saved};
    l->BuildCall2(e->b, e->redo_type, e->redo, arguments, 5, "");
    for (unsigned i = 0; i < masks; i++) {
        llvm_value bits = emit_load(e, e->i64, e->saved, regs[i] * 4);
        after[i] = l->BuildOr(e->b, before[i], l->BuildAnd(e->b, bits, lanes, ""), "");
    }
}

void stretch_begin_accesses(struct emit *e, const struct xinst *first, const struct xinst *last)
{
    emit_store(e, emit_instruction_at(e, first), e->w, offsetof(struct wave, stretch.first));
    emit_store(e, emit_instruction_at(e, last), e->w, offsetof(struct wave, stretch.last));
}

void stretch_end_accesses(struct emit *e)
{
    emit_store(e, e->l->ConstNull(e->ptr), e->w, offsetof(struct wave, stretch.first));
    emit_access(e, NULL);
}

void stretch_clear(struct emit *e)
{
    e->ops = 0;
    e->accesses = false;
    e->reads = e->writes = 0;
    memset(e->mask_written, 0, sizeof(e->mask_written));
    memset(e->scalar_read, 0, sizeof(e->scalar_read));
}

void stretch_flush(struct emit *e)
{
    if (!e->ops)
        return;
    const struct llvm *l = e->l;
    scalars_store(e); /* handlers that redo it read them */
    llvm_value exec = scalars_get64(e, SREG_EXEC);
    uint8_t regs[SREGS / 2];
    const unsigned masks = masks_of(e, regs);
    llvm_value mask[SREGS / 2], hot[SREGS / 2], cold[SREGS / 2];

    if (e->accesses)
        stretch_begin_accesses(e, e->op[0].x, e->op[e->ops - 1].x);
    llvm_block before = l->GetInsertBlock(e->b), loop = emit_block(e), body = emit_block(e),
               next = emit_block(e), done = emit_block(e);
    l->BuildBr(e->b, loop);
    emit_goto(e, loop);
    struct slice *s = &e->now;
    memset(s, 0, sizeof(*s));
    s->shift = l->BuildPhi(e->b, e->i64, "");
    for (unsigned i = 0; i < masks; i++)
        mask[i] = l->BuildPhi(e->b, e->i64, "");
    s->exec = l->BuildTrunc(e->b, l->BuildLShr(e->b, exec, s->shift, ""), e->bits, "");
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, s->exec, l->ConstNull(e->bits), ""), next, body);

    emit_goto(e, body);
    /* The lanes that are not done. */
    llvm_value rest = l->BuildAnd(e->b, exec, l->BuildShl(e->b, emit_i64(e, UINT64_MAX), s->shift, ""), "");
    if (e->accesses)
        emit_store(e, rest, e->w, offsetof(struct wave, stretch.lanes));
    llvm_value bytes = l->BuildShl(e->b, s->shift, emit_i64(e, 2), "");
    s->rows = l->BuildGEP2(e->b, e->i8, e->v, &bytes, 1, "");
    stretch_emit(e, s);
    for (unsigned i = 0; i < masks; i++)
        hot[i] =
            l->BuildOr(e->b, mask[i],
                       l->BuildShl(e->b, l->BuildZExt(e->b, s->mask[regs[i]], e->i64, ""), s->shift, ""), "");
    if (s->bad)
        slice_redo(e, s, s->bad);
    llvm_block redone = s->redone, good = l->GetInsertBlock(e->b);
    if (redone) {
        emit_goto(e, redone);
        /* All lanes that are left, as handlers take no longer for many than for few, and of several faults
         * the first instruction's is to be found. */
        emit_redo(e, rest, regs, masks, mask, cold);
        redone = l->GetInsertBlock(e->b);
        l->BuildBr(e->b, done);
        emit_goto(e, good);
    }
    stretch_store(e, s);
    llvm_block stored = l->GetInsertBlock(e->b);
    l->BuildBr(e->b, next);

    emit_goto(e, next);
    llvm_value after[SREGS / 2];
    for (unsigned i = 0; i < masks; i++) {
        after[i] = l->BuildPhi(e->b, e->i64, "");
        llvm_value values[] = {mask[i], hot[i]};
        llvm_block from[] = {loop, stored};
        l->AddIncoming(after[i], values, from, 2);
    }
    llvm_value shift = l->BuildAdd(e->b, s->shift, emit_i64(e, e->slice), "");
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, shift, emit_i64(e, WAVE_LANES), ""), done, loop);
    llvm_block from[] = {before, next};
    llvm_value shifts[] = {emit_i64(e, 0), shift};
    l->AddIncoming(s->shift, shifts, from, 2);
    for (unsigned i = 0; i < masks; i++) {
        llvm_value values[] = {emit_i64(e, 0), after[i]};
        l->AddIncoming(mask[i], values, from, 2);
    }
    emit_goto(e, done);
    for (unsigned i = 0; i < masks; i++) {
        llvm_value all = after[i];
        if (redone) {
            all = l->BuildPhi(e->b, e->i64, "");
            llvm_value values[] = {after[i], cold[i]};
            llvm_block ends[] = {next, redone};
            l->AddIncoming(all, values, ends, 2);
        }
        after[i] = all;
    }
    for (unsigned i = 0; i < masks; i++)
        scalars_set64(e, regs[i], after[i]);
    if (e->accesses)
        stretch_end_accesses(e);
    stretch_clear(e);
}
