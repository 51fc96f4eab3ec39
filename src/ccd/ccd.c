/* SPDX-License-Identifier: MIT */
/*
 * A CCD: the third cache, which takes in what the cores' second ones push out, and what it asks of the
 * fabric. A line is in one core's caches for writing, or in several for reading; the first that reads one
 * gets it for itself when nobody else in the package has it.
 *
 * The fabric's lines are two of a core's, of which the probe filter knows each.
 */
#include "ccd/internal.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 3 }; /* under way: the fabric has not more to do than this meanwhile */

/* ---- what it waits for ---- */

static struct l3_miss **bucket_of(struct ccd *ccd, uint64_t line)
{
    return &ccd->bucket[(line ^ line / L3_BUCKETS) % L3_BUCKETS];
}

static struct l3_miss *find_miss(struct ccd *ccd, uint64_t line)
{
    struct l3_miss *m = *bucket_of(ccd, line);
    while (m && m->line != line)
        m = m->next;
    return m;
}

static struct l3_miss *new_miss(struct ccd *ccd)
{
    struct l3_miss *m = arena_take(&ccd->arena, sizeof(*m));
    m->ccd = ccd;
    m->request.agent = ccd->agent;
    m->request.half = m->request.in_place = true;
    m->request.self = ccd;
    return m;
}

/* Of one that was used before, what the fabric does not set anew is as at first: to clear all of it takes the
 * host as long as a quarter of what else there is to do here. */
static struct l3_miss *take_miss(struct ccd *ccd, uint64_t line, double at)
{
    struct l3_miss *m = ccd->spare;
    if (m)
        ccd->spare = m->next;
    else
        m = new_miss(ccd);
    struct fabric_request *r = &m->request;
    m->line = line;
    m->ready_ps = port_ps_of(ccd->domain, (uint64_t)at);
    m->cores = m->past = 0;
    r->past = r->alone = false;
    r->mask[0] = r->mask[1] = 0;
    r->halves = (uint8_t)(1U << line % 2);
    r->physical = line * CORE_LINE & ~(uint64_t)(FABRIC_LINE - 1);
    r->line = r->physical;
    return m;
}

static void give(struct l3_miss *m)
{
    m->next = m->ccd->spare;
    m->ccd->spare = m;
}

static void send(struct l3_miss *m)
{
    struct ccd *ccd = m->ccd;
    uint64_t now = port_now_ps(ccd->domain);
    m->request.after_ps = m->ready_ps > now ? m->ready_ps - now : 0;
    m->request.first = ccd->under_way <= FEW;
    fabric_submit(ccd->all->fabric, &m->request);
}

static void submit(struct l3_miss *m)
{
    struct ccd *ccd = m->ccd;
    if (ccd->under_way < ccd->all->misses) {
        ccd->under_way++;
        send(m);
        return;
    }
    m->queued = NULL;
    *ccd->queue_end = m;
    ccd->queue_end = &m->queued;
}

static void place_is_free(struct ccd *ccd)
{
    struct l3_miss *m = ccd->queue;
    ccd->under_way--;
    if (!m)
        return;
    ccd->queue = m->queued;
    if (!ccd->queue)
        ccd->queue_end = &ccd->queue;
    ccd->under_way++;
    send(m);
}

static void written(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct l3_miss *m = (struct l3_miss *)(uintptr_t)event->word[0];
    bool counted = m->request.mask[0] | m->request.mask[1];
    struct ccd *ccd = m->ccd;
    const uint32_t core = m->cores;
    give(m);
    if (counted)
        place_is_free(ccd);
    if (core)
        core_past(&ccd->core[__builtin_ctz(core)], true);
}

static void filled(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct l3_miss *m = (struct l3_miss *)(uintptr_t)event->word[0], **link;
    struct ccd *ccd = m->ccd;
    for (link = bucket_of(ccd, m->line); *link != m;)
        link = &(*link)->next;
    *link = m->next;
    unsigned flags = m->request.kind == FABRIC_OWN || m->request.alone ? TAG_OURS : 0;
    if (flags && !(m->cores & (m->cores - 1)))
        flags |= TAG_OWNED;
    if (m->request.dirty)
        flags |= TAG_DIRTY;
    uint64_t line = m->line;
    uint32_t cores = m->cores, past = m->past;
    give(m);
    place_is_free(ccd);
    for (; cores; cores &= cores - 1)
        core_filled(&ccd->core[__builtin_ctz(cores)], line, ccd_now(ccd), flags);
    for (; past; past &= past - 1)
        core_past(&ccd->core[__builtin_ctz(past)], false);
}

/* ---- the cache ---- */

/* Whether the CCD may have the other half of the fabric's line, or will. */
static bool has_other_half(struct ccd *ccd, uint64_t line)
{
    return *held_of(ccd, line ^ 1) || tags_peek(&ccd->l3, line ^ 1) || find_miss(ccd, line ^ 1);
}

/* A second cache that has the line too, with what the third knew of it; NULL: none has. */
static uint64_t *left_to_core(struct ccd *ccd, uint64_t entry)
{
    uint64_t *e = NULL;
    if (!*held_of(ccd, entry >> TAG_SHIFT))
        return NULL;
    for (unsigned i = 0; i < ccd->all->cores && !e; i++)
        e = tags_peek(&ccd->core[i].l2, entry >> TAG_SHIFT);
    if (e)
        *e |= entry & (TAG_DIRTY | TAG_OURS);
    return e;
}

static void give_up(struct core *core, uint64_t entry)
{
    struct ccd *ccd = core->ccd;
    uint64_t line = entry >> TAG_SHIFT;
    bool other = has_other_half(ccd, line), dirty = entry & TAG_DIRTY;
    if (ccd->quiet || !(entry & TAG_OURS) || (!dirty && other) || left_to_core(ccd, entry))
        return;
    struct l3_miss *m = take_miss(ccd, line, ccd_now(ccd));
    m->request.kind = FABRIC_WRITE;
    m->request.halves |= other ? 0 : 3;
    m->request.mask[line & 1] = dirty ? UINT64_MAX : 0;
    m->request.done = written;
    if (dirty)
        submit(m);
    else
        send(m);
}

void ccd_victim(struct core *core, uint64_t entry)
{
    struct ccd *ccd = core->ccd;
    uint64_t *e = tags_find(&ccd->l3, entry >> TAG_SHIFT);
    if (e) {
        *e |= entry & (TAG_DIRTY | TAG_OURS);
        return;
    }
    uint64_t victim = tags_put(&ccd->l3, entry >> TAG_SHIFT, entry & (TAG_OWNED | TAG_OURS | TAG_DIRTY));
    if (victim)
        give_up(core, victim);
}

/* What its caches have of a line that is not all written goes with it. */
bool ccd_write_past(struct core *core, const struct core_combined *what)
{
    struct ccd *ccd = core->ccd;
    const uint64_t line = what->line;
    struct l3_miss *m = find_miss(ccd, line);
    double at = what->at;
    if (m) {
        m->past |= 1U << core->index;
        return false;
    }
    uint64_t was = tags_drop(&ccd->l3, line);
    for (unsigned i = 0; i < ccd->all->cores && *held_of(ccd, line); i++) {
        double until = core_finish(&ccd->core[i], line);
        uint64_t dropped = core_drop(&ccd->core[i], line);
        until = dropped ? until : 0;
        at = until > at ? until : at;
        was |= dropped;
    }
    m = take_miss(ccd, line, at);
    m->request.kind = FABRIC_WRITE;
    m->request.past = true;
    m->request.mask[line & 1] = was & TAG_DIRTY ? UINT64_MAX : what->mask;
    m->request.line = what->address & ~(uint64_t)(FABRIC_LINE - 1);
    m->request.done = written;
    m->cores = 1U << core->index;
    submit(m);
    return true;
}

/* What other cores have of a line: their flags together.  `exclusive`: they lose it; else it is nobody's. */
static unsigned ask_peers(struct core *core, uint64_t line, bool own, bool exclusive, double *when)
{
    struct ccd *ccd = core->ccd;
    unsigned flags = 0;
    for (unsigned i = 0; i < ccd->all->cores && *held_of(ccd, line) > own; i++) {
        struct core *peer = &ccd->core[i];
        uint64_t *e = peer == core ? NULL : tags_peek(&peer->l2, line), *above;
        if (!e)
            continue;
        const double until = core_finish(peer, line);
        *when = until > *when ? until : *when;
        if (exclusive) {
            flags |= (unsigned)core_drop(peer, line) & (TAG_VALID | TAG_OURS | TAG_DIRTY);
            continue;
        }
        flags |= (unsigned)*e & (TAG_VALID | TAG_OURS);
        *e &= ~(uint64_t)TAG_OWNED;
        if ((above = tags_peek(&peer->l1, line)))
            *above &= ~(uint64_t)TAG_OWNED;
    }
    return flags;
}

bool ccd_fetch(struct core *core, uint64_t line, uint64_t address, bool exclusive, bool is_table, double at,
               struct fetched *out)
{
    struct ccd *ccd = core->ccd;
    const struct ccds *all = ccd->all;
    double now = ccd_now(ccd);
    at = at > now ? at : now;
    const uint64_t here = tags_drop(&ccd->l3, line);
    unsigned flags = (unsigned)here & (TAG_VALID | TAG_OWNED | TAG_OURS | TAG_DIRTY);
    out->when = at + all->l3_latency - all->l2_latency;
    out->flags = flags;
    if (flags && (!exclusive || flags & TAG_OWNED))
        return true;
    unsigned peers = ask_peers(core, line, out->own, exclusive, &out->when);
    flags |= peers | ((unsigned)out->own & (TAG_OURS | TAG_DIRTY));
    out->when += peers ? all->peer : 0;
    out->flags = exclusive ? flags | TAG_OWNED : flags & ~TAG_OWNED;
    if (exclusive ? flags & TAG_OURS : peers)
        return true;
    struct l3_miss *m = find_miss(ccd, line);
    if (!m) {
        m = take_miss(ccd, line, at);
        m->request.kind = exclusive ? FABRIC_OWN : FABRIC_READ;
        m->request.alone = !exclusive && !is_table;
        m->request.done = filled;
        m->request.line = (address & ~(uint64_t)(FABRIC_LINE - 1));
        m->next = *bucket_of(ccd, line);
        *bucket_of(ccd, line) = m;
        submit(m);
    }
    m->cores |= 1U << core->index;
    return false;
}

/* ---- probes ---- */

static void answer(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct ccd *ccd = event->self;
    fabric_probe_answer(ccd->all->fabric, (struct fabric_probe *)(uintptr_t)event->word[0]);
}

static void probed(struct port_domain *domain, struct port_event *event)
{
    struct ccd *ccd = event->self;
    struct fabric_probe *p = (struct fabric_probe *)(uintptr_t)event->word[0];
    /* Tags alone: what a load that finds its line there takes, without the way through the second cache. */
    uint64_t when = port_now(domain) + (uint64_t)(ccd->all->l3_latency - ccd->all->l2_latency);
    p->in_place = true;
    p->owner = false; /* the answer need not wait for bytes on their way, which may wait for it */
    p->keeps = p->shares;
    for (unsigned half = 0; half < FABRIC_LINE / CORE_LINE; half++) {
        if (!(p->halves >> half & 1))
            continue;
        uint64_t line = line_of(p->physical) + half, was = tags_share(&ccd->l3, line);
        if (!p->shares)
            tags_drop(&ccd->l3, line);
        for (unsigned i = 0; i < ccd->all->cores; i++) {
            uint64_t until = (uint64_t)core_finish(&ccd->core[i], line);
            uint64_t core = p->shares ? core_share(&ccd->core[i], line) : core_drop(&ccd->core[i], line);
            when = core && until > when ? until : when;
            ccd->core[i].counters.probes += core != 0;
            was |= core;
        }
        p->mask[half] = was & TAG_DIRTY ? UINT64_MAX : 0;
        p->gives = p->asker && was;
    }
    fabric_probe_take(ccd->all->fabric, p);
    port_post(domain, when, answer, ccd)->word[0] = (uint64_t)(uintptr_t)p;
}

/* ---- the package's ---- */

unsigned ccds_cores(const struct ccds *all)
{
    return all->count * all->cores;
}

struct port_domain *ccds_domain(const struct ccds *all, unsigned core)
{
    return all->ccd[core % all->count].domain;
}

static struct core *core_of(const struct ccds *all, unsigned number)
{
    return &all->ccd[number % all->count].core[number / all->count];
}

static void begin(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct core_program *program = (struct core_program *)(uintptr_t)event->word[0];
    program->begun = false;
    core_begin(event->self, program);
}

/* Its cores take memory of the host's only when they have something to do. */
static void open_cores(struct ccd *ccd)
{
    const struct ccds *all = ccd->all;
    const double *v = all->chip->value;
    tags_open(&ccd->l3, (uint64_t)v[CHIP_ccd_l3] / CORE_LINE, (uint32_t)v[CHIP_ccd_l3_ways], &ccd->arena);
    ccd->held = arena_take(&ccd->arena, HELD * sizeof(*ccd->held));
    ccd->core = arena_take(&ccd->arena, all->cores * sizeof(*ccd->core));
    for (unsigned k = 0; k < all->cores; k++)
        core_open(ccd, k, all->chip);
}

void ccds_begin(struct ccds *all, unsigned number, struct core_program *program, uint64_t ps)
{
    if (!all->ccd[number % all->count].core)
        open_cores(&all->ccd[number % all->count]);
    struct core *core = core_of(all, number);
    struct port_domain *domain = core->ccd->domain;
    port_post(domain, port_cycle_of(domain, ps), begin, core)->word[0] = (uint64_t)(uintptr_t)program;
}

void ccds_read_counters(const struct ccds *all, unsigned core, struct core_counters *out)
{
    const struct ccd *ccd = &all->ccd[core % all->count];
    *out = ccd->core ? core_of(all, core)->counters : (struct core_counters){0};
}

static void open_ccd(struct ccds *all, unsigned i, struct port_domain *domain)
{
    struct ccd *ccd = &all->ccd[i];
    ccd->all = all;
    ccd->index = i;
    ccd->domain = domain;
    ccd->queue_end = &ccd->queue;
    ccd->agent = fabric_agent(all->fabric, FABRIC_CCD, i);
    arena_take(&ccd->arena, 0);
    port_set_clock(domain, all->chip->value[CHIP_core_clock]);
    fabric_attach(all->fabric, ccd->agent, domain, probed, ccd);
}

struct ccds *ccds_open(const struct chip *chip, struct port *port, unsigned first_domain,
                       struct fabric *fabric, struct vm *vm)
{
    struct arena arena = {0};
    struct ccds *all = arena_take(&arena, sizeof(*all));
    const double *v = chip->value;
    all->arena = arena;
    all->chip = chip;
    all->fabric = fabric;
    all->vm = vm;
    all->generation = vm_generation_word(vm);
    all->count = chip_get(chip, CHIP_ccd_count);
    all->cores = chip_get(chip, CHIP_ccd_cores);
    all->ghz = v[CHIP_core_clock] / 1e3;
    all->ipc = v[CHIP_core_ipc];
    all->l1_latency = v[CHIP_core_l1_latency] * all->ghz;
    all->l2_latency = v[CHIP_core_l2_latency] * all->ghz;
    all->l3_latency = v[CHIP_core_l3_latency] * all->ghz;
    all->pass = CORE_LINE / v[CHIP_core_l2_width];
    all->tlb2_latency = v[CHIP_core_tlb2_latency] * all->ghz;
    all->locked = v[CHIP_core_locked] * all->ghz;
    all->forward = v[CHIP_core_forward] * all->ghz;
    all->rename = v[CHIP_core_rename] * all->ghz;
    all->mispredict = v[CHIP_core_mispredict] * all->ghz;
    all->slice = v[CHIP_core_slice] * 1e3 * all->ghz;
    all->switch_time = v[CHIP_core_switch] * 1e3 * all->ghz;
    all->peer = v[CHIP_ccd_peer] * all->ghz;
    all->window = chip_get(chip, CHIP_core_window);
    all->loads = chip_get(chip, CHIP_core_loads);
    all->stores = chip_get(chip, CHIP_core_stores);
    all->l1_misses = chip_get(chip, CHIP_core_l1_misses);
    all->l2_misses = chip_get(chip, CHIP_core_l2_misses);
    all->misses = chip_get(chip, CHIP_ccd_misses);
    all->streams = chip_get(chip, CHIP_core_streams);
    all->prefetch = chip_get(chip, CHIP_core_prefetch);
    for (unsigned i = 0; i < all->count; i++)
        open_ccd(all, i, port_domain(port, first_domain + i));
    return all;
}

void ccds_close(struct ccds *all)
{
    if (!all)
        return;
    for (unsigned i = 0; i < all->count; i++)
        arena_free(&all->ccd[i].arena);
    struct arena arena = all->arena;
    arena_free(&arena);
}
