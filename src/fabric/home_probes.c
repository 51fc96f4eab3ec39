/* SPDX-License-Identifier: MIT */
/*
 * Probes that a request sends before its turn, their answers, and lines that lose their entry in the probe
 * filter, which are probed out of all caches as by a writer.
 */
#include "base/guarded.h"
#include "fabric/home.h"

enum { CHUNK_PROBES = 64 };

static struct home_probe *probe_new(struct iod *iod)
{
    if (!iod->spare_probes) {
        struct home_probe *probes = arena_take(&iod->arena, CHUNK_PROBES * sizeof(*probes));
        for (unsigned i = 0; i < CHUNK_PROBES; i++) {
            probes[i].next = iod->spare_probes;
            iod->spare_probes = &probes[i];
        }
    }
    struct home_probe *p = iod->spare_probes;
    iod->spare_probes = p->next;
    p->probe.mask[0] = p->probe.mask[1] = 0;
    p->probe.in_place = p->probe.keeps = p->probe.gives = false;
    p->probe.asker = NULL;
    return p;
}

static void probe_free(struct iod *iod, struct home_probe *p)
{
    p->next = iod->spare_probes;
    iod->spare_probes = p;
}

/* The agents that own one of those halves, a bit each. */
static uint32_t owners_of(const filter_entry *e, unsigned halves)
{
    uint32_t owners = 0;
    for (unsigned i = 0; i < 2; i++)
        if (halves >> i & 1 && e->half[i] & FILTER_OWNED)
            owners |= e->half[i] & ~FILTER_OWNED;
    return owners;
}

/* Those that wait, for this or another half of the line. */
static void writes_before_answer(struct iod *iod, const struct home_line *probed)
{
    struct slice *s = &iod->slice[probed->slice];
    for (struct home_line *h = *bucket_of(s, probed->line); (h = of_line(h, probed->line)); h = h->next)
        for (struct fabric_request **link = &h->first, *r; (r = *link);) {
            if (!home_comes_before_answer(probed, r)) {
                link = &r->next;
                continue;
            }
            *link = r->next;
            if (!*link)
                h->end = link;
            home_answer(iod, h->slice, r);
        }
}

static bool is_ccd(const struct fabric *f, unsigned agent)
{
    return agent - f->xcds < f->ccds;
}

void home_send_probes(struct iod *iod, struct home_line *h, uint32_t probes)
{
    struct fabric *f = iod->fabric;
    struct slice *s = &iod->slice[h->slice];
    struct fabric_request *r = h->request;
    const bool one = !(probes & (probes - 1));
    h->probing = probes;
    const filter_entry *e = filter_of(iod, s, h->line);
    h->owners = owners_of(e, BOTH);
    double now = iod_now(iod);
    double after = f->slice_ps + ps_server_take(&s->port, now, 0) + home_landing(s, h->line, 1, now);
    uint64_t skip = (h->line - r->place) * (uint64_t)FABRIC_LINE;
    for (; probes; probes &= probes - 1) {
        struct home_probe *p = probe_new(iod);
        p->line = h;
        p->probe.line = r->line + skip;
        p->probe.physical = r->physical + skip;
        p->probe.agent = (uint8_t)__builtin_ctz(probes);
        /* XCDs have whole lines, and lose them. */
        p->probe.halves = (uint8_t)(p->probe.agent < f->xcds ? BOTH : halves_of(r));
        p->probe.owner = owners_of(e, p->probe.halves) >> p->probe.agent & 1;
        p->probe.home = iod;
        p->probe.shares = r->kind == FABRIC_READ || r->kind == FABRIC_FETCH;
        if (one && p->probe.owner && r->in_place && r->kind <= FABRIC_OWN && is_ccd(f, r->agent) &&
            is_ccd(f, p->probe.agent)) {
            p->probe.asker = r;
            p->asked = *r;
        }
        iod->counters.probes++;
        net_probe(iod, &p->probe, after);
    }
    writes_before_answer(iod, h);
}

/* ---- lines that lose their entry in the probe filter ---- */

static struct home_displaced *displaced_new(struct iod *iod)
{
    struct home_displaced *d = iod->spare_displaced;
    if (d)
        iod->spare_displaced = d->next;
    else
        d = arena_take(&iod->arena, sizeof(*d));
    return d;
}

static void displaced_free(struct iod *iod, struct home_line *h)
{
    h->lost->next = iod->spare_displaced;
    iod->spare_displaced = h->lost;
    h->lost = NULL;
}

bool home_give_up(struct iod *iod, struct home_line *h)
{
    const filter_entry *e = filter_of(iod, &iod->slice[h->slice], h->line);
    const uint32_t holders = (e->half[0] | e->half[1]) & (FILTER_OWNED - 1);
    if (!holders) {
        displaced_free(iod, h);
        return false;
    }
    h->giving_up = true;
    h->request = &h->lost->request;
    home_send_probes(iod, h, holders);
    return true;
}

static void displace(struct iod *iod, unsigned slice, const struct filter_tag *t)
{
    struct home_line *h = find_busy(&iod->slice[slice], t->line, BOTH);
    const bool busy = h;
    if (!h)
        h = home_make_busy(iod, slice, t->line, BOTH);
    h->halves = BOTH;
    h->lost = displaced_new(iod);
    h->lost->request = (struct fabric_request){
        .kind = FABRIC_OWN, .line = t->bytes, .physical = t->physical, .place = t->line};
    iod->counters.displaced++;
    if (!busy && !home_give_up(iod, h))
        home_make_free(iod, h);
}

void home_enter(struct iod *iod, unsigned slice, const struct fabric_request *r)
{
    struct slice *s = &iod->slice[slice];
    for (uint32_t i = 0; i < lines_of(r); i++) {
        const struct filter_tag t = {.bytes = r->line + i * (uint64_t)FABRIC_LINE,
                                     .physical = r->physical + i * (uint64_t)FABRIC_LINE,
                                     .line = r->place + i};
        struct filter_tag other;
        struct home_line *h = find_busy(s, t.line, BOTH);
        if ((h && h->giving_up) || filter_is_empty(filter_of(iod, s, t.line)))
            continue;
        if (h && h->lost)
            displaced_free(iod, h); /* it has an entry again before anybody was told */
        if (filter_enter(iod, s, &t, &other))
            displace(iod, slice, &other);
    }
}

/* ---- answers ---- */

/*
 * The owner has sent the line to whoever asked, whose request is over by now or soon.  That one tells the
 * home when it has the line, as in AMD's protocols since HyperTransport (SrcDone), and nobody else gets it
 * before.
 */
static void handed_over(struct iod *iod, struct home_line *h, struct home_probe *p)
{
    const struct fabric *f = iod->fabric;
    struct fabric_request *r = &p->asked;
    struct slice *s = &iod->slice[h->slice];
    const struct iod *owner = &f->iod[f->agent[p->probe.agent].iod];
    home_note_holder(filter_of(iod, s, h->line), r);
    if (s->tags.tag)
        home_enter(iod, h->slice, r);
    const double busy = net_between_agents_ps(f, p->probe.agent, r->agent) + p->probe.late_ps +
                        net_way_ps(iod, r) - f->route[iod->index][owner->index].way_ps;
    probe_free(iod, p);
    home_hold(iod, h, busy);
}

void home_probe_answered(struct iod *iod, struct fabric_probe *probe)
{
    struct home_probe *p = (struct home_probe *)probe;
    struct home_line *h = p->line;
    if (!h) {
        link_probe_answered(p);
        return;
    }
    filter_entry *e = filter_of(iod, &iod->slice[h->slice], h->line);
    if (probe->mask[0] | probe->mask[1]) {
        if (!probe->in_place)
            guarded_store_line((uint8_t *)(uintptr_t)probe->line, probe->data, probe->mask);
        home_mark_written(iod, h->slice, h->line, probe->mask);
    }
    for (unsigned i = 0; i < 2; i++)
        if (probe->halves >> i & 1)
            take_away(&e->half[i], probe->keeps ? FILTER_OWNED : 1U << probe->agent);
    h->probing &= ~(1U << probe->agent);
    if (probe->gives) {
        handed_over(iod, h, p);
        return;
    }
    probe_free(iod, p);
    struct fabric_request *r = h->request;
    if (h->probing)
        return;
    if (h->giving_up) {
        h->giving_up = false;
        displaced_free(iod, h);
        home_go_on(iod, h);
        return;
    }
    r->probed = true;
    if (!r->pair) {
        if (!home_proceed(iod, h->slice, r, h))
            home_go_on(iod, h);
    } else if (--r->left == 0) {
        unsigned slice = h->slice;
        uint32_t place = r->place;
        if (!home_proceed(iod, slice, r, NULL))
            home_let_pair_go(iod, slice, place);
    }
}
