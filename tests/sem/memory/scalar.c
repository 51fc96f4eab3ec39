/* SPDX-License-Identifier: MIT */
/*
 * Scalar memory: loads and stores of every size, all offset forms, dropped low
 * bits, buffer bounds, results over the base, atomics, clocks, faults.
 */
#include "memory_wave.h"

enum { BASE = 8, OFFSET = 20, DATA = 32 };

struct form {
    bool soffset, imm;
};

static struct isa_inst make(uint16_t op, struct form form, int32_t offset, bool buffer)
{
    struct isa_inst inst = {
        .op = op, .format = ISA_SMEM, .size = 8, .imm_offset = form.imm, .soffset_en = form.soffset};
    inst.src[ISA_SBASE] = rig_sgpr(BASE, buffer ? 4 : 2);
    if (form.imm)
        inst.offset = offset;
    if (form.soffset)
        inst.soffset = rig_sgpr(OFFSET, 1);
    return inst;
}

static void test_load(uint16_t op, unsigned dwords, bool buffer, unsigned round)
{
    static const struct form forms[] = {{false, true}, {true, false}, {true, true}};
    struct form form = forms[round % 3];
    struct rig *r = rig_make();
    int32_t offset = (int32_t)(rig_random() % 512) - (buffer ? 0 : 256);
    uint32_t soffset = (uint32_t)(rig_random() % 512), stride = round % 2 ? 12 : 0,
             records = (uint32_t)(rig_random() % 40);
    uint64_t base = (uint64_t)(uintptr_t)r->host + 1024 + (buffer ? 0 : rig_random() % 4);
    unsigned dst = round % 4 == 0 ? BASE : round % 4 == 1 ? 106 - 106 % dwords : DATA;
    if (dwords == 16 && dst > 100)
        dst = DATA;
    wave_set_sgpr64(&r->w, BASE, base | (buffer ? (uint64_t)stride << 48 : 0));
    r->w.s[BASE + 2] = stride ? records : records * 16;
    r->w.s[OFFSET] = soffset;
    struct isa_inst inst = make(op, form, offset, buffer);
    inst.dst = rig_sgpr(dst, dwords);
    int64_t sum = (form.imm ? offset : 0) + (form.soffset ? (int64_t)soffset : 0);
    uint64_t bytes = stride ? stride * (uint64_t)records : records * 16;
    struct rig *ref = rig_copy(r);
    for (unsigned i = 0; i < dwords; i++) {
        uint32_t x = 0;
        int64_t at = buffer ? sum / 4 * 4 + 4 * i : 0;
        const uint8_t *p =
            (const uint8_t *)(uintptr_t)(buffer ? base + (uint64_t)at
                                                : ((base + (uint64_t)sum) & ~UINT64_C(3)) + 4 * i);
        if (!buffer || (uint64_t)at + 4 <= bytes)
            memcpy(&x, p, 4);
        ref->w.s[dst + i] = x;
    }
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    rig_same(r, ref, "scalar load");
    free(ref);
    free(r);
}

static void test_store(uint16_t op, unsigned dwords, bool buffer, unsigned round)
{
    struct rig *r = rig_make();
    struct form form = {round % 2, true};
    int32_t offset = (int32_t)(rig_random() % 128);
    uint32_t soffset = (uint32_t)(rig_random() % 128), size = (uint32_t)(rig_random() % 256);
    uint64_t base = (uint64_t)(uintptr_t)r->host;
    wave_set_sgpr64(&r->w, BASE, base);
    r->w.s[BASE + 2] = size;
    r->w.s[OFFSET] = soffset;
    for (unsigned i = 0; i < dwords; i++)
        r->w.s[DATA + i] = (uint32_t)rig_random();
    struct isa_inst inst = make(op, form, offset, buffer);
    inst.src[ISA_DATA] = rig_sgpr(DATA, dwords);
    struct rig *ref = rig_copy(r);
    uint64_t at = ((uint64_t)offset + (form.soffset ? soffset : 0)) / 4 * 4;
    for (unsigned i = 0; i < dwords; i++)
        if (!buffer || at + 4 * i + 4 <= size)
            memcpy(ref->host + at + 4 * i, &r->w.s[DATA + i], 4);
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    rig_same(r, ref, "scalar store");
    rig_same_host(r->host, ref->host, "scalar store");
    free(ref);
    free(r);
}

static void test_atomics(void)
{
    struct rig *r = rig_make();
    struct isa_inst inst = make(ISA_OP_s_atomic_add, (struct form){false, true}, 8, false);
    uint32_t word;
    uint64_t pair;
    inst.src[ISA_DATA] = rig_sgpr(DATA, 1);
    wave_set_sgpr64(&r->w, BASE, (uint64_t)(uintptr_t)r->host);
    memcpy(&word, r->host + 8, 4);
    r->w.s[DATA] = 1000;
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK_EQ(*(uint32_t *)(r->host + 8), word + 1000);
    CHECK_EQ(r->w.s[DATA], 1000);
    inst.dst = rig_sgpr(DATA, 1);
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK_EQ(*(uint32_t *)(r->host + 8), word + 2000);
    CHECK_EQ(r->w.s[DATA], word + 1000);
    inst.op = ISA_OP_s_atomic_cmpswap_x2;
    memcpy(&pair, r->host + 8, 8);
    wave_set_sgpr64(&r->w, DATA, UINT64_C(0x1122334455667788));
    wave_set_sgpr64(&r->w, DATA + 2, pair);
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK_EQ(*(uint64_t *)(r->host + 8), UINT64_C(0x1122334455667788));
    CHECK_EQ(wave_sgpr64(&r->w, DATA), pair);
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE); /* does not compare equal any more */
    CHECK_EQ(*(uint64_t *)(r->host + 8), UINT64_C(0x1122334455667788));
    inst = make(ISA_OP_s_buffer_atomic_or, (struct form){false, true}, 8, true);
    inst.src[ISA_DATA] = rig_sgpr(DATA, 1);
    r->w.s[BASE + 2] = 8; /* out of range */
    r->w.s[DATA] = UINT32_MAX;
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK_EQ(*(uint64_t *)(r->host + 8), UINT64_C(0x1122334455667788));
    r->w.s[BASE + 2] = 12;
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    CHECK_EQ(*(uint64_t *)(r->host + 8), UINT64_C(0x11223344ffffffff));
    free(r);
}

static void test_faults(void)
{
    static const uint64_t bad[] = {UINT64_C(1) << 47, APERTURE_SHARED_BASE, UINT64_MAX - 3};
    for (unsigned i = 0; i < 3; i++) {
        struct rig *r = rig_make();
        struct isa_inst inst = make(ISA_OP_s_load_dwordx2, (struct form){false, true}, 0, false);
        inst.dst = rig_sgpr(DATA, 2);
        wave_set_sgpr64(&r->w, BASE, bad[i]);
        CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_MEMORY);
        CHECK_EQ(r->guard.lane, UINT_MAX);
        CHECK(!r->guard.write);
        free(r);
    }
}

/* Cache control changes nothing. */
static void test_rest(void)
{
    static const uint16_t quiet[] = {ISA_OP_s_dcache_inv, ISA_OP_s_dcache_wb, ISA_OP_s_dcache_inv_vol,
                                     ISA_OP_s_dcache_wb_vol};
    struct rig *r = rig_make(), *ref = rig_copy(r);
    for (unsigned i = 0; i < 4; i++) {
        struct isa_inst inst = {.op = quiet[i], .format = ISA_SMEM, .size = 8};
        CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    }
    rig_same(r, ref, "cache control");
    free(ref);
    free(r);
}

int main(void)
{
    for (unsigned round = 0; round < 120; round++) {
        test_load(ISA_OP_s_load_dword, 1, false, round);
        test_load(ISA_OP_s_load_dwordx2, 2, false, round);
        test_load(ISA_OP_s_load_dwordx4, 4, false, round);
        test_load(ISA_OP_s_load_dwordx8, 8, false, round);
        test_load(ISA_OP_s_load_dwordx16, 16, false, round);
        test_load(ISA_OP_s_buffer_load_dword, 1, true, round);
        test_load(ISA_OP_s_buffer_load_dwordx2, 2, true, round);
        test_load(ISA_OP_s_buffer_load_dwordx4, 4, true, round);
        test_load(ISA_OP_s_buffer_load_dwordx8, 8, true, round);
        test_load(ISA_OP_s_buffer_load_dwordx16, 16, true, round);
        test_store(ISA_OP_s_store_dword, 1, false, round);
        test_store(ISA_OP_s_store_dwordx2, 2, false, round);
        test_store(ISA_OP_s_store_dwordx4, 4, false, round);
        test_store(ISA_OP_s_buffer_store_dword, 1, true, round);
        test_store(ISA_OP_s_buffer_store_dwordx2, 2, true, round);
        test_store(ISA_OP_s_buffer_store_dwordx4, 4, true, round);
    }
    test_atomics();
    test_faults();
    test_rest();
    return check_status();
}
