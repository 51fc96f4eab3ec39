/* SPDX-License-Identifier: MIT */
/*
 * Packed 16-bit integers.  Clamping saturates the exact result; without it the
 * result wraps.
 */
#include "sem/vector/lane_int.h"
#include "sem/vector/packed.h"

/* x, y, z are the element's sources as signed or unsigned 16-bit values. */
#define PK_INT(name, n, type, wrapped, clamped)                                                              \
    static const struct xinst *x_##name(struct wave *w, const struct xinst *in)                              \
    {                                                                                                        \
        alignas(64) wave_row temp[3], out;                                                                   \
        const uint32_t *s[3];                                                                                \
        packed_sources(w, in, n, false, temp, s);                                                            \
        const packed_half *a = (const packed_half *)s[0], *b = (const packed_half *)s[1];                    \
        const packed_half *c = (const packed_half *)s[(n) - 1];                                              \
        packed_half *d = (packed_half *)out;                                                                 \
        if (packed_clamp(in)) {                                                                              \
            for (int i = 0; i < HALVES; i++) {                                                               \
                const type x = (type)a[i], y = (type)b[i], z = (type)c[i];                                   \
                (void)z;                                                                                     \
                d[i] = (uint16_t)(clamped);                                                                  \
            }                                                                                                \
        } else {                                                                                             \
            for (int i = 0; i < HALVES; i++) {                                                               \
                const type x = (type)a[i], y = (type)b[i], z = (type)c[i];                                   \
                (void)z;                                                                                     \
                d[i] = (uint16_t)(wrapped);                                                                  \
            }                                                                                                \
        }                                                                                                    \
        return packed_commit(w, in, out);                                                                    \
    }

#include "sem/vector/packed.def"

exec_fn *SEM(sem_packed_int)(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
#define PK_INT(name, ...)                                                                                    \
    case ISA_OP_##name:                                                                                      \
        return x_##name;
#include "sem/vector/packed.def"
    default:
        return NULL;
    }
}
