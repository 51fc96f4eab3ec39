/* SPDX-License-Identifier: MIT */
/* What kernels need: attributes and occupancy. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "hip/core/launch.h"
#include "hip/core/size.h"

/* ---- occupancy ----------------------------------------------------------------------------------------- */

static unsigned function_min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Waves of a SIMD with so many registers, of which each wave takes some in whole granules. */
static unsigned function_waves(unsigned registers, unsigned wanted, unsigned granule)
{
    return wanted > registers ? 0 : registers / ((wanted + granule - 1) / granule * granule);
}

/*
 * Waves of a SIMD are limited by registers, which are allocated in blocks; workgroups by
 * LDS (LLVM AMDGPUUsage: granulated_workitem_vgpr_count; CDNA3 ISA, "Wave state").
 */
unsigned hip_occupancy(const struct ihipModuleSymbol_t *function, unsigned threads, size_t shared)
{
    const struct ehp_agent_info *info = &function->device->info;
    const struct ehp_kernel *kernel = &function->kernel;
    unsigned waves_per_simd = info->waves_per_simd;
    unsigned waves = (threads + info->wave_size - 1) / info->wave_size;

    if (kernel->vgprs)
        waves_per_simd = function_min(
            waves_per_simd, function_waves(info->vgprs_per_simd, kernel->vgprs, info->vgpr_granule));
    if (kernel->sgprs)
        waves_per_simd = function_min(
            waves_per_simd, function_waves(info->sgprs_per_simd, kernel->sgprs, info->sgpr_granule));
    if (!waves)
        return 0;
    unsigned groups = waves_per_simd * info->simds_per_cu / waves;
    uint64_t lds = size_add(kernel->group_bytes, shared);
    if (lds) {
        uint64_t by_lds = info->lds_bytes / lds;
        groups = by_lds < groups ? (unsigned)by_lds : groups;
    }
    return groups;
}

uint64_t hip_function_required(const struct ihipModuleSymbol_t *function)
{
    const uint32_t *size = function->kernel.reqd_workgroup_size;

    return size_mul(size_mul(size[0], size[1]), size[2]);
}

static hipError_t occupancy_blocks(int *blocks, const struct ihipModuleSymbol_t *function, int size,
                                   size_t shared)
{
    const uint64_t required = hip_function_required(function);

    if (!blocks || size <= 0)
        return hipErrorInvalidValue;
    if ((unsigned)size > function->device->info.workgroup_max ||
        (function->kernel.max_flat_workgroup_size &&
         (unsigned)size > function->kernel.max_flat_workgroup_size) ||
        (required && (unsigned)size != required))
        *blocks = 0;
    else
        *blocks = (int)hip_occupancy(function, (unsigned)size, shared);
    return hipSuccess;
}

/* The largest workgroup among those that keep the most waves on a CU. */
static hipError_t occupancy_best(int *grid, int *block, const struct ihipModuleSymbol_t *function,
                                 size_t shared, int limit)
{
    const struct ehp_agent_info *info = &function->device->info;
    const uint64_t required = hip_function_required(function);
    unsigned most = info->workgroup_max, best_size = 0, best_groups = 0, best_waves = 0;

    if (!grid || !block)
        return hipErrorInvalidValue;
    if (function->kernel.max_flat_workgroup_size)
        most = function_min(most, function->kernel.max_flat_workgroup_size);
    if (limit > 0) /* below is none, as with ROCm */
        most = function_min(most, (unsigned)limit);
    if (required && required < most)
        most = (unsigned)required;
    for (unsigned size = most; size;
         size = size > info->wave_size ? (size - 1) / info->wave_size * info->wave_size : 0) {
        if (required && size != required)
            continue;
        unsigned groups = hip_occupancy(function, size, shared);
        unsigned waves = groups * ((size + info->wave_size - 1) / info->wave_size);
        if (waves > best_waves) {
            best_size = size;
            best_groups = groups;
            best_waves = waves;
        }
    }
    *block = (int)best_size;
    *grid = (int)(best_groups * info->cus);
    return hipSuccess;
}

static hipError_t function_by_host(const void *host, struct ihipModuleSymbol_t **function)
{
    struct hip_device *device;

    if (!host)
        return hipErrorInvalidDeviceFunction;
    hipError_t error = hip_current(&device);
    return error == hipSuccess ? hip_function_of(host, device, function) : error;
}

HIP_ENTRY hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *f,
                                                                  int blockSize, size_t dynSharedMemPerBlk)
{
    struct ihipModuleSymbol_t *function;
    hipError_t error = numBlocks ? function_by_host(f, &function) : hipErrorInvalidValue;

    return hip_return(
        error == hipSuccess ? occupancy_blocks(numBlocks, function, blockSize, dynSharedMemPerBlk) : error);
}

HIP_ENTRY hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *f,
                                                                           int blockSize,
                                                                           size_t dynSharedMemPerBlk,
                                                                           unsigned int flags)
{
    if (flags > hipOccupancyDisableCachingOverride)
        return hip_return(hipErrorInvalidValue);
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, f, blockSize, dynSharedMemPerBlk);
}

HIP_ENTRY hipError_t hipOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, const void *f,
                                                       size_t dynSharedMemPerBlk, int blockSizeLimit)
{
    struct ihipModuleSymbol_t *function;
    hipError_t error = gridSize && blockSize ? function_by_host(f, &function) : hipErrorInvalidValue;

    return hip_return(error == hipSuccess
                          ? occupancy_best(gridSize, blockSize, function, dynSharedMemPerBlk, blockSizeLimit)
                          : error);
}

HIP_ENTRY hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, hipFunction_t f,
                                                                        int blockSize,
                                                                        size_t dynSharedMemPerBlk)
{
    if (!hip_handle_ok(HIP_KIND_FUNCTION, f))
        return hip_return(hipErrorInvalidValue);
    return hip_return(occupancy_blocks(numBlocks, f, blockSize, dynSharedMemPerBlk));
}

HIP_ENTRY hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, hipFunction_t f, int blockSize, size_t dynSharedMemPerBlk, unsigned int flags)
{
    if (flags > hipOccupancyDisableCachingOverride)
        return hip_return(hipErrorInvalidValue);
    return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, f, blockSize, dynSharedMemPerBlk);
}

HIP_ENTRY hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, hipFunction_t f,
                                                             size_t dynSharedMemPerBlk, int blockSizeLimit)
{
    if (!hip_handle_ok(HIP_KIND_FUNCTION, f))
        return hip_return(hipErrorInvalidValue);
    return hip_return(occupancy_best(gridSize, blockSize, f, dynSharedMemPerBlk, blockSizeLimit));
}

HIP_ENTRY hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize, int *blockSize,
                                                                      hipFunction_t f,
                                                                      size_t dynSharedMemPerBlk,
                                                                      int blockSizeLimit, unsigned int flags)
{
    if (flags > hipOccupancyDisableCachingOverride)
        return hip_return(hipErrorInvalidValue);
    return hipModuleOccupancyMaxPotentialBlockSize(gridSize, blockSize, f, dynSharedMemPerBlk,
                                                   blockSizeLimit);
}

/* ---- attributes ---------------------------------------------------------------------------------------- */

static unsigned function_max_threads(const struct ihipModuleSymbol_t *function)
{
    unsigned most = function->device->info.workgroup_max;
    unsigned own = function->kernel.max_flat_workgroup_size;

    return own && own < most ? own : most;
}

HIP_ENTRY hipError_t hipFuncGetAttributes(struct hipFuncAttributes *attr, const void *func)
{
    struct ihipModuleSymbol_t *function;

    if (!attr)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = function_by_host(func, &function);
    if (error != hipSuccess)
        return hip_return(error);
    memset(attr, 0, sizeof *attr);
    attr->binaryVersion = 94; /* major * 10 + minor */
    attr->localSizeBytes = function->kernel.private_bytes;
    attr->maxDynamicSharedSizeBytes = function->max_dynamic_shared;
    attr->maxThreadsPerBlock = (int)function_max_threads(function);
    attr->numRegs = (int)function->kernel.vgprs;
    attr->preferredShmemCarveout = function->shared_carveout;
    attr->ptxVersion = 94;
    attr->sharedSizeBytes = function->kernel.group_bytes;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attrib, hipFunction_t hfunc)
{
    if (!value)
        return hip_return(hipErrorInvalidValue);
    if (!hip_handle_ok(HIP_KIND_FUNCTION, hfunc))
        return hip_return(hipErrorInvalidResourceHandle);
    switch (attrib) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)function_max_threads(hfunc);
        break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)hfunc->kernel.group_bytes;
        break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        break;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = hfunc->shared_carveout;
        break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)hfunc->kernel.private_bytes;
        break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)hfunc->kernel.vgprs;
        break;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 94;
        break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = hfunc->max_dynamic_shared;
        break;
    default:
        return hip_return(hipErrorInvalidValue);
    }
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipFuncSetAttribute(const void *func, hipFuncAttribute attr, int value)
{
    struct ihipModuleSymbol_t *function;
    hipError_t error = function_by_host(func, &function);

    if (error != hipSuccess)
        return hip_return(error);
    if (attr == hipFuncAttributeMaxDynamicSharedMemorySize) {
        if (value < 0 || (uint64_t)value + function->kernel.group_bytes > function->device->info.lds_bytes)
            return hip_return(hipErrorInvalidValue);
        function->max_dynamic_shared = value;
    } else if (attr == hipFuncAttributePreferredSharedMemoryCarveout) {
        if (value < -1 || value > 100)
            return hip_return(hipErrorInvalidValue);
        function->shared_carveout = value;
    } else {
        return hip_return(hipErrorInvalidValue);
    }
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipFuncSetCacheConfig(const void *func, hipFuncCache_t config)
{
    struct ihipModuleSymbol_t *function;

    if ((unsigned)config > hipFuncCachePreferEqual)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = function_by_host(func, &function);
    /* LDS and cache are apart: nothing to divide. */
    return hip_return(error == hipSuccess ? hipErrorNotSupported : error);
}

HIP_ENTRY hipError_t hipFuncSetSharedMemConfig(const void *func, hipSharedMemConfig config)
{
    struct ihipModuleSymbol_t *function;

    if ((unsigned)config > hipSharedMemBankSizeEightByte)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = function_by_host(func, &function);
    /* Banks have one width. */
    return hip_return(error == hipSuccess ? hipErrorNotSupported : error);
}

HIP_ENTRY hipError_t hipGetFuncBySymbol(hipFunction_t *functionPtr, const void *symbolPtr)
{
    if (!functionPtr || !symbolPtr)
        return hip_return(hipErrorInvalidValue);
    return hip_return(function_by_host(symbolPtr, functionPtr));
}

/* ---- names --------------------------------------------------------------------------------------------- */

HIP_ENTRY const char *hipKernelNameRef(const hipFunction_t f)
{
    return hip_handle_ok(HIP_KIND_FUNCTION, f) ? f->kernel.name : NULL;
}

HIP_ENTRY const char *hipKernelNameRefByPtr(const void *hostFunction, hipStream_t stream)
{
    (void)stream;
    return hostFunction ? hip_symbol_name(hostFunction) : NULL;
}

/* The number of an entry point is its place in the profiler's tables, which are ROCm's own. */
HIP_ENTRY const char *hipApiName(uint32_t id)
{
    (void)id;
    return "unknown";
}

/* Names that the headers turn into versioned symbols. */
static const char *function_versioned(const char *symbol)
{
    if (!strcmp(symbol, "hipGetDeviceProperties"))
        return "hipGetDevicePropertiesR0600";
    if (!strcmp(symbol, "hipChooseDevice"))
        return "hipChooseDeviceR0600";
    return symbol;
}

/* With per_thread the null stream means the thread's. NULL: there is no such call. */
static void *function_entry(const char *symbol, bool per_thread)
{
    Dl_info self;
    void *found = NULL;

    if (dladdr((const void *)hipGetProcAddress, &self)) {
        void *library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        char name[128];
        int length = snprintf(name, sizeof name, "%s_spt", symbol);
        if (library) {
            if (per_thread && (size_t)length < sizeof name)
                found = dlsym(library, name);
            if (!found)
                found = dlsym(library, function_versioned(symbol));
            dlclose(library);
        }
    }
    return found;
}

HIP_ENTRY hipError_t hipGetProcAddress(const char *symbol, void **pfn, int hipVersion, uint64_t flags,
                                       hipDriverProcAddressQueryResult *symbolStatus)
{
    if (!symbol || !*symbol || !pfn || flags > hipEnablePerThreadDefaultStream)
        return hip_return(hipErrorInvalidValue);
    (void)hipVersion;
    *pfn = function_entry(symbol, flags == hipEnablePerThreadDefaultStream);
    if (symbolStatus)
        *symbolStatus = *pfn ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return hip_return(*pfn ? hipSuccess : hipErrorNotFound);
}

/* Who asks for the status is told by it alone that there is none. */
HIP_ENTRY hipError_t hipGetDriverEntryPoint(const char *symbol, void **funcPtr, unsigned long long flags,
                                            hipDriverEntryPointQueryResult *driverStatus)
{
    if (!symbol || !*symbol || !funcPtr || flags > hipEnablePerThreadDefaultStream)
        return hip_return(hipErrorInvalidValue);
    *funcPtr = function_entry(symbol, flags == hipEnablePerThreadDefaultStream);
    if (driverStatus)
        *driverStatus = *funcPtr ? hipDriverEntryPointSuccess : hipDriverEntryPointSymbolNotFound;
    return hip_return(*funcPtr || driverStatus ? hipSuccess : hipErrorNotFound);
}
