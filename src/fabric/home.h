/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a home say to each other: home.c takes a request through its steps, home_probes.c asks
 * caches for its line, home_memory.c has the Infinity Cache and memory, home_lines.c knows which lines are
 * busy.
 */
#ifndef EHP_FABRIC_HOME_H
#define EHP_FABRIC_HOME_H

#include <emmintrin.h>

#include "fabric/internal.h"

enum { BOTH = 3 };

static inline struct home_line **bucket_of(struct slice *s, uint32_t line)
{
    return &s->busy[(line ^ line / SLICE_BUCKETS) % SLICE_BUCKETS];
}

static inline unsigned halves_of(const struct fabric_request *r)
{
    return r->halves ? r->halves : BOTH;
}

static inline struct home_line *of_line(struct home_line *h, uint32_t line)
{
    while (h && h->line != line)
        h = h->next;
    return h;
}

/*
 * What these halves of a line are busy with.  That may be two: then what comes queues behind the one that
 * waits for the other, or else the one that has more.
 */
static inline struct home_line *find_busy(struct slice *s, uint32_t line, unsigned halves)
{
    struct home_line *found = NULL;
    for (struct home_line *h = *bucket_of(s, line); (h = of_line(h, line)); h = h->next)
        if (h->halves & halves && (!found || h->blocked || (!found->blocked && h->halves > found->halves)))
            found = h;
    return found;
}

/* The same, beside `own`. */
static inline struct home_line *find_other(struct slice *s, uint32_t line, unsigned halves,
                                           const struct home_line *own)
{
    for (struct home_line *h = *bucket_of(s, line); (h = of_line(h, line)); h = h->next)
        if (h != own && h->halves & halves)
            return h;
    return NULL;
}

/* home_lines.c */
struct home_line *home_line_new(struct iod *iod, unsigned slice, uint32_t line);
void home_line_free(struct iod *iod, struct home_line *h);
struct home_line *home_make_busy(struct iod *iod, unsigned slice, uint32_t line, unsigned halves);
/* What waits for these halves beside others goes on. */
void home_make_free(struct iod *iod, struct home_line *h);

/* home_memory.c */
/* To or from the line's pseudo channel; what was read comes by home_fetched(). */
void home_submit(struct iod *iod, struct home_line *h, bool write);
/* Whether a pseudo channel's controller has no place for what a request may ask of it. */
static inline bool home_is_full(const struct iod *iod, const struct slice *s)
{
    for (unsigned i = 0; i < iod->fabric->pseudo; i++)
        if (dram_full(&s->memory[i]))
            return true;
    return false;
}
/* These halves of a line go into the cache.  They, and a line that is pushed out, take their turn at the
 * port. */
void home_put_in_cache(struct iod *iod, unsigned slice, uint32_t line, unsigned halves, bool dirty);
/* Bytes of a line are written; its halves are there that are written whole. */
void home_mark_written(struct iod *iod, unsigned slice, uint32_t line, const uint64_t mask[2]);
/* What the prefetcher makes of a read of the line. */
void home_read_ahead(struct iod *iod, unsigned slice, uint32_t line);
/* How much longer than the cache's latency lines take that are on their way from memory: one, or a pair. */
static inline double home_landing(const struct slice *s, uint32_t line, unsigned lines, double now)
{
    const __m128i wanted = _mm_set1_epi32((int)line), within = _mm_set1_epi32((int)-lines),
                  *four = (const __m128i *)s->landing.line;
    double ready = now;
    for (unsigned i = 0; i < SLICE_LANDING; i += 4) {
        const __m128i from = _mm_and_si128(_mm_sub_epi32(_mm_load_si128(four + i / 4), wanted), within);
        const __m128i is = _mm_cmpeq_epi32(from, _mm_setzero_si128());
        for (unsigned left = (unsigned)_mm_movemask_ps(_mm_castsi128_ps(is)); left; left &= left - 1) {
            const double then = s->landing.ready[i + (unsigned)__builtin_ctz(left)];
            ready = then > ready ? then : ready;
        }
    }
    return ready - now;
}

/* home_probes.c */
static inline void take_away(uint16_t *half, uint32_t agent)
{
    *half &= (uint16_t)~agent;
    if (*half == FILTER_OWNED)
        *half = 0;
}
/* L2s that must give up a line of the request's, of which the filter has that. */
static inline uint32_t home_probes_of(const filter_entry *e, const struct fabric_request *r)
{
    const unsigned halves = halves_of(r);
    const bool reads = r->kind == FABRIC_READ || r->kind == FABRIC_FETCH;
    uint32_t holders = 0;
    if (filter_is_empty(e) || (r->in_place && r->kind == FABRIC_WRITE && !r->past))
        return 0;
    for (unsigned i = 0; i < 2; i++)
        if (halves >> i & 1 && !(reads && !(e->half[i] & FILTER_OWNED)))
            holders |= e->half[i];
    return holders & (FILTER_OWNED - 1) & ~(1U << r->agent);
}
/* Those, for the request that the line is busy with. */
void home_send_probes(struct iod *iod, struct home_line *h, uint32_t probes);
/*
 * A write that an owner sent before it was asked for the line is executed before its answer,
 * which waits for it: the bytes are what others ask for.  One past its caches has others to drop the line
 * first, and its turn.
 */
static inline bool home_comes_before_answer(const struct home_line *h, const struct fabric_request *r)
{
    return r->kind == FABRIC_WRITE && !r->pair && !r->past && (h->owners & h->probing) >> r->agent & 1;
}
/* The line is busy with nothing else.  False: no cache had it. */
bool home_give_up(struct iod *iod, struct home_line *h);
/* After a request's turn: lines that caches have now have entries. */
void home_enter(struct iod *iod, unsigned slice, const struct fabric_request *r);

/* home.c */
/* The bytes, and the answer, and how long until it leaves; the line is in the cache, or passes it. */
double home_answer(struct iod *iod, unsigned slice, struct fabric_request *r);
/* It is nobody else's turn for so long. */
void home_hold(struct iod *iod, struct home_line *h, double ps);
/* In the filter: who may have the line from now on; and whether who asked has it alone. */
void home_note_holder(filter_entry *e, struct fabric_request *r);
/*
 * No L2 holds what it must not.  `h`: what the line is busy with, if anything.  Returns whether whoever comes
 * next has to wait, or has had its turn already: memory may be quick.
 */
bool home_proceed(struct iod *iod, unsigned slice, struct fabric_request *r, struct home_line *h);
/* Memory has given a line. */
void home_fetched(struct iod *iod, struct home_line *h);
/* The line's request is done: those that queue behind it. */
void home_go_on(struct iod *iod, struct home_line *h);
/* A pair's request is done. */
void home_let_pair_go(struct iod *iod, unsigned slice, uint32_t place);
/* What waited, in its order, as far as there is place. */
void home_let_in(struct iod *iod, struct slice *s);

#endif
