/* SPDX-License-Identifier: MIT */
/*
 * Threads are on the CPUs that they ask for, of those of the simulated machine: as the operating system
 * numbers them, one CCD's after another's, one package's after another's, without a second thread of a core.
 * What has no affinity is put on a CCD after the other.  Those that share a CPU take turns, and stay there:
 * none is moved to one that is free later.
 *
 * Of a node, a thread that has no core has an affinity as well (numa.h): its core is one of those, once it
 * has one, and the pages that it asks for are near them.
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

#include "hip/host/numa.h"
#include "hip/host/time_host.h"

struct affinity {
    struct ehp_cpu_set set;
    bool has;
};
/* Of the calling thread, and what those have that the program began with. */
static __thread struct affinity own;
static struct affinity first;

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
    return own.has ? &own.set : first.has ? &first.set : NULL;
}

int affinity_first(void)
{
    const struct ehp_cpu_set *set = affinity_own();
    for (int w = 0; set && w < EHP_CPUS_MAX / 64; w++)
        if (set->word[w])
            return w * 64 + __builtin_ctzll(set->word[w]);
    return -1;
}

void affinity_begin(const struct ehp_cpu_set *set)
{
    own.has = set != NULL;
    if (set)
        own.set = *set;
}

/* Words in hexadecimal, the lowest first. */
void affinity_inherit(const char *text)
{
    char *at = (char *)text;
    for (unsigned w = 0; text && w < EHP_CPUS_MAX / 64 && *at; w++) {
        first.set.word[w] = strtoul(at + (*at == ','), &at, 16);
        first.has |= first.set.word[w] != 0;
    }
}

/* A program that this one becomes begins with it. */
static void leave_to_next(void)
{
    char text[17 * EHP_CPUS_MAX / 64 + 1] = "";
    for (unsigned w = 0; w < EHP_CPUS_MAX / 64; w++)
        sprintf(text + strlen(text), "%s%lx", w ? "," : "", first.set.word[w]);
    if (numa_is_alone())
        setenv("EHP_NUMA_CPUS", text, 1);
}

/* Of the machine; a program that has none may be in a node all the same. */
static unsigned cpu_count(void)
{
    const struct numa_nodes *n = numa_nodes();
    return n->nodes ? n->nodes * n->cpus : ehp_cpu_count(time_host_machine());
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
    ehp_cpu_thread_hold(m, other); /* nobody's time goes on meanwhile */
    ehp_cpu_thread_close(m, self);
    time_host_become(other);
}

/* Those of the machine among a mask of the program's; false: none. */
static bool read_mask(size_t bytes, const cpu_set_t *mask, struct ehp_cpu_set *set)
{
    const unsigned count = cpu_count();
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
    const unsigned count = cpu_count();
    CPU_ZERO_S(bytes, mask);
    for (unsigned cpu = 0; cpu < count && cpu < bytes * 8; cpu++)
        if (!set || is_in(set, cpu))
            CPU_SET_S(cpu, bytes, mask);
}

int affinity_set(size_t bytes, const cpu_set_t *mask, bool on_core)
{
    struct ehp_cpu_set set;
    if (!read_mask(bytes, mask, &set))
        return EINVAL;
    affinity_begin(&set);
    if (numa_nodes()->nodes && getpid() == gettid()) {
        first = own;
        leave_to_next();
    }
    if (!on_core) {
        numa_tell();
        return 0;
    }
    const uint64_t ps = time_host_leave();
    affinity_move(&set);
    time_host_enter(ps);
    return 0;
}

long affinity_get(size_t bytes, cpu_set_t *mask)
{
    const size_t needed = (cpu_count() + 63) / 64 * sizeof(uint64_t);
    if (bytes < needed || bytes % sizeof(uint64_t))
        return -1;
    write_mask(affinity_own(), needed, mask);
    return (long)needed;
}

ENTRY int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *mask)
{
    const void *caller = __builtin_return_address(0);
    const bool on_core = time_host_on_core(caller);
    if ((!on_core && !numa_answers(caller)) || (pid && pid != gettid()))
        return REAL(sched_setaffinity)(pid, bytes, mask);
    const int error = affinity_set(bytes, mask, on_core);
    errno = error ? error : errno;
    return error ? -1 : 0;
}

/* Without a core, and without anything set, a thread may be on all of the host's CPUs: OpenMP makes as many
 * threads. */
ENTRY int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *mask)
{
    const void *caller = __builtin_return_address(0);
    const bool simulated = time_host_on_core(caller) || (numa_answers(caller) && affinity_own());
    if (!simulated || (pid && pid != gettid()))
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
        return affinity_set(bytes, mask, true);
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

/* Negative: the host says. */
static int one_cpu(const void *caller)
{
    if (time_host_on_core(caller))
        return ehp_cpu_thread_cpu(time_host_machine(), time_host_self());
    if (!numa_answers(caller))
        return -1;
    const int cpu = affinity_first();
    return cpu < 0 ? 0 : cpu;
}

ENTRY int sched_getcpu(void)
{
    const int cpu = one_cpu(__builtin_return_address(0));
    return cpu < 0 ? REAL(sched_getcpu)() : cpu;
}

bool affinity_getcpu(unsigned *which, unsigned *node, const void *caller)
{
    const int cpu = one_cpu(caller);
    if (cpu < 0)
        return false;
    if (which)
        *which = (unsigned)cpu;
    if (node)
        *node = numa_nodes()->nodes ? (unsigned)cpu / numa_nodes()->cpus : 0;
    return true;
}

ENTRY int getcpu(unsigned *which, unsigned *node)
{
    return affinity_getcpu(which, node, __builtin_return_address(0)) ? 0 : REAL(getcpu)(which, node);
}

ENTRY long sysconf(int name)
{
    if ((name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) && HAS_CORES())
        return (long)ehp_cpu_count(time_host_machine());
    if (name == _SC_NPROCESSORS_CONF && numa_answers(__builtin_return_address(0)))
        return (long)cpu_count();
    return REAL(sysconf)(name);
}

ENTRY int get_nprocs(void)
{
    return HAS_CORES() ? (int)ehp_cpu_count(time_host_machine()) : REAL(get_nprocs)();
}

ENTRY int get_nprocs_conf(void)
{
    return HAS_CORES() ? (int)ehp_cpu_count(time_host_machine()) : REAL(get_nprocs_conf)();
}

/* LLVM's OpenMP would ask the host's kernel, and bind its threads to the host's CPUs; and of a node, whose
 * CPUs its system calls are told of, it would give up where it does not find those in /proc/cpuinfo. */
__attribute__((constructor)) static void keep_from_host(void)
{
    const char *mode = secure_getenv("EHP_MODE");
    const bool timing = mode && strcmp(mode, "timing") == 0;
    if (timing)
        places_take();
    if (timing || numa_nodes()->nodes)
        setenv("KMP_AFFINITY", "disabled", 0);
}
