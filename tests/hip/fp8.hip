// SPDX-License-Identifier: MIT
// 8-bit floating point on the device and on the host against a search through all 256 codes.
#include "check_hip.h"
#include <hip/hip_fp8.h>

enum { KINDS = 4 };
// The formats, by their definition: the Open Compute Project's and the FNUZ forms.
static double decode(unsigned code, int kind)
{
    const bool e5 = kind == __HIP_E5M2 || kind == __HIP_E5M2_FNUZ, fnuz = kind >= __HIP_E4M3_FNUZ;
    const int mantissa = e5 ? 2 : 3, bias = (e5 ? 15 : 7) + fnuz;
    const unsigned m = code & ((1u << mantissa) - 1), e = (code & 0x7f) >> mantissa;
    if (fnuz ? code == 0x80 : (kind == __HIP_E4M3 ? (code & 0x7f) == 0x7f : e == 31 && m != 0))
        return NAN;
    if (kind == __HIP_E5M2 && e == 31)
        return code & 0x80 ? -INFINITY : INFINITY;
    const double v = std::ldexp(static_cast<double>(e ? m + (1u << mantissa) : m),
                                static_cast<int>(e ? e : 1) - bias - mantissa);
    return code & 0x80 ? -v : v;
}
static double largest(int kind)
{
    return kind == __HIP_E4M3 ? 448 : kind == __HIP_E4M3_FNUZ ? 240 : 57344;
}
// The nearest finite value, ties to the even code, saturating.
static unsigned encode(double x, int kind)
{
    if (std::isnan(x))
        return kind >= __HIP_E4M3_FNUZ ? 0x80 : 0x7f;
    if (std::fabs(x) > largest(kind))
        x = std::copysign(largest(kind), x);
    unsigned best = 0;
    double distance = INFINITY;
    for (unsigned code = 0; code < 128; code++) {
        const double v = decode(code, kind);
        if (std::isnan(v) || std::isinf(v))
            continue;
        const double d = std::fabs(v - std::fabs(x));
        if (d < distance || (d == distance && code % 2 == 0)) {
            distance = d;
            best = code;
        }
    }
    if (best == 0 && kind >= __HIP_E4M3_FNUZ)
        return 0;
    return best | (std::signbit(x) ? 0x80 : 0);
}

struct item {
    float f;
    double d;
    unsigned char encoded[KINDS], from_double[KINDS], typed;
    float decoded[KINDS];
    float4 four;
    __half2_raw pair;
};
template <__hip_fp8_interpretation_t kind> __host__ __device__ void convert_one(item &t, unsigned code)
{
    t.encoded[kind] = __hip_cvt_float_to_fp8(t.f, __HIP_SATFINITE, kind);
    t.from_double[kind] = __hip_cvt_double_to_fp8(t.d, __HIP_SATFINITE, kind);
    t.decoded[kind] = __half2float(__half(__hip_cvt_fp8_to_halfraw(static_cast<unsigned char>(code), kind)));
}
__host__ __device__ void convert_all(item &t, unsigned code)
{
    convert_one<__HIP_E4M3>(t, code);
    convert_one<__HIP_E5M2>(t, code);
    convert_one<__HIP_E4M3_FNUZ>(t, code);
    convert_one<__HIP_E5M2_FNUZ>(t, code);
    const __hip_fp8_e4m3_fnuz typed(t.f);
    t.typed = typed.__x;
    const __hip_fp8x4_e5m2_fnuz four(make_float4(t.f, -t.f, 1.0f, 0.0f));
    t.four = four;
    t.pair = __hip_cvt_fp8x2_to_halfraw2(static_cast<__hip_fp8x2_storage_t>(code | 0x3800), __HIP_E4M3_FNUZ);
}
__global__ void convert(item *items)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    convert_all(items[i], i & 255);
}

static void check(const char *where, const item &t, unsigned code)
{
    for (int kind = 0; kind < KINDS; kind++) {
        CHECK(t.encoded[kind] == encode(t.f, kind), "%s: kind %d of %a gave %x, not %x", where, kind, t.f,
              t.encoded[kind], encode(t.f, kind));
        CHECK(t.from_double[kind] == encode(t.d, kind), "%s: kind %d of %a gave %x", where, kind, t.d,
              t.from_double[kind]);
        const double v = decode(code, kind);
        CHECK(t.decoded[kind] == v || (std::isnan(v) && std::isnan(t.decoded[kind])),
              "%s: kind %d of code %x gave %g", where, kind, code, t.decoded[kind]);
    }
    CHECK(t.typed == t.encoded[__HIP_E4M3_FNUZ], "%s: %x", where, t.typed);
    const float x = static_cast<float>(decode(encode(t.f, __HIP_E5M2_FNUZ), __HIP_E5M2_FNUZ));
    CHECK(t.four.x == x && t.four.y == -x && t.four.z == 1 && t.four.w == 0, "%s: %g", where, t.f);
    const float low = static_cast<float>(t.pair.data[0]),
                want = static_cast<float>(decode(code, __HIP_E4M3_FNUZ));
    CHECK((low == want || (std::isnan(low) && std::isnan(want))) &&
              static_cast<float>(t.pair.data[1]) == 0.5f,
          "%s: pair %x", where, code);
}

int main()
{
    const unsigned n = 1024;
    buffer<item> items(n);
    random_bits random;
    for (unsigned i = 0; i < n; i++) {
        items[i] = item();
        // Half of them on and around ties, half anywhere.
        const double base = decode(static_cast<unsigned>(random.next() & 0x7e), __HIP_E5M2_FNUZ);
        items[i].f = i & 1 ? static_cast<float>(base * 1.125)
                           : std::ldexp(static_cast<float>(static_cast<int>(random.next())),
                                        static_cast<int>(random.next() % 40) - 56);
        items[i].d = items[i].f * (1 + (random.next() & 1 ? 0x1p-45 : -0x1p-45));
    }
    std::vector<item> host = items.host;
    items.up();
    convert<<<n / 64, 64>>>(items.get());
    items.down();
    for (unsigned i = 0; i < n; i++) {
        check("device", items[i], i & 255);
        convert_all(host[i], i & 255);
        check("host", host[i], i & 255);
    }
    return check_done();
}
