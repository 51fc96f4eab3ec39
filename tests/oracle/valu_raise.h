/* SPDX-License-Identifier: MIT */
/*
 * Which float exceptions an instruction raises in a lane, a second time: from
 * its name, by soft.h.  What rounding does is seen by comparing its result with
 * what was rounded.
 */
#ifndef EHP_TESTS_ORACLE_VALU_RAISE_H
#define EHP_TESTS_ORACLE_VALU_RAISE_H

#include "valu_mean.h"

/* Bits of TRAPSTS. */
enum {
    RAISE_INVALID = 1 << 0,
    RAISE_DENORMAL = 1 << 1,
    RAISE_DIVISION = 1 << 2,
    RAISE_OVERFLOW = 1 << 3,
    RAISE_UNDERFLOW = 1 << 4,
    RAISE_INEXACT = 1 << 5,
    RAISE_INTEGER_DIVISION = 1 << 6,
    RAISE_UNKNOWN = 1 << 30, /* the instruction is none that raises */
};

static inline bool exactly(struct soft_format f, struct soft x, uint64_t bits)
{
    return soft_compare(soft_unpack(f, bits, false), x) == 0;
}

static inline int raised_rounding(struct soft_format f, struct soft x, unsigned round, bool flush)
{
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    if (x.cls == SOFT_NAN)
        return RAISE_INVALID;
    if (x.cls != SOFT_FINITE)
        return 0;
    /* The exponent that it has after rounding, if there were no end to exponents: of its mantissa alone. */
    struct soft one = x;
    one.exp = -soft_top(x.man);
    const uint64_t bits = soft_pack(f, one, round, false);
    const int exponent =
        soft_top(x.man) + x.exp + (soft_unpack(f, bits & ~soft_sign_bit(f), false).exp + f.mantissa_bits);
    if (exponent > bias)
        return RAISE_OVERFLOW | RAISE_INEXACT;
    const bool inexact = !exactly(f, x, soft_pack(f, x, round, false));
    if (exponent < 1 - bias && (inexact || flush))
        return RAISE_UNDERFLOW | RAISE_INEXACT;
    return inexact ? RAISE_INEXACT : 0;
}

static inline int raised_result(const struct lane *l, struct soft_format f, struct soft x)
{
    return raised_rounding(f, x, rounding(l, f), flush_out(l, f));
}

static inline struct soft divided(struct soft n, struct soft d)
{
    const soft_wide high = n.man << (126 - soft_top(n.man));
    const int exp = n.exp - (126 - soft_top(n.man)) - d.exp;
    return (struct soft){SOFT_FINITE, n.sign != d.sign, false, exp, high / d.man | (high % d.man != 0)};
}

static inline int raised_quotient(const struct lane *l, struct soft_format f, struct soft n, struct soft d)
{
    if ((n.cls == SOFT_ZERO && d.cls == SOFT_ZERO) || (n.cls == SOFT_INF && d.cls == SOFT_INF))
        return RAISE_INVALID;
    if (n.cls == SOFT_FINITE && d.cls == SOFT_ZERO)
        return RAISE_DIVISION;
    return n.cls == SOFT_FINITE && d.cls == SOFT_FINITE ? raised_result(l, f, divided(n, d)) : 0;
}

static inline int raised_function(const struct lane *l, struct soft_format f, struct soft x, enum function fn)
{
    const struct soft one = soft_from_int(1);
    const bool single = f.mantissa_bits == 23, power_of_two = x.cls == SOFT_FINITE && !(x.man & (x.man - 1));
    const bool root = fn == FN_SQRT || fn == FN_RSQ, trigonometric = fn == FN_SIN || fn == FN_COS;
    if (x.cls == SOFT_ZERO && (fn == FN_RCP || fn == FN_RSQ || fn == FN_LOG))
        return RAISE_DIVISION;
    if (x.cls == SOFT_ZERO)
        return 0;
    if ((x.sign && (root || fn == FN_LOG)) || (x.cls == SOFT_INF && trigonometric))
        return RAISE_INVALID;
    if (x.cls == SOFT_INF)
        return 0;
    const long double v = to_host(x), clipped = v < -2000 ? -2000 : v > 2000 ? 2000 : v;
    const struct soft r = from_host(near_value(fn, fn == FN_EXP ? clipped : v));
    bool exact = true;
    if (fn == FN_RCP) {
        return raised_rounding(f, divided(one, x), rounding(l, f), single || flush_out(l, f));
    } else if (root) {
        struct soft up = from_host(sqrtl(to_host(x)));
        exact = up.man >> 32 << 32 == up.man;
        up.man >>= 32;
        up.exp += 32;
        exact = exact && soft_compare(soft_mul(up, up), x) == 0;
        if (fn == FN_RSQ)
            exact = exact && power_of_two;
    } else if (fn == FN_LOG) {
        exact = power_of_two;
    } else if (fn == FN_EXP) {
        exact = soft_compare(soft_integral(x, 3), x) == 0;
    } else if (fabsl(to_host(x)) < 256) {
        struct soft quarters = x;
        quarters.exp += 2;
        exact = soft_compare(soft_integral(quarters, 3), quarters) == 0;
    }
    return exact && fn != FN_EXP ? 0
                                 : (exact ? 0 : RAISE_INEXACT) |
                                       raised_rounding(f, r, rounding(l, f), single || flush_out(l, f));
}

static inline int raised_to_int(struct soft x, unsigned round, int64_t low, int64_t high)
{
    const struct soft r = soft_integral(x, round);
    const struct soft least_ = soft_from_int(low), most_ = soft_from_int(high);
    if (soft_compare(r, least_) < 0 || soft_compare(r, most_) > 0)
        return RAISE_INVALID;
    return soft_compare(r, x) ? RAISE_INEXACT : 0;
}

/* The product is rounded, and nothing is denormal. */
static inline int raised_unfused(const struct lane *l, struct soft_format f, const struct soft v[3])
{
    const struct soft p = soft_mul(v[0], v[1]);
    int raised = raised_rounding(f, p, rounding(l, f), true);
    struct soft rounded = p;
    if (p.cls == SOFT_FINITE)
        rounded = soft_unpack(f, soft_pack(f, p, rounding(l, f), true), true);
    raised |= raised_rounding(f, soft_add(rounded, v[2], rounding(l, f)), rounding(l, f), true);
    return raised;
}

static inline bool named(const char *name, const char *is)
{
    const size_t n = strlen(is);
    return !strncmp(name, is, n) && (name[n] == 0 || (name[n] == '_' && strchr("fiu", name[n + 1])));
}

static inline struct soft_format format_at(const char *suffix)
{
    return strstr(suffix, "16") ? H : strstr(suffix, "64") ? D : S;
}

/* name: without "v_". */
static inline int raised_by_name(const struct lane *l, const char *name)
{
    static const struct {
        const char *name;
        enum function fn;
    } functions[] = {{"rcp", FN_RCP},        {"rsq", FN_RSQ},        {"sqrt", FN_SQRT},
                     {"exp", FN_EXP},        {"exp_legacy", FN_EXP}, {"log", FN_LOG},
                     {"log_legacy", FN_LOG}, {"sin", FN_SIN},        {"cos", FN_COS}};
    static const char *const two[] = {"add", "sub", "subrev", "mul", "mul_legacy", "min", "max", "cvt_pkrtz"};
    static const char *const three[] = {"fma",  "fmac",  "fma_legacy", "mad",       "mad_legacy",
                                        "mac",  "madmk", "madak",      "fmaak",     "fmamk",
                                        "min3", "max3",  "med3",       "div_fixup", "div_fixup_legacy"};
    static const char *const one[] = {"trunc",      "ceil",      "floor", "rndne",    "fract",
                                      "frexp_mant", "frexp_exp", "ldexp", "rcp_iflag"};
    const char *last = strrchr(name, '_');
    if (!last)
        return RAISE_UNKNOWN;
    const bool compares = !strncmp(name, "cmp", 3) && !strstr(name, "class"),
               converts = !strncmp(name, "cvt_", 4);
    struct soft_format f = format_at(last), to = f;
    if (converts)
        to = !strncmp(name + 4, "f16", 3) ? H : !strncmp(name + 4, "f64", 3) ? D : S;
    if (converts && strncmp(last, "_f", 2) != 0) { /* from an integer */
        const bool is_signed = last[1] == 'i', half = !strcmp(last + 2, "16");
        if (strncmp(name, "cvt_f", 5) != 0 || (strcmp(last + 2, "32") != 0 && !half) || strstr(name, "off") ||
            to.mantissa_bits == 52) /* always exact */
            return RAISE_UNKNOWN;
        return raised_result(l, to,
                             soft_from_int(is_signed ? (half ? I16(l->a) : I32(l->a))
                                           : half    ? U16(l->a)
                                                     : (int64_t)U32(l->a)));
    }
    unsigned sources = 0, fn = 99;
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        sources = named(name, two[i]) ? 2 : sources;
    for (size_t i = 0; i < sizeof three / sizeof three[0]; i++)
        sources = named(name, three[i]) ? 3 : sources;
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        sources = named(name, one[i]) ? 1 : sources;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (named(name, functions[i].name)) {
            sources = 1;
            fn = functions[i].fn;
        }
    if (compares)
        sources = name[strlen(name) - 3] == 'f' ? 2 : 0;
    const char *integer = NULL; /* the result's type */
    if (converts && !sources && !strstr(name, "norm") && !strstr(name, "pk") && !strstr(name, "8")) {
        sources = 1;
        integer = strstr(name, "_i")   ? strstr(name, "_i") + 1
                  : strstr(name, "_u") ? strstr(name, "_u") + 1
                                       : NULL;
    }
    if (!sources || last[1] != 'f')
        return RAISE_UNKNOWN;

    const bool unfused = strstr(name, "mad") == name || strstr(name, "mac") == name;
    const bool divides = strstr(name, "div_fixup") == name, cuts = named(name, "cvt_pkrtz");
    const bool single_unit = (fn != 99 || named(name, "rcp_iflag")) && f.mantissa_bits == 23;
    const bool flush =
        unfused || single_unit || (flush_in(l, f) && !divides && !cuts && strncmp(name, "frexp", 5) != 0);
    const uint64_t bits[3] = {l->a, l->b, l->c};
    struct soft v[3] = {0};
    bool nan = false, signalling = false, denormal = false;
    for (unsigned i = divides ? 1 : 0; i < sources; i++) {
        v[i] = soft_unpack(f, bits_of(f, bits[i]), flush);
        nan |= v[i].cls == SOFT_NAN;
        signalling |= v[i].signalling;
        denormal |= v[i].cls == SOFT_FINITE && !(bits[i] & soft_inf(f));
    }
    if (nan)
        return signalling || integer ? RAISE_INVALID : 0;
    int r = 0;
    const unsigned round = rounding(l, f);
    struct soft minus_a = v[0], minus_b = v[1];
    minus_a.sign = !minus_a.sign;
    minus_b.sign = !minus_b.sign;
    if (named(name, "rcp_iflag"))
        return v[0].cls == SOFT_ZERO ? RAISE_INTEGER_DIVISION : 0;
    if (fn != 99) {
        r = raised_function(l, f, v[0], (enum function)fn);
    } else if (integer) {
        const int size = integer[1] == '1' ? 16 : 32;
        const int64_t high = integer[0] == 'u' ? (INT64_C(1) << size) - 1 : (INT64_C(1) << (size - 1)) - 1;
        const int64_t low = integer[0] == 'u' ? 0 : -high - 1;
        if (strstr(name, "rpi")) {
            r = raised_to_int(soft_add(v[0], (struct soft){SOFT_FINITE, false, false, -1, 1}, 0), 2, low,
                              high);
            if (r != RAISE_INVALID)
                r = soft_compare(soft_integral(v[0], 3), v[0]) ? RAISE_INEXACT : 0;
        } else {
            r = raised_to_int(v[0], strstr(name, "flr") ? 2 : 3, low, high);
        }
    } else if (cuts) {
        r = raised_rounding(H, v[0], 3, false) | raised_rounding(H, v[1], 3, false);
    } else if (converts) {
        r = raised_result(l, to, v[0]);
    } else if (named(name, "add")) {
        r = raised_result(l, f, soft_add(v[0], v[1], round));
    } else if (named(name, "sub")) {
        r = raised_result(l, f, soft_add(v[0], minus_b, round));
    } else if (named(name, "subrev")) {
        r = raised_result(l, f, soft_add(v[1], minus_a, round));
    } else if (named(name, "mul") ||
               (named(name, "mul_legacy") && v[0].cls != SOFT_ZERO && v[1].cls != SOFT_ZERO)) {
        r = raised_result(l, f, soft_mul(v[0], v[1]));
    } else if (strstr(name, "fma") == name) {
        r = raised_result(l, f, soft_add(soft_mul(v[0], v[1]), v[2], round));
    } else if (unfused) {
        r = raised_unfused(l, f, v);
    } else if (divides) {
        r = raised_quotient(l, f, v[2], v[1]);
    } else if (named(name, "ldexp")) {
        v[0].exp += (int)between(f.mantissa_bits == 10 ? I16(l->b) : I32(l->b), -5000, 5000);
        r = raised_result(l, f, v[0]);
    } else if (named(name, "fract")) {
        struct soft floor = soft_integral(v[0], 2);
        floor.sign = !floor.sign;
        r = raised_result(l, f, soft_add(v[0], floor, round));
    }
    if (r & (RAISE_INVALID | RAISE_DIVISION))
        return r & (RAISE_INVALID | RAISE_DIVISION);
    return r | (denormal ? RAISE_DENORMAL : 0);
}

static inline int raised_in_lane(const struct lane *l, const char *name)
{
    if (strncmp(name, "v_pk_fmac_f16", 13) != 0)
        return raised_by_name(l, name + 2);
    struct lane low = *l, high = *l;
    high.a >>= 16;
    high.b >>= 16;
    high.c >>= 16;
    return raised_by_name(&low, "fma_f16") | raised_by_name(&high, "fma_f16");
}

#endif
