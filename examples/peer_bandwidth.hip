// SPDX-License-Identifier: MIT
// How fast bytes go from each device to each other one: by hipMemcpyPeerAsync(), by a kernel that loads from
// the peer, and by one that stores to it; on the diagonal, within a device. All data is checked.
//
//     peer_bandwidth [KIB]              per transfer, 256 unless told
//     ehp run --node mi300a-x4 --mode timing ./peer_bandwidth
#include "devices.h"

#include <algorithm>
#include <vector>

enum way { COPY, LOAD, STORE, WAYS };
static const char *const title[WAYS] = {"hipMemcpyPeerAsync, from row to column",
                                        "kernel on the column, loads from the row",
                                        "kernel on the row, stores to the column"};

// A number for each place of each device's data.
__host__ __device__ static unsigned number(unsigned device, unsigned i)
{
    return (i + 1) * 2654435761u ^ (device + 1) << 24;
}

__global__ void fill(uint4 *data, unsigned n, unsigned device)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] = make_uint4(number(device, 4 * i), number(device, 4 * i + 1), number(device, 4 * i + 2),
                             number(device, 4 * i + 3));
}

__global__ void move(uint4 *to, const uint4 *from, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}

struct place {
    hipStream_t stream;
    hipEvent_t start, stop;
    uint4 *data, *got[WAYS]; // a buffer for each way: what comes next always has another source
};

static float milliseconds(const place &p)
{
    float time;
    CHECK_HIP(hipEventSynchronize(p.stop));
    CHECK_HIP(hipEventElapsedTime(&time, p.start, p.stop));
    return time;
}

// The time of one transfer, which the device that issues it takes itself.
static float transfer(const std::vector<place> &all, int from, int to, way how, size_t bytes)
{
    const int issuer = how == LOAD ? to : from;
    const place &p = all[issuer];
    const unsigned n = bytes / sizeof(uint4), groups = std::min((n + 255) / 256, 2048u);
    CHECK_HIP(hipSetDevice(issuer));
    CHECK_HIP(hipEventRecord(p.start, p.stream));
    if (how == COPY)
        CHECK_HIP(hipMemcpyPeerAsync(all[to].got[how], to, all[from].data, from, bytes, p.stream));
    else
        move<<<groups, 256, 0, p.stream>>>(all[to].got[how], all[from].data, n);
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipEventRecord(p.stop, p.stream));
    return milliseconds(p);
}

int main(int argc, char **argv)
{
    const size_t bytes = (argc > 1 ? strtoul(argv[1], nullptr, 10) : 256) * 1024;
    int devices;
    CHECK_HIP(hipGetDeviceCount(&devices));
    if (bytes == 0)
        return report(false, "usage: peer_bandwidth [KIB]");
    if (devices == 1)
        return report(true, "one device, which has no peers");

    int from, to;
    if (!enable_peers(devices, &from, &to))
        return report(true, "device %d does not reach the memory of %d", from, to);
    std::vector<place> all(devices);
    for (int d = 0; d < devices; d++) {
        place &p = all[d];
        CHECK_HIP(hipSetDevice(d));
        CHECK_HIP(hipStreamCreateWithFlags(&p.stream, hipStreamNonBlocking));
        CHECK_HIP(hipEventCreate(&p.start));
        CHECK_HIP(hipEventCreate(&p.stop));
        CHECK_HIP(hipMalloc(&p.data, bytes));
        for (uint4 *&got : p.got)
            CHECK_HIP(hipMalloc(&got, bytes));
        fill<<<64, 256, 0, p.stream>>>(p.data, bytes / sizeof(uint4), d);
        move<<<1, 64, 0, p.stream>>>(p.got[LOAD], p.data, 64); // so that no transfer waits for its code
        CHECK_HIP(hipGetLastError());
        CHECK_HIP(hipStreamSynchronize(p.stream));
    }

    unsigned long long wrong = 0;
    std::vector<unsigned> seen(bytes / sizeof(unsigned));
    for (int how = COPY; how < WAYS; how++) {
        std::printf("%s, GB/s\n%6s", title[how], "");
        for (to = 0; to < devices; to++)
            std::printf(" %8d", to);
        std::printf("\n");
        for (from = 0; from < devices; from++) {
            std::printf("%6d", from);
            for (to = 0; to < devices; to++) {
                const float time = transfer(all, from, to, static_cast<way>(how), bytes);
                std::printf(" %8.1f", static_cast<double>(bytes) / (static_cast<double>(time) * 1e6));
                CHECK_HIP(hipMemcpy(seen.data(), all[to].got[how], bytes, hipMemcpyDefault));
                for (unsigned i = 0; i < seen.size(); i++)
                    wrong += seen[i] != number(from, i);
            }
            std::printf("\n");
        }
    }
    for (int d = 0; d < devices; d++) {
        CHECK_HIP(hipSetDevice(d));
        CHECK_HIP(hipFree(all[d].data));
        for (uint4 *got : all[d].got)
            CHECK_HIP(hipFree(got));
        CHECK_HIP(hipEventDestroy(all[d].start));
        CHECK_HIP(hipEventDestroy(all[d].stop));
        CHECK_HIP(hipStreamDestroy(all[d].stream));
    }
    return report(wrong == 0, "%d devices, %zu KiB by three ways between every two, %llu numbers wrong",
                  devices, bytes / 1024, wrong);
}
