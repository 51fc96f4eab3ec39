// SPDX-License-Identifier: MIT
// Four MI300A: the cores of one read and write memory of others, its GPU and its SDMA engines too.
// Package 1 is the near one and package 2 the far one, by where the links of the first are.
#include <hip/ehp_host.h>

#include "measure.h"

static constexpr size_t MIB = 1 << 20, GIB = MIB << 10;
static constexpr unsigned NEAR = 1, FAR = 2;

static ehp_cpu_work cpu(int operation, unsigned cores, void *base, size_t bytes, uint64_t passes)
{
    ehp_cpu_work work = EHP_CPU_WORK_INIT;
    work.operation = operation;
    work.cores = cores;
    work.passes = passes;
    work.ranges = 1;
    work.base[0] = base;
    work.bytes[0] = bytes;
    if (ehp_host_run(&work) != EHP_OK)
        std::exit(1);
    return work;
}

// Pinned memory of a package.
static void *memory_of(unsigned package, size_t bytes)
{
    void *p;
    CHECK_HIP(hipSetDevice(static_cast<int>(package)));
    CHECK_HIP(hipHostMalloc(&p, bytes, 0));
    CHECK_HIP(hipSetDevice(0));
    return p;
}

static void latency(const char *name, unsigned package, unsigned at)
{
    const uint64_t loads = 100000;
    const size_t bytes = 2 * GIB;
    void *p = memory_of(package, bytes);
    char quantity[64];
    std::snprintf(quantity, sizeof quantity, "node_latency_%s", name);
    row(quantity, at,
        static_cast<double>(cpu(EHP_CPU_CHASE, 1, p, bytes, loads).ns) / static_cast<double>(loads));
    CHECK_HIP(hipHostFree(p));
}

// What the Infinity Cache there has.
static void cached(const char *name, unsigned package)
{
    const uint64_t loads = 30000;
    const size_t bytes = 256 * MIB;
    void *p = memory_of(package, bytes);
    char quantity[64];
    std::snprintf(quantity, sizeof quantity, "node_latency_cache_%s", name);
    row(quantity, 0,
        static_cast<double>(cpu(EHP_CPU_CHASE, 1, p, bytes, loads).ns) / static_cast<double>(loads));
    CHECK_HIP(hipHostFree(p));
}

__global__ static void read(const uint4 *from, unsigned *to)
{
    const uint4 v = from[blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x];
    if (v.x + v.y + v.z + v.w == 1)
        *to = 1;
}

// And nobody else: its GPU has read it.
static void cached_stream()
{
    const size_t bytes = 32 * MIB;
    void *p = memory_of(NEAR, bytes);
    unsigned *sink;
    CHECK_HIP(hipSetDevice(NEAR));
    CHECK_HIP(hipMalloc(&sink, sizeof *sink));
    read<<<bytes / sizeof(uint4) / 256, 256>>>(static_cast<const uint4 *>(p), sink);
    CHECK_HIP(hipDeviceSynchronize());
    CHECK_HIP(hipFree(sink));
    CHECK_HIP(hipSetDevice(0));
    row("node_read_cache", 24,
        static_cast<double>(bytes) / static_cast<double>(cpu(EHP_CPU_STREAM, 24, p, bytes, 1).ns));
    CHECK_HIP(hipHostFree(p));
}

// Without their lines in a cache of any kind; and stores that go past all of them.
static void streams()
{
    const size_t bytes = 16 * MIB;
    for (unsigned cores : {2u, 24u}) {
        void *p = memory_of(NEAR, bytes);
        row("node_read_memory", cores,
            static_cast<double>(bytes) / static_cast<double>(cpu(EHP_CPU_STREAM, cores, p, bytes, 1).ns));
        CHECK_HIP(hipHostFree(p));
    }
    void *p = memory_of(NEAR, bytes);
    ehp_cpu_work work = EHP_CPU_WORK_INIT;
    work.operation = EHP_CPU_STREAM;
    work.cores = 24;
    work.passes = 1;
    work.ranges = 1;
    work.base[0] = p;
    work.bytes[0] = bytes;
    work.written = work.past = 1;
    if (ehp_host_run(&work) != EHP_OK)
        std::exit(1);
    row("node_write_past", 24, static_cast<double>(bytes) / static_cast<double>(work.ns));
    CHECK_HIP(hipHostFree(p));
}

__global__ static void copy_rows(const uint4 *from, uint4 *to, size_t count)
{
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count;
         i += gridDim.x * static_cast<size_t>(blockDim.x))
        to[i] = from[i];
}

static void copies()
{
    const size_t bytes = 16 * MIB;
    void *here, *there;
    stopwatch watch;
    CHECK_HIP(hipMalloc(&here, bytes));
    CHECK_HIP(hipSetDevice(NEAR));
    CHECK_HIP(hipMalloc(&there, bytes));
    CHECK_HIP(hipSetDevice(0));
    CHECK_HIP(hipDeviceEnablePeerAccess(NEAR, 0));
    auto time = [&](const char *name, auto call) {
        watch.start();
        call();
        row(name, 0, static_cast<double>(bytes) / watch.stop() / 1e3);
    };
    time("node_copy_peer", [&] { CHECK_HIP(hipMemcpyPeerAsync(there, NEAR, here, 0, bytes, nullptr)); });
    time("node_kernel_store", [&] {
        copy_rows<<<456, 256>>>(static_cast<const uint4 *>(here), static_cast<uint4 *>(there),
                                bytes / sizeof(uint4));
    });
    time("node_kernel_load", [&] {
        copy_rows<<<456, 256>>>(static_cast<const uint4 *>(there), static_cast<uint4 *>(here),
                                bytes / sizeof(uint4));
    });
    CHECK_HIP(hipFree(here));
    CHECK_HIP(hipFree(there));
}

int main()
{
    CHECK_HIP(hipFree(nullptr));
    latency("memory", 0, 0);
    latency("memory", NEAR, NEAR);
    latency("memory", FAR, FAR);
    cached("near", NEAR);
    cached("far", FAR);
    cached_stream();
    streams();
    copies();
    return 0;
}
