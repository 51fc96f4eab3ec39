// SPDX-License-Identifier: MIT
// Devices of several packages: what one stores to another's memory, what is seen of it and when, and how long
// that takes.  Prints lines that must be the same on every run.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_HIP(call)                                                                                      \
    do {                                                                                                     \
        hipError_t status_ = (call);                                                                         \
        if (status_ != hipSuccess) {                                                                         \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(status_));                               \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static const uint32_t WORDS = 1024, ROUNDS = 8;

static unsigned wrong_in_all;

static void report(const char *what, uint32_t wrong)
{
    wrong_in_all += wrong != 0;
    std::printf("%s: %u wrong\n", what, wrong);
}

template <typename T> static T *memory_on(int device, size_t count)
{
    T *p;
    CHECK_HIP(hipSetDevice(device));
    CHECK_HIP(hipMalloc(&p, count * sizeof(T)));
    CHECK_HIP(hipMemset(p, 0, count * sizeof(T)));
    CHECK_HIP(hipDeviceSynchronize());
    return p;
}

// ---- kernels that run at the same time on two devices ----

__global__ void send(uint32_t *data, uint32_t *flag, const uint32_t *back, bool fence)
{
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        for (uint32_t i = threadIdx.x; i < WORDS; i += blockDim.x)
            data[i] = round * 1000 + i;
        if (fence)
            __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0) {
            __hip_atomic_store(flag, round, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
            while (__hip_atomic_load(back, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) < round)
                __builtin_amdgcn_s_sleep(8);
        }
        __syncthreads();
    }
}

__global__ void receive(const uint32_t *data, const uint32_t *flag, uint32_t *back, uint32_t *wrong,
                        bool fence)
{
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) < round)
            __builtin_amdgcn_s_sleep(8);
        if (fence)
            __threadfence_system();
        for (uint32_t i = threadIdx.x; i < WORDS; i += blockDim.x)
            if (*const_cast<const volatile uint32_t *>(&data[i]) != round * 1000 + i)
                atomicAdd(wrong, 1u);
        __syncthreads();
        if (threadIdx.x == 0)
            __hip_atomic_store(back, round, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    }
}

// The data in memory of device `home`; returns how many words were old.
static uint32_t pass_messages(int from, int to, int home, bool fence)
{
    uint32_t *data = memory_on<uint32_t>(home, WORDS), *flag = memory_on<uint32_t>(to, 1),
             *back = memory_on<uint32_t>(from, 1), *wrong = memory_on<uint32_t>(to, 1), count;
    CHECK_HIP(hipSetDevice(from));
    send<<<1, 256>>>(data, flag, back, fence);
    CHECK_HIP(hipSetDevice(to));
    receive<<<1, 256>>>(data, flag, back, wrong, fence);
    CHECK_HIP(hipDeviceSynchronize());
    CHECK_HIP(hipSetDevice(from));
    CHECK_HIP(hipDeviceSynchronize());
    CHECK_HIP(hipMemcpy(&count, wrong, sizeof count, hipMemcpyDefault));
    for (void *p : {static_cast<void *>(data), static_cast<void *>(flag), static_cast<void *>(back),
                    static_cast<void *>(wrong)})
        CHECK_HIP(hipFree(p));
    return count;
}

// ---- all devices add to the same words ----

__global__ void add(uint32_t *sums, uint32_t words, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        __hip_atomic_fetch_add(&sums[(threadIdx.x + i) % words], 1u, __ATOMIC_RELAXED,
                               __HIP_MEMORY_SCOPE_SYSTEM);
}

static void additions(int devices)
{
    const uint32_t words = 37, times = 8, blocks = 4;
    uint32_t *sums = memory_on<uint32_t>(devices - 1, words), total = 0;
    for (int d = 0; d < devices; d++) {
        CHECK_HIP(hipSetDevice(d));
        add<<<blocks, 64>>>(sums, words, times);
    }
    for (int d = 0; d < devices; d++) {
        CHECK_HIP(hipSetDevice(d));
        CHECK_HIP(hipDeviceSynchronize());
    }
    std::vector<uint32_t> host(words);
    CHECK_HIP(hipMemcpy(host.data(), sums, words * sizeof(uint32_t), hipMemcpyDefault));
    for (uint32_t n : host)
        total += n;
    report("atomic additions of all devices", total != static_cast<uint32_t>(devices) * blocks * 64 * times);
    CHECK_HIP(hipFree(sums));
}

// ---- a kernel at a time ----

__global__ void plus_one(const uint32_t *from, uint32_t *to, uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i] + 1;
}

// From device to device and back to the first, each stores to the next one's memory.
static void round_trip(int devices)
{
    const uint32_t count = 1 << 18;
    std::vector<uint32_t *> part;
    std::vector<uint32_t> host(count);
    for (int d = 0; d < devices; d++)
        part.push_back(memory_on<uint32_t>(d, count));
    hipEvent_t begin, end;
    float ms;
    CHECK_HIP(hipSetDevice(0));
    CHECK_HIP(hipEventCreate(&begin));
    CHECK_HIP(hipEventCreate(&end));
    for (int d = 0; d < devices; d++) {
        CHECK_HIP(hipSetDevice(d));
        if (d == 0)
            CHECK_HIP(hipEventRecord(begin));
        plus_one<<<count / 256, 256>>>(part[d], part[(d + 1) % devices], count);
        if (d == 0)
            CHECK_HIP(hipEventRecord(end));
        CHECK_HIP(hipDeviceSynchronize());
    }
    CHECK_HIP(hipEventElapsedTime(&ms, begin, end));
    CHECK_HIP(hipMemcpy(host.data(), part[0], count * sizeof(uint32_t), hipMemcpyDefault));
    uint32_t wrong = 0;
    for (uint32_t n : host)
        wrong += n != static_cast<uint32_t>(devices);
    report("round of stores to the next device", wrong);
    CHECK_HIP(hipMemcpyPeer(part[devices - 1], devices - 1, part[0], 0, count * sizeof(uint32_t)));
    CHECK_HIP(hipMemcpy(host.data(), part[devices - 1], count * sizeof(uint32_t), hipMemcpyDefault));
    wrong = 0;
    for (uint32_t n : host)
        wrong += n != static_cast<uint32_t>(devices);
    report("copy to the last device", wrong);
    std::printf("a kernel that stores 1 MiB to its neighbour: %.3f us\n", static_cast<double>(ms) * 1e3);
    for (uint32_t *p : part)
        CHECK_HIP(hipFree(p));
}

int main(int argc, char **argv)
{
    const bool stale_expected = argc > 1; // in simulated time
    int devices;
    CHECK_HIP(hipGetDeviceCount(&devices));
    std::printf("%d devices\n", devices);
    for (int d = 0; d < devices; d++)
        for (int peer = 0; peer < devices; peer++) {
            CHECK_HIP(hipSetDevice(d));
            if (peer != d)
                CHECK_HIP(hipDeviceEnablePeerAccess(peer, 0));
        }
    report("messages by fences, data at the receiver's", pass_messages(0, 1, 1, true));
    report("messages by fences, data at the sender's", pass_messages(0, 1, 0, true));
    report("messages by fences, data at a third", pass_messages(0, 1, devices - 1, true));
    const uint32_t stale = pass_messages(0, 1, 0, false);
    std::printf("messages without fences: %u old words\n", stale);
    if (stale_expected && !stale) {
        std::printf("a missing fence does not show\n");
        return 1;
    }
    additions(devices);
    round_trip(devices);
    return wrong_in_all != 0;
}
