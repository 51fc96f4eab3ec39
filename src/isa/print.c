/* SPDX-License-Identifier: MIT */
/* Mnemonics only, until the printer of operands lands. */
#include <stdio.h>
#include "ehp/ehp.h"
#include "isa/isa.h"
size_t isa_print(const struct isa_inst *inst, uint64_t pc, char *buf, size_t len){(void)pc; return (size_t)snprintf(buf,len,"%s",isa_op_name(inst->op));}
unsigned ehp_disassemble(const uint32_t *code, size_t words, uint64_t pc, char *text, size_t bytes){struct isa_inst i; if(!isa_decode(code,words,&i)) return 0; isa_print(&i,pc,text,bytes); return i.size;}
