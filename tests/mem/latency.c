/* SPDX-License-Identifier: MIT */
/* How long things take, what is one request, and how far caches reach. */
#include "mem/l2_state.h"
#include "hierarchies.h"

/* Load to use is 116 to 120 cycles in the vL1 and 200 to 225 in the L2, of which the CU's issue is about
 * four. */
static void check_levels(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    struct shot s = shot(&rig, 0, 3, ACCESS_LOAD, 4096, 4);
    run(&s); /* page, line */
    uint64_t hit = run(&s);
    CHECK(hit >= 112 && hit <= 116);
    uint64_t sum = 0, least = UINT64_MAX, most = 0;
    for (unsigned i = 0; i < 16; i++) { /* a channel each */
        s = shot(&rig, 0, 4, ACCESS_LOAD, 8192 + i * 256, 4);
        run(&s);
        s.a.cu = 3;
        uint64_t t = run(&s);
        sum += t;
        least = t < least ? t : least;
        most = t > most ? t : most;
    }
    CHECK(sum / 16 >= 205 && sum / 16 <= 213);
    CHECK(least >= 195 && most <= 225 && most > least);
    s = shot(&rig, 1, 3, ACCESS_LOAD, 4096, 4);
    run(&s);
    s = shot(&rig, 1, 3, ACCESS_LOAD, 8192, 4); /* another XCD brought it to the Infinity Cache */
    uint64_t far = run(&s);
    CHECK(far > 380 && far < 520);
    s = shot(&rig, 0, 3, ACCESS_SLOAD, 4096, 8);
    run(&s);
    CHECK_EQ(run(&s), 44);
    s.a.bytes = 16;
    CHECK_EQ(run(&s), 44);
    s.a.bytes = 32; /* 16 bytes a cycle */
    CHECK_EQ(run(&s), 45);
    s.a.bytes = 64;
    CHECK_EQ(run(&s), 47);
    s.a.bytes = 8;
    s.a.addr[0] += 64; /* the other half of the L2's line */
    uint64_t scalar = run(&s);
    CHECK(scalar >= 160 && scalar <= 175);
    s = shot(&rig, 0, 3, ACCESS_FETCH, 16384, 64);
    run(&s);
    const uint64_t fetch = chip_get(&rig.chip, CHIP_icache_latency);
    CHECK_EQ(run(&s), fetch);
    s.a.cu = 2; /* shares it */
    CHECK_EQ(run(&s), fetch);
    struct shot a = adder(&rig, 0, 3, 12288, 1, ISA_SCOPE_AGENT);
    run(&a);
    uint64_t atomic = run(&a);
    CHECK(atomic > hit && atomic < 260);
    printf("cycles: vL1 %" PRIu64 ", L2 %" PRIu64 " (%" PRIu64 " to %" PRIu64 "), Infinity Cache %" PRIu64
           ", scalar from L2 %" PRIu64 ", atomic %" PRIu64 "\n",
           hit, sum / 16, least, most, far, scalar, atomic);
    rig_close(&rig);
}

/* Half a line of code a cycle for each CU: there may be FETCHES_WAIT before one that nobody waits for. */
static bool fetch_ready;
static uint64_t half_comes[2]; /* cycles from now on, for two CUs of one cache */

static void look_at_fetches(struct port_domain *domain, struct port_event *event)
{
    fetch_ready = xcd_mem_fetch_ready(event->self, 3);
    for (unsigned i = 0; i < 2; i++)
        half_comes[i] = xcd_mem_fetch_half(event->self, 3 - i) - port_now(domain);
}

static void check_fetches(void)
{
    enum { FETCHES_WAIT = 4 };
    struct rig rig;
    rig_open(&rig, true, 1);
    struct shot s[FETCHES_WAIT + 1];
    CHECK(xcd_mem_fetch_ready(rig.mem[0], 3)); /* nothing was ever fetched there */
    for (unsigned i = 0; i <= FETCHES_WAIT; i++) {
        s[i] = shot(&rig, 0, 3, ACCESS_FETCH, 16384 + i * 64, 64);
        run(&s[i]);
    }
    for (unsigned lines = 0; lines <= FETCHES_WAIT + 1; lines++)
        for (unsigned later = 0; later < 2; later++) {
            for (unsigned i = 0; i < lines; i++)
                start(&s[i], 100);
            struct port_domain *d = rig.domain[0];
            uint64_t now = port_cycle_of(d, port_time_ps(rig.port));
            port_post(d, now + 100 + later, look_at_fetches, rig.mem[0]);
            run_all(&rig);
            CHECK_EQ(fetch_ready, lines <= FETCHES_WAIT + later);
            CHECK_EQ(half_comes[0], lines > later ? lines - later : 0);
            CHECK_EQ(half_comes[1], 0);
        }
    rig_close(&rig);
}

static void crossed(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    (void)event;
}

/* A kernel finds code in the instruction cache as the last one left it, and none when code was loaded. */
static void check_code_stays(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    struct shot code = shot(&rig, 0, 3, ACCESS_FETCH, 16384, 64);
    struct shot data = shot(&rig, 0, 3, ACCESS_SLOAD, 32768, 64);
    run(&code);
    run(&data);
    CHECK(code.a.level != MEM_LEVEL_L1 && data.a.level != MEM_LEVEL_L1);
    xcd_mem_acquire(rig.mem[0], true, crossed, NULL);
    run_all(&rig);
    run(&code);
    run(&data);
    CHECK(code.a.level == MEM_LEVEL_L1 && data.a.level != MEM_LEVEL_L1);
    run(&data);
    CHECK(data.a.level == MEM_LEVEL_L1);
    xcd_mem_invalidate_code(rig.mem[0]);
    run(&code);
    run(&data);
    CHECK(code.a.level != MEM_LEVEL_L1 && data.a.level == MEM_LEVEL_L1);
    rig_close(&rig);
}

/* As many scalar loads as the cache has places for wait for lines; behind them others wait for a place, and a
 * hit too. */
static void check_scalar_places(void)
{
    enum { MOST = 64 };
    for (int short_of = 1; short_of >= 0; short_of--) {
        struct rig rig;
        rig_open(&rig, true, 1);
        const unsigned places = chip_get(&rig.chip, CHIP_sl1_waiting), n = places - (unsigned)short_of;
        static struct shot cold[MOST];
        struct shot warm = shot(&rig, 0, 3, ACCESS_SLOAD, 8192, 4);
        CHECK(places < MOST);
        run(&warm);
        const uint64_t hit = run(&warm);
        for (unsigned i = 0; i < n; i++) { /* a miss of each line, and what finds it on its way */
            cold[i] = shot(&rig, 0, 2 + i % 2, ACCESS_SLOAD, 16384 + i / 4 * 64, 4);
            start(&cold[i], 1 + i);
        }
        start(&warm, 1 + n);
        run_all(&rig);
        uint64_t first = cold[0].completed;
        for (unsigned i = 0; i < n; i++)
            first = cold[i].completed < first ? cold[i].completed : first;
        CHECK(first - cold[0].submitted > 2 * hit);
        if (short_of)
            CHECK_EQ(warm.completed - warm.submitted, hit);
        else /* when the first line is there, whose two loads of the same unit are delivered before */
            CHECK_EQ(warm.completed, first + 2);
        const struct mem_counters c = counters(&rig, 0);
        CHECK_EQ(c.sqc_data_misses, 1 + (n + 3) / 4);
        CHECK_EQ(c.sqc_data_merged, n - (n + 3) / 4);
        CHECK_EQ(c.sqc_data_hits, 2);
        CHECK_EQ(c.sqc_data_requests, n + 3);
        rig_close(&rig);
    }
}

/* A miss reads sixteen lines ahead, in its page; the first use of one of those reads on. */
static void check_read_ahead(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    const unsigned ahead = chip_get(&rig.chip, CHIP_icache_prefetch);
    const uint64_t page = 16384, line = 64;
    struct shot at = shot(&rig, 0, 3, ACCESS_FETCH, page, 64);
    uint64_t cold = run(&at);
    CHECK_EQ(counters(&rig, 0).sqc_inst_ahead, ahead);
    uint64_t warm = run(&at);
    CHECK(warm < cold / 8);
    CHECK_EQ(counters(&rig, 0).sqc_inst_ahead, ahead); /* nothing new */
    struct shot beyond = shot(&rig, 0, 3, ACCESS_FETCH, page + (ahead + 1) * line, 64);
    CHECK(run(&beyond) > warm);
    CHECK_EQ(counters(&rig, 0).sqc_inst_misses, 2);
    CHECK_EQ(counters(&rig, 0).sqc_inst_ahead, 2 * ahead);
    struct shot last = shot(&rig, 0, 3, ACCESS_FETCH, page + ahead * line, 64);
    CHECK_EQ(run(&last), warm);
    CHECK_EQ(counters(&rig, 0).sqc_inst_ahead, 2 * ahead); /* that has what is behind it */
    struct shot next = shot(&rig, 0, 3, ACCESS_FETCH, page + (ahead + 2) * line, 64);
    CHECK_EQ(run(&next), warm);
    CHECK_EQ(counters(&rig, 0).sqc_inst_ahead, 2 * ahead + 1);
    /* Not beyond the page; and who comes while a line is on its way waits for that. */
    struct shot end = shot(&rig, 0, 3, ACCESS_FETCH, page + 4096 - 2 * line, 64);
    struct shot after = shot(&rig, 0, 3, ACCESS_FETCH, page + 4096 - line, 64);
    start(&end, 1);
    start(&after, 60);
    run_all(&rig);
    CHECK_EQ(counters(&rig, 0).sqc_inst_ahead, 2 * ahead + 2);
    CHECK_EQ(counters(&rig, 0).sqc_inst_merged, 1);
    rig_close(&rig);
}

static void check_coalescing(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    struct mem_counters before = counters(&rig, 0), c;
    struct shot s = shot(&rig, 0, 0, ACCESS_LOAD, 0, 4);
    for (uint32_t i = 0; i < 1024; i++)
        memcpy(rig.arena + i * 4, &i, 4);
    spread_lanes(&s, 0, 4);
    run(&s);
    c = counters(&rig, 0);
    CHECK_EQ(c.tcp_tcc_read - before.tcp_tcc_read, 2);
    CHECK_EQ(c.tcp_cache_accesses - before.tcp_cache_accesses, 4);
    for (uint32_t i = 0; i < 64; i++)
        CHECK(!memcmp(s.a.data + i * ACCESS_LANE_BYTES, &i, 4));
    before = c;
    s = shot(&rig, 0, 0, ACCESS_STORE, 0, 8); /* 512 bytes: sixteen look-ups, eight writes of 64 bytes */
    spread_lanes(&s, 4096, 8);
    run(&s);
    c = counters(&rig, 0);
    CHECK_EQ(c.tcp_tcc_write - before.tcp_tcc_write, 8);
    CHECK_EQ(c.tcp_cache_accesses - before.tcp_cache_accesses, 16);
    CHECK_EQ(c.tcc_misses - before.tcc_misses, 4);
    CHECK_EQ(c.tcc_hits - before.tcc_hits, 4);
    before = c;
    s = shot(&rig, 0, 0, ACCESS_LOAD, 0, 4);
    spread_lanes(&s, 8192, 128);
    run(&s);
    CHECK_EQ(counters(&rig, 0).tcp_tcc_read - before.tcp_tcc_read, 64);
    before = counters(&rig, 0);
    s = shot(&rig, 0, 0, ACCESS_LOAD, 126, 4); /* over the end of a line */
    uint32_t want;
    memcpy(&want, rig.arena + 126, 4);
    CHECK_EQ(get(&s), want);
    /* Loads of one line at once ask the L2 once. */
    struct shot same[4];
    before = counters(&rig, 0);
    for (unsigned i = 0; i < 4; i++) {
        same[i] = shot(&rig, 0, 0, ACCESS_LOAD, 40000 + i * 4, 4);
        same[i].a.wave = (uint8_t)i;
        start(&same[i], 1 + i);
    }
    run_all(&rig);
    CHECK_EQ(counters(&rig, 0).tcp_tcc_read - before.tcp_tcc_read, 1);
    /* But one of agent scope asks for itself. */
    before = counters(&rig, 0);
    same[1].a.policy.scope = ISA_SCOPE_AGENT;
    for (unsigned i = 0; i < 2; i++) {
        same[i].a.addr[0] += 4096;
        start(&same[i], 1 + i);
    }
    run_all(&rig);
    CHECK_EQ(counters(&rig, 0).tcp_tcc_read - before.tcp_tcc_read, 2);
    rig_close(&rig);
}

/* How many of `lines` lines at `stride` the level still has when they are read again, in the same order. */
static unsigned kept(struct rig *rig, unsigned cu, unsigned lines, unsigned stride, uint64_t limit)
{
    unsigned hits = 0;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < lines; i++) {
            struct shot s = shot(rig, 0, cu, ACCESS_LOAD, (uint64_t)i * stride, 4);
            hits += run(&s) <= limit && pass;
        }
    return hits;
}

static void check_reach(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    CHECK_EQ(kept(&rig, 0, 256, 128, 120), 256);
    CHECK_EQ(kept(&rig, 1, 257, 128, 120) / 65, 2); /* one set of four is over its ways, and keeps none */
    CHECK_EQ(kept(&rig, 2, 64, 4096, 120), 64);
    CHECK_EQ(kept(&rig, 3, 65, 4096, 120), 0);
    rig_close(&rig);
    rig_open(&rig, true, 1);
    CHECK_EQ(kept(&rig, 0, 2048, 4096, 230), 2048); /* a channel of the L2 */
    rig_close(&rig);
    rig_open(&rig, true, 1);
    CHECK(kept(&rig, 0, 2049, 4096, 230) < 2048);
    rig_close(&rig);
}

/* Consecutive blocks lie in different channels, and an XCD's share of a grid uses all of them alike. */
static void check_channels(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    const struct l2_map *l2 = &rig.mem[0]->l2_map;
    for (uint64_t row = 0; row < 512; row++) {
        unsigned seen = 0;
        for (uint64_t block = 0; block < 16; block++)
            seen |= 1U << l2_channel_of(l2, (row * 16 + block) * 256);
        CHECK_EQ(seen, 0xffff);
    }
    for (unsigned xcds = 6; xcds <= 8; xcds += 2)
        for (uint64_t bytes = 1024; bytes <= 4096; bytes *= 2) /* of a workgroup */
            for (unsigned xcd = 0; xcd < xcds; xcd++) {
                unsigned blocks[16] = {0};
                for (uint64_t i = 0; i < 512; i++)
                    for (uint64_t at = 0; at < bytes; at += 256)
                        blocks[l2_channel_of(l2, (xcd + i * xcds) * bytes + at)]++;
                for (unsigned c = 0; c < 16; c++)
                    CHECK_EQ(blocks[c], 512 * bytes / 256 / 16);
            }
    rig_close(&rig);
}

/* How much later the second of two waves has its row of lanes than the first, both from the vL1. */
static uint64_t apart(struct rig *rig, unsigned bytes)
{
    struct shot s[2];
    for (unsigned i = 0; i < 2; i++) {
        s[i] = shot(rig, 0, 0, ACCESS_LOAD, 1 << 20, bytes);
        s[i].a.wave = (uint8_t)i;
        s[i].a.lanes = UINT64_MAX;
        for (unsigned lane = 0; lane < 64; lane++)
            s[i].a.addr[lane] = s[i].a.addr[0] + (uint64_t)lane * bytes;
        run(&s[i]);
    }
    start(&s[0], 1);
    start(&s[1], 1);
    run_all(rig);
    return s[1].completed - s[0].completed;
}

/* A look-up a cycle: of 16 lanes, or four of more than a dword each (rocprofiler-compute: 16 for a wave's).
 */
static void check_look_ups(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    CHECK_EQ(apart(&rig, 4), 4);
    struct mem_counters before = counters(&rig, 0);
    CHECK_EQ(apart(&rig, 8), 16);
    CHECK_EQ(counters(&rig, 0).tcp_cache_accesses - before.tcp_cache_accesses, 4 * 16);
    CHECK_EQ(apart(&rig, 16), 16);
    rig_close(&rig);
}

/* How long a load of one line from the vL1 takes right behind another wave's access of so many lines. */
static uint64_t time_behind(struct rig *rig, struct shot *other, unsigned lines)
{
    struct shot load = shot(rig, 0, 0, ACCESS_LOAD, 0, 4);
    load.a.wave = 1;
    run(&load);
    spread_lanes(other, 1 << 20, 128);
    other->a.lanes >>= 64 - lines;
    run(other);
    const uint64_t begin = port_now(rig->domain[0]);
    start(other, 1);
    start(&load, 1);
    run_all(rig);
    return load.completed - begin;
}

/* Atomics of four lines are looked up in a cycle (KTH: a whole wave's takes 9 ns longer than a lane's). */
static void check_look_ups_of_atomics(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    struct shot store = shot(&rig, 0, 0, ACCESS_STORE, 0, 8),
                atomic = adder(&rig, 0, 0, 0, 1, ISA_SCOPE_AGENT);
    atomic.a.bytes = 8;
    atomic.a.returns = false; /* or the load's result would wait for its */
    const uint64_t one = time_behind(&rig, &store, 1);
    CHECK_EQ(time_behind(&rig, &store, 64) - one, 63);
    CHECK_EQ(time_behind(&rig, &atomic, 1), one);
    CHECK_EQ(time_behind(&rig, &atomic, 4), one);
    CHECK_EQ(time_behind(&rig, &atomic, 5) - one, 1);
    CHECK_EQ(time_behind(&rig, &atomic, 64) - one, 15);
    atomic.a.bytes = 4; /* sixteen lanes together, and four lines of them a cycle */
    CHECK_EQ(time_behind(&rig, &atomic, 5) - one, 1);
    CHECK_EQ(time_behind(&rig, &atomic, 64) - one, 15);
    rig_close(&rig);
}

/* Of uncached memory one line at a time is on its way for a CU; of other memory many. */
static uint64_t time_of_lines(enum vm_mtype mtype)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    rig.vm.mtype = (uint8_t)mtype;
    load32(&rig, 0, 0, 0, ISA_SCOPE_WAVE); /* page */
    struct shot wide = shot(&rig, 0, 0, ACCESS_LOAD, 8192, 4);
    spread_lanes(&wide, 8192, 128);
    uint64_t cycles = run(&wide);
    rig_close(&rig);
    return cycles;
}

static void check_uncached(void)
{
    uint64_t cached = time_of_lines(VM_MTYPE_CC), uncached = time_of_lines(VM_MTYPE_UC);
    CHECK(uncached > 20 * cached && uncached < 64 * cached);
}

static unsigned order;
static void in_order(struct mem_access *a)
{
    struct shot *s = (struct shot *)a;
    shot_done(a);
    s->order = ++order;
}

static void check_order(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    load32(&rig, 0, 0, 0, ISA_SCOPE_WAVE);
    /* A load that misses, one that hits, a store, an invalidation: of one wave, in the order of submission.
     */
    struct shot s[5] = {shot(&rig, 0, 0, ACCESS_LOAD, 1 << 20, 4), shot(&rig, 0, 0, ACCESS_LOAD, 0, 4),
                        shot(&rig, 0, 0, ACCESS_STORE, 4096, 4), shot(&rig, 0, 0, ACCESS_LOAD, 0, 4),
                        shot(&rig, 0, 0, ACCESS_INV, 0, 4)};
    s[4].a.policy.scope = ISA_SCOPE_AGENT;
    order = 0;
    for (unsigned i = 0; i < 5; i++) {
        s[i].a.done = in_order;
        start(&s[i], 1 + i);
    }
    run_all(&rig);
    for (unsigned i = 0; i < 5; i++)
        CHECK_EQ(s[i].order, i + 1);
    /* Another wave's store need not wait for it. */
    s[0].a.addr[0] += 1 << 19;
    s[2].a.wave = 1;
    s[2].a.policy.scope = ISA_SCOPE_WORKGROUP; /* not kept back */
    order = 0;
    start(&s[0], 1);
    start(&s[2], 2);
    run_all(&rig);
    CHECK_EQ(s[2].order, 1);
    /* No lanes: complete at once. */
    struct shot none = shot(&rig, 0, 0, ACCESS_LOAD, 0, 4);
    none.a.lanes = 0;
    CHECK(run(&none) < 120);
    /* Faults say which lane, and the rest goes on. */
    struct shot bad = shot(&rig, 0, 0, ACCESS_LOAD, 0, 4);
    bad.a.lanes = 7;
    bad.a.addr[1] = (uint64_t)(uintptr_t)rig.arena + ARENA + 12;
    bad.a.addr[2] = bad.a.addr[0];
    run(&bad);
    CHECK(bad.a.faulted);
    CHECK_EQ(bad.a.fault_lane, 1);
    CHECK_EQ(bad.a.fault_addr, bad.a.addr[1]);
    rig.vm.read_only = true;
    rig.vm.generation++;
    bad = shot(&rig, 0, 0, ACCESS_STORE, 0, 4);
    run(&bad);
    CHECK(bad.a.faulted);
    bad = shot(&rig, 0, 0, ACCESS_SLOAD, ARENA, 4);
    run(&bad);
    CHECK(bad.a.faulted && bad.a.fault_addr == bad.a.addr[0]);
    rig_close(&rig);
}

/* A store of one dword in each of so many lines of a channel, and of one step of the walk, from `*at` on. */
static void store_in_channel(struct rig *rig, unsigned channel, unsigned lines, uint64_t *at)
{
    struct shot s = shot(rig, 0, 0, ACCESS_STORE, 0, 4);
    s.a.policy.scope = ISA_SCOPE_WORKGROUP;
    for (unsigned lane = 0; lane < 64; lane++, *at += 256) {
        while (l2_channel_of(&rig->mem[0]->l2_map, *at) != channel ||
               l2_set_of(&rig->mem[0]->l2_map, *at) % 128 >= 128 / WALK_STEPS)
            *at += 256;
        s.a.addr[lane] = (uint64_t)(uintptr_t)rig->arena + *at;
    }
    s.a.lanes = lines < 64 ? (UINT64_C(1) << lines) - 1 : ~UINT64_C(0);
    run(&s);
}

/* Dirty lines of a channel leave together: the last waits for the requests of those before it. */
static void check_write_stall(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    rig.mem[0]->timing.l2_misses = 64 * ASKS_WRITE;
    for (unsigned lines = 1; lines <= 64; lines *= 8) {
        uint64_t at = 0, before = counters(&rig, 0).ea_write_stall;
        store_in_channel(&rig, 0, lines, &at);
        fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_AGENT);
        uint64_t stalled = counters(&rig, 0).ea_write_stall - before;
        double half = 1 / rig.chip.value[CHIP_fabric_requests] * rig.chip.value[CHIP_chip_clock] /
                      rig.chip.value[CHIP_fabric_clock];
        double waits = (lines - 1) * half, counted = (double)stalled;
        CHECK(counted + 1 >= waits && counted <= waits + 1);
    }
    rig_close(&rig);
}

/*
 * A channel writes back as many lines at a time as it has requests for, and all channels do so side by side.
 */
static void check_write_back(void)
{
    enum { LINES = 16, CHANNELS = 4 };
    uint64_t took[3];
    for (unsigned i = 0; i < 3; i++) {
        struct rig rig;
        rig_open(&rig, true, 1);
        uint64_t at = 0;
        for (unsigned c = 0; c < (i == 2 ? CHANNELS : 1); c++)
            store_in_channel(&rig, c, LINES, &at);
        if (i)
            rig.mem[0]->timing.l2_misses = LINES / 2 * ASKS_WRITE;
        struct shot s = shot(&rig, 0, 0, ACCESS_WB, 0, 4);
        s.a.policy.scope = ISA_SCOPE_AGENT;
        took[i] = run(&s);
        rig_close(&rig);
    }
    printf("%u lines are written back in %" PRIu64 " cycles, by half as many requests in %" PRIu64
           ", and %u times as many of other channels in %" PRIu64 "\n",
           LINES, took[0], took[1], CHANNELS, took[2]);
    CHECK(took[1] > took[0] + 150);                      /* a second way home and back */
    CHECK(took[2] > took[1] && took[2] < took[1] + 150); /* no third: the port's time alone */
}

/* The next line of channel 0 in a block of its own. */
static uint64_t next_in_channel(const struct rig *rig, uint64_t *at)
{
    while (l2_channel_of(&rig->mem[0]->l2_map, *at) != 0)
        *at += 256;
    *at += 256;
    return *at - 256;
}

/*
 * Cycles of a load of XCD 1 that hits in its L2, so many after XCD 0 has stored to lines of the same channel
 * that XCD 1 has as well.
 */
static uint64_t beside_probes(struct rig *rig, unsigned lines, uint64_t delay, uint64_t *at)
{
    if (*at / rig->vm.fragment != (*at + 65536) / rig->vm.fragment)
        *at = (*at / rig->vm.fragment + 1) * rig->vm.fragment;
    struct shot store = shot(rig, 0, 0, ACCESS_STORE, 0, 4);
    store.a.policy.scope = ISA_SCOPE_AGENT;
    store.a.lanes = (UINT64_C(1) << lines) - 1;
    for (unsigned i = 0; i < lines; i++) {
        uint64_t offset = next_in_channel(rig, at);
        store.a.addr[i] = (uint64_t)(uintptr_t)rig->arena + offset;
        load32(rig, 1, 1, offset, ISA_SCOPE_WAVE);
    }
    load32(rig, 0, 0, next_in_channel(rig, at), ISA_SCOPE_WAVE); /* translations */
    load32(rig, 1, 0, next_in_channel(rig, at), ISA_SCOPE_WAVE);
    uint64_t hit = next_in_channel(rig, at), before = counters(rig, 1).tcc_probes;
    load32(rig, 1, 1, hit, ISA_SCOPE_WAVE);
    struct shot load = shot(rig, 1, 0, ACCESS_LOAD, hit, 4);
    if (lines)
        start(&store, 1);
    start(&load, delay);
    run_all(rig);
    CHECK_EQ(counters(rig, 1).tcc_probes - before, lines);
    return load.completed - load.submitted;
}

/* A probe looks the line up: a load that wants the channel's tags in that cycle has them one later. */
static void check_probes(void)
{
    enum { LINES = 8, FIRST = 100, LAST = 900 };
    struct rig rig;
    rig_open(&rig, true, 1);
    uint64_t at = 0, alone = beside_probes(&rig, 0, 1, &at), later = 0;
    for (uint64_t delay = FIRST; delay < LAST; delay++) {
        uint64_t took = beside_probes(&rig, LINES, delay, &at);
        CHECK(took >= alone && took <= alone + LINES);
        later += took - alone;
    }
    printf("%u probes take a load's look-up in %" PRIu64 " of %u cycles\n", LINES, later, LAST - FIRST);
    CHECK(later >= 1 && later <= LINES); /* those that come in cycles of their own, and before it */
    CHECK_EQ(beside_probes(&rig, 0, 1, &at), alone);
    rig_close(&rig);
}

/* How long another XCD's atomic takes behind so many waves' that have begun here, on one element. */
static uint64_t atomic_behind(unsigned waves)
{
    enum { MOST = 8, BEHIND = 300 };
    struct rig rig;
    rig_open(&rig, true, 1);
    struct shot s[MOST], owner = adder(&rig, 0, MOST, 0, 1, ISA_SCOPE_AGENT), other = owner;
    other.xcd = 1;
    for (unsigned i = 0; i < waves; i++) {
        s[i] = adder(&rig, 0, i, 128, 0, ISA_SCOPE_AGENT);
        run(&s[i]); /* page */
        spread_lanes(&s[i], 0, 0);
        for (unsigned lane = 0; lane < 64; lane++)
            s[i].a.data[lane * ACCESS_LANE_BYTES] = 1;
    }
    run(&other); /* page */
    run(&owner);
    other.a.data[0] = 1;
    for (unsigned i = 0; i < waves; i++)
        start(&s[i], 1);
    start(&other, BEHIND);
    run_all(&rig);
    uint32_t had;
    memcpy(&had, other.a.data, 4);
    CHECK_EQ(had, 2 + 64 * waves);
    const uint64_t cycles = other.completed - other.submitted;
    rig_close(&rig);
    return cycles;
}

/* An L2 gives a line up when it has done what it was asked to do to it. */
static void check_atomics_of_two(void)
{
    struct chip chip;
    char error[256];
    CHECK(chip_load("mi300a", &chip, error, sizeof(error)) == 0);
    const uint64_t wave = 64 * chip_get(&chip, CHIP_l2_atomic), six = atomic_behind(6);
    CHECK_EQ(atomic_behind(7) - six, wave);
    CHECK_EQ(atomic_behind(8) - six, 2 * wave);
    chip_free(&chip);
}

int main(void)
{
    fault_install();
    check_levels();
    check_fetches();
    check_code_stays();
    check_scalar_places();
    check_read_ahead();
    check_coalescing();
    check_reach();
    check_channels();
    check_look_ups();
    check_look_ups_of_atomics();
    check_atomics_of_two();
    check_uncached();
    check_order();
    check_write_stall();
    check_write_back();
    check_probes();
    return check_status();
}
