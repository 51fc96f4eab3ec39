/* SPDX-License-Identifier: MIT */
/* The table that EHP_STATS=- prints for people: in functional mode, and in simulated time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hip/observe/stats.h"

enum { WIDTH = 100 };

/* "12.3 M", "512": a count that a person can read. */
static const char *stats_short(char text[16], double value, double step, const char *const units[5])
{
    int unit = 0;

    while (unit < 4 && value >= step) {
        value /= step;
        unit++;
    }
    snprintf(text, 16, unit ? "%.1f%s" : "%.0f%s", value, units[unit]);
    return text;
}

static const char *stats_number(char text[16], double value)
{
    static const char *const units[5] = {"", " k", " M", " G", " T"};

    return stats_short(text, value, 1000, units);
}

static const char *stats_bytes(char text[16], double value)
{
    static const char *const units[5] = {" B", " KiB", " MiB", " GiB", " TiB"};

    return stats_short(text, value, 1024, units);
}

static void stats_share(FILE *file, const char *name, uint64_t part, uint64_t whole)
{
    if (part)
        fprintf(file, "  %s %.1f %%", name, 100.0 * (double)part / (double)whole);
}

static void stats_classes(FILE *file, const struct ehp_stats *s, uint64_t all)
{
    stats_share(file, "valu", s->valu, all);
    stats_share(file, "salu", s->salu, all);
    stats_share(file, "mfma", s->mfma, all);
    stats_share(file, "vmem", s->vmem, all);
    stats_share(file, "smem", s->smem, all);
    stats_share(file, "lds", s->lds, all);
    stats_share(file, "scratch", s->flat_scratch, all);
    stats_share(file, "branch", s->branch, all);
    stats_share(file, "other", s->other, all);
    fputc('\n', file);
}

static void stats_kernel(FILE *file, const struct ehp_stats *s)
{
    char a[16], b[16], c[16], d[16], room[256];
    uint64_t all = s->instructions ? s->instructions : 1;

    fprintf(file, "%.78s\n", ehp_printable(s->kernel, room, sizeof room));
    fprintf(file, "  %" PRIu64 " launch%s of %ux%ux%u workgroups of %ux%ux%u, %s waves\n", s->dispatches,
            s->dispatches == 1 ? "" : "es", s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
            s->block[2], stats_number(a, (double)s->waves));
    fprintf(file, "  %s wave-instructions in %.4f s: %s/s\n", stats_number(a, (double)s->instructions),
            s->seconds, stats_number(b, s->seconds > 0 ? (double)s->instructions / s->seconds : 0.0));
    stats_classes(file, s, all);
    fprintf(file, "  read %s, written %s, LDS %s, scratch %s", stats_bytes(a, (double)s->bytes_read),
            stats_bytes(b, (double)s->bytes_written), stats_bytes(c, (double)s->lds_bytes),
            stats_bytes(d, (double)s->scratch_bytes));
    if (s->atomics)
        fprintf(file, ", %s atomics", stats_number(a, (double)s->atomics));
    if (s->valu)
        fprintf(file, "; %.1f of 64 lanes on", (double)s->lanes_valu / (double)s->valu);
    fprintf(file, "\n");
}

/* ---- in simulated time ---- */

static double counted(const struct ehp_stats *s, const char *name)
{
    unsigned index;

    return ehp_counter_find(name, &index, NULL, 0) == EHP_OK ? ehp_counter_value(s->counters, index) : 0;
}

static const char *stats_time(char text[16], double seconds)
{
    static const char *const units[5] = {" ns", " us", " ms", " s", " ks"};

    return stats_short(text, seconds * 1e9, 1000, units);
}

/* A line of parts "name 12.3 %", which goes on below itself. */
struct parts_line {
    FILE *file;
    int indent, column;
};

static struct parts_line parts_begin(FILE *file, const char *title)
{
    int indent = fprintf(file, "  %-7s", title);

    return (struct parts_line){file, indent, indent};
}

/* Nothing of what there is next to none. */
static void parts_add(struct parts_line *line, const char *name, double part, double whole)
{
    char text[48];

    if (whole <= 0 || part / whole < 0.0005)
        return;
    int length = snprintf(text, sizeof text, "  %s %.1f %%", name, 100 * part / whole);
    if (line->column + length > WIDTH) {
        fprintf(line->file, "\n%*s", line->indent, "");
        line->column = line->indent;
    }
    line->column += fprintf(line->file, "%s", text);
}

static void stats_instructions(FILE *file, const struct ehp_stats *s)
{
    struct parts_line line = parts_begin(file, "issued:");
    double all = (double)s->instructions;

    parts_add(&line, "valu", (double)s->valu, all);
    parts_add(&line, "mfma", (double)s->mfma, all);
    parts_add(&line, "salu", (double)s->salu, all);
    parts_add(&line, "vmem", (double)s->vmem, all);
    parts_add(&line, "smem", (double)s->smem, all);
    parts_add(&line, "lds", (double)s->lds, all);
    parts_add(&line, "scratch", (double)s->flat_scratch, all);
    parts_add(&line, "branch", (double)s->branch, all);
    parts_add(&line, "other", (double)s->other, all);
    fputc('\n', file);
}

/* Where the time of waves went; then of CUs. */
static void stats_waves(FILE *file, const struct ehp_stats *s)
{
    static const char *const parts[][2] = {{"EHP_CYCLES_ISSUE", "issue"},
                                           {"EHP_CYCLES_DEPENDENCY", "dependency"},
                                           {"EHP_CYCLES_UNIT", "unit"},
                                           {"EHP_CYCLES_QUEUE", "memory queue"},
                                           {"EHP_CYCLES_L1", "L1"},
                                           {"EHP_CYCLES_L2", "L2"},
                                           {"EHP_CYCLES_INFINITY_CACHE", "Infinity Cache"},
                                           {"EHP_CYCLES_HBM", "HBM"},
                                           {"EHP_CYCLES_FENCE", "fence"},
                                           {"EHP_CYCLES_LDS", "LDS"},
                                           {"EHP_CYCLES_BARRIER", "barrier"},
                                           {"EHP_CYCLES_FETCH", "fetch"},
                                           {"EHP_CYCLES_SLEEP", "sleep"},
                                           {"EHP_CYCLES_START", "start"},
                                           {NULL, NULL}};
    double cu_cycles = counted(s, "SQ_BUSY_CU_CYCLES"), idle = counted(s, "EHP_CU_IDLE_CYCLES");

    struct parts_line line = parts_begin(file, "waves:");
    for (size_t i = 0; parts[i][0]; i++)
        parts_add(&line, parts[i][1], counted(s, parts[i][0]), counted(s, "EHP_CYCLES"));
    fputc('\n', file);
    if (cu_cycles > 0)
        fprintf(file, "  CUs:     idle %.1f %%, else %.1f waves, %.3f instructions a cycle\n",
                100 * idle / (cu_cycles + idle), counted(s, "MeanOccupancyPerActiveCU"),
                counted(s, "SQ_INSTS") / cu_cycles);
}

static void stats_memory(FILE *file, const struct ehp_stats *s)
{
    char a[16], b[16], c[16];
    double read = counted(s, "FETCH_SIZE") * 1024, written = counted(s, "WRITE_SIZE") * 1024;
    struct parts_line line = parts_begin(file, "hits:");

    parts_add(&line, "vL1", counted(s, "EHP_TCP_HIT_RATE"), 100);
    parts_add(&line, "L2", counted(s, "EHP_L2_HIT_RATE"), 100);
    parts_add(&line, "Infinity Cache", counted(s, "EHP_INFINITY_CACHE_HIT_RATE"), 100);
    fprintf(file, "\n  L2s:     read %s, wrote %s, %s/s\n", stats_bytes(a, read), stats_bytes(b, written),
            stats_bytes(c, s->seconds > 0 ? (read + written) / s->seconds : 0));
}

static void stats_simulated(FILE *file, const struct ehp_stats *s)
{
    char a[16], b[16], c[16], room[256];

    fprintf(file, "%.98s\n", ehp_printable(s->kernel, room, sizeof room));
    fprintf(file, "  %" PRIu64 " launch%s of %ux%ux%u workgroups of %ux%ux%u, %s waves\n", s->dispatches,
            s->dispatches == 1 ? "" : "es", s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
            s->block[2], stats_number(a, (double)s->waves));
    fprintf(file, "  simulated %s, %s each; %s wave-instructions, %.3f a cycle and CU\n",
            stats_time(a, s->seconds), stats_time(b, s->seconds / (double)s->dispatches),
            stats_number(c, (double)s->instructions), counted(s, "EHP_IPC"));
    if (s->detailed_workgroups)
        fprintf(file,
                "  sampled: %" PRIu64 " of %" PRIu64 " workgroups in detail, time within about %.1f %%\n",
                s->detailed_workgroups, s->workgroups, 100 * s->sample_error);
    stats_instructions(file, s);
    stats_waves(file, s);
    stats_memory(file, s);
}

/* ---- what executed them, in functional mode ---- */

static void stats_refused(FILE *file, ehp_machine *machine, unsigned refused)
{
    unsigned shown = 0;

    for (;; shown++) {
        struct ehp_refused r = EHP_REFUSED_INIT;
        char name[256], why[256];
        if (ehp_refused_at(machine, shown, &r) != EHP_OK)
            break;
        fprintf(file, "Interpreted: %.60s: %s\n",
                *r.name ? ehp_printable(r.name, name, sizeof name) : "a function without a name",
                ehp_printable(r.why, why, sizeof why));
    }
    if (refused > shown)
        fprintf(file, "Interpreted: %u more\n", refused - shown);
}

/* `share`: "12.3 % of instructions, ", or "" in timing mode, which counts what is not compiled. */
static void stats_engine(FILE *file, ehp_machine *machine, const char *share)
{
    struct ehp_compiled done = EHP_COMPILED_INIT;

    if (ehp_compiled(machine, &done) != EHP_OK)
        return;
    if (done.functions || done.refused) {
        fprintf(file, "Compiled: %s%u function%s in %.*f ms", share, done.functions,
                done.functions == 1 ? "" : "s", done.ns < 10000000, (double)done.ns * 1e-6);
        if (done.from_cache)
            fprintf(file, ", %u from the cache", done.from_cache);
        fputc('\n', file);
    } else if (*share) {
        fprintf(file, "Compiled: nothing, as no function ran for long\n");
    }
    stats_refused(file, machine, done.refused);
}

/* ---- the CPU's cores, in timing mode ---- */

static void stats_cores(FILE *file, ehp_machine *machine)
{
    struct ehp_core c = EHP_CORE_INIT;
    bool any = false;

    for (unsigned core = 0; ehp_core_get(machine, core, &c) == EHP_OK; core++) {
        if (!c.ex_ret_instr)
            continue;
        if (!any)
            fprintf(file, "%-8s %12s %5s %10s %9s %8s %8s %8s %7s %6s %6s %9s\n", "CPU core", "instructions",
                    "IPC", "loads", "stores", "L1 miss", "L2 miss", "L3 miss", "walks", "faults", "probes",
                    "wrong way");
        any = true;
        double ipc = c.ls_not_halted_cyc ? (double)c.ex_ret_instr / (double)c.ls_not_halted_cyc : 0;
        fprintf(file,
                "%3u.%-4u %12" PRIu64 " %5.2f %10" PRIu64 " %9" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
                " %7" PRIu64 " %6" PRIu64 " %6" PRIu64 " %9" PRIu64 "\n",
                c.ccd, core, c.ex_ret_instr, ipc, c.ld_dispatch, c.store_dispatch + c.locks, c.l1_misses,
                c.l2_misses, c.l3_misses, c.walks, c.faults, c.probes, c.ex_ret_brn_misp);
    }
}

/* ---- links between packages, and to a host, in timing mode ---- */

static void stats_end_name(char text[16], unsigned number, unsigned packages)
{
    if (number < packages)
        snprintf(text, 16, "%u", number);
    else
        snprintf(text, 16, "host");
}

static void stats_links(FILE *file, ehp_machine *machine)
{
    struct ehp_agent_info info = EHP_AGENT_INFO_INIT;
    bool any = false;

    if (ehp_agent_info(machine, 0, &info) != EHP_OK)
        return;
    const unsigned ends = info.packages + 1;
    for (unsigned i = 0; i < ends * ends; i++) {
        struct ehp_traffic t = {.size = sizeof t};
        char from[16], to[16], bytes[16];
        if (ehp_node_traffic(machine, i / ends, i % ends, &t) != EHP_OK || !t.packets)
            continue;
        if (!any)
            fprintf(file, "Links of packages: from, to, bytes, packets, wait of each\n");
        any = true;
        stats_end_name(from, i / ends, info.packages);
        stats_end_name(to, i % ends, info.packages);
        fprintf(file, "  %4s -> %-4s %10s %12" PRIu64 " %8.1f ns\n", from, to,
                stats_bytes(bytes, (double)t.bytes), t.packets, (double)t.waited_ns / (double)t.packets);
    }
}

void stats_table(FILE *file, ehp_machine *machine)
{
    unsigned count = ehp_stats_count(machine);
    uint64_t compiled = 0, instructions = 0;
    bool simulated = false;
    char share[40] = "";

    for (unsigned i = 0; i < count; i++) {
        struct ehp_stats s = {.size = sizeof s};
        if (ehp_stats_get(machine, i, &s) != EHP_OK)
            continue;
        if (s.counters)
            stats_simulated(file, &s);
        else
            stats_kernel(file, &s);
        compiled += s.compiled;
        instructions += s.instructions;
        simulated = simulated || s.counters;
    }
    if (!simulated)
        snprintf(share, sizeof share, "%.1f %% of instructions, ",
                 instructions ? 100.0 * (double)compiled / (double)instructions : 0.0);
    if (count)
        stats_engine(file, machine, share);
    stats_cores(file, machine);
    stats_links(file, machine);
}
