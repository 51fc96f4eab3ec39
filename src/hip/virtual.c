/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory management: address ranges and memory apart.  A range is
 * reserved address space without access, memory is a file in memory, mapping
 * one into the other is mmap(), and access is mprotect().
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "size.h"
#include "stream.h"

#define VIRTUAL_MINIMUM     ((size_t)4096)
#define VIRTUAL_RECOMMENDED ((size_t)2 << 20)

struct ihipMemGenericAllocationHandle {
    struct hip_handle head;
    int fd;
    size_t bytes;
    hipMemAllocationProp prop;
    _Atomic unsigned refs; /* the program's and those of mappings */
};

struct virtual_map {
    void *address;
    size_t bytes;
    struct ihipMemGenericAllocationHandle *memory;
    hipMemAccessFlags access[HIP_DEVICES_MAX];
    bool registered;
    struct virtual_map *next;
};

struct virtual_range {
    void *address;
    size_t bytes;
    struct virtual_range *next;
};

struct virtual_state {
    pthread_mutex_t lock;
    struct virtual_map *maps;
    struct virtual_range *ranges;
};

static struct virtual_state *virtual_state(void)
{
    static struct virtual_state state = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &state;
}

static bool virtual_ok(hipMemGenericAllocationHandle_t handle)
{
    return hip_handle_ok(HIP_KIND_MEMORY, handle);
}

static void virtual_drop(struct ihipMemGenericAllocationHandle *memory)
{
    if (atomic_fetch_sub(&memory->refs, 1) == 1) {
        close(memory->fd);
        hip_handle_free(memory);
    }
}

static bool virtual_inside(const void *outer, size_t outer_bytes, const void *inner, size_t inner_bytes)
{
    uintptr_t a = (uintptr_t)outer, b = (uintptr_t)inner;

    return b >= a && b - a <= outer_bytes && inner_bytes <= outer_bytes - (b - a);
}

static hipError_t virtual_prop_check(const hipMemAllocationProp *prop)
{
    if (prop->type != hipMemAllocationTypePinned || prop->location.type != hipMemLocationTypeDevice)
        return hipErrorInvalidValue;
    if (prop->location.id < 0 || prop->location.id >= hip_runtime()->devices)
        return hipErrorInvalidValue;
    if (prop->requestedHandleType != hipMemHandleTypeNone &&
        prop->requestedHandleType != hipMemHandleTypePosixFileDescriptor)
        return hipErrorNotSupported;
    return hipSuccess;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

HIP_ENTRY hipError_t hipMemGetAllocationGranularity(size_t *granularity, const hipMemAllocationProp *prop,
                                                    hipMemAllocationGranularity_flags option)
{
    if (!granularity || !prop || (unsigned)option > hipMemAllocationGranularityRecommended)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error == hipSuccess)
        error = virtual_prop_check(prop);
    if (error == hipSuccess)
        *granularity = option == hipMemAllocationGranularityMinimum ? VIRTUAL_MINIMUM : VIRTUAL_RECOMMENDED;
    return hip_return(error);
}

static hipError_t virtual_new(int fd, size_t bytes, const hipMemAllocationProp *prop,
                              hipMemGenericAllocationHandle_t *out)
{
    struct ihipMemGenericAllocationHandle *memory = hip_handle_new(HIP_KIND_MEMORY, sizeof *memory);

    if (!memory) {
        close(fd);
        return hipErrorOutOfMemory;
    }
    memory->fd = fd;
    memory->bytes = bytes;
    memory->prop = *prop;
    atomic_store(&memory->refs, 1);
    *out = memory;
    return hipSuccess;
}

HIP_ENTRY hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t size,
                                  const hipMemAllocationProp *prop, unsigned long long flags)
{
    uint64_t left, total;

    if (!handle || !size || !prop || flags || size % VIRTUAL_MINIMUM)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error == hipSuccess)
        error = virtual_prop_check(prop);
    if (error != hipSuccess)
        return hip_return(error);
    const struct hip_device *device = &hip_runtime()->device[prop->location.id];
    if (ehp_mem_info(hip_runtime()->machine, device->agent, &left, &total) != EHP_OK || size > left)
        return hip_return(hipErrorOutOfMemory);
    int fd = memfd_create("ehp", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0) {
        if (fd >= 0)
            close(fd);
        return hip_return(hipErrorOutOfMemory);
    }
    return hip_return(virtual_new(fd, size, prop, handle));
}

HIP_ENTRY hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle)
{
    if (!virtual_ok(handle))
        return hip_return(hipErrorInvalidValue);
    virtual_drop(handle);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *prop,
                                                             hipMemGenericAllocationHandle_t handle)
{
    if (!prop || !virtual_ok(handle))
        return hip_return(hipErrorInvalidValue);
    *prop = handle->prop;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemExportToShareableHandle(void *shareableHandle,
                                                   hipMemGenericAllocationHandle_t handle,
                                                   hipMemAllocationHandleType handleType,
                                                   unsigned long long flags)
{
    if (!shareableHandle || !virtual_ok(handle) || flags)
        return hip_return(hipErrorInvalidValue);
    if (handleType != hipMemHandleTypePosixFileDescriptor)
        return hip_return(hipErrorNotSupported);
    int fd = dup(handle->fd);
    if (fd < 0)
        return hip_return(hipErrorOperatingSystem);
    memcpy(shareableHandle, &fd, sizeof fd);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *handle, void *osHandle,
                                                     hipMemAllocationHandleType shHandleType)
{
    hipMemAllocationProp prop = {.type = hipMemAllocationTypePinned,
                                 .requestedHandleType = hipMemHandleTypePosixFileDescriptor,
                                 .location = {hipMemLocationTypeDevice, hip_thread()->device}};

    if (!handle)
        return hip_return(hipErrorInvalidValue);
    if (shHandleType != hipMemHandleTypePosixFileDescriptor)
        return hip_return(hipErrorNotSupported);
    hipError_t error = hip_open();
    if (error != hipSuccess)
        return hip_return(error);
    int fd = dup((int)(intptr_t)osHandle);
    off_t bytes = fd >= 0 ? lseek(fd, 0, SEEK_END) : -1;
    if (bytes <= 0) {
        if (fd >= 0)
            close(fd);
        return hip_return(hipErrorInvalidValue);
    }
    return hip_return(virtual_new(fd, (size_t)bytes, &prop, handle));
}

/* ---- addresses ----------------------------------------------------------------------------------------- */

HIP_ENTRY hipError_t hipMemAddressReserve(void **ptr, size_t size, size_t alignment, void *addr,
                                          unsigned long long flags)
{
    struct virtual_state *state = virtual_state();

    if (!ptr || !size || flags || size % VIRTUAL_MINIMUM || (alignment & (alignment - 1)))
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error != hipSuccess)
        return hip_return(error);
    struct virtual_range *range = calloc(1, sizeof *range);
    if (alignment < VIRTUAL_MINIMUM)
        alignment = VIRTUAL_MINIMUM;
    size_t slack = alignment > VIRTUAL_MINIMUM ? alignment : 0;
    char *map = range ? mmap(addr, size_add(size, slack), PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                      : MAP_FAILED;
    if (map == MAP_FAILED) {
        free(range);
        return hip_return(hipErrorOutOfMemory);
    }
    char *base = (char *)(((uintptr_t)map + alignment - 1) & ~(uintptr_t)(alignment - 1));
    if (base > map)
        munmap(map, (size_t)(base - map));
    if (base + size < map + size + slack)
        munmap(base + size, (size_t)(map + slack - base));
    *range = (struct virtual_range){base, size, NULL};
    pthread_mutex_lock(&state->lock);
    range->next = state->ranges;
    state->ranges = range;
    pthread_mutex_unlock(&state->lock);
    *ptr = base;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipMemAddressFree(void *devPtr, size_t size)
{
    struct virtual_state *state = virtual_state();
    hipError_t error = hipErrorInvalidValue;

    pthread_mutex_lock(&state->lock);
    for (struct virtual_range **link = &state->ranges; *link; link = &(*link)->next) {
        struct virtual_range *range = *link;
        if (range->address != devPtr || range->bytes != size)
            continue;
        bool mapped = false;
        for (struct virtual_map *map = state->maps; map; map = map->next)
            mapped |= virtual_inside(devPtr, size, map->address, map->bytes);
        if (!mapped) {
            *link = range->next;
            munmap(devPtr, size);
            free(range);
            error = hipSuccess;
        }
        break;
    }
    pthread_mutex_unlock(&state->lock);
    return hip_return(error);
}

static struct virtual_map *virtual_find(const void *address, size_t bytes)
{
    for (struct virtual_map *map = virtual_state()->maps; map; map = map->next)
        if (virtual_inside(map->address, map->bytes, address, bytes))
            return map;
    return NULL;
}

static hipError_t virtual_map_new(void *ptr, size_t size, size_t offset,
                                  hipMemGenericAllocationHandle_t handle)
{
    struct virtual_state *state = virtual_state();
    struct virtual_range *range = state->ranges;
    struct virtual_map *map;

    while (range && !virtual_inside(range->address, range->bytes, ptr, size))
        range = range->next;
    if (!range)
        return hipErrorInvalidValue;
    for (map = state->maps; map; map = map->next)
        if ((char *)ptr < (char *)map->address + map->bytes && (char *)map->address < (char *)ptr + size)
            return hipErrorInvalidValue;
    map = calloc(1, sizeof *map);
    if (!map)
        return hipErrorOutOfMemory;
    if (mmap(ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED, handle->fd, (off_t)offset) == MAP_FAILED) {
        free(map);
        return hipErrorMapFailed;
    }
    atomic_fetch_add(&handle->refs, 1);
    map->address = ptr;
    map->bytes = size;
    map->memory = handle;
    map->next = state->maps;
    state->maps = map;
    return hipSuccess;
}

HIP_ENTRY hipError_t hipMemMap(void *ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
                               unsigned long long flags)
{
    struct virtual_state *state = virtual_state();

    if (!ptr || !size || flags || size % VIRTUAL_MINIMUM || offset % VIRTUAL_MINIMUM || !virtual_ok(handle) ||
        offset > handle->bytes || size > handle->bytes - offset)
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&state->lock);
    hipError_t error = virtual_map_new(ptr, size, offset, handle);
    pthread_mutex_unlock(&state->lock);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipMemUnmap(void *ptr, size_t size)
{
    struct virtual_state *state = virtual_state();
    hipError_t error = hipErrorInvalidValue;

    if (!ptr || !size)
        return hip_return(error);
    if (hip_open() == hipSuccess)
        for (int i = 0; i < hip_runtime()->devices; i++)
            hip_device_wait(&hip_runtime()->device[i]);
    pthread_mutex_lock(&state->lock);
    for (struct virtual_map **link = &state->maps; *link;) {
        struct virtual_map *map = *link;
        if (!virtual_inside(ptr, size, map->address, map->bytes)) {
            link = &map->next;
            continue;
        }
        *link = map->next;
        if (map->registered)
            hip_memory_disown(map->address);
        mmap(map->address, map->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
             0);
        virtual_drop(map->memory);
        free(map);
        error = hipSuccess;
    }
    pthread_mutex_unlock(&state->lock);
    return hip_return(error);
}

/* ---- access -------------------------------------------------------------------------------------------- */

static hipError_t virtual_access(struct virtual_map *map, const hipMemAccessDesc *desc, size_t count)
{
    bool write = false, read = false;

    for (size_t i = 0; i < count; i++)
        map->access[desc[i].location.id] = desc[i].flags;
    for (int i = 0; i < hip_runtime()->devices; i++) {
        write |= map->access[i] == hipMemAccessFlagsProtReadWrite;
        read |= map->access[i] == hipMemAccessFlagsProtRead;
    }
    /* One page table: the widest access anybody has. */
    if (mprotect(map->address, map->bytes,
                 write  ? PROT_READ | PROT_WRITE
                 : read ? PROT_READ
                        : PROT_NONE) != 0)
        return hipErrorOperatingSystem;
    if ((write || read) && !map->registered) {
        hipError_t error = hip_memory_own(map->address, map->bytes, map->memory->prop.location.id);
        if (error != hipSuccess)
            return error;
        map->registered = true;
    }
    return hipSuccess;
}

HIP_ENTRY hipError_t hipMemSetAccess(void *ptr, size_t size, const hipMemAccessDesc *desc, size_t count)
{
    struct virtual_state *state = virtual_state();
    hipError_t error = hip_open();
    bool any = false;

    if (error != hipSuccess)
        return hip_return(error);
    if (!ptr || !size || !desc || !count)
        return hip_return(hipErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        hipMemAccessFlags flags = desc[i].flags;
        if (desc[i].location.type != hipMemLocationTypeDevice || desc[i].location.id < 0 ||
            desc[i].location.id >= hip_runtime()->devices ||
            (flags != hipMemAccessFlagsProtNone && flags != hipMemAccessFlagsProtRead &&
             flags != hipMemAccessFlagsProtReadWrite))
            return hip_return(hipErrorInvalidValue);
    }
    pthread_mutex_lock(&state->lock);
    for (struct virtual_map *map = state->maps; map && error == hipSuccess; map = map->next)
        if (virtual_inside(ptr, size, map->address, map->bytes)) {
            error = virtual_access(map, desc, count);
            any = true;
        }
    pthread_mutex_unlock(&state->lock);
    return hip_return(any ? error : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location, void *ptr)
{
    struct virtual_state *state = virtual_state();

    if (!flags || !location || !ptr || location->type != hipMemLocationTypeDevice ||
        hip_open() != hipSuccess || location->id < 0 || location->id >= hip_runtime()->devices)
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&state->lock);
    const struct virtual_map *map = virtual_find(ptr, 1);
    if (map)
        *flags = map->access[location->id];
    pthread_mutex_unlock(&state->lock);
    return hip_return(map ? hipSuccess : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t *handle, void *addr)
{
    struct virtual_state *state = virtual_state();

    if (!handle || !addr)
        return hip_return(hipErrorInvalidValue);
    pthread_mutex_lock(&state->lock);
    struct virtual_map *map = virtual_find(addr, 1);
    if (map) {
        atomic_fetch_add(&map->memory->refs, 1);
        *handle = map->memory;
    }
    pthread_mutex_unlock(&state->lock);
    return hip_return(map ? hipSuccess : hipErrorInvalidValue);
}
