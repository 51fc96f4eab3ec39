/* SPDX-License-Identifier: MIT */
/*
 * A slice's probe filter: what it knows of each line, and which lines have an entry.  With so many entries
 * (probe_filter.entries) a line that gets one where all of its set's are used takes the place of another's,
 * which home_probes.c then takes out of all caches.
 *
 * The host keeps what is known of a line by the line, whether entries are counted or not.
 */
#include <string.h>

#include "fabric/internal.h"

void filter_open(struct slice *s, const struct fabric *f, const struct chip *chip, struct arena *arena)
{
    s->filter = arena_take(arena, f->filter_chunks * sizeof(filter_entry *));
    s->tags.ways = chip_get(chip, CHIP_probe_filter_ways);
    s->tags.sets = chip_get(chip, CHIP_probe_filter_entries) / s->tags.ways;
    if (s->tags.sets)
        s->tags.tag = arena_take(arena, (size_t)s->tags.sets * s->tags.ways * sizeof(*s->tags.tag));
}

filter_entry *filter_begin(struct iod *iod, struct slice *s, uint32_t chunk)
{
    assert(chunk < iod->fabric->filter_chunks);
    filter_entry *entry = arena_take(&iod->arena, FILTER_CHUNK * sizeof(filter_entry));
    __atomic_store_n(&s->filter[chunk], entry, __ATOMIC_RELAXED); /* see filter_peek() */
    return entry;
}

static bool is_void(struct iod *iod, struct slice *s, const struct filter_tag *t)
{
    return !t->used || filter_is_empty(filter_of(iod, s, t->line));
}

/* The last used of a set come first. */
bool filter_enter(struct iod *iod, struct slice *s, const struct filter_tag *line, struct filter_tag *out)
{
    struct filter_tags *t = &s->tags;
    const uint32_t hash = line->line * UINT32_C(0x9e3779b1);
    struct filter_tag *set = &t->tag[((uint64_t)hash * t->sets >> 32) * t->ways];
    unsigned way = t->ways;
    bool displaces = false;
    for (unsigned i = 0; i < t->ways; i++) {
        if (set[i].used && set[i].line == line->line) {
            way = i;
            break;
        }
        if (way == t->ways && is_void(iod, s, &set[i]))
            way = i;
    }
    if (way == t->ways) {
        displaces = true;
        *out = set[--way];
    }
    memmove(&set[1], &set[0], way * sizeof(*set));
    set[0] = *line;
    set[0].used = true;
    return displaces;
}
