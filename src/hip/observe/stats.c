/* SPDX-License-Identifier: MIT */
/*
 * Statistics.  EHP_STATS=- prints a table on stderr, EHP_STATS=file.csv
 * writes a line for each kernel there, EHP_STATS=file JSON: an array with an
 * object for each kernel.  In timing mode both have every counter as well.
 */
#include "hip/observe/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/observe/report.h"

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
    COUNT(bytes_written), COUNT(lds_bytes),  COUNT(scratch_bytes), COUNT(atomics),      COUNT(compiled),
#undef COUNT
};

static uint64_t stats_value(const struct ehp_stats *stats, const struct stats_count *count)
{
    uint64_t value;

    memcpy(&value, (const char *)stats + count->offset, sizeof value);
    return value;
}

/* A whole number as one; what is not, with the digits that it has. */
void stats_print_value(FILE *file, double value)
{
    if (value == (double)(int64_t)value)
        fprintf(file, "%" PRId64, (int64_t)value);
    else
        fprintf(file, "%.9g", value);
}

bool stats_is_csv(const char *path)
{
    size_t length = strlen(path);

    return length > 4 && strcmp(path + length - 4, ".csv") == 0;
}

void stats_csv_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++)
        fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', file);
}

void stats_json_string(FILE *file, const char *text)
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

static void stats_json_counters(FILE *file, const ehp_counters *counters)
{
    for (unsigned i = 0; i < ehp_counter_count(); i++) {
        struct ehp_counter counter = EHP_COUNTER_INIT;
        ehp_counter_at(i, &counter);
        fprintf(file, ",\n    %s\"%s\": ", i ? "" : "\"counters\": {", counter.name);
        stats_print_value(file, ehp_counter_value(counters, i));
    }
    fputc('}', file);
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
        fprintf(file, ", \"seconds\": %.9f, \"instructions_per_second\": %.0f", stats.seconds,
                stats.seconds > 0 ? (double)stats.instructions / stats.seconds : 0.0);
        if (stats.detailed_workgroups)
            fprintf(file, ", \"detailed_workgroups\": %" PRIu64 ", \"sample_error\": %.4f",
                    stats.detailed_workgroups, stats.sample_error);
        if (stats.counters)
            stats_json_counters(file, stats.counters);
        fprintf(file, "}%s\n", i + 1 < count ? "," : "");
    }
    fputs("]\n", file);
}

static void stats_csv_header(FILE *file, bool counted)
{
    fputs("kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z", file);
    for (size_t k = 0; k < sizeof stats_counts / sizeof *stats_counts; k++)
        fprintf(file, ",%s", stats_counts[k].name);
    fputs(",seconds", file);
    for (unsigned i = 0; counted && i < ehp_counter_count(); i++) {
        struct ehp_counter counter = EHP_COUNTER_INIT;
        ehp_counter_at(i, &counter);
        fprintf(file, ",%s", counter.name);
    }
    fputc('\n', file);
}

static void stats_csv(FILE *file, ehp_machine *machine)
{
    unsigned count = ehp_stats_count(machine);

    stats_csv_header(file, hip_runtime()->timing);
    for (unsigned i = 0; i < count; i++) {
        struct ehp_stats stats = {.size = sizeof stats};
        if (ehp_stats_get(machine, i, &stats) != EHP_OK)
            continue;
        stats_csv_string(file, stats.kernel);
        for (int k = 0; k < 3; k++)
            fprintf(file, ",%" PRIu32, stats.grid[k]);
        for (int k = 0; k < 3; k++)
            fprintf(file, ",%" PRIu32, stats.block[k]);
        for (size_t k = 0; k < sizeof stats_counts / sizeof *stats_counts; k++)
            fprintf(file, ",%" PRIu64, stats_value(&stats, &stats_counts[k]));
        fprintf(file, ",%.9f", stats.seconds);
        for (unsigned k = 0; stats.counters && k < ehp_counter_count(); k++) {
            fputc(',', file);
            stats_print_value(file, ehp_counter_value(stats.counters, k));
        }
        fputc('\n', file);
    }
}

/* ---- the reports ----------------------------------------------------------------------------------------
 */

static void stats_report_json(FILE *file)
{
    stats_json(file, hip_runtime()->machine);
}

static void stats_report_csv(FILE *file)
{
    stats_csv(file, hip_runtime()->machine);
}

static void stats_report_table(FILE *file)
{
    stats_table(file, hip_runtime()->machine);
}

bool hip_stats_init(struct hip_runtime *runtime)
{
    const char *where = secure_getenv("EHP_STATS");

    if (!where || !*where)
        return true;
    runtime->stats = true;
    ehp_stats_enable(runtime->machine, true);
    if (!strcmp(where, "-"))
        return hip_report_add("EHP_STATS", NULL, stats_report_table);
    return hip_report_add("EHP_STATS", where, stats_is_csv(where) ? stats_report_csv : stats_report_json);
}
