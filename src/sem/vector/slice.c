/* SPDX-License-Identifier: MIT */
/* The vector ALU's instructions as functions on a slice of the lanes; see slice.h. */
#include "sem/vector/lane_carry.h"
#include "sem/vector/lane_cvt.h"
#include "sem/vector/lane_div.h"
#include "sem/vector/lane_f16.h"
#include "sem/vector/lane_trans.h"
#include "sem/vector/slice.h"

#define FN_1(name, M, D, A, fn)    BODY_1(name, D, A, fn(AS_##A(xa[i])))
#define FN_2(name, M, D, A, B, fn) BODY_2(name, D, A, B, fn(AS_##A(xa[i]), AS_##B(xb[i])))
#define FN_3(name, M, D, A, B, C, fn)                                                                        \
    BODY_3(name, D, A, B, C, fn(AS_##A(xa[i]), AS_##B(xb[i]), AS_##C(xc[i])))
/* To more bits, which LLVM leaves out where they are narrowed again: a NaN is to be a quiet one then. */
#define CV_1(name, M, D, A, fn)                                                                              \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, A);                                                                                       \
        ARRAY(r, D);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            r[i] = TO_##D(fn(AS_##A(xa[i])));                                                                \
            nan[i] = MASK(IS_NAN_##A(xa[i]));                                                                \
        }                                                                                                    \
        PUT(d, r, D);                                                                                        \
        PUT(bad, nan, u);                                                                                    \
    }
#define CL_2(name, ...) FN_2(clamp_##name, __VA_ARGS__)
#define CL_3(name, ...) FN_3(clamp_##name, __VA_ARGS__)

#define AR_2(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        ARITHMETIC(T, fn(AS_##T(xa[i]), AS_##T(xb[i])));                                                     \
    }
#define AR_3(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        GET(xc, c, T);                                                                                       \
        ARITHMETIC(T, fn(AS_##T(xa[i]), AS_##T(xb[i]), AS_##T(xc[i])));                                      \
    }

/* Minimum and maximum: what they make of NaNs, MODE.IEEE decides. */
#define MM_2(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        ARRAY(r, T);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            r[i] = fn##_number(xa[i], xb[i]);                                                                \
            nan[i] = MASK(IS_NAN_##T(xa[i]) | IS_NAN_##T(xb[i]));                                            \
        }                                                                                                    \
        PUT(d, r, T);                                                                                        \
        PUT(bad, nan, u);                                                                                    \
    }
#define MM_3(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        GET(xc, c, T);                                                                                       \
        ARRAY(r, T);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            r[i] = fn##_number(xa[i], xb[i], xc[i]);                                                         \
            nan[i] = MASK(IS_NAN_##T(xa[i]) | IS_NAN_##T(xb[i]) | IS_NAN_##T(xc[i]));                        \
        }                                                                                                    \
        PUT(d, r, T);                                                                                        \
        PUT(bad, nan, u);                                                                                    \
    }

/* Which NaN comes of one, handlers find out: here that is bad, so the host's will do. */
LANE uint32_t slice_ldexp(uint32_t a, uint32_t b)
{
#if SLICE == 16 && defined __clang__ /* an instruction of the host's */
    return f32_bits(__builtin_ldexpf(f32_from_bits(a), (int32_t)b));
#else
    return f32_ldexp_number(a, b);
#endif
}
LANE float slice_sqrt(float a)
{
    return __builtin_sqrtf(trans_flush(a));
}
/* Of zeros and denormals nothing is to be looked at: +infinity comes by itself, and for -infinity a NaN,
 * which is a token for it.  So it is for the number of which 4/a just overflows, and would not have to. */
LANE bool f32_rsq_is_token(float a)
{
    return a == 0x1p-126f || (trans_tiny(a) && f32_bits(a) >> 31);
}
LANE float f32_rsq_or_token(float a)
{
    const float x = -0x1.fffffep127f > a ? -0x1.fffffep127f : a, r = 0.5f * __builtin_sqrtf(4.0f / x);
    return f32_from_bits(f32_bits(r) | (a == 0x1p-126f ? 0xffffffffu : 0));
}
LANE uint64_t slice_rcp64(uint64_t a)
{
    return f64_bits(1.0 / f64_from_bits(a));
}
LANE uint64_t slice_sqrt64(uint64_t a)
{
    return f64_bits(__builtin_sqrt(f64_from_bits(a)));
}
LANE uint64_t slice_rsq64(uint64_t a)
{
    return f64_bits(1.0 / __builtin_sqrt(f64_from_bits(a)));
}
#define f32_ldexp slice_ldexp
#define f32_sqrt  slice_sqrt
#define f64_rcp   slice_rcp64
#define f64_sqrt  slice_sqrt64
#define f64_rsq   slice_rsq64

#define NOT_A_NUMBER_f(x) ((x) != (x))
#define NOT_A_NUMBER_u(x) NOT_A_NUMBER_f(f32_from_bits(x))
#define NOT_A_NUMBER_q(x) NOT_A_NUMBER_f(f64_from_bits(x))
#define HANDS_ON(T, call, is_bad)                                                                            \
    ARRAY(r, T);                                                                                             \
    ARRAY(nan, u);                                                                                           \
    EACH_LANE(i)                                                                                             \
    {                                                                                                        \
        r[i] = TO_##T(call);                                                                                 \
        nan[i] = MASK(NOT_A_NUMBER_##T(AS_##T(xa[i])) | (is_bad));                                           \
    }                                                                                                        \
    PUT(d, r, T);                                                                                            \
    PUT(bad, nan, u)
#define HN_1(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        HANDS_ON(T, fn(AS_##T(xa[i])), 0);                                                                   \
    }
/* Some NaNs that it makes stand for other numbers. */
#define HT_1(name, M, T, fn)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        HANDS_ON(T, fn##_or_token(AS_##T(xa[i])), fn##_is_token(AS_##T(xa[i])));                             \
    }
#define HN_2(name, M, T, B, fn)                                                                              \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, B);                                                                                       \
        HANDS_ON(T, fn(AS_##T(xa[i]), AS_##B(xb[i])), 0);                                                    \
    }

#define PK_RTZ(name)                                                                                         \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, u);                                                                                       \
        GET(xb, b, u);                                                                                       \
        ARRAY(r, u);                                                                                         \
        to_cut_pairs(r, xa, xb);                                                                             \
        put_32(d, r);                                                                                        \
    }

#include "sem/vector/valu_cvt.def"
#include "sem/vector/valu_float.def"
#include "sem/vector/valu_int.def"

/* ---- f16 ---- */

#define LOAD_f16(f, p)                                                                                       \
    alignas(64) float f[SLICE];                                                                              \
    low_halves(f, p)
#define LOAD_f32(f, p)                                                                                       \
    alignas(64) float f[SLICE];                                                                              \
    get_32(f, p)
#define LOAD_u16(f, p)                                                                                       \
    alignas(64) float f[SLICE];                                                                              \
    GET(bits_##f, p, u);                                                                                     \
    EACH_LANE(i) f[i] = (float)(int32_t)(bits_##f[i] & 0xffff)
#define LOAD_i16(f, p)                                                                                       \
    alignas(64) float f[SLICE];                                                                              \
    GET(bits_##f, p, u);                                                                                     \
    EACH_LANE(i) f[i] = (float)(int32_t)(int16_t)bits_##f[i]

#define F16_LOAD_1(L) LOAD_##L(fa, a)
#define F16_LOAD_2(L)                                                                                        \
    F16_LOAD_1(L);                                                                                           \
    LOAD_f16(fb, b)
#define F16_LOAD_3(L)                                                                                        \
    F16_LOAD_2(L);                                                                                           \
    LOAD_f16(fc, c)
#define F16_CALL_1(fn) fn(fa[i])
#define F16_CALL_2(fn) fn(fa[i], fb[i])
#define F16_CALL_3(fn) fn(fa[i], fb[i], fc[i])
/* One source's NaN survives the conversions. */
#define F16_NAN_1 (void)nan
#define F16_NAN_2 PUT(bad, nan, u)
#define F16_NAN_3 PUT(bad, nan, u)
#define HF(name, D, n, L, fast, exact)                                                                       \
    BODY(name)                                                                                               \
    {                                                                                                        \
        F16_LOAD_##n(L);                                                                                     \
        alignas(64) float f[SLICE];                                                                          \
        ARRAY(half, u);                                                                                      \
        ARRAY(r, u);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            f[i] = F16_CALL_##n(fast);                                                                       \
            nan[i] = MASK(f[i] != f[i]);                                                                     \
        }                                                                                                    \
        to_halves(half, f);                                                                                  \
        GET_OLD_##D;                                                                                         \
        EACH_LANE(i) r[i] = TO_##D(half[i]);                                                                 \
        PUT(d, r, u);                                                                                        \
        F16_NAN_##n;                                                                                         \
    }

#define HF_FMA(name, D)                                                                                      \
    BODY(name)                                                                                               \
    {                                                                                                        \
        LOAD_f16(fa, a);                                                                                     \
        LOAD_f16(fb, b);                                                                                     \
        LOAD_f16(fc, c);                                                                                     \
        alignas(64) float f[SLICE];                                                                          \
        ARRAY(half, u);                                                                                      \
        ARRAY(r, u);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        *(vreg *)(void *)f = v_fma_f16(*(vreg *)(void *)fa, *(vreg *)(void *)fb, *(vreg *)(void *)fc);       \
        EACH_LANE(i) nan[i] = MASK(f[i] != f[i]);                                                            \
        to_halves(half, f);                                                                                  \
        GET_OLD_##D;                                                                                         \
        EACH_LANE(i) r[i] = TO_##D(half[i]);                                                                 \
        PUT(d, r, u);                                                                                        \
        PUT(bad, nan, u);                                                                                    \
    }

#define HM_CALL_2(fn) fn##_number(H(xa[i]), H(xb[i]))
#define HM_CALL_3(fn) fn##_number(H(xa[i]), H(xb[i]), H(xc[i]))
#define HM_NAN_2      (f16_is_nan(xa[i]) | f16_is_nan(xb[i]))
#define HM_NAN_3      (HM_NAN_2 | f16_is_nan(xc[i]))
#define HM_GET_2                                                                                             \
    GET(xa, a, u);                                                                                           \
    GET(xb, b, u)
#define HM_GET_3                                                                                             \
    HM_GET_2;                                                                                                \
    GET(xc, c, u)
#define HM(name, D, n, fn)                                                                                   \
    BODY(name)                                                                                               \
    {                                                                                                        \
        HM_GET_##n;                                                                                          \
        GET_OLD_##D;                                                                                         \
        ARRAY(r, u);                                                                                         \
        ARRAY(nan, u);                                                                                       \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            r[i] = TO_##D(HM_CALL_##n(fn));                                                                  \
            nan[i] = MASK(HM_NAN_##n);                                                                       \
        }                                                                                                    \
        PUT(d, r, u);                                                                                        \
        PUT(bad, nan, u);                                                                                    \
    }
#include "sem/vector/valu_f16.def"

BODY(v_cvt_f32_f16)
{
    LOAD_f16(f, a);
    put_32(d, f);
}

BODY(v_ldexp_f16)
{
    LOAD_f16(fa, a);
    GET(xb, b, u);
    alignas(64) float f[SLICE];
    ARRAY(r, u);
    EACH_LANE(i) f[i] = f16_ldexp(fa[i], (uint16_t)xb[i]);
    to_halves(r, f);
    put_32(d, r);
}

/* ---- comparisons ---- */

#define BITS_i16  32
#define BITS_i32  32
#define BITS_i64  64
#define AS_i16(x) ((int16_t)(x))
#define AS_i32(x) ((int32_t)(x))
#define AS_i64(x) ((int64_t)(x))
#define COMPARE(T, call)                                                                                     \
    ARRAY(r, u);                                                                                             \
    EACH_LANE(i) r[i] = MASK(call);                                                                          \
    put_32(dm, r)
#define COMPARE_N(T, fn)                                                                                     \
    GET(xa, a, T);                                                                                           \
    GET(xb, b, T);                                                                                           \
    COMPARE(T, fn(AS_##T(xa[i]), AS_##T(xb[i])))
#define COMPARE_S COMPARE_N
#define COMPARE_D COMPARE_N
#define COMPARE_H(T, fn)                                                                                     \
    LOAD_f16(fa, a);                                                                                         \
    LOAD_f16(fb, b);                                                                                         \
    COMPARE(T, fn(fa[i], fb[i]))
#define CMP(name, M, T, fn)                                                                                  \
    BODY(v_cmp_##name)                                                                                       \
    {                                                                                                        \
        COMPARE_##M(T, fn);                                                                                  \
    }

LANE uint32_t clz(uint32_t a)
{
    return a ? (uint32_t)__builtin_clz(a) : 32;
}

/* Bits of the classes in the order of numbers' bits: zero to quiet NaN, then those with a sign. */
LANE uint32_t classes_in_order(uint32_t mask)
{
    uint32_t set = (mask >> 6 & 15) | (mask & 3) << 4 | (mask & 3) << 10;
    for (unsigned i = 0; i < 4; i++)
        set |= (mask >> (5 - i) & 1) << (6 + i);
    return set;
}

/*
 * Classes that lie side by side are a range of bits, and others are found by what a number is at least:
 * nearly always their mask is a constant, which leaves little of this, where a look-up of the class's bit
 * would stay whole.
 */
#define SLICE_CLASS(bits, normal_from, infinity, sign, quiet)                                                \
    LANE uint##bits##_t class_bit##bits(uint32_t mask, unsigned i)                                           \
    {                                                                                                        \
        return 0 - (uint##bits##_t)(mask >> i & 1);                                                          \
    }                                                                                                        \
    /* Bits in their order from zero, a step apart. */                                                       \
    LANE uint##bits##_t class_of##bits(uint##bits##_t mag, uint32_t mask, unsigned zero, int step)           \
    {                                                                                                        \
        uint##bits##_t bit[4];                                                                               \
        for (int i = 0; i < 4; i++)                                                                          \
            bit[i] = class_bit##bits(mask, zero + (unsigned)(i * step));                                     \
        return bit[0] ^ (mag != 0 ? bit[0] ^ bit[1] : 0) ^ (mag >= (normal_from) ? bit[1] ^ bit[2] : 0) ^    \
               (mag >= (infinity) ? bit[2] ^ bit[3] : 0);                                                    \
    }                                                                                                        \
    LANE bool class_by_steps##bits(uint##bits##_t a, uint32_t mask)                                          \
    {                                                                                                        \
        const uint##bits##_t mag = a & ((sign) - 1);                                                         \
        const uint##bits##_t positive = class_of##bits(mag, mask, 6, 1),                                     \
                             negative = class_of##bits(mag, mask, 5, -1),                                    \
                             number = a & (sign) ? negative : positive,                                      \
                             nan = a & (quiet) ? class_bit##bits(mask, 1) : class_bit##bits(mask, 0);        \
        return (mag > (infinity) ? nan : number) != 0;                                                       \
    }                                                                                                        \
    /* Where a class begins, of those in the order of their bits. */                                         \
    LANE uint##bits##_t class_from##bits(unsigned i)                                                         \
    {                                                                                                        \
        const unsigned kind = i % 6;                                                                         \
        const uint##bits##_t mag = kind == 0   ? 0                                                           \
                                   : kind == 1 ? 1                                                           \
                                   : kind == 2 ? (normal_from)                                               \
                                   : kind == 3 ? (infinity)                                                  \
                                   : kind == 4 ? (infinity) + 1                                              \
                                               : (infinity) | (quiet);                                       \
        return mag | (i / 6 % 2 ? (sign) : 0);                                                               \
    }                                                                                                        \
    LANE bool slice_class##bits(uint##bits##_t a, uint32_t mask)                                             \
    {                                                                                                        \
        const uint32_t set = classes_in_order(mask), low = set & (0 - set), first = 31 - clz(low),           \
                       end = 32 - clz(set);                                                                  \
        const uint##bits##_t from = class_from##bits(first);                                                 \
        return set && (set & (set + low)) == 0 && end - first < 12 ? a - from < class_from##bits(end) - from \
                                                                   : class_by_steps##bits(a, mask);          \
    }
SLICE_CLASS(32, 0x00800000u, 0x7f800000u, 0x80000000u, 0x00400000u)
#define f32_class slice_class32
#if SLICE ==                                                                                                 \
    8 /* masks of 64-bit comparisons have registers of their own, and are put together, with AVX-512 */
SLICE_CLASS(64, 0x0010000000000000u, 0x7ff0000000000000u, 0x8000000000000000u, 0x0008000000000000u)
#define f64_class slice_class64
#endif
#define CMP_CLASS(name, T, fn)                                                                               \
    BODY(v_cmp_##name)                                                                                       \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, u);                                                                                       \
        COMPARE(T, fn(AS_##T(xa[i]), xb[i]));                                                                \
    }
#include "sem/vector/valu_cmp.def"

BODY(v_cndmask_b32)
{
    GET(xa, a, u);
    GET(xb, b, u);
    GET(xm, m, u);
    ARRAY(r, u);
    EACH_LANE(i)
    {
        const uint32_t x = xa[i], y = xb[i];
        r[i] = xm[i] ? y : x;
    }
    put_32(d, r);
}

/* ---- sums with carries ---- */

#define CARRY(name, with_carry, fn, clamp, limit)                                                            \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, u);                                                                                       \
        GET(xb, b, u);                                                                                       \
        ARRAY(xm, u);                                                                                        \
        ARRAY(r, u);                                                                                         \
        ARRAY(carry, u);                                                                                     \
        if (with_carry)                                                                                      \
            get_32(xm, m);                                                                                   \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            uint32_t out;                                                                                    \
            const uint32_t x = fn(xa[i], xb[i], with_carry ? xm[i] & 1 : 0, &out);                           \
            r[i] = (clamp) && out ? limit : x;                                                               \
            carry[i] = 0 - out;                                                                              \
        }                                                                                                    \
        put_32(d, r);                                                                                        \
        put_32(dm, carry);                                                                                   \
    }
#define MAD64(name, fn, clamp)                                                                               \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, u);                                                                                       \
        GET(xb, b, u);                                                                                       \
        GET(xc, c, q);                                                                                       \
        ARRAY(r, q);                                                                                         \
        ARRAY(carry, u);                                                                                     \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            uint32_t out;                                                                                    \
            r[i] = fn(xa[i], xb[i], xc[i], clamp, &out);                                                     \
            carry[i] = 0 - out;                                                                              \
        }                                                                                                    \
        put_64(d, r);                                                                                        \
        put_32(dm, carry);                                                                                   \
    }
#include "sem/vector/valu_carry.def"

BODY(v_lshl_add_u64)
{
    GET(low, a, u);
    GET(high, a + SLICE, u);
    GET(shift, b, u);
    GET(addend, c, u);
    GET(addend_high, c + SLICE, u);
    ARRAY(r, u);
    ARRAY(r_high, u);
    EACH_LANE(i) r[i] = u64_lshl_add(low[i], high[i], shift[i], addend[i], addend_high[i], r_high + i);
    put_32(d, r);
    put_32(d + SLICE, r_high);
}

/* ---- division ---- */

/* Where nothing is scaled, or an operand is zero; the rest is rare, and long. */
BODY(v_div_scale_f32)
{
    GET(xa, a, u);
    GET(xb, b, u);
    GET(xc, c, u);
    ARRAY(r, u);
    ARRAY(vcc, u);
    ARRAY(other, u);
    EACH_LANE(i)
    {
        const uint32_t zero = MASK(!(xb[i] << 1)) | MASK(!(xc[i] << 1));
        r[i] = zero ? F32_DEFAULT_NAN : xa[i];
        vcc[i] = 0;
        other[i] = (0 - div_scale_special(xb[i], xc[i], F32_DIV_SCALE)) & ~zero;
    }
    put_32(d, r);
    put_32(dm, vcc);
    put_32(bad, other);
}

BODY(v_div_scale_f64)
{
    GET(xa, a, q);
    GET(xb, b, q);
    GET(xc, c, q);
    ARRAY(r, q);
    ARRAY(vcc, u);
    ARRAY(other, u);
    EACH_LANE(i)
    {
        const uint32_t zero = MASK(!(xb[i] << 1)) | MASK(!(xc[i] << 1));
        r[i] = zero ? F64_DEFAULT_NAN : xa[i];
        vcc[i] = 0;
        other[i] =
            (0 - div_scale_special((uint32_t)(xb[i] >> 32), (uint32_t)(xc[i] >> 32), F64_DIV_SCALE)) & ~zero;
    }
    put_64(d, r);
    put_32(dm, vcc);
    put_32(bad, other);
}

/* Where div_scale did nothing: the sum that it is then. */
#define DIV_FMAS(name, T, fn)                                                                                \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, T);                                                                                       \
        GET(xb, b, T);                                                                                       \
        GET(xc, c, T);                                                                                       \
        GET(xm, m, u);                                                                                       \
        ARRAY(r, T);                                                                                         \
        ARRAY(other, u);                                                                                     \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            const FLOAT_##T x = fn(AS_##T(xa[i]), AS_##T(xb[i]), AS_##T(xc[i]));                             \
            r[i] = TO_##T(x);                                                                                \
            other[i] = MASK(x != x) | xm[i];                                                                 \
        }                                                                                                    \
        PUT(d, r, T);                                                                                        \
        put_32(bad, other);                                                                                  \
    }
DIV_FMAS(v_div_fmas_f32, f, f32_fma)
DIV_FMAS(v_div_fmas_f64, d, f64_fma)
BODY_3(v_div_fixup_f32, u, u, u, u, f32_div_fixup(xa[i], xb[i], xc[i]))
BODY_3(v_div_fixup_f64, q, q, q, q, f64_div_fixup(xa[i], xb[i], xc[i]))

/* ---- more with a shape of their own ---- */

BODY(v_mul_legacy_f32)
{
    GET(xa, a, f);
    GET(xb, b, f);
    ARRAY(r, u);
    ARRAY(nan, u);
    EACH_LANE(i)
    {
        const float x = AS_f(xa[i]), y = AS_f(xb[i]), product = x * y;
        const uint32_t zero = MASK(x == 0.0f) | MASK(y == 0.0f);
        r[i] = f32_bits(product) & ~zero;
        nan[i] = MASK(product != product) & ~zero;
    }
    put_32(d, r);
    put_32(bad, nan);
}

BODY_3(v_mbcnt_lo_u32_b32, u, u, u, u, u32_mbcnt_lo(xa[i], xb[i], xc[i]))
BODY_3(v_mbcnt_hi_u32_b32, u, u, u, u, u32_mbcnt_hi(xa[i], xb[i], xc[i]))
BODY_1(v_accvgpr_mov_b32, u, u, u32_mov(xa[i]))
BODY_1(v_accvgpr_read_b32, u, u, u32_mov(xa[i]))
BODY_1(v_accvgpr_write_b32, u, u, u32_mov(xa[i]))

BODY(v_cvt_pkaccum_u8_f32)
{
    GET(xa, a, u);
    GET(xb, b, u);
    GET(xo, o, u);
    ARRAY(r, u);
    EACH_LANE(i) r[i] = f32_cvt_pk_u8(AS_f(xa[i]), xb[i], xo[i]);
    put_32(d, r);
}

#define CVT_8(name, bits, call)                                                                              \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, u);                                                                                       \
        GET(xb, b, u);                                                                                       \
        GET(xc, c, u);                                                                                       \
        GET(xo, o, u);                                                                                       \
        ARRAY(r, u);                                                                                         \
        EACH_LANE(i) r[i] = modify_place(call, xo[i], xc[i], bits << xc[i], ~(bits << xc[i]), 0);            \
        put_32(d, r);                                                                                        \
    }
#define PAIR_8(convert) convert(AS_f(xa[i]), false) | (uint32_t)convert(AS_f(xb[i]), false) << 8
CVT_8(v_cvt_pk_fp8_f32, 0xffffu, PAIR_8(fp8_from_f32))
CVT_8(v_cvt_pk_bf8_f32, 0xffffu, PAIR_8(bf8_from_f32))
CVT_8(v_cvt_sr_fp8_f32, 0xffu, fnuz_from_f32_random(xa[i], xb[i], 3, 8, false))
CVT_8(v_cvt_sr_bf8_f32, 0xffu, fnuz_from_f32_random(xa[i], xb[i], 2, 16, false))

/* Four windows of a pair, a byte apart. */
#define WINDOW(k) ((uint32_t)(xa[i] >> 8 * (k)))
#define SUM(k)    u8_msad4(WINDOW(k), xb[i])
#define MQSAD_U32(name, add)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, q);                                                                                       \
        GET(xb, b, u);                                                                                       \
        GET(x0, c, u);                                                                                       \
        GET(x1, c + SLICE, u);                                                                               \
        GET(x2, c + 2 * SLICE, u);                                                                           \
        GET(x3, c + 3 * SLICE, u);                                                                           \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            x0[i] = add(SUM(0), x0[i]);                                                                      \
            x1[i] = add(SUM(1), x1[i]);                                                                      \
            x2[i] = add(SUM(2), x2[i]);                                                                      \
            x3[i] = add(SUM(3), x3[i]);                                                                      \
        }                                                                                                    \
        put_32(d, x0);                                                                                       \
        put_32(d + SLICE, x1);                                                                               \
        put_32(d + 2 * SLICE, x2);                                                                           \
        put_32(d + 3 * SLICE, x3);                                                                           \
    }
MQSAD_U32(v_mqsad_u32_u8, u32_add)
MQSAD_U32(clamp_v_mqsad_u32_u8, u32_add_sat)

#define MQSAD_U16(name, add)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        GET(xa, a, q);                                                                                       \
        GET(xb, b, u);                                                                                       \
        GET(x0, c, u);                                                                                       \
        GET(x1, c + SLICE, u);                                                                               \
        EACH_LANE(i)                                                                                         \
        {                                                                                                    \
            x0[i] = (add((uint16_t)SUM(0), (uint16_t)x0[i]) & 0xffff) |                                      \
                    add((uint16_t)SUM(1), (uint16_t)(x0[i] >> 16)) << 16;                                    \
            x1[i] = (add((uint16_t)SUM(2), (uint16_t)x1[i]) & 0xffff) |                                      \
                    add((uint16_t)SUM(3), (uint16_t)(x1[i] >> 16)) << 16;                                    \
        }                                                                                                    \
        put_32(d, x0);                                                                                       \
        put_32(d + SLICE, x1);                                                                               \
    }
MQSAD_U16(v_mqsad_pk_u16_u8, u16_add)
MQSAD_U16(clamp_v_mqsad_pk_u16_u8, u16_add_sat)
