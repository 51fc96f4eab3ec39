/* SPDX-License-Identifier: MIT */
/*
 * NUMA, as a program under `ehp run --node` sees it: packages are nodes, with their CPUs and memory.  numa.c
 * has the system's calls, numa_files.c the files that libnuma reads.  Not of the simulated machine are the
 * CPUs that threads without a core really run on.
 */
#ifndef HIP_HOST_NUMA_H
#define HIP_HOST_NUMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ehp/cpu_thread.h"

/* Of the node; `nodes` 0: there is none, and all is the host's. */
struct numa_nodes {
    unsigned nodes, cpus; /* cpus: of each */
    uint64_t kib;         /* of memory, of each */
    uint8_t distance[EHP_PACKAGES_MAX][EHP_PACKAGES_MAX];
};
const struct numa_nodes *numa_nodes(void);
/* Whether such a call of the program's is answered here, on a core or not. */
bool numa_answers(const void *caller);
/* CPUs that the calling thread may be on, as the files have them. */
struct ehp_cpu_set numa_own_cpus(void);
uint64_t numa_all_nodes(void);
/* The node's memory that is free, in KiB. */
uint64_t numa_free_kib(unsigned node);

/* A call of the kernel's that is about NUMA, or about CPUs: its result, and errno.  False: it is not. */
bool numa_syscall(long number, const long arguments[6], const void *caller, long *result);

/* The calling thread's policy, for one that it creates; that one begins with it. */
struct ehp_numa_policy numa_policy(void);
void numa_begin(const struct ehp_numa_policy *policy);
/* Pages that a thread's core touches are its own. */
void numa_take(struct ehp_cpu_thread *thread);
/* What code whose time is not simulated asks for, is taken to be the program's as a whole. */
void numa_tell(void);
/* Nobody reads the environment meanwhile: the process has one thread, as far as is known. */
bool numa_is_alone(void);
/* The mapping is gone, and what was asked for it; the machine does not know yet, if it is to be told. */
void numa_forget(const void *base, size_t bytes, bool tell);

#endif
