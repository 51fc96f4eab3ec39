/* SPDX-License-Identifier: MIT */
/* See places.h. */
#include "jit/places.h"

#include <string.h>

#include "jit/guess.h"

enum memop_kind places_kind(const struct xinst *x)
{
    const enum memop_kind kind = (enum memop_kind)memop_of(x->isa->op)->kind;
    switch (kind) {
    case MEMOP_B8_D16:
    case MEMOP_B8_D16_HI:
        return MEMOP_B8;
    case MEMOP_I8_D16:
    case MEMOP_I8_D16_HI:
        return MEMOP_I8;
    case MEMOP_B16_D16:
    case MEMOP_B16_D16_HI:
        return MEMOP_B16;
    default:
        return kind;
    }
}

bool places_masks_parts(const struct emit *e)
{
    return e->slice == 16; /* with AVX-512 */
}

bool places_is_part(unsigned kind)
{
    return kind <= MEMOP_I16;
}

llvm_value places_row(struct emit *e, uint32_t first, uint32_t step)
{
    llvm_value lanes[16];
    for (unsigned i = 0; i < e->slice; i++)
        lanes[i] = emit_i32(e, first + i * step);
    return e->l->ConstVector(lanes, e->slice);
}

llvm_value places_first(struct emit *e, llvm_value row)
{
    return e->l->BuildExtractElement(e->b, row, emit_i32(e, 0), "");
}

llvm_value places_and(struct emit *e, llvm_value a, llvm_value b)
{
    return e->l->BuildAnd(e->b, a, b, "");
}

llvm_value places_hold(struct emit *e, const struct slice *s, llvm_value lanes)
{
    return lanes_all(e, e->l->BuildOr(e->b, lanes_of(e, lanes), e->l->BuildNot(e->b, s->exec, ""), ""));
}

llvm_value places_active(struct emit *e, const struct slice *s)
{
    return lanes_vector(e, s->exec);
}

llvm_type places_element(struct emit *e, unsigned kind)
{
    return places_is_part(kind) ? e->l->IntTypeInContext(e->context, memop_bytes((enum memop_kind)kind) * 8)
                                : e->i32;
}

llvm_value emit_intrinsic(struct emit *e, const char *name, llvm_type *types, unsigned count,
                          llvm_value *arguments, unsigned argument_count)
{
    const struct llvm *l = e->l;
    const unsigned id = l->LookupIntrinsicID(name, strlen(name));
    llvm_value function = l->GetIntrinsicDeclaration(e->module, id, types, count);
    return l->BuildCall2(e->b, l->GlobalGetValueType(function), function, arguments, argument_count, "");
}

llvm_value places_join(struct emit *e, llvm_value a, llvm_value b, unsigned lanes)
{
    llvm_value index[64];
    for (unsigned i = 0; i < 2 * lanes; i++)
        index[i] = emit_i32(e, i);
    return e->l->BuildShuffleVector(e->b, a, b, e->l->ConstVector(index, 2 * lanes), "");
}

llvm_value places_concat(struct emit *e, const llvm_value *rows, unsigned count)
{
    llvm_value all = places_join(e, rows[0], rows[1], e->slice);
    if (count == 2)
        return all;
    llvm_value last = count > 3 ? rows[3] : e->l->GetPoison(e->row);
    return places_join(e, all, places_join(e, rows[2], last, e->slice), 2 * e->slice);
}

llvm_value places_line(struct emit *e, llvm_value all, unsigned dwords, unsigned at, unsigned rows)
{
    llvm_value index[16];
    for (unsigned i = 0; i < e->slice; i++) {
        const unsigned dword = at * e->slice + i;
        index[i] = emit_i32(e, (rows > 1 ? dword % dwords * e->slice : 0) + dword / dwords);
    }
    return e->l->BuildShuffleVector(e->b, all, e->l->GetPoison(e->l->TypeOf(all)),
                                    e->l->ConstVector(index, e->slice), "");
}

/* ---- LDS ---- */

const struct shape *places_shape(struct emit *e, struct slice *s, llvm_value row, unsigned bytes)
{
    const struct llvm *l = e->l;
    for (unsigned i = 0; i < s->shapes; i++)
        if (s->shape[i].row == row && s->shape[i].bytes == bytes)
            return &s->shape[i];
    if (s->shapes == SHAPES_MAX)
        s->shapes = 0;
    struct shape *shape = &s->shape[s->shapes++];
    llvm_value first = places_first(e, row);
    llvm_value steps = l->BuildAdd(e->b, emit_splat(e, first), places_row(e, 0, bytes), "");
    *shape = (struct shape){
        .row = row,
        .bytes = bytes,
        .first = l->BuildZExt(e->b, first, e->i64, ""),
        .dense = places_hold(e, s, l->BuildICmp(e->b, LLVM_EQ, row, steps, "")),
        .equal = places_hold(e, s, l->BuildICmp(e->b, LLVM_EQ, row, emit_splat(e, first), "")),
    };
    return shape;
}

unsigned places_likely_ways(const struct emit *e, const struct lane_op *op, unsigned bytes)
{
    uint32_t step;
    if (e->effort >= LIFT_VERSIONS || emit_turns(e) || guess_scatters(e->guess, op->x))
        return PLACES_DENSE | PLACES_EQUAL;
    if (!guess_step(e->guess, op->x, &step))
        return 0;
    return step == bytes ? PLACES_DENSE : step == 0 ? PLACES_EQUAL : 0;
}

llvm_value places_inside(struct emit *e, llvm_value place, unsigned bytes)
{
    llvm_value end = e->l->BuildAdd(e->b, place, emit_i64(e, bytes), "");
    llvm_value limit = e->l->BuildZExt(e->b, e->lds_bytes, e->i64, "");
    return e->l->BuildICmp(e->b, LLVM_ULE, end, limit, "");
}

llvm_value places_in_lds(struct emit *e, llvm_value at, unsigned bytes)
{
    /* a + bytes <= allocated, without wrapping */
    llvm_value limit[] = {e->lds_bytes, emit_i32(e, bytes - 1)};
    llvm_value end = emit_intrinsic(e, "llvm.usub.sat", &e->i32, 1, limit, 2);
    return e->l->BuildICmp(e->b, LLVM_ULT, at, emit_splat(e, end), "");
}

llvm_value places_of_lds(struct emit *e, llvm_value at, unsigned bytes)
{
    llvm_value index = e->l->BuildAdd(e->b, at, places_row(e, bytes, 0), "");
    /* Signed, which is the same for places in LDS: the host adds up 32 bits of that itself. */
    index = e->l->BuildSExt(e->b, index, e->l->VectorType(e->i64, e->slice), "");
    return e->l->BuildGEP2(e->b, e->i8, e->lds, &index, 1, "");
}

/* ---- memory ---- */

/* Whether an address, or which of several, is not of the memory that the GPU may always access. */
static llvm_value outside(struct emit *e, llvm_value address, llvm_value arena, llvm_value mask)
{
    return places_and(e, e->l->BuildXor(e->b, address, arena, ""), mask);
}

llvm_value places_splat64(struct emit *e, llvm_value value)
{
    const struct llvm *l = e->l;
    llvm_type type = l->VectorType(e->i64, e->slice);
    llvm_value one = l->BuildInsertElement(e->b, l->GetPoison(type), value, emit_i32(e, 0), "");
    return l->BuildShuffleVector(e->b, one, l->GetPoison(type), l->ConstNull(e->row), "");
}

/* Two dwords as an address, or two rows of them as a row of addresses. */
static llvm_value join(struct emit *e, llvm_value low, llvm_value high, llvm_type wide, llvm_value shift)
{
    const struct llvm *l = e->l;
    llvm_value address = l->BuildZExt(e->b, low, wide, "");
    if (!high)
        return address;
    high = l->BuildShl(e->b, l->BuildZExt(e->b, high, wide, ""), shift, "");
    return l->BuildOr(e->b, address, high, "");
}

struct memory_places places_memory(struct emit *e, const struct slice *s, const struct lane_op *op,
                                   llvm_value low, llvm_value high, unsigned bytes)
{
    const struct llvm *l = e->l;
    const uint32_t span = bytes * e->slice;
    llvm_value base = emit_i64(e, op->x->mem.offset);
    if (op->base)
        base = l->BuildAdd(e->b, base, op->base, "");
    llvm_value first = places_first(e, low), first_high = high ? places_first(e, high) : NULL;
    llvm_value start = l->BuildAdd(e->b, join(e, first, first_high, e->i64, emit_i64(e, 32)), base, "");
    llvm_value last = l->BuildAdd(e->b, start, emit_i64(e, span - 1), "");
    llvm_value far = l->BuildOr(e->b, outside(e, start, e->arena, e->arena_mask),
                                outside(e, last, e->arena, e->arena_mask), "");
    llvm_value near = places_and(e, l->BuildICmp(e->b, LLVM_EQ, far, emit_i64(e, 0), ""),
                                 l->BuildICmp(e->b, LLVM_ULT, first, emit_i32(e, 0u - span), ""));
    llvm_value together =
        high ? places_hold(e, s, l->BuildICmp(e->b, LLVM_EQ, high, emit_splat(e, first_high), "")) : NULL;
    if (high)
        near = places_and(e, near, together);
    return (struct memory_places){.base = base,
                                  .low = low,
                                  .high = high,
                                  .first = l->BuildIntToPtr(e->b, start, e->ptr, ""),
                                  .near = near,
                                  .delta = l->BuildSub(e->b, low, emit_splat(e, first), ""),
                                  .together = together};
}

llvm_value places_go_by(struct emit *e, const struct slice *s, const struct memory_places *p, unsigned step)
{
    llvm_value lanes = e->l->BuildICmp(e->b, LLVM_EQ, p->delta, places_row(e, 0, step), "");
    return places_and(e, p->near, places_hold(e, s, lanes));
}

llvm_value places_in_window(struct emit *e, const struct memory_places *p, unsigned bytes, llvm_value *window)
{
    const struct llvm *l = e->l;
    *window = p->base;
    if (p->high) {
        llvm_value high = l->BuildZExt(e->b, places_first(e, p->high), e->i64, "");
        *window = l->BuildAdd(e->b, l->BuildShl(e->b, high, emit_i64(e, 32), ""), p->base, "");
    }
    llvm_value last = l->BuildAdd(e->b, *window, emit_i64(e, UINT32_MAX + (uint64_t)bytes - 1), "");
    llvm_value far = l->BuildOr(e->b, outside(e, *window, e->arena, e->arena_mask),
                                outside(e, last, e->arena, e->arena_mask), "");
    llvm_value inside = l->BuildICmp(e->b, LLVM_EQ, far, emit_i64(e, 0), "");
    return p->together ? places_and(e, inside, p->together) : inside;
}

llvm_value places_of_window(struct emit *e, const struct memory_places *p, llvm_value window)
{
    enum { MIDDLE = 1u << 31 }; /* what the host adds is signed */
    const struct llvm *l = e->l;
    llvm_value middle = l->BuildAdd(e->b, window, emit_i64(e, MIDDLE), "");
    llvm_value from = l->BuildXor(e->b, p->low, slice_constant(e, MIDDLE), "");
    from = l->BuildSExt(e->b, from, l->VectorType(e->i64, e->slice), "");
    return l->BuildGEP2(e->b, e->i8, l->BuildIntToPtr(e->b, middle, e->ptr, ""), &from, 1, "");
}

llvm_value places_addresses(struct emit *e, const struct memory_places *p, llvm_value *beyond)
{
    const struct llvm *l = e->l;
    llvm_type wide = l->VectorType(e->i64, e->slice);
    llvm_value addresses =
        l->BuildAdd(e->b, join(e, p->low, p->high, wide, places_splat64(e, emit_i64(e, 32))),
                    places_splat64(e, p->base), "");
    llvm_value far = outside(e, addresses, places_splat64(e, e->arena), places_splat64(e, e->arena_mask));
    *beyond = l->BuildICmp(e->b, LLVM_NE, far, l->ConstNull(wide), "");
    return addresses;
}
