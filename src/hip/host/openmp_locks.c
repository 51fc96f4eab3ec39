/* SPDX-License-Identifier: MIT */
/*
 * What threads of OpenMP take from each other, in the order of simulated time: critical sections, locks,
 * reductions, the one thread of a `single`, pieces of loops that are given out as threads come.  Compilers
 * call LLVM's runtime for these; here are its functions' names.  Sections and locks are mutexes, as those of
 * POSIX are (locks.c); of the others threads come to the runtime one after another.
 *
 * `ordered` and what waits for other iterations have the runtime wait: such a thread is away until it goes
 * on.
 *
 * Source: LLVM 19, openmp/runtime/src/kmp_csupport.cpp, what the functions are given and return.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "hip/host/openmp.h"
#include "hip/host/time_host.h"
#include "hip/host/waits.h"

#define CALLER __builtin_return_address(0)

/* ---- whose they are ---- */

static bool of_one_library(void *a, void *b)
{
    Dl_info of_a, of_b;
    return a && b && dladdr(a, &of_a) && dladdr(b, &of_b) && of_a.dli_fbase == of_b.dli_fbase;
}

/*
 * Whether sections and locks are mutexes of ours, for all of the process's life: what one has taken the other
 * cannot give.  Not without cores, and not those of another runtime, whose locks have less room.
 */
bool openmp_ours(void)
{
    static _Atomic int known;
    enum { UNKNOWN, OURS, ITS_OWN };
    if (known == UNKNOWN)
        known = time_host_begun() &&
                        of_one_library(dlsym(RTLD_NEXT, "__kmpc_critical"), dlsym(RTLD_NEXT, "omp_init_lock"))
                    ? OURS
                    : ITS_OWN;
    return known == OURS;
}

#define UNLESS_OURS(name, ...) UNLESS(openmp_ours(), name, __VA_ARGS__)

/* ---- mutexes ---- */

struct mutex {
    pthread_mutex_t own;
    int count; /* of who has it: how often, of nested locks */
};

static int take(void *key)
{
    return REAL(pthread_mutex_trylock)(key);
}

static int give(void *key)
{
    return REAL(pthread_mutex_unlock)(key);
}

static void lock(struct mutex *m, const void *caller)
{
    if (time_host_on_core(caller))
        waits_take(&m->own, take, NEVER);
    else
        REAL(pthread_mutex_lock)(&m->own);
    m->count++;
}

static bool try(struct mutex *m, const void *caller)
{
    if (time_host_on_core(caller))
        time_host_touch_lock(&m->own);
    if (REAL(pthread_mutex_trylock)(&m->own) != 0)
        return false;
    m->count++;
    return true;
}

static void unlock(struct mutex *m, const void *caller)
{
    m->count--;
    if (time_host_on_core(caller)) {
        waits_give(&m->own, give, 1);
        return;
    }
    REAL(pthread_mutex_unlock)(&m->own);
    waits_wake_others(caller, &m->own, 1);
}

static struct mutex *new_mutex(bool nests)
{
    struct mutex *m = calloc(1, sizeof(*m));
    pthread_mutexattr_t kind;
    if (!m)
        abort();
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, nests ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    pthread_mutex_init(&m->own, &kind);
    pthread_mutexattr_destroy(&kind);
    return m;
}

/* ---- critical sections ---- */

typedef int32_t critical_name[8]; /* zeroed, one for each name; the runtime's to use */

static struct mutex *mutex_of(critical_name *name, const void *caller)
{
    struct mutex **place = (struct mutex **)name, *m = __atomic_load_n(place, __ATOMIC_ACQUIRE), *none = NULL;
    if (m)
        return m;
    if (time_host_on_core(caller))
        time_host_touch(name);
    m = new_mutex(false);
    if (__atomic_compare_exchange_n(place, &none, m, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return m;
    free(m);
    return none;
}

API(void, __kmpc_critical, const void *where, int32_t thread, critical_name *name)
{
    UNLESS_OURS(__kmpc_critical, where, thread, name);
    lock(mutex_of(name, CALLER), CALLER);
}

API(void, __kmpc_critical_with_hint, const void *where, int32_t thread, critical_name *name, uint32_t hint)
{
    UNLESS_OURS(__kmpc_critical_with_hint, where, thread, name, hint);
    lock(mutex_of(name, CALLER), CALLER);
}

API(void, __kmpc_end_critical, const void *where, int32_t thread, critical_name *name)
{
    UNLESS_OURS(__kmpc_end_critical, where, thread, name);
    unlock(mutex_of(name, CALLER), CALLER);
}

/* ---- reductions: each thread adds its part in a critical section ---- */

typedef void reduce_fn(void *to, void *from);

API(int32_t, __kmpc_reduce_nowait, const void *where, int32_t thread, int32_t variables, size_t bytes,
    void *data, reduce_fn *reduce, critical_name *name)
{
    UNLESS_OURS(__kmpc_reduce_nowait, where, thread, variables, bytes, data, reduce, name);
    lock(mutex_of(name, CALLER), CALLER);
    return 1;
}

API(void, __kmpc_end_reduce_nowait, const void *where, int32_t thread, critical_name *name)
{
    UNLESS_OURS(__kmpc_end_reduce_nowait, where, thread, name);
    unlock(mutex_of(name, CALLER), CALLER);
}

API(int32_t, __kmpc_reduce, const void *where, int32_t thread, int32_t variables, size_t bytes, void *data,
    reduce_fn *reduce, critical_name *name)
{
    UNLESS_OURS(__kmpc_reduce, where, thread, variables, bytes, data, reduce, name);
    lock(mutex_of(name, CALLER), CALLER);
    return 1;
}

void __kmpc_barrier(const void *where, int32_t thread);
API(void, __kmpc_end_reduce, const void *where, int32_t thread, critical_name *name)
{
    UNLESS_OURS(__kmpc_end_reduce, where, thread, name);
    unlock(mutex_of(name, CALLER), CALLER);
    REAL(__kmpc_barrier)(where, thread);
}

/* ---- locks: the program has room for a pointer to each ---- */

static void close_in(struct mutex **l)
{
    free(*l);
    *l = NULL;
}

API(void, omp_init_lock, struct mutex **l)
{
    UNLESS_OURS(omp_init_lock, l);
    *l = new_mutex(false);
}
API(void, omp_init_lock_with_hint, struct mutex **l, unsigned hint)
{
    UNLESS_OURS(omp_init_lock_with_hint, l, hint);
    *l = new_mutex(false);
}
API(void, omp_init_nest_lock, struct mutex **l)
{
    UNLESS_OURS(omp_init_nest_lock, l);
    *l = new_mutex(true);
}
API(void, omp_init_nest_lock_with_hint, struct mutex **l, unsigned hint)
{
    UNLESS_OURS(omp_init_nest_lock_with_hint, l, hint);
    *l = new_mutex(true);
}
API(void, omp_destroy_lock, struct mutex **l)
{
    UNLESS_OURS(omp_destroy_lock, l);
    close_in(l);
}
API(void, omp_destroy_nest_lock, struct mutex **l)
{
    UNLESS_OURS(omp_destroy_nest_lock, l);
    close_in(l);
}
API(void, omp_set_lock, struct mutex **l)
{
    UNLESS_OURS(omp_set_lock, l);
    lock(*l, CALLER);
}
API(void, omp_set_nest_lock, struct mutex **l)
{
    UNLESS_OURS(omp_set_nest_lock, l);
    lock(*l, CALLER);
}
API(void, omp_unset_lock, struct mutex **l)
{
    UNLESS_OURS(omp_unset_lock, l);
    unlock(*l, CALLER);
}
API(void, omp_unset_nest_lock, struct mutex **l)
{
    UNLESS_OURS(omp_unset_nest_lock, l);
    unlock(*l, CALLER);
}
API(int, omp_test_lock, struct mutex **l)
{
    UNLESS_OURS(omp_test_lock, l);
    return try(*l, CALLER);
}
API(int, omp_test_nest_lock, struct mutex **l)
{
    UNLESS_OURS(omp_test_nest_lock, l);
    return try(*l, CALLER) ? (*l)->count : 0;
}

/* ---- who comes first ---- */

/* Each thread's turn is an atomic operation on a word of the place's own. */
static void come(const void *where, const void *caller)
{
    enum { PLACES = 64, WORDS = 8 };
    static uint64_t words[PLACES][WORDS];
    if (time_host_on_core(caller))
        time_host_touch(words[(uintptr_t)where / 8 % PLACES]);
}

API(int32_t, __kmpc_single, const void *where, int32_t thread)
{
    come(where, CALLER);
    return REAL(__kmpc_single)(where, thread);
}

#define DISPATCH(suffix, type, signed_type)                                                                  \
    API(int, __kmpc_dispatch_next_##suffix, const void *where, int32_t thread, int32_t *last, type *lower,   \
        type *upper, signed_type *stride)                                                                    \
    {                                                                                                        \
        come(where, CALLER);                                                                                 \
        return REAL(__kmpc_dispatch_next_##suffix)(where, thread, last, lower, upper, stride);               \
    }
DISPATCH(4, int32_t, int32_t)
DISPATCH(4u, uint32_t, int32_t)
DISPATCH(8, int64_t, int64_t)
DISPATCH(8u, uint64_t, int64_t)

/* ---- waiting for others' iterations ---- */

typedef void wait_fn(const void *where, int32_t thread, const void *more);

static void wait_away(wait_fn *wait, const void *where, int32_t thread, const void *more, const void *caller)
{
    if (!time_host_on_core(caller)) {
        wait(where, thread, more);
        return;
    }
    const uint64_t ps = time_host_leave();
    ehp_cpu_thread_let_go(time_host_machine(), time_host_self());
    wait(where, thread, more);
    time_host_enter(ps);
}

void __kmpc_ordered(const void *where, int32_t thread);
static void wait_in_order(const void *where, int32_t thread, const void *more)
{
    (void)more;
    REAL(__kmpc_ordered)(where, thread);
}
ENTRY void __kmpc_ordered(const void *where, int32_t thread)
{
    wait_away(wait_in_order, where, thread, NULL, CALLER);
}

void __kmpc_doacross_wait(const void *where, int32_t thread, const int64_t *iteration);
static void wait_for_iteration(const void *where, int32_t thread, const void *iteration)
{
    REAL(__kmpc_doacross_wait)(where, thread, iteration);
}
ENTRY void __kmpc_doacross_wait(const void *where, int32_t thread, const int64_t *iteration)
{
    wait_away(wait_for_iteration, where, thread, iteration, CALLER);
}
