/* SPDX-License-Identifier: MIT */
/* One slice of a stretch's lanes: registers as values, modifiers, and what instructions make; see stretch.c.
 */
#include <assert.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/emit.h"
#include "jit/places.h"
#include "sem/memory/memop.h"

enum { ROW_BYTES = sizeof(wave_row) };

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
        s->value[row] = e->loop     ? loop_row(e, s, row)
                        : e->region ? region_row(e, s, row)
                                    : slice_load(e, s, row);
    return s->value[row];
}

/* A mask of all lanes, as this slice's dwords of 0 or ~0. */
static llvm_value mask_row(struct emit *e, struct slice *s, const struct lane_op *op)
{
    if (op->mask)
        return lanes_row(e, lanes_take(e, op->mask, s->shift));
    llvm_value loose = s->loose[op->mask_reg];
    return lanes_row(e, loose ? loose : s->mask[op->mask_reg]);
}

static void add_bad(struct emit *e, struct slice *s, llvm_value vector)
{
    llvm_value lanes = lanes_of(e, vector);
    s->bad = s->bad ? e->l->BuildOr(e->b, s->bad, lanes, "") : lanes;
}

/* What a body has said to be bad, as a row. */
static void add_bad_row(struct emit *e, struct slice *s, llvm_value row)
{
    if (row)
        add_bad(e, s, e->l->BuildICmp(e->b, LLVM_NE, row, e->l->ConstNull(e->row), ""));
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
    llvm_value is_bad = lanes_some(e, active);
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

const char *slice_clamp_name(const struct isa_inst *inst)
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

bool slice_clamps_after(const struct isa_inst *inst)
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

/* The sign of values of 64 bits, which is in the higher half, as a sign of what they are halves of. */
static void modify_wide_sign(struct emit *e, llvm_value low, llvm_value before, llvm_value after,
                             bool absolute, bool negate)
{
    const struct llvm *l = e->l;
    struct pairs *pairs = body_pairs(e->library);
    llvm_value wide = pairs_find(pairs, low, before);
    if (!wide)
        return;
    llvm_type type = l->VectorType(e->i64, e->slice);
    wide = l->BuildBitCast(e->b, wide, type, "");
    if (absolute)
        wide = l->BuildAnd(e->b, wide, places_splat64(e, emit_i64(e, INT64_MAX)), "");
    if (negate)
        wide = l->BuildXor(e->b, wide, places_splat64(e, emit_i64(e, UINT64_C(1) << 63)), "");
    pairs_note(pairs, low, wide, 0);
    pairs_note(pairs, after, wide, 1);
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
    if (wide)
        modify_wide_sign(e, row[0], row[1], r.row[BODY_D][0], inst->abs >> i & 1, inst->neg >> i & 1);
    row[wide] = r.row[BODY_D][0];
}

/* CLAMP, and which part of the destination it is that a result goes to. */
static void modify_result(struct emit *e, struct slice *s, const struct isa_inst *inst,
                          struct body_rows *rows)
{
    struct body_rows r = {0};
    llvm_value *result = rows->row[BODY_D];
    if (inst->clamp && slice_clamps_after(inst)) {
        const unsigned parts = inst->dst.type == ISA_T_PKF32 ? 2 : 1, rows_each = inst->dst.dwords / parts;
        for (unsigned part = 0; part < parts; part++) {
            r = (struct body_rows){0};
            memcpy(r.row[BODY_A], result + part, rows_each * sizeof(*result));
            slice_modify(e, s, slice_clamp_name(inst), &r);
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

static void set_rows(struct slice *s, const struct xinst *x, unsigned count, const llvm_value *rows)
{
    for (unsigned d = 0; d < count; d++) {
        s->value[x->d + (int)d] = rows[d];
        s->dirty[x->d + (int)d] = true;
        s->held[x->d + (int)d] = false;
    }
}

static void emit_write(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low,
                       llvm_value high)
{
    const unsigned from = (unsigned)op->x->s[op->second ? 2 : 1];
    llvm_value rows[BODY_ROWS_MAX];
    for (unsigned d = 0; d < writes_dwords(op->x); d++)
        rows[d] = slice_row(e, s, from + d);
    if (writes_high(op->x))
        rows[0] = e->l->BuildLShr(e->b, rows[0], slice_constant(e, 16), "");
    if (even_does(s, op)) {
        even_put_off(s, op, rows);
        return;
    }
    if (s->bad) /* nobody is to see what is not right */
        slice_redo(e, s, s->bad);
    s->bad = NULL;
    writes_emit(e, s, op, low, high, rows);
}

static void emit_atomic(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low,
                        llvm_value high)
{
    int from[ATOMICS_ROWS_MAX];
    llvm_value rows[ATOMICS_ROWS_MAX], result[2];
    const unsigned count = atomics_rows(e, op->x, from);
    for (unsigned i = 0; i < count; i++)
        rows[i] = slice_row(e, s, (unsigned)from[i]);
    if (s->bad)
        slice_redo(e, s, s->bad);
    s->bad = NULL;
    even_store(e, s); /* a fault there is redone */
    atomics_emit(e, s, op, low, high, rows, result);
    if (op->x->mem.returns)
        set_rows(s, op->x, op->x->isa->dst.dwords, result);
}

static void emit_access_op(struct emit *e, struct slice *s, const struct lane_op *op)
{
    const unsigned at = (unsigned)op->x->s[0];
    const bool scratch = op->x->isa->format == ISA_SCRATCH;
    const bool wide = op->x->isa->format != ISA_DS && !scratch && !op->base;
    llvm_value rows[BODY_ROWS_MAX], low = memop_has_vaddr(op->x) ? slice_row(e, s, at) : NULL,
                                    high = wide ? slice_row(e, s, at + 1) : NULL;
    if (op->once) {
        emit_atomic(e, s, op, low, high);
    } else if (op->writes) {
        emit_write(e, s, op, low, high);
    } else {
        rows[0] = reads_half(op->x) ? slice_row(e, s, (unsigned)op->x->d) : NULL;
        reads_emit(e, s, op, low, high, rows);
        set_rows(s, op->x, op->x->isa->dst.dwords, rows);
    }
}

/* A row that is half of values of 64 bits. */
static llvm_value half_of(struct emit *e, llvm_value wide, unsigned half)
{
    const struct llvm *l = e->l;
    llvm_value part = half ? l->BuildLShr(e->b, wide, places_splat64(e, emit_i64(e, 32)), "") : wide;
    llvm_value row = l->BuildTrunc(e->b, part, e->row, "");
    pairs_note(body_pairs(e->library), row, wide, half);
    return row;
}

/*
 * v_cndmask_b32 of two halves of values of 64 bits: chooses among the values, of which the other half is
 * likely to follow, and returns the half; NULL: they are none.
 */
static llvm_value choose_half(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value row_no,
                              llvm_value row_yes)
{
    const struct llvm *l = e->l;
    struct pairs *pairs = body_pairs(e->library);
    unsigned half, other;
    llvm_value no = pairs_whole(pairs, row_no, &half), yes = pairs_whole(pairs, row_yes, &other);
    if (!no || !yes || half != other)
        return NULL;
    llvm_value mask = op->mask ? op->mask : s->mask[op->mask_reg], wide = NULL;
    for (unsigned i = 0; i < CHOSEN_MAX && !wide; i++)
        if (s->chosen[i].mask == mask && s->chosen[i].no == no && s->chosen[i].yes == yes)
            wide = s->chosen[i].wide;
    if (!wide) {
        llvm_type type = l->VectorType(e->i64, e->slice);
        llvm_value lanes = l->BuildICmp(e->b, LLVM_NE, mask_row(e, s, op), l->ConstNull(e->row), "");
        wide = l->BuildSelect(e->b, lanes, l->BuildBitCast(e->b, yes, type, ""),
                              l->BuildBitCast(e->b, no, type, ""), "");
        s->chosen[s->chosens++ % CHOSEN_MAX] = (struct chosen){mask, no, yes, wide};
    }
    return half_of(e, wide, half);
}

/* What lanes that are not active have of one or two rows; zeros where nobody reads any of these.  Of a
 * float's halves both are what they were, as half of it and zeros may be denormal. */
static void idle_rows(struct emit *e, struct slice *s, unsigned row, unsigned count, llvm_value *rows)
{
    bool held = false;
    for (unsigned i = 0; i < count; i++)
        held |= e->region ? live_idle(e->live, e->at, row + i) : e->loop && loop_holds(e, row + i);
    for (unsigned i = 0; i < count; i++)
        rows[i] = !held                 ? e->l->ConstNull(e->row)
                  : e->region           ? region_row(e, s, row + i)
                  : s->row_phi[row + i] ? s->row_phi[row + i]
                                        : loop_row(e, s, row + i);
}

static llvm_value join(struct emit *e, llvm_value low, llvm_value high)
{
    const struct llvm *l = e->l;
    llvm_type type = l->VectorType(e->i64, e->slice);
    llvm_value wide = pairs_find(body_pairs(e->library), low, high);
    if (wide)
        return l->BuildBitCast(e->b, wide, type, "");
    high = l->BuildShl(e->b, l->BuildZExt(e->b, high, type, ""), places_splat64(e, emit_i64(e, 32)), "");
    return l->BuildOr(e->b, high, l->BuildZExt(e->b, low, type, ""), "");
}

/* What is chosen is floats, as one instruction of the host's then both computes and chooses. */
static llvm_value choose_floats(struct emit *e, llvm_value lanes, llvm_type one, llvm_value yes,
                                llvm_value no)
{
    const struct llvm *l = e->l;
    llvm_type floats = l->VectorType(one, e->slice), type = l->TypeOf(yes);
    llvm_value chosen = l->BuildSelect(e->b, lanes, l->BuildBitCast(e->b, yes, floats, ""),
                                       l->BuildBitCast(e->b, no, floats, ""), "");
    return l->BuildBitCast(e->b, chosen, type, "");
}

/* In a loop that lanes leave one by one. */
static bool leaves_lanes(const struct emit *e)
{
    return e->region || (e->loop && e->loop->leave);
}

/*
 * Lanes that are not active hold anything, integers too, which are denormal as floats: Intel's processors
 * take more than a hundred cycles to multiply those.  Where the host has mask registers, such lanes do not
 * compute in loops that lanes leave one by one.
 */
static bool idle_lanes_rest(struct emit *e, struct slice *s, const struct isa_inst *inst, llvm_value *rows)
{
    const struct llvm *l = e->l;
    const bool single = inst->dst.type == ISA_T_F32 || inst->dst.type == ISA_T_PKF32;
    if (e->lanes != e->bits || !leaves_lanes(e) || !(single || inst->dst.type == ISA_T_F64))
        return false;
    const unsigned row = stretch_row(&inst->dst);
    llvm_value exec = lanes_vector(e, s->exec);
    llvm_value idle[2];
    for (unsigned d = 0; single && d < inst->dst.dwords; d++) {
        idle_rows(e, s, row + d, 1, idle);
        rows[d] = choose_floats(e, exec, l->FloatTypeInContext(e->context), rows[d], idle[0]);
    }
    if (single)
        return true;
    idle_rows(e, s, row, 2, idle);
    llvm_value wide = choose_floats(e, exec, l->DoubleTypeInContext(e->context), join(e, rows[0], rows[1]),
                                    join(e, idle[0], idle[1]));
    for (unsigned half = 0; half < 2; half++)
        rows[half] = half_of(e, wide, half);
    return true;
}

/*
 * Without mask registers they compute with zeros, instead of what an iteration before has left them: one
 * instruction for a row that comes into an iteration.
 */
static llvm_value calm_row(struct emit *e, struct slice *s, const struct isa_operand *o, unsigned row)
{
    llvm_value value = slice_row(e, s, row);
    if (e->lanes == e->bits || !leaves_lanes(e) || s->dirty[row] ||
        (o->type != ISA_T_F32 && o->type != ISA_T_PKF32) ||
        !(e->loop ? e->loop->row_written[row] : region_writes(e, row)))
        return value;
    return e->l->BuildAnd(e->b, value, lanes_row(e, s->exec), "");
}

/* Two scalars are made one of 64 bits before all lanes get it. */
static void note_scalars(struct emit *e, const llvm_value scalar[2], const llvm_value row[2])
{
    const struct llvm *l = e->l;
    if (l->IsConstant(scalar[0]) || l->IsConstant(scalar[1]))
        return;
    llvm_value high = l->BuildShl(e->b, l->BuildZExt(e->b, scalar[1], e->i64, ""), emit_i64(e, 32), "");
    llvm_value both = l->BuildOr(e->b, l->BuildZExt(e->b, scalar[0], e->i64, ""), high, "");
    llvm_value wide = places_splat64(e, both);
    pairs_note(body_pairs(e->library), row[0], wide, 0);
    pairs_note(body_pairs(e->library), row[1], wide, 1);
}

static void emit_op(struct emit *e, struct slice *s, const struct lane_op *op)
{
    const struct isa_inst *inst = op->x->isa;
    if (op->logic) {
        masks_emit(e, s, op);
        return;
    }
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
            row[d] = !stretch_is_row(o) ? emit_splat(e, op->scalar[i][d])
                     : inst->dpp        ? slice_row(e, s, stretch_row(o) + d)
                                        : calm_row(e, s, o, stretch_row(o) + d);
        const bool wide = o->dwords == 2 && o->type != ISA_T_PKF32;
        if (wide && !stretch_is_row(o))
            note_scalars(e, op->scalar[i], row);
        else if (wide && e->loop && !inst->dpp)
            loop_join(e, stretch_row(o), row);
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
    if (stretch_is_row(&inst->dst))
        for (unsigned d = 0; d < inst->dst.dwords; d++)
            if (body_reads(op->body, BODY_O) >> d & 1)
                rows.row[BODY_O][d] = slice_row(e, s, stretch_row(&inst->dst) + d);
    llvm_value simple = cross_count_lanes(e, s, inst, rows.row[BODY_B][0]);
    if (op->x->op == ISA_OP_v_cndmask_b32)
        simple = choose_half(e, s, op, rows.row[BODY_A][0], rows.row[BODY_B][0]);
    if (simple)
        rows.row[BODY_D][0] = simple;
    else
        body_emit(e->library, op->body, e->module, e->b, &rows);
    llvm_value written = inst->dpp ? cross_written(e, s, op) : NULL, bad = rows.row[BODY_BAD][0];
    if (bad && written)
        bad = e->l->BuildSelect(e->b, written, bad, e->l->ConstNull(e->row), "");
    llvm_value half = op->checks ? nans_of_half(e, op, rows.row[BODY_D]) : NULL;
    if (half)
        add_bad(e, s, half);
    else if (op->checks)
        add_bad_row(e, s, bad);
    else if (op->mask_reg >= 0 && bad) /* v_div_fmas scales */
        add_bad_row(e, s, rows.row[BODY_M][0]);
    if (stretch_is_row(&inst->dst) && body_writes(op->body, BODY_D)) {
        modify_result(e, s, inst, &rows);
        const bool held = idle_lanes_rest(e, s, inst, rows.row[BODY_D]);
        for (unsigned d = 0; d < inst->dst.dwords; d++) {
            const unsigned row = stretch_row(&inst->dst) + d;
            llvm_value value = rows.row[BODY_D][d];
            if (written)
                value = e->l->BuildSelect(e->b, written, value, slice_row(e, s, row), "");
            s->value[row] = value;
            s->dirty[row] = true;
            s->held[row] = held && !written;
        }
        const bool wide = inst->dst.dwords == 2;
        if (op->stops_nans)
            add_bad(e, s, nans_in(e, wide ? rows.row[BODY_D][0] : NULL, rows.row[BODY_D][wide]));
    }
    if (stretch_makes_mask(op)) {
        llvm_value set = e->l->BuildICmp(e->b, LLVM_SLT, rows.row[BODY_DM][0], e->l->ConstNull(e->row), "");
        s->loose[op->x->sd] = lanes_of(e, set);
        s->mask[op->x->sd] = e->l->BuildAnd(e->b, s->loose[op->x->sd], s->exec, "");
    }
}

void stretch_emit(struct emit *e, struct slice *s)
{
    nans_find(e);
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
            value = e->l->BuildSelect(e->b, lanes_vector(e, s->exec), value, old, "");
        }
        e->l->SetAlignment(e->l->BuildStore(e->b, value, place), e->slice * 4);
    }
}

void stretch_store(struct emit *e, const struct slice *s)
{
    const struct llvm *l = e->l;
    if (s->whole) {
        store_rows(e, s, false);
        return;
    }
    llvm_block whole = emit_block(e), part = emit_block(e), done = emit_block(e);
    l->BuildCondBr(e->b, lanes_all(e, s->exec), whole, part);
    emit_goto(e, whole);
    store_rows(e, s, false);
    l->BuildBr(e->b, done);
    emit_goto(e, part);
    store_rows(e, s, true);
    l->BuildBr(e->b, done);
    emit_goto(e, done);
}
