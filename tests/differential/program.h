/* SPDX-License-Identifier: MIT */
/*
 * What every generated function leans on.  The same text is compiled for the
 * host and for gfx942.  Each helper has one answer for every input: shifts are
 * masked, divisions guarded, conversions clamped, and a NaN becomes one
 * pattern wherever its bits could be seen.
 */
#ifndef EHP_DIFFERENTIAL_PROGRAM_H
#define EHP_DIFFERENTIAL_PROGRAM_H

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long i64;
typedef unsigned long u64;
typedef __int128 i128;
typedef unsigned __int128 u128;
typedef _Float16 f16;
typedef float f32;
typedef double f64;

enum { IN_DWORDS = 16, MEM_DWORDS = 32, LDS_DWORDS = 8, OUT_SLOTS = 64, SHARED_SLOTS = 8, GROUP = 256 };

#define VECTORS(T)                                                                                           \
    typedef T T##x2 __attribute__((ext_vector_type(2)));                                                     \
    typedef T T##x4 __attribute__((ext_vector_type(4)));
VECTORS(i8)
VECTORS(u8)
VECTORS(i16)
VECTORS(u16)
VECTORS(i32)
VECTORS(u32)
VECTORS(i64)
VECTORS(u64)
VECTORS(f16)
VECTORS(f32)
VECTORS(f64)

#define HELPER static inline __attribute__((always_inline))

#ifdef __AMDGCN__
#define LDS            __attribute__((address_space(3)))
#define DEVICE_ONLY(x) x
static LDS __attribute__((loader_uninitialized)) u32 lds_all[GROUP * LDS_DWORDS];
#define PROGRAM(n, attributes)                                                                               \
    __attribute__((device_kernel)) attributes void k##n(const u32 *in, u64 *out, u32 *mem, u64 *shared,      \
                                                        u64 n0, u64 n1, u64 n2, u64 n3, u32 lanes)           \
    {                                                                                                        \
        u32 item = __builtin_amdgcn_workitem_id_x(), id = __builtin_amdgcn_workgroup_id_x() * GROUP + item;  \
        if (id < lanes)                                                                                      \
            fn##n(in + id * IN_DWORDS, out + id * OUT_SLOTS, mem + id * MEM_DWORDS, shared,                  \
                  lds_all + item * LDS_DWORDS, n0, n1, n2, n3);                                              \
    }
#else
#define LDS
#define DEVICE_ONLY(x)
#define PROGRAM(n, attributes)                                                                               \
    void k##n(const u32 *in, u64 *out, u32 *mem, u64 *shared, u64 n0, u64 n1, u64 n2, u64 n3, u32 lanes)     \
    {                                                                                                        \
        for (u32 id = 0; id < lanes; id++) {                                                                 \
            u32 lds[LDS_DWORDS] = {0};                                                                       \
            fn##n(in + id * IN_DWORDS, out + id * OUT_SLOTS, mem + id * MEM_DWORDS, shared, lds, n0, n1, n2, \
                  n3);                                                                                       \
        }                                                                                                    \
    }
#endif

/*
 * Keeps what goes in from what is made of it, where LLVM 22 makes something
 * wrong that a real chip would run as well.  Where lanes leave a block on
 * several ways, StructurizeCFG hands one way the value that a variable is known
 * to have on another: HIDE the comparisons of a switch, and the conditions of a
 * goto.  The SDWA peephole makes the bits of a sign-extended byte the operand
 * of a float instruction, and forgets the sign: HIDE bits that become a float.
 * Inserting into a vector of two at an index that all lanes share, one test of
 * its bit serves both elements: HIDE the index.
 */
#ifdef __AMDGCN__
#define HIDE_IN(kind, x)                                                                                     \
    ({                                                                                                       \
        __typeof__(x) hidden_;                                                                               \
        __asm__("" : "=" kind(hidden_) : "0"(x));                                                            \
        hidden_;                                                                                             \
    })
#define HIDE(x)         HIDE_IN("v", x)
#define HIDE_UNIFORM(x) HIDE_IN("s", __builtin_amdgcn_readfirstlane(x))
#else
#define HIDE(x)         (x)
#define HIDE_UNIFORM(x) (x)
#endif

/*
 * A zero that the compiler takes for one of many values.  What every lane has in common while a loop runs
 * differs after a loop that lanes leave one by one; LLVM 22 reads the scalar register of the last one for
 * all.  A real chip would too.
 */
#define ZERO HIDE(0u)

#define OUT(slot, value)                                                                                     \
    (out[(slot) % OUT_SLOTS] = (out[(slot) % OUT_SLOTS] << 7 | out[(slot) % OUT_SLOTS] >> 57) ^ (u64)(value))

#define FLOAT(F, I, quiet)                                                                                   \
    HELPER I bits_##F(F x)                                                                                   \
    {                                                                                                        \
        I i;                                                                                                 \
        __builtin_memcpy(&i, &x, sizeof i);                                                                  \
        return x != x ? (I)quiet : i;                                                                        \
    }                                                                                                        \
    HELPER F from_##F(u64 bits)                                                                              \
    {                                                                                                        \
        F x;                                                                                                 \
        I i = HIDE((I)bits), nan = (I)quiet;                                                                 \
        __builtin_memcpy(&x, &i, sizeof x);                                                                  \
        if (x != x)                                                                                          \
            __builtin_memcpy(&x, &nan, sizeof x);                                                            \
        return x;                                                                                            \
    }                                                                                                        \
    /* The sum turns -0 into +0: which of the two comes out is not said. */                                  \
    HELPER F min_##F(F a, F b)                                                                               \
    {                                                                                                        \
        return __builtin_elementwise_minnum(a, b) + (F)0;                                                    \
    }                                                                                                        \
    HELPER F max_##F(F a, F b)                                                                               \
    {                                                                                                        \
        return __builtin_elementwise_maxnum(a, b) + (F)0;                                                    \
    }                                                                                                        \
    HELPER F copysign_##F(F a, F b)                                                                          \
    {                                                                                                        \
        return b != b ? a : __builtin_elementwise_copysign(a, b);                                            \
    }
FLOAT(f16, u16, 0x7e00)
FLOAT(f32, u32, 0x7fc00000)
FLOAT(f64, u64, 0x7ff8000000000000)

/* Conversions to integers, of what fits. */
#define TO_INT(F, T, low, high)                                                                              \
    HELPER T T##_of_##F(F x)                                                                                 \
    {                                                                                                        \
        return (f64)x > low && (f64)x < high ? (T)x : (T)0;                                                  \
    }
#define TO_INTS(F)                                                                                           \
    TO_INT(F, i8, -129.0, 128.0)                                                                             \
    TO_INT(F, u8, -1.0, 256.0)                                                                               \
    TO_INT(F, i16, -32769.0, 32768.0)                                                                        \
    TO_INT(F, u16, -1.0, 65536.0)                                                                            \
    TO_INT(F, i32, -2147483649.0, 2147483648.0)                                                              \
    TO_INT(F, u32, -1.0, 4294967296.0)                                                                       \
    TO_INT(F, i64, -9223372036854775808.0, 9223372036854775808.0)                                            \
    TO_INT(F, u64, -1.0, 18446744073709551616.0)
TO_INTS(f16)
TO_INTS(f32)
TO_INTS(f64)

HELPER i32 exponent_of(i32 x)
{
    return x % 1200;
}
HELPER f32 ldexp_f32(f32 x, i32 e)
{
    return __builtin_ldexpf(x, exponent_of(e));
}
HELPER f64 ldexp_f64(f64 x, i32 e)
{
    return __builtin_ldexp(x, exponent_of(e));
}

#define INTEGER(T, U, bits, is_signed)                                                                       \
    HELPER T div_##T(T a, T b)                                                                               \
    {                                                                                                        \
        return b == 0 || (is_signed && b == (T) - 1) ? a : (T)(a / b);                                       \
    }                                                                                                        \
    HELPER T rem_##T(T a, T b)                                                                               \
    {                                                                                                        \
        return b == 0 || (is_signed && b == (T) - 1) ? a : (T)(a % b);                                       \
    }                                                                                                        \
    HELPER T shl_##T(T a, u32 n)                                                                             \
    {                                                                                                        \
        return (T)((U)a << (n & (bits - 1)));                                                                \
    }                                                                                                        \
    HELPER T shr_##T(T a, u32 n)                                                                             \
    {                                                                                                        \
        return (T)(a >> (n & (bits - 1)));                                                                   \
    }                                                                                                        \
    HELPER T rotl_##T(T a, u32 n)                                                                            \
    {                                                                                                        \
        return (T)((U)((U)a << (n & (bits - 1))) | (U)((U)a >> ((bits - n) & (bits - 1))));                  \
    }                                                                                                        \
    HELPER T abs_##T(T a)                                                                                    \
    {                                                                                                        \
        return a < 0 ? (T) - a : a;                                                                          \
    }                                                                                                        \
    HELPER T min_##T(T a, T b)                                                                               \
    {                                                                                                        \
        return a < b ? a : b;                                                                                \
    }                                                                                                        \
    HELPER T max_##T(T a, T b)                                                                               \
    {                                                                                                        \
        return a > b ? a : b;                                                                                \
    }                                                                                                        \
    HELPER T sad_##T(T a, T b, T c)                                                                          \
    {                                                                                                        \
        return (T)(c + (a > b ? a - b : b - a));                                                             \
    }
#define INTEGER_BITS(T, U, bits, is_signed)                                                                  \
    HELPER T clz_##T(T a)                                                                                    \
    {                                                                                                        \
        return (T)__builtin_clzg((U)a, bits);                                                                \
    }                                                                                                        \
    HELPER T ctz_##T(T a)                                                                                    \
    {                                                                                                        \
        return (T)__builtin_ctzg((U)a, bits);                                                                \
    }                                                                                                        \
    HELPER T popcount_##T(T a)                                                                               \
    {                                                                                                        \
        return (T)__builtin_popcountg((U)a);                                                                 \
    }                                                                                                        \
    HELPER T bitreverse_##T(T a)                                                                             \
    {                                                                                                        \
        return (T)__builtin_elementwise_bitreverse((U)a);                                                    \
    }                                                                                                        \
    HELPER T add_sat_##T(T a, T b)                                                                           \
    {                                                                                                        \
        return __builtin_elementwise_add_sat(a, b);                                                          \
    }                                                                                                        \
    HELPER T sub_sat_##T(T a, T b)                                                                           \
    {                                                                                                        \
        return __builtin_elementwise_sub_sat(a, b);                                                          \
    }                                                                                                        \
    HELPER T funnel_##T(T a, T b, u32 n)                                                                     \
    {                                                                                                        \
        return (T)__builtin_elementwise_fshl((U)a, (U)b, (U)n);                                              \
    }                                                                                                        \
    HELPER T add_overflow_##T(T a, T b)                                                                      \
    {                                                                                                        \
        T r;                                                                                                 \
        return __builtin_add_overflow(a, b, &r) ? (T)~r : r;                                                 \
    }                                                                                                        \
    HELPER T sub_overflow_##T(T a, T b)                                                                      \
    {                                                                                                        \
        T r;                                                                                                 \
        return __builtin_sub_overflow(a, b, &r) ? (T)~r : r;                                                 \
    }                                                                                                        \
    HELPER T mul_overflow_##T(T a, T b)                                                                      \
    {                                                                                                        \
        T r;                                                                                                 \
        return __builtin_mul_overflow(a, b, &r) ? (T)~r : r;                                                 \
    }                                                                                                        \
    HELPER T load_##T(const u32 *mem, u32 at)                                                                \
    {                                                                                                        \
        T r;                                                                                                 \
        __builtin_memcpy(&r, (const char *)mem + at % (MEM_DWORDS * 4 - 7), sizeof r);                       \
        return r;                                                                                            \
    }                                                                                                        \
    HELPER void store_##T(u32 *mem, u32 at, T value)                                                         \
    {                                                                                                        \
        __builtin_memcpy((char *)mem + at % (MEM_DWORDS * 4 - 7), &value, sizeof value);                     \
    }
#define EVERY_INTEGER(X)                                                                                     \
    X(i8, u8, 8, 1)                                                                                          \
    X(u8, u8, 8, 0)                                                                                          \
    X(i16, u16, 16, 1)                                                                                       \
    X(u16, u16, 16, 0)                                                                                       \
    X(i32, u32, 32, 1) X(u32, u32, 32, 0) X(i64, u64, 64, 1) X(u64, u64, 64, 0)
EVERY_INTEGER(INTEGER)
EVERY_INTEGER(INTEGER_BITS)
INTEGER(i128, u128, 128, 1)
INTEGER(u128, u128, 128, 0)

HELPER u32 mulhi_u32(u32 a, u32 b)
{
    return (u32)((u64)a * b >> 32);
}
HELPER i32 mulhi_i32(i32 a, i32 b)
{
    return (i32)((i64)a * b >> 32);
}
HELPER u64 mulhi_u64(u64 a, u64 b)
{
    return (u64)((u128)a * b >> 64);
}
HELPER i64 mulhi_i64(i64 a, i64 b)
{
    return (i64)((i128)a * b >> 64);
}
HELPER u32 mul24_u32(u32 a, u32 b)
{
    return (a & 0xffffff) * (b & 0xffffff);
}
HELPER i32 mul24_i32(i32 a, i32 b)
{
    return (a << 8 >> 8) * (b << 8 >> 8);
}
HELPER u32 bytes_u32(u32 a, u32 b, u32 n)
{
    return (u32)(((u64)a << 32 | b) >> (n & 3) * 8);
}
HELPER u32 bswap_u32(u32 a)
{
    return __builtin_bswap32(a);
}
HELPER u64 bswap_u64(u64 a)
{
    return __builtin_bswap64(a);
}

#endif
