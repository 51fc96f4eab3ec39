/* SPDX-License-Identifier: MIT */
/* CPU cores: how long what they do takes, to the cycle, and who has a line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ccd/ccd.h"
#include "ccd/internal.h"
#include "check.h"
#include "chip/chip.h"
#include "fabric/fabric.h"
#include "vm/vm.h"
#include "wave/fault.h"

enum { BYTES = 64 << 20, MOST = 4096, PAGE = 4096, LINE = 64 };

/* The test's own page table: one arena, contiguous; faults take so long. */
struct vm {
    uint64_t base;
    bool missing; /* pages do not exist until they have faulted */
    uint8_t exists[BYTES / PAGE];
    unsigned faults;
};

bool vm_core_walk(const struct vm *vm, uint64_t address, uint64_t *page, uint64_t *entry)
{
    uint64_t offset = address - vm->base;
    if (vm->missing && !vm->exists[offset / PAGE])
        return false;
    *page = (UINT64_C(1) << 30) + (offset & ~(uint64_t)(PAGE - 1));
    *entry = (UINT64_C(1) << 36) + offset / PAGE * 8;
    return true;
}

void vm_core_fault(struct vm *vm, struct vm_core_fault *fault)
{
    vm->exists[(fault->address - vm->base) / PAGE] = 1;
    vm->faults++;
    port_post(fault->domain, port_now(fault->domain) + 1000, fault->done, fault->self)->word[0] =
        (uint64_t)(uintptr_t)fault;
}

const _Atomic uint64_t *vm_generation_word(const struct vm *vm)
{
    static const _Atomic uint64_t always;
    (void)vm;
    return &always;
}

struct rig {
    struct chip chip;
    struct port *port;
    struct fabric *fabric;
    struct ccds *ccds;
    struct vm vm;
    uint8_t *arena;
    double ghz;
    unsigned first, ccd_count; /* domains of CCDs */
};

/* `small`: caches that soon push lines out, and slices of 3750 cycles, with 370 between two. */
static void rig_open_with(struct rig *rig, unsigned threads, bool small)
{
    char error[256];
    memset(rig, 0, sizeof(*rig));
    fault_install();
    if (chip_load("mi300a", &rig->chip, error, sizeof(error)) != 0) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    if (small) {
        rig->chip.value[CHIP_core_l1] = 4 << 10;
        rig->chip.value[CHIP_core_l2] = 8 << 10;
        rig->chip.value[CHIP_ccd_l3] = 32 << 10;
        rig->chip.value[CHIP_core_slice] = 3750 / 3.7e3;
        rig->chip.value[CHIP_core_switch] = 0.1;
    }
    unsigned iods = chip_get(&rig->chip, CHIP_iod_count), ccds = chip_get(&rig->chip, CHIP_ccd_count);
    rig->arena =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    rig->vm.base = (uint64_t)(uintptr_t)rig->arena;
    rig->port = port_open(iods + ccds + 1, fabric_lookahead_ps(&rig->chip), threads, NULL);
    rig->fabric = fabric_open(&rig->chip, rig->port, 0, 1);
    rig->ccds = ccds_open(&rig->chip, rig->port, iods, rig->fabric, &rig->vm);
    rig->first = iods;
    rig->ccd_count = ccds;
    rig->ghz = rig->chip.value[CHIP_core_clock] / 1e3;
    port_set_clock(port_domain(rig->port, iods + ccds), rig->chip.value[CHIP_chip_clock]);
}

static void rig_open(struct rig *rig, unsigned threads)
{
    rig_open_with(rig, threads, false);
}

static void rig_close(struct rig *rig)
{
    ccds_close(rig->ccds);
    fabric_close(rig->fabric);
    port_close(rig->port);
    munmap(rig->arena, BYTES);
    chip_free(&rig->chip);
}

/* A core's program: operations, and when they had all been done. */
struct list {
    struct core_program program; /* first */
    struct core_op op[MOST];
    unsigned n, at;
    struct port_domain *domain;
    uint64_t asked_ps, ended_ps; /* asked: for what comes after the last */
};

static bool next(struct core_program *program, struct core_op *op)
{
    struct list *l = (struct list *)program;
    if (l->at == l->n) {
        l->asked_ps = port_now_ps(l->domain);
        return false;
    }
    *op = l->op[l->at++];
    return true;
}

static void ended(struct core_program *program, uint64_t ps)
{
    ((struct list *)program)->ended_ps = ps;
}

static struct list *new_list(void)
{
    struct list *l = calloc(1, sizeof(*l));
    if (!l)
        exit(1);
    l->program.next = next;
    l->program.ended = ended;
    return l;
}

static void add(struct list *l, const struct rig *rig, enum core_op_kind kind, uint64_t offset,
                unsigned after)
{
    l->op[l->n++] = (struct core_op){
        .address = rig->vm.base + offset, .kind = (uint8_t)kind, .after = (uint8_t)after, .instructions = 1};
}

/* Begun at once; cycles until all of them were done. */
static double run(struct rig *rig, struct list *const *list, unsigned cores)
{
    uint64_t start = port_time_ps(rig->port), last = 0;
    for (unsigned i = 0; i < cores; i++)
        if (list[i]) {
            list[i]->domain = port_domain(rig->port, rig->first + i % rig->ccd_count);
            ccds_begin(rig->ccds, i, &list[i]->program, start);
        }
    port_run(rig->port, PORT_NEVER, NULL, NULL);
    for (unsigned i = 0; i < cores; i++) {
        if (list[i] && list[i]->ended_ps > last)
            last = list[i]->ended_ps;
        if (list[i])
            CHECK_EQ(list[i]->at, list[i]->n);
    }
    return (double)(last - start) / 1e3 * rig->ghz;
}

static double run_one(struct rig *rig, struct list *l)
{
    double cycles = run(rig, &l, 1);
    free(l);
    return cycles;
}

static double key(const struct rig *rig, enum chip_key k)
{
    return rig->chip.value[k];
}

static double misses_of(const struct rig *rig)
{
    struct core_counters c;
    ccds_read_counters(rig->ccds, 0, &c);
    return (double)c.l3_misses;
}

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
           l3 = key(&rig, CHIP_core_l3_latency) * rig.ghz;
    rig_close(&rig);
    const unsigned n = 2048;
    double first = loads(n, 64, LINE, true, true), second = loads(n, 1024, LINE, true, true);
    CHECK(first >= n * l1 && first < n * l1 + 4);
    CHECK(second >= n * l2 && second < n * l2 + 4 * l3);
    double free_of = loads(n, 64, LINE, false, true); /* nobody waits: as fast as they come */
    CHECK(free_of < first / 50);
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

static void add_past(struct list *l, const struct rig *rig, uint64_t offset, unsigned bytes)
{
    add(l, rig, CORE_STORE_PAST, offset, 0);
    l->op[l->n - 1].bytes = (uint8_t)bytes;
}

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

/* Cycles of so many operations in turn on lines that the core has, each `apart` bytes behind the one before.
 */
static double here(const enum core_op_kind *kind, unsigned kinds, unsigned n, unsigned apart, unsigned after,
                   bool waits, bool unforeseen)
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
    }
    double cycles = run_one(&rig, l);
    rig_close(&rig);
    return cycles;
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

/* ---- several programs on one core ---- */

struct turn {
    struct list list; /* first */
    struct rig *rig;
    double begins, again; /* cycles; again: after it has ended, once; 0: not */
    uint64_t end[2];      /* ps */
    unsigned ended;
};

static void turn_ended(struct core_program *program, uint64_t ps)
{
    struct turn *t = (struct turn *)program;
    t->end[t->ended++] = ps;
    if (t->ended > 1 || t->again == 0)
        return;
    t->list.at = 0;
    ccds_begin(t->rig->ccds, 0, program, ps + (uint64_t)(t->again / t->rig->ghz * 1e3));
}

static void add_turn(struct rig *rig, struct turn *t, unsigned hundreds)
{
    memset(&t->list, 0, sizeof(t->list));
    t->list.program.next = next;
    t->list.program.ended = turn_ended;
    t->list.domain = port_domain(rig->port, rig->first);
    t->rig = rig;
    for (unsigned i = 0; i < hundreds; i++)
        t->list.op[t->list.n++] = (struct core_op){.kind = CORE_COMPUTE, .cycles = 100, .instructions = 100};
    ccds_begin(rig->ccds, 0, &t->list.program, (uint64_t)(t->begins / rig->ghz * 1e3));
}

/* When each ends, in cycles; the unit of what is given is a hundred of them. */
static void take_turns(struct turn *turn, const unsigned *hundreds, unsigned n, unsigned switches)
{
    struct rig rig;
    struct core_counters c;
    rig_open_with(&rig, 1, true);
    for (unsigned i = 0; i < n; i++)
        add_turn(&rig, &turn[i], hundreds[i]);
    port_run(rig.port, PORT_NEVER, NULL, NULL);
    ccds_read_counters(rig.ccds, 0, &c);
    CHECK_EQ(c.switches, switches);
    for (unsigned i = 0; i < n; i++)
        CHECK_EQ(turn[i].list.at, turn[i].list.n);
    rig_close(&rig);
}

static bool ends_at(const struct turn *t, unsigned which, double cycles)
{
    const double at = (double)t->end[which] / 1e3 * 3.7;
    if (fabs(at - cycles) > 5)
        fprintf(stderr, "ends at %.1f, not %.1f\n", at, cycles);
    return fabs(at - cycles) <= 5;
}

static void test_turns(void)
{
    static struct turn t[3];
    /* Alone a program has all slices; those that ask for nothing more within one follow each other. */
    memset(t, 0, sizeof(t));
    take_turns(t, (const unsigned[]){100}, 1, 0);
    CHECK(ends_at(&t[0], 0, 10000));
    memset(t, 0, sizeof(t));
    take_turns(t, (const unsigned[]){37, 10}, 2, 1);
    CHECK(ends_at(&t[0], 0, 3700));
    CHECK(ends_at(&t[1], 0, 3700 + 370 + 1000));
    /* One whose slice is over goes on behind the other. */
    memset(t, 0, sizeof(t));
    take_turns(t, (const unsigned[]){38, 10}, 2, 2);
    CHECK(ends_at(&t[1], 0, 3800 + 370 + 1000));
    CHECK(ends_at(&t[0], 0, 3800 + 370 + 1000 + 370));
    /* Three of two slices each, round and round. */
    memset(t, 0, sizeof(t));
    take_turns(t, (const unsigned[]){75, 75, 75}, 3, 5);
    for (unsigned i = 0; i < 3; i++)
        CHECK(ends_at(&t[i], 0, 3 * 3800 + (i + 1) * 3700 + (3 + i) * 370));
    /* Who comes back before the switch is over goes on in its slice, and has no more than that; who comes
     * later is the last. */
    memset(t, 0, sizeof(t));
    t[0].again = 300;
    take_turns(t, (const unsigned[]){20, 10}, 2, 2);
    CHECK(ends_at(&t[0], 0, 2000));
    CHECK(ends_at(&t[1], 0, 3800 + 370 + 1000));
    CHECK(ends_at(&t[0], 1, 3800 + 370 + 1000 + 370 + 500));
    memset(t, 0, sizeof(t));
    t[0].again = 400;
    take_turns(t, (const unsigned[]){20, 10}, 2, 2);
    CHECK(ends_at(&t[1], 0, 2000 + 370 + 1000));
    CHECK(ends_at(&t[0], 1, 2000 + 370 + 1000 + 370 + 2000));
}

int main(void)
{
    test_turns();
    test_latencies();
    test_misses();
    test_prefetch();
    test_stores();
    test_past();
    test_past_order();
    test_past_drops();
    test_sharing();
    test_atomics();
    test_waits();
    test_waits_for_line();
    test_waits_in_window();
    test_forwarding();
    test_lost_line();
    test_atomic_turns();
    test_halves();
    test_faults();
    test_victims();
    test_determinism();
    return check_status();
}
