/* SPDX-License-Identifier: MIT */
/* Which of the simulated CPUs a thread may be on; see affinity.c. */
#ifndef HIP_HOST_AFFINITY_H
#define HIP_HOST_AFFINITY_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "ehp/cpu_thread.h"

/* Of the calling thread, and of one that is made with these attributes; NULL: all. */
const struct ehp_cpu_set *affinity_own(void);
const struct ehp_cpu_set *affinity_of(const pthread_attr_t *attributes);
/* The first CPU of the calling thread's; -1: it may be on all. */
int affinity_first(void);
/* The program begins with these CPUs, as one left them in the environment that became it; NULL: with all. */
void affinity_inherit(const char *text);
/* The calling thread is on these from now on; an errno, or 0.  And which it may be on: the bytes that the
 * kernel fills, or -1: there are not as many. */
int affinity_set(size_t bytes, const cpu_set_t *mask, bool on_core);
long affinity_get(size_t bytes, cpu_set_t *mask);
/* The CPU that the calling thread is on, and its node; false: the host says. */
bool affinity_getcpu(unsigned *cpu, unsigned *node, const void *caller);
/* The calling thread has just begun with that (NULL: all), or was given it by another. */
void affinity_begin(const struct ehp_cpu_set *set);
/* A thread on one of these (NULL: on that core, if it is not -1); on another, if none of them is free. */
struct ehp_cpu_thread *affinity_open(const struct ehp_cpu_set *set, int core);
/* The calling thread, away from its core, is on one of these from now on, if it was on another. */
void affinity_move(const struct ehp_cpu_set *set);
/* OMP_PLACES and OMP_PROC_BIND are ours from now on: the runtime would complain that it may not follow them.
 */
void places_take(void);
/* Where thread `index` of a team of `size` is, by OMP_PLACES and OMP_PROC_BIND: one CPU.  False: anywhere. */
bool places_of(unsigned index, unsigned size, struct ehp_cpu_set *out);

#endif
