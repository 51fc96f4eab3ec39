/* SPDX-License-Identifier: MIT */
/*
 * Atomics of FLAT and GLOBAL.  Other host threads run other workgroups, so
 * those on memory are host atomics; on LDS and scratch they are plain.
 *
 * When all active lanes go to one address the lanes are computed in order and
 * memory changes once: what the lanes see is what they would have seen one
 * after another.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 10 and 12.17.
 */
#include "sem/memory/memop_atomic.h"
#include "sem/memory/vmem_buffer.h"

#define INLINE __attribute__((always_inline)) static inline

static bool one_address(const struct memop_request *r)
{
    uint64_t differs = 0, first = r->addr[__builtin_ctzll(r->mask)];
    MEMOP_FOR_LANES(lane, r->mask)
    differs |= r->addr[lane] ^ first;
    return differs == 0;
}

static inline uint64_t pair(const wave_row *v, unsigned lane)
{
    return v[0][lane] | (uint64_t)v[1][lane] << 32;
}

/* All lanes on one place: tries until nobody was in between. */
static void combined32(enum memop_atomic op, uint64_t mask, uint32_t *place, const wave_row *s,
                       uint32_t *result)
{
    uint32_t before = __atomic_load_n(place, __ATOMIC_RELAXED), now;
    do {
        now = before;
        MEMOP_FOR_LANES(lane, mask)
        {
            result[lane] = now;
            now = memop_atomic32(op, now, s[0][lane], op == MEMOP_CMPSWAP ? s[1][lane] : 0);
        }
    } while (!__atomic_compare_exchange_n(place, &before, now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

static void combined64(enum memop_atomic op, uint64_t mask, uint64_t *place, const wave_row *s,
                       uint64_t *result)
{
    uint64_t before = __atomic_load_n(place, __ATOMIC_RELAXED), now;
    do {
        now = before;
        MEMOP_FOR_LANES(lane, mask)
        {
            result[lane] = now;
            now = memop_atomic64(op, now, pair(s, (unsigned)lane),
                                 op == MEMOP_CMPSWAP ? pair(s + 2, (unsigned)lane) : 0);
        }
    } while (!__atomic_compare_exchange_n(place, &before, now, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

/* A lane in LDS or scratch. */
static uint64_t local(struct wave *w, const struct memop_request *r, enum memop_atomic op, bool wide,
                      unsigned lane, uint64_t data, uint64_t extra)
{
    unsigned bytes = wide ? 8 : 4;
    uint64_t old = 0, now;
    uint8_t *place = NULL;
    if (r->scratch >> lane & 1)
        vmem_scratch_read(w, (uint32_t)r->addr[lane], lane, (uint8_t *)&old, bytes);
    else if ((place = vmem_pointer(w, r, lane, bytes)) != NULL)
        memcpy(&old, place, bytes);
    else
        return 0;
    now = wide ? memop_atomic64(op, old, data, extra)
               : memop_atomic32(op, (uint32_t)old, (uint32_t)data, (uint32_t)extra);
    if (place)
        memcpy(place, &now, bytes);
    else
        vmem_scratch_write(w, (uint32_t)r->addr[lane], lane, (const uint8_t *)&now, bytes);
    return old;
}

INLINE const struct xinst *atomic(struct wave *w, const struct xinst *in, bool wide)
{
    const enum memop_atomic op = (enum memop_atomic)in->mem.atomic;
    const wave_row *s = w->v + in->s[1];
    wave_row *d = w->v + in->d;
    struct memop_request r;
    union {
        uint64_t x64[WAVE_LANES];
        uint32_t x32[WAVE_LANES];
    } old;
    if (MEMOP_UNLIKELY(w->exec == 0))
        return in + 1;
    r.write = true;
    MEMOP_COUNT(w, atomics, 1);
    MEMOP_COUNT(w, bytes_written, wide ? 8 : 4);
    if (memop_space_of(in) == MEMOP_BUFFER && wide && vmem_buffer_of(w, in).swizzle) /* not in one piece */
        wave_fault(w, in, EHP_FAULT_UNIMPLEMENTED, 0, true, UINT_MAX);
    if (memop_space_of(in) == MEMOP_BUFFER)
        vmem_buffer_address(w, in, wide ? 8 : 4, &r);
    else
        vmem_address(w, in, memop_space_of(in), &r);
    vmem_check(w, in, &r, wide ? 8 : 4);
    vmem_check_aligned(w, in, &r, wide ? 8 : 4);
    uint64_t local_lanes = r.lds | r.scratch;
    memop_begin(w, in);
    if (!local_lanes && (r.mask & (r.mask - 1)) && one_address(&r)) {
        void *place = (void *)(uintptr_t)r.addr[__builtin_ctzll(r.mask)];
        if (wide)
            combined64(op, r.mask, place, s, old.x64);
        else
            combined32(op, r.mask, place, s, old.x32);
    } else {
        MEMOP_FOR_LANES(lane, r.mask)
        {
            uint64_t data = wide ? pair(s, (unsigned)lane) : s[0][lane], extra = 0;
            void *place = (void *)(uintptr_t)r.addr[lane];
            if (op == MEMOP_CMPSWAP)
                extra = wide ? pair(s + 2, (unsigned)lane) : s[1][lane];
            if (MEMOP_UNLIKELY(local_lanes >> lane & 1)) {
                uint64_t value = local(w, &r, op, wide, (unsigned)lane, data, extra);
                if (wide)
                    old.x64[lane] = value;
                else
                    old.x32[lane] = (uint32_t)value;
            } else if (wide) {
                old.x64[lane] = memop_host_atomic64(op, place, data, extra);
            } else {
                old.x32[lane] = memop_host_atomic32(op, place, (uint32_t)data, (uint32_t)extra);
            }
        }
    }
    memop_end(w);
    if (in->mem.returns)
        MEMOP_FOR_LANES(lane, w->exec)
        {
            bool done = r.mask >> lane & 1; /* a buffer's lane that is out of range returns 0 */
            d[0][lane] = !done ? 0 : wide ? (uint32_t)old.x64[lane] : old.x32[lane];
            if (wide)
                d[1][lane] = done ? (uint32_t)(old.x64[lane] >> 32) : 0;
        }
    return in + 1;
}

static const struct xinst *x_atomic32(struct wave *w, const struct xinst *in)
{
    return atomic(w, in, false);
}

static const struct xinst *x_atomic64(struct wave *w, const struct xinst *in)
{
    return atomic(w, in, true);
}

exec_fn *SEM(vmem_atomic)(const struct isa_inst *inst, struct xinst *x)
{
    const struct memop *op = memop_of(inst->op);
    if (inst->dst.kind == ISA_NONE) /* MUBUF returns into its data register */
        x->d = x->s[1];
    return op->kind == MEMOP_B64 ? x_atomic64 : x_atomic32;
}
