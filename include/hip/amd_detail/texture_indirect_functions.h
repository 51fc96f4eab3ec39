// SPDX-License-Identifier: MIT
// Texture objects are read by the same functions as texture references.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_TEXTURE_INDIRECT_FUNCTIONS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_TEXTURE_INDIRECT_FUNCTIONS_H

#include <hip/amd_detail/texture_fetch_functions.h>

#endif
