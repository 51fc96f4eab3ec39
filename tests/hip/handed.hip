// SPDX-License-Identifier: MIT
// Device memory whose addresses are not the allocator's lies where it was made: what another process hands
// over (hipIpcGetMemHandle), and what is mapped (hipMemMap). In simulated time its own device stores faster
// than others.
#include "check_hip.h"

#include <sys/wait.h>
#include <unistd.h>

enum : size_t { BYTES = 2 << 20, COUNT = BYTES / sizeof(uint4) };

__global__ void store(uint4 *to, unsigned salt)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < COUNT; i += gridDim.x * blockDim.x)
        to[i] = uint4{static_cast<unsigned>(i), salt, 0, ~salt};
}

static double store_takes(int device, uint4 *to, unsigned salt)
{
    hipEvent_t begin, end;
    float ms;
    HIP_OK(hipSetDevice(device));
    HIP_OK(hipEventCreate(&begin));
    HIP_OK(hipEventCreate(&end));
    store<<<456, 256>>>(to, salt); // code and translations
    HIP_OK(hipEventRecord(begin));
    store<<<456, 256>>>(to, salt);
    HIP_OK(hipEventRecord(end));
    HIP_OK(hipEventSynchronize(end));
    HIP_OK(hipEventElapsedTime(&ms, begin, end));
    HIP_OK(hipEventDestroy(begin));
    HIP_OK(hipEventDestroy(end));
    return ms * 1e3;
}

// It lies with `owner`, whichever device it was opened or mapped for.
static void check_place(const char *what, int owner, uint4 *at)
{
    const char *mode = getenv("EHP_MODE");
    int devices;
    HIP_OK(hipGetDeviceCount(&devices));
    const double own = store_takes(owner, at, 3);
    for (int d = 0; d < devices; d += devices - 1) {
        const double takes = store_takes(d, at, d);
        uint4 last;
        HIP_OK(hipMemcpy(&last, at + COUNT - 1, sizeof last, hipMemcpyDefault));
        CHECK(last.x == COUNT - 1 && last.y == static_cast<unsigned>(d), "%s: device %d has stored %u", what,
              d, last.y);
        if (mode && !strcmp(mode, "timing"))
            CHECK(takes > 2 * own && takes < 40 * own, "%s: device %d stores in %.1f us, its own in %.1f",
                  what, d, takes, own);
    }
}

static void mapped(int owner)
{
    hipMemAllocationProp prop = {};
    prop.type = hipMemAllocationTypePinned;
    prop.location = {hipMemLocationTypeDevice, owner};
    hipMemGenericAllocationHandle_t memory;
    hipMemAccessDesc all = {{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
    void *at;
    HIP_OK(hipMemCreate(&memory, BYTES, &prop, 0));
    HIP_OK(hipMemAddressReserve(&at, BYTES, 0, nullptr, 0));
    HIP_OK(hipMemMap(at, BYTES, 0, memory, 0));
    HIP_OK(hipMemSetAccess(at, BYTES, &all, 1));
    check_place("hipMemMap", owner, static_cast<uint4 *>(at));
    HIP_OK(hipMemUnmap(at, BYTES));
    HIP_OK(hipMemAddressFree(at, BYTES));
    HIP_OK(hipMemRelease(memory));
}

int main()
{
    const int owner = 1;
    int way[2], status;
    hipIpcMemHandle_t handle;
    if (pipe(way))
        return 1;
    const pid_t other = fork();
    if (!other) { // has it until the reader has gone
        void *at;
        HIP_OK(hipSetDevice(owner));
        HIP_OK(hipMalloc(&at, BYTES));
        HIP_OK(hipIpcGetMemHandle(&handle, at));
        CHECK(write(way[1], &handle, sizeof handle) == sizeof handle, "the handle");
        alarm(200);
        pause();
    }
    CHECK(read(way[0], &handle, sizeof handle) == sizeof handle, "the handle");
    void *at;
    HIP_OK(hipSetDevice(0));
    HIP_OK(hipIpcOpenMemHandle(&at, handle, hipIpcMemLazyEnablePeerAccess));
    hipPointerAttribute_t attributes;
    HIP_OK(hipPointerGetAttributes(&attributes, at));
    CHECK(attributes.type == hipMemoryTypeDevice && attributes.device == 0, "type %d, device %d",
          attributes.type, attributes.device);
    check_place("hipIpcOpenMemHandle", owner, static_cast<uint4 *>(at));
    HIP_OK(hipIpcCloseMemHandle(at));
    kill(other, SIGTERM);
    waitpid(other, &status, 0);
    mapped(owner);
    return check_done();
}
