/* SPDX-License-Identifier: MIT */
/*
 * What a slice has behind it: its part of the Infinity Cache with a prefetcher, and the memory channel's
 * controllers, which are stepped when there is something to do.
 */
#include "fabric/home.h"

/* ---- memory ---- */

static void memory_done(void *context, struct dram_request *request, uint64_t end);
static void memory_event(struct port_domain *domain, struct port_event *event);

static void wake_memory(struct iod *iod, uint64_t next, unsigned slice, unsigned pseudo)
{
    const struct fabric *f = iod->fabric;
    uint64_t cycle = port_cycle_of(iod->domain, (uint64_t)((double)next * f->tick_ps));
    uint64_t soonest = port_now(iod->domain) + 1;
    struct port_event *e = port_post(iod->domain, cycle > soonest ? cycle : soonest, memory_event, iod);
    e->word[0] = next;
    e->word[1] = slice;
    e->word[2] = pseudo;
}

static void memory_step(struct iod *iod, unsigned slice, unsigned pseudo)
{
    struct fabric *f = iod->fabric;
    struct dram_channel *ch = &iod->slice[slice].memory[pseudo];
    uint64_t tick = (uint64_t)(iod_now(iod) / f->tick_ps);
    ch->wake = tick; /* not DRAM_NEVER: what is submitted meanwhile is seen by this step */
    uint64_t next = dram_step(ch, tick, memory_done, iod);
    ch->wake = next;
    if (next != DRAM_NEVER)
        wake_memory(iod, next, slice, pseudo);
    home_let_in(iod, &iod->slice[slice]);
}

static void memory_event(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct iod *iod = event->self;
    const unsigned slice = (unsigned)event->word[1], pseudo = (unsigned)event->word[2];
    if (iod->slice[slice].memory[pseudo].wake == event->word[0])
        memory_step(iod, slice, pseudo);
}

void home_submit(struct iod *iod, struct home_line *h, bool write)
{
    struct fabric *f = iod->fabric;
    uint32_t pseudo;
    const uint32_t line = divide(f->by_pseudo, h->line, &pseudo);
    struct dram_channel *ch = &iod->slice[h->slice].memory[pseudo];
    uint64_t tick = (uint64_t)(iod_now(iod) / f->tick_ps);
    dram_place(&f->timing, line, &h->dram);
    h->dram.write = write;
    dram_submit(ch, &h->dram, tick);
    if (ch->wake > tick + 2 * (uint64_t)f->timing.bursts * f->timing.ccd_s)
        memory_step(iod, h->slice, pseudo);
}

/* ---- the cache ---- */

void home_put_in_cache(struct iod *iod, unsigned slice, uint32_t line, unsigned halves, bool dirty)
{
    struct fabric *f = iod->fabric;
    struct slice *s = &iod->slice[slice];
    uint32_t victim;
    const enum cache_put put = cache_put(&s->cache, line, halves, dirty, &victim);
    if (put == CACHE_HAD)
        return;
    iod->counters.filled++;
    if (put != CACHE_PUSHED)
        return;
    ps_server_take(&s->port, iod_now(iod), f->slice_line_ps);
    struct home_line *h = home_line_new(iod, slice, victim);
    h->write_back = true;
    home_submit(iod, h, true);
}

void home_mark_written(struct iod *iod, unsigned slice, uint32_t line, const uint64_t mask[2])
{
    unsigned halves = (mask[0] == UINT64_MAX ? FIRST_HALF : 0U) | (mask[1] == UINT64_MAX ? SECOND_HALF : 0U);
    home_put_in_cache(iod, slice, line, halves, true);
}

void home_read_ahead(struct iod *iod, unsigned slice, uint32_t line)
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
        struct home_line *h = home_make_busy(iod, slice, i, BOTH);
        h->filling = true;
        iod->counters.prefetches++;
        home_submit(iod, h, false);
    }
}

static void memory_done(void *context, struct dram_request *request, uint64_t end)
{
    struct iod *iod = context;
    struct fabric *f = iod->fabric;
    struct home_line *h = (struct home_line *)request;
    if (h->write_back) {
        home_line_free(iod, h);
        return;
    }
    struct slice *s = &iod->slice[h->slice];
    s->landing.line[s->landed] = h->line;
    s->landing.ready[s->landed] = (double)end * f->tick_ps + f->memory_ps;
    s->landed = (s->landed + 1) % SLICE_LANDING;
    ps_server_take(&s->port, iod_now(iod), f->slice_line_ps);
    home_put_in_cache(iod, h->slice, h->line, BOTH_HALVES, false);
    home_fetched(iod, h);
}
