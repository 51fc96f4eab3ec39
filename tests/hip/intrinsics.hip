// SPDX-License-Identifier: MIT
// Integer intrinsics, bit fields and conversions against plain loops on the host.
#include "check_hip.h"
#include <cfenv>
#include <climits>

struct row {
    unsigned x, y, s;
    unsigned long long q;
    int popc, popcll, clz, clzll, ffs, ffsll, last;
    unsigned brev, perm, fl, flc, fr, frc, extract, insert, sad, usad, uhadd, urhadd, umulhi, umul24;
    int hadd, rhadd, mulhi, mul24, fns;
    unsigned long long brevll, umul64hi, extract64, insert64;
    long long mul64hi;
};

__global__ void compute(row *rows)
{
    row &r = rows[blockIdx.x * blockDim.x + threadIdx.x];
    const int x = static_cast<int>(r.x), y = static_cast<int>(r.y);
    r.popc = static_cast<int>(__popc(r.x));
    r.popcll = static_cast<int>(__popcll(r.q));
    r.clz = __clz(x);
    r.clzll = __clzll(static_cast<long long>(r.q));
    r.ffs = __ffs(x);
    r.ffsll = __ffsll(r.q);
    r.last = __lastbit_u32_u64(r.q);
    r.brev = __brev(r.x);
    r.brevll = __brevll(r.q);
    r.perm = __byte_perm(r.x, r.y, r.s);
    r.fl = __funnelshift_l(r.x, r.y, r.s);
    r.flc = __funnelshift_lc(r.x, r.y, r.s & 63);
    r.fr = __funnelshift_r(r.x, r.y, r.s);
    r.frc = __funnelshift_rc(r.x, r.y, r.s & 63);
    r.extract = __bitextract_u32(r.x, r.s & 15, (r.s >> 8) & 15);
    r.insert = __bitinsert_u32(r.x, r.y, r.s & 15, (r.s >> 8) & 15);
    r.extract64 = __bitextract_u64(r.q, r.s & 31, (r.s >> 8) & 31);
    r.insert64 = __bitinsert_u64(r.q, r.x, r.s & 31, (r.s >> 8) & 31);
    r.sad = __sad(x, y, r.s);
    r.usad = __usad(r.x, r.y, r.s);
    r.hadd = __hadd(x, y);
    r.rhadd = __rhadd(x, y);
    r.uhadd = __uhadd(r.x, r.y);
    r.urhadd = __urhadd(r.x, r.y);
    r.mulhi = __mulhi(x, y);
    r.umulhi = __umulhi(r.x, r.y);
    r.mul24 = __mul24(x, y);
    r.umul24 = static_cast<unsigned>(__umul24(r.x, r.y));
    r.mul64hi = __mul64hi(static_cast<long long>(r.q), static_cast<long long>(r.q >> 3) * x);
    r.umul64hi = __umul64hi(r.q, r.q * r.x);
    r.fns = __fns64(r.q, r.s & 63, static_cast<int>((r.s >> 8) & 7) - 3);
}

static unsigned bit(unsigned long long v, int i)
{
    return i >= 0 && i < 64 ? static_cast<unsigned>(v >> i & 1) : 0;
}
static int count(unsigned long long v, int n)
{
    int c = 0;
    for (int i = 0; i < n; i++)
        c += static_cast<int>(bit(v, i));
    return c;
}
static int leading(unsigned long long v, int n)
{
    int c = 0;
    while (c < n && !bit(v, n - 1 - c))
        c++;
    return c;
}
static int first(unsigned long long v, int n)
{
    for (int i = 0; i < n; i++)
        if (bit(v, i))
            return i + 1;
    return 0;
}
static unsigned long long reversed(unsigned long long v, int n)
{
    unsigned long long r = 0;
    for (int i = 0; i < n; i++)
        r |= static_cast<unsigned long long>(bit(v, i)) << (n - 1 - i);
    return r;
}
static int find_nth(unsigned long long v, int base, int offset)
{
    if (offset == 0)
        return bit(v, base) ? base : -1;
    for (int i = base; i >= 0 && i < 64; i += offset > 0 ? 1 : -1)
        if (bit(v, i) && (offset += offset > 0 ? -1 : 1) == 0)
            return i;
    return -1;
}

static void integers()
{
    const size_t n = 256;
    buffer<row> rows(n);
    random_bits random;
    for (row &r : rows.host) {
        r = row();
        r.x = static_cast<unsigned>(random.next() >> (random.next() & 31));
        r.y = static_cast<unsigned>(random.next());
        r.s = static_cast<unsigned>(random.next());
        r.q = random.next() >> (random.next() & 63);
    }
    rows[0].x = 0;
    rows[0].q = 0;
    rows.up();
    compute<<<n / 64, 64>>>(rows.get());
    rows.down();
    for (row &r : rows.host) {
        const int x = static_cast<int>(r.x), y = static_cast<int>(r.y);
        CHECK(r.popc == count(r.x, 32) && r.popcll == count(r.q, 64), "%x %llx", r.x, r.q);
        CHECK(r.clz == leading(r.x, 32) && r.clzll == leading(r.q, 64), "%x %llx", r.x, r.q);
        CHECK(r.ffs == first(r.x, 32) && r.ffsll == first(r.q, 64) && r.last == first(r.q, 64) - 1, "%x %llx",
              r.x, r.q);
        CHECK(r.brev == reversed(r.x, 32) && r.brevll == reversed(r.q, 64), "%x %llx", r.x, r.q);
        const unsigned long long pair = static_cast<unsigned long long>(r.y) << 32 | r.x;
        unsigned perm = 0;
        for (int i = 0; i < 4; i++)
            perm |= static_cast<unsigned>(pair >> (8 * (r.s >> (4 * i) & 7)) & 255) << (8 * i);
        CHECK(r.perm == perm, "%x %x %x gave %x", r.x, r.y, r.s, r.perm);
        const unsigned s = r.s & 31, clamped = (r.s & 63) < 32 ? r.s & 63 : 32;
        CHECK(r.fl == static_cast<unsigned>(pair << s >> 32) && r.fr == static_cast<unsigned>(pair >> s),
              "%u", s);
        CHECK(r.flc == static_cast<unsigned>(pair << clamped >> 32) &&
                  r.frc == static_cast<unsigned>(pair >> clamped),
              "%u", clamped);
        unsigned extract = 0, insert = r.x;
        const int at = static_cast<int>(r.s & 15), width = static_cast<int>((r.s >> 8) & 15);
        for (int i = 0; i < width; i++) {
            extract |= bit(r.x, at + i) << i;
            insert = (insert & ~(1u << (at + i))) | bit(r.y, i) << (at + i);
        }
        CHECK(r.extract == extract && r.insert == insert, "%d %d", at, width);
        unsigned long long extract64 = 0, insert64 = r.q;
        const int at64 = static_cast<int>(r.s & 31), width64 = static_cast<int>((r.s >> 8) & 31);
        for (int i = 0; i < width64; i++) {
            extract64 |= static_cast<unsigned long long>(bit(r.q, at64 + i)) << i;
            insert64 = (insert64 & ~(1ull << (at64 + i))) | static_cast<unsigned long long>(bit(r.x, i))
                                                                << (at64 + i);
        }
        CHECK(r.extract64 == extract64 && r.insert64 == insert64, "%d %d", at64, width64);
        const long long dx = static_cast<long long>(x) - y, ux = static_cast<long long>(r.x) - r.y;
        CHECK(r.sad == static_cast<unsigned>(dx < 0 ? -dx : dx) + r.s &&
                  r.usad == static_cast<unsigned>(ux < 0 ? -ux : ux) + r.s,
              "%x %x", r.x, r.y);
        const long long sum = static_cast<long long>(x) + y;
        const unsigned long long usum = static_cast<unsigned long long>(r.x) + r.y;
        CHECK(r.hadd == static_cast<int>(sum >> 1) && r.rhadd == static_cast<int>((sum + 1) >> 1), "%x %x",
              r.x, r.y);
        CHECK(r.uhadd == static_cast<unsigned>(usum / 2) && r.urhadd == static_cast<unsigned>((usum + 1) / 2),
              "%x %x", r.x, r.y);
        CHECK(r.mulhi == static_cast<int>(static_cast<long long>(x) * y >> 32), "%x %x", r.x, r.y);
        CHECK(r.umulhi == static_cast<unsigned>(static_cast<unsigned long long>(r.x) * r.y >> 32), "%x %x",
              r.x, r.y);
        const long long x24 = static_cast<long long>(r.x & 0xffffff) - (r.x & 0x800000 ? 0x1000000 : 0);
        const long long y24 = static_cast<long long>(r.y & 0xffffff) - (r.y & 0x800000 ? 0x1000000 : 0);
        CHECK(r.mul24 == static_cast<int>(x24 * y24) &&
                  r.umul24 == static_cast<unsigned>(static_cast<unsigned long long>(r.x & 0xffffff) *
                                                    (r.y & 0xffffff)),
              "%x %x", r.x, r.y);
        CHECK(r.mul64hi == static_cast<long long>((static_cast<__int128>(static_cast<long long>(r.q)) *
                                                   (static_cast<long long>(r.q >> 3) * x)) >>
                                                  64),
              "%llx", r.q);
        CHECK(r.umul64hi ==
                  static_cast<unsigned long long>((static_cast<unsigned __int128>(r.q) * (r.q * r.x)) >> 64),
              "%llx", r.q);
        CHECK(r.fns == find_nth(r.q, static_cast<int>(r.s & 63), static_cast<int>((r.s >> 8) & 7) - 3),
              "%llx %u gave %d", r.q, r.s, r.fns);
    }
}

struct conversions {
    double d;
    float f;
    long long l;
    unsigned long long u;
    int i;
    int f2i[4], d2i[4], hi, lo;
    long long d2ll[4];
    unsigned f2u[4];
    float d2f[4], ll2f[4], ull2f[4], i2f[4];
    double ll2d[4], ull2d[4];
};
__global__ void convert(conversions *all)
{
    conversions &c = all[blockIdx.x * blockDim.x + threadIdx.x];
#define EACH(array, function, x)                                                                             \
    array[0] = function##_rn(x);                                                                             \
    array[1] = function##_rd(x);                                                                             \
    array[2] = function##_ru(x);                                                                             \
    array[3] = function##_rz(x)
    EACH(c.f2i, __float2int, c.f);
    EACH(c.d2i, __double2int, static_cast<double>(c.f));
    EACH(c.f2u, __float2uint, fabsf(c.f));
    EACH(c.d2ll, __double2ll, c.d);
    EACH(c.d2f, __double2float, c.d);
    EACH(c.ll2f, __ll2float, c.l);
    EACH(c.ull2f, __ull2float, c.u);
    EACH(c.ll2d, __ll2double, c.l);
    EACH(c.ull2d, __ull2double, c.u);
    EACH(c.i2f, __int2float, c.i);
    c.hi = __double2hiint(c.d);
    c.lo = __double2loint(c.d);
    c.d = __hiloint2double(c.hi, c.lo);
}
static void changes()
{
    const size_t n = 256;
    buffer<conversions> all(n);
    random_bits random;
    for (conversions &c : all.host) {
        c = conversions();
        c.d = std::ldexp(static_cast<double>(static_cast<long long>(random.next())),
                         -static_cast<int>(random.next() % 60) - 2);
        c.f = static_cast<float>(static_cast<int>(random.next())) * 0x1p-12f;
        c.l = static_cast<long long>(random.next()) >> (random.next() % 40);
        c.u = random.next() | 1ull << 63;
        c.i = static_cast<int>(random.next());
    }
    all[0].u = ~0ull;
    std::vector<conversions> before = all.host;
    all.up();
    convert<<<n / 64, 64>>>(all.get());
    all.down();
    const int modes[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    for (size_t k = 0; k < n; k++) {
        const conversions &c = all[k];
        for (int m = 0; m < 4; m++) {
            std::fesetround(modes[m]);
            volatile double d = before[k].d;
            volatile float f = before[k].f;
            volatile long long l = c.l;
            volatile unsigned long long u = c.u;
            volatile int i = c.i;
            volatile float d2f = static_cast<float>(d), l2f = static_cast<float>(l),
                           u2f = static_cast<float>(u), i2f = static_cast<float>(i);
            volatile double l2d = static_cast<double>(l), u2d = static_cast<double>(u);
            const int f2i = static_cast<int>(std::nearbyint(f));
            const unsigned f2u = static_cast<unsigned>(std::nearbyint(std::fabs(f)));
            const long long d2ll = static_cast<long long>(std::nearbyint(d));
            std::fesetround(FE_TONEAREST);
            CHECK(c.f2i[m] == f2i && c.d2i[m] == f2i && c.f2u[m] == f2u, "mode %d of %a gave %d %d %u", m, f,
                  c.f2i[m], c.d2i[m], c.f2u[m]);
            CHECK(c.d2ll[m] == d2ll, "mode %d of %a gave %lld", m, d, c.d2ll[m]);
            CHECK(c.d2f[m] == d2f, "mode %d of %a gave %a", m, d, c.d2f[m]);
            CHECK(c.ll2f[m] == l2f && c.ull2f[m] == u2f && c.i2f[m] == i2f,
                  "mode %d of %llx %llx %x gave %a %a %a", m, l, u, i, c.ll2f[m], c.ull2f[m], c.i2f[m]);
            CHECK(c.ll2d[m] == l2d && c.ull2d[m] == u2d, "mode %d of %llx %llx gave %a %a", m, l, u,
                  c.ll2d[m], c.ull2d[m]);
        }
        CHECK(c.d == before[k].d, "%a came back as %a", before[k].d, c.d);
    }
}

struct dots {
    unsigned a, b, c;
    int s2, s4, s8, s2_sat, s4_sat, s8_sat;
    unsigned u2, u4, u8, u2_sat, u4_sat, u8_sat;
};

template <typename T> static __device__ T as(unsigned v)
{
    return __builtin_bit_cast(T, v);
}

__global__ void multiply(dots *all)
{
    dots &d = all[blockIdx.x * blockDim.x + threadIdx.x];
    const int a = static_cast<int>(d.a), b = static_cast<int>(d.b), c = static_cast<int>(d.c);
    d.s2 = amd_mixed_dot(as<short2>(d.a), as<short2>(d.b), c, false);
    d.s4 = amd_mixed_dot(as<char4>(d.a), as<char4>(d.b), c, false);
    d.s8 = amd_mixed_dot(a, b, c, false);
    d.u2 = amd_mixed_dot(as<ushort2>(d.a), as<ushort2>(d.b), d.c, false);
    d.u4 = amd_mixed_dot(as<uchar4>(d.a), as<uchar4>(d.b), d.c, false);
    d.u8 = amd_mixed_dot(d.a, d.b, d.c, false);
    d.s2_sat = amd_mixed_dot(as<short2>(d.a), as<short2>(d.b), c, true);
    d.s4_sat = amd_mixed_dot(as<char4>(d.a), as<char4>(d.b), c, true);
    d.s8_sat = amd_mixed_dot(a, b, c, true);
    d.u2_sat = amd_mixed_dot(as<ushort2>(d.a), as<ushort2>(d.b), d.c, true);
    d.u4_sat = amd_mixed_dot(as<uchar4>(d.a), as<uchar4>(d.b), d.c, true);
    d.u8_sat = amd_mixed_dot(d.a, d.b, d.c, true);
}

// The sum of products of `bits` wide fields, and c, in 64 bits.
static long long dot(const dots &d, int bits, bool is_signed)
{
    long long sum = is_signed ? static_cast<long long>(static_cast<int>(d.c)) : d.c;
    for (int at = 0; at < 32; at += bits) {
        long long x = d.a >> at & ((1u << bits) - 1), y = d.b >> at & ((1u << bits) - 1);
        if (is_signed && x >> (bits - 1))
            x -= 1ll << bits;
        if (is_signed && y >> (bits - 1))
            y -= 1ll << bits;
        sum += x * y;
    }
    return sum;
}

static void dot_products()
{
    random_bits random;
    buffer<dots> all(1024);
    int beyond = 0;

    for (dots &d : all.host) {
        const unsigned ends[] = {0x7fffffffu, 0x80000000u, 0xffffffffu, 0u};
        d.a = static_cast<unsigned>(random.next());
        d.b = static_cast<unsigned>(random.next());
        const unsigned pick = static_cast<unsigned>(random.next() & 7);
        d.c = pick < 4 ? ends[pick] : static_cast<unsigned>(random.next());
    }
    all.up();
    multiply<<<4, 256>>>(all.get());
    all.down();
    for (const dots &d : all.host) {
        const int wrapped[] = {d.s2, d.s4, d.s8}, held[] = {d.s2_sat, d.s4_sat, d.s8_sat};
        const unsigned uwrapped[] = {d.u2, d.u4, d.u8}, uheld[] = {d.u2_sat, d.u4_sat, d.u8_sat};
        for (int i = 0; i < 3; i++) {
            const int bits = 16 >> i;
            const long long s = dot(d, bits, true), u = dot(d, bits, false);
            const long long s_held = s > INT_MAX ? INT_MAX : s < INT_MIN ? INT_MIN : s;
            const long long u_held = u > UINT_MAX ? UINT_MAX : u;
            beyond += (s != s_held) + (u != u_held);
            CHECK(wrapped[i] == static_cast<int>(s) && held[i] == s_held, "%d bits of %#x %#x + %#x", bits,
                  d.a, d.b, d.c);
            CHECK(uwrapped[i] == static_cast<unsigned>(u) && uheld[i] == u_held,
                  "%d bits of %#x %#x + %#x, unsigned", bits, d.a, d.b, d.c);
        }
    }
    CHECK(beyond > 100, "only %d sums are beyond their types", beyond);
}

int main()
{
    integers();
    dot_products();
    changes();
    return check_done();
}
