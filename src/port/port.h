/* SPDX-License-Identifier: MIT */
/*
 * Simulated time: what happens when, on as many host threads as there are.
 *
 * The package is cut into domains: each XCD, each IOD, and the host side.  A
 * domain has a clock, a queue of events in that clock's cycles, and state that
 * nobody else touches.  Domains speak to each other only by events that
 * arrive no sooner than the shortest link between any two of them: the
 * lookahead.  So all domains can be run independently, on any thread, through
 * a window of that length; then events that crossed are delivered, in an order
 * that depends on nothing but the simulation.  The same input gives the same
 * cycles for every number of threads.
 *
 * Events of one cycle happen in the order in which they were posted.  Those
 * from other domains count as posted at the end of the window in which they
 * were sent, in order of the sending domain's number, then of sending.
 *
 * Units: cycles of the domain's clock for everything inside of a domain;
 * picoseconds between domains.
 *
 * Threads: an event's function may use its own domain only, and port_send() to
 * others.  Everything else is called while no window is running.
 */
#ifndef EHP_PORT_PORT_H
#define EHP_PORT_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PORT_NEVER UINT64_MAX

struct port;
struct port_domain;

/* What happens.  `self` and the words are the receiver's and mean what the function says they mean. */
struct port_event {
    void (*fn)(struct port_domain *domain, struct port_event *event);
    void *self;
    uint64_t word[4];
};
typedef void port_fn(struct port_domain *domain, struct port_event *event);

/* One resource that is busy for a time with each thing that passes it, in order of asking. */
struct port_server {
    uint64_t free; /* first cycle at which it can take something */
};

/* What a host thread brings to the events that it runs; port_thread() gives it to them. */
struct port_hooks {
    void *(*enter)(void *context, unsigned thread); /* on the thread, when it starts */
    void (*leave)(void *context, void *thread);
    void *context;
};

enum { PORT_DOMAINS = 192 };
/*
 * Of up to PORT_DOMAINS.  Thread 0 is whoever calls port_run(); it is entered at each call.
 * `lookahead_ps`: the shortest time in which anything travels between domains.
 * NULL when memory is short.
 */
struct port *port_open(unsigned domains, uint64_t lookahead_ps, unsigned threads,
                       const struct port_hooks *hooks);
void port_close(struct port *port);

/* Where the time of thread 0 goes in port_run(), of the host's own. */
enum port_part {
    PORT_BETWEEN, /* windows, in which no other thread has anything to do, */
    PORT_WITHIN,  /* running domains, */
    PORT_WAITING, /* and for other threads to have run theirs */
    PORT_PARTS
};
struct port_times {
    uint64_t windows, ns[PORT_PARTS];
};
/* Adds to `times` from now on; NULL: no more.  Not while it runs. */
void port_measure(struct port *port, struct port_times *times);

struct port_domain *port_domain(struct port *port, unsigned index);
void port_set_clock(struct port_domain *domain, double mhz);
unsigned port_index(const struct port_domain *domain);
void *port_thread(const struct port_domain *domain); /* of the thread that runs its events now */

/* The beginning of a domain: its clock.  Everybody asks it all the time. */
struct port_clock {
    uint64_t now, now_ps;
    double cycles_per_ps, ps_per_cycle;
};
static inline const struct port_clock *port_clock(const struct port_domain *domain)
{
    return (const struct port_clock *)domain;
}

/* The cycle that is being executed, or executed last, and when it begins. */
static inline uint64_t port_now(const struct port_domain *domain)
{
    return port_clock(domain)->now;
}
static inline uint64_t port_now_ps(const struct port_domain *domain)
{
    return port_clock(domain)->now_ps;
}

/* Cycles and picoseconds since the machine was opened: the time at which a cycle begins, and the first cycle
 * that begins at `ps` or later. */
static inline uint64_t port_ps_of(const struct port_domain *domain, uint64_t cycle)
{
    return (uint64_t)(int64_t)((double)(int64_t)cycle * port_clock(domain)->ps_per_cycle);
}
static inline uint64_t port_cycle_of(const struct port_domain *domain, uint64_t ps)
{
    uint64_t cycle = (uint64_t)(int64_t)((double)(int64_t)ps * port_clock(domain)->cycles_per_ps);
    if (port_ps_of(domain, cycle) < ps) { /* rounding of the product, and the rest of a cycle */
        do
            cycle++;
        while (port_ps_of(domain, cycle) < ps);
    } else {
        while (cycle && port_ps_of(domain, cycle - 1) >= ps)
            cycle--;
    }
    return cycle;
}

/*
 * Posts an event to one's own domain, at `cycle` (not before now).  The caller may
 * fill its words until it posts or sends the next.  Never fails: aborts when the
 * host has no memory.
 */
struct port_event *port_post(struct port_domain *domain, uint64_t cycle, port_fn *fn, void *self);

/* Posts an event to another domain, `delay_ps` from now; not less than the lookahead. */
struct port_event *port_send(struct port_domain *from, struct port_domain *to, uint64_t delay_ps, port_fn *fn,
                             void *self);

/*
 * Asks the host's memory for what an event needs, shortly before it runs.  Of the events of a
 * few cycles each comes to stage 0, then each to stage 1, and so on, so that what one stage
 * has asked for is there to be read in the next.  It changes nothing.
 */
enum { PORT_STAGES = 4, PORT_PREFETCHERS = 16 };
typedef bool port_prefetch_fn(const struct port_event *event, unsigned stage); /* whether it has another */
/* For events of `fn` in a domain, of up to PORT_PREFETCHERS functions. */
void port_set_prefetch(struct port_domain *domain, port_fn *fn, port_prefetch_fn *prefetch);
/* A line of the host's.  The assembly is empty, but a side effect: compilers take a function that has none
 * for pure, and drop calls of it. */
static inline void port_prefetch_line(const void *what)
{
    __builtin_prefetch(what);
    __asm__ volatile("");
}
static inline void port_prefetch(const void *what, unsigned bytes)
{
    for (unsigned at = 0; at < bytes; at += 64)
        port_prefetch_line((const char *)what + at);
}

/*
 * Runs until nothing is left to happen, `until_ps` is reached, or `stop` returns
 * true (asked after every window, on the calling thread).  Windows are whole, so that
 * `until_ps` has no part in the order of events: the last one may end after it.
 * Returns the time reached: of the last window's end, or `until_ps` if nothing happens until then.
 */
uint64_t port_run(struct port *port, uint64_t until_ps, bool (*stop)(void *context), void *context);

/* Time of the earliest event, PORT_NEVER when there is none. */
uint64_t port_next_ps(struct port *port);
/* No event before this can happen any more. */
uint64_t port_time_ps(const struct port *port);

/* Takes the server at `cycle` or when it is free, for `busy` cycles; returns when it was taken. */
static inline uint64_t port_take(struct port_server *server, uint64_t cycle, uint64_t busy)
{
    uint64_t start = server->free > cycle ? server->free : cycle;
    server->free = start + busy;
    return start;
}

#endif
