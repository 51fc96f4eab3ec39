/* SPDX-License-Identifier: MIT */
/* Lines, what of them is meant, and where to look for them. */
#ifndef EHP_MEM_LINE_H
#define EHP_MEM_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fabric/fabric.h"

enum { LINE = FABRIC_LINE, SLINE = 64, PAIR = FABRIC_PAIR }; /* vector and L2; scalar and instruction */

enum { NO_WAY = 0xffffffff };

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

#endif
