// SPDX-License-Identifier: MIT
// bfloat16, the older of HIP's two types: hip_bfloat16.
#ifndef HIP_INCLUDE_HIP_HIP_BFLOAT16_H
#define HIP_INCLUDE_HIP_HIP_BFLOAT16_H

#include <hip/amd_detail/amd_hip_bfloat16.h>

#endif
