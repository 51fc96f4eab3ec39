/* SPDX-License-Identifier: MIT */
/* Virtual memory management: references, mappings, access, and memory that processes share by descriptors. */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hip_check.h"

#define UNIT ((size_t)65536)

static const hipMemAllocationProp plain = {.type = hipMemAllocationTypePinned,
                                           .location = {hipMemLocationTypeDevice, 0}};
static const hipMemAllocationProp shared = {.type = hipMemAllocationTypePinned,
                                            .requestedHandleType = hipMemHandleTypePosixFileDescriptor,
                                            .location = {hipMemLocationTypeDevice, 0}};
static const hipMemAccessDesc both = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
static const hipMemAccessDesc reading = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtRead};
static const hipMemAccessDesc none = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtNone};

static char *reserve(size_t bytes)
{
    void *address = NULL;
    OK(hipMemAddressReserve(&address, bytes, 0, NULL, 0));
    return address;
}

static hipMemGenericAllocationHandle_t make(size_t bytes, const hipMemAllocationProp *prop)
{
    hipMemGenericAllocationHandle_t memory = NULL;
    OK(hipMemCreate(&memory, bytes, prop, 0));
    return memory;
}

static void fill(void *at, int value, unsigned blocks, const char *path)
{
    static hipFunction_t store;
    hipModule_t module;

    if (!store) {
        OK(hipModuleLoad(&module, path));
        OK(hipModuleGetFunction(&store, module, "store"));
    }
    OK(hipModuleLaunchKernel(store, blocks, 1, 1, 256, 1, 1, 0, NULL, (void *[]){&at, &value}, NULL));
}

static void references(void)
{
    hipMemGenericAllocationHandle_t memory = make(UNIT, &plain), again;
    char *address = reserve(UNIT);
    hipMemAllocationProp prop;
    size_t before, after, total;

    OK(hipMemMap(address, UNIT, 0, memory, 0));
    OK(hipMemSetAccess(address, UNIT, &both, 1));
    OK(hipMemset(address, 7, UNIT));
    OK(hipMemRelease(memory));
    /* The mapping keeps the memory, and the program has no name for it any more. */
    CHECK_HIP(hipMemRelease(memory), hipErrorInvalidValue);
    CHECK_HIP(hipMemGetAllocationPropertiesFromHandle(&prop, memory), hipErrorInvalidValue);
    CHECK_EQ(address[UNIT - 1], 7);
    OK(hipMemset(address, 8, UNIT));
    /* But by its address it gets one again. */
    OK(hipMemRetainAllocationHandle(&again, address + 100));
    OK(hipMemGetAllocationPropertiesFromHandle(&prop, again));
    CHECK_EQ(prop.location.type, hipMemLocationTypeDevice);
    OK(hipMemUnmap(address, UNIT));
    CHECK_HIP(hipMemRetainAllocationHandle(&memory, address), hipErrorInvalidValue);
    OK(hipMemMap(address, UNIT, 0, again, 0));
    OK(hipMemSetAccess(address, UNIT, &both, 1));
    CHECK_EQ(address[5], 8);
    OK(hipMemRelease(again));
    CHECK_HIP(hipMemRelease(again), hipErrorInvalidValue);
    OK(hipMemUnmap(address, UNIT));
    CHECK_HIP(hipMemUnmap(address, UNIT), hipErrorInvalidValue);
    OK(hipMemAddressFree(address, UNIT));
    CHECK_HIP(hipMemAddressFree(address, UNIT), hipErrorInvalidValue);

    OK(hipMemGetInfo(&before, &total));
    memory = make((size_t)1 << 30, &plain);
    OK(hipMemGetInfo(&after, &total));
    CHECK_EQ(before - after, (size_t)1 << 30);
    CHECK_HIP(hipMemCreate(&again, after + UNIT - after % UNIT, &plain, 0), hipErrorOutOfMemory);
    OK(hipMemRelease(memory));
    OK(hipMemGetInfo(&after, &total));
    CHECK_EQ(before, after);
}

static void arguments(void)
{
    hipMemGenericAllocationHandle_t memory = make(UNIT, &plain), other;
    hipMemAllocationProp wrong;
    hipMemAccessDesc desc = both;
    unsigned long long flags;
    size_t granularity;
    char *address = reserve(4 * UNIT), *place;

    CHECK_HIP(hipMemCreate(NULL, UNIT, &plain, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(&other, 0, &plain, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(&other, UNIT + 1, &plain, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(&other, UNIT, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemCreate(&other, UNIT, &plain, 1), hipErrorInvalidValue);
    for (int i = 0; i < 4; i++) {
        wrong = plain;
        if (i == 0)
            wrong.type = hipMemAllocationTypeInvalid;
        if (i == 1)
            wrong.location.type = hipMemLocationTypeInvalid;
        if (i >= 2)
            wrong.location.id = i == 2 ? -1 : 1000;
        CHECK_HIP(hipMemCreate(&other, UNIT, &wrong, 0), hipErrorInvalidValue);
        CHECK_HIP(hipMemGetAllocationGranularity(&granularity, &wrong, hipMemAllocationGranularityMinimum),
                  hipErrorInvalidValue);
    }
    CHECK_HIP(hipMemGetAllocationGranularity(NULL, &plain, hipMemAllocationGranularityMinimum),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemGetAllocationGranularity(&granularity, &plain, (hipMemAllocationGranularity_flags)255),
              hipErrorInvalidValue);
    OK(hipMemGetAllocationGranularity(&granularity, &plain, hipMemAllocationGranularityRecommended));
    CHECK(granularity && !(granularity & (granularity - 1)));

    CHECK_HIP(hipMemAddressReserve(NULL, UNIT, 0, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve((void **)&place, 0, 0, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve((void **)&place, UNIT + 1, 0, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve((void **)&place, UNIT, 3, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve((void **)&place, UNIT, 0, NULL, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressReserve((void **)&place, SIZE_MAX - 4095, (size_t)1 << 63, NULL, 0),
              hipErrorOutOfMemory);
    OK(hipMemAddressReserve((void **)&place, UNIT, (size_t)1 << 24, NULL, 0));
    CHECK_EQ((uintptr_t)place % ((size_t)1 << 24), 0);
    CHECK_HIP(hipMemAddressFree(place, UNIT / 2), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressFree(NULL, UNIT), hipErrorInvalidValue);
    CHECK_HIP(hipMemAddressFree(place, 0), hipErrorInvalidValue);
    OK(hipMemAddressFree(place, UNIT));

    CHECK_HIP(hipMemMap(NULL, UNIT, 0, memory, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(address, 0, 0, memory, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(address, UNIT - 1, 0, memory, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(address, 2 * UNIT, 0, memory, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(address, UNIT, 4096, memory, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(address, UNIT, 0, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(address, UNIT, 0, memory, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(address + 1, UNIT, 0, memory, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemMap(address + 3 * UNIT + 4096, UNIT, 0, memory, 0), hipErrorInvalidValue);
    OK(hipMemMap(address, UNIT, 0, memory, 0));
    CHECK_HIP(hipMemMap(address, UNIT, 0, memory, 0), hipErrorInvalidValue);

    CHECK_HIP(hipMemSetAccess(NULL, UNIT, &both, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemSetAccess(address, 0, &both, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemSetAccess(address, UNIT, NULL, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemSetAccess(address, UNIT, &both, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemSetAccess(address, UNIT + 1, &both, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemSetAccess(address, UNIT / 2, &both, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemSetAccess(address + UNIT, UNIT, &both, 1), hipErrorInvalidValue);
    for (int i = 0; i < 4; i++) {
        desc = both;
        if (i == 0)
            desc.location.type = hipMemLocationTypeInvalid;
        if (i == 1 || i == 2)
            desc.location.id = i == 1 ? -1 : 1000;
        if (i == 3)
            desc.flags = (hipMemAccessFlags)2;
        CHECK_HIP(hipMemSetAccess(address, UNIT, &desc, 1), hipErrorInvalidValue);
        if (i < 3)
            CHECK_HIP(hipMemGetAccess(&flags, &desc.location, address), hipErrorInvalidValue);
    }
    const hipMemAccessDesc list[] = {both, desc};
    CHECK_HIP(hipMemSetAccess(address, UNIT, list, 2), hipErrorInvalidValue);
    OK(hipMemGetAccess(&flags, &both.location, address));
    CHECK_EQ(flags, hipMemAccessFlagsProtNone); /* of a list that is wrong nothing is done */
    CHECK_HIP(hipMemGetAccess(NULL, &both.location, address), hipErrorInvalidValue);
    CHECK_HIP(hipMemGetAccess(&flags, NULL, address), hipErrorInvalidValue);
    CHECK_HIP(hipMemGetAccess(&flags, &both.location, address + UNIT), hipErrorInvalidValue);
    CHECK_HIP(hipMemUnmap(NULL, UNIT), hipErrorInvalidValue);
    CHECK_HIP(hipMemUnmap(address, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemUnmap(address, UNIT - 4096), hipErrorInvalidValue);
    CHECK_HIP(hipMemUnmap(address, 2 * UNIT), hipErrorInvalidValue);
    OK(hipMemUnmap(address, UNIT));
    CHECK_HIP(hipMemRetainAllocationHandle(NULL, address), hipErrorInvalidValue);
    CHECK_HIP(hipMemRetainAllocationHandle(&other, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMemGetAllocationPropertiesFromHandle(NULL, memory), hipErrorInvalidValue);
    CHECK_HIP(hipMemRelease(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMemRelease((hipMemGenericAllocationHandle_t)(uintptr_t)0x1234), hipErrorInvalidValue);
    OK(hipMemRelease(memory));
    OK(hipMemAddressFree(address, 4 * UNIT));
}

/* A range that grows, of several pieces, that kernels and copies see as one; holes; parts taken out. */
static void growing(const char *path)
{
    hipMemGenericAllocationHandle_t memory[3], large = make(4 * UNIT, &plain);
    char *address = reserve(16 * UNIT), *host = malloc(3 * UNIT);
    int *words = (int *)(void *)host;
    void *next = NULL;

    for (int i = 0; i < 3; i++) {
        memory[i] = make(UNIT, &plain);
        OK(hipMemMap(address + (size_t)i * UNIT, UNIT, 0, memory[i], 0));
        if (i != 1)
            OK(hipMemSetAccess(address + (size_t)i * UNIT, UNIT, &both, 1));
    }
    OK(hipMemSetAccess(address, 3 * UNIT, &both, 1));
    fill(address, 99, (unsigned)(3 * UNIT / 1024), path);
    memset(host, 0, 3 * UNIT);
    OK(hipMemcpy(host, address, 3 * UNIT, hipMemcpyDeviceToHost));
    for (size_t i = 0; i < 3 * UNIT / 4; i++)
        if (!CHECK_EQ(words[i], 99))
            break;
    OK(hipMemsetD32(address + UNIT - 8, 5, 4));
    OK(hipMemcpy(host, address + UNIT - 8, 16, hipMemcpyDeviceToHost));
    CHECK(words[0] == 5 && words[3] == 5);
    CHECK_HIP(hipMemcpy(host, address + 1, 3 * UNIT, hipMemcpyDeviceToHost), hipErrorInvalidValue);

    /* The middle goes, and comes again with other memory; the rest stays. */
    CHECK_HIP(hipMemUnmap(address + UNIT / 2, UNIT), hipErrorInvalidValue);
    OK(hipMemUnmap(address + UNIT, UNIT));
    CHECK_HIP(hipMemcpy(host, address, 2 * UNIT, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    CHECK_HIP(hipMemSetAccess(address, 3 * UNIT, &both, 1), hipErrorInvalidValue);
    OK(hipMemMap(address + UNIT, UNIT, 2 * UNIT, large, 0));
    OK(hipMemSetAccess(address + UNIT, UNIT, &both, 1));
    fill(address, 98, (unsigned)(3 * UNIT / 1024), path);
    OK(hipDeviceSynchronize());
    OK(hipMemMap(address + 8 * UNIT, 4 * UNIT, 0, large, 0)); /* the same memory at two places */
    OK(hipMemSetAccess(address + 8 * UNIT, 4 * UNIT, &both, 1));
    OK(hipMemcpy(host, address + 9 * UNIT, 3 * UNIT, hipMemcpyDeviceToHost));
    CHECK(words[UNIT / 4 - 1] == 0 && words[UNIT / 4] == 98 && words[UNIT / 2 - 1] == 98 &&
          words[UNIT / 2] == 0);
    fill(address + 10 * UNIT, 97, (unsigned)(UNIT / 1024), path);
    OK(hipMemcpy(host, address + UNIT, UNIT, hipMemcpyDeviceToHost));
    CHECK(words[0] == 97 && words[UNIT / 4 - 1] == 97);

    /* A reservation behind the first one, where the program asks for it, if the place is free. */
    OK(hipMemAddressReserve(&next, UNIT, 0, address + 16 * UNIT, 0));
    OK(hipMemAddressFree(next, UNIT));
    CHECK_HIP(hipMemAddressFree(address, 16 * UNIT), hipErrorInvalidValue);
    OK(hipMemUnmap(address, 3 * UNIT));
    OK(hipMemUnmap(address + 8 * UNIT, 4 * UNIT));
    for (int i = 0; i < 3; i++)
        OK(hipMemRelease(memory[i]));
    OK(hipMemRelease(large));
    OK(hipMemAddressFree(address, 16 * UNIT));
    free(host);
}

/* More memory than a process may have descriptors. */
static void many(void)
{
    enum { COUNT = 1500 };
    static hipMemGenericAllocationHandle_t memory[COUNT];
    char *address = reserve(COUNT * (size_t)4096);

    for (size_t i = 0; i < COUNT; i++) {
        memory[i] = make(4096, &plain);
        OK(hipMemMap(address + i * 4096, 4096, 0, memory[i], 0));
    }
    OK(hipMemSetAccess(address, COUNT * (size_t)4096, &both, 1));
    OK(hipMemset(address, 3, COUNT * (size_t)4096));
    CHECK_EQ(address[COUNT * 4096 - 1], 3);
    OK(hipMemUnmap(address, COUNT * (size_t)4096));
    for (size_t i = 0; i < COUNT; i++)
        OK(hipMemRelease(memory[i]));
    OK(hipMemAddressFree(address, COUNT * (size_t)4096));
}

/* ---- processes ----------------------------------------------------------------------------------------- */

static void send_descriptor(int to, int fd)
{
    char c = 'x', room[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {&c, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    CHECK(sendmsg(to, &message, 0) == 1);
}

static int receive_descriptor(int from)
{
    char c, room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&c, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    int fd = -1;

    CHECK(recvmsg(from, &message, 0) == 1);
    if (CMSG_FIRSTHDR(&message))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static int importing(int socket, const char *path)
{
    int fd = receive_descriptor(socket), pair[2], out = -1;
    hipMemGenericAllocationHandle_t memory, twice;
    hipMemAllocationProp prop;
    char *address = reserve(2 * UNIT), c = 'y';

    CHECK(pipe(pair) == 0);
    CHECK_HIP(hipMemImportFromShareableHandle(&memory, &pair[0], hipMemHandleTypePosixFileDescriptor),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemImportFromShareableHandle(&memory, &out, hipMemHandleTypePosixFileDescriptor),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemImportFromShareableHandle(&memory, NULL, hipMemHandleTypePosixFileDescriptor),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemImportFromShareableHandle(NULL, &fd, hipMemHandleTypePosixFileDescriptor),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemImportFromShareableHandle(&memory, &fd, hipMemHandleTypeNone), hipErrorInvalidValue);
    OK(hipMemImportFromShareableHandle(&memory, &fd, hipMemHandleTypePosixFileDescriptor));
    OK(hipMemImportFromShareableHandle(&twice, (void *)(intptr_t)fd, hipMemHandleTypePosixFileDescriptor));
    close(fd);
    OK(hipMemGetAllocationPropertiesFromHandle(&prop, memory));
    CHECK_EQ(prop.requestedHandleType, hipMemHandleTypePosixFileDescriptor);
    CHECK_HIP(hipMemMap(address, 3 * UNIT, 0, memory, 0), hipErrorInvalidValue);
    OK(hipMemMap(address, 2 * UNIT, 0, memory, 0));
    OK(hipMemSetAccess(address, 2 * UNIT, &both, 1));
    CHECK_EQ(*(int *)(void *)(address + 2 * UNIT - 4), 11);
    fill(address, 22, (unsigned)(2 * UNIT / 1024), path);
    OK(hipDeviceSynchronize());
    OK(hipMemExportToShareableHandle(&out, memory, hipMemHandleTypePosixFileDescriptor, 0));
    close(out);
    OK(hipMemUnmap(address, 2 * UNIT));
    OK(hipMemRelease(memory));
    OK(hipMemRelease(twice));
    OK(hipMemAddressFree(address, 2 * UNIT));
    CHECK(write(socket, &c, 1) == 1);
    return check_status();
}

static void exporting(int socket, const char *path)
{
    hipMemGenericAllocationHandle_t memory = make(2 * UNIT, &shared), own = make(UNIT, &plain);
    char *address = reserve(2 * UNIT), c;
    int fd = -1, status = -1;

    CHECK_HIP(hipMemExportToShareableHandle(&fd, own, hipMemHandleTypePosixFileDescriptor, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemExportToShareableHandle(NULL, memory, hipMemHandleTypePosixFileDescriptor, 0),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemExportToShareableHandle(&fd, memory, hipMemHandleTypeNone, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemExportToShareableHandle(&fd, memory, hipMemHandleTypePosixFileDescriptor, 1),
              hipErrorInvalidValue);
    CHECK_HIP(hipMemExportToShareableHandle(&fd, NULL, hipMemHandleTypePosixFileDescriptor, 0),
              hipErrorInvalidValue);
    OK(hipMemExportToShareableHandle(&fd, memory, hipMemHandleTypePosixFileDescriptor, 0));
    OK(hipMemMap(address, 2 * UNIT, 0, memory, 0));
    OK(hipMemSetAccess(address, 2 * UNIT, &both, 1));
    fill(address, 11, (unsigned)(2 * UNIT / 1024), path);
    OK(hipDeviceSynchronize());
    CHECK(ftruncate(fd, 4096) != 0); /* nobody can take the pages away from under the others */
    send_descriptor(socket, fd);
    close(fd);
    CHECK(read(socket, &c, 1) == 1);
    CHECK(wait(&status) > 0);
    CHECK_EQ(status, 0);
    int *words = malloc(2 * UNIT);
    OK(hipMemcpy(words, address, 2 * UNIT, hipMemcpyDeviceToHost));
    CHECK(words[0] == 22 && words[UNIT / 2 - 1] == 22);
    free(words);
    OK(hipMemUnmap(address, 2 * UNIT));
    OK(hipMemRelease(memory));
    OK(hipMemRelease(own));
    OK(hipMemAddressFree(address, 2 * UNIT));
}

/* ---- access: last, as kernels fault -------------------------------------------------------------------- */

static void protection(const char *path)
{
    hipMemGenericAllocationHandle_t memory = make(UNIT, &plain);
    char *address = reserve(UNIT), host[64];
    unsigned long long flags;

    OK(hipMemMap(address, UNIT, 0, memory, 0));
    OK(hipMemSetAccess(address, UNIT, &both, 1));
    OK(hipMemset(address, 1, UNIT));
    OK(hipMemSetAccess(address, UNIT, &reading, 1));
    OK(hipMemGetAccess(&flags, &both.location, address));
    CHECK_EQ(flags, hipMemAccessFlagsProtRead);
    OK(hipMemcpy(host, address, sizeof host, hipMemcpyDeviceToHost));
    CHECK_EQ(host[63], 1);
    CHECK_HIP(hipMemcpy(address, host, sizeof host, hipMemcpyHostToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemset(address, 2, UNIT), hipErrorInvalidValue);
    CHECK_HIP(hipMemset2D(address, 64, 2, 32, 4), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2D(address, 64, host, 32, 32, 2, hipMemcpyHostToDevice), hipErrorInvalidValue);
    OK(hipMemSetAccess(address, UNIT, &both, 1));
    OK(hipMemset(address, 2, UNIT));
    OK(hipMemSetAccess(address, UNIT, &reading, 1));
    fill(address, 5, 1, path);
    CHECK_HIP(hipDeviceSynchronize(), hipErrorIllegalAddress);
    OK(hipDeviceReset());
    OK(hipMemSetAccess(address, UNIT, &none, 1));
    CHECK_HIP(hipMemset(address, 2, UNIT), hipErrorInvalidValue);
    OK(hipMemSetAccess(address, UNIT, &both, 1));
    CHECK_EQ(address[0], 2);
    OK(hipMemUnmap(address, UNIT));
    OK(hipMemRelease(memory));
    OK(hipMemAddressFree(address, UNIT));
}

int main(int argc, char **argv)
{
    int pair[2];

    if (argc < 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 2;
    pid_t pid = fork(); /* before either opens the machine */
    if (pid < 0)
        return 2;
    close(pair[pid ? 1 : 0]); /* so that neither waits for one that is gone */
    if (!pid)
        return importing(pair[1], argv[1]);
    exporting(pair[0], argv[1]);
    references();
    arguments();
    growing(argv[1]);
    many();
    protection(argv[1]);
    return check_status();
}
