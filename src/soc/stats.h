/* SPDX-License-Identifier: MIT */
/* Counters per kernel, summed over dispatches.  Threads: stats_add() and stats_get() take the lock. */
#ifndef EHP_SOC_STATS_H
#define EHP_SOC_STATS_H

#include <pthread.h>
#include <stdatomic.h>

#include "ehp/ehp.h"

struct stats {
    _Atomic bool enabled;
    pthread_mutex_t lock;
    struct ehp_stats **kernel; /* names are owned here */
    size_t count;
};

void stats_init(struct stats *stats);
void stats_destroy(struct stats *stats);
/* Adds one dispatch's counters to its kernel's. */
void stats_add(struct stats *stats, const struct ehp_stats *one);

#endif
