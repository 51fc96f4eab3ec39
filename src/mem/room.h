/* SPDX-License-Identifier: MIT */
/*
 * Between the room's files.
 *
 *   coalesce.c  lanes of an access to requests, one for each line
 *   tlb.c       UTCL1s, the UTCL2, page walks
 *   vl1.c       vector caches, and the order of completion
 *   combine.c   stores that a vector cache keeps back to combine them
 *   sl1.c       scalar and instruction caches
 *   l2.h        the L2, and its files
 *   mem.c       open, submit, kernel boundaries, counters
 *
 * A request is looked up when it reaches a cache, as one event; the ports that
 * it needs there are servers of port.h, which say when it leaves.  So the state
 * that an event finds is that of its cycle, and a queue is a server's time, with
 * a list only where a request must wait for an entry to become free.
 */
#ifndef EHP_MEM_ROOM_H
#define EHP_MEM_ROOM_H

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "fabric/fabric.h"
#include "mem/mem.h"
#include "chip/chip.h"
#include "vm/vm.h"

enum { LINE = FABRIC_LINE, SLINE = 64, PAIR = FABRIC_PAIR }; /* vector and L2; scalar and instruction */

/* Bytes of a line. */
struct mask {
    uint64_t w[2];
};

static inline struct mask mask_of(unsigned first, unsigned count)
{
    struct mask m = {{0, 0}};
    if (first < 64)
        m.w[0] = (count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1) << first;
    if (first + count > 64) {
        unsigned low = first < 64 ? 0 : first - 64, n = first + count - 64 - low;
        m.w[1] = (n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << low;
    }
    return m;
}
static inline struct mask mask_or(struct mask a, struct mask b)
{
    return (struct mask){{a.w[0] | b.w[0], a.w[1] | b.w[1]}};
}
static inline struct mask mask_without(struct mask a, struct mask b)
{
    return (struct mask){{a.w[0] & ~b.w[0], a.w[1] & ~b.w[1]}};
}
static inline bool mask_any(struct mask a)
{
    return (a.w[0] | a.w[1]) != 0;
}
static inline bool mask_full(struct mask a)
{
    return (a.w[0] & a.w[1]) == ~UINT64_C(0);
}
static inline bool mask_covers(struct mask a, struct mask b)
{
    return !mask_any(mask_without(b, a));
}
/* Writes of 64 bytes that it takes. */
static inline unsigned mask_halves(struct mask a)
{
    return (a.w[0] ? 1U : 0U) + (a.w[1] ? 1U : 0U);
}
void mask_copy_part(uint8_t *to, const uint8_t *from, struct mask mask);
static inline void mask_copy(uint8_t *to, const uint8_t *from, struct mask mask)
{
    if (mask_full(mask))
        memcpy(to, from, LINE);
    else
        mask_copy_part(to, from, mask);
}

/* Whole lines of the host's: so it is a few stores, where in one piece it is a string instruction. */
static inline void clear_lines(void *what, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64)
        memset((char *)what + at, 0, 64);
}

/*
 * Where to look for a line in a set: ways have a byte of its, or of what was there last; so most of what is
 * not the line is not read.
 */
static inline uint8_t short_tag_of(uint64_t line)
{
    return (uint8_t)((line / LINE * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}
/* Of a table of what is on its way: a pair's lines are in one, and those of neighbours, which come together,
 * share a line of the host's. */
static inline unsigned bucket_of(uint64_t line, unsigned buckets)
{
    uint64_t number = line / PAIR;
    return ((unsigned)((number / 8 * UINT64_C(0x9e3779b97f4a7c15)) >> 32) << 3 | (number & 7)) &
           (buckets - 1);
}

/*
 * What is free of a kind: what was last given back is taken next, and asked of the host's memory some takes
 * before.
 */
enum { POOL_AHEAD = 4, POOL_FIRST = 256 };
struct pool {
    void **spare; /* and POOL_AHEAD before them, of nothing */
    unsigned count, all;
};
void pool_more(struct pool *pool, struct arena *arena, size_t bytes);
static inline void *pool_take(struct pool *pool, struct arena *arena, size_t bytes, unsigned used_first)
{
    if (!pool->count)
        pool_more(pool, arena, bytes);
    void *taken = pool->spare[--pool->count];
    port_fetch(pool->spare[(int)pool->count - POOL_AHEAD], used_first);
    return taken;
}
static inline void pool_give(struct pool *pool, void *what)
{
    pool->spare[pool->count++] = what;
}

enum request_kind { REQUEST_LOAD, REQUEST_STORE, REQUEST_ATOMIC, REQUEST_FLUSH };

/* What came of a look-up: it must wait for an entry; or it is a pair, and its lines do not fare alike. */
enum turn { TURN_DONE, TURN_WAITS, TURN_DIFFERS };

struct scluster;

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
    bool sc0, sc1, nt;
    bool faulted;            /* no such memory */
    bool cached;             /* vL1: in its table of misses, so that others may join; keeps the line */
    bool part : 1;           /* answered with the bytes of its mask alone */
    bool counted : 1;        /* L2: as a hit or a miss */
    bool looked_up : 1;      /* L2: has had its cycle of the tags */
    bool filled : 1;         /* L2: the bytes came to it first, and the line is what they are */
    bool pair : 1;           /* `line` is the first */
    uint8_t depth;           /* atomics: most lanes on one element */
    uint8_t level;           /* enum mem_level: the farthest it has been */
    uint8_t lookup, lookups; /* tag look-ups of its access until its last, a pair's first line's; its own */
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

/* ---- TLBs ---- */

struct utcl1_entry {
    uint64_t base, bytes, physical;
    uint64_t used;
    uint8_t mtype;
    bool writable, spare;
};

struct utcl1_miss {
    bool busy, mapped, store, replayed;
    bool faulting;    /* waits for the driver */
    uint64_t address; /* of the first to miss */
    struct utcl1_entry entry;
    struct request_queue waiting;
    struct vm_request fault;
};

struct utcl1 {
    struct request_queue blocked; /* no free miss, or behind another instruction's */
    unsigned missing, recent, used;
    struct utcl1_entry *entry;
    uint64_t generation, clock;
    struct xcd_mem *mem;
    void (*go)(struct mem_request *request, uint64_t cycle); /* translated, or faulted */
    void (*drained)(struct utcl1 *tlb);                      /* nothing is blocked any more; may be NULL */
    struct utcl1_miss *miss;
};

void utcl1_open(struct utcl1 *tlb, struct xcd_mem *mem, void (*go)(struct mem_request *, uint64_t));
/* An access's: go() is called for each, at once or later; `cycle` is when they are looked up, and after it
 * their `lookup`. */
void utcl1_translate(struct utcl1 *tlb, struct mem_request *first, uint64_t cycle);

struct utcl2_entry {
    uint64_t base, bytes; /* bytes 0: free */
    uint64_t used, ready;
};

/* ---- vector cache ---- */

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
    struct mem_access *loads, **loads_end; /* not returned, in order */
    struct vl1_combine combine;
    struct mem_request *miss[MISS_BUCKETS];
    struct vl1_wave wave[MEM_WAVES];
};

void vl1_submit(struct xcd_mem *mem, struct mem_access *access);
/* For access_done_at(): a vector access is complete. */
port_fn vl1_complete;
/* The L2 has performed a store or atomic. */
void vl1_performed(struct mem_request *request);
/* A pair, which is its first line's request from now on: returns the second's. */
struct mem_request *request_split(struct mem_request *pair);
/* The same of a queue's first. */
static inline void queue_split(struct request_queue *q)
{
    struct mem_request *first = q->first, *second = request_split(first);
    second->next = first->next;
    first->next = second;
    if (!second->next)
        q->end = &second->next;
}
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
/* What is kept for the wave, or for all (MEM_WAVES), goes. */
void combine_send(struct vl1 *l1, unsigned wave);

/* The access as requests in order of lanes, which it counts as pending; *lookups: cycles at the tags. */
struct mem_request *coalesce(struct xcd_mem *mem, struct mem_access *access, unsigned *lookups);
/* Hands a load's bytes, or an atomic's old values, to its lanes. */
void coalesce_deliver(struct mem_access *access, const struct mem_request *request, const uint8_t *data);

/* ---- scalar and instruction caches ---- */

enum { SCACHE_MISSES = 16 };

struct scache {
    unsigned sets, ways;
    unsigned epoch; /* bytes of another are void but for what was stored */
    uint64_t clock;
    uint64_t *tag;  /* line | 1: in use */
    uint64_t *used; /* 0: free */
    unsigned *line_epoch;
    uint64_t *valid, *dirty; /* bytes */
    uint64_t *physical;
    uint8_t *mtype;
    uint8_t *data;
    struct mem_request *miss[SCACHE_MISSES];
    struct port_server out; /* to the L2 */
};

struct scluster { /* what some CUs share */
    struct xcd_mem *mem;
    struct scache scalar, instruction;
    struct utcl1 tlb;
    struct port_server port, fetch_port[CHIP_MAX_FETCHING]; /* for scalar accesses; for each CU's fetches */
    unsigned dirty;                                         /* lines of the scalar cache */
    unsigned storing;                                       /* stores that are not yet in the cache */
    unsigned writing;                                       /* lines on their way to the L2 */
    struct mem_access *writebacks;                          /* s_dcache_wb that waits for those */
    bool release;                                           /* so does a kernel's end */
};

void sl1_submit(struct xcd_mem *mem, struct mem_access *access);
/* Writes dirty lines of every cluster; mem->releasing counts those not done. */
void sl1_release(struct xcd_mem *mem);
void sl1_acquire(struct xcd_mem *mem);

/* ---- L2 ---- */

enum { TXN_BUCKETS = 16384, NO_WAY = 0xffffffff };

enum txn_kind {
    TXN_READ,  /* fills a way */
    TXN_OWN,   /* the same, to own it */
    TXN_FETCH, /* for the request alone */
    TXN_WRITE, /* of a request's bytes, through */
    TXN_ATOMIC,
    TXN_CLEAN, /* of a way's dirty bytes; the line stays */
    TXN_EVICT  /* of a line that has left */
};

/* Writes that a write-back has to wait for: those begun since the one before. */
struct flush_epoch {
    struct flush_epoch *next;
    unsigned writes;
    bool closed;
    struct flush_waiter *waiters;
};

struct flush_waiter {
    struct flush_waiter *next;
    struct mem_access *access; /* or */
    port_fn *done;
    void *context;
    bool system, written;
};

/* What the L2 is asking of the fabric for a line: one thing at a time. */
struct l2_txn {
    struct fabric_request fabric; /* first */
    struct xcd_mem *mem;
    struct l2_txn *chain;
    uint8_t kind;
    uint16_t channel, bucket;
    uint32_t way, second; /* second: of a pair */
    uint64_t began;
    struct mem_request *request; /* TXN_FETCH, TXN_WRITE, TXN_ATOMIC */
    struct request_queue waiting;
    struct flush_epoch *epoch;
    alignas(64) uint8_t data[PAIR];
};

struct l2_line {
    uint64_t tag; /* line | 1: in use */
    uint64_t physical;
    struct mask dirty;
    unsigned epoch; /* of the L2 when it was last found fresh */
    uint8_t mtype;
    bool whole; /* else only the dirty bytes are there */
    bool owned;
    bool nobody; /* stands for a line of workgroups that are left out: l2_age.c */
};

struct l2_channel {
    struct port_server tag, read, write;
    struct request_queue blocked;
    uint64_t blocked_since, write_stalled; /* until then a write of its waits for the fabric's port */
    unsigned txns;
};

struct l2 {
    unsigned channels, sets, ways;
    unsigned block_bits, channel_bits, set_bits; /* of l2.interleave, the channels, and a channel's sets */
    unsigned block_lines, apart;                 /* lines of a block; sets from one of them to the next */
    uint8_t *short_tag;
    uint32_t *used;
    uint32_t clock;
    struct l2_line *line;
    uint8_t *data;
    unsigned epoch, system_epoch; /* of buffer_inv sc1; of the last one of system scope */
    struct l2_channel *channel;
    struct pool txn_pool;
    unsigned txns;
    /* Ways with dirty bytes: a bit each, and a bit for each word of those. */
    uint64_t *dirty, *dirty_words;
    unsigned dirty_count, words;
    uint64_t *busy; /* ways that a transaction is about */
    uint64_t pages; /* vm_generation() when it was last looked through */
    /* Write-back. */
    bool walking, walk_system;
    unsigned walk_word;
    uint64_t walk_left; /* ways of that word that it has not seen to */
    bool written;       /* stored to, since a walk began */
    struct flush_waiter *asked, *serving;
    struct flush_epoch *oldest, *open;
    struct l2_txn **txn; /* TXN_BUCKETS */
};

bool l2_open(struct xcd_mem *mem);
void l2_close(struct xcd_mem *mem);
/*
 * By the block's number and what chooses its set, folded.  Consecutive blocks lie in different channels, and
 * so do those that an XCD gets of a grid dealt out over XCDs, which have bits in common.  What is at a stride
 * of all channels still finds no more than the sets of one.
 */
static inline unsigned l2_channel_of(const struct l2 *l2, uint64_t physical)
{
    uint64_t block = physical >> l2->block_bits, row = block >> l2->channel_bits & (l2->sets - 1);
    return (unsigned)(block ^ row ^ row >> l2->channel_bits) & (l2->channels - 1);
}
/* Among those of all channels, one channel's after another's. */
static inline uint32_t l2_set_of(const struct l2 *l2, uint64_t physical)
{
    uint64_t row = physical >> l2->block_bits >> l2->channel_bits;
    uint64_t within = physical / LINE & (l2->block_lines - 1);
    /* Lines of one block lie far from each other, so that those of a stride of all channels use every set. */
    uint64_t set = row + within * l2->apart;
    return l2_channel_of(l2, physical) << l2->set_bits | (uint32_t)(set & (l2->sets - 1));
}
/* Of the line that makes a pair with this one's. */
static inline uint32_t l2_set_of_second(const struct l2 *l2, uint32_t set)
{
    return (set & ~(l2->sets - 1)) | ((set + l2->apart) & (l2->sets - 1));
}
static inline struct l2_channel *l2_channel_at(const struct l2 *l2, uint32_t set)
{
    return &l2->channel[set >> l2->set_bits];
}
struct l2_txn *l2_txn_of(const struct l2 *l2, uint64_t line); /* either line of a pair */
static inline bool l2_is_busy(const struct l2 *l2, uint32_t way)
{
    return l2->busy[way / 64] >> way % 64 & 1;
}
/* Events. */
port_fn l2_arrive, l2_probe;
/* What these need, for port_expect(). */
void l2_expect(struct xcd_mem *mem);
void vl1_expect(struct xcd_mem *mem);
void sl1_expect(struct xcd_mem *mem);
/* What an access says of itself, and so much of its addresses and data. */
static inline void access_expect(const struct mem_access *a, unsigned bytes)
{
    port_fetch((const char *)a - 64, 64 + offsetof(struct mem_access, addr) + bytes);
}
/* Begins to write the way's dirty bytes.  It has some, and no transaction. */
void l2_clean(struct xcd_mem *mem, uint32_t way);
void l2_set_dirty(struct l2 *l2, uint32_t way, struct mask dirty);
/* The way is empty from now on. */
void l2_free_way(struct l2 *l2, uint32_t way);
/* Drops clean lines that differ from the host's memory. */
void l2_host_wrote(struct xcd_mem *mem);

void l2_flush(struct xcd_mem *mem, struct mem_access *access, bool system, port_fn *done, void *context);
void l2_flush_continue(struct xcd_mem *mem);
struct flush_epoch *l2_epoch_enter(struct l2 *l2);
void l2_epoch_leave(struct xcd_mem *mem, struct flush_epoch *epoch);

/* ---- the XCD ---- */

/* The chip's numbers, in cycles unless they say otherwise. */
struct mem_timing {
    unsigned lanes, wide, queue, lookup, result, bandwidth, misses, stores, uncached, ack, vl1_invalidate;
    unsigned combine, combine_age;
    unsigned sets, ways, fill; /* of vL1; fill: with a line */
    unsigned path, spread, l2_latency, refill, l2_misses, atomic, atomic_latency, probe;
    unsigned read, write[3]; /* of a line, and of as many halves */
    unsigned l2_writeback, l2_writeback_clean, l2_invalidate;
    unsigned s_size, s_ways, i_size, i_ways;
    unsigned s_latency, s_lookup, s_path, s_writeback, s_invalidate, i_latency;
    unsigned utcl1_entries, utcl1_misses, utcl2_latency, utcl2_rate, walk, walk_interval;
    uint64_t utcl1_reach;
};

struct xcd_mem {
    struct port_domain *domain;
    struct fabric *fabric;
    struct vm *vm;
    unsigned xcd, cus;
    bool several_l2s;
    bool pairs; /* a pair is in one channel of the L2's, and of memory's */
    struct mem_timing timing;
    void (*room)(void *context, unsigned cu); /* xcd_mem_tell() */
    void *room_context;
    struct vl1 **vl1; /* for each CU, NULL until it is used */
    unsigned clusters, sl1_cus, icache_cus;
    struct scluster **cluster; /* scalar cache i and instruction cache i, NULL until one is used */
    struct l2 l2;
    struct {
        unsigned sets, ways;
        struct utcl2_entry *entry;
        uint64_t clock;
        struct port_server port, walker; /* port: in parts of a cycle */
    } utcl2;
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
static inline void request_free(struct mem_request *request)
{
    pool_give(&request->mem->request_pool, request);
}
static inline void request_place(struct mem_request *request, uint64_t physical)
{
    request->physical = physical;
    request->set = l2_set_of(&request->mem->l2, physical);
}
void *must(void *memory); /* aborts when the host has none */
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

#endif
