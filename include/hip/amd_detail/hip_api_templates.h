// SPDX-License-Identifier: MIT
// The C++ face of the host API: typed pointers, symbols by name, kernels by name. Each forwards to the C
// call. Part of hip_runtime_api.h; include that.
#ifndef HIP_AMD_DETAIL_HIP_API_TEMPLATES_H
#define HIP_AMD_DETAIL_HIP_API_TEMPLATES_H

#include <type_traits>

// Allocation into a pointer of any type.
template <typename T> static inline hipError_t hipMalloc(T **devPtr, size_t size)
{
    return hipMalloc(reinterpret_cast<void **>(devPtr), size);
}
template <typename T>
static inline hipError_t hipMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height)
{
    return hipMallocPitch(reinterpret_cast<void **>(devPtr), pitch, width, height);
}
template <typename T>
static inline hipError_t hipMallocManaged(T **devPtr, size_t size, unsigned int flags = hipMemAttachGlobal)
{
    return hipMallocManaged(reinterpret_cast<void **>(devPtr), size, flags);
}
template <typename T>
static inline hipError_t hipHostMalloc(T **ptr, size_t size, unsigned int flags = hipHostMallocDefault)
{
    return hipHostMalloc(reinterpret_cast<void **>(ptr), size, flags);
}
template <typename T>
static inline hipError_t hipHostAlloc(T **ptr, size_t size, unsigned int flags = hipHostAllocDefault)
{
    return hipHostAlloc(reinterpret_cast<void **>(ptr), size, flags);
}
template <typename T> static inline hipError_t hipMallocHost(T **ptr, size_t size)
{
    return hipMallocHost(reinterpret_cast<void **>(ptr), size);
}
template <typename T>
static inline hipError_t hipHostGetDevicePointer(T **devPtr, void *hostPtr, unsigned int flags)
{
    return hipHostGetDevicePointer(reinterpret_cast<void **>(devPtr), hostPtr, flags);
}
template <typename T> static inline hipError_t hipExtMallocWithFlags(T **ptr, size_t size, unsigned int flags)
{
    return hipExtMallocWithFlags(reinterpret_cast<void **>(ptr), size, flags);
}
template <typename T> static inline hipError_t hipMallocAsync(T **devPtr, size_t size, hipStream_t stream)
{
    return hipMallocAsync(reinterpret_cast<void **>(devPtr), size, stream);
}
static inline hipError_t hipMallocAsync(void **devPtr, size_t size, hipMemPool_t pool, hipStream_t stream)
{
    return hipMallocFromPoolAsync(devPtr, size, pool, stream);
}
template <typename T>
static inline hipError_t hipMallocAsync(T **devPtr, size_t size, hipMemPool_t pool, hipStream_t stream)
{
    return hipMallocFromPoolAsync(reinterpret_cast<void **>(devPtr), size, pool, stream);
}
template <typename T>
static inline hipError_t hipMallocFromPoolAsync(T **devPtr, size_t size, hipMemPool_t pool,
                                                hipStream_t stream)
{
    return hipMallocFromPoolAsync(reinterpret_cast<void **>(devPtr), size, pool, stream);
}

// Device variables by name: what the runtime knows them by is the address of their host shadow.
template <typename T> static inline hipError_t hipGetSymbolAddress(void **devPtr, const T &symbol)
{
    return hipGetSymbolAddress(devPtr, reinterpret_cast<const void *>(&symbol));
}
template <typename T> static inline hipError_t hipGetSymbolSize(size_t *size, const T &symbol)
{
    return hipGetSymbolSize(size, reinterpret_cast<const void *>(&symbol));
}
template <typename T>
static inline hipError_t hipMemcpyToSymbol(const T &symbol, const void *src, size_t sizeBytes,
                                           size_t offset = 0, hipMemcpyKind kind = hipMemcpyHostToDevice)
{
    return hipMemcpyToSymbol(reinterpret_cast<const void *>(&symbol), src, sizeBytes, offset, kind);
}
template <typename T>
static inline hipError_t hipMemcpyToSymbolAsync(const T &symbol, const void *src, size_t sizeBytes,
                                                size_t offset, hipMemcpyKind kind, hipStream_t stream = 0)
{
    return hipMemcpyToSymbolAsync(reinterpret_cast<const void *>(&symbol), src, sizeBytes, offset, kind,
                                  stream);
}
template <typename T>
static inline hipError_t hipMemcpyFromSymbol(void *dst, const T &symbol, size_t sizeBytes, size_t offset = 0,
                                             hipMemcpyKind kind = hipMemcpyDeviceToHost)
{
    return hipMemcpyFromSymbol(dst, reinterpret_cast<const void *>(&symbol), sizeBytes, offset, kind);
}
template <typename T>
static inline hipError_t hipMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t sizeBytes, size_t offset,
                                                  hipMemcpyKind kind, hipStream_t stream = 0)
{
    return hipMemcpyFromSymbolAsync(dst, reinterpret_cast<const void *>(&symbol), sizeBytes, offset, kind,
                                    stream);
}

// Kernels by name. A function does not convert to const void * by itself.
template <typename T, typename std::enable_if<std::is_function<T>::value, int>::type = 0>
static inline hipError_t hipLaunchKernel(T *kernel, dim3 numBlocks, dim3 dimBlocks, void **args,
                                         size_t sharedMemBytes = 0, hipStream_t stream = 0)
{
    return hipLaunchKernel(reinterpret_cast<const void *>(kernel), numBlocks, dimBlocks, args, sharedMemBytes,
                           stream);
}
template <typename T>
static inline hipError_t hipLaunchCooperativeKernel(T f, dim3 gridDim, dim3 blockDim, void **kernelParams,
                                                    unsigned int sharedMemBytes, hipStream_t stream)
{
    return hipLaunchCooperativeKernel(reinterpret_cast<const void *>(f), gridDim, blockDim, kernelParams,
                                      sharedMemBytes, stream);
}
template <typename T> static inline hipError_t hipFuncGetAttributes(hipFuncAttributes *attr, T *kernel)
{
    return hipFuncGetAttributes(attr, reinterpret_cast<const void *>(kernel));
}
template <typename T>
static inline hipError_t hipFuncSetAttribute(T *kernel, hipFuncAttribute attr, int value)
{
    return hipFuncSetAttribute(reinterpret_cast<const void *>(kernel), attr, value);
}
template <typename T> static inline hipError_t hipFuncSetCacheConfig(T *kernel, hipFuncCache_t config)
{
    return hipFuncSetCacheConfig(reinterpret_cast<const void *>(kernel), config);
}
template <typename T> static inline hipError_t hipFuncSetSharedMemConfig(T *kernel, hipSharedMemConfig config)
{
    return hipFuncSetSharedMemConfig(reinterpret_cast<const void *>(kernel), config);
}
template <typename T> static inline hipError_t hipGetFuncBySymbol(hipFunction_t *function, T *kernel)
{
    return hipGetFuncBySymbol(function, reinterpret_cast<const void *>(kernel));
}

// A kernel with its arguments, which become what its parameters are as they would in a call.
template <typename... Parameters, typename... Arguments>
static inline hipError_t hipLaunchKernelEx(const hipLaunchConfig_t *config, void (*kernel)(Parameters...),
                                           Arguments &&...arguments)
{
    return [&](Parameters... parameters) {
        void *pointers[] = {
            const_cast<void *>(static_cast<const volatile void *>(__builtin_addressof(parameters)))...,
            nullptr};
        return hipLaunchKernelExC(config, reinterpret_cast<const void *>(kernel), pointers);
    }(static_cast<Arguments &&>(arguments)...);
}

// Occupancy of a kernel by name.
template <typename F>
static inline hipError_t hipOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, F kernel,
                                                           size_t dynSharedMemPerBlk = 0,
                                                           int blockSizeLimit = 0)
{
    return hipOccupancyMaxPotentialBlockSize(gridSize, blockSize, reinterpret_cast<const void *>(kernel),
                                             dynSharedMemPerBlk, blockSizeLimit);
}
template <typename F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize, int *blockSize, F kernel,
                                                                    size_t dynSharedMemPerBlk = 0,
                                                                    int blockSizeLimit = 0,
                                                                    unsigned int flags = 0)
{
    (void)flags;
    return hipOccupancyMaxPotentialBlockSize(gridSize, blockSize, reinterpret_cast<const void *>(kernel),
                                             dynSharedMemPerBlk, blockSizeLimit);
}
template <typename F>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, F kernel, int blockSize,
                                                                      size_t dynSharedMemPerBlk)
{
    return hipOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, reinterpret_cast<const void *>(kernel),
                                                        blockSize, dynSharedMemPerBlk);
}
template <typename F>
static inline hipError_t
hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, F kernel, int blockSize,
                                                      size_t dynSharedMemPerBlk, unsigned int flags)
{
    return hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, reinterpret_cast<const void *>(kernel), blockSize, dynSharedMemPerBlk, flags);
}

// The block size whose waves fill most of a compute unit when shared memory depends on the block size:
// tried from the largest block downwards in steps of a wave.
template <typename UnaryFunction, typename F>
static inline hipError_t
hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *minGridSize, int *blockSize, F kernel,
                                                       UnaryFunction block_size_to_dynamic_smem_size,
                                                       int block_size_limit = 0, unsigned int flags = 0)
{
    if (minGridSize == nullptr || blockSize == nullptr || reinterpret_cast<const void *>(kernel) == nullptr)
        return hipErrorInvalidValue;
    int device;
    hipError_t status = hipGetDevice(&device);
    if (status != hipSuccess)
        return status;
    int max_threads, wave, units;
    status = hipDeviceGetAttribute(&max_threads, hipDeviceAttributeMaxThreadsPerBlock, device);
    if (status == hipSuccess)
        status = hipDeviceGetAttribute(&wave, hipDeviceAttributeWarpSize, device);
    if (status == hipSuccess)
        status = hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
    hipFuncAttributes attr;
    if (status == hipSuccess)
        status = hipFuncGetAttributes(&attr, reinterpret_cast<const void *>(kernel));
    if (status != hipSuccess)
        return status;
    int limit = attr.maxThreadsPerBlock < max_threads ? attr.maxThreadsPerBlock : max_threads;
    if (block_size_limit > 0 && block_size_limit < limit)
        limit = block_size_limit;
    int best_threads = 0;
    for (int size = (limit + wave - 1) / wave * wave; size > 0; size -= wave) {
        const int threads = size < limit ? size : limit;
        int blocks = 0;
        status = hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, reinterpret_cast<const void *>(kernel), threads,
            static_cast<size_t>(block_size_to_dynamic_smem_size(threads)), flags);
        if (status != hipSuccess)
            return status;
        if (blocks * threads > best_threads) {
            best_threads = blocks * threads;
            *blockSize = threads;
            *minGridSize = blocks * units;
        }
        if (best_threads >= max_threads * 2)
            break;
    }
    return best_threads > 0 ? hipSuccess : hipErrorInvalidConfiguration;
}
template <typename UnaryFunction, typename F>
static inline hipError_t
hipOccupancyMaxPotentialBlockSizeVariableSMem(int *minGridSize, int *blockSize, F kernel,
                                              UnaryFunction block_size_to_dynamic_smem_size,
                                              int block_size_limit = 0)
{
    return hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, kernel,
                                                                  block_size_to_dynamic_smem_size,
                                                                  block_size_limit, hipOccupancyDefault);
}

// Several devices at once.
template <typename T>
static inline hipError_t hipLaunchCooperativeKernelMultiDevice(T *launchParamsList, unsigned int numDevices,
                                                               unsigned int flags = 0)
{
    return hipLaunchCooperativeKernelMultiDevice(reinterpret_cast<hipLaunchParams *>(launchParamsList),
                                                 static_cast<int>(numDevices), flags);
}

// Texture references.
template <class T, int dim, enum hipTextureReadMode mode>
static inline hipError_t hipBindTexture(size_t *offset, const texture<T, dim, mode> &tex, const void *devPtr,
                                        const hipChannelFormatDesc &desc, size_t size = UINT_MAX)
{
    return hipBindTexture(offset, static_cast<const textureReference *>(&tex), devPtr, &desc, size);
}
template <class T, int dim, enum hipTextureReadMode mode>
static inline hipError_t hipBindTexture(size_t *offset, const texture<T, dim, mode> &tex, const void *devPtr,
                                        size_t size = UINT_MAX)
{
    return hipBindTexture(offset, static_cast<const textureReference *>(&tex), devPtr, &tex.channelDesc,
                          size);
}
template <class T, int dim, enum hipTextureReadMode mode>
static inline hipError_t hipBindTexture2D(size_t *offset, const texture<T, dim, mode> &tex,
                                          const void *devPtr, const hipChannelFormatDesc &desc, size_t width,
                                          size_t height, size_t pitch)
{
    return hipBindTexture2D(offset, static_cast<const textureReference *>(&tex), devPtr, &desc, width, height,
                            pitch);
}
template <class T, int dim, enum hipTextureReadMode mode>
static inline hipError_t hipBindTexture2D(size_t *offset, const texture<T, dim, mode> &tex,
                                          const void *devPtr, size_t width, size_t height, size_t pitch)
{
    return hipBindTexture2D(offset, static_cast<const textureReference *>(&tex), devPtr, &tex.channelDesc,
                            width, height, pitch);
}
template <class T, int dim, enum hipTextureReadMode mode>
static inline hipError_t hipBindTextureToArray(const texture<T, dim, mode> &tex, hipArray_const_t array,
                                               const hipChannelFormatDesc &desc)
{
    return hipBindTextureToArray(static_cast<const textureReference *>(&tex), array, &desc);
}
template <class T, int dim, enum hipTextureReadMode mode>
static inline hipError_t hipBindTextureToArray(const texture<T, dim, mode> &tex, hipArray_const_t array)
{
    hipChannelFormatDesc desc;
    const hipError_t status = hipGetChannelDesc(&desc, array);
    return status == hipSuccess
               ? hipBindTextureToArray(static_cast<const textureReference *>(&tex), array, &desc)
               : status;
}
template <class T, int dim, enum hipTextureReadMode mode>
static inline hipError_t hipBindTextureToMipmappedArray(const texture<T, dim, mode> &tex,
                                                        hipMipmappedArray_const_t mipmappedArray,
                                                        const hipChannelFormatDesc &desc)
{
    return hipBindTextureToMipmappedArray(static_cast<const textureReference *>(&tex), mipmappedArray, &desc);
}
template <class T, int dim, enum hipTextureReadMode mode>
static inline hipError_t hipUnbindTexture(const texture<T, dim, mode> &tex)
{
    return hipUnbindTexture(static_cast<const textureReference *>(&tex));
}
template <class T, int dim, enum hipTextureReadMode mode>
static inline hipError_t hipGetTextureAlignmentOffset(size_t *offset, const texture<T, dim, mode> &tex)
{
    return hipGetTextureAlignmentOffset(offset, static_cast<const textureReference *>(&tex));
}

#endif
