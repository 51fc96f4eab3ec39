/* SPDX-License-Identifier: MIT */
/*
 * A slice of the Infinity Cache: tags only, as the bytes are the memory's.  A half of
 * a line is there when it came from memory or was written whole; what was written in
 * part, nobody can read before the rest has come.
 *
 * Sets are chosen by a hash of what lies above a few rows of memory: a footprint
 * near the capacity hits in part (some sets have too many lines, some too few), and
 * lines of one DRAM row leave together, so that write-backs find open rows.
 *
 * Sources: ISCA'24, IV.D (memory-side, 2 MB a slice, a prefetcher); MT4G (l3.lineSize is
 * 64 bytes, of tags for 128 here); the hash, LRU
 * and the prefetcher's shape are guesses.
 */
#include "fabric/internal.h"

#include <assert.h>
#include <emmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "chip/chip.h"

enum { TOGETHER = 64 }; /* lines that lie in neighbouring sets */
#define NO_LINE UINT32_MAX

void cache_open(struct cache *c, const struct chip *chip, unsigned slice, struct arena *arena)
{
    memset(c, 0, sizeof(*c));
    unsigned slices = chip_get(chip, CHIP_infinity_cache_slices);
    if (slices == 0)
        return;
    c->ways = chip_get(chip, CHIP_infinity_cache_ways);
    c->sets = (uint32_t)(chip->value[CHIP_infinity_cache_size] / slices / FABRIC_LINE) / c->ways;
    c->salt = slice * UINT32_C(0x85ebca6b);
    c->streams = chip_get(chip, CHIP_infinity_cache_streams);
    c->depth = chip_get(chip, CHIP_infinity_cache_prefetch);
    assert(c->ways <= CHIP_MAX_CACHE_WAYS && c->streams <= CHIP_MAX_STREAMS && c->sets % TOGETHER == 0);
    for (unsigned i = 0; i < CHIP_MAX_STREAMS; i++)
        c->next[i] = NO_LINE;
    c->tag = arena_take(arena, sizeof(*c->tag) * c->sets * c->ways);
    c->order = arena_take(arena, sizeof(*c->order) * c->sets);
    c->dirty = arena_take(arena, sizeof(*c->dirty) * c->sets);
    c->void_half = arena_take(arena, sizeof(*c->void_half) * c->sets);
    memset(c->tag, 0xff, sizeof(*c->tag) * c->sets * c->ways);
    for (uint32_t i = 0; i < c->sets; i++)
        c->order[i] = UINT64_C(0xfedcba9876543210);
}

static uint32_t set_of(const struct cache *c, uint32_t line)
{
    uint32_t x = line / TOGETHER ^ c->salt;
    x = (x ^ x >> 16) * UINT32_C(0x7feb352d);
    x = (x ^ x >> 15) * UINT32_C(0x846ca68b);
    x ^= x >> 16;
    return (uint32_t)((uint64_t)x * (c->sets / TOGETHER) >> 32) * TOGETHER + line % TOGETHER;
}

static int find_way(const struct cache *c, uint32_t set, uint32_t line)
{
    const uint32_t *tag = c->tag + (size_t)set * c->ways;
    if (c->ways == 16) {
        const __m128i wanted = _mm_set1_epi32((int)line), *four = (const __m128i *)tag;
        __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(four), wanted),
                                      _mm_cmpeq_epi32(_mm_load_si128(four + 1), wanted)),
                high = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(four + 2), wanted),
                                       _mm_cmpeq_epi32(_mm_load_si128(four + 3), wanted));
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_packs_epi16(low, high));
        return found ? __builtin_ctz(found) : CACHE_NONE;
    }
    for (unsigned way = 0; way < c->ways; way++)
        if (tag[way] == line)
            return (int)way;
    return CACHE_NONE;
}

/* Moves a way to the front of the order. */
static uint64_t touch(uint64_t order, unsigned way)
{
    const uint64_t ones = UINT64_C(0x1111111111111111);
    uint64_t differs = order ^ ones * way;
    unsigned shift = (unsigned)__builtin_ctzll((differs - ones) & ~differs & ones << 3) - 3;
    uint64_t before = order & ((UINT64_C(1) << shift) - 1), after = order >> shift >> 4;
    return (shift < 60 ? after << (shift + 4) : 0) | before << 4 | way;
}

/* A way's bits of void_half. */
static uint32_t void_of(unsigned halves, unsigned way)
{
    return ((halves & FIRST_HALF) | (halves & SECOND_HALF) << 15) << way;
}

static bool is_whole(const struct cache *c, uint32_t set, unsigned way)
{
    return !(c->void_half[set] & void_of(BOTH_HALVES, way));
}

bool cache_has(const struct cache *c, uint32_t line)
{
    if (!c->sets)
        return false;
    uint32_t set = set_of(c, line);
    int way = find_way(c, set, line);
    return way != CACHE_NONE && is_whole(c, set, (unsigned)way);
}

void cache_prefetch(const struct cache *c, uint32_t line, unsigned lines)
{
    if (!c->sets)
        return;
    uint32_t set = set_of(c, line); /* of the first; a pair's are neighbours */
    port_prefetch(c->tag + (size_t)set * c->ways, lines * c->ways * (unsigned)sizeof(*c->tag));
    port_prefetch_line(c->order + set);
    port_prefetch_line(c->dirty + set);
    port_prefetch_line(c->void_half + set);
}

bool cache_look(struct cache *c, uint32_t line)
{
    if (!c->sets)
        return false;
    const uint32_t set = set_of(c, line);
    const int way = find_way(c, set, line);
    if (way == CACHE_NONE)
        return false;
    c->order[set] = touch(c->order[set], (unsigned)way);
    return is_whole(c, set, (unsigned)way);
}

enum cache_put cache_put(struct cache *c, uint32_t line, unsigned halves, bool dirty, uint32_t *victim)
{
    if (!c->sets) { /* no cache: what is written goes on to memory */
        *victim = line;
        return dirty ? CACHE_PUSHED : CACHE_FILLED;
    }
    uint32_t set = set_of(c, line);
    const int found = find_way(c, set, line);
    if (found != CACHE_NONE) {
        c->order[set] = touch(c->order[set], (unsigned)found);
        c->dirty[set] |= (uint16_t)((unsigned)dirty << found);
        c->void_half[set] &= ~void_of(halves, (unsigned)found);
        return CACHE_HAD;
    }
    const uint64_t order = c->order[set];
    const unsigned way = order >> 4 * (c->ways - 1) & 0xf;
    uint32_t *tag = c->tag + (size_t)set * c->ways + way;
    const bool pushes = *tag != NO_LINE && (c->dirty[set] >> way & 1);
    *victim = *tag;
    *tag = line;
    c->order[set] = touch(order, way);
    c->dirty[set] = (uint16_t)((c->dirty[set] & ~(1U << way)) | (unsigned)dirty << way);
    c->void_half[set] = (c->void_half[set] & ~void_of(BOTH_HALVES, way)) | void_of(~halves, way);
    return pushes ? CACHE_PUSHED : CACHE_FILLED;
}

void cache_age(struct cache *c, uint64_t count, double dirty, uint64_t fresh, uint32_t lines)
{
    if (!c->sets)
        return;
    /* Sets have taken in up to some twice as many as they have on average. */
    uint64_t newest = fresh ? 1 + 2 * fresh / c->sets : 0;
    unsigned keeps = newest < c->ways / 2 ? (unsigned)newest : c->ways / 2;
    uint64_t kept = (UINT64_C(1) << 4 * keeps) - 1;
    /* Neighbours are of one array, and so alike. */
    double part = 0;
    uint32_t line = lines / TOGETHER * TOGETHER;
    for (uint64_t groups = count / TOGETHER; groups && line; groups--) {
        line -= TOGETHER;
        part += dirty;
        bool all = part >= 1;
        part -= all;
        uint32_t first = set_of(c, line);
        for (uint32_t i = 0; i < TOGETHER; i++) {
            uint64_t *order = &c->order[first + i];
            unsigned way = *order >> 4 * (c->ways - 1) & 0xf;
            c->tag[(size_t)(first + i) * c->ways + way] = line + i;
            c->dirty[first + i] = (uint16_t)((c->dirty[first + i] & ~(1U << way)) | (unsigned)all << way);
            c->void_half[first + i] &= ~void_of(BOTH_HALVES, way);
            *order = touch(*order, way); /* the newest, but behind those that are kept */
            *order = (*order & ~(kept << 4 | 0xf)) | (*order >> 4 & kept) | (uint64_t)way << 4 * keeps;
        }
    }
}

/* The stream that the line continues; all of them: none. */
static unsigned find_stream(const struct cache *c, uint32_t line)
{
    const __m128i wanted = _mm_set1_epi32((int)line), *next = (const __m128i *)c->next;
    for (unsigned i = 0; i < c->streams; i += 4) { /* behind the last there is none of a line */
        const int found =
            _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(_mm_load_si128(next + i / 4), wanted)));
        if (found)
            return i + (unsigned)__builtin_ctz((unsigned)found);
    }
    return c->streams;
}

unsigned cache_stream(struct cache *c, uint32_t line, uint32_t *first)
{
    const unsigned i = find_stream(c, line);
    if (i < c->streams) {
        struct stream *s = &c->stream[i];
        c->next[i] = line + 1;
        if (s->seen < 2) {
            s->seen++;
            s->ahead = line;
        }
        if (s->seen < 2)
            return 0;
        if (s->ahead < line)
            s->ahead = line;
        *first = s->ahead + 1;
        unsigned count = line + c->depth - s->ahead;
        s->ahead = line + c->depth;
        return count;
    }
    if (c->streams) {
        c->next[c->oldest] = line + 1;
        c->stream[c->oldest] = (struct stream){0};
        c->oldest = c->oldest + 1 < c->streams ? c->oldest + 1 : 0;
    }
    return 0;
}
