/* SPDX-License-Identifier: MIT */
/*
 * Vectors of dwords as wide as the instruction set level of the host that this
 * file is compiled for has them, with the few operations that the matrix and
 * packed handlers need and the compiler would not find in a loop.
 */
#ifndef EHP_SEM_VECTOR_VEC_H
#define EHP_SEM_VECTOR_VEC_H

#include <immintrin.h>
#include <math.h>
#include <stdbool.h>

#include "base/minifloat.h"

#define V_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)

#define VL 16 /* dwords in a vector */
typedef __m512i vreg;
typedef __mmask16 vnans;

V_INLINE vreg v_load(const uint32_t *p)
{
    return _mm512_loadu_si512(p);
}

V_INLINE void v_store(uint32_t *p, vreg v)
{
    _mm512_storeu_si512(p, v);
}

V_INLINE vreg v_set1(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

V_INLINE vreg v_fma(vreg a, vreg b, vreg c, bool exact_products)
{
    (void)exact_products;
    return _mm512_castps_si512(
        _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(c)));
}

V_INLINE vreg v_dot2(vreg a, vreg b, vreg c)
{
    return _mm512_add_epi32(_mm512_madd_epi16(a, b), c);
}

/* Adds to `nans` which of a's or b's elements are NaNs. */
V_INLINE vnans v_nans(vnans nans, vreg a, vreg b)
{
    return nans | _mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_UNORD_Q);
}

V_INLINE bool v_any(vnans nans)
{
    return nans != 0;
}

/* Every element of a group of four becomes its i-th. */
V_INLINE vreg v_quad(vreg a, int i)
{
    return i == 0   ? _mm512_shuffle_epi32(a, 0x00)
           : i == 1 ? _mm512_shuffle_epi32(a, 0x55)
           : i == 2 ? _mm512_shuffle_epi32(a, 0xaa)
                    : _mm512_shuffle_epi32(a, 0xff);
}

V_INLINE void v_f16_to_f32(uint32_t *low, uint32_t *high, const uint32_t *p)
{
    __m512i x = v_load(p);
    v_store(low, _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(x))));
    v_store(high, _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(x, 16)))));
}

/* VL consecutive halves, not deinterleaved. */
V_INLINE vreg v_from_f16(const uint16_t *p)
{
    return _mm512_castps_si512(_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p)));
}

V_INLINE void v_to_f16(uint16_t *p, vreg v)
{
    _mm256_storeu_si256((__m256i *)(void *)p,
                        _mm512_cvtps_ph(_mm512_castsi512_ps(v), _MM_FROUND_TO_NEAREST_INT));
}

/* Rounded towards zero. */
V_INLINE void v_to_f16_cut(uint16_t *p, vreg v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtps_ph(_mm512_castsi512_ps(v), _MM_FROUND_TO_ZERO));
}

/* Half as many doubles. */
typedef __m512d vdouble;

V_INLINE vdouble v_set1_f64(double x)
{
    return _mm512_set1_pd(x);
}

V_INLINE vdouble v_fma_f64(vdouble a, vdouble b, vdouble c)
{
    return _mm512_fmadd_pd(a, b, c);
}

/* Interleaves within 128 bits: see v_join(). */
V_INLINE vdouble v_zip_low(vreg low, vreg high)
{
    return _mm512_castsi512_pd(_mm512_unpacklo_epi32(low, high));
}

V_INLINE vdouble v_zip_high(vreg low, vreg high)
{
    return _mm512_castsi512_pd(_mm512_unpackhi_epi32(low, high));
}

V_INLINE vreg v_unzip_low(vdouble a, vdouble b)
{
    return _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castpd_ps(a), _mm512_castpd_ps(b), 0x88));
}

V_INLINE vreg v_unzip_high(vdouble a, vdouble b)
{
    return _mm512_castps_si512(_mm512_shuffle_ps(_mm512_castpd_ps(a), _mm512_castpd_ps(b), 0xdd));
}

V_INLINE vdouble v_even_f64(vdouble a)
{
    return _mm512_unpacklo_pd(a, a);
}

V_INLINE vdouble v_odd_f64(vdouble a)
{
    return _mm512_unpackhi_pd(a, a);
}

V_INLINE bool v_any_nan_f64(vdouble a, vdouble b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q) != 0;
}

#elif defined(__AVX2__)

#define VL 8
typedef __m256i vreg;
typedef __m256 vnans;

V_INLINE vreg v_load(const uint32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

V_INLINE void v_store(uint32_t *p, vreg v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

V_INLINE vreg v_set1(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

V_INLINE vreg v_fma(vreg a, vreg b, vreg c, bool exact_products)
{
    (void)exact_products;
    return _mm256_castps_si256(
        _mm256_fmadd_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _mm256_castsi256_ps(c)));
}

V_INLINE vreg v_dot2(vreg a, vreg b, vreg c)
{
    return _mm256_add_epi32(_mm256_madd_epi16(a, b), c);
}

V_INLINE vnans v_nans(vnans nans, vreg a, vreg b)
{
    return _mm256_or_ps(nans, _mm256_cmp_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _CMP_UNORD_Q));
}

V_INLINE bool v_any(vnans nans)
{
    return _mm256_movemask_ps(nans) != 0;
}

V_INLINE vreg v_quad(vreg a, int i)
{
    return i == 0   ? _mm256_shuffle_epi32(a, 0x00)
           : i == 1 ? _mm256_shuffle_epi32(a, 0x55)
           : i == 2 ? _mm256_shuffle_epi32(a, 0xaa)
                    : _mm256_shuffle_epi32(a, 0xff);
}

V_INLINE void v_f16_to_f32(uint32_t *low, uint32_t *high, const uint32_t *p)
{
    __m256i x = v_load(p), l = _mm256_and_si256(x, _mm256_set1_epi32(0xffff)), h = _mm256_srli_epi32(x, 16);
    /* Packing works within 128-bit lanes: put the quarters in order. */
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(l, h), 0xd8);
    v_store(low, _mm256_castps_si256(_mm256_cvtph_ps(_mm256_castsi256_si128(packed))));
    v_store(high, _mm256_castps_si256(_mm256_cvtph_ps(_mm256_extracti128_si256(packed, 1))));
}

V_INLINE vreg v_from_f16(const uint16_t *p)
{
    return _mm256_castps_si256(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p)));
}

V_INLINE void v_to_f16(uint16_t *p, vreg v)
{
    _mm_storeu_si128((__m128i *)(void *)p,
                     _mm256_cvtps_ph(_mm256_castsi256_ps(v), _MM_FROUND_TO_NEAREST_INT));
}

V_INLINE void v_to_f16_cut(uint16_t *p, vreg v)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_cvtps_ph(_mm256_castsi256_ps(v), _MM_FROUND_TO_ZERO));
}

typedef __m256d vdouble;

V_INLINE vdouble v_set1_f64(double x)
{
    return _mm256_set1_pd(x);
}

V_INLINE vdouble v_fma_f64(vdouble a, vdouble b, vdouble c)
{
    return _mm256_fmadd_pd(a, b, c);
}

V_INLINE vdouble v_zip_low(vreg low, vreg high)
{
    return _mm256_castsi256_pd(_mm256_unpacklo_epi32(low, high));
}

V_INLINE vdouble v_zip_high(vreg low, vreg high)
{
    return _mm256_castsi256_pd(_mm256_unpackhi_epi32(low, high));
}

V_INLINE vreg v_unzip_low(vdouble a, vdouble b)
{
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castpd_ps(a), _mm256_castpd_ps(b), 0x88));
}

V_INLINE vreg v_unzip_high(vdouble a, vdouble b)
{
    return _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castpd_ps(a), _mm256_castpd_ps(b), 0xdd));
}

V_INLINE vdouble v_even_f64(vdouble a)
{
    return _mm256_unpacklo_pd(a, a);
}

V_INLINE vdouble v_odd_f64(vdouble a)
{
    return _mm256_unpackhi_pd(a, a);
}

V_INLINE bool v_any_nan_f64(vdouble a, vdouble b)
{
    return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_UNORD_Q)) != 0;
}

#else

#define VL 4
typedef __m128i vreg;
typedef __m128 vnans;

V_INLINE vreg v_load(const uint32_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

V_INLINE void v_store(uint32_t *p, vreg v)
{
    _mm_storeu_si128((__m128i *)p, v);
}

V_INLINE vreg v_set1(uint32_t x)
{
    return _mm_set1_epi32((int)x);
}

/* Two products and sums in f64, rounded to odd (see v_fma_f16()), then once to f32. */
V_INLINE __m128 v_fma_pair(__m128 a, __m128 b, __m128 c)
{
    typedef int64_t v_i64 __attribute__((vector_size(16)));
    __m128d p = _mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), z = _mm_cvtps_pd(c), sum = _mm_add_pd(p, z);
    __m128d rest = _mm_sub_pd(sum, p);
    __m128d lost = _mm_add_pd(_mm_sub_pd(p, _mm_sub_pd(sum, rest)), _mm_sub_pd(z, rest));
    v_i64 bits = (v_i64)sum, towards = (bits ^ (v_i64)lost) >> 63; /* -1: what was lost has the other sign */
    v_i64 inexact =
        (v_i64)(_mm_cmplt_pd(lost, _mm_setzero_pd())) | (v_i64)(_mm_cmpgt_pd(lost, _mm_setzero_pd()));
    bits += inexact & ((bits & 1) - 1) & (towards | 1);
    return _mm_cvtpd_ps((__m128d)bits);
}

/*
 * No FMA here: an exact product needs none.  Else what f64 makes of the sum is
 * rounded again, which is one rounding too many only where it lies in the middle
 * between two f32, or is denormal as one.
 */
V_INLINE vreg v_fma(vreg a, vreg b, vreg c, bool exact_products)
{
    __m128 x = _mm_castsi128_ps(a), y = _mm_castsi128_ps(b), z = _mm_castsi128_ps(c);
    if (exact_products)
        return _mm_castps_si128(_mm_add_ps(_mm_mul_ps(x, y), z));
    __m128 xh = _mm_movehl_ps(x, x), yh = _mm_movehl_ps(y, y), zh = _mm_movehl_ps(z, z);
    __m128d low = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(x), _mm_cvtps_pd(y)), _mm_cvtps_pd(z));
    __m128d high = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(xh), _mm_cvtps_pd(yh)), _mm_cvtps_pd(zh));
    __m128 l = _mm_castpd_ps(low), h = _mm_castpd_ps(high);
    __m128i lower = _mm_castps_si128(_mm_shuffle_ps(l, h, 0x88));
    __m128i upper = _mm_and_si128(_mm_castps_si128(_mm_shuffle_ps(l, h, 0xdd)), _mm_set1_epi32(0x7fffffff));
    __m128i middle = _mm_cmpeq_epi32(_mm_slli_epi32(lower, 3), _mm_set1_epi32(INT32_MIN));
    __m128i denormal = _mm_and_si128(_mm_cmplt_epi32(upper, _mm_set1_epi32(0x38100000)),
                                     _mm_cmpgt_epi32(upper, _mm_setzero_si128()));
    if (__builtin_expect(_mm_movemask_epi8(_mm_or_si128(middle, denormal)) == 0, 1))
        return _mm_castps_si128(_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high)));
    return _mm_castps_si128(_mm_movelh_ps(v_fma_pair(x, y, z), v_fma_pair(xh, yh, zh)));
}

V_INLINE vreg v_dot2(vreg a, vreg b, vreg c)
{
    return _mm_add_epi32(_mm_madd_epi16(a, b), c);
}

V_INLINE vnans v_nans(vnans nans, vreg a, vreg b)
{
    return _mm_or_ps(nans, _mm_cmpunord_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
}

V_INLINE bool v_any(vnans nans)
{
    return _mm_movemask_ps(nans) != 0;
}

V_INLINE vreg v_quad(vreg a, int i)
{
    return i == 0   ? _mm_shuffle_epi32(a, 0x00)
           : i == 1 ? _mm_shuffle_epi32(a, 0x55)
           : i == 2 ? _mm_shuffle_epi32(a, 0xaa)
                    : _mm_shuffle_epi32(a, 0xff);
}

/* As minifloat.h's f16_to_f32() and f16_from_f32(), four at once. */
V_INLINE vreg v_widen_f16(__m128i h)
{
    __m128i magnitude = _mm_and_si128(h, _mm_set1_epi32(0x7fff)),
            sign = _mm_slli_epi32(_mm_xor_si128(h, magnitude), 16);
    __m128i normal = _mm_add_epi32(_mm_slli_epi32(magnitude, 13), _mm_set1_epi32(112 << 23));
    __m128 denormal = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(0x1p-24f));
    __m128i quiet =
        _mm_and_si128(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7c00)), _mm_set1_epi32(0x400000));
    __m128i special = _mm_or_si128(_mm_or_si128(normal, _mm_set1_epi32(0x7f800000)), quiet);
    __m128i r = _mm_blendv_epi8(normal, _mm_castps_si128(denormal),
                                _mm_cmplt_epi32(magnitude, _mm_set1_epi32(0x400)));
    r = _mm_blendv_epi8(r, special, _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff)));
    return _mm_or_si128(r, sign);
}

V_INLINE __m128i v_narrow_f16(vreg v)
{
    __m128i magnitude = _mm_and_si128(v, _mm_set1_epi32(0x7fffffff));
    __m128i sign = _mm_and_si128(_mm_srli_epi32(v, 16), _mm_set1_epi32(0x8000));
    __m128 sum = _mm_add_ps(_mm_castsi128_ps(magnitude), _mm_set1_ps(0.5f));
    __m128i denormal = _mm_sub_epi32(_mm_castps_si128(sum), _mm_set1_epi32(0x3f000000));
    __m128i odd = _mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(1));
    __m128i normal =
        _mm_srli_epi32(_mm_add_epi32(_mm_add_epi32(magnitude, odd), _mm_set1_epi32(0xfff - (112 << 23))), 13);
    __m128i nan = _mm_or_si128(_mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(0x3ff)),
                               _mm_set1_epi32(0x7e00));
    __m128i r = _mm_blendv_epi8(normal, denormal, _mm_cmplt_epi32(magnitude, _mm_set1_epi32(0x38800000)));
    r = _mm_blendv_epi8(r, _mm_set1_epi32(0x7c00), _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x477fefff)));
    r = _mm_blendv_epi8(r, nan, _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7f800000)));
    return _mm_or_si128(r, sign);
}

V_INLINE void v_f16_to_f32(uint32_t *low, uint32_t *high, const uint32_t *p)
{
    __m128i x = v_load(p);
    v_store(low, v_widen_f16(_mm_and_si128(x, _mm_set1_epi32(0xffff))));
    v_store(high, v_widen_f16(_mm_srli_epi32(x, 16)));
}

V_INLINE vreg v_from_f16(const uint16_t *p)
{
    return v_widen_f16(_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
}

V_INLINE void v_to_f16(uint16_t *p, vreg v)
{
    _mm_storel_epi64((__m128i *)(void *)p, _mm_packus_epi32(v_narrow_f16(v), _mm_setzero_si128()));
}

typedef __m128d vdouble;

V_INLINE vdouble v_set1_f64(double x)
{
    return _mm_set1_pd(x);
}

V_INLINE vdouble v_fma_f64(vdouble a, vdouble b, vdouble c)
{
    for (int i = 0; i < VL / 2; i++)
        c[i] = fma(a[i], b[i], c[i]);
    return c;
}

V_INLINE vdouble v_zip_low(vreg low, vreg high)
{
    return _mm_castsi128_pd(_mm_unpacklo_epi32(low, high));
}

V_INLINE vdouble v_zip_high(vreg low, vreg high)
{
    return _mm_castsi128_pd(_mm_unpackhi_epi32(low, high));
}

V_INLINE vreg v_unzip_low(vdouble a, vdouble b)
{
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(a), _mm_castpd_ps(b), 0x88));
}

V_INLINE vreg v_unzip_high(vdouble a, vdouble b)
{
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castpd_ps(a), _mm_castpd_ps(b), 0xdd));
}

V_INLINE vdouble v_even_f64(vdouble a)
{
    return _mm_unpacklo_pd(a, a);
}

V_INLINE vdouble v_odd_f64(vdouble a)
{
    return _mm_unpackhi_pd(a, a);
}

V_INLINE bool v_any_nan_f64(vdouble a, vdouble b)
{
    return _mm_movemask_pd(_mm_cmpunord_pd(a, b)) != 0;
}

#endif

enum { V_HAS_FMA = VL > 4 };

/* A vector as f32 and as i32 elements, for C's operators. */
typedef float v_f32 __attribute__((vector_size(VL * 4)));
typedef int32_t v_i32 __attribute__((vector_size(VL * 4)));

/* v_fma() in the host's present rounding mode, which without FMA only the C library heeds. */
V_INLINE vreg v_fma_mode(vreg a, vreg b, vreg c)
{
#if VL == 4
    v_f32 x = (v_f32)a, y = (v_f32)b, z = (v_f32)c;
    for (int i = 0; i < VL; i++)
        z[i] = fmaf(x[i], y[i], z[i]);
    return (vreg)z;
#else
    return v_fma(a, b, c, false);
#endif
}

/*
 * The exact a * b + c of f16 values, rounded to odd: the last bit says that
 * something was lost, so that rounding to f16 afterwards gives what one rounding
 * would have (f32 has more than two bits to spare; the product is exact).
 * Infinities may become NaNs.
 */
V_INLINE vreg v_fma_f16(vreg a, vreg b, vreg c)
{
#if defined(__AVX512F__)
    /* Rounded down and up: the same when exact, else neighbours, one of which is odd. */
    __m512 x = _mm512_castsi512_ps(a), y = _mm512_castsi512_ps(b), z = _mm512_castsi512_ps(c);
    vreg down =
        _mm512_castps_si512(_mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
    vreg up = _mm512_castps_si512(_mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
    return _mm512_mask_mov_epi32(up, _mm512_test_epi32_mask(down, _mm512_set1_epi32(1)), down);
#elif defined(__AVX2__)
    /* An even sum goes one step up or down, as what was lost has its sign or the other; of nothing lost, the
     * product is +0.  Infinities have lost NaNs, whose sign the host's is such that they become the greatest
     * f32. */
    __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b), z = _mm256_castsi256_ps(c);
    __m256 sum = _mm256_fmadd_ps(x, y, z), rest = _mm256_sub_ps(sum, z);
    __m256 lost = _mm256_add_ps(_mm256_sub_ps(z, _mm256_sub_ps(sum, rest)), _mm256_fmsub_ps(x, y, rest));
    __m256 towards = _mm256_fmadd_ps(lost, sum, _mm256_setzero_ps());
    vreg even = _mm256_andnot_si256(_mm256_castps_si256(sum), v_set1(1));
    return _mm256_add_epi32(_mm256_castps_si256(sum), _mm256_sign_epi32(even, _mm256_castps_si256(towards)));
#else
    v_f32 p = (v_f32)a * (v_f32)b, z = (v_f32)c, sum = p + z;
    v_f32 rest = sum - p, lost = (p - (sum - rest)) + (z - rest);
    v_i32 bits = (v_i32)sum, towards = (bits ^ (v_i32)lost) >= 0; /* what was lost has the sum's sign */
    v_i32 inexact = ((lost < 0) | (lost > 0)) & ((bits & 1) == 0);
    return (vreg)(bits + (inexact & (-1 - 2 * towards)));
#endif
}

/*
 * Doubles whose halves are in two registers.  Joining gives two vectors in the
 * order that suits the instruction: of each four lanes, `a` has the first two
 * and `b` the other two.
 */
struct v_pair {
    vdouble a, b;
};

V_INLINE struct v_pair v_join(const uint32_t *low, const uint32_t *high)
{
    vreg l = v_load(low), h = v_load(high);
    return (struct v_pair){v_zip_low(l, h), v_zip_high(l, h)};
}

V_INLINE void v_split(uint32_t *low, uint32_t *high, struct v_pair p)
{
    v_store(low, v_unzip_low(p.a, p.b));
    v_store(high, v_unzip_high(p.a, p.b));
}

#endif
