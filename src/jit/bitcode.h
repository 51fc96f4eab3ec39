/* SPDX-License-Identifier: MIT */
/*
 * What instructions mean, as LLVM bitcode: sem/vector/slice.h and sem/scalar/bodies.c say what is in it.
 * Compiled when the library was built (scripts/bitcode).
 */
#ifndef EHP_JIT_BITCODE_H
#define EHP_JIT_BITCODE_H

#include <stddef.h>

/* For a level of the host, 3 or 4, whose slices have JIT_SLICE_V3 or JIT_SLICE_V4 lanes (jit/config.h); NULL:
 * the library was built without. */
const void *jit_bitcode(unsigned level, size_t *size);

#endif
