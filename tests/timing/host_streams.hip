// SPDX-License-Identifier: MIT
// Threads on cores with a stream each, which call HIP at once: who comes first is who comes first in
// simulated time.  Prints the order and times; it checks results itself.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <hip/hip_runtime.h>

enum { THREADS = 6, N = 1 << 12, TURNS = 3 };

static void check(hipError_t error, const char *what)
{
    if (error != hipSuccess) {
        std::printf("failed: %s: %s\n", what, hipGetErrorString(error));
        std::exit(1);
    }
}
#define CHECK(call) check(call, #call)

__global__ void add(int *p, int k)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] += k;
}

static double now()
{
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static std::mutex mutex;
static std::vector<int> order;

// Odd ones allocate in the order of their streams and have pinned memory.
static void work(int k)
{
    const bool odd = k % 2;
    int *device = nullptr, *host = nullptr;
    hipStream_t stream;
    hipEvent_t begin, end;
    float ms;
    CHECK(hipStreamCreate(&stream));
    CHECK(hipEventCreate(&begin));
    CHECK(hipEventCreate(&end));
    CHECK(odd ? hipMallocAsync(reinterpret_cast<void **>(&device), N * sizeof(int), stream)
              : hipMalloc(reinterpret_cast<void **>(&device), N * sizeof(int)));
    if (odd)
        CHECK(hipHostMalloc(reinterpret_cast<void **>(&host), N * sizeof(int)));
    else
        host = static_cast<int *>(std::malloc(N * sizeof(int)));
    for (int i = 0; i < N; i++)
        host[i] = i * k;
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK(hipEventRecord(begin, stream));
        CHECK(hipMemcpyAsync(device, host, N * sizeof(int), hipMemcpyHostToDevice, stream));
        {
            std::lock_guard<std::mutex> lock(mutex);
            order.push_back(k);
            add<<<N / 256, 256, 0, stream>>>(device, 1);
        }
        CHECK(hipMemcpyAsync(host, device, N * sizeof(int), hipMemcpyDeviceToHost, stream));
        CHECK(hipEventRecord(end, stream));
        CHECK(odd ? hipEventSynchronize(end) : hipDeviceSynchronize());
        CHECK(hipEventElapsedTime(&ms, begin, end));
    }
    for (int i = 0; i < N; i++)
        if (host[i] != i * k + TURNS) {
            std::printf("failed: item %d of thread %d\n", i, k);
            std::exit(1);
        }
    CHECK(odd ? hipFreeAsync(device, stream) : hipFree(device));
    if (odd)
        CHECK(hipHostFree(host));
    else
        std::free(host);
    CHECK(hipStreamDestroy(stream));
    CHECK(hipEventDestroy(begin));
    CHECK(hipEventDestroy(end));
}

int main()
{
    const double begin = now();
    std::vector<std::thread> threads;
    for (int k = 0; k < THREADS; k++)
        threads.emplace_back(work, k);
    for (auto &thread : threads)
        thread.join();
    std::printf("streams by threads, in the order");
    for (int k : order)
        std::printf(" %d", k);
    std::printf(": %.3f us\n", now() - begin);
}
