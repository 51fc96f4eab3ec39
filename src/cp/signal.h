/* SPDX-License-Identifier: MIT */
/*
 * A signal as the command processor has it: 64 bytes that packets decrement, the
 * host waits on and, if it is shared with them, waves may change.  What the host
 * goes by (whose it is, who waits) lies where no wave can write, and of a shared
 * signal only the value is looked at.  hsa/signal.c makes them and waits on them.
 *
 * Source: HSA Platform System Architecture 1.2, 2.8; amd_signal_t of the ROCm ABI.
 */
#ifndef EHP_CP_SIGNAL_H
#define EHP_CP_SIGNAL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/futex.h"
#include "ehp/aql.h"

/* ehp_signal_block.kind, as amd_signal_kind_t. */
enum { SIGNAL_KIND_USER = 1, SIGNAL_KIND_DOORBELL = -1 };

/* Where waves reach a signal: amd_signal_t, and the mailbox that device code writes the event id to. */
struct cp_shared_signal {
    struct ehp_signal_block block;
    uint64_t mailbox;
};

/* A signal and what belongs to it, in memory that waves do not reach. */
struct cp_signal {
    struct ehp_signal_block block;
    int64_t *value;                  /* the block's, or the shared one's */
    struct cp_shared_signal *shared; /* NULL: no wave knows it */
    uint64_t completed_ps;           /* when a packet changed it last, in simulated time */
    struct cp_signal *spare;         /* a list */
};
static_assert(offsetof(struct cp_signal, block) == 0, "a handle is the block's address");

static inline struct cp_signal *cp_signal_of(ehp_signal signal)
{
    return (struct cp_signal *)(uintptr_t)signal.handle;
}

static inline int64_t cp_signal_load(const struct cp_signal *s)
{
    return __atomic_load_n(s->value, __ATOMIC_ACQUIRE);
}

/* Wakes those who wait for its value, which has changed: block.reserved1 counts them. */
static inline void cp_signal_wake(struct cp_signal *s)
{
    if (__atomic_load_n(&s->block.reserved1, __ATOMIC_SEQ_CST))
        futex_wake(s->value, UINT32_MAX);
}

#endif
