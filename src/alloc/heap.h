/* SPDX-License-Identifier: MIT */
/*
 * Where allocations lie.  As ROCm's allocator does, allocations of up to 2 MiB are
 * cut from blocks of 2 MiB, in whole pages; a larger one of device memory has as
 * many such blocks as it needs, side by side.  Such a block, or row of them, is a
 * chunk.  All of it is there on the chip, whoever has been given how much.
 *
 * Here a page without access follows each allocation of a chunk, as long as there
 * is plenty of memory and of mappings, of which the host's kernel allows a process
 * so many: two for each.  When these run short, chunks are opened as a whole,
 * side by side, and cut without pages between.
 *
 * What was freed is not given out again before the chunk is empty, unless memory is
 * short.  What the runtime has for itself lies far from what programs allocate.
 *
 * Threads: the memory's lock.
 */
#ifndef EHP_ALLOC_HEAP_H
#define EHP_ALLOC_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alloc/tree.h"
#include "ehp/ehp.h"

struct memory;
struct memory_block;

enum { HEAP_PAGE = 4096, HEAP_CHUNK = 2 * 1024 * 1024, HEAP_PAGES = HEAP_CHUNK / HEAP_PAGE };

typedef uint64_t heap_map[HEAP_PAGES / 64]; /* a bit for each page of a chunk */

struct memory_chunk {
    struct tree_node node;
    uint64_t bytes;
    int kind;
    unsigned agent;
    bool on_demand, uncached;
    bool read_only; /* to waves */
    bool cut;       /* several allocations of up to 2 MiB; else one that begins with it */
    bool open;      /* the host lets everybody at all of it */
    unsigned live;  /* allocations */
    unsigned holes; /* freed pages of an open chunk that are without access */
    uint64_t pages; /* cut: so many from the beginning on are taken or passed; else the allocation's */
    heap_map given; /* pages that were ever given out */
    heap_map busy;  /* pages of allocations */
    heap_map lent; /* pages of nobody that can be accessed for now; bit 0: those of a chunk that is not cut */
    bool listed;   /* has some */
    struct memory_chunk *next_lent;
    uint64_t *frame; /* the page table's: cut: an entry for each of its pages */
};

/* What the memory has for this; the addresses' regions. */
struct heap_region {
    uint64_t first, end, gap; /* addresses; bytes that nobody has between chunks */
    uint64_t next;            /* where to look for room first: what was freed is not used again soon */
};

enum {
    HEAP_KINDS = 3,
    HEAP_PLACES = EHP_PACKAGES_MAX + 1, /* the last: a host's */
    HEAP_DOMAINS = 16,                  /* of a package at most: one for each IOD */
};

struct heap {
    struct heap_region program, code, runtime;
    struct tree_node *chunks;
    struct memory_chunk *current[HEAP_KINDS][EHP_AGENTS_MAX]; /* the one to cut from, or NULL */
    struct heap_use {
        uint64_t reserved;             /* bytes of a package; and what programs have as device memory */
        uint64_t device[HEAP_DOMAINS]; /* of its domains */
    } use[HEAP_PLACES];                /* memory_place() */
    uint64_t mappings, mappings_most;  /* what allocations have, about; when to be sparing with them */
    struct memory_chunk *_Atomic lent; /* a list */
    uint64_t squeezed;                 /* when memory is short: where room was found last */
};

uint64_t heap_whole_pages(uint64_t bytes);

/* False when the host has no room for the arena. */
bool heap_open(struct memory *memory);
void heap_close(struct memory *memory);

/*
 * Room for block->bytes, pages that can be accessed: sets block->base.
 * EHP_ERR_NO_MEMORY: the package is full; EHP_ERR_OUT_OF_RESOURCES: the host's limits.
 */
int heap_take(struct memory *memory, struct memory_block *block, uint64_t align, struct memory_chunk **chunk);
void heap_give(struct memory *memory, const struct memory_block *block, struct memory_chunk *chunk);

/* The chunk of an address that nobody was ever given, though the chip has mapped it; NULL: there is none. */
struct memory_chunk *heap_spare(struct memory *memory, uint64_t address);
/* Such pages around it can be accessed; and no more. */
bool heap_lend(struct heap *heap, struct memory_chunk *chunk, uint64_t address);
void heap_call_in(struct heap *heap);

/* Says which of the host's limits it was, and what to do. */
void heap_explain(char *text, size_t bytes);
/* With EHP_BOUNDS_FAULT: says why an access beyond this block, just taken, may not be a fault; false: it is.
 */
bool heap_unguarded(const struct memory *memory, const struct memory_block *block,
                    const struct memory_chunk *chunk, char *text, size_t bytes);

#endif
