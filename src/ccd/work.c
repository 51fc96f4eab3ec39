/* SPDX-License-Identifier: MIT */
/*
 * What a program says that its cores do (ehp_cpu_run()), as the instructions that do it: each core streams
 * its share of the ranges, line by line of all of them in turn, one core chases through the first, or each
 * adds to words at random.
 *
 * A long stream that has memory for itself is the same all the time.  Then each core measures how fast it is,
 * and what is left, but for an end, takes as long at that rate; the Infinity Cache's tags follow.  A chase
 * finds the caches as it leaves them: they are filled with what it has been through.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "ccd/internal.h"

/* Of all cores together, in bytes: what is not measured of a pass, what is, and what is left for the end; and
 * the least of a core's part. */
enum { PASS_WARM = 6 << 20, PASS_MEASURED = 12 << 20, PASS_END = 3 << 20, PASS_LEAST = 1 << 16 };
/* Of what is told the fabric at once: its lists are small pieces of the host's memory, as the program's own
 * must lie where they lie with any number of threads. */
enum { SKIP_PAIRS = 1 << 12, STREAM_INSTRUCTIONS = 4 };

struct cpu_work {
    struct core_program program; /* first */
    struct cpu_job *job;
    struct ccds *ccds;
    unsigned core;
    uint64_t base[3], bytes[3]; /* its share of the ranges */
    unsigned range;             /* of the next line */
    uint64_t line, lines;       /* of the longest range */
    uint64_t pass, left;        /* left: operations at random, */
    uint64_t places;            /* of so many words or lines */
    uint32_t place_bytes;
    uint8_t kind;  /* enum core_op_kind */
    double cycles; /* of an operation */
    uint32_t instructions;
    uint64_t random;
    /* Of a pass of which parts are left out, in lines: what fills the caches, what is not measured, up to
     * where it is, and what is left for the end; and when it was at `warm`. */
    uint64_t begin, warm, measured, end;
    uint64_t measured_ps;
};

static struct core *core_of(const struct cpu_work *w)
{
    return &w->ccds->ccd[w->core % w->ccds->count].core[w->core / w->ccds->count];
}

static uint8_t kind_of(const struct ehp_cpu_work *work, unsigned range)
{
    return !(work->written >> range & 1) ? CORE_LOAD : work->past >> range & 1 ? CORE_STORE_PAST : CORE_STORE;
}

/* ---- what is left out ---- */

/* A line of the range in its core's caches, as if it had been used. */
static void use_line(struct cpu_work *w, uint64_t address, unsigned flags)
{
    struct core *core = core_of(w);
    const struct core_page *page = core_page_of(core, address);
    if (page)
        core_warm(core, line_of(page->physical + address % (1U << VM_PAGE_SHIFT)), flags);
}

/* The Infinity Cache as if lines had been read, or written.  What it cannot hold is not looked at. */
static void skip_range(struct cpu_work *w, uint64_t from, uint64_t to, bool write)
{
    struct core *core = core_of(w);
    const uint64_t most = 2 * (uint64_t)w->ccds->chip->value[CHIP_infinity_cache_size];
    struct ccd *ccd = core->ccd;
    if (!ccd->skip)
        ccd->skip = arena_take(&ccd->arena, SKIP_PAIRS * sizeof(*ccd->skip));
    struct fabric_skip *skip = ccd->skip;
    unsigned count = 0;
    from = to - from > most ? to - most : from;
    for (uint64_t at = from & ~(uint64_t)(FABRIC_PAIR - 1); at < to; at += FABRIC_PAIR) {
        const struct core_page *page = core_page_of(core, at);
        if (page)
            skip[count++] = (struct fabric_skip){page->physical + at % (1U << VM_PAGE_SHIFT), write};
        if (count == SKIP_PAIRS || at + FABRIC_PAIR >= to) {
            fabric_skip(w->ccds->fabric, ccd->domain, 0, skip, count, NULL);
            count = 0;
        }
    }
}

static void skip_lines(struct cpu_work *w, uint64_t lines)
{
    for (unsigned i = 0; i < w->job->work->ranges; i++) {
        uint64_t from = w->line * CORE_LINE, to = (w->line + lines) * CORE_LINE;
        from = from < w->bytes[i] ? from : w->bytes[i];
        to = to < w->bytes[i] ? to : w->bytes[i];
        if (from < to)
            skip_range(w, w->base[i] + from, w->base[i] + to, w->job->work->written >> i & 1);
    }
    w->line += lines;
}

/* What a stream of before has left in the caches has to leave them for what comes. */
static void fill_caches(struct cpu_work *w)
{
    const struct ehp_cpu_work *work = w->job->work;
    struct ccd *ccd = core_of(w)->ccd;
    ccd->quiet = true;
    for (uint64_t line = 0; line < w->begin; line++)
        for (unsigned i = 0; i < work->ranges; i++)
            if (line * CORE_LINE < w->bytes[i] && kind_of(work, i) != CORE_STORE_PAST)
                use_line(w, w->base[i] + line * CORE_LINE,
                         TAG_OWNED | TAG_OURS | (work->written >> i & 1 ? TAG_DIRTY : 0));
    ccd->quiet = false;
    skip_lines(w, w->begin);
}

/* The rate is known: one operation that takes as long as all but the end. */
static bool leave_out(struct cpu_work *w, struct core_op *op)
{
    struct core *core = core_of(w);
    uint64_t now = (uint64_t)(core->at * 1e3 / w->ccds->ghz), measured = w->measured - w->warm;
    uint64_t rest = w->lines - w->end - w->line, all = rest + w->begin;
    double cycles = (double)(now - w->measured_ps) / 1e3 * w->ccds->ghz / (double)measured * (double)all;
    uint64_t parts = w->job->work->ranges;
    *op = (struct core_op){.kind = CORE_COMPUTE, .cycles = cycles};
    core->counters.instructions += all * parts * w->instructions;
    skip_lines(w, rest);
    return true;
}

/* So many of an operation. */
static void set_instructions(struct cpu_work *w, double instructions)
{
    const struct ehp_cpu_work *work = w->job->work;
    const double ipc =
        work->cycles && work->instructions ? (double)work->instructions / (double)work->cycles : w->ccds->ipc;
    w->instructions = instructions < 1 ? 1 : instructions < UINT32_MAX ? (uint32_t)instructions : UINT32_MAX;
    w->cycles = instructions / ipc;
}

/* ---- streams ---- */

static bool next_of_stream(struct core_program *program, struct core_op *op)
{
    struct cpu_work *w = (struct cpu_work *)program;
    const struct ehp_cpu_work *work = w->job->work;
    if (!w->lines) { /* it computes only */
        *op = (struct core_op){.kind = CORE_COMPUTE, .cycles = w->cycles, .instructions = w->instructions};
        return w->pass++ == 0;
    }
    for (;;) {
        if (w->range == work->ranges) {
            w->range = 0;
            w->line++;
        }
        if (w->line >= w->lines) {
            if (++w->pass >= work->passes)
                return false;
            w->line = 0;
        }
        if (w->range == 0 && w->measured && w->line == 0)
            fill_caches(w);
        if (w->range == 0 && w->measured && w->line == w->warm)
            w->measured_ps = (uint64_t)(core_of(w)->at * 1e3 / w->ccds->ghz);
        if (w->range == 0 && w->measured && w->line == w->measured)
            return leave_out(w, op);
        unsigned i = w->range++;
        if (w->line * CORE_LINE >= w->bytes[i])
            continue;
        *op = (struct core_op){
            .address = w->base[i] + w->line * CORE_LINE,
            .cycles = w->cycles,
            .instructions = w->instructions,
            .kind = kind_of(work, i),
            .bytes = CORE_LINE,
        };
        return true;
    }
}

/* Its share of a range, in whole lines. */
static void share_out(struct cpu_work *w, unsigned core, unsigned cores, unsigned range, uint64_t *count)
{
    const struct ehp_cpu_work *work = w->job->work;
    uint64_t base = (uint64_t)(uintptr_t)work->base[range], first = base & ~(uint64_t)(CORE_LINE - 1),
             lines = (base + work->bytes[range] - first + CORE_LINE - 1) / CORE_LINE,
             from = lines * core / cores, to = lines * (core + 1) / cores;
    w->base[range] = first + from * CORE_LINE;
    w->bytes[range] = (to - from) * CORE_LINE;
    w->lines = to - from > w->lines ? to - from : w->lines;
    *count += to - from;
}

static uint64_t part_of(uint64_t bytes, unsigned cores, unsigned ranges)
{
    uint64_t part = bytes / cores / ranges;
    return (part > PASS_LEAST ? part : PASS_LEAST) / CORE_LINE;
}

static void plan_stream(struct cpu_work *w, unsigned core, unsigned cores)
{
    const struct ehp_cpu_work *work = w->job->work;
    uint64_t count = 0;
    for (unsigned i = 0; i < work->ranges; i++)
        share_out(w, core, cores, i, &count);
    double instructions = (double)work->instructions / cores;
    if (count)
        instructions =
            work->instructions ? instructions / (double)(count * work->passes) : STREAM_INSTRUCTIONS;
    set_instructions(w, instructions);
    w->program.next = next_of_stream;
    if (!work->ranges)
        return;
    uint64_t warm = part_of(PASS_WARM, cores, work->ranges),
             measured = part_of(PASS_MEASURED, cores, work->ranges),
             end = part_of(PASS_END, cores, work->ranges);
    const double *v = w->ccds->chip->value;
    double caches = v[CHIP_core_l2] + v[CHIP_ccd_l3] / v[CHIP_ccd_cores];
    unsigned kept = 0; /* ranges that caches hold */
    for (unsigned i = 0; i < work->ranges; i++)
        kept += kind_of(work, i) != CORE_STORE_PAST;
    uint64_t begin = kept ? (uint64_t)(1.25 * caches) / CORE_LINE / kept : 0;
    if (w->job->alone && w->lines > begin + 2 * (warm + measured + end)) {
        w->begin = begin;
        w->warm = begin + warm;
        w->measured = w->warm + measured;
        w->end = end;
    }
}

/* ---- chases, and atomic operations ---- */

static bool next_at_random(struct core_program *program, struct core_op *op)
{
    struct cpu_work *w = (struct cpu_work *)program;
    if (!w->left--)
        return false;
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    *op = (struct core_op){
        .address = w->base[0] + (uint64_t)((unsigned __int128)w->random * w->places >> 64) * w->place_bytes,
        .cycles = w->cycles,
        .instructions = w->instructions,
        .kind = w->kind,
        .after = w->kind == CORE_LOAD,
    };
    return true;
}

/* What the last lines of a round leave in the core's caches, the third one, and the Infinity Cache. */
static void warm(struct core_program *program)
{
    struct cpu_work *w = (struct cpu_work *)program;
    struct core *core = core_of(w);
    const uint64_t most = 4 * (uint64_t)w->ccds->chip->value[CHIP_ccd_l3], end = w->base[0] + w->bytes[0];
    core->ccd->quiet = true;
    skip_range(w, w->base[0], end, false);
    for (uint64_t at = w->bytes[0] > most ? end - most : w->base[0]; at < end; at += CORE_LINE)
        use_line(w, at, 0);
    /* Lines of page tables are used again sooner: half of the cache may be theirs. */
    const uint64_t pages = (uint64_t)w->ccds->chip->value[CHIP_ccd_l3] / 2 / sizeof(uint64_t);
    for (uint64_t at = w->base[0], i = 0; at < end && i < pages; at += 1U << VM_PAGE_SHIFT, i++) {
        const struct core_page *page = core_page_of(core, at);
        if (page)
            core_warm(core, line_of(page->table), 0);
    }
    core->ccd->quiet = false;
}

static void plan_chase(struct cpu_work *w)
{
    const struct ehp_cpu_work *work = w->job->work;
    uint64_t count = 0;
    share_out(w, 0, 1, 0, &count);
    w->left = w->lines ? work->passes : 0;
    w->instructions = work->passes && work->instructions ? (uint32_t)(work->instructions / work->passes) : 1;
    w->cycles = 0;
    w->places = w->lines;
    w->place_bytes = CORE_LINE;
    w->kind = CORE_LOAD;
    w->program.next = next_at_random;
    w->program.begins = warm;
}

static void plan_atomics(struct cpu_work *w, unsigned core, unsigned cores)
{
    const struct ehp_cpu_work *work = w->job->work;
    w->base[0] = (uint64_t)(uintptr_t)work->base[0];
    w->places = work->bytes[0] / sizeof(uint64_t);
    w->place_bytes = sizeof(uint64_t);
    w->left = w->places ? work->passes : 0;
    double instructions = w->left ? (double)work->instructions / cores / (double)w->left : 1;
    set_instructions(w, instructions < 1 ? 1 : instructions);
    w->kind = CORE_ATOMIC;
    w->random += (core + ccds_cores(w->ccds) * w->ccds->jobs) * UINT64_C(0x9e3779b97f4a7c15);
    w->program.next = next_at_random;
}

/* ---- jobs ---- */

static void part_done(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct cpu_job *job = event->self;
    if (event->word[0] > job->done_ps)
        job->done_ps = event->word[0];
    if (--job->left == 0)
        atomic_store_explicit(&job->done, true, memory_order_release);
}

static void ended(struct core_program *program, uint64_t ps)
{
    struct cpu_work *w = (struct cpu_work *)program;
    struct cpu_job *job = w->job;
    port_send(core_of(w)->ccd->domain, job->host, job->delay_ps, part_done, job)->word[0] = ps;
}

void cpu_job_begin(struct ccds *ccds, struct cpu_job *job, uint64_t ps)
{
    const struct ehp_cpu_work *work = job->work;
    bool chase = work->operation == EHP_CPU_CHASE;
    unsigned cores = chase ? 1 : work->cores, dies = work->dies ? work->dies : ccds->count;
    assert(cores <= ccds_cores(ccds));
    job->parts = must(calloc(cores, sizeof(*job->parts)));
    job->left = cores;
    ccds->jobs++;
    for (unsigned i = 0; i < cores; i++) {
        struct cpu_work *w = &job->parts[i];
        *w = (struct cpu_work){.program = {.ended = ended},
                               .job = job,
                               .ccds = ccds,
                               .core = i % dies + i / dies * ccds->count,
                               .random = UINT64_C(0x243f6a8885a308d3)};
        if (chase)
            plan_chase(w);
        else if (work->operation == EHP_CPU_UPDATE)
            plan_atomics(w, i, cores);
        else
            plan_stream(w, i, cores);
        ccds_begin(ccds, w->core, &w->program, ps);
    }
}

void cpu_job_close(struct cpu_job *job)
{
    free(job->parts);
}
