/* SPDX-License-Identifier: MIT */
/*
 * The address half of DS instructions.
 *
 * Addresses are 32 bits: register plus offset, wrapping.  An access that is not
 * wholly inside of what the workgroup has allocated reads zero and writes
 * nothing.  Unaligned accesses are allowed (SH_MEM_CONFIG as the HSA driver
 * sets it).
 *
 * Source: "AMD Instinct MI300 ISA", chapter 11 (data share), 12.13.1 (modes of DS_SWIZZLE_B32); LLVM
 * AMDGPUUsage, feature unaligned-access-mode.
 */
#ifndef EHP_SEM_MEMORY_LDS_H
#define EHP_SEM_MEMORY_LDS_H

#include "wave/handlers.h"
#include "sem/memory/memop.h"

#ifdef SEM_LEVEL
sem_lookup_fn SEM(lds_atomic), SEM(lds_lanes);
#endif

struct lds_request {
    uint32_t addr[WAVE_LANES];
    uint64_t mask; /* active lanes that are in range */
};

/* Whether every lane, active or not, is in range: most often, and cheap to see. */
__attribute__((always_inline)) static inline bool
lds_addresses(const struct wave *w, const uint32_t *row, uint32_t offset, unsigned bytes, uint32_t *addr)
{
    uint32_t last = 0;
    for (unsigned l = 0; l < WAVE_LANES; l++) {
        uint32_t a = row[l] + offset;
        addr[l] = a;
        last = a > last ? a : last;
    }
    return (uint64_t)last + bytes <= w->lds_bytes;
}

__attribute__((always_inline)) static inline void
lds_address(const struct wave *w, const uint32_t *row, uint32_t offset, unsigned bytes, struct lds_request *r)
{
    r->mask = w->exec;
    if (MEMOP_LIKELY(lds_addresses(w, row, offset, bytes, r->addr)))
        return;
    /* Lanes beyond the end are mostly inactive ones. */
    uint64_t inside = 0;
    for (unsigned l = 0; l < WAVE_LANES; l++)
        inside |= (uint64_t)((uint64_t)r->addr[l] + bytes <= w->lds_bytes) << l;
    r->mask &= inside;
}

/* ---- swizzle: the offset says which lane each lane reads ---- */

static inline unsigned lds_reverse5(unsigned i)
{
    return (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
}

static inline void lds_swizzle(uint32_t mode, uint32_t from[WAVE_LANES])
{
    const uint32_t mask = mode & 31;
    if (mode >= 0xe000) { /* FFT: bits that the mask names stay, the others are reversed */
        unsigned kept = (unsigned)__builtin_popcount(mask);
        for (unsigned l = 0; l < WAVE_LANES; l++)
            from[l] = mask == 31 ? l : lds_reverse5(l & 31) >> kept | (l & mask) | (l & 32);
    } else if (mode >= 0xc000) { /* rotate within groups */
        uint32_t by = mode >> 5 & 31;
        if (mode & 0x400)
            by = 0u - by;
        for (unsigned l = 0; l < WAVE_LANES; l++)
            from[l] = (l & mask) | ((l + by) & 31 & ~mask) | (l & 32);
    } else if (mode & 0x8000) { /* any permutation of four */
        for (unsigned l = 0; l < WAVE_LANES; l++)
            from[l] = (l & ~3u) | (mode >> 2 * (l & 3) & 3);
    } else {
        uint32_t or = mode >> 5 & 31, xor= mode >> 10 & 31;
        for (unsigned l = 0; l < WAVE_LANES; l++)
            from[l] = (((l & mask) | or) ^ xor) | (l & 32);
    }
}

#endif
