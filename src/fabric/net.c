/* SPDX-License-Identifier: MIT */
/*
 * Ways over the package: an agent's port, the network of an IOD, the links to its
 * neighbours.
 *
 * What carries bytes stops at each IOD for its share of the link there.  What does not
 * (requests for lines, acknowledgements) goes straight through, and takes its share
 * where the bytes that it belongs to come over the same link the other way.  A way's time is dealt out evenly
 * over its parts, from stop to stop: so the shortest of all, the port's lookahead, is as long as can be.
 * Answers and probes take the same way with the same stops, so they stay in order.
 */
#include "fabric/internal.h"

#include <math.h>

/*
 * An L2 asks for a line at once and writes its halves one by one, as its counters say (TCC_EA0_RDREQ is of
 * 128 bytes, TCC_EA0_WRREQ of 64).  Operands and results of a line's atomics are half a line.
 */
static unsigned requests_of(const struct fabric_request *r)
{
    unsigned each = r->kind == FABRIC_WRITE ? (r->mask[0] ? 1U : 0U) + (r->mask[1] ? 1U : 0U) : 1;
    return each * lines_of(r);
}

/* What goes over a link that carries bytes, and what without any the other way. */
static unsigned packets_bytes(const struct fabric *f, const struct fabric_request *r)
{
    return requests_of(r) * ((carries_data(r) || r->half ? FABRIC_LINE / 2 : FABRIC_LINE) + f->header);
}
static unsigned headers_bytes(const struct fabric *f, const struct fabric_request *r)
{
    return requests_of(r) * f->header;
}

static const struct fabric_route *route_of(const struct iod *from, const struct iod *to)
{
    return &from->fabric->route[from->index][to->index];
}

static double take_link(struct iod *at, unsigned neighbour, unsigned bytes)
{
    at->counters.usr_bytes += bytes;
    return ps_server_take(&at->link[neighbour], iod_now(at), bytes * at->link_ps[neighbour]);
}

/* The next IOD on the way, and the wait for the link there, which carries `bytes`. */
static struct iod *next_on_way(struct iod *at, const struct iod *to, unsigned bytes, double *wait)
{
    const unsigned next = route_of(at, to)->next;
    *wait = take_link(at, next, bytes);
    return &at->fabric->iod[next];
}

/* Over a link between two IODs, what goes on: no sooner than one domain may act on the other. */
static double hop_ps(const struct iod *from, const struct iod *to)
{
    const struct fabric_route *r = route_of(from, to);
    return fmax(r->way_ps - from->fabric->near_ps, r->part_ps);
}

double net_between_ps(const struct iod *from, const struct iod *to)
{
    double ps = 0;
    for (const struct iod *next; from != to; from = next) {
        next = &from->fabric->iod[route_of(from, to)->next];
        ps += hop_ps(from, next);
    }
    return ps;
}

struct iod *net_toward(struct iod *at, const struct iod *to, unsigned bytes, double *delay)
{
    double wait;
    struct iod *next = next_on_way(at, to, bytes, &wait);
    *delay = hop_ps(at, next) + wait;
    return next;
}

/* A link's agent is in the domain of its IOD. */
static struct port_event *net_send(struct port_domain *from, struct port_domain *to, uint64_t delay_ps,
                                   port_fn *fn, void *self)
{
    return from != to ? port_send(from, to, delay_ps, fn, self)
                      : port_post(from, port_cycle_of(from, port_now_ps(from) + delay_ps), fn, self);
}

/* ---- from an agent to a home ---- */

#define SLICE_PAIR (1U << 31)
enum { PREVIOUS_SHIFT = 16, SLICE_MASK = (1 << PREVIOUS_SHIFT) - 1 };

/* The IOD that sent it on. */
static unsigned previous_of(const struct port_event *event)
{
    return (unsigned)((event->word[1] >> 32 & ~SLICE_PAIR) >> PREVIOUS_SHIFT);
}

static void arrive(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct iod *iod = event->self;
    struct fabric *f = iod->fabric;
    struct fabric_request *r = (struct fabric_request *)event->word[0];
    if (carries_data(r) && iod->index != f->agent[r->agent].iod) {
        take_link(iod, previous_of(event), headers_bytes(f, r)); /* what belongs to the bytes, back */
        ps_server_take(&iod->ingress, iod_now(iod), packets_bytes(f, r) * f->ingress_ps);
    }
    r->home_ps = (float)(iod_now(iod) - r->asked_ps);
    if (r->remote > f->links + 1)
        host_take(f->host, r);
    else if (r->remote)
        link_take(fabric_link(f, r->remote - 1U), r);
    else
        home_take(iod, r);
}

/* The event has what is asked for by then, so that nobody waits for the request itself. */
static void send_on(struct port_domain *from, unsigned previous, struct iod *to, double delay, port_fn *fn,
                    struct fabric_request *r)
{
    struct port_event *e = net_send(from, to->domain, (uint64_t)delay, fn, to);
    e->word[0] = (uint64_t)r;
    e->word[1] =
        (uint64_t)(r->slice | previous << PREVIOUS_SHIFT | (r->pair ? SLICE_PAIR : 0)) << 32 | r->place;
    e->word[2] = r->in_place ? 0 : r->line;
    e->word[3] = (uint64_t)r->data;
}

static bool prefetch_arrival(const struct port_event *event, unsigned stage)
{
    unsigned slice = (unsigned)(event->word[1] >> 32);
    if (stage) {
        port_prefetch(((const struct fabric_request *)event->word[0])->second, FABRIC_LINE);
        return false;
    }
    home_prefetch(event->self,
                  &(struct home_prefetched){.request = (const void *)event->word[0],
                                            .slice = slice & SLICE_MASK,
                                            .bytes = slice & SLICE_PAIR ? FABRIC_PAIR : FABRIC_LINE,
                                            .place = (uint32_t)event->word[1],
                                            .line = (const void *)event->word[2],
                                            .data = (const void *)event->word[3]});
    return slice & SLICE_PAIR;
}

static void pass(struct port_domain *domain, struct port_event *event)
{
    struct iod *at = event->self;
    struct fabric *f = at->fabric;
    struct fabric_request *r = (struct fabric_request *)event->word[0];
    struct iod *home = &f->iod[r->home];
    const struct iod *from = &f->iod[f->agent[r->agent].iod];
    if (at != from)
        take_link(at, previous_of(event), headers_bytes(f, r));
    double wait;
    struct iod *next = next_on_way(at, home, packets_bytes(f, r), &wait);
    send_on(domain, at->index, next, route_of(from, home)->part_ps + wait, next == home ? arrive : pass, r);
}

static bool prefetch_passing(const struct port_event *event, unsigned stage)
{
    (void)stage;
    port_prefetch((const void *)event->word[0], sizeof(struct fabric_request));
    return false;
}

static unsigned bucket_of(uint64_t line)
{
    return (line / FABRIC_PAIR * UINT64_C(0x9e3779b97f4a7c15)) >> 40 & (WRITE_BUCKETS - 1);
}

/* Whether they have a line in common. */
static bool meet(const struct fabric_request *a, const struct fabric_request *b)
{
    return a->line == b->line || ((a->pair | b->pair) && a->line / FABRIC_PAIR == b->line / FABRIC_PAIR);
}

/* What has not been acknowledged of the line's bucket. */
static const struct fabric_request *writes_of(const struct agent_port *x, uint64_t line)
{
    unsigned bucket = bucket_of(line);
    return x->writing[bucket] ? x->writes[bucket] : NULL;
}

/* Whether a WRITE, or an ATOMIC, to a line of the request's has not been acknowledged. */
static bool under_way(const struct agent_port *x, const struct fabric_request *r, enum fabric_kind kind)
{
    const struct fabric_request *w = writes_of(x, r->line);
    while (w && !(w->kind == kind && meet(w, r)))
        w = w->chain;
    return w;
}

static bool write_under_way(const struct agent_port *x, const struct fabric_probe *probe)
{
    const struct fabric_request *w = writes_of(x, probe->line);
    while (w && !(w->kind == FABRIC_WRITE && w->line == probe->line && !w->pair))
        w = w->chain;
    return w;
}

static void set_out(struct agent_port *x, struct fabric_request *r)
{
    struct fabric *f = x->fabric;
    struct iod *own = &f->iod[x->iod], *home = &f->iod[r->home];
    const struct fabric_route *route = route_of(own, home);
    if (r->in_place &&
        !r->remote) /* one at a time, often: it is there as soon as the host has done the rest */
        home_prefetch_place(home, r->slice, r->place, 1);
    double busy = requests_of(r) * (carries_data(r) ? x->half_ps : x->ask_ps),
           wait = ps_server_take(&x->out, (double)port_now_ps(x->domain), busy), delay = route->way_ps;
    r->waited_ps = (uint64_t)wait;
    wait += x->extra_ps + (double)r->after_ps;
    delay += wait;
    if (carries_data(r)) {
        unsigned bucket = bucket_of(r->line);
        r->chain = x->writes[bucket];
        x->writes[bucket] = r;
        x->writing[bucket]++;
        if (own != home) {
            send_on(x->domain, x->iod, own, route->part_ps + wait, pass, r);
            return;
        }
    }
    send_on(x->domain, x->iod, home, delay, arrive, r);
}

/* Behind another of its line's, of those before `end`. */
static bool held_before(const struct agent_port *x, const struct fabric_request *r,
                        const struct fabric_request *end)
{
    const struct fabric_request *h = x->held;
    while (h != end && !meet(h, r))
        h = h->next;
    return h != end;
}

/* Bytes of the line were taken for a probe, and the answer that brings them has not gone. */
static bool being_probed(const struct agent_port *x, const struct fabric_request *r)
{
    const struct fabric_probe *p = x->probes;
    while (p && p->line != r->line && !(r->pair && p->line == r->line + FABRIC_LINE))
        p = p->next;
    return p;
}

/*
 * What carries no line is faster on the way: it waits for a write to its line that went
 * before.  A WRITE may be taken before what queues at its home, so it waits for ATOMICs, and for the older
 * bytes of an answer to a probe.
 */
static bool must_wait(const struct agent_port *x, const struct fabric_request *r)
{
    if (r->kind == FABRIC_ATOMIC)
        return false;
    if (r->kind == FABRIC_WRITE && being_probed(x, r))
        return true;
    return under_way(x, r, FABRIC_ATOMIC) || (r->kind != FABRIC_WRITE && under_way(x, r, FABRIC_WRITE));
}

void fabric_submit(struct fabric *f, struct fabric_request *r)
{
    struct agent_port *x = &f->agent[r->agent];
    const unsigned package = (unsigned)(r->physical >> f->package_shift);
    if (package > f->links && !r->nobody) { /* nobody's lines may be anywhere */
        assert(f->host);
        r->home = (uint8_t)host_iod(f->host)->index;
        r->slice = 0;
        r->place = 0;
        r->remote = (uint8_t)(f->links + 2);
    } else if (package == f->package || r->nobody) {
        unsigned slice;
        map_find(&f->map, r->physical & fabric_local(f), &slice, &r->place);
        r->home = f->map.iod_of[slice >> f->map.channel_bits];
        r->slice = (uint16_t)(slice - f->map.first_slice[r->home]);
        r->remote = 0;
    } else {
        r->home = (uint8_t)fabric_link(f, package)->iod->index;
        r->slice = 0;
        r->place = 0;
        r->remote = (uint8_t)(package + 1);
    }
    r->faulted = r->probed = r->dirty = false;
    r->waited_ps = 0;
    r->asked_ps = (double)(port_now_ps(x->domain) + r->after_ps);
    if (must_wait(x, r) || held_before(x, r, NULL)) {
        r->next = NULL;
        *x->held_end = r;
        x->held_end = &r->next;
    } else {
        set_out(x, r);
    }
}

/* ---- order ---- */

enum { AGENT = 255, IS_PROBE = 256, FROM_AFAR = 512, PREVIOUS = 1024 };
static_assert(FABRIC_AGENTS <= AGENT + 1, "in their bits");

/* A probe does not overtake an answer, which it may concern. */
static uint64_t in_order(struct iod *at, double delay, unsigned way)
{
    double now = iod_now(at), *last = &at->sent[way & AGENT];
    if (way & IS_PROBE)
        delay = now + delay > *last ? delay : *last - now + 1;
    else
        *last = now + delay > *last ? now + delay : *last;
    return (uint64_t)delay;
}

/* ---- probes' answers ---- */

static void probe_answered(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    home_probe_answered(event->self, (struct fabric_probe *)event->word[0]);
}

/*
 * A line from one CCD to another goes over the network of IODs without a home: from a port to the IOD of the
 * other is half of what is not over links between IODs, and from there is half.
 */
static double half_way_ps(const struct fabric *f, unsigned from, unsigned to)
{
    return (f->near_ps + f->agent_ps + f->agent[from].extra_ps + f->agent[to].extra_ps) / 2;
}

double net_between_agents_ps(const struct fabric *f, unsigned from, unsigned to)
{
    return 2 * half_way_ps(f, from, to) +
           net_between_ps(&f->iod[f->agent[from].iod], &f->iod[f->agent[to].iod]);
}

static void hand_over(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct iod *at = event->self;
    struct fabric *f = at->fabric;
    struct fabric_request *r = (struct fabric_request *)event->word[0];
    const unsigned from = (unsigned)event->word[1];
    struct agent_port *x = &f->agent[r->agent];
    const unsigned bytes = FABRIC_LINE / 2 + f->header;
    if (x->iod != at->index) {
        double delay;
        struct iod *next = net_toward(at, &f->iod[x->iod], bytes, &delay);
        struct port_event *e = net_send(at->domain, next->domain, (uint64_t)delay, hand_over, next);
        e->word[0] = event->word[0];
        e->word[1] = event->word[1];
        return;
    }
    const double wait = ps_server_take(&at->to_agent[x->index], iod_now(at), 0.5 * x->read_ps);
    const uint64_t after = in_order(at, half_way_ps(f, from, r->agent) + wait, r->agent);
    net_send(at->domain, x->domain, after, r->done, r->self)->word[0] = (uint64_t)r;
}

/* Bytes leave as a write's do; an answer without any is no request, and takes the place of none. */
static void send_probe_answer(struct agent_port *x, struct fabric_probe *probe)
{
    struct fabric *f = x->fabric;
    struct iod *home = probe->home, *own = &f->iod[x->iod];
    const double now = (double)port_now_ps(x->domain);
    if (probe->gives) {
        struct fabric_request *r = probe->asker;
        const double wait = ps_server_take(&x->out, now, x->half_ps);
        struct port_event *e = net_send(
            x->domain, own->domain, (uint64_t)(half_way_ps(f, x->index, r->agent) + wait), hand_over, own);
        e->word[0] = (uint64_t)r;
        e->word[1] = x->index;
        probe->late_ps = wait;
        r->alone = false; /* who gives it to a reader keeps it */
        r->dirty = r->kind == FABRIC_OWN && (probe->mask[0] | probe->mask[1]);
        if (r->dirty)
            probe->mask[0] = probe->mask[1] = 0;
    }
    unsigned halves = (probe->mask[0] ? 1U : 0U) + (probe->mask[1] ? 1U : 0U);
    double delay = route_of(own, home)->way_ps + x->extra_ps;
    if (halves)
        delay += ps_server_take(&x->out, now, halves * x->half_ps);
    net_send(x->domain, home->domain, (uint64_t)delay, probe_answered, home)->word[0] = (uint64_t)probe;
}

static void let_requests_go(struct agent_port *x, uint64_t line)
{
    for (struct fabric_request **p = &x->held, *r; (r = *p);) {
        if (r->line / FABRIC_PAIR != line / FABRIC_PAIR || must_wait(x, r) || held_before(x, r, r)) {
            p = &r->next;
            continue;
        }
        *p = r->next;
        if (!*p)
            x->held_end = p;
        set_out(x, r);
    }
}

/* An owner's answer says what is left of the line: not before a write that is under way has come home. */
static void let_probes_go(struct agent_port *x, uint64_t line)
{
    for (struct fabric_probe **p = &x->probes, *probe; (probe = *p);) {
        if (probe->line == line && probe->answered && !write_under_way(x, probe)) {
            *p = probe->next;
            send_probe_answer(x, probe);
        } else {
            p = &probe->next;
        }
    }
}

void fabric_probe_take(struct fabric *f, struct fabric_probe *probe)
{
    struct agent_port *x = &f->agent[probe->agent];
    probe->answered = false;
    if (!probe->owner)
        return;
    probe->next = x->probes;
    x->probes = probe;
}

void fabric_probe_answer(struct fabric *f, struct fabric_probe *probe)
{
    struct agent_port *x = &f->agent[probe->agent];
    if (!probe->owner) {
        send_probe_answer(x, probe);
        return;
    }
    const struct fabric_probe *p = x->probes;
    while (p && p != probe)
        p = p->next;
    if (!p)
        fabric_probe_take(f, probe);
    probe->answered = true;
    let_probes_go(x, probe->line);
    let_requests_go(x, probe->line);
}

/* ---- from a home to an agent ---- */

static void written(struct port_domain *domain, struct port_event *event)
{
    struct agent_port *x = event->self;
    struct fabric_request *r = (struct fabric_request *)event->word[0];
    unsigned bucket = bucket_of(r->line);
    struct fabric_request **w = &x->writes[bucket];
    while (*w != r)
        w = &(*w)->chain;
    *w = r->chain;
    x->writing[bucket]--;
    if (x->probes)
        let_probes_go(x, r->line);
    if (x->held)
        let_requests_go(x, r->line);
    event->self = r->self;
    r->done(domain, event);
}

static bool prefetch_written(const struct port_event *event, unsigned stage)
{
    const struct fabric_request *r = (const struct fabric_request *)event->word[0];
    if (stage == 0) {
        port_prefetch(r, sizeof(*r));
        return true;
    }
    port_prefetch_line(&((const struct agent_port *)event->self)->writes[bucket_of(r->line)]);
    return false;
}

static void onward(struct port_domain *domain, struct port_event *event);

/* What comes back to an agent of this IOD at `end`. */
static void note_trip(struct iod *at, const struct agent_port *x, const struct fabric_request *r, double end)
{
    struct fabric_trips *t = &at->trips[x->index];
    const unsigned lines = lines_of(r);
    t->lines += lines;
    t->trip_ps += lines * (end - r->asked_ps);
    t->links_ps += lines * 2 * (at->fabric->route[at->index][r->home].way_ps - at->fabric->near_ps);
    t->home_ps += lines * (double)r->home_ps;
}

/* `what` is a request or a probe; way: of which agent, which it is, and which IOD it comes from. */
static void step(struct iod *at, double delay, void *what, unsigned way)
{
    struct fabric *f = at->fabric;
    struct agent_port *x = &f->agent[way & AGENT];
    struct iod *end = &f->iod[x->iod];
    const struct fabric_request *r = way & IS_PROBE ? NULL : what;
    const struct iod *home = r ? &f->iod[r->home] : ((const struct fabric_probe *)what)->home;
    const double now = iod_now(at);
    delay += route_of(home, end)->part_ps;
    if (way & FROM_AFAR)
        take_link(at, way / PREVIOUS, r ? headers_bytes(f, r) : f->header);
    if (at != end) {
        double wait;
        struct iod *next = next_on_way(at, end, r ? packets_bytes(f, r) : f->header, &wait);
        struct port_event *e =
            net_send(at->domain, next->domain, in_order(at, delay + wait, way), onward, next);
        e->word[0] = (uint64_t)what;
        e->word[1] = (way & (AGENT | IS_PROBE)) | FROM_AFAR | at->index * PREVIOUS;
        return;
    }
    if (way & FROM_AFAR)
        delay += ps_server_take(&at->ingress, now, (r ? packets_bytes(f, r) : f->header) * f->ingress_ps);
    delay += x->extra_ps +
             ps_server_take(&at->to_agent[x->index], now, r ? (r->half ? 0.5 : lines_of(r)) * x->read_ps : 0);
    port_fn *fn;
    void *self;
    const uint64_t after = in_order(at, delay, way);
    if (!r) {
        fn = x->probe;
        self = x->self;
    } else {
        fn = carries_data(r) ? written : r->done;
        self = carries_data(r) ? x : r->self;
        note_trip(at, x, r, now + (double)after);
    }
    net_send(at->domain, x->domain, after, fn, self)->word[0] = (uint64_t)what;
}

static void onward(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    step(event->self, 0, (void *)event->word[0], (unsigned)event->word[1]);
}

double net_way_ps(const struct iod *home, const struct fabric_request *r)
{
    const struct fabric *f = home->fabric;
    const unsigned link = r->agent - f->xcds - f->ccds; /* behind which whoever asked is */
    const double beyond = link < f->links ? f->link[link].way_ps + f->near_ps : 0;
    const struct agent_port *x = &f->agent[r->agent];
    return f->route[home->index][x->iod].way_ps + x->extra_ps + beyond;
}

void net_answer(struct iod *home, struct fabric_request *r, double after_ps)
{
    struct fabric *f = home->fabric;
    struct agent_port *x = &f->agent[r->agent];
    r->home_ps = (float)(iod_now(home) + after_ps - r->asked_ps) - r->home_ps;
    if (r->kind == FABRIC_WRITE) {
        double delay = after_ps + f->route[home->index][x->iod].way_ps + x->extra_ps;
        net_send(home->domain, x->domain, (uint64_t)delay, written, x)->word[0] = (uint64_t)r;
    } else {
        step(home, after_ps, r, r->agent);
    }
}

void net_probe(struct iod *home, struct fabric_probe *probe, double after_ps)
{
    step(home, after_ps, probe, probe->agent | IS_PROBE);
}

void net_prefetch(struct iod *iod)
{
    port_set_prefetch(iod->domain, arrive, prefetch_arrival);
    port_set_prefetch(iod->domain, pass, prefetch_passing);
    port_set_prefetch(iod->domain, onward, prefetch_passing);
}

void net_prefetch_at_agent(struct agent_port *x)
{
    port_set_prefetch(x->domain, written, prefetch_written);
}
