/* SPDX-License-Identifier: MIT */
/*
 * Packed 16-bit integers.  Clamping saturates the exact result; without it the
 * result wraps.
 */
#include "sem/vector/packed.h"

static inline uint16_t clamp_i16(int32_t x)
{
    return (uint16_t)(x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x);
}

static inline uint16_t clamp_u16(int64_t x)
{
    return (uint16_t)(x < 0 ? 0 : x > UINT16_MAX ? UINT16_MAX : x);
}

/* x, y, z are the element's sources as signed or unsigned 16-bit values. */
#define PACKED_INT(name, n, type, wrapped, clamped)                                                          \
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
                d[i] = clamped;                                                                              \
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

#define LIST(X)                                                                                              \
    X(v_pk_mad_i16, 3, int16_t, (uint32_t)x *(uint32_t)y + (uint32_t)z, clamp_i16(x * y + z))                \
    X(v_pk_mul_lo_u16, 2, uint16_t, (uint32_t)x *y, clamp_u16((int64_t)((uint32_t)x * y)))                   \
    X(v_pk_add_i16, 2, int16_t, x + y, clamp_i16(x + y))                                                     \
    X(v_pk_sub_i16, 2, int16_t, x - y, clamp_i16(x - y))                                                     \
    X(v_pk_lshlrev_b16, 2, uint16_t, y << (x & 15), (uint16_t)(y << (x & 15)))                               \
    X(v_pk_lshrrev_b16, 2, uint16_t, y >> (x & 15), (uint16_t)(y >> (x & 15)))                               \
    X(v_pk_ashrrev_i16, 2, int16_t, y >> (x & 15), (uint16_t)(y >> (x & 15)))                                \
    X(v_pk_max_i16, 2, int16_t, x > y ? x : y, (uint16_t)(x > y ? x : y))                                    \
    X(v_pk_min_i16, 2, int16_t, x < y ? x : y, (uint16_t)(x < y ? x : y))                                    \
    X(v_pk_mad_u16, 3, uint16_t, (uint32_t)x *y + z, clamp_u16((int64_t)((uint32_t)x * y + z)))              \
    X(v_pk_add_u16, 2, uint16_t, x + y, clamp_u16(x + y))                                                    \
    X(v_pk_sub_u16, 2, uint16_t, x - y, clamp_u16(x - y))                                                    \
    X(v_pk_max_u16, 2, uint16_t, x > y ? x : y, (uint16_t)(x > y ? x : y))                                   \
    X(v_pk_min_u16, 2, uint16_t, x < y ? x : y, (uint16_t)(x < y ? x : y))
LIST(PACKED_INT)

exec_fn *SEM(sem_packed_int)(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
#define CASE(name, ...)                                                                                      \
    case ISA_OP_##name:                                                                                      \
        return x_##name;
        LIST(CASE)
#undef CASE
    default:
        return NULL;
    }
}
