/* SPDX-License-Identifier: MIT */
/*
 * What noted values are, as scalars; see affine.h.  Where a value could be other than first + lane * step,
 * what has to be zero for it not to be is added to `wrong`.
 *
 * Lanes' values lie between the first and the last one's where neither the step nor the last value leaves
 * its range: then so much is known of all of them.
 */
#include "jit/affine.h"

#include <assert.h>

#include "jit/affine_node.h"
#include "jit/emit.h"

static llvm_type type_of(const struct emit *e, const struct affine_node *n)
{
    return n->wide ? e->i64 : e->i32;
}

static llvm_value zero_extend(const struct emit *e, llvm_value value)
{
    return e->l->TypeOf(value) == e->i64 ? value : e->l->BuildZExt(e->b, value, e->i64, "");
}

static llvm_value sign_extend(const struct emit *e, llvm_value value)
{
    return e->l->BuildSExt(e->b, value, e->i64, "");
}

static bool is_none(const struct emit *e, llvm_value value)
{
    return value == e->l->ConstNull(e->l->TypeOf(value));
}

/* Notes what has to be zero. */
static void need_zero(const struct emit *e, struct affine_node *n, llvm_value value)
{
    if (!value || is_none(e, value))
        return;
    value = zero_extend(e, value);
    n->wrong = n->wrong ? e->l->BuildOr(e->b, n->wrong, value, "") : value;
}

static llvm_value last_of(const struct emit *e, llvm_value first, llvm_value step)
{
    llvm_value lanes = e->l->ConstInt(e->l->TypeOf(step), (emit_turns(e) ? e->slice : WAVE_LANES) - 1, 0);
    return e->l->BuildAdd(e->b, first, e->l->BuildMul(e->b, step, lanes, ""), "");
}

static bool is_uniform(const struct emit *e, const struct affine_node *n)
{
    return is_none(e, n->step);
}

/* The first and last of 32 bits as 64, which all lanes' values lie between when upper bits of the last are 0.
 */
static llvm_value unsigned_last(const struct emit *e, const struct affine_node *a)
{
    return last_of(e, zero_extend(e, a->first), sign_extend(e, a->step));
}

static llvm_value upper(const struct emit *e, llvm_value value, unsigned bits)
{
    return e->l->BuildLShr(e->b, value, e->l->ConstInt(e->l->TypeOf(value), bits, 0), "");
}

/* ---- values ---- */

/* Whether a row is other than so in some lane, as an i1. */
static llvm_value row_differs(struct emit *e, llvm_value row, const struct affine_node *n)
{
    const struct llvm *l = e->l;
    llvm_value lanes[16], differs = NULL, step = emit_splat(e, n->step);
    for (unsigned i = 0; i < e->slice; i++)
        lanes[i] = emit_i32(e, i);
    llvm_value want = l->BuildAdd(e->b, emit_splat(e, n->first),
                                  l->BuildMul(e->b, step, l->ConstVector(lanes, e->slice), ""), "");
    llvm_value more = l->BuildMul(e->b, step, emit_splat(e, emit_i32(e, e->slice)), "");
    for (unsigned at = 0; at < WAVE_LANES; at += e->slice) {
        llvm_value have = emit_load(e, e->row, row, at * 4);
        e->l->SetAlignment(have, e->slice * 4);
        have = l->BuildXor(e->b, have, want, "");
        differs = differs ? l->BuildOr(e->b, differs, have, "") : have;
        want = l->BuildAdd(e->b, want, more, "");
    }
    if (e->slice == 8) { /* AVX2 looks at all bits of a vector at once */
        llvm_type whole = l->IntTypeInContext(e->context, 256);
        return l->BuildICmp(e->b, LLVM_NE, l->BuildBitCast(e->b, differs, whole, ""), l->ConstNull(whole),
                            "");
    }
    differs = l->BuildICmp(e->b, LLVM_NE, differs, l->ConstNull(e->row), "");
    differs = l->BuildBitCast(e->b, differs, e->bits, "");
    return l->BuildICmp(e->b, LLVM_NE, differs, l->ConstNull(e->bits), "");
}

/* The work-item ids of a wave that begins, which mostly count up and need no look; else they are compared
 * with such. */
static llvm_value ids_differ(struct emit *e, llvm_value row, const struct affine_node *n)
{
    const struct llvm *l = e->l;
    llvm_block known = l->GetInsertBlock(e->b), look = emit_block(e), done = emit_block(e);
    llvm_value counts = emit_load(e, e->i8, e->w, offsetof(struct wave, counts_up));
    counts = l->BuildICmp(e->b, LLVM_NE, counts, l->ConstNull(e->i8), "");
    counts = l->BuildAnd(e->b, counts, e->begin.is, "");
    l->SetMetadata(l->BuildCondBr(e->b, l->BuildNot(e->b, counts, ""), look, done), e->md_prof, e->unlikely);
    emit_goto(e, look);
    llvm_value differs[] = {l->ConstNull(e->i1), row_differs(e, row, n)};
    l->BuildBr(e->b, done);
    emit_goto(e, done);
    llvm_value all = l->BuildPhi(e->b, e->i1, "");
    llvm_block from[] = {known, look};
    l->AddIncoming(all, differs, from, 2);
    return all;
}

static void find_row(struct emit *e, struct affine_node *n)
{
    const struct llvm *l = e->l;
    const bool ids = n->number == 0 && begin_has_ids(e);
    llvm_value row = emit_at(e, e->v, (int64_t)(n->number * sizeof(wave_row)));
    n->first = emit_load(e, e->i32, row, 0);
    n->step = ids ? emit_i32(e, 1) : l->BuildSub(e->b, emit_load(e, e->i32, row, 4), n->first, "");
    need_zero(e, n, l->BuildZExt(e->b, ids ? ids_differ(e, row, n) : row_differs(e, row, n), e->i64, ""));
}

static void find_scalar(const struct emit *e, struct affine_node *n)
{
    const struct llvm *l = e->l;
    n->first = n->scalar[0];
    if (n->scalar[1])
        n->first = l->BuildOr(e->b, zero_extend(e, n->first),
                              l->BuildShl(e->b, zero_extend(e, n->scalar[1]), emit_i64(e, 32), ""), "");
    n->step = l->ConstNull(type_of(e, n));
}

static void find_product(const struct emit *e, struct affine_node *n, const struct affine_node *a,
                         const struct affine_node *b)
{
    const struct llvm *l = e->l;
    n->first = l->BuildMul(e->b, a->first, b->first, "");
    n->step = l->ConstNull(type_of(e, n));
    if (!is_uniform(e, a))
        n->step = l->BuildMul(e->b, a->step, b->first, "");
    if (!is_uniform(e, b))
        n->step = l->BuildAdd(e->b, n->step, l->BuildMul(e->b, b->step, a->first, ""), "");
    if (!is_uniform(e, a) && !is_uniform(e, b))
        need_zero(e, n, l->BuildMul(e->b, a->step, b->step, ""));
}

static void find_shifted(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    llvm_value by = e->l->ConstInt(type_of(e, n), n->number, 0);
    n->first = e->l->BuildShl(e->b, a->first, by, "");
    n->step = is_uniform(e, a) ? a->step : e->l->BuildShl(e->b, a->step, by, "");
}

/* A shift to the right of which nothing is left that differs. */
static void find_uniform(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    const struct llvm *l = e->l;
    const bool is_signed = n->kind == AFFINE_ASHR;
    llvm_value by = emit_i32(e, n->number);
    n->first = is_signed ? l->BuildAShr(e->b, a->first, by, "") : l->BuildLShr(e->b, a->first, by, "");
    n->step = l->ConstNull(e->i32);
    if (is_uniform(e, a))
        return;
    by = emit_i64(e, n->number);
    llvm_value first = is_signed ? sign_extend(e, a->first) : zero_extend(e, a->first);
    llvm_value last = last_of(e, first, sign_extend(e, a->step));
    need_zero(e, n,
              l->BuildXor(e->b, l->BuildAShr(e->b, first, by, ""), l->BuildAShr(e->b, last, by, ""), ""));
}

/* Bits that lanes may have that the first has not, of 32; notes what has to be zero for that to be known. */
static llvm_value differing(struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    const struct llvm *l = e->l;
    if (is_uniform(e, a))
        return emit_i64(e, 0);
    llvm_value last = unsigned_last(e, a);
    need_zero(e, n, upper(e, last, 32));
    llvm_value bits = l->BuildXor(e->b, zero_extend(e, a->first), last, "");
    bits = l->BuildAnd(e->b, bits, emit_i64(e, UINT32_MAX), "");
    llvm_type types[] = {e->i64, e->i1};
    llvm_value arguments[] = {bits, l->ConstNull(e->i1)};
    llvm_value zeros = l->BuildCall2(e->b, l->FunctionType(e->i64, types, 2, 0), e->ctlz, arguments, 2, "");
    zeros = l->BuildSub(e->b, zeros, emit_i64(e, 32), "");
    return l->BuildLShr(e->b, emit_i64(e, UINT32_MAX), zeros, "");
}

static void find_masked(struct emit *e, struct affine_node *n, const struct affine_node *a,
                        const struct affine_node *b)
{
    const struct llvm *l = e->l;
    llvm_value bits = differing(e, n, a);
    need_zero(e, n, b->step);
    need_zero(e, n, l->BuildAnd(e->b, bits, l->BuildNot(e->b, zero_extend(e, b->first), ""), ""));
    n->first = l->BuildAnd(e->b, a->first, b->first, "");
    n->step = a->step;
}

static void find_or(struct emit *e, struct affine_node *n, const struct affine_node *a,
                    const struct affine_node *b)
{
    const struct llvm *l = e->l;
    llvm_value x = l->BuildOr(e->b, differing(e, n, a), zero_extend(e, a->first), "");
    llvm_value y = l->BuildOr(e->b, differing(e, n, b), zero_extend(e, b->first), "");
    need_zero(e, n, l->BuildAnd(e->b, x, y, ""));
    n->first = l->BuildOr(e->b, a->first, b->first, "");
    n->step = l->BuildAdd(e->b, a->step, b->step, "");
}

static void find_unsigned(const struct emit *e, struct affine_node *n, const struct affine_node *a,
                          unsigned bits)
{
    if (!is_uniform(e, a) || bits < 32)
        need_zero(e, n, upper(e, unsigned_last(e, a), bits));
    if (bits < 32)
        need_zero(e, n, upper(e, a->first, bits));
    n->first = n->wide ? zero_extend(e, a->first) : a->first;
    n->step = n->wide ? sign_extend(e, a->step) : a->step;
}

static void find_signed(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    n->first = sign_extend(e, a->first);
    n->step = sign_extend(e, a->step);
    if (is_uniform(e, a))
        return;
    llvm_value last = last_of(e, n->first, n->step);
    llvm_value same = sign_extend(e, e->l->BuildTrunc(e->b, last, e->i32, ""));
    need_zero(e, n, e->l->BuildXor(e->b, last, same, ""));
}

static void find_joined(const struct emit *e, struct affine_node *n, const struct affine_node *a,
                        const struct affine_node *b)
{
    find_unsigned(e, n, a, 32);
    need_zero(e, n, b->step);
    llvm_value high = e->l->BuildShl(e->b, zero_extend(e, b->first), emit_i64(e, 32), "");
    n->first = e->l->BuildOr(e->b, n->first, high, "");
}

static void find_high(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    const struct llvm *l = e->l;
    n->first = l->BuildTrunc(e->b, upper(e, a->first, 32), e->i32, "");
    n->step = l->ConstNull(e->i32);
    if (is_uniform(e, a))
        return;
    llvm_value whole = sign_extend(e, l->BuildTrunc(e->b, a->step, e->i32, ""));
    need_zero(e, n, l->BuildXor(e->b, a->step, whole, ""));
    llvm_value differs = l->BuildXor(e->b, a->first, last_of(e, a->first, a->step), "");
    need_zero(e, n, upper(e, differs, 32));
}

static void find(struct emit *e, struct affine_node *n);

static struct affine_node *found(struct emit *e, struct affine_node *n, unsigned operand)
{
    struct affine_node *o = &e->affine.node[operand];
    find(e, o);
    need_zero(e, n, o->wrong);
    return o;
}

static void find(struct emit *e, struct affine_node *n)
{
    const struct llvm *l = e->l;
    const struct affine_node *a = NULL, *b = NULL;
    if (n->first)
        return;
    assert(n->kind != AFFINE_PAIR); /* a loop knows what its are */
    if (n->kind > AFFINE_SCALAR)
        a = found(e, n, n->a);
    switch ((enum affine_kind)n->kind) {
    case AFFINE_ADD:
    case AFFINE_SUB:
    case AFFINE_MUL:
    case AFFINE_AND:
    case AFFINE_OR:
    case AFFINE_JOIN:
        b = found(e, n, n->b);
        break;
    default:
        break;
    }
    switch ((enum affine_kind)n->kind) {
    case AFFINE_ROW:
        find_row(e, n);
        break;
    case AFFINE_PAIR:
        break;
    case AFFINE_SCALAR:
        find_scalar(e, n);
        break;
    case AFFINE_ADD:
        n->first = l->BuildAdd(e->b, a->first, b->first, "");
        n->step = is_uniform(e, a)   ? b->step
                  : is_uniform(e, b) ? a->step
                                     : l->BuildAdd(e->b, a->step, b->step, "");
        break;
    case AFFINE_SUB:
        n->first = l->BuildSub(e->b, a->first, b->first, "");
        n->step = is_uniform(e, b) ? a->step : l->BuildSub(e->b, a->step, b->step, "");
        break;
    case AFFINE_MUL:
        find_product(e, n, a, b);
        break;
    case AFFINE_SHL:
        find_shifted(e, n, a);
        break;
    case AFFINE_LSHR:
    case AFFINE_ASHR:
        find_uniform(e, n, a);
        break;
    case AFFINE_FITS:
        find_unsigned(e, n, a, n->number);
        break;
    case AFFINE_AND:
        find_masked(e, n, a, b);
        break;
    case AFFINE_OR:
        find_or(e, n, a, b);
        break;
    case AFFINE_ZEXT:
        find_unsigned(e, n, a, 32);
        break;
    case AFFINE_SEXT:
        find_signed(e, n, a);
        break;
    case AFFINE_JOIN:
        find_joined(e, n, a, b);
        break;
    case AFFINE_LOW:
        n->first = l->BuildTrunc(e->b, a->first, e->i32, "");
        n->step = l->BuildTrunc(e->b, a->step, e->i32, "");
        break;
    case AFFINE_HIGH:
        find_high(e, n, a);
        break;
    }
}

struct affine_place affine_find(struct emit *e, unsigned place)
{
    struct affine_node *n = &e->affine.node[place];
    find(e, n);
    return (struct affine_place){n->first, n->step, n->wrong};
}
