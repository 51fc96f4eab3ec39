/* SPDX-License-Identifier: MIT */
/*
 * Tasks of OpenMP's in simulated time, in place of the runtime's: who makes one, takes one or has ended one
 * does so as threads come to the team's line, and who waits, for tasks or at a barrier, executes some.  A
 * thread takes its own newest one first, else the oldest of the next thread that has any, and where a task
 * waits for its children, only what descends from it (OpenMP API 5.2, 12.9: all tasks are tied here).  LLVM's
 * runtime has a queue with a lock for each thread; here a team has one line, and what is beside the lines
 * takes no time.
 *
 * Threads wait by looking again and again; here they are away, and see what happens a look later.  At a
 * barrier of a team in which nobody has made a task since the last one they do not look at all.
 *
 * The runtime's: tasks of threads without cores, of regions within regions, with detach clauses, of target
 * regions, and in regions that reduce over tasks (openmp_reduce.c).
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hip/host/openmp_tasks.h"
#include "hip/host/time_host.h"
#include "hip/host/waits.h"

#define CALLER __builtin_return_address(0)
#define LOOK_PS                                                                                              \
    UINT64_C(200000) /* guess: a line from core to core; longer than a window of simulated time              \
                      */

/* A thread that has nothing to do. */
struct idle {
    struct idle *next;
    struct ehp_cpu_thread *thread;
    const struct task *root; /* it takes what descends from that */
    const unsigned *count;   /* until it is 0; NULL: at a barrier */
    uint64_t ps;
    bool woken, over;
};

struct queue {
    struct task *first, *last;
};

struct tasks {
    pthread_mutex_t lock; /* never held while simulated time goes on */
    _Alignas(64) uint64_t line;
    unsigned size, joined, met; /* met: idle at a barrier */
    unsigned pending;           /* tasks that have not ended */
    uint64_t made_ps;           /* the first one since the last barrier; 0: none */
    struct idle *idle;          /* in the order in which they came */
    struct task root;           /* of all that are not a task's */
    struct own {
        struct queue queue;
        struct task *spare; /* of tasks that it has ended */
        struct task implicit;
    } of[]; /* by threads' numbers */
};

static __thread struct {
    struct tasks *team;
    struct task *current;
    unsigned number, nested;
} mine;

static void lock(struct tasks *t)
{
    REAL(pthread_mutex_lock)(&t->lock);
}

static void unlock(struct tasks *t)
{
    REAL(pthread_mutex_unlock)(&t->lock);
}

struct tasks *tasks_open(unsigned size)
{
    struct tasks *t = aligned_alloc(64, (sizeof(*t) + size * sizeof(t->of[0]) + 63) & ~(size_t)63);
    if (!t)
        abort();
    memset(t, 0, sizeof(*t) + size * sizeof(t->of[0]));
    pthread_mutex_init(&t->lock, NULL);
    t->size = size;
    return t;
}

void tasks_close(struct tasks *t)
{
    for (unsigned i = 0; t && i < t->size; i++)
        for (struct task *task = t->of[i].spare, *next; task; task = next) {
            next = task->next;
            free(task);
        }
    free(t);
}

void tasks_join(struct tasks *t, unsigned index)
{
    if (mine.team) {
        lock(mine.team);
        depend_forget(mine.current);
        unlock(mine.team);
    }
    mine.team = t;
    mine.nested = 0;
    mine.number = index;
    mine.current = t ? &t->of[index].implicit : NULL;
    if (!t)
        return;
    lock(t);
    t->joined++;
    t->of[index].implicit = (struct task){.parent = &t->root, .uses = 1};
    unlock(t);
}

void tasks_nest(bool begins)
{
    if (begins)
        mine.nested++;
    else if (mine.nested)
        mine.nested--;
}

bool tasks_ours(const void *caller)
{
    return mine.team && !mine.nested && openmp_ours() && time_host_on_core(caller);
}

struct group *tasks_group(void)
{
    return mine.current->group ? mine.current->group : mine.current->within;
}

unsigned tasks_number(void)
{
    return mine.number;
}

unsigned tasks_size(void)
{
    return mine.team->size;
}

/* ---- memory ---- */

static struct task *new_task(size_t bytes)
{
    struct task **link = &mine.team->of[mine.number].spare, *task;
    while (*link && ((*link)->bytes < bytes || (*link)->bytes > 2 * bytes))
        link = &(*link)->next;
    task = *link;
    if (task) {
        *link = task->next;
        bytes = task->bytes;
    } else {
        bytes = (bytes + 63) & ~(size_t)63;
        task = aligned_alloc(64, bytes);
    }
    if (!task)
        abort();
    *task = (struct task){.self = task, .bytes = bytes, .uses = 1};
    return task;
}

void task_unuse(struct task *task)
{
    while (task && --task->uses == 0 && task->self) {
        struct task *parent = task->parent, **spare = &mine.team->of[mine.number].spare;
        depend_forget(task);
        task->next = *spare;
        *spare = task;
        task = parent;
    }
}

/* ---- with the lock ---- */

static bool descends(const struct task *task, const struct task *root)
{
    while (task && task != root)
        task = task->parent;
    return task != NULL;
}

static void wake(struct tasks *t, struct idle **link, uint64_t ps, bool over)
{
    struct idle *w = *link;
    *link = w->next;
    w->ps = ps + LOOK_PS;
    w->over = over;
    w->woken = true;
    t->met -= w->count == NULL;
    ehp_cpu_thread_hold(time_host_machine(), w->thread);
}

static void wake_all(struct tasks *t, uint64_t ps, bool over)
{
    while (t->idle)
        wake(t, &t->idle, ps, over);
}

/* Who waits for that, which is now 0. */
static void wake_for(struct tasks *t, const unsigned *count, uint64_t ps)
{
    struct idle **link = &t->idle;
    while (*link && (*link)->count != count)
        link = &(*link)->next;
    if (*link)
        wake(t, link, ps, false);
}

static void put(struct tasks *t, struct task *task, uint64_t ps)
{
    struct queue *q = &t->of[mine.number].queue;
    task->next = NULL;
    task->previous = q->last;
    *(q->last ? &q->last->next : &q->first) = task;
    q->last = task;
    struct idle **link = &t->idle;
    if (!t->made_ps) { /* the first: they look from now on, those who come in this window as well */
        t->made_ps = ps;
        wake_all(t, ps, false);
        return;
    }
    while (*link && !descends(task, (*link)->root))
        link = &(*link)->next;
    if (*link)
        wake(t, link, ps, false);
}

static struct task *take_out(struct queue *q, struct task *task)
{
    *(task->previous ? &task->previous->next : &q->first) = task->next;
    *(task->next ? &task->next->previous : &q->last) = task->previous;
    return task;
}

static struct task *take(struct tasks *t, const struct task *root)
{
    struct queue *q = &t->of[mine.number].queue;
    for (struct task *task = q->last; task; task = task->previous)
        if (descends(task, root))
            return take_out(q, task);
    for (unsigned i = 1; i < t->size; i++) {
        q = &t->of[(mine.number + i) % t->size].queue;
        for (struct task *task = q->first; task; task = task->next)
            if (descends(task, root))
                return take_out(q, task);
    }
    return NULL;
}

/* The calling thread comes to the team's line, and has the lock; when that is. */
static uint64_t come(struct tasks *t)
{
    const uint64_t ps = time_host_touch(&t->line);
    lock(t);
    return ps;
}

static void begin(struct tasks *t, struct task *task)
{
    struct task *parent = mine.current;
    task->parent = parent;
    parent->uses++;
    parent->children++;
    task->within = tasks_group();
    if (task->within)
        task->within->count++;
    t->pending++;
}

static void end(struct tasks *t, struct task *task, uint64_t ps)
{
    task->ended = true;
    for (struct follower *f = task->followers, *next; f; f = next) {
        next = f->next;
        if (--f->task->missing == 0) {
            if (f->task->stands)
                wake_for(t, &f->task->missing, ps);
            else
                put(t, f->task, ps);
        }
        free(f);
    }
    task->followers = NULL;
    t->pending--;
    if (--task->parent->children == 0)
        wake_for(t, &task->parent->children, ps);
    if (task->within && --task->within->count == 0)
        wake_for(t, &task->within->count, ps);
    task_unuse(task);
}

/* ---- on a core ---- */

static int32_t runtime_number(void)
{
    int32_t __kmpc_global_thread_num(const void *where);
    return REAL(__kmpc_global_thread_num)(NULL);
}

static void run(struct tasks *t, struct task *task)
{
    struct task *outer = mine.current;
    mine.current = task;
    task->omp.routine(runtime_number(), &task->omp);
    if (!task->again && task->flags & TASK_DESTROYS)
        task->omp.first.destroy(runtime_number(), &task->omp);
    mine.current = outer;
    const uint64_t ps = come(t);
    if (task->again) {
        task->again = false;
        put(t, task, ps);
    } else {
        end(t, task, ps);
    }
    unlock(t);
}

/* With the lock, which is given up and taken again: away until it is woken; when it had left. */
static uint64_t sleep_as(struct tasks *t, struct idle *w)
{
    struct idle **last = &t->idle;
    w->thread = time_host_self();
    while (*last)
        last = &(*last)->next;
    *last = w;
    t->met += w->count == NULL;
    unlock(t);
    const uint64_t ps = time_host_leave();
    lock(t);
    while (!w->woken) {
        unlock(t);
        time_host_sleep(NEVER);
        lock(t);
    }
    return ps;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* It executes what descends from the current task until that is 0. */
static void work_until(struct tasks *t, const unsigned *count)
{
    for (;;) {
        come(t);
        struct task *task = *count ? take(t, mine.current) : NULL;
        if (!task && *count) {
            struct idle own = {.root = mine.current, .count = count};
            const uint64_t ps = sleep_as(t, &own);
            unlock(t);
            time_host_enter(later(own.ps, ps));
            continue;
        }
        unlock(t);
        if (!task)
            return;
        run(t, task);
    }
}

static uint64_t work_at_barrier(struct tasks *t)
{
    for (;;) {
        uint64_t ps = come(t);
        struct task *task = take(t, &t->root);
        if (task) {
            unlock(t);
            run(t, task);
            continue;
        }
        if (!t->pending && t->met + 1 == t->joined) {
            t->made_ps = 0;
            wake_all(t, ps, true);
            unlock(t);
            return later(time_host_leave(), ps + LOOK_PS);
        }
        struct idle own = {.root = &t->root};
        ps = sleep_as(t, &own);
        unlock(t);
        if (own.over)
            return later(own.ps, ps);
        time_host_enter(later(own.ps, ps));
    }
}

uint64_t tasks_meet(struct tasks *t)
{
    uint64_t ps = time_host_leave();
    lock(t);
    if (!t->made_ps && t->met + 1 == t->joined) {
        wake_all(t, ps, true);
        unlock(t);
        return ps;
    }
    struct idle own = {.root = &t->root};
    if (!t->made_ps)
        sleep_as(t, &own);
    const uint64_t seen_ps = own.over ? 0 : t->made_ps + LOOK_PS;
    unlock(t);
    if (own.over)
        return ps;
    time_host_enter(later(ps, seen_ps));
    return work_at_barrier(t);
}

/* ---- what the compiler calls ---- */

static struct task *task_of(struct omp_task *omp)
{
    struct task *task = (struct task *)((char *)omp - offsetof(struct task, omp));
    return mine.team && task->self == task ? task : NULL;
}

API(struct omp_task *, __kmpc_omp_task_alloc, const void *where, int32_t thread, int32_t flags, size_t bytes,
    size_t shared, int32_t (*routine)(int32_t, struct omp_task *))
{
    UNLESS(tasks_ours(CALLER) && !(flags & TASK_DETACHES), __kmpc_omp_task_alloc, where, thread, flags, bytes,
           shared, routine);
    const size_t own = (bytes + 15) & ~(size_t)15;
    struct task *task = new_task(offsetof(struct task, omp) + own + shared);
    task->flags = (unsigned)flags | (mine.current->flags & TASK_FINAL);
    task->omp.routine = routine;
    task->omp.shared = shared ? (char *)&task->omp + own : NULL;
    return &task->omp;
}

/* Where all are one after another, at once. */
static void submit(struct tasks *t, struct task *task, const struct depend *list, int32_t count,
                   const struct depend *more, int32_t more_count)
{
    const bool included = mine.current->flags & TASK_FINAL;
    const uint64_t ps = come(t);
    begin(t, task);
    depend_on(task, list, count);
    depend_on(task, more, more_count);
    if (!included && !task->missing)
        put(t, task, ps);
    task->stands = included;
    unlock(t);
    if (!included)
        return;
    if (task->missing)
        work_until(t, &task->missing);
    run(t, task);
}

API(int32_t, __kmpc_omp_task, const void *where, int32_t thread, struct omp_task *omp)
{
    struct task *task = task_of(omp);
    UNLESS(task, __kmpc_omp_task, where, thread, omp);
    if (task == mine.current)
        task->again = true;
    else
        submit(mine.team, task, NULL, 0, NULL, 0);
    return 0;
}

API(int32_t, __kmpc_omp_task_with_deps, const void *where, int32_t thread, struct omp_task *omp,
    int32_t count, struct depend *list, int32_t more_count, struct depend *more)
{
    struct task *task = task_of(omp);
    UNLESS(task, __kmpc_omp_task_with_deps, where, thread, omp, count, list, more_count, more);
    submit(mine.team, task, list, count, more, more_count);
    return 0;
}

/* With `if (false)`: who made it has its code follow. */
API(void, __kmpc_omp_task_begin_if0, const void *where, int32_t thread, struct omp_task *omp)
{
    struct task *task = task_of(omp);
    UNLESS(task, __kmpc_omp_task_begin_if0, where, thread, omp);
    come(mine.team);
    begin(mine.team, task);
    unlock(mine.team);
    mine.current = task;
}

API(void, __kmpc_omp_task_complete_if0, const void *where, int32_t thread, struct omp_task *omp)
{
    struct task *task = task_of(omp);
    UNLESS(task, __kmpc_omp_task_complete_if0, where, thread, omp);
    mine.current = task->parent;
    const uint64_t ps = come(mine.team);
    end(mine.team, task, ps);
    unlock(mine.team);
}

static void wait_for(const struct depend *list, int32_t count, const struct depend *more, int32_t more_count)
{
    struct task own = {.parent = mine.current, .uses = UINT32_MAX / 2, .stands = true, .ended = true};
    come(mine.team);
    depend_on(&own, list, count);
    depend_on(&own, more, more_count);
    unlock(mine.team);
    work_until(mine.team, &own.missing);
}

API(void, __kmpc_omp_wait_deps, const void *where, int32_t thread, int32_t count, struct depend *list,
    int32_t more_count, struct depend *more)
{
    UNLESS(tasks_ours(CALLER), __kmpc_omp_wait_deps, where, thread, count, list, more_count, more);
    wait_for(list, count, more, more_count);
}

API(void, __kmpc_omp_taskwait_deps_51, const void *where, int32_t thread, int32_t count, struct depend *list,
    int32_t more_count, struct depend *more, int32_t no_wait)
{
    UNLESS(tasks_ours(CALLER), __kmpc_omp_taskwait_deps_51, where, thread, count, list, more_count, more,
           no_wait);
    wait_for(list, count, more, more_count);
}

API(int32_t, __kmpc_omp_taskwait, const void *where, int32_t thread)
{
    UNLESS(tasks_ours(CALLER), __kmpc_omp_taskwait, where, thread);
    work_until(mine.team, &mine.current->children);
    return 0;
}

/* It may, and need not. */
API(int32_t, __kmpc_omp_taskyield, const void *where, int32_t thread, int end_part)
{
    UNLESS(tasks_ours(CALLER), __kmpc_omp_taskyield, where, thread, end_part);
    return 0;
}

static void begin_group(void)
{
    struct group *group = calloc(1, sizeof(*group));
    if (!group)
        abort();
    group->outer = mine.current->group;
    mine.current->group = group;
}

static void end_group(void)
{
    struct group *group = mine.current->group;
    work_until(mine.team, &group->count);
    reduce_end(group);
    mine.current->group = group->outer;
    free(group);
}

API(void, __kmpc_taskgroup, const void *where, int32_t thread)
{
    UNLESS(tasks_ours(CALLER), __kmpc_taskgroup, where, thread);
    begin_group();
}

API(void, __kmpc_end_taskgroup, const void *where, int32_t thread)
{
    UNLESS(tasks_ours(CALLER), __kmpc_end_taskgroup, where, thread);
    end_group();
}

/* ---- loops ---- */

typedef void copy_fn(struct omp_task *to, struct omp_task *from, int32_t last);
enum { GIVEN_NONE, GIVEN_ITERATIONS, GIVEN_TASKS };

static struct task *copy_of(const struct task *from, copy_fn *copy, bool last)
{
    struct task *task = new_task(from->bytes);
    const size_t bytes = from->bytes - offsetof(struct task, omp);
    memcpy(&task->omp, &from->omp, bytes);
    task->flags = from->flags;
    if (from->omp.shared)
        task->omp.shared = (char *)&task->omp + ((char *)from->omp.shared - (char *)&from->omp);
    if (copy)
        copy(&task->omp, (struct omp_task *)&from->omp, last);
    return task;
}

/* As evenly as it goes; `strict`: all but the last have just as many as are asked for. */
static void loop(struct tasks *t, struct task *task, bool at_once, const uint64_t *lower,
                 const uint64_t *upper, int64_t step, int given, uint64_t size, bool strict, copy_fn *copy)
{
    enum { EACH = 10 }; /* tasks a thread, as LLVM's runtime */
    const size_t lower_at = (size_t)((const char *)lower - (const char *)&task->omp),
                 upper_at = (size_t)((const char *)upper - (const char *)&task->omp);
    const uint64_t first = *lower,
                   trips =
                       step > 0
                           ? ((int64_t)*upper < (int64_t)first ? 0 : (*upper - first) / (uint64_t)step + 1)
                       : (int64_t)first < (int64_t)*upper ? 0
                                                          : (first - *upper) / (uint64_t)-step + 1;
    uint64_t tasks = given == GIVEN_NONE         ? (uint64_t)t->size * EACH
                     : given == GIVEN_ITERATIONS ? (strict ? (trips + size - 1) / size : trips / size)
                                                 : size;
    tasks = tasks > trips ? trips : tasks ? tasks : 1;
    for (uint64_t i = 0, at = 0; trips && i < tasks; i++) {
        uint64_t count = trips / tasks + (i < trips % tasks);
        if (strict && given == GIVEN_ITERATIONS)
            count = trips - at < size ? trips - at : size;
        struct task *piece = copy_of(task, copy, i + 1 == tasks);
        *(uint64_t *)((char *)&piece->omp + lower_at) = first + at * (uint64_t)step;
        *(uint64_t *)((char *)&piece->omp + upper_at) = first + (at + count - 1) * (uint64_t)step;
        at += count;
        if (at_once) {
            come(t);
            begin(t, piece);
            unlock(t);
            run(t, piece);
        } else {
            submit(t, piece, NULL, 0, NULL, 0);
        }
    }
    lock(t);
    if (task->flags & TASK_DESTROYS)
        task->omp.first.destroy(runtime_number(), &task->omp);
    task->parent = NULL;
    task_unuse(task);
    unlock(t);
}

static void taskloop(struct task *task, int32_t at_once, const uint64_t *lower, const uint64_t *upper,
                     int64_t step, int32_t no_group, int32_t given, uint64_t size, int32_t strict,
                     copy_fn *copy)
{
    if (!no_group)
        begin_group();
    loop(mine.team, task, at_once, lower, upper, step, given, size, strict, copy);
    if (!no_group)
        end_group();
}

API(void, __kmpc_taskloop, const void *where, int32_t thread, struct omp_task *omp, int32_t deferred,
    uint64_t *lower, uint64_t *upper, int64_t step, int32_t no_group, int32_t given, uint64_t size,
    copy_fn *copy)
{
    struct task *task = task_of(omp);
    UNLESS(task, __kmpc_taskloop, where, thread, omp, deferred, lower, upper, step, no_group, given, size,
           copy);
    taskloop(task, !deferred, lower, upper, step, no_group, given, size, 0, copy);
}

API(void, __kmpc_taskloop_5, const void *where, int32_t thread, struct omp_task *omp, int32_t deferred,
    uint64_t *lower, uint64_t *upper, int64_t step, int32_t no_group, int32_t given, uint64_t size,
    int32_t strict, copy_fn *copy)
{
    struct task *task = task_of(omp);
    UNLESS(task, __kmpc_taskloop_5, where, thread, omp, deferred, lower, upper, step, no_group, given, size,
           strict, copy);
    taskloop(task, !deferred, lower, upper, step, no_group, given, size, strict, copy);
}
