/* SPDX-License-Identifier: MIT */
/*
 * Which float exceptions are raised, against the host's own: x86 records the
 * same six in MXCSR, with the same meaning, in every rounding and with denormals
 * flushed or not.
 *
 *   exceptions [rounds]
 */
#include <fenv.h>
#include <immintrin.h>
#include <math.h>
#include <stdlib.h>

#include "../../check.h"
#include "../../hard.h"
#include "wave/wave.h"
#include "sem/vector/exceptions.h"

static uint64_t random_state = 0x243f6a8885a308d3;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1d;
}

static uint64_t hard(bool wide)
{
    return wide ? hard_f64(random_bits(), random_bits()) : hard_f32(random_bits());
}

/* ---- the host ---- */

enum host_op { ADD, SUB, MUL, DIV, FMA, SQRT, MIN, COMPARE, NARROW, WIDEN, TO_INT, OPS };

static uint32_t flags_of(unsigned csr)
{
    return csr & 0x3f;
}

/* One instruction each: what the compiler may not move out from between the two accesses of MXCSR. */
#define ASM_2(text, x, y)   __asm__ volatile(text : "+x"(x) : "x"(y))
#define ASM_TO(text, to, x) __asm__ volatile(text : "=x"(to) : "x"(x))

static uint32_t host_32(enum host_op op, uint32_t mode, const uint64_t s[3])
{
    static const unsigned rounding[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN,
                                        _MM_ROUND_TOWARD_ZERO};
    const unsigned csr = 0x1f80 | rounding[mode & 3] | (mode & 0x10 ? 0 : 0x40) | (mode & 0x20 ? 0 : 0x8000);
    float x = f32_from_bits((uint32_t)s[0]);
    const float y = f32_from_bits((uint32_t)s[1]), z = f32_from_bits((uint32_t)s[2]);
    const unsigned old = _mm_getcsr();
    double wide;
    int32_t whole;
    _mm_setcsr(csr);
    switch (op) {
    case ADD:
        ASM_2("addss %1, %0", x, y);
        break;
    case SUB:
        ASM_2("subss %1, %0", x, y);
        break;
    case MUL:
        ASM_2("mulss %1, %0", x, y);
        break;
    case DIV:
        ASM_2("divss %1, %0", x, y);
        break;
    case FMA:
        __asm__ volatile("vfmadd213ss %2, %1, %0" : "+x"(x) : "x"(y), "x"(z));
        break;
    case SQRT:
        ASM_TO("sqrtss %1, %0", x, y);
        break;
    case MIN:
        ASM_2("minss %1, %0", x, y);
        break;
    case COMPARE:
        ASM_2("cmpeqss %1, %0", x, y);
        break;
    case WIDEN:
        ASM_TO("cvtss2sd %1, %0", wide, y);
        break;
    default:
        __asm__ volatile("cvttss2si %1, %0" : "=r"(whole) : "x"(y));
        break;
    }
    const uint32_t raised = flags_of(_mm_getcsr());
    _mm_setcsr(old);
    return raised;
}

static uint32_t host_64(enum host_op op, uint32_t mode, const uint64_t s[3])
{
    static const unsigned rounding[] = {_MM_ROUND_NEAREST, _MM_ROUND_UP, _MM_ROUND_DOWN,
                                        _MM_ROUND_TOWARD_ZERO};
    const bool narrow = op == NARROW; /* sources' denormals of f64, rounding and results' denormals of f32 */
    const unsigned csr = 0x1f80 | rounding[narrow ? mode & 3 : mode >> 2 & 3] | (mode & 0x40 ? 0 : 0x40) |
                         (mode & (narrow ? 0x20 : 0x80) ? 0 : 0x8000);
    double x = f64_from_bits(s[0]);
    const double y = f64_from_bits(s[1]), z = f64_from_bits(s[2]);
    const unsigned old = _mm_getcsr();
    float single;
    int32_t whole;
    _mm_setcsr(csr);
    switch (op) {
    case ADD:
        ASM_2("addsd %1, %0", x, y);
        break;
    case MUL:
        ASM_2("mulsd %1, %0", x, y);
        break;
    case DIV:
        ASM_2("divsd %1, %0", x, y);
        break;
    case FMA:
        __asm__ volatile("vfmadd213sd %2, %1, %0" : "+x"(x) : "x"(y), "x"(z));
        break;
    case SQRT:
        ASM_TO("sqrtsd %1, %0", x, y);
        break;
    case MIN:
        ASM_2("minsd %1, %0", x, y);
        break;
    case COMPARE:
        ASM_2("cmpeqsd %1, %0", x, y);
        break;
    case NARROW:
        ASM_TO("cvtsd2ss %1, %0", single, y);
        break;
    default:
        __asm__ volatile("cvttsd2si %1, %0" : "=r"(whole) : "x"(y));
        break;
    }
    const uint32_t raised = flags_of(_mm_getcsr());
    _mm_setcsr(old);
    return raised;
}

/* ---- the same of the vector ALU ---- */

/* Where both see it otherwise on purpose. */
static uint32_t expected(enum host_op op, bool wide, uint32_t mode, const uint64_t s[3])
{
    const uint64_t bits = s[1], magnitude = wide ? bits << 1 : bits << 33,
                   infinity = wide ? 0x7ffULL << 53 : 0xffULL << 56;
    uint32_t raised = wide ? host_64(op, mode, s) : host_32(op, mode, s);
    if (op == MIN && (magnitude > infinity || (wide ? s[0] << 1 : s[0] << 33) > infinity)) {
        /* minss calls every NaN invalid. */
        const uint64_t quiet = wide ? UINT64_C(1) << 51 : UINT64_C(1) << 22;
        const bool a = (wide ? s[0] << 1 : s[0] << 33) > infinity && !(s[0] & quiet);
        const bool b = magnitude > infinity && !(bits & quiet);
        return a || b ? EXCEPTION_INVALID : 0;
    }
    /* Conversions to integers do not tell of denormals there, and may flush them. */
    const bool denormal = magnitude && magnitude < (wide ? UINT64_C(1) << 53 : UINT64_C(1) << 56);
    if (op == TO_INT && denormal)
        return mode & (wide ? 0x40 : 0x10) ? EXCEPTION_INEXACT | EXCEPTION_DENORMAL : 0;
    return raised;
}

static void compare(unsigned isa_op, enum host_op op, bool wide, uint32_t mode, const uint64_t s[3])
{
    static const unsigned order[OPS][3] = {
        [DIV] = {2, 1, 0}, [SQRT] = {1}, [NARROW] = {1}, [WIDEN] = {1}, [TO_INT] = {1}};
    const struct isa_inst inst = {.op = (uint16_t)isa_op, .format = ISA_VOP3};
    uint64_t sources[3] = {s[0], s[1], s[2]};
    if (order[op][0])
        for (int i = 0; i < 3; i++)
            sources[i] = s[order[op][i]];
    const uint32_t want = expected(op, wide, mode, s), got = sem_raised(&inst, mode, sources);
    if (!CHECK_EQ(got, want))
        fprintf(stderr, "  host operation %d on %d bits, mode 0x%x: 0x%llx 0x%llx 0x%llx\n", op,
                wide ? 64 : 32, mode, (unsigned long long)s[0], (unsigned long long)s[1],
                (unsigned long long)s[2]);
}

/* ---- packed: what each half raises by itself ---- */

static uint32_t raised_apart(unsigned op, uint32_t mode, const uint64_t s[3])
{
    const struct isa_inst inst = {.op = (uint16_t)op, .format = ISA_VOP3};
    return sem_raised(&inst, mode, s);
}

static void compare_packed(unsigned packed, unsigned single, bool half, uint32_t mode)
{
    const uint64_t r = random_bits();
    const struct isa_inst inst = {.op = (uint16_t)packed,
                                  .format = ISA_VOP3P,
                                  .op_sel = r & 7,
                                  .op_sel_hi = r >> 3 & 7,
                                  .neg = r >> 6 & 7,
                                  .neg_hi = r >> 9 & 7};
    const int bits = half ? 16 : 32;
    uint64_t s[3], low[3], high[3];
    for (int i = 0; i < 3; i++) {
        s[i] = half ? hard_f16(random_bits()) | hard_f16(random_bits()) << 16
                    : hard_f32(random_bits()) | (uint64_t)hard_f32(random_bits()) << 32;
        const uint64_t part = (UINT64_C(1) << bits) - 1, sign = UINT64_C(1) << (bits - 1);
        low[i] = (s[i] >> (inst.op_sel >> i & 1 ? bits : 0) & part) ^ (inst.neg >> i & 1 ? sign : 0);
        high[i] = (s[i] >> (inst.op_sel_hi >> i & 1 ? bits : 0) & part) ^ (inst.neg_hi >> i & 1 ? sign : 0);
    }
    CHECK_EQ(sem_raised(&inst, mode, s), raised_apart(single, mode, low) | raised_apart(single, mode, high));
}

/* Mixed: as the f32 instruction of the f16 sources' values, and then a conversion. */
static void compare_mixed(unsigned op, uint32_t mode)
{
    const uint64_t r = random_bits();
    const struct isa_inst inst = {.op = (uint16_t)op,
                                  .format = ISA_VOP3P,
                                  .op_sel = r & 7,
                                  .op_sel_hi = r >> 3 & 7,
                                  .neg = r >> 6 & 7,
                                  .neg_hi = r >> 9 & 7};
    uint64_t s[3], single[3];
    bool denormal = false, nan = false;
    for (int i = 0; i < 3; i++) {
        s[i] = r >> (16 + i) & 1 ? hard_f32(random_bits())
                                 : hard_f16(random_bits()) | hard_f16(random_bits()) << 16;
        single[i] = s[i];
        if (inst.op_sel_hi >> i & 1) {
            const uint16_t h = (uint16_t)(s[i] >> (inst.op_sel >> i & 1 ? 16 : 0));
            denormal = denormal || ((h & 0x7c00) == 0 && (h & 0x3ff));
            nan = nan || (h & 0x7fff) > 0x7c00;
            single[i] = f32_bits(f16_to_f32(h));
        }
        single[i] = (single[i] & (inst.neg_hi >> i & 1 ? 0x7fffffff : UINT32_MAX)) ^
                    (inst.neg >> i & 1 ? 0x80000000 : 0);
        nan = nan || (single[i] & 0x7fffffff) > 0x7f800000;
    }
    if (nan) /* which conversion quiets */
        return;
    uint32_t want = raised_apart(ISA_OP_v_fma_f32, mode, single);
    if (!(want & EXCEPTION_INVALID))
        want |= denormal ? EXCEPTION_DENORMAL : 0;
    if (op != ISA_OP_v_fma_mix_f32 && !(want & EXCEPTION_INVALID)) {
        static const int rounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
        const int old = fegetround();
        fesetround(rounding[mode & 3]);
        float sum = fmaf(f32_from_bits((uint32_t)single[0]), f32_from_bits((uint32_t)single[1]),
                         f32_from_bits((uint32_t)single[2]));
        __asm__ volatile("" : "+x"(sum));
        fesetround(old);
        const uint64_t bits[3] = {f32_bits(sum)};
        want |= raised_apart(ISA_OP_v_cvt_f16_f32, mode, bits) & ~(uint32_t)EXCEPTION_DENORMAL;
    }
    CHECK_EQ(sem_raised(&inst, mode, s), want);
}

int main(int argc, char **argv)
{
    static const struct {
        uint16_t op32, op64;
    } ops[OPS] = {[ADD] = {ISA_OP_v_add_f32, ISA_OP_v_add_f64},
                  [SUB] = {ISA_OP_v_sub_f32, 0},
                  [MUL] = {ISA_OP_v_mul_f32, ISA_OP_v_mul_f64},
                  [DIV] = {ISA_OP_v_div_fixup_f32, ISA_OP_v_div_fixup_f64},
                  [FMA] = {ISA_OP_v_fma_f32, ISA_OP_v_fma_f64},
                  [SQRT] = {0, ISA_OP_v_sqrt_f64},
                  [MIN] = {ISA_OP_v_min_f32, ISA_OP_v_min_f64},
                  [COMPARE] = {ISA_OP_v_cmp_eq_f32, ISA_OP_v_cmp_eq_f64},
                  [NARROW] = {0, ISA_OP_v_cvt_f32_f64},
                  [WIDEN] = {ISA_OP_v_cvt_f64_f32, 0},
                  [TO_INT] = {ISA_OP_v_cvt_i32_f32, ISA_OP_v_cvt_i32_f64}};
    const int rounds = argc > 1 ? atoi(argv[1]) : 20000;
    __builtin_cpu_init();
    const bool has_fma = __builtin_cpu_supports("fma");
    for (int i = 0; i < rounds && check_failures < 20; i++) {
        /* v_div_fixup takes denormals as they are, and v_sqrt_f32 never does. */
        const uint32_t mode = (uint32_t)random_bits() & (MODE_FLOAT_BITS);
        const uint64_t narrow[3] = {hard(false), hard(false), hard(false)};
        const uint64_t wide[3] = {hard(true), hard(true), hard(true)};
        for (enum host_op op = ADD; op < OPS; op++) {
            const uint32_t with = op == DIV ? mode | 0x50 : mode;
            if (op == FMA && !has_fma)
                continue;
            if (ops[op].op32)
                compare(ops[op].op32, op, false, with, narrow);
            if (ops[op].op64)
                compare(ops[op].op64, op, true, with, wide);
        }
        compare_packed(ISA_OP_v_pk_add_f16, ISA_OP_v_add_f16, true, mode);
        compare_packed(ISA_OP_v_pk_mul_f16, ISA_OP_v_mul_f16, true, mode);
        compare_packed(ISA_OP_v_pk_fma_f16, ISA_OP_v_fma_f16, true, mode);
        compare_packed(ISA_OP_v_pk_min_f16, ISA_OP_v_min_f16, true, mode);
        compare_packed(ISA_OP_v_pk_max_f16, ISA_OP_v_max_f16, true, mode);
        compare_packed(ISA_OP_v_pk_add_f32, ISA_OP_v_add_f32, false, mode);
        compare_packed(ISA_OP_v_pk_mul_f32, ISA_OP_v_mul_f32, false, mode);
        compare_packed(ISA_OP_v_pk_fma_f32, ISA_OP_v_fma_f32, false, mode);
        /* The host's sum keeps denormals. */
        compare_mixed(ISA_OP_v_fma_mix_f32, mode | MODE_DENORM_32);
        compare_mixed(ISA_OP_v_fma_mixlo_f16, mode | MODE_DENORM_32);
        compare_mixed(ISA_OP_v_fma_mixhi_f16, mode | MODE_DENORM_32);
    }
    return check_status();
}
