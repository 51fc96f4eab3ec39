// SPDX-License-Identifier: MIT
// The few type traits these headers need. Run-time compilation has no C++ standard library, so there they
// come from the compiler's own builtins.
#ifndef HIP_AMD_DETAIL_HIP_TYPE_TRAITS_H
#define HIP_AMD_DETAIL_HIP_TYPE_TRAITS_H

#if !defined(__HIPCC_RTC__)

#include <type_traits>

namespace __hip_internal
{
using std::conditional;
using std::enable_if;
using std::false_type;
using std::integral_constant;
using std::is_convertible;
using std::is_floating_point;
using std::is_function;
using std::is_integral;
using std::is_same;
using std::is_signed;
using std::is_unsigned;
using std::true_type;
} // namespace __hip_internal

#else

namespace __hip_internal
{
template <typename T, T v> struct integral_constant {
    static constexpr T value = v;
    typedef T value_type;
    typedef integral_constant type;
    constexpr operator T() const
    {
        return v;
    }
};
typedef integral_constant<bool, true> true_type;
typedef integral_constant<bool, false> false_type;
template <bool condition, typename T = void> struct enable_if {
};
template <typename T> struct enable_if<true, T> {
    typedef T type;
};
template <bool condition, typename A, typename B> struct conditional {
    typedef A type;
};
template <typename A, typename B> struct conditional<false, A, B> {
    typedef B type;
};
template <typename T> struct is_integral : integral_constant<bool, __is_integral(T)> {
};
template <typename T> struct is_floating_point : integral_constant<bool, __is_floating_point(T)> {
};
template <typename T> struct is_signed : integral_constant<bool, __is_signed(T) || __is_floating_point(T)> {
};
template <typename T> struct is_unsigned : integral_constant<bool, __is_unsigned(T)> {
};
template <typename T> struct is_function : integral_constant<bool, __is_function(T)> {
};
template <typename A, typename B> struct is_same : integral_constant<bool, __is_same(A, B)> {
};
template <typename A, typename B> struct is_convertible : integral_constant<bool, __is_convertible(A, B)> {
};
} // namespace __hip_internal

#endif

#endif
