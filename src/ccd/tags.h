/* SPDX-License-Identifier: MIT */
/*
 * Which lines a cache holds, or pages a TLB: sets of entries, the last used first.  Bytes are not its
 * business.
 */
#ifndef EHP_CCD_TAGS_H
#define EHP_CCD_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* An entry: the number of the line, or page, above flags.  0: none.  OURS: no other agent of the fabric has
 * the line; OWNED: nor does another core. */
#define TAG_VALID 1U
#define TAG_OWNED 2U
#define TAG_OURS  4U
#define TAG_DIRTY 8U
#define TAG_SHIFT 8

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

/* Whether the entry is that number's: one that is has flags, and nothing else that differs. */
static inline bool tags_is(uint64_t entry, uint64_t number)
{
    return (entry ^ number << TAG_SHIFT) - 1 < (1U << TAG_SHIFT) - 1;
}

/* Its entry, or NULL; it was not used by that. */
static inline uint64_t *tags_peek(const struct tags *t, uint64_t number)
{
    uint64_t *set = tags_set(t, number);
    for (uint32_t i = 0; i < t->ways; i++)
        if (tags_is(set[i], number))
            return &set[i];
    return NULL;
}

/* Its entry, now the last used, or NULL. */
static inline uint64_t *tags_find(const struct tags *t, uint64_t number)
{
    uint64_t *set = tags_set(t, number);
    uint32_t i = 0;
    while (!tags_is(set[i], number))
        if (++i == t->ways)
            return NULL;
    uint64_t before = set[i];
    for (uint32_t k = 0; k <= i; k++) {
        const uint64_t entry = set[k];
        set[k] = before;
        before = entry;
    }
    return set;
}

/* Puts in what is not there; what it pushes out, or 0. */
static inline uint64_t tags_put(struct tags *t, uint64_t number, unsigned flags)
{
    uint64_t *set = tags_set(t, number), last = set[t->ways - 1];
    for (uint32_t i = t->ways - 1; i; i--)
        set[i] = set[i - 1];
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
