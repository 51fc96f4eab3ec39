/* SPDX-License-Identifier: MIT */
/*
 * Gaps between the simulator's mappings.  How many there are and where depends on its threads, and the kernel
 * puts what the program maps into them, so that its addresses would depend on the threads too, which the GPU
 * sees.  Filled, what comes later lies below them all, from a multiple of 1 TiB down: the same addresses.
 */
#ifndef EHP_BASE_HOLES_H
#define EHP_BASE_HOLES_H

#include <stddef.h>

struct holes {
    struct {
        void *at;
        size_t bytes;
    } filled[512];
    unsigned count;
};

void holes_fill(struct holes *holes);
void holes_free(struct holes *holes);

#endif
