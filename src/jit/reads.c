/* SPDX-License-Identifier: MIT */
/*
 * Loads from memory and LDS as a part of stretches.  Within a slice, addresses that are consecutive are one
 * load of the host's, equal ones a load and a splat (LDS), and others a gather.  A lane whose address is not
 * the GPU's own memory is bad: handlers redo the stretch, find out whether it may be accessed, and fault as
 * they do.  A host fault in here is redone by them too (exec/workgroup.c), and is theirs then.
 *
 * Reads need the order of instructions among lanes only against writes, which are never in a stretch with
 * them.
 */
#include "jit/emit.h"
#include "sem/memory/memop.h"
#include "wave/fault.h"

static bool takes_part_of_dword(unsigned kind)
{
    return kind <= MEMOP_I16;
}

bool reads_is_known(const struct xinst *x)
{
    const struct memop *op = memop_of(x->isa->op);
    const struct isa_inst *inst = x->isa;
    if ((op->action != MEMOP_LOAD && op->action != MEMOP_LOAD2) || inst->lds || inst->gds ||
        inst->dst.kind == ISA_NONE || inst->dst.kind == ISA_SGPR || memop_is_d16((enum memop_kind)op->kind))
        return false;
    if (inst->dst.dwords != memop_dwords((enum memop_kind)op->kind) * (op->action == MEMOP_LOAD2 ? 2 : 1))
        return false;
    if (!memop_has_vaddr(x))
        return false;
    if (inst->format == ISA_DS)
        return true;
    return inst->format == ISA_GLOBAL && op->action == MEMOP_LOAD && !takes_part_of_dword(op->kind) &&
           (!memop_has_sbase(x) || x->ss[0] < SREG_TTMP);
}

/* ---- values ---- */

static llvm_value row_of_constants(struct emit *e, uint32_t first, uint32_t step)
{
    llvm_value lanes[16];
    for (unsigned i = 0; i < e->slice; i++)
        lanes[i] = emit_i32(e, first + i * step);
    return e->l->ConstVector(lanes, e->slice);
}

static llvm_value first_lane(struct emit *e, llvm_value row)
{
    return e->l->BuildExtractElement(e->b, row, emit_i32(e, 0), "");
}

static llvm_value all_of(struct emit *e, llvm_value lanes)
{
    llvm_value bits = e->l->BuildBitCast(e->b, lanes, e->bits, "");
    return e->l->BuildICmp(e->b, LLVM_EQ, bits, e->l->ConstAllOnes(e->bits), "");
}

static llvm_value active(struct emit *e, const struct slice *s)
{
    return e->l->BuildBitCast(e->b, s->exec, e->l->VectorType(e->i1, e->slice), "");
}

static llvm_value and_(struct emit *e, llvm_value a, llvm_value b)
{
    return e->l->BuildAnd(e->b, a, b, "");
}

/* Every count-th of the dwords of `wide`, from `at` on, as a row. */
static llvm_value every(struct emit *e, llvm_value wide, unsigned at, unsigned count)
{
    llvm_value index[16];
    if (count == 1)
        return wide;
    for (unsigned i = 0; i < e->slice; i++)
        index[i] = emit_i32(e, at + i * count);
    return e->l->BuildShuffleVector(e->b, wide, e->l->GetPoison(e->l->TypeOf(wide)),
                                    e->l->ConstVector(index, e->slice), "");
}

/* Rows of consecutive elements at an address. */
static void load_dense(struct emit *e, llvm_value address, unsigned dwords, llvm_value *rows)
{
    const struct llvm *l = e->l;
    llvm_value wide = l->BuildLoad2(e->b, l->VectorType(e->i32, e->slice * dwords), address, "");
    l->SetAlignment(wide, 1);
    for (unsigned d = 0; d < dwords; d++)
        rows[d] = every(e, wide, d, dwords);
}

static llvm_value gather_dword(struct emit *e, llvm_type element, llvm_value addresses, llvm_value lanes)
{
    const struct llvm *l = e->l;
    llvm_type types[] = {l->VectorType(element, e->slice), l->VectorType(e->ptr, e->slice)};
    const unsigned id = l->LookupIntrinsicID("llvm.masked.gather", 18);
    llvm_value function = l->GetIntrinsicDeclaration(e->module, id, types, 2);
    llvm_value arguments[] = {addresses, lanes, l->ConstNull(types[0])};
    return l->BuildCall2(e->b, l->GlobalGetValueType(function), function, arguments, 3, "");
}

/* Elements of 16 bytes, each by one access; inactive lanes read from somewhere harmless. */
static void load_each(struct emit *e, llvm_value addresses, llvm_value lanes, llvm_value *rows)
{
    const struct llvm *l = e->l;
    llvm_type quad = l->VectorType(e->i32, 4);
    llvm_value harmless = l->BuildBitCast(e->b, e->w, e->ptr, "");
    for (unsigned d = 0; d < 4; d++)
        rows[d] = l->GetPoison(e->row);
    for (unsigned i = 0; i < e->slice; i++) {
        llvm_value at =
            l->BuildSelect(e->b, l->BuildExtractElement(e->b, lanes, emit_i32(e, i), ""),
                           l->BuildExtractElement(e->b, addresses, emit_i32(e, i), ""), harmless, "");
        llvm_value value = l->BuildLoad2(e->b, quad, at, "");
        l->SetAlignment(value, 1);
        for (unsigned d = 0; d < 4; d++)
            rows[d] = l->BuildInsertElement(
                e->b, rows[d], l->BuildExtractElement(e->b, value, emit_i32(e, d), ""), emit_i32(e, i), "");
    }
}

/* `addresses`: a vector of pointers. */
static void load_gather(struct emit *e, llvm_value addresses, llvm_value lanes, unsigned dwords,
                        llvm_value *rows)
{
    const struct llvm *l = e->l;
    if (dwords == 4) {
        load_each(e, addresses, lanes, rows);
        return;
    }
    if (dwords == 2) { /* at once: 8 bytes are not torn */
        llvm_value wide = gather_dword(e, e->i64, addresses, lanes);
        wide = l->BuildBitCast(e->b, wide, l->VectorType(e->i32, e->slice * 2), "");
        rows[0] = every(e, wide, 0, 2);
        rows[1] = every(e, wide, 1, 2);
        return;
    }
    for (unsigned d = 0; d < dwords; d++) {
        llvm_value bytes = emit_i64(e, d * 4);
        llvm_value at = d ? l->BuildGEP2(e->b, e->i8, addresses, &bytes, 1, "") : addresses;
        rows[d] = gather_dword(e, e->i32, at, lanes);
    }
}

static void merge(struct emit *e, llvm_block *from, llvm_value (*values)[4], unsigned ways, unsigned dwords,
                  llvm_value *rows)
{
    for (unsigned d = 0; d < dwords; d++) {
        rows[d] = e->l->BuildPhi(e->b, e->row, "");
        for (unsigned i = 0; i < ways; i++)
            e->l->AddIncoming(rows[d], &values[i][d], &from[i], 1);
    }
}

/* ---- LDS ---- */

static llvm_value extend_part(struct emit *e, llvm_value row, unsigned kind)
{
    const struct llvm *l = e->l;
    const unsigned bits = memop_bytes((enum memop_kind)kind) * 8;
    llvm_value part =
        l->BuildTrunc(e->b, row, l->VectorType(l->IntTypeInContext(e->context, bits), e->slice), "");
    return kind == MEMOP_I8 || kind == MEMOP_I16 ? l->BuildSExt(e->b, part, e->row, "")
                                                 : l->BuildZExt(e->b, part, e->row, "");
}

/* Lanes out of range read zero. */
static void read_lds(struct emit *e, struct slice *s, llvm_value lane_address, uint32_t offset, unsigned kind,
                     llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned dwords = memop_dwords((enum memop_kind)kind), bytes = memop_bytes((enum memop_kind)kind);
    llvm_value at = l->BuildAdd(e->b, lane_address, row_of_constants(e, offset, 0), "");
    /* a + bytes <= allocated, without wrapping */
    llvm_type pair[] = {e->i32, e->i32};
    const unsigned saturating = l->LookupIntrinsicID("llvm.usub.sat", 13);
    llvm_value function = l->GetIntrinsicDeclaration(e->module, saturating, &e->i32, 1);
    llvm_value limit[] = {e->lds_bytes, emit_i32(e, bytes - 1)};
    llvm_value end = l->BuildCall2(e->b, l->FunctionType(e->i32, pair, 2, 0), function, limit, 2, "");
    llvm_value inside = l->BuildICmp(e->b, LLVM_ULT, at, emit_splat(e, end), "");
    llvm_block dense = emit_block(e), other = emit_block(e), equal = emit_block(e), any = emit_block(e),
               done = emit_block(e);
    llvm_value first = first_lane(e, at), values[3][4];
    llvm_value place = l->BuildZExt(e->b, first, e->i64, "");
    llvm_value steps = l->BuildAdd(e->b, emit_splat(e, first), row_of_constants(e, 0, bytes), "");
    llvm_value is_dense = and_(e, l->BuildICmp(e->b, LLVM_EQ, at, steps, ""), inside);
    l->BuildCondBr(e->b, takes_part_of_dword(kind) ? l->ConstNull(e->i1) : all_of(e, is_dense), dense, other);
    emit_goto(e, dense);
    load_dense(e, l->BuildGEP2(e->b, e->i8, e->lds, &place, 1, ""), dwords, values[0]);
    l->BuildBr(e->b, done);

    emit_goto(e, other);
    llvm_value is_equal = and_(e, l->BuildICmp(e->b, LLVM_EQ, at, emit_splat(e, first), ""), inside);
    l->BuildCondBr(e->b, all_of(e, is_equal), equal, any);
    emit_goto(e, equal);
    for (unsigned d = 0; d < dwords; d++) {
        llvm_value address = emit_at(e, l->BuildGEP2(e->b, e->i8, e->lds, &place, 1, ""), d * 4);
        llvm_value word = l->BuildLoad2(e->b, e->i32, address, "");
        l->SetAlignment(word, 1);
        values[1][d] = emit_splat(e, word);
    }
    l->BuildBr(e->b, done);

    emit_goto(e, any);
    llvm_value lanes = and_(e, inside, active(e, s));
    for (unsigned d = 0; d < dwords; d++) {
        llvm_value index = l->BuildZExt(e->b, l->BuildAdd(e->b, at, row_of_constants(e, d * 4, 0), ""),
                                        l->VectorType(e->i64, e->slice), "");
        llvm_value addresses = l->BuildGEP2(e->b, e->i8, e->lds, &index, 1, "");
        values[2][d] = gather_dword(e, e->i32, addresses, lanes);
    }
    llvm_block from[] = {dense, equal, any};
    l->BuildBr(e->b, done);
    emit_goto(e, done);
    merge(e, from, values, 3, dwords, rows);
    if (takes_part_of_dword(kind))
        rows[0] = extend_part(e, rows[0], kind);
}

/* ---- memory ---- */

/* Whether an address, or which of several, is not of the memory that the GPU may always access. */
static llvm_value outside(struct emit *e, llvm_value address, llvm_value arena, llvm_value mask)
{
    const struct llvm *l = e->l;
    return and_(e, l->BuildXor(e->b, address, arena, ""), mask);
}

static llvm_value splat64(struct emit *e, llvm_value value)
{
    const struct llvm *l = e->l;
    llvm_type type = l->VectorType(e->i64, e->slice);
    llvm_value one = l->BuildInsertElement(e->b, l->GetPoison(type), value, emit_i32(e, 0), "");
    return l->BuildShuffleVector(e->b, one, l->GetPoison(type), l->ConstNull(e->row), "");
}

/*
 * The host finds streams by the address of the instruction that loads.  Handlers load for all instructions of
 * the GPU at one place; of host code each loads at a place of its own, and an unrolled loop of the GPU's
 * waits for every line.  The waves that come next mostly go on where this one reads: it has that fetched, a
 * page ahead (less, when each lane takes so much that this is many waves).
 */
static void fetch_ahead(struct emit *e, llvm_value address, uint32_t span, unsigned dwords)
{
    enum { LINE = 64, READ = 0, KEEP = 3, DATA = 1 };
    const struct llvm *l = e->l;
    const uint32_t ahead = dwords == 4 ? 2048 : 4096;
    const unsigned id = l->LookupIntrinsicID("llvm.prefetch", 13);
    llvm_value function = l->GetIntrinsicDeclaration(e->module, id, &e->ptr, 1);
    for (uint32_t at = 0; at < span; at += LINE) {
        llvm_value arguments[] = {emit_at(e, address, ahead + at), emit_i32(e, READ), emit_i32(e, KEEP),
                                  emit_i32(e, DATA)};
        l->BuildCall2(e->b, l->GlobalGetValueType(function), function, arguments, 4, "");
    }
}

static void read_memory(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low,
                        llvm_value high, unsigned kind, llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned dwords = memop_dwords((enum memop_kind)kind), bytes = memop_bytes((enum memop_kind)kind);
    const uint32_t span = bytes * e->slice;
    llvm_type wide = l->VectorType(e->i64, e->slice), pointers = l->VectorType(e->ptr, e->slice);
    llvm_block dense = emit_block(e), any = emit_block(e), done = emit_block(e);
    llvm_value base = emit_i64(e, op->x->mem.offset);
    if (op->base)
        base = l->BuildAdd(e->b, base, op->base, "");
    llvm_value first = first_lane(e, low), values[2][4];
    llvm_value start = l->BuildZExt(e->b, first, e->i64, "");
    if (high)
        start = l->BuildOr(
            e->b, start,
            l->BuildShl(e->b, l->BuildZExt(e->b, first_lane(e, high), e->i64, ""), emit_i64(e, 32), ""), "");
    start = l->BuildAdd(e->b, start, base, "");
    llvm_value last = l->BuildAdd(e->b, start, emit_i64(e, span - 1), "");
    llvm_value steps = l->BuildAdd(e->b, emit_splat(e, first), row_of_constants(e, 0, bytes), "");
    llvm_value same = l->BuildICmp(e->b, LLVM_EQ, low, steps, "");
    if (high)
        same = and_(e, same, l->BuildICmp(e->b, LLVM_EQ, high, emit_splat(e, first_lane(e, high)), ""));
    llvm_value far = l->BuildOr(e->b, outside(e, start, e->arena, e->arena_mask),
                                outside(e, last, e->arena, e->arena_mask), "");
    llvm_value is_dense = and_(e, all_of(e, same), l->BuildICmp(e->b, LLVM_EQ, far, emit_i64(e, 0), ""));
    is_dense = and_(e, is_dense, l->BuildICmp(e->b, LLVM_ULT, first, emit_i32(e, 0u - span), ""));
    is_dense = and_(e, is_dense, l->BuildICmp(e->b, LLVM_EQ, s->exec, l->ConstAllOnes(e->bits), ""));
    emit_access(e, op->x);
    l->BuildCondBr(e->b, is_dense, dense, any);

    emit_goto(e, dense);
    llvm_value address = l->BuildIntToPtr(e->b, start, e->ptr, "");
    fetch_ahead(e, address, span, dwords);
    load_dense(e, address, dwords, values[0]);
    l->BuildBr(e->b, done);

    emit_goto(e, any);
    llvm_value addresses = l->BuildZExt(e->b, low, wide, "");
    if (high)
        addresses = l->BuildOr(
            e->b, addresses,
            l->BuildShl(e->b, l->BuildZExt(e->b, high, wide, ""), splat64(e, emit_i64(e, 32)), ""), "");
    addresses = l->BuildAdd(e->b, addresses, splat64(e, base), "");
    llvm_value beyond =
        l->BuildICmp(e->b, LLVM_NE, outside(e, addresses, splat64(e, e->arena), splat64(e, e->arena_mask)),
                     l->ConstNull(wide), "");
    llvm_value lanes = and_(e, active(e, s), l->BuildNot(e->b, beyond, ""));
    llvm_value bad = l->BuildBitCast(e->b, beyond, e->bits, "");
    load_gather(e, l->BuildIntToPtr(e->b, addresses, pointers, ""), lanes, dwords, values[1]);
    l->BuildBr(e->b, done);

    llvm_block from[] = {dense, any};
    emit_goto(e, done);
    merge(e, from, values, 2, dwords, rows);
    llvm_value is_bad = l->BuildPhi(e->b, e->bits, "");
    llvm_value none = l->ConstNull(e->bits);
    l->AddIncoming(is_bad, &none, &dense, 1);
    l->AddIncoming(is_bad, &bad, &any, 1);
    s->bad = s->bad ? l->BuildOr(e->b, s->bad, is_bad, "") : is_bad;
}

void reads_emit(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value high,
                llvm_value *rows)
{
    const struct memop *m = memop_of(op->x->isa->op);
    if (op->x->isa->format != ISA_DS) {
        read_memory(e, s, op, low, high, m->kind, rows);
        return;
    }
    read_lds(e, s, low, (uint32_t)op->x->mem.offset, m->kind, rows);
    if (m->action == MEMOP_LOAD2)
        read_lds(e, s, low, op->x->mem.second, m->kind, rows + memop_dwords((enum memop_kind)m->kind));
}

/* ---- statistics ---- */

unsigned reads_bytes(const struct xinst *x)
{
    const struct memop *m = memop_of(x->isa->op);
    return memop_bytes((enum memop_kind)m->kind) * (m->action == MEMOP_LOAD2 ? 2 : 1);
}
