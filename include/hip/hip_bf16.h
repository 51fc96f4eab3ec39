// SPDX-License-Identifier: MIT
// bfloat16, the newer of HIP's two types: __hip_bfloat16.
#ifndef HIP_INCLUDE_HIP_HIP_BF16_H
#define HIP_INCLUDE_HIP_HIP_BF16_H

#include <hip/hip_common.h>
#include <hip/amd_detail/amd_hip_bf16.h>

#endif
