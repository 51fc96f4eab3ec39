/* SPDX-License-Identifier: MIT */
/*
 * What the vL1 keeps back of its stores, how long, and who makes it go; and what an L2 has of a line
 * that was stored to and never read.
 */
#include "hierarchies.h"

enum { SOON = 300 }; /* a store that goes at once is acknowledged by then */

struct word { /* to the hierarchy: of wave 0 of CU 0 */
    struct rig *rig;
    void (*say)(struct xcd_mem *mem, unsigned cu, unsigned wave);
};

static void say_now(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct word *w = event->self;
    w->say(w->rig->mem[0], 0, 0);
}

/* What another CU of the XCD reads `at` cycles from now. */
static struct shot reader(struct rig *rig, uint64_t offset)
{
    struct shot r = shot(rig, 0, 1, ACCESS_LOAD, offset, 4);
    r.a.policy.scope = ISA_SCOPE_AGENT;
    return r;
}

static uint32_t value(const struct shot *s)
{
    uint32_t v;
    memcpy(&v, s->a.data, 4);
    return v;
}

/* `lanes` dwords of 5 from `offset` on. */
static struct shot dwords(struct rig *rig, uint64_t offset, unsigned lanes)
{
    struct shot s = shot(rig, 0, 0, ACCESS_STORE, offset, 4);
    s.a.lanes = lanes < 64 ? (UINT64_C(1) << lanes) - 1 : ~UINT64_C(0);
    for (unsigned i = 0; i < lanes; i++) {
        s.a.addr[i] = s.a.addr[0] + i * 4;
        s.a.data[i * ACCESS_LANE_BYTES] = 5;
    }
    return s;
}

static uint64_t writes(const struct rig *rig)
{
    return counters(rig, 0).tcp_tcc_write;
}

static void warm(struct rig *rig)
{
    rig_open(rig, true, 1);
    load32(rig, 0, 0, 0, ISA_SCOPE_WAVE); /* translations */
    load32(rig, 0, 1, 0, ISA_SCOPE_WAVE);
}

static void check_age(void)
{
    struct rig rig;
    warm(&rig);
    const uint64_t age = chip_get(&rig.chip, CHIP_vl1_combine_age);
    struct shot s = dwords(&rig, 256, 1);
    uint64_t took = run(&s);
    CHECK(took > age && took < age + SOON);
    /* Another CU of the XCD sees it after that, and not before; the wave's CU at once. */
    struct shot early = reader(&rig, 512), late = early, own = early;
    s = dwords(&rig, 512, 1);
    own = shot(&rig, 0, 0, ACCESS_LOAD, 512, 4);
    start(&s, 1);
    start(&early, age - 100);
    start(&late, age + 50);
    run_all(&rig);
    CHECK_EQ(value(&early), 0);
    CHECK_EQ(value(&late), 5);
    s = dwords(&rig, 768, 1);
    early = reader(&rig, 768);
    own.a.addr[0] += 256;
    start(&s, 1);
    start(&own, 2);
    start(&early, SOON);
    run_all(&rig);
    CHECK_EQ(value(&own), 5);
    CHECK_EQ(value(&early), 5); /* its own load made it go */
    rig_close(&rig);
}

static void check_what_is_kept(void)
{
    struct rig rig;
    warm(&rig);
    struct shot s = dwords(&rig, 1024, 16); /* half of a line */
    CHECK(run(&s) < SOON);
    s = dwords(&rig, 1024, 15);
    CHECK(run(&s) > SOON);
    s = dwords(&rig, 2048, 33); /* a line and a dword */
    uint64_t before = writes(&rig);
    CHECK(run(&s) > SOON);
    CHECK_EQ(writes(&rig) - before, 3);
    static const struct isa_policy policies[] = {{ISA_SCOPE_WORKGROUP, false},
                                                 {ISA_SCOPE_AGENT, false},
                                                 {ISA_SCOPE_SYSTEM, false},
                                                 {ISA_SCOPE_WAVE, true}};
    for (unsigned i = 0; i < 4; i++) {
        s = dwords(&rig, 4096, 1);
        s.a.policy = policies[i];
        CHECK(run(&s) < 2 * SOON); /* some go through to memory */
    }
    struct shot a = adder(&rig, 0, 0, 8192, 1, ISA_SCOPE_AGENT);
    run(&a);
    CHECK(run(&a) < SOON);
    rig.vm.mtype = VM_MTYPE_UC;
    rig.vm.generation++;
    s = dwords(&rig, 12288, 1);
    CHECK(run(&s) < 4 * SOON);
    rig_close(&rig);
}

static void check_combining(void)
{
    struct rig rig;
    warm(&rig);
    /* One write for two stores of a wave; when nothing is missing any more, it goes. */
    struct shot a = dwords(&rig, 1024, 8), b = dwords(&rig, 1024 + 32, 7), c = dwords(&rig, 1024 + 60, 1);
    uint64_t before = writes(&rig);
    start(&a, 1);
    start(&b, 20);
    run_all(&rig);
    CHECK_EQ(writes(&rig) - before, 1);
    CHECK_EQ(load32(&rig, 0, 1, 1024 + 28, ISA_SCOPE_AGENT), 5);
    CHECK_EQ(load32(&rig, 0, 1, 1024 + 56, ISA_SCOPE_AGENT), 5);
    before = writes(&rig);
    start(&a, 1);
    start(&b, 20);
    start(&c, 40);
    run_all(&rig);
    CHECK_EQ(writes(&rig) - before, 1);
    CHECK(c.completed - c.submitted < SOON && a.completed < c.completed + SOON);
    /* The later of two stores to one place stays. */
    b = dwords(&rig, 1024, 1);
    b.a.data[0] = 9;
    start(&a, 1);
    start(&b, 2);
    run_all(&rig);
    CHECK_EQ(load32(&rig, 0, 1, 1024, ISA_SCOPE_AGENT), 9);
    CHECK_EQ(load32(&rig, 0, 1, 1028, ISA_SCOPE_AGENT), 5);
    /* Another wave's store makes the first go; and so does a flag in the same line. */
    before = writes(&rig);
    b.a.wave = 1;
    start(&a, 1);
    start(&b, 20);
    run_all(&rig);
    CHECK(a.completed - a.submitted < SOON && b.completed - b.submitted > SOON);
    CHECK_EQ(writes(&rig) - before, 2);
    CHECK_EQ(load32(&rig, 0, 1, 1024, ISA_SCOPE_AGENT), 9);
    struct shot flag = dwords(&rig, 1024 + 64, 1);
    flag.a.policy.scope = ISA_SCOPE_WORKGROUP;
    start(&a, 1);
    start(&flag, 20);
    run_all(&rig);
    CHECK(a.completed - a.submitted < SOON && a.completed <= flag.completed);
    /* No room: the oldest goes. */
    static struct shot many[65];
    const unsigned room = chip_get(&rig.chip, CHIP_vl1_combine);
    for (unsigned i = 0; i <= room; i++) {
        many[i] = dwords(&rig, 65536 + i * 128, 1);
        start(&many[i], 1 + i);
    }
    struct shot first = reader(&rig, 65536), second = reader(&rig, 65536 + 128);
    start(&first, SOON);
    start(&second, SOON);
    run_all(&rig);
    CHECK_EQ(value(&first), 5);
    CHECK_EQ(value(&second), 0);
    rig_close(&rig);
}

static void check_who_asks(void)
{
    struct rig rig;
    warm(&rig);
    struct port_domain *d = rig.domain[0];
    /* A wave that waits: for what it has stored, not for what it stores later. */
    struct word waits = {&rig, xcd_mem_wave_waits}, ends = {&rig, xcd_mem_wave_ends};
    struct shot s = dwords(&rig, 1024, 1), t = s;
    start(&s, 1);
    port_post(d, port_cycle_of(d, port_time_ps(rig.port)) + 20, say_now, &waits);
    run_all(&rig);
    CHECK(s.completed - s.submitted < SOON);
    CHECK(run(&s) > SOON);
    /* It waits while the translation does. */
    s = dwords(&rig, 8 << 20, 1);
    start(&s, 1);
    port_post(d, port_cycle_of(d, port_time_ps(rig.port)) + 20, say_now, &waits);
    run_all(&rig);
    CHECK(s.completed - s.submitted < 4 * SOON);
    /* A wave that has ended waits for nothing; others see its store when it is old, */
    struct shot early = reader(&rig, 1024), late = early;
    for (unsigned far = 0; far < 2; far++) { /* the second time before the translation is there */
        const uint64_t at = far ? 24 << 20 : 2048;
        early = reader(&rig, at);
        load32(&rig, 0, 1, at + 4096, ISA_SCOPE_WAVE);
        late = early;
        s = dwords(&rig, at, 1);
        t = dwords(&rig, at + 4, 1);
        start(&s, 1);
        start(&t, 2);
        port_post(d, port_cycle_of(d, port_time_ps(rig.port)) + 20, say_now, &ends);
        start(&early, 1500);
        start(&late, 4000);
        run_all(&rig);
        CHECK(s.completed - s.submitted < 4 * SOON && t.completed - t.submitted < 4 * SOON);
        CHECK_EQ(value(&early), 0);
        CHECK_EQ(value(&late), 5);
        CHECK_EQ(load32(&rig, 0, 1, at + 4, ISA_SCOPE_AGENT), 5);
    }
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_SYSTEM);
    CHECK(xcd_mem_idle(rig.mem[0]));
    rig_close(&rig);
}

static uint64_t released;
static void note_release(struct port_domain *domain, struct port_event *event)
{
    *(uint64_t *)(uintptr_t)event->word[0] = port_now(domain);
}

static void release_now(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    xcd_mem_release(((struct rig *)event->self)->mem[0], true, note_release, &released);
}

/* or when its kernel ends. */
static void check_kernel_end(void)
{
    struct rig rig;
    warm(&rig);
    struct port_domain *d = rig.domain[0];
    struct word ends = {&rig, xcd_mem_wave_ends};
    struct shot s = dwords(&rig, 1024, 3);
    uint64_t now = port_cycle_of(d, port_time_ps(rig.port));
    start(&s, 1);
    port_post(d, now + 100, say_now, &ends);
    port_post(d, now + 200, release_now, &rig);
    while (!released)
        port_run(rig.port, port_time_ps(rig.port) + 1000, NULL, NULL);
    CHECK(released < now + 1500);
    CHECK_EQ(memory32(&rig, 1032), 5);
    CHECK(xcd_mem_idle(rig.mem[0]));
    run_all(&rig);
    rig_close(&rig);
}

/* A line that was only stored to: its bytes are found in the L2, others are fetched; written back, it is
 * gone. */
static void check_part(void)
{
    struct rig rig;
    warm(&rig);
    memset(rig.arena + 1024, 3, 128);
    store32(&rig, 0, 0, 1024, 7, ISA_SCOPE_WORKGROUP);
    uint64_t reads = counters(&rig, 0).ea_reads;
    CHECK_EQ(load32(&rig, 0, 1, 1024, ISA_SCOPE_WAVE), 7);
    CHECK_EQ(load32(&rig, 0, 2, 1024, ISA_SCOPE_WAVE), 7);
    CHECK_EQ(counters(&rig, 0).ea_reads, reads);
    /* The vL1 does not keep a part, and a load that waits for another one's part asks for itself. */
    store32(&rig, 0, 0, 1024, 8, ISA_SCOPE_WORKGROUP);
    CHECK_EQ(load32(&rig, 0, 1, 1024, ISA_SCOPE_WAVE), 8);
    CHECK_EQ(counters(&rig, 0).ea_reads, reads);
    struct shot a = shot(&rig, 0, 1, ACCESS_LOAD, 1024, 4), b = shot(&rig, 0, 1, ACCESS_LOAD, 1028, 4);
    start(&a, 1);
    start(&b, 2);
    run_all(&rig);
    CHECK_EQ(value(&a), 8);
    CHECK_EQ(value(&b), 0x03030303);
    CHECK_EQ(counters(&rig, 0).ea_reads, reads + 1);
    CHECK_EQ(load32(&rig, 0, 2, 1032, ISA_SCOPE_WAVE), 0x03030303); /* whole now */
    CHECK_EQ(counters(&rig, 0).ea_reads, reads + 1);
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_AGENT);
    CHECK_EQ(load32(&rig, 0, 3, 1024, ISA_SCOPE_WAVE), 8); /* a whole line stays */
    CHECK_EQ(counters(&rig, 0).ea_reads, reads + 1);
    /* One that was stored to everywhere is whole. */
    struct shot all = dwords(&rig, 4096, 32);
    run(&all);
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_AGENT);
    CHECK_EQ(load32(&rig, 0, 3, 4096, ISA_SCOPE_WAVE), 5);
    CHECK_EQ(counters(&rig, 0).ea_reads, reads + 1);
    memset(rig.arena + 2048, 3, 128);
    store32(&rig, 0, 0, 2048, 9, ISA_SCOPE_WORKGROUP);
    fence(&rig, 0, 0, ACCESS_WB, ISA_SCOPE_AGENT);
    CHECK_EQ(memory32(&rig, 2048), 9);
    CHECK_EQ(load32(&rig, 0, 1, 2048, ISA_SCOPE_WAVE), 9);
    CHECK_EQ(counters(&rig, 0).ea_reads, reads + 2);
    CHECK_EQ(load32(&rig, 0, 1, 2052, ISA_SCOPE_WAVE), 0x03030303);
    rig_close(&rig);
}

int main(void)
{
    fault_install();
    check_age();
    check_what_is_kept();
    check_combining();
    check_who_asks();
    check_kernel_end();
    check_part();
    return check_status();
}
