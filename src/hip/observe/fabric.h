/* SPDX-License-Identifier: MIT */
/*
 * EHP_FABRIC: how busy links, ports, caches and memory of the packages were, in simulated time; between
 * hipProfilerStart() and hipProfilerStop() if the program calls those, else from its first HIP call on.
 */
#ifndef HIP_OBSERVE_FABRIC_H
#define HIP_OBSERVE_FABRIC_H

#include <ehp/ehp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct hip_runtime;

/* Of parts that one after another were looked at. */
struct fabric_look {
    uint64_t ticks;
    struct ehp_part *part;
};

struct fabric_report {
    pthread_mutex_t lock;
    bool on, marked, running;
    unsigned parts;
    struct fabric_look start; /* of the stretch that is running */
    struct fabric_look sum;   /* of those that are over */
    struct fabric_look shown; /* for the report: it allocates nothing */
};

bool hip_fabric_init(struct hip_runtime *runtime);
void hip_fabric_start(void);
void hip_fabric_stop(void);

#endif
