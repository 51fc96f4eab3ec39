/* SPDX-License-Identifier: MIT */
/* Domains, their event queues, and the windows in which they run; see port.h. */
#include "port/port.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/thread.h"

/*
 * An event within HORIZON cycles of the window's start is in the wheel, with a bucket
 * for each cycle; later ones are in a heap until they come near.
 */
enum { WHEEL = 2048, HORIZON = WHEEL / 2, WORDS = WHEEL / 64, AHEAD = 8, EVENTS_AHEAD = 256 };

enum { PREFETCH_PLACES = 4 * PORT_PREFETCHERS };
/* With fewer events in the wheel than this nothing is asked for ahead: they are run as soon as it would be
 * there. */
enum { ASKING_EVENTS = 5 };

/* Windows with fewer events than this are run on one thread: waking another takes as long. */
enum { PARALLEL_EVENTS = 48 };

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
    /* While one domain alone has events: that one, and the first event that it sends, which is run without
     * its way through boxes, queues and windows if it is the only one of all then. */
    struct port_domain *sole;
    struct {
        struct port_domain *from, *to; /* NULL: there is none */
        uint64_t cycle;
        struct port_event event;
    } single;
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

struct worker {
    struct port *port;
    unsigned index;
};

/* ---- clocks ---- */

static inline void set_now(struct port_domain *domain, uint64_t cycle)
{
    domain->clock.now = cycle;
    domain->clock.now_ps = port_ps_of(domain, cycle);
}

void port_set_clock(struct port_domain *domain, double mhz)
{
    domain->clock.ps_per_cycle = 1e6 / mhz;
    domain->clock.cycles_per_ps = mhz / 1e6;
    set_now(domain, domain->clock.now);
    *domain->changed = true;
}

unsigned port_index(const struct port_domain *domain)
{
    return domain->index;
}

void *port_thread(const struct port_domain *domain)
{
    return domain->thread;
}

struct port_domain *port_domain(struct port *port, unsigned index)
{
    assert(index < port->domains);
    return port->domain[index];
}

/* ---- events ---- */

static struct chunk *chunk_new(struct port_domain *domain)
{
    if (!domain->spare) {
        struct chunks *more = must(aligned_alloc(alignof(struct chunks), sizeof(*more)));
        more->next = domain->chunks;
        domain->chunks = more;
        for (int i = 0; i < CHUNKS; i++) {
            more->chunk[i].next = domain->spare;
            domain->spare = &more->chunk[i];
        }
    }
    struct chunk *chunk = domain->spare;
    domain->spare = chunk->next;
    port_prefetch(domain->spare, sizeof(*chunk)); /* for the next one */
    return chunk;
}

static void chunk_free(struct port_domain *domain, struct chunk *chunk)
{
    chunk->next = domain->spare;
    domain->spare = chunk;
}

/* Its last chunk, which is never empty: `end` then is that chunk's end too. */
static inline bool is_full(const struct bucket *bucket)
{
    return (uintptr_t)bucket->end % sizeof(struct chunk) == 0;
}

/* The events of `chunk`, of which more may be added to the bucket's last one: *last says whether it is that.
 */
static const struct port_event *end_of(const struct bucket *bucket, const struct chunk *chunk, bool *last)
{
    *last = ((((uintptr_t)bucket->end - 1) ^ (uintptr_t)chunk) & ~(uintptr_t)(sizeof(*chunk) - 1)) == 0;
    return *last ? bucket->end : chunk->event + CHUNK_EVENTS;
}

/* The bucket's first chunk, or the next one. */
static void add_chunk(struct port_domain *d, struct bucket *bucket, uint64_t cycle)
{
    struct chunk *chunk = chunk_new(d);
    if (!bucket->first) {
        const unsigned slot = (unsigned)(cycle % WHEEL);
        bucket->first = chunk;
        d->set[slot / 64] |= UINT64_C(1) << slot % 64;
        d->words |= UINT32_C(1) << slot / 64;
        if (cycle < d->next)
            d->next = cycle;
    } else {
        ((struct chunk *)bucket->end - 1)->next = chunk;
    }
    bucket->end = chunk->event;
}

/* An empty bucket's end is no chunk's, but aligned as if one was full. */
static inline struct port_event *wheel_add(struct port_domain *d, uint64_t cycle)
{
    struct bucket *bucket = &d->bucket[cycle % WHEEL];
    if (is_full(bucket))
        add_chunk(d, bucket, cycle);
    return bucket->end++;
}

static bool heap_before(const struct port_domain *d, size_t a, size_t b)
{
    return d->heap[a].cycle != d->heap[b].cycle ? d->heap[a].cycle < d->heap[b].cycle
                                                : d->heap[a].order < d->heap[b].order;
}

static void heap_swap(struct port_domain *d, size_t a, size_t b)
{
    struct far far = d->heap[a];
    d->heap[a] = d->heap[b];
    d->heap[b] = far;
}

static struct port_event *heap_add(struct port_domain *d, uint64_t cycle)
{
    if (d->heap_count == d->heap_capacity) {
        d->heap_capacity = d->heap_capacity ? d->heap_capacity * 2 : 64;
        d->heap = must(realloc(d->heap, d->heap_capacity * sizeof(*d->heap)));
    }
    size_t at = d->heap_count++;
    d->heap[at].cycle = cycle;
    d->heap[at].order = d->heap_posts++;
    for (; at && heap_before(d, at, (at - 1) / 2); at = (at - 1) / 2)
        heap_swap(d, at, (at - 1) / 2);
    return &d->heap[at].event;
}

/* The first of the heap goes to the wheel. */
static void heap_to_wheel(struct port_domain *d)
{
    *wheel_add(d, d->heap[0].cycle) = d->heap[0].event;
    d->heap[0] = d->heap[--d->heap_count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < d->heap_count; child++)
            if (heap_before(d, child, least))
                least = child;
        if (least == at)
            return;
        heap_swap(d, at, least);
        at = least;
    }
}

static struct port_event *insert(struct port_domain *d, uint64_t cycle)
{
    d->pending++;
    *d->changed = true;
    return cycle >= d->limit ? heap_add(d, cycle) : wheel_add(d, cycle);
}

static struct outbox *outbox_of(struct port_domain *from, const struct port_domain *to, unsigned odd)
{
    return &from->outbox[odd * from->port->domains + to->index];
}

static struct port_event *outbox_add(struct outbox *box, uint64_t cycle)
{
    if (!box->last || box->last->count == CHUNK_SENT) {
        struct sent **next = box->last ? &box->last->next : &box->first;
        if (!*next) {
            *next = must(aligned_alloc(64, sizeof(**next)));
            (*next)->next = NULL;
        }
        box->last = *next;
        box->last->count = 0;
    }
    if (cycle < box->soonest)
        box->soonest = cycle;
    unsigned i = box->last->count++;
    box->last->at[i].cycle = cycle;
    return &box->last->at[i].event;
}

struct port_event *port_post(struct port_domain *domain, uint64_t cycle, port_fn *fn, void *self)
{
    assert(cycle >= domain->clock.now);
    struct port_event *event = insert(domain, cycle);
    event->fn = fn;
    event->self = self;
    return event;
}

static struct port_event *send_at(struct port_domain *from, struct port_domain *to, uint64_t cycle)
{
    struct outbox *box = outbox_of(from, to, from->port->odd);
    if (!box->last) {
        *from->sends = true;
        from->to.word[to->index / 64] |= UINT64_C(1) << to->index % 64;
    }
    return outbox_add(box, cycle);
}

/* It is not the only one, and goes its way as others do. */
static void send_single(struct port *port)
{
    if (port->single.to)
        *send_at(port->single.from, port->single.to, port->single.cycle) = port->single.event;
    port->single.to = NULL;
    port->sole = NULL;
}

struct port_event *port_send(struct port_domain *from, struct port_domain *to, uint64_t delay_ps, port_fn *fn,
                             void *self)
{
    struct port *port = from->port;
    assert(from != to && delay_ps >= port->lookahead_ps);
    uint64_t cycle = port_cycle_of(to, from->clock.now_ps + delay_ps);
    struct port_event *event;
    if (port->sole && !port->single.to) {
        port->single.from = from;
        port->single.to = to;
        port->single.cycle = cycle;
        event = &port->single.event;
    } else {
        if (port->sole)
            send_single(port);
        event = send_at(from, to, cycle);
    }
    event->fn = fn;
    event->self = self;
    return event;
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

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_cycle(struct port_domain *d)
{
    return sooner(wheel_next(d), d->heap_count ? d->heap[0].cycle : PORT_NEVER);
}

static unsigned prefetch_place(const struct port_domain *d, port_fn *fn)
{
    unsigned at = (unsigned)((uintptr_t)fn / 16) % PREFETCH_PLACES;
    while (d->prefetcher[at].fn && d->prefetcher[at].fn != fn)
        at = (at + 1) % PREFETCH_PLACES;
    return at;
}

void port_set_prefetch(struct port_domain *domain, port_fn *fn, port_prefetch_fn *prefetch)
{
    assert(domain->expects < PORT_PREFETCHERS);
    domain->expects++;
    unsigned at = prefetch_place(domain, fn);
    domain->prefetcher[at].fn = fn;
    domain->prefetcher[at].ask = prefetch;
}

static port_prefetch_fn *prefetch_of(const struct port_domain *d, port_fn *fn)
{
    return d->prefetcher[prefetch_place(d, fn)].ask;
}

struct prefetching {
    const struct port_event *event;
    port_prefetch_fn *ask;
};

/* Stage 0 of the bucket's events; adds those that have another, and returns how many there are then. */
static unsigned begin_asking(const struct port_domain *d, const struct bucket *bucket,
                             struct prefetching *soon, unsigned count)
{
    bool last = !bucket->first;
    for (const struct chunk *chunk = bucket->first; !last; chunk = chunk->next) {
        const struct port_event *end = end_of(bucket, chunk, &last);
        for (const struct port_event *e = chunk->event; e != end && count < EVENTS_AHEAD; e++) {
            soon[count] = (struct prefetching){e, prefetch_of(d, e->fn)};
            count += soon[count].ask && soon[count].ask(e, 0);
        }
    }
    return count;
}

/* Which of so many cycles, up to AHEAD, have events in the wheel: a bit each, the first one's last. */
static uint64_t cycles_with_events(const struct port_domain *d, uint64_t from, uint64_t cycles)
{
    const unsigned slot = (unsigned)(from % WHEEL), shift = slot % 64;
    uint64_t bits = d->set[slot / 64] >> shift;
    if (shift > 64 - AHEAD)
        bits |= d->set[(slot / 64 + 1) % WORDS] << (64 - shift);
    return bits & ((UINT64_C(1) << cycles) - 1);
}

static void prefetch_events(const struct port_domain *d, uint64_t from)
{
    for (uint64_t left = cycles_with_events(d, from, AHEAD); left; left &= left - 1)
        port_prefetch(d->bucket[(from + (unsigned)__builtin_ctzll(left)) % WHEEL].first,
                      sizeof(struct chunk));
}

/*
 * Brings the events of some cycles, and what they need, into the host's cache.  The events of
 * a chip are spread over more than any cache holds: one after another each would wait for
 * memory several times.
 */
static void ask_ahead(const struct port_domain *d, uint64_t from, uint64_t end)
{
    struct prefetching soon[EVENTS_AHEAD];
    unsigned count = 0;
    prefetch_events(d, end); /* for the next time */
    for (uint64_t left = cycles_with_events(d, from, end - from); left; left &= left - 1)
        count = begin_asking(d, &d->bucket[(from + (unsigned)__builtin_ctzll(left)) % WHEEL], soon, count);
    for (unsigned stage = 1; stage < PORT_STAGES && count; stage++) {
        unsigned left = 0;
        for (unsigned i = 0; i < count; i++) {
            struct prefetching e = soon[i];
            soon[left] = e;
            left += e.ask(e.event, stage);
        }
        count = left;
    }
}

/* What was sent to it in the windows that are odd, or not, as collect() has found. */
static void receive(struct port_domain *d, unsigned odd)
{
    if (d->from_soonest == PORT_NEVER)
        return;
    d->from_soonest = PORT_NEVER;
    for (unsigned w = 0; w < (d->port->domains + 63) / 64; w++) {
        uint64_t from = d->from.word[w];
        d->from.word[w] = 0;
        for (uint64_t left = from; left; left &= left - 1)
            port_prefetch_line(outbox_of(d->port->domain[64 * w + (unsigned)__builtin_ctzll(left)], d, odd));
        for (; from; from &= from - 1) {
            struct outbox *box = outbox_of(d->port->domain[64 * w + (unsigned)__builtin_ctzll(from)], d, odd);
            const struct sent *last = box->last;
            for (const struct sent *sent = box->first;; sent = sent->next) {
                if (sent != last)
                    port_prefetch(sent->next, sizeof(*sent));
                for (unsigned k = 0; k < sent->count; k++)
                    *insert(d, sent->at[k].cycle) = sent->at[k].event;
                if (sent == last)
                    break;
            }
            box->last = NULL;
            box->soonest = PORT_NEVER;
        }
    }
}

/* Those that it posts for the same cycle come to the end of the bucket, and are run as well. */
static void run_bucket(struct port_domain *d, struct bucket *bucket)
{
    bool last = false;
    for (struct chunk *chunk = bucket->first, *next; !last; chunk = next) {
        struct port_event *event = chunk->event;
        for (const struct port_event *end; event != (end = end_of(bucket, chunk, &last));) {
            d->pending -= (uint64_t)(end - event);
            d->ran += (uint64_t)(end - event);
            for (; event != end; event++)
                event->fn(d, event);
        }
        next = chunk->next;
        chunk_free(d, chunk);
    }
    bucket->first = NULL;
    bucket->end = NULL;
}

/* Nothing is left before the first event, be it in wheel, heap, or sent: the wheel begins there. */
static inline void begin_wheel(struct port_domain *d, uint64_t first)
{
    if (d->pending == d->heap_count)
        d->next = first;
    d->limit = first + HORIZON > d->limit ? first + HORIZON : d->limit;
    while (d->heap_count && d->heap[0].cycle < d->limit)
        heap_to_wheel(d);
}

static void run_domain(struct port_domain *d, uint64_t end_ps, void *thread)
{
    uint64_t end = port_cycle_of(d, end_ps);
    d->thread = thread;
    begin_wheel(d, sooner(next_cycle(d), d->from_soonest));
    receive(d, !d->port->odd);
    assert(end <= d->limit);
    uint64_t soon = d->pending - d->heap_count < ASKING_EVENTS ? end : 0;
    if (!soon)
        prefetch_events(d, d->next);
    for (uint64_t cycle; (cycle = wheel_next(d)) < end;) {
        if (cycle >= soon) {
            soon = cycle + AHEAD < end ? cycle + AHEAD : end;
            ask_ahead(d, cycle, soon);
        }
        unsigned slot = (unsigned)(cycle % WHEEL);
        set_now(d, cycle);
        run_bucket(d, &d->bucket[slot]);
        if (!(d->set[slot / 64] &= ~(UINT64_C(1) << slot % 64)))
            d->words &= ~(UINT32_C(1) << slot / 64);
        d->next = cycle + 1;
    }
    *d->changed = true;
    d->thread = NULL;
}

/* ---- threads ---- */

/* The domains that a thread takes first. */
static struct domain_set share_of(const struct port *port, unsigned thread)
{
    struct domain_set share = {{0}};
    for (unsigned i = thread; i < port->domains; i += port->threads)
        share.word[i / 64] |= UINT64_C(1) << i % 64;
    return share;
}

/* A domain that nobody has taken, of `share` if there is one; NULL: none is left. */
static struct port_domain *take_domain(struct port *port, const struct domain_set *share)
{
    for (unsigned any = 0; any < 2; any++)
        for (unsigned w = 0; w < (port->domains + 63) / 64; w++) {
            const uint64_t from = any ? UINT64_MAX : share->word[w];
            for (uint64_t left; (left = atomic_load(&port->left[w]) & from) != 0;) {
                unsigned i = (unsigned)__builtin_ctzll(left);
                if (atomic_fetch_and(&port->left[w], ~(UINT64_C(1) << i)) >> i & 1)
                    return port->domain[64 * w + i];
            }
        }
    return NULL;
}

/*
 * A thread takes the same domains in every window, as its core's caches hold them, and then what others have
 * not come to.  Who has taken a domain may read what the window is, as it does not end before; who has not
 * must not, because the next one may be in preparation.
 */
static void run_share(struct port *port, const struct domain_set *share, void *thread)
{
    for (struct port_domain *d; (d = take_domain(port, share));) {
        run_domain(d, port->window_end, thread);
        atomic_fetch_add(&port->finished, 1);
    }
}

static void *worker_main(void *argument)
{
    struct worker *me = argument;
    struct port *port = me->port;
    void *thread = port->hooks.enter ? port->hooks.enter(port->hooks.context, me->index) : NULL;
    const struct domain_set share = share_of(port, me->index);
    uint64_t seen = 0;
    while (!port->quit) {
        for (int spins = 0; port->epoch == seen && !port->quit && spins < 2000; spins++)
            __builtin_ia32_pause();
        if (port->epoch == seen) {
            pthread_mutex_lock(&port->lock);
            port->sleepers++;
            while (port->epoch == seen && !port->quit)
                pthread_cond_wait(&port->wake, &port->lock);
            port->sleepers--;
            pthread_mutex_unlock(&port->lock);
        }
        seen = port->epoch;
        run_share(port, &share, thread);
    }
    if (port->hooks.leave)
        port->hooks.leave(port->hooks.context, thread);
    free(me);
    return NULL;
}

static void wake_workers(struct port *port)
{
    port->epoch++;
    if (port->sleepers) {
        pthread_mutex_lock(&port->lock);
        pthread_cond_broadcast(&port->wake);
        pthread_mutex_unlock(&port->lock);
    }
}

/* What has passed since it was called last was that part. */
static void passed(struct port *port, enum port_part part)
{
    if (!port->times)
        return;
    uint64_t now = clock_now_ns();
    port->times->ns[part] += now - port->passed_ns;
    port->passed_ns = now;
}

void port_measure(struct port *port, struct port_times *times)
{
    port->times = times;
}

/* A worker that comes late finds nothing to take, or takes part in the next window, from when that is
 * complete. */
static void run_window(struct port *port, void *thread)
{
    uint64_t before = 0, after = 0;
    for (unsigned i = 0; i < port->active_count; i++)
        before += port->active[i]->ran;
    if (port->threads == 1 || port->active_count == 1 || port->last_events < PARALLEL_EVENTS) {
        for (unsigned i = 0; i < port->active_count; i++)
            run_domain(port->active[i], port->window_end, thread);
        passed(port, PORT_WITHIN);
    } else {
        port->finished = 0;
        struct domain_set left = {{0}};
        const struct domain_set share = share_of(port, 0);
        for (unsigned i = 0; i < port->active_count; i++)
            left.word[port->active[i]->index / 64] |= UINT64_C(1) << port->active[i]->index % 64;
        for (unsigned w = 0; w < SET_WORDS; w++)
            atomic_store(&port->left[w], left.word[w]);
        wake_workers(port);
        run_share(port, &share, thread);
        passed(port, PORT_WITHIN);
        for (int spins = 0; port->finished < port->active_count; spins++)
            if (spins < 2000)
                __builtin_ia32_pause();
            else
                sched_yield();
        passed(port, PORT_WAITING);
    }
    for (unsigned i = 0; i < port->active_count; i++)
        after += port->active[i]->ran;
    port->last_events = after - before;
}

/* ---- windows ---- */

/* Eight of the notes by domains, a byte each. */
static uint64_t notes_of(const bool *notes, unsigned eight)
{
    uint64_t word;
    memcpy(&word, &notes[8 * eight], sizeof(word));
    return word;
}

static void note_sent(struct port *port, struct port_domain *d)
{
    *d->sends = false;
    for (unsigned w = 0; w < (port->domains + 63) / 64; w++) {
        port->receivers.word[w] |= d->to.word[w];
        for (uint64_t left = d->to.word[w]; left; left &= left - 1) {
            struct port_domain *to = port->domain[64 * w + (unsigned)__builtin_ctzll(left)];
            const uint64_t cycle = outbox_of(d, to, port->odd)->soonest;
            to->from.word[d->index / 64] |= UINT64_C(1) << d->index % 64;
            to->from_soonest = cycle < to->from_soonest ? cycle : to->from_soonest;
            *to->changed = true;
        }
        d->to.word[w] = 0;
    }
}

/* Between windows: whoever has sent something is known to whom. */
static void collect(struct port *port)
{
    for (unsigned k = 0; k < (port->domains + 7) / 8; k++)
        for (uint64_t left = notes_of(port->sends, k); left; left &= left - 1)
            note_sent(port, port->domain[8 * k + (unsigned)__builtin_ctzll(left) / 8]);
}

/* What was sent in the last window: to those that do not run in the next, as they are when it does not go on
 * (PORT_NEVER: to all). */
static void deliver(struct port *port, uint64_t window_end)
{
    for (unsigned w = 0; w < (port->domains + 63) / 64; w++) {
        for (uint64_t left = port->receivers.word[w]; left; left &= left - 1) {
            const unsigned i = 64 * w + (unsigned)__builtin_ctzll(left);
            if (window_end == PORT_NEVER || port->soonest_ps[i] >= window_end)
                receive(port->domain[i], port->odd);
        }
        port->receivers.word[w] = 0;
    }
}

static void find_soonest(struct port_domain *d)
{
    uint64_t cycle = d->pending ? next_cycle(d) : PORT_NEVER;
    cycle = d->from_soonest < cycle ? d->from_soonest : cycle;
    uint64_t *busy = &d->port->busy.word[d->index / 64];
    const uint64_t self = UINT64_C(1) << d->index % 64;
    *busy = cycle == PORT_NEVER ? *busy & ~self : *busy | self;
    d->port->soonest_ps[d->index] = cycle == PORT_NEVER ? PORT_NEVER : port_ps_of(d, cycle);
    *d->changed = false;
}

/* After collect(): the earliest event of all. */
static uint64_t soonest_ps(struct port *port)
{
    uint64_t soonest = PORT_NEVER;
    for (unsigned k = 0; k < (port->domains + 7) / 8; k++)
        for (uint64_t left = notes_of(port->changed, k); left; left &= left - 1)
            find_soonest(port->domain[8 * k + (unsigned)__builtin_ctzll(left) / 8]);
    for (unsigned w = 0; w < (port->domains + 63) / 64; w++)
        for (uint64_t left = port->busy.word[w]; left; left &= left - 1) {
            const uint64_t ps = port->soonest_ps[64 * w + (unsigned)__builtin_ctzll(left)];
            soonest = ps < soonest ? ps : soonest;
        }
    return soonest;
}

uint64_t port_next_ps(struct port *port)
{
    collect(port);
    return soonest_ps(port);
}

uint64_t port_time_ps(const struct port *port)
{
    return port->time_ps;
}

/* Who has something to do in the window. */
static void choose(struct port *port)
{
    unsigned busy = 0;
    port->active_count = 0;
    for (unsigned w = 0; w < (port->domains + 63) / 64; w++)
        for (uint64_t left = port->busy.word[w]; left; left &= left - 1) {
            const unsigned i = 64 * w + (unsigned)__builtin_ctzll(left);
            busy++;
            if (port->soonest_ps[i] < port->window_end)
                port->active[port->active_count++] = port->domain[i];
        }
    port->sole = busy == 1 ? port->active[0] : NULL;
}

/* Whether what the sole domain has sent is the only event of all; then nobody has any. */
static bool is_single(struct port *port)
{
    struct port_domain *d = port->sole;
    if (!port->single.to || d->pending)
        return false;
    *d->changed = false;
    port->busy.word[d->index / 64] &= ~(UINT64_C(1) << d->index % 64);
    port->soonest_ps[d->index] = PORT_NEVER;
    uint64_t changed = 0; /* by whoever was asked whether to stop */
    for (unsigned k = 0; k < (port->domains + 7) / 8; k++)
        changed |= notes_of(port->changed, k);
    return !changed;
}

/* A window that begins with the single event. */
static void run_single(struct port *port, void *thread)
{
    struct port_domain *d = port->single.to;
    struct port_event event = port->single.event;
    const uint64_t cycle = port->single.cycle, before = d->ran++;
    port->single.to = NULL;
    port->sole = d;
    d->thread = thread;
    begin_wheel(d, cycle);
    set_now(d, cycle);
    event.fn(d, &event);
    if (d->pending)
        run_domain(d, port->window_end, thread);
    *d->changed = true;
    d->thread = NULL;
    port->last_events = d->ran - before;
}

uint64_t port_run(struct port *port, uint64_t until_ps, bool (*stop)(void *context), void *context)
{
    void *thread = port->hooks.enter ? port->hooks.enter(port->hooks.context, 0) : NULL;
    if (port->times)
        port->passed_ns = clock_now_ns();
    for (;;) {
        const bool single = is_single(port);
        if (!single)
            send_single(port);
        const uint64_t start = single ? port_ps_of(port->single.to, port->single.cycle) : port_next_ps(port);
        if (start >= until_ps) {
            send_single(port);
            collect(port);
            deliver(port, PORT_NEVER);
            if (until_ps != PORT_NEVER && until_ps > port->time_ps)
                port->time_ps = until_ps;
            break;
        }
        port->window_end = start + port->lookahead_ps;
        if (single) {
            passed(port, PORT_BETWEEN);
            run_single(port, thread);
            passed(port, PORT_WITHIN);
        } else {
            choose(port);
            deliver(port, port->window_end);
            port->odd = !port->odd;
            passed(port, PORT_BETWEEN);
            run_window(port, thread);
        }
        if (port->times)
            port->times->windows++;
        port->time_ps = port->window_end;
        if (stop && stop(context)) {
            send_single(port);
            collect(port);
            deliver(port, PORT_NEVER);
            break;
        }
    }
    passed(port, PORT_BETWEEN);
    if (port->hooks.leave)
        port->hooks.leave(port->hooks.context, thread);
    return port->time_ps;
}

/* ---- life ---- */

struct port *port_open(unsigned domains, uint64_t lookahead_ps, unsigned threads,
                       const struct port_hooks *hooks)
{
    assert(domains && domains <= PORT_DOMAINS && lookahead_ps && threads);
    struct port *port = aligned_alloc(64, (sizeof(*port) + 63) / 64 * 64);
    if (!port)
        return NULL;
    memset(port, 0, sizeof(*port));
    port->domains = domains;
    port->threads = threads < domains ? threads : domains;
    port->lookahead_ps = lookahead_ps;
    if (hooks)
        port->hooks = *hooks;

    pthread_mutex_init(&port->lock, NULL);
    pthread_cond_init(&port->wake, NULL);
    port->domain = must(calloc(domains, sizeof(*port->domain)));
    port->active = must(calloc(domains, sizeof(*port->active)));
    for (unsigned i = 0; i < domains; i++) {
        struct port_domain *d = must(aligned_alloc(64, (sizeof(*d) + 63) / 64 * 64));
        memset(d, 0, sizeof(*d));
        d->port = port;
        d->index = i;
        d->limit = HORIZON;
        d->outbox = must(calloc(2 * (size_t)domains, sizeof(*d->outbox)));
        for (unsigned k = 0; k < 2 * domains; k++)
            d->outbox[k].soonest = PORT_NEVER;
        port->soonest_ps[i] = d->from_soonest = PORT_NEVER;
        d->changed = &port->changed[i];
        d->sends = &port->sends[i];
        port_set_clock(d, 1000);
        port->domain[i] = d;
    }
    port->thread = must(calloc(port->threads, sizeof(*port->thread)));
    for (unsigned i = 1; i < port->threads; i++) {
        struct worker *worker = must(malloc(sizeof(*worker)));
        *worker = (struct worker){.port = port, .index = i};
        if (thread_start(&port->thread[i], worker_main, worker) != 0) {
            free(worker);
            break; /* fewer threads give the same results */
        }
        port->started++;
    }
    return port;
}

void port_close(struct port *port)
{
    if (!port)
        return;
    pthread_mutex_lock(&port->lock);
    port->quit = true;
    pthread_cond_broadcast(&port->wake);
    pthread_mutex_unlock(&port->lock);
    for (unsigned i = 1; i <= port->started; i++)
        pthread_join(port->thread[i], NULL);
    for (unsigned i = 0; i < port->domains; i++) {
        struct port_domain *d = port->domain[i];
        for (struct chunks *chunks = d->chunks, *next; chunks; chunks = next) {
            next = chunks->next;
            free(chunks);
        }
        for (unsigned k = 0; k < 2 * port->domains; k++)
            for (struct sent *sent = d->outbox[k].first, *next; sent; sent = next) {
                next = sent->next;
                free(sent);
            }
        free(d->heap);
        free(d->outbox);
        free(d);
    }
    free(port->domain);
    free(port->active);
    free(port->thread);
    pthread_mutex_destroy(&port->lock);
    pthread_cond_destroy(&port->wake);
    free(port);
}
