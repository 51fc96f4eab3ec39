/* SPDX-License-Identifier: MIT */
/* What an engine leaves out of a long copy, as the slices find it afterwards; see fabric_skip(). */
#include "fabric/internal.h"

#include <stdlib.h>

#include "base/must.h"

enum { SKIP_AHEAD = 6 }; /* pairs whose tags are asked for: without, the host waits for each */

struct skipped {
    struct iod *iod;
    unsigned count;
    struct {
        uint32_t place;
        uint16_t slice; /* of the IOD */
        bool write;
    } pair[];
};

static void skip_line(struct iod *iod, unsigned slice, uint32_t line, bool write)
{
    struct cache *cache = &iod->slice[slice].cache;
    uint32_t victim; /* has the time that it takes, with all the others */
    if (write) {
        iod->counters.writes++;
    } else {
        bool hit = cache_look(cache, line);
        iod->counters.reads++;
        iod->counters.cache_hits += hit;
        iod->counters.cache_misses += !hit;
        if (hit)
            return;
    }
    if (!cache_add(cache, line, BOTH_HALVES, write)) {
        iod->counters.filled++;
        cache_insert(cache, line, BOTH_HALVES, write, &victim);
    }
}

static void skipped(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct skipped *s = (struct skipped *)(uintptr_t)event->word[0];
    for (unsigned i = 0; i < s->count; i++) {
        const unsigned later = i + SKIP_AHEAD < s->count ? i + SKIP_AHEAD : i;
        cache_prefetch(&s->iod->slice[s->pair[later].slice].cache, s->pair[later].place, 2);
        for (uint32_t k = 0; k < 2; k++)
            skip_line(s->iod, s->pair[i].slice, s->pair[i].place + k, s->pair[i].write);
    }
    free(s);
}

void fabric_skip(struct fabric *f, struct port_domain *from, const struct fabric_skip *pairs, unsigned count)
{
    struct skipped *of[CHIP_MAX_IODS];
    for (unsigned i = 0; i < f->iods; i++) {
        of[i] = must(malloc(sizeof(*of[i]) + count * sizeof(of[i]->pair[0])));
        of[i]->iod = &f->iod[i];
        of[i]->count = 0;
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned slice;
        uint32_t place;
        map_find(&f->map, pairs[i].physical, &slice, &place);
        struct skipped *s = of[f->map.iod_of[slice >> f->map.channel_bits]];
        s->pair[s->count].slice = (uint16_t)(slice - s->iod->index * f->map.slices_per_iod);
        s->pair[s->count].place = place;
        s->pair[s->count++].write = pairs[i].write;
    }
    for (unsigned i = 0; i < f->iods; i++)
        port_send(from, f->iod[i].domain, (uint64_t)f->way_ps[0], skipped, NULL)->word[0] =
            (uint64_t)(uintptr_t)of[i];
}
