/* SPDX-License-Identifier: MIT */
/*
 * Handlers of the GWS instructions; see gws.h.  A wave that has to wait yields
 * and executes its instruction again.
 *
 * In timing mode waves of other XCDs, which are simulated side by side, must not
 * see what one does sooner or later as host threads have it: it takes effect
 * between windows.
 */
#include "wave/gws.h"

#include <stdlib.h>

#include "wave/handlers.h"
#include "exec/workgroup.h"

/* The resource: M0[21:16] plus the instruction's offset. */
static struct gws *resource(const struct wave *w, const struct xinst *in)
{
    return &w->wg->launch->gws[((w->m0 >> 16 & 63) + (uint32_t)in->isa->offset) % GWS_RESOURCES];
}

/* The operand is taken from the first active lane. */
static uint32_t operand(const struct wave *w, const struct xinst *in)
{
    unsigned lane = w->exec ? (unsigned)__builtin_ctzll(w->exec) : 0;
    const struct isa_operand *src = in->isa->src;
    const struct isa_operand *o = src[ISA_DATA].kind != ISA_NONE ? &src[ISA_DATA] : &src[ISA_ADDR];
    return w->v[o->kind == ISA_AGPR ? WAVE_ACC + o->reg : o->reg][lane];
}

static const struct xinst *again(struct wave *w, const struct xinst *in)
{
    w->next = in;
    w->state = WAVE_YIELD;
    w->slept = true;
    return NULL;
}

/* Timing mode: told when there is something for gws_settle(); NULL: all takes effect at once. */
static _Atomic bool *later_of(const struct wave *w)
{
    return w->wg->launch->gws_later;
}

static void open_barrier(struct gws *g)
{
    g->arrived = 0;
    g->generation++;
}

/* XCD after XCD, so that none has to wait for others that ask again and again. */
static void grant(struct gws *g, unsigned xcds)
{
    for (unsigned idle = 0; idle < xcds && g->count > 0; g->turn = (uint8_t)((g->turn + 1) % xcds)) {
        struct gws_waiters *of = &g->waiters[g->turn];
        if (!of->waiting) {
            idle++;
            continue;
        }
        idle = 0;
        of->waiting--;
        of->granted++;
        g->count--;
    }
}

void gws_settle(struct gws *g, unsigned xcds)
{
    if (g->full)
        open_barrier(g);
    g->full = false;
    if (g->set) {
        g->count = (int32_t)(g->set - 1);
        g->arrived = g->set = 0;
        g->sets++;
    }
    if (g->asked && !g->waiters)
        g->waiters = calloc(xcds, sizeof(*g->waiters)); /* else they ask again */
    g->asked = false;
    if (g->waiters)
        grant(g, xcds);
}

/* Barrier of operand + 1 waves. */
static const struct xinst *x_ds_gws_barrier(struct wave *w, const struct xinst *in)
{
    struct gws *g = resource(w, in);
    if (!w->gws_waits) {
        w->gws_generation = g->generation;
        w->gws_waits = true;
        _Atomic bool *later = later_of(w);
        if (atomic_fetch_add(&g->arrived, 1) == operand(w, in)) {
            if (later)
                g->full = *later = true;
            else
                open_barrier(g);
        }
    }
    if (g->generation == w->gws_generation)
        return again(w, in);
    w->gws_waits = false;
    return in + 1;
}

/* In timing mode the wave waits until it is initialised: its own barrier must not be before. */
static const struct xinst *x_ds_gws_init(struct wave *w, const struct xinst *in)
{
    struct gws *g = resource(w, in);
    const uint32_t count = operand(w, in);
    _Atomic bool *later = later_of(w);
    if (!later) {
        g->count = (int32_t)count;
        g->arrived = 0;
        return in + 1;
    }
    if (!w->gws_waits) {
        const uint32_t wanted = count < UINT32_MAX ? count + 1 : count;
        uint32_t set = g->set; /* several at once are a mistake of the program: the greatest stays */
        while (set < wanted && !atomic_compare_exchange_weak(&g->set, &set, wanted))
            ;
        w->gws_generation = g->sets;
        w->gws_waits = *later = true;
    }
    if (g->sets == w->gws_generation)
        return again(w, in);
    w->gws_waits = false;
    return in + 1;
}

/* A sum is the same in any order, and nobody looks at it before the window is over. */
static void add(const struct wave *w, const struct xinst *in, int32_t n)
{
    _Atomic bool *later = later_of(w);
    resource(w, in)->count += n;
    if (later)
        *later = true;
}

static const struct xinst *x_ds_gws_sema_v(struct wave *w, const struct xinst *in)
{
    add(w, in, 1);
    return in + 1;
}

static const struct xinst *x_ds_gws_sema_br(struct wave *w, const struct xinst *in)
{
    add(w, in, (int32_t)operand(w, in));
    return in + 1;
}

/* In timing mode: a wave asks in one window, and has what gws_settle() granted its XCD in a later one. */
static const struct xinst *wait_granted(struct wave *w, const struct xinst *in, struct gws *g)
{
    if (!g->waiters) {
        g->asked = *later_of(w) = true;
        return again(w, in);
    }
    struct gws_waiters *mine = &g->waiters[w->wg->xcc];
    if (!w->gws_waits) {
        mine->waiting++;
        w->gws_waits = *later_of(w) = true;
        return again(w, in);
    }
    if (!mine->granted)
        return again(w, in);
    mine->granted--;
    w->gws_waits = false;
    return in + 1;
}

void gws_drop(struct wave *w)
{
    const struct xinst *in = w->next;
    if (!w->gws_waits || in->isa->op != ISA_OP_ds_gws_sema_p)
        return;
    struct gws *g = resource(w, in);
    struct gws_waiters *mine = &g->waiters[w->wg->xcc];
    w->gws_waits = false;
    if (mine->waiting) { /* nobody knows which of an XCD's waves a grant is for */
        mine->waiting--;
        return;
    }
    mine->granted--;
    g->count++;
    *later_of(w) = true;
}

static const struct xinst *x_ds_gws_sema_p(struct wave *w, const struct xinst *in)
{
    struct gws *g = resource(w, in);
    if (later_of(w))
        return wait_granted(w, in, g);
    int32_t count = g->count;
    while (count > 0)
        if (atomic_compare_exchange_weak(&g->count, &count, count - 1))
            return in + 1;
    return again(w, in);
}

static const struct xinst *x_ds_gws_sema_release_all(struct wave *w, const struct xinst *in)
{
    resource(w, in)->count = INT32_MAX / 2; /* nobody waits any more */
    add(w, in, 0);
    return in + 1;
}

exec_fn *sem_gws(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
    case ISA_OP_ds_gws_barrier:
        return x_ds_gws_barrier;
    case ISA_OP_ds_gws_init:
        return x_ds_gws_init;
    case ISA_OP_ds_gws_sema_v:
        return x_ds_gws_sema_v;
    case ISA_OP_ds_gws_sema_br:
        return x_ds_gws_sema_br;
    case ISA_OP_ds_gws_sema_p:
        return x_ds_gws_sema_p;
    case ISA_OP_ds_gws_sema_release_all:
        return x_ds_gws_sema_release_all;
    default:
        return NULL;
    }
}
