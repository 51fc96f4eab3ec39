/* SPDX-License-Identifier: MIT */
/*
 * What atomics compute: pure functions of memory's old value and operands.
 *
 * Floats follow the pseudocode of the ISA document literally: a minimum or
 * maximum with a NaN keeps memory's value; comparisons take -0 for 0.
 * Denormals are kept.  The sum's NaN is memory's, else the operand's, made
 * quiet.
 *
 * Source: "AMD Instinct MI300 ISA", 12.13 (LDS), 12.15 (MUBUF), 12.17 (FLAT).
 */
#ifndef EHP_SEM_MEMORY_MEMOP_ATOMIC_H
#define EHP_SEM_MEMORY_MEMOP_ATOMIC_H

#include "base/minifloat.h"
#include "sem/memory/memop.h"
#if defined(__SSE4_1__) && !defined(__F16C__)
#include "sem/vector/vec.h"
#endif

/* The sum when it is a NaN. */
static inline uint32_t memop_nan_f32(uint32_t a, uint32_t b)
{
    const uint32_t other = (b & 0x7fffffff) > 0x7f800000 ? b | 0x400000 : 0x7fc00000;
    return (a & 0x7fffffff) > 0x7f800000 ? a | 0x400000 : other;
}

static inline uint32_t memop_add_f32(uint32_t a, uint32_t b)
{
    uint32_t r = f32_bits(f32_from_bits(a) + f32_from_bits(b));
    return MEMOP_LIKELY((r & 0x7fffffff) <= 0x7f800000) ? r : memop_nan_f32(a, b);
}

static inline uint64_t memop_nan_f64(uint64_t a, uint64_t b)
{
    const uint64_t magnitude = INT64_MAX, infinity = UINT64_C(0x7ff) << 52, quiet = UINT64_C(1) << 51;
    const uint64_t other = (b & magnitude) > infinity ? b | quiet : infinity | quiet;
    return (a & magnitude) > infinity ? a | quiet : other;
}

static inline uint64_t memop_add_f64(uint64_t a, uint64_t b)
{
    uint64_t r = f64_bits(f64_from_bits(a) + f64_from_bits(b));
    return MEMOP_LIKELY((r & INT64_MAX) <= UINT64_C(0x7ff) << 52) ? r : memop_nan_f64(a, b);
}

/* An f32 sum of two f16 or bf16 rounds to the same value as their exact sum. */
static inline uint32_t memop_pk_add_f16(uint32_t a, uint32_t b)
{
#if defined(__F16C__)
    const __m128 sum =
        _mm_add_ps(_mm_cvtph_ps(_mm_cvtsi32_si128((int)a)), _mm_cvtph_ps(_mm_cvtsi32_si128((int)b)));
    if (MEMOP_LIKELY(!(_mm_movemask_ps(_mm_cmpunord_ps(sum, sum)) & 3)))
        return (uint32_t)_mm_cvtsi128_si32(_mm_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__SSE4_1__)
    const __m128i x = v_widen_f16(_mm_cvtepu16_epi32(_mm_cvtsi32_si128((int)a))),
                  y = v_widen_f16(_mm_cvtepu16_epi32(_mm_cvtsi32_si128((int)b)));
    const __m128 sum = _mm_add_ps(_mm_castsi128_ps(x), _mm_castsi128_ps(y));
    if (MEMOP_LIKELY(!(_mm_movemask_ps(_mm_cmpunord_ps(sum, sum)) & 3))) {
        const __m128i narrow = v_narrow_f16(_mm_castps_si128(sum));
        return (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi32(narrow, narrow));
    }
#endif
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; i += 16) {
        uint32_t x32 = f32_bits(f16_to_f32((uint16_t)(a >> i))),
                 y32 = f32_bits(f16_to_f32((uint16_t)(b >> i)));
        r |= (uint32_t)f16_from_f32(f32_from_bits(memop_add_f32(x32, y32))) << i;
    }
    return r;
}

static inline uint32_t memop_pk_add_bf16(uint32_t a, uint32_t b)
{
#if defined(__SSE4_1__)
    const __m128i zero = _mm_setzero_si128();
    const __m128 sum = _mm_add_ps(_mm_castsi128_ps(_mm_unpacklo_epi16(zero, _mm_cvtsi32_si128((int)a))),
                                  _mm_castsi128_ps(_mm_unpacklo_epi16(zero, _mm_cvtsi32_si128((int)b))));
    if (MEMOP_LIKELY(!(_mm_movemask_ps(_mm_cmpunord_ps(sum, sum)) & 3))) { /* as bf16_from_f32() rounds */
        const __m128i bits = _mm_castps_si128(sum),
                      odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
        const __m128i up = _mm_add_epi32(_mm_add_epi32(bits, _mm_set1_epi32(0x7fff)), odd);
        return (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi32(_mm_srli_epi32(up, 16), zero));
    }
#endif
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; i += 16)
        r |= (uint32_t)bf16_from_f32(f32_from_bits(memop_add_f32(a >> i << 16, b >> i << 16))) << i;
    return r;
}

/* Which there are, of 32 and of 64 bits. */
#define MEMOP_BOTH_WIDTHS(X)                                                                                 \
    X(MEMOP_SWAP)                                                                                            \
    X(MEMOP_CMPSWAP)                                                                                         \
    X(MEMOP_ADD)                                                                                             \
    X(MEMOP_SUB)                                                                                             \
    X(MEMOP_RSUB)                                                                                            \
    X(MEMOP_SMIN)                                                                                            \
    X(MEMOP_UMIN)                                                                                            \
    X(MEMOP_SMAX)                                                                                            \
    X(MEMOP_UMAX)                                                                                            \
    X(MEMOP_AND)                                                                                             \
    X(MEMOP_OR)                                                                                              \
    X(MEMOP_XOR)                                                                                             \
    X(MEMOP_INC)                                                                                             \
    X(MEMOP_DEC)                                                                                             \
    X(MEMOP_MSKOR)                                                                                           \
    X(MEMOP_FADD)                                                                                            \
    X(MEMOP_FMIN)                                                                                            \
    X(MEMOP_FMAX)                                                                                            \
    X(MEMOP_FCMPSWAP)
#define MEMOP_ONLY_32(X)                                                                                     \
    X(MEMOP_WRAP)                                                                                            \
    X(MEMOP_PK_ADD_F16)                                                                                      \
    X(MEMOP_PK_ADD_BF16)
#define MEMOP_ONLY_64(X) X(MEMOP_CONDXCHG32)

/*
 * The new value.  `extra` is the second operand: the value to compare with
 * (CMPSWAP, FCMPSWAP), to add (WRAP) or to set (MSKOR).
 */
__attribute__((always_inline)) static inline uint32_t memop_atomic32(enum memop_atomic op, uint32_t old,
                                                                     uint32_t data, uint32_t extra)
{
    switch (op) {
    case MEMOP_SWAP:
        return data;
    case MEMOP_CMPSWAP:
        return old == extra ? data : old;
    case MEMOP_ADD:
        return old + data;
    case MEMOP_SUB:
        return old - data;
    case MEMOP_RSUB:
        return data - old;
    case MEMOP_SMIN:
        return (int32_t)data < (int32_t)old ? data : old;
    case MEMOP_UMIN:
        return data < old ? data : old;
    case MEMOP_SMAX:
        return (int32_t)data >= (int32_t)old ? data : old;
    case MEMOP_UMAX:
        return data >= old ? data : old;
    case MEMOP_AND:
        return old & data;
    case MEMOP_OR:
        return old | data;
    case MEMOP_XOR:
        return old ^ data;
    case MEMOP_INC:
        return old >= data ? 0 : old + 1;
    case MEMOP_DEC:
        return old == 0 || old > data ? data : old - 1;
    case MEMOP_MSKOR:
        return (old & ~data) | extra;
    case MEMOP_WRAP:
        return old >= data ? old - data : old + extra;
    case MEMOP_FADD:
        return memop_add_f32(old, data);
    case MEMOP_FMIN:
        return f32_from_bits(data) < f32_from_bits(old) ? data : old;
    case MEMOP_FMAX:
        return f32_from_bits(data) > f32_from_bits(old) ? data : old;
    case MEMOP_FCMPSWAP:
        return f32_from_bits(old) == f32_from_bits(extra) ? data : old;
    case MEMOP_PK_ADD_F16:
        return memop_pk_add_f16(old, data);
    case MEMOP_PK_ADD_BF16:
        return memop_pk_add_bf16(old, data);
    default:
        __builtin_unreachable();
    }
}

__attribute__((always_inline)) static inline uint64_t memop_atomic64(enum memop_atomic op, uint64_t old,
                                                                     uint64_t data, uint64_t extra)
{
    switch (op) {
    case MEMOP_SWAP:
        return data;
    case MEMOP_CMPSWAP:
        return old == extra ? data : old;
    case MEMOP_ADD:
        return old + data;
    case MEMOP_SUB:
        return old - data;
    case MEMOP_RSUB:
        return data - old;
    case MEMOP_SMIN:
        return (int64_t)data < (int64_t)old ? data : old;
    case MEMOP_UMIN:
        return data < old ? data : old;
    case MEMOP_SMAX:
        return (int64_t)data >= (int64_t)old ? data : old;
    case MEMOP_UMAX:
        return data >= old ? data : old;
    case MEMOP_AND:
        return old & data;
    case MEMOP_OR:
        return old | data;
    case MEMOP_XOR:
        return old ^ data;
    case MEMOP_INC:
        return old >= data ? 0 : old + 1;
    case MEMOP_DEC:
        return old == 0 || old > data ? data : old - 1;
    case MEMOP_MSKOR:
        return (old & ~data) | extra;
    case MEMOP_FADD:
        return memop_add_f64(old, data);
    case MEMOP_FMIN:
        return f64_from_bits(data) < f64_from_bits(old) ? data : old;
    case MEMOP_FMAX:
        return f64_from_bits(data) > f64_from_bits(old) ? data : old;
    case MEMOP_FCMPSWAP:
        return f64_from_bits(old) == f64_from_bits(extra) ? data : old;
    case MEMOP_CONDXCHG32: { /* each half on its own: bit 31 of the operand says whether to write the rest */
        uint64_t low = data >> 31 & 1 ? data & 0x7fffffff : (uint32_t)old;
        uint64_t high = data >> 63 ? data >> 32 & 0x7fffffff : old >> 32;
        return low | high << 32;
    }
    default:
        __builtin_unreachable();
    }
}

/* ---- on memory that other host threads may be changing ---- */

#define MEMOP_HOST_ATOMIC(bits)                                                                              \
    static inline uint##bits##_t memop_host_atomic##bits(enum memop_atomic op, uint##bits##_t *place,        \
                                                         uint##bits##_t data, uint##bits##_t extra)          \
    {                                                                                                        \
        switch (op) {                                                                                        \
        case MEMOP_SWAP:                                                                                     \
            return __atomic_exchange_n(place, data, __ATOMIC_SEQ_CST);                                       \
        case MEMOP_ADD:                                                                                      \
            return __atomic_fetch_add(place, data, __ATOMIC_SEQ_CST);                                        \
        case MEMOP_SUB:                                                                                      \
            return __atomic_fetch_sub(place, data, __ATOMIC_SEQ_CST);                                        \
        case MEMOP_CMPSWAP:                                                                                  \
            __atomic_compare_exchange_n(place, &extra, data, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
            return extra;                                                                                    \
        default:                                                                                             \
            break;                                                                                           \
        }                                                                                                    \
        uint##bits##_t old = __atomic_load_n(place, __ATOMIC_RELAXED), value;                                \
        do                                                                                                   \
            value = memop_atomic##bits(op, old, data, extra);                                                \
        while (!__atomic_compare_exchange_n(place, &old, value, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));  \
        return old;                                                                                          \
    }
MEMOP_HOST_ATOMIC(32)
MEMOP_HOST_ATOMIC(64)

#endif
