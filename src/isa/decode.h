/* SPDX-License-Identifier: MIT */
/*
 * The decoders of the formats, from which a target chooses for each encoding that it has.  A format
 * whose fields lie elsewhere on a target is a function more.
 */
#ifndef EHP_ISA_DECODE_H
#define EHP_ISA_DECODE_H

#include "isa/operand.h"

struct isa_decoder {
    const struct isa_target *target;
    struct isa_bits bits;
    const struct isa_row *row;
    struct isa_inst *out;
    unsigned form;
    unsigned size; /* bytes, without the literal */
};

/* Each returns false when the bits are not an instruction. */
bool isa_decode_sop(struct isa_decoder *d); /* SOP1, SOP2, SOPC, SOPK */
bool isa_decode_sopp(struct isa_decoder *d);
bool isa_decode_smem(struct isa_decoder *d);
bool isa_decode_vop12c(struct isa_decoder *d); /* VOP1, VOP2, VOPC, with SDWA and DPP */
bool isa_decode_vop3(struct isa_decoder *d);
bool isa_decode_vop3p(struct isa_decoder *d); /* and VOP3PMAI */
bool isa_decode_ds(struct isa_decoder *d);
bool isa_decode_buffer(struct isa_decoder *d); /* MUBUF, MTBUF */
bool isa_decode_flat(struct isa_decoder *d);   /* FLAT, GLOBAL, SCRATCH */

/* Rules on wait states: struct isa_target.hazard. */
struct isa_need isa_gfx942_hazard(const struct isa_inst *earlier, const struct isa_inst *later);

#endif
