/* SPDX-License-Identifier: MIT */
/*
 * Matrix instructions: which there are, and where an element lives.
 *
 * D = A * B + C, where A is M x K, B is K x N, C and D are M x N (M = N here),
 * `blocks` independent products at once, elements spread over the 64 lanes.
 *
 * Inputs.  A lane holds E = K * M * blocks / 64 consecutive k of one row of A
 * (and of one column of B), in ascending order from bit 0 of its first register:
 *
 *     A[i][k] of block b:  lane i + M * (b + blocks * (k / E)),  element k % E
 *     B[k][j] of block b:  lane j + N * (b + blocks * (k / E)),  element k % E
 *
 * Outputs of 32 bits come in groups of H = 4 consecutive rows, one a register;
 * 64 / N groups lie side by side in the lanes, and then the next four registers:
 *
 *     32x32:         D[i][j] of block b: register 16 * b + 4 * (i / 8) + i % 4,  lane j + 32 * (i / 4 % 2)
 *     16x16:         D[i][j] of block b: register 4 * b + i % 4,                 lane j + 16 * (i / 4)
 *     4x4:           D[i][j] of block b: register i,                             lane j + 4 * b
 *
 * f64 outputs have H = 1, and a register is a pair:
 *
 *     16x16 f64:     D[i][j]:            pair i / 4,                             lane j + 16 * (i % 4)
 *     4x4 f64:       D[i][j] of block b: the only pair,                          lane j + 4 * b + 16 * i
 *
 * (the 4x4 is what the 16x16's hardware gives for the blocks on its diagonal).
 *
 * Modifiers.  CBSZ, ABID: block b takes A of block (b & ~(2^CBSZ - 1)) + ABID.  BLGP permutes the lanes of
 * B: 1 lanes 0-31 to both halves, 2 lanes 32-63 to both, 3 rotates down by 16 (lane 16's to lane 0), 4..7
 * sixteen lanes 0, 16, 32, 48 to all.  f64 has in BLGP's place negation of A, B, C in bits 0, 1, 2.  EXEC
 * and MODE are ignored.
 *
 * SMFMAC: D = A * B + D, where A has two of every four consecutive k of a row, and src2 says which: the c-th
 * element that a lane holds is k = 4 * (c / 2) + (index >> 2 * c & 3) of the lane's share, which is as large
 * as B's.  The index has 8 bits (16-bit elements) or 16 bits (8-bit elements) a lane; with CBSZ = 0, ABID
 * chooses which of the dword's four or two, else the first.
 *
 * Arithmetic.  Floats accumulate in ascending k with one rounding (nearest even) an element: every product
 * is exact before it is added, denormals count.  Any NaN result is 0x7fc00000.  Integers wrap.  The order of
 * accumulation in hardware is not documented; results agree within the usual bound of (K + 1) ulp of the sum
 * of magnitudes.  xf32 rounds A and B to ten bits of mantissa.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 7 (matrix arithmetic) and 13.3.6.1; AMD Matrix Instruction
 * Calculator; AMD lab notes "AMD matrix cores".
 */
#ifndef EHP_SEM_MATRIX_MATRIX_H
#define EHP_SEM_MATRIX_MATRIX_H

#include "wave/handlers.h"

/* What the elements of a source are. */
enum matrix_elem { MX_F32, MX_XF32, MX_F16, MX_BF16, MX_FP8, MX_BF8, MX_I8 };

/* X(mnemonic, M, K, blocks, type of A, type of B): 32-bit results. */
#define MATRIX_DENSE(X)                                                                                      \
    X(v_mfma_f32_32x32x1_2b_f32, 32, 1, 2, MX_F32, MX_F32)                                                   \
    X(v_mfma_f32_16x16x1_4b_f32, 16, 1, 4, MX_F32, MX_F32)                                                   \
    X(v_mfma_f32_32x32x2_f32, 32, 2, 1, MX_F32, MX_F32)                                                      \
    X(v_mfma_f32_16x16x4_f32, 16, 4, 1, MX_F32, MX_F32)                                                      \
    X(v_mfma_f32_32x32x4_xf32, 32, 4, 1, MX_XF32, MX_XF32)                                                   \
    X(v_mfma_f32_16x16x8_xf32, 16, 8, 1, MX_XF32, MX_XF32)                                                   \
    X(v_mfma_f32_32x32x4_2b_f16, 32, 4, 2, MX_F16, MX_F16)                                                   \
    X(v_mfma_f32_16x16x4_4b_f16, 16, 4, 4, MX_F16, MX_F16)                                                   \
    X(v_mfma_f32_32x32x8_f16, 32, 8, 1, MX_F16, MX_F16)                                                      \
    X(v_mfma_f32_16x16x16_f16, 16, 16, 1, MX_F16, MX_F16)                                                    \
    X(v_mfma_f32_32x32x4_2b_bf16, 32, 4, 2, MX_BF16, MX_BF16)                                                \
    X(v_mfma_f32_16x16x4_4b_bf16, 16, 4, 4, MX_BF16, MX_BF16)                                                \
    X(v_mfma_f32_32x32x8_bf16, 32, 8, 1, MX_BF16, MX_BF16)                                                   \
    X(v_mfma_f32_16x16x16_bf16, 16, 16, 1, MX_BF16, MX_BF16)                                                 \
    X(v_mfma_f32_16x16x32_bf8_bf8, 16, 32, 1, MX_BF8, MX_BF8)                                                \
    X(v_mfma_f32_16x16x32_bf8_fp8, 16, 32, 1, MX_BF8, MX_FP8)                                                \
    X(v_mfma_f32_16x16x32_fp8_bf8, 16, 32, 1, MX_FP8, MX_BF8)                                                \
    X(v_mfma_f32_16x16x32_fp8_fp8, 16, 32, 1, MX_FP8, MX_FP8)                                                \
    X(v_mfma_f32_32x32x16_bf8_bf8, 32, 16, 1, MX_BF8, MX_BF8)                                                \
    X(v_mfma_f32_32x32x16_bf8_fp8, 32, 16, 1, MX_BF8, MX_FP8)                                                \
    X(v_mfma_f32_32x32x16_fp8_bf8, 32, 16, 1, MX_FP8, MX_BF8)                                                \
    X(v_mfma_f32_32x32x16_fp8_fp8, 32, 16, 1, MX_FP8, MX_FP8)                                                \
    X(v_mfma_i32_32x32x4_2b_i8, 32, 4, 2, MX_I8, MX_I8)                                                      \
    X(v_mfma_i32_16x16x4_4b_i8, 16, 4, 4, MX_I8, MX_I8)                                                      \
    X(v_mfma_i32_32x32x16_i8, 32, 16, 1, MX_I8, MX_I8)                                                       \
    X(v_mfma_i32_16x16x32_i8, 16, 32, 1, MX_I8, MX_I8)

/* The dense 4x4 shapes, of sixteen blocks: X(mnemonic, K, type). */
#define MATRIX_4X4(X)                                                                                        \
    X(v_mfma_f32_4x4x1_16b_f32, 1, MX_F32)                                                                   \
    X(v_mfma_f32_4x4x4_16b_f16, 4, MX_F16)                                                                   \
    X(v_mfma_f32_4x4x4_16b_bf16, 4, MX_BF16)                                                                 \
    X(v_mfma_i32_4x4x4_16b_i8, 4, MX_I8)

/* Sparse: X(mnemonic, M, K, type of A, type of B), K counted dense. */
#define MATRIX_SPARSE(X)                                                                                     \
    X(v_smfmac_f32_16x16x32_f16, 16, 32, MX_F16, MX_F16)                                                     \
    X(v_smfmac_f32_32x32x16_f16, 32, 16, MX_F16, MX_F16)                                                     \
    X(v_smfmac_f32_16x16x32_bf16, 16, 32, MX_BF16, MX_BF16)                                                  \
    X(v_smfmac_f32_32x32x16_bf16, 32, 16, MX_BF16, MX_BF16)                                                  \
    X(v_smfmac_i32_16x16x64_i8, 16, 64, MX_I8, MX_I8)                                                        \
    X(v_smfmac_i32_32x32x32_i8, 32, 32, MX_I8, MX_I8)                                                        \
    X(v_smfmac_f32_16x16x64_bf8_bf8, 16, 64, MX_BF8, MX_BF8)                                                 \
    X(v_smfmac_f32_16x16x64_bf8_fp8, 16, 64, MX_BF8, MX_FP8)                                                 \
    X(v_smfmac_f32_16x16x64_fp8_bf8, 16, 64, MX_FP8, MX_BF8)                                                 \
    X(v_smfmac_f32_16x16x64_fp8_fp8, 16, 64, MX_FP8, MX_FP8)                                                 \
    X(v_smfmac_f32_32x32x32_bf8_bf8, 32, 32, MX_BF8, MX_BF8)                                                 \
    X(v_smfmac_f32_32x32x32_bf8_fp8, 32, 32, MX_BF8, MX_FP8)                                                 \
    X(v_smfmac_f32_32x32x32_fp8_bf8, 32, 32, MX_FP8, MX_BF8)                                                 \
    X(v_smfmac_f32_32x32x32_fp8_fp8, 32, 32, MX_FP8, MX_FP8)

/* The parts of sem_matrix(). */
#define MATRIX_DECLARE_LEVEL(level)                                                                          \
    sem_lookup_fn sem_matrix_dense_##level;                                                                  \
    sem_lookup_fn sem_matrix_sparse_##level;                                                                 \
    sem_lookup_fn sem_matrix_f64_##level;
MATRIX_DECLARE_LEVEL(v2)
MATRIX_DECLARE_LEVEL(v3)
MATRIX_DECLARE_LEVEL(v4)

#endif
