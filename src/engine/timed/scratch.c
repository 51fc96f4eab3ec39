/* SPDX-License-Identifier: MIT */
/*
 * Scratch in timing mode: memory of the GPU, in place before the dispatch
 * begins, with room for as many workgroups as an XCD can hold at once.  Blocks
 * are kept for later dispatches, as the runtime keeps a queue's scratch.
 */
#include <stdlib.h>

#include "cp/cp.h"
#include "engine/timed/timed.h"
#include "ehp/ehp.h"
#include "exec/workgroup.h"

struct timed_scratch {
    struct timed_scratch *next;
    char *base;
    uint64_t bytes;
    bool busy;
    unsigned slots; /* workgroups of an XCD */
};

static uint64_t group_bytes(const struct cp_dispatch *d)
{
    return (uint64_t)d->launch.scratch_bytes * WAVE_LANES * d->launch.waves;
}

static struct timed_scratch *block_make(struct timed *timed, const struct cp_dispatch *d, uint64_t bytes)
{
    int status;
    struct timed_scratch *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base = memory_alloc(timed->engine.cp->memory, d->queue->agent, EHP_MEM_INTERNAL, bytes, 0, &status);
    if (!s->base) {
        free(s);
        return NULL;
    }
    s->bytes = bytes;
    s->next = timed->scratch;
    timed->scratch = s;
    return s;
}

/* Blocks that no dispatch uses give way to one that is larger. */
static void free_idle(struct timed *timed)
{
    for (struct timed_scratch **at = &timed->scratch; *at;) {
        struct timed_scratch *s = *at;
        if (s->busy) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        memory_free(timed->engine.cp->memory, s->base);
        free(s);
    }
}

bool timed_scratch_open(struct timed *timed, struct cp_dispatch *d)
{
    if (!d->launch.scratch_bytes)
        return true;
    const struct cp *cp = timed->engine.cp;
    unsigned waves = cp->cu_simds * cp->simd_waves, groups = waves / d->launch.waves;
    uint64_t slots = (uint64_t)cp->xcd_cus * (groups ? groups : 1), each = d->xccs * group_bytes(d);
    slots = slots < d->total ? slots : d->total;
    struct timed_scratch *s = timed->scratch;
    while (s && (s->busy || s->bytes < slots * each))
        s = s->next;
    if (!s)
        s = block_make(timed, d, slots * each);
    if (!s)
        free_idle(timed);
    /* With less, fewer workgroups are on the chip at once: ROCr does the same. */
    while (!s && !(s = block_make(timed, d, slots * each)) && slots > 1)
        slots /= 2;
    if (!s)
        return false;
    s->busy = true;
    s->slots = (unsigned)slots;
    d->scratch = s;
    return true;
}

void timed_scratch_close(struct cp_dispatch *d)
{
    if (d->scratch)
        d->scratch->busy = false;
    d->scratch = NULL;
}

void timed_scratch_free(struct timed *timed)
{
    for (struct timed_scratch *s = timed->scratch, *next; s; s = next) {
        next = s->next;
        free(s); /* the memory goes with the machine's */
    }
}

void timed_scratch_share(struct timed_share *share)
{
    if (!share->d->scratch)
        return;
    share->free_scratch = malloc(share->d->scratch->slots * sizeof(*share->free_scratch));
    if (!share->free_scratch)
        abort();
    for (unsigned i = share->d->scratch->slots; i-- > 0;)
        share->free_scratch[share->free_count++] = i;
}

bool timed_scratch_has_room(const struct timed_share *share)
{
    return !share->d->scratch || share->free_count;
}

void timed_scratch_take(struct timed_share *share, struct workgroup *wg)
{
    const struct cp_dispatch *d = share->d;
    if (!d->scratch)
        return;
    wg->scratch_slot = share->free_scratch[--share->free_count];
    uint64_t slot = (uint64_t)(share->xcd->index - d->first_xcc) * d->scratch->slots + wg->scratch_slot;
    char *base = d->scratch->base + slot * group_bytes(d);
    for (unsigned i = 0; i < wg->waves; i++)
        wg->wave[i].scratch = (uint8_t *)base + (size_t)i * d->launch.scratch_bytes * WAVE_LANES;
}

void timed_scratch_give(struct timed_share *share, const struct workgroup *wg)
{
    if (share->free_scratch)
        share->free_scratch[share->free_count++] = wg->scratch_slot;
}
