/* SPDX-License-Identifier: MIT */
/*
 * What code calls that was compiled with --time-host (ehp/cpu_thread.h), and the calls of the system's by
 * which its threads begin, end, wait for each other and ask for the time: a library of its own, as these take
 * the place of the C library's.  Threads that are on no core, and all of them in functional mode, have the C
 * library's.
 *
 *   time_host.c   records of what a thread does
 *   threads.c     threads
 *   waits.c       the queue of those that wait for each other; futexes
 *   locks.c       mutexes, condition variables, barriers, semaphores
 *   c11.c         C11's threads and locks, by POSIX's
 *   clocks.c      clocks, and sleep
 *   openmp.c      OpenMP's threads, places.c where they are, openmp_locks.c what they take from each other
 *   openmp_tasks.c  tasks, openmp_depend.c what these depend on, openmp_reduce.c what they add up
 *   affinity.c    which CPUs a thread may be on
 *   strings.c     strings, sort.c sorting and searching, trees.c what C++'s maps are
 *   heap.c        memory that is asked for, pages.c that is given back, apart.c the simulator's own
 *   numa.c        where pages lie, and numa_files.c what is told of that
 *
 * A thread that waits for another is away from its core; it comes back no sooner, in simulated time, than
 * what it waited for.
 */
#ifndef HIP_TIME_HOST_H
#define HIP_TIME_HOST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "ehp/cpu_thread.h"

#define ENTRY __attribute__((visibility("default")))

uint64_t *ehp_cpu_block(const struct ehp_cpu_block *block);
void ehp_cpu_wait(void);
/* What RDTSC has on a core, and which CPU RDTSCP says that it is; `native`: what they have of the host. */
uint64_t ehp_cpu_ticks(uint64_t native);
uint64_t ehp_cpu_number(uint64_t native);
void ehp_cpu_pause(bool on); /* ehp_host_untimed() of hip/ehp_host.h */

ehp_machine *time_host_machine(void);
/* Whether it is the simulator itself that calls. */
bool time_host_is_simulator(const void *caller);
/* Whether it is this library, what it allocates being the program's: cores touch some of it. */
bool time_host_is_this(const void *caller);
/* The calling thread is on a core now; and it is not the simulator itself that calls. */
bool time_host_on_core(const void *caller);
/* The process was forked off, and has become no other program. */
bool time_host_is_child(void);
/* A thread has been on a core: before, and in functional mode, all have the C library's calls. */
bool time_host_begun(void);
#define KERNEL_PS UINT64_C(500000) /* guess: through the kernel */
#define ON_CORE() time_host_on_core(__builtin_return_address(0))
/* Besides, a runtime that begins before its thread is on one: asks for how many there are. */
bool time_host_has_cores(const void *caller);
#define HAS_CORES() time_host_has_cores(__builtin_return_address(0))
struct ehp_cpu_thread *time_host_self(void);
/* It is that one from now on; NULL: none. */
void time_host_become(struct ehp_cpu_thread *thread);
/* From now on it stays away, although it may execute code of the program's. */
void time_host_pause(bool on);
/* ehp_cpu_thread_leave() and _enter(), of the calling thread. */
uint64_t time_host_leave(void);
void time_host_enter(uint64_t ps);
/* ehp_cpu_thread_sleep(), of the calling thread. */
bool time_host_sleep(uint64_t until_ps);
/* An atomic operation on what lies there, which the thread waits for: when that is over, in picoseconds. */
uint64_t time_host_touch(const void *address);
/* The same, but who is alone does not wait; the time is for those whom it wakes, of whom there are none then.
 */
uint64_t time_host_touch_lock(const void *address);

/* Away from its core to the kernel, to change the process's mappings: when that was, in picoseconds.  Threads
 * do so in the order of simulated time, one after another: */
uint64_t time_host_map(void);
/* it is done, and the thread back from then on. */
void time_host_mapped(uint64_t ps);
/* When nobody is, without leaving: who ends gives a heap back, which is somebody's who begins later. */
void time_host_turn(void);
/* What malloc() and free() are to a program, for functions of this library that it calls on its core. */
void *time_host_malloc(size_t bytes);
void time_host_free(void *memory);
/* What memory costs, of the chip: a small block of malloc()'s and free()'s, a call that maps, and one that
 * unmaps. */
struct time_host_costs {
    struct ehp_cpu_block allocate, release;
    uint64_t map_ps, unmap_ps;
};
const struct time_host_costs *time_host_costs(void); /* from a thread on a core */
/* Whether the C library's block has a mapping of its own; false of another allocator's. */
bool time_host_is_mapped(const void *memory);

/* Picoseconds of simulated time: when that clock shows it, and how long it is. */
uint64_t time_host_deadline(clockid_t clock, const struct timespec *time);
uint64_t time_host_span(const struct timespec *time);
/* Whose time this is, of the clocks that a condition variable may have. */
clockid_t time_host_clock_of(const struct timespec *time);

/* The C library's function of that name; and one with its type. */
void *time_host_real(const char *name);
/* threads.c: what POSIX has, by a call from there. */
int threads_create(const void *caller, pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument);
int threads_join(const void *caller, pthread_t id, void **result);
int threads_detach(pthread_t id);

#define REAL(name)                                                                                           \
    ({                                                                                                       \
        static __typeof__(name) *real;                                                                       \
        if (!real)                                                                                           \
            real = (__typeof__(name) *)time_host_real(#name);                                                \
        real;                                                                                                \
    })

#endif
