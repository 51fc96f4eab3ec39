/* SPDX-License-Identifier: MIT */
/*
 * Around a fault of LLVM 22's back end for x86: `trunc (lshr (mul a, b), s)` of lanes of 64 bits to 16, where
 * a and b have no more than 16, becomes a high product of 16 bits that is shifted by s - 16, which is
 * undefined for s of 32 (combinePMULH).  Signed products of 24 bits have that form when only 16 bits of their
 * upper halves are read.
 */
#ifndef EHP_JIT_NARROW_H
#define EHP_JIT_NARROW_H

#include "jit/llvm.h"

/* After LLVM's passes, which would undo it: lanes of 16 bits are taken out of those of 64 by a shuffle. */
void narrow_by_shuffles(const struct llvm *l, llvm_context context, llvm_module module);

#endif
