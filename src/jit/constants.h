/* SPDX-License-Identifier: MIT */
/* Which rows are likely to hold a constant; see constants.c. */
#ifndef EHP_JIT_CONSTANTS_H
#define EHP_JIT_CONSTANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emit;
struct constants;

/* Of the function; NULL: memory is short, and nothing is likely.  free() ends it. */
struct constants *constants_find(const struct emit *e);
/* Whether, before an instruction, a row is likely to hold one. */
bool constants_likely(const struct constants *constants, size_t at, unsigned row, uint32_t *value);

#endif
