/* SPDX-License-Identifier: MIT */
/* An XCD's share of a dispatch in simulated time; see timed.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/timed/count.h"
#include "engine/timed/timed.h"
#include "fabric/fabric.h"

/* Which of the XCDs that take workgroups this is; their number: none. */
static unsigned taker_of(const struct cp_dispatch *d, unsigned xcc)
{
    unsigned i = 0;
    while (i < d->takers && d->first_xcc + d->taker[i] != xcc)
        i++;
    return i;
}

/* The n-th workgroup that falls to an XCD: chunks go round those that take any. */
uint64_t timed_nth_workgroup(const struct cp_dispatch *d, unsigned xcc, uint64_t n)
{
    return (n / d->chunk * d->takers + taker_of(d, xcc)) * d->chunk + n % d->chunk;
}

uint64_t timed_share_of(const struct cp_dispatch *d, unsigned xcc)
{
    const unsigned taker = taker_of(d, xcc);
    if (taker == d->takers)
        return 0;
    uint64_t round = (uint64_t)d->chunk * d->takers, rest = d->total % round,
             first = (uint64_t)taker * d->chunk;
    uint64_t more = rest <= first ? 0 : rest - first;
    return d->total / round * d->chunk + (more < d->chunk ? more : d->chunk);
}

/* ---- the end of a share ---- */

static void share_told(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    if (++d->xccs_done == d->xccs && !sample_run_rest(timed, d) && !gap_wait(timed, d))
        timed_dispatch_ended(timed, d);
}

/* The XCDs agree on completion by counting in memory. */
static void released(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed_share *share = (struct timed_share *)(uintptr_t)event->word[0];
    struct timed *timed = share->xcd->timed;
    count_end(share->d, share->xcd);
    if (sample_stopped(share->d, share->xcd->index))
        sample_released(share->xcd, share->d);
    const uint64_t word[3] = {(uint64_t)(uintptr_t)share->d};
    timed_access_from(share->xcd, true, timed_place_of(timed, share->d->queue, PLACE_AGREEMENT), share_told,
                      word);
    free(share->free_scratch);
    free(share);
}

static void end_share(struct timed_xcd *x, struct timed_share *share)
{
    for (struct timed_share **at = &x->shares; *at; at = &(*at)->next)
        if (*at == share) {
            *at = share->next;
            break;
        }
    unsigned scope = share->d->packet.header >> EHP_HEADER_RELEASE_SHIFT & 3;
    if (sample_stopped(share->d, x->index)) {
        scope = 2; /* the rest works on memory */
        sample_release(x, share->d);
    }
    if (scope == 0)
        port_post(x->domain, port_now(x->domain) + 1, released, share)->word[0] = (uint64_t)(uintptr_t)share;
    else
        xcd_mem_release(x->mem, scope == 2, released, share);
}

/* ---- launching ---- */

static void launch(struct port_domain *domain, struct port_event *event);

static void kick_from(struct timed_xcd *x, uint64_t cycle)
{
    if (x->launching)
        return;
    x->launching = true;
    uint64_t now = port_now(x->domain), at = x->launch_at > cycle ? x->launch_at : cycle;
    port_post(x->domain, at > now ? at : now, launch, x);
}

static void kick(struct timed_xcd *x)
{
    kick_from(x, 0);
}

/* Each XCD counts through all workgroups of the grid, and starts its own. */
static void go_on_to_next(struct timed_share *share, uint64_t passed)
{
    const struct timed_xcd *x = share->xcd;
    share->reached = port_now(x->domain) + (uint64_t)ceil((double)passed * x->timed->workgroup_cycles);
}

static void note_running(struct timed_xcd *x, struct workgroup *wg)
{
    if (x->running_count == x->running_capacity) {
        x->running_capacity = x->running_capacity ? 2 * x->running_capacity : 64;
        struct workgroup **running = realloc(x->running, x->running_capacity * sizeof(*running));
        if (!running)
            abort();
        x->running = running;
    }
    wg->runs = x->running_count;
    x->running[x->running_count++] = wg;
}

static struct workgroup *take_spare(struct timed_xcd *x)
{
    struct workgroup *wg = x->spare;
    if (wg)
        x->spare = wg->next;
    return wg;
}

void timed_keep_spare(struct timed_xcd *x, struct workgroup *wg)
{
    wg->next = x->spare;
    x->spare = wg;
}

struct workgroup *timed_place(struct timed_xcd *x, struct cp_dispatch *d, uint64_t n)
{
    struct workgroup *wg =
        workgroup_start(take_spare(x), &d->launch, timed_nth_workgroup(d, x->index, n), &x->arena);
    if (!wg) {
        char room[512];
        fprintf(stderr, "ehp: the host has no memory for a workgroup of %s\n",
                ehp_printable(d->kernel, room, sizeof(room)));
        abort();
    }
    wg->owner = d;
    wg->xcc = x->index;
    /* Page tables say what is the GPU's, but know pages only. */
    const struct memory *memory = x->timed->engine.cp->memory;
    for (unsigned i = 0; i < wg->waves && memory->exact; i++) {
        wg->wave[i].mem_arena = memory->arena;
        wg->wave[i].mem_mask = ~(memory->arena_bytes - 1);
    }
    if (!ace_place(x->timed->engine.cp, &x->timed->engine.cp->round, d, wg)) {
        timed_keep_spare(x, wg);
        return NULL;
    }
    atomic_fetch_add_explicit(&d->waves, wg->waves, memory_order_relaxed);
    return wg;
}

/* Starts the share's next workgroup; false when no CU has room for it. */
static bool start_one(struct timed_xcd *x, struct timed_share *share)
{
    struct workgroup *wg = timed_scratch_has_room(share) ? timed_place(x, share->d, share->started) : NULL;
    if (!wg)
        return false;
    const uint64_t n = share->started++;
    go_on_to_next(share, timed_nth_workgroup(share->d, x->index, n + 1) -
                             timed_nth_workgroup(share->d, x->index, n));
    wg->share = share;
    timed_scratch_take(share, wg);
    note_running(x, wg);
    cu_start(x->cu, wg);
    double now = (double)port_now(x->domain);
    x->launch_free = (now - x->launch_free < 1 ? x->launch_free : now) + wg->waves * x->timed->wave_cycles;
    x->launch_at = (uint64_t)ceil(x->launch_free);
    if (share->d->gap)
        gap_started(x, share);
    return true;
}

/*
 * What an ACE launches next: of the highest priority, and of its queue, which it leaves when that has nothing
 * to launch; then the oldest.
 */
static struct timed_share *next_of(const struct timed_xcd *x, unsigned ace)
{
    struct timed_share *best = NULL;
    for (struct timed_share *s = x->shares; s; s = s->next) {
        if (!s->acquired || s->started == s->total || s->aborted ||
            s->d->queue_number % x->timed->aces != ace)
            continue;
        if (!best || s->d->priority > best->d->priority ||
            (s->d->priority == best->d->priority && s->d->queue_number == x->ace[ace].queue &&
             best->d->queue_number != x->ace[ace].queue))
            best = s;
    }
    return best;
}

static void switched(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    kick(event->self);
}

/* Whether the ACE has the share's queue; else it turns to that, which takes time if it had another. */
static bool has_queue(struct timed_xcd *x, struct timed_ace *ace, const struct timed_share *share)
{
    uint64_t now = port_now(x->domain);
    if (ace->queue != share->d->queue_number) {
        ace->ready = now;
        if (ace->queue) {
            ace->ready = port_cycle_of(x->domain, port_now_ps(x->domain) + x->timed->switch_ps);
            port_post(x->domain, ace->ready, switched, x);
        }
        ace->queue = share->d->queue_number;
    }
    return ace->ready <= now;
}

/* One workgroup, of one of the ACEs in turn that have the highest priority, and for which a CU has room. */
static void launch(struct port_domain *domain, struct port_event *event)
{
    struct timed_xcd *x = event->self;
    x->launching = false;
    struct timed_share *next[CHIP_MAX_ACES];
    unsigned priority = 0;
    uint64_t now = port_now(domain), soonest = UINT64_MAX;
    for (unsigned i = 0; i < x->timed->aces; i++) {
        next[i] = next_of(x, i);
        if (next[i] && next[i]->d->priority > priority)
            priority = next[i]->d->priority;
    }
    for (unsigned k = 0; k < x->timed->aces; k++) {
        unsigned i = (x->turn + k) % x->timed->aces;
        if (!next[i] || next[i]->d->priority < priority || !has_queue(x, &x->ace[i], next[i]))
            continue;
        if (next[i]->reached > now)
            soonest = next[i]->reached < soonest ? next[i]->reached : soonest;
        else if (start_one(x, next[i])) {
            x->turn = (i + 1) % x->timed->aces;
            kick_from(x, x->shares->next ? 0 : next[i]->reached);
            return;
        }
    }
    if (soonest != UINT64_MAX)
        kick_from(x, soonest);
}

void timed_drop_rest(struct timed_xcd *x, struct timed_share *share)
{
    share->left -= share->total - share->started;
    share->started = share->total;
    if (share->left == 0)
        end_share(x, share);
}

static struct timed_share *share_in(const struct timed_xcd *x, const struct cp_dispatch *d)
{
    struct timed_share *share = x->shares;
    while (share && share->d != d)
        share = share->next;
    return share;
}

static void abort_share(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed_xcd *x = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct timed_share *share = share_in(x, d);
    if (share)
        share->aborted = true;
    if (!share || !share->acquired)
        return; /* over already; or acquired() will see it */
    unsigned count = x->running_count;
    struct workgroup **list = malloc((count + 1) * sizeof(*list));
    if (!list)
        abort();
    memcpy(list, x->running, count * sizeof(*list)); /* it changes underneath */
    uint64_t more = share->total - share->started;
    share->started = share->total;
    share->left -= more;
    bool any = share->left != 0;
    for (unsigned i = 0; i < count; i++)
        if (list[i]->owner == d)
            cu_abort(x->cu, list[i]);
    if (!any)
        end_share(x, share);
    free(list);
}

static void workgroup_done(void *context, struct workgroup *wg)
{
    struct timed_xcd *x = context;
    struct timed_share *share = wg->share;
    ace_release(x->timed->engine.cp, share->d, wg);
    struct workgroup *last = x->running[--x->running_count];
    x->running[wg->runs] = last;
    last->runs = wg->runs;
    timed_scratch_give(share, wg);
    timed_keep_spare(x, wg);
    if (--share->left == 0)
        end_share(x, share);
    kick(x);
}

struct told_fault {
    struct cp_dispatch *d;
    struct ehp_fault fault;
};

static void fault_told(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    struct told_fault *told = (struct told_fault *)(uintptr_t)event->word[0];
    struct cp_dispatch *d = told->d;
    cp_dispatch_abort(d);
    if (!d->faulted) {
        d->faulted = true;
        pthread_mutex_lock(&timed->engine.cp->lock);
        cp_queue_fault(d->queue, &told->fault);
        pthread_mutex_unlock(&timed->engine.cp->lock);
    }
    free(told);
}

/*
 * The first of an XCD's waves tells the other XCDs and the packet processor, which believes the first of the
 * XCDs.  All of it takes simulated time, so that it is the same wave whatever the host's threads do.
 */
void timed_wave_faulted(struct timed_xcd *x, struct workgroup *wg, const struct wave_guard *guard)
{
    struct timed *timed = x->timed;
    struct cp_dispatch *d = wg->owner;
    struct timed_share *share = share_in(x, d); /* NULL in the rest of a sampled dispatch */
    bool later = share ? share->aborted : cp_dispatch_abort(d);
    if (share)
        share->aborted = true;
    if (!later) {
        struct told_fault *told = calloc(1, sizeof(*told));
        if (!told)
            abort();
        told->d = d;
        told->fault.size = sizeof(told->fault);
        d->cp->listener->report_wave(d, wg, guard, &told->fault);
        port_send(x->domain, timed->host, timed->way_ps, fault_told, timed)->word[0] =
            (uint64_t)(uintptr_t)told;
        for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++)
            if (i != x->index)
                port_send(x->domain, timed->xcd[i].domain, timed->way_ps, abort_share, &timed->xcd[i])
                    ->word[0] = (uint64_t)(uintptr_t)d;
    }
    port_post(x->domain, port_now(x->domain) + 1, abort_share, x)->word[0] = (uint64_t)(uintptr_t)d;
}

static void wave_faulted(void *context, struct workgroup *wg, const struct wave_guard *guard)
{
    timed_wave_faulted(context, wg, guard);
}

struct told_beyond {
    struct bounds_told what;
    char text[sizeof(((struct ehp_fault *)NULL)->text)];
};

static void beyond_told(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    struct told_beyond *told = (struct told_beyond *)(uintptr_t)event->word[0];
    if (bounds_tell(timed->engine.cp, told->what.kernel, told->what.serial))
        bounds_say(timed->engine.cp, told->text);
    free(told);
}

/* The packet processor hears of it at a simulated time, and believes the first of the XCDs. */
static void wave_beyond(void *context, struct workgroup *wg, const struct wave_guard *guard)
{
    struct timed_xcd *x = context;
    struct timed *timed = x->timed;
    struct cp_dispatch *d = wg->owner;
    struct memory_block near;
    if (timed->engine.cp->memory->bounds != EHP_BOUNDS_WARN ||
        !memory_lend(timed->engine.cp->memory, guard->address, &near))
        return;
    struct bounds_told what = {d->packet.kernel_object, near.serial};
    const unsigned known = sizeof(x->beyond) / sizeof(x->beyond[0]);
    for (unsigned i = 0; i < known; i++)
        if (x->beyond[i].kernel == what.kernel && x->beyond[i].serial == what.serial)
            return;
    x->beyond[x->beyond_next++ % known] = what;
    struct ehp_fault fault = {.size = sizeof(fault)};
    struct told_beyond *told = malloc(sizeof(*told));
    if (!told)
        abort();
    d->cp->listener->report_beyond(d, wg, guard, &near, &fault);
    told->what = what;
    memcpy(told->text, fault.text, sizeof(told->text));
    port_send(x->domain, timed->host, timed->way_ps, beyond_told, timed)->word[0] = (uint64_t)(uintptr_t)told;
}

/* ---- the beginning of a share ---- */

static void acquired(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed_share *share = (struct timed_share *)(uintptr_t)event->word[0];
    struct timed_xcd *x = share->xcd;
    share->acquired = true;
    go_on_to_next(share, timed_nth_workgroup(share->d, x->index, 0));
    if (share->total == 0 || share->aborted)
        timed_drop_rest(x, share);
    else
        kick(x);
}

static void begin_share(struct port_domain *domain, struct port_event *event)
{
    struct timed_xcd *x = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct timed_share *share = calloc(1, sizeof(*share));
    if (!share)
        abort();
    share->d = d;
    share->xcd = x;
    share->total = share->left = timed_share_of(d, x->index);
    timed_scratch_share(share);
    count_begin(d, x);
    sample_begin(x, d);
    struct timed_share **end = &x->shares;
    while (*end)
        end = &(*end)->next;
    *end = share;
    if (x->code_changes != d->code_changes)
        xcd_mem_invalidate_code(x->mem);
    x->code_changes = d->code_changes;
    unsigned scope = d->packet.header >> EHP_HEADER_ACQUIRE_SHIFT & 3;
    if (scope == 0)
        port_post(domain, port_now(domain) + 1, acquired, x)->word[0] = (uint64_t)(uintptr_t)share;
    else
        xcd_mem_acquire(x->mem, scope == 2, acquired, share);
}

void timed_dispatch(struct timed *timed, struct cp_dispatch *d)
{
    d->xccs_done = 0;
    d->start_ns = timed_now_ns(timed);
    d->serial = ++timed->dispatches;
    count_open(d);
    gap_disturb(timed);
    gap_open(timed, d);
    if (!d->gap)
        sample_open(timed, d);
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++)
        port_send(timed->host, timed->xcd[i].domain, timed->way_ps, begin_share, &timed->xcd[i])->word[0] =
            (uint64_t)(uintptr_t)d;
}

/* ---- life ---- */

int timed_xcd_open(struct timed *timed, struct timed_xcd *x, unsigned index)
{
    struct cp *cp = timed->engine.cp;
    x->timed = timed;
    x->index = index;
    x->domain = port_domain(timed->port, 1 + index);
    port_set_clock(x->domain, cp->chip->value[CHIP_chip_clock]);
    x->mem = xcd_mem_open(cp->chip, index % timed->package_xcds, cp->xcds_per_agent > 1, x->domain,
                          timed_package_of(timed, index)->fabric, timed->vm);
    if (!x->mem)
        return EHP_ERR_NO_MEMORY;
    const struct cu_events events = {
        .done = workgroup_done, .fault = wave_faulted, .beyond = wave_beyond, .context = x};
    x->cu = cu_open(cp->chip, cp->code->target, index, timed->rates, x->domain, x->mem, &events);
    arena_take(&x->arena, 0);
    arena_take(&x->accesses.arena, 0);
    return x->cu ? EHP_OK : EHP_ERR_NO_MEMORY;
}

void timed_xcd_close(struct timed_xcd *x)
{
    cu_close(x->cu);
    xcd_mem_close(x->mem);
    for (struct timed_share *s = x->shares, *next; s; s = next) {
        next = s->next;
        free(s->free_scratch);
        free(s);
    }
    for (unsigned i = 0; i < x->running_count; i++)
        workgroup_free(x->running[i]);
    free(x->running);
    for (struct workgroup *wg = x->spare, *next; wg; wg = next) {
        next = wg->next;
        workgroup_free(wg);
    }
    arena_free(&x->arena);
    arena_free(&x->accesses.arena);
}
