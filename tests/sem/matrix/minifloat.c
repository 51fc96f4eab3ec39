/* SPDX-License-Identifier: MIT */
/*
 * The narrow formats: every value against its definition, and conversions at
 * every midpoint between neighbours and just beside it.
 */
#include "base/minifloat.h"
#include "matrix_wave.h"

static struct rig *rig;

static void same(const char *what, int code, double got, double want)
{
    rig->checks++;
    if (isnan(want) ? !isnan(got) : got != want || signbit(got) != signbit(want))
        rig_fail(rig, what, "", code, 0, 0, got, want);
}

static void same_code(const char *what, float from, unsigned got, unsigned want)
{
    rig->checks++;
    if (got != want && rig->failures++ < 20)
        fprintf(stderr, "%s of %a is %x, not %x\n", what, (double)from, got, want);
}

static void values(void)
{
    for (int c = 0; c < 256; c++) {
        same("fp8", c, (double)fp8_to_f32((uint8_t)c), rig_value(RIG_FP8, (uint64_t)c));
        same("bf8", c, (double)bf8_to_f32((uint8_t)c), rig_value(RIG_BF8, (uint64_t)c));
    }
    for (int c = 0; c < 65536; c++) {
        same("f16", c, (double)f16_to_f32((uint16_t)c), rig_value(RIG_F16, (uint64_t)c));
        same("bf16", c, (double)bf16_to_f32((uint16_t)c), rig_value(RIG_BF16, (uint64_t)c));
    }
}

/* f is between the values of codes c and c + 1 (magnitudes): below, at or above the middle. */
static void between_8bit(enum rig_type t, unsigned c, float f, int side)
{
    unsigned want = side < 0 || (side == 0 && c % 2 == 0) ? c : c + 1;
    bool fp8 = t == RIG_FP8;
    for (int saturate = 0; saturate < 2; saturate++) {
        unsigned up = want > 0x7f ? saturate ? 0x7f : 0x80 : want;
        unsigned down = up == 0 || up == 0x80 ? up : up | 0x80; /* no negative zero; one NaN */
        same_code("8 bits", f, fp8 ? fp8_from_f32(f, saturate) : bf8_from_f32(f, saturate), up);
        same_code("8 bits", -f, fp8 ? fp8_from_f32(-f, saturate) : bf8_from_f32(-f, saturate), down);
    }
}

static void rounding_8bit(enum rig_type t)
{
    for (unsigned c = 0; c < 128; c++) {
        double low = rig_value(t, c), high = c == 127 ? 2 * low - rig_value(t, 126) : rig_value(t, c + 1);
        float middle = (float)((low + high) / 2);
        between_8bit(t, c, middle, 0);
        between_8bit(t, c, nextafterf(middle, 0), -1);
        between_8bit(t, c, nextafterf(middle, INFINITY), 1);
    }
    const float beyond[] = {INFINITY, NAN};
    for (int i = 0; i < 2; i++)
        for (int saturate = 0; saturate < 2; saturate++)
            same_code("8 bits", beyond[i],
                      t == RIG_FP8 ? fp8_from_f32(beyond[i], saturate) : bf8_from_f32(beyond[i], saturate),
                      0x80);
}

static void rounding_f16(void)
{
    for (unsigned c = 0; c < 0x7c00; c++) {
        double low = rig_value(RIG_F16, c), high = c == 0x7bff ? 65536 : rig_value(RIG_F16, c + 1);
        float middle = (float)((low + high) / 2);
        for (int side = -1; side <= 1; side++) {
            float f = side ? nextafterf(middle, side < 0 ? 0 : INFINITY) : middle;
            unsigned nearest = side < 0 || (side == 0 && c % 2 == 0) ? c : c + 1;
            same_code("f16", f, f16_from_f32(f), nearest);
            same_code("f16", -f, f16_from_f32(-f), nearest | 0x8000);
            same_code("f16 even", f, f16_from_f64((double)f, ROUND_EVEN), nearest);
            same_code("f16 up", f, f16_from_f64((double)f, ROUND_UP), c + 1);
            same_code("f16 up", -f, f16_from_f64((double)-f, ROUND_UP), c | 0x8000);
            same_code("f16 down", f, f16_from_f64((double)f, ROUND_DOWN), c);
            same_code("f16 down", -f, f16_from_f64((double)-f, ROUND_DOWN), (c + 1) | 0x8000);
            same_code("f16 zero", -f, f16_from_f64((double)-f, ROUND_ZERO), c | 0x8000);
        }
        same_code("f16 exact", (float)low, f16_from_f64(low, ROUND_UP), c);
    }
    same_code("f16", INFINITY, f16_from_f32(INFINITY), 0x7c00);
    same_code("f16", INFINITY, f16_from_f64(INFINITY, ROUND_ZERO), 0x7c00);
    same_code("f16", 1e6f, f16_from_f64(1e6, ROUND_ZERO), 0x7bff);
    same_code("f16 of a signalling NaN", NAN, f16_from_f32(f32_from_bits(0xffa00000)), 0xff00);
}

static void rounding_bf16(void)
{
    for (unsigned c = 0; c < 0x7f80; c++) {
        uint32_t middle = c << 16 | 0x8000;
        for (int side = -1; side <= 1; side++) {
            float f = f32_from_bits(middle + (uint32_t)side);
            unsigned nearest = side < 0 || (side == 0 && c % 2 == 0) ? c : c + 1;
            same_code("bf16", f, bf16_from_f32(f), nearest);
            same_code("bf16", -f, bf16_from_f32(-f), nearest | 0x8000);
        }
    }
    same_code("bf16 of a NaN with low payload", NAN, bf16_from_f32(f32_from_bits(0x7f800001)), 0x7fc0);
}

int main(void)
{
    rig = rig_new(1);
    values();
    rounding_8bit(RIG_FP8);
    rounding_8bit(RIG_BF8);
    rounding_f16();
    rounding_bf16();
    printf("%ld conversions, %ld wrong\n", rig->checks, rig->failures);
    long failures = rig->failures;
    free(rig);
    return failures != 0;
}
