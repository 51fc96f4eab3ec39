/* SPDX-License-Identifier: MIT */
/*
 * Scalar memory: loads, stores, atomics, cache control, clocks.
 *
 * An address is base + immediate + scalar offset with the two low bits dropped.
 * The scalar cache is coherent here: invalidations and write-backs do nothing.
 *
 * The scalar offset of s_scratch_load and s_scratch_store counts 64 bytes.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 8 (scalar memory), 12.6, 13.2.
 */
#include <limits.h>

#include "exec/handlers.h"
#include "sem/mem_atomic.h"

/* Fields: mem_resolve(); data or result in SGPRs from sd. */
static inline uint64_t scalar_offset(const struct wave *w, const struct xinst *in)
{
    uint64_t soffset = in->ss[1] != XSRC_CONST ? w->s[in->ss[1]] : in->literal[1];
    return mem_offset(in) + soffset;
}

static inline uint64_t scalar_place(const struct wave *w, const struct xinst *in)
{
    return (wave_sgpr64(w, in->ss[0]) + scalar_offset(w, in)) & ~UINT64_C(3);
}

static inline uint64_t scalar_address(struct wave *w, const struct xinst *in, unsigned dwords, bool write)
{
    uint64_t address = scalar_place(w, in);
    if (MEM_UNLIKELY(wave_is_outside(w, address)) && !wave_may_access(w, address, dwords * 4))
        wave_fault(w, in, EHP_FAULT_MEMORY, address, write, UINT_MAX);
    return address;
}

/* ---- loads ---- */

__attribute__((always_inline)) static inline const struct xinst *
load_from(struct wave *w, const struct xinst *in, unsigned dwords, uint64_t address)
{
    uint32_t value[16];
    if (MEM_UNLIKELY(w->stats != NULL))
        w->stats->bytes_read += dwords * 4;
    mem_begin(w, in);
    memcpy(value, (const mem_u32 *)(uintptr_t)address, dwords * 4); /* all, as one may be the base */
    mem_end(w);
    memcpy(w->s + in->sd, value, dwords * 4);
    return in + 1;
}

/* Apart, so that the common path keeps no frame. */
__attribute__((noinline)) static const struct xinst *load_far(struct wave *w, const struct xinst *in,
                                                              unsigned dwords)
{
    return load_from(w, in, dwords, scalar_address(w, in, dwords, false));
}

__attribute__((always_inline)) static inline const struct xinst *load(struct wave *w, const struct xinst *in,
                                                                      unsigned dwords)
{
    uint64_t address = scalar_place(w, in);
    if (MEM_UNLIKELY(wave_is_outside(w, address)))
        return load_far(w, in, dwords);
    return load_from(w, in, dwords, address);
}

/* A buffer's base and size in bytes from its descriptor. */
static uint64_t buffer_base(const struct wave *w, const struct xinst *in, uint64_t *bytes)
{
    const uint32_t *v = w->s + in->ss[0];
    uint32_t stride = v[1] >> 16 & 0x3fff;
    *bytes = stride ? (uint64_t)stride * v[2] : v[2];
    return v[0] | (uint64_t)(v[1] & 0xffff) << 32;
}

/* Dwords beyond the buffer read 0. */
static inline const struct xinst *buffer_load(struct wave *w, const struct xinst *in, unsigned dwords)
{
    uint64_t bytes, base = buffer_base(w, in, &bytes), offset = scalar_offset(w, in) & ~UINT64_C(3);
    uint32_t value[16] = {0};
    if (MEM_UNLIKELY(w->stats != NULL))
        w->stats->bytes_read += dwords * 4;
    mem_begin(w, in);
    for (unsigned i = 0; i < dwords; i++) {
        uint64_t at = offset + 4 * i;
        uint64_t address = (base + at) & ~UINT64_C(3);
        if (at + 4 > bytes)
            continue;
        if (wave_is_outside(w, address) && !wave_may_access(w, address, 4))
            wave_fault(w, in, EHP_FAULT_MEMORY, address, false, UINT_MAX);
        value[i] = *(const uint32_t *)(uintptr_t)address;
    }
    mem_end(w);
    memcpy(w->s + in->sd, value, dwords * 4);
    return in + 1;
}

/* ---- stores ---- */

static inline const struct xinst *store(struct wave *w, const struct xinst *in, unsigned dwords)
{
    mem_u32 *to = (mem_u32 *)(uintptr_t)scalar_address(w, in, dwords, true);
    if (MEM_UNLIKELY(w->stats != NULL))
        w->stats->bytes_written += dwords * 4;
    mem_begin(w, in);
    memcpy(to, w->s + in->sd, dwords * 4);
    mem_end(w);
    return in + 1;
}

static inline const struct xinst *buffer_store(struct wave *w, const struct xinst *in, unsigned dwords)
{
    uint64_t bytes, base = buffer_base(w, in, &bytes), offset = scalar_offset(w, in) & ~UINT64_C(3);
    if (MEM_UNLIKELY(w->stats != NULL))
        w->stats->bytes_written += dwords * 4;
    mem_begin(w, in);
    for (unsigned i = 0; i < dwords; i++) {
        uint64_t at = offset + 4 * i;
        uint64_t address = (base + at) & ~UINT64_C(3);
        if (at + 4 > bytes)
            continue;
        if (wave_is_outside(w, address) && !wave_may_access(w, address, 4))
            wave_fault(w, in, EHP_FAULT_MEMORY, address, true, UINT_MAX);
        *(uint32_t *)(uintptr_t)address = w->s[in->sd + i];
    }
    mem_end(w);
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
SIZED(store, 1)
SIZED(store, 2)
SIZED(store, 4)
SIZED(buffer_store, 1)
SIZED(buffer_store, 2)
SIZED(buffer_store, 4)

/* ---- atomics ---- */

static bool is_buffer(const struct isa_inst *inst)
{
    return inst->src[ISA_SBASE].dwords == 4;
}

static const struct xinst *x_atomic(struct wave *w, const struct xinst *in)
{
    const struct mem_op *op = mem_op_of(in->isa->op);
    bool wide = op->kind == MEM_B64;
    uint64_t address;
    unsigned sd = in->sd;
    if (w->stats)
        w->stats->atomics++;
    if (is_buffer(in->isa)) {
        uint64_t bytes, base = buffer_base(w, in, &bytes), offset = scalar_offset(w, in) & ~UINT64_C(3);
        address = (base + offset) & ~UINT64_C(3);
        if (offset + (wide ? 8 : 4) > bytes) {
            if (in->isa->sc0)
                memset(w->s + sd, 0, wide ? 8 : 4);
            return in + 1;
        }
        if (wave_is_outside(w, address) && !wave_may_access(w, address, wide ? 8 : 4))
            wave_fault(w, in, EHP_FAULT_MEMORY, address, true, UINT_MAX);
    } else {
        address = scalar_address(w, in, wide ? 2 : 1, true);
    }
    if (wide && address % 8)
        wave_fault(w, in, EHP_FAULT_MISALIGNED, address, true, UINT_MAX);
    void *place = (void *)(uintptr_t)address;
    mem_begin(w, in);
    if (wide) {
        uint64_t old = mem_host_atomic64((enum mem_atomic)op->atomic, place, wave_sgpr64(w, sd),
                                         op->atomic == MEM_CMPSWAP ? wave_sgpr64(w, sd + 2) : 0);
        if (in->isa->sc0)
            wave_set_sgpr64(w, sd, old);
    } else {
        uint32_t old = mem_host_atomic32((enum mem_atomic)op->atomic, place, w->s[sd],
                                         op->atomic == MEM_CMPSWAP ? w->s[sd + 1] : 0);
        if (in->isa->sc0)
            w->s[sd] = old;
    }
    mem_end(w);
    return in + 1;
}

/* ---- scratch: the scalar offset as what the plain handlers take ---- */

static const struct xinst *scratch(struct wave *w, const struct xinst *in, bool write, unsigned dwords)
{
    struct xinst scaled = *in;
    scaled.literal[1] = 64 * (uint64_t)(in->ss[1] != XSRC_CONST ? w->s[in->ss[1]] : (uint32_t)in->literal[1]);
    scaled.ss[1] = XSRC_CONST;
    if (write)
        store(w, &scaled, dwords);
    else
        load(w, &scaled, dwords);
    return in + 1;
}
#define SCRATCH(name, write, dwords)                                                                         \
    static const struct xinst *x_scratch_##name##dwords(struct wave *w, const struct xinst *in)              \
    {                                                                                                        \
        return scratch(w, in, write, dwords);                                                                \
    }
SCRATCH(load, false, 1)
SCRATCH(load, false, 2)
SCRATCH(load, false, 4)
SCRATCH(store, true, 1)
SCRATCH(store, true, 2)
SCRATCH(store, true, 4)

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
    mem_resolve(inst, x);
    x->sd = (uint8_t)(inst->dst.kind == ISA_SGPR ? inst->dst.reg : inst->src[ISA_DATA].reg);
    if (mem_op_of(inst->op)->action == MEM_ATOMIC)
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
