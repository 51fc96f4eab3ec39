/* SPDX-License-Identifier: MIT */
/* What programs ask of a memory pool: attributes, access, memory in a stream. */
#include "hip/graph/graph.h"
#include "hip/memory/ipc.h"
#include "hip/memory/pool.h"
#include "hip/stream/stream.h"

static hipError_t pool_set(struct ihipMemPoolHandle_t *pool, hipMemPoolAttr attr, const void *value)
{
    switch (attr) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
        pool->reuse[attr - hipMemPoolReuseFollowEventDependencies] = *(const int *)value;
        return hipSuccess;
    case hipMemPoolAttrReleaseThreshold:
        pool->threshold = *(const uint64_t *)value;
        return hipSuccess;
    case hipMemPoolAttrReservedMemHigh: /* only to start counting anew */
        if (*(const uint64_t *)value)
            return hipErrorInvalidValue;
        pool->reserved_high = pool->reserved;
        return hipSuccess;
    case hipMemPoolAttrUsedMemHigh:
        if (*(const uint64_t *)value)
            return hipErrorInvalidValue;
        pool->used_high = pool->used;
        return hipSuccess;
    default:
        return hipErrorInvalidValue;
    }
}

static hipError_t pool_get(const struct ihipMemPoolHandle_t *pool, hipMemPoolAttr attr, void *value)
{
    switch (attr) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
        *(int *)value = pool->reuse[attr - hipMemPoolReuseFollowEventDependencies];
        return hipSuccess;
    case hipMemPoolAttrReleaseThreshold:
        *(uint64_t *)value = pool->threshold;
        return hipSuccess;
    case hipMemPoolAttrReservedMemCurrent:
        *(uint64_t *)value = pool->reserved;
        return hipSuccess;
    case hipMemPoolAttrReservedMemHigh:
        *(uint64_t *)value = pool->reserved_high;
        return hipSuccess;
    case hipMemPoolAttrUsedMemCurrent:
        *(uint64_t *)value = pool->used;
        return hipSuccess;
    case hipMemPoolAttrUsedMemHigh:
        *(uint64_t *)value = pool->used_high;
        return hipSuccess;
    default:
        return hipErrorInvalidValue;
    }
}

HIP_ENTRY hipError_t hipMemPoolSetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value)
{
    if (!hip_pool_ok(mem_pool) || !value)
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&mem_pool->lock);
    hipError_t error = pool_set(mem_pool, attr, value);
    pthread_mutex_unlock(&mem_pool->lock);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipMemPoolGetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value)
{
    if (!hip_pool_ok(mem_pool) || !value)
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&mem_pool->lock);
    hipError_t error = pool_get(mem_pool, attr, value);
    pthread_mutex_unlock(&mem_pool->lock);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipMemPoolSetAccess(hipMemPool_t mem_pool, const hipMemAccessDesc *desc_list,
                                         size_t count)
{
    if (!hip_pool_ok(mem_pool) || (count && !desc_list) || count > (size_t)hip_runtime()->devices)
        return hip_return(hipErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        const hipMemAccessDesc *desc = &desc_list[i];
        hipMemAccessFlags flags = desc->flags;
        if (desc->location.type != hipMemLocationTypeDevice || desc->location.id < 0 ||
            desc->location.id >= hip_runtime()->devices ||
            (flags != hipMemAccessFlagsProtNone && flags != hipMemAccessFlagsProtRead &&
             flags != hipMemAccessFlagsProtReadWrite))
            return hip_return(hipErrorInvalidValue);
        if (flags == hipMemAccessFlagsProtNone && desc->location.id == mem_pool->device->ordinal)
            return hip_return(hipErrorInvalidDevice);
    }
    for (size_t i = 0; i < count; i++)
        mem_pool->access[desc_list[i].location.id] = desc_list[i].flags;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t mem_pool,
                                         hipMemLocation *location)
{
    if (!flags || !location || !hip_pool_ok(mem_pool) || location->type != hipMemLocationTypeDevice ||
        location->id < 0 || location->id >= hip_runtime()->devices)
        return hip_return(hipErrorInvalidValue);
    *flags = mem_pool->access[location->id];
    return hip_return(hipSuccess);
}

/* ---- allocation in a stream ---------------------------------------------------------------------------- */

static hipError_t pool_malloc(void **out, size_t size, struct ihipMemPoolHandle_t *pool, hipStream_t handle)
{
    struct ihipStream_t *stream;

    if (!out)
        return hipErrorInvalidValue;
    if (pool && (!hip_pool_ok(pool) || pool->imported))
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess) /* these calls say it their own way when it is no stream */
        return error == hipErrorContextIsDestroyed ? hipErrorInvalidHandle : error;
    if (!size) {
        *out = NULL;
        return hipSuccess;
    }
    if (!pool) {
        error = hip_pool_current(stream->device, &pool);
        if (error != hipSuccess)
            return error;
    }
    if (stream->capture)
        return hip_capture_alloc(stream, pool, size, out);
    return hip_pool_alloc(pool, size, stream, out);
}

HIP_ENTRY hipError_t hipMallocAsync(void **dev_ptr, size_t size, hipStream_t stream)
{
    return hip_return(pool_malloc(dev_ptr, size, NULL, stream));
}

HIP_ENTRY hipError_t hipMallocFromPoolAsync(void **dev_ptr, size_t size, hipMemPool_t mem_pool,
                                            hipStream_t stream)
{
    if (!mem_pool)
        return hip_return(hipErrorInvalidValue);
    return hip_return(pool_malloc(dev_ptr, size, mem_pool, stream));
}

HIP_ENTRY hipError_t hipFreeAsync(void *dev_ptr, hipStream_t stream)
{
    struct ihipStream_t *found;

    if (!dev_ptr)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_stream_of(stream, &found);
    if (error != hipSuccess)
        return hip_return(error == hipErrorContextIsDestroyed ? hipErrorInvalidHandle : error);
    struct hip_memory *memory = hip_memory_find(dev_ptr, NULL);
    if (!memory || memory->base != dev_ptr || (memory->kind == EHP_MEM_REGISTERED && !memory->imported))
        return hip_return(hip_memory_blame("hipFreeAsync", dev_ptr));
    if (found->capture) {
        struct hip_op op = {.kind = HIP_OP_FREE, .memory = {.address = dev_ptr}};
        return hip_return(hip_capture_op(found, &op, NULL));
    }
    if (memory->graph)
        return hip_return(hip_graph_memory_free(memory->graph) ? hipSuccess
                                                               : hip_memory_blame("hipFreeAsync", dev_ptr));
    if (memory->pool)
        return hip_return(hip_pool_free(memory, found));
    error = hip_stream_wait(found);
    if (error == hipSuccess)
        error = memory->imported ? hip_ipc_close(memory) : hip_memory_release(dev_ptr);
    return hip_return(error);
}
