/* SPDX-License-Identifier: MIT */
/* Where the host program's pages lie, as it asks for it. */
#include <fcntl.h>
#include <unistd.h>

#include "api/api.h"
#include "ccd/thread.h"

static struct numa *numa_of(struct ehp_machine *m)
{
    return &m->memory.numa;
}

/* A thread's own, or that of host code whose time is not simulated. */
static struct numa_asker *asker_of(struct ehp_machine *m, struct ehp_cpu_thread *thread)
{
    if (!thread)
        return &numa_of(m)->program;
    struct numa_asker *asker = &((struct cpu_thread *)thread)->program.asker;
    asker->package = (unsigned)ehp_cpu_thread_cpu(m, thread) / (ehp_cpu_count(m) / m->node.packages);
    return asker;
}

int ehp_numa_set(ehp_machine *m, struct ehp_cpu_thread *thread, unsigned package,
                 const struct ehp_numa_policy *policy)
{
    if (package >= m->node.packages)
        return machine_error(m, EHP_ERR_INVALID, "no package %u; the machine has %u", package,
                             m->node.packages);
    engine_arrive(m->cp.engine);
    struct numa_asker *asker = asker_of(m, thread);
    asker->policy = *policy;
    if (!thread)
        asker->package = package;
    return EHP_OK;
}

int ehp_numa_bind(ehp_machine *m, const void *base, uint64_t bytes, const struct ehp_numa_policy *policy)
{
    const uint64_t first = (uint64_t)(uintptr_t)base;
    if ((first | bytes) % HEAP_PAGE || first + bytes < first)
        return machine_error(m, EHP_ERR_INVALID, "%p, %llu bytes: not whole pages", base,
                             (unsigned long long)bytes);
    engine_arrive(m->cp.engine);
    return bytes ? numa_bind(numa_of(m), first, bytes, policy) : EHP_OK;
}

int ehp_numa_policy_of(ehp_machine *m, const void *address, struct ehp_numa_policy *policy)
{
    return numa_policy_of(numa_of(m), (uint64_t)(uintptr_t)address, policy) ? EHP_OK : EHP_ERR_NOT_FOUND;
}

/* Linux, Documentation/admin-guide/mm/pagemap.rst: there, or swapped out.  What the kernel does not tell is
 * taken to be there. */
static bool is_present(uint64_t page)
{
    uint64_t entry = 0;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const bool told = fd >= 0 && pread(fd, &entry, sizeof(entry),
                                       (off_t)(page / HEAP_PAGE * sizeof(entry))) == (ssize_t)sizeof(entry);
    if (fd >= 0)
        close(fd);
    return !told || entry >> 62;
}

/* Memory that has its pages from the beginning. */
static bool is_upfront(struct ehp_machine *m, uint64_t page, unsigned *package)
{
    struct memory_block block;
    bool inside;
    if (!memory_find(&m->memory, page, &block, &inside) || !inside || block.on_demand)
        return false;
    if (block.kind != EHP_MEM_REGISTERED)
        *package = memory_package(&m->memory, block.agent);
    return block.kind != EHP_MEM_REGISTERED || numa_find(numa_of(m), page, NULL, package);
}

int ehp_numa_find(ehp_machine *m, struct ehp_cpu_thread *thread, const void *address, unsigned *package)
{
    const uint64_t page = (uint64_t)(uintptr_t)address & ~(uint64_t)(HEAP_PAGE - 1);
    engine_arrive(m->cp.engine);
    if (is_upfront(m, page, package))
        return EHP_OK;
    if (!is_present(page)) {
        numa_gone(numa_of(m), page); /* what was there */
        return EHP_ERR_NOT_FOUND;
    }
    return numa_find(numa_of(m), page, asker_of(m, thread), package) ? EHP_OK : EHP_ERR_NO_MEMORY;
}

struct moving {
    struct ehp_machine *m;
    uint64_t page;
    unsigned package;
    bool idle, moved;
};

/* No kernel and no copy is at work; one that begins later looks pages up itself. */
static bool is_idle(struct cp *cp)
{
    pthread_mutex_lock(&cp->lock);
    bool idle = !cp->active;
    for (const struct cp_queue *q = cp->queues; q; q = q->next)
        idle = idle && !q->in_flight;
    pthread_mutex_unlock(&cp->lock);
    return idle;
}

static void move(void *context)
{
    struct moving *v = context;
    v->moved = numa_move(numa_of(v->m), v->page, v->package, v->idle);
}

int ehp_numa_move(ehp_machine *m, const void *address, unsigned package)
{
    struct moving v = {m, (uint64_t)(uintptr_t)address & ~(uint64_t)(HEAP_PAGE - 1), package, is_idle(&m->cp),
                       false};
    unsigned now;
    if (package >= m->node.packages)
        return machine_error(m, EHP_ERR_INVALID, "no package %u; the machine has %u", package,
                             m->node.packages);
    if (is_upfront(m, v.page, &now))
        return now == package ? EHP_OK : machine_error(m, EHP_ERR_UNSUPPORTED, "%p is pinned", address);
    int status = ehp_numa_find(m, NULL, address, &now);
    if (status != EHP_OK || now == package)
        return status;
    m->cp.engine->ops->still(m->cp.engine, move, &v);
    return v.moved ? EHP_OK : machine_error(m, EHP_ERR_OUT_OF_RESOURCES, "%p cannot be moved now", address);
}

int ehp_numa_info(ehp_machine *m, unsigned package, uint64_t *free_bytes, uint64_t *total_bytes)
{
    if (package >= m->node.packages)
        return machine_error(m, EHP_ERR_INVALID, "no package %u; the machine has %u", package,
                             m->node.packages);
    engine_arrive(m->cp.engine);
    *total_bytes = m->memory.size;
    *free_bytes = m->memory.size - memory_reserved(&m->memory, package);
    return EHP_OK;
}
