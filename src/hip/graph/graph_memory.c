/* SPDX-License-Identifier: MIT */
/*
 * The memory of graphs.  An allocation node's memory has its address from the
 * day the node is made.  It is in use from the launch of that node until
 * somebody frees it - a node of this graph or another, or hipFree() - and it
 * stays when it is still in use and all graphs that know it are gone.
 */
#include <stdlib.h>
#include <string.h>

#include "hip/graph/graph_node.h"
#include "hip/memory/memory.h"
#include "hip/stream/stream.h"

struct graph_memory {
    _Atomic unsigned refs; /* nodes, and one while it is in use */
    struct hip_device *device;
    void *address;
    uint64_t id; /* of the allocation: hipDeviceReset() may have taken it */
    size_t bytes;
    bool used, backed; /* guarded by the device's lock; backed: launched since the last trim */
    struct graph_memory *next;
};

static void memory_unlink(struct graph_memory *memory)
{
    struct hip_device *device = memory->device;

    pthread_mutex_lock(&device->lock);
    for (struct graph_memory **link = &device->graphs.first; *link; link = &(*link)->next)
        if (*link == memory) {
            *link = memory->next;
            break;
        }
    if (memory->backed)
        device->graphs.reserved -= memory->bytes;
    pthread_mutex_unlock(&device->lock);
}

void graph_memory_unref(struct graph_memory *memory)
{
    if (!memory || atomic_fetch_sub(&memory->refs, 1) != 1)
        return;
    memory_unlink(memory);
    struct hip_memory *found = hip_memory_find(memory->address, NULL);
    if (found && found->id == memory->id && hip_wait_users(memory->device) == hipSuccess)
        hip_memory_release(memory->address);
    free(memory);
}

struct graph_memory *graph_memory_ref(struct graph_memory *memory)
{
    atomic_fetch_add(&memory->refs, 1);
    return memory;
}

hipError_t graph_memory_new(struct hip_device *device, size_t bytes, struct graph_memory **out)
{
    struct graph_memory *memory = calloc(1, sizeof *memory);

    if (!memory)
        return hipErrorOutOfMemory;
    hipError_t error = hip_memory_alloc(device, EHP_MEM_DEVICE, bytes, 0, 0, &memory->address);
    if (error != hipSuccess) {
        free(memory);
        return error;
    }
    struct hip_memory *found = hip_memory_find(memory->address, NULL);
    found->graph = memory;
    memory->device = device;
    memory->id = found->id;
    memory->bytes = (bytes + 4095) & ~(size_t)4095;
    atomic_store(&memory->refs, 1);
    pthread_mutex_lock(&device->lock);
    memory->next = device->graphs.first;
    device->graphs.first = memory;
    pthread_mutex_unlock(&device->lock);
    *out = memory;
    return hipSuccess;
}

void *graph_memory_address(const struct graph_memory *memory)
{
    return memory->address;
}

bool graph_memory_used(const struct graph_memory *memory)
{
    pthread_mutex_lock(&memory->device->lock);
    bool used = memory->used;
    pthread_mutex_unlock(&memory->device->lock);
    return used;
}

void graph_memory_use(struct graph_memory *memory)
{
    struct hip_graph_memory *all = &memory->device->graphs;

    pthread_mutex_lock(&memory->device->lock);
    if (!memory->used) {
        memory->used = true;
        atomic_fetch_add(&memory->refs, 1);
        all->used += memory->bytes;
        all->used_high = all->used > all->used_high ? all->used : all->used_high;
    }
    if (!memory->backed) {
        memory->backed = true;
        all->reserved += memory->bytes;
        all->reserved_high = all->reserved > all->reserved_high ? all->reserved : all->reserved_high;
    }
    pthread_mutex_unlock(&memory->device->lock);
}

bool hip_graph_memory_free(struct graph_memory *memory)
{
    pthread_mutex_lock(&memory->device->lock);
    bool used = memory->used;
    memory->used = false;
    if (used)
        memory->device->graphs.used -= memory->bytes;
    pthread_mutex_unlock(&memory->device->lock);
    if (used)
        graph_memory_unref(memory);
    return used;
}

/* ---- entry points -------------------------------------------------------------------------------------- */

static uint64_t *memory_attribute(struct hip_device *device, hipGraphMemAttributeType attr)
{
    switch (attr) {
    case hipGraphMemAttrUsedMemCurrent:
        return &device->graphs.used;
    case hipGraphMemAttrUsedMemHigh:
        return &device->graphs.used_high;
    case hipGraphMemAttrReservedMemCurrent:
        return &device->graphs.reserved;
    case hipGraphMemAttrReservedMemHigh:
        return &device->graphs.reserved_high;
    default:
        return NULL;
    }
}

HIP_ENTRY hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void *value)
{
    struct hip_device *found;
    hipError_t error = hip_device_at(device, &found);

    if (error != hipSuccess)
        return hip_return(error);
    const uint64_t *number = memory_attribute(found, attr);
    if (!number || !value)
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&found->lock);
    memcpy(value, number, sizeof *number);
    pthread_mutex_unlock(&found->lock);
    return hip_return(hipSuccess);
}

/* The highest values can be set to 0: they start anew from what there is. */
HIP_ENTRY hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void *value)
{
    struct hip_device *found;
    uint64_t wanted;
    hipError_t error = hip_device_at(device, &found);

    if (error != hipSuccess)
        return hip_return(error);
    if (!value || (attr != hipGraphMemAttrUsedMemHigh && attr != hipGraphMemAttrReservedMemHigh))
        return hip_return(hipErrorInvalidValue);
    memcpy(&wanted, value, sizeof wanted);
    if (wanted)
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&found->lock);
    if (attr == hipGraphMemAttrUsedMemHigh)
        found->graphs.used_high = found->graphs.used;
    else
        found->graphs.reserved_high = found->graphs.reserved;
    pthread_mutex_unlock(&found->lock);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipDeviceGraphMemTrim(int device)
{
    struct hip_device *found;
    hipError_t error = hip_device_at(device, &found);

    if (error != hipSuccess)
        return hip_return(error);
    pthread_mutex_lock(&found->lock);
    for (struct graph_memory *memory = found->graphs.first; memory; memory = memory->next)
        if (memory->backed && !memory->used) {
            memory->backed = false;
            found->graphs.reserved -= memory->bytes;
        }
    pthread_mutex_unlock(&found->lock);
    return hip_return(hipSuccess);
}
