// SPDX-License-Identifier: MIT
// The sum of an array over all devices, on all of them, in two ways. Direct: each device adds up its part of
// every peer's array and stores the sums to all. Ring: kernels that run on all devices at once pass slices to
// the next one, first sums, then results, by flags in each other's memory and without the host.
//
//     all_reduce [KIB...]               array sizes, 64 256 1024 unless told
//     ehp run --node mi300a-x4 --mode timing ./all_reduce
#include "devices.h"

#include <algorithm>
#include <vector>

constexpr int MOST = 16;                 // devices
constexpr int LANES = 64, THREADS = 256; // rings side by side, a workgroup of each device in each
constexpr int SLICE = 4 * THREADS;       // floats that a workgroup passes on at a time
constexpr int CHUNK = 4;                 // slices on their way one behind the other
constexpr int SLOTS = 2 * CHUNK;         // places for slices that have come

struct arrays {
    float *of[MOST];
};

// Of one workgroup: slices that have come, how many of them, and how many the next device has taken of those
// that went there. Both only grow, from one kernel to the next.
struct lane {
    float4 slot[SLOTS][THREADS];
    alignas(128) unsigned filled;
    alignas(128) unsigned emptied;
};

// Whole and small, so that sums are exact in any order.
__host__ __device__ static float number(unsigned i, unsigned device, unsigned round)
{
    return static_cast<float>((i * 37 + device * 101 + round * 11) % 1009);
}

__global__ void fill(float *data, unsigned n, unsigned device, unsigned round)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] = number(i, device, round);
}

// Device `own` of `devices` adds up its part.
__global__ void direct(arrays in, arrays out, unsigned n, unsigned devices, unsigned own)
{
    const unsigned quads = n / 4, first = static_cast<size_t>(quads) * own / devices,
                   last = static_cast<size_t>(quads) * (own + 1) / devices;
    for (unsigned i = first + blockIdx.x * blockDim.x + threadIdx.x; i < last; i += gridDim.x * blockDim.x) {
        float4 sum = {};
        for (unsigned d = 0; d < devices; d++) { // not all from the same device first
            const float4 more = reinterpret_cast<const float4 *>(in.of[(own + d) % devices])[i];
            sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
        }
        for (unsigned d = 0; d < devices; d++)
            reinterpret_cast<float4 *>(out.of[(own + d) % devices])[i] = sum;
    }
}

// Waits for the other device, and sees what it stored before.
__device__ static void wait_for(const unsigned *count, unsigned least)
{
    if (threadIdx.x == 0) {
        while (__hip_atomic_load(count, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) < least)
            __builtin_amdgcn_s_sleep(1);
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, ""); // once, not in each round
    }
    __syncthreads();
}

// All of the workgroup are done with what this tells the other device.
__device__ static void tell(unsigned *count, unsigned value)
{
    __syncthreads();
    if (threadIdx.x == 0)
        __hip_atomic_store(count, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

// Each part of the array goes around nearly twice: at its first steps it gathers sums, at step `devices - 1`
// it is complete, at the last ones it is handed out. `passed`: slices that earlier kernels passed.
__global__ void ring(const float *in, float *out, unsigned n, unsigned devices, unsigned own, lane *lanes,
                     lane *next, lane *previous, unsigned passed)
{
    lane *const mine = lanes + blockIdx.x;
    const unsigned part = n / devices, share = part / LANES; // of each part, for this workgroup
    unsigned sent = passed, taken = passed;
    for (unsigned chunk = 0; chunk < share; chunk += CHUNK * SLICE)
        for (unsigned step = 0; step <= 2 * (devices - 1); step++)
            for (unsigned at = chunk; at < min(chunk + CHUNK * SLICE, share); at += SLICE) {
                const unsigned which = (own + 2 * devices - step) % devices, within = at + 4 * threadIdx.x;
                const size_t place = static_cast<size_t>(which) * part + blockIdx.x * share + within;
                float4 value = {};
                if (step < devices && within < share)
                    value = *reinterpret_cast<const float4 *>(in + place);
                if (step > 0) {
                    wait_for(&mine->filled, taken + 1);
                    if (within < share) {
                        const float4 more = mine->slot[taken % SLOTS][threadIdx.x];
                        value.x += more.x, value.y += more.y, value.z += more.z, value.w += more.w;
                    }
                    tell(&previous[blockIdx.x].emptied, ++taken);
                }
                if (step >= devices - 1 && within < share)
                    *reinterpret_cast<float4 *>(out + place) = value;
                if (step < 2 * (devices - 1)) {
                    if (sent >= SLOTS)
                        wait_for(&mine->emptied, sent - SLOTS + 1);
                    if (within < share)
                        next[blockIdx.x].slot[sent % SLOTS][threadIdx.x] = value;
                    tell(&next[blockIdx.x].filled, ++sent);
                }
            }
}

struct place {
    hipStream_t stream;
    hipEvent_t start, stop;
    lane *lanes;
};

struct team {
    int devices;
    unsigned passed;
    std::vector<place> all;
    arrays in, out;
    gate begin;
};

// The time of the device that takes longest, in seconds.
static double reduce(team *t, unsigned n, bool by_ring)
{
    t->begin.close();
    for (int d = 0; d < t->devices; d++) {
        const place &p = t->all[d];
        const int next = (d + 1) % t->devices, previous = (d + t->devices - 1) % t->devices;
        const unsigned groups = std::min(n / t->devices / (4 * THREADS) + 1, 1024u);
        CHECK_HIP(hipSetDevice(d));
        t->begin.hold(p.stream);
        CHECK_HIP(hipEventRecord(p.start, p.stream));
        if (by_ring)
            ring<<<LANES, THREADS, 0, p.stream>>>(t->in.of[d], t->out.of[d], n, t->devices, d, p.lanes,
                                                  t->all[next].lanes, t->all[previous].lanes, t->passed);
        else
            direct<<<groups, THREADS, 0, p.stream>>>(t->in, t->out, n, t->devices, d);
        CHECK_HIP(hipGetLastError());
        CHECK_HIP(hipEventRecord(p.stop, p.stream));
    }
    if (by_ring)
        t->passed += (n / t->devices / LANES + SLICE - 1) / SLICE * 2 * (t->devices - 1);
    t->begin.open();
    float slowest = 0;
    for (const place &p : t->all) {
        float time;
        CHECK_HIP(hipEventSynchronize(p.stop));
        CHECK_HIP(hipEventElapsedTime(&time, p.start, p.stop));
        slowest = std::max(slowest, time);
    }
    return static_cast<double>(slowest) / 1000;
}

// Fills, reduces and compares on all devices.
static unsigned long long try_one(team *t, unsigned n, bool by_ring, unsigned round, double *seconds)
{
    for (int d = 0; d < t->devices; d++) {
        CHECK_HIP(hipSetDevice(d));
        fill<<<64, THREADS, 0, t->all[d].stream>>>(t->in.of[d], n, d, round);
        CHECK_HIP(hipGetLastError());
        CHECK_HIP(hipDeviceSynchronize());
    }
    *seconds = reduce(t, n, by_ring);
    std::vector<float> sums(n, 0.0f), seen(n);
    for (int d = 0; d < t->devices; d++)
        for (unsigned i = 0; i < n; i++)
            sums[i] += number(i, d, round);
    unsigned long long wrong = 0;
    for (int d = 0; d < t->devices; d++) {
        CHECK_HIP(hipMemcpy(seen.data(), t->out.of[d], n * sizeof(float), hipMemcpyDefault));
        for (unsigned i = 0; i < n; i++)
            wrong += seen[i] != sums[i];
    }
    return wrong;
}

int main(int argc, char **argv)
{
    std::vector<size_t> sizes;
    for (int i = 1; i < argc; i++)
        sizes.push_back(strtoul(argv[i], nullptr, 10) * 1024);
    if (sizes.empty())
        sizes = {64 * 1024, 256 * 1024, 1024 * 1024};
    const size_t most = *std::max_element(sizes.begin(), sizes.end());
    int devices, from, to;
    CHECK_HIP(hipGetDeviceCount(&devices));
    if (devices == 1)
        return report(true, "one device, whose array is the sum");
    devices = std::min(devices, MOST);
    if (!enable_peers(devices, &from, &to))
        return report(true, "device %d does not reach the memory of %d", from, to);

    team t;
    t.devices = devices;
    t.passed = 0;
    t.all.resize(t.devices);
    for (int d = 0; d < t.devices; d++) {
        place &p = t.all[d];
        CHECK_HIP(hipSetDevice(d));
        CHECK_HIP(hipStreamCreateWithFlags(&p.stream, hipStreamNonBlocking));
        CHECK_HIP(hipEventCreate(&p.start));
        CHECK_HIP(hipEventCreate(&p.stop));
        CHECK_HIP(hipMalloc(&t.in.of[d], most));
        CHECK_HIP(hipMalloc(&t.out.of[d], most));
        // A peer stores to it while kernels here read it: no cache may keep it.
        void *lanes;
        CHECK_HIP(hipExtMallocWithFlags(&lanes, LANES * sizeof(lane), hipDeviceMallocUncached));
        p.lanes = static_cast<lane *>(lanes);
        CHECK_HIP(hipMemset(p.lanes, 0, LANES * sizeof(lane)));
        CHECK_HIP(hipDeviceSynchronize());
    }
    unsigned long long wrong = 0;
    unsigned round = 0;
    const unsigned step = 4 * LANES * t.devices; // all lanes have whole float4s
    double seconds;
    for (bool by_ring : {false, true}) // loads the code
        wrong += try_one(&t, step, by_ring, round++, &seconds);
    std::printf("GB/s: of each device's links, if every byte went as few times as it can\n");
    std::printf("%8s  %18s  %18s\n%8s  %9s %8s  %9s %8s\n", "", "direct", "ring", "KiB", "us", "GB/s", "us",
                "GB/s");
    for (size_t bytes : sizes) {
        const unsigned n = std::max(bytes / sizeof(float) / step, static_cast<size_t>(1)) * step;
        std::printf("%8zu", n * sizeof(float) / 1024);
        for (bool by_ring : {false, true}) {
            wrong += try_one(&t, n, by_ring, round++, &seconds);
            // What each link would have to carry if every byte went as few times as it can.
            const double bus = n * sizeof(float) * 2.0 * (t.devices - 1) / t.devices / seconds;
            std::printf("  %9.1f %8.1f", seconds * 1e6, bus / 1e9);
        }
        std::printf("\n");
    }

    for (int d = 0; d < t.devices; d++) {
        const place &p = t.all[d];
        CHECK_HIP(hipSetDevice(d));
        CHECK_HIP(hipFree(t.in.of[d]));
        CHECK_HIP(hipFree(t.out.of[d]));
        CHECK_HIP(hipFree(p.lanes));
        CHECK_HIP(hipEventDestroy(p.start));
        CHECK_HIP(hipEventDestroy(p.stop));
        CHECK_HIP(hipStreamDestroy(p.stream));
    }
    return report(wrong == 0, "%d devices, %zu sizes, %llu sums wrong", t.devices, sizes.size(), wrong);
}
