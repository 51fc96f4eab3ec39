/* SPDX-License-Identifier: MIT */
/*
 * The machine: a chip, its memory, loaded code and command processor, tied
 * together.  Rooms meet here and nowhere else.
 */
#ifndef EHP_SOC_MACHINE_H
#define EHP_SOC_MACHINE_H

#include <pthread.h>

#include "cp/bounds.h"
#include "cp/cp.h"
#include "ehp/ehp.h"
#include "exec/code.h"
#include "chip/chip.h"
#include "alloc/memory.h"
#include "soc/stats.h"

struct hsa_signal;
struct signal_slab;

struct ehp_machine {
    struct chip chip;
    unsigned agents, nps;
    unsigned xcds_per_agent;
    uint64_t timeout_ns;
    unsigned xcc_chunk;
    bool progress;
    bool timing;             /* simulated time */
    bool no_sdma;            /* kernels copy */
    bool sample;             /* dispatches are sampled */
    char isa[64];            /* "gfx942:sramecc+:xnack-" */
    double clock_hz;         /* of s_memtime */
    pthread_key_t error_key; /* each thread's last message */

    struct memory memory;
    struct bounds bounds;
    uint64_t own_bytes; /* resident memory that opening it took */
    struct exec_code code;
    struct cp cp;
    struct stats stats;

    pthread_rwlock_t codes_lock;
    struct ehp_code **codes; /* loaded code objects */
    size_t code_count, code_capacity;

    pthread_mutex_t fault_lock;
    ehp_fault_fn *fault_fn;
    void *fault_user;
    ehp_dispatch_fn *dispatch_fn; /* timing mode */
    void *dispatch_user;

    pthread_mutex_t event_lock; /* signals by event id, for waves that interrupt */
    struct hsa_signal **events;
    size_t event_count;
    struct signal_slab *signal_slabs; /* the memory of all signals, */
    struct hsa_signal *spare_signals; /* and what of it is nobody's */
};

/* Records the thread's message and returns `status`. */
int machine_error(struct ehp_machine *m, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Nanoseconds of the host's monotonic clock. */
uint64_t machine_now_ns(void);

/* The code object that contains `address`, with the lock held for reading; NULL: none. */
struct ehp_code *machine_code_containing(struct ehp_machine *m, uint64_t address);

#endif
