// SPDX-License-Identifier: MIT
// dim3, apart from the host API because run-time compiled programs have only this.
#ifndef HIP_AMD_DETAIL_HIP_DIM3_H
#define HIP_AMD_DETAIL_HIP_DIM3_H

#include <hip/amd_detail/host_defines.h>
#include <stdint.h>

// A missing dimension is 1; C has no constructors and must say it.
typedef struct dim3 {
    uint32_t x;
    uint32_t y;
    uint32_t z;
#ifdef __cplusplus
    constexpr __host__ __device__ dim3(uint32_t _x = 1, uint32_t _y = 1, uint32_t _z = 1)
        : x(_x), y(_y), z(_z)
    {
    }
#endif
} dim3;

#endif
