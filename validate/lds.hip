// SPDX-License-Identifier: MIT
// What the LDS of a compute unit gives in a cycle, over the stride of a wave's lanes in dwords; and to a
// single wave, how many cycles are between its reads and how long one takes, of dwords over the stride and of
// four of them.
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

__global__ void add(uint64_t *cycles)
{
    __shared__ unsigned memory[64];
    const unsigned address = threadIdx.x % 64 * 4;
    memory[threadIdx.x % 64] = 0;
    __syncthreads();
    uint64_t start = clock64();
    for (int i = 0; i < ROUNDS; i++)
        asm volatile(".rept 16\n\tds_add_u32 %0, %0\n\t.endr\n\ts_waitcnt lgkmcnt(0)" ::"v"(address)
                     : "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - start;
    cycles[1] = memory[threadIdx.x % 64];
}

#define ONE_WAVE(NAME, READ, STEP)                                                                           \
    __global__ void NAME(unsigned stride, uint64_t *cycles)                                                  \
    {                                                                                                        \
        __shared__ unsigned memory[8192];                                                                    \
        const unsigned address = threadIdx.x * stride * STEP % 8192 * 4;                                     \
        memory[threadIdx.x] = 0;                                                                             \
        uint64_t start = 0, between = 0;                                                                     \
        for (int i = 0; i < 2; i++) { /* the second time the code is there */                                \
            start = clock64();                                                                               \
            asm volatile(".rept 16\n\t" READ "\n\t.endr\n\ts_waitcnt lgkmcnt(0)" ::"v"(address)              \
                         : "v32", "v33", "v34", "v35", "memory");                                            \
            between = clock64();                                                                             \
            asm volatile(".rept 16\n\t" READ "\n\ts_waitcnt lgkmcnt(0)\n\t.endr" ::"v"(address)              \
                         : "v32", "v33", "v34", "v35", "memory");                                            \
            cycles[1] = clock64() - between;                                                                 \
        }                                                                                                    \
        cycles[0] = between - start;                                                                         \
        cycles[2] = memory[threadIdx.x];                                                                     \
    }
ONE_WAVE(read_dword, "ds_read_b32 v32, %0", 1)
ONE_WAVE(read_quad, "ds_read_b128 v[32:35], %0", 4)

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
    for (int i = 0; i < 2; i++)
        add<<<1, threads>>>(cycles);
    CHECK_HIP(hipDeviceSynchronize());
    row("lds_atomic", 0, 1.0 * threads * ROUNDS * LOADS / static_cast<double>(*cycles));
    auto one_wave = [&](const char *interval, const char *latency, void (*kernel)(unsigned, uint64_t *),
                        unsigned stride) {
        kernel<<<1, 64>>>(stride, cycles);
        CHECK_HIP(hipDeviceSynchronize());
        const double each = static_cast<double>(cycles[1]) / LOADS;
        // Of sixteen in a row the last comes after its own latency.
        row(interval, stride, (static_cast<double>(cycles[0]) - each) / (LOADS - 1));
        row(latency, stride, each);
    };
    for (unsigned stride : {1, 8, 32})
        one_wave("lds_interval", "lds_latency", read_dword, stride);
    one_wave("lds_interval_quad", "lds_latency_quad", read_quad, 1);
    CHECK_HIP(hipHostFree(cycles));
    return 0;
}
