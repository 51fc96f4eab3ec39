/* SPDX-License-Identifier: MIT */
/* Choosing, naming, limiting, synchronising and resetting devices. */
#include "hip/core/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/graph/graph.h"
#include "hip/core/hostcall.h"
#include "hip/memory/memory.h"
#include "hip/core/module.h"
#include "hip/memory/pool.h"
#include "hip/stream/stream.h"

/* What programs may set, as ROCm has it to begin with and after a reset. */
static void device_set_defaults(struct hip_device *device)
{
    device->flags = hipDeviceScheduleSpin;
    device->limits[hipLimitStackSize] = 1024;
    device->limits[hipLimitMallocHeapSize] = (size_t)8 << 20;
}

bool hip_device_init(struct hip_runtime *runtime, int ordinal, unsigned agent)
{
    struct hip_device *device = &runtime->device[ordinal];

    memset((void *)device, 0, sizeof *device);
    device->ordinal = ordinal;
    device->agent = agent;
    device->ctx.device = ordinal;
    device->info = (struct ehp_agent_info)EHP_AGENT_INFO_INIT;
    if (ehp_agent_info(runtime->machine, agent, &device->info) != EHP_OK)
        return false;
    pthread_mutex_init(&device->streams_lock, NULL);
    pthread_mutex_init(&device->queues_lock, NULL);
    pthread_mutex_init(&device->lock, NULL);
    device_set_defaults(device);
    hip_device_fill_props(device);
    return true;
}

hipError_t hip_device_reset(struct hip_device *device)
{
    hipError_t error = hip_wait_users(device);
    if (error != hipSuccess)
        return error;
    hip_captures_reset(device);
    hip_streams_reset(device);
    hip_memory_reset(device);
    hip_modules_reset(device);
    hip_hostcall_reset(device);
    atomic_store(&device->fault, 0);
    atomic_store(&device->assertion, false);
    device->active = false;
    memset(device->peer, 0, sizeof device->peer);
    device_set_defaults(device);
    return hipSuccess;
}

HIP_ENTRY hipError_t hipInit(unsigned int flags)
{
    return hip_return(flags ? hipErrorInvalidValue : hip_open());
}

HIP_ENTRY hipError_t hipDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return hip_return(hipErrorInvalidValue);
    *driverVersion = HIP_VERSION;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipRuntimeGetVersion(int *runtimeVersion)
{
    if (!runtimeVersion)
        return hip_return(hipErrorInvalidValue);
    *runtimeVersion = HIP_VERSION;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGetDeviceCount(int *count)
{
    if (!count)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    *count = error == hipSuccess ? hip_runtime()->devices : 0;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipGetDevice(int *deviceId)
{
    if (!deviceId)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    *deviceId = error == hipSuccess ? hip_thread()->device : -1;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipSetDevice(int deviceId)
{
    struct hip_device *device;
    hipError_t error = hip_device_at(deviceId, &device);

    if (error == hipSuccess) {
        hip_thread()->device = deviceId;
        device->active = true;
    }
    return hip_return(error);
}

HIP_ENTRY hipError_t hipSetValidDevices(int *device_arr, int len)
{
    hipError_t error = hip_open();

    if (error != hipSuccess)
        return hip_return(error);
    if ((len && !device_arr) || len < 0 || len > hip_runtime()->devices)
        return hip_return(hipErrorInvalidValue);
    for (int i = 0; i < len; i++)
        if (device_arr[i] < 0 || device_arr[i] >= hip_runtime()->devices)
            return hip_return(hipErrorInvalidDevice);
    if (len)
        hip_thread()->device = device_arr[0];
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipDeviceGet(hipDevice_t *device, int ordinal)
{
    struct hip_device *found;

    if (!device)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(ordinal, &found);
    if (error == hipSuccess)
        *device = ordinal;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipDeviceGetName(char *name, int len, hipDevice_t device)
{
    struct hip_device *found;

    if (!name || len <= 0)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(device, &found);
    if (error == hipSuccess)
        snprintf(name, (size_t)len, "%s", found->props.name);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device)
{
    struct hip_device *found;

    if (!uuid)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(device, &found);
    if (error == hipSuccess)
        *uuid = found->props.uuid;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t device)
{
    struct hip_device *found;

    if (!bytes)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(device, &found);
    if (error == hipSuccess)
        *bytes = found->props.totalGlobalMem;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipDeviceComputeCapability(int *major, int *minor, hipDevice_t device)
{
    struct hip_device *found;

    if (!major || !minor)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(device, &found);
    if (error == hipSuccess) {
        *major = found->props.major;
        *minor = found->props.minor;
    }
    return hip_return(error);
}

HIP_ENTRY hipError_t hipDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    struct hip_device *found;

    if (!pciBusId || len <= 0)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(device, &found);
    if (error != hipSuccess)
        return hip_return(error);
    int length = snprintf(pciBusId, (size_t)len, "%04x:%02x:%02x.%x", found->info.pci_domain,
                          found->info.pci_bus, found->info.pci_device, found->info.pci_function);
    return hip_return(length < len ? hipSuccess : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    unsigned domain = 0, bus = 0, slot = 0, function = 0;

    if (!device || !pciBusId)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error != hipSuccess)
        return hip_return(error);
    int fields = sscanf(pciBusId, "%4x:%2x:%2x.%1x", &domain, &bus, &slot, &function);
    if (fields < 3)
        return hip_return(hipErrorInvalidValue);
    for (int i = 0; i < hip_runtime()->devices; i++) {
        const struct ehp_agent_info *info = &hip_runtime()->device[i].info;
        if (info->pci_domain == domain && info->pci_bus == bus && info->pci_device == slot &&
            (fields < 4 || info->pci_function == function)) {
            *device = i;
            return hip_return(hipSuccess);
        }
    }
    return hip_return(hipErrorInvalidValue);
}

/* Whether a device has at least what is asked for. */
static bool device_matches(const hipDeviceProp_tR0600 *have, const hipDeviceProp_tR0600 *want)
{
#define ENOUGH(member) have->member >= want->member
    return ENOUGH(major) && ENOUGH(minor) && ENOUGH(totalGlobalMem) && ENOUGH(sharedMemPerBlock) &&
           ENOUGH(maxThreadsPerBlock) && ENOUGH(totalConstMem) && ENOUGH(multiProcessorCount) &&
           ENOUGH(maxThreadsPerMultiProcessor) && ENOUGH(memoryClockRate) && ENOUGH(memoryBusWidth) &&
           ENOUGH(l2CacheSize) && ENOUGH(regsPerBlock) && ENOUGH(maxSharedMemoryPerMultiProcessor) &&
           ENOUGH(warpSize);
#undef ENOUGH
}

/* The first device that has all that is asked for; the first of all when none has. */
HIP_ENTRY hipError_t hipChooseDeviceR0600(int *device, const hipDeviceProp_tR0600 *prop)
{
    if (!device || !prop)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error != hipSuccess)
        return hip_return(error);
    *device = 0;
    for (int i = hip_runtime()->devices; i-- > 0;)
        if (device_matches(&hip_runtime()->device[i].props, prop))
            *device = i;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipSetDeviceFlags(unsigned int flags)
{
    struct hip_device *device;
    const unsigned known =
        hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax; /* one schedule at a time */
    unsigned schedule = flags & hipDeviceScheduleMask;

    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    if (flags & ~known || (schedule & (schedule - 1)))
        return hip_return(hipErrorInvalidValue);
    device->flags = flags;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGetDeviceFlags(unsigned int *flags)
{
    struct hip_device *device;

    if (!flags)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error == hipSuccess)
        *flags = device->flags;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipDeviceSynchronize(void)
{
    struct hip_device *device;
    hipError_t error = hip_enter(&device);

    return hip_return(error == hipSuccess ? hip_device_wait(device) : error);
}

HIP_ENTRY hipError_t hipDeviceReset(void)
{
    struct hip_device *device;
    hipError_t error = hip_current(&device);

    return hip_return(error == hipSuccess ? hip_device_reset(device) : error);
}

/* printf has no FIFO of a fixed size. */
static bool device_has_limit(enum hipLimit_t limit)
{
    return limit == hipLimitStackSize || limit == hipLimitMallocHeapSize;
}

HIP_ENTRY hipError_t hipDeviceGetLimit(size_t *pValue, enum hipLimit_t limit)
{
    struct hip_device *device;

    if (!pValue)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    if (!device_has_limit(limit))
        return hip_return(hipErrorUnsupportedLimit);
    *pValue = device->limits[limit];
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t value)
{
    struct hip_device *device;

    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    if (!device_has_limit(limit))
        return hip_return(hipErrorUnsupportedLimit);
    if (limit == hipLimitStackSize && value > EHP_SCRATCH_MAX)
        return hip_return(hipErrorInvalidValue);
    if (limit == hipLimitMallocHeapSize && value > device->props.totalGlobalMem)
        return hip_return(hipErrorInvalidValue);
    device->limits[limit] = limit == hipLimitStackSize ? (value + 15) & ~(size_t)15 : value;
    return hip_return(hipSuccess);
}

/* Cache and LDS are apart on gfx942 and banks have one width: there is nothing to configure, and ROCm says
 * so. */
static hipError_t device_not_configurable(void)
{
    hipError_t error = hip_open();

    return error == hipSuccess ? hipErrorNotSupported : error;
}

HIP_ENTRY hipError_t hipDeviceGetCacheConfig(hipFuncCache_t *cacheConfig)
{
    if (!cacheConfig)
        return hip_return(hipErrorInvalidValue);
    *cacheConfig = hipFuncCachePreferNone;
    return hip_return(hip_open());
}

HIP_ENTRY hipError_t hipDeviceSetCacheConfig(hipFuncCache_t cacheConfig)
{
    if ((unsigned)cacheConfig > hipFuncCachePreferEqual)
        return hip_return(hipErrorInvalidValue);
    return hip_return(device_not_configurable());
}

HIP_ENTRY hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig *pConfig)
{
    if (!pConfig)
        return hip_return(hipErrorInvalidValue);
    *pConfig = hipSharedMemBankSizeFourByte;
    return hip_return(hip_open());
}

HIP_ENTRY hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config)
{
    if ((unsigned)config > hipSharedMemBankSizeEightByte)
        return hip_return(hipErrorInvalidValue);
    return hip_return(device_not_configurable());
}
