/* SPDX-License-Identifier: MIT */
/* Threads on the CPUs that they ask for: who is where, and how long a line takes between neighbours, CCDs and
 * packages. Built with -fopenmp, the places of a team too. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

static unsigned failures;

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("%d: %s\n", __LINE__, #condition);                                                        \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)

static cpu_set_t only(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return set;
}

static int stay_on(int cpu)
{
    cpu_set_t set = only(cpu);
    return sched_setaffinity(0, sizeof(set), &set);
}

struct ball {
    _Alignas(128) _Atomic unsigned turn;
    int cpu;
    unsigned rounds;
    int was_on;
};

static void *play(void *argument)
{
    struct ball *b = argument;
    EXPECT(stay_on(b->cpu) == 0);
    b->was_on = sched_getcpu();
    for (unsigned i = 0; i < b->rounds; i++) {
        while (atomic_load_explicit(&b->turn, memory_order_acquire) != 2 * i + 1)
            ;
        atomic_store_explicit(&b->turn, 2 * i + 2, memory_order_release);
    }
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One way by one line, ns. */
static double by_line(struct ball *ball, int own, int other)
{
    enum { ROUNDS = 40 };
    pthread_t thread;
    *ball = (struct ball){.cpu = other, .rounds = ROUNDS};
    EXPECT(stay_on(own) == 0 && sched_getcpu() == own);
    pthread_attr_t a; /* it would begin where its maker is, and wait for that one's slice to end */
    const cpu_set_t set = only(other);
    pthread_attr_init(&a);
    EXPECT(pthread_attr_setaffinity_np(&a, sizeof(set), &set) == 0);
    EXPECT(pthread_create(&thread, &a, play, ball) == 0);
    pthread_attr_destroy(&a);
    double begin = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i == 4)
            begin = now();
        atomic_store_explicit(&ball->turn, 2 * i + 1, memory_order_release);
        while (atomic_load_explicit(&ball->turn, memory_order_acquire) != 2 * i + 2)
            ;
    }
    const double ns = (now() - begin) / (ROUNDS - 4) / 2;
    pthread_join(thread, NULL);
    EXPECT(ball->was_on == other);
    return ns;
}

/* By lines of several homes. */
static double between(int own, int other)
{
    enum { LINES = 6 };
    static struct {
        struct ball ball;
        char apart[9 * 4096 + 512];
    } line[LINES];
    double ns = 0;
    for (size_t i = 0; i < LINES; i++)
        ns += by_line(&line[i].ball, own, other) / LINES;
    printf("CPU %d to %d: %.1f ns\n", own, other, ns);
    return ns;
}

static void *where(void *cpu)
{
    *(int *)cpu = sched_getcpu();
    return NULL;
}

static void attributes(void)
{
    pthread_attr_t a;
    pthread_t thread;
    int cpu = -1;
    cpu_set_t set = only(17);
    pthread_attr_init(&a);
    EXPECT(pthread_attr_setaffinity_np(&a, sizeof(set), &set) == 0);
    EXPECT(pthread_create(&thread, &a, where, &cpu) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&a);
    EXPECT(cpu == 17);
}

static void own_mask(int cpus)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT(sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) == cpus);
    CPU_ZERO(&set);
    for (int i = 8; i < 16; i++)
        CPU_SET(i, &set);
    EXPECT(pthread_setaffinity_np(pthread_self(), sizeof(set), &set) == 0);
    EXPECT(sched_getcpu() == 8);
    cpu_set_t got;
    EXPECT(pthread_getaffinity_np(pthread_self(), sizeof(got), &got) == 0 && CPU_EQUAL(&set, &got));
    pthread_t thread; /* which inherits it */
    int cpu = -1;
    EXPECT(pthread_create(&thread, NULL, where, &cpu) == 0);
    pthread_join(thread, NULL);
    EXPECT(cpu == 9);
    CPU_ZERO(&set);
    CPU_SET(1000, &set);
    EXPECT(sched_setaffinity(0, sizeof(set), &set) == -1 && errno == EINVAL);
}

/* ---- two threads on one CPU take turns ---- */

struct worker {
    int cpu, was_on;
    double end;
};

static unsigned long table[512];

__attribute__((noinline)) static unsigned long compute(void)
{
    unsigned long s = 1;
    for (long i = 0; i < 3000000; i++)
        s = s * 6364136223846793005UL + table[s >> 55];
    return s;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    EXPECT(stay_on(w->cpu) == 0);
    w->was_on = sched_getcpu();
    EXPECT(compute() != 0);
    w->end = now();
    return NULL;
}

/* Slices of 3 ms, and switches of some microseconds: of two that need more than one slice each, both end in
 * their second. */
static void turns(void)
{
    for (unsigned i = 0; i < 512; i++)
        table[i] = i;
    double begin = now();
    EXPECT(compute() != 0);
    const double alone = now() - begin;
    EXPECT(alone > 3.2e6 && alone < 5.8e6);
    pthread_t thread[2];
    struct worker w[2] = {{.cpu = 20}, {.cpu = 20}};
    begin = now();
    for (int i = 0; i < 2; i++)
        EXPECT(pthread_create(&thread[i], NULL, work, &w[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    const double first = w[w[1].end < w[0].end].end - begin, last = w[w[0].end < w[1].end].end - begin;
    EXPECT(w[0].was_on == 20 && w[1].was_on == 20);
    printf("a thread alone %.1f us, two that share a CPU %.1f and %.1f\n", alone / 1e3, first / 1e3,
           last / 1e3);
    EXPECT(last > 2 * alone && last < 2 * alone + 80e3);
    EXPECT(first > 3e6 + alone && first < last - (alone - 3e6) / 2);
}

int main(int argc, char **argv)
{
    const int cpus = argc > 1 ? atoi(argv[1]) : 24;
    EXPECT(sysconf(_SC_NPROCESSORS_ONLN) == cpus);
    EXPECT(sched_getcpu() == 0);
    own_mask(cpus);
    attributes();
    turns();
    const double beside = between(0, 1), across = between(0, 8);
    EXPECT(beside < across / 2);
    if (cpus > 24) {
        const double near = between(0, 24), far = between(0, 48);
        EXPECT(near > across + 100 && far > near);
    }
#ifdef _OPENMP
    int place[8] = {0}, threads = 0;
#pragma omp parallel num_threads(6)
    {
        place[omp_get_thread_num()] = sched_getcpu();
#pragma omp single
        threads = omp_get_num_threads();
    }
    EXPECT(threads == 6 && omp_get_num_procs() == cpus);
    printf("a team's CPUs:");
    for (int i = 0; i < 6; i++)
        printf(" %d", place[i]);
    printf("\n");
#endif
    return failures != 0;
}
