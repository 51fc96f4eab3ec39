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

#include "base/thread.h"
#include "cp/sim.h"
#include "wave/aperture.h"
#include "wave/fault.h"
#include "hsa/hsa.h"
#include "soc/machine.h"

/* The first worker spins this many times for work before it sleeps; a launch then finds it awake. */
enum { IDLE_SPINS = 4000 };

/* Blocked queues are looked at again after this long even if nobody rings: kernels may store to signals
 * silently. */
#define IDLE_RECHECK_NS UINT64_C(1000000)

/* Each worker takes at least so many batches of a dispatch's workgroups, the last ones small; they are
 * doubled while they take less than this. */
enum { BATCHES = 16, BATCH_NS = 20000 };

/* Between looks at dispatches that run too long. */
enum { WATCH_NS = 10000000 };

struct work {
    struct cp_task *task;
    struct workgroup *wg;
    struct cp_dispatch *dispatch;
};

/* ---- waking ---- */

void cp_ring(struct ehp_machine *m)
{
    if (m->cp.sim) {
        sim_ring(m->cp.sim, NULL, 0);
        return;
    }
    m->cp.look = true;
    m->cp.bell++;
    if (m->cp.sleepers)
        futex_wake(&m->cp.bell, 1);
}

static void wake_all(struct cp *cp)
{
    cp->bell++;
    if (cp->sleepers)
        futex_wake(&cp->bell, UINT_MAX);
}

/* ---- copies and fills ---- */

static void fill(void *to, uint64_t value, uint64_t element, uint64_t count)
{
    switch (element) {
    case 1:
        memset(to, (int)(value & 0xff), (size_t)count);
        break;
    case 2:
        for (uint64_t i = 0; i < count; i++)
            ((uint16_t *)to)[i] = (uint16_t)value;
        break;
    case 4:
        for (uint64_t i = 0; i < count; i++)
            ((uint32_t *)to)[i] = (uint32_t)value;
        break;
    default:
        for (uint64_t i = 0; i < count; i++)
            ((uint64_t *)to)[i] = value;
        break;
    }
}

static void run_request(const struct ehp_machine *m, const struct ehp_agent_dispatch_packet *p)
{
    if ((p->header & 0xff) != EHP_PACKET_AGENT_DISPATCH)
        return; /* a barrier */
    switch (p->type) {
    case EHP_AGENT_COPY:
        memmove((void *)(uintptr_t)p->arg[0], (const void *)(uintptr_t)p->arg[1], (size_t)p->arg[2]);
        break;
    case EHP_AGENT_FILL:
        fill((void *)(uintptr_t)p->arg[0], p->arg[1], p->arg[2], p->arg[3]);
        break;
    case EHP_AGENT_COPY_3D: {
        const struct ehp_copy_3d *c = (const struct ehp_copy_3d *)(uintptr_t)p->arg[0];
        for (uint64_t z = 0; z < c->depth; z++)
            for (uint64_t y = 0; y < c->height; y++)
                memmove((char *)c->dst + z * c->dst_slice + y * c->dst_pitch,
                        (const char *)c->src + z * c->src_slice + y * c->src_pitch, (size_t)c->width);
        break;
    }
    case EHP_AGENT_FILL_3D: {
        const struct ehp_fill_3d *f = (const struct ehp_fill_3d *)(uintptr_t)p->arg[0];
        for (uint64_t z = 0; z < f->depth; z++)
            for (uint64_t y = 0; y < f->height; y++)
                fill((char *)f->dst + z * f->slice + y * f->pitch, f->value, f->element, f->width);
        break;
    }
    case EHP_AGENT_CALL: {
        /* Its signals are the program's, and what it starts inherits them. */
        sigset_t ours;
        pthread_sigmask(SIG_SETMASK, &m->cp.program_signals, &ours);
        ((void (*)(void *))(uintptr_t)p->arg[0])((void *)(uintptr_t)p->arg[1]);
        pthread_sigmask(SIG_SETMASK, &ours, NULL);
        break;
    }
    default:
        break;
    }
}

static void describe_request(const struct ehp_agent_dispatch_packet *p, char *text, size_t bytes)
{
    const void *to = (const void *)(uintptr_t)p->arg[0], *from = (const void *)(uintptr_t)p->arg[1];
    if (p->type == EHP_AGENT_COPY_3D) {
        const struct ehp_copy_3d *c = to;
        snprintf(text, bytes, "in a copy of %llu x %llu x %llu bytes from %p to %p",
                 (unsigned long long)c->width, (unsigned long long)c->height, (unsigned long long)c->depth,
                 c->src, c->dst);
    } else if (p->type == EHP_AGENT_FILL_3D) {
        const struct ehp_fill_3d *f = to;
        snprintf(text, bytes, "in a fill of %llu x %llu x %llu elements of %llu bytes at %p",
                 (unsigned long long)f->width, (unsigned long long)f->height, (unsigned long long)f->depth,
                 (unsigned long long)f->element, f->dst);
    } else if (p->type == EHP_AGENT_COPY) {
        snprintf(text, bytes, "in a copy of %llu bytes from %p to %p", (unsigned long long)p->arg[2], from,
                 to);
    } else {
        const unsigned long long size = p->arg[2] * p->arg[3];
        snprintf(text, bytes, "in a fill of %llu bytes at %p", size, to);
    }
}

static void report_request_fault(struct cp_task *task, const struct wave_guard *guard)
{
    struct ehp_fault fault = {
        .size = sizeof(fault), .kind = EHP_FAULT_MEMORY, .address = guard->address, .lane = UINT_MAX};
    const struct ehp_agent_dispatch_packet *p = &task->packet;
    fault.write = guard->write;
    char detail[160];
    describe_request(p, detail, sizeof(detail));
    report_text(task->queue->machine, &fault, detail);
    pthread_mutex_lock(&task->queue->machine->cp.lock);
    cp_queue_fault(task->queue, &fault);
    pthread_mutex_unlock(&task->queue->machine->cp.lock);
}

/* A copy through a wild pointer faults like a wave that does it. */
void cp_run_task(struct ehp_machine *m, struct cp_task *task, struct wave_guard *guard, uint64_t start)
{
    static const struct xinst copy = {0}; /* no wave's */
    if (guard) {
        guard->armed = true;
        guard->in = &copy;
        if (sigsetjmp(guard->env, 0) == 0)
            run_request(m, &task->packet);
        else
            report_request_fault(task, guard);
        guard->armed = false;
        guard->in = NULL;
    } else {
        run_request(m, &task->packet);
    }
    pthread_mutex_lock(&m->cp.lock);
    cp_packet_done(task->queue, task->packet.completion_signal, start);
    if (!m->cp.sim) {
        cp_read_queues(m);
        wake_all(&m->cp);
    }
    pthread_mutex_unlock(&m->cp.lock);
    free(task);
}

/* ---- the life of a workgroup ---- */

static void drop_user(struct ehp_machine *m, struct cp_dispatch *d)
{
    (void)m;
    if (atomic_fetch_sub(&d->users, 1) == 1)
        cp_dispatch_free(d);
}

void cp_dispatch_complete(struct ehp_machine *m, struct cp_dispatch *d)
{
    if (m->progress)
        progress_clear(m);
    if (m->stats.enabled) {
        d->stats.kernel = d->kernel;
        d->stats.workgroups = d->total;
        d->stats.waves = d->waves;
        d->stats.seconds = (double)(cp_now_ns(m) - d->start_ns) * 1e-9;
        stats_add(&m->stats, &d->stats);
    }
    pthread_mutex_lock(&m->cp.lock);
    for (struct cp_dispatch **at = &m->cp.active; *at; at = &(*at)->next)
        if (*at == d) {
            *at = d->next;
            break;
        }
    m->cp.active_count--;
    cp_packet_done(d->queue, d->packet.completion_signal, d->start_ns);
    unsigned before = m->cp.active_count;
    if (!m->cp.sim)
        cp_read_queues(m);
    if (m->cp.active_count > before || m->cp.tasks)
        wake_all(&m->cp);
    pthread_mutex_unlock(&m->cp.lock);
    drop_user(m, d);
}

/* The workgroup's are zero afterwards, as its next dispatch wants them. */
static void add_stats(struct cp_dispatch *d, struct workgroup *wg)
{
    struct wave_stats *s = &wg->stats;
    pthread_mutex_lock(&d->stats_lock);
    struct ehp_stats *sum = &d->stats;
    for (int i = 0; i < XC_COUNT; i++)
        sum->instructions += s->count[i];
    sum->valu += s->count[XC_VALU];
    sum->salu += s->count[XC_SALU];
    sum->mfma += s->count[XC_MFMA];
    sum->vmem += s->count[XC_VMEM];
    sum->smem += s->count[XC_SMEM];
    sum->lds += s->count[XC_LDS];
    sum->flat_scratch += s->count[XC_FLAT_SCRATCH];
    sum->branch += s->count[XC_BRANCH];
    sum->other += s->count[XC_OTHER];
    sum->lanes_valu += s->lanes_valu;
    sum->bytes_read += s->bytes_read;
    sum->bytes_written += s->bytes_written;
    sum->lds_bytes += s->lds_bytes;
    sum->scratch_bytes += s->scratch_bytes;
    sum->atomics += s->atomics;
    pthread_mutex_unlock(&d->stats_lock);
    memset(s, 0, sizeof(*s));
}

/* Counts `n` workgroups as done; the last one completes the dispatch. */
static void count_done(struct ehp_machine *m, struct cp_dispatch *d, uint64_t n)
{
    if (n && atomic_fetch_add(&d->done, n) + n == d->total)
        cp_dispatch_complete(m, d);
}

static void room_again(struct ehp_machine *m)
{
    if (!m->cp.full_count)
        return;
    pthread_mutex_lock(&m->cp.lock);
    m->cp.full_count = 0;
    for (struct cp_dispatch *d = m->cp.active; d; d = d->next)
        d->full = false;
    wake_all(&m->cp);
    pthread_mutex_unlock(&m->cp.lock);
}

static void keep_spare(struct cp_worker *me, struct workgroup *wg)
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

static void finish(struct cp_worker *me, struct workgroup *wg, bool placed)
{
    struct ehp_machine *m = me->machine;
    struct cp_dispatch *d = wg->owner;
    if (placed)
        ace_release(m, d, wg);
    if (m->stats.enabled)
        add_stats(d, wg);
    me->done++;
    me->waves += wg->waves;
    keep_spare(me, wg);
    if (placed)
        room_again(m);
}

/* Counts what the worker has finished of a dispatch: not after every workgroup, as that is the line of memory
 * that all workers write. */
static void flush_done(struct cp_worker *me, struct cp_dispatch *d)
{
    uint64_t done = me->done;
    atomic_fetch_add_explicit(&d->waves, me->waves, memory_order_relaxed);
    me->done = me->waves = 0;
    count_done(me->machine, d, done);
}

/* Drops what a dispatch has not started. */
static void abort_dispatch(struct ehp_machine *m, struct cp_dispatch *d)
{
    cp_dispatch_abort(d);
    uint64_t handed_out = atomic_exchange(&d->ticket, d->total);
    if (handed_out < d->total)
        count_done(m, d, d->total - handed_out);
}

static void stop_on_fault(struct cp_worker *me, struct workgroup *wg, const struct wave_guard *guard)
{
    struct ehp_machine *m = me->machine;
    struct cp_dispatch *d = wg->owner;
    if (cp_dispatch_abort(d))
        return; /* another workgroup of it was faster */
    struct ehp_fault fault = {.size = sizeof(fault)};
    report_fault(d, wg, guard, &fault);
    pthread_mutex_lock(&m->cp.lock);
    cp_queue_fault(d->queue, &fault);
    pthread_mutex_unlock(&m->cp.lock);
    abort_dispatch(m, d);
}

static void list_add(struct workgroup_list *list, struct workgroup *wg)
{
    wg->next = NULL;
    *list->end = wg;
    list->end = &wg->next;
}

static struct workgroup *list_take(struct workgroup_list *list)
{
    struct workgroup *wg = list->first;
    if (wg) {
        list->first = wg->next;
        if (!list->first)
            list->end = &list->first;
    }
    return wg;
}

static void set_aside(struct ehp_machine *m, struct workgroup *wg, bool preempted)
{
    struct cp *cp = &m->cp;
    pthread_mutex_lock(&cp->lock);
    list_add(preempted ? &cp->preempted : &cp->waiting, wg);
    if (cp->aside_count++)
        wake_all(cp); /* others may have run out of work and can take some of these */
    pthread_mutex_unlock(&cp->lock);
}

static void run_workgroup(struct cp_worker *me, struct workgroup *wg, struct wave_guard *guard)
{
    struct ehp_machine *m = me->machine;
    struct cp_dispatch *d = wg->owner;
    enum workgroup_result result = WORKGROUP_DONE;
    if (!d->stop)
        result = workgroup_run(wg, guard, &d->stop, m->stats.enabled);
    else if (!d->aborted)
        result = WORKGROUP_WAITING;
    if (m->progress)
        progress_show(m, d);
    if ((result == WORKGROUP_WAITING || result == WORKGROUP_PREEMPTED) && !d->aborted) {
        if (!d->stop) {
            set_aside(m, wg, result == WORKGROUP_PREEMPTED);
            return;
        }
        workgroup_out_of_time(wg, guard);
        result = WORKGROUP_FAULT;
    }
    if (result == WORKGROUP_FAULT)
        stop_on_fault(me, wg, guard);
    finish(me, wg, true);
}

/* Starts workgroup `linear` of a dispatch; false when there is no room for it. */
static bool start_one(struct cp_worker *me, struct cp_dispatch *d, uint64_t linear, struct wave_guard *guard)
{
    struct ehp_machine *m = me->machine;
    struct workgroup *wg = workgroup_start(me->spare, &d->launch, linear, NULL);
    me->spare = NULL;
    if (!wg) {
        char room[512];
        fprintf(stderr, "ehp: the host has no memory for a workgroup of %s\n",
                ehp_printable(d->kernel, room, sizeof(room)));
        abort();
    }
    wg->owner = d;
    wg->xcc = ace_xcc_of(d, linear);
    if (!ace_place(m, &me->round, d, wg)) {
        pthread_mutex_lock(&m->cp.lock);
        wg->next = d->deferred;
        d->deferred = wg;
        if (++d->deferred_count >= d->xccs) {
            d->full = true;
            m->cp.full_count++;
        }
        /* Room may have been made before that was visible to who made it. */
        bool placed = d->deferred == wg && ace_place(m, &me->round, d, wg);
        if (placed) {
            d->deferred = wg->next;
            d->deferred_count--;
            d->full = false;
        }
        pthread_mutex_unlock(&m->cp.lock);
        if (!placed)
            return false;
    }
    run_workgroup(me, wg, guard);
    return true;
}

/* Something else than this dispatch wants a turn. */
static bool others_wait(const struct cp *cp)
{
    return cp->look || cp->aside_count || cp->active_count > 1 || cp->task_count;
}

/*
 * Starts workgroups of a dispatch until something else wants a turn.  Takes
 * several at once when they are short and many are left: then threads meet less
 * often at the ticket, and each has memory of its own for longer.
 */
static void start_many(struct cp_worker *me, struct cp_dispatch *d, struct wave_guard *guard)
{
    struct ehp_machine *m = me->machine;
    uint64_t batch = 1, now = machine_now_ns();
    bool room = true;
    do {
        const uint64_t ticket = atomic_load_explicit(&d->ticket, memory_order_relaxed), began = now;
        if (ticket >= d->total)
            break;
        fault_look(&me->looked_ns, now);
        const uint64_t fair = (d->total - ticket) / (BATCHES * m->cp.workers) + 1;
        batch = batch < fair ? batch : fair;
        const uint64_t first = atomic_fetch_add(&d->ticket, batch);
        for (uint64_t i = first; i < first + batch && i < d->total; i++)
            room &= start_one(me, d, i, guard);
        now = machine_now_ns();
        batch = now - began < BATCH_NS ? batch * 2 : 1;
        if (m->progress)
            flush_done(me, d);
    } while (room && !others_wait(&m->cp));
    flush_done(me, d);
}

/* ---- choosing ---- */

static bool startable(const struct cp_dispatch *d)
{
    return !d->full && atomic_load_explicit(&d->ticket, memory_order_relaxed) < d->total;
}

/* A deferred workgroup of some dispatch that now has room. */
static struct workgroup *take_deferred(struct cp_worker *me)
{
    struct ehp_machine *m = me->machine;
    for (struct cp_dispatch *d = m->cp.active; d; d = d->next) {
        if (d->full)
            continue;
        for (struct workgroup **at = &d->deferred; *at; at = &(*at)->next)
            if (ace_place(m, &me->round, d, *at)) {
                struct workgroup *wg = *at;
                *at = wg->next;
                d->deferred_count--;
                return wg;
            }
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

static struct workgroup *take_aside(struct cp *cp, struct workgroup_list *list)
{
    struct workgroup *wg = list_take(list);
    if (wg)
        cp->aside_count--;
    return wg;
}

static struct work choose(struct cp_worker *me)
{
    struct ehp_machine *m = me->machine;
    struct cp *cp = &m->cp;
    struct work work = {0};
    if (cp->tasks) {
        work.task = cp->tasks;
        cp->tasks = work.task->next;
        cp->task_count--;
        if (!cp->tasks)
            cp->tasks_end = &cp->tasks;
        return work;
    }
    me->turn++;
    if (me->turn % PREEMPTED_TURNS)
        work.wg = take_aside(cp, &cp->preempted);
    if (!work.wg && me->turn & 1)
        work.wg = take_aside(cp, &cp->waiting);
    if (!work.wg)
        work.wg = take_deferred(me);
    if (!work.wg)
        work.dispatch = take_dispatch(cp);
    if (!work.wg && !work.dispatch)
        work.wg = take_aside(cp, &cp->waiting);
    if (!work.wg && !work.dispatch)
        work.wg = take_aside(cp, &cp->preempted);
    return work;
}

static void idle(struct cp_worker *me, uint32_t bell)
{
    struct cp *cp = &me->machine->cp;
    if (me->index == 0)
        for (int i = 0; i < IDLE_SPINS; i++) {
            if (cp->bell != bell)
                return;
            __builtin_ia32_pause();
        }
    cp->sleepers++;
    futex_wait(&cp->bell, bell, cp->blocked_count && me->index == 0 ? IDLE_RECHECK_NS : UINT64_C(1000000000));
    cp->sleepers--;
    if (cp->blocked_count)
        cp->look = true;
}

static void *worker_main(void *argument)
{
    struct cp_worker *me = argument;
    struct ehp_machine *m = me->machine;
    struct cp *cp = &m->cp;
    struct exec_code_cache *cache = calloc(1, sizeof(*cache));
    struct wave_guard guard = {.code = &m->code, .cache = cache};
    guard.mend = bounds_mend;
    guard.mem_arena = m->memory.xnack ? 0 : m->memory.arena;
    guard.mem_mask = m->memory.xnack ? APERTURE_HOST_MASK : ~(m->memory.arena_bytes - 1);
    struct fault_thread *fault_thread = fault_thread_enter(&guard);
    if (!cache || !fault_thread)
        abort();
    while (!cp->quit) {
        uint32_t bell = cp->bell;
        pthread_mutex_lock(&cp->lock);
        unsigned before = cp->active_count;
        cp_read_queues(m);
        struct work work = choose(me);
        bool more = cp->active_count > before || cp->tasks;
        if (more && cp->sleepers &&
            (cp->active_count > 1 || cp->tasks || (cp->active && cp->active->total > 1)))
            wake_all(cp);
        pthread_mutex_unlock(&cp->lock);
        if (work.task) {
            const uint64_t now = machine_now_ns();
            fault_look(&me->looked_ns, now);
            cp_run_task(m, work.task, &guard, now);
        } else if (work.wg) {
            fault_look(&me->looked_ns, machine_now_ns());
            bool only_waiting = cp->aside_count != 0 && !cp->preempted.first;
            struct cp_dispatch *d = work.wg->owner;
            run_workgroup(me, work.wg, &guard);
            if (me->done)
                flush_done(me, d);
            /* They wait for each other, or for the host, which needs the core once all had their turn. */
            if (only_waiting && ++me->waited >= cp->aside_count) {
                me->waited = 0;
                sched_yield();
            }
        } else if (work.dispatch) {
            start_many(me, work.dispatch, &guard);
            drop_user(m, work.dispatch);
        } else {
            idle(me, bell);
        }
    }
    workgroup_free(me->spare);
    fault_thread_leave(fault_thread);
    free(cache);
    return NULL;
}

/* Host functions run on a thread of their own, in the order they were reached: they may block. */
static void *caller_main(void *argument)
{
    struct ehp_machine *m = argument;
    struct cp *cp = &m->cp;
    pthread_mutex_lock(&cp->lock);
    while (!cp->quit) {
        struct cp_task *task = cp->calls;
        if (!task) {
            pthread_cond_wait(&cp->call_ready, &cp->lock);
            continue;
        }
        cp->calls = task->next;
        if (!cp->calls)
            cp->calls_end = &cp->calls;
        pthread_mutex_unlock(&cp->lock);
        if (m->cp.sim) {
            run_request(m, &task->packet);
            sim_called(m->cp.sim, task);
        } else {
            cp_run_task(m, task, NULL, cp_now_ns(m));
        }
        pthread_mutex_lock(&cp->lock);
    }
    pthread_mutex_unlock(&cp->lock);
    return NULL;
}

/*
 * Looks for dispatches that run too long: those who run them may be at it without an end, and would otherwise
 * all have to look at the clock.
 */
static void *watcher_main(void *argument)
{
    struct ehp_machine *m = argument;
    struct cp *cp = &m->cp;
    pthread_mutex_lock(&cp->lock);
    while (!cp->quit) {
        uint64_t now = machine_now_ns();
        for (struct cp_dispatch *d = cp->active; d; d = d->next)
            if (d->begun_ns && now - d->begun_ns > m->timeout_ns)
                d->stop = true;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += (until.tv_nsec + WATCH_NS) / 1000000000;
        until.tv_nsec = (until.tv_nsec + WATCH_NS) % 1000000000;
        pthread_cond_timedwait(&cp->quitting, &cp->lock, &until);
    }
    pthread_mutex_unlock(&cp->lock);
    return NULL;
}

int cp_start(struct ehp_machine *m, unsigned threads)
{
    struct cp *cp = &m->cp;
    pthread_sigmask(SIG_SETMASK, NULL, &cp->program_signals);
    pthread_mutex_init(&cp->lock, NULL);
    pthread_cond_init(&cp->call_ready, NULL);
    pthread_cond_init(&cp->quitting, NULL);
    cp->waiting.end = &cp->waiting.first;
    cp->preempted.end = &cp->preempted.first;
    cp->tasks_end = &cp->tasks;
    cp->calls_end = &cp->calls;
    int status = ace_init(m);
    if (status != EHP_OK)
        return status;
    if (m->timing) {
        status = sim_open(m, threads);
        threads = 0;
        if (status != EHP_OK)
            return status;
    }
    cp->worker = aligned_alloc(64, (threads ? threads : 1) * sizeof(*cp->worker));
    if (!cp->worker)
        return EHP_ERR_NO_MEMORY;
    for (unsigned i = 0; i < threads; i++) {
        cp->worker[i] = (struct cp_worker){.machine = m, .index = i};
        if (!ace_round_init(m, &cp->worker[i].round, i, threads))
            return EHP_ERR_NO_MEMORY;
        if (thread_start(&cp->worker[i].thread, worker_main, &cp->worker[i]) != 0)
            return EHP_ERR_OUT_OF_RESOURCES;
        cp->workers++;
    }
    if (thread_start(&cp->caller, caller_main, m) != 0)
        return EHP_ERR_OUT_OF_RESOURCES;
    cp->caller_started = true;
    if (m->timeout_ns && pthread_create(&cp->watcher, NULL, watcher_main, m) != 0)
        return EHP_ERR_OUT_OF_RESOURCES;
    cp->watcher_started = m->timeout_ns != 0;
    return EHP_OK;
}

void cp_stop(struct ehp_machine *m)
{
    struct cp *cp = &m->cp;
    pthread_mutex_lock(&cp->lock);
    cp->quit = true;
    for (struct cp_dispatch *d = cp->active; d; d = d->next)
        cp_dispatch_abort(d); /* kernels that would never end */
    pthread_cond_broadcast(&cp->call_ready);
    pthread_cond_signal(&cp->quitting);
    pthread_mutex_unlock(&cp->lock);
    wake_all(cp);
    for (unsigned i = 0; i < cp->workers; i++) {
        pthread_join(cp->worker[i].thread, NULL);
        free(cp->worker[i].round.next);
    }
    if (cp->caller_started)
        pthread_join(cp->caller, NULL);
    if (cp->watcher_started)
        pthread_join(cp->watcher, NULL);
    sim_close(m);
    for (struct workgroup *wg; (wg = list_take(&cp->waiting)) || (wg = list_take(&cp->preempted));)
        workgroup_free(wg);
    for (struct cp_dispatch *d = cp->active, *next; d; d = next) {
        next = d->next;
        cp_dispatch_free(d);
    }
    for (struct cp_task *t = cp->tasks, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    for (struct cp_task *t = cp->calls, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    free(cp->worker);
    ace_destroy(m);
    pthread_cond_destroy(&cp->call_ready);
    pthread_cond_destroy(&cp->quitting);
    pthread_mutex_destroy(&cp->lock);
}
