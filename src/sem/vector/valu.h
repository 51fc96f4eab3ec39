/* SPDX-License-Identifier: MIT */
/*
 * How a lane function becomes a handler.
 *
 * A lane function says what an instruction means for one lane.  The macros here
 * wrap it: make the sources plain rows, loop over all 64 lanes with no mask
 * (the loop vectorises), and put the result under EXEC.  Lanes are independent
 * and a lane's sources are read before its result is written, so a result may
 * overlap sources in any way and the loops may ignore it (ivdep).
 *
 * A macro's arguments after the mnemonic give the types of the result and the
 * sources by letter:
 *
 *   u  a dword                        q  64 bits in a pair of rows
 *   f  a dword, passed as a float     d  a pair of rows, passed as a double
 *   h  the low 16 bits; a result is zero-extended
 *   k  a 16-bit result that keeps the upper half of the destination
 *
 * and which part of MODE governs it: N none, S single, D half and double, M
 * double for the source and single for the result.
 */
#ifndef EHP_SEM_VECTOR_VALU_H
#define EHP_SEM_VECTOR_VALU_H

#include "wave/handlers.h"
#include "sem/vector/valu_rows.h"

#define VALU_LIKELY(x)   __builtin_expect(!!(x), 1)
#define VALU_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Every handler has a prototype; the lists are also the lookup table (valu.c). */
#define VALU_ENTRY(name) exec_fn SEM(valu_##name);
#define VALU_CLAMP(name) exec_fn SEM(valu_clamp_##name);
#include "sem/vector/valu_ops.def"

/* The handler for sources that are one scalar for all lanes, NULL when there is none: see valu_scalar.c. */
exec_fn *SEM(valu_scalar)(const struct isa_inst *inst, const struct xinst *x);

static inline uint64_t valu_pair(const wave_row *r, int i)
{
    return r[0][i] | (uint64_t)r[1][i] << 32;
}

#define VALU_LD_u(r, i) ((r)[0][i])
#define VALU_LD_f(r, i) f32_from_bits((r)[0][i])
#define VALU_LD_h(r, i) ((uint16_t)(r)[0][i])
#define VALU_LD_q(r, i) valu_pair(r, i)
#define VALU_LD_d(r, i) f64_from_bits(valu_pair(r, i))

/* o is the destination before the instruction. */
#define VALU_ST_u(r, i, x, o) ((r)[0][i] = (x))
#define VALU_ST_f(r, i, x, o) ((r)[0][i] = f32_bits(x))
#define VALU_ST_h(r, i, x, o) ((r)[0][i] = (x) & 0xffffu)
#define VALU_ST_k(r, i, x, o) ((r)[0][i] = ((o)[0][i] & 0xffff0000u) | ((x) & 0xffffu))
#define VALU_ST_q(r, i, x, o)                                                                                \
    do {                                                                                                     \
        const uint64_t x_ = (x);                                                                             \
        (r)[0][i] = (uint32_t)x_;                                                                            \
        (r)[1][i] = (uint32_t)(x_ >> 32);                                                                    \
    } while (0)
#define VALU_ST_d(r, i, x, o) VALU_ST_q(r, i, f64_bits(x), o)

#define VALU_ROWS_u 1
#define VALU_ROWS_f 1
#define VALU_ROWS_h 1
#define VALU_ROWS_k 1
#define VALU_ROWS_q 2
#define VALU_ROWS_d 2

/* The host's rounding and denormal handling, to what MODE says for a width. */
static inline unsigned valu_float_enter(unsigned round, unsigned denorm)
{
    static const unsigned rounding[4] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN,
                                         _MM_ROUND_TOWARD_ZERO};
    const unsigned old = _mm_getcsr();
    unsigned new = (old & ~(unsigned)(_MM_ROUND_MASK | _MM_FLUSH_ZERO_MASK | 0x40)) | rounding[round & 3];
    new |= (denorm & 1 ? 0 : 0x40) | (denorm & 2 ? 0 : _MM_FLUSH_ZERO_ON);
    _mm_setcsr(new);
    __asm__ volatile("" ::
                         : "memory"); /* arithmetic stays between the two changes with its loads and stores */
    return old;
}

static inline void valu_float_leave(unsigned old)
{
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(old);
}

static inline unsigned valu_mode_round(const struct wave *w, char part)
{
    return part == 'S' ? w->mode & MODE_ROUND_32 : (w->mode & MODE_ROUND_16_64) >> 2;
}

static inline unsigned valu_mode_denorm(const struct wave *w, char part)
{
    return part == 'S' ? (w->mode & MODE_DENORM_32) >> 4 : (w->mode & MODE_DENORM_16_64) >> 6;
}

static inline unsigned valu_mode_narrowing(const struct wave *w)
{
    return (valu_mode_denorm(w, 'D') & 1) | (valu_mode_denorm(w, 'S') & 2);
}

#define VALU_SLOW_N(w)  false
#define VALU_SLOW_M(w)  ((w)->mode_slow)
#define VALU_ENTER_M(w) valu_float_enter(valu_mode_round(w, 'S'), valu_mode_narrowing(w))
#define VALU_SLOW_S(w)  ((w)->mode_slow)
#define VALU_SLOW_D(w)  ((w)->mode_slow)
#define VALU_ENTER_N(w) 0
#define VALU_ENTER_S(w) valu_float_enter(valu_mode_round(w, 'S'), valu_mode_denorm(w, 'S'))
#define VALU_ENTER_D(w) valu_float_enter(valu_mode_round(w, 'D'), valu_mode_denorm(w, 'D'))

/* Where a handler writes: the destination itself when nothing has to be merged. */
static inline wave_row *valu_result(struct wave *w, const struct xinst *in)
{
    return w->v + (VALU_LIKELY(w->exec == UINT64_MAX && !in->post) ? in->d : TEMP_DST);
}

static inline const struct xinst *valu_commit(struct wave *w, const struct xinst *in, wave_row *r, int rows)
{
    if (VALU_LIKELY(r != w->v + TEMP_DST))
        return in + 1;
    if (VALU_UNLIKELY(in->post)) {
        exec_finish(w, in);
        return in + 1;
    }
    for (int k = 0; k < rows; k++)
        row_merge(w->v[in->d + k], r[k], w->exec);
    return in + 1;
}

static inline void valu_prepare(struct wave *w, const struct xinst *in)
{
    if (in->any_prep)
        exec_prepare(w, in);
}

/* The lane mask that a source names: src 2 of v_cndmask and of the carry instructions. */
static inline uint64_t valu_mask(const struct wave *w, const struct xinst *in)
{
    return VALU_LIKELY(in->ss[2] < 128) ? wave_sgpr64(w, in->ss[2])
           : in->ss[2] == XSRC_SPECIAL  ? exec_special(w, in->reg[2])
                                        : in->literal[2];
}

#define VALU_HANDLER(name) const struct xinst *SEM(valu_##name)(struct wave * w, const struct xinst *in)

/* The loop over all lanes; `call` applies the lane function to lane i of the sources. */
#define VALU_LOOP(D, call)                                                                                   \
    do {                                                                                                     \
        _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                               \
        {                                                                                                    \
            VALU_ST_##D(r, i, call, o);                                                                      \
        }                                                                                                    \
    } while (0)

#define VALU_BODY(name, M, D, call)                                                                          \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];                     \
        const wave_row *o = w->v + in->d;                                                                    \
        wave_row *r = valu_result(w, in);                                                                    \
        (void)a, (void)b, (void)c, (void)o;                                                                  \
        const bool slow = VALU_SLOW_##M(w);                                                                  \
        const unsigned csr = VALU_UNLIKELY(slow) ? VALU_ENTER_##M(w) : 0;                                    \
        VALU_LOOP(D, call);                                                                                  \
        if (VALU_UNLIKELY(slow))                                                                             \
            valu_float_leave(csr);                                                                           \
        return valu_commit(w, in, r, VALU_ROWS_##D);                                                         \
    }

#define VALU_FN_1(name, M, D, A, fn)    VALU_BODY(name, M, D, fn(VALU_LD_##A(a, i)))
#define VALU_FN_2(name, M, D, A, B, fn) VALU_BODY(name, M, D, fn(VALU_LD_##A(a, i), VALU_LD_##B(b, i)))
#define VALU_FN_3(name, M, D, A, B, C, fn)                                                                   \
    VALU_BODY(name, M, D, fn(VALU_LD_##A(a, i), VALU_LD_##B(b, i), VALU_LD_##C(c, i)))

#endif
