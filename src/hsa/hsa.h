/* SPDX-License-Identifier: MIT */
/*
 * Inside of the HSA layer: what queues and signals offer to the command
 * processor.  Programs use include/ehp/ehp.h and include/ehp/aql.h.
 */
#ifndef EHP_HSA_HSA_H
#define EHP_HSA_HSA_H

#include <stdatomic.h>
#include <stdint.h>

#include "ehp/aql.h"

/* ehp_signal_block.kind, as amd_signal_kind_t. */
enum { SIGNAL_KIND_USER = 1, SIGNAL_KIND_DOORBELL = -1 };

struct ehp_machine;

/* A signal and what belongs to it; the mailbox is what device code writes the event id to. */
struct hsa_signal {
    struct ehp_signal_block block;
    uint64_t mailbox;
    uint64_t completed_ps; /* timing mode: when a packet changed it last */
};

void futex_wait(const _Atomic uint32_t *address, uint32_t value, uint64_t timeout_ns);
void futex_wake(const _Atomic uint32_t *address, unsigned count);

/* Wakes those who wait on a signal whose value has changed. */
void signal_wake(struct ehp_signal_block *s);

/* A wave has sent an interrupt with this event id in M0. */
void signal_interrupt(struct ehp_machine *m, uint32_t event_id);

#endif
