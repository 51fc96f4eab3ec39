/* SPDX-License-Identifier: MIT */
/* What the parts of OpenMP have of each other; see time_host.h. */
#ifndef HIP_OPENMP_H
#define HIP_OPENMP_H

#include <stdbool.h>
#include <stdint.h>

/* Whether what LLVM's runtime would do is done here, for all of the process's life. */
bool openmp_ours(void);
/* The runtime's function of that name does it. */
#define UNLESS(condition, name, ...)                                                                         \
    if (!(condition))                                                                                        \
    return REAL(name)(__VA_ARGS__)
/* Declared here: which header a program has is its compiler's. */
#define API(type, name, ...)                                                                                 \
    type name(__VA_ARGS__);                                                                                  \
    ENTRY type name(__VA_ARGS__)

/* The tasks of a team, whose threads are numbered below `size`. */
struct tasks;
struct tasks *tasks_open(unsigned size);
void tasks_close(struct tasks *t);
/* The calling thread is that one of the team's; NULL: of none any more. */
void tasks_join(struct tasks *t, unsigned index);
/* It is in a region within the region, or adds up what the runtime does: until that is over, tasks are the
 * runtime's. */
void tasks_nest(bool begins);
/*
 * It is at a barrier: until all are, and no tasks are left, it executes some.  When it came, or the last task
 * had ended; it is away from its core then.
 */
uint64_t tasks_meet(struct tasks *t);

#endif
