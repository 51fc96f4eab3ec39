/* SPDX-License-Identifier: MIT */
/*
 * The packet processor prepares a queue's next packet while the last one's kernel runs: its firmware's time
 * is the interval of launches that are shorter, one packet after another for each ACE, and nothing beside
 * longer ones.
 */
#include "timed_machine.h"

enum { WARM = 39, COUNTED = 8, FIRMWARE = 2000, MORE = 100, LONG = 1600 };

static void submit(struct rig *r, struct ehp_queue_block *queue, unsigned groups, bool barrier,
                   ehp_signal done)
{
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    CHECK(ehp_code_kernel(r->code, "run", &kernel) == EHP_OK);
    union ehp_packet p = {.dispatch = {.header = EHP_HEADER(EHP_PACKET_KERNEL_DISPATCH, barrier, 2, 2),
                                       .setup = 1,
                                       .workgroup_size_x = RIG_WAVES * 64,
                                       .workgroup_size_y = 1,
                                       .workgroup_size_z = 1,
                                       .grid_size_x = groups * RIG_WAVES * 64,
                                       .grid_size_y = 1,
                                       .grid_size_z = 1,
                                       .kernel_object = kernel.object,
                                       .kernarg_address = r->argument,
                                       .completion_signal = done}};
    ehp_queue_submit(queue, &p);
}

/* Nanoseconds from a launch to the next of so many queues in turn, when code is in every cache. */
static double interval(const char *hsaco, unsigned firmware, unsigned groups, bool barrier, unsigned queues)
{
    struct rig r = {0};
    rig_open_cp(&r, hsaco, "packet", firmware);
    struct ehp_queue_block *queue[4];
    for (unsigned i = 0; i < queues; i++)
        CHECK(ehp_queue_create(r.m, 0, 64, 1, &queue[i]) == EHP_OK);
    r.argument->out = (uintptr_t)rig_memory(r.m, sizeof(*r.left) * RIG_WAVES * groups);
    r.argument->function = rig_function(&r, "nothing");
    r.argument->memory = (uintptr_t)r.memory;
    ehp_signal begun, none = {0};
    CHECK(ehp_signal_create(r.m, 1, &begun) == EHP_OK);
    ehp_signal_store(r.done, 1);
    /* Many workgroups warm all CUs up at once. */
    const unsigned warm = groups < LONG ? WARM : 1, launches = warm + COUNTED + 1;
    for (unsigned i = 0; i < launches; i++)
        submit(&r, queue[i % queues], groups, barrier, i == warm ? begun : i == launches - 1 ? r.done : none);
    rig_wait(&r);
    const struct ehp_signal_block *first = (const void *)(uintptr_t)begun.handle,
                                  *last = (const void *)(uintptr_t)r.done.handle;
    double ticks = (double)(last->start_ts - first->start_ts);
    for (unsigned i = 0; i < queues; i++)
        ehp_queue_destroy(queue[i]);
    ehp_signal_destroy(begun);
    rig_close(&r);
    return ticks * 10 / COUNTED;
}

static bool near(double a, double b, double slack)
{
    return a - b < slack && b - a < slack;
}

int main(int argc, char **argv)
{
    const char *hsaco = argc > 1 ? argv[1] : "kernels.hsaco";
    double brief = interval(hsaco, FIRMWARE, 6, true, 1);
    CHECK(brief > FIRMWARE + 200 &&
          brief < FIRMWARE + 500); /* the packet and the descriptor are read before */
    CHECK(near(interval(hsaco, FIRMWARE + MORE, 6, true, 1), brief + MORE, 4));
    CHECK(near(interval(hsaco, FIRMWARE, 6, false, 1), brief,
               4)); /* also where nothing waits for the last one */
    /* The firmware is done before the kernel is. */
    double lengthy = interval(hsaco, FIRMWARE, LONG, true, 1);
    CHECK(lengthy > brief + 2 * MORE);
    CHECK(near(interval(hsaco, FIRMWARE + MORE, LONG, true, 1), lengthy, 50)); /* memory's refresh */
    /* Without it, short ones follow when the last has ended, and all XCDs know. */
    double least = interval(hsaco, 0, 6, true, 1);
    CHECK(least > 800 && least < FIRMWARE);
    CHECK(near(interval(hsaco, MORE, 6, true, 1), least, 50));
    /* Two queues of two ACEs: each has firmware of its own. */
    CHECK(near(2 * interval(hsaco, FIRMWARE, 6, true, 2), brief, 4));
    printf("%.0f ns, long ones %.0f, without firmware %.0f\n", brief, lengthy, least);
    return check_status();
}
