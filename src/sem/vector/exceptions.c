/* SPDX-License-Identifier: MIT */
/* Float exceptions of one lane; see exceptions.h. */
#include "sem/vector/exceptions.h"

#include "wave/wave.h"
#include "isa/isa.h"

enum format { F16, F32, F64, PACKED_F16, PACKED_F32, MIXED };

enum what {
    NOTHING,
    LOOK,  /* at the sources, and no more: the result is one of them, a comparison, or exact */
    PARTS, /* the same, where MODE flushes no denormals */
    SUM,
    DIFFERENCE,
    DIFFERENCE_REVERSED,
    PRODUCT,
    PRODUCT_LEGACY,
    FUSED,
    UNFUSED, /* the product is rounded; never any denormals */
    FRACTION,
    SCALED,
    QUOTIENT, /* of the third and the second source */
    RECIPROCAL,
    INTEGER_RECIPROCAL,
    RECIPROCAL_ROOT,
    ROOT,
    POWER,
    LOGARITHM,
    SINE,
    COSINE,
    CONVERTED,
    CUT, /* two conversions, towards zero */
    FROM_I32,
    FROM_U32,
    FROM_I16,
    FROM_U16,
    TO_I32,
    TO_U32,
    TO_I32_FLOOR,
    TO_I32_NEAR,
    TO_I16,
    TO_U16,
};

struct rule {
    uint8_t what, sources, from, to;
};

static const struct rule rules[ISA_OP_COUNT] = {
#define RULE(name, what, sources, from, to) [ISA_OP_##name] = {what, sources, from, to},
#include "sem/vector/exceptions.def"
/* By the part of MODE that governs a comparison. */
#define CMP_H(name) RULE(v_cmp_##name, LOOK, 2, F16, F16) RULE(v_cmpx_##name, LOOK, 2, F16, F16)
#define CMP_S(name) RULE(v_cmp_##name, LOOK, 2, F32, F32) RULE(v_cmpx_##name, LOOK, 2, F32, F32)
#define CMP_D(name) RULE(v_cmp_##name, LOOK, 2, F64, F64) RULE(v_cmpx_##name, LOOK, 2, F64, F64)
#define CMP_N(name)
#define CMP(name, M, ...) CMP_##M(name)
#define CMP_CLASS(...)
#define RULE(name, what, sources, from, to) [ISA_OP_##name] = {what, sources, from, to},
#include "sem/vector/valu_cmp.def"
#undef RULE
};

/* ---- sources ---- */

enum class { ZERO, NUMBER, INFINITE, NOT_A_NUMBER };

struct operand {
    enum class class;
    bool signalling, denormal;
    struct exact value; /* of all but NaNs: the sign */
};

static struct exact_format format_of(enum format f, uint32_t mode)
{
    static const int bits[][2] = {[F16] = {5, 10}, [F32] = {8, 23}, [F64] = {11, 52}};
    const bool single = f == F32;
    return (struct exact_format){
        bits[f][0], bits[f][1],
        (enum float_round)(single ? mode & MODE_ROUND_32 : (mode & MODE_ROUND_16_64) >> 2),
        !(mode & (single ? 0x20u : 0x80u))};
}

static bool flushes_sources(enum format f, uint32_t mode)
{
    return !(mode & (f == F32 ? 0x10u : 0x40u));
}

static struct operand unpack(enum format from, uint64_t bits, bool flush)
{
    const struct exact_format f = format_of(from, 0);
    const int most = (1 << f.exponent_bits) - 1, bias = most >> 1;
    const int exponent = (int)(bits >> f.mantissa_bits) & most;
    const uint64_t mantissa = bits & ((UINT64_C(1) << f.mantissa_bits) - 1);
    struct operand o = {.class = NUMBER};
    o.value.negative = bits >> (f.mantissa_bits + f.exponent_bits) & 1;
    if (exponent == most) {
        o.class = mantissa ? NOT_A_NUMBER : INFINITE;
        o.signalling = mantissa && !(mantissa >> (f.mantissa_bits - 1));
    } else if (exponent == 0 && (mantissa == 0 || flush)) {
        o.class = ZERO;
    } else {
        o.denormal = exponent == 0;
        o.value.man = mantissa | (uint64_t)(exponent != 0) << f.mantissa_bits;
        o.value.exp = (exponent ? exponent : 1) - bias - f.mantissa_bits;
    }
    return o;
}

static struct operand number(struct exact x)
{
    return (struct operand){.class = x.man ? NUMBER : ZERO, .value = x};
}

static struct operand minus(struct operand o)
{
    o.value.negative = !o.value.negative;
    return o;
}

/* ---- operations: an invalid one gives a NaN ---- */

static struct operand sum(struct operand a, struct operand b)
{
    if (a.class == NOT_A_NUMBER ||
        (a.class == INFINITE && b.class == INFINITE && a.value.negative != b.value.negative))
        return (struct operand){.class = NOT_A_NUMBER};
    if (a.class == INFINITE || b.class == INFINITE)
        return a.class == INFINITE ? a : b;
    return number(exact_add(a.value, b.value));
}

static struct operand product(struct operand a, struct operand b)
{
    if (a.class != INFINITE && b.class != INFINITE)
        return number(exact_multiply(a.value, b.value));
    return (struct operand){.class = a.class == ZERO || b.class == ZERO ? NOT_A_NUMBER : INFINITE,
                            .value.negative = a.value.negative != b.value.negative};
}

/* x rounded to an integer. */
static struct exact whole(struct exact x, enum float_round round, bool *inexact)
{
    return (struct exact){x.negative, 0, exact_in_units(x, 0, round, inexact)};
}

/* What rounding to the format raises. */
static uint32_t pack(struct operand o, struct exact_format f)
{
    uint32_t raised = 0;
    if (o.class == NOT_A_NUMBER)
        return EXCEPTION_INVALID;
    if (o.class == NUMBER)
        exact_pack(o.value, f, &raised);
    return raised;
}

static uint32_t unfused(const struct operand o[3], struct exact_format f)
{
    uint32_t raised = 0;
    f.flush = true;
    struct operand p = product(o[0], o[1]);
    if (p.class == NUMBER) {
        uint64_t bits = exact_pack(p.value, f, &raised);
        bits |= (uint64_t)p.value.negative << (f.exponent_bits + f.mantissa_bits);
        p = unpack(F16, bits, true);
    }
    const uint32_t more = pack(sum(p, o[2]), f);
    return more & EXCEPTION_INVALID ? more : raised | more;
}

static uint32_t fraction(struct operand o, struct exact_format f)
{
    bool inexact;
    if (o.class != NUMBER)
        return o.class == INFINITE ? EXCEPTION_INVALID : 0;
    if (o.value.exp >= 0)
        return 0;
    return pack(sum(o, minus(number(whole(o.value, ROUND_DOWN, &inexact)))), f);
}

static uint32_t quotient(struct operand n, struct operand d, struct exact_format f)
{
    if (n.class == d.class && n.class != NUMBER)
        return EXCEPTION_INVALID;
    if (n.class != NUMBER || d.class == INFINITE)
        return 0;
    return d.class == ZERO ? EXCEPTION_DIVISION : pack(number(exact_divide(n.value, d.value)), f);
}

/* ---- the transcendental unit: as if its results were rounded from the exact ones ---- */

static bool is_power_of_two(struct exact x)
{
    return (x.man & (x.man - 1)) == 0;
}

static uint32_t root(struct operand o, bool reciprocal)
{
    if (o.class == ZERO)
        return reciprocal ? EXCEPTION_DIVISION : 0;
    if (o.value.negative)
        return EXCEPTION_INVALID;
    if (o.class == INFINITE)
        return 0;
    while (!(o.value.man & 1)) {
        o.value.man >>= 1;
        o.value.exp++;
    }
    const uint64_t n = (uint64_t)(o.value.exp & 1 ? o.value.man << 1 : o.value.man);
    uint64_t r = 0;
    for (uint64_t bit = UINT64_C(1) << 27; bit; bit >>= 1) /* n has 54 bits at most */
        r |= (r | bit) * (r | bit) <= n ? bit : 0;
    return r * r != n || (reciprocal && r != 1) ? EXCEPTION_INEXACT : 0;
}

/* Between two powers of two anything will do: formats begin and end at such. */
static uint32_t power(struct operand o, struct exact_format f)
{
    enum { FAR = 2000 };
    if (o.class != NUMBER)
        return 0;
    bool inexact = false;
    const bool far = exact_top(o.value.man) + o.value.exp > 10;
    const int n = far ? FAR : (int)whole(o.value, ROUND_DOWN, &inexact).man;
    struct exact r = {.exp = o.value.negative ? -n : n, .man = 1};
    if (inexact)
        r = (struct exact){.exp = r.exp - 62, .man = (UINT64_C(3) << 61) + 1};
    return pack(number(r), f);
}

static uint32_t logarithm(struct operand o)
{
    if (o.class == ZERO)
        return EXCEPTION_DIVISION;
    if (o.value.negative)
        return EXCEPTION_INVALID;
    return o.class == INFINITE || is_power_of_two(o.value) ? 0 : EXCEPTION_INEXACT;
}

/* Of turns: beyond 256 there is nothing to round, and small arguments are multiplied by 2 pi. */
static uint32_t trigonometric(struct operand o, bool sine, struct exact_format f)
{
    enum { TWO_PI_2_16 = 411775 };
    if (o.class != NUMBER)
        return o.class == INFINITE ? EXCEPTION_INVALID : 0;
    const int top = exact_top(o.value.man) + o.value.exp;
    bool inexact;
    o.value.exp += 2;
    whole(o.value, ROUND_ZERO, &inexact); /* quarters of a turn are exact */
    o.value.exp -= 2;
    if (top >= 8 || !inexact)
        return 0;
    if (!sine || top > -6)
        return EXCEPTION_INEXACT;
    const struct exact r = {o.value.negative, o.value.exp - 80, (o.value.man * TWO_PI_2_16 << 64) + 1};
    return pack(number(r), f) | EXCEPTION_INEXACT;
}

/* ---- integers ---- */

static uint32_t from_integer(int64_t x, struct exact_format f)
{
    const struct exact value = {x < 0, 0, (exact_man)(x < 0 ? -x : x)};
    return pack(number(value), f);
}

static uint32_t to_integer(struct operand o, enum float_round round, int64_t low, int64_t high)
{
    bool inexact;
    if (o.class == ZERO)
        return 0;
    if (o.class != NUMBER || exact_top(o.value.man) + o.value.exp > 40)
        return EXCEPTION_INVALID;
    const int64_t n = (int64_t)whole(o.value, round, &inexact).man, value = o.value.negative ? -n : n;
    return value < low || value > high ? EXCEPTION_INVALID : inexact ? EXCEPTION_INEXACT : 0;
}

/* Of x + 1/2, downwards; exact is what needs no such sum. */
static uint32_t to_integer_near(struct operand o)
{
    bool inexact = false;
    const struct operand half = {.class = NUMBER, .value = {.exp = -1, .man = 1}};
    if (o.class == NUMBER)
        whole(o.value, ROUND_ZERO, &inexact);
    const uint32_t raised = to_integer(sum(o, half), ROUND_DOWN, INT32_MIN, INT32_MAX);
    return raised & EXCEPTION_INVALID ? raised : inexact ? EXCEPTION_INEXACT : 0;
}

/* ---- one operation ---- */

static bool is_to_integer(unsigned what)
{
    return what >= TO_I32;
}

/* Denormal sources count as zeros: by MODE, except where an instruction has a rule of its own. */
static bool flushes(struct rule rule, uint32_t mode)
{
    switch (rule.what) {
    case PARTS:
    case CUT:
    case QUOTIENT:
        return false;
    case UNFUSED:
        return true;
    case RECIPROCAL:
    case INTEGER_RECIPROCAL:
    case RECIPROCAL_ROOT:
    case ROOT:
    case POWER:
    case LOGARITHM:
    case SINE:
    case COSINE:
        return rule.from == F32 || flushes_sources(rule.from, mode);
    default:
        return flushes_sources(rule.from, mode);
    }
}

static uint32_t operate(struct rule rule, uint32_t mode, const struct operand o[3], int32_t scale)
{
    struct exact_format f = format_of(rule.to, mode);
    switch (rule.what) {
    case SUM:
        return pack(sum(o[0], o[1]), f);
    case DIFFERENCE:
        return pack(sum(o[0], minus(o[1])), f);
    case DIFFERENCE_REVERSED:
        return pack(sum(o[1], minus(o[0])), f);
    case PRODUCT_LEGACY:
        return o[0].class == ZERO || o[1].class == ZERO ? 0 : pack(product(o[0], o[1]), f);
    case PRODUCT:
        return pack(product(o[0], o[1]), f);
    case FUSED:
        return pack(sum(product(o[0], o[1]), o[2]), f);
    case UNFUSED:
        return unfused(o, f);
    case FRACTION:
        return fraction(o[0], f);
    case SCALED: {
        struct operand r = o[0];
        r.value.exp += scale < -5000 ? -5000 : scale > 5000 ? 5000 : scale;
        return pack(r, f);
    }
    case QUOTIENT:
        return quotient(o[2], o[1], f);
    case RECIPROCAL:
        f.flush = f.flush || rule.to == F32;
        return quotient(number((struct exact){.man = 1}), o[0], f);
    case RECIPROCAL_ROOT:
        return root(o[0], true);
    case ROOT:
        return root(o[0], false);
    case POWER:
        f.flush = f.flush || rule.to == F32;
        return power(o[0], f);
    case LOGARITHM:
        return logarithm(o[0]);
    case SINE:
    case COSINE:
        f.flush = f.flush || rule.to == F32;
        return trigonometric(o[0], rule.what == SINE, f);
    case CONVERTED:
        return pack(o[0], f);
    case CUT:
        f.round = ROUND_ZERO;
        f.flush = false;
        return pack(o[0], f) | pack(o[1], f);
    case TO_I32:
        return to_integer(o[0], ROUND_ZERO, INT32_MIN, INT32_MAX);
    case TO_U32:
        return to_integer(o[0], ROUND_ZERO, 0, UINT32_MAX);
    case TO_I32_FLOOR:
        return to_integer(o[0], ROUND_DOWN, INT32_MIN, INT32_MAX);
    case TO_I32_NEAR:
        return to_integer_near(o[0]);
    case TO_I16:
        return to_integer(o[0], ROUND_ZERO, INT16_MIN, INT16_MAX);
    case TO_U16:
        return to_integer(o[0], ROUND_ZERO, 0, UINT16_MAX);
    default:
        return 0;
    }
}

/* A NaN makes nothing else happen, and neither does an invalid operation or a division by zero. */
static uint32_t raised_by(struct rule rule, uint32_t mode, const struct operand o[3], int32_t scale)
{
    bool nan = false, signalling = false, denormal = false;
    for (int i = rule.what == QUOTIENT ? 1 : 0; i < rule.sources; i++) {
        nan = nan || o[i].class == NOT_A_NUMBER;
        signalling = signalling || o[i].signalling;
        denormal = denormal || o[i].denormal;
    }
    if (nan)
        return signalling || is_to_integer(rule.what) ? EXCEPTION_INVALID : 0;
    if (rule.what == INTEGER_RECIPROCAL)
        return o[0].class == ZERO ? EXCEPTION_INTEGER_DIVISION : 0;
    const uint32_t raised = operate(rule, mode, o, scale);
    if (raised & (EXCEPTION_INVALID | EXCEPTION_DIVISION))
        return raised & (EXCEPTION_INVALID | EXCEPTION_DIVISION);
    return raised | (denormal ? EXCEPTION_DENORMAL : 0);
}

/* ---- packed and mixed ---- */

/* VOP3P's selects and negations; the VOP2 and VOP3 forms of v_pk_fmac have none. */
static uint32_t raised_by_packed(const struct isa_inst *inst, struct rule rule, uint32_t mode,
                                 const uint64_t source[3])
{
    const bool selects = inst->format == ISA_VOP3P;
    const enum format from = rule.from == PACKED_F16 ? F16 : F32;
    const int bits = from == F16 ? 16 : 32;
    uint32_t raised = 0;
    rule.from = from;
    for (int high = 0; high < 2; high++) {
        struct operand o[3] = {0};
        for (int i = 0; i < rule.sources; i++) {
            const bool other = selects ? (high ? inst->op_sel_hi : inst->op_sel) >> i & 1 : high;
            const bool negate = selects && (high ? inst->neg_hi : inst->neg) >> i & 1;
            o[i] = unpack(from, source[i] >> (other ? bits : 0), flushes_sources(from, mode));
            o[i].value.negative ^= negate;
        }
        raised |= raised_by(rule, mode, o, 0);
    }
    return raised;
}

/* f32, or the half of a source that is f16; the sum is rounded to f32 first. */
static uint32_t raised_by_mixed(const struct isa_inst *inst, struct rule rule, uint32_t mode,
                                const uint64_t source[3])
{
    struct operand o[3];
    for (int i = 0; i < 3; i++) {
        const bool half = inst->op_sel_hi >> i & 1, high = inst->op_sel >> i & 1;
        o[i] = half ? unpack(F16, source[i] >> (high ? 16 : 0), false)
                    : unpack(F32, source[i], flushes_sources(F32, mode));
        if (inst->neg_hi >> i & 1) /* the absolute value */
            o[i].value.negative = false;
        o[i].value.negative ^= inst->neg >> i & 1;
    }
    uint32_t raised = raised_by((struct rule){FUSED, 3, F32, F32}, mode, o, 0);
    if (rule.to == F32 || raised & EXCEPTION_INVALID)
        return raised;
    const struct operand r = sum(product(o[0], o[1]), o[2]);
    if (r.class != NUMBER)
        return raised;
    uint32_t again = 0;
    const uint64_t single = exact_pack(r.value, format_of(F32, mode), &again);
    struct operand rounded = unpack(F32, single, false);
    rounded.value.negative = r.value.negative;
    return raised | pack(rounded, format_of(F16, mode));
}

bool sem_can_raise(const struct isa_inst *inst)
{
    return inst->op < ISA_OP_COUNT && rules[inst->op].what != NOTHING;
}

uint32_t sem_raised(const struct isa_inst *inst, uint32_t mode, const uint64_t source[3])
{
    const struct rule rule = rules[inst->op];
    struct operand o[3] = {0};
    switch (rule.from) {
    case PACKED_F16:
    case PACKED_F32:
        return raised_by_packed(inst, rule, mode, source);
    case MIXED:
        return raised_by_mixed(inst, rule, mode, source);
    default:
        break;
    }
    switch (rule.what) {
    case NOTHING:
        return 0;
    case FROM_I32:
        return from_integer((int32_t)source[0], format_of(rule.to, mode));
    case FROM_U32:
        return from_integer((uint32_t)source[0], format_of(rule.to, mode));
    case FROM_I16:
        return from_integer((int16_t)source[0], format_of(rule.to, mode));
    case FROM_U16:
        return from_integer((uint16_t)source[0], format_of(rule.to, mode));
    default:
        break;
    }
    for (int i = 0; i < rule.sources; i++)
        o[i] = unpack((enum format)rule.from, source[i], flushes(rule, mode));
    const int32_t scale = rule.from == F16 ? (int16_t)source[1] : (int32_t)source[1];
    return raised_by(rule, mode, o, scale);
}
