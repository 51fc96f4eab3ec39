/* SPDX-License-Identifier: MIT */
/* What holds a core up besides memory: what its thread waits for, values on their way, and branches. */
#include "rig.h"

/* Cycles of so many operations in turn on lines that the core has, each `apart` bytes behind the one before;
 * `named`: of those that are, a bit each. */
static double here_named(const enum core_op_kind *kind, unsigned kinds, unsigned n, unsigned apart,
                         unsigned after, bool waits, bool unforeseen, unsigned named)
{
    struct rig rig;
    rig_open(&rig, 1);
    struct list *l = new_list();
    for (unsigned i = 0; i < PAGE / LINE; i++)
        add(l, &rig, CORE_STORE, (uint64_t)i * LINE, 0);
    run_one(&rig, l);
    l = new_list();
    for (unsigned i = 0; i < n * kinds; i++) {
        add(l, &rig, kind[i % kinds], (uint64_t)(i / kinds) * apart,
            kind[i % kinds] == CORE_STORE ? after : 0);
        l->op[i].waits = waits;
        l->op[i].unforeseen = unforeseen;
        l->op[i].cycles = i % kinds == 0;
        l->op[i].named = named >> i % kinds & 1;
    }
    double cycles = run_one(&rig, l);
    rig_close(&rig);
    return cycles;
}

static double here(const enum core_op_kind *kind, unsigned kinds, unsigned n, unsigned apart, unsigned after,
                   bool waits, bool unforeseen)
{
    return here_named(kind, kinds, n, apart, after, waits, unforeseen, 0);
}

/* A thread that waits for what it does holds up what its core goes on with only if that is not foreseen. */
static void test_waits(void)
{
    enum { N = 500 };
    struct rig rig;
    rig_open(&rig, 1);
    const double l1 = key(&rig, CHIP_core_l1_latency) * rig.ghz,
                 locked = key(&rig, CHIP_core_locked) * rig.ghz;
    rig_close(&rig);
    const enum core_op_kind store[] = {CORE_STORE}, load[] = {CORE_LOAD}, atomic[] = {CORE_ATOMIC};
    double foreseen = here(load, 1, N, 4, 0, true, false), not = here(load, 1, N, 4, 0, true, true),
           stores = here(store, 1, N, 4, 0, true, false);
    CHECK(foreseen >= N && foreseen < N + 8);
    CHECK(not >= N * (1 + l1) && not < N * (2 + l1));
    CHECK(stores >= N && stores < N + 8);
    CHECK(here(atomic, 1, N, 0, 0, true, false) < N * locked + 2 * l1);
}

/* What comes behind one that is on its way is as much as the window holds, and the next is asked for when
 * simulated time is there. */
static void test_waits_for_line(void)
{
    const enum core_op_kind first[] = {CORE_LOAD, CORE_STORE};
    double cycles[2][2];
    for (unsigned kind = 0; kind < 2; kind++)
        for (unsigned more = 0; more < 2; more++) {
            struct rig rig;
            rig_open(&rig, 1);
            const unsigned window = chip_get(&rig.chip, CHIP_core_window);
            struct list *l = new_list();
            add(l, &rig, CORE_LOAD, 0, 0); /* the page */
            run_one(&rig, l);
            l = new_list();
            add(l, &rig, first[kind], 16 * LINE, 0);
            l->op[0].waits = true;
            add(l, &rig, CORE_LOAD, 0, 0); /* all that it has room for besides */
            l->op[1].cycles = 300;
            l->op[1].instructions = window - 1 + more;
            add(l, &rig, CORE_COMPUTE, 0, 0);
            l->op[2].cycles = 1000;
            cycles[kind][more] = run_one(&rig, l);
            rig_close(&rig);
        }
    CHECK(cycles[0][0] > 1300 && cycles[0][0] < 1330);
    CHECK(cycles[1][0] > 1300 && cycles[1][0] < 1330);
    CHECK(cycles[0][1] > cycles[0][0] + 300);
    CHECK(cycles[1][1] < cycles[1][0] + 2);
}

/* Nor does a core get further ahead of what it makes one after the other than its window is long. */
static void test_waits_in_window(void)
{
    enum { N = 200, WINDOWS = 4, BEHIND = 1000 };
    struct rig rig;
    rig_open(&rig, 1);
    const double locked = key(&rig, CHIP_core_locked) * rig.ghz;
    struct list *l = new_list();
    add(l, &rig, CORE_STORE, 0, 0);
    run_one(&rig, l);
    l = new_list();
    for (unsigned i = 0; i < N; i++) {
        add(l, &rig, CORE_ATOMIC, 0, 0);
        l->op[i].waits = true;
        l->op[i].instructions = chip_get(&rig.chip, CHIP_core_window) / WINDOWS;
    }
    add(l, &rig, CORE_COMPUTE, 0, 0);
    l->op[N].cycles = BEHIND;
    const double cycles = run_one(&rig, l);
    CHECK(cycles >= (N - WINDOWS - 1) * locked + BEHIND && cycles < N * locked + BEHIND + 8);
    rig_close(&rig);
}

/* A load finds a store of its address in the queue, and has its value when that is there. */
static void test_forwarding(void)
{
    enum { N = 300 };
    struct rig rig;
    rig_open(&rig, 1);
    const double forward = key(&rig, CHIP_core_forward) * rig.ghz;
    rig_close(&rig);
    const enum core_op_kind update[] = {CORE_LOAD, CORE_STORE};
    double same = here(update, 2, N, 0, 1, false, false), other = here(update, 2, N, 4, 1, false, false),
           constant = here(update, 2, N, 0, 0, false, false);
    CHECK(same >= (N - 1) * (forward + 1) && same < N * (forward + 1) + 16);
    CHECK(other < N + 16);
    CHECK(constant < N + 16);
}

/* Where both are words of the stack that the code names, memory has no part in it. */
static void test_renaming(void)
{
    enum { N = 300, BOTH = 3 };
    struct rig rig;
    rig_open(&rig, 1);
    const double renamed = key(&rig, CHIP_core_rename) * rig.ghz + 1,
                 found = key(&rig, CHIP_core_forward) * rig.ghz + 1;
    rig_close(&rig);
    const enum core_op_kind update[] = {CORE_LOAD, CORE_STORE};
    for (unsigned named = 0; named <= BOTH; named++) {
        const double cycles = here_named(update, 2, N, 0, 1, false, false, named),
                     each = named == BOTH ? renamed : found;
        CHECK(cycles >= (N - 1) * each && cycles < N * each + 16);
    }
}

/* A store that waits for its value, while another CCD takes the line that it had: it asks for that again. */
static void test_lost_line(void)
{
    double cycles[2];
    for (unsigned taken = 0; taken < 2; taken++) {
        struct rig rig;
        rig_open(&rig, 1);
        struct list *list[2] = {new_list(), NULL};
        add(list[0], &rig, CORE_STORE, 0, 0);
        run(&rig, list, 1);
        free(list[0]);
        for (unsigned k = 0; k < 1 + taken; k++)
            list[k] = new_list();
        for (unsigned i = 0; i < 4; i++) /* longer than the other needs, with its walk */
            add(list[0], &rig, CORE_LOAD, (16 + 4 * i) * LINE, i > 0);
        add(list[0], &rig, CORE_STORE, 0, 1);
        if (taken)
            add(list[1], &rig, CORE_STORE, 0, 0);
        const uint64_t start = port_time_ps(rig.port);
        run(&rig, list, 2);
        cycles[taken] = (double)(list[0]->ended_ps - start) / 1e3 * rig.ghz;
        free(list[0]);
        free(list[1]);
        rig_close(&rig);
    }
    CHECK(cycles[1] > cycles[0] + 200);
}

/* Cycles of N loads of one word, each behind a branch that was decided by the load before and went to this
 * target; a branch goes to the first the first time, which is not counted. */
static double branches(unsigned n, unsigned loads_before, uint32_t (*target)(unsigned i), uint64_t *wrong)
{
    struct rig rig;
    rig_open(&rig, 1);
    struct list *l = new_list();
    add(l, &rig, CORE_LOAD, 0, 0);
    run_one(&rig, l);
    l = new_list();
    for (unsigned i = 0; i < n; i++) {
        add(l, &rig, CORE_LOAD, 0, 0);
        l->op[i].branch = 77;
        l->op[i].target = target(i);
        l->op[i].branch_after = (uint8_t)(i ? loads_before : 0);
        l->op[i].cycles = 1;
    }
    const double cycles = run_one(&rig, l);
    struct core_counters c;
    ccds_read_counters(rig.ccds, 0, &c);
    *wrong = c.mispredicted;
    CHECK_EQ(c.branches, n);
    rig_close(&rig);
    return cycles;
}

static uint32_t always(unsigned i)
{
    (void)i;
    return 1;
}

static uint32_t at_random(unsigned i)
{
    return (i + 1) * UINT32_C(0x9e3779b1) * ((i >> 3) + 5) >> 13 & 1;
}

/* What comes behind one that went elsewhere is dispatched when that is known, and as much later as it takes.
 */
static void test_mispredicts(void)
{
    enum { N = 1000 };
    struct rig rig;
    rig_open(&rig, 1);
    const double l1 = key(&rig, CHIP_core_l1_latency) * rig.ghz,
                 each = key(&rig, CHIP_core_mispredict) * rig.ghz;
    rig_close(&rig);
    uint64_t wrong, again;
    const double foreseen = branches(N, 1, always, &wrong);
    CHECK_EQ(wrong, 0);
    CHECK(foreseen >= N && foreseen < N + 8);
    const double of_nothing = branches(N, 0, at_random, &wrong), of_load = branches(N, 1, at_random, &again);
    CHECK_EQ(wrong, again);
    CHECK(wrong > N / 3 && wrong < 2 * N / 3);
    CHECK(fabs(of_nothing - foreseen - (double)wrong * each) < 8);
    CHECK(fabs(of_load - foreseen - (double)wrong * (each + l1 + 1)) < 8);
}

int main(void)
{
    test_waits();
    test_waits_for_line();
    test_waits_in_window();
    test_forwarding();
    test_renaming();
    test_lost_line();
    test_mispredicts();
    return check_status();
}
