/* SPDX-License-Identifier: MIT */
/*
 * Units and cycles of instructions.
 *
 * A wave of 64 lanes takes 4 cycles on the 16 lanes of a SIMD, f64 and packed
 * f32 included; transcendentals have a quarter of the lanes, and so have 32-bit
 * integer multiplications.  Matrix instructions take passes of 4 cycles.
 *
 * Sources: ISCA'24, table 1; AMD CDNA 3 white paper; AMD matrix instruction
 * calculator (passes); LLVM, SISchedule.td; GCN white paper.
 */
#include <stdlib.h>
#include <string.h>

#include "cu/cu.h"
#include "isa/isa.h"
#include "sem/memory/mem.h"
#include "chip/chip.h"

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

/* Passes by shape: more blocks take more, f32 and f64 run at a quarter of the rate. */
static unsigned matrix_passes(const char *name)
{
    bool f64 = begins(name, "v_mfma_f64");
    /* An f32 product: the type comes last, "..._f32", where xf32 and the others have their own. */
    size_t length = strlen(name);
    bool f32 = begins(name, "v_mfma_f32") && length > 4 && strcmp(name + length - 4, "_f32") == 0;
    bool sparse = begins(name, "v_smfmac");
    if (has(name, "_32x32x"))
        return has(name, "_2b_") || f32 ? 16 : 8;
    if (has(name, "_16x16x"))
        return !sparse && (has(name, "_4b_") || f32 || f64) ? 8 : 4;
    return f64 ? 4 : 2;
}

/* Lanes a quarter as many, or less. */
static unsigned valu_cycles(const char *name)
{
    static const char *const transcendental[] = {"v_rcp_", "v_rsq_", "v_sqrt_", "v_exp_",
                                                 "v_log_", "v_sin_", "v_cos_"};
    static const char *const multiply[] = {"v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mad_u64_u32",
                                           "v_mad_i64_i32"};
    for (size_t i = 0; i < sizeof(transcendental) / sizeof(*transcendental); i++)
        if (begins(name, transcendental[i]))
            return has(name, "_f64") ? 32 : 16;
    for (size_t i = 0; i < sizeof(multiply) / sizeof(*multiply); i++)
        if (begins(name, multiply[i]))
            return 16;
    return 4;
}

static struct cu_rate matrix_rate(const char *name, unsigned extra)
{
    unsigned cycles = 4 * matrix_passes(name);
    return (struct cu_rate){UNIT_MATRIX, (uint8_t)cycles, (uint8_t)(cycles + extra)};
}

static bool in_buffer(unsigned op)
{
    switch (op) {
    case ISA_OP_s_nop:
    case ISA_OP_s_waitcnt:
    case ISA_OP_s_barrier:
    case ISA_OP_s_sleep:
    case ISA_OP_s_setprio:
    case ISA_OP_s_sethalt:
    case ISA_OP_s_endpgm:
    case ISA_OP_s_endpgm_saved:
    case ISA_OP_s_icache_inv:
        return true;
    default:
        return false;
    }
}

static struct cu_rate rate_of(const struct isa_row *row, unsigned matrix_extra)
{
    const char *name = isa_op_name(row->op);
    switch (row->format) {
    case ISA_SOP2:
    case ISA_SOPK:
    case ISA_SOP1:
    case ISA_SOPC:
        if (begins(name, "s_cbranch") || begins(name, "s_setpc") || begins(name, "s_swappc") ||
            begins(name, "s_call"))
            return (struct cu_rate){UNIT_BRANCH, 1, 0};
        return (struct cu_rate){UNIT_SALU, 1, 0};
    case ISA_SOPP:
        if (in_buffer(row->op))
            return (struct cu_rate){UNIT_NONE, 0, 0};
        if (begins(name, "s_branch") || begins(name, "s_cbranch"))
            return (struct cu_rate){UNIT_BRANCH, 1, 0};
        if (begins(name, "s_sendmsg"))
            return (struct cu_rate){UNIT_MESSAGE, 1, 0};
        if (begins(name, "s_set_gpr_idx"))
            return (struct cu_rate){UNIT_SALU, 1, 0};
        return (struct cu_rate){UNIT_NONE, 0, 0};
    case ISA_SMEM:
        return (struct cu_rate){UNIT_SMEM, 1, 0};
    case ISA_DS:
        return (struct cu_rate){UNIT_LDS, 4, 0};
    case ISA_FLAT:
        return (struct cu_rate){UNIT_FLAT, 4, 0};
    case ISA_GLOBAL:
    case ISA_SCRATCH:
    case ISA_MUBUF:
    case ISA_MTBUF:
        return (struct cu_rate){UNIT_VMEM, 4, 0};
    case ISA_VOP3PMAI:
        if (begins(name, "v_mfma") || begins(name, "v_smfmac"))
            return matrix_rate(name, matrix_extra);
        return (struct cu_rate){UNIT_VALU, 4, 0};
    default:
        return (struct cu_rate){UNIT_VALU, (uint8_t)valu_cycles(name), 0};
    }
}

/* Not those that change what the instructions behind them are. */
static bool can_wait(const struct isa_row *row, unsigned unit)
{
    const char *name = isa_op_name(row->op);
    if (unit == UNIT_SALU)
        return row->format != ISA_SOPP && !begins(name, "s_set_gpr_idx") && !begins(name, "s_setvskip") &&
               !begins(name, "s_setreg") && !begins(name, "s_rfe");
    return unit == UNIT_VALU || unit == UNIT_MATRIX;
}

struct cu_rate *cu_rates_make(const struct chip *chip)
{
    struct cu_rate *rates = calloc(ISA_OP_COUNT, sizeof(*rates));
    if (!rates)
        return NULL;
    unsigned extra = chip_get(chip, CHIP_cu_matrix_result);
    for (size_t i = 0; i < isa_row_count; i++) {
        struct cu_rate *rate = &rates[isa_rows[i].op];
        *rate = rate_of(&isa_rows[i], extra);
        rate->later = can_wait(&isa_rows[i], rate->unit);
        cu_math_of(isa_op_name(isa_rows[i].op), rate);
    }
    return rates;
}
