/* SPDX-License-Identifier: MIT */
/* Masks of a slice's lanes; see emit.h. */
#include "jit/emit.h"

static llvm_type vector_of(const struct emit *e)
{
    return e->l->VectorType(e->i1, e->slice);
}

llvm_value lanes_of(struct emit *e, llvm_value vector)
{
    return e->lanes == e->bits ? e->l->BuildBitCast(e->b, vector, e->bits, "")
                               : e->l->BuildSExt(e->b, vector, e->row, "");
}

llvm_value lanes_vector(struct emit *e, llvm_value lanes)
{
    return e->lanes == e->bits ? e->l->BuildBitCast(e->b, lanes, vector_of(e), "")
                               : e->l->BuildICmp(e->b, LLVM_SLT, lanes, e->l->ConstNull(e->row), "");
}

llvm_value lanes_row(struct emit *e, llvm_value lanes)
{
    return e->lanes == e->bits ? e->l->BuildSExt(e->b, lanes_vector(e, lanes), e->row, "") : lanes;
}

llvm_value lanes_take_bits(struct emit *e, llvm_value all, llvm_value shift)
{
    return e->l->BuildTrunc(e->b, e->l->BuildLShr(e->b, all, shift, ""), e->bits, "");
}

/* A row for a slice's bits.  Of them as a vector of i1, LLVM's back end would make one after the other. */
static llvm_value spread(struct emit *e, llvm_value bits)
{
    const struct llvm *l = e->l;
    llvm_value bit[16];
    for (unsigned lane = 0; lane < e->slice; lane++)
        bit[lane] = emit_i32(e, 1u << lane);
    llvm_value own = l->BuildAnd(e->b, emit_splat(e, bits), l->ConstVector(bit, e->slice), "");
    return lanes_of(e, l->BuildICmp(e->b, LLVM_NE, own, l->ConstNull(e->row), ""));
}

llvm_value lanes_take(struct emit *e, llvm_value all, llvm_value shift)
{
    if (e->lanes == e->bits)
        return lanes_take_bits(e, all, shift);
    return spread(e, e->l->BuildTrunc(e->b, e->l->BuildLShr(e->b, all, shift, ""), e->i32, ""));
}

llvm_value lanes_constant(struct emit *e, uint64_t all, llvm_value shift)
{
    return all == 0            ? e->l->ConstNull(e->lanes)
           : all == UINT64_MAX ? e->l->ConstAllOnes(e->lanes)
                               : lanes_take(e, emit_i64(e, all), shift);
}

llvm_value lanes_bits(struct emit *e, llvm_value lanes)
{
    return e->l->BuildZExt(e->b, e->l->BuildBitCast(e->b, lanes_vector(e, lanes), e->bits, ""), e->i64, "");
}

llvm_value lanes_some(struct emit *e, llvm_value lanes)
{
    return e->l->BuildICmp(e->b, LLVM_NE, lanes_bits(e, lanes), emit_i64(e, 0), "");
}

llvm_value lanes_all(struct emit *e, llvm_value lanes)
{
    return e->l->BuildICmp(e->b, LLVM_EQ, lanes_bits(e, lanes), emit_i64(e, (1u << e->slice) - 1), "");
}

llvm_value lanes_put(struct emit *e, llvm_value all, llvm_value lanes, llvm_value shift)
{
    const struct llvm *l = e->l;
    llvm_value here = l->BuildShl(e->b, emit_i64(e, (1u << e->slice) - 1), shift, "");
    llvm_value others = l->BuildAnd(e->b, all, l->BuildNot(e->b, here, ""), "");
    return l->BuildOr(e->b, others, l->BuildShl(e->b, lanes_bits(e, lanes), shift, ""), "");
}
