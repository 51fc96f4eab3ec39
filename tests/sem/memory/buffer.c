/* SPDX-License-Identifier: MIT */
/*
 * MUBUF and MTBUF: addressing (raw, structured, swizzled, thread id), bounds,
 * loads to LDS, formats.  The reference is written from the address formulas of
 * the ISA document, byte by byte.
 */
#include <math.h>

#include "memory_wave.h"

enum { ADDR = 4, DATA = 12, VSHARP = 8, SOFFSET = 16 };

struct buffer {
    uint64_t base;
    uint32_t stride, records, soffset, index_stride;
    bool swizzle, add_tid, idxen, offen;
    int32_t offset;
};

static void set_descriptor(struct rig *r, const struct buffer *b, uint32_t word3)
{
    uint32_t code = b->index_stride == 8 ? 0 : b->index_stride == 16 ? 1 : b->index_stride == 32 ? 2 : 3;
    r->w.s[VSHARP] = (uint32_t)b->base;
    r->w.s[VSHARP + 1] = (uint32_t)(b->base >> 32) | b->stride << 16 | (uint32_t)b->swizzle << 31;
    r->w.s[VSHARP + 2] = b->records;
    r->w.s[VSHARP + 3] = word3 | code << 21 | (uint32_t)b->add_tid << 23;
    r->w.s[SOFFSET] = b->soffset;
}

static struct isa_inst make(uint16_t op, int format, const struct buffer *b)
{
    struct isa_inst inst = {.op = op,
                            .format = (uint8_t)format,
                            .size = 8,
                            .offset = b->offset,
                            .offen = b->offen,
                            .idxen = b->idxen};
    if (b->offen || b->idxen)
        inst.src[ISA_ADDR] = rig_vgpr(ADDR, b->offen && b->idxen ? 2 : 1);
    inst.src[ISA_SBASE] = rig_sgpr(VSHARP, 4);
    inst.soffset = rig_sgpr(SOFFSET, 1);
    return inst;
}

/* Host offset of byte `i` of a lane's access; -1 when out of range (range is that of the dword, or of
 * `whole`). */
static int64_t where(const struct rig *r, const struct buffer *b, unsigned lane, unsigned i, unsigned bytes,
                     bool whole)
{
    uint64_t index = b->idxen ? r->w.v[ADDR][lane] : 0;
    uint64_t offset = (uint64_t)b->offset + (b->offen ? r->w.v[ADDR + (b->idxen ? 1 : 0)][lane] : 0);
    unsigned first = whole ? 0 : i / 4 * 4, size = whole ? bytes : bytes - first < 4 ? bytes - first : 4;
    if (b->add_tid)
        index += lane;
    bool structured = b->idxen && b->stride;
    if (structured) {
        if (index >= b->records || (b->swizzle && offset + first + size > b->stride))
            return -1;
    } else if (index * b->stride + offset + first + size + b->soffset > b->records) {
        return -1;
    }
    offset += i;
    if (!b->swizzle)
        return (int64_t)(b->soffset + index * b->stride + offset);
    uint64_t index_msb = index / b->index_stride, index_lsb = index % b->index_stride;
    uint64_t offset_msb = offset / 4, offset_lsb = offset % 4;
    return (int64_t)(b->soffset + (index_msb * b->stride + offset_msb * 4) * b->index_stride + index_lsb * 4 +
                     offset_lsb);
}

static void randomize(struct rig *r, struct buffer *b, unsigned round, unsigned bytes)
{
    static const uint32_t index_strides[] = {8, 16, 32, 64};
    *b = (struct buffer){.base = (uint64_t)(uintptr_t)r->host,
                         .index_stride = index_strides[rig_random() % 4]};
    b->idxen = round & 1;
    b->offen = round & 2;
    b->stride = round % 5 ? (uint32_t)(4 + rig_random() % 8 * 4) : 0;
    b->swizzle = round % 3 == 2 && b->stride && b->idxen;
    b->add_tid = round % 7 == 6;
    b->offset = (int32_t)(rig_random() % 32);
    b->soffset = (uint32_t)(rig_random() % 64);
    b->records = b->idxen && b->stride ? (uint32_t)(rig_random() % 70) : (uint32_t)(rig_random() % 3000);
    if (b->swizzle && bytes > 1)
        b->offset &= ~3;
    r->w.exec = rig_exec((unsigned)rig_random());
    for (unsigned lane = 0; lane < 64; lane++) {
        uint32_t index = (uint32_t)(rig_random() % 64), offset = (uint32_t)(rig_random() % 64);
        if (b->swizzle)
            offset = offset % 32 & ~3u;
        if (rig_random() % 16 == 0 && !(b->idxen && b->stride))
            offset = 0x80000000; /* how compilers say "out of range" */
        r->w.v[ADDR][lane] = b->idxen ? index : offset;
        r->w.v[ADDR + 1][lane] = offset;
        if (!b->idxen && round % 4 == 2 && !b->swizzle)
            r->w.v[ADDR][lane] = lane * bytes; /* dense */
    }
}

static void run_and_compare(struct rig *base, struct rig *ref, const struct isa_inst *inst, const char *name,
                            unsigned round)
{
    uint8_t *saved = malloc(RIG_HOST);
    memcpy(saved, base->host, RIG_HOST);
    for (unsigned i = 0; i < 3; i++) {
        char what[100];
        if (!rig_has_level(rig_levels[i]))
            continue;
        struct rig *r = rig_copy(base);
        memcpy(base->host, saved, RIG_HOST);
        snprintf(what, sizeof(what), "%s v%u round %u", name, rig_levels[i], round);
        CHECK_EQ(rig_run(r, rig_levels[i], inst), EHP_FAULT_NONE);
        rig_same(r, ref, what);
        rig_same_host(base->host, ref->host, what);
        free(r);
    }
    free(saved);
}

static void test_plain(uint16_t op, const char *name, unsigned bytes, char mode, unsigned round)
{
    struct rig *base = rig_make();
    struct buffer b;
    randomize(base, &b, round, bytes);
    set_descriptor(base, &b, 0);
    struct isa_inst inst = make(op, ISA_MUBUF, &b);
    bool load = mode != 's' && mode != 'S';
    int data = round % 4 == 0 && load ? ADDR : DATA;
    *(load ? &inst.dst : &inst.src[ISA_DATA]) = rig_vgpr((unsigned)data, (bytes + 3) / 4);
    struct rig *ref = rig_copy(base);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint8_t got[16] = {0};
        if (!(base->w.exec >> lane & 1))
            continue;
        for (unsigned i = 0; i < bytes; i++) {
            int64_t at = where(base, &b, lane, i, bytes, false);
            uint32_t word = base->w.v[data + (int)i / 4][lane] >> (mode == 'S' ? 16 : 0);
            if (at < 0)
                continue;
            if (load)
                got[i] = base->host[at];
            else
                ref->host[at] = (uint8_t)(word >> 8 * (i % 4));
        }
        for (unsigned d = 0; d * 4 < bytes && load; d++) {
            uint32_t x;
            memcpy(&x, got + 4 * d, 4);
            if (mode == 'i' && got[bytes - 1] & 0x80)
                x |= UINT32_MAX << 8 * bytes;
            uint32_t *r = &ref->w.v[data + (int)d][lane];
            *r = mode == 'h' ? (*r & 0xffff) | x << 16 : mode == 'd' ? (*r & 0xffff0000) | x : x;
        }
    }
    run_and_compare(base, ref, &inst, name, round);
    free(ref);
    free(base);
}

/* Loads to LDS, also of GLOBAL and SCRATCH: M0[15:0] + offset + 4 * lane. */
static void test_lds(uint16_t op, int format, unsigned bytes, bool sign, unsigned round)
{
    struct rig *base = rig_make();
    struct buffer b = {
        .base = (uint64_t)(uintptr_t)base->host, .records = 400, .offen = true, .index_stride = 8};
    b.offset = (int32_t)(rig_random() % 64);
    base->w.exec = rig_exec((unsigned)rig_random());
    base->w.m0 = (uint32_t)(rig_random() % (RIG_LDS - 100)) | 0x70000;
    if (format != ISA_MUBUF && round % 2)
        b.offset = -b.offset;
    set_descriptor(base, &b, 0);
    struct isa_inst inst = make(op, format, &b);
    inst.lds = true;
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t v = format == ISA_SCRATCH ? 64 + rig_random() % 100 : 64 + rig_random() % 500;
        if (format == ISA_GLOBAL)
            v += b.base;
        base->w.v[ADDR][lane] = (uint32_t)v;
        base->w.v[ADDR + 1][lane] = (uint32_t)(v >> 32);
    }
    if (format != ISA_MUBUF) {
        inst.src[ISA_SBASE].kind = inst.soffset.kind = ISA_NONE;
        inst.src[ISA_ADDR] = rig_vgpr(ADDR, format == ISA_GLOBAL ? 2 : 1);
    }
    struct rig *ref = rig_copy(base);
    for (unsigned lane = 0; lane < 64; lane++) {
        int64_t to = (int64_t)(base->w.m0 & 0xffff) + b.offset + 4 * (int64_t)lane;
        uint64_t from = base->w.v[ADDR][lane] + (uint64_t)(int64_t)b.offset;
        uint32_t x = 0;
        if (!(base->w.exec >> lane & 1) || to < 0 || to + 4 > RIG_LDS)
            continue;
        if (format == ISA_GLOBAL)
            from = ((base->w.v[ADDR][lane] | (uint64_t)base->w.v[ADDR + 1][lane] << 32) +
                    (uint64_t)(int64_t)b.offset) -
                   b.base;
        for (unsigned i = 0; i < bytes; i++) {
            uint8_t byte = base->host[from + i];
            if (format == ISA_SCRATCH)
                byte = base->scratch[(from + i) / 4 * 256 + lane * 4 + (from + i) % 4];
            if (format == ISA_MUBUF && from + bytes > b.records)
                byte = 0;
            x |= (uint32_t)byte << 8 * i;
        }
        if (sign && bytes < 4 && x >> (8 * bytes - 1))
            x |= UINT32_MAX << 8 * bytes;
        memcpy(ref->lds + to, &x, 4);
    }
    run_and_compare(base, ref, &inst, "to LDS", round);
    free(ref);
    free(base);
}

/* ---- formats: known bits and what they mean ---- */

static uint32_t f32(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static const struct known {
    uint8_t dfmt, nfmt, bytes, count;
    uint8_t memory[16];
    uint32_t value[4]; /* of the format's components */
} known[] = {
    {1, 0, 1, 1, {0xff}, {0x3f800000}},
    {1, 0, 1, 1, {0x33}, {0x3e4ccccd}}, /* 51 / 255 = 0.2 */
    {1, 1, 1, 1, {0x81}, {0xbf800000}}, /* snorm -127 / 127 */
    {1, 2, 1, 1, {200}, {0x43480000}},
    {1, 3, 1, 1, {0x9c}, {0xc2c80000}}, /* sscaled -100 */
    {1, 4, 1, 1, {200}, {200}},
    {1, 5, 1, 1, {200}, {0xffffffc8}},
    {2, 7, 2, 1, {0x00, 0xc5}, {0xc0a00000}}, /* f16 -5 */
    {2, 0, 2, 1, {0xff, 0xff}, {0x3f800000}},
    {3, 4, 2, 2, {1, 2}, {1, 2}},
    {4, 7, 4, 1, {0xdb, 0x0f, 0x49, 0x40}, {0x40490fdb}},
    {4, 4, 4, 1, {1, 2, 3, 4}, {0x04030201}},
    {5, 5, 4, 2, {0xfe, 0xff, 3, 0}, {0xfffffffe, 3}},
    {6, 7, 4, 3, {0xc0, 0x03, 0x20, 0x80}, {0x3f800000, 0x40000000, 0x40000000}}, /* 11 11 10 bits: 1, 2, 2 */
    {7, 7, 4, 3, {0xe0, 0x01, 0x10, 0x80}, {0x3f800000, 0x40000000, 0x40000000}}, /* 10 11 11 bits */
    {8, 4, 4, 4, {0x0b, 0x50, 0x00, 0x08}, {3, 2, 5, 0x20}}, /* 2 10 10 10 from the lowest bit */
    {9, 4, 4, 4, {0x01, 0x08, 0x30, 0xc0}, {1, 2, 3, 3}},    /* 10 10 10 2 */
    {10, 0, 4, 4, {0, 51, 255, 102}, {0, 0x3e4ccccd, 0x3f800000, 0x3ecccccd}},
    {11, 4, 8, 2, {1, 0, 0, 0, 2, 0, 0, 0}, {1, 2}},
    {12, 7, 8, 4, {0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44}, {0x3f800000, 0x40000000, 0x40400000, 0x40800000}},
    {13, 4, 12, 3, {1, 0, 0, 0, 2, 0, 0, 0, 3}, {1, 2, 3}},
    {14, 5, 16, 4, {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}, {1, 2, 3, 4}},
};

static void test_formats(void)
{
    static const uint16_t loads[] = {ISA_OP_tbuffer_load_format_x, ISA_OP_tbuffer_load_format_xy,
                                     ISA_OP_tbuffer_load_format_xyz, ISA_OP_tbuffer_load_format_xyzw};
    static const uint16_t stores[] = {ISA_OP_tbuffer_store_format_x, ISA_OP_tbuffer_store_format_xy,
                                      ISA_OP_tbuffer_store_format_xyz, ISA_OP_tbuffer_store_format_xyzw};
    static const uint16_t untyped[] = {ISA_OP_buffer_load_format_x, ISA_OP_buffer_load_format_xy,
                                       ISA_OP_buffer_load_format_xyz, ISA_OP_buffer_load_format_xyzw};
    for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const struct known *k = &known[i];
        struct rig *r = rig_make();
        struct buffer b = {
            .base = (uint64_t)(uintptr_t)r->host, .records = 64 * 16, .offen = true, .index_stride = 8};
        bool integer = k->nfmt == 4 || k->nfmt == 5;
        set_descriptor(r, &b, 0xfac | (uint32_t)k->nfmt << 12 | (uint32_t)k->dfmt << 15); /* XYZW */
        for (unsigned lane = 0; lane < 64; lane++) {
            memcpy(r->host + lane * k->bytes, k->memory, k->bytes);
            r->w.v[ADDR][lane] = lane * k->bytes;
        }
        for (int form = 0; form < 2; form++) {
            struct isa_inst inst = make((form ? untyped : loads)[3], form ? ISA_MUBUF : ISA_MTBUF, &b);
            inst.dfmt = form ? 0 : k->dfmt;
            inst.nfmt = form ? 0 : k->nfmt;
            inst.dst = rig_vgpr(DATA, 4);
            CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
            for (unsigned c = 0; c < 4; c++) {
                uint32_t missing = c < 3 ? 0 : integer ? 1 : f32(1);
                if (!CHECK_EQ(r->w.v[DATA + (int)c][63], c < k->count ? k->value[c] : missing))
                    fprintf(stderr, "known format %u, component %u\n", i, c);
            }
        }
        /* Fewer components leave the other registers alone. */
        struct isa_inst one = make(loads[0], ISA_MTBUF, &b);
        one.dfmt = k->dfmt;
        one.nfmt = k->nfmt;
        one.dst = rig_vgpr(DATA, 1);
        uint32_t before = r->w.v[DATA + 1][5];
        r->w.v[DATA][5] = 0x12345;
        CHECK_EQ(rig_run(r, 2, &one), EHP_FAULT_NONE);
        CHECK_EQ(r->w.v[DATA][5], k->value[0]);
        CHECK_EQ(r->w.v[DATA + 1][5], before);
        /* Back to memory. */
        struct isa_inst store = make(stores[k->count - 1], ISA_MTBUF, &b);
        store.dfmt = k->dfmt;
        store.nfmt = k->nfmt;
        store.src[ISA_DATA] = rig_vgpr(DATA, k->count);
        for (unsigned c = 0; c < k->count; c++)
            for (unsigned lane = 0; lane < 64; lane++)
                r->w.v[DATA + (int)c][lane] = k->value[c];
        memset(r->host, 0xaa, 64u * k->bytes);
        CHECK_EQ(rig_run(r, 2, &store), EHP_FAULT_NONE);
        for (unsigned lane = 0; lane < 64; lane++)
            if (!CHECK(!memcmp(r->host + lane * k->bytes, k->memory, k->bytes))) {
                fprintf(stderr, "known format %u stored\n", i);
                break;
            }
        if (k->count > 1) { /* what the missing ones would be is not known */
            store.op = stores[0];
            CHECK_EQ(rig_run(r, 2, &store), EHP_FAULT_UNIMPLEMENTED);
        }
        free(r);
    }
}

/* D16: two components a register, as f16 or 16-bit integers; clamping; dst_sel; range. */
static void test_format_corners(void)
{
    struct rig *r = rig_make();
    struct buffer b = {.base = (uint64_t)(uintptr_t)r->host, .records = 64, .offen = true, .index_stride = 8};
    set_descriptor(r, &b, 0xfac);
    for (unsigned lane = 0; lane < 64; lane++)
        r->w.v[ADDR][lane] = lane * 4;
    memcpy(r->host, (uint8_t[]){0, 51, 255, 102}, 4);
    struct isa_inst inst = make(ISA_OP_tbuffer_load_format_d16_xyz, ISA_MTBUF, &b);
    inst.dfmt = 10;
    inst.dst = rig_vgpr(DATA, 2);
    r->w.v[DATA + 1][0] = 0xabcd1234;
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK_EQ(r->w.v[DATA][0], 0x32660000);     /* 0, 0.2 */
    CHECK_EQ(r->w.v[DATA + 1][0], 0xabcd3c00); /* 1; the rest stays */
    CHECK_EQ(r->w.v[DATA][16], 0);             /* out of range */
    inst = make(ISA_OP_buffer_load_format_d16_hi_x, ISA_MUBUF, &b);
    inst.dst = rig_vgpr(DATA, 1);
    r->w.v[DATA][0] = 0x1111;
    set_descriptor(r, &b, 0xfac | 4 << 12 | 2 << 15); /* 16, uint */
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK_EQ(r->w.v[DATA][0], 51u << 24 | 0x1111);
    /* dst_sel W, 1, 0, X */
    set_descriptor(r, &b, 4 << 12 | 10 << 15 | (7 | 1 << 3 | 0 << 6 | 4 << 9));
    inst = make(ISA_OP_buffer_load_format_xyzw, ISA_MUBUF, &b);
    inst.dst = rig_vgpr(DATA, 4);
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK_EQ(r->w.v[DATA][0], 102);
    CHECK_EQ(r->w.v[DATA + 1][0], 1);
    CHECK_EQ(r->w.v[DATA + 2][0], 0);
    CHECK_EQ(r->w.v[DATA + 3][0], 0);
    CHECK_EQ(r->w.v[DATA + 1][20], 1); /* a selected 1 is 1 even out of range */
    CHECK_EQ(r->w.v[DATA][20], 0);
    /* Clamping stores: unorm 8 of 2.0, -1.0, NaN, 0.5 (127.5 rounds to even). */
    inst = make(ISA_OP_tbuffer_store_format_xyzw, ISA_MTBUF, &b);
    inst.dfmt = 10;
    inst.src[ISA_DATA] = rig_vgpr(DATA, 4);
    r->w.v[DATA][0] = f32(2);
    r->w.v[DATA + 1][0] = f32(-1);
    r->w.v[DATA + 2][0] = 0x7fc00000;
    r->w.v[DATA + 3][0] = f32(0.5f);
    r->w.exec = 1;
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK(!memcmp(r->host, (uint8_t[]){255, 0, 0, 128}, 4));
    inst.nfmt = 5; /* sint 8 clamps */
    r->w.v[DATA][0] = 1000;
    r->w.v[DATA + 1][0] = (uint32_t)-1000;
    r->w.v[DATA + 2][0] = (uint32_t)-3;
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK(!memcmp(r->host, (uint8_t[]){127, 128, 253}, 3));
    inst.dfmt = 0; /* invalid */
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_UNIMPLEMENTED);
    free(r);
}

static void test_fences(void)
{
    struct rig *r = rig_make(), *ref = rig_copy(r);
    struct isa_inst inst = {
        .op = ISA_OP_buffer_inv, .format = ISA_MUBUF, .size = 8, .policy.scope = ISA_SCOPE_AGENT};
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    inst.op = ISA_OP_buffer_wbl2;
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    rig_same(r, ref, "fences");
    free(ref);
    free(r);
}

int main(void)
{
    for (unsigned round = 0; round < 105; round++) {
#define P(name, bytes, mode) test_plain(ISA_OP_buffer_##name, #name, bytes, mode, round);
        P(load_ubyte, 1, 'u')
        P(load_sbyte, 1, 'i')
        P(load_ushort, 2, 'u')
        P(load_sshort, 2, 'i')
        P(load_dword, 4, 'u')
        P(load_dwordx2, 8, 'u')
        P(load_dwordx3, 12, 'u')
        P(load_dwordx4, 16, 'u')
        P(load_short_d16, 2, 'd')
        P(load_short_d16_hi, 2, 'h')
        P(load_ubyte_d16_hi, 1, 'h')
        P(store_byte, 1, 's')
        P(store_byte_d16_hi, 1, 'S')
        P(store_short, 2, 's')
        P(store_short_d16_hi, 2, 'S')
        P(store_dword, 4, 's')
        P(store_dwordx2, 8, 's')
        P(store_dwordx3, 12, 's')
        P(store_dwordx4, 16, 's')
        test_lds(ISA_OP_buffer_load_dword, ISA_MUBUF, 4, false, round);
        test_lds(ISA_OP_buffer_load_sshort, ISA_MUBUF, 2, true, round);
        test_lds(ISA_OP_global_load_lds_dword, ISA_GLOBAL, 4, false, round);
        test_lds(ISA_OP_global_load_lds_sbyte, ISA_GLOBAL, 1, true, round);
        test_lds(ISA_OP_global_load_lds_ushort, ISA_GLOBAL, 2, false, round);
        test_lds(ISA_OP_scratch_load_lds_dword, ISA_SCRATCH, 4, false, round);
    }
    test_formats();
    test_format_corners();
    test_fences();
    return check_status();
}
