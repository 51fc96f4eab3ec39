/* SPDX-License-Identifier: MIT */
/*
 * Scratch in timing mode: memory of the GPU, in place before the dispatch
 * begins, with room for as many workgroups as an XCD can hold at once.  Blocks
 * are kept for later dispatches, as the runtime keeps a queue's scratch.
 */
#include <stdio.h>
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

void sim_scratch_open(struct sim *sim, struct cp_dispatch *d)
{
    if (!d->launch.scratch_bytes)
        return;
    const struct cp *cp = &sim->machine->cp;
    unsigned waves = cp->cu_simds * cp->simd_waves, groups = waves / d->launch.waves;
    uint64_t slots = (uint64_t)cp->xcd_cus * (groups ? groups : 1);
    slots = slots < d->total ? slots : d->total;
    uint64_t bytes = slots * d->xccs * group_bytes(d);
    struct sim_scratch *s = sim->scratch;
    while (s && (s->busy || s->bytes < bytes))
        s = s->next;
    if (!s) {
        int status;
        s = calloc(1, sizeof(*s));
        char *base =
            memory_alloc(&sim->machine->memory, d->queue->agent, EHP_MEM_INTERNAL, bytes, 0, &status);
        if (!s || !base) {
            fprintf(stderr, "ehp: no memory for the %llu bytes of scratch of %s\n", (unsigned long long)bytes,
                    d->kernel);
            abort();
        }
        s->base = base;
        s->bytes = bytes;
        s->next = sim->scratch;
        sim->scratch = s;
    }
    s->busy = true;
    s->slots = (unsigned)slots;
    d->scratch = s;
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

void sim_scratch_take(struct sim_share *share, struct workgroup *wg)
{
    const struct cp_dispatch *d = share->d;
    if (!d->scratch)
        return;
    if (share->free_count == 0) {
        fprintf(stderr, "ehp: more workgroups of %s than an XCD holds\n", d->kernel);
        abort();
    }
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
