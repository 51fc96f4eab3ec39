// SPDX-License-Identifier: MIT
// Cooperative groups.
#ifndef HIP_INCLUDE_HIP_HIP_COOPERATIVE_GROUPS_H
#define HIP_INCLUDE_HIP_HIP_COOPERATIVE_GROUPS_H

#include <hip/hip_runtime.h>
#include <hip/amd_detail/amd_hip_cooperative_groups.h>

#endif
