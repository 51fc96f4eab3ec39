/* SPDX-License-Identifier: MIT */
/* Starting and running workgroups; see workgroup.h. */
#include "exec/workgroup.h"

#include <immintrin.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exec/code.h"
#include "isa/facts.h"
#include "wave/fault.h"
#include "wave/fuse.h"
#include "wave/special.h"

/*
 * Taken branches of a wave's stretch, and how many stretches it has before it
 * gives way to the next of its workgroup; doubled with every run of the
 * workgroup, up to eight times.  After a stretch a wave that spins gives way at
 * once: then few turns are spent on waiting, however many workgroups wait.
 */
enum { STRETCH = 128, STRETCHES = 6, GROWTH_MAX = 3 };

/* Compiled code has longer stretches, in which it does more in less time: few of its turns are interpreted.
 */
enum { COMPILED_STRETCH = 2048 };

/* What it heats a function when a wave begins with it, or has a stretch in it: about equal times are equal
 * heat. */
enum { START_HEAT = 1, STRETCH_HEAT = 16 };

/* How often its waves may come together at a barrier for each round that they may have otherwise. */
enum { BARRIERS = 16 };

/* The longest loop that is taken for spinning, in instructions; and the most that read memory: whoever waits
 * looks at few places. */
enum { SPIN_LOOP_MAX = 256, SPIN_READS_MAX = 16 };

enum { ALL_ROWS = WAVE_TEMPS + WAVE_ROWS };

/* What a wave of the launch needs, from row 0 on. */
static unsigned rows_of(const struct exec_launch *launch)
{
    if (!launch->rows)
        return WAVE_ROWS;
    unsigned rows = launch->agprs ? WAVE_ACC + launch->agprs : launch->vgprs;
    return rows > launch->rows ? rows : launch->rows;
}

/*
 * Rows from one wave to the next.  Odd, which keeps equal registers of different waves out of the same sets
 * of the host's L1 cache.
 */
static size_t stride_of(const struct exec_launch *launch)
{
    return (WAVE_TEMPS + rows_of(launch)) | 1;
}

/* More than the user SGPRs, workgroup ids and info; the lines with flat_scratch, VCC, M0 and EXEC. */
enum { LAUNCH_SGPRS = 32, SPECIAL_SGPRS = 96 };

static uint32_t packed_id(const uint32_t items[3], uint32_t flat, unsigned dims)
{
    uint32_t x = flat % items[0], y = flat / items[0] % items[1], z = flat / items[0] / items[1];
    return dims == 1 ? x : dims == 2 ? x | y << 10 : x | y << 10 | z << 20;
}

bool launch_make_ids(struct exec_launch *launch)
{
    launch->v0 = aligned_alloc(64, launch->waves * sizeof(wave_row));
    if (!launch->v0)
        return false;
    for (unsigned i = 0; i < launch->waves; i++)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            launch->v0[i][lane] = packed_id(launch->items, i * WAVE_LANES + lane, launch->id_dims);
    return true;
}

/* Touched only where they are used; NULL when memory is short. */
static wave_row *rows_map(size_t rows)
{
    void *map = mmap(NULL, rows * sizeof(wave_row), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static void rows_unmap(wave_row *rows, size_t count)
{
    munmap(rows, count * sizeof(wave_row));
}

void workgroup_free(struct workgroup *wg)
{
    if (!wg)
        return;
    if (wg->rows_mapped)
        rows_unmap(wg->rows, wg->capacity_rows);
    for (unsigned i = 0; i < WORKGROUP_MAX_WAVES; i++) {
        if (wg->grown[i])
            rows_unmap(wg->grown[i], ALL_ROWS);
        free(wg->scratch[i]);
    }
    free(wg->lds);
    if (!wg->arena)
        free(wg);
}

/* For this launch. */
static bool reserve_rows(struct workgroup *wg, const struct exec_launch *launch)
{
    size_t stride = stride_of(launch), rows = launch->waves * stride, had = wg->capacity_rows;
    if (rows <= had)
        return true;
    if (wg->rows_mapped)
        rows_unmap(wg->rows, had);
    wg->rows_mapped = !wg->arena || stride > WAVE_ACC; /* most of so many are not used */
    if (wg->rows_mapped) {
        wg->rows = rows_map(rows);
        wg->rows_mapped = wg->rows != NULL;
    } else { /* what it had stays there unused: so by so much more that this is not often */
        rows = had && rows < had + had / 2 ? had + had / 2 : rows;
        wg->rows = arena_take(wg->arena, rows * sizeof(wave_row));
    }
    wg->capacity_rows = wg->rows ? rows : 0;
    return wg->rows != NULL;
}

void wave_grow(struct wave *w)
{
    struct workgroup *wg = w->wg;
    wave_row **grown = &wg->grown[w->index];
    if (!*grown)
        *grown = rows_map(ALL_ROWS);
    if (!*grown) {
        fputs("ehp: the host has no memory for a wave's registers\n", stderr);
        abort();
    }
    memcpy(*grown, w->v - WAVE_TEMPS, (WAVE_TEMPS + w->rows) * sizeof(wave_row));
    w->v = *grown + WAVE_TEMPS;
    w->rows = WAVE_ROWS;
}

static bool reserve(struct workgroup *wg, const struct exec_launch *launch)
{
    const unsigned had = wg->capacity_waves;
    if (!reserve_rows(wg, launch))
        return false;
    if (had < launch->waves) {
        memset(wg->wave + had, 0, (launch->waves - had) * sizeof(wg->wave[0]));
        wg->capacity_waves = launch->waves;
    }
    if (wg->capacity_lds < launch->lds_bytes || !wg->lds) {
        free(wg->lds);
        wg->capacity_lds = 0;
        /* A little more than asked: whole-row copies at the end stay inside. */
        wg->lds = aligned_alloc(64, ((size_t)launch->lds_bytes + 512 + 63) & ~(size_t)63);
        if (!wg->lds)
            return false;
        wg->capacity_lds = launch->lds_bytes;
    }
    if (wg->capacity_scratch < launch->scratch_bytes) {
        for (unsigned i = 0; i < WORKGROUP_MAX_WAVES; i++) {
            free(wg->scratch[i]);
            wg->scratch[i] = NULL;
        }
        wg->capacity_scratch = launch->scratch_bytes;
    }
    if (launch->scratch_bytes)
        for (unsigned i = 0; i < launch->waves; i++)
            if (!wg->scratch[i]) {
                wg->scratch[i] = aligned_alloc(64, (size_t)wg->capacity_scratch * WAVE_LANES);
                if (!wg->scratch[i])
                    return false;
            }
    return true;
}

/* Plain vectors, as the compiler's string instructions take longer to begin than these few lines take. */
static inline void copy_lines(void *to, const void *from, size_t bytes)
{
    __m128i *t = to;
    const __m128i *f = from;
    for (size_t i = 0; i < bytes / sizeof(*t); i += 4) {
        const __m128i a = _mm_load_si128(f + i), b = _mm_load_si128(f + i + 1);
        const __m128i c = _mm_load_si128(f + i + 2), d = _mm_load_si128(f + i + 3);
        _mm_store_si128(t + i, a);
        _mm_store_si128(t + i + 1, b);
        _mm_store_si128(t + i + 2, c);
        _mm_store_si128(t + i + 3, d);
    }
}

static void start_wave(struct workgroup *wg, const struct exec_launch *launch, unsigned i,
                       const uint32_t items[3])
{
    struct wave *w = &wg->wave[i];
    uint32_t total = items[0] * items[1] * items[2], first = i * WAVE_LANES;
    uint32_t here = total - first < WAVE_LANES ? total - first : WAVE_LANES;
    w->v = wg->rows + i * stride_of(launch) + WAVE_TEMPS;
    w->rows = rows_of(launch);
    w->vgprs = launch->vgprs;
    w->agprs = launch->agprs;
    /* As on the chip, registers that a launch does not set hold what the last wave left: SGPRs between those
     * of the launch and VCC, and VGPRs. */
    static_assert(sizeof(w->s) == sizeof(launch->sgprs), "equal numbers are equal registers");
    copy_lines(w->s, launch->sgprs, LAUNCH_SGPRS * sizeof(w->s[0]));
    copy_lines(w->s + SPECIAL_SGPRS, launch->sgprs + SPECIAL_SGPRS, (128 - SPECIAL_SGPRS) * sizeof(w->s[0]));
    for (int d = 0; d < 3; d++)
        if (launch->id_sgpr[d] >= 0)
            w->s[launch->id_sgpr[d]] = wg->id[d];
    if (launch->info_sgpr >= 0)
        w->s[launch->info_sgpr] = wg->waves | (uint32_t)(i == 0) << 31;
    w->exec = here == WAVE_LANES ? UINT64_MAX : (UINT64_C(1) << here) - 1;
    if (items[0] == launch->items[0] && items[1] == launch->items[1])
        copy_lines(w->v[0], launch->v0[i], sizeof(wave_row));
    else
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            w->v[0][lane] = packed_id(items, first + lane, launch->id_dims);
    w->scc = false;
    wave_set_mode(w, launch->mode);
    w->trapsts = 0;
    w->status = 0;
    w->special = false;
    w->gpr_alloc = launch->vgprs << 8;
    w->lds_alloc = launch->lds_bytes / 4 << 12;
    w->next = launch->entry;
    w->state = WAVE_RUNNING;
    w->slept = false;
    w->gws_waits = false;
    w->spinning = false;
    w->compiled = false;
    w->leaving = false;
    w->stretch.first = NULL;
    w->lds = wg->lds;
    w->lds_bytes = launch->lds_bytes;
    w->scratch = wg->scratch[i];
    w->scratch_bytes = launch->scratch_bytes;
    w->wg = wg;
    w->index = i;
    w->stats = NULL;
}

struct workgroup *workgroup_start(struct workgroup *wg, const struct exec_launch *launch, uint64_t linear,
                                  struct arena *arena)
{
    if (!wg) {
        size_t bytes = (sizeof(*wg) + 63) & ~(size_t)63;
        wg = arena ? arena_take(arena, bytes) : aligned_alloc(64, bytes);
        if (!wg)
            return NULL;
        memset(wg, 0, offsetof(struct workgroup, wave));
        wg->arena = arena;
    }
    if (!reserve(wg, launch)) {
        workgroup_free(wg);
        return NULL;
    }
    wg->launch = launch;
    wg->linear = linear;
    uint64_t row = linear < launch->groups[0] ? 0 : linear / launch->groups[0];
    wg->id[0] = (uint32_t)(linear - row * launch->groups[0]);
    wg->id[1] = (uint32_t)(row < launch->groups[1] ? row : row % launch->groups[1]);
    wg->id[2] = (uint32_t)(row < launch->groups[1] ? 0 : row / launch->groups[1]);
    uint32_t items[3]; /* a workgroup at the grid's edge may be partial */
    for (int d = 0; d < 3; d++) {
        uint32_t left = launch->grid[d] - wg->id[d] * launch->items[d];
        items[d] = left < launch->items[d] ? left : launch->items[d];
    }
    wg->waves = (items[0] * items[1] * items[2] + WAVE_LANES - 1) / WAVE_LANES;
    wg->live = wg->waves;
    if (launch->lds_bytes)
        memset(wg->lds, 0, launch->lds_bytes);
    wg->runs = 0;
    wg->leaving = false;
    for (unsigned i = 0; i < wg->waves; i++)
        start_wave(wg, launch, i, items);
    return wg;
}

/* ---- running ---- */

static const struct xinst *step(struct wave *w, const struct xinst *in)
{
    if (w->stats) {
        w->stats->count[in->cls]++;
        if (in->cls == XC_VALU)
            w->stats->lanes_valu += (uint64_t)__builtin_popcountll(w->exec);
    }
    return fuse_single(in)(w, in);
}

/* What may be entered of the function that `in` is of; NULL: it is to be interpreted. */
static const struct exec_compiled *compiled_of(const struct wave *w, const struct xinst *in,
                                               const struct exec_block **block)
{
    struct wave_guard *guard = w->guard;
    if (!guard->code->compiler || w->mode_slow || w->mode & (MODE_SPECIAL | MODE_FP16_OVFL))
        return NULL;
    const unsigned heat = in == w->wg->launch->entry ? START_HEAT : STRETCH_HEAT;
    return exec_code_compiled(guard->code, guard->cache, in, w->stats != NULL, heat, block);
}

static inline uint32_t head_of(const struct exec_compiled *compiled, const struct exec_block *block,
                               const struct xinst *in)
{
    return in >= block->x && in <= block->x + block->count ? compiled->heads[in - block->x] : 0;
}

/* Executes compiled code, and interprets up to its heads; what remains is to be interpreted, NULL when the
 * wave has stopped. */
static const struct xinst *run_compiled(struct wave *w, const struct xinst *in)
{
    const struct exec_block *block;
    const struct exec_compiled *compiled;
    while (in && (compiled = compiled_of(w, in, &block)) != NULL) {
        uint32_t head = head_of(compiled, block, in);
        w->compiled = true;
        in = head ? compiled->fn(w, block->x, head) : step(w, in);
    }
    return in;
}

static void run_wave(struct wave *w)
{
    const struct xinst *in = w->next;
    if (w->mode & MODE_SPECIAL) {
        in = exec_special_run(w, in);
        if (!in)
            return;
    }
    w->compiled = false;
    in = run_compiled(w, in);
    if (!in)
        return;
    if (w->stats)
        do
            in = step(w, in);
        while (in);
    else
        do
            in = in->fn(w, in);
        while (in);
}

/* The clocks are read by scalar memory instructions too, which have no address. */
static bool is_memory(const struct xinst *in)
{
    return in->cls == XC_VMEM || in->cls == XC_LDS || in->cls == XC_FLAT_SCRATCH ||
           (in->cls == XC_SMEM && in->isa->src[0].kind != ISA_NONE);
}

static uint64_t mix(uint64_t h, uint64_t value)
{
    return (h << 7 ^ h >> 57 ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Sums of products do not wait for each other, as a chain of mix() would. */
static uint64_t mix_rows(const struct wave *w, uint64_t h, int row, unsigned rows)
{
    enum { HALF = WAVE_LANES / 2, KEY = 0x2545f491 };
    alignas(64) wave_row active;
    for (unsigned r = 0; r < rows; r++) {
        const uint32_t *v = w->v[row + (int)r];
        if (w->exec != UINT64_MAX) {
            for (unsigned lane = 0; lane < WAVE_LANES; lane++)
                active[lane] = w->exec >> lane & 1 ? v[lane] : 0;
            v = active;
        }
        uint64_t sum = 0;
        for (uint32_t lane = 0; lane < HALF; lane++)
            sum += (uint64_t)(v[lane] + KEY * (2 * lane + 1)) * (v[lane + HALF] + KEY * (2 * lane + 2));
        h = mix(h, sum);
    }
    return h;
}

/* Where a memory instruction reads. */
static uint64_t mix_address(const struct wave *w, const struct xinst *in, uint64_t h)
{
    h = mix(h, in->pc);
    for (int i = 0; i < 2; i++)
        if (in->ss[i] < SREG_TTMP)
            h = mix(h, wave_sgpr64(w, in->ss[i]));
    return in->cls == XC_SMEM ? h : mix_rows(w, mix(h, w->exec), in->s[0], in->rows[0]);
}

/* What it has read. */
static uint64_t mix_result(const struct wave *w, const struct xinst *in, uint64_t h)
{
    if (in->cls != XC_SMEM)
        return mix_rows(w, h, in->d, in->drows);
    for (unsigned i = 0; i < in->drows; i++)
        h = mix(h, w->s[in->sd + i]);
    return h;
}

/*
 * Executes one turn of the loop that begins at w->next.  Returns a number made
 * of all that it read and where, or 0 when it is no loop that only reads: it
 * writes, does not come back soon, gives way, or reads nothing.
 */
static uint64_t run_loop(struct wave *w)
{
    const struct xinst *first = w->next, *in = first;
    uint64_t h = 0;
    bool writes = false;
    int reads_left = SPIN_READS_MAX;
    /* It ends at a branch, as what is put off between branches is not when stepping: see fuse.h. */
    for (int n = 0; in->cls != XC_BRANCH || (n < SPIN_LOOP_MAX && !writes && reads_left >= 0); n++) {
        const struct xinst *at = in;
        bool reads = is_memory(at) && (at->cls == XC_SMEM || w->exec) && reads_left-- > 0;
        if (reads)
            h = mix_address(w, at, h);
        in = step(w, at);
        if (!in)
            return 0;
        if (reads && at->drows)
            h = mix_result(w, at, h);
        else if (reads && at->isa->src[ISA_DATA].kind != ISA_NONE)
            writes = true;
        if (in == first) {
            w->next = in;
            return writes || reads_left < 0 ? 0 : h;
        }
    }
    w->next = in;
    return 0;
}

/*
 * Is the wave in a loop that waits for a value in memory to change?  Such a loop
 * reads the same from the same places in every turn, whatever it counts
 * meanwhile.  Taken for one, a loop that computes only gives way more often.
 */
static bool spins(struct wave *w)
{
    if (w->mode & MODE_SPECIAL) /* run_loop() would not heed it */
        return false;
    w->budget = SPIN_LOOP_MAX * 2;
    uint64_t once = run_loop(w);
    return once && run_loop(w) == once;
}

/* Runs a wave until it ends, waits, or has had its stretches; or shall stop. */
static void run_stretches(struct wave *w, unsigned stretches, const _Atomic bool *stop)
{
    if (!w->spinning) {
        w->budget = STRETCH;
        run_wave(w);
    }
    while (w->state == WAVE_RUNNING || (w->state == WAVE_YIELD && !w->slept)) {
        w->state = WAVE_RUNNING;
        w->spinning = spins(w);
        if (w->state != WAVE_RUNNING)
            continue;
        w->state = WAVE_YIELD;
        if (w->spinning || stretches-- == 0 || atomic_load_explicit(stop, memory_order_relaxed))
            return;
        w->state = WAVE_RUNNING;
        w->budget = w->compiled ? COMPILED_STRETCH : STRETCH;
        run_wave(w);
    }
}

static bool writes_lds(const struct xinst *in)
{
    return in->cls == XC_LDS && isa_facts[in->isa->op].effects & ISA_E_STORE;
}

/*
 * Runs a wave that has just left a barrier up to its first write to LDS, or for
 * a stretch.  On the chip the waves leave together, and what they read at once
 * is read before any of them comes to the next write.  Programs lean on that:
 * they use a buffer in LDS again without the barrier that should stand between.
 */
static void leave_barrier(struct wave *w)
{
    const struct xinst *in = w->next;
    if (w->mode & MODE_SPECIAL) /* step() would not heed it */
        return;
    w->budget = STRETCH;
    w->leaving = true;
    const struct exec_block *block;
    const struct exec_compiled *compiled = compiled_of(w, in, &block);
    while (in && !writes_lds(in)) {
        const uint32_t head = compiled ? head_of(compiled, block, in) : 0;
        in = head ? compiled->fn(w, block->x, head) : step(w, in);
        if (compiled && in && w->mode_slow)
            compiled = NULL;
    }
    w->leaving = false;
    if (in)
        w->next = in;
}

/* All live waves wait at the barrier: lets them go. */
static void release_barrier(struct workgroup *wg)
{
    for (unsigned i = 0; i < wg->waves; i++)
        if (wg->wave[i].state == WAVE_BARRIER)
            wg->wave[i].state = WAVE_RUNNING;
}

/*
 * A host fault in compiled code, which does several instructions at once and has
 * registers elsewhere: their handlers come to the same fault, where all is as
 * they say, and leave to where this was called from.
 */
static void redo_faulting(struct wave_guard *guard)
{
    struct wave *w = guard->wave;
    if (!w->stretch.first)
        return;
    guard->armed = true;
    guard->code->compiler->redo(w);
    guard->armed = false; /* somebody has just mapped it; the fault stays */
    guard->in = NULL;
}

enum workgroup_result workgroup_run(struct workgroup *wg, struct wave_guard *guard, const _Atomic bool *stop,
                                    bool count)
{
    unsigned growth = wg->runs < GROWTH_MAX ? wg->runs : GROWTH_MAX, slices = 4u << growth;
    wg->runs++;
    guard->armed = true;
    guard->in = NULL;
    if (sigsetjmp(guard->env, 0)) {
        guard->armed = false;
        guard->in = NULL;
        redo_faulting(guard);
        fuse_settle_fault(guard);
        guard->wave->state = WAVE_FAULT;
        return WORKGROUP_FAULT;
    }
    for (unsigned round = 0, barriers = 0;; round += !wg->leaving) {
        unsigned waiting = 0;
        bool progress = false; /* somebody reached a barrier or ended, or ran without giving up */
        for (unsigned i = 0; i < wg->waves; i++) {
            struct wave *w = &wg->wave[i];
            if (w->state == WAVE_DONE)
                continue;
            if (w->state == WAVE_BARRIER) {
                waiting++;
                continue;
            }
            w->state = WAVE_RUNNING;
            w->slept = false;
            w->guard = guard;
            w->mem_arena = guard->mem_arena;
            w->mem_mask = guard->mem_mask;
            w->stats = count ? &wg->stats : NULL;
            guard->wave = w;
            if (wg->leaving)
                leave_barrier(w);
            else
                run_stretches(w, STRETCHES << growth, stop);
            if (w->state == WAVE_DONE) {
                wg->live--;
                progress = true;
            } else if (w->state == WAVE_BARRIER) {
                waiting++;
                progress = true;
            } else if (!w->slept) {
                progress = progress || wg->leaving || !w->spinning;
            }
        }
        if (wg->live == 0) {
            guard->armed = false;
            return WORKGROUP_DONE;
        }
        if (waiting == wg->live) {
            release_barrier(wg);
            wg->leaving = wg->live > 1;
            /* They may come together again and again, and wait for somebody outside. */
            if (++barriers >= slices * BARRIERS || atomic_load_explicit(stop, memory_order_relaxed)) {
                guard->armed = false;
                return WORKGROUP_PREEMPTED;
            }
        } else if (wg->leaving) {
            wg->leaving = false;
        } else if (!progress || round >= slices || atomic_load_explicit(stop, memory_order_relaxed)) {
            guard->armed = false;
            return progress ? WORKGROUP_PREEMPTED : WORKGROUP_WAITING;
        }
    }
}

void workgroup_out_of_time(struct workgroup *wg, struct wave_guard *guard)
{
    guard->kind = EHP_FAULT_TIMEOUT;
    guard->wave = &wg->wave[0];
    for (unsigned i = 0; i < wg->waves; i++)
        if (wg->wave[i].state == WAVE_YIELD)
            guard->wave = &wg->wave[i];
    guard->fault_in = guard->wave->next;
    guard->lane = UINT_MAX;
    guard->from_signal = false;
}
