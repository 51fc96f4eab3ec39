/* SPDX-License-Identifier: MIT */
/* See pairs.h. */
#include "jit/pairs.h"

void pairs_note(struct pairs *pairs, llvm_value row, llvm_value wide, unsigned half)
{
    pairs->noted[pairs->next].row = row;
    pairs->noted[pairs->next].wide = wide;
    pairs->noted[pairs->next].half = half;
    pairs->next = (pairs->next + 1) % PAIRS_NOTED;
}

static bool is_noted(const struct pairs *pairs, llvm_value row, llvm_value wide, unsigned half)
{
    for (unsigned i = 0; i < PAIRS_NOTED; i++)
        if (pairs->noted[i].row == row && pairs->noted[i].wide == wide && pairs->noted[i].half == half)
            return true;
    return false;
}

llvm_value pairs_find(const struct pairs *pairs, llvm_value low, llvm_value high)
{
    for (unsigned i = 0; i < PAIRS_NOTED; i++)
        if (pairs->noted[i].row == high && pairs->noted[i].half == 1 &&
            is_noted(pairs, low, pairs->noted[i].wide, 0))
            return pairs->noted[i].wide;
    return NULL;
}

llvm_value pairs_whole(const struct pairs *pairs, llvm_value row, unsigned *half)
{
    for (unsigned i = 0; i < PAIRS_NOTED; i++)
        if (pairs->noted[i].row == row && row) {
            *half = pairs->noted[i].half;
            return pairs->noted[i].wide;
        }
    return NULL;
}

llvm_value pairs_half(const struct pairs *pairs, llvm_value wide, unsigned half)
{
    for (unsigned i = 0; i < PAIRS_NOTED; i++)
        if (pairs->noted[i].wide == wide && pairs->noted[i].half == half)
            return pairs->noted[i].row;
    return NULL;
}
