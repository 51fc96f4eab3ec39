// SPDX-License-Identifier: MIT
// char1 ... double4.
#ifndef HIP_INCLUDE_HIP_HIP_VECTOR_TYPES_H
#define HIP_INCLUDE_HIP_HIP_VECTOR_TYPES_H

#include <hip/hip_common.h>
#include <hip/amd_detail/amd_hip_vector_types.h>

#endif
