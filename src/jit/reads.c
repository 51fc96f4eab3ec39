/* SPDX-License-Identifier: MIT */
/*
 * Loads from memory and LDS as a part of stretches.  Within a slice, addresses that are consecutive are one
 * load of the host's, equal ones a load and a splat, those that go on by a dword a load for each dword of
 * the result, and others a gather.  A lane whose address is not the GPU's own memory is bad: handlers redo
 * the stretch, find out whether it may be accessed, and fault as they do; FLAT addresses of LDS and scratch
 * are such.  A host fault in here is redone by them too (exec/workgroup.c), and is theirs then.
 *
 * Reads need the order of instructions among lanes only against writes to the same space, which are in a
 * stretch with them only where they do not meet (even.c).
 */
#include "jit/places.h"
#include "wave/fault.h"

bool reads_is_known(const struct xinst *x)
{
    const struct memop *op = memop_of(x->isa->op);
    const struct isa_inst *inst = x->isa;
    if (inst->format == ISA_SCRATCH)
        return op->action == MEMOP_LOAD && scratch_is_known(x);
    if ((op->action != MEMOP_LOAD && op->action != MEMOP_LOAD2) || inst->lds || inst->gds ||
        inst->dst.kind == ISA_NONE || inst->dst.kind == ISA_SGPR)
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

static llvm_value load_unaligned(struct emit *e, llvm_type type, llvm_value address)
{
    llvm_value value = e->l->BuildLoad2(e->b, type, address, "");
    e->l->SetAlignment(value, 1);
    return value;
}

/* One access, of which LLVM is not to make several: flags and what they guard come in 8 and 16 bytes. */
static llvm_value load_at_once(struct emit *e, llvm_type type, llvm_value address)
{
    llvm_value value = load_unaligned(e, type, address);
    e->l->SetVolatile(value, 1);
    return value;
}

/* Some lanes' elements of a row where the host can, else all of them; `lanes` NULL: all. */
static llvm_value load_row(struct emit *e, llvm_type element, llvm_value address, llvm_value lanes)
{
    llvm_type types[] = {e->l->VectorType(element, e->slice), e->ptr};
    if (!lanes || (element != e->i32 && !places_masks_parts(e)))
        return load_unaligned(e, types[0], address);
    llvm_value arguments[] = {address, lanes, e->l->ConstNull(types[0])};
    return emit_intrinsic(e, "llvm.masked.load", types, 2, arguments, 3);
}

/* Rows of consecutive elements at an address, of some lanes or all. */
void reads_dense(struct emit *e, llvm_value address, unsigned kind, llvm_value lanes, llvm_value *rows)
{
    const unsigned dwords = memop_dwords((enum memop_kind)kind);
    llvm_value lines[4];
    if (dwords == 1) {
        rows[0] = load_row(e, places_element(e, kind), address, lanes);
        if (places_is_part(kind))
            rows[0] = extend_part(e, rows[0], kind, e->row);
        return;
    }
    for (unsigned i = 0; i < dwords; i++) {
        llvm_value line = emit_at(e, address, i * e->slice * 4);
        lines[i] = lanes ? load_row(e, e->i32, line, places_line(e, lanes, dwords, i, 1))
                         : load_at_once(e, e->row, line);
    }
    llvm_value wide = places_concat(e, lines, dwords);
    for (unsigned d = 0; d < dwords; d++)
        rows[d] = every(e, wide, d, dwords);
}

/* The dwords of an element, in as few accesses as its handler does. */
static void load_element(struct emit *e, llvm_value address, unsigned dwords, llvm_value *words)
{
    const struct llvm *l = e->l;
    unsigned have = 0;
    while (have < dwords) {
        const unsigned now = dwords == 4 ? 4 : dwords - have >= 2 ? 2 : 1;
        llvm_value part = load_at_once(e, l->VectorType(e->i32, now), emit_at(e, address, have * 4));
        for (unsigned i = 0; i < now; i++)
            words[have++] = l->BuildExtractElement(e->b, part, emit_i32(e, i), "");
    }
}

/* The same element in all lanes. */
void reads_equal(struct emit *e, llvm_value address, unsigned kind, llvm_value *rows)
{
    llvm_value words[4];
    const unsigned dwords = memop_dwords((enum memop_kind)kind);
    if (places_is_part(kind))
        words[0] = extend_part(e, load_unaligned(e, places_element(e, kind), address), kind, e->i32);
    else
        load_element(e, address, dwords, words);
    for (unsigned d = 0; d < dwords; d++)
        rows[d] = emit_splat(e, words[d]);
}

unsigned reads_steps_of(unsigned kind, unsigned steps[READS_STEPS])
{
    unsigned count = 0;
    if (kind == MEMOP_B16 || kind == MEMOP_I16)
        steps[count++] = 1;
    if (kind > MEMOP_B32)
        steps[count++] = 4;
    if (kind == MEMOP_B128)
        steps[count++] = 8;
    return count;
}

/* Half words of two bytes each. */
static llvm_value load_bytes(struct emit *e, llvm_value address, unsigned kind, llvm_value lanes)
{
    const struct llvm *l = e->l;
    llvm_type byte = l->IntTypeInContext(e->context, 8), half = l->IntTypeInContext(e->context, 16);
    llvm_type halves = l->VectorType(half, e->slice);
    llvm_value low = l->BuildZExt(e->b, load_row(e, byte, address, lanes), halves, "");
    llvm_value high = l->BuildZExt(e->b, load_row(e, byte, emit_at(e, address, 1), lanes), halves, "");
    llvm_value eight[16];
    for (unsigned i = 0; i < e->slice; i++)
        eight[i] = l->ConstInt(half, 8, 0);
    high = l->BuildShl(e->b, high, l->ConstVector(eight, e->slice), "");
    return extend_part(e, l->BuildOr(e->b, low, high, ""), kind, e->row);
}

/* Elements that overlap, as compilers merge loads of neighbours. */
void reads_steps(struct emit *e, llvm_value address, unsigned kind, unsigned step, llvm_value lanes,
                 llvm_value *rows)
{
    if (step == 1) {
        rows[0] = load_bytes(e, address, kind, lanes);
        return;
    }
    const unsigned each = step / 4;
    for (unsigned d = 0; d < memop_dwords((enum memop_kind)kind); d += each)
        reads_dense(e, emit_at(e, address, d * 4), each == 1 ? MEMOP_B32 : MEMOP_B64, lanes, rows + d);
}

static llvm_value gather_dword(struct emit *e, llvm_type element, llvm_value addresses, llvm_value lanes)
{
    const struct llvm *l = e->l;
    llvm_type types[] = {l->VectorType(element, e->slice), l->VectorType(e->ptr, e->slice)};
    llvm_value arguments[] = {addresses, lanes, l->ConstNull(types[0])};
    return emit_intrinsic(e, "llvm.masked.gather", types, 2, arguments, 3);
}

/* Every fourth dword of `a` and `b` by turns: those from `at` on of each four, then those behind `count`. */
static llvm_value zip(struct emit *e, llvm_value a, llvm_value b, unsigned at, unsigned count)
{
    llvm_value index[16];
    for (unsigned i = 0; i < e->slice; i++) {
        const unsigned four = i / 4 * 4, place = i % 4, from = count == 1 ? place % 2 : place / 2;
        index[i] = emit_i32(e, from * e->slice + four + at + (count == 1 ? place / 2 : place % 2));
    }
    return e->l->BuildShuffleVector(e->b, a, b, e->l->ConstVector(index, e->slice), "");
}

/* Elements of 16 bytes, each by one access; inactive lanes read from somewhere harmless. */
static void load_each(struct emit *e, llvm_value addresses, llvm_value lanes, llvm_value *rows)
{
    const struct llvm *l = e->l;
    llvm_value harmless =
        l->BuildInsertElement(e->b, l->GetPoison(l->TypeOf(addresses)), e->w, emit_i32(e, 0), "");
    harmless = l->BuildShuffleVector(e->b, harmless, harmless, l->ConstNull(e->row), "");
    addresses = l->BuildSelect(e->b, lanes, addresses, harmless, "");
    llvm_value one[16], four[4];
    for (unsigned i = 0; i < e->slice; i++)
        one[i] = load_at_once(e, l->VectorType(e->i32, 4),
                              l->BuildExtractElement(e->b, addresses, emit_i32(e, i), ""));
    for (unsigned i = 0; i < 4; i++) { /* each fourth lane's */
        four[i] = places_join(e, one[i], one[i + 4], 4);
        if (e->slice > 8)
            four[i] = places_join(e, four[i], places_join(e, one[i + 8], one[i + 12], 4), 8);
    }
    for (unsigned half = 0; half < 4; half += 2) {
        llvm_value even = zip(e, four[0], four[1], half, 1), odd = zip(e, four[2], four[3], half, 1);
        rows[half] = zip(e, even, odd, 0, 2);
        rows[half + 1] = zip(e, even, odd, 2, 2);
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
    if (dwords >= 2) { /* at once: 8 bytes are not torn */
        llvm_value wide = gather_dword(e, e->i64, addresses, lanes);
        wide = l->BuildBitCast(e->b, wide, l->VectorType(e->i32, e->slice * 2), "");
        rows[0] = every(e, wide, 0, 2);
        rows[1] = every(e, wide, 1, 2);
    }
    if (dwords % 2) {
        llvm_value bytes = emit_i64(e, (dwords - 1) * 4);
        llvm_value last = dwords > 1 ? l->BuildGEP2(e->b, e->i8, addresses, &bytes, 1, "") : addresses;
        rows[dwords - 1] = gather_dword(e, e->i32, last, lanes);
    }
}

void reads_merge(struct emit *e, struct read_way *ways, unsigned count, unsigned dwords, llvm_value *rows)
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
        emit_intrinsic(e, "llvm.fake.use", NULL, 0, &rows[d], 1);
}

/* The present block ends with way `i` of reading, and `done` follows. */
void reads_end_way(struct emit *e, struct read_way *way, llvm_block done)
{
    way->end = e->l->GetInsertBlock(e->b);
    e->l->BuildBr(e->b, done);
}

/* ---- LDS ---- */

/* Lanes out of range read zero. */
static void read_lds(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value lane_address,
                     uint32_t offset, unsigned kind, llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned dwords = memop_dwords((enum memop_kind)kind), bytes = memop_bytes((enum memop_kind)kind);
    const unsigned likely = places_likely_ways(e, op, bytes);
    llvm_block done = emit_block(e);
    struct read_way way[3];
    unsigned ways = 0;
    llvm_value place =
        l->BuildAdd(e->b, places_shape(e, s, lane_address, bytes)->first, emit_i64(e, offset), "");
    llvm_value address = l->BuildGEP2(e->b, e->i8, e->lds, &place, 1, "");
    for (unsigned is = PLACES_DENSE; is <= PLACES_EQUAL; is <<= 1) {
        if (!(likely & is))
            continue;
        const struct shape *shape = places_shape(e, s, lane_address, bytes);
        llvm_block so = emit_block(e), other = emit_block(e);
        llvm_value inside = places_inside(e, place, is == PLACES_DENSE ? bytes * e->slice : bytes);
        l->BuildCondBr(e->b, places_and(e, is == PLACES_DENSE ? shape->dense : shape->equal, inside), so,
                       other);
        emit_goto(e, so);
        if (is == PLACES_DENSE)
            reads_dense(e, address, kind, NULL, way[ways].rows);
        else
            reads_equal(e, address, kind, way[ways].rows);
        reads_end_way(e, &way[ways++], done);
        emit_goto(e, other);
    }
    llvm_value at = l->BuildAdd(e->b, lane_address, places_row(e, offset, 0), "");
    llvm_value lanes = places_and(e, places_in_lds(e, at, bytes), places_active(e, s));
    for (unsigned d = 0; d < dwords; d++)
        way[ways].rows[d] = gather_dword(e, e->i32, places_of_lds(e, at, d * 4), lanes);
    if (places_is_part(kind)) {
        llvm_type parts = l->VectorType(places_element(e, kind), e->slice);
        way[ways].rows[0] = extend_part(e, l->BuildTrunc(e->b, way[ways].rows[0], parts, ""), kind, e->row);
    }
    reads_end_way(e, &way[ways++], done);
    emit_goto(e, done);
    reads_merge(e, way, ways, dwords, rows);
}

/* ---- memory ---- */

/* Parts of the dwords that they are in, and of the next ones. */
static llvm_value gather_parts(struct emit *e, llvm_value addresses, llvm_value lanes, unsigned kind)
{
    const struct llvm *l = e->l;
    llvm_type pointers = l->VectorType(e->ptr, e->slice);
    llvm_value three = places_splat64(e, emit_i64(e, 3));
    llvm_value dword = l->BuildAnd(e->b, addresses, l->BuildNot(e->b, three, ""), "");
    llvm_value place = l->BuildAnd(e->b, addresses, three, "");
    llvm_value row = gather_dword(e, e->i32, l->BuildIntToPtr(e->b, dword, pointers, ""), lanes);
    llvm_value shift = l->BuildTrunc(e->b, l->BuildShl(e->b, place, three, ""), e->row, "");
    row = l->BuildLShr(e->b, row, shift, "");
    if (memop_bytes((enum memop_kind)kind) == 2) {
        llvm_value both = places_and(e, lanes, l->BuildICmp(e->b, LLVM_EQ, place, three, ""));
        llvm_value some = l->BuildBitCast(e->b, both, e->bits, "");
        llvm_block here = l->GetInsertBlock(e->b), more = emit_block(e), on = emit_block(e);
        l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_NE, some, l->ConstNull(e->bits), ""), more, on);
        emit_goto(e, more);
        llvm_value next = l->BuildAdd(e->b, dword, places_splat64(e, emit_i64(e, 4)), "");
        next = gather_dword(e, e->i32, l->BuildIntToPtr(e->b, next, pointers, ""), both);
        llvm_value with = l->BuildOr(e->b, row, l->BuildShl(e->b, next, slice_constant(e, 8), ""), "");
        llvm_block end = l->GetInsertBlock(e->b);
        l->BuildBr(e->b, on);
        emit_goto(e, on);
        llvm_value either = l->BuildPhi(e->b, e->row, "");
        l->AddIncoming(either, &row, &here, 1);
        l->AddIncoming(either, &with, &end, 1);
        row = either;
    }
    return extend_part(e, l->BuildTrunc(e->b, row, l->VectorType(places_element(e, kind), e->slice), ""),
                       kind, e->row);
}

static void read_memory(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low,
                        llvm_value high, unsigned kind, llvm_value *rows)
{
    const struct llvm *l = e->l;
    const unsigned dwords = memop_dwords((enum memop_kind)kind), bytes = memop_bytes((enum memop_kind)kind);
    const bool part = places_is_part(kind);
    llvm_type pointers = l->VectorType(e->ptr, e->slice);
    llvm_block dense = emit_block(e), other = emit_block(e), equal = emit_block(e), done = emit_block(e);
    const struct memory_places places = places_memory(e, s, op, low, high, bytes);
    unsigned step[READS_STEPS];
    const unsigned steps = reads_steps_of(kind, step);
    llvm_value address = places.first, active = places_active(e, s), there = places.near;
    if (part && !places_masks_parts(e)) /* what is beside the active lanes' may not be there */
        there = places_and(e, there, lanes_all(e, s->exec));
    llvm_value is_dense = places_and(e, places_go_by(e, s, &places, bytes), there);
    emit_access(e, op->x);
    struct read_way way[4 + READS_STEPS];
    unsigned ways = 0;
    l->BuildCondBr(e->b, is_dense, dense, other);
    emit_goto(e, dense);
    ahead_of_read(e, s, op->x, address, kind);
    reads_dense(e, address, kind, active, way[ways].rows);
    reads_end_way(e, &way[ways++], done);

    emit_goto(e, other);
    llvm_block unequal = emit_block(e);
    llvm_value is_equal = places_go_by(e, s, &places, 0);
    if (emit_turns(e)) /* where a slice may have no lane, and its address may be anywhere */
        is_equal = places_and(e, is_equal, lanes_some(e, s->exec));
    l->BuildCondBr(e->b, is_equal, equal, unequal);
    emit_goto(e, equal);
    reads_equal(e, address, kind, way[ways].rows);
    reads_end_way(e, &way[ways++], done);

    emit_goto(e, unequal);
    for (unsigned i = 0; i < steps; i++) { /* elements that overlap may be torn */
        llvm_block by = emit_block(e), not_by = emit_block(e);
        l->BuildCondBr(e->b, places_and(e, places_go_by(e, s, &places, step[i]), there), by, not_by);
        emit_goto(e, by);
        reads_steps(e, address, kind, step[i], active, way[ways].rows);
        reads_end_way(e, &way[ways++], done);
        emit_goto(e, not_by);
    }

    if (!part) {
        llvm_block in = emit_block(e), not_in = emit_block(e);
        llvm_value window, is_in = places_in_window(e, &places, bytes, &window);
        l->BuildCondBr(e->b, is_in, in, not_in);
        emit_goto(e, in);
        load_gather(e, places_of_window(e, &places, window), active, dwords, way[ways].rows);
        reads_end_way(e, &way[ways++], done);
        emit_goto(e, not_in);
    }
    llvm_value beyond, addresses = places_addresses(e, &places, &beyond);
    llvm_value lanes = places_and(e, active, l->BuildNot(e->b, beyond, ""));
    if (part)
        way[ways].rows[0] = gather_parts(e, addresses, lanes, kind);
    else
        load_gather(e, l->BuildIntToPtr(e->b, addresses, pointers, ""), lanes, dwords, way[ways].rows);
    llvm_value bad = lanes_of(e, beyond);
    reads_end_way(e, &way[ways++], done);

    emit_goto(e, done);
    reads_merge(e, way, ways, dwords, rows);
    llvm_value is_bad = l->BuildPhi(e->b, e->lanes, "");
    for (unsigned i = 0; i < ways; i++) {
        llvm_value none = l->ConstNull(e->lanes);
        l->AddIncoming(is_bad, i + 1 == ways ? &bad : &none, &way[i].end, 1);
    }
    s->bad = s->bad ? l->BuildOr(e->b, s->bad, is_bad, "") : is_bad;
    keep(e, rows, dwords);
}

/* The half of a row that D16 loads, beside what the other one was. */
static llvm_value with_half(struct emit *e, enum memop_kind kind, llvm_value value, llvm_value old)
{
    const struct llvm *l = e->l;
    const bool high = kind == MEMOP_B8_D16_HI || kind == MEMOP_I8_D16_HI || kind == MEMOP_B16_D16_HI;
    llvm_value low = slice_constant(e, 0xffff);
    if (high)
        return l->BuildOr(e->b, l->BuildAnd(e->b, old, low, ""),
                          l->BuildShl(e->b, value, slice_constant(e, 16), ""), "");
    return l->BuildOr(e->b, l->BuildAnd(e->b, value, low, ""),
                      l->BuildAnd(e->b, old, l->BuildNot(e->b, low, ""), ""), "");
}

bool reads_half(const struct xinst *x)
{
    return memop_is_d16((enum memop_kind)memop_of(x->isa->op)->kind);
}

void reads_emit(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value high,
                llvm_value *rows)
{
    const struct memop *m = memop_of(op->x->isa->op);
    const enum memop_kind kind = places_kind(op->x);
    llvm_value old = rows[0];
    if (even_does(s, op)) {
        even_read(e, s, op, rows);
        if (op->x->isa->format != ISA_DS)
            keep(e, rows, memop_dwords(kind));
    } else if (op->x->isa->format == ISA_SCRATCH) {
        scratch_read(e, s, op, low, rows);
    } else if (op->x->isa->format != ISA_DS) {
        read_memory(e, s, op, low, high, kind, rows);
    } else {
        read_lds(e, s, op, low, (uint32_t)op->x->mem.offset, kind, rows);
        if (m->action == MEMOP_LOAD2)
            read_lds(e, s, op, low, op->x->mem.second, kind, rows + memop_dwords(kind));
    }
    if (reads_half(op->x))
        rows[0] = with_half(e, (enum memop_kind)m->kind, rows[0], old);
}
