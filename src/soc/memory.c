/* SPDX-License-Identifier: MIT */
/* Allocations; see memory.h. */
#include "soc/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ehp/ehp.h"

enum { PAGE = 4096, HUGE = 2 * 1024 * 1024, ARENA_BITS = 40, ARENA_LEAST_BITS = 34 };
enum { BELOW = 64 * 1024 }; /* what nobody is given before the arena: instructions have negative offsets */

/* An aligned range of 2^40 addresses, or of as many as the host has. */
static bool reserve(struct memory *memory)
{
    for (unsigned bits = ARENA_BITS; bits >= ARENA_LEAST_BITS; bits--) {
        uint64_t bytes = UINT64_C(1) << bits;
        void *map =
            mmap(NULL, 2 * bytes + BELOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED)
            continue;
        uint64_t start = (uint64_t)(uintptr_t)map, arena = (start + BELOW + bytes - 1) & ~(bytes - 1);
        if (arena - BELOW > start)
            munmap(map, (size_t)(arena - BELOW - start));
        if (start + BELOW + bytes > arena)
            munmap((void *)(uintptr_t)(arena + bytes), (size_t)(start + BELOW + bytes - arena));
        memory->arena = memory->next = arena;
        memory->arena_bytes = bytes;
        return true;
    }
    return false;
}

bool memory_init(struct memory *memory, uint64_t size, bool xnack)
{
    *memory = (struct memory){.size = size, .xnack = xnack};
    pthread_mutex_init(&memory->lock, NULL);
    memory->freed = calloc(MEMORY_HISTORY, sizeof(*memory->freed));
    return memory->freed && reserve(memory);
}

void memory_destroy(struct memory *memory)
{
    if (memory->arena)
        munmap((void *)(uintptr_t)(memory->arena - BELOW), (size_t)memory->arena_bytes + BELOW);
    free(memory->freed);
    free(memory->blocks);
    pthread_mutex_destroy(&memory->lock);
}

static uint64_t pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Index of the first block that begins above `address`. */
static size_t position(const struct memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory->blocks[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool memory_is_device(int kind)
{
    return kind == EHP_MEM_DEVICE || kind == EHP_MEM_CODE;
}

static bool insert(struct memory *memory, const struct memory_block *block)
{
    if (memory->count == memory->capacity) {
        size_t capacity = memory->capacity ? memory->capacity * 2 : 256;
        struct memory_block *blocks = realloc(memory->blocks, capacity * sizeof(*blocks));
        if (!blocks)
            return false;
        memory->blocks = blocks;
        memory->capacity = capacity;
    }
    size_t i = position(memory, block->base);
    memmove(&memory->blocks[i + 1], &memory->blocks[i], (memory->count - i) * sizeof(*block));
    memory->blocks[i] = *block;
    memory->blocks[i].serial = ++memory->serial;
    memory->count++;
    if (memory->hooks.mapped && !memory->hooks.mapped(memory->hooks.context, &memory->blocks[i])) {
        memory->count--;
        memmove(&memory->blocks[i], &memory->blocks[i + 1], (memory->count - i) * sizeof(*block));
        return false;
    }
    return true;
}

static void erase(struct memory *memory, size_t i)
{
    if (memory->hooks.unmapped)
        memory->hooks.unmapped(memory->hooks.context, &memory->blocks[i]);
    memory->count--;
    memmove(&memory->blocks[i], &memory->blocks[i + 1], (memory->count - i) * sizeof(memory->blocks[0]));
}

/* Whole pages of a block. */
static uint64_t footprint(const struct memory_block *block)
{
    return pages((block->base & (PAGE - 1)) + block->bytes);
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

/* Room between blocks, with a page that nobody has on each side; 0: none. */
static uint64_t find_room(const struct memory *memory, uint64_t from, uint64_t size, uint64_t align)
{
    uint64_t end = memory->arena + memory->arena_bytes;
    size_t i = position(memory, from);
    if (i > 0 && memory->blocks[i - 1].base + pages(memory->blocks[i - 1].bytes) > from)
        from = memory->blocks[i - 1].base + pages(memory->blocks[i - 1].bytes);
    for (;; i++) {
        uint64_t base = (from + PAGE + align - 1) & ~(align - 1);
        if (base + size + PAGE > end)
            return 0;
        if (i == memory->count || base + size + PAGE <= memory->blocks[i].base)
            return base;
        from = memory->blocks[i].base + pages(memory->blocks[i].bytes);
    }
}

static void unmap(uint64_t base, uint64_t bytes)
{
    mmap((void *)(uintptr_t)base, (size_t)bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Takes address space; the lock is held. */
static int take(struct memory *memory, struct memory_block *block, uint64_t size, uint64_t align)
{
    bool fits = block->on_demand || (size <= memory->size && upfront(memory) <= memory->size - size);
    if (!fits)
        return EHP_ERR_NO_MEMORY;
    block->base = find_room(memory, memory->next, size, align);
    if (!block->base)
        block->base = find_room(memory, memory->arena, size, align);
    if (!block->base || mprotect((void *)(uintptr_t)block->base, (size_t)size, PROT_READ | PROT_WRITE) != 0)
        return EHP_ERR_NO_MEMORY;
    if (!insert(memory, block)) {
        unmap(block->base, size);
        return EHP_ERR_NO_MEMORY;
    }
    memory->next = block->base + size;
    if (!block->on_demand)
        memory->upfront[block->kind] += size;
    return EHP_OK;
}

/*
 * Pages between pages without access, so that an access beyond the allocation's
 * last page faults as it does on the chip.
 */
void *memory_alloc(struct memory *memory, unsigned agent, int kind, uint64_t bytes, uint64_t align,
                   int *status)
{
    if (align == 0)
        align = PAGE;
    if (bytes == 0 || (align & (align - 1)) || bytes > UINT64_MAX / 2 || kind < 0 || kind >= MEMORY_KINDS ||
        kind == EHP_MEM_REGISTERED) {
        *status = EHP_ERR_INVALID;
        return NULL;
    }
    *status = EHP_ERR_NO_MEMORY;
    if (bytes > memory->arena_bytes || align > memory->arena_bytes)
        return NULL;
    uint64_t size = pages(bytes), natural = PAGE;
    while (natural < HUGE && natural * 2 <= size)
        natural *= 2; /* so that the host can use huge pages, and the GPU large fragments */
    struct memory_block block = {
        .bytes = bytes, .kind = kind, .agent = agent, .on_demand = kind == EHP_MEM_MANAGED && memory->xnack};
    pthread_mutex_lock(&memory->lock);
    *status = take(memory, &block, size, align < natural ? natural : align);
    pthread_mutex_unlock(&memory->lock);
    if (*status != EHP_OK)
        return NULL;
    void *start = (void *)(uintptr_t)block.base;
    /* In timing mode pages that either side may be first to touch are told apart one by one. */
    if (size >= HUGE && (kind == EHP_MEM_DEVICE || !memory->hooks.mapped))
        madvise(start, (size_t)size, MADV_HUGEPAGE);
    return start;
}

static int remove_block(struct memory *memory, void *base, bool registered)
{
    pthread_mutex_lock(&memory->lock);
    size_t i = position(memory, (uint64_t)(uintptr_t)base);
    if (i == 0 || memory->blocks[i - 1].base != (uint64_t)(uintptr_t)base ||
        (memory->blocks[i - 1].kind == EHP_MEM_REGISTERED) != registered) {
        pthread_mutex_unlock(&memory->lock);
        return EHP_ERR_NOT_FOUND;
    }
    struct memory_block block = memory->blocks[i - 1];
    erase(memory, i - 1);
    memory->freed[memory->frees++ % MEMORY_HISTORY] = block;
    if (!block.on_demand)
        memory->upfront[block.kind] -= footprint(&block);
    if (registered)
        memory->registrations++;
    else
        unmap(block.base, pages(block.bytes));
    pthread_mutex_unlock(&memory->lock);
    return EHP_OK;
}

int memory_free(struct memory *memory, void *base)
{
    return remove_block(memory, base, false);
}

int memory_register(struct memory *memory, void *base, uint64_t bytes, bool uncached)
{
    uint64_t start = (uint64_t)(uintptr_t)base, end;
    if (!base || bytes == 0 || __builtin_add_overflow(start, bytes, &end) || end > UINT64_MAX - PAGE)
        return EHP_ERR_INVALID;
    pthread_mutex_lock(&memory->lock);
    size_t i = position(memory, start);
    bool overlaps = (i > 0 && memory->blocks[i - 1].base + memory->blocks[i - 1].bytes > start) ||
                    (i < memory->count && memory->blocks[i].base < end);
    struct memory_block block = {
        .base = start, .bytes = bytes, .kind = EHP_MEM_REGISTERED, .uncached = uncached};
    uint64_t size = footprint(&block);
    int status = EHP_ERR_INVALID;
    if (!overlaps)
        status = size <= memory->size && upfront(memory) <= memory->size - size && insert(memory, &block)
                     ? EHP_OK
                     : EHP_ERR_NO_MEMORY;
    if (status == EHP_OK)
        memory->upfront[EHP_MEM_REGISTERED] += size;
    memory->registrations++;
    pthread_mutex_unlock(&memory->lock);
    return status;
}

int memory_unregister(struct memory *memory, void *base)
{
    return remove_block(memory, base, true);
}

static uint64_t resident_of(const struct memory_block *b)
{
    unsigned char present[1024];
    uint64_t start = b->base & ~(uint64_t)(PAGE - 1), end = start + footprint(b), count = 0;
    for (uint64_t at = start; at < end; at += sizeof(present) * PAGE) {
        uint64_t some = end - at < sizeof(present) * PAGE ? end - at : sizeof(present) * PAGE;
        if (mincore((void *)(uintptr_t)at, (size_t)some, present) != 0)
            continue;
        for (uint64_t i = 0; i < some / PAGE; i++)
            count += present[i] & 1;
    }
    return count * PAGE;
}

uint64_t memory_resident(struct memory *memory, uint64_t *on_demand)
{
    uint64_t sum = 0;
    *on_demand = 0;
    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < memory->count; i++) {
        uint64_t bytes = resident_of(&memory->blocks[i]);
        sum += bytes;
        *on_demand += memory->blocks[i].on_demand ? bytes : 0;
    }
    pthread_mutex_unlock(&memory->lock);
    return sum;
}

bool memory_registered(struct memory *memory, uint64_t address, uint64_t bytes, uint64_t *first,
                       uint64_t *end)
{
    pthread_mutex_lock(&memory->lock);
    size_t i = position(memory, address | (PAGE - 1)); /* whole pages are registered */
    *first = *end = 0;
    if (i > 0) {
        const struct memory_block *b = &memory->blocks[i - 1];
        *first = b->base & ~(uint64_t)(PAGE - 1);
        *end = *first + footprint(b);
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
        found = address - b->base < pages(b->bytes);
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
    size_t i = position(memory, (uint64_t)(uintptr_t)base);
    bool found = i > 0 && memory->blocks[i - 1].base == (uint64_t)(uintptr_t)base;
    if (found && event == MEMORY_ALLOCATED)
        memory->blocks[i - 1].allocated = *site;
    else if (found)
        memory->blocks[i - 1].freed = *site;
    pthread_mutex_unlock(&memory->lock);
    return found;
}

bool memory_set_user(struct memory *memory, void *base, uint64_t user)
{
    pthread_mutex_lock(&memory->lock);
    size_t i = position(memory, (uint64_t)(uintptr_t)base);
    bool found = i > 0 && memory->blocks[i - 1].base == (uint64_t)(uintptr_t)base;
    if (found)
        memory->blocks[i - 1].user = user;
    pthread_mutex_unlock(&memory->lock);
    return found;
}

bool memory_find(struct memory *memory, uint64_t address, struct memory_block *out, bool *inside)
{
    pthread_mutex_lock(&memory->lock);
    size_t i = position(memory, address);
    const struct memory_block *below = i > 0 ? &memory->blocks[i - 1] : NULL;
    const struct memory_block *above = i < memory->count ? &memory->blocks[i] : NULL;
    const struct memory_block *best = below;
    *inside = below && address - below->base < below->bytes;
    if (!*inside && above && (!below || above->base - address < address - (below->base + below->bytes)))
        best = above;
    if (best)
        *out = *best;
    pthread_mutex_unlock(&memory->lock);
    return best != NULL;
}
