/* SPDX-License-Identifier: MIT */
/* Lines of a slice on which something is in progress, found by a hash. */
#include "fabric/home.h"

enum { CHUNK_LINES = 256 };

struct home_line *home_line_new(struct iod *iod, unsigned slice, uint32_t line)
{
    if (!iod->spare_lines) {
        struct home_line *lines = arena_take(&iod->arena, CHUNK_LINES * sizeof(*lines));
        for (unsigned i = 0; i < CHUNK_LINES; i++) {
            lines[i].next = iod->spare_lines;
            iod->spare_lines = &lines[i];
        }
    }
    struct home_line *h = iod->spare_lines;
    iod->spare_lines = h->next;
    port_prefetch_line(iod->spare_lines); /* for the next one */
    *h = (struct home_line){.line = line, .slice = (uint16_t)slice};
    h->end = &h->first;
    return h;
}

void home_line_free(struct iod *iod, struct home_line *h)
{
    h->next = iod->spare_lines;
    iod->spare_lines = h;
}

struct home_line *home_make_busy(struct iod *iod, unsigned slice, uint32_t line, unsigned halves)
{
    struct home_line *h = home_line_new(iod, slice, line), **bucket = bucket_of(&iod->slice[slice], line);
    h->halves = (uint8_t)halves;
    h->next = *bucket;
    *bucket = h;
    return h;
}

void home_make_free(struct iod *iod, struct home_line *h)
{
    struct slice *s = &iod->slice[h->slice];
    struct home_line **link = bucket_of(s, h->line), *other;
    while (*link != h)
        link = &(*link)->next;
    *link = h->next;
    other = find_other(s, h->line, BOTH, h);
    home_line_free(iod, h);
    if (other && other->blocked)
        home_go_on(iod, other);
}
