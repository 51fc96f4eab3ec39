// SPDX-License-Identifier: MIT
// A host behind PCIe: what is where, what comes over, and how long it takes.
#include "check_hip.h"

enum { BYTES = 8 << 20, STEPS = 64 };

static bool timing;

__global__ void chase(const size_t *from, size_t *ticks)
{
    const size_t begin = wall_clock64();
    for (int i = 0; i < STEPS; i++)
        from = reinterpret_cast<const size_t *>(*from);
    ticks[0] = wall_clock64() - begin;
    ticks[1] = reinterpret_cast<size_t>(from);
}

__global__ void twice(unsigned *at, size_t count)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        at[i] *= 2;
}

__global__ void count_up(unsigned *at)
{
    __hip_atomic_fetch_add(at, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

// The host stores a flag while the kernel looks for it, and the kernel's answer is there when it says so.
__global__ void answer(unsigned *flag, unsigned *value)
{
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != 1)
        __builtin_amdgcn_s_sleep(10);
    *value += 1;
    __hip_atomic_store(flag, 2, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

// Of a load, in ns: each in a page of its own.
static double latency(size_t *at, size_t *ticks)
{
    std::vector<size_t> list(STEPS * 512);
    for (size_t i = 0; i < STEPS; i++)
        list[i * 512] = reinterpret_cast<size_t>(at + (i + 1) % STEPS * 512);
    HIP_OK(hipMemcpy(at, list.data(), list.size() * sizeof(size_t), hipMemcpyDefault));
    chase<<<1, 1>>>(at, ticks);
    HIP_OK(hipDeviceSynchronize());
    CHECK(ticks[1] == reinterpret_cast<size_t>(at), "ends where it began");
    return ticks[0] * 10.0 / STEPS;
}

static double copy_takes(void *to, const void *from, size_t bytes)
{
    hipEvent_t begin, end;
    float ms;
    HIP_OK(hipEventCreate(&begin));
    HIP_OK(hipEventCreate(&end));
    HIP_OK(hipEventRecord(begin));
    HIP_OK(hipMemcpyAsync(to, from, bytes, hipMemcpyDefault));
    HIP_OK(hipEventRecord(end));
    HIP_OK(hipEventSynchronize(end));
    HIP_OK(hipEventElapsedTime(&ms, begin, end));
    HIP_OK(hipEventDestroy(begin));
    HIP_OK(hipEventDestroy(end));
    return ms * 1e6;
}

int main()
{
    const char *mode = getenv("EHP_MODE");
    timing = mode && !strcmp(mode, "timing");
    unsigned *host, *device;
    size_t *ticks, before, after, all;
    HIP_OK(hipMemGetInfo(&before, &all));
    HIP_OK(hipHostMalloc(&host, BYTES));
    HIP_OK(hipHostMalloc(&ticks, 2 * sizeof *ticks));
    HIP_OK(hipMemGetInfo(&after, &all));
    CHECK(before == after, "host memory is none of the device's: %zu", before - after);
    HIP_OK(hipMalloc(&device, BYTES));

    const double near = latency(reinterpret_cast<size_t *>(device), ticks),
                 far = latency(reinterpret_cast<size_t *>(host), ticks);
    if (timing) // 400 ns each way, beyond what is on the package
        CHECK(far > 900 && far < 1300 && near < 700, "%.0f ns, of device memory %.0f", far, near);

    const size_t count = BYTES / sizeof *host;
    for (size_t i = 0; i < count; i++)
        host[i] = static_cast<unsigned>(i);
    const double up = BYTES / copy_takes(device, host, BYTES);
    twice<<<64, 256>>>(device, count);
    const double down = BYTES / copy_takes(host, device, BYTES);
    for (size_t i = 0; i < count; i += 4097)
        CHECK(host[i] == 2 * i, "%zu: %u", i, host[i]);
    if (timing) // 256 of 280 bytes, and the copies' beginnings
        CHECK(up > 50 && up < 57.6 && down > 50 && down < 57.6, "%.1f GB/s up, %.1f down", up, down);
    twice<<<64, 256>>>(host, count);
    HIP_OK(hipDeviceSynchronize());
    for (size_t i = 0; i < count; i += 4097)
        CHECK(host[i] == 4 * i, "%zu: %u", i, host[i]);

    // The process's own, registered and not.
    std::vector<unsigned> own(count, 3);
    HIP_OK(hipMemcpy(device, own.data(), BYTES, hipMemcpyHostToDevice));
    HIP_OK(hipHostRegister(own.data(), BYTES, 0));
    twice<<<64, 256>>>(own.data(), count);
    HIP_OK(hipDeviceSynchronize());
    CHECK(own[0] == 6 && own[count - 1] == 6, "%u %u", own[0], own[count - 1]);
    HIP_OK(hipHostUnregister(own.data()));
    HIP_OK(hipMemcpy(own.data(), device, BYTES, hipMemcpyDeviceToHost));
    CHECK(own[0] == 3 && own[count - 1] == 3, "%u %u", own[0], own[count - 1]);

    host[0] = 0;
    count_up<<<64, 64>>>(host);
    HIP_OK(hipDeviceSynchronize());
    CHECK(host[0] == 64 * 64, "%u", host[0]);

    host[0] = 0;
    host[64] = 41;
    answer<<<1, 1>>>(host, host + 64);
    __atomic_store_n(host, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(host, __ATOMIC_ACQUIRE) != 2)
        (void)hipStreamQuery(nullptr); // lets simulated time go on
    CHECK(host[64] == 42, "%u", host[64]);
    HIP_OK(hipDeviceSynchronize());

    HIP_OK(hipFree(device));
    HIP_OK(hipHostFree(host));
    HIP_OK(hipHostFree(ticks));
    return check_done();
}
