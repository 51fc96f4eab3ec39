/* SPDX-License-Identifier: MIT */
/*
 * True use of memory: what hipMemGetInfo does not show.  A thread samples what
 * is touched; what HIP allocates is looked at besides whenever it changes, so
 * that no peak of it is missed.  When there are many samples, every other one goes.
 */
#include "hip/core/state.h"
#include "hip/observe/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "hip/observe/report.h"

#define USAGE_STEP_NS UINT64_C(5000000)

static const char *const usage_names[5] = {"device", "host", "managed", "registered", "process"};

static struct usage *usage(void)
{
    return &hip_state()->usage;
}

static uint64_t usage_sum(const struct usage_sample *s)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < 5; i++)
        sum += s->bytes[i];
    return sum;
}

static void usage_look(struct usage *u, bool keep)
{
    struct ehp_mem_use use = {.size = sizeof use};

    ehp_mem_use(u->machine, &use);
    pthread_mutex_lock(&u->lock);
    struct usage_sample now = {
        .seconds = (double)(ehp_timestamp(u->machine) - u->start) * 1e-8,
        .bytes = {use.upfront[EHP_MEM_DEVICE] + use.upfront[EHP_MEM_CODE], use.upfront[EHP_MEM_HOST],
                  use.upfront[EHP_MEM_MANAGED] + use.managed, use.upfront[EHP_MEM_REGISTERED], use.process}};
    if (usage_sum(&now) > usage_sum(&u->peak))
        u->peak = now;
    if (keep) {
        if (u->count == USAGE_SAMPLES) {
            for (size_t i = 0; i < USAGE_SAMPLES / 2; i++)
                u->sample[i] = u->sample[2 * i];
            u->count = USAGE_SAMPLES / 2;
            u->step *= 2;
        }
        u->sample[u->count++] = now;
    }
    pthread_mutex_unlock(&u->lock);
}

static void *usage_main(void *argument)
{
    struct usage *u = argument;

    while (!u->quit) {
        usage_look(u, true);
        struct timespec pause = {.tv_sec = (time_t)(u->step / 1000000000),
                                 .tv_nsec = (long)(u->step % 1000000000)};
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void hip_usage_changed(void)
{
    if (usage()->on)
        usage_look(usage(), false);
}

static void usage_report_samples(FILE *file)
{
    struct usage *u = usage();

    pthread_mutex_lock(&u->lock);
    fprintf(file, "seconds");
    for (size_t i = 0; i < 5; i++)
        fprintf(file, ",%s", usage_names[i]);
    fprintf(file, ",total\n");
    for (size_t i = 0; i < u->count; i++) {
        fprintf(file, "%.6f", u->sample[i].seconds);
        for (size_t k = 0; k < 5; k++)
            fprintf(file, ",%llu", (unsigned long long)u->sample[i].bytes[k]);
        fprintf(file, ",%llu\n", (unsigned long long)usage_sum(&u->sample[i]));
    }
    pthread_mutex_unlock(&u->lock);
}

/* A line for each of some moments: a bar of the total. */
static void usage_print_curve(FILE *file, const struct usage *u)
{
    enum { LINES = 12, WIDTH = 40 };
    double most = (double)usage_sum(&u->peak);

    for (size_t line = 0; line < LINES && line < u->count; line++) {
        size_t i = u->count <= LINES ? line : line * (u->count - 1) / (LINES - 1);
        double total = (double)usage_sum(&u->sample[i]);
        char bar[WIDTH + 1] = "";
        memset(bar, '#', most > 0 ? (size_t)(total / most * WIDTH) : 0);
        fprintf(file, "  %9.3f s %11.1f MiB  %s\n", u->sample[i].seconds, total / 1048576, bar);
    }
}

static void usage_report_peak(FILE *file)
{
    struct usage *u = usage();

    pthread_mutex_lock(&u->lock);
    fprintf(file, "memory in use: %.1f MiB at most, after %.3f s:", (double)usage_sum(&u->peak) / 1048576,
            u->peak.seconds);
    for (size_t i = 0; i < 5; i++)
        fprintf(file, "%s %s %.1f", i ? "," : "", usage_names[i], (double)u->peak.bytes[i] / 1048576);
    fprintf(file, "\n");
    usage_print_curve(file, u);
    pthread_mutex_unlock(&u->lock);
}

/* Before the reports are written for the last time. */
static void usage_at_exit(void)
{
    struct usage *u = usage();

    if (hip_forked())
        return;
    u->quit = true;
    pthread_join(u->thread, NULL);
    usage_look(u, true);
    u->on = false;
}

bool hip_usage_init(struct hip_runtime *runtime)
{
    struct usage *u = usage();
    const char *where = secure_getenv("EHP_MEMORY");

    if (!where || !*where)
        return true;
    u->machine = runtime->machine;
    u->start = ehp_timestamp(u->machine);
    u->step = USAGE_STEP_NS;
    usage_look(u, true);
    if (!hip_report_add("EHP_MEMORY", NULL, usage_report_peak) ||
        (strcmp(where, "-") != 0 && !hip_report_add("EHP_MEMORY", where, usage_report_samples)))
        return false;
    if (thread_start(&u->thread, usage_main, u) != 0)
        return false;
    u->on = true;
    atexit(usage_at_exit);
    at_quick_exit(usage_at_exit);
    return true;
}
