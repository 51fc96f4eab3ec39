/* SPDX-License-Identifier: MIT */
/*
 * The address half of FLAT, GLOBAL and SCRATCH, and where a lane's bytes are.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 10 (flat memory instructions).
 */
#ifndef EHP_SEM_MEMORY_VMEM_H
#define EHP_SEM_MEMORY_VMEM_H

#include <limits.h>

#include "wave/handlers.h"
#include "sem/memory/memop.h"

/* The families' parts; sem_vmem asks them. */
#ifdef SEM_LEVEL
sem_lookup_fn SEM(vmem_atomic), SEM(vmem_buffer);
#endif

static inline uint64_t vmem_all_bits(const uint64_t *addr)
{
    uint64_t all = 0;
    for (unsigned l = 0; l < WAVE_LANES; l++)
        all |= addr[l];
    return all;
}

/* Whether any lane's address, active or not, is outside what the GPU may always access. */
static inline bool vmem_any_outside(const struct wave *w, const uint64_t *addr)
{
    uint64_t other = 0;
    for (unsigned l = 0; l < WAVE_LANES; l++)
        other |= addr[l] ^ w->mem_arena;
    return (other & w->mem_mask) != 0;
}

/*
 * The window of a FLAT or GLOBAL instruction: the upper half of addresses that were found to be the GPU's to
 * access, as is all that the instruction can reach from there, by its offset and by 4 GiB of lanes' offsets
 * from a scalar.  Most instructions keep to one, and whoever looks at the upper half of the addresses anyway
 * sees that they do at no cost.  Each thread remembers, for as long as its machine is open; instructions may
 * share a place, as an entry is true for all of them.
 */
enum { VMEM_OFFSETS = 4096 };      /* below and above: a signed number of 13 bits */
#define VMEM_NO_WINDOW 0xfffffffeu /* nobody's: whatever is reached from there faults by itself */

static inline uint32_t vmem_window(const struct wave *w, const struct xinst *in)
{
    return w->guard->windows[in->mem.window] + VMEM_NO_WINDOW;
}

/* Learns from an access elsewhere.  Below the arena nobody has memory: see memory.c. */
static inline void vmem_learn_window(const struct wave *w, const struct xinst *in, uint32_t high)
{
    const uint64_t first = (uint64_t)high << 32, last = first + (UINT64_C(2) << 32) + 2 * VMEM_OFFSETS;
    if (!wave_is_outside(w, first) && !wave_is_outside(w, last))
        w->guard->windows[in->mem.window] = high - VMEM_NO_WINDOW;
}

/* First of the `lanes` that may not access its address. */
static inline unsigned vmem_bad_lane(struct wave *w, const struct memop_request *r, uint64_t lanes,
                                     unsigned bytes)
{
    MEMOP_FOR_LANES(lane, lanes)
    if (wave_is_outside(w, r->addr[lane]) && !wave_may_access(w, r->addr[lane], bytes))
        return (unsigned)lane;
    return UINT_MAX;
}

/* 64-bit addresses of all lanes, active or not. */
static inline void vmem_addresses(const struct wave *w, const struct xinst *in, uint64_t *restrict addr)
{
    const uint32_t *lo = w->v[in->s[0]];
    uint64_t offset = memop_offset(in);
    if (memop_has_sbase(in)) {
        offset += wave_sgpr64(w, in->ss[0]);
        if (memop_has_vaddr(in))
            for (unsigned l = 0; l < WAVE_LANES; l++)
                addr[l] = offset + lo[l];
        else
            for (unsigned l = 0; l < WAVE_LANES; l++)
                addr[l] = offset;
    } else {
        const uint32_t *hi = w->v[in->s[0] + 1];
        for (unsigned l = 0; l < WAVE_LANES; l++)
            addr[l] = (lo[l] | (uint64_t)hi[l] << 32) + offset;
    }
}

/* SCRATCH: offset within the lane's segment, in 32 bits.  Both bases may be absent. */
static inline uint32_t vmem_scratch_base(const struct wave *w, const struct xinst *in)
{
    return (uint32_t)memop_offset(in) + (memop_has_sbase(in) ? w->s[in->ss[0]] : 0);
}

/*
 * The address half.  FLAT addresses whose high half is an aperture's go to LDS
 * or scratch.  Does not fault: lanes that must are left to vmem_check().
 */
static inline void vmem_address(const struct wave *w, const struct xinst *in, enum memop_space space,
                                struct memop_request *r)
{
    r->mask = w->exec;
    r->lds = r->scratch = 0;
    if (space == MEMOP_SCRATCH) {
        uint32_t base = vmem_scratch_base(w, in);
        const uint32_t *v = w->v[in->s[0]];
        for (unsigned l = 0; l < WAVE_LANES; l++)
            r->addr[l] = base + (memop_has_vaddr(in) ? v[l] : 0);
        r->scratch = r->mask;
        return;
    }
    vmem_addresses(w, in, r->addr);
    if (space != MEMOP_FLAT || vmem_all_bits(r->addr) < APERTURE_HOST_LIMIT)
        return;
    MEMOP_FOR_LANES(lane, r->mask)
    {
        uint64_t high = r->addr[lane] >> 32;
        if (high == APERTURE_SHARED_BASE >> 32)
            r->lds |= UINT64_C(1) << lane;
        else if (high == APERTURE_PRIVATE_BASE >> 32)
            r->scratch |= UINT64_C(1) << lane;
        else
            continue;
        r->addr[lane] = (uint32_t)r->addr[lane];
    }
}

/* Faults when a lane's address cannot be: not the GPU's to access, or beyond its scratch. */
static inline void vmem_check(struct wave *w, const struct xinst *in, const struct memop_request *r,
                              unsigned bytes)
{
    if (MEMOP_UNLIKELY(vmem_any_outside(w, r->addr))) {
        unsigned lane = vmem_bad_lane(w, r, r->mask & ~(r->lds | r->scratch), bytes);
        if (lane != UINT_MAX)
            wave_fault(w, in, EHP_FAULT_MEMORY, r->addr[lane], r->write, lane);
    }
    bool beyond = false; /* of some lane, which need not be active */
    if (r->scratch)
        for (unsigned l = 0; l < WAVE_LANES; l++)
            beyond |= r->addr[l] + bytes > w->scratch_bytes;
    MEMOP_FOR_LANES(lane, MEMOP_UNLIKELY(beyond) ? r->scratch : 0)
    if (r->addr[lane] + bytes > w->scratch_bytes)
        wave_fault(w, in, EHP_FAULT_SCRATCH_RANGE, r->addr[lane], r->write, (unsigned)lane);
}

/* Faults when an atomic's address in memory is not a multiple of its size. */
static inline void vmem_check_aligned(struct wave *w, const struct xinst *in, const struct memop_request *r,
                                      unsigned bytes)
{
    MEMOP_FOR_LANES(lane, r->mask & ~r->lds)
    if (MEMOP_UNLIKELY(r->addr[lane] % bytes))
        wave_fault(w, in, EHP_FAULT_MISALIGNED, r->addr[lane], true, (unsigned)lane);
}

/* Byte `offset` of a lane's scratch: dwords are interleaved over the lanes. */
static inline uint8_t *vmem_scratch_byte(const struct wave *w, uint32_t offset, unsigned lane)
{
    return w->scratch + (size_t)(offset / 4) * (4 * WAVE_LANES) + lane * 4 + offset % 4;
}

static inline void vmem_scratch_read(const struct wave *w, uint32_t offset, unsigned lane, uint8_t *to,
                                     unsigned bytes)
{
    if (MEMOP_LIKELY(offset % 4 == 0 && bytes % 4 == 0))
        for (unsigned i = 0; i < bytes; i += 4)
            memcpy(to + i, vmem_scratch_byte(w, offset + i, lane), 4);
    else
        for (unsigned i = 0; i < bytes; i++)
            to[i] = *vmem_scratch_byte(w, offset + i, lane);
}

static inline void vmem_scratch_write(const struct wave *w, uint32_t offset, unsigned lane,
                                      const uint8_t *from, unsigned bytes)
{
    if (MEMOP_LIKELY(offset % 4 == 0 && bytes % 4 == 0))
        for (unsigned i = 0; i < bytes; i += 4)
            memcpy(vmem_scratch_byte(w, offset + i, lane), from + i, 4);
    else
        for (unsigned i = 0; i < bytes; i++)
            *vmem_scratch_byte(w, offset + i, lane) = from[i];
}

/* Where the request's lane is when it is not in scratch; NULL when it is beyond the workgroup's LDS. */
static inline uint8_t *vmem_pointer(const struct wave *w, const struct memop_request *r, unsigned lane,
                                    unsigned bytes)
{
    if (!(r->lds >> lane & 1))
        return (uint8_t *)(uintptr_t)r->addr[lane];
    return r->addr[lane] + bytes <= w->lds_bytes ? w->lds + r->addr[lane] : NULL;
}

/*
 * Memory to LDS: lane l's bytes, extended to a dword, go to LDS at M0[15:0] +
 * offset + 4 * l; the immediate offset applies to both addresses.  Lanes whose
 * place is beyond the workgroup's LDS do not take part.
 *
 * Source: MI300 ISA, 9.1.9 "Memory buffer load to LDS".
 */
static inline uint64_t vmem_lds_base(const struct wave *w, const struct xinst *in)
{
    return (w->m0 & 0xffff) + memop_offset(in);
}

static inline uint64_t vmem_lds_lanes(const struct wave *w, const struct xinst *in)
{
    uint64_t base = vmem_lds_base(w, in), lanes = 0;
    if (MEMOP_LIKELY(base < w->lds_bytes && base + 4 * WAVE_LANES <= w->lds_bytes))
        return UINT64_MAX;
    for (unsigned l = 0; l < WAVE_LANES; l++)
        lanes |= (uint64_t)(base + 4 * l < w->lds_bytes && base + 4 * l + 4 <= w->lds_bytes) << l;
    return lanes;
}

/* `base`: vmem_lds_base() of when the instruction was issued. */
static inline void vmem_to_lds(struct wave *w, uint64_t base, unsigned lane, enum memop_kind kind,
                               const void *from)
{
    uint32_t value;
    switch (kind) {
    case MEMOP_B8:
        value = *(const uint8_t *)from;
        break;
    case MEMOP_I8:
        value = (uint32_t)(int32_t)*(const int8_t *)from;
        break;
    case MEMOP_B16:
        value = *(const memop_u16 *)from;
        break;
    case MEMOP_I16:
        value = (uint32_t)(int32_t)(int16_t)*(const memop_u16 *)from;
        break;
    default:
        value = *(const memop_u32 *)from;
        break;
    }
    *(memop_u32 *)(w->lds + (base + 4 * lane)) = value; /* the sum: the base may be negative */
}

#endif
