/* SPDX-License-Identifier: MIT */
/*
 * The memory side of an XCD: its caches and TLBs, and what they have in common.
 *
 *   mem.c    open, submit, kernel boundaries, counters
 *   vl1.h    vector caches            l2.h    the L2
 *   sl1.h    scalar and instruction caches
 *   tlb.h    UTCL1s, the UTCL2, page walks
 *   request.h, line.h, pool.h         what goes between them
 */
#ifndef EHP_MEM_XCD_H
#define EHP_MEM_XCD_H

#include "base/arena.h"
#include "chip/chip.h"
#include "fabric/fabric.h"
#include "mem/l2.h"
#include "mem/pool.h"
#include "mem/request.h"
#include "mem/tlb.h"
#include "vm/vm.h"

struct release;
struct scluster;
struct vl1;

/* The chip's numbers, in cycles unless they say otherwise. */
struct mem_timing {
    unsigned lanes, wide, atomics, queue, lookup, result, bandwidth, misses, stores, uncached, ack,
        vl1_invalidate;
    unsigned combine, combine_age;
    unsigned sets, ways, fill; /* of vL1; fill: with a line */
    unsigned path, spread, l2_latency, refill, l2_misses, atomic, atomic_lanes, atomic_latency, probe;
    unsigned read, write[3];  /* of a line, and of as many halves */
    unsigned l2_way, l2_walk; /* to the channel that is farthest from a CU; over the tags of a channel */
    unsigned s_size, s_ways, i_size, i_ways;
    unsigned s_latency, s_lookup, s_path, s_waiting, s_walk, s_width, i_latency, i_queue, i_prefetch;
    unsigned utcl1_entries, utcl1_misses, utcl1_walks, utcl1_replay, utcl2_latency, utcl2_rate, utcl2_walks,
        walk;
    uint64_t utcl1_reach;
    unsigned utcl1_shift; /* by its bits */
};

struct xcd_mem {
    struct port_domain *domain;
    struct fabric *fabric;
    struct vm *vm;
    unsigned xcd, package, cus; /* xcd: of the package */
    bool several_l2s;
    bool pairs; /* a pair is in one channel of the L2's, and of memory's */
    struct mem_timing timing;
    void (*room)(void *context, unsigned cu); /* xcd_mem_tell() */
    void *room_context;
    struct vl1 **vl1; /* for each CU, NULL until it is used */
    unsigned clusters, sl1_cus, icache_cus;
    uint8_t *place;            /* of each CU on the silicon: neighbours there share those caches */
    struct scluster **cluster; /* scalar cache i and instruction cache i, NULL until one is used */
    struct l2_map l2_map;
    struct l2 *l2;
    struct utcl2 utcl2;
    struct arena arena; /* what the room has of the XCD */
    struct pool request_pool;
    unsigned in_flight;       /* accesses */
    struct release *releases; /* that wait for the scalar caches */
    unsigned releasing;       /* scalar caches that write back for them */
    unsigned leaving;         /* stores of waves that have ended, on their way to the L2 */
    bool release_waits;       /* for those */
    struct mem_counters counters;
};

static inline struct mem_request *request_new(struct xcd_mem *mem)
{
    struct mem_request *r =
        pool_take(&mem->request_pool, &mem->arena, sizeof(*r), offsetof(struct mem_request, data));
    clear_lines(r, offsetof(struct mem_request, data));
    r->mem = mem;
    r->bytes = r->data;
    return r;
}
static inline void request_free(struct mem_request *request)
{
    pool_give(&request->mem->request_pool, request);
}
static inline void request_place(struct mem_request *request, uint64_t physical)
{
    request->physical = physical;
    request->set = l2_set_of(&request->mem->l2_map, physical);
}
/* The CU is told at `cycle`. */
void access_done_at(struct xcd_mem *mem, struct mem_access *access, uint64_t cycle, port_fn *fn);
static inline void access_went(struct mem_access *access, uint8_t level)
{
    access->level = level > access->level ? level : access->level;
}
void access_fault(struct mem_access *access, const struct mem_request *request);
/* What it found is beyond a buffer. */
void access_beyond(struct mem_access *access, const struct mem_request *request);
/* A scalar cache has written what it had for a kernel's release. */
void mem_released(struct xcd_mem *mem);
/* What an access says of itself, and so much of its addresses and data. */
static inline void access_prefetch(const struct mem_access *a, unsigned bytes)
{
    port_prefetch((const char *)a - 64, 64 + offsetof(struct mem_access, addr) + bytes);
}

#endif
