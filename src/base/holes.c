/* SPDX-License-Identifier: MIT */
/* See holes.h. */
#include "base/holes.h"

#include <stdint.h>
#include <sys/mman.h>

/* No gap is as large as STEP; all of the simulator's mappings mostly lie above one multiple of it. */
static const size_t STEP = (size_t)1 << 40, PAGE = 4096;

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
    char *low = map(STEP); /* below all gaps */
    if (!low)
        return;
    /* Its end stays, down to a multiple. */
    size_t keep = (size_t)((uintptr_t)(low + STEP) % STEP);
    munmap(low, STEP - keep);
    char *end = low + STEP - keep;
    if (keep)
        note(h, end, keep);
    for (size_t bytes = STEP / 2; bytes >= PAGE; bytes /= 2) {
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
