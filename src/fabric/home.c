/* SPDX-License-Identifier: MIT */
/*
 * The end of a request: the slice in front of a memory channel, with the probe
 * filter (home_probes.c), its part of the Infinity Cache and the channel's controllers (home_memory.c).
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
#include "fabric/home.h"

#include "base/guarded.h"
#include "chip/chip.h"

/* ---- requests ---- */

void home_prefetch_place(const struct iod *iod, unsigned slice, uint32_t place, unsigned lines)
{
    struct slice *s = &iod->slice[slice];
    cache_prefetch(&s->cache, place, lines);
    port_prefetch_line(bucket_of(s, place));
    for (unsigned i = 0; i < iod->fabric->pseudo; i++)
        dram_prefetch(&s->memory[i]);
    const filter_entry *filter = filter_peek(s, place / FILTER_CHUNK);
    if (filter)
        port_prefetch_line(&filter[place % FILTER_CHUNK]);
}

void home_prefetch(const struct iod *iod, const struct home_prefetched *e)
{
    port_prefetch(e->request, sizeof(struct fabric_request));
    if (e->line) { /* else no bytes are moved */
        port_prefetch(e->line, e->bytes);
        port_prefetch(e->data, FABRIC_LINE);
    }
    home_prefetch_place(iod, e->slice, e->place, e->bytes / FABRIC_LINE);
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

double home_answer(struct iod *iod, unsigned slice, struct fabric_request *r)
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
        after += home_landing(s, r->place, lines, now);
        iod->counters.reads += lines;
        break;
    case FABRIC_WRITE:
        after += f->write_latency_ps;
        if (!(r->mask[0] | r->mask[1]))
            break;
        for (uint32_t i = 0; i < lines; i++)
            home_mark_written(iod, slice, r->place + i, r->mask);
        iod->counters.writes += lines;
        break;
    case FABRIC_ATOMIC:
        after += home_landing(s, r->place, 1, now) + f->atomic_latency_ps + r->depth * f->atomic_ps;
        home_put_in_cache(iod, slice, r->place, BOTH_HALVES, true);
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
        h = home_make_busy(iod, slice, line, halves_of(r));
    h->halves |= (uint8_t)halves_of(r);
    h->request = r;
    return h;
}

/* Both lines are busy with it. */
static void hold_pair(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h[2])
{
    for (uint32_t i = 0; i < 2; i++)
        h[i] = busy_with(iod, slice, r, r->place + i, find_busy(&iod->slice[slice], r->place + i, BOTH));
}

void home_let_pair_go(struct iod *iod, unsigned slice, uint32_t place)
{
    for (uint32_t i = 0; i < 2; i++)
        home_go_on(iod, find_busy(&iod->slice[slice], place + i, BOTH));
}

static void hold_over(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    home_go_on(event->self, (struct home_line *)event->word[0]);
}

void home_hold(struct iod *iod, struct home_line *h, double ps)
{
    h->request = NULL;
    h->filling = false;
    uint64_t cycle = port_cycle_of(iod->domain, (uint64_t)(iod_now(iod) + ps));
    port_post(iod->domain, cycle, hold_over, iod)->word[0] = (uint64_t)h;
}

/*
 * The bytes and the answer.  One after another, the operations on an element take time.  A CPU that others
 * have given the line up for says when it has it, and nobody else gets it before, as in AMD's protocols since
 * HyperTransport (SrcDone).  Returns as home_proceed().
 */
static bool perform(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h)
{
    double after = home_answer(iod, slice, r),
           busy = r->kind == FABRIC_ATOMIC ? r->depth * iod->fabric->atomic_ps : 0;
    if (r->probed && r->in_place)
        busy = after + 2 * net_way_ps(iod, r);
    if (busy <= 0)
        return false;
    home_hold(iod, h ? h : home_make_busy(iod, slice, r->place, halves_of(r)), busy);
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

void home_note_holder(filter_entry *e, struct fabric_request *r)
{
    const unsigned halves = halves_of(r);
    const uint32_t others = FILTER_OWNED - 1 - (1U << r->agent);
    if (halves == BOTH && e->half[0] == e->half[1]) { /* most often */
        r->alone &= !(e->half[0] & others);
        note_half(&e->half[0], r);
        e->half[1] = e->half[0];
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        r->alone &= !(halves >> i & 1 && e->half[i] & others);
    for (unsigned i = 0; i < 2; i++)
        if (halves >> i & 1)
            note_half(&e->half[i], r);
}

/* The Infinity Cache or memory, the bytes and the answer; as home_proceed(). */
static bool look_up(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h)
{
    struct slice *s = &iod->slice[slice];
    home_note_holder(filter_of(iod, s, r->place), r);
    if (r->kind == FABRIC_WRITE) {
        home_answer(iod, slice, r);
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
        home_submit(iod, h, false);
    }
    if (r->kind != FABRIC_ATOMIC)
        home_read_ahead(iod, slice, r->place);
    return busy;
}

/* As look_up(), for a pair, of which neither line is busy with another's request. */
static bool look_up_pair(struct iod *iod, unsigned slice, struct fabric_request *r)
{
    struct slice *s = &iod->slice[slice];
    struct home_line *h[2];
    bool hit[2];
    filter_entry *e = filter_of(iod, s, r->place);
    for (uint32_t i = 0; i < 2; i++)
        home_note_holder(&e[i], r);
    if (r->kind == FABRIC_WRITE) {
        home_answer(iod, slice, r);
        return false;
    }
    for (uint32_t i = 0; i < 2; i++)
        hit[i] = cache_look(&s->cache, r->place + i);
    r->missed = (uint8_t)(!hit[0] + !hit[1]);
    r->left = r->missed;
    iod->counters.cache_hits += 2U - r->missed;
    iod->counters.cache_misses += r->missed;
    if (!r->missed)
        home_answer(iod, slice, r);
    else
        hold_pair(iod, slice, r, h);
    for (uint32_t i = 0; i < 2; i++)
        if (!hit[i])
            home_submit(iod, h[i], false);
    for (uint32_t i = 0; i < 2; i++)
        home_read_ahead(iod, slice, r->place + i);
    return r->missed;
}

bool home_proceed(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h)
{
    const bool busy = r->pair ? look_up_pair(iod, slice, r) : look_up(iod, slice, r, h);
    if (iod->slice[slice].tags.tag)
        home_enter(iod, slice, r);
    return busy;
}

static void wait_for(struct home_line *h, struct fabric_request *r)
{
    r->next = NULL;
    *h->end = r;
    h->end = &r->next;
    h->halves |= (uint8_t)halves_of(r);
}

/*
 * A pair's turn at both of its lines: when one is busy with another's request, it is the last to wait for
 * that, and has neither.  `h` is that of which it is the turn, if any.
 */
static bool begin_pair(struct iod *iod, unsigned slice, struct fabric_request *r, const struct home_line *h)
{
    struct slice *s = &iod->slice[slice];
    const filter_entry *e = filter_of(iod, s, r->place);
    uint32_t probes[2];
    struct home_line *held[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct home_line *other = find_other(s, r->place + i, BOTH, h);
        if (other) {
            wait_for(other, r);
            return false;
        }
        probes[i] = home_probes_of(&e[i], r);
    }
    r->left = (uint8_t)((probes[0] != 0) + (probes[1] != 0));
    if (!r->left)
        return home_proceed(iod, slice, r, NULL);
    hold_pair(iod, slice, r, held);
    for (uint32_t i = 0; i < 2; i++)
        if (probes[i])
            home_send_probes(iod, held[i], probes[i]);
    return true;
}

/* The line's next request; returns as home_proceed(). */
static bool begin(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h)
{
    if (r->nobody) {
        home_answer(iod, slice, r);
        return false;
    }
    if (r->pair)
        return begin_pair(iod, slice, r, h);
    uint32_t probes = home_probes_of(filter_of(iod, &iod->slice[slice], r->place), r);
    if (!probes)
        return home_proceed(iod, slice, r, h);
    h = busy_with(iod, slice, r, r->place, h);
    home_send_probes(iod, h, probes);
    return true;
}

/* Whether it has to wait for what these halves are busy with beside it. */
static bool is_blocked(struct iod *iod, struct home_line *h, unsigned halves)
{
    const struct home_line *other = find_other(&iod->slice[h->slice], h->line, halves, h);
    return h->blocked = other && !other->blocked;
}

void home_go_on(struct iod *iod, struct home_line *h)
{
    h->request = NULL;
    h->filling = false;
    h->blocked = false;
    if (h->lost && (is_blocked(iod, h, BOTH) || home_give_up(iod, h)))
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
    home_make_free(iod, h);
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
        if (home_comes_before_answer(probed, r)) {
            home_answer(iod, r->slice, r);
            return;
        }
    wait_for(h, r);
}

void home_take(struct iod *iod, struct fabric_request *r)
{
    struct slice *s = &iod->slice[r->slice];
    if (!s->first && !home_is_full(iod, s)) {
        take(iod, r);
        return;
    }
    r->next = NULL;
    *(s->first ? s->end : &s->first) = r;
    s->end = &r->next;
}

void home_let_in(struct iod *iod, struct slice *s)
{
    if (!s->first || s->letting_in)
        return;
    s->letting_in = true;
    while (s->first && !home_is_full(iod, s)) {
        struct fabric_request *r = s->first;
        s->first = r->next;
        take(iod, r);
    }
    s->letting_in = false;
}

void home_fetched(struct iod *iod, struct home_line *h)
{
    struct fabric_request *r = h->request;
    if (r && r->pair) {
        if (--r->left)
            return;
        unsigned slice = h->slice;
        uint32_t place = r->place;
        home_answer(iod, slice, r);
        home_let_pair_go(iod, slice, place);
    } else if (!r || !perform(iod, h->slice, r, h)) {
        home_go_on(iod, h);
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
