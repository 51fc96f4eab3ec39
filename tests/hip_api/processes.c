/* SPDX-License-Identifier: MIT */
/* Two processes: memory, events and memory pools that one makes and the other opens. */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hip_check.h"

#define BYTES ((size_t)300000)

struct message {
    hipIpcMemHandle_t memory, inside, freed;
    hipIpcEventHandle_t event;
    int pool; /* descriptor of the parent's */
    pid_t parent;
    hipMemPoolPtrExportData block;
};

static void say(int pipe)
{
    CHECK(write(pipe, "x", 1) == 1);
}

static void hear(int pipe)
{
    char c = 0;
    CHECK(read(pipe, &c, 1) == 1);
}

static bool all(const unsigned char *bytes, size_t count, unsigned char value)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

/* ---- the process that opens ---------------------------------------------------------------------------- */

static void open_pool(const struct message *message)
{
    hipMemPool_t pool;
    char path[64];
    void *block, *other;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)message->parent, message->pool);
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    CHECK_HIP(hipMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd, hipMemHandleTypeNone, 0),
              hipErrorInvalidValue);
    OK(hipMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd, hipMemHandleTypePosixFileDescriptor,
                                           0));
    close(fd);
    CHECK_HIP(hipMallocFromPoolAsync(&other, 64, pool, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetMemPool(0, pool), hipErrorInvalidValue);
    hipMemPoolPtrExportData data = message->block;
    data.reserved[24] ^= 1;
    CHECK_HIP(hipMemPoolImportPointer(&block, pool, &data), hipErrorInvalidValue);
    memcpy(&data, &message->memory, sizeof data);
    CHECK_HIP(hipMemPoolImportPointer(&block, pool, &data), hipErrorInvalidValue);
    data = message->block;
    OK(hipMemPoolImportPointer(&block, pool, &data));
    OK(hipMemset(block, 0x77, 4096));
    CHECK_HIP(hipIpcCloseMemHandle(block), hipErrorInvalidValue);
    OK(hipFreeAsync(block, NULL));
    OK(hipMemPoolDestroy(pool));
}

/* A handle in which one byte has changed, wherever, opens nothing; one kind does not open as another. */
static void damaged(const struct message *message)
{
    hipMemPoolPtrExportData data;
    hipIpcMemHandle_t memory;
    hipIpcEventHandle_t handle;
    hipEvent_t event;
    hipMemPool_t pool;
    void *pointer;
    int fd = open("/dev/null", O_RDONLY);

    for (size_t i = 0; i < sizeof memory; i++) {
        memory = message->memory;
        ((char *)&memory)[i] ^= 4;
        CHECK_HIP(hipIpcOpenMemHandle(&pointer, memory, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidValue);
        handle = message->event;
        ((char *)&handle)[i] ^= 1;
        CHECK_HIP(hipIpcOpenEventHandle(&event, handle), hipErrorInvalidValue);
    }
    memcpy(&memory, &message->event, sizeof memory);
    CHECK_HIP(hipIpcOpenMemHandle(&pointer, memory, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidValue);
    memcpy(&handle, &message->memory, sizeof handle);
    CHECK_HIP(hipIpcOpenEventHandle(&event, handle), hipErrorInvalidValue);
    memcpy(&memory, &message->block, sizeof memory);
    CHECK_HIP(hipIpcOpenMemHandle(&pointer, memory, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidValue);
    memset(&memory, 0, sizeof memory);
    CHECK_HIP(hipIpcOpenMemHandle(&pointer, memory, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd,
                                                  hipMemHandleTypePosixFileDescriptor, 0),
              hipErrorInvalidValue);
    close(fd);
    OK(hipDeviceGetDefaultMemPool(&pool, 0));
    data = message->block;
    CHECK_HIP(hipMemPoolImportPointer(&pointer, pool, &data), hipErrorInvalidValue);
}

static int child(int in, int out)
{
    static unsigned char copy[BYTES];
    struct message message;
    unsigned char *memory, *inside;
    hipEvent_t event;
    hipStream_t stream;
    hipPointerAttribute_t attributes;

    CHECK(read(in, &message, sizeof message) == sizeof message);
    CHECK_HIP(hipIpcOpenMemHandle((void **)&memory, message.memory, 0), hipErrorInvalidValue);
    CHECK_HIP(hipIpcOpenMemHandle(NULL, message.memory, hipIpcMemLazyEnablePeerAccess), hipErrorInvalidValue);
    CHECK_HIP(hipIpcOpenMemHandle((void **)&memory, message.freed, hipIpcMemLazyEnablePeerAccess),
              hipErrorInvalidValue);
    damaged(&message);
    OK(hipIpcOpenMemHandle((void **)&memory, message.memory, hipIpcMemLazyEnablePeerAccess));
    OK(hipIpcOpenMemHandle((void **)&inside, message.inside, hipIpcMemLazyEnablePeerAccess));
    CHECK_EQ(memory[0], 0x11);
    CHECK_EQ(inside[0], 0x12);
    OK(hipPointerGetAttributes(&attributes, memory));
    CHECK_EQ(attributes.type, hipMemoryTypeDevice);
    CHECK_HIP(hipFree(memory), hipErrorInvalidValue);
    CHECK_HIP(hipIpcCloseMemHandle(NULL), hipErrorInvalidValue);
    OK(hipIpcCloseMemHandle(inside));
    CHECK_HIP(hipIpcCloseMemHandle(inside), hipErrorInvalidValue);

    /* The parent's stream is held up until it hears from here that both have queued their work. */
    CHECK_HIP(hipIpcOpenEventHandle(NULL, message.event), hipErrorInvalidValue);
    OK(hipIpcOpenEventHandle(&event, message.event));
    OK(hipStreamCreate(&stream));
    CHECK_HIP(hipEventQuery(event), hipErrorNotReady);
    OK(hipStreamWaitEvent(stream, event, 0));
    OK(hipMemcpyAsync(copy, memory, 0, hipMemcpyDeviceToHost, stream));
    CHECK_HIP(hipStreamQuery(stream), hipErrorNotReady);
    say(out);
    OK(hipMemcpyAsync(copy, memory, BYTES, hipMemcpyDeviceToHost, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(all(copy, BYTES, 0x22));
    OK(hipEventSynchronize(event));
    OK(hipEventQuery(event));

    /* And the other way round: this process records, the parent waits. */
    OK(hipMemsetAsync(memory, 0x33, BYTES, stream));
    OK(hipEventRecord(event, stream));
    say(out);
    OK(hipStreamSynchronize(stream));
    open_pool(&message);
    OK(hipIpcCloseMemHandle(memory));
    CHECK_HIP(hipIpcCloseMemHandle(memory), hipErrorInvalidValue);
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(stream));
    return check_status();
}

/* ---- the process that makes ---------------------------------------------------------------------------- */

static void hold(void *pipe)
{
    hear(*(int *)pipe);
}

static int parent(int in, int out)
{
    struct message message = {.parent = getpid()};
    hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
                             .handleTypes = hipMemHandleTypePosixFileDescriptor,
                             .location = {hipMemLocationTypeDevice, 0}};
    hipMemPool_t pool, plain;
    hipEvent_t event, other;
    hipStream_t stream;
    unsigned char *memory, *freed, *block, host;
    void *opened;

    OK(hipMalloc((void **)&memory, BYTES));
    OK(hipMalloc((void **)&freed, 64));
    OK(hipMemset(memory, 0x11, BYTES));
    OK(hipMemset(memory + 4100, 0x12, 1));
    OK(hipIpcGetMemHandle(&message.memory, memory));
    OK(hipIpcGetMemHandle(&message.inside, memory + 4100));
    OK(hipIpcGetMemHandle(&message.freed, freed));
    OK(hipFree(freed));
    CHECK_HIP(hipIpcGetMemHandle(NULL, memory), hipErrorInvalidValue);
    CHECK_HIP(hipIpcGetMemHandle(&message.memory, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipIpcGetMemHandle(&message.memory, &host), hipErrorInvalidValue);
    CHECK_HIP(hipIpcGetMemHandle(&message.memory, freed), hipErrorInvalidValue);
    CHECK_HIP(hipIpcOpenMemHandle(&opened, message.memory, hipIpcMemLazyEnablePeerAccess),
              hipErrorInvalidContext);
    CHECK_HIP(hipIpcCloseMemHandle(memory), hipErrorInvalidValue);
    CHECK_EQ(memory[0], 0x11);

    CHECK_HIP(hipEventCreateWithFlags(&event, hipEventInterprocess), hipErrorInvalidValue);
    OK(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
    OK(hipEventCreate(&other));
    CHECK_HIP(hipIpcGetEventHandle(&message.event, other), hipErrorInvalidConfiguration);
    CHECK_HIP(hipIpcGetEventHandle(NULL, event), hipErrorInvalidValue);
    CHECK_HIP(hipIpcGetEventHandle(&message.event, NULL), hipErrorInvalidValue);
    OK(hipEventDestroy(other));
    OK(hipIpcGetEventHandle(&message.event, event));
    CHECK_HIP(hipIpcOpenEventHandle(&other, message.event), hipErrorInvalidContext);
    OK(hipEventQuery(event));

    OK(hipMemPoolCreate(&pool, &props));
    OK(hipMallocFromPoolAsync((void **)&block, 4096, pool, NULL));
    OK(hipMemPoolExportToShareableHandle(&message.pool, pool, hipMemHandleTypePosixFileDescriptor, 0));
    OK(hipMemPoolExportPointer(&message.block, block));
    CHECK_HIP(hipMemPoolExportPointer(&message.block, memory), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolExportToShareableHandle(&message.pool, pool, hipMemHandleTypeNone, 0),
              hipErrorInvalidValue);
    OK(hipDeviceGetDefaultMemPool(&plain, 0));
    CHECK_HIP(hipMemPoolExportToShareableHandle(&message.pool, plain, hipMemHandleTypePosixFileDescriptor, 0),
              hipErrorInvalidValue);

    OK(hipStreamCreate(&stream));
    OK(hipLaunchHostFunc(stream, hold, &in));
    OK(hipMemsetAsync(memory, 0x22, BYTES, stream));
    OK(hipEventRecord(event, stream));
    CHECK_HIP(hipEventQuery(event), hipErrorNotReady);
    CHECK(write(out, &message, sizeof message) == sizeof message);
    OK(hipStreamSynchronize(stream));
    hear(in);
    OK(hipEventSynchronize(event));
    CHECK(all(memory, BYTES, 0x33));

    int status = -1;
    CHECK(wait(&status) > 0);
    CHECK_EQ(status, 0);
    CHECK(all(block, 4096, 0x77));
    close(message.pool);
    OK(hipFreeAsync(block, NULL));
    OK(hipMemPoolDestroy(pool));
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(stream));
    OK(hipFree(memory));
    return check_status();
}

int main(void)
{
    int there[2], back[2];

    if (pipe(there) || pipe(back))
        return 2;
    pid_t pid = fork(); /* before either opens the machine */
    if (pid < 0)
        return 2;
    return pid ? parent(back[0], there[1]) : child(there[0], back[1]);
}
