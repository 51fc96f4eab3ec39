/* SPDX-License-Identifier: MIT */
/* Counters of a dispatch: from the XCDs, and by name; see counters.h and counters.def. */
#include "cp/counters.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cp/sim.h"
#include "soc/machine.h"
#include "vm/vm.h"

/* ---- from the XCDs ---- */

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

void counters_open(struct cp_dispatch *d)
{
    if (d->machine->stats.enabled || d->machine->dispatch_fn)
        d->counters = calloc(d->xccs + 1, sizeof(*d->counters)); /* none: it is not counted */
}

void counters_close(struct cp_dispatch *d)
{
    free(d->counters);
}

void counters_begin(struct cp_dispatch *d, const struct sim_xcd *x)
{
    if (!d->counters)
        return;
    struct ehp_counters *c = &d->counters[x->index - d->first_xcc];
    c->cu = x->cu->counters;
    xcd_mem_read_counters(x->mem, &c->mem);
    c->active = port_now(x->domain);
}

void counters_end(struct cp_dispatch *d, const struct sim_xcd *x)
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
}

/* As functional mode's handlers count. */
static void fill_stats(struct ehp_stats *s, const struct wave_stats *did)
{
    for (int i = 0; i < XC_COUNT; i++)
        s->instructions += did->count[i];
    s->valu = did->count[XC_VALU];
    s->salu = did->count[XC_SALU];
    s->mfma = did->count[XC_MFMA];
    s->vmem = did->count[XC_VMEM];
    s->smem = did->count[XC_SMEM];
    s->lds = did->count[XC_LDS];
    s->flat_scratch = did->count[XC_FLAT_SCRATCH];
    s->branch = did->count[XC_BRANCH];
    s->other = did->count[XC_OTHER];
    s->lanes_valu = did->lanes_valu;
    s->bytes_read = did->bytes_read;
    s->bytes_written = did->bytes_written;
    s->lds_bytes = did->lds_bytes;
    s->scratch_bytes = did->scratch_bytes;
    s->atomics = did->atomics;
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

void counters_finish(struct cp_dispatch *d)
{
    if (!d->counters)
        return;
    struct ehp_machine *m = d->machine;
    const struct sim *sim = m->cp.sim;
    struct ehp_counters *sum = &d->counters[d->xccs];
    uint64_t longest = 0;
    for (unsigned i = 0; i < d->xccs; i++) {
        counters_add(sum, &d->counters[i]);
        if (d->counters[i].longest > longest)
            longest = d->counters[i].longest;
    }
    if (d->stats.detailed_workgroups) {
        scale(sum, (double)d->total / (double)d->stats.detailed_workgroups);
        longest = (uint64_t)((double)(cp_now_ns(m) - d->start_ns) * m->chip.value[CHIP_chip_clock] / 1000);
        sum->active = longest * d->xccs;
    }
    sum->longest = longest;
    sum->xcds = d->xccs;
    sum->engines = sim->xcd[d->first_xcc].cu->engines;
    sum->cus = sim->xcd[d->first_xcc].cu->cus;
    sum->simds = sim->xcd[d->first_xcc].cu->simds;
    fill_stats(&d->stats, &sum->cu.did);
    d->stats.counters = sum;
    if (!m->dispatch_fn)
        return;
    struct ehp_dispatch report = {.size = sizeof(report),
                                  .id = d->serial,
                                  .kernel = d->kernel,
                                  .agent = d->queue->agent,
                                  .lds_bytes = d->launch.lds_bytes,
                                  .vgprs = d->vgprs,
                                  .sgprs = d->sgprs,
                                  .start_ns = d->start_ns,
                                  .end_ns = cp_now_ns(m),
                                  .counters = sum};
    memcpy(report.grid, d->stats.grid, sizeof(report.grid));
    memcpy(report.block, d->stats.block, sizeof(report.block));
    m->dispatch_fn(&report, m->dispatch_user);
}

int ehp_set_dispatch_handler(ehp_machine *m, ehp_dispatch_fn *fn, void *user)
{
    if (!m->timing)
        return machine_error(m, EHP_ERR_UNSUPPORTED,
                             "dispatches are counted in simulated time: open the machine with .timing");
    m->dispatch_user = user;
    m->dispatch_fn = fn;
    return EHP_OK;
}

/* ---- by name ---- */

static double ratio(double a, double b)
{
    return b != 0 ? a / b : 0;
}

#define CU(field)     ((double)c->cu.field)
#define MEM(field)    ((double)c->mem.field)
#define ON(field)     ((double)c->field)
#define V(name)       value_##name(c)
#define RATIO(a, b)   ratio(a, b)
#define QUADS(cycles) floor((cycles) / 4)
#define VMEM(kind)    (CU(vmem[CU_FLAT][kind]) + CU(vmem[CU_BUFFER][kind]))
#define VALUE(name)   value_##name

#define COUNTER(name, block, expression, help)     static double VALUE(name)(const struct ehp_counters *c);
#define COUNTER_SUM(name, block, expression, help) COUNTER(name, block, expression, help)
#define DERIVED(name, expression, help)            COUNTER(name, , expression, help)
#include "cp/counters.def"
#undef COUNTER
#define COUNTER(name, block, expression, help)                                                               \
    static double VALUE(name)(const struct ehp_counters *c)                                                  \
    {                                                                                                        \
        (void)c;                                                                                             \
        return expression;                                                                                   \
    }
#include "cp/counters.def"
#undef COUNTER
#undef COUNTER_SUM
#undef DERIVED

static const struct named {
    const char *name, *block, *help;
    double (*value)(const struct ehp_counters *c);
    bool derived;
} named[] = {
#define COUNTER(name, block, expression, help) {#name, #block, help, VALUE(name), false},
#define COUNTER_SUM(name, block, expression, help)                                                           \
    {#name, #block, help, VALUE(name), false}, {#name "_sum", #block, help, VALUE(name), false},
#define DERIVED(name, expression, help) {#name, "derived", help, VALUE(name), true},
#include "cp/counters.def"
};

enum { NAMED = sizeof(named) / sizeof(*named), NEAR = 5, LONGEST = 64 };

unsigned ehp_counter_count(void)
{
    return NAMED;
}

int ehp_counter_at(unsigned index, struct ehp_counter *out)
{
    if (index >= NAMED)
        return EHP_ERR_NOT_FOUND;
    const struct named *n = &named[index];
    struct ehp_counter counter = {
        .size = sizeof(counter), .name = n->name, .block = n->block, .help = n->help, .derived = n->derived};
    size_t size = out->size < sizeof(counter) ? out->size : sizeof(counter);
    memcpy(out, &counter, size);
    out->size = size;
    return EHP_OK;
}

double ehp_counter_value(const ehp_counters *counters, unsigned index)
{
    return index < NAMED ? named[index].value(counters) : 0;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Letters to change, add or leave out, whatever their case; parts of a name are near it. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[LONGEST + 1];
    size_t length = strlen(b);
    for (unsigned j = 0; j <= length; j++)
        row[j] = j;
    for (unsigned i = 0; a[i]; i++) {
        unsigned corner = row[0];
        row[0] = i + 1;
        for (unsigned j = 0; j < length; j++) {
            bool same = tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]);
            unsigned best = smaller(corner + !same, smaller(row[j], row[j + 1]) + 1);
            corner = row[j + 1];
            row[j + 1] = best;
        }
    }
    return strcasestr(b, a) ? smaller(row[length], 1) : row[length];
}

static void add_near(const char *name, char *error, size_t bytes)
{
    bool said[NAMED] = {false};
    const char *between = "; near it: ";
    for (unsigned k = 0; k < NEAR; k++) {
        unsigned best = NAMED, least = (unsigned)strlen(name) / 2 + 1;
        for (unsigned i = 0; i < NAMED; i++) {
            unsigned d = distance(name, named[i].name);
            if (!said[i] && d < least) {
                least = d;
                best = i;
            }
        }
        if (best == NAMED)
            return;
        said[best] = true;
        size_t used = strlen(error);
        snprintf(error + used, bytes - used, "%s%s", between, named[best].name);
        between = ", ";
    }
}

int ehp_counter_find(const char *name, unsigned *index, char *error, size_t bytes)
{
    for (unsigned i = 0; i < NAMED; i++)
        if (strcmp(named[i].name, name) == 0) {
            *index = i;
            return EHP_OK;
        }
    if (error && bytes) {
        char text[LONGEST + 1], room[4 * LONGEST + 1];
        snprintf(text, sizeof(text), "%s", name);
        snprintf(error, bytes, "no counter \"%s\"", ehp_printable(text, room, sizeof(room)));
        if (*name && strlen(name) <= LONGEST)
            add_near(name, error, bytes);
    }
    return EHP_ERR_NOT_FOUND;
}
