/* SPDX-License-Identifier: MIT */
/* Queues and signals without kernels: order, barriers, agent requests, waiting. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "ehp/ehp.h"

static ehp_machine *open_machine(void)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    options.threads = 2;
    ehp_machine *m = NULL;
    if (!CHECK(ehp_open(&options, &m) == EHP_OK)) {
        fprintf(stderr, "%s\n", options.error);
        exit(1);
    }
    return m;
}

static ehp_signal signal_with(ehp_machine *m, int64_t value)
{
    ehp_signal s = {0};
    CHECK(ehp_signal_create(m, value, &s) == EHP_OK);
    return s;
}

static void pause_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

static void submit_agent(struct ehp_queue_block *q, uint16_t type, bool barrier, uint64_t a, uint64_t b,
                         uint64_t c, uint64_t d, ehp_signal done)
{
    union ehp_packet p = {.agent = {.header = EHP_HEADER(EHP_PACKET_AGENT_DISPATCH, barrier, 2, 2),
                                    .type = type,
                                    .arg = {a, b, c, d},
                                    .completion_signal = done}};
    ehp_queue_submit(q, &p);
}

static void submit_barrier(struct ehp_queue_block *q, int type, bool barrier, const ehp_signal *deps,
                           int count, ehp_signal done)
{
    union ehp_packet p = {.barrier = {.header = EHP_HEADER(type, barrier, 2, 2), .completion_signal = done}};
    for (int i = 0; i < count; i++)
        p.barrier.dep_signal[i] = deps[i];
    ehp_queue_submit(q, &p);
}

/* A full queue refuses what is offered, at once or after a while, and takes it when there is room. */
static void test_offers(ehp_machine *m)
{
    struct ehp_queue_block *q;
    CHECK(ehp_queue_create(m, 0, 16, 1, &q) == EHP_OK);
    ehp_signal gate = signal_with(m, 1), done = signal_with(m, 17);
    union ehp_packet p = {.barrier = {.header = EHP_HEADER(EHP_PACKET_BARRIER_AND, 1, 2, 2),
                                      .dep_signal = {gate},
                                      .completion_signal = done}};
    int taken = 0;
    while (taken < 20 && ehp_queue_offer(q, &p, 0))
        taken++;
    CHECK_EQ(taken, 16);
    CHECK(!ehp_queue_offer(q, &p, 1000000));
    CHECK_EQ(q->write_dispatch_id, 16);
    ehp_signal_store(gate, 0);
    CHECK(ehp_queue_offer(q, &p, UINT64_MAX));
    CHECK_EQ(ehp_signal_wait(done, EHP_COND_EQ, 0, UINT64_C(5000000000)), 0);
    ehp_queue_destroy(q);
    ehp_signal_destroy(gate);
    ehp_signal_destroy(done);
}

static void test_copy_and_fill(ehp_machine *m, struct ehp_queue_block *q)
{
    uint32_t from[1000], to[1000];
    for (uint32_t i = 0; i < 1000; i++)
        from[i] = i * 7;
    ehp_signal done = signal_with(m, 1);
    submit_agent(q, EHP_AGENT_COPY, true, (uintptr_t)to, (uintptr_t)from, sizeof(from), 0, done);
    CHECK_EQ(ehp_signal_wait(done, EHP_COND_EQ, 0, 1000000000), 0);
    CHECK(!memcmp(from, to, sizeof(from)));
    ehp_signal_store(done, 1);
    submit_agent(q, EHP_AGENT_FILL, true, (uintptr_t)to, 0x12345678, 4, 500, done);
    ehp_signal_wait(done, EHP_COND_EQ, 0, 1000000000);
    CHECK_EQ(to[499], 0x12345678);
    CHECK_EQ(to[500], 3500);
    const struct ehp_signal_block *block = (const void *)(uintptr_t)done.handle;
    CHECK(block->start_ts && block->end_ts >= block->start_ts);

    /* A 3D copy of 2 slices of 3 rows of 8 bytes between different pitches. */
    uint8_t a[2][4][16], b[2][3][8];
    for (unsigned i = 0; i < 2 * 4 * 16; i++)
        ((uint8_t *)a)[i] = (uint8_t)i;
    struct ehp_copy_3d c = {.dst = b,
                            .src = a,
                            .dst_pitch = 8,
                            .dst_slice = 24,
                            .src_pitch = 16,
                            .src_slice = 64,
                            .width = 8,
                            .height = 3,
                            .depth = 2};
    ehp_signal_store(done, 1);
    submit_agent(q, EHP_AGENT_COPY_3D, true, (uintptr_t)&c, 0, 0, 0, done);
    ehp_signal_wait(done, EHP_COND_EQ, 0, 1000000000);
    CHECK_EQ(b[1][2][7], a[1][2][7]);
    CHECK_EQ(b[0][1][0], a[0][1][0]);
    ehp_signal_destroy(done);
}

static void test_barrier_and(ehp_machine *m, struct ehp_queue_block *q)
{
    ehp_signal deps[2] = {signal_with(m, 1), signal_with(m, 1)}, done = signal_with(m, 1);
    submit_barrier(q, EHP_PACKET_BARRIER_AND, false, deps, 2, done);
    pause_ms(20);
    CHECK_EQ(ehp_signal_load(done), 1);
    ehp_signal_store(deps[0], 0);
    pause_ms(20);
    CHECK_EQ(ehp_signal_load(done), 1);
    ehp_signal_store(deps[1], 0);
    CHECK_EQ(ehp_signal_wait(done, EHP_COND_EQ, 0, 1000000000), 0);
    for (int i = 0; i < 2; i++)
        ehp_signal_destroy(deps[i]);
    ehp_signal_destroy(done);
}

static void test_barrier_or(ehp_machine *m, struct ehp_queue_block *q)
{
    ehp_signal deps[2] = {signal_with(m, 1), signal_with(m, 1)}, done = signal_with(m, 1);
    submit_barrier(q, EHP_PACKET_BARRIER_OR, false, deps, 2, done);
    pause_ms(10);
    CHECK_EQ(ehp_signal_load(done), 1);
    ehp_signal_store(deps[1], 0);
    CHECK_EQ(ehp_signal_wait(done, EHP_COND_EQ, 0, 1000000000), 0);
    for (int i = 0; i < 2; i++)
        ehp_signal_destroy(deps[i]);
    ehp_signal_destroy(done);
}

/* A slow host call, then a fill: with the barrier bit the fill waits, without it does not. */
struct slow {
    const volatile uint32_t *watched;
    uint32_t seen;
};

static void slow_call(void *user)
{
    struct slow *s = user;
    pause_ms(40);
    s->seen = *s->watched;
}

static void test_barrier_bit(ehp_machine *m, struct ehp_queue_block *q)
{
    for (int barrier = 0; barrier < 2; barrier++) {
        uint32_t word = 0;
        struct slow slow = {.watched = &word};
        ehp_signal done = signal_with(m, 2);
        submit_agent(q, EHP_AGENT_CALL, true, (uintptr_t)slow_call, (uintptr_t)&slow, 0, 0, done);
        submit_agent(q, EHP_AGENT_FILL, barrier, (uintptr_t)&word, 9, 4, 1, done);
        ehp_signal_wait(done, EHP_COND_EQ, 0, 1000000000);
        CHECK_EQ(slow.seen, barrier ? 0 : 9);
        CHECK_EQ(word, 9);
        ehp_signal_destroy(done);
    }
}

static void test_wait_value(ehp_machine *m, struct ehp_queue_block *q)
{
    static uint64_t
        word; /* the packet's arguments are addresses: the compiler must not keep it in a register */
    uint32_t result = 0;
    ehp_signal done = signal_with(m, 1), null = {0};
    __atomic_store_n(&word, 4, __ATOMIC_SEQ_CST);
    submit_agent(q, EHP_AGENT_WAIT_VALUE, true, (uintptr_t)&word, 5, UINT64_MAX, 8, null); /* >= */
    submit_agent(q, EHP_AGENT_WRITE_VALUE, true, (uintptr_t)&result, 77, 4, 0, done);
    pause_ms(10);
    CHECK_EQ(__atomic_load_n(&result, __ATOMIC_SEQ_CST), 0);
    __atomic_store_n(&word, 5, __ATOMIC_SEQ_CST); /* silently: the processor looks by itself */
    ehp_signal_wait(done, EHP_COND_EQ, 0, 1000000000);
    CHECK_EQ(__atomic_load_n(&result, __ATOMIC_SEQ_CST), 77);
    ehp_signal_destroy(done);
}

/* More packets than the ring has places, from two threads. */
static void *submit_many(void *argument)
{
    struct ehp_queue_block *q = ((void **)argument)[0];
    ehp_signal *done = ((void **)argument)[1];
    for (int i = 0; i < 500; i++)
        submit_barrier(q, EHP_PACKET_BARRIER_AND, true, NULL, 0, *done);
    return NULL;
}

static void test_full_ring(ehp_machine *m)
{
    struct ehp_queue_block *q;
    CHECK(ehp_queue_create(m, 0, 8, 1, &q) == EHP_OK);
    ehp_signal done = signal_with(m, 1000);
    void *argument[2] = {q, &done};
    pthread_t thread;
    pthread_create(&thread, NULL, submit_many, argument);
    submit_many(argument);
    pthread_join(thread, NULL);
    CHECK_EQ(ehp_signal_wait(done, EHP_COND_EQ, 0, UINT64_C(5000000000)), 0);
    CHECK_EQ(q->read_dispatch_id, 1000);
    ehp_queue_destroy(q);
    ehp_signal_destroy(done);
}

/* What waits in the one is in nobody's way in the other, which is as long. */
static void test_beside(ehp_machine *m)
{
    struct ehp_queue_block *q, *copies;
    uint32_t from = 7, to = 0;
    CHECK(ehp_queue_create(m, 0, 8, 1, &q) == EHP_OK);
    CHECK(ehp_queue_beside(q, &copies) == EHP_OK);
    CHECK_EQ(copies->hsa.size, 8);
    ehp_signal held = signal_with(m, 1), behind = signal_with(m, 1), done = signal_with(m, 1);
    submit_barrier(q, EHP_PACKET_BARRIER_AND, true, &held, 1, behind);
    submit_agent(copies, EHP_AGENT_COPY, true, (uintptr_t)&to, (uintptr_t)&from, 4, 0, done);
    CHECK_EQ(ehp_signal_wait(done, EHP_COND_EQ, 0, UINT64_C(5000000000)), 0);
    CHECK_EQ(to, 7);
    CHECK_EQ(ehp_signal_load(behind), 1);
    ehp_signal_store(held, 0);
    CHECK_EQ(ehp_signal_wait(behind, EHP_COND_EQ, 0, UINT64_C(5000000000)), 0);
    ehp_queue_destroy(copies);
    ehp_queue_destroy(q);
    ehp_signal_destroy(held);
    ehp_signal_destroy(behind);
    ehp_signal_destroy(done);
}

static void count_fault(const struct ehp_fault *fault, void *user)
{
    int *count = user;
    count[0]++;
    count[1] = fault->kind;
}

static void test_bad_packets(ehp_machine *m)
{
    int count[2] = {0, 0};
    ehp_set_fault_handler(m, count_fault, count);
    struct ehp_queue_block *q;
    CHECK(ehp_queue_create(m, 0, 16, 1, &q) == EHP_OK);
    ehp_signal done = signal_with(m, 2);
    union ehp_packet p = {.dispatch = {.header = EHP_HEADER(EHP_PACKET_KERNEL_DISPATCH, 1, 2, 2),
                                       .setup = 1,
                                       .workgroup_size_x = 64,
                                       .workgroup_size_y = 1,
                                       .workgroup_size_z = 1,
                                       .grid_size_x = 64,
                                       .grid_size_y = 1,
                                       .grid_size_z = 1,
                                       .kernel_object = 0x1000,
                                       .completion_signal = done}};
    ehp_queue_submit(q, &p);
    submit_barrier(q, EHP_PACKET_BARRIER_AND, true, NULL, 0,
                   done); /* completes though the queue is inactive */
    CHECK_EQ(ehp_signal_wait(done, EHP_COND_EQ, 0, 1000000000), 0);
    CHECK_EQ(count[0], 1);
    CHECK_EQ(count[1], EHP_FAULT_PACKET);
    struct ehp_fault fault;
    CHECK(ehp_queue_fault(q, &fault) == EHP_OK);
    CHECK(strstr(fault.text, "0x1000") != NULL);
    ehp_queue_destroy(q);

    /* A copy through a wild pointer is a fault of that queue, not the end of the process. */
    CHECK(ehp_queue_create(m, 0, 16, 1, &q) == EHP_OK);
    ehp_signal_store(done, 1);
    uint32_t word;
    submit_agent(q, EHP_AGENT_COPY, true, (uintptr_t)&word, 64, 4, 0, done);
    ehp_signal_wait(done, EHP_COND_EQ, 0, 1000000000);
    CHECK_EQ(count[0], 2);
    CHECK_EQ(count[1], EHP_FAULT_MEMORY);
    ehp_queue_destroy(q);
    ehp_signal_destroy(done);
}

/* What one packet asks for is refused, and says why. */
static void refused(ehp_machine *m, const struct ehp_kernel_dispatch_packet *dispatch, int kind,
                    const char *why)
{
    int count[2] = {0, 0};
    struct ehp_queue_block *q;
    struct ehp_fault fault;
    ehp_set_fault_handler(m, count_fault, count);
    CHECK(ehp_queue_create(m, 0, 16, 1, &q) == EHP_OK);
    ehp_signal done = signal_with(m, 1);
    union ehp_packet p = {.dispatch = *dispatch};
    p.dispatch.completion_signal = done;
    ehp_queue_submit(q, &p);
    CHECK_EQ(ehp_signal_wait(done, EHP_COND_EQ, 0, UINT64_C(5000000000)), 0);
    CHECK_EQ(count[0], 1);
    CHECK_EQ(count[1], kind);
    if (CHECK(ehp_queue_fault(q, &fault) == EHP_OK) && !CHECK(strstr(fault.text, why)))
        fprintf(stderr, "%s\n", fault.text);
    ehp_queue_destroy(q);
    ehp_signal_destroy(done);
}

/* Sizes that wrap to small ones in 32 or 64 bits. */
static void test_sizes(bool timing, const char *path)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    struct ehp_queue_block *q;
    ehp_machine *m;
    ehp_code *code;
    static char image[1 << 16];
    void *memory;
    options.threads = 1;
    options.timing = timing;
    FILE *file = fopen(path, "rb");
    size_t bytes = file ? fread(image, 1, sizeof(image), file) : 0;
    if (!CHECK(bytes) || !CHECK(ehp_open(&options, &m) == EHP_OK))
        exit(1);
    fclose(file);
    CHECK(ehp_code_load(m, 0, image, bytes, &code) == EHP_OK);
    CHECK(ehp_code_kernel(code, "hidden", &kernel) == EHP_OK);
    const struct ehp_kernel_dispatch_packet good = {.header = EHP_HEADER(EHP_PACKET_KERNEL_DISPATCH, 1, 2, 2),
                                                    .setup = 3,
                                                    .workgroup_size_x = 64,
                                                    .workgroup_size_y = 1,
                                                    .workgroup_size_z = 1,
                                                    .grid_size_x = 64,
                                                    .grid_size_y = 1,
                                                    .grid_size_z = 1,
                                                    .kernel_object = kernel.object};
    struct ehp_kernel_dispatch_packet p = good;
    p.workgroup_size_x = 1;
    p.grid_size_x = p.grid_size_y = 1u << 31;
    p.grid_size_z = 4;
    refused(m, &p, EHP_FAULT_PACKET, "more than 2^63");
    p.grid_size_x = p.grid_size_y = p.grid_size_z = UINT32_MAX;
    refused(m, &p, EHP_FAULT_PACKET, "more than 2^63");
    p = good;
    p.group_segment_size = UINT32_MAX;
    refused(m, &p, EHP_FAULT_RESOURCES, "4294967295 bytes of LDS");
    p = good;
    p.private_segment_size = UINT32_MAX;
    refused(m, &p, EHP_FAULT_NO_MEMORY, "4294967295 bytes of scratch");
    CHECK(ehp_queue_create(m, 0, 1u << 31, 1, &q) == EHP_ERR_INVALID);
    CHECK(ehp_queue_create(m, 0, 2 * EHP_QUEUE_PACKETS_MAX, 1, &q) == EHP_ERR_INVALID);
    CHECK(ehp_queue_create(m, 0, EHP_QUEUE_PACKETS_MAX, 1, &q) == EHP_OK);
    ehp_queue_destroy(q);
    CHECK(ehp_mem_alloc(m, 0, 99, 4096, 0, &memory) == EHP_ERR_INVALID);
    CHECK(ehp_mem_alloc(m, 0, -1, 4096, 0, &memory) == EHP_ERR_INVALID);
    CHECK(ehp_mem_register(m, image, UINT64_MAX) == EHP_ERR_INVALID);
    CHECK(ehp_mem_register(m, image, UINT64_MAX - (uintptr_t)image) == EHP_ERR_INVALID);
    ehp_code_unload(code);
    ehp_close(m);
}

static void test_timeout(ehp_machine *m)
{
    ehp_signal s = signal_with(m, 3);
    CHECK_EQ(ehp_signal_wait(s, EHP_COND_EQ, 0, 5000000), 3);
    CHECK_EQ(ehp_signal_add(s, -3), 3);
    CHECK_EQ(ehp_signal_wait(s, EHP_COND_LT, 1, 5000000), 0);
    ehp_signal_destroy(s);
}

static void touch(void *at)
{
    *(volatile int *)at = 1;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    int here = 0;
    CHECK_EQ(ehp_mem_try(touch, (void *)64), EHP_ERR_FAULT); /* whatever has happened before */
    CHECK_EQ(ehp_mem_try(touch, &here), EHP_OK);
    CHECK_EQ(here, 1);
    ehp_machine *m = open_machine();
    struct ehp_queue_block *q;
    CHECK(ehp_queue_create(m, 0, 64, 1, &q) == EHP_OK);
    CHECK(ehp_queue_create(m, 0, 63, 1, &q) == EHP_ERR_INVALID);
    CHECK(ehp_queue_create(m, 9, 64, 1, &q) == EHP_ERR_INVALID);
    test_copy_and_fill(m, q);
    test_barrier_and(m, q);
    test_barrier_or(m, q);
    test_barrier_bit(m, q);
    test_wait_value(m, q);
    test_full_ring(m);
    test_offers(m);
    test_beside(m);
    test_bad_packets(m);
    test_timeout(m);
    ehp_queue_destroy(q);
    ehp_close(m);
    test_sizes(false, argv[1]);
    test_sizes(true, argv[1]);
    return check_status();
}
