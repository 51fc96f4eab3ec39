/* SPDX-License-Identifier: MIT */
/*
 * Pairs of rows that are the halves of values of 64 bits.  Bodies take such values from two rows and give
 * them back as two; from one instruction to the next they stay what they are, where it is known that two rows
 * are the halves of one value.
 */
#ifndef EHP_JIT_PAIRS_H
#define EHP_JIT_PAIRS_H

#include "jit/llvm.h"

enum { PAIRS_NOTED = 128 };

/* What is known of the rows that were made last. */
struct pairs {
    struct {
        llvm_value row, wide; /* the lanes' values of 64 bits, of any type */
        unsigned half;        /* 0 the lower */
    } noted[PAIRS_NOTED];
    unsigned next;
};

void pairs_note(struct pairs *pairs, llvm_value row, llvm_value wide, unsigned half);
/* The values whose halves these rows are; NULL: nothing is known. */
llvm_value pairs_find(const struct pairs *pairs, llvm_value low, llvm_value high);
/* The values that a row is a half of, and which; NULL: none are known. */
llvm_value pairs_whole(const struct pairs *pairs, llvm_value row, unsigned *half);
/* The row that is a half of these values; NULL: none is known. */
llvm_value pairs_half(const struct pairs *pairs, llvm_value wide, unsigned half);

#endif
