/* SPDX-License-Identifier: MIT */
/*
 * Translation.  A UTCL1 entry covers what a fragment covers, up to its reach; a
 * miss goes to the XCD's UTCL2, and a miss there to a page walk, which reads a line of
 * entries through the fabric; so many go on at a time, for one UTCL1 fewer.  The UTCL2 keeps lines of
 * entries as walks read them, so small fragments side by side need one walk.
 *
 * What a walk will find is asked of the page table when the UTCL1 misses: then
 * it is known which later misses wait for the same fragment.  The rest of the
 * instruction that missed joins it; another instruction's request for the fragment
 * stops the queue until the translation is there.  Measured: in STREAM on small
 * fragments sixteen look-ups for each miss are counted neither as hit nor as miss,
 * an instruction's (KTH's rocprofv3 files behind UPM on MI300A, V.C).  The look-ups that
 * found the translation on its way are made again one after another, each of which takes time.
 */
#include <stdlib.h>
#include <string.h>

#include "mem/tlb.h"
#include "mem/xcd.h"

void utcl1_open(struct utcl1 *t, struct xcd_mem *mem, void (*go)(struct mem_request *, uint64_t))
{
    t->mem = mem;
    t->go = go;
    t->entry = arena_take(&mem->arena, mem->timing.utcl1_entries * sizeof(*t->entry));
    t->miss = arena_take(&mem->arena, mem->timing.utcl1_misses * sizeof(*t->miss));
    queue_clear(&t->blocked);
}

static void forget_old(struct utcl1 *t)
{
    uint64_t generation = vm_generation(t->mem->vm);
    if (generation == t->generation)
        return;
    t->generation = generation;
    t->used = 0;
    t->recent = 0;
}

/* Of an entry that is not the one used last. */
static struct utcl1_entry *find(struct utcl1 *t, uint64_t address)
{
    uint16_t *guess = &t->guess[address >> t->mem->timing.utcl1_shift & (UTCL1_GUESSES - 1)];
    unsigned i = *guess;
    if (i >= t->used || address - t->entry[i].base >= t->entry[i].bytes) {
        for (i = 0; i < t->used && address - t->entry[i].base >= t->entry[i].bytes;)
            i++;
        if (i == t->used)
            return NULL;
        *guess = (uint16_t)i;
    }
    t->recent = i;
    return &t->entry[i];
}

static void install(struct utcl1 *t, const struct utcl1_entry *entry)
{
    unsigned at = 0;
    if (t->used < t->mem->timing.utcl1_entries) {
        at = t->used++;
    } else {
        for (unsigned i = 1; i < t->used; i++)
            if (t->entry[i].used < t->entry[at].used)
                at = i;
    }
    t->entry[at] = *entry;
    memset(t->guess, 0, sizeof(t->guess));
    t->entry[at].used = ++t->clock;
    t->recent = at;
}

static inline void translated(struct utcl1 *t, struct mem_request *r, const struct utcl1_entry *e,
                              uint64_t cycle)
{
    request_place(r, e->physical + (r->line - e->base));
    r->mtype = e->mtype;
    r->faulted = r->kind != REQUEST_LOAD && !e->writable;
    if (e->spare && r->access)
        access_beyond(r->access, r);
    t->go(r, cycle);
}

static void filled(struct port_domain *domain, struct port_event *event);

static void post_filled(struct utcl1_miss *m, uint64_t cycle)
{
    struct utcl1 *t = m->tlb;
    port_post(t->mem->domain, cycle, filled, t)->word[0] = (uint64_t)(m - t->miss);
}

static void walk_reads(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct utcl2_walk *w = event->self;
    fabric_submit(w->mem->fabric, &w->request);
}

static bool may_walk(const struct utcl2_walk *w)
{
    const struct mem_timing *n = &w->mem->timing;
    return w->mem->utcl2.walking < n->utcl2_walks && w->client->walking < n->utcl1_walks;
}

static void start_walk(struct utcl2_walk *w, uint64_t cycle)
{
    w->mem->utcl2.walking++;
    w->client->walking++;
    port_post(w->mem->domain, cycle + w->mem->timing.walk, walk_reads, w);
}

/* The oldest whose client may have one more. */
static void start_next(struct utcl2 *tlb, uint64_t cycle)
{
    for (struct utcl2_walk **link = &tlb->waiting, *w; (w = *link) != NULL; link = &w->next)
        if (may_walk(w)) {
            *link = w->next;
            if (!*link)
                tlb->waiting_end = link;
            start_walk(w, cycle);
            return;
        }
}

static void walk_ends(struct port_domain *domain, struct port_event *event)
{
    struct utcl2_walk *w = event->self;
    struct utcl2 *tlb = &w->mem->utcl2;
    uint64_t now = port_now(domain);
    tlb->walking--;
    w->client->walking--;
    start_next(tlb, now);
    if (w->entry)
        w->entry->walk = NULL;
    for (struct utcl1_miss *m = w->waiting, *next; m; m = next) {
        next = m->next;
        post_filled(m, m->soonest > now ? m->soonest : now);
    }
    w->next = tlb->spare;
    tlb->spare = w;
}

static void wait_for_turn(struct port_domain *domain, struct port_event *event)
{
    struct utcl2_walk *w = event->self;
    struct utcl2 *tlb = &w->mem->utcl2;
    if (may_walk(w)) {
        start_walk(w, port_now(domain));
        return;
    }
    if (!tlb->waiting)
        tlb->waiting_end = &tlb->waiting;
    w->next = NULL;
    *tlb->waiting_end = w;
    tlb->waiting_end = &w->next;
}

/* Reads the line of entries from where the upper levels, which the walker keeps, say that it is. */
static struct utcl2_walk *begin_walk(struct utcl1 *client, struct utcl2_entry *entry, uint64_t table,
                                     uint64_t cycle)
{
    struct xcd_mem *mem = client->mem;
    struct utcl2_walk *w = mem->utcl2.spare;
    if (w)
        mem->utcl2.spare = w->next;
    else
        w = arena_take(&mem->arena, sizeof(*w));
    w->mem = mem;
    w->client = client;
    w->entry = entry;
    w->waiting = NULL;
    w->request = (struct fabric_request){.kind = FABRIC_FETCH,
                                         .agent = (uint8_t)mem->xcd,
                                         .line = (uint64_t)(uintptr_t)w->table,
                                         .physical = table & ~(uint64_t)(LINE - 1),
                                         .data = w->data,
                                         .done = walk_ends,
                                         .self = w};
    port_post(mem->domain, cycle, wait_for_turn, w);
    mem->counters.walks++;
    return w;
}

/* Asks the UTCL2: filled() follows. */
static void utcl2_ask(struct utcl1_miss *m, const struct vm_entry *page, uint64_t cycle)
{
    struct xcd_mem *mem = m->tlb->mem;
    const struct mem_timing *n = &mem->timing;
    cycle = port_take(&mem->utcl2.port, cycle * n->utcl2_rate, 1) / n->utcl2_rate + n->utcl2_latency;
    m->soonest = cycle;
    struct utcl2_entry *set = mem->utcl2.entry + (page->line_key & (mem->utcl2.sets - 1)) * mem->utcl2.ways;
    struct utcl2_entry *e = NULL, *victim = set;
    for (unsigned i = 0; i < mem->utcl2.ways && !e; i++) {
        if (set[i].bytes == page->line_bytes && set[i].base == page->line)
            e = &set[i];
        else if (set[i].used < victim->used)
            victim = &set[i];
    }
    if (e) {
        mem->counters.utcl2_hits++;
    } else {
        mem->counters.utcl2_misses++;
        e = victim;
        if (e->walk)
            e->walk->entry = NULL;
        *e = (struct utcl2_entry){.base = page->line, .bytes = page->line_bytes};
        e->walk = begin_walk(m->tlb, e, page->table, cycle);
    }
    e->used = ++mem->utcl2.clock;
    if (!e->walk) {
        post_filled(m, cycle);
        return;
    }
    m->next = e->walk->waiting;
    e->walk->waiting = m;
}

static bool try_translate(struct utcl1 *t, struct mem_request *r, uint64_t cycle);

/* When its turn is: one after another, as fast as the vL1 looks up; `cycle` is of its last look-up. */
static uint64_t turn_of(const struct utcl1 *t, const struct mem_request *r, uint64_t cycle)
{
    uint64_t soonest = t->free + r->cycles;
    return r->lookups && cycle + 1 < soonest ? soonest - 1 : cycle;
}

static bool take_turn(struct utcl1 *t, struct mem_request *r, uint64_t cycle)
{
    cycle = turn_of(t, r, cycle);
    if (!try_translate(t, r, cycle))
        return false;
    t->free = cycle + 1;
    return true;
}

/* What an entry holds of a fragment: the part that it reaches. */
static struct utcl1_entry entry_of(const struct mem_timing *n, uint64_t line, struct vm_entry page)
{
    if (page.bytes > n->utcl1_reach) {
        uint64_t skip = (line - page.base) & ~(n->utcl1_reach - 1);
        page.base += skip;
        page.physical += skip;
        page.bytes = n->utcl1_reach;
    }
    return (struct utcl1_entry){.base = page.base,
                                .bytes = page.bytes,
                                .physical = page.physical,
                                .mtype = page.mtype,
                                .writable = page.writable,
                                .spare = page.spare};
}

static void answer(struct utcl1 *t, struct utcl1_miss *m, uint64_t now);
static void unblock(struct utcl1 *t, uint64_t now);

/* The driver has looked after it; its page may have come with another's. */
static void replayed(struct port_domain *domain, struct port_event *event)
{
    struct utcl1 *t = event->self;
    struct utcl1_miss *m = &t->miss[event->word[0]];
    struct vm_entry page;
    m->mapped = vm_walk(t->mem->vm, t->mem->package, m->fault.address, &page);
    if (m->mapped)
        m->entry = entry_of(&t->mem->timing, m->fault.address, page);
    m->replayed = true;
    answer(t, m, port_now(domain));
}

static bool wants_page(const struct utcl1_miss *m)
{
    return !m->replayed && (!m->mapped || (m->store && !m->entry.writable));
}

static void filled(struct port_domain *domain, struct port_event *event)
{
    struct utcl1 *t = event->self;
    struct utcl1_miss *m = &t->miss[event->word[0]];
    if (wants_page(m)) {
        m->fault = (struct vm_request){.address = m->address,
                                       .store = m->store,
                                       .package = (uint8_t)t->mem->package,
                                       .domain = domain,
                                       .done = replayed,
                                       .self = t,
                                       .word = event->word[0]};
        m->faulting = vm_fault(t->mem->vm, &m->fault);
        if (m->faulting) { /* for long: nothing stands in line behind it */
            unblock(t, port_now(domain));
            return;
        }
    }
    answer(t, m, port_now(domain));
}

static void answer(struct utcl1 *t, struct utcl1_miss *m, uint64_t now)
{
    forget_old(t);
    if (m->mapped)
        install(t, &m->entry);
    m->busy = false;
    t->missing--;
    struct request_queue waiting = m->waiting;
    if (!waiting.first)
        queue_clear(&waiting);
    queue_clear(&m->waiting);
    const struct mem_request *first = waiting.first;
    for (struct mem_request *r; (r = queue_take(&waiting)) != NULL;) {
        if (m->mapped) {
            if (r->line - m->entry.base >= m->entry.bytes) { /* the page has come alone */
                if (!take_turn(t, r, now))
                    queue_add(&t->blocked, r);
                continue;
            }
            uint64_t again = r->lookups;
            if (r == first && again)
                again--; /* the miss itself has its answer */
            uint64_t turn = turn_of(t, r, now) + again * t->mem->timing.utcl1_replay;
            t->free = turn + 1;
            translated(t, r, &m->entry, turn);
        } else {
            r->faulted = true;
            t->go(r, now);
        }
    }
    unblock(t, now);
}

static void unblock(struct utcl1 *t, uint64_t now)
{
    while (t->blocked.first) {
        struct mem_request *r = queue_take(&t->blocked);
        if (!take_turn(t, r, now)) { /* first in line again */
            if (!t->blocked.first)
                t->blocked.end = &r->next;
            r->next = t->blocked.first;
            t->blocked.first = r;
            return;
        }
    }
    if (t->drained)
        t->drained(t);
}

/* Another instruction's request waits for its translation. */
static bool is_behind(const struct utcl1 *t, const struct mem_request *r)
{
    const struct utcl1_miss *m = t->miss + t->mem->timing.utcl1_misses; /* the last are taken first */
    for (unsigned left = t->missing; left;) {
        if (!(--m)->busy)
            continue;
        if (!m->faulting && m->waiting.first->access != r->access)
            return true;
        left--;
    }
    return false;
}

static bool miss(struct utcl1 *t, struct mem_request *r, uint64_t cycle);

static struct utcl1_entry *entry_with(struct utcl1 *t, uint64_t line)
{
    struct utcl1_entry *e = &t->entry[t->recent];
    return t->recent < t->used && line - e->base < e->bytes ? e : find(t, line);
}

bool utcl1_hit(struct utcl1 *t, uint64_t line, uint64_t cycle)
{
    forget_old(t);
    if (t->blocked.first || t->missing)
        return false;
    struct utcl1_entry *e = entry_with(t, line);
    if (!e || e->spare)
        return false;
    e->used = ++t->clock;
    t->free = cycle + 1;
    return true;
}

static bool try_translate(struct utcl1 *t, struct mem_request *r, uint64_t cycle)
{
    if (t->missing && is_behind(t, r))
        return false;
    struct utcl1_entry *e = entry_with(t, r->line);
    if (!e)
        return miss(t, r, cycle);
    t->mem->counters.utcl1_hits += r->lookups;
    e->used = ++t->clock;
    translated(t, r, e, cycle);
    return true;
}

static bool miss(struct utcl1 *t, struct mem_request *r, uint64_t cycle)
{
    struct xcd_mem *mem = t->mem;
    unsigned free_miss = mem->timing.utcl1_misses;
    for (unsigned i = 0; i < mem->timing.utcl1_misses; i++) {
        struct utcl1_miss *m = &t->miss[i];
        if (m->busy && r->line - m->entry.base < m->entry.bytes) {
            if (r->access != m->waiting.first->access && !m->faulting)
                return false;
            m->store |= r->kind != REQUEST_LOAD;
            mem->counters.utcl1_merged += r->lookups;
            queue_add(&m->waiting, r);
            return true;
        }
        if (!m->busy)
            free_miss = i;
    }
    if (free_miss == mem->timing.utcl1_misses)
        return false;
    struct vm_entry page;
    struct utcl1_miss *m = &t->miss[free_miss];
    m->busy = true;
    m->mapped = vm_walk(mem->vm, mem->package, r->line, &page);
    if (!m->mapped) {
        page.base = r->line & ~((UINT64_C(1) << VM_PAGE_SHIFT) - 1);
        page.bytes = UINT64_C(1) << VM_PAGE_SHIFT;
        page.line = page.base;
        page.line_bytes = page.bytes;
    }
    if (r->lookups) { /* not a scalar cache's; its other look-ups then wait for the same */
        mem->counters.utcl1_misses++;
        mem->counters.utcl1_merged += r->lookups - 1;
    }
    t->missing++;
    m->entry = entry_of(&mem->timing, r->line, page);
    m->address = r->line;
    m->store = r->kind != REQUEST_LOAD;
    m->replayed = m->faulting = false;
    queue_clear(&m->waiting);
    queue_add(&m->waiting, r);
    m->tlb = t;
    utcl2_ask(m, &page, cycle);
    return true;
}

void utcl1_translate(struct utcl1 *t, struct mem_request *first, uint64_t cycle)
{
    forget_old(t);
    for (struct mem_request *r = first, *next; r; r = next) {
        next = r->next;
        t->mem->counters.utcl1_requests += r->lookups;
        if (t->blocked.first || !take_turn(t, r, cycle + r->lookup))
            queue_add(&t->blocked, r);
    }
}
