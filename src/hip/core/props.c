/* SPDX-License-Identifier: MIT */
/*
 * Device properties and attributes.  Counts, sizes and clocks come from the
 * chip through ehp_agent_info(); the rest is what ROCm 6 reports for gfx942
 * (HIP API reference, hipDeviceProp_t; CDNA3 ISA for the limits).
 */
#include "hip/core/device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int props_int(uint64_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

static void props_textures(hipDeviceProp_tR0600 *p)
{
    /* CDNA has no image hardware; ROCm still reports the limits of its image runtime. */
    p->textureAlignment = 256;
    p->texturePitchAlignment = 256;
    p->surfaceAlignment = 256;
    p->maxTexture1D = 16384;
    p->maxTexture1DLinear = 134217728;
    p->maxTexture2D[0] = p->maxTexture2D[1] = 16384;
    p->maxTexture3D[0] = p->maxTexture3D[1] = 16384;
    p->maxTexture3D[2] = 8192;
}

static void props_arch(hipDeviceProp_tR0600 *p)
{
    p->arch.hasGlobalInt32Atomics = 1;
    p->arch.hasGlobalFloatAtomicExch = 1;
    p->arch.hasSharedInt32Atomics = 1;
    p->arch.hasSharedFloatAtomicExch = 1;
    p->arch.hasFloatAtomicAdd = 1;
    p->arch.hasGlobalInt64Atomics = 1;
    p->arch.hasSharedInt64Atomics = 1;
    p->arch.hasDoubles = 1;
    p->arch.hasWarpVote = 1;
    p->arch.hasWarpBallot = 1;
    p->arch.hasWarpShuffle = 1;
    p->arch.hasFunnelShift = 0;
    p->arch.hasThreadFenceSystem = 1;
    p->arch.hasSyncThreadsExt = 0;
    p->arch.hasSurfaceFuncs = 0;
    p->arch.has3dGrid = 1;
    p->arch.hasDynamicParallelism = 0;
}

/* "gfx942" is version 9.4.2: the last two are digits to the base 16, as in "gfx90a". */
static void fill_version(hipDeviceProp_tR0600 *p, const char *isa)
{
    char digits[16] = "000";
    size_t count = strcspn(isa, ":");
    if (count > 5 && count < sizeof digits)
        snprintf(digits, sizeof digits, "%.*s", (int)(count - 3), isa + 3);
    count = strlen(digits);
    const int stepping = (int)strtol(digits + count - 1, NULL, 16);
    digits[count - 1] = '\0';
    p->minor = (int)strtol(digits + count - 2, NULL, 16);
    digits[count - 2] = '\0';
    p->major = (int)strtol(digits, NULL, 10);
    p->gcnArch = p->major * 100 + p->minor * 10 + stepping;
}

void hip_device_fill_props(struct hip_device *device)
{
    const struct ehp_agent_info *info = &device->info;
    hipDeviceProp_tR0600 *p = &device->props;
    int lds = props_int(info->lds_bytes);
    char uuid[17];

    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", info->name);
    snprintf(p->gcnArchName, sizeof p->gcnArchName, "%s", info->isa);
    fill_version(p, info->isa);
    snprintf(uuid, sizeof uuid, "%04x%04x%04x%04x", info->pci_id & 0xffff, info->pci_bus & 0xffff,
             info->pci_device & 0xffff, info->partition_index & 0xffff);
    memcpy(p->uuid.bytes, uuid, sizeof p->uuid.bytes);

    p->totalGlobalMem = info->memory_bytes;
    p->sharedMemPerBlock = (size_t)lds;
    p->regsPerBlock = 65536;
    p->warpSize = (int)info->wave_size;
    p->memPitch = INT_MAX;
    p->maxThreadsPerBlock = (int)info->workgroup_max;
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = (int)info->workgroup_max;
        p->maxGridSize[i] = props_int(info->grid_max[i]);
    }
    p->clockRate = props_int((uint64_t)info->clock_mhz * 1000);
    p->totalConstMem = INT_MAX;
    p->multiProcessorCount = (int)info->cus;
    p->integrated = info->apu;
    p->canMapHostMemory = 1;
    p->concurrentKernels = 1;
    p->ECCEnabled = 1;
    p->pciBusID = (int)info->pci_bus;
    p->pciDeviceID = (int)info->pci_device;
    p->pciDomainID = (int)info->pci_domain;
    p->asyncEngineCount = 8;
    p->unifiedAddressing = 1;
    p->memoryClockRate = props_int((uint64_t)info->memory_clock_mhz * 1000);
    p->memoryBusWidth = (int)info->memory_bus_bits;
    p->l2CacheSize = props_int(info->l2_bytes);
    p->maxThreadsPerMultiProcessor = (int)(info->simds_per_cu * info->waves_per_simd * info->wave_size);
    p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = 1;
    p->localL1CacheSupported = 1;
    p->sharedMemPerMultiprocessor = (size_t)lds * info->cus; /* of all: MT4G's results with ROCm */
    p->regsPerMultiprocessor = 65536;
    p->managedMemory = 1;
    p->hostNativeAtomicSupported = 1;
    p->pageableMemoryAccess = info->xnack;
    p->concurrentManagedAccess = 1;
    p->canUseHostPointerForRegisteredMem = 1;
    p->cooperativeLaunch = 1;
    p->cooperativeMultiDeviceLaunch = 1;
    p->sharedMemPerBlockOptin = (size_t)lds;
    p->pageableMemoryAccessUsesHostPageTables = 0; /* the GPU has a page table of its own */
    p->directManagedMemAccessFromHost = 1;
    p->maxBlocksPerMultiProcessor = (int)(info->simds_per_cu * info->waves_per_simd);
    p->hostRegisterSupported = 1;
    p->memoryPoolsSupported = 1;
    p->unifiedFunctionPointers = 1;
    p->maxSharedMemoryPerMultiProcessor = (size_t)lds;
    p->clockInstructionRate = props_int((uint64_t)info->timestamp_mhz * 1000);
    p->cooperativeMultiDeviceUnmatchedFunc = 1;
    p->cooperativeMultiDeviceUnmatchedGridDim = 1;
    p->cooperativeMultiDeviceUnmatchedBlockDim = 1;
    p->cooperativeMultiDeviceUnmatchedSharedMem = 1;
    p->isLargeBar = 1;
    props_textures(p);
    props_arch(p);
}

static hipError_t props_attribute(int *value, hipDeviceAttribute_t attribute, const struct hip_device *device)
{
    const hipDeviceProp_tR0600 *p = &device->props;

    switch ((int)attribute) {
#define ATTRIBUTE(name, expression)                                                                          \
    case hipDeviceAttribute##name:                                                                           \
        *value = props_int((uint64_t)(expression));                                                          \
        return hipSuccess;
#include "hip/core/attributes.def"
#undef ATTRIBUTE
    case hipDeviceAttributeHdpMemFlushCntl:
    case hipDeviceAttributeHdpRegFlushCntl:
        memset(value, 0, sizeof(void *)); /* the out parameter is an address here; there is no register */
        return hipSuccess;
    default:
        return hipErrorInvalidValue;
    }
}

HIP_ENTRY hipError_t hipDeviceGetAttribute(int *pi, hipDeviceAttribute_t attr, int deviceId)
{
    struct hip_device *device;

    if (!pi)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(deviceId, &device);
    if (error != hipSuccess)
        return hip_return(error);
    return hip_return(props_attribute(pi, attr, device));
}

HIP_ENTRY hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *prop, int deviceId)
{
    struct hip_device *device;

    if (!prop)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(deviceId, &device);
    if (error == hipSuccess)
        *prop = device->props;
    return hip_return(error);
}
