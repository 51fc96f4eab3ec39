/* SPDX-License-Identifier: MIT */
/* Modules: global constructors and destructors of the device's code, launches with attributes; symbols of
 * nobody's. */
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    constructors(argv[1]);
    attributes(argv[2]);
    undefined(argv[3]);
    return check_status();
}
