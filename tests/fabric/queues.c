/* SPDX-License-Identifier: MIT */
/* What goes over links, and what waits where memory's controllers are full. */
#include "fabric/internal.h"
#include "package.h"

struct ask {
    struct fabric_request r;
    uint64_t begin, end;
    uint8_t data[FABRIC_LINE];
};

static void answered(struct port_domain *domain, struct port_event *event)
{
    struct ask *a = event->self;
    a->end = port_ps_of(domain, port_now(domain));
}

static void submit(struct port_domain *domain, struct port_event *event)
{
    struct ask *a = event->self;
    a->begin = port_ps_of(domain, port_now(domain));
    fabric_submit((struct fabric *)event->word[0], &a->r);
}

static void probed(struct port_domain *domain, struct port_event *event)
{
    struct rig *rig = event->self;
    (void)domain;
    fabric_probe_answer(rig->fabric, (struct fabric_probe *)event->word[0]);
}

static void add(struct fabric_request *request, uint8_t *line)
{
    (void)request;
    line[0]++;
}

static void ask_from(struct rig *rig, struct ask *a, unsigned xcd, uint64_t ns, enum fabric_kind kind,
                     uint64_t mask[2], uint64_t physical)
{
    a->r = (struct fabric_request){.kind = kind,
                                   .agent = (uint8_t)xcd,
                                   .mask = {mask[0], mask[1]},
                                   .data = a->data,
                                   .atomic = add,
                                   .operations = 1,
                                   .depth = 1,
                                   .done = answered,
                                   .self = a};
    rig_address(rig, &a->r, physical);
    struct port_domain *domain = port_domain(rig->port, xcd);
    port_post(domain, port_cycle_of(domain, ns * 1000), submit, a)->word[0] = (uint64_t)rig->fabric;
}

static void ask(struct rig *rig, struct ask *a, uint64_t ns, enum fabric_kind kind, uint64_t mask[2],
                uint64_t physical)
{
    ask_from(rig, a, 0, ns, kind, mask, physical);
}

static void open_rig(struct rig *rig)
{
    rig_open(rig, "mi300a", 1, 1);
    for (unsigned i = 0; i < rig->xcds; i++)
        fabric_attach(rig->fabric, i, port_domain(rig->port, i), probed, rig);
}

static uint64_t run(struct rig *rig)
{
    port_run(rig->port, PORT_NEVER, NULL, NULL);
    return port_time_ps(rig->port) / 1000 + 1000;
}

static uint64_t usr_bytes(const struct rig *rig)
{
    struct fabric_counters c;
    fabric_read_counters(rig->fabric, &c);
    return c.usr_bytes;
}

/* Bytes of each kind of request, there and back, over no link, one and two. */
static void test_packets(void)
{
    struct rig rig;
    open_rig(&rig);
    const unsigned header = chip_get(&rig.chip, CHIP_usr_header), line = FABRIC_LINE;
    const struct {
        enum fabric_kind kind;
        uint64_t mask[2];
        unsigned bytes;
    } kinds[] = {{FABRIC_READ, {0, 0}, header + header + line},
                 {FABRIC_WRITE, {~UINT64_C(0), ~UINT64_C(0)}, 2 * (header + line / 2 + header)},
                 {FABRIC_WRITE, {0, 1}, header + line / 2 + header},
                 {FABRIC_ATOMIC, {0, 0}, header + line / 2 + header + line / 2 + header + header}};
    uint64_t now = 100;
    static const unsigned links[] = {0, 1, 2, 1}; /* from IOD 0 */
    unsigned seen = 0;
    for (uint64_t page = 0; page < 64; page++)
        for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            static struct ask a;
            uint64_t physical = page * 4096 + k * line, before = usr_bytes(&rig), mask[2];
            unsigned iod = fabric_place_of(rig.fabric, physical).iod;
            memcpy(mask, kinds[k].mask, sizeof(mask));
            ask(&rig, &a, now, kinds[k].kind, mask, physical);
            now = run(&rig);
            CHECK_EQ(usr_bytes(&rig) - before, (uint64_t)links[iod] * kinds[k].bytes);
            seen |= 1U << iod;
        }
    CHECK_EQ(seen, 15);
    rig_close(&rig);
}

/* A line that XCD 0 has, asked for by its neighbour: the probe's header and its answer's, besides. */
static void test_probe_packets(void)
{
    struct rig rig;
    open_rig(&rig);
    const unsigned header = chip_get(&rig.chip, CHIP_usr_header), line = FABRIC_LINE;
    uint64_t now = 100, none[2] = {0};
    static const unsigned links[] = {0, 1, 2, 1}; /* from IOD 0, where both are */
    unsigned seen = 0;
    for (uint64_t page = 0; page < 64; page++) {
        static struct ask a;
        const uint64_t physical = page * 4096;
        unsigned iod = fabric_place_of(rig.fabric, physical).iod;
        ask(&rig, &a, now, FABRIC_READ, none, physical);
        now = run(&rig);
        uint64_t before = usr_bytes(&rig);
        ask_from(&rig, &a, 1, now, FABRIC_OWN, none, physical);
        now = run(&rig);
        CHECK_EQ(usr_bytes(&rig) - before, (uint64_t)links[iod] * (2 * header + line + 2 * header));
        seen |= 1U << iod;
    }
    CHECK_EQ(seen, 15);
    rig_close(&rig);
}

/* How long a line that is in the cache takes behind so many reads of one controller. */
static uint64_t behind(unsigned reads)
{
    struct rig rig;
    open_rig(&rig);
    static struct ask others[256], hit;
    uint64_t none[2] = {0}, physical = 0;
    struct fabric_place first = fabric_place_of(rig.fabric, 0);
    ask(&rig, &hit, 100, FABRIC_READ, none, physical);
    uint64_t now = run(&rig);
    for (unsigned i = 0; i < reads; i++) {
        struct fabric_place p;
        do /* rows of their own, all of the first pseudo channel */
            p = fabric_place_of(rig.fabric, physical += 1 << 18);
        while (p.stack != first.stack || p.channel != first.channel ||
               p.offset / FABRIC_LINE % rig.fabric->pseudo != 0);
        ask(&rig, &others[i], now, FABRIC_READ, none, physical);
    }
    ask(&rig, &hit, now + 10, FABRIC_READ, none, 0);
    run(&rig);
    rig_close(&rig);
    return (hit.end - hit.begin) / 1000;
}

static void test_full(void)
{
    struct rig rig;
    rig_open(&rig, "mi300a", 1, 1);
    unsigned queue = chip_get(&rig.chip, CHIP_hbm_queue);
    rig_close(&rig);
    uint64_t alone = behind(0), most = behind(queue - 1), full = behind(queue), more = behind(queue + 32);
    printf("a hit takes %" PRIu64 " ns, behind %u reads %" PRIu64 ", behind one more %" PRIu64
           ", and behind 32 more %" PRIu64 "\n",
           alone, queue - 1, most, full, more);
    CHECK(most <= alone + 1); /* all have a place */
    CHECK(full > most + 2);   /* until the first is served */
    CHECK(more > full + 20);  /* until all but the last are */
}

/* After those writes, whether a read misses, and the next one. */
static void check_halves(uint64_t physical, unsigned writes, uint64_t masks[][2], bool misses)
{
    struct rig rig;
    open_rig(&rig);
    static struct ask a;
    uint64_t now = 100, none[2] = {0};
    for (unsigned i = 0; i < writes; i++) {
        ask(&rig, &a, now, FABRIC_WRITE, masks[i], physical);
        now = run(&rig);
    }
    for (unsigned i = 0; i < 2; i++) {
        ask(&rig, &a, now, FABRIC_READ, none, physical);
        now = run(&rig);
        CHECK_EQ(a.r.missed, misses && i == 0);
    }
    struct fabric_counters c;
    fabric_read_counters(rig.fabric, &c);
    CHECK_EQ(c.filled, 1);
    rig_close(&rig);
}

/* A half of a line that was written in part, or not at all, is not there. */
static void test_halves(void)
{
    const uint64_t all = UINT64_MAX, most = all >> 1;
    check_halves(0, 0, NULL, true);
    check_halves(0, 1, (uint64_t[][2]){{all, all}}, false);
    check_halves(0, 1, (uint64_t[][2]){{all, 0}}, true);
    check_halves(0, 1, (uint64_t[][2]){{0, all}}, true);
    check_halves(0, 1, (uint64_t[][2]){{all, most}}, true);
    check_halves(0, 1, (uint64_t[][2]){{most, all}}, true);
    check_halves(0, 2, (uint64_t[][2]){{all, 0}, {0, all}}, false);
    check_halves(0, 2, (uint64_t[][2]){{all, all}, {1, 0}}, false); /* it stays whole */
}

/* What workgroups that are left out of a dispatch would have brought into the Infinity Cache pushes out all
 * that was there, or all but what came last. */
static void test_ageing(void)
{
    enum { LINES = 4096, LAST = 512, TWICE = 2 };
    struct rig rig;
    open_rig(&rig);
    struct fabric *f = rig.fabric;
    struct cache *c = &f->iod[0].slice[0].cache;
    for (int kept = 1; kept >= 0; kept--) {
        uint32_t victim;
        for (uint32_t line = 0; line < LINES; line++)
            cache_put(c, line, BOTH_HALVES, true, &victim);
        fabric_age(f, 0, TWICE * fabric_slice_lines(f), 0.5, kept ? LAST : 0);
        unsigned there = 0, last = 0;
        for (uint32_t line = 0; line < LINES; line++) {
            there += cache_has(c, line);
            last += line >= LINES - LAST && cache_has(c, line);
        }
        CHECK_EQ(last, kept ? LAST : 0);
        CHECK(kept || there == 0);
        CHECK(there < LINES);
    }
    rig_close(&rig);
}

int main(void)
{
    test_packets();
    test_probe_packets();
    test_halves();
    test_full();
    test_ageing();
    return check_status();
}
