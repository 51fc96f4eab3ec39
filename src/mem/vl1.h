/* SPDX-License-Identifier: MIT */
/* The vector caches, one for each CU: what the XCD, and the L2, ask of them. */
#ifndef EHP_MEM_VL1_H
#define EHP_MEM_VL1_H

#include "mem/request.h"

void vl1_submit(struct xcd_mem *mem, struct mem_access *access);
/* For access_done_at(): a vector access is complete. */
port_fn vl1_complete;
/* The L2 has performed a store or atomic. */
void vl1_performed(struct mem_request *request);
/* One more store of the request's wave is on its way. */
void vl1_count_store(const struct mem_request *request);

/* A kernel begins: they are empty.  One ends: what they keep back goes. */
void vl1_acquire(struct xcd_mem *mem);
void vl1_release(struct xcd_mem *mem);

/* What the next requests need, for port_set_prefetch(); what vl1_performed() does. */
void vl1_prefetch(struct xcd_mem *mem);
void vl1_prefetch_performed(const struct mem_request *request);

#endif
