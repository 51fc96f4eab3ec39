// SPDX-License-Identifier: MIT
// 8-bit floating point.
#ifndef HIP_INCLUDE_HIP_HIP_FP8_H
#define HIP_INCLUDE_HIP_HIP_FP8_H

#include <hip/hip_common.h>
#include <hip/amd_detail/amd_hip_fp8.h>

#endif
