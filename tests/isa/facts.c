/* SPDX-License-Identifier: MIT */
/*
 * What isa/facts.def says of units, passes, arithmetic and control: of some
 * instructions in full, and of all of them what must hold together.  Registers
 * and memory are compared with what instructions do in tests/oracle.
 */
#include "../check.h"
#include "isa/isa.h"

static const struct {
    unsigned op, unit, passes, math, mops;
} some[] = {
    {ISA_OP_s_add_u32, ISA_UNIT_SALU, 0, ISA_MATH_NONE, 0},
    {ISA_OP_s_waitcnt, ISA_UNIT_CONTROL, 0, ISA_MATH_NONE, 0},
    {ISA_OP_s_cbranch_join, ISA_UNIT_BRANCH, 0, ISA_MATH_NONE, 0},
    {ISA_OP_s_sendmsg, ISA_UNIT_MESSAGE, 0, ISA_MATH_NONE, 0},
    {ISA_OP_s_memtime, ISA_UNIT_SMEM, 0, ISA_MATH_NONE, 0},
    {ISA_OP_ds_permute_b32, ISA_UNIT_LDS, 0, ISA_MATH_NONE, 0},
    {ISA_OP_ds_gws_barrier, ISA_UNIT_GWS, 0, ISA_MATH_NONE, 0},
    {ISA_OP_scratch_load_dword, ISA_UNIT_VMEM, 0, ISA_MATH_NONE, 0},
    {ISA_OP_flat_load_dword, ISA_UNIT_FLAT, 0, ISA_MATH_NONE, 0},
    {ISA_OP_v_add_f32, ISA_UNIT_VALU, 1, ISA_MATH_ADD_F32, 0},
    {ISA_OP_v_pk_mul_f32, ISA_UNIT_VALU, 1, ISA_MATH_MUL_F32, 0},
    {ISA_OP_v_fma_f64, ISA_UNIT_VALU, 1, ISA_MATH_FMA_F64, 0},
    {ISA_OP_v_max_f32, ISA_UNIT_VALU, 1, ISA_MATH_NONE, 0},
    {ISA_OP_v_max_i32, ISA_UNIT_VALU, 1, ISA_MATH_INT32, 0},
    {ISA_OP_v_lshl_add_u64, ISA_UNIT_VALU, 1, ISA_MATH_INT64, 0},
    {ISA_OP_v_cvt_f64_i32, ISA_UNIT_VALU, 1, ISA_MATH_CVT, 0},
    {ISA_OP_v_mul_lo_u32, ISA_UNIT_VALU, 1, ISA_MATH_INT32, 0},
    {ISA_OP_v_mul_hi_i32, ISA_UNIT_VALU, 1, ISA_MATH_INT32, 0},
    {ISA_OP_v_mul_hi_i32_i24, ISA_UNIT_VALU, 1, ISA_MATH_INT32, 0},
    {ISA_OP_v_mul_hi_u32_u24, ISA_UNIT_VALU, 1, ISA_MATH_INT32, 0},
    {ISA_OP_v_mad_u64_u32, ISA_UNIT_VALU, 1, ISA_MATH_INT64, 0},
    {ISA_OP_v_cvt_f32_u32, ISA_UNIT_VALU, 4, ISA_MATH_CVT, 0},
    {ISA_OP_v_cvt_pk_fp8_f32, ISA_UNIT_VALU, 4, ISA_MATH_CVT, 0},
    {ISA_OP_v_cvt_f32_ubyte0, ISA_UNIT_VALU, 1, ISA_MATH_CVT, 0},
    {ISA_OP_v_swap_b32, ISA_UNIT_VALU, 2, ISA_MATH_NONE, 0},
    {ISA_OP_v_rcp_iflag_f32, ISA_UNIT_TRANS, 4, ISA_MATH_TRANS_F32, 0},
    {ISA_OP_v_sqrt_f64, ISA_UNIT_TRANS, 4, ISA_MATH_TRANS_F64, 0},
    {ISA_OP_v_accvgpr_read_b32, ISA_UNIT_VALU, 1, ISA_MATH_NONE, 0},
    {ISA_OP_v_mfma_f32_32x32x4_2b_bf16, ISA_UNIT_MATRIX, 16, ISA_MATH_MFMA_BF16, 32},
    {ISA_OP_v_mfma_f32_16x16x8_xf32, ISA_UNIT_MATRIX, 4, ISA_MATH_MFMA_F32, 8},
    {ISA_OP_v_mfma_f32_16x16x4_f32, ISA_UNIT_MATRIX, 8, ISA_MATH_MFMA_F32, 4},
    {ISA_OP_v_mfma_f64_4x4x4_4b_f64, ISA_UNIT_MATRIX, 4, ISA_MATH_MFMA_F64, 1},
    {ISA_OP_v_smfmac_i32_32x32x32_i8, ISA_UNIT_MATRIX, 8, ISA_MATH_MFMA_I8, 128},
};

static bool consistent(const struct isa_row *row)
{
    const struct isa_facts *f = &isa_facts[row->op];
    const bool vector = f->unit == ISA_UNIT_VALU || f->unit == ISA_UNIT_TRANS || f->unit == ISA_UNIT_MATRIX;
    bool same = CHECK(vector == (row->format >= ISA_VOP1 && row->format <= ISA_VOP3PMAI));
    same &= CHECK(vector == (f->passes > 0));
    same &= CHECK(vector || f->math == ISA_MATH_NONE);
    same &= CHECK((f->unit == ISA_UNIT_MATRIX) == (f->math >= ISA_MATH_MFMA_I8));
    same &= CHECK((f->unit == ISA_UNIT_MATRIX) == (f->mops > 0));
    same &= CHECK(
        (f->unit == ISA_UNIT_TRANS) ==
        (f->math == ISA_MATH_TRANS_F16 || f->math == ISA_MATH_TRANS_F32 || f->math == ISA_MATH_TRANS_F64));
    same &= CHECK((f->unit == ISA_UNIT_BRANCH) == !!(f->effects & ISA_E_BRANCH));
    same &= CHECK(!(f->effects & ISA_E_ATOMIC) || (f->effects & ISA_E_LOAD && f->effects & ISA_E_STORE));
    return same;
}

int main(void)
{
    for (unsigned i = 0; i < sizeof some / sizeof some[0]; i++) {
        const struct isa_facts *f = &isa_facts[some[i].op];
        if (!CHECK_EQ(f->unit, some[i].unit) || !CHECK_EQ(f->passes, some[i].passes) ||
            !CHECK_EQ(f->math, some[i].math) || !CHECK_EQ(f->mops, some[i].mops))
            fprintf(stderr, "  %s\n", isa_op_name(some[i].op));
    }
    for (size_t i = 0; i < isa_gfx942.row_count; i++)
        if (!consistent(&isa_gfx942.rows[i]))
            fprintf(stderr, "  %s\n", isa_gfx942.rows[i].name);
    return check_status();
}
