/* SPDX-License-Identifier: MIT */
/* Splitting a pair, wherever its two lines do not fare alike; see struct mem_request. */
#include <string.h>

#include "mem/vl1.h"
#include "mem/xcd.h"

/* Of one request; `first` has what is of neither line alone. */
static void move_joined(struct mem_request *first, struct mem_request *second)
{
    struct mem_request *joined = first->joined;
    first->joined = NULL;
    for (struct mem_request *j = joined, *next; j; j = next) {
        next = j->next;
        struct mem_request *other = j->pair ? request_split(j) : NULL;
        struct mem_request *to = j->line == first->line ? first : second;
        j->next = to->joined;
        to->joined = j;
        if (other) {
            other->next = second->joined;
            second->joined = other;
        }
    }
}

struct mem_request *request_split(struct mem_request *r)
{
    struct mem_request *second = request_new(r->mem);
    memcpy(second, r, offsetof(struct mem_request, data));
    unsigned count = (unsigned)__builtin_popcountll(r->lanes) / 2;
    second->lanes = r->lanes & r->lanes << count;
    r->lanes &= ~second->lanes;
    r->lookups = second->lookups = r->lookups / 2;
    r->cycles = second->cycles = r->lookups;
    second->lookup += second->lookups;
    r->pair = second->pair = false;
    second->line = r->line + LINE;
    second->bytes = r->bytes + LINE;
    second->joined = NULL;
    request_place(second, r->physical + LINE);
    r->access->pending++;
    if (r->kind == REQUEST_STORE)
        vl1_count_store(r);
    if (r->cached)
        r->chain = second;
    move_joined(r, second);
    return second;
}
