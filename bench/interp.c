/* SPDX-License-Identifier: MIT */
/*
 * Speed of the interpreter, of launches and of memory, each beside a reference
 * of the host in the same run.  Rates of a core count the time that cores spent
 * on it, so that other programs on the machine do not count; how threads scale
 * can only be seen on the clock.
 *
 *   interp [kernels.hsaco]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"

enum { ITEMS = 256, GROUPS = 64 };

struct row {
    const char *kernel;
    double per_round; /* wave-instructions of a loop round, loop control included */
};

static const struct row rows[] = {
    {"fma_f32", 64 + 3},    {"add_f32", 64 + 3},      {"mul_f32_scalar", 64 + 3}, {"fma_half", 64 + 3},
    {"add_u32", 64 + 3},    {"mul_lo_u32", 64 + 3},   {"lshl_add_u32", 64 + 3},   {"and_or_b32", 64 + 3},
    {"add_co_u32", 64 + 3}, {"cmp_cndmask", 192 + 3}, {"fma_f64", 64 + 3},        {"add_f16", 64 + 3},
    {"pk_fma_f16", 64 + 3}, {"rcp_f32", 64 + 3},      {"exp_f32", 64 + 3},        {"cvt_i32_f32", 64 + 3},
    {"mov_dpp", 64 + 3},    {"add_sdwa", 64 + 3},     {"readlane", 64 + 3},       {"bpermute", 128 + 3},
    {"salu", 64 + 3},       {"lds_read", 80 + 4},     {"global_read", 80 + 3},    {"global_gather", 80 + 3},
};

/* Seconds of the clock and of all cores, each the least of several turns. */
struct cost {
    double clock, cores;
};

static const struct cost no_cost = {1e30, 1e30};

static struct cost cost_now(void)
{
    return (struct cost){bench_seconds(), bench_cpu_seconds()};
}

static void keep_least(struct cost *best, struct cost since)
{
    struct cost now = cost_now(), t = {now.clock - since.clock, now.cores - since.cores};
    best->clock = t.clock < best->clock ? t.clock : best->clock;
    best->cores = t.cores < best->cores ? t.cores : best->cores;
}

/* One kernel's wave-instructions, and what they cost. */
static double run(struct bench *b, const struct row *row, void *out, unsigned rounds, struct cost *best)
{
    uint64_t arguments[2] = {(uint64_t)(uintptr_t)out, rounds};
    bench_launch(b, row->kernel, GROUPS, ITEMS, arguments, 2);
    *best = no_cost;
    for (int i = 0; i < 3; i++) {
        struct cost start = cost_now();
        bench_launch(b, row->kernel, GROUPS, ITEMS, arguments, 2);
        keep_least(best, start);
    }
    return row->per_round * rounds * (GROUPS * (ITEMS / 64));
}

/* Wave-instructions per second of a core. */
static double rate(struct bench *b, const struct row *row, void *out, unsigned rounds)
{
    struct cost cost;
    double count = run(b, row, out, rounds, &cost);
    return count / cost.cores;
}

/* The host's own vector units on eight chains of the same FMAs: lane operations per second of one core. */
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"))) static double
host_fma(unsigned rounds)
{
    static float chain[8][64];
    for (int c = 0; c < 8; c++)
        for (int l = 0; l < 64; l++)
            chain[c][l] = (float)(c + l);
    double start = bench_cpu_seconds();
    for (unsigned i = 0; i < rounds; i++)
        for (int c = 0; c < 8; c++)
            for (int l = 0; l < 64; l++)
                chain[c][l] = __builtin_fmaf(chain[c][l], 1.0e-6f, 1.0e-3f);
    double t = bench_cpu_seconds() - start;
    volatile float sink = chain[3][5];
    (void)sink;
    return (double)rounds * 8 * 64 / t;
}

static void instruction_classes(const char *path)
{
    struct bench b;
    bench_open(&b, 1, path);
    void *out;
    if (ehp_mem_alloc(b.machine, 0, EHP_MEM_DEVICE, 1 << 20, 0, &out) != EHP_OK)
        exit(1);
    double host = host_fma(200000), fma = 0;
    printf("\n%-24s %9s %9s %9s %9s\n", "wave-instructions", "M/s", "ns", "of host", "of fma");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double r = rate(&b, &rows[i], out, 200);
        r = rate(&b, &rows[i], out, (unsigned)(r / 40000) + 50); /* about half a second */
        if (i == 0)
            fma = r;
        printf("%-24s %9.1f %9.2f %8.1f%% %9.2f\n", rows[i].kernel, r * 1e-6, 1e9 / r, 100 * r * 64 / host,
               r / fma);
    }
    bench_close(&b);
}

static void scaling(const char *path)
{
    double one = 0;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct bench b;
        bench_open(&b, threads, path);
        void *out;
        if (ehp_mem_alloc(b.machine, 0, EHP_MEM_DEVICE, 1 << 20, 0, &out) != EHP_OK)
            exit(1);
        struct cost cost;
        double count = run(&b, &rows[0], out, 2000, &cost), r = count / cost.clock;
        if (threads == 1)
            one = r;
        printf("fma_f32, %u thread%-6s %9.1f M/s   %5.2f x one; %.1f M/s a core\n", threads,
               threads == 1 ? "" : "s", r * 1e-6, r / one, count / cost.cores * 1e-6);
        bench_close(&b);
    }
}

static void launches(const char *path)
{
    struct bench b;
    bench_open(&b, 0, path);
    uint64_t none = 0;
    enum { TIMES = 20000 };
    bench_launch(&b, "empty", 1, 64, &none, 0);
    double start = bench_seconds();
    for (int i = 0; i < TIMES; i++)
        bench_launch(&b, "empty", 1, 64, &none, 0);
    double each = (bench_seconds() - start) / (double)TIMES;
    printf("empty kernel and wait    %9.2f us\n", each * 1e6);
    bench_close(&b);
}

static void vector_add(const char *path)
{
    double one = 0;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct bench b;
        bench_open(&b, threads, path);
        enum { N = 16 << 20 };
        const double bytes = N * sizeof(float);
        float *p[3];
        for (int i = 0; i < 3; i++) {
            void *v;
            if (ehp_mem_alloc(b.machine, 0, EHP_MEM_DEVICE, N * sizeof(float), 0, &v) != EHP_OK)
                exit(1);
            p[i] = v;
            memset(v, i, N * sizeof(float));
        }
        uint64_t arguments[3] = {(uint64_t)(uintptr_t)p[0], (uint64_t)(uintptr_t)p[1],
                                 (uint64_t)(uintptr_t)p[2]};
        struct cost add = no_cost, copy = no_cost;
        for (int i = 0; i < 8; i++) {
            struct cost start = cost_now();
            bench_launch(&b, "vector_add", N / ITEMS, ITEMS, arguments, 3);
            keep_least(&add, start);
            start = cost_now();
            memcpy(p[2], p[0], N * sizeof(float));
            keep_least(&copy, start);
        }
        if (threads == 1)
            one = add.clock;
        printf("vector add, %u thread%-5s %7.2f GB/s  %5.2f x one; %.2f GB/s a core, %.2f of memcpy's %.2f\n",
               threads, threads == 1 ? "" : "s", 3e-9 * bytes / add.clock, one / add.clock,
               3e-9 * bytes / add.cores, 3 / add.cores / (2 / copy.cores), 2e-9 * bytes / copy.cores);
        bench_close(&b);
    }
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : BENCH_KERNELS;
    launches(path);
    vector_add(path);
    scaling(path);
    instruction_classes(path);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("\nresident at most         %9.0f MiB, 192 of it the vectors\n", (double)usage.ru_maxrss / 1024);
    return 0;
}
