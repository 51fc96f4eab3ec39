/* SPDX-License-Identifier: MIT */
/*
 * Counters of each dispatch in timing mode.  EHP_COUNTERS=NAME,NAME,... or
 * EHP_COUNTERS=all prints them on stderr as the dispatches end;
 * EHP_COUNTERS_FILE=file.csv writes them there instead, in columns of
 * rocprofv3's counter_collection.csv, and EHP_COUNTERS_FILE=file JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/observe/report.h"
#include "hip/observe/stats.h"
#include "hip/stream/stream.h"

struct hip_counters {
    FILE *file; /* NULL: stderr */
    bool csv;
    bool seeks;           /* JSON: has its end after each dispatch, over which the next one is written */
    bool any;             /* JSON: one has been written */
    char buffer[1 << 16]; /* more than a dispatch takes: each is written at once */
    unsigned count;
    unsigned index[];
};

static const char json_end[] = "\n]\n";

static void print_table(const struct hip_counters *chosen, const struct ehp_dispatch *d)
{
    char room[256];

    fprintf(stderr, "dispatch %" PRIu64 ": %.80s, %.3f us", d->id,
            ehp_printable(d->kernel, room, sizeof room), (double)(d->end_ns - d->start_ns) * 1e-3);
    if (hip_runtime()->devices > 1)
        fprintf(stderr, ", agent %u", d->agent);
    fputc('\n', stderr);
    for (unsigned i = 0; i < chosen->count; i++) {
        struct ehp_counter counter = EHP_COUNTER_INIT;
        ehp_counter_at(chosen->index[i], &counter);
        fprintf(stderr, "  %-36s ", counter.name);
        stats_print_value(stderr, ehp_counter_value(d->counters, chosen->index[i]));
        fputc('\n', stderr);
    }
}

static uint64_t block_items(const struct ehp_dispatch *d)
{
    return (uint64_t)d->block[0] * d->block[1] * d->block[2];
}

static uint64_t grid_items(const struct ehp_dispatch *d)
{
    return block_items(d) * d->grid[0] * d->grid[1] * d->grid[2];
}

static void write_csv(const struct hip_counters *chosen, const struct ehp_dispatch *d)
{
    for (unsigned i = 0; i < chosen->count; i++) {
        struct ehp_counter counter = EHP_COUNTER_INIT;
        ehp_counter_at(chosen->index[i], &counter);
        fprintf(chosen->file, "%" PRIu64 ",%u,", d->id, d->agent);
        stats_csv_string(chosen->file, d->kernel);
        fprintf(chosen->file, ",%" PRIu64 ",%" PRIu64 ",%s,", grid_items(d), block_items(d), counter.name);
        stats_print_value(chosen->file, ehp_counter_value(d->counters, chosen->index[i]));
        fprintf(chosen->file, ",%" PRIu64 ",%" PRIu64 "\n", d->start_ns, d->end_ns);
    }
}

static void write_json(struct hip_counters *chosen, const struct ehp_dispatch *d)
{
    if (chosen->seeks)
        fseek(chosen->file, -(long)strlen(json_end), SEEK_END);
    fprintf(chosen->file,
            "%s  {\"dispatch\": %" PRIu64 ", \"agent\": %u, \"kernel\": ", chosen->any ? ",\n" : "\n", d->id,
            d->agent);
    stats_json_string(chosen->file, d->kernel);
    fprintf(chosen->file,
            ", \"grid_size\": %" PRIu64 ", \"workgroup_size\": %" PRIu64 ", \"start_ns\": %" PRIu64
            ", \"end_ns\": %" PRIu64 ", \"counters\": {",
            grid_items(d), block_items(d), d->start_ns, d->end_ns);
    for (unsigned i = 0; i < chosen->count; i++) {
        struct ehp_counter counter = EHP_COUNTER_INIT;
        ehp_counter_at(chosen->index[i], &counter);
        fprintf(chosen->file, "%s\"%s\": ", i ? ", " : "", counter.name);
        stats_print_value(chosen->file, ehp_counter_value(d->counters, chosen->index[i]));
    }
    fputs("}}", chosen->file);
    if (chosen->seeks)
        fputs(json_end, chosen->file);
    chosen->any = true;
}

static void dispatch_ended(const struct ehp_dispatch *d, void *user)
{
    struct hip_counters *chosen = user;

    if (!chosen->file)
        print_table(chosen, d);
    else if (chosen->csv)
        write_csv(chosen, d);
    else
        write_json(chosen, d);
    if (chosen->file)
        fflush(chosen->file);
}

static void close_at_exit(void)
{
    struct hip_runtime *runtime = hip_runtime();
    struct hip_counters *chosen = runtime->counters;

    if (hip_forked())
        return;
    hip_wait_last();
    if (!chosen->csv && !chosen->seeks)
        fputs(json_end, chosen->file);
    errno = 0;
    report_close(chosen->file, "EHP_COUNTERS_FILE", secure_getenv("EHP_COUNTERS_FILE"));
    ehp_set_dispatch_handler(runtime->machine, NULL, NULL);
}

/* Of the names, of which there are not more than commas and one. */
static struct hip_counters *choose(const char *names)
{
    bool all = strcmp(names, "all") == 0;
    size_t most = all ? ehp_counter_count() : 1;
    for (const char *p = names; !all && *p; p++)
        most += *p == ',';
    struct hip_counters *chosen = calloc(1, sizeof *chosen + most * sizeof chosen->index[0]);
    if (!chosen)
        return NULL;
    while (all && chosen->count < most) {
        chosen->index[chosen->count] = chosen->count;
        chosen->count++;
    }
    for (const char *p = names; !all && *p;) {
        char name[128], error[512];
        size_t length = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, p);
        if (ehp_counter_find(name, &chosen->index[chosen->count++], error, sizeof error) != EHP_OK) {
            hip_say("EHP_COUNTERS: %s", error);
            free(chosen);
            return NULL;
        }
        p += length + (p[length] == ',');
    }
    return chosen;
}

bool hip_counters_init(struct hip_runtime *runtime)
{
    const char *names = secure_getenv("EHP_COUNTERS"), *path = secure_getenv("EHP_COUNTERS_FILE");

    if (!names || !*names)
        return true;
    struct hip_counters *chosen = choose(names);
    if (!chosen)
        return false;
    if (ehp_set_dispatch_handler(runtime->machine, dispatch_ended, chosen) != EHP_OK) {
        hip_say("EHP_COUNTERS: only timing mode counts (ehp run --mode timing)");
        free(chosen);
        return false;
    }
    runtime->counters = chosen;
    if (!path || !*path)
        return true;
    chosen->file = fopen(path, "we");
    if (!chosen->file) {
        hip_say("EHP_COUNTERS_FILE=%s: cannot write there", path);
        return false;
    }
    /* Nothing waits in it that a forked process would write again, or one that is killed never.  Linux may
     * stop a killed one's write where a page ends, and then the last dispatch is cut off. */
    setvbuf(chosen->file, chosen->buffer, _IOFBF, sizeof chosen->buffer);
    chosen->csv = stats_is_csv(path);
    chosen->seeks = !chosen->csv && ftell(chosen->file) == 0;
    fputs(chosen->csv
              ? "Dispatch_Id,Agent_Id,Kernel_Name,Grid_Size,Workgroup_Size,Counter_Name,Counter_Value,"
                "Start_Timestamp,End_Timestamp\n"
              : "[",
          chosen->file);
    if (chosen->seeks)
        fputs(json_end, chosen->file);
    fflush(chosen->file);
    atexit(close_at_exit);
    at_quick_exit(close_at_exit);
    return true;
}
