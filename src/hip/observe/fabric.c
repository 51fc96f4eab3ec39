/* SPDX-License-Identifier: MIT */
/*
 * How busy the parts of a package were.  EHP_FABRIC=- prints those that did something as a table on stderr,
 * EHP_FABRIC=file.csv writes a line for each part there, EHP_FABRIC=file JSON.
 */
#include "hip/core/state.h"
#include "hip/observe/fabric.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/observe/report.h"
#include "hip/observe/stats.h"

static const char *const kinds[] = {
    [EHP_PART_LINK] = "link",         [EHP_PART_INGRESS] = "ingress", [EHP_PART_XCD_OUT] = "xcd_out",
    [EHP_PART_XCD_IN] = "xcd_in",     [EHP_PART_CCD_OUT] = "ccd_out", [EHP_PART_CCD_IN] = "ccd_in",
    [EHP_PART_SDMA_OUT] = "sdma_out", [EHP_PART_SDMA_IN] = "sdma_in", [EHP_PART_CACHE] = "cache",
    [EHP_PART_HBM] = "hbm",
};

static struct fabric_report *report(void)
{
    return &hip_state()->fabric;
}

static void look(const struct fabric_report *r, struct fabric_look *out)
{
    ehp_machine *machine = hip_runtime()->machine;

    out->ticks = ehp_timestamp(machine);
    for (unsigned i = 0; i < r->parts; i++) {
        out->part[i].size = sizeof out->part[i];
        ehp_part_get(machine, i, &out->part[i]);
    }
}

/* sum += sign * more */
static void add(const struct fabric_report *r, struct fabric_look *sum, const struct fabric_look *more,
                int sign)
{
    sum->ticks += (uint64_t)sign * more->ticks;
    for (unsigned i = 0; i < r->parts; i++) {
        struct ehp_part *a = &sum->part[i];
        const struct ehp_part *b = &more->part[i];
        a->bytes += (uint64_t)sign * b->bytes;
        a->lines += (uint64_t)sign * b->lines;
        a->busy_ns += sign * b->busy_ns;
        a->waited_ns += sign * b->waited_ns;
        a->trip_ns += sign * b->trip_ns;
        a->links_ns += sign * b->links_ns;
        a->home_ns += sign * b->home_ns;
    }
}

/* What is to be told: as of now, if a stretch is running. */
static double gather(struct fabric_report *r)
{
    struct fabric_look *shown = &r->shown;

    if (r->marked && !r->running) {
        shown->ticks = r->sum.ticks;
        memcpy(shown->part, r->sum.part, r->parts * sizeof *shown->part);
    } else {
        look(r, shown);
        add(r, shown, &r->start, -1);
        add(r, shown, &r->sum, 1);
    }
    return (double)shown->ticks * 10;
}

void hip_fabric_start(void)
{
    struct fabric_report *r = report();

    if (!r->on)
        return;
    pthread_mutex_lock(&r->lock);
    if (!r->running) {
        look(r, &r->start);
        r->marked = r->running = true;
    }
    pthread_mutex_unlock(&r->lock);
}

void hip_fabric_stop(void)
{
    struct fabric_report *r = report();

    if (!r->on)
        return;
    pthread_mutex_lock(&r->lock);
    if (r->running) {
        look(r, &r->shown);
        add(r, &r->shown, &r->start, -1);
        add(r, &r->sum, &r->shown, 1);
        r->running = false;
    }
    pthread_mutex_unlock(&r->lock);
}

static const char *const columns[] = {"kind",    "package",  "iod",       "to",    "index",
                                      "units",   "busy_ns",  "waited_ns", "bytes", "lines",
                                      "trip_ns", "links_ns", "home_ns"};

static void fabric_csv(FILE *file)
{
    struct fabric_report *r = report();

    pthread_mutex_lock(&r->lock);
    const double ns = gather(r);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        fprintf(file, "%s%s", i ? "," : "", columns[i]);
    fprintf(file, "\ntime,0,0,0,0,1,%.1f,0,0,0,0,0,0\n", ns);
    for (unsigned i = 0; i < r->parts; i++) {
        const struct ehp_part *p = &r->shown.part[i];
        fprintf(file, "%s,%u,%u,%u,%u,%u,%.3f,%.3f,%" PRIu64 ",%" PRIu64 ",%.3f,%.3f,%.3f\n", kinds[p->kind],
                p->package, p->iod, p->to, p->index, p->units, p->busy_ns, p->waited_ns, p->bytes, p->lines,
                p->trip_ns, p->links_ns, p->home_ns);
    }
    pthread_mutex_unlock(&r->lock);
}

static void fabric_json(FILE *file)
{
    struct fabric_report *r = report();

    pthread_mutex_lock(&r->lock);
    fprintf(file, "{\"ns\": %.1f, \"parts\": [\n", gather(r));
    for (unsigned i = 0; i < r->parts; i++) {
        const struct ehp_part *p = &r->shown.part[i];
        fprintf(
            file,
            "  {\"kind\": \"%s\", \"package\": %u, \"iod\": %u, \"to\": %u, \"index\": %u, \"units\": %u, "
            "\"busy_ns\": %.3f, \"waited_ns\": %.3f, \"bytes\": %" PRIu64 ", \"lines\": %" PRIu64
            ", \"trip_ns\": %.3f, \"links_ns\": %.3f, \"home_ns\": %.3f}%s\n",
            kinds[p->kind], p->package, p->iod, p->to, p->index, p->units, p->busy_ns, p->waited_ns, p->bytes,
            p->lines, p->trip_ns, p->links_ns, p->home_ns, i + 1 < r->parts ? "," : "");
    }
    fputs("]}\n", file);
    pthread_mutex_unlock(&r->lock);
}

static void print_name(FILE *file, const struct ehp_part *p, bool packages)
{
    char text[40], name[64];

    switch (p->kind) {
    case EHP_PART_LINK:
        snprintf(text, sizeof text, "link %c to %c", 'A' + (char)p->iod, 'A' + (char)p->to);
        break;
    case EHP_PART_INGRESS:
        snprintf(text, sizeof text, "into IOD %c", 'A' + (char)p->iod);
        break;
    case EHP_PART_CACHE:
        snprintf(text, sizeof text, "slices of IOD %c", 'A' + (char)p->iod);
        break;
    case EHP_PART_HBM:
        snprintf(text, sizeof text, "HBM stack %u, IOD %c", p->index, 'A' + (char)p->iod);
        break;
    default:
        snprintf(text, sizeof text, "%s %s %u, IOD %c", p->kind % 2 ? "into" : "out of",
                 p->kind <= EHP_PART_XCD_IN   ? "XCD"
                 : p->kind <= EHP_PART_CCD_IN ? "CCD"
                                              : "SDMA",
                 p->index, 'A' + (char)p->iod);
        break;
    }
    static_assert(EHP_PART_XCD_OUT % 2 == 0 && EHP_PART_CCD_OUT % 2 == 0 && EHP_PART_SDMA_OUT % 2 == 0,
                  "what comes in is odd");
    if (packages)
        snprintf(name, sizeof name, "package %u: %s", p->package, text);
    fprintf(file, "  %-34s", packages ? name : text);
}

static void fabric_table(FILE *file)
{
    struct fabric_report *r = report();

    pthread_mutex_lock(&r->lock);
    const double ns = gather(r);
    const bool packages = r->parts && r->shown.part[r->parts - 1].package;
    fprintf(file, "links, ports, caches and memory in %.3f us:\n  %-34s %6s %10s %14s %10s\n", ns / 1e3,
            "part", "busy", "GB/s", "waited, us", "read, ns");
    for (unsigned i = 0; i < r->parts && ns > 0; i++) {
        const struct ehp_part *p = &r->shown.part[i];
        if (!(p->busy_ns > 0))
            continue;
        print_name(file, p, packages);
        fprintf(file, " %5.1f%% %10.1f %14.1f", 100 * p->busy_ns / ns, (double)p->bytes / ns,
                p->waited_ns / 1e3);
        if (p->lines)
            fprintf(file, " %10.1f", p->trip_ns / (double)p->lines);
        fputc('\n', file);
    }
    pthread_mutex_unlock(&r->lock);
}

bool hip_fabric_init(struct hip_runtime *runtime)
{
    struct fabric_report *r = report();
    struct ehp_part part = EHP_PART_INIT;
    const char *where = secure_getenv("EHP_FABRIC");

    if (!where || !*where || !runtime->timing)
        return true;
    while (ehp_part_get(runtime->machine, r->parts, &part) == EHP_OK)
        r->parts++;
    struct fabric_look *looks[] = {&r->start, &r->sum, &r->shown};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (!(looks[i]->part = calloc(r->parts, sizeof *looks[i]->part)))
            return false;
    pthread_mutex_init(&r->lock, NULL);
    look(r, &r->start);
    look(r, &r->sum);
    add(r, &r->sum, &r->sum, -1); /* the parts' names stay */
    r->on = true;
    if (!strcmp(where, "-"))
        return hip_report_add("EHP_FABRIC", NULL, fabric_table);
    return hip_report_add("EHP_FABRIC", where, stats_is_csv(where) ? fabric_csv : fabric_json);
}
