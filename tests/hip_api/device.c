/* SPDX-License-Identifier: MIT */
/* Devices: count, properties against attributes, names, contexts, limits, peers, error names. */
#include <stdlib.h>

#include "hip_check.h"

static void properties(bool mi300x)
{
    hipDeviceProp_t p;
    int value;

    OK(hipGetDeviceProperties(&p, 0));
    CHECK_STR(p.name, mi300x ? "AMD Instinct MI300X" : "AMD Instinct MI300A");
    CHECK_STR(p.gcnArchName, "gfx942:sramecc+:xnack-");
    CHECK(p.gcnArch == 942);
    CHECK_EQ(p.warpSize, 64);
    CHECK_EQ(p.multiProcessorCount, mi300x ? 304 : 228);
    CHECK_EQ(p.sharedMemPerBlock, 65536);
    CHECK_EQ(p.maxThreadsPerBlock, 1024);
    CHECK_EQ(p.totalGlobalMem >> 30, mi300x ? 192 : 128);
    CHECK_EQ(p.memoryBusWidth, 8192);
    CHECK_EQ(p.l2CacheSize, 4 << 20);
    CHECK_EQ(p.clockRate, 2100000);
    CHECK_EQ(p.integrated, !mi300x);
    CHECK_EQ(p.maxThreadsPerMultiProcessor, 2048);
    CHECK_EQ(p.arch.hasDoubles, 1);
    CHECK_EQ(p.cooperativeLaunch, 1);
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
    CHECK_EQ(value, p.multiProcessorCount);
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
    CHECK_EQ(value, 64);
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWallClockRate, 0));
    CHECK_EQ(value, 100000);
    CHECK_HIP(hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)9000, 0), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceGetAttribute(NULL, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 99), hipErrorInvalidDevice);
    CHECK_HIP(hipGetDeviceProperties(&p, -1), hipErrorInvalidDevice);
    CHECK_HIP(hipGetDeviceProperties(NULL, 0), hipErrorInvalidValue);
}

static void choosing(void)
{
    int device = 7, count = 0;
    char id[32], name[64];

    OK(hipGetDeviceCount(&count));
    CHECK_EQ(count, 1);
    OK(hipGetDevice(&device));
    CHECK_EQ(device, 0);
    CHECK_HIP(hipSetDevice(count), hipErrorInvalidDevice);
    CHECK_HIP(hipSetDevice(-1), hipErrorInvalidDevice);
    OK(hipSetDevice(0));
    OK(hipDeviceGetPCIBusId(id, sizeof id, 0));
    device = 7;
    OK(hipDeviceGetByPCIBusId(&device, id));
    CHECK_EQ(device, 0);
    CHECK_HIP(hipDeviceGetByPCIBusId(&device, "nonsense"), hipErrorInvalidValue);
    OK(hipDeviceGetName(name, sizeof name, 0));
    CHECK(!strncmp(name, "AMD Instinct", 12));
    CHECK_HIP(hipSetDeviceFlags(hipDeviceScheduleSpin | hipDeviceScheduleYield), hipErrorInvalidValue);
    OK(hipSetDeviceFlags(hipDeviceScheduleSpin));
    unsigned flags = 0;
    OK(hipGetDeviceFlags(&flags));
    CHECK_EQ(flags, hipDeviceScheduleSpin);
}

static void contexts(void)
{
    hipCtx_t ctx, current;
    hipDevice_t device = 9;
    unsigned flags;
    int active;

    OK(hipDevicePrimaryCtxRetain(&ctx, 0));
    OK(hipCtxSetCurrent(ctx));
    OK(hipCtxGetCurrent(&current));
    CHECK(current == ctx);
    OK(hipCtxGetDevice(&device));
    CHECK_EQ(device, 0);
    OK(hipCtxPushCurrent(ctx));
    OK(hipCtxPopCurrent(&current));
    CHECK(current == ctx);
    CHECK_HIP(hipCtxPopCurrent(&current), hipErrorInvalidContext);
    CHECK_HIP(hipCtxSetCurrent((hipCtx_t)(uintptr_t)&device), hipErrorInvalidContext);
    OK(hipDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK_EQ(active, 1);
    OK(hipDevicePrimaryCtxRelease(0));
}

static void limits(void)
{
    size_t value;

    OK(hipDeviceSetLimit(hipLimitStackSize, 4096));
    OK(hipDeviceGetLimit(&value, hipLimitStackSize));
    CHECK_EQ(value, 4096);
    CHECK_HIP(hipDeviceSetLimit(hipLimitRange, 1), hipErrorUnsupportedLimit);
    CHECK_HIP(hipDeviceGetLimit(NULL, hipLimitStackSize), hipErrorInvalidValue);
}

static void errors(void)
{
    const char *text;

    CHECK_STR(hipGetErrorName(hipSuccess), "hipSuccess");
    CHECK_STR(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory");
    CHECK_STR(hipGetErrorString(hipErrorInvalidValue), "invalid argument");
    CHECK_STR(hipGetErrorString(hipErrorNotReady), "device not ready");
    OK(hipDrvGetErrorName(hipErrorAssert, &text));
    CHECK_STR(text, "hipErrorAssert");
    CHECK_HIP(hipDrvGetErrorString((hipError_t)-5, &text), hipErrorInvalidValue);
    CHECK_STR(hipGetErrorString((hipError_t)-5), "unknown error");

    CHECK_HIP(hipMalloc(NULL, 4), hipErrorInvalidValue);
    CHECK_HIP(hipPeekAtLastError(), hipErrorInvalidValue);
    CHECK_HIP(hipGetLastError(), hipErrorInvalidValue);
    OK(hipGetLastError());
    CHECK_HIP(hipMalloc(NULL, 4), hipErrorInvalidValue);
    CHECK_HIP(hipExtGetLastError(), hipErrorInvalidValue);
    OK(hipExtGetLastError());
}

static void symbols_by_name(void)
{
    hipDriverProcAddressQueryResult result;
    hipError_t (*count)(int *);
    void *pfn;
    int devices = 0;

    OK(hipGetProcAddress("hipGetDeviceCount", &pfn, 603, 0, &result));
    CHECK_EQ(result, HIP_GET_PROC_ADDRESS_SUCCESS);
    memcpy(&count, &pfn, sizeof count);
    OK(count(&devices));
    CHECK_EQ(devices, 1);
    CHECK_HIP(hipGetProcAddress("hipNothing", &pfn, 603, 0, &result), hipErrorNotFound);
    CHECK_EQ(result, HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

int main(void)
{
    const char *chip = getenv("EHP_CHIP");

    OK(hipInit(0));
    CHECK_HIP(hipInit(1), hipErrorInvalidValue);
    properties(chip && !strcmp(chip, "mi300x"));
    choosing();
    contexts();
    limits();
    errors();
    symbols_by_name();
    return check_status();
}
