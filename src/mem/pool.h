/* SPDX-License-Identifier: MIT */
/* Memory for what comes and goes all the time. */
#ifndef EHP_MEM_POOL_H
#define EHP_MEM_POOL_H

#include <stddef.h>

#include "base/arena.h"
#include "port/port.h"

/*
 * What is free of a kind: what was last given back is taken next, and asked of the host's memory some takes
 * before.
 */
enum { POOL_AHEAD = 4, POOL_FIRST = 256 };
struct pool {
    void **spare; /* and POOL_AHEAD before them, of nothing */
    unsigned count, all;
};
void pool_more(struct pool *pool, struct arena *arena, size_t bytes);
static inline void *pool_take(struct pool *pool, struct arena *arena, size_t bytes, unsigned used_first)
{
    if (!pool->count)
        pool_more(pool, arena, bytes);
    void *taken = pool->spare[--pool->count];
    port_prefetch(pool->spare[(int)pool->count - POOL_AHEAD], used_first);
    return taken;
}
static inline void pool_give(struct pool *pool, void *what)
{
    pool->spare[pool->count++] = what;
}

#endif
