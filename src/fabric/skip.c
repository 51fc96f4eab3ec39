/* SPDX-License-Identifier: MIT */
/* What an engine leaves out of a long copy, as the slices find it afterwards; see fabric_skip(). */
#include "fabric/internal.h"

#include <stdlib.h>

#include "base/must.h"

enum { SKIP_AHEAD = 6 }; /* pairs whose tags are asked for: without, the host waits for each */

struct skipped {
    struct iod *iod;
    struct fabric_skip_told told;
    uint64_t moved; /* lines, from memory and to it */
    unsigned count;
    struct {
        uint32_t place;
        uint16_t slice; /* of the IOD */
        bool write;
    } pair[];
};

/* Lines that it moves from memory and to it. */
static unsigned skip_line(struct iod *iod, unsigned slice, uint32_t line, bool write)
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
            return 0;
    }
    const enum cache_put put = cache_put(cache, line, BOTH_HALVES, write, &victim);
    if (put == CACHE_HAD)
        return 0;
    iod->counters.filled++;
    return (write ? 0U : 1U) + (put == CACHE_PUSHED ? 1U : 0U);
}

static void skipped(struct port_domain *domain, struct port_event *event)
{
    struct skipped *s = (struct skipped *)(uintptr_t)event->word[0];
    const struct fabric_skip_told *told = &s->told;
    for (unsigned i = 0; i < s->count; i++) {
        const unsigned later = i + SKIP_AHEAD < s->count ? i + SKIP_AHEAD : i;
        cache_prefetch(&s->iod->slice[s->pair[later].slice].cache, s->pair[later].place, 2);
        for (uint32_t k = 0; k < 2; k++)
            s->moved += skip_line(s->iod, s->pair[i].slice, s->pair[i].place + k, s->pair[i].write);
    }
    if (told->fn) {
        struct port_event *e =
            port_send(domain, told->domain, (uint64_t)s->iod->fabric->near_ps, told->fn, told->self);
        e->word[0] = s->moved;
        e->word[1] = told->word;
    }
    free(s);
}

static struct skipped *skip_of(struct iod *iod, unsigned count)
{
    struct skipped *s = must(malloc(sizeof(*s) + count * sizeof(s->pair[0])));
    s->iod = iod;
    s->count = 0;
    s->moved = 0;
    s->told = (struct fabric_skip_told){.fn = NULL};
    return s;
}

static void send(const struct fabric *f, struct port_domain *from, uint64_t after_ps, struct skipped *s)
{
    port_send(from, s->iod->domain, (uint64_t)f->near_ps + after_ps, skipped, NULL)->word[0] =
        (uint64_t)(uintptr_t)s;
}

void fabric_skip(struct fabric *f, struct port_domain *from, uint64_t after_ps,
                 const struct fabric_skip *pairs, unsigned count, const struct fabric_skip_told *told)
{
    struct skipped *of[NODE_MAX_PACKAGES][CHIP_MAX_IODS] = {{NULL}};
    for (unsigned i = 0; i < f->iods && told; i++) {
        of[f->package][i] = skip_of(&f->iod[i], count);
        of[f->package][i]->told = *told;
    }
    for (unsigned i = 0; i < count; i++) {
        const unsigned package = (unsigned)(pairs[i].physical >> f->package_shift);
        if (package > f->links) /* a host's: no Infinity Cache has it */
            continue;
        struct fabric *home = package == f->package ? f : fabric_link(f, package)->far->fabric;
        unsigned slice;
        uint32_t place;
        map_find(&home->map, pairs[i].physical & fabric_local(f), &slice, &place);
        const unsigned iod = home->map.iod_of[slice >> home->map.channel_bits];
        struct skipped *s = of[package][iod];
        if (!s)
            s = of[package][iod] = skip_of(&home->iod[iod], count);
        s->pair[s->count].slice = (uint16_t)(slice - home->map.first_slice[iod]);
        s->pair[s->count].place = place;
        s->pair[s->count++].write = pairs[i].write;
    }
    for (unsigned package = 0; package <= f->links; package++)
        for (unsigned i = 0; i < f->iods; i++)
            if (of[package][i])
                send(f, from, after_ps, of[package][i]);
}
