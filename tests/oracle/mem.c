/* SPDX-License-Identifier: MIT */
/*
 * Every encoding that accesses memory (DS, SMEM, FLAT, GLOBAL, SCRATCH, MUBUF,
 * MTBUF) against a second implementation, as valu.c does for the vector ALU:
 * bytes are looked up one by one from the document's address formulas.
 *
 *   mem [encodings per row [mnemonic]]
 */
#include "mem_mean.h"
#include "one_instruction.h"
#include "../halves.h"

enum { HOST = 16384, LDS = 4096, SCRATCH = 256 };

struct memory {
    uint8_t host[HOST], lds[LDS], scratch[SCRATCH * WAVE_LANES];
};
static alignas(64) uint8_t live_host[HOST], live_lds[LDS + 512], live_scratch[SCRATCH * WAVE_LANES];

struct machine {
    struct rig_state state;
    struct memory memory;
};

static uint64_t host_address(void)
{
    return (uint64_t)(uintptr_t)live_host;
}

static uint32_t below(uint32_t limit)
{
    return (uint32_t)(rig_random() >> 16) % limit;
}

/* ---- where a lane's bytes are ---- */

enum space { HOST_MEMORY, LDS_MEMORY, SCRATCH_MEMORY, BUFFER_MEMORY };

struct buffer {
    uint64_t base, stride, records, index_stride, soffset;
    bool swizzle, add_tid, structured;
    uint32_t word3;
};

struct request {
    enum space space;
    uint64_t address; /* of its first byte; buffers: the offset */
    uint64_t index;   /* buffers */
    unsigned bytes, lane;
    bool whole; /* buffers: in range as a whole or not at all */
    const struct buffer *buffer;
};

/* Byte i: NULL when there is none and reading gives 0; *bad when the access is a fault. */
static uint8_t *byte_of(struct memory *m, const struct request *r, unsigned i, bool *bad)
{
    uint64_t at = r->address + i;
    switch (r->space) {
    case LDS_MEMORY:
        return r->address + r->bytes <= LDS ? m->lds + at : NULL;
    case SCRATCH_MEMORY:
        if (r->address + r->bytes > SCRATCH) {
            *bad = true;
            return NULL;
        }
        return m->scratch + at / 4 * 4 * WAVE_LANES + r->lane * 4 + at % 4;
    case BUFFER_MEMORY: {
        const struct buffer *b = r->buffer;
        const uint64_t from = r->whole ? 0 : i & ~3u,
                       piece = r->whole || r->bytes - from < 4 ? r->bytes - from : 4;
        const uint64_t end = r->address + from + piece;
        if (b->structured) {
            if (r->index >= b->records || (b->swizzle && end > b->stride))
                return NULL;
        } else if (end + r->index * b->stride + b->soffset > b->records) {
            return NULL;
        }
        if (b->swizzle)
            at = (r->index / b->index_stride * b->stride + at / 4 * 4) * b->index_stride +
                 r->index % b->index_stride * 4 + at % 4;
        else
            at += r->index * b->stride;
        at += b->base + b->soffset;
        break;
    }
    default:
        break;
    }
    if (at - host_address() >= HOST) {
        *bad = true;
        return NULL;
    }
    return m->host + (at - host_address());
}

static void read_bytes(struct memory *m, const struct request *r, uint8_t *to, bool *bad)
{
    for (unsigned i = 0; i < r->bytes; i++) {
        const uint8_t *p = byte_of(m, r, i, bad);
        to[i] = p ? *p : 0;
    }
}

static void write_bytes(struct memory *m, const struct request *r, const uint8_t *from, bool *bad)
{
    for (unsigned i = 0; i < r->bytes; i++) {
        uint8_t *p = byte_of(m, r, i, bad);
        if (p)
            *p = from[i];
    }
}

static bool is_there(struct memory *m, const struct request *r, bool *bad)
{
    return byte_of(m, r, 0, bad) != NULL;
}

static uint32_t scalar(const struct rig_state *s, const struct isa_operand *o)
{
    return o->kind == ISA_SGPR ? s->s[o->reg] : o->kind == ISA_CONST ? (uint32_t)o->value : 0;
}

static uint32_t vector(const struct rig_state *s, const struct isa_operand *o, unsigned k, unsigned lane)
{
    return s->v[(unsigned)rig_row(o) + k][lane];
}

static struct buffer buffer_of(const struct rig_state *s, const struct isa_inst *inst)
{
    const uint32_t *v = s->s + inst->src[ISA_SBASE].reg;
    struct buffer b = {
        .base = v[0] | (uint64_t)(v[1] & 0xffff) << 32,
        .stride = v[1] >> 16 & 0x3fff,
        .records = v[2],
        .index_stride = 8u << (v[3] >> 21 & 3),
        .soffset = scalar(s, &inst->soffset),
        .swizzle = v[1] >> 31,
        .add_tid = v[3] >> 23 & 1,
        .word3 = v[3],
    };
    if (b.add_tid)
        b.stride |= (uint64_t)(v[3] >> 15 & 15) << 14;
    b.structured = inst->idxen && b.stride;
    return b;
}

static bool is_buffer(const struct isa_inst *inst)
{
    return inst->format == ISA_MUBUF || inst->format == ISA_MTBUF;
}

static struct request request_of(const struct rig_state *s, const struct isa_inst *inst,
                                 const struct buffer *b, unsigned lane, unsigned bytes)
{
    const struct isa_operand *v = &inst->src[ISA_ADDR], *base = &inst->src[ISA_SBASE];
    struct request r = {.bytes = bytes, .lane = lane, .buffer = b};
    const uint64_t offset = (uint64_t)(int64_t)inst->offset;
    switch (inst->format) {
    case ISA_DS:
        r.space = LDS_MEMORY;
        r.address = vector(s, v, 0, lane) + (uint32_t)offset;
        r.address = (uint32_t)r.address;
        break;
    case ISA_SCRATCH:
        r.space = SCRATCH_MEMORY;
        r.address = (uint32_t)((v->kind ? vector(s, v, 0, lane) : 0) + scalar(s, base) + (uint32_t)offset);
        break;
    case ISA_MUBUF:
    case ISA_MTBUF:
        r.space = BUFFER_MEMORY;
        r.index = (inst->idxen ? vector(s, v, 0, lane) : 0) + (b->add_tid ? lane : 0);
        r.address = offset + (inst->offen ? vector(s, v, inst->idxen, lane) : 0);
        break;
    default: /* GLOBAL, FLAT */
        r.address = vector(s, v, 0, lane) + offset;
        if (base->kind == ISA_SGPR)
            r.address += rig_sreg64(s, base->reg);
        else
            r.address += (uint64_t)vector(s, v, 1, lane) << 32;
        if (inst->format == ISA_FLAT && r.address >> 48) {
            r.space = r.address >> 32 == 1u << 16 ? LDS_MEMORY : SCRATCH_MEMORY;
            r.address = (uint32_t)r.address;
        }
        break;
    }
    return r;
}

/* ---- the instructions, lane after lane; false: not with these addresses ---- */

static void put_loaded(struct rig_state *s, const struct isa_operand *d, const struct access *a,
                       unsigned lane, const uint8_t *bytes)
{
    for (unsigned k = 0; k * 4 < a->bytes; k++) {
        uint32_t *to = &s->v[(unsigned)rig_row(d) + k][lane], x = 0;
        memcpy(&x, bytes + 4 * k, a->bytes < 4 ? a->bytes : 4);
        if (a->is_signed && bytes[a->bytes - 1] & 0x80)
            x |= UINT32_MAX << 8 * a->bytes;
        *to = a->half == 'l'   ? (*to & 0xffff0000) | (x & 0xffff)
              : a->half == 'h' ? (*to & 0xffff) | x << 16
                               : x;
    }
}

static void get_stored(const struct rig_state *s, const struct isa_operand *d, const struct access *a,
                       unsigned lane, uint8_t *bytes)
{
    for (unsigned i = 0; i < a->bytes; i++)
        bytes[i] = (uint8_t)(vector(s, d, i / 4, lane) >> (8 * (i % 4) + (a->half == 'h' ? 16 : 0)));
}

static uint64_t value_of(const struct rig_state *s, const struct isa_operand *o, unsigned first,
                         unsigned bytes, unsigned lane)
{
    return vector(s, o, first, lane) | (bytes == 8 ? (uint64_t)vector(s, o, first + 1, lane) << 32 : 0);
}

static bool loads(const struct isa_inst *inst, const struct access *a, const struct machine *before,
                  struct machine *after)
{
    const uint64_t exec = rig_sreg64(&before->state, SREG_EXEC);
    const struct buffer b = is_buffer(inst) ? buffer_of(&before->state, inst) : (struct buffer){0};
    static struct machine copy; /* what is read is memory as it was */
    bool bad = false;
    copy.memory = before->memory;
    for (unsigned lane = 0; lane < WAVE_LANES && !bad; lane++) {
        uint8_t bytes[16] = {0};
        struct request r = request_of(&before->state, inst, &b, lane, a->bytes);
        if (!(exec >> lane & 1))
            continue;
        if (!a->to_lds && !inst->lds) {
            read_bytes(&copy.memory, &r, bytes, &bad);
            put_loaded(&after->state, &inst->dst, a, lane, bytes);
            continue;
        }
        const int64_t to = (int64_t)(before->state.s[SREG_M0] & 0xffff) + inst->offset + 4 * (int64_t)lane;
        read_bytes(&copy.memory, &r, bytes, &bad);
        if (a->is_signed && bytes[a->bytes - 1] & 0x80)
            memset(bytes + a->bytes, 0xff, 4 - a->bytes);
        if (to >= 0 && to + 4 <= LDS)
            memcpy(after->memory.lds + to, bytes, 4);
    }
    return !bad;
}

static bool stores(const struct isa_inst *inst, const struct access *a, const struct machine *before,
                   struct machine *after)
{
    const uint64_t exec = rig_sreg64(&before->state, SREG_EXEC);
    const struct buffer b = is_buffer(inst) ? buffer_of(&before->state, inst) : (struct buffer){0};
    bool bad = false;
    for (unsigned lane = 0; lane < WAVE_LANES && !bad; lane++) {
        uint8_t bytes[16];
        const struct request r = request_of(&before->state, inst, &b, lane, a->bytes);
        if (!(exec >> lane & 1))
            continue;
        get_stored(&before->state, &inst->src[ISA_DATA], a, lane, bytes);
        write_bytes(&after->memory, &r, bytes, &bad);
    }
    return !bad;
}

static bool atomics(const struct isa_inst *inst, const struct access *a, const struct machine *before,
                    struct machine *after)
{
    const uint64_t exec = rig_sreg64(&before->state, SREG_EXEC);
    const struct buffer b = is_buffer(inst) ? buffer_of(&before->state, inst) : (struct buffer){0};
    const bool ds = inst->format == ISA_DS;
    bool bad = false;
    for (unsigned lane = 0; lane < WAVE_LANES && !bad; lane++) {
        uint64_t old = 0;
        struct request r = request_of(&before->state, inst, &b, lane, a->bytes);
        if (!(exec >> lane & 1))
            continue;
        r.whole = true;
        if (b.swizzle && a->bytes == 8) /* would be in two pieces: a fault */
            return false;
        if (atomic_is(a, "condxchg32"))
            r.address &= 0xfff8;
        read_bytes(&after->memory, &r, (uint8_t *)&old, &bad);
        if (is_there(&after->memory, &r, &bad) && !bad) {
            const struct isa_operand *data = &inst->src[ISA_DATA];
            const uint64_t d = value_of(&before->state, data, 0, a->bytes, lane);
            uint64_t e = 0;
            if (ds && inst->src[ISA_DATA2].kind)
                e = value_of(&before->state, &inst->src[ISA_DATA2], 0, a->bytes, lane);
            else if (!ds && atomic_is(a, "cmpswap"))
                e = value_of(&before->state, data, a->bytes / 4, a->bytes, lane);
            const uint64_t now = atomic_mean(a, ds, old, d, e);
            write_bytes(&after->memory, &r, (const uint8_t *)&now, &bad);
            if (r.space != LDS_MEMORY && r.space != BUFFER_MEMORY && r.address % a->bytes)
                return false;
            if (r.space == BUFFER_MEMORY &&
                (uintptr_t)(byte_of(&after->memory, &r, 0, &bad) - after->memory.host) % a->bytes)
                return false;
        }
        if (inst->dst.kind) {
            after->state.v[rig_row(&inst->dst)][lane] = (uint32_t)old;
            if (a->bytes == 8)
                after->state.v[rig_row(&inst->dst) + 1][lane] = (uint32_t)(old >> 32);
        }
    }
    return !bad;
}

/* Two places in LDS.  All lanes' first, then all lanes' second; an exchange lane after lane. */
static bool pairs(const struct isa_inst *inst, const struct access *a, const struct machine *before,
                  struct machine *after)
{
    const uint64_t exec = rig_sreg64(&before->state, SREG_EXEC);
    const unsigned offsets[] = {(unsigned)inst->offset & 255, inst->offset1};
    bool bad = false;
    for (unsigned step = 0; step < 2 * WAVE_LANES; step++) {
        const bool swap = a->kind == ACCESS_PAIR_SWAP;
        const unsigned lane = swap ? step / 2 : step % WAVE_LANES,
                       which = swap ? step % 2 : step / WAVE_LANES;
        uint8_t bytes[8], first[8];
        struct request r = {.space = LDS_MEMORY, .bytes = a->bytes, .lane = lane};
        if (!(exec >> lane & 1))
            continue;
        r.address =
            (uint32_t)(vector(&before->state, &inst->src[ISA_ADDR], 0, lane) + offsets[which] * a->scale);
        if (a->kind != ACCESS_PAIR_STORE) {
            struct access half = *a;
            struct isa_operand to = inst->dst;
            to.reg = (uint16_t)(to.reg + which * a->bytes / 4);
            read_bytes(&after->memory, &r, bytes, &bad);
            if (swap && !which) { /* both are read before one is written */
                struct request other = r;
                other.address += (uint64_t)offsets[1] * a->scale - (uint64_t)offsets[0] * a->scale;
                other.address = (uint32_t)other.address;
                read_bytes(&after->memory, &other, first, &bad);
                struct isa_operand second = to;
                second.reg = (uint16_t)(second.reg + a->bytes / 4);
                put_loaded(&after->state, &second, &half, lane, first);
            }
            if (!swap || !which)
                put_loaded(&after->state, &to, &half, lane, bytes);
        }
        if (a->kind != ACCESS_PAIR_LOAD) {
            get_stored(&before->state, &inst->src[which ? ISA_DATA2 : ISA_DATA], a, lane, bytes);
            write_bytes(&after->memory, &r, bytes, &bad);
        }
    }
    return !bad;
}

static unsigned swizzled(unsigned offset, unsigned lane)
{
    /* The document's table of FFT mode with all bits reversed, lanes counted from 1. */
    static const unsigned char reversed[] = {1, 17, 9,  25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31,
                                             2, 18, 10, 26, 6, 22, 14, 30, 4, 20, 12, 28, 8, 24, 16, 32};
    const unsigned mask = offset & 31, group = lane & 32, in = lane & 31;
    if (offset >= 0xe000) {
        unsigned shift = 0;
        for (unsigned i = 0; i < 5; i++)
            shift += mask >> i & 1;
        return shift == 5 ? lane : group | (reversed[in] - 1u) >> shift | (in & mask);
    }
    if (offset >= 0xc000) {
        const unsigned by = offset >> 5 & 31, to = offset >> 10 & 1 ? in + 32 - by : in + by;
        return group | (in & mask) | (to & 31 & ~mask);
    }
    if (offset & 0x8000)
        return (lane & ~3u) | (offset >> 2 * (lane & 3) & 3);
    return group | (((in & mask) | (offset >> 5 & 31)) ^ (offset >> 10 & 31));
}

/* What goes between lanes, and what M0 addresses. */
static bool lanes(const struct isa_inst *inst, const struct access *a, const struct machine *before,
                  struct machine *after)
{
    const struct rig_state *s = &before->state;
    const uint64_t exec = rig_sreg64(s, SREG_EXEC);
    const unsigned offset = (unsigned)inst->offset & 0xffff, m0 = s->s[SREG_M0] & 0xffff;
    uint32_t sent[WAVE_LANES] = {0};
    struct request r = {.space = LDS_MEMORY, .bytes = 4, .address = m0 + offset};
    bool bad = false;
    if (a->kind == ACCESS_APPEND || a->kind == ACCESS_CONSUME) {
        uint32_t count = 0, old = 0;
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            count += (uint32_t)(exec >> lane & 1);
        read_bytes(&after->memory, &r, (uint8_t *)&old, &bad);
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            sent[lane] = old;
        const uint32_t now = a->kind == ACCESS_APPEND ? old + count : old - count;
        write_bytes(&after->memory, &r, (const uint8_t *)&now, &bad);
    }
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        const struct isa_operand *v = &inst->src[ISA_ADDR], *d = &inst->src[ISA_DATA];
        const unsigned other = v->kind ? (vector(s, v, 0, lane) + offset) / 4 % WAVE_LANES : 0;
        const unsigned from = a->kind == ACCESS_SWIZZLE ? swizzled(offset, lane) : other;
        r.address = m0 + offset + 4 * lane;
        if (a->kind == ACCESS_PERMUTE && exec >> lane & 1)
            sent[other] = vector(s, d, 0, lane);
        else if (a->kind == ACCESS_BPERMUTE && exec >> from & 1)
            sent[lane] = vector(s, d, 0, from);
        else if (a->kind == ACCESS_SWIZZLE && exec >> from & 1)
            sent[lane] = vector(s, v, 0, from);
        else if (a->kind == ACCESS_TID_LOAD)
            read_bytes(&after->memory, &r, (uint8_t *)&sent[lane], &bad);
        else if (a->kind == ACCESS_TID_STORE && exec >> lane & 1)
            write_bytes(&after->memory, &r, (const uint8_t *)&s->v[rig_row(d)][lane], &bad);
    }
    for (unsigned lane = 0; lane < WAVE_LANES && inst->dst.kind; lane++)
        if (exec >> lane & 1)
            after->state.v[rig_row(&inst->dst)][lane] = sent[lane];
    return !bad;
}

/* ---- typed buffers ---- */

static bool formats(const struct isa_inst *inst, const struct access *a, const struct machine *before,
                    struct machine *after)
{
    const struct rig_state *s = &before->state;
    const uint64_t exec = rig_sreg64(s, SREG_EXEC);
    const struct buffer b = buffer_of(s, inst);
    const bool typed = inst->format == ISA_MTBUF, load = a->kind == ACCESS_FORMAT_LOAD;
    const unsigned dfmt = typed       ? inst->dfmt
                          : b.add_tid ? 0
                                      : b.word3 >> 15 & 15,
                   nfmt = typed ? inst->nfmt : b.word3 >> 12 & 7;
    const bool integer = nfmt == FORMAT_UINT || nfmt == FORMAT_SINT;
    bool bad = false;
    if (!format_exists(dfmt, nfmt) || (!load && a->components < 4 && format_bits(dfmt, a->components)))
        return false;
    for (unsigned lane = 0; lane < WAVE_LANES && !bad; lane++) {
        uint8_t bytes[16] = {0};
        uint32_t x[4];
        struct request r = request_of(s, inst, &b, lane, format_bytes(dfmt));
        if (!(exec >> lane & 1))
            continue;
        r.whole = true;
        if (load) {
            read_bytes(&after->memory, &r, bytes, &bad);
            const bool there = is_there(&after->memory, &r, &bad);
            for (unsigned c = 0; c < a->components; c++) {
                const unsigned select = b.word3 >> 3 * c & 7;
                unsigned at = 0;
                x[c] = select == 1 ? (integer ? 1 : 0x3f800000) : 0;
                if (select < 4 || !there)
                    continue;
                for (unsigned k = 4; k < select; k++)
                    at += format_bits(dfmt, k - 4);
                const unsigned bits = format_bits(dfmt, select - 4);
                uint32_t raw = 0;
                for (unsigned i = 0; i < bits; i++)
                    raw |= (uint32_t)(bytes[(at + i) / 8] >> (at + i) % 8 & 1) << i;
                x[c] = bits ? format_decode(raw, bits, nfmt) : select == 7 ? (integer ? 1 : 0x3f800000) : 0;
            }
            for (unsigned c = 0; c < a->components; c++) {
                uint32_t *to = &after->state.v[(unsigned)rig_row(&inst->dst) + (a->d16 ? c / 2 : c)][lane];
                const uint32_t half = integer ? x[c] & 0xffff : format_f32_to_f16(x[c]);
                *to = !a->d16                   ? x[c]
                      : a->half == 'h' || c % 2 ? (*to & 0xffff) | half << 16
                                                : (*to & 0xffff0000) | half;
            }
            continue;
        }
        unsigned at = 0;
        for (unsigned c = 0; c < a->components; c++) {
            const struct isa_operand *d = &inst->src[ISA_DATA];
            const unsigned bits = format_bits(dfmt, c);
            uint32_t value = vector(s, d, a->d16 ? c / 2 : c, lane);
            if (!bits)
                break;
            if (a->d16) {
                value = value >> (a->half == 'h' || c % 2 ? 16 : 0) & 0xffff;
                if (nfmt == FORMAT_SINT)
                    value = (uint32_t)(int32_t)(int16_t)value;
                else if (nfmt != FORMAT_UINT)
                    value = format_f16_to_f32(value);
            }
            const uint32_t raw = format_encode(value, bits, nfmt);
            for (unsigned i = 0; i < bits; i++)
                bytes[(at + i) / 8] |= (uint8_t)((raw >> i & 1) << (at + i) % 8);
            at += bits;
        }
        write_bytes(&after->memory, &r, bytes, &bad);
    }
    return !bad;
}

/* ---- scalar memory ---- */

static bool scalars(const struct isa_inst *inst, const struct access *a, const struct machine *before,
                    struct machine *after)
{
    const struct rig_state *s = &before->state;
    const struct isa_operand *base = &inst->src[ISA_SBASE];
    const bool buffer = base->dwords == 4, load = a->kind == ACCESS_LOAD, atomic = a->kind == ACCESS_ATOMIC;
    const struct isa_operand *data = load ? &inst->dst : &inst->src[ISA_DATA];
    const bool scratch = !strncmp(isa_op_name(inst->op), "s_scratch", 9);
    /* A scratch instruction's scalar offset counts 64 bytes. */
    uint64_t offset =
        (uint64_t)(int64_t)inst->offset + (uint64_t)scalar(s, &inst->soffset) * (scratch ? 64 : 1);
    uint64_t address = rig_sreg64(s, base->reg) & 0xffffffffffff, size = UINT64_MAX;
    bool bad = false;
    if (buffer) {
        const uint64_t stride = s->s[base->reg + 1] >> 16 & 0x3fff;
        size = s->s[base->reg + 2] * (stride ? stride : 1);
        offset &= ~UINT64_C(3);
    }
    address = (address + offset) & ~UINT64_C(3);
    if (atomic) {
        struct request r = {.address = address, .bytes = a->bytes};
        uint64_t old = 0;
        const unsigned wide = a->bytes == 8;
        if (!buffer || offset + a->bytes <= size) {
            const uint64_t d = wide ? rig_sreg64(s, data->reg) : s->s[data->reg];
            const uint64_t e = !atomic_is(a, "cmpswap") ? 0
                               : wide                   ? rig_sreg64(s, data->reg + 2)
                                                        : s->s[data->reg + 1];
            if (address % a->bytes)
                return false;
            read_bytes(&after->memory, &r, (uint8_t *)&old, &bad);
            const uint64_t now = atomic_mean(a, false, old, d, e);
            write_bytes(&after->memory, &r, (const uint8_t *)&now, &bad);
        }
        if (inst->sc0) {
            after->state.s[data->reg] = (uint32_t)old;
            if (wide)
                after->state.s[data->reg + 1] = (uint32_t)(old >> 32);
        }
        return !bad;
    }
    for (unsigned i = 0; i < a->bytes / 4; i++) {
        struct request r = {.address = address + 4 * i, .bytes = 4};
        uint32_t x = 0;
        if (buffer && offset + 4 * i + 4 > size) {
            if (load)
                after->state.s[data->reg + i] = 0;
        } else if (load) {
            read_bytes(&after->memory, &r, (uint8_t *)&x, &bad);
            after->state.s[data->reg + i] = x;
        } else {
            write_bytes(&after->memory, &r, (const uint8_t *)&s->s[data->reg + i], &bad);
        }
    }
    return !bad;
}

static bool refer(const struct isa_inst *inst, const struct access *a, const struct machine *before,
                  struct machine *after)
{
    *after = *before;
    if (a->kind == ACCESS_NOTHING)
        return true;
    if (inst->format == ISA_SMEM)
        return scalars(inst, a, before, after);
    switch (a->kind) {
    case ACCESS_LOAD:
        return loads(inst, a, before, after);
    case ACCESS_STORE:
        return stores(inst, a, before, after);
    case ACCESS_ATOMIC:
        return atomics(inst, a, before, after);
    case ACCESS_PAIR_LOAD:
    case ACCESS_PAIR_STORE:
    case ACCESS_PAIR_SWAP:
        return pairs(inst, a, before, after);
    case ACCESS_FORMAT_LOAD:
    case ACCESS_FORMAT_STORE:
        return formats(inst, a, before, after);
    default:
        return lanes(inst, a, before, after);
    }
}

/* ---- registers that lead to memory ---- */

/* Places of the lanes' accesses in `room` bytes: dense, one for all, reversed, scattered, unaligned. */
static uint32_t place(unsigned shape, uint32_t start, unsigned lane, uint32_t room, unsigned bytes,
                      bool aligned)
{
    uint32_t at;
    switch (shape) {
    case 0:
        at = start % (room - bytes) + lane * bytes;
        break;
    case 1:
        at = start % (room - bytes);
        break;
    case 2:
        at = start % (room - bytes) + (63 - lane) * bytes;
        break;
    case 3:
        at = below(room / 4 - bytes / 4) * 4;
        break;
    default:
        at = below(room - bytes);
        break;
    }
    at %= room - bytes + 1;
    return aligned ? at / bytes * bytes : at;
}

static void set_vector(struct rig_state *s, const struct isa_operand *o, unsigned k, unsigned lane,
                       uint32_t x)
{
    if (o->kind)
        s->v[(unsigned)rig_row(o) + k][lane] = x;
}

static void aim_buffer(struct rig_state *s, const struct isa_inst *inst, const struct access *a)
{
    const struct isa_operand *v = &inst->src[ISA_ADDR];
    uint32_t *words = s->s + inst->src[ISA_SBASE].reg;
    const bool typed = a->kind == ACCESS_FORMAT_LOAD || a->kind == ACCESS_FORMAT_STORE;
    const uint32_t stride = below(4) ? 4 + below(8) * 4 : 0, swizzle = below(3) == 0 && stride && inst->idxen;
    const bool tid = below(6) == 0 && !(typed && inst->format == ISA_MUBUF), dense = below(3) == 0;
    const uint64_t base = host_address() + below(64) * 8;
    words[0] = (uint32_t)base;
    words[1] = (uint32_t)(base >> 32) | stride << 16 | swizzle << 31;
    words[2] = inst->idxen && stride ? below(70) : below(3000);
    words[3] =
        (below(4096) | below(8) << 12 | below(tid ? 1 : 16) << 15 | below(4) << 21 | (uint32_t)tid << 23);
    if (inst->soffset.kind == ISA_SGPR && inst->soffset.reg < SREG_EXEC)
        s->s[inst->soffset.reg] = below(64) * (a->kind == ACCESS_ATOMIC ? 8 : 1);
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        uint32_t offset = below(64);
        if (swizzle || a->kind == ACCESS_ATOMIC)
            offset = offset % 32 & ~7u;
        if (below(16) == 0 && !(inst->idxen && stride))
            offset = 0x80000000; /* how compilers say "out of range" */
        if (dense && !inst->idxen)
            offset = lane * (a->bytes ? a->bytes : 4);
        if (inst->idxen)
            set_vector(s, v, 0, lane, below(64));
        if (inst->offen)
            set_vector(s, v, inst->idxen, lane, offset);
    }
}

static void aim(struct rig_state *s, const struct isa_inst *inst, const struct access *a)
{
    const struct isa_operand *v = &inst->src[ISA_ADDR], *base = &inst->src[ISA_SBASE];
    const unsigned shape = below(6), bytes = a->bytes ? a->bytes : 4;
    const uint32_t start = (uint32_t)rig_random(), moved = below(9000);
    const bool on_stack = inst->format == ISA_FLAT && below(4) == 0; /* all lanes */
    const bool atomic = a->kind == ACCESS_ATOMIC;
    s->s[SREG_M0] = below(LDS) | (uint32_t)rig_random() << 16;
    if (a->kind == ACCESS_APPEND || a->kind == ACCESS_CONSUME || a->kind == ACCESS_TID_LOAD ||
        a->kind == ACCESS_TID_STORE)
        s->s[SREG_M0] &= ~3u;
    switch (inst->format) {
    case ISA_MUBUF:
    case ISA_MTBUF:
        if (base->kind)
            aim_buffer(s, inst, a);
        return;
    case ISA_SMEM:
        if (base->kind == ISA_SGPR) {
            rig_set_sreg64(s, base->reg, host_address() + 4096 + below(64) * (atomic ? 8 : 1));
            if (base->dwords == 4) {
                const uint32_t stride = below(2) * 12;
                s->s[base->reg + 1] = (uint32_t)(host_address() >> 32) | stride << 16;
                s->s[base->reg] &= ~3u;
                s->s[base->reg + 2] = stride ? below(40) : below(640);
            }
        }
        if (inst->soffset.kind == ISA_SGPR && inst->soffset.reg < SREG_EXEC)
            s->s[inst->soffset.reg] = below(64) * (atomic ? 8 : 1);
        return;
    case ISA_SCRATCH:
        if (base->kind == ISA_SGPR)
            s->s[base->reg] = v->kind ? below(64) : (uint32_t)(below(SCRATCH - 16) - (uint32_t)inst->offset);
        break;
    case ISA_GLOBAL:
        if (base->kind == ISA_SGPR)
            rig_set_sreg64(s, base->reg, host_address() - 100000 - moved);
        break;
    default:
        break;
    }
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        const uint64_t offset = (uint64_t)(int64_t)inst->offset;
        if (inst->format == ISA_DS) {
            const bool pair =
                a->kind == ACCESS_PAIR_LOAD || a->kind == ACCESS_PAIR_STORE || a->kind == ACCESS_PAIR_SWAP;
            uint32_t at = place(shape, start, lane, below(8) ? LDS : LDS + 64, bytes, atomic);
            if (below(20) == 0)
                at = (uint32_t)rig_random();
            set_vector(s, v, 0, lane, pair ? at : at - (uint32_t)offset);
        } else if (inst->format == ISA_SCRATCH) {
            set_vector(s, v, 0, lane,
                       place(shape, start, lane, SCRATCH, bytes, atomic) - (uint32_t)offset -
                           scalar(s, base));
        } else {
            uint64_t at = host_address() + place(shape, start, lane, HOST, bytes, atomic);
            if (on_stack)
                at = (UINT64_C(1) << 49) + place(shape, start, lane, SCRATCH, bytes, atomic);
            else if (inst->format == ISA_FLAT && shape > 3 && below(2))
                at = below(2) ? (UINT64_C(1) << 48) + place(4, 0, lane, LDS + 40, bytes, atomic)
                              : (UINT64_C(1) << 49) + place(4, 0, lane, SCRATCH, bytes, atomic);
            at -= offset + (base->kind == ISA_SGPR ? rig_sreg64(s, base->reg) : 0);
            set_vector(s, v, 0, lane, (uint32_t)at);
            if (v->dwords > 1)
                set_vector(s, v, 1, lane, (uint32_t)(at >> 32));
        }
    }
}

/* Register numbers below 64, and offsets that arenas have room for. */
static void narrow(const struct isa_row *row, uint32_t *w)
{
    switch (row->format) {
    case ISA_SMEM: /* the immediate is signed */
        w[1] = (w[1] & ~0x1fffffu) | ((below(1024) - (row->src[ISA_SBASE] == ISA_T_B128 ? 0 : 512)) &
                                      0x1fffff & (isa_facts[row->op].effects & ISA_E_ATOMIC ? ~7u : ~0u));
        break;
    case ISA_DS:
        w[1] &= 0x3f3f3f3f;
        break;
    case ISA_MUBUF:
    case ISA_MTBUF:
        w[1] &= ~0xc0c0u;
        w[0] = (w[0] & ~0xfffu) | (below(32) & (isa_facts[row->op].effects & ISA_E_ATOMIC ? ~7u : ~0u));
        break;
    default:
        w[1] &= 0x3fff3f3f; /* SADDR and the AccVGPR bit stay */
        if (row->format == ISA_SCRATCH && rig_random() & 1)
            w[0] = (w[0] & ~0x1fffu) | below(128);
        break;
    }
}

/* ---- one instruction ---- */

static bool same_bytes(const char *what, const uint8_t *got, const uint8_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i]) {
            fprintf(stderr, "  %s byte %zu is %02x, not %02x\n", what, i, got[i], want[i]);
            return false;
        }
    return true;
}

static const struct memory *at_first;

static void restore(void)
{
    memcpy(live_host, at_first->host, HOST);
    memcpy(live_lds, at_first->lds, LDS);
    memcpy(live_scratch, at_first->scratch, sizeof live_scratch);
}

static bool run(unsigned level, const uint32_t *words, const struct isa_inst *inst,
                const struct machine *before, const struct machine *want)
{
    at_first = &before->memory;
    rig.restore = restore;
    rig.w.lds = live_lds;
    rig.w.lds_bytes = LDS;
    rig.w.scratch = live_scratch;
    rig.w.scratch_bytes = SCRATCH;
    if (sigsetjmp(rig.guard.env, 1)) {
        char text[128];
        isa_print(&isa_gfx942, inst, 0, text, sizeof text);
        fprintf(stderr, "%08x %08x %s, level v%u: fault %d at 0x%" PRIx64 "\n", words[0], words[1], text,
                level, rig.guard.kind, rig.guard.address);
        return CHECK(!"runs");
    }
    bool ok = rig_compare(level, words, inst, &before->state, &want->state);
    const bool same = same_bytes("memory", live_host, want->memory.host, HOST) &&
                      same_bytes("LDS", live_lds, want->memory.lds, LDS) &&
                      same_bytes("scratch", live_scratch, want->memory.scratch, sizeof live_scratch);
    if (!same && ok) {
        char text[128];
        isa_print(&isa_gfx942, inst, 0, text, sizeof text);
        fprintf(stderr, "%08x %08x %s, level v%u, exec 0x%016" PRIx64 "\n", words[0], words[1], text, level,
                rig_sreg64(&before->state, SREG_EXEC));
    }
    return CHECK(same) && ok;
}

static bool usable(const struct isa_row *row, const struct isa_inst *inst)
{
    if (!rig_fits(inst) || inst->gds)
        return false;
    if (row->format == ISA_SMEM) /* EXEC and M0 are no data here */
        return inst->dst.kind != ISA_SGPR || inst->dst.reg + inst->dst.dwords <= 108;
    return true;
}

/* What isa/facts.def says of memory. */
static void check_facts(const struct isa_row *row, const struct access *a)
{
    const uint32_t effects = isa_facts[row->op].effects;
    const bool changes = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_PAIR_SWAP ||
                         a->kind == ACCESS_APPEND || a->kind == ACCESS_CONSUME;
    const bool loads = changes || a->kind == ACCESS_LOAD || a->kind == ACCESS_FORMAT_LOAD ||
                       a->kind == ACCESS_PAIR_LOAD || a->kind == ACCESS_TID_LOAD;
    const bool stores = changes || a->kind == ACCESS_STORE || a->kind == ACCESS_FORMAT_STORE ||
                        a->kind == ACCESS_PAIR_STORE || a->kind == ACCESS_TID_STORE;
    const bool lds = a->to_lds || (row->format == ISA_DS && (loads || stores));
    if (!CHECK_EQ(!!(effects & ISA_E_LOAD), loads) || !CHECK_EQ(!!(effects & ISA_E_STORE), stores) ||
        !CHECK_EQ(!!(effects & ISA_E_ATOMIC), changes) || !CHECK_EQ(!!(effects & ISA_E_LDS), lds))
        fprintf(stderr, "  %s\n", row->name);
}

static void check_row(const struct isa_row *row, const struct access *a, unsigned count)
{
    static struct machine before, want;
    static const unsigned element[ISA_T_COUNT] = {[ISA_T_F32] = ISA_T_F32,
                                                  [ISA_T_F64] = ISA_T_F64,
                                                  [ISA_T_PKF16] = ISA_T_PKF16,
                                                  [ISA_T_PKBF16] = ISA_T_PKBF16};
    const unsigned like = element[row->src[ISA_DATA]];
    unsigned done = 0, bad = 0;
    check_facts(row, a);
    for (unsigned tries = 0; done < count && tries < count * 400 && bad < 2; tries++) {
        uint32_t words[4];
        struct isa_inst inst;
        rig_words(row, ISA_FORM_PLAIN, words);
        narrow(row, words);
        if (!isa_decode(&isa_gfx942, words, 4, &inst) || inst.reserved || !usable(row, &inst))
            continue;
        rig_fill(&before.state, &inst);
        /* Memory has values like the operands, so that comparisons are sometimes equal. */
        for (size_t i = 0; i < sizeof before.memory; i += 8) {
            uint64_t x = rig_random();
            if (like && rig_random() & 3)
                x = rig_hard(like) | (isa_type_dwords(like) > 1 ? 0 : rig_hard(like) << 32);
            memcpy((uint8_t *)&before.memory + i, &x, 8);
        }
        aim(&before.state, &inst, a);
        if (a->kind == ACCESS_ATOMIC && inst.format == ISA_DS && rig_random() & 1)
            rig_set_sreg64(&before.state, SREG_EXEC, UINT64_MAX);
        if (!refer(&inst, a, &before, &want))
            continue;
        done++;
        for (unsigned level = 2; level <= 4; level++)
            if (rig_has_level(level))
                bad += !run(level, words, &inst, &before, &want);
        if (halves_has(&inst))
            bad += !run(HALVES_LEVEL, words, &inst, &before, &want);
    }
    if (!CHECK(done > 0))
        fprintf(stderr, "%s %s: no encoding found\n", isa_format_name(row->format), row->name);
}

int main(int argc, char **argv)
{
    const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    const char *only = argc > 2 ? argv[2] : NULL;
    rig.otherwise = halves_run;
    for (size_t r = 0; r < isa_gfx942.row_count; r++) {
        const struct isa_row *row = &isa_gfx942.rows[r];
        struct access a;
        if (row->format != ISA_SMEM && row->format < ISA_DS)
            continue;
        if ((only && strcmp(only, row->name) != 0) || isa_facts[row->op].unit == ISA_UNIT_GWS)
            continue;
        if (!CHECK(access_parse(row->name, &a)))
            fprintf(stderr, "%s: not understood\n", row->name);
        else if (a.kind != ACCESS_CLOCK) /* wave.c */
            check_row(row, &a, count);
    }
    return check_status();
}
