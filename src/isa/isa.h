/* SPDX-License-Identifier: MIT */
/*
 * The instruction set: table, decoder, printer.  Pure functions over constant
 * tables; any thread may call them.
 */
#ifndef EHP_ISA_ISA_H
#define EHP_ISA_ISA_H

#include "isa/facts.h"
#include "isa/inst.h"
#include "isa/target.h"

/* LLVM's mnemonic without encoding suffix. */
const char *isa_op_name(unsigned op);
const char *isa_format_name(unsigned format);

/* VGPRs or SGPRs that an operand of this type covers. */
unsigned isa_type_dwords(unsigned type);

/*
 * Decodes the instruction that starts at words[0]; `count` dwords may be read.
 * False when the bits are not an instruction of the target, or are cut off.
 */
bool isa_decode(const struct isa_target *target, const uint32_t *words, size_t count, struct isa_inst *out);

/*
 * LLVM's assembler syntax, as llvm-objdump prints it for an instruction at
 * `pc`.  Returns the length without the terminator; text that does not fit is cut.
 */
size_t isa_print(const struct isa_target *target, const struct isa_inst *inst, uint64_t pc, char *buf,
                 size_t len);

#endif
