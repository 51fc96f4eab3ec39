/* SPDX-License-Identifier: MIT */
/*
 * Between the vector cache's own files.
 *
 *   vl1.c       lookups, and the order of completion
 *   vl1_prefetch.c  ahead of the events
 *   coalesce.c  lanes of an access to requests, one for each line
 *   combine.c   stores that it keeps back to combine them
 */
#ifndef EHP_MEM_VL1_STATE_H
#define EHP_MEM_VL1_STATE_H

#include "mem/tlb.h"
#include "mem/vl1.h"
#include "mem/xcd.h"

enum { MISS_BUCKETS = 512, NO_LINE = 0xffffffff, COMBINE_LINES = 64 };

enum vl1_wave_state { WAVE_GOES_ON, WAVE_WAITS, WAVE_LEFT };

struct vl1_wave { /* what of it is not complete, in order */
    struct mem_access *first, **end;
    struct mem_access *writeback; /* buffer_wbl2 that waits for: */
    unsigned stores;              /* requests that the L2 has not yet performed */
    bool flushing;                /* a buffer_wbl2 is not complete; behind it: */
    struct mem_access *held;
    uint8_t state; /* enum vl1_wave_state */
};

/* Stores that are kept back, the oldest first; combine.c. */
struct vl1_combine {
    unsigned count;
    bool watched; /* an event looks at the oldest's age */
    struct {
        struct mem_request *request; /* others are joined; without an access: its wave has ended */
        uint64_t ready, until;
        uint8_t wave;
    } line[COMBINE_LINES];
};

struct vl1_line {
    uint64_t tag;
    unsigned epoch;
    uint16_t newer, older; /* by use in the set, in a ring */
};

struct vl1 { /* first what tells whether it takes an access */
    struct xcd_mem *mem;
    unsigned cu;
    unsigned epoch; /* lines of another are invalid */
    struct request_queue stalled;
    struct port_server address;
    struct utcl1 tlb;
    struct vl1_line *line;
    uint8_t *short_tag;
    uint16_t *oldest; /* of each set */
    uint8_t *data;
    uint32_t *distance;                /* cycles to each channel of the L2, one way */
    unsigned misses, stores, uncached; /* on their way */
    bool tells;                        /* when its queues are empty */
    struct port_server output, fill, result;
    uint64_t stalled_since;
    uint64_t writes_from; /* cycle: not before the L2 has done what a buffer_inv asks of it */
    struct mem_access *loads, **loads_end; /* not returned, in order */
    struct vl1_combine combine;
    struct mem_request *miss[MISS_BUCKETS];
    struct vl1_wave wave[CHIP_MAX_CU_WAVES];
};

static inline unsigned vl1_set_of(const struct vl1 *l1, uint64_t line)
{
    return (unsigned)(line / LINE) & (l1->mem->timing.sets - 1);
}

/* Where it is looked for, of the host's memory. */
static inline void vl1_prefetch_set(const struct vl1 *l1, uint64_t line)
{
    unsigned set = vl1_set_of(l1, line);
    port_prefetch_line(&l1->short_tag[set * l1->mem->timing.ways]);
    port_prefetch_line(&l1->miss[bucket_of(line, MISS_BUCKETS)]);
    port_prefetch_line(&l1->oldest[set]);
}

/* Events: an answer to a load; to a store or an atomic. */
port_fn vl1_line_arrives, vl1_acknowledged;

/* To the L2. */
void vl1_send(struct vl1 *l1, struct mem_request *request, uint64_t cycle);
/* A line of a store whose wave need not hear of the L2. */
void vl1_store_done(struct vl1 *l1, struct mem_access *access, uint64_t cycle);

/* The request is about to be looked up: what is kept of its line goes first, unless it joins that. */
void combine_before(struct vl1 *l1, const struct mem_request *request, uint64_t cycle);
bool combine_has(const struct vl1 *l1, uint64_t line);
/* Whether a store is to be kept back, and does so. */
bool combine_keeps(const struct vl1 *l1, const struct mem_request *request);
void combine_take(struct vl1 *l1, struct mem_request *request, uint64_t cycle);
/* What is kept for the wave, or for all (CHIP_MAX_CU_WAVES), goes. */
void combine_send(struct vl1 *l1, unsigned wave);

/* The access as requests in order of lanes, which it counts as pending; *cycles: at the tags. */
struct mem_request *coalesce(struct xcd_mem *mem, struct mem_access *access, unsigned *cycles);
/* Hands a load's bytes, or an atomic's old values, to its lanes. */
void coalesce_deliver(struct mem_access *access, const struct mem_request *request, const uint8_t *data);

#endif
