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
#include "ccd/internal.h"

enum { AHEAD = 64 };

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

/* And written. */
static bool drain(struct core *c)
{
    if (!core_complete(c) || !core_write_stores(c, 0, true) || !core_drain_past(c))
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
    const bool renamed = s->named && c->op.named;
    const double latency = core_forwarding(c, renamed);
    double ready = s->at;
    if (s->address != c->op.address || s->number + c->stores < c->stored_ever)
        return false;
    at += renamed ? 0 : c->ccd->all->l1_latency;
    if (s->source > c->first) {
        struct slot *source = slot_of(c, s->source - 1);
        if (source->access.state != SLOT_DONE) {
            c->slot[w].forwarded = true;
            c->slot[w].renamed = renamed;
            c->slot[w].access.done = later(at, ready + latency);
            depend(c, w, source);
            return true;
        }
        ready = later(ready, source->access.done + COMPUTES);
    }
    core_settle(c, w, later(at, ready + latency));
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
            core_expect(c, c->op.address);
            return;
        }
        at = later(at, s->access.done);
    }
    if (!c->stores || !forward(c, w, at))
        core_begin_access(c, w, &c->slot[w].access, at);
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
                             .at = c->at,
                             .named = c->op.named};
    if (c->op.kind == CORE_STORE)
        core_begin_access(c, (core_waiter)(place | WAITER_STORE), &c->store[place].access, c->at);
    else
        core_start(c, (core_waiter)(place | WAITER_STORE), c->at);
}

/* False: it waits for what is on its way. */
static bool dispatch(struct core *c)
{
    switch (c->op.kind) {
    case CORE_LOAD:
        if (!core_make_room(c))
            return false;
        if (c->stores)
            core_write_stores(c, UINT32_MAX, false);
        load(c);
        break;
    case CORE_STORE:
    case CORE_STORE_PAST:
        if (((c->atomics || c->locked_until > c->at) && !core_complete(c)) || !core_make_room(c) ||
            !core_write_stores(c, c->ccd->all->stores - 1, true))
            return false;
        store(c);
        break;
    case CORE_ATOMIC:
        if (!core_make_room(c))
            return false;
        c->atomics++;
        c->counters.atomics++;
        core_start(c, add_slot(c, c->at), c->at);
        break;
    case CORE_FENCE:
        return drain(c);
    default:
        break;
    }
    return true;
}

static void again(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct core *c = event->self;
    if (c->turn == event->word[0])
        core_go_on(c);
}

/*
 * Whether simulated time is where what the program waited for is over.  Time of the core's own, in which it
 * dispatches what comes next, has not passed meanwhile: what it foresees is in the window long before.
 */
static bool is_over(struct core *c)
{
    const bool store = c->op.kind == CORE_STORE;
    if (!core_all_known(c) || (store && !core_write_ahead(c)))
        return false;
    const double when = store ? later(c->known_done, c->committed) : c->known_done;
    if (when > ccd_now(c->ccd))
        port_post(c->ccd->domain, core_cycle_of(c, when), again, c)->word[0] = ++c->turn;
    return when <= ccd_now(c->ccd);
}

void core_go_on(struct core *c)
{
    const double now = ccd_now(c->ccd);
    while (c->program && !c->over && !c->faults) {
        if (c->atomics)
            core_make_atomics(c);
        if (c->at > now + AHEAD) {
            port_post(c->ccd->domain, core_cycle_of(c, c->at), again, c)->word[0] = ++c->turn;
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
            port_post(c->ccd->domain, core_cycle_of(c, c->at), core_over, c);
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
    core_go_on(c);
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
    struct core_miss *misses = arena_take(&ccd->arena, all->l2_misses * sizeof(*misses));
    for (unsigned i = 0; i < all->l2_misses; i++) {
        misses[i].next = c->spare_miss;
        c->spare_miss = &misses[i];
    }
    c->branches = arena_take(&ccd->arena, sizeof(*c->branches));
    c->stream = arena_take(&ccd->arena, (all->streams + 1) * sizeof(*c->stream));
    c->stream_page = arena_take(&ccd->arena, (all->streams + 1) * sizeof(*c->stream_page));
    tags_open(&c->l1, (uint64_t)v[CHIP_core_l1] / CORE_LINE, (uint32_t)v[CHIP_core_l1_ways], &ccd->arena);
    tags_open(&c->l2, (uint64_t)v[CHIP_core_l2] / CORE_LINE, (uint32_t)v[CHIP_core_l2_ways], &ccd->arena);
    tlb_open(&c->tlb, chip_get(chip, CHIP_core_tlb), &ccd->arena);
    tags_open(&c->tlb2, (uint64_t)v[CHIP_core_tlb2], (uint32_t)v[CHIP_core_tlb2_ways], &ccd->arena);
}
