/* SPDX-License-Identifier: MIT */
/* What TLBs reach, which look-ups are one, and how many walks go on at a time. */
#include "mem/xcd.h"
#include "hierarchies.h"

static void check_tlb(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    for (unsigned i = 0; i < 32; i++)
        load32(&rig, 0, 0, (uint64_t)i << 21, ISA_SCOPE_WAVE);
    struct mem_counters before = counters(&rig, 0);
    CHECK_EQ(before.utcl1_misses, 32);
    CHECK_EQ(before.walks, 32);
    for (unsigned i = 0; i < 32; i++)
        load32(&rig, 0, 0, ((uint64_t)i << 21) + 65536 + i * 4096, ISA_SCOPE_WAVE);
    struct mem_counters c = counters(&rig, 0);
    CHECK_EQ(c.utcl1_misses, 32);
    /* Another CU has its own, and finds in the UTCL2 what was walked for. */
    struct shot s = shot(&rig, 0, 1, ACCESS_LOAD, 65536, 4);
    uint64_t missed = run(&s);
    fence(&rig, 0, 1, ACCESS_INV, ISA_SCOPE_WORKGROUP);
    uint64_t found = run(&s);
    CHECK_EQ(counters(&rig, 0).walks, 32);
    CHECK_EQ(missed - found, 99);
    /* Of a whole wave's four look-ups three find the translation on its way, and are made again. */
    struct shot other = shot(&rig, 0, 1, ACCESS_LOAD, 65536, 4);
    spread_lanes(&other, 65536, 4);
    run(&other); /* the L2 has the lines */
    struct shot wave = shot(&rig, 0, 2, ACCESS_LOAD, 65536, 4);
    spread_lanes(&wave, 65536, 4);
    missed = run(&wave);
    fence(&rig, 0, 2, ACCESS_INV, ISA_SCOPE_WORKGROUP);
    found = run(&wave);
    CHECK_EQ(missed - found, 99 + 3 * chip_get(&rig.chip, CHIP_utcl1_replay));
    /* Pages of 4 KiB: an entry each; a change of the table empties them all. */
    rig.vm.fragment = 4096;
    rig.vm.generation++;
    before = counters(&rig, 0);
    for (unsigned i = 0; i < 33; i++)
        load32(&rig, 0, 0, (uint64_t)i * 4096, ISA_SCOPE_WAVE);
    CHECK_EQ(counters(&rig, 0).utcl1_misses - before.utcl1_misses, 33);
    CHECK_EQ(counters(&rig, 0).walks - before.walks, 5); /* each reads the entries of eight pages */
    load32(&rig, 0, 0, 32 * 4096 + 8, ISA_SCOPE_WAVE);
    CHECK_EQ(counters(&rig, 0).utcl1_misses - before.utcl1_misses, 33);
    load32(&rig, 0, 0, 8, ISA_SCOPE_WAVE); /* the first has gone */
    CHECK_EQ(counters(&rig, 0).utcl1_misses - before.utcl1_misses, 34);
    /* Misses of one page are one. */
    before = counters(&rig, 0);
    struct shot wide = shot(&rig, 0, 5, ACCESS_LOAD, 0, 4);
    spread_lanes(&wide, 4096 * 100, 64);
    run(&wide);
    CHECK_EQ(counters(&rig, 0).utcl1_misses - before.utcl1_misses, 1);
    CHECK_EQ(counters(&rig, 0).utcl1_merged - before.utcl1_merged, 31);
    /* Another instruction waits until the translation is there, and finds it. */
    before = counters(&rig, 0);
    struct shot first = shot(&rig, 0, 6, ACCESS_LOAD, 0, 4), second = shot(&rig, 0, 6, ACCESS_LOAD, 1024, 4);
    second.a.wave = 1;
    start(&first, 1);
    start(&second, 2);
    run_all(&rig);
    CHECK_EQ(counters(&rig, 0).utcl1_misses - before.utcl1_misses, 1);
    CHECK_EQ(counters(&rig, 0).utcl1_merged - before.utcl1_merged, 0);
    CHECK_EQ(counters(&rig, 0).utcl1_hits - before.utcl1_hits, 1);
    rig_close(&rig);
}

/* After every window of time. */
struct watch {
    const struct xcd_mem *mem;
    unsigned most;
    bool idle; /* a walk waited though it might have begun */
};

static bool look(void *context)
{
    struct watch *w = context;
    const struct utcl2 *tlb = &w->mem->utcl2;
    w->most = tlb->walking > w->most ? tlb->walking : w->most;
    for (const struct utcl2_walk *walk = tlb->waiting; walk; walk = walk->next)
        w->idle |=
            tlb->walking < w->mem->timing.utcl2_walks && walk->client->walking < w->mem->timing.utcl1_walks;
    return false;
}

/* Waves on so many CUs, each lane of which needs a walk; the most that go on at a time. */
static unsigned most_walks(unsigned cus)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    rig.vm.fragment = 32768; /* a line of entries each */
    struct shot waves[16];
    struct watch watch = {.mem = rig.mem[0]};
    for (unsigned i = 0; i < cus; i++) {
        waves[i] = shot(&rig, 0, i, ACCESS_LOAD, 0, 4);
        spread_lanes(&waves[i], (uint64_t)i * 64 * 32768, 32768);
        start(&waves[i], 1);
    }
    port_run(rig.port, PORT_NEVER, look, &watch);
    for (unsigned i = 0; i < cus; i++)
        CHECK(waves[i].completed != 0);
    CHECK(!watch.idle);
    CHECK_EQ(counters(&rig, 0).walks, 64 * cus);
    CHECK_EQ(rig.mem[0]->utcl2.walking, 0);
    CHECK(rig.mem[0]->utcl2.waiting == NULL);
    rig_close(&rig);
    return watch.most;
}

int main(void)
{
    check_tlb();
    CHECK_EQ(most_walks(1), 8);
    CHECK_EQ(most_walks(2), 16);
    CHECK_EQ(most_walks(6), 48);
    CHECK_EQ(most_walks(16), 48); /* of the XCD */
    return check_status();
}
