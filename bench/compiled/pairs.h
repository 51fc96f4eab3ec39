/* SPDX-License-Identifier: MIT */
/*
 * The same work twice: as kernels, which EHP runs, and as a loop of the host, optimised for it.  Both work on
 * arrays of their own with the same contents, and what they make is compared.
 */
#ifndef EHP_BENCH_COMPILED_PAIRS_H
#define EHP_BENCH_COMPILED_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An array on both sides: `host` is filled at first, `device` is a copy of it. */
struct both {
    size_t bytes;
    void *host, *device;
};

/* What to fill it with. */
enum fill {
    FILL_ZERO,
    FILL_UNIT,   /* floats in [0, 1) */
    FILL_UNIT64, /* doubles in [0, 1) */
    FILL_HALF,   /* _Float16 in [0, 1), in eighths: products are exact */
    FILL_BITS,   /* 32-bit numbers */
    FILL_INDEX,  /* 32-bit numbers below the limit */
    FILL_ROWS,   /* where rows begin that have the limit's entries on average */
};

/* How results are: equal bit for bit, or within the tolerance of the greatest magnitude. */
enum compare {
    SAME_BITS,
    CLOSE_F32,
    CLOSE_F64,
};

enum { MOST_ARRAYS = 5 };

struct pair {
    const char *name;
    const char *unit;
    double work; /* of a run; divided by seconds it is in the unit */
    struct {
        enum fill fill;
        size_t bytes;
        uint32_t limit;
    } arrays[MOST_ARRAYS];
    enum compare compare;
    double tolerance; /* SAME_BITS: the share of elements that may differ */
    void (*device)(const struct both *a);
    void (*host)(const struct both *a);
    int result; /* the array that is compared */
};

/* Each ends with a pair without a name.  Not const: constants are for the device as well, functions of the
 * host not. */
extern struct pair compute_pairs[], memory_pairs[], group_pairs[];

enum {
    MIB = 1 << 20,
    FMA_ITEMS = 1 << 14,
    FMA_ROUNDS = 512, /* of 64 FMAs */
    BODIES = 4096,
    BODIES64 = 2048,
    OPTIONS = 1 << 20,
    FRACTAL = 512, /* pixels a side */
    FRACTAL_ROUNDS = 256,
    MATRIX = 512,
    MFMA_WAVES = 256,
    MFMA_ROUNDS = 256, /* of 4 */
    STREAM = 16 * MIB, /* floats an array: 64 MiB */
    GRID = 4096,
    GATHER = 8 * MIB,
    ROWS = 1 << 18,
    ROW_ENTRIES = 16,
    ITEMS = 16 * MIB,
    KEYS = 4 * MIB,
    BLOCK = 256,
    BLOCK_KEYS = 4096,
    DIGITS = 256
};

void host_fma(const struct both *a);
void host_nbody(const struct both *a);
void host_nbody64(const struct both *a);
void host_black_scholes(const struct both *a);
void host_mandelbrot(const struct both *a);
void host_sgemm(const struct both *a);
void host_mfma(const struct both *a);
void host_add(const struct both *a);
void host_copy(const struct both *a);
void host_triad(const struct both *a);
void host_stencil(const struct both *a);
void host_columns(const struct both *a);
void host_gather(const struct both *a);
void host_spmv(const struct both *a);
void host_reduce(const struct both *a);
void host_scan(const struct both *a);
void host_histogram(const struct both *a);
void host_radix(const struct both *a);

#ifdef __cplusplus
}
#endif

#endif
