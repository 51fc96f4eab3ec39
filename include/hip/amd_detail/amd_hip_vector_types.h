// SPDX-License-Identifier: MIT
// The vector types char1 ... double4. In C they are plain structs. In C++ each is HIP_vector_type<T, n>,
// aligned as the hardware's vector loads want it (2 and 4 elements: the whole size; 1 and 3: one element),
// with element-wise operators. These alignments are part of HIP's binary interface.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H

#include <hip/amd_detail/host_defines.h>

#if !defined(__cplusplus)

#define __HIP_VECTOR_TYPES(T, name)                                                                          \
    typedef struct {                                                                                         \
        T x;                                                                                                 \
    } name##1;                                                                                               \
    typedef struct {                                                                                         \
        T x;                                                                                                 \
        T y;                                                                                                 \
    } name##2;                                                                                               \
    typedef struct {                                                                                         \
        T x;                                                                                                 \
        T y;                                                                                                 \
        T z;                                                                                                 \
    } name##3;                                                                                               \
    typedef struct {                                                                                         \
        T x;                                                                                                 \
        T y;                                                                                                 \
        T z;                                                                                                 \
        T w;                                                                                                 \
    } name##4;                                                                                               \
    static inline name##1 make_##name##1(T x)                                                                \
    {                                                                                                        \
        name##1 r = {x};                                                                                     \
        return r;                                                                                            \
    }                                                                                                        \
    static inline name##2 make_##name##2(T x, T y)                                                           \
    {                                                                                                        \
        name##2 r = {x, y};                                                                                  \
        return r;                                                                                            \
    }                                                                                                        \
    static inline name##3 make_##name##3(T x, T y, T z)                                                      \
    {                                                                                                        \
        name##3 r = {x, y, z};                                                                               \
        return r;                                                                                            \
    }                                                                                                        \
    static inline name##4 make_##name##4(T x, T y, T z, T w)                                                 \
    {                                                                                                        \
        name##4 r = {x, y, z, w};                                                                            \
        return r;                                                                                            \
    }

#else // C++

#include <hip/amd_detail/hip_type_traits.h>

template <typename T, unsigned int n> struct HIP_vector_base;

template <typename T> struct HIP_vector_base<T, 1> {
    using value_type = T;
    T x;
    HIP_vector_base() = default;
    explicit constexpr __host__ __device__ HIP_vector_base(T a) noexcept : x(a)
    {
    }
};

// `data` is the same storage as one compiler vector, for code that wants to give it to a builtin.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnested-anon-types"
#pragma clang diagnostic ignored "-Wgnu-anonymous-struct"
#define __HIP_VECTOR_STORAGE(n, ...)                                                                         \
    typedef T Native_vec_ __attribute__((ext_vector_type(n)));                                               \
    union {                                                                                                  \
        __extension__ struct {                                                                               \
            __VA_ARGS__                                                                                      \
        };                                                                                                   \
        Native_vec_ data;                                                                                    \
    };
#define __HIP_VECTOR_ALIGN(n)
#else
#define __HIP_VECTOR_STORAGE(n, ...) __VA_ARGS__
#define __HIP_VECTOR_ALIGN(n)        alignas(n * sizeof(T))
#endif

template <typename T> struct __HIP_VECTOR_ALIGN(2) HIP_vector_base<T, 2> {
    using value_type = T;
    __HIP_VECTOR_STORAGE(2, T x; T y;)
    HIP_vector_base() = default;
    explicit constexpr __host__ __device__ HIP_vector_base(T a) noexcept : x(a), y(a)
    {
    }
    constexpr __host__ __device__ HIP_vector_base(T a, T b) noexcept : x(a), y(b)
    {
    }
};

template <typename T> struct HIP_vector_base<T, 3> {
    using value_type = T;
    T x;
    T y;
    T z;
    HIP_vector_base() = default;
    explicit constexpr __host__ __device__ HIP_vector_base(T a) noexcept : x(a), y(a), z(a)
    {
    }
    constexpr __host__ __device__ HIP_vector_base(T a, T b, T c) noexcept : x(a), y(b), z(c)
    {
    }
};

template <typename T> struct __HIP_VECTOR_ALIGN(4) HIP_vector_base<T, 4> {
    using value_type = T;
    __HIP_VECTOR_STORAGE(4, T x; T y; T z; T w;)
    HIP_vector_base() = default;
    explicit constexpr __host__ __device__ HIP_vector_base(T a) noexcept : x(a), y(a), z(a), w(a)
    {
    }
    constexpr __host__ __device__ HIP_vector_base(T a, T b, T c, T d) noexcept : x(a), y(b), z(c), w(d)
    {
    }
};

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#undef __HIP_VECTOR_STORAGE
#undef __HIP_VECTOR_ALIGN

// Element-wise loops, written out so that the optimiser never sees an indexed aggregate.
template <unsigned int n> struct __hip_vector_each;
template <> struct __hip_vector_each<1> {
    template <typename R, typename F, typename A> static constexpr __host__ __device__ R map(F f, const A &a)
    {
        return R(f(a.x));
    }
    template <typename R, typename F, typename A, typename B>
    static constexpr __host__ __device__ R zip(F f, const A &a, const B &b)
    {
        return R(f(a.x, b.x));
    }
    template <typename A> static constexpr __host__ __device__ bool equal(const A &a, const A &b)
    {
        return a.x == b.x;
    }
};
template <> struct __hip_vector_each<2> {
    template <typename R, typename F, typename A> static constexpr __host__ __device__ R map(F f, const A &a)
    {
        return R(f(a.x), f(a.y));
    }
    template <typename R, typename F, typename A, typename B>
    static constexpr __host__ __device__ R zip(F f, const A &a, const B &b)
    {
        return R(f(a.x, b.x), f(a.y, b.y));
    }
    template <typename A> static constexpr __host__ __device__ bool equal(const A &a, const A &b)
    {
        return a.x == b.x && a.y == b.y;
    }
};
template <> struct __hip_vector_each<3> {
    template <typename R, typename F, typename A> static constexpr __host__ __device__ R map(F f, const A &a)
    {
        return R(f(a.x), f(a.y), f(a.z));
    }
    template <typename R, typename F, typename A, typename B>
    static constexpr __host__ __device__ R zip(F f, const A &a, const B &b)
    {
        return R(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z));
    }
    template <typename A> static constexpr __host__ __device__ bool equal(const A &a, const A &b)
    {
        return a.x == b.x && a.y == b.y && a.z == b.z;
    }
};
template <> struct __hip_vector_each<4> {
    template <typename R, typename F, typename A> static constexpr __host__ __device__ R map(F f, const A &a)
    {
        return R(f(a.x), f(a.y), f(a.z), f(a.w));
    }
    template <typename R, typename F, typename A, typename B>
    static constexpr __host__ __device__ R zip(F f, const A &a, const B &b)
    {
        return R(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));
    }
    template <typename A> static constexpr __host__ __device__ bool equal(const A &a, const A &b)
    {
        return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
    }
};

#define __HIP_VECTOR_FUNCTOR(name, op)                                                                       \
    template <typename T> struct __hip_vector_##name {                                                       \
        constexpr __host__ __device__ T operator()(T a, T b) const                                           \
        {                                                                                                    \
            return static_cast<T>(a op b);                                                                   \
        }                                                                                                    \
    };
__HIP_VECTOR_FUNCTOR(add, +)
__HIP_VECTOR_FUNCTOR(sub, -)
__HIP_VECTOR_FUNCTOR(mul, *)
__HIP_VECTOR_FUNCTOR(div, /)
__HIP_VECTOR_FUNCTOR(mod, %)
__HIP_VECTOR_FUNCTOR(xor, ^)
__HIP_VECTOR_FUNCTOR(or, |)
__HIP_VECTOR_FUNCTOR(and, &)
__HIP_VECTOR_FUNCTOR(shl, <<)
__HIP_VECTOR_FUNCTOR(shr, >>)
#undef __HIP_VECTOR_FUNCTOR
template <typename T> struct __hip_vector_neg {
    constexpr __host__ __device__ T operator()(T a) const
    {
        return static_cast<T>(-a);
    }
};
template <typename T> struct __hip_vector_not {
    constexpr __host__ __device__ T operator()(T a) const
    {
        return static_cast<T>(~a);
    }
};
template <typename T> struct __hip_vector_cast {
    template <typename U> constexpr __host__ __device__ T operator()(U a) const
    {
        return static_cast<T>(a);
    }
};

template <typename T, unsigned int n> struct HIP_vector_type : public HIP_vector_base<T, n> {
    using HIP_vector_base<T, n>::x;

    HIP_vector_type() = default;

    // One value for every element.
    template <typename U,
              typename __hip_internal::enable_if<__hip_internal::is_convertible<U, T>::value, int>::type = 0>
    explicit constexpr __host__ __device__ HIP_vector_type(U a) noexcept
        : HIP_vector_base<T, n>(static_cast<T>(a))
    {
    }
    // One value for each element.
    template <typename... Us,
              typename __hip_internal::enable_if<(n > 1) && sizeof...(Us) == n, int>::type = 0>
    constexpr __host__ __device__ HIP_vector_type(Us... xs) noexcept
        : HIP_vector_base<T, n>(static_cast<T>(xs)...)
    {
    }
    // Element-wise conversion.
    template <typename U,
              typename __hip_internal::enable_if<!__hip_internal::is_same<U, T>::value, int>::type = 0>
    explicit constexpr __host__ __device__ HIP_vector_type(const HIP_vector_type<U, n> &v) noexcept
        : HIP_vector_base<T, n>(
              __hip_vector_each<n>::template map<HIP_vector_base<T, n>>(__hip_vector_cast<T>(), v))
    {
    }

    __host__ __device__ HIP_vector_type &operator++() noexcept
    {
        return *this += HIP_vector_type(static_cast<T>(1));
    }
    __host__ __device__ HIP_vector_type operator++(int) noexcept
    {
        HIP_vector_type old(*this);
        ++*this;
        return old;
    }
    __host__ __device__ HIP_vector_type &operator--() noexcept
    {
        return *this -= HIP_vector_type(static_cast<T>(1));
    }
    __host__ __device__ HIP_vector_type operator--(int) noexcept
    {
        HIP_vector_type old(*this);
        --*this;
        return old;
    }

#define __HIP_VECTOR_ASSIGN(name, op, condition)                                                             \
    template <typename U = T, typename __hip_internal::enable_if<condition, int>::type = 0>                  \
    __host__ __device__ HIP_vector_type &operator op(const HIP_vector_type &v) noexcept                      \
    {                                                                                                        \
        return *this =                                                                                       \
                   __hip_vector_each<n>::template zip<HIP_vector_type>(__hip_vector_##name<T>(), *this, v);  \
    }                                                                                                        \
    template <typename U, typename __hip_internal::enable_if<                                                \
                              __hip_internal::is_convertible<U, T>::value && (condition), int>::type = 0>    \
    __host__ __device__ HIP_vector_type &operator op(U a) noexcept                                           \
    {                                                                                                        \
        return *this op HIP_vector_type(a);                                                                  \
    }
    __HIP_VECTOR_ASSIGN(add, +=, sizeof(U) != 0)
    __HIP_VECTOR_ASSIGN(sub, -=, sizeof(U) != 0)
    __HIP_VECTOR_ASSIGN(mul, *=, sizeof(U) != 0)
    __HIP_VECTOR_ASSIGN(div, /=, sizeof(U) != 0)
    __HIP_VECTOR_ASSIGN(mod, %=, __hip_internal::is_integral<U>::value)
    __HIP_VECTOR_ASSIGN(xor, ^=, __hip_internal::is_integral<U>::value)
    __HIP_VECTOR_ASSIGN(or, |=, __hip_internal::is_integral<U>::value)
    __HIP_VECTOR_ASSIGN(and, &=, __hip_internal::is_integral<U>::value)
    __HIP_VECTOR_ASSIGN(shl, <<=, __hip_internal::is_integral<U>::value)
    __HIP_VECTOR_ASSIGN(shr, >>=, __hip_internal::is_integral<U>::value)
#undef __HIP_VECTOR_ASSIGN

    constexpr __host__ __device__ HIP_vector_type operator+() const noexcept
    {
        return *this;
    }
    template <typename U = T,
              typename __hip_internal::enable_if<__hip_internal::is_signed<U>::value, int>::type = 0>
    constexpr __host__ __device__ HIP_vector_type operator-() const noexcept
    {
        return __hip_vector_each<n>::template map<HIP_vector_type>(__hip_vector_neg<T>(), *this);
    }
    template <typename U = T,
              typename __hip_internal::enable_if<__hip_internal::is_integral<U>::value, int>::type = 0>
    constexpr __host__ __device__ HIP_vector_type operator~() const noexcept
    {
        return __hip_vector_each<n>::template map<HIP_vector_type>(__hip_vector_not<T>(), *this);
    }
};

#define __HIP_VECTOR_BINARY(name, op, condition)                                                             \
    template <typename T, unsigned int n, typename __hip_internal::enable_if<condition, int>::type = 0>      \
    constexpr __host__ __device__ inline HIP_vector_type<T, n> operator op(                                  \
        const HIP_vector_type<T, n> &a, const HIP_vector_type<T, n> &b) noexcept                             \
    {                                                                                                        \
        return __hip_vector_each<n>::template zip<HIP_vector_type<T, n>>(__hip_vector_##name<T>(), a, b);    \
    }                                                                                                        \
    template <typename T, unsigned int n, typename U,                                                        \
              typename __hip_internal::enable_if<__hip_internal::is_convertible<U, T>::value && (condition), \
                                                 int>::type = 0>                                             \
    constexpr __host__ __device__ inline HIP_vector_type<T, n> operator op(const HIP_vector_type<T, n> &a,   \
                                                                           U b) noexcept                     \
    {                                                                                                        \
        return a op HIP_vector_type<T, n>(b);                                                                \
    }                                                                                                        \
    template <typename T, unsigned int n, typename U,                                                        \
              typename __hip_internal::enable_if<__hip_internal::is_convertible<U, T>::value && (condition), \
                                                 int>::type = 0>                                             \
    constexpr __host__ __device__ inline HIP_vector_type<T, n> operator op(                                  \
        U a, const HIP_vector_type<T, n> &b) noexcept                                                        \
    {                                                                                                        \
        return HIP_vector_type<T, n>(a) op b;                                                                \
    }
__HIP_VECTOR_BINARY(add, +, n != 0)
__HIP_VECTOR_BINARY(sub, -, n != 0)
__HIP_VECTOR_BINARY(mul, *, n != 0)
__HIP_VECTOR_BINARY(div, /, n != 0)
__HIP_VECTOR_BINARY(mod, %, __hip_internal::is_integral<T>::value)
__HIP_VECTOR_BINARY(xor, ^, __hip_internal::is_integral<T>::value)
__HIP_VECTOR_BINARY(or, |, __hip_internal::is_integral<T>::value)
__HIP_VECTOR_BINARY(and, &, __hip_internal::is_integral<T>::value)
__HIP_VECTOR_BINARY(shl, <<, __hip_internal::is_integral<T>::value)
__HIP_VECTOR_BINARY(shr, >>, __hip_internal::is_integral<T>::value)
#undef __HIP_VECTOR_BINARY

template <typename T, unsigned int n>
constexpr __host__ __device__ inline bool operator==(const HIP_vector_type<T, n> &a,
                                                     const HIP_vector_type<T, n> &b) noexcept
{
    return __hip_vector_each<n>::equal(a, b);
}
template <typename T, unsigned int n, typename U,
          typename __hip_internal::enable_if<__hip_internal::is_convertible<U, T>::value, int>::type = 0>
constexpr __host__ __device__ inline bool operator==(const HIP_vector_type<T, n> &a, U b) noexcept
{
    return a == HIP_vector_type<T, n>(b);
}
template <typename T, unsigned int n, typename U,
          typename __hip_internal::enable_if<__hip_internal::is_convertible<U, T>::value, int>::type = 0>
constexpr __host__ __device__ inline bool operator==(U a, const HIP_vector_type<T, n> &b) noexcept
{
    return HIP_vector_type<T, n>(a) == b;
}
template <typename T, unsigned int n>
constexpr __host__ __device__ inline bool operator!=(const HIP_vector_type<T, n> &a,
                                                     const HIP_vector_type<T, n> &b) noexcept
{
    return !(a == b);
}
template <typename T, unsigned int n, typename U,
          typename __hip_internal::enable_if<__hip_internal::is_convertible<U, T>::value, int>::type = 0>
constexpr __host__ __device__ inline bool operator!=(const HIP_vector_type<T, n> &a, U b) noexcept
{
    return !(a == b);
}
template <typename T, unsigned int n, typename U,
          typename __hip_internal::enable_if<__hip_internal::is_convertible<U, T>::value, int>::type = 0>
constexpr __host__ __device__ inline bool operator!=(U a, const HIP_vector_type<T, n> &b) noexcept
{
    return !(a == b);
}

#define __HIP_VECTOR_TYPES(T, name)                                                                          \
    using name##1 = HIP_vector_type<T, 1>;                                                                   \
    using name##2 = HIP_vector_type<T, 2>;                                                                   \
    using name##3 = HIP_vector_type<T, 3>;                                                                   \
    using name##4 = HIP_vector_type<T, 4>;                                                                   \
    static constexpr inline __host__ __device__ name##1 make_##name##1(T x)                                  \
    {                                                                                                        \
        return name##1(x);                                                                                   \
    }                                                                                                        \
    static constexpr inline __host__ __device__ name##2 make_##name##2(T x, T y)                             \
    {                                                                                                        \
        return name##2(x, y);                                                                                \
    }                                                                                                        \
    static constexpr inline __host__ __device__ name##3 make_##name##3(T x, T y, T z)                        \
    {                                                                                                        \
        return name##3(x, y, z);                                                                             \
    }                                                                                                        \
    static constexpr inline __host__ __device__ name##4 make_##name##4(T x, T y, T z, T w)                   \
    {                                                                                                        \
        return name##4(x, y, z, w);                                                                          \
    }

#endif

__HIP_VECTOR_TYPES(unsigned char, uchar)
// HIP's char1 ... char4 hold plain char, not signed char.
__HIP_VECTOR_TYPES(char, char)
__HIP_VECTOR_TYPES(unsigned short, ushort)
__HIP_VECTOR_TYPES(short, short)
__HIP_VECTOR_TYPES(unsigned int, uint)
__HIP_VECTOR_TYPES(int, int)
__HIP_VECTOR_TYPES(unsigned long, ulong)
__HIP_VECTOR_TYPES(long, long)
__HIP_VECTOR_TYPES(unsigned long long, ulonglong)
__HIP_VECTOR_TYPES(long long, longlong)
__HIP_VECTOR_TYPES(float, float)
__HIP_VECTOR_TYPES(double, double)
#undef __HIP_VECTOR_TYPES

#endif
