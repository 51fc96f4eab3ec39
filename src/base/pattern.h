/* SPDX-License-Identifier: MIT */
/* What fills write: a value of 1, 2, 4 or 8 bytes, again and again. */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdint.h>

/* Eight bytes of it. */
static inline uint64_t pattern_of(uint64_t value, uint64_t element)
{
    for (uint64_t bits = 8 * element; bits < 64; bits *= 2)
        value = (value & ((UINT64_C(1) << bits) - 1)) | value << bits;
    return value;
}

#endif
