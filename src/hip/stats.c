/* SPDX-License-Identifier: MIT */
/*
 * Statistics at exit.  EHP_STATS=- prints a table on stderr, EHP_STATS=file
 * writes JSON there: an array with an object for each kernel.
 */
#include "stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

struct stats_count {
    const char *name;
    size_t offset;
};

/* The counters of struct ehp_stats in the order they are printed. */
static const struct stats_count stats_counts[] = {
#define COUNT(field) {#field, offsetof(struct ehp_stats, field)}
    COUNT(dispatches),    COUNT(workgroups), COUNT(waves),         COUNT(instructions), COUNT(valu),
    COUNT(salu),          COUNT(mfma),       COUNT(vmem),          COUNT(smem),         COUNT(lds),
    COUNT(flat_scratch),  COUNT(branch),     COUNT(other),         COUNT(lanes_valu),   COUNT(bytes_read),
    COUNT(bytes_written), COUNT(lds_bytes),  COUNT(scratch_bytes), COUNT(atomics),
#undef COUNT
};

static uint64_t stats_value(const struct ehp_stats *stats, const struct stats_count *count)
{
    uint64_t value;

    memcpy(&value, (const char *)stats + count->offset, sizeof value);
    return value;
}

static void stats_json_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            fputc(*text, file);
    }
    fputc('"', file);
}

static void stats_json(FILE *file, ehp_machine *machine)
{
    unsigned count = ehp_stats_count(machine);

    fputs("[\n", file);
    for (unsigned i = 0; i < count; i++) {
        struct ehp_stats stats = {.size = sizeof stats};
        if (ehp_stats_get(machine, i, &stats) != EHP_OK)
            continue;
        fputs("  {\"kernel\": ", file);
        stats_json_string(file, stats.kernel);
        fprintf(file, ", \"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", stats.grid[0], stats.grid[1],
                stats.grid[2]);
        fprintf(file, ", \"block\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", stats.block[0], stats.block[1],
                stats.block[2]);
        for (size_t k = 0; k < sizeof stats_counts / sizeof *stats_counts; k++)
            fprintf(file, ", \"%s\": %" PRIu64, stats_counts[k].name, stats_value(&stats, &stats_counts[k]));
        fprintf(file, ", \"seconds\": %.9f, \"instructions_per_second\": %.0f}%s\n", stats.seconds,
                stats.seconds > 0 ? (double)stats.instructions / stats.seconds : 0.0,
                i + 1 < count ? "," : "");
    }
    fputs("]\n", file);
}

static void stats_table(FILE *file, ehp_machine *machine)
{
    unsigned count = ehp_stats_count(machine);

    fprintf(file, "%-32s %9s %11s %11s %13s %11s %11s %9s %9s\n", "kernel", "launches", "workgroups", "waves",
            "instructions", "read KiB", "written KiB", "seconds", "M instr/s");
    for (unsigned i = 0; i < count; i++) {
        struct ehp_stats s = {.size = sizeof s};
        if (ehp_stats_get(machine, i, &s) != EHP_OK)
            continue;
        fprintf(file,
                "%-32.32s %9" PRIu64 " %11" PRIu64 " %11" PRIu64 " %13" PRIu64 " %11" PRIu64 " %11" PRIu64
                " %9.4f %9.1f\n",
                s.kernel, s.dispatches, s.workgroups, s.waves, s.instructions, s.bytes_read / 1024,
                s.bytes_written / 1024, s.seconds,
                s.seconds > 0 ? (double)s.instructions / s.seconds / 1e6 : 0.0);
        fprintf(file,
                "    grid %ux%ux%u block %ux%ux%u; valu %" PRIu64 " salu %" PRIu64 " mfma %" PRIu64
                " vmem %" PRIu64 " smem %" PRIu64 " lds %" PRIu64 " branch %" PRIu64 " other %" PRIu64
                "; LDS KiB %" PRIu64 "\n",
                s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2], s.valu, s.salu, s.mfma,
                s.vmem + s.flat_scratch, s.smem, s.lds, s.branch, s.other, s.lds_bytes / 1024);
    }
}

static void stats_at_exit(void)
{
    struct hip_runtime *runtime = hip_runtime();
    const char *where = getenv("EHP_STATS");

    for (int i = 0; i < runtime->devices; i++)
        hip_device_wait(&runtime->device[i]);
    fflush(stdout);
    if (!where || !*where || !strcmp(where, "-")) {
        stats_table(stderr, runtime->machine);
        return;
    }
    FILE *file = fopen(where, "w");
    if (!file) {
        fprintf(stderr, "ehp: EHP_STATS=%s: cannot write there\n", where);
        return;
    }
    stats_json(file, runtime->machine);
    fclose(file);
}

void hip_stats_init(struct hip_runtime *runtime)
{
    const char *where = getenv("EHP_STATS");

    if (!where || !*where)
        return;
    runtime->stats = true;
    ehp_stats_enable(runtime->machine, true);
    atexit(stats_at_exit);
}
