/* SPDX-License-Identifier: MIT */
/*
 * Who executes what.  Each family exports one function that, for a meaning,
 * gives the handler, or NULL when the meaning is not the family's.  It may look
 * at the decoded instruction to choose a specialised handler (no modifiers, all
 * plain VGPRs) and may adjust the xinst that exec has filled in.
 *
 * The families are compiled once per instruction set level of the host
 * (x86-64-v2, v3 with AVX2, v4 with AVX-512); SEM() appends the level to a
 * name, and exec picks a level by CPUID when a machine opens.
 */
#ifndef EHP_WAVE_HANDLERS_H
#define EHP_WAVE_HANDLERS_H

#include "wave/wave.h"

#ifdef SEM_LEVEL
#define SEM_PASTE_(name, level) name##_##level
#define SEM_PASTE(name, level)  SEM_PASTE_(name, level)
#define SEM(name)               SEM_PASTE(name, SEM_LEVEL)
#endif

typedef exec_fn *sem_lookup_fn(const struct isa_inst *inst, struct xinst *x);

#define SEM_DECLARE_LEVEL(level)                                                                             \
    sem_lookup_fn sem_valu_##level;   /* VOP1, VOP2, VOPC, VOP3 */                                           \
    sem_lookup_fn sem_packed_##level; /* VOP3P packed math, mix, dot */                                      \
    sem_lookup_fn sem_matrix_##level; /* MFMA, SMFMAC, AccVGPR moves */                                      \
    sem_lookup_fn sem_lds_##level;    /* DS */                                                               \
    sem_lookup_fn sem_vmem_##level;   /* FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF */
SEM_DECLARE_LEVEL(v2)
SEM_DECLARE_LEVEL(v3)
SEM_DECLARE_LEVEL(v4)

sem_lookup_fn sem_salu; /* SOP*, and SMEM in sem_smem: scalar, compiled once */
sem_lookup_fn sem_smem;
sem_lookup_fn sem_gws; /* DS instructions on global wave sync */

/* Shared by the VALU families, and compiled once per level like them. */
#ifdef SEM_LEVEL
#define exec_prepare SEM(exec_prepare)
#define exec_finish  SEM(exec_finish)
#define exec_lanes   SEM(exec_lanes)
#endif

/*
 * Fills the temp rows of every source that is not plain, applies SDWA/DPP
 * selects, neg and abs.  Called by VALU handlers when in->any_prep.
 */
void exec_prepare(struct wave *w, const struct xinst *in);

/* The value of source number `reg` (235.. apertures, vccz, execz, scc). */
uint64_t exec_special(const struct wave *w, unsigned reg);

/*
 * Merges TEMP_DST into the result rows under EXEC; applies omod, clamp, SDWA
 * dst_sel, DPP row/bank masks when in->post.  Called by VALU handlers whose
 * result went to TEMP_DST.
 */
void exec_finish(struct wave *w, const struct xinst *in);

/* Lanes that a VALU instruction writes: EXEC, less what DPP masks off. */
uint64_t exec_lanes(const struct wave *w, const struct xinst *in);

/*
 * The instruction at pc, where a running wave continues, which then has the rows of that function: asked of
 * whoever holds the code (exec/code.c).  A bad pc is the wave's fault, reported at `in`; NULL.
 */
const struct xinst *exec_code_at(struct wave *w, const struct xinst *in, uint64_t pc);

#endif
