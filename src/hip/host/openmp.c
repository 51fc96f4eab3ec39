/* SPDX-License-Identifier: MIT */
/*
 * OpenMP's threads on cores, by what LLVM's runtime tells a tool (OMPT).  Those of a team begin together,
 * when who met the region was there, and leave a barrier together, when the last has come.  Between regions
 * they are away.
 *
 * What threads take from each other is in openmp_locks.c, tasks in openmp_tasks.c.  Not simulated: what the
 * runtime itself does, and its own tasks.
 *
 * Source: OpenMP API 5.2, chapters 19 and 20; its types are declared here as far as they are used.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "hip/host/affinity.h"
#include "hip/host/openmp.h"
#include "hip/host/time_host.h"

union data {
    uint64_t value;
    void *ptr;
};
typedef void (*any_fn)(void);
typedef void advise_fn(const void *team, const void *code, unsigned cores, bool begins, uint64_t ps);
typedef any_fn lookup_fn(const char *name);
typedef int set_callback_fn(int event, any_fn callback);
struct tool {
    int (*initialize)(lookup_fn *lookup, int device, union data *data);
    void (*finalize)(union data *data);
    union data data;
};
struct tool *ompt_start_tool(unsigned version, const char *runtime);

enum {
    EVENT_PARALLEL_BEGIN = 3,
    EVENT_PARALLEL_END = 4,
    EVENT_TASK_CREATE = 5,
    EVENT_IMPLICIT_TASK = 7,
    EVENT_SYNC_REGION_WAIT = 16
};
enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };
enum { BARRIER_IMPLICIT = 2, BARRIER_IMPLICIT_PARALLEL = 9, REGION_TASKWAIT = 5, REGION_TASKGROUP = 6 };
enum { TASK_INITIAL = 1, TASK_EXPLICIT = 4, TASK_UNDEFERRED = 1 << 27, TEAM = 256 };

struct team {
    unsigned size;
    _Atomic unsigned begun; /* of its threads, but the one that met the region, which has its place */
    _Atomic bool placed;
    pthread_mutex_t lock;
    unsigned arrived;           /* at the barrier */
    uint64_t ps, barrier_ps[2]; /* when it begins; when the last has come, by barriers in turn */
    const void *code;           /* of who met it */
    struct tasks *tasks;
    struct ehp_cpu_thread *thread[TEAM]; /* by their numbers */
};

/* Of the calling thread. */
static __thread struct {
    struct team *team;
    bool master, waits; /* waits: for a barrier */
    unsigned turn;      /* of barriers */
    unsigned nested;    /* regions within the team's */
} mine;

/* Of the runtime's, for `ehp advise`: all of the team's cores have done all. */
static void tell(const struct team *team, bool begins, uint64_t ps)
{
    static advise_fn *_Atomic known;
    if (!known)
        known = (advise_fn *)dlsym(RTLD_DEFAULT, "ehpAdviseRegion");
    if (known)
        known(team, team->code, team->size, begins, ps);
}

static void *make_team(uint64_t ps, const void *code, unsigned threads)
{
    struct team *team = calloc(1, sizeof(*team));
    if (!team)
        abort();
    team->ps = ps;
    team->code = code;
    team->tasks = tasks_open(threads ? threads : TEAM);
    pthread_mutex_init(&team->lock, NULL);
    tell(team, true, ps);
    return team;
}

/* By who meets a region: it is away until the team has begun.  Regions within regions are none of cores'
 * business. */
static void parallel_begin(union data *task, const void *frame, union data *parallel, unsigned threads,
                           int flags, const void *code)
{
    (void)task, (void)frame, (void)flags;
    parallel->ptr =
        !mine.team && time_host_on_core(NULL) ? make_team(time_host_leave(), code, threads) : NULL;
    if (!mine.team)
        return;
    mine.nested++;
    tasks_nest(true);
}

static void parallel_end(union data *parallel, union data *task, int flags, const void *code)
{
    struct team *team = parallel ? parallel->ptr : NULL;
    (void)task, (void)flags, (void)code;
    if (team)
        tasks_close(team->tasks);
    free(team);
    if (team || !mine.nested)
        return;
    mine.nested--;
    tasks_nest(false);
}

static void leave_team(void)
{
    mine.team = NULL;
    tasks_join(NULL, 0);
}

static void implicit_task(int scope, union data *parallel, union data *task, unsigned size, unsigned index,
                          int flags)
{
    struct team *team = scope == SCOPE_BEGIN && parallel && !(flags & TASK_INITIAL) ? parallel->ptr : NULL;
    (void)task;
    if (scope == SCOPE_END && index == 0 && !mine.nested)
        leave_team();
    if (!team || mine.team || size > TEAM)
        return;
    mine.team = team;
    mine.turn = 0;
    mine.master = index == 0;
    struct ehp_cpu_set set;
    const bool bound = places_of(index, size, &set);
    if (mine.master) { /* time stands still for it until all have begun; its old place may be another's */
        if (bound)
            affinity_move(&set);
        team->placed = true;
        team->size = size;
        while (team->begun + 1 < size)
            REAL(sched_yield)();
    }
    while (bound && !team->placed)
        REAL(sched_yield)();
    if (!time_host_self()) /* made by the runtime, while who met the region was away */
        time_host_become(affinity_open(bound ? &set : NULL, (int)index));
    else if (bound && !mine.master)
        affinity_move(&set);
    if (!time_host_self()->idle) {
        team->thread[index] = time_host_self();
        tasks_join(team->tasks, index);
        time_host_enter(team->ps);
    }
    if (!mine.master)
        team->begun++;
}

/* The last one holds time for those that go on. */
static void arrive(struct team *team, bool all_go_on)
{
    uint64_t ps = tasks_meet(team->tasks);
    pthread_mutex_lock(&team->lock);
    uint64_t *barrier_ps = &team->barrier_ps[mine.turn++ % 2];
    *barrier_ps = !team->arrived || ps > *barrier_ps ? ps : *barrier_ps;
    bool last = ++team->arrived == team->size;
    if (last && !all_go_on)
        tell(team, false, *barrier_ps);
    for (unsigned i = 0; last && i < (all_go_on ? team->size : 1); i++)
        if (team->thread[i])
            ehp_cpu_thread_hold(time_host_machine(), team->thread[i]);
    if (!last || !(all_go_on || mine.master))
        ehp_cpu_thread_let_go(time_host_machine(), time_host_self());
    if (last)
        team->arrived = 0;
    pthread_mutex_unlock(&team->lock);
}

static void sync_region_wait(int kind, int scope, union data *parallel, union data *task, const void *code)
{
    struct team *team = mine.team;
    (void)task, (void)code;
    if (!team || (scope == SCOPE_BEGIN && (!parallel || parallel->ptr != team)) || kind == REGION_TASKWAIT ||
        kind == REGION_TASKGROUP || !time_host_self() || time_host_self()->idle)
        return;
    const bool joins = kind == BARRIER_IMPLICIT_PARALLEL || kind == BARRIER_IMPLICIT,
               goes_on = !joins || mine.master;
    if (scope == SCOPE_BEGIN) {
        if (mine.waits)
            return; /* within another wait */
        arrive(team, !joins);
        mine.waits = goes_on;
        time_host_pause(goes_on); /* reductions are made meanwhile, in the order of the host's */
        if (joins && !mine.master)
            leave_team();
    } else if (scope == SCOPE_END && mine.waits) {
        mine.waits = false;
        time_host_pause(false);
        time_host_enter(team->barrier_ps[(mine.turn - 1) % 2]);
    }
}

/* The runtime's: whoever waits takes one, as the host's threads come to it. */
static void task_create(union data *task, const void *frame, union data *made, int flags, int depends,
                        const void *code)
{
    static _Atomic bool told;
    (void)task, (void)frame, (void)made, (void)depends, (void)code;
    if (flags & TASK_EXPLICIT && !(flags & TASK_UNDEFERRED) && mine.team && !atomic_exchange(&told, true))
        fputs("ehp: OpenMP tasks with detach clauses, or in regions that reduce over tasks, take no "
              "simulated time\n",
              stderr);
}

static int initialize(lookup_fn *lookup, int device, union data *data)
{
    set_callback_fn *set = (set_callback_fn *)lookup("ompt_set_callback");
    (void)device, (void)data;
    if (!set)
        return 0;
    set(EVENT_PARALLEL_BEGIN, (any_fn)parallel_begin);
    set(EVENT_PARALLEL_END, (any_fn)parallel_end);
    set(EVENT_TASK_CREATE, (any_fn)task_create);
    set(EVENT_IMPLICIT_TASK, (any_fn)implicit_task);
    set(EVENT_SYNC_REGION_WAIT, (any_fn)sync_region_wait);
    return 1;
}

static void finalize(union data *data)
{
    (void)data;
}

ENTRY struct tool *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct tool tool = {.initialize = initialize, .finalize = finalize};
    (void)version, (void)runtime;
    return &tool;
}
