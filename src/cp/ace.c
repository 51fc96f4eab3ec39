/* SPDX-License-Identifier: MIT */
/*
 * The asynchronous compute engines of the XCDs: which XCD a workgroup belongs
 * to, and which of its compute units has room.
 *
 * Every XCD of a partition works out its own share from the packet alone:
 * workgroups go round the XCDs in chunks.  Inside of an XCD consecutive
 * workgroups go to different shader engines first.
 *
 * Source: ISCA'24, VI.A; resource limits: AMD Instinct MI300 ISA, 3.x and LLVM
 * AMDGPUUsage, compute_pgm_rsrc1 and 2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soc/machine.h"

int ace_init(struct ehp_machine *m)
{
    struct cp *cp = &m->cp;
    cp->xcds = chip_get(&m->chip, CHIP_xcd_count);
    cp->lds_granule = chip_get(&m->chip, CHIP_cu_lds_granule);
    cp->vgpr_granule = chip_get(&m->chip, CHIP_cu_vgpr_granule);
    cp->sgpr_granule = chip_get(&m->chip, CHIP_cu_sgpr_granule);
    cp->xcd_cus = chip_get(&m->chip, CHIP_xcd_cus);
    cp->xcd_engines = chip_get(&m->chip, CHIP_xcd_shader_engines);
    cp->cu_simds = chip_get(&m->chip, CHIP_cu_simds);
    cp->simd_waves = chip_get(&m->chip, CHIP_cu_waves_per_simd);
    cp->simd_vgprs = chip_get(&m->chip, CHIP_cu_vgprs);
    cp->simd_sgprs = chip_get(&m->chip, CHIP_cu_sgprs);
    cp->cu_lds = chip_get(&m->chip, CHIP_cu_lds);
    cp->cu_workgroups = chip_get(&m->chip, CHIP_cu_workgroups);
    cp->xcd = aligned_alloc(64, cp->xcds * sizeof(*cp->xcd));
    if (!cp->xcd)
        return EHP_ERR_NO_MEMORY;
    memset(cp->xcd, 0, cp->xcds * sizeof(*cp->xcd));
    for (unsigned i = 0; i < cp->xcds; i++) {
        pthread_mutex_init(&cp->xcd[i].lock, NULL);
        cp->xcd[i].cu = calloc(m->cp.xcd_cus, sizeof(struct cp_cu));
        if (!cp->xcd[i].cu)
            return EHP_ERR_NO_MEMORY;
    }
    return EHP_OK;
}

void ace_destroy(struct ehp_machine *m)
{
    for (unsigned i = 0; m->cp.xcd && i < m->cp.xcds; i++) {
        free(m->cp.xcd[i].cu);
        pthread_mutex_destroy(&m->cp.xcd[i].lock);
    }
    free(m->cp.xcd);
}

unsigned ace_xcc_of(const struct cp_dispatch *d, uint64_t linear)
{
    return d->first_xcc + (unsigned)(linear / d->chunk % d->xccs);
}

/* How many more waves of this kernel a SIMD can take. */
static unsigned simd_room(const struct ehp_machine *m, const struct cp_dispatch *d, const struct cp_cu *cu,
                          unsigned s)
{
    unsigned slots = m->cp.simd_waves - cu->waves[s];
    unsigned by_vgprs = (m->cp.simd_vgprs - cu->vgprs[s]) / d->vgprs;
    unsigned by_sgprs = (m->cp.simd_sgprs - cu->sgprs[s]) / d->sgprs;
    unsigned room = slots < by_vgprs ? slots : by_vgprs;
    return room < by_sgprs ? room : by_sgprs;
}

/* Deals the workgroup's waves to SIMDs, emptiest first; false when they do not all fit. */
static bool deal_waves(const struct ehp_machine *m, const struct cp_dispatch *d, const struct cp_cu *cu,
                       unsigned waves, uint8_t *simd)
{
    unsigned simds = m->cp.cu_simds, room[8], taken[8] = {0};
    for (unsigned s = 0; s < simds; s++)
        room[s] = simd_room(m, d, cu, s);
    for (unsigned i = 0; i < waves; i++) {
        unsigned best = simds;
        for (unsigned s = 0; s < simds; s++)
            if (room[s] > taken[s] &&
                (best == simds || cu->waves[s] + taken[s] < cu->waves[best] + taken[best]))
                best = s;
        if (best == simds)
            return false;
        simd[i] = (uint8_t)best;
        taken[best]++;
    }
    return true;
}

static bool fits(const struct ehp_machine *m, const struct cp_dispatch *d, const struct cp_cu *cu,
                 unsigned waves, uint8_t *simd)
{
    if (cu->lds + d->lds > m->cp.cu_lds)
        return false;
    if (waves > 1 && cu->workgroups >= m->cp.cu_workgroups)
        return false;
    return deal_waves(m, d, cu, waves, simd);
}

/*
 * The same for a compute unit that may have no waves at all, which needs no
 * look at its registers: ace_can_ever_fit() has, and dealing goes round.
 */
static bool take_simds(const struct ehp_machine *m, const struct cp_dispatch *d, const struct cp_cu *cu,
                       unsigned waves, uint8_t *simd)
{
    static const uint8_t none[sizeof(cu->waves)];
    if (memcmp(cu->waves, none, sizeof(none)) != 0)
        return fits(m, d, cu, waves, simd);
    for (unsigned i = 0, s = 0; i < waves; i++) {
        simd[i] = (uint8_t)s;
        s = s + 1 == m->cp.cu_simds ? 0 : s + 1;
    }
    return true;
}

bool ace_can_ever_fit(const struct ehp_machine *m, const struct cp_dispatch *d, char *why, size_t bytes)
{
    struct cp_cu empty = {0};
    uint8_t simd[WORKGROUP_MAX_WAVES];
    if (d->lds > m->cp.cu_lds) {
        snprintf(why, bytes, "a workgroup needs %u bytes of LDS, a compute unit has %u", d->lds,
                 m->cp.cu_lds);
        return false;
    }
    if (!fits(m, d, &empty, d->launch.waves, simd)) {
        snprintf(why, bytes, "a workgroup has %u waves of %u VGPRs, more than a compute unit's register file",
                 d->launch.waves, d->vgprs);
        return false;
    }
    return true;
}

/* The i-th CU in launch order: consecutive ones are on different shader engines. */
static unsigned nth_cu(unsigned i, unsigned cus, unsigned engines)
{
    unsigned per_engine = (cus + engines - 1) / engines;
    return i % engines * per_engine + i / engines;
}

static bool cu_enabled(const struct cp_dispatch *d, unsigned xcc, unsigned cu, unsigned cus)
{
    const struct cp_queue *queue = d->queue;
    unsigned bit = (xcc - d->first_xcc) * cus + cu;
    return !queue->cu_mask || bit >= queue->cu_mask_bits || (queue->cu_mask[bit / 32] >> bit % 32 & 1);
}

/* HW_ID as gfx9 lays it out: wave 3:0, SIMD 5:4, CU 11:8, SE 15:13, queue 26:24. */
static void set_hw_id(struct workgroup *wg, unsigned cus, unsigned engines)
{
    unsigned per_engine = (cus + engines - 1) / engines;
    for (unsigned i = 0; i < wg->waves; i++) {
        struct wave *w = &wg->wave[i];
        w->hw_id = (i & 15) | (uint32_t)(wg->simd[i] & 3) << 4 | (wg->cu % per_engine & 15) << 8 |
                   (wg->cu / per_engine & 7) << 13;
        w->xcc_id = wg->xcc & 15;
    }
}

bool ace_place(struct ehp_machine *m, const struct cp_dispatch *d, struct workgroup *wg)
{
    struct cp_xcd *xcd = &m->cp.xcd[wg->xcc];
    unsigned cus = m->cp.xcd_cus, engines = m->cp.xcd_engines;
    unsigned per_engine = (cus + engines - 1) / engines, rounds = per_engine * engines;
    bool placed = false;
    pthread_mutex_lock(&xcd->lock);
    for (unsigned tried = 0; tried < rounds && !placed; tried++) {
        unsigned at = (xcd->next_cu + tried) % rounds, cu = nth_cu(at, cus, engines);
        if (cu >= cus || !cu_enabled(d, wg->xcc, cu, cus) ||
            !take_simds(m, d, &xcd->cu[cu], wg->waves, wg->simd))
            continue;
        struct cp_cu *unit = &xcd->cu[cu];
        for (unsigned i = 0; i < wg->waves; i++) {
            unsigned s = wg->simd[i];
            unit->waves[s]++;
            unit->vgprs[s] = (uint16_t)(unit->vgprs[s] + d->vgprs);
            unit->sgprs[s] = (uint16_t)(unit->sgprs[s] + d->sgprs);
        }
        unit->lds += d->lds;
        unit->workgroups = (uint8_t)(unit->workgroups + (wg->waves > 1));
        wg->cu = cu;
        xcd->next_cu = (at + 1) % rounds;
        placed = true;
    }
    pthread_mutex_unlock(&xcd->lock);
    if (placed)
        set_hw_id(wg, cus, engines);
    return placed;
}

void ace_release(struct ehp_machine *m, const struct cp_dispatch *d, const struct workgroup *wg)
{
    struct cp_xcd *xcd = &m->cp.xcd[wg->xcc];
    struct cp_cu *unit = &xcd->cu[wg->cu];
    pthread_mutex_lock(&xcd->lock);
    for (unsigned i = 0; i < wg->waves; i++) {
        unsigned s = wg->simd[i];
        unit->waves[s]--;
        unit->vgprs[s] = (uint16_t)(unit->vgprs[s] - d->vgprs);
        unit->sgprs[s] = (uint16_t)(unit->sgprs[s] - d->sgprs);
    }
    unit->lds -= d->lds;
    unit->workgroups = (uint8_t)(unit->workgroups - (wg->waves > 1));
    pthread_mutex_unlock(&xcd->lock);
}
