/* SPDX-License-Identifier: MIT */
/* Markers: one-shot completion signals, counted and recycled. */
#include "hip/core/state.h"
#include "hip/stream/stream.h"

#include <stdlib.h>

static struct marker_pool *marker_pool(void)
{
    return &hip_state()->markers;
}

static void marker_sweep(struct marker_pool *pool)
{
    struct hip_marker **link = &pool->limbo;

    while (*link) {
        struct hip_marker *marker = *link;
        if (hip_marker_done(marker)) {
            *link = marker->next;
            marker->next = pool->free;
            pool->free = marker;
        } else {
            link = &marker->next;
        }
    }
}

struct hip_marker *hip_marker_new(void)
{
    struct marker_pool *pool = marker_pool();

    pthread_mutex_lock(&pool->lock);
    if (!pool->free)
        marker_sweep(pool);
    struct hip_marker *marker = pool->free;
    if (marker)
        pool->free = marker->next;
    pthread_mutex_unlock(&pool->lock);
    if (!marker) {
        marker = calloc(1, sizeof *marker);
        if (!marker)
            return NULL;
        if (ehp_signal_create(hip_runtime()->machine, 1, &marker->signal) != EHP_OK) {
            free(marker);
            return NULL;
        }
    } else {
        ehp_signal_store(marker->signal, 1);
    }
    atomic_store(&marker->refs, 1);
    return marker;
}

struct hip_marker *hip_marker_ref(struct hip_marker *marker)
{
    if (marker)
        atomic_fetch_add(&marker->refs, 1);
    return marker;
}

void hip_marker_unref(struct hip_marker *marker)
{
    if (!marker || atomic_fetch_sub(&marker->refs, 1) != 1)
        return;
    struct marker_pool *pool = marker_pool();
    bool done = hip_marker_done(marker);
    struct hip_marker **list = done ? &pool->free : &pool->limbo;

    pthread_mutex_lock(&pool->lock);
    marker->next = *list;
    *list = marker;
    pthread_mutex_unlock(&pool->lock);
}
