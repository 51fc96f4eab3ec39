/* SPDX-License-Identifier: MIT */
/*
 * What modifiers do to one lane of a source or a result.  What does not depend on the lane (masks, shifts) is
 * worked out by the caller, once for each instruction.
 *
 * Source: MI300 ISA, 6 "Vector ALU operations": input and output modifiers, SDWA; 13.3.6 for packed halves.
 */
#ifndef EHP_SEM_VECTOR_LANE_MODIFY_H
#define EHP_SEM_VECTOR_LANE_MODIFY_H

#include "base/float.h"
#include "sem/vector/lane_int.h"

/* abs clears the sign, neg flips it: in a dword, or in the half of one. */
LANE uint32_t modify_sign(uint32_t a, uint32_t keep, uint32_t flip)
{
    return (a & keep) ^ flip;
}

/* SDWA source: a part of it, from its sign bit on all ones when that is set (sign 0: never). */
LANE uint32_t modify_part(uint32_t a, uint32_t shift, uint32_t mask, uint32_t sign)
{
    return ((a >> shift & mask) ^ sign) - sign;
}

/* SDWA destination: the result in its place, and in the rest of what was there before, as much as `keep`
 * says, or copies of the sign bit. */
LANE uint32_t modify_place(uint32_t result, uint32_t old, uint32_t shift, uint32_t mask, uint32_t keep,
                           uint32_t sign)
{
    return (old & keep) | (((result << shift & mask) ^ sign) - sign);
}

/* 16-bit results of opcodes with op_sel: in one half, and the other one stays. */
LANE uint32_t modify_high(uint32_t result, uint32_t old)
{
    return (old & 0xffff) | result << 16;
}

LANE uint32_t modify_low(uint32_t result, uint32_t old)
{
    return (old & 0xffff0000) | (result & 0xffff);
}

/* Packed halves: which one the low result takes, which one the high; then the signs. */
LANE uint32_t modify_halves(uint32_t a, bool low_takes_high, bool high_takes_high, uint32_t flip)
{
    const uint32_t low = low_takes_high ? a >> 16 : a & 0xffff;
    const uint32_t high = high_takes_high ? a & 0xffff0000u : a << 16;
    return (low | high) ^ flip;
}

/* To [0, 1]. A NaN becomes 0 with DX10_CLAMP and stays without it. */
LANE float modify_clamp_f32(float value, bool dx10)
{
    const float r = value <= 0.0f ? 0.0f : value > 1.0f ? 1.0f : value;
    return value == value ? r : dx10 ? 0.0f : value;
}

LANE double modify_clamp_f64(double value, bool dx10)
{
    const double r = value <= 0.0 ? 0.0 : value > 1.0 ? 1.0 : value;
    return value == value ? r : dx10 ? 0.0 : value;
}

LANE uint32_t modify_clamp_f16(uint32_t half, bool dx10)
{
    const uint32_t r = half & 0x8000 ? 0 : half > 0x3c00 ? 0x3c00 : half;
    return f16_is_nan(half) ? (dx10 ? 0 : half) : r;
}

#endif
