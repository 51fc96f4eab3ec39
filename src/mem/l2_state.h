/* SPDX-License-Identifier: MIT */
/*
 * Between the L2's own files.
 *
 *   l2.c         what requests and answers do
 *   l2_probe.c   probes, and what the host has written
 *   l2_txn.c     what it asks of the fabric
 *   l2_prefetch.c  ahead of the events
 *   l2_age.c     lines of nobody, for sampled dispatches
 *   l2_flush.c   write-back of its dirty lines
 */
#ifndef EHP_MEM_L2_STATE_H
#define EHP_MEM_L2_STATE_H

#include <smmintrin.h>

#include "mem/l2.h"
#include "mem/pool.h"
#include "mem/xcd.h"

enum { TXN_BUCKETS = 16384, WALK_STEPS = 8 };

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
    bool closed, wrote;
    struct flush_waiter *waiters;
};

struct flush_waiter {
    struct flush_waiter *next;
    struct mem_access *access; /* or */
    port_fn *done;
    void *context;
    bool system;
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
    unsigned asks;                         /* requests of its transactions: l2_asks() */
    uint32_t walk_way;                     /* the first that a write-back has not seen to */
};

struct l2 {
    struct l2_map map;
    uint8_t *short_tag;
    uint32_t *used;
    uint32_t clock;
    struct l2_line *line;
    uint8_t *data;
    unsigned epoch, system_epoch; /* of a buffer_inv of agent scope; of the last one of system scope */
    struct l2_channel *channel;
    struct pool txn_pool;
    unsigned txns;
    uint64_t *dirty; /* ways with dirty bytes */
    unsigned dirty_count;
    uint64_t *busy; /* ways that a transaction is about */
    uint64_t *held; /* ways with a line, but for those of nobody */
    uint64_t pages; /* vm_generation() when it was last looked through */
    /* Write-back. */
    bool walking, walk_system;
    uint64_t walk_from; /* cycle */
    unsigned walk_step; /* of WALK_STEPS, that are done */
    struct flush_waiter *asked, *serving;
    struct flush_epoch *oldest, *open;
    struct l2_txn **txn; /* TXN_BUCKETS */
};

static inline struct l2_channel *l2_channel_at(const struct l2 *l2, uint32_t set)
{
    return &l2->channel[set >> l2->map.set_bits];
}
struct l2_txn *l2_txn_of(const struct l2 *l2, uint64_t line); /* either line of a pair */
static inline bool l2_is_busy(const struct l2 *l2, uint32_t way)
{
    return l2->busy[way / 64] >> way % 64 & 1;
}
/* Begins to write the way's dirty bytes.  It has some, and no transaction. */
void l2_clean(struct xcd_mem *mem, uint32_t way);
void l2_set_dirty(struct l2 *l2, uint32_t way, struct mask dirty);
/* Whether clean bytes of the line differ from the host's memory, but for those that are being written. */
bool l2_is_stale(const struct l2 *l2, uint32_t way, struct mask written);
/* It is of an older epoch, and of this one from now on, as far as what it has is still good. */
void l2_make_fresh(struct l2 *l2, uint32_t way);
/* The way is empty from now on. */
void l2_free_way(struct l2 *l2, uint32_t way);

void l2_flush_continue(struct xcd_mem *mem, struct l2_channel *channel);
struct flush_epoch *l2_epoch_enter(struct l2 *l2);
void l2_epoch_leave(struct xcd_mem *mem, struct flush_epoch *epoch);

/* Which of up to sixteen ways, from this one on, have the line's byte. */
static inline unsigned l2_alike(const struct l2 *l2, uint32_t way, uint32_t end, uint64_t line)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(l2->short_tag + way)),
            wanted = _mm_set1_epi8((char)short_tag_of(line));
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)) &
           (end - way < 16 ? (1U << (end - way)) - 1 : 0xffff);
}

static inline uint32_t l2_find(const struct l2 *l2, uint32_t set, uint64_t line)
{
    uint32_t first = set * l2->map.ways, end = first + l2->map.ways;
    for (uint32_t from = first; from < end; from += 16)
        for (unsigned left = l2_alike(l2, from, end, line); left; left &= left - 1) {
            uint32_t way = from + (unsigned)__builtin_ctz(left);
            if (l2->line[way].tag == (line | 1))
                return way;
        }
    return NO_WAY;
}

/* Of sixteen numbers, that of the first of the least. */
static inline unsigned l2_least_of(const uint32_t *numbers)
{
    const __m128i *n = (const __m128i *)numbers;
    __m128i a = _mm_loadu_si128(n), b = _mm_loadu_si128(n + 1), c = _mm_loadu_si128(n + 2),
            d = _mm_loadu_si128(n + 3);
    __m128i least = _mm_min_epu32(_mm_min_epu32(a, b), _mm_min_epu32(c, d));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0x4e));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0xb1));
    a = _mm_packs_epi32(_mm_cmpeq_epi32(a, least), _mm_cmpeq_epi32(b, least));
    c = _mm_packs_epi32(_mm_cmpeq_epi32(c, least), _mm_cmpeq_epi32(d, least));
    return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(_mm_packs_epi16(a, c)));
}

static inline unsigned l2_txn_lines(const struct l2_txn *t)
{
    return t->fabric.pair ? 2 : 1;
}

/* Its requests, of which a channel has no more than l2.misses on their way. */
static inline unsigned l2_asks(const struct l2_txn *t)
{
    return l2_txn_lines(t) * (t->fabric.kind == FABRIC_WRITE ? ASKS_WRITE : ASKS_READ);
}
static inline bool l2_may_ask(const struct xcd_mem *mem, const struct l2_channel *c, unsigned asks)
{
    return c->asks + asks <= mem->timing.l2_misses;
}

/* The way that it is about, of the line. */
static inline uint32_t l2_txn_way(const struct l2_txn *t, uint64_t line)
{
    return t->fabric.line == line ? t->way : t->second;
}

static inline void l2_set_busy(struct l2 *l2, uint32_t way)
{
    if (way != NO_WAY)
        l2->busy[way / 64] |= UINT64_C(1) << way % 64;
}

static inline void l2_set_idle(struct l2 *l2, uint32_t way)
{
    if (way != NO_WAY)
        l2->busy[way / 64] &= ~(UINT64_C(1) << way % 64);
}

/* A request that comes soon: of the host's memory, where its lines are looked for; then what is there. */
void l2_prefetch_sets(const struct mem_request *r);
void l2_prefetch_lines(const struct mem_request *r);

/* By a request for `line`, which is in that set; the way, if it has one, is busy until l2_answered(). */
struct l2_txn *l2_txn_new(struct xcd_mem *mem, enum txn_kind kind, uint64_t line, uint64_t physical,
                          uint32_t set, uint32_t way);
/* It is about the next line as well, which has that way. */
void l2_txn_pair(struct l2_txn *t, uint32_t second);
/* Of bytes that stay as they are until it is answered. */
void l2_set_write(struct l2_txn *t, uint8_t *data, struct mask mask, bool keeps);
void l2_submit(struct l2_txn *t);
port_fn l2_answered;
/* All of its bytes may be written together with those of the line that makes a pair with it. */
bool l2_may_pair(const struct l2_line *line);
/* The way's dirty bytes go to memory, with those of a pair's second if there is one; the ways are to become
 * others' at once. */
void l2_push_out(struct xcd_mem *mem, uint32_t set, uint32_t way, uint32_t second);

#endif
