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

/* The others stay in the order in which they were added. */
static inline void remove_first(struct few *few)
{
    few->count--;
    for (unsigned i = few->first; i < few->count; i++)
        few->event[i] = few->event[i + 1];
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

static bool was_posted_before(const struct few_event *a, const struct few_event *b)
{
    return a->window != b->window ? a->window < b->window : a->order < b->order;
}

void few_end(struct port *port)
{
    struct few *few = &port->few;
    few->on = false;
    for (unsigned i = 1; i < few->count; i++) { /* most are in order */
        const struct few_event e = few->event[i];
        unsigned at = i;
        for (; at && was_posted_before(&e, &few->event[at - 1]); at--)
            few->event[at] = few->event[at - 1];
        few->event[at] = e;
    }
    for (unsigned i = 0; i < few->count; i++) {
        const struct few_event *e = &few->event[i];
        domain_begin(e->to, port->time_ps);
        *domain_insert(e->to, e->cycle) = e->event;
    }
    few->count = 0;
    few->posts = 0;
}
