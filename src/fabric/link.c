/* SPDX-License-Identifier: MIT */
/*
 * Links between packages: an end on an IOD of each.
 *
 * A request for memory of another package goes to the IOD that has the link there as if that were its home,
 * and over the link.  The other end asks its own package for it, as an agent, with a request of its own, and
 * sends back what comes of it.  So the order of all accesses to a line is at its home, as within a package.
 *
 * CPUs are coherent over packages: a home takes the link for whoever has the line behind it.  Its end there
 * knows which CCDs those are, lets their requests for a line through one after another, and passes on probes.
 * GPUs are not: an L2 holds lines of other packages that no home knows of, until a fence.
 *
 * Packages without a link between them have one all the same, as far as all of that is concerned: what goes
 * over it is passed on by those on the way, from the IOD where it comes in to the one where it leaves.
 *
 * Sources: ISCA'24, IV.D (hardware coherence of GPUs within a socket only), VIII and figure 18.
 */
#include "fabric/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { LINK_HALF = FABRIC_LINE / 2 };

/* A request of the other package's, at the home's end of the link. */
struct link_trip {
    struct fabric_request request; /* first: its own, to the package */
    struct fabric_request *of;
    struct link *link; /* this end */
    struct link_trip *next;
};

/* A probe at the CCDs of this package, for the other package's home, or for one of its own requests. */
struct link_probe {
    struct home_probe home; /* first; its `line` is NULL */
    struct link_ask *ask;
    struct link_probe *next;
};

/* What waits for probes' answers. */
struct link_ask {
    struct link *link;
    struct fabric_probe *probe;     /* the other home's, or */
    struct fabric_request *request; /* one of ours, which then goes on */
    unsigned left;
    struct link_ask *next;
};

/* Half a line of the other package's that CCDs of this one have, or ask for. */
struct link_half {
    uint64_t number;                     /* physical address by 64 bytes, plus 1; 0: the place is free */
    uint16_t holders;                    /* a bit for each agent */
    bool owned;                          /* by the one holder */
    bool busy;                           /* a request is under way */
    struct fabric_request *first, *last; /* and these wait */
};

struct link_directory {
    struct link_half *half;
    uint64_t places, used; /* places: a power of two */
};

/* ---- who has what ---- */

static uint64_t place_of(const struct link_directory *d, uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (d->places - 1);
}

static struct link_half *look_up(const struct link_directory *d, uint64_t number)
{
    uint64_t i = place_of(d, number);
    while (d->half[i].number && d->half[i].number != number + 1)
        i = (i + 1) & (d->places - 1);
    return &d->half[i];
}

/* Twice as large; those that nobody has any more are left out. */
static void grow(struct link_directory *d)
{
    struct link_directory more = {.places = d->places ? 2 * d->places : 1024};
    more.half = must(calloc(more.places, sizeof(*more.half)));
    for (uint64_t i = 0; i < d->places; i++)
        if (d->half[i].number && (d->half[i].holders || d->half[i].busy)) {
            *look_up(&more, d->half[i].number - 1) = d->half[i];
            more.used++;
        }
    free(d->half);
    *d = more;
}

/* NULL: nobody has it, unless it is to be made. */
static struct link_half *half_of(struct link *link, uint64_t number, bool make)
{
    struct link_directory *d = link->directory;
    if (make && 2 * (d->used + 1) > d->places)
        grow(d);
    struct link_half *h = d->places ? look_up(d, number) : NULL;
    if (!h || h->number || !make)
        return h && h->number ? h : NULL;
    h->number = number + 1;
    d->used++;
    return h;
}

static bool is_cpu(const struct link *link, const struct fabric_request *r)
{
    return r->agent >= link->fabric->xcds && r->agent < link->fabric->xcds + link->fabric->ccds;
}

static uint64_t first_half(const struct fabric_request *r)
{
    return r->physical / FABRIC_LINE * 2;
}

/* ---- over the link ---- */

/* Halves of lines that travel with a request, or its answer. */
static unsigned halves_of(const struct fabric_request *r)
{
    unsigned halves = (r->mask[0] ? 1U : 0U) + (r->mask[1] ? 1U : 0U);
    if (r->kind != FABRIC_WRITE)
        halves = r->half || r->kind == FABRIC_ATOMIC ? 1 : 2;
    return halves * lines_of(r);
}

/* Something on its way over several links, of which it has passed some. */
struct passing {
    void *what;
    port_fn *fn; /* at the far end */
    struct link *link;
    unsigned bytes, passed;
};

static void pass(struct port_domain *domain, struct port_event *event);

static void post_passing(struct port_domain *from, struct iod *to, double delay, const struct passing *p)
{
    struct port_event *e = port_send(from, to->domain, (uint64_t)delay, pass, to);
    e->word[0] = (uint64_t)p->what;
    e->word[1] = (uint64_t)p->fn;
    e->word[2] = (uint64_t)p->link;
    e->word[3] = (uint64_t)p->bytes << 32 | p->passed;
}

/* Over the next link of the way, after all that was sent over it before. */
static void send_next(struct passing *p)
{
    const uint8_t *way = p->link->way + p->passed;
    struct link *next = fabric_link(p->link->fabric->all[way[0]], way[1]);
    struct iod *iod = next->iod, *to = next->far->iod;
    const double busy = p->bytes * next->byte_ps, wait = ps_server_take(&next->out, iod_now(iod), busy),
                 delay = next->latency_ps + wait + busy;
    iod->counters.link_bytes += p->bytes;
    count_traffic(&next->traffic, p->bytes, wait);
    if (++p->passed < p->link->hops)
        post_passing(iod->domain, to, delay, p);
    else
        port_send(iod->domain, to->domain, (uint64_t)delay, p->fn, p->link->far)->word[0] = (uint64_t)p->what;
}

/* Over a package on the way, to the IOD where it leaves. */
static void pass(struct port_domain *domain, struct port_event *event)
{
    struct iod *at = event->self;
    struct passing p = {.what = (void *)event->word[0],
                        .fn = (port_fn *)event->word[1],
                        .link = (struct link *)event->word[2],
                        .bytes = (unsigned)(event->word[3] >> 32),
                        .passed = (unsigned)event->word[3]};
    const struct iod *end = fabric_link(at->fabric, p.link->way[p.passed + 1])->iod;
    double delay;
    if (at == end) {
        send_next(&p);
        return;
    }
    struct iod *next = net_toward(at, end, p.bytes, &delay);
    post_passing(domain, next, delay, &p);
}

/* To the other end, in packets of half a line or in one without any. */
static void send_over(struct link *link, unsigned halves, port_fn *fn, void *what)
{
    struct passing p = {.what = what,
                        .fn = fn,
                        .link = link,
                        .bytes = halves ? halves * (LINK_HALF + link->header) : link->header};
    send_next(&p);
}

/* ---- at the end where memory is ---- */

static void change(struct fabric_request *own, uint8_t *line)
{
    struct link_trip *t = (struct link_trip *)own;
    t->of->atomic(t->of, line);
}

static void returned(struct port_domain *domain, struct port_event *event);

static void answered(struct port_domain *domain, struct port_event *event)
{
    struct link_trip *t = (struct link_trip *)event->word[0];
    struct link *link = t->link;
    struct fabric_request *r = t->of;
    (void)domain;
    r->faulted = t->request.faulted;
    r->missed = t->request.missed;
    r->alone = r->alone && t->request.alone;
    t->next = link->spare_trips;
    link->spare_trips = t;
    send_over(link, r->kind == FABRIC_WRITE ? 0 : halves_of(r), returned, r);
}

/* From the other package.  What its GPU has no home keeps account of. */
static void arrived(struct port_domain *domain, struct port_event *event)
{
    struct link *link = event->self;
    struct fabric_request *r = (struct fabric_request *)event->word[0];
    struct link_trip *t = link->spare_trips;
    (void)domain;
    if (t)
        link->spare_trips = t->next;
    else
        t = arena_take(&link->iod->arena, sizeof(*t));
    memset(t, 0, sizeof(*t));
    t->of = r;
    t->link = link;
    t->request = (struct fabric_request){.kind = r->kind,
                                         .agent = link->agent,
                                         .nobody = r->nobody,
                                         .in_place = r->in_place,
                                         .past = r->past,
                                         .half = r->half,
                                         .halves = r->halves,
                                         .alone = r->alone,
                                         .pair = r->pair,
                                         .operations = r->operations,
                                         .depth = r->depth,
                                         .line = r->line,
                                         .physical = r->physical,
                                         .data = r->data,
                                         .second = r->second,
                                         .mask = {r->mask[0], r->mask[1]},
                                         .atomic = change,
                                         .done = answered,
                                         .self = link};
    if (!is_cpu(link->far, r) && (r->kind == FABRIC_READ || r->kind == FABRIC_OWN))
        t->request.kind = FABRIC_FETCH;
    fabric_submit(link->fabric, &t->request);
}

static void probe_arrived(struct port_domain *domain, struct port_event *event);

/* The home wants a line that it takes the other package's CPU to have. */
static void probed(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    send_over(event->self, 0, probe_arrived, (void *)event->word[0]);
}

static void probe_returned(struct port_domain *domain, struct port_event *event)
{
    const struct link *link = event->self;
    (void)domain;
    fabric_probe_answer(link->fabric, (struct fabric_probe *)event->word[0]);
}

/* ---- at the asker's end ---- */

static struct link_ask *take_ask(struct link *link)
{
    struct link_ask *a = link->spare_asks;
    if (a)
        link->spare_asks = a->next;
    else
        a = arena_take(&link->iod->arena, sizeof(*a));
    *a = (struct link_ask){.link = link};
    return a;
}

static void forward(struct link *link, struct fabric_request *r)
{
    send_over(link, carries_data(r) ? halves_of(r) : 0, arrived, r);
}

static void ask_over(struct link_ask *a)
{
    struct link *link = a->link;
    const struct fabric_probe *p = a->probe;
    a->next = link->spare_asks;
    link->spare_asks = a;
    if (a->request)
        forward(link, a->request);
    else
        send_over(link, (p->mask[0] ? 1U : 0U) + (p->mask[1] ? 1U : 0U), probe_returned, a->probe);
}

/* Those who hold halves of a line, but for `self`; and no more, if they do not only share. */
static void ask_holders(struct link_ask *a, uint64_t line, uint64_t physical, unsigned halves, bool shares,
                        uint32_t self)
{
    struct link *link = a->link;
    uint8_t of[FABRIC_CACHES] = {0};
    for (unsigned i = 0; i < 2; i++) {
        struct link_half *h = halves >> i & 1 ? half_of(link, physical / FABRIC_LINE * 2 + i, false) : NULL;
        if (!h || (shares && !h->owned))
            continue;
        for (uint32_t holders = h->holders & ~self; holders; holders &= holders - 1)
            of[__builtin_ctz(holders)] |= (uint8_t)(1U << i);
        h->owned = h->owned && (h->holders & self) && !(h->holders & ~self);
        h->holders &= (uint16_t)(shares ? UINT16_MAX : self);
    }
    for (unsigned agent = 0; agent < FABRIC_CACHES; agent++) {
        if (!of[agent])
            continue;
        struct link_probe *p = link->spare_probes;
        if (p)
            link->spare_probes = p->next;
        else
            p = arena_take(&link->iod->arena, sizeof(*p));
        memset(p, 0, sizeof(*p));
        p->ask = a;
        p->home.probe.line = line;
        p->home.probe.physical = physical;
        p->home.probe.agent = (uint8_t)agent;
        p->home.probe.halves = of[agent];
        p->home.probe.owner = true;
        p->home.probe.home = link->iod;
        p->home.probe.shares = shares;
        a->left++;
        net_probe(link->iod, &p->home.probe, 0);
    }
}

void link_probe_answered(struct home_probe *answer)
{
    struct link_probe *p = (struct link_probe *)answer;
    struct link_ask *a = p->ask;
    struct link *link = a->link;
    for (unsigned i = 0; a->probe && i < 2; i++)
        a->probe->mask[i] |= answer->probe.mask[i];
    p->next = link->spare_probes;
    link->spare_probes = p;
    if (--a->left == 0)
        ask_over(a);
}

/* The bytes of a CPU's line are the process's. */
static void probe_arrived(struct port_domain *domain, struct port_event *event)
{
    struct link *link = event->self;
    struct link_ask *a = take_ask(link);
    struct fabric_probe *p = a->probe = (struct fabric_probe *)event->word[0];
    (void)domain;
    p->in_place = true;
    p->keeps = p->shares;
    ask_holders(a, p->line, p->physical, p->halves, p->shares, 0);
    if (!a->left)
        ask_over(a);
}

/* Others of this package give the line up first, for a request that takes more than they leave. */
static void go(struct link *link, struct fabric_request *r)
{
    const bool shares = r->kind == FABRIC_READ || r->kind == FABRIC_FETCH, cpu = is_cpu(link, r);
    struct link_ask *a = take_ask(link);
    a->request = r;
    for (unsigned i = 0; i < lines_of(r); i++)
        ask_holders(a, r->line + i * FABRIC_LINE, r->physical + i * FABRIC_LINE, r->halves ? r->halves : 3,
                    shares, cpu ? 1U << r->agent : 0);
    if (!a->left)
        ask_over(a);
}

/* A CPU has written a line back, or has it no more. */
static void note_given_up(struct link *link, const struct fabric_request *r)
{
    for (unsigned i = 0; i < 2; i++) {
        struct link_half *h =
            (r->halves ? r->halves : 3U) >> i & 1 ? half_of(link, first_half(r) + i, false) : NULL;
        if (h) {
            h->holders &= (uint16_t)~(1U << r->agent);
            h->owned = h->owned && h->holders;
        }
    }
}

/* The half that a CPU asks for: one. */
static uint64_t wanted_half(const struct fabric_request *r)
{
    return first_half(r) + (r->halves == 2);
}

void link_take(struct link *link, struct fabric_request *r)
{
    if (!is_cpu(link, r)) {
        if (link->directory->used)
            go(link, r);
        else
            forward(link, r);
        return;
    }
    if (r->kind == FABRIC_WRITE) {
        note_given_up(link, r);
        if (r->past)
            go(link, r); /* others lose it */
        else
            forward(link, r);
        return;
    }
    struct link_half *h = half_of(link, wanted_half(r), true);
    if (h->busy) {
        r->next = NULL;
        *(h->first ? &h->last->next : &h->first) = r;
        h->last = r;
        return;
    }
    h->busy = true;
    go(link, r);
}

static void returned(struct port_domain *domain, struct port_event *event)
{
    struct link *link = event->self;
    struct fabric_request *r = (struct fabric_request *)event->word[0];
    (void)domain;
    if (!is_cpu(link, r) || r->kind == FABRIC_WRITE) {
        net_answer(link->iod, r, 0);
        return;
    }
    struct link_half *h = half_of(link, wanted_half(r), true);
    const uint16_t self = (uint16_t)(1U << r->agent);
    if (r->kind == FABRIC_OWN)
        h->holders = self;
    else if (r->kind == FABRIC_READ)
        h->holders |= self;
    r->alone = r->alone && h->holders == self;
    h->owned = r->kind == FABRIC_OWN || r->alone;
    struct fabric_request *next = h->first;
    h->busy = next != NULL;
    if (next)
        h->first = next->next;
    net_answer(link->iod, r, 0);
    if (next)
        go(link, next);
}

/* ---- life ---- */

/* The ends find each other. */
static void open_end(struct fabric *f, struct fabric *far, const struct node *node)
{
    struct link *link = fabric_link(f, far->package);
    link->hops = node_way(node, f->package, far->package, link->way);
    const struct node_link way = node_link_of(node, f->package, link->way[1]);
    link->fabric = f;
    link->iod = &f->iod[way.iod[0]];
    link->far = fabric_link(far, f->package);
    link->byte_ps = 1000 / (way.count * node->value[NODE_link_rate]);
    link->latency_ps = node->value[NODE_link_latency] * 1000;
    link->header = (unsigned)node->value[NODE_link_header];
    link->directory = must(calloc(1, sizeof(*link->directory)));
    link->agent = fabric_agent(f, FABRIC_LINK, (unsigned)(link - f->link));
    f->agent[link->agent].iod = way.iod[0];
    fabric_attach(f, link->agent, link->iod->domain, probed, link);
}

/* All links of the way, and what is between them. */
static void add_up(struct link *link)
{
    const struct link *at = fabric_link(link->fabric, link->way[1]);
    link->way_ps = at->latency_ps;
    for (unsigned i = 1; i < link->hops; i++) {
        const struct iod *in = at->far->iod;
        at = fabric_link(link->fabric->all[link->way[i]], link->way[i + 1]);
        link->way_ps += at->latency_ps + net_between_ps(in, at->iod);
    }
}

void fabric_join(struct fabric *const *fabrics, const struct node *node)
{
    for (unsigned a = 0; a < node->packages; a++)
        for (unsigned b = 0; b < node->packages; b++) {
            fabrics[a]->all[b] = fabrics[b];
            if (a != b)
                open_end(fabrics[a], fabrics[b], node);
        }
    for (unsigned a = 0; a < node->packages; a++)
        for (unsigned b = 0; b < node->packages; b++)
            if (a != b)
                add_up(fabric_link(fabrics[a], b));
}

void link_close(struct link *link)
{
    if (link->directory)
        free(link->directory->half);
    free(link->directory);
}
