/* SPDX-License-Identifier: MIT */
/* SDMA engines: bytes of all shapes, when what happens, who else sees it, what is left out of long copies. */
#include <stdlib.h>
#include <string.h>

#include "alloc/memory.h"
#include "check.h"
#include "chip/chip.h"
#include "fabric/fabric.h"
#include "port/port.h"
#include "sdma/sdma.h"
#include "vm/vm.h"
#include "wave/fault.h"

enum { LINE = FABRIC_LINE, PAIR = FABRIC_PAIR, MIB = 1 << 20, ENGINES = 16 };

/* The engines in domain 0, an XCD that asks in domain 1, then the IODs. */
struct rig {
    struct chip chip;
    struct memory memory;
    struct port *port;
    struct fabric *fabric;
    struct vm *vm;
    struct sdma *sdma;
    struct fabric_probe *probe; /* the last one that the XCD has had */
    unsigned probes;
    uint8_t dirty; /* what the XCD answers with; 0: nothing */
    bool silent;   /* it does not answer */
};

static void probed(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct rig *rig = event->self;
    rig->probe = (struct fabric_probe *)(uintptr_t)event->word[0];
    rig->probes++;
    if (rig->dirty && rig->probe->owner) {
        memset(rig->probe->data, rig->dirty, LINE);
        rig->probe->mask[0] = rig->probe->mask[1] = UINT64_MAX;
    }
    if (!rig->silent)
        fabric_probe_answer(rig->fabric, rig->probe);
}

struct setting {
    enum chip_key key;
    double value;
};

static void rig_open(struct rig *rig, const struct setting *settings, unsigned count)
{
    char error[256] = "";
    memset(rig, 0, sizeof(*rig));
    fault_install();
    if (!CHECK(chip_load("mi300a", &rig->chip, error, sizeof(error)) == 0)) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    for (unsigned i = 0; i < count; i++)
        rig->chip.value[settings[i].key] = settings[i].value;
    uint64_t lookahead = fabric_lookahead_ps(&rig->chip);
    CHECK(memory_init(&rig->memory, UINT64_C(128) << 30, 1, 1, false));
    rig->vm = vm_open(&rig->chip, &rig->memory);
    rig->port = port_open(2 + chip_get(&rig->chip, CHIP_iod_count), lookahead, 1, NULL);
    rig->fabric = fabric_open(&rig->chip, rig->port, 2, 1);
    CHECK(rig->vm && rig->port && rig->fabric);
    vm_start(rig->vm, port_domain(rig->port, 0), lookahead, rig->fabric);
    fabric_attach(rig->fabric, 0, port_domain(rig->port, 1), probed, rig);
    rig->sdma = sdma_open(&rig->chip, port_domain(rig->port, 0), rig->fabric, rig->vm);
    CHECK(rig->sdma != NULL);
}

static void rig_close(struct rig *rig)
{
    sdma_close(rig->sdma);
    fabric_close(rig->fabric);
    port_close(rig->port);
    vm_close(rig->vm);
    memory_destroy(&rig->memory);
    chip_free(&rig->chip);
}

static uint8_t *take(struct rig *rig, uint64_t bytes)
{
    int status;
    uint8_t *p = memory_alloc(&rig->memory, 0, EHP_MEM_DEVICE, bytes, 4096, &status);
    CHECK(p != NULL);
    return p;
}

static struct sdma_side side(const void *base)
{
    return (struct sdma_side){.base = (uint64_t)(uintptr_t)base};
}

struct job {
    struct sdma_job job; /* first */
    struct rig *rig;
    uint64_t begin_ps, end_ps;
};

static void job_done(struct sdma_job *job)
{
    struct job *j = (struct job *)job;
    j->end_ps = port_now_ps(port_domain(j->rig->port, 0));
}

static void submit(struct rig *rig, struct job *j, unsigned engine)
{
    j->rig = rig;
    j->end_ps = 0;
    j->job.done = job_done;
    j->begin_ps = port_now_ps(port_domain(rig->port, 0));
    sdma_submit(rig->sdma, engine, &j->job);
}

/* Picoseconds that a job takes which is alone. */
static uint64_t run(struct rig *rig, struct job *j)
{
    submit(rig, j, 0);
    port_run(rig->port, PORT_NEVER, NULL, NULL);
    CHECK(j->end_ps != 0);
    return j->end_ps - j->begin_ps;
}

static struct job copy_of(void *to, const void *from, uint64_t bytes)
{
    return (struct job){
        .job = {
            .to = side(to), .from = side(from), .width = bytes, .height = 1, .depth = 1, .start_ps = 1000}};
}

/* ---- bytes ---- */

static uint8_t value_at(uint64_t i)
{
    return (uint8_t)(i * 0x9e3779b1 >> 13);
}

static void check_shape(struct rig *rig, uint8_t *to, uint8_t *from, const struct sdma_job *shape,
                        uint64_t room)
{
    uint8_t *expected = malloc(room);
    for (uint64_t i = 0; i < room; i++) {
        from[i] = value_at(i);
        to[i] = expected[i] = (uint8_t)~value_at(i + 7);
    }
    for (uint64_t z = 0; z < shape->depth; z++)
        for (uint64_t y = 0; y < shape->height; y++)
            for (uint64_t x = 0; x < shape->width; x++)
                expected[shape->to.base - (uint64_t)(uintptr_t)to + z * shape->to.slice +
                         y * shape->to.pitch + x] =
                    (uint8_t)(shape->fills
                                  ? shape->pattern >> x % 8 * 8
                                  : *(uint8_t *)(uintptr_t)(shape->from.base + z * shape->from.slice +
                                                            y * shape->from.pitch + x));
    struct job j = {.job = *shape};
    run(rig, &j);
    CHECK(!j.job.faulted && memcmp(to, expected, room) == 0);
    free(expected);
}

static void test_bytes(void)
{
    struct rig rig;
    const struct setting few = {CHIP_sdma_outstanding, 8};
    enum { ROOM = 64 << 10 };
    for (unsigned i = 0; i < 4; i++) {
        const bool unknown = i & 1;
        rig_open(&rig, &few, i / 2);
        uint8_t *own = take(&rig, ROOM), *here = unknown ? malloc(ROOM) : take(&rig, ROOM);
        for (unsigned k = 0; k < 64; k++) {
            struct sdma_job shape = {.to = side(here + k * 37 % 400), .from = side(own + k * 101 % 500)};
            shape.to.unknown = unknown;
            shape.width = 1 + k * k * 7 % 3000;
            shape.height = 1 + k % 3;
            shape.depth = 1 + k / 3 % 2;
            shape.to.pitch = shape.width + k % 130;
            shape.from.pitch = shape.width + k % 77;
            shape.to.slice = shape.to.pitch * shape.height + k;
            shape.from.slice = shape.from.pitch * shape.height;
            shape.fills = k % 5 == 4;
            shape.pattern = UINT64_C(0x0123456789abcdef);
            check_shape(&rig, here, own, &shape, ROOM);
        }
        if (unknown)
            free(here);
        rig_close(&rig);
    }
}

/* ---- time ---- */

/* A job begins its time after the submission, and one after another. */
static void test_start(void)
{
    struct rig rig;
    rig_open(&rig, NULL, 0);
    uint8_t *from = take(&rig, MIB), *to = take(&rig, MIB);
    struct job j[3] = {copy_of(to, from, 4096), copy_of(to, from, 4096), copy_of(to, from, 4096)};
    run(&rig, &j[0]);
    uint64_t first = run(&rig, &j[0]);
    j[0].job.start_ps += 7000;
    CHECK_EQ(run(&rig, &j[0]), first + 7000);
    j[0].job.start_ps -= 7000;
    for (unsigned i = 0; i < 3; i++)
        submit(&rig, &j[i], 3);
    port_run(rig.port, PORT_NEVER, NULL, NULL);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t apart = j[i + 1].end_ps - j[i].end_ps, alone = first - j[i].job.start_ps;
        CHECK(apart + 2000 >= alone && apart <= alone + 2000);
    }
    rig_close(&rig);
}

/* Beyond its latency each pair takes the port's time, and not less. */
static void test_port(void)
{
    struct rig rig;
    rig_open(&rig, NULL, 0);
    uint8_t *from = take(&rig, MIB), *to = take(&rig, MIB);
    const double pair = PAIR / rig.chip.value[CHIP_sdma_width] / rig.chip.value[CHIP_sdma_clock] * 1e6;
    struct job few = copy_of(to, from, 1024 * PAIR), more = copy_of(to, from, 3072 * PAIR);
    run(&rig, &more);
    double each = (double)(run(&rig, &more) - run(&rig, &few)) / 2048;
    printf("a pair takes %.1f ps, its port %.1f\n", each, pair);
    CHECK(each >= pair - 1 && each < pair * 1.001 + 1);
    rig_close(&rig);
}

/* So many lines are under way, and the next one when the first is back and has gone on. */
static void test_outstanding(void)
{
    struct rig rig;
    const struct setting wide[] = {{CHIP_sdma_outstanding, 16}, {CHIP_sdma_width, 1e6}};
    rig_open(&rig, wide, 2);
    uint8_t *from = take(&rig, MIB), *to = take(&rig, MIB);
    uint64_t took[20];
    struct job all = copy_of(to, from, MIB);
    run(&rig, &all);
    for (unsigned pairs = 1; pairs < 20; pairs++) {
        struct job j = copy_of(to, from, pairs * (uint64_t)PAIR);
        took[pairs] = run(&rig, &j);
    }
    printf("one pair %.1f ns, eight %.1f, nine %.1f\n", (double)took[1] / 1e3, (double)took[8] / 1e3,
           (double)took[9] / 1e3);
    CHECK(took[8] - took[1] < 40000);       /* side by side, but for their slices */
    CHECK(took[9] - took[8] > took[1] / 4); /* after the first fetch */
    CHECK(took[17] - took[16] > took[1] / 4);
    rig_close(&rig);
}

/* Engines add up, until memory has no more. */
static void test_sharing(void)
{
    struct rig rig;
    const struct setting fast[] = {{CHIP_infinity_cache_slices, 0},
                                   {CHIP_sdma_clock, 1e4},
                                   {CHIP_sdma_width, 1e3},
                                   {CHIP_sdma_outstanding, 2048}};
    enum { BYTES = 2 * MIB };
    static struct job j[ENGINES];
    double rate[2], alone;
    for (unsigned kind = 0; kind < 2; kind++) {
        rig_open(&rig, fast, kind ? 4 : 1);
        uint8_t *from = take(&rig, (uint64_t)ENGINES * BYTES), *to = take(&rig, (uint64_t)ENGINES * BYTES);
        for (unsigned i = 0; i < ENGINES; i++)
            j[i] = copy_of(to + i * (uint64_t)BYTES, from + i * (uint64_t)BYTES, BYTES);
        alone = BYTES / (double)run(&rig, &j[0]) * 1e3;
        uint64_t last = 0, begin = port_now_ps(port_domain(rig.port, 0));
        for (unsigned i = 0; i < ENGINES; i++)
            submit(&rig, &j[i], i);
        port_run(rig.port, PORT_NEVER, NULL, NULL);
        for (unsigned i = 0; i < ENGINES; i++)
            last = j[i].end_ps > last ? j[i].end_ps : last;
        rate[kind] = ENGINES * (double)BYTES / (double)(last - begin) * 1e3;
        printf("a copy %.0f GB/s, %u together %.0f\n", alone, ENGINES, rate[kind]);
        if (kind == 0)
            CHECK(rate[0] > 0.97 * ENGINES * alone && rate[0] < 1.01 * ENGINES * alone);
        rig_close(&rig);
    }
    /* They read and write. */
    CHECK(2 * rate[1] < rig.chip.value[CHIP_hbm_bandwidth] && 2 * rate[1] > 2000 && rate[1] < 4 * alone);
}

/* ---- who else sees it ---- */

struct asked {
    struct fabric_request request; /* first */
    uint8_t data[PAIR];
    bool answered;
};

static void answered(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    ((struct asked *)(uintptr_t)event->word[0])->answered = true;
}

static void ask(struct rig *rig, struct asked *a, enum fabric_kind kind, uint8_t *line)
{
    struct vm_entry entry;
    CHECK(vm_walk(rig->vm, 0, (uint64_t)(uintptr_t)line, &entry));
    *a = (struct asked){.request = {.kind = kind,
                                    .line = (uint64_t)(uintptr_t)line,
                                    .physical = entry.physical + (uint64_t)(uintptr_t)line - entry.base,
                                    .done = answered}};
    a->request.data = a->data;
    fabric_submit(rig->fabric, &a->request);
    port_run(rig->port, PORT_NEVER, NULL, NULL);
    CHECK(a->answered);
}

/* Copies take what an L2 owns, drop what it has, and leave their lines in the Infinity Cache. */
static void test_coherence(void)
{
    struct rig rig;
    struct asked a;
    rig_open(&rig, NULL, 0);
    uint8_t *from = take(&rig, MIB), *to = take(&rig, MIB);
    memset(from, 1, MIB);
    ask(&rig, &a, FABRIC_OWN, from + 5 * LINE);
    rig.dirty = 9;
    ask(&rig, &a, FABRIC_READ, to + 7 * LINE);
    CHECK_EQ(rig.probes, 0);
    struct job j = copy_of(to, from, 64 << 10);
    run(&rig, &j);
    CHECK_EQ(rig.probes, 2);
    CHECK(to[5 * LINE] == 9 && to[6 * LINE - 1] == 9 && to[6 * LINE] == 1 && to[5 * LINE - 1] == 1);
    for (unsigned i = 0; i < 64; i++) {
        ask(&rig, &a, FABRIC_READ, to + (i * 13 % 512) * LINE);
        CHECK_EQ(a.request.missed, 0);
    }
    ask(&rig, &a, FABRIC_READ, to + (512 << 10));
    CHECK_EQ(a.request.missed, 1);
    rig_close(&rig);
}

/* What of a copy is held up holds up nothing but what needs it: here the lines of an L2 that does not answer.
 */
static void test_order(void)
{
    enum { BYTES = 32 << 10, OWNED = 11 * PAIR };
    for (unsigned shift = 0; shift <= 16; shift += 16) {
        struct rig rig;
        struct asked a;
        rig_open(&rig, NULL, 0);
        uint8_t *from = take(&rig, MIB), *to = take(&rig, MIB);
        memset(from, 1, MIB);
        ask(&rig, &a, FABRIC_OWN, from + OWNED);
        rig.dirty = 9;
        rig.silent = true;
        struct job j = copy_of(to, from + shift, BYTES);
        submit(&rig, &j, 0);
        port_run(rig.port, PORT_NEVER, NULL, NULL);
        CHECK(rig.probes == 1 && j.end_ps == 0);
        for (unsigned at = 0; at < BYTES; at++) {
            bool needs = at / PAIR == OWNED / PAIR || (shift && at / PAIR == OWNED / PAIR - 1);
            if (to[at] != !needs) {
                CHECK_EQ(to[at], !needs);
                break;
            }
        }
        fabric_probe_answer(rig.fabric, rig.probe);
        port_run(rig.port, PORT_NEVER, NULL, NULL);
        CHECK(j.end_ps != 0 && to[OWNED - shift] == 9 && to[OWNED + LINE - shift - 1] == 9);
        CHECK(to[OWNED - shift - 1] == 1 && to[OWNED + LINE - shift] == 1);
        rig_close(&rig);
    }
}

/* ---- what is left out ---- */

static bool yes(const struct sdma_job *job)
{
    (void)job;
    return true;
}

static bool no(const struct sdma_job *job)
{
    (void)job;
    return false;
}

static void test_skipping(void)
{
    enum { BYTES = 48 * MIB };
    struct asked a;
    for (unsigned kind = 0; kind < 4; kind++) {
        const bool unknown = kind & 1, fills = kind & 2;
        uint64_t took[2];
        for (unsigned skips = 0; skips < 2; skips++) {
            struct rig rig;
            rig_open(&rig, NULL, 0);
            uint8_t *from = unknown ? malloc(BYTES + 16) : take(&rig, BYTES + 16),
                    *to = take(&rig, BYTES + 16);
            for (uint64_t i = 0; i < BYTES + 16; i++)
                from[i] = value_at(i);
            struct job j = copy_of(to + 3, from + 16, BYTES);
            j.job.from.unknown = unknown;
            j.job.fills = fills;
            j.job.pattern = UINT64_C(0x1122334455667788);
            j.job.alone = skips ? yes : no;
            took[skips] = run(&rig, &j);
            CHECK_EQ(j.job.skipped, skips);
            CHECK(to[2] == 0 && to[3 + BYTES] == 0);
            if (!fills)
                CHECK(memcmp(to + 3, from + 16, BYTES) == 0);
            for (uint64_t i = 0; fills && i < BYTES; i++)
                if (to[3 + i] != (uint8_t)(j.job.pattern >> i % 8 * 8)) {
                    CHECK(false);
                    break;
                }
            for (uint64_t at = LINE; at < BYTES; at += 3 * MIB + 5 * LINE) {
                ask(&rig, &a, FABRIC_READ, to + at);
                CHECK_EQ(a.request.missed, 0);
            }
            if (unknown)
                free(from);
            rig_close(&rig);
        }
        double error = (double)took[1] / (double)took[0] - 1;
        printf("%s of %s memory: %.1f us, with parts left out %+.2f %%\n", fills ? "a fill" : "a copy",
               unknown ? "unknown" : "known", (double)took[0] / 1e6, 100 * error);
        CHECK(error > -0.01 && error < 0.01);
    }
}

/* ---- faults ---- */

static void test_fault(void)
{
    struct rig rig;
    rig_open(&rig, NULL, 0);
    uint8_t *from = take(&rig, MIB), *to = take(&rig, MIB);
    CHECK_EQ(memory_free(&rig.memory, from), 0);
    struct job j = copy_of(to, (void *)8192, 65536), next = copy_of(to, to + 65536, 4096);
    submit(&rig, &j, 0);
    submit(&rig, &next, 0);
    port_run(rig.port, PORT_NEVER, NULL, NULL);
    CHECK(j.end_ps && j.job.faulted && !j.job.fault_write && j.job.fault_address == 8192);
    CHECK(next.end_ps && !next.job.faulted);
    rig_close(&rig);
}

int main(void)
{
    test_bytes();
    test_start();
    test_port();
    test_outstanding();
    test_sharing();
    test_coherence();
    test_order();
    test_skipping();
    test_fault();
    return check_status();
}
