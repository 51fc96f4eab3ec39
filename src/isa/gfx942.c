/* SPDX-License-Identifier: MIT */
/*
 * gfx942: MI300A and MI300X, CDNA 3.  Its table is isa/gfx942.def; the rules on
 * wait states are in gfx942_hazard.c.
 *
 * Sources: "AMD Instinct MI300 ISA", chapter 13 (ENCODING fields), 13.3.1, table
 * 76 (scalar registers), 4.4 (s_waitcnt), 3.9 (hardware registers), 9.1.10 (cache
 * bits); LLVM AMDGPUUsage, "Memory Model GFX942", compute_pgm_rsrc1 and
 * compute_pgm_rsrc3; the names are those of LLVM, "AMDGPU operand syntax".
 */
#include "isa/decode.h"
#include "isa/isa.h"

#define FORM(mask, match, live) {mask, match, live}
#define NOFORM                  {0, 0, 0}

/* clang-format off */
static const struct isa_row rows[] = {
#define INST(fmt, opcode, name, flags, dst, sdst, s0, s1, s2, s3, where, plain, sdwa, dpp)                   \
    {#name, ISA_##fmt, opcode, ISA_OP_##name, flags, ISA_T_##dst, ISA_T_##sdst,                              \
     {ISA_T_##s0, ISA_T_##s1, ISA_T_##s2, ISA_T_##s3}, where, {plain, sdwa, dpp}},
#include "gfx942.def"
#undef INST
};
/* clang-format on */

enum row_number {
#define INST(fmt, opcode, ...) ROW_##fmt##_##opcode,
#include "gfx942.def"
#undef INST
};

static const uint16_t row_index[ISA_FMT_COUNT][ISA_OPCODES] = {
#define INST(fmt, opcode, ...) [ISA_##fmt][opcode] = ROW_##fmt##_##opcode + 1,
#include "gfx942.def"
#undef INST
};

static struct isa_encoding find_encoding(uint32_t w)
{
    static const struct isa_encoding none = {0};
    if (!(w >> 31)) {
        if (w >> 25 == 0x3e)
            return (struct isa_encoding){ISA_VOPC, 4, 17, 8, true, isa_decode_vop12c};
        if (w >> 25 == 0x3f)
            return (struct isa_encoding){ISA_VOP1, 4, 9, 8, true, isa_decode_vop12c};
        return (struct isa_encoding){ISA_VOP2, 4, 25, 6, true, isa_decode_vop12c};
    }
    if (w >> 30 == 2) {
        switch (w >> 23) {
        case 0x17d:
            return (struct isa_encoding){ISA_SOP1, 4, 8, 8, false, isa_decode_sop};
        case 0x17e:
            return (struct isa_encoding){ISA_SOPC, 4, 16, 7, false, isa_decode_sop};
        case 0x17f:
            return (struct isa_encoding){ISA_SOPP, 4, 16, 7, false, isa_decode_sopp};
        default:
            if (w >> 28 == 0xb)
                return (struct isa_encoding){ISA_SOPK, 4, 23, 5, false, isa_decode_sop};
            return (struct isa_encoding){ISA_SOP2, 4, 23, 7, false, isa_decode_sop};
        }
    }
    switch (w >> 26) {
    case 0x30:
        return (struct isa_encoding){ISA_SMEM, 8, 18, 8, false, isa_decode_smem};
    case 0x34:
        if (w >> 23 == 0x1a7)
            return (struct isa_encoding){ISA_VOP3P, 8, 16, 7, false, isa_decode_vop3p};
        return (struct isa_encoding){ISA_VOP3, 8, 16, 10, false, isa_decode_vop3};
    case 0x36:
        return (struct isa_encoding){ISA_DS, 8, 17, 8, false, isa_decode_ds};
    case 0x37:
        switch (w >> 14 & 3) {
        case 0:
            return (struct isa_encoding){ISA_FLAT, 8, 18, 7, false, isa_decode_flat};
        case 1:
            return (struct isa_encoding){ISA_SCRATCH, 8, 18, 7, false, isa_decode_flat};
        case 2:
            return (struct isa_encoding){ISA_GLOBAL, 8, 18, 7, false, isa_decode_flat};
        default:
            return none;
        }
    case 0x38:
        return (struct isa_encoding){ISA_MUBUF, 8, 18, 7, false, isa_decode_buffer};
    case 0x3a:
        return (struct isa_encoding){ISA_MTBUF, 8, 15, 4, false, isa_decode_buffer};
    default:
        return none;
    }
}

static const struct isa_hwreg_row hwreg[ISA_HWREGS] = {
    [1] = {"HW_REG_MODE", HWREG_MODE},
    [2] = {"HW_REG_STATUS", HWREG_STATUS},
    [3] = {"HW_REG_TRAPSTS", HWREG_TRAPSTS},
    [4] = {"HW_REG_HW_ID", HWREG_HW_ID},
    [5] = {"HW_REG_GPR_ALLOC", HWREG_GPR_ALLOC},
    [6] = {"HW_REG_LDS_ALLOC", HWREG_LDS_ALLOC},
    [7] = {"HW_REG_IB_STS", HWREG_OTHER},
    [15] = {"HW_REG_SH_MEM_BASES", HWREG_SH_MEM_BASES},
    [16] = {"HW_REG_TBA_LO", HWREG_OTHER},
    [17] = {"HW_REG_TBA_HI", HWREG_OTHER},
    [18] = {"HW_REG_TMA_LO", HWREG_OTHER},
    [19] = {"HW_REG_TMA_HI", HWREG_OTHER},
    [20] = {"HW_REG_XCC_ID", HWREG_XCC_ID},
    [21] = {"HW_REG_SQ_PERF_SNAPSHOT_DATA", HWREG_OTHER},
    [22] = {"HW_REG_SQ_PERF_SNAPSHOT_DATA1", HWREG_OTHER},
    [23] = {"HW_REG_SQ_PERF_SNAPSHOT_PC_LO", HWREG_OTHER},
    [24] = {"HW_REG_SQ_PERF_SNAPSHOT_PC_HI", HWREG_OTHER},
};

/* SC1 SC0 are the scope, NT is "will not be wanted again". */
#define BY_SCOPE                                                                                             \
    {                                                                                                        \
        {ISA_SCOPE_WAVE, false},   {ISA_SCOPE_WORKGROUP, false}, {ISA_SCOPE_AGENT, false},                   \
        {ISA_SCOPE_SYSTEM, false}, {ISA_SCOPE_WAVE, true},       {ISA_SCOPE_WORKGROUP, true},                \
        {ISA_SCOPE_AGENT, true},   {ISA_SCOPE_SYSTEM, true},                                                 \
    }

const struct isa_target isa_gfx942 = {
    .name = "gfx942",
    .rows = rows,
    .row_count = sizeof rows / sizeof rows[0],
    .index = row_index,
    .encoding = find_encoding,
    .sreg = {.sgprs = 102,
             .tuples_end = 106,
             .flat_scratch = 102,
             .xnack_mask = 104,
             .vcc = 106,
             .exec = 126,
             .ttmp = 108,
             .ttmps = 16,
             .m0 = 124,
             .null = 125},
    /* null, the flat scratch base, the POPS wave id, LDS direct: assemblers know them from other processors
     */
    .reserved = {125, 230, 231, 239, 254},
    .registers = {.vgprs = 256,
                  .agprs = 256,
                  .vgpr_granule = 8,
                  .sgpr_granule = 16,
                  .accum_granule = 4,
                  .user_sgprs = 16},
    .architected_flat_scratch = true,
    .waitcnt = {.vm = {.shift = 0, .mask = 15, .high_shift = 10, .high_mask = 0x30},
                .exp = {.shift = 4, .mask = 7},
                .lgkm = {.shift = 8, .mask = 15}},
    .hwreg = hwreg,
    .policy = {[ISA_ACCESS_CONTROL] = BY_SCOPE,
               [ISA_ACCESS_LOAD] = BY_SCOPE,
               [ISA_ACCESS_STORE] = BY_SCOPE,
               /* SC0 is "return what was there", SC1 the scope: beyond the agent or not. */
               [ISA_ACCESS_ATOMIC] = {{ISA_SCOPE_AGENT, false},
                                      {ISA_SCOPE_AGENT, false},
                                      {ISA_SCOPE_SYSTEM, false},
                                      {ISA_SCOPE_SYSTEM, false},
                                      {ISA_SCOPE_AGENT, true},
                                      {ISA_SCOPE_AGENT, true},
                                      {ISA_SCOPE_SYSTEM, true},
                                      {ISA_SCOPE_SYSTEM, true}}},
    .cache_name = {"sc0", "nt", "sc1", "glc"},
    .hazard = isa_gfx942_hazard,
    .hazard_reach = 19,
};
