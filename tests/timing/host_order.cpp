// SPDX-License-Identifier: MIT
// Who comes first is who comes first in simulated time: threads that take pieces of loops, sections, locks
// and reductions of OpenMP's from each other, and that map memory and end together.  Prints results and times
// that depend on the order; it checks itself for the rest.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

static int failed;
static void check(bool holds, const char *what)
{
    if (!holds)
        std::printf("failed: %s\n", what), failed = 1;
}

static std::uint64_t hash;
static void note(std::uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x100000001b3);
}

enum { N = 1000, THREADS = 10 };

static void loops()
{
    std::vector<int> who(N);
    double sum = 0;
    long ones = 0;
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : sum)
    for (int i = 0; i < N; i++)
        who[i] = omp_get_thread_num(), sum += 1.0 / (i + 1);
#pragma omp parallel
    for (int k = 0; k < 10; k++) {
#pragma omp single
        note(omp_get_thread_num()), ones++;
    }
    for (int i = 0; i < N; i++)
        note(who[i]);
    check(ones == 10, "single");
    check(sum > 7.4854 && sum < 7.4855, "a sum");
    std::printf("loops %.17g %016lx\n", sum, (unsigned long)hash); // the last digits are the order's
}

static void locks()
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    long critical = 0, locked = 0, nested = 0, tested = 0, missed = 0, most = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel
    {
#pragma omp for reduction(max : most)
        for (int i = 0; i < N; i++) {
            most = i > most ? i : most;
            if (i % 10)
                continue;
#pragma omp critical
            critical += i, note(omp_get_thread_num());
            omp_set_lock(&lock);
            locked += i;
            omp_unset_lock(&lock);
            omp_set_nest_lock(&nest);
            check(omp_test_nest_lock(&nest) == 2, "how often a lock is taken");
            nested += i;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
            if (omp_test_lock(&lock)) {
                tested++;
                omp_unset_lock(&lock);
            } else {
#pragma omp atomic
                missed++;
            }
        }
        if (most != N - 1) // after a barrier
#pragma omp critical(wrong)
            failed = 1;
    }
    omp_destroy_nest_lock(&nest);
    omp_destroy_lock(&lock);
    check(critical == 49500 && locked == 49500 && nested == 49500, "sums under locks");
    check(tested + missed == N / 10 && tested > 0, "tries");
    std::printf("locks %ld %ld %016lx\n", tested, missed, (unsigned long)hash);
}

// All cores stream from memory while they come for their next rows: a line that goes from CCD to CCD waits
// behind that.
static void shares()
{
    enum { ROWS = 3000, EACH = 16, CORES = 24 };
    static unsigned char owner[ROWS];
    std::vector<double> values(ROWS * EACH, 1.5);
    double *sums = static_cast<double *>(std::malloc(ROWS * sizeof(double)));
#pragma omp parallel for schedule(guided) num_threads(CORES)
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int j = 0; j < EACH; j++)
            sum += values[i * EACH + j];
        sums[i] = sum;
        owner[i] = static_cast<unsigned char>(omp_get_thread_num());
    }
    for (int i = 0; i < ROWS; i++)
        note(owner[i]);
    check(sums[0] == 1.5 * EACH && sums[ROWS - 1] == sums[0], "sums of rows");
    std::free(sums);
    std::printf("shares %016lx\n", (unsigned long)hash);
}

// How long its threads wait is the host's.
static void iterations()
{
    std::vector<int> order;
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 50; i++) {
#pragma omp ordered
        order.push_back(i);
    }
    for (int i = 0; i < 50; i++)
        check(order[i] == i, "ordered");
}

// Large and small blocks of threads that allocate together, end together and leave their heaps to others.
static void blocks()
{
    enum { LARGE = 1 << 20, SMALL = 1000 };
    for (int round = 0; round < 3; round++) {
        std::uintptr_t large[THREADS], small[THREADS], mapped[THREADS];
        std::vector<std::thread> all;
        for (int t = 0; t < THREADS; t++)
            all.emplace_back([&, t] {
                void *kept = std::malloc(SMALL), *block = std::malloc(LARGE),
                     *map = mmap(nullptr, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                small[t] = reinterpret_cast<std::uintptr_t>(kept);
                large[t] = reinterpret_cast<std::uintptr_t>(block);
                mapped[t] = reinterpret_cast<std::uintptr_t>(map);
                block = std::realloc(block, 2 * LARGE);
                static_cast<char *>(block)[LARGE] = 1;
                std::free(block);
                munmap(map, LARGE);
                std::free(kept);
            });
        for (auto &thread : all)
            thread.join();
        for (int t = 0; t < THREADS; t++)
            note(large[t]), note(small[t]), note(mapped[t]);
    }
    std::printf("blocks %016lx\n", (unsigned long)hash);
}

int main()
{
    omp_set_num_threads(THREADS);
    double begin = omp_get_wtime();
    loops();
    locks();
    blocks();
    std::printf("%.3f us\n", (omp_get_wtime() - begin) * 1e6);
    shares();
    iterations();
    return failed;
}
