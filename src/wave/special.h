/* SPDX-License-Identifier: MIT */
/*
 * Two bits of MODE change what instructions do: GPR_IDX_EN adds M0[7:0] to the
 * numbers of VGPRs that M0[15:12] selects, VSKIP skips vector instructions.
 * Ordinary handlers know nothing of them.  Whoever sets one, or continues a
 * wave that has one set, runs what follows through exec_special_run(); simulated
 * time, which executes instructions one by one, takes exec_special_step().
 *
 * Source: "AMD Instinct MI300 ISA", chapters 4 and 6, S_SET_GPR_IDX_*, S_SETVSKIP.
 */
#ifndef EHP_WAVE_SPECIAL_H
#define EHP_WAVE_SPECIAL_H

#include "wave/handlers.h"

enum { MODE_SPECIAL = MODE_GPR_IDX_EN | MODE_VSKIP };

/* One instruction; as a handler. */
const struct xinst *exec_special_step(struct wave *w, const struct xinst *in);
/* From `in` on until neither is set; the instruction that follows, NULL when the wave stopped. */
const struct xinst *exec_special_run(struct wave *w, const struct xinst *in);

/* The lookup (handlers.h) of what sets those bits, and of conditional branches by forking. */
sem_lookup_fn sem_special;

#endif
