/* SPDX-License-Identifier: MIT */
/* A host behind PCIe: how long a way takes and what the link carries, packet by packet; its memory, which two
 * packages share. */
#include <math.h>

#include "package.h"

enum { LINE = FABRIC_LINE, PACKAGES = 2, SHIFT = 38, COUNT = 2048 };

/* Domains: the host's, an asker for each package, then the IODs. */
struct asker {
    struct fabric *fabric;
    struct port_domain *domain;
};

struct test_request {
    struct fabric_request r;
    uint64_t begin, end;
    uint8_t data[FABRIC_PAIR];
};

static struct {
    struct chip chip;
    struct port *port;
    struct fabric *fabric[PACKAGES];
    struct asker asker[PACKAGES];
    uint8_t *memory;
} rig;

static struct test_request all[PACKAGES * COUNT];

static void open_rig(double latency, double bandwidth)
{
    char error[256] = "";
    memset(&rig, 0, sizeof(rig));
    fault_install();
    CHECK(chip_load("mi300x", &rig.chip, error, sizeof(error)) == 0);
    if (latency > 0)
        rig.chip.value[CHIP_pcie_latency] = latency;
    if (bandwidth > 0)
        rig.chip.value[CHIP_host_bandwidth] = bandwidth;
    const unsigned iods = chip_get(&rig.chip, CHIP_iod_count), before = 1 + PACKAGES;
    rig.port = port_open(before + PACKAGES * iods, fabric_lookahead_ps(&rig.chip), 1, NULL);
    for (unsigned p = 0; p < PACKAGES; p++) {
        const struct fabric_place_in_node place = {.package = p, .packages = PACKAGES, .shift = SHIFT};
        rig.fabric[p] = fabric_open_package(&rig.chip, rig.port, before + p * iods, 1, &place);
        rig.asker[p] = (struct asker){rig.fabric[p], port_domain(rig.port, 1 + p)};
        port_set_clock(rig.asker[p].domain, rig.chip.value[CHIP_chip_clock]);
        fabric_attach(rig.fabric[p], 0, rig.asker[p].domain, NULL, NULL);
    }
    port_set_clock(port_domain(rig.port, 0), rig.chip.value[CHIP_fabric_clock]);
    fabric_join_host(rig.fabric, PACKAGES, &rig.chip, port_domain(rig.port, 0));
    rig.memory =
        mmap(NULL, RIG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void close_rig(void)
{
    for (unsigned p = 0; p < PACKAGES; p++)
        fabric_close(rig.fabric[p]);
    port_close(rig.port);
    munmap(rig.memory, RIG_BYTES);
    chip_free(&rig.chip);
}

static void answered(struct port_domain *domain, struct port_event *event)
{
    struct test_request *t = (struct test_request *)event->word[0];
    CHECK_EQ(t->end, 0);
    t->end = port_now_ps(domain);
}

static void send_now(struct port_domain *domain, struct port_event *event)
{
    struct test_request *t = event->self;
    t->begin = port_now_ps(domain);
    fabric_submit((struct fabric *)event->word[0], &t->r);
}

/* A microsecond from now; run() does it. */
static struct test_request *ask(unsigned number, unsigned package, enum fabric_kind kind, uint64_t offset)
{
    struct test_request *t = &all[number];
    const struct asker *a = &rig.asker[package];
    *t = (struct test_request){.r = {.kind = kind,
                                     .data = t->data,
                                     .second = t->data + LINE,
                                     .done = answered,
                                     .self = t,
                                     .physical = ((uint64_t)PACKAGES << SHIFT) + offset,
                                     .line = (uint64_t)(uintptr_t)rig.memory + offset % RIG_BYTES}};
    port_post(a->domain, port_cycle_of(a->domain, port_time_ps(rig.port) + 1000000), send_now, t)->word[0] =
        (uint64_t)(uintptr_t)a->fabric;
    return t;
}

static void run(void)
{
    port_run(rig.port, PORT_NEVER, NULL, NULL);
}

/* The way to the host counts twice, and its memory once; a host may have more than fits below the next
 * number. */
static void test_latency(void)
{
    double took[2];
    for (unsigned i = 0; i < 2; i++) {
        open_rig(i ? 500 : 300, 0);
        rig.memory[5 * LINE + 3] = 77;
        struct test_request *t = ask(0, 1, FABRIC_FETCH, (UINT64_C(1) << (SHIFT + 1)) + 5 * LINE);
        run();
        CHECK(!t->r.faulted);
        CHECK_EQ(t->data[3], 77);
        took[i] = (double)(t->end - t->begin) / 1000;
        close_rig();
    }
    printf("a read over a way of 300 ns takes %.1f ns, of 500 ns %.1f\n", took[0], took[1]);
    CHECK(fabs(took[1] - took[0] - 400) < 1);
    CHECK(took[0] > 710 && took[0] < 1000);
}

/* Nanoseconds from one to the next of many that are asked for at once. */
static double interval(enum fabric_kind kind, bool pair, unsigned halves)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        struct test_request *t = ask(i, 0, kind, (uint64_t)i * FABRIC_PAIR);
        t->r.pair = pair;
        for (unsigned h = 0; h < halves; h++)
            t->r.mask[h] = UINT64_MAX;
    }
    run();
    for (unsigned i = 0; i < COUNT; i++) {
        first = all[i].end < first ? all[i].end : first;
        last = all[i].end > last ? all[i].end : last;
    }
    return (double)(last - first) / 1000 / (COUNT - 1);
}

static void change(struct fabric_request *r, uint8_t *line)
{
    (void)r;
    ++*(uint32_t *)(void *)line;
}

/* Bytes with a header for each 256 of them, one way. */
static void test_rates(void)
{
    open_rig(0, 0);
    const double rate = rig.chip.value[CHIP_pcie_rate], header = rig.chip.value[CHIP_pcie_header];
    const struct {
        const char *what;
        enum fabric_kind kind;
        bool pair;
        unsigned halves;
        double bytes;
    } cases[] = {{"two lines read", FABRIC_FETCH, true, 0, 256 + header},
                 {"a line read", FABRIC_FETCH, false, 0, 128 + header},
                 {"two lines written", FABRIC_WRITE, true, 2, 256 + header},
                 {"half a line written", FABRIC_WRITE, false, 1, 64 + header}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const double ns = interval(cases[i].kind, cases[i].pair, cases[i].halves),
                     each = cases[i].bytes / rate;
        printf("%s: %.3f ns each, %.3f by the link's rate\n", cases[i].what, ns, each);
        CHECK(ns > 0.99 * each && ns < 1.01 * each);
    }
    close_rig();
}

/* Two packages have a link each, and one memory, which keeps an order. */
static void test_shared(void)
{
    open_rig(0, 40); /* less than a link */
    for (unsigned i = 0; i < PACKAGES * COUNT; i++)
        ask(i, i % 2, FABRIC_FETCH, (uint64_t)i * LINE);
    run();
    uint64_t first = UINT64_MAX, last = 0;
    for (unsigned i = 0; i < PACKAGES * COUNT; i++) {
        first = all[i].end < first ? all[i].end : first;
        last = all[i].end > last ? all[i].end : last;
    }
    const double ns = (double)(last - first) / 1000 / (PACKAGES * COUNT - 1), each = LINE / 40.0;
    printf("two packages: %.3f ns a line, %.3f by the memory's bandwidth\n", ns, each);
    CHECK(ns > 0.99 * each && ns < 1.01 * each);
    for (unsigned i = 0; i < 200; i++) {
        struct test_request *t = ask(i, i % 2, FABRIC_ATOMIC, 9 * LINE);
        t->r.operations = 1;
        t->r.atomic = change;
    }
    run();
    CHECK_EQ(*(const uint32_t *)(const void *)(rig.memory + 9 * LINE), 200);
    struct fabric_counters c;
    struct fabric_traffic up, down;
    const unsigned header = chip_get(&rig.chip, CHIP_pcie_header);
    fabric_read_counters(rig.fabric[1], &c);
    CHECK(fabric_read_traffic(rig.fabric[1], PACKAGES, false, &up));
    CHECK(fabric_read_traffic(rig.fabric[1], PACKAGES, true, &down));
    CHECK_EQ(up.bytes, COUNT * header + 100 * (header + 16));
    CHECK_EQ(down.bytes, COUNT * (LINE + header) + 100 * (header + 8));
    CHECK_EQ(up.packets, COUNT + 100);
    CHECK_EQ(c.reads + c.dram_reads, 0);
    close_rig();
}

/* Memory that the process does not have. */
static void test_fault(void)
{
    open_rig(0, 0);
    struct test_request *t = ask(0, 0, FABRIC_FETCH, 0);
    t->r.line = 4096;
    run();
    CHECK(t->r.faulted);
    close_rig();
}

int main(void)
{
    test_latency();
    test_rates();
    test_shared();
    test_fault();
    return check_status();
}
