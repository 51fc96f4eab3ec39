/* SPDX-License-Identifier: MIT */
/*
 * What handlers do with whole rows besides the lane function: merge under EXEC,
 * look for NaNs, gather a row of 0/~0 into a lane mask and back, convert a row
 * of f16.  The plain loops over lane functions need no help to vectorise; these
 * do, so they are written for each host level.
 *
 * Rows are 64-byte aligned.
 */
#ifndef EHP_SEM_VECTOR_VALU_ROWS_H
#define EHP_SEM_VECTOR_VALU_ROWS_H

#include <immintrin.h>

#include "base/float.h"
#include "wave/wave.h"

#define VALU_EACH_LANE(i) for (int i = 0; i < WAVE_LANES; i++)

/* d[i] = mask bit i ? b[i] : a[i] */
static inline void row_select(uint32_t *d, const uint32_t *a, const uint32_t *b, uint64_t mask)
{
#if defined(__AVX512F__)
    for (int i = 0; i < WAVE_LANES; i += 16)
        _mm512_store_si512(d + i, _mm512_mask_blend_epi32((__mmask16)(mask >> i), _mm512_load_si512(a + i),
                                                          _mm512_load_si512(b + i)));
#elif defined(__AVX2__)
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (int i = 0; i < WAVE_LANES; i += 8) {
        const __m256i m =
            _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(mask >> i & 0xff)), bits), bits);
        const __m256i x = _mm256_load_si256((const __m256i *)(a + i));
        const __m256i y = _mm256_load_si256((const __m256i *)(b + i));
        _mm256_store_si256((__m256i *)(d + i), _mm256_blendv_epi8(x, y, m));
    }
#else
    const __m128i bits = _mm_setr_epi32(1, 2, 4, 8);
    for (int i = 0; i < WAVE_LANES; i += 4) {
        const __m128i m = _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)(mask >> i & 0xf)), bits), bits);
        const __m128i x = _mm_load_si128((const __m128i *)(a + i));
        const __m128i y = _mm_load_si128((const __m128i *)(b + i));
        _mm_store_si128((__m128i *)(d + i), _mm_blendv_epi8(x, y, m));
    }
#endif
}

/* d[i] = mask bit i ? t[i] : d[i] */
static inline void row_merge(uint32_t *d, const uint32_t *t, uint64_t mask)
{
#if defined(__AVX512F__)
    for (int i = 0; i < WAVE_LANES; i += 16)
        _mm512_mask_store_epi32(d + i, (__mmask16)(mask >> i), _mm512_load_si512(t + i));
#else
    row_select(d, d, t, mask);
#endif
}

/* Lane i of m to ~0 or 0 as bit i of mask is set. */
static inline void row_from_mask(uint32_t *m, uint64_t mask)
{
#if defined(__AVX512F__)
    for (int i = 0; i < WAVE_LANES; i += 16)
        _mm512_store_si512(m + i, _mm512_maskz_set1_epi32((__mmask16)(mask >> i), -1));
#else
    const __m128i bits = _mm_setr_epi32(1, 2, 4, 8);
    for (int i = 0; i < WAVE_LANES; i += 4)
        _mm_store_si128((__m128i *)(m + i),
                        _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)(mask >> i & 0xf)), bits), bits));
#endif
}

/* Bit i of the result is the top bit of lane i. */
static inline uint64_t row_to_mask(const uint32_t *m)
{
    uint64_t mask = 0;
#if defined(__AVX512DQ__)
    for (int i = 0; i < WAVE_LANES; i += 16)
        mask |= (uint64_t)_mm512_movepi32_mask(_mm512_load_si512(m + i)) << i;
#elif defined(__AVX2__)
    for (int i = 0; i < WAVE_LANES; i += 8)
        mask |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_load_ps((const float *)(const void *)(m + i)))
                << i;
#else
    for (int i = 0; i < WAVE_LANES; i += 4)
        mask |= (uint64_t)(unsigned)_mm_movemask_ps(_mm_load_ps((const float *)(const void *)(m + i))) << i;
#endif
    return mask;
}

/* d[i] = s[from[i]]; d is not s. */
static inline void row_permute(uint32_t *d, const uint32_t *s, const uint8_t *from)
{
#if defined(__AVX512F__)
    const __m512i s0 = _mm512_load_si512(s), s1 = _mm512_load_si512(s + 16);
    const __m512i s2 = _mm512_load_si512(s + 32), s3 = _mm512_load_si512(s + 48);
    for (int i = 0; i < WAVE_LANES; i += 16) {
        const __m512i index =
            _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(from + i)));
        const __m512i low = _mm512_permutex2var_epi32(s0, index, s1);
        const __m512i high = _mm512_permutex2var_epi32(s2, index, s3);
        const __mmask16 upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
        _mm512_store_si512(d + i, _mm512_mask_mov_epi32(low, upper, high));
    }
#else
    VALU_EACH_LANE(i)
    d[i] = s[from[i]];
#endif
}

/* A permutation of lanes in which none reads from another row of 16. */
static inline void row_permute_rows(uint32_t *d, const uint32_t *s, const uint8_t *from)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    for (int i = 0; i < WAVE_LANES; i += 8) {
        const __m256i *row = (const __m256i *)(const void *)(s + (i & ~15));
        const __m256i index =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(from + i)));
        const __m256i low = _mm256_permutevar8x32_epi32(_mm256_load_si256(row), index);
        const __m256i high = _mm256_permutevar8x32_epi32(_mm256_load_si256(row + 1), index);
        const __m256i upper = _mm256_slli_epi32(index, 28); /* bit 3 of the lane to the top */
        _mm256_store_si256(
            (__m256i *)(void *)(d + i),
            _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                                                 _mm256_castsi256_ps(upper))));
    }
#else
    row_permute(d, s, from);
#endif
}

/* Whether a or b holds a NaN in any lane. */
static inline bool row_any_nan2(const uint32_t *a, const uint32_t *b)
{
#if defined(__AVX512F__)
    unsigned any = 0;
    for (int i = 0; i < WAVE_LANES; i += 16)
        any |= _mm512_cmp_ps_mask(_mm512_load_ps(a + i), _mm512_load_ps(b + i), _CMP_UNORD_Q);
    return any != 0;
#elif defined(__AVX2__)
    __m256 any = _mm256_setzero_ps();
    for (int i = 0; i < WAVE_LANES; i += 8) {
        const __m256 x = _mm256_load_ps((const float *)(const void *)(a + i));
        const __m256 y = _mm256_load_ps((const float *)(const void *)(b + i));
        any = _mm256_or_ps(any, _mm256_cmp_ps(x, y, _CMP_UNORD_Q));
    }
    return _mm256_movemask_ps(any) != 0;
#else
    __m128 any = _mm_setzero_ps();
    for (int i = 0; i < WAVE_LANES; i += 4) {
        const __m128 x = _mm_load_ps((const float *)(const void *)(a + i));
        const __m128 y = _mm_load_ps((const float *)(const void *)(b + i));
        any = _mm_or_ps(any, _mm_cmpunord_ps(x, y));
    }
    return _mm_movemask_ps(any) != 0;
#endif
}

static inline bool row_any_nan(const uint32_t *a)
{
#if defined(__AVX512F__)
    /* An unordered comparison looks at two vectors at once. */
    const __mmask16 lo = _mm512_cmp_ps_mask(_mm512_load_ps(a), _mm512_load_ps(a + 16), _CMP_UNORD_Q);
    const __mmask16 hi = _mm512_cmp_ps_mask(_mm512_load_ps(a + 32), _mm512_load_ps(a + 48), _CMP_UNORD_Q);
    return (lo | hi) != 0;
#else
    return row_any_nan2(a, a);
#endif
}

/* Whether any f64 of a pair of rows is a NaN: a NaN has more in its upper half than infinity, or as much and
 * something below. */
static inline bool rows_any_nan64(const wave_row *a)
{
    int32_t most = 0;
    VALU_EACH_LANE(i)
    {
        const int32_t top = (int32_t)((a[1][i] & 0x7fffffffu) | (a[0][i] ? 1u : 0u));
        most = top > most ? top : most;
    }
    return most > 0x7ff00000;
}

static inline bool row_any_nan16(const uint32_t *h)
{
    int32_t most = 0;
    VALU_EACH_LANE(i)
    {
        const int32_t mag = (int32_t)(h[i] & 0x7fffu);
        most = mag > most ? mag : most;
    }
    return most > 0x7c00;
}

/* f[i] = the f16 in the low half of lane i. */
static inline void row_from_f16(float *f, const uint32_t *h)
{
#if defined(__AVX512F__)
    for (int i = 0; i < WAVE_LANES; i += 16)
        _mm512_store_ps(f + i, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_load_si512(h + i))));
#elif defined(__AVX2__) && defined(__F16C__)
    const __m128i low = _mm_set1_epi32(0xffff);
    for (int i = 0; i < WAVE_LANES; i += 8) {
        const __m128i x = _mm_and_si128(_mm_load_si128((const __m128i *)(h + i)), low);
        const __m128i y = _mm_and_si128(_mm_load_si128((const __m128i *)(h + i + 4)), low);
        _mm256_store_ps(f + i, _mm256_cvtph_ps(_mm_packus_epi32(x, y)));
    }
#else
    VALU_EACH_LANE(i)
    {
        f[i] = f16_to_f32((uint16_t)h[i]);
    }
#endif
}

/* The other way: round to nearest even, zero above. */
static inline void row_to_f16(uint32_t *h, const float *f)
{
#if defined(__AVX512F__)
    for (int i = 0; i < WAVE_LANES; i += 16)
        _mm512_store_si512(
            h + i, _mm512_cvtepu16_epi32(_mm512_cvtps_ph(_mm512_load_ps(f + i), _MM_FROUND_TO_NEAREST_INT)));
#elif defined(__AVX2__) && defined(__F16C__)
    for (int i = 0; i < WAVE_LANES; i += 8)
        _mm256_store_si256((__m256i *)(h + i), _mm256_cvtepu16_epi32(_mm256_cvtps_ph(
                                                   _mm256_load_ps(f + i), _MM_FROUND_TO_NEAREST_INT)));
#else
    VALU_EACH_LANE(i)
    {
        h[i] = f16_from_f32(f[i]);
    }
#endif
}

#endif
