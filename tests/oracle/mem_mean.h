/* SPDX-License-Identifier: MIT */
/*
 * What atomics and buffer formats compute, from the pseudocode of AMD's
 * instruction tables and table 96 of the ISA document, in integer arithmetic.
 */
#ifndef EHP_TESTS_ORACLE_MEM_MEAN_H
#define EHP_TESTS_ORACLE_MEM_MEAN_H

#include "mem_access.h"
#include "soft.h"

/* ---- atomics ---- */

static inline bool atomic_is(const struct access *a, const char *op)
{
    return !strcmp(a->op, op);
}

/* A sum that keeps denormals; a NaN is memory's, else the operand's, quiet. */
static inline uint64_t atomic_sum(struct soft_format f, uint64_t m, uint64_t d)
{
    const struct soft x = soft_unpack(f, m, false), y = soft_unpack(f, d, false), s = soft_add(x, y, 0);
    if (x.cls == SOFT_NAN || y.cls == SOFT_NAN)
        return (x.cls == SOFT_NAN ? m : d) | soft_quiet_bit(f);
    return s.cls == SOFT_NAN ? soft_inf(f) | soft_quiet_bit(f) : soft_pack(f, s, 0, false);
}

/* As `a < b ? -1 : ...` of the type; 2 when one is a NaN. */
static inline int atomic_order(const struct access *a, uint64_t x, uint64_t y)
{
    if (a->type == 'f') {
        const struct soft_format f = a->bytes == 8 ? soft_f64 : soft_f32;
        return soft_compare(soft_unpack(f, x, false), soft_unpack(f, y, false));
    }
    if (a->type == 'i') {
        const uint64_t sign = UINT64_C(1) << (8 * a->bytes - 1);
        x ^= sign;
        y ^= sign;
    }
    return x < y ? -1 : x > y;
}

/* Memory afterwards; m: before, d and e: the operands in the order of the registers. */
static inline uint64_t atomic_mean(const struct access *a, bool ds, uint64_t m, uint64_t d, uint64_t e)
{
    const uint64_t mask = soft_mask(8 * (int)a->bytes);
    if (atomic_is(a, "add")) {
        if (a->type == 'p') {
            const struct soft_format f = a->brain ? soft_bf16 : soft_f16;
            return atomic_sum(f, m & 0xffff, d & 0xffff) | atomic_sum(f, m >> 16, d >> 16) << 16;
        }
        return a->type == 'f' ? atomic_sum(a->bytes == 8 ? soft_f64 : soft_f32, m, d) : (m + d) & mask;
    }
    if (atomic_is(a, "sub"))
        return (m - d) & mask;
    if (atomic_is(a, "rsub"))
        return (d - m) & mask;
    if (atomic_is(a, "inc"))
        return m >= d ? 0 : m + 1;
    if (atomic_is(a, "dec"))
        return m == 0 || m > d ? d : m - 1;
    if (atomic_is(a, "min"))
        return atomic_order(a, d, m) == -1 ? d : m;
    if (atomic_is(a, "max"))
        return atomic_order(a, d, m) == 1 ? d : m;
    if (atomic_is(a, "and"))
        return m & d;
    if (atomic_is(a, "or"))
        return m | d;
    if (atomic_is(a, "xor"))
        return m ^ d;
    if (atomic_is(a, "mskor"))
        return (m & ~d) | e;
    if (atomic_is(a, "swap") || atomic_is(a, "wrxchg"))
        return d;
    if (atomic_is(a, "wrap"))
        return (m >= d ? m - d : m + e) & mask;
    if (atomic_is(a, "condxchg32"))
        return (d & 0x80000000 ? d & 0x7fffffff : m & 0xffffffff) |
               (d >> 63 ? d & 0x7fffffff00000000 : m & 0xffffffff00000000);
    if (atomic_is(a, "cmpst") || atomic_is(a, "cmpswap")) /* DS has what to compare with first */
        return atomic_order(a, m, ds ? d : e) == 0 ? (ds ? e : d) : m;
    abort();
}

/* ---- formats ---- */

enum {
    FORMAT_UNORM,
    FORMAT_SNORM,
    FORMAT_USCALED,
    FORMAT_SSCALED,
    FORMAT_UINT,
    FORMAT_SINT,
    FORMAT_FLOAT = 7
};

/* Bits of component c, X being 0 and lowest in memory; 0: it has none. */
static inline unsigned format_bits(unsigned dfmt, unsigned c)
{
    static const char *const widths[16] = {"",     "8",    "g",    "88", "w",    "gg",  "bba",  "abb",
                                           "2aaa", "aaa2", "8888", "ww", "gggg", "www", "wwww", ""};
    const char *s = widths[dfmt];
    if (c >= strlen(s))
        return 0;
    return s[c] == 'a' ? 10 : s[c] == 'b' ? 11 : s[c] == 'g' ? 16 : s[c] == 'w' ? 32 : (unsigned)(s[c] - '0');
}

static inline unsigned format_bytes(unsigned dfmt)
{
    return (format_bits(dfmt, 0) + format_bits(dfmt, 1) + format_bits(dfmt, 2) + format_bits(dfmt, 3)) / 8;
}

static inline bool format_exists(unsigned dfmt, unsigned nfmt)
{
    const unsigned bits = format_bits(dfmt, 0);
    if (!bits || nfmt == 6)
        return false;
    if (nfmt == FORMAT_FLOAT)
        return bits == 16 || bits == 32 || dfmt == 6 || dfmt == 7;
    return bits != 32 || nfmt == FORMAT_UINT || nfmt == FORMAT_SINT;
}

/* Floats of 11 and 10 bits: five of exponent, no sign. */
static inline struct soft_format format_small(unsigned bits)
{
    return (struct soft_format){5, (int)bits - 5};
}

static inline struct soft format_number(uint32_t raw, unsigned bits, unsigned nfmt)
{
    const bool is_signed = nfmt == FORMAT_SNORM || nfmt == FORMAT_SSCALED;
    int64_t v = raw;
    if (is_signed && raw >> (bits - 1))
        v -= INT64_C(1) << bits;
    if (nfmt == FORMAT_SNORM && v == -(INT64_C(1) << (bits - 1)))
        v++; /* -1, too */
    struct soft n = soft_from_int(v);
    if (nfmt == FORMAT_UNORM || nfmt == FORMAT_SNORM) {
        const soft_wide by = (soft_wide)soft_mask((int)bits - (nfmt == FORMAT_SNORM));
        const soft_wide q = (n.man << 60) / by;
        n.man = q << 1 | (q * by != n.man << 60); /* something below */
        n.exp = -61;
    }
    return n;
}

/* As 32 bits: a float, or an integer extended. */
static inline uint32_t format_decode(uint32_t raw, unsigned bits, unsigned nfmt)
{
    if (nfmt == FORMAT_UINT || bits == 32)
        return raw;
    if (nfmt == FORMAT_SINT)
        return raw >> (bits - 1) ? raw | UINT32_MAX << bits : raw;
    if (nfmt != FORMAT_FLOAT)
        return (uint32_t)soft_pack(soft_f32, format_number(raw, bits, nfmt), 0, false);
    const struct soft_format f = bits == 16 ? soft_f16 : format_small(bits);
    const struct soft n = soft_unpack(f, raw, false);
    const uint32_t sign = bits == 16 && raw >> 15 ? 0x80000000 : 0;
    if (n.cls == SOFT_NAN)
        return sign | 0x7fc00000 | (raw & (uint32_t)soft_mask(f.mantissa_bits)) << (23 - f.mantissa_bits);
    return sign | (uint32_t)(soft_pack(soft_f32, n, 0, false) & 0x7fffffff);
}

static inline uint32_t format_f32_to_f16(uint32_t x)
{
    const struct soft n = soft_unpack(soft_f32, x, false);
    if (n.cls == SOFT_NAN)
        return (x >> 16 & 0x8000) | 0x7e00 | (x >> 13 & 0x3ff);
    return (uint32_t)soft_pack(soft_f16, n, 0, false);
}

static inline uint32_t format_f16_to_f32(uint32_t x)
{
    return format_decode(x, 16, FORMAT_FLOAT);
}

/* From 32 bits; what does not fit is clamped, NaN is 0. */
static inline uint32_t format_encode(uint32_t value, unsigned bits, unsigned nfmt)
{
    const uint64_t all = soft_mask((int)bits), half = all >> 1;
    if (nfmt == FORMAT_UINT)
        return (uint32_t)(value < all ? value : all);
    if (nfmt == FORMAT_SINT) {
        const int64_t v = (int32_t)value, high = (int64_t)half;
        return (uint32_t)((uint64_t)(v < -high - 1 ? -high - 1 : v > high ? high : v) & all);
    }
    struct soft n = soft_unpack(soft_f32, value, false);
    if (nfmt == FORMAT_FLOAT) {
        if (bits == 32)
            return value;
        const uint32_t h = format_f32_to_f16(value);
        if (bits == 16)
            return h;
        /* Cut off, and no sign: what is negative is 0. */
        return n.sign && n.cls != SOFT_NAN ? 0 : (h & 0x7fff) >> (15 - bits);
    }
    const int64_t high = nfmt == FORMAT_UNORM || nfmt == FORMAT_USCALED ? (int64_t)all : (int64_t)half;
    const int64_t low = nfmt == FORMAT_SNORM ? -high : nfmt == FORMAT_SSCALED ? -high - 1 : 0;
    if (nfmt == FORMAT_UNORM || nfmt == FORMAT_SNORM)
        n = soft_mul(n, soft_from_int(high));
    return (uint32_t)((uint64_t)soft_to_int(soft_integral(n, 0), low, high) & all);
}

#endif
