/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous compute engines in simulated time: each launches for one of its queues, all side by side, and
 * turns to another of its queues when the one has nothing more to launch.
 */
#include "timed_machine.h"

enum {
    QUEUES = 6,
    ROUNDS = 512,
    SLACK = 100, /* cycles, of a launch and of fetches */
    SOONER = 8   /* the same, when the first has fetched for both */
};

static uint64_t start(const struct rig *q, unsigned workgroup)
{
    return q->left[workgroup * RIG_WAVES].start;
}

/* Cycles from the first's start to the second's, when both come at once, on the XCD of the first workgroups.
 */
static int64_t apart(struct rig *first, struct rig *second)
{
    for (int warm = 0; warm < 2; warm++) { /* the first has its ACE last */
        rig_submit(second, "nothing", 1, 1);
        rig_wait(second);
        rig_submit(first, "nothing", 1, 1);
        rig_wait(first);
    }
    rig_submit(first, "nothing", 1, 1);
    rig_submit(second, "nothing", 1, 1);
    rig_wait(first);
    rig_wait(second);
    return (int64_t)(start(second, 0) - start(first, 0));
}

int main(int argc, char **argv)
{
    struct rig r = {0};
    rig_open(&r, argc > 1 ? argv[1] : "kernels.hsaco", 1);
    unsigned aces = rig_chip(&r, "xcd.aces"), xcds = rig_chip(&r, "xcd.count"),
             cycles = rig_chip(&r, "cp.queue_switch") * rig_chip(&r, "chip.clock") / 1000;
    CHECK(aces == 4 && cycles > 3 * SLACK);
    /* Its firmware sees to the packets of its queues one after another. */
    const unsigned prepared = rig_chip(&r, "cp.packet") * rig_chip(&r, "chip.clock") / 1000;
    struct rig q[QUEUES]; /* of one machine, with a queue each */
    for (unsigned i = 0; i < QUEUES; i++) {
        q[i] = r;
        CHECK(ehp_queue_create(r.m, 0, 16, 1, &q[i].queue) == EHP_OK);
        CHECK(ehp_signal_create(r.m, 0, &q[i].done) == EHP_OK);
        q[i].left = rig_memory(r.m, sizeof(*q[i].left) * RIG_WAVES * ROUNDS * xcds);
        q[i].argument = rig_memory(r.m, sizeof(*q[i].argument));
    }
    /* Queues go round the ACEs: the fourth after it has the same. */
    for (unsigned i = 1; i < QUEUES; i++) {
        int64_t later = apart(&q[0], &q[i]);
        if (i == aces)
            CHECK(later >= (int64_t)(prepared + cycles - SOONER) &&
                  later <= (int64_t)(prepared + cycles + SLACK));
        else
            CHECK(later >= -SLACK && later <= SLACK);
    }
    /* One with many waves to launch keeps its ACE, and nobody else's. */
    apart(&q[0], &q[aces]);
    apart(&q[0], &q[1]);
    rig_submit(&q[0], "nothing", ROUNDS * xcds, RIG_WAVES);
    rig_submit(&q[1], "nothing", 1, 1);
    rig_submit(&q[aces], "nothing", 1, 1);
    rig_wait(&q[0]);
    rig_wait(&q[1]);
    rig_wait(&q[aces]);
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
