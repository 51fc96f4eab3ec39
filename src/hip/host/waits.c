/* SPDX-License-Identifier: MIT */
/* See waits.h; and futexes, by which C++'s libraries wait. */
#include "hip/host/waits.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hip/host/numa.h"
#include "hip/host/time_host.h"

#define WAKE_PS UINT64_C(1500000) /* guess: through the kernel, as host.wake of the chip files */

/* All of the process's. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t woken; /* for those on no core */
    struct waiter *_Atomic first;
} waits = {.lock = PTHREAD_MUTEX_INITIALIZER, .woken = PTHREAD_COND_INITIALIZER};

/* In a process that has been forked off nobody is on a core, and others may have had the lock. */
static void forked(void)
{
    pthread_mutex_init(&waits.lock, NULL);
    pthread_cond_init(&waits.woken, NULL);
    waits.first = NULL;
}

__attribute__((constructor)) static void expect_forks(void)
{
    pthread_atfork(NULL, NULL, forked);
}

void waits_lock(void)
{
    REAL(pthread_mutex_lock)(&waits.lock);
}

void waits_unlock(void)
{
    REAL(pthread_mutex_unlock)(&waits.lock);
}

void waits_join(struct waiter *w, const void *key)
{
    struct ehp_cpu_thread *self = time_host_self();
    *w = (struct waiter){.key = key, .thread = self && !self->idle ? self : NULL};
    if (!waits.first) {
        waits.first = w;
        return;
    }
    struct waiter *last = waits.first;
    while (last->next)
        last = last->next;
    last->next = w;
}

static void take_out(const struct waiter *w, struct waiter *before)
{
    if (before)
        before->next = w->next;
    else
        waits.first = w->next;
}

static void give_up(const struct waiter *w)
{
    struct waiter *before = NULL;
    for (struct waiter *at = waits.first; at != w; at = at->next)
        before = at;
    take_out(w, before);
}

bool waits_sleep(struct waiter *w, uint64_t until_ps)
{
    while (!w->thread && !w->woken)
        REAL(pthread_cond_wait)(&waits.woken, &waits.lock);
    waits_unlock();
    if (!w->thread)
        return true;
    uint64_t ps = time_host_leave();
    bool in_time = true;
    waits_lock();
    while (!w->woken && in_time) {
        waits_unlock();
        in_time = time_host_sleep(until_ps);
        waits_lock();
    }
    if (!w->woken)
        give_up(w);
    uint64_t back_ps = w->woken ? w->ps : until_ps;
    waits_unlock();
    time_host_enter(back_ps > ps ? back_ps : ps);
    return w->woken;
}

unsigned waits_wake(const void *key, unsigned most, uint64_t ps)
{
    unsigned count = 0;
    struct waiter *before = NULL;
    for (struct waiter *w = waits.first, *next; w && count < most; w = next) {
        next = w->next;
        if (w->key != key) {
            before = w;
            continue;
        }
        take_out(w, before);
        w->ps = ps + WAKE_PS;
        w->woken = true;
        count++;
        if (w->thread)
            ehp_cpu_thread_hold(time_host_machine(), w->thread);
        else
            REAL(pthread_cond_broadcast)(&waits.woken);
    }
    return count;
}

void waits_wake_others(const void *caller, const void *key, unsigned most)
{
    if (!time_host_begun() || !waits.first || time_host_is_simulator(caller))
        return;
    waits_lock();
    waits_wake(key, most, 0);
    waits_unlock();
}

int waits_take(void *key, int (*take)(void *key), uint64_t until_ps)
{
    for (;;) {
        struct waiter w;
        time_host_touch_lock(key);
        waits_lock();
        int status = take(key);
        if (status != EBUSY) {
            waits_unlock();
            return status;
        }
        waits_join(&w, key);
        if (!waits_sleep(&w, until_ps))
            return ETIMEDOUT;
    }
}

int waits_give(void *key, int (*give)(void *key), unsigned most)
{
    uint64_t ps = time_host_touch_lock(key);
    waits_lock();
    int status = give(key);
    waits_wake(key, most, ps);
    waits_unlock();
    return status;
}

/* ---- futexes ---- */

static uint64_t futex_end(unsigned command, long operation, const struct timespec *t)
{
    if (!t)
        return NEVER;
    return command == FUTEX_WAIT
               ? time_host_self()->now_ps + time_host_span(t)
               : time_host_deadline(operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, t);
}

static long fail(int error)
{
    errno = error;
    return -1;
}

static long futex_wait(uint32_t *word, uint32_t value, unsigned command, long operation,
                       const struct timespec *t)
{
    struct waiter w;
    time_host_touch(word);
    waits_lock();
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
        waits_unlock();
        return fail(EAGAIN);
    }
    waits_join(&w, word);
    return waits_sleep(&w, futex_end(command, operation, t)) ? 0 : fail(ETIMEDOUT);
}

/* What calls it directly, and not by a function of the C library's. */
ENTRY long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    long answer;
    if (number != SYS_futex && numa_syscall(number, a, __builtin_return_address(0), &answer))
        return answer;
    const unsigned command = number == SYS_futex ? (unsigned)(a[1] & FUTEX_CMD_MASK) : UINT32_MAX;
    const bool waits_for = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET,
               wakes = command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
    uint32_t *word = (uint32_t *)a[0]; // NOLINT(performance-no-int-to-ptr): as the kernel takes it
    if (waits_for && ON_CORE())
        return futex_wait(word, (uint32_t)a[2], command, a[1],
                          (const struct timespec *)a[3]); // NOLINT(performance-no-int-to-ptr)
    uint64_t ps = wakes && ON_CORE() ? time_host_touch(word) : 0;
    long result = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (!wakes || result < 0 || !time_host_begun() || !waits.first ||
        time_host_is_simulator(__builtin_return_address(0)))
        return result;
    waits_lock();
    result += waits_wake(word, (unsigned)a[2] - (unsigned)result, ps);
    waits_unlock();
    return result;
}
