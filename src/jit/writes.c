/* SPDX-License-Identifier: MIT */
/*
 * Stores to memory and LDS as a part of stretches.  Within a slice, addresses that are consecutive are one
 * store of the host's, and others a scatter, or a loop over lanes of elements that the host has none for.
 * Nothing is stored before all that comes earlier in the slice is
 * known to be right: whoever looks at memory meanwhile sees no value that is redone.  What handlers redo they
 * store once more, as it was.
 *
 * Slices store one after another, and lanes within one from the first to the last, as one instruction of the
 * GPU's does; so a stretch has one store to LDS and one to memory, and reads neither of them: stretch.c.  It
 * may have more where they are known not to meet: even.c.
 */
#include "jit/places.h"

bool writes_is_known(const struct xinst *x)
{
    const struct memop *op = memop_of(x->isa->op);
    const struct isa_inst *inst = x->isa;
    if (inst->format == ISA_SCRATCH)
        return op->action == MEMOP_STORE && scratch_is_known(x);
    if ((op->action != MEMOP_STORE && op->action != MEMOP_STORE2) || inst->gds || !memop_has_vaddr(x))
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

bool writes_high(const struct xinst *x)
{
    const unsigned kind = memop_of(x->isa->op)->kind;
    return kind == MEMOP_B8_D16_HI || kind == MEMOP_B16_D16_HI;
}

unsigned writes_dwords(const struct xinst *x)
{
    return memop_dwords(places_kind(x));
}

/*
 * Stores past the caches come to memory in any order, until workgroup_fence().  A kernel without atomics and
 * what caches are told has no order among its stores that others could know of.  One with barriers is likely
 * to read again what it has stored.
 */
static bool orders_stores(const struct xinst *x)
{
    const uint32_t effects = isa_facts[x->op].effects;
    if (x->isa->format > ISA_VOP3PMAI && isa_policy_beyond_cu(x->isa->policy))
        return true;
    return effects & (ISA_E_ATOMIC | ISA_E_CACHE) || x->op == ISA_OP_s_barrier ||
           isa_facts[x->op].unit == ISA_UNIT_GWS || (effects & ISA_E_BRANCH && !lift_is_branch(x));
}

uint32_t lift_stores(const struct exec_block *block)
{
    uint32_t bytes = 0;
    for (const struct xinst *x = block->x; x < block->x + block->count; x++) {
        if (!x->isa || orders_stores(x))
            return 0;
        const bool known = (x->isa->format == ISA_GLOBAL || x->isa->format == ISA_FLAT) && writes_is_known(x);
        const unsigned each = known ? memop_bytes(places_kind(x)) : 0;
        bytes += each >= WRITES_PAST_LEAST ? each : 0;
    }
    return bytes;
}

/* ---- ways to store ---- */

/* How a line is stored: for some lanes, NULL for all, or past the caches, from an aligned address on. */
struct how {
    llvm_value lanes;
    bool past;
};

static void store_line(struct emit *e, llvm_value value, unsigned bytes, llvm_value address,
                       const struct how *how)
{
    const struct llvm *l = e->l;
    if (!how->lanes) {
        llvm_value store = l->BuildStore(e->b, value, address);
        l->SetAlignment(store, how->past ? bytes : 1);
        if (how->past)
            l->SetMetadata(store, e->md_nontemporal, e->nontemporal);
        return;
    }
    llvm_type types[] = {l->TypeOf(value), e->ptr};
    llvm_value arguments[] = {value, address, how->lanes};
    emit_intrinsic(e, "llvm.masked.store", types, 2, arguments, 3);
}

/* Line after line, from the first on, as hosts see streams. */
static void store_lines(struct emit *e, llvm_value address, unsigned kind, const llvm_value *rows,
                        const struct how *how)
{
    const struct llvm *l = e->l;
    const unsigned dwords = memop_dwords((enum memop_kind)kind);
    if (dwords == 1) {
        llvm_value value = rows[0];
        if (places_is_part(kind))
            value = l->BuildTrunc(e->b, value, l->VectorType(places_element(e, kind), e->slice), "");
        store_line(e, value, e->slice * memop_bytes((enum memop_kind)kind), address, how);
        return;
    }
    llvm_value all = places_concat(e, rows, dwords);
    for (unsigned i = 0; i < dwords; i++) {
        const struct how of_line = {how->lanes ? places_line(e, how->lanes, dwords, i, 1) : NULL, how->past};
        store_line(e, places_line(e, all, dwords, i, dwords), e->slice * 4,
                   emit_at(e, address, i * e->slice * 4), &of_line);
    }
}

void writes_dense(struct emit *e, llvm_value address, unsigned kind, const llvm_value *rows, llvm_value lanes)
{
    store_lines(e, address, kind, rows, &(struct how){.lanes = lanes});
}

void writes_past(struct emit *e, llvm_value address, unsigned kind, const llvm_value *rows)
{
    store_lines(e, address, kind, rows, &(struct how){.past = true});
}

/* Without AVX-512 LLVM makes a branch and a store for each lane, at every place. */
static bool has_scatter(const struct emit *e, unsigned kind)
{
    return e->slice == 16 && (kind == MEMOP_B32 || kind == MEMOP_B64);
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

/* One element, by as few accesses as its handler makes. */
static void store_element(struct emit *e, unsigned kind, llvm_value from, llvm_value to)
{
    const struct llvm *l = e->l;
    const unsigned bytes = memop_bytes((enum memop_kind)kind);
    for (unsigned at = 0; at < bytes;) {
        const unsigned now = bytes - at == 12 ? 8 : bytes - at;
        llvm_type type = now == 16 ? l->VectorType(e->i32, 4) : l->IntTypeInContext(e->context, 8 * now);
        llvm_value value = l->BuildLoad2(e->b, type, emit_at(e, from, at), "");
        l->SetAlignment(value, 1);
        llvm_value store = l->BuildStore(e->b, value, emit_at(e, to, at));
        l->SetAlignment(store, 1);
        l->SetVolatile(store, 1);
        at += now;
    }
}

/* Some lanes' elements, to a row of pointers, from the first lane on. */
static void store_each(struct emit *e, llvm_value pointers, llvm_value lanes, unsigned kind,
                       const llvm_value *rows)
{
    enum { ELEMENT_MAX = 16, POINTER = 8 };
    const struct llvm *l = e->l;
    llvm_block from = l->GetInsertBlock(e->b), turn = emit_block(e), done = emit_block(e);
    if (!e->elements) {
        emit_goto(e, e->entry);
        e->elements = l->BuildAlloca(e->b, l->ArrayType2(e->i64, e->slice * (ELEMENT_MAX + POINTER) / 8), "");
        emit_goto(e, from);
    }
    llvm_value elements = e->elements, places = emit_at(e, elements, e->slice * ELEMENT_MAX);
    writes_dense(e, elements, kind, rows, NULL);
    l->SetAlignment(l->BuildStore(e->b, pointers, places), 8);
    llvm_value all = l->BuildZExt(e->b, l->BuildBitCast(e->b, lanes, e->bits, ""), e->i64, "");
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, all, emit_i64(e, 0), ""), done, turn);
    emit_goto(e, turn);
    llvm_value rest = l->BuildPhi(e->b, e->i64, "");
    llvm_type types[] = {e->i64, e->i1};
    llvm_value arguments[] = {rest, l->ConstAllOnes(e->i1)};
    llvm_value lane = l->BuildCall2(e->b, l->FunctionType(e->i64, types, 2, 0), e->cttz, arguments, 2, "");
    llvm_value to = l->BuildLoad2(e->b, e->ptr, l->BuildGEP2(e->b, e->ptr, places, &lane, 1, ""), "");
    llvm_value bytes = l->BuildMul(e->b, lane, emit_i64(e, memop_bytes((enum memop_kind)kind)), "");
    store_element(e, kind, l->BuildGEP2(e->b, e->i8, elements, &bytes, 1, ""), to);
    llvm_value less = l->BuildAnd(e->b, rest, l->BuildSub(e->b, rest, emit_i64(e, 1), ""), "");
    l->AddIncoming(rest, &all, &from, 1);
    l->AddIncoming(rest, &less, &turn, 1);
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, less, emit_i64(e, 0), ""), done, turn);
    emit_goto(e, done);
}

void writes_scattered(struct emit *e, llvm_value pointers, llvm_value lanes, unsigned kind,
                      const llvm_value *rows)
{
    if (has_scatter(e, kind))
        store_scatter(e, pointers, lanes, kind, rows);
    else
        store_each(e, pointers, lanes, kind, rows);
}

/*
 * Stores consecutive elements if `dense`, and goes on at `done`; leaves the builder where they are not, or
 * where the host has no way to store some of them.
 */
static void store_if_dense(struct emit *e, const struct slice *s, llvm_value dense, llvm_value address,
                           unsigned kind, const llvm_value *rows, llvm_block done)
{
    const struct llvm *l = e->l;
    llvm_value whole = lanes_all(e, s->exec);
    llvm_block to_all = emit_block(e), not_all = emit_block(e), other = emit_block(e);
    l->BuildCondBr(e->b, places_and(e, dense, whole), to_all, not_all);
    emit_goto(e, to_all);
    writes_dense(e, address, kind, rows, NULL);
    l->BuildBr(e->b, done);
    emit_goto(e, not_all);
    if (!places_is_part(kind) || places_masks_parts(e)) {
        llvm_block to_some = emit_block(e);
        l->BuildCondBr(e->b, dense, to_some, other);
        emit_goto(e, to_some);
        writes_dense(e, address, kind, rows, places_active(e, s));
        l->BuildBr(e->b, done);
    } else {
        l->BuildBr(e->b, other);
    }
    emit_goto(e, other);
}

/* ---- LDS ---- */

/* Lanes out of range write nothing. */
static void write_lds(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value lane_address,
                      uint32_t offset, unsigned kind, const llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned bytes = memop_bytes((enum memop_kind)kind);
    llvm_block done = emit_block(e);
    if (places_likely_ways(e, op, bytes) & PLACES_DENSE) {
        const struct shape *shape = places_shape(e, s, lane_address, bytes);
        llvm_value place = l->BuildAdd(e->b, shape->first, emit_i64(e, offset), "");
        llvm_value dense = places_and(e, shape->dense, places_inside(e, place, bytes * e->slice));
        store_if_dense(e, s, dense, l->BuildGEP2(e->b, e->i8, e->lds, &place, 1, ""), kind, rows, done);
    }
    llvm_value at = l->BuildAdd(e->b, lane_address, places_row(e, offset, 0), "");
    llvm_value lanes = places_and(e, places_in_lds(e, at, bytes), places_active(e, s));
    writes_scattered(e, places_of_lds(e, at, 0), lanes, kind, rows);
    l->BuildBr(e->b, done);
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
    ahead_of_write(e, s, op->x, places.first, kind);
    store_if_dense(e, s, places_go_by(e, s, &places, bytes), places.first, kind, rows, done);
    llvm_value beyond, addresses = places_addresses(e, &places, &beyond);
    slice_redo(e, s, lanes_of(e, beyond));
    llvm_value pointers = l->BuildIntToPtr(e->b, addresses, l->VectorType(e->ptr, e->slice), "");
    writes_scattered(e, pointers, places_active(e, s), kind, rows);
    l->BuildBr(e->b, done);
    emit_goto(e, done);
}

void writes_emit(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value high,
                 const llvm_value *rows)
{
    const struct xinst *x = op->x;
    if (x->isa->format == ISA_SCRATCH)
        scratch_write(e, s, op, low, rows);
    else if (x->isa->format != ISA_DS)
        write_memory(e, s, op, low, high, places_kind(x), rows);
    else
        write_lds(e, s, op, low, op->second ? x->mem.second : (uint32_t)x->mem.offset, places_kind(x), rows);
}
