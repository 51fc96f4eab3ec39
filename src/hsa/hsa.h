/* SPDX-License-Identifier: MIT */
/*
 * Inside of the HSA layer: what queues and signals offer to the command
 * processor.  Programs use include/ehp/ehp.h and include/ehp/aql.h.
 */
#ifndef EHP_HSA_HSA_H
#define EHP_HSA_HSA_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "ehp/aql.h"

/* ehp_signal_block.kind, as amd_signal_kind_t. */
enum { SIGNAL_KIND_USER = 1, SIGNAL_KIND_DOORBELL = -1 };

struct ehp_machine;

/* Where waves reach a signal: amd_signal_t, and the mailbox that device code writes the event id to. */
struct hsa_shared_signal {
    struct ehp_signal_block block;
    uint64_t mailbox;
};

/* A signal and what belongs to it, in memory that waves do not reach. */
struct hsa_signal {
    struct ehp_signal_block block;
    int64_t *value;                   /* the block's, or the shared one's */
    struct hsa_shared_signal *shared; /* NULL: no wave knows it */
    uint64_t completed_ps;            /* timing mode: when a packet changed it last */
    struct hsa_signal *spare;         /* a list */
};
static_assert(offsetof(struct hsa_signal, block) == 0, "a handle is the block's address");

static inline struct hsa_signal *signal_of(ehp_signal signal)
{
    return (struct hsa_signal *)(uintptr_t)signal.handle;
}

void futex_wait(const _Atomic uint32_t *address, uint32_t value, uint64_t timeout_ns);
void futex_wake(const _Atomic uint32_t *address, unsigned count);

/* Wakes those who wait on a signal whose value has changed. */
void signal_wake(struct hsa_signal *s);

/* A wave has sent an interrupt with this event id in M0. */
void signal_interrupt(struct ehp_machine *m, uint32_t event_id);

/* Frees the memory of a machine's signals, when it is closed. */
void signal_free_all(struct ehp_machine *m);

#endif
