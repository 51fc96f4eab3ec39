// SPDX-License-Identifier: MIT
// What may be asked and said of a kernel: its attributes, configurations that the chip has not, odd
// occupancy.
#include "check_hip.h"

__global__ void plain(int *out)
{
    __shared__ int tile[256];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[255 - threadIdx.x];
}

static const void *kernel()
{
    return reinterpret_cast<const void *>(plain);
}

static void configurations()
{
    for (int i = hipFuncCachePreferNone; i <= hipFuncCachePreferEqual; i++)
        CHECK(hipFuncSetCacheConfig(kernel(), (hipFuncCache_t)i) == hipErrorNotSupported, "another answer");
    CHECK(hipFuncSetCacheConfig(nullptr, hipFuncCachePreferNone) == hipErrorInvalidDeviceFunction,
          "another answer");
    CHECK(hipFuncSetCacheConfig(kernel(), (hipFuncCache_t)-1) == hipErrorInvalidValue, "another answer");
    for (int i = hipSharedMemBankSizeDefault; i <= hipSharedMemBankSizeEightByte; i++)
        CHECK(hipFuncSetSharedMemConfig(kernel(), (hipSharedMemConfig)i) == hipErrorNotSupported,
              "another answer");
    CHECK(hipFuncSetSharedMemConfig(nullptr, hipSharedMemBankSizeDefault) == hipErrorInvalidDeviceFunction,
          "no");
    CHECK(hipFuncSetSharedMemConfig(kernel(), (hipSharedMemConfig)-1) == hipErrorInvalidValue,
          "another answer");
}

static void attributes()
{
    hipFuncAttributes got;
    int value, most;

    HIP_OK(hipFuncGetAttributes(&got, kernel()));
    CHECK(got.sharedSizeBytes == 1024 && got.maxThreadsPerBlock == 1024 && got.numRegs > 0, "another answer");
    CHECK(got.binaryVersion > 0 && got.preferredShmemCarveout == 0, "another answer");
    HIP_OK(hipDeviceGetAttribute(&most, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
    CHECK(got.maxDynamicSharedSizeBytes == most - 1024, "another answer");
    const int sizes[] = {0, 1024, most - 1024};
    for (int size : sizes) {
        HIP_OK(hipFuncSetAttribute(kernel(), hipFuncAttributeMaxDynamicSharedMemorySize, size));
        HIP_OK(hipFuncGetAttributes(&got, kernel()));
        CHECK(got.maxDynamicSharedSizeBytes == size, "another answer");
    }
    const int carveouts[] = {-1, 0, 50, 100};
    for (int carveout : carveouts) {
        HIP_OK(hipFuncSetAttribute(kernel(), hipFuncAttributePreferredSharedMemoryCarveout, carveout));
        HIP_OK(hipFuncGetAttributes(&got, kernel()));
        CHECK(got.preferredShmemCarveout == carveout, "another answer");
        hipFunction_t function;
        HIP_OK(hipGetFuncBySymbol(&function, kernel()));
        HIP_OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, function));
        CHECK(value == carveout, "another answer");
    }
    CHECK(hipFuncSetAttribute(nullptr, hipFuncAttributePreferredSharedMemoryCarveout, 50) ==
              hipErrorInvalidDeviceFunction,
          "no");
    CHECK(hipFuncSetAttribute(kernel(), hipFuncAttributePreferredSharedMemoryCarveout, -2) ==
              hipErrorInvalidValue,
          "no");
    CHECK(hipFuncSetAttribute(kernel(), hipFuncAttributePreferredSharedMemoryCarveout, 101) ==
              hipErrorInvalidValue,
          "no");
    CHECK(hipFuncSetAttribute(kernel(), hipFuncAttributeMaxDynamicSharedMemorySize, -1) ==
              hipErrorInvalidValue,
          "no");
    CHECK(hipFuncSetAttribute(kernel(), hipFuncAttributeMaxDynamicSharedMemorySize, most - 1023) ==
              hipErrorInvalidValue,
          "no");
    CHECK(hipFuncSetAttribute(kernel(), (hipFuncAttribute)-1, 1) == hipErrorInvalidValue, "another answer");
    CHECK(hipFuncGetAttributes(&got, nullptr) == hipErrorInvalidDeviceFunction, "another answer");
    CHECK(hipFuncGetAttributes(nullptr, kernel()) == hipErrorInvalidValue, "another answer");
}

static void occupancy()
{
    int grid = 0, block = 0, blocks = -1, most = 0, mostBlock = 0;

    HIP_OK(hipOccupancyMaxPotentialBlockSize(&most, &mostBlock, kernel(), 0, 0));
    CHECK(most > 0 && mostBlock > 0, "another answer");
    for (int limit : {-1, 4096}) { // no limit that there could be
        HIP_OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, kernel(), 0, limit));
        CHECK(grid == most && block == mostBlock, "another answer");
    }
    HIP_OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, kernel(), 0, 100));
    CHECK(block <= 100 && grid >= most, "another answer");
    CHECK(hipOccupancyMaxPotentialBlockSize(nullptr, &block, kernel(), 0, 0) == hipErrorInvalidValue,
          "another answer");
    CHECK(hipOccupancyMaxPotentialBlockSize(&grid, nullptr, kernel(), 0, 0) == hipErrorInvalidValue,
          "another answer");
    CHECK(hipOccupancyMaxPotentialBlockSize(&grid, &block, NULL, 0, 0) == hipErrorInvalidDeviceFunction,
          "no");
    HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel(), 1025, 0));
    CHECK(blocks == 0, "another answer");
    HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel(), 64, 1 << 20));
    CHECK(blocks == 0, "another answer");
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel(), 0, 0) == hipErrorInvalidValue,
          "no");
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel(), -5, 0) == hipErrorInvalidValue,
          "no");
    CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel(), 64, 0, 0xdead) ==
              hipErrorInvalidValue,
          "no");
}

struct pair {
    int first;
    double second;
};

__global__ void take(double *out, const long long wide, pair both, unsigned char narrow)
{
    out[threadIdx.x] = static_cast<double>(wide) + both.first + both.second + narrow;
}

// Arguments become what the parameters are: of other widths than they were given in.
static void launches()
{
    buffer<double> out(64);
    const pair both = {3, 0.25};
    hipLaunchConfig_t config = {};

    config.gridDim = dim3(1);
    config.blockDim = dim3(64);
    HIP_OK(hipLaunchKernelEx(&config, take, out.get(), -7, both, 0x1ff));
    out.down();
    CHECK(out[0] == -7 + 3 + 0.25 + 255 && out[63] == out[0], "%g", out[0]);
    config.blockDim = dim3(2048);
    CHECK(hipLaunchKernelEx(&config, take, out.get(), 1, both, 1) == hipErrorInvalidConfiguration, "it ran");
    CHECK(hipLaunchKernelEx(nullptr, take, out.get(), 1, both, 1) == hipErrorInvalidConfiguration, "it ran");
    (void)hipGetLastError();
}

int main()
{
    configurations();
    launches();
    attributes();
    occupancy();
    return check_done();
}
