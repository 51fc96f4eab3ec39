// SPDX-License-Identifier: MIT
// Matrix instructions: what a compute unit calculates in a cycle with each, independent ones in a row on four
// accumulators by a wave on each SIMD; how many cycles one takes, by a single wave; and after how many cycles
// the wave's vector instructions go on beside it, or how long that one takes if they do not.
#include "measure.h"

constexpr int FEW = 8, MANY = 40, CHAINS = 4, WAVES = 4;
constexpr int PAIRS = 8, BESIDE = 20; // vector instructions, which take longer than any of them

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
#define WRITTEN                                                                                              \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", TENS(1), TENS(2), TENS(3), TENS(4), TENS(5), \
        TENS(6), TENS(7), TENS(8), TENS(9), TENS(10), TENS(11), TENS(12), TENS(13), TENS(14), TENS(15),      \
        TENS(16), TENS(17), TENS(18), "v190", "v191"

// A begins in v0, B in v8, the accumulators in v64, v96, v128 and v160; an index of sparse ones is v16.
#define STEP(name, a, b, c, first, last)                                                                     \
    "v_" #name " " REGISTERS_##c(first) ", " REGISTERS_##a(0) ", " REGISTERS_##b(8) ", " last(c, first) "\n"
#define DENSE(c, first)  REGISTERS_##c(first)
#define SPARSE(c, first) "v16"
#define TIMES(count, name, a, b, c, last)                                                                    \
    asm volatile(".rept %c0\n" STEP(name, a, b, c, 64, last) STEP(name, a, b, c, 96, last)                   \
                     STEP(name, a, b, c, 128, last) STEP(name, a, b, c, 160, last) ".endr\n" ::"i"(count)    \
                 : WRITTEN)
#define VECTOR ".rept %c1\nv_add_u32 v190, v17, v18\n.endr\n"
#define WITH_VECTOR(count, name, a, b, c, last)                                                              \
    asm volatile(".rept %c0\n" STEP(name, a, b, c, 64, last) VECTOR STEP(name, a, b, c, 96, last) VECTOR     \
                 ".endr\n" ::"i"(count),                                                                     \
                 "i"(BESIDE)                                                                                 \
                 : WRITTEN)

// Cycles of `many` less those of `few`.
#define DIFFERENCE(name, waves, few, many)                                                                   \
    __global__ void __launch_bounds__(64 * waves) name(uint64_t *cycles)                                     \
    {                                                                                                        \
        _Pragma("unroll 1") for (int i = 0; i < 2; i++)                                                      \
        { /* the second time the code is there */                                                            \
            uint64_t start = clock64();                                                                      \
            few;                                                                                             \
            uint64_t between = clock64();                                                                    \
            many;                                                                                            \
            if (threadIdx.x == 0)                                                                            \
                *cycles = clock64() - between - (between - start);                                           \
        }                                                                                                    \
    }

#define MATRIX(name, operations, a, b, c, last)                                                              \
    DIFFERENCE(name, WAVES, TIMES(FEW, name, a, b, c, last), TIMES(MANY, name, a, b, c, last))               \
    DIFFERENCE(beside_##name, 1, WITH_VECTOR(1, name, a, b, c, last),                                        \
               WITH_VECTOR(1 + PAIRS, name, a, b, c, last))
#include "matrix.def"
#undef MATRIX

int main()
{
    uint64_t *cycles;
    CHECK_HIP(hipHostMalloc(&cycles, sizeof(*cycles)));
    auto time = [&](void (*kernel)(uint64_t *), unsigned waves) {
        kernel<<<1, 64 * waves>>>(cycles);
        CHECK_HIP(hipDeviceSynchronize());
        return static_cast<double>(*cycles);
    };
    constexpr double ROWS = (MANY - FEW) * CHAINS;
#define MATRIX(name, operations, a, b, c, last)                                                              \
    row("rate_v_" #name, 0, (operations) * WAVES * ROWS / time(name, WAVES));                                \
    row("matrix_cycles_" #name, 0, time(name, 1) / ROWS);                                                    \
    row("matrix_beside_" #name, 0, time(beside_##name, 1) / (2 * PAIRS) - 4 * BESIDE);
#include "matrix.def"
    CHECK_HIP(hipHostFree(cycles));
    return 0;
}
