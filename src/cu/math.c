/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic that the profiler counts an instruction as, from its name:
 * operation and type.  What neither adds, multiplies nor converts (moves,
 * comparisons of floats, minimum, lane operations) is not counted.
 */
#include <stdio.h>
#include <string.h>

#include "cu/cu.h"

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool begins_any(const char *name, const char *const *with)
{
    for (; *with; with++)
        if (begins(name, *with))
            return true;
    return false;
}

static bool ends(const char *name, const char *with)
{
    size_t length = strlen(name), n = strlen(with);
    return length >= n && strcmp(name + length - n, with) == 0;
}

/* "v_mfma_f32_32x32x4_2b_f16": M x N x K, blocks, and the factors' type last. */
static void matrix(const char *name, struct cu_rate *rate)
{
    unsigned m = 0, n = 0, k = 0, blocks = 1;
    const char *shape = strchr(name + strlen("v_mfma_"), '_'); /* after the result's type */
    if (!shape || (begins(name, "v_smfmac_") && !(shape = strchr(name + strlen("v_smfmac_"), '_'))))
        return;
    if (sscanf(shape, "_%ux%ux%u", &m, &n, &k) != 3)
        return;
    const char *block = strstr(shape, "b_"); /* "_4b_", not "_f8_" or "_bf16" */
    if (block && block[-1] >= '0' && block[-1] <= '9') {
        const char *digit = block;
        while (digit[-1] != '_')
            digit--;
        sscanf(digit, "%u", &blocks);
    }
    rate->mops = (uint8_t)(2 * m * n * k * blocks / 512);
    rate->math = ends(name, "_i8")     ? MATH_MFMA_I8
                 : ends(name, "_fp8")  ? MATH_MFMA_F8
                 : ends(name, "_bf8")  ? MATH_MFMA_F8
                 : ends(name, "_bf16") ? MATH_MFMA_BF16
                 : ends(name, "_f16")  ? MATH_MFMA_F16
                 : ends(name, "_f64")  ? MATH_MFMA_F64
                                       : MATH_MFMA_F32; /* f32 and xf32 */
}

/* ADD, MUL, FMA, TRANS of one type stand in this order. */
static int float_operation(const char *op)
{
    static const char *const add[] = {"add_f", "sub_f", "subrev_f", NULL};
    static const char *const multiply[] = {"mul_f", "mul_legacy_f", NULL};
    static const char *const fused[] = {"fma",   "mad_f", "mad_legacy_f", "mad_mix", "mac_f",
                                        "madak", "madmk", "div_fmas",     NULL};
    static const char *const transcendental[] = {"rcp_", "rsq_", "sqrt_", "exp_",
                                                 "log_", "sin_", "cos_",  NULL};
    const char *const *const lists[] = {add, multiply, fused, transcendental};
    for (int i = 0; i < 4; i++)
        if (begins_any(op, lists[i]))
            return i;
    return -1;
}

static bool is_integer(const char *op)
{
    static const char *const operations[] = {
        "add_",  "addc_", "add3_", "sub_",  "subb_", "subrev_", "subbrev_", "mul_", "mad_", "lshl", "lshr",
        "ashr",  "and_",  "or_",   "or3_",  "xor_",  "xad_",    "not_",     "bfe_", "bfi_", "bfm_", "bcnt_",
        "mbcnt", "ffb",   "min_",  "min3_", "max_",  "max3_",   "med3_",    "sad_", "msad", "qsad", "mqsad",
        "cmp_",  "cmpx_", "align", "perm_", "lerp_", "bfrev_",  "dot",      NULL};
    return begins_any(op, operations);
}

void cu_math_of(const char *name, struct cu_rate *rate)
{
    rate->math = MATH_NONE;
    rate->mops = 0;
    if (rate->unit == UNIT_MATRIX) {
        matrix(name, rate);
        return;
    }
    if (rate->unit != UNIT_VALU || !begins(name, "v_"))
        return;
    const char *op = name + (begins(name, "v_pk_") ? 5 : 2);
    if (begins(op, "cvt_")) {
        rate->math = MATH_CVT;
        return;
    }
    bool f16 = ends(name, "_f16"), f32 = ends(name, "_f32"), f64 = ends(name, "_f64");
    if (f16 || f32 || f64) {
        int operation = float_operation(op);
        int type = f16 ? MATH_ADD_F16 : f32 ? MATH_ADD_F32 : MATH_ADD_F64;
        rate->math = (uint8_t)(operation < 0 ? MATH_NONE : type + operation);
    } else if (is_integer(op)) {
        bool wide = ends(name, "64") || begins(op, "mad_u64") || begins(op, "mad_i64");
        rate->math = wide ? MATH_INT64 : MATH_INT32;
    }
}
