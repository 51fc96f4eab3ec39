/* SPDX-License-Identifier: MIT */
/*
 * Sampled dispatches: some workgroups in detail, the rest functionally.
 *
 * A dispatch of many more workgroups than the chip holds begins as any other.
 * Each XCD tells when as many workgroups as it holds have ended, and again after
 * as many more.  When the last two of these windows took as long as each other,
 * no more workgroups are started: what is in detail is a smaller dispatch, from
 * its start to its end, caches' release included.  Its missing middle is then run
 * functionally on memory, in all XCDs' domains side by side, and takes the time
 * that as many workgroups took in the windows, and what the release would have had
 * to do besides.
 *
 * Caches: the detailed part's release writes every dirty line back, so that the
 * functional part sees it.  Lines that the functional part makes stale are dropped
 * from the L2s afterwards; the Infinity Cache's tags stay as they were.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cp/counters.h"
#include "cp/sim.h"
#include "soc/machine.h"

enum {
    WINDOWS = 64,     /* without an even rate: in detail to the end */
    FIRST_WINDOW = 2, /* that is compared with the one before; the first fills the chip */
    TOO_FEW = 3,      /* windows that must be left to be worth it */
    AGAIN = 1000      /* cycles until workgroups that waited for others' are run again */
};
#define EVEN 0.02 /* windows that differ by no more are as long as each other */

struct sim_rest { /* of an XCD's share */
    uint64_t next, end;
    uint64_t began;                       /* by the L2's clock */
    struct mem_l2_use use;                /* of the L2, at the end of the detailed part */
    uint64_t released;                    /* cycles: when that began, then how long it took */
    struct workgroup *aside, **aside_end; /* wait for others */
};

struct sim_sample {
    /* In domain 0. */
    unsigned told[WINDOWS];   /* XCDs at the end of each window */
    double ended_ps[WINDOWS]; /* summed over them */
    uint64_t size;            /* workgroups of a window, of all XCDs */
    unsigned sized;           /* XCDs that have said how many they hold */
    bool decided;
    double ps_each, error; /* of a workgroup; relative */
    uint64_t detailed;
    uint64_t end_ns;
    unsigned rests;         /* XCDs that have run theirs */
    struct sim_rest rest[]; /* each the XCD's */
};

void sample_open(struct sim *sim, struct cp_dispatch *d)
{
    if (sim->machine->sample && !sim->machine->cp.active->next)
        d->sample = calloc(1, sizeof(*d->sample) + d->xccs * sizeof(d->sample->rest[0]));
    for (unsigned i = 0; d->sample && i < d->xccs; i++)
        d->sample->rest[i].aside_end = &d->sample->rest[i].aside;
}

void sample_close(struct cp_dispatch *d)
{
    free(d->sample);
}

void sample_begin(struct sim_xcd *x, struct cp_dispatch *d)
{
    if (d->sample)
        d->sample->rest[x->index - d->first_xcc].began = xcd_mem_l2_clock(x->mem);
}

/* ---- the rate ---- */

static void stop(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct sim_xcd *x = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct sim_share *share = x->shares;
    while (share && share->d != d)
        share = share->next;
    if (!share || d->aborted)
        return;
    struct sim_rest *rest = &d->sample->rest[x->index - d->first_xcc];
    rest->next = share->started;
    rest->end = share->total;
    sim_drop_rest(x, share);
}

static void window_told(struct port_domain *domain, struct port_event *event)
{
    struct sim *sim = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct sim_sample *s = d->sample;
    uint64_t window = event->word[1];
    if (window == 0) {
        s->size += event->word[2];
        s->sized++;
        return;
    }
    s->ended_ps[window] += (double)event->word[2];
    if (++s->told[window] < d->xccs || s->decided || s->sized < d->xccs)
        return;
    if (window <= FIRST_WINDOW || s->told[window - 1] < d->xccs || s->told[window - 2] < d->xccs ||
        (window + 1 + TOO_FEW) * s->size > d->total)
        return;
    double last = (s->ended_ps[window] - s->ended_ps[window - 1]) / d->xccs,
           before = (s->ended_ps[window - 1] - s->ended_ps[window - 2]) / d->xccs;
    s->error = fabs(last - before) / (last + before);
    if (s->error * 2 > EVEN)
        return;
    s->decided = true;
    s->ps_each = (last + before) / 2 / (double)s->size;
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++)
        port_send(domain, sim->xcd[i].domain, sim->complete_ps, stop, &sim->xcd[i])->word[0] =
            (uint64_t)(uintptr_t)d;
}

static void tell(struct sim_xcd *x, struct sim_share *share, uint64_t window, uint64_t value)
{
    struct port_event *e = port_send(x->domain, x->sim->host, x->sim->complete_ps, window_told, x->sim);
    e->word[0] = (uint64_t)(uintptr_t)share->d;
    e->word[1] = window;
    e->word[2] = value;
}

/* The chip is full, or as full as it gets: workgroups end while others are launched. */
void sample_full(struct sim_xcd *x, struct sim_share *share)
{
    if (!share->d->sample || share->window)
        return;
    share->window = x->running_count;
    tell(x, share, 0, share->window);
}

void sample_ended(struct sim_xcd *x, struct sim_share *share)
{
    share->ended++;
    if (!share->d->sample)
        return;
    if (!share->window && share->started >= 4 * (uint64_t)x->running_count)
        sample_full(x, share);
    if (share->window && share->ended % share->window == 0 && share->ended / share->window < WINDOWS)
        tell(x, share, share->ended / share->window, sim_ps(x->sim, x->index));
}

bool sample_stopped(const struct cp_dispatch *d, unsigned xcc)
{
    return d->sample && d->sample->rest[xcc - d->first_xcc].end;
}

void sample_release(struct sim_xcd *x, const struct cp_dispatch *d)
{
    struct sim_rest *rest = &d->sample->rest[x->index - d->first_xcc];
    rest->released = port_now(x->domain);
    rest->use = xcd_mem_l2_use(x->mem, rest->began);
}

void sample_released(struct sim_xcd *x, const struct cp_dispatch *d)
{
    struct sim_rest *rest = &d->sample->rest[x->index - d->first_xcc];
    rest->released = port_now(x->domain) - rest->released;
}

/*
 * How much longer the release takes when all of an XCD's share has stored: the
 * L2 is full then of lines, of which as large a part is dirty as of those that the
 * detailed part used.
 */
static double release_ps(const struct sim *sim, const struct cp_dispatch *d)
{
    double longest = 0;
    for (unsigned i = 0; i < d->xccs; i++) {
        const struct sim_rest *rest = &d->sample->rest[i];
        if (!rest->use.dirty || !rest->next)
            continue;
        double more = (double)rest->end / (double)rest->next,
               room = (double)rest->use.lines / (double)rest->use.used;
        more = more < room ? more : room;
        double ps = (double)port_ps_of(sim->xcd[d->first_xcc + i].domain, rest->released) * (more - 1);
        longest = ps > longest ? ps : longest;
    }
    return longest;
}

/* ---- the rest ---- */

static void finished(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    counters_finish(d);
    sim_dispatch_done(event->self, d);
}

static void rest_told(struct port_domain *domain, struct port_event *event)
{
    struct sim *sim = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct sim_sample *s = d->sample;
    if (++s->rests < d->xccs)
        return;
    sim->host_wrote = true; /* as far as the L2s are concerned */
    sim->pause = true;
    uint64_t end = port_cycle_of(domain, s->end_ns * 1000), now = port_now(domain);
    port_post(domain, end > now ? end : now, finished, sim)->word[0] = (uint64_t)(uintptr_t)d;
}

static bool run_one(struct sim_xcd *x, struct cp_dispatch *d, struct workgroup *wg)
{
    struct cu_thread *thread = port_thread(x->domain);
    enum workgroup_result result = workgroup_run(wg, &thread->guard, &d->aborted, false);
    thread->guard.armed = false;
    if ((result == WORKGROUP_WAITING || result == WORKGROUP_PREEMPTED) && !d->aborted)
        return false;
    if (result == WORKGROUP_FAULT)
        sim_wave_faulted(x, wg, &thread->guard);
    ace_release(x->sim->machine, d, wg);
    sim_keep_spare(x, wg);
    return true;
}

/* Takes the next workgroup of the share; NULL when there is none, or no room until others end. */
static struct workgroup *take(struct sim_xcd *x, struct cp_dispatch *d, struct sim_rest *rest)
{
    if (rest->next == rest->end)
        return NULL;
    struct workgroup *wg = sim_place(x, d, rest->next);
    rest->next += wg != NULL;
    return wg;
}

/* Once each; whether one ended. */
static bool run_aside(struct sim_xcd *x, struct cp_dispatch *d, struct sim_rest *rest)
{
    struct workgroup *list = rest->aside, *next;
    bool any = false;
    rest->aside = NULL;
    rest->aside_end = &rest->aside;
    for (struct workgroup *wg = list; wg; wg = next) {
        next = wg->next;
        if (run_one(x, d, wg)) {
            any = true;
            continue;
        }
        wg->next = NULL;
        *rest->aside_end = wg;
        rest->aside_end = &wg->next;
    }
    return any;
}

static void run_rest(struct port_domain *domain, struct port_event *event)
{
    struct sim_xcd *x = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct sim_rest *rest = &d->sample->rest[x->index - d->first_xcc];
    for (;;) {
        struct workgroup *wg = d->aborted ? NULL : take(x, d, rest);
        if (wg && !run_one(x, d, wg)) {
            wg->next = NULL;
            *rest->aside_end = wg;
            rest->aside_end = &wg->next;
        } else if (!wg && !run_aside(x, d, rest)) {
            break;
        }
    }
    if (!d->aborted && (rest->aside || rest->next < rest->end)) { /* for those of other XCDs */
        port_post(domain, port_now(domain) + AGAIN, run_rest, x)->word[0] = (uint64_t)(uintptr_t)d;
        return;
    }
    port_send(domain, x->sim->host, x->sim->complete_ps, rest_told, x->sim)->word[0] = (uint64_t)(uintptr_t)d;
}

bool sample_run_rest(struct sim *sim, struct cp_dispatch *d)
{
    struct sim_sample *s = d->sample;
    uint64_t skipped = 0;
    for (unsigned i = 0; s && i < d->xccs; i++)
        skipped += s->rest[i].end - s->rest[i].next;
    if (!skipped || d->aborted)
        return false;
    uint64_t now = sim_now_ns(sim),
             rest = (uint64_t)((s->ps_each * (double)skipped + release_ps(sim, d)) / 1000);
    s->detailed = d->total - skipped;
    s->end_ns = now + rest;
    d->stats.detailed_workgroups = s->detailed;
    d->stats.sample_error = s->error * (double)rest / (double)(s->end_ns - d->start_ns);
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++)
        port_send(sim->host, sim->xcd[i].domain, sim->packet_ps, run_rest, &sim->xcd[i])->word[0] =
            (uint64_t)(uintptr_t)d;
    return true;
}
