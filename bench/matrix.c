/* SPDX-License-Identifier: MIT */
/*
 * Multiply-accumulates a second of matrix instructions, against the most that
 * this core does in the same run: independent f32 FMAs on registers, with no
 * loads, at the widest vector it has.
 */
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wave/handlers.h"
#include "sem/matrix/matrix.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum { CHAINS = 12, REPEAT = 4000 };

/* Each returns how many multiply-accumulates it did; the asm keeps them all. */
__attribute__((target("avx512f"))) static double peak_avx512(void)
{
    __m512 acc[CHAINS], a = _mm512_set1_ps(1.0f), b = _mm512_set1_ps(0.5f);
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++)
        acc[i] = _mm512_set1_ps((float)i);
    for (int n = 0; n < REPEAT; n++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            acc[i] = _mm512_fmadd_ps(a, b, acc[i]);
            __asm__ volatile("" : "+v"(acc[i]));
        }
    return (double)(16 * CHAINS * REPEAT);
}

__attribute__((target("avx2,fma"))) static double peak_avx2(void)
{
    __m256 acc[CHAINS], a = _mm256_set1_ps(1.0f), b = _mm256_set1_ps(0.5f);
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++)
        acc[i] = _mm256_set1_ps((float)i);
    for (int n = 0; n < REPEAT; n++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            acc[i] = _mm256_fmadd_ps(a, b, acc[i]);
            __asm__ volatile("" : "+v"(acc[i]));
        }
    return (double)(8 * CHAINS * REPEAT);
}

static double peak_sse(void)
{
    __m128 acc[CHAINS], a = _mm_set1_ps(1.0f), b = _mm_set1_ps(0.5f);
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++)
        acc[i] = _mm_set1_ps((float)i);
    for (int n = 0; n < REPEAT; n++)
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            acc[i] = _mm_add_ps(_mm_mul_ps(a, b), acc[i]);
            __asm__ volatile("" : "+x"(acc[i]));
        }
    return (double)(4 * CHAINS * REPEAT);
}

/* Best of several short runs, in units a second. */
static double measure_peak(double (*fn)(void))
{
    double best = 0;
    for (int run = 0; run < 40; run++) {
        double start = now(), done = 0;
        for (int i = 0; i < 10; i++)
            done += fn();
        double rate = done / (now() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

static const struct {
    unsigned op;
    const char *name;
    double macs;
    int in_dwords, out_dwords;
} cases[] = {
    {ISA_OP_v_mfma_f32_32x32x8_f16, "v_mfma_f32_32x32x8_f16", 32 * 32 * 8, 2, 16},
    {ISA_OP_v_mfma_f32_16x16x16_f16, "v_mfma_f32_16x16x16_f16", 16 * 16 * 16, 2, 4},
    {ISA_OP_v_mfma_f32_32x32x4_2b_f16, "v_mfma_f32_32x32x4_2b_f16", 32 * 32 * 8, 2, 32},
    {ISA_OP_v_mfma_f32_4x4x4_16b_f16, "v_mfma_f32_4x4x4_16b_f16", 4 * 4 * 4 * 16, 2, 4},
    {ISA_OP_v_mfma_f32_32x32x8_bf16, "v_mfma_f32_32x32x8_bf16", 32 * 32 * 8, 2, 16},
    {ISA_OP_v_mfma_f32_16x16x16_bf16, "v_mfma_f32_16x16x16_bf16", 16 * 16 * 16, 2, 4},
    {ISA_OP_v_mfma_f32_32x32x2_f32, "v_mfma_f32_32x32x2_f32", 32 * 32 * 2, 1, 16},
    {ISA_OP_v_mfma_f32_16x16x4_f32, "v_mfma_f32_16x16x4_f32", 16 * 16 * 4, 1, 4},
    {ISA_OP_v_mfma_f32_16x16x8_xf32, "v_mfma_f32_16x16x8_xf32", 16 * 16 * 8, 2, 4},
    {ISA_OP_v_mfma_f32_32x32x16_fp8_fp8, "v_mfma_f32_32x32x16_fp8_fp8", 32 * 32 * 16, 2, 16},
    {ISA_OP_v_mfma_i32_32x32x16_i8, "v_mfma_i32_32x32x16_i8", 32 * 32 * 16, 2, 16},
    {ISA_OP_v_mfma_i32_16x16x32_i8, "v_mfma_i32_16x16x32_i8", 16 * 16 * 32, 2, 4},
    {ISA_OP_v_mfma_f64_16x16x4_f64, "v_mfma_f64_16x16x4_f64", 16 * 16 * 4, 2, 8},
    {ISA_OP_v_mfma_f64_4x4x4_4b_f64, "v_mfma_f64_4x4x4_4b_f64", 4 * 4 * 4 * 4, 2, 2},
    {ISA_OP_v_smfmac_f32_32x32x16_f16, "v_smfmac_f32_32x32x16_f16", 32 * 32 * 8, 2, 16},
};

/* Four independent accumulators, as a matrix multiply has them: a is v[0..], b v[8..], results a[32 n..]. */
static double measure(struct wave *w, sem_lookup_fn *lookup, size_t n, double *instructions)
{
    enum { TILES = 4 };
    struct isa_inst inst[TILES];
    struct xinst x[TILES];
    memset(inst, 0, sizeof(inst));
    memset(x, 0, sizeof(x));
    exec_fn *fn = NULL;
    for (int t = 0; t < TILES; t++) {
        inst[t].op = (uint16_t)cases[n].op;
        inst[t].dst.kind = inst[t].src[2].kind = ISA_AGPR;
        inst[t].src[0].kind = inst[t].src[1].kind = ISA_VGPR;
        x[t].isa = &inst[t];
        x[t].d = x[t].s[2] = (int16_t)(WAVE_ACC + 32 * t);
        x[t].s[0] = (int16_t)(2 * (t & 1));
        x[t].s[1] = (int16_t)(8 + 4 * (t >> 1));
        fn = lookup(&inst[t], &x[t]);
    }
    if (strstr(cases[n].name, "smfmac"))
        for (int t = 0; t < TILES; t++) {
            inst[t].src[2].kind = ISA_VGPR;
            x[t].s[2] = 16;
        }
    double best = 0;
    for (int run = 0; run < 20; run++) {
        double start = now();
        for (int i = 0; i < 500; i++)
            for (int t = 0; t < TILES; t++)
                fn(w, &x[t]);
        double rate = 500 * TILES / (now() - start);
        best = rate > best ? rate : best;
    }
    *instructions = best;
    return best * cases[n].macs;
}

int main(void)
{
    static const struct {
        const char *name;
        sem_lookup_fn *lookup;
        double (*peak)(void);
    } levels[] = {{"x86-64-v4", sem_matrix_v4, peak_avx512},
                  {"x86-64-v3", sem_matrix_v3, peak_avx2},
                  {"x86-64-v2", sem_matrix_v2, peak_sse}};
    int first = __builtin_cpu_supports("x86-64-v4") ? 0 : __builtin_cpu_supports("x86-64-v3") ? 1 : 2;
    wave_row *rows = aligned_alloc(64, sizeof(wave_row) * (WAVE_TEMPS + WAVE_ROWS));
    struct wave *w = aligned_alloc(64, (sizeof(struct wave) + 63) / 64 * 64);
    memset(rows, 0, sizeof(wave_row) * (WAVE_TEMPS + WAVE_ROWS));
    memset(w, 0, sizeof(*w));
    w->v = rows + WAVE_TEMPS;
    w->exec = UINT64_MAX;
    for (int r = 0; r < 16; r++) /* f16 and bf16 of moderate size, small bytes */
        for (int l = 0; l < WAVE_LANES; l++)
            w->v[r][l] = 0x3c003c00u + (uint32_t)(r * 64 + l) * 0x00010001u;
    for (int level = first; level < 3; level++) {
        double peak = measure_peak(levels[level].peak);
        printf("%s: host peak %.1f G f32 FMA/s\n", levels[level].name, peak * 1e-9);
        for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
            double instructions, rate = measure(w, levels[level].lookup, n, &instructions);
            printf("  %-28s %7.1f G mac/s  %6.2f M inst/s  ratio %.2f\n", cases[n].name, rate * 1e-9,
                   instructions * 1e-6, rate / peak);
        }
    }
    free(w);
    free(rows);
    return 0;
}
