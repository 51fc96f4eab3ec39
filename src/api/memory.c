/* SPDX-License-Identifier: MIT */
/* Memory that programs allocate, register and ask about. */
#include <stdio.h>
#include <string.h>

#include "alloc/site.h"
#include "api/api.h"
#include "ccd/ccd.h"

static void spend(struct ehp_machine *m, uint64_t ns)
{
    if (ns)
        m->cp.engine->ops->spend(m->cp.engine, ns * 1000);
}

int ehp_mem_alloc(ehp_machine *m, unsigned agent, int kind, uint64_t bytes, uint64_t align, void **out)
{
    if (agent >= m->agents)
        return machine_error(m, EHP_ERR_INVALID, "no agent %u; the machine has %u", agent, m->agents);
    int status;
    engine_arrive(m->cp.engine);
    *out = memory_alloc(&m->memory, agent, kind, bytes, align, &status);
    if (status == EHP_ERR_OUT_OF_RESOURCES) {
        char why[256];
        heap_explain(why, sizeof(why));
        return machine_error(m, EHP_ERR_NO_MEMORY, "%llu bytes: %s", (unsigned long long)bytes, why);
    }
    const unsigned place = memory_place(&m->memory, agent, kind);
    if (status == EHP_ERR_NO_MEMORY && place == m->node.packages)
        return machine_error(m, status, "%llu bytes do not fit into the host's %llu, of which %llu are taken",
                             (unsigned long long)bytes, (unsigned long long)m->memory.host_size,
                             (unsigned long long)memory_reserved(&m->memory, place));
    if (status == EHP_ERR_NO_MEMORY && kind == EHP_MEM_DEVICE && m->nps > 1)
        return machine_error(
            m, status, "%llu bytes do not fit into the %llu of NUMA domain %u, of which %llu are taken",
            (unsigned long long)bytes, (unsigned long long)(m->memory.size / m->nps),
            memory_domain(&m->memory, agent), (unsigned long long)memory_device(&m->memory, agent));
    if (status == EHP_ERR_NO_MEMORY && m->node.packages > 1) {
        const unsigned package = memory_package(&m->memory, agent);
        return machine_error(m, status,
                             "%llu bytes do not fit into the %llu of package %u, of which %llu are taken",
                             (unsigned long long)bytes, (unsigned long long)m->memory.size, package,
                             (unsigned long long)memory_reserved(&m->memory, package));
    }
    if (status == EHP_ERR_NO_MEMORY) {
        const uint64_t *use = m->memory.upfront;
        return machine_error(m, status,
                             "%llu bytes do not fit into %llu: device memory has %llu, host %llu, managed "
                             "%llu, registered %llu, scratch and the runtime %llu",
                             (unsigned long long)bytes, (unsigned long long)m->memory.size,
                             (unsigned long long)memory_device(&m->memory, agent),
                             (unsigned long long)use[EHP_MEM_HOST], (unsigned long long)use[EHP_MEM_MANAGED],
                             (unsigned long long)use[EHP_MEM_REGISTERED],
                             (unsigned long long)use[EHP_MEM_INTERNAL]);
    }
    if (status == EHP_OK)
        spend(m, ccd_alloc_ns(&m->chip, kind, bytes, m->memory.xnack));
    return status == EHP_OK ? EHP_OK
                            : machine_error(m, status, "%llu bytes aligned to %llu",
                                            (unsigned long long)bytes, (unsigned long long)align);
}

int ehp_mem_free(ehp_machine *m, void *base)
{
    struct memory_block block;
    engine_arrive(m->cp.engine);
    bool inside, found = memory_find(&m->memory, (uint64_t)(uintptr_t)base, &block, &inside);
    int status = memory_free(&m->memory, base);
    if (status == EHP_OK && found)
        spend(m, ccd_free_ns(&m->chip, block.kind, block.bytes, block.on_demand));
    return status == EHP_OK ? EHP_OK : machine_error(m, status, "%p is not the start of an allocation", base);
}

static int registered(ehp_machine *m, const void *base, int status)
{
    return status == EHP_OK ? EHP_OK
                            : machine_error(m, status, "%p overlaps memory that is known already", base);
}

int ehp_mem_register(ehp_machine *m, void *base, uint64_t bytes)
{
    engine_arrive(m->cp.engine);
    return registered(m, base, memory_register(&m->memory, base, bytes, false));
}

int ehp_mem_register_uncached(ehp_machine *m, void *base, uint64_t bytes)
{
    engine_arrive(m->cp.engine);
    return registered(m, base, memory_register(&m->memory, base, bytes, true));
}

int ehp_mem_register_device(ehp_machine *m, unsigned agent, void *base, uint64_t bytes)
{
    engine_arrive(m->cp.engine);
    return registered(m, base, memory_register_device(&m->memory, agent, base, bytes));
}

int ehp_mem_unregister(ehp_machine *m, void *base)
{
    engine_arrive(m->cp.engine);
    int status = memory_unregister(&m->memory, base);
    return status == EHP_OK ? EHP_OK : machine_error(m, status, "%p is not registered", base);
}

int ehp_mem_set_user(ehp_machine *m, void *base, uint64_t user)
{
    return memory_set_user(&m->memory, base, user)
               ? EHP_OK
               : machine_error(m, EHP_ERR_NOT_FOUND, "no allocation at %p", base);
}

int ehp_mem_set_site(ehp_machine *m, void *base, int event, void *const *returns, unsigned count)
{
    struct memory_site site = {0};
    for (unsigned i = 0; i < count && i < MEMORY_SITES; i++)
        site.address[i] = (uint64_t)(uintptr_t)returns[i];
    enum memory_event which = event == EHP_MEM_FREED ? MEMORY_FREED : MEMORY_ALLOCATED;
    return memory_set_site(&m->memory, base, which, &site)
               ? EHP_OK
               : machine_error(m, EHP_ERR_NOT_FOUND, "no allocation at %p", base);
}

int ehp_mem_history(ehp_machine *m, const void *address, char *text, size_t bytes)
{
    struct memory_block block;
    bool inside;
    uint64_t at = (uint64_t)(uintptr_t)address;
    const bool found = memory_find(&m->memory, at, &block, &inside) && inside;
    if (!found && !memory_find_freed(&m->memory, at, &block))
        return machine_error(m, EHP_ERR_NOT_FOUND, "%p was never in an allocation, or long ago", address);
    site_print_block(&block, !found || block.freed.address[0], text, bytes);
    return EHP_OK;
}

int ehp_mem_query(ehp_machine *m, const void *address, struct ehp_allocation *out)
{
    struct memory_block block;
    bool inside;
    if (!memory_find(&m->memory, (uint64_t)(uintptr_t)address, &block, &inside) || !inside)
        return EHP_ERR_NOT_FOUND;
    struct ehp_allocation a = {
        .size = out->size < sizeof(a) ? out->size : sizeof(a),
        .base = (void *)(uintptr_t)block.base,
        .bytes = block.bytes,
        .kind = block.kind,
        .agent = block.agent,
        .serial = block.serial,
        .user = block.user,
    };
    memcpy(out, &a, a.size);
    return EHP_OK;
}

bool ehp_mem_pageable(ehp_machine *m, const void *address)
{
    const struct memory *memory = &m->memory;
    return memory->xnack && !ehp_mem_reserved(m, address);
}

bool ehp_mem_reserved(ehp_machine *m, const void *address)
{
    return (uint64_t)(uintptr_t)address - m->memory.arena < m->memory.arena_bytes;
}

int ehp_mem_info(ehp_machine *m, unsigned agent, uint64_t *free_bytes, uint64_t *total_bytes)
{
    if (agent >= m->agents)
        return machine_error(m, EHP_ERR_INVALID, "no agent %u; the machine has %u", agent, m->agents);
    uint64_t total = m->memory.size / m->nps, used = memory_device(&m->memory, agent);
    if (total_bytes)
        *total_bytes = total;
    if (free_bytes)
        *free_bytes = used < total ? total - used : 0;
    return EHP_OK;
}

int ehp_mem_use(ehp_machine *m, struct ehp_mem_use *out)
{
    uint64_t resident = machine_resident_bytes(), managed, ours = memory_resident(&m->memory, &managed);
    struct ehp_mem_use u = {
        .size = out->size < sizeof(u) ? out->size : sizeof(u),
        .total = m->memory.size * m->node.packages,
        .managed = managed,
        .process = resident > ours + m->own_bytes ? resident - ours - m->own_bytes : 0,
    };
    pthread_mutex_lock(&m->memory.lock);
    memcpy(u.upfront, m->memory.upfront, sizeof(u.upfront));
    pthread_mutex_unlock(&m->memory.lock);
    memcpy(out, &u, u.size);
    return EHP_OK;
}
