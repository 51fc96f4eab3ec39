/* SPDX-License-Identifier: MIT */
/*
 * A TLB of which any entry may hold any page, the one that was used longest ago goes first.  Entries are in
 * a list by that, and for the host's sake in buckets by their pages.
 */
#ifndef EHP_CCD_TLB_H
#define EHP_CCD_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { TLB_BUCKETS = 256 }; /* a power of two */

struct tlb_entry {
    uint64_t page;
    uint16_t newer, older, next; /* next: in its bucket */
};

/* Entries are numbered from 1 on; 0 is none, and its neighbours are the oldest and the newest. */
struct tlb {
    struct tlb_entry *entry;
    uint16_t most, used, bucket[TLB_BUCKETS];
};

static inline void tlb_open(struct tlb *t, unsigned entries, struct arena *arena)
{
    t->most = (uint16_t)entries;
    t->entry = arena_take(arena, (entries + 1) * sizeof(*t->entry));
}

static inline uint16_t *tlb_bucket(struct tlb *t, uint64_t page)
{
    return &t->bucket[(page ^ page / TLB_BUCKETS) % TLB_BUCKETS];
}

static inline void tlb_make_newest(struct tlb *t, uint16_t i)
{
    struct tlb_entry *e = t->entry;
    e[i].newer = 0;
    e[i].older = e[0].older;
    e[e[0].older].newer = i;
    e[0].older = i;
}

/* Whether it has that page, which is then the last used. */
static inline bool tlb_find(struct tlb *t, uint64_t page)
{
    struct tlb_entry *e = t->entry;
    const uint16_t newest = e[0].older;
    if (newest && e[newest].page == page)
        return true;
    uint16_t i = *tlb_bucket(t, page);
    while (i && e[i].page != page)
        i = e[i].next;
    if (!i)
        return false;
    e[e[i].newer].older = e[i].older;
    e[e[i].older].newer = e[i].newer;
    tlb_make_newest(t, i);
    return true;
}

/* Puts in what is not there. */
static inline void tlb_put(struct tlb *t, uint64_t page)
{
    struct tlb_entry *e = t->entry;
    uint16_t i = e[0].newer;
    if (t->used < t->most) {
        i = ++t->used;
    } else {
        uint16_t *link = tlb_bucket(t, e[i].page);
        while (*link != i)
            link = &e[*link].next;
        *link = e[i].next;
        e[0].newer = e[i].newer;
        e[e[i].newer].older = 0;
    }
    uint16_t *bucket = tlb_bucket(t, page);
    e[i].page = page;
    e[i].next = *bucket;
    *bucket = i;
    tlb_make_newest(t, i);
}

#endif
