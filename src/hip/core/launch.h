/* SPDX-License-Identifier: MIT */
/* Kernel launches: checks, kernel arguments, dispatch packets. */
#ifndef HIP_LAUNCH_H
#define HIP_LAUNCH_H

#include "hip/core/module.h"
#include "hip/core/op.h"

/* What a multi-device cooperative launch adds: which grid this is, of how many. */
struct hip_multi_grid {
    void *sync; /* two words that all grids share */
    uint32_t grid, grids;
    uint64_t previous, all; /* work-items of the grids before this one, and of all */
};

/* grid in workgroups; the error of a size that cannot be is the caller's choice. */
hipError_t hip_launch_check(const struct ihipModuleSymbol_t *function, dim3 grid, dim3 block, size_t shared,
                            bool cooperative, hipError_t bad_size);
/* Fills a launch from grid sizes in workgroups; its arguments are still to come. */
void hip_launch_set(struct hip_launch *launch, struct ihipModuleSymbol_t *function, dim3 grid, dim3 block,
                    size_t shared);
/* The explicit arguments: a pointer to each, or a HIP_LAUNCH_PARAM_* list, or neither if there are none. */
hipError_t hip_launch_arguments(struct hip_launch *launch, void **params, void **extra);
/* Kernel arguments and packet, all but the header; the stream's lock is held. */
hipError_t hip_launch_packet(struct ihipStream_t *stream, const struct hip_launch *launch,
                             struct ehp_kernel_dispatch_packet *packet);
/* The explicit arguments packed at their offsets into `block` of function->explicit_bytes. */
void hip_launch_pack(const struct hip_launch *launch, unsigned char *block);

/* The work-items of the only size of block that the kernel was compiled for; 0: any. */
uint64_t hip_function_required(const struct ihipModuleSymbol_t *function);
/* Workgroups of this size that a CU holds at once. */
unsigned hip_occupancy(const struct ihipModuleSymbol_t *function, unsigned threads, size_t shared);

#endif
