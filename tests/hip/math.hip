// SPDX-License-Identifier: MIT
// Math functions in float and double against the host's libm in a wider type, by the bounds HIP documents.
#include "check_hip.h"

// One row for each function: name, argument range, largest error in units of the last place.
#define FUNCTIONS_1(X)                                                                                       \
    X(sin, -20, 20, 2)                                                                                       \
    X(cos, -20, 20, 2)                                                                                       \
    X(tan, -1.5, 1.5, 4)                                                                                     \
    X(asin, -1, 1, 4)                                                                                        \
    X(acos, -1, 1, 4)                                                                                        \
    X(atan, -50, 50, 4)                                                                                      \
    X(sinh, -5, 5, 4)                                                                                        \
    X(cosh, -5, 5, 4)                                                                                        \
    X(tanh, -5, 5, 4)                                                                                        \
    X(asinh, -50, 50, 4)                                                                                     \
    X(acosh, 1, 50, 4)                                                                                       \
    X(atanh, -0.99, 0.99, 4)                                                                                 \
    X(exp, -20, 20, 2)                                                                                       \
    X(exp2, -20, 20, 2)                                                                                      \
    X(expm1, -5, 5, 2)                                                                                       \
    X(log, 0.01, 100, 2)                                                                                     \
    X(log2, 0.01, 100, 2)                                                                                    \
    X(log10, 0.01, 100, 3)                                                                                   \
    X(log1p, -0.9, 10, 2)                                                                                    \
    X(sqrt, 0, 100, 1)                                                                                       \
    X(cbrt, -100, 100, 2)                                                                                    \
    X(erf, -3, 3, 6)                                                                                         \
    X(erfc, -3, 3, 8)                                                                                        \
    X(tgamma, 0.5, 10, 12)                                                                                   \
    X(lgamma, 3, 20, 6)                                                                                      \
    X(floor, -10, 10, 0)                                                                                     \
    X(ceil, -10, 10, 0)                                                                                      \
    X(trunc, -10, 10, 0)                                                                                     \
    X(round, -10, 10, 0)                                                                                     \
    X(rint, -10, 10, 0)                                                                                      \
    X(nearbyint, -10, 10, 0)                                                                                 \
    X(fabs, -10, 10, 0)                                                                                      \
    X(logb, 0.01, 100, 0)
#define FUNCTIONS_2(X)                                                                                       \
    X(pow, 0.1, 10, 2)                                                                                       \
    X(atan2, -5, 5, 4)                                                                                       \
    X(hypot, -10, 10, 2)                                                                                     \
    X(fmod, -10, 10, 0)                                                                                      \
    X(remainder, -10, 10, 0)                                                                                 \
    X(fdim, -10, 10, 0)                                                                                      \
    X(fmax, -10, 10, 0)                                                                                      \
    X(fmin, -10, 10, 0)                                                                                      \
    X(copysign, -10, 10, 0)                                                                                  \
    X(nextafter, -10, 10, 0)

enum { N = 512 };

#define KERNEL_1(name, low, high, ulps)                                                                      \
    __global__ void k_##name(const float *xf, float *of, const double *xd, double *od)                       \
    {                                                                                                        \
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        of[i] = name##f(xf[i]);                                                                              \
        od[i] = name(xd[i]);                                                                                 \
    }
#define KERNEL_2(name, low, high, ulps)                                                                      \
    __global__ void k_##name(const float *xf, float *of, const double *xd, double *od)                       \
    {                                                                                                        \
        const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        of[i] = name##f(xf[i], xf[N - 1 - i]);                                                               \
        od[i] = name(xd[i], xd[N - 1 - i]);                                                                  \
    }
FUNCTIONS_1(KERNEL_1)
FUNCTIONS_2(KERNEL_2)

// The distance between got and want in units of want's last place.
template <typename T> static double ulps_apart(T got, long double want)
{
    if (std::isnan(got) || std::isnan(want))
        return std::isnan(got) == std::isnan(want) ? 0 : INFINITY;
    if (static_cast<long double>(got) == want)
        return 0;
    const T nearest = static_cast<T>(want);
    if (got == nearest)
        return 0.5;
    int exponent;
    std::frexp(static_cast<long double>(want), &exponent);
    const int digits = sizeof(T) == 4 ? 24 : 53, least = sizeof(T) == 4 ? -148 : -1073;
    const int unit = exponent - digits < least ? least : exponent - digits;
    return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / std::ldexp(1.0L, unit));
}

typedef void (*kernel)(const float *, float *, const double *, double *);
static void run(const char *name, kernel k, double low, double high, double ulps, bool two,
                long double (*reference)(long double, long double), float (*exact_f)(float, float),
                double (*exact_d)(double, double))
{
    buffer<float> xf(N), of(N);
    buffer<double> xd(N), od(N);
    random_bits random;
    for (size_t i = 0; i < N; i++) {
        xd[i] = low + (high - low) * static_cast<double>(random.next() >> 11) / 9007199254740992.0;
        xf[i] = static_cast<float>(xd[i]);
        if (xf[i] < low || xf[i] > high)
            xf[i] = static_cast<float>((low + high) / 2);
    }
    xf.up();
    xd.up();
    k<<<N / 128, 128>>>(xf.get(), of.get(), xd.get(), od.get());
    of.down();
    od.down();
    for (size_t i = 0; i < N; i++) {
        const size_t j = two ? N - 1 - i : i;
        if (ulps == 0) {
            CHECK(of[i] == exact_f(xf[i], xf[j]), "%sf(%a) is %a", name, xf[i], of[i]);
            CHECK(od[i] == exact_d(xd[i], xd[j]), "%s(%a) is %a", name, xd[i], od[i]);
            continue;
        }
        const double ef = ulps_apart(of[i], reference(xf[i], xf[j])),
                     ed = ulps_apart(od[i], reference(xd[i], xd[j]));
        CHECK(ef <= ulps, "%sf(%a) is %a, off by %.2f", name, xf[i], of[i], ef);
        CHECK(ed <= ulps, "%s(%a) is %a, off by %.2f", name, xd[i], od[i], ed);
    }
}

#define RUN_1(name, low, high, ulps)                                                                         \
    run(                                                                                                     \
        #name, k_##name, low, high, ulps, false, [](long double x, long double) { return std::name(x); },    \
        [](float x, float) { return std::name(x); }, [](double x, double) { return std::name(x); });
#define RUN_2(name, low, high, ulps)                                                                         \
    run(                                                                                                     \
        #name, k_##name, low, high, ulps, true,                                                              \
        [](long double x, long double y) { return std::name(x, y); },                                        \
        [](float x, float y) { return std::name(x, y); },                                                    \
        [](double x, double y) { return std::name(x, y); });

// Functions with no counterpart in libm, by identities.
__global__ void others(float *o, double *d)
{
    o[0] = rsqrtf(16.0f);
    o[1] = norm3df(2.0f, 3.0f, 6.0f);
    o[2] = rnorm3df(2.0f, 3.0f, 6.0f);
    o[3] = norm4df(1.0f, 1.0f, 1.0f, 1.0f);
    o[4] = erfcinvf(1.0f);
    o[5] = erfinvf(0.5f);
    o[6] = exp10f(2.0f);
    o[7] = cospif(0.5f);
    o[8] = sinpif(0.5f);
    o[9] = j0f(0.0f);
    o[10] = j1f(0.0f);
    o[11] = rcbrtf(8.0f);
    o[12] = normcdff(0.0f);
    o[13] = __fdividef(6.0f, 3.0f);
    o[14] = __frcp_rn(4.0f);
    o[15] = __fadd_rn(1.0f, 0x1p-24f);
    o[16] = __saturatef(1.5f);
    o[17] = __expf(0.0f);
    o[18] = __log2f(8.0f);
    o[19] = __powf(2.0f, 3.0f);
    float s, c;
    sincosf(0.5f, &s, &c);
    o[20] = s * s + c * c;
    sincospif(0.25f, &s, &c);
    o[21] = s - c;
    int e;
    o[22] = frexpf(12.0f, &e);
    o[23] = static_cast<float>(e);
    float whole;
    o[24] = modff(3.75f, &whole);
    o[25] = whole;
    int q;
    o[26] = remquof(7.0f, 2.0f, &q);
    o[27] = static_cast<float>(q);
    o[28] = ldexpf(3.0f, 4);
    o[29] = scalbnf(3.0f, -1);
    o[30] = fmaf(2.0f, 3.0f, 4.0f);
    o[31] = static_cast<float>(ilogbf(100.0f));
    o[32] = static_cast<float>(lrintf(2.5f) + llroundf(2.5f));
    o[33] = static_cast<float>(isnan(nanf("")) + isinf(-INFINITY) + signbit(-0.0f) + isfinite(1.0f));
    o[34] = static_cast<float>(max(3, 7) + min(3, 7)) + max(2.5f, 1.5f);
    d[0] = rsqrt(16.0);
    d[1] = norm3d(2.0, 3.0, 6.0);
    d[2] = erfinv(0.5);
    d[3] = exp10(2.0);
    d[4] = cyl_bessel_i0(0.0);
    d[5] = std::abs(-2.0) + std::pow(2.0, 0.5) * std::sqrt(2.0);
    d[6] = y0(1.0);
    d[7] = jn(2, 1.0);
}

// Directed rounding against the exact sums of doubles and the neighbours of floats.
__global__ void directed(const float *x, float *o, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float a = x[i], b = x[n - 1 - i];
    float *r = o + 12 * i;
    r[0] = __fadd_rd(a, b);
    r[1] = __fadd_ru(a, b);
    r[2] = __fadd_rz(a, b);
    r[3] = __fmul_rd(a, b);
    r[4] = __fmul_ru(a, b);
    r[5] = __fmul_rz(a, b);
    r[6] = __fdiv_rd(a, b);
    r[7] = __fdiv_ru(a, b);
    r[8] = __fdiv_rz(a, b);
    r[9] = __fsqrt_rd(fabsf(a));
    r[10] = __fsqrt_ru(fabsf(a));
    r[11] = __fsqrt_rz(fabsf(a));
}
static float toward(long double exact, int direction)
{
    float f = static_cast<float>(exact);
    if (direction == 0)
        direction = exact < 0 ? 1 : -1;
    if (direction < 0 && f > exact)
        f = std::nextafterf(f, -INFINITY);
    if (direction > 0 && f < exact)
        f = std::nextafterf(f, INFINITY);
    return f;
}
static void run_directed()
{
    const unsigned n = 256;
    buffer<float> x(n), o(12 * n);
    random_bits random;
    for (unsigned i = 0; i < n; i++)
        x[i] = static_cast<float>(static_cast<int>(random.next() >> 40)) *
               (random.next() & 1 ? 0x1p-10f : -0x1p-20f);
    x.up();
    directed<<<n / 64, 64>>>(x.get(), o.get(), n);
    o.down();
    const int directions[3] = {-1, 1, 0};
    for (unsigned i = 0; i < n; i++) {
        // long double holds sums and products of these exactly, and quotients and roots finely enough to
        // compare
        const long double a = x[i], b = x[n - 1 - i];
        const long double exact[4] = {a + b, a * b, a / b, std::sqrt(std::fabs(a))};
        for (unsigned j = 0; j < 12; j++)
            CHECK(o[12 * i + j] == toward(exact[j / 3], directions[j % 3]),
                  "operation %u of %a and %a gave %a", j, x[i], x[n - 1 - i], o[12 * i + j]);
    }
}

int main()
{
    FUNCTIONS_1(RUN_1)
    FUNCTIONS_2(RUN_2)
    buffer<float> o(35);
    buffer<double> d(8);
    others<<<1, 1>>>(o.get(), d.get());
    o.down();
    d.down();
    const float want[35] = {0.25f, 7, 1 / 7.0f, 2, 0,  0.47693628f, 100, 0, 1, 1, 0,     0.5f,
                            0.5f,  2, 0.25f,    1, 1,  1,           3,   8, 1, 0, 0.75f, 4,
                            0.75f, 3, -1,       4, 48, 1.5f,        10,  6, 5, 4, 12.5f};
    for (size_t i = 0; i < 35; i++)
        CHECK(std::fabs(o[i] - want[i]) <= 4e-7f * std::fmax(1.0f, std::fabs(want[i])), "o[%zu] is %.9g", i,
              o[i]);
    const double want_d[8] = {0.25, 7, 0.47693627620446987,  100,
                              1,    4, 0.088256964215676956, 0.11490348493190048};
    for (size_t i = 0; i < 8; i++)
        CHECK(std::fabs(d[i] - want_d[i]) <= 1e-14 * std::fmax(1.0, std::fabs(want_d[i])), "d[%zu] is %.17g",
              i, d[i]);
    run_directed();
    return check_done();
}
