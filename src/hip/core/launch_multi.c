/* SPDX-License-Identifier: MIT */
/* Launches over several devices at once. */
#include <string.h>

#include "hip/graph/graph.h"
#include "hip/core/launch.h"
#include "hip/core/size.h"
#include "hip/stream/stream.h"

enum { MULTI_SYNC = 64 };

struct multi_launch {
    struct hip_launch launch;
    struct hip_multi_grid grid;
    struct ihipStream_t *stream;
};

static void multi_free(void *memory)
{
    ehp_mem_free(hip_runtime()->machine, memory);
}

static hipError_t multi_check(struct multi_launch *list, unsigned count, bool cooperative)
{
    for (unsigned i = 0; i < count; i++) {
        if (list[i].stream->capture) { /* a graph's node is one grid */
            hip_capture_invalidate(list[i].stream);
            return hipErrorStreamCaptureUnsupported;
        }
        hipError_t error = hip_capture_implicit(list[i].stream);
        if (error != hipSuccess)
            return error;
        if (list[i].stream->null && cooperative) /* every grid needs a stream of its own */
            return hipErrorInvalidResourceHandle;
        for (unsigned k = 0; k < i; k++)
            if (list[i].stream->device == list[k].stream->device)
                return hipErrorInvalidDevice;
    }
    return hipSuccess;
}

static uint64_t multi_items(const struct hip_launch *launch)
{
    return size_mul(size_mul(launch->grid[0], launch->grid[1]), launch->grid[2]);
}

/* Each of the streams waits for what the others have so far. */
static hipError_t multi_meet(struct multi_launch *list, unsigned count)
{
    hipError_t error = hipSuccess;

    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; error == hipSuccess && k < count; k++)
            error = hip_stream_follow(list[i].stream, list[k].stream);
    return error;
}

/*
 * The grids share a two-word barrier for multi_grid.sync(), in memory that all
 * devices reach; it lives until the last of them is done.
 */
static hipError_t multi_send(struct multi_launch *list, unsigned count, bool cooperative, unsigned flags)
{
    uint64_t items = 0, before = 0;
    void *sync = NULL;
    hipError_t error = multi_check(list, count, cooperative);

    for (unsigned i = 0; i < count; i++)
        items = size_add(items, multi_items(&list[i].launch));
    if (error == hipSuccess && items == SIZE_TOO_LARGE)
        error = hipErrorInvalidConfiguration;
    if (error == hipSuccess)
        error = hip_from_status(ehp_mem_alloc(hip_runtime()->machine, list[0].stream->device->agent,
                                              EHP_MEM_INTERNAL, MULTI_SYNC, 0, &sync));
    if (error != hipSuccess)
        return error;
    memset(sync, 0, MULTI_SYNC);
    if (!(flags & hipCooperativeLaunchMultiDeviceNoPreSync))
        error = multi_meet(list, count);
    for (unsigned i = 0; error == hipSuccess && i < count; i++) {
        list[i].grid = (struct hip_multi_grid){sync, i, count, before, items};
        before += multi_items(&list[i].launch);
        list[i].launch.cooperative = cooperative;
        list[i].launch.multi = &list[i].grid;
        struct hip_op op = {.kind = HIP_OP_KERNEL, .launch = list[i].launch};
        error = hip_stream_submit(list[i].stream, &op);
    }
    if (error == hipSuccess && !(flags & hipCooperativeLaunchMultiDeviceNoPostSync))
        error = multi_meet(list, count);
    if (error != hipSuccess) {
        multi_free(sync);
        return error;
    }
    for (unsigned i = 1; i < count; i++) /* the first stream frees it, after the others */
        hip_stream_follow(list[0].stream, list[i].stream);
    struct hip_op release = {.kind = HIP_OP_HOST, .host = {multi_free, sync}};
    return hip_stream_submit(list[0].stream, &release);
}

static hipError_t multi_launch_params(const hipLaunchParams *params, int count, bool cooperative,
                                      unsigned flags)
{
    struct multi_launch list[HIP_DEVICES_MAX] = {0};

    if (!params || count <= 0)
        return hipErrorInvalidValue;
    hipError_t error = hip_open();
    if (error != hipSuccess)
        return error;
    if (count > hip_runtime()->devices)
        return hipErrorInvalidValue;
    for (int i = 0; i < count; i++) {
        struct ihipModuleSymbol_t *function;
        const hipLaunchParams *p = &params[i];
        if (!p->stream)
            return hipErrorInvalidResourceHandle;
        error = hip_stream_of(p->stream, &list[i].stream);
        if (error == hipSuccess)
            error = hip_function_of(p->func, list[i].stream->device, &function);
        if (error == hipSuccess)
            error = hip_launch_check(function, p->gridDim, p->blockDim, p->sharedMem, cooperative,
                                     hipErrorInvalidConfiguration);
        if (error != hipSuccess)
            return error;
        hip_launch_set(&list[i].launch, function, p->gridDim, p->blockDim, p->sharedMem);
        error = hip_launch_arguments(&list[i].launch, p->args, NULL);
        if (error != hipSuccess)
            return error;
    }
    return multi_send(list, (unsigned)count, cooperative, flags);
}

HIP_ENTRY hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices,
                                                           unsigned int flags)
{
    if (flags > 3) /* hipCooperativeLaunchMultiDeviceNoPreSync, ...NoPostSync */
        return hip_return(hipErrorInvalidValue);
    return hip_return(multi_launch_params(launchParamsList, numDevices, true, flags));
}

HIP_ENTRY hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *launchParamsList, int numDevices,
                                                        unsigned int flags)
{
    if (flags > 3)
        return hip_return(hipErrorInvalidValue);
    return hip_return(multi_launch_params(launchParamsList, numDevices, false, flags));
}

HIP_ENTRY hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams *launchParamsList,
                                                                 unsigned int numDevices, unsigned int flags)
{
    struct multi_launch list[HIP_DEVICES_MAX] = {0};

    if (!launchParamsList || !numDevices || flags > 3)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error == hipSuccess && numDevices > (unsigned)hip_runtime()->devices)
        error = hipErrorInvalidValue;
    for (unsigned i = 0; error == hipSuccess && i < numDevices; i++) {
        const hipFunctionLaunchParams *p = &launchParamsList[i];
        dim3 grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
             block = {p->blockDimX, p->blockDimY, p->blockDimZ};
        if (!p->hStream || !hip_handle_ok(HIP_KIND_FUNCTION, p->function))
            return hip_return(hipErrorInvalidResourceHandle);
        error = hip_stream_of(p->hStream, &list[i].stream);
        if (error == hipSuccess)
            error = hip_launch_check(p->function, grid, block, p->sharedMemBytes, true, hipErrorInvalidValue);
        hip_launch_set(&list[i].launch, p->function, grid, block, p->sharedMemBytes);
        if (error == hipSuccess)
            error = hip_launch_arguments(&list[i].launch, p->kernelParams, NULL);
    }
    return hip_return(error == hipSuccess ? multi_send(list, numDevices, true, flags) : error);
}
