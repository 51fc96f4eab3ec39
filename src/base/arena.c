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
static const size_t ZONE = (size_t)4 << 30; /* addresses, not memory */

/* A range of addresses, of which the beginning is in use; this is what lies first in it. */
struct arena_zone {
    _Alignas(64) struct arena_zone *next;
    size_t bytes, used;
};

static void *reserve(size_t bytes)
{
    char *map = mmap(NULL, bytes + HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(map, before);
    munmap(map + before + bytes, HUGE_PAGE - before);
    return map + before;
}

static _Noreturn void fail(void)
{
    fputs("ehp: the host has no memory for the simulation\n", stderr);
    abort();
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
}

static void open_pages(char *at, size_t bytes)
{
    if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0)
        fail();
    madvise(at, bytes, MADV_HUGEPAGE);
}

static void zone_new(struct arena *arena, size_t least)
{
    size_t used = whole_pages(least + sizeof(struct arena_zone)), bytes = used > ZONE ? used : ZONE;
    struct arena_zone *zone;
    while (!(zone = reserve(bytes)) && bytes > used) /* ulimit -v */
        bytes = bytes / 2 > used ? whole_pages(bytes / 2) : used;
    if (!zone)
        fail();
    arena_root(zone, bytes);
    open_pages((char *)zone, used);
    *zone = (struct arena_zone){.next = arena->zones, .bytes = bytes, .used = used};
    arena->zones = zone;
    arena->at = (char *)(zone + 1);
    arena->left = used - sizeof(*zone);
}

static void grow(struct arena *arena, size_t bytes)
{
    struct arena_zone *zone = arena->zones;
    if (!zone || bytes - arena->left > zone->bytes - zone->used) {
        zone_new(arena, bytes);
        return;
    }
    size_t more = whole_pages(bytes - arena->left);
    open_pages((char *)zone + zone->used, more);
    zone->used += more;
    arena->left += more;
}

void *arena_take(struct arena *arena, size_t bytes)
{
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (bytes > arena->left || !arena->zones)
        grow(arena, bytes);
    void *piece = arena->at;
    arena->at += bytes;
    arena->left -= bytes;
    return piece;
}

void arena_free(struct arena *arena)
{
    for (struct arena_zone *zone = arena->zones, *next; zone; zone = next) {
        next = zone->next;
        arena_not_root(zone, zone->bytes);
        munmap(zone, zone->bytes);
    }
    *arena = (struct arena){0};
}
