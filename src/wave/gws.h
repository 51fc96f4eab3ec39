/* SPDX-License-Identifier: MIT */
/*
 * Global wave sync: counters beside the compute units, by which the waves of a
 * dispatch on all XCDs meet.  The device libraries' grid barrier is
 * ds_gws_barrier.  A queue has 64 of them.
 *
 * Source: AMD Instinct MI300 ISA, DS instructions, GWS; GCN white paper, global
 * data share.
 */
#ifndef EHP_WAVE_GWS_H
#define EHP_WAVE_GWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { GWS_RESOURCES = 64 };

/* Timing mode: waves of an XCD at a semaphore. */
struct gws_waiters {
    uint32_t waiting;
    uint32_t granted; /* to some that have waited, and have not looked yet */
};

struct gws {
    _Atomic uint32_t arrived;    /* of the barrier in progress */
    _Atomic uint32_t generation; /* barriers that have completed */
    _Atomic int32_t count;       /* as a semaphore */
    /*
     * Timing mode: what waves have done in a window, which takes effect in
     * gws_settle().  XCDs do it side by side, so nothing here, nor in `arrived`
     * and `count`, may depend on which was first.
     */
    _Atomic uint32_t set;        /* 1 + what it is initialised to; 0: it is not */
    _Atomic uint32_t sets;       /* how often that has taken effect */
    _Atomic bool full;           /* all have arrived at the barrier */
    _Atomic bool asked;          /* somebody waits for `waiters` */
    uint8_t turn;                /* the XCD that is granted the next count */
    struct gws_waiters *waiters; /* of each XCD, used by its waves alone; NULL: nobody has waited yet */
};

/* Between windows: what waves have done in the last one. */
void gws_settle(struct gws *gws, unsigned xcds);
/* Timing mode, in its XCD's domain: a wave is dropped; what it waits for, or was granted, is for others. */
struct wave;
void gws_drop(struct wave *wave);

#endif
