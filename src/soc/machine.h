/* SPDX-License-Identifier: MIT */
/*
 * A package, or several of a node, built from a chip: their memory, loaded code, command processor and
 * engine.  It also holds what the rooms above attach to a machine: signals (hsa/) and the
 * state of the library's interface (api/).
 */
#ifndef EHP_SOC_MACHINE_H
#define EHP_SOC_MACHINE_H

#include <pthread.h>

#include "alloc/memory.h"
#include "chip/chip.h"
#include "chip/node.h"
#include "cp/cp.h"
#include "ehp/ehp.h"
#include "exec/code.h"
#include "load/code_list.h"

struct cp_signal;
struct jit;
struct signal_slab;
struct stats;

struct ehp_machine {
    struct chip chip;
    struct node node;
    unsigned agents, nps; /* agents: of all packages, one package's after another's */
    unsigned xcds_per_agent;
    bool timing;             /* simulated time */
    char isa[64];            /* "gfx942:sramecc+:xnack-" */
    pthread_key_t error_key; /* each thread's last message */

    struct memory memory;
    uint64_t own_bytes; /* resident memory that opening it took */
    struct exec_code code;
    struct jit *jit; /* NULL: everything is interpreted */
    struct code_list codes;
    struct cp cp;

    /* hsa/signal.c */
    pthread_mutex_t event_lock;
    struct cp_signal **events; /* signals by event id, for waves that interrupt */
    size_t event_count;
    struct signal_slab *signal_slabs; /* the memory of all signals, */
    struct cp_signal *spare_signals;  /* and what of it is nobody's */

    /* api/ */
    struct stats *stats;
    pthread_mutex_t handler_lock;
    ehp_fault_fn *fault_fn;
    void *fault_user;
    ehp_dispatch_fn *dispatch_fn;
    void *dispatch_user;
    _Atomic uint64_t progress_ns; /* when the progress line was drawn last; 0: it is not there */
};

/*
 * Builds it; with a message in options->error after a failure.  `listener` hears of what happens, and
 * m->stats is its own.
 */
int machine_open(struct ehp_options *options, const struct cp_listener *listener, struct ehp_machine **out);
/* No queue, signal or code object is left. */
void machine_close(struct ehp_machine *m);

/* Ends what executes: no packet is read and no listener called after it. */
void machine_stop(struct ehp_machine *m);

/* The machine around a command processor. */
static inline struct ehp_machine *machine_of(struct cp *cp)
{
    return (struct ehp_machine *)(void *)((char *)cp - offsetof(struct ehp_machine, cp));
}

static inline unsigned machine_package_agents(const struct ehp_machine *m)
{
    return m->agents / m->node.packages;
}

/* Records the thread's message and returns `status`. */
int machine_error(struct ehp_machine *m, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Bytes of HBM of a package. */
uint64_t machine_memory_bytes(const struct ehp_machine *m);
/* Resident memory of the process. */
uint64_t machine_resident_bytes(void);

#endif
