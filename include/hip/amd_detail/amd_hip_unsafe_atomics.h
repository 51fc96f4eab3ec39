// SPDX-License-Identifier: MIT
// safeAtomic*() and unsafeAtomic*(): the first keep to what every memory can do, the second tell the compiler
// that the address is ordinary device memory, so that it may use the hardware's floating-point atomics.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_UNSAFE_ATOMICS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_UNSAFE_ATOMICS_H

#include <hip/amd_detail/host_defines.h>

#if __has_extension(clang_atomic_attributes)
#define __HIP_ORDINARY_MEMORY                                                                                \
    [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]]
#define __HIP_ANY_MEMORY [[clang::atomic(remote_memory, fine_grained_memory, no_ignore_denormal_mode)]]
#else
#define __HIP_ORDINARY_MEMORY
#define __HIP_ANY_MEMORY
#endif

#define __HIP_FLOAT_ATOMIC(T, kind, attribute)                                                               \
    static inline __device__ T kind##AtomicAdd(T *address, T value)                                          \
    {                                                                                                        \
        attribute                                                                                            \
        {                                                                                                    \
            return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);       \
        }                                                                                                    \
    }                                                                                                        \
    static inline __device__ T kind##AtomicMax(T *address, T value)                                          \
    {                                                                                                        \
        attribute                                                                                            \
        {                                                                                                    \
            return __hip_atomic_fetch_max(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);       \
        }                                                                                                    \
    }                                                                                                        \
    static inline __device__ T kind##AtomicMin(T *address, T value)                                          \
    {                                                                                                        \
        attribute                                                                                            \
        {                                                                                                    \
            return __hip_atomic_fetch_min(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);       \
        }                                                                                                    \
    }
__HIP_FLOAT_ATOMIC(float, safe, __HIP_ANY_MEMORY)
__HIP_FLOAT_ATOMIC(double, safe, __HIP_ANY_MEMORY)
__HIP_FLOAT_ATOMIC(float, unsafe, __HIP_ORDINARY_MEMORY)
__HIP_FLOAT_ATOMIC(double, unsafe, __HIP_ORDINARY_MEMORY)
#undef __HIP_FLOAT_ATOMIC

#endif
