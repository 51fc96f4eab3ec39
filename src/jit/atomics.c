/* SPDX-License-Identifier: MIT */
/*
 * Atomics on LDS and memory as the last instruction of a stretch: what one has changed cannot be redone.  The
 * lanes of a slice go one after another, as handlers have it, in a function that all atomics of a kind share.
 *
 * A workgroup runs on one host thread, so those on LDS are plain reads and writes; those on memory are the
 * host's atomics.
 */
#include <stdio.h>

#include "jit/places.h"
#include "sem/memory/memop_atomic.h"

/* The arguments of bodies: memory's old value and the operands. */
enum { OLD, DATA, EXTRA, ARGUMENTS };

/* Temporary rows: each has a slice's elements, of which there are 16 at most, and of 8 bytes. */
enum temporary { AT = -WAVE_TEMPS, OF_DATA, OF_EXTRA, RESULT };

/* The function that is being emitted: what it does, and its parameters. */
struct change {
    const struct xinst *x;
    llvm_value rows, lds;          /* pointers */
    llvm_value at;                 /* a vector of places in LDS, as i32, or of addresses */
    llvm_value operand[ARGUMENTS]; /* pointers to the lanes' */
    llvm_value lanes;              /* i64: bits */
};

static unsigned op_of(const struct xinst *x)
{
    return memop_of(x->isa->op)->atomic;
}

static bool is_wide(const struct xinst *x)
{
    return memop_of(x->isa->op)->kind == MEMOP_B64;
}

static bool is_local(const struct xinst *x)
{
    return x->isa->format == ISA_DS;
}

static const struct body *body_of(const struct emit *e, const struct xinst *x)
{
    static const char *const names[][2] = {
#define NAME_32(op) [op][0] = "scalar_" #op "_32",
#define NAME_64(op) [op][1] = "scalar_" #op "_64",
        MEMOP_BOTH_WIDTHS(NAME_32) MEMOP_BOTH_WIDTHS(NAME_64) MEMOP_ONLY_32(NAME_32) MEMOP_ONLY_64(NAME_64)};
    if (op_of(x) == MEMOP_FADD)
        return body_find(e->library, is_wide(x) ? "scalar_sum_64" : "scalar_sum_32");
    return body_find(e->library, names[op_of(x)][is_wide(x)]);
}

static bool has_extra(const struct emit *e, const struct xinst *x)
{
    return body_takes(body_of(e, x), EXTRA);
}

bool atomics_is_known(const struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    if (memop_of(inst->op)->action != MEMOP_ATOMIC || inst->gds || !memop_has_vaddr(x))
        return false;
    if (!is_local(x) && inst->format != ISA_GLOBAL && inst->format != ISA_FLAT)
        return false;
    return (is_local(x) || !memop_has_sbase(x) || x->ss[0] < SREG_TTMP) && body_of(e, x);
}

unsigned atomics_rows(const struct emit *e, const struct xinst *x, int rows[ATOMICS_ROWS_MAX])
{
    const unsigned each = is_wide(x) ? 2 : 1;
    for (unsigned i = 0; i < each; i++) {
        rows[i] = x->s[1] + (int)i;
        rows[each + i] = (is_local(x) ? x->s[2] : x->s[1] + (int)each) + (int)i;
    }
    return has_extra(e, x) ? 2 * each : each;
}

static llvm_type element_of(const struct emit *e, const struct xinst *x)
{
    return is_wide(x) ? e->i64 : e->i32;
}

static llvm_type elements_of(const struct emit *e, const struct xinst *x)
{
    return e->l->VectorType(element_of(e, x), e->slice);
}

/* ---- one lane ---- */

static llvm_value temporary(struct emit *e, llvm_value rows, enum temporary row)
{
    return emit_at(e, rows, row * (int64_t)sizeof(wave_row));
}

static llvm_value run(struct emit *e, const struct body *body, llvm_type type, const llvm_value *arguments)
{
    llvm_value scc = NULL;
    return e->l->BuildTrunc(e->b, body_emit_scalar(e->library, body, e->module, e->b, arguments, &scc), type,
                            "");
}

/* What a lane's atomic is computed of. */
struct lane {
    llvm_value number;
    llvm_value place;               /* a pointer */
    llvm_value argument[ARGUMENTS]; /* in 64 bits */
};

static llvm_value load_wide(struct emit *e, llvm_type type, llvm_value place, bool again)
{
    llvm_value value = e->l->BuildLoad2(e->b, type, place, "");
    e->l->SetAlignment(value, 1);
    e->l->SetVolatile(value, again);
    return e->l->BuildZExt(e->b, value, e->i64, "");
}

static llvm_value operand(struct emit *e, const struct change *c, unsigned which, llvm_value lane, bool again)
{
    llvm_type type = element_of(e, c->x);
    if (!c->operand[which])
        return emit_i64(e, 0);
    return load_wide(e, type, e->l->BuildGEP2(e->b, type, c->operand[which], &lane, 1, ""), again);
}

/*
 * A sum of floats.  Where it is a NaN, which is rare, the operands are loaded from LDS again: so they need
 * not be in the host's other registers for that.
 */
static llvm_value add_floats(struct emit *e, const struct change *c, const struct lane *lane)
{
    const struct llvm *l = e->l;
    const struct xinst *x = c->x;
    llvm_type type = element_of(e, x),
              real = is_wide(x) ? l->DoubleTypeInContext(e->context) : l->FloatTypeInContext(e->context);
    llvm_value sum = l->BuildBitCast(e->b, run(e, body_of(e, x), type, lane->argument), real, "");
    llvm_block here = l->GetInsertBlock(e->b), nan = emit_block(e), done = emit_block(e);
    llvm_value is_nan = l->BuildFCmp(e->b, LLVM_UNORDERED, sum, sum, "");
    l->SetMetadata(l->BuildCondBr(e->b, is_nan, nan, done), e->md_prof, e->unlikely);
    emit_goto(e, nan);
    llvm_value arguments[] = {lane->argument[OLD], lane->argument[DATA], emit_i64(e, 0)};
    if (is_local(x)) {
        arguments[OLD] = load_wide(e, type, lane->place, true);
        arguments[DATA] = operand(e, c, DATA, lane->number, true);
    }
    const char *name = is_wide(x) ? "scalar_nan_sum_64" : "scalar_nan_sum_32";
    llvm_value quiet = run(e, body_find(e->library, name), type, arguments);
    quiet = l->BuildBitCast(e->b, quiet, real, "");
    l->BuildBr(e->b, done);
    emit_goto(e, done);
    llvm_value either = l->BuildPhi(e->b, real, "");
    l->AddIncoming(either, &sum, &here, 1);
    l->AddIncoming(either, &quiet, &nan, 1);
    return l->BuildBitCast(e->b, either, type, "");
}

/* Memory's new value. */
static llvm_value compute(struct emit *e, const struct change *c, const struct lane *lane)
{
    return op_of(c->x) == MEMOP_FADD ? add_floats(e, c, lane)
                                     : run(e, body_of(e, c->x), element_of(e, c->x), lane->argument);
}

static llvm_value change_lds(struct emit *e, const struct change *c, struct lane *lane)
{
    const struct llvm *l = e->l;
    lane->argument[OLD] = load_wide(e, element_of(e, c->x), lane->place, false);
    l->SetAlignment(l->BuildStore(e->b, compute(e, c, lane), lane->place), 1);
    return l->BuildTrunc(e->b, lane->argument[OLD], element_of(e, c->x), "");
}

static bool is_one_of_the_hosts(unsigned op, enum llvm_atomic *host)
{
    switch (op) {
    case MEMOP_SWAP:
        *host = LLVM_XCHG;
        return true;
    case MEMOP_ADD:
        *host = LLVM_ADD;
        return true;
    case MEMOP_SUB:
        *host = LLVM_SUB;
        return true;
    case MEMOP_AND:
        *host = LLVM_AND;
        return true;
    case MEMOP_OR:
        *host = LLVM_OR;
        return true;
    case MEMOP_XOR:
        *host = LLVM_XOR;
        return true;
    default:
        return false;
    }
}

static llvm_value change_memory(struct emit *e, const struct change *c, struct lane *lane)
{
    const struct llvm *l = e->l;
    llvm_type type = element_of(e, c->x);
    enum llvm_atomic host;
    if (is_one_of_the_hosts(op_of(c->x), &host))
        return l->BuildAtomicRMW(e->b, host, lane->place, l->BuildTrunc(e->b, lane->argument[DATA], type, ""),
                                 LLVM_SEQUENTIALLY_CONSISTENT, 0);
    llvm_value before = l->BuildLoad2(e->b, type, lane->place, "");
    l->SetVolatile(before, 1); /* others may change it */
    llvm_block from = l->GetInsertBlock(e->b), again = emit_block(e), done = emit_block(e);
    l->BuildBr(e->b, again);
    emit_goto(e, again);
    llvm_value old = l->BuildPhi(e->b, type, "");
    lane->argument[OLD] = l->BuildZExt(e->b, old, e->i64, "");
    llvm_value swap = l->BuildAtomicCmpXchg(e->b, lane->place, old, compute(e, c, lane),
                                            LLVM_SEQUENTIALLY_CONSISTENT, LLVM_SEQUENTIALLY_CONSISTENT, 0);
    llvm_value found = l->BuildExtractValue(e->b, swap, 0, "");
    llvm_block end = l->GetInsertBlock(e->b);
    l->AddIncoming(old, &before, &from, 1);
    l->AddIncoming(old, &found, &end, 1);
    l->BuildCondBr(e->b, l->BuildExtractValue(e->b, swap, 1, ""), done, again);
    emit_goto(e, done);
    return old;
}

/* What memory was at a place that is a lane's. */
static llvm_value change_lane(struct emit *e, const struct change *c, llvm_value at, llvm_value number)
{
    const struct llvm *l = e->l;
    struct lane lane = {.number = number,
                        .argument = {[DATA] = operand(e, c, DATA, number, false),
                                     [EXTRA] = operand(e, c, EXTRA, number, false)}};
    if (!is_local(c->x)) {
        lane.place = l->BuildIntToPtr(e->b, at, e->ptr, "");
        return change_memory(e, c, &lane);
    }
    at = l->BuildZExt(e->b, at, e->i64, "");
    lane.place = l->BuildGEP2(e->b, e->i8, c->lds, &at, 1, "");
    return change_lds(e, c, &lane);
}

/* ---- lanes ---- */

static llvm_value change_all(struct emit *e, const struct change *c)
{
    const struct llvm *l = e->l;
    llvm_value result = l->GetPoison(elements_of(e, c->x));
    for (unsigned i = 0; i < e->slice; i++) {
        llvm_value at = l->BuildExtractElement(e->b, c->at, emit_i32(e, i), "");
        llvm_value old = change_lane(e, c, at, emit_i64(e, i));
        if (c->x->mem.returns)
            result = l->BuildInsertElement(e->b, result, old, emit_i32(e, i), "");
    }
    return result;
}

/* A turn for each active lane, of which there are some: between turn_begin() and turn_end(). */
struct turn {
    llvm_value lane; /* i64 */
    llvm_value rest;
    llvm_block first, before;
};

static struct turn turn_begin(struct emit *e, llvm_value lanes)
{
    const struct llvm *l = e->l;
    struct turn t = {.first = emit_block(e), .before = l->GetInsertBlock(e->b)};
    l->BuildBr(e->b, t.first);
    emit_goto(e, t.first);
    t.rest = l->BuildPhi(e->b, e->i64, "");
    l->AddIncoming(t.rest, &lanes, &t.before, 1);
    llvm_type types[] = {e->i64, e->i1};
    llvm_value arguments[] = {t.rest, l->ConstAllOnes(e->i1)};
    t.lane = l->BuildCall2(e->b, l->FunctionType(e->i64, types, 2, 0), e->cttz, arguments, 2, "");
    return t;
}

static void turn_end(struct emit *e, const struct turn *t)
{
    const struct llvm *l = e->l;
    llvm_value less = l->BuildAnd(e->b, t->rest, l->BuildSub(e->b, t->rest, emit_i64(e, 1), ""), "");
    llvm_block end = l->GetInsertBlock(e->b), done = emit_block(e);
    l->AddIncoming(t->rest, &less, &end, 1);
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, less, emit_i64(e, 0), ""), done, t->first);
    emit_goto(e, done);
}

/* The host's atomics wait for each other, and each for its line: so all lines are fetched at once before. */
static void fetch_lines(struct emit *e, const struct change *c, llvm_value places)
{
    enum { FOR_WRITING = 1, KEEP = 3, NO_CODE = 1 };
    const struct llvm *l = e->l;
    const struct turn turn = turn_begin(e, c->lanes);
    llvm_value lane = turn.lane;
    llvm_value at = l->BuildLoad2(e->b, e->ptr, l->BuildGEP2(e->b, e->i64, places, &lane, 1, ""), "");
    llvm_value arguments[] = {at, emit_i32(e, FOR_WRITING), emit_i32(e, KEEP), emit_i32(e, NO_CODE)};
    emit_intrinsic(e, "llvm.prefetch", &e->ptr, 1, arguments, 4);
    turn_end(e, &turn);
}

/* Others get 0. */
static llvm_value change_some(struct emit *e, const struct change *c)
{
    const struct llvm *l = e->l;
    llvm_type elements = elements_of(e, c->x), element = element_of(e, c->x);
    llvm_type place = is_local(c->x) ? e->i32 : e->i64;
    llvm_value places = temporary(e, c->rows, AT), results = temporary(e, c->rows, RESULT);
    l->SetAlignment(l->BuildStore(e->b, c->at, places), e->slice * 4);
    if (c->x->mem.returns)
        l->SetAlignment(l->BuildStore(e->b, l->ConstNull(elements), results), e->slice * 4);
    llvm_block some = emit_block(e), done = emit_block(e);
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, c->lanes, emit_i64(e, 0), ""), done, some);
    emit_goto(e, some);
    if (!is_local(c->x))
        fetch_lines(e, c, places);
    const struct turn turn = turn_begin(e, c->lanes);
    llvm_value lane = turn.lane;
    llvm_value at = l->BuildLoad2(e->b, place, l->BuildGEP2(e->b, place, places, &lane, 1, ""), "");
    llvm_value old = change_lane(e, c, at, lane);
    if (c->x->mem.returns)
        l->BuildStore(e->b, old, l->BuildGEP2(e->b, element, results, &lane, 1, ""));
    turn_end(e, &turn);
    l->BuildBr(e->b, done);
    emit_goto(e, done);
    return c->x->mem.returns ? emit_load(e, elements, results, 0) : NULL;
}

static void leave(struct emit *e, const struct change *c, llvm_value result)
{
    if (c->x->mem.returns)
        e->l->BuildRet(e->b, result);
    else
        e->l->BuildRetVoid(e->b);
}

/* In LDS, where all lanes are there, without a search for the next one. */
static void emit_change(struct emit *e, const struct change *c)
{
    const struct llvm *l = e->l;
    if (is_local(c->x)) {
        llvm_block all = emit_block(e), some = emit_block(e);
        llvm_value whole = emit_i64(e, (UINT64_C(1) << e->slice) - 1);
        l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, c->lanes, whole, ""), all, some);
        emit_goto(e, all);
        leave(e, c, change_all(e, c));
        emit_goto(e, some);
    }
    leave(e, c, change_some(e, c));
}

static llvm_value function_of(struct emit *e, const struct xinst *x, llvm_type type)
{
    const struct llvm *l = e->l;
    char name[64];
    snprintf(name, sizeof(name), "change_%s_%u_%u%s", is_local(x) ? "lds" : "memory", op_of(x),
             is_wide(x) ? 64 : 32, x->mem.returns ? "_returns" : "");
    llvm_value function = l->GetNamedFunction(e->module, name);
    if (function)
        return function;
    llvm_value outer = e->function;
    llvm_block here = l->GetInsertBlock(e->b);
    function = e->function = emit_function(e, name, type);
    l->SetLinkage(function, LLVM_INTERNAL);
    struct change c = {.x = x,
                       .rows = l->GetParam(function, 0),
                       .lds = l->GetParam(function, 1),
                       .at = l->GetParam(function, 2),
                       .operand = {[DATA] = l->GetParam(function, 3)},
                       .lanes = l->GetParam(function, 5)};
    if (has_extra(e, x))
        c.operand[EXTRA] = l->GetParam(function, 4);
    emit_goto(e, emit_block(e));
    emit_change(e, &c);
    e->function = outer;
    emit_goto(e, here);
    return function;
}

/* ---- a slice ---- */

/* Where lanes have an operand: in its row, or in a temporary one. */
static llvm_value operand_at(struct emit *e, const struct slice *s, const struct xinst *x, int row,
                             const llvm_value *rows, enum temporary to)
{
    const struct llvm *l = e->l;
    if (!is_wide(x) && !s->dirty[row])
        return emit_at(e, s->rows, row * (int64_t)sizeof(wave_row));
    llvm_value value = rows[0], place = temporary(e, e->v, to);
    if (is_wide(x)) {
        llvm_value high = l->BuildZExt(e->b, rows[1], elements_of(e, x), "");
        high = l->BuildShl(e->b, high, places_splat64(e, emit_i64(e, 32)), "");
        value = l->BuildOr(e->b, l->BuildZExt(e->b, rows[0], elements_of(e, x), ""), high, "");
    }
    l->SetAlignment(l->BuildStore(e->b, value, place), e->slice * 4);
    return place;
}

static void take_result(struct emit *e, const struct xinst *x, llvm_value value, llvm_value *rows)
{
    const struct llvm *l = e->l;
    rows[0] = is_wide(x) ? l->BuildTrunc(e->b, value, e->row, "") : value;
    if (is_wide(x)) {
        value = l->BuildLShr(e->b, value, places_splat64(e, emit_i64(e, 32)), "");
        rows[1] = l->BuildTrunc(e->b, value, e->row, "");
    }
}

/* Where in LDS, and which active lanes are in range. */
static llvm_value locate_lds(struct emit *e, const struct slice *s, const struct xinst *x, llvm_value row,
                             llvm_value *at)
{
    const struct llvm *l = e->l;
    *at = l->BuildAdd(e->b, row, slice_constant(e, (uint32_t)x->mem.offset), "");
    if (op_of(x) == MEMOP_CONDXCHG32) /* the low bits do not count */
        *at = l->BuildAnd(e->b, *at, slice_constant(e, 0xfff8), "");
    llvm_value inside = places_in_lds(e, *at, is_wide(x) ? 8 : 4);
    return lanes_of(e, places_and(e, inside, places_active(e, s)));
}

/* Handlers redo what is not the GPU's own memory, and what faults. */
static llvm_value locate_memory(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low,
                                llvm_value high, llvm_value *at)
{
    const struct llvm *l = e->l;
    const unsigned bytes = is_wide(op->x) ? 8 : 4;
    const struct memory_places places = places_memory(e, s, op, low, high, bytes);
    llvm_value beyond;
    *at = places_addresses(e, &places, &beyond);
    llvm_value odd = l->BuildAnd(e->b, *at, places_splat64(e, emit_i64(e, bytes - 1)), "");
    odd = l->BuildICmp(e->b, LLVM_NE, odd, l->ConstNull(l->TypeOf(odd)), "");
    slice_redo(e, s, lanes_of(e, l->BuildOr(e->b, beyond, odd, "")));
    emit_access(e, op->x);
    return s->exec;
}

void atomics_emit(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value high,
                  const llvm_value *rows, llvm_value *result)
{
    const struct llvm *l = e->l;
    const struct xinst *x = op->x;
    const bool extra = has_extra(e, x);
    const unsigned each = is_wide(x) ? 2 : 1;
    int from[ATOMICS_ROWS_MAX];
    atomics_rows(e, x, from);
    llvm_value at,
        lanes = is_local(x) ? locate_lds(e, s, x, low, &at) : locate_memory(e, s, op, low, high, &at);
    llvm_value data = operand_at(e, s, x, from[0], rows, OF_DATA);
    llvm_value more = extra ? operand_at(e, s, x, from[each], rows + each, OF_EXTRA) : data;
    llvm_type types[] = {e->ptr, e->ptr, l->TypeOf(at), e->ptr, e->ptr, e->i64};
    llvm_type type = l->FunctionType(x->mem.returns ? elements_of(e, x) : e->void_, types, 6, 0);
    llvm_value arguments[] = {e->v, e->lds, at, data, more, lanes_bits(e, lanes)};
    llvm_value before = l->BuildCall2(e->b, type, function_of(e, x, type), arguments, 6, "");
    if (x->mem.returns)
        take_result(e, x, before, result);
}
