/* SPDX-License-Identifier: MIT */
/* Arrays, for those who make them of descriptions. */
#ifndef HIP_ARRAY_H
#define HIP_ARRAY_H

#include "hip/memory/memory.h"

hipError_t hip_array_new(hipArray_t *out, const HIP_ARRAY3D_DESCRIPTOR *description);
/* Whether it lives, and its memory does. */
bool hip_array_ok(hipArray_const_t array);
hipError_t hip_array_delete(hipArray_t array);
/* Channels have equal widths and come without gaps: x, xy or xyzw. */
bool hip_array_format(const hipChannelFormatDesc *desc, hipArray_Format *format, unsigned *channels);

#endif
