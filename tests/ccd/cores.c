/* SPDX-License-Identifier: MIT */
/* CPU cores: how long what they do takes, to the cycle, and who has a line. */
#include "rig.h"

/* So many loads of so many lines in turn, the second time; each of the one before, or of none. */
static double loads(unsigned n, unsigned lines, unsigned stride, bool dependent, bool warm)
{
    struct rig rig;
    double cycles = 0;
    rig_open(&rig, 1);
    for (unsigned pass = 0; pass < 1U + warm; pass++) {
        struct list *l = new_list();
        for (unsigned i = 0; i < n; i++)
            add(l, &rig, CORE_LOAD, (uint64_t)(i % lines) * stride, dependent && i);
        cycles = run_one(&rig, l);
    }
    rig_close(&rig);
    return cycles;
}

/* A load's latency is what the next waits for whose address it gives. */
static void test_latencies(void)
{
    struct rig rig;
    rig_open(&rig, 1);
    double l1 = key(&rig, CHIP_core_l1_latency) * rig.ghz, l2 = key(&rig, CHIP_core_l2_latency) * rig.ghz,
           l3 = key(&rig, CHIP_core_l3_latency) * rig.ghz, line = LINE / key(&rig, CHIP_core_l2_width);
    rig_close(&rig);
    const unsigned n = 2048;
    double first = loads(n, 64, LINE, true, true), second = loads(n, 1024, LINE, true, true);
    CHECK(first >= n * l1 && first < n * l1 + 4);
    CHECK(second >= n * l2 && second < n * l2 + 4 * l3);
    double free_of = loads(n, 64, LINE, false, true); /* nobody waits: as fast as they come */
    CHECK(free_of < first / 50);
    /* But for lines from the second cache, each of which takes its way to the first for so long. */
    double passed = loads(n, 1024, LINE, false, true);
    CHECK(passed >= (n - 1) * line && passed < n * line + l3);
}

/* Cycles for so many lines of a page that is known, no two of them neighbours. */
static double misses(unsigned n, bool dependent)
{
    struct rig rig;
    rig_open(&rig, 1);
    struct list *l = new_list();
    add(l, &rig, CORE_LOAD, PAGE - LINE, 0);
    run_one(&rig, l);
    l = new_list();
    for (unsigned i = 0; i < n; i++)
        add(l, &rig, CORE_LOAD, (uint64_t)i * 2 * LINE, dependent && i);
    double cycles = run_one(&rig, l);
    rig_close(&rig);
    return cycles;
}

/* As many lines as the queue has are on their way together, and not one more. */
static void test_misses(void)
{
    struct rig rig;
    rig_open(&rig, 1);
    unsigned places = chip_get(&rig.chip, CHIP_core_l1_misses);
    rig_close(&rig);
    double one = misses(1, false), all = misses(places, false), more = misses(places + 1, false);
    CHECK(all < 1.5 * one);
    CHECK(more > all + 0.4 * one);
    CHECK(misses(8, true) > 6 * one);
}

/* A stream is there before it is asked for. */
static void test_prefetch(void)
{
    const unsigned lines = PAGE / LINE;
    double stream = loads(lines, lines, LINE, true, false),
           apart = loads(lines, lines, 2 * LINE, true, false);
    CHECK(stream < 0.4 * apart);
}

/* Stores are behind the window: a core does not wait for them, but for a fence, or when their queue is full.
 */
static void test_stores(void)
{
    struct rig rig;
    rig_open(&rig, 1);
    unsigned queue = chip_get(&rig.chip, CHIP_core_stores);
    double cycles[4];
    for (unsigned what = 0; what < 4; what++) {
        struct list *l = new_list();
        uint64_t base = (uint64_t)what << 22;
        for (unsigned i = 0; i < 2; i++) { /* translations, and the line that is loaded */
            add(l, &rig, CORE_LOAD, base, 0);
            add(l, &rig, CORE_LOAD, base + (1 << 21), 0);
        }
        add(l, &rig, CORE_FENCE, 0, 0);
        run_one(&rig, l);
        l = new_list();
        add(l, &rig, CORE_STORE, base + 64 * LINE / 2, 0); /* its line is elsewhere */
        if (what == 1)
            add(l, &rig, CORE_FENCE, 0, 0);
        for (unsigned i = 1; what >= 2 && i < queue + (what == 3); i++)
            add(l, &rig, CORE_STORE, base + (1 << 21),
                0); /* its line is here, but they are written in order */
        l->op[l->n] = (struct core_op){
            .kind = CORE_LOAD, .address = rig.vm.base + base, .instructions = 1, .waits = true};
        l->n++;
        uint64_t start = port_time_ps(rig.port);
        run(&rig, &l, 1);
        cycles[what] = (double)(l->asked_ps - start) / 1e3 * rig.ghz;
        free(l);
    }
    CHECK(cycles[0] < 50);
    CHECK(cycles[1] > 300);
    CHECK(cycles[2] < 150);
    CHECK(cycles[3] > 300);
    rig_close(&rig);
}

/* Who writes a line has it alone; who reads it leaves it to whoever has it. */
static void test_sharing(void)
{
    struct rig rig;
    rig_open(&rig, 1);
    struct list *l = new_list();
    add(l, &rig, CORE_STORE, 0, 0);
    run_one(&rig, l);
    double before = misses_of(&rig);
    l = new_list(); /* again: it is its own */
    add(l, &rig, CORE_STORE, 0, 0);
    run_one(&rig, l);
    CHECK_EQ(misses_of(&rig), before);
    struct list *other[2] = {NULL, new_list()}; /* on another CCD */
    add(other[1], &rig, CORE_LOAD, 0, 0);
    run(&rig, other, 2);
    l = new_list(); /* it may still be read, */
    add(l, &rig, CORE_LOAD, 0, 0);
    double read = run_one(&rig, l);
    CHECK(read < 10);
    CHECK_EQ(misses_of(&rig), before);
    l = new_list(); /* but to write it again takes asking */
    add(l, &rig, CORE_STORE, 0, 0);
    run_one(&rig, l);
    CHECK_EQ(misses_of(&rig), before + 1);
    other[1]->at = other[1]->n = 0; /* and then the other has it no more */
    other[1]->ended_ps = 0;
    add(other[1], &rig, CORE_LOAD, 0, 0);
    double far = run(&rig, other, 2);
    CHECK(far > 300);
    free(other[1]);
    unsigned count = chip_get(&rig.chip, CHIP_ccd_count); /* on the same CCD: it does not leave that */
    struct list *near[8] = {NULL};
    near[count] = new_list();
    add(near[count], &rig, CORE_LOAD, 0, 0);
    double within = run(&rig, near, count + 1);
    CHECK(within < 0.5 * far);
    free(near[count]);
    rig_close(&rig);
}

/* Cycles for so many atomic operations on lines so far apart, whose page is known, with so many instructions
 * each; `warm`: whose lines are here. */
static double atomics(unsigned n, unsigned apart, unsigned instructions, bool warm)
{
    struct rig rig;
    rig_open(&rig, 1);
    struct list *l = new_list();
    add(l, &rig, CORE_LOAD, PAGE - LINE, 0);
    for (unsigned i = 0; warm && i < n; i++)
        add(l, &rig, CORE_STORE, (uint64_t)i * apart * LINE, 0);
    run_one(&rig, l);
    l = new_list();
    for (unsigned i = 0; i < n; i++) {
        add(l, &rig, CORE_ATOMIC, (uint64_t)i * apart * LINE, 0);
        l->op[l->n - 1].instructions = instructions;
    }
    double cycles = run_one(&rig, l);
    rig_close(&rig);
    return cycles;
}

/* They are made one after the other; their lines are asked for as far ahead as the window reaches. */
static void test_atomics(void)
{
    struct rig rig;
    rig_open(&rig, 1);
    const unsigned window = chip_get(&rig.chip, CHIP_core_window);
    const double locked = key(&rig, CHIP_core_locked) * rig.ghz,
                 l1 = key(&rig, CHIP_core_l1_latency) * rig.ghz;
    double here = atomics(64, 0, 1, true);
    CHECK(here >= 64 * locked && here < 64 * locked + l1 + 4);
    double one = atomics(1, 2, 1, false), four = atomics(4, 2, window / 4, false);
    CHECK(four > one + 3 * locked - 1 && four < 1.3 * one + 3 * locked);
    double five = atomics(5, 2, window / 4, false); /* one more than the window holds */
    CHECK(five > four + 0.5 * one);

    /* Not before a store that is older is written, nor a load's value is there. */
    const enum core_op_kind older[] = {CORE_STORE, CORE_LOAD};
    for (unsigned i = 0; i < 2; i++) {
        struct list *l = new_list();
        add(l, &rig, CORE_STORE, (uint64_t)i * PAGE, 0);
        run_one(&rig, l);
        l = new_list();
        add(l, &rig, older[i], (uint64_t)i * PAGE + 16 * LINE, 0);
        add(l, &rig, CORE_ATOMIC, (uint64_t)i * PAGE, 0);
        CHECK(run_one(&rig, l) > 300 + locked);
    }

    /* A core of the same CCD waits until those that have been made are over. */
    const unsigned count = chip_get(&rig.chip, CHIP_ccd_count);
    for (unsigned cores = 1; cores <= 2; cores++) {
        struct list *list[8] = {NULL};
        for (unsigned k = 0; k < cores; k++) {
            list[k * count] = new_list();
            for (unsigned i = 0; i < 100; i++)
                add(list[k * count], &rig, CORE_ATOMIC, 8 * PAGE, 0);
        }
        double cycles = run(&rig, list, count + 1);
        CHECK(cycles >= 100 * cores * locked);
        for (unsigned k = 0; k < cores; k++)
            free(list[k * count]);
    }
    rig_close(&rig);
}

/*
 * Cores that want one line have turns: each makes what its window holds of operations on it, and not one
 * more. Of the same CCD, or of two.
 */
static void test_atomic_turns(void)
{
    enum { OPERATIONS = 120 };
    for (unsigned held = 1; held <= 8; held *= 2)
        for (unsigned apart = 0; apart <= 1; apart++) {
            struct rig rig;
            struct list *list[8] = {NULL};
            rig_open(&rig, 1);
            const unsigned window = chip_get(&rig.chip, CHIP_core_window),
                           other = apart ? 1 : chip_get(&rig.chip, CHIP_ccd_count);
            for (unsigned k = 0; k <= other; k += other) {
                list[k] = new_list();
                for (unsigned i = 0; i < OPERATIONS; i++) {
                    add(list[k], &rig, CORE_ATOMIC, 0, 0);
                    list[k]->op[i].instructions = window / held;
                    list[k]->op[i].cycles = 1;
                }
            }
            run(&rig, list, other + 1);
            struct core_counters c;
            ccds_read_counters(rig.ccds, other, &c);
            const double turn = OPERATIONS / (double)c.l2_misses;
            CHECK(apart ? turn >= held : turn > 0.85 * held && turn <= held + 1);
            free(list[0]);
            free(list[other]);
            rig_close(&rig);
        }
}

/* Lines of 64 bytes are taken away one by one, although the fabric's have 128. */
static void test_halves(void)
{
    for (unsigned apart = 0; apart <= 1; apart++) {
        struct rig rig;
        rig_open(&rig, 1);
        struct list *list[2] = {new_list(), new_list()}; /* on two CCDs */
        for (unsigned i = 0; i < 200; i++)
            for (unsigned k = 0; k < 2; k++) {
                add(list[k], &rig, CORE_ATOMIC, k * apart * LINE, 0);
                list[k]->op[i].waits = true;
            }
        run(&rig, list, 2);
        CHECK(apart ? misses_of(&rig) <= 2 : misses_of(&rig) > 5);
        struct core_counters c;
        ccds_read_counters(rig.ccds, 1, &c);
        CHECK(apart ? c.probes == 0 : c.probes > 5);
        free(list[0]);
        free(list[1]);
        rig_close(&rig);
    }
}

/* A page that does not exist holds the core up once. */
static void test_faults(void)
{
    struct rig rig;
    rig_open(&rig, 1);
    rig.vm.missing = true;
    struct list *l = new_list();
    for (unsigned i = 0; i < 10; i++)
        add(l, &rig, CORE_LOAD, (uint64_t)i * PAGE / 2, 0);
    double cycles = run_one(&rig, l);
    CHECK_EQ(rig.vm.faults, 5);
    CHECK(cycles > 5000);
    rig_close(&rig);
}

static uint64_t random_of(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* What the CCD's caches say of a line. */
static uint64_t flags_of(const struct ccd *ccd, uint64_t line)
{
    uint64_t *e = tags_peek(&ccd->l3, line), flags = e ? *e : 0;
    for (unsigned i = 0; i < ccd->all->cores; i++)
        flags |= (e = tags_peek(&ccd->core[i].l2, line)) ? *e : 0;
    return flags;
}

/* Whatever the caches of a CCD push out: what they still hold, the home knows, and takes it away for others.
 */
static void test_victims(void)
{
    for (unsigned lines = 1024, past = 0; lines <= 4096; lines *= 2, past = !past) {
        struct rig rig;
        struct list *list[24] = {NULL};
        uint64_t state = lines;
        rig_open_with(&rig, 1, true);
        const struct ccd *ccd = &rig.ccds->ccd[0];
        for (unsigned k = 0; k < ccd->all->cores; k++) {
            list[k * rig.ccd_count] = new_list();
            for (unsigned i = 0; i < 4000; i++) {
                uint64_t r = random_of(&state), where = (r >> 8) % lines * LINE;
                if (past && r % 5 == 0)
                    add_past(list[k * rig.ccd_count], &rig, where, LINE);
                else
                    add(list[k * rig.ccd_count], &rig, r % 3 ? CORE_STORE : CORE_LOAD, where, 0);
            }
        }
        run(&rig, list, 24);
        for (unsigned i = 0; i < 24; i++) {
            free(list[i]);
            list[i] = NULL;
        }
        unsigned held = 0, kept = 0;
        for (unsigned i = 0; i < lines; i++) {
            const uint64_t at = (uint64_t)i * 67 % lines * LINE; /* no prefetcher's */
            const uint64_t line = line_of((UINT64_C(1) << 30) + at);
            if (!flags_of(ccd, line))
                continue;
            held++;
            list[1] = new_list();
            add(list[1], &rig, CORE_ATOMIC, at, 0);
            run(&rig, list, 2);
            free(list[1]);
            kept += flags_of(ccd, line) != 0;
        }
        CHECK(held > 500);
        CHECK_EQ(kept, 0);
        rig_close(&rig);
    }
}

/* All cores at once: the same for every number of the host's threads. */
static void storm(unsigned threads, uint64_t *digest)
{
    struct rig rig;
    struct list *list[24];
    uint64_t state = 1;
    rig_open(&rig, threads);
    for (unsigned i = 0; i < 24; i++) {
        list[i] = new_list();
        for (unsigned k = 0; k < 3000; k++) {
            uint64_t r = random_of(&state);
            enum core_op_kind kind = r % 16 == 0   ? CORE_ATOMIC
                                     : r % 16 == 1 ? CORE_FENCE
                                     : r % 16 <= 3 ? CORE_STORE_PAST
                                     : r % 3       ? CORE_LOAD
                                                   : CORE_STORE;
            uint64_t where = random_of(&state) % (r & 1024 ? 64 : BYTES / LINE) * LINE;
            add(list[i], &rig, kind, where, kind == CORE_LOAD && k > 8 ? (unsigned)(r >> 12 & 3) : 0);
            list[i]->op[k].bytes = r & 2048 ? LINE : 16;
        }
    }
    run(&rig, list, 24);
    *digest = 0;
    for (unsigned i = 0; i < 24; i++) {
        struct core_counters c;
        ccds_read_counters(rig.ccds, i, &c);
        *digest = *digest * 31 + list[i]->ended_ps * 7 + c.l1_misses + c.l2_misses * 3 + c.probes * 5;
        CHECK(c.probes > 0);
        free(list[i]);
    }
    rig_close(&rig);
}

static void test_determinism(void)
{
    uint64_t one, two, three;
    storm(1, &one);
    storm(2, &two);
    storm(3, &three);
    CHECK_EQ(one, two);
    CHECK_EQ(one, three);
}

int main(void)
{
    test_latencies();
    test_misses();
    test_prefetch();
    test_stores();
    test_sharing();
    test_atomics();
    test_atomic_turns();
    test_halves();
    test_faults();
    test_victims();
    test_determinism();
    return check_status();
}
