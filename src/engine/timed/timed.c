/* SPDX-License-Identifier: MIT */
/* Opening and closing timing mode, and what it offers; see timed.h. */
#include "engine/timed/timed.h"

#include <assert.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cond.h"
#include "base/thread.h"
#include "ccd/ccd.h"
#include "chip/node.h"
#include "engine/timed/count.h"
#include "fabric/fabric.h"
#include "sdma/sdma.h"
#include "vm/vm.h"
#include "wave/aperture.h"
#include "wave/fault.h"

static_assert(1 + NODE_MAX_PACKAGES * (CHIP_MAX_DIES + FABRIC_NODE_IODS) <= PORT_DOMAINS,
              "a domain for each die of a node's packages, and the packet processor's");

/* ---- its threads ---- */

struct thread {
    struct cu_thread cu;
    struct exec_code_cache cache;
    struct fault_thread *fault;
};

static struct thread *thread_new(struct timed *timed)
{
    struct thread *t = calloc(1, sizeof(*t));
    if (!t)
        abort();
    t->cu.guard.code = timed->engine.cp->code;
    t->cu.guard.cache = &t->cache;
    const struct memory *memory = timed->engine.cp->memory;
    t->cu.guard.mem_arena = memory->xnack ? 0 : memory->arena;
    t->cu.guard.mem_mask = memory->xnack ? APERTURE_HOST_MASK : ~(memory->arena_bytes - 1);
    t->fault = fault_thread_enter(&t->cu.guard);
    if (!t->fault)
        abort();
    return t;
}

static void thread_free(struct thread *t)
{
    fault_thread_leave(t->fault);
    free(t);
}

/* The first of them is entered for each run; meanwhile the program may have put handlers of its own. */
static void *enter(void *context, unsigned index)
{
    struct timed *timed = context;
    if (index)
        return thread_new(timed);
    fault_install();
    return timed->own;
}

static void leave(void *context, void *thread)
{
    const struct timed *timed = context;
    if (thread != timed->own)
        thread_free(thread);
}

/* ---- what it offers ---- */

static struct timed *timed_of(const struct engine *engine)
{
    return (struct timed *)(uintptr_t)engine;
}

uint64_t timed_now_ns(const struct timed *timed)
{
    return port_now_ps(timed->host) / 1000;
}

static uint64_t now_ns(const struct engine *engine)
{
    return timed_now_ns(timed_of(engine));
}

static uint64_t wave_cycles(const struct engine *engine, unsigned xcd)
{
    return port_now(timed_of(engine)->xcd[xcd].domain);
}

static uint64_t wave_ns(const struct engine *engine, unsigned xcd)
{
    return port_ps_of(timed_of(engine)->xcd[xcd].domain, wave_cycles(engine, xcd)) / 1000;
}

static bool admit(struct engine *engine, struct cp_dispatch *d, char *why, size_t bytes)
{
    bool room = timed_scratch_open(timed_of(engine), d);
    if (!room)
        snprintf(why, bytes, "no memory for its scratch, %u bytes a work-item, of one workgroup on each XCD",
                 d->launch.scratch_bytes);
    return room;
}

static void forget(struct engine *engine, struct cp_dispatch *d)
{
    (void)engine;
    count_close(d);
    sample_close(d);
    gap_close(d);
}

static void completed(struct engine *engine)
{
    (void)engine; /* what follows is an event: timed_signalled() and the like post it */
}

static void interrupted(struct engine *engine)
{
    timed_of(engine)->interrupted = true;
}

static void run_cores(struct engine *engine, struct ehp_cpu_work *work)
{
    struct timed *timed = timed_of(engine);
    const uint64_t before = timed_program_ps(engine);
    work->faults = 0;
    for (unsigned i = 0; i < work->ranges; i++)
        work->faults +=
            vm_touch(timed->vm, work->package, (uint64_t)(uintptr_t)work->base[i], work->bytes[i]);
    if (work->faults)
        timed_spend(engine, (uint64_t)(cpu_fault_us(engine->cp->chip, work->faults, work->cores) * 1e6));
    if (work->operation != EHP_CPU_TOUCH || work->instructions)
        timed_run_job(timed, work);
    work->ns = timed_program_ps(engine) / 1000 - before / 1000;
}

static void forked(struct engine *engine)
{
    vm_forked(timed_of(engine)->vm);
}

/* ---- life ---- */

/* Domains: the packet processor's, all XCDs', all IODs', all CCDs'. */
static bool open_packages(struct timed *timed, unsigned nps)
{
    const struct chip *c = timed->engine.cp->chip;
    const unsigned iods = chip_get(c, CHIP_iod_count), ccds = chip_get(c, CHIP_ccd_count),
                   first_ccd = 1 + timed->xcds + timed->packages * iods;
    struct fabric *fabrics[EHP_PACKAGES_MAX];
    for (unsigned i = 0; i < timed->packages; i++) {
        const struct fabric_place_in_node place = {
            .package = i, .packages = timed->packages, .shift = vm_package_shift(c)};
        struct timed_package *p = &timed->package[i];
        p->fabric = fabrics[i] = fabric_open_package(c, timed->port, 1 + timed->xcds + i * iods, nps, &place);
        if (!p->fabric)
            return false;
    }
    if (timed->packages > 1)
        fabric_join(fabrics, timed->engine.cp->node);
    fabric_join_host(fabrics, timed->packages, c, timed->host);
    vm_start(timed->vm, timed->host, timed->way_ps, fabrics[0]);
    for (unsigned i = 0; i < timed->packages; i++) {
        struct timed_package *p = &timed->package[i];
        p->ccds = ccds_open(c, timed->port, first_ccd + i * ccds, p->fabric, timed->vm);
        p->sdma = sdma_open(c, timed->host, p->fabric, timed->vm);
        if (!p->ccds || !p->sdma)
            return false;
    }
    return true;
}

static int open_machine(struct timed *timed, const struct engine_options *options)
{
    struct cp *cp = timed->engine.cp;
    const struct chip *c = cp->chip;
    timed->wave_cycles = c->value[CHIP_cp_wave];
    timed->workgroup_cycles = c->value[CHIP_cp_workgroup];
    timed->packet_ps = (uint64_t)(c->value[CHIP_cp_packet] * 1e3);
    timed->barrier_ps = (uint64_t)(c->value[CHIP_cp_barrier] * 1e3);
    timed->staged_bytes = (uint64_t)c->value[CHIP_sdma_staged];
    timed->core_ps_per_kib = (uint64_t)(1024 * 1e3 / c->value[CHIP_core_copy]);
    timed->sdma_start_ps = (uint64_t)(c->value[CHIP_sdma_start] * 1e3);
    timed->wait_ps = (uint64_t)(c->value[CHIP_host_wake] * 1e3);
    timed->packages = cp->node->packages;
    timed->package_xcds = chip_get(c, CHIP_xcd_count);
    timed->package_cores = chip_get(c, CHIP_ccd_count) * chip_get(c, CHIP_ccd_cores);
    timed->xcds = timed->packages * timed->package_xcds;
    timed->aces = chip_get(c, CHIP_xcd_aces);
    timed->switch_ps = (uint64_t)(c->value[CHIP_cp_queue_switch] * 1e3);
    timed->way_ps = fabric_lookahead_ps(c); /* the shortest time between any two domains */
    const unsigned dies = timed->package_xcds + chip_get(c, CHIP_iod_count) + chip_get(c, CHIP_ccd_count);
    const struct port_hooks hooks = {.enter = enter, .leave = leave, .context = timed};
    timed->port = port_open(1 + timed->packages * dies, timed->way_ps, options->threads, &hooks);
    timed->rates = cu_rates_make(c);
    timed->vm = vm_open(c, cp->memory);
    timed->xcd = calloc(timed->xcds, sizeof(*timed->xcd));
    if (!timed->port || !timed->rates || !timed->vm || !timed->xcd)
        return EHP_ERR_NO_MEMORY;
    timed->host = port_domain(timed->port, 0);
    if (!open_packages(timed, options->nps))
        return EHP_ERR_NO_MEMORY;
    arena_take(&timed->accesses.arena, 0);
    arena_take(&timed->thread_arena, 0);
    for (unsigned i = 0; i < timed->xcds; i++) {
        int status = timed_xcd_open(timed, &timed->xcd[i], i);
        if (status != EHP_OK)
            return status;
    }
    return EHP_OK;
}

struct opening {
    struct timed *timed;
    const struct engine_options *options;
    int status;
    sem_t opened;
};

/* What the machine consists of, its threads too, is in the heap of its own thread: in the program's, how much
 * that is would move what the program allocates. */
static void *open_and_run(void *argument)
{
    struct opening *opening = argument;
    struct timed *timed = opening->timed;
    struct thread *own = timed->own = thread_new(timed);
    const int status = opening->status = open_machine(timed, opening->options);
    sem_post(&opening->opened); /* the last use of it */
    if (status == EHP_OK)
        timed_main(timed);
    thread_free(own);
    return NULL;
}

static int start(struct timed *timed, const struct engine_options *options)
{
    struct opening opening = {.timed = timed, .options = options};
    sem_init(&opening.opened, 0, 0);
    timed->started = thread_start(&timed->thread, open_and_run, &opening) == 0;
    if (!timed->started)
        opening.status = EHP_ERR_OUT_OF_RESOURCES;
    while (timed->started && sem_wait(&opening.opened) != 0) /* signals of the program's */
        ;
    sem_destroy(&opening.opened);
    if (opening.status != EHP_OK)
        return opening.status;
    int status = caller_start(&timed->caller, &timed->engine);
    holes_fill(&timed->holes);
    return status;
}

static void stop(struct engine *engine)
{
    struct timed *timed = timed_of(engine);
    timed_stop_threads(timed);
    caller_stop(&timed->caller); /* its function may wait for simulated time */
    pthread_mutex_lock(&timed->lock);
    timed->quit = true;
    pthread_cond_signal(&timed->wake);
    pthread_cond_broadcast(&timed->moved);
    pthread_mutex_unlock(&timed->lock);
    if (timed->started)
        pthread_join(timed->thread, NULL);
    for (unsigned i = 0; timed->xcd && i < timed->xcds; i++)
        timed_xcd_close(&timed->xcd[i]);
    for (unsigned i = 0; i < timed->packages; i++) {
        ccds_close(timed->package[i].ccds);
        sdma_close(timed->package[i].sdma);
    }
    for (unsigned i = 0; i < timed->packages; i++)
        fabric_close(timed->package[i].fabric);
    vm_close(timed->vm);
    port_close(timed->port);
    holes_free(&timed->holes);
    free(timed->xcd);
    timed_scratch_free(timed);
    arena_free(&timed->accesses.arena);
    arena_free(&timed->thread_arena);
    free(timed->rates);
    free(timed->bells);
    timed_touch_close(timed->touch);
    task_free_all(timed->calls);
    task_free_all(timed->given);
    task_free_all(timed->called);
    pthread_mutex_destroy(&timed->lock);
    pthread_cond_destroy(&timed->wake);
    pthread_cond_destroy(&timed->moved);
}

static void close_engine(struct engine *engine)
{
    free(timed_of(engine));
}

int timed_engine_open(struct cp *cp, const struct engine_options *options, struct engine **out)
{
    static const struct engine_ops ops = {
        .stop = stop,
        .close = close_engine,
        .admit = admit,
        .forget = forget,
        .prepare = timed_prepare,
        .start_task = timed_start_task,
        .signalled = timed_signalled,
        .completed = completed,
        .called = timed_called,
        .ring = timed_ring,
        .interrupted = interrupted,
        .wait = timed_wait,
        .now_ns = now_ns,
        .program_ps = timed_program_ps,
        .wave_cycles = wave_cycles,
        .wave_ns = wave_ns,
        .spend = timed_spend,
        .arrive = timed_arrive,
        .outside = timed_outside,
        .run_cores = run_cores,
        .read_core = timed_read_core,
        .read_part = timed_read_part,
        .read_traffic = timed_read_traffic,
        .open_thread = timed_open_thread,
        .thread_cpu = timed_thread_cpu,
        .close_thread = timed_close_thread,
        .enter_thread = timed_enter_thread,
        .leave_thread = timed_leave_thread,
        .let_go = timed_let_go,
        .hold = timed_hold,
        .sleep = timed_sleep,
        .own_thread = timed_own_thread,
        .forked = forked,
        .unmapped = timed_unmapped,
        .still = timed_still,
        .moved = timed_moved,
    };
    struct timed *timed = calloc(1, sizeof(*timed));
    if (!timed)
        return EHP_ERR_NO_MEMORY;
    timed->engine =
        (struct engine){.ops = &ops, .cp = cp, .packets_take_time = true, .gws_later = &timed->gws_later};
    timed->sample = options->sample;
    timed->calls_end = &timed->calls;
    timed->given_end = &timed->given;
    timed->touch = timed_touch_open(cp->memory);
    timed->untold_ns = TIMED_UNTOLD_NS;
    pthread_mutex_init(&timed->lock, NULL);
    cond_init(&timed->wake);
    cond_init(&timed->moved);
    *out = cp->engine = &timed->engine;
    return start(timed, options);
}
