// SPDX-License-Identifier: MIT
// The qualifiers.
#ifndef HIP_INCLUDE_HIP_HOST_DEFINES_H
#define HIP_INCLUDE_HIP_HOST_DEFINES_H

#include <hip/amd_detail/host_defines.h>

#endif
