// SPDX-License-Identifier: MIT
// Two streams that work on their halves of an array and meet through events; one kernel waits for a flag that
// a kernel on the other stream sets, so both must be running at once.
#include "check.h"

#include <vector>

__global__ void fill(int *data, int n, int base)
{
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += static_cast<int>(gridDim.x * blockDim.x))
        data[i] = base + i;
}

__global__ void add(int *data, const int *other, int n)
{
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += static_cast<int>(gridDim.x * blockDim.x))
        data[i] += other[i];
}

__global__ void wait_for(int *flag, int *seen)
{
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0)
        __builtin_amdgcn_s_sleep(2);
    *seen = 1;
}

__global__ void set(int *flag)
{
    __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

static void called(hipStream_t, hipError_t status, void *data)
{
    *static_cast<int *>(data) = status == hipSuccess ? 1 : -1;
}

int main()
{
    const int n = 200000;
    const size_t bytes = n * sizeof(int);
    hipStream_t one, two;
    hipEvent_t start, filled, stop;
    CHECK_HIP(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
    CHECK_HIP(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
    CHECK_HIP(hipEventCreate(&start));
    CHECK_HIP(hipEventCreate(&stop));
    CHECK_HIP(hipEventCreateWithFlags(&filled, hipEventDisableTiming));
    int *a, *b, *flags, *host;
    CHECK_HIP(hipMalloc(&a, bytes));
    CHECK_HIP(hipMalloc(&b, bytes));
    CHECK_HIP(hipMalloc(&flags, 2 * sizeof(int)));
    CHECK_HIP(hipHostMalloc(&host, bytes));
    CHECK_HIP(hipMemset(flags, 0, 2 * sizeof(int)));
    CHECK_HIP(hipDeviceSynchronize());

    wait_for<<<1, 1, 0, one>>>(flags, flags + 1); // first in its stream, ends only when the other stream runs
    CHECK_HIP(hipEventRecord(start, one));
    fill<<<64, 256, 0, one>>>(a, n, 0);
    fill<<<64, 256, 0, two>>>(b, n, 1000);
    CHECK_HIP(hipEventRecord(filled, two));
    CHECK_HIP(hipStreamWaitEvent(one, filled, 0));
    add<<<64, 256, 0, one>>>(a, b, n);
    CHECK_HIP(hipMemcpyAsync(host, a, bytes, hipMemcpyDeviceToHost, one));
    CHECK_HIP(hipEventRecord(stop, one));
    int callback = 0;
    CHECK_HIP(hipStreamAddCallback(one, called, &callback, 0));
    CHECK_HIP(hipGetLastError());
    bool waits = hipStreamQuery(one) == hipErrorNotReady; // stream one cannot have ended
    set<<<1, 1, 0, two>>>(flags);
    CHECK_HIP(hipStreamSynchronize(one));
    CHECK_HIP(hipStreamSynchronize(two));

    float milliseconds = -1;
    int seen = 0, wrong = 0;
    CHECK_HIP(hipEventElapsedTime(&milliseconds, start, stop));
    CHECK_HIP(hipMemcpy(&seen, flags + 1, sizeof seen, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += host[i] != 1000 + 2 * i;
    CHECK_HIP(hipFree(a));
    CHECK_HIP(hipFree(b));
    CHECK_HIP(hipFree(flags));
    CHECK_HIP(hipHostFree(host));
    CHECK_HIP(hipEventDestroy(start));
    CHECK_HIP(hipEventDestroy(filled));
    CHECK_HIP(hipEventDestroy(stop));
    CHECK_HIP(hipStreamDestroy(one));
    CHECK_HIP(hipStreamDestroy(two));
    return report(wrong == 0 && waits && seen == 1 && callback == 1 && milliseconds > 0,
                  "2 streams, %d wrong, callback %s, %s", wrong, callback == 1 ? "ran" : "missing",
                  seen ? "flag seen" : "flag not seen");
}
