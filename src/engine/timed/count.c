/* SPDX-License-Identifier: MIT */
/* What a dispatch did, from the counters of its XCDs; see count.h. */
#include "engine/timed/count.h"

#include <stdlib.h>

#include "engine/timed/timed.h"

static_assert(sizeof(struct cu_counters) % sizeof(uint64_t) == 0, "words and nothing else");
static_assert(sizeof(struct mem_counters) % sizeof(uint64_t) == 0, "words and nothing else");

/* `to` becomes what it is and `more`, or what `more` has beyond it. */
static void combine(void *to, const void *more, size_t bytes, bool difference)
{
    uint64_t *a = to;
    const uint64_t *b = more;
    for (size_t i = 0; i < bytes / sizeof(*a); i++)
        a[i] = difference ? b[i] - a[i] : a[i] + b[i];
}

void count_open(struct cp_dispatch *d)
{
    if (d->cp->counts)
        d->counters = calloc(d->xccs + 1, sizeof(*d->counters)); /* none: it is not counted */
}

void count_close(struct cp_dispatch *d)
{
    free(d->counters);
}

void count_begin(struct cp_dispatch *d, const struct timed_xcd *x)
{
    if (!d->counters)
        return;
    struct ehp_counters *c = &d->counters[x->index - d->first_xcc];
    c->cu = x->cu->counters;
    xcd_mem_read_counters(x->mem, &c->mem);
    c->active = port_now(x->domain);
}

void count_end(struct cp_dispatch *d, const struct timed_xcd *x)
{
    if (!d->counters)
        return;
    struct ehp_counters *c = &d->counters[x->index - d->first_xcc];
    struct mem_counters mem;
    xcd_mem_read_counters(x->mem, &mem);
    combine(&c->cu, &x->cu->counters, sizeof(c->cu), true);
    combine(&c->mem, &mem, sizeof(c->mem), true);
    c->active = port_now(x->domain) - c->active;
    c->longest = c->active;
}

void counters_add(struct ehp_counters *to, const struct ehp_counters *more)
{
    combine(&to->cu, &more->cu, sizeof(to->cu), false);
    combine(&to->mem, &more->mem, sizeof(to->mem), false);
    to->active += more->active;
    to->longest += more->longest;
    to->xcds = more->xcds;
    to->engines = more->engines;
    to->cus = more->cus;
    to->simds = more->simds;
    to->slots = more->slots;
}

/* What a part of the workgroups did as if it were all of them. */
static void scale(struct ehp_counters *c, double by)
{
    uint64_t *part[] = {(uint64_t *)&c->cu, (uint64_t *)&c->mem};
    const size_t words[] = {sizeof(c->cu) / sizeof(uint64_t), sizeof(c->mem) / sizeof(uint64_t)};
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < words[k]; i++)
            part[k][i] = (uint64_t)((double)part[k][i] * by + 0.5);
}

void count_finish(const struct timed *timed, struct cp_dispatch *d)
{
    if (!d->counters)
        return;
    struct ehp_counters *sum = &d->counters[d->xccs];
    uint64_t longest = 0;
    for (unsigned i = 0; i < d->xccs; i++) {
        counters_add(sum, &d->counters[i]);
        if (d->counters[i].longest > longest)
            longest = d->counters[i].longest;
    }
    if (d->stats.detailed_workgroups) {
        scale(sum, (double)d->total / (double)d->stats.detailed_workgroups);
        longest = (uint64_t)((double)(timed_now_ns(timed) - d->start_ns) *
                             d->cp->chip->value[CHIP_chip_clock] / 1000);
        sum->active = longest * d->xccs;
    }
    sum->longest = longest;
    sum->xcds = d->xccs;
    sum->engines = timed->xcd[d->first_xcc].cu->engines;
    sum->cus = timed->xcd[d->first_xcc].cu->cus;
    sum->simds = timed->xcd[d->first_xcc].cu->simds;
    sum->slots = d->cp->simd_waves;
    cp_dispatch_count(d, &sum->cu.did);
    d->stats.counters = sum;
}
