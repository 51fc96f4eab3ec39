// SPDX-License-Identifier: MIT
// What goes wrong on the device reaches the host as the real runtime's error, stays until the device is
// reset, and does not end the process. The reports on stderr are part of the test of `ehp`, not of this
// program.
#include "check_hip.h"

__global__ void store_at(int *p, long index)
{
    if (threadIdx.x == 5)
        p[index] = 1;
}

__global__ void trap()
{
    __builtin_trap();
}

__global__ void illegal()
{
    asm volatile(".long 0xffffffff");
}

__global__ void count_at(int *p, long bytes)
{
    if (threadIdx.x == 5)
        atomicAdd(reinterpret_cast<int *>(reinterpret_cast<char *>(p) + bytes), 0x10001);
}

__global__ void put(int *p, int value)
{
    *p = value;
}

// The device works again after a reset.
static void expect_recovery()
{
    CHECK(hipDeviceReset() == hipSuccess, "reset");
    int *p = nullptr, value = 0;
    HIP_OK(hipMalloc(&p, sizeof(int)));
    put<<<1, 1>>>(p, 42);
    HIP_OK(hipMemcpy(&value, p, sizeof(int), hipMemcpyDeviceToHost));
    CHECK(value == 42, "%d", value);
    HIP_OK(hipFree(p));
}

static void expect(hipError_t wanted, const char *what)
{
    hipError_t launch = hipGetLastError();
    CHECK(launch == hipSuccess, "%s: launch says %s", what, hipGetErrorName(launch));
    hipError_t got = hipDeviceSynchronize();
    CHECK(got == wanted, "%s: %s", what, hipGetErrorName(got));
    void *p;
    got = hipMalloc(&p, 16); // the error is sticky
    CHECK(got == wanted, "%s: afterwards %s", what, hipGetErrorName(got));
    expect_recovery();
}

static void expect_launch(hipError_t wanted, const char *what)
{
    hipError_t got = hipGetLastError();
    CHECK(got == wanted, "%s: %s", what, hipGetErrorName(got));
    got = hipDeviceSynchronize();
    CHECK(got == hipSuccess, "%s: then %s", what, hipGetErrorName(got));
}

__global__ void half_and_half(int *out)
{
    __shared__ int fixed[10 * 1024];
    extern __shared__ int rest[];
    fixed[threadIdx.x * 160] = 1;
    rest[threadIdx.x * 96 + 95] = 2;
    __syncthreads();
    const unsigned other = 63 - threadIdx.x;
    out[threadIdx.x] = fixed[other * 160] + rest[other * 96 + 95];
}

int main()
{
    int *d;
    HIP_OK(hipMalloc(&d, 4000));
    store_at<<<2, 64>>>(nullptr, 0);
    expect(hipErrorIllegalAddress, "null pointer");
    HIP_OK(hipMalloc(&d, 4000));
    store_at<<<2, 64>>>(d, 1 << 20);
    expect(hipErrorIllegalAddress, "beyond the allocation");
    store_at<<<2, 64>>>(reinterpret_cast<int *>(0xdeadbeefdeadbeef), 0);
    expect(hipErrorIllegalAddress, "wild pointer");
    HIP_OK(hipMalloc(&d, 4000));
    count_at<<<2, 64>>>(d, 126); // of a line's last two bytes and the next line's first two
    expect(hipErrorIllegalAddress, "misaligned atomic");
    trap<<<1, 64>>>();
    expect(hipErrorLaunchFailure, "trap");
    illegal<<<1, 64>>>();
    expect(hipErrorLaunchFailure, "illegal instruction");

    put<<<1, 2048>>>(nullptr, 0);
    expect_launch(hipErrorInvalidConfiguration, "block too large");
    put<<<1, 64, 100000>>>(nullptr, 0);
    expect_launch(hipErrorInvalidValue, "too much LDS");
    HIP_OK(hipMalloc(&d, 4000));
    half_and_half<<<1, 64, 24 * 1024>>>(d); // 64 KiB with the static part
    expect_launch(hipSuccess, "all LDS");
    half_and_half<<<1, 64, 24 * 1024 + 1>>>(d);
    expect_launch(hipErrorInvalidValue, "static and dynamic LDS together are too much");
    put<<<0, 64>>>(nullptr, 0);
    expect_launch(hipErrorInvalidConfiguration, "empty grid");

    void *huge;
    CHECK(hipMalloc(&huge, size_t(1) << 42) == hipErrorOutOfMemory, "more than there is");
    CHECK(hipFree(reinterpret_cast<void *>(0x1234)) == hipErrorInvalidValue, "free of nothing");
    hipModule_t module;
    CHECK(hipModuleLoad(&module, "/no/such/file") == hipErrorFileNotFound, "no file");
    CHECK(hipModuleLoad(&module, "/proc/self/exe") != hipSuccess, "an executable is not a module");
    return check_done();
}
