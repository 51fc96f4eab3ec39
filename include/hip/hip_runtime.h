// SPDX-License-Identifier: MIT
// HIP for programs with kernels: the host API and, under clang's HIP mode, the device language. Compiled by
// any other compiler, C or C++, it is the host API alone.
#ifndef HIP_INCLUDE_HIP_HIP_RUNTIME_H
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H

// First: clang's own wrappers of standard headers say __host__ and __device__.
#include <hip/amd_detail/host_defines.h>

#if !defined(__HIPCC_RTC__)
// HIP programs lean on what these bring in.
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__cplusplus) && __cplusplus >= 201103L
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#endif
#endif

#include <hip/hip_common.h>
#include <hip/hip_version.h>

#if !defined(__HIPCC_RTC__)
#include <hip/hip_runtime_api.h>
#endif
#include <hip/library_types.h>
#include <hip/hip_vector_types.h>

#if __HIP_CLANG_ONLY__
#include <hip/amd_detail/amd_hip_runtime.h>
#endif

#endif
