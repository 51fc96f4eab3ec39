// SPDX-License-Identifier: MIT
// What `ehp compare` runs on each design: one measurement, by its name, which prints a number and its unit.
// What is measured is between hipProfilerStart() and hipProfilerStop(), so that `ehp run --fabric` tells how
// busy the package was meanwhile.
#include <hip/ehp_host.h>
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#define CHECK_HIP(call)                                                                                      \
    do {                                                                                                     \
        hipError_t status_ = (call);                                                                         \
        if (status_ != hipSuccess) {                                                                         \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(status_));                               \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static const size_t MIB = 1 << 20;
typedef double pair __attribute__((ext_vector_type(2)));
typedef float square __attribute__((ext_vector_type(16)));

static void begin()
{
    (void)hipProfilerStart();
}

static void end()
{
    (void)hipProfilerStop();
}

// Time on the current device's null stream, in nanoseconds.
template <typename F> static double time_of(F launch)
{
    hipEvent_t from, to;
    float ms;
    CHECK_HIP(hipEventCreate(&from));
    CHECK_HIP(hipEventCreate(&to));
    CHECK_HIP(hipEventRecord(from));
    launch();
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipEventRecord(to));
    CHECK_HIP(hipEventSynchronize(to));
    CHECK_HIP(hipEventElapsedTime(&ms, from, to));
    CHECK_HIP(hipEventDestroy(from));
    CHECK_HIP(hipEventDestroy(to));
    return ms * 1e6;
}

static char *allocate(size_t bytes)
{
    void *p;
    CHECK_HIP(hipMalloc(&p, bytes));
    return static_cast<char *>(p);
}

static void say(double value, const char *unit)
{
    std::printf("%.6g %s\n", value, unit);
}

// ---- the GPU's memory ----

__global__ void read_all(const pair *a, pair *out)
{
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (pair x = a[i]; x.x == 1.25)
        *out = x;
}

__global__ void triad(pair *a, const pair *b, const pair *c, double scalar)
{
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    a[i] = b[i] + scalar * c[i];
}

static unsigned groups(size_t mib)
{
    return static_cast<unsigned>(mib * MIB / sizeof(pair) / 256);
}

// A short run and a long one, by what the long one takes more: so neither a launch nor its end counts.
template <typename F> static double rate(size_t few, size_t many, F launch)
{
    time_of([&] { launch(0, 1); }); // its code is there
    const double first = time_of([&] { launch(1, few); });
    begin();
    const double second = time_of([&] { launch(1 + few, many); });
    end();
    return static_cast<double>((many - few) * MIB) / (second - first);
}

// Memory of the first device's, which the first or the last device reads.
static void device_reads(bool far)
{
    int devices;
    const size_t few = 4, many = 64;
    CHECK_HIP(hipGetDeviceCount(&devices));
    char *p = allocate((1 + few + many) * MIB);
    if (far)
        CHECK_HIP(hipSetDevice(devices - 1));
    say(rate(few, many,
             [&](size_t from, size_t mib) {
                 read_all<<<groups(mib), 256>>>(reinterpret_cast<pair *>(p + from * MIB),
                                                reinterpret_cast<pair *>(p));
             }),
        "GB/s");
}

static void all_gpus()
{
    const size_t few = 4, many = 40;
    char *array[3];
    for (char *&p : array)
        p = allocate((1 + few + many) * MIB);
    say(3 * rate(few, many,
                 [&](size_t from, size_t mib) {
                     pair *at[3];
                     for (int i = 0; i < 3; i++)
                         at[i] = reinterpret_cast<pair *>(array[i] + from * MIB);
                     triad<<<groups(mib), 256>>>(at[0], at[1], at[2], 0.4);
                 }),
        "GB/s");
}

// ---- from GPU to GPU ----

// Workgroups are dealt to the XCDs in turn: of the first and the last one, each waits for the other's number.
__global__ void pass_on(unsigned *value, unsigned partner, unsigned last)
{
    if (threadIdx.x || (blockIdx.x && blockIdx.x != partner))
        return;
    for (unsigned next = blockIdx.x ? 2 : 1; next <= last;)
        if (atomicCAS(value, next - 1, next) == next - 1)
            next += 2;
}

static void messages(unsigned xcds)
{
    const unsigned few = 100, many = 300;
    auto *value = reinterpret_cast<unsigned *>(allocate(128));
    auto run = [&](unsigned last) {
        CHECK_HIP(hipMemset(value, 0, sizeof(*value)));
        return time_of([&] { pass_on<<<xcds, 64>>>(value, xcds - 1, last); });
    };
    const double first = run(few);
    begin();
    const double second = run(many);
    end();
    say((second - first) / (many - few), "ns");
}

// ---- compute ----

enum { PRODUCTS = 4 }; // that do not wait for each other

__global__ void multiply(float *out, int rounds)
{
    square sum[PRODUCTS] = {};
    const float x = static_cast<float>(threadIdx.x), y = static_cast<float>(rounds);
    for (int i = 0; i < rounds; i++)
        for (square &s : sum)
            s = __builtin_amdgcn_mfma_f32_32x32x2f32(x, y, s, 0, 0, 0);
    float all = 0;
    for (const square &s : sum)
        all += s[0];
    if (all == 1.25f)
        *out = all;
}

static void matrices()
{
    const int few = 16, many = 128;
    hipDeviceProp_t properties;
    CHECK_HIP(hipGetDeviceProperties(&properties, 0));
    const unsigned cus = static_cast<unsigned>(properties.multiProcessorCount);
    auto *out = reinterpret_cast<float *>(allocate(128));
    auto run = [&](int rounds) { return time_of([&] { multiply<<<cus, 256>>>(out, rounds); }); };
    run(1);
    const double first = run(few);
    begin();
    const double second = run(many);
    end();
    say(cus * 4.0 * (many - few) * PRODUCTS * (32 * 32 * 2 * 2) / (second - first) / 1e3, "TFLOP/s");
}

// ---- the CPU's memory ----

static ehp_cpu_work on_cores(int operation, unsigned cores, void *base, size_t bytes, uint64_t passes)
{
    ehp_cpu_work work = EHP_CPU_WORK_INIT;
    work.operation = operation;
    work.cores = cores;
    work.passes = passes;
    work.ranges = 1;
    work.base[0] = base;
    work.bytes[0] = bytes;
    if (ehp_host_run(&work) != EHP_OK) {
        std::fprintf(stderr, "no cores that take simulated time\n");
        std::exit(1);
    }
    return work;
}

static void cpu(bool latency, unsigned cores)
{
    const size_t bytes = (latency ? 256 : 64) * MIB;
    const uint64_t loads = 1000;
    void *p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        std::fprintf(stderr, "no memory\n");
        std::exit(1);
    }
    on_cores(EHP_CPU_TOUCH, cores, p, bytes, 1);
    begin();
    const ehp_cpu_work work =
        latency ? on_cores(EHP_CPU_CHASE, 1, p, bytes, loads) : on_cores(EHP_CPU_STREAM, cores, p, bytes, 1);
    end();
    if (latency)
        say(static_cast<double>(work.ns) / loads, "ns");
    else
        say(static_cast<double>(bytes) / static_cast<double>(work.ns), "GB/s");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const unsigned count = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
    if (!std::strcmp(what, "near") || !std::strcmp(what, "far"))
        device_reads(*what == 'f');
    else if (!std::strcmp(what, "whole"))
        all_gpus();
    else if (!std::strcmp(what, "messages"))
        messages(count);
    else if (!std::strcmp(what, "matrix"))
        matrices();
    else if (!std::strcmp(what, "cpu-latency") || !std::strcmp(what, "cpu-read"))
        cpu(!std::strcmp(what, "cpu-latency"), count);
    else
        return std::fprintf(stderr,
                            "usage: package near|far|whole|matrix | messages XCDS | cpu-latency CORES | "
                            "cpu-read CORES\n"),
               2;
    return 0;
}
