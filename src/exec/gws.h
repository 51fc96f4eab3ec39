/* SPDX-License-Identifier: MIT */
/*
 * Global wave sync: counters beside the compute units, by which the waves of a
 * dispatch on all XCDs meet.  The device libraries' grid barrier is
 * ds_gws_barrier.  A queue has 64 of them.
 *
 * Source: AMD Instinct MI300 ISA, DS instructions, GWS; GCN white paper, global
 * data share.
 */
#ifndef EHP_EXEC_GWS_H
#define EHP_EXEC_GWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { GWS_RESOURCES = 64 };

struct gws {
    _Atomic uint32_t arrived;    /* of the barrier in progress */
    _Atomic uint32_t generation; /* barriers that have completed */
    _Atomic int32_t count;       /* as a semaphore */
    _Atomic bool full;           /* timing mode: all have arrived, and wait for gws_open() */
};

/* Those who wait at the barrier go on. */
void gws_open(struct gws *gws);

#endif
