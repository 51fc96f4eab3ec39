/* SPDX-License-Identifier: MIT */
/*
 * What a row probably holds, as to how lanes differ: the instructions before, read as text, are executed for
 * some lanes, with the kernel's v0 as the lane's number and the same large number in all scalar registers.
 * Nothing may rely on it but which of several versions of code is emitted.
 */
#ifndef EHP_JIT_GUESS_H
#define EHP_JIT_GUESS_H

#include "jit/emit.h"

enum { GUESS_LANES = 16 };

/* The step from lane to lane of a row before `x`; false: it is none, or unknown. */
bool guess_step(const struct emit *e, const struct xinst *x, unsigned row, uint32_t *step);

#endif
