/* SPDX-License-Identifier: MIT */
/*
 * What becomes visible to whom and when: each rule of LLVM AMDGPUUsage, Memory
 * Model GFX942, with and without the instruction that it needs.
 */
#include "hierarchies.h"

static void check_vl1(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_WAVE), 0);
    store32(&rig, 0, 1, 256, 7, ISA_SCOPE_WAVE);
    CHECK_EQ(memory32(&rig, 256), 0);                          /* in the L2 */
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_WAVE), 0);      /* stale */
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_WORKGROUP), 0); /* workgroup scope is no wider */
    CHECK_EQ(load32(&rig, 0, 2, 256, ISA_SCOPE_WAVE), 7);
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_AGENT), 7); /* agent scope passes the vL1 by */
    load32(&rig, 0, 0, 256, ISA_SCOPE_WAVE);
    store32(&rig, 0, 1, 256, 8, ISA_SCOPE_WAVE);
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_WAVE), 7);
    fence(&rig, 0, 0, ACCESS_INV, ISA_SCOPE_WORKGROUP);
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_WAVE), 8);
    /* One's own stores, partial and whole lines, waited for or not. */
    store32(&rig, 0, 0, 256, 9, ISA_SCOPE_WAVE);
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_WAVE), 9);
    struct shot s = shot(&rig, 0, 0, ACCESS_STORE, 0, 4), l = shot(&rig, 0, 0, ACCESS_LOAD, 0, 4), before = l;
    s.a.lanes = 0xffffffff;
    for (unsigned i = 0; i < 32; i++) {
        s.a.addr[i] = (uint64_t)(uintptr_t)rig.arena + 1024 + i * 4;
        memcpy(s.a.data + i * ACCESS_LANE_BYTES, &i, 4);
    }
    l.a.addr[0] = before.a.addr[0] = s.a.addr[31];
    start(&before, 1);
    start(&s, 2);
    start(&l, 3);
    run_all(&rig);
    uint32_t v;
    memcpy(&v, before.a.data, 4);
    CHECK_EQ(v, 0);
    memcpy(&v, l.a.data, 4);
    CHECK_EQ(v, 31);
    /* A line that was on its way when the cache was emptied is not kept. */
    struct shot slow = shot(&rig, 0, 0, ACCESS_LOAD, 1 << 20, 4), inv = shot(&rig, 0, 0, ACCESS_INV, 0, 4);
    inv.a.policy.scope = ISA_SCOPE_WORKGROUP;
    inv.a.wave = 1;
    start(&slow, 1);
    start(&inv, 100);
    run_all(&rig);
    store32(&rig, 0, 1, 1 << 20, 5, ISA_SCOPE_WAVE);
    CHECK_EQ(load32(&rig, 0, 0, 1 << 20, ISA_SCOPE_WAVE), 5);
    rig_close(&rig);
}

static void check_l2s(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    CHECK_EQ(load32(&rig, 1, 0, 512, ISA_SCOPE_WAVE), 0); /* XCD 1 has it */
    store32(&rig, 0, 0, 512, 3, ISA_SCOPE_WAVE);
    CHECK_EQ(load32(&rig, 1, 1, 512, ISA_SCOPE_AGENT), 0); /* agent scope does not help before the release */
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_WORKGROUP);     /* nor does a narrower one */
    CHECK_EQ(memory32(&rig, 512), 0);
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_AGENT);
    CHECK_EQ(memory32(&rig, 512), 3);
    CHECK_EQ(load32(&rig, 1, 0, 512, ISA_SCOPE_WAVE), 0); /* its vL1 */
    CHECK_EQ(load32(&rig, 1, 1, 512, ISA_SCOPE_WAVE), 3); /* the L2 was probed */
    fence(&rig, 1, 0, ACCESS_INV, ISA_SCOPE_AGENT);
    CHECK_EQ(load32(&rig, 1, 0, 512, ISA_SCOPE_WAVE), 3);
    CHECK_EQ(load32(&rig, 0, 3, 512, ISA_SCOPE_WAVE), 3); /* and the writer's line stayed */
    CHECK_EQ(counters(&rig, 0).tcc_writebacks, 1);
    CHECK(counters(&rig, 1).tcc_probes >= 1);
    /* Bytes of one line, dirty in two L2s, merge. */
    store32(&rig, 0, 0, 640, 11, ISA_SCOPE_WAVE);
    store32(&rig, 1, 0, 644, 22, ISA_SCOPE_WAVE);
    store32(&rig, 2, 0, 648, 33, ISA_SCOPE_WAVE);
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_AGENT);
    fence(&rig, 1, 0, ACCESS_WB, ISA_SCOPE_AGENT);
    fence(&rig, 2, 0, ACCESS_WB, ISA_SCOPE_AGENT);
    CHECK(memory32(&rig, 640) == 11 && memory32(&rig, 644) == 22 && memory32(&rig, 648) == 33);
    load32(&rig, 1, 5, 768, ISA_SCOPE_WAVE);
    store32(&rig, 1, 5, 768, 44, ISA_SCOPE_WAVE);
    store32(&rig, 0, 0, 772, 55, ISA_SCOPE_AGENT); /* through; XCD 1 drops what it read, not what it stored */
    CHECK(memory32(&rig, 768) == 0 && memory32(&rig, 772) == 55);
    CHECK_EQ(load32(&rig, 1, 6, 768, ISA_SCOPE_WAVE), 44);
    CHECK_EQ(load32(&rig, 1, 6, 772, ISA_SCOPE_WAVE), 55);
    CHECK_EQ(load32(&rig, 0, 6, 768, ISA_SCOPE_WAVE), 0);
    /* The writer's own copy is one of those that the other's release drops. */
    fence(&rig, 1, 5, ACCESS_WB, ISA_SCOPE_AGENT);
    CHECK(memory32(&rig, 768) == 44 && memory32(&rig, 772) == 55);
    CHECK_EQ(load32(&rig, 0, 7, 768, ISA_SCOPE_WAVE), 44);
    /* Agent scope stores and loads need no fence among themselves. */
    for (uint32_t i = 1; i < 20; i++) {
        store32(&rig, i % 6, 0, 896, i, ISA_SCOPE_AGENT);
        CHECK_EQ(load32(&rig, (i + 1) % 6, 0, 896, ISA_SCOPE_AGENT), i);
        CHECK_EQ(load32(&rig, (i + 2) % 6, 0, 896, ISA_SCOPE_SYSTEM), i);
    }
    /* The kernel's end, for the host; and what the host then writes. */
    store32(&rig, 0, 0, 1024, 66, ISA_SCOPE_WAVE);
    store32(&rig, 0, 0, 1152, 67, ISA_SCOPE_WAVE);
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_SYSTEM);
    CHECK_EQ(memory32(&rig, 1024), 66);
    CHECK(xcd_mem_idle(rig.mem[0]));
    load32(&rig, 0, 8, 1152, ISA_SCOPE_WAVE);
    CHECK_EQ(load32(&rig, 0, 8, 1024, ISA_SCOPE_WAVE), 66);
    memset(rig.arena + 1024, 1, 4);
    CHECK_EQ(load32(&rig, 0, 9, 1024, ISA_SCOPE_WAVE), 66);
    CHECK_EQ(load32(&rig, 0, 9, 1024, ISA_SCOPE_SYSTEM), 0x01010101); /* system scope asks memory */
    uint64_t hits = counters(&rig, 0).tcc_hits;
    xcd_mem_host_wrote(rig.mem[0]);
    CHECK_EQ(load32(&rig, 0, 10, 1024, ISA_SCOPE_WAVE), 0x01010101);
    CHECK_EQ(counters(&rig, 0).tcc_hits, hits);
    CHECK_EQ(load32(&rig, 0, 10, 1152, ISA_SCOPE_WAVE), 67); /* the host left this one alone: still there */
    CHECK_EQ(counters(&rig, 0).tcc_hits, hits + 1);
    rig_close(&rig);
}

/* Lines that an L2 has because all of them was written there, which no home has given it. */
static void check_written_lines(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    for (unsigned released = 0; released < 2; released++) {
        const uint64_t at = 2048 + 1024 * released;
        struct shot s = shot(&rig, 0, 0, ACCESS_STORE, at, 4);
        s.a.lanes = 0xffffffff;
        for (unsigned i = 0; i < 32; i++) {
            s.a.addr[i] = (uint64_t)(uintptr_t)rig.arena + at + i * 4;
            memset(s.a.data + i * ACCESS_LANE_BYTES, 1, 4);
        }
        run(&s);
        if (released)
            fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_AGENT);
        else
            store32(&rig, 0, 0, at + 4, 4, ISA_SCOPE_AGENT); /* a part of it through */
        store32(&rig, 1, 0, at + 4, 5, ISA_SCOPE_AGENT);
        CHECK_EQ(load32(&rig, 0, 1, at + 4, ISA_SCOPE_WAVE), 5);
        CHECK_EQ(load32(&rig, 0, 1, at, ISA_SCOPE_WAVE), 0x01010101);
        fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_AGENT);
        CHECK(memory32(&rig, at) == 0x01010101 && memory32(&rig, at + 4) == 5);
    }
    rig_close(&rig);
}

static void check_single_l2(void)
{
    struct rig rig;
    rig_open(&rig, false, 1);
    load32(&rig, 1, 0, 512, ISA_SCOPE_WAVE);
    store32(&rig, 0, 0, 512, 3, ISA_SCOPE_AGENT); /* an agent is one XCD: its L2 is where agent scope ends */
    CHECK_EQ(memory32(&rig, 512), 0);
    CHECK_EQ(load32(&rig, 0, 1, 512, ISA_SCOPE_AGENT), 3);
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_AGENT);
    CHECK_EQ(memory32(&rig, 512), 0);
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_SYSTEM);
    CHECK_EQ(memory32(&rig, 512), 3);
    store32(&rig, 0, 0, 512, 4, ISA_SCOPE_SYSTEM);
    CHECK_EQ(memory32(&rig, 512), 4);
    rig_close(&rig);
}

/*
 * The host stores while the kernel runs.  A probe would take device memory's line from the L2; an acquire
 * of system scope finds that it went, as does a load of that scope.
 */
static void check_host(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    load32(&rig, 0, 0, 128, ISA_SCOPE_WAVE);
    store32(&rig, 0, 0, 132, 9, ISA_SCOPE_WAVE);
    memset(rig.arena + 128, 2, 4);
    fence(&rig, 0, 0, ACCESS_INV, ISA_SCOPE_AGENT);
    CHECK_EQ(load32(&rig, 0, 0, 128, ISA_SCOPE_WAVE), 0);
    fence(&rig, 0, 0, ACCESS_INV, ISA_SCOPE_SYSTEM);
    CHECK_EQ(load32(&rig, 0, 0, 128, ISA_SCOPE_WAVE), 0x02020202);
    CHECK_EQ(load32(&rig, 0, 0, 132, ISA_SCOPE_WAVE), 9);
    /* Once found fresh a line is not asked for again. */
    uint64_t hits = counters(&rig, 0).tcc_hits;
    fence(&rig, 0, 0, ACCESS_INV, ISA_SCOPE_SYSTEM);
    CHECK_EQ(load32(&rig, 0, 0, 128, ISA_SCOPE_WAVE), 0x02020202);
    CHECK_EQ(counters(&rig, 0).tcc_hits, hits + 1);
    /* A line that atomics made this L2 the owner of. */
    struct shot a = adder(&rig, 0, 0, 256, 3, ISA_SCOPE_AGENT);
    CHECK_EQ(get(&a), 0);
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_SYSTEM);
    CHECK_EQ(memory32(&rig, 256), 3);
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_SYSTEM), 3);
    memset(rig.arena + 256, 4, 4);
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_AGENT), 3);
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_SYSTEM), 0x04040404);
    rig_close(&rig);

    /* The same for memory that the host shares, while the L2 writes other bytes of the line. */
    static const uint8_t mtypes[] = {VM_MTYPE_RW, VM_MTYPE_CC};
    for (unsigned i = 0; i < 2; i++) {
        rig_open(&rig, true, 1);
        rig.vm.mtype = mtypes[i];
        load32(&rig, 0, 0, 128, ISA_SCOPE_WAVE);
        store32(&rig, 0, 0, 132, 9, ISA_SCOPE_WAVE);
        memset(rig.arena + 128, 2, 4);
        struct shot wb = shot(&rig, 0, 1, ACCESS_WB, 0, 4), inv = shot(&rig, 0, 2, ACCESS_INV, 0, 4);
        struct shot own = shot(&rig, 0, 3, ACCESS_LOAD, 132, 4),
                    other = shot(&rig, 0, 4, ACCESS_LOAD, 128, 4);
        wb.a.policy.scope = inv.a.policy.scope = ISA_SCOPE_SYSTEM;
        start(&inv, 1);
        start(&wb, 50);
        start(&own, 60);
        start(&other, 60);
        run_all(&rig);
        uint32_t v;
        memcpy(&v, own.a.data, 4);
        CHECK_EQ(v, 9);
        memcpy(&v, other.a.data, 4);
        CHECK_EQ(v, 0x02020202);
        rig_close(&rig);
    }
}

static void check_mtypes(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    rig.vm.mtype = VM_MTYPE_UC;
    load32(&rig, 0, 0, 128, ISA_SCOPE_WAVE);
    store32(&rig, 0, 0, 128, 5, ISA_SCOPE_WAVE);
    CHECK_EQ(memory32(&rig, 128), 5);
    memset(rig.arena + 128, 2, 4);
    CHECK_EQ(load32(&rig, 0, 0, 128, ISA_SCOPE_WAVE), 0x02020202);
    rig_close(&rig);

    rig_open(&rig, true, 1);
    rig.vm.mtype = VM_MTYPE_CC;
    load32(&rig, 0, 0, 128, ISA_SCOPE_WAVE);
    store32(&rig, 0, 0, 132, 9, ISA_SCOPE_WAVE);
    struct shot a = adder(&rig, 0, 0, 128, 3, ISA_SCOPE_AGENT);
    CHECK_EQ(get(&a), 0);
    CHECK_EQ(memory32(&rig, 128), 3); /* where the host sees it */
    CHECK_EQ(memory32(&rig, 132), 9); /* with the dirty bytes that were in its way */
    rig_close(&rig);

    rig_open(&rig, true, 1);
    rig.vm.mtype = VM_MTYPE_NC;
    load32(&rig, 0, 0, 128, ISA_SCOPE_WAVE);
    store32(&rig, 0, 0, 132, 9, ISA_SCOPE_WAVE);
    memset(rig.arena + 128, 3, 4); /* no probe tells it */
    CHECK_EQ(load32(&rig, 0, 1, 128, ISA_SCOPE_WAVE), 0);
    fence(&rig, 0, 1, ACCESS_INV, ISA_SCOPE_WORKGROUP);
    CHECK_EQ(load32(&rig, 0, 1, 128, ISA_SCOPE_WAVE), 0);
    fence(&rig, 0, 1, ACCESS_INV, ISA_SCOPE_AGENT);
    CHECK_EQ(load32(&rig, 0, 1, 128, ISA_SCOPE_WAVE), 0x03030303);
    CHECK_EQ(load32(&rig, 0, 1, 132, ISA_SCOPE_WAVE), 9); /* dirty bytes are not lost */
    rig_close(&rig);
}

static void check_atomics(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    enum { EACH = 40 };
    static struct shot s[RIG_XCDS][EACH];
    for (unsigned x = 0; x < RIG_XCDS; x++)
        for (unsigned i = 0; i < EACH; i++) {
            s[x][i] = adder(&rig, x, i % 5, 2048, 1,
                            i % 7 == 3 ? ISA_SCOPE_SYSTEM : ISA_SCOPE_AGENT); /* some of system scope */
            s[x][i].a.wave = (uint8_t)(i / 5);
            start(&s[x][i], 1 + i * 3);
        }
    run_all(&rig);
    bool seen[RIG_XCDS * EACH] = {false};
    for (unsigned x = 0; x < RIG_XCDS; x++)
        for (unsigned i = 0; i < EACH; i++) {
            uint32_t old;
            memcpy(&old, s[x][i].a.data, 4);
            if (CHECK(old < RIG_XCDS * EACH))
                CHECK(!seen[old]);
            if (old < RIG_XCDS * EACH)
                seen[old] = true;
        }
    for (unsigned x = 0; x < RIG_XCDS; x++)
        CHECK_EQ(load32(&rig, x, 7, 2048, ISA_SCOPE_AGENT), RIG_XCDS * EACH); /* brought from its owner */
    /* Sixty-four lanes, eight on each of eight elements, return different values. */
    struct shot w = adder(&rig, 0, 0, 4096, 1, ISA_SCOPE_AGENT);
    w.a.lanes = ~UINT64_C(0);
    for (unsigned i = 0; i < 64; i++) {
        w.a.addr[i] = (uint64_t)(uintptr_t)rig.arena + 4096 + i % 8 * 4;
        w.a.data[i * ACCESS_LANE_BYTES] = 1;
    }
    run(&w);
    for (unsigned i = 0; i < 64; i++)
        CHECK_EQ(w.a.data[i * ACCESS_LANE_BYTES], i / 8);
    /* What this L2 owns is written through by nobody, and an agent's release leaves it. */
    uint64_t writes = counters(&rig, 0).ea_writes;
    store32(&rig, 0, 1, 4096, 1000, ISA_SCOPE_AGENT);
    fence(&rig, 0, 1, ACCESS_WB, ISA_SCOPE_AGENT);
    CHECK_EQ(counters(&rig, 0).ea_writes, writes);
    CHECK_EQ(load32(&rig, 3, 1, 4096, ISA_SCOPE_AGENT), 1000);
    CHECK_EQ(memory32(&rig, 4096), 1000);
    rig_close(&rig);
}

/* buffer_wbl2 without a wait for the wave's stores in front of it. */
static void check_release_waits(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    struct shot s = shot(&rig, 0, 0, ACCESS_STORE, 8192, 4), wb = shot(&rig, 0, 0, ACCESS_WB, 0, 4);
    s.a.data[0] = 77;
    wb.a.policy.scope = ISA_SCOPE_AGENT;
    wb.a.lanes = 0;
    start(&s, 1);
    start(&wb, 2);
    while (!wb.completed)
        port_run(rig.port, port_time_ps(rig.port) + 20000, NULL, NULL);
    CHECK_EQ(memory32(&rig, 8192), 77);
    run_all(&rig);
    /* And it waits for what another one began to write. */
    struct shot wb2 = wb;
    s.a.addr[0] += 4096;
    run(&s);
    start(&wb, 1);
    wb2.a.cu = 4;
    start(&wb2, 30);
    while (!wb2.completed)
        port_run(rig.port, port_time_ps(rig.port) + 20000, NULL, NULL);
    CHECK_EQ(memory32(&rig, 8192 + 4096), 77);
    run_all(&rig);
    /* A store of the wave goes out behind it, with no wait between them: who sees the one sees the other. */
    struct shot flag = shot(&rig, 0, 0, ACCESS_STORE, 16384, 4);
    flag.a.policy.scope = ISA_SCOPE_SYSTEM;
    flag.a.data[0] = 1;
    s.a.data[0] = 78;
    run(&s);
    start(&wb, 1);
    start(&flag, 2);
    while (memory32(&rig, 16384) != 1) {
        CHECK(!flag.completed);
        port_run(rig.port, port_time_ps(rig.port) + 1000, NULL, NULL);
    }
    CHECK_EQ(memory32(&rig, 8192 + 4096), 78);
    run_all(&rig);
    rig_close(&rig);
}

static void check_scalar(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    struct shot st = shot(&rig, 0, 0, ACCESS_SSTORE, 124, 8), ld = shot(&rig, 0, 1, ACCESS_SLOAD, 124, 8);
    memset(st.a.data, 6, 8);
    run(&st);
    CHECK_EQ(get(&ld), 0x06060606);                       /* CU 1 shares the cache */
    CHECK_EQ(load32(&rig, 0, 0, 124, ISA_SCOPE_WAVE), 0); /* the L2 has not got it */
    ld.a.cu = 2;
    CHECK_EQ(get(&ld), 0); /* nor has the next cache, which keeps the old bytes */
    fence(&rig, 0, 0, ACCESS_SWB, ISA_SCOPE_WAVE);
    CHECK_EQ(load32(&rig, 0, 5, 124, ISA_SCOPE_WAVE), 0x06060606);
    CHECK_EQ(load32(&rig, 0, 5, 128, ISA_SCOPE_WAVE), 0x06060606);
    CHECK_EQ(get(&ld), 0);
    fence(&rig, 0, 2, ACCESS_SINV, ISA_SCOPE_WAVE);
    CHECK_EQ(get(&ld), 0x06060606);
    /* s_dcache_wb right behind the store that it is for. */
    struct shot wb = shot(&rig, 0, 0, ACCESS_SWB, 0, 4);
    st.a.addr[0] += 1 << 21;
    start(&st, 1);
    start(&wb, 2);
    run_all(&rig);
    CHECK_EQ(load32(&rig, 0, 6, 124 + (1 << 21), ISA_SCOPE_WAVE), 0x06060606);
    rig_close(&rig);
}

static unsigned boundaries;
static void crossed(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    boundaries += *(unsigned *)(uintptr_t)event->word[0];
}

static void check_boundaries(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    unsigned one = 1;
    struct shot st = shot(&rig, 0, 0, ACCESS_SSTORE, 64, 4);
    memset(st.a.data, 4, 4);
    run(&st);
    store32(&rig, 0, 0, 256, 5, ISA_SCOPE_WAVE);
    boundaries = 0;
    xcd_mem_release(rig.mem[0], true, crossed, &one);
    run_all(&rig);
    CHECK_EQ(boundaries, 1);
    CHECK(memory32(&rig, 64) == 0x04040404 && memory32(&rig, 256) == 5);
    CHECK(xcd_mem_idle(rig.mem[0]));
    load32(&rig, 0, 0, 256, ISA_SCOPE_WAVE);
    memset(rig.arena + 256, 1, 4);
    xcd_mem_host_wrote(rig.mem[0]);
    xcd_mem_acquire(rig.mem[0], true, crossed, &one);
    run_all(&rig);
    CHECK_EQ(boundaries, 2);
    CHECK_EQ(load32(&rig, 0, 0, 256, ISA_SCOPE_WAVE), 0x01010101);
    rig_close(&rig);
}

/* More dirty lines than the L2 holds, through one channel: evicted ones are read back whole. */
static void check_capacity(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    enum { LINES = 5000 };
    static struct shot s[LINES];
    for (unsigned i = 0; i < LINES; i++) {
        s[i] = shot(&rig, 0, i % 38, ACCESS_STORE, (uint64_t)i * 4096 + i % 32 * 4, 4);
        memcpy(s[i].a.data, &i, 4);
        start(&s[i], 1 + i / 8);
    }
    run_all(&rig);
    CHECK(counters(&rig, 0).tcc_writebacks >= LINES - 2048);
    for (unsigned i = 0; i < LINES; i++) {
        s[i].a.kind = ACCESS_LOAD;
        start(&s[i], 1 + i / 8);
    }
    run_all(&rig);
    unsigned wrong = 0;
    for (unsigned i = 0; i < LINES; i++)
        wrong += memcmp(s[i].a.data, &i, 4) != 0;
    CHECK_EQ(wrong, 0);
    rig_close(&rig);
}

int main(void)
{
    fault_install();
    check_vl1();
    check_l2s();
    check_written_lines();
    check_single_l2();
    check_host();
    check_mtypes();
    check_atomics();
    check_release_waits();
    check_scalar();
    check_boundaries();
    check_capacity();
    return check_status();
}
