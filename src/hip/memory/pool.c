/* SPDX-License-Identifier: MIT */
/*
 * Stream-ordered allocation: hipFreeAsync() keeps a block in its pool with a
 * marker of the place in the stream where it became free.  The same stream may
 * have it again at once, and so may streams that have waited for an event behind
 * that place (hipMemPoolReuseFollowEventDependencies); others when the marker is
 * done (hipMemPoolReuseAllowOpportunistic); and when memory is short, a stream is
 * made to wait for it (hipMemPoolReuseAllowInternalDependencies).  What the pool
 * holds above its release threshold goes back at the next synchronisation.
 */
#include "hip/core/state.h"
#include "hip/memory/pool.h"

#include <stdlib.h>
#include <string.h>

#include "hip/graph/graph.h"
#include "hip/memory/ipc.h"
#include "hip/stream/stream.h"

static struct pool_list *pool_list(void)
{
    return &hip_state()->pools;
}

/* ---- blocks: the pool's lock is held ------------------------------------------------------------------- */

static bool pool_block_done(const struct pool_block *block)
{
    return !block->marker || hip_marker_done(block->marker);
}

static void pool_block_forget(struct pool_block *block)
{
    hip_marker_unref(block->marker);
    block->marker = NULL;
    block->behind_count = 0;
}

static bool pool_block_add(struct pool_block *block, const struct ihipStream_t *stream, uint64_t position)
{
    if (block->behind_count == block->behind_room) {
        struct pool_behind *more = realloc(block->behind, (block->behind_room + 1) * sizeof *more);
        if (!more)
            return false;
        block->behind = more;
        block->behind_room++;
    }
    block->behind[block->behind_count++] = (struct pool_behind){stream, position};
    return true;
}

static bool pool_is_blocking(const struct ihipStream_t *stream)
{
    return !stream->null && !(stream->flags & hipStreamNonBlocking);
}

/* Whether the stream's next operation comes after the free, or the block is idle and that may be used. */
static bool pool_block_fits(const struct ihipMemPoolHandle_t *pool, const struct pool_block *block,
                            const struct ihipStream_t *stream)
{
    bool follow = pool->reuse[0];

    if (!stream || !block->behind_count)
        return pool_block_done(block);
    const struct ihipStream_t *freed = block->behind[0].stream;
    if (stream == freed || (pool->reuse[1] && pool_block_done(block)))
        return true;
    if (follow && stream->device == freed->device &&
        ((stream->null && pool_is_blocking(freed)) || (freed->null && pool_is_blocking(stream))))
        return true;
    for (unsigned i = 1; follow && i < block->behind_count; i++)
        if (block->behind[i].stream == stream)
            return true;
    return false;
}

static void pool_block_release(struct ihipMemPoolHandle_t *pool, struct pool_block **link)
{
    struct pool_block *block = *link;

    *link = block->next;
    pool->reserved -= block->capacity;
    pool_block_forget(block);
    free(block->behind);
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
    hip_memory_site(block->memory->base, EHP_MEM_ALLOCATED);
    pool_block_forget(block);
    pool->used += bytes;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
}

static struct pool_block *pool_find(struct ihipMemPoolHandle_t *pool, size_t bytes,
                                    const struct ihipStream_t *stream)
{
    struct pool_block *best = NULL;

    for (struct pool_block *block = pool->blocks; block; block = block->next)
        if (block->free && block->capacity >= bytes &&
            block->capacity / 2 <= ((bytes + 4095) & ~(size_t)4095) && pool_block_fits(pool, block, stream) &&
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

/* A block that is still in use by work before the free: the stream waits for that. */
static struct pool_block *pool_wait_for(struct ihipMemPoolHandle_t *pool, size_t bytes,
                                        struct ihipStream_t *stream)
{
    struct pool_block *block = pool->blocks;

    while (block && !(block->free && block->capacity >= bytes))
        block = block->next;
    return block && hip_stream_after(stream, block->marker) == hipSuccess ? block : NULL;
}

hipError_t hip_pool_alloc(struct ihipMemPoolHandle_t *pool, size_t bytes, struct ihipStream_t *stream,
                          void **out)
{
    hipError_t error = hipSuccess;

    hip_arrive();
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
        if (error == hipErrorOutOfMemory && stream && pool->reuse[2] &&
            (block = pool_wait_for(pool, bytes, stream))) {
            atomic_fetch_sub(&pool_list()->cached, 1);
            error = hipSuccess;
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
    uint64_t position = 0;

    if (stream)
        position = atomic_load(&stream->position);
    hipError_t error = stream ? hip_stream_tail(stream, &marker) : hip_wait_users(NULL);
    if (error != hipSuccess)
        return error;
    hip_arrive();
    pthread_mutex_lock(&pool->lock);
    for (block = pool->blocks; block && block->memory != memory; block = block->next)
        ;
    if (!block || block->free || (stream && !pool_block_add(block, stream, position))) {
        pthread_mutex_unlock(&pool->lock);
        hip_marker_unref(marker);
        return hipErrorInvalidValue;
    }
    block->free = true;
    block->marker = marker;
    pool->used -= memory->bytes;
    hip_memory_site(memory->base, EHP_MEM_FREED);
    memory->bytes = 0; /* the pointer is no longer the program's */
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

/*
 * The mark behind a free is a packet of its own, which the stream's last operation does not wait for.  A host
 * function does not either: the mark may come after it.
 */
static void pool_wait_marks(struct ihipMemPoolHandle_t *pool, const struct ihipStream_t *waited)
{
    for (const struct pool_block *block = pool->blocks; block && !hip_thread()->call; block = block->next)
        if (block->free && block->marker && (!waited || block->behind[0].stream == waited))
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

void hip_pools_follow(const struct ihipStream_t *stream, const struct ihipStream_t *event, uint64_t position)
{
    struct pool_list *list = pool_list();

    if (!atomic_load_explicit(&list->cached, memory_order_relaxed))
        return;
    pthread_mutex_lock(&list->lock);
    for (struct ihipMemPoolHandle_t *pool = list->first; pool; pool = pool->next) {
        pthread_mutex_lock(&pool->lock);
        for (struct pool_block *block = pool->blocks; block; block = block->next) {
            bool covered = false, known = false;
            for (unsigned i = 0; i < block->behind_count; i++) {
                covered |= block->behind[i].stream == event && block->behind[i].position < position;
                known |= block->behind[i].stream == stream;
            }
            if (covered && !known)
                pool_block_add(block, stream, atomic_load(&stream->position));
        }
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

    hip_arrive();
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

hipError_t hip_pool_current(struct hip_device *device, struct ihipMemPoolHandle_t **pool)
{
    hipError_t error = hip_pool_default(device, pool);

    if (error == hipSuccess && device->pool)
        *pool = device->pool;
    return error;
}

bool hip_pool_ok(const struct ihipMemPoolHandle_t *pool)
{
    return hip_handle_ok(HIP_KIND_POOL, pool) && !pool->dying;
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
    if (!hip_pool_ok(mem_pool) || mem_pool->built_in)
        return hip_return(hipErrorInvalidValue);
    struct hip_device *device = mem_pool->device;
    hipError_t error = hip_wait_users(device);
    if (error != hipSuccess)
        return hip_return(error);
    if (device->pool == mem_pool)
        device->pool = device->default_pool;
    hip_arrive();
    pthread_mutex_lock(&mem_pool->lock);
    mem_pool->dying = true;
    pool_wait_marks(mem_pool, NULL);
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
    return hip_return(error == hipSuccess ? hip_pool_current(found, mem_pool) : error);
}

HIP_ENTRY hipError_t hipDeviceSetMemPool(int device, hipMemPool_t mem_pool)
{
    struct hip_device *found;
    hipError_t error = hip_device_at(device, &found);

    if (error != hipSuccess)
        return hip_return(error);
    if (!hip_pool_ok(mem_pool) || mem_pool->imported)
        return hip_return(hipErrorInvalidValue);
    if (mem_pool->device != found)
        return hip_return(hipErrorInvalidDevice);
    found->pool = mem_pool;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t min_bytes_to_hold)
{
    if (!hip_pool_ok(mem_pool))
        return hip_return(hipErrorInvalidValue);
    hip_arrive();
    pthread_mutex_lock(&mem_pool->lock);
    pool_trim(mem_pool, min_bytes_to_hold);
    pthread_mutex_unlock(&mem_pool->lock);
    return hip_return(hipSuccess);
}
