// SPDX-License-Identifier: MIT
// What the LDS of a compute unit gives in a cycle, over the stride of a wave's lanes in dwords.
#include "measure.h"

constexpr int ROUNDS = 16, LOADS = 16;

__global__ void read(unsigned stride, uint64_t *cycles)
{
    __shared__ unsigned memory[8192];
    const unsigned address = threadIdx.x % 64 * stride % 8192 * 4;
    for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x)
        memory[i] = i;
    __syncthreads();
    uint64_t start = clock64();
    unsigned value;
    for (int i = 0; i < ROUNDS; i++)
        asm volatile(".rept 16\n\tds_read_b32 %0, %1\n\t.endr\n\ts_waitcnt lgkmcnt(0)"
                     : "=v"(value)
                     : "v"(address)
                     : "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - start;
}

int main()
{
    const int threads = 1024;
    uint64_t *cycles;
    CHECK_HIP(hipHostMalloc(&cycles, 64));
    for (unsigned stride : {0, 1, 2, 3, 8, 32}) {
        read<<<1, threads>>>(stride, cycles); // brings the instructions
        read<<<1, threads>>>(stride, cycles);
        CHECK_HIP(hipDeviceSynchronize());
        row("lds_read", stride, 4.0 * threads * ROUNDS * LOADS / static_cast<double>(*cycles));
    }
    CHECK_HIP(hipHostFree(cycles));
    return 0;
}
