// SPDX-License-Identifier: MIT
// The HIP version these headers describe. The ABI is that of ROCm 6.3 (soname libamdhip64.so.6).
#ifndef HIP_VERSION_H
#define HIP_VERSION_H

#define HIP_VERSION_MAJOR      6
#define HIP_VERSION_MINOR      3
#define HIP_VERSION_PATCH      42131
#define HIP_VERSION_GITHASH    ""
#define HIP_VERSION_BUILD_ID   0
#define HIP_VERSION_BUILD_NAME ""
#define HIP_VERSION            (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

#define __HIP_HAS_GET_PCH 0

#endif
