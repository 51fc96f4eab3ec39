/* SPDX-License-Identifier: MIT */
/*
 * Handlers of the GWS instructions; see gws.h.  A wave that has to wait yields
 * and executes its instruction again.
 */
#include "exec/gws.h"

#include "exec/handlers.h"
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

void gws_open(struct gws *gws)
{
    gws->full = false;
    gws->arrived = 0;
    gws->generation++;
}

/*
 * Barrier of operand + 1 waves.  In timing mode those of other XCDs, which are
 * simulated side by side, must not see it open sooner or later as host threads
 * have it: it opens between windows.
 */
static const struct xinst *x_ds_gws_barrier(struct wave *w, const struct xinst *in)
{
    struct gws *g = resource(w, in);
    if (!w->gws_waits) {
        w->gws_generation = g->generation;
        w->gws_waits = true;
        _Atomic bool *later = w->wg->launch->gws_later;
        if (atomic_fetch_add(&g->arrived, 1) == operand(w, in)) {
            if (later)
                g->full = *later = true;
            else
                gws_open(g);
        }
    }
    if (g->generation == w->gws_generation)
        return again(w, in);
    w->gws_waits = false;
    return in + 1;
}

static const struct xinst *x_ds_gws_init(struct wave *w, const struct xinst *in)
{
    struct gws *g = resource(w, in);
    g->count = (int32_t)operand(w, in);
    g->arrived = 0;
    return in + 1;
}

static const struct xinst *x_ds_gws_sema_v(struct wave *w, const struct xinst *in)
{
    resource(w, in)->count++;
    return in + 1;
}

static const struct xinst *x_ds_gws_sema_br(struct wave *w, const struct xinst *in)
{
    resource(w, in)->count += (int32_t)operand(w, in);
    return in + 1;
}

static const struct xinst *x_ds_gws_sema_p(struct wave *w, const struct xinst *in)
{
    struct gws *g = resource(w, in);
    int32_t count = g->count;
    while (count > 0)
        if (atomic_compare_exchange_weak(&g->count, &count, count - 1))
            return in + 1;
    return again(w, in);
}

static const struct xinst *x_ds_gws_sema_release_all(struct wave *w, const struct xinst *in)
{
    resource(w, in)->count = INT32_MAX / 2; /* nobody waits any more */
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
