/* SPDX-License-Identifier: MIT */
/*
 * Scratch in timing mode: memory of the GPU, in place before the dispatch
 * begins, with room for as many workgroups as an XCD can hold at once.  Blocks
 * are kept for later dispatches, as the runtime keeps a queue's scratch.
 */
#include <stdlib.h>

#include "cp/cp.h"
#include "cp/sim.h"
#include "ehp/ehp.h"
#include "exec/workgroup.h"
#include "soc/machine.h"

struct sim_scratch {
    struct sim_scratch *next;
    char *base;
    uint64_t bytes;
    bool busy;
    unsigned slots; /* workgroups of an XCD */
};

static uint64_t group_bytes(const struct cp_dispatch *d)
{
    return (uint64_t)d->launch.scratch_bytes * WAVE_LANES * d->launch.waves;
}

static struct sim_scratch *block_make(struct sim *sim, const struct cp_dispatch *d, uint64_t bytes)
{
    int status;
    struct sim_scratch *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->base = memory_alloc(&sim->machine->memory, d->queue->agent, EHP_MEM_INTERNAL, bytes, 0, &status);
    if (!s->base) {
        free(s);
        return NULL;
    }
    s->bytes = bytes;
    s->next = sim->scratch;
    sim->scratch = s;
    return s;
}

/* Blocks that no dispatch uses give way to one that is larger. */
static void free_idle(struct sim *sim)
{
    for (struct sim_scratch **at = &sim->scratch; *at;) {
        struct sim_scratch *s = *at;
        if (s->busy) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        memory_free(&sim->machine->memory, s->base);
        free(s);
    }
}

bool sim_scratch_open(struct sim *sim, struct cp_dispatch *d)
{
    if (!d->launch.scratch_bytes)
        return true;
    const struct cp *cp = &sim->machine->cp;
    unsigned waves = cp->cu_simds * cp->simd_waves, groups = waves / d->launch.waves;
    uint64_t slots = (uint64_t)cp->xcd_cus * (groups ? groups : 1), each = d->xccs * group_bytes(d);
    slots = slots < d->total ? slots : d->total;
    struct sim_scratch *s = sim->scratch;
    while (s && (s->busy || s->bytes < slots * each))
        s = s->next;
    if (!s)
        s = block_make(sim, d, slots * each);
    if (!s)
        free_idle(sim);
    /* With less, fewer workgroups are on the chip at once: ROCr does the same. */
    while (!s && !(s = block_make(sim, d, slots * each)) && slots > 1)
        slots /= 2;
    if (!s)
        return false;
    s->busy = true;
    s->slots = (unsigned)slots;
    d->scratch = s;
    return true;
}

void sim_scratch_close(struct cp_dispatch *d)
{
    if (d->scratch)
        d->scratch->busy = false;
    d->scratch = NULL;
}

void sim_scratch_free(struct sim *sim)
{
    for (struct sim_scratch *s = sim->scratch, *next; s; s = next) {
        next = s->next;
        free(s); /* the memory goes with the machine's */
    }
}

void sim_scratch_share(struct sim_share *share)
{
    if (!share->d->scratch)
        return;
    share->free_scratch = malloc(share->d->scratch->slots * sizeof(*share->free_scratch));
    if (!share->free_scratch)
        abort();
    for (unsigned i = share->d->scratch->slots; i-- > 0;)
        share->free_scratch[share->free_count++] = i;
}

bool sim_scratch_has_room(const struct sim_share *share)
{
    return !share->d->scratch || share->free_count;
}

void sim_scratch_take(struct sim_share *share, struct workgroup *wg)
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

void sim_scratch_give(struct sim_share *share, const struct workgroup *wg)
{
    if (share->free_scratch)
        share->free_scratch[share->free_count++] = wg->scratch_slot;
}
