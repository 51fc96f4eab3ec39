/* SPDX-License-Identifier: MIT */
/*
 * Division as compilers write it for this machine (LLVM, fdiv of f32 and f64):
 * the sequence must give the correctly rounded quotient, whatever the operands.
 * And v_trig_preop against 2/pi.
 */
#include "vop.h"

static struct isa_inst inst;
static struct xinst xi[2];

/* d = op(a, b, c), rows. */
static void run(int level, uint16_t op, const char *result, int d, int a, int b, int c)
{
    const struct vop_case t = {.op = op, .result = result, .sources = ""};
    const int s[3] = {a, b, c};
    CHECK(vop_build(level, &t, &inst, xi, d, s, 0, 0) != NULL);
    xi->fn(&vop_wave.w, xi);
}

enum {
    NUM = 0,
    DEN = 2,
    SCALED_DEN = 4,
    SCALED_NUM = 6,
    RCP = 8,
    E = 10,
    NEG_DEN = 12,
    ONE = 14,
    Q = 16,
    F = 18,
    OUT = 20
};

static void start(void)
{
    struct wave *w = &vop_wave.w;
    w->v = vop_wave.rows + WAVE_TEMPS;
    w->mode = MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP;
    w->mode_slow = false;
    w->exec = UINT64_MAX;
}

static void negate(int d, int a, bool twice)
{
    for (int i = 0; i < VOP_LANES; i++)
        vop_put(d, twice ? 2 : 1, i, vop_get(a, twice ? 2 : 1, i) ^ (twice ? UINT64_C(1) << 63 : 0x80000000));
}

static void divide_f32(int level)
{
    start();
    run(level, ISA_OP_v_div_scale_f32, "f", SCALED_DEN, DEN, DEN, NUM);
    run(level, ISA_OP_v_div_scale_f32, "f", SCALED_NUM, NUM, DEN, NUM); /* VCC stays for v_div_fmas */
    for (int i = 0; i < VOP_LANES; i++)
        vop_put(ONE, 1, i, 0x3f800000);
    run(level, ISA_OP_v_rcp_f32, "f", RCP, SCALED_DEN, 0, 0);
    negate(NEG_DEN, SCALED_DEN, false);
    run(level, ISA_OP_v_fma_f32, "f", E, NEG_DEN, RCP, ONE);
    run(level, ISA_OP_v_fma_f32, "f", RCP, E, RCP, RCP);
    run(level, ISA_OP_v_mul_f32, "f", Q, SCALED_NUM, RCP, 0);
    run(level, ISA_OP_v_fma_f32, "f", F, NEG_DEN, Q, SCALED_NUM);
    run(level, ISA_OP_v_fma_f32, "f", Q, F, RCP, Q);
    run(level, ISA_OP_v_fma_f32, "f", F, NEG_DEN, Q, SCALED_NUM);
    run(level, ISA_OP_v_div_fmas_f32, "f", OUT, F, RCP, Q);
    run(level, ISA_OP_v_div_fixup_f32, "f", OUT, OUT, DEN, NUM);
}

static void divide_f64(int level)
{
    start();
    run(level, ISA_OP_v_div_scale_f64, "d", SCALED_DEN, DEN, DEN, NUM);
    for (int i = 0; i < VOP_LANES; i++)
        vop_put(ONE, 2, i, 0x3ff0000000000000);
    run(level, ISA_OP_v_rcp_f64, "d", RCP, SCALED_DEN, 0, 0);
    negate(NEG_DEN, SCALED_DEN, true);
    for (int k = 0; k < 2; k++) {
        run(level, ISA_OP_v_fma_f64, "d", E, NEG_DEN, RCP, ONE);
        run(level, ISA_OP_v_fma_f64, "d", RCP, RCP, E, RCP);
    }
    run(level, ISA_OP_v_div_scale_f64, "d", SCALED_NUM, NUM, DEN, NUM);
    run(level, ISA_OP_v_mul_f64, "d", Q, SCALED_NUM, RCP, 0);
    run(level, ISA_OP_v_fma_f64, "d", F, NEG_DEN, Q, SCALED_NUM);
    run(level, ISA_OP_v_div_fmas_f64, "d", OUT, F, RCP, Q);
    run(level, ISA_OP_v_div_fixup_f64, "d", OUT, OUT, DEN, NUM);
}

/* Bits of any exponent, near each other's ends more often than by chance. */
static uint64_t any_f32(void)
{
    const uint64_t r = vop_random();
    const uint32_t mantissa = r & 7 ? (uint32_t)(r >> 8) & 0x807fffff : (uint32_t)(r >> 8 & 0x80000007);
    const uint32_t exponent = r & 16 ? (uint32_t)(r >> 40 & 0xff)
                                     : (r & 32 ? (uint32_t)(r >> 40 & 31) : 255 - (uint32_t)(r >> 40 & 31));
    return r & 64 ? vop_value('f') : mantissa | exponent << 23;
}

static uint64_t any_f64(void)
{
    const uint64_t r = vop_random(), m = vop_random();
    const uint64_t mantissa = r & 7 ? m & 0x800fffffffffffff : m & 0x8000000000000007;
    const uint64_t exponent = r & 16 ? r >> 40 & 0x7ff : r & 32 ? r >> 40 & 63 : 0x7ff - (r >> 40 & 63);
    return r & 64 ? vop_value('d') : mantissa | exponent << 52;
}

/* What div_fixup makes of the cases that are not quotients; else the host's quotient. */
static uint64_t quotient_f32(uint64_t n, uint64_t d)
{
    if (isnan(vop_f32(n)))
        return n | 0x400000;
    if (isnan(vop_f32(d)))
        return d | 0x400000;
    const float q = vop_f32(n) / vop_f32(d);
    return isnan(q) ? 0xffc00000 : vop_f32_bits(q);
}

static uint64_t quotient_f64(uint64_t n, uint64_t d)
{
    if (isnan(vop_f64(n)))
        return n | 0x8000000000000;
    if (isnan(vop_f64(d)))
        return d | 0x8000000000000;
    const double q = vop_f64(n) / vop_f64(d);
    return isnan(q) ? 0xfff8000000000000 : vop_f64_bits(q);
}

static void check_division(int level)
{
    for (int n = 0; n < 600; n++) {
        for (int i = 0; i < VOP_LANES; i++) {
            vop_put(NUM, 1, i, any_f32());
            vop_put(DEN, 1, i, any_f32());
        }
        divide_f32(level);
        for (int i = 0; i < VOP_LANES; i++) {
            const uint64_t a = vop_get(NUM, 1, i), b = vop_get(DEN, 1, i);
            if (!CHECK_EQ(vop_get(OUT, 1, i), quotient_f32(a, b))) {
                fprintf(stderr, "  f32 v%d: 0x%" PRIx64 " / 0x%" PRIx64 "\n", level, a, b);
                return;
            }
        }
    }
    for (int n = 0; n < 600; n++) {
        for (int i = 0; i < VOP_LANES; i++) {
            vop_put(NUM, 2, i, any_f64());
            vop_put(DEN, 2, i, any_f64());
        }
        divide_f64(level);
        for (int i = 0; i < VOP_LANES; i++) {
            const uint64_t a = vop_get(NUM, 2, i), b = vop_get(DEN, 2, i);
            if (!CHECK_EQ(vop_get(OUT, 2, i), quotient_f64(a, b))) {
                fprintf(stderr, "  f64 v%d: 0x%" PRIx64 " / 0x%" PRIx64 "\n", level, a, b);
                return;
            }
        }
    }
}

/*
 * What other lanes hold makes no difference to a lane of v_div_scale: a wave
 * whose numerators, and whose denominators, have an exponent each gives what it
 * gives when its last lane is a case of its own.
 */
static void check_scale_alike(int level, bool wide)
{
    const uint16_t op = wide ? ISA_OP_v_div_scale_f64 : ISA_OP_v_div_scale_f32;
    const int dwords = wide ? 2 : 1, mantissa_bits = wide ? 52 : 23, top = wide ? 2046 : 254;
    const uint64_t mask = (UINT64_C(1) << mantissa_bits) - 1;
    for (int n = 0; n < 4000; n++) {
        uint64_t with[VOP_LANES], vcc = 0;
        const int num = 1 + (int)(vop_random() % (uint64_t)top);
        int den = vop_random() & 1 ? 1 + (int)(vop_random() % (uint64_t)top)
                                   : num + (wide ? 768 : 96) - (int)(vop_random() % (wide ? 1800 : 240));
        den = den < 1 ? 1 : den > top ? top : den;
        for (int i = 0; i < VOP_LANES; i++) {
            vop_put(NUM, dwords, i, (uint64_t)num << mantissa_bits | (vop_random() & mask));
            vop_put(DEN, dwords, i, (uint64_t)den << mantissa_bits | (vop_random() & mask));
        }
        for (int special = 1; special >= 0; special--) {
            if (special)
                vop_put(E, dwords, VOP_LANES - 1, vop_get(DEN, dwords, VOP_LANES - 1));
            vop_put(DEN, dwords, VOP_LANES - 1, special ? 0 : vop_get(E, dwords, VOP_LANES - 1));
            run(level, op, wide ? "d" : "f", OUT, n & 1 ? NUM : DEN, DEN, NUM);
            for (int i = 0; i < VOP_LANES - 1; i++) {
                if (!special && (!CHECK_EQ(vop_get(OUT, dwords, i), with[i]) ||
                                 !CHECK_EQ(vop_wave.w.vcc >> i & 1, vcc >> i & 1)))
                    return;
                with[i] = vop_get(OUT, dwords, i);
            }
            vcc = vop_wave.w.vcc;
        }
    }
}

/* Bit n of 2/pi behind the point. */
static unsigned bit_of_two_over_pi(unsigned n)
{
    static const char hex[] =
        "A2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A424DD2E006492EEA09D1921C";
    const char c = hex[n / 4];
    return (unsigned)(c <= '9' ? c - '0' : c - 'A' + 10) >> (3 - n % 4) & 1;
}

static void check_trig_preop(int level)
{
    start();
    for (int i = 0; i < VOP_LANES; i++) {
        vop_put(NUM, 2, i, vop_f64_bits(ldexp(1.0, i < 16 ? 54 : 54 + i)));
        vop_put(DEN, 1, i, (uint64_t)i & 3);
    }
    run(level, ISA_OP_v_trig_preop_f64, "d", OUT, NUM, DEN, 0);
    for (int i = 0; i < VOP_LANES; i++) {
        const unsigned from = 53 * ((unsigned)i & 3) + (i < 16 ? 0 : (unsigned)i);
        double want = 0;
        for (unsigned n = 0; n < 53; n++)
            want += ldexp(bit_of_two_over_pi(from + n), -1 - (int)(from + n));
        CHECK_EQ(vop_get(OUT, 2, i), vop_f64_bits(want));
    }
    const long double two_over_pi = 0.63661977236758134307553505349005744813783858296182L;
    const long double sum =
        (long double)vop_f64(vop_get(OUT, 2, 0)) + (long double)vop_f64(vop_get(OUT, 2, 1));
    CHECK(fabsl(sum - two_over_pi) < 0x1p-62L);
}

int main(void)
{
    for (int level = 2; level <= 4; level++) {
        if (!vop_has_level(level))
            continue;
        start();
        check_division(level);
        check_scale_alike(level, false);
        check_scale_alike(level, true);
        check_trig_preop(level);
    }
    return check_status();
}
