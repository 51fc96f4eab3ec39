/* SPDX-License-Identifier: MIT */
/*
 * Sampled dispatches: some workgroups in detail, the rest functionally.
 *
 * A dispatch of many more workgroups than the chip holds begins as any other.
 * Each XCD tells when an eighth of as many workgroups as it holds have ended, and
 * again after as many more.  Workgroups that were started together end together, so
 * these marks come in a rhythm.  Its period is looked for, and when two of them took
 * as long as each other, and the L2s do not fill any more, the rate is known.
 *
 * A dispatch that takes more lines into the Infinity Cache than that holds changes
 * its rate when it is full, as it then writes to memory what it pushes out.  Its tags
 * are therefore made what they will be then (fabric_age()), and the rate of the time
 * after that is measured the same way.
 *
 * Then no more workgroups are started: what is in detail is a smaller dispatch, from
 * its start to its end, caches' release included.  Its missing middle is then run
 * functionally on memory, in all XCDs' domains side by side, and takes the time that
 * as many workgroups take at the one rate and at the other, and what the release
 * would have had to do besides.
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
#include "fabric/fabric.h"
#include "soc/machine.h"

enum {
    PARTS = 8,           /* of as many workgroups as the chip holds, from mark to mark */
    MARKS = 128 * PARTS, /* without an even rate until then: in detail to the end */
    SHORTEST = PARTS,    /* periods that are tried, in marks */
    LONGEST = 14,
    FILLED = 8 * PARTS, /* marks after which L2s that still fill are not waited for */
    SECOND = 36,        /* marks that the second rate is taken from: it varies more */
    NOTES = 32,
    TOO_FEW = 3 * PARTS, /* marks that must be left to be worth it */
    IODS = 16,
    AGAIN = 1000 /* cycles until workgroups that waited for others' are run again */
};
#define EVEN     0.03 /* periods that differ by no more are as long as each other */
#define STEADY   0.01 /* of the L2s' lines, that may become used in a period */
#define TURNOVER 2    /* of the Infinity Cache's lines come, and those of before are gone */

struct sim_rest { /* of an XCD's share */
    uint64_t next, end;
    uint64_t began;                       /* by the L2's clock */
    struct mem_l2_use use;                /* of the L2, at the end of the detailed part */
    uint64_t released;                    /* cycles: when that began, then how long it took */
    struct workgroup *aside, **aside_end; /* wait for others */
};

struct sim_sample {
    /* In domain 0. */
    unsigned told[MARKS];   /* XCDs at each mark */
    double ended_ps[MARKS]; /* summed over them, */
    double room[MARKS];     /* as the parts of their L2s that nothing is in */
    uint64_t size;          /* workgroups from mark to mark, of all XCDs */
    unsigned sized;         /* XCDs that have said how many they hold */
    enum sample_phase { FIRST_RATE, ASKED, SECOND_RATE, DECIDED } phase;
    unsigned last;            /* mark */
    unsigned period;          /* of the marks */
    bool filling;             /* the L2s still fill */
    unsigned aged;            /* mark at which the Infinity Cache was filled, 0: it was not */
    double ps_each[2], error; /* of a workgroup, until the Infinity Cache is full and after; relative */
    double turn;              /* workgroups until then */
    uint64_t soon_ps;         /* how long messages take, the least that there is */
    struct cp_dispatch *d;    /* NULL: it is over */
    unsigned asked, told_by;  /* IODs that have not answered; that have said what their caches took in */
    struct sample_iod {       /* the IOD's: */
        struct fabric_use note[NOTES]; /* at the last marks, by their number */
        double lines, filled, dirty; /* there; come in two periods, and the part of those that was written */
    } iod[IODS];
    uint64_t detailed;
    uint64_t end_ns;
    unsigned rests;         /* XCDs that have run theirs */
    struct sim_rest rest[]; /* each the XCD's */
};

void sample_open(struct sim *sim, struct cp_dispatch *d)
{
    if (sim->machine->sample && !sim->machine->cp.active->next)
        d->sample = calloc(1, sizeof(*d->sample) + d->xccs * sizeof(d->sample->rest[0]));
    if (d->sample) {
        d->sample->d = d;
        d->sample->soon_ps = fabric_lookahead_ps(&sim->machine->chip);
    }
    for (unsigned i = 0; d->sample && i < d->xccs; i++)
        d->sample->rest[i].aside_end = &d->sample->rest[i].aside;
}

void sample_close(struct cp_dispatch *d)
{
    if (d->sample && d->sample->asked)
        d->sample->d = NULL;
    else
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

static void decide(struct sim *sim, struct cp_dispatch *d)
{
    d->sample->phase = DECIDED;
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++)
        port_send(sim->host, sim->xcd[i].domain, d->sample->soon_ps, stop, &sim->xcd[i])->word[0] =
            (uint64_t)(uintptr_t)d;
}

/*
 * The time of a workgroup by two periods until the mark `last`, none of it before `from`, of
 * the second rate by all that there are; false when two are not as long as each other.  The period is that
 * after which the times between marks are most alike.
 */
static bool find_rate(struct sim_sample *s, const struct cp_dispatch *d, unsigned from, unsigned last,
                      double *ps_each)
{
    const double *t = s->ended_ps;
    double least = INFINITY;
    unsigned period = 0;
    for (unsigned p = SHORTEST; p <= LONGEST && from + 2 * p <= last; p++) {
        double differs = 0;
        for (unsigned i = last; i > last - p; i--)
            differs += fabs((t[i] - t[i - 1]) - (t[i - p] - t[i - p - 1]));
        differs /= t[last] - t[last - 2 * p];
        if (differs < least) {
            least = differs;
            period = p;
        }
    }
    if (!period)
        return false;
    s->period = period;
    double now = t[last] - t[last - period], before = t[last - period] - t[last - 2 * period];
    double error = fabs(now - before) / (now + before);
    s->error = error > s->error || s->phase == FIRST_RATE ? error : s->error;
    unsigned periods = s->phase == SECOND_RATE ? (last - from) / period : 2;
    *ps_each = (t[last] - t[last - periods * period]) / d->xccs / (periods * period) / (double)s->size;
    double took = s->room[last - period] - s->room[last],
           took_before = s->room[last - 2 * period] - s->room[last - period];
    bool steady = took + took_before <= STEADY * d->xccs;
    s->filling = !steady && 2 * took > took_before;
    return error * 2 <= EVEN && (steady || last >= FILLED);
}

/* ---- the Infinity Cache ---- */

/* Of events to IODs and back, whose word[0] is the sample, which may outlive the dispatch for them. */
enum iod_asks { NOTE /* now, at a mark */, TELL /* since a mark */, AGE /* by lines */ };

static void answered(struct port_domain *domain, struct port_event *event);

static void asked(struct port_domain *domain, struct port_event *event)
{
    struct sim *sim = event->self;
    struct sim_sample *s = (struct sim_sample *)(uintptr_t)event->word[0];
    unsigned index = (unsigned)event->word[1];
    struct sample_iod *iod = &s->iod[index];
    struct fabric_use use;
    fabric_read_use(sim->fabric, index, &use);
    switch ((enum iod_asks)event->word[2]) {
    case NOTE:
        iod->note[event->word[3] % NOTES] = use;
        break;
    case TELL: {
        const struct fabric_use *from = &iod->note[event->word[3] % NOTES];
        uint64_t filled = use.filled - from->filled, written = use.written - from->written;
        iod->lines = (double)use.lines;
        iod->filled = (double)filled;
        iod->dirty = written < filled ? (double)written / (double)filled : 1;
        break;
    }
    case AGE:
        fabric_age(sim->fabric, index, event->word[3], iod->dirty);
        break;
    }
    struct port_event *e = port_send(domain, sim->host, s->soon_ps, answered, sim);
    e->word[0] = event->word[0];
    e->word[2] = event->word[2];
}

static void ask(struct sim *sim, struct sim_sample *s, unsigned iod, enum iod_asks what, uint64_t number)
{
    struct port_event *e = port_send(sim->host, fabric_domain(sim->fabric, iod), s->soon_ps, asked, sim);
    e->word[0] = (uint64_t)(uintptr_t)s;
    e->word[1] = iod;
    e->word[2] = what;
    e->word[3] = number;
    s->asked++;
}

static void ask_all(struct sim *sim, struct sim_sample *s, enum iod_asks what, unsigned mark)
{
    for (unsigned i = 0; i < fabric_iods(sim->fabric); i++)
        ask(sim, s, i, what, mark);
}

/* What the Infinity Cache takes in is known: whether there is a second rate, and how to get there. */
static void fill_cache(struct sim *sim, struct sim_sample *s)
{
    struct cp_dispatch *d = s->d;
    double filled = 0, lines = 0, size = (double)s->size, total = (double)d->total;
    unsigned iods = fabric_iods(sim->fabric);
    for (unsigned i = 0; i < iods; i++) {
        filled += s->iod[i].filled;
        lines += s->iod[i].lines;
    }
    double workgroups = 2 * s->period * size, rest = total - s->last * size;
    s->turn = filled > 0 ? lines * workgroups / filled : INFINITY;
    if (total <= s->turn) {
        decide(sim, d);
        return;
    }
    if ((s->last + PARTS + SECOND + TOO_FEW) * s->size > d->total) {
        s->phase = DECIDED; /* to stay in detail */
        return;
    }
    s->phase = SECOND_RATE;
    s->aged = s->last;
    for (unsigned i = 0; i < iods; i++) {
        double more = s->iod[i].filled / workgroups * rest, most = TURNOVER * s->iod[i].lines;
        ask(sim, s, i, AGE, (uint64_t)(more < most ? more : most));
    }
}

static void answered(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct sim_sample *s = (struct sim_sample *)(uintptr_t)event->word[0];
    s->asked--;
    if (!s->d) {
        if (!s->asked)
            free(s);
    } else if (event->word[2] == TELL && ++s->told_by == fabric_iods(((struct sim *)event->self)->fabric)) {
        fill_cache(event->self, s);
    }
}

/* ---- marks ---- */

static void marked(struct sim *sim, struct cp_dispatch *d, unsigned mark)
{
    struct sim_sample *s = d->sample;
    s->last = mark;
    switch (s->phase) {
    case FIRST_RATE:
        if ((mark + TOO_FEW) * s->size > d->total)
            break;
        ask_all(sim, s, NOTE, mark);
        if (find_rate(s, d, PARTS, mark, &s->ps_each[0])) {
            s->phase = ASKED;
            ask_all(sim, s, TELL, mark - 2 * s->period);
        }
        break;
    case SECOND_RATE:
        if (mark >= s->aged + PARTS + SECOND) {
            find_rate(s, d, s->aged + PARTS, mark, &s->ps_each[1]);
            decide(sim, d);
        }
        break;
    default:
        break;
    }
}

static void mark_told(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct sim *sim = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct sim_sample *s = d->sample;
    unsigned mark = (unsigned)event->word[1];
    if (mark == 0) {
        s->size += event->word[2];
        s->sized++;
        return;
    }
    s->ended_ps[mark] += (double)event->word[2];
    s->room[mark] += (double)event->word[3] * 1e-6;
    if (++s->told[mark] == d->xccs && s->sized == d->xccs && s->told[mark - 1] == (mark > 1 ? d->xccs : 0))
        marked(sim, d, mark);
}

static void tell(struct sim_xcd *x, struct sim_share *share, uint64_t mark, uint64_t value)
{
    struct port_event *e = port_send(x->domain, x->sim->host, share->d->sample->soon_ps, mark_told, x->sim);
    e->word[0] = (uint64_t)(uintptr_t)share->d;
    e->word[1] = mark;
    e->word[2] = value;
    e->word[3] = (uint64_t)(xcd_mem_l2_free(x->mem) * 1e6);
}

/* The chip is full, or as full as it gets: workgroups end while others are launched. */
void sample_full(struct sim_xcd *x, struct sim_share *share)
{
    if (!share->d->sample || share->part)
        return;
    share->part = x->running_count < PARTS ? 1 : x->running_count / PARTS;
    tell(x, share, 0, share->part);
}

void sample_ended(struct sim_xcd *x, struct sim_share *share)
{
    share->ended++;
    if (!share->d->sample)
        return;
    if (!share->part && share->started >= 4 * (uint64_t)x->running_count)
        sample_full(x, share);
    if (share->part && share->ended % share->part == 0 && share->ended / share->part < MARKS)
        tell(x, share, share->ended / share->part, sim_ps(x->sim, x->index));
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
    for (unsigned i = 0; d->sample->filling && i < d->xccs; i++) {
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
    s->detailed = d->total - skipped;
    double late = 0; /* those that would end after the Infinity Cache is full, and have not */
    if (s->aged) {
        late = (double)d->total - s->turn - ((double)s->detailed - (double)s->aged * (double)s->size);
        late = late > 0 ? late < (double)skipped ? late : (double)skipped : 0;
    }
    double early = (double)skipped - late;
    uint64_t now = sim_now_ns(sim),
             rest = (uint64_t)((s->ps_each[0] * early + s->ps_each[1] * late + release_ps(sim, d)) / 1000);
    s->end_ns = now + rest;
    d->stats.detailed_workgroups = s->detailed;
    d->stats.sample_error = s->error * (double)rest / (double)(s->end_ns - d->start_ns);
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++)
        port_send(sim->host, sim->xcd[i].domain, sim->packet_ps, run_rest, &sim->xcd[i])->word[0] =
            (uint64_t)(uintptr_t)d;
    return true;
}
