/* SPDX-License-Identifier: MIT */
/*
 * Which lines a cache holds, or pages a TLB: sets of entries, the last used first.  Bytes are not its
 * business.
 */
#ifndef EHP_CCD_TAGS_H
#define EHP_CCD_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <smmintrin.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "port/port.h"

/* An entry: the number of the line, or page, above flags.  0: none.  OURS: no other agent of the fabric has
 * the line; OWNED: nor does another core. */
#define TAG_VALID 1U
#define TAG_OWNED 2U
#define TAG_OURS  4U
#define TAG_DIRTY 8U
#define TAG_SHIFT 8
#define TAG_FLAGS UINT64_C(0xfe) /* those that not all entries have */

struct tags {
    uint64_t *entry;
    uint32_t sets, ways;
    bool by_mask; /* sets are a power of two */
};

/* `entries` is rounded down to whole sets. */
static inline void tags_open(struct tags *t, uint64_t entries, uint32_t ways, struct arena *arena)
{
    t->ways = entries < ways ? (uint32_t)entries : ways;
    t->sets = (uint32_t)(entries / t->ways);
    t->by_mask = (t->sets & (t->sets - 1)) == 0;
    t->entry = arena_take(arena, (size_t)t->sets * t->ways * sizeof(*t->entry));
}

static inline uint64_t *tags_set(const struct tags *t, uint64_t number)
{
    uint64_t set = t->by_mask ? number & (t->sets - 1) : number % t->sets;
    return t->entry + (size_t)set * t->ways;
}

/* Asks the host's memory for the number's set. */
static inline void tags_prefetch(const struct tags *t, uint64_t number)
{
    const uint64_t *set = tags_set(t, number);
    port_prefetch(set, t->ways * sizeof(*set));
}

/* Whether the entry is that number's. */
static inline bool tags_is(uint64_t entry, uint64_t number)
{
    return (entry & ~TAG_FLAGS) == (number << TAG_SHIFT | TAG_VALID);
}

/* The number's place in its set; as many as there are ways: it has none.  Two entries are compared at a
 * time. */
static inline uint32_t tags_way(const struct tags *t, const uint64_t *set, uint64_t number)
{
    const uint64_t entry = number << TAG_SHIFT | TAG_VALID, kept = ~TAG_FLAGS;
    const __m128i wanted = _mm_set1_epi64x((long long)entry), mask = _mm_set1_epi64x((long long)kept);
    uint32_t i = 0;
    for (; i + 4 <= t->ways; i += 4) {
        const __m128i first = _mm_loadu_si128((const __m128i *)&set[i]),
                      second = _mm_loadu_si128((const __m128i *)&set[i + 2]),
                      found = _mm_packs_epi32(_mm_cmpeq_epi64(_mm_and_si128(first, mask), wanted),
                                              _mm_cmpeq_epi64(_mm_and_si128(second, mask), wanted));
        const unsigned bytes = (unsigned)_mm_movemask_epi8(found); /* four of each entry */
        if (bytes)
            return i + (unsigned)__builtin_ctz(bytes) / 4;
    }
    while (i < t->ways && !tags_is(set[i], number))
        i++;
    return i;
}

/* Its entry, or NULL; it was not used by that. */
static inline uint64_t *tags_peek(const struct tags *t, uint64_t number)
{
    uint64_t *set = tags_set(t, number);
    const uint32_t way = tags_way(t, set, number);
    return way < t->ways ? &set[way] : NULL;
}

/* Its entry, now the last used, or NULL. */
static inline uint64_t *tags_find(const struct tags *t, uint64_t number)
{
    uint64_t *set = tags_set(t, number);
    if (tags_is(set[0], number))
        return set;
    const uint32_t way = tags_way(t, set, number);
    if (way == t->ways)
        return NULL;
    const uint64_t entry = set[way];
    for (uint32_t k = way; k; k--)
        set[k] = set[k - 1];
    set[0] = entry;
    return set;
}

/* Puts in what is not there; what it pushes out, or 0. */
static inline uint64_t tags_put(struct tags *t, uint64_t number, unsigned flags)
{
    uint64_t *set = tags_set(t, number), last = set[t->ways - 1];
    memmove(&set[1], &set[0], (t->ways - 1) * sizeof(*set));
    set[0] = number << TAG_SHIFT | flags | TAG_VALID;
    return last;
}

/* Takes it out: what it was, or 0. */
static inline uint64_t tags_drop(struct tags *t, uint64_t number)
{
    uint64_t *set = tags_set(t, number), *e = tags_peek(t, number);
    if (!e)
        return 0;
    uint64_t was = *e;
    for (; e + 1 < set + t->ways && e[1]; e++)
        e[0] = e[1];
    *e = 0;
    return was;
}

/* Clean from now on, and others may have it too: what it was, or 0. */
static inline uint64_t tags_share(const struct tags *t, uint64_t number)
{
    uint64_t *e = tags_peek(t, number), was = e ? *e : 0;
    if (e)
        *e &= ~(uint64_t)(TAG_OWNED | TAG_OURS | TAG_DIRTY);
    return was;
}

#endif
