/* SPDX-License-Identifier: MIT */
/* What calls say to arguments that cannot be: null, too large, gone, of no known kind. */
#include <limits.h>

#include "hip_check.h"

static hipStream_t live, gone;

static void devices(void)
{
    char bus[32];
    size_t value;
    unsigned flags;

    CHECK_HIP(hipDeviceGetPCIBusId(bus, 12, 0), hipErrorInvalidValue);
    OK(hipDeviceGetPCIBusId(bus, 13, 0));
    CHECK_HIP(hipDeviceSetLimit(hipLimitPrintfFifoSize, 4096), hipErrorUnsupportedLimit);
    CHECK_HIP(hipDeviceSetLimit((enum hipLimit_t) - 1, 4096), hipErrorUnsupportedLimit);
    CHECK_HIP(hipDeviceGetLimit(&value, (enum hipLimit_t)99), hipErrorUnsupportedLimit);
    CHECK_HIP(hipSetDeviceFlags(hipDeviceScheduleSpin | hipDeviceScheduleYield), hipErrorInvalidValue);
    CHECK_HIP(hipGetDeviceFlags(NULL), hipErrorInvalidValue);
    OK(hipGetDeviceFlags(&flags));
}

static void copies(void)
{
    static char host[4096];
    const size_t far = (size_t)INT_MAX + 1;
    hipPitchedPtr box;
    size_t pitch;
    char *rows;

    OK(hipMallocPitch((void **)&rows, &pitch, 64, 16));
    CHECK_HIP(hipMemcpy2D(rows, far, host, 64, 64, 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2D(rows, pitch, host, far, 64, 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2D(rows, 63, host, 64, 64, 16, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
    CHECK_HIP(hipMemcpy2D(rows, pitch, host, 64, 64, 17, hipMemcpyHostToDevice), hipErrorInvalidValue);
    CHECK_HIP(hipMemcpy2DAsync(rows, pitch, host, 64, 64, 16, hipMemcpyHostToDevice, gone),
              hipErrorContextIsDestroyed);
    hip_Memcpy2D flat = {.srcMemoryType = hipMemoryTypeHost,
                         .srcHost = host,
                         .srcPitch = 64,
                         .dstMemoryType = hipMemoryTypeDevice,
                         .dstDevice = rows,
                         .dstPitch = pitch,
                         .WidthInBytes = 64,
                         .Height = 16};
    OK(hipMemcpyParam2D(&flat));
    flat.srcXInBytes = 1;
    CHECK_HIP(hipMemcpyParam2D(&flat), hipErrorInvalidValue);

    const struct hipExtent extent = {64, 4, 4};
    OK(hipMalloc3D(&box, extent));
    const hipMemcpy3DParms right = {
        .srcPtr = {host, 64, 64, 4}, .dstPtr = box, .extent = extent, .kind = hipMemcpyHostToDevice};
    OK(hipMemcpy3D(&right));
    hipMemcpy3DParms wrong = right;
    wrong.srcPos.x = 1;
    CHECK_HIP(hipMemcpy3D(&wrong), hipErrorInvalidValue);
    wrong = right;
    wrong.srcPos.y = 1;
    CHECK_HIP(hipMemcpy3D(&wrong), hipErrorInvalidValue);
    wrong = right;
    wrong.dstPos.z = 1;
    CHECK_HIP(hipMemcpy3D(&wrong), hipErrorInvalidValue);
    wrong = right;
    wrong.srcPtr.pitch = far;
    CHECK_HIP(hipMemcpy3D(&wrong), hipErrorInvalidValue);
    wrong = right;
    wrong.srcPtr.pitch = 63;
    CHECK_HIP(hipMemcpy3D(&wrong), hipErrorInvalidPitchValue);
    CHECK_HIP(hipMemcpy3DAsync(&right, gone), hipErrorContextIsDestroyed);
    CHECK_HIP(hipMemsetAsync(rows, 0, 4, gone), hipErrorContextIsDestroyed);
    OK(hipFree(box.ptr));
    OK(hipFree(rows));
}

static void allocations(void)
{
    hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
                             .handleTypes = (hipMemAllocationHandleType)99,
                             .location = {hipMemLocationTypeDevice, 0}};
    hipMemPool_t pool;
    void *pointer;

    CHECK_HIP(hipMallocManaged(&pointer, 0, hipMemAttachGlobal), hipErrorInvalidValue);
    CHECK_HIP(hipMallocManaged(&pointer, SIZE_MAX, hipMemAttachGlobal), hipErrorOutOfMemory);
    OK(hipMemGetInfo(NULL, NULL));
    CHECK_HIP(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue);
    CHECK_HIP(hipMallocAsync(&pointer, 4, gone), hipErrorInvalidHandle);
    OK(hipMallocAsync(&pointer, 4, live));
    CHECK_HIP(hipFreeAsync(pointer, gone), hipErrorInvalidHandle);
    OK(hipFreeAsync(pointer, live));
    CHECK_HIP(hipFreeAsync(pointer, live), hipErrorInvalidValue);
}

/* A handle that is gone stays gone while others come and go. */
static void handles(void)
{
    hipStream_t other;

    for (int i = 0; i < 100; i++) {
        OK(hipStreamCreate(&other));
        CHECK(other != gone);
        CHECK_HIP(hipStreamQuery(gone), hipErrorContextIsDestroyed);
        OK(hipStreamDestroy(other));
    }
}

int main(void)
{
    OK(hipStreamCreate(&live));
    OK(hipStreamCreate(&gone));
    OK(hipStreamDestroy(gone));
    devices();
    copies();
    allocations();
    handles();
    OK(hipStreamDestroy(live));
    return check_status();
}
