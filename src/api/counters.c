/* SPDX-License-Identifier: MIT */
/* Counters by the profiler's names; see counters.def. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/distance.h"
#include "ehp/ehp.h"
#include "engine/timed/count.h"
#include "vm/vm.h"

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
#include "api/counters.def"
#undef COUNTER
#define COUNTER(name, block, expression, help)                                                               \
    static double VALUE(name)(const struct ehp_counters *c)                                                  \
    {                                                                                                        \
        (void)c;                                                                                             \
        return expression;                                                                                   \
    }
#include "api/counters.def"
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
#include "api/counters.def"
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

/* Parts of a name are near it. */
static unsigned distance(const char *a, const char *b)
{
    return strcasestr(b, a) ? 1 : word_distance(a, b);
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
