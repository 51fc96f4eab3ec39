/* SPDX-License-Identifier: MIT */
/* What nodes take as a description, in a graph and in an executable one, and what they refuse. */
#include <stdlib.h>

#include "hip_check.h"

enum { N = 64, BYTES = N * sizeof(int) };

/* A copy with pageable memory on one side names its direction as it is, or not at all. */
static void directions(void)
{
    static int host[N], other[N];
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t up, node;
    int *device, *second, *pinned;

    OK(hipMalloc((void **)&device, BYTES));
    OK(hipMalloc((void **)&second, BYTES));
    OK(hipHostMalloc((void **)&pinned, BYTES, 0));
    OK(hipGraphCreate(&graph, 0));
    const hipMemcpyKind wrong[] = {hipMemcpyHostToHost, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice};
    for (int i = 0; i < 3; i++)
        CHECK_HIP(hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, device, host, BYTES, wrong[i]),
                  hipErrorInvalidValue);
    CHECK_HIP(hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, host, device, BYTES, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, host, device, BYTES, (hipMemcpyKind)-1),
              hipErrorInvalidMemcpyDirection);
    OK(hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, host, pinned, BYTES, hipMemcpyHostToHost));
    OK(hipGraphAddMemcpyNode1D(&node, graph, NULL, 0, device, pinned, BYTES, hipMemcpyHostToDevice));
    OK(hipGraphAddMemcpyNode1D(&up, graph, NULL, 0, device, host, BYTES / 2, hipMemcpyHostToDevice));
    OK(hipGraphMemcpyNodeSetParams1D(up, device, host, BYTES, hipMemcpyHostToDevice));
    CHECK_HIP(hipGraphMemcpyNodeSetParams1D(up, device, device, BYTES, hipMemcpyDeviceToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphMemcpyNodeSetParams1D(up, device, host, BYTES + 1, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphMemcpyNodeSetParams1D(up, device, host, 0, hipMemcpyHostToDevice),
              hipErrorInvalidValue);

    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphExecMemcpyNodeSetParams1D(exec, up, second, other, BYTES / 2, hipMemcpyHostToDevice));
    OK(hipGraphExecMemcpyNodeSetParams1D(exec, up, second, pinned, BYTES, hipMemcpyDefault));
    CHECK_HIP(hipGraphExecMemcpyNodeSetParams1D(exec, up, device, second, BYTES, hipMemcpyDeviceToDevice),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphExecMemcpyNodeSetParams1D(exec, up, host, second, BYTES, hipMemcpyDeviceToHost),
              hipErrorInvalidValue);
    CHECK_HIP(hipGraphExecMemcpyNodeSetParams1D(exec, up, second, host, BYTES + 4, hipMemcpyHostToDevice),
              hipErrorInvalidValue);
    hipGraphNodeParams any = {.type = hipGraphNodeTypeMemcpy,
                              .memcpy.copyParams = {.srcPtr = {second, BYTES, BYTES, 1},
                                                    .dstPtr = {device, BYTES, BYTES, 1},
                                                    .extent = {BYTES, 1, 1},
                                                    .kind = hipMemcpyDefault}};
    CHECK_HIP(hipGraphExecNodeSetParams(exec, up, &any), hipErrorInvalidValue);
    for (int i = 0; i < N; i++)
        pinned[i] = i;
    OK(hipMemset(second, 0, BYTES));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipMemcpy(host, second, BYTES, hipMemcpyDeviceToHost));
    CHECK_EQ(host[N - 1], N - 1); /* what was refused changed nothing */
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipFree(device));
    OK(hipFree(second));
    OK(hipHostFree(pinned));
}

/* A fill in an executable graph keeps the number of its rows and their length. */
static void fills(void)
{
    hipGraph_t graph, wider;
    hipGraphExec_t exec;
    hipGraphNode_t line, box, where;
    hipGraphExecUpdateResult result;
    unsigned char *memory, *other;

    OK(hipMalloc((void **)&memory, 1024));
    OK(hipMalloc((void **)&other, 1024));
    OK(hipGraphCreate(&graph, 0));
    hipMemsetParams fill = {
        .dst = memory, .elementSize = 1, .height = 1, .pitch = 64, .value = 1, .width = 8};
    OK(hipGraphAddMemsetNode(&line, graph, NULL, 0, &fill));
    fill.height = 4;
    OK(hipGraphAddMemsetNode(&box, graph, &line, 1, &fill));
    fill.height = 17;
    CHECK_HIP(hipGraphAddMemsetNode(&where, graph, NULL, 0, &fill), hipErrorInvalidValue);
    fill.height = 4;
    fill.width = SIZE_MAX / 2 + 5;
    fill.elementSize = 2; /* the product is small again */
    CHECK_HIP(hipGraphAddMemsetNode(&where, graph, NULL, 0, &fill), hipErrorInvalidValue);
    fill.height = 1;
    CHECK_HIP(hipGraphAddMemsetNode(&where, graph, NULL, 0, &fill), hipErrorInvalidValue);
    fill.width = 8;
    fill.elementSize = 1;
    fill.height = SIZE_MAX / 64 + 2;
    CHECK_HIP(hipGraphAddMemsetNode(&where, graph, NULL, 0, &fill), hipErrorInvalidValue);

    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    fill = (hipMemsetParams){.dst = other, .elementSize = 1, .height = 1, .value = 2, .width = 100};
    OK(hipGraphExecMemsetNodeSetParams(exec, line, &fill));
    CHECK_HIP(hipGraphExecMemsetNodeSetParams(exec, box, &fill), hipErrorInvalidValue);
    fill =
        (hipMemsetParams){.dst = other, .elementSize = 2, .height = 4, .pitch = 32, .value = 3, .width = 4};
    OK(hipGraphExecMemsetNodeSetParams(exec, box, &fill)); /* rows of 8 bytes again */
    CHECK_HIP(hipGraphExecMemsetNodeSetParams(exec, line, &fill), hipErrorInvalidValue);
    fill.width = 5;
    CHECK_HIP(hipGraphExecMemsetNodeSetParams(exec, box, &fill), hipErrorInvalidValue);
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK(other[0] == 3 && other[1] == 0 && other[8] == 2 && other[96] == 3 && other[99] == 0);

    OK(hipGraphClone(&wider, graph));
    hipGraphNode_t found;
    OK(hipGraphNodeFindInClone(&found, box, wider));
    OK(hipGraphMemsetNodeSetParams(found, &fill));
    CHECK_HIP(hipGraphExecUpdate(exec, wider, &where, &result), hipErrorGraphExecUpdateFailure);
    CHECK_EQ(result, hipGraphExecUpdateErrorParametersChanged);
    CHECK(where == found);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(wider));
    OK(hipGraphDestroy(graph));
    OK(hipFree(memory));
    OK(hipFree(other));
}

/* A node can be changed to new memory when its old memory has been freed. */
static void replaced(void)
{
    static int host[N];
    hipGraph_t graph, next;
    hipGraphExec_t exec;
    hipGraphNode_t copy, set, where;
    hipGraphExecUpdateResult result;
    int *old, *fresh;

    OK(hipMalloc((void **)&old, BYTES));
    OK(hipGraphCreate(&graph, 0));
    hipMemsetParams fill = {.dst = old, .elementSize = 4, .height = 1, .value = 1, .width = N};
    OK(hipGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
    OK(hipGraphAddMemcpyNode1D(&copy, graph, &set, 1, host, old, BYTES, hipMemcpyDeviceToHost));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipFree(old));
    OK(hipMalloc((void **)&fresh, 4 * BYTES));
    fill.dst = fresh;
    fill.value = 2;
    OK(hipGraphExecMemsetNodeSetParams(exec, set, &fill));
    OK(hipGraphExecMemcpyNodeSetParams1D(exec, copy, host, fresh, BYTES, hipMemcpyDeviceToHost));
    OK(hipGraphLaunch(exec, NULL));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(host[N - 1], 2);
    OK(hipMalloc((void **)&old, BYTES));
    OK(hipGraphExecMemcpyNodeSetParams1D(exec, copy, host, old, BYTES, hipMemcpyDeviceToHost));
    OK(hipFree(old));
    OK(hipGraphCreate(&next, 0));
    OK(hipGraphAddMemsetNode(&set, next, NULL, 0, &fill));
    OK(hipGraphAddMemcpyNode1D(&copy, next, &set, 1, host, fresh, BYTES, hipMemcpyDeviceToHost));
    OK(hipGraphExecUpdate(exec, next, &where, &result));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(next));
    OK(hipGraphDestroy(graph));
    OK(hipFree(fresh));
}

/* A kernel whose module is gone. */
static void unloaded(const char *path)
{
    hipModule_t module;
    hipFunction_t store;
    hipGraph_t graph, clone;
    hipGraphExec_t exec;
    hipGraphNode_t node;
    int *out, value = 1;

    OK(hipModuleLoad(&module, path));
    OK(hipModuleGetFunction(&store, module, "store"));
    OK(hipMalloc((void **)&out, BYTES));
    OK(hipGraphCreate(&graph, 0));
    const hipKernelNodeParams params = {
        .func = store, .gridDim = {1, 1, 1}, .blockDim = {N, 1, 1}, .kernelParams = (void *[]){&out, &value}};
    OK(hipGraphAddKernelNode(&node, graph, NULL, 0, &params));
    OK(hipModuleUnload(module));
    CHECK_HIP(hipGraphInstantiate(&exec, graph, NULL, NULL, 0), hipErrorInvalidResourceHandle);
    CHECK_HIP(hipGraphClone(&clone, graph), hipErrorInvalidResourceHandle);
    OK(hipGraphDebugDotPrint(graph, "/dev/null", hipGraphDebugDotFlagsVerbose));
    OK(hipGraphDestroy(graph));
    OK(hipFree(out));
}

/* Operations on values: only those that there are. */
static void values(void)
{
    hipGraph_t graph;
    hipGraphNode_t node;
    hipStreamBatchMemOpParams op = {.operation = (hipStreamBatchMemOpType)99};
    const hipBatchMemOpNodeParams one = {.count = 1, .paramArray = &op};

    OK(hipGraphCreate(&graph, 0));
    CHECK_HIP(hipGraphAddBatchMemOpNode(&node, graph, NULL, 0, &one), hipErrorInvalidValue);
    op.operation = hipStreamMemOpWriteValue32;
    CHECK_HIP(hipGraphAddBatchMemOpNode(&node, graph, NULL, 0, &one), hipErrorInvalidValue);
    OK(hipGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    replaced();
    values();
    if (argc > 1)
        unloaded(argv[1]);
    directions();
    fills();
    return check_status();
}
