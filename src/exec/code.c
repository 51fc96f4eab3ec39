/* SPDX-License-Identifier: MIT */
/* Translation of functions, and finding code by address; see code.h. */
#include "exec/code.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_cache.h"
#include "wave/fault.h"
#include "wave/fuse.h"
#include "exec/observe.h"
#include "wave/operand.h"
#include "isa/isa.h"

/* ---- handlers that belong to translation itself ---- */

static const struct xinst *x_continue(struct wave *w, const struct xinst *in)
{
    return exec_code_at(w, in, in->pc); /* ran off the end of a function: into what follows it */
}

static const struct xinst *x_illegal(struct wave *w, const struct xinst *in)
{
    wave_fault(w, in, EHP_FAULT_ILLEGAL_INSTRUCTION, 0, false, UINT_MAX);
}

static const struct xinst *x_unimplemented(struct wave *w, const struct xinst *in)
{
    wave_fault(w, in, EHP_FAULT_UNIMPLEMENTED, 0, false, UINT_MAX);
}

bool exec_is_implemented(const struct xinst *x)
{
    return fuse_single(x) != x_unimplemented;
}

/* ---- one instruction ---- */

static bool type_is_float(unsigned type)
{
    return type == ISA_T_F16 || type == ISA_T_F32 || type == ISA_T_F64 || type == ISA_T_BF16 ||
           type == ISA_T_PKF32 || type == ISA_T_PKF16;
}

static unsigned class_of(const struct isa_inst *inst)
{
    static const uint8_t classes[ISA_UNIT_COUNT] = {
        [ISA_UNIT_CONTROL] = XC_OTHER, [ISA_UNIT_SALU] = XC_SALU,   [ISA_UNIT_BRANCH] = XC_BRANCH,
        [ISA_UNIT_MESSAGE] = XC_OTHER, [ISA_UNIT_SMEM] = XC_SMEM,   [ISA_UNIT_VALU] = XC_VALU,
        [ISA_UNIT_TRANS] = XC_VALU,    [ISA_UNIT_MATRIX] = XC_MFMA, [ISA_UNIT_LDS] = XC_LDS,
        [ISA_UNIT_GWS] = XC_LDS,       [ISA_UNIT_VMEM] = XC_VMEM,   [ISA_UNIT_FLAT] = XC_VMEM,
    };
    return inst->format == ISA_SCRATCH ? XC_FLAT_SCRATCH : classes[isa_facts[inst->op].unit];
}

static int16_t row_of(const struct isa_operand *o)
{
    return (int16_t)(o->kind == ISA_AGPR ? WAVE_ACC + o->reg : o->reg);
}

static void translate_source(const struct isa_inst *inst, struct xinst *x, int i)
{
    const struct isa_operand *o = &inst->src[i];
    static const int16_t temp[3] = {TEMP_SRC0, TEMP_SRC1, TEMP_SRC2};
    x->rows[i] = o->dwords;
    x->s[i] = temp[i];
    x->reg[i] = o->reg;
    x->ss[i] = XSRC_CONST;
    switch (o->kind) {
    case ISA_VGPR:
    case ISA_AGPR:
        x->reg[i] = (uint16_t)row_of(o);
        x->s[i] = row_of(o);
        x->prep[i] = XPREP_PLAIN;
        break;
    case ISA_SGPR:
        x->prep[i] = XPREP_SGPR;
        x->ss[i] = (uint8_t)o->reg;
        break;
    case ISA_CONST:
        x->prep[i] = XPREP_CONST;
        x->literal[i] = o->value;
        break;
    case ISA_SPECIAL:
        x->prep[i] = XPREP_SLOW;
        x->ss[i] = XSRC_SPECIAL;
        break;
    default:
        x->rows[i] = 0;
        break;
    }
}

static bool is_vop3p(const struct isa_inst *inst)
{
    return inst->format == ISA_VOP3P || inst->format == ISA_VOP3PMAI;
}

/* VALU modifiers: what exec_prepare() and exec_finish() have to do.  VOP3P's handlers look at theirs
 * themselves. */
static void translate_modifiers(const struct isa_inst *inst, struct xinst *x)
{
    for (int i = 0; i < 3; i++) {
        bool modified = (inst->neg >> i & 1) || (inst->abs >> i & 1) ||
                        ((inst->op_sel >> i & 1) && isa_type_is_16bit(inst->src[i].type)) ||
                        (inst->sdwa && i < 2) || (inst->dpp && i == 0);
        if (inst->src[i].kind == ISA_NONE)
            continue;
        if (modified && !is_vop3p(inst)) {
            static const int16_t temp[3] = {TEMP_SRC0, TEMP_SRC1, TEMP_SRC2};
            x->s[i] = temp[i];
            x->prep[i] = XPREP_SLOW;
        }
        if (x->prep[i] != XPREP_PLAIN)
            x->any_prep = true;
    }
    if (is_vop3p(inst))
        return;
    bool float_result = type_is_float(inst->dst.type);
    x->post = (inst->omod && float_result) || (inst->clamp && float_result) || inst->dpp ||
              (inst->sdwa && inst->dst.kind == ISA_VGPR &&
               (inst->dst_sel != ISA_DWORD || inst->dst_unused != ISA_UNUSED_PAD)) ||
              ((inst->op_sel & 8) && isa_type_is_16bit(inst->dst.type)) ||
              isa_facts[inst->op].effects & ISA_E_KEEPS_HIGH;
    if (inst->dpp)
        x->any_prep = true;
}

static bool is_relative_branch(const struct isa_inst *inst)
{
    return (inst->format == ISA_SOPP || inst->format == ISA_SOPK) &&
           isa_facts[inst->op].effects & ISA_E_BRANCH;
}

static exec_fn *find_handler(unsigned level, const struct isa_inst *inst, struct xinst *x)
{
    static sem_lookup_fn *const families[][5] = {
        {sem_valu_v2, sem_packed_v2, sem_matrix_v2, sem_lds_v2, sem_vmem_v2},
        {sem_valu_v3, sem_packed_v3, sem_matrix_v3, sem_lds_v3, sem_vmem_v3},
        {sem_valu_v4, sem_packed_v4, sem_matrix_v4, sem_lds_v4, sem_vmem_v4},
    };
    sem_lookup_fn *const *family = families[level - 2];
    switch (inst->format) {
    case ISA_SOP1:
    case ISA_SOP2:
    case ISA_SOPC:
    case ISA_SOPK:
    case ISA_SOPP:
        return sem_salu(inst, x);
    case ISA_SMEM:
        return sem_smem(inst, x);
    case ISA_VOP3P:
        return family[1](inst, x);
    case ISA_VOP3PMAI:
        return family[2](inst, x);
    case ISA_DS: {
        exec_fn *gws = sem_gws(inst, x);
        return gws ? gws : family[3](inst, x);
    }
    case ISA_FLAT:
    case ISA_GLOBAL:
    case ISA_SCRATCH:
    case ISA_MUBUF:
    case ISA_MTBUF:
        return family[4](inst, x);
    default:
        return family[0](inst, x);
    }
}

void exec_translate(unsigned level, const struct isa_inst *inst, struct xinst *x, uint64_t pc)
{
    *x = (struct xinst){.isa = inst, .pc = pc, .op = (uint16_t)inst->op, .cls = (uint8_t)class_of(inst)};
    x->drows = inst->dst.dwords;
    if (inst->dst.kind == ISA_VGPR || inst->dst.kind == ISA_AGPR)
        x->d = row_of(&inst->dst);
    else if (inst->dst.kind == ISA_SGPR)
        x->sd = (uint8_t)inst->dst.reg;
    if (inst->sdst.kind == ISA_SGPR)
        x->sd = (uint8_t)inst->sdst.reg;
    for (int i = 0; i < 3; i++)
        translate_source(inst, x, i);
    switch (inst->format) {
    case ISA_SOPP:
        x->control.simm = (uint64_t)(int64_t)inst->simm16;
        break;
    case ISA_SOPK: /* the register may be a source (compares, setreg) or the destination */
        x->control.simm = (uint64_t)(int64_t)inst->simm16;
        if (inst->dst.kind != ISA_SGPR && inst->src[0].kind == ISA_SGPR)
            x->sd = (uint8_t)inst->src[0].reg;
        break;
    case ISA_VOP1:
    case ISA_VOP2:
    case ISA_VOPC:
    case ISA_VOP3:
    case ISA_VOP3P:
    case ISA_VOP3PMAI:
        translate_modifiers(inst, x);
        break;
    default:
        break;
    }
    if (inst->op ==
        ISA_OP_s_set_gpr_idx_on) /* the operand select is an immediate in the second source's field */
        x->control.simm = inst->src[1].kind == ISA_CONST ? inst->src[1].value : inst->src[1].reg;
    exec_fn *fn = find_handler(level, inst, x);
    x->fn = inst->reserved ? x_illegal : fn ? fn : x_unimplemented;
}

/* ---- DPP ---- */

/* The lane that `lane` reads, or -1 when there is none. */
static int dpp_source(unsigned control, int lane)
{
    int row = lane & ~15, in_row = lane & 15, amount = (int)(control & 15);
    if (control <= 0xff) /* quad_perm */
        return (lane & ~3) | (int)(control >> 2 * (lane & 3) & 3);
    switch (control & 0x1f0) {
    case 0x100: /* row_shl: from a higher lane */
        return in_row + amount < 16 ? lane + amount : -1;
    case 0x110: /* row_shr */
        return in_row - amount >= 0 ? lane - amount : -1;
    case 0x120: /* row_ror */
        return row | ((in_row - amount) & 15);
    case 0x150: /* row_newbcast */
        return row | amount;
    default:
        break;
    }
    switch (control) {
    case 0x130: /* wave_shl:1 */
        return lane < 63 ? lane + 1 : -1;
    case 0x134: /* wave_rol:1 */
        return (lane + 1) & 63;
    case 0x138: /* wave_shr:1 */
        return lane > 0 ? lane - 1 : -1;
    case 0x13c: /* wave_ror:1 */
        return (lane - 1) & 63;
    case 0x140: /* row_mirror */
        return row | (15 - in_row);
    case 0x141: /* row_half_mirror */
        return (lane & ~7) | (7 - (lane & 7));
    case 0x142: /* row_bcast:15: the last lane of a row to the next row */
        return lane >= 16 ? row - 1 : -1;
    case 0x143: /* row_bcast:31: lane 31 to rows 2 and 3 */
        return lane >= 32 ? 31 : -1;
    default:
        return -1;
    }
}

static void translate_dpp(const struct isa_inst *inst, struct xdpp *dpp)
{
    *dpp = (struct xdpp){.in_rows = true};
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        int from = dpp_source(inst->dpp_ctrl, lane);
        bool on = (inst->row_mask >> lane / 16 & 1) && (inst->bank_mask >> (lane & 15) / 4 & 1);
        dpp->from[lane] = (uint8_t)(from >= 0 ? from : lane);
        dpp->in_rows &= from < 0 || from / 16 == lane / 16;
        dpp->exists |= (uint64_t)(from >= 0) << lane;
        dpp->writes |= (uint64_t)on << lane;
    }
}

/* ---- one function ---- */

static void block_free(struct exec_code *code, struct exec_block *block)
{
    if (block) {
        if (code && code->compiler)
            code->compiler->forget(code->compiler, block);
        free(block->x);
        free(block->isa);
        free(block->dpp);
        free(block->index);
        free(block);
    }
}

/* The illegal instruction's record: it has no decoded form, but prints as its dword. */
static const struct isa_inst invalid_inst = {.size = 4};

/* The row behind the last that the instruction names. */
static unsigned rows_of(const struct isa_inst *inst)
{
    unsigned rows = 0;
    for (unsigned i = 0; i < 5; i++) {
        const struct isa_operand *o = i < 4 ? &inst->src[i] : &inst->dst;
        if (o->kind != ISA_VGPR && o->kind != ISA_AGPR)
            continue;
        unsigned end = (unsigned)row_of(o) + o->dwords;
        rows = end > rows ? end : rows;
    }
    return rows;
}

/*
 * Whether a wave may read memory from here on, LDS too, before it writes to LDS, comes to a barrier or
 * ends: both ways of branches, as far as is looked.
 */
static bool looks_from(const struct exec_block *block, const struct xinst *x, unsigned *left)
{
    const struct xinst *end = block->x + block->count;
    for (; x < end && *left; x++) {
        const uint32_t effects = isa_facts[x->op].effects;
        --*left;
        if (x->op == ISA_OP_INVALID || x->isa->gds)
            break;
        if (x->op == ISA_OP_s_barrier || x->op == ISA_OP_s_endpgm)
            return false;
        if (exec_writes_lds(x))
            return false;
        if (effects & (ISA_E_LOAD | ISA_E_ATOMIC))
            break;
        if (!(effects & (ISA_E_BRANCH | ISA_E_END)))
            continue;
        if (!is_relative_branch(x->isa) || !x->target)
            break;
        if (!(effects & ISA_E_END) && looks_from(block, x->target, left))
            break;
        if (effects & ISA_E_END)
            x = x->target - 1;
    }
    return true;
}

static void note_barriers(struct exec_block *block)
{
    enum { FAR = 128 };
    for (size_t i = 0; i < block->count; i++) {
        unsigned left = FAR;
        if (block->x[i].op == ISA_OP_s_barrier)
            block->x[i].control.looks = looks_from(block, &block->x[i + 1], &left);
    }
}

static struct exec_block *block_make(const struct exec_code *code, uint64_t start, uint64_t end,
                                     bool observed)
{
    size_t dwords = (size_t)(end - start) / 4;
    const uint32_t *words = (const uint32_t *)(uintptr_t)start;
    struct exec_block *block = calloc(1, sizeof(*block));
    if (!block)
        return NULL;
    block->start = start;
    block->end = end;
    block->index = malloc((dwords + 1) * sizeof(*block->index));
    block->isa = malloc((dwords ? dwords : 1) * sizeof(*block->isa));
    if (!block->index || !block->isa) {
        block_free(NULL, block);
        return NULL;
    }
    memset(block->index, 0xff, (dwords + 1) * sizeof(*block->index));
    size_t n = 0, dpp = 0;
    for (size_t at = 0; at < dwords;) {
        struct isa_inst *inst = &block->isa[n];
        if (!isa_decode(code->target, words + at, dwords - at, inst))
            *inst = invalid_inst;
        dpp += inst->dpp;
        block->index[at] = (uint32_t)n++;
        at += inst->size / 4u;
    }
    block->count = n;
    struct isa_inst *fitted = realloc(block->isa, (n ? n : 1) * sizeof(*block->isa));
    if (fitted)
        block->isa = fitted;
    size_t bytes = (n + 1) * sizeof(struct xinst);
    block->x = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    block->dpp = dpp ? malloc(dpp * sizeof(*block->dpp)) : NULL;
    if (!block->x || (dpp && !block->dpp)) {
        block_free(NULL, block);
        return NULL;
    }
    for (size_t at = 0; at < dwords; at++) {
        size_t i = block->index[at];
        if (i == UINT32_MAX)
            continue;
        struct xinst *x = &block->x[i];
        if (block->isa[i].op == ISA_OP_INVALID) {
            *x =
                (struct xinst){.fn = x_illegal, .isa = &block->isa[i], .pc = start + at * 4, .cls = XC_OTHER};
            continue;
        }
        exec_translate(code->level, &block->isa[i], x, start + at * 4);
        const unsigned rows = rows_of(&block->isa[i]);
        block->rows = rows > block->rows ? rows : block->rows;
        if (block->isa[i].dpp) {
            translate_dpp(&block->isa[i], &block->dpp[--dpp]);
            x->dpp = &block->dpp[dpp];
        }
    }
    for (size_t i = 0; i < n; i++)
        if (block->isa[i].op != ISA_OP_INVALID && is_relative_branch(&block->isa[i])) {
            const uint64_t target = branch_pc(&block->x[i]);
            if (target >= start && target < end && block->index[(target - start) / 4] != UINT32_MAX)
                block->x[i].target = &block->x[block->index[(target - start) / 4]];
        }
    note_barriers(block);
    fuse_block(block, code->level == 2 ? sem_fused_v2 : code->level == 3 ? sem_fused_v3 : sem_fused_v4);
    block->target = code->target;
    block->observed = observed;
    if (observed)
        exec_observe_block(block);
    block->x[n] = (struct xinst){.fn = x_continue, .pc = end, .cls = XC_OTHER};
    return block;
}

/* ---- finding ---- */

unsigned exec_code_level(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("x86-64-v4") ? 4 : __builtin_cpu_supports("x86-64-v3") ? 3 : 2;
}

void exec_code_init(struct exec_code *code, const struct isa_target *target, exec_bounds_fn *bounds,
                    void *context)
{
    *code = (struct exec_code){.target = target, .bounds = bounds, .context = context, .generation = 1};
    pthread_rwlock_init(&code->lock, NULL);
    code->level = exec_code_level();
    code->host_cache = host_cache_bytes();
}

void exec_code_destroy(struct exec_code *code)
{
    for (size_t i = 0; i < code->count; i++)
        block_free(code, code->blocks[i]);
    free(code->blocks);
    pthread_rwlock_destroy(&code->lock);
}

/* Index of the first block that ends after pc. */
static size_t block_position(const struct exec_code *code, uint64_t pc)
{
    size_t low = 0, high = code->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code->blocks[middle]->end <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct xinst *block_at(const struct exec_block *block, uint64_t pc)
{
    if (pc & 3)
        return NULL;
    uint32_t i = block->index[(pc - block->start) / 4];
    return i == UINT32_MAX ? NULL : &block->x[i];
}

void exec_code_drop(struct exec_code *code, uint64_t start, uint64_t end)
{
    pthread_rwlock_wrlock(&code->lock);
    size_t kept = 0;
    for (size_t i = 0; i < code->count; i++) {
        struct exec_block *block = code->blocks[i];
        if (block->start < end && block->end > start)
            block_free(code, block);
        else
            code->blocks[kept++] = block;
    }
    code->count = kept;
    code->generation++;
    pthread_rwlock_unlock(&code->lock);
}

static struct exec_block *find_translated(const struct exec_code *code, uint64_t pc)
{
    size_t i = block_position(code, pc);
    return i < code->count && code->blocks[i]->start <= pc ? code->blocks[i] : NULL;
}

/* Called with the lock held for writing. */
static bool insert_block(struct exec_code *code, struct exec_block *block)
{
    if (code->count == code->capacity) {
        size_t capacity = code->capacity ? code->capacity * 2 : 64;
        struct exec_block **blocks = realloc(code->blocks, capacity * sizeof(struct exec_block *));
        if (!blocks)
            return false;
        code->blocks = blocks;
        code->capacity = capacity;
    }
    size_t i = block_position(code, block->start);
    memmove(&code->blocks[i + 1], &code->blocks[i], (code->count - i) * sizeof(struct exec_block *));
    code->blocks[i] = block;
    code->count++;
    return true;
}

const struct xinst *exec_code_find(struct exec_code *code, struct exec_code_cache *cache, uint64_t pc)
{
    unsigned generation = code->generation;
    if (cache->generation != generation) {
        memset(cache, 0, sizeof(*cache));
        cache->generation = generation;
    }
    size_t slot = pc >> 2 & 255;
    if (cache->slot[slot].x && cache->slot[slot].pc == pc)
        return cache->slot[slot].x;

    pthread_rwlock_rdlock(&code->lock);
    struct exec_block *block = find_translated(code, pc);
    pthread_rwlock_unlock(&code->lock);
    if (!block) {
        uint64_t start, end;
        if (!code->bounds(code->context, pc, &start, &end))
            return NULL;
        pthread_rwlock_wrlock(&code->lock);
        block = find_translated(code, pc); /* somebody may have been faster */
        if (!block) {
            const bool observed = code->observes && code->observes(code->context, pc);
            struct exec_block *made = block_make(code, start, end, observed);
            if (made && insert_block(code, made))
                block = made;
            else
                block_free(NULL, made);
        }
        pthread_rwlock_unlock(&code->lock);
    }
    const struct xinst *x = block ? block_at(block, pc) : NULL;
    if (x) {
        cache->slot[slot].pc = pc;
        cache->slot[slot].x = x;
        cache->slot[slot].block = block;
    }
    return x;
}

static unsigned heat_of(const struct exec_block *block, const struct xinst *in, unsigned heat)
{
    enum { PARTS = 8, MIN = 8 };
    const unsigned count = (unsigned)block->count;
    switch (heat) {
    case EXEC_BEGINS:
        return count;
    case EXEC_CONTINUES:
        return count / PARTS < MIN ? MIN : count / PARTS;
    case EXEC_GOES: /* who comes back has all of them already */
        return in == block->x ? count : 0;
    default:
        return heat;
    }
}

const struct exec_compiled *exec_code_compiled(struct exec_code *code, struct exec_code_cache *cache,
                                               const struct xinst *in, enum exec_form form, unsigned heat,
                                               const struct exec_block **found)
{
    if (!exec_code_find(code, cache, in->pc))
        return NULL;
    struct exec_block *block = cache->slot[in->pc >> 2 & 255].block;
    if (block->observed || in < block->x || in > block->x + block->count)
        return NULL;
    *found = block;
    const struct exec_compiled *compiled = atomic_load_explicit(&block->compiled[form], memory_order_acquire);
    if (compiled)
        return compiled;
    /* What has been asked for, and may never come, is not written to by all threads for each of their waves.
     */
    const struct exec_compiler *c = code->compiler;
    const unsigned warm = c->warm[form], hot = c->hot[form] + c->hot_each[form] * (unsigned)block->count;
    if (atomic_load_explicit(&block->heat[form], memory_order_relaxed) >= hot)
        return NULL;
    heat = heat_of(block, in, heat);
    if (heat == 0)
        return NULL;
    const unsigned before = atomic_fetch_add_explicit(&block->heat[form], heat, memory_order_relaxed);
    const bool gets_warm = before < warm && before + heat >= warm,
               gets_hot = before < hot && before + heat >= hot;
    if (!gets_warm && !gets_hot)
        return NULL;
    code->compiler->ask(code->compiler, block, form, gets_hot);
    return atomic_load_explicit(&block->compiled[form], memory_order_acquire);
}

unsigned exec_code_rows(const struct exec_code_cache *cache, uint64_t pc)
{
    size_t slot = pc >> 2 & 255;
    return cache->slot[slot].x && cache->slot[slot].pc == pc ? cache->slot[slot].block->rows : 0;
}

const struct xinst *exec_code_at(struct wave *w, const struct xinst *in, uint64_t pc)
{
    const struct xinst *x = exec_code_find(w->guard->code, w->guard->cache, pc);
    if (!x)
        wave_fault(w, in, EHP_FAULT_MEMORY, pc, false, UINT_MAX);
    if (exec_code_rows(w->guard->cache, pc) > w->rows)
        wave_grow(w);
    if (!w->guard->cache->stops || w->budget <= 0)
        return x;
    w->next = x;
    return NULL;
}
