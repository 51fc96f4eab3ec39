// SPDX-License-Identifier: MIT
// The same constants under the name programs ported from elsewhere include.
#ifndef HIP_INCLUDE_HIP_MATH_CONSTANTS_H
#define HIP_INCLUDE_HIP_MATH_CONSTANTS_H

#include <hip/hip_math_constants.h>

#endif
