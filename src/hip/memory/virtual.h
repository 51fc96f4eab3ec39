/* SPDX-License-Identifier: MIT */
/* Virtual memory management: hipMemCreate's memory, mapped or not. */
#ifndef HIP_VIRTUAL_H
#define HIP_VIRTUAL_H

#include "hip/core/runtime.h"

/* Bytes of this device that hipMemCreate() has taken. */
uint64_t hip_virtual_bytes(int device);

#endif
