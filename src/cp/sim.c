/* SPDX-License-Identifier: MIT */
/* Packets in timing mode; see sim.h. */
#include "base/thread.h"
#include "cp/sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "wave/aperture.h"
#include "wave/fault.h"
#include "fabric/fabric.h"
#include "hsa/hsa.h"
#include "soc/machine.h"
#include "vm/vm.h"

static_assert(1 + CHIP_MAX_XCDS + CHIP_MAX_IODS <= PORT_DOMAINS,
              "a domain for each, and the packet processor's");

uint64_t sim_now_ns(const struct sim *sim)
{
    return port_now_ps(sim->host) / 1000;
}

uint64_t sim_clock(const struct sim *sim, unsigned xcd)
{
    return port_now(sim->xcd[xcd].domain);
}

uint64_t sim_ps(const struct sim *sim, unsigned xcd)
{
    return port_ps_of(sim->xcd[xcd].domain, sim_clock(sim, xcd));
}

/* ---- packets, in domain 0 ---- */

static bool is_request(const struct ehp_agent_dispatch_packet *p)
{
    return (p->header & 0xff) == EHP_PACKET_AGENT_DISPATCH;
}

static void task_done(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct sim *sim = event->self;
    struct cp_task *task = (struct cp_task *)(uintptr_t)event->word[0];
    struct cu_thread *thread = port_thread(domain);
    sim->tasks--;
    if (is_request(&task->packet))
        sim->host_wrote = sim->pause = true;
    cp_run_task(sim->machine, task, &thread->guard, event->word[1]);
}

static bool on_device(const struct sim *sim, const void *address)
{
    struct memory_block block;
    bool inside;
    return memory_find(&sim->machine->memory, (uint64_t)(uintptr_t)address, &block, &inside) && inside &&
           memory_is_device(block.kind);
}

/* A kernel of the runtime's does it. */
static uint64_t blit_ps(const struct sim *sim, uint64_t bytes, uint64_t ps_per_kib)
{
    return sim->packet_ps + sim->complete_ps + bytes * ps_per_kib / 1024;
}

/* Within device memory kernels copy, between it and the host's an SDMA engine, unless the user wants none. */
static uint64_t copy_ps(const struct sim *sim, const void *dst, const void *src, uint64_t bytes)
{
    if (on_device(sim, dst) && on_device(sim, src))
        return blit_ps(sim, bytes, sim->blit_ps_per_kib);
    if (sim->machine->no_sdma)
        return blit_ps(sim, bytes, sim->blit_host_ps_per_kib);
    return sim->sdma_start_ps + bytes * sim->sdma_ps_per_kib / 1024;
}

/* Kernels fill; they move half of what copies of as many bytes do. */
static uint64_t fill_ps(const struct sim *sim, const void *dst, uint64_t bytes)
{
    return blit_ps(sim, bytes / 2, on_device(sim, dst) ? sim->blit_ps_per_kib : sim->blit_host_ps_per_kib);
}

static uint64_t task_ps(const struct sim *sim, const struct ehp_agent_dispatch_packet *p)
{
    if (!is_request(p))
        return sim->barrier_ps;
    switch (p->type) {
    case EHP_AGENT_COPY:
        return copy_ps(sim, (const void *)(uintptr_t)p->arg[0], (const void *)(uintptr_t)p->arg[1],
                       p->arg[2]);
    case EHP_AGENT_FILL:
        return fill_ps(sim, (const void *)(uintptr_t)p->arg[0], p->arg[2] * p->arg[3]);
    case EHP_AGENT_COPY_3D: {
        const struct ehp_copy_3d *c = (const struct ehp_copy_3d *)(uintptr_t)p->arg[0];
        return copy_ps(sim, c->dst, c->src, c->width * c->height * c->depth);
    }
    case EHP_AGENT_FILL_3D: {
        const struct ehp_fill_3d *f = (const struct ehp_fill_3d *)(uintptr_t)p->arg[0];
        return fill_ps(sim, f->dst, f->width * f->element * f->height * f->depth);
    }
    case EHP_AGENT_PREFETCH:
        return sim->barrier_ps + vm_prefetch(sim->vm, p->arg[0], p->arg[1]);
    default:
        return 0;
    }
}

static void look(struct port_domain *domain, struct port_event *event);

static void poll(struct port_domain *domain, struct port_event *event)
{
    struct sim *sim = event->self;
    sim->polling = false;
    event->word[0] = 0;
    look(domain, event);
}

/* Reads the queues and starts what they hold. */
static void look(struct port_domain *domain, struct port_event *event)
{
    struct sim *sim = event->self;
    struct cp_queue *queue = (struct cp_queue *)(uintptr_t)event->word[0];
    struct cp *cp = &sim->machine->cp;
    pthread_mutex_lock(&cp->lock);
    for (struct cp_queue *q = cp->queues; q && queue; q = q->next)
        if (q == queue && event->word[1] + 1 > q->visible)
            q->visible = event->word[1] + 1;
    cp->look = true;
    cp_read_queues(sim->machine);
    for (struct cp_dispatch *d = cp->active; d; d = d->next)
        if (!d->begun) {
            d->begun = true;
            vm_sync(sim->vm);
            sim_dispatch(sim, d);
        }
    struct cp_task *tasks = cp->tasks;
    cp->tasks = NULL;
    cp->tasks_end = &cp->tasks;
    cp->task_count = 0;
    bool waits = cp_waits_for_value(sim->machine);
    pthread_mutex_unlock(&cp->lock);
    if (sim->calls)
        sim->pause = true;
    for (struct cp_task *task = tasks, *next; task; task = next) {
        next = task->next;
        uint64_t start = port_now(domain);
        struct port_event *done =
            port_post(domain, port_cycle_of(domain, port_ps_of(domain, start) + task_ps(sim, &task->packet)),
                      task_done, sim);
        done->word[0] = (uint64_t)(uintptr_t)task;
        done->word[1] = sim_now_ns(sim);
        sim->tasks++;
    }
    /* Without work on its way only the host can write the value. */
    if (waits && !sim->polling && (cp->active_count || sim->tasks)) {
        sim->polling = true;
        port_post(domain, port_cycle_of(domain, port_now_ps(domain) + sim->packet_ps), poll, sim);
    }
}

void sim_look(struct sim *sim, struct cp_queue *queue, uint64_t index, uint64_t ps)
{
    struct port_event *event = port_post(sim->host, port_cycle_of(sim->host, ps), look, sim);
    event->word[0] = (uint64_t)(uintptr_t)queue;
    event->word[1] = index;
}

static void look_now(struct sim *sim)
{
    sim_look(sim, NULL, 0, port_now_ps(sim->host));
}

void sim_dispatch_done(struct sim *sim, struct cp_dispatch *d)
{
    sim_scratch_close(d);
    cp_dispatch_complete(sim->machine, d);
    look_now(sim);
}

void sim_call_done(struct sim *sim, struct cp_task *task)
{
    struct cp *cp = &sim->machine->cp;
    pthread_mutex_lock(&cp->lock);
    cp_packet_done(task->queue, task->packet.completion_signal, sim_now_ns(sim));
    pthread_mutex_unlock(&cp->lock);
    free(task);
}

void sim_completed(struct sim *sim, struct hsa_signal *signal)
{
    signal->completed_ps = port_now_ps(sim->host);
    look_now(sim);
}

/* ---- life ---- */

struct thread {
    struct cu_thread cu;
    struct exec_code_cache cache;
    struct fault_thread *fault;
};

static void *enter(void *context, unsigned index)
{
    (void)index;
    struct sim *sim = context;
    struct thread *t = calloc(1, sizeof(*t));
    if (!t)
        abort();
    t->cu.guard.code = &sim->machine->code;
    t->cu.guard.cache = &t->cache;
    const struct memory *memory = &sim->machine->memory;
    t->cu.guard.mem_arena = memory->xnack ? 0 : memory->arena;
    t->cu.guard.mem_mask = memory->xnack ? APERTURE_HOST_MASK : ~(memory->arena_bytes - 1);
    t->fault = fault_thread_enter(&t->cu.guard);
    if (!t->fault)
        abort();
    return t;
}

static void leave(void *context, void *thread)
{
    (void)context;
    struct thread *t = thread;
    fault_thread_leave(t->fault);
    free(t);
}

int sim_open(struct ehp_machine *m, unsigned threads)
{
    struct sim *sim = calloc(1, sizeof(*sim));
    if (!sim)
        return EHP_ERR_NO_MEMORY;
    m->cp.sim = sim;
    sim->machine = m;
    sim->calls_end = &sim->calls;
    sim->touch = sim_touch_open(&m->memory);
    pthread_mutex_init(&sim->lock, NULL);
    pthread_cond_init(&sim->wake, NULL);
    pthread_cond_init(&sim->moved, NULL);
    const struct chip *c = &m->chip;
    sim->wave_cycles = c->value[CHIP_cp_wave];
    sim->packet_ps = (uint64_t)(c->value[CHIP_cp_packet] * 1e3);
    sim->barrier_ps = (uint64_t)(c->value[CHIP_cp_barrier] * 1e3);
    sim->complete_ps = (uint64_t)(c->value[CHIP_cp_complete] * 1e3);
    sim->sdma_start_ps = (uint64_t)(c->value[CHIP_sdma_start] * 1e3);
    sim->sdma_ps_per_kib = (uint64_t)(1024 * 1e3 / c->value[CHIP_sdma_bandwidth]);
    sim->blit_ps_per_kib = (uint64_t)(1024 * 1e3 / c->value[CHIP_blit_bandwidth]);
    sim->blit_host_ps_per_kib = (uint64_t)(1024 * 1e3 / c->value[CHIP_blit_host]);
    sim->wait_ps = (uint64_t)(c->value[CHIP_host_wake] * 1e3);
    sim->query_ps = (uint64_t)(c->value[CHIP_core_memory_latency] * 1e3);
    sim->xcds = chip_get(c, CHIP_xcd_count);
    sim->aces = chip_get(c, CHIP_xcd_aces);
    sim->switch_ps = (uint64_t)(c->value[CHIP_cp_queue_switch] * 1e3);
    unsigned iods = chip_get(c, CHIP_iod_count);
    uint64_t lookahead = fabric_lookahead_ps(c); /* the shortest time between any two domains */
    lookahead = sim->packet_ps < lookahead ? sim->packet_ps : lookahead;
    lookahead = sim->complete_ps < lookahead ? sim->complete_ps : lookahead;
    const struct port_hooks hooks = {.enter = enter, .leave = leave, .context = sim};
    sim->port = port_open(1 + sim->xcds + iods, lookahead, threads, &hooks);
    sim->rates = cu_rates_make(c);
    sim->vm = vm_open(c, &m->memory);
    sim->xcd = calloc(sim->xcds, sizeof(*sim->xcd));
    if (!sim->port || !sim->rates || !sim->vm || !sim->xcd)
        return EHP_ERR_NO_MEMORY;
    sim->host = port_domain(sim->port, 0);
    sim->fabric = fabric_open(c, sim->port, 1 + sim->xcds, m->nps);
    if (!sim->fabric)
        return EHP_ERR_NO_MEMORY;
    vm_start(sim->vm, sim->host, lookahead, sim->fabric);
    for (unsigned i = 0; i < sim->xcds; i++) {
        int status = sim_xcd_open(sim, &sim->xcd[i], i);
        if (status != EHP_OK)
            return status;
    }
    if (thread_start(&sim->thread, sim_main, sim) != 0)
        return EHP_ERR_OUT_OF_RESOURCES;
    sim->started = true;
    return EHP_OK;
}

static void free_tasks(struct cp_task *list)
{
    for (struct cp_task *t = list, *next; t; t = next) {
        next = t->next;
        free(t);
    }
}

void sim_close(struct ehp_machine *m)
{
    struct sim *sim = m->cp.sim;
    if (!sim)
        return;
    pthread_mutex_lock(&sim->lock);
    sim->quit = true;
    pthread_cond_signal(&sim->wake);
    pthread_cond_broadcast(&sim->moved);
    pthread_mutex_unlock(&sim->lock);
    if (sim->started)
        pthread_join(sim->thread, NULL);
    for (unsigned i = 0; sim->xcd && i < sim->xcds; i++)
        sim_xcd_close(&sim->xcd[i]);
    fabric_close(sim->fabric);
    vm_close(sim->vm);
    port_close(sim->port);
    free(sim->xcd);
    sim_scratch_free(sim);
    free(sim->rates);
    free(sim->bells);
    sim_touch_close(sim->touch);
    free_tasks(sim->calls);
    free_tasks(sim->called);
    pthread_mutex_destroy(&sim->lock);
    pthread_cond_destroy(&sim->wake);
    pthread_cond_destroy(&sim->moved);
    free(sim);
    m->cp.sim = NULL;
}
