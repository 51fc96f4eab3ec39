/* SPDX-License-Identifier: MIT */
/* Memory pools: attributes, access, and who gets a freed block when. */
#include <semaphore.h>
#include <stdlib.h>

#include "apart.h"

#define BLOCK ((size_t)65536)

static const hipMemPoolProps plain = {.allocType = hipMemAllocationTypePinned,
                                      .location = {hipMemLocationTypeDevice, 0}};

static hipMemPool_t pool_of(uint64_t threshold, int follow, int opportunistic, int internal)
{
    hipMemPool_t pool;

    OK(hipMemPoolCreate(&pool, &plain));
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
    OK(hipMemPoolSetAttribute(pool, hipMemPoolReuseFollowEventDependencies, &follow));
    OK(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &opportunistic));
    OK(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowInternalDependencies, &internal));
    return pool;
}

static uint64_t attribute(hipMemPool_t pool, hipMemPoolAttr which)
{
    uint64_t value = 77;
    OK(hipMemPoolGetAttribute(pool, which, &value));
    return value;
}

static void *take(hipMemPool_t pool, size_t bytes, hipStream_t stream)
{
    void *out = NULL;
    OK(hipMallocFromPoolAsync(&out, bytes, pool, stream));
    return out;
}

static void hold(void *gate)
{
    sem_wait(gate);
}

static void basics(void)
{
    hipMemPool_t pool, mine;
    hipStream_t stream;
    uint64_t value;
    void *a, *b;

    OK(hipStreamCreate(&stream));
    OK(hipDeviceGetDefaultMemPool(&pool, 0));
    OK(hipMallocAsync(&a, 100000, stream));
    OK(hipMemsetAsync(a, 1, 100000, stream));
    CHECK_EQ(attribute(pool, hipMemPoolAttrUsedMemCurrent), 100000);
    OK(hipFreeAsync(a, stream));
    CHECK_HIP(hipFreeAsync(a, stream), hipErrorInvalidValue);
    OK(hipMallocAsync(&b, 100000, stream));
    CHECK(a == b); /* the stream may have it again at once */
    OK(hipFreeAsync(b, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(attribute(pool, hipMemPoolAttrReservedMemCurrent), 0); /* the threshold is 0 */
    CHECK_EQ(attribute(pool, hipMemPoolAttrUsedMemHigh), 100000);

    mine = pool_of(UINT64_MAX, 1, 1, 1);
    OK(hipMallocFromPoolAsync(&a, 5000, mine, stream));
    OK(hipFreeAsync(a, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(attribute(mine, hipMemPoolAttrReservedMemCurrent) >= 5000);
    OK(hipMemPoolTrimTo(mine, 0));
    CHECK_EQ(attribute(mine, hipMemPoolAttrReservedMemCurrent), 0);
    /* High water marks are set to zero, which is what there is now, and to nothing else. */
    const hipMemPoolAttr high[] = {hipMemPoolAttrReservedMemHigh, hipMemPoolAttrUsedMemHigh};
    for (int i = 0; i < 2; i++) {
        CHECK(attribute(mine, high[i]) >= 5000);
        value = 1;
        CHECK_HIP(hipMemPoolSetAttribute(mine, high[i], &value), hipErrorInvalidValue);
        value = 0;
        OK(hipMemPoolSetAttribute(mine, high[i], &value));
        CHECK_EQ(attribute(mine, high[i]), 0);
    }
    CHECK_HIP(hipMemPoolSetAttribute(mine, hipMemPoolAttrReservedMemCurrent, &value), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolSetAttribute(mine, hipMemPoolAttrUsedMemCurrent, &value), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolSetAttribute(mine, (hipMemPoolAttr)0x99, &value), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolSetAttribute(mine, hipMemPoolAttrReleaseThreshold, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolSetAttribute(NULL, hipMemPoolAttrReleaseThreshold, &value), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolGetAttribute(mine, (hipMemPoolAttr)0x99, &value), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolGetAttribute(mine, hipMemPoolAttrReleaseThreshold, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolGetAttribute(NULL, hipMemPoolAttrReleaseThreshold, &value), hipErrorInvalidValue);

    /* A free of either kind for memory of either kind. */
    a = take(mine, BLOCK, stream);
    OK(hipFree(a));
    CHECK_HIP(hipFree(a), hipErrorInvalidValue);
    CHECK_HIP(hipFreeAsync(a, stream), hipErrorInvalidValue);
    OK(hipMalloc(&a, BLOCK));
    OK(hipFreeAsync(a, stream));
    CHECK_HIP(hipFree(a), hipErrorInvalidValue);
    CHECK_HIP(hipFreeAsync(NULL, stream), hipErrorInvalidValue);
    a = take(mine, BLOCK, stream);
    CHECK_HIP(hipFreeAsync((char *)a + 16, stream), hipErrorInvalidValue);
    CHECK_HIP(hipFreeAsync(a, (hipStream_t)(intptr_t)-1), hipErrorInvalidHandle);
    OK(hipFreeAsync(a, stream));
    char *host = malloc(BLOCK);
    OK(hipHostRegister(host, BLOCK, 0));
    CHECK_HIP(hipFreeAsync(host, stream), hipErrorInvalidValue);
    OK(hipHostUnregister(host));
    free(host);

    CHECK_HIP(hipMallocAsync(NULL, 4, stream), hipErrorInvalidValue);
    CHECK_HIP(hipMallocAsync(&a, 4, (hipStream_t)(intptr_t)-1), hipErrorInvalidHandle);
    CHECK_HIP(hipMallocAsync(&a, SIZE_MAX, stream), hipErrorOutOfMemory);
    CHECK_HIP(hipMallocFromPoolAsync(&a, 4, NULL, stream), hipErrorInvalidValue);
    CHECK_HIP(hipMallocFromPoolAsync(NULL, 4, mine, stream), hipErrorInvalidValue);
    CHECK_HIP(hipMallocFromPoolAsync(&a, SIZE_MAX, mine, stream), hipErrorOutOfMemory);
    OK(hipMallocAsync(&a, 0, stream));
    CHECK(!a);

    /* A pool that is destroyed lives on for its memory, but not for its program. */
    a = take(mine, BLOCK, stream);
    OK(hipDeviceSetMemPool(0, mine));
    OK(hipMemPoolDestroy(mine));
    CHECK_HIP(hipMemPoolDestroy(mine), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolTrimTo(mine, 0), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolGetAttribute(mine, hipMemPoolAttrUsedMemHigh, &value), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetMemPool(0, mine), hipErrorInvalidValue);
    CHECK_HIP(hipMallocFromPoolAsync(&b, 4, mine, stream), hipErrorInvalidValue);
    OK(hipDeviceGetMemPool(&mine, 0));
    CHECK(mine == pool);
    OK(hipMemsetAsync(a, 1, BLOCK, stream));
    OK(hipFreeAsync(a, stream));
    CHECK_HIP(hipMemPoolDestroy(pool), hipErrorInvalidValue); /* the device's own */
    CHECK_HIP(hipMemPoolDestroy(NULL), hipErrorInvalidValue);
    OK(hipStreamSynchronize(stream));
    OK(hipStreamDestroy(stream));
}

static void descriptions(void)
{
    hipMemPool_t pool = pool_of(0, 1, 1, 1), other;
    hipMemAccessDesc desc = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
    hipMemAccessFlags flags;
    hipMemPoolProps props;

    for (int i = 0; i < 5; i++) {
        props = plain;
        if (i == 0)
            props.allocType = hipMemAllocationTypeInvalid;
        if (i == 1)
            props.handleTypes = hipMemHandleTypeWin32;
        if (i == 2)
            props.location.type = hipMemLocationTypeInvalid;
        if (i > 2)
            props.location.id = i == 3 ? -1 : 1000;
        CHECK_HIP(hipMemPoolCreate(&other, &props), hipErrorInvalidValue);
    }
    CHECK_HIP(hipMemPoolCreate(NULL, &plain), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolCreate(&other, NULL), hipErrorInvalidValue);
    props = plain;
    props.maxSize = 4 * BLOCK;
    OK(hipMemPoolCreate(&other, &props));
    void *a = take(other, 3 * BLOCK, NULL), *b;
    CHECK_HIP(hipMallocFromPoolAsync(&b, 2 * BLOCK, other, NULL), hipErrorOutOfMemory);
    OK(hipFreeAsync(a, NULL));
    OK(hipMemPoolDestroy(other));

    OK(hipMemPoolSetAccess(pool, &desc, 1));
    OK(hipMemPoolSetAccess(pool, NULL, 0));
    OK(hipMemPoolGetAccess(&flags, pool, &desc.location));
    CHECK_EQ(flags, hipMemAccessFlagsProtReadWrite);
    CHECK_HIP(hipMemPoolSetAccess(NULL, &desc, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolSetAccess(pool, NULL, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolSetAccess(pool, &desc, 1000), hipErrorInvalidValue);
    desc.flags = hipMemAccessFlagsProtNone;
    CHECK_HIP(hipMemPoolSetAccess(pool, &desc, 1), hipErrorInvalidDevice);
    desc.flags = (hipMemAccessFlags)2;
    CHECK_HIP(hipMemPoolSetAccess(pool, &desc, 1), hipErrorInvalidValue);
    desc = (hipMemAccessDesc){{hipMemLocationTypeInvalid, 0}, hipMemAccessFlagsProtReadWrite};
    CHECK_HIP(hipMemPoolSetAccess(pool, &desc, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolGetAccess(&flags, pool, &desc.location), hipErrorInvalidValue);
    desc.location = (hipMemLocation){hipMemLocationTypeDevice, 1000};
    CHECK_HIP(hipMemPoolSetAccess(pool, &desc, 1), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolGetAccess(&flags, pool, &desc.location), hipErrorInvalidValue);
    desc.location.id = 0;
    CHECK_HIP(hipMemPoolGetAccess(NULL, pool, &desc.location), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolGetAccess(&flags, NULL, &desc.location), hipErrorInvalidValue);
    CHECK_HIP(hipMemPoolGetAccess(&flags, pool, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetMemPool(0, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceGetMemPool(NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceGetDefaultMemPool(NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceGetDefaultMemPool(&other, -1), hipErrorInvalidDevice);
    OK(hipMemPoolDestroy(pool));
}

/* Work is held up in one stream, which then frees a block: whether another one gets it. */
static void held(int follow, bool before, bool wait, bool through, bool again)
{
    hipMemPool_t pool = pool_of(UINT64_MAX, follow, 0, 0);
    hipStream_t one, two, three;
    hipEvent_t event, second;
    sem_t gate;

    sem_init(&gate, 0, 0);
    OK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&three, hipStreamNonBlocking));
    OK(hipEventCreate(&event));
    OK(hipEventCreate(&second));
    void *a = take(pool, BLOCK, one);
    OK(hipLaunchHostFunc(one, hold, &gate));
    OK(hipMemsetAsync(a, 1, BLOCK, one));
    if (before)
        OK(hipEventRecord(event, one));
    OK(hipFreeAsync(a, one));
    if (!before)
        OK(hipEventRecord(event, one));
    if (through) {
        OK(hipStreamWaitEvent(three, event, 0));
        OK(hipEventRecord(second, three));
    }
    if (wait)
        OK(hipStreamWaitEvent(two, through ? second : event, 0));
    void *b = take(pool, BLOCK, two);
    CHECK_EQ(a == b, again);
    OK(hipMemsetAsync(b, 2, BLOCK, two));
    sem_post(&gate);
    OK(hipStreamSynchronize(two));
    CHECK(((char *)b)[0] == 2 && ((char *)b)[BLOCK - 1] == 2);
    OK(hipFreeAsync(b, two));
    OK(hipStreamDestroy(one));
    OK(hipStreamDestroy(two));
    OK(hipStreamDestroy(three));
    OK(hipEventDestroy(event));
    OK(hipEventDestroy(second));
    OK(hipMemPoolDestroy(pool));
    sem_destroy(&gate);
}

/* The work is done, but nobody has said so to the stream. */
static void idle(int opportunistic)
{
    hipMemPool_t pool = pool_of(UINT64_MAX, 0, opportunistic, 0);
    hipStream_t one, two;

    OK(hipStreamCreate(&one));
    OK(hipStreamCreate(&two));
    void *a = take(pool, BLOCK, one);
    OK(hipMemsetAsync(a, 1, BLOCK, one));
    OK(hipFreeAsync(a, one));
    OK(hipStreamSynchronize(one));
    CHECK_EQ(take(pool, BLOCK, two) == a, opportunistic);
    OK(hipStreamDestroy(one));
    OK(hipStreamDestroy(two));
    OK(hipMemPoolDestroy(pool));
}

/* No room for another block: the stream waits for the one that is still in use, if it may be made to. */
static void scarce(int internal)
{
    hipMemPoolProps props = plain;
    hipMemPool_t pool;
    hipStream_t one, two;
    sem_t gate;
    void *b;

    props.maxSize = BLOCK + BLOCK / 2;
    sem_init(&gate, 0, 0);
    OK(hipMemPoolCreate(&pool, &props));
    OK(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowInternalDependencies, &internal));
    OK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
    void *a = take(pool, BLOCK, one);
    OK(hipLaunchHostFunc(one, hold, &gate));
    OK(hipMemsetAsync(a, 1, BLOCK, one));
    OK(hipFreeAsync(a, one));
    CHECK_HIP(hipMallocFromPoolAsync(&b, BLOCK, pool, two), internal ? hipSuccess : hipErrorOutOfMemory);
    if (internal) {
        CHECK(a == b);
        OK(hipMemsetAsync(b, 2, BLOCK, two));
        CHECK_HIP(hipStreamQuery(two), hipErrorNotReady);
    }
    sem_post(&gate);
    OK(hipStreamSynchronize(two));
    if (internal) {
        CHECK(((char *)b)[0] == 2 && ((char *)b)[BLOCK - 1] == 2);
        OK(hipFreeAsync(b, two));
    }
    OK(hipStreamDestroy(one));
    OK(hipStreamDestroy(two));
    OK(hipMemPoolDestroy(pool));
    sem_destroy(&gate);
}

static void *in_graph(void)
{
    hipMemAllocNodeParams params = {.poolProps = plain, .bytesize = BLOCK};
    hipGraph_t graph;
    hipGraphNode_t node;

    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    return params.dptr;
}

/* A pointer that cannot be freed: which way it comes to be that, and which call is told. */
struct mistake {
    enum { ASYNC_TWICE, AFTER_ASYNC, AFTER_FREE, REUSED, TRIMMED, IN_GRAPH, IN_GRAPH_ASYNC, NOBODYS } way;
    const char *says[2];
};

static int mistake(void *argument)
{
    const struct mistake *m = argument;
    int local;
    void *a = &local;

    if (m->way >= IN_GRAPH)
        a = m->way == NOBODYS ? a : in_graph();
    else
        OK(hipMallocAsync(&a, BLOCK, NULL));
    if (m->way == AFTER_FREE)
        OK(hipFree(a));
    else if (m->way < IN_GRAPH)
        OK(hipFreeAsync(a, NULL));
    if (m->way == REUSED) { /* is a good pointer again */
        void *b;
        OK(hipMallocAsync(&b, BLOCK, NULL));
        CHECK(a == b);
        a = (char *)a + 16;
    }
    if (m->way == TRIMMED)
        OK(hipDeviceSynchronize());
    if (m->way == AFTER_ASYNC || m->way == IN_GRAPH)
        CHECK_HIP(hipFree(a), hipErrorInvalidValue);
    else
        CHECK_HIP(hipFreeAsync(a, NULL), hipErrorInvalidValue);
    return check_failures != 0;
}

static void mistakes(void)
{
    const struct mistake all[] = {
        {ASYNC_TWICE, {"hipFreeAsync(0x", ", freed at "}},
        {AFTER_ASYNC, {"hipFree(0x", ", freed at "}},
        {AFTER_FREE, {"hipFreeAsync(0x", ", freed at "}},
        {REUSED, {"hipFreeAsync(0x", "65536 bytes of device memory, allocated at "}},
        {TRIMMED, {"hipFreeAsync(0x", ", freed at "}},
        {IN_GRAPH, {"hipFree(0x", "no launch of its graph has it in use"}},
        {IN_GRAPH_ASYNC, {"hipFreeAsync(0x", "no launch of its graph has it in use"}},
        {NOBODYS, {"hipFreeAsync(0x", "not a pointer that HIP has allocated"}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct mistake one = all[i];
        char said[8192];
        int status = run_apart(mistake, &one, said, sizeof said);
        for (int k = 0; k < 2; k++)
            check_apart(status, 0, said, one.says[k], __FILE__, __LINE__);
        CHECK(one.way != REUSED || !strstr(said, "freed at"));
    }
}

int main(void)
{
    mistakes(); /* in processes of their own, before this one opens the machine */
    basics();
    descriptions();
    held(1, false, false, false, false); /* nothing orders the second stream behind the first */
    held(1, false, true, false, true);
    held(0, false, true, false, false);
    held(1, true, true, false, false); /* the event was recorded before the free */
    held(1, false, true, true, true);  /* by way of a third */
    held(1, true, true, true, false);
    idle(0);
    idle(1);
    scarce(0);
    scarce(1);
    return check_status();
}
