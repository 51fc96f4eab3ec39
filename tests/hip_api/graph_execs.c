/* SPDX-License-Identifier: MIT */
/* Executable graphs: updates, launches in several streams, what outlives them; edges, clones, text. */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "hip_check.h"

enum { N = 64, THREADS = 4, ROUNDS = 40 };

static void add_one(void *user)
{
    atomic_fetch_add((_Atomic int *)user, 1);
}

static void edges(void)
{
    hipGraph_t graph, clone;
    hipGraphExec_t exec;
    hipGraphNode_t n[4], found;
    size_t count;

    OK(hipGraphCreate(&graph, 0));
    for (int i = 0; i < 4; i++)
        OK(hipGraphAddEmptyNode(&n[i], graph, NULL, 0));
    const hipGraphNode_t from[] = {n[0], n[1], n[0]}, to[] = {n[1], n[2], n[1]};
    CHECK_HIP(hipGraphAddDependencies(graph, from, to, 3), hipErrorInvalidValue); /* one of them twice */
    OK(hipGraphGetEdges(graph, NULL, NULL, &count));
    CHECK_EQ(count, 0);
    OK(hipGraphAddDependencies(graph, from, to, 2));
    CHECK_HIP(hipGraphRemoveDependencies(graph, from, to, 3), hipErrorInvalidValue);
    OK(hipGraphGetEdges(graph, NULL, NULL, &count));
    CHECK_EQ(count, 2);
    OK(hipGraphRemoveDependencies(graph, from, to, 2));
    OK(hipGraphDestroyNode(n[1]));
    OK(hipGraphAddDependencies(graph, &n[0], &n[3], 1));
    OK(hipGraphClone(&clone, graph));
    OK(hipGraphNodeFindInClone(&found, n[3], clone));
    OK(hipGraphNodeGetDependencies(found, NULL, &count));
    CHECK_EQ(count, 1);

    /* Not a child of itself, but its clone is another graph. */
    CHECK_HIP(hipGraphAddChildGraphNode(&found, graph, NULL, 0, graph), hipErrorInvalidValue);
    OK(hipGraphAddChildGraphNode(&found, graph, NULL, 0, clone));
    OK(hipGraphDestroy(clone));

    CHECK_HIP(hipGraphInstantiateWithFlags(&exec, graph, 16), hipErrorInvalidValue);
    CHECK_HIP(hipGraphInstantiateWithFlags(&exec, graph, 10), hipErrorInvalidValue); /* one at a time */
    hipGraphInstantiateParams params = {.flags = 16};
    CHECK_HIP(hipGraphInstantiateWithParams(&exec, graph, &params), hipErrorInvalidValue);
    CHECK_EQ(params.result_out, hipGraphInstantiateError);
    unsigned long long flags;
    OK(hipGraphInstantiateWithFlags(&exec, graph, hipGraphInstantiateFlagUseNodePriority));
    OK(hipGraphExecGetFlags(exec, &flags));
    CHECK_EQ(flags, hipGraphInstantiateFlagUseNodePriority);
    OK(hipGraphExecDestroy(exec));
    hipGraphNodeParams any = {.type = (hipGraphNodeType)77};
    CHECK_HIP(hipGraphAddNode(&found, graph, NULL, 0, &any), hipErrorInvalidValue);
    OK(hipGraphDestroy(graph));
}

/* Nodes are paired by when they were made, or if that fails by when they run. */
static void updates(void)
{
    hipGraph_t graph, other, child, wrong;
    hipGraphExec_t exec;
    hipGraphNode_t set, host, sub, inner, where;
    hipGraphExecUpdateResult result;
    unsigned char *memory;
    _Atomic int ran = 0, second = 0;

    OK(hipMalloc((void **)&memory, N));
    hipMemsetParams fill = {.dst = memory, .elementSize = 1, .height = 1, .value = 1, .width = N};
    hipHostNodeParams call = {add_one, (void *)&ran};
    OK(hipGraphCreate(&child, 0));
    OK(hipGraphAddHostNode(&inner, child, NULL, 0, &call));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
    OK(hipGraphAddHostNode(&host, graph, &set, 1, &call));
    OK(hipGraphAddChildGraphNode(&sub, graph, &host, 1, child));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));

    OK(hipGraphCreate(&other, 0));
    OK(hipGraphAddChildGraphNode(&sub, other, NULL, 0, child));
    OK(hipGraphAddHostNode(&host, other, NULL, 0, &call));
    fill.value = 5;
    OK(hipGraphAddMemsetNode(&set, other, NULL, 0, &fill));
    OK(hipGraphAddDependencies(other, &set, &host, 1));
    OK(hipGraphAddDependencies(other, &host, &sub, 1));
    OK(hipGraphExecUpdate(exec, other, &where, &result));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(memory[N - 1], 5);
    CHECK_EQ(ran, 2);
    OK(hipGraphRemoveDependencies(other, &host, &sub, 1));
    CHECK_HIP(hipGraphExecUpdate(exec, other, &where, &result), hipErrorGraphExecUpdateFailure);

    /* A child of another shape; a node in the child. */
    hipGraphNode_t nodes[3], in_graph;
    size_t count = 3;
    OK(hipGraphGetNodes(graph, nodes, &count));
    OK(hipGraphCreate(&wrong, 0));
    CHECK_HIP(hipGraphExecChildGraphNodeSetParams(exec, nodes[2], wrong), hipErrorUnknown);
    OK(hipGraphAddEmptyNode(&where, wrong, NULL, 0));
    CHECK_HIP(hipGraphExecChildGraphNodeSetParams(exec, nodes[2], wrong), hipErrorUnknown);
    CHECK_HIP(hipGraphExecChildGraphNodeSetParams(exec, nodes[2], graph), hipErrorInvalidValue);
    call.userData = (void *)&second;
    OK(hipGraphHostNodeSetParams(inner, &call));
    OK(hipGraphExecChildGraphNodeSetParams(exec, nodes[2], child));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK(ran == 3 && second == 1);
    hipGraph_t held;
    OK(hipGraphChildGraphNodeGetGraph(nodes[2], &held));
    count = 1;
    OK(hipGraphGetNodes(held, &in_graph, &count));
    OK(hipGraphExecHostNodeSetParams(exec, in_graph, &call));
    OK(hipGraphDestroy(wrong));
    OK(hipGraphDestroy(other));
    OK(hipGraphDestroy(graph));

    /* The nodes of the graph are gone; those that take their places are strangers to the executable one. */
    OK(hipGraphCreate(&other, 0));
    for (int i = 0; i < 3000; i++) {
        OK(hipGraphAddHostNode(&host, other, NULL, 0, &call));
        if (hipGraphExecHostNodeSetParams(exec, host, &call) != hipErrorInvalidValue) {
            CHECK(!"a stranger");
            break;
        }
        OK(hipGraphDestroyNode(host));
    }
    OK(hipGraphDestroy(other));
    OK(hipGraphDestroy(child));
    OK(hipGraphExecDestroy(exec));
    OK(hipFree(memory));
}

/* Launches of one graph run one after another, whatever their streams; its objects live until it has run. */
static void wait_for(void *user)
{
    while (atomic_load((_Atomic int *)user) == 0)
        usleep(100);
}

static void destroyed(void *user)
{
    atomic_fetch_add((_Atomic int *)user, 100);
}

static void launches(void)
{
    hipStream_t a, b;
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t wait, count;
    hipUserObject_t object;
    _Atomic int gate = 0, ran = 0;

    OK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    OK(hipGraphCreate(&graph, 0));
    const hipMemsetParams nothing = {0};
    CHECK_HIP(hipGraphAddMemsetNode(&wait, graph, NULL, 0, &nothing), hipErrorInvalidValue);
    uint32_t *flag;
    OK(hipMalloc((void **)&flag, 64));
    OK(hipMemset(flag, 0, 64));
    hipStreamBatchMemOpParams until = {.waitValue = {.operation = hipStreamMemOpWaitValue32,
                                                     .address = flag,
                                                     .value = 1,
                                                     .flags = hipStreamWaitValueEq}};
    const hipBatchMemOpNodeParams one = {.count = 1, .paramArray = &until};
    OK(hipGraphAddBatchMemOpNode(&wait, graph, NULL, 0, &one));
    const hipHostNodeParams call = {add_one, (void *)&ran};
    OK(hipGraphAddHostNode(&count, graph, &wait, 1, &call));
    OK(hipUserObjectCreate(&object, (void *)&ran, destroyed, 1, hipUserObjectNoDestructorSync));
    OK(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphDestroy(graph));
    OK(hipGraphLaunch(exec, a));
    OK(hipGraphLaunch(exec, b));
    OK(hipGraphExecDestroy(exec));
    CHECK_EQ(ran, 0);
    CHECK_HIP(hipStreamQuery(b), hipErrorNotReady);
    atomic_store((_Atomic uint32_t *)flag, 1);
    OK(hipStreamSynchronize(b));
    CHECK_EQ(ran, 102);
    CHECK_HIP(hipStreamQuery(a), hipSuccess); /* b came after a */

    /* A launch in a second stream waits for the first. */
    ran = 0;
    OK(hipGraphCreate(&graph, 0));
    const hipHostNodeParams hold = {wait_for, (void *)&gate};
    OK(hipGraphAddHostNode(&wait, graph, NULL, 0, &hold));
    OK(hipGraphAddHostNode(&count, graph, &wait, 1, &call));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphNodeGetType(wait, &(hipGraphNodeType){0}));
    atomic_store(&gate, 1);
    for (int i = 0; i < 20; i++)
        OK(hipGraphLaunch(exec, i & 1 ? a : b));
    OK(hipStreamSynchronize(a)); /* the last one */
    CHECK_EQ(ran, 20);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(a));
    OK(hipStreamDestroy(b));
    OK(hipFree(flag));
}

/* References of one object are one number, however they came. */
static void objects(void)
{
    hipGraph_t graph;
    hipUserObject_t object, other;
    _Atomic int ran = 0;

    OK(hipGraphCreate(&graph, 0));
    OK(hipUserObjectCreate(&object, (void *)&ran, destroyed, 3, hipUserObjectNoDestructorSync));
    OK(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
    OK(hipGraphRetainUserObject(graph, object, 2, hipGraphUserObjectMove));
    OK(hipGraphReleaseUserObject(graph, object, 3));
    CHECK_EQ(ran, 100);
    OK(hipUserObjectCreate(&other, (void *)&ran, destroyed, 1, hipUserObjectNoDestructorSync));
    OK(hipGraphRetainUserObject(graph, other, 1, 0));
    OK(hipUserObjectRelease(other, 2)); /* the graph's as well */
    CHECK_EQ(ran, 200);
    OK(hipGraphDestroy(graph));
    CHECK_EQ(ran, 200);
}

/* An update takes over the memory that the second graph allocates. */
static void other_memory(void)
{
    hipMemAllocNodeParams alloc = {
        .poolProps = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}},
        .bytesize = 4096};
    hipGraph_t graph[2];
    hipGraphExec_t exec;
    hipGraphNode_t node, where;
    hipGraphExecUpdateResult result;
    unsigned char *memory[2];
    uint64_t used = 0;

    for (int i = 0; i < 2; i++) {
        OK(hipGraphCreate(&graph[i], 0));
        OK(hipGraphAddMemAllocNode(&node, graph[i], NULL, 0, &alloc));
        memory[i] = alloc.dptr;
        const hipMemsetParams fill = {
            .dst = alloc.dptr, .elementSize = 1, .height = 1, .value = 5 + (unsigned)i, .width = 4096};
        OK(hipGraphAddMemsetNode(&where, graph[i], &node, 1, &fill));
    }
    OK(hipGraphInstantiate(&exec, graph[0], NULL, NULL, 0));
    OK(hipGraphExecUpdate(exec, graph[1], &where, &result));
    OK(hipGraphDestroy(graph[0]));
    OK(hipGraphDestroy(graph[1]));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(memory[1][4095], 6);
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &used));
    CHECK_EQ(used, 4096);
    OK(hipFree(memory[1]));
    OK(hipGraphExecDestroy(exec));
}

/* Threads that instantiate one graph side by side get the same each. */
static void *instantiate(void *user)
{
    for (int i = 0; i < ROUNDS; i++) {
        hipGraphExec_t exec;
        OK(hipGraphInstantiate(&exec, user, NULL, NULL, 0));
        OK(hipGraphLaunch(exec, hipStreamPerThread));
        OK(hipGraphExecDestroy(exec));
    }
    OK(hipStreamSynchronize(hipStreamPerThread));
    return NULL;
}

static void threads(void)
{
    hipGraph_t graph;
    hipGraphNode_t node[20];
    pthread_t thread[THREADS];
    _Atomic int ran = 0;

    OK(hipGraphCreate(&graph, 0));
    const hipHostNodeParams call = {add_one, (void *)&ran};
    for (int i = 0; i < 20; i++)
        OK(hipGraphAddHostNode(&node[i], graph, i ? &node[i / 2] : NULL, i != 0, &call));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, instantiate, graph);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQ(ran, 20 * THREADS * ROUNDS);
    OK(hipGraphDestroy(graph));
}

/* What a child graph allocates must be free again like the rest. */
static void child_memory(void)
{
    hipMemAllocNodeParams alloc = {
        .poolProps = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}},
        .bytesize = 4096};
    hipGraph_t graph, child;
    hipGraphExec_t plain, automatic;
    hipGraphNode_t node;
    uint64_t used = 1;

    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphCreate(&child, 0));
    OK(hipGraphAddMemAllocNode(&node, child, NULL, 0, &alloc));
    OK(hipGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    OK(hipGraphInstantiate(&plain, graph, NULL, NULL, 0));
    OK(hipGraphInstantiateWithFlags(&automatic, graph, hipGraphInstantiateFlagAutoFreeOnLaunch));
    OK(hipGraphLaunch(plain, NULL));
    CHECK_HIP(hipGraphLaunch(plain, NULL), hipErrorInvalidValue);
    OK(hipGraphLaunch(automatic, NULL));
    OK(hipGraphLaunch(automatic, NULL));
    OK(hipFree(alloc.dptr));
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &used));
    CHECK_EQ(used, 0);
    OK(hipGraphExecDestroy(plain));
    OK(hipGraphExecDestroy(automatic));
    OK(hipGraphDestroy(child));
    OK(hipGraphDestroy(graph));
}

/* Nothing stays behind. */
static void flat(void)
{
    size_t before = 0;
    _Atomic int ran = 0;

    for (int i = 0; i < 1000; i++) {
        hipGraph_t graph, clone;
        hipGraphExec_t exec;
        hipGraphNode_t a, b;
        hipMemAllocNodeParams alloc = {
            .poolProps = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}},
            .bytesize = 4096};
        const hipHostNodeParams call = {add_one, (void *)&ran};
        if (i == 200)
            before = mallinfo2().uordblks;
        OK(hipGraphCreate(&graph, 0));
        OK(hipGraphAddMemAllocNode(&a, graph, NULL, 0, &alloc));
        OK(hipGraphAddHostNode(&b, graph, &a, 1, &call));
        OK(hipGraphAddMemFreeNode(&a, graph, &b, 1, alloc.dptr));
        OK(hipGraphClone(&clone, graph));
        OK(hipGraphInstantiate(&exec, clone, NULL, NULL, 0));
        OK(hipGraphDestroy(clone));
        if (i % 50 == 0)
            OK(hipGraphLaunch(exec, NULL));
        OK(hipGraphExecDestroy(exec));
        OK(hipGraphDestroy(graph));
    }
    OK(hipDeviceSynchronize());
    CHECK(mallinfo2().uordblks < before + 100000);
    CHECK_EQ(ran, 20);
}

static size_t dot(hipGraph_t graph, unsigned flags, char *text, size_t room)
{
    char path[] = "/tmp/ehp-dot-XXXXXX";
    int fd = mkstemp(path);

    OK(hipGraphDebugDotPrint(graph, path, flags));
    ssize_t bytes = read(fd, text, room - 1);
    text[bytes > 0 ? bytes : 0] = 0;
    close(fd);
    unlink(path);
    return (size_t)bytes;
}

static void text(void)
{
    static char said[8192];
    hipGraph_t graph;
    hipGraphNode_t set, copy;
    unsigned char *memory;

    OK(hipMalloc((void **)&memory, 2 * N));
    OK(hipGraphCreate(&graph, 0));
    const hipMemsetParams fill = {.dst = memory, .elementSize = 1, .height = 1, .value = 9, .width = N};
    OK(hipGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
    OK(hipGraphAddMemcpyNode1D(&copy, graph, &set, 1, memory + N, memory, N, hipMemcpyDeviceToDevice));
    dot(graph, 0, said, sizeof said);
    CHECK(strstr(said, "MEMSET\n(9,64)") && strstr(said, "MEMCPY\n(DtoD,64)") && strstr(said, "trapezium"));
    dot(graph, hipGraphDebugDotFlagsMemsetNodeParams, said, sizeof said);
    CHECK(strstr(said, "elementSize") && !strstr(said, "| kind"));
    dot(graph, hipGraphDebugDotFlagsVerbose, said, sizeof said);
    CHECK(strstr(said, "elementSize") && strstr(said, "| kind") && strstr(said, "shape=\"record\""));
    CHECK_HIP(hipGraphDebugDotPrint(graph, "/tmp/ehp-none", 2), hipErrorInvalidValue);
    CHECK_HIP(hipGraphDebugDotPrint(graph, "/tmp/ehp-none", 2048), hipErrorInvalidValue);
    CHECK_HIP(hipGraphDebugDotPrint(graph, "/nowhere/at/all", 0), hipErrorOperatingSystem);
    OK(hipGraphDestroy(graph));
    OK(hipFree(memory));
}

int main(void)
{
    edges();
    updates();
    launches();
    threads();
    objects();
    other_memory();
    child_memory();
    flat();
    text();
    return check_status();
}
