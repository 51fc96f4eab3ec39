/* SPDX-License-Identifier: MIT */
/* Kernels from a code object: arguments, shapes, LDS, variables, printf, malloc, events, graphs, errors of
 * launches. */
#include <stdlib.h>
#include <unistd.h>

#include "hip_check.h"

static hipModule_t module;

static hipFunction_t kernel(const char *name)
{
    hipFunction_t function = NULL;
    OK(hipModuleGetFunction(&function, module, name));
    return function;
}

static hipError_t launch(const char *name, unsigned grid, unsigned block, unsigned shared, void **args)
{
    return hipModuleLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, shared, NULL, args, NULL);
}

static void arguments(void)
{
    struct big {
        int a;
        double b[20];
        char c;
    } b = {.a = 100, .b[19] = 0.5, .c = 3};
    double *out;
    char a = -1;
    short c = 1000;
    float d = 0.25f;

    OK(hipMalloc((void **)&out, 64));
    OK(launch("arguments", 1, 64, 0, (void *[]){&out, &a, &b, &c, &d}));
    OK(hipDeviceSynchronize());
    CHECK(*out == -1 + 100 + 0.5 + 3 + 1000 + 0.25);

    /* The same as one block of bytes. */
    struct {
        int *out;
        int value;
    } packed = {(int *)out, 77};
    size_t bytes = sizeof packed;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    OK(hipModuleLaunchKernel(kernel("store"), 1, 1, 1, 16, 1, 1, 0, NULL, NULL, extra));
    OK(hipDeviceSynchronize());
    CHECK_EQ(((int *)out)[15], 77);
    OK(hipFree(out));
}

static void shapes(void)
{
    unsigned *out;

    OK(hipMalloc((void **)&out, 24 * sizeof *out));
    OK(hipModuleLaunchKernel(kernel("shape"), 2, 3, 4, 8, 4, 3, 96 * 4, NULL, (void *[]){&out}, NULL));
    OK(hipDeviceSynchronize());
    for (int i = 0; i < 24; i++)
        CHECK_EQ(out[i], 95 * 96 / 2 + 2340000);
    OK(hipFree(out));
}

static void variables(void)
{
    hipDeviceptr_t counter, factor;
    size_t bytes;
    float *out;
    int value;

    OK(hipModuleGetGlobal(&counter, &bytes, module, "counter"));
    CHECK_EQ(bytes, 4);
    OK(hipModuleGetGlobal(&factor, &bytes, module, "factor"));
    CHECK_EQ(bytes, 16);
    CHECK_HIP(hipModuleGetGlobal(&factor, &bytes, module, "nothing"), hipErrorNotFound);
    const float values[4] = {5, 6, 7, 8};
    OK(hipMemcpyHtoD(factor, (void *)(uintptr_t)values, sizeof values));
    OK(hipMalloc((void **)&out, 16));
    OK(launch("globals", 2, 128, 0, (void *[]){&out}));
    OK(hipMemcpyDtoH(&value, counter, 4));
    CHECK_EQ(value, 5 + 256);
    CHECK(out[0] == 5 && out[3] == 8);
    OK(hipFree(out));
}

/* stdout goes into a file for a moment. */
static void printing(void)
{
    char path[] = "/tmp/ehp-print-XXXXXX", text[1024] = "";
    int number = 42, file = mkstemp(path), saved = dup(1);

    fflush(stdout);
    dup2(file, 1);
    hipError_t error = launch("say", 1, 64, 0, (void *[]){&number});
    if (error == hipSuccess)
        error = hipDeviceSynchronize();
    dup2(saved, 1);
    close(saved);
    OK(error);
    CHECK(pread(file, text, sizeof text - 1, 0) > 0);
    CHECK_STR(text, "number 42 of thread 0:  1.50 text x -1234567890123%\n"
                    "number 42 of thread 1:  1.50 text x -1234567890123%\n");
    close(file);
    unlink(path);
}

static void heap(void)
{
    unsigned long long *out;

    OK(hipMalloc((void **)&out, 256 * sizeof *out));
    OK(launch("heap", 1, 256, 0, (void *[]){&out}));
    OK(hipDeviceSynchronize());
    for (unsigned i = 0; i < 256; i++)
        CHECK_EQ(out[i], 16 * i + 120);
    OK(hipFree(out));
}

static void order(void)
{
    enum { N = 64 };
    hipStream_t stream;
    hipEvent_t start, stop;
    int *out, value;
    float ms;

    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&start));
    OK(hipEventCreate(&stop));
    OK(hipMalloc((void **)&out, N * sizeof *out));
    OK(hipEventRecord(start, stream));
    for (value = 0; value < 3000; value++) /* more than the ring and the argument memory hold */
        OK(hipModuleLaunchKernel(kernel("store"), 1, 1, 1, N, 1, 1, 0, stream, (void *[]){&out, &value},
                                 NULL));
    OK(hipEventRecord(stop, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(out[N - 1], 2999);
    OK(hipEventElapsedTime(&ms, start, stop));
    CHECK(ms > 0);

    hipGraph_t graph;
    hipGraphExec_t exec;
    hipGraphNode_t node;
    size_t count = 1;
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    value = 11;
    OK(hipModuleLaunchKernel(kernel("store"), 1, 1, 1, N, 1, 1, 0, stream, (void *[]){&out, &value}, NULL));
    value = 12; /* the graph has its own copy */
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(out[0], 11);
    OK(hipGraphGetNodes(graph, &node, &count));
    hipKernelNodeParams params;
    OK(hipGraphKernelNodeGetParams(node, &params));
    CHECK_EQ(params.blockDim.x, N);
    CHECK_EQ(*(int *)params.kernelParams[1], 11);
    params.kernelParams = (void *[]){&out, &value};
    OK(hipGraphExecKernelNodeSetParams(exec, node, &params));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(out[0], 12);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipEventDestroy(start));
    OK(hipEventDestroy(stop));
    OK(hipFree(out));
    OK(hipStreamDestroy(stream));
}

static void refusals(const char *path)
{
    hipFunction_t function;
    hipModule_t other;
    int *out, value = 1, blocks;
    void *args[] = {&out, &value};

    OK(hipMalloc((void **)&out, 4096 * sizeof *out));
    CHECK_HIP(hipModuleGetFunction(&function, module, "missing"), hipErrorNotFound);
    CHECK_HIP(hipModuleLoad(&other, "/nonexistent/file"), hipErrorFileNotFound);
    CHECK_HIP(hipModuleLoadData(&other, "this is not a code object, but some text of this length"),
              hipErrorInvalidImage);
    CHECK_HIP(hipModuleLoadData(NULL, path), hipErrorInvalidValue);
    CHECK_HIP(launch("store", 1, 1025, 0, args), hipErrorInvalidValue);
    CHECK_HIP(launch("store", 0, 64, 0, args), hipErrorInvalidValue);
    CHECK_HIP(launch("store", 1, 0, 0, args), hipErrorInvalidValue);
    CHECK_HIP(launch("store", 1, 64, 65537, args), hipErrorInvalidValue);
    CHECK_HIP(launch("store", 1, 64, 0, NULL), hipErrorInvalidValue);
    CHECK_HIP(launch("store", UINT32_MAX, 1024, 0, args), hipErrorInvalidConfiguration);
    CHECK_HIP(launch("narrow", 1, 256, 0, args), hipErrorLaunchFailure);
    CHECK_HIP(hipModuleLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL),
              hipErrorInvalidResourceHandle);
    OK(launch("store", 4, 1024, 0, args));
    OK(hipDeviceSynchronize());
    CHECK_EQ(out[4095], 1);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("store"), 256, 0));
    CHECK_EQ(blocks, 8);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("store"), 256, 32768));
    CHECK_EQ(blocks, 2);
    OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("narrow")));
    CHECK_EQ(value, 128);
    OK(hipFree(out));
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    OK(hipModuleLoad(&module, argv[1]));
    arguments();
    shapes();
    variables();
    printing();
    heap();
    order();
    refusals(argv[1]);
    hipModule_t again = module;
    OK(hipModuleUnload(module));
    CHECK_HIP(hipModuleUnload(again), hipErrorNotFound);
    return check_status();
}
