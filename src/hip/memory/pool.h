/* SPDX-License-Identifier: MIT */
/* Memory pools and stream-ordered allocation. */
#ifndef HIP_POOL_H
#define HIP_POOL_H

#include "hip/memory/memory.h"

struct ihipStream_t;

/* A stream that comes behind the free, and so does any event recorded in it after this position. */
struct pool_behind {
    const struct ihipStream_t *stream;
    uint64_t position;
};

struct pool_block {
    struct hip_memory *memory;
    size_t capacity;
    bool free;
    struct pool_behind *behind; /* the first: the stream that freed it; none: the host has waited */
    unsigned behind_count, behind_room;
    struct hip_marker *marker; /* NULL: no work left that may use it */
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

/* Whether the program may still name it. */
bool hip_pool_ok(const struct ihipMemPoolHandle_t *pool);
/* The one that hipMallocAsync() takes from. */
hipError_t hip_pool_current(struct hip_device *device, struct ihipMemPoolHandle_t **pool);
/* A pool of another process: nothing is allocated from it, its memory is opened one by one. */
hipError_t hip_pool_import(struct hip_device *device, const hipMemPoolProps *props,
                           struct ihipMemPoolHandle_t **pool);
bool hip_pool_imported(const struct ihipMemPoolHandle_t *pool);
const hipMemPoolProps *hip_pool_props(const struct ihipMemPoolHandle_t *pool);
struct hip_device *hip_pool_device(const struct ihipMemPoolHandle_t *pool);

/* From the pool, for use in `stream` (NULL: at once). */
hipError_t hip_pool_alloc(struct ihipMemPoolHandle_t *pool, size_t bytes, struct ihipStream_t *stream,
                          void **out);
/* Back to its pool; usable by others once the work given to `stream` so far is done (NULL: after all work).
 */
hipError_t hip_pool_free(struct hip_memory *memory, struct ihipStream_t *stream);
hipError_t hip_pool_default(struct hip_device *device, struct ihipMemPoolHandle_t **pool);
/* After a wait for one stream (NULL: for the device): gives cached memory above the release threshold back.
 */
void hip_pools_trim(struct hip_device *device, const struct ihipStream_t *waited);
/* `stream` waits for an event recorded in another one at this position: what was freed there before is its
 * own to use. */
void hip_pools_follow(const struct ihipStream_t *stream, const struct ihipStream_t *event, uint64_t position);
void hip_pools_reset(struct hip_device *device);
static inline hipMemPool_t hip_pool_handle(struct ihipMemPoolHandle_t *pool)
{
    return pool;
}

struct pool_list {
    pthread_mutex_t lock;
    struct ihipMemPoolHandle_t *first;
    _Atomic unsigned cached; /* free blocks in all pools: none, nothing to trim */
};

#endif
