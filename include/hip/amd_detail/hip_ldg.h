// SPDX-License-Identifier: MIT
// __ldg(): a read through the read-only path. AMD devices have no separate one, so it is a plain read.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_LDG_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_LDG_H

#include <hip/amd_detail/host_defines.h>

#if __HIP_CLANG_ONLY__
template <typename T> static inline __device__ T __ldg(const T *ptr)
{
    return *ptr;
}
#endif

#endif
