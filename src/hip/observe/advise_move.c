/* SPDX-License-Identifier: MIT */
/* What work would take on the other side; see advise_move.h. */
#include "hip/observe/advise_move.h"

#include <inttypes.h>
#include <string.h>

#include "hip/observe/advise.h"
#include "hip/observe/stats.h"

enum { SHOWN = 5 };                           /* kernels, and pieces of host code: the costliest */
enum { LINE = 64, GPU_LINE = 128, LANE = 4 }; /* bytes */
enum { TEAM_LINES = 4 }; /* from core to core, to start cores and to know that they are done */
static const double about_the_same = 1.25; /* neither side is said to be better below this */

enum move_limit { LIMIT_INSTRUCTIONS, LIMIT_MEMORY, LIMIT_CHAIN, LIMIT_START, LIMITS };
static const char *const limit_names[LIMITS] = {"instructions", "memory", "chain", "start"};

/* On so many cores (0: the GPU), in ns. */
struct move_cost {
    unsigned cores;
    double part[LIMITS], ns;
    enum move_limit binds;
};

/* Of one launch of a kernel, or of all that a place in host code did. */
struct move {
    const char *name;
    bool kernel;
    unsigned cores; /* that it ran on */
    uint64_t times;
    double ns;                   /* what it took where it ran, */
    double launch, wait;         /* of that, beside the kernel's own time */
    double operations;           /* of lanes; or instructions of cores */
    double accesses, bytes, hbm; /* by loads and stores; past the L2s; of that, past the Infinity Cache */
    double chain, far;           /* loads that follow one another; of them, at most, to memory */
    struct move_cost there[2];   /* on one core, on all; or on the GPU */
    int count;
};

/* ---- the chip ----------------------------------------------------------------------------------------- */

static double key(ehp_machine *machine, const char *name)
{
    struct ehp_chip_value value = {.size = sizeof value};
    return ehp_chip_value(machine, name, &value) == EHP_OK ? value.number : 0;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

struct advise_rates advise_rates_of(ehp_machine *m)
{
    const double clock = key(m, "chip.clock") / 1e3, fabric = key(m, "fabric.clock") / 1e3;
    const double xcds = key(m, "xcd.count"), cus = xcds * key(m, "xcd.cus"), load = key(m, "core.query");
    const double l2 =
        (key(m, "vl1.lookup") + key(m, "vl1.result") + 2 * key(m, "l2.path") + key(m, "l2.latency")) / clock;
    struct advise_rates r = {
        .ccds = (unsigned)key(m, "ccd.count"),
        .core_ghz = key(m, "core.clock") / 1e3,
        .core_ipc = key(m, "core.ipc"),
        .vector = key(m, "core.vector"),
        .core_load = load,
        /* Through the caches of the GPU, and back, on the way to the same memory. */
        .gpu_load = load + l2 + key(m, "l2.refill") / clock,
        .l2_load = l2,
        /* A wave's instruction takes four cycles of a SIMD. */
        .lanes = cus * key(m, "cu.simds") * key(m, "cu.wave_size") / 4 * clock,
        .l1_bytes = cus * key(m, "vl1.bandwidth") * clock,
        .packet = key(m, "cp.packet"),
        .wake = key(m, "host.wake"),
    };
    r.cores = r.ccds * (unsigned)key(m, "ccd.cores");
    r.core_bytes = key(m, "core.l2_misses") * LINE / load;
    /* A header goes with each line. */
    r.ccd_bytes = smaller(key(m, "ccd.link") * fabric * LINE / (LINE + key(m, "usr.header")),
                          key(m, "ccd.misses") * LINE / load);
    r.gpu_bytes = smaller(key(m, "hbm.bandwidth") * (1 - key(m, "hbm.trfc") / key(m, "hbm.trefi")),
                          xcds * key(m, "fabric.requests") * fabric * GPU_LINE);
    return r;
}

struct advise_cores advise_cores_of(ehp_machine *machine, const struct advise_rates *rates)
{
    struct advise_cores sum = {0};

    for (unsigned i = 0; i < rates->cores; i++) {
        struct ehp_core c = EHP_CORE_INIT;
        if (ehp_core_get(machine, i, &c) != EHP_OK)
            break;
        /* What was read ahead and came too late is a miss as well. */
        uint64_t lines = c.l2_misses > c.prefetches ? c.l2_misses : c.prefetches;
        sum.cores += c.ex_ret_instr != 0;
        sum.instructions += c.ex_ret_instr;
        sum.accesses += c.ld_dispatch + c.store_dispatch + c.locks;
        sum.bytes += lines * LINE;
        sum.far += c.l3_misses;
        sum.chained = c.chained > sum.chained ? c.chained : sum.chained;
        sum.chains += c.chained;
        sum.busy_ns = larger(sum.busy_ns, (double)c.ls_not_halted_cyc / rates->core_ghz);
    }
    return sum;
}

/* ---- estimates ---------------------------------------------------------------------------------------- */

/* Instructions and memory go side by side; a chain and the start do not. */
static void cost_sum(struct move_cost *cost)
{
    cost->ns = larger(cost->part[LIMIT_INSTRUCTIONS], cost->part[LIMIT_MEMORY]) + cost->part[LIMIT_CHAIN] +
               cost->part[LIMIT_START];
    cost->binds = LIMIT_INSTRUCTIONS;
    for (int i = 1; i < LIMITS; i++)
        if (cost->part[i] > cost->part[cost->binds])
            cost->binds = (enum move_limit)i;
}

static double count(const struct ehp_stats *s, const char *name)
{
    unsigned index;
    char error[128];

    return ehp_counter_find(name, &index, error, sizeof error) == EHP_OK
               ? ehp_counter_value(s->counters, index) / (double)s->dispatches
               : 0;
}

/* Vector instructions of a core that do what the kernel's lanes do, and the kernel's scalar ones. */
static double kernel_instructions(const struct ehp_stats *s, const struct advise_rates *r)
{
    static const char *const twice[] = {
        "SQ_INSTS_VALU_ADD_F64",   "SQ_INSTS_VALU_MUL_F64", "SQ_INSTS_VALU_FMA_F64",
        "SQ_INSTS_VALU_TRANS_F64", "SQ_INSTS_VALU_INT64",
    };
    static const char *const scalar[] = {"SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_BRANCH"};
    double lanes = count(s, "EHP_LANES_VALU"), sum = 0, launches = (double)s->dispatches;

    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
        lanes += 64 * count(s, twice[i]);
    /* Multiplication and addition are one instruction. */
    lanes += count(s, "MfmaFlops") / 2 + count(s, "MfmaFlopsF64") / 2;
    for (size_t i = 0; i < sizeof scalar / sizeof *scalar; i++)
        sum += count(s, scalar[i]);
    double moved = (double)(s->bytes_read + s->bytes_written) / launches / r->vector;
    /* Where lanes are scattered, each look-up of the GPU's is an access. */
    return sum + lanes * LANE / r->vector + larger(moved, count(s, "TCP_TOTAL_CACHE_ACCESSES")) +
           (double)s->lds_bytes / launches / r->vector;
}

static void kernel_on_cores(const struct ehp_stats *s, const struct advise_rates *r, struct move *move,
                            double read, double written, unsigned cores)
{
    struct move_cost *cost = &move->there[move->count++];
    const unsigned dies = cores < r->ccds ? cores : r->ccds;

    *cost = (struct move_cost){.cores = cores};
    cost->part[LIMIT_INSTRUCTIONS] = kernel_instructions(s, r) / (cores * r->core_ipc * r->core_ghz);
    /* A line that is written is read first. */
    cost->part[LIMIT_MEMORY] = larger((read + written) / smaller(dies * r->ccd_bytes, cores * r->core_bytes),
                                      written / (dies * r->ccd_bytes));
    cost->part[LIMIT_CHAIN] = move->chain * r->core_load;
    cost->part[LIMIT_START] = cores > 1 ? TEAM_LINES * r->core_load : 0;
    cost_sum(cost);
}

static void kernel_move(const struct hip_advise *a, const struct ehp_stats *s, struct move *move)
{
    const struct advise_rates *r = &a->rates;
    const double waves = count(s, "SQ_WAVES"), latency = count(s, "VmemLatency") * (double)s->dispatches;
    /* Instructions are not the program's data. */
    double code = count(s, "SQC_TC_INST_REQ") * LINE, read = count(s, "FETCH_SIZE") * 1024,
           written = count(s, "WRITE_SIZE") * 1024;

    read = larger(read - code, 0);
    *move = (struct move){
        .name = s->kernel,
        .kernel = true,
        .times = s->dispatches,
        .launch = r->packet,
        .wait = a->launches ? r->wake * (double)a->waits / (double)a->launches : 0,
        .operations = count(s, "EHP_LANES_VALU"),
        .accesses = (double)(s->bytes_read + s->bytes_written) / (double)s->dispatches,
        .bytes = read + written,
        .hbm = count(s, "EHP_INFINITY_CACHE_MISS") * GPU_LINE,
        /* How often a wave waits, one time after the other. */
        .chain = waves > 0 && latency > 0 ? count(s, "EHP_CYCLES_MEMORY") / waves / latency : 0,
    };
    move->ns = s->seconds * 1e9 / (double)s->dispatches + move->launch + move->wait;
    kernel_on_cores(s, r, move, read, written, 1);
    /* No more cores than have a vector each. */
    double most = count(s, "SQ_ITEMS") * LANE / r->vector;
    unsigned cores = most < r->cores ? (unsigned)most : r->cores;
    if (cores > 1)
        kernel_on_cores(s, r, move, read, written, cores);
}

static void host_move(const struct hip_advise *a, struct move *move)
{
    const struct advise_rates *r = &a->rates;
    struct move_cost *cost = &move->there[move->count++];

    *cost = (struct move_cost){0};
    /* Each of its instructions as if it were a vector's. */
    cost->part[LIMIT_INSTRUCTIONS] =
        larger(move->operations * r->vector / LANE / r->lanes, move->accesses / r->l1_bytes);
    cost->part[LIMIT_MEMORY] = move->bytes / r->gpu_bytes;
    /* Each wave waits for memory once at least. */
    const double far = larger(smaller(move->chain, move->far), 1);
    cost->part[LIMIT_CHAIN] = far * r->gpu_load + larger(move->chain - far, 0) * r->l2_load;
    cost->part[LIMIT_START] = (double)move->times * (r->packet + r->wake);
    cost_sum(cost);
}

/* ---- what there is to move ---------------------------------------------------------------------------- */

struct moves {
    struct move move[2 * SHOWN];
    int count;
};

/* Among the costliest of its side, which are in order. */
static void moves_add(struct moves *moves, const struct move *move)
{
    double all = move->kernel ? move->ns * (double)move->times : move->ns;
    int first = 0, end, at;

    while (first < moves->count && moves->move[first].kernel && !move->kernel)
        first++;
    for (end = first; end < moves->count && moves->move[end].kernel == move->kernel; end++)
        ;
    for (at = first; at < end; at++) {
        const struct move *other = &moves->move[at];
        if (all > (other->kernel ? other->ns * (double)other->times : other->ns))
            break;
    }
    if (at - first == SHOWN)
        return;
    if (end - first == SHOWN)
        end--;
    else
        moves->count++;
    memmove(&moves->move[at + 1], &moves->move[at], (size_t)(end - at) * sizeof *move);
    moves->move[at] = *move;
}

static void add_job(const struct hip_advise *a, const struct advise_job *job, struct moves *moves)
{
    struct move move = {
        .name = job->site < 0 ? "?" : a->sites[job->site].line,
        .cores = job->cores,
        .times = job->calls,
        .ns = (double)job->ns,
        .operations = (double)job->instructions,
        .accesses = (double)job->accessed,
        .bytes = (double)job->bytes,
        .chain = (double)job->chained,
        .far = (double)job->far,
    };
    host_move(a, &move);
    moves_add(moves, &move);
}

/* Code that was compiled with --time-host: what cores did beside ehp_cpu_run()'s work. */
static void add_threads(const struct hip_advise *a, struct moves *moves)
{
    const struct advise_cores all = advise_cores_of(hip_runtime()->machine, &a->rates), *jobs = &a->by_jobs;

    if (all.instructions <= jobs->instructions)
        return;
    struct move move = {
        .name = "threads of host code",
        .cores = (unsigned)all.cores,
        .times = 1,
        .ns = larger(all.busy_ns - jobs->busy_ns, 0),
        .operations = (double)(all.instructions - jobs->instructions),
        .accesses = (double)(all.accesses - jobs->accesses) * a->rates.vector,
        .bytes = (double)(all.bytes - jobs->bytes),
        .chain = (double)(all.chained - jobs->chained),
        .far = (double)(all.far - jobs->far),
    };
    host_move(a, &move);
    moves_add(moves, &move);
}

static bool is_runtimes(const char *kernel)
{
    return strncmp(kernel, "ehp_blit_", strlen("ehp_blit_")) == 0;
}

static void moves_find(const struct hip_advise *a, struct moves *moves)
{
    ehp_machine *machine = hip_runtime()->machine;

    *moves = (struct moves){0};
    if (!a->rates.cores)
        return;
    for (unsigned i = 0; a->rates.lanes > 0 && i < ehp_stats_count(machine); i++) {
        struct ehp_stats s = {.size = sizeof s};
        struct move move;
        if (ehp_stats_get(machine, i, &s) != EHP_OK || !s.counters || !s.dispatches || is_runtimes(s.kernel))
            continue;
        kernel_move(a, &s, &move);
        moves_add(moves, &move);
    }
    for (int i = 0; a->rates.lanes > 0 && i < a->job_count; i++)
        add_job(a, &a->jobs[i], moves);
    if (a->rates.lanes > 0)
        add_threads(a, moves);
}

/* ---- words -------------------------------------------------------------------------------------------- */

static const struct move_cost *best_of(const struct move *move)
{
    return &move->there[move->count > 1 && move->there[1].ns < move->there[0].ns];
}

static const char *show_time(char text[24], double ns)
{
    if (ns < 1e6)
        snprintf(text, 24, "%.2f us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(text, 24, "%.2f ms", ns / 1e6);
    else
        snprintf(text, 24, "%.2f s", ns / 1e9);
    return text;
}

static const char *show_side(char text[24], unsigned cores)
{
    if (cores)
        snprintf(text, 24, "%u core%s", cores, cores == 1 ? "" : "s");
    else
        snprintf(text, 24, "the GPU");
    return text;
}

static const char *verdict(const struct move *move, char text[96])
{
    char where[24];
    const struct move_cost *best = best_of(move);
    const double gain = best->ns > 0 ? move->ns / best->ns : 0;

    if (gain > about_the_same)
        snprintf(text, 96, "faster on %s: %.1f times", show_side(where, best->cores), gain);
    else if (gain < 1 / about_the_same && gain > 0)
        snprintf(text, 96, "faster where it is: %.1f times", 1 / gain);
    else
        snprintf(text, 96, "about the same on either side");
    return text;
}

static void text_cost(const struct move_cost *cost, FILE *file)
{
    char where[24], a[24], b[24], c[24], d[24], e[24];

    fprintf(file, "    on %-8s %10s: instructions %s, memory %s, chain %s, start %s; %s binds\n",
            show_side(where, cost->cores), show_time(a, cost->ns),
            show_time(b, cost->part[LIMIT_INSTRUCTIONS]), show_time(c, cost->part[LIMIT_MEMORY]),
            show_time(d, cost->part[LIMIT_CHAIN]), show_time(e, cost->part[LIMIT_START]),
            limit_names[cost->binds]);
}

static void text_move(const struct move *m, FILE *file)
{
    char room[256], where[24], a[24], b[24], c[24], d[24], word[96];

    fprintf(file, "  %.90s, %s, %" PRIu64 " time%s: %s\n", ehp_printable(m->name, room, sizeof room),
            show_side(where, m->cores), m->times, m->times == 1 ? "" : "s", verdict(m, word));
    if (m->kernel)
        fprintf(file,
                "    each took   %10s: the kernel %s, its packet %s, the host's wait %s\n"
                "    counted: %.4g operations of lanes, %s by loads and stores,",
                show_time(a, m->ns), show_time(b, m->ns - m->launch - m->wait), show_time(c, m->launch),
                show_time(d, m->wait), m->operations, advise_bytes(room, m->accesses));
    else
        fprintf(file, "    took        %10s\n    counted: %.4g instructions, %s by loads and stores,",
                show_time(a, m->ns), m->operations, advise_bytes(room, m->accesses));
    fprintf(file, " %s past the L2s,", advise_bytes(b, m->bytes));
    if (m->kernel)
        fprintf(file, " %s past the Infinity Cache,", advise_bytes(c, m->hbm));
    fprintf(file, " %.4g load%s after one another\n", m->chain, m->chain >= 0.5 && m->chain < 1.5 ? "" : "s");
    for (int i = 0; i < m->count; i++)
        text_cost(&m->there[i], file);
}

void advise_move_text(const struct hip_advise *advise, FILE *file)
{
    const struct advise_rates *r = &advise->rates;
    struct moves moves;

    moves_find(advise, &moves);
    if (!moves.count)
        return;
    fprintf(
        file,
        "\nThe same work on the other side, estimated from what was counted:\n"
        "  a core: %.2g instructions of %.0f bytes a cycle of %.1f GHz, %.0f GB/s; a CCD %.0f GB/s; a load "
        "%.0f ns\n"
        "  the GPU: %.0f operations of lanes a ns, memory %.0f GB/s, a load %.0f ns; a launch %.2f us, a "
        "wait %.2f us\n",
        r->core_ipc, r->vector, r->core_ghz, r->core_bytes, r->ccd_bytes, r->core_load, r->lanes,
        r->gpu_bytes, r->gpu_load, r->packet / 1e3, r->wake / 1e3);
    for (int i = 0; i < moves.count; i++)
        text_move(&moves.move[i], file);
    fprintf(file,
            "  It is taken that loops are vectorised for cores and parallel for the GPU, that caches are "
            "cold, and that a start\n"
            "  of several cores is %d lines from core to core.\n",
            TEAM_LINES);
}

void advise_move_json(const struct hip_advise *advise, FILE *file)
{
    struct moves moves;

    moves_find(advise, &moves);
    fprintf(file, ",\n \"moves\": [");
    for (int i = 0; i < moves.count; i++) {
        const struct move *m = &moves.move[i];
        fprintf(file, "%s\n  {\"name\": ", i ? "," : "");
        stats_json_string(file, m->name);
        fprintf(file,
                ", \"side\": \"%s\", \"cores\": %u, \"times\": %" PRIu64
                ", \"ns\": %.1f, \"launch_ns\": %.1f, \"wait_ns\": %.1f, \"operations\": %.0f, "
                "\"accessed\": %.0f, \"past_l2\": %.0f, \"past_infinity_cache\": %.0f, \"chain\": %.1f, "
                "\"there\": [",
                m->kernel ? "gpu" : "cpu", m->cores, m->times, m->ns, m->launch, m->wait, m->operations,
                m->accesses, m->bytes, m->hbm, m->chain);
        for (int k = 0; k < m->count; k++) {
            const struct move_cost *cost = &m->there[k];
            fprintf(file, "%s{\"cores\": %u, \"ns\": %.1f", k ? ", " : "", cost->cores, cost->ns);
            for (int p = 0; p < LIMITS; p++)
                fprintf(file, ", \"%s_ns\": %.1f", limit_names[p], cost->part[p]);
            fprintf(file, ", \"binds\": \"%s\"}", limit_names[cost->binds]);
        }
        fprintf(file, "]}");
    }
    fputc(']', file);
}
