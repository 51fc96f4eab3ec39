/* SPDX-License-Identifier: MIT */
/*
 * Runs one encoded instruction, through decoder and translation, on a wave
 * whose whole register state is known before and compared after.
 */
#ifndef EHP_TESTS_ORACLE_ONE_INSTRUCTION_H
#define EHP_TESTS_ORACLE_ONE_INSTRUCTION_H

#include <stdalign.h>
#include <string.h>

#include "../check.h"
#include "../hard.h"
#include "wave/aperture.h"
#include "exec/code.h"
#include "isa/facts.h"
#include "wave/fault.h"
#include "wave/hwreg.h"
#include "record.h"

/* VGPRs 0..63, then AccVGPRs 0..63: instructions are made to use no others. */
enum { RIG_VGPRS = 64, RIG_ROWS = 2 * RIG_VGPRS };

struct rig_state {
    uint32_t v[RIG_ROWS][WAVE_LANES];
    uint32_t s[128];
    bool scc;
    uint32_t mode, trapsts;
    uint64_t next; /* pc that follows */
};

static struct {
    struct wave w;
    alignas(64) wave_row rows[WAVE_TEMPS + WAVE_ROWS];
    alignas(64) uint32_t code[16];
    struct exec_code translated;
    struct exec_code_cache cache;
    struct wave_guard guard;
    bool in_use;
    bool observed;         /* float exceptions are looked at */
    exec_fn *otherwise;    /* at levels beyond the host's: what executes in the place of the handler */
    void (*restore)(void); /* puts memory back as it was before the instruction */
} rig;

static uint64_t rig_seed = 0x9e3779b97f4a7c15;

/* Steele, Lea and Flood's splitmix64. */
static inline uint64_t rig_random(void)
{
    uint64_t z = rig_seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline bool rig_has_level(unsigned level)
{
    __builtin_cpu_init();
    return level == 2 || (level == 3 && __builtin_cpu_supports("x86-64-v3")) ||
           (level == 4 && __builtin_cpu_supports("x86-64-v4"));
}

static inline bool rig_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    (void)pc;
    *start = (uint64_t)(uintptr_t)context;
    *end = *start + sizeof rig.code;
    return true;
}

static inline bool rig_observes(void *context, uint64_t pc)
{
    (void)context, (void)pc;
    return rig.observed;
}

/* The instruction as the interpreter would run it. */
static inline const struct xinst *rig_translate(unsigned level, const uint32_t *words, unsigned size)
{
    if (rig.in_use)
        exec_code_destroy(&rig.translated);
    for (unsigned i = 0; i < 16; i++)
        rig.code[i] = 0xbf800000; /* s_nop */
    memcpy(rig.code, words, size < 16 ? size : 16);
    exec_code_init(&rig.translated, &isa_gfx942, rig_bounds, rig.code);
    rig.translated.level = level;
    rig.translated.observes = rig_observes;
    rig.cache = (struct exec_code_cache){0};
    rig.in_use = true;
    return exec_code_find(&rig.translated, &rig.cache, (uint64_t)(uintptr_t)rig.code);
}

static inline int rig_row(const struct isa_operand *o)
{
    return o->kind == ISA_AGPR ? RIG_VGPRS + o->reg : o->reg;
}

static inline void rig_load(const struct rig_state *state)
{
    struct wave *w = &rig.w;
    w->v = rig.rows + WAVE_TEMPS;
    w->vgprs = w->agprs = 256;
    memcpy(w->v, state->v, sizeof(wave_row) * RIG_VGPRS);
    memcpy(w->v + WAVE_ACC, state->v + RIG_VGPRS, sizeof(wave_row) * RIG_VGPRS);
    memcpy(w->s, state->s, sizeof w->s);
    w->scc = state->scc;
    w->trapsts = state->trapsts;
    wave_set_mode(w, state->mode);
    w->state = WAVE_RUNNING;
    w->special = true; /* one instruction, whatever mode it sets */
    w->budget = 1000000;
    rig.guard.code = &rig.translated;
    rig.guard.cache = &rig.cache;
    w->guard = &rig.guard;
    w->mem_mask = APERTURE_HOST_MASK;
}

static inline void rig_store(struct rig_state *state)
{
    const struct wave *w = &rig.w;
    memcpy(state->v, w->v, sizeof(wave_row) * RIG_VGPRS);
    memcpy(state->v + RIG_VGPRS, w->v + WAVE_ACC, sizeof(wave_row) * RIG_VGPRS);
    memcpy(state->s, w->s, sizeof w->s);
    state->scc = w->scc;
    state->trapsts = w->trapsts;
    state->mode = w->mode;
}

static inline uint64_t rig_sreg64(const struct rig_state *state, unsigned reg)
{
    return state->s[reg] | (uint64_t)state->s[reg + 1] << 32;
}

static inline void rig_set_sreg64(struct rig_state *state, unsigned reg, uint64_t value)
{
    state->s[reg] = (uint32_t)value;
    state->s[reg + 1] = (uint32_t)(value >> 32);
}

/* Random dwords with what a row's form fixes. */
static inline void rig_words(const struct isa_row *row, unsigned form, uint32_t *w)
{
    const struct isa_form *f = &row->form[form];
    for (int i = 0; i < 4; i++)
        w[i] = (uint32_t)(rig_random() >> 20);
    w[0] = (w[0] & ~(uint32_t)f->mask) | (uint32_t)f->match;
    w[1] = (w[1] & ~(uint32_t)(f->mask >> 32)) | (uint32_t)(f->match >> 32);
}

static inline bool rig_operand_fits(const struct isa_operand *o)
{
    return (o->kind != ISA_VGPR && o->kind != ISA_AGPR) || o->reg + o->dwords <= RIG_VGPRS;
}

static inline bool rig_fits(const struct isa_inst *inst)
{
    bool fits = !inst->reserved && rig_operand_fits(&inst->dst);
    for (int i = 0; i < 4; i++)
        fits = fits && rig_operand_fits(&inst->src[i]);
    return fits;
}

/* Values that break arithmetic, by what the bits are. */
static inline uint64_t rig_hard(unsigned type)
{
    const uint64_t r = rig_random(), more = rig_random();
    switch (type) {
    case ISA_T_F32:
        return hard_f32(r);
    case ISA_T_PKF32:
        return hard_f32(r) | (uint64_t)hard_f32(more) << 32;
    case ISA_T_F64:
        return hard_f64(r, more);
    case ISA_T_F16:
    case ISA_T_PKF16:
        return hard_f16(r) | hard_f16(more) << 16;
    case ISA_T_PKBF16:
    case ISA_T_BF16:
        return hard_f32(r) >> 16 | (hard_f32(more) & 0xffff0000);
    case ISA_T_B64:
    case ISA_T_I64:
    case ISA_T_U64:
    case ISA_T_MASK:
    case ISA_T_PKB32:
        return hard_u64(r, more);
    case ISA_T_I16:
    case ISA_T_U16:
    case ISA_T_B16:
    case ISA_T_PK16:
        return hard_u16(r) | hard_u16(more) << 16;
    default:
        return hard_u32(r);
    }
}

static inline void rig_fill_operand(struct rig_state *state, const struct isa_operand *o)
{
    if (o->kind == ISA_VGPR || o->kind == ISA_AGPR) {
        for (int lane = 0; lane < WAVE_LANES; lane++)
            for (int k = 0; k < o->dwords; k += 2) {
                const uint64_t value = rig_hard(o->type);
                state->v[rig_row(o) + k][lane] = (uint32_t)value;
                if (k + 1 < o->dwords)
                    state->v[rig_row(o) + k + 1][lane] = (uint32_t)(value >> 32);
            }
    } else if (o->kind == ISA_SGPR && o->reg < SREG_EXEC) {
        for (int k = 0; k < o->dwords; k += 2) {
            const uint64_t value = rig_hard(o->type);
            state->s[o->reg + k] = (uint32_t)value;
            if (k + 1 < o->dwords)
                state->s[o->reg + k + 1] = (uint32_t)(value >> 32);
        }
    }
}

static inline uint64_t rig_exec(void)
{
    switch (rig_random() & 7) {
    case 0:
        return rig_random();
    case 1:
        return rig_random() & rig_random() & rig_random();
    case 2:
        return rig_random() | rig_random() | rig_random();
    case 3:
        return UINT64_C(1) << (rig_random() & 63);
    case 4:
        return rig_random() & 1 ? 0 : 0xffffffff00000000;
    default:
        return UINT64_MAX;
    }
}

/* Any of MODE's float settings; half of the time the usual ones. */
static inline uint32_t rig_mode(void)
{
    const uint64_t r = rig_random();
    if (r & 1)
        return MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP;
    return (uint32_t)(r >> 8) & (MODE_FLOAT_BITS | MODE_IEEE | MODE_DX10_CLAMP | MODE_FP16_OVFL);
}

static inline void rig_fill(struct rig_state *state, const struct isa_inst *inst)
{
    uint32_t *v = state->v[0];
    for (size_t i = 0; i < sizeof state->v / 4; i++)
        v[i] = (uint32_t)i * 0x9e3779b9 ^ (uint32_t)rig_seed;
    for (int i = 0; i < 128; i++)
        state->s[i] = (uint32_t)rig_hard(ISA_T_U32);
    rig_set_sreg64(state, SREG_VCC, rig_hard(ISA_T_MASK));
    rig_set_sreg64(state, SREG_EXEC, rig_exec());
    rig_fill_operand(state, &inst->dst);
    for (int i = 0; i < 4; i++)
        rig_fill_operand(state, &inst->src[i]);
    state->scc = rig_random() & 1;
    state->mode = rig_mode();
    state->trapsts = 0;
    state->next = (uint64_t)(uintptr_t)rig.code + inst->size;
}

static inline void rig_run(unsigned level, const struct xinst *x, const struct rig_state *before,
                           struct rig_state *after)
{
    if (rig.restore)
        rig.restore();
    rig_load(before);
    const struct xinst *next = (level > 4 ? rig.otherwise : x->fn)(&rig.w, x);
    rig_store(after);
    after->next = next ? next->pc : 0;
}

/* ---- what isa/facts.h says of registers that no operand names ---- */

static const struct rig_fact {
    const char *name;
    unsigned reg, dwords,
        special; /* scalar registers; 0 dwords: SCC and MODE.  special: its value as an operand */
    uint32_t reads, sets;
} rig_facts[] = {
    {"SCC", 0, 0, 253, ISA_E_READS_SCC, ISA_E_SETS_SCC},
    {"MODE", 0, 0, 0, ISA_E_READS_MODE, ISA_E_SETS_MODE},
    {"VCC", SREG_VCC, 2, 251, ISA_E_READS_VCC, ISA_E_SETS_VCC},
    {"EXEC", SREG_EXEC, 2, 252, ISA_E_READS_EXEC, ISA_E_SETS_EXEC},
    {"M0", SREG_M0, 1, 0, ISA_E_READS_M0, ISA_E_SETS_M0},
};

static inline bool rig_names(const struct isa_operand *o, const struct rig_fact *f)
{
    if (o->kind == ISA_SPECIAL)
        return f->special && o->reg == f->special;
    return o->kind == ISA_SGPR && o->reg < f->reg + f->dwords && f->reg < (unsigned)o->reg + o->dwords;
}

static inline bool rig_writes(const struct isa_inst *inst, const struct rig_fact *f)
{
    return rig_names(&inst->dst, f) || rig_names(&inst->sdst, f) ||
           (inst->format == ISA_SMEM && rig_names(&inst->src[ISA_DATA], f));
}

static inline bool rig_reads(const struct isa_inst *inst, const struct rig_fact *f)
{
    bool named = rig_writes(inst, f) || rig_names(&inst->soffset, f);
    for (int i = 0; i < 4; i++)
        named |= rig_names(&inst->src[i], f);
    return named;
}

/* The register, in place. */
static inline void *rig_register(struct rig_state *state, const struct rig_fact *f, size_t *bytes)
{
    *bytes = f->dwords ? 4 * f->dwords : f->reads == ISA_E_READS_SCC ? sizeof state->scc : 4;
    return f->dwords                     ? (void *)&state->s[f->reg]
           : f->reads == ISA_E_READS_SCC ? (void *)&state->scc
                                         : (void *)&state->mode;
}

/* Another value of it. */
static inline void rig_disturb(struct rig_state *state, const struct rig_fact *f)
{
    if (f->reads == ISA_E_READS_SCC)
        state->scc = !state->scc;
    else if (f->reads == ISA_E_READS_MODE)
        state->mode ^= MODE_FLOAT_BITS & (uint32_t)rig_random();
    else if (f->reads == ISA_E_READS_EXEC)
        rig_set_sreg64(state, SREG_EXEC, rig_exec());
    else
        for (unsigned i = 0; i < f->dwords; i++)
            state->s[f->reg + i] ^= (uint32_t)rig_random();
}

/* It changes what it is known to change, and does the same whatever is in the registers that it does not
 * read. */
static inline bool rig_check_facts(unsigned level, const struct xinst *x, const struct isa_inst *inst,
                                   const struct rig_state *before, struct rig_state *got)
{
    static struct rig_state other, after;
    const uint32_t effects = isa_effects_of(inst);
    const char *what = NULL, *name = "";
    if (got->next != before->next && !(effects & (ISA_E_BRANCH | ISA_E_END)))
        what = "goes elsewhere";
    for (unsigned i = 0; i < sizeof rig_facts / sizeof rig_facts[0] && !what; i++) {
        const struct rig_fact *f = &rig_facts[i];
        size_t bytes;
        other = *before;
        const void *was = rig_register(&other, f, &bytes), *is = rig_register(got, f, &bytes);
        name = f->name;
        if (memcmp(was, is, bytes) != 0 && !(effects & f->sets) && !rig_writes(inst, f))
            what = "changes ";
        if (what || effects & f->reads || rig_reads(inst, f))
            continue;
        rig_disturb(&other, f);
        rig_run(level, x, &other, &after);
        if (!(effects & f->sets)) /* it has kept the other value */
            memcpy(rig_register(&after, f, &bytes), is, bytes);
        if (memcmp(after.v, got->v, sizeof after.v) || memcmp(after.s, got->s, sizeof after.s) ||
            after.scc != got->scc || after.mode != got->mode || after.next != got->next)
            what = "depends on ";
    }
    if (what)
        fprintf(stderr, "%s %s%s, which isa/facts.def does not say\n", isa_op_name(inst->op), what, name);
    rig_run(level, x, before, &other); /* memory is as it leaves it */
    return CHECK(!what);
}

/* Runs it and compares; says what differs first. */
static inline bool rig_compare(unsigned level, const uint32_t *words, const struct isa_inst *inst,
                               const struct rig_state *before, const struct rig_state *want)
{
    static struct rig_state got;
    const struct xinst *x = rig_translate(level > 4 ? 2 : level, words, inst->size);
    char text[128];
    check_count++;
    rig_run(level, x, before, &got);
    if (level == 2)
        rig_check_facts(level, x, inst, before, &got);
    oracle_ran(inst, level > 4 ? ORACLE_HALVES : ORACLE_HANDLER);
    if (!memcmp(got.v, want->v, sizeof got.v) && !memcmp(got.s, want->s, sizeof got.s) &&
        got.scc == want->scc && got.mode == want->mode && got.trapsts == want->trapsts &&
        got.next == want->next)
        return true;
    check_failures++;
    isa_print(&isa_gfx942, inst, 0, text, sizeof text);
    fprintf(stderr, "%08x %08x %s, level v%u, mode 0x%x, exec 0x%016" PRIx64 "\n", words[0], words[1], text,
            level, before->mode, rig_sreg64(before, SREG_EXEC));
    unsigned shown = 0;
    for (int r = 0; r < RIG_ROWS; r++)
        for (int lane = 0; lane < WAVE_LANES; lane++)
            if (got.v[r][lane] != want->v[r][lane] && shown++ < 2) {
                fprintf(stderr, "  %c%d lane %d: 0x%08x, not 0x%08x (was 0x%08x); sources",
                        r < RIG_VGPRS ? 'v' : 'a', r % RIG_VGPRS, lane, got.v[r][lane], want->v[r][lane],
                        before->v[r][lane]);
                for (int i = 0; i < 3; i++)
                    if (inst->src[i].kind == ISA_VGPR || inst->src[i].kind == ISA_AGPR)
                        for (int k = inst->src[i].dwords; k--;)
                            fprintf(stderr, "%s%08x", k == inst->src[i].dwords - 1 ? " 0x" : "",
                                    before->v[rig_row(&inst->src[i]) + k][lane]);
                    else if (inst->src[i].kind == ISA_SGPR)
                        fprintf(stderr, " s:0x%08x", before->s[inst->src[i].reg]);
                    else if (inst->src[i].kind == ISA_CONST)
                        fprintf(stderr, " #0x%" PRIx64, inst->src[i].value);
                fprintf(stderr, "\n");
            }
    for (int i = 0; i < 128; i++)
        if (got.s[i] != want->s[i])
            fprintf(stderr, "  s[%d]: 0x%08x, not 0x%08x (was 0x%08x)\n", i, got.s[i], want->s[i],
                    before->s[i]);
    if (got.next != want->next)
        fprintf(stderr, "  next pc 0x%" PRIx64 ", not 0x%" PRIx64 "\n", got.next, want->next);
    if (got.scc != want->scc || got.mode != want->mode || got.trapsts != want->trapsts)
        fprintf(stderr, "  scc %d, not %d; mode 0x%x, not 0x%x; trapsts 0x%x, not 0x%x\n", got.scc, want->scc,
                got.mode, want->mode, got.trapsts, want->trapsts);
    return false;
}

#endif
