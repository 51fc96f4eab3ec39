/* SPDX-License-Identifier: MIT */
/* See holes.h. */
#include "base/holes.h"

#include <stdint.h>
#include <sys/mman.h>

static const size_t LARGE = (size_t)2 << 20, MOST = (size_t)1 << 30, PAGE = 4096;

static char *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void note(struct holes *h, char *at, size_t bytes)
{
    h->filled[h->count].at = at;
    h->filled[h->count++].bytes = bytes;
}

void holes_fill(struct holes *h)
{
    const unsigned room = sizeof(h->filled) / sizeof(h->filled[0]);
    char *low = map(MOST); /* larger than any gap: below all of them */
    if (!low)
        return;
    /* Its end stays, down to a multiple. */
    size_t keep = (size_t)((uintptr_t)(low + MOST) % LARGE + LARGE);
    munmap(low, MOST - keep);
    char *end = low + MOST - keep;
    note(h, end, keep);
    for (size_t bytes = MOST / 2; bytes >= PAGE; bytes /= 2) {
        char *at;
        while (h->count < room && (at = map(bytes))) {
            if (at < end) {
                munmap(at, bytes);
                break;
            }
            note(h, at, bytes);
        }
    }
}

void holes_free(struct holes *h)
{
    for (unsigned i = 0; i < h->count; i++)
        munmap(h->filled[i].at, h->filled[i].bytes);
    h->count = 0;
}
