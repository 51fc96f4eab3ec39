/* SPDX-License-Identifier: MIT */
/* Functional mode's opening and closing, and what it offers; see host.h. */
#include "engine/host/host.h"

#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "base/futex.h"
#include "base/thread.h"
#include "cp/signal.h"

/* Spins before a waiter asks the kernel to be put to sleep: around ten microseconds. */
enum { SPINS = 600 };

/* A kernel that stores to a signal without an interrupt wakes nobody: look again after this long. */
#define RECHECK_NS UINT64_C(2000000)

/* Between looks at what is no signal. */
enum { POLL_NS = 20000 };

static struct host *host_of(const struct engine *engine)
{
    return (struct host *)(uintptr_t)engine;
}

/* ---- waking ---- */

void host_wake_all(struct host *h)
{
    h->bell++;
    if (h->sleepers)
        futex_wake(&h->bell, UINT_MAX);
}

static void ring(struct engine *engine, struct cp_queue *queue, uint64_t index)
{
    struct host *h = host_of(engine);
    (void)queue, (void)index; /* the processor reads what has been written, wherever */
    engine->cp->look = true;
    h->bell++;
    if (h->sleepers)
        futex_wake(&h->bell, 1);
}

static void interrupted(struct engine *engine)
{
    if (engine->cp->blocked_count)
        ring(engine, NULL, 0);
}

/* ---- packets ---- */

static bool admit(struct engine *engine, struct cp_dispatch *d, char *why, size_t bytes)
{
    (void)engine, (void)d, (void)why, (void)bytes; /* scratch is part of a workgroup's memory */
    return true;
}

static void forget(struct engine *engine, struct cp_dispatch *d)
{
    (void)engine;
    for (struct workgroup *wg = d->deferred, *next; wg; wg = next) {
        next = wg->next;
        workgroup_free(wg);
    }
}

static void start_task(struct engine *engine, struct cp_task *task)
{
    struct host *h = host_of(engine);
    if (task->packet.type == EHP_AGENT_CALL) {
        caller_add(&h->caller, task);
        return;
    }
    *h->tasks_end = task;
    h->tasks_end = &task->next;
    h->task_count++;
}

static void called(struct engine *engine, struct cp_task *task)
{
    task_done(task, clock_now_ns());
    host_wake_all(host_of(engine));
}

static void signalled(struct engine *engine, struct cp_signal *signal)
{
    (void)engine, (void)signal; /* its waiters have been woken */
}

static void completed(struct engine *engine)
{
    struct host *h = host_of(engine);
    struct cp *cp = engine->cp;
    unsigned before = cp->active_count;
    cp_read_queues(cp);
    if (cp->active_count > before || h->tasks)
        host_wake_all(h);
}

/* ---- waiting ---- */

static bool wait_signal(const struct engine_wish *wish, uint64_t timeout_ns)
{
    struct cp_signal *s = wish->signal;
    for (int i = 0; i < SPINS; i++) {
        if (wish->holds(wish->context))
            return true;
        __builtin_ia32_pause();
    }
    bool reached;
    uint64_t start = clock_now_ns();
    __atomic_fetch_add(&s->block.reserved1, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        const int64_t now = __atomic_load_n(s->value, __ATOMIC_SEQ_CST);
        reached = wish->holds(wish->context);
        uint64_t spent = clock_now_ns() - start;
        if (reached || (timeout_ns != UINT64_MAX && spent >= timeout_ns))
            break;
        uint64_t sleep =
            timeout_ns == UINT64_MAX || timeout_ns - spent > RECHECK_NS ? RECHECK_NS : timeout_ns - spent;
        futex_wait(s->value, (uint32_t)now, sleep);
    }
    __atomic_fetch_sub(&s->block.reserved1, 1, __ATOMIC_SEQ_CST);
    return reached;
}

static bool wait(struct engine *engine, const struct engine_wish *wish, uint64_t timeout_ns)
{
    (void)engine;
    if (wish->signal)
        return wait_signal(wish, timeout_ns);
    const struct timespec pause = {.tv_nsec = POLL_NS};
    const uint64_t start = clock_now_ns();
    while (!wish->holds(wish->context)) {
        if (timeout_ns != UINT64_MAX && clock_now_ns() - start >= timeout_ns)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* ---- time ---- */

static uint64_t now_ns(const struct engine *engine)
{
    (void)engine;
    return clock_now_ns();
}

static uint64_t program_ps(struct engine *engine)
{
    return now_ns(engine) * 1000;
}

static uint64_t wave_ns(const struct engine *engine, unsigned xcd)
{
    (void)xcd;
    return now_ns(engine);
}

/* What the chip's clock would have counted. */
static uint64_t wave_cycles(const struct engine *engine, unsigned xcd)
{
    (void)xcd;
    const double clock_hz = engine->cp->chip->value[CHIP_chip_clock] * 1e6;
    return (uint64_t)((double)now_ns(engine) * 1e-9 * clock_hz);
}

static void spend(struct engine *engine, uint64_t ps)
{
    (void)engine, (void)ps; /* calls take what they take */
}

static void run_cores(struct engine *engine, struct ehp_cpu_work *work)
{
    (void)engine;
    work->ns = work->faults = 0;
}

static void still(struct engine *engine, void (*fn)(void *context), void *context)
{
    (void)engine;
    fn(context);
}

static void forked(struct engine *engine)
{
    (void)engine; /* the host's kernel knows */
}

/* ---- life ---- */

static void stop(struct engine *engine)
{
    struct host *h = host_of(engine);
    h->quit = true;
    host_wake_all(h);
    for (unsigned i = 0; i < h->workers; i++)
        pthread_join(h->worker[i].thread, NULL);
    caller_stop(&h->caller);
    for (struct workgroup *wg;
         (wg = workgroup_list_take(&h->waiting)) || (wg = workgroup_list_take(&h->preempted));)
        workgroup_free(wg);
    task_free_all(h->tasks);
}

static void close_engine(struct engine *engine)
{
    struct host *h = host_of(engine);
    for (unsigned i = 0; i < h->workers; i++)
        free(h->worker[i].round.next);
    free(h->worker);
    free(h);
}

int host_engine_open(struct cp *cp, const struct engine_options *options, struct engine **out)
{
    static const struct engine_ops ops = {
        .stop = stop,
        .close = close_engine,
        .admit = admit,
        .forget = forget,
        .start_task = start_task,
        .signalled = signalled,
        .completed = completed,
        .called = called,
        .ring = ring,
        .interrupted = interrupted,
        .wait = wait,
        .now_ns = now_ns,
        .program_ps = program_ps,
        .wave_cycles = wave_cycles,
        .wave_ns = wave_ns,
        .spend = spend,
        .run_cores = run_cores,
        .forked = forked,
        .still = still,
    };
    struct host *h = aligned_alloc(64, (sizeof(*h) + 63) & ~(size_t)63);
    if (!h)
        return EHP_ERR_NO_MEMORY;
    *h = (struct host){.engine = {.ops = &ops, .cp = cp}};
    h->waiting.end = &h->waiting.first;
    h->preempted.end = &h->preempted.first;
    h->tasks_end = &h->tasks;
    *out = cp->engine = &h->engine;
    h->worker = aligned_alloc(64, options->threads * sizeof(*h->worker));
    if (!h->worker)
        return EHP_ERR_NO_MEMORY;
    for (unsigned i = 0; i < options->threads; i++) {
        h->worker[i] = (struct host_worker){.host = h, .index = i};
        if (!ace_round_init(cp, &h->worker[i].round, i, options->threads))
            return EHP_ERR_NO_MEMORY;
        if (thread_start(&h->worker[i].thread, host_worker_main, &h->worker[i]) != 0) {
            free(h->worker[i].round.next);
            return EHP_ERR_OUT_OF_RESOURCES;
        }
        h->workers++;
    }
    return caller_start(&h->caller, &h->engine);
}
