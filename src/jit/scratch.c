/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of dwords in scratch as a part of stretches.  Dwords of a lane's segment are interleaved
 * over the lanes, so that one at the same offset for all lanes is a row.
 *
 * Lanes have their own segments: slices do not meet here.  But who redoes a slice must find what it has
 * loaded as it was: no store comes after a load that it may meet.
 */
#include "jit/places.h"

bool scratch_is_known(const struct xinst *x)
{
    const struct memop *op = memop_of(x->isa->op);
    const struct isa_inst *inst = x->isa;
    if (inst->format != ISA_SCRATCH || inst->lds || op->kind < MEMOP_B32)
        return false;
    if (op->action == MEMOP_LOAD &&
        (!stretch_is_row(&inst->dst) || inst->dst.dwords != memop_dwords((enum memop_kind)op->kind)))
        return false;
    return (op->action == MEMOP_LOAD || op->action == MEMOP_STORE) &&
           (!memop_has_sbase(x) || x->ss[0] < SREG_TTMP);
}

static unsigned bytes_of(const struct lane_op *op)
{
    return memop_bytes((enum memop_kind)memop_of(op->x->isa->op)->kind);
}

static bool overlap(const struct lane_op *a, const struct lane_op *b)
{
    const uint32_t x = (uint32_t)a->x->mem.offset, y = (uint32_t)b->x->mem.offset;
    if (memop_has_vaddr(a->x) || memop_has_vaddr(b->x) || a->scalar[0][0] != b->scalar[0][0])
        return true;
    return y - x < bytes_of(a) || x - y < bytes_of(b);
}

bool scratch_may_spoil(const struct emit *e, const struct lane_op *op)
{
    for (unsigned i = 0; op->writes && i < e->ops; i++) {
        const struct lane_op *other = &e->op[i];
        if (other->x->isa->format == ISA_SCRATCH && !other->writes && overlap(op, other))
            return true;
    }
    return false;
}

bool scratch_may_fault_first(const struct emit *e, const struct lane_op *op)
{
    for (unsigned i = 0; op->writes && i < e->ops; i++)
        if (e->op[i].x->isa->format == ISA_SCRATCH)
            return true;
    return false;
}

/* The offset that is the same for all lanes. */
static llvm_value base_of(struct emit *e, const struct lane_op *op)
{
    llvm_value base = emit_i32(e, (uint32_t)op->x->mem.offset);
    return op->scalar[0][0] ? e->l->BuildAdd(e->b, base, op->scalar[0][0], "") : base;
}

/* Offsets less than this are of accesses within the segment. */
static llvm_value limit_of(struct emit *e, const struct lane_op *op)
{
    llvm_value arguments[] = {e->scratch_bytes, emit_i32(e, bytes_of(op) - 1)};
    return emit_intrinsic(e, "llvm.usub.sat", &e->i32, 1, arguments, 2);
}

/* Goes on where an offset is of whole dwords in the segment; has the slice redone otherwise. */
static void check_offset(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value offset)
{
    const struct llvm *l = e->l;
    llvm_value aligned =
        l->BuildICmp(e->b, LLVM_EQ, l->BuildAnd(e->b, offset, emit_i32(e, 3), ""), emit_i32(e, 0), "");
    llvm_value inside = l->BuildICmp(e->b, LLVM_ULT, offset, limit_of(e, op), "");
    llvm_value good = places_and(e, aligned, inside);
    slice_redo(e, s, l->BuildSelect(e->b, good, l->ConstNull(e->lanes), l->ConstAllOnes(e->lanes), ""));
}

/* Where the slice's part of the row at an offset is. */
static llvm_value row_at(struct emit *e, const struct slice *s, llvm_value offset)
{
    const struct llvm *l = e->l;
    llvm_value row = l->BuildMul(e->b, l->BuildZExt(e->b, offset, e->i64, ""), emit_i64(e, WAVE_LANES), "");
    llvm_value index = l->BuildAdd(e->b, row, l->BuildShl(e->b, s->shift, emit_i64(e, 2), ""), "");
    return l->BuildGEP2(e->b, e->i8, e->scratch, &index, 1, "");
}

/* Lanes' own places; has the slice redone where one is not of whole dwords in the segment. */
static llvm_value lane_places(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value offsets)
{
    const struct llvm *l = e->l;
    llvm_value odd = l->BuildAnd(e->b, offsets, slice_constant(e, 3), "");
    llvm_value beyond = l->BuildICmp(e->b, LLVM_UGE, offsets, emit_splat(e, limit_of(e, op)), "");
    llvm_value bad = l->BuildOr(e->b, beyond, l->BuildICmp(e->b, LLVM_NE, odd, l->ConstNull(e->row), ""), "");
    slice_redo(e, s, lanes_of(e, bad));
    llvm_value wide = l->BuildZExt(e->b, offsets, l->VectorType(e->i64, e->slice), "");
    wide = l->BuildMul(e->b, wide, places_splat64(e, emit_i64(e, WAVE_LANES)), "");
    llvm_value lanes = l->BuildZExt(e->b, places_row(e, 0, 4), l->VectorType(e->i64, e->slice), "");
    wide = l->BuildAdd(e->b, wide, lanes, "");
    return l->BuildGEP2(e->b, e->i8, row_at(e, s, emit_i32(e, 0)), &wide, 1, "");
}

/* Dword `d` of lanes' own places. */
static llvm_value dword_of(struct emit *e, llvm_value places, unsigned d)
{
    llvm_value index = emit_i64(e, d * sizeof(wave_row));
    return e->l->BuildGEP2(e->b, e->i8, places, &index, 1, "");
}

void scratch_read(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value address,
                  llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned dwords = op->x->isa->dst.dwords;
    if (!address) {
        llvm_value offset = base_of(e, op);
        check_offset(e, s, op, offset);
        for (unsigned d = 0; d < dwords; d++) {
            rows[d] = emit_load(e, e->row, row_at(e, s, offset), (int64_t)(d * sizeof(wave_row)));
            l->SetAlignment(rows[d], 4);
        }
        return;
    }
    llvm_value places = lane_places(e, s, op, l->BuildAdd(e->b, address, emit_splat(e, base_of(e, op)), ""));
    llvm_type types[] = {e->row, l->TypeOf(places)};
    for (unsigned d = 0; d < dwords; d++) {
        llvm_value arguments[] = {dword_of(e, places, d), places_active(e, s), l->ConstNull(e->row)};
        rows[d] = emit_intrinsic(e, "llvm.masked.gather", types, 2, arguments, 3);
    }
}

void scratch_write(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value address,
                   const llvm_value *rows)
{
    const struct llvm *l = e->l;
    llvm_value offset = base_of(e, op), to;
    if (address) {
        to = lane_places(e, s, op, l->BuildAdd(e->b, address, emit_splat(e, offset), ""));
    } else {
        check_offset(e, s, op, offset);
        to = row_at(e, s, offset);
    }
    llvm_type types[] = {e->row, l->TypeOf(to)};
    for (unsigned d = 0; d < writes_dwords(op->x); d++) {
        llvm_value place = dword_of(e, to, d), arguments[] = {rows[d], place, places_active(e, s)};
        if (address)
            writes_scattered(e, place, arguments[2], MEMOP_B32, &rows[d]);
        else
            emit_intrinsic(e, "llvm.masked.store", types, 2, arguments, 3);
    }
}
