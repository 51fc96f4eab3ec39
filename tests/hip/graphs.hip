// SPDX-License-Identifier: MIT
// Graphs of kernels and device variables, built and captured: every kind of asynchronous call becomes a node.
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

#include "check_hip.h"

#define FAILS(call, error)                                                                                   \
    do {                                                                                                     \
        hipError_t have_ = (call);                                                                           \
        CHECK(have_ == (error), "%s: %s", #call, hipGetErrorName(have_));                                    \
    } while (0)
#define EXPECT(what) CHECK(what, "is not so")
#define OK(call)     FAILS(call, hipSuccess)

enum { N = 1024, BYTES = N * sizeof(int) };

__device__ int variable[N];
__constant__ int fixed[N];

__global__ void add(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

__global__ void no_arguments()
{
    variable[threadIdx.x] += 1;
}

__global__ void from_fixed(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = fixed[i];
}

__global__ void grid_sum(int *data, int *sum)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = 1;
    grid.sync();
    if (i == 0) {
        int all = 0;
        for (unsigned k = 0; k < gridDim.x * blockDim.x; k++)
            all += data[k];
        *sum = all;
    }
}

static void run(hipGraph_t graph, hipStream_t stream, int times = 1)
{
    hipGraphExec_t exec;
    OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    OK(hipGraphUpload(exec, stream));
    for (int i = 0; i < times; i++)
        OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
}

// Copies from and to device variables, in a graph and changed in an executable one.
static void symbols()
{
    std::vector<int> in(N), out(N);
    int *device;
    hipGraph_t graph;
    hipGraphNode_t to, from, node;
    hipGraphExec_t exec;
    for (int i = 0; i < N; i++)
        in[i] = i;
    OK(hipMalloc(&device, BYTES));
    OK(hipGraphCreate(&graph, 0));
    FAILS(hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, HIP_SYMBOL(variable), in.data(), BYTES, 0,
                                        hipMemcpyDeviceToHost),
          hipErrorInvalidMemcpyDirection);
    FAILS(hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, HIP_SYMBOL(variable), in.data(), BYTES, 0,
                                        (hipMemcpyKind)-1),
          hipErrorInvalidMemcpyDirection);
    FAILS(hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, nullptr, in.data(), BYTES, 0,
                                        hipMemcpyHostToDevice),
          hipErrorInvalidSymbol);
    FAILS(hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, HIP_SYMBOL(variable), in.data(), BYTES, 4,
                                        hipMemcpyHostToDevice),
          hipErrorInvalidValue);
    FAILS(hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, HIP_SYMBOL(variable), in.data(), 8,
                                        SIZE_MAX - 3, hipMemcpyHostToDevice),
          hipErrorInvalidValue);
    OK(hipGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, HIP_SYMBOL(variable), in.data(), BYTES, 0,
                                     hipMemcpyHostToDevice));
    OK(hipGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, out.data(), HIP_SYMBOL(variable), BYTES - 4, 4,
                                       hipMemcpyDeviceToHost));
    OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    OK(hipGraphLaunch(exec, nullptr));
    OK(hipStreamSynchronize(nullptr));
    EXPECT(out[0] == 1 && out[N - 2] == N - 1);
    OK(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, out.data(), HIP_SYMBOL(variable), BYTES, 0,
                                                 hipMemcpyDeviceToHost));
    OK(hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, HIP_SYMBOL(variable), in.data() + 8, 32, 0,
                                               hipMemcpyHostToDevice));
    FAILS(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, device, HIP_SYMBOL(variable), BYTES, 0,
                                                    hipMemcpyDeviceToDevice),
          hipErrorInvalidValue);
    FAILS(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, out.data(), HIP_SYMBOL(variable), BYTES, 8,
                                                    hipMemcpyDeviceToHost),
          hipErrorInvalidValue);
    FAILS(hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, out.data(), HIP_SYMBOL(variable), BYTES, 0,
                                                    hipMemcpyHostToDevice),
          hipErrorInvalidMemcpyDirection);
    FAILS(hipGraphMemcpyNodeSetParamsFromSymbol(from, device, HIP_SYMBOL(variable), BYTES, 0,
                                                hipMemcpyDeviceToHost),
          hipErrorInvalidValue);
    OK(hipGraphMemcpyNodeSetParamsFromSymbol(from, device, HIP_SYMBOL(variable), BYTES, 0,
                                             hipMemcpyDeviceToDevice));
    OK(hipGraphLaunch(exec, nullptr));
    OK(hipStreamSynchronize(nullptr));
    EXPECT(out[0] == 8 && out[7] == 15 && out[8] == 8);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipFree(device));
}

// What a kernel node holds, and what it can be changed to.
static void kernels()
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t first, second, none;
    int *data, value = 3;
    std::vector<int> out(N);
    OK(hipMalloc(&data, BYTES));
    OK(hipMemset(data, 0, BYTES));
    void *arguments[] = {&data, &value};
    hipKernelNodeParams params = {}, got;
    params.func = (void *)add;
    params.gridDim = dim3(N / 64);
    params.blockDim = dim3(64);
    params.kernelParams = arguments;
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddKernelNode(&first, graph, nullptr, 0, &params));
    OK(hipGraphAddKernelNode(&second, graph, &first, 1, &params));
    OK(hipGraphKernelNodeGetParams(first, &got));
    EXPECT(got.func == params.func && got.gridDim.x == N / 64 && *(int *)got.kernelParams[1] == 3);
    OK(hipGraphKernelNodeSetParams(first, &got));
    hipKernelNodeParams bad = params;
    bad.kernelParams = nullptr;
    FAILS(hipGraphAddKernelNode(&none, graph, nullptr, 0, &bad), hipErrorInvalidValue);
    bad = params;
    bad.func = nullptr;
    FAILS(hipGraphAddKernelNode(&none, graph, nullptr, 0, &bad), hipErrorInvalidValue);
    bad.func = &bad;
    FAILS(hipGraphAddKernelNode(&none, graph, nullptr, 0, &bad), hipErrorInvalidDeviceFunction);

    hipLaunchAttributeValue attribute = {}, read;
    attribute.accessPolicyWindow.hitRatio = 0.5;
    OK(hipGraphKernelNodeSetAttribute(first, hipLaunchAttributeAccessPolicyWindow, &attribute));
    OK(hipGraphKernelNodeCopyAttributes(first, second));
    OK(hipGraphKernelNodeGetAttribute(second, hipLaunchAttributeAccessPolicyWindow, &read));
    EXPECT(read.accessPolicyWindow.hitRatio == 0.5f);
    FAILS(hipGraphKernelNodeCopyAttributes(nullptr, second), hipErrorInvalidValue);
    FAILS(hipGraphKernelNodeGetAttribute(second, (hipLaunchAttributeID)99, &read), hipErrorInvalidValue);

    OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    value = 10;
    OK(hipGraphExecKernelNodeSetParams(exec, second, &params));
    OK(hipGraphLaunch(exec, nullptr));
    unsigned on = 7;
    OK(hipGraphNodeSetEnabled(exec, first, 0));
    OK(hipGraphNodeGetEnabled(exec, first, &on));
    EXPECT(on == 0);
    OK(hipGraphLaunch(exec, nullptr));
    OK(hipMemcpy(out.data(), data, BYTES, hipMemcpyDeviceToHost));
    EXPECT(out[0] == 23 && out[N - 1] == 23);
    hipKernelNodeParams plain = {};
    plain.func = (void *)no_arguments;
    plain.gridDim = plain.blockDim = dim3(1);
    OK(hipGraphExecKernelNodeSetParams(exec, second, &plain));
    OK(hipGraphLaunch(exec, nullptr));
    OK(hipStreamSynchronize(nullptr));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipFree(data));
}

// One call of each kind between begin and end.
static void captured()
{
    hipStream_t stream;
    hipGraph_t graph;
    hipEvent_t start, stop;
    std::vector<int> in(N), out(N), rows(N), boxed(N), symbol(N), taken(N);
    int *a, *b, *sum, *managed, value = 5;
    OK(hipMallocManaged(&managed, BYTES));
    for (int i = 0; i < N; i++)
        in[i] = i;
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&start));
    OK(hipEventCreate(&stop));
    OK(hipMalloc(&a, BYTES));
    OK(hipMalloc(&b, BYTES));
    OK(hipMalloc(&sum, 64));

    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(hipMemcpyAsync(a, in.data(), BYTES, hipMemcpyHostToDevice, stream));
    add<<<N / 64, 64, 0, stream>>>(a, value);
    hipExtLaunchKernelGGL(add, dim3(N / 64), dim3(64), 0, stream, start, stop, 0, a, value);
    OK(hipMemcpyDtoDAsync(b, a, BYTES, stream));
    OK(hipMemcpyDtoHAsync(out.data(), b, BYTES, stream));
    OK(hipMemsetAsync(a, 0xff, BYTES, stream));
    OK(hipMemset2DAsync(a, 128, 1, 64, N / 32, stream)); // half of each row of 32
    OK(hipMemsetD32Async(a + 31, 77, 1, stream));
    OK(hipMemcpy2DAsync(rows.data(), 128, a, 128, 128, N / 32, hipMemcpyDeviceToHost, stream));
    hipMemcpy3DParms box = {};
    box.srcPtr = make_hipPitchedPtr(b, 64, 16, 8);
    box.dstPtr = make_hipPitchedPtr(boxed.data(), 64, 16, 8);
    box.extent = make_hipExtent(64, 4, 2);
    box.kind = hipMemcpyDeviceToHost;
    OK(hipMemcpy3DAsync(&box, stream));
    OK(hipMemset3DAsync(make_hipPitchedPtr(b, 64, 16, 8), 0, make_hipExtent(64, 8, 1), stream));
    OK(hipMemcpyToSymbolAsync(HIP_SYMBOL(variable), in.data(), BYTES, 0, hipMemcpyHostToDevice, stream));
    OK(hipMemcpyFromSymbolAsync(symbol.data(), HIP_SYMBOL(variable), BYTES, 0, hipMemcpyDeviceToHost,
                                stream));
    OK(hipMemcpyPeerAsync(a, 0, b, 0, BYTES, stream));
    OK(hipMemcpyAsync(taken.data(), a, BYTES, hipMemcpyDeviceToHost, stream));
    void *arguments[] = {&a, &sum};
    OK(hipLaunchCooperativeKernel((void *)grid_sum, dim3(N / 256), dim3(256), arguments, 0, stream));
    int *mine;
    OK(hipMallocAsync((void **)&mine, BYTES, stream));
    OK(hipMemsetAsync(mine, 0, BYTES, stream));
    add<<<N / 64, 64, 0, stream>>>(mine, 4);
    OK(hipMemPrefetchAsync(managed, BYTES, 0, stream));
    OK(hipFreeAsync(mine, stream));
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGetLastError());
    run(graph, stream, 3);
    EXPECT(out[0] == 10 && out[N - 1] == N + 9);
    EXPECT(rows[0] == 0x01010101 && rows[16] == -1 && rows[31] == 77 && rows[N - 1] == -1);
    EXPECT(boxed[0] == 10 && boxed[63] == 73 && boxed[64] == 0 && boxed[128] == 138);
    EXPECT(symbol[N - 1] == N - 1);
    EXPECT(taken[0] == 0 && taken[127] == 0 && taken[128] == 138);
    int total;
    OK(hipMemcpy(&total, sum, sizeof total, hipMemcpyDeviceToHost));
    EXPECT(total == N);
    float ms = -1;
    OK(hipEventElapsedTime(&ms, start, stop));
    EXPECT(ms >= 0);
    OK(hipFree(a));
    OK(hipFree(b));
    OK(hipFree(sum));
    OK(hipFree(managed));
    OK(hipEventDestroy(start));
    OK(hipEventDestroy(stop));
    OK(hipStreamDestroy(stream));
}

// Arrays in nodes and captures.
static void arrays()
{
    hipArray_t array;
    hipChannelFormatDesc desc = hipCreateChannelDesc<int>();
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphNode_t up, down;
    std::vector<int> in(64 * 16), out(64 * 16), again(64 * 16);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (int)i * 7;
    if (hipMallocArray(&array, &desc, 64, 16, 0) != hipSuccess) {
        (void)hipGetLastError();
        return;
    }
    OK(hipStreamCreate(&stream));
    OK(hipGraphCreate(&graph, 0));
    hipMemcpy3DParms to = {};
    to.srcPtr = make_hipPitchedPtr(in.data(), 256, 64, 16);
    to.dstArray = array;
    to.extent = make_hipExtent(64, 16, 1);
    to.kind = hipMemcpyHostToDevice;
    OK(hipGraphAddMemcpyNode(&up, graph, nullptr, 0, &to));
    hipMemcpy3DParms from = {}, got;
    from.srcArray = array;
    from.dstPtr = make_hipPitchedPtr(out.data(), 256, 64, 16);
    from.extent = to.extent;
    from.kind = hipMemcpyDeviceToHost;
    OK(hipGraphAddMemcpyNode(&down, graph, &up, 1, &from));
    OK(hipGraphMemcpyNodeGetParams(down, &got));
    EXPECT(got.srcArray == array && got.extent.width == 64 && got.kind == hipMemcpyDeviceToHost);
    run(graph, stream);
    EXPECT(out == in);
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(hipMemcpy2DFromArrayAsync(again.data(), 256, array, 0, 0, 256, 16, hipMemcpyDeviceToHost, stream));
    OK(hipStreamEndCapture(stream, &graph));
    run(graph, stream);
    EXPECT(again == in);
    OK(hipFreeArray(array));
    OK(hipStreamDestroy(stream));
}

// A launch in a capture is a graph in a graph.
static void nested()
{
    hipStream_t stream, other;
    hipGraph_t inner, outer;
    hipGraphExec_t exec;
    hipEvent_t fork, join;
    int *data;
    std::vector<int> out(N);
    OK(hipMalloc(&data, BYTES));
    OK(hipMemset(data, 0, BYTES));
    OK(hipStreamCreate(&stream));
    OK(hipStreamCreate(&other));
    OK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
    OK(hipEventCreateWithFlags(&join, hipEventDisableTiming));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    add<<<N / 64, 64, 0, stream>>>(data, 1);
    OK(hipStreamEndCapture(stream, &inner));
    OK(hipGraphInstantiate(&exec, inner, nullptr, nullptr, 0));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    OK(hipGraphLaunch(exec, stream));
    OK(hipEventRecord(fork, stream));
    OK(hipStreamWaitEvent(other, fork, 0));
    add<<<N / 64, 64, 0, other>>>(data, 10);
    OK(hipEventRecord(join, other));
    OK(hipStreamWaitEvent(stream, join, 0));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamEndCapture(stream, &outer));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(inner));
    run(outer, other, 2);
    OK(hipMemcpy(out.data(), data, BYTES, hipMemcpyDeviceToHost));
    EXPECT(out[0] == 24 && out[N - 1] == 24);
    OK(hipEventDestroy(fork));
    OK(hipEventDestroy(join));
    OK(hipStreamDestroy(stream));
    OK(hipStreamDestroy(other));
    OK(hipFree(data));
}

int main()
{
    symbols();
    kernels();
    captured();
    arrays();
    nested();
    return check_done();
}
