/* SPDX-License-Identifier: MIT */
/*
 * Operands of matrix instructions, from registers to tiles, and what all
 * handlers do with C and D.
 *
 * A tile is an array of rows of 64 dwords, like VGPRs: converted elements, one
 * a dword.  Floats are f32; integers are two i16 a dword, so that one
 * multiply-add does two of them.
 */
#ifndef EHP_SEM_MATRIX_MATRIX_TILE_H
#define EHP_SEM_MATRIX_MATRIX_TILE_H

#include <stdlib.h>
#include <string.h>

#include "sem/matrix/matrix.h"
#include "sem/vector/vec.h"

#define MX_INLINE V_INLINE

/* Every product of two elements is an f32: of the others it depends on the elements. */
MX_INLINE bool tile_always_exact(enum matrix_elem type)
{
    return type != MX_F32 && type != MX_XF32 && type != MX_BF16;
}

/* One step of k for a vector of results. */
MX_INLINE vreg tile_mac(vreg a, vreg b, vreg c, enum matrix_elem type, bool exact)
{
    return type == MX_I8 ? v_dot2(a, b, c) : v_fma(a, b, c, exact);
}

/* Rows of a tile for `dwords` registers of a source. */
MX_INLINE int tile_rows(enum matrix_elem type, int dwords, bool pairs)
{
    switch (type) {
    case MX_F32:
    case MX_XF32:
        return dwords;
    case MX_F16:
    case MX_BF16:
        return 2 * dwords;
    case MX_I8:
        return pairs ? 2 * dwords : 4 * dwords;
    default:
        return 4 * dwords;
    }
}

/* Round to nearest even at bit 13: what xf32 keeps of an f32. */
MX_INLINE uint32_t xf32_round(uint32_t x)
{
    uint32_t rounded = (x + 0xfff + (x >> 13 & 1)) & ~0x1fffu;
    return (x & 0x7fffffffu) > 0x7f800000u ? x : rounded;
}

/*
 * Converts `dwords` registers.  f32 needs no conversion and is used in place.
 * i8 becomes pairs of i16, or (for !pairs) single i16 with zero above, so that a
 * dot product with it has one term.
 */
MX_INLINE const wave_row *tile_load(wave_row *tile, const wave_row *src, int dwords, enum matrix_elem type,
                                    bool pairs)
{
    if (type == MX_F32)
        return src;
    for (int r = 0; r < dwords; r++) {
        const uint32_t *p = src[r];
        if (type == MX_F16) {
            for (int l = 0; l < WAVE_LANES; l += VL)
                v_f16_to_f32(&tile[2 * r][l], &tile[2 * r + 1][l], p + l);
            continue;
        }
        for (int l = 0; l < WAVE_LANES; l++) {
            uint32_t x = p[l];
            switch (type) {
            case MX_XF32:
                tile[r][l] = xf32_round(x);
                break;
            case MX_BF16:
                tile[2 * r][l] = x << 16;
                tile[2 * r + 1][l] = x & 0xffff0000u;
                break;
            case MX_FP8:
                for (int e = 0; e < 4; e++)
                    tile[4 * r + e][l] = f32_bits(fp8_to_f32((uint8_t)(x >> 8 * e)));
                break;
            case MX_BF8:
                for (int e = 0; e < 4; e++)
                    tile[4 * r + e][l] = f32_bits(bf8_to_f32((uint8_t)(x >> 8 * e)));
                break;
            default: /* MX_I8 */
                if (pairs) {
                    tile[2 * r][l] = (uint32_t)(int8_t)x << 0 & 0xffff;
                    tile[2 * r][l] |= (uint32_t)(int8_t)(x >> 8) << 16;
                    tile[2 * r + 1][l] = (uint32_t)(int8_t)(x >> 16) & 0xffff;
                    tile[2 * r + 1][l] |= (uint32_t)(int8_t)(x >> 24) << 16;
                } else {
                    for (int e = 0; e < 4; e++)
                        tile[4 * r + e][l] = (uint32_t)(int8_t)(x >> 8 * e) & 0xffff;
                }
            }
        }
    }
    return tile;
}

/* What products depend on: exponents of the elements that are not 0, and all bits of their mantissas. */
struct tile_range {
    uint32_t least, most, mantissas;
};

MX_INLINE struct tile_range tile_range(const wave_row *tile, int rows)
{
    struct tile_range range = {255, 0, 0};
    for (int r = 0; r < rows; r++)
        for (int l = 0; l < WAVE_LANES; l++) {
            const uint32_t magnitude = tile[r][l] & 0x7fffffffu, exponent = magnitude >> 23;
            const uint32_t of_zero = magnitude ? exponent : 255;
            range.least = of_zero < range.least ? of_zero : range.least;
            range.most = exponent > range.most ? exponent : range.most;
            range.mantissas |= magnitude;
        }
    return range;
}

/*
 * Is every product of an element of a with one of b an f32?  Where the host has
 * no FMA, this makes one out of a multiplication and an addition.
 */
static inline bool tile_products_exact(const wave_row *a, int a_rows, const wave_row *b, int b_rows)
{
    const struct tile_range x = tile_range(a, a_rows), y = tile_range(b, b_rows);
    if (x.least == 0 || y.least == 0 || x.most == 255 || y.most == 255) /* denormals, infinities, NaNs */
        return false;
    /* Bits of the mantissas, the leading one included. */
    const int x_bits = 24 - __builtin_ctz(x.mantissas | 1u << 23);
    const int y_bits = 24 - __builtin_ctz(y.mantissas | 1u << 23);
    /* The last bit of the least product, and the first of the largest. */
    const int last = (int)(x.least + y.least) - 2 * 127 - (x_bits - 1) - (y_bits - 1);
    const int first = (int)(x.most + y.most) - 2 * 127 + 1;
    return x_bits + y_bits <= 24 && last >= -149 && first <= 127;
}

/* Lane l of the copy is lane from[l] of the source. */
MX_INLINE const wave_row *tile_permute(wave_row *copy, const wave_row *src, int dwords, const uint8_t *from)
{
    for (int r = 0; r < dwords; r++)
        for (int l = 0; l < WAVE_LANES; l++)
            copy[r][l] = src[r][from[l]];
    return copy;
}

/* The source's registers, lanes permuted when CBSZ and ABID, or BLGP, ask for it; matrix.h has the rules. */
MX_INLINE const wave_row *tile_a(wave_row *copy, const wave_row *src, int dwords, const struct isa_inst *inst,
                                 int m, int blocks)
{
    if (!inst->cbsz || 1 << inst->cbsz > blocks)
        return src;
    int group = (1 << inst->cbsz) - 1, chosen = inst->abid & group;
    uint8_t from[WAVE_LANES];
    for (int l = 0; l < WAVE_LANES; l++) {
        int block = l / m % blocks;
        from[l] = (uint8_t)(l + m * ((block & ~group) + chosen - block));
    }
    return tile_permute(copy, src, dwords, from);
}

MX_INLINE const wave_row *tile_b(wave_row *copy, const wave_row *src, int dwords, const struct isa_inst *inst)
{
    if (!inst->blgp)
        return src;
    /* The lane's bits that are kept, those that are set, and how far all lanes move. */
    static const struct {
        uint8_t keep, set, rotate;
    } rules[8] = {{63, 0, 0}, {31, 0, 0},  {31, 32, 0}, {63, 0, 16},
                  {15, 0, 0}, {15, 16, 0}, {15, 32, 0}, {15, 48, 0}};
    uint8_t from[WAVE_LANES];
    for (unsigned l = 0; l < WAVE_LANES; l++)
        from[l] =
            (uint8_t)(((l + rules[inst->blgp].rotate) & rules[inst->blgp].keep) | rules[inst->blgp].set);
    return tile_permute(copy, src, dwords, from);
}

/*
 * C's registers.  They may be D's, or else must not be changed by writing D:
 * then, and when C is a constant, this is a copy.
 */
MX_INLINE const wave_row *tile_c(wave_row *copy, const struct wave *w, const struct xinst *in, int dwords,
                                 bool f64)
{
    const struct isa_operand *c = &in->isa->src[2];
    if (c->kind == ISA_CONST) {
        for (int r = 0; r < dwords; r++) {
            uint32_t value = (uint32_t)(f64 && r & 1 ? c->value >> 32 : c->value);
            for (int l = 0; l < WAVE_LANES; l++)
                copy[r][l] = value;
        }
        return copy;
    }
    const wave_row *src = w->v + in->s[2];
    if (in->s[2] == in->d || abs(in->s[2] - in->d) >= dwords)
        return src;
    memcpy(copy, src, sizeof(wave_row) * (size_t)dwords);
    return copy;
}

/* Some result is a NaN: all of them become the one that the matrix cores make. */
MX_INLINE void tile_fix_nans(wave_row *d, int dwords)
{
    for (int r = 0; r < dwords; r++)
        for (int l = 0; l < WAVE_LANES; l++)
            d[r][l] = (d[r][l] & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : d[r][l];
}

#endif
