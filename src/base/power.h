/* SPDX-License-Identifier: MIT */
/* Powers of two, of numbers from chip files and programs. */
#ifndef EHP_BASE_POWER_H
#define EHP_BASE_POWER_H

#include <stdbool.h>
#include <stdint.h>

static inline bool power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* Of a quotient as well, which may be no whole number. */
static inline bool whole_power_of_two(double n)
{
    return n >= 1 && n < 0x1p64 && (double)(uint64_t)n == n && power_of_two((uint64_t)n);
}

#endif
