/* SPDX-License-Identifier: MIT */
/* A thread's ring, read by its core: records in their order, across the ring's end, and none that is not
 * complete. */
#include <stdlib.h>
#include <string.h>

#include "ccd/thread.h"
#include "check.h"

static const struct ehp_cpu_block load = {
    .accesses = 1, .words = 1, .instructions = 1, .access = {{.bytes = 8, .kind = EHP_CPU_READ}}};
static const struct ehp_cpu_block empty = {.instructions = 1};

/* As ehp_cpu_block() does, without publishing. */
static void write_record(struct ehp_cpu_thread *r, const struct ehp_cpu_block *block, uint64_t address)
{
    uint64_t place = r->at % EHP_CPU_RING;
    if (place + 1 + block->words > EHP_CPU_RING) {
        r->word[place] = EHP_CPU_WRAP;
        r->at += EHP_CPU_RING - place;
        place = 0;
    }
    r->word[place] = (uint64_t)(uintptr_t)block;
    if (block->words)
        r->word[place + 1] = address;
    r->at += 1 + block->words;
}

static struct cpu_thread *new_thread(uint64_t at)
{
    struct cpu_thread *t = calloc(1, sizeof(*t));
    if (!t)
        exit(1);
    cpu_thread_open(t, 0, NULL, 2, 32);
    t->state = CPU_THREAD_RUNS;
    t->ring.at = t->ring.head = t->ring.tail = at;
    return t;
}

static bool next_load(struct cpu_thread *t, uint64_t *address)
{
    struct core_op op = {0};
    while (t->program.next(&t->program, &op))
        if (op.kind == CORE_LOAD) {
            *address = op.address;
            return true;
        }
    return false;
}

/* Each record is read as soon as it is published, and the thread leaves at every place of the ring's end. */
static void test_end(void)
{
    for (uint64_t before = 0; before < 4; before++) {
        struct cpu_thread *t = new_thread(EHP_CPU_RING - before);
        uint64_t address = 0;
        for (unsigned i = 0; i < EHP_CPU_RING; i++) /* what was there the last time round */
            t->ring.word[i] = (uint64_t)(uintptr_t)&empty;
        write_record(&t->ring, &load, 0x1000);
        t->ring.head = t->ring.at;
        CHECK(next_load(t, &address));
        CHECK_EQ(address, 0x1000);
        t->state = CPU_THREAD_LEAVES;
        CHECK(!next_load(t, &address));
        CHECK_EQ(t->ring.tail, t->ring.at);
        free(t);
    }
}

/* The ring's end is published by itself: the record behind it is not there yet. */
static void test_end_alone(void)
{
    struct cpu_thread *t = new_thread(EHP_CPU_RING - 1);
    uint64_t address = 0;
    for (unsigned i = 0; i < EHP_CPU_RING; i++)
        t->ring.word[i] = (uint64_t)(uintptr_t)&load;
    t->ring.word[EHP_CPU_RING - 1] = EHP_CPU_WRAP;
    t->ring.at = t->ring.head = EHP_CPU_RING;
    t->state = CPU_THREAD_LEAVES;
    CHECK(!next_load(t, &address));
    CHECK_EQ(t->ring.tail, EHP_CPU_RING);
    free(t);
}

/* A load after another's value knows how many loads before it that was. */
static void test_sources(void)
{
    static struct {
        struct ehp_cpu_block block;
        struct ehp_cpu_access more[2];
    } three = {.block = {.accesses = 3,
                         .words = 3,
                         .instructions = 3,
                         .access = {{.number = 5, .kind = EHP_CPU_READ}}},
               .more = {{.kind = EHP_CPU_READ}, {.number = 5, .after = 5, .kind = EHP_CPU_READ}}};
    struct cpu_thread *t = new_thread(0);
    struct core_op op;
    unsigned after[6], n = 0;
    for (unsigned i = 0; i < 2; i++) {
        t->ring.word[4 * i] = (uint64_t)(uintptr_t)&three;
        t->ring.at += 4;
    }
    t->ring.head = t->ring.at;
    t->state = CPU_THREAD_LEAVES;
    while (t->program.next(&t->program, &op) && n < 6)
        after[n++] = op.after;
    CHECK_EQ(n, 6);
    const unsigned wanted[6] = {0, 0, 2, 0, 0, 2};
    for (unsigned i = 0; i < n; i++)
        CHECK_EQ(after[i], wanted[i]);
    free(t);
}

/* What comes behind an atomic load is not gone on with while it waits when it is the same word again. */
static void test_polls(void)
{
    static const struct ehp_cpu_block wait = {.accesses = 1,
                                              .words = 1,
                                              .instructions = 1,
                                              .access = {{.bytes = 8, .kind = EHP_CPU_ATOMIC_READ}}},
                                      store = {.accesses = 1,
                                               .words = 1,
                                               .instructions = 1,
                                               .access = {{.bytes = 8, .kind = EHP_CPU_ATOMIC_WRITE}}};
    static const struct {
        const struct ehp_cpu_block *block;
        uint64_t address;
        bool unforeseen, waits;
    } list[] = {
        {&wait, 0x1000, false, true},  {&load, 0x2000, false, false}, {&wait, 0x1008, false, true},
        {&store, 0x1010, false, true}, {&wait, 0x1020, false, true},  {&wait, 0x1028, false, true},
        {&wait, 0x1028, true, true},   {&wait, 0x1028, true, true},   {&store, 0x1028, false, true},
        {&wait, 0x1028, false, true},
    };
    struct cpu_thread *t = new_thread(0);
    struct core_op op;
    for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        write_record(&t->ring, list[i].block, list[i].address);
    t->ring.head = t->ring.at;
    t->state = CPU_THREAD_LEAVES;
    for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]) && CHECK(t->program.next(&t->program, &op));
         i++) {
        CHECK_EQ(op.unforeseen, list[i].unforeseen);
        CHECK_EQ(op.waits, list[i].waits);
        CHECK_EQ(op.kind, list[i].block == &store ? CORE_STORE : CORE_LOAD);
    }
    free(t);
}

/* A block that ends with a branch: what comes next is told where that went, and what decided it. */
static void test_branches(void)
{
    static const struct {
        struct ehp_cpu_block block;
        struct ehp_cpu_access goes;
    } of_load = {{.accesses = 1,
                  .words = 1,
                  .goes = 1,
                  .instructions = 2,
                  .access = {{.number = 9, .bytes = 8, .kind = EHP_CPU_READ}}},
                 {.number = 0x5678, .bytes = 0x1234, .after = 9, .kind = EHP_CPU_BRANCH}},
      of_wait = {{.accesses = 1,
                  .words = 1,
                  .goes = 1,
                  .instructions = 2,
                  .access = {{.bytes = 8, .kind = EHP_CPU_ATOMIC}}},
                 {.number = 1, .after = EHP_CPU_AFTER_WAIT, .kind = EHP_CPU_JUMP}};
    const struct ehp_cpu_block *const list[] = {&load, &of_load.block, &of_wait.block, &load};
    enum { LIST = sizeof(list) / sizeof(list[0]) };
    struct cpu_thread *t = new_thread(0);
    struct core_op op[LIST];
    for (unsigned i = 0; i < LIST; i++)
        write_record(&t->ring, list[i], 0x1000);
    t->ring.head = t->ring.at;
    t->state = CPU_THREAD_LEAVES;
    for (unsigned i = 0; i < LIST; i++)
        CHECK(t->program.next(&t->program, &op[i]));
    CHECK_EQ(op[0].branch, 0);
    CHECK_EQ(op[1].branch, 0);
    CHECK_EQ(op[2].branch, 0x12345678);
    CHECK_EQ(op[2].target, (uint32_t)(uintptr_t)&of_wait.block);
    CHECK_EQ(op[2].branch_after, 1);
    CHECK(!op[2].jump);
    CHECK_EQ(op[3].branch, 1);
    CHECK_EQ(op[3].branch_after, CORE_AFTER_WAIT);
    CHECK(op[3].jump);
    free(t);
}

/* A thread that reads a word until it changes: how it goes on, and the read, again and again. */
struct spinner {
    struct cpu_thread *thread;
    const struct ehp_cpu_block *goes, *read;
    uint64_t word;
    unsigned looks;
};

static void *spin(void *spinner)
{
    struct spinner *s = spinner;
    struct ehp_cpu_thread *ring = &s->thread->ring;
    const uint64_t address = (uint64_t)(uintptr_t)&s->word;
    write_record(ring, s->read, address);
    for (;;) {
        cpu_thread_wait(ring);
        s->looks++;
        const bool over = __atomic_load_n(&s->word, __ATOMIC_ACQUIRE) != 0;
        write_record(ring, s->goes, 0);
        if (over)
            break;
        write_record(ring, s->read, address);
    }
    __atomic_store_n(&ring->head, ring->at, __ATOMIC_RELEASE);
    cpu_thread_set(s->thread, CPU_THREAD_LEAVES);
    return NULL;
}

enum { READS = 300, OPS = 2 * READS };

/* What its core is told, until after so many reads the word changes; how often the thread has looked. */
static unsigned spun(bool again, struct core_op op[OPS])
{
    static const struct {
        struct ehp_cpu_block block;
        struct ehp_cpu_access goes;
    } goes = {{.goes = 1, .instructions = 2, .cycles = 3}, {.number = 7, .bytes = 1, .kind = EHP_CPU_BRANCH}};
    const struct ehp_cpu_block read = {
        .accesses = 1,
        .words = 1,
        .instructions = 1,
        .access = {{.bytes = 8, .kind = EHP_CPU_ATOMIC_READ, .flags = again ? EHP_CPU_AGAIN : 0}}};
    struct port *port = port_open(1, 1000, 1, NULL);
    struct cpu_thread *t = new_thread(0);
    struct spinner s = {.thread = t, .goes = &goes.block, .read = &read};
    pthread_t writer;
    unsigned n = 0, reads = 0;
    t->domain = port_domain(port, 0);
    if (!CHECK(pthread_create(&writer, NULL, spin, &s) == 0))
        return 0;
    for (; n < OPS && t->program.next(&t->program, &op[n]); n++) {
        CHECK(op[n].kind != CORE_LOAD || op[n].address == (uint64_t)(uintptr_t)&s.word);
        op[n].address = 0; /* it differs */
        op[n].target = op[n].target == (uint32_t)(uintptr_t)&read;
        reads += op[n].kind == CORE_LOAD;
        if (reads == READS)
            __atomic_store_n(&s.word, 1, __ATOMIC_RELEASE);
    }
    pthread_join(writer, NULL);
    CHECK_EQ(n, OPS);
    CHECK_EQ(reads, READS);
    free(t);
    port_close(port);
    return s.looks;
}

/* A core does the turns of such a loop by itself, which are the same. */
static void test_turns(void)
{
    static struct core_op asked[OPS], by_itself[OPS];
    CHECK_EQ(spun(false, asked), READS);
    const unsigned looks = spun(true, by_itself);
    CHECK(looks > 1 && looks < READS / 20);
    CHECK(memcmp(asked, by_itself, sizeof(asked)) == 0);
}

enum { TURNS = 20000, AWAY = 4096 };

/* Publishes a record behind the ring's end at some time while the core looks for one. */
static void *write_behind_end(void *thread)
{
    struct cpu_thread *t = thread;
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        while (__atomic_load_n(&t->ring.tail, __ATOMIC_ACQUIRE) != turn * EHP_CPU_RING - 1)
            __builtin_ia32_pause();
        for (unsigned pauses = (unsigned)(turn % 61); pauses > 0; pauses--)
            __builtin_ia32_pause();
        t->ring.at = turn * EHP_CPU_RING - 1;
        write_record(&t->ring, &load, AWAY + turn);
        __atomic_store_n(&t->ring.head, t->ring.at, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void test_end_meanwhile(void)
{
    struct cpu_thread *t = new_thread(0);
    pthread_t writer;
    unsigned wrong = 0;
    if (!CHECK(pthread_create(&writer, NULL, write_behind_end, t) == 0))
        return;
    for (uint64_t turn = 1; turn <= TURNS && !wrong; turn++) {
        uint64_t address = 0;
        t->ring.head = turn * EHP_CPU_RING - 1;
        __atomic_store_n(&t->ring.tail, turn * EHP_CPU_RING - 1, __ATOMIC_RELEASE);
        wrong += !next_load(t, &address) || address != AWAY + turn;
        t->block = NULL; /* it is read */
    }
    if (!CHECK_EQ(wrong, 0))
        return; /* the writer waits for ever */
    pthread_join(writer, NULL);
    free(t);
}

int main(void)
{
    test_end_meanwhile();
    test_end();
    test_end_alone();
    test_sources();
    test_polls();
    test_branches();
    test_turns();
    return check_status();
}
