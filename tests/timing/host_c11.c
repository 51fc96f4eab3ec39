/* SPDX-License-Identifier: MIT */
/* C11's threads, mutexes and condition variables, and memory that is moved, on cores: `host_c11` checks
 * itself, `host_c11 timing` prints times too, the same on every run. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>

static int failed;
static bool timed;

#define EXPECT(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            printf("%d: %s\n", __LINE__, #condition);                                                        \
            failed = 1;                                                                                      \
        }                                                                                                    \
    } while (0)

static double now(void) /* us */
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)(t.tv_sec % 100000) * 1e6 + (double)t.tv_nsec / 1e3;
}

static void took(const char *what, double us, double least, double most)
{
    if (!timed)
        return;
    printf("%-32s %9.3f us\n", what, us);
    EXPECT(us >= least && us <= most);
}

enum { THREADS = 6, EACH = 200, ITEMS = 40 };

static mtx_t mutex;
static cnd_t changed;
static unsigned counted;
static once_flag once = ONCE_FLAG_INIT;
static unsigned called;

static void first(void)
{
    called++;
}

static int count(void *argument)
{
    call_once(&once, first);
    for (unsigned i = 0; i < EACH; i++) {
        EXPECT(mtx_lock(&mutex) == thrd_success);
        counted++;
        EXPECT(mtx_unlock(&mutex) == thrd_success);
    }
    return (int)(intptr_t)argument;
}

static void counts(void)
{
    thrd_t thread[THREADS];
    double begin = now();
    for (intptr_t i = 0; i < THREADS; i++)
        EXPECT(thrd_create(&thread[i], count, (void *)(i * 3 - 4)) == thrd_success);
    for (int i = 0; i < THREADS; i++) {
        int result = 1000;
        EXPECT(thrd_join(thread[i], &result) == thrd_success && result == i * 3 - 4);
    }
    EXPECT(counted == THREADS * EACH && called == 1);
    took("six threads count", now() - begin, 20, 2000);
}

/* A place for one item, which is handed over. */
static unsigned item;
static uint64_t sum;

static int take_items(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < ITEMS; i++) {
        mtx_lock(&mutex);
        while (!item)
            cnd_wait(&changed, &mutex);
        sum += item;
        item = 0;
        cnd_broadcast(&changed);
        mtx_unlock(&mutex);
    }
    thrd_exit(7);
}

static void hand_over(void)
{
    thrd_t thread;
    int result = 0;
    double begin = now();
    EXPECT(thrd_create(&thread, take_items, NULL) == thrd_success);
    for (unsigned i = 1; i <= ITEMS; i++) {
        mtx_lock(&mutex);
        while (item)
            cnd_wait(&changed, &mutex);
        item = i;
        cnd_signal(&changed);
        mtx_unlock(&mutex);
    }
    EXPECT(thrd_join(thread, &result) == thrd_success && result == 7);
    EXPECT(sum == ITEMS * (ITEMS + 1) / 2);
    took("items are handed over", now() - begin, 20, 1000);
}

static struct timespec in_us(long us)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    t.tv_nsec += us * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int hold(void *argument)
{
    EXPECT(mtx_lock(&mutex) == thrd_success);
    *(_Atomic bool *)argument = true;
    thrd_sleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    EXPECT(mtx_unlock(&mutex) == thrd_success);
    return 0;
}

static void limits(void)
{
    static _Atomic bool held;
    thrd_t thread;
    double begin = now();
    mtx_lock(&mutex);
    struct timespec t = in_us(300);
    EXPECT(cnd_timedwait(&changed, &mutex, &t) == thrd_timedout);
    mtx_unlock(&mutex);
    took("a wait that nobody ends", now() - begin, 300, 320);
    if (!timed) /* the host's scheduler would have a say in it */
        return;
    EXPECT(thrd_create(&thread, hold, (void *)&held) == thrd_success);
    while (!held)
        thrd_yield();
    EXPECT(mtx_trylock(&mutex) == thrd_busy);
    begin = now();
    t = in_us(200);
    EXPECT(mtx_timedlock(&mutex, &t) == thrd_timedout);
    took("a mutex that is not to be had", now() - begin, 200, 220);
    EXPECT(mtx_lock(&mutex) == thrd_success);
    took("until it is", now() - begin, 480, 530);
    mtx_unlock(&mutex);
    EXPECT(thrd_join(thread, NULL) == thrd_success);
}

/* Pages that move are there, and where they were there are none. */
static double touch(char *p, size_t pages)
{
    double begin = now();
    for (size_t i = 0; i < pages; i++)
        p[i * 4096]++;
    return now() - begin;
}

static void moves(void)
{
    enum { PAGES = 64 };
    const size_t bytes = (size_t)PAGES * 4096;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *to = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT(p != MAP_FAILED && to != MAP_FAILED);
    took("pages are made", touch(p, PAGES), 60, 150);
    char *moved = mremap(p, bytes, 2 * bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    EXPECT(moved == to);
    took("they have moved", touch(moved, PAGES), 0, 40);
    EXPECT(moved[0] == 2 && moved[bytes - 4096] == 2);
    took("those behind them are new", touch(moved + bytes, PAGES), 60, 150);
    p = mmap(p, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    took("as what comes in their place", touch(p, PAGES), 60, 150);
    EXPECT(p[0] == 1);
    EXPECT(mremap(moved, 2 * bytes, bytes, 0) == moved);
    EXPECT(mremap(moved, bytes, 2 * bytes, 0) == moved);
    took("what was cut off and is new", touch(moved + bytes, PAGES), 60, 150);
    EXPECT(moved[bytes] == 1 && moved[0] == 2);
    munmap(moved, 2 * bytes);
    munmap(p, bytes);
}

/* What a process has used, by all that tell it. */
static void uses(void)
{
    struct rusage usage;
    struct tms ticks;
    if (!timed)
        return;
    const double ms = (double)clock() * 1e3 / CLOCKS_PER_SEC;
    thrd_sleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    EXPECT(getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > 0);
    const double used = (double)usage.ru_utime.tv_sec * 1e3 + (double)usage.ru_utime.tv_usec / 1e3 - ms;
    EXPECT(used > 50 && used < 50.1 && usage.ru_stime.tv_sec == 0 && usage.ru_stime.tv_usec == 0);
    const clock_t before = times(&ticks);
    const long used_before = ticks.tms_utime;
    thrd_sleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    EXPECT(times(&ticks) == before + 5 && ticks.tms_utime == used_before + 5 && ticks.tms_stime == 0);
}

int main(int argc, char **argv)
{
    timed = argc > 1 && strcmp(argv[1], "timing") == 0;
    EXPECT(mtx_init(&mutex, mtx_timed) == thrd_success && cnd_init(&changed) == thrd_success);
    counts();
    hand_over();
    limits();
    moves();
    uses();
    cnd_destroy(&changed);
    mtx_destroy(&mutex);
    if (!failed)
        puts("all as it should be");
    return failed;
}
