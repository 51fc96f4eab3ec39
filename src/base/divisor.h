/* SPDX-License-Identifier: MIT */
/* Division of 32-bit numbers by one that is known once for all: a multiplication, as compilers make of
 * constants. */
#ifndef EHP_BASE_DIVISOR_H
#define EHP_BASE_DIVISOR_H

#include <stdint.h>

struct divisor {
    uint64_t inverse; /* 2^64 / by, rounded up: exact for all 32-bit numbers (Lemire et al., 2019); of 1: 0 */
    uint32_t by;
};

static inline struct divisor divisor_of(uint32_t by)
{
    return (struct divisor){.inverse = by > 1 ? UINT64_MAX / by + 1 : 0, .by = by};
}

static inline uint32_t divide(struct divisor d, uint32_t n, uint32_t *rest)
{
    const uint32_t quotient = d.inverse ? (uint32_t)((unsigned __int128)d.inverse * n >> 64) : n;
    *rest = n - quotient * d.by;
    return quotient;
}

#endif
