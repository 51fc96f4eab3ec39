/* SPDX-License-Identifier: MIT */
/* Modules: global constructors and destructors of the device's code, launches with attributes; symbols of
 * nobody's. */
#include <stdlib.h>
#include <string.h>

#include "apart.h"
#include "hip_check.h"

static void constructors(const char *path)
{
    hipModule_t module;
    hipFunction_t begin;
    int *values;

    OK(hipHostMalloc((void **)&values, 2 * sizeof *values, 0));
    for (int round = 0; round < 2; round++) {
        int *now = values, *end = values + 1;
        values[0] = values[1] = 0;
        OK(hipModuleLoad(&module, path));
        OK(hipModuleGetFunction(&begin, module, "begin"));
        OK(hipModuleLaunchKernel(begin, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&now, &end}, NULL));
        OK(hipModuleUnload(module));
        CHECK_EQ(values[0], (3 + 4) * 2);
        CHECK_EQ(values[1], (3 + 4) * 2 + 100);
    }
    OK(hipHostFree(values));
}

static void attributes(const char *path)
{
    hipModule_t module;
    hipFunction_t store;
    hipDeviceProp_t props;
    int *out, value = 6;
    void *args[] = {&out, &value};

    OK(hipGetDeviceProperties(&props, 0));
    OK(hipModuleLoad(&module, path));
    OK(hipModuleGetFunction(&store, module, "store"));
    OK(hipMalloc((void **)&out, 64 * sizeof *out));
    hipLaunchAttribute list[2] = {{.id = hipLaunchAttributePriority, .value = {.priority = 1}},
                                  {.id = hipLaunchAttributeCooperative, .value = {.cooperative = 1}}};
    HIP_LAUNCH_CONFIG config = {.gridDimX = 1,
                                .gridDimY = 1,
                                .gridDimZ = 1,
                                .blockDimX = 64,
                                .blockDimY = 1,
                                .blockDimZ = 1,
                                .attrs = list,
                                .numAttrs = 2};
    OK(hipDrvLaunchKernelEx(&config, store, args, NULL));
    OK(hipDeviceSynchronize());
    CHECK_EQ(out[63], 6);
    config.gridDimX = (unsigned)props.multiProcessorCount * 40; /* more than a chip of 32 waves a CU holds */
    CHECK_HIP(hipDrvLaunchKernelEx(&config, store, args, NULL), hipErrorCooperativeLaunchTooLarge);
    list[1].id = (hipLaunchAttributeID)99;
    CHECK_HIP(hipDrvLaunchKernelEx(&config, store, args, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipDrvLaunchKernelEx(NULL, store, args, NULL), hipErrorInvalidConfiguration);
    CHECK_HIP(hipDrvLaunchKernelEx(&config, NULL, args, NULL), hipErrorInvalidResourceHandle);
    CHECK_HIP(hipLaunchKernelExC(NULL, out, args), hipErrorInvalidConfiguration);
    hipLaunchConfig_t host = {.gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}};
    CHECK_HIP(hipLaunchKernelExC(&host, NULL, args), hipErrorInvalidDeviceFunction);
    CHECK_HIP(hipLaunchKernelExC(&host, &props, args), hipErrorInvalidDeviceFunction);
    OK(hipFree(out));
    OK(hipModuleUnload(module));
}

static void undefined(const char *path)
{
    hipModule_t module = NULL;

    CHECK_HIP(hipModuleLoad(&module, path), hipErrorSharedObjectInitFailed);
    CHECK(!module);
}

/* A kernel that was compiled for blocks of one shape runs in no other. */
static void required(const char *path)
{
    hipModule_t module;
    hipFunction_t exact;
    hipGraph_t graph;
    hipGraphNode_t node;
    int *out, grid, block, blocks;
    void *args[] = {&out};
    static const unsigned wrong[][3] = {{64, 1, 1}, {4, 16, 1}, {16, 2, 1}, {16, 4, 2}, {1, 1, 1}};

    OK(hipModuleLoad(&module, path));
    OK(hipModuleGetFunction(&exact, module, "exact"));
    OK(hipMalloc((void **)&out, 64 * sizeof *out));
    OK(hipGraphCreate(&graph, 0));
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const unsigned *b = wrong[i];
        hipKernelNodeParams params = {
            .func = exact, .gridDim = {1, 1, 1}, .blockDim = {b[0], b[1], b[2]}, .kernelParams = args};
        CHECK_HIP(hipModuleLaunchKernel(exact, 1, 1, 1, b[0], b[1], b[2], 0, NULL, args, NULL),
                  hipErrorInvalidValue);
        CHECK(hipGraphAddKernelNode(&node, graph, NULL, 0, &params) != hipSuccess);
    }
    OK(hipModuleLaunchKernel(exact, 1, 1, 1, 16, 4, 1, 0, NULL, args, NULL));
    OK(hipDeviceSynchronize());
    CHECK_EQ(out[63], 4);
    OK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &block, exact, 0, 0));
    CHECK_EQ(block, 64);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, exact, 32, 0));
    CHECK_EQ(blocks, 0);
    OK(hipGraphDestroy(graph));
    OK(hipFree(out));
    OK(hipModuleUnload(module));
}

/* What is launched before its file has registered it, as by a static constructor, is no kernel yet. */
static int unregistered(void *host)
{
    CHECK_HIP(hipLaunchKernel(host, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
              hipErrorInvalidDeviceFunction);
    return check_failures != 0;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    CHECK_APART(unregistered, argv, 0, "finds no kernel: those of a file come after its constructors");
    constructors(argv[1]);
    attributes(argv[2]);
    undefined(argv[3]);
    required(argv[4]);
    return check_status();
}
