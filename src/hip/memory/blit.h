/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills by kernels of the runtime's, in simulated time: copies within devices' memory, and others
 * where SDMA engines shall not (HSA_ENABLE_SDMA=0); fills, but of pageable memory.  The rest are agent
 * packets, and without simulated time all are.
 */
#ifndef HIP_BLIT_H
#define HIP_BLIT_H

#include "hip/core/op.h"

struct hip_device;
struct ihipStream_t;

/* Whether a kernel does the operation. */
bool hip_blit_takes(const struct hip_op *op);
/* The packet, with the stream's lock held. */
hipError_t hip_blit_packet(struct ihipStream_t *stream, const struct hip_op *op,
                           struct ehp_kernel_dispatch_packet *packet);

/* Pageable memory of a copy that a kernel shall do is pinned until the copy has been waited for. */
struct hip_blit_pins {
    void *base[2];
};
void hip_blit_pin(const struct hip_op *op, struct hip_blit_pins *pins);
void hip_blit_unpin(const struct hip_blit_pins *pins);

#endif
