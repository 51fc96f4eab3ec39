// SPDX-License-Identifier: MIT
// Kernels for tests/hip_api/kernels.c, which loads kernels.hsaco. Made by:
//   ehp cc --genco -O2 --offload-arch=gfx942 tests/hip_api/kernels.hip -o tests/hip_api/kernels.hsaco
#include <assert.h>
#include <hip/hip_runtime.h>

__device__ int counter = 5;
__constant__ float factor[4] = {1, 2, 3, 4};

struct big {
    int a;
    double b[20];
    char c;
};

extern "C" __global__ void store(int *out, int value)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

extern "C" __global__ void arguments(double *out, char a, struct big b, short c, float d)
{
    if (threadIdx.x == 0)
        *out = a + b.a + b.b[19] + b.c + c + d;
}

extern "C" __global__ void shape(unsigned *out)
{
    extern __shared__ unsigned shared[];
    unsigned linear = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    shared[linear] = linear;
    __syncthreads();
    if (linear == 0) {
        unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), sum = 0;
        for (unsigned i = 0; i < blockDim.x * blockDim.y * blockDim.z; i++)
            sum += shared[i];
        out[block] = sum + gridDim.x * 1000000 + gridDim.y * 100000 + gridDim.z * 10000;
    }
}

extern "C" __global__ void globals(float *out)
{
    atomicAdd(&counter, 1);
    out[threadIdx.x & 3] = factor[threadIdx.x & 3];
}

extern "C" __global__ void say(int number)
{
    if (threadIdx.x < 2)
        printf("number %d of thread %u: %5.2f %s %c %lld%%\n", number, threadIdx.x, 1.5, "text", 'x',
               -1234567890123ll);
}

extern "C" __global__ void heap(unsigned long long *out)
{
    unsigned *mine = (unsigned *)malloc(64 + threadIdx.x);
    for (unsigned i = 0; i < 16; i++)
        mine[i] = threadIdx.x + i;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = 0; i < 16; i++)
        sum += mine[i];
    free(mine);
    out[threadIdx.x] = sum;
}

extern "C" __global__ void wild(int *pointer)
{
    pointer[threadIdx.x] = 1;
}

extern "C" __global__ void trap()
{
    __builtin_trap();
}

extern "C" __global__ void refuse(int value)
{
    assert(value == 3);
}

extern "C" __global__ void forever(volatile int *flag)
{
    while (*flag == 0)
        ;
}

extern "C" __global__ void __launch_bounds__(128) narrow(int *out)
{
    out[threadIdx.x] = 1;
}

// Without an end, each in a way of its own.
extern "C" __global__ void compute()
{
    asm volatile("1: s_add_u32 s20, s20, 1\n s_branch 1b" ::: "s20", "scc");
}

extern "C" __global__ void nap()
{
    for (;;)
        __builtin_amdgcn_s_sleep(127);
}

extern "C" __global__ void __launch_bounds__(256) meet()
{
    for (;;)
        __syncthreads();
}

// 2^31 - 1 of it are as good as that.
extern "C" __global__ void nothing()
{
}

// Workgroup 0 waits for the last one, and comes to a barrier in between.
extern "C" __global__ void __launch_bounds__(256) handshake(int *flag)
{
    __shared__ int seen;
    if (blockIdx.x == gridDim.x - 1) {
        if (threadIdx.x == 0)
            __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    } else if (blockIdx.x == 0) {
        do {
            __syncthreads();
            if (threadIdx.x == 0)
                seen = __hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
            __syncthreads();
        } while (!seen);
    }
}
