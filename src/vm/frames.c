/* SPDX-License-Identifier: MIT */
/* Free frames; see frames.h. */
#include "vm/frames.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(CHIP_MAX_CHUNK == 1 << (FRAME_SHIFT + CHUNK_MAX_ORDER), "a word of the map");

enum { WORD = 64, SPREAD = 1 << 18 }; /* of frames, over which chunks are scattered: 1 GiB */

bool frames_open(struct frames *f, uint64_t bytes, uint64_t each)
{
    const uint64_t share = each >> (FRAME_SHIFT + SECTION_SHIFT);
    memset(f, 0, sizeof(*f));
    f->sections = bytes >> (FRAME_SHIFT + SECTION_SHIFT);
    f->free = f->sections * SECTION;
    for (uint64_t first = 0; first < f->sections; first += share) {
        assert(f->domains < CHIP_MAX_IODS);
        const uint64_t left = f->sections - first, own = left < share ? left : share;
        f->domain[f->domains++] = (struct frames_domain){.first = first,
                                                         .half = first + own / 2,
                                                         .end = first + own,
                                                         .next_section = first,
                                                         .open = UINT64_MAX};
    }
    f->taken = calloc((size_t)(f->free / WORD), sizeof(*f->taken));
    f->used = calloc((size_t)f->sections, sizeof(*f->used));
    return f->taken && f->used;
}

void frames_close(struct frames *f)
{
    free(f->taken);
    free(f->used);
}

static uint64_t mask_of(unsigned order, uint64_t frame)
{
    uint64_t all = order == CHUNK_MAX_ORDER ? UINT64_MAX : (UINT64_C(1) << (1U << order)) - 1;
    return all << frame % WORD;
}

static bool chunk_is_free(const struct frames *f, uint64_t first, unsigned order)
{
    return !(f->taken[first / WORD] & mask_of(order, first));
}

static void take_chunk(struct frames *f, uint64_t first, unsigned order)
{
    f->taken[first / WORD] |= mask_of(order, first);
    f->used[first >> SECTION_SHIFT] = (uint16_t)(f->used[first >> SECTION_SHIFT] + (1U << order));
    f->free -= UINT64_C(1) << order;
}

static void take_section(struct frames *f, uint64_t section)
{
    memset(f->taken + section * SECTION / WORD, 0xff, SECTION / 8);
    f->used[section] = SECTION;
    f->free -= SECTION;
}

/* A section that is all free, from `from` on in `from` .. `end`. */
static uint64_t find_section(const struct frames *f, uint64_t from, uint64_t end)
{
    while (from < end && f->used[from])
        from++;
    return from < end ? from : UINT64_MAX;
}

/* A section that is all free, the next one in the order in which runs want them. */
static uint64_t next_section(const struct frames *f, const struct frames_domain *d)
{
    uint64_t s = find_section(f, d->next_section, d->half);
    if (s == UINT64_MAX)
        s = find_section(f, d->first, d->half);
    return s == UINT64_MAX ? find_section(f, d->half, d->end) : s;
}

/* A piece of a section, aligned to its size as far as that is a power of two. */
static uint64_t take_part(struct frames *f, struct frames_domain *d, uint64_t wanted)
{
    uint64_t align = 1;
    while (align * 2 <= wanted)
        align *= 2;
    uint64_t at = (d->open_at + align - 1) & ~(align - 1);
    if (d->open == UINT64_MAX || at + wanted > SECTION) {
        d->open = next_section(f, d);
        if (d->open == UINT64_MAX)
            return UINT64_MAX;
        d->next_section = d->open + 1;
        at = 0;
    }
    uint64_t first = d->open * SECTION + at;
    for (uint64_t i = 0; i < wanted; i++)
        if (!chunk_is_free(f, first + i, 0)) { /* somebody else's: chunks have come this far */
            d->open = UINT64_MAX;
            return take_part(f, d, wanted);
        }
    for (uint64_t i = 0; i < wanted; i++)
        take_chunk(f, first + i, 0);
    d->open_at = at + wanted;
    return first;
}

/* Whatever is free. */
static uint64_t take_any(struct frames *f, const struct frames_domain *d, unsigned order)
{
    uint64_t step = UINT64_C(1) << order;
    for (uint64_t s = d->end; s-- > d->first;) {
        if (f->used[s] + step > SECTION)
            continue;
        for (uint64_t i = 0; i < SECTION; i += step)
            if (chunk_is_free(f, s * SECTION + i, order)) {
                take_chunk(f, s * SECTION + i, order);
                return s * SECTION + i;
            }
    }
    return UINT64_MAX;
}

static uint64_t take_run(struct frames *f, struct frames_domain *d, uint64_t wanted, uint64_t *count)
{
    if (wanted < SECTION) {
        uint64_t first = take_part(f, d, wanted);
        *count = wanted;
        if (first != UINT64_MAX)
            return first;
    }
    uint64_t s = wanted < SECTION ? UINT64_MAX : next_section(f, d);
    if (s == UINT64_MAX) {
        *count = 1;
        return take_any(f, d, 0);
    }
    uint64_t n = 0;
    while (n < wanted / SECTION && s + n < d->end && !f->used[s + n])
        take_section(f, s + n++);
    d->next_section = s + n;
    *count = n * SECTION;
    return s * SECTION;
}

/* The domain that is asked for, and then those that follow. */
static struct frames_domain *domain_of(struct frames *f, unsigned domain, unsigned tried)
{
    return &f->domain[(domain + tried) % f->domains];
}

uint64_t frames_take_run(struct frames *f, unsigned domain, uint64_t wanted, uint64_t *count)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < f->domains && first == UINT64_MAX; i++)
        first = take_run(f, domain_of(f, domain, i), wanted, count);
    return first;
}

/* One to one on the numbers below a power of two. */
static uint64_t permute(uint64_t i, uint64_t size)
{
    for (unsigned round = 0; round < 2; round++) {
        i = i * UINT64_C(0x9e3779b97f4a7c15) & (size - 1);
        i ^= i >> 7;
    }
    return i;
}

static uint64_t take_chunk_of(struct frames *f, struct frames_domain *d, unsigned order)
{
    uint64_t frames = (d->end - d->half) * SECTION;
    /* A few tries that find others' chunks are enough to say that this half is full. */
    for (unsigned tries = 0; tries < 256; tries++) {
        uint64_t next = (d->next_chunk & (SPREAD - 1)) >> order, spread = SPREAD >> order;
        uint64_t at = (d->next_chunk & ~(uint64_t)(SPREAD - 1)) | permute(next, spread) << order;
        uint64_t first = d->half * SECTION + at;
        d->next_chunk += UINT64_C(1) << order;
        if (d->next_chunk >= frames)
            d->next_chunk = 0;
        if (at < frames && chunk_is_free(f, first, order)) {
            take_chunk(f, first, order);
            return first;
        }
    }
    return take_any(f, d, order);
}

uint64_t frames_take_chunk(struct frames *f, unsigned domain, unsigned order)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < f->domains && first == UINT64_MAX; i++)
        first = take_chunk_of(f, domain_of(f, domain, i), order);
    return first;
}

void frames_give(struct frames *f, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        f->taken[i / WORD] &= ~(UINT64_C(1) << i % WORD);
        f->used[i >> SECTION_SHIFT]--;
        f->free++;
    }
}
