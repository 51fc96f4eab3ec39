/* SPDX-License-Identifier: MIT */
/*
 * Memory that is taken piece by piece and given back all at once.  It lies in pages of
 * 2 MB where the host has them: what a simulation of a whole chip touches in a turn is
 * spread over tens of megabytes, of which the host's TLB does not hold small pages.
 *
 * An arena has its addresses from its first piece on (arena_take() of nothing is enough), so that where the
 * program's memory lies does not depend on how arenas grow later.
 */
#ifndef EHP_BASE_ARENA_H
#define EHP_BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_zone *zones; /* the newest first */
    char *at;
    size_t left; /* bytes that can be used without asking the host */
};

/* Zeroed, and aligned to the host's cache lines.  Aborts when the host has no memory. */
void *arena_take(struct arena *arena, size_t bytes);
void arena_free(struct arena *arena);

#endif
