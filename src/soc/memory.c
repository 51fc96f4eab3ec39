/* SPDX-License-Identifier: MIT */
/* Allocations; see memory.h. */
#include "soc/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ehp/ehp.h"

enum { PAGE = 4096, HUGE = 2 * 1024 * 1024 };

void memory_init(struct memory *memory, uint64_t size)
{
    *memory = (struct memory){.size = size};
    uint64_t power = PAGE;
    while (power <= size / 2)
        power *= 2;
    memory->physical[0] = power / 2;
    memory->physical[1] = power / 4;
    pthread_mutex_init(&memory->lock, NULL);
}

void memory_destroy(struct memory *memory)
{
    for (size_t i = 0; i < memory->count; i++)
        if (memory->blocks[i].map)
            munmap(memory->blocks[i].map, memory->blocks[i].map_bytes);
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

/*
 * What addresses the host hands out differs from run to run; simulated ones must
 * not.  They go up in order of allocation; from the second time round, over what
 * is still in use.
 */
static uint64_t place(struct memory *memory, size_t index)
{
    const struct memory_block *block = &memory->blocks[index];
    unsigned side = !memory_is_device(block->kind);
    uint64_t within = block->base & (PAGE - 1), size = pages(within + block->bytes);
    uint64_t align = size >= HUGE ? HUGE : PAGE;
    bool again = memory->wrapped[side], moved = true;
    uint64_t at = memory->next_physical[side];
    for (unsigned rounds = 0; moved && rounds < 2;) {
        at = (at + align - 1) & ~(align - 1);
        if (at + size > memory->physical[side]) {
            at = 0;
            again = true;
            rounds++;
        }
        moved = false;
        for (size_t i = 0; again && i <= memory->count; i++) {
            const struct memory_block *b = &memory->blocks[i];
            uint64_t first = b->physical & ~(uint64_t)(PAGE - 1);
            uint64_t end = first + pages((b->base & (PAGE - 1)) + b->bytes);
            if (i != index && memory_is_device(b->kind) == !side && at < end && first < at + size) {
                at = end;
                moved = true;
            }
        }
    }
    memory->next_physical[side] = at + size;
    memory->wrapped[side] |= again;
    return at + within;
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
    memory->blocks[i].physical = place(memory, i);
    memory->count++;
    return true;
}

static void erase(struct memory *memory, size_t i)
{
    memory->changes++;
    memory->count--;
    memmove(&memory->blocks[i], &memory->blocks[i + 1], (memory->count - i) * sizeof(memory->blocks[0]));
}

/* Device memory is what hipMemGetInfo counts; the rest is the process's. */
static bool counts(int kind)
{
    return kind == EHP_MEM_DEVICE;
}

/*
 * A mapping of its own with an unmapped page on each side, so that an access
 * beyond the allocation's last page faults as it does on the chip.
 */
void *memory_alloc(struct memory *memory, unsigned agent, int kind, uint64_t bytes, uint64_t align,
                   int *status)
{
    if (align == 0)
        align = PAGE;
    if (bytes == 0 || (align & (align - 1)) || bytes > UINT64_MAX / 2) {
        *status = EHP_ERR_INVALID;
        return NULL;
    }
    uint64_t size = pages(bytes);
    if (align < PAGE)
        align = PAGE;
    if (size >= HUGE && align < HUGE)
        align = HUGE; /* so that the host can use huge pages */
    pthread_mutex_lock(&memory->lock);
    bool fits = !counts(kind) || (size <= memory->size && memory->used <= memory->size - size);
    if (fits && counts(kind))
        memory->used += size;
    pthread_mutex_unlock(&memory->lock);
    *status = EHP_ERR_NO_MEMORY;
    if (!fits)
        return NULL;

    size_t map_bytes = (size_t)(size + align + 2 * PAGE);
    char *map = mmap(NULL, map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map != MAP_FAILED) {
        uint64_t base = ((uint64_t)(uintptr_t)map + PAGE + align - 1) & ~(align - 1);
        void *start = (void *)(uintptr_t)base;
        int protection = PROT_READ | PROT_WRITE;
        if (mprotect(start, (size_t)size, protection) == 0) {
            if (size >= HUGE)
                madvise(start, (size_t)size, MADV_HUGEPAGE);
            struct memory_block block = {.base = base,
                                         .bytes = bytes,
                                         .map = map,
                                         .map_bytes = map_bytes,
                                         .kind = kind,
                                         .agent = agent};
            pthread_mutex_lock(&memory->lock);
            bool inserted = insert(memory, &block);
            pthread_mutex_unlock(&memory->lock);
            if (inserted) {
                *status = EHP_OK;
                return start;
            }
        }
        munmap(map, map_bytes);
    }
    if (counts(kind)) {
        pthread_mutex_lock(&memory->lock);
        memory->used -= size;
        pthread_mutex_unlock(&memory->lock);
    }
    return NULL;
}

static int remove_block(struct memory *memory, void *base, bool registered)
{
    pthread_mutex_lock(&memory->lock);
    size_t i = position(memory, (uint64_t)(uintptr_t)base);
    if (i == 0 || memory->blocks[i - 1].base != (uint64_t)(uintptr_t)base ||
        (memory->blocks[i - 1].map == NULL) != registered) {
        pthread_mutex_unlock(&memory->lock);
        return EHP_ERR_NOT_FOUND;
    }
    struct memory_block block = memory->blocks[i - 1];
    erase(memory, i - 1);
    if (counts(block.kind))
        memory->used -= pages(block.bytes);
    pthread_mutex_unlock(&memory->lock);
    if (block.map)
        munmap(block.map, block.map_bytes);
    return EHP_OK;
}

int memory_free(struct memory *memory, void *base)
{
    return remove_block(memory, base, false);
}

int memory_register(struct memory *memory, void *base, uint64_t bytes)
{
    if (!base || bytes == 0)
        return EHP_ERR_INVALID;
    uint64_t start = (uint64_t)(uintptr_t)base;
    pthread_mutex_lock(&memory->lock);
    size_t i = position(memory, start);
    bool overlaps = (i > 0 && memory->blocks[i - 1].base + memory->blocks[i - 1].bytes > start) ||
                    (i < memory->count && memory->blocks[i].base < start + bytes);
    struct memory_block block = {.base = start, .bytes = bytes, .kind = EHP_MEM_REGISTERED};
    int status = overlaps ? EHP_ERR_INVALID : insert(memory, &block) ? EHP_OK : EHP_ERR_NO_MEMORY;
    memory->changes++; /* what was the process's own until now */
    pthread_mutex_unlock(&memory->lock);
    return status;
}

int memory_unregister(struct memory *memory, void *base)
{
    return remove_block(memory, base, true);
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
