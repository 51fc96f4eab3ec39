/* SPDX-License-Identifier: MIT */
/*
 * What the kernel under the simulator knows of the process's pages.
 *
 * Source: Linux, Documentation/admin-guide/mm/pagemap.rst, proc(5).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vm/internal.h"

enum { MAP_LINE = 1024, PAGEMAP_SOME = 64 };
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)

bool host_open(struct host_pages *h)
{
    memset(h, 0, sizeof(*h));
    h->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    h->first = UINT64_MAX;
    return true;
}

void host_close(struct host_pages *h)
{
    if (h->pagemap >= 0)
        close(h->pagemap);
    free(h->mappings);
}

static bool add(struct host_pages *h, const struct mapping *m)
{
    if (h->count == h->capacity) {
        size_t capacity = h->capacity ? h->capacity * 2 : 256;
        struct mapping *mappings = realloc(h->mappings, capacity * sizeof(*mappings));
        if (!mappings)
            return false;
        h->mappings = mappings;
        h->capacity = capacity;
    }
    h->mappings[h->count++] = *m;
    return true;
}

bool host_look(struct host_pages *h)
{
    FILE *file = fopen("/proc/self/maps", "re");
    h->first = UINT64_MAX;
    if (!file)
        return false;
    h->count = 0;
    char line[MAP_LINE], flags[8];
    bool ok = true;
    while (ok && fgets(line, sizeof(line), file)) {
        unsigned long long start, end;
        if (sscanf(line, "%llx-%llx %7s", &start, &end, flags) == 3)
            ok = add(
                h, &(struct mapping){
                       .start = start, .end = end, .readable = flags[0] == 'r', .writable = flags[1] == 'w'});
    }
    fclose(file);
    return ok;
}

const struct mapping *host_find(const struct host_pages *h, uint64_t address)
{
    size_t low = 0, high = h->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (h->mappings[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h->count && h->mappings[low].start <= address ? &h->mappings[low] : NULL;
}

bool host_present(struct host_pages *h, uint64_t address)
{
    uint64_t page = address >> VM_PAGE_SHIFT;
    if (page - h->first >= h->some) {
        ssize_t n = h->pagemap < 0
                        ? -1
                        : pread(h->pagemap, h->entry, sizeof(h->entry), (off_t)(page * sizeof(uint64_t)));
        h->first = page;
        h->some = n > 0 ? (uint64_t)n / sizeof(uint64_t) : 0;
        if (!h->some)
            return true; /* as if the host had touched it */
    }
    return h->entry[page - h->first] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED);
}

/* Reading is enough: what the process reads before it writes is the kernel's page of zeros. */
void host_populate(struct host_pages *h, uint64_t address)
{
    uint64_t page = address >> VM_PAGE_SHIFT;
    if (madvise((void *)(uintptr_t)address, (size_t)VM_PAGE, MADV_POPULATE_READ) == 0 &&
        page - h->first < h->some)
        h->entry[page - h->first] |= PAGEMAP_PRESENT;
}
