/* SPDX-License-Identifier: MIT */
#include "jit/bitcode.h"
#include "jit/config.h"

#if EHP_JIT
extern const unsigned char jit_bitcode_v3[], jit_bitcode_v3_end[], jit_bitcode_v4[], jit_bitcode_v4_end[];
#endif

const void *jit_bitcode(unsigned level, size_t *size)
{
#if EHP_JIT
    const unsigned char *first = level == 4 ? jit_bitcode_v4 : level == 3 ? jit_bitcode_v3 : NULL;
    const unsigned char *end = level == 4 ? jit_bitcode_v4_end : jit_bitcode_v3_end;
    *size = first ? (size_t)(end - first) : 0;
    return first;
#else
    (void)level;
    *size = 0;
    return NULL;
#endif
}
