/* SPDX-License-Identifier: MIT */
/* Copies and fills, of one dimension or three, synchronous or in a stream, checked or captured. */
#ifndef HIP_COPY_H
#define HIP_COPY_H

#include "hip/memory/memory.h"
#include "hip/core/op.h"

/* Which kind of stream call: hipMemcpy in the null stream, hipMemcpyAsync in one. */
struct hip_copy_call {
    hipStream_t stream;
    bool async;
};

bool hip_copy_kind_ok(hipMemcpyKind kind);
/* hipMemcpy's checks of two pointers; hipSuccess with *nothing set when there is nothing to do. */
hipError_t hip_copy_check(void *dst, const void *src, size_t bytes, hipMemcpyKind kind, bool *nothing);
/* A box of rows; its bounds against the allocations it lies in. */
hipError_t hip_copy_check_3d(const struct ehp_copy_3d *copy, hipMemcpyKind kind);

hipError_t hip_copy_linear(void *dst, const void *src, size_t bytes, hipMemcpyKind kind,
                           struct hip_copy_call call);
hipError_t hip_copy_box(const struct ehp_copy_3d *copy, hipMemcpyKind kind, struct hip_copy_call call);

/*
 * A copy or fill of a call without "Async".  Within the memory of the stream's device it comes after what the
 * stream has been given, and the call does not wait (HIP programming guide, "Asynchronous functions"); with
 * nothing ahead it is done on return, for programs that use the memory at once: a GPU would be as good as
 * done. Any other is done on return: on this thread, and by the stream in simulated time or where that
 * faults.
 */
hipError_t hip_copy_sync(struct ihipStream_t *stream, struct hip_op *op);

/* Descriptions to boxes; *kind is what the pointers imply. */
/* hipMemcpy3D(). */
hipError_t hip_copy_params(const hipMemcpy3DParms *params, struct hip_copy_call call);
hipError_t hip_copy_from_params(const hipMemcpy3DParms *params, struct ehp_copy_3d *copy);
hipError_t hip_copy_from_drv(const HIP_MEMCPY3D *params, struct ehp_copy_3d *copy, hipMemcpyKind *kind);
hipError_t hip_copy_from_drv_2d(const hip_Memcpy2D *params, HIP_MEMCPY3D *out);
hipError_t hip_fill_from_params(const hipMemsetParams *params, struct hip_op *op);

#endif
