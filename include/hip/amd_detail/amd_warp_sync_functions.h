// SPDX-License-Identifier: MIT
// The *_sync forms of votes and shuffles. The mask names lanes of a 64-lane wave, so it must be a 64-bit
// integer: a 32-bit one, written for other hardware, would silently leave half the wave out.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_WARP_SYNC_FUNCTIONS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_WARP_SYNC_FUNCTIONS_H

// ROCm 6 asks a program to opt in with HIP_ENABLE_WARP_SYNC_BUILTINS, ROCm 7 to opt out.
#if !defined(HIP_DISABLE_WARP_SYNC_BUILTINS)

#include <hip/amd_detail/amd_warp_functions.h>
#include <hip/amd_detail/hip_type_traits.h>

#define __HIP_CHECK_MASK                                                                                     \
    static_assert(__hip_internal::is_integral<MaskT>::value && sizeof(MaskT) == 8,                           \
                  "The mask must be a 64-bit integer. Implicitly promoting a smaller integer is almost "     \
                  "always an error.")

template <typename MaskT> static inline __device__ void __syncwarp(MaskT mask)
{
    __HIP_CHECK_MASK;
    (void)mask;
    __syncwarp();
}

// The vote counts only the lanes of the mask.
template <typename MaskT> static inline __device__ unsigned long long __ballot_sync(MaskT mask, int predicate)
{
    __HIP_CHECK_MASK;
    return __ballot(predicate) & static_cast<unsigned long long>(mask);
}
template <typename MaskT> static inline __device__ int __all_sync(MaskT mask, int predicate)
{
    __HIP_CHECK_MASK;
    return __ballot_sync(mask, predicate == 0) == 0;
}
template <typename MaskT> static inline __device__ int __any_sync(MaskT mask, int predicate)
{
    __HIP_CHECK_MASK;
    return __ballot_sync(mask, predicate) != 0;
}

// Which lanes hold the same value: one round for each distinct value.
template <typename T> static inline __device__ unsigned long long __match_any(T value)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match_any compares 4 or 8 bytes");
    unsigned long long mine = 0;
    __builtin_memcpy(&mine, &value, sizeof(T));
    const int low = static_cast<int>(mine);
    const int high = static_cast<int>(mine >> 32);
    unsigned long long result = 0;
    bool done = false;
    while (!done) {
        if (low == __builtin_amdgcn_readfirstlane(low) && high == __builtin_amdgcn_readfirstlane(high)) {
            result = __activemask();
            done = true;
        }
    }
    return result;
}
template <typename MaskT, typename T>
static inline __device__ unsigned long long __match_any_sync(MaskT mask, T value)
{
    __HIP_CHECK_MASK;
    return __match_any(value) & static_cast<unsigned long long>(mask);
}
template <typename T> static inline __device__ unsigned long long __match_all(T value, int *pred)
{
    const unsigned long long same = __match_any(value);
    const bool all = same == __activemask();
    *pred = all;
    return all ? same : 0;
}
template <typename MaskT, typename T>
static inline __device__ unsigned long long __match_all_sync(MaskT mask, T value, int *pred)
{
    __HIP_CHECK_MASK;
    const unsigned long long lanes = static_cast<unsigned long long>(mask) & __activemask();
    const unsigned long long same = __match_any(value) & lanes;
    const bool all = same == lanes;
    *pred = all;
    return all ? lanes : 0;
}

template <typename MaskT, typename T>
static inline __device__ T __shfl_sync(MaskT mask, T var, int srcLane, int width = warpSize)
{
    __HIP_CHECK_MASK;
    (void)mask;
    return __shfl(var, srcLane, width);
}
template <typename MaskT, typename T>
static inline __device__ T __shfl_up_sync(MaskT mask, T var, unsigned int delta, int width = warpSize)
{
    __HIP_CHECK_MASK;
    (void)mask;
    return __shfl_up(var, delta, width);
}
template <typename MaskT, typename T>
static inline __device__ T __shfl_down_sync(MaskT mask, T var, unsigned int delta, int width = warpSize)
{
    __HIP_CHECK_MASK;
    (void)mask;
    return __shfl_down(var, delta, width);
}
template <typename MaskT, typename T>
static inline __device__ T __shfl_xor_sync(MaskT mask, T var, int laneMask, int width = warpSize)
{
    __HIP_CHECK_MASK;
    (void)mask;
    return __shfl_xor(var, laneMask, width);
}

// Reductions over the lanes of the mask, as ROCm 7 has them.
template <typename MaskT, typename T, typename Op>
static inline __device__ T __hip_reduce_sync(MaskT mask, T value, Op op)
{
    __HIP_CHECK_MASK;
    unsigned long long lanes = static_cast<unsigned long long>(mask) & __activemask();
    T result = __shfl(value, __builtin_ctzll(lanes));
    for (lanes &= lanes - 1; lanes != 0; lanes &= lanes - 1)
        result = op(result, __shfl(value, __builtin_ctzll(lanes)));
    return result;
}
#define __HIP_REDUCE_SYNC(name, expression)                                                                  \
    template <typename MaskT, typename T>                                                                    \
    static inline __device__ T __reduce_##name##_sync(MaskT mask, T value)                                   \
    {                                                                                                        \
        return __hip_reduce_sync(mask, value, [](T a, T b) { return static_cast<T>(expression); });          \
    }
__HIP_REDUCE_SYNC(add, a + b)
__HIP_REDUCE_SYNC(min, a < b ? a : b)
__HIP_REDUCE_SYNC(max, a < b ? b : a)
__HIP_REDUCE_SYNC(and, a &b)
__HIP_REDUCE_SYNC(or, a | b)
__HIP_REDUCE_SYNC(xor, a ^ b)
#undef __HIP_REDUCE_SYNC

#undef __HIP_CHECK_MASK
#endif

#endif
