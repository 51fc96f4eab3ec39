/* SPDX-License-Identifier: MIT */
/*
 * Handlers of instructions with sources that are one scalar for all lanes, an
 * SGPR or a constant: the loop takes the scalar from a register of the host, and
 * no row is filled with it first.  A handler exists for each set of sources that
 * may be scalar, but not for all of them at once.
 *
 * Modifiers of sources, SDWA and DPP are left to the handlers that read rows, as
 * are float MODEs other than the plain one.
 */
#include "sem/vector/lane_float.h"
#include "sem/vector/lane_int.h"
#include "sem/vector/valu_arith.h"

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t scalar_32(const struct wave *w, const struct xinst *in, int k)
{
    return in->prep[k] == XPREP_SGPR ? w->s[in->reg[k]] : (uint32_t)in->literal[k];
}

INLINE uint64_t scalar_64(const struct wave *w, const struct xinst *in, int k)
{
    return in->prep[k] == XPREP_SGPR ? wave_sgpr64(w, in->reg[k]) : in->literal[k];
}

#define SCALAR_u(k) scalar_32(w, in, k)
#define SCALAR_f(k) scalar_32(w, in, k)
#define SCALAR_h(k) scalar_32(w, in, k)
#define SCALAR_q(k) scalar_64(w, in, k)
#define SCALAR_d(k) scalar_64(w, in, k)
#define AS_u(x)     ((uint32_t)(x))
#define AS_f(x)     f32_from_bits((uint32_t)(x))
#define AS_h(x)     ((uint16_t)(x))
#define AS_q(x)     (x)
#define AS_d(x)     f64_from_bits(x)

/* Source k, of type T: bit k of the handler's `set` says that it is a scalar. */
#define DECLARE(set, k, T)                                                                                   \
    const wave_row *row##k = w->v + in->s[k];                                                                \
    const uint64_t scalar##k = (set) >> k & 1 ? SCALAR_##T(k) : 0;                                           \
    (void)row##k, (void)scalar##k
#define SOURCE(set, k, T) ((set) >> k & 1 ? AS_##T(scalar##k) : VALU_LD_##T(row##k, i))

#define HANDLER(name, set) static const struct xinst *x_##name##_##set(struct wave *w, const struct xinst *in)

#define BODY(D, call)                                                                                        \
    const wave_row *o = w->v + in->d;                                                                        \
    wave_row *r = valu_result(w, in);                                                                        \
    (void)o;                                                                                                 \
    VALU_LOOP(D, call);                                                                                      \
    return valu_commit(w, in, r, VALU_ROWS_##D);

#define INT_1(name, set, D, A, fn)                                                                           \
    HANDLER(name, set)                                                                                       \
    {                                                                                                        \
        DECLARE(set, 0, A);                                                                                  \
        BODY(D, fn(SOURCE(set, 0, A)))                                                                       \
    }
#define INT_2(name, set, D, A, B, fn)                                                                        \
    HANDLER(name, set)                                                                                       \
    {                                                                                                        \
        DECLARE(set, 0, A);                                                                                  \
        DECLARE(set, 1, B);                                                                                  \
        BODY(D, fn(SOURCE(set, 0, A), SOURCE(set, 1, B)))                                                    \
    }
#define INT_3(name, set, D, A, B, C, fn)                                                                     \
    HANDLER(name, set)                                                                                       \
    {                                                                                                        \
        DECLARE(set, 0, A);                                                                                  \
        DECLARE(set, 1, B);                                                                                  \
        DECLARE(set, 2, C);                                                                                  \
        BODY(D, fn(SOURCE(set, 0, A), SOURCE(set, 1, B), SOURCE(set, 2, C)))                                 \
    }

#define GET(set, k, T) ((set) >> k & 1 ? chunk_set_##T(x##k, scalar##k) : chunk_load_##T(x##k, row##k, base))
#define GET_2(set, T)  GET(set, 0, T), GET(set, 1, T)
#define GET_3(set, T)  GET_2(set, T), GET(set, 2, T)
#define FLOAT_BODY(name, set, n, T, fn)                                                                      \
    if (VALU_UNLIKELY(w->mode_slow))                                                                         \
        return SEM(valu_##name)(w, in);                                                                      \
    wave_row *r = valu_result(w, in);                                                                        \
    VALU_ARITHMETIC(T, GET_##n(set, T), VALU_CALL_##n(fn), VALU_FIX_##n##_##T)                               \
    return valu_commit(w, in, r, VALU_ROWS_##T);

#define FLOAT_2(name, set, T, fn)                                                                            \
    HANDLER(name, set)                                                                                       \
    {                                                                                                        \
        DECLARE(set, 0, T);                                                                                  \
        DECLARE(set, 1, T);                                                                                  \
        FLOAT_BODY(name, set, 2, T, fn)                                                                      \
    }
#define FLOAT_3(name, set, T, fn)                                                                            \
    HANDLER(name, set)                                                                                       \
    {                                                                                                        \
        DECLARE(set, 0, T);                                                                                  \
        DECLARE(set, 1, T);                                                                                  \
        DECLARE(set, 2, T);                                                                                  \
        FLOAT_BODY(name, set, 3, T, fn)                                                                      \
    }

/* clang-format off */
#define EACH_2(X, ...) X(1, __VA_ARGS__) X(2, __VA_ARGS__)
#define EACH_3(X, ...) EACH_2(X, __VA_ARGS__) X(3, __VA_ARGS__) X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__)
/* clang-format on */
#define INT_2_(set, name, ...)   INT_2(name, set, __VA_ARGS__)
#define INT_3_(set, name, ...)   INT_3(name, set, __VA_ARGS__)
#define FLOAT_2_(set, name, ...) FLOAT_2(name, set, __VA_ARGS__)
#define FLOAT_3_(set, name, ...) FLOAT_3(name, set, __VA_ARGS__)

#define FN_1(name, M, ...) INT_1(name, 1, __VA_ARGS__)
#define FN_2(name, M, ...) EACH_2(INT_2_, name, __VA_ARGS__)
#define FN_3(name, M, ...) EACH_3(INT_3_, name, __VA_ARGS__)
#define CL_2(...)
#define CL_3(...)
#include "sem/vector/valu_int.def"
#undef FN_1
#undef FN_2
#undef FN_3

#define FN_1(...)
#define FN_2(...)
#define FN_3(...)
#define MM_2(...)
#define MM_3(...)
#define AR_2(name, M, ...) EACH_2(FLOAT_2_, name, __VA_ARGS__)
#define AR_3(name, M, ...) EACH_3(FLOAT_3_, name, __VA_ARGS__)
#include "sem/vector/valu_float.def"
#undef FN_1
#undef FN_2
#undef FN_3
#undef AR_2
#undef AR_3

/* ---- 64 bits in halves, which saves joining and splitting them ---- */

HANDLER(lshlrev_b64, 1)
{
    const uint32_t shift = scalar_32(w, in, 0) & 63, left = shift & 31;
    const wave_row *b = w->v + in->s[1];
    wave_row *r = valu_result(w, in);
    if (shift >= 32) {
#pragma GCC ivdep
        VALU_EACH_LANE(i)
        {
            const uint32_t low = b[0][i];
            r[0][i] = 0;
            r[1][i] = low << left;
        }
    } else {
#pragma GCC ivdep
        VALU_EACH_LANE(i)
        {
            const uint32_t low = b[0][i], high = b[1][i];
            r[0][i] = low << left;
            r[1][i] = high << left | low >> 1 >> (31 - left);
        }
    }
    return valu_commit(w, in, r, 2);
}

INLINE const struct xinst *shift_right(struct wave *w, const struct xinst *in, bool arithmetic)
{
    const uint32_t shift = scalar_32(w, in, 0) & 63, right = shift & 31;
    const wave_row *b = w->v + in->s[1];
    wave_row *r = valu_result(w, in);
    if (shift >= 32) {
#pragma GCC ivdep
        VALU_EACH_LANE(i)
        {
            const uint32_t high = b[1][i];
            r[0][i] = arithmetic ? (uint32_t)((int32_t)high >> right) : high >> right;
            r[1][i] = arithmetic ? (uint32_t)((int32_t)high >> 31) : 0;
        }
    } else {
#pragma GCC ivdep
        VALU_EACH_LANE(i)
        {
            const uint32_t low = b[0][i], high = b[1][i];
            r[0][i] = low >> right | high << 1 << (31 - right);
            r[1][i] = arithmetic ? (uint32_t)((int32_t)high >> right) : high >> right;
        }
    }
    return valu_commit(w, in, r, 2);
}

HANDLER(lshrrev_b64, 1)
{
    return shift_right(w, in, false);
}

HANDLER(ashrrev_i64, 1)
{
    return shift_right(w, in, true);
}

/* A shift of 0 is the compilers' 64-bit addition. */
INLINE const struct xinst *lshl_add_u64(struct wave *w, const struct xinst *in, unsigned set)
{
    DECLARE(set, 0, q);
    DECLARE(set, 2, q);
    const uint32_t shift = scalar_32(w, in, 1) & 7;
    wave_row *r = valu_result(w, in);
    const uint32_t a0 = (uint32_t)(scalar0 << shift), a1 = (uint32_t)(scalar0 << shift >> 32);
    const uint32_t c0 = (uint32_t)scalar2, c1 = (uint32_t)(scalar2 >> 32);
    if (set & 1 || shift == 0) {
#pragma GCC ivdep
        VALU_EACH_LANE(i)
        {
            const uint32_t low = set & 1 ? a0 : row0[0][i], high = set & 1 ? a1 : row0[1][i];
            const uint32_t sum = low + (set & 4 ? c0 : row2[0][i]);
            const uint32_t top = high + (set & 4 ? c1 : row2[1][i]) + (sum < low ? 1u : 0u);
            r[0][i] = sum;
            r[1][i] = top;
        }
    } else {
#pragma GCC ivdep
        VALU_EACH_LANE(i)
        {
            const uint32_t low = row0[0][i] << shift;
            const uint32_t high = row0[1][i] << shift | row0[0][i] >> 1 >> (31 - shift);
            const uint32_t sum = low + (set & 4 ? c0 : row2[0][i]);
            const uint32_t top = high + (set & 4 ? c1 : row2[1][i]) + (sum < low ? 1u : 0u);
            r[0][i] = sum;
            r[1][i] = top;
        }
    }
    return valu_commit(w, in, r, 2);
}

HANDLER(lshl_add_u64, 2)
{
    return lshl_add_u64(w, in, 2);
}

HANDLER(lshl_add_u64, 3)
{
    return lshl_add_u64(w, in, 3);
}

HANDLER(lshl_add_u64, 6)
{
    return lshl_add_u64(w, in, 6);
}

/* ---- the lookup ---- */

static exec_fn *halves(unsigned op, unsigned set)
{
    switch (op) {
    case ISA_OP_v_lshlrev_b64:
        return set == 1 ? x_lshlrev_b64_1 : NULL;
    case ISA_OP_v_lshrrev_b64:
        return set == 1 ? x_lshrrev_b64_1 : NULL;
    case ISA_OP_v_ashrrev_i64:
        return set == 1 ? x_ashrrev_i64_1 : NULL;
    case ISA_OP_v_lshl_add_u64:
        return set == 2 ? x_lshl_add_u64_2 : set == 3 ? x_lshl_add_u64_3 : set == 6 ? x_lshl_add_u64_6 : NULL;
    default:
        return NULL;
    }
}

exec_fn *SEM(valu_scalar)(const struct isa_inst *inst, const struct xinst *x)
{
    static exec_fn *const handlers[ISA_OP_COUNT][7] = {
#define FN_1(name, ...) [ISA_OP_##name] = {[1] = x_##name##_1},
#define FN_2(name, ...) [ISA_OP_##name] = {[1] = x_##name##_1, [2] = x_##name##_2},
#define FN_3(name, ...)                                                                                      \
    [ISA_OP_##name] = {[1] = x_##name##_1, [2] = x_##name##_2, [3] = x_##name##_3,                           \
                       [4] = x_##name##_4, [5] = x_##name##_5, [6] = x_##name##_6},
#include "sem/vector/valu_int.def"
#undef FN_1
#undef FN_2
#undef FN_3
#define FN_1(...)
#define FN_2(...)
#define FN_3(...)
#define AR_2(name, ...) [ISA_OP_##name] = {[1] = x_##name##_1, [2] = x_##name##_2},
#define AR_3(name, ...)                                                                                      \
    [ISA_OP_##name] = {[1] = x_##name##_1, [2] = x_##name##_2, [3] = x_##name##_3,                           \
                       [4] = x_##name##_4, [5] = x_##name##_5, [6] = x_##name##_6},
#include "sem/vector/valu_float.def"
    };
    if (inst->dpp || inst->sdwa)
        return NULL;
    unsigned set = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (x->prep[i] == XPREP_SLOW)
            return NULL;
        if (x->prep[i] != XPREP_PLAIN)
            set |= 1u << i;
    }
    if (set == 0 || set == 7)
        return NULL;
    exec_fn *fn = halves(inst->op, set);
    return fn ? fn : handlers[inst->op][set];
}
