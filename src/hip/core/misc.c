/* SPDX-License-Identifier: MIT */
/* Calls of no other file: ROCm 5's device properties, profiler switches, names that only tools ask for, half
 * conversions.
 */
#include <hip/hip_deprecated.h>
#include <stdio.h>
#include <string.h>

#include "hip/core/device.h"
#include "hip/observe/fabric.h"

/* ---- device properties as ROCm 5 laid them out --------------------------------------------------------- */

hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *prop, int deviceId);
hipError_t hipChooseDeviceR0000(int *device, const hipDeviceProp_tR0000 *prop);

HIP_ENTRY hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000 *prop, int deviceId)
{
    struct hip_device *device;

    if (!prop)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(deviceId, &device);
    if (error != hipSuccess)
        return hip_return(error);
    const hipDeviceProp_tR0600 *p = &device->props;
    memset(prop, 0, sizeof *prop);
    memcpy(prop->name, p->name, sizeof prop->name);
    prop->totalGlobalMem = p->totalGlobalMem;
    prop->sharedMemPerBlock = p->sharedMemPerBlock;
    prop->regsPerBlock = p->regsPerBlock;
    prop->warpSize = p->warpSize;
    prop->maxThreadsPerBlock = p->maxThreadsPerBlock;
    memcpy(prop->maxThreadsDim, p->maxThreadsDim, sizeof prop->maxThreadsDim);
    memcpy(prop->maxGridSize, p->maxGridSize, sizeof prop->maxGridSize);
    prop->clockRate = p->clockRate;
    prop->memoryClockRate = p->memoryClockRate;
    prop->memoryBusWidth = p->memoryBusWidth;
    prop->totalConstMem = p->totalConstMem;
    prop->major = p->major;
    prop->minor = p->minor;
    prop->multiProcessorCount = p->multiProcessorCount;
    prop->l2CacheSize = p->l2CacheSize;
    prop->maxThreadsPerMultiProcessor = p->maxThreadsPerMultiProcessor;
    prop->computeMode = p->computeMode;
    prop->clockInstructionRate = p->clockInstructionRate;
    prop->arch = p->arch;
    prop->concurrentKernels = p->concurrentKernels;
    prop->pciDomainID = p->pciDomainID;
    prop->pciBusID = p->pciBusID;
    prop->pciDeviceID = p->pciDeviceID;
    prop->maxSharedMemoryPerMultiProcessor = p->maxSharedMemoryPerMultiProcessor;
    prop->isMultiGpuBoard = p->isMultiGpuBoard;
    prop->canMapHostMemory = p->canMapHostMemory;
    prop->gcnArch = p->gcnArch;
    memcpy(prop->gcnArchName, p->gcnArchName, sizeof prop->gcnArchName);
    prop->integrated = p->integrated;
    prop->cooperativeLaunch = p->cooperativeLaunch;
    prop->cooperativeMultiDeviceLaunch = p->cooperativeMultiDeviceLaunch;
    prop->maxTexture1DLinear = p->maxTexture1DLinear;
    prop->maxTexture1D = p->maxTexture1D;
    memcpy(prop->maxTexture2D, p->maxTexture2D, sizeof prop->maxTexture2D);
    memcpy(prop->maxTexture3D, p->maxTexture3D, sizeof prop->maxTexture3D);
    prop->memPitch = p->memPitch;
    prop->textureAlignment = p->textureAlignment;
    prop->texturePitchAlignment = p->texturePitchAlignment;
    prop->kernelExecTimeoutEnabled = p->kernelExecTimeoutEnabled;
    prop->ECCEnabled = p->ECCEnabled;
    prop->tccDriver = p->tccDriver;
    prop->cooperativeMultiDeviceUnmatchedFunc = p->cooperativeMultiDeviceUnmatchedFunc;
    prop->cooperativeMultiDeviceUnmatchedGridDim = p->cooperativeMultiDeviceUnmatchedGridDim;
    prop->cooperativeMultiDeviceUnmatchedBlockDim = p->cooperativeMultiDeviceUnmatchedBlockDim;
    prop->cooperativeMultiDeviceUnmatchedSharedMem = p->cooperativeMultiDeviceUnmatchedSharedMem;
    prop->isLargeBar = p->isLargeBar;
    prop->asicRevision = p->asicRevision;
    prop->managedMemory = p->managedMemory;
    prop->directManagedMemAccessFromHost = p->directManagedMemAccessFromHost;
    prop->concurrentManagedAccess = p->concurrentManagedAccess;
    prop->pageableMemoryAccess = p->pageableMemoryAccess;
    prop->pageableMemoryAccessUsesHostPageTables = p->pageableMemoryAccessUsesHostPageTables;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipChooseDeviceR0000(int *device, const hipDeviceProp_tR0000 *prop)
{
    hipDeviceProp_tR0600 wanted = {0};

    if (!device || !prop)
        return hip_return(hipErrorInvalidValue);
    wanted.major = prop->major;
    wanted.minor = prop->minor;
    wanted.totalGlobalMem = prop->totalGlobalMem;
    wanted.sharedMemPerBlock = prop->sharedMemPerBlock;
    wanted.multiProcessorCount = prop->multiProcessorCount;
    wanted.maxThreadsPerBlock = prop->maxThreadsPerBlock;
    wanted.clockRate = prop->clockRate;
    return hipChooseDeviceR0600(device, &wanted);
}

/* The headers of today turn these names into ...R0600; programs of before ROCm 6 ask for the plain ones. */
#undef hipGetDeviceProperties
#undef hipChooseDevice
HIP_ALIAS(hipGetDevicePropertiesR0000, hipGetDeviceProperties);
HIP_ALIAS(hipChooseDeviceR0000, hipChooseDevice);

/* ---- profiler ------------------------------------------------------------------------------------------ */

/* ROCm deprecated these: they return hipErrorNotSupported there too, without a word.  EHP_FABRIC goes by
 * them. */
HIP_ENTRY hipError_t hipProfilerStart(void)
{
    (void)hip_open(); /* cores of a package without a GPU are busy too */
    hip_fabric_start();
    return hip_return(hipErrorNotSupported);
}

HIP_ENTRY hipError_t hipProfilerStop(void)
{
    hip_fabric_stop();
    return hip_return(hipErrorNotSupported);
}

/* ---- half precision, as compilers' runtime libraries name it ------------------------------------------- */

float __gnu_h2f_ieee(unsigned short half);
unsigned short __gnu_f2h_ieee(float value);

HIP_ENTRY float __gnu_h2f_ieee(unsigned short half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, fraction = half & 0x3ff,
             bits;
    float value;

    if (exponent == 0x1f) {
        bits = sign | 0x7f800000 | fraction << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds to nearest, ties to even. */
HIP_ENTRY unsigned short __gnu_f2h_ieee(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) /* NaN stays one */
        return (unsigned short)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 0x47800000) /* 65536 and more: infinity */
        return (unsigned short)(sign | 0x7c00);
    if (magnitude < 0x33000000) /* at most half of the least subnormal */
        return (unsigned short)sign;
    uint32_t exponent = magnitude >> 23, fraction = (magnitude & 0x7fffff) | 0x800000;
    unsigned shift = exponent > 112 ? 13 : 126 - exponent;
    uint32_t kept = fraction >> shift, lost = fraction & ((UINT32_C(1) << shift) - 1),
             half = UINT32_C(1) << (shift - 1);
    uint32_t result = exponent > 112 ? ((exponent - 112) << 10) + (kept - 0x400) : kept;
    if (lost > half || (lost == half && (result & 1)))
        result++;
    return (unsigned short)(sign | result);
}

/* ---- names for tools ----------------------------------------------------------------------------------- */

const char *hipGetCmdName(unsigned op);
const char *amd_dbgapi_get_build_name(void);
const char *amd_dbgapi_get_git_hash(void);
size_t amd_dbgapi_get_build_id(void);
void __hipGetPCH(const char **pch, unsigned int *size);

HIP_ENTRY const char *hipGetCmdName(unsigned op)
{
    static const char *const names[] = {"Marker", "Kernel", "Copy", "Fill"};
    return op < sizeof names / sizeof *names ? names[op] : "Unknown";
}

HIP_ENTRY const char *amd_dbgapi_get_build_name(void)
{
    return "ehp";
}

HIP_ENTRY const char *amd_dbgapi_get_git_hash(void)
{
    return "";
}

HIP_ENTRY size_t amd_dbgapi_get_build_id(void)
{
    return 0;
}

/* The precompiled headers for hipRTC: there are none, it includes the headers. */
HIP_ENTRY void __hipGetPCH(const char **pch, unsigned int *size)
{
    *pch = NULL;
    *size = 0;
}
