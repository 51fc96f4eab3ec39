// SPDX-License-Identifier: MIT
// The device functions, all of which hip_runtime.h brings.
#ifndef HIP_INCLUDE_HIP_DEVICE_FUNCTIONS_H
#define HIP_INCLUDE_HIP_DEVICE_FUNCTIONS_H

#include <hip/hip_runtime.h>

#endif
