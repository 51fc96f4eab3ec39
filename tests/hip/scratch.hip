// SPDX-License-Identifier: MIT
// Scratch is memory: with little of it fewer workgroups run at once, with none the launch fails.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        hipError_t e = (call);                                                                               \
        if (e != hipSuccess) {                                                                               \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(e));                      \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

enum { WORDS = 8192, BLOCKS = 40 }; // 32 KiB a work-item: 2 MiB a wave

__global__ void deep(unsigned *out, unsigned stride)
{
    unsigned own[WORDS];
    for (unsigned i = 0; i < WORDS; i += 64)
        own[(i * stride + threadIdx.x) % WORDS] = i + blockIdx.x;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = 0; i < WORDS; i += 64)
        sum += own[(i * stride + threadIdx.x) % WORDS];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Takes the device's memory but for `bytes`.
static void leave(size_t bytes)
{
    void *last, *some;
    OK(hipMalloc(&last, bytes));
    for (size_t each = size_t(64) << 30; each >= 4096; each /= 2)
        while (hipMalloc(&some, each) == hipSuccess)
            ;
    OK(hipFree(last));
    (void)hipGetLastError();
}

int main()
{
    const char *mode = getenv("EHP_MODE");
    const bool timing = mode && !strcmp(mode, "timing");
    unsigned *out;
    OK(hipMalloc(&out, BLOCKS * 64 * 4));
    leave(size_t(64) << 20); // XCDs have room for five of their seven
    deep<<<BLOCKS, 64>>>(out, 1);
    OK(hipDeviceSynchronize());
    unsigned have[BLOCKS * 64];
    OK(hipMemcpy(have, out, sizeof have, hipMemcpyDeviceToHost));
    for (unsigned i = 0; i < BLOCKS * 64; i++)
        if (have[i] != WORDS / 64 * (i / 64) + 63 * 128 * 64 + 64 * 64) {
            printf("work-item %u: %u\n", i, have[i]);
            return 1;
        }
    if (timing) { // functional mode's scratch is its threads' own
        leave(4096);
        deep<<<512, 1024>>>(out, 1);
        const hipError_t e = hipDeviceSynchronize();
        if (e != hipErrorOutOfMemory) {
            printf("no room for scratch: %s\n", hipGetErrorName(e));
            return 1;
        }
    }
    printf("PASSED\n");
}
