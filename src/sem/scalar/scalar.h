/* SPDX-License-Identifier: MIT */
/*
 * What the scalar ALU's instructions mean: pure functions of operands and SCC.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 12.1 to 12.4 (SOP2, SOPK, SOP1, SOPC).
 */
#ifndef EHP_SEM_SCALAR_SCALAR_H
#define EHP_SEM_SCALAR_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

/* ---- two operands, 32 bits ---- */

static inline uint32_t s_add_u32(uint32_t a, uint32_t b, bool *scc)
{
    uint64_t r = (uint64_t)a + b;
    *scc = r >> 32;
    return (uint32_t)r;
}

static inline uint32_t s_sub_u32(uint32_t a, uint32_t b, bool *scc)
{
    *scc = b > a;
    return a - b;
}

static inline uint32_t s_add_i32(uint32_t a, uint32_t b, bool *scc)
{
    int32_t r;
    *scc = __builtin_add_overflow((int32_t)a, (int32_t)b, &r);
    return (uint32_t)r;
}

static inline uint32_t s_sub_i32(uint32_t a, uint32_t b, bool *scc)
{
    int32_t r;
    *scc = __builtin_sub_overflow((int32_t)a, (int32_t)b, &r);
    return (uint32_t)r;
}

static inline uint32_t s_addc_u32(uint32_t a, uint32_t b, bool *scc)
{
    uint64_t r = (uint64_t)a + b + *scc;
    *scc = r >> 32;
    return (uint32_t)r;
}

static inline uint32_t s_subb_u32(uint32_t a, uint32_t b, bool *scc)
{
    uint64_t subtrahend = (uint64_t)b + *scc;
    *scc = subtrahend > a;
    return (uint32_t)(a - subtrahend);
}

static inline uint32_t s_min_i32(uint32_t a, uint32_t b, bool *scc)
{
    *scc = (int32_t)a < (int32_t)b;
    return *scc ? a : b;
}

static inline uint32_t s_min_u32(uint32_t a, uint32_t b, bool *scc)
{
    *scc = a < b;
    return *scc ? a : b;
}

static inline uint32_t s_max_i32(uint32_t a, uint32_t b, bool *scc)
{
    *scc = (int32_t)a >= (int32_t)b;
    return *scc ? a : b;
}

static inline uint32_t s_max_u32(uint32_t a, uint32_t b, bool *scc)
{
    *scc = a >= b;
    return *scc ? a : b;
}

static inline uint32_t s_cselect_b32(uint32_t a, uint32_t b, bool *scc)
{
    return *scc ? a : b;
}

static inline uint64_t s_cselect_b64(uint64_t a, uint64_t b, bool *scc)
{
    return *scc ? a : b;
}

/* Bitwise operations: SCC tells whether the result is not zero. */
#define SEM_SCALAR_LOGIC(name, expression)                                                                   \
    static inline uint32_t s_##name##_b32(uint32_t a, uint32_t b, bool *scc)                                 \
    {                                                                                                        \
        uint32_t r = (expression);                                                                           \
        *scc = r != 0;                                                                                       \
        return r;                                                                                            \
    }                                                                                                        \
    static inline uint64_t s_##name##_b64(uint64_t a, uint64_t b, bool *scc)                                 \
    {                                                                                                        \
        uint64_t r = (expression);                                                                           \
        *scc = r != 0;                                                                                       \
        return r;                                                                                            \
    }
SEM_SCALAR_LOGIC(and, a &b)
SEM_SCALAR_LOGIC(or, a | b)
SEM_SCALAR_LOGIC(xor, a ^ b)
SEM_SCALAR_LOGIC(andn2, a & ~b)
SEM_SCALAR_LOGIC(orn2, a | ~b)
SEM_SCALAR_LOGIC(nand, ~(a &b))
SEM_SCALAR_LOGIC(nor, ~(a | b))
SEM_SCALAR_LOGIC(xnor, ~(a ^ b))
#undef SEM_SCALAR_LOGIC

static inline uint32_t s_lshl_b32(uint32_t a, uint32_t b, bool *scc)
{
    uint32_t r = a << (b & 31);
    *scc = r != 0;
    return r;
}

static inline uint32_t s_lshr_b32(uint32_t a, uint32_t b, bool *scc)
{
    uint32_t r = a >> (b & 31);
    *scc = r != 0;
    return r;
}

static inline uint32_t s_ashr_i32(uint32_t a, uint32_t b, bool *scc)
{
    uint32_t r = (uint32_t)((int32_t)a >> (b & 31));
    *scc = r != 0;
    return r;
}

static inline uint64_t s_lshl_b64(uint64_t a, uint32_t b, bool *scc)
{
    uint64_t r = a << (b & 63);
    *scc = r != 0;
    return r;
}

static inline uint64_t s_lshr_b64(uint64_t a, uint32_t b, bool *scc)
{
    uint64_t r = a >> (b & 63);
    *scc = r != 0;
    return r;
}

static inline uint64_t s_ashr_i64(uint64_t a, uint32_t b, bool *scc)
{
    uint64_t r = (uint64_t)((int64_t)a >> (b & 63));
    *scc = r != 0;
    return r;
}

static inline uint32_t s_bfm_b32(uint32_t a, uint32_t b, bool *scc)
{
    (void)scc;
    return ((1u << (a & 31)) - 1) << (b & 31);
}

static inline uint64_t s_bfm_b64(uint32_t a, uint32_t b, bool *scc)
{
    (void)scc;
    return ((UINT64_C(1) << (a & 63)) - 1) << (b & 63);
}

static inline uint32_t s_mul_i32(uint32_t a, uint32_t b, bool *scc)
{
    (void)scc;
    return a * b;
}

static inline uint32_t s_mul_hi_u32(uint32_t a, uint32_t b, bool *scc)
{
    (void)scc;
    return (uint32_t)(((uint64_t)a * b) >> 32);
}

static inline uint32_t s_mul_hi_i32(uint32_t a, uint32_t b, bool *scc)
{
    (void)scc;
    return (uint32_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32);
}

/* Bit field extract: offset in b[5:0] (b[4:0]), width in b[22:16]. */
static inline uint64_t scalar_bfe(uint64_t a, unsigned offset, unsigned width, unsigned bits, bool is_signed)
{
    if (width > bits - offset)
        width = bits - offset; /* the field ends with the register: its top bit is the sign */
    const unsigned up = (64 - width) & 63;
    const uint64_t field = (a >> offset) << up;
    const uint64_t r = is_signed ? (uint64_t)((int64_t)field >> up) : field >> up;
    return width ? r : 0;
}

static inline uint32_t s_bfe_u32(uint32_t a, uint32_t b, bool *scc)
{
    uint32_t r = (uint32_t)scalar_bfe(a, b & 31, b >> 16 & 0x7f, 32, false);
    *scc = r != 0;
    return r;
}

static inline uint32_t s_bfe_i32(uint32_t a, uint32_t b, bool *scc)
{
    uint32_t r = (uint32_t)scalar_bfe(a, b & 31, b >> 16 & 0x7f, 32, true);
    *scc = r != 0;
    return r;
}

static inline uint64_t s_bfe_u64(uint64_t a, uint32_t b, bool *scc)
{
    uint64_t r = scalar_bfe(a, b & 63, b >> 16 & 0x7f, 64, false);
    *scc = r != 0;
    return r;
}

static inline uint64_t s_bfe_i64(uint64_t a, uint32_t b, bool *scc)
{
    uint64_t r = scalar_bfe(a, b & 63, b >> 16 & 0x7f, 64, true);
    *scc = r != 0;
    return r;
}

static inline uint32_t s_absdiff_i32(uint32_t a, uint32_t b, bool *scc)
{
    int32_t difference = (int32_t)(a - b);
    uint32_t r = difference < 0 ? 0u - (uint32_t)difference : (uint32_t)difference;
    *scc = r != 0;
    return r;
}

#define SEM_SCALAR_LSHL_ADD(n)                                                                               \
    static inline uint32_t s_lshl##n##_add_u32(uint32_t a, uint32_t b, bool *scc)                            \
    {                                                                                                        \
        uint64_t r = ((uint64_t)a << n) + b;                                                                 \
        *scc = r >> 32 != 0;                                                                                 \
        return (uint32_t)r;                                                                                  \
    }
SEM_SCALAR_LSHL_ADD(1)
SEM_SCALAR_LSHL_ADD(2)
SEM_SCALAR_LSHL_ADD(3)
SEM_SCALAR_LSHL_ADD(4)
#undef SEM_SCALAR_LSHL_ADD

static inline uint32_t s_pack_ll_b32_b16(uint32_t a, uint32_t b, bool *scc)
{
    (void)scc;
    return (a & 0xffff) | b << 16;
}

static inline uint32_t s_pack_lh_b32_b16(uint32_t a, uint32_t b, bool *scc)
{
    (void)scc;
    return (a & 0xffff) | (b & 0xffff0000);
}

static inline uint32_t s_pack_hh_b32_b16(uint32_t a, uint32_t b, bool *scc)
{
    (void)scc;
    return a >> 16 | (b & 0xffff0000);
}

/* Of the destination before and the constant of SOPK. */
static inline uint32_t s_second_b32(uint32_t a, uint32_t b, bool *scc)
{
    (void)a, (void)scc;
    return b;
}

static inline uint32_t s_cselectk_b32(uint32_t a, uint32_t b, bool *scc)
{
    return *scc ? b : a;
}

/* ---- one operand ---- */

static inline uint32_t s_mov_b32(uint32_t a, bool *scc)
{
    (void)scc;
    return a;
}

static inline uint64_t s_mov_b64(uint64_t a, bool *scc)
{
    (void)scc;
    return a;
}

static inline uint32_t s_not_b32(uint32_t a, bool *scc)
{
    *scc = ~a != 0;
    return ~a;
}

static inline uint64_t s_not_b64(uint64_t a, bool *scc)
{
    *scc = ~a != 0;
    return ~a;
}

/* Whole quad mode: a group of four bits becomes all ones when any is set. */
static inline uint64_t s_wqm_b64(uint64_t a, bool *scc)
{
    uint64_t any = (a | a >> 1 | a >> 2 | a >> 3) & UINT64_C(0x1111111111111111);
    uint64_t r = any * 15;
    *scc = r != 0;
    return r;
}

static inline uint32_t s_wqm_b32(uint32_t a, bool *scc)
{
    return (uint32_t)s_wqm_b64(a, scc);
}

static inline uint64_t s_quadmask_b64(uint64_t a, bool *scc)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 16; i++)
        r |= (uint64_t)((a >> 4 * i & 15) != 0) << i;
    *scc = r != 0;
    return r;
}

static inline uint32_t s_quadmask_b32(uint32_t a, bool *scc)
{
    return (uint32_t)s_quadmask_b64(a, scc);
}

static inline uint64_t s_brev_b64(uint64_t a, bool *scc)
{
    (void)scc;
    a = (a >> 1 & UINT64_C(0x5555555555555555)) | (a & UINT64_C(0x5555555555555555)) << 1;
    a = (a >> 2 & UINT64_C(0x3333333333333333)) | (a & UINT64_C(0x3333333333333333)) << 2;
    a = (a >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (a & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(a);
}

static inline uint32_t s_brev_b32(uint32_t a, bool *scc)
{
    return (uint32_t)(s_brev_b64(a, scc) >> 32);
}

static inline uint32_t s_bcnt1_i32_b32(uint32_t a, bool *scc)
{
    uint32_t r = (uint32_t)__builtin_popcount(a);
    *scc = r != 0;
    return r;
}

static inline uint32_t s_bcnt1_i32_b64(uint64_t a, bool *scc)
{
    uint32_t r = (uint32_t)__builtin_popcountll(a);
    *scc = r != 0;
    return r;
}

static inline uint32_t s_bcnt0_i32_b32(uint32_t a, bool *scc)
{
    return s_bcnt1_i32_b32(~a, scc);
}

static inline uint32_t s_bcnt0_i32_b64(uint64_t a, bool *scc)
{
    return s_bcnt1_i32_b64(~a, scc);
}

/* Find first: -1 when there is none. */
static inline uint32_t s_ff1_i32_b64(uint64_t a, bool *scc)
{
    (void)scc;
    return a ? (uint32_t)__builtin_ctzll(a) : UINT32_MAX;
}

static inline uint32_t s_ff1_i32_b32(uint32_t a, bool *scc)
{
    return s_ff1_i32_b64(a, scc);
}

static inline uint32_t s_ff0_i32_b64(uint64_t a, bool *scc)
{
    return s_ff1_i32_b64(~a, scc);
}

static inline uint32_t s_ff0_i32_b32(uint32_t a, bool *scc)
{
    return s_ff1_i32_b32(~a, scc);
}

/* Find last: counts from the most significant bit. */
static inline uint32_t s_flbit_i32_b32(uint32_t a, bool *scc)
{
    (void)scc;
    return a ? (uint32_t)__builtin_clz(a) : UINT32_MAX;
}

static inline uint32_t s_flbit_i32_b64(uint64_t a, bool *scc)
{
    (void)scc;
    return a ? (uint32_t)__builtin_clzll(a) : UINT32_MAX;
}

static inline uint32_t s_flbit_i32(uint32_t a, bool *scc)
{
    return s_flbit_i32_b32((int32_t)a < 0 ? ~a : a, scc);
}

static inline uint32_t s_flbit_i32_i64(uint64_t a, bool *scc)
{
    return s_flbit_i32_b64((int64_t)a < 0 ? ~a : a, scc);
}

static inline uint32_t s_sext_i32_i8(uint32_t a, bool *scc)
{
    (void)scc;
    return (uint32_t)(int32_t)(int8_t)a;
}

static inline uint32_t s_sext_i32_i16(uint32_t a, bool *scc)
{
    (void)scc;
    return (uint32_t)(int32_t)(int16_t)a;
}

static inline uint32_t s_abs_i32(uint32_t a, bool *scc)
{
    uint32_t r = (int32_t)a < 0 ? 0u - a : a;
    *scc = r != 0;
    return r;
}

/* Each bit twice, low half of the register pair only. */
static inline uint64_t s_bitreplicate_b64_b32(uint32_t a, bool *scc)
{
    (void)scc;
    uint64_t r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (uint64_t)(a >> i & 1) * 3 << 2 * i;
    return r;
}

#endif
