/* SPDX-License-Identifier: MIT */
/*
 * Whether the host program has used memory that the GPU sees: what the kernel
 * under the simulator has noted of accesses to pages while the simulation stood still.
 *
 * A page that was only read may be the kernel's page of zeros, of which nothing is
 * noted: it is given a frame of its own first, and later one means a new access.
 *
 * What the runtime has there for itself (arguments of kernels, output of theirs) no program can poll, and
 * calls write it before anybody knows of them: it does not count.
 *
 * Source: Linux, Documentation/filesystems/proc.rst, clear_refs and smaps;
 * Documentation/admin-guide/mm/pagemap.rst.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/timed/timed.h"
#include "alloc/memory.h"

enum { PAGE = 4096, SOME_PAGES = 512, FLUSH_BYTES = 1 << 20 };
#define PAGEMAP_PRESENT   (UINT64_C(1) << 63)
#define PAGEMAP_EXCLUSIVE (UINT64_C(1) << 56)

struct timed_touch {
    struct memory *memory;
    int clear;   /* /proc/self/clear_refs */
    int pagemap; /* /proc/self/pagemap */
};

/* NULL where the kernel does not tell. */
struct timed_touch *timed_touch_open(struct memory *memory)
{
    struct timed_touch *t = malloc(sizeof(*t));
    if (!t)
        return NULL;
    *t = (struct timed_touch){.memory = memory,
                              .clear = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC),
                              .pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
    if (t->clear >= 0 && t->pagemap >= 0 && timed_touch_clear(t))
        return t;
    timed_touch_close(t);
    return NULL;
}

void timed_touch_close(struct timed_touch *t)
{
    if (t && t->clear >= 0)
        close(t->clear);
    if (t && t->pagemap >= 0)
        close(t->pagemap);
    free(t);
}

/* Whether pages are there that are not the process's own; they are made so if `own` says it. */
static bool has_zeros(const struct timed_touch *t, uint64_t start, uint64_t end, bool own)
{
    uint64_t entry[SOME_PAGES];
    bool any = false;
    while (start < end && (own || !any)) {
        uint64_t pages = (end - start) / PAGE < SOME_PAGES ? (end - start) / PAGE : SOME_PAGES;
        ssize_t got =
            pread(t->pagemap, entry, pages * sizeof(*entry), (off_t)(start / PAGE * sizeof(*entry)));
        for (uint64_t i = 0; got > 0 && i < (uint64_t)got / sizeof(*entry); i++) {
            if (!(entry[i] & PAGEMAP_PRESENT) || entry[i] & PAGEMAP_EXCLUSIVE)
                continue;
            any = true;
            if (own)
                madvise((void *)(uintptr_t)(start + i * PAGE), PAGE, MADV_POPULATE_WRITE);
        }
        start += pages * PAGE;
    }
    return any;
}

static bool is_runtimes(const struct memory *memory, uint64_t start, uint64_t end)
{
    const struct heap_region *r = &memory->heap.runtime;
    return start >= r->first && end <= r->end;
}

static bool any_zeros(const struct timed_touch *t, bool own)
{
    bool any = false;
    pthread_mutex_lock(&t->memory->lock);
    for (const struct memory_block *b = memory_above(t->memory, 0); b && (own || !any);
         b = memory_above(t->memory, b->base))
        any |= b->kind != EHP_MEM_INTERNAL &&
               has_zeros(t, b->base & ~(uint64_t)(PAGE - 1),
                         (b->base + b->bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1), own);
    pthread_mutex_unlock(&t->memory->lock);
    return any;
}

/* An access is noted when the page table is walked: the kernel empties the TLBs for a mapping of many pages.
 */
static void flush_tlbs(void)
{
    void *map = mmap(NULL, FLUSH_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NORESERVE, -1, 0);
    if (map != MAP_FAILED)
        munmap(map, FLUSH_BYTES);
}

/* From now on; of all pages of the process. */
bool timed_touch_clear(struct timed_touch *t)
{
    any_zeros(t, true);
    if (pwrite(t->clear, "1", 1, 0) != 1)
        return false;
    flush_tlbs();
    return true;
}

/* Whether the GPU sees any of these addresses without page faults. */
static bool seen_by_device(struct memory *memory, uint64_t start, uint64_t end)
{
    if (start < memory->arena + memory->arena_bytes && end > memory->arena)
        return !is_runtimes(memory, start, end);
    pthread_mutex_lock(&memory->lock);
    const struct memory_block *b = memory_below(memory, end - 1);
    bool seen = b && memory_is_registered(b) && b->base + b->bytes > start;
    pthread_mutex_unlock(&memory->lock);
    return seen;
}

bool timed_touched(struct timed_touch *t)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    if (!file)
        return true;
    char line[1024];
    unsigned long long start = 0, end = 0, first, last, kib;
    bool touched = any_zeros(t, false);
    while (!touched && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%llx-%llx ", &first, &last) == 2) {
            start = first;
            end = last;
        } else if (sscanf(line, "Referenced: %llu", &kib) == 1 && kib) {
            touched = seen_by_device(t->memory, start, end);
        }
    }
    fclose(file);
    return touched;
}
