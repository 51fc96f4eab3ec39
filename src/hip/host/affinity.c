/* SPDX-License-Identifier: MIT */
/*
 * Threads are on the CPUs that they ask for, of those of the simulated machine: as the operating system
 * numbers them, one CCD's after another's, one package's after another's, without a second thread of a core.
 * What has no affinity is put on a CCD after the other.  Those that share a CPU take turns, and stay there:
 * none is moved to one that is free later.
 */
#include "hip/host/affinity.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "hip/host/time_host.h"

/* Of the calling thread. */
static __thread struct {
    struct ehp_cpu_set set;
    bool has;
} own;

/* Of attributes: the C library would try to have them on the host's CPUs. */
struct attributes {
    struct attributes *next;
    const pthread_attr_t *of;
    struct ehp_cpu_set set;
};
static struct {
    pthread_mutex_t lock;
    struct attributes *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

const struct ehp_cpu_set *affinity_own(void)
{
    return own.has ? &own.set : NULL;
}

void affinity_begin(const struct ehp_cpu_set *set)
{
    own.has = set != NULL;
    if (set)
        own.set = *set;
}

static bool is_in(const struct ehp_cpu_set *set, unsigned cpu)
{
    return set->word[cpu / 64] >> cpu % 64 & 1;
}

struct ehp_cpu_thread *affinity_open(const struct ehp_cpu_set *set, int core)
{
    ehp_machine *m = time_host_machine();
    struct ehp_cpu_thread *t = set ? ehp_cpu_thread_open_among(m, set) : NULL;
    return t ? t : ehp_cpu_thread_open(m, core);
}

void affinity_move(const struct ehp_cpu_set *set)
{
    ehp_machine *m = time_host_machine();
    struct ehp_cpu_thread *self = time_host_self();
    if (!self || self->idle || is_in(set, (unsigned)ehp_cpu_thread_cpu(m, self)))
        return;
    struct ehp_cpu_thread *other = ehp_cpu_thread_open_among(m, set);
    if (!other)
        return;
    ehp_cpu_thread_close(m, self);
    time_host_become(other);
}

/* Those of the machine among a mask of the program's; false: none. */
static bool read_mask(size_t bytes, const cpu_set_t *mask, struct ehp_cpu_set *set)
{
    const unsigned count = ehp_cpu_count(time_host_machine());
    bool some = false;
    memset(set, 0, sizeof(*set));
    for (unsigned cpu = 0; cpu < count && cpu < bytes * 8; cpu++)
        if (CPU_ISSET_S(cpu, bytes, mask)) {
            set->word[cpu / 64] |= UINT64_C(1) << cpu % 64;
            some = true;
        }
    return some;
}

static void write_mask(const struct ehp_cpu_set *set, size_t bytes, cpu_set_t *mask)
{
    const unsigned count = ehp_cpu_count(time_host_machine());
    CPU_ZERO_S(bytes, mask);
    for (unsigned cpu = 0; cpu < count && cpu < bytes * 8; cpu++)
        if (!set || is_in(set, cpu))
            CPU_SET_S(cpu, bytes, mask);
}

/* An errno, or 0. */
static int set_own(size_t bytes, const cpu_set_t *mask)
{
    struct ehp_cpu_set set;
    if (!read_mask(bytes, mask, &set))
        return EINVAL;
    affinity_begin(&set);
    const uint64_t ps = time_host_leave();
    affinity_move(&set);
    time_host_enter(ps);
    return 0;
}

ENTRY int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *mask)
{
    if (!ON_CORE() || (pid && pid != gettid()))
        return REAL(sched_setaffinity)(pid, bytes, mask);
    const int error = set_own(bytes, mask);
    errno = error ? error : errno;
    return error ? -1 : 0;
}

ENTRY int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask)
{
    if (!ON_CORE() || (pid && pid != gettid()))
        return REAL(sched_getaffinity)(pid, bytes, mask);
    write_mask(affinity_own(), bytes, mask);
    return 0;
}

ENTRY int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *mask)
{
    struct ehp_cpu_set set;
    if (!ON_CORE())
        return REAL(pthread_setaffinity_np)(thread, bytes, mask);
    if (pthread_equal(thread, pthread_self()))
        return set_own(bytes, mask);
    if (!read_mask(bytes, mask, &set))
        return EINVAL;
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        fputs("ehp: a thread that another one binds to CPUs stays on the core that it is on: bind it by its "
              "attributes, or by itself\n",
              stderr);
    return 0;
}

ENTRY int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t *mask)
{
    if (!ON_CORE() || !pthread_equal(thread, pthread_self()))
        return REAL(pthread_getaffinity_np)(thread, bytes, mask);
    write_mask(affinity_own(), bytes, mask);
    return 0;
}

/* ---- attributes ---- */

static struct attributes **find(const pthread_attr_t *of)
{
    struct attributes **link = &all.first;
    while (*link && (*link)->of != of)
        link = &(*link)->next;
    return link;
}

const struct ehp_cpu_set *affinity_of(const pthread_attr_t *of)
{
    pthread_mutex_lock(&all.lock);
    const struct attributes *a = *find(of);
    pthread_mutex_unlock(&all.lock);
    return of && a ? &a->set : NULL;
}

ENTRY int pthread_attr_setaffinity_np(pthread_attr_t *of, size_t bytes, const cpu_set_t *mask)
{
    struct ehp_cpu_set set;
    if (!ON_CORE() || !bytes)
        return REAL(pthread_attr_setaffinity_np)(of, bytes, mask);
    if (!read_mask(bytes, mask, &set))
        return EINVAL;
    pthread_mutex_lock(&all.lock);
    struct attributes **link = find(of);
    if (!*link && (*link = calloc(1, sizeof(**link))) != NULL)
        (*link)->of = of;
    const bool done = *link;
    if (done)
        (*link)->set = set;
    pthread_mutex_unlock(&all.lock);
    return done ? 0 : ENOMEM;
}

ENTRY int pthread_attr_destroy(pthread_attr_t *of)
{
    if (all.first && ON_CORE()) {
        pthread_mutex_lock(&all.lock);
        struct attributes **link = find(of), *a = *link;
        if (a)
            *link = a->next;
        pthread_mutex_unlock(&all.lock);
        free(a);
    }
    return REAL(pthread_attr_destroy)(of);
}

/* ---- how many there are, and which it is on ---- */

ENTRY int sched_getcpu(void)
{
    return ON_CORE() ? ehp_cpu_thread_cpu(time_host_machine(), time_host_self()) : REAL(sched_getcpu)();
}

ENTRY long sysconf(int name)
{
    if ((name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) && ON_CORE())
        return (long)ehp_cpu_count(time_host_machine());
    return REAL(sysconf)(name);
}

ENTRY int get_nprocs(void)
{
    return ON_CORE() ? (int)ehp_cpu_count(time_host_machine()) : REAL(get_nprocs)();
}

ENTRY int get_nprocs_conf(void)
{
    return ON_CORE() ? (int)ehp_cpu_count(time_host_machine()) : REAL(get_nprocs_conf)();
}

/* LLVM's OpenMP would ask the host's kernel, and bind its threads to the host's CPUs. */
__attribute__((constructor)) static void keep_from_host(void)
{
    const char *mode = secure_getenv("EHP_MODE");
    if (mode && strcmp(mode, "timing") == 0) {
        places_take();
        setenv("KMP_AFFINITY", "disabled", 0);
    }
}
