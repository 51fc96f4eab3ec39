/* SPDX-License-Identifier: MIT */
/*
 * An L2 as full as the workgroups that a sampled dispatch leaves out would have made
 * it: lines that nobody uses, which take time when they are pushed out or written
 * back, and change nothing.  They follow each other in memory, as what is written
 * back one after another does mostly, and lie in channels that are in use.
 */
#include "mem/l2_state.h"
#include "base/must.h"

#include <stdlib.h>

/* Above every address of a process. */
#define NOBODY (UINT64_C(1) << 63)

/* Where they are: below what the Infinity Cache has of the kind, in memory of a power of two. */
#define PLACE ((UINT64_C(1) << 40) - (UINT64_C(1) << 30))

enum { BARELY = 8 }; /* a channel with so much less of the dispatch than the fullest has none */

static bool may_go(const struct l2 *l2, uint32_t way, uint64_t since)
{
    return !l2->line[way].tag ||
           (l2->used[way] <= since && !mask_any(l2->line[way].dirty) && !l2_is_busy(l2, way));
}

/* The channel's ways that may go, and *used: those that the dispatch is in. */
static uint32_t room_of(const struct l2 *l2, unsigned channel, uint64_t since, uint32_t *used)
{
    uint32_t lines = l2->map.sets * l2->map.ways, first = channel * lines, room = 0;
    for (uint32_t way = first; way < first + lines; way++) {
        room += may_go(l2, way, since);
        *used += l2->line[way].tag && l2->used[way] > since;
    }
    return room;
}

static uint32_t way_of(const struct l2 *l2, uint32_t set, uint64_t since)
{
    for (uint32_t way = set; way < set + l2->map.ways; way++)
        if (may_go(l2, way, since) && !l2->line[way].nobody)
            return way;
    return NO_WAY;
}

bool xcd_mem_age(struct xcd_mem *mem, uint64_t since, uint64_t lines, double dirty)
{
    struct l2 *l2 = mem->l2;
    uint64_t all = (uint64_t)l2->map.channels * l2->map.sets * l2->map.ways, room = 0;
    uint32_t *rooms = must(calloc(2 * (size_t)l2->map.channels, sizeof(*rooms))),
             *used = rooms + l2->map.channels;
    uint32_t most = 0;
    for (unsigned c = 0; c < l2->map.channels; c++) {
        rooms[c] = room_of(l2, c, since, &used[c]);
        most = used[c] > most ? used[c] : most;
    }
    for (unsigned c = 0; c < l2->map.channels; c++)
        room += used[c] >= most / BARELY ? rooms[c] : (rooms[c] = 0);
    double part = 0;
    for (uint64_t i = 0; lines > room && i < all; i++) {
        uint64_t physical = PLACE + (mem->xcd * all + i) * LINE;
        uint32_t set = l2_set_of(&l2->map, physical);
        uint32_t way = rooms[set >> l2->map.set_bits] ? way_of(l2, set * l2->map.ways, since) : NO_WAY;
        if (way == NO_WAY)
            continue;
        l2_free_way(l2, way);
        l2->short_tag[way] = short_tag_of(NOBODY | physical);
        l2->used[way] = 1;
        l2->line[way] = (struct l2_line){
            .tag = NOBODY | physical | 1, .physical = physical, .epoch = l2->epoch, .nobody = true};
        part += dirty;
        if (part >= 1) {
            part -= 1;
            l2_set_dirty(l2, way, mask_of(0, LINE));
        }
    }
    free(rooms);
    return lines > room;
}

void xcd_mem_forget(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    uint32_t lines = l2->map.channels * l2->map.sets * l2->map.ways;
    for (uint32_t way = 0; way < lines; way++)
        if (l2->line[way].nobody)
            l2_free_way(l2, way);
}

uint64_t xcd_mem_l2_clock(const struct xcd_mem *mem)
{
    return mem->l2->clock;
}

struct mem_l2_use xcd_mem_l2_use(const struct xcd_mem *mem, uint64_t since)
{
    const struct l2 *l2 = mem->l2;
    struct mem_l2_use use = {.lines = (uint64_t)l2->map.channels * l2->map.sets * l2->map.ways};
    for (uint64_t way = 0; way < use.lines; way++)
        if (l2->line[way].tag && l2->used[way] > since) {
            use.used++;
            use.dirty += mask_any(l2->line[way].dirty);
        }
    return use;
}
