/* SPDX-License-Identifier: MIT */
/*
 * MUBUF and MTBUF: buffer loads and stores, typed and untyped, and fences.
 *
 * Loads and stores of several dwords check each dword on its own; formats and
 * atomics are in range as a whole or not at all.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 9, 12.14 (MTBUF), 12.15 (MUBUF).
 */
#include "sem/memory/vmem_buffer.h"
#include "sem/memory/vmem_typed.h"

#define INLINE __attribute__((always_inline)) static inline

/* ---- plain loads and stores ---- */

/* A lane that is not in one piece: dword by dword, those outside stay as they are in `copy`. */
static void lane_pieces(struct wave *w, const struct xinst *in, const struct vmem_buffer *b, unsigned lane,
                        unsigned bytes, uint8_t *copy, bool write)
{
    struct vmem_place p = vmem_place_of(w, in, b, lane);
    for (unsigned at = 0; at < bytes; at += 4) {
        unsigned piece = bytes - at < 4 ? bytes - at : 4;
        if (!vmem_inside(b, p, at, piece))
            continue;
        for (unsigned i = 0; i < piece; i++) {
            uint64_t address = b->base + vmem_linear(b, p, at + i);
            if (wave_is_outside(w, address) && !wave_may_access(w, address, 1))
                wave_fault(w, in, EHP_FAULT_MEMORY, address, write, lane);
            if (write)
                *(uint8_t *)(uintptr_t)address = copy[at + i];
            else
                copy[at + i] = *(const uint8_t *)(uintptr_t)address;
        }
    }
}

INLINE const struct xinst *buffer_load(struct wave *w, const struct xinst *in, enum memop_kind kind)
{
    struct memop_request r;
    wave_row *d = w->v + in->d;
    MEMOP_COUNT(w, bytes_read, memop_bytes(kind));
    r.write = false;
    vmem_buffer_address(w, in, memop_bytes(kind), &r);
    vmem_check(w, in, &r, memop_bytes(kind));
    uint64_t rest = w->exec & ~r.mask;
    struct { /* the rest's bytes, read before any address register is overwritten */
        uint8_t bytes[16];
    } copy[WAVE_LANES];
    memop_begin(w, in);
    if (MEMOP_UNLIKELY(rest)) {
        struct vmem_buffer b = vmem_buffer_of(w, in);
        MEMOP_FOR_LANES(lane, rest)
        {
            memset(copy[lane].bytes, 0, 16);
            lane_pieces(w, in, &b, (unsigned)lane, memop_bytes(kind), copy[lane].bytes, false);
        }
    }
    MEMOP_FOR_LANES(lane, r.mask)
    memop_lane_load(d, (unsigned)lane, kind, (const void *)(uintptr_t)r.addr[lane]);
    MEMOP_FOR_LANES(lane, rest)
    memop_lane_load(d, (unsigned)lane, kind, copy[lane].bytes);
    memop_end(w);
    return in + 1;
}

INLINE const struct xinst *buffer_store(struct wave *w, const struct xinst *in, enum memop_kind kind)
{
    struct memop_request r;
    const wave_row *s = w->v + in->s[1];
    MEMOP_COUNT(w, bytes_written, memop_bytes(kind));
    r.write = true;
    vmem_buffer_address(w, in, memop_bytes(kind), &r);
    vmem_check(w, in, &r, memop_bytes(kind));
    struct vmem_buffer b = vmem_buffer_of(w, in);
    memop_begin(w, in);
    MEMOP_FOR_LANES(lane, w->exec)
    {
        if (MEMOP_LIKELY(r.mask >> lane & 1)) {
            memop_lane_store(s, (unsigned)lane, kind, (void *)(uintptr_t)r.addr[lane]);
        } else {
            uint8_t copy[16];
            memop_lane_store(s, (unsigned)lane, kind, copy);
            lane_pieces(w, in, &b, (unsigned)lane, memop_bytes(kind), copy, true);
        }
    }
    memop_end(w);
    if (isa_policy_beyond_cu(in->isa->policy))
        atomic_thread_fence(memory_order_seq_cst); /* see vmem.c */
    return in + 1;
}

static const struct xinst *x_load_lds(struct wave *w, const struct xinst *in)
{
    const enum memop_kind kind = (enum memop_kind)in->mem.kind;
    struct memop_request r;
    uint64_t lanes = w->exec & vmem_lds_lanes(w, in);
    MEMOP_COUNT(w, bytes_read, memop_bytes(kind));
    r.write = false;
    vmem_buffer_address(w, in, memop_bytes(kind), &r);
    r.mask &= lanes;
    vmem_check(w, in, &r, memop_bytes(kind));
    const struct vmem_buffer b = vmem_buffer_of(w, in);
    memop_begin(w, in);
    MEMOP_FOR_LANES(lane, lanes)
    {
        uint8_t copy[16] = {0};
        const void *from = copy;
        if (r.mask >> lane & 1)
            from = (const void *)(uintptr_t)r.addr[lane];
        else
            lane_pieces(w, in, &b, (unsigned)lane, memop_bytes(kind), copy, false);
        vmem_to_lds(w, vmem_lds_base(w, in), (unsigned)lane, kind, from);
    }
    memop_end(w);
    return in + 1;
}

/* ---- formats ---- */

/* The kind of access that moves this many bytes. */
static enum memop_kind format_kind(unsigned bytes)
{
    return bytes == 1    ? MEMOP_B8
           : bytes == 2  ? MEMOP_B16
           : bytes == 4  ? MEMOP_B32
           : bytes == 8  ? MEMOP_B64
           : bytes == 12 ? MEMOP_B96
                         : MEMOP_B128;
}

#define EACH_FORMAT_KIND(X, kind)                                                                            \
    switch (kind) {                                                                                          \
    case MEMOP_B8:                                                                                           \
        X(MEMOP_B8);                                                                                         \
        break;                                                                                               \
    case MEMOP_B16:                                                                                          \
        X(MEMOP_B16);                                                                                        \
        break;                                                                                               \
    case MEMOP_B32:                                                                                          \
        X(MEMOP_B32);                                                                                        \
        break;                                                                                               \
    case MEMOP_B64:                                                                                          \
        X(MEMOP_B64);                                                                                        \
        break;                                                                                               \
    case MEMOP_B96:                                                                                          \
        X(MEMOP_B96);                                                                                        \
        break;                                                                                               \
    default:                                                                                                 \
        X(MEMOP_B128);                                                                                       \
        break;                                                                                               \
    }

/* Memory's dwords of every active lane; returns the lanes that are inside of the buffer. */
static uint64_t read_format(struct wave *w, const struct xinst *in, const struct vmem_buffer *b,
                            unsigned bytes, wave_row *raw)
{
    struct memop_request r;
    r.write = false;
    vmem_buffer_address(w, in, bytes, &r);
    vmem_check(w, in, &r, bytes);
    uint64_t inside = r.mask;
    memop_begin(w, in);
#define LOAD_RAW(kind)                                                                                       \
    MEMOP_FOR_LANES(lane, r.mask)                                                                            \
    memop_lane_load(raw, (unsigned)lane, kind, (const void *)(uintptr_t)r.addr[lane])
    EACH_FORMAT_KIND(LOAD_RAW, format_kind(bytes))
    MEMOP_FOR_LANES(lane, w->exec & ~r.mask)
    {
        uint8_t copy[16] = {0};
        if (!vmem_inside(b, vmem_place_of(w, in, b, (unsigned)lane), 0, bytes))
            continue;
        lane_pieces(w, in, b, (unsigned)lane, bytes, copy, false);
        memop_lane_load(raw, (unsigned)lane, MEMOP_B128, copy);
        inside |= UINT64_C(1) << lane;
    }
    memop_end(w);
    return inside;
}

/* Lanes in order: of several that store to one place, the last one's value stays. */
static void write_format(struct wave *w, const struct xinst *in, const struct vmem_buffer *b, unsigned bytes,
                         const wave_row *raw)
{
    struct memop_request r;
    r.write = true;
    vmem_buffer_address(w, in, bytes, &r);
    vmem_check(w, in, &r, bytes);
    memop_begin(w, in);
    if (MEMOP_LIKELY(r.mask == w->exec)) {
#define STORE_RAW(kind)                                                                                      \
    MEMOP_FOR_LANES(lane, r.mask)                                                                            \
    memop_lane_store(raw, (unsigned)lane, kind, (void *)(uintptr_t)r.addr[lane])
        EACH_FORMAT_KIND(STORE_RAW, format_kind(bytes))
    } else {
        MEMOP_FOR_LANES(lane, w->exec)
        {
            uint8_t copy[16];
            if (!vmem_inside(b, vmem_place_of(w, in, b, (unsigned)lane), 0, bytes))
                continue;
            memop_lane_store(raw, (unsigned)lane, MEMOP_B128, copy);
            lane_pieces(w, in, b, (unsigned)lane, bytes, copy, true);
        }
    }
    memop_end(w);
}

static const struct xinst *x_load_format(struct wave *w, const struct xinst *in)
{
    struct vmem_buffer b = vmem_buffer_of(w, in);
    struct vmem_format f = vmem_format_of(w, in, &b);
    alignas(64) wave_row raw[4];
    memset(raw, 0, (f.bytes + 3u) / 4 * sizeof(wave_row));
    MEMOP_COUNT(w, bytes_read, f.bytes);
    const uint64_t outside = w->exec & ~read_format(w, in, &b, f.bytes, raw);
    vmem_format_deliver(w, in, &f, raw, w->exec, outside);
    return in + 1;
}

static const struct xinst *x_store_format(struct wave *w, const struct xinst *in)
{
    struct vmem_buffer b = vmem_buffer_of(w, in);
    struct vmem_format f = vmem_format_of(w, in, &b);
    wave_row raw[4];
    vmem_format_take(w, in, &f, raw);
    MEMOP_COUNT(w, bytes_written, f.bytes);
    write_format(w, in, &b, f.bytes, raw);
    return in + 1;
}

/* ---- fences: what orders one XCD's caches with the others' is here the host's own order ---- */

static const struct xinst *x_fence(struct wave *w, const struct xinst *in)
{
    (void)w;
    atomic_thread_fence(memory_order_seq_cst);
    return in + 1;
}

/* ---- lookup ---- */

#define LOADS(X)                                                                                             \
    X(MEMOP_B8)                                                                                              \
    X(MEMOP_I8)                                                                                              \
    X(MEMOP_B16)                                                                                             \
    X(MEMOP_I16)                                                                                             \
    X(MEMOP_B8_D16)                                                                                          \
    X(MEMOP_B8_D16_HI)                                                                                       \
    X(MEMOP_I8_D16)                                                                                          \
    X(MEMOP_I8_D16_HI)                                                                                       \
    X(MEMOP_B16_D16)                                                                                         \
    X(MEMOP_B16_D16_HI)                                                                                      \
    X(MEMOP_B32)                                                                                             \
    X(MEMOP_B64)                                                                                             \
    X(MEMOP_B96)                                                                                             \
    X(MEMOP_B128)
#define STORES(X)                                                                                            \
    X(MEMOP_B8)                                                                                              \
    X(MEMOP_B16)                                                                                             \
    X(MEMOP_B8_D16_HI)                                                                                       \
    X(MEMOP_B16_D16_HI)                                                                                      \
    X(MEMOP_B32)                                                                                             \
    X(MEMOP_B64)                                                                                             \
    X(MEMOP_B96)                                                                                             \
    X(MEMOP_B128)

#define LOAD_HANDLER(kind)                                                                                   \
    static const struct xinst *x_load_##kind(struct wave *w, const struct xinst *in)                         \
    {                                                                                                        \
        return buffer_load(w, in, kind);                                                                     \
    }
#define STORE_HANDLER(kind)                                                                                  \
    static const struct xinst *x_store_##kind(struct wave *w, const struct xinst *in)                        \
    {                                                                                                        \
        return buffer_store(w, in, kind);                                                                    \
    }
LOADS(LOAD_HANDLER)
STORES(STORE_HANDLER)

#define LOAD_ROW(kind)  [kind] = x_load_##kind,
#define STORE_ROW(kind) [kind] = x_store_##kind,
static exec_fn *const loads[MEMOP_KINDS] = {LOADS(LOAD_ROW)};
static exec_fn *const stores[MEMOP_KINDS] = {STORES(STORE_ROW)};

exec_fn *SEM(vmem_buffer)(const struct isa_inst *inst, struct xinst *x)
{
    const struct memop *op = memop_of(inst->op);
    memop_resolve(inst, x);
    switch (op->action) {
    case MEMOP_LOAD:
        if (!inst->lds)
            return loads[op->kind];
        return op->kind <= MEMOP_I16 || op->kind == MEMOP_B32 ? x_load_lds : NULL;
    case MEMOP_STORE:
        return stores[op->kind];
    case MEMOP_ATOMIC:
        return SEM(vmem_atomic)(inst, x);
    case MEMOP_LOAD_FORMAT:
        return x_load_format;
    case MEMOP_STORE_FORMAT:
        return x_store_format;
    case MEMOP_FENCE:
        return x_fence;
    default:
        return NULL;
    }
}
