/* SPDX-License-Identifier: MIT */
/*
 * What a dispatch did in simulated time, in numbers; api/counters.def has the profiler's names for them.
 *
 * XCDs count from their opening on.  Each writes down what its counters are
 * when its share of a dispatch begins, before the caches' acquire, and replaces
 * that by the difference when it ends, after their release; the processor adds
 * the XCDs up.  Kernels that run at once on an XCD count each other's as well,
 * as the silicon's do.
 */
#ifndef EHP_ENGINE_TIMED_COUNT_H
#define EHP_ENGINE_TIMED_COUNT_H

#include "cu/cu.h"
#include "ehp/ehp.h"
#include "mem/mem.h"

struct cp_dispatch;
struct timed;
struct timed_xcd;

struct ehp_counters {
    struct cu_counters cu;
    struct mem_counters mem;
    uint64_t active;  /* cycles, summed over the XCDs */
    uint64_t longest; /* of the XCD that took the longest */
    /* What it ran on. */
    uint64_t xcds, engines, cus, simds,
        slots; /* of an XCD: engines and cus; of a CU: simds; of a SIMD: slots */
};

/* For a dispatch that is to be counted (cp.counts), before its XCDs are told; without, the rest does nothing.
 */
void count_open(struct cp_dispatch *d);
void count_close(struct cp_dispatch *d);

/* In an XCD's domain. */
void count_begin(struct cp_dispatch *d, const struct timed_xcd *x);
void count_end(struct cp_dispatch *d, const struct timed_xcd *x);

/* In domain 0, when all of them have ended: adds up, and fills d->stats. */
void count_finish(const struct timed *timed, struct cp_dispatch *d);

void counters_add(struct ehp_counters *to, const struct ehp_counters *more);

#endif
