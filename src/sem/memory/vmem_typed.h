/* SPDX-License-Identifier: MIT */
/*
 * Typed buffer accesses: registers to a format's bytes, and back.
 *
 * `raw` is memory's dwords, a row each, of which bits beyond the format's are not
 * looked at and are zero when they are made.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 9, 12.14 (MTBUF), 12.15 (MUBUF).
 */
#ifndef EHP_SEM_MEMORY_VMEM_TYPED_H
#define EHP_SEM_MEMORY_VMEM_TYPED_H

#include "sem/vector/valu_rows.h"
#include "sem/memory/vmem_buffer.h"
#include "sem/memory/vmem_format.h"

struct vmem_format {
    struct vmem_layout layout;
    uint8_t nfmt, bytes;
    uint16_t dst_sel;
};

/* Faults when gfx942 does not define it. */
static inline struct vmem_format vmem_format_of(struct wave *w, const struct xinst *in,
                                                const struct vmem_buffer *b)
{
    bool typed = memop_space_of(in) == MEMOP_TBUFFER;
    unsigned dfmt = typed ? in->isa->dfmt : b->dfmt, nfmt = typed ? in->isa->nfmt : b->nfmt;
    if (!vmem_format_valid(dfmt, nfmt))
        wave_fault(w, in, EHP_FAULT_UNIMPLEMENTED, 0, false, UINT_MAX);
    struct vmem_layout layout = vmem_layout_of(dfmt);
    return (struct vmem_format){layout, (uint8_t)nfmt, (uint8_t)vmem_layout_bytes(layout), b->dst_sel};
}

static inline unsigned vmem_component_at(const struct vmem_format *f, unsigned c)
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
static inline const uint32_t *vmem_component(const struct vmem_format *f, const wave_row *raw,
                                             unsigned select, uint64_t outside, uint32_t *row)
{
    const uint32_t one = vmem_nfmt_is_integer(f->nfmt) ? 1 : f32_bits(1);
    const unsigned c = select & 3, bits = f->layout.bits[c], at = vmem_component_at(f, c), nfmt = f->nfmt;
    const uint32_t constant = select < 4 ? (select == 1 ? one : 0) : c == 3 ? one : 0;
    const bool given = select >= 4 && bits;
    if (MEMOP_LIKELY(given && bits == 32 && !outside))
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
        MEMOP_FOR_LANES(lane, outside)
    row[lane] = 0;
    return row;
}

/* What `lanes` have loaded, to their registers; of these, those `outside` were beyond the buffer. */
static inline void vmem_format_deliver(struct wave *w, const struct xinst *in, const struct vmem_format *f,
                                       const wave_row *raw, uint64_t lanes, uint64_t outside)
{
    const struct memop *op = memop_of(in->isa->op);
    wave_row *d = w->v + in->d;
    alignas(64) wave_row row;
    for (unsigned c = 0; c < op->kind; c++) {
        const uint32_t *from = vmem_component(f, raw, f->dst_sel >> 3 * c & 7, outside, row);
        if (!op->d16) {
            memop_row_merge(d[c], from, lanes);
            continue;
        }
        const unsigned shift = op->high || c % 2 ? 16 : 0;
        if (!vmem_nfmt_is_integer(f->nfmt))
            row_to_f16(row, (const float *)(const void *)from), from = row;
        for (unsigned l = 0; l < WAVE_LANES; l++)
            row[l] = (d[c / 2][l] & ~(0xffffu << shift)) | (from[l] & 0xffff) << shift;
        memop_row_merge(d[c / 2], row, lanes);
    }
}

/*
 * What a store writes.  All of the format's components must be given: what memory
 * would get for the others is not documented.
 */
static inline void vmem_format_take(struct wave *w, const struct xinst *in, const struct vmem_format *f,
                                    wave_row *raw)
{
    const struct memop *op = memop_of(in->isa->op);
    const wave_row *s = w->v + in->s[1];
    alignas(64) wave_row row;
    unsigned count = 0;
    while (count < 4 && f->layout.bits[count])
        count++;
    if (op->kind < count)
        wave_fault(w, in, EHP_FAULT_UNIMPLEMENTED, 0, true, UINT_MAX);
    memset(raw, 0, 4 * sizeof(*raw));
    for (unsigned c = 0; c < count; c++) {
        const unsigned bits = f->layout.bits[c], at = vmem_component_at(f, c);
        const unsigned shift = op->high || c % 2 ? 16 : 0;
        memcpy(row, s[op->d16 ? c / 2 : c], sizeof(row));
        if (op->d16) {
            for (unsigned l = 0; l < WAVE_LANES; l++)
                row[l] = row[l] >> shift & 0xffff;
            if (f->nfmt == NFMT_SINT)
                for (unsigned l = 0; l < WAVE_LANES; l++)
                    row[l] = (uint32_t)(int32_t)(int16_t)row[l];
            else if (f->nfmt != NFMT_UINT)
                for (unsigned l = 0; l < WAVE_LANES; l++)
                    row[l] = f32_bits(f16_to_f32((uint16_t)row[l]));
        }
        if (bits == 32)
            memcpy(raw[at / 32], row, sizeof(row));
        else
            for (unsigned l = 0; l < WAVE_LANES; l++)
                raw[at / 32][l] |= vmem_encode(row[l], bits, f->nfmt) << at % 32;
    }
}

#endif
