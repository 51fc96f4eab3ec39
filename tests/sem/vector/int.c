/* SPDX-License-Identifier: MIT */
/*
 * Integer instructions of the vector ALU against wide host arithmetic and
 * bit-by-bit loops.
 */
#include "vop.h"

typedef __int128 wide;

static uint64_t bits_from(uint64_t v, unsigned lo, unsigned n)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < n; k++)
        if (lo + k < 64 && v >> (lo + k) & 1)
            r |= UINT64_C(1) << k;
    return r;
}

static wide sext(uint64_t v, unsigned bits)
{
    const wide r = (wide)bits_from(v, 0, bits);
    return bits_from(v, bits - 1, 1) ? r - ((wide)1 << bits) : r;
}

static uint64_t low(wide v, unsigned bits)
{
    return bits_from((uint64_t)v, 0, bits);
}

static uint64_t saturate(wide v, unsigned bits, bool is_signed)
{
    const wide top = is_signed ? ((wide)1 << (bits - 1)) - 1 : ((wide)1 << bits) - 1;
    const wide bottom = is_signed ? -((wide)1 << (bits - 1)) : 0;
    return low(v > top ? top : v < bottom ? bottom : v, bits);
}

static int count(uint64_t v, unsigned lo, unsigned n)
{
    int r = 0;
    for (unsigned k = lo; k < lo + n; k++)
        r += (int)(v >> k & 1);
    return r;
}

static uint32_t first_from_top(uint32_t v, bool as_signed)
{
    const uint32_t flip = as_signed && v >> 31 ? ~0u : 0;
    for (uint32_t k = 0; k < 32; k++)
        if ((v ^ flip) >> (31 - k) & 1)
            return k;
    return ~0u;
}

static uint32_t first_from_bottom(uint32_t v)
{
    for (uint32_t k = 0; k < 32; k++)
        if (v >> k & 1)
            return k;
    return ~0u;
}

static uint32_t reversed(uint32_t v)
{
    uint32_t r = 0;
    for (int k = 0; k < 32; k++)
        r |= (v >> k & 1) << (31 - k);
    return r;
}

static wide least(wide a, wide b)
{
    return a < b ? a : b;
}

static wide most(wide a, wide b)
{
    return a > b ? a : b;
}

static wide median(wide a, wide b, wide c)
{
    return a + b + c - least(least(a, b), c) - most(most(a, b), c);
}

static wide distance(wide a, wide b)
{
    return a > b ? a - b : b - a;
}

static wide sad8(uint64_t a, uint64_t b, bool masked)
{
    wide r = 0;
    for (unsigned k = 0; k < 32; k += 8)
        if (!masked || bits_from(b, k, 8))
            r += distance((wide)bits_from(a, k, 8), (wide)bits_from(b, k, 8));
    return r;
}

static uint64_t qsad(uint64_t a, uint64_t b, uint64_t c, bool masked, bool clamp)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < 4; k++) {
        const wide s = sad8(bits_from(a, 8 * k, 32), b, masked) + (wide)bits_from(c, 16 * k, 16);
        r |= (clamp ? saturate(s, 16, false) : low(s, 16)) << 16 * k;
    }
    return r;
}

static uint32_t permuted(uint64_t a, uint64_t b, uint64_t c)
{
    uint8_t byte[8];
    uint32_t r = 0;
    for (unsigned k = 0; k < 4; k++) {
        byte[k] = (uint8_t)(b >> 8 * k);
        byte[k + 4] = (uint8_t)(a >> 8 * k);
    }
    for (unsigned k = 0; k < 4; k++) {
        const uint8_t sel = (uint8_t)(c >> 8 * k);
        uint8_t v;
        if (sel >= 13)
            v = 0xff;
        else if (sel == 12)
            v = 0;
        else if (sel >= 8)
            v = byte[(sel - 8) * 2 + 1] & 0x80 ? 0xff : 0;
        else
            v = byte[sel];
        r |= (uint32_t)v << 8 * k;
    }
    return r;
}

static uint32_t averages(uint64_t a, uint64_t b, uint64_t c)
{
    uint32_t r = 0;
    for (unsigned k = 0; k < 32; k += 8)
        r |= (uint32_t)((bits_from(a, k, 8) + bits_from(b, k, 8) + bits_from(c, k, 1)) / 2) << k;
    return r;
}

static wide dot(uint64_t a, uint64_t b, unsigned bits)
{
    wide r = 0;
    for (unsigned k = 0; k < 32; k += bits)
        r += sext(bits_from(a, k, bits), bits) * sext(bits_from(b, k, bits), bits);
    return r;
}

static uint64_t kept(uint64_t old, uint64_t half)
{
    return (old & 0xffff0000) | (half & 0xffff);
}

#define A16         bits_from(a, 0, 16)
#define B16         bits_from(b, 0, 16)
#define C16         bits_from(c, 0, 16)
#define S16(v)      sext(v, 16)
#define S32(v)      sext(v, 32)
#define A24         ((wide)bits_from(a, 0, 24))
#define B24         ((wide)bits_from(b, 0, 24))
#define SHIFT(v, n) ((unsigned)bits_from(v, 0, n))

#define OPS(X)                                                                                               \
    X(v_mov_b32, "u", "u", a)                                                                                \
    X(v_accvgpr_mov_b32, "u", "u", a)                                                                        \
    X(v_mov_b64, "q", "q", a)                                                                                \
    X(v_not_b32, "u", "u", low(-1 - (wide)a, 32))                                                            \
    X(v_bfrev_b32, "u", "u", reversed((uint32_t)a))                                                          \
    X(v_ffbh_u32, "u", "u", first_from_top((uint32_t)a, false))                                              \
    X(v_ffbh_i32, "u", "u", first_from_top((uint32_t)a, true))                                               \
    X(v_ffbl_b32, "u", "u", first_from_bottom((uint32_t)a))                                                  \
    X(v_sat_pk_u8_i16, "h", "u",                                                                             \
      saturate(sext(a, 16), 8, false) | saturate(sext(a >> 16, 16), 8, false) << 8)                          \
    X(v_add_u32, "u", "uu", low((wide)a + (wide)b, 32))                                                      \
    X(v_sub_u32, "u", "uu", low((wide)a - (wide)b, 32))                                                      \
    X(v_subrev_u32, "u", "uu", low((wide)b - (wide)a, 32))                                                   \
    X(v_add_i32, "u", "uu", low((wide)a + (wide)b, 32))                                                      \
    X(v_sub_i32, "u", "uu", low((wide)a - (wide)b, 32))                                                      \
    X(v_and_b32, "u", "uu", a &b)                                                                            \
    X(v_or_b32, "u", "uu", a | b)                                                                            \
    X(v_xor_b32, "u", "uu", (a | b) - (a & b))                                                               \
    X(v_xnor_b32, "u", "uu", 0xffffffff - ((a | b) - (a & b)))                                               \
    X(v_lshlrev_b32, "u", "uu", low((wide)b << SHIFT(a, 5), 32))                                             \
    X(v_lshrrev_b32, "u", "uu", b / (UINT64_C(1) << SHIFT(a, 5)))                                            \
    X(v_ashrrev_i32, "u", "uu", low(S32(b) >> SHIFT(a, 5), 32))                                              \
    X(v_min_i32, "u", "uu", low(least(S32(a), S32(b)), 32))                                                  \
    X(v_max_i32, "u", "uu", low(most(S32(a), S32(b)), 32))                                                   \
    X(v_min_u32, "u", "uu", least((wide)a, (wide)b))                                                         \
    X(v_max_u32, "u", "uu", most((wide)a, (wide)b))                                                          \
    X(v_mul_lo_u32, "u", "uu", low((wide)a *(wide)b, 32))                                                    \
    X(v_mul_hi_u32, "u", "uu", low((wide)a *(wide)b >> 32, 32))                                              \
    X(v_mul_hi_i32, "u", "uu", low(S32(a) * S32(b) >> 32, 32))                                               \
    X(v_mul_u32_u24, "u", "uu", x->clamp ? saturate(A24 *B24, 32, false) : low(A24 *B24, 32))                \
    X(v_mul_hi_u32_u24, "u", "uu", low(A24 *B24 >> 32, 32))                                                  \
    X(v_mul_i32_i24, "u", "uu",                                                                              \
      x->clamp ? saturate(sext(a, 24) * sext(b, 24), 32, true) : low(sext(a, 24) * sext(b, 24), 32))         \
    X(v_mul_hi_i32_i24, "u", "uu", low(sext(a, 24) * sext(b, 24) >> 32, 32))                                 \
    X(v_bfm_b32, "u", "uu", low((((wide)1 << SHIFT(a, 5)) - 1) << SHIFT(b, 5), 32))                          \
    X(v_bcnt_u32_b32, "u", "uu", low((wide)count(a, 0, 32) + (wide)b, 32))                                   \
    X(v_mbcnt_lo_u32_b32, "u", "uu",                                                                         \
      low((wide)count(a, 0, x->lane < 32 ? (unsigned)x->lane : 32) + (wide)b, 32))                           \
    X(v_mbcnt_hi_u32_b32, "u", "uu",                                                                         \
      low((wide)count(a, 0, x->lane < 32 ? 0 : (unsigned)x->lane - 32) + (wide)b, 32))                       \
    X(v_lshlrev_b64, "q", "uq", low((wide)b << SHIFT(a, 6), 64))                                             \
    X(v_lshrrev_b64, "q", "uq", bits_from(b, SHIFT(a, 6), 64))                                               \
    X(v_ashrrev_i64, "q", "uq", low(sext(b, 64) >> SHIFT(a, 6), 64))                                         \
    X(v_cvt_pk_u16_u32, "u", "uu", saturate((wide)a, 16, false) | saturate((wide)b, 16, false) << 16)        \
    X(v_cvt_pk_i16_i32, "u", "uu", saturate(S32(a), 16, true) | saturate(S32(b), 16, true) << 16)            \
    X(v_pack_b32_f16, "u", "hh", A16 | B16 << 16)                                                            \
    X(v_mad_u32_u24, "u", "uuu",                                                                             \
      x->clamp ? saturate(A24 *B24 + (wide)c, 32, false) : low(A24 *B24 + (wide)c, 32))                      \
    X(v_mad_i32_i24, "u", "uuu",                                                                             \
      x->clamp ? saturate(sext(a, 24) * sext(b, 24) + S32(c), 32, true)                                      \
               : low(sext(a, 24) * sext(b, 24) + S32(c), 32))                                                \
    X(v_mad_u32_u16, "u", "hhu",                                                                             \
      x->clamp ? saturate((wide)(A16 * B16) + (wide)c, 32, false) : low((wide)(A16 * B16) + (wide)c, 32))    \
    X(v_mad_i32_i16, "u", "hhu",                                                                             \
      x->clamp ? saturate(S16(a) * S16(b) + S32(c), 32, true) : low(S16(a) * S16(b) + S32(c), 32))           \
    X(v_add3_u32, "u", "uuu", low((wide)a + (wide)b + (wide)c, 32))                                          \
    X(v_or3_b32, "u", "uuu", a | b | c)                                                                      \
    X(v_and_or_b32, "u", "uuu", (a & b) | c)                                                                 \
    X(v_lshl_or_b32, "u", "uuu", low((wide)a << SHIFT(b, 5), 32) | c)                                        \
    X(v_lshl_add_u32, "u", "uuu", low(((wide)a << SHIFT(b, 5)) + (wide)c, 32))                               \
    X(v_add_lshl_u32, "u", "uuu", low((wide)(a + b) << SHIFT(c, 5), 32))                                     \
    X(v_xad_u32, "u", "uuu", low((wide)(a ^ b) + (wide)c, 32))                                               \
    X(v_lshl_add_u64, "q", "quq", low((wide)(a << SHIFT(b, 3)) + (wide)c, 64))                               \
    X(v_min3_i32, "u", "uuu", low(least(least(S32(a), S32(b)), S32(c)), 32))                                 \
    X(v_max3_i32, "u", "uuu", low(most(most(S32(a), S32(b)), S32(c)), 32))                                   \
    X(v_med3_i32, "u", "uuu", low(median(S32(a), S32(b), S32(c)), 32))                                       \
    X(v_min3_u32, "u", "uuu", least(least((wide)a, (wide)b), (wide)c))                                       \
    X(v_max3_u32, "u", "uuu", most(most((wide)a, (wide)b), (wide)c))                                         \
    X(v_med3_u32, "u", "uuu", median((wide)a, (wide)b, (wide)c))                                             \
    X(v_bfe_u32, "u", "uuu", bits_from(a, SHIFT(b, 5), SHIFT(c, 5)))                                         \
    X(v_bfe_i32, "u", "uuu",                                                                                 \
      SHIFT(c, 5) ? low(sext((uint64_t)(S32(a) >> SHIFT(b, 5)), SHIFT(c, 5)), 32) : 0)                       \
    X(v_bfi_b32, "u", "uuu", c ^ (a & (b ^ c)))                                                              \
    X(v_alignbit_b32, "u", "uuu", bits_from(a << 32 | b, SHIFT(c, 5), 32))                                   \
    X(v_alignbyte_b32, "u", "uuu", bits_from(a << 32 | b, 8 * SHIFT(c, 2), 32))                              \
    X(v_lerp_u8, "u", "uuu", averages(a, b, c))                                                              \
    X(v_sad_u8, "u", "uuu",                                                                                  \
      x->clamp ? saturate(sad8(a, b, false) + (wide)c, 32, false) : low(sad8(a, b, false) + (wide)c, 32))    \
    X(v_sad_hi_u8, "u", "uuu",                                                                               \
      x->clamp ? saturate((sad8(a, b, false) << 16) + (wide)c, 32, false)                                    \
               : low((sad8(a, b, false) << 16) + (wide)c, 32))                                               \
    X(v_msad_u8, "u", "uuu",                                                                                 \
      x->clamp ? saturate(sad8(a, b, true) + (wide)c, 32, false) : low(sad8(a, b, true) + (wide)c, 32))      \
    X(v_sad_u16, "u", "uuu", sum_u16(a, b, c, x->clamp))                                                     \
    X(v_sad_u32, "u", "uuu",                                                                                 \
      x->clamp ? saturate(distance((wide)a, (wide)b) + (wide)c, 32, false)                                   \
               : low(distance((wide)a, (wide)b) + (wide)c, 32))                                              \
    X(v_qsad_pk_u16_u8, "q", "quq", qsad(a, b, c, false, x->clamp))                                          \
    X(v_mqsad_pk_u16_u8, "q", "quq", qsad(a, b, c, true, x->clamp))                                          \
    X(v_dot2c_i32_i16, "u", "uuu",                                                                           \
      x->clamp ? saturate(dot(a, b, 16) + S32(c), 32, true) : low(dot(a, b, 16) + S32(c), 32))               \
    X(v_dot4c_i32_i8, "u", "uuu",                                                                            \
      x->clamp ? saturate(dot(a, b, 8) + S32(c), 32, true) : low(dot(a, b, 8) + S32(c), 32))                 \
    X(v_dot8c_i32_i4, "u", "uuu",                                                                            \
      x->clamp ? saturate(dot(a, b, 4) + S32(c), 32, true) : low(dot(a, b, 4) + S32(c), 32))                 \
    X(v_add_u16, "h", "hh", x->clamp ? saturate((wide)(A16 + B16), 16, false) : low((wide)(A16 + B16), 16))  \
    X(v_sub_u16, "h", "hh",                                                                                  \
      x->clamp ? saturate((wide)A16 - (wide)B16, 16, false) : low((wide)A16 - (wide)B16, 16))                \
    X(v_subrev_u16, "h", "hh",                                                                               \
      x->clamp ? saturate((wide)B16 - (wide)A16, 16, false) : low((wide)B16 - (wide)A16, 16))                \
    X(v_mul_lo_u16, "h", "hh",                                                                               \
      x->clamp ? saturate((wide)(A16 * B16), 16, false) : low((wide)(A16 * B16), 16))                        \
    X(v_lshlrev_b16, "h", "hh", low((wide)B16 << SHIFT(a, 4), 16))                                           \
    X(v_lshrrev_b16, "h", "hh", B16 >> SHIFT(a, 4))                                                          \
    X(v_ashrrev_i16, "h", "hh", low(S16(b) >> SHIFT(a, 4), 16))                                              \
    X(v_min_u16, "h", "hh", least((wide)A16, (wide)B16))                                                     \
    X(v_max_u16, "h", "hh", most((wide)A16, (wide)B16))                                                      \
    X(v_min_i16, "h", "hh", low(least(S16(a), S16(b)), 16))                                                  \
    X(v_max_i16, "h", "hh", low(most(S16(a), S16(b)), 16))                                                   \
    X(v_mad_legacy_u16, "h", "hhh",                                                                          \
      x->clamp ? saturate((wide)(A16 * B16 + C16), 16, false) : low((wide)(A16 * B16 + C16), 16))            \
    X(v_mad_legacy_i16, "h", "hhh",                                                                          \
      x->clamp ? saturate(S16(a) * S16(b) + S16(c), 16, true) : low(S16(a) * S16(b) + S16(c), 16))           \
    X(v_add_i16, "h", "hh",                                                                                  \
      kept(old, x->clamp ? saturate(S16(a) + S16(b), 16, true) : low(S16(a) + S16(b), 16)))                  \
    X(v_sub_i16, "h", "hh",                                                                                  \
      kept(old, x->clamp ? saturate(S16(a) - S16(b), 16, true) : low(S16(a) - S16(b), 16)))                  \
    X(v_mad_u16, "h", "hhh",                                                                                 \
      kept(old, x->clamp ? saturate((wide)(A16 * B16 + C16), 16, false) : low((wide)(A16 * B16 + C16), 16))) \
    X(v_mad_i16, "h", "hhh",                                                                                 \
      kept(old,                                                                                              \
           x->clamp ? saturate(S16(a) * S16(b) + S16(c), 16, true) : low(S16(a) * S16(b) + S16(c), 16)))     \
    X(v_min3_u16, "h", "hhh", kept(old, (uint64_t)least(least((wide)A16, (wide)B16), (wide)C16)))            \
    X(v_max3_u16, "h", "hhh", kept(old, (uint64_t)most(most((wide)A16, (wide)B16), (wide)C16)))              \
    X(v_med3_u16, "h", "hhh", kept(old, (uint64_t)median((wide)A16, (wide)B16, (wide)C16)))                  \
    X(v_min3_i16, "h", "hhh", kept(old, (uint64_t)least(least(S16(a), S16(b)), S16(c))))                     \
    X(v_max3_i16, "h", "hhh", kept(old, (uint64_t)most(most(S16(a), S16(b)), S16(c))))                       \
    X(v_med3_i16, "h", "hhh", kept(old, (uint64_t)median(S16(a), S16(b), S16(c))))                           \
    X(v_perm_b32, "u", "uus", permuted(a, b, c))

static uint64_t sum_u16(uint64_t a, uint64_t b, uint64_t c, bool clamp)
{
    const wide s = distance((wide)bits_from(a, 0, 16), (wide)bits_from(b, 0, 16)) +
                   distance((wide)bits_from(a, 16, 16), (wide)bits_from(b, 16, 16)) + (wide)c;
    return clamp ? saturate(s, 32, false) : low(s, 32);
}

/* With clamp only those whose plain reference above has no clamp of its own. */
#define CLAMPED(X)                                                                                           \
    X(v_add_u32, "u", "uu", saturate((wide)a + (wide)b, 32, false))                                          \
    X(v_sub_u32, "u", "uu", saturate((wide)a - (wide)b, 32, false))                                          \
    X(v_subrev_u32, "u", "uu", saturate((wide)b - (wide)a, 32, false))                                       \
    X(v_add_i32, "u", "uu", saturate(S32(a) + S32(b), 32, true))                                             \
    X(v_sub_i32, "u", "uu", saturate(S32(a) - S32(b), 32, true))

OPS(VOP_REFERENCE)
static const struct vop_case cases[] = {OPS(VOP_CASE)};

#define CLAMPED_REFERENCE(op, r, s, ...) VOP_REFERENCE(clamped_##op, r, s, __VA_ARGS__)
#define CLAMPED_CASE(mnemonic, r, s, ...)                                                                    \
    {.op = ISA_OP_##mnemonic,                                                                                \
     .name = #mnemonic,                                                                                      \
     .result = r,                                                                                            \
     .sources = s,                                                                                           \
     .clamp = true,                                                                                          \
     .reference = reference_clamped_##mnemonic},
CLAMPED(CLAMPED_REFERENCE)
static const struct vop_case clamped[] = {CLAMPED(CLAMPED_CASE)};

/* Cases above whose reference looks at x->clamp. */
static bool knows_clamp(uint16_t op)
{
    static const uint16_t ops[] = {
        ISA_OP_v_mul_u32_u24,     ISA_OP_v_mul_i32_i24,    ISA_OP_v_mad_u32_u24,  ISA_OP_v_mad_i32_i24,
        ISA_OP_v_mad_u32_u16,     ISA_OP_v_mad_i32_i16,    ISA_OP_v_sad_u8,       ISA_OP_v_sad_hi_u8,
        ISA_OP_v_msad_u8,         ISA_OP_v_sad_u16,        ISA_OP_v_sad_u32,      ISA_OP_v_qsad_pk_u16_u8,
        ISA_OP_v_mqsad_pk_u16_u8, ISA_OP_v_dot2c_i32_i16,  ISA_OP_v_dot4c_i32_i8, ISA_OP_v_dot8c_i32_i4,
        ISA_OP_v_add_u16,         ISA_OP_v_sub_u16,        ISA_OP_v_subrev_u16,   ISA_OP_v_mul_lo_u16,
        ISA_OP_v_mad_legacy_u16,  ISA_OP_v_mad_legacy_i16, ISA_OP_v_add_i16,      ISA_OP_v_sub_i16,
        ISA_OP_v_mad_u16,         ISA_OP_v_mad_i16};
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++)
        if (ops[k] == op)
            return true;
    return false;
}

int main(void)
{
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct vop_case c = cases[k];
        vop_check(&c);
        c.clamp = true;
        if (knows_clamp(c.op))
            vop_check(&c);
    }
    for (size_t k = 0; k < sizeof clamped / sizeof clamped[0]; k++)
        vop_check(&clamped[k]);
    return check_status();
}
