/* SPDX-License-Identifier: MIT */
/*
 * What differs between instruction sets is asked of the target: code in the
 * encodings of one that nobody has built, with other opcodes, numbers of registers
 * and fields than gfx942's, is decoded, printed and executed as it says.
 */
#include <stdalign.h>
#include <string.h>

#include "../check.h"
#include "exec/code.h"
#include "isa/isa.h"
#include "load/descriptor.h"
#include "wave/fault.h"
#include "wave/hwreg.h"

/* gfx942 but for what make_other() changes. */
static struct isa_target other;
static struct isa_row other_rows[2000];
static struct isa_hwreg_row other_hwreg[ISA_HWREGS];

enum { VCC = 102, NULL_REG = 124, M0 = 125, MODE_ID = 9, S_ENDPGM = 0xbf810000 };

static struct isa_need never_wait(const struct isa_inst *earlier, const struct isa_inst *later)
{
    (void)earlier, (void)later;
    return (struct isa_need){0};
}

/* The opcode of each is the other's. */
static void exchange(struct isa_row *a, struct isa_row *b)
{
    const char *name = a->name;
    const uint16_t op = a->op;
    a->name = b->name;
    a->op = b->op;
    b->name = name;
    b->op = op;
}

static struct isa_row *row_of(unsigned format, unsigned opcode)
{
    return &other_rows[isa_row_find(&isa_gfx942, format, opcode) - isa_gfx942.rows];
}

static void make_other(void)
{
    other = isa_gfx942;
    other.name = "other";
    if (!CHECK(isa_gfx942.row_count <= sizeof other_rows / sizeof other_rows[0]))
        return;
    memcpy(other_rows, isa_gfx942.rows, isa_gfx942.row_count * sizeof other_rows[0]);
    other.rows = other_rows;
    exchange(row_of(ISA_SOP2, 0), row_of(ISA_SOP2, 1)); /* s_add_u32, s_sub_u32 */
    other.sreg = (struct isa_sreg_numbers){.sgprs = 102,
                                           .tuples_end = 104,
                                           .flat_scratch = 106,
                                           .xnack_mask = ISA_NO_SREG,
                                           .vcc = VCC,
                                           .exec = 126,
                                           .ttmp = 108,
                                           .ttmps = 16,
                                           .m0 = M0,
                                           .null = NULL_REG};
    other.registers.vgpr_granule = 4;
    other.registers.accum_granule = 8;
    other.registers.sgpr_granule = 32;
    /* gfx11's */
    other.waitcnt = (struct isa_waitcnt_layout){
        .exp = {.shift = 0, .mask = 7}, .lgkm = {.shift = 4, .mask = 63}, .vm = {.shift = 10, .mask = 63}};
    memcpy(other_hwreg, isa_gfx942.hwreg, sizeof other_hwreg);
    other_hwreg[1] = (struct isa_hwreg_row){"HW_REG_OF_OTHERS", HWREG_OTHER};
    other_hwreg[MODE_ID] = (struct isa_hwreg_row){"HW_REG_OTHER_MODE", HWREG_MODE};
    other.hwreg = other_hwreg;
    for (unsigned a = 0; a < ISA_ACCESSES; a++)
        for (unsigned bits = 0; bits < 8; bits++)
            other.policy[a][bits] =
                (struct isa_policy){bits & 1 ? ISA_SCOPE_SYSTEM : ISA_SCOPE_WAVE, bits & 2};
    other.cache_name[0] = "glc";
    other.hazard = never_wait;
}

static const char *printed(const struct isa_target *target, const uint32_t *words)
{
    static char text[128];
    struct isa_inst inst;
    if (!isa_decode(target, words, 2, &inst))
        return "nothing";
    isa_print(target, &inst, 0, text, sizeof text);
    return text;
}

static uint32_t sop2(unsigned opcode, unsigned dst, unsigned a, unsigned b)
{
    return 2u << 30 | opcode << 23 | dst << 16 | b << 8 | a;
}

static void test_registers(void)
{
    const uint32_t add[2] = {sop2(0, M0, VCC, 5)}, pair[2] = {sop2(13, VCC, 126, 106)};
    const uint32_t null[2] = {sop2(0, 1, NULL_REG, 5)}, absent[2] = {sop2(0, 1, 104, 5)};
    struct isa_inst inst;
    CHECK_STR(printed(&other, add), "s_sub_u32 m0, vcc_lo, s5");
    CHECK_STR(printed(&isa_gfx942, add), "s_add_u32 null, flat_scratch_lo, s5");
    CHECK(isa_decode(&other, add, 1, &inst) && !inst.reserved);
    CHECK_EQ(inst.op, ISA_OP_s_sub_u32);
    CHECK_EQ(inst.dst.reg, SREG_M0);
    CHECK_EQ(inst.src[0].reg, SREG_VCC);
    CHECK_STR(printed(&other, pair), "s_and_b64 vcc, exec, flat_scratch");
    CHECK(isa_decode(&other, null, 1, &inst) && inst.reserved && inst.src[0].kind == ISA_SPECIAL);
    CHECK_STR(printed(&other, absent), "nothing");
    CHECK_STR(printed(&isa_gfx942, absent), "s_add_u32 s1, xnack_mask_lo, s5");
}

static void test_waitcnt(void)
{
    const uint32_t some[2] = {0xbf8c0000 | 3 << 10 | 63 << 4 | 7}, all[2] = {0xbf8cfff7};
    CHECK_STR(printed(&other, some), "s_waitcnt vmcnt(3)");
    CHECK_STR(printed(&other, all), "s_waitcnt vmcnt(63) expcnt(7) lgkmcnt(63)");
    const struct isa_waitcnt high = isa_waitcnt_of(&isa_gfx942, 0x4f73);
    CHECK(high.vm == 0x13 && high.exp == 7 && high.lgkm == 15);
    CHECK_EQ(isa_number_most(isa_gfx942.waitcnt.vm), 63);
}

static void test_policy(void)
{
    /* global_load_dword v1, v2, s[2:3] sc0; then with sc1, which is bit 25 */
    const uint32_t load[2] = {0xdc518000, 0x01020002}, sc1[2] = {0xde508000, 0x01020002};
    struct isa_inst inst;
    CHECK(isa_decode(&other, load, 2, &inst) && inst.policy.scope == ISA_SCOPE_SYSTEM);
    CHECK_STR(printed(&other, load), "global_load_dword v1, v2, s[2:3] glc");
    CHECK(isa_decode(&isa_gfx942, load, 2, &inst) && inst.policy.scope == ISA_SCOPE_WORKGROUP);
    CHECK(isa_decode(&other, sc1, 2, &inst) && inst.policy.scope == ISA_SCOPE_WAVE && inst.policy.streams);
    CHECK(isa_decode(&isa_gfx942, sc1, 2, &inst) && inst.policy.scope == ISA_SCOPE_AGENT &&
          !inst.policy.streams);
    /* global_atomic_add v1, v2, v3, s[2:3] sc0: it returns, and no wider than without */
    const uint32_t atomic[2] = {0xdd098000, 0x01020302};
    CHECK(isa_decode(&isa_gfx942, atomic, 2, &inst) && inst.policy.scope == ISA_SCOPE_AGENT);
    CHECK_EQ(inst.dst.kind, ISA_VGPR);
}

static void test_descriptor(void)
{
    const struct kernel_descriptor kd = {.compute_pgm_rsrc1 = 5 | 4 << 6, .compute_pgm_rsrc3 = 1};
    CHECK_EQ(kd_vgprs(&isa_gfx942, &kd), 48);
    CHECK_EQ(kd_acc_vgprs(&isa_gfx942, &kd), 40);
    CHECK_EQ(kd_sgprs(&isa_gfx942, &kd), 48);
    CHECK_EQ(kd_vgprs(&other, &kd), 24);
    CHECK_EQ(kd_acc_vgprs(&other, &kd), 8);
    CHECK_EQ(kd_sgprs(&other, &kd), 96);
}

/* ---- execution ---- */

static alignas(64) uint32_t code[8];

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    (void)context, (void)pc;
    *start = (uint64_t)(uintptr_t)code;
    *end = *start + sizeof code;
    return true;
}

static void test_execution(void)
{
    static alignas(64) wave_row rows[WAVE_TEMPS + 8];
    struct exec_code translated;
    struct exec_code_cache cache = {0};
    exec_code_init(&translated, &other, bounds, NULL);
    struct wave_guard guard = {.code = &translated, .cache = &cache};
    struct wave w = {.v = rows + WAVE_TEMPS, .rows = 8, .vgprs = 8, .guard = &guard, .budget = 1000};
    w.s[5] = 30;
    w.vcc = 100;
    wave_set_mode(&w, MODE_FLOAT_PLAIN);
    code[0] = sop2(0, M0, VCC, 5);                                         /* s_sub_u32 m0, vcc_lo, s5 */
    code[1] = 0xb0000000 | 17u << 23 | 7 << 16 | MODE_ID | (32 - 1) << 11; /* s_getreg_b32 s7, MODE */
    code[2] = 0xb0000000 | 17u << 23 | 8 << 16 | 1 | (32 - 1) << 11;
    for (unsigned i = 3; i < 8; i++)
        code[i] = S_ENDPGM;
    w.s[8] = 1;
    const struct xinst *x = exec_code_find(&translated, &cache, (uint64_t)(uintptr_t)code);
    if (CHECK(x))
        for (unsigned i = 0; i < 3 && CHECK(x->isa->op != ISA_OP_INVALID); i++)
            x = x->fn(&w, x);
    CHECK_EQ(w.m0, 70);
    CHECK_EQ(w.s[7], MODE_FLOAT_PLAIN);
    CHECK_EQ(w.s[8], 0);
    exec_code_destroy(&translated);
}

static void ignore(const struct ehp_hazard *hazard, void *user)
{
    (void)hazard, (void)user;
}

static void test_names(void)
{
    char text[64];
    uint64_t to;
    const uint32_t branch[2] = {0xbf82ffff}, nop[2] = {0xbf800000};
    CHECK(isa_target_find("gfx942") == &isa_gfx942);
    CHECK(isa_target_find("gfx942:sramecc+:xnack-") == &isa_gfx942);
    CHECK(!isa_target_find("gfx94") && !isa_target_find("gfx9421") && !isa_target_find("") &&
          !isa_target_find("other"));
    CHECK_EQ(ehp_disassemble("gfx942:xnack+", nop, 2, 0, text, sizeof text), 4);
    CHECK_EQ(ehp_disassemble("gfx906", nop, 2, 0, text, sizeof text), 0);
    CHECK_EQ(ehp_hazards("gfx942", nop, 1, 0, ignore, NULL), 0);
    CHECK_EQ(ehp_hazards("gfx906", nop, 1, 0, ignore, NULL), EHP_ERR_WRONG_ISA);
    CHECK(ehp_branch_target("gfx942", branch, 1, 0x1000, &to) && to == 0x1000);
    CHECK(!ehp_branch_target("gfx942", nop, 1, 0x1000, &to) &&
          !ehp_branch_target("gfx906", branch, 1, 0, &to));
}

int main(void)
{
    make_other();
    test_registers();
    test_waitcnt();
    test_policy();
    test_descriptor();
    test_execution();
    test_names();
    return check_status();
}
