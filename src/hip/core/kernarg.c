/* SPDX-License-Identifier: MIT */
/*
 * The kernel argument block: the caller's arguments at their offsets, then the
 * hidden ones that the metadata asks for (LLVM AMDGPUUsage, "Code Object V5
 * Metadata", .value_kind), and the dispatch packet that points to it.
 */
#include <string.h>

#include "hip/observe/advise.h"
#include "hip/core/hostcall.h"
#include "hip/core/launch.h"
#include "hip/stream/stream.h"

/* What __ockl_multi_grid_* and newer __ockl_grid_sync read (device-libs, ockl: cg). */
struct launch_grid_sync {
    void *shared;
    uint32_t grid, grids;
    uint64_t previous, all;
    uint32_t sync[2];
    uint32_t workgroups, pad;
};
_Static_assert(sizeof(struct launch_grid_sync) == 48, "shared with the device library");

#define LAUNCH_DYNAMIC_STACK 16384 /* bytes a lane for calls whose depth the compiler does not know */

static void launch_store(unsigned char *at, uint64_t value, unsigned bytes)
{
    memcpy(at, &value, bytes < 8 ? bytes : 8);
}

static void *launch_grid_sync(struct ihipStream_t *stream, const struct hip_launch *launch)
{
    struct launch_grid_sync *sync = hip_ring_alloc(stream, sizeof *sync, 64);
    uint64_t items = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];

    if (!sync)
        return NULL;
    memset(sync, 0, sizeof *sync);
    sync->grids = 1;
    sync->all = items;
    sync->workgroups = (uint32_t)(items / ((uint64_t)launch->block[0] * launch->block[1] * launch->block[2]));
    if (launch->multi) {
        sync->shared = launch->multi->sync;
        sync->grid = launch->multi->grid;
        sync->grids = launch->multi->grids;
        sync->previous = launch->multi->previous;
        sync->all = launch->multi->all;
    }
    return sync;
}

static uint64_t launch_hidden(struct ihipStream_t *stream, const struct hip_launch *launch, int kind)
{
    unsigned axis;

    switch (kind) {
    case EHP_ARG_HIDDEN_BLOCK_COUNT_X:
    case EHP_ARG_HIDDEN_BLOCK_COUNT_Y:
    case EHP_ARG_HIDDEN_BLOCK_COUNT_Z: /* full workgroups; the partial one has a remainder */
        axis = (unsigned)(kind - EHP_ARG_HIDDEN_BLOCK_COUNT_X);
        return launch->grid[axis] / launch->block[axis];
    case EHP_ARG_HIDDEN_GROUP_SIZE_X:
    case EHP_ARG_HIDDEN_GROUP_SIZE_Y:
    case EHP_ARG_HIDDEN_GROUP_SIZE_Z:
        return launch->block[kind - EHP_ARG_HIDDEN_GROUP_SIZE_X];
    case EHP_ARG_HIDDEN_REMAINDER_X:
    case EHP_ARG_HIDDEN_REMAINDER_Y:
    case EHP_ARG_HIDDEN_REMAINDER_Z:
        axis = (unsigned)(kind - EHP_ARG_HIDDEN_REMAINDER_X);
        return launch->grid[axis] % launch->block[axis];
    case EHP_ARG_HIDDEN_GRID_DIMS:
        return 3;
    case EHP_ARG_HIDDEN_HOSTCALL_BUFFER:
        return (uint64_t)(uintptr_t)hip_hostcall_buffer(stream->device);
    case EHP_ARG_HIDDEN_HEAP_V1:
        return (uint64_t)(uintptr_t)hip_hostcall_heap(stream->device);
    case EHP_ARG_HIDDEN_PRINTF_BUFFER:
        return (uint64_t)(uintptr_t)hip_printf_buffer(stream);
    case EHP_ARG_HIDDEN_MULTIGRID_SYNC_ARG:
        return launch->cooperative ? (uint64_t)(uintptr_t)launch_grid_sync(stream, launch) : 0;
    case EHP_ARG_HIDDEN_DYNAMIC_LDS_SIZE:
        return launch->shared;
    case EHP_ARG_HIDDEN_PRIVATE_BASE:
        return stream->queue->block->private_segment_aperture_base_hi;
    case EHP_ARG_HIDDEN_SHARED_BASE:
        return stream->queue->block->group_segment_aperture_base_hi;
    case EHP_ARG_HIDDEN_QUEUE_PTR:
        return ehp_queue_address(stream->queue->block);
    default: /* global offsets, default queue, completion action: HIP has none */
        return 0;
    }
}

void hip_launch_pack(const struct hip_launch *launch, unsigned char *block)
{
    const struct ihipModuleSymbol_t *function = launch->function;

    if (launch->params) {
        for (unsigned i = 0; i < function->explicit_count; i++)
            memcpy(block + function->explicit_args[i].offset, launch->params[i],
                   function->explicit_args[i].bytes);
    } else if (launch->packed) {
        size_t bytes =
            launch->packed_bytes < function->explicit_bytes ? launch->packed_bytes : function->explicit_bytes;
        memcpy(block, launch->packed, bytes);
    }
}

hipError_t hip_launch_packet(struct ihipStream_t *stream, const struct hip_launch *launch,
                             struct ehp_kernel_dispatch_packet *packet)
{
    const struct ihipModuleSymbol_t *function = launch->function;
    const struct ehp_kernel *kernel = &function->kernel;
    unsigned char *kernarg = NULL;
    size_t scratch = kernel->private_bytes;

    if (kernel->kernarg_bytes) {
        /* Hidden arguments may take from the ring too, so the block is complete before the next launch. */
        kernarg = hip_ring_alloc(stream, kernel->kernarg_bytes, kernel->kernarg_align);
        if (!kernarg)
            return hipErrorLaunchOutOfResources;
        memset(kernarg, 0, kernel->kernarg_bytes);
        hip_launch_pack(launch, kernarg);
        if (hip_runtime()->advise)
            hip_advise_launch(function, kernarg);
        for (unsigned i = 0; i < function->hidden_count; i++) {
            const struct hip_hidden_arg *arg = &function->hidden_args[i];
            launch_store(kernarg + arg->offset, launch_hidden(stream, launch, arg->kind), arg->bytes);
        }
    }
    if (kernel->dynamic_stack) {
        size_t limit = stream->device->limits[hipLimitStackSize];
        scratch += limit > LAUNCH_DYNAMIC_STACK ? limit : LAUNCH_DYNAMIC_STACK;
        if (scratch > EHP_SCRATCH_MAX && kernel->private_bytes <= EHP_SCRATCH_MAX)
            scratch = EHP_SCRATCH_MAX;
    }
    packet->setup = 3;
    packet->workgroup_size_x = (uint16_t)launch->block[0];
    packet->workgroup_size_y = (uint16_t)launch->block[1];
    packet->workgroup_size_z = (uint16_t)launch->block[2];
    packet->grid_size_x = launch->grid[0];
    packet->grid_size_y = launch->grid[1];
    packet->grid_size_z = launch->grid[2];
    packet->private_segment_size = (uint32_t)scratch;
    packet->group_segment_size = kernel->group_bytes + launch->shared;
    packet->kernel_object = kernel->object;
    packet->kernarg_address = kernarg;
    return hipSuccess;
}
