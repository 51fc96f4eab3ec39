/* SPDX-License-Identifier: MIT */
/* Programs that have a core in turns, as an operating system lets them. */
#include <assert.h>
#include <string.h>

#include "ccd/internal.h"

uint64_t core_cycle_of(const struct core *c, double at)
{
    uint64_t now = port_now(c->ccd->domain), cycle = (uint64_t)at;
    cycle += (double)cycle < at;
    return cycle > now ? cycle : now;
}

static void take(struct core *c, struct core_program *program)
{
    assert(!c->program && c->first == c->next && !c->stores && c->blocked == WAITER_NONE);
    c->program = program;
    c->has_op = c->at_end = c->over = c->waits = c->strayed = false;
    c->at = ccd_now(c->ccd);
    c->began_ps = port_now_ps(c->ccd->domain);
    memset(c->load, 0, sizeof(c->load));
    memset(c->depth, 0, sizeof(c->depth));
    if (program->begins && !program->begun)
        program->begins(program);
    program->begun = true;
    core_go_on(c);
}

static void wait_behind(struct core *c, struct core_program *program)
{
    program->behind = NULL;
    *(c->waiting ? c->waiting_end : &c->waiting) = program;
    c->waiting_end = &program->behind;
}

static void switched(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct core *c = event->self;
    c->switching = false;
    if (c->program)
        return; /* who had it came back at once */
    struct core_program *first = c->waiting;
    c->waiting = first->behind;
    c->slice_end = ccd_now(c->ccd) + c->ccd->all->slice;
    c->counters.switches++;
    take(c, first);
}

/* The core is idle, and others wait.  A call of the library's that takes no time to speak of lets nobody in
 * between: who made it is back before this. */
static void switch_soon(struct core *c)
{
    if (c->switching)
        return;
    c->switching = true;
    port_post(c->ccd->domain, core_cycle_of(c, ccd_now(c->ccd) + c->ccd->all->switch_time), switched, c);
}

void core_begin(struct core *c, struct core_program *program)
{
    const double now = ccd_now(c->ccd);
    program->asker.package = fabric_package(c->ccd->all->fabric);
    const bool goes_on = program == c->last && now < c->slice_end;
    if (!c->program && (goes_on || !c->waiting)) {
        c->slice_end = goes_on ? c->slice_end : now + c->ccd->all->slice;
        take(c, program);
        return;
    }
    wait_behind(c, program);
    if (!c->program)
        switch_soon(c);
}

void core_over(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct core *c = event->self;
    struct core_program *program = c->program;
    uint64_t ps = port_now_ps(c->ccd->domain);
    c->program = NULL;
    c->counters.busy_ps += ps - c->began_ps;
    c->counters.chained += c->deepest;
    c->deepest = 0;
    c->last = c->preempted ? NULL : program;
    if (c->preempted)
        wait_behind(c, program);
    c->preempted = false;
    if (c->waiting)
        switch_soon(c);
    if (c->last)
        program->ended(program, ps);
}
