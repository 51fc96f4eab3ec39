// SPDX-License-Identifier: MIT
// The device language: built-in variables, launch macros, printf and assert, and the function groups.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_RUNTIME_H

#include <hip/hip_common.h>

#if __HIP_CLANG_ONLY__

#include <hip/amd_detail/host_defines.h>
#include <hip/amd_detail/device_library_decls.h>
#include <hip/amd_detail/hip_dim3.h>
#include <hip/hip_vector_types.h>

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(X)        X
typedef int hipLaunchParm;

// Dynamic shared memory is the storage after the static shared variables of a kernel.
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE

#if !defined(__HIPCC_RTC__)
// The kernel's name is put in parentheses so that a template's commas survive the second macro.
#define hipLaunchKernelGGLInternal(kernelName, numBlocks, numThreads, memPerBlock, streamId, ...)            \
    do {                                                                                                     \
        kernelName<<<(numBlocks), (numThreads), (memPerBlock), (streamId)>>>(__VA_ARGS__);                   \
    } while (0)
#define hipLaunchKernelGGL(kernelName, ...) hipLaunchKernelGGLInternal((kernelName), __VA_ARGS__)
#define GENERIC_GRID_LAUNCH                 1
#endif

// threadIdx, blockIdx, blockDim, gridDim: no storage, each member reads the hardware when it is named.
#define __HIP_COORDINATE(type, read_x, read_y, read_z)                                                       \
    struct type {                                                                                            \
        __declspec(property(get = __get_x)) uint32_t x;                                                      \
        __declspec(property(get = __get_y)) uint32_t y;                                                      \
        __declspec(property(get = __get_z)) uint32_t z;                                                      \
        static inline __device__ __attribute__((always_inline)) uint32_t __get_x()                           \
        {                                                                                                    \
            return read_x;                                                                                   \
        }                                                                                                    \
        static inline __device__ __attribute__((always_inline)) uint32_t __get_y()                           \
        {                                                                                                    \
            return read_y;                                                                                   \
        }                                                                                                    \
        static inline __device__ __attribute__((always_inline)) uint32_t __get_z()                           \
        {                                                                                                    \
            return read_z;                                                                                   \
        }                                                                                                    \
        __device__ operator dim3() const                                                                     \
        {                                                                                                    \
            return dim3(__get_x(), __get_y(), __get_z());                                                    \
        }                                                                                                    \
        __device__ operator uint3() const                                                                    \
        {                                                                                                    \
            return uint3(__get_x(), __get_y(), __get_z());                                                   \
        }                                                                                                    \
        __device__ operator int3() const                                                                     \
        {                                                                                                    \
            return int3(__get_x(), __get_y(), __get_z());                                                    \
        }                                                                                                    \
    }
__HIP_COORDINATE(__hip_builtin_threadIdx_t, __builtin_amdgcn_workitem_id_x(),
                 __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z());
__HIP_COORDINATE(__hip_builtin_blockIdx_t, __builtin_amdgcn_workgroup_id_x(),
                 __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z());
__HIP_COORDINATE(__hip_builtin_blockDim_t, __builtin_amdgcn_workgroup_size_x(),
                 __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z());
// The library function knows how each code object version passes the block count.
__HIP_COORDINATE(__hip_builtin_gridDim_t, static_cast<uint32_t>(__ockl_get_num_groups(0)),
                 static_cast<uint32_t>(__ockl_get_num_groups(1)),
                 static_cast<uint32_t>(__ockl_get_num_groups(2)));
#undef __HIP_COORDINATE

extern const __device__ __attribute__((weak)) __hip_builtin_threadIdx_t threadIdx;
extern const __device__ __attribute__((weak)) __hip_builtin_blockIdx_t blockIdx;
extern const __device__ __attribute__((weak)) __hip_builtin_blockDim_t blockDim;
extern const __device__ __attribute__((weak)) __hip_builtin_gridDim_t gridDim;

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x  blockIdx.x
#define hipBlockIdx_y  blockIdx.y
#define hipBlockIdx_z  blockIdx.z
#define hipBlockDim_x  blockDim.x
#define hipBlockDim_y  blockDim.y
#define hipBlockDim_z  blockDim.z
#define hipGridDim_x   gridDim.x
#define hipGridDim_y   gridDim.y
#define hipGridDim_z   gridDim.z

// clang turns a call of this into the printf messages of the device library.
extern "C" __device__ int printf(const char *format, ...);

static inline __device__ unsigned long __hip_string_length(const char *s)
{
    unsigned long n = 0;
    while (s[n] != 0)
        n++;
    return n + 1; // the terminator travels with the string
}

// What <assert.h> calls. One message in glibc's words, then the wave stops as hardware does.
extern "C" __device__ __attribute__((noinline, weak)) void
__assert_fail(const char *assertion, const char *file, unsigned int line, const char *function)
{
    unsigned long m = __ockl_fprintf_stderr_begin();
    const char *format = "%s:%u: %s: Device-side assertion `%s' failed.\n";
    m = __ockl_fprintf_append_string_n(m, format, __hip_string_length(format), 0);
    m = __ockl_fprintf_append_string_n(m, file, __hip_string_length(file), 0);
    m = __ockl_fprintf_append_args(m, 1, line, 0, 0, 0, 0, 0, 0, 0);
    m = __ockl_fprintf_append_string_n(m, function, __hip_string_length(function), 0);
    __ockl_fprintf_append_string_n(m, assertion, __hip_string_length(assertion), 1);
    __builtin_trap();
}

extern "C" __device__ __attribute__((noinline, weak)) void __assertfail()
{
    __builtin_trap();
}

extern "C" __device__ __attribute__((noinline, weak)) void abort()
{
    __builtin_trap();
}

#include <hip/amd_detail/amd_device_functions.h>
#include <hip/amd_detail/amd_hip_atomic.h>
#include <hip/amd_detail/amd_hip_unsafe_atomics.h>
#include <hip/amd_detail/amd_warp_functions.h>
#include <hip/amd_detail/amd_warp_sync_functions.h>
#include <hip/amd_detail/amd_math_functions.h>
#include <hip/amd_detail/hip_ldg.h>
#include <hip/amd_detail/texture_fetch_functions.h>

#endif

#endif
