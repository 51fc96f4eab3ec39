/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory management: address ranges and memory apart.  A range is
 * reserved address space without access, memory is a file in memory, mapping
 * one into the other is mmap(), and access is mprotect().
 *
 * What may be exported is a file of its own, whose last page says what it is, so
 * that any process that gets its descriptor can check and map it.  All other
 * memory is in one file: a program may have more of it than descriptors.
 */
#include "hip/core/state.h"
#include "hip/memory/virtual.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hip/memory/memory.h"
#include "hip/core/size.h"
#include "hip/stream/stream.h"

#define VIRTUAL_MINIMUM     ((size_t)4096)
#define VIRTUAL_RECOMMENDED ((size_t)2 << 20)
#define VIRTUAL_MAGIC       UINT64_C(0x6568702d766d656d)

/* The last page of a file that other processes may have. */
struct virtual_label {
    uint64_t magic, bytes;
    hipMemAllocationProp prop;
};

struct ihipMemGenericAllocationHandle {
    struct hip_handle head;
    int fd;
    off_t offset; /* in the file */
    size_t bytes;
    hipMemAllocationProp prop;
    unsigned held, mapped; /* references of the program, and of mappings */
    bool imported;         /* another process's device memory */
};

struct virtual_map {
    void *address;
    size_t bytes;
    struct ihipMemGenericAllocationHandle *memory;
    hipMemAccessFlags access[HIP_DEVICES_MAX], widest;
    bool registered;
    struct virtual_map *next;
};

struct virtual_range {
    void *address;
    size_t bytes;
    struct virtual_range *next;
};

static struct virtual_state *virtual_state(void)
{
    return &hip_state()->virtual;
}

static void virtual_lock(struct virtual_state *state)
{
    hip_arrive();
    pthread_mutex_lock(&state->lock);
}

uint64_t hip_virtual_bytes(int device)
{
    struct virtual_state *state = virtual_state();

    virtual_lock(state);
    uint64_t bytes = state->bytes[device];
    pthread_mutex_unlock(&state->lock);
    return bytes;
}

/* With the lock held: what is only mapped still is no longer the program's to name. */
static bool virtual_ok(hipMemGenericAllocationHandle_t handle)
{
    return hip_handle_ok(HIP_KIND_MEMORY, handle) && handle->held;
}

static void virtual_drop(struct ihipMemGenericAllocationHandle *memory)
{
    struct virtual_state *state = virtual_state();

    if (memory->held || memory->mapped)
        return;
    if (memory->fd != state->fd)
        close(memory->fd);
    else
        fallocate(memory->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, memory->offset,
                  (off_t)memory->bytes);
    if (!memory->imported)
        state->bytes[memory->prop.location.id] -= memory->bytes;
    hip_handle_free(memory);
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

static hipError_t virtual_new(const struct ihipMemGenericAllocationHandle *values,
                              hipMemGenericAllocationHandle_t *out)
{
    struct ihipMemGenericAllocationHandle *memory = hip_handle_new(HIP_KIND_MEMORY, sizeof *memory);

    if (!memory)
        return hipErrorOutOfMemory;
    memory->fd = values->fd;
    memory->offset = values->offset;
    memory->bytes = values->bytes;
    memory->prop = values->prop;
    memory->held = 1;
    memory->imported = values->imported;
    *out = memory;
    return hipSuccess;
}

/* A file that can be handed to other processes, which cannot change what it says of itself. */
static int virtual_file(const struct virtual_label *label)
{
    int fd = memfd_create("ehp-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)(label->bytes + VIRTUAL_MINIMUM)) != 0 ||
        pwrite(fd, label, sizeof *label, (off_t)label->bytes) != sizeof *label ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* With the lock held: room in the file of what stays in this process. */
static bool virtual_room(size_t bytes, off_t *offset)
{
    struct virtual_state *state = virtual_state();

    if (state->fd < 0)
        state->fd = memfd_create("ehp-memory", MFD_CLOEXEC);
    if (state->fd < 0 || ftruncate(state->fd, state->end + (off_t)bytes) != 0)
        return false;
    *offset = state->end;
    state->end += (off_t)bytes;
    return true;
}

static hipError_t virtual_create(struct ihipMemGenericAllocationHandle *memory,
                                 hipMemGenericAllocationHandle_t *out)
{
    struct virtual_state *state = virtual_state();
    bool shared = memory->prop.requestedHandleType != hipMemHandleTypeNone;
    const struct hip_device *device = &hip_runtime()->device[memory->prop.location.id];
    uint64_t left, total;

    if (ehp_mem_info(hip_runtime()->machine, device->agent, &left, &total) != EHP_OK ||
        state->bytes[device->ordinal] > left || memory->bytes > left - state->bytes[device->ordinal])
        return hipErrorOutOfMemory;
    if (shared) {
        struct virtual_label label = {VIRTUAL_MAGIC, memory->bytes, memory->prop};
        memory->fd = virtual_file(&label);
        if (memory->fd < 0)
            return hipErrorOutOfMemory;
    } else {
        if (!virtual_room(memory->bytes, &memory->offset))
            return hipErrorOutOfMemory;
        memory->fd = state->fd;
    }
    hipError_t error = virtual_new(memory, out);
    if (error == hipSuccess)
        state->bytes[device->ordinal] += memory->bytes;
    else if (shared)
        close(memory->fd);
    return error;
}

HIP_ENTRY hipError_t hipMemCreate(hipMemGenericAllocationHandle_t *handle, size_t size,
                                  const hipMemAllocationProp *prop, unsigned long long flags)
{
    struct virtual_state *state = virtual_state();

    if (!handle || !size || !prop || flags || size % VIRTUAL_MINIMUM)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error == hipSuccess)
        error = virtual_prop_check(prop);
    if (error != hipSuccess)
        return hip_return(error);
    struct ihipMemGenericAllocationHandle memory = {.bytes = size, .prop = *prop};
    virtual_lock(state);
    error = virtual_create(&memory, handle);
    pthread_mutex_unlock(&state->lock);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle)
{
    struct virtual_state *state = virtual_state();

    virtual_lock(state);
    bool ok = virtual_ok(handle);
    if (ok) {
        handle->held--;
        virtual_drop(handle);
    }
    pthread_mutex_unlock(&state->lock);
    return hip_return(ok ? hipSuccess : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp *prop,
                                                             hipMemGenericAllocationHandle_t handle)
{
    struct virtual_state *state = virtual_state();

    if (!prop)
        return hip_return(hipErrorInvalidValue);
    virtual_lock(state);
    bool ok = virtual_ok(handle);
    if (ok)
        *prop = handle->prop;
    pthread_mutex_unlock(&state->lock);
    return hip_return(ok ? hipSuccess : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipMemExportToShareableHandle(void *shareableHandle,
                                                   hipMemGenericAllocationHandle_t handle,
                                                   hipMemAllocationHandleType handleType,
                                                   unsigned long long flags)
{
    struct virtual_state *state = virtual_state();
    hipError_t error = hipErrorInvalidValue;

    if (!shareableHandle || flags || handleType != hipMemHandleTypePosixFileDescriptor)
        return hip_return(error);
    virtual_lock(state);
    if (virtual_ok(handle) && handle->prop.requestedHandleType == handleType) {
        int fd = fcntl(handle->fd, F_DUPFD_CLOEXEC, 0);
        error = fd < 0 ? hipErrorOperatingSystem : hipSuccess;
        if (fd >= 0)
            memcpy(shareableHandle, &fd, sizeof fd);
    }
    pthread_mutex_unlock(&state->lock);
    return hip_return(error);
}

/* ROCm up to 7.0 takes the address of the descriptor, later ones and CUDA its value, which is no address. */
static int virtual_descriptor(const void *handle)
{
    int fd = -1;

    if ((uintptr_t)handle < VIRTUAL_MINIMUM)
        return (int)(uintptr_t)handle;
    memcpy(&fd, handle, sizeof fd);
    return fd;
}

HIP_ENTRY hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t *handle, void *osHandle,
                                                     hipMemAllocationHandleType shHandleType)
{
    struct virtual_label label;
    struct stat status;

    if (!handle || !osHandle || shHandleType != hipMemHandleTypePosixFileDescriptor)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    if (error != hipSuccess)
        return hip_return(error);
    int fd = fcntl(virtual_descriptor(osHandle), F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return hip_return(hipErrorInvalidValue);
    if (fstat(fd, &status) != 0 || status.st_size <= (off_t)VIRTUAL_MINIMUM ||
        pread(fd, &label, sizeof label, status.st_size - (off_t)VIRTUAL_MINIMUM) != sizeof label ||
        label.magic != VIRTUAL_MAGIC || label.bytes != (uint64_t)status.st_size - VIRTUAL_MINIMUM ||
        virtual_prop_check(&label.prop) != hipSuccess) {
        close(fd);
        return hip_return(hipErrorInvalidValue);
    }
    error = virtual_new(
        &(struct ihipMemGenericAllocationHandle){
            .fd = fd, .bytes = (size_t)label.bytes, .prop = label.prop, .imported = true},
        handle);
    if (error != hipSuccess)
        close(fd);
    return hip_return(error);
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
    if (alignment < VIRTUAL_MINIMUM)
        alignment = VIRTUAL_MINIMUM;
    size_t slack = alignment > VIRTUAL_MINIMUM ? alignment : 0;
    struct virtual_range *range = calloc(1, sizeof *range);
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
    virtual_lock(state);
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

    virtual_lock(state);
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

/* ---- mapping: the lock is held ------------------------------------------------------------------------- */

static struct virtual_map *virtual_find(const void *address)
{
    for (struct virtual_map *map = virtual_state()->maps; map; map = map->next)
        if (virtual_inside(map->address, map->bytes, address, 1))
            return map;
    return NULL;
}

/* Whether the range is whole mappings, one behind the other. */
static bool virtual_whole(const void *ptr, size_t size)
{
    const char *at = ptr;
    size_t done = 0;

    while (done < size) {
        const struct virtual_map *map = virtual_find(at + done);
        if (!map || map->address != at + done || map->bytes > size - done)
            return false;
        done += map->bytes;
    }
    return true;
}

static hipError_t virtual_map_new(void *ptr, size_t size, size_t offset,
                                  hipMemGenericAllocationHandle_t handle)
{
    struct virtual_state *state = virtual_state();
    struct virtual_range *range = state->ranges;
    struct virtual_map *map;

    if (!virtual_ok(handle) || offset > handle->bytes || size > handle->bytes - offset)
        return hipErrorInvalidValue;
    while (range && !virtual_inside(range->address, range->bytes, ptr, size))
        range = range->next;
    if (!range || ((uintptr_t)ptr - (uintptr_t)range->address) % VIRTUAL_MINIMUM)
        return hipErrorInvalidValue;
    for (map = state->maps; map; map = map->next)
        if ((char *)ptr < (char *)map->address + map->bytes && (char *)map->address < (char *)ptr + size)
            return hipErrorInvalidValue;
    map = calloc(1, sizeof *map);
    if (!map)
        return hipErrorOutOfMemory;
    if (mmap(ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED, handle->fd, handle->offset + (off_t)offset) ==
        MAP_FAILED) {
        free(map);
        return hipErrorMapFailed;
    }
    handle->mapped++;
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

    if (!ptr || !size || flags || size % VIRTUAL_MINIMUM || offset % VIRTUAL_MINIMUM)
        return hip_return(hipErrorInvalidValue);
    virtual_lock(state);
    hipError_t error = virtual_map_new(ptr, size, offset, handle);
    pthread_mutex_unlock(&state->lock);
    return hip_return(error);
}

static void virtual_unmap(struct virtual_map **link)
{
    struct virtual_map *map = *link;

    *link = map->next;
    if (map->registered)
        hip_memory_disown(map->address);
    mmap(map->address, map->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    map->memory->mapped--;
    virtual_drop(map->memory);
    free(map);
}

HIP_ENTRY hipError_t hipMemUnmap(void *ptr, size_t size)
{
    struct virtual_state *state = virtual_state();

    if (!ptr || !size)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open() == hipSuccess ? hip_wait_users(NULL) : hipSuccess;
    if (error != hipSuccess)
        return hip_return(error);
    virtual_lock(state);
    bool whole = virtual_whole(ptr, size);
    for (struct virtual_map **link = &state->maps; whole && *link;) {
        if (virtual_inside(ptr, size, (*link)->address, (*link)->bytes))
            virtual_unmap(link);
        else
            link = &(*link)->next;
    }
    pthread_mutex_unlock(&state->lock);
    return hip_return(whole ? hipSuccess : hipErrorInvalidValue);
}

/* ---- access -------------------------------------------------------------------------------------------- */

/* One page table: the widest access anybody has.  Without any the devices do not know the memory. */
static hipError_t virtual_access(struct virtual_map *map, const hipMemAccessDesc *desc, size_t count)
{
    hipMemAccessFlags widest = hipMemAccessFlagsProtNone;

    for (size_t i = 0; i < count; i++)
        map->access[desc[i].location.id] = desc[i].flags;
    for (int i = 0; i < hip_runtime()->devices; i++)
        if (map->access[i] > widest)
            widest = map->access[i];
    if (map->registered && widest == map->widest)
        return hipSuccess;
    map->widest = widest;
    if (map->registered) { /* and known again as what it becomes */
        hip_memory_disown(map->address);
        map->registered = false;
    }
    int access = widest == hipMemAccessFlagsProtReadWrite ? PROT_READ | PROT_WRITE
                 : widest                                 ? PROT_READ
                                                          : PROT_NONE;
    if (mprotect(map->address, map->bytes, access) != 0)
        return hipErrorOperatingSystem;
    if (!widest)
        return hipSuccess;
    const int device = map->memory->prop.location.id;
    hipError_t error = hip_memory_own(map->address, map->bytes, device, hip_runtime()->device[device].agent);
    if (error != hipSuccess)
        return error;
    map->registered = true;
    if (widest == hipMemAccessFlagsProtRead)
        atomic_store(&hip_runtime()->read_only, true);
    struct hip_memory *memory = hip_memory_find(map->address, NULL);
    memory->read_only = widest == hipMemAccessFlagsProtRead;
    memory->shareable = map->memory->prop.requestedHandleType != hipMemHandleTypeNone;
    return hipSuccess;
}

HIP_ENTRY hipError_t hipMemSetAccess(void *ptr, size_t size, const hipMemAccessDesc *desc, size_t count)
{
    struct virtual_state *state = virtual_state();
    hipError_t error = hip_open();

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
    virtual_lock(state);
    bool used = false;
    for (const struct virtual_map *map = state->maps; map; map = map->next)
        used |= map->registered && virtual_inside(ptr, size, map->address, map->bytes);
    pthread_mutex_unlock(&state->lock);
    if (used)
        error = hip_wait_users(NULL);
    if (error != hipSuccess)
        return hip_return(error);
    virtual_lock(state);
    if (!virtual_whole(ptr, size))
        error = hipErrorInvalidValue;
    for (struct virtual_map *map = state->maps; map && error == hipSuccess; map = map->next)
        if (virtual_inside(ptr, size, map->address, map->bytes))
            error = virtual_access(map, desc, count);
    pthread_mutex_unlock(&state->lock);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipMemGetAccess(unsigned long long *flags, const hipMemLocation *location, void *ptr)
{
    struct virtual_state *state = virtual_state();

    if (!flags || !location || !ptr || location->type != hipMemLocationTypeDevice ||
        hip_open() != hipSuccess || location->id < 0 || location->id >= hip_runtime()->devices)
        return hip_return(hipErrorInvalidValue);
    virtual_lock(state);
    const struct virtual_map *map = virtual_find(ptr);
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
    virtual_lock(state);
    struct virtual_map *map = virtual_find(addr);
    if (map) {
        map->memory->held++;
        *handle = map->memory;
    }
    pthread_mutex_unlock(&state->lock);
    return hip_return(map ? hipSuccess : hipErrorInvalidValue);
}
