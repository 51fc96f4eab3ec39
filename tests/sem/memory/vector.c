/* SPDX-License-Identifier: MIT */
/*
 * FLAT, GLOBAL and SCRATCH loads and stores against a byte-by-byte reference:
 * every width, address form, address pattern and EXEC pattern, mixed apertures,
 * AccVGPR data, results over their own addresses; faults.
 */
#include <sys/mman.h>

#include "memory_wave.h"
#include "sem/memory/memop.h"

/* What the reference knows: bytes, sign extension, half ('l', 'h', 0) and direction. */
static const struct op {
    const char *name;
    uint16_t flat, global, scratch;
    uint8_t bytes;
    bool sign;
    char half;
    bool store;
} ops[] = {
#define OP(name, bytes, sign, half, store)                                                                   \
    {#name, ISA_OP_flat_##name, ISA_OP_global_##name, ISA_OP_scratch_##name, bytes, sign, half, store},
    OP(load_ubyte, 1, false, 0, false) OP(load_sbyte, 1, true, 0, false) OP(load_ushort, 2, false, 0, false)
        OP(load_sshort, 2, true, 0, false) OP(load_dword, 4, false, 0, false)
            OP(load_dwordx2, 8, false, 0, false) OP(load_dwordx3, 12, false, 0, false)
                OP(load_dwordx4, 16, false, 0, false) OP(load_ubyte_d16, 1, false, 'l', false)
                    OP(load_ubyte_d16_hi, 1, false, 'h', false) OP(load_sbyte_d16, 1, true, 'l', false)
                        OP(load_sbyte_d16_hi, 1, true, 'h', false) OP(load_short_d16, 2, false, 'l', false)
                            OP(load_short_d16_hi, 2, false, 'h', false) OP(store_byte, 1, false, 0, true) OP(
                                store_byte_d16_hi, 1, false, 'h', true) OP(store_short, 2, false, 0, true)
                                OP(store_short_d16_hi, 2, false, 'h', true) OP(store_dword, 4, false, 0, true)
                                    OP(store_dwordx2, 8, false, 0, true) OP(store_dwordx3, 12, false, 0, true)
                                        OP(store_dwordx4, 16, false, 0, true)
#undef OP
};

/* Where byte i of a lane's access is in the reference rig; NULL: nowhere. */
static uint8_t *place(struct rig *ref, const uint8_t *host, uint64_t address, int space, unsigned lane,
                      unsigned i, unsigned bytes)
{
    uint64_t high = address >> 32;
    uint32_t low = (uint32_t)address;
    if (space == ISA_SCRATCH || (space == ISA_FLAT && high == 0x20000))
        return ref->scratch + (low + i) / 4 * 256 + lane * 4 + (low + i) % 4;
    if (space == ISA_FLAT && high == 0x10000)
        return (uint64_t)low + bytes <= ref->w.lds_bytes ? ref->lds + low + i : NULL;
    return ref->host + (address - (uint64_t)(uintptr_t)host) + i;
}

static void reference(struct rig *ref, const uint8_t *host, const struct op *op, int space,
                      const uint64_t address[64], int data)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        uint8_t b[16] = {0};
        if (!(ref->w.exec >> lane & 1))
            continue;
        for (unsigned i = 0; i < op->bytes; i++) {
            uint8_t *p = place(ref, host, address[lane], space, lane, i, op->bytes);
            uint32_t word = ref->w.v[data + (int)i / 4][lane] >> (op->half == 'h' ? 16 : 0);
            if (p && op->store)
                *p = (uint8_t)(word >> 8 * (i % 4));
            else if (p)
                b[i] = *p;
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

static uint64_t pick(unsigned pattern, unsigned lane, unsigned bytes, uint64_t room, uint64_t start,
                     uint64_t other)
{
    uint64_t slots = room / bytes;
    switch (pattern) {
    case 0:
        return start % (room - 64 * bytes) + lane * bytes; /* dense */
    case 1:
        return start % (room - bytes); /* uniform */
    case 2:
        return start % (slots - 64) * bytes + (63 - lane) * bytes; /* reversed */
    case 3:
        return (rig_random() % slots) * bytes;
    case 4:
        return rig_random() % (room - bytes); /* unaligned */
    default:
        return start % (room - 66 * bytes) + (lane + (lane == other % 64)) * bytes; /* dense but for one */
    }
}

static void test_one(const struct op *op, int space, unsigned round)
{
    struct rig *base = rig_make();
    bool saddr = space != ISA_FLAT && round % 2;
    bool vaddr = space != ISA_SCRATCH || round % 4 < 2;
    int data = round % 5 == 0   ? WAVE_ACC + 3
               : round % 5 == 1 ? 4
               : round % 5 == 2 ? 5
                                : 12; /* 4, 5: the address */
    unsigned pattern = (unsigned)(rig_random() % 6);
    int32_t offset =
        space == ISA_FLAT ? (int32_t)(rig_random() % 4096) : (int32_t)(rig_random() % 8192) - 4096;
    uint64_t address[64], start = rig_random(), other = rig_random();
    if (op->store && data < 12)
        data = 12;
    base->w.exec = rig_exec((unsigned)rig_random());
    uint64_t sbase = (uint64_t)(uintptr_t)base->host + 5000;
    uint32_t sscratch = 64 + (uint32_t)(rig_random() % 8) * 4;
    if (space == ISA_SCRATCH) { /* too small for the dense patterns */
        static const unsigned patterns[] = {1, 3, 4};
        pattern = patterns[pattern % 3];
        offset = -(int32_t)(rig_random() % 16) * (round % 3 ? 4 : 1);
        wave_set_sgpr64(&base->w, 8, sscratch);
    } else {
        wave_set_sgpr64(&base->w, 8, sbase);
    }
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t a;
        if (space == ISA_SCRATCH) {
            uint32_t s = saddr ? sscratch : 0, v = 0;
            if (!vaddr) {
                offset = saddr ? offset : 100;
            } else {
                v = (uint32_t)pick(pattern, lane, op->bytes, 100, start, other);
                v = pattern == 1 ? v & ~3u : v;
                v += saddr ? 0 : 64;
            }
            base->w.v[4][lane] = v;
            a = (uint32_t)(s + v + (uint32_t)offset);
        } else if (saddr) {
            uint32_t v = (uint32_t)pick(pattern, lane, op->bytes, 6000, start, other) + 1000;
            base->w.v[4][lane] = v;
            a = sbase + v + (uint64_t)(int64_t)offset;
        } else {
            uint64_t kind = space == ISA_FLAT && round % 3 == 0 ? rig_random() % 3 : 0;
            a = (uint64_t)(uintptr_t)base->host + 100 +
                pick(pattern, lane, op->bytes, RIG_HOST - 200, start, other);
            if (kind == 1)
                a = APERTURE_SHARED_BASE + rig_random() % (RIG_LDS + 40);
            else if (kind == 2)
                a = APERTURE_PRIVATE_BASE + rig_random() % (RIG_SCRATCH - 16);
            uint64_t v = a - (uint64_t)(int64_t)offset;
            base->w.v[4][lane] = (uint32_t)v;
            base->w.v[5][lane] = (uint32_t)(v >> 32);
        }
        if (!(base->w.exec >> lane & 1)) { /* nobody may look at an inactive lane's address */
            base->w.v[4][lane] = (uint32_t)rig_random();
            base->w.v[5][lane] = (uint32_t)rig_random();
        }
        address[lane] = a;
    }
    struct isa_operand reg = rig_vgpr((unsigned)data % WAVE_ACC, (op->bytes + 3u) / 4);
    if (data >= WAVE_ACC)
        reg.kind = ISA_AGPR;
    struct isa_inst inst = {
        .op = space == ISA_FLAT     ? op->flat
              : space == ISA_GLOBAL ? op->global
                                    : op->scratch,
        .format = (uint8_t)space,
        .size = 8,
        .offset = offset,
        .policy.scope = round % 7 == 0 ? ISA_SCOPE_AGENT : ISA_SCOPE_WAVE,
    };
    if (vaddr)
        inst.src[ISA_ADDR] = rig_vgpr(4, space == ISA_SCRATCH || saddr ? 1 : 2);
    if (saddr)
        inst.src[ISA_SBASE] = rig_sgpr(8, space == ISA_SCRATCH ? 1 : 2);
    *(op->store ? &inst.src[ISA_DATA] : &inst.dst) = reg;
    struct rig *ref = rig_copy(base);
    uint8_t *saved = malloc(RIG_HOST);
    memcpy(saved, base->host, RIG_HOST);
    reference(ref, base->host, op, space, address, data);
    for (unsigned i = 0; i < 3; i++) {
        char what[100];
        if (!rig_has_level(rig_levels[i]))
            continue;
        struct rig *r = rig_copy(base);
        memcpy(base->host, saved, RIG_HOST); /* device addresses are those of the base rig */
        snprintf(what, sizeof(what), "%s v%u space %d round %u pattern %u offset %d saddr %d data %d",
                 op->name, rig_levels[i], space, round, pattern, offset, saddr, data);
        CHECK_EQ(rig_run(r, rig_levels[i], &inst), EHP_FAULT_NONE);
        rig_same(r, ref, what);
        rig_same_host(base->host, ref->host, what);
        free(r);
    }
    free(saved);
    free(ref);
    free(base);
}

/* ---- faults ---- */

static void test_faults(unsigned level)
{
    struct rig *r = rig_make();
    struct isa_inst load = {.op = ISA_OP_global_load_dword, .format = ISA_GLOBAL, .size = 8};
    load.src[ISA_ADDR] = rig_vgpr(4, 2);
    load.dst = rig_vgpr(12, 1);
    struct isa_inst store = load;
    store.op = ISA_OP_flat_store_dword;
    store.format = ISA_FLAT;
    store.src[ISA_DATA] = rig_vgpr(12, 1);
    store.dst = (struct isa_operand){0};
    static const uint64_t bad[] = {UINT64_C(1) << 47,        UINT64_C(0xdeadbeefdeadbeef), UINT64_MAX - 2,
                                   APERTURE_SHARED_BASE + 8, APERTURE_PRIVATE_BASE + 8,    UINT64_C(3) << 48};
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            uint64_t a = lane == 37 ? bad[i] : (uint64_t)(uintptr_t)r->host + lane * 4;
            r->w.v[4][lane] = (uint32_t)a;
            r->w.v[5][lane] = (uint32_t)(a >> 32);
        }
        CHECK_EQ(rig_run(r, level, &load), EHP_FAULT_MEMORY);
        CHECK_EQ(r->guard.lane, 37);
        CHECK_EQ(r->guard.address, bad[i]);
        CHECK(!r->guard.write);
        bool aperture = bad[i] == APERTURE_SHARED_BASE + 8 || bad[i] == APERTURE_PRIVATE_BASE + 8;
        CHECK_EQ(rig_run(r, level, &store), aperture ? EHP_FAULT_NONE : EHP_FAULT_MEMORY);
        r->w.exec = ~(UINT64_C(1) << 37);
        CHECK_EQ(rig_run(r, level, &load), EHP_FAULT_NONE);
        r->w.exec = UINT64_MAX;
    }
    /* Dense, beginning below the limit and ending above it. */
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t a = APERTURE_HOST_LIMIT - 4 + lane * 4;
        r->w.v[4][lane] = (uint32_t)a;
        r->w.v[5][lane] = (uint32_t)(a >> 32);
    }
    r->w.exec = UINT64_MAX - 1;
    CHECK_EQ(rig_run(r, level, &load), EHP_FAULT_MEMORY);
    CHECK_EQ(r->guard.lane, 1);
    r->w.exec = UINT64_MAX;
    /* Scratch: the last dword, and one beyond. */
    struct isa_inst scratch = {
        .op = ISA_OP_scratch_load_dword, .format = ISA_SCRATCH, .size = 8, .offset = RIG_SCRATCH - 4};
    scratch.dst = rig_vgpr(12, 1);
    CHECK_EQ(rig_run(r, level, &scratch), EHP_FAULT_NONE);
    scratch.offset += 1;
    CHECK_EQ(rig_run(r, level, &scratch), EHP_FAULT_SCRATCH_RANGE);
    CHECK_EQ(r->guard.lane, 0);
    scratch.op = ISA_OP_scratch_store_dwordx2;
    scratch.offset = -4;
    scratch.src[ISA_DATA] = rig_vgpr(12, 2);
    CHECK_EQ(rig_run(r, level, &scratch), EHP_FAULT_SCRATCH_RANGE);
    CHECK(r->guard.write);
    free(r);
}

/* The lane of a host fault, from the address alone. */
static void test_fault_lane(void)
{
    struct rig *r = rig_make();
    struct isa_inst store = {
        .op = ISA_OP_global_store_dwordx2, .format = ISA_GLOBAL, .size = 8, .offset = 16};
    store.src[ISA_ADDR] = rig_vgpr(4, 2);
    store.src[ISA_DATA] = rig_vgpr(12, 2);
    for (unsigned lane = 0; lane < 64; lane++) {
        r->w.v[4][lane] = 0x10000 + lane * 8;
        r->w.v[5][lane] = 7;
    }
    struct xinst x;
    rig_handler(2, &store, &x);
    uint64_t base = UINT64_C(0x700010010);
    CHECK_EQ(mem_fault_lane(&r->w, &x, base), 0);
    CHECK_EQ(mem_fault_lane(&r->w, &x, base + 8 * 20 + 7), 20);
    r->w.exec = ~(UINT64_C(1) << 20);
    CHECK_EQ(mem_fault_lane(&r->w, &x, base + 8 * 20 + 7), UINT_MAX);
    CHECK_EQ(mem_fault_lane(&r->w, &x, base - 1), UINT_MAX);
    free(r);
}

int main(void)
{
    static const int spaces[] = {ISA_FLAT, ISA_GLOBAL, ISA_SCRATCH};
    for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        for (unsigned s = 0; s < 3; s++)
            for (unsigned round = 0; round < 40; round++)
                test_one(&ops[i], spaces[s], round);
    for (unsigned i = 0; i < 3; i++)
        if (rig_has_level(rig_levels[i]))
            test_faults(rig_levels[i]);
    test_fault_lane();
    return check_status();
}
