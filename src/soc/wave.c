/* SPDX-License-Identifier: MIT */
/* What waves ask of the package around them; wave/fault.h declares it. */
#include "cp/cp.h"
#include "wave/aperture.h"
#include "wave/fault.h"

static struct cp *cp_of(const struct wave *w)
{
    const struct cp_dispatch *d = w->wg->owner;
    return d->cp;
}

bool wave_may_access(struct wave *w, uint64_t address, unsigned bytes)
{
    struct wave_guard *g = w->guard;
    if (address >= APERTURE_HOST_LIMIT)
        return false;
    struct memory *memory = cp_of(w)->memory;
    if (memory->xnack || address - memory->arena < memory->arena_bytes)
        return true;
    uint64_t registrations = memory->registrations;
    if (registrations == g->registrations && address >= g->registered_first &&
        address + bytes <= g->registered_end)
        return true;
    g->registrations = registrations;
    return memory_registered(memory, address, bytes, &g->registered_first, &g->registered_end);
}

uint64_t wave_clock(const struct wave *w)
{
    const struct engine *engine = cp_of(w)->engine;
    return engine->ops->wave_cycles(engine, w->wg->xcc);
}

uint64_t wave_realtime(const struct wave *w)
{
    const struct engine *engine = cp_of(w)->engine;
    return engine->ops->wave_ns(engine, w->wg->xcc) * chip_get(engine->cp->chip, CHIP_chip_timestamp_clock) /
           1000;
}
