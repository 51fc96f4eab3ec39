/* SPDX-License-Identifier: MIT */
/* The compute units of an XCD: opening, workgroups, the ends of waves. */
#include "cu/cu.h"

#include <stdlib.h>
#include <string.h>

#include "wave/gws.h"
#include "base/power.h"
#include "chip/chip.h"
#include "isa/isa.h"

void cu_close(struct cu_xcd *xcd)
{
    if (!xcd)
        return;
    arena_free(&xcd->arena);
    free(xcd);
}

bool cu_check(const struct chip *chip, char *error, size_t bytes)
{
    const unsigned banks = chip_get(chip, CHIP_cu_lds_banks);
    if (!power_of_two(banks)) {
        chip_mistake(chip, CHIP_cu_lds_banks, error, bytes, "must be a power of two");
        return false;
    }
    if (chip_get(chip, CHIP_cu_simds) * chip_get(chip, CHIP_cu_waves_per_simd) > CHIP_MAX_CU_WAVES) {
        chip_clash(chip, &CHIP_CLASH(CHIP_cu_waves_per_simd, CHIP_cu_simds), error, bytes,
                   "must leave a CU no more than 64 waves in simulated time");
        return false;
    }
    return true;
}

struct cu_xcd *cu_open(const struct chip *chip, const struct isa_target *target, unsigned xcd_index,
                       const struct cu_rate *rates, struct port_domain *domain, struct xcd_mem *mem,
                       const struct cu_events *events)
{
    struct cu_xcd *xcd = calloc(1, sizeof(*xcd));
    if (!xcd)
        return NULL;
    xcd->domain = domain;
    xcd->mem = mem;
    xcd->rates = rates;
    xcd->target = target;
    xcd->events = *events;
    xcd->index = xcd_index;
    xcd->cus = chip_get(chip, CHIP_xcd_cus);
    xcd->simds = chip_get(chip, CHIP_cu_simds);
    xcd->engines = chip_get(chip, CHIP_xcd_shader_engines);
    xcd->timing = (struct cu_timing){.branch = chip_get(chip, CHIP_cu_branch),
                                     .barrier = chip_get(chip, CHIP_cu_barrier),
                                     .fetch = chip_get(chip, CHIP_icache_latency),
                                     .lds_latency = chip_get(chip, CHIP_cu_lds_latency),
                                     .memtime = chip_get(chip, CHIP_cu_memtime),
                                     .message = chip_get(chip, CHIP_cu_message),
                                     .start = chip_get(chip, CHIP_cu_wave_start),
                                     .lds_banks = chip_get(chip, CHIP_cu_lds_banks),
                                     .vm_limit = isa_number_most(target->waitcnt.vm),
                                     .lgkm_limit = isa_number_most(target->waitcnt.lgkm)};
    unsigned slots = chip_get(chip, CHIP_cu_waves_per_simd);
    xcd->cu = arena_take(&xcd->arena, xcd->cus * sizeof(*xcd->cu));
    for (unsigned i = 0; i < xcd->cus; i++) {
        struct cu *cu = &xcd->cu[i];
        cu->xcd = xcd;
        cu->index = i;
        cu->engine = chip_cu_place(chip, i).engine;
        cu->simd = arena_take(&xcd->arena, xcd->simds * sizeof(*cu->simd));
        for (unsigned s = 0; s < xcd->simds; s++) {
            struct cu_simd *simd = &cu->simd[s];
            simd->cu = cu;
            simd->xcd = xcd;
            simd->index = (uint8_t)s;
            simd->slots = (uint8_t)slots;
            simd->posted = PORT_NEVER;
            for (unsigned k = 0; k < slots; k++) {
                simd->ready[k] = PORT_NEVER;
                simd->wave[k] = (struct cu_wave){.simd = simd, .slot = (uint8_t)k};
            }
        }
    }
    cu_prefetch(xcd);
    cu_prefetch_fetches(xcd);
    xcd_mem_tell(mem, cu_vector_room, xcd);
    return xcd;
}

static void count_wave(struct cu_counters *c, const struct wave *w)
{
    unsigned items = (unsigned)__builtin_popcountll(w->exec);
    c->waves++;
    c->items += items;
    c->waves_lt_64 += items < 64;
    c->waves_lt_48 += items < 48;
    c->waves_lt_32 += items < 32;
    c->waves_lt_16 += items < 16;
}

void cu_start(struct cu_xcd *xcd, struct workgroup *wg)
{
    uint64_t now = port_now(xcd->domain);
    struct cu *cu = &xcd->cu[wg->cu];
    xcd->counters.workgroups++;
    for (unsigned i = 0; i < wg->waves; i++) {
        struct cu_simd *simd = &cu->simd[wg->simd[i]];
        const unsigned slot = (unsigned)__builtin_ctz(~simd->taken);
        assert(slot < simd->slots && "an ACE places waves where there is room");
        struct cu_wave *cw = &simd->wave[slot];
        *cw = (struct cu_wave){.w = &wg->wave[i],
                               .in = wg->wave[i].next,
                               .simd = simd,
                               .slot = (uint8_t)slot,
                               .started = now,
                               .charged = now,
                               .stall = STALL_START,
                               .half = UINT64_MAX,
                               .next_line = UINT64_MAX};
        cw->flights_end = &cw->flights;
        wg->wave[i].slot = cw;
        wg->wave[i].stats = &xcd->counters.did;
        if (cu->waves++ == 0)
            cu->busy_since = now;
        if (xcd->engine[cu->engine].waves++ == 0)
            xcd->engine[cu->engine].busy_since = now;
        simd->taken |= 1U << slot;
        count_wave(&xcd->counters, &wg->wave[i]);
        cu_ready(cw, now + xcd->timing.start + i); /* a wave a cycle */
    }
}

void cu_wave_end(struct cu_wave *cw)
{
    struct cu *cu = cw->simd->cu;
    struct cu_xcd *xcd = cu->xcd;
    struct workgroup *wg = cw->w->wg;
    uint64_t now = port_now(xcd->domain);
    xcd->counters.wave_cycles += now - cw->started;
    cw->w->slot = NULL;
    cw->w = NULL;
    cw->ending = false;
    cw->simd->taken &= ~(1U << cw->slot);
    cu_not_ready(cw);
    if (--cu->waves == 0)
        xcd->counters.cu_cycles += now - cu->busy_since;
    if (--xcd->engine[cu->engine].waves == 0)
        xcd->counters.engine_cycles += now - xcd->engine[cu->engine].busy_since;
    if (--wg->live == 0)
        xcd->events.done(xcd->events.context, wg);
}

void cu_abort(struct cu_xcd *xcd, struct workgroup *wg)
{
    for (unsigned i = 0; i < wg->waves; i++) {
        struct cu_wave *cw = wg->wave[i].slot;
        if (!cw || cw->ending)
            continue;
        gws_drop(&wg->wave[i]);
        wg->wave[i].state = WAVE_DONE;
        cw->ending = true;
        cu_not_ready(cw);
        xcd_mem_wave_ends(xcd->mem, cw->simd->cu->index, cu_wave_number(cw));
        cu_returned(cw, STALL_ISSUE);
    }
}
