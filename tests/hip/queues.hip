// SPDX-License-Identifier: MIT
// Copies by engines take no place in the hardware queue that streams share:
// with one queue for all, what a kernel waits for comes by a copy of another
// stream behind it.  Order within a stream, events and the null stream hold all
// the same, and in simulated time such copies overlap.
#include "check_hip.h"

enum : unsigned { STREAMS = 3, COUNT = 1 << 17, BYTES = COUNT * sizeof(unsigned) };

static unsigned *pinned(unsigned value)
{
    void *at;
    HIP_OK(hipHostMalloc(&at, BYTES));
    for (unsigned i = 0; i < COUNT; i++)
        static_cast<unsigned *>(at)[i] = value + i;
    return static_cast<unsigned *>(at);
}

static unsigned *device_memory()
{
    void *at;
    HIP_OK(hipMalloc(&at, BYTES));
    HIP_OK(hipMemset(at, 0, BYTES));
    return static_cast<unsigned *>(at);
}

static void check_all(const char *what, const unsigned *at, unsigned value)
{
    for (unsigned i = 0; i < COUNT; i++)
        if (at[i] != value + i) {
            CHECK(false, "%s: element %u is %u, not %u", what, i, at[i], value + i);
            return;
        }
}

__global__ void await(unsigned *flag, unsigned value)
{
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) != value)
        __builtin_amdgcn_s_sleep(10);
}

__global__ void add(unsigned *at, unsigned value)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += gridDim.x * blockDim.x)
        at[i] += value;
}

static void check_overtakes(hipStream_t *stream)
{
    unsigned *flag = device_memory(), *from = pinned(7);
    await<<<1, 1, 0, stream[0]>>>(flag + COUNT - 1, 7 + COUNT - 1);
    await<<<1, 1, 0, stream[0]>>>(flag, 7); // waits for the one before it, and is before the copy as well
    HIP_OK(hipMemcpyAsync(flag, from, BYTES, hipMemcpyHostToDevice, stream[1]));
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipFree(flag));
    HIP_OK(hipHostFree(from));
}

// Each waits for the one before it, whichever queue it is in.
static void check_order(hipStream_t s)
{
    unsigned *at = device_memory(), *from = pinned(100), *to[4];
    for (unsigned *&t : to)
        t = pinned(0);
    for (unsigned round = 0; round < 2; round++) {
        HIP_OK(hipMemcpyAsync(at, from, BYTES, hipMemcpyHostToDevice, s));
        add<<<64, 256, 0, s>>>(at, 1);
        HIP_OK(hipMemcpyAsync(to[2 * round], at, BYTES, hipMemcpyDeviceToHost, s));
        add<<<1, 64, 0, s>>>(at, 1);
        add<<<64, 256, 0, s>>>(at, 1);
        HIP_OK(hipMemcpyAsync(to[2 * round + 1], at, BYTES, hipMemcpyDeviceToHost, s));
    }
    HIP_OK(hipStreamSynchronize(s));
    for (unsigned i = 0; i < 4; i++) {
        check_all("order in a stream", to[i], i % 2 ? 103 : 101);
        HIP_OK(hipHostFree(to[i]));
    }
    HIP_OK(hipFree(at));
    HIP_OK(hipHostFree(from));
}

// An event behind a copy, a wait for it in a stream that shares the queue, and
// one in the null stream's way.
static void check_others(hipStream_t *stream)
{
    unsigned *at = device_memory(), *from = pinned(40), *to = pinned(0);
    hipEvent_t event;
    HIP_OK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    add<<<64, 256, 0, stream[0]>>>(at, 5);
    HIP_OK(hipMemcpyAsync(at, from, BYTES, hipMemcpyHostToDevice, stream[0]));
    HIP_OK(hipEventRecord(event, stream[0]));
    HIP_OK(hipStreamWaitEvent(stream[1], event, 0));
    HIP_OK(hipMemcpyAsync(to, at, BYTES, hipMemcpyDeviceToHost, stream[1]));
    add<<<64, 256, 0, stream[1]>>>(at, 1);
    add<<<64, 256>>>(at, 1); // behind both
    HIP_OK(hipMemcpyAsync(from, at, BYTES, hipMemcpyDeviceToHost,
                          stream[2])); // behind the null stream
    HIP_OK(hipStreamSynchronize(stream[2]));
    check_all("behind an event", to, 40);
    check_all("behind the null stream", from, 42);
    HIP_OK(hipMemcpyAsync(at, to, BYTES, hipMemcpyHostToDevice, stream[2]));
    add<<<64, 256>>>(at, 3); // behind a copy
    HIP_OK(hipMemcpyAsync(from, at, BYTES, hipMemcpyDeviceToHost, nullptr));
    HIP_OK(hipDeviceSynchronize());
    check_all("the null stream behind a copy", from, 43);
    HIP_OK(hipEventDestroy(event));
    HIP_OK(hipFree(at));
    HIP_OK(hipHostFree(from));
    HIP_OK(hipHostFree(to));
}

// From one copy's beginning to the last one's end, of copies to another package
// by that many streams.
static float copies_take(hipStream_t *stream, unsigned *from, unsigned **to, unsigned streams)
{
    hipEvent_t begin, end[STREAMS];
    float ms, most = 0;
    HIP_OK(hipEventCreate(&begin));
    for (unsigned i = 0; i < streams; i++) {
        HIP_OK(hipEventCreate(&end[i]));
        HIP_OK(hipMemcpyAsync(to[i], from, 64, hipMemcpyDefault, stream[i])); // they are all at copies
    }
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipEventRecord(begin, stream[0]));
    for (unsigned i = 0; i < streams; i++)
        HIP_OK(hipMemcpyAsync(to[i], from, BYTES, hipMemcpyDefault, stream[i]));
    for (unsigned i = 0; i < streams; i++)
        HIP_OK(hipEventRecord(end[i], stream[i]));
    HIP_OK(hipDeviceSynchronize());
    for (unsigned i = 0; i < streams; i++) {
        HIP_OK(hipEventElapsedTime(&ms, begin, end[i]));
        most = ms > most ? ms : most;
        HIP_OK(hipEventDestroy(end[i]));
    }
    HIP_OK(hipEventDestroy(begin));
    return most * 1e3F;
}

static void check_times(hipStream_t *stream)
{
    unsigned *from = device_memory(), *to[STREAMS];
    for (unsigned i = 0; i < STREAMS; i++) {
        HIP_OK(hipSetDevice(static_cast<int>(i) + 1));
        to[i] = device_memory();
    }
    HIP_OK(hipSetDevice(0));
    const float one = copies_take(stream, from, to, 1), all = copies_take(stream, from, to, STREAMS);
    const char *mode = getenv("EHP_MODE");
    if (mode && !strcmp(mode, "timing"))
        CHECK(all < 1.1 * one, "%u copies over as many links take %.2f us, and one %.2f", STREAMS, all, one);
}

int main()
{
    hipStream_t stream[STREAMS];
    for (hipStream_t &s : stream)
        HIP_OK(hipStreamCreate(&s));
    check_overtakes(stream);
    check_order(stream[0]);
    check_order(nullptr);
    check_others(stream);
    int devices;
    HIP_OK(hipGetDeviceCount(&devices));
    if (devices > static_cast<int>(STREAMS))
        check_times(stream);
    return check_done();
}
