/* SPDX-License-Identifier: MIT */
/* What keeps a program from being faster on a design, from what was measured; see compare.h. */
#include "compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { FULL = 75 }; /* %, from which on a part is what binds: queues are long then, and bursts meet them */

static bool is(const struct part *p, const char *kind)
{
    return !strcmp(p->kind, kind);
}

static void name_part(const struct part *p, char *name, size_t bytes)
{
    const char a = 'A' + (char)p->iod;
    if (is(p, "link"))
        snprintf(name, bytes, "the link from %c to %c", a, 'A' + (char)p->to);
    else if (is(p, "ingress"))
        snprintf(name, bytes, "what IOD %c takes from others", a);
    else if (is(p, "cache"))
        snprintf(name, bytes, "the Infinity Cache of IOD %c", a);
    else if (is(p, "hbm"))
        snprintf(name, bytes, "HBM stack %u at IOD %c", p->index, a);
    else
        snprintf(name, bytes, "the port %s %s %u", strstr(p->kind, "_out") ? "out of" : "into",
                 strstr(p->kind, "xcd")   ? "XCD"
                 : strstr(p->kind, "ccd") ? "CCD"
                                          : "SDMA engine",
                 p->index);
}

double compare_busy(const struct result *r, const struct part *p)
{
    return 100 * p->busy_ns / r->ns;
}

static const struct part *busiest(const struct result *r, const char *kind)
{
    const struct part *best = NULL;
    for (const struct part *p = r->part; p < r->part + r->parts; p++)
        if ((!kind || is(p, kind)) && (!best || p->busy_ns > best->busy_ns))
            best = p;
    return best && best->busy_ns > 0 ? best : NULL;
}

__attribute__((format(printf, 2, 3))) static void add(struct result *r, const char *format, ...)
{
    const size_t at = strlen(r->why);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->why + at, sizeof(r->why) - at, format, arguments);
    va_end(arguments);
}

/* How busy what people ask about is, of what has not been named. */
static void add_others(struct result *r, const struct part *but)
{
    static const struct {
        const char *kind, *name;
    } kinds[] = {{"link", "links"}, {"hbm", "HBM"}};
    const char *before = "; ";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct part *p = busiest(r, kinds[i].kind);
        if (!p || (but && is(but, kinds[i].kind)))
            continue;
        add(r, "%s%s at most %.0f %%", before, kinds[i].name, compare_busy(r, p));
        before = ", ";
    }
    if (r->matrix >= 1 && r->matrix < FULL)
        add(r, "%smatrix cores %.0f %%", before, r->matrix);
}

/* Of those of one kind of asker who asked most. */
static void add_trip(struct result *r)
{
    static const char *const kinds[] = {"xcd_in", "ccd_in"};
    double most = 0, ns = 0, links = 0, home = 0;
    const char *who = "";
    for (size_t i = 0; i < 2; i++) {
        double lines = 0, sum[3] = {0};
        for (const struct part *p = r->part; p < r->part + r->parts; p++)
            if (is(p, kinds[i])) {
                lines += p->lines;
                sum[0] += p->trip_ns;
                sum[1] += p->links_ns;
                sum[2] += p->home_ns;
            }
        if (lines <= most)
            continue;
        most = lines;
        ns = sum[0] / lines;
        links = sum[1] / lines;
        home = sum[2] / lines;
        who = i ? "a CCD's" : "an XCD's";
    }
    if (most > 0)
        add(r,
            "; %s read takes %.0f ns: %.0f over links, %.0f in memory and its cache, %.0f in networks and "
            "waits on the way",
            who, ns, links, home, ns - links - home);
}

/* For what lines waited most, where that is long. */
static void add_wait(struct result *r)
{
    enum { LONG = 50 }; /* ns */
    const struct part *worst = NULL;
    char name[64];
    for (const struct part *p = r->part; p < r->part + r->parts; p++)
        if (p->bytes > 0 && (!worst || p->waited_ns > worst->waited_ns))
            worst = p;
    if (!worst || worst->waited_ns / (worst->bytes / 128) < LONG)
        return;
    name_part(worst, name, sizeof(name));
    add(r, "; lines wait most for %s, %.0f ns each", name, worst->waited_ns / (worst->bytes / 128));
}

/* Whose misses take most of the room that there is for them: lines under way, on average (Little). */
static const struct part *most_missing(const struct design *d, const struct result *r, double *percent)
{
    const struct part *best = NULL;
    *percent = 0;
    for (const struct part *p = r->part; p < r->part + r->parts; p++) {
        const double room = is(p, "xcd_in") ? d->xcd_misses : is(p, "ccd_in") ? d->ccd_misses : 0;
        if (room > 0 && 100 * p->trip_ns / r->ns / room > *percent) {
            *percent = 100 * p->trip_ns / r->ns / room;
            best = p;
        }
    }
    return best;
}

/* What binds, from what was measured. */
void compare_explain(const struct design *d, struct result *r, bool whole)
{
    const struct part *p = busiest(r, NULL);
    double missing;
    const struct part *asker = most_missing(d, r, &missing);
    char name[64];
    if (whole)
        add(r, "kernels run for %.0f %% of it; ", fmin(100, 100 * r->kernels_ns / r->ns));
    if (r->matrix >= FULL || r->vector >= FULL) {
        add(r, "%s are full: %.0f %% busy", r->matrix >= r->vector ? "matrix cores" : "vector ALUs",
            fmax(r->matrix, r->vector));
        add_others(r, NULL);
    } else if (p && compare_busy(r, p) >= FULL) {
        name_part(p, name, sizeof(name));
        add(r, "%s is full: %.0f %% busy", name, compare_busy(r, p));
        if (p->bytes > 0)
            add(r, ", a line waits %.0f ns for it", p->waited_ns / (p->bytes / 128));
        add_others(r, p);
    } else if (missing >= FULL) {
        add(r, "%s %u has no room for more misses: %.0f %% of %.0f",
            is(asker, "xcd_in") ? "the L2 of XCD" : "CCD", asker->index, missing,
            is(asker, "xcd_in") ? d->xcd_misses : d->ccd_misses);
        add_trip(r);
    } else {
        add(r, "no part is full");
        if (p && compare_busy(r, p) >= 1) {
            name_part(p, name, sizeof(name));
            add(r, " (%s %.0f %%)", name, compare_busy(r, p));
        }
        add_trip(r);
        add_wait(r);
    }
    if (r->memory >= 1)
        add(r, "; waves wait for memory %.0f %% of their time", r->memory);
}
