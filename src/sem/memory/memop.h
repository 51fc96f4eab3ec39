/* SPDX-License-Identifier: MIT */
/*
 * What every memory family shares: how an instruction is described, how one
 * lane's bytes become registers and back, and the bracket around accesses to
 * host memory.
 *
 * A vector memory instruction has two halves.  The address half turns a wave
 * and an instruction into a struct memop_request: where each lane goes.  The
 * access half moves the bytes and writes registers back.  Common shapes (all
 * lanes active, consecutive addresses) do both at once.
 *
 * Source: "AMD Instinct MI300 ISA", chapters 8 to 11 and 12.13 to 12.18.
 */
#ifndef EHP_SEM_MEMORY_MEMOP_H
#define EHP_SEM_MEMORY_MEMOP_H

#include <stdatomic.h>
#include <string.h>
#include <immintrin.h>

#include "base/copy_once.h"
#include "wave/aperture.h"
#include "wave/fault.h"
#include "wave/wave.h"

#define MEMOP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MEMOP_LIKELY(x)   __builtin_expect(!!(x), 1)

/* ---- descriptions ---- */

enum memop_space {
    MEMOP_LDS,
    MEMOP_FLAT,
    MEMOP_GLOBAL,
    MEMOP_SCRATCH,
    MEMOP_BUFFER,
    MEMOP_TBUFFER,
    MEMOP_SCALAR
};

enum memop_action {
    MEMOP_NONE, /* not a memory instruction, or one that this family does not have */
    MEMOP_LOAD,
    MEMOP_STORE,
    MEMOP_LOAD2, /* two addresses from one register */
    MEMOP_STORE2,
    MEMOP_EXCHANGE2,
    MEMOP_ATOMIC,
    MEMOP_LOAD_LDS, /* memory to LDS */
    MEMOP_LOAD_FORMAT,
    MEMOP_STORE_FORMAT,
    MEMOP_FENCE,
    MEMOP_LANES, /* DS instructions that move data between lanes, or address in their own way */
};

/* How a lane's bytes in memory become registers.  Stores use the unsigned kinds. */
enum memop_kind {
    MEMOP_B8,
    MEMOP_I8,
    MEMOP_B16,
    MEMOP_I16,
    MEMOP_B8_D16, /* low half of the register; the other half stays */
    MEMOP_B8_D16_HI,
    MEMOP_I8_D16,
    MEMOP_I8_D16_HI,
    MEMOP_B16_D16,
    MEMOP_B16_D16_HI,
    MEMOP_B32,
    MEMOP_B64,
    MEMOP_B96,
    MEMOP_B128,
    MEMOP_KINDS
};

enum memop_atomic {
    MEMOP_SWAP,
    MEMOP_CMPSWAP,
    MEMOP_ADD,
    MEMOP_SUB,
    MEMOP_RSUB,
    MEMOP_SMIN,
    MEMOP_UMIN,
    MEMOP_SMAX,
    MEMOP_UMAX,
    MEMOP_AND,
    MEMOP_OR,
    MEMOP_XOR,
    MEMOP_INC,
    MEMOP_DEC,
    MEMOP_MSKOR,
    MEMOP_WRAP,
    MEMOP_CONDXCHG32,
    MEMOP_FADD,
    MEMOP_FMIN,
    MEMOP_FMAX,
    MEMOP_FCMPSWAP,
    MEMOP_PK_ADD_F16,
    MEMOP_PK_ADD_BF16,
};

struct memop {
    uint8_t action; /* enum memop_action */
    uint8_t space;  /* enum memop_space */
    uint8_t kind;   /* enum memop_kind; of atomics B32 or B64; of formats the number of components */
    uint8_t atomic; /* enum memop_atomic */
    uint8_t scale;  /* two-address forms: bytes of one step of an offset, divided by 4 */
    uint8_t dwords; /* scalar loads and stores */
    bool scratch;   /* scalar: the offset counts 64 bytes */
    bool returns;   /* DS atomics: writes the old value to a register */
    bool d16;       /* formats: 16-bit components; high: in the high half */
    bool high;
};

/* What a meaning does to memory; action is MEMOP_NONE when it does not. */
const struct memop *memop_of(unsigned op);

static inline unsigned memop_bytes(enum memop_kind kind)
{
    static const uint8_t bytes[MEMOP_KINDS] = {1, 1, 2, 2, 1, 1, 1, 1, 2, 2, 4, 8, 12, 16};
    return bytes[kind];
}

static inline unsigned memop_dwords(enum memop_kind kind)
{
    return kind < MEMOP_B64 ? 1 : kind - MEMOP_B32 + 1u;
}

/* ---- the address half's result ---- */

struct memop_request {
    uint64_t addr[WAVE_LANES]; /* host address; offset into LDS or into the lane's scratch */
    uint64_t mask;             /* lanes that access memory */
    uint64_t lds, scratch;     /* of these, the lanes that go there */
    bool write;
};

/* ---- one lane ---- */

typedef uint16_t __attribute__((aligned(1), may_alias)) memop_u16;
typedef uint32_t __attribute__((aligned(1), may_alias)) memop_u32;
typedef uint64_t __attribute__((aligned(1), may_alias)) memop_u64;
/* One access of the host, whatever the compiler thinks of halves: 16 aligned bytes are not torn on hosts that
 * have AVX.  Libraries keep a value and its flag in them. */
typedef long long __attribute__((vector_size(16), aligned(1), may_alias)) memop_v128;
typedef volatile memop_v128 memop_u128;

__attribute__((always_inline)) static inline void memop_lane_load(wave_row *d, unsigned lane,
                                                                  enum memop_kind kind, const void *from)
{
    const uint8_t *p = from;
    uint32_t old;
    switch (kind) {
    case MEMOP_B8:
        d[0][lane] = *p;
        break;
    case MEMOP_I8:
        d[0][lane] = (uint32_t)(int32_t)(int8_t)*p;
        break;
    case MEMOP_B16:
        d[0][lane] = *(const memop_u16 *)from;
        break;
    case MEMOP_I16:
        d[0][lane] = (uint32_t)(int32_t)(int16_t)*(const memop_u16 *)from;
        break;
    case MEMOP_B8_D16:
        old = *p;
        d[0][lane] = (d[0][lane] & 0xffff0000) | old;
        break;
    case MEMOP_B8_D16_HI:
        old = *p;
        d[0][lane] = (d[0][lane] & 0xffff) | old << 16;
        break;
    case MEMOP_I8_D16:
        old = (uint32_t)(int32_t)(int8_t)*p & 0xffff;
        d[0][lane] = (d[0][lane] & 0xffff0000) | old;
        break;
    case MEMOP_I8_D16_HI:
        old = (uint32_t)(int32_t)(int8_t)*p & 0xffff;
        d[0][lane] = (d[0][lane] & 0xffff) | old << 16;
        break;
    case MEMOP_B16_D16:
        old = *(const memop_u16 *)from;
        d[0][lane] = (d[0][lane] & 0xffff0000) | old;
        break;
    case MEMOP_B16_D16_HI:
        old = *(const memop_u16 *)from;
        d[0][lane] = (d[0][lane] & 0xffff) | old << 16;
        break;
    case MEMOP_B32:
        d[0][lane] = *(const memop_u32 *)from;
        break;
    case MEMOP_B64: { /* one access: what is aligned is not torn */
        uint64_t v = *(const memop_u64 *)from;
        d[0][lane] = (uint32_t)v;
        d[1][lane] = (uint32_t)(v >> 32);
        break;
    }
    case MEMOP_B96: {
        uint64_t v = *(const memop_u64 *)from;
        uint32_t x = *(const memop_u32 *)(p + 8);
        d[0][lane] = (uint32_t)v;
        d[1][lane] = (uint32_t)(v >> 32);
        d[2][lane] = x;
        break;
    }
    case MEMOP_B128: {
        const memop_v128 v = *(const memop_u128 *)from;
        d[0][lane] = (uint32_t)v[0];
        d[1][lane] = (uint32_t)((uint64_t)v[0] >> 32);
        d[2][lane] = (uint32_t)v[1];
        d[3][lane] = (uint32_t)((uint64_t)v[1] >> 32);
        break;
    }
    default:
        __builtin_unreachable();
    }
}

__attribute__((always_inline)) static inline void memop_lane_store(const wave_row *s, unsigned lane,
                                                                   enum memop_kind kind, void *to)
{
    uint8_t *p = to;
    switch (kind) {
    case MEMOP_B8:
        *p = (uint8_t)s[0][lane];
        break;
    case MEMOP_B8_D16_HI:
        *p = (uint8_t)(s[0][lane] >> 16);
        break;
    case MEMOP_B16:
        *(memop_u16 *)to = (uint16_t)s[0][lane];
        break;
    case MEMOP_B16_D16_HI:
        *(memop_u16 *)to = (uint16_t)(s[0][lane] >> 16);
        break;
    case MEMOP_B32:
        *(memop_u32 *)to = s[0][lane];
        break;
    case MEMOP_B64:
        *(memop_u64 *)to = s[0][lane] | (uint64_t)s[1][lane] << 32;
        break;
    case MEMOP_B96:
        *(memop_u64 *)to = s[0][lane] | (uint64_t)s[1][lane] << 32;
        *(memop_u32 *)(p + 8) = s[2][lane];
        break;
    case MEMOP_B128:
        *(memop_u128 *)to = (memop_v128){(long long)(s[0][lane] | (uint64_t)s[1][lane] << 32),
                                         (long long)(s[2][lane] | (uint64_t)s[3][lane] << 32)};
        break;
    default:
        __builtin_unreachable();
    }
}

/* ---- whole rows: lane l's bytes are at from + l * memop_bytes(kind) ---- */

/* One row from or to memory that is no row of this wave.  By name, as the compiler makes string
 * instructions or 128-bit copies of a loop. */
__attribute__((always_inline)) static inline void memop_row_copy(void *to, const void *from)
{
#if defined(__AVX512F__)
    const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512((const char *)from + 64);
    const __m512i c = _mm512_loadu_si512((const char *)from + 128);
    const __m512i d = _mm512_loadu_si512((const char *)from + 192);
    _mm512_storeu_si512(to, a);
    _mm512_storeu_si512((char *)to + 64, b);
    _mm512_storeu_si512((char *)to + 128, c);
    _mm512_storeu_si512((char *)to + 192, d);
#elif defined(__AVX2__)
    __m256i *t = (__m256i *)to;
    const __m256i *f = (const __m256i *)from;
    for (int i = 0; i < 2; i++, t += 4, f += 4) {
        const __m256i a = _mm256_loadu_si256(f), b = _mm256_loadu_si256(f + 1);
        const __m256i c = _mm256_loadu_si256(f + 2), d = _mm256_loadu_si256(f + 3);
        _mm256_storeu_si256(t, a);
        _mm256_storeu_si256(t + 1, b);
        _mm256_storeu_si256(t + 2, c);
        _mm256_storeu_si256(t + 3, d);
    }
#else
    memcpy(to, from, sizeof(wave_row));
#endif
}

/*
 * Rows of quads, each of which is one access: left to itself the compiler reads
 * a quad twice, for different rows, and writes its halves.
 */
#if defined(__AVX2__)
/* Quads l and l + 4. */
__attribute__((always_inline)) static inline __m256i memop_two_quads(const memop_u128 *from)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)from[0]), (__m128i)from[4], 1);
}

__attribute__((always_inline)) static inline void memop_put_quads(memop_u128 *to, __m256i quads)
{
    to[0] = (memop_v128)_mm256_castsi256_si128(quads);
    to[4] = (memop_v128)_mm256_extracti128_si256(quads, 1);
}

__attribute__((always_inline)) static inline void memop_quads_load(wave_row *d, const void *from)
{
    const memop_u128 *q = from;
    for (unsigned l = 0; l < WAVE_LANES; l += 8, q += 8) {
        const __m256i a = memop_two_quads(q), b = memop_two_quads(q + 1);
        const __m256i c = memop_two_quads(q + 2), e = memop_two_quads(q + 3);
        const __m256i ab = _mm256_unpacklo_epi32(a, b), ce = _mm256_unpacklo_epi32(c, e);
        const __m256i ab_hi = _mm256_unpackhi_epi32(a, b), ce_hi = _mm256_unpackhi_epi32(c, e);
        _mm256_storeu_si256((__m256i *)(d[0] + l), _mm256_unpacklo_epi64(ab, ce));
        _mm256_storeu_si256((__m256i *)(d[1] + l), _mm256_unpackhi_epi64(ab, ce));
        _mm256_storeu_si256((__m256i *)(d[2] + l), _mm256_unpacklo_epi64(ab_hi, ce_hi));
        _mm256_storeu_si256((__m256i *)(d[3] + l), _mm256_unpackhi_epi64(ab_hi, ce_hi));
    }
}

__attribute__((always_inline)) static inline void memop_quads_store(const wave_row *s, void *to)
{
    memop_u128 *q = to;
    for (unsigned l = 0; l < WAVE_LANES; l += 8, q += 8) {
        const __m256i r0 = _mm256_loadu_si256((const __m256i *)(s[0] + l));
        const __m256i r1 = _mm256_loadu_si256((const __m256i *)(s[1] + l));
        const __m256i r2 = _mm256_loadu_si256((const __m256i *)(s[2] + l));
        const __m256i r3 = _mm256_loadu_si256((const __m256i *)(s[3] + l));
        const __m256i low = _mm256_unpacklo_epi32(r0, r1), low_hi = _mm256_unpackhi_epi32(r0, r1);
        const __m256i top = _mm256_unpacklo_epi32(r2, r3), top_hi = _mm256_unpackhi_epi32(r2, r3);
        memop_put_quads(q, _mm256_unpacklo_epi64(low, top));
        memop_put_quads(q + 1, _mm256_unpackhi_epi64(low, top));
        memop_put_quads(q + 2, _mm256_unpacklo_epi64(low_hi, top_hi));
        memop_put_quads(q + 3, _mm256_unpackhi_epi64(low_hi, top_hi));
    }
}
#else
__attribute__((always_inline)) static inline void memop_quads_load(wave_row *d, const void *from)
{
    const memop_u128 *q = from;
    for (unsigned l = 0; l < WAVE_LANES; l += 4, q += 4) {
        const __m128i a = (__m128i)q[0], b = (__m128i)q[1], c = (__m128i)q[2], e = (__m128i)q[3];
        const __m128i ab = _mm_unpacklo_epi32(a, b), ce = _mm_unpacklo_epi32(c, e);
        const __m128i ab_hi = _mm_unpackhi_epi32(a, b), ce_hi = _mm_unpackhi_epi32(c, e);
        _mm_storeu_si128((__m128i *)(d[0] + l), _mm_unpacklo_epi64(ab, ce));
        _mm_storeu_si128((__m128i *)(d[1] + l), _mm_unpackhi_epi64(ab, ce));
        _mm_storeu_si128((__m128i *)(d[2] + l), _mm_unpacklo_epi64(ab_hi, ce_hi));
        _mm_storeu_si128((__m128i *)(d[3] + l), _mm_unpackhi_epi64(ab_hi, ce_hi));
    }
}

__attribute__((always_inline)) static inline void memop_quads_store(const wave_row *s, void *to)
{
    memop_u128 *q = to;
    for (unsigned l = 0; l < WAVE_LANES; l += 4, q += 4) {
        const __m128i r0 = _mm_loadu_si128((const __m128i *)(s[0] + l));
        const __m128i r1 = _mm_loadu_si128((const __m128i *)(s[1] + l));
        const __m128i r2 = _mm_loadu_si128((const __m128i *)(s[2] + l));
        const __m128i r3 = _mm_loadu_si128((const __m128i *)(s[3] + l));
        const __m128i low = _mm_unpacklo_epi32(r0, r1), low_hi = _mm_unpackhi_epi32(r0, r1);
        const __m128i top = _mm_unpacklo_epi32(r2, r3), top_hi = _mm_unpackhi_epi32(r2, r3);
        q[0] = (memop_v128)_mm_unpacklo_epi64(low, top);
        q[1] = (memop_v128)_mm_unpackhi_epi64(low, top);
        q[2] = (memop_v128)_mm_unpacklo_epi64(low_hi, top_hi);
        q[3] = (memop_v128)_mm_unpackhi_epi64(low_hi, top_hi);
    }
}
#endif

__attribute__((always_inline)) static inline void memop_rows_load(wave_row *d, enum memop_kind kind,
                                                                  const void *from)
{
    const unsigned step = memop_bytes(kind);
    uint32_t *restrict r0 = d[0], *restrict r1 = d[1], *restrict r2 = d[2];
    const memop_u32 *restrict q = from;
    switch (kind) {
    case MEMOP_B32:
        memop_row_copy(r0, from);
        break;
    case MEMOP_B64:
        for (unsigned l = 0; l < WAVE_LANES; l++) {
            r0[l] = q[2 * l];
            r1[l] = q[2 * l + 1];
        }
        break;
    case MEMOP_B96:
        for (unsigned l = 0; l < WAVE_LANES; l++) {
            r0[l] = q[3 * l];
            r1[l] = q[3 * l + 1];
            r2[l] = q[3 * l + 2];
        }
        break;
    case MEMOP_B128:
        memop_quads_load(d, from);
        break;
    default:
        for (unsigned l = 0; l < WAVE_LANES; l++)
            memop_lane_load(d, l, kind, (const uint8_t *)from + l * step);
        break;
    }
}

__attribute__((always_inline)) static inline void memop_rows_store(const wave_row *s, enum memop_kind kind,
                                                                   void *to)
{
    const unsigned step = memop_bytes(kind);
    const uint32_t *restrict r0 = s[0], *restrict r1 = s[1], *restrict r2 = s[2];
    memop_u32 *restrict q = to;
    switch (kind) {
    case MEMOP_B32:
        memop_row_copy(to, r0);
        break;
    case MEMOP_B64:
        for (unsigned l = 0; l < WAVE_LANES; l++) {
            q[2 * l] = r0[l];
            q[2 * l + 1] = r1[l];
        }
        break;
    case MEMOP_B96:
        for (unsigned l = 0; l < WAVE_LANES; l++) {
            q[3 * l] = r0[l];
            q[3 * l + 1] = r1[l];
            q[3 * l + 2] = r2[l];
        }
        break;
    case MEMOP_B128:
        memop_quads_store(s, to);
        break;
    default:
        for (unsigned l = 0; l < WAVE_LANES; l++)
            memop_lane_store(s, l, kind, (uint8_t *)to + l * step);
        break;
    }
}

/* Every lane gets the same bytes. */
__attribute__((always_inline)) static inline void memop_rows_splat(wave_row *d, enum memop_kind kind,
                                                                   const void *from)
{
    alignas(16) uint32_t x[4] = {0};
    if (kind == MEMOP_B128)
        *(memop_v128 *)x = *(const memop_u128 *)from;
    else
        memcpy(x, from, memop_bytes(kind));
    for (unsigned l = 0; l < WAVE_LANES; l++)
        memop_lane_load(d, l, kind, x);
}

/* A lane mask as rows have it: ~0 in the lanes of the mask. */
static inline void memop_expand(uint64_t mask, uint32_t *restrict row)
{
#define BITS(n) 1u << (n), 1u << ((n) + 1), 1u << ((n) + 2), 1u << ((n) + 3)
    static const uint32_t bit[32] = {BITS(0),  BITS(4),  BITS(8),  BITS(12),
                                     BITS(16), BITS(20), BITS(24), BITS(28)};
#undef BITS
    for (unsigned half = 0; half < 2; half++) {
        uint32_t bits = (uint32_t)(mask >> 32 * half);
        for (unsigned l = 0; l < 32; l++)
            row[32 * half + l] = (bits & bit[l]) == bit[l] ? UINT32_MAX : 0;
    }
}

/* dst = src in the lanes of mask. */
static inline void memop_row_merge(uint32_t *dst, const uint32_t *src, uint64_t mask)
{
#ifdef __AVX512F__
    for (unsigned i = 0; i < 4; i++)
        _mm512_mask_storeu_epi32(dst + 16 * i, (__mmask16)(mask >> 16 * i), _mm512_loadu_si512(src + 16 * i));
#else
    wave_row select;
    if (mask == UINT64_MAX) {
        memcpy(dst, src, sizeof(wave_row));
        return;
    }
    memop_expand(mask, select);
    for (unsigned l = 0; l < WAVE_LANES; l++)
        dst[l] ^= (dst[l] ^ src[l]) & select[l];
#endif
}

/* ---- shapes: most instructions of most programs go to consecutive places, or all to one ---- */

enum memop_shape { MEMOP_ANY, MEMOP_DENSE, MEMOP_UNIFORM };

/* Whether lane l of lo is base + l * step, and hi's lanes (NULL: none) are all `high`. */
__attribute__((always_inline)) static inline bool
memop_steps(const uint32_t *lo, uint32_t base, uint32_t step, const uint32_t *hi, uint32_t high)
{
#if defined(__AVX512F__)
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i steps = _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)step));
    __mmask16 differs = 0;
    for (uint32_t l = 0; l < WAVE_LANES; l += 16) {
        const __m512i want = _mm512_add_epi32(_mm512_set1_epi32((int)(base + l * step)), steps);
        differs |= _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(lo + l), want);
        if (hi)
            differs |= _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(hi + l), _mm512_set1_epi32((int)high));
    }
    return differs == 0;
#elif defined(__AVX2__)
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), top = _mm256_set1_epi32((int)high);
    const __m256i first = _mm256_add_epi32(_mm256_set1_epi32((int)base),
                                           _mm256_mullo_epi32(lane, _mm256_set1_epi32((int)step)));
    __m256i differs = _mm256_setzero_si256();
    for (uint32_t l = 0; l < WAVE_LANES; l += 8) {
        const __m256i want = _mm256_add_epi32(first, _mm256_set1_epi32((int)(l * step)));
        differs = _mm256_or_si256(
            differs, _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(lo + l)), want));
        if (hi)
            differs = _mm256_or_si256(
                differs, _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(hi + l)), top));
    }
    return _mm256_testz_si256(differs, differs);
#else
    uint32_t differs = 0;
    for (uint32_t l = 0; l < WAVE_LANES; l++)
        differs |= lo[l] ^ (base + l * step);
    if (hi)
        for (uint32_t l = 0; l < WAVE_LANES; l++)
            differs |= hi[l] ^ high;
    return differs == 0;
#endif
}

/* Apart, so that nothing is kept in registers for it. */
__attribute__((noinline, unused)) static bool memop_same(const uint32_t *lo, const uint32_t *hi)
{
    return memop_steps(lo, lo[0], 0, hi, hi ? hi[0] : 0);
}

/* Which lanes are `value`. */
static inline uint64_t memop_lanes_of(const uint32_t *row, uint32_t value)
{
    uint64_t lanes = 0;
#if defined(__AVX512F__)
    for (unsigned l = 0; l < WAVE_LANES; l += 16)
        lanes |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_loadu_si512(row + l), _mm512_set1_epi32((int)value))
                 << l;
#elif defined(__AVX2__)
    const __m256i all = _mm256_set1_epi32((int)value), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (unsigned l = 0; l < WAVE_LANES; l += 32) {
        __m256i same[4];
        for (unsigned i = 0; i < 4; i++)
            same[i] =
                _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(row + l + 8 * i)), all);
        const __m256i bytes =
            _mm256_packs_epi16(_mm256_packs_epi32(same[0], same[1]), _mm256_packs_epi32(same[2], same[3]));
        lanes |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, order)) << l;
    }
#else
    for (unsigned l = 0; l < WAVE_LANES; l++)
        lanes |= (uint64_t)(row[l] == value) << l;
#endif
    return lanes;
}

/* Of lanes that are not consecutive: whether all of hi are `high`, and of lo the same. */
enum { MEMOP_HIGH = 1, MEMOP_SAME = 2 };
__attribute__((noinline, unused)) static unsigned memop_same_in(const uint32_t *lo, const uint32_t *hi,
                                                                uint32_t high)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    const __m256i one = _mm256_set1_epi32((int)lo[0]), top = _mm256_set1_epi32((int)high);
    __m256i lows = _mm256_setzero_si256(), highs = _mm256_setzero_si256();
    for (uint32_t l = 0; l < WAVE_LANES; l += 8) {
        lows = _mm256_or_si256(
            lows, _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(lo + l)), one));
        highs = _mm256_or_si256(
            highs, _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(hi + l)), top));
    }
    return (_mm256_testz_si256(highs, highs) ? MEMOP_HIGH : 0) |
           (_mm256_testz_si256(lows, lows) ? MEMOP_SAME : 0);
#else
    return (memop_steps(hi, high, 0, NULL, 0) ? MEMOP_HIGH : 0) |
           (memop_steps(lo, lo[0], 0, NULL, 0) ? MEMOP_SAME : 0);
#endif
}

/* Whether `step` bytes for each lane from `base` on do not wrap. */
static inline bool memop_has_room(uint32_t base, uint32_t step)
{
    return base <= UINT32_MAX - WAVE_LANES * step;
}

/*
 * How the active lanes' addresses lie, seen from the first of them.  DENSE: lane
 * l's is `step` bytes after lane l - 1's, and the low 32 bits do not wrap.
 * hi is NULL when only lo varies.
 */
__attribute__((always_inline)) static inline enum memop_shape
memop_shape_of(const uint32_t *lo, const uint32_t *hi, uint32_t step, uint64_t exec, unsigned first)
{
    uint32_t base = lo[first], high = hi ? hi[first] : 0;
    bool room = memop_has_room(base, step);
    if (MEMOP_LIKELY(exec == UINT64_MAX)) {
        if (memop_steps(lo, base, step, hi, high))
            return MEMOP_LIKELY(room) ? MEMOP_DENSE : MEMOP_ANY;
        return memop_same(lo, hi) ? MEMOP_UNIFORM : MEMOP_ANY;
    }
    uint32_t origin = base - first * step, not_dense = 0, not_uniform = 0;
    wave_row select;
    memop_expand(exec, select);
    for (uint32_t l = 0; l < WAVE_LANES; l++) {
        uint32_t differs = hi ? hi[l] ^ high : 0;
        not_dense |= ((lo[l] - (origin + l * step)) | differs) & select[l];
        not_uniform |= ((lo[l] ^ base) | differs) & select[l];
    }
    if (!not_dense && room)
        return MEMOP_DENSE;
    return not_uniform ? MEMOP_ANY : MEMOP_UNIFORM;
}

/*
 * DENSE with some lanes inactive.  What lies between the first and the last
 * active lane is at most 1 KiB, so each of its pages is one that an active lane
 * reads: reading all of it faults when and only when the instruction does.
 */
__attribute__((always_inline)) static inline void memop_rows_load_some(wave_row *d, enum memop_kind kind,
                                                                       const void *from, uint64_t exec)
{
    const unsigned step = memop_bytes(kind), first = (unsigned)__builtin_ctzll(exec);
    alignas(64) uint8_t bytes[WAVE_LANES * 16];
    alignas(64) wave_row rows[4];
    copy_once(bytes + first * step, from, (64 - (unsigned)__builtin_clzll(exec) - first) * step);
    memop_rows_load(rows, kind, bytes);
    for (unsigned i = 0; i < memop_dwords(kind); i++)
        memop_row_merge(d[i], rows[i], exec);
}

/* Stores rows of which a run of lanes is active, to consecutive memory.  The other lanes' memory is nobody's
 * to write. */
__attribute__((always_inline)) static inline void
memop_rows_store_run(const wave_row *s, enum memop_kind kind, void *to, uint64_t exec)
{
    const unsigned step = memop_bytes(kind), first = (unsigned)__builtin_ctzll(exec);
    alignas(64) uint8_t bytes[WAVE_LANES * 16];
    memop_rows_store(s, kind, bytes);
    copy_once(to, bytes + first * step, (unsigned)__builtin_popcountll(exec) * step);
}

static inline bool memop_is_run(uint64_t exec)
{
    uint64_t run = exec >> __builtin_ctzll(exec);
    return (run & (run + 1)) == 0;
}

/* Kinds that keep half of their register. */
static inline bool memop_is_d16(enum memop_kind kind)
{
    return kind >= MEMOP_B8_D16 && kind <= MEMOP_B16_D16_HI;
}

/* Iterates over the lanes of a mask. */
#define MEMOP_FOR_LANES(lane, mask)                                                                          \
    for (uint64_t lanes_ = (mask), lane = 0; lanes_ && (lane = (uint64_t)__builtin_ctzll(lanes_), true);     \
         lanes_ &= lanes_ - 1)

/* ---- the bracket ---- */

/* A host fault between these is the instruction's: see wave/fault.h. */
static inline void memop_begin(struct wave *w, const struct xinst *in)
{
    w->guard->in = in;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void memop_end(struct wave *w)
{
    atomic_signal_fence(memory_order_seq_cst);
    w->guard->in = NULL;
}

static inline unsigned memop_lanes(const struct wave *w)
{
    return (unsigned)__builtin_popcountll(w->exec);
}

/* Adds active lanes times `bytes` to a field of the statistics. */
#define MEMOP_COUNT(w, field, bytes)                                                                         \
    do {                                                                                                     \
        if (MEMOP_UNLIKELY((w)->stats))                                                                      \
            (w)->stats->field += (uint64_t)memop_lanes(w) * (bytes);                                         \
    } while (0)

/* ---- instruction fields ---- */

/* Address row, data rows: in->s[0], in->s[1], in->s[2]; result: in->d. */
static inline uint64_t memop_offset(const struct xinst *in)
{
    return in->mem.offset;
}

/* Scalar base or offset in SGPR ss[0]; XSRC_CONST when there is none. */
static inline bool memop_has_sbase(const struct xinst *in)
{
    return in->ss[0] != XSRC_CONST;
}

static inline bool memop_has_vaddr(const struct xinst *in)
{
    return in->rows[0] != 0;
}

static inline int16_t memop_row(const struct isa_operand *o)
{
    return (int16_t)(o->kind == ISA_AGPR ? WAVE_ACC + o->reg : o->reg);
}

/* FLAT, GLOBAL or SCRATCH. */
static inline enum memop_space memop_space_of(const struct xinst *in)
{
    return (enum memop_space)in->mem.space;
}

/* Fills the fields above from the decoded operands. */
static inline void memop_resolve(const struct isa_inst *inst, struct xinst *x)
{
    const struct memop *op = memop_of(inst->op);
    const bool two = op->action == MEMOP_LOAD2 || op->action == MEMOP_STORE2 || op->action == MEMOP_EXCHANGE2;
    x->mem = (struct xmemory){.offset = two ? (uint64_t)(inst->offset & 0xff) * op->scale * 4
                                            : (uint64_t)(int64_t)inst->offset,
                              .second = two ? (uint32_t)inst->offset1 * op->scale * 4 : 0,
                              .soffset = inst->soffset.kind == ISA_CONST ? (uint32_t)inst->soffset.value : 0,
                              .space = op->space,
                              .kind = op->kind,
                              .atomic = op->atomic,
                              .returns = inst->dst.kind != ISA_NONE && op->action == MEMOP_ATOMIC,
                              .window = (uint8_t)(x->pc / 8 % WAVE_WINDOWS)};
    x->rows[0] = inst->src[ISA_ADDR].kind == ISA_VGPR || inst->src[ISA_ADDR].kind == ISA_AGPR
                     ? inst->src[ISA_ADDR].dwords
                     : 0;
    x->s[0] = memop_row(&inst->src[ISA_ADDR]);
    x->s[1] = memop_row(&inst->src[ISA_DATA]);
    x->s[2] = memop_row(&inst->src[ISA_DATA2]);
    x->d = memop_row(&inst->dst);
    x->ss[0] = inst->src[ISA_SBASE].kind == ISA_SGPR ? (uint8_t)inst->src[ISA_SBASE].reg : XSRC_CONST;
    x->ss[1] = inst->soffset.kind == ISA_SGPR ? (uint8_t)inst->soffset.reg : XSRC_CONST;
}

#endif
