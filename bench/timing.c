/* SPDX-License-Identifier: MIT */
/*
 * Speed of timing mode with every CU busy: wave-instructions per second of host
 * time, for kernels bound by the vector units and by memory, beside functional
 * mode in the same run and on two threads, medians of some turns; how much of a thread's time is serial,
 * between windows of simulated time, and how much two threads wait for each other.  Fails when simulated time
 * depends on the number of threads, or a hundredth is serial.
 *
 *   timing [chip [kernel [once]]]     once: only timing mode on one thread, for a profiler
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "engine/timed/timed.h"
#include "soc/machine.h"

enum { ITEMS = 256, WAVES = ITEMS / 64, CHAIN = 1 << 19 };

/* One and two threads in turns, as a machine's speed changes from second to second; odd: medians are told. */
enum { TURNS = 9 };

#define SERIAL 1.0 /* per cent, less than this */

static const struct row {
    const char *kernel, *what;
    unsigned groups; /* of each CU */
    unsigned rounds, shift;
} rows[] = {
    {"fma", "loop of v_fma_f32", 2, 60},
    {"copy", "a dword a lane", 40, 0},
    {"copy_wide", "four dwords a lane", 12, 0},
    {"chase", "a chain of 64 MiB for each wave", 2, 30},
    {"gather", "each lane a line of 4 MiB", 2, 8, 12},
    {"gather", "each lane a line of 64 MiB", 2, 8, 8},
};

struct run {
    uint64_t instructions, simulated_ns;
    double seconds, cpu; /* of all threads */
    struct port_times times;
};

static void dispatch_done(const struct ehp_dispatch *dispatch, void *user)
{
    ((struct run *)user)->simulated_ns = dispatch->end_ns - dispatch->start_ns;
}

static uint64_t instructions(struct bench *b)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ehp_stats_count(b->machine); i++) {
        struct ehp_stats s = {.size = sizeof(s)};
        if (ehp_stats_get(b->machine, i, &s) == EHP_OK)
            sum += s.instructions;
    }
    return sum;
}

static void *memory(struct bench *b, size_t bytes)
{
    void *p = NULL;
    if (ehp_mem_alloc(b->machine, 0, EHP_MEM_DEVICE, bytes, 0, &p) != EHP_OK)
        exit(1);
    memset(p, 0, bytes);
    return p;
}

/* On a new machine, so that simulated time is the same; the second of two launches, as the first one is spent
 * on memory that the host has not touched before. */
static struct run run(const char *chip, const struct row *row, bool timing, unsigned threads)
{
    struct bench b;
    struct run result = {0};
    bench_open_on(&b, chip, timing, threads, BENCH_TIMING_KERNELS);
    struct ehp_agent_info info = EHP_AGENT_INFO_INIT;
    ehp_agent_info(b.machine, 0, &info);
    unsigned groups = info.cus * row->groups;
    uint64_t arguments[3];
    uint32_t *from = memory(&b, (size_t)CHAIN * 128), *to = memory(&b, (size_t)CHAIN * 128);
    arguments[0] = (uint64_t)(uintptr_t)from;
    arguments[2] = (uint64_t)(uintptr_t)to;
    if (!strcmp(row->kernel, "chase")) { /* a full period: every line follows from every other */
        for (uint32_t i = 0; i < CHAIN; i++)
            from[(size_t)i * 32] = (i * 1664525 + 1013904223) % CHAIN;
        arguments[1] = row->rounds;
    } else {
        arguments[1] = row->rounds ? row->rounds | (uint64_t)row->shift << 32 : (uint64_t)(uintptr_t)to;
    }
    if (timing)
        ehp_set_dispatch_handler(b.machine, dispatch_done, &result);
    ehp_stats_enable(b.machine, true);
    bench_launch(&b, row->kernel, groups, ITEMS, arguments, 3);
    uint64_t before = instructions(&b);
    struct port *port = timing ? ((struct timed *)b.machine->cp.engine)->port : NULL;
    if (port)
        port_measure(port, &result.times);
    double start = bench_seconds(), cpu = bench_cpu_seconds();
    bench_launch(&b, row->kernel, groups, ITEMS, arguments, 3);
    result.seconds = bench_seconds() - start;
    result.cpu = bench_cpu_seconds() - cpu;
    if (port)
        port_measure(port, NULL);
    result.instructions = instructions(&b) - before;
    bench_close(&b);
    return result;
}

/* Of the time in which windows were run, per cent. */
static double share(const struct port_times *times, enum port_part part)
{
    const uint64_t *ns = times->ns;
    return 100 * (double)ns[part] / (double)(ns[PORT_BETWEEN] + ns[PORT_WITHIN] + ns[PORT_WAITING]);
}

int main(int argc, char **argv)
{
    const char *chip = argc > 1 ? argv[1] : "mi300a";
    int status = 0;
    printf("timing mode, %s, every CU busy; million wave-instructions a second\n", chip);
    printf("%-10s %-31s %8s %8s %9s %5s %9s %6s %5s %10s\n", "kernel", "", "per core", "1 thread",
           "2 threads", "ratio", "of funct.", "serial", "waits", "simulated");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        if (argc > 2 && strcmp(argv[2], row->kernel))
            continue;
        struct run one = run(chip, row, true, 1);
        double n = (double)one.instructions;
        if (argc > 3) {
            printf("%-10s %.0f instructions, %.3f s, %.2f us\n", row->kernel, n, one.cpu,
                   (double)one.simulated_ns * 1e-3);
            continue;
        }
        double cpu[TURNS], seconds[TURNS], both[TURNS], ratio[TURNS], serial[TURNS], waits[TURNS];
        struct run functional = run(chip, row, false, 1), two;
        for (int turn = 0; turn < TURNS; turn++) {
            one = run(chip, row, true, 1);
            two = run(chip, row, true, 2);
            cpu[turn] = one.cpu;
            seconds[turn] = one.seconds;
            both[turn] = two.seconds;
            ratio[turn] = one.seconds / two.seconds;
            serial[turn] = share(&one.times, PORT_BETWEEN);
            waits[turn] = share(&two.times, PORT_WAITING);
            if (one.simulated_ns == two.simulated_ns && one.instructions == two.instructions &&
                one.instructions == functional.instructions)
                continue;
            printf("  two threads: %.2f us, %llu instructions and not %llu\n",
                   (double)two.simulated_ns * 1e-3, (unsigned long long)two.instructions,
                   (unsigned long long)one.instructions);
            status = 1;
        }
        double core = bench_median(cpu, TURNS), between = bench_median(serial, TURNS);
        printf("%-10s %-31s %8.2f %8.2f %9.2f %5.2f %7.2f %% %4.2f %% %3.0f %% %7.2f us\n", row->kernel,
               row->what, n / core * 1e-6, n / bench_median(seconds, TURNS) * 1e-6,
               n / bench_median(both, TURNS) * 1e-6, bench_median(ratio, TURNS), 100 * functional.cpu / core,
               between, bench_median(waits, TURNS), (double)one.simulated_ns * 1e-3);
        if (between >= SERIAL)
            status = 1;
    }
    return status;
}
