// SPDX-License-Identifier: MIT
// Code that is larger than an instruction cache, between sums over a table that scalar loads read.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

enum { TABLE = 2048, BLOCKS = 64 };

// KIB of v_fma_f32, eight bytes each. The scalar cache has lines of `table` before, and is asked again after.
#define TEXT(x)  #x
#define TEXT2(x) TEXT(x)
#define KERNEL(KIB)                                                                                          \
    __global__ void code_##KIB(const unsigned *__restrict__ table, unsigned *sums)                           \
    {                                                                                                        \
        unsigned before = 0, after = 0;                                                                      \
        for (int i = 0; i < TABLE; i++)                                                                      \
            before += table[i];                                                                              \
        float x = threadIdx.x;                                                                               \
        asm volatile(".rept " TEXT2(KIB) " * 128\n v_fma_f32 %0, %0, 1.0, %0\n .endr" : "+v"(x));            \
        asm volatile("" ::: "memory");                                                                       \
        for (int i = 0; i < TABLE; i++)                                                                      \
            after += table[i] ^ before;                                                                      \
        if (threadIdx.x == 0)                                                                                \
            sums[2 * blockIdx.x] = before, sums[2 * blockIdx.x + 1] = after;                                 \
        if (x == 1)                                                                                          \
            sums[0] = 0;                                                                                     \
    }
KERNEL(66)
KERNEL(80)
KERNEL(300)

int main()
{
    std::vector<unsigned> table(TABLE), sums(2 * BLOCKS);
    unsigned before = 0, after = 0, *device_table, *device_sums;
    for (unsigned i = 0; i < TABLE; i++)
        before += table[i] = i * 2654435761u;
    for (unsigned x : table)
        after += x ^ before;
    if (hipMalloc(&device_table, TABLE * 4) != hipSuccess ||
        hipMalloc(&device_sums, 2 * BLOCKS * 4) != hipSuccess ||
        hipMemcpy(device_table, table.data(), TABLE * 4, hipMemcpyHostToDevice) != hipSuccess)
        return 1;
    void (*kernels[])(const unsigned *, unsigned *) = {code_66, code_80, code_300};
    for (auto kernel : kernels)
        for (int blocks : {1, int(BLOCKS)}) {
            kernel<<<blocks, 64>>>(device_table, device_sums);
            hipError_t e = hipMemcpy(sums.data(), device_sums, 8 * blocks, hipMemcpyDeviceToHost);
            if (e != hipSuccess) {
                printf("%s\n", hipGetErrorString(e));
                return 1;
            }
            for (int i = 0; i < blocks; i++)
                if (sums[2 * i] != before || sums[2 * i + 1] != after) {
                    printf("workgroup %d of %d: %u %u, not %u %u\n", i, blocks, sums[2 * i], sums[2 * i + 1],
                           before, after);
                    return 1;
                }
        }
    printf("PASSED\n");
}
