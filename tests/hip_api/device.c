/* SPDX-License-Identifier: MIT */
/* Devices: count, properties against attributes, names, contexts, limits, peers, error names. */
#include <pthread.h>
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

/* What is asked for decides, and nothing else. */
static void chosen(void)
{
    hipDeviceProp_t p = {0};
    int device = 7;

    OK(hipChooseDevice(&device, &p));
    CHECK_EQ(device, 0);
    OK(hipGetDeviceProperties(&p, 0));
    device = 7;
    OK(hipChooseDevice(&device, &p));
    CHECK_EQ(device, 0);
    p.multiProcessorCount = 100000; /* nobody has it: the first of all */
    device = 7;
    OK(hipChooseDevice(&device, &p));
    CHECK_EQ(device, 0);
    CHECK_HIP(hipChooseDevice(NULL, &p), hipErrorInvalidValue);
    CHECK_HIP(hipChooseDevice(&device, NULL), hipErrorInvalidValue);
}

static void *other_thread(void *flags)
{
    OK(hipGetDeviceFlags(flags));
    return NULL;
}

/* Flags are the device's: another thread sees them, and a reset takes them back. */
static void device_flags(void)
{
    const unsigned wrong[] = {hipDeviceScheduleSpin | hipDeviceScheduleYield,
                              hipDeviceScheduleSpin | hipDeviceScheduleBlockingSync,
                              hipDeviceScheduleYield | hipDeviceScheduleBlockingSync,
                              hipDeviceScheduleMask,
                              0x20,
                              ~0u};
    const unsigned right[] = {hipDeviceScheduleAuto, hipDeviceScheduleYield, hipDeviceScheduleBlockingSync,
                              hipDeviceScheduleSpin | hipDeviceMapHost,
                              hipDeviceScheduleYield | hipDeviceLmemResizeToMax};
    unsigned before = 0, flags;
    pthread_t thread;

    OK(hipDeviceReset());
    OK(hipGetDeviceFlags(&before));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_HIP(hipSetDeviceFlags(wrong[i]), hipErrorInvalidValue);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        OK(hipSetDeviceFlags(right[i]));
        flags = ~0u;
        CHECK(pthread_create(&thread, NULL, other_thread, &flags) == 0 && pthread_join(thread, NULL) == 0);
        CHECK_EQ(flags, right[i]);
    }
    OK(hipDeviceReset());
    OK(hipGetDeviceFlags(&flags));
    CHECK_EQ(flags, before);
}

/* gfx942 has no cache to divide and one width of banks. */
static void configurations(void)
{
    hipFuncCache_t cache = hipFuncCachePreferEqual;
    hipSharedMemConfig banks = hipSharedMemBankSizeEightByte;

    for (int i = hipFuncCachePreferNone; i <= hipFuncCachePreferEqual; i++)
        CHECK_HIP(hipDeviceSetCacheConfig((hipFuncCache_t)i), hipErrorNotSupported);
    CHECK_HIP(hipDeviceSetCacheConfig((hipFuncCache_t)-1), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetCacheConfig((hipFuncCache_t)4), hipErrorInvalidValue);
    OK(hipDeviceGetCacheConfig(&cache));
    CHECK_EQ(cache, hipFuncCachePreferNone);
    for (int i = hipSharedMemBankSizeDefault; i <= hipSharedMemBankSizeEightByte; i++)
        CHECK_HIP(hipDeviceSetSharedMemConfig((hipSharedMemConfig)i), hipErrorNotSupported);
    CHECK_HIP(hipDeviceSetSharedMemConfig((hipSharedMemConfig)-1), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetSharedMemConfig((hipSharedMemConfig)3), hipErrorInvalidValue);
    OK(hipDeviceGetSharedMemConfig(&banks));
    CHECK_EQ(banks, hipSharedMemBankSizeFourByte);
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
    OK(hipDevicePrimaryCtxGetState(0, NULL, NULL));
    OK(hipDevicePrimaryCtxRelease(0));
    OK(hipDevicePrimaryCtxReset(0));
    OK(hipDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK_EQ(active, 1); /* the current device's is */
    CHECK_HIP(hipDevicePrimaryCtxGetState(9, &flags, &active), hipErrorInvalidDevice);
    CHECK_HIP(hipDevicePrimaryCtxSetFlags(0, 0), hipErrorContextAlreadyInUse);
}

static void limits(void)
{
    size_t value;

    OK(hipDeviceSetLimit(hipLimitStackSize, 4096));
    OK(hipDeviceGetLimit(&value, hipLimitStackSize));
    CHECK_EQ(value, 4096);
    CHECK_HIP(hipDeviceSetLimit(hipLimitRange, 1), hipErrorUnsupportedLimit);
    CHECK_HIP(hipDeviceGetLimit(NULL, hipLimitStackSize), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetLimit(hipLimitPrintfFifoSize, 1 << 20), hipErrorUnsupportedLimit);
    CHECK_HIP(hipDeviceGetLimit(&value, hipLimitPrintfFifoSize), hipErrorUnsupportedLimit);
    CHECK_HIP(hipDeviceSetLimit(hipLimitMallocHeapSize, SIZE_MAX), hipErrorInvalidValue);
    OK(hipDeviceSetLimit(hipLimitMallocHeapSize, 1 << 20));
    OK(hipDeviceGetLimit(&value, hipLimitMallocHeapSize));
    CHECK_EQ(value, 1 << 20);
    OK(hipDeviceReset());
    OK(hipDeviceGetLimit(&value, hipLimitStackSize));
    CHECK_EQ(value, 1024);
    OK(hipDeviceGetLimit(&value, hipLimitMallocHeapSize));
    CHECK_EQ(value, 8 << 20);
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
    void *per_thread, *versioned;
    OK(hipGetProcAddress("hipStreamQuery", &pfn, 603, 0, NULL));
    OK(hipGetProcAddress("hipStreamQuery_spt", &versioned, 603, 0, NULL));
    OK(hipGetProcAddress("hipStreamQuery", &per_thread, 603, 2, NULL));
    CHECK(per_thread == versioned && per_thread != pfn);
    OK(hipGetProcAddress("hipGetDevice", &pfn, 603, 2, NULL));
    CHECK_HIP(hipGetProcAddress("hipGetDevice", &pfn, 603, 3, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipGetProcAddress("", &pfn, 603, 0, NULL), hipErrorInvalidValue);
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
    chosen();
    device_flags();
    configurations();
    contexts();
    limits();
    errors();
    symbols_by_name();
    return check_status();
}
