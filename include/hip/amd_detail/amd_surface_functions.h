// SPDX-License-Identifier: MIT
// Surface functions are beside the texture functions.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_AMD_SURFACE_FUNCTIONS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_AMD_SURFACE_FUNCTIONS_H

#include <hip/amd_detail/texture_fetch_functions.h>

#endif
