/* SPDX-License-Identifier: MIT */
/* Stores past the caches: how they are combined, what waits for them, and who has their lines. */
#include "rig.h"

/* What has been asked of the homes, since it was asked for last. */
static struct fabric_counters asked(const struct rig *rig, struct fabric_counters *before)
{
    struct fabric_counters now, since;
    fabric_read_counters(rig->fabric, &now);
    since = (struct fabric_counters){.reads = now.reads - before->reads,
                                     .writes = now.writes - before->writes,
                                     .probes = now.probes - before->probes};
    *before = now;
    return since;
}

/* Non-temporal stores are combined to lines, which are neither read nor kept. */
static void test_past(void)
{
    enum { LINES = 512, PIECE = 16 };
    struct rig rig;
    struct fabric_counters before = {0};
    rig_open(&rig, 1);
    struct list *l = new_list();
    for (unsigned i = 0; i < LINES * LINE / PAGE; i++)
        add(l, &rig, CORE_LOAD, (uint64_t)i * PAGE, 0); /* translations */
    run_one(&rig, l);
    asked(&rig, &before);
    double misses = misses_of(&rig), cycles[2];
    for (unsigned past = 0; past < 2; past++) {
        l = new_list();
        for (unsigned i = 0; i < LINES * LINE / PIECE; i++)
            if (past)
                add_past(l, &rig, (uint64_t)i * PIECE, PIECE);
            else
                add(l, &rig, CORE_STORE, (4U << 20) + (uint64_t)i * PIECE, 0);
        cycles[past] = run_one(&rig, l);
        struct fabric_counters c = asked(&rig, &before);
        CHECK(past ? c.reads == 0 : c.reads >= LINES);
        CHECK_EQ(c.writes, past ? LINES : 0);
        CHECK(!past || misses_of(&rig) == misses);
        misses = misses_of(&rig);
    }
    CHECK(cycles[1] < 2 * cycles[0]);
    const unsigned order[] = {0, 5, 1, 4, 2, 7, 3, 6};
    l = new_list();
    for (unsigned i = 0; i < 8; i++) /* two lines in turn, in any order of their bytes */
        add_past(l, &rig, order[i] * PIECE, PIECE);
    run_one(&rig, l);
    CHECK_EQ(asked(&rig, &before).writes, 2);
    l = new_list();
    for (unsigned i = 0; i < 20; i++) /* parts of more lines than are combined: each leaves as it is, once */
        add_past(l, &rig, i * LINE + i, 1);
    run_one(&rig, l);
    struct fabric_counters parts = asked(&rig, &before);
    CHECK_EQ(parts.writes, 20);
    CHECK_EQ(parts.reads, 0);
    rig_close(&rig);
}

/* Fences and atomic operations wait for them, other stores and loads do not. */
static void test_past_order(void)
{
    static const enum core_op_kind kinds[] = {CORE_COMPUTE, CORE_STORE, CORE_FENCE, CORE_ATOMIC};
    struct rig rig;
    rig_open(&rig, 1);
    for (unsigned what = 0; what < 4; what++) {
        struct list *l = new_list();
        add(l, &rig, CORE_STORE, 0, 0);
        add(l, &rig, CORE_LOAD, PAGE, 0);
        run_one(&rig, l);
        l = new_list();
        add_past(l, &rig, PAGE + 2 * LINE, 4);
        add(l, &rig, kinds[what], 0, 0);
        l->op[l->n - 1].waits = true;
        uint64_t start = port_time_ps(rig.port);
        run(&rig, &l, 1);
        double cycles = (double)(l->asked_ps - start) / 1e3 * rig.ghz;
        free(l);
        CHECK(what < 2 ? cycles < 50 : cycles > 100);
    }
    rig_close(&rig);
}

/* Nobody's caches have such a line afterwards. */
static void test_past_drops(void)
{
    const unsigned apart = 3; /* cores of one CCD */
    for (unsigned who = 0; who < 4; who++) {
        struct rig rig;
        struct fabric_counters before = {0};
        rig_open(&rig, 1);
        struct list *list[4] = {NULL};
        list[who] = new_list();
        add(list[who], &rig, CORE_STORE, 0, 0); /* the writer itself, two on other CCDs, one on its own */
        run(&rig, list, 4);
        free(list[who]);
        list[who] = NULL;
        asked(&rig, &before);
        struct list *l = new_list();
        add_past(l, &rig, 0, who == apart ? LINE : 8);
        run_one(&rig, l);
        struct fabric_counters c = asked(&rig, &before);
        CHECK_EQ(c.writes, 1);
        CHECK_EQ(c.probes, who == 1 || who == 2);
        for (unsigned i = 0; i < 4; i += 3) {
            struct core_counters a, b;
            ccds_read_counters(rig.ccds, i, &a);
            list[i] = new_list();
            add(list[i], &rig, CORE_LOAD, i == 0 ? 0 : LINE, 0);
            add(list[i], &rig, CORE_LOAD, 0, 0);
            run(&rig, list, 4);
            free(list[i]);
            list[i] = NULL;
            ccds_read_counters(rig.ccds, i, &b);
            CHECK(b.l2_misses > a.l2_misses);
        }
        rig_close(&rig);
    }
}

int main(void)
{
    test_past();
    test_past_order();
    test_past_drops();
    return check_status();
}
