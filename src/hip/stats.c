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

static void stats_kernel(FILE *file, const struct ehp_stats *s)
{
    char a[16], b[16], c[16], d[16];
    uint64_t all = s->instructions ? s->instructions : 1;

    fprintf(file, "%.78s\n", s->kernel);
    fprintf(file, "  %" PRIu64 " launch%s of %ux%ux%u workgroups of %ux%ux%u, %s waves\n", s->dispatches,
            s->dispatches == 1 ? "" : "es", s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
            s->block[2], stats_number(a, (double)s->waves));
    fprintf(file, "  %s wave-instructions in %.4f s: %s/s\n", stats_number(a, (double)s->instructions),
            s->seconds, stats_number(b, s->seconds > 0 ? (double)s->instructions / s->seconds : 0.0));
    stats_share(file, "valu", s->valu, all);
    stats_share(file, "salu", s->salu, all);
    stats_share(file, "mfma", s->mfma, all);
    stats_share(file, "vmem", s->vmem, all);
    stats_share(file, "smem", s->smem, all);
    stats_share(file, "lds", s->lds, all);
    stats_share(file, "scratch", s->flat_scratch, all);
    stats_share(file, "branch", s->branch, all);
    stats_share(file, "other", s->other, all);
    fprintf(file, "\n  read %s, written %s, LDS %s, scratch %s", stats_bytes(a, (double)s->bytes_read),
            stats_bytes(b, (double)s->bytes_written), stats_bytes(c, (double)s->lds_bytes),
            stats_bytes(d, (double)s->scratch_bytes));
    if (s->atomics)
        fprintf(file, ", %s atomics", stats_number(a, (double)s->atomics));
    if (s->valu)
        fprintf(file, "; %.1f of 64 lanes on", (double)s->lanes_valu / (double)s->valu);
    fprintf(file, "\n");
}

static void stats_table(FILE *file, ehp_machine *machine)
{
    unsigned count = ehp_stats_count(machine);

    for (unsigned i = 0; i < count; i++) {
        struct ehp_stats s = {.size = sizeof s};
        if (ehp_stats_get(machine, i, &s) == EHP_OK)
            stats_kernel(file, &s);
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
