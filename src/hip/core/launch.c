/* SPDX-License-Identifier: MIT */
/* The launching entry points: from the triple chevron to hipExtModuleLaunchKernel. */
#include "hip/core/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/graph/graph.h"
#include "hip/core/size.h"
#include "hip/stream/stream.h"

/* ---- checks -------------------------------------------------------------------------------------------- */

/* What a workgroup has of LDS, static and dynamic. */
static hipError_t launch_check_lds(const struct ihipModuleSymbol_t *function, size_t shared, bool cooperative)
{
    const uint64_t lds = function->device->info.lds_bytes;

    if (size_add(function->kernel.group_bytes, shared) <= lds)
        return hipSuccess;
    if (cooperative) /* then no workgroup fits at all */
        return hipErrorCooperativeLaunchTooLarge;
    char room[256];
    fprintf(stderr,
            "ehp: launch of %s with %u static and %llu dynamic bytes of LDS: a workgroup has %llu at most\n",
            ehp_printable(function->kernel.name, room, sizeof room), function->kernel.group_bytes,
            (unsigned long long)shared, (unsigned long long)lds);
    return hipErrorInvalidValue;
}

/* reqd_work_group_size: the code takes the block's size as given. */
static hipError_t launch_check_required(const struct ihipModuleSymbol_t *function, const uint32_t block[3],
                                        hipError_t bad_size)
{
    const uint32_t *required = function->kernel.reqd_workgroup_size;

    if (!hip_function_required(function) || memcmp(required, block, 3 * sizeof *block) == 0)
        return hipSuccess;
    char room[256];
    fprintf(stderr,
            "ehp: launch of %s with blocks of %u x %u x %u, but it was compiled for %u x %u x %u exactly\n",
            ehp_printable(function->kernel.name, room, sizeof room), block[0], block[1], block[2],
            required[0], required[1], required[2]);
    return bad_size;
}

/* A grid in work-items. */
static hipError_t launch_check_items(const struct ihipModuleSymbol_t *function, const uint64_t items[3],
                                     const uint32_t block[3], size_t shared, bool cooperative,
                                     hipError_t bad_size)
{
    const struct ehp_agent_info *info = &function->device->info;
    uint64_t threads = 1, all = 1, groups = 1;

    for (int i = 0; i < 3; i++) {
        if (!items[i] || !block[i] || block[i] > info->workgroup_max)
            return bad_size;
        threads *= block[i];
    }
    if (threads > info->workgroup_max)
        return bad_size;
    for (int i = 0; i < 3; i++) {
        if (items[i] > UINT32_MAX) /* a packet has no more */
            return hipErrorInvalidConfiguration;
        all = size_mul(all, items[i]);
        groups = size_mul(groups, (items[i] + block[i] - 1) / block[i]);
    }
    if (all > INT64_MAX) /* nor a queue a counter of them */
        return hipErrorInvalidConfiguration;
    hipError_t error = launch_check_required(function, block, bad_size);
    if (error != hipSuccess)
        return error;
    if (function->kernel.max_flat_workgroup_size && threads > function->kernel.max_flat_workgroup_size) {
        char room[256];
        fprintf(stderr, "ehp: launch of %s with %llu threads a block, but it was compiled for at most %u\n",
                ehp_printable(function->kernel.name, room, sizeof room), (unsigned long long)threads,
                function->kernel.max_flat_workgroup_size);
        return hipErrorLaunchFailure;
    }
    error = launch_check_lds(function, shared, cooperative);
    if (error == hipSuccess && cooperative &&
        groups > (uint64_t)hip_occupancy(function, (unsigned)threads, shared) * info->cus)
        error = hipErrorCooperativeLaunchTooLarge;
    return error;
}

hipError_t hip_launch_check(const struct ihipModuleSymbol_t *function, dim3 grid, dim3 block, size_t shared,
                            bool cooperative, hipError_t bad_size)
{
    const uint64_t items[3] = {(uint64_t)grid.x * block.x, (uint64_t)grid.y * block.y,
                               (uint64_t)grid.z * block.z};
    const uint32_t size[3] = {block.x, block.y, block.z};

    return launch_check_items(function, items, size, shared, cooperative, bad_size);
}

void hip_launch_set(struct hip_launch *launch, struct ihipModuleSymbol_t *function, dim3 grid, dim3 block,
                    size_t shared)
{
    *launch = (struct hip_launch){
        .function = function,
        .grid = {grid.x * block.x, grid.y * block.y, grid.z * block.z},
        .block = {block.x, block.y, block.z},
        .shared = (uint32_t)shared,
    };
}

/* The pointer and the size of a block, in either order. */
static hipError_t launch_extra(struct hip_launch *launch, void **extra)
{
    const size_t *bytes = NULL;

    for (int i = 0; i < 2 && extra[0] != HIP_LAUNCH_PARAM_END; i++, extra += 2) {
        if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER && !launch->packed)
            launch->packed = extra[1];
        else if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_SIZE && !bytes)
            bytes = extra[1];
        else
            return hipErrorInvalidValue;
    }
    if (extra[0] != HIP_LAUNCH_PARAM_END || !launch->packed || !bytes)
        return hipErrorInvalidValue;
    launch->packed_bytes = *bytes;
    return hipSuccess;
}

hipError_t hip_launch_arguments(struct hip_launch *launch, void **params, void **extra)
{
    const struct ihipModuleSymbol_t *function = launch->function;

    if (params && extra)
        return hipErrorInvalidValue;
    if (extra)
        return launch_extra(launch, extra);
    if (!params)
        return function->explicit_count ? hipErrorInvalidValue : hipSuccess;
    for (unsigned i = 0; i < function->explicit_count; i++)
        if (!params[i])
            return hipErrorInvalidValue;
    launch->params = params;
    return hipSuccess;
}

/* Sends a checked launch on its way, with or without events around it. */
static hipError_t launch_send(hipStream_t handle, const struct hip_launch *launch, hipEvent_t start,
                              hipEvent_t stop)
{
    struct hip_op op = {.kind = HIP_OP_KERNEL, .launch = *launch};
    struct ihipStream_t *stream;

    if (!start && !stop)
        return hip_stream_op(handle, &op);
    if ((start && !hip_handle_ok(HIP_KIND_EVENT, start)) || (stop && !hip_handle_ok(HIP_KIND_EVENT, stop)))
        return hipErrorInvalidHandle;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (stream->capture) {
        op.launch.start = start;
        op.launch.stop = stop;
        return hip_capture_op(stream, &op, NULL);
    }
    error = hip_capture_implicit(stream);
    if (error != hipSuccess)
        return error;
    return hip_stream_launch_timed(stream, &op, start, stop);
}

/* Whose device a launch is for: the stream's. */
static hipError_t launch_device(hipStream_t handle, struct hip_device **device)
{
    struct ihipStream_t *stream;
    hipError_t error = hip_stream_of(handle, &stream);

    if (error == hipSuccess)
        *device = stream->device;
    return error;
}

/* ---- by host function ---------------------------------------------------------------------------------- */

struct launch_options {
    bool cooperative;
    hipEvent_t start, stop;
};

static hipError_t launch_host(const void *host, dim3 grid, dim3 block, void **args, size_t shared,
                              hipStream_t stream, const struct launch_options *options)
{
    struct hip_device *device;
    struct ihipModuleSymbol_t *function;
    struct hip_launch launch;

    if (!host)
        return hipErrorInvalidDeviceFunction;
    hipError_t error = launch_device(stream, &device);
    if (error == hipSuccess) {
        error = hip_function_of(host, device, &function);
        if (error == hipErrorInvalidDeviceFunction)
            hip_say("launch of %p finds no kernel: those of a file come after its constructors", host);
    }
    if (error == hipSuccess)
        error = hip_launch_check(function, grid, block, shared, options->cooperative,
                                 hipErrorInvalidConfiguration);
    if (error != hipSuccess)
        return error;
    hip_launch_set(&launch, function, grid, block, shared);
    launch.host = host;
    launch.cooperative = options->cooperative;
    error = hip_launch_arguments(&launch, args, NULL);
    return error == hipSuccess ? launch_send(stream, &launch, options->start, options->stop) : error;
}

HIP_ENTRY hipError_t hipLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks,
                                     void **args, size_t sharedMemBytes, hipStream_t stream)
{
    const struct launch_options options = {0};

    return hip_return(
        launch_host(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream, &options));
}

HIP_ENTRY hipError_t hipLaunchKernel_spt(const void *function_address, dim3 numBlocks, dim3 dimBlocks,
                                         void **args, size_t sharedMemBytes, hipStream_t stream)
{
    return hipLaunchKernel(function_address, numBlocks, dimBlocks, args, sharedMemBytes,
                           hip_stream_spt(stream));
}

HIP_ENTRY hipError_t hipExtLaunchKernel(const void *function_address, dim3 numBlocks, dim3 dimBlocks,
                                        void **args, size_t sharedMemBytes, hipStream_t stream,
                                        hipEvent_t startEvent, hipEvent_t stopEvent, int flags)
{
    const struct launch_options options = {.start = startEvent, .stop = stopEvent};

    (void)flags; /* hipExtAnyOrderLaunch permits disorder, it does not ask for it */
    return hip_return(
        launch_host(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream, &options));
}

HIP_ENTRY hipError_t hipLaunchCooperativeKernel(const void *f, dim3 gridDim, dim3 blockDimX,
                                                void **kernelParams, unsigned int sharedMemBytes,
                                                hipStream_t stream)
{
    const struct launch_options options = {.cooperative = true};

    return hip_return(launch_host(f, gridDim, blockDimX, kernelParams, sharedMemBytes, stream, &options));
}

HIP_ENTRY hipError_t hipLaunchCooperativeKernel_spt(const void *f, dim3 gridDim, dim3 blockDim,
                                                    void **kernelParams, uint32_t sharedMemBytes,
                                                    hipStream_t hStream)
{
    return hipLaunchCooperativeKernel(f, gridDim, blockDim, kernelParams, sharedMemBytes,
                                      hip_stream_spt(hStream));
}

/* The attributes of a launch: of those that change something here there is one. */
static hipError_t launch_attributes(const hipLaunchAttribute *attrs, unsigned count,
                                    struct launch_options *options)
{
    if (count && !attrs)
        return hipErrorInvalidValue;
    for (unsigned i = 0; i < count; i++)
        switch (attrs[i].id) {
        case hipLaunchAttributeCooperative:
            options->cooperative = attrs[i].value.cooperative != 0;
            break;
        case hipLaunchAttributePriority: /* hints */
        case hipLaunchAttributeAccessPolicyWindow:
            break;
        default:
            return hipErrorInvalidValue;
        }
    return hipSuccess;
}

HIP_ENTRY hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *config, const void *fPtr, void **args)
{
    struct launch_options options = {0};

    if (!fPtr)
        return hip_return(hipErrorInvalidDeviceFunction);
    if (!config)
        return hip_return(hipErrorInvalidConfiguration);
    hipError_t error = launch_attributes(config->attrs, config->numAttrs, &options);
    if (error == hipSuccess)
        error = launch_host(fPtr, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
                            config->stream, &options);
    return hip_return(error);
}

/* ---- the triple chevron -------------------------------------------------------------------------------- */

hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, hipStream_t *stream);

HIP_ENTRY hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                                hipStream_t stream)
{
    struct hip_thread *thread = hip_thread();

    if (thread->configs == HIP_CONFIG_DEPTH)
        return hip_return(hipErrorMissingConfiguration);
    thread->config[thread->configs++] = (struct hip_call_config){gridDim, blockDim, sharedMem, stream};
    return hipSuccess;
}

HIP_ENTRY hipError_t __hipPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                               hipStream_t *stream)
{
    struct hip_thread *thread = hip_thread();

    if (!thread->configs)
        return hip_return(hipErrorMissingConfiguration);
    const struct hip_call_config *config = &thread->config[--thread->configs];
    *gridDim = config->grid;
    *blockDim = config->block;
    *sharedMem = config->shared;
    *stream = config->stream;
    return hipSuccess;
}

/* The form before ROCm 3: configure, set each argument, launch. */
static bool launch_legacy(struct hip_thread *thread)
{
    if (!thread->legacy_launch)
        thread->legacy_launch = calloc(1, sizeof *thread->legacy_launch);
    return thread->legacy_launch != NULL;
}

HIP_ENTRY hipError_t hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream)
{
    struct hip_thread *thread = hip_thread();

    if (!launch_legacy(thread))
        return hip_return(hipErrorOutOfMemory);
    thread->legacy_launch->config = (struct hip_call_config){gridDim, blockDim, sharedMem, stream};
    thread->legacy_launch->bytes = 0;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipSetupArgument(const void *arg, size_t size, size_t offset)
{
    struct hip_thread *thread = hip_thread();

    if (!launch_legacy(thread) || !arg || offset > sizeof thread->legacy_launch->args ||
        size > sizeof thread->legacy_launch->args - offset)
        return hip_return(hipErrorInvalidValue);
    memcpy(thread->legacy_launch->args + offset, arg, size);
    if (offset + size > thread->legacy_launch->bytes)
        thread->legacy_launch->bytes = offset + size;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipLaunchByPtr(const void *func)
{
    struct hip_thread *thread = hip_thread();
    struct ihipModuleSymbol_t *function;
    struct hip_device *device;
    struct hip_launch launch;

    if (!thread->legacy_launch)
        return hip_return(hipErrorMissingConfiguration);
    const struct hip_call_config *config = &thread->legacy_launch->config;
    hipError_t error = launch_device(config->stream, &device);
    if (error == hipSuccess)
        error = hip_function_of(func, device, &function);
    if (error == hipSuccess)
        error = hip_launch_check(function, config->grid, config->block, config->shared, false,
                                 hipErrorInvalidConfiguration);
    if (error != hipSuccess)
        return hip_return(error);
    hip_launch_set(&launch, function, config->grid, config->block, config->shared);
    launch.packed = thread->legacy_launch->args;
    launch.packed_bytes = thread->legacy_launch->bytes;
    return hip_return(launch_send(config->stream, &launch, NULL, NULL));
}

/* ---- by module function -------------------------------------------------------------------------------- */

static hipError_t launch_module(hipFunction_t f, dim3 grid, dim3 block, size_t shared, hipStream_t stream,
                                void **params, void **extra, const struct launch_options *options)
{
    struct hip_launch launch;

    if (!hip_handle_ok(HIP_KIND_FUNCTION, f))
        return f ? hipErrorInvalidImage : hipErrorInvalidResourceHandle;
    hipError_t error = hip_launch_check(f, grid, block, shared, options->cooperative, hipErrorInvalidValue);
    if (error != hipSuccess)
        return error;
    hip_launch_set(&launch, f, grid, block, shared);
    launch.cooperative = options->cooperative;
    error = hip_launch_arguments(&launch, params, extra);
    return error == hipSuccess ? launch_send(stream, &launch, options->start, options->stop) : error;
}

HIP_ENTRY hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
                                           unsigned int gridDimZ, unsigned int blockDimX,
                                           unsigned int blockDimY, unsigned int blockDimZ,
                                           unsigned int sharedMemBytes, hipStream_t stream,
                                           void **kernelParams, void **extra)
{
    const struct launch_options options = {0};

    return hip_return(launch_module(f, (dim3){gridDimX, gridDimY, gridDimZ},
                                    (dim3){blockDimX, blockDimY, blockDimZ}, sharedMemBytes, stream,
                                    kernelParams, extra, &options));
}

HIP_ENTRY hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned int gridDimX,
                                                      unsigned int gridDimY, unsigned int gridDimZ,
                                                      unsigned int blockDimX, unsigned int blockDimY,
                                                      unsigned int blockDimZ, unsigned int sharedMemBytes,
                                                      hipStream_t stream, void **kernelParams)
{
    const struct launch_options options = {.cooperative = true};

    return hip_return(launch_module(f, (dim3){gridDimX, gridDimY, gridDimZ},
                                    (dim3){blockDimX, blockDimY, blockDimZ}, sharedMemBytes, stream,
                                    kernelParams, NULL, &options));
}

HIP_ENTRY hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG *config, hipFunction_t f, void **params,
                                          void **extra)
{
    struct launch_options options = {0};

    if (!f)
        return hip_return(hipErrorInvalidResourceHandle);
    if (!config)
        return hip_return(hipErrorInvalidConfiguration);
    hipError_t error = launch_attributes(config->attrs, config->numAttrs, &options);
    if (error == hipSuccess)
        error = launch_module(f, (dim3){config->gridDimX, config->gridDimY, config->gridDimZ},
                              (dim3){config->blockDimX, config->blockDimY, config->blockDimZ},
                              config->sharedMemBytes, config->hStream, params, extra, &options);
    return hip_return(error);
}

/* Sizes in work-items, not necessarily whole workgroups. */
static hipError_t launch_items(hipFunction_t f, const uint32_t items[3], const uint32_t block[3],
                               size_t shared, hipStream_t stream, void **params, void **extra,
                               hipEvent_t start, hipEvent_t stop)
{
    struct hip_launch launch;

    if (!hip_handle_ok(HIP_KIND_FUNCTION, f))
        return f ? hipErrorInvalidImage : hipErrorInvalidResourceHandle;
    const uint64_t wide[3] = {items[0], items[1], items[2]};
    hipError_t error = launch_check_items(f, wide, block, shared, false, hipErrorInvalidConfiguration);
    if (error != hipSuccess)
        return error;
    hip_launch_set(&launch, f, (dim3){1, 1, 1}, (dim3){block[0], block[1], block[2]}, shared);
    memcpy(launch.grid, items, sizeof launch.grid);
    error = hip_launch_arguments(&launch, params, extra);
    return error == hipSuccess ? launch_send(stream, &launch, start, stop) : error;
}

hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX,
                                    uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                    hipStream_t hStream, void **kernelParams, void **extra,
                                    hipEvent_t startEvent, hipEvent_t stopEvent, uint32_t flags);
hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX,
                                    uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                    hipStream_t hStream, void **kernelParams, void **extra,
                                    hipEvent_t startEvent, hipEvent_t stopEvent);

HIP_ENTRY hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX,
                                              uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
                                              uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                                              uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                              hipStream_t hStream, void **kernelParams, void **extra,
                                              hipEvent_t startEvent, hipEvent_t stopEvent, uint32_t flags)
{
    const uint32_t items[3] = {globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ};
    const uint32_t block[3] = {localWorkSizeX, localWorkSizeY, localWorkSizeZ};

    (void)flags;
    return hip_return(
        launch_items(f, items, block, sharedMemBytes, hStream, kernelParams, extra, startEvent, stopEvent));
}

HIP_ENTRY hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX,
                                              uint32_t globalWorkSizeY, uint32_t globalWorkSizeZ,
                                              uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                                              uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                              hipStream_t hStream, void **kernelParams, void **extra,
                                              hipEvent_t startEvent, hipEvent_t stopEvent)
{
    return hipExtModuleLaunchKernel(f, globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ, localWorkSizeX,
                                    localWorkSizeY, localWorkSizeZ, sharedMemBytes, hStream, kernelParams,
                                    extra, startEvent, stopEvent, 0);
}

/* Programs compiled against headers without extern "C" ask for these. */
HIP_ALIAS(hipExtModuleLaunchKernel,
          _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j);
HIP_ALIAS(hipHccModuleLaunchKernel,
          _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_);
