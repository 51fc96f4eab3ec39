// SPDX-License-Identifier: MIT
// One memory under CPU and GPU: a managed buffer, a __managed__ variable and a pointer from plain malloc are
// used by both without a copy (plain memory as it is with HSA_XNACK=1, else registered), and CPU and GPU hand
// work to each other through flags while the kernel runs.
#include "check.h"

#include <atomic>
#include <chrono>
#include <cstdlib>

__managed__ int calls = 0;

__global__ void increment(int *data, int n)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        data[i]++;
    if (i == 0)
        calls++;
}

// Answers each request of the CPU with its square, until the request is negative.
__global__ void serve(int *request, int *answer)
{
    for (;;) {
        int value;
        while ((value = __hip_atomic_load(request, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM)) == 0)
            __builtin_amdgcn_s_sleep(1);
        if (value < 0)
            return;
        __hip_atomic_store(request, 0, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        __hip_atomic_store(answer, value * value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    }
}

static int wait_for_answer(int *answer)
{
    auto start = std::chrono::steady_clock::now();
    int value;
    while ((value = __atomic_exchange_n(answer, 0, __ATOMIC_ACQUIRE)) == 0)
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20))
            return -1;
    return value;
}

int main()
{
    const int n = 100000, rounds = 100;
    int pageable = 0; // HSA_XNACK=1: the GPU takes page faults, and so may access all of the process's memory
    CHECK_HIP(hipDeviceGetAttribute(&pageable, hipDeviceAttributePageableMemoryAccess, 0));
    int *managed, wrong = 0;
    CHECK_HIP(hipMallocManaged(&managed, n * sizeof(int)));
    int *plain = static_cast<int *>(std::malloc(n * sizeof(int)));
    if (!pageable)
        CHECK_HIP(hipHostRegister(plain, n * sizeof(int), hipHostRegisterDefault));
    for (int i = 0; i < n; i++)
        managed[i] = plain[i] = i;
    calls = 10;
    increment<<<(n + 255) / 256, 256>>>(managed, n);
    CHECK_HIP(hipDeviceSynchronize());
    for (int i = 0; i < n; i++)
        managed[i] += 1; // the CPU in between
    increment<<<(n + 255) / 256, 256>>>(managed, n);
    CHECK_HIP(hipDeviceSynchronize());
    increment<<<(n + 255) / 256, 256>>>(plain, n);
    CHECK_HIP(hipDeviceSynchronize());
    for (int i = 0; i < n; i++)
        wrong += managed[i] != i + 3 || plain[i] != i + 1;
    wrong += calls != 13;
    if (!pageable)
        CHECK_HIP(hipHostUnregister(plain));
    std::free(plain);
    CHECK_HIP(hipFree(managed));

    int *flags; // fine-grained: what one side writes the other sees while the kernel runs
    CHECK_HIP(hipHostMalloc(&flags, 256, hipHostMallocCoherent));
    int *request = flags, *answer = flags + 32;
    *request = *answer = 0;
    serve<<<1, 1>>>(request, answer);
    CHECK_HIP(hipGetLastError());
    for (int i = 1; i <= rounds; i++) {
        __atomic_store_n(request, i, __ATOMIC_RELEASE);
        wrong += wait_for_answer(answer) != i * i;
    }
    __atomic_store_n(request, -1, __ATOMIC_RELEASE);
    CHECK_HIP(hipDeviceSynchronize());
    CHECK_HIP(hipHostFree(flags));
    return report(wrong == 0, "%d shared integers, %d turns between CPU and GPU, %d wrong", n, rounds, wrong);
}
