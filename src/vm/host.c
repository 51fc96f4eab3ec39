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
#include <sys/prctl.h>
#include <unistd.h>

#include "vm/internal.h"

enum { MAP_LINE = 1024 };
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)

bool host_open(struct host_pages *h)
{
    memset(h, 0, sizeof(*h));
    h->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    h->looks = 1;
    h->window = calloc(HOST_WINDOWS, sizeof(*h->window));
    h->pending = calloc(HOST_PENDING, sizeof(*h->pending));
    return h->window && h->pending;
}

void host_close(struct host_pages *h)
{
    if (h->pagemap >= 0)
        close(h->pagemap);
    if (h->pending)
        host_settle(h);
    free(h->mappings);
    free(h->window);
    free(h->pending);
}

/*
 * The simulator's own memory asks for large pages and keeps them (base/arena.h).  Linux before 6.18 knows
 * only all or none, and none are needed off unless all memory gets them.
 */
void host_small_pages(void)
{
    enum { EXCEPT_ADVISED = 1 << 1 }; /* PR_THP_DISABLE_EXCEPT_ADVISED */
    char modes[64] = "";
    if (prctl(PR_SET_THP_DISABLE, 1, EXCEPT_ADVISED, 0, 0) == 0)
        return;
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    bool known = file && fgets(modes, sizeof(modes), file);
    if (file)
        fclose(file);
    if (!known || strstr(modes, "[always]"))
        prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
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
    host_settle(h);
    h->looks++;
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

static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Neighbours together: a call costs more than a page.  Reading is enough: what the process reads before it
 * writes is the kernel's page of zeros. */
void host_settle(struct host_pages *h)
{
    size_t n = h->pending_count;
    qsort(h->pending, n, sizeof(*h->pending), by_address);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && h->pending[next] <= h->pending[next - 1] + 1;)
            next++;
        madvise((void *)(uintptr_t)(h->pending[i] << VM_PAGE_SHIFT),
                (size_t)((h->pending[next - 1] - h->pending[i] + 1) << VM_PAGE_SHIFT), MADV_POPULATE_READ);
    }
    h->pending_count = 0;
}

/* The window of a page; its entries hold until the next look. */
static struct host_window *window_of(struct host_pages *h, uint64_t page)
{
    uint64_t number = page / HOST_WINDOW;
    struct host_window *w = &h->window[number % HOST_WINDOWS];
    if (w->looks == h->looks && w->number == number)
        return w;
    if (w->looks == h->looks) /* what it says of pages to come is lost */
        host_settle(h);
    ssize_t n =
        pread(h->pagemap, w->entry, sizeof(w->entry), (off_t)(number * HOST_WINDOW * sizeof(uint64_t)));
    for (size_t i = n > 0 ? (size_t)n / sizeof(uint64_t) : 0; i < HOST_WINDOW; i++)
        w->entry[i] = PAGEMAP_PRESENT; /* as if the host had touched it */
    w->looks = h->looks;
    w->number = number;
    return w;
}

bool host_present(struct host_pages *h, uint64_t address)
{
    uint64_t page = address >> VM_PAGE_SHIFT;
    return window_of(h, page)->entry[page % HOST_WINDOW] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED);
}

void host_populate(struct host_pages *h, uint64_t address)
{
    uint64_t page = address >> VM_PAGE_SHIFT;
    window_of(h, page)->entry[page % HOST_WINDOW] |= PAGEMAP_PRESENT;
    if (h->pending_count == HOST_PENDING)
        host_settle(h);
    h->pending[h->pending_count++] = page;
}
