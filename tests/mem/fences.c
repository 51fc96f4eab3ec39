/* SPDX-License-Identifier: MIT */
/* What fences take: ways, walks over tags, and the lines that they write. */
#include "mem/l2_state.h"
#include "hierarchies.h"

static struct shot fence_of(struct rig *rig, enum mem_access_kind kind)
{
    struct shot s = shot(rig, 0, 0, kind, 0, 4);
    s.a.policy.scope = ISA_SCOPE_AGENT;
    s.a.lanes = 0;
    return s;
}

/* To the L2's channels, over their tags, and back; a dirty line is begun when the walk has come to its set.
 */
static void check_write_back(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    const struct mem_timing *n = &rig.mem[0]->timing;
    CHECK_EQ(n->l2_walk, 128); /* sets */
    struct shot wb = fence_of(&rig, ACCESS_WB);
    uint64_t clean = n->lookup + 2 * n->l2_way + n->l2_walk + n->ack;
    CHECK_EQ(run(&wb), clean);
    /* Both lines of a block are in one channel of the L2 and one of memory, half of the sets apart. */
    uint64_t at = 0;
    while (l2_set_of(&rig.mem[0]->l2_map, at) % 128 >= 128 / WALK_STEPS)
        at += 256;
    uint64_t took[2], before = counters(&rig, 0).tcc_writebacks;
    for (unsigned i = 0; i < 2; i++) {
        store32(&rig, 0, 0, at + i * 128, 1, ISA_SCOPE_WORKGROUP);
        took[i] = run(&wb);
    }
    CHECK_EQ(counters(&rig, 0).tcc_writebacks - before, 2);
    CHECK_EQ(took[1] - took[0], 128 / 2);
    CHECK(took[0] > clean);
    CHECK_EQ(run(&wb), clean);
    /* What asks while a walk goes on is served by the next one. */
    struct shot late = wb;
    late.a.cu = 1;
    start(&wb, 1);
    start(&late, 2);
    run_all(&rig);
    CHECK_EQ(wb.completed - wb.submitted, clean);
    CHECK_EQ(late.completed - late.submitted, clean + n->l2_walk - 1);
    rig_close(&rig);
}

/* Writes wait until the L2 has done what a buffer_inv asks of it, loads do not. */
static void check_invalidate(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    const struct mem_timing *n = &rig.mem[0]->timing;
    const uint64_t walk = 2 * n->l2_way + n->l2_walk;
    struct shot inv = fence_of(&rig, ACCESS_INV), st = shot(&rig, 0, 0, ACCESS_STORE, 4096, 4);
    struct shot ld = shot(&rig, 0, 0, ACCESS_LOAD, 8192, 4);
    inv.a.wave = 1;
    CHECK_EQ(run(&inv), n->vl1_invalidate);
    st.a.policy.scope = ISA_SCOPE_WORKGROUP;
    ld.a.policy.scope = ISA_SCOPE_WORKGROUP;
    run(&st);
    run(&ld);
    run(&inv);
    const uint64_t alone = run(&st), load = run(&ld); /* from the L2 */
    for (int late = -2; late <= 2; late++) {
        start(&inv, 1);
        start(&st, walk + (uint64_t)(int64_t)late); /* its translation takes a cycle */
        run_all(&rig);
        CHECK_EQ(st.completed - st.submitted, alone + (late < 0 ? (unsigned)-late : 0));
    }
    start(&inv, 1);
    start(&st, 2);
    start(&ld, 3);
    run_all(&rig);
    CHECK(ld.completed - ld.submitted > load); /* behind a store that waits */
    start(&inv, 1);
    start(&ld, 2);
    run_all(&rig);
    CHECK_EQ(ld.completed - ld.submitted, load);
    rig_close(&rig);
}

static void check_scalar(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    const struct mem_timing *n = &rig.mem[0]->timing;
    struct shot inv = fence_of(&rig, ACCESS_SINV), wb = fence_of(&rig, ACCESS_SWB);
    CHECK_EQ(n->s_walk, 256); /* lines */
    CHECK_EQ(run(&inv), n->s_walk + n->s_latency);
    CHECK_EQ(run(&wb), n->s_latency);
    /* A load behind it waits for its walk. */
    struct shot ld = shot(&rig, 0, 0, ACCESS_SLOAD, 64, 4);
    run(&ld);
    uint64_t hit = run(&ld);
    start(&inv, 1);
    start(&ld, 1 + n->s_walk);
    run_all(&rig);
    uint64_t missed = ld.completed - ld.submitted;
    CHECK(missed > hit);
    start(&inv, 1);
    start(&ld, n->s_walk);
    run_all(&rig);
    CHECK_EQ(ld.completed - ld.submitted, missed + 1);
    rig_close(&rig);
}

static uint64_t ended;
static void end(struct port_domain *domain, struct port_event *event)
{
    (void)event;
    ended = port_now(domain);
}

/* A kernel's beginning and end. */
static void check_boundaries(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    const struct mem_timing *n = &rig.mem[0]->timing;
    uint64_t now = port_now(rig.domain[0]);
    xcd_mem_acquire(rig.mem[0], true, end, NULL);
    run_all(&rig);
    CHECK_EQ(ended - now, n->s_walk); /* the longest of three walks */
    now = port_now(rig.domain[0]);
    xcd_mem_release(rig.mem[0], true, end, NULL);
    run_all(&rig);
    CHECK_EQ(ended - now, n->l2_walk);
    rig_close(&rig);
}

int main(void)
{
    fault_install();
    check_write_back();
    check_invalidate();
    check_scalar();
    check_boundaries();
    return check_status();
}
