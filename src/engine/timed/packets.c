/* SPDX-License-Identifier: MIT */
/* Packets in timing mode; see timed.h. */
#include <stdlib.h>

#include "base/pattern.h"
#include "cp/signal.h"
#include "engine/timed/count.h"
#include "engine/timed/timed.h"
#include "sdma/sdma.h"
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
    timed->tasks--;
    task_done((struct cp_task *)(uintptr_t)event->word[0], event->word[1]);
}

static void start_waiting(struct timed *timed, struct cp_task *task, uint64_t ps)
{
    struct port_domain *host = timed->host;
    struct port_event *done = port_post(host, port_cycle_of(host, port_now_ps(host) + ps), task_ends, timed);
    done->word[0] = (uint64_t)(uintptr_t)task;
    done->word[1] = timed_now_ns(timed);
}

/* ---- copies and fills ---- */

struct copy {
    struct sdma_job job; /* first */
    struct timed *timed;
    struct cp_task *task;
    uint64_t start_ns;
};

static void copy_ends(struct sdma_job *job)
{
    struct copy *c = (struct copy *)job;
    c->timed->tasks--;
    if (job->skipped)
        c->timed->host_wrote = c->timed->pause = true;
    if (job->faulted)
        task_fault(c->task, job->fault_address, job->fault_write);
    task_done(c->task, c->start_ns);
    free(c);
}

static bool is_alone(const struct sdma_job *job)
{
    const struct timed *timed = ((const struct copy *)job)->timed;
    return timed->tasks == 1 && timed->engine.cp->active_count == 0 && !timed->unreleased;
}

/* No allocator of HIP's made it, and nobody registered it. */
static bool pageable(const struct timed *timed, uint64_t address)
{
    struct memory_block block;
    bool inside;
    return !memory_find(timed->engine.cp->memory, address, &block, &inside) || !inside;
}

/* Few bytes of such memory go through a buffer of the runtime's that the engine can reach, which a core fills
 * or empties before or after it. It reads and writes each of them, and STREAM counts both. */
static uint64_t staging_ps(const struct timed *timed, const struct sdma_job *job)
{
    uint64_t bytes = job->width * job->height * job->depth;
    bool staged = !job->fills && bytes <= timed->staged_bytes &&
                  (pageable(timed, job->to.base) || pageable(timed, job->from.base));
    return staged ? 2 * bytes * timed->core_ps_per_kib / 1024 : 0;
}

static struct sdma_side side_of(const struct timed *timed, const void *base, uint64_t pitch, uint64_t slice)
{
    const uint64_t address = (uint64_t)(uintptr_t)base;
    return (struct sdma_side){.base = address,
                              .pitch = pitch,
                              .slice = slice,
                              .unknown = pageable(timed, address) && !timed->engine.cp->memory->xnack};
}

static struct sdma_job job_of(const struct timed *timed, const struct ehp_agent_dispatch_packet *p)
{
    const void *first = (const void *)(uintptr_t)p->arg[0], *second = (const void *)(uintptr_t)p->arg[1];
    const struct ehp_copy_3d *c = first;
    const struct ehp_fill_3d *f = first;
    switch (p->type) {
    case EHP_AGENT_COPY:
        return (struct sdma_job){.to = side_of(timed, first, 0, 0),
                                 .from = side_of(timed, second, 0, 0),
                                 .width = p->arg[2],
                                 .height = 1,
                                 .depth = 1};
    case EHP_AGENT_FILL:
        return (struct sdma_job){.fills = true,
                                 .pattern = pattern_of(p->arg[1], p->arg[2]),
                                 .to = side_of(timed, first, 0, 0),
                                 .width = p->arg[2] * p->arg[3],
                                 .height = 1,
                                 .depth = 1};
    case EHP_AGENT_COPY_3D:
        return (struct sdma_job){.to = side_of(timed, c->dst, c->dst_pitch, c->dst_slice),
                                 .from = side_of(timed, c->src, c->src_pitch, c->src_slice),
                                 .width = c->width,
                                 .height = c->height,
                                 .depth = c->depth};
    default:
        return (struct sdma_job){.fills = true,
                                 .pattern = pattern_of(f->value, f->element),
                                 .to = side_of(timed, f->dst, f->pitch, f->slice),
                                 .width = f->width * f->element,
                                 .height = f->height,
                                 .depth = f->depth};
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
    if (q && vm_walk(timed->vm, xcd / timed->package_xcds, descriptor, &entry))
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

static unsigned package_of(const struct timed *timed, const struct cp_queue *queue)
{
    return memory_package(timed->engine.cp->memory, queue->agent);
}

/* Each partition has engines of its own, and its queues take them in turn, with their first copies. */
static unsigned engine_of(const struct timed *timed, struct cp_queue *queue)
{
    struct cp *cp = timed->engine.cp;
    if (!queue->engine) {
        unsigned last = 0;
        pthread_mutex_lock(&cp->lock);
        for (const struct cp_queue *q = cp->queues; q; q = q->next)
            if (q->agent == queue->agent && q->engine > last)
                last = q->engine;
        pthread_mutex_unlock(&cp->lock);
        queue->engine = last + 1;
    }
    const unsigned agents = timed->engine.cp->memory->package_agents,
                   all = sdma_engines(timed->package[package_of(timed, queue)].sdma),
                   each = all > agents ? all / agents : 1;
    return (queue->agent % agents * each + queue->engine % each) % all;
}

static void start_copy(struct timed *timed, struct cp_task *task)
{
    gap_disturb(timed);
    struct copy *c = malloc(sizeof(*c));
    if (!c)
        abort(); /* some hundred bytes: the process is beyond help */
    *c = (struct copy){
        .job = job_of(timed, &task->packet), .timed = timed, .task = task, .start_ns = timed_now_ns(timed)};
    c->job.start_ps = timed->sdma_start_ps + staging_ps(timed, &c->job);
    c->job.alone = is_alone;
    c->job.done = copy_ends;
    sdma_submit(timed->package[package_of(timed, task->queue)].sdma, engine_of(timed, task->queue), &c->job);
}

static void start_task(struct timed *timed, struct cp_task *task)
{
    const struct ehp_agent_dispatch_packet *p = &task->packet;
    timed->tasks++;
    if (!is_request(p)) { /* a barrier, which waits no more: its signal is left to do */
        const uint64_t word[3] = {(uint64_t)(uintptr_t)task, timed_now_ns(timed)};
        access_signal(timed, task->queue, task_ends, word);
    } else if (p->type == EHP_AGENT_PREFETCH) {
        const unsigned package =
            memory_package(timed->engine.cp->memory, (unsigned)p->arg[2]) % timed->packages;
        start_waiting(timed, task, timed->barrier_ps + vm_prefetch(timed->vm, package, p->arg[0], p->arg[1]));
    } else {
        start_copy(timed, task);
    }
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
        start_task(timed, task);
    }
    /* Without work on its way only the host can write the value. */
    if (waits && !timed->polling && (cp->active_count || timed->tasks)) {
        timed->polling = true;
        port_post(domain, port_cycle_of(domain, port_now_ps(domain) + timed->barrier_ps), poll, timed);
    }
}

static void look_once(struct port_domain *domain, struct port_event *event)
{
    struct timed *timed = event->self;
    timed->looks--;
    look(domain, event);
}

void timed_look(struct timed *timed, struct cp_queue *queue, uint64_t index, uint64_t ps)
{
    struct port_event *event = port_post(timed->host, port_cycle_of(timed->host, ps), look_once, timed);
    timed->looks++;
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
    timed->unreleased |= (d->packet.header >> EHP_HEADER_RELEASE_SHIFT & 3) != EHP_SCOPE_SYSTEM;
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
