/* SPDX-License-Identifier: MIT */
/*
 * The queue of threads that wait for something that lies at an address: a mutex, a condition variable, a
 * word. Who finds it taken, or comes too early, is away from its core until another wakes it, the first that
 * came first.  Each call is an atomic operation on what it is about, so that its line goes from core to core.
 *
 * All times are picoseconds of simulated time; NEVER: without an end.
 */
#ifndef HIP_WAITS_H
#define HIP_WAITS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define NEVER UINT64_MAX

struct waiter {
    struct waiter *next;
    const void *key;
    struct ehp_cpu_thread *thread; /* NULL: it is on no core */
    uint64_t ps;                   /* when it is woken */
    bool woken;
};

/* One lock for all of it, which is never held while simulated time goes on. */
void waits_lock(void);
void waits_unlock(void);

/* With the lock: the calling thread is the last of those that wait for `key`. */
void waits_join(struct waiter *waiter, const void *key);
/* With the lock, which is given up: until it is woken, true, or until then.  It is in the queue no more, and
 * on its core again if it has one; who has none waits for ever. */
bool waits_sleep(struct waiter *waiter, uint64_t until_ps);
/* With the lock: up to so many of those that wait for `key`, at `ps`; how many there were. */
unsigned waits_wake(const void *key, unsigned most, uint64_t ps);
/* By a thread that is on no core: those that are. */
void waits_wake_others(const void *caller, const void *key, unsigned most);

/* From a core: until `take`, of which EBUSY says that it is taken, says something else, or ETIMEDOUT. */
int waits_take(void *key, int (*take)(void *key), uint64_t until_ps);
/* From a core: `give` makes it free, for up to so many that wait; what that returns. */
int waits_give(void *key, int (*give)(void *key), unsigned most);

/* locks.c: of a mutex, for waits_take() and waits_give(); the rest as POSIX's calls do it, by a call from
 * `caller`. */
int locks_take_mutex(void *mutex);
int locks_give_mutex(void *mutex);
int locks_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_ps);
void locks_wake(const void *caller, pthread_cond_t *condition, unsigned most);
int locks_once(const void *caller, pthread_once_t *control, void (*routine)(void));

#endif
