/* SPDX-License-Identifier: MIT */
/*
 * The address half of scalar memory instructions.
 *
 * An address is base + immediate + scalar offset with the two low bits dropped.
 * Of a buffer, which four SGPRs describe, dwords beyond its end read 0 and are
 * not written.  The scalar offset of s_scratch_load and s_scratch_store counts
 * 64 bytes.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 8 (scalar memory), 12.6, 13.2.
 */
#ifndef EHP_SEM_MEMORY_SMEM_H
#define EHP_SEM_MEMORY_SMEM_H

#include <limits.h>

#include "sem/memory/memop.h"

enum { SMEM_SCRATCH_SHIFT = 6 };

static inline uint64_t smem_offset(const struct wave *w, const struct xinst *in, unsigned shift)
{
    uint64_t soffset = in->ss[1] != XSRC_CONST ? w->s[in->ss[1]] : in->mem.soffset;
    return memop_offset(in) + (soffset << shift);
}

static inline uint64_t smem_place(const struct wave *w, const struct xinst *in, unsigned shift)
{
    return (wave_sgpr64(w, in->ss[0]) + smem_offset(w, in, shift)) & ~UINT64_C(3);
}

static inline bool smem_is_buffer(const struct isa_inst *inst)
{
    return inst->src[ISA_SBASE].dwords == 4;
}

/* Where a scalar access in a buffer begins; *inside: dwords from there on that the buffer has, up to as many
 * as it says before.
 */
static inline uint64_t smem_buffer_place(const struct wave *w, const struct xinst *in, unsigned *inside)
{
    const uint32_t *v = w->s + in->ss[0];
    const uint32_t stride = v[1] >> 16 & 0x3fff;
    const uint64_t bytes = stride ? (uint64_t)stride * v[2] : v[2];
    const uint64_t offset = smem_offset(w, in, 0) & ~UINT64_C(3);
    const uint64_t left = offset < bytes ? (bytes - offset) / 4 : 0;
    *inside = left < *inside ? (unsigned)left : *inside;
    return ((v[0] | (uint64_t)(v[1] & 0xffff) << 32) + offset) & ~UINT64_C(3);
}

/* Faults when the GPU may not access it. */
static inline void smem_check(struct wave *w, const struct xinst *in, uint64_t address, unsigned bytes,
                              bool write)
{
    if (MEMOP_UNLIKELY(wave_is_outside(w, address)) && !wave_may_access(w, address, bytes))
        wave_fault(w, in, EHP_FAULT_MEMORY, address, write, UINT_MAX);
}

#endif
