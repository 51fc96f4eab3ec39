/* SPDX-License-Identifier: MIT */
/*
 * The loop of float arithmetic.  It takes the lanes in chunks that fit the
 * host's registers: sources are loaded, the host computes, and one look at the
 * chunk's results says whether a NaN is among them, which then gets its bits by
 * the rule of base/float.h.  Only then is the chunk written, so a result may
 * overlap its sources in any way.
 *
 * Doubles are joined from their two rows and split again by interleaving, which
 * leaves them in an order of its own within a chunk (v_join()).
 */
#ifndef EHP_SEM_VECTOR_VALU_ARITH_H
#define EHP_SEM_VECTOR_VALU_ARITH_H

#include "sem/vector/valu.h"
#include "sem/vector/vec.h"

enum { CHUNK_f = VL == 16 ? 64 : 32, CHUNK_d = VL == 16 ? 32 : 16 };

typedef float valu_f;
typedef double valu_d;

V_INLINE void chunk_load_f(float *x, const wave_row *row, int base)
{
    for (int k = 0; k < CHUNK_f; k += VL)
        v_store((uint32_t *)(void *)(x + k), v_load(row[0] + base + k));
}

V_INLINE void chunk_load_d(double *x, const wave_row *row, int base)
{
    for (int k = 0; k < CHUNK_d; k += VL) {
        const struct v_pair p = v_join(row[0] + base + k, row[1] + base + k);
        v_store((uint32_t *)(void *)(x + k), (vreg)p.a);
        v_store((uint32_t *)(void *)(x + k + VL / 2), (vreg)p.b);
    }
}

V_INLINE void chunk_set_f(float *x, uint64_t bits)
{
    for (int k = 0; k < CHUNK_f; k += VL)
        v_store((uint32_t *)(void *)(x + k), v_set1((uint32_t)bits));
}

V_INLINE void chunk_set_d(double *x, uint64_t bits)
{
    for (int k = 0; k < CHUNK_d; k += VL / 2)
        v_store((uint32_t *)(void *)(x + k), (vreg)v_set1_f64(f64_from_bits(bits)));
}

V_INLINE void chunk_store_f(wave_row *row, int base, const float *x)
{
    for (int k = 0; k < CHUNK_f; k += VL)
        v_store(row[0] + base + k, v_load((const uint32_t *)(const void *)(x + k)));
}

V_INLINE void chunk_store_d(wave_row *row, int base, const double *x)
{
    for (int k = 0; k < CHUNK_d; k += VL) {
        const struct v_pair p = {(vdouble)v_load((const uint32_t *)(const void *)(x + k)),
                                 (vdouble)v_load((const uint32_t *)(const void *)(x + k + VL / 2))};
        v_split(row[0] + base + k, row[1] + base + k, p);
    }
}

V_INLINE bool chunk_any_nan_f(const float *x)
{
    vnans nans = {0};
    for (int k = 0; k < CHUNK_f; k += 2 * VL)
        nans = v_nans(nans, v_load((const uint32_t *)(const void *)(x + k)),
                      v_load((const uint32_t *)(const void *)(x + k + VL)));
    return v_any(nans);
}

V_INLINE bool chunk_any_nan_d(const double *x)
{
    bool any = false;
    for (int k = 0; k < CHUNK_d; k += VL)
        any |= v_any_nan_f64((vdouble)v_load((const uint32_t *)(const void *)(x + k)),
                             (vdouble)v_load((const uint32_t *)(const void *)(x + k + VL / 2)));
    return any;
}

/*
 * Sources are arrays x0, x1, x2 that GET fills; unused ones are dropped.  It
 * fills them anew for NaNs, so that no register holds sources for that.
 */
#define VALU_ARITHMETIC(T, GET, call, fix)                                                                   \
    for (int base = 0; base < WAVE_LANES; base += CHUNK_##T) {                                               \
        alignas(64) valu_##T x0[CHUNK_##T], x1[CHUNK_##T], x2[CHUNK_##T], t[CHUNK_##T];                      \
        GET;                                                                                                 \
        (void)x2;                                                                                            \
        for (int k = 0; k < CHUNK_##T; k++)                                                                  \
            t[k] = call;                                                                                     \
        if (VALU_UNLIKELY(chunk_any_nan_##T(t))) {                                                           \
            __asm__ volatile("" ::: "memory");                                                               \
            GET;                                                                                             \
            for (int k = 0; k < CHUNK_##T; k++)                                                              \
                t[k] = fix;                                                                                  \
            chunk_store_##T(r, base, t);                                                                     \
        } else {                                                                                             \
            chunk_store_##T(r, base, t);                                                                     \
        }                                                                                                    \
    }

#define VALU_CALL_2(fn) fn(x0[k], x1[k])
#define VALU_CALL_3(fn) fn(x0[k], x1[k], x2[k])
#define VALU_FIX_2_f    f32_from_bits(f32_nan2(f32_bits(t[k]), f32_bits(x0[k]), f32_bits(x1[k])))
#define VALU_FIX_3_f                                                                                         \
    f32_from_bits(f32_nan3(f32_bits(t[k]), f32_bits(x0[k]), f32_bits(x1[k]), f32_bits(x2[k])))
#define VALU_FIX_2_d f64_from_bits(f64_nan2(f64_bits(t[k]), f64_bits(x0[k]), f64_bits(x1[k])))
#define VALU_FIX_3_d                                                                                         \
    f64_from_bits(f64_nan3(f64_bits(t[k]), f64_bits(x0[k]), f64_bits(x1[k]), f64_bits(x2[k])))

#endif
