// SPDX-License-Identifier: MIT
// What a compute unit calculates in a cycle with each matrix instruction: independent ones in a row on four
// accumulators, by a wave on each SIMD.
#include "measure.h"

constexpr int FEW = 8, MANY = 40, CHAINS = 4, WAVES = 4;

// A register, or some from one on.
#define REGISTERS_1(first)  "v" #first
#define REGISTERS_2(first)  "v[" #first ":" #first "+1]"
#define REGISTERS_4(first)  "v[" #first ":" #first "+3]"
#define REGISTERS_8(first)  "v[" #first ":" #first "+7]"
#define REGISTERS_16(first) "v[" #first ":" #first "+15]"
#define REGISTERS_32(first) "v[" #first ":" #first "+31]"
#define TENS(n)                                                                                              \
    "v" #n "0", "v" #n "1", "v" #n "2", "v" #n "3", "v" #n "4", "v" #n "5", "v" #n "6", "v" #n "7",          \
        "v" #n "8", "v" #n "9"

// A begins in v0, B in v8, the accumulators in v64, v96, v128 and v160; an index of sparse ones is v16.
#define STEP(name, a, b, c, first, last)                                                                     \
    "v_" #name " " REGISTERS_##c(first) ", " REGISTERS_##a(0) ", " REGISTERS_##b(8) ", " last(c, first) "\n"
#define DENSE(c, first)  REGISTERS_##c(first)
#define SPARSE(c, first) "v16"
#define TIMES(count, name, a, b, c, last)                                                                    \
    asm volatile(".rept %c0\n" STEP(name, a, b, c, 64, last) STEP(name, a, b, c, 96, last)                   \
                     STEP(name, a, b, c, 128, last) STEP(name, a, b, c, 160, last) ".endr\n" ::"i"(count)    \
                 : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", TENS(1), TENS(2), TENS(3),    \
                   TENS(4), TENS(5), TENS(6), TENS(7), TENS(8), TENS(9), TENS(10), TENS(11), TENS(12),       \
                   TENS(13), TENS(14), TENS(15), TENS(16), TENS(17), TENS(18), "v190", "v191")

#define MATRIX(name, operations, a, b, c, last)                                                              \
    __global__ void name(uint64_t *cycles)                                                                   \
    {                                                                                                        \
        _Pragma("unroll 1") for (int i = 0; i < 2; i++)                                                      \
        { /* the second time the code is there */                                                            \
            uint64_t start = clock64();                                                                      \
            TIMES(FEW, name, a, b, c, last);                                                                 \
            uint64_t between = clock64();                                                                    \
            TIMES(MANY, name, a, b, c, last);                                                                \
            if (threadIdx.x == 0)                                                                            \
                *cycles = clock64() - between - (between - start);                                           \
        }                                                                                                    \
    }
#include "matrix.def"
#undef MATRIX

int main()
{
    uint64_t *cycles;
    CHECK_HIP(hipHostMalloc(&cycles, sizeof(*cycles)));
    auto measure = [&](const char *name, void (*kernel)(uint64_t *), double operations) {
        kernel<<<1, 64 * WAVES>>>(cycles);
        CHECK_HIP(hipDeviceSynchronize());
        row(name, 0, operations * WAVES * (MANY - FEW) * CHAINS / static_cast<double>(*cycles));
    };
#define MATRIX(name, operations, a, b, c, last) measure("rate_v_" #name, name, operations);
#include "matrix.def"
    CHECK_HIP(hipHostFree(cycles));
    return 0;
}
