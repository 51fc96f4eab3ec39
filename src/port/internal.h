/* SPDX-License-Identifier: MIT */
/* What domains (domain.c) and the windows in which they run (port.c) have of each other; see port.h. */
#ifndef PORT_INTERNAL_H
#define PORT_INTERNAL_H

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "port/port.h"

/*
 * An event within HORIZON cycles of the window's start is in the wheel, with a bucket
 * for each cycle; later ones are in a heap until they come near.
 */
enum { WHEEL = 2048, HORIZON = WHEEL / 2, WORDS = WHEEL / 64, AHEAD = 8, EVENTS_AHEAD = 256 };

enum { PREFETCH_PLACES = 4 * PORT_PREFETCHERS };

/*
 * Events lie side by side, in the order in which they are run: the host reads them as it reads
 * an array.  A chunk that is done with is the next to be used, and so in the host's cache.
 */
enum { CHUNK_EVENTS = 5, CHUNK_SENT = 4, CHUNKS = 256 };

struct chunk {
    alignas(256) struct chunk *next; /* but for the last one of a bucket */
    alignas(16) struct port_event event[CHUNK_EVENTS];
};
static_assert(sizeof(struct chunk) == 256 && CHUNK_EVENTS * sizeof(struct port_event) == 240,
              "an event's end is a chunk's, and that an aligned address");

struct bucket {
    struct chunk *first;
    struct port_event *end; /* behind the last */
};

/* What was sent in a window: the receiver takes it when it runs in the next one. */
struct sent {
    alignas(64) struct sent *next;
    unsigned count;
    struct {
        uint64_t cycle; /* of the receiver's */
        struct port_event event;
    } at[CHUNK_SENT];
};

struct outbox {
    struct sent *first, *last; /* last: the one to be filled; those behind it are spare */
    uint64_t soonest;          /* cycle of the receiver's */
};

struct far {
    uint64_t cycle, order;
    struct port_event event;
};

struct chunks {
    struct chunk chunk[CHUNKS];
    struct chunks *next;
};

enum { SET_WORDS = PORT_DOMAINS / 64 };
static_assert(PORT_DOMAINS % 64 == 0, "whole words");

/* Of domains, a bit for each. */
struct domain_set {
    uint64_t word[SET_WORDS];
};

struct port_domain {
    alignas(64) struct port_clock clock; /* first: port_clock() */
    struct port *port;
    unsigned index;
    void *thread;
    uint64_t limit;         /* events from this cycle on go to the heap */
    uint64_t pending;       /* events in wheel and heap */
    uint64_t ran;           /* events run, ever */
    uint64_t next;          /* a cycle before which the wheel is empty */
    bool *changed, *sends;  /* of the port's */
    struct domain_set to;   /* it has sent to, since the last window's end */
    struct domain_set from; /* what it has not received: who sent that, */
    uint64_t from_soonest;  /* and the first cycle of it */
    struct chunk *spare;
    struct chunks *chunks;
    struct far *heap; /* by cycle, then by order of posting */
    size_t heap_count, heap_capacity;
    uint64_t heap_posts;
    struct outbox *outbox; /* for each domain, of even windows, then of odd ones */
    struct {
        port_fn *fn;
        port_prefetch_fn *ask;
    } prefetcher[PREFETCH_PLACES]; /* by fn; from its place on up to a free one */
    unsigned expects;
    uint64_t set[WORDS];
    uint32_t words; /* of them that are not 0, a bit each */
    static_assert(WORDS == 32, "a bit each");
    struct bucket bucket[WHEEL];
};

/*
 * While there are few events in all domains together they are in one list, of which the soonest is looked
 * for: no wheels, boxes or domains are gone through for them.  Windows are as they would be, and so is the
 * order of what is of one domain's cycle: by the window in which it was posted; of one window what domains
 * have posted to themselves comes first, then what they have sent, by the senders; then as it was posted.
 */
struct few {
    bool on;         /* set between windows */
    uint64_t window; /* the windows' number so far */
    unsigned count, capacity;
    unsigned first; /* the soonest, if there is one */
    unsigned calm;  /* windows in a row, while it is not on */
    struct few_event {
        uint64_t ps, window, order; /* order: above the posts' number, the sender's plus 1, or 0 */
        struct port_domain *to;
        uint64_t cycle;
        struct port_event event;
    } *event;
    uint64_t posts;
};

struct port {
    unsigned domains, threads;
    uint64_t lookahead_ps, time_ps;
    struct port_domain **domain;
    struct port_hooks hooks;
    struct port_times *times; /* NULL: nobody wants to know */
    uint64_t passed_ns;
    /* The window being run. */
    uint64_t window_end;
    unsigned active_count;
    struct port_domain **active;
    /* By domains, as all are looked at between any two windows: the time of the earliest event, as of the
     * last window's end, unless it has run since, or has more; and who has sent something since. */
    uint64_t soonest_ps[PORT_DOMAINS];
    alignas(64) bool changed[PORT_DOMAINS];
    alignas(64) bool sends[PORT_DOMAINS];
    struct domain_set busy;      /* those with events */
    struct domain_set receivers; /* that have not received all, by the last collect() */
    struct few few;
    unsigned odd;                                 /* 1: it is */
    uint64_t last_events;                         /* run in the last window */
    alignas(64) _Atomic uint64_t left[SET_WORDS]; /* domains that nobody has taken, a bit for each */
    alignas(64) _Atomic unsigned finished;
    alignas(64) _Atomic uint64_t epoch;
    _Atomic bool quit;
    _Atomic unsigned sleepers;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t *thread;
    unsigned started;
};

static inline void set_now(struct port_domain *domain, uint64_t cycle)
{
    domain->clock.now = cycle;
    domain->clock.now_ps = port_ps_of(domain, cycle);
}

static inline struct outbox *outbox_of(struct port_domain *from, const struct port_domain *to, unsigned odd)
{
    return &from->outbox[odd * from->port->domains + to->index];
}

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The first cycle with an event in the wheel at or after d->next; PORT_NEVER when the wheel is empty. */
static inline uint64_t wheel_next(struct port_domain *d)
{
    if (d->pending == d->heap_count)
        return PORT_NEVER;
    unsigned slot = (unsigned)(d->next % WHEEL);
    uint64_t word = d->set[slot / 64] >> slot % 64;
    if (word) {
        d->next += (unsigned)__builtin_ctzll(word);
        return d->next;
    }
    const unsigned from = slot / 64 + 1;
    const uint32_t words = d->words >> from % WORDS | d->words << (WORDS - from) % WORDS;
    assert(words); /* an event is in the wheel */
    const unsigned skipped = (unsigned)__builtin_ctz(words);
    word = d->set[(from + skipped) % WORDS];
    d->next += 64 - slot % 64 + 64 * (uint64_t)skipped + (unsigned)__builtin_ctzll(word);
    return d->next;
}

static inline uint64_t next_cycle(struct port_domain *d)
{
    return sooner(wheel_next(d), d->heap_count ? d->heap[0].cycle : PORT_NEVER);
}

/* Nothing is left before that, and nothing comes: where it has no events, the wheel begins there. */
void domain_begin(struct port_domain *domain, uint64_t ps);
struct port_event *domain_insert(struct port_domain *domain, uint64_t cycle);
/* All of its events, but what it has not received, become some of the few. */
void domain_give(struct port_domain *domain);
/* What was sent to it in the windows that are odd, or not, as collect() has found. */
void domain_receive(struct port_domain *domain, unsigned odd);
/* Its events before that time. */
void domain_run(struct port_domain *domain, uint64_t end_ps, void *thread);

static inline uint64_t few_soonest_ps(const struct few *few)
{
    return few->count ? few->event[few->first].ps : PORT_NEVER;
}

/* few.c */
/* By the domain with that number, less 1; 0: by itself. */
struct port_event *few_add(struct port_domain *to, uint64_t cycle, unsigned from);
/* Those of the window, in which each domain's come in their order. */
void few_run(struct port *port, void *thread);
/* They become few, between windows, when all is received; and many again. */
void few_begin(struct port *port);
void few_end(struct port *port);

#endif
