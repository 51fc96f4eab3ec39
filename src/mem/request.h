/* SPDX-License-Identifier: MIT */
/*
 * What an access wants of a line, on its way through the caches; and splitting a pair (pair.c).
 *
 * A request is looked up when it reaches a cache, as one event; the ports that
 * it needs there are servers of port.h, which say when it leaves.  So the state
 * that an event finds is that of its cycle, and a queue is a server's time, with
 * a list only where a request must wait for an entry to become free.
 */
#ifndef EHP_MEM_REQUEST_H
#define EHP_MEM_REQUEST_H

#include <assert.h>
#include <stdalign.h>
#include <stddef.h>

#include "mem/line.h"
#include "mem/mem.h"

struct flush_epoch;
struct scluster;
struct xcd_mem;

enum request_kind { REQUEST_LOAD, REQUEST_STORE, REQUEST_ATOMIC, REQUEST_FLUSH };

/* What came of a look-up: it must wait for an entry; or it is a pair, and its lines do not fare alike. */
enum turn { TURN_DONE, TURN_WAITS, TURN_DIFFERS };

/*
 * What one access wants of one line; from pools.  Or of a pair, which is two lines that share an aligned
 * block, all bytes of both: it takes the time of two, and saves the host half of the work.  Wherever the two
 * do not fare alike request_split() makes two requests of it.
 */
struct mem_request {
    struct mem_request *next;
    struct xcd_mem *mem;
    struct mem_access *access;
    struct mem_request *joined;
    uint8_t kind, mtype;
    struct isa_policy policy;
    bool faulted;       /* no such memory */
    bool cached;        /* vL1: in its table of misses, so that others may join; keeps the line */
    bool part : 1;      /* answered with the bytes of its mask alone */
    bool counted : 1;   /* L2: as a hit or a miss */
    bool looked_up : 1; /* L2: has had its cycle of the tags */
    bool filled : 1;    /* L2: the bytes came to it first, and the line is what they are */
    bool pair : 1;      /* `line` is the first */
    bool absent : 1;    /* first of those that wait for an entry, and nothing of its lines was there or on its
                         * way:    nor is it before its turn, as who else might ask for them is behind it */
    uint8_t depth;      /* atomics: most lanes on one element */
    uint8_t level;      /* enum mem_level: the farthest it has been */
    uint8_t lookup;     /* cycles of its access at the tags before its last look-up, a pair's first line's */
    uint8_t lookups, cycles; /* its own look-ups, and the cycles that it adds by them */
    uint8_t group;
    uint8_t wave; /* of vL1s */
    uint16_t cu;
    unsigned epoch;
    uint32_t set;            /* l2_set_of() */
    uint64_t line, physical; /* of the first byte; the latter by request_place() */
    struct mask mask;
    union {
        uint64_t lanes;            /* vector accesses */
        uint64_t fill;             /* scalar caches: the line of theirs that it fills */
        struct flush_epoch *flush; /* REQUEST_FLUSH */
    };
    uint8_t *bytes; /* of the line: `data`, or the access's own where its lanes are in a row and take all of
                     * it, as a pair's do */
    struct mem_request *chain;
    struct scluster *cluster; /* scalar caches' */
    /* By the L2, once: data is in place or the store is done, and leaves the L2 at `cycle`.  The request is
     * the answered one's again. */
    void (*answer)(struct mem_request *request, uint64_t cycle);
    alignas(64) uint8_t data[LINE];
};
static_assert(offsetof(struct mem_request, data) == 128, "two of the host's lines before the data");

struct request_queue {
    struct mem_request *first, **end;
};
static inline void queue_clear(struct request_queue *q)
{
    q->first = NULL;
    q->end = &q->first;
}
static inline void queue_add(struct request_queue *q, struct mem_request *r)
{
    r->next = NULL;
    *q->end = r;
    q->end = &r->next;
}
/* The first, behind which is `next`: it may be elsewhere already. */
static inline void queue_drop(struct request_queue *q, struct mem_request *next)
{
    q->first = next;
    if (!next)
        q->end = &q->first;
}
static inline struct mem_request *queue_take(struct request_queue *q)
{
    struct mem_request *r = q->first;
    if (r && !(q->first = r->next))
        q->end = &q->first;
    return r;
}

/* What it is of. */
static inline unsigned request_lines(const struct mem_request *request)
{
    return request->pair ? 2 : 1;
}
static inline unsigned request_halves(const struct mem_request *request)
{
    return request->pair ? 4 : mask_halves(request->mask);
}
static inline bool request_concerns(const struct mem_request *request, uint64_t line)
{
    return request->line == line || (request->pair && request->line + LINE == line);
}

/* A pair, which is its first line's request from now on: returns the second's. */
struct mem_request *request_split(struct mem_request *pair);
/* Splits the pair that is first in a queue; its second line comes behind it. */
static inline void queue_split(struct request_queue *q)
{
    struct mem_request *first = q->first, *second = request_split(first);
    second->next = first->next;
    first->next = second;
    if (!second->next)
        q->end = &second->next;
}

#endif
