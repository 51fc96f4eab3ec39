// SPDX-License-Identifier: MIT
// Unified memory: what allocating, freeing and page faults cost, on the GPU and on the CPU, and what the CPU
// gets of memory by allocator. With HSA_XNACK=1 the faults and the memory on demand, else what is allocated
// up front. `upm PAGES` faults on so many pages alone, and says what that takes of the host.
#include "measure.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <hip/ehp_host.h>
#include <vector>

static const size_t PAGE = 4096, KIB = 1024, MIB = KIB * KIB, GIB = KIB * MIB;

// One load to a page for each lane.
__global__ void touch(const char *base, size_t pages, int *out)
{
    size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < pages && base[i * PAGE] == 77)
        *out = 1;
}

// One page after the other by one lane, at no fixed time after the last; the clock around each.
__global__ void touch_slowly(const volatile char *base, int pages, long long *cycles)
{
    unsigned wait = 12345;
    for (int i = 0; i < pages; i++) {
        wait = wait * 1664525u + 1013904223u;
        for (unsigned k = 0; k < (wait >> 26); k++) // up to 31 us
            __builtin_amdgcn_s_sleep(16);
        long long before = clock64();
        int c = base[i * PAGE];
        asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)" ::"v"(c)); // the byte is there
        cycles[i] = clock64() - before;
    }
}

static char *map(size_t bytes)
{
    void *p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        std::exit(1);
    return static_cast<char *>(p);
}

static ehp_cpu_work cpu(ehp_cpu_operation operation, unsigned cores, char *base, size_t bytes,
                        uint64_t passes = 1)
{
    ehp_cpu_work work = EHP_CPU_WORK_INIT;
    work.operation = operation;
    work.cores = cores;
    work.passes = passes;
    work.ranges = 1;
    work.base[0] = base;
    work.bytes[0] = bytes;
    if (ehp_host_run(&work) != EHP_OK) {
        std::fprintf(stderr, "ehp_host_run: not in simulated time\n");
        std::exit(1);
    }
    return work;
}

// STREAM's triad, or so many ranges of which `written` tells what is written: bytes of all ranges in GB/s.
static double stream(unsigned cores, char *const *range, unsigned ranges, size_t bytes, unsigned written,
                     unsigned dies = 0)
{
    ehp_cpu_work work = EHP_CPU_WORK_INIT;
    work.operation = EHP_CPU_STREAM;
    work.cores = cores;
    work.passes = 1;
    work.ranges = ranges;
    work.written = written;
    work.dies = dies;
    for (unsigned i = 0; i < ranges; i++)
        work.base[i] = range[i], work.bytes[i] = bytes;
    if (ehp_host_run(&work) != EHP_OK)
        std::exit(1);
    return static_cast<double>(ranges * bytes) / static_cast<double>(work.ns);
}

static const size_t ARRAY = 610 * MIB; // STREAM's
static const unsigned TRIAD = 1 << 2;  // a third of the lines is written

template <typename F> static double microseconds(F call)
{
    stopwatch watch;
    watch.start();
    call();
    return watch.stop();
}

// Host calls take the host's time, which events in the stream see: an event before and one after.
template <typename A> static void allocator(const char *name, const char *free_name, A allocate, bool pinned)
{
    microseconds([] {}); // the first one opens the stream
    double empty = microseconds([] {});
    for (size_t bytes : {16 * KIB, GIB}) {
        void *p[10];
        int count = bytes < MIB ? 10 : 1;
        double at = static_cast<double>(bytes / KIB), us = microseconds([&] {
                                                          for (int i = 0; i < count; i++)
                                                              CHECK_HIP(allocate(&p[i], bytes));
                                                      });
        row(name, at, (us - empty) / count);
        us = microseconds([&] {
            for (int i = 0; i < count; i++)
                CHECK_HIP(pinned ? hipHostFree(p[i]) : hipFree(p[i]));
        });
        if (free_name)
            row(free_name, at, (us - empty) / count);
    }
}

static const uint64_t LOADS = 100000; // of a chase

// As much as the Infinity Cache holds, and twice as much.
static void chases(const char *name, char *p)
{
    for (size_t size : {256 * MIB, 512 * MIB})
        row(name, static_cast<double>(size / KIB),
            static_cast<double>(cpu(EHP_CPU_CHASE, 1, p, size, LOADS).ns) / LOADS);
}

static void upfront()
{
    allocator("alloc_device", nullptr, [](void **p, size_t n) { return hipMalloc(p, n); }, false);
    allocator("alloc_host", "free_host", [](void **p, size_t n) { return hipHostMalloc(p, n, 0); }, true);
    allocator(
        "alloc_managed", "free_managed", [](void **p, size_t n) { return hipMallocManaged(p, n); }, false);
    char *p, *array[3];
    uint64_t faults = 0; // STREAM's three arrays, but for the process's own 4 K
    for (char *&a : array) {
        CHECK_HIP(hipMalloc(&a, ARRAY));
        faults += cpu(EHP_CPU_TOUCH, 24, a, ARRAY).faults;
    }
    row("fault_count_cpu", 1, static_cast<double>(faults) / 1e3);
    row("cpu_stream_device", 0, stream(24, array, 3, ARRAY, TRIAD));
    row("cpu_read", 24, stream(24, array, 1, ARRAY, 0));
    row("cpu_read_die", 8, stream(8, array, 1, ARRAY, 0, 1));
    row("cpu_update", 24, 2 * stream(24, array, 1, ARRAY, 1)); // each byte is read and written
    for (char *a : array)
        CHECK_HIP(hipFree(a));
    for (char *&a : array)
        CHECK_HIP(hipHostMalloc(&a, ARRAY, 0));
    row("cpu_stream_host", 0, stream(24, array, 3, ARRAY, TRIAD));
    for (char *a : array)
        CHECK_HIP(hipHostFree(a));
    CHECK_HIP(hipMalloc(&p, 512 * MIB));
    chases("cpu_chase_device", p);
    CHECK_HIP(hipFree(p));
}

static void latency(const char *name, bool minor)
{
    const int pages = 200;
    long long *cycles;
    CHECK_HIP(hipMalloc(&cycles, pages * sizeof *cycles));
    std::vector<double> ns[2];
    char *p = map(pages * PAGE);
    if (minor)
        cpu(EHP_CPU_TOUCH, 1, p, pages * PAGE);
    for (int faulted = 1; faulted >= 0; faulted--) { // then they are there
        touch_slowly<<<1, 1>>>(p, pages, cycles);
        CHECK_HIP(hipDeviceSynchronize());
        for (int i = 0; i < pages; i++)
            ns[faulted].push_back(static_cast<double>(cycles[i]) / clock_ghz());
    }
    double base = 0, sum = 0;
    for (int i = 0; i < pages; i++)
        base += ns[0][i] / pages, sum += ns[1][i] / pages;
    std::sort(ns[1].begin(), ns[1].end());
    row(name, 50, (sum - base) / 1e3);
    row(name, 95, (ns[1][pages * 95 / 100] - base) / 1e3);
    CHECK_HIP(hipFree(cycles));
    munmap(p, pages * PAGE);
}

static const size_t FAULTS = 65536; // where it has stopped to increase

static void throughput(const char *name, bool minor)
{
    const size_t pages = FAULTS;
    int *out;
    CHECK_HIP(hipMalloc(&out, sizeof *out));
    char *p = map(pages * PAGE);
    if (minor)
        cpu(EHP_CPU_TOUCH, 12, p, pages * PAGE);
    auto once = [&] { touch<<<static_cast<unsigned>((pages + 63) / 64), 64>>>(p, pages, out); };
    double faulting = microseconds(once), base = microseconds(once);
    row(name, 0, static_cast<double>(pages) / (faulting - base));
    CHECK_HIP(hipFree(out));
    munmap(p, pages * PAGE);
}

static void cpu_faults()
{
    const size_t pages = 100000;
    for (unsigned cores : {1u, 12u}) {
        char *p = map(pages * PAGE);
        row("fault_rate_cpu", cores,
            pages * 1e3 / static_cast<double>(cpu(EHP_CPU_TOUCH, cores, p, pages * PAGE).ns));
        munmap(p, pages * PAGE);
    }
    char *one = map(PAGE);
    row("fault_latency_cpu", 50, static_cast<double>(cpu(EHP_CPU_TOUCH, 1, one, PAGE).ns) / 1e3);
    munmap(one, PAGE);
    uint64_t faults = 0; // STREAM's three arrays
    char *array[3];
    for (char *&a : array) {
        a = map(ARRAY);
        faults += cpu(EHP_CPU_TOUCH, 24, a, ARRAY).faults;
    }
    row("fault_count_cpu", 0, static_cast<double>(faults) / 1e3);
    for (unsigned cores : {9u, 24u})
        row("cpu_stream_malloc", cores, stream(cores, array, 3, ARRAY, TRIAD));
    for (char *a : array)
        munmap(a, ARRAY);
    for (char *&a : array) {
        CHECK_HIP(hipMallocManaged(&a, ARRAY));
        cpu(EHP_CPU_TOUCH, 24, a, ARRAY);
    }
    row("cpu_stream_managed", 9, stream(9, array, 3, ARRAY, TRIAD));
    for (char *a : array)
        CHECK_HIP(hipFree(a));
}

static void on_demand()
{
    void *managed;
    microseconds([] {}); // the first one opens the stream
    double empty = microseconds([] {});
    CHECK_HIP(hipMallocManaged(&managed, 64 * MIB));
    row("free_managed_demand", 64 * KIB, microseconds([&] { CHECK_HIP(hipFree(managed)); }) - empty);
    latency("fault_latency_minor", true);
    latency("fault_latency_major", false);
    throughput("fault_rate_minor", true);
    throughput("fault_rate_major", false);
    cpu_faults();

    int *out;
    char *array[3];
    CHECK_HIP(hipMalloc(&out, sizeof *out));
    for (char *&a : array) {
        a = map(ARRAY);
        touch<<<static_cast<unsigned>(ARRAY / PAGE / 64), 64>>>(a, ARRAY / PAGE, out);
    }
    CHECK_HIP(hipDeviceSynchronize());
    row("cpu_stream_malloc_gpu", 24, stream(24, array, 3, ARRAY, TRIAD));
    for (char *a : array)
        munmap(a, ARRAY);
    char *p = map(4 * GIB);
    cpu(EHP_CPU_TOUCH, 24, p, 4 * GIB);
    row("cpu_chase", 4 * MIB, static_cast<double>(cpu(EHP_CPU_CHASE, 1, p, 4 * GIB, LOADS).ns) / LOADS);
    munmap(p, 4 * GIB);
    p = map(512 * MIB);
    cpu(EHP_CPU_TOUCH, 24, p, 512 * MIB);
    chases("cpu_chase", p);
    munmap(p, 512 * MIB);
    p = map(KIB);
    cpu(EHP_CPU_TOUCH, 1, p, KIB);
    row("cpu_chase", 1, static_cast<double>(cpu(EHP_CPU_CHASE, 1, p, KIB, LOADS).ns) / LOADS);
    munmap(p, KIB);
}

// What so many pages take of the host's processor, and of its memory: not compared with anything.
static void many_faults(size_t pages)
{
    const auto at = static_cast<double>(pages);
    rusage used;
    auto processor = [&](auto call) {
        auto now = [&] {
            getrusage(RUSAGE_SELF, &used);
            return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
        };
        double before = now();
        call();
        return now() - before;
    };
    int *out;
    CHECK_HIP(hipMalloc(&out, sizeof *out));
    char *p = map(pages * PAGE);
    double faulting = 0, base = 0;
    auto once = [&] { touch<<<static_cast<unsigned>((pages + 63) / 64), 64>>>(p, pages, out); };
    row("host_seconds_touch", at, processor([&] { cpu(EHP_CPU_TOUCH, 12, p, pages * PAGE); }));
    row("host_seconds_faulting", at, processor([&] { faulting = microseconds(once); }));
    row("host_seconds_again", at, processor([&] { base = microseconds(once); }));
    row("fault_rate_minor", at, at / (faulting - base));
    row("host_mib", at, static_cast<double>(used.ru_maxrss) / 1024);
    CHECK_HIP(hipFree(out));
    munmap(p, pages * PAGE);
}

int main(int argc, char **argv)
{
    int pageable;
    CHECK_HIP(hipDeviceGetAttribute(&pageable, hipDeviceAttributePageableMemoryAccess, 0));
    CHECK_HIP(hipFree(nullptr));
    if (pageable && argc > 1)
        many_faults(std::strtoull(argv[1], nullptr, 10));
    else if (pageable)
        on_demand();
    else
        upfront();
    return 0;
}
