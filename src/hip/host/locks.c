/* SPDX-License-Identifier: MIT */
/* What POSIX has of threads' waiting for each other, on cores of the simulated CPU; see waits.h. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "hip/host/time_host.h"
#include "hip/host/waits.h"

#define CALLER __builtin_return_address(0)

/* ---- mutexes ---- */

/* An attempt that is over at once says of some kinds of mutex what is wrong, of which a try says that they
 * are taken. */
int locks_take_mutex(void *mutex)
{
    const struct timespec past = {0};
    int status = REAL(pthread_mutex_trylock)(mutex);
    if (status == EBUSY)
        status = REAL(pthread_mutex_timedlock)(mutex, &past);
    return status == ETIMEDOUT ? EBUSY : status;
}

int locks_give_mutex(void *mutex)
{
    return REAL(pthread_mutex_unlock)(mutex);
}

ENTRY int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return ON_CORE() ? waits_take(mutex, locks_take_mutex, NEVER) : REAL(pthread_mutex_lock)(mutex);
}

ENTRY int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict t)
{
    return ON_CORE() ? waits_take(mutex, locks_take_mutex, time_host_deadline(CLOCK_REALTIME, t))
                     : REAL(pthread_mutex_timedlock)(mutex, t);
}

ENTRY int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
                                  const struct timespec *restrict t)
{
    return ON_CORE() ? waits_take(mutex, locks_take_mutex, time_host_deadline(clock, t))
                     : REAL(pthread_mutex_clocklock)(mutex, clock, t);
}

ENTRY int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (ON_CORE())
        time_host_touch_lock(mutex);
    return REAL(pthread_mutex_trylock)(mutex);
}

ENTRY int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (ON_CORE())
        return waits_give(mutex, locks_give_mutex, 1);
    int status = REAL(pthread_mutex_unlock)(mutex);
    waits_wake_others(CALLER, mutex, 1);
    return status;
}

/* ---- condition variables ---- */

int locks_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ps)
{
    struct waiter w;
    uint64_t ps = time_host_touch(mutex);
    time_host_touch(condition);
    waits_lock();
    int status = locks_give_mutex(mutex);
    if (status) {
        waits_unlock();
        return status;
    }
    waits_wake(mutex, 1, ps);
    waits_join(&w, condition);
    bool in_time = waits_sleep(&w, until_ps);
    status = waits_take(mutex, locks_take_mutex, NEVER);
    return status || in_time ? status : ETIMEDOUT;
}

ENTRY int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return ON_CORE() ? locks_wait(condition, mutex, NEVER) : REAL(pthread_cond_wait)(condition, mutex);
}

/* By the clock that the condition variable was made with: the one that the time is near. */
ENTRY int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                 const struct timespec *restrict t)
{
    return ON_CORE() ? locks_wait(condition, mutex, time_host_deadline(time_host_clock_of(t), t))
                     : REAL(pthread_cond_timedwait)(condition, mutex, t);
}

ENTRY int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                                 clockid_t clock, const struct timespec *restrict t)
{
    return ON_CORE() ? locks_wait(condition, mutex, time_host_deadline(clock, t))
                     : REAL(pthread_cond_clockwait)(condition, mutex, clock, t);
}

static int nothing(void *key)
{
    (void)key;
    return 0;
}

void locks_wake(const void *caller, pthread_cond_t *condition, unsigned most)
{
    if (time_host_on_core(caller))
        waits_give(condition, nothing, most);
    else
        waits_wake_others(caller, condition, most);
}

ENTRY int pthread_cond_signal(pthread_cond_t *condition)
{
    locks_wake(CALLER, condition, 1);
    return REAL(pthread_cond_signal)(condition);
}

ENTRY int pthread_cond_broadcast(pthread_cond_t *condition)
{
    locks_wake(CALLER, condition, UINT32_MAX);
    return REAL(pthread_cond_broadcast)(condition);
}

/* ---- locks of readers and writers ---- */

static int take_to_read(void *lock)
{
    return REAL(pthread_rwlock_tryrdlock)(lock);
}

static int take_to_write(void *lock)
{
    return REAL(pthread_rwlock_trywrlock)(lock);
}

static int give_rwlock(void *lock)
{
    return REAL(pthread_rwlock_unlock)(lock);
}

ENTRY int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    return ON_CORE() ? waits_take(lock, take_to_read, NEVER) : REAL(pthread_rwlock_rdlock)(lock);
}

ENTRY int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    return ON_CORE() ? waits_take(lock, take_to_write, NEVER) : REAL(pthread_rwlock_wrlock)(lock);
}

ENTRY int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict t)
{
    return ON_CORE() ? waits_take(lock, take_to_read, time_host_deadline(CLOCK_REALTIME, t))
                     : REAL(pthread_rwlock_timedrdlock)(lock, t);
}

ENTRY int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict t)
{
    return ON_CORE() ? waits_take(lock, take_to_write, time_host_deadline(CLOCK_REALTIME, t))
                     : REAL(pthread_rwlock_timedwrlock)(lock, t);
}

ENTRY int pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                     const struct timespec *restrict t)
{
    return ON_CORE() ? waits_take(lock, take_to_read, time_host_deadline(clock, t))
                     : REAL(pthread_rwlock_clockrdlock)(lock, clock, t);
}

ENTRY int pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict lock, clockid_t clock,
                                     const struct timespec *restrict t)
{
    return ON_CORE() ? waits_take(lock, take_to_write, time_host_deadline(clock, t))
                     : REAL(pthread_rwlock_clockwrlock)(lock, clock, t);
}

ENTRY int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    if (ON_CORE())
        time_host_touch_lock(lock);
    return take_to_read(lock);
}

ENTRY int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    if (ON_CORE())
        time_host_touch_lock(lock);
    return take_to_write(lock);
}

ENTRY int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    if (ON_CORE())
        return waits_give(lock, give_rwlock, UINT32_MAX);
    int status = give_rwlock(lock);
    waits_wake_others(CALLER, lock, UINT32_MAX);
    return status;
}

/* ---- spin locks: who waits stays on its core ---- */

ENTRY int pthread_spin_lock(pthread_spinlock_t *lock)
{
    if (!ON_CORE())
        return REAL(pthread_spin_lock)(lock);
    int status;
    do {
        time_host_touch_lock((const void *)lock);
        status = REAL(pthread_spin_trylock)(lock);
    } while (status == EBUSY);
    return status;
}

ENTRY int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    if (ON_CORE())
        time_host_touch_lock((const void *)lock);
    return REAL(pthread_spin_trylock)(lock);
}

ENTRY int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    if (ON_CORE())
        time_host_touch_lock((const void *)lock);
    return REAL(pthread_spin_unlock)(lock);
}

/* ---- what is done once ---- */

/* Those that are being done: who comes meanwhile waits here, and not in the C library. */
struct once {
    struct once *next;
    const void *key;
};
static struct once *_Atomic being_done;

static struct once *find_once(const void *key)
{
    struct once *o = being_done;
    while (o && o->key != key)
        o = o->next;
    return o;
}

static void once_is_over(struct once *o) /* or left by an exception */
{
    waits_lock();
    struct once *first = being_done;
    if (first == o) {
        being_done = o->next;
    } else {
        while (first->next != o)
            first = first->next;
        first->next = o->next;
    }
    struct ehp_cpu_thread *self = time_host_self();
    waits_wake(o->key, UINT32_MAX, self ? self->now_ps : 0);
    waits_unlock();
}

int locks_once(const void *caller, pthread_once_t *control, void (*routine)(void))
{
    if (!time_host_on_core(caller))
        return REAL(pthread_once)(control, routine);
    __attribute__((cleanup(once_is_over))) struct once mine = {.key = control};
    time_host_touch(control);
    waits_lock();
    while (find_once(control)) {
        struct waiter w;
        waits_join(&w, control);
        waits_sleep(&w, NEVER);
        waits_lock();
    }
    mine.next = being_done;
    being_done = &mine;
    waits_unlock();
    return REAL(pthread_once)(control, routine);
}

ENTRY int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    return locks_once(CALLER, control, routine);
}

/* ---- barriers ---- */

struct barrier {
    struct barrier *next;
    const void *key;
    unsigned count, arrived;
};
static struct barrier *barriers;

static struct barrier **find_barrier(const void *key)
{
    struct barrier **b = &barriers;
    while (*b && (*b)->key != key)
        b = &(*b)->next;
    return b;
}

ENTRY int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                               unsigned count)
{
    int status = REAL(pthread_barrier_init)(barrier, attributes, count), shared = PTHREAD_PROCESS_PRIVATE;
    if (attributes)
        pthread_barrierattr_getpshared(attributes, &shared);
    if (status || shared == PTHREAD_PROCESS_SHARED || !time_host_machine())
        return status;
    waits_lock();
    struct barrier **b = find_barrier(barrier);
    if (!*b)
        *b = calloc(1, sizeof(**b));
    if (*b) {
        (*b)->key = barrier;
        (*b)->count = count;
        (*b)->arrived = 0;
    }
    status = *b ? 0 : ENOMEM;
    waits_unlock();
    return status;
}

ENTRY int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    waits_lock();
    struct barrier **link = find_barrier(barrier), *b = *link;
    if (b)
        *link = b->next;
    waits_unlock();
    free(b);
    return REAL(pthread_barrier_destroy)(barrier);
}

/* All that come count, those on no core too. */
ENTRY int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    const bool on_core = ON_CORE();
    struct waiter w;
    if (!time_host_begun())
        return REAL(pthread_barrier_wait)(barrier);
    uint64_t ps = on_core ? time_host_touch(barrier) : 0;
    waits_lock();
    struct barrier *b = *find_barrier(barrier);
    if (!b) {
        waits_unlock();
        return REAL(pthread_barrier_wait)(barrier);
    }
    if (++b->arrived == b->count) {
        b->arrived = 0;
        waits_wake(barrier, UINT32_MAX, ps);
        waits_unlock();
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    waits_join(&w, barrier);
    if (!on_core)
        w.thread = NULL;
    waits_sleep(&w, NEVER);
    return 0;
}

/* ---- semaphores ---- */

static int take_semaphore(void *semaphore)
{
    int status = REAL(sem_trywait)(semaphore) == 0 ? 0 : errno;
    return status == EAGAIN ? EBUSY : status;
}

static int give_semaphore(void *semaphore)
{
    return REAL(sem_post)(semaphore);
}

static int wait_for_semaphore(sem_t *semaphore, uint64_t until_ps)
{
    int status = waits_take(semaphore, take_semaphore, until_ps);
    if (!status)
        return 0;
    errno = status;
    return -1;
}

ENTRY int sem_wait(sem_t *semaphore)
{
    return ON_CORE() ? wait_for_semaphore(semaphore, NEVER) : REAL(sem_wait)(semaphore);
}

ENTRY int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict t)
{
    return ON_CORE() ? wait_for_semaphore(semaphore, time_host_deadline(CLOCK_REALTIME, t))
                     : REAL(sem_timedwait)(semaphore, t);
}

ENTRY int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict t)
{
    return ON_CORE() ? wait_for_semaphore(semaphore, time_host_deadline(clock, t))
                     : REAL(sem_clockwait)(semaphore, clock, t);
}

ENTRY int sem_trywait(sem_t *semaphore)
{
    if (ON_CORE())
        time_host_touch_lock(semaphore);
    return REAL(sem_trywait)(semaphore);
}

ENTRY int sem_post(sem_t *semaphore)
{
    if (ON_CORE())
        return waits_give(semaphore, give_semaphore, 1);
    int status = REAL(sem_post)(semaphore);
    waits_wake_others(CALLER, semaphore, 1);
    return status;
}
