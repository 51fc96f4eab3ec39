/* SPDX-License-Identifier: MIT */
/*
 * Compiled code does what the interpreter does: random programs (blocks_make.h) from the same random state,
 * interpreted by one instruction after another, compiled, both by turns, and in runs; then all registers,
 * memory, LDS and statistics are the same.  A program for which they are not is made shorter and printed.
 *
 * Some are executed by two waves, which begin together where they are compiled.
 *
 *   blocks [programs [the first one's number [regions, of which there are only loops of several blocks]]]
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "blocks_even.h"
#include "blocks_region.h"
#include "blocks_states.h"
#include "blocks_tiles.h"
#include "exec/workgroup.h"
#include "jit/jit.h"
#include "wave/fuse.h"
#include "wave/gws.h"
#include "wave/special.h"

enum {
    STATES = 6, /* for each program */
    CODE_WORDS = 3 * UNITS_MAX + 2,
};

enum way { INTERPRETED, COMPILED, BOTH, RUNS, WAYS };
static const char *const way_names[] = {"interpreted", "compiled", "by turns", "in runs"};

struct outcome {
    struct state state;
    struct wave_stats stats;
    enum ehp_fault_kind fault; /* then registers are not compared */
    uint64_t fault_pc, address;
    unsigned lane;
    bool entered; /* compiled code */
    bool endless; /* made shorter, it is a loop for ever */
};

struct engine {
    struct jit *jit;
    struct exec_code code[2]; /* interpreted, compiled */
    struct exec_code_cache cache[2];
    struct fault_thread *thread;
    struct wave_guard guard;
};

static struct test {
    struct host *host;
    alignas(64) uint8_t scratch[SCRATCH_BYTES * WAVE_LANES];
    alignas(64) uint32_t code[CODE_WORDS];
    unsigned words, waves;
    struct exec_launch launch;
    struct workgroup *wg;
    struct gws gws[GWS_RESOURCES];
    struct engine engine[2];
    struct program program;
    struct rows rows; /* as struct use's */
    struct state before[STATES];
    struct outcome want, got;
    unsigned faults, entered, others, redone, runs; /* others: than in runs */
} t;

/* ---- what a machine provides to waves ---- */

void wave_interrupt(struct wave *w)
{
    (void)w;
}

bool wave_may_access(struct wave *w, uint64_t address, unsigned bytes)
{
    (void)w;
    return address - (uint64_t)(uintptr_t)t.host < HOST_BYTES - bytes;
}

uint64_t wave_clock(const struct wave *w)
{
    (void)w;
    return 1000;
}

uint64_t wave_realtime(const struct wave *w)
{
    (void)w;
    return 1000;
}

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    (void)context, (void)pc;
    *start = (uint64_t)(uintptr_t)t.code;
    *end = *start + t.words * 4;
    return true;
}

/* ---- running ---- */

static uint8_t counts_up(const uint32_t *row)
{
    unsigned lanes = WAVE_LANES;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        while (row[lane] != row[lane / lanes * lanes] + lane % lanes)
            lanes /= 2;
    return (uint8_t)lanes;
}

static void load(struct wave *w, const struct state *s)
{
    memcpy(w->v, s->v, sizeof(wave_row) * ROWS);
    w->counts_up = counts_up(s->v[0]);
    memcpy(w->v + WAVE_ACC, s->v + ROWS, sizeof(wave_row) * ROWS);
    memcpy(w->s, s->s, sizeof w->s);
    put64(w->s, SREG_END, (uint64_t)(uintptr_t)(t.code + t.words - 1));
    w->scc = s->scc;
    wave_set_mode(w, s->mode);
    memcpy(t.host->arena, s->arena, sizeof s->arena);
    memcpy(t.host->other, s->other, sizeof s->other);
    memcpy(w->lds, s->lds, LDS_BYTES);
    w->lds_bytes = s->lds_bytes;
    memcpy(t.scratch, s->scratch, sizeof s->scratch);
    w->scratch = t.scratch;
    w->scratch_bytes = s->scratch_bytes;
}

static void store(const struct wave *w, struct state *s)
{
    memcpy(s->v, w->v, sizeof(wave_row) * ROWS);
    memcpy(s->v + ROWS, w->v + WAVE_ACC, sizeof(wave_row) * ROWS);
    memcpy(s->s, w->s, sizeof w->s);
    s->scc = w->scc;
    s->mode = w->mode;
    s->trapsts = w->trapsts;
    memcpy(s->arena, t.host->arena, sizeof s->arena);
    memcpy(s->other, t.host->other, sizeof s->other);
    memcpy(s->lds, w->lds, LDS_BYTES);
    memcpy(s->scratch, t.scratch, sizeof s->scratch);
}

static const struct xinst *step(struct wave *w, const struct xinst *in)
{
    if (w->stats) {
        w->stats->count[in->cls]++;
        if (in->cls == XC_VALU)
            w->stats->lanes_valu += (uint64_t)__builtin_popcountll(w->exec);
    }
    return fuse_single(in)(w, in);
}

/* Enters compiled code at a head, as exec/workgroup.c does; NULL: it is not to be entered here. */
static const struct exec_compiled *head_at(struct wave *w, const struct xinst *in,
                                           const struct exec_block **block, uint32_t *head)
{
    if (w->mode_slow || w->mode & (MODE_SPECIAL | MODE_FP16_OVFL))
        return NULL;
    const struct exec_compiled *compiled = exec_code_compiled(
        w->guard->code, w->guard->cache, in, w->stats ? EXEC_COUNTED : EXEC_WHOLE, EXEC_BEGINS, block);
    *head = compiled ? compiled->heads[in - (*block)->x] : 0;
    return *head ? compiled : NULL;
}

/* Executes a run that begins here, as timing mode does; NULL: there is none. */
static const struct xinst *run_at(struct wave *w, const struct xinst *in)
{
    const struct exec_block *block;
    if (w->mode_slow || w->mode & (MODE_SPECIAL | MODE_FP16_OVFL))
        return NULL;
    const struct exec_compiled *compiled =
        exec_code_compiled(w->guard->code, w->guard->cache, in, EXEC_RUNS, 1, &block);
    const size_t at = compiled ? (size_t)(in - block->x) : 0;
    if (!compiled || !compiled->runs[at].length)
        return NULL;
    unsigned valu = 0, passes = 0;
    for (unsigned i = 0; i < compiled->runs[at].length; i++) {
        const struct isa_facts *facts = &isa_facts[in[i].op];
        valu += in[i].cls == XC_VALU;
        if (facts->unit == ISA_UNIT_VALU || facts->unit == ISA_UNIT_TRANS)
            passes += facts->passes;
    }
    CHECK_EQ(compiled->runs[at].valu, valu);
    CHECK_EQ(compiled->runs[at].passes, passes);
    const struct xinst *next = compiled->fn(w, block->x, compiled->heads[at], 1);
    CHECK(next == in + compiled->runs[at].length);
    t.runs++;
    return next;
}

/* Has waves begin in compiled code; `w` is the last one that has, and what it is to execute comes back. */
static const struct xinst *begin_at(const struct exec_compiled *compiled, const struct exec_block *block,
                                    struct wave **w)
{
    const struct xinst *in = compiled->fn(*w, block->x, EXEC_BEGIN, t.waves - (*w)->index);
    for (struct wave *last = (*w)->guard->wave; *w != last; ++*w)
        CHECK((*w)->state == WAVE_DONE);
    return in;
}

/* Not inlined, as what it has in registers is lost when an instruction faults. */
__attribute__((noinline)) static bool run_wave(struct wave **waves, enum way way, bool *endless)
{
    struct wave *w = *waves;
    static const uint8_t budgets[] = {0, 0, 64, 12};
    const unsigned shorter = way == COMPILED ? budgets[below(4)] : 0;
    const unsigned most = way == BOTH || shorter ? 20000 : 100;
    const struct xinst *in = w->next;
    const bool begins = way == COMPILED || (way == BOTH && below(2));
    bool entered = false, fresh = true;
    for (unsigned turns = 0; w->state == WAVE_RUNNING && !*endless; turns++) {
        *endless = turns == most;
        w->budget = way == BOTH ? (int)below(3) : shorter ? (int)below(shorter) : 1000;
        while (in) {
            const struct exec_block *block;
            const struct exec_compiled *compiled = NULL;
            uint32_t head = 0;
            if (way == COMPILED || (way == BOTH && below(2)))
                compiled = head_at(w, in, &block, &head);
            w->leaving = way == BOTH && below(2); /* it then stops at a write to LDS */
            const struct xinst *next = way == RUNS ? run_at(w, in) : NULL;
            if (!next && compiled && begins && fresh && head == 1 && !w->leaving)
                next = begin_at(compiled, block, &w);
            else if (!next)
                next = compiled ? compiled->fn(w, block->x, head, 1) : step(w, in);
            in = next;
            fresh = false;
            w->leaving = false;
            entered |= compiled != NULL;
        }
        in = w->next;
        if (w->state == WAVE_YIELD)
            w->state = WAVE_RUNNING;
    }
    *waves = w;
    return entered;
}

/* One after another. */
__attribute__((noinline)) static bool run_waves(struct wave_guard *g, enum way way, bool *endless)
{
    bool entered = false;
    *endless = false;
    for (struct wave *w = t.wg->wave; w < t.wg->wave + t.waves; w++) {
        g->wave = w;
        w->budget = 1000;
        entered |= run_wave(&w, way, endless);
    }
    return entered;
}

static void run(struct engine *e, enum way way, bool counts, const struct state *before, struct outcome *o)
{
    struct wave_guard *g = &e->guard;
    memset(&o->stats, 0, sizeof o->stats);
    g->code = &e->code[way != INTERPRETED];
    g->cache = &e->cache[way != INTERPRETED];
    t.launch.entry = exec_code_find(g->code, g->cache, (uint64_t)(uintptr_t)t.code);
    t.wg = workgroup_start(t.wg, &t.launch, 0, NULL);
    if (!t.wg || !t.launch.entry)
        abort();
    for (unsigned i = 0; i < t.waves; i++) {
        struct wave *w = &t.wg->wave[i];
        load(w, before);
        w->guard = g;
        w->mem_arena = (uint64_t)(uintptr_t)t.host->arena;
        w->mem_mask = ~(uint64_t)(ARENA - 1);
        w->stats = counts ? &o->stats : NULL;
    }
    g->kind = EHP_FAULT_NONE;
    g->in = NULL;
    g->in_cache = way != COMPILED;
    g->armed = true;
    o->entered = o->endless = false;
    if (sigsetjmp(g->env, 0)) {
        g->armed = false;
        g->in = NULL;
        if (g->wave->stretch.first) { /* handlers come to the same fault, and here once more */
            t.redone++;
            g->armed = true;
            g->code->compiler->redo(g->wave);
        }
        fuse_settle_fault(g);
        o->fault_pc = g->fault_in->pc;
        o->address = g->address;
        o->lane = g->lane;
    } else {
        o->entered = run_waves(g, way, &o->endless);
    }
    g->armed = false;
    o->fault = g->kind;
    store(&t.wg->wave[t.waves - 1], &o->state);
}

/* ---- comparing ---- */

static bool same_stats(const struct wave_stats *a, const struct wave_stats *b)
{
    struct wave_stats x = *a, y = *b;
    x.compiled = y.compiled = 0;
    return memcmp(&x, &y, sizeof x) == 0;
}

/* One load of the host's for several lanes may begin before the page that is not there, or lanes may be done
 * that had been in it: the page is the same. */
static bool same_fault(const struct outcome *a, const struct outcome *b)
{
    return a->fault == b->fault && (!a->fault || (a->fault_pc == b->fault_pc && a->lane == b->lane &&
                                                  a->address / HOLE == b->address / HOLE));
}

/* Which lanes' values are there when one of them faults is left open. */
static bool is_store(uint64_t pc)
{
    struct isa_inst inst;
    return isa_decode(&isa_gfx942, t.code + (pc - (uint64_t)(uintptr_t)t.code) / 4, 3, &inst) &&
           isa_facts[inst.op].effects & ISA_E_STORE;
}

static bool is_same(const struct outcome *a, const struct outcome *b)
{
    if (a->endless || b->endless)
        return true;
    if (!same_fault(a, b))
        return false;
    if (a->fault && is_store(a->fault_pc))
        return true;
    if (memcmp(a->state.arena, b->state.arena, sizeof a->state.arena) != 0 ||
        memcmp(a->state.other, b->state.other, sizeof a->state.other) != 0 ||
        memcmp(a->state.lds, b->state.lds, sizeof a->state.lds) != 0)
        return false;
    if (a->fault) /* registers and scratch end with the wave */
        return true;
    return memcmp(a->state.scratch, b->state.scratch, sizeof a->state.scratch) == 0 &&
           memcmp(a->state.v, b->state.v, sizeof a->state.v) == 0 &&
           memcmp(a->state.s, b->state.s, sizeof a->state.s) == 0 && a->state.scc == b->state.scc &&
           a->state.mode == b->state.mode && a->state.trapsts == b->state.trapsts &&
           same_stats(&a->stats, &b->stats);
}

static void encode(struct engine *e)
{
    t.words = program_encode(&t.program, t.code);
    for (unsigned i = 0; i < 2; i++)
        exec_code_drop(&e->code[i], 0, UINT64_MAX);
}

static bool agrees(struct engine *e, enum way way, bool counts, const struct state *before)
{
    run(e, INTERPRETED, counts, before, &t.want);
    run(e, way, counts, before, &t.got);
    return is_same(&t.want, &t.got);
}

/* By turns: what comes out may depend on the turns. */
static bool fails_still(struct engine *e, enum way way, bool counts, const struct state *before)
{
    encode(e);
    for (unsigned i = 0; i < (way == BOTH ? 20 : 1); i++)
        if (!agrees(e, way, counts, before))
            return true;
    return false;
}

static void shrink(struct engine *e, enum way way, bool counts, const struct state *before)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = t.program.count; i-- > 0;) {
            if (t.program.unit[i].dropped)
                continue;
            t.program.unit[i].dropped = true;
            if (fails_still(e, way, counts, before))
                again = true;
            else
                t.program.unit[i].dropped = false;
        }
    }
    fails_still(e, way, counts, before);
}

static void print_program(void)
{
    for (unsigned at = 0; at < t.words;) {
        struct isa_inst inst;
        char text[200] = "?";
        const uint64_t pc = (uint64_t)(uintptr_t)(t.code + at);
        if (!isa_decode(&isa_gfx942, t.code + at, t.words - at, &inst))
            inst.size = 4;
        else
            isa_print(&isa_gfx942, &inst, pc, text, sizeof text);
        fprintf(stderr, "  %3u: %s\n", at, text);
        at += inst.size / 4;
    }
}

static void print_bytes(const char *what, const uint8_t *want, const uint8_t *got, size_t bytes)
{
    unsigned shown = 0;
    for (size_t i = 0; i < bytes; i++)
        if (want[i] != got[i] && shown++ < 4)
            fprintf(stderr, "  %s + 0x%zx: 0x%02x, not 0x%02x\n", what, i, got[i], want[i]);
}

/* Values of the rows that the program reads, in the lane that differs. */
static void print_lane(const struct state *before, unsigned lane)
{
    for (unsigned at = 0; at < t.words;) {
        struct isa_inst inst;
        if (!isa_decode(&isa_gfx942, t.code + at, t.words - at, &inst))
            break;
        for (unsigned i = 0; i < 3; i++)
            for (unsigned d = 0; d < inst.src[i].dwords; d++)
                if (inst.src[i].kind == ISA_VGPR)
                    fprintf(stderr, "    %u: v%u was 0x%08x\n", at, inst.src[i].reg + d,
                            before->v[inst.src[i].reg + d][lane]);
                else if (inst.src[i].kind == ISA_SGPR)
                    fprintf(stderr, "    %u: s[%u] was 0x%08x\n", at, inst.src[i].reg + d,
                            before->s[inst.src[i].reg + d]);
        at += inst.size / 4;
    }
}

static void print_difference(const struct state *before)
{
    const struct state *want = &t.want.state, *got = &t.got.state;
    unsigned shown = 0;
    print_program();
    fprintf(stderr, "  mode 0x%x, exec 0x%016" PRIx64 ", vcc 0x%016" PRIx64 ", scc %d\n", before->mode,
            get64(before->s, SREG_EXEC), get64(before->s, SREG_VCC), before->scc);
    if (t.want.fault || t.got.fault)
        fprintf(stderr,
                "  fault %d at %" PRIx64 ", address %" PRIx64 ", lane %d, not %d at %" PRIx64 ", %" PRIx64
                ", %d\n",
                t.got.fault, t.got.fault_pc, t.got.address, (int)t.got.lane, t.want.fault, t.want.fault_pc,
                t.want.address, (int)t.want.lane);
    for (unsigned r = 0; r < 2 * ROWS; r++)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            if (want->v[r][lane] != got->v[r][lane] && shown++ < 3) {
                fprintf(stderr, "  %c%u lane %u: 0x%08x, not 0x%08x (was 0x%08x)\n", r < ROWS ? 'v' : 'a',
                        r % ROWS, lane, got->v[r][lane], want->v[r][lane], before->v[r][lane]);
                if (shown == 1)
                    print_lane(before, lane);
            }
    for (unsigned i = 0; i < 128; i++)
        if (want->s[i] != got->s[i])
            fprintf(stderr, "  s[%u]: 0x%08x, not 0x%08x (was 0x%08x)\n", i, got->s[i], want->s[i],
                    before->s[i]);
    if (want->scc != got->scc || want->mode != got->mode || want->trapsts != got->trapsts)
        fprintf(stderr, "  scc %d, not %d; mode 0x%x, not 0x%x; trapsts 0x%x, not 0x%x\n", got->scc,
                want->scc, got->mode, want->mode, got->trapsts, want->trapsts);
    print_bytes("memory", want->arena, got->arena, sizeof want->arena);
    print_bytes("other memory", want->other, got->other, sizeof want->other);
    print_bytes("LDS", want->lds, got->lds, sizeof want->lds);
    print_bytes("scratch", want->scratch, got->scratch, sizeof want->scratch);
    if (!same_stats(&t.want.stats, &t.got.stats)) {
        const uint64_t *x = (const uint64_t *)&t.want.stats, *y = (const uint64_t *)&t.got.stats;
        for (size_t i = 0; i < offsetof(struct wave_stats, compiled) / 8; i++)
            if (x[i] != y[i])
                fprintf(stderr, "  statistics[%zu]: %" PRIu64 ", not %" PRIu64 "\n", i, y[i], x[i]);
    }
}

/* ---- programs ---- */

/* Waves that begin together read by scalar loads before any of them stores. */
static bool may_have_two_waves(void)
{
    bool loads = false, stores = false;
    for (unsigned at = 0; at < t.words;) {
        struct isa_inst inst;
        if (!isa_decode(&isa_gfx942, t.code + at, t.words - at, &inst))
            return false;
        loads |= inst.format == ISA_SMEM;
        stores |= isa_facts[inst.op].effects & (ISA_E_STORE | ISA_E_ATOMIC);
        at += inst.size / 4;
    }
    return !loads || !stores;
}

static void try_states(struct engine *e, const char *name, unsigned number, unsigned level, bool counts)
{
    encode(e);
    for (unsigned i = 0; i < STATES; i++)
        fill(&t.before[i], &(struct use){t.host, t.rows, t.program.even});
    t.waves = below(2) && may_have_two_waves() ? 2 : 1;
    for (unsigned i = 0; i < STATES; i++)
        for (enum way way = COMPILED; way < (counts ? RUNS : WAYS); way++) {
            check_count++;
            const bool same = agrees(e, way, counts, &t.before[i]);
            t.faults += t.want.fault != EHP_FAULT_NONE;
            t.entered += t.got.entered;
            t.others += way != RUNS;
            if (same)
                continue;
            check_failures++;
            fprintf(stderr, "%s %u, level v%u, %s%s:\n", name, number, level, way_names[way],
                    counts ? ", counting" : "");
            shrink(e, way, counts, &t.before[i]);
            print_difference(&t.before[i]);
            return;
        }
}

static void try_random(struct engine *e, unsigned level, unsigned number)
{
    rig_seed = (number + 1) * UINT64_C(0xd1342543de82ef95);
    program_make(&t.program);
    try_states(e, "program", number, level, below(2));
}

static void try_even(struct engine *e, unsigned level, unsigned number)
{
    rig_seed = (number + 1) * UINT64_C(0x8cb92ba72f3d8dd7);
    program_make_even(&t.program);
    try_states(e, "even loop", number, level, below(4) == 0);
}

static void try_region(struct engine *e, unsigned level, unsigned number)
{
    rig_seed = (number + 1) * UINT64_C(0xaf251af3b0f025b5);
    program_make_region(&t.program);
    try_states(e, "region", number, level, below(4) == 0);
}

static void try_tiles(struct engine *e, unsigned level, unsigned number)
{
    rig_seed = (number + 1) * UINT64_C(0xe7037ed1a0b428db);
    program_make_tiles(&t.program);
    try_states(e, "tiles", number, level, below(4) == 0);
}

/* Programs that were once compiled wrong. */
static void try_known(struct engine *e, unsigned level)
{
    static const uint32_t known[][12] = {
        /* A back end's mistake with halves: s_pack_ll_b32_b16 s2, s47, vcc_hi; s_mov_b64 exec, s[2:3] */
        {0x7d88026a, 0x99026b2f, 0xbefe0102},
        /* A load whose result nobody reads faults: global_load_ubyte v5, v[34:35]; v_mov_b32 v5, 0 */
        {0xdc408000, 0x057f0022, 0x7e0a0280},
        /* A store in two halves, of which the second reads what is dead behind it: ds_write_b32 v24, v4;
         * v_readfirstlane_b32 s0, v1; v_mov_b32 v5, v6; ds_write2_b32 v24, v4, v5 offset1:1; v_mov_b32 v5, 0
         */
        {0xd81a0000, 0x00000418, 0x7e000501, 0x7e0a0306, 0xd81c0100, 0x00050418, 0x7e0a0280},
        /* VCC is read by another name: v_cmp_ne_i32 vcc, v5, v5; v_mbcnt_hi_u32_b32 v8, s11, src_vccz;
         * s_xnor_b64 vcc, s[0:1], exec */
        {0x7d8a0b05, 0xd28d0008, 0x0001f60b, 0x8dea7e00},
        /* A load that faults in a part of a loop: v_cmp_lt_u32 vcc, v1, v2; s_and_saveexec_b64 s[2:3], vcc;
         * s_cbranch_execz; global_load_dword v5, v[34:35]; s_or_b64 exec, exec, s[2:3]; v_add_u32 v1, v1, v5;
         * s_sub_u32 s70, s70, 1; s_cmp_gt_i32 s70, 0; s_cbranch_scc1 */
        {0x7d920501, 0xbe82206a, 0xbf880002, 0xdc508000, 0x057f0022, 0x87fe027e, 0x68020b01, 0x80c68146,
         0xbf028046, 0xbf85fff6},
        /* A mask where a scalar was put that the same stretch has read before: v_add_f32 v1, s0, v1;
         * s_mov_b32 s0, 4.0; v_mul_f32 v2, s0, v2; v_cmp_ge_f32 s[0:1], v2, v1; v_cndmask_b32 v4, v4, v5,
         * s[0:1]; v_sqrt_f32 v3, v2 */
        {0x02020200, 0xbe8000f6, 0x0a040400, 0xd0460000, 0x00020302, 0xd1000004, 0x00020b04, 0x7e064f02},
        /* Offsets wrap in a loop that the lane before has left: global_load_dword v0, v28, s[64:65];
         * v_add_u32 v28, -3, v28; global_load_dwordx2 v[2:3], v[36:37], off; v_cmp_gt_i32 vcc, v2, v0;
         * s_or_b64 s[2:3], vcc, s[2:3]; s_andn2_b64 exec, exec, s[2:3]; s_cbranch_execnz;
         * s_or_b64 exec, exec, s[2:3]; v_mov_b32 v28, 0 */
        {0xdc508000, 0x0040001c, 0x683838c3, 0xdc548000, 0x027f0024, 0x7d880102, 0x8782026a, 0x89fe027e,
         0xbf89fff7, 0x87fe027e, 0x7e380280},
        /* A back end's mistake with 16 bits of a high product: v_mul_hi_i32_i24 v2, sext(v2.word0),
         * s25.byte3; v_min_i16 v11, v2, v23; v_mov_b32 v2, 0 */
        {0x0e0432f9, 0x830c0602, 0x64162f02, 0x7e040280},
        /* A root that compiled code takes for another number's: v_mov_b32 v1, 0x00800000; v_rsq_f32 v2, v1;
         * v_mul_f32 v3, 2.0, v2; v_mov_b32 v2, 0 */
        {0x7e0202ff, 0x00800000, 0x7e044901, 0x0a0604f4, 0x7e040280},
        /* A loop may load scalars from where the GPU has to ask: s_load_dword s10, s[64:65], 16; v_add_u32
         * v1, s10, v1; s_sub_u32 s70, s70, 1; s_cmp_gt_i32 s70, 0; s_cbranch_scc1 */
        {0xc00202a0, 0x00000010, 0x6802020a, 0x80c68146, 0xbf028046, 0xbf85fffa},
    };
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        for (unsigned counts = 0; counts < 2; counts++) {
            rig_seed = i + 1;
            t.program = (struct program){.rows = UINT32_MAX, .theme = ""};
            for (unsigned at = 0; known[i][at];) {
                struct isa_inst inst;
                struct unit *unit = &t.program.unit[t.program.count++];
                CHECK(isa_decode(&isa_gfx942, known[i] + at, 3, &inst));
                *unit = (struct unit){.size = inst.size};
                memcpy(unit->words, known[i] + at, inst.size);
                at += inst.size / 4;
            }
            for (unsigned turn = 0; turn < 20; turn++)
                try_states(e, "known", i, level, counts);
        }
}

static void add_unit(const uint32_t *words, unsigned bytes)
{
    struct unit *unit = &t.program.unit[t.program.count++];
    *unit = (struct unit){.size = bytes};
    memcpy(unit->words, words, bytes);
}

/* A load, and a store to where it was, of lanes whose rows lie on each other, follow each other or are apart:
 * slices that go one after another must not load what one before has stored. */
static void try_rows(struct engine *e, unsigned level)
{
    static const uint32_t programs[][4] = {
        /* global_load_dword v5, v[52:53], off; global_store_dword v[52:53], v7, off */
        {0xdc508000, 0x057f0034, 0xdc708000, 0x007f0734},
        /* flat_load_dword v5, v[52:53]; flat_store_dword v[52:53], v7 */
        {0xdc500000, 0x05000034, 0xdc700000, 0x00000734},
        /* ds_read_b32 v5, v50; ds_write_b32 v50, v7 */
        {0xd86c0000, 0x05000032, 0xd81a0000, 0x00000732},
    };
    static const uint8_t pitches[] = {0, 4, 8, 28, 32, 64, 68};
    for (unsigned i = 0; i < sizeof programs / sizeof programs[0]; i++)
        for (unsigned pitch = 0; pitch < sizeof pitches; pitch++)
            for (uint32_t width = 8; width < WAVE_LANES; width *= 2) {
                rig_seed = i * 1000 + pitch * 10 + width;
                t.rows = (struct rows){width, pitches[pitch]};
                t.program = (struct program){.rows = UINT32_MAX, .theme = "", .even = true};
                add_unit(programs[i], 8);
                add_unit(programs[i] + 2, 8);
                try_states(e, "rows", i * 1000 + pitch * 10 + width, level, false);
            }
    t.rows.width = 0;
}

/* Stores of four dwords after each other, which may go past the host's caches where they fill its lines. */
static void try_streams(struct engine *e, unsigned level)
{
    enum { SEEDS = 12 };
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        /* global_store_dwordx4 v31, v[4:7], s[64:65] offset */
        const uint32_t code[] = {0xdc7c8000 | (seed % 2 ? 16 * below(16) : 64 * below(4)),
                                 (ROW_OFFSET + 3) | 4 << 8 | (uint32_t)SREG_KEPT << 16};
        rig_seed = seed;
        t.program = (struct program){.rows = UINT32_MAX, .theme = "", .even = true, .ends = true};
        add_unit(code, 8);
        try_states(e, "streams", seed, level, false);
    }
}

/* A load that faults in one lane, mostly, before a write to LDS: slices before that lane's must not write. */
static void try_faults(struct engine *e, unsigned level)
{
    enum { SEEDS = 30 };
    /* ds_write_b32 v24, v4; v_readfirstlane_b32 s0, v1; global_load_dword v6, v[54:55], off;
     * ds_write_b32 v24, v2 offset:68: the first write to LDS is where code is entered */
    static const uint32_t code[] = {0xd81a0000, 0x00000418, 0x7e000501, 0xdc508000,
                                    0x067f0036, 0xd81a0044, 0x00000218};
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        rig_seed = seed;
        t.program = (struct program){.rows = UINT32_MAX, .theme = "", .even = true};
        add_unit(code, 8);
        add_unit(code + 2, 4);
        add_unit(code + 3, 8);
        add_unit(code + 5, 8);
        try_states(e, "faults", seed, level, false);
    }
}

/*
 * Reads of LDS, and of other lanes, at addresses that go up by a step from lane to lane, as the code says, or
 * by none: of lanes' numbers (v_mbcnt), or of a row that may hold anything, some bits, turned over, shifted,
 * with a first place.
 */
static void try_steps(struct engine *e, unsigned level, unsigned number)
{
    enum { V = 256, ADDRESS = 24, ZERO = 128, ONES = 193, BPERMUTE = 63 };
    static const uint8_t ops[] = {54, 55, 56, 57, 58, 59, 60, 118, 119, 120, 254, 255, BPERMUTE, BPERMUTE};
    rig_seed = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    t.program = (struct program){.rows = UINT32_MAX, .theme = "", .even = below(4) != 0};
    const uint32_t lanes[][2] = {{0xd28c0000 | ADDRESS, ONES | ZERO << 9},
                                 {0xd28d0000 | ADDRESS, ONES | (V + ADDRESS) << 9}};
    static const uint16_t masks[] = {ZERO, ZERO + 15, ZERO + 16, ONES + 15};
    const uint32_t by = ZERO + below(6), first = ZERO + below(64), mask = masks[below(4)];
    const uint32_t some[] = {0x26000000 | ADDRESS << 17 | ADDRESS << 9 | mask};
    const uint32_t turn[] = {0x2a000000 | ADDRESS << 17 | ADDRESS << 9 | (ZERO + below(64))};
    const uint32_t shift[] = {0x24000000 | ADDRESS << 17 | ADDRESS << 9 | by};
    const uint32_t add[] = {0x68000000 | ADDRESS << 17 | ADDRESS << 9 | first};
    const uint32_t strange[] = {0x7e000200 | ADDRESS << 17 |
                                V};        /* v0, which kernels have lanes' numbers in */
    const uint32_t block[] = {0xbf840000}; /* s_cbranch_scc0 to what follows */
    if (below(8)) {
        add_unit(lanes[0], 8);
        add_unit(lanes[1], 8);
    } else {
        add_unit(strange, 4);
    }
    if (below(3) == 0)
        add_unit(some, 4);
    if (below(3) == 0)
        add_unit(turn, 4);
    if (below(8))
        add_unit(shift, 4);
    add_unit(add, 4);
    add_unit(block, 4);
    for (unsigned i = 4 + below(8), usual = below(sizeof ops); i; i--) {
        const uint32_t op = ops[below(3) ? usual : below(sizeof ops)], row = 2 * below(8);
        const uint32_t near = below(4) ? below(64) : below(0x10000);
        const uint32_t data = op == BPERMUTE ? below(16) : 0;
        const uint32_t read[] = {0xd8000000 | op << 17 | near, ADDRESS | data << 8 | row << 24};
        const uint32_t fma[] = {0xd1cb0000 | below(16),
                                (V + below(16)) | (V + below(16)) << 9 | (V + below(16)) << 18};
        add_unit(read, 8);
        if (below(2))
            add_unit(fma, 8);
    }
    try_states(e, "steps", number, level, below(2));
}

static bool engine_open(struct engine *e, unsigned level, enum jit_when when)
{
    char why[128];
    if (!rig_has_level(level) || !jit_available(level, why, sizeof why))
        return false;
    e->jit = jit_open(level, when);
    e->thread = fault_thread_enter(&e->guard);
    if (!e->jit || !e->thread)
        abort();
    for (unsigned i = 0; i < 2; i++) {
        exec_code_init(&e->code[i], &isa_gfx942, bounds, NULL);
        e->code[i].level = level;
    }
    e->code[1].compiler = jit_compiler(e->jit);
    return true;
}

static void engine_close(struct engine *e)
{
    for (unsigned i = 0; i < 2; i++)
        exec_code_destroy(&e->code[i]);
    CHECK_EQ(jit_totals(e->jit).refused, 0);
    jit_close(e->jit);
    fault_thread_leave(e->thread);
}

static bool host_open(void)
{
    const uint64_t window = UINT64_C(1) << 32;
    uint8_t *space = mmap(NULL, 3 * window, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        return false;
    t.host =
        (struct host *)(void *)(space + (-(uint64_t)(uintptr_t)space & (window - 1)) + window + window / 2);
    return mprotect(t.host, HOST_BYTES, PROT_READ | PROT_WRITE) == 0 &&
           mprotect(t.host->arena + ARENA - HOLE, HOLE, PROT_NONE) == 0;
}

int main(int argc, char **argv)
{
    const unsigned programs = argc > 1 ? (unsigned)atoi(argv[1]) : 300,
                   first = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    const bool all = argc < 3;        /* what is not random, too */
    setenv("EHP_CACHE_SIZE", "0", 1); /* no program comes again */
    t.launch = (struct exec_launch){.id_sgpr = {-1, -1, -1},
                                    .info_sgpr = -1,
                                    .mode = MODE_FLOAT_PLAIN,
                                    .vgprs = 256,
                                    .agprs = 256,
                                    .lds_bytes = LDS_BYTES,
                                    .items = {2 * WAVE_LANES, 1, 1},
                                    .grid = {2 * WAVE_LANES, 1, 1},
                                    .groups = {1, 1, 1},
                                    .id_dims = 1,
                                    .waves = 2,
                                    .gws = t.gws};
    if (!launch_make_ids(&t.launch) || !host_open())
        return 1;
    for (unsigned level = 3; level <= 4; level++) {
        struct engine *e = &t.engine[level - 3];
        if (!engine_open(e, level, JIT_FIRST))
            continue;
        if (all) {
            try_known(e, level);
            try_rows(e, level);
            try_streams(e, level);
            try_faults(e, level);
        }
        for (unsigned i = 0; i < programs; i++) {
            try_region(e, level, first + i);
            if (argc > 3)
                continue;
            try_random(e, level, first + i);
            if (i % 2 == 0)
                try_even(e, level, first + i);
            if (i % 4 == 0)
                try_steps(e, level, first + i);
            if (i % 2 == 0)
                try_tiles(e, level, first + i);
        }
        engine_close(e);
        for (enum jit_when when = JIT_FIRST_SINGLE; when <= JIT_FIRST_PLAIN; when++) {
            if (!engine_open(e, level, when))
                return 1;
            if (all && when == JIT_FIRST_SINGLE)
                try_rows(e, level);
            for (unsigned i = 0; i < programs / 3; i++)
                try_random(e, level, first + i);
            engine_close(e);
        }
    }
    workgroup_free(t.wg);
    free(t.launch.v0);
    if (!check_count)
        return 77; /* this host, or this build, has no compiled engine */
    printf(
        "%u of %u runs entered compiled code, %u faulted; %u host faults in compiled code; %u runs as timing "
        "mode has\n",
        t.entered, t.others, t.faults, t.redone, t.runs);
    CHECK(programs < 200 || (t.entered > t.others / 2 && t.runs > programs));
    return check_status();
}
