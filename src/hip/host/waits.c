/* SPDX-License-Identifier: MIT */
/*
 * Threads wait for each other; see time_host.h.  Who finds a mutex or semaphore taken, waits for a condition,
 * or comes to a barrier too early, is away until another wakes it, the first that came first.  Each call is
 * an atomic operation on what it is about, so that its line goes from core to core.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "hip/host/time_host.h"

#define WAKE_PS UINT64_C(1500000) /* guess: through the kernel, as host.wake of the chip files */

struct waiter {
    struct waiter *next;
    const void *key;
    struct ehp_cpu_thread *thread;
    uint64_t ps; /* when it is woken */
    bool woken;
};

struct barrier {
    struct barrier *next;
    const void *key;
    unsigned count, arrived;
};

/* All of the process's. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    struct waiter *first, **end;
    struct barrier *barriers;
} waits = {.lock = PTHREAD_MUTEX_INITIALIZER, .woken = PTHREAD_COND_INITIALIZER};

static void lock_waits(void)
{
    REAL(pthread_mutex_lock)(&waits.lock);
    if (!waits.end)
        waits.end = &waits.first;
}

static void unlock_waits(void)
{
    REAL(pthread_mutex_unlock)(&waits.lock);
}

/* With the lock: the waiter is the last of those. */
static void join_queue(struct waiter *w, const void *key)
{
    *w = (struct waiter){.key = key, .thread = time_host_self()};
    *waits.end = w;
    waits.end = &w->next;
}

/* With the lock, which is given up: until it is woken.  The thread is on its core again. */
static void sleep_until_woken(struct waiter *w)
{
    unlock_waits();
    uint64_t ps = time_host_leave();
    lock_waits();
    if (!w->woken)
        ehp_cpu_thread_let_go(time_host_machine(), w->thread);
    while (!w->woken)
        REAL(pthread_cond_wait)(&waits.woken, &waits.lock);
    unlock_waits();
    time_host_enter(w->ps > ps ? w->ps : ps);
}

/* With the lock: up to so many of those that wait for it, at `ps`. */
static void wake(const void *key, unsigned most, uint64_t ps)
{
    for (struct waiter **link = &waits.first, *w; most && (w = *link);) {
        if (w->key != key) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        if (!*link)
            waits.end = link;
        w->ps = ps + WAKE_PS;
        w->woken = true;
        ehp_cpu_thread_hold(time_host_machine(), w->thread);
        REAL(pthread_cond_broadcast)(&waits.woken);
        most--;
    }
}

static void wake_after_touch(const void *key, unsigned most)
{
    uint64_t ps = time_host_touch(key);
    lock_waits();
    wake(key, most, ps);
    unlock_waits();
}

/* ---- mutexes ---- */

static void lock_mutex(pthread_mutex_t *mutex, int *status)
{
    for (;;) {
        struct waiter w;
        time_host_touch(mutex);
        lock_waits();
        *status = REAL(pthread_mutex_trylock)(mutex);
        if (*status != EBUSY) {
            unlock_waits();
            return;
        }
        join_queue(&w, mutex);
        sleep_until_woken(&w);
    }
}

static int unlock_mutex(pthread_mutex_t *mutex)
{
    uint64_t ps = time_host_touch(mutex);
    lock_waits();
    int status = REAL(pthread_mutex_unlock)(mutex);
    wake(mutex, 1, ps);
    unlock_waits();
    return status;
}

ENTRY int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    int status;
    if (!ON_CORE())
        return REAL(pthread_mutex_lock)(mutex);
    lock_mutex(mutex, &status);
    return status;
}

ENTRY int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (ON_CORE())
        time_host_touch(mutex);
    return REAL(pthread_mutex_trylock)(mutex);
}

ENTRY int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    return ON_CORE() ? unlock_mutex(mutex) : REAL(pthread_mutex_unlock)(mutex);
}

/* ---- condition variables ---- */

ENTRY int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    struct waiter w;
    int status;
    if (!ON_CORE())
        return REAL(pthread_cond_wait)(condition, mutex);
    time_host_touch(condition);
    lock_waits();
    join_queue(&w, condition);
    unlock_waits();
    status = unlock_mutex(mutex);
    if (status)
        return status;
    lock_waits();
    sleep_until_woken(&w);
    lock_mutex(mutex, &status);
    return status;
}

ENTRY int pthread_cond_signal(pthread_cond_t *condition)
{
    if (ON_CORE())
        wake_after_touch(condition, 1);
    return REAL(pthread_cond_signal)(condition);
}

ENTRY int pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (ON_CORE())
        wake_after_touch(condition, UINT32_MAX);
    return REAL(pthread_cond_broadcast)(condition);
}

/* ---- barriers ---- */

static struct barrier *find_barrier(const void *key)
{
    struct barrier *b = waits.barriers;
    while (b && b->key != key)
        b = b->next;
    return b;
}

ENTRY int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                               unsigned count)
{
    int status = REAL(pthread_barrier_init)(barrier, attributes, count);
    if (status)
        return status;
    lock_waits();
    struct barrier *b = find_barrier(barrier);
    if (!b && (b = calloc(1, sizeof(*b)))) {
        b->key = barrier;
        b->next = waits.barriers;
        waits.barriers = b;
    }
    if (b) {
        b->count = count;
        b->arrived = 0;
    }
    unlock_waits();
    return b ? 0 : ENOMEM;
}

ENTRY int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct waiter w;
    if (!ON_CORE())
        return REAL(pthread_barrier_wait)(barrier);
    uint64_t ps = time_host_touch(barrier);
    lock_waits();
    struct barrier *b = find_barrier(barrier);
    if (!b) {
        unlock_waits();
        return EINVAL;
    }
    if (++b->arrived == b->count) {
        b->arrived = 0;
        wake(barrier, UINT32_MAX, ps);
        unlock_waits();
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    join_queue(&w, barrier);
    sleep_until_woken(&w);
    return 0;
}

/* ---- semaphores ---- */

ENTRY int sem_wait(sem_t *semaphore)
{
    if (!ON_CORE())
        return REAL(sem_wait)(semaphore);
    for (;;) {
        struct waiter w;
        time_host_touch(semaphore);
        lock_waits();
        if (REAL(sem_trywait)(semaphore) == 0) {
            unlock_waits();
            return 0;
        }
        join_queue(&w, semaphore);
        sleep_until_woken(&w);
    }
}

ENTRY int sem_post(sem_t *semaphore)
{
    if (!ON_CORE())
        return REAL(sem_post)(semaphore);
    uint64_t ps = time_host_touch(semaphore);
    lock_waits();
    int status = REAL(sem_post)(semaphore);
    wake(semaphore, 1, ps);
    unlock_waits();
    return status;
}
