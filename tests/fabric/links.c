/* SPDX-License-Identifier: MIT */
/* Two packages, and three in a row: how long a link takes and what it carries, who keeps lines of the other
 * package coherent, order. */
#include <math.h>

#include "chip/node.h"
#include "fabric/internal.h"
#include "package.h"

enum { LINE = FABRIC_LINE, PACKAGES = 3, SHIFT = 37, OWN_HALF = 1 };

/* Domains: an asker for each XCD and CCD that asks, then the IODs. */
enum { XCD, CCD_A, CCD_B, ASKERS };

struct asker {
    struct fabric *fabric;
    struct port_domain *domain;
    uint8_t agent;
    unsigned probes, shared; /* that came, and of them for readers */
    uint64_t dirty;          /* what the next one is answered with: a mask of the first half */
};

struct test_request {
    struct fabric_request r;
    uint64_t begin, end;
    uint8_t data[FABRIC_PAIR];
};

static struct {
    unsigned packages;
    struct chip chip;
    struct node node;
    struct port *port;
    struct fabric *fabric[PACKAGES];
    struct asker asker[PACKAGES][ASKERS];
    uint8_t *memory;
} rig;

static void probed(struct port_domain *domain, struct port_event *event)
{
    struct asker *a = event->self;
    struct fabric_probe *p = (struct fabric_probe *)event->word[0];
    (void)domain;
    CHECK_EQ(p->agent, a->agent);
    a->probes++;
    a->shared += p->shares;
    p->in_place = true;
    p->keeps = p->shares;
    p->mask[0] = a->dirty;
    a->dirty = 0;
    fabric_probe_answer(a->fabric, p);
}

/* The third has a link with the second alone. */
static void drop_link(struct node *node, unsigned a, unsigned b)
{
    for (unsigned i = 0; i < node->links; i++)
        if (node->link[i].package[0] == a && node->link[i].package[1] == b)
            node->link[i] = node->link[--node->links];
}

static void open_row(unsigned packages, double latency)
{
    char error[256] = "";
    memset(&rig, 0, sizeof(rig));
    fault_install();
    CHECK(chip_load("mi300a", &rig.chip, error, sizeof(error)) == 0);
    CHECK(node_load("mi300a-x4", &rig.node, error, sizeof(error)) == 0);
    rig.packages = rig.node.packages = packages; /* the first two are neighbours by IOD 3 of each */
    drop_link(&rig.node, 0, 2);
    if (latency > 0)
        rig.node.value[NODE_link_latency] = latency;
    const unsigned iods = chip_get(&rig.chip, CHIP_iod_count), askers = packages * ASKERS;
    rig.port = port_open(askers + packages * iods, fabric_lookahead_ps(&rig.chip), 1, NULL);
    for (unsigned p = 0; p < packages; p++) {
        const struct fabric_place_in_node place = {.package = p, .packages = packages, .shift = SHIFT};
        rig.fabric[p] = fabric_open_package(&rig.chip, rig.port, askers + p * iods, 1, &place);
    }
    fabric_join(rig.fabric, &rig.node);
    for (unsigned p = 0; p < packages; p++)
        for (unsigned i = 0; i < ASKERS; i++) {
            struct asker *a = &rig.asker[p][i];
            a->fabric = rig.fabric[p];
            a->domain = port_domain(rig.port, p * ASKERS + i);
            a->agent = fabric_agent(a->fabric, i == XCD ? FABRIC_XCD : FABRIC_CCD, i == CCD_B);
            port_set_clock(a->domain, rig.chip.value[CHIP_chip_clock]);
            fabric_attach(a->fabric, a->agent, a->domain, probed, a);
        }
    rig.memory =
        mmap(NULL, RIG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void open_rig(double latency)
{
    open_row(2, latency);
}

static void close_rig(void)
{
    for (unsigned p = 0; p < rig.packages; p++)
        fabric_close(rig.fabric[p]);
    port_close(rig.port);
    munmap(rig.memory, RIG_BYTES);
    node_free(&rig.node);
    chip_free(&rig.chip);
}

static uint64_t in_package(unsigned package, uint64_t offset)
{
    return ((uint64_t)package << SHIFT) + offset;
}

static void answered(struct port_domain *domain, struct port_event *event)
{
    struct test_request *t = (struct test_request *)event->word[0];
    CHECK_EQ(t->end, 0);
    t->end = port_ps_of(domain, port_now(domain));
}

static void send_now(struct port_domain *domain, struct port_event *event)
{
    struct test_request *t = event->self;
    t->begin = port_ps_of(domain, port_now(domain));
    fabric_submit((struct fabric *)event->word[0], &t->r);
}

/* Submits `ns` from now; run() does it. */
static void ask(double ns, struct test_request *t, struct asker *a, enum fabric_kind kind, uint64_t physical)
{
    t->end = 0;
    t->r.kind = kind;
    t->r.agent = a->agent;
    t->r.data = t->data;
    t->r.second = t->data + LINE;
    t->r.done = answered;
    t->r.self = t;
    t->r.physical = physical;
    t->r.line = (uint64_t)(uintptr_t)rig.memory + physical % RIG_BYTES;
    const uint64_t ps = port_time_ps(rig.port) + (uint64_t)(ns * 1000);
    port_post(a->domain, port_cycle_of(a->domain, ps), send_now, t)->word[0] = (uint64_t)(uintptr_t)a->fabric;
}

static void run(void)
{
    port_run(rig.port, PORT_NEVER, NULL, NULL);
}

static double took(const struct test_request *t)
{
    return (double)(t->end - t->begin) / 1000;
}

/* A CPU's request for half a line. */
static void ask_cpu(struct test_request *t, struct asker *a, enum fabric_kind kind, uint64_t physical)
{
    *t = (struct test_request){.r.in_place = true, .r.half = true, .r.halves = OWN_HALF};
    t->r.alone = kind == FABRIC_READ;
    ask(100, t, a, kind, physical);
    run();
}

/* Of an Infinity Cache: the second of two. */
static double read_takes(unsigned package, uint64_t offset)
{
    static struct test_request t;
    for (unsigned i = 0; i < 2; i++) {
        t = (struct test_request){.end = 0};
        ask(1000, &t, &rig.asker[0][XCD], FABRIC_FETCH, in_package(package, offset));
        run();
    }
    return took(&t);
}

/* A link's latency counts once each way, and what it carries besides. */
static void test_latency(void)
{
    const uint64_t offset = 12345 * LINE;
    double remote[2], least = 0;
    for (unsigned i = 0; i < 2; i++) {
        open_rig(i ? 150 : 100);
        remote[i] = read_takes(1, offset);
        least = 2 * (rig.chip.value[CHIP_fabric_xcd_latency] + rig.chip.value[CHIP_fabric_network_latency]) +
                read_takes(0, offset);
        close_rig();
    }
    printf("a read over a link of 100 ns takes %.1f ns, of 150 ns %.1f\n", remote[0], remote[1]);
    CHECK(fabs(remote[1] - remote[0] - 100) < 1);
    CHECK(remote[0] > 200 + least - 10 &&
          remote[0] < 200 + least + 80); /* up to four USR links more each way */
}

/* What the second of three passes on takes the time of both links, and of the way between them; and its share
 * of each. */
static void test_row(void)
{
    const uint64_t offset = 12345 * LINE;
    double row[2], single, between;
    for (unsigned i = 0; i < 2; i++) {
        struct fabric_counters passed;
        open_row(3, i ? 150 : 100);
        row[i] = read_takes(2, offset);
        between =
            2 * net_between_ps(fabric_link(rig.fabric[1], 0)->iod, fabric_link(rig.fabric[1], 2)->iod) / 1000;
        fabric_read_counters(rig.fabric[1], &passed);
        const unsigned header = (unsigned)rig.node.value[NODE_link_header];
        CHECK_EQ(passed.link_bytes, 2 * (header + 2 * (FABRIC_LINE / 2 + header)));
        close_rig();
    }
    open_rig(100);
    single = read_takes(1, offset);
    close_rig();
    printf("a read over two links of 100 ns takes %.1f ns, of 150 ns %.1f; %.1f of it between them\n", row[0],
           row[1], between);
    CHECK(fabs(row[1] - row[0] - 200) < 1);
    CHECK(between > 10);
    CHECK(fabs(row[0] - single - 200 - between) < 40); /* other IODs at the ends */
}

/* Two links of 64 GB/s, and a header with each half of a line; less, when half of each line is written. */
static void test_bandwidth(void)
{
    enum { COUNT = 4096 };
    static struct test_request t[COUNT];
    open_rig(0);
    const double header = rig.node.value[NODE_link_header], rate = 2 * rig.node.value[NODE_link_rate];
    for (unsigned way = 0; way < 2; way++) {
        uint64_t first = UINT64_MAX, last = 0;
        for (unsigned i = 0; i < COUNT; i++) {
            t[i] = (struct test_request){.r.mask = {way ? UINT64_MAX : 0, 0}};
            ask(1000, &t[i], &rig.asker[0][XCD], way ? FABRIC_WRITE : FABRIC_FETCH, in_package(1, i * LINE));
        }
        run();
        for (unsigned i = 0; i < COUNT; i++) {
            first = t[i].end < first ? t[i].end : first;
            last = t[i].end > last ? t[i].end : last;
        }
        const double each = (way ? 1 : 2) * (FABRIC_LINE / 2.0 + header) / rate,
                     ns = (double)(last - first) / 1000 / (COUNT - 1);
        printf("%s over a link: %.3f ns each, %.3f by its rate\n", way ? "half a line" : "a line", ns, each);
        CHECK(ns > 0.98 * each && ns < 1.06 * each);
    }
    close_rig();
}

static unsigned probes_of(unsigned package, unsigned asker)
{
    return rig.asker[package][asker].probes;
}

/* CPUs are coherent over packages: by the home, and by the link's end among those of one package. */
static void test_cpus(unsigned packages)
{
    static struct test_request t;
    open_row(packages, 0);
    const uint64_t line = in_package(0, 77 * LINE);
    const unsigned end = packages - 1;
    struct asker *near = &rig.asker[0][CCD_A], *far = &rig.asker[end][CCD_A],
                 *beside = &rig.asker[end][CCD_B];
    ask_cpu(&t, far, FABRIC_READ, line);
    CHECK(t.r.alone);
    CHECK_EQ(probes_of(0, CCD_A) + probes_of(end, CCD_A) + probes_of(end, CCD_B), 0);
    ask_cpu(&t, near, FABRIC_READ, line); /* the far one keeps it, and says so */
    CHECK(!t.r.alone);
    CHECK_EQ(far->probes, 1);
    CHECK_EQ(far->shared, 1);
    ask_cpu(&t, near, FABRIC_OWN, line);
    CHECK_EQ(far->probes, 2);
    CHECK_EQ(far->shared, 1);
    ask_cpu(&t, near, FABRIC_OWN, line); /* nobody else has it any more */
    CHECK_EQ(far->probes, 2);
    CHECK_EQ(near->probes, 0);
    ask_cpu(&t, far, FABRIC_OWN, line);
    CHECK_EQ(near->probes, 1);
    near->probes = 0;
    far->dirty = UINT64_MAX;
    ask_cpu(&t, beside, FABRIC_READ, line); /* from one to the other of its package */
    CHECK(!t.r.alone);
    CHECK_EQ(far->probes, 3);
    CHECK_EQ(far->shared, 2);
    CHECK_EQ(near->probes, 0);
    ask_cpu(&t, beside, FABRIC_OWN, line);
    CHECK_EQ(far->probes, 4);
    ask_cpu(&t, far, FABRIC_READ, line + LINE); /* another line is nobody's */
    CHECK(t.r.alone);
    CHECK_EQ(far->probes + beside->probes + near->probes, 4);
    close_rig();
}

/* A store past the caches takes the line from all, beside it and at its home. */
static void test_past(void)
{
    static struct test_request t;
    open_rig(0);
    const uint64_t line = in_package(0, 31 * LINE);
    struct asker *near = &rig.asker[0][CCD_A], *far = &rig.asker[1][CCD_A], *beside = &rig.asker[1][CCD_B];
    ask_cpu(&t, near, FABRIC_READ, line);
    ask_cpu(&t, far, FABRIC_READ, line);
    ask_cpu(&t, beside, FABRIC_READ, line);
    near->probes = far->probes = beside->probes = 0;
    t = (struct test_request){.r.in_place = true, .r.past = true, .r.half = true, .r.halves = OWN_HALF};
    t.r.mask[0] = UINT64_MAX;
    ask(100, &t, far, FABRIC_WRITE, line);
    run();
    CHECK(t.end > t.begin);
    CHECK_EQ(near->probes, 1);
    CHECK_EQ(beside->probes, 1);
    CHECK_EQ(far->probes, 0);
    ask_cpu(&t, near, FABRIC_READ, line);
    CHECK(t.r.alone);
    CHECK_EQ(far->probes + beside->probes, 1);
    close_rig();
}

/* Both ask at once, again and again: one after the other gets it. */
static void test_race(void)
{
    enum { ROUNDS = 64 };
    static struct test_request t[ROUNDS][4];
    open_rig(0);
    const uint64_t line = in_package(0, 5 * LINE);
    struct asker *who[] = {&rig.asker[0][CCD_A], &rig.asker[0][CCD_B], &rig.asker[1][CCD_A],
                           &rig.asker[1][CCD_B]};
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned k = 0; k < 4; k++) {
            t[i][k] = (struct test_request){.r.in_place = true, .r.half = true, .r.halves = OWN_HALF};
            t[i][k].r.alone = (i + k) % 3 == 0;
            ask(500 + k * (double)i, &t[i][k], who[k], (i + k) % 3 ? FABRIC_OWN : FABRIC_READ, line);
        }
        run();
        unsigned alone = 0;
        for (unsigned k = 0; k < 4; k++) {
            CHECK(t[i][k].end > t[i][k].begin);
            alone += t[i][k].r.kind == FABRIC_READ && t[i][k].r.alone;
        }
        CHECK(alone <= 2);
    }
    unsigned probes = 0;
    for (unsigned k = 0; k < 4; k++)
        probes += who[k]->probes;
    printf("%u requests of four CCDs for a line: %u probes\n", ROUNDS * 4, probes);
    CHECK(probes >= ROUNDS * 2);
    close_rig();
}

/* GPUs are not: a home does not know what another package's L2 has.  What a GPU writes its own CPU loses. */
static void test_gpus(void)
{
    static struct test_request t;
    open_rig(0);
    const uint64_t line = in_package(0, 99 * LINE);
    ask(100, &t, &rig.asker[1][XCD], FABRIC_READ, line);
    run();
    t = (struct test_request){.r.mask = {UINT64_MAX, UINT64_MAX}};
    memset(t.data, 7, LINE);
    ask(100, &t, &rig.asker[0][XCD], FABRIC_WRITE, line);
    run();
    CHECK_EQ(probes_of(1, XCD), 0);
    CHECK_EQ(rig.memory[line % RIG_BYTES], 7);
    ask_cpu(&t, &rig.asker[1][CCD_A], FABRIC_OWN, line);
    t = (struct test_request){.r.mask = {UINT64_MAX, UINT64_MAX}};
    memset(t.data, 9, LINE);
    ask(100, &t, &rig.asker[1][XCD], FABRIC_WRITE, line);
    run();
    CHECK_EQ(probes_of(1, CCD_A), 1);
    CHECK_EQ(rig.memory[line % RIG_BYTES], 9);
    ask_cpu(&t, &rig.asker[1][CCD_A], FABRIC_OWN, line);
    t = (struct test_request){.end = 0};
    ask(100, &t, &rig.asker[0][XCD], FABRIC_FETCH, line); /* and the home asks those behind the link */
    run();
    CHECK_EQ(probes_of(1, CCD_A), 2);
    CHECK_EQ(t.data[0], 9);
    close_rig();
}

static void add_one(struct fabric_request *r, uint8_t *line)
{
    struct test_request *t = (struct test_request *)r;
    uint32_t word;
    memcpy(&word, line, sizeof(word));
    memcpy(t->data, &word, sizeof(word));
    word++;
    memcpy(line, &word, sizeof(word));
}

/* A write, an atomic and a read of one asker are executed in this order; a pair is two lines. */
static void test_order(void)
{
    static struct test_request write, atomic, read, pair;
    open_rig(0);
    const uint64_t line = in_package(1, 4096 * 7);
    struct asker *a = &rig.asker[0][XCD];
    for (uint32_t i = 1; i < 50; i++) {
        const uint32_t value = 1000 * i;
        write = (struct test_request){.r.mask = {15, 0}};
        atomic = (struct test_request){.r.atomic = add_one, .r.operations = 1, .r.depth = 1};
        read = (struct test_request){.end = 0};
        memcpy(write.data, &value, sizeof(value));
        ask(200, &write, a, FABRIC_WRITE, line);
        ask(200, &atomic, a, FABRIC_ATOMIC, line);
        ask(200, &read, a, FABRIC_FETCH, line);
        run();
        uint32_t before, after;
        memcpy(&before, atomic.data, sizeof(before));
        memcpy(&after, read.data, sizeof(after));
        CHECK_EQ(before, value);
        CHECK_EQ(after, value + 1);
    }
    for (unsigned i = 0; i < FABRIC_PAIR; i++)
        rig.memory[line % RIG_BYTES + i] = (uint8_t)i;
    pair = (struct test_request){.r.pair = true};
    ask(200, &pair, a, FABRIC_FETCH, line);
    run();
    for (unsigned i = 0; i < FABRIC_PAIR; i++)
        CHECK_EQ(pair.data[i], (uint8_t)i);
    close_rig();
}

int main(void)
{
    test_latency();
    test_bandwidth();
    test_row();
    test_cpus(2);
    test_cpus(3);
    test_past();
    test_race();
    test_gpus();
    test_order();
    return check_status();
}
