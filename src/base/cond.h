/* SPDX-License-Identifier: MIT */
/*
 * Conditions whose deadlines are the monotonic clock's: a default one's are those of the time of day, which
 * may be set between the look at it and the end of the wait.
 */
#ifndef EHP_BASE_COND_H
#define EHP_BASE_COND_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static inline void cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* As pthread_cond_timedwait(), for one of cond_init(): until clock_now_ns() is `until_ns`. */
static inline int cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                                   .tv_nsec = (long)(until_ns % 1000000000)};
    return pthread_cond_timedwait(cond, lock, &until);
}

#endif
