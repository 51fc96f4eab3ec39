/* SPDX-License-Identifier: MIT */
/* Distance, ports, order of requests, probes, faults, and the same result with every number of threads. */
#include <math.h>

#include "fabric/internal.h"
#include "script.h"

enum { STEPS = 8 };

/* Reads that miss, reads that hit, and writes, from one XCD to lines on each IOD. */
static void test_distance(void)
{
    struct rig rig;
    open_rig(&rig, "mi300a", 1);
    double hit[4] = {0}, miss[4] = {0}, write[4] = {0};
    unsigned lines[4] = {0};
    static struct test_request t;
    for (uint64_t page = 0; page < 256; page++) {
        uint64_t physical = page * 4096 * 33 + page % 32 * LINE;
        unsigned iod = fabric_place_of(rig.fabric, physical).iod;
        uint64_t ns = (uint64_t)now_ns(&rig) + 2000;
        at(&rig, ns, &t, FABRIC_READ, 0, physical);
        run(&rig);
        miss[iod] += (double)(t.end - t.begin) / 1000;
        at(&rig, ns + 1000, &t, FABRIC_READ, 0, physical);
        run(&rig);
        hit[iod] += (double)(t.end - t.begin) / 1000;
        lines[iod]++;
    }
    t.r.mask[0] = t.r.mask[1] = UINT64_MAX;
    for (uint64_t page = 0; page < 256; page++) {
        uint64_t physical = page * 4096 * 33 + page % 32 * LINE;
        at(&rig, (uint64_t)now_ns(&rig) + 1000, &t, FABRIC_WRITE, 0, physical);
        run(&rig);
        unsigned iod = fabric_place_of(rig.fabric, physical).iod;
        write[iod] += (double)(t.end - t.begin) / 1000 / lines[iod];
    }
    double all_hits = 0, all_misses = 0;
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQ(lines[i], 64);
        all_hits += hit[i] / 256;
        all_misses += miss[i] / 256;
        hit[i] /= lines[i];
        miss[i] /= lines[i];
        printf("XCD 0 to IOD %u: Infinity Cache %.1f ns, memory %.1f ns, a write %.1f ns\n", i, hit[i],
               miss[i], write[i]);
        /* An acknowledgement needs less of the ports than a line. */
        double later = write[i] - hit[i] - rig.chip.value[CHIP_infinity_cache_write_latency];
        CHECK(later > -2 && later < 0.5);
    }
    printf("on average: Infinity Cache %.1f ns, memory %.1f ns\n", all_hits, all_misses);
    /* From a CU whose TLB hits 205 to 218 and 333 to 350 ns, of which about 103 are before and after. */
    CHECK(all_hits > 104 && all_hits < 114);
    CHECK(all_misses - all_hits > 333 - 218 && all_misses - all_hits < 350 - 205);
    /* IODs 1 and 3 are neighbours of IOD 0, IOD 2 is across: a link each way more. */
    double hop = 2 * rig.chip.value[CHIP_usr_latency];
    CHECK(hit[1] - hit[0] > hop - 1 && hit[1] - hit[0] < hop + 1.5);
    CHECK(hit[3] - hit[0] > hop - 1 && hit[3] - hit[0] < hop + 1.5);
    CHECK(hit[2] - hit[0] > 2 * hop - 1 && hit[2] - hit[0] < 2 * hop + 2);
    rig_close(&rig);
}

/* What leaves an XCD together comes home one after another: a request for a line, two for the halves of one
 * that is written. */
static void test_port(void)
{
    enum { COUNT = 64 };
    static const struct {
        enum fabric_kind kind;
        uint64_t second_half;
        unsigned requests;
    } kinds[] = {{FABRIC_WRITE, UINT64_MAX, 2}, {FABRIC_WRITE, 0, 1}, {FABRIC_READ, 0, 1}};
    struct rig rig;
    open_rig(&rig, "mi300a", 4); /* the first domain is on the XCD's IOD */
    for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        static struct test_request t[COUNT];
        double start = now_ns(&rig) + 100;
        for (unsigned i = 0; i < COUNT; i++) {
            t[i].r.mask[0] = UINT64_MAX;
            t[i].r.mask[1] = kinds[k].second_half;
            at(&rig, (uint64_t)start, &t[i], kinds[k].kind, 0, i * LINE); /* two lines for each slice */
        }
        run(&rig);
        uint64_t first = UINT64_MAX, last = 0;
        for (unsigned i = 0; i < COUNT; i++) {
            CHECK_EQ(fabric_place_of(rig.fabric, t[i].r.physical).iod, 0);
            first = t[i].end < first ? t[i].end : first;
            last = t[i].end > last ? t[i].end : last;
        }
        double took = (double)(last - first), each = kinds[k].requests /
                                                     rig.chip.value[CHIP_fabric_requests] /
                                                     rig.chip.value[CHIP_fabric_clock] * 1e6;
        printf("%u times %u requests leave an XCD in %.1f ns\n", COUNT, kinds[k].requests, took / 1000);
        CHECK(took > (COUNT - 1) * each - 2000 && took < (COUNT - 1) * each + 4000);
    }
    rig_close(&rig);
}

/* Two XCDs read what is on a neighbouring IOD, and their ports are made wider than the link and what their
 * IOD takes in. */
static void test_links(void)
{
    enum { COUNT = 8192 };
    struct rig rig;
    open_rig(&rig, "mi300a", 4);
    rig.fabric->agent[0].ask_ps /= 4;
    rig.fabric->agent[1].ask_ps /= 4;
    const double *v = rig.chip.value;
    static struct test_request t[COUNT];
    static const unsigned neighbour[2] = {1, 3}; /* beside and above IOD 0 */
    for (unsigned way = 0; way < 2; way++) {
        uint64_t domain = (uint64_t)(v[CHIP_hbm_stacks] * v[CHIP_hbm_stack_size] / 4) * neighbour[way];
        double link = v[way ? CHIP_usr_vertical : CHIP_usr_horizontal], limit = v[CHIP_fabric_ingress];
        uint64_t first = UINT64_MAX, last = 0;
        limit = (link < limit ? link : limit) * LINE / (LINE + v[CHIP_usr_header]);
        for (unsigned pass = 0; pass < 2; pass++) { /* the second finds the lines in the cache */
            first = UINT64_MAX;
            last = 0;
            double start = now_ns(&rig) + 5000, each = LINE / limit / 1.2; /* they ask for a fifth more */
            for (unsigned i = 0; i < COUNT; i++)
                at(&rig, (uint64_t)(start + i * each), &t[i], FABRIC_READ, i % 2, domain + i * LINE);
            run(&rig);
            for (unsigned i = 0; i < COUNT; i++) {
                CHECK_EQ(fabric_place_of(rig.fabric, t[i].r.physical).iod, neighbour[way]);
                first = t[i].end < first ? t[i].end : first;
                last = t[i].end > last ? t[i].end : last;
            }
        }
        double achieved = (double)COUNT * LINE / (double)(last - first) * 1000;
        printf("two XCDs from IOD %u: %.0f GB/s of %.0f\n", neighbour[way], achieved, limit);
        CHECK(achieved > 0.93 * limit && achieved < 1.03 * limit);
    }
    rig_close(&rig);
}

static void fill(uint8_t *data, int value)
{
    memset(data, value, LINE);
}

/* What was written is read, by whoever comes later; what is under way is not overtaken. */
static void test_order(void)
{
    struct rig rig;
    open_rig(&rig, "mi300x", 1);
    static struct test_request w[4], r[4];
    uint64_t physical = 77 * 4096 + 5 * LINE;
    uint8_t *line = rig.memory + physical;
    fill(line, 1);
    fill(w[0].data, 2);
    w[0].r.mask[0] = 0xffff;
    w[0].r.mask[1] = 1;
    at(&rig, 100, &w[0], FABRIC_WRITE, 3, physical);
    at(&rig, 100, &r[0], FABRIC_FETCH, 3, physical); /* after the write, of the same XCD */
    run(&rig);
    CHECK(r[0].data[0] == 2 && r[0].data[15] == 2 && r[0].data[16] == 1 && r[0].data[64] == 2 &&
          r[0].data[65] == 1);
    CHECK(!r[0].r.faulted && !w[0].r.faulted && line[0] == 2 && line[16] == 1);
    CHECK(r[0].end > w[0].end); /* it waited for the acknowledgement */
    /* A read before a write of the same XCD does not see it, though both are under way. */
    fill(w[1].data, 3);
    w[1].r.mask[0] = w[1].r.mask[1] = UINT64_MAX;
    at(&rig, 3000, &r[1], FABRIC_FETCH, 3, physical);
    at(&rig, 3000, &w[1], FABRIC_WRITE, 3, physical);
    at(&rig, 3000, &r[2], FABRIC_FETCH, 3, physical);
    run(&rig);
    CHECK_EQ(r[1].data[0], 2);
    CHECK_EQ(r[2].data[0], 3);
    rig_close(&rig);
}

static void test_probes(void)
{
    struct rig rig;
    open_rig(&rig, "mi300x", 1);
    static struct test_request t[8];
    uint64_t physical = 1234 * 4096 + 3 * LINE;
    uint8_t *line = rig.memory + physical;
    fill(line, 1);
    /* Readers do not disturb each other. */
    at(&rig, 100, &t[0], FABRIC_READ, 0, physical);
    at(&rig, 1000, &t[1], FABRIC_READ, 1, physical);
    run(&rig);
    CHECK(l2s[0].probes == 0 && l2s[1].probes == 0);
    /* A writer's copy stays, all others go. */
    fill(t[2].data, 2);
    t[2].r.mask[0] = t[2].r.mask[1] = UINT64_MAX;
    t[2].r.keeps = true;
    at(&rig, 3000, &t[2], FABRIC_WRITE, 1, physical);
    run(&rig);
    CHECK(l2s[0].probes == 1 && l2s[1].probes == 0 && line[0] == 2);
    /* Who wants to own it takes it from everyone. */
    at(&rig, 6000, &t[3], FABRIC_OWN, 2, physical);
    run(&rig);
    CHECK(l2s[0].probes == 1 && l2s[1].probes == 1 && l2s[2].probes == 0 && t[3].data[0] == 2);
    /* What the owner changed is in memory before another reads it, and it is the owner no more. */
    fill(l2s[2].bytes, 9);
    l2s[2].dirty[0] = 0xff;
    at(&rig, 9000, &t[4], FABRIC_READ, 3, physical);
    at(&rig, 12000, &t[5], FABRIC_FETCH, 4, physical);
    run(&rig);
    CHECK(l2s[2].probes == 1 && t[4].data[0] == 9 && t[4].data[8] == 2 && t[5].data[7] == 9 && line[7] == 9);
    /* Two want to own it at once: one after the other, the second with what the first did. */
    fill(l2s[5].bytes, 11);
    fill(l2s[6].bytes, 12);
    l2s[5].dirty[0] = l2s[6].dirty[0] = 0xf0;
    at(&rig, 15000, &t[6], FABRIC_OWN, 5, physical);
    at(&rig, 15000, &t[7], FABRIC_OWN, 6, physical);
    run(&rig);
    CHECK(l2s[3].probes == 1);
    CHECK_EQ(l2s[5].probes + l2s[6].probes, 1);
    CHECK(l2s[5].probes ? t[7].data[4] == 11 : t[6].data[4] == 12);
    rig_close(&rig);
}

/* Three that have a line write parts of it back at once: the first's write takes it from the others, the
 * second's from the first, and then nobody has it, though all have said that they would keep it. */
static void test_writers_of_parts(void)
{
    enum { WRITERS = 3 };
    struct rig rig;
    open_rig(&rig, "mi300x", 1);
    static struct test_request r[WRITERS], w[WRITERS], own;
    const uint64_t physical = 77 * 4096 + 2 * LINE;
    fill(rig.memory + physical, 1);
    for (unsigned i = 0; i < WRITERS; i++) {
        at(&rig, 100, &r[i], FABRIC_READ, i, physical);
        fill(w[i].data, 2 + (int)i);
        w[i].r.mask[0] = UINT64_C(0xffff) << 16 * i;
        w[i].r.keeps = true;
        at(&rig, 3000, &w[i], FABRIC_WRITE, i, physical);
    }
    run(&rig);
    for (unsigned i = 0; i < WRITERS; i++)
        CHECK_EQ(rig.memory[physical + 16 * i], 2 + i);
    for (uint64_t later = 0; later < 2; later++) {
        for (unsigned i = 0; i < WRITERS; i++)
            CHECK_EQ(l2s[i].probes, 1);
        at(&rig, 9000 + later * 3000, &own, FABRIC_OWN, WRITERS, physical);
        run(&rig);
    }
    rig_close(&rig);
}

/* Halves of lines that answer probes leave an XCD one after another, as requests do. Answers without bytes
 * leave as they come, which is as the others' requests bring them about. */
static void test_answers(void)
{
    enum { COUNT = 64, SLOWER = 8 };
    struct rig rig;
    open_rig(&rig, "mi300a", 4);
    rig.fabric->agent[0].ask_ps *= SLOWER;
    rig.fabric->agent[0].half_ps *= SLOWER;
    static struct test_request have[COUNT], want[COUNT];
    for (unsigned halves = 0; halves <= 2; halves++) {
        l2s[0].stays = true;
        l2s[0].dirty[0] = halves > 0 ? 1 : 0;
        l2s[0].dirty[1] = halves > 1 ? 1 : 0;
        double start = now_ns(&rig) + 100;
        for (unsigned i = 0; i < COUNT; i++) {
            at(&rig, (uint64_t)start, &have[i], FABRIC_OWN, 0, i * LINE);
            at(&rig, (uint64_t)start + 10000, &want[i], FABRIC_OWN, 1, i * LINE);
        }
        uint64_t probes = l2s[0].probes;
        run(&rig);
        CHECK_EQ(l2s[0].probes - probes, COUNT);
        uint64_t first = UINT64_MAX, last = 0;
        for (unsigned i = 0; i < COUNT; i++) {
            first = want[i].end < first ? want[i].end : first;
            last = want[i].end > last ? want[i].end : last;
        }
        double took = (double)(last - first),
               each = halves ? halves * rig.fabric->agent[0].half_ps : rig.fabric->agent[1].ask_ps;
        printf("%u answers with %u halves of a line leave an XCD in %.1f ns\n", COUNT, halves, took / 1000);
        CHECK(took > (COUNT - 1) * each - 2000 && took < (COUNT - 1) * each + 4000);
    }
    rig_close(&rig);
}

/* An owner that has just sent the line home answers a probe: the bytes come before the answer. */
static void test_write_and_probe(void)
{
    for (uint64_t ns = 0; ns < 160; ns += 3) { /* around the time at which they meet */
        struct rig rig;
        open_rig(&rig, "mi300x", 1);
        static struct test_request own, write, read;
        uint64_t physical = 4096 * 9;
        fill(rig.memory + physical, 1);
        at(&rig, 100, &own, FABRIC_OWN, 0, physical);
        fill(write.data, 7);
        write.r.mask[0] = write.r.mask[1] = UINT64_MAX;
        at(&rig, 2000, &write, FABRIC_WRITE, 0, physical);
        at(&rig, 1920 + ns, &read, FABRIC_READ, 7, physical);
        run(&rig);
        CHECK(own.end && write.end && read.end);
        /* It is the old line only if the owner was asked before it wrote. */
        CHECK(read.data[0] == 7 ||
              (read.data[0] == 1 && l2s[0].probes == 1 && read.end < write.end + 100000));
        CHECK_EQ(rig.memory[physical], 7);
        if (ns > 40)
            CHECK_EQ(read.data[0], 7);
        rig_close(&rig);
    }
}

static void add_one(struct fabric_request *r, uint8_t *line)
{
    uint64_t value;
    memcpy(&value, line, 8);
    memcpy(r->data, &value, 8);
    value++;
    memcpy(line, &value, 8);
}

static void test_atomics(void)
{
    enum { COUNT = 64 };
    struct rig rig;
    open_rig(&rig, "mi300x", 1);
    static struct test_request t[COUNT];
    bool seen[COUNT] = {false};
    for (unsigned i = 0; i < COUNT; i++) {
        t[i].r.atomic = add_one;
        at(&rig, 100 + i / 8, &t[i], FABRIC_ATOMIC, i % 8, 4096);
    }
    run(&rig);
    uint64_t value;
    memcpy(&value, rig.memory + 4096, 8);
    CHECK_EQ(value, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        memcpy(&value, t[i].data, 8);
        CHECK(value < COUNT && !seen[value]);
        seen[value % COUNT] = true;
    }
    struct fabric_counters c;
    fabric_read_counters(rig.fabric, &c);
    CHECK(c.atomics == COUNT && c.cache_misses == 1);
    rig_close(&rig);
}

/* Memory that is not there, or may not be written. */
/*
 * An answer that is made late, as an atomic's, and a probe that the next request at the home sends at once:
 * the L2 gets them in the order in which they were made, from a home on its own IOD and from others.
 */
static void test_probe_stays_behind(void)
{
    unsigned met = 0;
    for (uint64_t page = 0; page < 64; page += 5)
        for (uint64_t ns = 0; ns < 200; ns += 4) {
            struct rig rig;
            open_rig(&rig, "mi300x", 1);
            static struct test_request have, add, write;
            const uint64_t physical = page * 4096;
            add.r.atomic = add_one;
            memset(write.data, 0x55, LINE);
            write.r.mask[0] = 0xff;
            at(&rig, 100, &have, FABRIC_READ, 0, physical); /* XCD 0 is to be probed */
            at(&rig, 2100, &add, FABRIC_ATOMIC, 0, physical);
            at(&rig, 2000 + ns, &write, FABRIC_WRITE, 5, physical);
            run(&rig);
            CHECK(add.end && write.end);
            CHECK_EQ(l2s[0].probes, 1);
            if (add.data[0] == 0) { /* the atomic was first */
                CHECK(l2s[0].probed >= add.end);
                met += l2s[0].probed < add.end + 2000;
            } else {
                CHECK(l2s[0].probed < add.end);
            }
            rig_close(&rig);
        }
    CHECK(met > 20); /* and not because they were far from each other */
}

static void test_faults(void)
{
    struct rig rig;
    open_rig(&rig, "mi300a", 1);
    static struct test_request read, write, atomic, good;
    CHECK(munmap(rig.memory + (1 << 20), 4096) == 0);
    CHECK(mprotect(rig.memory + (2 << 20), 4096, PROT_READ) == 0);
    at(&rig, 100, &read, FABRIC_READ, 0, (1 << 20) + LINE);
    write.r.mask[1] = 0x10;
    at(&rig, 100, &write, FABRIC_WRITE, 1, 2 << 20);
    atomic.r.atomic = add_one;
    at(&rig, 100, &atomic, FABRIC_ATOMIC, 2, (2 << 20) + LINE);
    at(&rig, 100, &good, FABRIC_READ, 3, (2 << 20) + 2 * LINE);
    run(&rig);
    CHECK(read.end && read.r.faulted);
    CHECK(write.end && write.r.faulted);
    CHECK(atomic.end && atomic.r.faulted);
    CHECK(good.end && !good.r.faulted);
    rig_close(&rig);
}

/* ---- pairs ---- */

/* Two lines at once take the time that two requests take, and count as two. */
static void test_pair_time(void)
{
    struct rig rig;
    open_rig(&rig, "mi300a", 1);
    CHECK(fabric_pairs(rig.fabric));
    static struct test_request pair, one, two;
    pair.r.pair = true;
    for (uint64_t page = 0; page < 32; page++) {
        uint64_t physical = page * 4096 * 33 + page % 16 * FABRIC_PAIR, ns = (uint64_t)now_ns(&rig) + 3000;
        memset(rig.memory + physical % RIG_BYTES, 1, LINE);
        memset(rig.memory + physical % RIG_BYTES + LINE, 2, LINE);
        struct fabric_counters before, c;
        fabric_read_counters(rig.fabric, &before);
        at(&rig, ns, &pair, FABRIC_READ, 0, physical); /* from memory, then from the cache */
        run(&rig);
        CHECK_EQ(pair.r.missed, 2);
        CHECK(pair.data[0] == 1 && pair.data[LINE - 1] == 1 && pair.data[LINE] == 2 &&
              pair.data[FABRIC_PAIR - 1] == 2);
        at(&rig, ns + 3000, &pair, FABRIC_READ, 0, physical);
        run(&rig);
        CHECK_EQ(pair.r.missed, 0);
        at(&rig, ns + 6000, &one, FABRIC_READ, 0, physical);
        at(&rig, ns + 6000, &two, FABRIC_READ, 0, physical + LINE);
        run(&rig);
        CHECK_EQ(pair.end - pair.begin, one.end - one.begin); /* the second line follows the first */
        CHECK(two.end >= one.end);
        fabric_read_counters(rig.fabric, &c);
        CHECK_EQ(c.reads - before.reads, 6);
        CHECK_EQ(c.cache_misses - before.cache_misses, 2);
        CHECK_EQ(c.cache_hits - before.cache_hits, 4);
        CHECK_EQ(c.dram_reads - before.dram_reads - (c.prefetches - before.prefetches), 2);
    }
    rig_close(&rig);
    enum { COUNT = 64 };
    static struct test_request many[COUNT];
    uint64_t last[2] = {0, 0};
    for (unsigned pairs = 0; pairs < 2;
         pairs++) { /* all through one port, and the lines of a page through one link */
        open_rig(&rig, "mi300a", 1);
        for (unsigned i = 0; i < COUNT; i += 1 + pairs) {
            many[i].r.pair = pairs;
            many[i].r.mask[0] = many[i].r.mask[1] = UINT64_MAX;
            at(&rig, 100, &many[i], FABRIC_WRITE, 0, 4096 * 7 + i * LINE);
        }
        run(&rig);
        for (unsigned i = 0; i < COUNT; i += 1 + pairs)
            last[pairs] = many[i].end > last[pairs] ? many[i].end : last[pairs];
        rig_close(&rig);
    }
    printf("%u lines written in %.1f ns, as pairs in %.1f ns\n", COUNT, (double)last[0] / 1000 - 100,
           (double)last[1] / 1000 - 100);
    double each = 2 / rig.chip.value[CHIP_fabric_requests] / rig.chip.value[CHIP_fabric_clock] * 1e6;
    CHECK(fabs((double)last[0] - (double)last[1]) < 2 * each + 1000);
}

/* It waits for what is before it on either line, and what comes after it on either line waits for it. */
static void test_pair_order(void)
{
    for (unsigned which = 0; which < 2; which++)
        for (uint64_t ns = 0; ns < 400; ns += 7) {
            struct rig rig;
            open_rig(&rig, "mi300x", 1);
            static struct test_request before, read, write, after, add, other;
            const uint64_t pair = 4096 * 21 + 2 * FABRIC_PAIR, line = pair + which * LINE;
            fill(rig.memory + line, 1);
            fill(rig.memory + (line ^ LINE), 2);
            memset(before.data, 3, LINE);
            before.r.mask[0] = before.r.mask[1] = UINT64_MAX;
            at(&rig, 100, &before, FABRIC_WRITE, 3, line);
            read.r.pair = write.r.pair = true;
            at(&rig, 100, &read, FABRIC_READ, 3, pair); /* behind the write */
            memset(write.data, 4, FABRIC_PAIR);
            write.r.mask[0] = write.r.mask[1] = UINT64_MAX;
            add.r.atomic = add_one;
            at(&rig, 2000, &write, FABRIC_WRITE, 3, pair);
            at(&rig, 2000, &after, FABRIC_FETCH, 3, line);     /* behind the pair */
            at(&rig, 1800 + ns, &add, FABRIC_ATOMIC, 6, line); /* at any time */
            other.r.pair = true;
            at(&rig, 1800 + ns, &other, FABRIC_READ, 5, pair);
            run(&rig);
            CHECK(before.end && read.end > before.end && write.end && after.end > write.end && add.end &&
                  other.end);
            CHECK(read.data[which * LINE + 9] == 3 && read.data[(1 - which) * LINE] == 2);
            CHECK(after.data[9] == 4 && (after.data[0] == 4 || after.data[0] == 5));
            CHECK(rig.memory[line] == (add.data[0] == 4 ? 5 : 4));
            CHECK(rig.memory[line ^ LINE] == 4);
            CHECK(other.data[which * LINE + 9] == 3 || other.data[which * LINE + 9] == 4);
            CHECK(other.data[which * LINE + 9] == 3 ||
                  other.data[(1 - which) * LINE] == 4); /* both lines at once */
            rig_close(&rig);
        }
}

/* Copies of either line, and an owner's bytes of one of them. */
static void test_pair_probes(void)
{
    struct rig rig;
    open_rig(&rig, "mi300x", 1);
    static struct test_request t[8];
    const uint64_t pair = 1234 * 4096 + FABRIC_PAIR;
    memset(rig.memory + pair, 1, FABRIC_PAIR);
    at(&rig, 100, &t[0], FABRIC_READ, 0, pair);
    at(&rig, 100, &t[1], FABRIC_READ, 1, pair + LINE);
    at(&rig, 100, &t[2], FABRIC_OWN, 2, pair + 64 * LINE);
    at(&rig, 100, &t[3], FABRIC_OWN, 2, pair + 65 * LINE);
    run(&rig);
    t[4].r.pair = true;
    memset(t[4].data, 5, FABRIC_PAIR);
    t[4].r.mask[0] = t[4].r.mask[1] = UINT64_MAX;
    t[4].r.keeps = true;
    at(&rig, 3000, &t[4], FABRIC_WRITE, 4, pair);
    run(&rig);
    CHECK(l2s[0].probes == 1 && l2s[1].probes == 1 && l2s[4].probes == 0);
    CHECK(rig.memory[pair] == 5 && rig.memory[pair + FABRIC_PAIR - 1] == 5);
    memset(l2s[2].bytes, 9, LINE);
    l2s[2].dirty[1] = 0xff; /* in what it answers first */
    t[5].r.pair = true;
    at(&rig, 6000, &t[5], FABRIC_READ, 5, pair + 64 * LINE);
    run(&rig);
    CHECK_EQ(l2s[2].probes, 2);
    CHECK((t[5].data[64] == 9) != (t[5].data[LINE + 64] == 9));
    at(&rig, 9000, &t[6], FABRIC_OWN, 6, pair + 65 * LINE); /* it has become a holder of both */
    at(&rig, 9000, &t[7], FABRIC_OWN, 6, pair + 64 * LINE);
    run(&rig);
    CHECK_EQ(l2s[5].probes, 2);
    rig_close(&rig);
}

/* What an L2 took for a probe is older than what it writes before its answer. */
static struct fabric_probe *late;

static void probed_late(struct port_domain *domain, struct port_event *event)
{
    struct l2 *l2 = event->self;
    (void)domain;
    late = (struct fabric_probe *)event->word[0];
    fabric_probe_take(l2->rig->fabric, late);
    memset(late->data, 8, LINE);
    late->mask[0] = late->mask[1] = UINT64_MAX;
}

static void answer_late(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    fabric_probe_answer(event->self, late);
}

static void test_write_behind_probe(void)
{
    struct rig rig;
    open_rig(&rig, "mi300x", 1);
    fabric_attach(rig.fabric, 0, port_domain(rig.port, 0), probed_late, &l2s[0]);
    static struct test_request own, read, write;
    const uint64_t physical = 4096 * 9;
    late = NULL;
    at(&rig, 100, &own, FABRIC_OWN, 0, physical);
    at(&rig, 2000, &read, FABRIC_READ, 7, physical);
    memset(write.data, 9, LINE);
    write.r.mask[0] = write.r.mask[1] = UINT64_MAX;
    at(&rig, 4000, &write, FABRIC_WRITE, 0, physical);
    port_post(port_domain(rig.port, 0), port_cycle_of(port_domain(rig.port, 0), 4100000), answer_late,
              rig.fabric);
    run(&rig);
    CHECK(late && read.end && write.end > read.end);
    CHECK_EQ(read.data[0], 8);
    CHECK_EQ(rig.memory[physical], 9);
    rig_close(&rig);
}

static void test_pair_faults(void)
{
    struct rig rig;
    open_rig(&rig, "mi300a", 1);
    static struct test_request read, write;
    CHECK(munmap(rig.memory + (1 << 20), 4096) == 0);
    CHECK(mprotect(rig.memory + (2 << 20), 4096, PROT_READ) == 0);
    read.r.pair = write.r.pair = true;
    write.r.mask[0] = write.r.mask[1] = UINT64_MAX;
    at(&rig, 100, &read, FABRIC_READ, 0, 1 << 20);
    at(&rig, 100, &write, FABRIC_WRITE, 1, 2 << 20);
    run(&rig);
    CHECK(read.end && read.r.faulted && write.end && write.r.faulted);
    rig_close(&rig);
}

/* ---- a storm ---- */

enum { FLIGHT = 48, STORM_LINES = 64 };

struct storm {
    struct rig *rig;
    unsigned xcd;
    uint64_t random, left, hash;
    struct fabric_request request[FLIGHT];
    uint8_t data[FLIGHT][FABRIC_PAIR];
    uint64_t asked; /* lines */
};

static void storm_answered(struct port_domain *domain, struct port_event *event);

static void storm_ask(struct storm *s, struct fabric_request *r)
{
    static const enum fabric_kind kinds[8] = {FABRIC_READ,  FABRIC_READ,  FABRIC_READ,  FABRIC_OWN,
                                              FABRIC_FETCH, FABRIC_WRITE, FABRIC_WRITE, FABRIC_ATOMIC};
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    unsigned i = (unsigned)(r - s->request);
    *r = (struct fabric_request){
        .kind = kinds[s->random >> 20 & 7],
        .agent = (uint8_t)s->xcd,
        .data = s->data[i],
        .mask = {s->random, s->random >> 3},
        .keeps = s->random >> 30 & 1,
        .atomic = add_one,
        .done = storm_answered,
        .self = s,
    };
    /* Many on few lines, some all over. */
    uint64_t line =
        s->random >> 31 & 1 ? (s->random >> 40) % STORM_LINES : (s->random >> 40) % (RIG_BYTES / LINE);
    r->pair = line % 2 == 0 && (r->kind == FABRIC_READ || r->kind == FABRIC_WRITE) && s->random >> 32 & 1;
    if (r->pair) {
        r->second = s->data[i] + LINE;
        r->mask[0] = r->mask[1] = UINT64_MAX;
    }
    s->asked += r->pair ? 2 : 1;
    rig_address(s->rig, r, line * LINE);
    fabric_submit(s->rig->fabric, r);
}

static void storm_answered(struct port_domain *domain, struct port_event *event)
{
    struct storm *s = event->self;
    struct fabric_request *r = (struct fabric_request *)event->word[0];
    s->hash = (s->hash ^ port_now(domain) ^ r->physical << 24 ^ s->data[r - s->request][3]) *
              UINT64_C(0x9e3779b97f4a7c15);
    if (s->left) {
        s->left--;
        storm_ask(s, r);
    } else {
        s->hash++;
    }
}

static void storm_probed(struct port_domain *domain, struct port_event *event)
{
    struct storm *s = event->self;
    struct fabric_probe *probe = (struct fabric_probe *)event->word[0];
    s->hash = (s->hash ^ port_now(domain)) * UINT64_C(0x9e3779b97f4a7c15);
    if (s->hash >> 60 & 1) {
        probe->mask[1] = s->hash;
        memset(probe->data, (int)(s->hash >> 56), LINE);
    }
    fabric_probe_answer(s->rig->fabric, probe);
}

static void storm_start(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct storm *s = event->self;
    for (unsigned i = 0; i < FLIGHT; i++)
        storm_ask(s, &s->request[i]);
}

static uint64_t storm(unsigned threads, unsigned entries, uint64_t requests, struct fabric_counters *counters,
                      uint64_t *asked)
{
    struct rig rig;
    rig_load(&rig, "mi300x");
    rig.chip.value[CHIP_probe_filter_entries] = entries;
    rig.chip.value[CHIP_probe_filter_ways] = 1;
    rig_start(&rig, threads, 1);
    struct storm *storms = calloc(rig.xcds, sizeof(*storms));
    /* Addresses of the host must not matter: they are the same in each run relative to the memory only. */
    for (unsigned i = 0; i < rig.xcds; i++) {
        storms[i].rig = &rig;
        storms[i].xcd = i;
        storms[i].random = 4711 + i;
        storms[i].left = requests;
        fabric_attach(rig.fabric, i, port_domain(rig.port, i), storm_probed, &storms[i]);
        port_post(port_domain(rig.port, i), 10, storm_start, &storms[i]);
    }
    port_run(rig.port, PORT_NEVER, NULL, NULL);
    fabric_read_counters(rig.fabric, counters);
    uint64_t hash = port_time_ps(rig.port);
    *asked = 0;
    for (unsigned i = 0; i < rig.xcds; i++) {
        CHECK_EQ(storms[i].left, 0);
        *asked += storms[i].asked;
        hash = hash * 31 + storms[i].hash;
    }
    free(storms);
    rig_close(&rig);
    return hash;
}

static void test_threads(void)
{
    for (unsigned entries = 0; entries < 3; entries++) { /* of the probe filter; 0: of all lines */
        struct fabric_counters one, more;
        uint64_t asked, hash = storm(1, entries, 4000, &one, &asked);
        CHECK_EQ(one.reads + one.writes + one.atomics, asked); /* every request was answered once */
        CHECK(asked > 8 * (4000 + FLIGHT) * 11 / 10);
        CHECK(one.probes > 1000);
        CHECK((one.displaced > 1000) == (entries > 0));
        for (unsigned threads = 1; threads <= 4; threads *= 2) {
            CHECK_EQ(storm(threads, entries, 4000, &more, &asked), hash);
            CHECK(memcmp(&one, &more, sizeof(one)) == 0);
        }
    }
}

int main(void)
{
    test_distance();
    test_port();
    test_links();
    test_order();
    test_probes();
    test_writers_of_parts();
    test_answers();
    test_write_and_probe();
    test_atomics();
    test_probe_stays_behind();
    test_faults();
    test_pair_time();
    test_pair_order();
    test_pair_probes();
    test_write_behind_probe();
    test_pair_faults();
    test_threads();
    return check_status();
}
