/* SPDX-License-Identifier: MIT */
/*
 * C11's threads, mutexes and condition variables on cores of the simulated CPU: the C library's are those of
 * POSIX with other results, and so are these.
 *
 * Source: ISO/IEC 9899:2018, 7.26.
 */
#include <errno.h>
#include <stdlib.h>
#include <threads.h>

#include "hip/host/time_host.h"
#include "hip/host/waits.h"

#define CALLER __builtin_return_address(0)

/* glibc has one meaning for both, of which C's types are as large at least as is needed. */
static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t) &&
                  sizeof(thrd_t) == sizeof(pthread_t) && sizeof(once_flag) == sizeof(pthread_once_t),
              "the C library's");

static int result_of(int status)
{
    return status == 0           ? thrd_success
           : status == ENOMEM    ? thrd_nomem
           : status == ETIMEDOUT ? thrd_timedout
           : status == EBUSY     ? thrd_busy
                                 : thrd_error;
}

/* ---- threads ---- */

struct c11_start {
    thrd_start_t run;
    void *argument;
};

static void *run_thread(void *argument)
{
    const struct c11_start start = *(struct c11_start *)argument;
    free(argument);
    return (void *)(intptr_t)start.run(
        start.argument); // NOLINT(performance-no-int-to-ptr): as glibc keeps it
}

ENTRY int thrd_create(thrd_t *id, thrd_start_t run, void *argument)
{
    if (!ON_CORE())
        return REAL(thrd_create)(id, run, argument);
    struct c11_start *start = malloc(sizeof(*start));
    if (!start)
        return thrd_nomem;
    *start = (struct c11_start){run, argument};
    int status = threads_create(CALLER, id, NULL, run_thread, start);
    if (status)
        free(start);
    return status == EAGAIN ? thrd_nomem : result_of(status);
}

ENTRY int thrd_join(thrd_t id, int *result)
{
    void *value = NULL;
    int status = threads_join(CALLER, id, &value);
    if (result)
        *result = (int)(intptr_t)value;
    return result_of(status);
}

ENTRY int thrd_detach(thrd_t id)
{
    return result_of(threads_detach(id));
}

/* ---- mutexes ---- */

ENTRY int mtx_lock(mtx_t *mutex)
{
    return ON_CORE() ? result_of(waits_take(mutex, locks_take_mutex, NEVER)) : REAL(mtx_lock)(mutex);
}

ENTRY int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict t)
{
    return ON_CORE() ? result_of(waits_take(mutex, locks_take_mutex, time_host_deadline(CLOCK_REALTIME, t)))
                     : REAL(mtx_timedlock)(mutex, t);
}

ENTRY int mtx_trylock(mtx_t *mutex)
{
    if (ON_CORE())
        time_host_touch_lock(mutex);
    return REAL(mtx_trylock)(mutex);
}

ENTRY int mtx_unlock(mtx_t *mutex)
{
    if (ON_CORE())
        return result_of(waits_give(mutex, locks_give_mutex, 1));
    int status = REAL(mtx_unlock)(mutex);
    waits_wake_others(CALLER, mutex, 1);
    return status;
}

/* ---- condition variables ---- */

ENTRY int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return ON_CORE() ? result_of(locks_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, NEVER))
                     : REAL(cnd_wait)(condition, mutex);
}

ENTRY int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict t)
{
    return ON_CORE() ? result_of(locks_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex,
                                            time_host_deadline(CLOCK_REALTIME, t)))
                     : REAL(cnd_timedwait)(condition, mutex, t);
}

ENTRY int cnd_signal(cnd_t *condition)
{
    locks_wake(CALLER, (pthread_cond_t *)condition, 1);
    return REAL(cnd_signal)(condition);
}

ENTRY int cnd_broadcast(cnd_t *condition)
{
    locks_wake(CALLER, (pthread_cond_t *)condition, UINT32_MAX);
    return REAL(cnd_broadcast)(condition);
}

ENTRY void call_once(once_flag *flag, void (*routine)(void))
{
    locks_once(CALLER, (pthread_once_t *)flag, routine);
}
