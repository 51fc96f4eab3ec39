/* SPDX-License-Identifier: MIT */
/* Scalar registers as values, and the scalar ALU; see emit.h. */
#include "jit/emit.h"

#include <stdio.h>
#include <string.h>

#include "isa/facts.h"
#include "sem/memory/memop.h"

static int64_t place(unsigned reg)
{
    return (int64_t)(offsetof(struct wave, s) + reg * 4);
}

static llvm_value widen(struct emit *e, llvm_value value)
{
    return e->l->BuildZExt(e->b, value, e->i64, "");
}

static llvm_value half_of(struct emit *e, llvm_value pair, unsigned reg)
{
    if (reg & 1)
        pair = e->l->BuildLShr(e->b, pair, emit_i64(e, 32), "");
    return e->l->BuildTrunc(e->b, pair, e->i32, "");
}

/*
 * LLVM 22's back end takes "high half of one register, low half of a loaded one" for a value of 32 bits whose
 * upper part is zero, though the first may come from 64 bits.  It does so only where it may narrow the load.
 */
llvm_value emit_load_whole(struct emit *e, llvm_type type, llvm_value base, int64_t bytes)
{
    llvm_value value = emit_load(e, type, base, bytes);
    e->l->SetVolatile(value, 1);
    return value;
}

void emit_store_whole(struct emit *e, llvm_value value, llvm_value base, int64_t bytes)
{
    e->l->SetVolatile(e->l->BuildStore(e->b, value, emit_at(e, base, bytes)), 1);
}

llvm_value scalars_get32(struct emit *e, unsigned reg)
{
    if (!e->s[reg])
        e->s[reg] = e->pair[reg / 2] ? half_of(e, e->pair[reg / 2], reg)
                    : e->loop        ? loop_scalar32(e, reg)
                    : e->region      ? region_scalar32(e, reg)
                                     : emit_load_whole(e, e->i32, e->w, place(reg));
    return e->s[reg];
}

llvm_value scalars_get64(struct emit *e, unsigned reg)
{
    llvm_value *pair = reg & 1 ? NULL : &e->pair[reg / 2];
    if (pair && *pair)
        return *pair;
    llvm_value value = NULL;
    if (pair && !e->s[reg] && !e->s[reg + 1])
        value = e->loop     ? loop_scalar64(e, reg)
                : e->region ? region_scalar64(e, reg)
                            : emit_load_whole(e, e->i64, e->w, place(reg));
    if (!value) {
        llvm_value low = e->l->BuildZExt(e->b, scalars_get32(e, reg), e->i64, "");
        llvm_value high = e->l->BuildZExt(e->b, scalars_get32(e, reg + 1), e->i64, "");
        value = e->l->BuildOr(e->b, low, e->l->BuildShl(e->b, high, emit_i64(e, 32), ""), "");
    }
    if (pair)
        *pair = value;
    return value;
}

void scalars_set32(struct emit *e, unsigned reg, llvm_value value)
{
    if (e->pair[reg / 2] && e->dirty[reg ^ 1])
        scalars_get32(e, reg ^ 1); /* the other half stays, by itself */
    e->pair[reg / 2] = NULL;
    e->s[reg] = value;
    e->dirty[reg] = true;
}

void scalars_set64(struct emit *e, unsigned reg, llvm_value value)
{
    if (reg & 1) {
        scalars_set32(e, reg, e->l->BuildTrunc(e->b, value, e->i32, ""));
        scalars_set32(e, reg + 1,
                      e->l->BuildTrunc(e->b, e->l->BuildLShr(e->b, value, emit_i64(e, 32), ""), e->i32, ""));
        return;
    }
    e->pair[reg / 2] = value;
    e->s[reg] = e->s[reg + 1] = NULL;
    e->dirty[reg] = e->dirty[reg + 1] = true;
}

void scalars_keep(const struct emit *e, struct scalars_known *k)
{
    memcpy(k->s, e->s, sizeof(k->s));
    memcpy(k->pair, e->pair, sizeof(k->pair));
    memcpy(k->dirty, e->dirty, sizeof(k->dirty));
    k->scc = e->scc;
    k->scc_dirty = e->scc_dirty;
}

void scalars_restore(struct emit *e, const struct scalars_known *k)
{
    memcpy(e->s, k->s, sizeof(k->s));
    memcpy(e->pair, k->pair, sizeof(k->pair));
    memcpy(e->dirty, k->dirty, sizeof(k->dirty));
    e->scc = k->scc;
    e->scc_dirty = k->scc_dirty;
}

llvm_value scalars_get_scc(struct emit *e)
{
    if (e->mask_written[MASK_SCC] && !emit_turns(e))
        stretch_flush(e);
    if (!e->scc)
        e->scc = e->loop     ? loop_scc(e)
                 : e->region ? region_scc(e)
                             : emit_load(e, e->i8, e->w, offsetof(struct wave, scc));
    return e->scc;
}

void scalars_set_scc(struct emit *e, llvm_value value)
{
    e->scc = value;
    e->scc_dirty = true;
    memset(e->mask_written + MASK_SCC, false, 2);
}

/*
 * What the scalar ALU does between a stretch's instructions is done before them, as they have the values that
 * they are to have.  Who redoes the stretch executes it once more (redo.c), and finds in the wave what was
 * there before: what had been read when it was written is late, and is stored when the stretch is done.
 */
static bool is_within_stretch(const struct emit *e)
{
    return e->ops && !emit_turns(e);
}

static void note_read(struct emit *e, unsigned reg, unsigned count)
{
    if (is_within_stretch(e))
        memset(e->scalar_read + reg, true, count);
}

static void note_write(struct emit *e, unsigned reg, unsigned count)
{
    for (unsigned i = reg; i < reg + count && is_within_stretch(e); i++) {
        e->scalar_made[i] = true;
        if (!e->scalar_read[i] || e->late[i])
            continue;
        if (e->dirty[i])
            emit_store(e, scalars_get32(e, i), e->w, place(i));
        e->late[i] = true;
        e->late_at[i] = e->at;
    }
}

/* What is known is not of the present block alone. */
static void store_known(struct emit *e, unsigned reg)
{
    emit_store(e, e->s[reg] ? e->s[reg] : half_of(e, e->pair[reg / 2], reg), e->w, place(reg));
}

void scalars_store_late(struct emit *e, size_t before)
{
    for (unsigned reg = 0; reg < SREGS; reg++)
        if (e->late[reg] && e->late_at[reg] < before)
            store_known(e, reg);
}

static void note_write_of_scc(struct emit *e)
{
    if (!is_within_stretch(e) || !e->scc_read || e->scc_late)
        return;
    if (e->scc_dirty)
        emit_store(e, e->scc, e->w, offsetof(struct wave, scc));
    e->scc_late = true;
}

bool scalars_are_late(const struct emit *e, unsigned reg, unsigned count)
{
    for (unsigned i = reg; i < reg + count && i < SREGS; i++)
        if (e->late[i])
            return true;
    return false;
}

static bool is_to_store(const struct emit *e, unsigned reg)
{
    return e->dirty[reg] && !e->late[reg];
}

static void store_dirty(struct emit *e)
{
    for (unsigned reg = 0; reg < SREGS; reg += 2) {
        if (e->pair[reg / 2] && is_to_store(e, reg) && is_to_store(e, reg + 1)) {
            emit_store(e, e->pair[reg / 2], e->w, place(reg));
        } else {
            for (unsigned i = reg; i < reg + 2; i++)
                if (is_to_store(e, i))
                    store_known(e, i);
        }
    }
    if (e->scc_dirty && !e->scc_late)
        emit_store(e, e->scc, e->w, offsetof(struct wave, scc));
}

void scalars_store(struct emit *e)
{
    store_dirty(e);
    for (unsigned reg = 0; reg < SREGS; reg++)
        e->dirty[reg] &= e->late[reg];
    e->scc_dirty &= e->scc_late;
}

void scalars_forget(struct emit *e)
{
    memset(e->s, 0, sizeof(e->s));
    memset(e->pair, 0, sizeof(e->pair));
    e->scc = NULL;
}

/* ---- loads ---- */

bool scalars_is_load(const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    const struct memop *op = memop_of(inst->op);
    const struct isa_operand *d = &inst->dst, *base = &inst->src[ISA_SBASE];
    return op->action == MEMOP_LOAD && !op->scratch && base->kind == ISA_SGPR && base->dwords == 2 &&
           d->kind == ISA_SGPR && d->dwords == op->dwords && d->reg + d->dwords <= SREG_EXEC &&
           (inst->soffset.kind == ISA_NONE || inst->soffset.kind == ISA_SGPR);
}

static void load_dwords(struct emit *e, llvm_value address, unsigned count, llvm_value *dwords)
{
    llvm_value memory = e->l->BuildIntToPtr(e->b, address, e->ptr, "");
    for (unsigned i = 0; i < count; i++)
        dwords[i] = emit_load(e, e->i32, memory, i * 4);
}

static void load_in_turns(struct emit *e, llvm_value address, const struct isa_operand *d)
{
    llvm_value memory = e->l->BuildIntToPtr(e->b, address, e->ptr, ""), dwords[16];
    /* What nobody reads may fault all the same; of bytes, as LLVM would take a dword for the one below. */
    emit_load_whole(e, e->i8, memory, 0);
    emit_load_whole(e, e->i8, memory, (int64_t)d->dwords * 4 - 4);
    load_dwords(e, address, d->dwords, dwords);
    for (unsigned i = 0; i < d->dwords; i++)
        scalars_set32(e, d->reg + i, dwords[i]);
}

/* From somewhere harmless where it is not the GPU's own memory, as the iteration's end finds out. */
static void load_blind(struct emit *e, llvm_value address, llvm_value is_far, const struct isa_operand *d)
{
    const struct llvm *l = e->l;
    struct loop *loop = e->loop;
    llvm_value harmless = l->BuildPtrToInt(e->b, e->w, e->i64, "");
    load_in_turns(e, l->BuildSelect(e->b, is_far, harmless, address, ""), d);
    loop->far = loop->far ? l->BuildOr(e->b, loop->far, is_far, "") : is_far;
}

/* Memory that is the GPU's own is read here; what else there is, the handler finds out. */
bool scalars_load(struct emit *e, const struct xinst *x)
{
    const struct llvm *l = e->l;
    const struct isa_inst *inst = x->isa;
    const struct isa_operand *d = &inst->dst, *base = &inst->src[ISA_SBASE];
    if (!scalars_is_load(x))
        return false;
    const bool soffset = inst->soffset.kind == ISA_SGPR;
    bool made = false;
    for (unsigned i = d->reg; i < d->reg + d->dwords; i++)
        made |= e->scalar_made[i];
    if (e->writes || made || stretch_needs(e, base->reg, 2, false) ||
        stretch_needs(e, d->reg, d->dwords, true) ||
        (soffset && stretch_needs(e, inst->soffset.reg, 1, false)) || scalars_are_late(e, base->reg, 2) ||
        (soffset && scalars_are_late(e, inst->soffset.reg, 1)))
        stretch_flush(e); /* the handler must find, and may change, what is the wave's */
    llvm_value sum = scalars_get64(e, base->reg), same, loaded[3][16];
    if (soffset)
        sum = l->BuildAdd(e->b, sum, widen(e, scalars_get32(e, inst->soffset.reg)), "");
    struct early_load *begin = e->loop ? NULL : begin_loaded(e, x, sum, &same);
    llvm_block early = NULL;
    if (begin) {
        llvm_block look = emit_block(e);
        early = emit_block(e);
        l->SetMetadata(l->BuildCondBr(e->b, l->BuildNot(e->b, same, ""), look, early), e->md_prof,
                       e->unlikely);
        emit_goto(e, look);
    }
    llvm_value address = l->BuildAdd(e->b, sum, emit_i64(e, x->mem.offset), "");
    address = l->BuildAnd(e->b, address, emit_i64(e, ~UINT64_C(3)), "");
    llvm_value far = l->BuildAnd(e->b, l->BuildXor(e->b, address, e->arena, ""), e->arena_mask, "");
    llvm_value is_far = l->BuildICmp(e->b, LLVM_NE, far, emit_i64(e, 0), "");
    if (e->loop && e->loop->loads_blind) {
        load_blind(e, address, is_far, d);
        return true;
    }
    llvm_block near = emit_block(e), other = e->loop     ? e->loop->redo
                                             : e->region ? region_bail(e)
                                                         : emit_block(e);
    l->SetMetadata(l->BuildCondBr(e->b, is_far, other, near), e->md_prof, e->unlikely);
    emit_goto(e, near);
    if (emit_turns(e)) {
        if (e->loop)
            e->loop->redoes = true;
        load_in_turns(e, address, d);
        return true;
    }
    llvm_block done = emit_block(e);
    emit_access(e, x);
    load_dwords(e, address, d->dwords, loaded[0]);
    emit_access(e, NULL);
    l->BuildBr(e->b, done);
    emit_goto(e, other);
    store_dirty(e);
    emit_call_uncounted(e, x);
    for (unsigned i = 0; i < d->dwords; i++)
        loaded[1][i] = emit_load(e, e->i32, e->w, place(d->reg + i));
    l->BuildBr(e->b, done);
    if (early) {
        emit_goto(e, early);
        l->BuildBr(e->b, done);
    }
    emit_goto(e, done);
    llvm_block from[] = {near, other, early};
    for (unsigned i = 0; i < d->dwords; i++) {
        llvm_value value = l->BuildPhi(e->b, e->i32, "");
        l->AddIncoming(value, &loaded[0][i], &from[0], 1);
        l->AddIncoming(value, &loaded[1][i], &from[1], 1);
        if (early)
            l->AddIncoming(value, &begin->dword[i], &from[2], 1);
        loaded[0][i] = value;
    }
    for (unsigned i = 0; i < d->dwords; i++)
        scalars_set32(e, d->reg + i, loaded[0][i]);
    return true;
}

/* ---- the scalar ALU ---- */

/* A source as 64 bits; NULL when it is none that is a value here. */
static llvm_value source(struct emit *e, const struct isa_operand *o)
{
    if (o->kind == ISA_CONST)
        return emit_i64(e, o->dwords == 1 ? (uint32_t)o->value : o->value);
    if (o->kind != ISA_SGPR)
        return NULL;
    return o->dwords == 1 ? widen(e, scalars_get32(e, o->reg)) : scalars_get64(e, o->reg);
}

static bool is_value(const struct isa_operand *o)
{
    return o->kind == ISA_NONE || o->kind == ISA_CONST || (o->kind == ISA_SGPR && o->dwords <= 2);
}

/* Whether the stretch makes a mask of it. */
static bool is_made(struct emit *e, const struct isa_operand *o)
{
    return o->kind == ISA_SGPR && stretch_needs(e, o->reg, o->dwords, false);
}

enum { OLD = 2 /* the argument that is the destination before the instruction */ };

bool scalars_reads_old(const struct body *body)
{
    return body_takes(body, OLD);
}

const struct body *scalars_body(struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    const struct isa_operand *d = &inst->dst;
    char name[64];
    snprintf(name, sizeof(name), "scalar_%s", emit_op_name(inst->op));
    if (!is_value(&inst->src[0]) || !is_value(&inst->src[1]) || (d->kind != ISA_NONE && d->kind != ISA_SGPR))
        return NULL;
    return body_find(e->library, name);
}

static void note_reads(struct emit *e, const struct xinst *x, bool reads_old)
{
    const struct isa_inst *inst = x->isa;
    for (unsigned i = 0; i < 2; i++)
        if (inst->src[i].kind == ISA_SGPR)
            note_read(e, inst->src[i].reg, inst->src[i].dwords);
    if (reads_old && inst->format == ISA_SOPK)
        note_read(e, x->sd, 1);
    else if (reads_old)
        note_read(e, inst->dst.reg, inst->dst.dwords);
    e->scc_read |= is_within_stretch(e) && isa_facts[x->op].effects & ISA_E_READS_SCC;
}

bool scalars_emit(struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    const uint32_t effects = isa_facts[inst->op].effects;
    const struct body *body = scalars_body(e, x);
    if (!body)
        return false;
    const struct isa_operand *d = &inst->dst;
    const struct isa_operand *s0 = &inst->src[0], *s1 = &inst->src[1];
    const bool execs = effects & ISA_E_SETS_EXEC,
               to_exec = d->kind == ISA_SGPR && d->reg + d->dwords > SREG_EXEC;
    const bool again = d->kind == ISA_SGPR && scalars_are_late(e, d->reg, d->dwords);
    const bool late_scc = effects & ISA_E_SETS_SCC && e->scc_read && e->joined;
    if (execs || to_exec || is_made(e, s0) || is_made(e, s1) || is_made(e, d) || again || late_scc)
        stretch_flush(e);
    const bool reads_old = scalars_reads_old(body) && (d->kind == ISA_SGPR || inst->format == ISA_SOPK);
    llvm_value scc = effects & ISA_E_READS_SCC ? scalars_get_scc(e) : e->l->ConstNull(e->i8);
    llvm_value argument[3];
    argument[0] = s0->kind == ISA_NONE ? emit_i64(e, 0) : source(e, s0);
    argument[1] = s1->kind == ISA_NONE ? emit_i64(e, 0) : source(e, s1);
    argument[OLD] = emit_i64(e, 0);
    if (inst->format == ISA_SOPK) /* the constant and the register */
        argument[0] = emit_i64(e, x->control.simm);
    if (reads_old)
        argument[OLD] = inst->format == ISA_SOPK ? widen(e, scalars_get32(e, x->sd)) : source(e, d);
    if (execs)
        argument[1] = scalars_get64(e, SREG_EXEC);
    note_reads(e, x, reads_old);
    llvm_value result = body_emit_scalar(e->library, body, e->module, e->b, argument, &scc);
    if (effects & ISA_E_SETS_SCC) {
        note_write_of_scc(e);
        scalars_set_scc(e, scc);
    }
    if (d->kind == ISA_SGPR)
        note_write(e, d->reg, d->dwords);
    if (execs) {
        const bool wrexec = inst->op == ISA_OP_s_andn1_wrexec_b64 || inst->op == ISA_OP_s_andn2_wrexec_b64;
        llvm_value before = scalars_get64(e, SREG_EXEC);
        scalars_set64(e, d->reg, wrexec ? result : before);
        scalars_set64(e, SREG_EXEC, result);
    } else if (d->kind == ISA_SGPR) {
        if (d->dwords == 1)
            scalars_set32(e, d->reg, e->l->BuildTrunc(e->b, result, e->i32, ""));
        else
            scalars_set64(e, d->reg, result);
    }
    return true;
}
