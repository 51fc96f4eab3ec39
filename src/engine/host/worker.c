/* SPDX-License-Identifier: MIT */
/*
 * The host threads of a machine.  Each takes what there is to do: packets to
 * read, a workgroup to start or to go on with, a copy.
 *
 * A workgroup that only waits for somebody is set aside.  New and waiting ones
 * take turns, so that every workgroup that the chip would hold at once gets
 * its share, and kernels that wait for each other's flags make progress.
 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/futex.h"
#include "cp/cp.h"
#include "engine/host/host.h"
#include "engine/task.h"
#include "wave/aperture.h"
#include "wave/fault.h"

/* The first worker spins this many times for work before it sleeps; a launch then finds it awake. */
enum { IDLE_SPINS = 4000 };

/* Blocked queues are looked at again after this long even if nobody rings: kernels may store to signals
 * silently. */
#define IDLE_RECHECK_NS UINT64_C(1000000)

/* Each worker takes at least so many batches of a dispatch's workgroups, the last ones small; they are
 * doubled while they take less than this. */
enum { BATCHES = 16, BATCH_NS = 20000 };

struct work {
    struct cp_task *task;
    struct workgroup *wg;
    struct cp_dispatch *dispatch;
};

/* ---- the life of a workgroup ---- */

static bool has_faulted(const struct cp_dispatch *d)
{
    return atomic_load_explicit(&d->limit, memory_order_relaxed) != UINT64_MAX;
}

/* Counts `n` workgroups as done; the last one completes the dispatch. */
static void count_done(struct cp_dispatch *d, uint64_t n)
{
    if (!n || atomic_fetch_add(&d->done, n) + n != d->total)
        return;
    if (has_faulted(d)) {
        pthread_mutex_lock(&d->cp->lock);
        cp_queue_fault(d->queue, d->fault);
        pthread_mutex_unlock(&d->cp->lock);
    }
    cp_dispatch_complete(d);
}

static void room_again(struct host *h)
{
    struct cp *cp = h->engine.cp;
    if (!h->full_count)
        return;
    pthread_mutex_lock(&cp->lock);
    h->full_count = 0;
    for (struct cp_dispatch *d = cp->active; d; d = d->next)
        d->full = d->deferred_tried = false;
    host_wake_all(h);
    pthread_mutex_unlock(&cp->lock);
}

static void keep_spare(struct host_worker *me, struct workgroup *wg)
{
    if (!me->spare) {
        me->spare = wg;
    } else if (me->spare->capacity_waves < wg->capacity_waves) {
        workgroup_free(me->spare);
        me->spare = wg;
    } else {
        workgroup_free(wg);
    }
}

/* The workgroup's are zero afterwards, as its next dispatch wants them. */
static void take_stats(struct host_worker *me, struct workgroup *wg)
{
    const uint64_t *from = (const uint64_t *)&wg->stats;
    uint64_t *sum = (uint64_t *)&me->stats;
    for (size_t i = 0; i < sizeof(wg->stats) / sizeof(*sum); i++)
        sum[i] += from[i];
    memset(&wg->stats, 0, sizeof(wg->stats));
    me->counted = true;
}

/* Others may place where it has kept places. */
static void let_go(struct host_worker *me)
{
    if (me->keeps)
        ace_let_go(me->host->engine.cp, &me->round, me->keeps);
    me->keeps = NULL;
}

static void finish(struct host_worker *me, struct workgroup *wg, bool placed)
{
    struct host *h = me->host;
    struct cp *cp = me->host->engine.cp;
    struct cp_dispatch *d = wg->owner;
    if (placed && h->full_count)
        let_go(me);
    if (placed && (me->keeps != d || !ace_keep(cp, &me->round, d, wg)))
        ace_release(cp, d, wg);
    if (cp->counts)
        take_stats(me, wg);
    me->done++;
    me->waves += wg->waves;
    keep_spare(me, wg);
    if (placed)
        room_again(h);
}

/* Counts what the worker has finished of a dispatch: not after every workgroup, as that is the line of memory
 * that all workers write. */
static void flush_done(struct host_worker *me, struct cp_dispatch *d)
{
    uint64_t done = me->done;
    if (me->counted) { /* before the last workgroup is done, which completes the dispatch */
        pthread_mutex_lock(&d->stats_lock);
        cp_dispatch_count(d, &me->stats);
        pthread_mutex_unlock(&d->stats_lock);
        memset(&me->stats, 0, sizeof(me->stats));
        me->counted = false;
    }
    workgroup_fence();
    atomic_fetch_add_explicit(&d->waves, me->waves, memory_order_relaxed);
    me->done = me->waves = 0;
    count_done(d, done);
}

static bool is_dropped(const struct cp_dispatch *d, const struct workgroup *wg)
{
    return wg->linear >= atomic_load_explicit(&d->limit, memory_order_relaxed);
}

/*
 * Several threads may come to a fault.  That of the first workgroup is told, whoever was faster, so that the
 * report is the same each time: those behind it are dropped, those before it may end or fault themselves.
 */
static void stop_on_fault(struct host_worker *me, struct workgroup *wg, const struct wave_guard *guard)
{
    struct cp *cp = me->host->engine.cp;
    struct cp_dispatch *d = wg->owner;
    struct ehp_fault fault = {.size = sizeof(fault)};
    cp->listener->report_wave(d, wg, guard, &fault);
    pthread_mutex_lock(&cp->lock);
    if (!is_dropped(d, wg)) {
        if (!d->fault) {
            d->faulted_ns = clock_now_ns();
            d->fault = malloc(sizeof(*d->fault));
        }
        if (!d->fault)
            abort();
        *d->fault = fault;
        d->limit = wg->linear;
    }
    d->queue->inactive = true;
    pthread_mutex_unlock(&cp->lock);
    const uint64_t handed_out = atomic_exchange(&d->ticket, d->total);
    if (handed_out < d->total)
        count_done(d, d->total - handed_out);
}

/* A workgroup of a dispatch that has faulted gets to its end, and then is done with, as it is when it waits,
 * perhaps for one that was dropped, or when all of them take long. */
static enum workgroup_result run_to_end(struct host_worker *me, struct workgroup *wg,
                                        struct wave_guard *guard, enum workgroup_result result)
{
    enum { PATIENCE_NS = 1000000000 };
    const struct cp *cp = me->host->engine.cp;
    const struct cp_dispatch *d = wg->owner;
    while (result == WORKGROUP_PREEMPTED && !d->stop && !is_dropped(d, wg) &&
           clock_now_ns() - d->faulted_ns < PATIENCE_NS)
        result = workgroup_run(wg, guard, &d->stop, cp->counts);
    return d->stop || result == WORKGROUP_FAULT ? result : WORKGROUP_DONE;
}

static void list_add(struct workgroup_list *list, struct workgroup *wg)
{
    wg->next = NULL;
    *list->end = wg;
    list->end = &wg->next;
}

struct workgroup *workgroup_list_take(struct workgroup_list *list)
{
    struct workgroup *wg = list->first;
    if (wg) {
        list->first = wg->next;
        if (!list->first)
            list->end = &list->first;
    }
    return wg;
}

static void set_aside(struct host *h, struct workgroup *wg, bool preempted)
{
    struct cp *cp = h->engine.cp;
    workgroup_fence();
    pthread_mutex_lock(&cp->lock);
    list_add(preempted ? &h->preempted : &h->waiting, wg);
    if (h->aside_count++)
        host_wake_all(h); /* others may have run out of work and can take some of these */
    pthread_mutex_unlock(&cp->lock);
}

static void run_workgroup(struct host_worker *me, struct workgroup *wg, struct wave_guard *guard)
{
    struct host *h = me->host;
    struct cp *cp = me->host->engine.cp;
    struct cp_dispatch *d = wg->owner;
    enum workgroup_result result = WORKGROUP_DONE;
    if (!is_dropped(d, wg) && !d->aborted)
        result = d->stop ? WORKGROUP_WAITING : workgroup_run(wg, guard, &d->stop, cp->counts);
    if (has_faulted(d))
        result = run_to_end(me, wg, guard, result);
    if (cp->tells_progress)
        cp->listener->progressed(cp, d);
    if ((result == WORKGROUP_WAITING || result == WORKGROUP_PREEMPTED) && !d->aborted) {
        if (!d->stop) {
            set_aside(h, wg, result == WORKGROUP_PREEMPTED);
            return;
        }
        workgroup_out_of_time(wg, guard);
        result = WORKGROUP_FAULT;
    }
    if (result == WORKGROUP_FAULT)
        stop_on_fault(me, wg, guard);
    finish(me, wg, true);
}

static struct workgroup *prepare(struct host_worker *me, struct cp_dispatch *d, uint64_t linear)
{
    struct workgroup *wg = me->spare;
    me->spare = NULL;
    if (wg && wg->owner == d) {
        workgroup_start_again(wg, linear);
        return wg;
    }
    wg = workgroup_start(wg, &d->launch, linear, NULL);
    if (!wg) {
        char room[512];
        fprintf(stderr, "ehp: the host has no memory for a workgroup of %s\n",
                ehp_printable(d->kernel, room, sizeof(room)));
        abort();
    }
    wg->owner = d;
    return wg;
}

/* Starts workgroup `linear` of a dispatch on its XCD; false when there is no room for it. */
static bool start_one(struct host_worker *me, struct cp_dispatch *d, uint64_t linear, unsigned xcc,
                      struct wave_guard *guard)
{
    struct host *h = me->host;
    struct cp *cp = me->host->engine.cp;
    struct workgroup *wg = prepare(me, d, linear);
    wg->xcc = xcc;
    if (!ace_place(cp, &me->round, d, wg)) {
        pthread_mutex_lock(&cp->lock);
        wg->next = d->deferred;
        d->deferred = wg;
        d->deferred_tried = false;
        if (++d->deferred_count >= d->xccs) {
            d->full = true;
            h->full_count++;
        }
        /* Room may have been made before that was visible to who made it. */
        bool placed = d->deferred == wg && ace_place(cp, &me->round, d, wg);
        if (placed) {
            d->deferred = wg->next;
            d->deferred_count--;
            d->full = false;
        }
        pthread_mutex_unlock(&cp->lock);
        if (!placed)
            return false;
    }
    run_workgroup(me, wg, guard);
    return true;
}

/* Something else than this dispatch wants a turn. */
static bool others_wait(const struct host *h)
{
    const struct cp *cp = h->engine.cp;
    return cp->look || h->aside_count || cp->active_count > 1 || h->task_count;
}

/*
 * Starts workgroups of a dispatch until something else wants a turn.  Takes
 * several at once when they are short and many are left: then threads meet less
 * often at the ticket, and each has memory of its own for longer.
 */
static void start_many(struct host_worker *me, struct cp_dispatch *d, struct wave_guard *guard)
{
    struct host *h = me->host;
    struct cp *cp = me->host->engine.cp;
    uint64_t batch = 1, now = clock_now_ns();
    bool room = true;
    if (me->spare)
        me->spare->owner = NULL; /* another dispatch's, which may have had this one's address */
    do {
        const uint64_t ticket = atomic_load_explicit(&d->ticket, memory_order_relaxed), began = now;
        if (ticket >= d->total)
            break;
        fault_look(&me->looked_ns, now);
        const uint64_t fair = (d->total - ticket) / (BATCHES * h->workers) + 1;
        batch = batch < fair ? batch : fair;
        const uint64_t first = atomic_fetch_add(&d->ticket, batch);
        const uint64_t end = first + batch < d->total ? first + batch : d->total;
        me->keeps = batch > 1 ? d : me->keeps;
        struct ace_turn turn = ace_turn_of(d, first);
        for (uint64_t i = first; i < end; i++) {
            room &= start_one(me, d, i, ace_turn_xcc(d, &turn), guard);
            ace_turn_next(d, &turn);
        }
        now = clock_now_ns();
        batch = now - began < BATCH_NS ? batch * 2 : 1;
        if (cp->tells_progress)
            flush_done(me, d);
    } while (room && !others_wait(h));
    if (me->keeps) {
        let_go(me);
        room_again(h);
    }
    flush_done(me, d);
}

/* ---- choosing ---- */

static bool startable(const struct cp_dispatch *d)
{
    return !d->full && atomic_load_explicit(&d->ticket, memory_order_relaxed) < d->total;
}

/* A deferred workgroup of some dispatch that now has room. */
static struct workgroup *take_deferred(struct host_worker *me)
{
    struct host *h = me->host;
    struct cp *cp = h->engine.cp;
    for (struct cp_dispatch *d = cp->active; d; d = d->next) {
        if (d->full || d->deferred_tried || !d->deferred)
            continue;
        h->full_count++; /* first, so that whoever makes room from here on says so */
        for (struct workgroup **at = &d->deferred; *at; at = &(*at)->next)
            if (ace_place(cp, &me->round, d, *at)) {
                struct workgroup *wg = *at;
                *at = wg->next;
                d->deferred_count--;
                return wg;
            }
        d->deferred_tried = true;
    }
    return NULL;
}

/* Of the highest priority with something to start, the one that waited longest; it goes to the end of the
 * list. */
static struct cp_dispatch *take_dispatch(struct cp *cp)
{
    struct cp_dispatch **best = NULL;
    for (struct cp_dispatch **at = &cp->active; *at; at = &(*at)->next)
        if (startable(*at) && (!best || (*at)->priority > (*best)->priority))
            best = at;
    if (!best)
        return NULL;
    struct cp_dispatch *d = *best;
    *best = d->next;
    d->next = NULL;
    struct cp_dispatch **end = &cp->active;
    while (*end)
        end = &(*end)->next;
    *end = d;
    d->users++;
    return d;
}

/*
 * Workgroups that ran long go on first, but for one turn in eight: few are in
 * execution at once, and yet every other gets its turn.
 */
enum { PREEMPTED_TURNS = 8 };

static struct workgroup *take_aside(struct host *h, struct workgroup_list *list)
{
    struct workgroup *wg = workgroup_list_take(list);
    if (wg)
        h->aside_count--;
    return wg;
}

static struct work choose(struct host_worker *me)
{
    struct host *h = me->host;
    struct cp *cp = me->host->engine.cp;
    struct work work = {0};
    if (h->tasks) {
        work.task = h->tasks;
        h->tasks = work.task->next;
        h->task_count--;
        if (!h->tasks)
            h->tasks_end = &h->tasks;
        return work;
    }
    me->turn++;
    if (me->turn % PREEMPTED_TURNS)
        work.wg = take_aside(h, &h->preempted);
    if (!work.wg && me->turn & 1)
        work.wg = take_aside(h, &h->waiting);
    if (!work.wg)
        work.wg = take_deferred(me);
    if (!work.wg)
        work.dispatch = take_dispatch(cp);
    if (!work.wg && !work.dispatch)
        work.wg = take_aside(h, &h->waiting);
    if (!work.wg && !work.dispatch)
        work.wg = take_aside(h, &h->preempted);
    return work;
}

static void idle(struct host_worker *me, uint32_t bell)
{
    struct host *h = me->host;
    struct cp *cp = me->host->engine.cp;
    if (me->index == 0)
        for (int i = 0; i < IDLE_SPINS; i++) {
            if (h->bell != bell)
                return;
            __builtin_ia32_pause();
        }
    h->sleepers++;
    futex_wait(&h->bell, bell, cp->blocked_count && me->index == 0 ? IDLE_RECHECK_NS : UINT64_C(1000000000));
    h->sleepers--;
    if (cp->blocked_count)
        cp->look = true;
}

void *host_worker_main(void *argument)
{
    struct host_worker *me = argument;
    struct host *h = me->host;
    struct cp *cp = me->host->engine.cp;
    struct exec_code_cache *cache = calloc(1, sizeof(*cache));
    struct wave_guard guard = {.code = cp->code, .cache = cache};
    guard.mend = bounds_mend;
    guard.mem_arena = cp->memory->xnack ? 0 : cp->memory->arena;
    guard.mem_mask = cp->memory->xnack ? APERTURE_HOST_MASK : ~(cp->memory->arena_bytes - 1);
    struct fault_thread *fault_thread = fault_thread_enter(&guard);
    if (!cache || !fault_thread)
        abort();
    while (!h->quit) {
        uint32_t bell = h->bell;
        pthread_mutex_lock(&cp->lock);
        unsigned before = cp->active_count;
        cp_read_queues(cp);
        struct work work = choose(me);
        bool more = cp->active_count > before || h->tasks;
        if (more && h->sleepers &&
            (cp->active_count > 1 || h->tasks || (cp->active && cp->active->total > 1)))
            host_wake_all(h);
        pthread_mutex_unlock(&cp->lock);
        if (work.task) {
            const uint64_t now = clock_now_ns();
            fault_look(&me->looked_ns, now);
            task_run(work.task, &guard);
            task_done(work.task, now);
            host_wake_all(h);
        } else if (work.wg) {
            fault_look(&me->looked_ns, clock_now_ns());
            bool only_waiting = h->aside_count != 0 && !h->preempted.first;
            struct cp_dispatch *d = work.wg->owner;
            run_workgroup(me, work.wg, &guard);
            if (me->done)
                flush_done(me, d);
            /* They wait for each other, or for the host, which needs the core once all had their turn. */
            if (only_waiting && ++me->waited >= h->aside_count) {
                me->waited = 0;
                sched_yield();
            }
        } else if (work.dispatch) {
            start_many(me, work.dispatch, &guard);
            cp_dispatch_drop(work.dispatch);
        } else {
            idle(me, bell);
        }
    }
    workgroup_free(me->spare);
    fault_thread_leave(fault_thread);
    free(cache);
    return NULL;
}
