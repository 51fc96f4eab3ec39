// SPDX-License-Identifier: MIT
// Atomic functions. The plain names are relaxed at device scope, *_system at system scope. Each returns the
// value before. The overloads are HIP's and no more: programs add the ones that it lacks, such as atomicAdd
// on long long.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_ATOMIC_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_ATOMIC_H

#include <hip/amd_detail/host_defines.h>

#define __HIP_ATOMIC(name, T, operation, scope)                                                              \
    static inline __device__ T name(T *address, T val)                                                       \
    {                                                                                                        \
        return __hip_atomic_##operation(address, val, __ATOMIC_RELAXED, scope);                              \
    }
#define __HIP_ATOMIC_CAS(name, T, scope)                                                                     \
    static inline __device__ T name(T *address, T compare, T val)                                            \
    {                                                                                                        \
        __hip_atomic_compare_exchange_strong(address, &compare, val, __ATOMIC_RELAXED, __ATOMIC_RELAXED,     \
                                             scope);                                                         \
        return compare;                                                                                      \
    }
// There is no floating-point subtraction: x - v is x + (-v), exactly.
#define __HIP_ATOMIC_SUB(name, T, scope)                                                                     \
    static inline __device__ T name(T *address, T val)                                                       \
    {                                                                                                        \
        return __hip_atomic_fetch_add(address, -val, __ATOMIC_RELAXED, scope);                               \
    }

#define __HIP_ATOMICS_ANY(suffix, T, scope)                                                                  \
    __HIP_ATOMIC_CAS(atomicCAS##suffix, T, scope)                                                            \
    __HIP_ATOMIC(atomicExch##suffix, T, exchange, scope)                                                     \
    __HIP_ATOMIC(atomicAdd##suffix, T, fetch_add, scope)                                                     \
    __HIP_ATOMIC(atomicMin##suffix, T, fetch_min, scope)                                                     \
    __HIP_ATOMIC(atomicMax##suffix, T, fetch_max, scope)
#define __HIP_ATOMICS_INTEGER(suffix, T, scope)                                                              \
    __HIP_ATOMICS_ANY(suffix, T, scope)                                                                      \
    __HIP_ATOMIC(atomicSub##suffix, T, fetch_sub, scope)                                                     \
    __HIP_ATOMIC(atomicAnd##suffix, T, fetch_and, scope)                                                     \
    __HIP_ATOMIC(atomicOr##suffix, T, fetch_or, scope)                                                       \
    __HIP_ATOMIC(atomicXor##suffix, T, fetch_xor, scope)
#define __HIP_ATOMICS_FLOAT(suffix, T, scope)                                                                \
    __HIP_ATOMICS_ANY(suffix, T, scope)                                                                      \
    __HIP_ATOMIC_SUB(atomicSub##suffix, T, scope)

// Wrapping increment and decrement: clang has dropped and renamed these builtins more than once.
#if !__HIP_DEVICE_PASS__ || __has_builtin(__builtin_amdgcn_atomic_inc32)
#define __HIP_ATOMIC_WRAP(name, builtin, renamed)                                                            \
    static inline __device__ unsigned int name(unsigned int *address, unsigned int val)                      \
    {                                                                                                        \
        return __builtin_amdgcn_##builtin(address, val, __ATOMIC_RELAXED, "agent");                          \
    }
#else
#define __HIP_ATOMIC_WRAP(name, builtin, renamed)                                                            \
    static inline __device__ unsigned int name(unsigned int *address, unsigned int val)                      \
    {                                                                                                        \
        return __scoped_atomic_##renamed(address, val, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);             \
    }
#endif

#define __HIP_ATOMICS(suffix, scope)                                                                         \
    __HIP_ATOMICS_INTEGER(suffix, int, scope)                                                                \
    __HIP_ATOMICS_INTEGER(suffix, unsigned int, scope)                                                       \
    __HIP_ATOMICS_INTEGER(suffix, unsigned long, scope)                                                      \
    __HIP_ATOMICS_INTEGER(suffix, unsigned long long, scope)                                                 \
    __HIP_ATOMIC(atomicMin##suffix, long long, fetch_min, scope)                                             \
    __HIP_ATOMIC(atomicMax##suffix, long long, fetch_max, scope)                                             \
    __HIP_ATOMICS_FLOAT(suffix, float, scope)                                                                \
    __HIP_ATOMICS_FLOAT(suffix, double, scope)                                                               \
    __HIP_ATOMIC_CAS(atomicCAS##suffix, unsigned short int, scope)

__HIP_ATOMICS(, __HIP_MEMORY_SCOPE_AGENT)
__HIP_ATOMICS(_system, __HIP_MEMORY_SCOPE_SYSTEM)
__HIP_ATOMIC_WRAP(atomicInc, atomic_inc32, fetch_uinc)
__HIP_ATOMIC_WRAP(atomicDec, atomic_dec32, fetch_udec)

// The name HIP gave the addition whose result is not asked for, before the compiler saw that by itself.
static inline __device__ void atomicAddNoRet(float *address, float val)
{
    __hip_atomic_fetch_add(address, val, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

#undef __HIP_ATOMIC
#undef __HIP_ATOMIC_CAS
#undef __HIP_ATOMIC_SUB
#undef __HIP_ATOMIC_WRAP
#undef __HIP_ATOMICS_ANY
#undef __HIP_ATOMICS_INTEGER
#undef __HIP_ATOMICS_FLOAT
#undef __HIP_ATOMICS

#endif
