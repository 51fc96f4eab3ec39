/* SPDX-License-Identifier: MIT */
/*
 * Integer lane functions of the vector ALU: one lane of one instruction, pure,
 * branch-free where it matters for vectorising.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 12, the pseudocode of VOP1, VOP2,
 * VOP3.  Where the manual's order is reversed (v_*rev) the list of instructions
 * says so, not the function.
 */
#ifndef EHP_SEM_VECTOR_LANE_INT_H
#define EHP_SEM_VECTOR_LANE_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LANE static inline __attribute__((always_inline))

/* ---- 32 bits ---- */

LANE uint32_t u32_mov(uint32_t a)
{
    return a;
}

LANE uint32_t u32_not(uint32_t a)
{
    return ~a;
}

LANE uint32_t u32_add(uint32_t a, uint32_t b)
{
    return a + b;
}

LANE uint32_t u32_sub(uint32_t a, uint32_t b)
{
    return a - b;
}

LANE uint32_t u32_subrev(uint32_t a, uint32_t b)
{
    return b - a;
}

LANE uint32_t u32_and(uint32_t a, uint32_t b)
{
    return a & b;
}

LANE uint32_t u32_or(uint32_t a, uint32_t b)
{
    return a | b;
}

LANE uint32_t u32_xor(uint32_t a, uint32_t b)
{
    return a ^ b;
}

LANE uint32_t u32_xnor(uint32_t a, uint32_t b)
{
    return ~(a ^ b);
}

LANE uint32_t u32_lshlrev(uint32_t a, uint32_t b)
{
    return b << (a & 31);
}

LANE uint32_t u32_lshrrev(uint32_t a, uint32_t b)
{
    return b >> (a & 31);
}

LANE uint32_t i32_ashrrev(uint32_t a, uint32_t b)
{
    return (uint32_t)((int32_t)b >> (a & 31));
}

LANE uint32_t i32_min(uint32_t a, uint32_t b)
{
    return (int32_t)a < (int32_t)b ? a : b;
}

LANE uint32_t i32_max(uint32_t a, uint32_t b)
{
    return (int32_t)a > (int32_t)b ? a : b;
}

LANE uint32_t u32_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

LANE uint32_t u32_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

LANE uint32_t u32_mul_lo(uint32_t a, uint32_t b)
{
    return a * b;
}

LANE uint32_t u32_mul_hi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

LANE uint32_t i32_mul_hi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}

LANE uint32_t u24(uint32_t a)
{
    return a & 0xffffffu;
}

LANE int32_t i24(uint32_t a)
{
    return (int32_t)(a << 8) >> 8;
}

LANE uint32_t u24_mul(uint32_t a, uint32_t b)
{
    return u24(a) * u24(b);
}

LANE uint32_t u24_mul_hi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)u24(a) * u24(b) >> 32);
}

LANE uint32_t i24_mul(uint32_t a, uint32_t b)
{
    return (uint32_t)i24(a) * (uint32_t)i24(b);
}

LANE uint32_t i24_mul_hi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)i24(a) * i24(b)) >> 32);
}

LANE uint32_t u24_mad(uint32_t a, uint32_t b, uint32_t c)
{
    return u24_mul(a, b) + c;
}

LANE uint32_t i24_mad(uint32_t a, uint32_t b, uint32_t c)
{
    return i24_mul(a, b) + c;
}

LANE uint32_t u32_mad_u16(uint16_t a, uint16_t b, uint32_t c)
{
    return (uint32_t)a * b + c;
}

LANE uint32_t i32_mad_i16(uint16_t a, uint16_t b, uint32_t c)
{
    return (uint32_t)((int32_t)(int16_t)a * (int16_t)b) + c;
}

LANE uint32_t u32_add3(uint32_t a, uint32_t b, uint32_t c)
{
    return a + b + c;
}

LANE uint32_t u32_or3(uint32_t a, uint32_t b, uint32_t c)
{
    return a | b | c;
}

LANE uint32_t u32_and_or(uint32_t a, uint32_t b, uint32_t c)
{
    return (a & b) | c;
}

LANE uint32_t u32_lshl_or(uint32_t a, uint32_t b, uint32_t c)
{
    return a << (b & 31) | c;
}

LANE uint32_t u32_lshl_add(uint32_t a, uint32_t b, uint32_t c)
{
    return (a << (b & 31)) + c;
}

LANE uint32_t u32_add_lshl(uint32_t a, uint32_t b, uint32_t c)
{
    return (a + b) << (c & 31);
}

LANE uint32_t u32_xad(uint32_t a, uint32_t b, uint32_t c)
{
    return (a ^ b) + c;
}

LANE uint32_t i32_min3(uint32_t a, uint32_t b, uint32_t c)
{
    return i32_min(i32_min(a, b), c);
}

LANE uint32_t i32_max3(uint32_t a, uint32_t b, uint32_t c)
{
    return i32_max(i32_max(a, b), c);
}

LANE uint32_t i32_med3(uint32_t a, uint32_t b, uint32_t c)
{
    return i32_max(i32_min(a, b), i32_min(i32_max(a, b), c));
}

LANE uint32_t u32_min3(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_min(u32_min(a, b), c);
}

LANE uint32_t u32_max3(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_max(u32_max(a, b), c);
}

LANE uint32_t u32_med3(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_max(u32_min(a, b), u32_min(u32_max(a, b), c));
}

LANE uint32_t u32_bfe(uint32_t a, uint32_t b, uint32_t c)
{
    return a >> (b & 31) & ((1u << (c & 31)) - 1);
}

LANE uint32_t i32_bfe(uint32_t a, uint32_t b, uint32_t c)
{
    /* Sign extension by shifting down from the top; width 0 gives 0, which no shift by 32 does. */
    const uint32_t width = c & 31, field = (uint32_t)((int32_t)a >> (b & 31));
    const uint32_t up = (32 - width) & 31;
    return width ? (uint32_t)((int32_t)(field << up) >> up) : 0;
}

LANE uint32_t u32_bfi(uint32_t a, uint32_t b, uint32_t c)
{
    return (a & b) | (~a & c);
}

LANE uint32_t u32_bfm(uint32_t a, uint32_t b)
{
    return ((1u << (a & 31)) - 1) << (b & 31);
}

/* Two shifts, of which none is by 32, so that a lane stays one of 32 bits. */
LANE uint32_t u32_alignbit(uint32_t a, uint32_t b, uint32_t c)
{
    c &= 31;
    return b >> c | a << 1 << (c ^ 31);
}

LANE uint32_t u32_alignbyte(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_alignbit(a, b, (c & 3) * 8);
}

LANE uint32_t u32_bfrev(uint32_t a)
{
    a = (a & 0x55555555u) << 1 | (a >> 1 & 0x55555555u);
    a = (a & 0x33333333u) << 2 | (a >> 2 & 0x33333333u);
    a = (a & 0x0f0f0f0fu) << 4 | (a >> 4 & 0x0f0f0f0fu);
    a = (a & 0x00ff00ffu) << 8 | (a >> 8 & 0x00ff00ffu);
    return a << 16 | a >> 16;
}

/* The last step is not the usual multiplication, which compilers turn into a popcount that does not
 * vectorise. */
LANE uint32_t u32_popcount(uint32_t a)
{
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0fu;
    a += a >> 8;
    return (a + (a >> 16)) & 0x3f;
}

/* The bits of a, which are those of lanes 0 to 31 or 32 to 63, that are below a lane, counted, plus b. */
LANE uint32_t u32_mbcnt_lo(uint32_t a, uint32_t b, uint32_t lane)
{
    const uint32_t below = lane < 32 ? (1u << (lane & 31)) - 1 : ~0u;
    return u32_popcount(a & below) + b;
}

LANE uint32_t u32_mbcnt_hi(uint32_t a, uint32_t b, uint32_t lane)
{
    const uint32_t below = lane < 32 ? 0 : (1u << (lane & 31)) - 1;
    return u32_popcount(a & below) + b;
}

LANE uint32_t u32_bcnt(uint32_t a, uint32_t b)
{
    return u32_popcount(a) + b;
}

/* The exponent that conversion to float finds: of the lowest bit alone. */
LANE uint32_t u32_ffbl(uint32_t a)
{
    const float lowest = (float)(int32_t)(a & (0 - a));
    uint32_t bits;
    memcpy(&bits, &lowest, sizeof bits);
    return a ? (bits >> 23 & 0xff) - 127 : ~0u;
}

/* Zeros above the highest one, by its float: with the bit below it cleared, rounding cannot carry into the
 * exponent. */
LANE uint32_t u32_ffbh(uint32_t a)
{
    const float highest = (float)(int32_t)(a & ~(a >> 1));
    uint32_t bits;
    memcpy(&bits, &highest, sizeof bits);
    const uint32_t r = a >> 31 ? 0 : 158 - (bits >> 23 & 0xff);
    return a ? r : ~0u;
}

/* Position of the first bit that differs from the sign. */
LANE uint32_t i32_ffbh(uint32_t a)
{
    return u32_ffbh(a ^ (uint32_t)((int32_t)a >> 31));
}

/* Byte `sel` of {a, b}, a sign of one of the odd bytes, or a constant (v_perm_b32). */
LANE uint32_t u32_perm_byte(uint32_t a, uint32_t b, uint32_t sel)
{
    /* By masks: the compiler makes branches of so many choices, and no vectors. */
    const uint32_t plain = 0u - (sel < 8), constant = 0u - (sel > 11), ones = 0u - (sel > 12);
    const uint32_t word = b ^ ((a ^ b) & (0u - (sel >> 2 & 1)));
    const uint32_t half = (b ^ ((a ^ b) & (0u - (sel >> 1 & 1)))) << (~sel & 1) * 16;
    const uint32_t sign = (uint32_t)((int32_t)half >> 31);
    return ((word >> (sel & 3) * 8 & plain) | (~plain & ((sign & ~constant) | ones))) & 0xff;
}

LANE uint32_t u32_perm(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_perm_byte(a, b, c & 0xff) | u32_perm_byte(a, b, c >> 8 & 0xff) << 8 |
           u32_perm_byte(a, b, c >> 16 & 0xff) << 16 | u32_perm_byte(a, b, c >> 24) << 24;
}

LANE uint32_t u32_pack16(uint16_t a, uint16_t b)
{
    return a | (uint32_t)b << 16;
}

LANE uint32_t u32_cvt_pk_u16(uint32_t a, uint32_t b)
{
    return u32_min(a, 0xffff) | u32_min(b, 0xffff) << 16;
}

LANE uint32_t i32_clamp_i16(uint32_t a)
{
    return i32_max(i32_min(a, 32767), (uint32_t)-32768) & 0xffff;
}

LANE uint32_t i32_cvt_pk_i16(uint32_t a, uint32_t b)
{
    return i32_clamp_i16(a) | i32_clamp_i16(b) << 16;
}

LANE uint32_t i16_sat_u8(uint32_t a)
{
    const uint32_t x = (uint32_t)(int32_t)(int16_t)a;
    return i32_max(i32_min(x, 255), 0);
}

LANE uint32_t u32_sat_pk_u8_i16(uint32_t a)
{
    return i16_sat_u8(a & 0xffff) | i16_sat_u8(a >> 16) << 8;
}

/* ---- 16 bits: the low half in, the low half out ---- */

LANE uint32_t u16_add(uint16_t a, uint16_t b)
{
    return (uint32_t)a + b;
}

LANE uint32_t u16_sub(uint16_t a, uint16_t b)
{
    return (uint32_t)a - b;
}

LANE uint32_t u16_subrev(uint16_t a, uint16_t b)
{
    return (uint32_t)b - a;
}

LANE uint32_t u16_mul_lo(uint16_t a, uint16_t b)
{
    return (uint32_t)a * b;
}

LANE uint32_t u16_mad(uint16_t a, uint16_t b, uint16_t c)
{
    return (uint32_t)a * b + c;
}

LANE uint32_t u16_lshlrev(uint16_t a, uint16_t b)
{
    return (uint32_t)b << (a & 15);
}

LANE uint32_t u16_lshrrev(uint16_t a, uint16_t b)
{
    return (uint32_t)b >> (a & 15);
}

LANE uint32_t i16_ashrrev(uint16_t a, uint16_t b)
{
    return (uint32_t)((int32_t)(int16_t)b >> (a & 15));
}

LANE uint32_t u16_min(uint16_t a, uint16_t b)
{
    return a < b ? a : b;
}

LANE uint32_t u16_max(uint16_t a, uint16_t b)
{
    return a > b ? a : b;
}

LANE uint32_t i16_min(uint16_t a, uint16_t b)
{
    return (int16_t)a < (int16_t)b ? a : b;
}

LANE uint32_t i16_max(uint16_t a, uint16_t b)
{
    return (int16_t)a > (int16_t)b ? a : b;
}

LANE uint32_t u16_min3(uint16_t a, uint16_t b, uint16_t c)
{
    return u32_min3(a, b, c);
}

LANE uint32_t u16_max3(uint16_t a, uint16_t b, uint16_t c)
{
    return u32_max3(a, b, c);
}

LANE uint32_t u16_med3(uint16_t a, uint16_t b, uint16_t c)
{
    return u32_med3(a, b, c);
}

LANE uint32_t i16_wide(uint16_t a)
{
    return (uint32_t)(int32_t)(int16_t)a;
}

LANE uint32_t i16_min3(uint16_t a, uint16_t b, uint16_t c)
{
    return i32_min3(i16_wide(a), i16_wide(b), i16_wide(c));
}

LANE uint32_t i16_max3(uint16_t a, uint16_t b, uint16_t c)
{
    return i32_max3(i16_wide(a), i16_wide(b), i16_wide(c));
}

LANE uint32_t i16_med3(uint16_t a, uint16_t b, uint16_t c)
{
    return i32_med3(i16_wide(a), i16_wide(b), i16_wide(c));
}

/* ---- 64 bits ---- */

LANE uint64_t u64_mov(uint64_t a)
{
    return a;
}

LANE uint64_t u64_lshlrev(uint32_t a, uint64_t b)
{
    return b << (a & 63);
}

LANE uint64_t u64_lshrrev(uint32_t a, uint64_t b)
{
    return b >> (a & 63);
}

LANE uint64_t i64_ashrrev(uint32_t a, uint64_t b)
{
    return (uint64_t)((int64_t)b >> (a & 63));
}

/* ---- sums of absolute differences ---- */

LANE uint32_t u32_absdiff(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

LANE uint32_t u32_byte(uint32_t a, int k)
{
    return a >> 8 * k & 0xff;
}

LANE uint32_t u8_sad4(uint32_t a, uint32_t b)
{
    return u32_absdiff(u32_byte(a, 0), u32_byte(b, 0)) + u32_absdiff(u32_byte(a, 1), u32_byte(b, 1)) +
           u32_absdiff(u32_byte(a, 2), u32_byte(b, 2)) + u32_absdiff(u32_byte(a, 3), u32_byte(b, 3));
}

LANE uint32_t u8_masked_absdiff(uint32_t a, uint32_t b)
{
    return b ? u32_absdiff(a, b) : 0;
}

LANE uint32_t u8_msad4(uint32_t a, uint32_t b)
{
    return u8_masked_absdiff(u32_byte(a, 0), u32_byte(b, 0)) +
           u8_masked_absdiff(u32_byte(a, 1), u32_byte(b, 1)) +
           u8_masked_absdiff(u32_byte(a, 2), u32_byte(b, 2)) +
           u8_masked_absdiff(u32_byte(a, 3), u32_byte(b, 3));
}

LANE uint32_t u16_sad2(uint32_t a, uint32_t b)
{
    return u32_absdiff(a & 0xffff, b & 0xffff) + u32_absdiff(a >> 16, b >> 16);
}

LANE uint32_t u32_sad_u8(uint32_t a, uint32_t b, uint32_t c)
{
    return u8_sad4(a, b) + c;
}

LANE uint32_t u32_sad_hi_u8(uint32_t a, uint32_t b, uint32_t c)
{
    return (u8_sad4(a, b) << 16) + c;
}

LANE uint32_t u32_sad_u16(uint32_t a, uint32_t b, uint32_t c)
{
    return u16_sad2(a, b) + c;
}

LANE uint32_t u32_sad_u32(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_absdiff(a, b) + c;
}

LANE uint32_t u32_msad_u8(uint32_t a, uint32_t b, uint32_t c)
{
    return u8_msad4(a, b) + c;
}

LANE uint64_t u64_qsad(uint64_t a, uint32_t b, uint64_t c)
{
    uint64_t r = 0;
    for (int k = 0; k < 4; k++)
        r |= (uint64_t)((u8_sad4((uint32_t)(a >> 8 * k), b) + (uint32_t)(c >> 16 * k & 0xffff)) & 0xffff)
             << 16 * k;
    return r;
}

/* Averages of bytes, rounded up where c has a one at the bottom of the byte. */
LANE uint32_t u32_lerp_u8(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t r = 0;
    for (int k = 0; k < 4; k++)
        r |= (u32_byte(a, k) + u32_byte(b, k) + (c >> 8 * k & 1)) >> 1 << 8 * k;
    return r;
}

/* ---- dot products that accumulate ---- */

LANE uint32_t i32_dot2_i16(uint32_t a, uint32_t b, uint32_t c)
{
    return c + (uint32_t)((int32_t)(int16_t)a * (int16_t)b) +
           (uint32_t)((int32_t)(int16_t)(a >> 16) * (int16_t)(b >> 16));
}

LANE uint32_t i32_dot4_i8(uint32_t a, uint32_t b, uint32_t c)
{
    for (int k = 0; k < 4; k++)
        c += (uint32_t)((int8_t)(a >> 8 * k) * (int8_t)(b >> 8 * k));
    return c;
}

LANE int32_t i4_at(uint32_t a, int k)
{
    return (int32_t)(a << (28 - 4 * k)) >> 28;
}

LANE uint32_t i32_dot8_i4(uint32_t a, uint32_t b, uint32_t c)
{
    for (int k = 0; k < 8; k++)
        c += (uint32_t)(i4_at(a, k) * i4_at(b, k));
    return c;
}

/* ---- with the clamp bit: the exact result, saturated to the type ---- */

LANE uint32_t i64_saturate_i32(int64_t x)
{
    return (uint32_t)(int32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

LANE uint32_t i64_saturate_u32(int64_t x)
{
    return (uint32_t)(x > UINT32_MAX ? UINT32_MAX : x < 0 ? 0 : x);
}

LANE uint32_t i32_saturate_i16(int32_t x)
{
    return (uint32_t)(x > 32767 ? 32767 : x < -32768 ? -32768 : x) & 0xffff;
}

LANE uint32_t i32_saturate_u16(int32_t x)
{
    return (uint32_t)(x > 65535 ? 65535 : x < 0 ? 0 : x);
}

LANE uint32_t u32_add_sat(uint32_t a, uint32_t b)
{
    const uint32_t r = a + b;
    return r < a ? ~0u : r;
}

LANE uint32_t u32_sub_sat(uint32_t a, uint32_t b)
{
    return a > b ? a - b : 0;
}

LANE uint32_t u32_subrev_sat(uint32_t a, uint32_t b)
{
    return u32_sub_sat(b, a);
}

LANE uint32_t i32_add_sat(uint32_t a, uint32_t b)
{
    return i64_saturate_i32((int64_t)(int32_t)a + (int32_t)b);
}

LANE uint32_t i32_sub_sat(uint32_t a, uint32_t b)
{
    return i64_saturate_i32((int64_t)(int32_t)a - (int32_t)b);
}

LANE uint32_t u24_mul_sat(uint32_t a, uint32_t b)
{
    return i64_saturate_u32((int64_t)u24(a) * u24(b));
}

LANE uint32_t i24_mul_sat(uint32_t a, uint32_t b)
{
    return i64_saturate_i32((int64_t)i24(a) * i24(b));
}

LANE uint32_t u24_mad_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return i64_saturate_u32((int64_t)u24(a) * u24(b) + c);
}

LANE uint32_t i24_mad_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return i64_saturate_i32((int64_t)i24(a) * i24(b) + (int32_t)c);
}

LANE uint32_t u32_mad_u16_sat(uint16_t a, uint16_t b, uint32_t c)
{
    return u32_add_sat((uint32_t)a * b, c);
}

LANE uint32_t i32_mad_i16_sat(uint16_t a, uint16_t b, uint32_t c)
{
    return i32_add_sat((uint32_t)((int32_t)(int16_t)a * (int16_t)b), c);
}

LANE uint32_t u16_add_sat(uint16_t a, uint16_t b)
{
    return i32_saturate_u16(a + b);
}

LANE uint32_t u16_sub_sat(uint16_t a, uint16_t b)
{
    return i32_saturate_u16(a - b);
}

LANE uint32_t u16_subrev_sat(uint16_t a, uint16_t b)
{
    return i32_saturate_u16(b - a);
}

LANE uint32_t u16_mul_sat(uint16_t a, uint16_t b)
{
    return u32_min((uint32_t)a * b, 65535);
}

LANE uint32_t u16_mad_sat(uint16_t a, uint16_t b, uint16_t c)
{
    return u32_min((uint32_t)a * b + c, 65535); /* 65535 * 65535 + 65535 fits */
}

LANE uint32_t i16_add_sat(uint16_t a, uint16_t b)
{
    return i32_saturate_i16((int16_t)a + (int16_t)b);
}

LANE uint32_t i16_sub_sat(uint16_t a, uint16_t b)
{
    return i32_saturate_i16((int16_t)a - (int16_t)b);
}

LANE uint32_t i16_mad_sat(uint16_t a, uint16_t b, uint16_t c)
{
    return i32_saturate_i16((int16_t)a * (int16_t)b + (int16_t)c);
}

LANE uint32_t u32_sad_u8_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_add_sat(u8_sad4(a, b), c);
}

LANE uint32_t u32_sad_hi_u8_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_add_sat(u8_sad4(a, b) << 16, c);
}

LANE uint32_t u32_sad_u16_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_add_sat(u16_sad2(a, b), c);
}

LANE uint32_t u32_sad_u32_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_add_sat(u32_absdiff(a, b), c);
}

LANE uint32_t u32_msad_u8_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return u32_add_sat(u8_msad4(a, b), c);
}

LANE uint64_t u64_qsad_sat(uint64_t a, uint32_t b, uint64_t c)
{
    uint64_t r = 0;
    for (int k = 0; k < 4; k++)
        r |= (uint64_t)u32_min(u8_sad4((uint32_t)(a >> 8 * k), b) + (uint32_t)(c >> 16 * k & 0xffff), 0xffff)
             << 16 * k;
    return r;
}

LANE uint32_t i32_dot2_i16_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return i64_saturate_i32((int64_t)(int32_t)c + (int64_t)((int16_t)a * (int16_t)b) +
                            (int64_t)((int16_t)(a >> 16) * (int16_t)(b >> 16)));
}

LANE uint32_t i32_dot4_i8_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return i32_add_sat(i32_dot4_i8(a, b, 0), c);
}

LANE uint32_t i32_dot8_i4_sat(uint32_t a, uint32_t b, uint32_t c)
{
    return i32_add_sat(i32_dot8_i4(a, b, 0), c);
}

#endif
