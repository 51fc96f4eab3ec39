// SPDX-License-Identifier: MIT
// Measures the errors of the transcendental instructions and of the math library against long double, in
// units of the last place, and holds division and square roots to correct rounding. Prints a line for each:
//   instruction|library NAME TYPE LARGEST-ERROR BOUND ARGUMENT, or rounded NAME TYPE COUNT WRONG
// Points are numbered: the first n of a longer run are those of a shorter one.
#include "../hip/check_hip.h"

#include "functions.h"

template <typename T> struct format;
template <> struct format<_Float16> {
    using bits = uint16_t;
    enum { DIGITS = 11, EMIN = -14, EMAX = 15 };
    static constexpr const char *name = "f16";
};
template <> struct format<float> {
    using bits = uint32_t;
    enum { DIGITS = 24, EMIN = -126, EMAX = 127 };
    static constexpr const char *name = "f32";
};
template <> struct format<double> {
    using bits = uint64_t;
    enum { DIGITS = 53, EMIN = -1022, EMAX = 1023 };
    static constexpr const char *name = "f64";
};

static uint64_t mix(uint64_t z)
{
    z = (z + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

template <typename T> static T of_bits(uint64_t bits)
{
    const typename format<T>::bits b = static_cast<typename format<T>::bits>(bits);
    T x;
    memcpy(&x, &b, sizeof x);
    return x;
}

// A point of the domain: half of them evenly spread, half of every magnitude; of f16 all that there are.
template <typename T> static T point(domain d, uint64_t i, unsigned salt)
{
    const uint64_t h = mix(i * 4 + salt), g = mix(h);
    const double scale = d.exponents ? format<T>::EMAX + format<T>::DIGITS : 1;
    const double low = d.low * scale, high = d.high * scale;
    T x = of_bits<T>(sizeof(T) == 2 && salt == 0 ? i : h);
    const double value = static_cast<double>(x);
    if (value >= low && value <= high && (sizeof(T) == 2 || g & 1 || std::isinf(high)))
        return x;
    const double u = static_cast<double>(h >> 11) * 0x1p-53;
    if (std::isinf(high)) // the other sign, or too small
        return -value >= low && -value <= high ? -x : static_cast<T>(low + u);
    if (g & 1) {
        const double small = high * ldexp(0.5 + u / 2, -static_cast<int>(g >> 8 & 31));
        const double either = g & 2 && low < 0 ? -small : small;
        if (either >= low)
            return static_cast<T>(either);
    }
    return static_cast<T>(low + (high - low) * u);
}

// |got - want| in units of want's last place.
template <typename T> static double error_of(T got, long double want)
{
    using F = format<T>;
    const long double largest = ldexpl(2.0L - ldexpl(1.0L, -F::DIGITS), F::EMAX); // rounds to infinity
    const bool nan = got != got;
    if (nan || std::isnan(want))
        return nan && std::isnan(want) ? 0 : INFINITY;
    long double g = static_cast<long double>(got);
    if (fabsl(want) >= largest)
        want = copysignl(ldexpl(1.0L, F::EMAX + 1), want);
    if (std::isinf(g))
        g = copysignl(ldexpl(1.0L, F::EMAX + 1), g);
    if (g == want)
        return 0;
    int e = want == 0 ? F::EMIN : ilogbl(want);
    e = e < F::EMIN ? F::EMIN : e > F::EMAX ? F::EMAX : e;
    return static_cast<double>(fabsl(g - want) / ldexpl(1.0L, e - F::DIGITS + 1));
}

// The f32 instructions neither take nor give denormals.
template <typename T> static bool flushed(T x, T got, long double want)
{
    const long double smallest = ldexpl(1.0L, format<T>::EMIN);
    return sizeof(T) == 4 && ((x != 0 && fabsl(static_cast<long double>(x)) < smallest) ||
                              (want != 0 && fabsl(want) < smallest && got == 0));
}

template <typename T> struct buffers {
    T *x, *y, *z;
};
constexpr unsigned CHUNK = 1 << 16;

template <typename T>
static void measure(const char *kind, const function &f, kernel_of<T> kernel, double bound,
                    const buffers<T> &b, unsigned points)
{
    if (!kernel)
        return;
    const bool instruction = kind[0] == 'i';
    if (sizeof(T) == 2 && !f.reference2)
        points = 65536;
    double worst = 0;
    T at = 0, at2 = 0;
    for (unsigned done = 0; done < points; done += CHUNK) {
        const unsigned n = points - done < CHUNK ? points - done : CHUNK;
        for (unsigned i = 0; i < CHUNK; i++) { // beyond n, the first again
            b.x[i] = point<T>(f.of, done + i % n, 0);
            b.y[i] = point<T>(f.of2, done + i % n, 1);
        }
        kernel<<<(n + 255) / 256, 256>>>(b.x, b.y, b.z);
        HIP_OK(hipDeviceSynchronize());
        for (unsigned i = 0; i < n; i++) {
            const long double x = static_cast<long double>(b.x[i]), y = static_cast<long double>(b.y[i]);
            const long double want = f.reference2 ? f.reference2(x, y) : f.reference(x);
            if (instruction && flushed(b.x[i], b.z[i], want))
                continue;
            const double error = error_of(b.z[i], want);
            if (error > worst) {
                worst = error;
                at = b.x[i];
                at2 = b.y[i];
            }
        }
    }
    printf("%s %s %s %.3f %.10g %a", kind, f.name, format<T>::name, worst, bound, static_cast<double>(at));
    printf(f.reference2 ? " %a\n" : "\n", static_cast<double>(at2));
    CHECK(worst <= bound, "%s %s", f.name, format<T>::name);
}

// What IEEE 754 rounds correctly: any bits, to the last bit.
template <typename T>
static void exact(const char *name, void (*kernel)(const T *, const T *, T *), T (*reference)(T, T),
                  const buffers<T> &b, unsigned points)
{
    unsigned wrong = 0;
    for (unsigned done = 0; done < points; done += CHUNK) {
        const unsigned n = points - done < CHUNK ? points - done : CHUNK;
        for (unsigned i = 0; i < CHUNK; i++) {
            const uint64_t h = mix(done + i);
            b.x[i] = of_bits<T>(h);
            b.y[i] = of_bits<T>(mix(h));
            if (h >> 60 < 4) // quotients of neighbours: hard to round
                memcpy(&b.y[i], &b.x[i], sizeof(T) - (sizeof(T) > 2 ? 2 : 1));
        }
        kernel<<<(n + 255) / 256, 256>>>(b.x, b.y, b.z);
        HIP_OK(hipDeviceSynchronize());
        for (unsigned i = 0; i < n; i++) {
            const T want = reference(b.x[i], b.y[i]);
            const bool same = want != want ? b.z[i] != b.z[i] : memcmp(&want, &b.z[i], sizeof want) == 0;
            if (!same && wrong++ < 5)
                printf("# %s %s(%a, %a) = %a, not %a\n", name, format<T>::name, static_cast<double>(b.x[i]),
                       static_cast<double>(b.y[i]), static_cast<double>(b.z[i]), static_cast<double>(want));
        }
    }
    printf("rounded %s %s %u %u\n", name, format<T>::name, points, wrong);
    CHECK(wrong == 0, "%s %s", name, format<T>::name);
}

template <typename T> __global__ void k_divide(const T *x, const T *y, T *z)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    z[i] = x[i] / y[i];
}
template <typename T> __global__ void k_root(const T *x, const T *, T *z)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    z[i] = __builtin_elementwise_sqrt(x[i]);
}
template <typename T> static T divided(T a, T b)
{
    return a / b;
}
template <typename T> static T rooted(T a, T)
{
    return __builtin_elementwise_sqrt(a);
}

template <typename T> static buffers<T> make_buffers()
{
    buffers<T> b;
    HIP_OK(hipMalloc(&b.x, CHUNK * sizeof(T)));
    HIP_OK(hipMalloc(&b.y, CHUNK * sizeof(T)));
    HIP_OK(hipMalloc(&b.z, CHUNK * sizeof(T)));
    return b;
}

int main(int argc, char **argv)
{
    const unsigned points = argc > 1 ? static_cast<unsigned>(strtoul(argv[1], nullptr, 0)) : 1 << 14;
    const buffers<_Float16> h = make_buffers<_Float16>();
    const buffers<float> s = make_buffers<float>();
    const buffers<double> d = make_buffers<double>();
    for (const function &f : instructions) {
        measure("instruction", f, f.f16, f.bound16, h, points);
        measure("instruction", f, f.f32, f.bound32, s, points);
        measure("instruction", f, f.f64, f.bound64, d, points);
    }
    for (const function &f : library) {
        measure("library", f, f.f16, f.bound16, h, points);
        measure("library", f, f.f32, f.bound32, s, points);
        measure("library", f, f.f64, f.bound64, d, points);
    }
    exact<_Float16>("division", k_divide<_Float16>, divided<_Float16>, h, points * 4);
    exact<float>("division", k_divide<float>, divided<float>, s, points * 4);
    exact<double>("division", k_divide<double>, divided<double>, d, points * 4);
    exact<_Float16>("root", k_root<_Float16>, rooted<_Float16>, h, points);
    exact<float>("root", k_root<float>, rooted<float>, s, points);
    exact<double>("root", k_root<double>, rooted<double>, d, points);
    return check_done();
}
