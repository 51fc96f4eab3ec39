/* SPDX-License-Identifier: MIT */
/* Blocks, branches, and calls of handlers; see lift.h. */
#include "jit/lift.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/constants.h"
#include "jit/emit.h"
#include "jit/guess.h"
#include "jit/places.h"
#include "jit/region.h"
#include "wave/fault.h"
#include "wave/fuse.h"
#include "wave/operand.h"

const char *emit_op_name(unsigned op)
{
    static const char *const names[ISA_OP_COUNT] = {
#define FACTS(name, ...) [ISA_OP_##name] = #name,
#include "facts.def"
#undef FACTS
    };
    return names[op];
}

/* ---- leaving ---- */

llvm_value emit_instruction_at(const struct emit *e, const struct xinst *x)
{
    return emit_at(e, e->x, (x - e->block->x) * (int64_t)sizeof(*x));
}

/* Before anything that may leave, and before EXEC changes. */
static void store_counts(struct emit *e)
{
    counts_store(e, NULL, NULL);
    counts_clear(e);
}

/* All that is pending is in the wave. */
static void settle(struct emit *e)
{
    stretch_flush(e);
    store_counts(e);
    scalars_store(e);
}

static void emit_state(struct emit *e, const struct xinst *next, enum wave_state state)
{
    static_assert(sizeof(((struct wave *)0)->state) == 4, "stored as an i32");
    emit_store(e, emit_instruction_at(e, next), e->w, offsetof(struct wave, next));
    emit_store(e, emit_i32(e, state), e->w, offsetof(struct wave, state));
}

static void emit_stop(struct emit *e, const struct xinst *next, enum wave_state state)
{
    emit_state(e, next, state);
    e->l->BuildRet(e->b, e->l->ConstNull(e->ptr));
}

void emit_yield(struct emit *e, const struct xinst *next)
{
    emit_stop(e, next, WAVE_YIELD);
}

static void emit_end(struct emit *e, const struct xinst *x)
{
    emit_state(e, x, WAVE_DONE);
    begin_end_wave(e);
}

/*
 * As s_barrier's handler does; everything is settled.  The last wave leaves and enters again: in one with
 * what is before, LLVM keeps what loops need in memory, as it is too much for registers.
 */
static void emit_barrier(struct emit *e, const struct xinst *x)
{
    const struct llvm *l = e->l;
    llvm_block wait = emit_block(e), pass = emit_block(e);
    llvm_value last = emit_load(e, e->i8, e->w, offsetof(struct wave, last));
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, last, l->ConstNull(e->i8), ""), wait, pass);
    emit_goto(e, pass);
    l->BuildRet(e->b, emit_instruction_at(e, x + 1));
    emit_goto(e, wait);
    emit_stop(e, x + 1, WAVE_BARRIER);
}

/* As take() does; everything is settled. */
static void branch_taken(struct emit *e, const struct xinst *target)
{
    const struct llvm *l = e->l;
    static_assert(sizeof(((struct wave *)0)->budget) == 4, "loaded as an i32");
    llvm_value budget =
        l->BuildSub(e->b, emit_load(e, e->i32, e->w, offsetof(struct wave, budget)), emit_i32(e, 1), "");
    emit_store(e, budget, e->w, offsetof(struct wave, budget));
    llvm_block yield = emit_block(e);
    llvm_value spent = l->BuildICmp(e->b, LLVM_SLT, budget, emit_i32(e, 0), "");
    l->SetMetadata(l->BuildCondBr(e->b, spent, yield, e->blocks[target - e->block->x]), e->md_prof,
                   e->unlikely);
    emit_goto(e, yield);
    emit_yield(e, target);
}

void emit_access(struct emit *e, const struct xinst *x)
{
    if (emit_turns(e)) /* it has said so for all of its instructions */
        return;
    llvm_value in = x ? emit_instruction_at(e, x) : e->l->ConstNull(e->ptr);
    llvm_value store = e->l->BuildStore(e->b, in, emit_at(e, e->guard, offsetof(struct wave_guard, in)));
    e->l->SetVolatile(store, 1); /* a signal handler reads it */
}

llvm_value emit_call_handler(struct emit *e, const struct xinst *x)
{
    llvm_value in = emit_instruction_at(e, x);
    const size_t fn = fuse_is_fused(x) ? offsetof(struct xinst, alone) : offsetof(struct xinst, fn);
    llvm_value handler = emit_load(e, e->ptr, in, (int64_t)fn);
    llvm_value arguments[] = {e->w, in};
    return e->l->BuildCall2(e->b, e->handler, handler, arguments, 2, "");
}

void emit_call_uncounted(struct emit *e, const struct xinst *x)
{
    if (e->counts)
        emit_store(e, e->l->ConstNull(e->ptr), e->w, offsetof(struct wave, stats));
    emit_call_handler(e, x);
    if (e->counts)
        emit_store(e, e->stats, e->w, offsetof(struct wave, stats));
}

/* What stops the wave, or is executed by its handler, which says what comes next. */
static void emit_leave(struct emit *e, const struct xinst *x)
{
    settle(e);
    if (x->isa && x->op == ISA_OP_s_barrier)
        emit_barrier(e, x);
    else if (x->isa && x->op == ISA_OP_s_endpgm)
        emit_end(e, x);
    else
        e->l->BuildRet(e->b, emit_call_handler(e, x));
}

/* ---- branches ---- */

llvm_value emit_condition(struct emit *e, unsigned op)
{
    const struct llvm *l = e->l;
    switch (op) {
    case ISA_OP_s_cbranch_scc0:
        return l->BuildICmp(e->b, LLVM_EQ, scalars_get_scc(e), l->ConstNull(e->i8), "");
    case ISA_OP_s_cbranch_scc1:
        return l->BuildICmp(e->b, LLVM_NE, scalars_get_scc(e), l->ConstNull(e->i8), "");
    case ISA_OP_s_cbranch_vccz:
        return l->BuildICmp(e->b, LLVM_EQ, scalars_get64(e, SREG_VCC), emit_i64(e, 0), "");
    case ISA_OP_s_cbranch_vccnz:
        return l->BuildICmp(e->b, LLVM_NE, scalars_get64(e, SREG_VCC), emit_i64(e, 0), "");
    case ISA_OP_s_cbranch_execz:
        return l->BuildICmp(e->b, LLVM_EQ, scalars_get64(e, SREG_EXEC), emit_i64(e, 0), "");
    case ISA_OP_s_cbranch_execnz:
        return l->BuildICmp(e->b, LLVM_NE, scalars_get64(e, SREG_EXEC), emit_i64(e, 0), "");
    default:
        return NULL;
    }
}

bool lift_is_branch(const struct xinst *x)
{
    switch (x->op) {
    case ISA_OP_s_branch:
    case ISA_OP_s_cbranch_scc0:
    case ISA_OP_s_cbranch_scc1:
    case ISA_OP_s_cbranch_vccz:
    case ISA_OP_s_cbranch_vccnz:
    case ISA_OP_s_cbranch_execz:
    case ISA_OP_s_cbranch_execnz:
        return x->target != NULL;
    default:
        return false;
    }
}

static void emit_branch(struct emit *e, const struct xinst *x)
{
    stretch_flush(e);
    llvm_value taken = emit_condition(e, x->op);
    settle(e);
    if (taken) {
        llvm_block go = emit_block(e);
        e->l->BuildCondBr(e->b, taken, go, e->blocks[x + 1 - e->block->x]);
        emit_goto(e, go);
    }
    branch_taken(e, x->target);
}

/* ---- one instruction ---- */

/* Control goes elsewhere or stops, or the mode changes. */
bool lift_leaves(const struct xinst *x)
{
    if (!x->isa || x->isa->op == ISA_OP_INVALID || x->isa->reserved)
        return true;
    if (isa_facts[x->op].effects & (ISA_E_BRANCH | ISA_E_END | ISA_E_SETS_MODE))
        return true;
    switch (x->op) {
    case ISA_OP_s_barrier:
    case ISA_OP_s_sleep:
    case ISA_OP_s_sendmsg:
    case ISA_OP_s_sendmsghalt:
    case ISA_OP_s_sethalt:
    case ISA_OP_s_trap:
        return true;
    default:
        return isa_facts[x->op].unit == ISA_UNIT_GWS;
    }
}

bool lift_does_nothing(unsigned op)
{
    switch (op) {
    case ISA_OP_s_nop:
    case ISA_OP_s_waitcnt:
    case ISA_OP_s_wakeup:
    case ISA_OP_s_setprio:
        return true;
    default:
        return false;
    }
}

bool lift_writes_exec(const struct xinst *x)
{
    const struct isa_operand *d = &x->isa->dst;
    return isa_facts[x->op].effects & ISA_E_SETS_EXEC ||
           (d->kind == ISA_SGPR && d->reg <= SREG_EXEC + 1 && d->reg + d->dwords > SREG_EXEC);
}

/* A wave that has just left a barrier stops here: exec/workgroup.c, leave_barrier(). */
static void stop_at_write(struct emit *e, const struct xinst *x)
{
    const struct llvm *l = e->l;
    settle(e);
    llvm_block stop = emit_block(e), on = emit_block(e);
    llvm_value leaving = emit_load(e, e->i8, e->w, offsetof(struct wave, leaving));
    llvm_value stops = l->BuildICmp(e->b, LLVM_NE, leaving, l->ConstNull(e->i8), "");
    l->SetMetadata(l->BuildCondBr(e->b, stops, stop, on), e->md_prof, e->unlikely);
    emit_goto(e, stop);
    l->BuildRet(e->b, emit_instruction_at(e, x));
    emit_goto(e, on);
}

/* What a lane holds, in an SGPR. */
static bool emit_read_lane(struct emit *e, const struct xinst *x)
{
    const struct llvm *l = e->l;
    const struct isa_operand *from = &x->isa->src[0], *which = &x->isa->src[1];
    if ((from->kind != ISA_VGPR && from->kind != ISA_AGPR) || x->isa->dst.kind != ISA_SGPR ||
        lift_writes_exec(x) || x->prep[0] != XPREP_PLAIN)
        return false;
    llvm_value lane;
    stretch_flush(e);
    if (x->op == ISA_OP_v_readfirstlane_b32) {
        llvm_value exec = scalars_get64(e, SREG_EXEC);
        llvm_type types[] = {e->i64, e->i1};
        llvm_value arguments[] = {exec, l->ConstNull(e->i1)};
        llvm_value first =
            l->BuildCall2(e->b, l->FunctionType(e->i64, types, 2, 0), e->cttz, arguments, 2, "");
        lane = l->BuildAnd(e->b, first, emit_i64(e, 63), ""); /* lane 0 when there is none */
    } else if (which->kind == ISA_CONST) {
        lane = emit_i64(e, which->value & 63);
    } else if (which->kind == ISA_SGPR) {
        lane = l->BuildAnd(e->b, l->BuildZExt(e->b, scalars_get32(e, which->reg), e->i64, ""),
                           emit_i64(e, 63), "");
    } else {
        return false;
    }
    llvm_value at = emit_at(e, e->v, (int64_t)x->s[0] * (int64_t)sizeof(wave_row));
    scalars_set32(e, x->sd, emit_load_whole(e, e->i32, l->BuildGEP2(e->b, e->i32, at, &lane, 1, ""), 0));
    return true;
}

static bool is_lane_read(const struct xinst *x)
{
    return x->op == ISA_OP_v_readfirstlane_b32 || x->op == ISA_OP_v_readlane_b32;
}

/* Those whose handlers change VGPRs and memory, and no scalar register. */
static bool keeps_scalars(const struct xinst *x)
{
    switch (x->cls) {
    case XC_VMEM:
    case XC_FLAT_SCRATCH:
    case XC_MFMA:
        return x->isa->dst.kind != ISA_SGPR;
    case XC_LDS:
        return x->isa->dst.kind != ISA_SGPR && isa_facts[x->op].unit != ISA_UNIT_GWS;
    default:
        return false;
    }
}

/* A scalar load may go before lane-wise instructions that have nothing to do with its registers. */
static bool may_overtake(const struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    if (x->cls != XC_SMEM || isa_facts[x->op].effects & (ISA_E_STORE | ISA_E_CACHE) || e->writes)
        return false;
    for (int i = 0; i < 4; i++)
        if (inst->src[i].kind == ISA_SGPR && stretch_needs(e, inst->src[i].reg, inst->src[i].dwords, false))
            return false;
    if (inst->soffset.kind == ISA_SGPR && stretch_needs(e, inst->soffset.reg, 1, false))
        return false;
    for (unsigned reg = 0; reg < SREGS; reg++)
        if (e->scalar_made[reg])
            return false;
    return !e->scc_late && inst->dst.kind == ISA_SGPR && inst->dst.reg + inst->dst.dwords <= SREG_EXEC &&
           !stretch_needs(e, inst->dst.reg, inst->dst.dwords, true);
}

static void emit_instruction(struct emit *e, const struct xinst *x)
{
    if (lift_leaves(x)) {
        if (x->isa && lift_is_branch(x)) {
            counts_add(e, x);
            emit_branch(e, x);
        } else {
            stretch_flush(e);
            counts_add(e, x);
            emit_leave(e, x);
        }
        return;
    }
    if (lift_does_nothing(x->op)) {
        counts_add(e, x);
        return;
    }
    if (x->cls == XC_SALU) {
        if (lift_writes_exec(x)) {
            stretch_flush(e);
            store_counts(e);
        }
        if (masks_add(e, x) || scalars_emit(e, x)) {
            counts_add(e, x);
            return;
        }
    }
    if (stretch_add(e, x)) {
        counts_add(e, x);
        counts_add_bytes(e, x);
        return;
    }
    if (x->cls == XC_SMEM && scalars_load(e, x)) {
        counts_add(e, x);
        counts_add_bytes(e, x);
        return;
    }
    if ((is_lane_read(x) && emit_read_lane(e, x)) || cross_write_lane(e, x)) {
        counts_add(e, x);
        return;
    }
    if (crossbar_emit(e, x)) {
        counts_add(e, x);
        counts_add_bytes(e, x);
        return;
    }
    counts_add(e, x);
    if (!may_overtake(e, x))
        stretch_flush(e);
    store_counts(e);
    scalars_store(e);
    emit_call_handler(e, x);
    if (!keeps_scalars(x))
        scalars_forget(e);
}

/* ---- the function ---- */

uint32_t lift_heads(const struct exec_block *block, uint32_t *heads)
{
    bool *leader = calloc(block->count + 1, sizeof(*leader));
    if (!leader)
        return 0;
    leader[0] = true;
    for (size_t i = 0; i < block->count; i++) {
        const struct xinst *x = &block->x[i];
        if (!lift_leaves(x))
            continue;
        leader[i + 1] = true;
        if (x->isa && lift_is_branch(x))
            leader[x->target - block->x] = true;
    }
    /* The first write to LDS after one of these: a wave that leaves a barrier stops there. */
    bool written = false;
    uint32_t count = 0;
    for (size_t i = 0; i < block->count; i++) {
        written = written && !leader[i];
        if (exec_writes_lds(&block->x[i]) && !written) {
            leader[i] = true;
            written = true;
        }
        heads[i] = leader[i] ? ++count : 0;
    }
    heads[block->count] = 0;
    free(leader);
    return count;
}

static void set_attribute(struct emit *e, llvm_value function, const char *name, const char *value)
{
    e->l->AddAttributeAtIndex(function, (unsigned)LLVM_FUNCTION_INDEX,
                              e->l->CreateStringAttribute(e->context, name, (unsigned)strlen(name), value,
                                                          (unsigned)strlen(value)));
}

llvm_value emit_function(struct emit *e, const char *name, llvm_type type)
{
    const struct llvm *l = e->l;
    llvm_value function = l->AddFunction(e->module, name, type);
    set_attribute(e, function, "target-cpu", e->slice == 16 ? "x86-64-v4" : "x86-64-v3");
    set_attribute(e, function, "prefer-vector-width", e->slice == 16 ? "512" : "256");
    set_attribute(e, function, "min-legal-vector-width", e->slice == 16 ? "512" : "256");
    const unsigned nounwind = l->GetEnumAttributeKindForName("nounwind", 8);
    l->AddAttributeAtIndex(function, (unsigned)LLVM_FUNCTION_INDEX,
                           l->CreateEnumAttribute(e->context, nounwind, 0));
    return function;
}

static void prepare(struct emit *e, const struct lift_target *target, llvm_module module,
                    const struct exec_block *block, enum exec_form form, enum lift_effort effort)
{
    const struct llvm *l = target->l;
    *body_pairs(target->library) = (struct pairs){0};
    *e = (struct emit){.l = l,
                       .library = target->library,
                       .context = target->context,
                       .module = module,
                       .slice = target->slice,
                       .block = block,
                       .counts = form == EXEC_COUNTED,
                       .runs = form == EXEC_RUNS,
                       .effort = effort};
    ahead_find(e, block);
    e->void_ = l->VoidTypeInContext(e->context);
    e->i1 = l->Int1TypeInContext(e->context);
    e->i8 = l->Int8TypeInContext(e->context);
    e->i32 = l->Int32TypeInContext(e->context);
    e->i64 = l->Int64TypeInContext(e->context);
    e->ptr = l->PointerTypeInContext(e->context, 0);
    e->row = l->VectorType(e->i32, e->slice);
    e->bits = l->IntTypeInContext(e->context, e->slice);
    e->lanes = e->slice == 16 ? e->bits : e->row; /* with AVX-512 */
    llvm_type parameters[] = {e->ptr, e->ptr, e->i32, e->i32};
    e->handler = l->FunctionType(e->ptr, parameters, 2, 0);
    llvm_type redo[] = {e->ptr, e->ptr, e->ptr, e->i64, e->ptr};
    e->redo_type = l->FunctionType(e->void_, redo, 5, 0);
    e->redo = l->AddFunction(module, "redo_stretch", e->redo_type);
    e->ctpop = l->AddFunction(module, "llvm.ctpop.i64", l->FunctionType(e->i64, &e->i64, 1, 0));
    llvm_type bits[] = {e->i64, e->i1};
    llvm_type loop[] = {e->ptr, e->ptr, e->ptr, e->i64};
    e->redo_loop_type = l->FunctionType(e->ptr, loop, 4, 0);
    e->redo_loop = l->AddFunction(module, "redo_loop", e->redo_loop_type);
    llvm_type leaving[] = {e->ptr, e->ptr, e->ptr, e->i64, e->i64, e->ptr};
    e->redo_leaving_type = l->FunctionType(e->ptr, leaving, 6, 0);
    e->redo_leaving = l->AddFunction(module, "redo_leaving", e->redo_leaving_type);
    e->ctlz = l->AddFunction(module, "llvm.ctlz.i64", l->FunctionType(e->i64, bits, 2, 0));
    e->cttz = l->AddFunction(module, "llvm.cttz.i64", l->FunctionType(e->i64, bits, 2, 0));
    e->function = emit_function(e, LIFT_NAME, l->FunctionType(e->ptr, parameters, 4, 0));
    set_attribute(e, e->function, "stackrealign", ""); /* what goes to the stack are vectors */
    e->md_prof = l->GetMDKindIDInContext(e->context, "prof", 4);
    llvm_value weights[] = {l->MDStringInContext(e->context, "branch_weights", 14), emit_i32(e, 1),
                            emit_i32(e, 4000)};
    e->unlikely = l->MDNodeInContext(e->context, weights, 3);
    llvm_value one = emit_i32(e, 1);
    e->md_nontemporal = l->GetMDKindIDInContext(e->context, "nontemporal", 11);
    e->nontemporal = l->MDNodeInContext(e->context, &one, 1);
    e->w = l->GetParam(e->function, 0);
    e->x = l->GetParam(e->function, 1);
    e->b = l->CreateBuilderInContext(e->context);
    stretch_clear(e);
}

/* All instructions of the function. */
static void emit_whole(struct emit *e)
{
    const struct llvm *l = e->l;
    const struct exec_block *block = e->block;
    bool open = false; /* the present basic block goes on */
    bool written = false;
    e->flow = region_flow_find(e);
    for (size_t i = 0; i <= block->count; i++) {
        e->at = i;
        if (e->blocks[i]) {
            if (open) {
                settle(e);
                l->BuildBr(e->b, e->blocks[i]);
            }
            emit_goto(e, e->blocks[i]);
            scalars_forget(e);
            open = true;
            written = false;
        }
        const struct xinst *x = &block->x[i];
        if (i == block->count) { /* off the end */
            l->BuildRet(e->b, emit_instruction_at(e, x));
            break;
        }
        const struct xinst *last = e->blocks[i] ? loop_emit(e, x) : NULL;
        if (last) {
            i = (size_t)(last - block->x);
            open = false;
            continue;
        }
        if (e->blocks[i])
            region_emit(e, i);
        if (exec_writes_lds(x) && !written) {
            stop_at_write(e, x);
            written = true;
        }
        emit_instruction(e, x);
        open = open && !lift_leaves(x);
    }
}

static void emit_run(struct emit *e, size_t first, size_t length)
{
    emit_goto(e, e->blocks[first]);
    scalars_forget(e);
    for (e->at = first; e->at < first + length; e->at++)
        emit_instruction(e, &e->block->x[e->at]);
    settle(e);
    e->l->BuildRet(e->b, emit_instruction_at(e, &e->block->x[first + length]));
}

void lift_function(const struct lift_target *target, llvm_module module, const struct exec_block *block,
                   enum exec_form form, const uint32_t *heads, const struct exec_run *runs,
                   enum lift_effort effort)
{
    struct emit *e = malloc(sizeof(*e));
    assert(e);
    prepare(e, target, module, block, form, effort);
    const struct llvm *l = e->l;
    e->blocks = calloc(block->count + 1, sizeof(*e->blocks));
    assert(e->blocks);
    e->entry = emit_block(e);
    uint32_t count_heads = 0;
    for (size_t i = 0; i <= block->count; i++) {
        e->blocks[i] = heads[i] || (i == block->count && !runs) ? emit_block(e) : NULL;
        count_heads += heads[i] != 0;
    }
    llvm_block start = emit_block(e);
    emit_goto(e, start);
    e->guard = emit_load(e, e->ptr, e->w, offsetof(struct wave, guard));
    e->lds = emit_load(e, e->ptr, e->w, offsetof(struct wave, lds));
    e->lds_bytes = emit_load(e, e->i32, e->w, offsetof(struct wave, lds_bytes));
    e->scratch_bytes = emit_load(e, e->i32, e->w, offsetof(struct wave, scratch_bytes));
    e->arena = emit_load(e, e->i64, e->w, offsetof(struct wave, mem_arena));
    e->arena_mask = emit_load(e, e->i64, e->w, offsetof(struct wave, mem_mask));
    if (!runs && lift_stores(block))
        e->in_cache = emit_load(e, e->i64, e->guard, offsetof(struct wave_guard, in_cache));
    if (e->counts)
        e->stats = emit_load(e, e->ptr, e->w, offsetof(struct wave, stats));
    e->live = live_find(e);
    e->constants = runs ? NULL : constants_find(e);
    e->guess = runs ? NULL : guess_find(block);
    begin_find(e, heads);
    begin_emit(e);
    e->v = emit_load(e, e->ptr, e->w, offsetof(struct wave, v));
    e->scratch = emit_load(e, e->ptr, e->w, offsetof(struct wave, scratch));
    llvm_block nowhere = emit_block(e);
    llvm_value which = l->BuildSwitch(e->b, e->begin.which, nowhere, count_heads + 1);
    if (!runs)
        l->AddCase(which, emit_i32(e, 0), e->blocks[0]);
    for (size_t i = 0; i < block->count; i++)
        if (heads[i])
            l->AddCase(which, emit_i32(e, heads[i]), e->blocks[i]);
    emit_goto(e, nowhere);
    l->BuildUnreachable(e->b);

    if (!runs)
        emit_whole(e);
    for (size_t i = 0; runs && i < block->count; i++)
        if (heads[i])
            emit_run(e, i, runs[i].length);
    begin_close(e);
    emit_goto(e, e->entry);
    l->BuildBr(e->b, start);
    l->DisposeBuilder(e->b);
    live_free(e->live);
    free(e->constants);
    free(e->guess);
    region_flow_free(e->flow);
    free(e->blocks);
    free(e);
}
