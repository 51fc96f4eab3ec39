/* SPDX-License-Identifier: MIT */
/*
 * Physical memory: which 4 KiB frames are free.
 *
 * Memory is one or more NUMA domains, equal parts of it one behind the other, and a request is for one of
 * them. Two kinds.  Runs, for what is allocated up front in one piece: as much as possible in one piece, from
 * the lower half of the domain.  Chunks, for what the host's kernel hands out: a power of two of frames,
 * aligned, one here and one there in the upper half, gigabyte after gigabyte (what the simulator keeps for
 * each line would else take a page of the host's for each).  Either takes what is left of the other's half
 * when its own is full, and then of other domains.  Neither takes a frame again soon after it was freed.
 *
 * Threads: the caller's lock.
 */
#ifndef EHP_VM_FRAMES_H
#define EHP_VM_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "chip/chip.h"

enum {
    FRAME_SHIFT = 12,
    SECTION_SHIFT = 9, /* a section is 2 MiB */
    SECTION = 1 << SECTION_SHIFT,
    CHUNK_MAX_ORDER = 6, /* of frames: a word of the map */
};

struct frames {
    uint64_t *taken; /* a bit for each frame */
    uint16_t *used;  /* of each section */
    uint64_t sections, free;
    unsigned domains;
    struct frames_domain {
        uint64_t first, half, end; /* sections; runs are from the lower half */
        uint64_t next_section;     /* for runs */
        uint64_t open, open_at;    /* a section for runs below 2 MiB, and how far it is given out */
        uint64_t next_chunk;
    } domain[CHIP_MAX_IODS];
};

/* `bytes` of domains of `each`, the last of which may be smaller. */
bool frames_open(struct frames *f, uint64_t bytes, uint64_t each);
void frames_close(struct frames *f);

/* Up to `wanted` contiguous frames, at least one; the first, and *count.  UINT64_MAX: memory is full. */
uint64_t frames_take_run(struct frames *f, unsigned domain, uint64_t wanted, uint64_t *count);
/* 2^order frames; UINT64_MAX: there are no such any more. */
uint64_t frames_take_chunk(struct frames *f, unsigned domain, unsigned order);
void frames_give(struct frames *f, uint64_t first, uint64_t count);

#endif
