/* SPDX-License-Identifier: MIT */
/* Contexts of the driver interface: trivial, each device has exactly its primary one. */
#include "hip/core/device.h"

static hipError_t context_device(hipCtx_t ctx, struct hip_device **device)
{
    hipError_t error = hip_open();

    if (error != hipSuccess)
        return error;
    for (int i = 0; i < hip_runtime()->devices; i++)
        if (ctx == &hip_runtime()->device[i].ctx) {
            *device = &hip_runtime()->device[i];
            return hipSuccess;
        }
    return hipErrorInvalidContext;
}

HIP_ENTRY hipError_t hipCtxCreate(hipCtx_t *ctx, unsigned int flags, hipDevice_t device)
{
    struct hip_device *found;
    struct hip_thread *thread = hip_thread();

    if (!ctx)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(device, &found);
    if (error != hipSuccess)
        return hip_return(error);
    if (thread->ctxs == HIP_CTX_DEPTH)
        return hip_return(hipErrorOutOfMemory);
    thread->ctx[thread->ctxs++] = thread->device;
    thread->device = device;
    found->ctx.flags = flags;
    found->active = true;
    *ctx = &found->ctx;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipCtxDestroy(hipCtx_t ctx)
{
    struct hip_device *device;
    struct hip_thread *thread = hip_thread();

    if (!ctx)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = context_device(ctx, &device);
    if (error != hipSuccess)
        return hip_return(error);
    if (thread->ctxs && thread->device == device->ordinal)
        thread->device = thread->ctx[--thread->ctxs];
    device->active = false;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipCtxPushCurrent(hipCtx_t ctx)
{
    struct hip_device *device;
    struct hip_thread *thread = hip_thread();
    hipError_t error = context_device(ctx, &device);

    if (error != hipSuccess)
        return hip_return(error);
    if (thread->ctxs == HIP_CTX_DEPTH)
        return hip_return(hipErrorOutOfMemory);
    thread->ctx[thread->ctxs++] = thread->device;
    thread->device = device->ordinal;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipCtxPopCurrent(hipCtx_t *ctx)
{
    struct hip_thread *thread = hip_thread();
    struct hip_device *device;
    hipError_t error = hip_current(&device);

    if (error != hipSuccess)
        return hip_return(error);
    if (!thread->ctxs)
        return hip_return(hipErrorInvalidContext);
    thread->device = thread->ctx[--thread->ctxs];
    if (ctx)
        *ctx = &device->ctx;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipCtxSetCurrent(hipCtx_t ctx)
{
    struct hip_device *device;
    struct hip_thread *thread = hip_thread();

    if (!ctx) {
        if (thread->ctxs)
            thread->device = thread->ctx[--thread->ctxs];
        return hip_return(hip_open());
    }
    hipError_t error = context_device(ctx, &device);
    if (error == hipSuccess)
        thread->device = device->ordinal;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipCtxGetCurrent(hipCtx_t *ctx)
{
    struct hip_device *device;

    if (!ctx)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error == hipSuccess)
        *ctx = &device->ctx;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipCtxGetDevice(hipDevice_t *device)
{
    if (!device)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error == hipSuccess)
        *device = hip_thread()->device;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipCtxGetApiVersion(hipCtx_t ctx, int *apiVersion)
{
    struct hip_device *device;

    if (!apiVersion)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = context_device(ctx, &device);
    *apiVersion = 4; /* the constant ROCm returns */
    return hip_return(error);
}

HIP_ENTRY hipError_t hipCtxGetFlags(unsigned int *flags)
{
    struct hip_device *device;

    if (!flags)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error == hipSuccess)
        *flags = device->ctx.flags;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipCtxGetCacheConfig(hipFuncCache_t *cacheConfig)
{
    return hipDeviceGetCacheConfig(cacheConfig);
}

HIP_ENTRY hipError_t hipCtxSetCacheConfig(hipFuncCache_t cacheConfig)
{
    return hipDeviceSetCacheConfig(cacheConfig);
}

HIP_ENTRY hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig *pConfig)
{
    return hipDeviceGetSharedMemConfig(pConfig);
}

HIP_ENTRY hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config)
{
    return hipDeviceSetSharedMemConfig(config);
}

HIP_ENTRY hipError_t hipCtxSynchronize(void)
{
    return hipDeviceSynchronize();
}

HIP_ENTRY hipError_t hipCtxEnablePeerAccess(hipCtx_t peerCtx, unsigned int flags)
{
    struct hip_device *device;
    hipError_t error = context_device(peerCtx, &device);

    return error == hipSuccess ? hipDeviceEnablePeerAccess(device->ordinal, flags) : hip_return(error);
}

HIP_ENTRY hipError_t hipCtxDisablePeerAccess(hipCtx_t peerCtx)
{
    struct hip_device *device;
    hipError_t error = context_device(peerCtx, &device);

    return error == hipSuccess ? hipDeviceDisablePeerAccess(device->ordinal) : hip_return(error);
}

HIP_ENTRY hipError_t hipDevicePrimaryCtxGetState(hipDevice_t dev, unsigned int *flags, int *active)
{
    struct hip_device *device;

    hipError_t error = hip_device_at(dev, &device);
    if (error != hipSuccess)
        return hip_return(error);
    if (flags)
        *flags = device->ctx.flags;
    if (active) /* a thread's current device is in use without being asked for */
        *active = device->active || hip_thread()->device == dev;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *pctx, hipDevice_t dev)
{
    struct hip_device *device;

    if (!pctx)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(dev, &device);
    if (error == hipSuccess) {
        device->active = true;
        *pctx = &device->ctx;
    }
    return hip_return(error);
}

HIP_ENTRY hipError_t hipDevicePrimaryCtxRelease(hipDevice_t dev)
{
    struct hip_device *device;

    return hip_return(hip_device_at(dev, &device));
}

HIP_ENTRY hipError_t hipDevicePrimaryCtxReset(hipDevice_t dev)
{
    struct hip_device *device;
    hipError_t error = hip_device_at(dev, &device);

    return hip_return(error == hipSuccess ? hip_device_reset(device) : error);
}

HIP_ENTRY hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t dev, unsigned int flags)
{
    struct hip_device *device;
    hipError_t error = hip_device_at(dev, &device);

    (void)flags;
    return hip_return(error == hipSuccess ? hipErrorContextAlreadyInUse : error);
}
