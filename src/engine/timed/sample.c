/* SPDX-License-Identifier: MIT */
/*
 * Sampled dispatches: some workgroups in detail, the rest functionally.
 *
 * A dispatch of many more workgroups than the chip holds begins as any other.  Each
 * XCD tells in even intervals how many instructions it has issued, and each IOD how many
 * lines the Infinity Cache has taken in.  When those that
 * were started first have ended, this has a rhythm, as workgroups that were started
 * together load and store together.  Its period is looked for, and the rate is known
 * when the periods differ little enough (find_rate()).
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
 * from the L2s afterwards.  The Infinity Cache takes in as many lines of nobody as the
 * functional part would have brought, so that those of earlier dispatches are gone.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/timed/count.h"
#include "engine/timed/timed.h"
#include "fabric/fabric.h"

enum {
    TICKS = 512, /* that are remembered: each is then as long as two */
    TICK = 128,  /* cycles of the first */
    STEPS = 64,  /* that a dispatch's time is summed in */
    TOO_FEW = 2, /* times what the chip holds must be left to be worth it */
    AGAIN = 1000 /* cycles until workgroups that waited for others' are run again */
};
enum sample_span { SETTLE, MEASURE, SETTLE_AGAIN, MEASURE_AGAIN };
#define PERIODS  1.5  /* the least that a rate is taken from */
#define SHORTEST 0.7  /* period, and the longest, */
#define LONGEST  1.4  /* of the time in which what the chip holds ends */
#define EVEN     0.04 /* as exact as this */
#define DRIFT    0.08 /* halves that differ by more: it has begun too early */
#define USUAL  0.05 /* what the time differs by in which what the chip holds ends: few show less by chance */
#define SMALL  250  /* times what the chip holds, */
#define LONGER 2.2  /* spans then */
#define EARLY  0.95 /* of the first to be started have ended: enough to tell what they leave in the L2s */
#define TURNOVER 2  /* of the Infinity Cache's lines come, and those of before are gone */

struct timed_rest { /* of an XCD's share */
    uint64_t next, end;
    uint64_t began;        /* by the L2's clock */
    uint64_t instructions; /* issued when it began, then those of the detailed part */
    double clean;          /* lines of the L2 that a workgroup reads, the most that were seen, */
    bool looked;           /* until it was filled or need not be, */
    bool aged;             /* the L2 was filled, */
    double kept;           /* and so many of its lines stay dirty */
    struct mem_l2_use use; /* of the L2, at the end of the detailed part */
    uint64_t released;     /* cycles: when that began, then how long it took */
    struct workgroup *aside, **aside_end; /* wait for others */
};

struct timed_sample {
    /* In domain 0. */
    struct sample_tick {
        double ps, instructions;  /* of all XCDs */
        uint64_t started, ended;  /* workgroups */
        uint64_t filled, written; /* lines of the Infinity Cache; all IODs tell them equally later */
        unsigned told, answered;  /* XCDs; IODs */
    } tick[TICKS + 1];
    enum sample_phase { START, FILLED, FIRST_RATE, AGED, SECOND_RATE, DECIDED } phase;
    unsigned from, seen; /* ticks from which on a rate is taken, and its rhythm can be seen */
    uint64_t holds;      /* workgroups, at most */
    bool restarted;      /* as it drifted: once */
    uint64_t before;     /* workgroups that the last one had in detail: behind those no lines are known */
    uint64_t aged_ended; /* workgroups, when the Infinity Cache was filled */
    double rate[2], error[2]; /* instructions in a picosecond until the Infinity Cache is full and after */
    double turn;              /* workgroups until then */
    uint64_t soon_ps;         /* how long messages take, the least that there is */
    struct cp_dispatch *d;    /* NULL: it is over */
    unsigned asked, halvings; /* IODs that have not answered; how often ticks became longer */
    double lines;             /* of the Infinity Cache */
    double dirty;             /* the part of what comes into the Infinity Cache that was written, */
    uint64_t fresh;           /* and an IOD's lines that have come since the dispatch began */
    double brought;           /* lines that a workgroup brings into a slice of it */
    uint64_t detailed;
    uint64_t end_ns;
    unsigned rests;           /* XCDs that have run theirs */
    struct timed_rest rest[]; /* each the XCD's */
};

/* Of the package that it runs on. */
static struct fabric *fabric_of(const struct timed *timed, const struct timed_sample *s)
{
    return timed_package_of(timed, s->d->first_xcc)->fabric;
}

static struct timed_rest *rest_of(const struct timed_xcd *x, const struct cp_dispatch *d)
{
    return &d->sample->rest[x->index - d->first_xcc];
}

void sample_open(struct timed *timed, struct cp_dispatch *d)
{
    if (timed->sample && !timed->engine.cp->active->next)
        d->sample = calloc(1, sizeof(*d->sample) + d->xccs * sizeof(d->sample->rest[0]));
    if (d->sample) {
        d->sample->d = d;
        d->sample->before = timed->sampled;
        d->sample->soon_ps = fabric_lookahead_ps(timed->engine.cp->chip);
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
static struct timed_share *share_of(struct timed_xcd *x, const struct port_event *event)
{
    const struct cp_dispatch *d = (const struct cp_dispatch *)(uintptr_t)event->word[0];
    struct timed_share *share = x->shares;
    while (share && !(share->d == d && d->serial == event->word[1]))
        share = share->next;
    return share;
}

static void tick_told(struct port_domain *domain, struct port_event *event);

static void post_tick(struct timed_xcd *x, const struct cp_dispatch *d, unsigned number, uint64_t cycles,
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
    struct timed_xcd *x = event->self;
    const struct timed_share *share = share_of(x, event);
    if (!share || sample_stopped(share->d, x->index))
        return;
    unsigned number = (unsigned)event->word[2];
    uint64_t cycles = event->word[3];
    struct port_event *e = port_send(domain, x->timed->host, share->d->sample->soon_ps, tick_told, x);
    e->word[0] = event->word[0];
    e->word[1] = number;
    e->word[2] = port_ps_of(x->domain, port_now(x->domain));
    e->word[3] = x->cu->counters.instructions - rest_of(x, share->d)->instructions;
    e = port_send(domain, x->timed->host, share->d->sample->soon_ps, tick_told, x);
    e->word[0] = event->word[0];
    e->word[1] = number | UINT64_C(1) << 63;
    e->word[2] = share->started;
    e->word[3] = share->total - share->left;
    struct timed_rest *rest = rest_of(x, share->d);
    if (share->left < share->total && !rest->looked) {
        struct mem_l2_use use = xcd_mem_l2_use(x->mem, rest->began);
        rest->clean = fmax(rest->clean, (double)(use.used - use.dirty) / (double)share->started);
    }
    bool full = number == TICKS;
    post_tick(x, share->d, (full ? number / 2 : number) + 1, full ? 2 * cycles : cycles, tick);
}

void sample_begin(struct timed_xcd *x, struct cp_dispatch *d)
{
    if (!d->sample)
        return;
    struct timed_rest *rest = rest_of(x, d);
    rest->began = xcd_mem_l2_clock(x->mem);
    rest->instructions = x->cu->counters.instructions;
    post_tick(x, d, 1, TICK, tick);
}

/* The L2 becomes as full as the share will make it. */
static void fill_l2(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed_xcd *x = event->self;
    const struct timed_share *share = share_of(x, event);
    uint64_t ended = share ? share->total - share->left : 0;
    if (!ended || share->aborted)
        return;
    struct timed_rest *rest = rest_of(x, share->d);
    struct mem_l2_use use = xcd_mem_l2_use(x->mem, rest->began);
    rest->looked = true;
    /* Those that started first have all loaded when one of them ends, and stored what is dirty when they
     * have. */
    double dirty = (double)use.dirty / (double)ended, clean = rest->clean,
           more = (dirty + clean) * (double)share->total - (double)use.used;
    if (more > 0)
        rest->aged = xcd_mem_age(x->mem, rest->began, (uint64_t)more, dirty / (dirty + clean));
    if (rest->aged)
        rest->kept = (double)use.lines * dirty / (dirty + clean);
}

static void stop(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed_xcd *x = event->self;
    struct timed_share *share = share_of(x, event);
    if (!share || share->aborted)
        return;
    struct timed_rest *rest = rest_of(x, share->d);
    rest->next = share->started;
    rest->end = share->total;
    timed_drop_rest(x, share);
}

bool sample_stopped(const struct cp_dispatch *d, unsigned xcc)
{
    return d->sample && d->sample->rest[xcc - d->first_xcc].end;
}

void sample_release(struct timed_xcd *x, const struct cp_dispatch *d)
{
    struct timed_rest *rest = rest_of(x, d);
    rest->instructions = x->cu->counters.instructions - rest->instructions;
    rest->released = port_now(x->domain);
    rest->use = xcd_mem_l2_use(x->mem, rest->began);
}

void sample_released(struct timed_xcd *x, const struct cp_dispatch *d)
{
    struct timed_rest *rest = rest_of(x, d);
    rest->released = port_now(x->domain) - rest->released;
    if (rest->aged)
        xcd_mem_forget(x->mem);
}

static void tell_xcds(struct timed *timed, const struct cp_dispatch *d, port_fn *fn)
{
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++) {
        struct port_event *e =
            port_send(timed->host, timed->xcd[i].domain, d->sample->soon_ps, fn, &timed->xcd[i]);
        e->word[0] = (uint64_t)(uintptr_t)d;
        e->word[1] = d->serial;
    }
}

static void decide(struct timed *timed, struct cp_dispatch *d)
{
    d->sample->phase = DECIDED;
    tell_xcds(timed, d, stop);
}

/* ---- the rate ---- */

/*
 * Workgroups that are to end meanwhile: the more there are, the more are spent.  Of a dispatch with too few
 * to gain much, more than twice as many: the first generations differ from later ones.
 */
static uint64_t span_of(const struct timed_sample *s, enum sample_span span)
{
    static const struct {
        double part, least, most; /* of the dispatch; of those that the chip holds */
    } spans[] = {[SETTLE] = {0.002, 1.6, 3},
                 [MEASURE] = {0.008, 1.7, 8},
                 [SETTLE_AGAIN] = {0.002, 0.5, 2},
                 [MEASURE_AGAIN] = {0.01, 2, 10}};
    double holds = (double)s->holds, workgroups = spans[span].part * (double)s->d->total,
           least = spans[span].least * holds, most = spans[span].most * holds;
    if ((double)s->d->total < SMALL * holds)
        least *= LONGER;
    return (uint64_t)(workgroups < least ? least : workgroups > most ? most : workgroups);
}

/* Instructions of the ticks after `from`, up to `to`. */
static double issued(const struct timed_sample *s, unsigned from, unsigned to)
{
    return s->tick[to].instructions - s->tick[from].instructions;
}

/* About as long as the chip takes for what it holds: that after which ticks are most alike. */
static unsigned period_of(const struct timed_sample *s, unsigned last)
{
    double ended = (double)(s->tick[last].ended - s->tick[s->from].ended),
           generation = (double)s->holds / ended * (last - s->from), least = INFINITY;
    unsigned period = 0;
    for (unsigned p = (unsigned)(generation * SHORTEST) + 1; p <= generation * LONGEST; p++) {
        double differs = 0;
        if (s->from + p > last || s->seen + PERIODS * p > last)
            break;
        for (unsigned i = last; i > s->seen + p; i--)
            differs += fabs(issued(s, i - 1, i) - issued(s, i - p - 1, i - p));
        differs /= last - s->seen - p;
        if (differs < least) {
            least = differs;
            period = p;
        }
    }
    return period;
}

/*
 * The rate up to the tick `last`, and its standard error; false when there are too few.  It is the mean of
 * all stretches of whole periods: a rhythm leaves nothing in it, and few of those that are not quite its own.
 * Behind the workgroups that the last dispatch had in detail lines that it left are nobody's, and loads
 * slower than they would be: then the rate is taken as it is.
 */
static bool find_rate(struct timed_sample *s, unsigned last, unsigned which)
{
    uint64_t ended = s->tick[last].ended - s->tick[s->from].ended;
    const bool enough = s->before && s->tick[last].started >= s->before;
    if (ended < span_of(s, which ? MEASURE_AGAIN : MEASURE))
        return false;
    unsigned p = period_of(s, last);
    if (!p)
        return false;
    unsigned n = (last - s->from) / p, first = last - n * p, half = n / 2 * p,
             whole = n > 1 ? (n - 1) * p : p;
    double early = issued(s, first, first + half), late = issued(s, last - half, last);
    if (which == 0 && !s->restarted && !enough && fabs(late - early) > DRIFT * (late + early) / 2) {
        s->restarted = true;
        s->from = last - half;
        return false;
    }
    double sum = 0, ps = 0, squares = 0, each = issued(s, first, last) / n;
    for (unsigned i = s->from; i + whole <= last; i++) {
        sum += issued(s, i, i + whole);
        ps += s->tick[i + whole].ps - s->tick[i].ps;
    }
    s->rate[which] = sum / ps;
    for (unsigned i = 0; i < n; i++) {
        double off = issued(s, first + i * p, first + (i + 1) * p) - each;
        squares += off * off;
    }
    double error = n > 1 ? sqrt(squares / (n - 1) / n) / each : 0,
           usual = USUAL / sqrt((double)ended / (double)s->holds);
    s->error[which] = error > usual ? error : usual;
    if (error > EVEN && !enough)
        return false;
    s->from = first;
    return true;
}

/* ---- the Infinity Cache ---- */

/*
 * Of events to IODs and back: word[0] is the sample, which may outlive the dispatch for them.  Word[1] is the
 * IOD and word[2] a tick (answered: then 1 and 3 are its lines), or NO_TICK to age the cache by word[3]
 * lines.
 */
#define NO_TICK UINT64_MAX

static void ticked(struct timed *timed, struct cp_dispatch *d, unsigned last);

static void answered(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = event->self;
    struct timed_sample *s = (struct timed_sample *)(uintptr_t)event->word[0];
    s->asked--;
    if (!s->d) {
        if (!s->asked)
            free(s);
        return;
    }
    if (event->word[2] == NO_TICK)
        return;
    unsigned number = (unsigned)event->word[2];
    if (event->word[2] >> 32 != s->halvings) { /* meanwhile */
        if (number % 2)
            return;
        number /= 2;
    }
    struct sample_tick *at = &s->tick[number];
    at->filled += event->word[1];
    at->written += event->word[3];
    if (++at->answered == fabric_iods(fabric_of(timed, s)))
        ticked(timed, s->d, number);
}

static void asked(struct port_domain *domain, struct port_event *event)
{
    struct timed *timed = event->self;
    const struct timed_sample *s = (const struct timed_sample *)(uintptr_t)event->word[0];
    unsigned iod = (unsigned)event->word[1];
    struct fabric_use use;
    fabric_read_use(fabric_of(timed, s), iod, &use);
    if (event->word[2] == NO_TICK)
        fabric_age(fabric_of(timed, s), iod, event->word[3], s->dirty, s->fresh);
    struct port_event *e = port_send(domain, timed->host, s->soon_ps, answered, timed);
    e->word[0] = event->word[0];
    e->word[1] = use.filled;
    e->word[2] = event->word[2];
    e->word[3] = use.written;
}

static void ask(struct timed *timed, struct timed_sample *s, uint64_t tick, uint64_t lines)
{
    for (unsigned i = 0; i < fabric_iods(fabric_of(timed, s)); i++) {
        struct port_event *e =
            port_send(timed->host, fabric_domain(fabric_of(timed, s), i), s->soon_ps, asked, timed);
        e->word[0] = (uint64_t)(uintptr_t)s;
        e->word[1] = i;
        e->word[2] = tick;
        e->word[3] = lines;
        s->asked++;
    }
}

static void note_brought(const struct timed *timed, struct timed_sample *s, unsigned last)
{
    const struct sample_tick *now = &s->tick[last], *first = &s->tick[s->from];
    s->brought = (double)(now->filled - first->filled) / (double)(now->ended - first->ended) /
                 fabric_slices(fabric_of(timed, s));
}

/* As if so many workgroups had brought their lines into it. */
static void age_cache(struct timed *timed, struct timed_sample *s, double workgroups)
{
    ask(timed, s, NO_TICK,
        (uint64_t)fmin(s->brought * workgroups, TURNOVER * s->lines / fabric_slices(fabric_of(timed, s))));
}

/* What the Infinity Cache takes in is known: whether there is a second rate, and how to get there. */
static void fill_cache(struct timed *timed, struct timed_sample *s, unsigned last)
{
    struct cp_dispatch *d = s->d;
    const struct fabric *fabric = fabric_of(timed, s);
    const struct sample_tick *now = &s->tick[last], *first = &s->tick[s->from];
    double ended = (double)(now->ended - first->ended), filled = (double)(now->filled - first->filled),
           written = (double)(now->written - first->written), total = (double)d->total;
    s->lines = (double)(fabric_slice_lines(fabric) * fabric_slices(fabric));
    s->turn = filled > 0 ? s->lines * ended / filled : INFINITY;
    s->dirty = written < filled ? written / filled : 1;
    note_brought(timed, s, last);
    if (total <= s->turn) {
        decide(timed, d);
        return;
    }
    s->phase = AGED;
    s->aged_ended = now->ended;
    s->seen = last;
    s->fresh = (uint64_t)(s->brought * (double)now->started);
    age_cache(timed, s, total);
}

/* ---- ticks ---- */

/* The last tick that is remembered is told: from now on each is twice as long. */
static void halve(struct timed_sample *s)
{
    for (unsigned i = 1; i <= TICKS / 2; i++)
        s->tick[i] = s->tick[2 * i];
    for (unsigned i = TICKS / 2 + 1; i <= TICKS; i++)
        s->tick[i] = (struct sample_tick){.told = 0};
    s->from = (s->from + 1) / 2;
    s->halvings++;
    s->seen = (s->seen + 1) / 2;
}

static void ticked(struct timed *timed, struct cp_dispatch *d, unsigned last)
{
    struct timed_sample *s = d->sample;
    const struct sample_tick *now = &s->tick[last];
    if (now->started - now->ended > s->holds)
        s->holds = now->started - now->ended;
    if (now->started + TOO_FEW * s->holds > d->total || timed->engine.cp->active->next)
        s->phase = DECIDED; /* to stay in detail */
    switch (s->phase) {
    case START:
        if (!now->ended || (double)now->ended < EARLY * (double)s->holds)
            break; /* or none has started yet */
        tell_xcds(timed, d, fill_l2);
        s->phase = FILLED;
        s->seen = last;
        break;
    case FILLED: /* the second to be started meet each other for the first time */
        if (now->ended >= span_of(s, SETTLE)) {
            s->phase = FIRST_RATE;
            s->from = last;
        }
        break;
    case FIRST_RATE:
        if (find_rate(s, last, 0))
            fill_cache(timed, s, last);
        break;
    case AGED:
        if (now->ended >= s->aged_ended + span_of(s, SETTLE_AGAIN)) {
            s->phase = SECOND_RATE;
            s->from = last;
        }
        break;
    case SECOND_RATE:
        if (find_rate(s, last, 1)) {
            note_brought(timed, s, last);
            decide(timed, d);
        }
        break;
    default:
        break;
    }
}

static void tick_told(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed *timed = ((struct timed_xcd *)event->self)->timed;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct timed_sample *s = d->sample;
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
    uint64_t tick = number | (uint64_t)s->halvings << 32;
    if (number == TICKS)
        halve(s);
    ask(timed, s, tick, 0);
}

/*
 * How much longer the release takes when all of an XCD's share has stored: the
 * L2 is full then of lines, of which as large a part is dirty as of those that the
 * detailed part used.
 */
static double release_ps(const struct timed *timed, const struct cp_dispatch *d)
{
    double longest = 0;
    for (unsigned i = 0; i < d->xccs; i++) {
        const struct timed_rest *rest = &d->sample->rest[i];
        if (rest->aged || !rest->use.dirty || !rest->next)
            continue;
        double more = (double)rest->end / (double)rest->next,
               room = (double)rest->use.lines / (double)rest->use.used;
        more = more < room ? more : room;
        double ps = (double)port_ps_of(timed->xcd[d->first_xcc + i].domain, rest->released) * (more - 1);
        longest = ps > longest ? ps : longest;
    }
    return longest;
}

/* ---- the rest ---- */

static void finished(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    timed_dispatch_ended(event->self, d);
}

static void rest_told(struct port_domain *domain, struct port_event *event)
{
    struct timed *timed = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct timed_sample *s = d->sample;
    if (++s->rests < d->xccs)
        return;
    timed->host_wrote = true; /* as far as the L2s are concerned */
    timed->pause = true;
    uint64_t end = port_cycle_of(domain, s->end_ns * 1000), now = port_now(domain);
    port_post(domain, end > now ? end : now, finished, timed)->word[0] = (uint64_t)(uintptr_t)d;
}

static bool run_one(struct timed_xcd *x, struct cp_dispatch *d, struct workgroup *wg)
{
    struct cu_thread *thread = port_thread(x->domain);
    enum workgroup_result result = workgroup_run(wg, &thread->guard, &d->stop, false);
    thread->guard.armed = false;
    if (cp_dispatch_late(d) && result != WORKGROUP_FAULT) {
        workgroup_out_of_time(wg, &thread->guard);
        result = WORKGROUP_FAULT;
    }
    if ((result == WORKGROUP_WAITING || result == WORKGROUP_PREEMPTED) && !d->aborted)
        return false;
    if (result == WORKGROUP_FAULT)
        timed_wave_faulted(x, wg, &thread->guard);
    ace_release(x->timed->engine.cp, d, wg);
    timed_keep_spare(x, wg);
    return true;
}

/* Takes the next workgroup of the share; NULL when there is none, or no room until others end. */
static struct workgroup *take(struct timed_xcd *x, struct cp_dispatch *d, struct timed_rest *rest)
{
    if (rest->next == rest->end)
        return NULL;
    struct workgroup *wg = timed_place(x, d, rest->next);
    rest->next += wg != NULL;
    return wg;
}

/* Once each; whether one ended. */
static bool run_aside(struct timed_xcd *x, struct cp_dispatch *d, struct timed_rest *rest)
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
    struct timed_xcd *x = event->self;
    struct cp_dispatch *d = (struct cp_dispatch *)(uintptr_t)event->word[0];
    struct timed_rest *rest = &d->sample->rest[x->index - d->first_xcc];
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
    workgroup_fence();
    if (!d->aborted && (rest->aside || rest->next < rest->end)) { /* for those of other XCDs */
        port_post(domain, port_now(domain) + AGAIN, run_rest, x)->word[0] = (uint64_t)(uintptr_t)d;
        return;
    }
    port_send(domain, x->timed->host, x->timed->way_ps, rest_told, x->timed)->word[0] =
        (uint64_t)(uintptr_t)d;
}

/* The part of the Infinity Cache's sets that are full when so many lines a set have come, by a hash. */
static double full_sets(double lines, unsigned ways)
{
    double term = exp(-lines), fewer = 0;
    for (unsigned k = 0; k < ways; term *= lines / ++k)
        fewer += term;
    return 1 - fewer;
}

/*
 * The time of those that are left out, at the first rate and at the second.  What the L2s keep dirty comes
 * into the Infinity Cache later.  Its sets fill one after another, and each pushes out what was written from
 * then on.  This takes time when memory has no more to spare beside what is read: when its bytes at the
 * second rate's pace take longer than the first rate does.
 */
static void split_time(const struct timed *timed, const struct cp_dispatch *d, double each, double *early_ps,
                       double *late_ps)
{
    const struct timed_sample *s = d->sample;
    double kept = 0, first = each / s->rate[0], second = each / s->rate[1], least = fmin(first, second);
    for (unsigned i = 0; i < d->xccs; i++)
        kept += s->rest[i].kept;
    double turn = s->turn * (1 + kept / s->lines), step = (double)d->total / STEPS;
    unsigned ways = chip_get(timed->engine.cp->chip, CHIP_infinity_cache_ways);
    *early_ps = -(double)s->aged_ended * first;
    *late_ps = -(double)(s->detailed - s->aged_ended) * second;
    for (unsigned i = 0; i < STEPS; i++) {
        double full = full_sets(ways * (i + 0.5) * step / turn, ways),
               bound = second * (1 - s->dirty * (1 - full));
        if (bound > least)
            *late_ps += step * bound;
        else
            *early_ps += step * least;
    }
    *early_ps = fmax(*early_ps, 0);
    *late_ps = fmax(*late_ps, 0);
}

bool sample_run_rest(struct timed *timed, struct cp_dispatch *d)
{
    struct timed_sample *s = d->sample;
    uint64_t skipped = 0;
    double instructions = 0;
    for (unsigned i = 0; s && i < d->xccs; i++) {
        skipped += s->rest[i].end - s->rest[i].next;
        instructions += (double)s->rest[i].instructions;
    }
    if (!skipped || d->aborted)
        return false;
    s->detailed = d->total - skipped;
    double each = instructions / (double)s->detailed, early_ps = (double)skipped * each / s->rate[0],
           late_ps = 0;
    if (s->rate[1] > 0)
        split_time(timed, d, each, &early_ps, &late_ps);
    uint64_t now = timed_now_ns(timed), rest = (uint64_t)((early_ps + late_ps + release_ps(timed, d)) / 1000);
    s->end_ns = now + rest;
    d->stats.detailed_workgroups = timed->sampled = s->detailed;
    d->stats.sample_error =
        2 * hypot(s->error[0] * early_ps, s->error[1] * late_ps) / 1000 / (double)(s->end_ns - d->start_ns);
    s->fresh = 0; /* all that is there gives way to what the last workgroups leave */
    age_cache(timed, s, (double)skipped);
    for (unsigned i = d->first_xcc; i < d->first_xcc + d->xccs; i++)
        port_send(timed->host, timed->xcd[i].domain, timed->way_ps, run_rest, &timed->xcd[i])->word[0] =
            (uint64_t)(uintptr_t)d;
    return true;
}
