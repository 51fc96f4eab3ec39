/* SPDX-License-Identifier: MIT */
/*
 * What noted values are, of all slices at once; see affine.h.  Where a value could be other than first +
 * lane * step, what has to be zero for it not to be is added to `wrong`.
 *
 * Lanes' values lie between the first and the last one's where neither the step nor the last value leaves
 * its range: then so much is known of all of them.
 */
#include "jit/affine.h"

#include <assert.h>

#include "jit/affine_node.h"
#include "jit/emit.h"

/* ---- values of slices ---- */

static unsigned slices_of(const struct emit *e)
{
    return WAVE_LANES / e->slice;
}

static llvm_type each_type(const struct emit *e, llvm_type type)
{
    return e->l->VectorType(type, slices_of(e));
}

bool affine_is_each(const struct emit *e, llvm_value value)
{
    llvm_type type = e->l->TypeOf(value);
    return type != e->i32 && type != e->i64;
}

llvm_value affine_each(const struct emit *e, llvm_value value)
{
    const struct llvm *l = e->l;
    if (affine_is_each(e, value))
        return value;
    llvm_value none = l->GetPoison(each_type(e, l->TypeOf(value)));
    llvm_value one = l->BuildInsertElement(e->b, none, value, emit_i32(e, 0), "");
    return l->BuildShuffleVector(e->b, one, none, l->ConstNull(each_type(e, e->i32)), "");
}

llvm_value affine_make(const struct emit *e, affine_build *build, llvm_value x, llvm_value y)
{
    const bool each = affine_is_each(e, x) || affine_is_each(e, y);
    return each ? build(e->b, affine_each(e, x), affine_each(e, y), "") : build(e->b, x, y, "");
}

static bool is_wide(const struct emit *e, llvm_value value)
{
    llvm_type type = e->l->TypeOf(value);
    return type == e->i64 || type == each_type(e, e->i64);
}

static llvm_type as_wide(const struct emit *e, llvm_value value)
{
    return affine_is_each(e, value) ? each_type(e, e->i64) : e->i64;
}

static llvm_value zero_extend(const struct emit *e, llvm_value value)
{
    return is_wide(e, value) ? value : e->l->BuildZExt(e->b, value, as_wide(e, value), "");
}

static llvm_value sign_extend(const struct emit *e, llvm_value value)
{
    return e->l->BuildSExt(e->b, value, as_wide(e, value), "");
}

static llvm_value low_half(const struct emit *e, llvm_value value)
{
    return e->l->BuildTrunc(e->b, value, affine_is_each(e, value) ? each_type(e, e->i32) : e->i32, "");
}

static bool is_none(const struct emit *e, llvm_value value)
{
    return value == e->l->ConstNull(e->l->TypeOf(value));
}

static llvm_value number(const struct emit *e, llvm_value like, uint64_t value)
{
    return e->l->ConstInt(is_wide(e, like) ? e->i64 : e->i32, value, 0);
}

static llvm_value add(const struct emit *e, llvm_value x, llvm_value y)
{
    return affine_make(e, e->l->BuildAdd, x, y);
}

static llvm_value sub(const struct emit *e, llvm_value x, llvm_value y)
{
    return affine_make(e, e->l->BuildSub, x, y);
}

static llvm_value both(const struct emit *e, llvm_value x, llvm_value y)
{
    return affine_make(e, e->l->BuildAnd, x, y);
}

static llvm_value either(const struct emit *e, llvm_value x, llvm_value y)
{
    return affine_make(e, e->l->BuildOr, x, y);
}

static llvm_value differences(const struct emit *e, llvm_value x, llvm_value y)
{
    return affine_make(e, e->l->BuildXor, x, y);
}

/* ---- what has to be zero ---- */

/* The bits of slices' values as dwords, of 64 bits those of both halves together. */
static llvm_value dwords_of(const struct emit *e, llvm_value each)
{
    const struct llvm *l = e->l;
    const unsigned count = slices_of(e);
    if (!is_wide(e, each))
        return each;
    llvm_value index[2][WAVE_LANES], part[2];
    llvm_value all = l->BuildBitCast(e->b, each, l->VectorType(e->i32, 2 * count), "");
    for (unsigned i = 0; i < 2 * count; i++)
        index[i / count][i % count] = emit_i32(e, i);
    for (unsigned i = 0; i < 2; i++)
        part[i] = l->BuildShuffleVector(e->b, all, l->GetPoison(l->TypeOf(all)),
                                        l->ConstVector(index[i], count), "");
    return l->BuildOr(e->b, part[0], part[1], "");
}

void affine_need_zero(const struct emit *e, struct affine_wrong *wrong, llvm_value value)
{
    if (!value || is_none(e, value))
        return;
    const bool each = affine_is_each(e, value);
    llvm_value *to = each ? &wrong->each : &wrong->one;
    value = each ? dwords_of(e, value) : zero_extend(e, value);
    *to = *to ? e->l->BuildOr(e->b, *to, value, "") : value;
}

void affine_need(const struct emit *e, struct affine_wrong *wrong, const struct affine_wrong *also)
{
    affine_need_zero(e, wrong, also->one);
    affine_need_zero(e, wrong, also->each);
}

/* Whether all bits of a vector are 0, of which AVX2 looks at all at once. */
static llvm_value is_zero(const struct emit *e, llvm_value vector, unsigned dwords)
{
    llvm_type whole = e->l->IntTypeInContext(e->context, dwords * 32);
    return e->l->BuildICmp(e->b, LLVM_EQ, e->l->BuildBitCast(e->b, vector, whole, ""), e->l->ConstNull(whole),
                           "");
}

llvm_value affine_is_right(const struct emit *e, const struct affine_wrong *wrong)
{
    llvm_value right = e->l->ConstAllOnes(e->i1);
    if (wrong->one)
        right = e->l->BuildICmp(e->b, LLVM_EQ, wrong->one, emit_i64(e, 0), "");
    if (wrong->each)
        right = e->l->BuildAnd(e->b, right, is_zero(e, wrong->each, slices_of(e)), "");
    return right;
}

static void need_zero(const struct emit *e, struct affine_node *n, llvm_value value)
{
    affine_need_zero(e, &n->wrong, value);
}

/* ---- ranges ---- */

/* So many bits of a step, and its sign: then only the last lane's value has to be looked at. */
enum { STEP_BITS = 26 };

static llvm_value last_of(const struct emit *e, llvm_value first, llvm_value step)
{
    return add(e, first, e->l->BuildMul(e->b, step, number(e, step, e->slice - 1), ""));
}

static bool is_uniform(const struct emit *e, const struct affine_node *n)
{
    return is_none(e, n->step);
}

static llvm_value upper(const struct emit *e, llvm_value value, unsigned bits)
{
    return affine_make(e, e->l->BuildLShr, value, number(e, value, bits));
}

/* The last lane's 32 bits, which has to be less than half of their range from the first one's. */
static llvm_value near_last(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    need_zero(e, n, upper(e, add(e, a->step, emit_i32(e, 1u << STEP_BITS)), STEP_BITS + 1));
    return last_of(e, a->first, a->step);
}

/* Of 32 bits those in which the last lane differs from the first; when the topmost one is none of these,
 * lanes may differ in these and in lower ones, and in no others. */
static llvm_value differing(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    return is_uniform(e, a) ? emit_i32(e, 0) : differences(e, a->first, near_last(e, n, a));
}

/* Notes that lanes' 32 bits must not wrap around, as signed or unsigned numbers. */
static void need_no_wrap(const struct emit *e, struct affine_node *n, const struct affine_node *a,
                         bool is_signed)
{
    if (is_uniform(e, a))
        return;
    llvm_value down = e->l->BuildAShr(e->b, a->step, emit_i32(e, 31), "");
    if (is_signed)
        down = e->l->BuildNot(e->b, down, "");
    need_zero(e, n, upper(e, both(e, differing(e, n, a), differences(e, a->first, down)), 31));
}

/* ---- nodes ---- */

/* The first lanes of a row's slices, and all of them as a vector. */
static llvm_value row_firsts(const struct emit *e, llvm_value row, llvm_value first[WAVE_LANES])
{
    llvm_value each = e->l->GetPoison(each_type(e, e->i32));
    for (unsigned i = 0; i < slices_of(e); i++) {
        first[i] = emit_load(e, e->i32, row, i * e->slice * 4);
        each = e->l->BuildInsertElement(e->b, each, first[i], emit_i32(e, i), "");
    }
    return each;
}

llvm_value affine_firsts(const struct emit *e, unsigned row)
{
    llvm_value first[WAVE_LANES];
    return row_firsts(e, emit_at(e, e->v, (int64_t)(row * sizeof(wave_row))), first);
}

/* Whether a row goes on by another step in some lane of a slice, as an i1. */
static llvm_value row_differs(struct emit *e, llvm_value row, const llvm_value *first, llvm_value step)
{
    const struct llvm *l = e->l;
    llvm_value lanes[16], differs = NULL;
    for (unsigned i = 0; i < e->slice; i++)
        lanes[i] = emit_i32(e, i);
    llvm_value steps = l->BuildMul(e->b, emit_splat(e, step), l->ConstVector(lanes, e->slice), "");
    for (unsigned i = 0; i < slices_of(e); i++) {
        llvm_value have = emit_load(e, e->row, row, i * e->slice * 4);
        e->l->SetAlignment(have, e->slice * 4);
        have = l->BuildXor(e->b, have, l->BuildAdd(e->b, emit_splat(e, first[i]), steps, ""), "");
        differs = differs ? l->BuildOr(e->b, differs, have, "") : have;
    }
    if (e->slice == 8)
        return l->BuildNot(e->b, is_zero(e, differs, e->slice), "");
    differs = l->BuildICmp(e->b, LLVM_NE, differs, l->ConstNull(e->row), "");
    differs = l->BuildBitCast(e->b, differs, e->bits, "");
    return l->BuildICmp(e->b, LLVM_NE, differs, l->ConstNull(e->bits), "");
}

/* What is found out about a row: its slices' first lanes, the step, and what is not 0 if there is none. */
enum { FOUND_FIRST, FOUND_STEP, FOUND_WRONG, FOUND };

static void look_at_row(struct emit *e, llvm_value row, llvm_value found[FOUND])
{
    llvm_value first[WAVE_LANES];
    found[FOUND_FIRST] = row_firsts(e, row, first);
    found[FOUND_STEP] = e->l->BuildSub(e->b, emit_load(e, e->i32, row, 4), first[0], "");
    llvm_value differs = row_differs(e, row, first, found[FOUND_STEP]);
    found[FOUND_WRONG] = e->l->BuildZExt(e->b, differs, e->i64, "");
}

/* The function that does it for all rows of all stretches. */
static llvm_value looking_function(struct emit *e, llvm_type type, llvm_type result)
{
    static const char name[] = "look_at_row";
    const struct llvm *l = e->l;
    llvm_value function = l->GetNamedFunction(e->module, name);
    if (function)
        return function;
    llvm_value outer = e->function, found[FOUND], all = l->GetPoison(result);
    llvm_block here = l->GetInsertBlock(e->b);
    function = e->function = emit_function(e, name, type);
    l->SetLinkage(function, LLVM_INTERNAL);
    emit_goto(e, emit_block(e));
    look_at_row(e, l->GetParam(function, 0), found);
    for (unsigned i = 0; i < FOUND; i++)
        all = l->BuildInsertValue(e->b, all, found[i], i, "");
    l->BuildRet(e->b, all);
    e->function = outer;
    emit_goto(e, here);
    return function;
}

/* It is half of what LLVM has to compile of a load, so large functions call it: a fiftieth slower. */
static void find_lie(struct emit *e, llvm_value row, llvm_value found[FOUND])
{
    const struct llvm *l = e->l;
    if (e->effort == LIFT_VERSIONS) {
        look_at_row(e, row, found);
        return;
    }
    llvm_type types[FOUND] = {each_type(e, e->i32), e->i32, e->i64};
    llvm_type result = l->StructTypeInContext(e->context, types, FOUND, 0);
    llvm_type type = l->FunctionType(result, &e->ptr, 1, 0);
    llvm_value all = l->BuildCall2(e->b, type, looking_function(e, type, result), &row, 1, "");
    for (unsigned i = 0; i < FOUND; i++)
        found[i] = l->BuildExtractValue(e->b, all, i, "");
}

/* The work-item ids of a wave that begins, which mostly count up and need no look. */
static llvm_value ids_differ(struct emit *e, llvm_value row)
{
    const struct llvm *l = e->l;
    llvm_block known = l->GetInsertBlock(e->b), look = emit_block(e), done = emit_block(e);
    llvm_value counts = emit_load(e, e->i8, e->w, offsetof(struct wave, counts_up));
    counts = l->BuildICmp(e->b, LLVM_ULE, l->ConstInt(e->i8, e->slice, 0), counts, "");
    counts = l->BuildAnd(e->b, counts, e->begin.is, "");
    l->SetMetadata(l->BuildCondBr(e->b, l->BuildNot(e->b, counts, ""), look, done), e->md_prof, e->unlikely);
    emit_goto(e, look);
    llvm_value found[FOUND];
    find_lie(e, row, found);
    llvm_value other = l->BuildXor(e->b, found[FOUND_STEP], emit_i32(e, 1), "");
    llvm_value differs[] = {emit_i64(e, 0),
                            l->BuildOr(e->b, found[FOUND_WRONG], l->BuildZExt(e->b, other, e->i64, ""), "")};
    l->BuildBr(e->b, done);
    emit_goto(e, done);
    llvm_value all = l->BuildPhi(e->b, e->i64, "");
    llvm_block from[] = {known, look};
    l->AddIncoming(all, differs, from, 2);
    return all;
}

static void find_row(struct emit *e, struct affine_node *n)
{
    llvm_value row = emit_at(e, e->v, (int64_t)(n->number * sizeof(wave_row))), first[WAVE_LANES];
    if (n->number == 0 && begin_has_ids(e)) {
        n->first = row_firsts(e, row, first);
        n->step = emit_i32(e, 1);
        need_zero(e, n, ids_differ(e, row));
        return;
    }
    llvm_value found[FOUND];
    find_lie(e, row, found);
    n->first = found[FOUND_FIRST];
    n->step = found[FOUND_STEP];
    need_zero(e, n, found[FOUND_WRONG]);
}

static void find_scalar(const struct emit *e, struct affine_node *n)
{
    const struct llvm *l = e->l;
    n->first = n->scalar[0];
    if (n->scalar[1])
        n->first = l->BuildOr(e->b, zero_extend(e, n->first),
                              l->BuildShl(e->b, zero_extend(e, n->scalar[1]), emit_i64(e, 32), ""), "");
    n->step = number(e, n->first, 0);
}

/* What is the same for all slices, as the step has to be. */
static llvm_value same_of(const struct emit *e, struct affine_node *n, llvm_value value)
{
    if (!affine_is_each(e, value))
        return value;
    llvm_value one = e->l->BuildExtractElement(e->b, value, emit_i32(e, 0), "");
    need_zero(e, n, differences(e, value, one));
    return one;
}

static void find_product(const struct emit *e, struct affine_node *n, const struct affine_node *a,
                         const struct affine_node *b)
{
    const struct llvm *l = e->l;
    n->first = affine_make(e, l->BuildMul, a->first, b->first);
    n->step = number(e, n->first, 0);
    if (!is_uniform(e, a))
        n->step = affine_make(e, l->BuildMul, a->step, b->first);
    if (!is_uniform(e, b))
        n->step = add(e, n->step, affine_make(e, l->BuildMul, b->step, a->first));
    n->step = same_of(e, n, n->step);
    if (!is_uniform(e, a) && !is_uniform(e, b))
        need_zero(e, n, l->BuildMul(e->b, a->step, b->step, ""));
}

static void find_shifted(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    n->first = affine_make(e, e->l->BuildShl, a->first, number(e, a->first, n->number));
    n->step = is_uniform(e, a) ? a->step : e->l->BuildShl(e->b, a->step, number(e, a->step, n->number), "");
}

/* A shift to the right of which nothing is left that differs. */
static void find_uniform(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    const struct llvm *l = e->l;
    n->first = affine_make(e, n->kind == AFFINE_ASHR ? l->BuildAShr : l->BuildLShr, a->first,
                           emit_i32(e, n->number));
    n->step = emit_i32(e, 0);
    need_zero(e, n, upper(e, differing(e, n, a), n->number));
}

/* The lowest bit that is set, and all above. */
static llvm_value from_lowest(const struct emit *e, llvm_value bits)
{
    return either(e, bits, sub(e, emit_i32(e, 0), bits));
}

static void find_masked(const struct emit *e, struct affine_node *n, const struct affine_node *a,
                        const struct affine_node *b)
{
    llvm_value off = differences(e, b->first, emit_i32(e, UINT32_MAX));
    off = either(e, off, emit_i32(e, UINT32_C(1) << 31));
    need_zero(e, n, b->step);
    need_zero(e, n, both(e, differing(e, n, a), from_lowest(e, off)));
    n->first = both(e, a->first, b->first);
    n->step = a->step;
}

static void find_or(const struct emit *e, struct affine_node *n, const struct affine_node *a,
                    const struct affine_node *b)
{
    llvm_value x = differing(e, n, a), y = differing(e, n, b);
    need_zero(e, n, both(e, a->first, b->first));
    need_zero(e, n, upper(e, either(e, x, y), 31));
    need_zero(e, n, both(e, x, from_lowest(e, b->first)));
    need_zero(e, n, both(e, y, from_lowest(e, a->first)));
    need_zero(e, n, both(e, from_lowest(e, x), from_lowest(e, y)));
    n->first = either(e, a->first, b->first);
    n->step = e->l->BuildAdd(e->b, a->step, b->step, "");
}

static void find_fitting(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    n->first = a->first;
    n->step = a->step;
    need_zero(e, n, upper(e, n->first, n->number));
    if (!is_uniform(e, a))
        need_zero(e, n, upper(e, near_last(e, n, a), n->number));
}

static void find_extended(const struct emit *e, struct affine_node *n, const struct affine_node *a,
                          bool is_signed)
{
    need_no_wrap(e, n, a, is_signed);
    n->first = is_signed ? sign_extend(e, a->first) : zero_extend(e, a->first);
    n->step = sign_extend(e, a->step);
}

static void find_joined(const struct emit *e, struct affine_node *n, const struct affine_node *a,
                        const struct affine_node *b)
{
    find_extended(e, n, a, false);
    need_zero(e, n, b->step);
    llvm_value high = affine_make(e, e->l->BuildShl, zero_extend(e, b->first), emit_i64(e, 32));
    n->first = either(e, n->first, high);
}

static void find_high(const struct emit *e, struct affine_node *n, const struct affine_node *a)
{
    const struct llvm *l = e->l;
    n->first = low_half(e, upper(e, a->first, 32));
    n->step = emit_i32(e, 0);
    if (is_uniform(e, a))
        return;
    llvm_value whole = sign_extend(e, l->BuildTrunc(e->b, a->step, e->i32, ""));
    need_zero(e, n, l->BuildXor(e->b, a->step, whole, ""));
    need_zero(e, n, upper(e, differences(e, a->first, last_of(e, a->first, a->step)), 32));
}

static void find(struct emit *e, struct affine_node *n);

static struct affine_node *found(struct emit *e, struct affine_node *n, unsigned operand)
{
    struct affine_node *o = &e->affine.node[operand];
    find(e, o);
    affine_need(e, &n->wrong, &o->wrong);
    return o;
}

static void find(struct emit *e, struct affine_node *n)
{
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
        n->first = add(e, a->first, b->first);
        n->step = is_uniform(e, a) ? b->step : is_uniform(e, b) ? a->step : add(e, a->step, b->step);
        break;
    case AFFINE_SUB:
        n->first = sub(e, a->first, b->first);
        n->step = is_uniform(e, b) ? a->step : sub(e, a->step, b->step);
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
        find_fitting(e, n, a);
        break;
    case AFFINE_AND:
        find_masked(e, n, a, b);
        break;
    case AFFINE_OR:
        find_or(e, n, a, b);
        break;
    case AFFINE_ZEXT:
        find_extended(e, n, a, false);
        break;
    case AFFINE_SEXT:
        find_extended(e, n, a, true);
        break;
    case AFFINE_JOIN:
        find_joined(e, n, a, b);
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
