/* SPDX-License-Identifier: MIT */
/*
 * Addresses that are never made.
 *
 * Compilers address memory by v_lshl_add_u64 of a pointer in SGPRs and offsets
 * in VGPRs, and often the sum serves one global access only.  Such a sum is put
 * off until the access when all lanes are active: if the offsets are
 * consecutive, the access needs its first address only, and else the sum is made
 * then.  In between nothing changes what it is made of, or looks at it.
 *
 * Whoever wants instructions one at a time takes fuse_single().
 */
#ifndef EHP_WAVE_FUSE_H
#define EHP_WAVE_FUSE_H

#include "wave/fault.h"
#include "isa/facts.h"
#include "wave/handlers.h"

struct exec_block;

/* The handler of an access whose sum was put off, NULL when there is none. */
typedef exec_fn *fuse_lookup_fn(const struct isa_inst *access);
fuse_lookup_fn sem_fused_v2, sem_fused_v3, sem_fused_v4;

/* Finds a translated function's sums and their accesses. */
void fuse_block(struct exec_block *block, fuse_lookup_fn *lookup);

/* Neither can be a branch, or have DPP. */
static inline bool fuse_is_fused(const struct xinst *in)
{
    return in->alone && in->isa && (in->op == ISA_OP_v_lshl_add_u64 || in->isa->format == ISA_GLOBAL);
}

static inline exec_fn *fuse_single(const struct xinst *in)
{
    return fuse_is_fused(in) ? in->alone : in->fn;
}

static inline const struct xinst *fuse_sum(const struct xinst *access)
{
    return access - access->mem.partner;
}

static inline const struct xinst *fuse_access(const struct xinst *sum)
{
    return sum + sum->partner;
}

/* Whether sums are put off now. */
static inline bool fuse_waits(const struct wave *w)
{
    return w->exec == UINT64_MAX;
}

/* An access that needs no rows of addresses faults as its sum, which is made up for. */
static inline void fuse_settle_fault(struct wave_guard *guard)
{
    const struct xinst *in = guard->fault_in;
    if (!in || !fuse_is_fused(in) || in->isa->op != ISA_OP_v_lshl_add_u64)
        return;
    fuse_single(in)(guard->wave, in);
    guard->fault_in = fuse_access(in);
    guard->write = isa_facts[guard->fault_in->isa->op].effects & ISA_E_STORE;
}

#endif
