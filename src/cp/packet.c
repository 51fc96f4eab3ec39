/* SPDX-License-Identifier: MIT */
/*
 * The packet processor: reads the packets of user-mode queues in order, starts
 * what may start, and finishes them.
 *
 * Source: HSA Platform System Architecture 1.2, 2.9.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cp/cp.h"
#include "cp/signal.h"

static union ehp_packet *slot_of(const struct cp_queue *q, uint64_t index)
{
    return (union ehp_packet *)q->block.hsa.base_address + (index & (q->block.hsa.size - 1));
}

const union ehp_packet *cp_next_packet(const struct cp_queue *q)
{
    return slot_of(q, q->read);
}

static void complete(struct cp *cp, ehp_signal completion, uint64_t start_ns)
{
    struct cp_signal *s = cp_signal_of(completion);
    cp->completed++;
    if (!s)
        return;
    s->block.start_ts = start_ns / 10;
    s->block.end_ts = cp_now_ns(cp) / 10;
    __atomic_fetch_sub(s->value, 1, __ATOMIC_SEQ_CST);
    cp_signal_wake(s);
    if (cp->blocked_count)
        cp->look = true;
    cp->engine->ops->signalled(cp->engine, s);
}

void cp_packet_done(struct cp_queue *q, ehp_signal completion, uint64_t start_ns)
{
    q->in_flight--;
    complete(q->cp, completion, start_ns);
    q->cp->look = true; /* a packet with the barrier bit may start now */
}

void cp_queue_fault(struct cp_queue *q, struct ehp_fault *fault)
{
    struct cp *cp = q->cp;
    fault->size = sizeof(*fault);
    fault->queue = &q->block;
    if (q->fault.kind == EHP_FAULT_NONE)
        q->fault = *fault;
    q->inactive = true;
    cp->listener->faulted(cp, fault);
}

/* ---- conditions ---- */

static int64_t value_of(ehp_signal signal)
{
    return signal.handle ? cp_signal_load(cp_signal_of(signal)) : 0;
}

static bool barrier_holds(const struct ehp_barrier_packet *p, bool all)
{
    bool any = false, none = true;
    for (int i = 0; i < 5; i++) {
        if (!p->dep_signal[i].handle)
            continue;
        none = false;
        bool zero = value_of(p->dep_signal[i]) == 0;
        if (all && !zero)
            return false;
        any = any || zero;
    }
    return all || any || none;
}

/* A value in memory that the program may have unmapped since. */
struct value_access {
    void *address;
    uint64_t value;
    bool wide, write;
};

static void access_value(void *context)
{
    struct value_access *a = context;
    if (a->write && a->wide)
        __atomic_store_n((uint64_t *)a->address, a->value, __ATOMIC_RELEASE);
    else if (a->write)
        __atomic_store_n((uint32_t *)a->address, (uint32_t)a->value, __ATOMIC_RELEASE);
    else
        a->value = a->wide ? __atomic_load_n((const uint64_t *)a->address, __ATOMIC_ACQUIRE)
                           : __atomic_load_n((const uint32_t *)a->address, __ATOMIC_ACQUIRE);
}

/* hipStreamWaitValue's conditions: 1 when it holds, 0 when not, EHP_ERR_FAULT when it cannot be read. */
static int wait_value_holds(const struct ehp_agent_dispatch_packet *p)
{
    unsigned bytes = p->arg[3] & 0xff, condition = p->arg[3] >> 8 & 0xff;
    uint64_t mask = p->arg[2], wanted = p->arg[1];
    struct value_access access = {.address = (void *)(uintptr_t)p->arg[0], .wide = bytes != 4};
    if (ehp_mem_try(access_value, &access) != EHP_OK)
        return EHP_ERR_FAULT;
    uint64_t value = access.value & mask;
    switch (condition) {
    case 0:
        return bytes == 4 ? (int32_t)((uint32_t)value - (uint32_t)(wanted & mask)) >= 0
                          : (int64_t)(value - (wanted & mask)) >= 0;
    case 1:
        return value == (wanted & mask);
    case 2:
        return (value & wanted) != 0;
    default:
        return (~(value | wanted) & mask) != 0;
    }
}

static int write_value(const struct ehp_agent_dispatch_packet *p)
{
    struct value_access access = {
        .address = (void *)(uintptr_t)p->arg[0], .value = p->arg[1], .wide = p->arg[2] != 4, .write = true};
    return ehp_mem_try(access_value, &access);
}

static void value_fault(struct cp_queue *q, const struct ehp_agent_dispatch_packet *p, bool write)
{
    struct ehp_fault fault = {.size = sizeof(fault),
                              .kind = EHP_FAULT_MEMORY,
                              .dispatch_id = q->read,
                              .address = p->arg[0],
                              .write = write,
                              .lane = ~0u};
    cp_report(q->cp, &fault, write ? "in a write of a value" : "in a wait for a value");
    cp_queue_fault(q, &fault);
}

/* ---- one packet ---- */

enum outcome { STARTED, FINISHED, NOT_YET };

static enum outcome start_dispatch(struct cp_queue *q, const struct ehp_kernel_dispatch_packet *packet)
{
    struct cp *cp = q->cp;
    struct ehp_fault fault = {.size = sizeof(fault)};
    struct cp_dispatch *d = cp_dispatch_make(q, q->read, packet, &fault);
    if (!d) {
        cp_queue_fault(q, &fault);
        complete(q->cp, packet->completion_signal, cp_now_ns(q->cp));
        return FINISHED;
    }
    q->in_flight++;
    d->users = 1;
    struct cp_dispatch **end = &cp->active;
    while (*end)
        end = &(*end)->next;
    *end = d;
    cp->active_count++;
    return STARTED;
}

static void start_task(struct cp_queue *q, const struct ehp_agent_dispatch_packet *packet)
{
    struct cp_task *task = malloc(sizeof(*task));
    if (!task)
        abort(); /* a hundred bytes: the process is beyond help */
    *task = (struct cp_task){.queue = q, .packet = *packet};
    q->in_flight++;
    q->cp->engine->ops->start_task(q->cp->engine, task);
}

static enum outcome bad_packet(struct cp_queue *q, unsigned type, const char *what)
{
    struct ehp_fault fault = {
        .size = sizeof(fault), .kind = EHP_FAULT_PACKET, .dispatch_id = q->read, .lane = ~0u};
    snprintf(fault.text, sizeof(fault.text),
             "queue %llu, packet %llu: %s %u is not one that this processor knows",
             (unsigned long long)q->block.hsa.id, (unsigned long long)q->read, what, type);
    cp_queue_fault(q, &fault);
    return FINISHED;
}

static enum outcome start_agent(struct cp_queue *q, const struct ehp_agent_dispatch_packet *p)
{
    switch (p->type) {
    case EHP_AGENT_COPY:
    case EHP_AGENT_FILL:
    case EHP_AGENT_COPY_3D:
    case EHP_AGENT_FILL_3D:
    case EHP_AGENT_PREFETCH:
    case EHP_AGENT_CALL:
        start_task(q, p);
        return STARTED;
    case EHP_AGENT_WAIT_VALUE:
        switch (wait_value_holds(p)) {
        case 0:
            return NOT_YET;
        case EHP_ERR_FAULT:
            value_fault(q, p, false);
            break;
        default:
            break;
        }
        break;
    case EHP_AGENT_WRITE_VALUE:
        if (write_value(p) != EHP_OK)
            value_fault(q, p, true);
        break;
    default:
        bad_packet(q, p->type, "agent function");
        break;
    }
    complete(q->cp, p->completion_signal, cp_now_ns(q->cp));
    return FINISHED;
}

static enum outcome start_packet(struct cp_queue *q, const union ehp_packet *packet, unsigned type)
{
    uint64_t now = cp_now_ns(q->cp);
    switch (type) {
    case EHP_PACKET_KERNEL_DISPATCH:
        return start_dispatch(q, &packet->dispatch);
    case EHP_PACKET_BARRIER_AND:
    case EHP_PACKET_BARRIER_OR:
        if (!barrier_holds(&packet->barrier, type == EHP_PACKET_BARRIER_AND))
            return NOT_YET;
        if (q->cp->engine->packets_take_time) {
            start_task(q, &packet->agent);
            return STARTED;
        }
        complete(q->cp, packet->barrier.completion_signal, now);
        return FINISHED;
    case EHP_PACKET_AGENT_DISPATCH:
        return start_agent(q, &packet->agent);
    default:
        return bad_packet(q, type, "packet type");
    }
}

/* After a fault, or in a queue that is being destroyed, nothing is executed any more, but nobody is left
 * waiting. */
static enum outcome skip_packet(struct cp_queue *q, const union ehp_packet *packet, unsigned type)
{
    ehp_signal completion = {.handle = packet->qword[7]};
    if (type >= EHP_PACKET_KERNEL_DISPATCH && type <= EHP_PACKET_BARRIER_OR)
        complete(q->cp, completion, cp_now_ns(q->cp));
    return FINISHED;
}

static void set_blocked(struct cp_queue *q, bool blocked)
{
    if (q->blocked == blocked)
        return;
    q->blocked = blocked;
    if (blocked)
        q->cp->blocked_count++;
    else
        q->cp->blocked_count--;
}

static void read_queue(struct cp_queue *q)
{
    const struct engine_ops *ops = q->cp->engine->ops;
    for (;;) {
        uint64_t write = __atomic_load_n(&q->block.write_dispatch_id, __ATOMIC_ACQUIRE);
        if (q->read >= write || (q->cp->engine->packets_take_time && q->read >= q->visible))
            break;
        union ehp_packet *slot = slot_of(q, q->read);
        uint16_t header = __atomic_load_n(&slot->header, __ATOMIC_ACQUIRE);
        unsigned type = header & 0xff;
        if (type == EHP_PACKET_INVALID)
            break;
        const bool skips = q->inactive || q->destroyed;
        if (!skips && ops->prepare && !ops->prepare(q->cp->engine, q, type))
            break; /* before it waits for others: they run meanwhile */
        if ((header >> EHP_HEADER_BARRIER_SHIFT & 1) && q->in_flight)
            break;
        union ehp_packet packet = *slot;
        enum outcome outcome = skips ? skip_packet(q, &packet, type) : start_packet(q, &packet, type);
        if (outcome == NOT_YET) {
            set_blocked(q, true);
            return;
        }
        __atomic_store_n(&slot->header, EHP_PACKET_INVALID, __ATOMIC_RELAXED);
        q->read++;
        __atomic_store_n(&q->block.read_dispatch_id, q->read, __ATOMIC_RELEASE);
    }
    set_blocked(q, false);
}

/* ---- what the simulated processor asks, between windows or with the lock held ---- */

static const union ehp_packet *blocking(struct cp_queue *q)
{
    return q->blocked && !q->inactive && !q->destroyed ? slot_of(q, q->read) : NULL;
}

static bool is_call(const union ehp_packet *packet, enum ehp_agent_function function)
{
    return (packet->header & 0xff) == EHP_PACKET_AGENT_DISPATCH && packet->agent.type == function;
}

bool cp_waits_for_value(const struct cp *cp)
{
    for (struct cp_queue *q = cp->queues; q && cp->blocked_count; q = q->next) {
        const union ehp_packet *packet = blocking(q);
        if (packet && is_call(packet, EHP_AGENT_WAIT_VALUE))
            return true;
    }
    return false;
}

bool cp_unblocked(struct cp *cp)
{
    if (!cp->blocked_count)
        return false;
    bool any = false;
    pthread_mutex_lock(&cp->lock);
    for (struct cp_queue *q = cp->queues; q && !any; q = q->next) {
        const union ehp_packet *packet = blocking(q);
        if (packet)
            any = is_call(packet, EHP_AGENT_WAIT_VALUE)
                      ? wait_value_holds(&packet->agent) != 0 /* or it faults */
                      : barrier_holds(&packet->barrier, (packet->header & 0xff) == EHP_PACKET_BARRIER_AND);
    }
    pthread_mutex_unlock(&cp->lock);
    return any;
}

bool cp_calls_ahead(struct cp *cp)
{
    bool any = false;
    pthread_mutex_lock(&cp->lock);
    for (struct cp_queue *q = cp->queues; q && !any; q = q->next) {
        uint64_t write = __atomic_load_n(&q->block.write_dispatch_id, __ATOMIC_ACQUIRE);
        for (uint64_t i = q->read; i < write && !any; i++)
            any = is_call(slot_of(q, i), EHP_AGENT_CALL);
    }
    pthread_mutex_unlock(&cp->lock);
    return any;
}

static void describe(struct cp_queue *q, char *text, size_t bytes)
{
    const union ehp_packet *packet = blocking(q);
    if (packet && is_call(packet, EHP_AGENT_WAIT_VALUE))
        snprintf(text, bytes, "a wait for the value at %#llx to change",
                 (unsigned long long)packet->agent.arg[0]);
    else if (packet)
        snprintf(text, bytes, "a wait for what another queue, or another process, has to do");
    else
        snprintf(text, bytes, "a copy or a host function");
}

uint64_t cp_work_left(struct cp *cp, char *text, size_t bytes)
{
    pthread_mutex_lock(&cp->lock);
    uint64_t work = cp->completed << 32;
    snprintf(text, bytes, "nothing");
    for (struct cp_queue *q = cp->queues; q; q = q->next)
        if (q->in_flight || q->blocked)
            describe(q, text, bytes);
    if (cp->active)
        snprintf(text, bytes, "the kernel %s, of %llu workgroups", cp->active->kernel,
                 (unsigned long long)cp->active->total);
    for (const struct cp_dispatch *d = cp->active; d; d = d->next)
        work += d->ticket + d->done + d->waves;
    pthread_mutex_unlock(&cp->lock);
    return work;
}

bool cp_queue_idle(struct cp_queue *q)
{
    pthread_mutex_lock(&q->cp->lock);
    bool written =
        q->read < __atomic_load_n(&q->block.write_dispatch_id, __ATOMIC_ACQUIRE) &&
        __atomic_load_n(&slot_of(q, q->read)->header, __ATOMIC_ACQUIRE) % 256 != EHP_PACKET_INVALID;
    bool idle = q->in_flight == 0 && !written;
    pthread_mutex_unlock(&q->cp->lock);
    return idle;
}

void cp_read_queues(struct cp *cp)
{
    /* Completing one packet may let another queue go on: look until nothing changes. */
    while (atomic_exchange(&cp->look, false))
        for (struct cp_queue *q = cp->queues; q; q = q->next)
            read_queue(q);
}
