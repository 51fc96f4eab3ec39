// SPDX-License-Identifier: MIT
// The helpers are part of the groups.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_COOPERATIVE_GROUPS_HELPER_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_COOPERATIVE_GROUPS_HELPER_H

#include <hip/amd_detail/amd_hip_cooperative_groups.h>

#endif
