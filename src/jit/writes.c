/* SPDX-License-Identifier: MIT */
/*
 * Stores to memory and LDS as a part of stretches.  Within a slice, addresses that are consecutive are one
 * store of the host's, and others a scatter.  Nothing is stored before all that comes earlier in the slice is
 * known to be right: whoever looks at memory meanwhile sees no value that is redone.  What handlers redo they
 * store once more, as it was.
 *
 * Slices store one after another, and lanes within one from the first to the last, as one instruction of the
 * GPU's does; so a stretch has one store to LDS and one to memory, and reads neither of them: stretch.c.  It
 * may have more where they are known not to meet: even.c.
 */
#include "jit/places.h"

static unsigned kind_of(const struct xinst *x)
{
    return memop_of(x->isa->op)->kind;
}

bool writes_is_known(const struct xinst *x)
{
    const struct memop *op = memop_of(x->isa->op);
    const struct isa_inst *inst = x->isa;
    if (inst->format == ISA_SCRATCH)
        return op->action == MEMOP_STORE && scratch_is_known(x);
    if ((op->action != MEMOP_STORE && op->action != MEMOP_STORE2) || inst->gds || !memop_has_vaddr(x) ||
        memop_is_d16((enum memop_kind)op->kind))
        return false;
    if (inst->format == ISA_DS)
        return true;
    return (inst->format == ISA_GLOBAL || inst->format == ISA_FLAT) && op->action == MEMOP_STORE &&
           !isa_policy_beyond_cu(inst->policy) && (!memop_has_sbase(x) || x->ss[0] < SREG_TTMP);
}

bool writes_twice(const struct xinst *x)
{
    return memop_of(x->isa->op)->action == MEMOP_STORE2;
}

unsigned writes_dwords(const struct xinst *x)
{
    return memop_dwords((enum memop_kind)kind_of(x));
}

/* ---- ways to store ---- */

static llvm_value concat(struct emit *e, llvm_value a, llvm_value b, unsigned lanes)
{
    llvm_value index[64];
    for (unsigned i = 0; i < 2 * lanes; i++)
        index[i] = emit_i32(e, i);
    return e->l->BuildShuffleVector(e->b, a, b, e->l->ConstVector(index, 2 * lanes), "");
}

/* Line `at` of the lines that hold rows as elements one after the other. */
static llvm_value interleave(struct emit *e, llvm_value all, unsigned dwords, unsigned at)
{
    llvm_value index[16];
    for (unsigned i = 0; i < e->slice; i++) {
        const unsigned dword = at * e->slice + i;
        index[i] = emit_i32(e, dword % dwords * e->slice + dword / dwords);
    }
    return e->l->BuildShuffleVector(e->b, all, e->l->GetPoison(e->l->TypeOf(all)),
                                    e->l->ConstVector(index, e->slice), "");
}

/* Line after line, from the first on, as hosts see streams. */
void writes_dense(struct emit *e, llvm_value address, unsigned kind, const llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned dwords = memop_dwords((enum memop_kind)kind);
    if (dwords == 1) {
        llvm_value value = rows[0];
        if (places_is_part(kind))
            value = l->BuildTrunc(e->b, value, l->VectorType(places_element(e, kind), e->slice), "");
        l->SetAlignment(l->BuildStore(e->b, value, address), 1);
        return;
    }
    llvm_value all = concat(e, rows[0], rows[1], e->slice);
    if (dwords > 2)
        all = concat(e, all, concat(e, rows[2], dwords > 3 ? rows[3] : l->GetPoison(e->row), e->slice),
                     2 * e->slice);
    for (unsigned i = 0; i < dwords; i++)
        l->SetAlignment(
            l->BuildStore(e->b, interleave(e, all, dwords, i), emit_at(e, address, i * e->slice * 4)), 1);
}

static void store_masked(struct emit *e, const struct slice *s, llvm_value address, llvm_value row)
{
    llvm_type types[] = {e->row, e->ptr};
    llvm_value arguments[] = {row, address, places_active(e, s)};
    emit_intrinsic(e, "llvm.masked.store", types, 2, arguments, 3);
}

static bool has_scatter(unsigned kind)
{
    return kind == MEMOP_B32 || kind == MEMOP_B64;
}

static void store_scatter(struct emit *e, llvm_value pointers, llvm_value lanes, unsigned kind,
                          const llvm_value *rows)
{
    const struct llvm *l = e->l;
    llvm_type wide = l->VectorType(e->i64, e->slice);
    llvm_value value = rows[0];
    if (kind == MEMOP_B64) { /* at once: 8 bytes are not torn */
        llvm_value high =
            l->BuildShl(e->b, l->BuildZExt(e->b, rows[1], wide, ""), places_splat64(e, emit_i64(e, 32)), "");
        value = l->BuildOr(e->b, l->BuildZExt(e->b, rows[0], wide, ""), high, "");
    }
    llvm_type types[] = {l->TypeOf(value), l->TypeOf(pointers)};
    llvm_value arguments[] = {value, pointers, lanes};
    emit_intrinsic(e, "llvm.masked.scatter", types, 2, arguments, 3);
}

/*
 * Stores consecutive elements if `dense`, and goes on at `done`; leaves the builder where they are not.  Of
 * elements of a dword, lanes may be off.
 */
static void store_if_dense(struct emit *e, const struct slice *s, llvm_value dense, llvm_value address,
                           unsigned kind, const llvm_value *rows, llvm_block done)
{
    const struct llvm *l = e->l;
    llvm_value whole = l->BuildICmp(e->b, LLVM_EQ, s->exec, l->ConstAllOnes(e->bits), "");
    llvm_block to_all = emit_block(e), not_all = emit_block(e), other = emit_block(e);
    l->BuildCondBr(e->b, places_and(e, dense, whole), to_all, not_all);
    emit_goto(e, to_all);
    writes_dense(e, address, kind, rows);
    l->BuildBr(e->b, done);
    emit_goto(e, not_all);
    if (kind == MEMOP_B32) {
        llvm_block to_some = emit_block(e);
        l->BuildCondBr(e->b, dense, to_some, other);
        emit_goto(e, to_some);
        store_masked(e, s, address, rows[0]);
        l->BuildBr(e->b, done);
    } else {
        l->BuildBr(e->b, other);
    }
    emit_goto(e, other);
}

/* ---- LDS ---- */

/* Lanes out of range write nothing. */
static void write_lds(struct emit *e, struct slice *s, llvm_value lane_address, uint32_t offset,
                      unsigned kind, const llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned bytes = memop_bytes((enum memop_kind)kind);
    const struct shape *shape = places_shape(e, s, lane_address, bytes);
    llvm_block done = emit_block(e);
    llvm_value place = l->BuildAdd(e->b, shape->first, emit_i64(e, offset), "");
    llvm_value dense = places_and(e, shape->dense, places_inside(e, place, bytes * e->slice));
    store_if_dense(e, s, dense, l->BuildGEP2(e->b, e->i8, e->lds, &place, 1, ""), kind, rows, done);
    if (has_scatter(kind)) {
        llvm_value at = l->BuildAdd(e->b, lane_address, places_row(e, offset, 0), "");
        llvm_value lanes = places_and(e, places_in_lds(e, at, bytes), places_active(e, s));
        store_scatter(e, places_of_lds(e, at, 0), lanes, kind, rows);
        l->BuildBr(e->b, done);
    } else {
        slice_redo(e, s, NULL);
    }
    emit_goto(e, done);
}

/* ---- memory ---- */

static void write_memory(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low,
                         llvm_value high, unsigned kind, const llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned bytes = memop_bytes((enum memop_kind)kind);
    llvm_block done = emit_block(e);
    const struct memory_places places = places_memory(e, s, op, low, high, bytes);
    emit_access(e, op->x);
    store_if_dense(e, s, places_go_by(e, s, &places, bytes), places.first, kind, rows, done);
    if (has_scatter(kind)) {
        llvm_value beyond, addresses = places_addresses(e, &places, &beyond);
        slice_redo(e, s, l->BuildBitCast(e->b, beyond, e->bits, ""));
        llvm_value pointers = l->BuildIntToPtr(e->b, addresses, l->VectorType(e->ptr, e->slice), "");
        store_scatter(e, pointers, places_active(e, s), kind, rows);
        l->BuildBr(e->b, done);
    } else {
        slice_redo(e, s, NULL);
    }
    emit_goto(e, done);
}

void writes_emit(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value high,
                 const llvm_value *rows)
{
    const struct xinst *x = op->x;
    if (x->isa->format == ISA_SCRATCH)
        scratch_write(e, s, op, low, rows);
    else if (x->isa->format != ISA_DS)
        write_memory(e, s, op, low, high, kind_of(x), rows);
    else
        write_lds(e, s, low, op->second ? x->mem.second : (uint32_t)x->mem.offset, kind_of(x), rows);
}
