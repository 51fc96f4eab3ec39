/* SPDX-License-Identifier: MIT */
/*
 * Threads of the host program on cores of the simulated CPU.  While any is, simulated time goes on: its core
 * executes what it says, and waits for it.  A call of the library takes it away: its core is to be where the
 * call is.  One that is away holds simulated time up until it is back, so that it is back at the same time on
 * every run; unless it waits for simulated time, or for another thread, which passes that on.
 */
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "ccd/thread.h"
#include "engine/timed/timed.h"
#include "vm/vm.h"

static struct cpu_thread *thread_of(struct ehp_cpu_thread *ring)
{
    return (struct cpu_thread *)ring;
}

static bool is_away(uint32_t state)
{
    return state == CPU_THREAD_AWAY;
}

/* In the CCD's domain. */
static void ended(struct core_program *program, uint64_t ps)
{
    struct cpu_thread *t = cpu_thread_of(program);
    struct timed *timed = t->engine;
    t->parked_ps = t->left_ps = ps;
    timed->holding++;
    t->holding = true;
    timed->on_cores--;
    cpu_thread_set(t, CPU_THREAD_AWAY);
}

/* With the lock.  What the thread has to say is there: simulated time is not to pass it, and so is told to
 * pause before it is no longer held. */
static void stop_holding(struct timed *timed, struct cpu_thread *t)
{
    timed_wake(timed);
    timed->holding -= t->holding;
    t->holding = false;
    timed->holding_since_ns = 0;
    if (timed->in_turn)
        pthread_cond_broadcast(&timed->moved);
}

static void publish(struct cpu_thread *t)
{
    __atomic_store_n(&t->ring.head, t->ring.at, __ATOMIC_RELEASE);
}

static uint64_t leave(struct cpu_thread *t)
{
    if (cpu_thread_state(t) != CPU_THREAD_AWAY) {
        publish(t);
        cpu_thread_set(t, CPU_THREAD_LEAVES);
        cpu_thread_wait_for(t, is_away);
    }
    t->ring.away = 1;
    return t->parked_ps;
}

/* Zeroed.  Not by malloc(): it is large, and would be a mapping among the program's. */
static struct cpu_thread *take_thread(struct timed *timed)
{
    struct cpu_thread *t = timed->spare_threads;
    if (!t)
        return arena_take(&timed->thread_arena, sizeof(*t));
    timed->spare_threads = t->next;
    memset(t, 0, sizeof(*t));
    return t;
}

/* How many threads it has. */
static unsigned threads_of(const struct timed *timed, unsigned core)
{
    unsigned n = 0;
    for (const struct cpu_thread *t = timed->threads; t; t = t->next)
        n += t->core == core;
    return n;
}

/* The core that an operating system calls `cpu`, and the other way round: it numbers one CCD's after
 * another's. */
static unsigned core_of_cpu(const struct timed *timed, unsigned cpu)
{
    const struct chip *c = timed->engine.cp->chip;
    const unsigned each = chip_get(c, CHIP_ccd_cores), within = cpu % timed->package_cores;
    return cpu - within + within % each * chip_get(c, CHIP_ccd_count) + within / each;
}

static unsigned cpu_of_core(const struct timed *timed, unsigned core)
{
    const struct chip *c = timed->engine.cp->chip;
    const unsigned ccds = chip_get(c, CHIP_ccd_count), within = core % timed->package_cores;
    return core - within + within % ccds * chip_get(c, CHIP_ccd_cores) + within / ccds;
}

int timed_thread_cpu(const struct engine *engine, const struct ehp_cpu_thread *ring)
{
    const struct timed *timed = (const struct timed *)engine;
    return (int)cpu_of_core(timed, ((const struct cpu_thread *)ring)->core);
}

/* With the lock: of those, or of all, the first of those that have the fewest threads; as many as there are:
 * there is none.  CPUs are looked at in their order, else cores are. */
static unsigned least_used(const struct timed *timed, const struct ehp_cpu_set *among)
{
    const unsigned cores = timed->packages * timed->package_cores;
    unsigned best = cores, least = UINT_MAX;
    for (unsigned i = 0; i < cores && (!among || i < EHP_CPUS_MAX); i++) {
        if (among && !(among->word[i / 64] >> i % 64 & 1))
            continue;
        const unsigned core = among ? core_of_cpu(timed, i) : i, threads = threads_of(timed, core);
        if (threads < least) {
            least = threads;
            best = core;
        }
    }
    return best;
}

/* With the lock.  Others come to be by what the one does, which takes it away meanwhile. */
static void say_sole(const struct timed *timed, bool sole)
{
    for (struct cpu_thread *t = timed->threads; t; t = t->next)
        __atomic_store_n(&t->ring.sole, sole, __ATOMIC_RELAXED);
}

struct ehp_cpu_thread *timed_open_thread(struct engine *engine, int wanted, const struct ehp_cpu_set *among)
{
    struct timed *timed = (struct timed *)engine;
    const unsigned cores = timed->packages * timed->package_cores;
    unsigned core = wanted >= 0 ? (unsigned)wanted : cores;
    pthread_mutex_lock(&timed->lock);
    if (among || core >= cores || threads_of(timed, core))
        core = least_used(timed, among);
    struct cpu_thread *t = core < cores ? take_thread(timed) : NULL;
    if (t) {
        unsigned local = core;
        const struct ccds *ccds = timed_ccds_of(timed, &local);
        const double *v = engine->cp->chip->value;
        cpu_thread_open(t, core, ccds_domain(ccds, local), v[CHIP_core_ipc], v[CHIP_core_vector]);
        t->engine = timed;
        t->serial = timed->threads_opened++;
        t->program.ended = ended;
        t->next = timed->threads;
        timed->threads = t;
        if (t->next)
            say_sole(timed, false);
    }
    pthread_mutex_unlock(&timed->lock);
    return t ? &t->ring : NULL;
}

void timed_close_thread(struct engine *engine, struct ehp_cpu_thread *ring)
{
    struct timed *timed = (struct timed *)engine;
    struct cpu_thread *t = thread_of(ring), **link;
    leave(t);
    pthread_mutex_lock(&timed->lock);
    for (link = &timed->threads; *link != t;)
        link = &(*link)->next;
    *link = t->next;
    stop_holding(timed, t);
    t->next = timed->spare_threads;
    timed->spare_threads = t;
    pthread_mutex_unlock(&timed->lock);
}

void timed_enter_thread(struct engine *engine, struct ehp_cpu_thread *ring, uint64_t ps)
{
    struct timed *timed = (struct timed *)engine;
    struct cpu_thread *t = thread_of(ring);
    pthread_mutex_lock(&timed->lock);
    t->start_ps = ps > t->parked_ps ? ps : t->parked_ps;
    if (!ps && timed->coreless_ps > t->start_ps)
        t->start_ps = timed->coreless_ps;
    ring->away = 0;
    __atomic_store_n(&ring->sole, 0, __ATOMIC_RELAXED); /* until it is known what else there is */
    t->called = false;                                  /* who joined another has not slept here */
    cpu_thread_set(t, CPU_THREAD_RUNS);
    t->starting = timed->starting;
    timed->starting = t;
    timed->on_cores++;
    timed->alone = false;
    stop_holding(timed, t);
    pthread_mutex_unlock(&timed->lock);
}

uint64_t timed_leave_thread(struct engine *engine, struct ehp_cpu_thread *ring)
{
    (void)engine;
    return leave(thread_of(ring));
}

static struct cpu_thread *self_of(const struct timed *timed)
{
    struct cpu_thread *t = timed->threads;
    while (t && !pthread_equal(t->thread, pthread_self()))
        t = t->next;
    return t;
}

void timed_let_go(struct engine *engine, struct ehp_cpu_thread *ring)
{
    struct timed *timed = (struct timed *)engine;
    struct cpu_thread *t = thread_of(ring);
    pthread_mutex_lock(&timed->lock);
    stop_holding(timed, t);
    pthread_mutex_unlock(&timed->lock);
}

void timed_hold_for(struct timed *timed, struct cpu_thread *t)
{
    if (!t->holding && cpu_thread_state(t) == CPU_THREAD_AWAY) {
        t->holding = true;
        timed->holding++;
    }
}

void timed_hold(struct engine *engine, struct ehp_cpu_thread *ring)
{
    struct timed *timed = (struct timed *)engine;
    struct cpu_thread *t = thread_of(ring);
    pthread_mutex_lock(&timed->lock);
    timed_hold_for(timed, t);
    t->called = true;
    pthread_cond_broadcast(&timed->moved);
    pthread_mutex_unlock(&timed->lock);
}

static bool is_called(void *thread)
{
    return ((struct cpu_thread *)thread)->called;
}

bool timed_sleep(struct engine *engine, struct ehp_cpu_thread *ring, uint64_t until_ps)
{
    struct timed *timed = (struct timed *)engine;
    struct cpu_thread *t = thread_of(ring);
    pthread_mutex_lock(&timed->lock);
    if (!t->called) {
        stop_holding(timed, t);
        if (until_ps != UINT64_MAX)
            timed_sleep_until(timed, t, is_called, until_ps);
        while (until_ps == UINT64_MAX && !t->called && !timed->quit)
            pthread_cond_wait(&timed->moved, &timed->lock);
    }
    bool called = t->called;
    const bool over = timed->quit && !called;
    t->called = false;
    pthread_mutex_unlock(&timed->lock);
    if (over)
        for (;;) /* the process ends, in which nobody wakes it any more */
            pause();
    return called;
}

struct cpu_thread *timed_holder(const struct timed *timed)
{
    struct cpu_thread *t = timed->threads ? self_of(timed) : NULL;
    return t && t->holding ? t : NULL;
}

bool timed_has_turn(const struct timed *timed, const struct cpu_thread *self)
{
    if (timed->running) /* others may leave their cores yet */
        return false;
    for (const struct cpu_thread *t = timed->threads; t; t = t->next)
        if (t != self && t->holding && !t->asks &&
            (t->left_ps < self->left_ps || (t->left_ps == self->left_ps && t->serial < self->serial)))
            return false;
    return true;
}

uint64_t timed_leave_core(struct timed *timed)
{
    pthread_mutex_lock(&timed->lock);
    struct cpu_thread *self = self_of(timed);
    pthread_mutex_unlock(&timed->lock);
    return self && !self->ring.away ? leave(self) : 0;
}

/* In the order in which they were opened: that of coming back is the host's. */
void timed_start_threads(struct timed *timed, uint64_t time, bool others)
{
    if (timed->starting)
        say_sole(timed, !others && !timed->threads->next);
    while (timed->starting) {
        struct cpu_thread **first = &timed->starting, *t;
        for (struct cpu_thread **link = &timed->starting; *link; link = &(*link)->starting)
            if ((*link)->core < (*first)->core ||
                ((*link)->core == (*first)->core && (*link)->serial < (*first)->serial))
                first = link;
        t = *first;
        *first = t->starting;
        unsigned local = t->core;
        struct ccds *ccds = timed_ccds_of(timed, &local);
        ccds_begin(ccds, local, &t->program, t->start_ps > time ? t->start_ps : time);
    }
}

void timed_stop_threads(struct timed *timed)
{
    pthread_mutex_lock(&timed->lock);
    for (struct cpu_thread *t = timed->threads; t; t = t->next) {
        if (pthread_equal(t->thread, pthread_self()))
            publish(t);
        t->stopped = true;
        if (cpu_thread_state(t) != CPU_THREAD_AWAY)
            cpu_thread_set(t, CPU_THREAD_LEAVES);
    }
    pthread_mutex_unlock(&timed->lock);
}

/* Of the process's first thread: the kernel has put its arguments there, at the stack's end, and the loader
 * has been there before the program was. */
static void touch_stack(const struct timed *timed, const struct cpu_thread *t)
{
    enum { LOADER = 8192 }; /* guess: what it used of it below */
    const uint64_t first = (uint64_t)(uintptr_t)__builtin_frame_address(0) - LOADER,
                   end = getauxval(AT_EXECFN);
    if (end > first)
        vm_touch(timed->vm, t->core / timed->package_cores, first, end - first);
}

void timed_own_thread(struct engine *engine, struct ehp_cpu_thread *ring)
{
    struct timed *timed = (struct timed *)engine;
    struct cpu_thread *t = thread_of(ring);
    pthread_mutex_lock(&timed->lock);
    t->thread = pthread_self();
    t->tid = gettid();
    const bool first = t->tid == getpid() && !timed->has_stack;
    timed->has_stack = timed->has_stack || first;
    pthread_mutex_unlock(&timed->lock);
    if (first)
        touch_stack(timed, t);
}
