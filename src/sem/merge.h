/* SPDX-License-Identifier: MIT */
/*
 * Writing a result row under EXEC: lanes that are off keep what they have.
 */
#ifndef EHP_SEM_MERGE_H
#define EHP_SEM_MERGE_H

#include <string.h>

#include "exec/wave.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

static inline void merge_row(uint32_t *d, const uint32_t *s, uint64_t lanes)
{
    if (d == s)
        return;
    if (lanes == UINT64_MAX) {
        memcpy(d, s, sizeof(wave_row));
        return;
    }
#ifdef __AVX512F__
    for (int l = 0; l < WAVE_LANES; l += 16)
        _mm512_mask_storeu_epi32(d + l, (__mmask16)(lanes >> l), _mm512_loadu_si512(s + l));
#else
    for (int l = 0; l < WAVE_LANES; l++)
        d[l] = lanes >> l & 1 ? s[l] : d[l];
#endif
}

static inline void merge_value(uint32_t *d, uint32_t value, uint64_t lanes)
{
    wave_row row;
    for (int l = 0; l < WAVE_LANES; l++)
        row[l] = value;
    merge_row(d, row, lanes);
}

#endif
