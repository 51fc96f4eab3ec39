// SPDX-License-Identifier: MIT
// What ordinary programs do, for determinism.sh: kernels side by side, atomics, copies, events, queries, host
// functions, printf. It prints what simulated time says of each. With an argument the host is slow in
// between: it sleeps and computes at random, which nobody may notice.
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#define CHECK_HIP(call)                                                                                      \
    do {                                                                                                     \
        hipError_t status_ = (call);                                                                         \
        if (status_ != hipSuccess) {                                                                         \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(status_));                               \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static std::minstd_rand *delay; // nullptr: none
static volatile int *seen;      // memory that the GPU sees as well

static void sleep_us(int us)
{
    std::this_thread::sleep_for(std::chrono::microseconds(us));
}

// Between two calls: nothing, a moment, or so long that simulated time would go on for a host that polls.
// Memory that is used now and then does not make it one.
static void gap()
{
    if (!delay)
        return;
    const unsigned kind = (*delay)() % 16;
    if (kind == 0) {
        sleep_us(120000);
    } else if (kind == 1) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(120);
        static volatile unsigned private_work;
        while (std::chrono::steady_clock::now() < end)
            private_work = private_work * 3 + 1;
    } else if (kind == 2) {
        for (int i = 0; i < 3; i++) {
            sleep_us(40000);
            *seen = *seen + 1;
        }
        sleep_us(40000);
    } else if (kind < 8) {
        sleep_us(static_cast<int>((*delay)() % 3000));
    }
}

__global__ void chain(float *p, int n, int rounds, long long *cycles)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const long long start = clock64();
    float v = p[i % n];
    for (int r = 0; r < rounds; r++)
        v = p[(i * 7 + r * 64) % n] * 0.5f + v;
    p[i % n] = v;
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - start;
}

// What each work-item gets says who came first.
__global__ void take_tickets(unsigned *counter, unsigned *ticket, int counters)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++)
        ticket[i] = ticket[i] * 31 + atomicAdd(&counter[(i + k) % counters], 1u);
}

__global__ void say(int from)
{
    if (threadIdx.x % 32 == 0)
        printf("workgroup %d, work-item %d, from %d\n", static_cast<int>(blockIdx.x),
               static_cast<int>(threadIdx.x), from);
}

static uint64_t hash(const void *data, size_t bytes)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ static_cast<const unsigned char *>(data)[i]) * 1099511628211u;
    return h;
}

static void print_hash(const char *what, const void *device, size_t bytes)
{
    std::vector<unsigned char> host(bytes);
    CHECK_HIP(hipMemcpy(host.data(), device, bytes, hipMemcpyDeviceToHost));
    std::printf("%s %016llx\n", what, static_cast<unsigned long long>(hash(host.data(), bytes)));
}

static void print_time(const char *what, hipEvent_t from, hipEvent_t to)
{
    float ms;
    CHECK_HIP(hipEventElapsedTime(&ms, from, to));
    std::printf("%s %.6f ms\n", what, ms);
}

static hipEvent_t event[6];

static constexpr int N = 1 << 16, BLOCKS = 40;

// The second kernel comes while the first runs, and a third waits for both.
static void side_by_side()
{
    hipStream_t a, b;
    float *p, *q;
    long long *cycles;
    CHECK_HIP(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    CHECK_HIP(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    CHECK_HIP(hipMalloc(&p, N * sizeof(float)));
    CHECK_HIP(hipMalloc(&q, N * sizeof(float)));
    CHECK_HIP(hipMalloc(&cycles, 3 * BLOCKS * sizeof(*cycles)));
    CHECK_HIP(hipMemset(p, 0, N * sizeof(float)));
    CHECK_HIP(hipMemset(q, 0, N * sizeof(float)));
    CHECK_HIP(hipDeviceSynchronize());
    for (int round = 0; round < 3; round++) {
        CHECK_HIP(hipEventRecord(event[0], a));
        gap();
        chain<<<BLOCKS, 256, 0, a>>>(p, N, 60, cycles);
        CHECK_HIP(hipEventRecord(event[1], a));
        gap();
        CHECK_HIP(hipEventRecord(event[2], b));
        chain<<<BLOCKS, 256, 0, b>>>(q, N, 20, cycles + BLOCKS);
        gap();
        CHECK_HIP(hipEventRecord(event[3], b));
        CHECK_HIP(hipStreamWaitEvent(a, event[3], 0));
        gap();
        chain<<<BLOCKS, 256, 0, a>>>(q, N, 5, cycles + 2 * BLOCKS);
        CHECK_HIP(hipEventRecord(event[4], a));
        gap();
        CHECK_HIP(hipEventSynchronize(event[3]));
        gap();
        chain<<<1, 64, 0, b>>>(p, N, 3, cycles);
        CHECK_HIP(hipEventRecord(event[5], b));
        gap();
        CHECK_HIP(hipStreamSynchronize(a));
        gap();
        CHECK_HIP(hipDeviceSynchronize());
        print_time("first", event[0], event[1]);
        print_time("second", event[2], event[3]);
        print_time("both", event[0], event[4]);
        print_time("last", event[3], event[5]);
        print_hash("cycles", cycles, 3 * BLOCKS * sizeof(*cycles));
    }
    CHECK_HIP(hipFree(p));
    gap();
    CHECK_HIP(hipFree(q));
    CHECK_HIP(hipFree(cycles));
    CHECK_HIP(hipStreamDestroy(a));
    CHECK_HIP(hipStreamDestroy(b));
}

static void atomics()
{
    unsigned *counter, *ticket;
    CHECK_HIP(hipMalloc(&counter, 64 * sizeof(*counter)));
    CHECK_HIP(hipMalloc(&ticket, BLOCKS * 256 * sizeof(*ticket)));
    CHECK_HIP(hipMemset(counter, 0, 64 * sizeof(*counter)));
    CHECK_HIP(hipMemset(ticket, 0, BLOCKS * 256 * sizeof(*ticket)));
    for (int counters : {1, 64}) {
        CHECK_HIP(hipEventRecord(event[0]));
        gap();
        take_tickets<<<BLOCKS, 256>>>(counter, ticket, counters);
        gap();
        CHECK_HIP(hipEventRecord(event[1]));
        CHECK_HIP(hipEventSynchronize(event[1]));
        print_time("atomics", event[0], event[1]);
        print_hash("tickets", ticket, BLOCKS * 256 * sizeof(*ticket));
    }
    CHECK_HIP(hipFree(counter));
    CHECK_HIP(hipFree(ticket));
}

static void copies()
{
    std::vector<char> pageable(100000, 1);
    char *device, *pinned;
    CHECK_HIP(hipMalloc(&device, 200000));
    CHECK_HIP(hipHostMalloc(&pinned, 100000));
    CHECK_HIP(hipEventRecord(event[0]));
    CHECK_HIP(hipMemcpyAsync(device, pinned, 100000, hipMemcpyHostToDevice));
    gap();
    CHECK_HIP(hipEventRecord(event[1]));
    CHECK_HIP(hipMemcpyAsync(device + 100000, device, 100000, hipMemcpyDeviceToDevice));
    CHECK_HIP(hipEventRecord(event[2]));
    gap();
    CHECK_HIP(hipMemcpy(pageable.data(), device + 100000, 100000, hipMemcpyDeviceToHost));
    gap();
    CHECK_HIP(hipEventRecord(event[3]));
    CHECK_HIP(hipDeviceSynchronize());
    print_time("copy to the device", event[0], event[1]);
    print_time("copy within it", event[1], event[2]);
    print_time("copy to the host", event[2], event[3]);
    CHECK_HIP(hipFree(device));
    CHECK_HIP(hipHostFree(pinned));
}

// How often the host must ask is a matter of simulated time as well.
static void queries()
{
    float *p;
    long long *cycles;
    hipStream_t stream;
    CHECK_HIP(hipStreamCreate(&stream));
    CHECK_HIP(hipMalloc(&p, N * sizeof(float)));
    CHECK_HIP(hipMalloc(&cycles, BLOCKS * sizeof(*cycles)));
    chain<<<BLOCKS, 256, 0, stream>>>(p, N, 10, cycles);
    CHECK_HIP(hipEventRecord(event[0], stream));
    int events = 0, streams = 0;
    for (; hipEventQuery(event[0]) == hipErrorNotReady; events++)
        if (events % 20 == 0)
            gap();
    chain<<<BLOCKS, 256, 0, stream>>>(p, N, 10, cycles);
    for (; hipStreamQuery(stream) == hipErrorNotReady; streams++)
        ;
    std::printf("asked %d and %d times\n", events, streams);
    CHECK_HIP(hipEventRecord(event[1], stream));
    CHECK_HIP(hipStreamSynchronize(stream));
    print_time("between", event[0], event[1]);
    CHECK_HIP(hipFree(p));
    CHECK_HIP(hipFree(cycles));
    CHECK_HIP(hipStreamDestroy(stream));
}

static void slow_function(void *user)
{
    gap();
    ++*static_cast<int *>(user);
}

// The host's part of streams, and of kernels: other kernels run meanwhile.
static void host_functions()
{
    hipStream_t a, b;
    float *p;
    long long *cycles;
    int called = 0;
    CHECK_HIP(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    CHECK_HIP(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    CHECK_HIP(hipMalloc(&p, N * sizeof(float)));
    CHECK_HIP(hipMalloc(&cycles, 2 * BLOCKS * sizeof(*cycles)));
    CHECK_HIP(hipEventRecord(event[0], a));
    chain<<<BLOCKS, 256, 0, a>>>(p, N, 40, cycles);
    CHECK_HIP(hipEventRecord(event[1], a));
    for (int i = 0; i < 4; i++) {
        chain<<<1, 64, 0, b>>>(p, N, 4, cycles + BLOCKS);
        CHECK_HIP(hipLaunchHostFunc(b, slow_function, &called));
        say<<<2, 64, 0, b>>>(i);
        gap();
    }
    CHECK_HIP(hipEventRecord(event[2], b));
    gap();
    CHECK_HIP(hipDeviceSynchronize());
    std::printf("%d functions\n", called);
    print_time("beside functions", event[0], event[1]);
    print_time("with functions", event[0], event[2]);
    print_hash("cycles", cycles, 2 * BLOCKS * sizeof(*cycles));
    CHECK_HIP(hipFree(p));
    CHECK_HIP(hipFree(cycles));
    CHECK_HIP(hipStreamDestroy(a));
    CHECK_HIP(hipStreamDestroy(b));
}

// More packets than a queue has room for: the host waits for the processor.
static void many_packets()
{
    hipStream_t stream;
    long long *cycles;
    float *p;
    CHECK_HIP(hipStreamCreate(&stream));
    CHECK_HIP(hipMalloc(&p, N * sizeof(float)));
    CHECK_HIP(hipMalloc(&cycles, sizeof(*cycles)));
    CHECK_HIP(hipEventRecord(event[0], stream));
    chain<<<1, 64, 0, stream>>>(p, N, 200, cycles);
    for (int i = 0; i < 1100; i++)
        CHECK_HIP(hipEventRecord(event[1], stream));
    chain<<<1, 64>>>(p, N, 1, cycles);
    CHECK_HIP(hipEventRecord(event[2], stream));
    CHECK_HIP(hipDeviceSynchronize());
    print_time("packets", event[0], event[1]);
    print_time("and more", event[0], event[2]);
    CHECK_HIP(hipFree(p));
    CHECK_HIP(hipFree(cycles));
    CHECK_HIP(hipStreamDestroy(stream));
}

int main(int argc, char **argv)
{
    std::minstd_rand random(argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1);
    if (argc > 1)
        delay = &random;
    int *pinned;
    CHECK_HIP(hipHostMalloc(&pinned, sizeof(*pinned)));
    seen = pinned;
    for (hipEvent_t &e : event)
        CHECK_HIP(hipEventCreate(&e));
    side_by_side();
    atomics();
    copies();
    queries();
    host_functions();
    many_packets();
    CHECK_HIP(hipHostFree(pinned));
    return 0;
}
