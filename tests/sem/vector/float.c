/* SPDX-License-Identifier: MIT */
/*
 * f32 and f64 instructions against wider host arithmetic, rounded by hand: in
 * every rounding and denormal mode, with every kind of NaN.
 */
#include "format.h"

static int frexp_exp(double v)
{
    int e = 0;
    if (!isnan(v) && !isinf(v))
        (void)frexp(v, &e);
    return e;
}

static float cube(float a, float b, float c, int what)
{
    const float x = fabsf(a), y = fabsf(b), z = fabsf(c);
    if (z >= x && z >= y) {
        const float all[] = {c < 0 ? 5 : 4, c < 0 ? -a : a, -b, c * 2};
        return all[what];
    }
    if (y >= x) {
        const float all[] = {b < 0 ? 3 : 2, a, b < 0 ? -c : c, b * 2};
        return all[what];
    }
    const float all[] = {a < 0 ? 1 : 0, a < 0 ? c : -c, -b, a * 2};
    return all[what];
}

#define CUBE(what) vop_f32_bits(cube(vop_f32(a), vop_f32(b), vop_f32(c), what))

/* In every float mode. */
#define ARITHMETIC(X)                                                                                        \
    X(v_add_f32, "f", "ff", add_of(&single, a, b, x))                                                        \
    X(v_sub_f32, "f", "ff", sub_of(&single, a, b, false, x))                                                 \
    X(v_subrev_f32, "f", "ff", sub_of(&single, a, b, true, x))                                               \
    X(v_mul_f32, "f", "ff", mul_of(&single, a, b, x))                                                        \
    X(v_fma_f32, "f", "fff", fma_of(&single, a, b, c, x))                                                    \
    X(v_fmac_f32, "f", "fff", fma_of(&single, a, b, c, x))                                                   \
    X(v_fmaak_f32, "f", "fff", fma_of(&single, a, b, c, x))                                                  \
    X(v_fmamk_f32, "f", "fff", fma_of(&single, a, b, c, x))                                                  \
    X(v_add_f64, "d", "dd", add_of(&twice, a, b, x))                                                         \
    X(v_mul_f64, "d", "dd", mul_of(&twice, a, b, x))                                                         \
    X(v_fma_f64, "d", "ddd", fma_of(&twice, a, b, c, x))                                                     \
    X(v_fmac_f64, "d", "ddd", fma_of(&twice, a, b, c, x))                                                    \
    X(v_min_f32, "f", "ff", minmax_of(&single, a, b, false, x))                                              \
    X(v_max_f32, "f", "ff", minmax_of(&single, a, b, true, x))                                               \
    X(v_min_f64, "d", "dd", minmax_of(&twice, a, b, false, x))                                               \
    X(v_max_f64, "d", "dd", minmax_of(&twice, a, b, true, x))                                                \
    X(v_min3_f32, "f", "fff", minmax3_of(&single, a, b, c, false, x))                                        \
    X(v_max3_f32, "f", "fff", minmax3_of(&single, a, b, c, true, x))                                         \
    X(v_med3_f32, "f", "fff", med3_of(&single, a, b, c, x))                                                  \
    X(v_ldexp_f32, "f", "fu", ldexp_of(&single, a, (int32_t)b, x))                                           \
    X(v_ldexp_f64, "d", "du", ldexp_of(&twice, a, (int32_t)b, x))                                            \
    X(v_trunc_f32, "f", "f", whole_of(&single, a, TO_TRUNC, x))                                              \
    X(v_ceil_f32, "f", "f", whole_of(&single, a, TO_CEIL, x))                                                \
    X(v_floor_f32, "f", "f", whole_of(&single, a, TO_FLOOR, x))                                              \
    X(v_rndne_f32, "f", "f", whole_of(&single, a, TO_EVEN, x))                                               \
    X(v_trunc_f64, "d", "d", whole_of(&twice, a, TO_TRUNC, x))                                               \
    X(v_ceil_f64, "d", "d", whole_of(&twice, a, TO_CEIL, x))                                                 \
    X(v_floor_f64, "d", "d", whole_of(&twice, a, TO_FLOOR, x))                                               \
    X(v_rndne_f64, "d", "d", whole_of(&twice, a, TO_EVEN, x))

#define ANY_MODE(X)                                                                                          \
    X(v_fract_f32, "f", "f", fract_of(&single, a))                                                           \
    X(v_fract_f64, "d", "d", fract_of(&twice, a))                                                            \
    X(v_frexp_exp_i32_f32, "u", "f", (uint32_t)frexp_exp((double)vop_f32(a)))                                \
    X(v_frexp_exp_i32_f64, "u", "d", (uint32_t)frexp_exp(vop_f64(a)))                                        \
    X(v_frexp_mant_f32, "f", "f",                                                                            \
      is_nan(&single, a) ? a | single.quiet_bit : vop_f32_bits(frexpf(vop_f32(a), &(int){0})))               \
    X(v_frexp_mant_f64, "d", "d",                                                                            \
      is_nan(&twice, a) ? a | twice.quiet_bit : vop_f64_bits(frexp(vop_f64(a), &(int){0})))                  \
    X(v_mul_legacy_f32, "f", "ff", vop_f32(a) == 0 || vop_f32(b) == 0 ? 0 : mul_of(&single, a, b, x))        \
    X(v_cubeid_f32, "f", "fff", CUBE(0))                                                                     \
    X(v_cubesc_f32, "f", "fff", CUBE(1))                                                                     \
    X(v_cubetc_f32, "f", "fff", CUBE(2))                                                                     \
    X(v_cubema_f32, "f", "fff", CUBE(3))

ARITHMETIC(VOP_REFERENCE)
ANY_MODE(VOP_REFERENCE)
static const struct vop_case arithmetic[] = {ARITHMETIC(VOP_CASE)};
static const struct vop_case any_mode[] = {ANY_MODE(VOP_CASE)};

/* The cube functions may pass a NaN on as it came or quiet. */
static bool both_nan(uint64_t got, uint64_t want, uint64_t a)
{
    (void)a;
    return is_nan(&single, got) && is_nan(&single, want);
}

int main(void)
{
    for (size_t k = 0; k < sizeof any_mode / sizeof any_mode[0]; k++) {
        struct vop_case c = any_mode[k];
        if (!strncmp(c.name, "v_cube", 6))
            c.close = both_nan;
        vop_check(&c);
    }
    for (size_t k = 0; k < sizeof arithmetic / sizeof arithmetic[0]; k++) {
        struct vop_case c = arithmetic[k];
        vop_check_batches(&c, 12);
        for (uint32_t round = 0; round < 4; round++)
            for (uint32_t denorm = 0; denorm < 4; denorm++) {
                c.mode = round * 5 | denorm * 0x50 | (denorm & 1 ? MODE_IEEE : MODE_DX10_CLAMP);
                vop_check_batches(&c, 2);
            }
    }
    return check_status();
}
