/* SPDX-License-Identifier: MIT */
/* The thread that runs simulated time, and the host program's time; see sim.h. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cp/sim.h"
#include "wave/fault.h"
#include "soc/machine.h"
#include "vm/vm.h"

/* Of the host's own time. */
#define MS          UINT64_C(1000000)
#define LOOK_NS     (2 * MS)  /* between looks at what others than simulated time may change */
#define TIMEOUT_NS  (10 * MS) /* between looks at dispatches that run too long */
#define TOGETHER_NS MS        /* a host that polls looks in between */
/* Of the host program's, see use_up(). */
#define GLANCE_NS   (5 * MS)    /* between looks at what it does */
#define QUIET_NS    (20 * MS)   /* without a call, before accesses are noted */
#define TOUCH_NS    (30 * MS)   /* between looks at them */
#define TOUCHES     2           /* looks that see some, before it counts as waiting */
#define PATIENCE_NS (1000 * MS) /* with a host function that does not end */
#define ASLEEP_NS   (2000 * MS) /* with a process that does nothing: somebody else may wait for the GPU */
/* Of simulated time. */
#define STEP_PS UINT64_C(100000000) /* without the host */
#define COMPARE_PS                                                                                           \
    UINT64_C(2000000) /* between comparisons of the L2s with memory, while the host only asks */

struct sim_asker {
    struct sim_asker *next;
    struct sim_wish wish;
    uint64_t until_ps; /* what it waits for without a wish */
    uint64_t granted_ps;
    pthread_t thread; /* of who serves */
    bool serves, granted;
};

static bool holds(const struct sim *sim, const struct sim_asker *a)
{
    return a->wish.holds ? a->wish.holds(a->wish.context) : port_time_ps(sim->port) >= a->until_ps;
}

static bool any_holds(const struct sim *sim)
{
    for (const struct sim_asker *a = sim->askers; a; a = a->next)
        if (holds(sim, a))
            return true;
    return false;
}

/* ---- the time that the host program has had ---- */

static uint64_t process_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The letter of /proc/self/task/TID/stat behind the name. */
static char state_of(const char *tid)
{
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/self/task/%.16s/stat", tid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t bytes = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[bytes] = '\0';
    const char *end = strrchr(line, ')');
    return end && end[1] ? end[2] : 0;
}

/* Whether a thread other than this one runs, or would if the machine let it. */
static bool somebody_runs(void)
{
    DIR *tasks = opendir("/proc/self/task");
    bool any = false;
    long self = gettid();
    for (const struct dirent *e; tasks && !any && (e = readdir(tasks));)
        if (e->d_name[0] != '.' && strtol(e->d_name, NULL, 10) != self) {
            char state = state_of(e->d_name);
            any = state == 'R' || state == 'D';
        }
    if (tasks)
        closedir(tasks);
    return any;
}

/*
 * The time that the host program has had since the last look, while the simulation stood still: the processor
 * time that it has used, or what has passed while all its threads slept.  A machine that does not let it run
 * takes time from neither, and what passes between two looks at one that stalls altogether counts as one
 * glance.
 */
static uint64_t use_up(struct sim_lived *l)
{
    uint64_t now = machine_now_ns(), cpu = process_ns(), used = cpu - l->cpu_ns, passed = now - l->now_ns;
    l->now_ns = now;
    l->cpu_ns = cpu;
    uint64_t slept = somebody_runs() ? 0 : passed < 2 * GLANCE_NS ? passed : 2 * GLANCE_NS;
    l->asleep_ns += used < slept / 10 ? slept : 0;
    l->ns += used > slept ? used : slept;
    return l->ns;
}

static struct sim_lived live(void)
{
    return (struct sim_lived){.now_ns = machine_now_ns(), .cpu_ns = process_ns()};
}

static void hold(struct sim *sim)
{
    sim->held = live();
}

/* ---- askers: the lock is held ---- */

/* Tells those whose wish has come true; they are askers no more. */
static void grant(struct sim *sim)
{
    bool any = false;
    for (struct sim_asker **at = &sim->askers; *at;) {
        struct sim_asker *a = *at;
        if (!holds(sim, a)) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        a->granted = true;
        a->granted_ps = a->wish.when_ps ? *a->wish.when_ps : port_time_ps(sim->port);
        if (a->serves && sim->serving < sizeof(sim->server) / sizeof(sim->server[0])) {
            sim->server[sim->serving++] = a->thread;
            hold(sim);
        }
        sim->host_ran = any = true;
    }
    if (any)
        pthread_cond_broadcast(&sim->moved);
}

/* Whether time shall go on for somebody, and how far. */
static bool wanted(const struct sim *sim, uint64_t *until_ps)
{
    bool any = false;
    *until_ps = PORT_NEVER;
    for (const struct sim_asker *a = sim->askers; a; a = a->next) {
        any |= !a->serves;
        if (!a->wish.holds && a->until_ps < *until_ps)
            *until_ps = a->until_ps;
    }
    return any;
}

/* Whether there is work of the host's on its way. */
static bool outstanding(struct sim *sim)
{
    struct ehp_machine *m = sim->machine;
    return sim->bell_count || sim->called || m->cp.active_count || sim->tasks || cp_unblocked(m);
}

/* ---- the thread ---- */

/* False: nobody has woken it in time. */
static bool nap(struct sim *sim, uint64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)((ns + (uint64_t)until.tv_nsec) / 1000000000);
    until.tv_nsec = (long)((ns + (uint64_t)until.tv_nsec) % 1000000000);
    return pthread_cond_timedwait(&sim->wake, &sim->lock, &until) != ETIMEDOUT;
}

/* ---- dispatches that run too long ---- */

static void out_of_time(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct sim_xcd *x = event->self;
    const struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    for (unsigned i = 0; i < x->running_count; i++) {
        struct workgroup *wg = x->running[i];
        if (wg->owner != d)
            continue;
        struct wave_guard guard = {.kind = EHP_FAULT_TIMEOUT, .wave = &wg->wave[0], .lane = UINT_MAX};
        guard.fault_in = guard.wave->next;
        sim_wave_faulted(x, wg, &guard);
        return;
    }
}

static const struct workgroup *running_of(const struct sim_xcd *x, const struct cp_dispatch *d)
{
    for (unsigned i = 0; i < x->running_count; i++)
        if (x->running[i]->owner == d)
            return x->running[i];
    return NULL;
}

static void stop_dispatch(struct sim *sim, struct cp_dispatch *d)
{
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++) {
        struct sim_xcd *x = &sim->xcd[i];
        if (!running_of(x, d))
            continue;
        port_post(x->domain, port_cycle_of(x->domain, port_time_ps(sim->port)), out_of_time, x)->word[0] =
            (uint64_t)(uintptr_t)d;
        return;
    }
}

static void check_timeouts(struct sim *sim)
{
    struct ehp_machine *m = sim->machine;
    uint64_t now = machine_now_ns();
    if (now - sim->checked_ns < TIMEOUT_NS)
        return;
    sim->checked_ns = now;
    pthread_mutex_lock(&m->cp.lock);
    for (struct cp_dispatch *d = m->cp.active; d; d = d->next)
        if (d->begun && cp_dispatch_late(d))
            stop_dispatch(sim, d);
    pthread_mutex_unlock(&m->cp.lock);
}

/* ---- windows ---- */

static void settle_gws(struct sim *sim)
{
    struct cp *cp = &sim->machine->cp;
    sim->gws_later = false;
    pthread_mutex_lock(&cp->lock);
    for (struct cp_queue *q = cp->queues; q; q = q->next)
        for (unsigned i = 0; i < GWS_RESOURCES; i++)
            gws_settle(&q->gws[i], sim->xcds);
    pthread_mutex_unlock(&cp->lock);
}

/* Asked after every window. */
static bool should_pause(void *context)
{
    struct sim *sim = context;
    vm_commit(sim->vm);
    if (sim->gws_later)
        settle_gws(sim);
    if (sim->machine->timeout_ns)
        check_timeouts(sim);
    if (sim->interrupted) {
        sim->interrupted = false;
        sim_look(sim, NULL, 0, port_time_ps(sim->port));
    }
    if (sim->pause || sim->quit)
        return true;
    pthread_mutex_lock(&sim->lock);
    uint64_t until_ps;
    bool stop = any_holds(sim) || !(sim->stepping ? outstanding(sim) : wanted(sim, &until_ps));
    pthread_mutex_unlock(&sim->lock);
    return stop;
}

static void compare(struct sim *sim)
{
    vm_look(sim->vm); /* before L2s read pages that the program has discarded, which makes them */
    for (unsigned i = 0; i < sim->xcds; i++)
        xcd_mem_host_wrote(sim->xcd[i].mem);
    sim->host_ran = sim->compare = false;
    sim->compared_ps = sim->host_ps;
}

static void call_done(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    sim_call_done(event->self, (struct cp_task *)(uintptr_t)event->word[0]);
}

/*
 * What the host has done since the last window.  Doorbells become events at the
 * host's time, or now if simulated time has passed that.
 */
static void take_over(struct sim *sim)
{
    uint64_t time = port_time_ps(sim->port);
    bool still = port_next_ps(sim->port) == PORT_NEVER;
    bool work = outstanding(sim), asks_only = !sim->compare && !sim->bell_count && !sim->called;
    for (size_t i = 0; i < sim->bell_count; i++) {
        const struct sim_bell *b = &sim->bells[i];
        sim_look(sim, b->queue, b->index, b->ps > time ? b->ps : time);
    }
    sim->bell_count = 0;
    for (struct cp_task *task = sim->called; task; task = task->next)
        port_post(sim->host, port_cycle_of(sim->host, time), call_done, sim)->word[0] =
            (uint64_t)(uintptr_t)task;
    sim->called = NULL;
    if ((sim->host_ran || still) && cp_unblocked(sim->machine))
        sim_look(sim, NULL, 0, time);
    if (sim->host_ran && work && (!asks_only || sim->host_ps - sim->compared_ps >= COMPARE_PS))
        compare(sim);
}

static void run(struct sim *sim, uint64_t until_ps)
{
    sim->pause = false;
    sim->running = true;
    pthread_mutex_unlock(&sim->lock);
    fault_look(&sim->looked_ns, machine_now_ns());
    port_run(sim->port, until_ps, should_pause, sim);
    pthread_mutex_lock(&sim->lock);
    sim->running = false;
    if (sim->host_wrote) {
        sim->host_wrote = false;
        compare(sim);
    }
}

/* Host functions begin when time stands still. */
static void begin_calls(struct sim *sim)
{
    if (!sim->calls)
        return;
    struct cp *cp = &sim->machine->cp;
    pthread_mutex_lock(&cp->lock);
    *cp->calls_end = sim->calls;
    for (; *cp->calls_end; cp->calls_end = &(*cp->calls_end)->next)
        sim->calling++;
    sim->calls = NULL;
    sim->calls_end = &sim->calls;
    pthread_cond_signal(&cp->call_ready);
    pthread_mutex_unlock(&cp->lock);
    hold(sim);
}

/* ---- without the host ---- */

/*
 * Work is on its way and the host makes no call.  Returns when it does, or true
 * when it may wait for the device in a way of its own: when it has used memory that
 * the GPU sees again and again, or when nobody can tell, as with XNACK; when a host function
 * is still to come, which can tell it anything; when the whole process has been asleep
 * for long, as if for another process.
 */
static bool depends_on_device(struct sim *sim)
{
    struct ehp_machine *m = sim->machine;
    struct sim_lived lived = live();
    while (use_up(&lived) < QUIET_NS)
        if (nap(sim, GLANCE_NS) || sim->quit)
            return false;
    /* From here on nobody but the host touches what the GPU sees. */
    bool tells = !m->memory.xnack && !cp_calls_ahead(m) && sim->touch && sim_touch_clear(sim->touch);
    for (unsigned touched = 0;;) {
        uint64_t until = lived.ns + TOUCH_NS;
        while (use_up(&lived) < until)
            if (nap(sim, GLANCE_NS) || sim->quit)
                return false;
        /* Once may be a call that has begun and is still to come here. */
        if (!tells || (sim_touched(sim->touch) && (++touched == TOUCHES || !sim_touch_clear(sim->touch))))
            return true;
        if (lived.asleep_ns > ASLEEP_NS && lived.asleep_ns > lived.ns / 10 * 9)
            return true;
    }
}

static void go_alone(struct sim *sim)
{
    if (!outstanding(sim)) {
        pthread_cond_wait(&sim->wake, &sim->lock);
        return;
    }
    if (sim->alone ? nap(sim, TOGETHER_NS) : !depends_on_device(sim))
        return;
    sim->alone = sim->stepping = sim->compare = sim->host_ran = true;
    take_over(sim);
    uint64_t time = port_time_ps(sim->port), next = port_next_ps(sim->port);
    if (next != PORT_NEVER)
        run(sim, (next > time ? next : time) + STEP_PS);
    sim->stepping = false;
}

/* A host function, or who serves device code, is at work. */
static bool held(struct sim *sim)
{
    bool calls = sim->calling && !sim->call_waits;
    if ((!calls && !sim->serving) || sim->held.ns >= PATIENCE_NS)
        return false; /* or it may itself wait for the device */
    nap(sim, GLANCE_NS);
    use_up(&sim->held);
    return true;
}

void *sim_main(void *argument)
{
    struct sim *sim = argument;
    uint64_t until_ps;
    pthread_mutex_lock(&sim->lock);
    while (!sim->quit) {
        begin_calls(sim);
        grant(sim);
        if (held(sim))
            continue;
        if (!wanted(sim, &until_ps)) {
            go_alone(sim);
            continue;
        }
        take_over(sim);
        if (until_ps == PORT_NEVER && port_next_ps(sim->port) == PORT_NEVER)
            nap(sim, LOOK_NS); /* another thread, or another process, will do it */
        else
            run(sim, until_ps);
    }
    pthread_mutex_unlock(&sim->lock);
    return NULL;
}

/* ---- the host's side ---- */

void sim_ring(struct sim *sim, struct cp_queue *queue, uint64_t index)
{
    pthread_mutex_lock(&sim->lock);
    if (sim->bell_count == sim->bell_capacity) {
        size_t capacity = sim->bell_capacity ? 2 * sim->bell_capacity : 64;
        struct sim_bell *bells = realloc(sim->bells, capacity * sizeof(*bells));
        if (!bells)
            abort();
        sim->bells = bells;
        sim->bell_capacity = capacity;
    }
    sim->bells[sim->bell_count++] = (struct sim_bell){queue, index, sim->host_ps};
    sim->host_ran = sim->pause = true;
    sim->alone = false;
    pthread_cond_signal(&sim->wake);
    pthread_mutex_unlock(&sim->lock);
}

/* Until it is granted, or the time is over. */
static bool ask(struct sim *sim, struct sim_asker *a, uint64_t timeout_ns)
{
    uint64_t start = machine_now_ns();
    a->next = sim->askers;
    sim->askers = a;
    sim->pause = true;
    pthread_cond_signal(&sim->wake);
    while (!a->granted && !sim->quit) {
        if (timeout_ns == UINT64_MAX) {
            pthread_cond_wait(&sim->moved, &sim->lock);
            continue;
        }
        uint64_t passed = machine_now_ns() - start;
        if (passed >= timeout_ns)
            break;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        uint64_t ns = (uint64_t)until.tv_nsec + timeout_ns - passed;
        until.tv_sec += (time_t)(ns / 1000000000);
        until.tv_nsec = (long)(ns % 1000000000);
        pthread_cond_timedwait(&sim->moved, &sim->lock, &until);
    }
    for (struct sim_asker **at = &sim->askers; *at && !a->granted; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            break;
        }
    return a->granted;
}

/* A host function that waits lets time go on, which stands still for it otherwise. */
static bool wait_for(struct sim *sim, struct sim_asker *a, uint64_t timeout_ns)
{
    bool call = pthread_equal(pthread_self(), sim->machine->cp.caller);
    sim->call_waits |= call;
    bool reached = ask(sim, a, timeout_ns);
    if (call) {
        sim->call_waits = false;
        hold(sim);
    }
    return reached;
}

bool sim_wait(struct sim *sim, const struct sim_wish *wish, uint64_t timeout_ns, uint64_t wake_ps)
{
    struct sim_asker a = {.wish = *wish};
    pthread_mutex_lock(&sim->lock);
    sim->alone = false;
    sim->compare |= sim->host_ran;
    bool reached = !sim->running && holds(sim, &a);
    if (reached)
        a.granted_ps = wish->when_ps ? *wish->when_ps : 0;
    else
        reached = wait_for(sim, &a, timeout_ns);
    /* A wait that is over because the simulator took long has cost the simulated host nothing. */
    if (reached) {
        if (a.granted_ps > sim->host_ps)
            sim->host_ps = a.granted_ps;
        sim->host_ps += wake_ps;
    }
    pthread_mutex_unlock(&sim->lock);
    return reached;
}

/* This thread's place among those who serve device code; sim->serving: it does not. */
static unsigned server(const struct sim *sim)
{
    unsigned i = 0;
    while (i < sim->serving && !pthread_equal(sim->server[i], pthread_self()))
        i++;
    return i;
}

bool sim_serve(struct sim *sim, const struct sim_wish *wish, uint64_t timeout_ns)
{
    struct sim_asker a = {.wish = *wish, .serves = true, .thread = pthread_self()};
    pthread_mutex_lock(&sim->lock);
    unsigned place = server(sim);
    if (place < sim->serving) {
        sim->server[place] = sim->server[--sim->serving];
        sim->compare = sim->host_ran = true;
    }
    bool reached = ask(sim, &a, timeout_ns);
    pthread_mutex_unlock(&sim->lock);
    return reached;
}

void sim_host_spend(struct sim *sim, uint64_t ps)
{
    struct sim_asker a = {0};
    pthread_mutex_lock(&sim->lock);
    sim->alone = false;
    a.until_ps = sim->host_ps += ps;
    /* Time stands still for a host function, and for who serves device code: they cannot wait for it. */
    if (server(sim) == sim->serving && !pthread_equal(pthread_self(), sim->machine->cp.caller))
        ask(sim, &a, UINT64_MAX);
    pthread_mutex_unlock(&sim->lock);
}

uint64_t sim_host_ns(struct sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    uint64_t ps = sim->host_ps;
    pthread_mutex_unlock(&sim->lock);
    return ps / 1000;
}

void sim_called(struct sim *sim, struct cp_task *task)
{
    pthread_mutex_lock(&sim->lock);
    struct cp_task **end = &sim->called;
    while (*end)
        end = &(*end)->next;
    task->next = NULL;
    *end = task;
    sim->calling--;
    sim->host_ran = true;
    pthread_cond_signal(&sim->wake);
    pthread_mutex_unlock(&sim->lock);
}
