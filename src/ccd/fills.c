/* SPDX-License-Identifier: MIT */
/*
 * What an access of a core's wants of memory: its page's frame, and its line in the first cache.  Who waits
 * for a line is in that one's list, who waits for a place in a queue in the core's.
 */
#include <assert.h>

#include "ccd/internal.h"

enum { AGAIN_NS = 20000 };

enum reach { REACHED, ON_ITS_WAY, NO_PLACE };

/* Asks the host's memory for what a miss of the first cache looks at, all at once. */
static void ask_host(const struct core *c, uint64_t line)
{
    tags_prefetch(&c->l2, line);
    tags_prefetch(&c->ccd->l3, line);
    port_prefetch_line(held_of(c->ccd, line));
}

/* Nothing is kept: which frame a line of a page table lies by goes by when it is looked up. */
void core_expect(const struct core *c, uint64_t address)
{
    uint64_t page;
    if (vm_core_find(c->ccd->all->vm, address, &page))
        ask_host(c, line_of(page + address % (1U << VM_PAGE_SHIFT)));
}

/* From the second cache to the first, one line behind the other. */
static double pass(struct core *c, double when)
{
    when = later(when, c->pass_free);
    c->pass_free = when + c->ccd->all->pass;
    return when;
}

/* What the first cache does not have.  `w` waits for what is on its way.  A page table's line stays in the
 * second cache. */
static enum reach reach(struct core *c, core_waiter w, uint64_t physical, bool is_table, double at,
                        double *when)
{
    const struct ccds *all = c->ccd->all;
    struct access *a = access_of(c, w);
    const bool exclusive = !is_table && is_exclusive(a);
    const uint64_t line = line_of(physical), address = is_table ? physical : a->address;
    struct fetched f = {.when = at + all->l2_latency};
    struct core_miss *m = core_find_miss(c, line);
    if (!m && !is_table)
        ask_host(c, line);
    const uint64_t *e = m && m->whole ? NULL : tags_find(&c->l2, line);
    if (e && (!exclusive || *e & TAG_OWNED)) {
        f.flags = (unsigned)*e & (TAG_OWNED | TAG_OURS);
    } else {
        if (!is_table && (!m || !m->demand) && c->l1_misses == all->l1_misses)
            return NO_PLACE;
        if (!m) {
            if (c->misses == all->l2_misses)
                return NO_PLACE;
            c->counters.l2_misses++;
            f.own = e ? *e : 0;
            if (ccd_fetch(c, line, address, exclusive, is_table, at + all->l2_latency, &f)) {
                core_into_l2(c, line, f.flags, !e);
            } else {
                m = core_add_miss(c, line, !is_table, !e);
                c->counters.l3_misses++;
            }
        }
        if (m) {
            if (!is_table && !m->demand) {
                m->demand = true;
                c->l1_misses++;
            }
            a->next = m->waiters;
            m->waiters = w;
        }
        if (m) {
            if (!is_table) {
                c->counters.l1_misses++;
                core_follow(c, line, address, exclusive, at);
            }
            return ON_ITS_WAY;
        }
    }
    if (!is_table) {
        c->taken_line = line;
        c->taken_at = f.when = pass(c, f.when);
        c->counters.l1_misses++;
        core_into_l1(c, line, (f.flags & ~TAG_DIRTY) | (exclusive ? TAG_DIRTY : 0), false);
        core_follow(c, line, address, exclusive, at);
    }
    *when = f.when;
    return REACHED;
}

void core_settle(struct core *c, core_waiter w, double when)
{
    struct access *a = access_of(c, w);
    a->state = SLOT_DONE;
    a->done = when;
    if (w & WAITER_STORE)
        return;
    core_waiter d = c->slot[w].dependents;
    c->slot[w].dependents = WAITER_NONE;
    while (d != WAITER_NONE) {
        struct slot *s = &c->slot[d];
        core_waiter next = s->access.next;
        if (s->forwarded)
            core_settle(c, d, later(s->access.done, when + COMPUTES + core_forwarding(c, s->renamed)));
        else
            core_start(c, d, when);
        d = next;
    }
}

static void block(struct core *c, core_waiter w)
{
    struct access *a = access_of(c, w);
    a->state = SLOT_BLOCKED;
    a->next = WAITER_NONE;
    if (c->blocked == WAITER_NONE)
        c->blocked = w;
    else
        access_of(c, c->blocked_last)->next = w;
    c->blocked_last = w;
}

/* The address has been translated, to that page. */
static void touch(struct core *c, core_waiter w, const struct core_page *page, double at)
{
    struct access *a = access_of(c, w);
    double when;
    if (a->kind == CORE_STORE_PAST) {
        core_settle(c, w, at);
        return;
    }
    const uint64_t physical = page->physical + a->address % (1U << VM_PAGE_SHIFT);
    if (find_in_l1(c, line_of(physical), is_exclusive(a), at, &when)) {
        core_settle(c, w, when);
        return;
    }
    core_miss_l1(c, w, physical, at);
}

void core_miss_l1(struct core *c, core_waiter w, uint64_t physical, double at)
{
    double when;
    switch (reach(c, w, physical, false, at, &when)) {
    case REACHED:
        core_settle(c, w, when);
        break;
    case ON_ITS_WAY:
        access_of(c, w)->state = SLOT_MISSES;
        break;
    case NO_PLACE:
        block(c, w);
        break;
    }
}

/* The second TLB, or a walk: true when the translation is there, at *at. */
static bool translate(struct core *c, core_waiter w, const struct core_page *page, double *at)
{
    uint64_t frame = page->physical >> VM_PAGE_SHIFT;
    if (tlb_find(&c->tlb, frame))
        return true;
    enum reach found = REACHED;
    if (tags_find(&c->tlb2, frame)) {
        *at += c->ccd->all->tlb2_latency;
    } else {
        found = reach(c, w, page->table, true, *at, at);
        if (found == NO_PLACE) {
            block(c, w);
            return false;
        }
        c->counters.walks++;
        tags_put(&c->tlb2, frame, 0);
    }
    tlb_put(&c->tlb, frame);
    if (found == ON_ITS_WAY)
        access_of(c, w)->state = SLOT_WALKS;
    return found == REACHED;
}

static void fault_over(struct port_domain *domain, struct port_event *event)
{
    struct core_fault *f = (struct core_fault *)(uintptr_t)event->word[0];
    struct core *c = f->core;
    double now = (double)port_now(domain);
    f->next = c->spare_fault;
    c->spare_fault = f;
    c->faults--;
    c->faulted = now;
    c->at = later(c->at, now);
    core_start(c, f->waiter, now);
    core_go_on(c);
}

static void fault(struct core *c, core_waiter w, double at)
{
    struct access *a = access_of(c, w);
    struct core_fault *f = c->spare_fault;
    if (f)
        c->spare_fault = f->next;
    else
        f = arena_take(&c->ccd->arena, sizeof(*f));
    *f = (struct core_fault){
        .fault = {.address = a->address,
                  .asker = &c->program->asker,
                  .again = c->faulted > 0 && at - c->faulted < AGAIN_NS * c->ccd->all->ghz,
                  .domain = c->ccd->domain,
                  .done = fault_over},
        .core = c,
        .waiter = w,
    };
    a->state = SLOT_FAULTS;
    c->faults++;
    c->counters.faults++;
    vm_core_fault(c->ccd->all->vm, &f->fault);
}

void core_start(struct core *c, core_waiter w, double at)
{
    const struct core_page *page = core_page_of(c, access_of(c, w)->address);
    if (!page)
        fault(c, w, at);
    else if (translate(c, w, page, &at))
        touch(c, w, page, at);
}

/* What it waited for is there: its page's entry, or a line that it is to have alone, if it has. */
static void touch_again(struct core *c, core_waiter w, double at)
{
    const struct core_page *page = core_page_of(c, access_of(c, w)->address);
    if (page)
        touch(c, w, page, at);
    else /* it has been unmapped meanwhile */
        fault(c, w, at);
}

static void unblock(struct core *c)
{
    const struct ccds *all = c->ccd->all;
    while (c->blocked != WAITER_NONE && c->misses < all->l2_misses && c->l1_misses < all->l1_misses) {
        core_waiter w = c->blocked;
        c->blocked = access_of(c, w)->next;
        core_start(c, w, ccd_now(c->ccd));
    }
}

void core_filled(struct core *c, uint64_t line, double when, unsigned flags)
{
    struct core_miss *m = core_find_miss(c, line);
    assert(m);
    core_waiter w = m->waiters;
    core_into_l2(c, line, flags, m->whole);
    if (m->demand)
        core_into_l1(c, line, flags & ~TAG_DIRTY, m->whole);
    core_drop_miss(c, m);
    while (w != WAITER_NONE) {
        struct access *a = access_of(c, w);
        core_waiter next = a->next;
        if (a->state == SLOT_WALKS || is_exclusive(a))
            touch_again(c, w, when);
        else
            core_settle(c, w, when);
        w = next;
    }
    unblock(c);
    core_go_on(c);
}
