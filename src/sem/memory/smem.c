/* SPDX-License-Identifier: MIT */
/*
 * Scalar memory: loads, stores, atomics, cache control, clocks.
 *
 * The scalar cache is coherent here: invalidations and write-backs do nothing.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 8 (scalar memory), 12.6, 13.2.
 */
#include "sem/memory/smem.h"

#include "wave/handlers.h"
#include "sem/memory/memop_atomic.h"
#include "sem/memory/memop_halves.h"

/* Fields: memop_resolve(); data or result in SGPRs from sd. */

/* ---- loads ---- */

__attribute__((always_inline)) static inline const struct xinst *
load_from(struct wave *w, const struct xinst *in, unsigned dwords, uint64_t address)
{
    uint32_t value[16];
    if (MEMOP_UNLIKELY(w->stats != NULL))
        w->stats->bytes_read += dwords * 4;
    memop_begin(w, in);
    memcpy(value, (const memop_u32 *)(uintptr_t)address, dwords * 4); /* all, as one may be the base */
    memop_end(w);
    memcpy(w->s + in->sd, value, dwords * 4);
    return in + 1;
}

/* Apart, so that the common path keeps no frame. */
__attribute__((noinline)) static const struct xinst *load_far(struct wave *w, const struct xinst *in,
                                                              unsigned dwords, unsigned shift)
{
    uint64_t address = smem_place(w, in, shift);
    smem_check(w, in, address, 4 * dwords, false);
    return load_from(w, in, dwords, address);
}

__attribute__((always_inline)) static inline const struct xinst *
load_shifted(struct wave *w, const struct xinst *in, unsigned dwords, unsigned shift)
{
    uint64_t address = smem_place(w, in, shift);
    if (MEMOP_UNLIKELY(wave_is_outside(w, address)))
        return load_far(w, in, dwords, shift);
    return load_from(w, in, dwords, address);
}

__attribute__((always_inline)) static inline const struct xinst *load(struct wave *w, const struct xinst *in,
                                                                      unsigned dwords)
{
    return load_shifted(w, in, dwords, 0);
}

static inline const struct xinst *scratch_load(struct wave *w, const struct xinst *in, unsigned dwords)
{
    return load_shifted(w, in, dwords, SMEM_SCRATCH_SHIFT);
}

static inline const struct xinst *buffer_load(struct wave *w, const struct xinst *in, unsigned dwords)
{
    unsigned inside = dwords;
    uint64_t address = smem_buffer_place(w, in, &inside);
    uint32_t value[16] = {0};
    if (MEMOP_UNLIKELY(w->stats != NULL))
        w->stats->bytes_read += dwords * 4;
    if (inside) {
        smem_check(w, in, address, 4 * inside, false);
        memop_begin(w, in);
        memcpy(value, (const memop_u32 *)(uintptr_t)address, (size_t)inside * 4);
        memop_end(w);
    }
    memcpy(w->s + in->sd, value, dwords * 4);
    return in + 1;
}

/* ---- stores ---- */

static inline void store_to(struct wave *w, const struct xinst *in, unsigned dwords, uint64_t address)
{
    smem_check(w, in, address, 4 * dwords, true);
    memop_begin(w, in);
    memcpy((memop_u32 *)(uintptr_t)address, w->s + in->sd, (size_t)dwords * 4);
    memop_end(w);
}

static inline const struct xinst *store(struct wave *w, const struct xinst *in, unsigned dwords)
{
    if (MEMOP_UNLIKELY(w->stats != NULL))
        w->stats->bytes_written += dwords * 4;
    store_to(w, in, dwords, smem_place(w, in, 0));
    return in + 1;
}

static inline const struct xinst *scratch_store(struct wave *w, const struct xinst *in, unsigned dwords)
{
    if (MEMOP_UNLIKELY(w->stats != NULL))
        w->stats->bytes_written += dwords * 4;
    store_to(w, in, dwords, smem_place(w, in, SMEM_SCRATCH_SHIFT));
    return in + 1;
}

static inline const struct xinst *buffer_store(struct wave *w, const struct xinst *in, unsigned dwords)
{
    unsigned inside = dwords;
    uint64_t address = smem_buffer_place(w, in, &inside);
    if (MEMOP_UNLIKELY(w->stats != NULL))
        w->stats->bytes_written += dwords * 4;
    if (inside)
        store_to(w, in, inside, address);
    return in + 1;
}

#define SIZED(name, dwords)                                                                                  \
    static const struct xinst *x_##name##dwords(struct wave *w, const struct xinst *in)                      \
    {                                                                                                        \
        return name(w, in, dwords);                                                                          \
    }
SIZED(load, 1)
SIZED(load, 2)
SIZED(load, 4)
SIZED(load, 8)
SIZED(load, 16)
SIZED(buffer_load, 1)
SIZED(buffer_load, 2)
SIZED(buffer_load, 4)
SIZED(buffer_load, 8)
SIZED(buffer_load, 16)
SIZED(scratch_load, 1)
SIZED(scratch_load, 2)
SIZED(scratch_load, 4)
SIZED(store, 1)
SIZED(store, 2)
SIZED(store, 4)
SIZED(buffer_store, 1)
SIZED(buffer_store, 2)
SIZED(buffer_store, 4)
SIZED(scratch_store, 1)
SIZED(scratch_store, 2)
SIZED(scratch_store, 4)

/* ---- atomics ---- */

static const struct xinst *x_atomic(struct wave *w, const struct xinst *in)
{
    const struct memop *op = memop_of(in->isa->op);
    struct memop_scalar a;
    const unsigned sd = in->sd;
    if (w->stats)
        w->stats->atomics++;
    memop_scalar_address(w, in, &a);
    if (a.bytes) {
        const bool wide = op->kind == MEMOP_B64;
        void *place = (void *)(uintptr_t)a.address;
        uint64_t old = 0;
        memop_begin(w, in);
        if (wide)
            old = memop_host_atomic64((enum memop_atomic)op->atomic, place, wave_sgpr64(w, sd),
                                      op->atomic == MEMOP_CMPSWAP ? wave_sgpr64(w, sd + 2) : 0);
        else
            old = memop_host_atomic32((enum memop_atomic)op->atomic, place, w->s[sd],
                                      op->atomic == MEMOP_CMPSWAP ? w->s[sd + 1] : 0);
        memop_end(w);
        if (a.returns)
            memcpy(w->s + sd, &old, wide ? 8 : 4);
    } else if (a.returns) {
        memset(w->s + sd, 0, op->kind == MEMOP_B64 ? 8 : 4);
    }
    return in + 1;
}

/* ---- the rest ---- */

static const struct xinst *x_nothing(struct wave *w, const struct xinst *in)
{
    (void)w;
    return in + 1;
}

static const struct xinst *x_memtime(struct wave *w, const struct xinst *in)
{
    wave_set_sgpr64(w, in->sd, wave_clock(w));
    return in + 1;
}

static const struct xinst *x_memrealtime(struct wave *w, const struct xinst *in)
{
    wave_set_sgpr64(w, in->sd, wave_realtime(w));
    return in + 1;
}

exec_fn *sem_smem(const struct isa_inst *inst, struct xinst *x)
{
    memop_resolve(inst, x);
    x->sd = (uint8_t)(inst->dst.kind == ISA_SGPR ? inst->dst.reg : inst->src[ISA_DATA].reg);
    if (memop_of(inst->op)->action == MEMOP_ATOMIC)
        return x_atomic;
    switch (inst->op) {
    case ISA_OP_s_load_dword:
        return x_load1;
    case ISA_OP_s_load_dwordx2:
        return x_load2;
    case ISA_OP_s_load_dwordx4:
        return x_load4;
    case ISA_OP_s_load_dwordx8:
        return x_load8;
    case ISA_OP_s_load_dwordx16:
        return x_load16;
    case ISA_OP_s_buffer_load_dword:
        return x_buffer_load1;
    case ISA_OP_s_buffer_load_dwordx2:
        return x_buffer_load2;
    case ISA_OP_s_buffer_load_dwordx4:
        return x_buffer_load4;
    case ISA_OP_s_buffer_load_dwordx8:
        return x_buffer_load8;
    case ISA_OP_s_buffer_load_dwordx16:
        return x_buffer_load16;
    case ISA_OP_s_store_dword:
        return x_store1;
    case ISA_OP_s_store_dwordx2:
        return x_store2;
    case ISA_OP_s_store_dwordx4:
        return x_store4;
    case ISA_OP_s_buffer_store_dword:
        return x_buffer_store1;
    case ISA_OP_s_buffer_store_dwordx2:
        return x_buffer_store2;
    case ISA_OP_s_buffer_store_dwordx4:
        return x_buffer_store4;
    case ISA_OP_s_scratch_load_dword:
        return x_scratch_load1;
    case ISA_OP_s_scratch_load_dwordx2:
        return x_scratch_load2;
    case ISA_OP_s_scratch_load_dwordx4:
        return x_scratch_load4;
    case ISA_OP_s_scratch_store_dword:
        return x_scratch_store1;
    case ISA_OP_s_scratch_store_dwordx2:
        return x_scratch_store2;
    case ISA_OP_s_scratch_store_dwordx4:
        return x_scratch_store4;
    case ISA_OP_s_memtime:
        return x_memtime;
    case ISA_OP_s_memrealtime:
        return x_memrealtime;
    case ISA_OP_s_dcache_inv:
    case ISA_OP_s_dcache_inv_vol:
    case ISA_OP_s_dcache_wb:
    case ISA_OP_s_dcache_wb_vol:
    case ISA_OP_s_dcache_discard:
    case ISA_OP_s_dcache_discard_x2:
    case ISA_OP_s_atc_probe:
    case ISA_OP_s_atc_probe_buffer:
        return x_nothing;
    default:
        return NULL;
    }
}
