/* SPDX-License-Identifier: MIT */
/* Running workgroups; see workgroup.h. */
#include "exec/workgroup.h"

#include <limits.h>

#include "exec/code.h"
#include "isa/facts.h"
#include "wave/fault.h"
#include "wave/fuse.h"
#include "wave/special.h"

/*
 * How many stretches of WORKGROUP_STRETCH taken branches a wave has before it
 * gives way to the next of its workgroup; doubled with every run of the
 * workgroup, up to eight times.  After a stretch a wave that spins gives way at
 * once: then few turns are spent on waiting, however many workgroups wait.
 */
enum { STRETCH = WORKGROUP_STRETCH, STRETCHES = 6, GROWTH_MAX = 3 };

/* Compiled code has longer stretches, in which it does more in less time: few of its turns are interpreted.
 */
enum { COMPILED_STRETCH = 2048 };

/*
 * Waves that were seen to wait are likely to do so again soon: the workgroup's next stretch is halved so many
 * times, but has SHORTEST taken branches, and each after that is halved once less.
 */
enum { WARY = 7, SHORTEST = 8 };

/* How often its waves may come together at a barrier for each round that they may have otherwise. */
enum { BARRIERS = 16 };

/*
 * How far a wave is watched that may be spinning: instructions, and reads of memory.  A short look sees who
 * waits for few places.  A long one sees loops over many, as of a lane that waits for its vertex's
 * neighbours; it takes as long as a stretch of compiled code, and so is for one in so many, and ends early
 * where no read comes again.
 */
enum {
    SHORT_LOOK = 256,
    SHORT_READS = 32,
    LONG_LOOK = 4096,
    LONG_READS = 512,
    LONG_LOOK_EVERY = 16,
    EARLY = 1024,
    VISITS = 3
};

static const struct xinst *step(struct wave *w, const struct xinst *in)
{
    if (w->stats) {
        w->stats->count[in->cls]++;
        if (in->cls == XC_VALU)
            w->stats->lanes_valu += (uint64_t)__builtin_popcountll(w->exec);
    }
    return fuse_single(in)(w, in);
}

/* Whether compiled code, which is for the plain modes, can be entered at all. */
static bool may_enter(const struct wave *w)
{
    return w->guard->code->compiler && !w->mode_slow && !(w->mode & (MODE_SPECIAL | MODE_FP16_OVFL));
}

/* What may be entered of the function that `in` is of, which then is wg->block; NULL: it is to be
 * interpreted. */
static const struct exec_compiled *compiled_of(const struct wave *w, const struct xinst *in, unsigned heat)
{
    struct wave_guard *guard = w->guard;
    struct workgroup *wg = w->wg;
    if (!may_enter(w))
        return NULL;
    if (wg->compiled && in >= wg->block->x && in <= wg->block->x + wg->block->count)
        return wg->compiled;
    wg->compiled = exec_code_compiled(guard->code, guard->cache, in, w->stats ? EXEC_COUNTED : EXEC_WHOLE,
                                      in == wg->launch->entry ? EXEC_BEGINS : heat, &wg->block);
    return wg->compiled;
}

static inline uint32_t head_of(const struct exec_compiled *compiled, const struct exec_block *block,
                               const struct xinst *in)
{
    return in >= block->x && in <= block->x + block->count ? compiled->heads[in - block->x] : 0;
}

/* Executes compiled code, and interprets up to its heads; what remains is to be interpreted, NULL when the
 * wave has stopped. */
static const struct xinst *run_compiled(struct wave *w, const struct xinst *in, unsigned heat)
{
    const struct exec_compiled *compiled;
    while (in && (compiled = compiled_of(w, in, heat)) != NULL) {
        const struct exec_block *block = w->wg->block;
        uint32_t head = head_of(compiled, block, in);
        w->compiled = true;
        in = head ? compiled->fn(w, block->x, head, 1) : step(w, in);
        heat = EXEC_GOES;
    }
    return in;
}

static void interpret(struct wave *w, const struct xinst *in)
{
    if (w->stats)
        do
            in = step(w, in);
        while (in);
    else
        do
            in = in->fn(w, in);
        while (in);
}

/* What loops have executed, which nobody knew before: a wave of few instructions may execute many. */
static void note_loops(struct wave *w, const struct xinst *first)
{
    enum { FEW = 8 };
    struct wave_guard *guard = w->guard;
    const struct exec_block *block;
    const uint64_t executed = w->gone_back / sizeof(struct xinst);
    if (executed >= (w->state == WAVE_RUNNING ? 1 : FEW) && may_enter(w)) /* at a call somebody asks anyway */
        exec_code_compiled(guard->code, guard->cache, first, w->stats ? EXEC_COUNTED : EXEC_WHOLE,
                           (unsigned)executed, &block);
}

/* What is not compiled is interpreted up to where it calls a function or returns, which may be. */
static void run_from(struct wave *w, const struct xinst *in, unsigned heat)
{
    while ((in = run_compiled(w, in, heat)) != NULL) {
        w->gone_back = 0;
        w->guard->cache->stops = may_enter(w);
        interpret(w, in);
        w->guard->cache->stops = false;
        note_loops(w, in);
        if (w->state != WAVE_RUNNING)
            break;
        in = w->next;
        heat = EXEC_GOES;
    }
}

static void run_wave(struct wave *w, unsigned heat)
{
    const struct xinst *in = w->next;
    if (w->mode & MODE_SPECIAL) {
        in = exec_special_run(w, in);
        if (!in)
            return;
    }
    w->compiled = false;
    run_from(w, in, heat);
}

/* Not the clocks, nor permutes of lanes, which pass through LDS. */
static bool is_memory(const struct xinst *in)
{
    return isa_facts[in->isa->op].effects & (ISA_E_LOAD | ISA_E_STORE | ISA_E_ATOMIC);
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
 * What a wave has read while it is watched: where, and a number made of the
 * instruction, the lanes, the places and the values.  The last `repeats` were
 * those of `period` reads before, each.
 */
struct trail {
    const struct xinst *at[LONG_READS];
    uint64_t reads[LONG_READS];
    unsigned count, period, repeats;
    unsigned visits, visited; /* how often registers were looked at since the period is this one; when last */
    uint64_t sums[VISITS][WAVE_ROWS];
};

static void trail_add(struct trail *trail, const struct xinst *in, uint64_t read)
{
    const unsigned here = trail->count++;
    trail->at[here] = in;
    trail->reads[here] = read;
    if (!trail->period || trail->reads[here - trail->period] != read) {
        unsigned before = here;
        while (before > 0 && trail->reads[before - 1] != read)
            before--;
        trail->period = before > 0 ? here - (before - 1) : 0;
        trail->repeats = trail->visits = 0;
    }
    trail->repeats += trail->period > 0;
}

/* A loop without others in it has each of its reads once in a turn. */
static bool is_simple(const struct trail *trail)
{
    unsigned at = trail->count - 1;
    for (unsigned i = 1; i < trail->period; i++)
        if (trail->at[at - i] == trail->at[at])
            return false;
    return true;
}

/* Notes registers a period apart. */
static void visit(struct trail *trail, const struct wave *w)
{
    if (trail->visits > 0 && trail->count - trail->visited < trail->period)
        return;
    static const uint64_t ODD = UINT64_C(0x9e3779b97f4a7c15);
    trail->visited = trail->count;
    for (unsigned row = 0; row < w->rows; row++) {
        uint64_t sum = 0;
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            sum += (w->exec >> lane & 1 ? w->v[row][lane] : 0) * (ODD * (2 * lane + 1));
        trail->sums[trail->visits][row] = sum;
    }
    trail->visits++;
}

/* Whether the vector registers did from the second visit to the third what they did before. */
static bool only_counts(const struct trail *trail, const struct wave *w)
{
    for (unsigned row = 0; row < w->rows; row++)
        if (trail->sums[2][row] - trail->sums[1][row] != trail->sums[1][row] - trail->sums[0][row])
            return false;
    return true;
}

/*
 * Is the wave in a loop that waits for values in memory to change?  Such a loop
 * reads the same from the same places in every turn and writes nothing, whatever
 * it counts meanwhile; but lanes that each wait for a value of their own may
 * leave one by one.  A long one, or one with other loops in it, may compute with
 * what it reads again and again: it waits if its vector registers do nothing but
 * count.  Taken for one that waits, a loop gives way more often, and is interpreted.
 */
static bool spins(struct wave *w, bool long_look)
{
    const unsigned reads_most = long_look ? LONG_READS : SHORT_READS;
    const struct xinst *in = w->next;
    struct trail trail;
    bool ends = false, waits = false;
    if (w->mode & MODE_SPECIAL) /* step() would not heed it */
        return false;
    trail.count = trail.period = trail.repeats = trail.visits = trail.visited = 0;
    w->budget = LONG_LOOK + 1;
    /* It ends at a branch, as what is put off between branches is not when stepping: see fuse.h. */
    for (unsigned n = 0; in->cls != XC_BRANCH || !ends; n++) {
        const struct xinst *at = in;
        const bool reads = is_memory(at) && (at->cls == XC_SMEM || w->exec);
        const uint64_t place = reads ? mix_address(w, at, 0) : 0;
        in = step(w, at);
        if (!in)
            return false;
        if (reads && at->drows && trail.count < reads_most && !waits) {
            trail_add(&trail, at, mix_result(w, at, place));
            const bool repeats = trail.period && trail.repeats >= trail.period;
            waits = repeats && n < SHORT_LOOK && is_simple(&trail);
            if (repeats && !waits && long_look)
                visit(&trail, w);
            ends = trail.visits == VISITS;
            waits = waits || (ends && only_counts(&trail, w));
        } else if (reads && !at->drows && at->isa->src[ISA_DATA].kind != ISA_NONE) {
            ends = true;
            waits = false;
            trail.count = reads_most;
        }
        ends = ends || waits || trail.count == reads_most || n >= (long_look ? LONG_LOOK : SHORT_LOOK) ||
               (n >= EARLY && !trail.period);
    }
    w->next = in;
    return waits;
}

static int stretch_of(struct wave *w, int branches)
{
    const int halved = branches >> w->wg->wary;
    w->wg->wary -= w->wg->wary > 0;
    return halved > SHORTEST ? halved : SHORTEST;
}

/* Goes on with a wave that has had a stretch. */
static void run_on(struct wave *w, unsigned stretches, const _Atomic bool *stop)
{
    const bool waited = w->spinning;
    for (unsigned looks = 0; w->state == WAVE_RUNNING || (w->state == WAVE_YIELD && !w->slept); looks++) {
        w->state = WAVE_RUNNING;
        w->spinning = spins(w, waited || looks % LONG_LOOK_EVERY == 1);
        if (w->state != WAVE_RUNNING)
            continue;
        w->state = WAVE_YIELD;
        if (w->spinning)
            w->wg->wary = WARY;
        if (w->spinning || stretches-- == 0 || atomic_load_explicit(stop, memory_order_relaxed))
            return;
        w->state = WAVE_RUNNING;
        w->budget = stretch_of(w, w->compiled ? COMPILED_STRETCH : STRETCH);
        run_wave(w, 0);
    }
}

/* Runs a wave until it ends, waits, or has had its stretches; or shall stop. */
static void run_stretches(struct wave *w, unsigned stretches, const _Atomic bool *stop)
{
    if (!w->spinning) {
        w->budget = stretch_of(w, STRETCH);
        run_wave(w, EXEC_CONTINUES);
    }
    if (w->state != WAVE_DONE)
        run_on(w, stretches, stop);
}

/* Whether the launch stores more than stays in the host's caches: then it is better not loaded there first,
 * as the host does of lines that are written. */
static bool goes_past_caches(const struct workgroup *wg)
{
    const uint32_t *grid = wg->launch->grid;
    const double bytes = (double)grid[0] * grid[1] * grid[2] * wg->begin->stores;
    return bytes > (double)wg->guard->code->host_cache;
}

/* Whether waves of the launch begin in compiled code, at its first head. */
static bool finds_begin(struct workgroup *wg)
{
    const struct xinst *entry = wg->launch->entry;
    if (wg->begin)
        return true;
    if (!wg->compiled || entry != wg->block->x || !head_of(wg->compiled, wg->block, entry))
        return false;
    wg->begin = wg->compiled;
    wg->begin_block = wg->block;
    wg->past_caches = goes_past_caches(wg);
    wg->guard->in_cache = !wg->past_caches;
    return true;
}

/* Begins with the waves from this one on, as they were started, up to one that does not end; which that is,
 * or the last one. */
static struct wave *begin_waves(struct workgroup *wg, struct wave *w, struct wave_guard *guard)
{
    struct wave *last = &wg->wave[wg->waves - 1];
    const unsigned waves = (unsigned)(last - w) + 1;
    last->last = wg->live == waves;
    const struct xinst *in = wg->begin->fn(w, wg->begin_block->x, EXEC_BEGIN, waves);
    w = guard->wave;
    w->compiled = true;
    if (in)
        run_from(w, in, EXEC_CONTINUES);
    return w;
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
    const struct exec_compiled *compiled = compiled_of(w, in, 0);
    const struct exec_block *block = w->wg->block;
    while (in && !exec_writes_lds(in)) {
        const uint32_t head = compiled ? head_of(compiled, block, in) : 0;
        in = head ? compiled->fn(w, block->x, head, 1) : step(w, in);
        if (compiled && in && w->mode_slow)
            compiled = NULL;
    }
    w->leaving = false;
    if (in)
        w->next = in;
}

/* What waves know of the thread that runs them. */
static void take_thread(struct workgroup *wg, struct wave_guard *guard, bool count)
{
    if (wg->guard == guard && wg->counted == count)
        return;
    wg->guard = guard;
    wg->counted = count;
    wg->begin = NULL;
    for (unsigned i = 0; i < wg->launch->waves; i++) {
        struct wave *w = &wg->wave[i];
        w->guard = guard;
        w->mem_arena = guard->mem_arena;
        w->mem_mask = guard->mem_mask;
        w->stats = count ? &wg->stats : NULL;
    }
}

/* All live waves wait at the barrier: lets them go, together if somebody may access memory before it writes
 * to LDS. */
static void release_barrier(struct workgroup *wg)
{
    bool looks = false;
    for (unsigned i = 0; i < wg->waves; i++) {
        struct wave *w = &wg->wave[i];
        if (w->state != WAVE_BARRIER)
            continue;
        w->state = WAVE_RUNNING;
        looks |= w->next[-1].control.looks;
    }
    wg->leaving = looks && wg->live > 1;
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
    const unsigned growth = wg->runs < GROWTH_MAX ? wg->runs : GROWTH_MAX, slices = 4u << growth;
    const unsigned stretches = STRETCHES << growth;
    wg->runs++;
    take_thread(wg, guard, count);
    wg->compiled = wg->begins ? wg->begin : NULL;
    wg->block = wg->begin_block;
    guard->in_cache = !(wg->begin && wg->past_caches);
    guard->armed = true;
    guard->in = NULL;
    if (sigsetjmp(guard->env, 0)) {
        guard->armed = false;
        guard->in = NULL;
        guard->cache->stops = false;
        redo_faulting(guard);
        fuse_settle_fault(guard);
        guard->wave->state = WAVE_FAULT;
        return WORKGROUP_FAULT;
    }
    for (unsigned round = 0, barriers = 0;; round += !wg->leaving) {
        unsigned waiting = 0, later = wg->live; /* how many waves have their turn later in this round */
        bool progress = false; /* somebody reached a barrier or ended, or ran without giving up */
        for (unsigned i = 0; i < wg->waves; i++) {
            struct wave *w = &wg->wave[i];
            if (w->state == WAVE_DONE)
                continue;
            later--;
            if (w->state == WAVE_BARRIER) {
                waiting++;
                continue;
            }
            if (w->state != WAVE_RUNNING) {
                w->state = WAVE_RUNNING;
                w->slept = false;
            }
            w->last = wg->live == 1;
            guard->wave = w;
            if (wg->begins && finds_begin(wg)) {
                w = begin_waves(wg, w, guard);
                const unsigned ended = w->index - i;
                i += ended;
                later -= ended;
                wg->live -= ended;
                progress = progress || ended;
                if (w->state != WAVE_DONE)
                    run_on(w, stretches, stop);
            } else if (wg->leaving && later) { /* when the last one leaves, all others have read */
                leave_barrier(w);
            } else {
                run_stretches(w, stretches, stop);
                if (wg->begins) /* for the next workgroup, of one wave too */
                    finds_begin(wg);
            }
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
        wg->begins = false;
        if (wg->live == 0) {
            guard->armed = false;
            return WORKGROUP_DONE;
        }
        if (waiting == wg->live) {
            release_barrier(wg);
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
