// SPDX-License-Identifier: MIT
// Tasks of OpenMP's: they are right with and without simulated time, take some, which threads share, and as
// much on every run.  Prints times; it checks itself.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <omp.h>
#include <vector>

static int failed;
static bool timed;

static void check(bool holds, const char *what)
{
    if (!holds)
        std::printf("failed: %s\n", what), failed = 1;
}

static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
    if (n < 8)
        return fib(n - 1) + fib(n - 2);
#pragma omp task shared(a)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void sort(std::uint32_t *p, std::uint32_t *room, long n)
{
    if (n <= 256) {
        std::sort(p, p + n);
        return;
    }
    long half = n / 2;
#pragma omp task untied
    sort(p, room, half);
#pragma omp task final(n < 1024)
    sort(p + half, room + half, n - half);
#pragma omp taskwait
    std::merge(p, p + half, p + half, p + n, room);
    std::memcpy(p, room, sizeof(*p) * n);
}

// A wave front: each tile after its neighbours above and on the left.
static void tiles()
{
    enum { N = 12 };
    static long tile[N + 1][N + 1];
    long reads = 0;
    for (int i = 0; i <= N; i++)
        tile[0][i] = tile[i][0] = 1;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 1; i <= N; i++)
            for (int k = 1; k <= N; k++)
#pragma omp task depend(in : tile[i - 1][k], tile[i][k - 1]) depend(out : tile[i][k])
                tile[i][k] = tile[i - 1][k] + tile[i][k - 1];
        for (int i = 0; i < 5; i++)
#pragma omp task depend(in : tile[N][N]) shared(reads)
        {
            long value = tile[N][N];
#pragma omp atomic
            reads += value;
        }
#pragma omp task depend(inout : tile[N][N])
        tile[N][N]++;
#pragma omp taskwait depend(in : tile[N][N])
        check(tile[N][N] == 2704157, "a wave front"); // C(24, 12), and one
        int order = 0;
        for (int i = 0; i < 4; i++)
#pragma omp task depend(mutexinoutset : order) shared(order)
            order++;
#pragma omp task depend(in : order) if (0) shared(order)
        check(order == 4, "tasks of a set");
    }
    check(reads == 5 * 2704156L, "readers before who writes");
}

static void loops()
{
    enum { N = 3000 };
    static int seen[N];
    long sum = 0, last = -1;
    std::memset(seen, 0, sizeof(seen));
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(70)
        for (int i = 0; i < N; i++)
            seen[i]++;
        check(std::count(seen, seen + N, 1) == N, "a loop before what follows it");
#pragma omp taskloop num_tasks(7) nogroup
        for (int i = N - 1; i >= 0; i -= 3)
            seen[i]++;
#pragma omp taskwait
        check(std::count(seen, seen + N, 2) == N / 3, "a loop backwards");
#pragma omp taskloop lastprivate(last) reduction(+ : sum)
        for (long i = 0; i < N; i++)
            last = i, sum += i;
    }
    check(last == N - 1, "the last iteration");
    check(sum == N * (N - 1L) / 2, "a loop's sum");
}

static void groups()
{
    long sum = 0, inner = 0;
    int after = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum)
        {
            for (int i = 0; i < 100; i++)
#pragma omp task in_reduction(+ : sum) shared(inner)
            {
                sum += i;
#pragma omp task shared(inner)
                {
#pragma omp atomic
                    inner++;
                }
            }
        }
        check(sum == 4950 && inner == 100, "a group's sum, and its tasks' tasks");
#pragma omp task shared(after)
        {
            int own = 0;
#pragma omp parallel for reduction(+ : own)
            for (int i = 0; i < 10; i++)
                own++;
            after = own;
        }
    }
    check(after == 10, "a region in a task");
    std::vector<int> made(omp_get_max_threads());
#pragma omp parallel // each makes some, and all come to a barrier
    {
        for (int i = 0; i < 20; i++)
#pragma omp task shared(made) firstprivate(i)
        {
#pragma omp atomic
            made[i % made.size()]++;
#pragma omp taskyield
        }
#pragma omp barrier
        long all = 0;
        for (int n : made)
            all += n;
        check(all == 20L * omp_get_num_threads(), "tasks before a barrier");
    }
}

template <class F> static double time_of(const char *what, F &&f)
{
    double begin = omp_get_wtime();
    f();
    double us = (omp_get_wtime() - begin) * 1e6;
    if (timed)
        std::printf("%-24s %2d threads %9.3f us\n", what, omp_get_max_threads(), us);
    return us;
}

static double sorted(int threads)
{
    enum { N = 1 << 15 };
    static std::uint32_t data[N], room[N];
    static long n;
    n = timed ? N : 4096;
    std::uint32_t r = 1;
    for (auto &x : data)
        x = r = r * 1664525 + 1013904223;
    omp_set_num_threads(threads);
    double us = time_of("a sort of 32 K", [] {
#pragma omp parallel
#pragma omp single
        sort(data, room, n);
    });
    check(std::is_sorted(data, data + n), "a sort");
    return us;
}

int main(int argc, char **argv)
{
    timed = argc > 1 && std::strcmp(argv[1], "timing") == 0;
    sorted(1);
    double one = sorted(1), eight = sorted(timed ? 8 : 2);
    check(!timed || (one / eight > 1.8 && one / eight < 8), "threads share a sort");
    // More threads than the host has processors go slowly where the runtime has them spin.
    omp_set_num_threads(timed ? 6 : 2);
    long result = 0;
    time_of("fib(16)", [&] {
#pragma omp parallel
#pragma omp single
        result = fib(16);
    });
    check(result == 987, "fib(16)");
    time_of("tiles", tiles);
    time_of("loops", loops);
    time_of("groups", groups);
    if (!failed)
        std::puts("all as it should be");
    return failed;
}
