/* SPDX-License-Identifier: MIT */
/*
 * Instructions that give or take lane masks: comparisons, v_cndmask, carries,
 * 64-bit multiply-add, and those that move values between lanes and SGPRs.
 */
#include <stdlib.h>

#include "vop.h"

typedef __int128 wide;

/* ---- comparisons, by the sign of the difference ---- */

enum order { LESS, EQUAL, GREATER, UNORDERED };

static enum order order_of(long double a, long double b)
{
    return isnan(a) || isnan(b) ? UNORDERED : a < b ? LESS : a > b ? GREATER : EQUAL;
}

static enum order order_of_type(const char *type, uint64_t a, uint64_t b)
{
    if (!strcmp(type, "f16"))
        return order_of((long double)vop_f16(a), (long double)vop_f16(b));
    if (!strcmp(type, "f32"))
        return order_of((long double)vop_f32(a), (long double)vop_f32(b));
    if (!strcmp(type, "f64"))
        return order_of((long double)vop_f64(a), (long double)vop_f64(b));
    const int bits = atoi(type + 1);
    wide x = a, y = b;
    if (bits == 16)
        x &= 0xffff, y &= 0xffff;
    if (type[0] == 'i') {
        const wide half = (wide)1 << (bits - 1);
        x = x >= half ? x - 2 * half : x;
        y = y >= half ? y - 2 * half : y;
    }
    return x < y ? LESS : x > y ? GREATER : EQUAL;
}

static bool holds(const char *what, enum order o)
{
    static const struct {
        const char *name;
        unsigned orders; /* a bit for each that it holds for */
    } all[] = {{"f", 0},    {"lt", 1},   {"eq", 2},   {"le", 3},   {"gt", 4},   {"lg", 5},
               {"ne", 5},   {"ge", 6},   {"o", 7},    {"u", 8},    {"nge", 9},  {"nlg", 10},
               {"ngt", 11}, {"nle", 12}, {"neq", 13}, {"nlt", 14}, {"tru", 15}, {"t", 15}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (!strcmp(all[k].name, what))
            return all[k].orders >> o & 1;
    CHECK(!"a known comparison");
    return false;
}

static bool class_holds(const char *type, uint64_t a, uint64_t mask)
{
    const int digits = type[1] == '1' ? 10 : type[1] == '3' ? 23 : 52, bits = atoi(type + 1);
    const uint64_t fraction = a & ((UINT64_C(1) << digits) - 1);
    const uint64_t most = (UINT64_C(1) << (bits - 1 - digits)) - 1, exponent = a >> digits & most;
    const bool negative = a >> (bits - 1) & 1;
    int bit;
    if (exponent == most)
        bit = fraction ? (fraction >> (digits - 1) ? 1 : 0) : negative ? 2 : 9;
    else if (exponent)
        bit = negative ? 3 : 8;
    else if (fraction)
        bit = negative ? 4 : 7;
    else
        bit = negative ? 5 : 6;
    return mask >> bit & 1;
}

struct comparison {
    uint16_t op;
    const char *name; /* v_cmp_lt_f32 */
};

#define FACTS(name, ...) {ISA_OP_##name, #name},
static const struct comparison everything[] = {
#include "facts.def"
};
#undef FACTS

static struct xinst xi[2];
static struct isa_inst inst;

static bool start(int level, uint16_t op, const char *result)
{
    static const int rows[3] = {10, 20, 30};
    const struct vop_case c = {.op = op, .result = result, .sources = ""};
    struct wave *w = &vop_wave.w;
    w->v = vop_wave.rows + WAVE_TEMPS;
    w->mode = MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP;
    w->mode_slow = false;
    w->exec = vop_random() & 1 ? UINT64_MAX : vop_random();
    return vop_build(level, &c, &inst, xi, 40, rows, 0, 0) != NULL;
}

static void check_comparison(int level, const struct comparison *t)
{
    char what[16] = "", type[8] = "";
    const bool exec_too = !strncmp(t->name, "v_cmpx_", 7);
    struct wave *w = &vop_wave.w;
    if (sscanf(t->name + (exec_too ? 7 : 6), "%15[a-z]_%7s", what, type) != 2 ||
        !CHECK(start(level, t->op, "u")))
        return;
    const bool is_class = !strcmp(what, "class");
    const char letter = type[0] == 'f' ? (type[1] == '1'   ? 'e'
                                          : type[1] == '3' ? 'f'
                                                           : 'd')
                                       : (type[1] == '1'   ? 'h'
                                          : type[1] == '3' ? 'u'
                                                           : 'q');
    uint64_t want = 0;
    for (int i = 0; i < VOP_LANES; i++) {
        const uint64_t a = vop_value(letter), other = vop_value(is_class ? 'u' : letter),
                       b = vop_random() % 3 ? other : a;
        vop_put(10, vop_dwords(letter), i, a);
        vop_put(20, is_class ? 1 : vop_dwords(letter), i, b);
        const bool yes = is_class ? class_holds(type, a, b) : holds(what, order_of_type(type, a, b));
        want |= (uint64_t)yes << i;
    }
    want &= w->exec;
    const uint64_t exec = w->exec;
    xi->sd = 11;
    CHECK(xi->fn(w, xi) == xi + 1);
    if (!CHECK_EQ(wave_sgpr64(w, 11), want) || !CHECK_EQ(w->exec, exec_too ? want : exec))
        fprintf(stderr, "  %s v%d\n", t->name, level);
}

static void check_comparisons(int level)
{
    for (size_t k = 0; k < sizeof everything / sizeof everything[0]; k++)
        if (!strncmp(everything[k].name, "v_cmp", 5))
            for (int n = 0; n < 12; n++)
                check_comparison(level, &everything[k]);
}

/* With flushed denormals these are equal. */
static void check_flushed_comparisons(int level)
{
    static const struct {
        uint16_t op;
        int dwords;
        uint64_t a, b;
    } t[] = {{ISA_OP_v_cmp_eq_f32, 1, 1, 0x80000000},
             {ISA_OP_v_cmp_eq_f64, 2, 1, 0x8000000000000000},
             {ISA_OP_v_cmp_eq_f16, 1, 0x8001, 0x03ff}};
    struct wave *w = &vop_wave.w;
    for (size_t k = 0; k < sizeof t / sizeof t[0]; k++)
        for (int flush = 0; flush < 2; flush++) {
            CHECK(start(level, t[k].op, "u"));
            w->mode = flush ? 0 : MODE_FLOAT_PLAIN;
            w->mode_slow = flush;
            for (int i = 0; i < VOP_LANES; i++) {
                vop_put(10, t[k].dwords, i, t[k].a);
                vop_put(20, t[k].dwords, i, t[k].b);
            }
            xi->fn(w, xi);
            CHECK_EQ(w->vcc, flush ? w->exec : 0);
        }
}

/* ---- carries ---- */

struct carry {
    uint16_t op;
    const char *name;
    bool add, reverse, in, clamp;
};

static void check_carry(int level, const struct carry *t)
{
    struct wave *w = &vop_wave.w;
    const struct vop_case c = {.op = t->op, .result = "u", .sources = "uu", .clamp = t->clamp};
    static const int rows[3] = {10, 20, 30};
    CHECK(start(level, t->op, "u"));
    CHECK(vop_build(level, &c, &inst, xi, 10, rows, 0, 0) != NULL); /* the result on top of source 0 */
    const uint64_t carry = vop_random();
    wave_set_sgpr64(w, 20, carry);
    xi->sd = vop_random() & 1 ? 20 : SREG_VCC;
    uint32_t want[VOP_LANES];
    uint64_t out = 0;
    for (int i = 0; i < VOP_LANES; i++) {
        const uint64_t a = vop_value('u'), b = vop_random() % 3 ? vop_value('u') : a;
        const wide first = t->reverse ? (wide)b : (wide)a, second = t->reverse ? (wide)a : (wide)b;
        const wide c_in = t->in ? (wide)(carry >> i & 1) : 0;
        const wide r = t->add ? first + second + c_in : first - second - c_in;
        const bool over = r < 0 || r >> 32;
        vop_put(10, 1, i, a);
        vop_put(20, 1, i, b);
        want[i] = !(w->exec >> i & 1) ? (uint32_t)a : t->clamp && over ? (t->add ? ~0u : 0) : (uint32_t)r;
        out |= (uint64_t)over << i;
    }
    xi->fn(w, xi);
    bool good = CHECK_EQ(wave_sgpr64(w, xi->sd), out & w->exec);
    for (int i = 0; i < VOP_LANES && good; i++)
        good = CHECK_EQ(w->v[10][i], want[i]);
    if (!good)
        fprintf(stderr, "  %s v%d\n", t->name, level);
}

#define CARRY(name, ...)                                                                                     \
    {ISA_OP_##name, #name, __VA_ARGS__, false}, {ISA_OP_##name, #name " clamp", __VA_ARGS__, true},

static void check_carries(int level)
{
    static const struct carry t[] = {
        CARRY(v_add_co_u32, true, false, false) CARRY(v_sub_co_u32, false, false, false)
            CARRY(v_subrev_co_u32, false, true, false) CARRY(v_addc_co_u32, true, false, true)
                CARRY(v_subb_co_u32, false, false, true) CARRY(v_subbrev_co_u32, false, true, true)};
    for (size_t k = 0; k < sizeof t / sizeof t[0]; k++)
        for (int n = 0; n < 24; n++)
            check_carry(level, &t[k]);
}

static void check_mad64(int level, bool is_signed, bool clamp)
{
    struct wave *w = &vop_wave.w;
    const uint16_t op = is_signed ? ISA_OP_v_mad_i64_i32 : ISA_OP_v_mad_u64_u32;
    const struct vop_case c = {.op = op, .result = "q", .sources = "uuq", .clamp = clamp};
    static const int rows[3] = {10, 20, 30};
    CHECK(start(level, op, "q"));
    CHECK(vop_build(level, &c, &inst, xi, 31, rows, 0, 0) != NULL); /* the result shifted over source 2 */
    uint64_t want[VOP_LANES], out = 0;
    for (int i = 0; i < VOP_LANES; i++) {
        const uint64_t a = vop_value('u'), b = vop_value('u'),
                       s = vop_random() % 3 ? vop_value('q') : ~(a * b) + (i & 3);
        const wide r = is_signed ? (wide)(int32_t)a * (int32_t)b + (int64_t)s : (wide)(a * b) + (wide)s;
        const wide top = is_signed ? INT64_MAX : UINT64_MAX, bottom = is_signed ? INT64_MIN : 0;
        vop_put(10, 1, i, a);
        vop_put(20, 1, i, b);
        vop_put(30, 2, i, s);
        want[i] = (uint64_t)(!clamp ? r : r > top ? top : r < bottom ? bottom : r);
        out |= (uint64_t)(r >> 64 & 1) << i;
        if (!(w->exec >> i & 1)) {
            vop_put(32, 1, i, 0x1234);
            want[i] = s >> 32 | UINT64_C(0x1234) << 32;
        }
    }
    xi->sd = 7;
    xi->fn(w, xi);
    CHECK_EQ(wave_sgpr64(w, 7), out & w->exec);
    for (int i = 0; i < VOP_LANES; i++)
        if (!CHECK_EQ(vop_get(31, 2, i), want[i]))
            break;
}

/* ---- lanes and scalars ---- */

static void fill(int row, uint32_t base)
{
    for (int i = 0; i < VOP_LANES; i++)
        vop_wave.w.v[row][i] = base + (uint32_t)i;
}

static void check_lanes(int level)
{
    struct wave *w = &vop_wave.w;

    CHECK(start(level, ISA_OP_v_readfirstlane_b32, "u"));
    fill(10, 1000);
    xi->sd = 5;
    w->exec = 0xf0000000000;
    xi->fn(w, xi);
    CHECK_EQ(w->s[5], 1040);
    w->exec = 0;
    xi->fn(w, xi);
    CHECK_EQ(w->s[5], 1000);

    CHECK(start(level, ISA_OP_v_readlane_b32, "u"));
    w->exec = 0;
    xi->sd = 5;
    xi->ss[1] = 30;
    w->s[30] = 64 + 17; /* only six bits count */
    xi->fn(w, xi);
    CHECK_EQ(w->s[5], 1017);
    xi->ss[1] = XSRC_CONST;
    xi->literal[1] = 63;
    xi->fn(w, xi);
    CHECK_EQ(w->s[5], 1063);

    CHECK(start(level, ISA_OP_v_writelane_b32, "u"));
    w->exec = 0;
    fill(40, 0);
    xi->ss[0] = 30;
    xi->ss[1] = XSRC_CONST;
    xi->literal[1] = 9;
    xi->fn(w, xi);
    for (int i = 0; i < VOP_LANES; i++)
        CHECK_EQ(w->v[40][i], i == 9 ? 81 : i);

    CHECK(start(level, ISA_OP_v_swap_b32, "u"));
    w->exec = 0xff00ff00ff00ff00;
    fill(10, 1000);
    fill(40, 2000);
    xi->fn(w, xi);
    for (int i = 0; i < VOP_LANES; i++) {
        CHECK_EQ(w->v[10][i], (i & 8 ? 2000 : 1000) + i);
        CHECK_EQ(w->v[40][i], (i & 8 ? 1000 : 2000) + i);
    }

    for (int n = 0; n < 8; n++) {
        CHECK(start(level, ISA_OP_v_cndmask_b32, "u"));
        const uint64_t mask = vop_random();
        wave_set_sgpr64(w, 20, mask);
        fill(10, 1000);
        fill(20, 2000);
        fill(40, 3000);
        xi->fn(w, xi);
        for (int i = 0; i < VOP_LANES; i++)
            CHECK_EQ(w->v[40][i], (!(w->exec >> i & 1) ? 3000 : mask >> i & 1 ? 2000 : 1000) + i);
    }

    CHECK(start(level, ISA_OP_v_nop, "u"));
    CHECK(xi->fn(w, xi) == xi + 1);
    CHECK(start(level, ISA_OP_v_clrexcp, "u"));
    w->trapsts = 0xffff;
    xi->fn(w, xi);
    CHECK_EQ(w->trapsts, 0xfe00);
}

/* Four sums of masked absolute differences, on top of their own accumulators. */
static void check_mqsad_u32(int level, bool clamp)
{
    struct wave *w = &vop_wave.w;
    const struct vop_case c = {.op = ISA_OP_v_mqsad_u32_u8, .result = "u", .sources = "", .clamp = clamp};
    static const int rows[3] = {10, 20, 30};
    CHECK(start(level, c.op, "u"));
    CHECK(vop_build(level, &c, &inst, xi, 29, rows, 0, 0) != NULL);
    uint32_t want[4][VOP_LANES];
    for (int i = 0; i < VOP_LANES; i++) {
        const uint64_t a = vop_value('q'), b = vop_value('u');
        vop_put(10, 2, i, a);
        vop_put(20, 1, i, b);
        vop_put(29, 1, i, 77);
        for (int k = 0; k < 4; k++) {
            uint64_t sum = vop_value('u');
            vop_put(30 + k, 1, i, sum);
            for (int j = 0; j < 4; j++) {
                const int x = (int)(a >> 8 * (j + k) & 255), y = (int)(b >> 8 * j & 255);
                sum += (uint64_t)(y ? abs(x - y) : 0);
            }
            want[k][i] = (uint32_t)(clamp && sum > UINT32_MAX ? UINT32_MAX : sum);
        }
        if (!(w->exec >> i & 1))
            for (int k = 0; k < 4; k++)
                want[k][i] = w->v[29 + k][i];
    }
    xi->drows = 4;
    xi->fn(w, xi);
    for (int i = 0; i < VOP_LANES; i++)
        for (int k = 0; k < 4; k++)
            CHECK_EQ(w->v[29 + k][i], want[k][i]);
}

int main(void)
{
    for (int level = 2; level <= 4; level++) {
        if (!vop_has_level(level))
            continue;
        check_comparisons(level);
        check_flushed_comparisons(level);
        check_carries(level);
        for (int n = 0; n < 64; n++)
            check_mad64(level, n & 1, n & 2);
        check_lanes(level);
        for (int n = 0; n < 16; n++)
            check_mqsad_u32(level, n & 1);
    }
    return check_status();
}
