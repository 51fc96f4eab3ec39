/* SPDX-License-Identifier: MIT */
/* The events of all domains while there are few of them; see internal.h. */
#include "port/internal.h"

#include <stdlib.h>

#include "base/must.h"

enum { ORDER_POSTS = 48 }; /* bits */
static_assert(PORT_DOMAINS < 1 << (64 - ORDER_POSTS), "a domain's number, and one more, above them");

struct port_event *few_add(struct port_domain *to, uint64_t cycle, unsigned from)
{
    struct few *few = &to->port->few;
    if (few->count == few->capacity) {
        few->capacity = few->capacity ? 2 * few->capacity : 32;
        few->event = must(realloc(few->event, few->capacity * sizeof(*few->event)));
    }
    struct few_event *e = &few->event[few->count++];
    e->ps = port_ps_of(to, cycle);
    e->window = few->window;
    e->order = (uint64_t)from << ORDER_POSTS | few->posts++;
    e->to = to;
    e->cycle = cycle;
    return &e->event;
}

static bool is_before(const struct few_event *a, const struct few_event *b)
{
    return a->ps != b->ps           ? a->ps < b->ps
           : a->window != b->window ? a->window < b->window
                                    : a->order < b->order;
}

/* There is one. */
static unsigned find_first(const struct few *few)
{
    unsigned first = 0;
    for (unsigned i = 1; i < few->count; i++)
        first = is_before(&few->event[i], &few->event[first]) ? i : first;
    return first;
}

uint64_t few_soonest_ps(const struct port *port)
{
    return port->few.count ? port->few.event[find_first(&port->few)].ps : PORT_NEVER;
}

void few_run(struct port *port, void *thread)
{
    struct few *few = &port->few;
    port->last_events = 0;
    while (few->count) {
        const unsigned first = find_first(few);
        struct few_event e = few->event[first];
        if (e.ps >= port->window_end)
            return;
        few->event[first] = few->event[--few->count];
        e.to->clock.now = e.cycle;
        e.to->clock.now_ps = e.ps;
        e.to->thread = thread;
        port->last_events++;
        e.event.fn(e.to, &e.event);
        e.to->thread = NULL;
    }
}

void few_begin(struct port *port)
{
    port->few.on = true;
    for (unsigned i = 0; i < port->domains; i++)
        if (port->domain[i]->pending)
            domain_give(port->domain[i]);
}

void few_end(struct port *port)
{
    struct few *few = &port->few;
    few->on = false;
    while (few->count) {
        const unsigned first = find_first(few);
        const struct few_event *e = &few->event[first];
        *domain_insert(e->to, e->cycle) = e->event;
        few->event[first] = few->event[--few->count];
    }
    few->posts = 0;
}
