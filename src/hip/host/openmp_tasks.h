/* SPDX-License-Identifier: MIT */
/*
 * Tasks of OpenMP's: what openmp_tasks.c, openmp_depend.c and openmp_reduce.c have of each other.
 *
 * What a task is given, by the runtime's interface: LLVM 19, openmp/runtime/src/kmp.h.
 */
#ifndef HIP_OPENMP_TASKS_H
#define HIP_OPENMP_TASKS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hip/host/openmp.h"

/* What the compiler sees of a task; its private variables follow, and what it shares with who made it. */
struct omp_task {
    void *shared;
    int32_t (*routine)(int32_t thread, struct omp_task *task);
    int32_t part;
    union {
        int32_t (*destroy)(int32_t thread, struct omp_task *task);
        int32_t priority;
    } first, second;
};
static_assert(sizeof(struct omp_task) == 40, "kmp_task_t");

enum { TASK_FINAL = 2, TASK_DESTROYS = 8, TASK_DETACHES = 0x40 }; /* kmp_tasking_flags */

struct task;
struct follower { /* a task that waits for another, in that one's list */
    struct follower *next;
    struct task *task;
};

/* Tasks that have begun together, and what they add up. */
struct group {
    struct group *outer;
    unsigned count; /* of tasks that have not ended */
    struct reduction *reduction;
    unsigned reductions;
};

struct task {
    struct task *self;            /* the runtime's tasks have something else there */
    struct task *next, *previous; /* in a queue */
    struct task *parent;
    unsigned uses;     /* itself, its children's of it as parent, and what dependences know of it */
    unsigned children; /* that have not ended */
    struct group *group, *within; /* the innermost that it has begun; that it belongs to */
    void *dependences;            /* of its children on each other */
    struct task *all;             /* the last child that depends on all memory */
    struct follower *followers;
    unsigned missing; /* what it depends on and has not ended */
    size_t bytes;     /* from here on */
    unsigned flags;
    bool ended, again; /* again: it has put itself into the queue */
    bool stands;       /* for who waits for what a task would depend on */
    _Alignas(16) struct omp_task omp;
};

struct depend { /* kmp_depend_info */
    uintptr_t address;
    size_t bytes;
    uint8_t kind;
};
static_assert(sizeof(struct depend) == 24, "kmp_depend_info");
enum { DEPEND_IN = 1, DEPEND_ALL = 0x80 };

/* With the team's lock, all of these.  The task depends on what its parent's children before it were given
 * for the same places, and those after it on it. */
void depend_on(struct task *task, const struct depend *list, int32_t count);
/* All children have ended. */
void depend_forget(struct task *parent);
/* It is used no more by whoever had counted. */
void task_unuse(struct task *task);

/* Of the thread: the innermost group, NULL if there is none; its number in the team, and the team's size. */
struct group *tasks_group(void);
unsigned tasks_number(void);
unsigned tasks_size(void);
/* All of the group's tasks have ended: their results are the program's. */
void reduce_end(struct group *group);
/* The calling thread's tasks are ours. */
bool tasks_ours(const void *caller);

#endif
