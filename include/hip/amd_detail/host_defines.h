// SPDX-License-Identifier: MIT
// The function and variable qualifiers of HIP. A host compiler that is not compiling HIP sees them as
// nothing, so that one header can serve .cpp and .hip files.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HOST_DEFINES_H

#include <hip/hip_common.h>

#if __HIP_CLANG_ONLY__
// The compiler's own half of the device library: qualifiers, math functions, malloc and free. clang includes
// it first by itself unless told -nogpuinc. It asks hip_version.h whether the device library has an
// allocator.
#include <__clang_hip_runtime_wrapper.h>
#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#ifndef __grid_constant__
#define __grid_constant__
#endif
// One argument is the most threads a block will have; HIP reads a second as waves per execution unit.
#define __hip_select_launch_bounds(_1, _2, name, ...) name
#define __hip_launch_bounds_1(threads)                __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __hip_launch_bounds_2(threads, waves)                                                                \
    __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#ifndef __launch_bounds__
#define __launch_bounds__(...)                                                                               \
    __hip_select_launch_bounds(__VA_ARGS__, __hip_launch_bounds_2, __hip_launch_bounds_1, )(__VA_ARGS__)
#endif
#else
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __global__
#define __global__
#endif
#ifndef __shared__
#define __shared__
#endif
#ifndef __constant__
#define __constant__
#endif
#ifndef __managed__
#define __managed__
#endif
#ifndef __grid_constant__
#define __grid_constant__
#endif
#ifndef __forceinline__
#define __forceinline__ inline
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
// GCC's C++ library spells __attribute__((__noinline__)), so this name may only be given to clang.
#endif

#ifndef __align__
#define __align__(bytes) __attribute__((aligned(bytes)))
#endif

#endif
