/* SPDX-License-Identifier: MIT */
/* Simulated time goes on for who waits, also if he comes just as the thread that runs it wakes by itself. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "ehp/ehp.h"
#include "engine/timed/timed.h"
#include "soc/machine.h"

enum { ROUNDS = 8 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *wait_for(void *done)
{
    ehp_signal_wait(*(ehp_signal *)done, EHP_COND_EQ, 0, UINT64_MAX);
    return NULL;
}

/*
 * The thread looks for the host every few ms while there is work on its way and nobody waits.  Of those that
 * want the lock, the one that has waited for it longest gets it first: here who waits for the signal.
 */
static double wait_late(struct timed *timed, struct ehp_queue_block *queue, useconds_t before)
{
    pthread_t waiter;
    ehp_signal done;
    CHECK(ehp_signal_create(machine_of(timed->engine.cp), 1, &done) == EHP_OK);
    union ehp_packet packet = {
        .barrier = {.header = EHP_HEADER(EHP_PACKET_BARRIER_AND, 1, 0, 0), .completion_signal = done}};
    ehp_queue_submit(queue, &packet);
    usleep(before);
    pthread_mutex_lock(&timed->lock);
    CHECK_EQ(pthread_create(&waiter, NULL, wait_for, &done), 0);
    usleep(30000);
    double start = now();
    pthread_mutex_unlock(&timed->lock);
    pthread_join(waiter, NULL);
    ehp_signal_destroy(done);
    return now() - start;
}

int main(void)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    struct ehp_queue_block *queue;
    ehp_machine *m;
    options.timing = true;
    options.chip = "mi300a";
    if (ehp_open(&options, &m) != EHP_OK) {
        fprintf(stderr, "%s\n", options.error);
        return 1;
    }
    CHECK(ehp_queue_create(m, 0, 16, 1, &queue) == EHP_OK);
    double worst = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double took = wait_late((struct timed *)(void *)m->cp.engine, queue, 1000 * (i + 1));
        worst = took > worst ? took : worst;
    }
    CHECK(worst < 1); /* after two seconds of sleep time goes on by itself */
    printf("at most %.3f s\n", worst);
    ehp_queue_destroy(queue);
    ehp_close(m);
    return check_status();
}
