/* SPDX-License-Identifier: MIT */
/*
 * What rows of addresses probably hold: the function's instructions, read as text, are executed for
 * one wave, with the kernel's v0 as the lane's number and the same large number in all scalar registers.
 * Nothing may rely on it but which of several versions of code is emitted.
 */
#ifndef EHP_JIT_GUESS_H
#define EHP_JIT_GUESS_H

#include "exec/code.h"

enum { GUESS_LANES = 16 };

struct guess;

/* Of a function; NULL: memory is short, or no lanes access anything, and nothing is known.  free()
 * ends it. */
struct guess *guess_find(const struct exec_block *block);
/* The step from lane to lane of an access's first row, among the first GUESS_LANES; false: it is none, or
 * unknown. */
bool guess_step(const struct guess *guess, const struct xinst *x, uint32_t *step);
/* What that row holds in all lanes, whatever comes from memory and from the kernel's arguments; NULL: who
 * knows. */
const uint32_t *guess_lanes(const struct guess *guess, const struct xinst *x);
/* Whether how lanes differ there comes from memory. */
bool guess_scatters(const struct guess *guess, const struct xinst *x);

/* Whether what x accesses, from this far to that far from its first row, seems to lie among what y does, or
 * y's among x's; `same`, of as many bytes as far: but for lanes' own, where both go by the same row. */
bool guess_meets(const struct guess *guess, const struct xinst *x, uint32_t x_from, uint32_t x_to,
                 const struct xinst *y, uint32_t y_from, uint32_t y_to, bool same);

#endif
