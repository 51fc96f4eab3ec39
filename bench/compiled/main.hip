// SPDX-License-Identifier: MIT
// Runs every pair on the compiled engine and on the host in turn, and on the interpreter in a process of its
// own: which engine there is, and how many threads it has, is settled when a process first asks for the
// device.
//
//   compiled [--seconds CLOCK RUNS] [NAME...]
//
// Rates are of the clock: processor time goes in ticks of some milliseconds on some machines, as short as
// runs are.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/mman.h>
#include <vector>

#include "pairs.h"

namespace
{
enum { RUNS = 7 };

double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void must(hipError_t status, const char *what)
{
    if (status == hipSuccess)
        return;
    fprintf(stderr, "bench: %s: %s\n", what, hipGetErrorString(status));
    exit(1);
}

uint32_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(*state >> 32);
}

template <typename T, typename F> void fill_each(void *p, size_t bytes, F value)
{
    for (size_t i = 0; i < bytes / sizeof(T); i++)
        static_cast<T *>(p)[i] = static_cast<T>(value(i));
}

void fill(void *p, size_t bytes, enum fill how, uint32_t limit)
{
    uint64_t state = bytes + limit;
    const auto bits = [&](size_t) { return random_bits(&state); };
    switch (how) {
    case FILL_ZERO:
        memset(p, 0, bytes);
        break;
    case FILL_UNIT:
        fill_each<float>(p, bytes, [&](size_t i) { return static_cast<float>(bits(i) >> 8) * 0x1p-24f; });
        break;
    case FILL_UNIT64:
        fill_each<double>(p, bytes, [&](size_t i) { return bits(i) * 0x1p-32; });
        break;
    case FILL_HALF:
        fill_each<_Float16>(p, bytes, [&](size_t i) { return static_cast<float>(bits(i) >> 29) * 0.125f; });
        break;
    case FILL_BITS:
        fill_each<uint32_t>(p, bytes, bits);
        break;
    case FILL_INDEX:
        fill_each<uint32_t>(p, bytes, [&](size_t i) { return bits(i) % limit; });
        break;
    case FILL_ROWS: {
        const size_t last = bytes / 4 - 1;
        fill_each<uint32_t>(p, bytes,
                            [&](size_t i) { return i * limit + (i && i < last ? bits(i) % limit : 0); });
    }
    }
}

void set_up(const struct pair &pair, struct both *a)
{
    for (int i = 0; i < MOST_ARRAYS && pair.arrays[i].bytes; i++) {
        // Whole large pages, so that the host's side loses no time in walks of its page tables.
        const size_t bytes = pair.arrays[i].bytes, whole = (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
        a[i] = {bytes, aligned_alloc(2 * MIB, whole), nullptr};
        (void)madvise(a[i].host, whole, MADV_HUGEPAGE);
        fill(a[i].host, bytes, pair.arrays[i].fill, pair.arrays[i].limit);
        must(hipMalloc(&a[i].device, bytes), "memory");
        must(hipMemcpy(a[i].device, a[i].host, bytes, hipMemcpyHostToDevice), "copy");
    }
}

void tear_down(struct both *a)
{
    for (int i = 0; i < MOST_ARRAYS && a[i].host; i++) {
        free(a[i].host);
        (void)hipFree(a[i].device);
    }
}

double run_device(const struct pair &pair, const struct both *a, clockid_t clock)
{
    const double start = seconds(clock);
    pair.device(a);
    must(hipDeviceSynchronize(), pair.name);
    return seconds(clock) - start;
}

double run_host(const struct pair &pair, const struct both *a)
{
    const double start = seconds(CLOCK_MONOTONIC);
    pair.host(a);
    return seconds(CLOCK_MONOTONIC) - start;
}

// How many runs, of which one takes so long: their median is to be of half a second of work.
int enough(double run)
{
    return std::max(RUNS + 0, std::min(99, static_cast<int>(0.5 / run)));
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

template <typename T> bool are_close(const T *device, const T *host, size_t count, double tolerance)
{
    double greatest = 0;
    for (size_t i = 0; i < count; i++)
        greatest = std::max(greatest, std::fabs(static_cast<double>(host[i])));
    for (size_t i = 0; i < count; i++)
        if (!(std::fabs(static_cast<double>(device[i]) - static_cast<double>(host[i])) <=
              tolerance * greatest)) {
            printf("element %zu is %.9g, on the host %.9g\n", i, static_cast<double>(device[i]),
                   static_cast<double>(host[i]));
            return false;
        }
    return greatest > 0; // a result of zeros shows nothing
}

bool are_same(const uint32_t *device, const uint32_t *host, size_t count, double tolerance)
{
    size_t different = 0, used = 0;
    for (size_t i = 0; i < count; i++) {
        different += device[i] != host[i];
        used += host[i] != 0;
    }
    if (static_cast<double>(different) > tolerance * static_cast<double>(count))
        printf("%zu of %zu elements are not the host's\n", different, count);
    return used && static_cast<double>(different) <= tolerance * static_cast<double>(count);
}

bool agree(const struct pair &pair, const struct both &result)
{
    std::vector<char> made(result.bytes);
    must(hipMemcpy(made.data(), result.device, result.bytes, hipMemcpyDeviceToHost), "copy back");
    const void *device = made.data();
    switch (pair.compare) {
    case SAME_BITS:
        return are_same(static_cast<const uint32_t *>(device), static_cast<const uint32_t *>(result.host),
                        result.bytes / 4, pair.tolerance);
    case CLOSE_F32:
        return are_close(static_cast<const float *>(device), static_cast<const float *>(result.host),
                         result.bytes / 4, pair.tolerance);
    case CLOSE_F64:
        return are_close(static_cast<const double *>(device), static_cast<const double *>(result.host),
                         result.bytes / 8, pair.tolerance);
    }
    return false;
}

// What `--seconds` says in a process with another environment; 0 if it failed.
double elsewhere(const char *environment, const char *clock, int runs, const char *name)
{
    char self[4096] = "", command[8192];
    if (!realpath("/proc/self/exe", self))
        return 0;
    snprintf(command, sizeof(command), "%s '%s' --seconds %s %d '%s'", environment, self, clock, runs, name);
    FILE *f = popen(command, "r");
    double said = 0;
    if (f && fscanf(f, "%lf", &said) != 1)
        said = 0;
    if (f)
        pclose(f);
    return said;
}

// The engine alone, in this process.
void say_seconds(const struct pair &pair, clockid_t clock, int runs)
{
    struct both a[MOST_ARRAYS] = {};
    set_up(pair, a);
    std::vector<double> times;
    run_device(pair, a, clock);
    for (int i = 0; i < runs; i++)
        times.push_back(run_device(pair, a, clock));
    printf("%.9g\n", median(times));
    tear_down(a);
}

bool run_both(const struct pair &pair)
{
    struct both a[MOST_ARRAYS] = {};
    const double interpreter = elsewhere("EHP_ENGINE=interpreter", "clock", RUNS, pair.name);
    set_up(pair, a);
    std::vector<double> device, host;
    for (int i = -2, runs = RUNS; i < runs; i++) { // the first runs compile, and touch pages
        const double d = run_device(pair, a, CLOCK_MONOTONIC), h = run_host(pair, a);
        if (i == -1)
            runs = enough(d + h);
        if (i >= 0) {
            device.push_back(d);
            host.push_back(h);
        }
    }
    const double d = median(device), h = median(host);
    printf("%-24s %10.1f %10.1f %-14s %9.1f %% %14.1f\n", pair.name, pair.work / d, pair.work / h, pair.unit,
           100 * h / d, interpreter / d);
    const bool right = agree(pair, a[pair.result]);
    if (!right || interpreter <= 0)
        printf("%s: WRONG\n", pair.name);
    fflush(stdout);
    tear_down(a);
    return right && interpreter > 0;
}

const struct pair *const all[] = {compute_pairs, memory_pairs, group_pairs};

const struct pair *find(const char *name)
{
    for (const struct pair *group : all)
        for (const struct pair *p = group; p->name; p++)
            if (strcmp(p->name, name) == 0)
                return p;
    fprintf(stderr, "bench: there is no %s\n", name);
    exit(1);
}
} // namespace

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--seconds") == 0) {
        const bool clock = strcmp(argv[2], "clock") == 0;
        say_seconds(*find(argv[4]), clock ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, atoi(argv[3]));
        return 0;
    }
    printf("%-24s %10s %10s %-14s %11s %14s\n", "", "compiled", "host", "", "of the host", "x interpreter");
    bool right = true;
    for (int i = 1; i < argc; i++)
        right &= run_both(*find(argv[i]));
    if (argc > 1)
        return !right;
    for (const struct pair *group : all)
        for (const struct pair *p = group; p->name; p++)
            right &= run_both(*p);
    const double one = elsewhere("EHP_THREADS=1", "clock", 9 * RUNS, "N-body f32");
    const double two = elsewhere("EHP_THREADS=2", "clock", 9 * RUNS, "N-body f32");
    printf("N-body f32, two threads against one, on the clock: x %.2f\n", two > 0 ? one / two : 0);
    return !right;
}
