/* SPDX-License-Identifier: MIT */
/*
 * MUBUF and MTBUF: buffer loads and stores, typed and untyped, and fences.
 *
 * Loads and stores of several dwords check each dword on its own; formats and
 * atomics are in range as a whole or not at all.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 9, 12.14 (MTBUF), 12.15 (MUBUF).
 */
#include "sem/valu_rows.h"
#include "sem/vmem_buffer.h"
#include "sem/vmem_format.h"

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

INLINE const struct xinst *buffer_load(struct wave *w, const struct xinst *in, enum mem_kind kind)
{
    struct mem_request r;
    wave_row *d = w->v + in->d;
    MEM_COUNT(w, bytes_read, mem_bytes(kind));
    r.write = false;
    vmem_buffer_address(w, in, mem_bytes(kind), &r);
    vmem_check(w, in, &r, mem_bytes(kind));
    uint64_t rest = w->exec & ~r.mask;
    struct { /* the rest's bytes, read before any address register is overwritten */
        uint8_t bytes[16];
    } copy[WAVE_LANES];
    mem_begin(w, in);
    if (MEM_UNLIKELY(rest)) {
        struct vmem_buffer b = vmem_buffer_of(w, in);
        MEM_FOR_LANES(lane, rest)
        {
            memset(copy[lane].bytes, 0, 16);
            lane_pieces(w, in, &b, (unsigned)lane, mem_bytes(kind), copy[lane].bytes, false);
        }
    }
    MEM_FOR_LANES(lane, r.mask)
    mem_lane_load(d, (unsigned)lane, kind, (const void *)(uintptr_t)r.addr[lane]);
    MEM_FOR_LANES(lane, rest)
    mem_lane_load(d, (unsigned)lane, kind, copy[lane].bytes);
    mem_end(w);
    return in + 1;
}

INLINE const struct xinst *buffer_store(struct wave *w, const struct xinst *in, enum mem_kind kind)
{
    struct mem_request r;
    const wave_row *s = w->v + in->s[1];
    MEM_COUNT(w, bytes_written, mem_bytes(kind));
    r.write = true;
    vmem_buffer_address(w, in, mem_bytes(kind), &r);
    vmem_check(w, in, &r, mem_bytes(kind));
    struct vmem_buffer b = vmem_buffer_of(w, in);
    mem_begin(w, in);
    MEM_FOR_LANES(lane, w->exec)
    {
        if (MEM_LIKELY(r.mask >> lane & 1)) {
            mem_lane_store(s, (unsigned)lane, kind, (void *)(uintptr_t)r.addr[lane]);
        } else {
            uint8_t copy[16];
            mem_lane_store(s, (unsigned)lane, kind, copy);
            lane_pieces(w, in, &b, (unsigned)lane, mem_bytes(kind), copy, true);
        }
    }
    mem_end(w);
    if (in->isa->sc1)
        atomic_thread_fence(memory_order_seq_cst); /* see vmem.c */
    return in + 1;
}

static const struct xinst *x_load_lds(struct wave *w, const struct xinst *in)
{
    const enum mem_kind kind = (enum mem_kind)in->reg[1];
    struct mem_request r;
    uint64_t lanes = w->exec & vmem_lds_lanes(w, in);
    MEM_COUNT(w, bytes_read, mem_bytes(kind));
    r.write = false;
    vmem_buffer_address(w, in, mem_bytes(kind), &r);
    vmem_check(w, in, &r, mem_bytes(kind));
    const struct vmem_buffer b = vmem_buffer_of(w, in);
    mem_begin(w, in);
    MEM_FOR_LANES(lane, lanes)
    {
        uint8_t copy[16] = {0};
        const void *from = copy;
        if (r.mask >> lane & 1)
            from = (const void *)(uintptr_t)r.addr[lane];
        else
            lane_pieces(w, in, &b, (unsigned)lane, mem_bytes(kind), copy, false);
        vmem_to_lds(w, in, (unsigned)lane, kind, from);
    }
    mem_end(w);
    return in + 1;
}

/* ---- formats ---- */

struct format {
    struct vmem_layout layout;
    unsigned nfmt, bytes;
    uint16_t dst_sel;
};

static struct format format_of(struct wave *w, const struct xinst *in, const struct vmem_buffer *b)
{
    bool typed = mem_space_of(in) == MEM_TBUFFER;
    unsigned dfmt = typed ? in->isa->dfmt : b->dfmt, nfmt = typed ? in->isa->nfmt : b->nfmt;
    if (!vmem_format_valid(dfmt, nfmt))
        wave_fault(w, in, EHP_FAULT_UNIMPLEMENTED, 0, false, UINT_MAX);
    struct vmem_layout layout = vmem_layout_of(dfmt);
    return (struct format){layout, nfmt, vmem_layout_bytes(layout), b->dst_sel};
}

/* The kind of access that moves this many bytes. */
static enum mem_kind format_kind(unsigned bytes)
{
    return bytes == 1    ? MEM_B8
           : bytes == 2  ? MEM_B16
           : bytes == 4  ? MEM_B32
           : bytes == 8  ? MEM_B64
           : bytes == 12 ? MEM_B96
                         : MEM_B128;
}

#define EACH_FORMAT_KIND(X, kind)                                                                            \
    switch (kind) {                                                                                          \
    case MEM_B8:                                                                                             \
        X(MEM_B8);                                                                                           \
        break;                                                                                               \
    case MEM_B16:                                                                                            \
        X(MEM_B16);                                                                                          \
        break;                                                                                               \
    case MEM_B32:                                                                                            \
        X(MEM_B32);                                                                                          \
        break;                                                                                               \
    case MEM_B64:                                                                                            \
        X(MEM_B64);                                                                                          \
        break;                                                                                               \
    case MEM_B96:                                                                                            \
        X(MEM_B96);                                                                                          \
        break;                                                                                               \
    default:                                                                                                 \
        X(MEM_B128);                                                                                         \
        break;                                                                                               \
    }

/* Memory's dwords of every active lane; returns the lanes that are inside of the buffer. */
static uint64_t read_format(struct wave *w, const struct xinst *in, const struct vmem_buffer *b,
                            unsigned bytes, wave_row *raw)
{
    struct mem_request r;
    r.write = false;
    vmem_buffer_address(w, in, bytes, &r);
    vmem_check(w, in, &r, bytes);
    uint64_t inside = r.mask;
    mem_begin(w, in);
#define LOAD_RAW(kind)                                                                                       \
    MEM_FOR_LANES(lane, r.mask)                                                                              \
    mem_lane_load(raw, (unsigned)lane, kind, (const void *)(uintptr_t)r.addr[lane])
    EACH_FORMAT_KIND(LOAD_RAW, format_kind(bytes))
    MEM_FOR_LANES(lane, w->exec & ~r.mask)
    {
        uint8_t copy[16] = {0};
        if (!vmem_inside(b, vmem_place_of(w, in, b, (unsigned)lane), 0, bytes))
            continue;
        lane_pieces(w, in, b, (unsigned)lane, bytes, copy, false);
        mem_lane_load(raw, (unsigned)lane, MEM_B128, copy);
        inside |= UINT64_C(1) << lane;
    }
    mem_end(w);
    return inside;
}

/* Lanes in order: of several that store to one place, the last one's value stays. */
static void write_format(struct wave *w, const struct xinst *in, const struct vmem_buffer *b, unsigned bytes,
                         const wave_row *raw)
{
    struct mem_request r;
    r.write = true;
    vmem_buffer_address(w, in, bytes, &r);
    vmem_check(w, in, &r, bytes);
    mem_begin(w, in);
    if (MEM_LIKELY(r.mask == w->exec)) {
#define STORE_RAW(kind)                                                                                      \
    MEM_FOR_LANES(lane, r.mask)                                                                              \
    mem_lane_store(raw, (unsigned)lane, kind, (void *)(uintptr_t)r.addr[lane])
        EACH_FORMAT_KIND(STORE_RAW, format_kind(bytes))
    } else {
        MEM_FOR_LANES(lane, w->exec)
        {
            uint8_t copy[16];
            if (!vmem_inside(b, vmem_place_of(w, in, b, (unsigned)lane), 0, bytes))
                continue;
            mem_lane_store(raw, (unsigned)lane, MEM_B128, copy);
            lane_pieces(w, in, b, (unsigned)lane, bytes, copy, true);
        }
    }
    mem_end(w);
}

static unsigned component_at(const struct format *f, unsigned c)
{
    unsigned at = 0;
    for (unsigned i = 0; i < c; i++)
        at += f->layout.bits[i];
    return at;
}

/*
 * Component `select` (V#.dst_sel: 0, 1, or 4..7 for X..W) of what was read, in
 * `row` unless it is there already; W is 1 where there is none.  Lanes outside of
 * the buffer read 0.
 */
static const uint32_t *read_component(const struct format *f, const wave_row *raw, unsigned select,
                                      uint64_t outside, uint32_t *row)
{
    const uint32_t one = vmem_nfmt_is_integer(f->nfmt) ? 1 : f32_bits(1);
    const unsigned c = select & 3, bits = f->layout.bits[c], at = component_at(f, c), nfmt = f->nfmt;
    const uint32_t constant = select < 4 ? (select == 1 ? one : 0) : c == 3 ? one : 0;
    const bool given = select >= 4 && bits;
    if (MEM_LIKELY(given && bits == 32 && !outside))
        return raw[at / 32];
    if (!given)
        for (unsigned l = 0; l < WAVE_LANES; l++)
            row[l] = constant;
    else if (bits == 32)
        memcpy(row, raw[at / 32], sizeof(wave_row));
    else
        for (unsigned l = 0; l < WAVE_LANES; l++)
            row[l] = vmem_decode(raw[at / 32][l] >> at % 32 & vmem_bits_mask(bits), bits, nfmt);
    if (select >= 4)
        MEM_FOR_LANES(lane, outside)
    row[lane] = 0;
    return row;
}

static const struct xinst *x_load_format(struct wave *w, const struct xinst *in)
{
    const struct mem_op *op = mem_op_of(in->isa->op);
    struct vmem_buffer b = vmem_buffer_of(w, in);
    struct format f = format_of(w, in, &b);
    wave_row *d = w->v + in->d;
    alignas(64) wave_row raw[4], row;
    memset(raw, 0, (f.bytes + 3) / 4 * sizeof(wave_row));
    MEM_COUNT(w, bytes_read, f.bytes);
    const uint64_t outside = w->exec & ~read_format(w, in, &b, f.bytes, raw);
    for (unsigned c = 0; c < op->kind; c++) {
        const uint32_t *from = read_component(&f, raw, f.dst_sel >> 3 * c & 7, outside, row);
        if (!op->d16) {
            mem_row_merge(d[c], from, w->exec);
            continue;
        }
        const unsigned shift = op->high || c % 2 ? 16 : 0;
        if (!vmem_nfmt_is_integer(f.nfmt))
            row_to_f16(row, (const float *)(const void *)from), from = row;
        for (unsigned l = 0; l < WAVE_LANES; l++)
            row[l] = (d[c / 2][l] & ~(0xffffu << shift)) | (from[l] & 0xffff) << shift;
        mem_row_merge(d[c / 2], row, w->exec);
    }
    return in + 1;
}

/* All of the format's components must be given: what memory would get for the others is not documented. */
static const struct xinst *x_store_format(struct wave *w, const struct xinst *in)
{
    const struct mem_op *op = mem_op_of(in->isa->op);
    struct vmem_buffer b = vmem_buffer_of(w, in);
    struct format f = format_of(w, in, &b);
    const wave_row *s = w->v + in->s[1];
    wave_row raw[4] = {0}, row;
    unsigned count = 0;
    while (count < 4 && f.layout.bits[count])
        count++;
    if (op->kind < count)
        wave_fault(w, in, EHP_FAULT_UNIMPLEMENTED, 0, true, UINT_MAX);
    MEM_COUNT(w, bytes_written, f.bytes);
    for (unsigned c = 0; c < count; c++) {
        const unsigned bits = f.layout.bits[c], at = component_at(&f, c), shift = op->high || c % 2 ? 16 : 0;
        memcpy(row, s[op->d16 ? c / 2 : c], sizeof(row));
        if (op->d16) {
            for (unsigned l = 0; l < WAVE_LANES; l++)
                row[l] = row[l] >> shift & 0xffff;
            if (f.nfmt == NFMT_SINT)
                for (unsigned l = 0; l < WAVE_LANES; l++)
                    row[l] = (uint32_t)(int32_t)(int16_t)row[l];
            else if (f.nfmt != NFMT_UINT)
                for (unsigned l = 0; l < WAVE_LANES; l++)
                    row[l] = f32_bits(f16_to_f32((uint16_t)row[l]));
        }
        if (bits == 32)
            memcpy(raw[at / 32], row, sizeof(row));
        else
            for (unsigned l = 0; l < WAVE_LANES; l++)
                raw[at / 32][l] |= vmem_encode(row[l], bits, f.nfmt) << at % 32;
    }
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
    X(MEM_B8)                                                                                                \
    X(MEM_I8)                                                                                                \
    X(MEM_B16)                                                                                               \
    X(MEM_I16)                                                                                               \
    X(MEM_B8_D16)                                                                                            \
    X(MEM_B8_D16_HI)                                                                                         \
    X(MEM_I8_D16)                                                                                            \
    X(MEM_I8_D16_HI)                                                                                         \
    X(MEM_B16_D16)                                                                                           \
    X(MEM_B16_D16_HI)                                                                                        \
    X(MEM_B32)                                                                                               \
    X(MEM_B64)                                                                                               \
    X(MEM_B96)                                                                                               \
    X(MEM_B128)
#define STORES(X)                                                                                            \
    X(MEM_B8)                                                                                                \
    X(MEM_B16)                                                                                               \
    X(MEM_B8_D16_HI)                                                                                         \
    X(MEM_B16_D16_HI)                                                                                        \
    X(MEM_B32)                                                                                               \
    X(MEM_B64)                                                                                               \
    X(MEM_B96)                                                                                               \
    X(MEM_B128)

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
static exec_fn *const loads[MEM_KINDS] = {LOADS(LOAD_ROW)};
static exec_fn *const stores[MEM_KINDS] = {STORES(STORE_ROW)};

exec_fn *SEM(vmem_buffer)(const struct isa_inst *inst, struct xinst *x)
{
    const struct mem_op *op = mem_op_of(inst->op);
    mem_resolve(inst, x);
    x->reg[1] = op->kind;
    switch (op->action) {
    case MEM_LOAD:
        if (!inst->lds)
            return loads[op->kind];
        return op->kind <= MEM_I16 || op->kind == MEM_B32 ? x_load_lds : NULL;
    case MEM_STORE:
        return stores[op->kind];
    case MEM_ATOMIC:
        return SEM(vmem_atomic)(inst, x);
    case MEM_LOAD_FORMAT:
        return x_load_format;
    case MEM_STORE_FORMAT:
        return x_store_format;
    case MEM_FENCE:
        return x_fence;
    default:
        return NULL;
    }
}
