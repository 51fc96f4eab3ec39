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
#include <limits.h>
#include <linux/futex.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cp/sim.h"
#include "hsa/hsa.h"
#include "soc/machine.h"

/* Spins before a waiter asks the kernel to be put to sleep: around ten microseconds. */
enum { SPINS = 600 };

/* A kernel that stores to a signal without an interrupt wakes nobody: look again after this long. */
#define RECHECK_NS UINT64_C(2000000)

static struct ehp_machine *machine_of(const struct hsa_signal *s)
{
    return (struct ehp_machine *)(uintptr_t)s->block.owner;
}

static long futex(const void *address, int operation, uint32_t value, const struct timespec *timeout)
{
    return syscall(SYS_futex, address, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

void futex_wait(const _Atomic uint32_t *address, uint32_t value, uint64_t timeout_ns)
{
    struct timespec t = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                         .tv_nsec = (long)(timeout_ns % 1000000000)};
    futex(address, FUTEX_WAIT, value, &t);
}

void futex_wake(const _Atomic uint32_t *address, unsigned count)
{
    futex(address, FUTEX_WAKE, count > INT_MAX ? INT_MAX : count, NULL);
}

void signal_wake(struct hsa_signal *s)
{
    if (__atomic_load_n(&s->block.reserved1, __ATOMIC_SEQ_CST))
        futex(s->value, FUTEX_WAKE, INT_MAX, NULL);
}

/* ---- event ids: how a wave's interrupt names a signal ---- */

static bool register_event(struct ehp_machine *m, struct hsa_signal *s)
{
    pthread_mutex_lock(&m->event_lock);
    size_t id = 1;
    while (id < m->event_count && m->events[id])
        id++;
    if (id >= m->event_count) {
        size_t count = m->event_count ? m->event_count * 2 : 64;
        struct hsa_signal **events = realloc(m->events, count * sizeof(struct hsa_signal *));
        if (!events) {
            pthread_mutex_unlock(&m->event_lock);
            return false;
        }
        memset(events + m->event_count, 0, (count - m->event_count) * sizeof(struct hsa_signal *));
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

void signal_interrupt(struct ehp_machine *m, uint32_t event_id)
{
    pthread_mutex_lock(&m->event_lock);
    struct hsa_signal *s = event_id < m->event_count ? m->events[event_id] : NULL;
    if (s)
        signal_wake(s);
    pthread_mutex_unlock(&m->event_lock);
    if (m->cp.sim)
        m->cp.sim->interrupted = true;
    else if (m->cp.blocked_count)
        cp_ring(m);
}

/* ---- their memory ---- */

enum { SIGNAL_SLAB = 512 };

struct signal_slab {
    struct signal_slab *next;
    alignas(128) struct hsa_signal signal[SIGNAL_SLAB];
};
static_assert(sizeof(struct hsa_signal) <= 128, "no two in a pair of lines");

static struct hsa_signal *take_signal(struct ehp_machine *m)
{
    pthread_mutex_lock(&m->event_lock);
    struct hsa_signal *s = m->spare_signals;
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
}

/* ---- the interface ---- */

int ehp_signal_create(ehp_machine *m, int64_t initial, ehp_signal *out)
{
    struct hsa_signal *s = take_signal(m);
    if (!s)
        return machine_error(m, EHP_ERR_NO_MEMORY, "no memory for a signal");
    *s = (struct hsa_signal){
        .block = {.kind = SIGNAL_KIND_USER, .value = initial, .owner = (uint64_t)(uintptr_t)m}};
    s->value = &s->block.value;
    out->handle = (uint64_t)(uintptr_t)s;
    return EHP_OK;
}

int ehp_signal_share(ehp_signal signal, void **address)
{
    struct hsa_signal *s = signal_of(signal);
    struct ehp_machine *m = machine_of(s);
    if (!s->shared) {
        int status;
        struct hsa_shared_signal *shared =
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
    struct hsa_signal *s = signal_of(signal);
    if (!s)
        return;
    struct ehp_machine *m = machine_of(s);
    if (s->shared)
        memory_free(&m->memory, s->shared);
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
    return __atomic_load_n(signal_of(signal)->value, __ATOMIC_ACQUIRE);
}

static void changed(struct hsa_signal *s)
{
    struct ehp_machine *m = machine_of(s);
    signal_wake(s);
    if (m && m->cp.blocked_count)
        cp_ring(m);
}

void ehp_signal_store(ehp_signal signal, int64_t value)
{
    struct hsa_signal *s = signal_of(signal);
    __atomic_store_n(s->value, value, __ATOMIC_SEQ_CST);
    struct ehp_machine *m = machine_of(s);
    if (s->block.kind == SIGNAL_KIND_DOORBELL && m->cp.sim)
        sim_ring(m->cp.sim, (struct cp_queue *)(uintptr_t)s->block.queue_ptr, (uint64_t)value);
    else if (s->block.kind == SIGNAL_KIND_DOORBELL)
        cp_ring(m);
    else
        changed(s);
}

int64_t ehp_signal_add(ehp_signal signal, int64_t value)
{
    struct hsa_signal *s = signal_of(signal);
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
    const struct hsa_signal *signal;
    int condition;
    int64_t value;
};

static bool wish_holds(void *context)
{
    const struct wish *w = context;
    return holds(__atomic_load_n(w->signal->value, __ATOMIC_SEQ_CST), w->condition, w->value);
}

int64_t ehp_signal_wait(ehp_signal signal, int condition, int64_t value, uint64_t timeout_ns)
{
    struct hsa_signal *s = signal_of(signal);
    struct ehp_machine *m = machine_of(s);
    if (m->cp.sim) {
        struct wish wish = {s, condition, value};
        const struct sim_wish sim_wish = {wish_holds, &wish, &s->completed_ps};
        /* Who waits for anything to change serves others, and does not make simulated time go on. */
        if (condition == EHP_COND_NE) {
            sim_serve(m->cp.sim, &sim_wish, timeout_ns);
            return __atomic_load_n(s->value, __ATOMIC_SEQ_CST);
        }
        /* When time runs out just as it comes true, the wait goes on until simulated time says when that was.
         */
        for (;;) {
            bool reached = sim_wait(m->cp.sim, &sim_wish, timeout_ns, m->cp.sim->wait_ps);
            int64_t now = __atomic_load_n(s->value, __ATOMIC_SEQ_CST);
            if (reached || !holds(now, condition, value))
                return now;
        }
    }
    int64_t now = __atomic_load_n(s->value, __ATOMIC_ACQUIRE);
    for (int i = 0; i < SPINS && !holds(now, condition, value); i++) {
        __builtin_ia32_pause();
        now = __atomic_load_n(s->value, __ATOMIC_ACQUIRE);
    }
    if (holds(now, condition, value))
        return now;
    uint64_t start = machine_now_ns();
    __atomic_fetch_add(&s->block.reserved1, 1, __ATOMIC_SEQ_CST);
    for (;;) {
        now = __atomic_load_n(s->value, __ATOMIC_SEQ_CST);
        uint64_t spent = machine_now_ns() - start;
        if (holds(now, condition, value) || (timeout_ns != UINT64_MAX && spent >= timeout_ns))
            break;
        uint64_t sleep =
            timeout_ns == UINT64_MAX || timeout_ns - spent > RECHECK_NS ? RECHECK_NS : timeout_ns - spent;
        futex_wait((const _Atomic uint32_t *)(const void *)s->value, (uint32_t)now, sleep);
    }
    __atomic_fetch_sub(&s->block.reserved1, 1, __ATOMIC_SEQ_CST);
    return now;
}
