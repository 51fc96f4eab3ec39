/* SPDX-License-Identifier: MIT */
/* A core's two caches, what it waits for at them, and its prefetcher. */
#include "ccd/internal.h"

void core_into_l1(struct core *c, uint64_t line, unsigned flags, bool new)
{
    uint64_t *e = new ? NULL : tags_find(&c->l1, line);
    if (e) {
        *e |= flags;
        return;
    }
    uint64_t victim = tags_put(&c->l1, line, flags), *below;
    if (victim & TAG_DIRTY && (below = tags_peek(&c->l2, victim >> TAG_SHIFT)))
        *below |= TAG_DIRTY;
}

/* The first holds nothing that the second does not. */
void core_into_l2(struct core *c, uint64_t line, unsigned flags, bool new)
{
    uint64_t *e = new ? NULL : tags_find(&c->l2, line);
    if (e) {
        *e |= flags;
        return;
    }
    uint64_t victim = tags_put(&c->l2, line, flags);
    ++*held_of(c->ccd, line);
    if (victim)
        --*held_of(c->ccd, victim >> TAG_SHIFT);
    if (victim)
        ccd_victim(c, victim | (tags_drop(&c->l1, victim >> TAG_SHIFT) & TAG_DIRTY));
}

uint64_t core_drop(struct core *c, uint64_t line)
{
    uint64_t dirty = tags_drop(&c->l1, line) & TAG_DIRTY, e = tags_drop(&c->l2, line);
    c->losses += e != 0;
    if (e)
        --*held_of(c->ccd, line);
    return e ? e | dirty : 0;
}

uint64_t core_share(struct core *c, uint64_t line)
{
    uint64_t dirty = tags_share(&c->l1, line) & TAG_DIRTY, e = tags_share(&c->l2, line);
    c->losses += e != 0;
    return e ? e | dirty : 0;
}

void core_warm(struct core *c, uint64_t line, unsigned flags)
{
    tags_drop(&c->ccd->l3, line);
    core_into_l2(c, line, flags, false);
    core_into_l1(c, line, flags, false);
}

static struct core_miss **misses_of(struct core *c, uint64_t line)
{
    return &c->missed[line % CORE_MISSED];
}

struct core_miss *core_find_miss(struct core *c, uint64_t line)
{
    struct core_miss *m = *misses_of(c, line);
    while (m && m->line != line)
        m = m->next;
    return m;
}

/* Asks the host's memory for what the line that goes to make room for this one comes to: its set of the third
 * cache, and that of the other half of what it pushes out there. */
static void expect_victim(const struct core *c, uint64_t line)
{
    const uint64_t victim = tags_set(&c->l2, line)[c->l2.ways - 1] >> TAG_SHIFT;
    if (victim) {
        tags_prefetch(&c->ccd->l3, victim);
        tags_prefetch(&c->ccd->l3, victim ^ 1);
        port_prefetch_line(held_of(c->ccd, victim));
    }
}

struct core_miss *core_add_miss(struct core *c, uint64_t line, bool demand, bool whole)
{
    struct core_miss *m = c->spare_miss, **first = misses_of(c, line);
    c->spare_miss = m->next;
    *m = (struct core_miss){
        .line = line, .demand = demand, .whole = whole, .waiters = WAITER_NONE, .next = *first};
    *first = m;
    expect_victim(c, line);
    c->misses++;
    c->l1_misses += demand;
    return m;
}

void core_drop_miss(struct core *c, struct core_miss *m)
{
    struct core_miss **link = misses_of(c, m->line);
    while (*link != m)
        link = &(*link)->next;
    *link = m->next;
    m->next = c->spare_miss;
    c->spare_miss = m;
    c->misses--;
    c->l1_misses -= m->demand;
}

/* ---- its prefetcher ---- */

static void read_ahead(struct core *c, struct core_stream *s, uint64_t line, uint64_t address, bool exclusive,
                       double at)
{
    const struct ccds *all = c->ccd->all;
    int at_line = (int)(line % CORE_PAGE_LINES), most = (int)all->prefetch;
    if ((s->ahead - at_line) * s->step < 0)
        s->ahead = at_line;
    while ((s->ahead - at_line) * s->step < most) {
        int next = s->ahead + s->step;
        if (next < 0 || next >= CORE_PAGE_LINES)
            return;
        uint64_t wanted = line + (uint64_t)(int64_t)(next - at_line),
                 from = address + (uint64_t)(int64_t)(next - at_line) * CORE_LINE;
        if (!tags_peek(&c->l2, wanted) && !core_find_miss(c, wanted)) {
            struct fetched f = {.own = 0};
            if (c->misses >= all->l2_misses)
                return;
            c->counters.prefetches++;
            if (ccd_fetch(c, wanted, from, exclusive, false, at, &f))
                core_into_l2(c, wanted, f.flags, true);
            else
                core_add_miss(c, wanted, false, true);
        }
        s->ahead = next;
    }
}

/* As many as there are: none is in that page. */
static unsigned find_stream(const struct core *c, uint64_t page, unsigned streams)
{
    unsigned k = c->last_stream;
    if (c->stream_page[k] == page + 1)
        return k;
    for (k = 0; k < streams && c->stream_page[k] != page + 1;)
        k++;
    return k;
}

void core_follow(struct core *c, uint64_t line, uint64_t address, bool exclusive, double at)
{
    uint64_t page = line / CORE_PAGE_LINES;
    int place = (int)(line % CORE_PAGE_LINES);
    const unsigned streams = c->ccd->all->streams;
    const unsigned k = find_stream(c, page, streams);
    if (k < streams) {
        struct core_stream *s = &c->stream[k];
        c->last_stream = k;
        int step = place - s->last;
        if (step == 0)
            return;
        if (step != 1 && step != -1) { /* what comes late of a stream, or no stream */
            s->seen -= s->seen > 0;
            s->last = s->seen ? s->last : place;
            return;
        }
        s->seen = step == s->step ? s->seen + 1 : 1;
        s->step = step;
        s->last = place;
        read_ahead(c, s, line, address, exclusive, at);
        return;
    }
    if (streams) {
        c->stream_page[c->oldest_stream] = page + 1;
        c->stream[c->oldest_stream] = (struct core_stream){.last = place, .ahead = place};
        c->oldest_stream = (c->oldest_stream + 1) % streams;
    }
}
