/* SPDX-License-Identifier: MIT */
/* The L2: where lines lie in it, and what the XCD and its caches ask of it. */
#ifndef EHP_MEM_L2_H
#define EHP_MEM_L2_H

#include "mem/request.h"

struct l2;

/* Requests to the fabric for a line: its halves are written one by one.  One that is put in pushes another
 * out. */
enum { ASKS_READ = 1, ASKS_WRITE = 2, ASKS_PUSH = ASKS_WRITE };

/* How physical addresses are dealt to channels and sets. */
struct l2_map {
    unsigned channels, sets, ways;
    unsigned block_bits, channel_bits, set_bits; /* of l2.interleave, the channels, and a channel's sets */
    unsigned block_lines, apart;                 /* lines of a block; sets from one of them to the next */
};

/*
 * By the block's number and what chooses its set, folded.  Consecutive blocks lie in different channels, and
 * so do those that an XCD gets of a grid dealt out over XCDs, which have bits in common.  What is at a stride
 * of all channels still finds no more than the sets of one.
 */
static inline unsigned l2_channel_of(const struct l2_map *map, uint64_t physical)
{
    uint64_t block = physical >> map->block_bits, row = block >> map->channel_bits & (map->sets - 1);
    return (unsigned)(block ^ row ^ row >> map->channel_bits) & (map->channels - 1);
}
/* Among those of all channels, one channel's after another's. */
static inline uint32_t l2_set_of(const struct l2_map *map, uint64_t physical)
{
    uint64_t row = physical >> map->block_bits >> map->channel_bits;
    uint64_t within = physical / LINE & (map->block_lines - 1);
    /* Lines of one block lie far from each other, so that those of a stride of all channels use every set. */
    uint64_t set = row + within * map->apart;
    return l2_channel_of(map, physical) << map->set_bits | (uint32_t)(set & (map->sets - 1));
}
/* Of the line that makes a pair with this one's. */
static inline uint32_t l2_set_of_second(const struct l2_map *map, uint32_t set)
{
    return (set & ~(map->sets - 1)) | ((set + map->apart) & (map->sets - 1));
}

/* By mem->l2_map; false: the host has no memory. */
bool l2_open(struct xcd_mem *mem);
void l2_close(struct xcd_mem *mem);

/* Events: a request, with `answer` set, arrives; a probe of the fabric's. */
port_fn l2_arrive, l2_probe;

/* buffer_inv of agent or system scope: clean lines are no longer fresh. */
void l2_invalidate(struct xcd_mem *mem, bool system);
/* Writes dirty lines, all of them or those that the system sees; then the access is complete, or done(). */
void l2_flush(struct xcd_mem *mem, struct mem_access *access, bool system, port_fn *done, void *context);
/* Drops clean lines that differ from the host's memory. */
void l2_host_wrote(struct xcd_mem *mem);

/* Nothing is on its way, or dirty. */
bool l2_idle(const struct xcd_mem *mem);
/* What the next requests need, for port_set_prefetch(). */
void l2_prefetch(struct xcd_mem *mem);

#endif
