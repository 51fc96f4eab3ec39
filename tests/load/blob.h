/* SPDX-License-Identifier: MIT */
/* Files, guarded memory and an allocator for the loader tests. */
#ifndef EHP_TESTS_LOAD_BLOB_H
#define EHP_TESTS_LOAD_BLOB_H

#include <stdlib.h>
#include <sys/mman.h>

#include "check.h"
#include "load/code.h"

struct blob {
    uint8_t *data;
    size_t bytes;
};

static inline struct blob read_file(const char *directory, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    struct blob b = {malloc(1 << 20), 0};
    b.bytes = fread(b.data, 1, 1 << 20, f);
    fclose(f);
    return b;
}

/* A copy that ends where the next page cannot be read: reading on is a crash. */
struct guarded {
    uint8_t *map, *data;
    size_t mapped;
};

static inline struct guarded guard_new(const void *data, size_t bytes)
{
    struct guarded g;
    size_t pages = (bytes + 4095) / 4096;
    g.mapped = (pages + 1) * 4096;
    g.map = mmap(NULL, g.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.map == MAP_FAILED)
        abort();
    mprotect(g.map + pages * 4096, 4096, PROT_NONE);
    g.data = g.map + pages * 4096 - bytes;
    if (bytes)
        memcpy(g.data, data, bytes);
    return g;
}

static inline void guard_free(struct guarded g)
{
    munmap(g.map, g.mapped);
}

/* Segment memory: counted, so that leaks show. */
struct pool {
    int live;
    uint64_t last_bytes, last_align;
};

static inline void *pool_alloc(void *context, unsigned agent, uint64_t bytes, uint64_t align)
{
    (void)agent;
    struct pool *pool = context;
    if (bytes > 64 << 20)
        return NULL;
    size_t rounded = (size_t)((bytes + align - 1) / align * align);
    void *p = aligned_alloc((size_t)align, rounded ? rounded : (size_t)align);
    if (p) {
        memset(p, 0, rounded ? rounded : (size_t)align);
        pool->live++;
        pool->last_bytes = bytes;
        pool->last_align = align;
    }
    return p;
}

static inline void pool_free(void *context, void *p)
{
    ((struct pool *)context)->live--;
    free(p);
}

#endif
