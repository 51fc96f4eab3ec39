// SPDX-License-Identifier: MIT
// Complex numbers as vectors: hipFloatComplex, hipDoubleComplex and their functions.
#ifndef HIP_INCLUDE_HIP_HIP_COMPLEX_H
#define HIP_INCLUDE_HIP_HIP_COMPLEX_H

#include <hip/hip_common.h>
#include <hip/amd_detail/amd_hip_complex.h>

#endif
