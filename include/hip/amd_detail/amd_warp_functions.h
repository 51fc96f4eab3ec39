// SPDX-License-Identifier: MIT
// Votes and shuffles over the 64 lanes of a wave. `width` splits the wave into equal groups, a power of two
// wide.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_WARP_FUNCTIONS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_WARP_FUNCTIONS_H

#include <hip/amd_detail/host_defines.h>
#include <hip/amd_detail/amd_device_functions.h>

// clang no longer predefines the wave size, because it is no longer fixed for every processor. It is 64 on
// all CDNA devices, which these headers are for.
#if defined(__AMDGCN_WAVEFRONT_SIZE)
#elif __HIP_DEVICE_PASS__ && (defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__))
#define __AMDGCN_WAVEFRONT_SIZE 32
#else
#define __AMDGCN_WAVEFRONT_SIZE 64
#endif
#if !defined(__AMDGCN_WAVEFRONT_SIZE__)
#define __AMDGCN_WAVEFRONT_SIZE__ __AMDGCN_WAVEFRONT_SIZE
#endif
static constexpr int warpSize = __AMDGCN_WAVEFRONT_SIZE;

// Votes of the active lanes.
static inline __device__ unsigned long long int __ballot(int predicate)
{
    return __builtin_amdgcn_ballot_w64(predicate != 0);
}
static inline __device__ unsigned long long int __ballot64(int predicate)
{
    return __builtin_amdgcn_ballot_w64(predicate != 0);
}
static inline __device__ int __all(int predicate)
{
    return __builtin_amdgcn_ballot_w64(predicate == 0) == 0;
}
static inline __device__ int __any(int predicate)
{
    return __builtin_amdgcn_ballot_w64(predicate != 0) != 0;
}
static inline __device__ unsigned long long int __activemask()
{
    return __builtin_amdgcn_ballot_w64(true);
}

// ds_bpermute moves 32 bits; what is wider moves in pieces.
template <typename T> static inline __device__ T __hip_read_lane(T var, int lane)
{
    static_assert(sizeof(T) % 4 == 0, "shuffles move whole dwords");
    int pieces[sizeof(T) / 4];
    __builtin_memcpy(pieces, &var, sizeof(T));
    for (unsigned int i = 0; i < sizeof(T) / 4; i++)
        pieces[i] = __builtin_amdgcn_ds_bpermute(lane << 2, pieces[i]);
    __builtin_memcpy(&var, pieces, sizeof(T));
    return var;
}

static inline __device__ int __hip_lane_idx(int lane, int width)
{
    const int self = static_cast<int>(__lane_id());
    return (lane & (width - 1)) + (self & ~(width - 1));
}
static inline __device__ int __hip_lane_up(unsigned int delta, int width)
{
    const int self = static_cast<int>(__lane_id());
    const int lane = self - static_cast<int>(delta);
    return lane < (self & ~(width - 1)) ? self : lane;
}
static inline __device__ int __hip_lane_down(unsigned int delta, int width)
{
    const int self = static_cast<int>(__lane_id());
    const int lane = self + static_cast<int>(delta);
    return (self & (width - 1)) + static_cast<int>(delta) >= width ? self : lane;
}
static inline __device__ int __hip_lane_xor(int mask, int width)
{
    const int self = static_cast<int>(__lane_id());
    const int lane = self ^ mask;
    return lane >= ((self + width) & ~(width - 1)) ? self : lane;
}

#define __HIP_SHUFFLES(T)                                                                                    \
    static inline __device__ T __shfl(T var, int src_lane, int width = warpSize)                             \
    {                                                                                                        \
        return __hip_read_lane(var, __hip_lane_idx(src_lane, width));                                        \
    }                                                                                                        \
    static inline __device__ T __shfl_up(T var, unsigned int lane_delta, int width = warpSize)               \
    {                                                                                                        \
        return __hip_read_lane(var, __hip_lane_up(lane_delta, width));                                       \
    }                                                                                                        \
    static inline __device__ T __shfl_down(T var, unsigned int lane_delta, int width = warpSize)             \
    {                                                                                                        \
        return __hip_read_lane(var, __hip_lane_down(lane_delta, width));                                     \
    }                                                                                                        \
    static inline __device__ T __shfl_xor(T var, int lane_mask, int width = warpSize)                        \
    {                                                                                                        \
        return __hip_read_lane(var, __hip_lane_xor(lane_mask, width));                                       \
    }
__HIP_SHUFFLES(int)
__HIP_SHUFFLES(unsigned int)
__HIP_SHUFFLES(float)
__HIP_SHUFFLES(double)
__HIP_SHUFFLES(long)
__HIP_SHUFFLES(unsigned long)
__HIP_SHUFFLES(long long)
__HIP_SHUFFLES(unsigned long long)
#undef __HIP_SHUFFLES

// Waves run in lockstep: what is left of __syncwarp is that memory operations do not cross it.
static inline __device__ void __syncwarp()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

#endif
