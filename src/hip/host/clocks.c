/* SPDX-License-Identifier: MIT */
/*
 * Clocks, sleep, and waiting for other processes; see time_host.h.  To a thread on a core they are simulated
 * time, from when it first asks: what a program prints of how long it took is what it would have taken.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "ehp/ehp.h"
#include "hip/host/time_host.h"

#define CALL_PS  UINT64_C(25000)  /* guess: a clock read by the vDSO */
#define YIELD_PS UINT64_C(500000) /* guess: through the kernel */
#define SECOND   UINT64_C(1000000000)

/* Simulated time, in nanoseconds, after a call that takes so long. */
static uint64_t pass(uint64_t ps)
{
    uint64_t now = time_host_leave() + ps;
    time_host_enter(now);
    return now / 1000;
}

/* When simulated time was 0, by the host's clock, in whole seconds: what a program computes of times is the
 * same on every run. */
static uint64_t origin(clockid_t clock)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t known[CLOCK_TAI + 1];
    const unsigned index = (unsigned)clock <= CLOCK_TAI ? (unsigned)clock : CLOCK_MONOTONIC;
    struct timespec t;
    REAL(pthread_mutex_lock)(&lock);
    if (!known[index] && REAL(clock_gettime)(clock, &t) == 0)
        known[index] = (uint64_t)t.tv_sec * SECOND;
    uint64_t ns = known[index];
    REAL(pthread_mutex_unlock)(&lock);
    return ns;
}

static uint64_t ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

uint64_t time_host_span(const struct timespec *t)
{
    return (uint64_t)t->tv_sec > UINT64_MAX / 2000 / SECOND ? UINT64_MAX / 2 : ns_of(t) * 1000;
}

uint64_t time_host_deadline(clockid_t clock, const struct timespec *t)
{
    const uint64_t start = origin(clock) / SECOND;
    if (t->tv_sec < 0 || (uint64_t)t->tv_sec < start)
        return 0;
    const struct timespec since = {.tv_sec = t->tv_sec - (time_t)start, .tv_nsec = t->tv_nsec};
    return time_host_span(&since);
}

clockid_t time_host_clock_of(const struct timespec *t)
{
    const int64_t real = t->tv_sec - (int64_t)(origin(CLOCK_REALTIME) / SECOND),
                  monotonic = t->tv_sec - (int64_t)(origin(CLOCK_MONOTONIC) / SECOND);
    return llabs(monotonic) < llabs(real) ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

ENTRY int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!ON_CORE())
        return REAL(clock_gettime)(clock, t);
    bool used = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
    uint64_t ns = pass(CALL_PS) + (used ? 0 : origin(clock));
    t->tv_sec = (time_t)(ns / SECOND);
    t->tv_nsec = (long)(ns % SECOND);
    return 0;
}

/* It counts as fast as cores do: a guess, as it does at their nominal clock. */
ENTRY uint64_t ehp_cpu_ticks(uint64_t native)
{
    enum { CYCLES = 38 }; /* guess: of reading it */
    static _Atomic double mhz;
    struct ehp_cpu_thread *self = time_host_self();
    struct ehp_chip_value clock = {.size = sizeof(clock)};
    if (!self || self->away)
        return native;
    if (mhz == 0 && ehp_chip_value(time_host_machine(), "core.clock", &clock) == EHP_OK)
        mhz = clock.number;
    const uint64_t ps = time_host_leave() + (uint64_t)(CYCLES * 1e6 / mhz);
    time_host_enter(ps);
    return (uint64_t)((double)ps * mhz / 1e6);
}

ENTRY uint64_t ehp_cpu_number(uint64_t native)
{
    struct ehp_cpu_thread *self = time_host_self();
    return self && !self->away ? (uint64_t)ehp_cpu_thread_cpu(time_host_machine(), self) : native;
}

ENTRY int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    if (!ON_CORE())
        return REAL(gettimeofday)(t, zone);
    uint64_t ns = pass(CALL_PS) + origin(CLOCK_REALTIME);
    t->tv_sec = (time_t)(ns / SECOND);
    t->tv_usec = (suseconds_t)(ns % SECOND / 1000);
    return 0;
}

ENTRY time_t time(time_t *t)
{
    if (!ON_CORE())
        return REAL(time)(t);
    time_t seconds = (time_t)((pass(CALL_PS) + origin(CLOCK_REALTIME)) / SECOND);
    if (t)
        *t = seconds;
    return seconds;
}

ENTRY int timespec_get(struct timespec *t, int base)
{
    if (!ON_CORE() || base != TIME_UTC)
        return REAL(timespec_get)(t, base);
    uint64_t ns = pass(CALL_PS) + origin(CLOCK_REALTIME);
    *t = (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
    return base;
}

ENTRY clock_t clock(void)
{
    return ON_CORE() ? (clock_t)(pass(YIELD_PS) / (SECOND / CLOCKS_PER_SEC)) : REAL(clock)();
}

/* All that the process has used is what has passed, as clock() has it: the program's own, none of it the
 * kernel's. */
ENTRY int getrusage(__rusage_who_t who, struct rusage *usage)
{
    const int error = REAL(getrusage)(who, usage);
    if (error || !ON_CORE() || (int)who == RUSAGE_CHILDREN)
        return error;
    const uint64_t ns = pass(YIELD_PS);
    usage->ru_utime =
        (struct timeval){.tv_sec = (time_t)(ns / SECOND), .tv_usec = (suseconds_t)(ns % SECOND / 1000)};
    usage->ru_stime = (struct timeval){0};
    return 0;
}

ENTRY clock_t times(struct tms *t)
{
    if (!ON_CORE())
        return REAL(times)(t);
    const uint64_t tick = SECOND / (uint64_t)sysconf(_SC_CLK_TCK), ns = pass(YIELD_PS);
    if (t)
        *t = (struct tms){.tms_utime = (clock_t)(ns / tick)};
    return (clock_t)((ns + origin(CLOCK_MONOTONIC)) / tick);
}

ENTRY int sched_yield(void)
{
    if (!ON_CORE())
        return REAL(sched_yield)();
    pass(YIELD_PS);
    return 0;
}

static void sleep_ns(uint64_t ns)
{
    pass(ns * 1000 + YIELD_PS);
}

ENTRY int nanosleep(const struct timespec *t, struct timespec *rest)
{
    if (!ON_CORE())
        return REAL(nanosleep)(t, rest);
    sleep_ns(ns_of(t));
    return 0;
}

ENTRY int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *rest)
{
    if (!ON_CORE())
        return REAL(clock_nanosleep)(clock, flags, t, rest);
    uint64_t ns = ns_of(t), now = origin(clock) + pass(0);
    sleep_ns(!(flags & TIMER_ABSTIME) ? ns : ns > now ? ns - now : 0);
    return 0;
}

ENTRY int thrd_sleep(const struct timespec *t, struct timespec *rest)
{
    if (!ON_CORE())
        return REAL(thrd_sleep)(t, rest);
    sleep_ns(ns_of(t));
    return 0;
}

ENTRY void thrd_yield(void)
{
    if (ON_CORE())
        pass(YIELD_PS);
    else
        REAL(thrd_yield)();
}

ENTRY int usleep(useconds_t us)
{
    if (!ON_CORE())
        return REAL(usleep)(us);
    sleep_ns((uint64_t)us * 1000);
    return 0;
}

ENTRY unsigned sleep(unsigned seconds)
{
    if (!ON_CORE())
        return REAL(sleep)(seconds);
    sleep_ns(seconds * SECOND);
    return 0;
}

/* ---- timers, whose signals come when the host's time says so ---- */

static void say_timer(bool begins)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (begins && !atomic_flag_test_and_set(&said))
        fputs("ehp: a timer that sends signals goes by the host's time, and not by simulated time\n", stderr);
}

ENTRY unsigned alarm(unsigned seconds)
{
    say_timer(ON_CORE() && seconds);
    return REAL(alarm)(seconds);
}

ENTRY int setitimer(__itimer_which_t which, const struct itimerval *restrict next,
                    struct itimerval *restrict last)
{
    say_timer(ON_CORE() && next && (next->it_value.tv_sec || next->it_value.tv_usec));
    return REAL(setitimer)(which, next, last);
}

ENTRY int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict next,
                        struct itimerspec *restrict last)
{
    say_timer(ON_CORE() && next && (next->it_value.tv_sec || next->it_value.tv_nsec));
    return REAL(timer_settime)(timer, flags, next, last);
}

/* ---- other processes, which take no simulated time: it stands still meanwhile ---- */

#define WAITS(type, name, parameters, arguments)                                                             \
    ENTRY type name parameters                                                                               \
    {                                                                                                        \
        if (!ON_CORE())                                                                                      \
            return REAL(name) arguments;                                                                     \
        const uint64_t ps = time_host_leave() + KERNEL_PS;                                                   \
        const type found = REAL(name) arguments;                                                             \
        const int error = errno;                                                                             \
        time_host_enter(ps);                                                                                 \
        errno = error;                                                                                       \
        return found;                                                                                        \
    }
WAITS(pid_t, wait, (int *status), (status))
WAITS(pid_t, waitpid, (pid_t who, int *status, int options), (who, status, options))
WAITS(pid_t, wait4, (pid_t who, int *status, int options, struct rusage *used), (who, status, options, used))
WAITS(int, waitid, (idtype_t type, id_t who, siginfo_t *info, int options), (type, who, info, options))
WAITS(int, system, (const char *command), (command))
WAITS(int, pclose, (FILE * pipe), (pipe))
