/* SPDX-License-Identifier: MIT */
/* The thread that runs simulated time, and the host program's time; see timed.h. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cond.h"
#include "ccd/ccd.h"
#include "ccd/thread.h"
#include "cp/signal.h"
#include "engine/timed/timed.h"
#include "fabric/fabric.h"
#include "wave/fault.h"
#include "vm/vm.h"

/* Of the host's own time. */
#define MS          UINT64_C(1000000)
#define TURN_NS     20000     /* of a window, about */
#define LOOK_NS     (2 * MS)  /* between looks at what others than simulated time may change */
#define TIMEOUT_NS  (10 * MS) /* between looks at dispatches that run too long */
#define TOGETHER_NS MS        /* a host that polls looks in between */
/* Of the host program's, see timed_use_up(). */
#define GLANCE_NS       (5 * MS)    /* between looks at what it does */
#define QUIET_NS        (20 * MS)   /* without a call, before accesses are noted */
#define TOUCH_NS        (15 * MS)   /* between looks at them; twice as much after one that saw none, */
#define TOUCH_MOST_NS   (120 * MS)  /* up to this */
#define TOUCHES         4           /* looks that see some, before it counts as waiting */
#define UNTOLD_LEAST_NS (30 * MS)   /* where accesses cannot be told */
#define PATIENCE_NS     (1000 * MS) /* with a host function that does not end */
#define ASLEEP_NS       (2000 * MS) /* with a process that does nothing: somebody else may wait for the GPU */
/* Of simulated time. */
#define STEP_PS UINT64_C(100000000) /* without the host */
#define COMPARE_PS                                                                                           \
    UINT64_C(2000000) /* between comparisons of the L2s with memory, while the host only asks */

struct timed_asker {
    struct timed_asker *next;
    bool (*wish)(void *context);
    void *context;
    const uint64_t *when_ps; /* of the wish's coming true; NULL: when that is seen */
    uint64_t until_ps;       /* what it waits for if the wish does not come true before */
    uint64_t granted_ps;
    pthread_t thread; /* of who serves */
    bool serves, granted;
    struct cpu_thread *holder;  /* of time, once it is granted (threads.c); NULL: nobody */
    struct cpu_thread *sleeper; /* whom its wish's coming true holds time for; NULL: it is not a sleep */
};

static bool holds(const struct timed *timed, const struct timed_asker *a)
{
    return (a->wish && a->wish(a->context)) || port_time_ps(timed->port) >= a->until_ps;
}

static bool any_holds(const struct timed *timed)
{
    for (const struct timed_asker *a = timed->askers; a; a = a->next)
        if (holds(timed, a))
            return true;
    return false;
}

static void hold(struct timed *timed)
{
    timed->held = (struct timed_lived){0};
}

/* ---- askers: the lock is held ---- */

static void hold_again(struct timed *timed, const struct timed_asker *a)
{
    if (!a->holder)
        return;
    timed->holding++;
    a->holder->asks = false;
}

/* Tells those whose wish has come true; they are askers no more. */
static void grant(struct timed *timed)
{
    bool any = false;
    for (struct timed_asker **at = &timed->askers; *at;) {
        struct timed_asker *a = *at;
        if (!holds(timed, a)) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        timed->asking--;
        a->granted = true;
        hold_again(timed, a);
        if (a->sleeper)
            timed_hold_for(timed, a->sleeper);
        a->granted_ps = a->when_ps ? *a->when_ps : port_time_ps(timed->port);
        if (a->serves && timed->serving < sizeof(timed->server) / sizeof(timed->server[0])) {
            timed->server[timed->serving++] = a->thread;
            hold(timed);
        }
        timed->host_ran = any = true;
    }
    if (any)
        pthread_cond_broadcast(&timed->moved);
}

/* Whether time shall go on for somebody, and how far. */
static bool wanted(const struct timed *timed, uint64_t *until_ps)
{
    bool any = timed->on_cores;
    *until_ps = PORT_NEVER;
    for (const struct timed_asker *a = timed->askers; a; a = a->next) {
        any |= !a->serves;
        if (a->until_ps < *until_ps)
            *until_ps = a->until_ps;
    }
    return any;
}

/* Whether there is work of the host's on its way. */
static bool outstanding(struct timed *timed)
{
    struct cp *cp = timed->engine.cp;
    return timed->bell_count || timed->called || cp->active_count || timed->tasks || timed->preparing ||
           timed->looks || cp_unblocked(cp);
}

/* ---- the thread ---- */

static void wake(struct timed *timed)
{
    timed->woken = true;
    pthread_cond_signal(&timed->wake);
}

/*
 * False: nobody has woken it in time.  What the wait returns does not tell: a thread that has
 * the lock while the time runs out wakes nobody.
 */
static bool nap(struct timed *timed, uint64_t ns)
{
    uint64_t until = clock_now_ns() + ns;
    int status = 0;
    timed->woken = false;
    while (!timed->woken && status != ETIMEDOUT)
        status = cond_wait_until(&timed->wake, &timed->lock, until);
    return timed->woken;
}

/* ---- dispatches that run too long ---- */

static void out_of_time(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed_xcd *x = event->self;
    const struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    for (unsigned i = 0; i < x->running_count; i++) {
        struct workgroup *wg = x->running[i];
        if (wg->owner != d)
            continue;
        struct wave_guard guard = {.kind = EHP_FAULT_TIMEOUT, .wave = &wg->wave[0], .lane = UINT_MAX};
        guard.fault_in = guard.wave->next;
        timed_wave_faulted(x, wg, &guard);
        return;
    }
}

static const struct workgroup *running_of(const struct timed_xcd *x, const struct cp_dispatch *d)
{
    for (unsigned i = 0; i < x->running_count; i++)
        if (x->running[i]->owner == d)
            return x->running[i];
    return NULL;
}

static void stop_dispatch(struct timed *timed, struct cp_dispatch *d)
{
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++) {
        struct timed_xcd *x = &timed->xcd[i];
        if (!running_of(x, d))
            continue;
        port_post(x->domain, port_cycle_of(x->domain, port_time_ps(timed->port)), out_of_time, x)->word[0] =
            (uint64_t)(uintptr_t)d;
        return;
    }
}

static void check_timeouts(struct timed *timed)
{
    struct cp *cp = timed->engine.cp;
    uint64_t now = clock_now_ns();
    if (now - timed->checked_ns < TIMEOUT_NS)
        return;
    timed->checked_ns = now;
    pthread_mutex_lock(&cp->lock);
    for (struct cp_dispatch *d = cp->active; d; d = d->next)
        if (d->begun && cp_dispatch_late(d))
            stop_dispatch(timed, d);
    pthread_mutex_unlock(&cp->lock);
}

/* ---- windows ---- */

static void settle_gws(struct timed *timed)
{
    struct cp *cp = timed->engine.cp;
    timed->gws_later = false;
    pthread_mutex_lock(&cp->lock);
    for (struct cp_queue *q = cp->queues; q; q = q->next)
        for (unsigned i = 0; i < GWS_RESOURCES; i++)
            gws_settle(&q->gws[i], timed->xcds);
    pthread_mutex_unlock(&cp->lock);
}

static __attribute__((noinline)) bool has_what_was_asked(struct timed *timed)
{
    pthread_mutex_lock(&timed->lock);
    uint64_t until_ps;
    bool stop = any_holds(timed) || !(timed->stepping ? outstanding(timed) : wanted(timed, &until_ps));
    pthread_mutex_unlock(&timed->lock);
    return stop;
}

static __attribute__((noinline)) void look_around(struct timed *timed)
{
    if (timed->gws_later)
        settle_gws(timed);
    if (timed->engine.cp->timeout_ns)
        check_timeouts(timed);
    if (timed->interrupted) {
        timed->interrupted = false;
        timed_look(timed, NULL, 0, port_time_ps(timed->port));
    }
}

/* Asked after every window. */
static bool should_pause(void *context)
{
    struct timed *timed = context;
    vm_commit(timed->vm);
    if (timed->gws_later || timed->engine.cp->timeout_ns || timed->interrupted)
        look_around(timed);
    if (timed->holding || timed->pause || timed->quit) /* in this order: see stop_holding() */
        return true;
    if (!timed->asking && !timed->stepping) /* without the lock: who asks from now on has it pause first */
        return !timed->on_cores;
    return has_what_was_asked(timed);
}

static void compare(struct timed *timed)
{
    vm_look(timed->vm); /* before L2s read pages that the program has discarded, which makes them */
    for (unsigned i = 0; i < timed->xcds; i++)
        xcd_mem_host_wrote(timed->xcd[i].mem);
    timed->host_ran = timed->compare = false;
    timed->compared_ps = timed->host_ps;
}

static void call_done(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    timed_call_done(event->self, (struct cp_task *)(uintptr_t)event->word[0]);
}

/*
 * What the host has done since the last window.  Doorbells become events at the
 * host's time, or now if simulated time has passed that.
 */
static void take_over(struct timed *timed)
{
    uint64_t time = port_time_ps(timed->port);
    bool still = port_next_ps(timed->port) == PORT_NEVER;
    bool work = outstanding(timed), asks_only = !timed->compare && !timed->bell_count && !timed->called;
    for (size_t i = 0; i < timed->bell_count; i++) {
        const struct timed_bell *b = &timed->bells[i];
        timed_look(timed, b->queue, b->index, b->ps > time ? b->ps : time);
    }
    timed->bell_count = 0;
    for (struct cp_task *task = timed->called; task; task = task->next)
        port_post(timed->host, port_cycle_of(timed->host, time), call_done, timed)->word[0] =
            (uint64_t)(uintptr_t)task;
    timed->called = NULL;
    timed_start_threads(timed, time, work || timed->looks || timed->calling || timed->jobs);
    for (struct cpu_job *job; (job = timed->jobs);) {
        timed->jobs = job->next;
        job->alone = timed->packages == 1 && !work && !timed->jobs && !timed->on_cores;
        cpu_job_begin(timed->package[job->work->package].ccds, job,
                      timed->host_ps > time ? timed->host_ps : time);
    }
    if ((timed->host_ran || still) && cp_unblocked(timed->engine.cp))
        timed_look(timed, NULL, 0, time);
    if (timed->host_ran && work && (!asks_only || timed->host_ps - timed->compared_ps >= COMPARE_PS))
        compare(timed);
}

static void run(struct timed *timed, uint64_t until_ps)
{
    timed->pause = false;
    timed->running = true;
    pthread_mutex_unlock(&timed->lock);
    fault_look(&timed->looked_ns, clock_now_ns());
    port_run(timed->port, until_ps, should_pause, timed);
    pthread_mutex_lock(&timed->lock);
    timed->running = false;
    if (timed->in_turn)
        pthread_cond_broadcast(&timed->moved);
    if (timed->host_wrote) {
        timed->host_wrote = false;
        compare(timed);
    }
}

/* Host functions begin when time stands still. */
static void begin_calls(struct timed *timed)
{
    if (!timed->calls)
        return;
    pthread_mutex_lock(&timed->engine.cp->lock);
    for (const struct cp_task *task = timed->calls; task; task = task->next)
        timed->calling++;
    caller_add(&timed->caller, timed->calls);
    timed->calls = NULL;
    timed->calls_end = &timed->calls;
    pthread_mutex_unlock(&timed->engine.cp->lock);
    hold(timed);
}

/* ---- without the host ---- */

/* What the host has been seen to do, since its last call. */
enum host { HOST_CALLS, HOST_QUIET, HOST_WAITS };
struct watch {
    struct timed_lived lived;
    struct timed_stuck stuck;
};

/* A call of the host's is here, or on its way: it may wait for the lock. */
static bool comes(const struct timed *timed)
{
    return timed->woken || timed->quit || timed->callers;
}

/* Until it calls, has had so much time, or is seen to wait for somebody else. */
static enum host watch(struct timed *timed, struct watch *w, uint64_t ns)
{
    uint64_t until = w->lived.ns + ns;
    while (timed_use_up(&w->lived) < until) {
        nap(timed, GLANCE_NS);
        if (comes(timed))
            return HOST_CALLS;
        if (timed_is_stuck(&w->stuck) ||
            (w->lived.asleep_ns > ASLEEP_NS && w->lived.asleep_ns > w->lived.ns / 10 * 9))
            return HOST_WAITS;
    }
    return HOST_QUIET;
}

/* What the kernel says takes time, in which the host may call: false then. */
static bool ask_kernel(struct timed *timed, bool (*question)(struct timed_touch *touch), bool *answer)
{
    timed->woken = false;
    pthread_mutex_unlock(&timed->lock);
    *answer = question(timed->touch);
    pthread_mutex_lock(&timed->lock);
    return !comes(timed);
}

/* Whether it uses memory that the GPU sees, again and again.  *told false: that cannot be told. */
static enum host watch_memory(struct timed *timed, struct watch *w, bool *told)
{
    for (unsigned touched = 0;; touched++) {
        if (touched == TOUCHES)
            return HOST_WAITS;
        if (!ask_kernel(timed, timed_touch_clear, told))
            return HOST_CALLS;
        bool seen = false;
        for (uint64_t ns = TOUCH_NS; *told && !seen; ns = ns < TOUCH_MOST_NS ? 2 * ns : ns) {
            enum host host = watch(timed, w, ns);
            if (host != HOST_QUIET)
                return host;
            if (!ask_kernel(timed, timed_touched, &seen))
                return HOST_CALLS;
        }
        if (!*told)
            return HOST_QUIET;
    }
}

/*
 * Work is on its way and the host makes no call.  Returns when it does, or true when it waits for the device
 * in a way of its own: when all its threads wait for one another; when it has used memory that the GPU sees
 * again and again, which calls do not; when the whole process has been asleep for long, as if for another
 * process.
 *
 * Nobody can tell with XNACK, where the GPU sees everything, nor while a host function is still to come,
 * which can tell it anything: then it waits when it has had much time.  One that has been believed once is
 * sooner believed again.
 */
static bool depends_on_device(struct timed *timed)
{
    struct cp *cp = timed->engine.cp;
    struct watch w = {0};
    enum host host = watch(timed, &w, QUIET_NS);
    bool told = host == HOST_QUIET && !cp->memory->xnack && timed->touch && !cp_calls_ahead(cp);
    if (told)
        host = watch_memory(timed, &w, &told);
    if (host == HOST_QUIET)
        host = watch(timed, &w, timed->untold_ns);
    if (host != HOST_QUIET)
        return host == HOST_WAITS;
    timed->untold_ns = timed->untold_ns / 2 > UNTOLD_LEAST_NS ? timed->untold_ns / 2 : UNTOLD_LEAST_NS;
    return true;
}

static void go_alone(struct timed *timed)
{
    if (!outstanding(timed)) {
        pthread_cond_wait(&timed->wake, &timed->lock);
        return;
    }
    if (timed->outside) { /* what it waits for comes at a simulated time, which it then asks for */
        nap(timed, PATIENCE_NS);
        return;
    }
    if (timed->alone ? nap(timed, TOGETHER_NS) : !depends_on_device(timed))
        return;
    timed->alone = timed->stepping = timed->compare = timed->host_ran = true;
    take_over(timed);
    uint64_t time = port_time_ps(timed->port), next = port_next_ps(timed->port);
    if (next != PORT_NEVER)
        run(timed, (next > time ? next : time) + STEP_PS);
    timed->stepping = false;
}

/* A host function, or who serves device code, is at work. */
static bool held(struct timed *timed)
{
    bool calls = timed->calling && !timed->call_waits;
    if ((!calls && !timed->serving) || timed->held.ns >= PATIENCE_NS)
        return false; /* or it may itself wait for the device */
    nap(timed, GLANCE_NS);
    timed_use_up(&timed->held);
    return true;
}

/* Threads that are away from their cores: they may wait for what nobody knows of. */
static bool held_by_threads(struct timed *timed)
{
    uint64_t now = clock_now_ns();
    if (!timed->holding) {
        timed->holding_since_ns = 0;
        return false;
    }
    if (!timed->holding_since_ns)
        timed->holding_since_ns = now;
    if (now - timed->holding_since_ns >= PATIENCE_NS && !timed->outside)
        return false;
    nap(timed, GLANCE_NS);
    return true;
}

void *timed_main(void *argument)
{
    struct timed *timed = argument;
    uint64_t until_ps;
    pthread_mutex_lock(&timed->lock);
    while (!timed->quit) {
        begin_calls(timed);
        grant(timed);
        if (held(timed) || held_by_threads(timed))
            continue;
        if (!wanted(timed, &until_ps)) {
            go_alone(timed);
            continue;
        }
        take_over(timed);
        if (until_ps == PORT_NEVER && port_next_ps(timed->port) == PORT_NEVER)
            nap(timed, LOOK_NS); /* another thread, or another process, will do it */
        else
            run(timed, until_ps);
    }
    pthread_mutex_unlock(&timed->lock);
    return NULL;
}

/* ---- the host's side ---- */

/* With the lock.  Threads that leave their cores in one window are on the host at once: each does what it
 * calls for when those that left before have, so that who comes first is who comes first in simulated time.
 */
static void wait_for_turn(struct timed *timed)
{
    const struct cpu_thread *self = timed_holder(timed);
    const uint64_t until = clock_now_ns() + PATIENCE_NS;
    timed->in_turn++;
    while (self && !timed_has_turn(timed, self) && !timed->quit && clock_now_ns() < until)
        cond_wait_until(&timed->moved, &timed->lock, clock_now_ns() + (timed->running ? TURN_NS : LOOK_NS));
    timed->in_turn--;
}

/* With the lock: the time of who calls, its own if it has a core. */
static uint64_t own_ps(const struct timed *timed)
{
    const struct cpu_thread *holder = timed_holder(timed);
    return holder ? holder->parked_ps : timed->host_ps;
}

static void come_to(struct timed *timed, uint64_t ps)
{
    struct cpu_thread *holder = timed_holder(timed);
    if (ps > timed->host_ps)
        timed->host_ps = ps;
    if (!holder)
        timed->coreless_ps = timed->host_ps;
    else if (ps > holder->parked_ps)
        holder->parked_ps = ps;
}

/* A call that waits for the lock is one already: who watches the host has it. */
static void enter_call(struct timed *timed)
{
    uint64_t ps = timed->threads ? timed_leave_core(timed) : 0;
    timed->callers++;
    pthread_mutex_lock(&timed->lock);
    timed->callers--;
    if (ps)
        wait_for_turn(timed);
    if (ps > timed->host_ps)
        timed->host_ps = ps;
}

void timed_wake(struct timed *timed)
{
    timed->pause = true;
    wake(timed);
}

void timed_ring(struct engine *engine, struct cp_queue *queue, uint64_t index)
{
    struct timed *timed = (struct timed *)engine;
    enter_call(timed);
    if (timed->bell_count == timed->bell_capacity) {
        size_t capacity = timed->bell_capacity ? 2 * timed->bell_capacity : 64;
        struct timed_bell *bells = realloc(timed->bells, capacity * sizeof(*bells));
        if (!bells)
            abort();
        timed->bells = bells;
        timed->bell_capacity = capacity;
    }
    timed->bells[timed->bell_count++] = (struct timed_bell){queue, index, own_ps(timed)};
    timed->host_ran = timed->pause = true;
    timed->alone = false;
    wake(timed);
    pthread_mutex_unlock(&timed->lock);
}

/* Until it is granted, or the time is over. */
static bool ask(struct timed *timed, struct timed_asker *a, uint64_t timeout_ns)
{
    uint64_t start = clock_now_ns(),
             until = timeout_ns > UINT64_MAX - start ? UINT64_MAX : start + timeout_ns;
    a->holder = timed_holder(timed);
    a->next = timed->askers;
    timed->askers = a;
    timed->asking++;
    timed->pause = true;
    if (a->holder) {
        timed->holding--;
        a->holder->asks = true;
    }
    if (timed->in_turn)
        pthread_cond_broadcast(&timed->moved);
    wake(timed);
    while (!a->granted && !timed->quit) {
        if (timeout_ns == UINT64_MAX) {
            pthread_cond_wait(&timed->moved, &timed->lock);
            continue;
        }
        if (clock_now_ns() >= until)
            break;
        cond_wait_until(&timed->moved, &timed->lock, until);
    }
    for (struct timed_asker **at = &timed->askers; *at && !a->granted; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            timed->asking--;
            hold_again(timed, a);
            break;
        }
    return a->granted;
}

/* A host function that waits lets time go on, which stands still for it otherwise. */
static bool wait_for(struct timed *timed, struct timed_asker *a, uint64_t timeout_ns)
{
    bool call = caller_is_self(&timed->caller);
    timed->call_waits |= call;
    bool reached = ask(timed, a, timeout_ns);
    if (call) {
        timed->call_waits = false;
        hold(timed);
    }
    return reached;
}

static struct timed_asker asker_of(const struct engine_wish *wish)
{
    return (struct timed_asker){.wish = wish->holds,
                                .context = wish->context,
                                .when_ps = wish->signal ? &wish->signal->completed_ps : NULL,
                                .until_ps = PORT_NEVER,
                                .serves = wish->serves,
                                .thread = pthread_self()};
}

/* Who polls a signal pays for what it takes to wake the host's thread. */
static bool wait_once(struct timed *timed, const struct engine_wish *wish, uint64_t timeout_ns)
{
    struct timed_asker a = asker_of(wish);
    enter_call(timed);
    timed->alone = false;
    timed->compare |= timed->host_ran;
    bool reached = !timed->running && holds(timed, &a);
    if (reached)
        a.granted_ps = a.when_ps ? *a.when_ps : 0;
    else
        reached = wait_for(timed, &a, timeout_ns);
    /* A wait that is over because the simulator took long has cost the simulated host nothing. */
    if (reached) {
        const uint64_t own = own_ps(timed);
        come_to(timed, (a.granted_ps > own ? a.granted_ps : own) + (wish->signal ? timed->wait_ps : 0));
    }
    pthread_mutex_unlock(&timed->lock);
    return reached;
}

/* This thread's place among those who serve device code; timed->serving: it does not. */
static unsigned server(const struct timed *timed)
{
    unsigned i = 0;
    while (i < timed->serving && !pthread_equal(timed->server[i], pthread_self()))
        i++;
    return i;
}

/* Time does not go on for who serves device code, and stands still until it waits again. */
static bool serve(struct timed *timed, const struct engine_wish *wish, uint64_t timeout_ns)
{
    struct timed_asker a = asker_of(wish);
    enter_call(timed);
    unsigned place = server(timed);
    if (place < timed->serving) {
        timed->server[place] = timed->server[--timed->serving];
        timed->compare = timed->host_ran = true;
    }
    bool reached = ask(timed, &a, timeout_ns);
    pthread_mutex_unlock(&timed->lock);
    return reached;
}

bool timed_wait(struct engine *engine, const struct engine_wish *wish, uint64_t timeout_ns)
{
    struct timed *timed = (struct timed *)engine;
    if (wish->serves)
        return serve(timed, wish, timeout_ns);
    /* When time runs out just as it comes true, the wait goes on until simulated time says when that was. */
    for (;;) {
        bool reached = wait_once(timed, wish, timeout_ns);
        if (reached || !wish->holds(wish->context))
            return reached;
    }
}

void timed_spend(struct engine *engine, uint64_t ps)
{
    struct timed *timed = (struct timed *)engine;
    struct timed_asker a = {0};
    enter_call(timed);
    timed->alone = false;
    a.until_ps = own_ps(timed) + ps;
    come_to(timed, a.until_ps);
    /* Time stands still for a host function, and for who serves device code: they cannot wait for it.  A
     * thread is back on its core by then, and others may wait for a lock that it has. */
    if (!timed_holder(timed) && server(timed) == timed->serving && !caller_is_self(&timed->caller))
        ask(timed, &a, UINT64_MAX);
    pthread_mutex_unlock(&timed->lock);
}

void timed_arrive(struct engine *engine)
{
    struct timed *timed = (struct timed *)engine;
    if (!timed->threads)
        return;
    enter_call(timed);
    pthread_mutex_unlock(&timed->lock);
}

/* Takes the lock, between two windows. */
static void lock_between(struct timed *timed)
{
    pthread_mutex_lock(&timed->lock);
    while (timed->running) {
        timed->pause = true;
        pthread_mutex_unlock(&timed->lock);
        sched_yield();
        pthread_mutex_lock(&timed->lock);
    }
}

void timed_still(struct engine *engine, void (*fn)(void *context), void *context)
{
    struct timed *timed = (struct timed *)engine;
    lock_between(timed);
    fn(context);
    pthread_mutex_unlock(&timed->lock);
}

void timed_moved(struct engine *engine, uint64_t from, uint64_t to, uint64_t bytes)
{
    struct timed *timed = (struct timed *)engine;
    lock_between(timed);
    vm_moved(timed->vm, from, to, bytes);
    pthread_mutex_unlock(&timed->lock);
}

void timed_unmapped(struct engine *engine, uint64_t address, uint64_t bytes)
{
    struct timed *timed = (struct timed *)engine;
    lock_between(timed);
    vm_unmapped(timed->vm, address, bytes);
    pthread_mutex_unlock(&timed->lock);
}

void timed_sleep_until(struct timed *timed, struct cpu_thread *thread, bool (*over)(void *thread),
                       uint64_t ps)
{
    struct timed_asker a = {.wish = over, .context = thread, .until_ps = ps, .sleeper = thread};
    ask(timed, &a, UINT64_MAX);
}

bool timed_read_traffic(struct engine *engine, unsigned from, unsigned to, struct ehp_traffic *out)
{
    struct timed *timed = (struct timed *)engine;
    const bool back = from == timed->packages;
    const unsigned package = back ? to : from;
    struct fabric_traffic t;
    if (package >= timed->packages)
        return false;
    enter_call(timed);
    const bool found = fabric_read_traffic(timed->package[package].fabric, back ? from : to, back, &t);
    pthread_mutex_unlock(&timed->lock);
    if (found)
        *out = (struct ehp_traffic){.size = out->size,
                                    .bytes = t.bytes,
                                    .packets = t.packets,
                                    .waited_ns = (uint64_t)(t.waited_ps / 1000)};
    return found;
}

bool timed_read_core(struct engine *engine, unsigned core, struct ehp_core *out)
{
    struct timed *timed = (struct timed *)engine;
    const double cycles_per_ps = engine->cp->chip->value[CHIP_core_clock] * 1e-6;
    struct core_counters c;
    if (core >= timed->packages * timed->package_cores)
        return false;
    enter_call(timed);
    struct ccds *ccds = timed_ccds_of(timed, &core);
    ccds_read_counters(ccds, core, &c);
    pthread_mutex_unlock(&timed->lock);
    *out = (struct ehp_core){
        .size = out->size,
        .ccd = core % chip_get(engine->cp->chip, CHIP_ccd_count),
        .ex_ret_instr = c.instructions,
        .ls_not_halted_cyc = (uint64_t)((double)c.busy_ps * cycles_per_ps),
        .ld_dispatch = c.loads,
        .store_dispatch = c.stores,
        .locks = c.atomics,
        .l1_misses = c.l1_misses,
        .l2_misses = c.l2_misses,
        .l3_misses = c.l3_misses,
        .prefetches = c.prefetches,
        .walks = c.walks,
        .chained = c.chained,
        .faults = c.faults,
        .probes = c.probes,
        .ex_ret_brn = c.branches,
        .ex_ret_brn_misp = c.mispredicted,
    };
    return true;
}

bool timed_read_part(struct engine *engine, unsigned part, struct ehp_part *out)
{
    struct timed *timed = (struct timed *)engine;
    const unsigned each = fabric_parts(timed->package[0].fabric), package = part / each;
    if (package >= timed->packages)
        return false;
    lock_between(timed);
    fabric_read_part(timed->package[package].fabric, part % each, out);
    pthread_mutex_unlock(&timed->lock);
    return true;
}

static bool job_done(void *context)
{
    return atomic_load_explicit(&((struct cpu_job *)context)->done, memory_order_acquire);
}

void timed_run_job(struct timed *timed, const struct ehp_cpu_work *work)
{
    struct cpu_job job = {.work = work, .host = timed->host, .delay_ps = timed->way_ps};
    struct timed_asker a = {.wish = job_done,
                            .context = &job,
                            .when_ps = &job.done_ps,
                            .until_ps = PORT_NEVER,
                            .thread = pthread_self()};
    enter_call(timed);
    timed->alone = false;
    job.next = timed->jobs;
    timed->jobs = &job;
    wait_for(timed, &a, UINT64_MAX);
    come_to(timed, job.done_ps);
    pthread_mutex_unlock(&timed->lock);
    cpu_job_close(&job);
}

uint64_t timed_program_ps(struct engine *engine)
{
    struct timed *timed = (struct timed *)engine;
    enter_call(timed);
    uint64_t ps = own_ps(timed);
    pthread_mutex_unlock(&timed->lock);
    return ps;
}

void timed_outside(struct engine *engine, bool on)
{
    struct timed *timed = (struct timed *)engine;
    enter_call(timed);
    timed->outside += on ? 1U : -1U;
    timed->alone = false;
    timed->holding_since_ns = 0;
    wake(timed);
    pthread_mutex_unlock(&timed->lock);
}

void timed_called(struct engine *engine, struct cp_task *task)
{
    struct timed *timed = (struct timed *)engine;
    enter_call(timed);
    struct cp_task **end = &timed->called;
    while (*end)
        end = &(*end)->next;
    task->next = NULL;
    *end = task;
    timed->calling--;
    timed->host_ran = true;
    wake(timed);
    pthread_mutex_unlock(&timed->lock);
}
