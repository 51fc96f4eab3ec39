/* SPDX-License-Identifier: MIT */
/* The windows in which domains run, and the host's threads that run them; see port.h. */
#include "port/internal.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/thread.h"

/* Windows with fewer events than this are run on one thread: waking another takes as long. */
enum { PARALLEL_EVENTS = 48 };

/* So many events are few, after so many windows with no more each, as it takes a while to change; and more
 * than so many are no longer. */
enum { FEW = 6, CALM = 16, MANY = 12 };

struct worker {
    struct port *port;
    unsigned index;
};

/* ---- threads ---- */

/* The domains that a thread takes first. */
static struct domain_set share_of(const struct port *port, unsigned thread)
{
    struct domain_set share = {{0}};
    for (unsigned i = thread; i < port->domains; i += port->threads)
        share.word[i / 64] |= UINT64_C(1) << i % 64;
    return share;
}

/* A domain that nobody has taken, of `share` if there is one; NULL: none is left. */
static struct port_domain *take_domain(struct port *port, const struct domain_set *share)
{
    for (unsigned any = 0; any < 2; any++)
        for (unsigned w = 0; w < (port->domains + 63) / 64; w++) {
            const uint64_t from = any ? UINT64_MAX : share->word[w];
            for (uint64_t left; (left = atomic_load(&port->left[w]) & from) != 0;) {
                unsigned i = (unsigned)__builtin_ctzll(left);
                if (atomic_fetch_and(&port->left[w], ~(UINT64_C(1) << i)) >> i & 1)
                    return port->domain[64 * w + i];
            }
        }
    return NULL;
}

/*
 * A thread takes the same domains in every window, as its core's caches hold them, and then what others have
 * not come to.  Who has taken a domain may read what the window is, as it does not end before; who has not
 * must not, because the next one may be in preparation.
 */
static void run_share(struct port *port, const struct domain_set *share, void *thread)
{
    for (struct port_domain *d; (d = take_domain(port, share));) {
        domain_run(d, port->window_end, thread);
        atomic_fetch_add(&port->finished, 1);
    }
}

static void *worker_main(void *argument)
{
    struct worker *me = argument;
    struct port *port = me->port;
    void *thread = port->hooks.enter ? port->hooks.enter(port->hooks.context, me->index) : NULL;
    const struct domain_set share = share_of(port, me->index);
    uint64_t seen = 0;
    while (!port->quit) {
        for (int spins = 0; port->epoch == seen && !port->quit && spins < 2000; spins++)
            __builtin_ia32_pause();
        if (port->epoch == seen) {
            pthread_mutex_lock(&port->lock);
            port->sleepers++;
            while (port->epoch == seen && !port->quit)
                pthread_cond_wait(&port->wake, &port->lock);
            port->sleepers--;
            pthread_mutex_unlock(&port->lock);
        }
        seen = port->epoch;
        run_share(port, &share, thread);
    }
    if (port->hooks.leave)
        port->hooks.leave(port->hooks.context, thread);
    free(me);
    return NULL;
}

static void wake_workers(struct port *port)
{
    port->epoch++;
    if (port->sleepers) {
        pthread_mutex_lock(&port->lock);
        pthread_cond_broadcast(&port->wake);
        pthread_mutex_unlock(&port->lock);
    }
}

/* What has passed since it was called last was that part. */
static void passed(struct port *port, enum port_part part)
{
    if (!port->times)
        return;
    uint64_t now = clock_now_ns();
    port->times->ns[part] += now - port->passed_ns;
    port->passed_ns = now;
}

void port_measure(struct port *port, struct port_times *times)
{
    port->times = times;
}

/* A worker that comes late finds nothing to take, or takes part in the next window, from when that is
 * complete. */
static void run_window(struct port *port, void *thread)
{
    uint64_t before = 0, after = 0;
    for (unsigned i = 0; i < port->active_count; i++)
        before += port->active[i]->ran;
    if (port->threads == 1 || port->active_count == 1 || port->last_events < PARALLEL_EVENTS) {
        for (unsigned i = 0; i < port->active_count; i++)
            domain_run(port->active[i], port->window_end, thread);
        passed(port, PORT_WITHIN);
    } else {
        port->finished = 0;
        struct domain_set left = {{0}};
        const struct domain_set share = share_of(port, 0);
        for (unsigned i = 0; i < port->active_count; i++)
            left.word[port->active[i]->index / 64] |= UINT64_C(1) << port->active[i]->index % 64;
        for (unsigned w = 0; w < SET_WORDS; w++)
            atomic_store(&port->left[w], left.word[w]);
        wake_workers(port);
        run_share(port, &share, thread);
        passed(port, PORT_WITHIN);
        for (int spins = 0; port->finished < port->active_count; spins++)
            if (spins < 2000)
                __builtin_ia32_pause();
            else
                sched_yield();
        passed(port, PORT_WAITING);
    }
    for (unsigned i = 0; i < port->active_count; i++)
        after += port->active[i]->ran;
    port->last_events = after - before;
}

/* ---- windows ---- */

/* Eight of the notes by domains, a byte each. */
static uint64_t notes_of(const bool *notes, unsigned eight)
{
    uint64_t word;
    memcpy(&word, &notes[8 * eight], sizeof(word));
    return word;
}

static void note_sent(struct port *port, struct port_domain *d)
{
    *d->sends = false;
    for (unsigned w = 0; w < (port->domains + 63) / 64; w++) {
        port->receivers.word[w] |= d->to.word[w];
        for (uint64_t left = d->to.word[w]; left; left &= left - 1) {
            struct port_domain *to = port->domain[64 * w + (unsigned)__builtin_ctzll(left)];
            const uint64_t cycle = outbox_of(d, to, port->odd)->soonest;
            to->from.word[d->index / 64] |= UINT64_C(1) << d->index % 64;
            to->from_soonest = cycle < to->from_soonest ? cycle : to->from_soonest;
            *to->changed = true;
        }
        d->to.word[w] = 0;
    }
}

/* Between windows: whoever has sent something is known to whom. */
static void collect(struct port *port)
{
    for (unsigned k = 0; k < (port->domains + 7) / 8; k++)
        for (uint64_t left = notes_of(port->sends, k); left; left &= left - 1)
            note_sent(port, port->domain[8 * k + (unsigned)__builtin_ctzll(left) / 8]);
}

/* What was sent in the last window: to those that do not run in the next, as they are when it does not go on
 * (PORT_NEVER: to all). */
static void deliver(struct port *port, uint64_t window_end)
{
    for (unsigned w = 0; w < (port->domains + 63) / 64; w++) {
        for (uint64_t left = port->receivers.word[w]; left; left &= left - 1) {
            const unsigned i = 64 * w + (unsigned)__builtin_ctzll(left);
            if (window_end == PORT_NEVER || port->soonest_ps[i] >= window_end)
                domain_receive(port->domain[i], port->odd);
        }
        port->receivers.word[w] = 0;
    }
}

static void find_soonest(struct port_domain *d)
{
    uint64_t cycle = d->pending ? next_cycle(d) : PORT_NEVER;
    cycle = d->from_soonest < cycle ? d->from_soonest : cycle;
    uint64_t *busy = &d->port->busy.word[d->index / 64];
    const uint64_t self = UINT64_C(1) << d->index % 64;
    *busy = cycle == PORT_NEVER ? *busy & ~self : *busy | self;
    d->port->soonest_ps[d->index] = cycle == PORT_NEVER ? PORT_NEVER : port_ps_of(d, cycle);
    *d->changed = false;
}

/* After collect(): the earliest event of all. */
static uint64_t soonest_ps(struct port *port)
{
    uint64_t soonest = PORT_NEVER;
    for (unsigned k = 0; k < (port->domains + 7) / 8; k++)
        for (uint64_t left = notes_of(port->changed, k); left; left &= left - 1)
            find_soonest(port->domain[8 * k + (unsigned)__builtin_ctzll(left) / 8]);
    for (unsigned w = 0; w < (port->domains + 63) / 64; w++)
        for (uint64_t left = port->busy.word[w]; left; left &= left - 1) {
            const uint64_t ps = port->soonest_ps[64 * w + (unsigned)__builtin_ctzll(left)];
            soonest = ps < soonest ? ps : soonest;
        }
    return soonest;
}

uint64_t port_next_ps(struct port *port)
{
    if (port->few.on)
        return few_soonest_ps(&port->few);
    collect(port);
    return soonest_ps(port);
}

uint64_t port_time_ps(const struct port *port)
{
    return port->time_ps;
}

/* Who has something to do in the window. */
static void choose(struct port *port)
{
    port->active_count = 0;
    for (unsigned w = 0; w < (port->domains + 63) / 64; w++)
        for (uint64_t left = port->busy.word[w]; left; left &= left - 1) {
            const unsigned i = 64 * w + (unsigned)__builtin_ctzll(left);
            if (port->soonest_ps[i] < port->window_end)
                port->active[port->active_count++] = port->domain[i];
        }
}

/* How many events there are, or more than FEW. */
static unsigned count_events(const struct port *port)
{
    uint64_t count = 0;
    for (unsigned w = 0; w < (port->domains + 63) / 64; w++)
        for (uint64_t left = port->busy.word[w]; left && count <= FEW; left &= left - 1)
            count += port->domain[64 * w + (unsigned)__builtin_ctzll(left)]->pending;
    return count <= FEW ? (unsigned)count : FEW + 1;
}

static void become_few(struct port *port)
{
    collect(port);
    soonest_ps(port);
    if (count_events(port) > FEW) /* of what has been received */
        return;
    deliver(port, PORT_NEVER);
    if (count_events(port) <= FEW)
        few_begin(port);
}

/* Between windows.  Threads share the work of none that is in one list. */
static void count_few(struct port *port)
{
    if (port->few.on) {
        if (port->few.count > MANY || port->last_events >= PARALLEL_EVENTS)
            few_end(port);
        return;
    }
    port->few.calm = port->last_events <= FEW ? port->few.calm + 1 : 0;
    if (port->few.calm == CALM) {
        port->few.calm = 0;
        become_few(port);
    }
}

/* What is posted from now on was posted after all else. */
static void end_windows(struct port *port)
{
    if (port->few.on) {
        port->few.window++;
        return;
    }
    collect(port);
    deliver(port, PORT_NEVER);
}

uint64_t port_run(struct port *port, uint64_t until_ps, bool (*stop)(void *context), void *context)
{
    void *thread = port->hooks.enter ? port->hooks.enter(port->hooks.context, 0) : NULL;
    if (port->times)
        port->passed_ns = clock_now_ns();
    for (;;) {
        count_few(port);
        const uint64_t start = port_next_ps(port);
        if (start >= until_ps) {
            end_windows(port);
            if (until_ps != PORT_NEVER && until_ps > port->time_ps)
                port->time_ps = until_ps;
            break;
        }
        port->window_end = start + port->lookahead_ps;
        if (port->few.on) {
            port->few.window++;
            passed(port, PORT_BETWEEN);
            few_run(port, thread);
            passed(port, PORT_WITHIN);
        } else {
            choose(port);
            deliver(port, port->window_end);
            port->odd = !port->odd;
            passed(port, PORT_BETWEEN);
            run_window(port, thread);
        }
        if (port->times)
            port->times->windows++;
        port->time_ps = port->window_end;
        if (stop && stop(context)) {
            end_windows(port);
            break;
        }
    }
    passed(port, PORT_BETWEEN);
    if (port->hooks.leave)
        port->hooks.leave(port->hooks.context, thread);
    return port->time_ps;
}

/* ---- life ---- */

struct port *port_open(unsigned domains, uint64_t lookahead_ps, unsigned threads,
                       const struct port_hooks *hooks)
{
    assert(domains && domains <= PORT_DOMAINS && lookahead_ps && threads);
    struct port *port = aligned_alloc(64, (sizeof(*port) + 63) / 64 * 64);
    if (!port)
        return NULL;
    memset(port, 0, sizeof(*port));
    port->domains = domains;
    port->threads = threads < domains ? threads : domains;
    port->lookahead_ps = lookahead_ps;
    if (hooks)
        port->hooks = *hooks;

    pthread_mutex_init(&port->lock, NULL);
    pthread_cond_init(&port->wake, NULL);
    port->domain = must(calloc(domains, sizeof(*port->domain)));
    port->active = must(calloc(domains, sizeof(*port->active)));
    for (unsigned i = 0; i < domains; i++) {
        struct port_domain *d = must(aligned_alloc(64, (sizeof(*d) + 63) / 64 * 64));
        memset(d, 0, sizeof(*d));
        d->port = port;
        d->index = i;
        d->limit = HORIZON;
        d->outbox = must(calloc(2 * (size_t)domains, sizeof(*d->outbox)));
        for (unsigned k = 0; k < 2 * domains; k++)
            d->outbox[k].soonest = PORT_NEVER;
        port->soonest_ps[i] = d->from_soonest = PORT_NEVER;
        d->changed = &port->changed[i];
        d->sends = &port->sends[i];
        port_set_clock(d, 1000);
        port->domain[i] = d;
    }
    port->thread = must(calloc(port->threads, sizeof(*port->thread)));
    for (unsigned i = 1; i < port->threads; i++) {
        struct worker *worker = must(malloc(sizeof(*worker)));
        *worker = (struct worker){.port = port, .index = i};
        if (thread_start(&port->thread[i], worker_main, worker) != 0) {
            free(worker);
            break; /* fewer threads give the same results */
        }
        port->started++;
    }
    return port;
}

void port_close(struct port *port)
{
    if (!port)
        return;
    pthread_mutex_lock(&port->lock);
    port->quit = true;
    pthread_cond_broadcast(&port->wake);
    pthread_mutex_unlock(&port->lock);
    for (unsigned i = 1; i <= port->started; i++)
        pthread_join(port->thread[i], NULL);
    for (unsigned i = 0; i < port->domains; i++) {
        struct port_domain *d = port->domain[i];
        for (struct chunks *chunks = d->chunks, *next; chunks; chunks = next) {
            next = chunks->next;
            free(chunks);
        }
        for (unsigned k = 0; k < 2 * port->domains; k++)
            for (struct sent *sent = d->outbox[k].first, *next; sent; sent = next) {
                next = sent->next;
                free(sent);
            }
        free(d->heap);
        free(d->outbox);
        free(d);
    }
    free(port->few.event);
    free(port->domain);
    free(port->active);
    free(port->thread);
    pthread_mutex_destroy(&port->lock);
    pthread_cond_destroy(&port->wake);
    free(port);
}
