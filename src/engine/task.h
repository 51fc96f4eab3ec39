/* SPDX-License-Identifier: MIT */
/*
 * Agent packets: copies and fills, whose bytes the host moves here where they take no simulated time, and
 * host functions.
 */
#ifndef EHP_ENGINE_TASK_H
#define EHP_ENGINE_TASK_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct cp;
struct cp_task;
struct engine;
struct wave_guard;

/*
 * Executes the request, with the guard of a thread that faults can stop (NULL: of the program's own function,
 * which may do what it likes): a copy through a wild pointer faults like a wave that does it.
 */
void task_run(struct cp_task *task, struct wave_guard *guard);
/* It could not access memory there: makes its queue inactive. */
void task_fault(struct cp_task *task, uint64_t address, bool write);
/* Completes its packet, which was begun at `start_ns`, and frees it. */
void task_done(struct cp_task *task, uint64_t start_ns);
void task_free_all(struct cp_task *list);

/* The thread that host functions run on, in the order they were reached: they may block. */
struct caller {
    struct engine *engine;
    struct cp_task *tasks, **end; /* guarded by cp.lock */
    pthread_cond_t ready;
    pthread_t thread;
    sigset_t program_signals; /* blocked by the thread that opened the machine, and by those functions */
    bool started, quit;
};

/* 0, or EHP_ERR_OUT_OF_RESOURCES. */
int caller_start(struct caller *caller, struct engine *engine);
/* Waits for the function that runs. */
void caller_stop(struct caller *caller);
/* With cp.lock held: a list of tasks, in order. */
void caller_add(struct caller *caller, struct cp_task *tasks);
/* Whether this is that thread. */
static inline bool caller_is_self(const struct caller *caller)
{
    return pthread_equal(pthread_self(), caller->thread) != 0;
}

#endif
