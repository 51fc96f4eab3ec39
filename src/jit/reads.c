/* SPDX-License-Identifier: MIT */
/*
 * Loads from memory and LDS as a part of stretches.  Within a slice, addresses that are consecutive are one
 * load of the host's, equal ones a load and a splat, those that go on by a dword a load for each dword of
 * the result, and others a gather.  A lane whose address is not the GPU's own memory is bad: handlers redo
 * the stretch, find out whether it may be accessed, and fault as they do; FLAT addresses of LDS and scratch
 * are such.  A host fault in here is redone by them too (exec/workgroup.c), and is theirs then.
 *
 * Reads need the order of instructions among lanes only against writes, which are never in a stretch with
 * them.
 */
#include <string.h>

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
    return (inst->format == ISA_GLOBAL || inst->format == ISA_FLAT) && op->action == MEMOP_LOAD &&
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

static llvm_value and_(struct emit *e, llvm_value a, llvm_value b)
{
    return e->l->BuildAnd(e->b, a, b, "");
}

/* Whether it holds for all active lanes. */
static llvm_value holds(struct emit *e, const struct slice *s, llvm_value lanes)
{
    llvm_value bits = e->l->BuildBitCast(e->b, lanes, e->bits, "");
    bits = e->l->BuildOr(e->b, bits, e->l->BuildNot(e->b, s->exec, ""), "");
    return e->l->BuildICmp(e->b, LLVM_EQ, bits, e->l->ConstAllOnes(e->bits), "");
}

static llvm_value active(struct emit *e, const struct slice *s)
{
    return e->l->BuildBitCast(e->b, s->exec, e->l->VectorType(e->i1, e->slice), "");
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

/* Parts of dwords, extended to `to`. */
static llvm_value extend_part(struct emit *e, llvm_value part, unsigned kind, llvm_type to)
{
    return kind == MEMOP_I8 || kind == MEMOP_I16 ? e->l->BuildSExt(e->b, part, to, "")
                                                 : e->l->BuildZExt(e->b, part, to, "");
}

static llvm_type element_of(struct emit *e, unsigned kind)
{
    return takes_part_of_dword(kind)
               ? e->l->IntTypeInContext(e->context, memop_bytes((enum memop_kind)kind) * 8)
               : e->i32;
}

static llvm_value load_unaligned(struct emit *e, llvm_type type, llvm_value address)
{
    llvm_value value = e->l->BuildLoad2(e->b, type, address, "");
    e->l->SetAlignment(value, 1);
    return value;
}

/* Rows of consecutive elements at an address. */
static void load_dense(struct emit *e, llvm_value address, unsigned kind, llvm_value *rows)
{
    const unsigned dwords = memop_dwords((enum memop_kind)kind);
    llvm_value wide = load_unaligned(e, e->l->VectorType(element_of(e, kind), e->slice * dwords), address);
    if (takes_part_of_dword(kind))
        wide = extend_part(e, wide, kind, e->row);
    for (unsigned d = 0; d < dwords; d++)
        rows[d] = every(e, wide, d, dwords);
}

/* The same element in all lanes. */
static void load_equal(struct emit *e, llvm_value address, unsigned kind, llvm_value *rows)
{
    for (unsigned d = 0; d < memop_dwords((enum memop_kind)kind); d++) {
        llvm_value word = load_unaligned(e, element_of(e, kind), emit_at(e, address, d * 4));
        if (takes_part_of_dword(kind))
            word = extend_part(e, word, kind, e->i32);
        rows[d] = emit_splat(e, word);
    }
}

static llvm_value call_intrinsic(struct emit *e, const char *name, llvm_type *types, unsigned count,
                                 llvm_value *arguments, unsigned argument_count)
{
    const struct llvm *l = e->l;
    const unsigned id = l->LookupIntrinsicID(name, strlen(name));
    llvm_value function = l->GetIntrinsicDeclaration(e->module, id, types, count);
    return l->BuildCall2(e->b, l->GlobalGetValueType(function), function, arguments, argument_count, "");
}

/* The active lanes' elements of a dword or more, of which each is a dword after the one before. */
static void load_steps(struct emit *e, const struct slice *s, llvm_value address, unsigned dwords,
                       llvm_value *rows)
{
    const struct llvm *l = e->l;
    llvm_type types[] = {e->row, e->ptr};
    for (unsigned d = 0; d < dwords; d++) {
        llvm_value arguments[] = {emit_at(e, address, d * 4), active(e, s), l->ConstNull(e->row)};
        rows[d] = call_intrinsic(e, "llvm.masked.load", types, 2, arguments, 3);
    }
}

static llvm_value gather_dword(struct emit *e, llvm_type element, llvm_value addresses, llvm_value lanes)
{
    const struct llvm *l = e->l;
    llvm_type types[] = {l->VectorType(element, e->slice), l->VectorType(e->ptr, e->slice)};
    llvm_value arguments[] = {addresses, lanes, l->ConstNull(types[0])};
    return call_intrinsic(e, "llvm.masked.gather", types, 2, arguments, 3);
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
        llvm_value value = load_unaligned(e, quad, at);
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

/* One way to read, and the block that it ends with. */
struct read_way {
    llvm_block end;
    llvm_value rows[4];
};

static void merge(struct emit *e, struct read_way *ways, unsigned count, unsigned dwords, llvm_value *rows)
{
    for (unsigned d = 0; d < dwords; d++) {
        rows[d] = e->l->BuildPhi(e->b, e->row, "");
        for (unsigned i = 0; i < count; i++)
            e->l->AddIncoming(rows[d], &ways[i].rows[d], &ways[i].end, 1);
    }
}

/* A read whose result nobody looks at may fault all the same. */
static void keep(struct emit *e, llvm_value *rows, unsigned dwords)
{
    for (unsigned d = 0; d < dwords; d++)
        call_intrinsic(e, "llvm.fake.use", NULL, 0, &rows[d], 1);
}

/* The present block ends with way `i` of reading, and `done` follows. */
static void end_way(struct emit *e, struct read_way *way, llvm_block done)
{
    way->end = e->l->GetInsertBlock(e->b);
    e->l->BuildBr(e->b, done);
}

/* ---- LDS ---- */

/*
 * What is known of a row of addresses, which is asked again for each instruction that adds another offset.
 */
static const struct shape *shape_of(struct emit *e, struct slice *s, llvm_value row, unsigned bytes)
{
    const struct llvm *l = e->l;
    for (unsigned i = 0; i < s->shapes; i++)
        if (s->shape[i].row == row && s->shape[i].bytes == bytes)
            return &s->shape[i];
    if (s->shapes == SHAPES_MAX)
        s->shapes = 0;
    struct shape *shape = &s->shape[s->shapes++];
    llvm_value first = first_lane(e, row);
    llvm_value steps = l->BuildAdd(e->b, emit_splat(e, first), row_of_constants(e, 0, bytes), "");
    *shape = (struct shape){
        .row = row,
        .bytes = bytes,
        .first = l->BuildZExt(e->b, first, e->i64, ""),
        .dense = holds(e, s, l->BuildICmp(e->b, LLVM_EQ, row, steps, "")),
        .equal = holds(e, s, l->BuildICmp(e->b, LLVM_EQ, row, emit_splat(e, first), "")),
    };
    return shape;
}

/* Whether so many bytes at an offset from the first lane's address are the workgroup's. */
static llvm_value is_inside(struct emit *e, llvm_value place, unsigned bytes)
{
    llvm_value end = e->l->BuildAdd(e->b, place, emit_i64(e, bytes), "");
    llvm_value limit = e->l->BuildZExt(e->b, e->lds_bytes, e->i64, "");
    return e->l->BuildICmp(e->b, LLVM_ULE, end, limit, "");
}

/* Lanes out of range read zero. */
static void read_lds(struct emit *e, struct slice *s, llvm_value lane_address, uint32_t offset, unsigned kind,
                     llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned dwords = memop_dwords((enum memop_kind)kind), bytes = memop_bytes((enum memop_kind)kind);
    const struct shape *shape = shape_of(e, s, lane_address, bytes);
    llvm_block dense = emit_block(e), other = emit_block(e), equal = emit_block(e), any = emit_block(e),
               done = emit_block(e);
    struct read_way way[3];
    llvm_value place = l->BuildAdd(e->b, shape->first, emit_i64(e, offset), "");
    llvm_value address = l->BuildGEP2(e->b, e->i8, e->lds, &place, 1, "");
    l->BuildCondBr(e->b, and_(e, shape->dense, is_inside(e, place, bytes * e->slice)), dense, other);
    emit_goto(e, dense);
    load_dense(e, address, kind, way[0].rows);
    end_way(e, &way[0], done);

    emit_goto(e, other);
    l->BuildCondBr(e->b, and_(e, shape->equal, is_inside(e, place, bytes)), equal, any);
    emit_goto(e, equal);
    load_equal(e, address, kind, way[1].rows);
    end_way(e, &way[1], done);

    emit_goto(e, any);
    llvm_value at = l->BuildAdd(e->b, lane_address, row_of_constants(e, offset, 0), "");
    /* a + bytes <= allocated, without wrapping */
    llvm_value limit[] = {e->lds_bytes, emit_i32(e, bytes - 1)};
    llvm_value end = call_intrinsic(e, "llvm.usub.sat", &e->i32, 1, limit, 2);
    llvm_value inside = l->BuildICmp(e->b, LLVM_ULT, at, emit_splat(e, end), "");
    llvm_value lanes = and_(e, inside, active(e, s));
    for (unsigned d = 0; d < dwords; d++) {
        llvm_value index = l->BuildZExt(e->b, l->BuildAdd(e->b, at, row_of_constants(e, d * 4, 0), ""),
                                        l->VectorType(e->i64, e->slice), "");
        llvm_value addresses = l->BuildGEP2(e->b, e->i8, e->lds, &index, 1, "");
        way[2].rows[d] = gather_dword(e, e->i32, addresses, lanes);
    }
    if (takes_part_of_dword(kind)) {
        llvm_type parts = l->VectorType(element_of(e, kind), e->slice);
        way[2].rows[0] = extend_part(e, l->BuildTrunc(e->b, way[2].rows[0], parts, ""), kind, e->row);
    }
    end_way(e, &way[2], done);
    emit_goto(e, done);
    merge(e, way, 3, dwords, rows);
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
    const uint32_t ahead = dwords == 4 ? 2048 : 4096;
    for (uint32_t at = 0; at < span; at += LINE) {
        llvm_value arguments[] = {emit_at(e, address, ahead + at), emit_i32(e, READ), emit_i32(e, KEEP),
                                  emit_i32(e, DATA)};
        call_intrinsic(e, "llvm.prefetch", &e->ptr, 1, arguments, 4);
    }
}

/* Two rows of dwords as one of addresses. */
static llvm_value join(struct emit *e, llvm_value low, llvm_value high, llvm_type wide, llvm_value shift)
{
    const struct llvm *l = e->l;
    llvm_value address = l->BuildZExt(e->b, low, wide, "");
    if (!high)
        return address;
    high = l->BuildShl(e->b, l->BuildZExt(e->b, high, wide, ""), shift, "");
    return l->BuildOr(e->b, address, high, "");
}

/* Parts of the dwords that they are in; one that is in two dwords is bad. */
static llvm_value gather_parts(struct emit *e, llvm_value addresses, llvm_value lanes, unsigned kind,
                               llvm_value *bad)
{
    const struct llvm *l = e->l;
    llvm_type pointers = l->VectorType(e->ptr, e->slice);
    llvm_value dword = l->BuildAnd(e->b, addresses, splat64(e, emit_i64(e, ~UINT64_C(3))), "");
    llvm_value place = l->BuildAnd(e->b, addresses, splat64(e, emit_i64(e, 3)), "");
    if (memop_bytes((enum memop_kind)kind) == 2)
        *bad = l->BuildOr(e->b, *bad, l->BuildICmp(e->b, LLVM_EQ, place, splat64(e, emit_i64(e, 3)), ""), "");
    llvm_value row = gather_dword(e, e->i32, l->BuildIntToPtr(e->b, dword, pointers, ""), lanes);
    llvm_value shift =
        l->BuildTrunc(e->b, l->BuildShl(e->b, place, splat64(e, emit_i64(e, 3)), ""), e->row, "");
    row = l->BuildLShr(e->b, row, shift, "");
    return extend_part(e, l->BuildTrunc(e->b, row, l->VectorType(element_of(e, kind), e->slice), ""), kind,
                       e->row);
}

static void read_memory(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low,
                        llvm_value high, unsigned kind, llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned dwords = memop_dwords((enum memop_kind)kind), bytes = memop_bytes((enum memop_kind)kind);
    const bool part = takes_part_of_dword(kind);
    const uint32_t span = bytes * e->slice;
    llvm_type wide = l->VectorType(e->i64, e->slice), pointers = l->VectorType(e->ptr, e->slice);
    llvm_block dense = emit_block(e), other = emit_block(e), equal = emit_block(e), any = emit_block(e),
               done = emit_block(e);
    llvm_value base = emit_i64(e, op->x->mem.offset);
    if (op->base)
        base = l->BuildAdd(e->b, base, op->base, "");
    /* From the first lane's address on, without a carry from 32 bits, it is all the GPU's. */
    llvm_value first = first_lane(e, low), first_high = high ? first_lane(e, high) : NULL;
    llvm_value start = l->BuildAdd(e->b, join(e, first, first_high, e->i64, emit_i64(e, 32)), base, "");
    llvm_value last = l->BuildAdd(e->b, start, emit_i64(e, span - 1), "");
    llvm_value far = l->BuildOr(e->b, outside(e, start, e->arena, e->arena_mask),
                                outside(e, last, e->arena, e->arena_mask), "");
    llvm_value near = and_(e, l->BuildICmp(e->b, LLVM_EQ, far, emit_i64(e, 0), ""),
                           l->BuildICmp(e->b, LLVM_ULT, first, emit_i32(e, 0u - span), ""));
    if (high)
        near = and_(e, near, holds(e, s, l->BuildICmp(e->b, LLVM_EQ, high, emit_splat(e, first_high), "")));
    llvm_value address = l->BuildIntToPtr(e->b, start, e->ptr, "");
    llvm_value delta = l->BuildSub(e->b, low, emit_splat(e, first), "");
    llvm_value is_dense =
        and_(e, near, holds(e, s, l->BuildICmp(e->b, LLVM_EQ, delta, row_of_constants(e, 0, bytes), "")));
    if (bytes != 4)
        is_dense = and_(e, is_dense, l->BuildICmp(e->b, LLVM_EQ, s->exec, l->ConstAllOnes(e->bits), ""));
    emit_access(e, op->x);
    struct read_way way[4];
    unsigned ways = 0;
    l->BuildCondBr(e->b, is_dense, dense, other);
    emit_goto(e, dense);
    fetch_ahead(e, address, span, dwords);
    if (bytes == 4)
        load_steps(e, s, address, dwords, way[ways].rows);
    else
        load_dense(e, address, kind, way[ways].rows);
    end_way(e, &way[ways++], done);

    emit_goto(e, other);
    if (dwords > 1) { /* as compilers merge loads of neighbours */
        llvm_block steps = emit_block(e), rest = emit_block(e);
        llvm_value is_steps =
            and_(e, near, holds(e, s, l->BuildICmp(e->b, LLVM_EQ, delta, row_of_constants(e, 0, 4), "")));
        l->BuildCondBr(e->b, is_steps, steps, rest);
        emit_goto(e, steps);
        load_steps(e, s, address, dwords, way[ways].rows);
        end_way(e, &way[ways++], done);
        emit_goto(e, rest);
    }
    llvm_value is_equal =
        and_(e, near, holds(e, s, l->BuildICmp(e->b, LLVM_EQ, delta, l->ConstNull(e->row), "")));
    l->BuildCondBr(e->b, is_equal, equal, any);
    emit_goto(e, equal);
    load_equal(e, address, kind, way[ways].rows);
    end_way(e, &way[ways++], done);

    emit_goto(e, any);
    llvm_value addresses =
        l->BuildAdd(e->b, join(e, low, high, wide, splat64(e, emit_i64(e, 32))), splat64(e, base), "");
    llvm_value beyond =
        l->BuildICmp(e->b, LLVM_NE, outside(e, addresses, splat64(e, e->arena), splat64(e, e->arena_mask)),
                     l->ConstNull(wide), "");
    llvm_value lanes = and_(e, active(e, s), l->BuildNot(e->b, beyond, ""));
    if (part)
        way[ways].rows[0] = gather_parts(e, addresses, lanes, kind, &beyond);
    else
        load_gather(e, l->BuildIntToPtr(e->b, addresses, pointers, ""), lanes, dwords, way[ways].rows);
    llvm_value bad = l->BuildBitCast(e->b, beyond, e->bits, "");
    end_way(e, &way[ways++], done);

    emit_goto(e, done);
    merge(e, way, ways, dwords, rows);
    llvm_value is_bad = l->BuildPhi(e->b, e->bits, "");
    for (unsigned i = 0; i < ways; i++) {
        llvm_value none = l->ConstNull(e->bits);
        l->AddIncoming(is_bad, i + 1 == ways ? &bad : &none, &way[i].end, 1);
    }
    s->bad = s->bad ? l->BuildOr(e->b, s->bad, is_bad, "") : is_bad;
    keep(e, rows, dwords);
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
