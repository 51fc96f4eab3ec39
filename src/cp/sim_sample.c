/* SPDX-License-Identifier: MIT */
/*
 * Sampled dispatches: some workgroups in detail, the rest functionally.
 *
 * A dispatch of many more workgroups than the chip holds begins as any other.  Each
 * XCD tells in even intervals how many instructions it has issued.  When those that
 * were started first have ended, this has a rhythm, as workgroups that were started
 * together load and store together.  Its period is looked for, and the rate is known
 * when the periods differ little enough (good_enough()).
 *
 * Caches too large to wait for are made what they will be: the L2s are filled with lines
 * of nobody when the first workgroups have ended (xcd_mem_age()), and the Infinity Cache,
 * if the dispatch takes more lines into it than it holds, when the rate before that
 * is known (fabric_age()).  It then writes to memory what it pushes out, so that a second rate is
 * measured, for the time after that.
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
    TICKS = 512, /* that are remembered: each is then as long as two */
    TICK = 128,  /* cycles of the first */
    PERIODS = 2, /* the least that a rate is taken from */
    TOO_FEW = 2, /* times what the chip holds must be left to be worth it */
    IODS = 16,
    AGAIN = 1000 /* cycles until workgroups that waited for others' are run again */
};
enum sample_span { SETTLE, MEASURE, SETTLE_AGAIN, MEASURE_AGAIN };
#define SHORTEST 0.7  /* period, and the longest, */
#define LONGEST  1.4  /* of the time in which what the chip holds ends */
#define EVEN     0.04 /* as exact as this */
#define DRIFT    0.08 /* halves that differ by more: it has begun too early */
#define USUAL 0.03 /* what the time differs by in which what the chip holds ends: few show less by chance */
#define SMALL 100  /* times what the chip holds */
#define TURNOVER 2 /* of the Infinity Cache's lines come, and those of before are gone */

struct sim_rest { /* of an XCD's share */
    uint64_t next, end;
    uint64_t began;                       /* by the L2's clock */
    uint64_t instructions;                /* issued when it began, then those of the detailed part */
    bool aged;                            /* the L2 was filled */
    struct mem_l2_use use;                /* of the L2, at the end of the detailed part */
    uint64_t released;                    /* cycles: when that began, then how long it took */
    struct workgroup *aside, **aside_end; /* wait for others */
};

struct sim_sample {
    /* In domain 0. */
    struct sample_tick {
        double ps, instructions; /* of all XCDs */
        uint64_t started, ended; /* workgroups */
        unsigned told;           /* XCDs */
    } tick[TICKS + 1];
    enum sample_phase { START, FILLED, FIRST_RATE, ASKED, AGED, SECOND_RATE, DECIDED } phase;
    unsigned from;              /* tick from which on a rate is taken */
    uint64_t holds;             /* workgroups, at most */
    bool restarted;             /* as it drifted: once */
    bool aged;                  /* the Infinity Cache was filled, */
    uint64_t aged_ended;        /* when so many workgroups had ended */
    double rate[2], error[2];   /* instructions in a picosecond until the Infinity Cache is full and after */
    double turn;                /* workgroups until then */
    uint64_t soon_ps;           /* how long messages take, the least that there is */
    struct cp_dispatch *d;      /* NULL: it is over */
    unsigned asked, told_by;    /* IODs that have not answered; that have said what their caches took in */
    uint64_t window;            /* workgroups that had ended then, and at last those that did meanwhile, */
    uint64_t launched;          /* and that had been started then */
    struct sample_iod {         /* the IOD's: */
        struct fabric_use note; /* when the rate began to be taken */
        double lines, filled, dirty; /* there; come since, and the part of those that was written; */
        double fresh;                /* come since the dispatch began */
    } iod[IODS];
    uint64_t detailed;
    uint64_t end_ns;
    unsigned rests;         /* XCDs that have run theirs */
    struct sim_rest rest[]; /* each the XCD's */
};

static struct sim_rest *rest_of(const struct sim_xcd *x, const struct cp_dispatch *d)
{
    return &d->sample->rest[x->index - d->first_xcc];
}

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

/* ---- in the XCDs ---- */

/* Of an event that is the dispatch's, if that is not over: word[0] it, word[1] its number. */
static struct sim_share *share_of(struct sim_xcd *x, const struct port_event *event)
{
    const struct cp_dispatch *d = (const struct cp_dispatch *)(uintptr_t)event->word[0];
    struct sim_share *share = x->shares;
    while (share && !(share->d == d && d->serial == event->word[1]))
        share = share->next;
    return share;
}

static void tick_told(struct port_domain *domain, struct port_event *event);

static void post_tick(struct sim_xcd *x, const struct cp_dispatch *d, unsigned number, uint64_t cycles,
                      port_fn *fn)
{
    struct port_event *e = port_post(x->domain, port_now(x->domain) + cycles, fn, x);
    e->word[0] = (uint64_t)(uintptr_t)d;
    e->word[1] = d->serial;
    e->word[2] = number;
    e->word[3] = cycles;
}

static void tick(struct port_domain *domain, struct port_event *event)
{
    struct sim_xcd *x = event->self;
    const struct sim_share *share = share_of(x, event);
    if (!share || sample_stopped(share->d, x->index))
        return;
    unsigned number = (unsigned)event->word[2];
    uint64_t cycles = event->word[3];
    struct port_event *e = port_send(domain, x->sim->host, share->d->sample->soon_ps, tick_told, x);
    e->word[0] = event->word[0];
    e->word[1] = number;
    e->word[2] = sim_ps(x->sim, x->index);
    e->word[3] = x->cu->counters.instructions - rest_of(x, share->d)->instructions;
    e = port_send(domain, x->sim->host, share->d->sample->soon_ps, tick_told, x);
    e->word[0] = event->word[0];
    e->word[1] = number | UINT64_C(1) << 63;
    e->word[2] = share->started;
    e->word[3] = share->total - share->left;
    bool full = number == TICKS;
    post_tick(x, share->d, (full ? number / 2 : number) + 1, full ? 2 * cycles : cycles, tick);
}

void sample_begin(struct sim_xcd *x, struct cp_dispatch *d)
{
    if (!d->sample)
        return;
    struct sim_rest *rest = rest_of(x, d);
    rest->began = xcd_mem_l2_clock(x->mem);
    rest->instructions = x->cu->counters.instructions;
    post_tick(x, d, 1, TICK, tick);
}

/* The L2 becomes as full as the share will make it. */
static void fill_l2(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct sim_xcd *x = event->self;
    const struct sim_share *share = share_of(x, event);
    uint64_t ended = share ? share->total - share->left : 0;
    if (!ended || share->aborted)
        return;
    struct sim_rest *rest = rest_of(x, share->d);
    struct mem_l2_use use = xcd_mem_l2_use(x->mem, rest->began);
    /* A workgroup has loaded since it started, and has stored when it has ended. */
    double dirty = (double)use.dirty / (double)ended,
           clean = (double)(use.used - use.dirty) / (double)share->started,
           more = (dirty + clean) * (double)share->total - (double)use.used;
    if (more > 0)
        rest->aged = xcd_mem_age(x->mem, rest->began, (uint64_t)more, dirty / (dirty + clean));
}

static void stop(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct sim_xcd *x = event->self;
    struct sim_share *share = share_of(x, event);
    if (!share || share->aborted)
        return;
    struct sim_rest *rest = rest_of(x, share->d);
    rest->next = share->started;
    rest->end = share->total;
    sim_drop_rest(x, share);
}

bool sample_stopped(const struct cp_dispatch *d, unsigned xcc)
{
    return d->sample && d->sample->rest[xcc - d->first_xcc].end;
}

void sample_release(struct sim_xcd *x, const struct cp_dispatch *d)
{
    struct sim_rest *rest = rest_of(x, d);
    rest->instructions = x->cu->counters.instructions - rest->instructions;
    rest->released = port_now(x->domain);
    rest->use = xcd_mem_l2_use(x->mem, rest->began);
}

void sample_released(struct sim_xcd *x, const struct cp_dispatch *d)
{
    struct sim_rest *rest = rest_of(x, d);
    rest->released = port_now(x->domain) - rest->released;
    if (rest->aged)
        xcd_mem_forget(x->mem);
}

static void tell_xcds(struct sim *sim, const struct cp_dispatch *d, port_fn *fn)
{
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++) {
        struct port_event *e = port_send(sim->host, sim->xcd[i].domain, d->sample->soon_ps, fn, &sim->xcd[i]);
        e->word[0] = (uint64_t)(uintptr_t)d;
        e->word[1] = d->serial;
    }
}

static void decide(struct sim *sim, struct cp_dispatch *d)
{
    d->sample->phase = DECIDED;
    tell_xcds(sim, d, stop);
}

/* ---- the rate ---- */

/*
 * Workgroups that are to end meanwhile: the more there are, the more are spent.  Of a dispatch with too few
 * to gain much twice as many.
 */
static uint64_t span_of(const struct sim_sample *s, enum sample_span span)
{
    static const struct {
        double part, least, most; /* of the dispatch; of those that the chip holds */
    } spans[] = {[SETTLE] = {0.004, 1, 4},
                 [MEASURE] = {0.008, 2, 8},
                 [SETTLE_AGAIN] = {0.002, 0.5, 2},
                 [MEASURE_AGAIN] = {0.012, 3, 10}};
    double total = (double)s->d->total, holds = (double)s->holds, workgroups = spans[span].part * total,
           least = spans[span].least * holds, most = spans[span].most * holds;
    if (total < SMALL * holds)
        least *= 2;
    return (uint64_t)(workgroups < least ? least : workgroups > most ? most : workgroups);
}

/* Instructions of the ticks after `from`, up to `to`. */
static double issued(const struct sim_sample *s, unsigned from, unsigned to)
{
    return s->tick[to].instructions - s->tick[from].instructions;
}

/* About as long as the chip takes for what it holds: that after which ticks are most alike. */
static unsigned period_of(const struct sim_sample *s, unsigned last)
{
    double ended = (double)(s->tick[last].ended - s->tick[s->from].ended),
           generation = (double)s->holds / ended * (last - s->from), least = INFINITY;
    unsigned period = 0;
    for (unsigned p = (unsigned)(generation * SHORTEST) + 1; p <= generation * LONGEST; p++) {
        double differs = 0;
        if (s->from + PERIODS * p > last)
            break;
        for (unsigned i = last; i > s->from + p; i--)
            differs += fabs(issued(s, i - 1, i) - issued(s, i - p - 1, i - p));
        differs /= last - s->from - p;
        if (differs < least) {
            least = differs;
            period = p;
        }
    }
    return period;
}

/*
 * The rate of whole periods up to the tick `last`, and its standard error, from what the periods differ by;
 * false when there are too few.
 */
static bool find_rate(struct sim_sample *s, unsigned last, unsigned which)
{
    uint64_t ended = s->tick[last].ended - s->tick[s->from].ended;
    if (ended < span_of(s, which ? MEASURE_AGAIN : MEASURE))
        return false;
    unsigned p = period_of(s, last);
    if (!p)
        return false;
    unsigned n = (last - s->from) / p, first = last - n * p, half = n / 2 * p;
    double early = issued(s, first, first + half), late = issued(s, last - half, last);
    if (which == 0 && !s->restarted && fabs(late - early) > DRIFT * (late + early) / 2) {
        s->restarted = true;
        s->from = last - half;
        return false;
    }
    double each = issued(s, first, last) / n, squares = 0;
    for (unsigned i = 0; i < n; i++) {
        double off = issued(s, first + i * p, first + (i + 1) * p) - each;
        squares += off * off;
    }
    s->rate[which] = issued(s, first, last) / (s->tick[last].ps - s->tick[first].ps);
    double error = sqrt(squares / (n - 1) / n) / each, usual = USUAL / sqrt((double)ended / (double)s->holds);
    s->error[which] = error > usual ? error : usual;
    return error <= EVEN;
}

/* ---- the Infinity Cache ---- */

/* Of events to IODs and back, whose word[0] is the sample, which may outlive the dispatch for them. */
enum iod_asks { NOTE /* now */, TELL /* since then */, AGE /* by lines */ };

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
        iod->note = use;
        break;
    case TELL: {
        uint64_t filled = use.filled - iod->note.filled, written = use.written - iod->note.written;
        iod->lines = (double)use.lines;
        iod->filled = (double)filled;
        iod->dirty = written < filled ? (double)written / (double)filled : 1;
        break;
    }
    case AGE:
        fabric_age(sim->fabric, index, event->word[3], iod->dirty, (uint64_t)iod->fresh);
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

static void ask_all(struct sim *sim, struct sim_sample *s, enum iod_asks what)
{
    for (unsigned i = 0; i < fabric_iods(sim->fabric); i++)
        ask(sim, s, i, what, 0);
}

/* What the Infinity Cache takes in is known: whether there is a second rate, and how to get there. */
static void fill_cache(struct sim *sim, struct sim_sample *s)
{
    struct cp_dispatch *d = s->d;
    double filled = 0, lines = 0, ended = (double)s->window, total = (double)d->total;
    unsigned iods = fabric_iods(sim->fabric);
    for (unsigned i = 0; i < iods; i++) {
        filled += s->iod[i].filled;
        lines += s->iod[i].lines;
    }
    s->turn = filled > 0 ? lines * ended / filled : INFINITY;
    if (total <= s->turn) {
        decide(sim, d);
        return;
    }
    s->phase = AGED;
    s->aged = true;
    for (unsigned i = 0; i < iods; i++) {
        double more = s->iod[i].filled / ended * total, most = TURNOVER * s->iod[i].lines;
        s->iod[i].fresh = s->iod[i].filled / ended * (double)s->launched;
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

/* ---- ticks ---- */

/* The last tick that is remembered is told: from now on each is twice as long. */
static void halve(struct sim_sample *s)
{
    for (unsigned i = 1; i <= TICKS / 2; i++)
        s->tick[i] = s->tick[2 * i];
    for (unsigned i = TICKS / 2 + 1; i <= TICKS; i++)
        s->tick[i] = (struct sample_tick){.told = 0};
    s->from = (s->from + 1) / 2;
}

static void begin_rate(struct sim *sim, struct sim_sample *s, enum sample_phase phase, unsigned last)
{
    s->phase = phase;
    s->from = last;
    if (phase == FIRST_RATE) {
        s->window = s->tick[last].ended;
        ask_all(sim, s, NOTE);
    }
}

static void ticked(struct sim *sim, struct cp_dispatch *d, unsigned last)
{
    struct sim_sample *s = d->sample;
    const struct sample_tick *now = &s->tick[last];
    if (now->started - now->ended > s->holds)
        s->holds = now->started - now->ended;
    if (now->started + TOO_FEW * s->holds > d->total || sim->machine->cp.active->next)
        s->phase = DECIDED; /* to stay in detail */
    switch (s->phase) {
    case START:
        if (now->ended < s->holds)
            break;
        tell_xcds(sim, d, fill_l2);
        s->phase = FILLED;
        break;
    case FILLED: /* the second to be started meet each other for the first time */
        if (now->ended >= s->holds + span_of(s, SETTLE))
            begin_rate(sim, s, FIRST_RATE, last);
        break;
    case FIRST_RATE:
        if (find_rate(s, last, 0)) {
            s->phase = ASKED;
            s->window = now->ended - s->window;
            s->launched = now->started;
            ask_all(sim, s, TELL);
        }
        break;
    case AGED:
        if (!s->aged_ended)
            s->aged_ended = now->ended;
        if (now->ended >= s->aged_ended + span_of(s, SETTLE_AGAIN))
            begin_rate(sim, s, SECOND_RATE, last);
        break;
    case SECOND_RATE:
        if (find_rate(s, last, 1))
            decide(sim, d);
        break;
    default:
        break;
    }
}

static void tick_told(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct sim *sim = ((struct sim_xcd *)event->self)->sim;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct sim_sample *s = d->sample;
    unsigned number = (unsigned)event->word[1];
    struct sample_tick *at = &s->tick[number];
    if (!(event->word[1] >> 63)) {
        at->ps += (double)event->word[2] / d->xccs;
        at->instructions += (double)event->word[3];
        return;
    }
    at->started += event->word[2];
    at->ended += event->word[3];
    if (++at->told < d->xccs)
        return;
    ticked(sim, d, number);
    if (number == TICKS)
        halve(s);
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
        if (rest->aged || !rest->use.dirty || !rest->next)
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
    double instructions = 0;
    for (unsigned i = 0; s && i < d->xccs; i++) {
        skipped += s->rest[i].end - s->rest[i].next;
        instructions += (double)s->rest[i].instructions;
    }
    if (!skipped || d->aborted)
        return false;
    s->detailed = d->total - skipped;
    double late = 0; /* those that would end after the Infinity Cache is full, and have not */
    if (s->aged) {
        late = (double)d->total - s->turn - (double)(s->detailed - s->aged_ended);
        late = late > 0 ? late < (double)skipped ? late : (double)skipped : 0;
    }
    double each = instructions / (double)s->detailed, early_ps = ((double)skipped - late) * each / s->rate[0],
           late_ps = s->aged ? late * each / s->rate[1] : 0;
    uint64_t now = sim_now_ns(sim), rest = (uint64_t)((early_ps + late_ps + release_ps(sim, d)) / 1000);
    s->end_ns = now + rest;
    d->stats.detailed_workgroups = s->detailed;
    d->stats.sample_error =
        2 * hypot(s->error[0] * early_ps, s->error[1] * late_ps) / 1000 / (double)(s->end_ns - d->start_ns);
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++)
        port_send(sim->host, sim->xcd[i].domain, sim->packet_ps, run_rest, &sim->xcd[i])->word[0] =
            (uint64_t)(uintptr_t)d;
    return true;
}
