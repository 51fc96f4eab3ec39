/* SPDX-License-Identifier: MIT */
/*
 * What atomics compute, as functions for code generators, as those of sem/scalar/bodies.c are: memory's new
 * value of its old one and the operands.  Sums of floats are several blocks there; here a sum is by itself,
 * and what it becomes where it is a NaN.
 */
#include "sem/memory/memop_atomic.h"

#define HEAD(name, bits)                                                                                     \
    uint64_t scalar_##name##_##bits(uint64_t old, uint64_t data, uint64_t extra, uint8_t *scc);              \
    uint64_t scalar_##name##_##bits(uint64_t old, uint64_t data, uint64_t extra, uint8_t *scc)
#define BODY(op, bits)                                                                                       \
    HEAD(op, bits)                                                                                           \
    {                                                                                                        \
        (void)scc;                                                                                           \
        return memop_atomic##bits(op, (uint##bits##_t)old, (uint##bits##_t)data, (uint##bits##_t)extra);     \
    }
#define SUM(bits)                                                                                            \
    HEAD(sum, bits)                                                                                          \
    {                                                                                                        \
        (void)extra, (void)scc;                                                                              \
        return f##bits##_bits(f##bits##_from_bits((uint##bits##_t)old) +                                     \
                              f##bits##_from_bits((uint##bits##_t)data));                                    \
    }                                                                                                        \
    HEAD(nan_sum, bits)                                                                                      \
    {                                                                                                        \
        (void)extra, (void)scc;                                                                              \
        return memop_nan_f##bits((uint##bits##_t)old, (uint##bits##_t)data);                                 \
    }
#define BODY_32(op) BODY(op, 32)
#define BODY_64(op) BODY(op, 64)

MEMOP_BOTH_WIDTHS(BODY_32)
MEMOP_BOTH_WIDTHS(BODY_64)
MEMOP_ONLY_32(BODY_32)
MEMOP_ONLY_64(BODY_64)
SUM(32)
SUM(64)
