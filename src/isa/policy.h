/* SPDX-License-Identifier: MIT */
/*
 * What an access asks of the caches on its way.  Each instruction set says it with bits of its own, which its
 * table (target.h) turns into this: whoever models a cache sees no bits of an encoding.
 */
#ifndef EHP_ISA_POLICY_H
#define EHP_ISA_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* Who is to see a store, whose stores a load is to see, how far a fence or an atomic reaches.  Each includes
 * those before it. */
enum isa_scope { ISA_SCOPE_WAVE, ISA_SCOPE_WORKGROUP, ISA_SCOPE_AGENT, ISA_SCOPE_SYSTEM };

struct isa_policy {
    uint8_t scope; /* enum isa_scope */
    bool streams;  /* its lines will not be wanted again */
};

static inline bool isa_policy_beyond_agent(struct isa_policy policy)
{
    return policy.scope == ISA_SCOPE_SYSTEM;
}

/* Other compute units are concerned: a cache that belongs to one has no say. */
static inline bool isa_policy_beyond_cu(struct isa_policy policy)
{
    return policy.scope >= ISA_SCOPE_AGENT;
}

#endif
