/* SPDX-License-Identifier: MIT */
/*
 * DS instructions against a plain reference written from the document's
 * pseudocode: reads and writes with bounds, two-address forms, lane exchange.
 */
#include "memory_wave.h"

static const struct op {
    const char *name;
    uint16_t op;
    uint8_t bytes;
    bool sign;
    char half;
    bool store;
} ops[] = {
#define OP(name, bytes, sign, half, store) {#name, ISA_OP_ds_##name, bytes, sign, half, store},
    OP(read_u8, 1, false, 0, false) OP(read_i8, 1, true, 0, false) OP(read_u16, 2, false, 0, false)
        OP(read_i16, 2, true, 0, false) OP(read_b32, 4, false, 0, false) OP(read_b64, 8, false, 0, false)
            OP(read_b96, 12, false, 0, false) OP(read_b128, 16, false, 0, false)
                OP(read_u8_d16, 1, false, 'l', false) OP(read_u8_d16_hi, 1, false, 'h', false)
                    OP(read_i8_d16, 1, true, 'l', false) OP(read_i8_d16_hi, 1, true, 'h', false)
                        OP(read_u16_d16, 2, false, 'l', false) OP(read_u16_d16_hi, 2, false, 'h', false)
                            OP(write_b8, 1, false, 0, true) OP(write_b8_d16_hi, 1, false, 'h', true)
                                OP(write_b16, 2, false, 0, true) OP(write_b16_d16_hi, 2, false, 'h', true)
                                    OP(write_b32, 4, false, 0, true) OP(write_b64, 8, false, 0, true)
                                        OP(write_b96, 12, false, 0, true) OP(write_b128, 16, false, 0, true)
#undef OP
};

enum { ADDR = 4, DATA = 12, DATA2 = 16 };

static void reference(struct rig *ref, const struct op *op, const uint32_t address[64], int data)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        uint8_t b[16] = {0};
        bool inside = (uint64_t)address[lane] + op->bytes <= ref->w.lds_bytes;
        if (!(ref->w.exec >> lane & 1))
            continue;
        for (unsigned i = 0; i < op->bytes && inside; i++) {
            uint32_t word = ref->w.v[data + (int)i / 4][lane] >> (op->half == 'h' ? 16 : 0);
            if (op->store)
                ref->lds[address[lane] + i] = (uint8_t)(word >> 8 * (i % 4));
            else
                b[i] = ref->lds[address[lane] + i];
        }
        if (op->store)
            continue;
        for (unsigned d = 0; d * 4 < op->bytes; d++) {
            uint32_t x = b[4 * d] | (uint32_t)b[4 * d + 1] << 8 | (uint32_t)b[4 * d + 2] << 16 |
                         (uint32_t)b[4 * d + 3] << 24;
            if (op->sign && b[op->bytes - 1] & 0x80)
                x |= UINT32_MAX << 8 * op->bytes;
            uint32_t *r = &ref->w.v[data + (int)d][lane];
            *r = op->half == 'l'   ? (*r & 0xffff0000) | (x & 0xffff)
                 : op->half == 'h' ? (*r & 0xffff) | x << 16
                                   : x;
        }
    }
}

static void run_and_compare(struct rig *base, const struct rig *ref, const struct isa_inst *inst,
                            const char *name)
{
    for (unsigned i = 0; i < 3; i++) {
        char what[100];
        if (!rig_has_level(rig_levels[i]))
            continue;
        struct rig *r = rig_copy(base);
        snprintf(what, sizeof(what), "%s v%u exec %016" PRIx64, name, rig_levels[i], base->w.exec);
        CHECK_EQ(rig_run(r, rig_levels[i], inst), EHP_FAULT_NONE);
        rig_same(r, ref, what);
        free(r);
    }
}

/* Byte addresses in a few shapes; `wild` ones may be anywhere in 32 bits. */
static uint32_t pick(unsigned pattern, unsigned lane, unsigned bytes, uint32_t start)
{
    switch (pattern) {
    case 0:
        return start % 1024 + lane * bytes;
    case 1:
        return start % (RIG_LDS - 16);
    case 2:
        return (uint32_t)(rig_random() % (RIG_LDS / bytes)) * bytes;
    case 3:
        return (uint32_t)(rig_random() % (RIG_LDS + 64)); /* unaligned, the last ones beyond */
    case 4:
        return RIG_LDS - 32 * bytes + lane * bytes; /* the upper half is out of range */
    default:
        return rig_random() % 4 ? (uint32_t)(rig_random() % RIG_LDS) : (uint32_t)rig_random();
    }
}

static void test_one(const struct op *op, unsigned round)
{
    struct rig *base = rig_make();
    int data = round % 3 == 0 && !op->store ? ADDR : round % 3 == 1 ? WAVE_ACC + 7 : DATA;
    uint32_t offset = round % 2 ? (uint32_t)(rig_random() & 0xffff) : (uint32_t)(rig_random() % 64),
             address[64];
    uint32_t start = (uint32_t)rig_random();
    base->w.exec = rig_exec((unsigned)rig_random());
    for (unsigned lane = 0; lane < 64; lane++) {
        address[lane] = pick(round % 6, lane, op->bytes, start);
        base->w.v[ADDR][lane] = address[lane] - offset; /* wraps in 32 bits */
    }
    struct isa_inst inst = {.op = op->op, .format = ISA_DS, .size = 8, .offset = (int32_t)offset};
    inst.src[ISA_ADDR] = rig_vgpr(ADDR, 1);
    struct isa_operand reg = rig_vgpr((unsigned)data % WAVE_ACC, (op->bytes + 3u) / 4);
    if (data >= WAVE_ACC)
        reg.kind = ISA_AGPR;
    *(op->store ? &inst.src[ISA_DATA] : &inst.dst) = reg;
    struct rig *ref = rig_copy(base);
    reference(ref, op, address, data);
    run_and_compare(base, ref, &inst, op->name);
    free(ref);
    free(base);
}

/* ---- two addresses ---- */

static void test_two(uint16_t op, const char *name, unsigned bytes, unsigned scale, int action,
                     unsigned round)
{
    struct rig *base = rig_make();
    unsigned offset[2] = {(unsigned)(rig_random() % 256), (unsigned)(rig_random() % 256)};
    base->w.exec = rig_exec((unsigned)rig_random());
    if (scale > 8)
        offset[0] %= 9, offset[1] %= 9;
    for (unsigned lane = 0; lane < 64; lane++)
        base->w.v[ADDR][lane] = round % 3 ? lane * bytes : (uint32_t)(rig_random() % RIG_LDS);
    struct isa_inst inst = {
        .op = op, .format = ISA_DS, .size = 8, .offset = (int32_t)offset[0], .offset1 = (uint8_t)offset[1]};
    int dst = round % 2 ? ADDR : 20;
    inst.src[ISA_ADDR] = rig_vgpr(ADDR, 1);
    if (action != 'r') {
        inst.src[ISA_DATA] = rig_vgpr(DATA, bytes / 4);
        inst.src[ISA_DATA2] = rig_vgpr(DATA2, bytes / 4);
    }
    if (action != 'w')
        inst.dst = rig_vgpr((unsigned)dst, bytes / 2);
    struct rig *ref = rig_copy(base);
    for (unsigned phase = 0; phase < 2;
         phase++) /* all lanes' first address, then all lanes' second; exchanges: by lane */
        for (unsigned lane = 0; lane < 64 && action != 'x'; lane++) {
            uint64_t a = base->w.v[ADDR][lane] + offset[phase] * (uint64_t)scale;
            bool inside = a + bytes <= RIG_LDS;
            if (!(base->w.exec >> lane & 1))
                continue;
            for (unsigned d = 0; d < bytes / 4; d++) {
                if (action == 'w' && inside)
                    memcpy(ref->lds + a + 4 * d, &base->w.v[(phase ? DATA2 : DATA) + (int)d][lane], 4);
                if (action == 'r') {
                    uint32_t x = 0;
                    if (inside)
                        memcpy(&x, base->lds + a + 4 * d, 4);
                    ref->w.v[dst + (int)(phase * bytes / 4 + d)][lane] = x;
                }
            }
        }
    for (unsigned lane = 0; lane < 64 && action == 'x'; lane++) {
        uint8_t old[2][8] = {{0}, {0}};
        if (!(base->w.exec >> lane & 1))
            continue;
        for (int write = 0; write < 2; write++)
            for (unsigned phase = 0; phase < 2; phase++) {
                uint64_t a = base->w.v[ADDR][lane] + offset[phase] * (uint64_t)scale;
                if (a + bytes > RIG_LDS)
                    continue;
                if (!write)
                    memcpy(old[phase], ref->lds + a, bytes);
                for (unsigned d = 0; d < bytes / 4 && write; d++)
                    memcpy(ref->lds + a + 4 * d, &base->w.v[(phase ? DATA2 : DATA) + (int)d][lane], 4);
            }
        for (unsigned phase = 0; phase < 2; phase++)
            for (unsigned d = 0; d < bytes / 4; d++)
                memcpy(&ref->w.v[dst + (int)(phase * bytes / 4 + d)][lane], old[phase] + 4 * d, 4);
    }
    run_and_compare(base, ref, &inst, name);
    free(ref);
    free(base);
}

/* ---- between lanes ---- */

static unsigned bits_reversed(unsigned i)
{
    unsigned r = 0;
    for (unsigned b = 0; b < 5; b++)
        r |= (i >> b & 1) << (4 - b);
    return r;
}

/* The document's pseudocode of DS_SWIZZLE_B32. */
static unsigned swizzle_source(unsigned offset, unsigned i)
{
    unsigned mask = offset & 31;
    if (offset >= 0xe000) {
        if (mask == 31)
            return i;
        unsigned ones = 0;
        for (unsigned b = 0; b < 5; b++)
            ones += mask >> b & 1;
        return (bits_reversed(i & 31) >> ones) | (i & mask) | (i & 32);
    }
    if (offset >= 0xc000) {
        int rotate = (int)(offset >> 5 & 31);
        rotate = offset & 0x400 ? -rotate : rotate;
        unsigned j = (i & mask) | ((unsigned)((int)i + rotate) & ~mask);
        return (j & 31) | (i & 32);
    }
    if (offset & 0x8000)
        return (i & ~3u) + (offset >> 2 * (i & 3) & 3);
    return ((((i & 31) & mask) | (offset >> 5 & 31)) ^ (offset >> 10 & 31)) | (i & 32);
}

static void test_lanes(unsigned round)
{
    static const unsigned modes[] = {0x0000, 0x001f, 0x041f, 0x7c1f, 0x8000, 0x80e4, 0x801b,
                                     0xc020, 0xc420, 0xc3e1, 0xe000, 0xe010, 0xe01f, 0xe00f};
    struct rig *base = rig_make();
    base->w.exec = rig_exec((unsigned)rig_random());
    bool over = round % 2; /* the result over the address */
    for (int kind = 0; kind < 3; kind++) {
        struct isa_inst inst = {.format = ISA_DS, .size = 8};
        unsigned mode = round < 28 ? modes[round % 14] : (unsigned)rig_random() & 0xffff;
        inst.offset = (int32_t)(kind == 2 ? mode : round % 3 * 4);
        inst.src[ISA_ADDR] = rig_vgpr(ADDR, 1);
        if (kind < 2)
            inst.src[ISA_DATA] = rig_vgpr(DATA, 1);
        inst.dst = rig_vgpr(over ? ADDR : 20, 1);
        struct rig *ref = rig_copy(base);
        uint32_t *d = ref->w.v[over ? ADDR : 20], out[64] = {0};
        const char *name = "";
        for (unsigned i = 0; i < 64; i++) {
            unsigned lane = (base->w.v[ADDR][i] + (unsigned)inst.offset) / 4 % 64;
            unsigned from = kind == 2 ? swizzle_source(mode, i) : lane;
            switch (kind) {
            case 0:
                inst.op = ISA_OP_ds_permute_b32;
                name = "permute";
                if (base->w.exec >> i & 1)
                    out[lane] = base->w.v[DATA][i];
                break;
            default:
                inst.op = kind == 1 ? ISA_OP_ds_bpermute_b32 : ISA_OP_ds_swizzle_b32;
                name = kind == 1 ? "bpermute" : "swizzle";
                out[i] = base->w.exec >> from & 1 ? base->w.v[kind == 1 ? DATA : ADDR][from] : 0;
                break;
            }
        }
        for (unsigned i = 0; i < 64; i++)
            d[i] = base->w.exec >> i & 1 ? out[i] : d[i];
        run_and_compare(base, ref, &inst, name);
        free(ref);
    }
    free(base);
}

/* The table that the ISA document gives for FFT mode, counting lanes from 1. */
static void test_fft_table(void)
{
    static const unsigned char full[32] = {0x01, 0x11, 0x09, 0x19, 0x05, 0x15, 0x0d, 0x1d, 0x03, 0x13, 0x0b,
                                           0x1b, 0x07, 0x17, 0x0f, 0x1f, 0x02, 0x12, 0x0a, 0x1a, 0x06, 0x16,
                                           0x0e, 0x1e, 0x04, 0x14, 0x0c, 0x1c, 0x08, 0x18, 0x10, 0x20};
    static const unsigned char half[32] = {0x01, 0x09, 0x05, 0x0d, 0x03, 0x0b, 0x07, 0x0f, 0x02, 0x0a, 0x06,
                                           0x0e, 0x04, 0x0c, 0x08, 0x10, 0x11, 0x19, 0x15, 0x1d, 0x13, 0x1b,
                                           0x17, 0x1f, 0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c, 0x18, 0x20};
    for (int h = 0; h < 2; h++) {
        struct rig *r = rig_make();
        struct isa_inst inst = {
            .op = ISA_OP_ds_swizzle_b32, .format = ISA_DS, .size = 8, .offset = h ? 0xe010 : 0xe000};
        inst.src[ISA_ADDR] = rig_vgpr(ADDR, 1);
        inst.dst = rig_vgpr(20, 1);
        for (unsigned i = 0; i < 64; i++)
            r->w.v[ADDR][i] = i;
        CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
        for (unsigned i = 0; i < 32; i++) {
            CHECK_EQ(r->w.v[20][i], (h ? half : full)[i] - 1u);
            CHECK_EQ(r->w.v[20][i + 32], (h ? half : full)[i] - 1u + 32);
        }
        free(r);
    }
}

/* addtid, append, consume: the address is M0[15:0] + offset. */
static void test_m0(unsigned round)
{
    struct rig *base = rig_make();
    uint32_t m0 = (uint32_t)(rig_random() % RIG_LDS) & ~3u, offset = (uint32_t)(rig_random() % 512) & ~3u;
    base->w.exec = round % 4 == 0 ? UINT64_MAX : rig_random() | 1;
    base->w.m0 = m0 | (round % 2 ? 0xabcd0000 : 0);
    static const uint16_t codes[] = {ISA_OP_ds_read_addtid_b32, ISA_OP_ds_write_addtid_b32, ISA_OP_ds_append,
                                     ISA_OP_ds_consume};
    struct isa_inst inst = {.op = codes[round % 4], .format = ISA_DS, .size = 8, .offset = (int32_t)offset};
    if (inst.op == ISA_OP_ds_write_addtid_b32)
        inst.src[ISA_DATA] = rig_vgpr(DATA, 1);
    else
        inst.dst = rig_vgpr(20, 1);
    struct rig *ref = rig_copy(base);
    uint32_t counter = 0, lanes = 0;
    bool inside = m0 + offset + 4 <= RIG_LDS;
    if (inside)
        memcpy(&counter, ref->lds + m0 + offset, 4);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t at = m0 + offset + 4 * i;
        if (!(base->w.exec >> i & 1))
            continue;
        lanes++;
        if (round % 4 == 0) {
            ref->w.v[20][i] = 0;
            if (at + 4 <= RIG_LDS)
                memcpy(&ref->w.v[20][i], ref->lds + at, 4);
        } else if (round % 4 == 1) {
            if (at + 4 <= RIG_LDS)
                memcpy(ref->lds + at, &ref->w.v[DATA][i], 4);
        } else {
            ref->w.v[20][i] = counter;
        }
    }
    counter += round % 4 == 2 ? lanes : 0u - lanes;
    if (round % 4 >= 2 && inside)
        memcpy(ref->lds + m0 + offset, &counter, 4);
    run_and_compare(base, ref, &inst, "m0");
    free(ref);
    free(base);
}

int main(void)
{
    for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        for (unsigned round = 0; round < 60; round++)
            test_one(&ops[i], round);
    for (unsigned round = 0; round < 60; round++) {
#define TWO(name, bytes, scale, action) test_two(ISA_OP_ds_##name, #name, bytes, scale, action, round);
        TWO(read2_b32, 4, 4, 'r')
        TWO(read2_b64, 8, 8, 'r')
        TWO(read2st64_b32, 4, 256, 'r')
        TWO(read2st64_b64, 8, 512, 'r')
        TWO(write2_b32, 4, 4, 'w')
        TWO(write2_b64, 8, 8, 'w')
        TWO(write2st64_b32, 4, 256, 'w')
        TWO(write2st64_b64, 8, 512, 'w')
        TWO(wrxchg2_rtn_b32, 4, 4, 'x')
        TWO(wrxchg2_rtn_b64, 8, 8, 'x')
        TWO(wrxchg2st64_rtn_b32, 4, 256, 'x')
        TWO(wrxchg2st64_rtn_b64, 8, 512, 'x')
        test_lanes(round);
        test_m0(round);
    }
    test_fft_table();
    return check_status();
}
