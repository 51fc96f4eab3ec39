/* SPDX-License-Identifier: MIT */
/*
 * Handlers of f16 instructions.
 *
 * The fast path converts whole rows to f32, computes there and converts back;
 * a NaN in the result sends it through the NaN rule.  When MODE rounds
 * otherwise, flushes f16 denormals or clamps overflow, each lane is computed
 * exactly and rounded once.
 */
#include "sem/vector/lane_f16.h"
#include "sem/vector/valu.h"

/* MODE as the slow path needs it. */
struct f16_mode {
    enum float_round round;
    bool flush_in, flush_out, no_overflow, flush_f32;
};

static inline struct f16_mode f16_mode_of(const struct wave *w)
{
    const unsigned denorm = valu_mode_denorm(w, 'D');
    return (struct f16_mode){(enum float_round)valu_mode_round(w, 'D'), !(denorm & 1), !(denorm & 2),
                             (w->mode & MODE_FP16_OVFL) != 0, !(valu_mode_denorm(w, 'S') & 1)};
}

static inline bool f16_mode_plain(const struct wave *w)
{
    const uint32_t bits = MODE_ROUND_16_64 | MODE_DENORM_16_64 | MODE_FP16_OVFL;
    return (w->mode & bits) == MODE_DENORM_16_64;
}

static uint32_t f16_in(uint32_t a, const struct f16_mode *m)
{
    return m->flush_in ? f16_flush(a & 0xffff) : a & 0xffff;
}

/*
 * Rounds x to f16.  Denormal is what would be even when rounded to all digits.
 * Infinity is only overflow when x is finite.
 */
static uint32_t f16_out(double x, const struct f16_mode *m)
{
    const uint32_t r = f16_from_f64(x, m->round);
    const bool tiny = x > -0x1p-14 && x < 0x1p-14 && (f16_from_f64(x * 0x1p14, m->round) & 0x7fffu) < 0x3c00;
    if (m->flush_out && tiny)
        return r & 0x8000;
    return m->no_overflow && (r & 0x7fff) == 0x7c00 && x - x == 0.0 ? r - 1 : r;
}

/* Loaders: a row as floats, and one lane of it as a double, exactly. */
#define ROW_f16(f, row) row_from_f16(f, row)
#define ROW_f32(f, row) memcpy(f, row, sizeof(wave_row))
#define ROW_u16(f, row)                                                                                      \
    VALU_EACH_LANE(i)                                                                                        \
    {                                                                                                        \
        (f)[i] = (float)(int32_t)((row)[i] & 0xffff);                                                        \
    }
#define ROW_i16(f, row)                                                                                      \
    VALU_EACH_LANE(i)                                                                                        \
    {                                                                                                        \
        (f)[i] = (float)(int32_t)(int16_t)(row)[i];                                                          \
    }
#define ONE_f16(u) ((double)f16_to_f32((uint16_t)f16_in(u, &m)))
#define ONE_f32(u) ((double)f32_from_bits(m.flush_f32 ? f32_flush(u) : (u)))
#define ONE_u16(u) ((double)((u) & 0xffff))
#define ONE_i16(u) ((double)(int16_t)(u))

/* Sources beyond the first are always f16. */
#define FAST_1(fn)     fn(fa[i])
#define FAST_2(fn)     fn(fa[i], fb[i])
#define FAST_3(fn)     fn(fa[i], fb[i], fc[i])
#define EXACT_1(fn, L) fn(ONE_##L(a[0][i]), m.round)
#define EXACT_2(fn, L) fn(ONE_##L(a[0][i]), ONE_f16(b[0][i]), m.round)
#define EXACT_3(fn, L) fn(ONE_##L(a[0][i]), ONE_f16(b[0][i]), ONE_f16(c[0][i]), m.round)
/* A one-source function has the right NaN already, and converting keeps it. */
#define NAN_1(x) (x)
#define NAN_2(x) f16_nan2(x, a[0][i] & 0xffff, b[0][i] & 0xffff)
#define NAN_3(x) f16_nan3(x, a[0][i] & 0xffff, b[0][i] & 0xffff, c[0][i] & 0xffff)

#define PUT_h(x) (r[0][i] = (x))
#define PUT_k(x) (r[0][i] = (o[0][i] & 0xffff0000u) | (x))
/* A row of floats becomes the result. */
#define PUT_ROW_h(f) row_to_f16(r[0], f)
#define PUT_ROW_k(f)                                                                                         \
    do {                                                                                                     \
        row_to_f16(half, f);                                                                                 \
        VALU_EACH_LANE(i)                                                                                    \
        {                                                                                                    \
            PUT_k(half[i]);                                                                                  \
        }                                                                                                    \
    } while (0)

#define HF(name, D, n, L, fast, exact)                                                                       \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2], *o = w->v + in->d;  \
        wave_row *r = valu_result(w, in);                                                                    \
        (void)b, (void)c, (void)o;                                                                           \
        if (VALU_UNLIKELY(!f16_mode_plain(w))) {                                                             \
            const struct f16_mode m = f16_mode_of(w);                                                        \
            VALU_EACH_LANE(i)                                                                                \
            {                                                                                                \
                const uint32_t x = f16_out(EXACT_##n(exact, L), &m);                                         \
                PUT_##D(NAN_##n(x));                                                                         \
            }                                                                                                \
            return valu_commit(w, in, r, 1);                                                                 \
        }                                                                                                    \
        alignas(64) float fa[WAVE_LANES], fb[WAVE_LANES], fc[WAVE_LANES], fr[WAVE_LANES];                    \
        alignas(64) wave_row half;                                                                           \
        (void)fb, (void)fc, (void)half;                                                                      \
        ROW_##L(fa, a[0]);                                                                                   \
        if (n > 1)                                                                                           \
            row_from_f16(fb, b[0]);                                                                          \
        if (n > 2)                                                                                           \
            row_from_f16(fc, c[0]);                                                                          \
        VALU_EACH_LANE(i)                                                                                    \
        {                                                                                                    \
            fr[i] = FAST_##n(fast);                                                                          \
        }                                                                                                    \
        if (n > 1 && VALU_UNLIKELY(row_any_nan((const uint32_t *)(const void *)fr))) {                       \
            VALU_EACH_LANE(i)                                                                                \
            {                                                                                                \
                PUT_##D(NAN_##n(f16_from_f32(fr[i])));                                                       \
            }                                                                                                \
        } else {                                                                                             \
            PUT_ROW_##D(fr);                                                                                 \
        }                                                                                                    \
        return valu_commit(w, in, r, 1);                                                                     \
    }

/* Minimum and maximum. */
#define KEEP(x)      (x)
#define MM_2(fn, W)  fn(W(a[0][i] & 0xffff), W(b[0][i] & 0xffff), ieee)
#define MM_3(fn, W)  fn(W(a[0][i] & 0xffff), W(b[0][i] & 0xffff), W(c[0][i] & 0xffff), ieee)
#define NUMBER_2(fn) fn##_number(a[0][i] & 0xffff, b[0][i] & 0xffff)
#define NUMBER_3(fn) fn##_number(a[0][i] & 0xffff, b[0][i] & 0xffff, c[0][i] & 0xffff)
#define HM(name, D, n, fn)                                                                                   \
    VALU_HANDLER(name)                                                                                       \
    {                                                                                                        \
        valu_prepare(w, in);                                                                                 \
        const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2], *o = w->v + in->d;  \
        wave_row *r = valu_result(w, in);                                                                    \
        const bool ieee = w->mode & MODE_IEEE;                                                               \
        (void)c, (void)o;                                                                                    \
        if (VALU_UNLIKELY(valu_mode_denorm(w, 'D') != 3)) {                                                  \
            VALU_EACH_LANE(i)                                                                                \
            {                                                                                                \
                PUT_##D(MM_##n(fn, f16_flush));                                                              \
            }                                                                                                \
        } else if (VALU_UNLIKELY(row_any_nan16(a[0]) || row_any_nan16(b[0]) ||                               \
                                 (n > 2 && row_any_nan16(c[0])))) {                                          \
            VALU_EACH_LANE(i)                                                                                \
            {                                                                                                \
                PUT_##D(MM_##n(fn, KEEP));                                                                   \
            }                                                                                                \
        } else {                                                                                             \
            _Pragma("GCC ivdep") VALU_EACH_LANE(i)                                                           \
            {                                                                                                \
                PUT_##D(NUMBER_##n(fn));                                                                     \
            }                                                                                                \
        }                                                                                                    \
        return valu_commit(w, in, r, 1);                                                                     \
    }

#define FN_1 VALU_FN_1
#define FN_3 VALU_FN_3
#include "sem/vector/valu_f16.def"

VALU_HANDLER(v_cvt_f32_f16)
{
    valu_prepare(w, in);
    wave_row *r = valu_result(w, in);
    alignas(64) float f[WAVE_LANES];
    alignas(64) wave_row flushed;
    const uint32_t *h = w->v[in->s[0]];
    if (VALU_UNLIKELY(!(valu_mode_denorm(w, 'D') & 1))) {
        VALU_EACH_LANE(i)
        {
            flushed[i] = f16_flush(h[i] & 0xffff);
        }
        h = flushed;
    }
    row_from_f16(f, h);
    memcpy(r[0], f, sizeof f);
    return valu_commit(w, in, r, 1);
}

VALU_HANDLER(v_ldexp_f16)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1];
    wave_row *r = valu_result(w, in);
    if (VALU_LIKELY(f16_mode_plain(w))) {
        alignas(64) float f[WAVE_LANES], fr[WAVE_LANES];
        row_from_f16(f, a[0]);
#pragma GCC ivdep
        VALU_EACH_LANE(i)
        {
            fr[i] = f16_ldexp(f[i], (uint16_t)b[0][i]);
        }
        row_to_f16(r[0], fr);
        return valu_commit(w, in, r, 1);
    }
    const struct f16_mode m = f16_mode_of(w);
    VALU_EACH_LANE(i)
    {
        const double scale = f64_exp2i(i32_between((int16_t)b[0][i], -60, 60));
        r[0][i] = f16_out(ONE_f16(a[0][i]) * scale, &m);
    }
    return valu_commit(w, in, r, 1);
}

/* The upper halves of a row as floats. */
static inline void row_from_high_f16(float *f, const uint32_t *row)
{
    alignas(64) wave_row high;
    VALU_EACH_LANE(i)
    {
        high[i] = row[i] >> 16;
    }
    row_from_f16(f, high);
}

/* One half of v_pk_fmac_f16: h[i] in the low 16 bits. */
static void fmac_half(struct wave *w, uint32_t *h, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                      int shift)
{
    alignas(64) float fa[WAVE_LANES], fb[WAVE_LANES], fc[WAVE_LANES], fr[WAVE_LANES];
    const struct f16_mode m = f16_mode_of(w);
    if (VALU_UNLIKELY(!f16_mode_plain(w))) {
        VALU_EACH_LANE(i)
        {
            const uint32_t x = a[i] >> shift & 0xffff, y = b[i] >> shift & 0xffff, z = c[i] >> shift & 0xffff;
            h[i] = f16_nan3(f16_out(f16_exact_fma(ONE_f16(x), ONE_f16(y), ONE_f16(z), m.round), &m), x, y, z);
        }
        return;
    }
    if (shift) {
        row_from_high_f16(fa, a);
        row_from_high_f16(fb, b);
        row_from_high_f16(fc, c);
    } else {
        row_from_f16(fa, a);
        row_from_f16(fb, b);
        row_from_f16(fc, c);
    }
    VALU_EACH_LANE(i)
    {
        fr[i] = f16_fma(fa[i], fb[i], fc[i]);
    }
    row_to_f16(h, fr);
    if (VALU_UNLIKELY(row_any_nan((const uint32_t *)(const void *)fr))) {
        VALU_EACH_LANE(i)
        {
            h[i] = f16_nan3(h[i], a[i] >> shift & 0xffff, b[i] >> shift & 0xffff, c[i] >> shift & 0xffff);
        }
    }
}

/* Two fused products and sums, each in its half. */
VALU_HANDLER(v_pk_fmac_f16)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];
    wave_row *r = valu_result(w, in);
    alignas(64) wave_row low, high;
    fmac_half(w, low, a[0], b[0], c[0], 0);
    fmac_half(w, high, a[0], b[0], c[0], 16);
    VALU_EACH_LANE(i)
    {
        r[0][i] = low[i] | high[i] << 16;
    }
    return valu_commit(w, in, r, 1);
}

/* Products of f16 are exact in f32; the two sums are rounded one after the other. */
VALU_HANDLER(v_dot2c_f32_f16)
{
    valu_prepare(w, in);
    const wave_row *a = w->v + in->s[0], *b = w->v + in->s[1], *c = w->v + in->s[2];
    wave_row *r = w->v + TEMP_DST;
    alignas(64) float x0[WAVE_LANES], x1[WAVE_LANES], y0[WAVE_LANES], y1[WAVE_LANES];
    row_from_f16(x0, a[0]);
    row_from_high_f16(x1, a[0]);
    row_from_f16(y0, b[0]);
    row_from_high_f16(y1, b[0]);
    const bool slow = w->mode_slow;
    const unsigned csr = VALU_UNLIKELY(slow) ? VALU_ENTER_S(w) : 0;
    VALU_EACH_LANE(i)
    {
        r[0][i] = f32_bits(VALU_LD_f(c, i) + x0[i] * y0[i] + x1[i] * y1[i]);
    }
    if (VALU_UNLIKELY(row_any_nan(r[0]))) {
        VALU_EACH_LANE(i)
        {
            const uint32_t p0 = f32_nan2(f32_bits(x0[i] * y0[i]), f32_bits(x0[i]), f32_bits(y0[i]));
            const uint32_t p1 = f32_nan2(f32_bits(x1[i] * y1[i]), f32_bits(x1[i]), f32_bits(y1[i]));
            const uint32_t s0 = f32_nan2(f32_bits(VALU_LD_f(c, i) + f32_from_bits(p0)), c[0][i], p0);
            r[0][i] = f32_nan2(f32_bits(f32_from_bits(s0) + f32_from_bits(p1)), s0, p1);
        }
    }
    if (VALU_UNLIKELY(slow))
        valu_float_leave(csr);
    if (VALU_UNLIKELY(in->post))
        exec_finish(w, in);
    else
        row_merge(w->v[in->d], r[0], w->exec);
    return in + 1;
}
