/* SPDX-License-Identifier: MIT */
/*
 * Lines that go from CCD to CCD: how long that takes, who may have them when, and halves of a line, which go
 * each by itself.  CCDs are in the domains of XCDs here.
 */
#include "script.h"

enum { CCDS = 3, HALF = FABRIC_LINE / 2 };

struct ccd_cache {
    struct rig *rig;
    unsigned agent;
    bool gives, dirty;
    uint64_t probes, probed_ps; /* how many, and when the last came */
};
static struct ccd_cache caches[CCDS];

static void ccd_probed(struct port_domain *domain, struct port_event *event)
{
    struct ccd_cache *c = event->self;
    struct fabric_probe *p = (struct fabric_probe *)event->word[0];
    c->probes++;
    c->probed_ps = port_now_ps(domain);
    p->in_place = true;
    p->owner = false;
    p->keeps = p->shares;
    p->gives = p->asker && c->gives;
    for (unsigned half = 0; half < 2; half++)
        p->mask[half] = c->dirty && p->halves >> half & 1 ? UINT64_MAX : 0;
    fabric_probe_answer(c->rig->fabric, p);
}

static void open_ccds(struct rig *rig, bool gives)
{
    open_rig(rig, "mi300a", 1);
    for (unsigned i = 0; i < CCDS; i++) {
        caches[i] =
            (struct ccd_cache){.rig = rig, .agent = fabric_agent(rig->fabric, FABRIC_CCD, i), .gives = gives};
        fabric_attach(rig->fabric, caches[i].agent, port_domain(rig->port, i), ccd_probed, &caches[i]);
    }
}

/* At `ns`, the CCD's request for half a line. */
static void ask(struct rig *rig, uint64_t ns, struct test_request *t, enum fabric_kind kind, unsigned ccd,
                uint64_t physical, unsigned half)
{
    t->r = (struct fabric_request){
        .half = true, .in_place = true, .halves = (uint8_t)(1U << half), .alone = kind == FABRIC_READ};
    at(rig, ns, t, kind, ccd, physical);
    t->r.agent = (uint8_t)caches[ccd].agent;
}

static double ns_of(const struct test_request *t)
{
    return (double)(t->end - t->begin) / 1000;
}

/* A line whose home is on this IOD. */
static uint64_t line_on(const struct rig *rig, unsigned iod)
{
    uint64_t physical = 0;
    while (fabric_place_of(rig->fabric, physical).iod != iod)
        physical += 4096;
    return physical;
}

/* Past the home, only the request and the probe go its way: an IOD farther adds two links and not four. */
static void test_ways(void)
{
    double near[2] = {0};
    for (unsigned gives = 0; gives <= 1; gives++)
        for (unsigned iod = 4; iod-- > 0;) { /* CCDs are on the last one */
            struct rig rig;
            static struct test_request t[2];
            open_ccds(&rig, gives);
            const double usr = rig.chip.value[CHIP_usr_latency];
            const unsigned links = iod == 3 ? 0 : iod == 1 ? 2 : 1;
            const uint64_t physical = line_on(&rig, iod);
            ask(&rig, 1000, &t[0], FABRIC_OWN, 0, physical, 0);
            ask(&rig, 3000, &t[1], FABRIC_OWN, 1, physical, 0);
            run(&rig);
            CHECK_EQ(caches[0].probes, 1);
            if (iod == 3)
                near[gives] = ns_of(&t[1]);
            const double farther = ns_of(&t[1]) - near[gives], ways = gives ? 2 : 4;
            CHECK(farther > ways * links * usr - 2 && farther < ways * links * usr + 2);
            rig_close(&rig);
        }
    CHECK(near[1] < near[0] - 20);
}

/* Who comes next has it no sooner than the home knows that the one before has it. */
static void test_turn(void)
{
    struct rig rig;
    static struct test_request t[3];
    open_ccds(&rig, true);
    const double *v = rig.chip.value;
    const double way = v[CHIP_fabric_ccd_latency] + v[CHIP_fabric_network_latency],
                 look_up = v[CHIP_infinity_cache_latency];
    const uint64_t physical = line_on(&rig, 3);
    ask(&rig, 1000, &t[0], FABRIC_OWN, 0, physical, 0);
    ask(&rig, 3000, &t[1], FABRIC_OWN, 1, physical, 0);
    ask(&rig, 3001, &t[2], FABRIC_OWN, 2, physical, 0);
    run(&rig);
    const double kept = (double)(caches[1].probed_ps - t[1].end) / 1000;
    CHECK(kept > 2 * way + look_up - 2 && kept < 2 * way + look_up + 2);
    CHECK_EQ(caches[0].probes + caches[1].probes + caches[2].probes, 2);
    CHECK(t[2].end > caches[1].probed_ps);
    rig_close(&rig);
}

/* However long the line waits, where its old owner writes or its new one reads: the next one's probe does not
 * come before it. */
static void test_order(void)
{
    enum { BUSY = 300, STARTS = 12 };
    for (unsigned reads = 0; reads <= 1; reads++)
        for (unsigned start = 0; start < STARTS; start++) {
            struct rig rig;
            static struct test_request t[3], busy[BUSY];
            open_ccds(&rig, true);
            caches[0].dirty = true;
            const uint64_t physical = line_on(&rig, 3);
            ask(&rig, 1000, &t[0], FABRIC_OWN, 0, physical, 0);
            for (unsigned i = 0; i < BUSY; i++) {
                ask(&rig, 2600 + 50 * start, &busy[i], reads ? FABRIC_READ : FABRIC_WRITE, reads,
                    1 << 20 | i << 7, 0);
                busy[i].r.mask[0] = UINT64_MAX;
            }
            ask(&rig, 3000, &t[1], FABRIC_OWN, 1, physical, 0);
            ask(&rig, 3001, &t[2], FABRIC_OWN, 2, physical, 0);
            run(&rig);
            const unsigned first = t[1].end < t[2].end ? 1 : 2;
            CHECK_EQ(caches[3 - first].probes, 0);
            CHECK_EQ(caches[first].probes, 1);
            CHECK(caches[first].probed_ps >= t[first].end);
            rig_close(&rig);
        }
}

/* What memory does not have is the new owner's business; who only reads leaves it to memory. */
static void test_dirty(void)
{
    for (unsigned reads = 0; reads <= 1; reads++) {
        struct rig rig;
        struct fabric_counters before, after;
        static struct test_request t[2];
        open_ccds(&rig, true);
        caches[0].dirty = true;
        const uint64_t physical = line_on(&rig, 2);
        ask(&rig, 1000, &t[0], FABRIC_OWN, 0, physical, 1);
        run(&rig);
        CHECK(!t[0].r.dirty);
        fabric_read_counters(rig.fabric, &before);
        ask(&rig, 3000, &t[1], reads ? FABRIC_READ : FABRIC_OWN, 1, physical, 1);
        run(&rig);
        fabric_read_counters(rig.fabric, &after);
        CHECK_EQ(t[1].r.dirty, !reads);
        CHECK(!t[1].r.alone);
        CHECK_EQ(after.reads, before.reads); /* from memory, or its cache */
        rig_close(&rig);
    }
}

/* Halves side by side; who wants both has them after those that came before and before those that come later.
 */
static void test_halves(void)
{
    double alone = 0;
    for (unsigned both = 0; both <= 1; both++) {
        struct rig rig;
        static struct test_request t[7];
        open_ccds(&rig, true);
        const uint64_t physical = line_on(&rig, 0);
        ask(&rig, 1000, &t[0], FABRIC_OWN, 0, physical, 0);
        ask(&rig, 2000, &t[1], FABRIC_OWN, 0, physical, 1);
        ask(&rig, 4000, &t[2], FABRIC_OWN, 1, physical, 0);
        if (both)
            ask(&rig, 4000, &t[3], FABRIC_OWN, 2, physical, 1);
        run(&rig);
        alone = both ? alone : ns_of(&t[2]);
        CHECK(ns_of(&t[2]) < alone + 1);
        if (both)
            CHECK(ns_of(&t[3]) < alone + 1);
        CHECK_EQ(caches[0].probes, 1 + both);
        if (both) {
            ask(&rig, 8000, &t[2], FABRIC_OWN, 2, physical, 0);
            ask(&rig, 8001, &t[3], FABRIC_OWN, 1, physical, 1);
            t[4].r = (struct fabric_request){0};
            at(&rig, 8050, &t[4], FABRIC_OWN, 4, physical);
            ask(&rig, 8120, &t[5], FABRIC_OWN, 0, physical, 0);
            ask(&rig, 8120, &t[6], FABRIC_OWN, 0, physical, 1);
            run(&rig);
            CHECK(t[2].end < t[4].end && t[3].end < t[4].end);
            CHECK(t[4].end < t[5].end && t[4].end < t[6].end);
            CHECK_EQ(l2s[4].probes, 1); /* by the first of them: it has the whole line, and loses it */
        }
        rig_close(&rig);
    }
}

/* ---- all at once: nobody has what another owns ---- */

enum { AGENTS = CCDS + 2, LINES = 6, EACH = 3000 };

static struct holder {
    struct rig *rig;
    unsigned number, agent; /* CCDs come first, then XCDs, in the domains of their numbers */
    struct fabric_request r;
    unsigned line, half, left;
    uint64_t random, last_ps;
} holders[AGENTS];
static unsigned has[LINES][2], owner[LINES][2]; /* owner: plus 1 */
static uint64_t line_at[LINES];

static void holder_asks(struct port_domain *domain, struct port_event *event);

static void holder_answered(struct port_domain *domain, struct port_event *event)
{
    struct holder *h = event->self;
    const bool whole = h->number >= CCDS;
    const bool owns = h->r.kind == FABRIC_OWN || (h->r.kind == FABRIC_READ && h->r.alone);
    for (unsigned half = 0; half < 2; half++) {
        if (!whole && half != h->half)
            continue;
        const unsigned others = has[h->line][half] & ~(1U << h->number);
        CHECK(owns ? others == 0 : !owner[h->line][half]);
        has[h->line][half] = others | 1U << h->number;
        owner[h->line][half] = owns ? h->number + 1 : 0;
    }
    h->last_ps = port_now_ps(domain);
    h->random = h->random * UINT64_C(6364136223846793005) + 1;
    port_post(domain, port_now(domain) + (h->random >> 40) % 200, holder_asks, h);
}

static void holder_asks(struct port_domain *domain, struct port_event *event)
{
    struct holder *h = event->self;
    if (!h->left--)
        return;
    h->random = h->random * UINT64_C(6364136223846793005) + 1;
    const unsigned n = (unsigned)(h->random >> 33);
    const bool whole = h->number >= CCDS;
    h->line = n % LINES;
    h->half = n / LINES % 2;
    const enum fabric_kind kind = n / 16 % 3 ? FABRIC_OWN : FABRIC_READ;
    if (kind == FABRIC_OWN ? owner[h->line][h->half] == h->number + 1
                           : has[h->line][h->half] >> h->number & 1) {
        port_post(domain, port_now(domain) + 1, holder_asks, h); /* it need not ask */
        return;
    }
    h->r = (struct fabric_request){.kind = kind,
                                   .agent = (uint8_t)h->agent,
                                   .half = !whole,
                                   .in_place = true,
                                   .halves = (uint8_t)(whole ? 0 : 1U << h->half),
                                   .alone = kind == FABRIC_READ && !whole,
                                   .done = holder_answered,
                                   .self = h};
    rig_address(h->rig, &h->r, line_at[h->line]);
    fabric_submit(h->rig->fabric, &h->r);
}

static void holder_probed(struct port_domain *domain, struct port_event *event)
{
    struct holder *h = event->self;
    struct fabric_probe *p = (struct fabric_probe *)event->word[0];
    unsigned line = 0;
    (void)domain;
    while (line_at[line] != p->physical)
        line++;
    p->in_place = true;
    p->owner = false;
    p->keeps = p->shares && h->number < CCDS;
    for (unsigned half = 0; half < 2; half++) {
        if (!(p->halves >> half & 1))
            continue;
        p->gives = p->asker && has[line][half] >> h->number & 1;
        if (!p->keeps)
            has[line][half] &= ~(1U << h->number);
        if (owner[line][half] == h->number + 1)
            owner[line][half] = 0;
    }
    fabric_probe_answer(h->rig->fabric, p);
}

static uint64_t storm(unsigned threads, double entries)
{
    struct rig rig;
    uint64_t digest = 0;
    rig_load(&rig, "mi300a");
    rig.chip.value[CHIP_probe_filter_entries] = entries;
    rig.chip.value[CHIP_probe_filter_ways] = 2;
    rig_start(&rig, threads, 1);
    memset(has, 0, sizeof(has));
    memset(owner, 0, sizeof(owner));
    const struct fabric_place first = fabric_place_of(rig.fabric, 0);
    uint64_t physical = 0;
    for (unsigned found = 0; found < LINES; physical += FABRIC_LINE) {
        const struct fabric_place p = fabric_place_of(rig.fabric, physical);
        if (p.stack == first.stack && p.channel == first.channel)
            line_at[found++] = physical;
    }
    for (unsigned i = 0; i < AGENTS; i++) {
        struct holder *h = &holders[i];
        *h = (struct holder){.rig = &rig, .number = i, .left = EACH, .random = i + 1};
        h->agent = fabric_agent(rig.fabric, i < CCDS ? FABRIC_CCD : FABRIC_XCD, i < CCDS ? i : i - CCDS);
        fabric_attach(rig.fabric, h->agent, port_domain(rig.port, i), holder_probed, h);
        port_post(port_domain(rig.port, i), 10 + i, holder_asks, h);
    }
    run(&rig);
    for (unsigned i = 0; i < AGENTS; i++) {
        CHECK_EQ(holders[i].left, UINT32_MAX); /* none waits for ever */
        digest = digest * 31 + holders[i].last_ps;
    }
    rig_close(&rig);
    return digest;
}

int main(void)
{
    test_ways();
    test_turn();
    test_order();
    test_dirty();
    test_halves();
    CHECK_EQ(storm(1, 0), storm(1, 0));
    CHECK_EQ(storm(1, 4), storm(1, 4));
    return check_status();
}
