/* SPDX-License-Identifier: MIT */
/*
 * Where flat addresses reach LDS and scratch: two 4 GiB windows above every
 * canonical user address, at the places that the amdgpu driver puts them.
 *
 * Source: LLVM AMDGPUUsage, "Address Spaces" (flat, apertures).
 */
#ifndef EHP_WAVE_APERTURE_H
#define EHP_WAVE_APERTURE_H

#include <stdint.h>

#define APERTURE_SHARED_BASE  (UINT64_C(1) << 48)
#define APERTURE_PRIVATE_BASE (UINT64_C(1) << 49)

/* First address that is neither host memory nor an aperture. */
#define APERTURE_HOST_LIMIT (UINT64_C(1) << 47)
/* The bits that no host address has. */
#define APERTURE_HOST_MASK (~(APERTURE_HOST_LIMIT - 1))

#endif
