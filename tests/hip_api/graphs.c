/* SPDX-License-Identifier: MIT */
/* Graphs without kernels: building, asking, running, capturing, updating, refusing. */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "hip_check.h"

enum { N = 256 };

static void add_one(void *user)
{
    atomic_fetch_add((_Atomic int *)user, 1);
}

static void double_it(void *user)
{
    _Atomic int *value = user;
    *value = *value * 2;
}

/* set -> copy -> host, and the copies of the descriptions */
static void build(void)
{
    hipGraph_t graph, clone;
    hipGraphNode_t set, copy, host, found, list[8];
    hipGraphExec_t exec;
    unsigned char *a, *b;
    size_t count = 8;
    _Atomic int ran = 0;
    hipGraphNodeType type;

    OK(hipMalloc((void **)&a, N));
    OK(hipMalloc((void **)&b, N));
    OK(hipGraphCreate(&graph, 0));
    CHECK_HIP(hipGraphCreate(&graph, 1), hipErrorInvalidValue);
    const hipMemsetParams fill = {
        .dst = a, .elementSize = 1, .height = 1, .pitch = N, .value = 7, .width = N};
    OK(hipGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
    OK(hipGraphAddMemcpyNode1D(&copy, graph, &set, 1, b, a, N, hipMemcpyDeviceToDevice));
    const hipHostNodeParams call = {add_one, (void *)&ran};
    OK(hipGraphAddHostNode(&host, graph, &copy, 1, &call));
    CHECK_HIP(hipGraphAddHostNode(&found, graph, NULL, 1, &call), hipErrorInvalidValue);
    CHECK_HIP(hipGraphAddHostNode(&found, graph, NULL, 0, NULL), hipErrorInvalidValue);

    OK(hipGraphGetNodes(graph, list, &count));
    CHECK_EQ(count, 3);
    CHECK(list[0] == set && list[2] == host);
    count = 8;
    OK(hipGraphGetRootNodes(graph, list, &count));
    CHECK_EQ(count, 1);
    OK(hipGraphGetEdges(graph, NULL, NULL, &count));
    CHECK_EQ(count, 2);
    OK(hipGraphNodeGetDependencies(host, NULL, &count));
    CHECK_EQ(count, 1);
    OK(hipGraphNodeGetDependentNodes(set, list, &count));
    CHECK(list[0] == copy);
    OK(hipGraphNodeGetType(set, &type));
    CHECK_EQ(type, hipGraphNodeTypeMemset);
    hipMemsetParams got;
    OK(hipGraphMemsetNodeGetParams(set, &got));
    CHECK(got.dst == a && got.value == 7);

    OK(hipGraphClone(&clone, graph));
    OK(hipGraphNodeFindInClone(&found, copy, clone));
    CHECK(found != copy);
    OK(hipGraphDestroy(clone));

    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(ran, 2);
    CHECK_EQ(b[N - 1], 7);

    hipMemsetParams other = fill;
    other.value = 9;
    OK(hipGraphExecMemsetNodeSetParams(exec, set, &other));
    OK(hipGraphNodeSetEnabled(exec, copy, 0));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(a[0], 9);
    CHECK_EQ(b[0], 7);
    OK(hipGraphNodeSetEnabled(exec, copy, 1));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(b[0], 9);

    /* An update takes everything from a graph of the same shape, and refuses another shape. */
    hipGraphExecUpdateResult result;
    hipGraphNode_t where;
    OK(hipGraphExecUpdate(exec, graph, &where, &result));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(b[0], 7);
    OK(hipGraphAddEmptyNode(&found, graph, &host, 1));
    CHECK_HIP(hipGraphExecUpdate(exec, graph, &where, &result), hipErrorGraphExecUpdateFailure);
    CHECK_EQ(result, hipGraphExecUpdateErrorTopologyChanged);

    char path[] = "/tmp/ehp-dot-XXXXXX", text[4096] = "";
    int fd = mkstemp(path);
    OK(hipGraphDebugDotPrint(graph, path, hipGraphDebugDotFlagsVerbose));
    CHECK(read(fd, text, sizeof text - 1) > 0 && strstr(text, "digraph") && strstr(text, "MEMSET"));
    close(fd);
    unlink(path);

    OK(hipGraphExecDestroy(exec));
    CHECK_HIP(hipGraphExecDestroy(exec), hipErrorInvalidValue);
    OK(hipGraphDestroyNode(found));
    OK(hipGraphRemoveDependencies(graph, &set, &copy, 1));
    CHECK_HIP(hipGraphRemoveDependencies(graph, &set, &copy, 1), hipErrorInvalidValue);
    OK(hipGraphAddDependencies(graph, &host, &set, 1));
    OK(hipGraphAddDependencies(graph, &set, &copy, 1)); /* set -> copy -> host -> set */
    CHECK_HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0), hipErrorInvalidValue);
    OK(hipGraphDestroy(graph));
    CHECK_HIP(hipGraphDestroy(graph), hipErrorInvalidValue);
    OK(hipFree(a));
    OK(hipFree(b));
}

/* Two streams, joined by events; the value says in which order the host functions ran. */
static void capture(void)
{
    hipStream_t a, b;
    hipEvent_t fork, join;
    hipGraph_t graph, none;
    hipGraphExec_t exec;
    hipStreamCaptureStatus status;
    unsigned long long id;
    _Atomic int value = 0;
    void *memory;
    size_t count;

    OK(hipStreamCreate(&a));
    OK(hipStreamCreate(&b));
    OK(hipEventCreate(&fork));
    OK(hipEventCreate(&join));
    CHECK_HIP(hipStreamBeginCapture(NULL, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipStreamEndCapture(a, &graph), hipErrorIllegalState);
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    CHECK_HIP(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal), hipErrorIllegalState);
    CHECK_HIP(hipMalloc(&memory, 4), hipErrorStreamCaptureUnsupported);
    OK(hipStreamGetCaptureInfo(a, &status, &id));
    CHECK_EQ(status, hipStreamCaptureStatusActive);
    OK(hipLaunchHostFunc(a, add_one, (void *)&value));
    OK(hipEventRecord(fork, a));
    OK(hipStreamWaitEvent(b, fork, 0));
    OK(hipLaunchHostFunc(b, double_it, (void *)&value));
    OK(hipEventRecord(join, b));
    OK(hipStreamWaitEvent(a, join, 0));
    OK(hipLaunchHostFunc(a, add_one, (void *)&value));
    CHECK_HIP(hipStreamEndCapture(b, &none), hipErrorStreamCaptureUnmatched);
    OK(hipStreamEndCapture(a, &graph));
    CHECK_EQ(value, 0); /* nothing has run */
    OK(hipStreamIsCapturing(b, &status));
    CHECK_EQ(status, hipStreamCaptureStatusNone);
    OK(hipGraphGetNodes(graph, NULL, &count));
    CHECK_EQ(count, 3);
    OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(hipGraphLaunch(exec, a));
    OK(hipStreamSynchronize(a));
    CHECK_EQ(value, 21); /* x -> (x + 1) * 2 + 1, three times from 0 */
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));

    /* A stream that joined and was not waited for, and a call that a capture forbids. */
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeThreadLocal));
    OK(hipEventRecord(fork, a));
    OK(hipStreamWaitEvent(b, fork, 0));
    OK(hipLaunchHostFunc(b, add_one, (void *)&value));
    CHECK_HIP(hipStreamEndCapture(a, &graph), hipErrorStreamCaptureUnjoined);
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeThreadLocal));
    CHECK_HIP(hipStreamSynchronize(a), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipLaunchHostFunc(a, add_one, (void *)&value), hipErrorStreamCaptureInvalidated);
    CHECK_HIP(hipStreamEndCapture(a, &graph), hipErrorStreamCaptureInvalidated);
    CHECK(graph == NULL);
    OK(hipDeviceSynchronize());
    CHECK_EQ(value, 21);
    OK(hipEventDestroy(fork));
    OK(hipEventDestroy(join));
    OK(hipStreamDestroy(a));
    OK(hipStreamDestroy(b));
}

/* Memory that belongs to a graph, a child graph, events in a graph, user objects. */
static void inside(void)
{
    hipMemAllocNodeParams alloc = {
        .poolProps = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 0}},
        .bytesize = 1000};
    hipGraph_t graph, child;
    hipGraphNode_t node, set, sub, record;
    hipGraphExec_t exec;
    hipUserObject_t object;
    hipEvent_t event;
    _Atomic int destroyed = 0, ran = 0;

    OK(hipGraphCreate(&child, 0));
    const hipHostNodeParams call = {add_one, (void *)&ran};
    OK(hipGraphAddHostNode(&node, child, NULL, 0, &call));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    CHECK(alloc.dptr != NULL);
    const hipMemsetParams fill = {
        .dst = alloc.dptr, .elementSize = 4, .height = 1, .pitch = 1000, .value = 0x01010101, .width = 250};
    OK(hipGraphAddMemsetNode(&set, graph, &node, 1, &fill));
    OK(hipGraphAddChildGraphNode(&sub, graph, &set, 1, child));
    OK(hipGraphDestroy(child)); /* the node has a copy */
    OK(hipEventCreate(&event));
    OK(hipGraphAddEventRecordNode(&record, graph, &sub, 1, event));
    OK(hipGraphAddMemFreeNode(&node, graph, &record, 1, alloc.dptr));
    OK(hipUserObjectCreate(&object, (void *)&destroyed, add_one, 1, hipUserObjectNoDestructorSync));
    OK(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphDestroy(graph));
    CHECK_EQ(destroyed, 0); /* the executable graph holds it too */
    OK(hipGraphLaunch(exec, NULL));
    OK(hipEventSynchronize(event));
    CHECK_EQ(ran, 1);
    CHECK_EQ(*(unsigned char *)alloc.dptr, 1);
    OK(hipStreamSynchronize(NULL));
    OK(hipGraphExecDestroy(exec));
    CHECK_EQ(destroyed, 1);
    OK(hipEventDestroy(event));
}

/* Memory of a graph: in use from launch to free, whoever frees it. */
static void memory(void)
{
    hipMemAllocNodeParams alloc = {
        .poolProps = {.allocType = hipMemAllocationTypePinned, .location = {hipMemLocationTypeDevice, 99}},
        .bytesize = 5000};
    hipGraph_t graph;
    hipGraphExec_t exec, automatic;
    hipGraphNode_t node, again;
    uint64_t used = 1, high = 0, reserved = 1;
    int plain;

    OK(hipGraphCreate(&graph, 0));
    CHECK_HIP(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc), hipErrorInvalidValue);
    alloc.poolProps.location.id = 0;
    OK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    CHECK_HIP(hipFree(alloc.dptr), hipErrorInvalidValue); /* nobody has launched it */
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphInstantiateWithFlags(&automatic, graph, hipGraphInstantiateFlagAutoFreeOnLaunch));
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &used));
    CHECK_EQ(used, 0);
    OK(hipGraphLaunch(exec, NULL));
    CHECK_HIP(hipGraphLaunch(exec, NULL), hipErrorInvalidValue); /* still in use */
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &used));
    CHECK_EQ(used, 8192);
    OK(hipFree(alloc.dptr));
    CHECK_HIP(hipFree(alloc.dptr), hipErrorInvalidValue);
    OK(hipGraphLaunch(automatic, NULL));
    OK(hipGraphLaunch(automatic, NULL));
    OK(hipFreeAsync(alloc.dptr, NULL));
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &used));
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &high));
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrReservedMemCurrent, &reserved));
    CHECK_EQ(used, 0);
    CHECK(high >= 8192);
    CHECK_EQ(reserved, 8192);
    OK(hipDeviceGraphMemTrim(0));
    OK(hipDeviceGetGraphMemAttribute(0, hipGraphMemAttrReservedMemCurrent, &reserved));
    CHECK_EQ(reserved, 0);

    CHECK_HIP(hipGraphAddMemFreeNode(&again, graph, &node, 1, &plain), hipErrorInvalidValue);
    OK(hipGraphAddMemFreeNode(&again, graph, &node, 1, alloc.dptr));
    CHECK_HIP(hipGraphAddMemFreeNode(&again, graph, &node, 1, alloc.dptr), hipErrorInvalidValue);

    /* In use when its graphs go: it stays until it is freed. */
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphExecDestroy(automatic));
    OK(hipGraphDestroy(graph));
    OK(hipMemset(alloc.dptr, 3, 5000));
    OK(hipFree(alloc.dptr));
    CHECK_HIP(hipMemset(alloc.dptr, 3, 5000), hipErrorInvalidValue);
}

/* A copy keeps its direction, in an update and in a change of the node. */
static void directions(void)
{
    static int host[N];
    hipGraph_t up, down;
    hipGraphExec_t exec;
    hipGraphNode_t node, other, where;
    hipGraphExecUpdateResult result;
    int *device;

    OK(hipMalloc((void **)&device, sizeof host));
    OK(hipGraphCreate(&up, 0));
    OK(hipGraphCreate(&down, 0));
    OK(hipGraphAddMemcpyNode1D(&node, up, NULL, 0, device, host, sizeof host, hipMemcpyHostToDevice));
    OK(hipGraphAddMemcpyNode1D(&other, down, NULL, 0, host, device, sizeof host, hipMemcpyDeviceToHost));
    OK(hipGraphInstantiate(&exec, up, NULL, NULL, 0));
    CHECK_HIP(hipGraphExecUpdate(exec, down, &where, &result), hipErrorGraphExecUpdateFailure);
    CHECK_EQ(result, hipGraphExecUpdateErrorParametersChanged);
    CHECK(where == other);
    CHECK_HIP(hipGraphExecMemcpyNodeSetParams1D(exec, node, host, device, 4, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphExecMemcpyNodeSetParams1D(exec, node, device, host, 4, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    OK(hipGraphExecMemcpyNodeSetParams1D(exec, node, device + 1, host, 4, hipMemcpyHostToDevice));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(up));
    OK(hipGraphDestroy(down));
    OK(hipFree(device));
}

/* What spoils a capture, and what is only refused. */
static void spoiled(void)
{
    hipStream_t stream;
    hipEvent_t event;
    hipGraph_t graph;
    int *device, host = 0;

    OK(hipMalloc((void **)&device, sizeof *device));
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&event));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_HIP(hipMemcpy(device, &host, sizeof host, hipMemcpyHostToDevice), hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipMemset(device, 0, sizeof host), hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(hipEventRecord(event, stream));
    CHECK_HIP(hipEventQuery(event), hipErrorCapturedEvent);
    CHECK_HIP(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    OK(hipEventQuery(event)); /* never recorded outside */
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_HIP(hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphDestroy(graph));
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(stream));
    OK(hipFree(device));
}

/* A branch that waits for another one which was added later: they run side by side. */
static void branches(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t root, waiting[3], writing, set, join;
    hipStream_t stream;
    uint32_t *flags;
    _Atomic int ran = 0;

    OK(hipMalloc((void **)&flags, 64));
    OK(hipMemset(flags, 0, 64));
    OK(hipStreamCreate(&stream));
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddEmptyNode(&root, graph, NULL, 0));
    for (int i = 0; i < 3; i++) {
        hipStreamBatchMemOpParams wait = {.waitValue = {.operation = hipStreamMemOpWaitValue32,
                                                        .address = flags,
                                                        .value = 1,
                                                        .flags = hipStreamWaitValueEq}};
        const hipBatchMemOpNodeParams one = {.count = 1, .paramArray = &wait};
        OK(hipGraphAddBatchMemOpNode(&waiting[i], graph, &root, 1, &one));
    }
    const hipMemsetParams seven = {.dst = flags + 1, .elementSize = 4, .height = 1, .value = 7, .width = 2};
    OK(hipGraphAddMemsetNode(&set, graph, waiting, 2, &seven));
    hipStreamBatchMemOpParams write = {
        .writeValue = {.operation = hipStreamMemOpWriteValue32, .address = flags, .value = 1}};
    const hipBatchMemOpNodeParams one = {.count = 1, .paramArray = &write};
    OK(hipGraphAddBatchMemOpNode(&writing, graph, &root, 1, &one));
    const hipGraphNode_t all[] = {set, writing, waiting[2]};
    const hipHostNodeParams call = {add_one, (void *)&ran};
    OK(hipGraphAddHostNode(&join, graph, all, 3, &call));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (int i = 1; i <= 5; i++) {
        OK(hipMemsetAsync(flags, 0, 64, stream));
        OK(hipGraphLaunch(exec, stream));
        OK(hipStreamSynchronize(stream));
        CHECK_EQ(flags[0], 1);
        CHECK_EQ(flags[2], 7);
        CHECK_EQ(ran, i);
    }
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
    OK(hipFree(flags));
}

/* Many nodes with many edges: each finds what it depends on done, and this launch not yet past it. */
enum { NODES = 60, LAUNCHES = 20 };

struct ordered {
    struct ordered *deps[4];
    int dep_count;
    _Atomic int runs;
    _Atomic int *wrong;
};

static void run_ordered(void *user)
{
    struct ordered *me = user;
    int runs = atomic_fetch_add(&me->runs, 1) + 1;

    for (int i = 0; i < me->dep_count; i++)
        if (atomic_load(&me->deps[i]->runs) != runs)
            atomic_fetch_add(me->wrong, 1);
}

static void order(void)
{
    static struct ordered nodes[2 * NODES];
    hipGraph_t graph, child = NULL;
    hipGraphExec_t exec;
    hipGraphNode_t handle[NODES], sub;
    uint32_t random = 12345;
    _Atomic int wrong = 0;

    /* The same again with the first graph inside of the second. */
    for (int round = 0; round < 2; round++) {
        OK(hipGraphCreate(&graph, 0));
        for (int n = 0; n < NODES; n++) {
            struct ordered *me = &nodes[round * NODES + n];
            hipGraphNode_t deps[4];
            me->wrong = &wrong;
            me->dep_count = 0;
            for (int i = 0; i < 4 && n; i++) {
                random = random * 1664525 + 1013904223;
                int dep = n - 1 - (int)(random >> 16) % (n < 12 ? n : 12);
                bool again = random >> 30 == 3;
                for (int k = 0; k < me->dep_count; k++)
                    again |= deps[k] == handle[dep];
                if (again)
                    continue;
                deps[me->dep_count] = handle[dep];
                me->deps[me->dep_count++] = &nodes[round * NODES + dep];
            }
            const hipHostNodeParams call = {run_ordered, me};
            OK(hipGraphAddHostNode(&handle[n], graph, deps, (size_t)me->dep_count, &call));
        }
        if (child)
            OK(hipGraphAddChildGraphNode(&sub, graph, &handle[5], 1, child));
        OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
        if (round == 0)
            child = graph;
        for (int n = 0; n < 2 * NODES; n++)
            nodes[n].runs = 0;
        for (int i = 0; i < LAUNCHES; i++)
            OK(hipGraphLaunch(exec, NULL));
        OK(hipGraphExecDestroy(exec));
        OK(hipStreamSynchronize(NULL));
        CHECK_EQ(wrong, 0);
        for (int n = 0; n < (round + 1) * NODES; n++)
            CHECK_EQ(nodes[n].runs, LAUNCHES);
    }
    OK(hipGraphDestroy(child));
    OK(hipGraphDestroy(graph));
}

int main(void)
{
    build();
    capture();
    inside();
    memory();
    directions();
    spoiled();
    branches();
    order();
    return check_status();
}
