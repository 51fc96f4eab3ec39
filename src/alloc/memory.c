/* SPDX-License-Identifier: MIT */
/* Allocations; see memory.h. */
#include "alloc/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ehp/ehp.h"

/* Something that is allocated or registered. */
struct entry {
    struct tree_node node;
    struct memory_block block;
    struct memory_chunk *chunk; /* NULL: registered, with so many pages in each package: */
    uint64_t share[HEAP_PLACES];
};

bool memory_init(struct memory *memory, uint64_t size, unsigned packages, unsigned package_agents, bool xnack)
{
    *memory = (struct memory){
        .size = size, .packages = packages, .package_agents = package_agents, .domains = 1, .xnack = xnack};
    pthread_mutex_init(&memory->lock, NULL);
    numa_open(&memory->numa, packages);
    memory->freed = calloc(MEMORY_HISTORY, sizeof(*memory->freed));
    return memory->freed && heap_open(memory);
}

void memory_set_host(struct memory *memory, uint64_t size)
{
    memory->host_size = size;
    if (size)
        memory->numa.program.package = memory->packages;
}

void memory_destroy(struct memory *memory)
{
    struct tree_node *node;
    while ((node = memory->blocks) != NULL) {
        tree_remove(&memory->blocks, node);
        free((struct entry *)node);
    }
    heap_close(memory);
    free(memory->freed);
    numa_close(&memory->numa);
    pthread_mutex_destroy(&memory->lock);
}

static struct entry *entry_below(const struct memory *memory, uint64_t address)
{
    return (struct entry *)tree_below(memory->blocks, address);
}

/* The one that begins there. */
static struct entry *entry_at(const struct memory *memory, const void *base)
{
    struct entry *e = entry_below(memory, (uint64_t)(uintptr_t)base);
    return e && e->block.base == (uint64_t)(uintptr_t)base ? e : NULL;
}

const struct memory_block *memory_above(struct memory *memory, uint64_t address)
{
    const struct entry *e = (const struct entry *)tree_above(memory->blocks, address);
    return e ? &e->block : NULL;
}

const struct memory_block *memory_below(struct memory *memory, uint64_t address)
{
    const struct entry *e = entry_below(memory, address);
    return e ? &e->block : NULL;
}

bool memory_is_device(int kind)
{
    return kind == EHP_MEM_DEVICE || kind == EHP_MEM_CODE;
}

static bool insert(struct memory *memory, const struct memory_block *block, struct memory_chunk *chunk)
{
    struct entry *e = calloc(1, sizeof(*e));
    if (!e)
        return false;
    e->node.base = block->base;
    e->block = *block;
    e->block.serial = memory->serial + 1;
    e->chunk = chunk;
    if (memory->hooks.mapped && !memory->hooks.mapped(memory->hooks.context, &e->block, chunk)) {
        free(e);
        return false;
    }
    memory->serial++;
    tree_insert(&memory->blocks, &e->node);
    return true;
}

/* Whole pages of a block. */
static uint64_t footprint(const struct memory_block *block)
{
    return heap_whole_pages((block->base & (HEAP_PAGE - 1)) + block->bytes);
}

static uint64_t upfront(const struct memory *memory)
{
    uint64_t sum = 0;
    for (unsigned kind = 0; kind < MEMORY_KINDS; kind++)
        sum += memory->upfront[kind];
    return sum;
}

uint64_t memory_upfront(struct memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    uint64_t sum = upfront(memory);
    pthread_mutex_unlock(&memory->lock);
    return sum;
}

uint64_t memory_reserved(struct memory *memory, unsigned place)
{
    pthread_mutex_lock(&memory->lock);
    uint64_t sum = memory->heap.use[place].reserved;
    pthread_mutex_unlock(&memory->lock);
    return sum;
}

uint64_t memory_device(struct memory *memory, unsigned agent)
{
    pthread_mutex_lock(&memory->lock);
    uint64_t sum = memory->heap.use[memory_package(memory, agent)].device[memory_domain(memory, agent)];
    pthread_mutex_unlock(&memory->lock);
    return sum;
}

void *memory_alloc(struct memory *memory, unsigned agent, int kind, uint64_t bytes, uint64_t align,
                   int *status)
{
    if (align == 0)
        align = HEAP_PAGE;
    if (bytes == 0 || (align & (align - 1)) || bytes > UINT64_MAX / 2 || kind < 0 || kind >= MEMORY_KINDS ||
        kind == EHP_MEM_REGISTERED) {
        *status = EHP_ERR_INVALID;
        return NULL;
    }
    *status = EHP_ERR_NO_MEMORY;
    if (bytes > memory->arena_bytes || align > memory->arena_bytes)
        return NULL;
    struct memory_block block = {
        .bytes = bytes, .kind = kind, .agent = agent, .on_demand = kind == EHP_MEM_MANAGED && memory->xnack};
    struct memory_chunk *chunk;
    pthread_mutex_lock(&memory->lock);
    *status = heap_take(memory, &block, align, &chunk);
    if (*status == EHP_OK && !insert(memory, &block, chunk)) {
        heap_give(memory, &block, chunk);
        *status = EHP_ERR_NO_MEMORY;
    }
    if (*status == EHP_OK && !block.on_demand)
        memory->upfront[kind] += footprint(&block);
    char why[256];
    bool says =
        *status == EHP_OK && !memory->unguarded && heap_unguarded(memory, &block, chunk, why, sizeof(why));
    memory->unguarded |= says;
    pthread_mutex_unlock(&memory->lock);
    if (says)
        fprintf(stderr, "ehp: --bounds=fault: from now on an access beyond a buffer may not be a fault: %s\n",
                why);
    if (*status != EHP_OK)
        return NULL;
    void *start = (void *)(uintptr_t)block.base;
    /* In timing mode pages that either side may be first to touch are told apart one by one. */
    if (heap_whole_pages(bytes) >= HEAP_CHUNK && (kind == EHP_MEM_DEVICE || !memory->hooks.mapped))
        madvise(start, (size_t)heap_whole_pages(bytes), MADV_HUGEPAGE);
    return start;
}

static int remove_block(struct memory *memory, void *base, bool registered)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *e = entry_at(memory, base);
    if (!e || memory_is_registered(&e->block) != registered) {
        pthread_mutex_unlock(&memory->lock);
        return EHP_ERR_NOT_FOUND;
    }
    if (memory->hooks.unmapped)
        memory->hooks.unmapped(memory->hooks.context, &e->block, e->chunk);
    tree_remove(&memory->blocks, &e->node);
    memory->freed[memory->frees++ % MEMORY_HISTORY] = e->block;
    if (!e->block.on_demand)
        memory->upfront[e->block.kind] -= footprint(&e->block);
    if (registered) {
        for (unsigned i = 0; i < HEAP_PLACES; i++)
            memory->heap.use[i].reserved -= e->share[i] * HEAP_PAGE;
        memory->registrations++;
    } else {
        heap_give(memory, &e->block, e->chunk);
    }
    free(e);
    pthread_mutex_unlock(&memory->lock);
    return EHP_OK;
}

bool memory_protect(struct memory *memory, void *base)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *e = entry_at(memory, base);
    bool done =
        e && e->chunk && !e->chunk->cut && mprotect(base, (size_t)footprint(&e->block), PROT_READ) == 0;
    if (done) {
        if (memory->hooks.released)
            memory->hooks.released(memory->hooks.context, e->chunk);
        e->chunk->read_only = true;
        if (memory->hooks.reserved)
            done = memory->hooks.reserved(memory->hooks.context, e->chunk);
    }
    pthread_mutex_unlock(&memory->lock);
    return done;
}

int memory_free(struct memory *memory, void *base)
{
    return remove_block(memory, base, false);
}

/* The one place for all pages of a block; HEAP_PLACES: each has its own. */
static unsigned only_place(const struct memory *memory, const struct memory_block *block)
{
    const unsigned place = memory_place(memory, block->agent, block->kind);
    return memory->packages == 1 || block->mapped || place == memory->packages ? place : HEAP_PLACES;
}

/* Pages of a range in each package; those that have no place get one now.  False: they do not fit. */
static bool find_pages(struct memory *memory, const struct memory_block *block, uint64_t size,
                       uint64_t share[HEAP_PLACES])
{
    const unsigned only = only_place(memory, block);
    const uint64_t first = block->base & ~(uint64_t)(HEAP_PAGE - 1);
    if (only < HEAP_PLACES)
        share[only] = size / HEAP_PAGE;
    for (uint64_t at = first; only == HEAP_PLACES && at < first + size; at += HEAP_PAGE) {
        unsigned package;
        if (!numa_find(&memory->numa, at, &memory->numa.program, &package))
            return false;
        share[package]++;
    }
    for (unsigned i = 0; i < HEAP_PLACES; i++)
        if (share[i] && share[i] > (memory_place_size(memory, i) - memory->heap.use[i].reserved) / HEAP_PAGE)
            return false;
    return true;
}

static int add_block(struct memory *memory, const struct memory_block *block)
{
    uint64_t end;
    if (!block->base || block->bytes == 0 || __builtin_add_overflow(block->base, block->bytes, &end) ||
        end > UINT64_MAX - HEAP_PAGE)
        return EHP_ERR_INVALID;
    pthread_mutex_lock(&memory->lock);
    const struct memory_block *last = memory_below(memory, end - 1);
    bool overlaps = last && last->base + last->bytes > block->base;
    uint64_t size = footprint(block), share[HEAP_PLACES] = {0};
    int status = EHP_ERR_INVALID;
    if (!overlaps)
        status = size <= memory->arena_bytes && find_pages(memory, block, size, share) &&
                         insert(memory, block, NULL)
                     ? EHP_OK
                     : EHP_ERR_NO_MEMORY;
    if (status == EHP_OK) {
        memcpy(entry_at(memory, (const void *)(uintptr_t)block->base)->share, share, sizeof(share));
        memory->upfront[block->kind] += size;
        for (unsigned i = 0; i < HEAP_PLACES; i++)
            memory->heap.use[i].reserved += share[i] * HEAP_PAGE;
    }
    memory->registrations++;
    pthread_mutex_unlock(&memory->lock);
    return status;
}

int memory_register(struct memory *memory, void *base, uint64_t bytes, bool uncached)
{
    const struct memory_block block = {
        .base = (uint64_t)(uintptr_t)base, .bytes = bytes, .kind = EHP_MEM_REGISTERED, .uncached = uncached};
    return add_block(memory, &block);
}

int memory_register_device(struct memory *memory, unsigned agent, void *base, uint64_t bytes)
{
    const struct memory_block block = {.base = (uint64_t)(uintptr_t)base,
                                       .bytes = bytes,
                                       .kind = EHP_MEM_DEVICE,
                                       .agent = agent,
                                       .mapped = true};
    return add_block(memory, &block);
}

int memory_unregister(struct memory *memory, void *base)
{
    return remove_block(memory, base, true);
}

static uint64_t resident_of(const struct memory_block *b)
{
    unsigned char present[1024];
    uint64_t start = b->base & ~(uint64_t)(HEAP_PAGE - 1), end = start + footprint(b), count = 0;
    for (uint64_t at = start; at < end; at += sizeof(present) * HEAP_PAGE) {
        uint64_t some = end - at < sizeof(present) * HEAP_PAGE ? end - at : sizeof(present) * HEAP_PAGE;
        if (mincore((void *)(uintptr_t)at, (size_t)some, present) != 0)
            continue;
        for (uint64_t i = 0; i < some / HEAP_PAGE; i++)
            count += present[i] & 1;
    }
    return count * HEAP_PAGE;
}

uint64_t memory_resident(struct memory *memory, uint64_t *on_demand)
{
    uint64_t sum = 0;
    *on_demand = 0;
    pthread_mutex_lock(&memory->lock);
    for (const struct memory_block *b = memory_above(memory, 0); b; b = memory_above(memory, b->base)) {
        uint64_t bytes = resident_of(b);
        sum += bytes;
        *on_demand += b->on_demand ? bytes : 0;
    }
    pthread_mutex_unlock(&memory->lock);
    return sum;
}

/* What waves may access for a block's sake: whole pages are registered. */
static void reach(const struct memory *memory, const struct memory_block *block, uint64_t *first,
                  uint64_t *end)
{
    *first = memory->exact ? block->base : block->base & ~(uint64_t)(HEAP_PAGE - 1);
    *end = memory->exact ? block->base + block->bytes : *first + footprint(block);
}

bool memory_registered(struct memory *memory, uint64_t address, uint64_t bytes, uint64_t *first,
                       uint64_t *end)
{
    uint64_t from, to;
    pthread_mutex_lock(&memory->lock);
    const struct memory_block *b = memory_below(memory, memory->exact ? address : address | (HEAP_PAGE - 1));
    *first = *end = 0;
    if (b)
        reach(memory, b, first, end);
    /* An access may begin in one block and end in its neighbour. */
    while (b && *end > address && *end - address < bytes) {
        b = memory_above(memory, b->base);
        if (!b)
            break;
        reach(memory, b, &from, &to);
        if (from > *end)
            break;
        *end = to > *end ? to : *end;
    }
    pthread_mutex_unlock(&memory->lock);
    return address >= *first && address <= *end && bytes <= *end - address;
}

bool memory_find_freed(struct memory *memory, uint64_t address, struct memory_block *out)
{
    bool found = false;
    pthread_mutex_lock(&memory->lock);
    uint64_t oldest = memory->frees > MEMORY_HISTORY ? memory->frees - MEMORY_HISTORY : 0;
    for (uint64_t i = memory->frees; i > oldest && !found; i--) {
        const struct memory_block *b = &memory->freed[(i - 1) % MEMORY_HISTORY];
        found = address - b->base < heap_whole_pages(b->bytes);
        if (found)
            *out = *b;
    }
    pthread_mutex_unlock(&memory->lock);
    return found;
}

bool memory_set_site(struct memory *memory, void *base, enum memory_event event,
                     const struct memory_site *site)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *e = entry_at(memory, base);
    if (e && event == MEMORY_ALLOCATED) {
        e->block.allocated = *site;
        e->block.freed = (struct memory_site){0};
    } else if (e && !e->block.freed.address[0]) {
        e->block.freed = *site;
    }
    pthread_mutex_unlock(&memory->lock);
    return e != NULL;
}

bool memory_set_user(struct memory *memory, void *base, uint64_t user)
{
    pthread_mutex_lock(&memory->lock);
    struct entry *e = entry_at(memory, base);
    if (e)
        e->block.user = user;
    pthread_mutex_unlock(&memory->lock);
    return e != NULL;
}

bool memory_find(struct memory *memory, uint64_t address, struct memory_block *out, bool *inside)
{
    pthread_mutex_lock(&memory->lock);
    const struct memory_block *below = memory_below(memory, address), *above = memory_above(memory, address);
    const struct memory_block *best = below;
    *inside = below && address - below->base < below->bytes;
    if (!*inside && above && (!below || above->base - address < address - (below->base + below->bytes)))
        best = above;
    if (best)
        *out = *best;
    pthread_mutex_unlock(&memory->lock);
    return best != NULL;
}

/* An index of -1 and its like is before a buffer; everything else, past one. */
bool memory_lend(struct memory *memory, uint64_t address, struct memory_block *near)
{
    enum { BEFORE = 64 };
    if (memory->bounds == EHP_BOUNDS_FAULT || address - memory->arena >= memory->arena_bytes)
        return false;
    pthread_mutex_lock(&memory->lock);
    struct memory_chunk *chunk = heap_spare(memory, address);
    bool lent = chunk && heap_lend(&memory->heap, chunk, address);
    if (lent) {
        const struct memory_block *below = memory_below(memory, address),
                                  *above = memory_above(memory, address);
        bool mine = below && below->base >= chunk->node.base, next = above && above->base - address < BEFORE;
        *near = mine && (!next || address - (below->base + below->bytes) < above->base - address) ? *below
                                                                                                  : *above;
    }
    pthread_mutex_unlock(&memory->lock);
    return lent;
}

void memory_call_in(struct memory *memory)
{
    if (!memory->heap.lent)
        return;
    pthread_mutex_lock(&memory->lock);
    heap_call_in(&memory->heap);
    pthread_mutex_unlock(&memory->lock);
}
