/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous compute engines in simulated time: each launches for one of its queues, all side by side, and
 * turns to another of its queues when the one has nothing more to launch.
 */
#include "rig.h"

enum { QUEUES = 6, ROUNDS = 64, SLACK = 100 /* cycles, of a launch and of fetches */ };

struct lane {
    struct ehp_queue_block *queue;
    ehp_signal done;
    struct left *left; /* of workgroup * RIG_WAVES + wave */
    struct {
        uint64_t out, function, memory;
    } *argument;
};

static void submit(struct rig *r, struct lane *q, unsigned groups, unsigned waves)
{
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    CHECK(ehp_code_kernel(r->code, "run", &kernel) == EHP_OK);
    q->argument->out = (uintptr_t)q->left;
    q->argument->function = rig_function(r, "nothing");
    q->argument->memory = (uintptr_t)r->memory;
    union ehp_packet p = {.dispatch = {.header = EHP_HEADER(EHP_PACKET_KERNEL_DISPATCH, 1, 2, 2),
                                       .setup = 1,
                                       .workgroup_size_x = (uint16_t)(waves * 64),
                                       .workgroup_size_y = 1,
                                       .workgroup_size_z = 1,
                                       .grid_size_x = groups * waves * 64,
                                       .grid_size_y = 1,
                                       .grid_size_z = 1,
                                       .kernel_object = kernel.object,
                                       .kernarg_address = q->argument,
                                       .completion_signal = q->done}};
    ehp_signal_store(q->done, 1);
    ehp_queue_submit(q->queue, &p);
}

static void wait_for(struct rig *r, struct lane *q)
{
    CHECK(ehp_signal_wait(q->done, EHP_COND_EQ, 0, r->slice_ns) == 0);
}

static uint64_t start(const struct lane *q, unsigned workgroup)
{
    return q->left[workgroup * RIG_WAVES].start;
}

/* Cycles from the first's start to the second's, when both come at once, on the XCD of the first workgroups.
 */
static int64_t apart(struct rig *r, struct lane *first, struct lane *second)
{
    for (int warm = 0; warm < 2; warm++) { /* the first has its ACE last */
        submit(r, second, 1, 1);
        wait_for(r, second);
        submit(r, first, 1, 1);
        wait_for(r, first);
    }
    submit(r, first, 1, 1);
    submit(r, second, 1, 1);
    wait_for(r, first);
    wait_for(r, second);
    return (int64_t)(start(second, 0) - start(first, 0));
}

int main(int argc, char **argv)
{
    struct rig r = {0};
    rig_open(&r, argc > 1 ? argv[1] : "kernels.hsaco", 1);
    unsigned aces = rig_chip(&r, "xcd.aces"), xcds = rig_chip(&r, "xcd.count"),
             cycles = rig_chip(&r, "cp.queue_switch") * rig_chip(&r, "chip.clock") / 1000;
    CHECK(aces == 4 && cycles > 3 * SLACK);
    struct lane q[QUEUES];
    for (unsigned i = 0; i < QUEUES; i++) {
        CHECK(ehp_queue_create(r.m, 0, 16, 1, &q[i].queue) == EHP_OK);
        CHECK(ehp_signal_create(r.m, 0, &q[i].done) == EHP_OK);
        q[i].left = rig_memory(r.m, sizeof(*q[i].left) * RIG_WAVES * ROUNDS * xcds);
        q[i].argument = rig_memory(r.m, sizeof(*q[i].argument));
    }
    /* Queues go round the ACEs: the fourth after it has the same. */
    for (unsigned i = 1; i < QUEUES; i++) {
        int64_t later = apart(&r, &q[0], &q[i]);
        if (i == aces)
            CHECK(later >= (int64_t)cycles && later <= (int64_t)(cycles + SLACK));
        else
            CHECK(later >= -SLACK && later <= SLACK);
    }
    /* One with many waves to launch keeps its ACE, and nobody else's. */
    apart(&r, &q[0], &q[aces]);
    apart(&r, &q[0], &q[1]);
    submit(&r, &q[0], ROUNDS * xcds, RIG_WAVES);
    submit(&r, &q[1], 1, 1);
    submit(&r, &q[aces], 1, 1);
    wait_for(&r, &q[0]);
    wait_for(&r, &q[1]);
    wait_for(&r, &q[aces]);
    int64_t launch = ROUNDS * RIG_WAVES, others = (int64_t)(start(&q[1], 0) - start(&q[0], 0)),
            same = (int64_t)(start(&q[aces], 0) - start(&q[1], 0));
    CHECK(others >= -SLACK && others <= SLACK);
    CHECK(same >= launch && same <= launch * 5 / 4 + (int64_t)cycles);
    for (unsigned i = 0; i < QUEUES; i++) {
        ehp_queue_destroy(q[i].queue);
        ehp_signal_destroy(q[i].done);
    }
    rig_close(&r);
    return check_status();
}
