/* SPDX-License-Identifier: MIT */
/*
 * Sums and products of the sizes and offsets that a program gives.  One that
 * does not fit is the largest there is, and so fits into nothing: the checks
 * against an allocation, a variable or a limit refuse it as any other that is
 * too large.
 */
#ifndef HIP_SIZE_H
#define HIP_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#define SIZE_TOO_LARGE UINT64_MAX

static inline uint64_t size_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? SIZE_TOO_LARGE : sum;
}

static inline uint64_t size_mul(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? SIZE_TOO_LARGE : product;
}

/* Moves an address on by so many slices, rows and bytes; false: it would leave the address space. */
static inline bool size_advance(unsigned char **address, uint64_t z, uint64_t slice, uint64_t y,
                                uint64_t pitch, uint64_t x)
{
    uint64_t offset = size_add(size_add(size_mul(z, slice), size_mul(y, pitch)), x), end;

    if (offset == SIZE_TOO_LARGE || __builtin_add_overflow((uint64_t)(uintptr_t)*address, offset, &end))
        return false;
    *address += offset;
    return true;
}

#endif
