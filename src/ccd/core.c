/* SPDX-License-Identifier: MIT */
/*
 * A core, as far as memory keeps it waiting: instructions go into a window in order and leave it in order,
 * loads in it go their way as soon as their addresses are known, stores behind it are written in order once
 * the core has their lines for itself (x86-64's memory order), of which it asks for as many as its queues
 * hold.  Non-temporal ones ask for none: their bytes are combined to lines, which leave in any order, and
 * which fences and atomic operations wait for (AMD64 Architecture Programmer's Manual 2, 24593, Write
 * Combining).
 *
 * What the core's own caches answer takes no events: it runs up to AHEAD cycles before the domain's clock.
 */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "ccd/internal.h"

enum { AHEAD = 64, AGAIN_NS = 20000 };
enum { COMPUTES = 1 }; /* cycles, from a load's value to that which is stored: an addition's */

static double later(double a, double b)
{
    return a > b ? a : b;
}

static struct slot *slot_of(struct core *c, uint64_t number)
{
    return &c->slot[number % CORE_WINDOW];
}

static struct access *access_of(struct core *c, core_waiter w)
{
    return w & WAITER_STORE ? &c->store[w & ~WAITER_STORE].access : &c->slot[w].access;
}

static bool is_exclusive(const struct access *a)
{
    return a->kind != CORE_LOAD;
}

/* ---- lines ---- */

/* Whether the first cache has it, and when it is there. */
static inline bool find_in_l1(struct core *c, uint64_t line, bool exclusive, double at, double *when)
{
    uint64_t *e = tags_find(&c->l1, line);
    if (!e || (exclusive && !(*e & TAG_OWNED)))
        return false;
    *e |= exclusive ? TAG_DIRTY : 0;
    *when = (line == c->taken_line ? later(at, c->taken_at) : at) + c->ccd->all->l1_latency;
    return true;
}

enum reach { REACHED, ON_ITS_WAY, NO_PLACE };

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
    const uint64_t *e = tags_find(&c->l2, line);
    if (e && (!exclusive || *e & TAG_OWNED)) {
        f.flags = (unsigned)*e & (TAG_OWNED | TAG_OURS);
    } else {
        struct core_miss *m = core_find_miss(c, line);
        if (!is_table && (!m || !m->demand) && c->l1_misses == all->l1_misses)
            return NO_PLACE;
        if (!m) {
            if (c->misses == all->l2_misses)
                return NO_PLACE;
            c->counters.l2_misses++;
            if (ccd_fetch(c, line, address, exclusive, is_table, at + all->l2_latency, &f)) {
                core_into_l2(c, line, f.flags);
                c->taken_line = line;
                c->taken_at = f.when;
            } else {
                m = core_add_miss(c, line, !is_table);
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
        c->counters.l1_misses++;
        core_into_l1(c, line, (f.flags & ~TAG_DIRTY) | (exclusive ? TAG_DIRTY : 0));
        core_follow(c, line, address, exclusive, at);
    }
    *when = f.when;
    return REACHED;
}

static void start(struct core *c, core_waiter w, double at);

/* It has what it wants. */
static void settle(struct core *c, core_waiter w, double when)
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
            settle(c, d, later(s->access.done, when + COMPUTES + c->ccd->all->forward));
        else
            start(c, d, when);
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
        settle(c, w, at);
        return;
    }
    const uint64_t physical = page->physical + a->address % (1U << VM_PAGE_SHIFT);
    if (find_in_l1(c, line_of(physical), is_exclusive(a), at, &when)) {
        settle(c, w, when);
        return;
    }
    switch (reach(c, w, physical, false, at, &when)) {
    case REACHED:
        settle(c, w, when);
        break;
    case ON_ITS_WAY:
        a->state = SLOT_MISSES;
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

static void go_on(struct core *c);

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
    start(c, f->waiter, now);
    go_on(c);
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

static void start(struct core *c, core_waiter w, double at)
{
    const struct core_page *page = core_page_of(c, access_of(c, w)->address);
    if (!page)
        fault(c, w, at);
    else if (translate(c, w, page, &at))
        touch(c, w, page, at);
}

/* What most are: the first TLB has their page and the first cache their line, and so all is known at once. */
static inline bool is_at_hand(struct core *c, uint64_t address, bool exclusive, double at, double *when)
{
    const struct core_page *page = core_page_of(c, address);
    return page && tlb_find(&c->tlb, page->physical >> VM_PAGE_SHIFT) &&
           find_in_l1(c, line_of(page->physical + address % (1U << VM_PAGE_SHIFT)), exclusive, at, when);
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
        start(c, w, ccd_now(c->ccd));
    }
}

void core_filled(struct core *c, uint64_t line, double when, unsigned flags)
{
    struct core_miss *m = core_find_miss(c, line);
    assert(m);
    core_waiter w = m->waiters;
    core_into_l2(c, line, flags);
    if (m->demand)
        core_into_l1(c, line, flags & ~TAG_DIRTY);
    core_drop_miss(c, m);
    while (w != WAITER_NONE) {
        struct access *a = access_of(c, w);
        core_waiter next = a->next;
        if (a->state == SLOT_WALKS || is_exclusive(a))
            touch_again(c, w, when);
        else
            settle(c, w, when);
        w = next;
    }
    unblock(c);
    go_on(c);
}

/* ---- the window ---- */

static void leave(struct core *c, const struct slot *s)
{
    c->instructions -= s->instructions;
    c->loads -= s->access.kind == CORE_LOAD;
    c->last_done = later(c->last_done, s->access.done);
    c->first++;
}

/* UINT64_MAX: its page does not exist any more. */
static uint64_t physical_line(struct core *c, uint64_t address)
{
    const struct core_page *page = core_page_of(c, address);
    return page ? line_of(page->physical + address % (1U << VM_PAGE_SHIFT)) : UINT64_MAX;
}

/* ---- stores past the caches ---- */

/* False: it has no place to go to, or its line is on its way here. */
static bool write_past(struct core *c, unsigned i)
{
    if (c->past == c->ccd->all->l2_misses || !ccd_write_past(c, &c->combined[i]))
        return false;
    c->past++;
    c->combining--;
    memmove(&c->combined[i], &c->combined[i + 1], (c->combining - i) * sizeof(c->combined[0]));
    return true;
}

/* The store's bytes among those of its line, which leaves when it has all.  False: there is no place for one
 * more line. */
static bool combine(struct core *c, const struct access *a, double when)
{
    const uint64_t line = physical_line(c, a->address), first = a->address % CORE_LINE,
                   bytes = a->bytes < CORE_LINE - first ? a->bytes : CORE_LINE - first,
                   mask = (bytes < CORE_LINE ? (UINT64_C(1) << bytes) - 1 : UINT64_MAX) << first;
    unsigned i = 0;
    if (line == UINT64_MAX)
        return true;
    while (i < c->combining && c->combined[i].line != line)
        i++;
    if (i == CORE_COMBINES) {
        if (!write_past(c, 0))
            return false;
        i = c->combining;
    }
    if (i == c->combining)
        c->combined[c->combining++] = (struct core_combined){.line = line, .address = a->address};
    c->combined[i].mask |= mask;
    c->combined[i].at = when;
    if (c->combined[i].mask == UINT64_MAX)
        write_past(c, i); /* else it stays, full */
    return true;
}

/* All are at their homes. */
static bool drain_past(struct core *c)
{
    while (c->combining && write_past(c, 0))
        ;
    return !c->combining && !c->past;
}

/* Others have taken lines since it got its own: that one too, perhaps. */
static bool has_lost(struct core *c, struct store *s)
{
    if (s->access.kind != CORE_STORE || s->losses == c->losses)
        return false;
    const uint64_t line = physical_line(c, s->access.address), *e = tags_peek(&c->l2, line);
    if (line != UINT64_MAX && !(e && *e & TAG_OWNED))
        return true;
    s->losses = c->losses;
    return false;
}

/* Whether the value and the line of the first that has not been written are there, or when is known. */
static bool can_write(struct core *c, struct store *s, double *when)
{
    const struct access *source = s->source > c->first ? &slot_of(c, s->source - 1)->access : NULL;
    if (s->access.state != SLOT_DONE || (source && source->state != SLOT_DONE))
        return false;
    if (has_lost(c, s)) {
        s->losses = c->losses;
        start(c, (core_waiter)((s - c->store) | WAITER_STORE), later(s->access.done, ccd_now(c->ccd)));
        if (s->access.state != SLOT_DONE)
            return false;
    }
    *when = later(c->committed + 1, s->access.done);
    *when = source ? later(*when, source->done + COMPUTES) : *when;
    return true;
}

/* That one is, at `when` or later.  False: there is no place for it. */
static bool write_store(struct core *c, struct access *a, double when)
{
    if (a->kind == CORE_STORE_PAST) {
        when = c->past_waits ? later(when, ccd_now(c->ccd)) : when;
        c->past_waits = !combine(c, a, when);
        if (c->past_waits)
            return false;
    }
    a->done = c->committed = when;
    c->written++;
    return true;
}

/* As many stores are written as is known that are, until there are no more than `most`; the core may wait for
 * that. */
static bool write_stores(struct core *c, unsigned most, bool waits)
{
    const unsigned size = c->ccd->all->stores;
    while (c->stores) {
        struct access *a = &c->store[c->first_store].access;
        double when = a->done;
        if (!c->written && !can_write(c, &c->store[c->first_store], &when))
            break;
        if ((when > c->at && c->stores <= most) || (!c->written && !write_store(c, a, when)))
            break;
        c->at = waits && c->stores > most ? later(c->at, a->done) : c->at;
        c->first_store = (c->first_store + 1) % size;
        c->stores--;
        c->written--;
    }
    return c->stores <= most;
}

/* All are written, or will be at c->committed, up to when they keep their places. */
static bool write_ahead(struct core *c)
{
    while (c->written < c->stores) {
        struct store *s = &c->store[(c->first_store + c->written) % c->ccd->all->stores];
        double when;
        if (!can_write(c, s, &when) || !write_store(c, &s->access, when))
            return false;
    }
    return true;
}

static bool owns(struct core *c, uint64_t line)
{
    const uint64_t *e = line == UINT64_MAX ? NULL : tags_peek(&c->l1, line);
    return e && *e & TAG_OWNED;
}

/* Its line is there, and nothing before it but what is over at `before`. */
static void make(struct core *c, struct access *a, uint64_t line, double before)
{
    a->done = line == c->taken_line ? later(a->done, c->taken_at) : a->done;
    a->done = later(later(a->done, before), later(c->committed, c->last_past)) + c->ccd->all->locked;
    a->kind = CORE_COMPUTE;
    c->atomics--;
    c->locked_line = line;
    c->locked_until = a->done;
}

/* What is in front of it is over at `before`: when all stores are written, and its line is there, which
 * another may have taken away again. */
static __attribute__((noinline)) bool make_atomic(struct core *c, uint64_t number, double before)
{
    struct access *a = &slot_of(c, number)->access;
    if (!write_stores(c, 0, false) || !drain_past(c))
        return false;
    const uint64_t line = physical_line(c, a->address);
    if (!owns(c, line)) {
        start(c, (core_waiter)(number % CORE_WINDOW), later(a->done, ccd_now(c->ccd)));
        if (a->state != SLOT_DONE)
            return false;
    }
    make(c, a, line, before);
    return true;
}

/* What is written by now, before somebody takes its line.  Nothing is asked for: who looks at the caches is
 * not done. */
static void write_due(struct core *c)
{
    while (c->written < c->stores) {
        struct store *s = &c->store[(c->first_store + c->written) % c->ccd->all->stores];
        double when;
        if (s->access.kind != CORE_STORE || has_lost(c, s) || !can_write(c, s, &when) ||
            when > ccd_now(c->ccd))
            return;
        write_store(c, &s->access, when);
    }
}

double core_finish(struct core *c, uint64_t line)
{
    if (c->written < c->stores && owns(c, line))
        write_due(c);
    double before = c->last_done;
    bool made = c->atomics && owns(c, line) && c->stores == c->written && !c->combining && !c->past;
    for (uint64_t n = c->first; made && n != c->next; n++) {
        struct access *a = &slot_of(c, n)->access;
        made = a->state == SLOT_DONE && (a->kind != CORE_ATOMIC || physical_line(c, a->address) == line);
        if (made && a->kind == CORE_ATOMIC)
            make(c, a, line, before);
        before = later(before, a->done);
    }
    return c->locked_line == line ? c->locked_until : 0;
}

/* Whether it is known when it is complete, as it is of all before it. */
static bool is_known(struct core *c, uint64_t number, double before)
{
    const struct access *a = &slot_of(c, number)->access;
    return a->state == SLOT_DONE && (a->kind != CORE_ATOMIC || make_atomic(c, number, before));
}

static inline bool oldest_is_known(struct core *c)
{
    const struct access *a = &slot_of(c, c->first)->access;
    return a->state == SLOT_DONE && (a->kind != CORE_ATOMIC || make_atomic(c, c->first, c->last_done));
}

/* What has left the window is known. */
static void begin_known(struct core *c)
{
    if (c->known < c->first) {
        c->known = c->first;
        c->known_done = c->last_done;
    }
}

static void pass_known(struct core *c)
{
    c->known_done = later(c->known_done, slot_of(c, c->known++)->access.done);
}

/* Atomic operations are made as soon as they can be: others want their lines. */
static void make_atomics(struct core *c)
{
    begin_known(c);
    while (c->known != c->next && is_known(c, c->known, c->known_done)) {
        if (slot_of(c, c->known)->access.done > later(c->at, ccd_now(c->ccd)))
            return;
        pass_known(c);
    }
}

/* False: when there will be is not known. */
static bool make_room(struct core *c)
{
    const struct ccds *all = c->ccd->all;
    while (c->first != c->next) {
        const struct slot *s = slot_of(c, c->first);
        const bool known = oldest_is_known(c);
        if (!known || s->access.done > c->at) {
            const bool full = c->next - c->first == CORE_WINDOW ||
                              c->instructions + c->op.instructions > all->window ||
                              (c->op.kind == CORE_LOAD && c->loads == all->loads);
            if (!full || !known)
                return !full;
            c->at = s->access.done;
        }
        leave(c, s);
    }
    return true;
}

/* All before it is complete. */
static bool complete(struct core *c)
{
    while (c->first != c->next) {
        const struct slot *s = slot_of(c, c->first);
        if (!oldest_is_known(c))
            return false;
        c->at = later(c->at, s->access.done);
        leave(c, s);
    }
    return true;
}

static void foresee(struct core *c)
{
    const struct core_op *op = &c->op;
    c->strayed = !branches_take(c->branches, op->branch, op->target, op->jump, op->signature);
    c->counters.branches++;
    c->counters.mispredicted += c->strayed;
}

/* It goes on once it is known that a branch went elsewhere.  False: when that is is not known. */
static bool find_way(struct core *c)
{
    const unsigned ring = sizeof(c->load) / sizeof(c->load[0]), after = c->op.branch_after;
    const uint64_t source =
        after && after != CORE_AFTER_WAIT ? c->load[(c->load_at + ring - after) % ring] : 0;
    double at = c->at - c->op.cycles;
    if (after == CORE_AFTER_WAIT)
        at = later(at, ccd_now(c->ccd));
    if (source > c->first) { /* else it has left the window */
        const struct access *a = &slot_of(c, source - 1)->access;
        if (a->state != SLOT_DONE)
            return false;
        at = later(at, a->done + COMPUTES);
    }
    c->at = at + c->ccd->all->mispredict + c->op.cycles;
    c->strayed = false;
    return true;
}

/* Whether it is known when all in the window is complete. */
static bool all_known(struct core *c)
{
    begin_known(c);
    while (c->known != c->next && is_known(c, c->known, c->known_done))
        pass_known(c);
    return c->known == c->next;
}

/* And written. */
static bool drain(struct core *c)
{
    if (!complete(c) || !write_stores(c, 0, true) || !drain_past(c))
        return false;
    c->at = later(c->at, later(c->committed, c->last_past));
    return true;
}

static core_waiter add_slot(struct core *c, double done)
{
    core_waiter w = (core_waiter)(c->next++ % CORE_WINDOW);
    c->slot[w] = (struct slot){
        .access = {.done = done, .address = c->op.address, .state = SLOT_DONE, .kind = c->op.kind},
        .instructions = c->op.instructions,
        .dependents = WAITER_NONE,
    };
    c->instructions += c->op.instructions;
    c->loads += c->op.kind == CORE_LOAD;
    return w;
}

/* The n-th load before the operation, plus 1; 0: there is none. */
static uint64_t load_before(const struct core *c)
{
    const unsigned ring = sizeof(c->load) / sizeof(c->load[0]);
    return c->op.after ? c->load[(c->load_at + ring - c->op.after) % ring] : 0;
}

static void depend(struct core *c, core_waiter w, struct slot *on)
{
    c->slot[w].access.state = SLOT_DEPENDS;
    c->slot[w].access.next = on->dependents;
    on->dependents = w;
}

static struct core_stored *stored_at(struct core *c, uint64_t address)
{
    return &c->stored[(address / 4 ^ address / 4 / CORE_STORED) % CORE_STORED];
}

/* A store to the same address, which is still in the queue, has the value that it loads, or will have it. */
static bool forward(struct core *c, core_waiter w, double at)
{
    const struct core_stored *s = stored_at(c, c->op.address);
    const double latency = c->ccd->all->forward;
    double ready = s->at;
    if (s->address != c->op.address || s->number + c->stores < c->stored_ever)
        return false;
    at += c->ccd->all->l1_latency;
    if (s->source > c->first) {
        struct slot *source = slot_of(c, s->source - 1);
        if (source->access.state != SLOT_DONE) {
            c->slot[w].forwarded = true;
            c->slot[w].access.done = later(at, ready + latency);
            depend(c, w, source);
            return true;
        }
        ready = later(ready, source->access.done + COMPUTES);
    }
    settle(c, w, later(at, ready + latency));
    return true;
}

static void load(struct core *c)
{
    const unsigned ring = sizeof(c->load) / sizeof(c->load[0]);
    double at = c->at;
    uint64_t before = load_before(c);
    uint32_t depth = c->op.after ? c->depth[(c->load_at + ring - c->op.after) % ring] + 1 : 1;
    core_waiter w = add_slot(c, at);
    c->deepest = depth > c->deepest ? depth : c->deepest;
    c->depth[c->load_at] = depth;
    c->load[c->load_at++] = c->next; /* its number plus 1 */
    c->counters.loads++;
    if (before > c->first) { /* else it has left the window */
        struct slot *s = slot_of(c, before - 1);
        if (s->access.state != SLOT_DONE) {
            depend(c, w, s);
            return;
        }
        at = later(at, s->access.done);
    }
    if ((!c->stores || !forward(c, w, at)) &&
        !is_at_hand(c, c->op.address, false, at, &c->slot[w].access.done))
        start(c, w, at);
}

static void store(struct core *c)
{
    const unsigned size = c->ccd->all->stores, next = c->first_store + c->stores++,
                   place = next < size ? next : next - size;
    const uint64_t source = load_before(c);
    c->store[place] =
        (struct store){.access = {.address = c->op.address, .kind = c->op.kind, .bytes = c->op.bytes},
                       .source = source,
                       .losses = c->losses};
    add_slot(c, c->at + 1);
    c->counters.stores++;
    *stored_at(c, c->op.address) =
        (struct core_stored){.address = c->op.kind == CORE_STORE ? c->op.address : 0,
                             .number = c->stored_ever++,
                             .source = source,
                             .at = c->at};
    if (c->op.kind != CORE_STORE || !is_at_hand(c, c->op.address, true, c->at, &c->store[place].access.done))
        start(c, (core_waiter)(place | WAITER_STORE), c->at);
}

/* False: it waits for what is on its way. */
static bool dispatch(struct core *c)
{
    switch (c->op.kind) {
    case CORE_LOAD:
        if (!make_room(c))
            return false;
        if (c->stores)
            write_stores(c, UINT32_MAX, false);
        load(c);
        break;
    case CORE_STORE:
    case CORE_STORE_PAST:
        if (((c->atomics || c->locked_until > c->at) && !complete(c)) || !make_room(c) ||
            !write_stores(c, c->ccd->all->stores - 1, true))
            return false;
        store(c);
        break;
    case CORE_ATOMIC:
        if (!make_room(c))
            return false;
        c->atomics++;
        c->counters.atomics++;
        start(c, add_slot(c, c->at), c->at);
        break;
    case CORE_FENCE:
        return drain(c);
    default:
        break;
    }
    return true;
}

/* ---- who has the core ---- */

static uint64_t cycle_of(const struct core *c, double at)
{
    uint64_t now = port_now(c->ccd->domain), cycle = (uint64_t)at;
    cycle += (double)cycle < at;
    return cycle > now ? cycle : now;
}

static void take(struct core *c, struct core_program *program)
{
    assert(!c->program && c->first == c->next && !c->stores && c->blocked == WAITER_NONE);
    c->program = program;
    c->has_op = c->at_end = c->over = c->waits = c->strayed = false;
    c->at = ccd_now(c->ccd);
    c->began_ps = port_now_ps(c->ccd->domain);
    memset(c->load, 0, sizeof(c->load));
    memset(c->depth, 0, sizeof(c->depth));
    if (program->begins && !program->begun)
        program->begins(program);
    program->begun = true;
    go_on(c);
}

static void wait_behind(struct core *c, struct core_program *program)
{
    program->behind = NULL;
    *(c->waiting ? c->waiting_end : &c->waiting) = program;
    c->waiting_end = &program->behind;
}

static void switched(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct core *c = event->self;
    c->switching = false;
    if (c->program)
        return; /* who had it came back at once */
    struct core_program *first = c->waiting;
    c->waiting = first->behind;
    c->slice_end = ccd_now(c->ccd) + c->ccd->all->slice;
    c->counters.switches++;
    take(c, first);
}

/* The core is idle, and others wait.  A call of the library's that takes no time to speak of lets nobody in
 * between: who made it is back before this. */
static void switch_soon(struct core *c)
{
    if (c->switching)
        return;
    c->switching = true;
    port_post(c->ccd->domain, cycle_of(c, ccd_now(c->ccd) + c->ccd->all->switch_time), switched, c);
}

void core_begin(struct core *c, struct core_program *program)
{
    const double now = ccd_now(c->ccd);
    program->asker.package = fabric_package(c->ccd->all->fabric);
    const bool goes_on = program == c->last && now < c->slice_end;
    if (!c->program && (goes_on || !c->waiting)) {
        c->slice_end = goes_on ? c->slice_end : now + c->ccd->all->slice;
        take(c, program);
        return;
    }
    wait_behind(c, program);
    if (!c->program)
        switch_soon(c);
}

static void over(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct core *c = event->self;
    struct core_program *program = c->program;
    uint64_t ps = port_now_ps(c->ccd->domain);
    c->program = NULL;
    c->counters.busy_ps += ps - c->began_ps;
    c->counters.chained += c->deepest;
    c->deepest = 0;
    c->last = c->preempted ? NULL : program;
    if (c->preempted)
        wait_behind(c, program);
    c->preempted = false;
    if (c->waiting)
        switch_soon(c);
    if (c->last)
        program->ended(program, ps);
}

static void again(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct core *c = event->self;
    if (c->turn == event->word[0])
        go_on(c);
}

/*
 * Whether simulated time is where what the program waited for is over.  Time of the core's own, in which it
 * dispatches what comes next, has not passed meanwhile: what it foresees is in the window long before.
 */
static bool is_over(struct core *c)
{
    const bool store = c->op.kind == CORE_STORE;
    if (!all_known(c) || (store && !write_ahead(c)))
        return false;
    const double when = store ? later(c->known_done, c->committed) : c->known_done;
    if (when > ccd_now(c->ccd))
        port_post(c->ccd->domain, cycle_of(c, when), again, c)->word[0] = ++c->turn;
    return when <= ccd_now(c->ccd);
}

static void go_on(struct core *c)
{
    const double now = ccd_now(c->ccd);
    while (c->program && !c->over && !c->faults) {
        if (c->atomics)
            make_atomics(c);
        if (c->at > now + AHEAD) {
            port_post(c->ccd->domain, cycle_of(c, c->at), again, c)->word[0] = ++c->turn;
            return;
        }
        if (!c->has_op && !c->at_end) {
            if (c->waits && !is_over(c))
                return;
            c->preempted = c->waiting && now >= c->slice_end;
            c->has_op = !c->preempted && c->program->next(c->program, &c->op);
            c->at_end = !c->has_op;
            c->at = c->has_op && c->op.unforeseen ? later(c->at, now) : c->at;
            c->at += c->has_op ? c->op.cycles : 0;
            c->counters.instructions += c->has_op ? c->op.instructions : 0;
            if (c->has_op && c->op.branch)
                foresee(c);
            continue;
        }
        if (c->strayed) {
            if (!find_way(c))
                return;
            continue;
        }
        if (c->at_end) {
            if (!drain(c))
                return;
            c->over = true;
            c->turn++;
            port_post(c->ccd->domain, cycle_of(c, c->at), over, c);
            return;
        }
        if (!dispatch(c))
            return;
        c->has_op = false;
        c->waits = c->op.waits;
    }
}

void core_past(struct core *c, bool written)
{
    if (written) {
        c->past--;
        c->last_past = ccd_now(c->ccd);
    }
    go_on(c);
}

void core_open(struct ccd *ccd, unsigned index, const struct chip *chip)
{
    struct core *c = &ccd->core[index];
    const struct ccds *all = ccd->all;
    const double *v = chip->value;
    c->ccd = ccd;
    c->index = index;
    c->blocked = WAITER_NONE;
    c->store = arena_take(&ccd->arena, all->stores * sizeof(*c->store));
    c->miss = arena_take(&ccd->arena, all->l2_misses * sizeof(*c->miss));
    c->branches = arena_take(&ccd->arena, sizeof(*c->branches));
    c->stream = arena_take(&ccd->arena, (all->streams + 1) * sizeof(*c->stream));
    tags_open(&c->l1, (uint64_t)v[CHIP_core_l1] / CORE_LINE, (uint32_t)v[CHIP_core_l1_ways], &ccd->arena);
    tags_open(&c->l2, (uint64_t)v[CHIP_core_l2] / CORE_LINE, (uint32_t)v[CHIP_core_l2_ways], &ccd->arena);
    tlb_open(&c->tlb, chip_get(chip, CHIP_core_tlb), &ccd->arena);
    tags_open(&c->tlb2, (uint64_t)v[CHIP_core_tlb2], (uint32_t)v[CHIP_core_tlb2_ways], &ccd->arena);
}
