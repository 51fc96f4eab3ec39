/* SPDX-License-Identifier: MIT */
/*
 * An instruction set: all that differs between the processors whose code the
 * library runs, and that a chip file does not say.  What an instruction means is
 * shared by all of them; which bits it is, is a table here.
 *
 * A target is constant data, in a file of its own (gfx942.c).  Code has the
 * target that isa_target_find() gave for the name of its agent, from the loader
 * (load/code.h) to translated functions (exec/code.h) and the compute units.  The
 * decoder takes every number of an encoding from it, and what it hands on are
 * numbers and names that are the same for all targets (inst.h): nobody
 * behind the decoder asks which target it is.
 */
#ifndef EHP_ISA_TARGET_H
#define EHP_ISA_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "isa/inst.h"

struct isa_decoder;

/* How instructions of one format begin. */
struct isa_encoding {
    uint8_t format; /* enum isa_format; ISA_FMT_NONE: the bits are no instruction */
    uint8_t size;   /* bytes, without a literal */
    uint8_t opcode_low, opcode_width;
    bool extends; /* its first source may say that a dword of SDWA or DPP follows */
    bool (*decode)(struct isa_decoder *d);
};

/* A number in an immediate, in two pieces at most: each is shifted to the right, then masked. */
struct isa_number {
    uint8_t shift, mask, high_shift, high_mask;
};

/* s_waitcnt's counters. */
struct isa_waitcnt_layout {
    struct isa_number vm, exp, lgkm;
};

/* Numbers of scalar registers in 7-bit fields; what is absent has ISA_NO_SREG. */
enum { ISA_NO_SREG = 0xff };
struct isa_sreg_numbers {
    uint8_t sgprs;      /* s0 .. */
    uint8_t tuples_end; /* tuples that assemblers accept end before it, though registers with a name begin at
                         * `sgprs`: decoded, and marked as reserved */
    uint8_t flat_scratch, xnack_mask, vcc, exec; /* pairs */
    uint8_t ttmp, ttmps;                         /* the first, how many */
    uint8_t m0;
    uint8_t null;
};

/* Vector and scalar registers as encodings and kernel descriptors count them; how many a chip has of which,
 * its file says. */
struct isa_registers {
    uint16_t vgprs, agprs;              /* that an instruction can name */
    uint8_t vgpr_granule, sgpr_granule; /* of a descriptor's counts */
    uint8_t accum_granule;              /* of where AccVGPRs begin in the unified file */
    uint8_t user_sgprs;                 /* that a wave can begin with */
};

enum { ISA_HWREGS = 64, ISA_OPCODES = 768, ISA_RESERVED_MOST = 7 };

struct isa_hwreg_row {
    const char *name; /* the assembler's; NULL: it has none */
    uint8_t which;    /* enum isa_hwreg */
};

/* What cache bits are on: indices of isa_target.policy. */
enum isa_access { ISA_ACCESS_CONTROL /* fences */, ISA_ACCESS_LOAD, ISA_ACCESS_STORE, ISA_ACCESS_ATOMIC };
enum { ISA_ACCESSES = ISA_ACCESS_ATOMIC + 1 };

/* A rule on two instructions that hardware leaves to software. */
struct isa_need {
    unsigned states; /* wait states that must lie between; 0: none */
    const char *why;
};

struct isa_target {
    const char *name; /* the processor in target ids, and what -mcpu takes */

    /* Every (format, opcode), and the index: 1 + the row, 0 when there is none. */
    const struct isa_row *rows;
    size_t row_count;
    const uint16_t (*index)[ISA_OPCODES]; /* [ISA_FMT_COUNT] */
    /* How an instruction with this first dword is encoded. */
    struct isa_encoding (*encoding)(uint32_t word);

    struct isa_sreg_numbers sreg;
    uint8_t reserved[ISA_RESERVED_MOST + 1]; /* source fields that must not be executed, up to a 0 */
    struct isa_registers registers;
    bool architected_flat_scratch; /* scratch needs no SGPRs: "AMDGPU Processors", Target Properties */

    struct isa_waitcnt_layout waitcnt;
    const struct isa_hwreg_row *hwreg; /* [ISA_HWREGS] */

    /* By enum isa_access, and sc0 | sc1 << 1 | nt << 2 of struct isa_inst. */
    struct isa_policy policy[ISA_ACCESSES][8];
    const char *cache_name[4]; /* the assembler's: of sc0, nt, sc1, and sc0 of scalar memory */

    /* What software must leave between `earlier` and a `later` instruction, and no rule reaches farther than
     * hazard_reach states. */
    struct isa_need (*hazard)(const struct isa_inst *earlier, const struct isa_inst *later);
    unsigned hazard_reach;
};

extern const struct isa_target isa_gfx942;

/* The target of a processor's name, or of a target id ("gfx942:sramecc+:xnack-"); NULL: none that is known.
 */
const struct isa_target *isa_target_find(const char *id);

/* The row of an encoded opcode; NULL when there is none.  VOP3P finds VOP3PMAI rows too. */
const struct isa_row *isa_row_find(const struct isa_target *target, unsigned format, unsigned opcode);

static inline unsigned isa_number_in(struct isa_number n, unsigned immediate)
{
    return (immediate >> n.shift & n.mask) | (immediate >> n.high_shift & n.high_mask);
}

static inline unsigned isa_number_most(struct isa_number n)
{
    return n.mask | n.high_mask;
}

/* s_waitcnt: it waits until no more instructions than this are outstanding, and for a counter's greatest
 * number not at all. */
struct isa_waitcnt {
    unsigned vm, exp, lgkm;
};
static inline struct isa_waitcnt isa_waitcnt_of(const struct isa_target *target, unsigned simm16)
{
    return (struct isa_waitcnt){.vm = isa_number_in(target->waitcnt.vm, simm16),
                                .exp = isa_number_in(target->waitcnt.exp, simm16),
                                .lgkm = isa_number_in(target->waitcnt.lgkm, simm16)};
}

#endif
