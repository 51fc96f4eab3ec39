/* SPDX-License-Identifier: MIT */
/*
 * Stream-ordered allocation: hipFreeAsync() keeps a block in its pool with a
 * marker of the place in the stream where it became free.  The same stream may
 * have it again at once, others when the marker is done.  What the pool holds
 * above its release threshold goes back at the next synchronisation.
 */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "ipc.h"
#include "stream.h"

struct pool_block {
    struct hip_memory *memory;
    size_t capacity;
    bool free;
    struct ihipStream_t *stream; /* that freed it */
    struct hip_marker *marker;   /* NULL: no work left that may use it */
    struct pool_block *next;
};

struct ihipMemPoolHandle_t {
    struct hip_handle head;
    struct hip_device *device;
    hipMemPoolProps props;
    bool built_in, dying, imported;
    pthread_mutex_t lock;
    struct pool_block *blocks;
    uint64_t threshold, reserved, reserved_high, used, used_high;
    int reuse[3];
    hipMemAccessFlags access[HIP_DEVICES_MAX];
    struct ihipMemPoolHandle_t *next; /* of the process */
};

struct pool_list {
    pthread_mutex_t lock;
    struct ihipMemPoolHandle_t *first;
    _Atomic unsigned cached; /* free blocks in all pools: none, nothing to trim */
};

static struct pool_list *pool_list(void)
{
    static struct pool_list list = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &list;
}

/* ---- blocks: the pool's lock is held ------------------------------------------------------------------- */

static bool pool_block_done(const struct pool_block *block)
{
    return !block->marker || hip_marker_done(block->marker);
}

static void pool_block_release(struct ihipMemPoolHandle_t *pool, struct pool_block **link)
{
    struct pool_block *block = *link;

    *link = block->next;
    pool->reserved -= block->capacity;
    hip_marker_unref(block->marker);
    block->memory->bytes = block->capacity; /* visible again, so that it can be found to be freed */
    hip_memory_release(block->memory->base);
    atomic_fetch_sub(&pool_list()->cached, 1);
    free(block);
}

static void pool_trim(struct ihipMemPoolHandle_t *pool, uint64_t keep)
{
    struct pool_block **link = &pool->blocks;

    while (*link && pool->reserved > keep) {
        if ((*link)->free && pool_block_done(*link))
            pool_block_release(pool, link);
        else
            link = &(*link)->next;
    }
}

static void pool_use(struct ihipMemPoolHandle_t *pool, struct pool_block *block, size_t bytes)
{
    block->free = false;
    block->memory->bytes = bytes;
    hip_marker_unref(block->marker);
    block->marker = NULL;
    pool->used += block->capacity;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
}

static struct pool_block *pool_find(struct ihipMemPoolHandle_t *pool, size_t bytes,
                                    const struct ihipStream_t *stream)
{
    struct pool_block *best = NULL;

    for (struct pool_block *block = pool->blocks; block; block = block->next)
        if (block->free && block->capacity >= bytes &&
            block->capacity / 2 <= ((bytes + 4095) & ~(size_t)4095) &&
            ((stream && block->stream == stream) || pool_block_done(block)) &&
            (!best || block->capacity < best->capacity))
            best = block;
    return best;
}

static hipError_t pool_grow(struct ihipMemPoolHandle_t *pool, size_t bytes, struct pool_block **out)
{
    struct pool_block *block = calloc(1, sizeof *block);
    void *base;

    if (!block)
        return hipErrorOutOfMemory;
    block->capacity = (bytes + 4095) & ~(size_t)4095;
    if (block->capacity < bytes ||
        (pool->props.maxSize && pool->reserved + block->capacity > pool->props.maxSize)) {
        free(block);
        return hipErrorOutOfMemory;
    }
    hipError_t error = hip_memory_alloc(pool->device, EHP_MEM_DEVICE, block->capacity, 0, 0, &base);
    if (error != hipSuccess) {
        free(block);
        return error;
    }
    block->memory = hip_memory_find(base, NULL);
    block->memory->pool = pool;
    block->next = pool->blocks;
    pool->blocks = block;
    pool->reserved += block->capacity;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    *out = block;
    return hipSuccess;
}

hipError_t hip_pool_alloc(struct ihipMemPoolHandle_t *pool, size_t bytes, struct ihipStream_t *stream,
                          void **out)
{
    hipError_t error = hipSuccess;

    pthread_mutex_lock(&pool->lock);
    struct pool_block *block = pool_find(pool, bytes, stream);
    if (block) {
        atomic_fetch_sub(&pool_list()->cached, 1);
    } else {
        error = pool_grow(pool, bytes, &block);
        if (error == hipErrorOutOfMemory) {
            pool_trim(pool, 0);
            error = pool_grow(pool, bytes, &block);
        }
    }
    if (error == hipSuccess) {
        pool_use(pool, block, bytes);
        *out = block->memory->base;
    }
    pthread_mutex_unlock(&pool->lock);
    return error;
}

static void pool_delete(struct ihipMemPoolHandle_t *pool)
{
    struct pool_list *list = pool_list();

    pthread_mutex_lock(&list->lock);
    for (struct ihipMemPoolHandle_t **link = &list->first; *link; link = &(*link)->next)
        if (*link == pool) {
            *link = pool->next;
            break;
        }
    pthread_mutex_unlock(&list->lock);
    pthread_mutex_destroy(&pool->lock);
    hip_handle_free(pool);
}

hipError_t hip_pool_free(struct hip_memory *memory, struct ihipStream_t *stream)
{
    struct ihipMemPoolHandle_t *pool = memory->pool;
    struct hip_marker *marker = NULL;
    struct pool_block *block;

    if (stream)
        marker = hip_stream_tail(stream);
    else
        for (int i = 0; i < hip_runtime()->devices; i++)
            hip_device_wait(&hip_runtime()->device[i]);
    pthread_mutex_lock(&pool->lock);
    for (block = pool->blocks; block && block->memory != memory; block = block->next)
        ;
    if (!block || block->free) {
        pthread_mutex_unlock(&pool->lock);
        hip_marker_unref(marker);
        return hipErrorInvalidValue;
    }
    block->free = true;
    block->stream = stream;
    block->marker = marker;
    memory->bytes = 0; /* the pointer is no longer the program's */
    pool->used -= block->capacity;
    atomic_fetch_add(&pool_list()->cached, 1);
    bool last = pool->dying && !pool->used;
    if (last)
        pool_trim(pool, 0);
    last = last && !pool->blocks;
    pthread_mutex_unlock(&pool->lock);
    if (last)
        pool_delete(pool);
    return hipSuccess;
}

/* The mark behind a free is a packet of its own, which the stream's last operation does not wait for. */
static void pool_wait_marks(struct ihipMemPoolHandle_t *pool, const struct ihipStream_t *waited)
{
    for (const struct pool_block *block = pool->blocks; block; block = block->next)
        if (block->free && block->marker && (!waited || block->stream == waited))
            hip_marker_wait(pool->device, block->marker);
}

void hip_pools_trim(struct hip_device *device, const struct ihipStream_t *waited)
{
    struct pool_list *list = pool_list();

    if (!atomic_load_explicit(&list->cached, memory_order_relaxed))
        return;
    pthread_mutex_lock(&list->lock);
    for (struct ihipMemPoolHandle_t *pool = list->first; pool; pool = pool->next)
        if (pool->device == device) {
            pthread_mutex_lock(&pool->lock);
            pool_wait_marks(pool, waited);
            pool_trim(pool, pool->threshold);
            pthread_mutex_unlock(&pool->lock);
        }
    pthread_mutex_unlock(&list->lock);
}

void hip_pools_reset(struct hip_device *device)
{
    struct pool_list *list = pool_list();

    pthread_mutex_lock(&list->lock);
    for (struct ihipMemPoolHandle_t *pool = list->first; pool; pool = pool->next) {
        if (pool->device != device)
            continue;
        pthread_mutex_lock(&pool->lock);
        while (pool->blocks) {
            if (!pool->blocks->free)
                atomic_fetch_add(&list->cached, 1);
            pool_block_release(pool, &pool->blocks);
        }
        pool->used = pool->used_high = pool->reserved_high = 0;
        pthread_mutex_unlock(&pool->lock);
    }
    pthread_mutex_unlock(&list->lock);
    device->pool = device->default_pool;
}

/* ---- pools --------------------------------------------------------------------------------------------- */

static hipError_t pool_new(struct hip_device *device, const hipMemPoolProps *props,
                           struct ihipMemPoolHandle_t **out)
{
    struct pool_list *list = pool_list();
    struct ihipMemPoolHandle_t *pool = hip_handle_new(HIP_KIND_POOL, sizeof *pool);

    if (!pool)
        return hipErrorOutOfMemory;
    pool->device = device;
    pool->props = *props;
    pool->reuse[0] = pool->reuse[1] = pool->reuse[2] = 1;
    pool->access[device->ordinal] = hipMemAccessFlagsProtReadWrite;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_mutex_lock(&list->lock);
    pool->next = list->first;
    list->first = pool;
    pthread_mutex_unlock(&list->lock);
    *out = pool;
    return hipSuccess;
}

hipError_t hip_pool_import(struct hip_device *device, const hipMemPoolProps *props,
                           struct ihipMemPoolHandle_t **pool)
{
    hipError_t error = pool_new(device, props, pool);

    if (error == hipSuccess)
        (*pool)->imported = true;
    return error;
}

bool hip_pool_imported(const struct ihipMemPoolHandle_t *pool)
{
    return pool->imported;
}

const hipMemPoolProps *hip_pool_props(const struct ihipMemPoolHandle_t *pool)
{
    return &pool->props;
}

struct hip_device *hip_pool_device(const struct ihipMemPoolHandle_t *pool)
{
    return pool->device;
}

hipError_t hip_pool_default(struct hip_device *device, struct ihipMemPoolHandle_t **pool)
{
    const hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
                                   .location = {hipMemLocationTypeDevice, device->ordinal}};
    hipError_t error = hipSuccess;

    pthread_mutex_lock(&device->lock);
    if (!device->default_pool) {
        error = pool_new(device, &props, &device->default_pool);
        if (error == hipSuccess)
            device->default_pool->built_in = true;
        if (!device->pool)
            device->pool = device->default_pool;
    }
    *pool = device->default_pool;
    pthread_mutex_unlock(&device->lock);
    return error;
}

static hipError_t pool_current(struct hip_device *device, struct ihipMemPoolHandle_t **pool)
{
    hipError_t error = hip_pool_default(device, pool);

    if (error == hipSuccess && device->pool)
        *pool = device->pool;
    return error;
}

HIP_ENTRY hipError_t hipMemPoolCreate(hipMemPool_t *mem_pool, const hipMemPoolProps *pool_props)
{
    struct hip_device *device;

    if (!mem_pool || !pool_props || pool_props->allocType != hipMemAllocationTypePinned ||
        pool_props->location.type != hipMemLocationTypeDevice)
        return hip_return(hipErrorInvalidValue);
    if (pool_props->handleTypes != hipMemHandleTypeNone &&
        pool_props->handleTypes != hipMemHandleTypePosixFileDescriptor)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(pool_props->location.id, &device);
    if (error != hipSuccess)
        return hip_return(error == hipErrorInvalidDevice ? hipErrorInvalidValue : error);
    return hip_return(pool_new(device, pool_props, mem_pool));
}

HIP_ENTRY hipError_t hipMemPoolDestroy(hipMemPool_t mem_pool)
{
    if (!hip_handle_ok(HIP_KIND_POOL, mem_pool) || mem_pool->built_in || mem_pool->dying)
        return hip_return(hipErrorInvalidValue);
    struct hip_device *device = mem_pool->device;
    hip_device_wait(device);
    if (device->pool == mem_pool)
        device->pool = device->default_pool;
    pthread_mutex_lock(&mem_pool->lock);
    mem_pool->dying = true;
    pool_trim(mem_pool, 0);
    bool empty = !mem_pool->blocks;
    pthread_mutex_unlock(&mem_pool->lock);
    if (empty)
        pool_delete(mem_pool);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *mem_pool, int device)
{
    struct hip_device *found;

    if (!mem_pool)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(device, &found);
    return hip_return(error == hipSuccess ? hip_pool_default(found, mem_pool) : error);
}

HIP_ENTRY hipError_t hipDeviceGetMemPool(hipMemPool_t *mem_pool, int device)
{
    struct hip_device *found;

    if (!mem_pool)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(device, &found);
    return hip_return(error == hipSuccess ? pool_current(found, mem_pool) : error);
}

HIP_ENTRY hipError_t hipDeviceSetMemPool(int device, hipMemPool_t mem_pool)
{
    struct hip_device *found;
    hipError_t error = hip_device_at(device, &found);

    if (error != hipSuccess)
        return hip_return(error);
    if (!hip_handle_ok(HIP_KIND_POOL, mem_pool))
        return hip_return(hipErrorInvalidValue);
    if (mem_pool->device != found)
        return hip_return(hipErrorInvalidDevice);
    found->pool = mem_pool;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t min_bytes_to_hold)
{
    if (!hip_handle_ok(HIP_KIND_POOL, mem_pool))
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&mem_pool->lock);
    pool_trim(mem_pool, min_bytes_to_hold);
    pthread_mutex_unlock(&mem_pool->lock);
    return hip_return(hipSuccess);
}

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
    if (!hip_handle_ok(HIP_KIND_POOL, mem_pool) || !value)
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&mem_pool->lock);
    hipError_t error = pool_set(mem_pool, attr, value);
    pthread_mutex_unlock(&mem_pool->lock);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipMemPoolGetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void *value)
{
    if (!hip_handle_ok(HIP_KIND_POOL, mem_pool) || !value)
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&mem_pool->lock);
    hipError_t error = pool_get(mem_pool, attr, value);
    pthread_mutex_unlock(&mem_pool->lock);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipMemPoolSetAccess(hipMemPool_t mem_pool, const hipMemAccessDesc *desc_list,
                                         size_t count)
{
    if (!hip_handle_ok(HIP_KIND_POOL, mem_pool) || (count && !desc_list))
        return hip_return(hipErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        const hipMemAccessDesc *desc = &desc_list[i];
        if (desc->location.type != hipMemLocationTypeDevice)
            return hip_return(hipErrorInvalidValue);
        if (desc->location.id < 0 || desc->location.id >= hip_runtime()->devices)
            return hip_return(hipErrorInvalidValue);
        if (desc->flags == hipMemAccessFlagsProtNone && desc->location.id == mem_pool->device->ordinal)
            return hip_return(hipErrorInvalidDevice);
        mem_pool->access[desc->location.id] = desc->flags;
    }
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t mem_pool,
                                         hipMemLocation *location)
{
    if (!flags || !location || !hip_handle_ok(HIP_KIND_POOL, mem_pool) ||
        location->type != hipMemLocationTypeDevice || location->id < 0 ||
        location->id >= hip_runtime()->devices)
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
    if (pool && (!hip_handle_ok(HIP_KIND_POOL, pool) || pool->dying || pool->imported))
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess) /* these calls say it their own way when it is no stream */
        return error == hipErrorContextIsDestroyed ? hipErrorInvalidHandle : error;
    if (!size) {
        *out = NULL;
        return hipSuccess;
    }
    if (!pool) {
        error = pool_current(stream->device, &pool);
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
    if (!memory || memory->base != dev_ptr)
        return hip_return(hipErrorInvalidValue);
    if (found->capture) {
        struct hip_op op = {.kind = HIP_OP_FREE, .memory = {.address = dev_ptr}};
        return hip_return(hip_capture_op(found, &op, NULL));
    }
    if (memory->graph)
        return hip_return(hip_graph_memory_free(memory->graph) ? hipSuccess : hipErrorInvalidValue);
    if (memory->pool)
        return hip_return(hip_pool_free(memory, found));
    error = hip_stream_wait(found);
    if (error == hipSuccess)
        error = memory->imported ? hip_ipc_close(memory) : hip_memory_release(dev_ptr);
    return hip_return(error);
}
