// SPDX-License-Identifier: MIT
// The host API of HIP, for C and C++. Every prototype, enumerator and layout is the binary interface of
// ROCm 6.3's libamdhip64.so.6; tests/headers checks them against the interface's own data.
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_API_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_API_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h> // programs have come to expect it of this header

#include <hip/hip_common.h>
#include <hip/amd_detail/host_defines.h>
#include <hip/driver_types.h>
#include <hip/texture_types.h>
#include <hip/surface_types.h>
#include <hip/library_types.h>
#include <hip/hip_deprecated.h>

// ROCm 6 gave the property structure a new layout and the functions that take it new symbols.
#define hipDeviceProp_t        hipDeviceProp_tR0600
#define hipGetDeviceProperties hipGetDevicePropertiesR0600
#define hipChooseDevice        hipChooseDeviceR0600

#include <hip/amd_detail/hip_api_types.h>

// What some programs put before the name of a stream callback, for platforms with calling conventions.
#ifndef HIPRT_CB
#define HIPRT_CB
#endif

#ifdef __cplusplus
extern "C" {
#endif
#include <hip/amd_detail/hip_api_device.h>
#include <hip/amd_detail/hip_api_memory.h>
#include <hip/amd_detail/hip_api_stream.h>
#include <hip/amd_detail/hip_api_launch.h>
#include <hip/amd_detail/hip_api_graph.h>
#include <hip/amd_detail/hip_api_image.h>
#ifdef __cplusplus
}
#endif

#include <hip/amd_detail/amd_hip_runtime_pt_api.h>
#include <hip/channel_descriptor.h>

#ifdef __cplusplus
#include <hip/amd_detail/hip_api_templates.h>
#endif

#endif
