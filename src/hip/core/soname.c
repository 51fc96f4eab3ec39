/* SPDX-License-Identifier: MIT */
/* The one file compiled for each soname: ROCm 7 changed what hipGetLastError() remembers. */
#include "hip/core/runtime.h"

int hip_abi_major(void)
{
    return HIP_ABI_MAJOR;
}
