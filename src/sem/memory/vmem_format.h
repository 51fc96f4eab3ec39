/* SPDX-License-Identifier: MIT */
/*
 * Buffer formats: memory's bits to registers and back.
 *
 * A format is a layout (dfmt: component widths, from the least significant bit)
 * and a meaning (nfmt).  Floats of 11 and 10 bits have no sign and a 5-bit
 * exponent.  Conversion to unorm and snorm rounds to nearest even.
 *
 * Source: "AMD Instinct MI300 ISA", table 96 (MTBUF fields: DFMT, NFMT) and
 * chapter 9.
 */
#ifndef EHP_SEM_MEMORY_VMEM_FORMAT_H
#define EHP_SEM_MEMORY_VMEM_FORMAT_H

#include <math.h>

#include "base/minifloat.h"

enum vmem_nfmt { NFMT_UNORM, NFMT_SNORM, NFMT_USCALED, NFMT_SSCALED, NFMT_UINT, NFMT_SINT, NFMT_FLOAT = 7 };

struct vmem_layout {
    uint8_t bits[4]; /* of X, Y, Z, W; X is lowest */
};

/* By DFMT.  Names in the document list components from the highest bit. */
static inline struct vmem_layout vmem_layout_of(unsigned dfmt)
{
    static const struct vmem_layout layouts[16] = {
        [1] = {{8}},
        [2] = {{16}},
        [3] = {{8, 8}},
        [4] = {{32}},
        [5] = {{16, 16}},
        [6] = {{11, 11, 10}},    /* 10_11_11 */
        [7] = {{10, 11, 11}},    /* 11_11_10 */
        [8] = {{2, 10, 10, 10}}, /* 10_10_10_2 */
        [9] = {{10, 10, 10, 2}}, /* 2_10_10_10 */
        [10] = {{8, 8, 8, 8}},
        [11] = {{32, 32}},
        [12] = {{16, 16, 16, 16}},
        [13] = {{32, 32, 32}},
        [14] = {{32, 32, 32, 32}},
    };
    return layouts[dfmt & 15];
}

static inline unsigned vmem_layout_bytes(struct vmem_layout layout)
{
    return (unsigned)(layout.bits[0] + layout.bits[1] + layout.bits[2] + layout.bits[3]) / 8;
}

static inline bool vmem_nfmt_is_integer(unsigned nfmt)
{
    return nfmt == NFMT_UINT || nfmt == NFMT_SINT;
}

/* Whether gfx942 defines the combination: floats have 10, 11, 16 or 32 bits, 32 bits have no norm or scaled.
 */
static inline bool vmem_format_valid(unsigned dfmt, unsigned nfmt)
{
    struct vmem_layout layout = vmem_layout_of(dfmt);
    if (layout.bits[0] == 0 || nfmt == 6)
        return false;
    if (nfmt == NFMT_FLOAT)
        return layout.bits[0] != 8 && dfmt != 8 && dfmt != 9;
    return layout.bits[0] != 32 || vmem_nfmt_is_integer(nfmt);
}

/* No component is in two dwords: bit `at` of the format is bit at % 32 of dword at / 32. */
static inline uint32_t vmem_bits_mask(unsigned bits)
{
    return UINT32_MAX >> (32 - bits);
}

/* A component as 32 bits: a float, or an integer extended. */
static inline uint32_t vmem_decode(uint32_t raw, unsigned bits, unsigned nfmt)
{
    int32_t s = (int32_t)(raw << (32 - bits)) >> (32 - bits);
    switch (nfmt) {
    case NFMT_UNORM:
        return f32_bits((float)((double)raw / (double)((1u << bits) - 1)));
    case NFMT_SNORM: {
        double v = (double)s / (double)((1u << (bits - 1)) - 1);
        return f32_bits((float)(v < -1 ? -1 : v));
    }
    case NFMT_USCALED:
        return f32_bits((float)raw);
    case NFMT_SSCALED:
        return f32_bits((float)s);
    case NFMT_UINT:
        return raw;
    case NFMT_SINT:
        return (uint32_t)s;
    default:
        if (bits == 32)
            return raw;
        if (bits == 16)
            return f32_bits(f16_to_f32((uint16_t)raw));
        return f32_bits(
            f16_to_f32((uint16_t)(raw << (bits == 11 ? 4 : 5)))); /* an f16 without sign, cut short */
    }
}

/* Rounds after clamping; NaN is 0. */
static inline uint32_t vmem_clamp_round(double v, double low, double high)
{
    v = v != v ? 0 : v < low ? low : v > high ? high : v;
    return (uint32_t)(int64_t)nearbyint(v);
}

/* The opposite of vmem_decode(); integers and what does not fit are clamped. */
static inline uint32_t vmem_encode(uint32_t value, unsigned bits, unsigned nfmt)
{
    const uint32_t mask = vmem_bits_mask(bits);
    const double top = (double)mask, half = (double)(mask >> 1);
    float f = f32_from_bits(value);
    switch (nfmt) {
    case NFMT_UNORM:
        return vmem_clamp_round((double)f * top, 0, top);
    case NFMT_SNORM:
        return vmem_clamp_round((double)f * half, -half, half) & mask;
    case NFMT_USCALED:
        return vmem_clamp_round(f, 0, top) & mask;
    case NFMT_SSCALED:
        return vmem_clamp_round(f, -half - 1, half) & mask;
    case NFMT_UINT:
        return value > mask ? mask : value;
    case NFMT_SINT: {
        int64_t v = (int32_t)value, high = (int64_t)(mask >> 1), low = -high - 1;
        return (uint32_t)(v < low ? low : v > high ? high : v) & mask;
    }
    default:
        if (bits == 32)
            return value;
        if (bits == 16)
            return f16_from_f32(f);
        /* No sign: negative values are 0. */
        return f < 0 ? 0 : (uint32_t)(f16_from_f32(f) & 0x7fff) >> (bits == 11 ? 4 : 5);
    }
}

#endif
