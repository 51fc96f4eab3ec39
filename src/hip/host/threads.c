/* SPDX-License-Identifier: MIT */
/* Threads begin and end; see time_host.h. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <signal.h>
#include <unistd.h>

#include "hip/host/affinity.h"
#include "hip/host/apart.h"
#include "hip/host/numa.h"
#include "hip/host/time_host.h"

struct start {
    struct start *next;
    void *(*run)(void *);
    void *argument;
    struct ehp_cpu_thread *thread; /* NULL: without a core */
    uint64_t ps;                   /* when it begins, and when it has ended */
    pthread_t id;
    sem_t *begun; /* and has a heap: which one does not depend on the host then */
    bool ended, detached;
    struct ehp_cpu_thread *joiner; /* who waits for it */
    struct ehp_cpu_set set;        /* where it may be, */
    bool bound;                    /* if not anywhere */
    struct ehp_numa_policy policy; /* of its pages */
};

/* Those that have begun and have not been joined, by whom they wait for. */
static struct {
    pthread_mutex_t lock;
    struct start *first;
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* It has ended, and nobody will ask for it.  Its core is free from here on, and not from when the host has
 * ended it, so that others find the same cores free on every run. */
static void forget(struct start *s, struct ehp_cpu_thread *thread)
{
    if (thread)
        ehp_cpu_thread_close(time_host_machine(), thread);
    free(s);
}

/* The thread that has ended last, in simulated time. */
static _Atomic pid_t last_ended;

/*
 * Until the kernel has no such thread any more, and so its heap is there for others: heaps that are free are
 * taken in the order in which they became so.  Not for ever: what a thread does when it exits may have to
 * wait for somebody.
 */
static void wait_for_exit(pid_t thread)
{
    enum { LOOKS = 2000 };
    const struct timespec between = {.tv_nsec = 20000};
    for (unsigned i = 0; thread && i < LOOKS && tgkill(getpid(), thread, 0) == 0; i++)
        REAL(nanosleep)(&between, NULL);
}

static void end(void *argument)
{
    struct start *s = argument;
    if (s->thread && !time_host_self()->away)
        time_host_turn();
    const pid_t before = atomic_exchange(&last_ended, gettid());
    if (s->thread) /* it may have moved */
        s->thread = time_host_self();
    uint64_t ps = s->thread ? ehp_cpu_thread_leave(time_host_machine(), s->thread) : 0;
    time_host_become(NULL);
    pthread_mutex_lock(&threads.lock);
    s->ps = ps;
    s->ended = true;
    if (s->joiner)
        ehp_cpu_thread_hold(time_host_machine(), s->joiner);
    struct ehp_cpu_thread *thread = s->thread;
    const bool detached = s->detached;
    if (thread && !detached)
        ehp_cpu_thread_let_go(time_host_machine(), thread);
    pthread_mutex_unlock(&threads.lock);
    if (detached)
        forget(s, thread);
    wait_for_exit(before);
}

/* A thread's heap is made when it first allocates, beside the stacks of those that come after it: it has one
 * before there are any. */
static void make_heap(sem_t *made)
{
    void *volatile first = REAL(malloc)(1);
    REAL(free)(first);
    REAL(sem_post)(made);
}

static void wait_for_heap(sem_t *made)
{
    while (REAL(sem_wait)(made) != 0) /* signals */
        ;
}

static void *begin_thread(void *argument)
{
    struct start *s = argument;
    void *result;
    numa_begin(&s->policy);
    time_host_become(s->thread);
    affinity_begin(s->bound ? &s->set : NULL);
    make_heap(s->begun);
    pthread_cleanup_push(end, s);
    result = s->run(s->argument);
    pthread_cleanup_pop(1);
    return result;
}

static bool detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    return attributes && pthread_attr_getdetachstate(attributes, &state) == 0 &&
           state == PTHREAD_CREATE_DETACHED;
}

/* A worker of OpenMP's, which its runtime makes while who met the region is away. */
struct worker {
    void *(*run)(void *);
    void *argument;
    sem_t begun;
};

static void *begin_worker(void *argument)
{
    struct worker *worker = argument;
    const struct worker own = {.run = worker->run, .argument = worker->argument};
    make_heap(&worker->begun); /* the last use of it */
    return own.run(own.argument);
}

static int create_worker(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *),
                         void *argument)
{
    struct worker worker = {.run = run, .argument = argument};
    sem_init(&worker.begun, 0, 0);
    int status = REAL(pthread_create)(id, attributes, begin_worker, &worker);
    if (status == 0)
        wait_for_heap(&worker.begun);
    sem_destroy(&worker.begun);
    return status;
}

int threads_create(const void *caller, pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    if (apart_is_for(caller))
        return apart_create(id, attributes, run, argument);
    if (!time_host_on_core(caller) && time_host_begun() && time_host_self() &&
        !time_host_is_simulator(caller))
        return create_worker(id, attributes, run, argument);
    if (!time_host_on_core(caller))
        return REAL(pthread_create)(id, attributes, run, argument);
    struct start *s = calloc(1, sizeof(*s));
    if (!s)
        return EAGAIN;
    sem_t begun;
    sem_init(&begun, 0, 0);
    s->begun = &begun;
    s->run = run;
    s->argument = argument;
    const uint64_t ps = s->ps = time_host_map();
    wait_for_exit(last_ended);
    const struct ehp_cpu_set *set = affinity_of(attributes) ? affinity_of(attributes) : affinity_own();
    s->policy = numa_policy();
    s->bound = set != NULL;
    if (set)
        s->set = *set;
    s->thread = affinity_open(set, -1);
    if (s->thread) /* its core waits for its first record */
        ehp_cpu_thread_enter(time_host_machine(), s->thread, s->ps);
    pthread_mutex_lock(&threads.lock);
    int status = REAL(pthread_create)(id, attributes, begin_thread, s);
    if (status == 0 && detached(attributes)) {
        s->detached = true;
    } else if (status == 0) {
        s->id = *id;
        s->next = threads.first;
        threads.first = s;
    }
    pthread_mutex_unlock(&threads.lock);
    if (status == 0)
        wait_for_heap(&begun);
    time_host_mapped(ps);
    if (status) {
        if (s->thread)
            ehp_cpu_thread_close(time_host_machine(), s->thread);
        free(s);
    }
    return status;
}

/* The kernel's part of it is not simulated. */
ENTRY int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *),
                         void *argument)
{
    return threads_create(__builtin_return_address(0), id, attributes, run, argument);
}

static struct start *take_start(pthread_t id)
{
    struct start **link = &threads.first, *s;
    while (*link && !pthread_equal((*link)->id, id))
        link = &(*link)->next;
    s = *link;
    if (s)
        *link = s->next;
    return s;
}

/* Nobody will ask for it. */
int threads_detach(pthread_t id)
{
    apart_left(id);
    if (!time_host_begun())
        return REAL(pthread_detach)(id);
    pthread_mutex_lock(&threads.lock);
    struct start *s = take_start(id);
    const bool ended = s && s->ended;
    if (s)
        s->detached = true;
    pthread_mutex_unlock(&threads.lock);
    if (ended)
        forget(s, s->thread);
    return REAL(pthread_detach)(id);
}

ENTRY int pthread_detach(pthread_t id)
{
    return threads_detach(id);
}

int threads_join(const void *caller, pthread_t id, void **result)
{
    if (!time_host_on_core(caller)) {
        const int status = REAL(pthread_join)(id, result);
        apart_left(id);
        return status;
    }
    uint64_t ps = time_host_leave();
    pthread_mutex_lock(&threads.lock);
    struct start *s = take_start(id);
    if (s && s->thread && !s->ended) {
        s->joiner = time_host_self();
        ehp_cpu_thread_let_go(time_host_machine(), s->joiner);
    }
    pthread_mutex_unlock(&threads.lock);
    int status = REAL(pthread_join)(id, result);
    if (s && s->ps > ps)
        ps = s->ps;
    if (s)
        forget(s, s->thread);
    time_host_enter(ps);
    return status;
}

ENTRY int pthread_join(pthread_t id, void **result)
{
    return threads_join(__builtin_return_address(0), id, result);
}
