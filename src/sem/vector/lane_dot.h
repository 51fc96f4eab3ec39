/* SPDX-License-Identifier: MIT */
/*
 * Integer dot products of two, four or eight elements with a 32-bit sum, which wraps, or saturates when
 * clamped.
 */
#ifndef EHP_SEM_VECTOR_LANE_DOT_H
#define EHP_SEM_VECTOR_LANE_DOT_H

#include "sem/vector/lane_int.h"

/* Element e of `bits` bits. */
LANE int32_t element_i(uint32_t x, int e, int bits)
{
    return (int32_t)(x << (32 - bits * (e + 1))) >> (32 - bits);
}

LANE uint32_t element_u(uint32_t x, int e, int bits)
{
    return x << (32 - bits * (e + 1)) >> (32 - bits);
}

LANE uint32_t dot_clamped(uint32_t a, uint32_t b, uint32_t c, int bits, bool is_signed)
{
    int64_t sum = is_signed ? (int64_t)(int32_t)c : (int64_t)c;
    for (int e = 0; e < 32 / bits; e++)
        sum += is_signed ? (int64_t)element_i(a, e, bits) * element_i(b, e, bits)
                         : (int64_t)element_u(a, e, bits) * element_u(b, e, bits);
    int64_t most = is_signed ? INT32_MAX : UINT32_MAX, least = is_signed ? INT32_MIN : 0;
    return (uint32_t)(sum > most ? most : sum < least ? least : sum);
}

LANE uint32_t dot_wrapped(uint32_t a, uint32_t b, uint32_t c, int bits, bool is_signed)
{
    int count = 32 / bits; /* not in the condition: the check of a sanitizer there would forbid unrolling */
#pragma GCC unroll 8
    for (int e = 0; e < count; e++)
        c += is_signed ? (uint32_t)element_i(a, e, bits) * (uint32_t)element_i(b, e, bits)
                       : element_u(a, e, bits) * element_u(b, e, bits);
    return c;
}

#endif
