/* SPDX-License-Identifier: MIT */
/*
 * Functional mode: threads of the host run workgroups, copies and fills, and
 * time is the host's.
 *
 *   host.c     opening and closing, waking, waiting, and what the engine offers (engine/engine.h)
 *   worker.c   what a thread does
 */
#ifndef EHP_ENGINE_HOST_HOST_H
#define EHP_ENGINE_HOST_HOST_H

#include <pthread.h>
#include <stdatomic.h>

#include "cp/cp.h"
#include "engine/engine.h"
#include "engine/task.h"

struct host;

struct host_worker {
    alignas(64) struct host *host;
    pthread_t thread;
    struct ace_round round;
    struct cp_dispatch *keeps; /* in the round it keeps places of workgroups of this one; NULL: of none */
    unsigned index, turn;
    unsigned waited;         /* turns of waiting workgroups since it last yielded the core */
    struct workgroup *spare; /* memory of the last workgroup, for the next */
    /* Of the dispatch that it is starting workgroups of: finished, and not counted in it yet. */
    uint64_t done, waves;
    struct wave_stats stats;
    bool counted;       /* some are in `stats` */
    uint64_t looked_ns; /* when the handlers of faults were looked at */
};

/* Oldest first. */
struct workgroup_list {
    struct workgroup *first, **end;
};

struct host {
    struct engine engine;
    /* Guarded by cp.lock. */
    struct workgroup_list waiting;   /* set aside because they wait for somebody */
    struct workgroup_list preempted; /* set aside because they ran long */
    struct cp_task *tasks, **tasks_end;
    _Atomic unsigned aside_count; /* on both lists */
    _Atomic unsigned full_count;  /* dispatches that found no room */
    _Atomic unsigned task_count;
    _Atomic uint32_t bell; /* futex: changes when there may be work */
    _Atomic unsigned sleepers;
    _Atomic bool quit;
    struct host_worker *worker;
    unsigned workers;
    struct caller caller;
};

/* worker.c: the thread's function; its argument is a struct host_worker. */
void *host_worker_main(void *worker);
struct workgroup *workgroup_list_take(struct workgroup_list *list);

void host_wake_all(struct host *host);

#endif
