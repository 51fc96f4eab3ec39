// SPDX-License-Identifier: MIT
// Several devices: what is each one's own, what they see of each other, and in which order things happen.
#include "check_hip.h"

#include <hip/hip_cooperative_groups.h>

#include <thread>

namespace cg = cooperative_groups;

static int devices;

__device__ int variable = 5;
__constant__ int constant = 9;
__managed__ int managed = 7;

__global__ void set_variable(int value)
{
    variable = value;
}

__global__ void get_variables(int *out)
{
    out[0] = variable, out[1] = constant, out[2] = managed;
}

__global__ void store_late(int *to, int value)
{
    for (int i = 0; i < 300; i++)
        __builtin_amdgcn_s_sleep(100);
    *to = value;
}

__global__ void pass_on(int *to, const int *from)
{
    *to = *from + 1;
}

__global__ void count(int *at)
{
    __hip_atomic_fetch_add(at, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

__global__ void play(unsigned *mine, unsigned *theirs, unsigned rounds)
{
    for (unsigned i = 1; i <= rounds; i++) {
        __hip_atomic_store(theirs, i, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
        while (__hip_atomic_load(mine, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) < i)
            __builtin_amdgcn_s_sleep(1);
    }
}

__global__ void add_ranks(int **part, int *sum)
{
    auto all = cg::this_multi_grid();
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    if (first)
        *part[all.grid_rank()] = static_cast<int>(all.grid_rank()) + 1;
    all.sync();
    for (unsigned i = 0; first && i < all.num_grids(); i++)
        sum[all.grid_rank()] += *part[i];
}

__global__ void first_is_late(int *to)
{
    if (cg::this_multi_grid().grid_rank() > 0)
        return;
    for (int i = 0; i < 300; i++)
        __builtin_amdgcn_s_sleep(100);
    *to = 1;
}

struct place {
    hipStream_t stream;
    hipEvent_t event;
    int *memory;
};

static int value_at(const int *at)
{
    int value;
    HIP_OK(hipMemcpy(&value, at, sizeof value, hipMemcpyDefault));
    return value;
}

static void identity()
{
    std::vector<hipUUID> ids(devices);
    for (int d = 0; d < devices; d++) {
        char bus[32];
        int found = -1;
        HIP_OK(hipDeviceGetPCIBusId(bus, sizeof bus, d));
        HIP_OK(hipDeviceGetByPCIBusId(&found, bus));
        CHECK(found == d, "%s: device %d, not %d", bus, found, d);
        HIP_OK(hipDeviceGetUuid(&ids[d], d));
        for (int other = 0; other < d; other++)
            CHECK(memcmp(&ids[d], &ids[other], sizeof ids[d]) != 0, "devices %d and %d", d, other);
    }
}

static void peers()
{
    int value;
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipDeviceCanAccessPeer(&value, 0, 1));
    CHECK(value == 1, "%d", value);
    HIP_OK(hipDeviceCanAccessPeer(&value, 1, 1));
    CHECK(value == 0, "%d", value);
    CHECK(hipDeviceDisablePeerAccess(1) == hipErrorPeerAccessNotEnabled, "was not enabled");
    HIP_OK(hipDeviceEnablePeerAccess(1, 0));
    CHECK(hipDeviceEnablePeerAccess(1, 0) == hipErrorPeerAccessAlreadyEnabled, "was enabled");
    HIP_OK(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 1));
    CHECK(value == 1, "%d", value);
    CHECK(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 0) == hipErrorInvalidDevice,
          "itself");
}

// By the links that there are, or in a ring by a third.
static void hops()
{
    const char *node = getenv("EHP_NODE");
    const bool ring = node && strstr(node, "ring");
    for (int d = 1; d < devices; d++) {
        uint32_t type = 0, count = 0;
        int rank = -1;
        HIP_OK(hipExtGetLinkTypeAndHopCount(0, d, &type, &count));
        HIP_OK(hipDeviceGetP2PAttribute(&rank, hipDevP2PAttrPerformanceRank, 0, d));
        CHECK(type == 4 && count == (ring && d == 2 ? 2 : 1), "device %d: type %u, %u hops", d, type, count);
        CHECK(rank == static_cast<int>(count), "device %d: rank %d", d, rank);
    }
}

static void memory_of_each()
{
    std::vector<size_t> before(devices), total(devices);
    for (int d = 0; d < devices; d++) {
        HIP_OK(hipSetDevice(d));
        HIP_OK(hipMemGetInfo(&before[d], &total[d]));
    }
    const size_t bytes = size_t{1} << 30, more = total[1] / 8 * 5;
    void *block, *first, *second;
    HIP_OK(hipSetDevice(1));
    HIP_OK(hipMalloc(&block, bytes));
    for (int d = 0; d < devices; d++) {
        size_t now, all;
        HIP_OK(hipSetDevice(d));
        HIP_OK(hipMemGetInfo(&now, &all));
        CHECK((now + bytes <= before[d]) == (d == 1), "device %d has %zu of %zu left", d, now, before[d]);
    }
    hipPointerAttribute_t attributes;
    HIP_OK(hipPointerGetAttributes(&attributes, block));
    CHECK(attributes.device == 1 && attributes.type == hipMemoryTypeDevice, "device %d", attributes.device);
    HIP_OK(hipFree(block));

    HIP_OK(hipSetDevice(1));
    HIP_OK(hipMalloc(&first, more));
    CHECK(hipMalloc(&second, more) == hipErrorOutOfMemory, "more than there is");
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipMalloc(&second, more));
    HIP_OK(hipFree(first));
    HIP_OK(hipFree(second));
}

static void variables(const std::vector<place> &all)
{
    for (int d = 0; d < devices; d++) {
        const int value = 50 + d;
        HIP_OK(hipSetDevice(d));
        set_variable<<<1, 1>>>(100 + d);
        HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(constant), &value, sizeof value));
    }
    for (int d = 0; d < devices; d++) {
        int have[3];
        void *at;
        hipPointerAttribute_t attributes;
        HIP_OK(hipSetDevice(d));
        get_variables<<<1, 1>>>(all[d].memory);
        HIP_OK(hipMemcpy(have, all[d].memory, sizeof have, hipMemcpyDeviceToHost));
        CHECK(have[0] == 100 + d && have[1] == 50 + d && have[2] == 7, "%d %d %d", have[0], have[1], have[2]);
        HIP_OK(hipGetSymbolAddress(&at, HIP_SYMBOL(variable)));
        HIP_OK(hipSetDevice(0));
        HIP_OK(hipPointerGetAttributes(&attributes, at));
        CHECK(attributes.device == d, "device %d, not %d", attributes.device, d);
    }
    for (int d = 0; d < devices; d++) {
        HIP_OK(hipSetDevice(d));
        count<<<1, 64>>>(&managed);
    }
    for (int d = 0; d < devices; d++) {
        HIP_OK(hipSetDevice(d));
        HIP_OK(hipDeviceSynchronize());
    }
    CHECK(managed == 7 + 64 * devices, "%d", managed);
}

// Copies of the calling thread come after what the memory's device has to do.
static void copies_wait(const std::vector<place> &all)
{
    HIP_OK(hipSetDevice(1));
    store_late<<<1, 1>>>(all[1].memory, 44);
    HIP_OK(hipSetDevice(0));
    CHECK(value_at(all[1].memory) == 44, "copied before");
    HIP_OK(hipSetDevice(1));
    store_late<<<1, 1>>>(all[1].memory, 45);
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipMemcpyPeer(all[0].memory, 0, all[1].memory, 1, sizeof(int)));
    CHECK(value_at(all[0].memory) == 45, "copied before");
    HIP_OK(hipSetDevice(1));
    store_late<<<1, 1>>>(all[1].memory, 46);
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipMemcpy2D(all[0].memory, 64, all[1].memory, 128, 32, 8, hipMemcpyDeviceToDevice));
    CHECK(value_at(all[0].memory) == 46, "copied before");
}

static void streams_and_events(const std::vector<place> &all)
{
    float time;
    HIP_OK(hipSetDevice(0));
    CHECK(hipEventRecord(all[1].event, all[0].stream) == hipErrorInvalidHandle, "another device's event");
    for (int d : {0, 1}) {
        HIP_OK(hipEventRecord(all[d].event, all[d].stream)); // whichever device is the current one
        HIP_OK(hipEventSynchronize(all[d].event));
    }
    CHECK(hipEventElapsedTime(&time, all[0].event, all[1].event) == hipErrorInvalidHandle, "two devices");

    for (int d = 0; d < devices; d++) { // each waits for the one before
        HIP_OK(hipSetDevice(d));
        if (d == 0) {
            store_late<<<1, 1, 0, all[d].stream>>>(all[d].memory, 70);
        } else {
            HIP_OK(hipStreamWaitEvent(all[d].stream, all[d - 1].event, 0));
            pass_on<<<1, 1, 0, all[d].stream>>>(all[d].memory, all[d - 1].memory);
        }
        HIP_OK(hipGetLastError());
        HIP_OK(hipEventRecord(all[d].event, all[d].stream));
    }
    HIP_OK(hipEventSynchronize(all[devices - 1].event));
    CHECK(value_at(all[devices - 1].memory) == 69 + devices, "%d", value_at(all[devices - 1].memory));

    HIP_OK(hipSetDevice(0));
    HIP_OK(hipMemset(all[1].memory, 0, sizeof(int)));
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipStreamWaitValue32(all[0].stream, all[1].memory, 5, hipStreamWaitValueEq));
    HIP_OK(hipStreamWriteValue32(all[1].stream, all[1].memory, 5, 0));
    HIP_OK(hipStreamSynchronize(all[0].stream));
}

static void captured(const std::vector<place> &all)
{
    hipGraph_t graph;
    hipGraphExec_t run;
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipStreamBeginCapture(all[0].stream, hipStreamCaptureModeThreadLocal));
    store_late<<<1, 1, 0, all[0].stream>>>(all[0].memory, 80);
    HIP_OK(hipEventRecord(all[0].event, all[0].stream));
    HIP_OK(hipStreamWaitEvent(all[1].stream, all[0].event, 0));
    HIP_OK(hipSetDevice(1));
    pass_on<<<1, 1, 0, all[1].stream>>>(all[1].memory, all[0].memory);
    HIP_OK(hipMemcpyPeerAsync(all[0].memory + 4, 0, all[1].memory, 1, sizeof(int), all[1].stream));
    HIP_OK(hipEventRecord(all[1].event, all[1].stream));
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipStreamWaitEvent(all[0].stream, all[1].event, 0));
    HIP_OK(hipStreamEndCapture(all[0].stream, &graph));
    HIP_OK(hipGraphInstantiate(&run, graph, nullptr, nullptr, 0));
    HIP_OK(hipGraphLaunch(run, all[0].stream));
    HIP_OK(hipStreamSynchronize(all[0].stream));
    CHECK(value_at(all[0].memory + 4) == 81, "%d", value_at(all[0].memory + 4));
    HIP_OK(hipGraphExecDestroy(run));
    HIP_OK(hipGraphDestroy(graph));
}

static void at_once(const std::vector<place> &all)
{
    void *flag[2];
    for (bool null : {false, true}) {
        for (int d : {0, 1}) {
            HIP_OK(hipSetDevice(d));
            HIP_OK(hipExtMallocWithFlags(&flag[d], 256, hipDeviceMallocFinegrained));
            HIP_OK(hipMemset(flag[d], 0, 256));
            HIP_OK(hipDeviceSynchronize());
        }
        for (int d : {0, 1}) {
            HIP_OK(hipSetDevice(d));
            play<<<1, 1, 0, null ? nullptr : all[d].stream>>>(static_cast<unsigned *>(flag[d]),
                                                              static_cast<unsigned *>(flag[1 - d]), 20);
            HIP_OK(hipGetLastError());
        }
        for (int d : {0, 1}) {
            HIP_OK(hipSetDevice(d));
            HIP_OK(hipDeviceSynchronize());
            HIP_OK(hipFree(flag[d]));
        }
    }
}

static void multi_grids(const std::vector<place> &all)
{
    int **part, *sum, *done;
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipHostMalloc(&part, devices * sizeof *part, 0));
    HIP_OK(hipHostMalloc(&sum, devices * sizeof *sum, 0));
    HIP_OK(hipMalloc(&done, sizeof *done));
    HIP_OK(hipMemset(done, 0, sizeof *done));
    HIP_OK(hipDeviceSynchronize());
    std::vector<hipLaunchParams> list(devices);
    void *add_arguments[] = {&part, &sum}, *late_arguments[] = {&done};
    for (int d = 0; d < devices; d++) {
        part[d] = all[d].memory;
        sum[d] = 0;
        list[d] = {reinterpret_cast<void *>(add_ranks), dim3(4), dim3(64), add_arguments, 0, all[d].stream};
    }
    HIP_OK(hipLaunchCooperativeKernelMultiDevice(list.data(), devices, 0));
    for (int d = 0; d < devices; d++)
        HIP_OK(hipStreamSynchronize(all[d].stream));
    for (int d = 0; d < devices; d++)
        CHECK(sum[d] == devices * (devices + 1) / 2, "device %d: %d", d, sum[d]);

    // What comes later in any of the streams waits for all grids, and they for all that came before.
    for (int d = 0; d < devices; d++)
        list[d].func = reinterpret_cast<void *>(first_is_late), list[d].args = late_arguments;
    HIP_OK(hipLaunchCooperativeKernelMultiDevice(list.data(), devices, 0));
    HIP_OK(hipSetDevice(1));
    pass_on<<<1, 1, 0, all[1].stream>>>(all[1].memory, done);
    HIP_OK(hipStreamSynchronize(all[1].stream));
    CHECK(value_at(all[1].memory) == 2, "%d", value_at(all[1].memory));
    HIP_OK(hipStreamSynchronize(all[0].stream));
    HIP_OK(hipHostFree(part));
    HIP_OK(hipHostFree(sum));
    HIP_OK(hipFree(done));
}

static void managed_memory(const std::vector<place> &all)
{
    const size_t bytes = 1 << 20;
    int *memory, where = -9;
    HIP_OK(hipMallocManaged(&memory, bytes));
    HIP_OK(hipMemAdvise(memory, bytes, hipMemAdviseSetPreferredLocation, 1));
    HIP_OK(hipMemAdvise(memory, bytes, hipMemAdviseSetAccessedBy, 0));
    HIP_OK(hipMemPrefetchAsync(memory, bytes, 1, all[1].stream));
    HIP_OK(
        hipMemRangeGetAttribute(&where, sizeof where, hipMemRangeAttributePreferredLocation, memory, bytes));
    CHECK(where == 1, "%d", where);
    HIP_OK(hipMemRangeGetAttribute(&where, sizeof where, hipMemRangeAttributeLastPrefetchLocation, memory,
                                   bytes));
    CHECK(where == 1, "%d", where);
    HIP_OK(hipStreamSynchronize(all[1].stream));
    for (int d = 0; d < devices; d++) {
        *memory = d;
        HIP_OK(hipSetDevice(d));
        count<<<1, 64, 0, all[d].stream>>>(memory);
        HIP_OK(hipStreamSynchronize(all[d].stream));
        CHECK(*memory == d + 64, "%d", *memory);
    }
    HIP_OK(hipFree(memory));
}

static void threads()
{
    std::vector<std::thread> list;
    std::vector<int> have(devices, -1);
    for (int d = 0; d < devices; d++)
        list.emplace_back([d, &have] {
            int *memory;
            HIP_OK(hipSetDevice(d));
            HIP_OK(hipMalloc(&memory, sizeof *memory));
            store_late<<<1, 1>>>(memory, d);
            HIP_OK(hipMemcpy(&have[d], memory, sizeof *memory, hipMemcpyDeviceToHost));
            HIP_OK(hipFree(memory));
        });
    for (int d = 0; d < devices; d++) {
        list[d].join();
        CHECK(have[d] == d, "%d", have[d]);
    }
}

int main()
{
    HIP_OK(hipGetDeviceCount(&devices));
    CHECK(devices > 1, "%d", devices);
    if (devices < 2)
        return check_done();
    std::vector<place> all(devices);
    for (int d = 0; d < devices; d++) {
        HIP_OK(hipSetDevice(d));
        HIP_OK(hipStreamCreateWithFlags(&all[d].stream, hipStreamNonBlocking));
        HIP_OK(hipEventCreate(&all[d].event));
        HIP_OK(hipMalloc(&all[d].memory, 4096));
    }
    identity();
    peers();
    hops();
    memory_of_each();
    variables(all);
    copies_wait(all);
    streams_and_events(all);
    captured(all);
    at_once(all);
    multi_grids(all);
    managed_memory(all);
    threads();
    HIP_OK(hipSetDevice(devices - 1));
    HIP_OK(hipDeviceReset());
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipMemset(all[0].memory, 1, sizeof(int)));
    CHECK(value_at(all[0].memory) == 0x01010101, "another device's reset");
    return check_done();
}
