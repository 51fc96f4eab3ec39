/* SPDX-License-Identifier: MIT */
/* See arena.h. */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Leak checkers look for pointers in memory of malloc() and in globals: tell them of mapped memory that has
 * some. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define arena_root(block, bytes)     __lsan_register_root_region(block, bytes)
#define arena_not_root(block, bytes) __lsan_unregister_root_region(block, bytes)
#else
#define arena_root(block, bytes)     ((void)0)
#define arena_not_root(block, bytes) ((void)0)
#endif

enum { HUGE_PAGE = 2 * 1024 * 1024, ALIGN = 64 };

struct arena_block {
    _Alignas(64) struct arena_block *next;
    size_t bytes;
};

static struct arena_block *block_new(size_t bytes)
{
    char *map = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        fputs("ehp: the host has no memory for the simulation\n", stderr);
        abort();
    }
    size_t before = (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(map, before);
    munmap(map + before + bytes, HUGE_PAGE - before);
    struct arena_block *block = (struct arena_block *)(map + before);
    madvise(block, bytes, MADV_HUGEPAGE);
    block->bytes = bytes;
    arena_root(block, bytes);
    return block;
}

void *arena_take(struct arena *arena, size_t bytes)
{
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (bytes > arena->left) {
        size_t all = (bytes + sizeof(struct arena_block) + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
        struct arena_block *block = block_new(all);
        block->next = arena->blocks;
        arena->blocks = block;
        arena->at = (char *)(block + 1);
        arena->left = all - sizeof(*block);
    }
    void *piece = arena->at;
    arena->at += bytes;
    arena->left -= bytes;
    return piece;
}

void arena_free(struct arena *arena)
{
    for (struct arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        arena_not_root(block, block->bytes);
        munmap(block, block->bytes);
    }
    *arena = (struct arena){0};
}
