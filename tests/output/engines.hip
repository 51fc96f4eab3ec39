// SPDX-License-Identifier: MIT
// Kernels whose statistics engines.py compares: what compiled code counts is what the interpreter counts.
#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>

constexpr unsigned ITEMS = 256, GROUPS = 40, ALL = ITEMS * GROUPS;

// Lanes leave the loop one after another, and take both sides of a branch within it.
__global__ void diverge(unsigned *data)
{
    const unsigned i = blockIdx.x * ITEMS + threadIdx.x;
    unsigned n = data[i], steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    data[i] = steps;
}

// A tree in LDS, with a barrier in each round.
__global__ void reduce(const unsigned *data, unsigned *sums)
{
    __shared__ unsigned part[ITEMS];
    part[threadIdx.x] = data[blockIdx.x * ITEMS + threadIdx.x];
    for (unsigned half = ITEMS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (!threadIdx.x)
        sums[blockIdx.x] = part[0];
}

// Floats in a loop that lanes run through together; atomics; an array that is indexed at run time.
__global__ void iterate(const unsigned *data, float *out, unsigned *total)
{
    const unsigned i = blockIdx.x * ITEMS + threadIdx.x;
    float table[16], sum = 0;
    for (unsigned k = 0; k < 16; k++)
        table[k] = (float)(data[(i + k) % ALL] + k);
    for (unsigned k = 0; k < 400; k++)
        sum = fmaf(sum, 0.99f, table[(data[i] + k) % 16]) + sqrtf((float)k);
    out[i] = sum;
    atomicAdd(total, data[i]);
}

// More instructions than the compiled engine takes.
__global__ void large(unsigned *data)
{
    unsigned value = data[threadIdx.x];
    asm volatile(".rept 20001\n v_add_u32 %0, 1, %0\n .endr" : "+v"(value));
    data[threadIdx.x] = value;
}

// More basic blocks than it takes, which branch over each other.
__global__ void branchy(unsigned *data)
{
    unsigned value = data[threadIdx.x];
    asm volatile("s_mov_b32 s4, 0\n"
                 ".rept 2100\n"
                 " s_add_u32 s4, s4, 0x9e3779b9\n s_bitcmp1_b32 s4, 31\n s_cbranch_scc1 1\n"
                 " v_add_u32 %0, 1, %0\n v_add_u32 %0, 2, %0\n"
                 ".endr"
                 : "+v"(value)
                 :
                 : "s4", "scc");
    data[threadIdx.x] = value;
}

// As many loops over lanes as instructions, which takes LLVM longer than it is worth.
__global__ void chopped(unsigned *data)
{
    unsigned value = data[threadIdx.x];
    asm volatile(".rept 3000\n"
                 " v_add_u32 %0, 1, %0\n v_readfirstlane_b32 s4, %0\n v_max_u32 %0, s4, %0\n"
                 ".endr"
                 : "+v"(value)
                 :
                 : "s4");
    data[threadIdx.x] = value;
}

static bool check(unsigned *data, unsigned *sums, float *out, unsigned *total)
{
    unsigned all = 0;
    for (unsigned i = 0; i < ALL; i++)
        data[i] = i + 1;
    diverge<<<GROUPS, ITEMS>>>(data);
    reduce<<<GROUPS, ITEMS>>>(data, sums);
    *total = 0;
    iterate<<<GROUPS, ITEMS>>>(data, out, total);
    if (hipDeviceSynchronize() != hipSuccess)
        return false;
    for (unsigned i = 0; i < GROUPS; i++)
        all += sums[i];
    return data[26] == 111 && all == *total;
}

// With an argument, as many launches of large code.
int main(int argc, char **argv)
{
    unsigned *data, *sums, *total;
    float *out;
    if (hipMalloc(&data, ALL * sizeof *data) != hipSuccess ||
        hipMalloc(&sums, GROUPS * sizeof *sums) != hipSuccess ||
        hipMalloc(&out, ALL * sizeof *out) != hipSuccess || hipMalloc(&total, sizeof *total) != hipSuccess)
        return 1;
    if (argc > 1) {
        for (int i = 0; i < atoi(argv[1]); i++)
            large<<<1, 64>>>(data);
        return hipDeviceSynchronize() != hipSuccess;
    }
    for (int i = 0; i < 3; i++)
        if (!check(data, sums, out, total))
            return 1;
    data[0] = 7;
    large<<<1, 64>>>(data);
    if (hipDeviceSynchronize() != hipSuccess || data[0] != 20008)
        return 1;
    branchy<<<1, 64>>>(data);
    chopped<<<1, 64>>>(data);
    if (hipDeviceSynchronize() != hipSuccess || data[0] <= 20008 + 2100)
        return 1;
    printf("%u\n", data[0]);
    // What kernels left, for the engines to agree on.
    unsigned long long hash = 14695981039346656037ull;
    for (unsigned i = 0; i < ALL; i++)
        hash = (hash ^ __builtin_bit_cast(unsigned, out[i])) * 1099511628211ull;
    printf("%016llx\n", hash);
    return 0;
}
