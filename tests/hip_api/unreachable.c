/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills of memory that is not there, or may only be read: an error and a report, in both modes,
 * and the program goes on.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "apart.h"

enum { BYTES = 8192, ROWS = 4, PITCH = BYTES / ROWS };

static unsigned char *device;
static hipStream_t stream;
static hipArray_t array;

/* Device memory is the other side of each. */
static hipError_t after(hipError_t error)
{
    return error == hipSuccess ? hipDeviceSynchronize() : error;
}

static hipError_t sync_from(void *bad)
{
    return hipMemcpy(device, bad, BYTES, hipMemcpyHostToDevice);
}
static hipError_t few_from(void *bad)
{
    return after(hipMemcpyAsync(device, bad, 64, hipMemcpyHostToDevice, stream));
}
static hipError_t many_from(void *bad)
{
    return after(hipMemcpyAsync(device, bad, BYTES, hipMemcpyDefault, stream));
}
static hipError_t rows_from(void *bad)
{
    return hipMemcpy2D(device, PITCH, bad, PITCH, 100, ROWS, hipMemcpyHostToDevice);
}
static hipError_t rows_from_async(void *bad)
{
    return after(hipMemcpy2DAsync(device, PITCH, bad, PITCH, 100, ROWS, hipMemcpyHostToDevice, stream));
}
static hipError_t array_from(void *bad)
{
    return hipMemcpy2DToArray(array, 0, 0, bad, 64, 64, 4, hipMemcpyHostToDevice);
}
static hipError_t peer_from(void *bad)
{
    return hipMemcpyPeer(device, 0, bad, 0, BYTES);
}
static hipError_t with_params(void *dst, void *src, bool graph)
{
    hipMemcpy3DParms p = {.dstPtr = {dst, PITCH, PITCH, ROWS},
                          .srcPtr = {src, PITCH, PITCH, ROWS},
                          .extent = {100, ROWS, 1},
                          .kind = hipMemcpyDefault};
    if (!graph)
        return hipMemcpy3D(&p);
    hipGraph_t g;
    hipGraphExec_t exec;
    hipGraphNode_t node;
    OK(hipGraphCreate(&g, 0));
    OK(hipGraphAddMemcpyNode(&node, g, NULL, 0, &p));
    OK(hipGraphInstantiate(&exec, g, NULL, NULL, 0));
    hipError_t error = after(hipGraphLaunch(exec, stream));
    hipGraphExecDestroy(exec);
    OK(hipGraphDestroy(g));
    return error;
}
static hipError_t box_from(void *bad)
{
    return with_params(device, bad, false);
}
static hipError_t graph_from(void *bad)
{
    return with_params(device, bad, true);
}

static hipError_t sync_to(void *bad)
{
    return hipMemcpy(bad, device, BYTES, hipMemcpyDeviceToHost);
}
static hipError_t async_to(void *bad)
{
    return after(hipMemcpyAsync(bad, device, 64, hipMemcpyDeviceToHost, stream));
}
static hipError_t rows_to(void *bad)
{
    return hipMemcpy2D(bad, PITCH, device, PITCH, 100, ROWS, hipMemcpyDeviceToHost);
}
static hipError_t array_to(void *bad)
{
    return hipMemcpy2DFromArray(bad, 64, array, 0, 0, 64, 4, hipMemcpyDeviceToHost);
}
static hipError_t box_to(void *bad)
{
    return with_params(bad, device, false);
}
static hipError_t graph_to(void *bad)
{
    return with_params(bad, device, true);
}
static hipError_t host_to_host(void *bad)
{
    unsigned char here[64] = {0};
    return hipMemcpy(bad, here, sizeof here, hipMemcpyHostToHost);
}

/* With XNACK only: fills of the process's memory. */
static hipError_t fill(void *bad)
{
    return hipMemset(bad, 1, BYTES);
}
static hipError_t fill_words(void *bad)
{
    return after(hipMemsetD32Async(bad, 1, 16, stream));
}
static hipError_t fill_rows(void *bad)
{
    return hipMemset2D(bad, PITCH, 1, 100, ROWS);
}

struct access {
    hipError_t (*fn)(void *bad);
    const char *in;
    bool xnack, writes;
};
static const struct access accesses[] = {
    {sync_from, "in a copy of 8192 bytes", false, false},
    {few_from, "in a copy of 64 bytes", false, false},
    {many_from, "in a copy of 8192 bytes", false, false},
    {rows_from, "in a copy of 100 x 4 x 1 bytes", false, false},
    {rows_from_async, "in a copy of 100 x 4 x 1 bytes", false, false},
    {array_from, "in a copy of 64 x 4 x 1 bytes", false, false},
    {peer_from, "in a copy of 8192 bytes", true, false},
    {box_from, "in a copy of 100 x 4 x 1 bytes", false, false},
    {graph_from, "in a copy of 100 x 4 x 1 bytes", false, false},
    {sync_to, "in a copy of 8192 bytes", false, true},
    {async_to, "in a copy of 64 bytes", false, true},
    {rows_to, "in a copy of 100 x 4 x 1 bytes", false, true},
    {array_to, "in a copy of 64 x 4 x 1 bytes", false, true},
    {box_to, "in a copy of 100 x 4 x 1 bytes", false, true},
    {graph_to, "in a copy of 100 x 4 x 1 bytes", false, true},
    {host_to_host, "in a copy of 64 bytes", false, true},
    {fill, "in a fill of 8192 bytes", true, true},
    {fill_words, "in a fill of 64 bytes", true, true},
    {fill_rows, "in a fill of 100 x 4 x 1 elements", true, true},
};

static void begin(void)
{
    OK(hipMalloc((void **)&device, BYTES));
    OK(hipStreamCreate(&stream));
    const hipChannelFormatDesc bytes = {8, 0, 0, 0, hipChannelFormatKindUnsigned};
    OK(hipMallocArray(&array, &bytes, 64, 4, 0));
}

static int one(void *argument)
{
    const struct access *access = argument;
    unsigned char copy[16];
    setenv("HSA_XNACK", access->xnack ? "1" : "0", 1);
    unsigned char *page = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin();
    if (access->writes) {
        CHECK_HIP(access->fn(page), hipErrorIllegalAddress);
        OK(hipDeviceReset());
        begin();
    }
    munmap(page, BYTES);
    CHECK_HIP(access->fn(page), hipErrorIllegalAddress);
    CHECK_HIP(hipDeviceSynchronize(), hipErrorIllegalAddress);
    OK(hipDeviceReset());
    begin();
    OK(hipMemset(device, 7, BYTES));
    OK(hipMemcpy(copy, device, sizeof copy, hipMemcpyDeviceToHost));
    CHECK_EQ(copy[15], 7);
    return check_failures != 0;
}

/* Values in memory that was registered, and is there no more. */
static int value(void *writes)
{
    unsigned char *page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin();
    OK(hipHostRegister(page, BYTES, 0));
    munmap(page, BYTES);
    CHECK_HIP(writes ? after(hipStreamWriteValue32(stream, page, 1, 0))
                     : after(hipStreamWaitValue64(stream, page, 1, hipStreamWaitValueEq, UINT64_MAX)),
              hipErrorIllegalAddress);
    OK(hipDeviceReset());
    return check_failures != 0;
}

/* The same while a stream waits: for a value, or for one of several. */
static int value_goes(void *wide)
{
    unsigned char *page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin();
    OK(hipHostRegister(page, BYTES, 0));
    OK(wide ? hipStreamWaitValue64(stream, page + 8, 1, hipStreamWaitValueEq, UINT64_MAX)
            : hipStreamWaitValue32(stream, page + 4, 1, hipStreamWaitValueGte, UINT32_MAX));
    usleep(20000);
    CHECK_HIP(hipStreamQuery(stream), hipErrorNotReady);
    munmap(page, BYTES);
    CHECK_HIP(hipStreamSynchronize(stream), hipErrorIllegalAddress);
    OK(hipDeviceReset());
    OK(hipMalloc((void **)&page, BYTES));
    OK(hipMemset(page, 1, BYTES));
    OK(hipDeviceSynchronize());
    return check_failures != 0;
}

static void *resolve(void *word)
{
    usleep(100000);
    *(volatile uint32_t *)word = 1;
    return NULL;
}

/* A free waits for the stream that waits for a value there. */
static int value_is_freed(void *host)
{
    uint32_t *word;
    pthread_t thread;
    begin();
    OK(host ? hipHostMalloc((void **)&word, 64, 0) : hipMalloc((void **)&word, 64));
    *(volatile uint32_t *)word = 0;
    OK(hipStreamWaitValue32(stream, word, 1, hipStreamWaitValueEq, UINT32_MAX));
    OK(hipStreamWriteValue32(stream, device, 7, 0));
    CHECK_EQ(pthread_create(&thread, NULL, resolve, word), 0);
    OK(host ? hipHostFree(word) : hipFree(word));
    CHECK_EQ(*(volatile uint32_t *)(void *)device, 7);
    pthread_join(thread, NULL);
    return check_failures != 0;
}

/* What the runtime knows to be freed. */
static int freed(void *argument)
{
    unsigned char *other, here[64];
    setenv("HSA_XNACK", argument ? "1" : "0", 1);
    begin();
    OK(hipMalloc((void **)&other, BYTES));
    OK(hipFree(other));
    CHECK_HIP(hipMemcpy(here, other, 64, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy(device, other, 64, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy(other, device, 64, hipMemcpyDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpyAsync(device, other, 64, hipMemcpyDefault, stream), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2D(device, PITCH, other, PITCH, 64, ROWS, hipMemcpyDefault), hipErrorInvalidValue);
    CHECK_HIP(hipMemset(other, 1, 64), hipErrorInvalidValue);
    OK(hipDeviceSynchronize());
    return check_failures != 0;
}

int main(void)
{
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        struct access access = accesses[i];
        char said[8192];
        int status = run_apart(one, &access, said, sizeof said);
        check_apart(status, 0, said, access.in, __FILE__, __LINE__);
        check_apart(status, 0, said, access.writes ? "write to" : "read from", __FILE__, __LINE__);
        if (access.writes)
            check_apart(status, 0, said, "may only be read", __FILE__, __LINE__);
    }
    CHECK_APART(value, NULL, 0, "in a wait for a value");
    CHECK_APART(value, stdout, 0, "in a write of a value");
    CHECK_APART(value_goes, NULL, 0, "in a wait for a value");
    CHECK_APART(value_goes, stdout, 0, "in a wait for a value");
    CHECK_APART(value_is_freed, NULL, 0, NULL);
    CHECK_APART(value_is_freed, stdout, 0, NULL);
    CHECK_APART(freed, NULL, 0, NULL);
    CHECK_APART(freed, stdout, 0, NULL);
    return check_status();
}
