/* SPDX-License-Identifier: MIT */
/*
 * Speed of the interpreter, of launches and of memory, each beside a reference
 * of the host in the same run.  Rates of a core count the time that cores spent
 * on it, so that other programs on the machine do not count; how threads scale
 * can only be seen on the clock.
 *
 *   interp [kernels.hsaco]
 */
#include <pthread.h>
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
    float chain[8][64];
    for (int c = 0; c < 8; c++)
        for (int l = 0; l < 64; l++)
            chain[c][l] = (float)(c + l);
    double start = bench_thread_seconds();
    for (unsigned i = 0; i < rounds; i++)
        for (int c = 0; c < 8; c++)
            for (int l = 0; l < 64; l++)
                chain[c][l] = __builtin_fmaf(chain[c][l], 1.0e-6f, 1.0e-3f);
    double t = bench_thread_seconds() - start;
    volatile float sink = chain[3][5];
    (void)sink;
    return (double)rounds * 8 * 64 / t;
}

/* ---- two threads beside one ---- */

/* Turns of one and of two threads follow each other, as a machine's speed changes from second to second. */
enum { TURNS = 9 }; /* odd: medians are told */

/* Seconds of one thread and of two for the same work, and how many times faster the two were. */
struct turns {
    double seconds[2][TURNS], ratio[TURNS];
};

static void take_turn(struct turns *t, int turn, void (*work)(void *, unsigned threads), void *each[2])
{
    work(each[0], 1); /* the caches are then as after the work itself */
    for (unsigned k = 0; k < 2; k++) {
        double start = bench_seconds();
        work(each[k], k + 1);
        t->seconds[k][turn] = bench_seconds() - start;
    }
    t->ratio[turn] = t->seconds[0][turn] / t->seconds[1][turn];
}

enum { FMA_ROUNDS = 2000, HOST_ROUNDS = 400000 };

static void *host_thread(void *rounds)
{
    host_fma(*(unsigned *)rounds);
    return NULL;
}

static void host_work(void *unused, unsigned threads)
{
    (void)unused;
    unsigned rounds = HOST_ROUNDS / threads;
    pthread_t second;
    if (threads == 2 && pthread_create(&second, NULL, host_thread, &rounds) != 0)
        exit(1);
    host_thread(&rounds);
    if (threads == 2)
        pthread_join(second, NULL);
}

static void fma_work(void *argument, unsigned threads)
{
    (void)threads; /* the machine has them */
    struct bench *b = argument;
    void *out;
    if (ehp_mem_alloc(b->machine, 0, EHP_MEM_DEVICE, GROUPS * ITEMS * sizeof(float), 0, &out) != EHP_OK)
        exit(1);
    uint64_t arguments[2] = {(uint64_t)(uintptr_t)out, FMA_ROUNDS};
    bench_launch(b, rows[0].kernel, GROUPS, ITEMS, arguments, 2);
    ehp_mem_free(b->machine, out);
}

static void scaling(const char *path)
{
    struct bench b[2];
    struct turns fma = {0}, host = {0};
    for (unsigned k = 0; k < 2; k++)
        bench_open(&b[k], k + 1, path);
    void *each[2] = {&b[0], &b[1]}, *none[2] = {NULL, NULL};
    for (int turn = 0; turn < TURNS; turn++) {
        take_turn(&fma, turn, fma_work, each);
        take_turn(&host, turn, host_work, none);
    }
    for (unsigned k = 0; k < 2; k++)
        bench_close(&b[k]);
    const double count = rows[0].per_round * FMA_ROUNDS * (GROUPS * (ITEMS / 64));
    printf("fma_f32, 1 thread        %9.1f M/s\n", 1e-6 * count / bench_median(fma.seconds[0], TURNS));
    printf("fma_f32, 2 threads       %9.1f M/s   %5.2f x one (the host's own FMAs: %.2f x)\n",
           1e-6 * count / bench_median(fma.seconds[1], TURNS), bench_median(fma.ratio, TURNS),
           bench_median(host.ratio, TURNS));
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

/* Three vectors, each of which one thread or two copy and add. */
struct vectors {
    struct bench b;
    float *of[3];
};

enum { N = 16 << 20 };

static void vectors_open(struct vectors *v, unsigned threads, const char *path)
{
    bench_open(&v->b, threads, path);
    for (int i = 0; i < 3; i++) {
        void *memory;
        if (ehp_mem_alloc(v->b.machine, 0, EHP_MEM_DEVICE, N * sizeof(float), 0, &memory) != EHP_OK)
            exit(1);
        v->of[i] = memory;
        memset(memory, i, N * sizeof(float));
    }
}

static void add_vectors(void *argument, unsigned threads)
{
    struct vectors *v = argument;
    (void)threads; /* the machine has them */
    uint64_t arguments[3] = {(uint64_t)(uintptr_t)v->of[0], (uint64_t)(uintptr_t)v->of[1],
                             (uint64_t)(uintptr_t)v->of[2]};
    bench_launch(&v->b, "vector_add", N / ITEMS, ITEMS, arguments, 3);
}

static void *copy_thread(void *argument)
{
    float *const *of = argument;
    memcpy(of[1], of[0], N / 2 * sizeof(float));
    return NULL;
}

/* Copies a vector, by halves. */
static void copy_vector(void *argument, unsigned threads)
{
    struct vectors *v = argument;
    float *half[2][2] = {{v->of[0], v->of[2]}, {v->of[0] + N / 2, v->of[2] + N / 2}};
    pthread_t second;
    if (threads == 2 && pthread_create(&second, NULL, copy_thread, half[1]) != 0)
        exit(1);
    copy_thread(half[0]);
    if (threads == 2)
        pthread_join(second, NULL);
    else
        copy_thread(half[1]);
}

static void vector_add(const char *path)
{
    const double bytes = N * sizeof(float);
    struct vectors v[2];
    struct turns add = {0}, copy = {0};
    for (unsigned k = 0; k < 2; k++)
        vectors_open(&v[k], k + 1, path);
    void *each[2] = {&v[0], &v[1]};
    for (int turn = 0; turn < TURNS; turn++) {
        take_turn(&add, turn, add_vectors, each);
        take_turn(&copy, turn, copy_vector, each);
    }
    for (unsigned k = 0; k < 2; k++)
        bench_close(&v[k].b);
    double of_copy[TURNS];
    for (int turn = 0; turn < TURNS; turn++)
        of_copy[turn] = 3 / add.seconds[0][turn] / (2 / copy.seconds[0][turn]);
    printf("vector add, 1 thread     %9.2f GB/s  %5.2f of memcpy's %.2f\n",
           3e-9 * bytes / bench_median(add.seconds[0], TURNS), bench_median(of_copy, TURNS),
           2e-9 * bytes / bench_median(copy.seconds[0], TURNS));
    printf("vector add, 2 threads    %9.2f GB/s  %5.2f x one (memcpy: %.2f x)\n",
           3e-9 * bytes / bench_median(add.seconds[1], TURNS), bench_median(add.ratio, TURNS),
           bench_median(copy.ratio, TURNS));
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
    printf("\nresident at most         %9.0f MiB, 384 of it the vectors\n", (double)usage.ru_maxrss / 1024);
    return 0;
}
