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
#include "cp/cp.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip/node.h"

/* Consecutive CUs of the launch order are on different shader engines; the last engines may have fewer. */
static bool make_launch_order(struct cp *cp)
{
    const unsigned cus = cp->xcd_cus;
    cp->launch_order = calloc(cus, sizeof(*cp->launch_order));
    cp->cu_position = calloc(cus, sizeof(*cp->cu_position));
    if (!cp->launch_order || !cp->cu_position)
        return false;
    for (unsigned index = 0, n = 0; n < cus; index++)
        for (unsigned cu = 0; cu < cus; cu++) {
            if (chip_cu_place(cp->chip, cu).index != index)
                continue;
            cp->cu_position[cu] = (uint16_t)n;
            cp->launch_order[n++] = (uint16_t)cu;
        }
    return true;
}

/* HW_ID as gfx9 lays it out: wave 3:0, SIMD 5:4, CU 11:8, SE 15:13, queue 26:24. */
static bool make_hw_ids(struct cp *cp)
{
    const unsigned cus = cp->xcd_cus;
    cp->cu_hw_id = calloc(cus, sizeof(*cp->cu_hw_id));
    for (unsigned i = 0; cp->cu_hw_id && i < cus; i++) {
        const struct chip_place at = chip_cu_place(cp->chip, i);
        cp->cu_hw_id[i] = (uint16_t)((at.index & 15) << 8 | (at.engine & 7) << 13);
    }
    return cp->cu_hw_id != NULL;
}

bool ace_round_init(const struct cp *cp, struct ace_round *round, unsigned index, unsigned of)
{
    const unsigned cus = cp->xcd_cus, count = cus / of;
    round->first = (uint16_t)(count ? index * count : index % cus);
    round->count = (uint16_t)(count ? count : 1);
    round->kept_count = 0;
    round->next = calloc(cp->xcds, sizeof(*round->next) + round->count);
    /* Behind it.  Who shares a range keeps nothing there from the others. */
    round->kept = round->next && count ? (uint8_t *)(round->next + cp->xcds) : NULL;
    return round->next != NULL;
}

int ace_init(struct cp *cp)
{
    cp->xcds = chip_get(cp->chip, CHIP_xcd_count) * cp->node->packages;
    cp->lds_granule = chip_get(cp->chip, CHIP_cu_lds_granule);
    cp->vgpr_granule = chip_get(cp->chip, CHIP_cu_vgpr_granule);
    cp->sgpr_granule = chip_get(cp->chip, CHIP_cu_sgpr_granule);
    cp->xcd_cus = chip_get(cp->chip, CHIP_xcd_cus);
    cp->cu_simds = chip_get(cp->chip, CHIP_cu_simds);
    cp->simd_waves = chip_get(cp->chip, CHIP_cu_waves_per_simd);
    cp->simd_vgprs = chip_get(cp->chip, CHIP_cu_vgprs);
    cp->simd_sgprs = chip_get(cp->chip, CHIP_cu_sgprs);
    cp->cu_lds = chip_get(cp->chip, CHIP_cu_lds);
    cp->cu_workgroups = chip_get(cp->chip, CHIP_cu_workgroups);
    cp->cu = calloc(cp->xcds, sizeof(*cp->cu));
    if (!cp->cu || !make_launch_order(cp) || !make_hw_ids(cp) || !ace_round_init(cp, &cp->round, 0, 1))
        return EHP_ERR_NO_MEMORY;
    for (unsigned i = 0; i < cp->xcds; i++) {
        cp->cu[i] = aligned_alloc(alignof(struct cp_cu), cp->xcd_cus * sizeof(struct cp_cu));
        if (!cp->cu[i])
            return EHP_ERR_NO_MEMORY;
        memset(cp->cu[i], 0, cp->xcd_cus * sizeof(struct cp_cu));
        for (unsigned c = 0; c < cp->xcd_cus; c++)
            atomic_flag_clear(&cp->cu[i][c].lock);
    }
    return EHP_OK;
}

void ace_destroy(struct cp *cp)
{
    for (unsigned i = 0; cp->cu && i < cp->xcds; i++)
        free(cp->cu[i]);
    free(cp->cu);
    free(cp->launch_order);
    free(cp->cu_position);
    free(cp->cu_hw_id);
    free(cp->round.next);
}

static bool cu_enabled(const struct cp_dispatch *d, unsigned xcc, unsigned cu, unsigned cus)
{
    const uint32_t *mask = d->queue->cu_mask;
    unsigned bit = (xcc - d->first_xcc) * cus + cu;
    return !mask || (mask[bit / 32] >> bit % 32 & 1);
}

void ace_find_takers(const struct cp *cp, struct cp_dispatch *d)
{
    const unsigned cus = cp->xcd_cus;

    d->takers = 0;
    for (unsigned i = 0; i < d->xccs; i++) {
        unsigned cu = 0;
        while (cu < cus && !cu_enabled(d, d->first_xcc + i, cu, cus))
            cu++;
        if (cu < cus)
            d->taker[d->takers++] = (uint8_t)i;
    }
}

struct ace_turn ace_turn_of(const struct cp_dispatch *d, uint64_t linear)
{
    return (struct ace_turn){.taker = (unsigned)(linear / d->chunk % d->takers),
                             .more = (unsigned)(d->chunk - 1 - linear % d->chunk)};
}

/* Whether a SIMD can take so many more waves of this kernel. */
static bool simd_fits(const struct cp *cp, const struct cp_dispatch *d, const struct cp_cu *cu, unsigned s,
                      unsigned waves)
{
    return cu->waves[s] + waves <= cp->simd_waves && cu->vgprs[s] + waves * d->vgprs <= cp->simd_vgprs &&
           cu->sgprs[s] + waves * d->sgprs <= cp->simd_sgprs;
}

/* Deals the workgroup's waves to SIMDs, emptiest first; false when they do not all fit. */
static bool deal_waves(const struct cp *cp, const struct cp_dispatch *d, const struct cp_cu *cu,
                       unsigned waves, uint8_t *simd)
{
    unsigned simds = cp->cu_simds, taken[CHIP_MAX_SIMDS] = {0};
    for (unsigned i = 0; i < waves; i++) {
        unsigned best = simds;
        for (unsigned s = 0; s < simds; s++)
            if ((best == simds || cu->waves[s] + taken[s] < cu->waves[best] + taken[best]) &&
                simd_fits(cp, d, cu, s, taken[s] + 1))
                best = s;
        if (best == simds)
            return false;
        simd[i] = (uint8_t)best;
        taken[best]++;
    }
    return true;
}

static bool fits(const struct cp *cp, const struct cp_dispatch *d, const struct cp_cu *cu, unsigned waves,
                 uint8_t *simd)
{
    if (cu->lds + d->lds > cp->cu_lds)
        return false;
    if (waves > 1 && cu->workgroups >= cp->cu_workgroups)
        return false;
    return deal_waves(cp, d, cu, waves, simd);
}

static void deal_in_turn(const struct cp *cp, unsigned waves, uint8_t *simd)
{
    for (unsigned i = 0, s = 0; i < waves; i++) {
        simd[i] = (uint8_t)s;
        s = s + 1 == cp->cu_simds ? 0 : s + 1;
    }
}

/* The same, of which what is there may be left as it is. */
static void deal_all_in_turn(const struct cp *cp, struct workgroup *wg)
{
    if (wg->in_turn >= wg->waves)
        return;
    deal_in_turn(cp, wg->waves, wg->simd);
    wg->in_turn = wg->waves;
}

static unsigned count_in_turn(const struct cp *cp, const struct workgroup *wg)
{
    unsigned i = 0;
    while (i < wg->waves && wg->simd[i] == i % cp->cu_simds)
        i++;
    return i;
}

/*
 * The same for a compute unit that may have no waves at all, which needs no
 * look at its registers: ace_can_ever_fit() has, and dealing goes round.
 */
static bool take_simds(const struct cp *cp, const struct cp_dispatch *d, const struct cp_cu *cu,
                       struct workgroup *wg)
{
    static const uint8_t none[sizeof(cu->waves)];
    if (memcmp(cu->waves, none, sizeof(none)) != 0) {
        const bool fit = fits(cp, d, cu, wg->waves, wg->simd);
        wg->in_turn = fit ? count_in_turn(cp, wg) : 0;
        return fit;
    }
    deal_all_in_turn(cp, wg);
    return true;
}

bool ace_can_ever_fit(const struct cp *cp, const struct cp_dispatch *d, char *why, size_t bytes)
{
    struct cp_cu empty = {0};
    uint8_t simd[WORKGROUP_MAX_WAVES];
    if (!fits(cp, d, &empty, d->launch.waves, simd)) {
        snprintf(why, bytes, "a workgroup has %u waves of %u VGPRs, more than a compute unit's register file",
                 d->launch.waves, d->vgprs);
        return false;
    }
    return true;
}

static void set_hw_id(const struct cp *cp, struct workgroup *wg)
{
    const unsigned waves = wg->waves, xcc = wg->xcc & 15;
    const uint32_t where = cp->cu_hw_id[wg->cu];
    for (unsigned i = 0; i < waves; i++) {
        wg->wave[i].hw_id = (i & 15) | (uint32_t)(wg->simd[i] & 3) << 4 | where;
        wg->wave[i].xcc_id = xcc;
    }
}

static void lock_cu(struct cp_cu *cu)
{
    while (atomic_flag_test_and_set_explicit(&cu->lock, memory_order_acquire))
        sched_yield(); /* held for some ten instructions: its holder has lost the core */
}

static void unlock_cu(struct cp_cu *cu)
{
    atomic_flag_clear_explicit(&cu->lock, memory_order_release);
}

static bool place_on(struct cp *cp, const struct cp_dispatch *d, struct cp_cu *cu, struct workgroup *wg)
{
    lock_cu(cu);
    const bool room = take_simds(cp, d, cu, wg);
    if (room) {
        for (unsigned i = 0; i < wg->waves; i++) {
            unsigned s = wg->simd[i];
            cu->waves[s]++;
            cu->vgprs[s] = (uint16_t)(cu->vgprs[s] + d->vgprs);
            cu->sgprs[s] = (uint16_t)(cu->sgprs[s] + d->sgprs);
        }
        cu->lds += d->lds;
        cu->workgroups = (uint8_t)(cu->workgroups + (wg->waves > 1));
    }
    unlock_cu(cu);
    return room;
}

/* A place that is kept where the round is now. */
static bool take_kept(struct cp *cp, struct ace_round *round, const struct cp_dispatch *d,
                      struct workgroup *wg)
{
    const unsigned count = round->count, next = round->next[wg->xcc], cus = cp->xcd_cus;
    uint8_t *kept = &round->kept[wg->xcc * count + next];
    if (!*kept || wg->waves != d->launch.waves)
        return false;
    *kept = false;
    round->kept_count--;
    const unsigned at = round->first + next;
    wg->cu = cp->launch_order[at < cus ? at : at - cus];
    deal_all_in_turn(cp, wg);
    round->next[wg->xcc] = (uint16_t)(next + 1 < count ? next + 1 : 0);
    set_hw_id(cp, wg);
    return true;
}

static bool find_place(struct cp *cp, struct ace_round *round, const struct cp_dispatch *d,
                       struct workgroup *wg)
{
    const unsigned cus = cp->xcd_cus, first = round->first, count = round->count;
    const unsigned next = round->next[wg->xcc];
    for (unsigned tried = 0; tried < cus; tried++) {
        unsigned in_range = next + tried < count ? next + tried : next + tried - count;
        unsigned at = first + (tried < count ? in_range : tried);
        unsigned cu = cp->launch_order[at < cus ? at : at - cus];
        if (!cu_enabled(d, wg->xcc, cu, cus) || !place_on(cp, d, &cp->cu[wg->xcc][cu], wg))
            continue;
        if (tried < count)
            round->next[wg->xcc] = (uint16_t)(in_range + 1 < count ? in_range + 1 : 0);
        wg->cu = cu;
        set_hw_id(cp, wg);
        return true;
    }
    return false;
}

bool ace_place(struct cp *cp, struct ace_round *round, const struct cp_dispatch *d, struct workgroup *wg)
{
    if (round->kept_count && take_kept(cp, round, d, wg))
        return true;
    if (find_place(cp, round, d, wg))
        return true;
    if (!round->kept_count)
        return false;
    ace_let_go(cp, round, d);
    return find_place(cp, round, d, wg);
}

static void take_back(struct cp_cu *cu, const struct cp_dispatch *d, unsigned waves, const uint8_t *simd)
{
    lock_cu(cu);
    for (unsigned i = 0; i < waves; i++) {
        unsigned s = simd[i];
        cu->waves[s]--;
        cu->vgprs[s] = (uint16_t)(cu->vgprs[s] - d->vgprs);
        cu->sgprs[s] = (uint16_t)(cu->sgprs[s] - d->sgprs);
    }
    cu->lds -= d->lds;
    cu->workgroups = (uint8_t)(cu->workgroups - (waves > 1));
    unlock_cu(cu);
}

void ace_release(struct cp *cp, const struct cp_dispatch *d, const struct workgroup *wg)
{
    take_back(&cp->cu[wg->xcc][wg->cu], d, wg->waves, wg->simd);
}

bool ace_keep(const struct cp *cp, struct ace_round *round, const struct cp_dispatch *d,
              const struct workgroup *wg)
{
    const unsigned cus = cp->xcd_cus, at = cp->cu_position[wg->cu];
    const unsigned position = at >= round->first ? at - round->first : at + cus - round->first;
    if (!round->kept || wg->in_turn < wg->waves || wg->waves != d->launch.waves || position >= round->count)
        return false;
    uint8_t *kept = &round->kept[wg->xcc * round->count + position];
    if (*kept)
        return false;
    *kept = true;
    round->kept_count++;
    return true;
}

void ace_let_go(struct cp *cp, struct ace_round *round, const struct cp_dispatch *d)
{
    uint8_t simd[WORKGROUP_MAX_WAVES];
    deal_in_turn(cp, d->launch.waves, simd);
    for (unsigned xcc = 0; xcc < cp->xcds && round->kept_count; xcc++)
        for (unsigned i = 0; i < round->count && round->kept_count; i++) {
            uint8_t *kept = &round->kept[xcc * round->count + i];
            if (!*kept)
                continue;
            const unsigned at = round->first + i;
            const unsigned cu = cp->launch_order[at < cp->xcd_cus ? at : at - cp->xcd_cus];
            take_back(&cp->cu[xcc][cu], d, d->launch.waves, simd);
            *kept = false;
            round->kept_count--;
        }
}
