/* SPDX-License-Identifier: MIT */
/*
 * Which VGPRs somebody may read again, so that results which nobody does need no store; and which scalar
 * registers, of which lanes make masks.
 *
 * A row is dead in a lane when, whatever way control goes, the lane overwrites it before it reads it.  Lanes
 * are looked at in two states: one that is active executes what control comes to, and one that is idle passes
 * it by, until EXEC gains lanes.  Where EXEC loses lanes, one that is active may become idle.  A branch that
 * is taken when EXEC is zero is one that no active lane goes by.
 *
 * What leaves the function, may index registers or is not known reads all rows.  The interpreter, where it
 * takes over, executes the same instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "isa/facts.h"
#include "jit/emit.h"
#include "wave/fuse.h"

enum { WORDS = WAVE_ROWS / 64, GPR_INDEX_BIT = 27 /* of MODE */ };

struct rows {
    uint64_t word[WORDS];
};

/* Scalar registers, and SCC. */
enum { SCC = SREGS, SCALARS = SREGS + 1 };
struct scalars {
    uint64_t word[(SCALARS + 63) / 64];
};

/* An instruction and what follows. */
struct place {
    struct scalars scalar_reads, scalar_kills, scalar_live; /* the latter before it */
    struct rows reads, kills;
    struct rows live;  /* before it, in lanes that are active */
    struct rows idle;  /* in those that are not */
    uint32_t target;   /* where it branches to; UINT32_MAX: it does not */
    bool continues;    /* the next one may follow */
    bool crosses;      /* it may read what lanes have that are not active */
    bool loses, gains; /* EXEC may lanes */
    bool only_idle;    /* active lanes do not go to the target, */
    bool only_target;  /* or nowhere else */
};

struct live {
    struct place *place;
    size_t count;
};

static void add_rows(struct rows *r, unsigned row, unsigned count)
{
    for (unsigned i = row; i < row + count && i < WAVE_ROWS; i++)
        r->word[i / 64] |= UINT64_C(1) << i % 64;
}

static void add_all(struct rows *r)
{
    memset(r, 0xff, sizeof(*r));
}

static bool is_row(const struct isa_operand *o)
{
    return o->kind == ISA_VGPR || o->kind == ISA_AGPR;
}

static void add_operand(struct rows *r, const struct isa_operand *o)
{
    if (is_row(o))
        add_rows(r, stretch_row(o), o->dwords);
}

static void add_scalars(struct scalars *s, unsigned reg, unsigned count)
{
    for (unsigned i = reg; i < reg + count && i < SCALARS; i++)
        s->word[i / 64] |= UINT64_C(1) << i % 64;
}

static void add_all_of(struct place *p)
{
    p->crosses = true;
    add_all(&p->reads);
    add_scalars(&p->scalar_reads, 0, SCALARS);
}

/* ---- an instruction ---- */

/* Whether what it does to rows cannot be told from its operands, for it and for what comes after it. */
static bool may_index(const struct xinst *x)
{
    switch (x->op) {
    case ISA_OP_s_set_gpr_idx_on:
    case ISA_OP_s_set_gpr_idx_mode:
        return true;
    case ISA_OP_s_setreg_b32:
    case ISA_OP_s_setreg_imm32_b32: { /* the register, its first bit, and how many less one */
        const unsigned field = (unsigned)x->control.simm;
        return (field >> 6 & 31) + (field >> 11 & 31) + 1 > GPR_INDEX_BIT;
    }
    default:
        return false;
    }
}

static bool meets_exec(const struct isa_operand *o)
{
    return o->kind == ISA_SGPR && o->reg <= SREG_EXEC + 1 && o->reg + o->dwords > SREG_EXEC;
}

/* Of those that write EXEC: whether all lanes that are active stay so. */
static bool widens(const struct isa_inst *inst)
{
    switch (inst->op) {
    case ISA_OP_s_mov_b64:
        return inst->dst.reg == SREG_EXEC && inst->src[0].kind == ISA_CONST &&
               inst->src[0].value == UINT64_MAX;
    case ISA_OP_s_or_b64:
        return inst->dst.reg == SREG_EXEC && (meets_exec(&inst->src[0]) || meets_exec(&inst->src[1]));
    case ISA_OP_s_or_saveexec_b64:
        return true;
    default:
        return false;
    }
}

/* Of those: whether no lane becomes active. */
static bool narrows(const struct isa_inst *inst)
{
    switch (inst->op) {
    case ISA_OP_s_and_b64:
        return inst->dst.reg == SREG_EXEC && (meets_exec(&inst->src[0]) || meets_exec(&inst->src[1]));
    case ISA_OP_s_andn2_b64:
        return inst->dst.reg == SREG_EXEC && meets_exec(&inst->src[0]);
    case ISA_OP_s_and_saveexec_b64:
        return true;
    default:
        return false;
    }
}

static void describe_exec(struct emit *e, const struct xinst *x, struct place *p)
{
    const bool writes = lift_writes_exec(x) || meets_exec(&x->isa->sdst);
    if (!writes && !(x->cls == XC_SALU && !lift_does_nothing(x->op) && !scalars_body(e, x)))
        return;
    p->loses = !writes || !widens(x->isa);
    p->gains = !writes || !narrows(x->isa);
}

bool live_overwrites(const struct emit *e, const struct xinst *x, const struct lane_op *op)
{
    const struct isa_inst *inst = x->isa;
    if (inst->dpp || inst->sdwa || isa_facts[x->op].effects & ISA_E_KEEPS_HIGH || !is_row(&inst->dst))
        return false;
    if (!op->body)
        return !e->runs &&
               !reads_half(x); /* in simulated time what is there can be read until the data comes */
    return !isa_type_is_16bit(inst->dst.type) &&
           body_writes(op->body, BODY_D) == (1u << inst->dst.dwords) - 1;
}

static void describe_rows(struct emit *e, const struct xinst *x, struct place *p)
{
    struct lane_op op;
    const bool takes = stretch_takes(e, x, &op),
               whole = takes ? live_overwrites(e, x, &op) : crossbar_is_known(x);
    for (int i = 0; i < 4; i++) {
        const struct isa_operand *o = &x->isa->src[i];
        for (unsigned d = 0; is_row(o) && d < o->dwords; d++)
            if (packed_rows_read(x->isa, i) >> d & 1)
                add_rows(&p->reads, stretch_row(o) + d, 1);
    }
    if (whole)
        add_operand(&p->kills, &x->isa->dst);
    if (!whole || (op.body && body_reads(op.body, BODY_O)))
        add_operand(&p->reads, &x->isa->dst);
    if (e->runs && fuse_is_fused(x) && x->isa->format == ISA_GLOBAL)
        add_operand(&p->reads, &fuse_sum(x)->isa->src[2]); /* it may make the address itself */
    p->crosses = !takes || x->isa->dpp;
}

/* What is not known to be overwritten whole is taken for read. */
static void describe_scalars(struct emit *e, const struct xinst *x, struct place *p)
{
    const struct isa_inst *inst = x->isa;
    const uint32_t effects = isa_facts[x->op].effects;
    struct lane_op op;
    for (int i = 0; i < 4; i++)
        if (inst->src[i].kind == ISA_SGPR) {
            add_scalars(&p->scalar_reads, inst->src[i].reg, inst->src[i].dwords);
        } else if (inst->src[i].kind == ISA_SPECIAL) { /* vccz and scc are such */
            add_scalars(&p->scalar_reads, SREG_VCC, 2);
            add_scalars(&p->scalar_reads, SCC, 1);
        }
    if (inst->soffset.kind == ISA_SGPR)
        add_scalars(&p->scalar_reads, inst->soffset.reg, 1);
    if (effects & ISA_E_READS_VCC)
        add_scalars(&p->scalar_reads, SREG_VCC, 2);
    if (effects & ISA_E_READS_SCC)
        add_scalars(&p->scalar_reads, SCC, 1);
    else if (effects & ISA_E_SETS_SCC)
        add_scalars(&p->scalar_kills, SCC, 1);
    if (inst->format >= ISA_VOP1 && stretch_takes(e, x, &op) && stretch_makes_mask(&op)) {
        add_scalars(&p->scalar_kills, x->sd, 2);
        return;
    }
    const struct body *body = x->cls == XC_SALU ? scalars_body(e, x) : NULL;
    const bool whole = body ? !scalars_reads_old(body) : x->cls == XC_SMEM && scalars_is_load(x);
    if (inst->dst.kind == ISA_SGPR)
        add_scalars(whole ? &p->scalar_kills : &p->scalar_reads, inst->dst.reg, inst->dst.dwords);
    if (inst->sdst.kind == ISA_SGPR)
        add_scalars(&p->scalar_reads, inst->sdst.reg, inst->sdst.dwords);
}

static void describe(struct emit *e, const struct xinst *x, struct place *p)
{
    p->target = UINT32_MAX;
    if (!x->isa || x->isa->op == ISA_OP_INVALID || x->isa->reserved) {
        add_all_of(p);
        return;
    }
    const uint32_t effects = isa_facts[x->op].effects;
    p->continues = !(effects & ISA_E_END);
    describe_scalars(e, x, p);
    if (effects & ISA_E_BRANCH && lift_is_branch(x)) {
        p->target = (uint32_t)(x->target - e->block->x);
        p->continues = x->op != ISA_OP_s_branch;
        p->only_idle = x->op == ISA_OP_s_cbranch_execz;
        p->only_target = x->op == ISA_OP_s_cbranch_execnz;
        return;
    }
    if (effects & ISA_E_BRANCH || x->op == ISA_OP_s_trap || x->op == ISA_OP_s_endpgm_saved) {
        add_all_of(p);
        return;
    }
    describe_rows(e, x, p);
    describe_exec(e, x, p);
}

/* ---- the function ---- */

static void add_rows_of(struct rows *to, const struct rows *from)
{
    for (unsigned i = 0; i < WORDS; i++)
        to->word[i] |= from->word[i];
}

/* What follows from what comes after it; whether that is news. */
static bool update(struct place *all, size_t i)
{
    struct place *p = &all[i];
    struct rows live = {0}, idle = {0};
    if (p->continues) {
        if (!p->only_target)
            add_rows_of(&live, &p[1].live);
        add_rows_of(&idle, &p[1].idle);
    }
    if (p->target != UINT32_MAX) {
        if (!p->only_idle)
            add_rows_of(&live, &all[p->target].live);
        add_rows_of(&idle, &all[p->target].idle);
    }
    bool changed = false;
    for (unsigned w = 0; w < WORDS; w++) {
        const uint64_t active = live.word[w], other = idle.word[w];
        live.word[w] = ((active | (p->loses ? other : 0)) & ~p->kills.word[w]) | p->reads.word[w];
        idle.word[w] = other | (p->gains ? active : 0) | (p->crosses ? p->reads.word[w] : 0);
        changed |= live.word[w] != p->live.word[w] || idle.word[w] != p->idle.word[w];
    }
    p->live = live;
    p->idle = idle;
    return changed;
}

static bool update_scalars(struct place *all, size_t i)
{
    struct place *p = &all[i];
    bool changed = false;
    for (unsigned w = 0; w < sizeof(p->scalar_live.word) / sizeof(p->scalar_live.word[0]); w++) {
        uint64_t live = p->continues ? p[1].scalar_live.word[w] : 0;
        if (p->target != UINT32_MAX)
            live |= all[p->target].scalar_live.word[w];
        live = (live & ~p->scalar_kills.word[w]) | p->scalar_reads.word[w];
        changed |= live != p->scalar_live.word[w];
        p->scalar_live.word[w] = live;
    }
    return changed;
}

struct live *live_find(struct emit *e)
{
    const struct exec_block *block = e->block;
    struct live *live = calloc(1, sizeof(*live));
    struct place *all = calloc(block->count + 1, sizeof(*all));
    for (size_t i = 0; i < block->count; i++)
        if (block->x[i].isa && may_index(&block->x[i])) {
            free(all);
            all = NULL;
            break;
        }
    if (!live || !all) {
        free(live);
        free(all);
        return NULL;
    }
    live->place = all;
    live->count = block->count;
    for (size_t i = 0; i < block->count; i++)
        describe(e, &block->x[i], &all[i]);
    add_all(&all[block->count].live);
    add_all(&all[block->count].idle);
    add_scalars(&all[block->count].scalar_live, 0, SCALARS);
    bool changed;
    do {
        changed = false;
        for (size_t i = block->count; i-- > 0;) {
            changed |= update(all, i);
            changed |= update_scalars(all, i);
        }
    } while (changed);
    return live;
}

void live_free(struct live *live)
{
    if (live)
        free(live->place);
    free(live);
}

bool live_before(const struct live *live, size_t at, unsigned row)
{
    return !live || live->place[at].live.word[row / 64] >> row % 64 & 1;
}

bool live_idle(const struct live *live, size_t at, unsigned row)
{
    return !live || live->place[at].idle.word[row / 64] >> row % 64 & 1;
}

bool live_scalar(const struct live *live, size_t at, unsigned reg)
{
    const unsigned i = reg == MASK_SCC ? SCC : reg;
    return !live || live->place[at].scalar_live.word[i / 64] >> i % 64 & 1;
}
