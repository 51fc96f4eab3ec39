// SPDX-License-Identifier: MIT
// The functions whose errors are measured: what computes them, the domain, the truth in long double, and
// bounds.
#ifndef EHP_TESTS_NUMERICS_FUNCTIONS_H
#define EHP_TESTS_NUMERICS_FUNCTIONS_H

#include <cmath>

// Where points lie. With `exponents`, low and high are multiples of the type's largest exponent.
struct domain {
    double low, high;
    bool exponents;
};
template <typename T> using kernel_of = void (*)(const T *, const T *, T *);
struct function {
    const char *name;
    domain of, of2;
    long double (*reference)(long double), (*reference2)(long double, long double);
    kernel_of<_Float16> f16;
    kernel_of<float> f32;
    kernel_of<double> f64;
    double bound16, bound32, bound64;
};

constexpr double INF = INFINITY, LN2 = 0.69314718, LG2 = 0.30103;
constexpr domain ALL = {-INF, INF, false}, POSITIVE = {0, INF, false}, UNIT = {-1, 1, false},
                 NOTHING = {0, 1, false};
constexpr long double PI = 3.14159265358979323846264338327950288L;

// ---- the truth ----

// sin(pi x): folded to |x| <= 1/2, which is exact.
static long double ref_sinpi(long double x)
{
    const long double r = remainderl(x, 2);
    return sinl(PI * (fabsl(r) > 0.5L ? copysignl(1, r) - r : r));
}
static long double ref_cospi(long double x)
{
    return ref_sinpi(0.5L - fabsl(remainderl(x, 2)));
}
static long double ref_tanpi(long double x)
{
    return ref_sinpi(x) / ref_cospi(x);
}
// Instructions take turns, and nothing beyond 256.
static long double ref_sin_turns(long double x)
{
    return ref_sinpi(2 * x);
}
static long double ref_cos_turns(long double x)
{
    return ref_cospi(2 * x);
}
static long double ref_rcp(long double x)
{
    return 1 / x;
}
static long double ref_rsqrt(long double x)
{
    return 1 / sqrtl(x);
}
static long double ref_rcbrt(long double x)
{
    return 1 / cbrtl(x);
}
static long double ref_exp10(long double x)
{
    return powl(10, x);
}
static long double ref_asinpi(long double x)
{
    return asinl(x) / PI;
}
static long double ref_acospi(long double x)
{
    return acosl(x) / PI;
}
static long double ref_atanpi(long double x)
{
    return atanl(x) / PI;
}
static long double ref_atan2pi(long double y, long double x)
{
    return atan2l(y, x) / PI;
}
static long double ref_rhypot(long double x, long double y)
{
    return 1 / hypotl(x, y);
}
static long double ref_ncdf(long double x)
{
    return erfcl(-x / sqrtl(2)) / 2;
}
// Newton's iteration on erf, from the bisection of what is monotonous.
static long double ref_erfinv(long double x)
{
    const long double a = fabsl(x);
    if (!(a < 1))
        return a == 1 ? copysignl(INFINITY, x) : NAN;
    long double low = 0, high = 6.5L;
    for (int i = 0; i < 12; i++) {
        const long double mid = (low + high) / 2;
        (erfl(mid) < a ? low : high) = mid;
    }
    long double y = a < 1e-3L ? a * sqrtl(PI) / 2 : (low + high) / 2;
    for (int i = 0; i < 6; i++) {
        const long double off = a < 0.5L ? erfl(y) - a : (1 - a) - erfcl(y);
        y -= off * sqrtl(PI) / 2 * expl(y * y);
    }
    return copysignl(y, x);
}
// The series of the modified Bessel functions: every term is positive.
static long double ref_i0(long double x)
{
    long double sum = 0, term = 1;
    for (int k = 1; term > sum * 1e-21L; k++) {
        sum += term;
        term *= x * x / 4 / k / k;
    }
    return sum;
}
static long double ref_i1(long double x)
{
    long double sum = 0, term = x / 2;
    for (int k = 1; fabsl(term) > fabsl(sum) * 1e-21L; k++) {
        sum += term;
        term *= x * x / 4 / k / (k + 1);
    }
    return sum;
}
static long double ref_erfcx(long double x)
{
    return expl(x * x) * erfcl(x);
}

// ---- instructions ----

#define INSTRUCTION(name, text, T)                                                                           \
    __global__ void i_##name(const T *x, const T *, T *z)                                                    \
    {                                                                                                        \
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        T result;                                                                                            \
        asm("v_" text " %0, %1" : "=v"(result) : "v"(x[i]));                                                 \
        z[i] = result;                                                                                       \
    }
#define INSTRUCTIONS(name)                                                                                   \
    INSTRUCTION(name##_f16, #name "_f16", _Float16)                                                          \
    INSTRUCTION(name##_f32, #name "_f32", float)
INSTRUCTIONS(rcp)
INSTRUCTIONS(rsq)
INSTRUCTIONS(sqrt)
INSTRUCTIONS(exp)
INSTRUCTIONS(log)
INSTRUCTIONS(sin)
INSTRUCTIONS(cos)
INSTRUCTION(rcp_f64, "rcp_f64", double)
INSTRUCTION(rsq_f64, "rsq_f64", double)
INSTRUCTION(sqrt_f64, "sqrt_f64", double)

// The bounds are those of the MI300 ISA's descriptions; it gives none for sines, which are held to 1.
static const function instructions[] = {
    {"v_rcp", ALL, NOTHING, ref_rcp, nullptr, i_rcp_f16, i_rcp_f32, i_rcp_f64, 0.51, 1, 0x1p29},
    {"v_rsq", POSITIVE, NOTHING, ref_rsqrt, nullptr, i_rsq_f16, i_rsq_f32, i_rsq_f64, 0.51, 1, 0x1p29},
    {"v_sqrt", POSITIVE, NOTHING, sqrtl, nullptr, i_sqrt_f16, i_sqrt_f32, i_sqrt_f64, 0.51, 1, 0x1p29},
    {"v_exp", {-1.2, 1.2, true}, NOTHING, exp2l, nullptr, i_exp_f16, i_exp_f32, nullptr, 0.51, 1, 0},
    {"v_log", POSITIVE, NOTHING, log2l, nullptr, i_log_f16, i_log_f32, nullptr, 0.51, 1, 0},
    {"v_sin", {-256, 256, false}, NOTHING, ref_sin_turns, nullptr, i_sin_f16, i_sin_f32, nullptr, 1, 1, 0},
    {"v_cos", {-256, 256, false}, NOTHING, ref_cos_turns, nullptr, i_cos_f16, i_cos_f32, nullptr, 1, 1, 0},
};

// ---- the library ----

// name, domain, truth, bounds of f16, f32, f64: near OpenCL C's of the full profile where it has one,
// else 16. sin of f16 is left out: ROCm 5's library answers NaN for what is finite. So does its i1 of f64
// below -8.
#define LIBRARY_1(X)                                                                                         \
    X(cos, ALL, cosl, 2, 4, 4)                                                                               \
    X(tan, ALL, tanl, 3, 5, 5)                                                                               \
    X(sinpi, ALL, ref_sinpi, 2, 4, 4)                                                                        \
    X(cospi, ALL, ref_cospi, 2, 4, 4)                                                                        \
    X(tanpi, ALL, ref_tanpi, 2, 6, 6)                                                                        \
    X(asin, UNIT, asinl, 2, 4, 4)                                                                            \
    X(acos, UNIT, acosl, 2, 4, 4)                                                                            \
    X(atan, ALL, atanl, 2, 5, 5)                                                                             \
    X(asinpi, UNIT, ref_asinpi, 2, 5, 5)                                                                     \
    X(acospi, UNIT, ref_acospi, 2, 5, 5)                                                                     \
    X(atanpi, ALL, ref_atanpi, 2, 5, 5)                                                                      \
    X(sinh, (domain{-LN2, LN2, true}), sinhl, 2, 4, 4)                                                       \
    X(cosh, (domain{-LN2, LN2, true}), coshl, 3, 4, 4)                                                       \
    X(tanh, (domain{-LN2, LN2, true}), tanhl, 2, 5, 5)                                                       \
    X(asinh, ALL, asinhl, 2, 4, 4)                                                                           \
    X(acosh, (domain{1, INF, false}), acoshl, 2, 4, 4)                                                       \
    X(atanh, UNIT, atanhl, 2, 5, 5)                                                                          \
    X(exp, (domain{-LN2, LN2, true}), expl, 2, 3, 3)                                                         \
    X(exp2, (domain{-1, 1, true}), exp2l, 2, 3, 3)                                                           \
    X(exp10, (domain{-LG2, LG2, true}), ref_exp10, 2, 3, 3)                                                  \
    X(expm1, (domain{-LN2, LN2, true}), expm1l, 2, 3, 3)                                                     \
    X(log, POSITIVE, logl, 2, 3, 3)                                                                          \
    X(log2, POSITIVE, log2l, 2, 3, 3)                                                                        \
    X(log10, POSITIVE, log10l, 2, 3, 3)                                                                      \
    X(log1p, (domain{-1, INF, false}), log1pl, 2, 2, 2)                                                      \
    X(sqrt, POSITIVE, sqrtl, 0.5, 0.5, 0.5)                                                                  \
    X(rsqrt, POSITIVE, ref_rsqrt, 1, 2, 2)                                                                   \
    X(cbrt, ALL, cbrtl, 2, 2, 2)                                                                             \
    X(rcbrt, ALL, ref_rcbrt, 2, 2, 2)                                                                        \
    X(erf, (domain{-6, 6, false}), erfl, 4, 16, 16)                                                          \
    X(erfc, (domain{-6, 26, false}), erfcl, 4, 16, 16)                                                       \
    X(erfcx, (domain{-2, 26, false}), ref_erfcx, 4, 16, 16)                                                  \
    X(erfinv, UNIT, ref_erfinv, 4, 16, 16)                                                                   \
    X(ncdf, (domain{-8, 8, false}), ref_ncdf, 4, 16, 16)                                                     \
    X(tgamma, (domain{0.01, 170, false}), tgammal, 4, 16, 16)                                                \
    X(lgamma, (domain{2.5, 1e6, false}), lgammal, 4, 16, 16)                                                 \
    X(i0, (domain{-60, 60, false}), ref_i0, 4, 16, 16)                                                       \
    X(i1, (domain{0, 60, false}), ref_i1, 4, 16, 16)                                                         \
    X(j0, (domain{-2, 2, false}), j0l, 4, 16, 16)                                                            \
    X(j1, (domain{-2, 2, false}), j1l, 4, 16, 16)                                                            \
    X(y0, (domain{1, 3.5, false}), y0l, 4, 16, 16)                                                           \
    X(y1, (domain{0.01, 2, false}), y1l, 4, 16, 16)                                                          \
    X(floor, ALL, floorl, 0, 0, 0)                                                                           \
    X(ceil, ALL, ceill, 0, 0, 0)                                                                             \
    X(trunc, ALL, truncl, 0, 0, 0)                                                                           \
    X(round, ALL, roundl, 0, 0, 0)                                                                           \
    X(rint, ALL, rintl, 0, 0, 0)
#define LIBRARY_2(X)                                                                                         \
    X(pow, (domain{0, 50, false}), (domain{-20, 20, false}), powl, 4, 16, 16)                                \
    X(atan2, ALL, ALL, atan2l, 3, 6, 6)                                                                      \
    X(atan2pi, ALL, ALL, ref_atan2pi, 3, 6, 6)                                                               \
    X(hypot, ALL, ALL, hypotl, 2, 4, 4)                                                                      \
    X(rhypot, (domain{-1e4, 1e4, false}), (domain{-1e4, 1e4, false}), ref_rhypot, 2, 4, 4)                   \
    X(fmod, ALL, ALL, fmodl, 0, 0, 0)                                                                        \
    X(remainder, ALL, ALL, remainderl, 0, 0, 0)

#define KERNEL_1(name, T, type)                                                                              \
    extern "C" __device__ T __ocml_##name##_##type(T);                                                       \
    __global__ void l_##name##_##type(const T *x, const T *, T *z)                                           \
    {                                                                                                        \
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        z[i] = __ocml_##name##_##type(x[i]);                                                                 \
    }
#define KERNEL_2(name, T, type)                                                                              \
    extern "C" __device__ T __ocml_##name##_##type(T, T);                                                    \
    __global__ void l_##name##_##type(const T *x, const T *y, T *z)                                          \
    {                                                                                                        \
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        z[i] = __ocml_##name##_##type(x[i], y[i]);                                                           \
    }
#define KERNELS_1(name, ...)                                                                                 \
    KERNEL_1(name, _Float16, f16) KERNEL_1(name, float, f32) KERNEL_1(name, double, f64)
#define KERNELS_2(name, ...)                                                                                 \
    KERNEL_2(name, _Float16, f16) KERNEL_2(name, float, f32) KERNEL_2(name, double, f64)
KERNEL_1(sin, float, f32)
KERNEL_1(sin, double, f64)
LIBRARY_1(KERNELS_1)
LIBRARY_2(KERNELS_2)

#define ROW_1(name, of, truth, b16, b32, b64)                                                                \
    {#name, of, NOTHING, truth, nullptr, l_##name##_f16, l_##name##_f32, l_##name##_f64, b16, b32, b64},
#define ROW_2(name, of, of2, truth, b16, b32, b64)                                                           \
    {#name, of, of2, nullptr, truth, l_##name##_f16, l_##name##_f32, l_##name##_f64, b16, b32, b64},
static const function library[] = {
    {"sin", ALL, NOTHING, sinl, nullptr, nullptr, l_sin_f32, l_sin_f64, 2, 4, 4},
    LIBRARY_1(ROW_1) LIBRARY_2(ROW_2)};

#endif
