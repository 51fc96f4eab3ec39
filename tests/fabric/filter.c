/* SPDX-License-Identifier: MIT */
/* A probe filter with so many entries: which line loses its own, who is told, and what becomes of its bytes.
 */
#include "fabric/internal.h"
#include "script.h"

enum { LINES = 64, APART = 2000 };

static uint64_t line[LINES]; /* physical addresses, all in the first slice */
static uint64_t clock_ns;

static void open_filter(struct rig *rig, double entries, double ways)
{
    rig_load(rig, "mi300a");
    rig->chip.value[CHIP_probe_filter_entries] = entries;
    rig->chip.value[CHIP_probe_filter_ways] = ways;
    rig_start(rig, 1, 1);
    attach_all(rig);
    const struct fabric_place first = fabric_place_of(rig->fabric, 0);
    unsigned found = 0;
    for (uint64_t physical = 0; found < LINES; physical += FABRIC_LINE) {
        const struct fabric_place p = fabric_place_of(rig->fabric, physical);
        if (p.stack == first.stack && p.channel == first.channel)
            line[found++] = physical;
    }
    clock_ns = 1000;
}

/* One after the other: the last one's probes are answered by then. */
static void ask(struct rig *rig, enum fabric_kind kind, unsigned xcd, unsigned i)
{
    static struct test_request t;
    t.r = (struct fabric_request){.mask = {UINT64_MAX, UINT64_MAX}};
    at(rig, clock_ns += APART, &t, kind, xcd, line[i]);
    run(rig);
    CHECK(t.end > t.begin);
}

static struct fabric_counters counters(const struct rig *rig)
{
    struct fabric_counters c;
    fabric_read_counters(rig->fabric, &c);
    return c;
}

/* As many lines as entries displace nobody; the next one displaces the line that was used longest ago. */
static void test_edge(void)
{
    static const struct {
        unsigned entries, ways;
    } shapes[] = {{1, 1}, {2, 2}, {16, 16}};
    for (unsigned k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
        const unsigned n = shapes[k].entries;
        struct rig rig;
        open_filter(&rig, n, shapes[k].ways);
        for (unsigned i = 0; i < n; i++)
            ask(&rig, FABRIC_READ, 0, i);
        ask(&rig, FABRIC_READ, 0, 0); /* the last used */
        CHECK_EQ(counters(&rig).displaced, 0);
        CHECK_EQ(l2s[0].probes, 0);
        ask(&rig, FABRIC_READ, 1, n);
        CHECK_EQ(counters(&rig).displaced, 1);
        CHECK_EQ(l2s[0].probes, 1);
        CHECK_EQ(l2s[0].probed_line, line[n > 1 ? 1 : 0]);
        CHECK_EQ(l2s[1].probes, 0);
        /* Nobody is asked for that line any more, and others are still known. */
        ask(&rig, FABRIC_OWN, 2, n > 1 ? 1 : 0);
        const uint64_t probes = l2s[0].probes;
        CHECK_EQ(counters(&rig).displaced, 2);
        CHECK_EQ(probes + l2s[1].probes, 2); /* of another that lost its entry to it */
        rig_close(&rig);
    }
}

/* Sets are apart: in each as many lines as it has ways. */
static void test_sets(void)
{
    struct rig rig;
    open_filter(&rig, 32, 2);
    unsigned sets = 0;
    for (unsigned i = 0; i < LINES; i++)
        ask(&rig, FABRIC_READ, 0, i);
    const uint64_t displaced = counters(&rig).displaced;
    CHECK(displaced >= LINES - 32 && displaced < LINES - 2);
    for (unsigned i = 0; i < 16 * 2; i++)
        sets += rig.fabric->iod[0].slice[0].tags.tag[i].used;
    CHECK_EQ(LINES - displaced, sets);
    CHECK_EQ(l2s[0].probes, displaced);
    rig_close(&rig);
}

/* All that hold it are asked; what its owner has written is in memory. */
static void test_holders(void)
{
    struct rig rig;
    open_filter(&rig, 1, 1);
    for (unsigned xcd = 0; xcd < 3; xcd++)
        ask(&rig, FABRIC_READ, xcd, 0);
    ask(&rig, FABRIC_READ, 3, 1);
    for (unsigned xcd = 0; xcd < 4; xcd++)
        CHECK_EQ(l2s[xcd].probes, xcd < 3);
    ask(&rig, FABRIC_OWN, 4, 2);
    CHECK_EQ(l2s[3].probes, 1);
    l2s[4].dirty[0] = 0xff00;
    memset(l2s[4].bytes, 0x5a, sizeof(l2s[4].bytes));
    ask(&rig, FABRIC_READ, 5, 3);
    CHECK_EQ(l2s[4].probes, 1);
    for (unsigned i = 0; i < 24; i++)
        CHECK_EQ(rig.memory[line[2] % RIG_BYTES + i], i >= 8 && i < 16 ? 0x5a : 0);
    rig_close(&rig);
}

/* An entry of a line that no cache has any more is free. */
static void test_void(void)
{
    struct rig rig;
    open_filter(&rig, 2, 2);
    ask(&rig, FABRIC_READ, 0, 0);
    ask(&rig, FABRIC_OWN, 0, 1);
    ask(&rig, FABRIC_WRITE, 0, 1); /* and keeps nothing */
    ask(&rig, FABRIC_READ, 0, 2);
    ask(&rig, FABRIC_FETCH, 1, 3); /* is not cached */
    CHECK_EQ(counters(&rig).displaced, 0);
    CHECK_EQ(l2s[0].probes, 0);
    rig_close(&rig);
}

/* A line that is on its way from memory loses its entry when it is there: the probe comes behind the answer.
 */
static void test_busy(void)
{
    enum { COUNT = 3 };
    struct rig rig;
    open_filter(&rig, 1, 1);
    static struct test_request t[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        at(&rig, 1000 + i, &t[i], FABRIC_READ, i, line[i]);
    run(&rig);
    for (unsigned i = 0; i < COUNT; i++) {
        CHECK(t[i].end != 0 && t[i].r.missed);
        CHECK_EQ(l2s[i].probes, i + 1 < COUNT);
        CHECK(i + 1 == COUNT || l2s[i].probed >= t[i].end);
    }
    CHECK_EQ(counters(&rig).displaced, COUNT - 1);
    /* What comes for such a line meanwhile has its turn behind that. */
    static struct test_request first, other, again;
    first.r = other.r = again.r = (struct fabric_request){0};
    at(&rig, 10000, &first, FABRIC_READ, 0, line[10]);
    at(&rig, 10001, &other, FABRIC_READ, 1, line[11]);
    at(&rig, 10002, &again, FABRIC_READ, 2, line[10]);
    run(&rig);
    CHECK(first.end && other.end && again.end > first.end);
    CHECK_EQ(l2s[0].probes, 2);
    rig_close(&rig);
}

/* Both lines of a pair have entries; with one alone the second takes the first's. */
static void test_pair(void)
{
    struct rig rig;
    open_filter(&rig, 1, 1);
    static struct test_request t;
    unsigned i = 0;
    while (line[i] % FABRIC_PAIR || line[i + 1] != line[i] + FABRIC_LINE)
        i++;
    for (unsigned again = 0; again < 2; again++) { /* from memory, and from the Infinity Cache */
        t.r = (struct fabric_request){.pair = true};
        at(&rig, clock_ns += APART, &t, FABRIC_READ, again, line[i]);
        run(&rig);
        CHECK(t.end != 0);
        CHECK_EQ(l2s[again].probes, 1);
        CHECK_EQ(l2s[again].probed_line, line[i + again]); /* then the other one has it */
        CHECK(l2s[again].probed >= t.end);
    }
    rig_close(&rig);
}

/* Without a number of entries none is lost. */
static void test_all(void)
{
    struct rig rig;
    open_filter(&rig, 0, 16);
    for (unsigned i = 0; i < LINES; i++)
        ask(&rig, FABRIC_READ, 0, i);
    CHECK_EQ(counters(&rig).displaced, 0);
    CHECK_EQ(l2s[0].probes, 0);
    rig_close(&rig);
}

int main(void)
{
    test_edge();
    test_sets();
    test_holders();
    test_void();
    test_busy();
    test_pair();
    test_all();
    return check_status();
}
