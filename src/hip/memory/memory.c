/* SPDX-License-Identifier: MIT */
/* Allocating, registering and freeing memory. */
#include "hip/core/state.h"
#include "hip/memory/memory.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hip/observe/advise.h"
#include "hip/memory/ipc.h"
#include "hip/memory/pool.h"
#include "hip/core/size.h"
#include "hip/stream/stream.h"
#include "hip/observe/usage.h"

static struct memory_list *memory_list(void)
{
    return &hip_state()->memories;
}

/* Where this library's code is: callers are elsewhere. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[];

static bool is_ours(const void *frame)
{
    return (const char *)frame >= __ehdr_start && (const char *)frame < etext;
}

void hip_memory_site(void *base, int event)
{
    void *frame[16], **first = frame;
    int count = backtrace(frame, (int)(sizeof frame / sizeof frame[0]));

    for (; count > 0 && !is_ours(*first); count--) /* who stands in for backtrace(), as sanitizers do */
        first++;
    for (; count > 0 && is_ours(*first); count--)
        first++;
    if (count > 0)
        ehp_mem_set_site(hip_runtime()->machine, base, event, first, (unsigned)count);
}

hipError_t hip_memory_blame(const char *call, void *base)
{
    const struct hip_memory *memory = hip_memory_find(base, NULL);
    const char *why = memory && memory->graph ? "; no launch of its graph has it in use" : "";
    char text[768];

    if (ehp_mem_history(hip_runtime()->machine, base, text, sizeof text) == EHP_OK)
        fprintf(stderr, "ehp: %s(%p): %s%s\n", call, base, text, why);
    else
        fprintf(stderr, "ehp: %s(%p): not a pointer that HIP has allocated\n", call, base);
    return hipErrorInvalidValue;
}

static struct hip_memory *memory_note(void *base, size_t bytes, int kind, unsigned flags, int device)
{
    struct memory_list *list = memory_list();
    struct hip_memory *memory = calloc(1, sizeof *memory);

    if (!memory)
        return NULL;
    *memory = (struct hip_memory){
        .base = base,
        .bytes = bytes,
        .kind = kind,
        .flags = flags,
        .device = device,
        .id = atomic_fetch_add(&hip_runtime()->next_id, 1) + 1,
        .preferred = hipInvalidDeviceId,
        .prefetched = hipInvalidDeviceId,
        .fd = -1,
        .advise = -1,
    };
    ehp_mem_set_user(hip_runtime()->machine, base, (uint64_t)(uintptr_t)memory);
    hip_memory_site(base, EHP_MEM_ALLOCATED);
    pthread_mutex_lock(&list->lock);
    memory->next = list->first;
    if (memory->next)
        memory->next->previous = memory;
    list->first = memory;
    pthread_mutex_unlock(&list->lock);
    return memory;
}

/* Once all is known of it. */
static void memory_advise(struct hip_memory *memory)
{
    if (hip_runtime()->advise)
        hip_advise_allocated(memory);
}

static void memory_forget(struct hip_memory *memory)
{
    struct memory_list *list = memory_list();

    if (hip_runtime()->advise)
        hip_advise_freed(memory);
    if (memory->preferred != hipInvalidDeviceId)
        hip_memory_prefer(memory->base, memory->bytes, -1);
    pthread_mutex_lock(&list->lock);
    if (memory->previous)
        memory->previous->next = memory->next;
    else
        list->first = memory->next;
    if (memory->next)
        memory->next->previous = memory->previous;
    pthread_mutex_unlock(&list->lock);
    if (memory->fd >= 0)
        close(memory->fd);
    free(memory);
}

/* As ROCm does it: the first node that the thread is bound to, or prefers. */
static unsigned memory_agent(const struct hip_device *device, int kind, unsigned flags)
{
    const struct hip_runtime *runtime = hip_runtime();
    uint64_t nodes;
    int mode;

    if (kind != EHP_MEM_HOST || !(flags & hipHostMallocNumaUser) || device->info.packages < 2 ||
        !hip_numa_policy(&mode, &nodes) || (mode != EHP_NUMA_BIND && mode != EHP_NUMA_PREFERRED) || !nodes)
        return device->agent;
    const unsigned package = (unsigned)__builtin_ctzll(nodes);
    const unsigned agent = package * (ehp_agent_count(runtime->machine) / device->info.packages);
    return package < device->info.packages ? agent : device->agent;
}

hipError_t hip_memory_alloc(struct hip_device *device, int kind, size_t bytes, size_t align, unsigned flags,
                            void **out)
{
    ehp_machine *machine = hip_runtime()->machine;
    void *base;
    int status = ehp_mem_alloc(machine, memory_agent(device, kind, flags), kind, bytes, align, &base);

    if (status == EHP_ERR_NO_MEMORY)
        fprintf(stderr, "ehp: out of memory: %s\n", ehp_error_text(machine));
    if (status != EHP_OK)
        return hip_from_status(status) == hipErrorInvalidValue ? hipErrorOutOfMemory
                                                               : hip_from_status(status);
    struct hip_memory *memory = memory_note(base, bytes, kind, flags, device->ordinal);
    if (!memory) {
        ehp_mem_free(machine, base);
        return hipErrorOutOfMemory;
    }
    memory_advise(memory);
    hip_usage_changed();
    *out = base;
    return hipSuccess;
}

struct hip_memory *hip_memory_find(const void *address, size_t *left)
{
    struct ehp_allocation allocation = EHP_ALLOCATION_INIT;

    if (ehp_mem_query(hip_runtime()->machine, address, &allocation) != EHP_OK || !allocation.user)
        return NULL;
    struct hip_memory *memory = (void *)(uintptr_t)allocation.user;
    size_t offset = (size_t)((const char *)address - (const char *)memory->base);
    if (offset >= memory->bytes) /* in the padding behind it */
        return NULL;
    if (left)
        *left = memory->bytes - offset;
    return memory;
}

bool hip_memory_known(const void *address, size_t *left)
{
    struct ehp_allocation allocation = EHP_ALLOCATION_INIT;
    const struct hip_memory *memory = hip_memory_find(address, left);

    if (memory) {
        /* Memory that is mapped side by side is one range to those who use it. */
        while (memory->mapped && !memory->opened) {
            const struct hip_memory *next = hip_memory_find((char *)memory->base + memory->bytes, NULL);
            if (!next || !next->mapped || next->opened)
                break;
            *left += next->bytes;
            memory = next;
        }
        return true;
    }
    if (ehp_mem_query(hip_runtime()->machine, address, &allocation) != EHP_OK ||
        allocation.kind != EHP_MEM_CODE)
        return false;
    *left = allocation.bytes - (size_t)((const char *)address - (const char *)allocation.base);
    return true;
}

bool hip_memory_reached(const void *address, size_t *left)
{
    if (hip_memory_known(address, left))
        return true;
    *left = SIZE_MAX - (uintptr_t)address;
    return ehp_mem_pageable(hip_runtime()->machine, address);
}

bool hip_memory_writable(const void *address, size_t bytes)
{
    const char *at = address;

    if (!atomic_load_explicit(&hip_runtime()->read_only, memory_order_relaxed))
        return true;
    for (size_t left; bytes; at += left, bytes -= left) {
        const struct hip_memory *memory = hip_memory_find(at, &left);
        if (!memory)
            return true;
        if (memory->read_only)
            return false;
        left = left < bytes ? left : bytes;
    }
    return true;
}

bool hip_memory_gone(const void *address)
{
    return ehp_mem_reserved(hip_runtime()->machine, address);
}

void hip_memory_adopt(void *base, size_t bytes)
{
    if (hip_memory_find(base, NULL) ||
        ehp_mem_register_uncached(hip_runtime()->machine, base, bytes) != EHP_OK)
        return;
    struct hip_memory *memory = memory_note(base, bytes, EHP_MEM_REGISTERED, hipMemAttachGlobal, 0);
    if (memory) {
        memory->adopted = true;
        memory_advise(memory);
    }
}

hipError_t hip_memory_own(void *base, size_t bytes, int device, unsigned agent)
{
    int status = ehp_mem_register_device(hip_runtime()->machine, agent, base, bytes);

    if (status != EHP_OK)
        return hip_from_status(status);
    struct hip_memory *memory = memory_note(base, bytes, EHP_MEM_REGISTERED, 0, device);
    if (!memory) {
        ehp_mem_unregister(hip_runtime()->machine, base);
        return hipErrorOutOfMemory;
    }
    memory->mapped = true;
    memory_advise(memory);
    return hipSuccess;
}

void hip_memory_disown(void *base)
{
    struct hip_memory *memory = hip_memory_find(base, NULL);

    if (memory && memory->mapped) {
        memory_forget(memory);
        ehp_mem_unregister(hip_runtime()->machine, base);
    }
}

size_t hip_memory_share(struct hip_memory *memory)
{
    struct ehp_allocation allocation = EHP_ALLOCATION_INIT;

    if (ehp_mem_query(hip_runtime()->machine, memory->base, &allocation) != EHP_OK)
        return 0;
    size_t bytes = ((size_t)allocation.bytes + 4095) & ~(size_t)4095;
    if (memory->fd >= 0)
        return bytes;
    /* Nobody may write while the pages change. */
    if (hip_wait_users(NULL) != hipSuccess)
        return 0;
    int fd = memfd_create("ehp-memory", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t done = 0;
    while (done < bytes) {
        ssize_t some = write(fd, (const char *)memory->base + done, bytes - done);
        if (some <= 0)
            break;
        done += (size_t)some;
    }
    if (done < bytes ||
        mmap(memory->base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        close(fd);
        return 0;
    }
    memory->fd = fd;
    return bytes;
}

hipError_t hip_memory_release(void *base)
{
    struct hip_memory *memory = hip_memory_find(base, NULL);

    if (!memory || memory->base != base)
        return hipErrorInvalidValue;
    hip_usage_changed();
    hip_memory_site(base, EHP_MEM_FREED);
    memory_forget(memory);
    return hip_from_status(ehp_mem_free(hip_runtime()->machine, base));
}

hipError_t hip_memory_free(void *base, bool host)
{
    const char *call = host ? "hipHostFree" : "hipFree";
    struct hip_device *device;
    hipError_t error = hip_enter(&device);

    if (error != hipSuccess || !base)
        return error;
    struct hip_memory *memory = hip_memory_find(base, NULL);
    if (memory && memory->imported && !host)
        return hip_ipc_close(memory);
    if (!memory || memory->base != base || memory->kind == EHP_MEM_REGISTERED ||
        (host && memory->kind != EHP_MEM_HOST))
        return hip_memory_blame(call, base);
    if (memory->graph)
        return hip_graph_memory_free(memory->graph) ? hipSuccess : hip_memory_blame(call, base);
    if (memory->pool)
        return hip_pool_free(memory, NULL);
    /* Freeing memory waits for the work that may use it. */
    error = hip_wait_users(NULL);
    return error == hipSuccess ? hip_memory_release(base) : error;
}

/* By hipHostRegister(). */
static bool memory_is_registered(const struct hip_memory *memory)
{
    return memory->kind == EHP_MEM_REGISTERED && !memory->adopted && !memory->mapped;
}

static hipError_t memory_unregister(struct hip_memory *memory)
{
    void *base = memory->base;

    hip_memory_site(base, EHP_MEM_FREED);
    memory_forget(memory);
    return hip_from_status(ehp_mem_unregister(hip_runtime()->machine, base));
}

void hip_memory_reset(struct hip_device *device)
{
    struct memory_list *list = memory_list();
    struct hip_memory *memory;

    hip_pools_reset(device);
    for (;;) {
        pthread_mutex_lock(&list->lock);
        for (memory = list->first; memory; memory = memory->next)
            if (memory->device == device->ordinal &&
                (memory->kind == EHP_MEM_DEVICE || memory_is_registered(memory)))
                break;
        pthread_mutex_unlock(&list->lock);
        if (!memory)
            return;
        if (memory->kind == EHP_MEM_DEVICE)
            hip_memory_release(memory->base);
        else
            memory_unregister(memory);
    }
}

/* ---- device memory ------------------------------------------------------------------------------------- */

static hipError_t memory_malloc(void **ptr, size_t size, int kind, unsigned flags)
{
    struct hip_device *device;
    hipError_t error = hip_enter(&device);

    if (error != hipSuccess)
        return error;
    if (!ptr)
        return hipErrorInvalidValue;
    if (!size) {
        *ptr = NULL;
        return hipSuccess;
    }
    return hip_memory_alloc(device, kind, size, 0, flags, ptr);
}

HIP_ENTRY hipError_t hipMalloc(void **ptr, size_t size)
{
    return hip_return(memory_malloc(ptr, size, EHP_MEM_DEVICE, 0));
}

HIP_ENTRY hipError_t hipExtMallocWithFlags(void **ptr, size_t sizeBytes, unsigned int flags)
{
    if (flags > 4) /* hipDeviceMallocContiguous */
        return hip_return(hipErrorInvalidValue);
    if (flags == hipMallocSignalMemory && sizeBytes != 8)
        return hip_return(hipErrorInvalidValue);
    return hip_return(memory_malloc(ptr, sizeBytes, EHP_MEM_DEVICE, flags));
}

HIP_ENTRY hipError_t hipMallocManaged(void **dev_ptr, size_t size, unsigned int flags)
{
    if (!size || (flags != hipMemAttachGlobal && flags != hipMemAttachHost))
        return hip_return(hipErrorInvalidValue);
    return hip_return(memory_malloc(dev_ptr, size, EHP_MEM_MANAGED, flags));
}

/* Rows at multiples of 256 bytes: the pitch alignment the properties state. */
static hipError_t memory_pitched(void **ptr, size_t *pitch, size_t width, size_t rows)
{
    if (!ptr || !pitch)
        return hipErrorInvalidValue;
    if (!width || !rows) {
        *ptr = NULL;
        *pitch = 0;
        struct hip_device *device;
        return hip_enter(&device);
    }
    if (width > SIZE_MAX - 255)
        return hipErrorOutOfMemory;
    size_t row = (width + 255) & ~(size_t)255;
    hipError_t error = memory_malloc(ptr, size_mul(row, rows), EHP_MEM_DEVICE, 0);
    if (error == hipSuccess)
        *pitch = row;
    return error;
}

HIP_ENTRY hipError_t hipMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
    return hip_return(memory_pitched(ptr, pitch, width, height));
}

HIP_ENTRY hipError_t hipMemAllocPitch(hipDeviceptr_t *dptr, size_t *pitch, size_t widthInBytes, size_t height,
                                      unsigned int elementSizeBytes)
{
    if (elementSizeBytes != 4 && elementSizeBytes != 8 && elementSizeBytes != 16)
        return hip_return(hipErrorInvalidValue);
    return hip_return(memory_pitched(dptr, pitch, widthInBytes, height));
}

HIP_ENTRY hipError_t hipMalloc3D(hipPitchedPtr *pitchedDevPtr, hipExtent extent)
{
    if (!pitchedDevPtr)
        return hip_return(hipErrorInvalidValue);
    void *ptr = NULL;
    size_t pitch = 0;
    hipError_t error = memory_pitched(&ptr, &pitch, extent.width, size_mul(extent.height, extent.depth));
    if (error == hipSuccess) {
        pitchedDevPtr->ptr = ptr;
        pitchedDevPtr->pitch = pitch;
        pitchedDevPtr->xsize = extent.width;
        pitchedDevPtr->ysize = extent.height;
    }
    return hip_return(error);
}

HIP_ENTRY hipError_t hipFree(void *ptr)
{
    return hip_return(hip_memory_free(ptr, false));
}

/* ---- host memory --------------------------------------------------------------------------------------- */

static hipError_t memory_host(void **ptr, size_t size, unsigned flags)
{
    const unsigned known = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                           hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent |
                           hipHostMallocUncached;

    if (!ptr || (flags & ~known))
        return hipErrorInvalidValue;
    if ((flags & (hipHostMallocCoherent | hipHostMallocUncached)) && (flags & hipHostMallocNonCoherent))
        return hipErrorInvalidValue;
    return memory_malloc(ptr, size, EHP_MEM_HOST, flags);
}

HIP_ENTRY hipError_t hipHostMalloc(void **ptr, size_t size, unsigned int flags)
{
    return hip_return(memory_host(ptr, size, flags));
}

HIP_ENTRY hipError_t hipHostAlloc(void **ptr, size_t size, unsigned int flags)
{
    return hip_return(memory_host(ptr, size, flags));
}

HIP_ENTRY hipError_t hipExtHostAlloc(void **ptr, size_t size, unsigned int flags)
{
    return hip_return(memory_host(ptr, size, flags));
}

HIP_ENTRY hipError_t hipMallocHost(void **ptr, size_t size)
{
    return hip_return(memory_host(ptr, size, 0));
}

HIP_ENTRY hipError_t hipMemAllocHost(void **ptr, size_t size)
{
    return hip_return(memory_host(ptr, size, 0));
}

HIP_ENTRY hipError_t hipHostFree(void *ptr)
{
    return hip_return(hip_memory_free(ptr, true));
}

HIP_ENTRY hipError_t hipFreeHost(void *ptr)
{
    return hip_return(hip_memory_free(ptr, true));
}

/* Linux, proc(5), /proc/pid/maps. */
bool hip_memory_is_there(const void *base, size_t bytes)
{
    unsigned long long at = (uintptr_t)base, end, from, to;
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL, rights[8];
    size_t room = 0;

    if (__builtin_add_overflow(at, (unsigned long long)bytes, &end)) {
        if (maps)
            fclose(maps);
        return false;
    }
    while (maps && at < end && getline(&line, &room, maps) > 0)
        if (sscanf(line, "%llx-%llx %7s", &from, &to, rights) == 3 && to > at) {
            if (from > at || rights[0] != 'r')
                break;
            at = to;
        }
    free(line);
    if (maps)
        fclose(maps);
    return !maps || at >= end;
}

HIP_ENTRY hipError_t hipHostRegister(void *hostPtr, size_t sizeBytes, unsigned int flags)
{
    struct hip_device *device;

    const unsigned known =
        hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory | hipHostRegisterReadOnly;

    if (!hostPtr || !sizeBytes || (flags & ~known))
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_enter(&device);
    if (error != hipSuccess)
        return hip_return(error);
    if (sizeBytes > UINT64_MAX - (uintptr_t)hostPtr)
        return hip_return(hipErrorInvalidValue);
    if (hip_memory_find(hostPtr, NULL))
        return hip_return(hipErrorHostMemoryAlreadyRegistered);
    if (!hip_memory_is_there(hostPtr, sizeBytes))
        return hip_return(hipErrorInvalidValue);
    int status = ehp_mem_register(hip_runtime()->machine, hostPtr, sizeBytes);
    if (status == EHP_ERR_INVALID)
        return hip_return(hipErrorHostMemoryAlreadyRegistered);
    if (status != EHP_OK)
        return hip_return(hip_from_status(status));
    struct hip_memory *memory = memory_note(hostPtr, sizeBytes, EHP_MEM_REGISTERED, flags, device->ordinal);
    if (!memory) {
        ehp_mem_unregister(hip_runtime()->machine, hostPtr);
        return hip_return(hipErrorOutOfMemory);
    }
    memory_advise(memory);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipHostUnregister(void *hostPtr)
{
    struct hip_device *device;
    hipError_t error = hip_enter(&device);

    if (error != hipSuccess)
        return hip_return(error);
    struct hip_memory *memory = hostPtr ? hip_memory_find(hostPtr, NULL) : NULL;
    if (!memory || memory->base != hostPtr || !memory_is_registered(memory))
        return hip_return(hostPtr ? hipErrorHostMemoryNotRegistered : hipErrorInvalidValue);
    error = hip_wait_users(NULL);
    return hip_return(error == hipSuccess ? memory_unregister(memory) : error);
}

static bool memory_is_host(const struct hip_memory *memory)
{
    return memory && (memory->kind == EHP_MEM_HOST || memory_is_registered(memory));
}

HIP_ENTRY hipError_t hipHostGetDevicePointer(void **devPtr, void *hstPtr, unsigned int flags)
{
    struct hip_device *device;

    if (!devPtr || !hstPtr || flags)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    if (!hip_memory_find(hstPtr, NULL)) { /* ROCm: of any memory of its own */
        *devPtr = NULL;
        return hip_return(hipErrorInvalidValue);
    }
    *devPtr = hstPtr; /* one address space */
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipHostGetFlags(unsigned int *flagsPtr, void *hostPtr)
{
    struct hip_device *device;

    if (!flagsPtr || !hostPtr)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return hip_return(error);
    struct hip_memory *memory = hip_memory_find(hostPtr, NULL);
    if (!memory_is_host(memory))
        return hip_return(hipErrorInvalidValue);
    *flagsPtr = memory->flags;
    return hip_return(hipSuccess);
}
