/* SPDX-License-Identifier: MIT */
/*
 * The instruction set: table, decoder, printer.  Pure functions over constant
 * tables; any thread may call them.
 */
#ifndef EHP_ISA_ISA_H
#define EHP_ISA_ISA_H

#include "isa/facts.h"
#include "isa/inst.h"

/* Every (format, opcode) that gfx942 has. */
extern const struct isa_row isa_rows[];
extern const size_t isa_row_count;

/* The row of an encoded opcode; NULL when gfx942 has none.  VOP3P finds VOP3PMAI rows too. */
const struct isa_row *isa_row_find(unsigned format, unsigned opcode);

/* LLVM's mnemonic without encoding suffix. */
const char *isa_op_name(unsigned op);
const char *isa_format_name(unsigned format);

/* s_waitcnt: it waits until no more instructions than this are outstanding, and for a counter's maximum not
 * at all.  Source: "AMD Instinct MI300 ISA", 4.4. */
enum { ISA_VMCNT_MAX = 63, ISA_EXPCNT_MAX = 7, ISA_LGKMCNT_MAX = 15 };
struct isa_waitcnt {
    unsigned vm, exp, lgkm;
};
static inline struct isa_waitcnt isa_waitcnt_of(unsigned simm16)
{
    return (struct isa_waitcnt){
        .vm = (simm16 & 15) | (simm16 >> 14 & 3) << 4, .exp = simm16 >> 4 & 7, .lgkm = simm16 >> 8 & 15};
}

/* VGPRs or SGPRs that an operand of this type covers. */
unsigned isa_type_dwords(unsigned type);

/*
 * Decodes the instruction that starts at words[0]; `count` dwords may be read.
 * False when the bits are not an instruction of gfx942, or are cut off.
 */
bool isa_decode(const uint32_t *words, size_t count, struct isa_inst *out);

/*
 * LLVM's assembler syntax, as llvm-objdump prints it for an instruction at
 * `pc`.  Returns the length without the terminator; text that does not fit is cut.
 */
size_t isa_print(const struct isa_inst *inst, uint64_t pc, char *buf, size_t len);

#endif
