/* SPDX-License-Identifier: MIT */
/* Packets in timing mode; see timed.h. */
#include "cp/signal.h"
#include "engine/timed/count.h"
#include "engine/timed/timed.h"
#include "vm/vm.h"

static void look_now(struct timed *timed);

static bool is_request(const struct ehp_agent_dispatch_packet *p)
{
    return (p->header & 0xff) == EHP_PACKET_AGENT_DISPATCH;
}

static void task_ends(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    struct cp_task *task = (struct cp_task *)(uintptr_t)event->word[0];
    struct cu_thread *thread = port_thread(domain);
    timed->tasks--;
    if (is_request(&task->packet))
        timed->host_wrote = timed->pause = true;
    task_run(task, &thread->guard);
    task_done(task, event->word[1]);
}

static bool known(const struct timed *timed, const void *address, struct memory_block *block)
{
    bool inside;
    return memory_find(timed->engine.cp->memory, (uint64_t)(uintptr_t)address, block, &inside) && inside;
}

static bool on_device(const struct timed *timed, const void *address)
{
    struct memory_block block;
    return known(timed, address, &block) && memory_is_device(block.kind);
}

/* Few bytes of memory that no allocator of HIP's made and nobody registered go through a buffer of the
 * runtime's that the engine can reach, which a core fills or empties before or after it. */
static uint64_t staging_ps(const struct timed *timed, const void *dst, const void *src, uint64_t bytes)
{
    struct memory_block block;
    bool staged = bytes <= timed->staged_bytes && (!known(timed, dst, &block) || !known(timed, src, &block));
    return staged ? bytes * timed->core_ps_per_kib / 1024 : 0;
}

/* A kernel of the runtime's does it. */
static uint64_t blit_ps(const struct timed *timed, uint64_t bytes, uint64_t ps_per_kib)
{
    return timed->packet_ps + bytes * ps_per_kib / 1024;
}

/* Within device memory kernels copy, between it and the host's an SDMA engine, unless the user wants none. */
static uint64_t copy_ps(const struct timed *timed, const void *dst, const void *src, uint64_t bytes)
{
    if (on_device(timed, dst) && on_device(timed, src))
        return blit_ps(timed, bytes, timed->blit_ps_per_kib);
    if (timed->no_sdma)
        return blit_ps(timed, bytes, timed->blit_host_ps_per_kib);
    return timed->sdma_start_ps + bytes * timed->sdma_ps_per_kib / 1024 + staging_ps(timed, dst, src, bytes);
}

/* Kernels fill; they move half of what copies of as many bytes do. */
static uint64_t fill_ps(const struct timed *timed, const void *dst, uint64_t bytes)
{
    return blit_ps(timed, bytes / 2,
                   on_device(timed, dst) ? timed->blit_ps_per_kib : timed->blit_host_ps_per_kib);
}

static uint64_t task_ps(const struct timed *timed, const struct ehp_agent_dispatch_packet *p)
{
    switch (p->type) {
    case EHP_AGENT_COPY:
        return copy_ps(timed, (const void *)(uintptr_t)p->arg[0], (const void *)(uintptr_t)p->arg[1],
                       p->arg[2]);
    case EHP_AGENT_FILL:
        return fill_ps(timed, (const void *)(uintptr_t)p->arg[0], p->arg[2] * p->arg[3]);
    case EHP_AGENT_COPY_3D: {
        const struct ehp_copy_3d *c = (const struct ehp_copy_3d *)(uintptr_t)p->arg[0];
        return copy_ps(timed, c->dst, c->src, c->width * c->height * c->depth);
    }
    case EHP_AGENT_FILL_3D: {
        const struct ehp_fill_3d *f = (const struct ehp_fill_3d *)(uintptr_t)p->arg[0];
        return fill_ps(timed, f->dst, f->width * f->element * f->height * f->depth);
    }
    case EHP_AGENT_PREFETCH:
        return timed->barrier_ps + vm_prefetch(timed->vm, p->arg[0], p->arg[1]);
    default:
        return 0;
    }
}

/* ---- what a packet takes before it may start ---- */

static unsigned first_xcd_of(const struct timed *timed, const struct cp_queue *queue)
{
    return queue->agent * timed->engine.cp->xcds_per_agent;
}

static void access_signal(struct timed *timed, const struct cp_queue *queue, port_fn *done,
                          const uint64_t word[3])
{
    timed_access(timed, first_xcd_of(timed, queue), true, timed_place_of(timed, queue, PLACE_SIGNAL), done,
                 word);
}

/* NULL: the queue is gone, or at another packet. */
static struct cp_queue *preparing_queue(struct timed *timed, const struct port_event *event)
{
    struct cp_queue *q = timed->engine.cp->queues;
    while (q && ((uint64_t)(uintptr_t)q != event->word[0] || q->block.hsa.id != event->word[1]))
        q = q->next;
    return q && q->preparing == event->word[2] ? q : NULL;
}

static void prepared(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    struct cp *cp = timed->engine.cp;
    timed->preparing--;
    pthread_mutex_lock(&cp->lock);
    struct cp_queue *q = preparing_queue(timed, event);
    if (q)
        q->prepared = true;
    pthread_mutex_unlock(&cp->lock);
    look_now(timed);
}

/* The firmware of the queue's ACE, which sees to one packet after another. */
static void decode(struct timed *timed, const struct port_event *fetched, uint64_t ps)
{
    struct cp *cp = timed->engine.cp;
    pthread_mutex_lock(&cp->lock);
    const struct cp_queue *q = preparing_queue(timed, fetched);
    uint64_t now = port_now_ps(timed->host), until = now;
    if (q) {
        uint64_t *front = &timed->front_ps[q->agent][q->number % timed->aces];
        until = *front = (*front > now ? *front : now) + ps;
    }
    pthread_mutex_unlock(&cp->lock);
    struct port_event *e = port_post(timed->host, port_cycle_of(timed->host, until), prepared, timed);
    memcpy(e->word, fetched->word, sizeof(e->word));
}

static void barrier_fetched(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    decode(timed, event, timed->barrier_ps);
}

static void descriptor_fetched(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    decode(timed, event, timed->packet_ps);
}

static void dispatch_fetched(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    struct cp *cp = timed->engine.cp;
    struct vm_entry entry = {0};
    uint64_t descriptor = 0;
    unsigned xcd = 0;
    pthread_mutex_lock(&cp->lock);
    const struct cp_queue *q = preparing_queue(timed, event);
    if (q) {
        descriptor = cp_next_packet(q)->dispatch.kernel_object;
        xcd = first_xcd_of(timed, q);
    }
    pthread_mutex_unlock(&cp->lock);
    if (q && vm_walk(timed->vm, descriptor, &entry))
        timed_access(timed, xcd, false, entry.physical + (descriptor - entry.base), descriptor_fetched,
                     event->word);
    else
        descriptor_fetched(domain, event); /* of a packet that cannot be run */
}

bool timed_prepare(struct engine *engine, struct cp_queue *q, unsigned type)
{
    struct timed *timed = (struct timed *)engine;
    const bool dispatch = type == EHP_PACKET_KERNEL_DISPATCH;
    if (!dispatch && type != EHP_PACKET_BARRIER_AND && type != EHP_PACKET_BARRIER_OR)
        return true; /* no ACE's: engines for copies and the host serve it */
    if (q->preparing != q->read + 1) {
        q->preparing = q->read + 1;
        q->prepared = false;
        timed->preparing++;
        const uint64_t word[3] = {(uint64_t)(uintptr_t)q, q->block.hsa.id, q->preparing};
        timed_access(timed, first_xcd_of(timed, q), false, timed_place_of(timed, q, PLACE_PACKET),
                     dispatch ? dispatch_fetched : barrier_fetched, word);
    }
    return q->prepared;
}

/* ---- the queues ---- */

static port_fn look;

static void poll(struct port_domain *domain, struct port_event *event)
{
    struct timed *timed = event->self;
    timed->polling = false;
    event->word[0] = 0;
    look(domain, event);
}

/* Reads the queues and starts what they hold. */
static void look(struct port_domain *domain, struct port_event *event)
{
    struct timed *timed = event->self;
    struct cp_queue *queue = (struct cp_queue *)(uintptr_t)event->word[0];
    struct cp *cp = timed->engine.cp;
    pthread_mutex_lock(&cp->lock);
    for (struct cp_queue *q = cp->queues; q && queue; q = q->next)
        if (q == queue && event->word[1] + 1 > q->visible)
            q->visible = event->word[1] + 1;
    cp->look = true;
    cp_read_queues(timed->engine.cp);
    for (struct cp_dispatch *d = cp->active; d; d = d->next)
        if (!d->begun) {
            d->begun = true;
            vm_sync(timed->vm);
            timed_dispatch(timed, d);
        }
    struct cp_task *tasks = timed->given;
    timed->given = NULL;
    timed->given_end = &timed->given;
    bool waits = cp_waits_for_value(timed->engine.cp);
    pthread_mutex_unlock(&cp->lock);
    if (timed->calls)
        timed->pause = true;
    for (struct cp_task *task = tasks, *next; task; task = next) {
        next = task->next;
        timed->tasks++;
        const uint64_t word[3] = {(uint64_t)(uintptr_t)task, timed_now_ns(timed)};
        if (!is_request(&task->packet)) { /* a barrier, which waits no more: its signal is left to do */
            access_signal(timed, task->queue, task_ends, word);
            continue;
        }
        uint64_t start = port_now(domain);
        struct port_event *done = port_post(
            domain, port_cycle_of(domain, port_ps_of(domain, start) + task_ps(timed, &task->packet)),
            task_ends, timed);
        done->word[0] = word[0];
        done->word[1] = word[1];
    }
    /* Without work on its way only the host can write the value. */
    if (waits && !timed->polling && (cp->active_count || timed->tasks)) {
        timed->polling = true;
        port_post(domain, port_cycle_of(domain, port_now_ps(domain) + timed->barrier_ps), poll, timed);
    }
}

void timed_look(struct timed *timed, struct cp_queue *queue, uint64_t index, uint64_t ps)
{
    struct port_event *event = port_post(timed->host, port_cycle_of(timed->host, ps), look, timed);
    event->word[0] = (uint64_t)(uintptr_t)queue;
    event->word[1] = index;
}

static void look_now(struct timed *timed)
{
    timed_look(timed, NULL, 0, port_now_ps(timed->host));
}

static void dispatch_done(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    count_finish(timed, d);
    timed_scratch_close(d);
    cp_dispatch_complete(d);
    look_now(timed);
}

void timed_dispatch_ended(struct timed *timed, struct cp_dispatch *d)
{
    const uint64_t word[3] = {(uint64_t)(uintptr_t)d};
    if (d->packet.completion_signal.handle)
        access_signal(timed, d->queue, dispatch_done, word);
    else
        port_post(timed->host, port_now(timed->host), dispatch_done, timed)->word[0] = word[0];
}

void timed_call_done(struct timed *timed, struct cp_task *task)
{
    task_done(task, timed_now_ns(timed));
}

void timed_signalled(struct engine *engine, struct cp_signal *signal)
{
    struct timed *timed = (struct timed *)engine;
    signal->completed_ps = port_now_ps(timed->host);
    look_now(timed);
}

void timed_start_task(struct engine *engine, struct cp_task *task)
{
    struct timed *timed = (struct timed *)engine;
    struct cp_task ***end = is_request(&task->packet) && task->packet.type == EHP_AGENT_CALL
                                ? &timed->calls_end
                                : &timed->given_end;
    **end = task;
    *end = &task->next;
}
