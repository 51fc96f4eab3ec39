/* SPDX-License-Identifier: MIT */
/*
 * Text building blocks that the printer's files share.
 */
#ifndef EHP_ISA_TEXT_H
#define EHP_ISA_TEXT_H

#include "isa/isa.h"

/* A buffer that counts what it cannot hold. */
struct isa_text {
    const struct isa_target *target;
    char *buf;
    size_t len, used;
};

__attribute__((format(printf, 2, 3))) void isa_text_add(struct isa_text *t, const char *format, ...);

void isa_text_operand(struct isa_text *t, const struct isa_operand *o);
/* With the VALU's source modifiers. */
void isa_text_modified(struct isa_text *t, const struct isa_operand *o, bool neg, bool abs, bool sext);

/* Immediates with names of their own. */
void isa_text_waitcnt(struct isa_text *t, unsigned simm16);
void isa_text_hwreg(struct isa_text *t, unsigned simm16);
void isa_text_sendmsg(struct isa_text *t, unsigned simm16);
void isa_text_gpr_idx(struct isa_text *t, unsigned mode);
void isa_text_swizzle(struct isa_text *t, unsigned offset);
void isa_text_dpp_ctrl(struct isa_text *t, unsigned ctrl);
void isa_text_buffer_format(struct isa_text *t, unsigned dfmt, unsigned nfmt);

#endif
