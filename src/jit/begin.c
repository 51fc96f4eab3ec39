/* SPDX-License-Identifier: MIT */
/*
 * Waves that begin.  A kernel is entered for all waves of a workgroup at once, which go through it one after
 * another: see exec_compiled_fn.  What is known of a wave that begins, and of no other that comes to the
 * function's first instruction, holds in the first basic block:
 *
 * - What the first scalar loads bring, as their addresses follow from registers that nothing has written yet.
 *   They are done for the first wave, and each other looks whether it has the same addresses.  On the chip
 *   the waves of a workgroup begin together, and so read before any of them comes to a store.
 * - Work-item ids in VGPR 0, mostly (wave.counts_up).
 *
 * Waves are short where that counts.  Where there are loops each wave is a call of its own: around them, LLVM
 * would keep in memory what they need.
 */
#include <string.h>

#include "isa/facts.h"
#include "jit/emit.h"
#include "wave/fault.h"

enum { LONG = 512 /* instructions */ };

/* ---- what there is ---- */

static size_t end_of_first_block(const struct exec_block *block, const uint32_t *heads)
{
    size_t end = 1;
    while (end < block->count && !heads[end])
        end++;
    return end;
}

static bool goes_back(const struct exec_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->x[i].isa && lift_is_branch(&block->x[i]) && block->x[i].target <= &block->x[i])
            return true;
    return false;
}

static bool goes_to_first(const struct exec_block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->x[i].isa && lift_is_branch(&block->x[i]) && block->x[i].target == block->x)
            return true;
    return false;
}

/* Whether it may write to VGPR 0. */
static bool writes_ids(const struct xinst *x)
{
    const struct isa_operand *d = &x->isa->dst;
    return (d->kind == ISA_VGPR && d->reg == 0) || x->op == ISA_OP_v_swap_b32;
}

static bool touches(const bool *written, const struct isa_operand *o)
{
    for (unsigned i = o->reg; o->kind == ISA_SGPR && i < o->reg + o->dwords && i < SREGS; i++)
        if (written[i])
            return true;
    return false;
}

static void note(bool *written, const struct isa_operand *o)
{
    if (o->kind == ISA_SGPR)
        for (unsigned i = o->reg; i < o->reg + o->dwords && i < SREGS; i++)
            written[i] = true;
}

/* What may go before a scalar load without that it or the load could tell. */
static bool may_follow(struct emit *e, const struct xinst *x)
{
    struct lane_op op;
    if (lift_leaves(x))
        return false;
    if (lift_does_nothing(x->op) || (x->cls == XC_SMEM && scalars_is_load(x)))
        return true;
    if (x->cls == XC_SALU)
        return scalars_body(e, x) != NULL;
    return x->cls == XC_VALU && stretch_takes(e, x, &op) && op.body;
}

static void find_loads(struct emit *e, size_t end)
{
    struct begin *g = &e->begin;
    bool written[SREGS] = {false};
    for (size_t i = 0; i < end && g->loads < BEGIN_LOADS; i++) {
        const struct xinst *x = &e->block->x[i];
        if (!may_follow(e, x))
            return;
        const struct isa_inst *inst = x->isa;
        if (x->cls == XC_SMEM && !touches(written, &inst->src[ISA_SBASE]) &&
            !touches(written, &inst->soffset))
            g->load[g->loads++].x = x;
        note(written, &inst->dst);
        note(written, &inst->sdst);
        if (x->cls == XC_SALU && inst->format == ISA_SOPK && x->sd < SREGS)
            written[x->sd] = true;
        if (isa_facts[x->op].effects & ISA_E_SETS_EXEC)
            written[SREG_EXEC] = written[SREG_EXEC + 1] = true;
    }
}

void begin_find(struct emit *e, const uint32_t *heads)
{
    struct begin *g = &e->begin;
    const struct exec_block *block = e->block;
    memset(g, 0, sizeof(*g));
    if (e->runs || !block->count)
        return;
    g->loops = block->count <= LONG && !goes_back(block);
    if (goes_to_first(block) || !e->live)
        return;
    const size_t end = end_of_first_block(block, heads);
    while (g->ids_end + 1 < end && block->x[g->ids_end].isa && !writes_ids(&block->x[g->ids_end]))
        g->ids_end++;
    g->has_ids = true;
    if (g->loops)
        find_loads(e, end);
}

bool begin_has_ids(const struct emit *e)
{
    return e->begin.has_ids && e->ops && (size_t)(e->op[0].x - e->block->x) <= e->begin.ids_end;
}

/* ---- the loop over waves ---- */

static int64_t place(unsigned reg)
{
    return (int64_t)(offsetof(struct wave, s) + reg * sizeof(uint32_t));
}

/* What the registers add up to that make an address, of the first wave. */
static llvm_value sum_of(struct emit *e, const struct xinst *x)
{
    const struct isa_inst *inst = x->isa;
    llvm_value sum = emit_load_whole(e, e->i64, e->w, place(inst->src[ISA_SBASE].reg));
    if (inst->soffset.kind != ISA_SGPR)
        return sum;
    llvm_value offset = emit_load_whole(e, e->i32, e->w, place(inst->soffset.reg));
    return e->l->BuildAdd(e->b, sum, e->l->BuildZExt(e->b, offset, e->i64, ""), "");
}

static void come_from(struct emit *e, llvm_value value, llvm_value what, llvm_block from)
{
    e->l->AddIncoming(value, &what, &from, 1);
}

static llvm_value phi(struct emit *e, llvm_type type, llvm_value first, llvm_block from)
{
    llvm_value value = e->l->BuildPhi(e->b, type, "");
    come_from(e, value, first, from);
    return value;
}

/* The loads, of which none is far. */
static void emit_loads(struct emit *e, llvm_value dword[][BEGIN_DWORDS], const llvm_value *address)
{
    const struct begin *g = &e->begin;
    for (unsigned i = 0; i < g->loads; i++) {
        llvm_value memory = e->l->BuildIntToPtr(e->b, address[i], e->ptr, "");
        emit_access(e, g->load[i].x);
        for (unsigned d = 0; d < g->load[i].x->isa->dst.dwords; d++)
            dword[i][d] = emit_load(e, e->i32, memory, d * 4);
    }
    emit_access(e, NULL);
}

/* From the block that there is to the head of the loop over waves, where the wave is known, and what is
 * loaded. */
void begin_emit(struct emit *e)
{
    const struct llvm *l = e->l;
    struct begin *g = &e->begin;
    llvm_value first = e->w, which = l->GetParam(e->function, 2), waves = l->GetParam(e->function, 3);
    llvm_value sum[BEGIN_LOADS], address[BEGIN_LOADS], dword[BEGIN_LOADS][BEGIN_DWORDS];
    llvm_value no = l->ConstNull(e->i1), yes = l->ConstAllOnes(e->i1);
    llvm_block start = l->GetInsertBlock(e->b), head = emit_block(e), look = g->loads ? emit_block(e) : NULL,
               read = look ? emit_block(e) : NULL;
    llvm_value far = NULL;
    if (look) {
        emit_goto(e, look);
        for (unsigned i = 0; i < g->loads; i++) {
            sum[i] = sum_of(e, g->load[i].x);
            address[i] = l->BuildAdd(e->b, sum[i], emit_i64(e, g->load[i].x->mem.offset), "");
            address[i] = l->BuildAnd(e->b, address[i], emit_i64(e, ~UINT64_C(3)), "");
            llvm_value other = l->BuildXor(e->b, address[i], e->arena, "");
            far = far ? l->BuildOr(e->b, far, other, "") : other;
        }
        far = l->BuildAnd(e->b, far, e->arena_mask, "");
        far = l->BuildICmp(e->b, LLVM_NE, far, emit_i64(e, 0), "");
        l->SetMetadata(l->BuildCondBr(e->b, far, head, read), e->md_prof, e->unlikely);
        emit_goto(e, read);
        emit_loads(e, dword, address);
        l->BuildBr(e->b, head);
    }
    emit_goto(e, start);
    if (look)
        l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, which, emit_i32(e, 0), ""), look, head);
    else
        l->BuildBr(e->b, head);
    emit_goto(e, head);
    g->head = head;
    e->w = phi(e, e->ptr, first, start);
    g->which = phi(e, e->i32, which, start);
    g->left = phi(e, e->i32, waves, start);
    g->ready = phi(e, e->i1, no, start);
    for (unsigned i = 0; i < g->loads; i++) {
        struct early_load *load = &g->load[i];
        load->sum = phi(e, e->i64, emit_i64(e, 0), start);
        for (unsigned d = 0; d < load->x->isa->dst.dwords; d++)
            load->dword[d] = phi(e, e->i32, emit_i32(e, 0), start);
    }
    for (unsigned from = 0; look && from < 2; from++) {
        llvm_block block = from ? read : look;
        come_from(e, e->w, first, block);
        come_from(e, g->which, which, block);
        come_from(e, g->left, waves, block);
        come_from(e, g->ready, from ? yes : no, block);
        for (unsigned i = 0; i < g->loads; i++) {
            come_from(e, g->load[i].sum, sum[i], block);
            for (unsigned d = 0; d < g->load[i].x->isa->dst.dwords; d++)
                come_from(e, g->load[i].dword[d], from ? dword[i][d] : emit_i32(e, 0), block);
        }
    }
    g->is = l->BuildICmp(e->b, LLVM_EQ, g->which, emit_i32(e, 0), "");
}

/* The wave has ended; the block that is there is left. */
void begin_end_wave(struct emit *e)
{
    if (!e->begin.loops) {
        e->l->BuildRet(e->b, e->l->ConstNull(e->ptr));
        return;
    }
    if (!e->begin.ended)
        e->begin.ended = emit_block(e);
    e->l->BuildBr(e->b, e->begin.ended);
}

/* To the next wave, if there is one. */
void begin_close(struct emit *e)
{
    const struct llvm *l = e->l;
    struct begin *g = &e->begin;
    if (!g->ended)
        return;
    llvm_block next = emit_block(e), last = emit_block(e);
    emit_goto(e, g->ended);
    llvm_value left = l->BuildSub(e->b, g->left, emit_i32(e, 1), "");
    llvm_value ends = l->BuildICmp(e->b, LLVM_EQ, left, emit_i32(e, 0), "");
    l->BuildCondBr(e->b, ends, last, next);
    emit_goto(e, last);
    l->BuildRet(e->b, l->ConstNull(e->ptr));
    emit_goto(e, next);
    llvm_value w = emit_at(e, e->w, sizeof(struct wave));
    emit_store(e, w, e->guard, offsetof(struct wave_guard, wave));
    l->BuildBr(e->b, g->head);
    come_from(e, e->w, w, next);
    come_from(e, g->which, emit_i32(e, 0), next);
    come_from(e, g->left, left, next);
    come_from(e, g->ready, g->ready, next);
    for (unsigned i = 0; i < g->loads; i++) {
        come_from(e, g->load[i].sum, g->load[i].sum, next);
        for (unsigned d = 0; d < g->load[i].x->isa->dst.dwords; d++)
            come_from(e, g->load[i].dword[d], g->load[i].dword[d], next);
    }
}

struct early_load *begin_loaded(struct emit *e, const struct xinst *x, llvm_value sum, llvm_value *same)
{
    const struct llvm *l = e->l;
    struct begin *g = &e->begin;
    for (unsigned i = 0; i < g->loads; i++)
        if (g->load[i].x == x) {
            llvm_value equal = l->BuildICmp(e->b, LLVM_EQ, sum, g->load[i].sum, "");
            *same = l->BuildAnd(e->b, g->ready, equal, "");
            return &g->load[i];
        }
    return NULL;
}
