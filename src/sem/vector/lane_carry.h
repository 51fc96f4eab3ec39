/* SPDX-License-Identifier: MIT */
/*
 * Sums with a carry in or out, and those of 64 bits in two dwords: joining dwords to 64 bits and splitting
 * them again costs more than the carry.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 12, VOP2 and VOP3.
 */
#ifndef EHP_SEM_VECTOR_LANE_CARRY_H
#define EHP_SEM_VECTOR_LANE_CARRY_H

#include "sem/vector/lane_int.h"

/* Carries as the adder's top bit has them, in place of comparisons, which do not combine in vectors. */
LANE uint32_t carry_add(uint32_t a, uint32_t b, uint32_t carry, uint32_t *out)
{
    const uint32_t r = a + b + carry;
    *out = ((a & b) | ((a | b) & ~r)) >> 31;
    return r;
}

LANE uint32_t carry_sub(uint32_t a, uint32_t b, uint32_t borrow, uint32_t *out)
{
    const uint32_t r = a - b - borrow;
    *out = ((~a & b) | (~(a ^ b) & r)) >> 31;
    return r;
}

LANE uint32_t carry_subrev(uint32_t a, uint32_t b, uint32_t borrow, uint32_t *out)
{
    return carry_sub(b, a, borrow, out);
}

/* 65-bit sums; the top bit goes to the mask, and says with clamp that the unsigned sum has to be saturated.
 */
LANE uint64_t mad_u64(uint32_t a, uint32_t b, uint64_t c, bool clamp, uint32_t *out)
{
    const uint64_t r = (uint64_t)a * b + c;
    const uint64_t over = r < c ? ~UINT64_C(0) : 0;
    *out = (uint32_t)over & 1;
    return clamp ? r | over : r;
}

LANE uint64_t mad_i64(uint32_t a, uint32_t b, uint64_t c, bool clamp, uint32_t *out)
{
    const uint64_t p = (uint64_t)((int64_t)(int32_t)a * (int32_t)b), r = p + c;
    /* Signed overflow: both terms have the sign that the sum does not have. */
    const uint64_t over = ~(p ^ c) & (p ^ r);
    const uint64_t negative = ((over & p) | (~over & r)) >> 63;
    *out = (uint32_t)negative;
    return clamp && over >> 63 ? INT64_MAX + negative : r;
}

/* (a << s) + c; the manual shows three bits of the shift, and above 4 is reserved. */
LANE uint32_t u64_lshl_add(uint32_t a_low, uint32_t a_high, uint32_t s, uint32_t c_low, uint32_t c_high,
                           uint32_t *r_high)
{
    const uint32_t shift = s & 7;
    const uint32_t low = a_low << shift, high = a_high << shift | a_low >> 1 >> (31 - shift);
    const uint32_t sum = low + c_low, carry = sum < low ? 1 : 0;
    *r_high = high + c_high + carry;
    return sum;
}

#endif
