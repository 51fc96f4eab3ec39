/* SPDX-License-Identifier: MIT */
/*
 * Signals: 64 bytes of memory whose value packets decrement, the host waits on
 * and, if it is shared with them, waves may change.  What the host goes by (whose
 * signal it is, who waits) lies where no wave can write, and of a shared signal
 * only the value is looked at.  Waiting is a short spin, then a futex on the
 * value's low half.
 *
 * Source: HSA Platform System Architecture 1.2, 2.8.
 */
#include "hsa/hsa.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "cp/signal.h"
#include "soc/machine.h"
#include "wave/fault.h"

static struct ehp_machine *owner_of(const struct cp_signal *s)
{
    return (struct ehp_machine *)(uintptr_t)s->block.owner;
}

/* ---- event ids: how a wave's interrupt names a signal ---- */

static bool register_event(struct ehp_machine *m, struct cp_signal *s)
{
    pthread_mutex_lock(&m->event_lock);
    size_t id = 1;
    while (id < m->event_count && m->events[id])
        id++;
    if (id >= m->event_count) {
        size_t count = m->event_count ? m->event_count * 2 : 64;
        struct cp_signal **events = realloc(m->events, count * sizeof(struct cp_signal *));
        if (!events) {
            pthread_mutex_unlock(&m->event_lock);
            return false;
        }
        memset(events + m->event_count, 0, (count - m->event_count) * sizeof(struct cp_signal *));
        if (id == 0)
            id = 1;
        m->events = events;
        m->event_count = count;
    }
    m->events[id] = s;
    s->block.event_id = (uint32_t)id;
    pthread_mutex_unlock(&m->event_lock);
    return true;
}

/* The event id is in M0; see wave/fault.h. */
void wave_interrupt(struct wave *w)
{
    struct cp *cp = ((const struct cp_dispatch *)w->wg->owner)->cp;
    struct ehp_machine *m = machine_of(cp);
    const uint32_t id = w->m0 & 0xffffff;
    pthread_mutex_lock(&m->event_lock);
    struct cp_signal *s = id < m->event_count ? m->events[id] : NULL;
    if (s)
        cp_signal_wake(s);
    pthread_mutex_unlock(&m->event_lock);
    cp->engine->ops->interrupted(cp->engine);
}

/* ---- their memory ---- */

enum { SIGNAL_SLAB = 512 };

struct signal_slab {
    struct signal_slab *next;
    alignas(128) struct cp_signal signal[SIGNAL_SLAB];
};
static_assert(sizeof(struct cp_signal) <= 128, "no two in a pair of lines");

static struct cp_signal *take_signal(struct ehp_machine *m)
{
    pthread_mutex_lock(&m->event_lock);
    struct cp_signal *s = m->spare_signals;
    if (!s) {
        struct signal_slab *slab = aligned_alloc(128, sizeof(*slab));
        if (slab) {
            memset(slab, 0, sizeof(*slab));
            slab->next = m->signal_slabs;
            m->signal_slabs = slab;
            for (size_t i = SIGNAL_SLAB; i-- > 0;) {
                slab->signal[i].spare = s;
                s = &slab->signal[i];
            }
        }
    }
    if (s)
        m->spare_signals = s->spare;
    pthread_mutex_unlock(&m->event_lock);
    return s;
}

void signal_free_all(struct ehp_machine *m)
{
    for (struct signal_slab *slab = m->signal_slabs, *next; slab; slab = next) {
        next = slab->next;
        free(slab);
    }
    free(m->events);
}

/* ---- the interface ---- */

int ehp_signal_create(ehp_machine *m, int64_t initial, ehp_signal *out)
{
    struct cp_signal *s = take_signal(m);
    if (!s)
        return machine_error(m, EHP_ERR_NO_MEMORY, "no memory for a signal");
    *s = (struct cp_signal){
        .block = {.kind = SIGNAL_KIND_USER, .value = initial, .owner = (uint64_t)(uintptr_t)m}};
    s->value = &s->block.value;
    out->handle = (uint64_t)(uintptr_t)s;
    return EHP_OK;
}

int ehp_signal_share(ehp_signal signal, void **address)
{
    struct cp_signal *s = cp_signal_of(signal);
    struct ehp_machine *m = owner_of(s);
    if (!s->shared) {
        int status;
        engine_arrive(m->cp.engine);
        struct cp_shared_signal *shared =
            memory_alloc(&m->memory, 0, EHP_MEM_INTERNAL, sizeof(*shared), 0, &status);
        if (!shared || !register_event(m, s)) {
            if (shared)
                memory_free(&m->memory, shared);
            return machine_error(m, EHP_ERR_NO_MEMORY, "no memory for a signal that waves reach");
        }
        shared->block.value = *s->value;
        s->shared = shared;
        s->value = &shared->block.value;
    }
    struct ehp_signal_block *seen = &s->shared->block;
    seen->kind = SIGNAL_KIND_USER;
    seen->event_mailbox_ptr = (uint64_t)(uintptr_t)&s->shared->mailbox;
    seen->event_id = s->block.event_id;
    *address = s->shared;
    return EHP_OK;
}

void ehp_signal_destroy(ehp_signal signal)
{
    struct cp_signal *s = cp_signal_of(signal);
    if (!s)
        return;
    struct ehp_machine *m = owner_of(s);
    if (s->shared) {
        engine_arrive(m->cp.engine);
        memory_free(&m->memory, s->shared);
    }
    pthread_mutex_lock(&m->event_lock);
    if (s->block.event_id)
        m->events[s->block.event_id] = NULL;
    s->block.kind = 0;
    s->spare = m->spare_signals;
    m->spare_signals = s;
    pthread_mutex_unlock(&m->event_lock);
}

int64_t ehp_signal_load(ehp_signal signal)
{
    return cp_signal_load(cp_signal_of(signal));
}

static void changed(struct cp_signal *s)
{
    struct ehp_machine *m = owner_of(s);
    cp_signal_wake(s);
    if (m && m->cp.blocked_count)
        cp_ring(&m->cp);
}

void ehp_signal_store(ehp_signal signal, int64_t value)
{
    struct cp_signal *s = cp_signal_of(signal);
    __atomic_store_n(s->value, value, __ATOMIC_SEQ_CST);
    if (s->block.kind != SIGNAL_KIND_DOORBELL) {
        changed(s);
        return;
    }
    struct engine *engine = owner_of(s)->cp.engine;
    engine->ops->ring(engine, (struct cp_queue *)(uintptr_t)s->block.queue_ptr, (uint64_t)value);
}

int64_t ehp_signal_add(ehp_signal signal, int64_t value)
{
    struct cp_signal *s = cp_signal_of(signal);
    int64_t old = __atomic_fetch_add(s->value, value, __ATOMIC_SEQ_CST);
    changed(s);
    return old;
}

static bool holds(int64_t value, int condition, int64_t wanted)
{
    switch (condition) {
    case EHP_COND_EQ:
        return value == wanted;
    case EHP_COND_NE:
        return value != wanted;
    case EHP_COND_LT:
        return value < wanted;
    default:
        return value >= wanted;
    }
}

struct wish {
    const struct cp_signal *signal;
    int condition;
    int64_t value;
};

static bool wish_holds(void *context)
{
    const struct wish *w = context;
    return holds(__atomic_load_n(w->signal->value, __ATOMIC_SEQ_CST), w->condition, w->value);
}

/* Who waits for anything to change serves others (hostcall), and does not make simulated time go on. */
int64_t ehp_signal_wait(ehp_signal signal, int condition, int64_t value, uint64_t timeout_ns)
{
    struct cp_signal *s = cp_signal_of(signal);
    struct engine *engine = owner_of(s)->cp.engine;
    struct wish wish = {s, condition, value};
    const struct engine_wish wait = {
        .holds = wish_holds, .context = &wish, .signal = s, .serves = condition == EHP_COND_NE};
    for (;;) {
        bool reached = engine->ops->wait(engine, &wait, timeout_ns);
        int64_t now = __atomic_load_n(s->value, __ATOMIC_SEQ_CST);
        /* What comes true after the time ran out is not told yet: simulated time has not got there. */
        if (reached || wait.serves || !holds(now, condition, value))
            return now;
    }
}
