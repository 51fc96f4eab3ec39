// SPDX-License-Identifier: MIT
// __half, __hip_bfloat16 and hip_bfloat16 on the device. The oracle knows only the formats: it rounds an
// exact result in long double to the nearest of the format's values, ties to even.
#include "check_hip.h"
#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <type_traits>

// Template libraries move them bit by bit, through registers and LDS, which only trivial types allow.
template <typename T>
constexpr bool plain =
    std::is_trivially_copyable<T>::value && std::is_trivially_default_constructible<T>::value;
static_assert(plain<__half> && plain<__half2> && plain<__hip_bfloat16> && plain<__hip_bfloat162> &&
                  plain<hip_bfloat16>,
              "the 16-bit types are trivial");

// The value of x in a format of `digits` significant bits and smallest exponent `least`; `largest` is its
// end.
static long double quantise(long double x, int digits, int least, long double largest)
{
    if (x == 0 || std::isnan(x) || std::isinf(x))
        return x;
    int exponent;
    std::frexp(x, &exponent);
    const int unit = exponent - digits < least ? least : exponent - digits;
    const long double q = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
    return std::fabs(q) > largest ? std::copysign(static_cast<long double>(INFINITY), q) : q;
}
static float to_half(long double x)
{
    return static_cast<float>(quantise(x, 11, -24, 65504));
}
static float to_bfloat(long double x)
{
    return static_cast<float>(quantise(x, 8, -133, 0x1.fep127L));
}
static bool same(float a, float b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

enum { OPERATIONS = 24 };
template <typename T> struct pair_of;
template <> struct pair_of<__half> {
    typedef __half2 type;
};
template <> struct pair_of<__hip_bfloat16> {
    typedef __hip_bfloat162 type;
};

template <typename T> __global__ void operations(const float *x, float *o, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const float fa = x[i], fb = x[(i * 7 + 3) % n], fc = x[(i * 13 + 5) % n];
    const T a(fa), b(fb), c(fc);
    float *r = o + OPERATIONS * i;
    r[0] = static_cast<float>(a);
    r[1] = static_cast<float>(a + b);
    r[2] = static_cast<float>(a - b);
    r[3] = static_cast<float>(a * b);
    r[4] = static_cast<float>(a / b);
    r[5] = static_cast<float>(__hfma(a, b, c));
    r[6] = static_cast<float>(-a);
    r[7] = static_cast<float>(__habs(a));
    r[8] = static_cast<float>(__hmax(a, b));
    r[9] = static_cast<float>(__hmin(a, b));
    r[10] = (a < b) + 2 * (a == b) + 4 * (a >= c) + 8 * __hltu(a, b) + 16 * __hequ(a, a);
    r[11] = static_cast<float>(hfloor(a));
    r[12] = static_cast<float>(hceil(a));
    r[13] = static_cast<float>(hrint(a));
    r[14] = static_cast<float>(htrunc(a));
    r[15] = static_cast<float>(hsqrt(__habs(a)));
    r[16] = static_cast<float>(__hadd_sat(a, b));
    const typename pair_of<T>::type p(a, b), q(b, c);
    const typename pair_of<T>::type sum = p + q, fma = __hfma2(p, q, p);
    r[17] = static_cast<float>(sum.x);
    r[18] = static_cast<float>(sum.y);
    r[19] = static_cast<float>(fma.y);
    r[20] = static_cast<float>(__shfl_xor(a, 1));
    r[21] = static_cast<float>(__shfl(p, 5).y);
    r[22] = static_cast<float>(static_cast<int>(a));
    r[23] = static_cast<float>(hexp(T(fa / 64)));
}

template <typename T> static void run(const char *name, float (*to)(long double), float ulp)
{
    const unsigned n = 256;
    buffer<float> x(n), o(n * OPERATIONS);
    random_bits random;
    for (unsigned i = 0; i < n; i++)
        x[i] = std::ldexp(static_cast<float>(static_cast<int>(random.next() >> 40) - (1 << 23)), -23) *
               std::ldexp(1.0f, static_cast<int>(random.next() % 12) - 4);
    x[1] = 0;
    x[2] = x[9] = 1;
    x.up();
    operations<T><<<n / 64, 64>>>(x.get(), o.get(), n);
    o.down();
    for (unsigned i = 0; i < n; i++) {
        auto in = [&](unsigned k) { return static_cast<long double>(to(x[k])); };
        const long double a = in(i), b = in((i * 7 + 3) % n), c = in((i * 13 + 5) % n);
        const unsigned lane5 = (i & ~63u) + 5;
        const long double clamped = a + b < 0 ? 0 : a + b > 1 ? 1 : a + b;
        const float want[OPERATIONS] = {
            static_cast<float>(a),
            to(a + b),
            to(a - b),
            to(a * b),
            to(a / b),
            to(a * b + c),
            static_cast<float>(-a),
            static_cast<float>(std::fabs(a)),
            static_cast<float>(std::fmax(a, b)),
            static_cast<float>(std::fmin(a, b)),
            static_cast<float>((a < b) + 2 * (a == b) + 4 * (a >= c) + 8 * (a < b) + 16),
            to(std::floor(a)),
            to(std::ceil(a)),
            to(std::nearbyint(a)),
            to(std::trunc(a)),
            to(std::sqrt(std::fabs(a))),
            to(clamped),
            to(a + b),
            to(b + c),
            to(b * c + b),
            static_cast<float>(in(i ^ 1)),
            static_cast<float>(in((lane5 * 7 + 3) % n)),
            static_cast<float>(static_cast<int>(a)),
            0,
        };
        for (unsigned k = 0; k < OPERATIONS - 1; k++)
            CHECK(same(o[i * OPERATIONS + k], want[k]), "%s operation %u of %g %g %g gave %a, not %a", name,
                  k, static_cast<double>(a), static_cast<double>(b), static_cast<double>(c),
                  o[i * OPERATIONS + k], want[k]);
        const float e = static_cast<float>(std::exp(static_cast<long double>(to(x[i] / 64))));
        CHECK(std::fabs(o[i * OPERATIONS + 23] - e) <= e * ulp, "%s exp(%g) gave %g", name, x[i] / 64,
              o[i * OPERATIONS + 23]);
    }
}

struct conversions {
    float f;
    double d;
    unsigned short half[4], bfloat[4], from_double[2], integer[2];
    float back;
    int whole[4];
    hip_bfloat16 old;
    float mixed;
};
__global__ void convert(conversions *all)
{
    conversions &c = all[blockIdx.x * blockDim.x + threadIdx.x];
    c.half[0] = __half_as_ushort(__float2half_rn(c.f));
    c.half[1] = __half_as_ushort(__float2half_rd(c.f));
    c.half[2] = __half_as_ushort(__float2half_ru(c.f));
    c.half[3] = __half_as_ushort(__float2half_rz(c.f));
    c.bfloat[0] = __bfloat16_as_ushort(__float2bfloat16_rn(c.f));
    c.bfloat[1] = __bfloat16_as_ushort(__float2bfloat16_rd(c.f));
    c.bfloat[2] = __bfloat16_as_ushort(__float2bfloat16_ru(c.f));
    c.bfloat[3] = __bfloat16_as_ushort(__float2bfloat16_rz(c.f));
    c.from_double[0] = __half_as_ushort(__double2half(c.d));
    c.from_double[1] = __bfloat16_as_ushort(__double2bfloat16(c.d));
    c.integer[0] = __half_as_ushort(__int2half_rn(static_cast<int>(c.f * 64)));
    c.integer[1] = __half_as_ushort(__ll2half_rz(static_cast<long long>(c.f * 64)));
    c.back = __half2float(__ushort_as_half(c.half[0]));
    const __half h = __float2half(c.f);
    c.whole[0] = __half2int_rn(h);
    c.whole[1] = __half2int_rd(h);
    c.whole[2] = __half2int_ru(h);
    c.whole[3] = __half2int_rz(h);
    c.old = hip_bfloat16(c.f);
    c.old += c.old;
    const __half2 p = __floats2half2_rn(c.f, 2.0f), q = __floats2half2_rn(0.5f, 0.25f);
    c.mixed = amd_mixed_dot(p, q, 1.0f, false);
}
// The neighbours of x in a 16-bit format with `mantissa` bits below the exponent, by walking its codes.
static float value_of(unsigned code, bool bfloat)
{
    if (bfloat) {
        const unsigned bits = code << 16;
        float f;
        std::memcpy(&f, &bits, 4);
        return f;
    }
    const int exponent = static_cast<int>(code >> 10 & 31), m = static_cast<int>(code & 1023);
    const float magnitude = exponent == 31 ? (m ? NAN : INFINITY)
                                           : std::ldexp(static_cast<float>(exponent ? m + 1024 : m),
                                                        (exponent ? exponent : 1) - 25);
    return code & 0x8000 ? -magnitude : magnitude;
}
static unsigned directed_code(double x, bool bfloat, int direction)
{
    const unsigned sign = std::signbit(x) ? 0x8000 : 0, infinity = bfloat ? 0x7f80 : 0x7c00;
    const double m = std::fabs(x);
    unsigned low = 0, high = infinity; // the largest code not above m
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        (value_of(middle, bfloat) <= m ? low : high) = middle;
    }
    const bool away = direction == 0 ? false : (direction > 0) != (sign != 0);
    return sign | (value_of(low, bfloat) == m || !away ? low : high);
}
static void run_conversions()
{
    const unsigned n = 256;
    buffer<conversions> all(n);
    random_bits random;
    for (conversions &c : all.host) {
        c = conversions();
        c.f = std::ldexp(static_cast<float>(static_cast<int>(random.next())),
                         static_cast<int>(random.next() % 44) - 58);
        // on a tie of half, but for a little that float would lose
        c.d = 1 + 0x1p-11 + (random.next() & 1 ? 0x1p-40 : -0x1p-40);
    }
    all[0].f = 1e6f;
    all[1].f = -1e6f;
    all.up();
    convert<<<n / 64, 64>>>(all.get());
    all.down();
    for (const conversions &c : all.host) {
        CHECK(value_of(c.half[0], false) == to_half(c.f), "half(%a) is %x", c.f, c.half[0]);
        CHECK(value_of(c.bfloat[0], true) == to_bfloat(c.f), "bfloat(%a) is %x", c.f, c.bfloat[0]);
        const int directions[3] = {-1, 1, 0};
        for (int k = 0; k < 3; k++) {
            CHECK(c.half[k + 1] == directed_code(c.f, false, directions[k]), "half(%a, %d) is %x", c.f,
                  directions[k], c.half[k + 1]);
            CHECK(c.bfloat[k + 1] == directed_code(c.f, true, directions[k]), "bfloat(%a, %d) is %x", c.f,
                  directions[k], c.bfloat[k + 1]);
        }
        CHECK(value_of(c.from_double[0], false) == to_half(c.d), "half(%a) is %x", c.d, c.from_double[0]);
        CHECK(value_of(c.from_double[1], true) == to_bfloat(c.d), "bfloat(%a) is %x", c.d, c.from_double[1]);
        if (std::fabs(c.f) < 1e5f) {
            const int i = static_cast<int>(c.f * 64);
            CHECK(value_of(c.integer[0], false) == to_half(i), "half(%d) is %x", i, c.integer[0]);
            CHECK(c.integer[1] == directed_code(i, false, 0), "half(%d) is %x", i, c.integer[1]);
        }
        const float h = to_half(c.f);
        CHECK(c.back == h, "%a came back as %a", h, c.back);
        if (std::fabs(h) < 60000)
            CHECK(c.whole[0] == static_cast<int>(std::nearbyint(h)) &&
                      c.whole[1] == static_cast<int>(std::floor(h)) &&
                      c.whole[2] == static_cast<int>(std::ceil(h)) && c.whole[3] == static_cast<int>(h),
                  "%a became %d %d %d %d", h, c.whole[0], c.whole[1], c.whole[2], c.whole[3]);
        CHECK(static_cast<float>(c.old) == 2 * to_bfloat(c.f), "twice %a is %a", c.f,
              static_cast<float>(c.old));
        if (std::fabs(h) < 60000)
            CHECK(std::fabs(c.mixed - (h * 0.5f + 1.5f)) <= 1e-6f * std::fmax(1.0f, std::fabs(h)),
                  "%a gave %a", h, c.mixed);
    }
}

// Packed atomics: every lane adds to the same pair.
__global__ void add_pairs(__half2 *h, __hip_bfloat162 *b)
{
    unsafeAtomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
    unsafeAtomicAdd(b, __floats2bfloat162_rn(1.0f, 2.0f));
}

int main()
{
    run<__half>("half", to_half, 0x1p-10f);
    run<__hip_bfloat16>("bfloat16", to_bfloat, 0x1p-7f);
    run_conversions();
    buffer<__half2> h(1);
    buffer<__hip_bfloat162> b(1);
    h[0] = __floats2half2_rn(0, 0);
    b[0] = __floats2bfloat162_rn(0, 0);
    h.up();
    b.up();
    add_pairs<<<2, 64>>>(h.get(), b.get());
    h.down();
    b.down();
    CHECK(__low2float(h[0]) == 128 && __high2float(h[0]) == 256, "%g %g", __low2float(h[0]),
          __high2float(h[0]));
    CHECK(__low2float(b[0]) == 128 && __high2float(b[0]) == 256, "%g %g", __low2float(b[0]),
          __high2float(b[0]));
    return check_done();
}
