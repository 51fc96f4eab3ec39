/* SPDX-License-Identifier: MIT */
/*
 * A memory instruction as simulated time executes it, without the time: its
 * address half, then plain copies for what caches would do, then its delivery.
 */
#ifndef EHP_TESTS_HALVES_H
#define EHP_TESTS_HALVES_H

#include "sem/memory/memop_halves.h"

enum { HALVES_LEVEL = 5 }; /* beside the host's instruction set levels */

static inline const struct xinst *halves_scalar(struct wave *w, const struct xinst *in)
{
    struct memop_scalar a;
    uint8_t data[MEMOP_SCALAR_BYTES] = {0};
    if (!memop_scalar_address(w, in, &a))
        return in + 1;
    if (a.write)
        memop_scalar_take(w, &a, data);
    memop_begin(w, in);
    if (a.op->action == MEMOP_ATOMIC && a.bytes)
        memop_atomic_apply(a.op, (uint8_t *)(uintptr_t)a.address, data);
    else if (a.write)
        memcpy((void *)(uintptr_t)a.address, data, a.bytes);
    else
        memcpy(data, (const void *)(uintptr_t)a.address, a.bytes);
    memop_end(w);
    if (a.returns)
        memop_scalar_deliver(w, &a, data);
    return in + 1;
}

static inline void halves_move(const struct memop_address *a, unsigned lane, uint64_t address, unsigned at,
                               unsigned bytes, uint8_t *data)
{
    uint8_t *place = (uint8_t *)(uintptr_t)address, *own = data + lane * MEMOP_LANE_BYTES + at;
    if (a->landing.op->action == MEMOP_ATOMIC && bytes == a->bytes)
        memop_atomic_apply(a->landing.op, place, own);
    else if (a->write)
        memcpy(place, own, bytes);
    else
        memcpy(own, place, bytes);
}

/* Atomics in pieces, which nobody else has. */
static inline void halves_split_atomic(struct wave *w, const struct xinst *in, const struct memop_address *a,
                                       uint8_t *data)
{
    uint64_t addr[2][WAVE_LANES];
    CHECK_EQ(a->pieces, 2);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQ(memop_piece(w, in, a, i, addr[i]), a->split);
    MEMOP_FOR_LANES(lane, a->split)
    {
        uint8_t whole[8];
        for (unsigned i = 0; i < 2; i++)
            memcpy(whole + 4 * i, (const void *)(uintptr_t)addr[i][lane], 4);
        memop_atomic_apply(a->landing.op, whole, data + lane * MEMOP_LANE_BYTES);
        for (unsigned i = 0; i < 2; i++)
            memcpy((void *)(uintptr_t)addr[i][lane], whole + 4 * i, 4);
    }
}

static inline const struct xinst *halves_vector(struct wave *w, const struct xinst *in)
{
    struct memop_address a;
    uint8_t data[WAVE_LANES * MEMOP_LANE_BYTES];
    memset(data, 0xa5, sizeof(data)); /* what lanes without an access have is looked at by nobody */
    if (!memop_address(w, in, &a))
        return in + 1;
    CHECK((a.whole & a.lds) == 0 && (a.whole & a.split) == 0 && (a.split & a.lds) == 0);
    if (a.write)
        memop_take(w, in, &a, a.whole | a.split, data, MEMOP_LANE_BYTES);
    if (a.lds)
        memop_access_lds(w, in, &a);
    a.landing.lanes &= ~a.lds;
    memop_begin(w, in);
    uint64_t lanes[MEMOP_LANE_BYTES] = {0}, addr[MEMOP_LANE_BYTES][WAVE_LANES];
    const bool atomic = a.landing.op->action == MEMOP_ATOMIC;
    for (unsigned i = 0; i < a.pieces && !atomic; i++)
        lanes[i] = memop_piece(w, in, &a, i, addr[i]);
    if (atomic && a.split)
        halves_split_atomic(w, in, &a, data);
    MEMOP_FOR_LANES(lane,
                    a.whole | (atomic ? 0 : a.split)) /* the last of several that store to one place stays */
    {
        if (a.whole >> lane & 1) {
            halves_move(&a, (unsigned)lane, a.request.addr[lane], 0, a.bytes, data);
            continue;
        }
        if (!a.write) /* pieces beyond a buffer */
            memset(data + lane * MEMOP_LANE_BYTES, 0, MEMOP_LANE_BYTES);
        for (unsigned i = 0; i < a.pieces; i++)
            if (lanes[i] >> lane & 1)
                halves_move(&a, (unsigned)lane, addr[i][lane], i * a.step, a.step, data);
    }
    memop_end(w);
    if (a.landing.returns)
        memop_deliver(w, in, &a.landing, data, MEMOP_LANE_BYTES);
    return in + 1;
}

static inline bool halves_has(const struct isa_inst *inst)
{
    return inst->format != ISA_DS; /* simulated time executes these at once, by their handlers */
}

static inline const struct xinst *halves_run(struct wave *w, const struct xinst *in)
{
    return in->isa->format == ISA_SMEM ? halves_scalar(w, in) : halves_vector(w, in);
}

#endif
