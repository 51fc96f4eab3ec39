/* SPDX-License-Identifier: MIT */
/* Asking about memory: pointers, ranges, free memory, advice. */
#include <string.h>

#include "hip/observe/advise.h"
#include "hip/memory/memory.h"
#include "hip/memory/pool.h"
#include "hip/stream/stream.h"
#include "hip/memory/virtual.h"

static bool info_managed(const struct hip_memory *memory)
{
    return memory->kind == EHP_MEM_MANAGED || memory->adopted;
}

static hipMemoryType info_type(const struct hip_memory *memory)
{
    if (info_managed(memory))
        return hipMemoryTypeManaged;
    return memory->kind == EHP_MEM_DEVICE || memory->mapped ? hipMemoryTypeDevice : hipMemoryTypeHost;
}

HIP_ENTRY hipError_t hipMemGetInfo(size_t *free, size_t *total)
{
    struct hip_device *device;
    uint64_t left, all;

    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    if (hip_runtime()->advise)
        hip_advise_asked();
    int status = ehp_mem_info(hip_runtime()->machine, device->agent, &left, &all);
    if (status != EHP_OK)
        return hip_return(hip_from_status(status));
    uint64_t taken = hip_virtual_bytes(device->ordinal);
    if (free)
        *free = left > taken ? left - taken : 0;
    if (total)
        *total = all;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemPtrGetInfo(void *ptr, size_t *size)
{
    struct hip_device *device;

    if (!size)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    struct hip_memory *memory = hip_memory_find(ptr, NULL);
    if (!memory)
        return hip_return(hipErrorInvalidValue);
    *size = memory->bytes;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemGetAddressRange(hipDeviceptr_t *pbase, size_t *psize, hipDeviceptr_t dptr)
{
    struct hip_device *device;

    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    if (!pbase && !psize)
        return hip_return(hipErrorInvalidValue);
    struct hip_memory *memory = hip_memory_find(dptr, NULL);
    if (!memory)
        return hip_return(hipErrorNotFound);
    if (pbase)
        *pbase = memory->base;
    if (psize)
        *psize = memory->bytes;
    return hip_return(hipSuccess);
}

/* Of the device that has loaded the code with this variable. */
static int info_code_device(const void *ptr)
{
    const struct hip_runtime *runtime = hip_runtime();
    struct ehp_allocation allocation = EHP_ALLOCATION_INIT;
    int device = 0;

    ehp_mem_query(runtime->machine, ptr, &allocation);
    while (device < runtime->devices - 1 && runtime->device[device].agent != allocation.agent)
        device++;
    return device;
}

HIP_ENTRY hipError_t hipPointerGetAttributes(hipPointerAttribute_t *attributes, const void *ptr)
{
    struct hip_device *device;

    if (!attributes || !ptr)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    memset(attributes, 0, sizeof *attributes);
    const struct hip_memory *memory = hip_memory_find(ptr, NULL);
    size_t left;
    if (!memory && hip_memory_known(ptr, &left)) { /* a device variable */
        attributes->type = hipMemoryTypeDevice;
        attributes->device = info_code_device(ptr);
        attributes->devicePointer = (void *)(uintptr_t)ptr;
        return hip_return(hipSuccess);
    }
    if (!memory) {
        attributes->type = hipMemoryTypeUnregistered;
        attributes->device = hipInvalidDeviceId;
        return hip_return(hip_abi_major() < 6 ? hipErrorInvalidValue : hipSuccess);
    }
    attributes->type = info_type(memory);
    attributes->device = memory->device;
    attributes->isManaged = info_managed(memory);
    attributes->allocationFlags = memory->flags;
    attributes->devicePointer = (void *)(uintptr_t)ptr;
    if (memory->kind != EHP_MEM_DEVICE)
        attributes->hostPointer = (void *)(uintptr_t)ptr;
    return hip_return(hipSuccess);
}

static hipMemAllocationHandleType info_handle_types(const struct hip_memory *memory)
{
    if (memory->pool)
        return hip_pool_props(memory->pool)->handleTypes;
    return memory->shareable ? hipMemHandleTypePosixFileDescriptor : hipMemHandleTypeNone;
}

static hipError_t info_attribute(void *data, hipPointer_attribute attribute, void *ptr)
{
    struct hip_memory *memory = hip_memory_find(ptr, NULL);

    if (!memory && attribute != HIP_POINTER_ATTRIBUTE_MEMORY_TYPE &&
        attribute != HIP_POINTER_ATTRIBUTE_MAPPED)
        return hipErrorInvalidValue;
    switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_CONTEXT:
        *(hipCtx_t *)data = &hip_runtime()->device[memory->device].ctx;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = memory ? (unsigned)info_type(memory) : (unsigned)hipMemoryTypeUnregistered;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(void **)data = ptr;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
        if (memory->kind == EHP_MEM_DEVICE) {
            *(void **)data = NULL;
            return hipErrorInvalidValue;
        }
        *(void **)data = ptr;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        *(bool *)data = memory->sync_memops;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
        *(uint64_t *)data = memory->id;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
        *(bool *)data = info_managed(memory);
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = memory->device;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:
        *(bool *)data = memory->kind == EHP_MEM_DEVICE;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(void **)data = memory->base;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = memory->bytes;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_MAPPED:
        *(bool *)data = memory != NULL;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(hipMemAllocationHandleType *)data = info_handle_types(memory);
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(bool *)data = false;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(hipMemAccessFlags *)data =
            memory->read_only ? hipMemAccessFlagsProtRead : hipMemAccessFlagsProtReadWrite;
        return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(hipMemPool_t *)data = hip_pool_handle(memory->pool);
        return hipSuccess;
    default: /* HIP_POINTER_ATTRIBUTE_P2P_TOKENS among them */
        return hipErrorInvalidValue;
    }
}

HIP_ENTRY hipError_t hipPointerGetAttribute(void *data, hipPointer_attribute attribute, hipDeviceptr_t ptr)
{
    struct hip_device *device;

    if (!data || !ptr)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    return hip_return(error == hipSuccess ? info_attribute(data, attribute, ptr) : error);
}

HIP_ENTRY hipError_t hipDrvPointerGetAttributes(unsigned int numAttributes, hipPointer_attribute *attributes,
                                                void **data, hipDeviceptr_t ptr)
{
    struct hip_device *device;

    if (!numAttributes || !attributes || !data || !ptr)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    for (unsigned i = 0; i < numAttributes; i++)
        if (data[i])
            info_attribute(data[i], attributes[i], ptr); /* what does not apply is left alone */
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipPointerSetAttribute(const void *value, hipPointer_attribute attribute,
                                            hipDeviceptr_t ptr)
{
    struct hip_device *device;

    if (!value || !ptr || attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    struct hip_memory *memory = hip_memory_find(ptr, NULL);
    if (memory)
        memory->sync_memops = *(const unsigned char *)value != 0;
    return hip_return(memory ? hipSuccess : hipErrorInvalidDevicePointer);
}

/* ---- advice -------------------------------------------------------------------------------------------- */

/* Advice is for whole pages: what is left of the allocation's last one counts as its own. */
static hipError_t info_range(const void *ptr, size_t count, struct hip_memory **memory)
{
    const size_t page = 4096;
    size_t left;

    *memory = hip_memory_find(ptr, &left);
    if (!*memory || !info_managed(*memory))
        return hipErrorInvalidValue;
    left += -((size_t)ptr + left) & (page - 1);
    if (count > left)
        return hipErrorInvalidValue;
    return hipSuccess;
}

static bool info_device_ok(int device)
{
    return device == hipCpuDeviceId || (device >= 0 && device < hip_runtime()->devices);
}

static bool info_pageable(void)
{
    return hip_runtime()->device[0].info.xnack;
}

static uint32_t info_device_bit(int device)
{
    return device == hipCpuDeviceId ? UINT32_C(1) << 31 : UINT32_C(1) << device;
}

void hip_memory_prefer(const void *ptr, size_t count, int package)
{
    struct ehp_numa_policy policy = {.mode = EHP_NUMA_DEFAULT};
    const uintptr_t page = 4096, first = (uintptr_t)ptr & ~(page - 1),
                    end = ((uintptr_t)ptr + count + page - 1) & ~(page - 1);

    if (package >= 0)
        policy = (struct ehp_numa_policy){.mode = EHP_NUMA_PREFERRED, .nodes = UINT64_C(1) << package};
    ehp_numa_bind(hip_runtime()->machine, (const void *)first, end - first, &policy);
}

/* Where memory is to be: for a device, hipCpuDeviceId for the host, and of a package, or that of whoever
 * touches it first. */
struct info_place {
    int device, package; /* -1: by touch */
};

static struct info_place info_place_of(int device)
{
    const bool known = device >= 0 && device < hip_runtime()->devices;
    return (struct info_place){device, known ? (int)hip_runtime()->device[device].info.package : -1};
}

/* The host's nodes are the packages. */
static hipError_t info_location(hipMemLocation location, struct info_place *place)
{
    const hipError_t error = hip_open();

    if (error != hipSuccess)
        return error;
    *place = info_place_of(location.type == hipMemLocationTypeDevice ? location.id : hipCpuDeviceId);
    switch (location.type) {
    case hipMemLocationTypeDevice:
    case hipMemLocationTypeHost:
    case hipMemLocationTypeHostNumaCurrent:
        return hipSuccess;
    case hipMemLocationTypeHostNuma:
        place->package = location.id;
        return location.id >= 0 && (unsigned)location.id < hip_runtime()->device[0].info.packages
                   ? hipSuccess
                   : hipErrorInvalidDevice;
    default:
        return hipErrorInvalidValue;
    }
}

static hipError_t info_advise(const void *dev_ptr, size_t count, hipMemoryAdvise advice,
                              struct info_place place)
{
    struct hip_memory *memory;
    struct hip_device *current;

    if (!dev_ptr || !count)
        return hipErrorInvalidValue;
    hipError_t error = hip_current(&current);
    if (error != hipSuccess)
        return error;
    bool no_device = advice == hipMemAdviseSetReadMostly || advice == hipMemAdviseUnsetReadMostly ||
                     advice == hipMemAdviseUnsetPreferredLocation;
    if (!no_device && !info_device_ok(place.device))
        return hipErrorInvalidDevice;
    error = info_range(dev_ptr, count, &memory);
    if (error != hipSuccess)
        return error;
    switch (advice) {
    case hipMemAdviseSetReadMostly:
    case hipMemAdviseUnsetReadMostly:
        memory->read_mostly = advice == hipMemAdviseSetReadMostly;
        break;
    case hipMemAdviseSetPreferredLocation:
        memory->preferred = place.device;
        hip_memory_prefer(dev_ptr, count, place.package);
        break;
    case hipMemAdviseUnsetPreferredLocation:
        memory->preferred = hipInvalidDeviceId;
        hip_memory_prefer(dev_ptr, count, -1);
        break;
    case hipMemAdviseSetAccessedBy:
        memory->accessed_by |= info_device_bit(place.device);
        break;
    case hipMemAdviseUnsetAccessedBy:
        memory->accessed_by &= ~info_device_bit(place.device);
        break;
    case hipMemAdviseSetCoarseGrain:
    case hipMemAdviseUnsetCoarseGrain:
        memory->coarse = advice == hipMemAdviseSetCoarseGrain;
        break;
    default:
        return hipErrorInvalidValue;
    }
    return hipSuccess;
}

HIP_ENTRY hipError_t hipMemAdvise(const void *dev_ptr, size_t count, hipMemoryAdvise advice, int device)
{
    const hipError_t error = hip_open();

    if (error != hipSuccess)
        return hip_return(error);
    return hip_return(info_advise(dev_ptr, count, advice, info_place_of(device)));
}

HIP_ENTRY hipError_t hipMemAdvise_v2(const void *dev_ptr, size_t count, hipMemoryAdvise advice,
                                     hipMemLocation location)
{
    struct info_place place;
    hipError_t error = info_location(location, &place);

    if (error == hipSuccess)
        error = info_advise(dev_ptr, count, advice, place);
    return hip_return(error);
}

static hipError_t info_prefetch(const void *dev_ptr, size_t count, int device, hipStream_t stream)
{
    struct hip_memory *memory;
    struct ihipStream_t *found;

    if (!dev_ptr || !count)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(stream, &found);
    if (error != hipSuccess)
        return error;
    if (!info_device_ok(device))
        return hipErrorInvalidDevice;
    error = info_range(dev_ptr, count, &memory);
    if (error == hipSuccess)
        memory->prefetched = device;
    else if (memory || !info_pageable())
        return error; /* with XNACK the process's own memory is the device's too */
    /* One memory: there is nothing to move, but a GPU that has the pages in its table need not fault. */
    struct hip_op op = {.kind = HIP_OP_EMPTY};
    if (device != hipCpuDeviceId && info_pageable()) {
        op.kind = HIP_OP_PREFETCH;
        op.prefetch.address = dev_ptr;
        op.prefetch.bytes = count;
        op.prefetch.agent = hip_runtime()->device[device].agent;
    }
    return hip_stream_op(stream, &op);
}

HIP_ENTRY hipError_t hipMemPrefetchAsync(const void *dev_ptr, size_t count, int device, hipStream_t stream)
{
    return hip_return(info_prefetch(dev_ptr, count, device, stream));
}

HIP_ENTRY hipError_t hipMemPrefetchAsync_v2(const void *dev_ptr, size_t count, hipMemLocation location,
                                            unsigned int flags, hipStream_t stream)
{
    struct info_place place;
    hipError_t error = flags ? hipErrorInvalidValue : info_location(location, &place);

    if (error == hipSuccess)
        error = info_prefetch(dev_ptr, count, place.device, stream);
    return hip_return(error);
}

static hipError_t info_accessed_by(const struct hip_memory *memory, int *list, size_t count)
{
    size_t n = 0;

    for (int device = 0; device < hip_runtime()->devices && n < count; device++)
        if (memory->accessed_by & info_device_bit(device))
            list[n++] = device;
    if (n < count && (memory->accessed_by & info_device_bit(hipCpuDeviceId)))
        list[n++] = hipCpuDeviceId;
    while (n < count)
        list[n++] = hipInvalidDeviceId;
    return hipSuccess;
}

static hipError_t info_range_attribute(void *data, size_t size, hipMemRangeAttribute attribute,
                                       const struct hip_memory *memory)
{
    int value;

    if (!data || !size || size % 4)
        return hipErrorInvalidValue;
    switch (attribute) {
    case hipMemRangeAttributeReadMostly:
        value = memory->read_mostly;
        break;
    case hipMemRangeAttributePreferredLocation:
        value = memory->preferred;
        break;
    case hipMemRangeAttributeLastPrefetchLocation:
        value = memory->prefetched;
        break;
    case hipMemRangeAttributeCoherencyMode:
        value = memory->coarse ? hipMemRangeCoherencyModeCoarseGrain : hipMemRangeCoherencyModeFineGrain;
        break;
    case hipMemRangeAttributeAccessedBy:
        return info_accessed_by(memory, data, size / sizeof(int));
    default:
        return hipErrorInvalidValue;
    }
    if (size != sizeof value)
        return hipErrorInvalidValue;
    memcpy(data, &value, sizeof value);
    return hipSuccess;
}

HIP_ENTRY hipError_t hipMemRangeGetAttribute(void *data, size_t data_size, hipMemRangeAttribute attribute,
                                             const void *dev_ptr, size_t count)
{
    struct hip_memory *memory;
    struct hip_device *device;

    if (!data || !data_size || !dev_ptr || !count)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error == hipSuccess)
        error = info_range(dev_ptr, count, &memory);
    return hip_return(error == hipSuccess ? info_range_attribute(data, data_size, attribute, memory) : error);
}

HIP_ENTRY hipError_t hipMemRangeGetAttributes(void **data, size_t *data_sizes,
                                              hipMemRangeAttribute *attributes, size_t num_attributes,
                                              const void *dev_ptr, size_t count)
{
    struct hip_memory *memory;
    struct hip_device *device;

    if (!data || !data_sizes || !attributes || !num_attributes || !dev_ptr || !count)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error == hipSuccess)
        error = info_range(dev_ptr, count, &memory);
    for (size_t i = 0; error == hipSuccess && i < num_attributes; i++)
        error = info_range_attribute(data[i], data_sizes[i], attributes[i], memory);
    return hip_return(error);
}
