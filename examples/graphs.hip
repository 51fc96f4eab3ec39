// SPDX-License-Identifier: MIT
// A graph captured from two streams that fork and join, launched many times, then updated to work on other
// data; and the same graph built node by node.
#include "check.h"

__global__ void scale(float *data, int n, float factor)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        data[i] *= factor;
}

__global__ void sum(const float *a, const float *b, float *c, int n)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 4096, launches = 10;
    float *a, *b, *c, *d;
    CHECK_HIP(hipMallocManaged(&a, n * sizeof(float)));
    CHECK_HIP(hipMallocManaged(&b, n * sizeof(float)));
    CHECK_HIP(hipMallocManaged(&c, n * sizeof(float)));
    CHECK_HIP(hipMallocManaged(&d, n * sizeof(float)));
    for (int i = 0; i < n; i++) {
        a[i] = static_cast<float>(i);
        b[i] = 1.0f;
        d[i] = -1.0f;
    }
    hipStream_t stream, side;
    hipEvent_t fork, join;
    CHECK_HIP(hipStreamCreate(&stream));
    CHECK_HIP(hipStreamCreate(&side));
    CHECK_HIP(hipEventCreate(&fork));
    CHECK_HIP(hipEventCreate(&join));

    hipGraph_t graph;
    hipGraphExec_t exec;
    CHECK_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_HIP(hipEventRecord(fork, stream));
    CHECK_HIP(hipStreamWaitEvent(side, fork, 0));
    scale<<<n / 256, 256, 0, stream>>>(a, n, 0.5f);
    scale<<<n / 256, 256, 0, side>>>(b, n, 2.0f);
    CHECK_HIP(hipEventRecord(join, side));
    CHECK_HIP(hipStreamWaitEvent(stream, join, 0));
    sum<<<n / 256, 256, 0, stream>>>(a, b, c, n);
    CHECK_HIP(hipStreamEndCapture(stream, &graph));
    CHECK_HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));

    size_t nodes = 0;
    CHECK_HIP(hipGraphGetNodes(graph, nullptr, &nodes));
    bool untouched = a[1] == 1.0f; // capture must not run anything
    for (int i = 0; i < launches; i++)
        CHECK_HIP(hipGraphLaunch(exec, stream));
    CHECK_HIP(hipStreamSynchronize(stream));
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != static_cast<float>(i) / 1024.0f + 1024.0f;

    // The same by hand: memset, then one kernel.
    hipGraph_t manual;
    hipGraphExec_t manual_exec;
    hipGraphNode_t clear, kernel;
    CHECK_HIP(hipGraphCreate(&manual, 0));
    hipMemsetParams memset_params = {};
    memset_params.dst = d;
    memset_params.elementSize = 4;
    memset_params.width = n;
    memset_params.height = 1;
    memset_params.value = 0x40000000; // 2.0f
    CHECK_HIP(hipGraphAddMemsetNode(&clear, manual, nullptr, 0, &memset_params));
    int count = n;
    float factor = 3.0f;
    void *arguments[] = {&d, &count, &factor};
    hipKernelNodeParams params = {};
    params.func = reinterpret_cast<void *>(scale);
    params.gridDim = dim3(n / 256);
    params.blockDim = dim3(256);
    params.kernelParams = arguments;
    CHECK_HIP(hipGraphAddKernelNode(&kernel, manual, &clear, 1, &params));
    CHECK_HIP(hipGraphInstantiate(&manual_exec, manual, nullptr, nullptr, 0));
    CHECK_HIP(hipGraphLaunch(manual_exec, stream));
    CHECK_HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        wrong += d[i] != 6.0f;
    factor = 5.0f;
    CHECK_HIP(hipGraphExecKernelNodeSetParams(manual_exec, kernel, &params));
    CHECK_HIP(hipGraphLaunch(manual_exec, stream));
    CHECK_HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        wrong += d[i] != 10.0f;

    CHECK_HIP(hipGraphExecDestroy(exec));
    CHECK_HIP(hipGraphExecDestroy(manual_exec));
    CHECK_HIP(hipGraphDestroy(graph));
    CHECK_HIP(hipGraphDestroy(manual));
    CHECK_HIP(hipStreamDestroy(stream));
    CHECK_HIP(hipStreamDestroy(side));
    CHECK_HIP(hipEventDestroy(fork));
    CHECK_HIP(hipEventDestroy(join));
    CHECK_HIP(hipFree(a));
    CHECK_HIP(hipFree(b));
    CHECK_HIP(hipFree(c));
    CHECK_HIP(hipFree(d));
    return report(wrong == 0 && untouched && nodes == 3, "%zu nodes captured, %d launches, %d wrong", nodes,
                  launches, wrong);
}
