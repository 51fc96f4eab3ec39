/* SPDX-License-Identifier: MIT */
/*
 * One decoded instruction, independent of any machine state.
 *
 * isa_decode() turns the one to three dwords at a program counter into a
 * struct isa_inst; isa_print() turns that into LLVM's assembler syntax; exec
 * translates it once into what the interpreter runs.  Operands are fully
 * resolved: inline constants and literals are expanded to the operand's type,
 * and operands that an encoding implies (VCC of a VOPC e32, the accumulator of
 * v_fmac) are filled in, so nobody downstream looks at an encoding again.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 13 (microcode formats).
 */
#ifndef EHP_ISA_INST_H
#define EHP_ISA_INST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/policy.h"

enum isa_format {
    ISA_FMT_NONE,
    ISA_SOP2,
    ISA_SOPK,
    ISA_SOP1,
    ISA_SOPC,
    ISA_SOPP,
    ISA_SMEM,
    ISA_VOP1,
    ISA_VOP2,
    ISA_VOPC,
    ISA_VOP3,     /* VOP3A and VOP3B */
    ISA_VOP3P,    /* packed and mixed precision */
    ISA_VOP3PMAI, /* matrix instructions and AccVGPR moves */
    ISA_DS,
    ISA_MUBUF,
    ISA_MTBUF,
    ISA_FLAT,
    ISA_GLOBAL,
    ISA_SCRATCH,
    ISA_FMT_COUNT
};

/* What an operand's bits mean.  The size in dwords follows from it. */
enum isa_type {
    ISA_T_NONE,
    ISA_T_B8,
    ISA_T_I8,
    ISA_T_U8,
    ISA_T_B16,
    ISA_T_I16,
    ISA_T_U16,
    ISA_T_F16,
    ISA_T_BF16,
    ISA_T_B32,
    ISA_T_I32,
    ISA_T_U32,
    ISA_T_F32,
    ISA_T_B64,
    ISA_T_I64,
    ISA_T_U64,
    ISA_T_F64,
    ISA_T_PK16,  /* two 16-bit integers in a dword */
    ISA_T_PKF16, /* two f16 in a dword */
    ISA_T_PKBF16,
    ISA_T_PKF32, /* two f32 in a register pair */
    ISA_T_PKB32, /* two 32-bit integers in a register pair */
    ISA_T_B96,
    ISA_T_B128,
    ISA_T_B256,
    ISA_T_B512,
    ISA_T_B1024,
    ISA_T_MASK, /* a lane mask in an SGPR pair */
    ISA_T_COUNT
};

static inline bool isa_type_is_16bit(unsigned type)
{
    return type == ISA_T_F16 || type == ISA_T_BF16 || type == ISA_T_I16 || type == ISA_T_U16 ||
           type == ISA_T_B16;
}

enum isa_kind {
    ISA_NONE,    /* absent; also "off" for saddr */
    ISA_VGPR,    /* reg = 0..255 */
    ISA_AGPR,    /* reg = 0..255, accumulation VGPR */
    ISA_SGPR,    /* reg = enum isa_sreg, whatever the target's number of it is */
    ISA_CONST,   /* value holds the expanded inline constant or literal */
    ISA_SPECIAL, /* reg = 235..238 apertures, 251 vccz, 252 execz, 253 scc; where a target has them: 125 null,
                    230..231 flat scratch base, 239 pops exiting wave id, 254 LDS direct */
};

/* Scalar registers of a wave: s0 and on, then those with a name.  Pairs, but for the trap handler's 16 and
 * M0. */
enum isa_sreg {
    SREG_FLAT_SCRATCH = 102,
    SREG_XNACK_MASK = 104,
    SREG_VCC = 106,
    SREG_TTMP = 108,
    SREG_M0 = 124,
    SREG_EXEC = 126,
};

/* Hardware registers that s_getreg and s_setreg name; their numbers are the target's. */
enum isa_hwreg {
    HWREG_OTHER, /* reads as 0: none, or nothing of it is modelled */
    HWREG_MODE,
    HWREG_STATUS,
    HWREG_TRAPSTS,
    HWREG_HW_ID,
    HWREG_GPR_ALLOC,
    HWREG_LDS_ALLOC,
    HWREG_SH_MEM_BASES,
    HWREG_XCC_ID,
};

struct isa_operand {
    uint8_t kind;   /* enum isa_kind */
    uint8_t type;   /* enum isa_type */
    uint8_t dwords; /* registers it covers; 0 when absent */
    bool literal;   /* ISA_CONST that came from a trailing literal */
    uint16_t reg;   /* register number, or the source field's encoding for a constant */
    uint64_t value; /* ISA_CONST: the value, in the operand's type (f16 constants as f16 bits, and so on);
                       PK* types hold what the hardware puts in the low half, op_sel_hi decides the rest */
};

/* Indices into isa_inst.src for memory instructions. */
enum { ISA_ADDR = 0, ISA_DATA = 1, ISA_DATA2 = 2, ISA_SBASE = 3 };

/* Sub-dword selects of SDWA. */
enum isa_sdwa { ISA_BYTE_0, ISA_BYTE_1, ISA_BYTE_2, ISA_BYTE_3, ISA_WORD_0, ISA_WORD_1, ISA_DWORD };
enum isa_dst_unused { ISA_UNUSED_PAD, ISA_UNUSED_SEXT, ISA_UNUSED_PRESERVE };

enum isa_op {
    ISA_OP_INVALID,
#define FACTS(name, ...) ISA_OP_##name, /* one a meaning, LLVM's mnemonic without encoding suffix */
#include "facts.def"
#undef FACTS
    ISA_OP_COUNT
};

struct isa_inst {
    uint16_t op;     /* enum isa_op: the meaning, the same for every encoding */
    uint16_t row;    /* index in the target's rows[] */
    uint8_t format;  /* enum isa_format */
    uint8_t size;    /* bytes: 4, 8 or 12 */
    uint16_t opcode; /* as encoded */
    bool reserved; /* an operand is what the target reserves, though assemblers know it: not to be executed */
    uint8_t hwreg; /* s_getreg, s_setreg: enum isa_hwreg */

    struct isa_operand dst;  /* VGPR or SGPR result */
    struct isa_operand sdst; /* second result: carry out of VOP3B, VCC of add_co e32 */
    struct isa_operand src[4];
    struct isa_operand soffset; /* MUBUF/MTBUF/SMEM: scalar offset */

    /* VALU modifiers; bit i belongs to src[i]. */
    uint8_t neg, abs;          /* VOP3, SDWA, DPP; VOP3P: neg = neg_lo */
    uint8_t neg_hi;            /* VOP3P */
    uint8_t op_sel, op_sel_hi; /* bit 3 of op_sel: destination half */
    bool clamp;
    uint8_t omod;             /* 0 none, 1 *2, 2 *4, 3 /2 */
    uint8_t cbsz, abid, blgp; /* MAI */

    bool sdwa;
    uint8_t dst_sel, dst_unused, src_sel[2], sext; /* SDWA */
    bool dpp;
    uint16_t dpp_ctrl;
    uint8_t row_mask, bank_mask;
    bool bound_ctrl;

    /* Memory modifiers. */
    int32_t offset;    /* signed as the format has it; DS: offset0 | offset1 << 8 unless split */
    uint8_t offset1;   /* DS two-address forms: offset0 in offset */
    bool sc0, sc1, nt; /* as encoded: what they ask for is `policy` */
    bool lds, offen, idxen, gds;
    struct isa_policy policy;
    bool imm_offset, soffset_en; /* SMEM */
    uint8_t dfmt, nfmt;          /* MTBUF */

    int32_t simm16; /* SOPK, SOPP: sign-extended */
};

/* What is particular to how an instruction is encoded or printed; isa_row.flags. */
enum isa_flag {
    ISA_F_D16 = 1 << 0,               /* a load that writes, or a store that reads, the low half of a VGPR */
    ISA_F_D16_HI = 1 << 1,            /* the high half */
    ISA_F_FORMAT = 1 << 2,            /* converted by a buffer format */
    ISA_F_TWO_ADDRESSES = 1 << 3,     /* DS: offset and offset1 are separate, in elements */
    ISA_F_ACCUMULATE = 1 << 4,        /* the last source is the destination */
    ISA_F_LITERAL_K = 1 << 5,         /* always has a literal */
    ISA_F_DST_SGPR = 1 << 6,          /* a VALU instruction whose result is an SGPR */
    ISA_F_SUFFIX = 1 << 7,            /* the mnemonic shows the encoding: _e32, _e64, _sdwa, _dpp */
    ISA_F_NO_ACC_RETURN = 1 << 8,     /* an atomic whose result cannot go to AccVGPRs */
    ISA_F_NO_ACC_RETURN_SC1 = 1 << 9, /* nor with SC1 */
};

/* How an encoding looks: isa_row.form[]. */
enum { ISA_FORM_PLAIN, ISA_FORM_SDWA, ISA_FORM_DPP, ISA_FORM_COUNT };
struct isa_form {
    uint64_t mask, match; /* the first two dwords & mask == match; mask 0: no such form */
    uint64_t live;        /* fields outside mean nothing */
};

/* One row of the instruction table: (format, opcode) and what it is. */
struct isa_row {
    const char *name; /* mnemonic without encoding suffix */
    uint8_t format;
    uint16_t opcode;
    uint16_t op;
    uint16_t flags;            /* enum isa_flag */
    uint8_t dst, sdst, src[4]; /* enum isa_type; memory instructions: their widest form */
    /*
     * What a source may be: a(ny), v(gpr), c(onstant or sgpr), s(gpr), l: vgpr
     * or LDS direct, x: vgpr or agpr, g: agpr, k: literal.
     */
    char where[5];
    struct isa_form form[ISA_FORM_COUNT];
};

#endif
