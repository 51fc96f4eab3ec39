/* SPDX-License-Identifier: MIT */
/*
 * What tasks of OpenMP's add up: each thread has its own of it, and when all of a group's tasks have ended,
 * these are added to the program's in the order of threads.  Where a region's threads themselves take part
 * (`reduction(task, ...)`), the runtime has all of it, tasks included.
 *
 * Source: LLVM 19, openmp/runtime/src/kmp_tasking.cpp, what the functions are given and return.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hip/host/openmp_tasks.h"
#include "hip/host/time_host.h"

#define CALLER __builtin_return_address(0)

struct reduction { /* kmp_taskred_input_t, and what follows is ours */
    void *shared, *original;
    size_t bytes;
    void (*initialize)(void *own, void *original);
    void (*destroy)(void *own);
    void (*combine)(void *to, void *from);
    uint32_t flags;
};
static_assert(sizeof(struct reduction) == 56, "kmp_taskred_input_t");

enum { LINE = 64 };

/* Each thread's, or NULL if it has none yet. */
static void **own_of(struct group *group)
{
    return (void **)(group->reduction + group->reductions);
}

API(void *, __kmpc_taskred_init, int32_t thread, int32_t count, struct reduction *list)
{
    UNLESS(tasks_ours(CALLER), __kmpc_taskred_init, thread, count, list);
    struct group *group = tasks_group();
    const size_t bytes = (size_t)count * sizeof(*list);
    group->reductions = (unsigned)count;
    group->reduction = calloc(1, bytes + (size_t)count * tasks_size() * sizeof(void *));
    if (!group->reduction)
        abort();
    memcpy(group->reduction, list, bytes);
    return group;
}

static void *make_own(const struct reduction *r)
{
    void *own = aligned_alloc(LINE, (r->bytes + LINE - 1) & ~(size_t)(LINE - 1));
    if (!own)
        abort();
    memset(own, 0, r->bytes);
    if (r->initialize)
        r->initialize(own, r->original ? r->original : r->shared);
    return own;
}

/* The program's, or what a task was told that is another thread's. */
static bool is_of(const struct reduction *r, void *const *own, const void *data)
{
    bool found = data == r->shared;
    for (unsigned i = 0; !found && i < tasks_size(); i++)
        found = own[i] && (const char *)data >= (const char *)own[i] &&
                (const char *)data < (const char *)own[i] + r->bytes;
    return found;
}

API(void *, __kmpc_task_reduction_get_th_data, int32_t thread, void *of, void *data)
{
    UNLESS(tasks_ours(CALLER), __kmpc_task_reduction_get_th_data, thread, of, data);
    for (struct group *group = of ? of : tasks_group(); group; group = group->outer)
        for (unsigned i = 0; i < group->reductions; i++) {
            void **own = own_of(group) + (size_t)i * tasks_size();
            if (!is_of(&group->reduction[i], own, data))
                continue;
            if (!own[tasks_number()])
                own[tasks_number()] = make_own(&group->reduction[i]);
            return own[tasks_number()];
        }
    abort(); /* the compiler has said that there is one */
}

void reduce_end(struct group *group)
{
    for (unsigned i = 0; i < group->reductions; i++)
        for (unsigned k = 0; k < tasks_size(); k++) {
            const struct reduction *r = &group->reduction[i];
            void *own = own_of(group)[(size_t)i * tasks_size() + k];
            if (!own)
                continue;
            r->combine(r->shared, own);
            if (r->destroy)
                r->destroy(own);
            free(own);
        }
    free(group->reduction);
}

API(void *, __kmpc_taskred_modifier_init, const void *where, int32_t thread, int is_loop, int count,
    void *list)
{
    tasks_nest(true);
    return REAL(__kmpc_taskred_modifier_init)(where, thread, is_loop, count, list);
}

API(void, __kmpc_task_reduction_modifier_fini, const void *where, int32_t thread, int is_loop)
{
    REAL(__kmpc_task_reduction_modifier_fini)(where, thread, is_loop);
    tasks_nest(false);
}
