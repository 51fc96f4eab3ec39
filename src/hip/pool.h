/* SPDX-License-Identifier: MIT */
/* Memory pools and stream-ordered allocation. */
#ifndef HIP_POOL_H
#define HIP_POOL_H

#include "memory.h"

struct ihipStream_t;

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
void hip_pools_reset(struct hip_device *device);
static inline hipMemPool_t hip_pool_handle(struct ihipMemPoolHandle_t *pool)
{
    return pool;
}

#endif
