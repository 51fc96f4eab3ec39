/* SPDX-License-Identifier: MIT */
/* The events of all domains while there are few of them; see internal.h. */
#include "port/internal.h"

#include <stdlib.h>

#include "base/must.h"

enum { ORDER_POSTS = 48 }; /* bits */
static_assert(PORT_DOMAINS < 1 << (64 - ORDER_POSTS), "a domain's number, and one more, above them");

static inline bool is_before(const struct few_event *a, const struct few_event *b)
{
    return a->ps != b->ps           ? a->ps < b->ps
           : a->window != b->window ? a->window < b->window
                                    : a->order < b->order;
}

static __attribute__((noinline)) void grow(struct few *few)
{
    few->capacity = few->capacity ? 2 * few->capacity : 32;
    few->event = must(realloc(few->event, few->capacity * sizeof(*few->event)));
}

struct port_event *few_add(struct port_domain *to, uint64_t cycle, unsigned from)
{
    struct few *few = &to->port->few;
    if (few->count == few->capacity)
        grow(few);
    struct few_event *e = &few->event[few->count];
    e->ps = port_ps_of(to, cycle);
    e->window = few->window;
    e->order = (uint64_t)from << ORDER_POSTS | few->posts++;
    e->to = to;
    e->cycle = cycle;
    if (!few->count || is_before(e, &few->event[few->first]))
        few->first = few->count;
    few->count++;
    return &e->event;
}

/* The first is done with. */
static inline void remove_first(struct few *few)
{
    few->event[few->first] = few->event[--few->count];
    few->first = 0;
    for (unsigned i = 1; i < few->count; i++)
        few->first = is_before(&few->event[i], &few->event[few->first]) ? i : few->first;
}

void few_run(struct port *port, void *thread)
{
    struct few *few = &port->few;
    uint64_t ran = 0;
    for (; few_soonest_ps(few) < port->window_end; ran++) {
        const struct few_event *first = &few->event[few->first];
        struct port_domain *to = first->to;
        struct port_event event = first->event;
        to->clock.now = first->cycle;
        to->clock.now_ps = first->ps;
        to->thread = thread;
        remove_first(few);
        event.fn(to, &event);
        to->thread = NULL;
    }
    port->last_events = ran;
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
    for (; few->count; remove_first(few)) {
        const struct few_event *e = &few->event[few->first];
        *domain_insert(e->to, e->cycle) = e->event;
    }
    few->posts = 0;
}
