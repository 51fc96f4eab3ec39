/* SPDX-License-Identifier: MIT */
/* Scalar and instruction caches, each shared by some CUs: what the XCD asks of them. */
#ifndef EHP_MEM_SL1_H
#define EHP_MEM_SL1_H

#include "mem/request.h"

void sl1_submit(struct xcd_mem *mem, struct mem_access *access);
/* Writes dirty lines of every cluster; mem->releasing counts those not done. */
void sl1_release(struct xcd_mem *mem);
void sl1_acquire(struct xcd_mem *mem);
void sl1_invalidate_code(struct xcd_mem *mem);
/* What the next requests need, for port_set_prefetch(). */
void sl1_prefetch(struct xcd_mem *mem);

#endif
