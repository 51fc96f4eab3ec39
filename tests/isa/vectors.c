/* SPDX-License-Identifier: MIT */
/*
 * The decoder and printer against fixed encodings: LLVM's text for one
 * encoding of every row and form, and what the operands of some decode to,
 * worked out by hand from "AMD Instinct MI300 ISA", chapter 13.
 */
#include "isa/isa.h"

#include "../check.h"
#include "../oracle/record.h"

#include <ehp/ehp.h>

static const struct {
    uint32_t words[3];
    int size;
    const char *text;
} vectors[] = {
#define VECTOR(w0, w1, w2, size, text) {{w0, w1, w2}, size, text},
#include "vectors.def"
#undef VECTOR
};

static void test_text(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        char text[256];
        unsigned size = ehp_disassemble("gfx942", vectors[i].words, 3, 0, text, sizeof text);
        CHECK_EQ(size, vectors[i].size);
        CHECK_STR(text, vectors[i].text);
        /* Cut off anywhere, it is no instruction. */
        struct isa_inst inst;
        if (CHECK(isa_decode(&isa_gfx942, vectors[i].words, 3, &inst)))
            oracle_ran(&inst, ORACLE_HANDLER);
        for (size_t n = 0; n * 4 < (size_t)vectors[i].size; n++)
            if (n == 0 || strncmp(text, "v_nop ", 6)) /* v_nop with DPP is one without */
                CHECK(!isa_decode(&isa_gfx942, vectors[i].words, n, &inst));
    }
}

static struct isa_inst decode(uint32_t w0, uint32_t w1, uint32_t w2)
{
    uint32_t words[3] = {w0, w1, w2};
    struct isa_inst inst;
    CHECK(isa_decode(&isa_gfx942, words, 3, &inst));
    return inst;
}

static void check_operand(struct isa_operand o, unsigned kind, unsigned type, unsigned reg)
{
    CHECK_EQ(o.kind, kind);
    CHECK_EQ(o.type, type);
    CHECK_EQ(o.reg, reg);
    CHECK_EQ(o.dwords, isa_type_dwords(type));
}

static void test_constants(void)
{
    /* v_add_f16 v0, 1.0, v0; v_add_f64 v[0:1], 0.5, v[0:1]; s_mov_b64 s[0:1], -3 */
    CHECK_EQ(decode(0x3e0000f2, 0, 0).src[0].value, 0x3c00);
    CHECK_EQ(decode(0xd2800000, 0x000200f0, 0).src[0].value, UINT64_C(0x3fe0000000000000));
    CHECK_EQ(decode(0xbe8001c3, 0, 0).src[0].value, UINT64_C(0xfffffffffffffffd));
    /* A literal of an f64 is its high half, of an i64 it is signed, of a b64 not. */
    CHECK_EQ(decode(0x0800ccff, 0x3ff80000, 0).src[0].value, UINT64_C(0x3ff8000000000000));
    CHECK_EQ(decode(0x7dc90cff, 0xfffffff0, 0).src[0].value, UINT64_C(0xfffffffffffffff0));
    struct isa_inst mov = decode(0xbe8001ff, 0xfffffff0, 0);
    CHECK_EQ(mov.src[0].value, 0xfffffff0);
    CHECK(mov.src[0].literal);
    CHECK_EQ(mov.size, 8);
}

static void test_implied(void)
{
    /* v_addc_co_u32_e32 v1, vcc, v2, v3, vcc */
    struct isa_inst addc = decode(0x38020702, 0, 0);
    check_operand(addc.dst, ISA_VGPR, ISA_T_U32, 1);
    check_operand(addc.sdst, ISA_SGPR, ISA_T_MASK, 106);
    check_operand(addc.src[2], ISA_SGPR, ISA_T_MASK, 106);
    /* v_cmp_lt_f32_e32 vcc, v1, v2 */
    check_operand(decode(0x7c820501, 0, 0).dst, ISA_SGPR, ISA_T_MASK, 106);
    /* v_fmac_f32_e32 v1, v2, v3: the accumulator is the destination */
    check_operand(decode(0x76020702, 0, 0).src[2], ISA_VGPR, ISA_T_F32, 1);
    /* v_fmaak_f32 v1, v2, v3, 0x12345; v_fmamk_f32 v1, v2, 0x12345, v3 */
    CHECK_EQ(decode(0x30020702, 0x12345, 0).src[2].value, 0x12345);
    struct isa_inst mk = decode(0x2e020702, 0x12345, 0);
    CHECK_EQ(mk.src[1].value, 0x12345);
    check_operand(mk.src[2], ISA_VGPR, ISA_T_F32, 3);
}

static void test_memory(void)
{
    /* global_load_dword v1, v2, s[4:5] offset:-16 nt */
    struct isa_inst load = decode(0xdc529ff0, 0x01040002, 0);
    CHECK_EQ(load.op, ISA_OP_global_load_dword);
    CHECK_EQ(load.offset, -16);
    CHECK(load.nt && !load.sc0 && !load.sc1);
    check_operand(load.src[ISA_ADDR], ISA_VGPR, ISA_T_U32, 2);
    check_operand(load.src[ISA_SBASE], ISA_SGPR, ISA_T_U64, 4);
    /* flat_atomic_add v1, v[2:3], v4 sc0: returns; without sc0 it does not */
    CHECK_EQ(decode(0xdd090000, 0x01000402, 0).dst.kind, ISA_VGPR);
    CHECK_EQ(decode(0xdd080000, 0x00000402, 0).dst.kind, ISA_NONE);
    /* s_load_dwordx2 s[2:3], s[4:5], s9 offset:0x16 */
    struct isa_inst smem = decode(0xc0064082, 0x12000016, 0);
    CHECK(smem.imm_offset && smem.soffset_en);
    CHECK_EQ(smem.offset, 0x16);
    check_operand(smem.soffset, ISA_SGPR, ISA_T_U32, 9);
    /* ds_read2_b32 v[2:3], v1 offset0:3 offset1:9 */
    struct isa_inst ds = decode(0xd86e0903, 0x02000001, 0);
    CHECK_EQ(ds.offset, 3);
    CHECK_EQ(ds.offset1, 9);
    check_operand(ds.dst, ISA_VGPR, ISA_T_B64, 2);
}

static void test_rejects(void)
{
    static const uint32_t bad[][2] = {
        {0xffffffff, 0xffffffff}, /* no such format */
        {0xbf9f0000, 0},          /* s_set_valu_coexec_mode is gfx950's */
        {0xd4a00000, 0},          /* a hole in VOP3 */
        {0xd2800001, 0x00020100}, /* v_add_f64 to v[1:2] */
        {0xbe8003f9, 0},          /* s_movk source 249 */
    };
    struct isa_inst inst;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!isa_decode(&isa_gfx942, bad[i], 2, &inst));
    CHECK(!isa_decode(&isa_gfx942, bad[0], 0, &inst));
    CHECK(decode(0x802c987d, 0, 0).reserved); /* s_add_u32 s44, null, 24 */
}

static void test_cut(void)
{
    struct isa_inst inst = decode(0x38020702, 0, 0);
    char text[8];
    CHECK_EQ(isa_print(&isa_gfx942, &inst, 0, text, sizeof text), 7);
    CHECK_STR(text, "v_addc_");
}

/* Every row can be found by its format and opcode, and every meaning has a name. */
static void test_table(void)
{
    for (size_t r = 0; r < isa_gfx942.row_count; r++) {
        const struct isa_row *row = &isa_gfx942.rows[r];
        CHECK(isa_row_find(&isa_gfx942, row->format, row->opcode) == row);
        CHECK_STR(isa_op_name(row->op), row->name);
        /* No two rows of one format may match the same bits. */
        for (size_t q = r + 1; q < isa_gfx942.row_count; q++) {
            const struct isa_form *a = &row->form[0], *b = &isa_gfx942.rows[q].form[0];
            if (isa_gfx942.rows[q].format == row->format)
                CHECK(((a->match ^ b->match) & a->mask & b->mask) != 0);
        }
    }
}

int main(void)
{
    test_text();
    test_constants();
    test_implied();
    test_memory();
    test_rejects();
    test_cut();
    test_table();
    return check_status();
}
