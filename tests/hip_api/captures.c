/* SPDX-License-Identifier: MIT */
/* What a capture takes, forbids and is spoiled by, from one thread and several; launches with events in one.
 */
#include <pthread.h>
#include <stdlib.h>

#include "hip_check.h"

enum { N = 64, THREADS = 4, CALLS = 200 };

static void nothing(void *user)
{
    (void)user;
}

/* An event of a capture that has ended is as it was before. */
static void ended(void)
{
    hipStream_t a, b;
    hipEvent_t event;
    hipGraph_t graph;
    hipStreamCaptureStatus status;

    OK(hipStreamCreate(&a));
    OK(hipStreamCreate(&b));
    OK(hipEventCreate(&event));
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    OK(hipEventRecord(event, a));
    OK(hipStreamEndCapture(a, &graph));
    OK(hipGraphDestroy(graph));
    OK(hipEventQuery(event));
    OK(hipStreamWaitEvent(b, event, 0));
    OK(hipStreamIsCapturing(b, &status));
    CHECK_EQ(status, hipStreamCaptureStatusNone);
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    CHECK_HIP(hipStreamWaitEvent(a, event, 0), hipErrorStreamCaptureIsolation);
    CHECK_HIP(hipStreamEndCapture(a, &graph), hipErrorStreamCaptureInvalidated);

    /* The null stream waits for nothing while a stream that it waits for is being captured. */
    OK(hipEventRecord(event, b));
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed));
    CHECK_HIP(hipStreamWaitEvent(NULL, event, 0), hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamEndCapture(a, &graph), hipErrorStreamCaptureInvalidated);

    /* Nor can it be asked after then; other streams can. */
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    OK(hipStreamSynchronize(b));
    OK(hipStreamQuery(b));
    CHECK_HIP(hipStreamQuery(NULL), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipStreamEndCapture(a, &graph), hipErrorStreamCaptureInvalidated);
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeRelaxed));
    CHECK_HIP(hipStreamSynchronize(NULL), hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamEndCapture(a, &graph), hipErrorStreamCaptureInvalidated);
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(a));
    OK(hipStreamDestroy(b));
}

struct elsewhere {
    hipStreamCaptureMode mode;
    hipError_t malloced, copied, freed, ended;
    hipStream_t stream;
    void *memory;
};

static void *elsewhere(void *user)
{
    struct elsewhere *e = user;
    void *memory;
    int value = 0;
    hipGraph_t graph;

    OK(hipThreadExchangeStreamCaptureMode(&e->mode));
    e->malloced = hipMalloc(&memory, 16);
    e->freed = e->malloced == hipSuccess ? hipFree(memory) : hipFree(e->memory);
    e->copied = hipMemcpy(e->memory, &value, sizeof value, hipMemcpyHostToDevice);
    e->ended = hipStreamEndCapture(e->stream, &graph);
    if (e->ended == hipSuccess)
        OK(hipGraphDestroy(graph));
    return NULL;
}

static struct elsewhere ask(hipStream_t stream, void *memory, hipStreamCaptureMode capture,
                            hipStreamCaptureMode other)
{
    struct elsewhere e = {.mode = other, .stream = stream, .memory = memory};
    hipGraph_t graph;
    pthread_t thread;

    OK(hipStreamBeginCapture(stream, capture));
    pthread_create(&thread, NULL, elsewhere, &e);
    pthread_join(thread, NULL);
    if (e.ended != hipSuccess) {
        OK(hipStreamEndCapture(stream, &graph));
        OK(hipGraphDestroy(graph));
    }
    return e;
}

/* A capture in global mode binds all threads that have not asked otherwise, one in thread-local mode its own.
 */
static void modes(void)
{
    const hipStreamCaptureMode global = hipStreamCaptureModeGlobal, local = hipStreamCaptureModeThreadLocal,
                               relaxed = hipStreamCaptureModeRelaxed;
    hipStreamCaptureMode mode = relaxed;
    hipStream_t stream;
    hipGraph_t graph;
    void *memory, *more;
    int value = 0;

    OK(hipMalloc(&memory, 64));
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    struct elsewhere e = ask(stream, memory, global, global);
    CHECK_HIP(e.malloced, hipErrorStreamCaptureUnsupported);
    CHECK_HIP(e.freed, hipErrorStreamCaptureUnsupported);
    CHECK_HIP(e.copied, hipErrorStreamCaptureImplicit);
    CHECK_HIP(e.ended, hipErrorStreamCaptureWrongThread);
    e = ask(stream, memory, global, local);
    CHECK(e.malloced == hipSuccess && e.freed == hipSuccess && e.copied == hipSuccess);
    e = ask(stream, memory, local, global);
    CHECK(e.malloced == hipSuccess && e.freed == hipSuccess && e.copied == hipSuccess);
    CHECK_HIP(e.ended, hipErrorStreamCaptureWrongThread);
    e = ask(stream, memory, relaxed, global);
    CHECK(e.malloced == hipSuccess && e.copied == hipSuccess && e.ended == hipSuccess);

    OK(hipStreamBeginCapture(stream, local));
    CHECK_HIP(hipMalloc(&more, 16), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipFree(memory), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipHostMalloc(&more, 16, 0), hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipMemcpy(memory, &value, sizeof value, hipMemcpyHostToDevice), hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipMemset(memory, 0, 4), hipErrorStreamCaptureImplicit);
    OK(hipThreadExchangeStreamCaptureMode(&mode));
    CHECK_EQ(mode, global);
    OK(hipMalloc(&more, 16));
    OK(hipMemset(more, 0, 16));
    OK(hipFree(more));
    OK(hipThreadExchangeStreamCaptureMode(&mode));
    CHECK_EQ(mode, relaxed);
    mode = (hipStreamCaptureMode)3;
    CHECK_HIP(hipThreadExchangeStreamCaptureMode(&mode), hipErrorInvalidValue);
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphDestroy(graph));
    OK(hipFree(memory));
    OK(hipStreamDestroy(stream));
}

/* A copy in the stream is a node, though it would wait elsewhere; the graph and its nodes stay until the end.
 */
static void inside(void)
{
    hipStream_t stream;
    hipStreamCaptureStatus status;
    hipGraph_t graph, own;
    hipGraphExec_t exec;
    hipGraphNode_t node;
    const hipGraphNode_t *deps;
    unsigned long long id;
    size_t count;
    int *memory, host[N], back[N];

    for (int i = 0; i < N; i++)
        host[i] = i * 3;
    OK(hipMalloc((void **)&memory, sizeof host));
    OK(hipStreamCreate(&stream));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(hipMemcpyWithStream(memory, host, sizeof host, hipMemcpyHostToDevice, stream));
    OK(hipStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &deps, &count));
    CHECK_EQ(count, 1);
    CHECK_HIP(hipGraphDestroyNode(deps[0]), hipErrorInvalidValue);
    CHECK_HIP(hipGraphDestroy(graph), hipErrorInvalidValue);
    CHECK_HIP(hipStreamUpdateCaptureDependencies(stream, (hipGraphNode_t *)(uintptr_t)deps, 2, 0),
              hipErrorInvalidValue);
    OK(hipMemcpyAsync(back, memory, sizeof host, hipMemcpyDeviceToHost, stream));
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(memcmp(host, back, sizeof host) == 0);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));

    OK(hipGraphCreate(&own, 0));
    OK(hipGraphAddEmptyNode(&node, own, NULL, 0));
    OK(hipStreamBeginCaptureToGraph(stream, own, &node, NULL, 1, hipStreamCaptureModeGlobal));
    CHECK_HIP(hipGraphDestroy(own), hipErrorInvalidValue);
    OK(hipStreamDestroy(stream)); /* ends it; the graph is the program's */
    OK(hipGraphDestroy(own));
    OK(hipFree(memory));
}

/* Streams of one capture, a thread each. */
static void *call(void *user)
{
    for (int i = 0; i < CALLS; i++)
        OK(hipLaunchHostFunc(user, nothing, NULL));
    return NULL;
}

static void together(void)
{
    hipStream_t stream[THREADS + 1];
    hipEvent_t event;
    pthread_t thread[THREADS];
    hipGraph_t graph;
    size_t count;

    OK(hipEventCreate(&event));
    for (int i = 0; i <= THREADS; i++)
        OK(hipStreamCreate(&stream[i]));
    OK(hipStreamBeginCapture(stream[THREADS], hipStreamCaptureModeRelaxed));
    OK(hipEventRecord(event, stream[THREADS]));
    for (int i = 0; i < THREADS; i++)
        OK(hipStreamWaitEvent(stream[i], event, 0));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, call, stream[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        OK(hipEventRecord(event, stream[i]));
        OK(hipStreamWaitEvent(stream[THREADS], event, 0));
    }
    OK(hipStreamEndCapture(stream[THREADS], &graph));
    OK(hipGraphGetNodes(graph, NULL, &count));
    CHECK_EQ(count, THREADS * CALLS);
    OK(hipGraphGetEdges(graph, NULL, NULL, &count));
    CHECK_EQ(count, THREADS * (CALLS - 1));
    OK(hipGraphDestroy(graph));
    for (int i = 0; i <= THREADS; i++)
        OK(hipStreamDestroy(stream[i]));
    OK(hipEventDestroy(event));
}

hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX,
                                    uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                    hipStream_t hStream, void **kernelParams, void **extra,
                                    hipEvent_t startEvent, hipEvent_t stopEvent, uint32_t flags);

/* Events around a captured kernel are recorded whenever it runs. */
static void launches(const char *path)
{
    hipModule_t module;
    hipFunction_t store;
    hipStream_t stream;
    hipEvent_t start, stop;
    hipGraph_t graph;
    hipGraphExec_t exec;
    int *out, value = 42;
    float ms = -1;

    OK(hipModuleLoad(&module, path));
    OK(hipModuleGetFunction(&store, module, "store"));
    OK(hipMalloc((void **)&out, N * sizeof *out));
    OK(hipMemset(out, 0, N * sizeof *out));
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&start));
    OK(hipEventCreate(&stop));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(hipExtModuleLaunchKernel(store, N, 1, 1, N, 1, 1, 0, stream, (void *[]){&out, &value}, NULL, start,
                                stop, 0));
    OK(hipStreamEndCapture(stream, &graph));
    CHECK_HIP(hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle); /* not run yet */
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch(exec, stream));
    OK(hipEventSynchronize(stop));
    OK(hipEventElapsedTime(&ms, start, stop));
    CHECK(ms >= 0 && out[N - 1] == 42);
    OK(hipEventDestroy(start));
    OK(hipEventDestroy(stop));
    OK(hipMemset(out, 0, N * sizeof *out));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(out[0], 42);

    /* Nor does the null stream launch between events while others are being captured. */
    OK(hipEventCreate(&stop));
    hipGraph_t none;
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    CHECK_HIP(hipExtModuleLaunchKernel(store, N, 1, 1, N, 1, 1, 0, NULL, (void *[]){&out, &value}, NULL, NULL,
                                       stop, 0),
              hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamEndCapture(stream, &none), hipErrorStreamCaptureInvalidated);
    OK(hipEventDestroy(stop));
    OK(hipModuleUnload(module));
    CHECK_HIP(hipGraphLaunch(exec, stream), hipErrorInvalidResourceHandle);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipStreamDestroy(stream));
    OK(hipFree(out));
}

/* What is being captured ends with the device: nothing is forbidden any more, streams go on. */
static void reset(void)
{
    hipStream_t origin, joined;
    hipEvent_t fork;
    hipGraph_t graph;
    int *p;

    OK(hipStreamCreate(&origin));
    OK(hipStreamCreate(&joined));
    OK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
    OK(hipMalloc((void **)&p, 4096));
    OK(hipStreamBeginCapture(origin, hipStreamCaptureModeGlobal));
    OK(hipMemsetAsync(p, 1, 4096, origin));
    OK(hipEventRecord(fork, origin));
    OK(hipStreamWaitEvent(joined, fork, 0));
    OK(hipMemsetAsync(p, 2, 4096, joined));
    OK(hipDeviceReset());
    CHECK_HIP(hipMalloc((void **)&p, 4096), hipSuccess);
    CHECK_HIP(hipStreamEndCapture(origin, &graph), hipErrorIllegalState);
    CHECK_HIP(hipStreamEndCapture(joined, &graph), hipErrorIllegalState);
    OK(hipMemsetAsync(p, 3, 4096, joined));
    OK(hipStreamSynchronize(joined));
    CHECK_EQ(p[1023], 0x03030303);
    OK(hipEventDestroy(fork));
    OK(hipStreamDestroy(origin));
    OK(hipStreamDestroy(joined));
    OK(hipFree(p));
}

int main(int argc, char **argv)
{
    reset();
    ended();
    modes();
    inside();
    together();
    if (argc > 1)
        launches(argv[1]);
    return check_status();
}
