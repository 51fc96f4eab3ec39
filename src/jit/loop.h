/* SPDX-License-Identifier: MIT */
/* Which loops can be turned inside out, and what their instructions use: loop_find.c, for loop.c. */
#ifndef EHP_JIT_LOOP_H
#define EHP_JIT_LOOP_H

#include "jit/emit.h"

/* Scalar registers that an instruction reads or writes: as one value, or as a mask of which lanes have bits.
 */
struct loop_use {
    unsigned reg, count;
    bool mask;
};

struct loop_uses {
    struct loop_use read[5], write;
    unsigned reads;
    bool writes, scalar, reads_scc, sets_scc, from_memory;
};

/* False for an instruction that no such loop may have. */
bool loop_uses(struct emit *e, const struct xinst *x, struct loop_uses *u);
/* The loop that begins here. */
bool loop_find(struct emit *e, const struct xinst *first, struct loop *loop);

#endif
