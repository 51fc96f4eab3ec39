/* SPDX-License-Identifier: MIT */
/* Where allocations lie; see heap.h. */
#include "alloc/heap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ehp/ehp.h"
#include "alloc/memory.h"

enum { ARENA_BITS = 40, ARENA_LEAST_BITS = 34 };
enum { BELOW = 64 * 1024 };   /* what nobody is given before the arena: instructions have negative offsets */
enum { APART = 1024 * 1024 }; /* between chunks of the runtime's own, and of code */
enum { MAPPINGS_USUAL = 65530 }; /* Linux, Documentation/admin-guide/sysctl/vm.rst */

uint64_t heap_whole_pages(uint64_t bytes)
{
    return (bytes + HEAP_PAGE - 1) & ~(uint64_t)(HEAP_PAGE - 1);
}

static uint64_t aligned(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

/* ---- pages of a chunk ---- */

static bool is_set(const uint64_t *map, uint64_t page)
{
    return map[page / 64] >> page % 64 & 1;
}

static void set(uint64_t *map, uint64_t first, uint64_t count, bool value)
{
    for (uint64_t page = first; page < first + count; page++)
        if (value)
            map[page / 64] |= UINT64_C(1) << page % 64;
        else
            map[page / 64] &= ~(UINT64_C(1) << page % 64);
}

static bool grant(uint64_t base, uint64_t bytes, int access)
{
    return mprotect((void *)(uintptr_t)base, (size_t)bytes, access) == 0;
}

/* Gives pages this access and no contents. */
static bool replace(uint64_t base, uint64_t bytes, int access)
{
    return mmap((void *)(uintptr_t)base, (size_t)bytes, access,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* ---- the arena ---- */

static uint64_t mappings_allowed(void)
{
    unsigned long long most = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file) {
        if (fscanf(file, "%llu", &most) != 1)
            most = 0;
        fclose(file);
    }
    return most ? most : MAPPINGS_USUAL;
}

void heap_explain(char *text, size_t bytes)
{
    uint64_t allowed = mappings_allowed(), count = 0;
    FILE *file = fopen("/proc/self/maps", "re");
    for (int c; file && (c = getc(file)) != EOF;)
        count += c == '\n';
    if (file)
        fclose(file);
    if (count + count / 64 >= allowed)
        snprintf(text, bytes,
                 "the host's limit of mappings (vm.max_map_count, %llu) is reached; raise it: sysctl -w "
                 "vm.max_map_count=%llu",
                 (unsigned long long)allowed, 16ULL * allowed);
    else
        snprintf(text, bytes,
                 "the host has no more memory or addresses for the process (ulimit -v, "
                 "vm.overcommit_memory)");
}

/* An aligned range of 2^40 addresses, or of as many as the host has. */
static bool reserve(struct memory *memory)
{
    for (unsigned bits = ARENA_BITS; bits >= ARENA_LEAST_BITS; bits--) {
        uint64_t bytes = UINT64_C(1) << bits;
        void *map =
            mmap(NULL, 2 * bytes + BELOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED)
            continue;
        uint64_t start = (uint64_t)(uintptr_t)map, arena = aligned(start + BELOW, bytes);
        if (arena - BELOW > start)
            munmap(map, (size_t)(arena - BELOW - start));
        if (start + BELOW + bytes > arena)
            munmap((void *)(uintptr_t)(arena + bytes), (size_t)(start + BELOW + bytes - arena));
        memory->arena = arena;
        memory->arena_bytes = bytes;
        return true;
    }
    return false;
}

/* What a program's stray index is likely to meet is nobody's or its own. */
bool heap_open(struct memory *memory)
{
    if (!reserve(memory))
        return false;
    struct heap *h = &memory->heap;
    uint64_t part = memory->arena_bytes / 16, arena = memory->arena;
    h->program = (struct heap_region){arena, arena + 12 * part, HEAP_PAGE, arena};
    h->code = (struct heap_region){arena + 13 * part, arena + 14 * part, APART, arena + 13 * part};
    h->runtime = (struct heap_region){arena + 14 * part, arena + 16 * part, APART, arena + 14 * part};
    h->mappings_most = mappings_allowed() / 4 * 3;
    return true;
}

void heap_close(struct memory *memory)
{
    struct tree_node *node;
    while ((node = memory->heap.chunks) != NULL) {
        struct memory_chunk *chunk = (struct memory_chunk *)node;
        tree_remove(&memory->heap.chunks, node);
        free(chunk->frame);
        free(chunk);
    }
    if (memory->arena)
        munmap((void *)(uintptr_t)(memory->arena - BELOW), (size_t)memory->arena_bytes + BELOW);
}

/* ---- chunks ---- */

static uint64_t room_from(struct heap *h, const struct heap_region *r, uint64_t from, uint64_t size,
                          uint64_t align)
{
    /* Neighbours that can be accessed are one mapping. */
    const uint64_t gap = r == &h->program && h->mappings > h->mappings_most ? 0 : r->gap;
    const struct tree_node *node = tree_below(h->chunks, from);
    for (;;) {
        uint64_t end = node ? node->base + ((const struct memory_chunk *)node)->bytes : 0;
        uint64_t base = aligned((end > from ? end : from) + gap, align);
        if (base < from || base + size + gap > r->end)
            return 0;
        node = tree_above(h->chunks, from);
        if (!node || base + size + gap <= node->base)
            return base;
        from = node->base;
    }
}

static struct heap_region *region_of(struct heap *h, int kind)
{
    return kind == EHP_MEM_CODE ? &h->code : kind == EHP_MEM_INTERNAL ? &h->runtime : &h->program;
}

static struct heap_use *use_of(struct memory *memory, unsigned agent, int kind)
{
    return &memory->heap.use[memory_place(memory, agent, kind)];
}

static bool fits(struct memory *memory, const struct memory_block *block, uint64_t bytes)
{
    const uint64_t size = memory_place_size(memory, memory_place(memory, block->agent, block->kind));
    const struct heap_use *use = use_of(memory, block->agent, block->kind);
    if (block->on_demand)
        return true;
    if (block->kind == EHP_MEM_DEVICE &&
        use->device[memory_domain(memory, block->agent)] + bytes > memory->size / memory->domains)
        return false;
    return bytes <= size && use->reserved <= size - bytes;
}

/* Whether pages between allocations cost too much; memory does not where they have been asked for. */
static bool is_crowded(const struct memory *memory)
{
    const struct heap *h = &memory->heap;
    uint64_t reserved = 0;
    for (unsigned i = 0; i < memory->packages; i++)
        reserved = h->use[i].reserved > reserved ? h->use[i].reserved : reserved;
    return h->mappings > h->mappings_most ||
           (reserved > memory->size / 2 && memory->bounds != EHP_BOUNDS_FAULT);
}

/* The kernel refuses: from now on mappings are spared. */
static void ran_short(struct heap *h)
{
    if (h->mappings_most > h->mappings)
        h->mappings_most = h->mappings;
}

static void count(struct memory *memory, const struct memory_chunk *chunk, bool more)
{
    struct heap_use *use = use_of(memory, chunk->agent, chunk->kind);
    uint64_t bytes = more ? chunk->bytes : -chunk->bytes;
    use->reserved += chunk->on_demand ? 0 : bytes;
    use->device[memory_domain(memory, chunk->agent)] += chunk->kind == EHP_MEM_DEVICE ? bytes : 0;
}

static void unlist(struct heap *h, const struct memory_chunk *chunk)
{
    struct memory_chunk *first = h->lent, **at = &first;
    while (*at != chunk)
        at = &(*at)->next_lent;
    *at = chunk->next_lent;
    h->lent = first;
}

static void chunk_free(struct memory *memory, struct memory_chunk *chunk)
{
    struct heap *h = &memory->heap;
    tree_remove(&h->chunks, &chunk->node);
    count(memory, chunk, false);
    h->mappings -= chunk->open || !chunk->cut ? 2 + 2 * (uint64_t)chunk->holes : 0;
    struct memory_chunk **current = chunk->cut ? &h->current[chunk->kind][chunk->agent] : NULL;
    if (current && *current == chunk)
        *current = NULL;
    if (memory->hooks.released)
        memory->hooks.released(memory->hooks.context, chunk);
    if (chunk->listed)
        unlist(h, chunk);
    if (!replace(chunk->node.base, chunk->bytes, PROT_NONE)) /* no mapping is left for it */
        madvise((void *)(uintptr_t)chunk->node.base, (size_t)chunk->bytes, MADV_DONTNEED);
    free(chunk);
}

static int chunk_make(struct memory *memory, const struct memory_block *block, uint64_t bytes, uint64_t align,
                      bool cut, struct memory_chunk **out)
{
    struct heap *h = &memory->heap;
    struct heap_region *region = region_of(h, block->kind);
    if (!fits(memory, block, bytes))
        return EHP_ERR_NO_MEMORY;
    uint64_t base = room_from(h, region, region->next, bytes, align);
    if (!base)
        base = room_from(h, region, region->first, bytes, align);
    struct memory_chunk *chunk = base ? calloc(1, sizeof(*chunk)) : NULL;
    if (!chunk)
        return EHP_ERR_OUT_OF_RESOURCES;
    *chunk = (struct memory_chunk){.node.base = base,
                                   .bytes = bytes,
                                   .kind = block->kind,
                                   .agent = block->agent,
                                   .on_demand = block->on_demand,
                                   .cut = cut,
                                   .open = memory->bounds == EHP_BOUNDS_OFF ||
                                           (memory->bounds == EHP_BOUNDS_WARN && memory->hooks.reserved) ||
                                           h->mappings > h->mappings_most,
                                   .pages = cut ? 0 : heap_whole_pages(block->bytes) / HEAP_PAGE};
    uint64_t accessible = chunk->open ? bytes : chunk->pages * HEAP_PAGE;
    if (accessible && !grant(base, accessible, PROT_READ | PROT_WRITE)) {
        ran_short(h);
        free(chunk);
        return EHP_ERR_OUT_OF_RESOURCES;
    }
    count(memory, chunk, true);
    h->mappings += chunk->open || !cut ? 2 : 0;
    tree_insert(&h->chunks, &chunk->node);
    if (memory->hooks.reserved && !memory->hooks.reserved(memory->hooks.context, chunk)) {
        chunk_free(memory, chunk);
        return EHP_ERR_NO_MEMORY;
    }
    region->next = base + bytes;
    *out = chunk;
    return EHP_OK;
}

/* All of it: the pages between its allocations are no mappings of their own any more. */
static bool chunk_open(struct heap *h, struct memory_chunk *chunk)
{
    ran_short(h);
    if (!grant(chunk->node.base, chunk->bytes, PROT_READ | PROT_WRITE))
        return false;
    chunk->open = true;
    h->mappings -= h->mappings > 2 * (uint64_t)chunk->live ? 2 * (uint64_t)chunk->live : h->mappings;
    h->mappings += 2;
    return true;
}

/* ---- small allocations ---- */

static bool give_pages(struct heap *h, struct memory_chunk *chunk, uint64_t first, uint64_t count)
{
    uint64_t base = chunk->node.base + first * HEAP_PAGE;
    if (!chunk->open) {
        if (grant(base, count * HEAP_PAGE, PROT_READ | PROT_WRITE))
            h->mappings += 2;
        else if (!chunk_open(h, chunk))
            return false;
    } else if (chunk->holes) {
        grant(base, count * HEAP_PAGE, PROT_READ | PROT_WRITE); /* it may have holes; merging cannot fail */
    }
    set(chunk->given, first, count, true);
    set(chunk->busy, first, count, true);
    chunk->live++;
    return true;
}

/* The next pages of a chunk, aligned; HEAP_PAGES: there are no so many. */
static uint64_t next_pages(const struct memory_chunk *chunk, uint64_t count, uint64_t align, bool apart)
{
    uint64_t first = aligned(chunk->pages + (apart && chunk->pages ? 1 : 0), align / HEAP_PAGE);
    return first + count <= HEAP_PAGES ? first : HEAP_PAGES;
}

/* Pages that nobody has, wherever in a chunk. */
static uint64_t free_pages(const struct memory_chunk *chunk, uint64_t count, uint64_t align)
{
    uint64_t step = align / HEAP_PAGE;
    for (uint64_t first = 0; first + count <= HEAP_PAGES; first += step) {
        uint64_t some = 0;
        while (some < count && !is_set(chunk->busy, first + some))
            some++;
        if (some == count)
            return first;
    }
    return HEAP_PAGES;
}

/* Memory is short: what lies between allocations, and what was freed, is used. */
static struct memory_chunk *squeeze(struct heap *h, const struct memory_block *block, uint64_t count,
                                    uint64_t align, uint64_t *first)
{
    for (unsigned round = 0; round < 2; round++) {
        uint64_t from = round ? 0 : h->squeezed;
        for (struct tree_node *node; (node = tree_above(h->chunks, from)) != NULL; from = node->base) {
            struct memory_chunk *chunk = (struct memory_chunk *)node;
            if (!chunk->cut || chunk->kind != block->kind || chunk->agent != block->agent)
                continue;
            *first = free_pages(chunk, count, align);
            if (*first == HEAP_PAGES)
                continue;
            h->squeezed = node->base - 1;
            return chunk;
        }
    }
    return NULL;
}

/*
 * A power of two of pages is aligned to its size, so that the GPU's page table
 * has large fragments for it; not where memory is short.
 */
static int take_small(struct memory *memory, struct memory_block *block, uint64_t align,
                      struct memory_chunk **out)
{
    struct heap *h = &memory->heap;
    struct memory_chunk **current = &h->current[block->kind][block->agent], *chunk = *current;
    uint64_t count = heap_whole_pages(block->bytes) / HEAP_PAGE, natural = HEAP_PAGE, first;
    bool crowded = is_crowded(memory);
    while (!crowded && natural < HEAP_CHUNK && natural * 2 <= count * HEAP_PAGE)
        natural *= 2;
    align = align < HEAP_PAGE ? HEAP_PAGE : align;
    first = chunk && chunk->agent == block->agent && chunk->on_demand == block->on_demand
                ? next_pages(chunk, count, align < natural ? natural : align, !crowded)
                : HEAP_PAGES;
    if (first < HEAP_PAGES && h->mappings > h->mappings_most && !chunk->open)
        first = HEAP_PAGES; /* from now on in open ones */
    if (first == HEAP_PAGES) {
        int status = chunk_make(memory, block, HEAP_CHUNK, HEAP_CHUNK, true, &chunk);
        if (status == EHP_OK) {
            first = 0;
        } else if (!(chunk = squeeze(h, block, count, align, &first))) {
            return status;
        }
    }
    if (!give_pages(h, chunk, first, count)) {
        if (!chunk->live)
            chunk_free(memory, chunk);
        return EHP_ERR_OUT_OF_RESOURCES;
    }
    if (chunk->pages < first + count)
        chunk->pages = first + count;
    if (!*current || (*current)->pages > chunk->pages || (*current)->open != chunk->open)
        *current = chunk; /* the one that has more left */
    block->base = chunk->node.base + first * HEAP_PAGE;
    *out = chunk;
    return EHP_OK;
}

/* Pages without access where that is no mapping too many; else empty ones. */
static void drop_pages(struct heap *h, struct memory_chunk *chunk, uint64_t first, uint64_t count)
{
    uint64_t base = chunk->node.base + first * HEAP_PAGE, bytes = count * HEAP_PAGE;
    set(chunk->busy, first, count, false);
    if (!chunk->open) {
        replace(base, bytes, PROT_NONE);
        h->mappings -= h->mappings < 2 ? h->mappings : 2;
    } else if (h->mappings + 2 <= h->mappings_most && replace(base, bytes, PROT_NONE)) {
        h->mappings += 2;
        chunk->holes++;
    } else if (!replace(base, bytes, PROT_READ | PROT_WRITE)) {
        madvise((void *)(uintptr_t)base, (size_t)bytes, MADV_DONTNEED);
    }
}

/* ---- what lies between ---- */

struct memory_chunk *heap_spare(struct memory *memory, uint64_t address)
{
    struct memory_chunk *chunk = (struct memory_chunk *)tree_below(memory->heap.chunks, address);
    uint64_t page = chunk ? (address - chunk->node.base) / HEAP_PAGE : 0;
    if (!chunk || address - chunk->node.base >= chunk->bytes)
        return NULL;
    return (chunk->cut ? !is_set(chunk->given, page) : page >= chunk->pages) ? chunk : NULL;
}

/* Pages from `page` on that are alike: nobody's, and lent or not.  Of a chunk that is not cut, what is left.
 */
static uint64_t spare_run(const struct memory_chunk *chunk, uint64_t page, bool lent)
{
    uint64_t end = page;
    if (!chunk->cut)
        return chunk->bytes / HEAP_PAGE - page;
    while (end < HEAP_PAGES && !is_set(chunk->given, end) && is_set(chunk->lent, end) == lent)
        end++;
    return end - page;
}

bool heap_lend(struct heap *h, struct memory_chunk *chunk, uint64_t address)
{
    uint64_t first = chunk->cut ? (address - chunk->node.base) / HEAP_PAGE : chunk->pages;
    if (chunk->open || is_set(chunk->lent, chunk->cut ? first : 0))
        return true; /* another thread was faster */
    while (chunk->cut && first && !is_set(chunk->given, first - 1) && !is_set(chunk->lent, first - 1))
        first--;
    uint64_t count = spare_run(chunk, first, false);
    if (!grant(chunk->node.base + first * HEAP_PAGE, count * HEAP_PAGE, PROT_READ | PROT_WRITE))
        return false;
    set(chunk->lent, chunk->cut ? first : 0, chunk->cut ? count : 1, true);
    if (!chunk->listed) {
        chunk->listed = true;
        chunk->next_lent = h->lent;
        h->lent = chunk;
    }
    return true;
}

static void call_in(struct memory_chunk *chunk)
{
    uint64_t page = chunk->cut ? 0 : chunk->pages, count;
    for (; page < chunk->bytes / HEAP_PAGE; page += count ? count : 1) {
        count = spare_run(chunk, page, true);
        if (count && !chunk->open)
            grant(chunk->node.base + page * HEAP_PAGE, count * HEAP_PAGE, PROT_NONE);
    }
    memset(chunk->lent, 0, sizeof(chunk->lent));
    chunk->listed = false;
}

void heap_call_in(struct heap *h)
{
    for (struct memory_chunk *chunk = h->lent; chunk; chunk = chunk->next_lent)
        call_in(chunk);
    h->lent = NULL;
}

/* ---- the interface ---- */

int heap_take(struct memory *memory, struct memory_block *block, uint64_t align, struct memory_chunk **chunk)
{
    uint64_t size = heap_whole_pages(block->bytes), whole = size;
    if (block->kind < HEAP_KINDS && size <= HEAP_CHUNK && align <= HEAP_CHUNK)
        return take_small(memory, block, align, chunk);
    if (block->kind == EHP_MEM_DEVICE)
        whole = aligned(size, HEAP_CHUNK);
    uint64_t natural = HEAP_PAGE;
    while (natural < HEAP_CHUNK && natural * 2 <= size)
        natural *= 2; /* so that the host can use huge pages, and the GPU large fragments */
    int status = chunk_make(memory, block, whole, align < natural ? natural : align, false, chunk);
    if (status != EHP_OK)
        return status;
    block->base = (*chunk)->node.base;
    (*chunk)->live = 1;
    return EHP_OK;
}

bool heap_unguarded(const struct memory *memory, const struct memory_block *block,
                    const struct memory_chunk *chunk, char *text, size_t bytes)
{
    if (memory->bounds != EHP_BOUNDS_FAULT || block->kind >= HEAP_KINDS)
        return false;
    uint64_t first = (block->base - chunk->node.base) / HEAP_PAGE,
             end = first + heap_whole_pages(block->bytes) / HEAP_PAGE;
    if (chunk->open)
        snprintf(
            text, bytes,
            "the host's limit of mappings (vm.max_map_count, %llu) leaves no pages without access between "
            "allocations; raise it: sysctl -w vm.max_map_count=%llu",
            (unsigned long long)mappings_allowed(), 16ULL * mappings_allowed());
    else if (chunk->cut &&
             ((first && is_set(chunk->busy, first - 1)) || (end < HEAP_PAGES && is_set(chunk->busy, end))))
        snprintf(text, bytes, "memory is so full that allocations lie side by side");
    else
        return false;
    return true;
}

void heap_give(struct memory *memory, const struct memory_block *block, struct memory_chunk *chunk)
{
    struct heap *h = &memory->heap;
    if (--chunk->live == 0) {
        if (chunk->cut && !chunk->open)
            h->mappings -= h->mappings < 2 ? h->mappings : 2;
        chunk_free(memory, chunk);
    } else {
        drop_pages(h, chunk, (block->base - chunk->node.base) / HEAP_PAGE,
                   heap_whole_pages(block->bytes) / HEAP_PAGE);
    }
}
