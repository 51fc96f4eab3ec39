/* SPDX-License-Identifier: MIT */
/*
 * The address half of MUBUF and MTBUF.
 *
 * A buffer is described by four SGPRs (V#).  Out-of-range lanes read 0 and
 * write nothing.  What num_records counts depends on the instruction: bytes
 * when it has no index or the stride is 0, else records.
 *
 *   63       62       61..48  47..0    119      118..117      114..111 110..108 107..96   95..64
 *   swizzle  cache    stride  base     add_tid  index_stride  dfmt     nfmt     dst_sel   num_records
 *
 * Source: "AMD Instinct MI300 ISA", chapter 9 (vector memory buffer
 * instructions): 9.1.5 addressing, 9.1.8 buffer resource.
 */
#ifndef EHP_SEM_MEMORY_VMEM_BUFFER_H
#define EHP_SEM_MEMORY_VMEM_BUFFER_H

#include "sem/memory/vmem.h"

enum { VMEM_ELEMENT = 4 }; /* bytes that stay together in a swizzled buffer */

struct vmem_buffer {
    uint64_t base; /* with the scalar offset */
    uint64_t stride;
    uint32_t records, soffset, index_stride;
    bool swizzle, add_tid, structured;
    uint16_t dst_sel;
    uint8_t nfmt, dfmt;
};

static inline struct vmem_buffer vmem_buffer_of(const struct wave *w, const struct xinst *in)
{
    const uint32_t *v = w->s + in->ss[0];
    struct vmem_buffer b = {
        .stride = v[1] >> 16 & 0x3fff,
        .records = v[2],
        .soffset = in->ss[1] != XSRC_CONST ? w->s[in->ss[1]] : in->mem.soffset,
        .index_stride = 8u << (v[3] >> 21 & 3),
        .swizzle = v[1] >> 31,
        .add_tid = v[3] >> 23 & 1,
        .dst_sel = v[3] & 0xfff,
        .nfmt = v[3] >> 12 & 7,
        .dfmt = v[3] >> 15 & 15,
    };
    if (b.add_tid) { /* the data format's bits extend the stride */
        b.stride |= (uint64_t)b.dfmt << 14;
        b.dfmt = 0;
    }
    b.base = (v[0] | (uint64_t)(v[1] & 0xffff) << 32) + b.soffset;
    b.structured = in->isa->idxen && b.stride != 0;
    return b;
}

/* Where in the buffer a lane goes, before swizzling. */
struct vmem_place {
    uint64_t index, offset;
};

static inline struct vmem_place vmem_place_of(const struct wave *w, const struct xinst *in,
                                              const struct vmem_buffer *b, unsigned lane)
{
    bool idxen = in->isa->idxen;
    struct vmem_place p = {.offset = memop_offset(in)};
    if (idxen)
        p.index = w->v[in->s[0]][lane];
    if (b->add_tid)
        p.index += lane;
    if (in->isa->offen)
        p.offset += w->v[in->s[0] + idxen][lane];
    return p;
}

/* Byte offset from the base of byte `at` of the access. */
static inline uint64_t vmem_linear(const struct vmem_buffer *b, struct vmem_place p, uint64_t at)
{
    uint64_t offset = p.offset + at;
    if (!b->swizzle)
        return offset + p.index * b->stride;
    return (p.index / b->index_stride * b->stride + offset / VMEM_ELEMENT * VMEM_ELEMENT) * b->index_stride +
           p.index % b->index_stride * VMEM_ELEMENT + offset % VMEM_ELEMENT;
}

/* Whether bytes [at, at + bytes) of the access are inside. */
static inline bool vmem_inside(const struct vmem_buffer *b, struct vmem_place p, uint64_t at, unsigned bytes)
{
    if (b->structured)
        return p.index < b->records && (!b->swizzle || p.offset + at + bytes <= b->stride);
    uint64_t linear = p.offset + at + p.index * b->stride;
    return linear + bytes + b->soffset <= b->records;
}

/* Lanes whose whole access is inside and in one piece; the others are the caller's business. */
static inline void vmem_buffer_address(const struct wave *w, const struct xinst *in, unsigned bytes,
                                       struct memop_request *r)
{
    struct vmem_buffer b = vmem_buffer_of(w, in);
    r->mask = r->lds = r->scratch = 0;
    if (!b.swizzle && !b.add_tid && !in->isa->idxen) { /* bytes at an offset: what compilers emit */
        const uint32_t *v = w->v[in->s[0]];
        uint64_t offset = memop_offset(in), room = (uint64_t)b.soffset + bytes;
        uint32_t last = 0;
        for (unsigned l = 0; l < WAVE_LANES; l++) {
            uint32_t at = in->isa->offen ? v[l] : 0;
            r->addr[l] = offset + at;
            last = at > last ? at : last;
        }
        r->mask = w->exec;
        if (MEMOP_UNLIKELY(offset + last + room > b.records))
            for (unsigned l = 0; l < WAVE_LANES; l++)
                if (r->addr[l] + room > b.records)
                    r->mask &= ~(UINT64_C(1) << l);
        for (unsigned l = 0; l < WAVE_LANES; l++)
            r->addr[l] = r->mask >> l & 1 ? r->addr[l] + b.base : 0;
        return;
    }
    memset(r->addr, 0, sizeof(r->addr));
    MEMOP_FOR_LANES(lane, w->exec)
    {
        struct vmem_place p = vmem_place_of(w, in, &b, (unsigned)lane);
        bool whole = !b.swizzle || p.offset % VMEM_ELEMENT + bytes <= VMEM_ELEMENT;
        if (!whole || !vmem_inside(&b, p, 0, bytes))
            continue;
        r->addr[lane] = b.base + vmem_linear(&b, p, 0);
        r->mask |= UINT64_C(1) << lane;
    }
}

#endif
