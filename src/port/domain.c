/* SPDX-License-Identifier: MIT */
/* A domain: its clock, its events in wheel and heap, what it sends and receives; see internal.h. */
#include "port/internal.h"

#include <stdlib.h>

#include "base/must.h"

/* With fewer events in the wheel than this nothing is asked for ahead: they are run as soon as it would be
 * there. */
enum { ASKING_EVENTS = 5 };

/* ---- clocks ---- */

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

/* The first of the heap; false: there is none. */
static bool heap_pop(struct port_domain *d, struct far *first)
{
    if (!d->heap_count)
        return false;
    *first = d->heap[0];
    d->heap[0] = d->heap[--d->heap_count];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < d->heap_count; child++)
            if (heap_before(d, child, least))
                least = child;
        if (least == at)
            return true;
        heap_swap(d, at, least);
        at = least;
    }
}

struct port_event *domain_insert(struct port_domain *d, uint64_t cycle)
{
    d->pending++;
    *d->changed = true;
    return cycle >= d->limit ? heap_add(d, cycle) : wheel_add(d, cycle);
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

static struct port_event *send_at(struct port_domain *from, struct port_domain *to, uint64_t cycle)
{
    struct outbox *box = outbox_of(from, to, from->port->odd);
    if (!box->last) {
        *from->sends = true;
        from->to.word[to->index / 64] |= UINT64_C(1) << to->index % 64;
    }
    return outbox_add(box, cycle);
}

struct port_event *port_post(struct port_domain *domain, uint64_t cycle, port_fn *fn, void *self)
{
    assert(cycle >= domain->clock.now);
    struct port_event *event =
        domain->port->few.on ? few_add(domain, cycle, 0) : domain_insert(domain, cycle);
    event->fn = fn;
    event->self = self;
    return event;
}

struct port_event *port_send(struct port_domain *from, struct port_domain *to, uint64_t delay_ps, port_fn *fn,
                             void *self)
{
    assert(from != to && delay_ps >= from->port->lookahead_ps);
    const uint64_t cycle = port_cycle_of(to, from->clock.now_ps + delay_ps);
    struct port_event *event =
        from->port->few.on ? few_add(to, cycle, from->index + 1) : send_at(from, to, cycle);
    event->fn = fn;
    event->self = self;
    return event;
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

void domain_receive(struct port_domain *d, unsigned odd)
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
                    *domain_insert(d, sent->at[k].cycle) = sent->at[k].event;
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
}

/* All of its chunks are free. */
static inline void empty_bucket(struct port_domain *d, uint64_t cycle)
{
    const unsigned slot = (unsigned)(cycle % WHEEL);
    d->bucket[slot] = (struct bucket){NULL, NULL};
    if (!(d->set[slot / 64] &= ~(UINT64_C(1) << slot % 64)))
        d->words &= ~(UINT32_C(1) << slot / 64);
    d->next = cycle + 1;
}

/* Nothing is left before the first event, be it in wheel, heap, or sent: the wheel begins there. */
static inline void begin_wheel(struct port_domain *d, uint64_t first)
{
    if (d->pending == d->heap_count)
        d->next = first;
    d->limit = first + HORIZON > d->limit ? first + HORIZON : d->limit;
    for (struct far near; d->heap_count && d->heap[0].cycle < d->limit && heap_pop(d, &near);)
        *wheel_add(d, near.cycle) = near.event;
}

void domain_begin(struct port_domain *d, uint64_t ps)
{
    if (!d->pending)
        begin_wheel(d, port_cycle_of(d, ps));
}

/* Those of the wheel are before those of the heap.  The wheel is left where it is: what is far off is not
 * where it is to begin. */
void domain_give(struct port_domain *d)
{
    for (uint64_t cycle; (cycle = wheel_next(d)) != PORT_NEVER;) {
        struct bucket *bucket = &d->bucket[cycle % WHEEL];
        bool last = false;
        for (struct chunk *chunk = bucket->first, *next; !last; chunk = next) {
            const struct port_event *end = end_of(bucket, chunk, &last);
            d->pending -= (uint64_t)(end - chunk->event);
            for (const struct port_event *event = chunk->event; event != end; event++)
                *few_add(d, cycle, 0) = *event;
            next = chunk->next;
            chunk_free(d, chunk);
        }
        empty_bucket(d, cycle);
    }
    d->pending -= d->heap_count;
    for (struct far first; heap_pop(d, &first);)
        *few_add(d, first.cycle, 0) = first.event;
    *d->changed = true;
}

void domain_run(struct port_domain *d, uint64_t end_ps, void *thread)
{
    uint64_t end = port_cycle_of(d, end_ps);
    d->thread = thread;
    begin_wheel(d, sooner(next_cycle(d), d->from_soonest));
    domain_receive(d, !d->port->odd);
    assert(end <= d->limit);
    uint64_t soon = d->pending - d->heap_count < ASKING_EVENTS ? end : 0;
    if (!soon)
        prefetch_events(d, d->next);
    for (;;) {
        const uint64_t cycle = wheel_next(d);
        if (cycle >= end)
            break;
        if (cycle >= soon) {
            soon = cycle + AHEAD < end ? cycle + AHEAD : end;
            ask_ahead(d, cycle, soon);
        }
        set_now(d, cycle);
        run_bucket(d, &d->bucket[cycle % WHEEL]);
        empty_bucket(d, cycle);
    }
    *d->changed = true;
    d->thread = NULL;
}
