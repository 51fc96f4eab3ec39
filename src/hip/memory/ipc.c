/* SPDX-License-Identifier: MIT */
/* hipIpc*: see ipc.h. */
#include "hip/memory/ipc.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hip/stream/stream.h"

#define IPC_EVENT UINT32_C(0x65687032)
#define IPC_PAGE  4096 /* of an event */

/* The first bytes of hipIpcMemHandle_t, hipIpcEventHandle_t and hipMemPoolPtrExportData. */
struct ipc_handle {
    uint32_t what;
    int32_t pid, fd;
    uint32_t agent;                 /* whose memory it is */
    uint64_t inode;                 /* a descriptor's number is used again */
    uint64_t bytes, mapped, offset; /* of the allocation, of the file, of the pointer */
    uint64_t check;                 /* of all of the above: what is damaged is not opened */
};
_Static_assert(sizeof(struct ipc_handle) <= sizeof(hipIpcMemHandle_t), "fits");
_Static_assert(sizeof(hipIpcEventHandle_t) == sizeof(hipIpcMemHandle_t), "one size for all");
_Static_assert(sizeof(hipMemPoolPtrExportData) == sizeof(hipIpcMemHandle_t), "one size for all");

/* FNV-1a (Fowler, Noll, Vo), 64 bits. */
static uint64_t ipc_check(const struct ipc_handle *handle)
{
    const unsigned char *byte = (const void *)handle;
    uint64_t check = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < offsetof(struct ipc_handle, check); i++)
        check = (check ^ byte[i]) * UINT64_C(0x100000001b3);
    return check;
}

/* Completes the handle and puts it into the program's 64 bytes. */
static hipError_t ipc_describe(struct ipc_handle *handle, uint32_t what, int fd, void *out)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return hipErrorOperatingSystem;
    handle->what = what;
    handle->pid = getpid();
    handle->fd = fd;
    handle->inode = status.st_ino;
    handle->mapped = (uint64_t)status.st_size;
    handle->check = ipc_check(handle);
    memset(out, 0, sizeof(hipIpcMemHandle_t));
    memcpy(out, handle, sizeof *handle);
    return hipSuccess;
}

static bool ipc_whole(const void *in)
{
    static const unsigned char zero[sizeof(hipIpcMemHandle_t)] = {0};

    return !memcmp((const char *)in + sizeof(struct ipc_handle), zero,
                   sizeof(hipIpcMemHandle_t) - sizeof(struct ipc_handle));
}

static hipError_t ipc_open(const void *in, uint32_t what, struct ipc_handle *handle, int *fd)
{
    struct stat status;
    char path[64];

    memcpy(handle, in, sizeof *handle);
    if (handle->what != what || handle->check != ipc_check(handle) || !ipc_whole(in))
        return hipErrorInvalidValue;
    if (what != HIP_IPC_POOLED && handle->pid == getpid()) /* ROCm: a process does not open what is its own */
        return hipErrorInvalidContext;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->pid, handle->fd);
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0)
        return hipErrorInvalidValue;
    if (fstat(*fd, &status) != 0 || status.st_ino != handle->inode ||
        (uint64_t)status.st_size != handle->mapped || handle->bytes > handle->mapped ||
        (handle->offset && handle->offset >= handle->bytes)) {
        close(*fd);
        return hipErrorInvalidValue;
    }
    return hipSuccess;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

hipError_t hip_ipc_export(struct hip_memory *memory, const void *address, enum hip_ipc_kind kind, void *out)
{
    struct ipc_handle handle = {.agent = hip_runtime()->device[memory->device].agent,
                                .bytes = memory->bytes,
                                .offset = (size_t)((const char *)address - (const char *)memory->base)};

    return hip_memory_share(memory) ? ipc_describe(&handle, kind, memory->fd, out) : hipErrorOutOfMemory;
}

hipError_t hip_ipc_import(struct hip_device *device, const void *in, enum hip_ipc_kind kind, void **address)
{
    struct ipc_handle handle;
    int fd;
    hipError_t error = ipc_open(in, kind, &handle, &fd);

    if (error != hipSuccess)
        return error;
    char *base = mmap(NULL, handle.mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (base == MAP_FAILED)
        return hipErrorMapFailed;
    /* It stays where it is; another process may be of another machine. */
    struct ehp_agent_info info = EHP_AGENT_INFO_INIT;
    const bool here = ehp_agent_info(hip_runtime()->machine, handle.agent, &info) == EHP_OK;
    error = hip_memory_own(base, handle.bytes, device->ordinal, here ? handle.agent : device->agent);
    if (error != hipSuccess) {
        munmap(base, handle.mapped);
        return error;
    }
    hip_memory_find(base, NULL)->opened = handle.mapped;
    *address = base + handle.offset;
    return hipSuccess;
}

hipError_t hip_ipc_close(struct hip_memory *memory)
{
    void *base = memory->base;
    size_t mapped = memory->opened;
    hipError_t error = hip_wait_users(NULL);

    if (error != hipSuccess)
        return error;
    hip_memory_disown(base);
    munmap(base, mapped);
    return hipSuccess;
}

HIP_ENTRY hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *devPtr)
{
    struct hip_device *device;

    if (!handle || !devPtr)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_enter(&device);
    if (error != hipSuccess)
        return hip_return(error);
    struct hip_memory *memory = hip_memory_find(devPtr, NULL);
    if (!memory || memory->kind != EHP_MEM_DEVICE)
        return hip_return(hipErrorInvalidValue);
    return hip_return(hip_ipc_export(memory, devPtr, HIP_IPC_MEMORY, handle));
}

HIP_ENTRY hipError_t hipIpcOpenMemHandle(void **devPtr, hipIpcMemHandle_t handle, unsigned int flags)
{
    struct hip_device *device;

    if (!devPtr || flags != hipIpcMemLazyEnablePeerAccess)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_enter(&device);
    return hip_return(error == hipSuccess ? hip_ipc_import(device, &handle, HIP_IPC_MEMORY, devPtr) : error);
}

HIP_ENTRY hipError_t hipIpcCloseMemHandle(void *devPtr)
{
    struct hip_device *device;

    if (!devPtr)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_enter(&device);
    if (error != hipSuccess)
        return hip_return(error);
    struct hip_memory *memory = hip_memory_find(devPtr, NULL);
    return hip_return(memory && memory->opened && !memory->imported ? hip_ipc_close(memory)
                                                                    : hipErrorInvalidValue);
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* Recordings are numbered; the event is reached when the last one has been. */
struct ipc_page {
    _Atomic uint64_t recorded, reached;
};

struct hip_ipc_event {
    struct ipc_page *page;
    int fd;
    _Atomic unsigned refs; /* the event's and those of operations in streams */
};

static struct hip_ipc_event *ipc_event_map(int fd)
{
    struct hip_ipc_event *event = calloc(1, sizeof *event);
    void *page = event ? mmap(NULL, IPC_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (page == MAP_FAILED) {
        free(event);
        close(fd);
        return NULL;
    }
    event->page = page;
    event->fd = fd;
    atomic_store(&event->refs, 1);
    return event;
}

struct hip_ipc_event *hip_ipc_event_new(void)
{
    int fd = memfd_create("ehp-event", MFD_CLOEXEC);

    if (fd < 0)
        return NULL;
    if (ftruncate(fd, IPC_PAGE) != 0) {
        close(fd);
        return NULL;
    }
    return ipc_event_map(fd);
}

void hip_ipc_event_unref(struct hip_ipc_event *event)
{
    if (!event || atomic_fetch_sub(&event->refs, 1) != 1)
        return;
    munmap(event->page, IPC_PAGE);
    close(event->fd);
    free(event);
}

bool hip_ipc_event_done(const struct hip_ipc_event *event)
{
    return atomic_load(&event->page->reached) >= atomic_load(&event->page->recorded);
}

hipError_t hip_ipc_event_wait(struct hip_device *device, const struct hip_ipc_event *event)
{
    const struct timespec pause = {.tv_nsec = 50000};
    uint64_t wanted = atomic_load(&event->page->recorded);
    hipError_t error;

    while ((error = hip_device_error(device)) == hipSuccess && atomic_load(&event->page->reached) < wanted) {
        ehp_host_query(hip_runtime()->machine);
        nanosleep(&pause, NULL);
    }
    return error;
}

struct ipc_reach {
    struct hip_ipc_event *event;
    uint64_t number;
};

static void ipc_reached(void *argument)
{
    struct ipc_reach reach = *(struct ipc_reach *)argument;
    _Atomic uint64_t *reached = &reach.event->page->reached;
    uint64_t have = atomic_load(reached);

    free(argument);
    while (have < reach.number && !atomic_compare_exchange_weak(reached, &have, reach.number))
        ;
    hip_ipc_event_unref(reach.event);
}

static hipError_t ipc_call(struct ihipStream_t *stream, struct hip_ipc_event *event, uint64_t number)
{
    struct ipc_reach *reach = malloc(sizeof *reach);
    struct hip_op op = {.kind = HIP_OP_HOST, .host = {ipc_reached, reach}};

    if (!reach)
        return hipErrorOutOfMemory;
    *reach = (struct ipc_reach){event, number};
    atomic_fetch_add(&event->refs, 1);
    hipError_t error = hip_stream_submit(stream, &op);
    if (error != hipSuccess) {
        hip_ipc_event_unref(event);
        free(reach);
    }
    return error;
}

hipError_t hip_ipc_event_record(struct ihipStream_t *stream, struct hip_ipc_event *event)
{
    return ipc_call(stream, event, atomic_fetch_add(&event->page->recorded, 1) + 1);
}

hipError_t hip_ipc_event_follow(struct ihipStream_t *stream, struct hip_ipc_event *event)
{
    struct hip_op op = {.kind = HIP_OP_WAIT_VALUE,
                        .value = {.address = (void *)&event->page->reached,
                                  .value = atomic_load(&event->page->recorded),
                                  .mask = UINT64_MAX,
                                  .bytes = 8,
                                  .condition = hipStreamWaitValueGte}};

    if (hip_ipc_event_done(event))
        return hipSuccess;
    atomic_fetch_add(&event->refs, 1); /* the page stays until the packet has seen it */
    hipError_t error = hip_stream_submit(stream, &op);
    if (error == hipSuccess)
        error = ipc_call(stream, event, 0);
    hip_ipc_event_unref(event);
    return error;
}

HIP_ENTRY hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t event)
{
    struct ipc_handle out = {0};

    if (!handle || !hip_handle_ok(HIP_KIND_EVENT, event))
        return hip_return(hipErrorInvalidValue);
    if (!event->shared)
        return hip_return(hipErrorInvalidConfiguration);
    return hip_return(ipc_describe(&out, IPC_EVENT, event->shared->fd, handle));
}

HIP_ENTRY hipError_t hipIpcOpenEventHandle(hipEvent_t *event, hipIpcEventHandle_t handle)
{
    struct ipc_handle in;
    int fd;

    if (!event)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = ipc_open(&handle, IPC_EVENT, &in, &fd);
    if (error != hipSuccess)
        return hip_return(error);
    struct hip_ipc_event *shared = ipc_event_map(fd);
    if (!shared)
        return hip_return(hipErrorMapFailed);
    error = hipEventCreateWithFlags(event, hipEventInterprocess | hipEventDisableTiming);
    if (error != hipSuccess) {
        hip_ipc_event_unref(shared);
        return hip_return(error);
    }
    hip_ipc_event_unref((*event)->shared);
    (*event)->shared = shared;
    return hip_return(hipSuccess);
}
