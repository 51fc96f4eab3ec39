// SPDX-License-Identifier: MIT
// AMD's additions to the launch calls: events around one launch, launches in threads instead of blocks.
#ifndef HIP_INCLUDE_HIP_HIP_EXT_H
#define HIP_INCLUDE_HIP_HIP_EXT_H

#include <hip/hip_runtime.h>

#if defined(__cplusplus) && !defined(__HIPCC_RTC__)
#include <tuple>
#include <utility>

extern "C" {
// The grid is given in threads and need not be a multiple of the block.
hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX,
                                    uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                    hipStream_t hStream, void **kernelParams, void **extra,
                                    hipEvent_t startEvent = nullptr, hipEvent_t stopEvent = nullptr,
                                    uint32_t flags = 0);

[[deprecated("use hipExtModuleLaunchKernel instead")]]
hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX,
                                    uint32_t localWorkSizeY, uint32_t localWorkSizeZ, size_t sharedMemBytes,
                                    hipStream_t hStream, void **kernelParams, void **extra,
                                    hipEvent_t startEvent = nullptr, hipEvent_t stopEvent = nullptr);
}

#if __HIP_CLANG_ONLY__ && __cplusplus >= 201402L
template <typename... Formals, std::size_t... indices>
inline void __hip_ext_launch(void (*kernel)(Formals...), const dim3 &numBlocks, const dim3 &dimBlocks,
                             uint32_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent,
                             hipEvent_t stopEvent, uint32_t flags,
                             std::tuple<typename std::decay<Formals>::type...> arguments,
                             std::index_sequence<indices...>)
{
    void *pointers[sizeof...(indices) + 1] = {static_cast<void *>(&std::get<indices>(arguments))..., nullptr};
    (void)hipExtLaunchKernel(reinterpret_cast<const void *>(kernel), numBlocks, dimBlocks, pointers,
                             sharedMemBytes, stream, startEvent, stopEvent, static_cast<int>(flags));
}
// The arguments are converted to what the kernel declares before their addresses are taken.
template <typename... Formals, typename... Args>
inline void hipExtLaunchKernelGGL(void (*kernel)(Formals...), const dim3 &numBlocks, const dim3 &dimBlocks,
                                  uint32_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent,
                                  hipEvent_t stopEvent, uint32_t flags, Args... args)
{
    static_assert(sizeof...(Formals) == sizeof...(Args), "the kernel takes another number of arguments");
    __hip_ext_launch(kernel, numBlocks, dimBlocks, sharedMemBytes, stream, startEvent, stopEvent, flags,
                     std::tuple<typename std::decay<Formals>::type...>(
                         static_cast<typename std::decay<Formals>::type>(args)...),
                     std::make_index_sequence<sizeof...(Formals)>());
}
#endif

template <typename T>
static inline hipError_t hipExtLaunchKernel(T *kernel, dim3 numBlocks, dim3 dimBlocks, void **args,
                                            size_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent,
                                            hipEvent_t stopEvent, int flags)
{
    return hipExtLaunchKernel(reinterpret_cast<const void *>(kernel), numBlocks, dimBlocks, args,
                              sharedMemBytes, stream, startEvent, stopEvent, flags);
}
#endif

#endif
