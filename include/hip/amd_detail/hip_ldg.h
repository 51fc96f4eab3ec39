// SPDX-License-Identifier: MIT
// __ldg(): a read through the read-only path. AMD devices have no separate one, so it is a plain read.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_LDG_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_LDG_H

#include <hip/amd_detail/amd_hip_vector_types.h>
#include <hip/amd_detail/host_defines.h>

#if __HIP_CLANG_ONLY__
// One overload for each type that HIP has it for; a template here would collide with the one that programs
// write for the others.
#define __HIP_LDG(T)                                                                                         \
    static inline __device__ T __ldg(const T *ptr)                                                           \
    {                                                                                                        \
        return *ptr;                                                                                         \
    }
__HIP_LDG(char)
__HIP_LDG(char2)
__HIP_LDG(char4)
__HIP_LDG(signed char)
__HIP_LDG(unsigned char)
__HIP_LDG(short)
__HIP_LDG(short2)
__HIP_LDG(short4)
__HIP_LDG(unsigned short)
__HIP_LDG(int)
__HIP_LDG(int2)
__HIP_LDG(int4)
__HIP_LDG(unsigned int)
__HIP_LDG(long)
__HIP_LDG(unsigned long)
__HIP_LDG(long long)
__HIP_LDG(longlong2)
__HIP_LDG(unsigned long long)
__HIP_LDG(uchar2)
__HIP_LDG(uchar4)
__HIP_LDG(ushort2)
__HIP_LDG(uint2)
__HIP_LDG(uint4)
__HIP_LDG(ulonglong2)
__HIP_LDG(float)
__HIP_LDG(float2)
__HIP_LDG(float4)
__HIP_LDG(double)
__HIP_LDG(double2)
#undef __HIP_LDG
#endif

#endif
