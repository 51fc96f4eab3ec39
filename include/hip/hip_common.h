// SPDX-License-Identifier: MIT
// Which compiler and which platform: the macros every other HIP header asks for.
#ifndef HIP_INCLUDE_HIP_HIP_COMMON_H
#define HIP_INCLUDE_HIP_HIP_COMMON_H

// hipcc defines these on its command line; a plain `clang -x hip` or a host compiler does not.
#if !defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_NVIDIA__)
#define __HIP_PLATFORM_AMD__ 1
#endif
#if defined(__HIP_PLATFORM_NVIDIA__)
#error "These headers describe AMD devices only; do not define __HIP_PLATFORM_NVIDIA__"
#endif
#if !defined(__HIP_PLATFORM_HCC__)
#define __HIP_PLATFORM_HCC__ 1
#endif

// __HIP_CLANG_ONLY__ is set when clang compiles HIP, in the host pass and in the device pass.
#if defined(__clang__) && defined(__HIP__)
#define __HIP_CLANG_ONLY__ 1
#else
#define __HIP_CLANG_ONLY__ 0
#endif
#if __HIP_CLANG_ONLY__ && !defined(__HIPCC__)
#define __HIPCC__ 1
#endif

// clang predefines __HIP_DEVICE_COMPILE__ in the device pass and nowhere else; programs ask with #ifdef, so
// it must stay undefined there. This one is always a number.
#if defined(__HIP_DEVICE_COMPILE__)
#define __HIP_DEVICE_PASS__ 1
#else
#define __HIP_DEVICE_PASS__ 0
#endif

// Feature macros of the device, 0 in the host pass as the HIP programming manual says.
#if __HIP_DEVICE_PASS__
#define __HIP_ARCH_HAS_GLOBAL_INT32_ATOMICS__     1
#define __HIP_ARCH_HAS_GLOBAL_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_SHARED_INT32_ATOMICS__     1
#define __HIP_ARCH_HAS_SHARED_FLOAT_ATOMIC_EXCH__ 1
#define __HIP_ARCH_HAS_FLOAT_ATOMIC_ADD__         1
#define __HIP_ARCH_HAS_GLOBAL_INT64_ATOMICS__     1
#define __HIP_ARCH_HAS_SHARED_INT64_ATOMICS__     1
#define __HIP_ARCH_HAS_DOUBLES__                  1
#define __HIP_ARCH_HAS_WARP_VOTE__                1
#define __HIP_ARCH_HAS_WARP_BALLOT__              1
#define __HIP_ARCH_HAS_WARP_SHUFFLE__             1
#define __HIP_ARCH_HAS_WARP_FUNNEL_SHIFT__        0
#define __HIP_ARCH_HAS_THREAD_FENCE_SYSTEM__      1
#define __HIP_ARCH_HAS_SYNC_THREAD_EXT__          0
#define __HIP_ARCH_HAS_SURFACE_FUNCS__            0
#define __HIP_ARCH_HAS_3DGRID__                   1
#define __HIP_ARCH_HAS_DYNAMIC_PARALLEL__         0
#else
#define __HIP_ARCH_HAS_GLOBAL_INT32_ATOMICS__     0
#define __HIP_ARCH_HAS_GLOBAL_FLOAT_ATOMIC_EXCH__ 0
#define __HIP_ARCH_HAS_SHARED_INT32_ATOMICS__     0
#define __HIP_ARCH_HAS_SHARED_FLOAT_ATOMIC_EXCH__ 0
#define __HIP_ARCH_HAS_FLOAT_ATOMIC_ADD__         0
#define __HIP_ARCH_HAS_GLOBAL_INT64_ATOMICS__     0
#define __HIP_ARCH_HAS_SHARED_INT64_ATOMICS__     0
#define __HIP_ARCH_HAS_DOUBLES__                  0
#define __HIP_ARCH_HAS_WARP_VOTE__                0
#define __HIP_ARCH_HAS_WARP_BALLOT__              0
#define __HIP_ARCH_HAS_WARP_SHUFFLE__             0
#define __HIP_ARCH_HAS_WARP_FUNNEL_SHIFT__        0
#define __HIP_ARCH_HAS_THREAD_FENCE_SYSTEM__      0
#define __HIP_ARCH_HAS_SYNC_THREAD_EXT__          0
#define __HIP_ARCH_HAS_SURFACE_FUNCS__            0
#define __HIP_ARCH_HAS_3DGRID__                   0
#define __HIP_ARCH_HAS_DYNAMIC_PARALLEL__         0
#endif

#include <hip/hip_version.h>

#endif
