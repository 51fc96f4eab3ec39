// SPDX-License-Identifier: MIT
// Channel descriptions under the name some programs include.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_AMD_CHANNEL_DESCRIPTOR_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_AMD_CHANNEL_DESCRIPTOR_H

#include <hip/channel_descriptor.h>

#endif
