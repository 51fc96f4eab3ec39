/* SPDX-License-Identifier: MIT */
/* The host program's time, and what it says of itself. */
#include <string.h>

#include "api/api.h"
#include "ccd/thread.h"
#include "jit/jit.h"

uint64_t ehp_timestamp(ehp_machine *m)
{
    struct engine *engine = m->cp.engine;
    return engine->ops->program_ps(engine) / 1000 * chip_get(&m->chip, CHIP_chip_timestamp_clock) / 1000;
}

int ehp_cpu_run(ehp_machine *m, struct ehp_cpu_work *work)
{
    unsigned dies = chip_get(&m->chip, CHIP_ccd_count), each = chip_get(&m->chip, CHIP_ccd_cores),
             cores = dies * each;
    struct ehp_cpu_work whole = {0};
    if (!m->timing)
        return machine_error(m, EHP_ERR_UNSUPPORTED, "CPU cores take time in timing mode only");
    if (!cores)
        return machine_error(m, EHP_ERR_UNSUPPORTED, "%s has no CPU cores in its package", m->chip.name);
    if (work->size < offsetof(struct ehp_cpu_work, written))
        return machine_error(m, EHP_ERR_INVALID, "struct ehp_cpu_work: size is %zu", work->size);
    if (!work->cores || work->cores > cores || work->ranges > 3 ||
        (!work->ranges && (!work->instructions || work->operation >= EHP_CPU_CHASE)))
        return machine_error(m, EHP_ERR_INVALID,
                             "%u cores on %u ranges: the package has %u cores, for up to 3", work->cores,
                             work->ranges, cores);
    memcpy(&whole, work, work->size < sizeof(whole) ? work->size : sizeof(whole));
    if (whole.dies > dies || (whole.dies && work->cores > whole.dies * each))
        return machine_error(m, EHP_ERR_INVALID, "%u cores on %u CCDs: the package has %u, of %u cores each",
                             work->cores, whole.dies, dies, each);
    if (whole.package >= m->node.packages)
        return machine_error(m, EHP_ERR_INVALID, "no package %u; the machine has %u", whole.package,
                             m->node.packages);
    struct engine *engine = m->cp.engine;
    engine->ops->run_cores(engine, &whole);
    work->ns = whole.ns;
    work->faults = whole.faults;
    return EHP_OK;
}

int ehp_host_forks(ehp_machine *m)
{
    if (m->jit)
        jit_pause(m->jit);
    return EHP_OK;
}

int ehp_host_forked(ehp_machine *m)
{
    if (m->jit)
        jit_go_on(m->jit);
    m->cp.engine->ops->forked(m->cp.engine);
    return EHP_OK;
}

int ehp_host_unmapped(ehp_machine *m, const void *base, uint64_t bytes)
{
    const struct engine_ops *ops = m->cp.engine->ops;
    if (ops->unmapped)
        ops->unmapped(m->cp.engine, (uint64_t)(uintptr_t)base, bytes);
    numa_unmapped(&m->memory.numa, (uint64_t)(uintptr_t)base, bytes);
    return EHP_OK;
}

int ehp_host_moved(ehp_machine *m, const void *from, const void *to, uint64_t bytes)
{
    const struct engine_ops *ops = m->cp.engine->ops;
    if (ops->moved)
        ops->moved(m->cp.engine, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)to, bytes);
    return EHP_OK;
}

int ehp_host_spend(ehp_machine *m, uint64_t ns)
{
    if (ns)
        m->cp.engine->ops->spend(m->cp.engine, ns * 1000);
    return EHP_OK;
}

uint64_t ehp_host_ps(ehp_machine *m)
{
    return m->cp.engine->ops->program_ps(m->cp.engine);
}

int ehp_host_reach(ehp_machine *m, uint64_t ps)
{
    const struct engine_ops *ops = m->cp.engine->ops;
    const uint64_t now = ops->program_ps(m->cp.engine);
    if (ps > now)
        ops->spend(m->cp.engine, ps - now);
    return EHP_OK;
}

int ehp_host_outside(ehp_machine *m, bool on)
{
    if (m->cp.engine->ops->outside)
        m->cp.engine->ops->outside(m->cp.engine, on);
    return EHP_OK;
}

/* It reads the signal's value from memory. */
int ehp_host_query(ehp_machine *m)
{
    m->cp.engine->ops->spend(m->cp.engine, (uint64_t)(m->chip.value[CHIP_core_query] * 1e3));
    return EHP_OK;
}

struct ehp_cpu_thread *ehp_cpu_thread_open(ehp_machine *m, int core)
{
    const struct engine_ops *ops = m->cp.engine->ops;
    return ops->open_thread ? ops->open_thread(m->cp.engine, core, NULL) : NULL;
}

struct ehp_cpu_thread *ehp_cpu_thread_open_among(ehp_machine *m, const struct ehp_cpu_set *set)
{
    const struct engine_ops *ops = m->cp.engine->ops;
    return ops->open_thread ? ops->open_thread(m->cp.engine, -1, set) : NULL;
}

unsigned ehp_cpu_count(const ehp_machine *m)
{
    return m->cp.engine->ops->open_thread
               ? m->node.packages * chip_get(&m->chip, CHIP_ccd_count) * chip_get(&m->chip, CHIP_ccd_cores)
               : 0;
}

int ehp_cpu_thread_cpu(const ehp_machine *m, const struct ehp_cpu_thread *thread)
{
    return m->cp.engine->ops->thread_cpu(m->cp.engine, thread);
}

void ehp_cpu_thread_close(ehp_machine *m, struct ehp_cpu_thread *thread)
{
    m->cp.engine->ops->close_thread(m->cp.engine, thread);
}

uint64_t ehp_cpu_thread_leave(ehp_machine *m, struct ehp_cpu_thread *thread)
{
    return m->cp.engine->ops->leave_thread(m->cp.engine, thread);
}

void ehp_cpu_arrive(ehp_machine *m)
{
    engine_arrive(m->cp.engine);
}

void ehp_cpu_thread_enter(ehp_machine *m, struct ehp_cpu_thread *thread, uint64_t ps)
{
    m->cp.engine->ops->enter_thread(m->cp.engine, thread, ps);
}

void ehp_cpu_thread_let_go(ehp_machine *m, struct ehp_cpu_thread *thread)
{
    m->cp.engine->ops->let_go(m->cp.engine, thread);
}

void ehp_cpu_thread_hold(ehp_machine *m, struct ehp_cpu_thread *thread)
{
    m->cp.engine->ops->hold(m->cp.engine, thread);
}

bool ehp_cpu_thread_sleep(ehp_machine *m, struct ehp_cpu_thread *thread, uint64_t until_ps)
{
    return m->cp.engine->ops->sleep(m->cp.engine, thread, until_ps);
}

void ehp_cpu_thread_own(ehp_machine *m, struct ehp_cpu_thread *thread)
{
    m->cp.engine->ops->own_thread(m->cp.engine, thread);
}

void ehp_cpu_thread_wait(struct ehp_cpu_thread *thread)
{
    cpu_thread_wait(thread);
}

void ehp_cpu_thread_wait_read(struct ehp_cpu_thread *thread, uint64_t words)
{
    cpu_thread_wait_read(thread, words);
}

int ehp_part_get(ehp_machine *m, unsigned part, struct ehp_part *out)
{
    struct engine *engine = m->cp.engine;
    struct ehp_part whole = {.size = sizeof(whole)};
    if (!engine->ops->read_part || !engine->ops->read_part(engine, part, &whole))
        return EHP_ERR_NOT_FOUND;
    const size_t size = out->size < sizeof(whole) ? out->size : sizeof(whole);
    whole.size = out->size;
    memcpy(out, &whole, size);
    return EHP_OK;
}

int ehp_core_get(ehp_machine *m, unsigned core, struct ehp_core *out)
{
    struct engine *engine = m->cp.engine;
    struct ehp_core whole = {.size = sizeof(whole)};
    if (!engine->ops->read_core || !engine->ops->read_core(engine, core, &whole))
        return EHP_ERR_NOT_FOUND;
    size_t size = out->size < sizeof(whole) ? out->size : sizeof(whole);
    whole.size = out->size;
    memcpy(out, &whole, size);
    return EHP_OK;
}
