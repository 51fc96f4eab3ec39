/* SPDX-License-Identifier: MIT */
/*
 * The end of a request: the slice in front of a memory channel, with the probe
 * filter and the channel's controller.
 *
 * One request of a line is in progress at a time, or one of each half that a CPU's
 * cache has by itself; others queue behind it.  It goes through up to three steps:
 * probes to L2s that must give the line up; the Infinity Cache, or memory on a miss;
 * the bytes and the answer.  Bytes are read and written at the cycle of the last step,
 * in the host's memory.  A line that one CCD owns and another wants goes from there to
 * there, and the home only learns of it.
 *
 * The probe filter knows every line that an agent's cache may hold: one that drops a clean line which it does
 * not own says nothing, and gets a probe in vain later.  Where it has so many entries (probe_filter.entries),
 * a line that has lost its own is probed out of all caches, as soon as it is busy with nothing else.
 *
 * Sources: ISCA'24, IV.D; AMDGPUUsage, Memory Model GFX942 (probes of local memory); Conway et al., Cache
 * Hierarchy and Memory Subsystem of the AMD Opteron Processor, IEEE Micro 2010 (probe filter, lines from
 * owner to asker).
 */
#include "fabric/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/guarded.h"
#include "chip/chip.h"

enum { CHUNK_LINES = 256, CHUNK_PROBES = 64, BOTH = 3 };

/* ---- storage ---- */

static struct home_line *line_new(struct iod *iod, unsigned slice, uint32_t line)
{
    if (!iod->spare_lines) {
        struct home_line *lines = arena_take(&iod->arena, CHUNK_LINES * sizeof(*lines));
        for (unsigned i = 0; i < CHUNK_LINES; i++) {
            lines[i].next = iod->spare_lines;
            iod->spare_lines = &lines[i];
        }
    }
    struct home_line *h = iod->spare_lines;
    iod->spare_lines = h->next;
    port_prefetch_line(iod->spare_lines); /* for the next one */
    *h = (struct home_line){.line = line, .slice = (uint16_t)slice};
    h->end = &h->first;
    return h;
}

static void line_free(struct iod *iod, struct home_line *h)
{
    h->next = iod->spare_lines;
    iod->spare_lines = h;
}

static struct home_probe *probe_new(struct iod *iod)
{
    if (!iod->spare_probes) {
        struct home_probe *probes = arena_take(&iod->arena, CHUNK_PROBES * sizeof(*probes));
        for (unsigned i = 0; i < CHUNK_PROBES; i++) {
            probes[i].next = iod->spare_probes;
            iod->spare_probes = &probes[i];
        }
    }
    struct home_probe *p = iod->spare_probes;
    iod->spare_probes = p->next;
    p->probe.mask[0] = p->probe.mask[1] = 0;
    p->probe.in_place = p->probe.keeps = p->probe.gives = false;
    p->probe.asker = NULL;
    return p;
}

static void probe_free(struct iod *iod, struct home_probe *p)
{
    p->next = iod->spare_probes;
    iod->spare_probes = p;
}

static struct home_line **bucket_of(struct slice *s, uint32_t line)
{
    return &s->busy[(line ^ line / SLICE_BUCKETS) % SLICE_BUCKETS];
}

static unsigned halves_of(const struct fabric_request *r)
{
    return r->halves ? r->halves : BOTH;
}

static struct home_line *of_line(struct home_line *h, uint32_t line)
{
    while (h && h->line != line)
        h = h->next;
    return h;
}

/*
 * What these halves of a line are busy with.  That may be two: then what comes queues behind the one that
 * waits for the other, or else the one that has more.
 */
static struct home_line *find_busy(struct slice *s, uint32_t line, unsigned halves)
{
    struct home_line *found = NULL;
    for (struct home_line *h = *bucket_of(s, line); (h = of_line(h, line)); h = h->next)
        if (h->halves & halves && (!found || h->blocked || (!found->blocked && h->halves > found->halves)))
            found = h;
    return found;
}

/* The same, beside `own`. */
static struct home_line *find_other(struct slice *s, uint32_t line, unsigned halves,
                                    const struct home_line *own)
{
    for (struct home_line *h = *bucket_of(s, line); (h = of_line(h, line)); h = h->next)
        if (h != own && h->halves & halves)
            return h;
    return NULL;
}

static struct home_line *make_busy(struct iod *iod, unsigned slice, uint32_t line, unsigned halves)
{
    struct home_line *h = line_new(iod, slice, line), **bucket = bucket_of(&iod->slice[slice], line);
    h->halves = (uint8_t)halves;
    h->next = *bucket;
    *bucket = h;
    return h;
}

static void go_on(struct iod *iod, struct home_line *h);

static void make_free(struct iod *iod, struct home_line *h)
{
    struct slice *s = &iod->slice[h->slice];
    struct home_line **link = bucket_of(s, h->line), *other;
    while (*link != h)
        link = &(*link)->next;
    *link = h->next;
    other = find_other(s, h->line, BOTH, h);
    line_free(iod, h);
    if (other && other->blocked)
        go_on(iod, other);
}

/* The agents that own one of those halves, a bit each. */
static uint32_t owners_of(const filter_entry *e, unsigned halves)
{
    uint32_t owners = 0;
    for (unsigned i = 0; i < 2; i++)
        if (halves >> i & 1 && e->half[i] & FILTER_OWNED)
            owners |= e->half[i] & ~FILTER_OWNED;
    return owners;
}

static void take_away(uint16_t *half, uint32_t agent)
{
    *half &= (uint16_t)~agent;
    if (*half == FILTER_OWNED)
        *half = 0;
}

/* ---- memory ---- */

static void let_in(struct iod *iod, struct slice *s);
static void memory_done(void *context, struct dram_request *request, uint64_t end);
static void memory_event(struct port_domain *domain, struct port_event *event);

static void wake_memory(struct iod *iod, uint64_t next, uint64_t index)
{
    const struct fabric *f = iod->fabric;
    uint64_t cycle = port_cycle_of(iod->domain, (uint64_t)((double)next * f->tick_ps));
    uint64_t soonest = port_now(iod->domain) + 1;
    struct port_event *e = port_post(iod->domain, cycle > soonest ? cycle : soonest, memory_event, iod);
    e->word[0] = next;
    e->word[1] = index;
}

static void memory_step(struct iod *iod, struct dram_channel *ch, uint64_t index)
{
    struct fabric *f = iod->fabric;
    uint64_t tick = (uint64_t)(iod_now(iod) / f->tick_ps);
    ch->wake = tick; /* not DRAM_NEVER: what is submitted meanwhile is seen by this step */
    uint64_t next = dram_step(ch, tick, memory_done, iod);
    ch->wake = next;
    if (next != DRAM_NEVER)
        wake_memory(iod, next, index);
    let_in(iod, &iod->slice[index / f->pseudo]);
}

static void memory_event(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct iod *iod = event->self;
    unsigned pseudo = iod->fabric->pseudo;
    struct dram_channel *ch = &iod->slice[event->word[1] / pseudo].memory[event->word[1] % pseudo];
    if (ch->wake == event->word[0])
        memory_step(iod, ch, event->word[1]);
}

static void memory_submit(struct iod *iod, struct home_line *h, bool write)
{
    struct fabric *f = iod->fabric;
    uint64_t index = (uint64_t)h->slice * f->pseudo + h->line % f->pseudo;
    struct dram_channel *ch = &iod->slice[h->slice].memory[h->line % f->pseudo];
    uint64_t tick = (uint64_t)(iod_now(iod) / f->tick_ps);
    dram_place(&f->timing, h->line / f->pseudo, &h->dram);
    h->dram.write = write;
    dram_submit(ch, &h->dram, tick);
    if (ch->wake > tick + 2 * (uint64_t)f->timing.bursts * f->timing.ccd_s)
        memory_step(iod, ch, index);
}

/* ---- the cache ---- */

/* These halves of a line go into the cache.  They, and a line that is pushed out, take their turn at the
 * port. */
static void put_in_cache(struct iod *iod, unsigned slice, uint32_t line, unsigned halves, bool dirty)
{
    struct fabric *f = iod->fabric;
    struct slice *s = &iod->slice[slice];
    if (cache_add(&s->cache, line, halves, dirty))
        return;
    uint32_t victim;
    iod->counters.filled++;
    if (!cache_insert(&s->cache, line, halves, dirty, &victim))
        return;
    ps_server_take(&s->port, iod_now(iod), f->slice_line_ps);
    struct home_line *h = line_new(iod, slice, victim);
    h->write_back = true;
    memory_submit(iod, h, true);
}

/* Bytes of a line are written; its halves are there that are written whole. */
static void mark_written(struct iod *iod, unsigned slice, uint32_t line, const uint64_t mask[2])
{
    unsigned halves = (mask[0] == UINT64_MAX ? FIRST_HALF : 0U) | (mask[1] == UINT64_MAX ? SECOND_HALF : 0U);
    put_in_cache(iod, slice, line, halves, true);
}

static void read_ahead(struct iod *iod, unsigned slice, uint32_t line)
{
    struct slice *s = &iod->slice[slice];
    uint32_t first = 0;
    unsigned count = cache_stream(&s->cache, line, &first);
    for (uint32_t i = first; count; i++, count--) {
        /* Not when memory has enough to do: what is read ahead then only goes before what is asked for. */
        const struct dram_channel *ch = &s->memory[i % iod->fabric->pseudo];
        if (ch->side[0].count >= iod->fabric->timing.window / 4 || find_busy(s, i, BOTH) ||
            cache_has(&s->cache, i))
            continue;
        struct home_line *h = make_busy(iod, slice, i, BOTH);
        h->filling = true;
        iod->counters.prefetches++;
        memory_submit(iod, h, false);
    }
}

/* ---- requests ---- */

void home_prefetch(const struct iod *iod, const struct home_prefetched *e)
{
    struct slice *s = &iod->slice[e->slice];
    port_prefetch(e->request, sizeof(struct fabric_request));
    port_prefetch(e->line, e->bytes);
    port_prefetch(e->data, FABRIC_LINE);
    cache_prefetch(&s->cache, e->place, e->bytes / FABRIC_LINE);
    port_prefetch_line(bucket_of(s, e->place));
    const filter_entry *filter = s->filter[e->place / FILTER_CHUNK];
    if (filter)
        port_prefetch_line(&filter[e->place % FILTER_CHUNK]);
}

/* How much longer than the cache's latency lines take that are on their way from memory. */
static double landing(const struct slice *s, uint32_t line, unsigned lines, double now)
{
    double ready = now;
    for (unsigned i = 0; i < SLICE_LANDING; i++)
        if (s->landing[i].line - line < lines && s->landing[i].ready > ready)
            ready = s->landing[i].ready;
    return ready - now;
}

void home_bytes(struct fabric_request *r)
{
    uint8_t *line = (uint8_t *)(uintptr_t)r->line;
    switch (r->kind) {
    case FABRIC_READ:
    case FABRIC_OWN:
    case FABRIC_FETCH:
        r->faulted = !r->in_place && (!guarded_load_line(r->data, line) ||
                                      (r->pair && !guarded_load_line(r->second, line + FABRIC_LINE)));
        break;
    case FABRIC_WRITE:
        r->faulted = !r->nobody && !r->in_place &&
                     !(guarded_store_line(line, r->data, r->mask) &&
                       (!r->pair || guarded_store_line(line + FABRIC_LINE, r->second, r->mask)));
        break;
    case FABRIC_ATOMIC:
        r->faulted = !guarded_can_write(line);
        if (!r->faulted)
            r->atomic(r, line);
        break;
    }
}

/* The bytes, and the answer, and how long until it leaves; the line is in the cache, or passes it. */
static double answer(struct iod *iod, unsigned slice, struct fabric_request *r)
{
    struct fabric *f = iod->fabric;
    struct slice *s = &iod->slice[slice];
    unsigned lines = lines_of(r);
    double now = iod_now(iod),
           after = f->slice_ps + ps_server_take(&s->port, now, (r->half ? 0.5 : lines) * f->slice_line_ps);
    home_bytes(r);
    switch (r->kind) {
    case FABRIC_READ:
    case FABRIC_OWN:
    case FABRIC_FETCH:
        after += landing(s, r->place, lines, now);
        iod->counters.reads += lines;
        break;
    case FABRIC_WRITE:
        after += f->write_latency_ps;
        if (!(r->mask[0] | r->mask[1]))
            break;
        for (uint32_t i = 0; i < lines; i++)
            mark_written(iod, slice, r->place + i, r->mask);
        iod->counters.writes += lines;
        break;
    case FABRIC_ATOMIC:
        after += landing(s, r->place, 1, now) + f->atomic_latency_ps + r->depth * f->atomic_ps;
        put_in_cache(iod, slice, r->place, BOTH_HALVES, true);
        iod->counters.atomics++;
        break;
    }
    net_answer(iod, r, after);
    return after;
}

static struct home_line *busy_with(struct iod *iod, unsigned slice, struct fabric_request *r, uint32_t line,
                                   struct home_line *h)
{
    if (!h)
        h = make_busy(iod, slice, line, halves_of(r));
    h->halves |= (uint8_t)halves_of(r);
    h->request = r;
    return h;
}

/* Both lines are busy with it. */
static void hold_pair(struct iod *iod, unsigned slice, struct fabric_request *r)
{
    for (uint32_t i = 0; i < 2; i++)
        busy_with(iod, slice, r, r->place + i, find_busy(&iod->slice[slice], r->place + i, BOTH));
}

static void let_pair_go(struct iod *iod, unsigned slice, uint32_t place)
{
    for (uint32_t i = 0; i < 2; i++)
        go_on(iod, find_busy(&iod->slice[slice], place + i, BOTH));
}

static void hold_over(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    go_on(event->self, (struct home_line *)event->word[0]);
}

/* It is nobody else's turn for so long. */
static void hold(struct iod *iod, struct home_line *h, double ps)
{
    h->request = NULL;
    h->filling = false;
    uint64_t cycle = port_cycle_of(iod->domain, (uint64_t)(iod_now(iod) + ps));
    port_post(iod->domain, cycle, hold_over, iod)->word[0] = (uint64_t)h;
}

/*
 * The bytes and the answer.  One after another, the operations on an element take time.  A CPU that others
 * have given the line up for says when it has it, and nobody else gets it before, as in AMD's protocols since
 * HyperTransport (SrcDone).  Returns as proceed().
 */
static bool perform(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h)
{
    double after = answer(iod, slice, r),
           busy = r->kind == FABRIC_ATOMIC ? r->depth * iod->fabric->atomic_ps : 0;
    if (r->probed && r->in_place)
        busy = after + 2 * net_way_ps(iod, r);
    if (busy <= 0)
        return false;
    hold(iod, h ? h : make_busy(iod, slice, r->place, halves_of(r)), busy);
    return true;
}

/* Whoever was probed after it sent this has dropped the line; one that never read it may have written all of
 * it. */
static bool keeps(uint16_t half, const struct fabric_request *r)
{
    return r->keeps && (half >> r->agent & 1 || (r->mask[0] & r->mask[1]) == UINT64_MAX);
}

/* In the filter: who may have half a line from now on. */
static void note_half(uint16_t *half, struct fabric_request *r)
{
    const uint32_t self = 1U << r->agent;
    switch (r->kind) {
    case FABRIC_READ:
        *half = (uint16_t)(*half | self | (r->alone ? FILTER_OWNED : 0));
        break;
    case FABRIC_OWN:
        *half = (uint16_t)(self | FILTER_OWNED);
        break;
    case FABRIC_FETCH:
        break;
    case FABRIC_WRITE:
        if (r->in_place)
            take_away(half, self);
        else
            *half = (uint16_t)(keeps(*half, r) ? self | (*half & FILTER_OWNED) : 0);
        break;
    case FABRIC_ATOMIC:
        *half = (uint16_t)(*half & (self | FILTER_OWNED));
        break;
    }
}

static void note_holder(filter_entry *e, struct fabric_request *r)
{
    const unsigned halves = halves_of(r);
    const uint32_t others = FILTER_OWNED - 1 - (1U << r->agent);
    for (unsigned i = 0; i < 2; i++)
        r->alone &= !(halves >> i & 1 && e->half[i] & others);
    for (unsigned i = 0; i < 2; i++)
        if (halves >> i & 1)
            note_half(&e->half[i], r);
}

static void enter(struct iod *iod, unsigned slice, const struct fabric_request *r);

/* The Infinity Cache or memory, the bytes and the answer; as proceed(). */
static bool look_up(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h)
{
    struct slice *s = &iod->slice[slice];
    note_holder(filter_of(iod, s, r->place), r);
    if (r->kind == FABRIC_WRITE) {
        answer(iod, slice, r);
        return false;
    }
    bool hit = cache_look(&s->cache, r->place), busy = true;
    r->missed = !hit;
    if (hit) {
        iod->counters.cache_hits++;
        busy = perform(iod, slice, r, h);
    } else {
        iod->counters.cache_misses++;
        h = busy_with(iod, slice, r, r->place, h);
        h->halves = BOTH; /* the other one comes too */
        h->filling = true;
        memory_submit(iod, h, false);
    }
    if (r->kind != FABRIC_ATOMIC)
        read_ahead(iod, slice, r->place);
    return busy;
}

/* As look_up(), for a pair, of which neither line is busy with another's request. */
static bool look_up_pair(struct iod *iod, unsigned slice, struct fabric_request *r)
{
    struct slice *s = &iod->slice[slice];
    bool hit[2];
    for (uint32_t i = 0; i < 2; i++)
        note_holder(filter_of(iod, s, r->place + i), r);
    if (r->kind == FABRIC_WRITE) {
        answer(iod, slice, r);
        return false;
    }
    for (uint32_t i = 0; i < 2; i++)
        hit[i] = cache_look(&s->cache, r->place + i);
    r->missed = (uint8_t)(!hit[0] + !hit[1]);
    r->left = r->missed;
    iod->counters.cache_hits += 2U - r->missed;
    iod->counters.cache_misses += r->missed;
    if (!r->missed)
        answer(iod, slice, r);
    else
        hold_pair(iod, slice, r);
    for (uint32_t i = 0; i < 2; i++)
        if (!hit[i])
            memory_submit(iod, find_busy(s, r->place + i, BOTH), false);
    for (uint32_t i = 0; i < 2; i++)
        read_ahead(iod, slice, r->place + i);
    return r->missed;
}

/*
 * No L2 holds what it must not.  `h`: what the line is busy with, if anything.  Returns whether whoever comes
 * next has to wait, or has had its turn already: memory may be quick.
 */
static bool proceed(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h)
{
    const bool busy = r->pair ? look_up_pair(iod, slice, r) : look_up(iod, slice, r, h);
    if (iod->slice[slice].tags.tag)
        enter(iod, slice, r);
    return busy;
}

/*
 * A write that an owner sent before it was asked for the line is executed before its answer,
 * which waits for it: the bytes are what others ask for.  One past its caches has others to drop the line
 * first, and its turn.
 */
static bool comes_before_answer(const struct home_line *h, const struct fabric_request *r)
{
    return r->kind == FABRIC_WRITE && !r->pair && !r->past && (h->owners & h->probing) >> r->agent & 1;
}

static void wait_for(struct home_line *h, struct fabric_request *r)
{
    r->next = NULL;
    *h->end = r;
    h->end = &r->next;
    h->halves |= (uint8_t)halves_of(r);
}

/* Those that wait, for this or another half of the line. */
static void writes_before_answer(struct iod *iod, const struct home_line *probed)
{
    struct slice *s = &iod->slice[probed->slice];
    for (struct home_line *h = *bucket_of(s, probed->line); (h = of_line(h, probed->line)); h = h->next)
        for (struct fabric_request **link = &h->first, *r; (r = *link);) {
            if (!comes_before_answer(probed, r)) {
                link = &r->next;
                continue;
            }
            *link = r->next;
            if (!*link)
                h->end = link;
            answer(iod, h->slice, r);
        }
}

/* L2s that must give up the line for the request. */
static uint32_t probes_of(struct iod *iod, unsigned slice, const struct fabric_request *r, uint32_t line)
{
    const filter_entry *e = filter_of(iod, &iod->slice[slice], line);
    const unsigned halves = halves_of(r);
    const bool reads = r->kind == FABRIC_READ || r->kind == FABRIC_FETCH;
    uint32_t holders = 0;
    if (r->in_place && r->kind == FABRIC_WRITE && !r->past)
        return 0;
    for (unsigned i = 0; i < 2; i++)
        if (halves >> i & 1 && !(reads && !(e->half[i] & FILTER_OWNED)))
            holders |= e->half[i];
    return holders & (FILTER_OWNED - 1) & ~(1U << r->agent);
}

static bool is_ccd(const struct fabric *f, unsigned agent)
{
    return agent - f->xcds < f->ccds;
}

/* Those, for the request that the line is busy with. */
static void send_probes(struct iod *iod, struct home_line *h, uint32_t probes)
{
    struct fabric *f = iod->fabric;
    struct slice *s = &iod->slice[h->slice];
    struct fabric_request *r = h->request;
    const bool one = !(probes & (probes - 1));
    h->probing = probes;
    const filter_entry *e = filter_of(iod, s, h->line);
    h->owners = owners_of(e, BOTH);
    double now = iod_now(iod);
    double after = f->slice_ps + ps_server_take(&s->port, now, 0) + landing(s, h->line, 1, now);
    uint64_t skip = (h->line - r->place) * (uint64_t)FABRIC_LINE;
    for (; probes; probes &= probes - 1) {
        struct home_probe *p = probe_new(iod);
        p->line = h;
        p->probe.line = r->line + skip;
        p->probe.physical = r->physical + skip;
        p->probe.agent = (uint8_t)__builtin_ctz(probes);
        /* XCDs have whole lines, and lose them. */
        p->probe.halves = (uint8_t)(p->probe.agent < f->xcds ? BOTH : halves_of(r));
        p->probe.owner = owners_of(e, p->probe.halves) >> p->probe.agent & 1;
        p->probe.home = iod;
        p->probe.shares = r->kind == FABRIC_READ || r->kind == FABRIC_FETCH;
        if (one && p->probe.owner && r->in_place && r->kind <= FABRIC_OWN && is_ccd(f, r->agent) &&
            is_ccd(f, p->probe.agent)) {
            p->probe.asker = r;
            p->asked = *r;
        }
        iod->counters.probes++;
        net_probe(iod, &p->probe, after);
    }
    writes_before_answer(iod, h);
}

/*
 * A pair's turn at both of its lines: when one is busy with another's request, it is the last to wait for
 * that, and has neither.  `h` is that of which it is the turn, if any.
 */
static bool begin_pair(struct iod *iod, unsigned slice, struct fabric_request *r, const struct home_line *h)
{
    struct slice *s = &iod->slice[slice];
    uint32_t probes[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct home_line *other = find_other(s, r->place + i, BOTH, h);
        if (other) {
            wait_for(other, r);
            return false;
        }
        probes[i] = probes_of(iod, slice, r, r->place + i);
    }
    r->left = (uint8_t)((probes[0] != 0) + (probes[1] != 0));
    if (!r->left)
        return proceed(iod, slice, r, NULL);
    hold_pair(iod, slice, r);
    for (uint32_t i = 0; i < 2; i++)
        if (probes[i])
            send_probes(iod, find_busy(s, r->place + i, BOTH), probes[i]);
    return true;
}

/* ---- lines that lose their entry in the probe filter ---- */

static struct home_displaced *displaced_new(struct iod *iod)
{
    struct home_displaced *d = iod->spare_displaced;
    if (d)
        iod->spare_displaced = d->next;
    else
        d = arena_take(&iod->arena, sizeof(*d));
    return d;
}

static void displaced_free(struct iod *iod, struct home_line *h)
{
    h->lost->next = iod->spare_displaced;
    iod->spare_displaced = h->lost;
    h->lost = NULL;
}

/* The line is busy with nothing else.  False: no cache had it. */
static bool give_up(struct iod *iod, struct home_line *h)
{
    const filter_entry *e = filter_of(iod, &iod->slice[h->slice], h->line);
    const uint32_t holders = (e->half[0] | e->half[1]) & (FILTER_OWNED - 1);
    if (!holders) {
        displaced_free(iod, h);
        return false;
    }
    h->giving_up = true;
    h->request = &h->lost->request;
    send_probes(iod, h, holders);
    return true;
}

static void displace(struct iod *iod, unsigned slice, const struct filter_tag *t)
{
    struct home_line *h = find_busy(&iod->slice[slice], t->line, BOTH);
    const bool busy = h;
    if (!h)
        h = make_busy(iod, slice, t->line, BOTH);
    h->halves = BOTH;
    h->lost = displaced_new(iod);
    h->lost->request = (struct fabric_request){
        .kind = FABRIC_OWN, .line = t->bytes, .physical = t->physical, .place = t->line};
    iod->counters.displaced++;
    if (!busy && !give_up(iod, h))
        make_free(iod, h);
}

/* After a request's turn: lines that caches have now have entries. */
static void enter(struct iod *iod, unsigned slice, const struct fabric_request *r)
{
    struct slice *s = &iod->slice[slice];
    for (uint32_t i = 0; i < lines_of(r); i++) {
        const struct filter_tag t = {.bytes = r->line + i * (uint64_t)FABRIC_LINE,
                                     .physical = r->physical + i * (uint64_t)FABRIC_LINE,
                                     .line = r->place + i};
        struct filter_tag other;
        struct home_line *h = find_busy(s, t.line, BOTH);
        if ((h && h->giving_up) || filter_is_empty(filter_of(iod, s, t.line)))
            continue;
        if (h && h->lost)
            displaced_free(iod, h); /* it has an entry again before anybody was told */
        if (filter_enter(iod, s, &t, &other))
            displace(iod, slice, &other);
    }
}

/* The line's next request; returns as proceed(). */
static bool begin(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h)
{
    if (r->nobody) {
        answer(iod, slice, r);
        return false;
    }
    if (r->pair)
        return begin_pair(iod, slice, r, h);
    uint32_t probes = probes_of(iod, slice, r, r->place);
    if (!probes)
        return proceed(iod, slice, r, h);
    h = busy_with(iod, slice, r, r->place, h);
    send_probes(iod, h, probes);
    return true;
}

/* Whether it has to wait for what these halves are busy with beside it. */
static bool is_blocked(struct iod *iod, struct home_line *h, unsigned halves)
{
    const struct home_line *other = find_other(&iod->slice[h->slice], h->line, halves, h);
    return h->blocked = other && !other->blocked;
}

/* The line's request is done: those that queue behind it. */
static void go_on(struct iod *iod, struct home_line *h)
{
    h->request = NULL;
    h->filling = false;
    h->blocked = false;
    if (h->lost && (is_blocked(iod, h, BOTH) || give_up(iod, h)))
        return;
    for (struct fabric_request *r; (r = h->first);) {
        if (!r->pair && is_blocked(iod, h, halves_of(r)))
            return;
        h->first = r->next;
        if (!h->first) {
            h->end = &h->first;
            h->halves = (uint8_t)halves_of(r);
        }
        if (begin(iod, h->slice, r, h))
            return;
    }
    make_free(iod, h);
}

static void take(struct iod *iod, struct fabric_request *r)
{
    struct slice *s = &iod->slice[r->slice];
    struct home_line *h = find_busy(s, r->place, halves_of(r));
    if (!h) {
        begin(iod, r->slice, r, NULL);
        return;
    }
    for (struct home_line *probed = *bucket_of(s, r->place); (probed = of_line(probed, r->place));
         probed = probed->next)
        if (comes_before_answer(probed, r)) {
            answer(iod, r->slice, r);
            return;
        }
    wait_for(h, r);
}

/* Whether a pseudo channel's controller has no place for what a request may ask of it. */
static bool is_full(const struct iod *iod, const struct slice *s)
{
    for (unsigned i = 0; i < iod->fabric->pseudo; i++)
        if (dram_full(&s->memory[i]))
            return true;
    return false;
}

void home_take(struct iod *iod, struct fabric_request *r)
{
    struct slice *s = &iod->slice[r->slice];
    if (!s->first && !is_full(iod, s)) {
        take(iod, r);
        return;
    }
    r->next = NULL;
    *(s->first ? s->end : &s->first) = r;
    s->end = &r->next;
}

/* What waited, in its order, as far as there is place. */
static void let_in(struct iod *iod, struct slice *s)
{
    if (!s->first || s->letting_in)
        return;
    s->letting_in = true;
    while (s->first && !is_full(iod, s)) {
        struct fabric_request *r = s->first;
        s->first = r->next;
        take(iod, r);
    }
    s->letting_in = false;
}

/*
 * The owner has sent the line to whoever asked, whose request is over by now or soon.  That one tells the
 * home when it has the line, as in AMD's protocols since HyperTransport (SrcDone), and nobody else gets it
 * before.
 */
static void handed_over(struct iod *iod, struct home_line *h, struct home_probe *p)
{
    const struct fabric *f = iod->fabric;
    struct fabric_request *r = &p->asked;
    struct slice *s = &iod->slice[h->slice];
    const struct iod *owner = &f->iod[f->agent[p->probe.agent].iod];
    note_holder(filter_of(iod, s, h->line), r);
    if (s->tags.tag)
        enter(iod, h->slice, r);
    const double busy = net_between_agents_ps(f, p->probe.agent, r->agent) + net_way_ps(iod, r) -
                        f->route[iod->index][owner->index].way_ps;
    probe_free(iod, p);
    hold(iod, h, busy);
}

void home_probe_answered(struct iod *iod, struct fabric_probe *probe)
{
    struct home_probe *p = (struct home_probe *)probe;
    struct home_line *h = p->line;
    if (!h) {
        link_probe_answered(p);
        return;
    }
    filter_entry *e = filter_of(iod, &iod->slice[h->slice], h->line);
    if (probe->mask[0] | probe->mask[1]) {
        if (!probe->in_place)
            guarded_store_line((uint8_t *)(uintptr_t)probe->line, probe->data, probe->mask);
        mark_written(iod, h->slice, h->line, probe->mask);
    }
    for (unsigned i = 0; i < 2; i++)
        if (probe->halves >> i & 1)
            take_away(&e->half[i], probe->keeps ? FILTER_OWNED : 1U << probe->agent);
    h->probing &= ~(1U << probe->agent);
    if (probe->gives) {
        handed_over(iod, h, p);
        return;
    }
    probe_free(iod, p);
    struct fabric_request *r = h->request;
    if (h->probing)
        return;
    if (h->giving_up) {
        h->giving_up = false;
        displaced_free(iod, h);
        go_on(iod, h);
        return;
    }
    r->probed = true;
    if (!r->pair) {
        if (!proceed(iod, h->slice, r, h))
            go_on(iod, h);
    } else if (--r->left == 0) {
        unsigned slice = h->slice;
        uint32_t place = r->place;
        if (!proceed(iod, slice, r, NULL))
            let_pair_go(iod, slice, place);
    }
}

static void memory_done(void *context, struct dram_request *request, uint64_t end)
{
    struct iod *iod = context;
    struct fabric *f = iod->fabric;
    struct home_line *h = (struct home_line *)request;
    if (h->write_back) {
        line_free(iod, h);
        return;
    }
    struct slice *s = &iod->slice[h->slice];
    s->landing[s->landed].line = h->line;
    s->landing[s->landed].ready = (double)end * f->tick_ps + f->memory_ps;
    s->landed = (s->landed + 1) % SLICE_LANDING;
    ps_server_take(&s->port, iod_now(iod), f->slice_line_ps);
    put_in_cache(iod, h->slice, h->line, BOTH_HALVES, false);
    struct fabric_request *r = h->request;
    if (r && r->pair) {
        if (--r->left)
            return;
        unsigned slice = h->slice;
        uint32_t place = r->place;
        answer(iod, slice, r);
        let_pair_go(iod, slice, place);
    } else if (!r || !perform(iod, h->slice, r, h)) {
        go_on(iod, h);
    }
}

/* ---- life ---- */

void home_open(struct iod *iod, const struct chip *chip)
{
    struct fabric *f = iod->fabric;
    iod->slices = f->map.slices[iod->index];
    iod->slice = arena_take(&iod->arena, iod->slices * sizeof(*iod->slice));
    unsigned channels = f->map.stacks * f->map.channels * f->pseudo;
    for (unsigned i = 0; i < iod->slices; i++) {
        struct slice *s = &iod->slice[i];
        unsigned slice = f->map.first_slice[iod->index] + i;
        s->memory = arena_take(&iod->arena, f->pseudo * sizeof(*s->memory));
        filter_open(s, f, chip, &iod->arena);
        cache_open(&s->cache, chip, slice, &iod->arena);
        /* Refreshes of the channels are spread over the interval. */
        for (unsigned k = 0; k < f->pseudo; k++)
            dram_channel_open(&s->memory[k], &f->timing,
                              (uint64_t)f->timing.refi * (slice * f->pseudo + k + 1) / channels);
    }
}

void home_close(struct iod *iod)
{
    arena_free(&iod->arena);
}
