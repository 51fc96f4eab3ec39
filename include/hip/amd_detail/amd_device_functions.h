// SPDX-License-Identifier: MIT
// Integer and bit intrinsics, fences, barriers, clocks, cross-lane moves, and memcpy in device code.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_DEVICE_FUNCTIONS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_DEVICE_FUNCTIONS_H

#include <hip/amd_detail/host_defines.h>
#include <hip/amd_detail/device_library_decls.h>
#include <hip/amd_detail/amd_conversion_functions.h>
#include <hip/hip_vector_types.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(__HIPCC_RTC__)
#include <time.h>
#else
typedef long clock_t;
#endif

// Counting bits.
static inline __device__ unsigned int __popc(unsigned int x)
{
    return static_cast<unsigned int>(__builtin_popcount(x));
}
static inline __device__ unsigned int __popcll(unsigned long long int x)
{
    return static_cast<unsigned int>(__builtin_popcountll(x));
}
static inline __device__ int __clz(int x)
{
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x));
}
static inline __device__ int __clzll(long long int x)
{
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
static inline __device__ int __ffs(unsigned int x)
{
    return __builtin_ffs(static_cast<int>(x));
}
static inline __device__ int __ffs(int x)
{
    return __builtin_ffs(x);
}
static inline __device__ int __ffsll(unsigned long long int x)
{
    return __builtin_ffsll(static_cast<long long>(x));
}
static inline __device__ int __ffsll(unsigned long int x)
{
    return __builtin_ffsll(static_cast<long long>(x));
}
static inline __device__ int __ffsll(long long int x)
{
    return __builtin_ffsll(x);
}
static inline __device__ unsigned int __brev(unsigned int x)
{
    return __builtin_bitreverse32(x);
}
static inline __device__ unsigned long long int __brevll(unsigned long long int x)
{
    return __builtin_bitreverse64(x);
}
// Position of the lowest set bit, -1 if there is none.
static inline __device__ unsigned int __lastbit_u32_u64(uint64_t x)
{
    return x == 0 ? -1 : __builtin_ctzll(x);
}

// Position of the offset-th set bit from base, upwards for a positive offset, downwards for a negative one;
// with offset 0, base itself if it is set. -1 if there is none.
static inline __device__ int32_t __fns64(uint64_t mask, uint32_t base, int32_t offset)
{
    if (offset == 0)
        return (mask >> (base & 63)) & 1 ? static_cast<int32_t>(base) : -1;
    if (offset < 0) {
        mask = __builtin_bitreverse64(mask);
        base = 63 - base;
        const int32_t found = __fns64(mask, base, -offset);
        return found < 0 ? -1 : 63 - found;
    }
    mask &= ~uint64_t(0) << (base & 63);
    for (int32_t i = 1; i < offset && mask != 0; i++)
        mask &= mask - 1;
    return mask == 0 ? -1 : __builtin_ctzll(mask);
}
static inline __device__ int32_t __fns32(uint64_t mask, uint32_t base, int32_t offset)
{
    if (offset == 0)
        return (mask >> (base & 31)) & 1 ? static_cast<int32_t>(base) : -1;
    const int32_t found = __fns64(mask & 0xffffffffu, base, offset);
    return found;
}
static inline __device__ int32_t __fns(unsigned int mask, unsigned int base, int offset)
{
    return __fns32(mask, base, offset);
}

// Bit fields.
static inline __device__ unsigned int __bitextract_u32(unsigned int src, unsigned int offset,
                                                       unsigned int width)
{
    offset &= 31;
    width &= 31;
    return width == 0 ? 0 : (src << (32 - offset - width >= 32 ? 0 : 32 - offset - width)) >> (32 - width);
}
static inline __device__ uint64_t __bitextract_u64(uint64_t src, unsigned int offset, unsigned int width)
{
    offset &= 63;
    width &= 63;
    return width == 0 ? 0 : (src << (64 - offset - width >= 64 ? 0 : 64 - offset - width)) >> (64 - width);
}
static inline __device__ unsigned int __bitinsert_u32(unsigned int dst, unsigned int src, unsigned int offset,
                                                      unsigned int width)
{
    offset &= 31;
    width &= 31;
    const unsigned int field = (1u << width) - 1;
    return (dst & ~(field << offset)) | ((src & field) << offset);
}
static inline __device__ uint64_t __bitinsert_u64(uint64_t dst, uint64_t src, unsigned int offset,
                                                  unsigned int width)
{
    offset &= 63;
    width &= 63;
    const uint64_t field = (uint64_t(1) << width) - 1;
    return (dst & ~(field << offset)) | ((src & field) << offset);
}

// Each of the four low nibbles of s picks one of the eight bytes y:x; the hardware wants a byte for each.
static inline __device__ unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s)
{
    return __builtin_amdgcn_perm(y, x,
                                 (s & 0x7u) | (s & 0x70u) << 4 | (s & 0x700u) << 8 | (s & 0x7000u) << 12);
}

// Funnel shifts of the 64-bit value hi:lo.
static inline __device__ unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift)
{
    return static_cast<unsigned int>(((static_cast<uint64_t>(hi) << 32 | lo) << (shift & 31)) >> 32);
}
static inline __device__ unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift)
{
    return static_cast<unsigned int>(((static_cast<uint64_t>(hi) << 32 | lo) << (shift < 32 ? shift : 32)) >>
                                     32);
}
static inline __device__ unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift)
{
    return __builtin_amdgcn_alignbit(hi, lo, shift & 31);
}
static inline __device__ unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift)
{
    return static_cast<unsigned int>((static_cast<uint64_t>(hi) << 32 | lo) >> (shift < 32 ? shift : 32));
}

// Averages without overflow, sums of absolute differences.
static inline __device__ int __hadd(int x, int y)
{
    return static_cast<int>((static_cast<long long>(x) + y) >> 1);
}
static inline __device__ int __rhadd(int x, int y)
{
    return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
static inline __device__ unsigned int __uhadd(unsigned int x, unsigned int y)
{
    return (x & y) + ((x ^ y) >> 1);
}
static inline __device__ unsigned int __urhadd(unsigned int x, unsigned int y)
{
    return (x | y) - ((x ^ y) >> 1);
}
static inline __device__ unsigned int __sad(int x, int y, unsigned int z)
{
    return (x > y ? static_cast<unsigned int>(x) - static_cast<unsigned int>(y)
                  : static_cast<unsigned int>(y) - static_cast<unsigned int>(x)) +
           z;
}
static inline __device__ unsigned int __usad(unsigned int x, unsigned int y, unsigned int z)
{
    return (x > y ? x - y : y - x) + z;
}

// Products of 24 bits, high halves of products.
static inline __device__ int __mul24(int x, int y)
{
    return (x << 8 >> 8) * (y << 8 >> 8);
}
static inline __device__ int __umul24(unsigned int x, unsigned int y)
{
    return static_cast<int>((x & 0xffffffu) * (y & 0xffffffu));
}
static inline __device__ int __mulhi(int x, int y)
{
    return static_cast<int>((static_cast<long long>(x) * y) >> 32);
}
static inline __device__ unsigned int __umulhi(unsigned int x, unsigned int y)
{
    return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
static inline __device__ long long int __mul64hi(long long int x, long long int y)
{
    return static_cast<long long int>((static_cast<__int128>(x) * y) >> 64);
}
static inline __device__ unsigned long long int __umul64hi(unsigned long long int x, unsigned long long int y)
{
    return static_cast<unsigned long long int>((static_cast<unsigned __int128>(x) * y) >> 64);
}

// char4 arithmetic, element by element.
static inline __device__ char4 __hip_hc_add8pk(char4 a, char4 b)
{
    return a + b;
}
static inline __device__ char4 __hip_hc_sub8pk(char4 a, char4 b)
{
    return a - b;
}
static inline __device__ char4 __hip_hc_mul8pk(char4 a, char4 b)
{
    return a * b;
}

// Fences: what this thread wrote before is seen by the scope's other threads before what it writes after.
static inline __device__ void __threadfence()
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
static inline __device__ void __threadfence_block()
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
static inline __device__ void __threadfence_system()
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}
static inline __device__ void __llvm_fence_acq_sc_wg()
{
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static inline __device__ void __llvm_fence_rel_sc_wg()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
}

// Barriers.
static inline __device__ void __work_group_barrier(__cl_mem_fence_flags flags)
{
    if (flags != 0)
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    if (flags != 0)
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static inline __device__ void __barrier(int n)
{
    __work_group_barrier(static_cast<__cl_mem_fence_flags>(n));
}
static inline __device__ __attribute__((convergent)) void __syncthreads()
{
    __work_group_barrier(__CLK_LOCAL_MEM_FENCE | __CLK_GLOBAL_MEM_FENCE);
}
static inline __device__ __attribute__((convergent)) int __syncthreads_count(int predicate)
{
    return __ockl_wgred_add_i32(!!predicate);
}
static inline __device__ __attribute__((convergent)) int __syncthreads_and(int predicate)
{
    return __ockl_wgred_and_i32(!!predicate);
}
static inline __device__ __attribute__((convergent)) int __syncthreads_or(int predicate)
{
    return __ockl_wgred_or_i32(!!predicate);
}
static inline __device__ void __named_sync()
{
    __builtin_amdgcn_s_barrier();
}

// Time. clock64() counts core clocks, wall_clock64() the constant-rate clock
// (hipDeviceAttributeWallClockRate).
static inline __device__ long long int __clock64()
{
    return static_cast<long long int>(__builtin_readcyclecounter());
}
static inline __device__ long long int clock64()
{
    return __clock64();
}
static inline __device__ long long int __clock()
{
    return __clock64();
}
static inline __device__ clock_t clock()
{
    return static_cast<clock_t>(__clock64());
}
static inline __device__ long long int wall_clock64()
{
    return static_cast<long long int>(__builtin_amdgcn_s_memrealtime());
}
// s_sleep counts in 64 clocks, about 30 ns each.
static inline __device__ void __nanosleep(unsigned int ns)
{
    for (unsigned int i = 0; i <= ns / 30; i++)
        __builtin_amdgcn_s_sleep(1);
}

// The lane of a thread within its wave.
static inline __device__ unsigned int __lane_id()
{
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

// The lanes before, at and after the thread's own, as bits of a mask of the wave.
static inline __device__ unsigned long long __lanemask_lt()
{
    return (1ull << __lane_id()) - 1;
}
static inline __device__ unsigned long long __lanemask_eq()
{
    return 1ull << __lane_id();
}
static inline __device__ unsigned long long __lanemask_gt()
{
    return ~__lanemask_lt() - __lanemask_eq();
}

// Operands of s_getreg for the fields that tell where a wave runs, under the names that programs use.
#define GETREG_IMMED(size_less_one, offset, reg) ((size_less_one) << 11 | (offset) << 6 | (reg))
#define HW_ID                                    4
#define HW_ID_CU_ID_SIZE                         4
#define HW_ID_CU_ID_OFFSET                       8
#if defined(__gfx908__) || defined(__gfx90a__)
#define HW_ID_SE_ID_SIZE 3
#else
#define HW_ID_SE_ID_SIZE 2
#endif
#define HW_ID_SE_ID_OFFSET 13
#if defined(__gfx942__) || defined(__gfx950__)
#define XCC_ID               20
#define XCC_ID_XCC_ID_SIZE   4
#define XCC_ID_XCC_ID_OFFSET 0
#endif

// A number for the compute unit: XCC, shader engine and CU fields of the hardware registers, in that order.
static inline __device__ unsigned int __smid()
{
    unsigned int id = 0;
#if defined(XCC_ID)
    id = __builtin_amdgcn_s_getreg(GETREG_IMMED(XCC_ID_XCC_ID_SIZE - 1, XCC_ID_XCC_ID_OFFSET, XCC_ID));
#endif
    id = id << HW_ID_SE_ID_SIZE |
         __builtin_amdgcn_s_getreg(GETREG_IMMED(HW_ID_SE_ID_SIZE - 1, HW_ID_SE_ID_OFFSET, HW_ID));
    return id << HW_ID_CU_ID_SIZE |
           __builtin_amdgcn_s_getreg(GETREG_IMMED(HW_ID_CU_ID_SIZE - 1, HW_ID_CU_ID_OFFSET, HW_ID));
}

// Moves between lanes by byte index, by fixed pattern and by DPP control.
static inline __device__ int __hip_ds_bpermute(int index, int src)
{
    return __builtin_amdgcn_ds_bpermute(index, src);
}
static inline __device__ float __hip_ds_bpermutef(int index, float src)
{
    return __int_as_float(__builtin_amdgcn_ds_bpermute(index, __float_as_int(src)));
}
static inline __device__ int __hip_ds_permute(int index, int src)
{
    return __builtin_amdgcn_ds_permute(index, src);
}
static inline __device__ float __hip_ds_permutef(int index, float src)
{
    return __int_as_float(__builtin_amdgcn_ds_permute(index, __float_as_int(src)));
}
template <int pattern> static inline __device__ int __hip_ds_swizzle_N(int src)
{
    return __builtin_amdgcn_ds_swizzle(src, pattern);
}
template <int pattern> static inline __device__ float __hip_ds_swizzlef_N(float src)
{
    return __int_as_float(__builtin_amdgcn_ds_swizzle(__float_as_int(src), pattern));
}
template <int dpp_ctrl, int row_mask, int bank_mask, bool bound_ctrl>
static inline __device__ int __hip_move_dpp_N(int src)
{
    return __builtin_amdgcn_mov_dpp(src, dpp_ctrl, row_mask, bank_mask, bound_ctrl);
}
#define __hip_ds_swizzle(src, pattern)  __hip_ds_swizzle_N<(pattern)>((src))
#define __hip_ds_swizzlef(src, pattern) __hip_ds_swizzlef_N<(pattern)>((src))
#define __hip_move_dpp(src, dpp_ctrl, row_mask, bank_mask, bound_ctrl)                                       \
    __hip_move_dpp_N<(dpp_ctrl), (row_mask), (bank_mask), (bound_ctrl)>((src))

// Where dynamic shared memory begins in this workgroup's allocation.
static inline __device__ void *__get_dynamicgroupbaseptr()
{
    extern __shared__ char __hip_dynamic_group_base[];
    return __hip_dynamic_group_base;
}

// Block copies and fills. The compiler makes loops or straight code of these as the size is known.
extern "C" {
static inline __device__ void *__hip_hc_memcpy(void *dst, const void *src, size_t size)
{
    return __builtin_memcpy(dst, src, size);
}
static inline __device__ void *__hip_hc_memset(void *dst, unsigned char value, size_t size)
{
    return __builtin_memset(dst, value, size);
}
static inline __device__ void *memcpy(void *dst, const void *src, size_t size)
{
    return __builtin_memcpy(dst, src, size);
}
static inline __device__ void *memmove(void *dst, const void *src, size_t size)
{
    return __builtin_memmove(dst, src, size);
}
static inline __device__ void *memset(void *dst, int value, size_t size)
{
    return __builtin_memset(dst, value, size);
}
}

#endif
