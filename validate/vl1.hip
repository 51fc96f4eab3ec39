// SPDX-License-Identifier: MIT
// What a vector cache gives its compute unit in a cycle: sixteen waves that each have many loads on their
// way, all of lines that it holds; of dwords, and of four of them.  Besides, a scalar cache.
#include "measure.h"

constexpr int ROUNDS = 24, LOADS = 8, WAVES = 16;

template <bool WIDE> __global__ void read(const char *lines, uint64_t *cycles)
{
    // Each wave goes through 1 or 2 KiB of its own.
    const char *mine = lines + threadIdx.x / 64 * 1024 + threadIdx.x % 64 * (WIDE ? 16 : 4);
    uint64_t start = 0;
    for (int i = 0; i < ROUNDS + 1; i++) {
        if (i == 1) { // lines and code are there
            __syncthreads();
            start = clock64();
        }
        if (WIDE)
            asm volatile(".rept %c1\n\tglobal_load_dwordx4 v[24:27], %0, off\n\t.endr" ::"v"(mine), "i"(LOADS)
                         : "v24", "v25", "v26", "v27", "memory");
        else
            asm volatile(".rept %c1\n\tglobal_load_dword v24, %0, off\n\tglobal_load_dword v25, %0, off "
                         "offset:256\n\t.endr" ::"v"(mine),
                         "i"(LOADS / 2)
                         : "v24", "v25", "memory");
    }
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - start;
}

__global__ void read_scalar(const char *lines, uint64_t *cycles)
{
    uint64_t start = 0;
    for (int i = 0; i < ROUNDS + 1; i++) {
        if (i == 1) {
            __syncthreads();
            start = clock64();
        }
        asm volatile(
            ".rept %c1\n\ts_load_dwordx16 s[64:79], %0, 0x0\n\ts_load_dwordx16 s[48:63], %0, 0x40\n\t"
            "s_waitcnt lgkmcnt(0)\n\t.endr" ::"s"(lines),
            "i"(LOADS / 2)
            : "s48", "s49", "s50", "s51", "s52", "s53", "s54", "s55", "s56", "s57", "s58", "s59", "s60",
              "s61", "s62", "s63", "s64", "s65", "s66", "s67", "s68", "s69", "s70", "s71", "s72", "s73",
              "s74", "s75", "s76", "s77", "s78", "s79", "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - start;
}

int main()
{
    char *lines;
    uint64_t *cycles;
    CHECK_HIP(hipMalloc(&lines, WAVES * 1024));
    CHECK_HIP(hipHostMalloc(&cycles, 64));
    auto measure = [&](const char *name, void (*kernel)(const char *, uint64_t *), double bytes) {
        kernel<<<1, 64 * WAVES>>>(lines, cycles);
        CHECK_HIP(hipDeviceSynchronize());
        row(name, 0, bytes * WAVES * ROUNDS * LOADS / static_cast<double>(*cycles));
    };
    measure("vl1_read", read<false>, 64 * 4);
    measure("vl1_read_wide", read<true>, 64 * 16);
    measure("sl1_read", read_scalar, 64);
    CHECK_HIP(hipHostFree(cycles));
    CHECK_HIP(hipFree(lines));
    return 0;
}
