// SPDX-License-Identifier: MIT
// What the device libraries (ockl) provide beyond the math functions that clang's wrapper declares, and the
// OpenCL-flavoured names for scopes and orders that HIP inherited.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_DEVICE_LIBRARY_DECLS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_DEVICE_LIBRARY_DECLS_H

#include <hip/amd_detail/host_defines.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long long ullong;

extern "C" {
__device__ __attribute__((const)) bool __ockl_wfany_i32(int);
__device__ __attribute__((const)) bool __ockl_wfall_i32(int);
__device__ uint __ockl_activelane_u32(void);

__device__ __attribute__((const)) uint __ockl_mul24_u32(uint, uint);
__device__ __attribute__((const)) int __ockl_mul24_i32(int, int);
__device__ __attribute__((const)) uint __ockl_mul_hi_u32(uint, uint);
__device__ __attribute__((const)) int __ockl_mul_hi_i32(int, int);
__device__ __attribute__((const)) uint __ockl_sadd_u32(uint, uint, uint);
__device__ __attribute__((const)) uchar __ockl_clz_u8(uchar);
__device__ __attribute__((const)) ushort __ockl_clz_u16(ushort);
__device__ __attribute__((const)) uint __ockl_clz_u32(uint);
__device__ __attribute__((const)) ulong __ockl_clz_u64(ulong);

__device__ __attribute__((const)) ulong __ockl_get_global_id(uint);
__device__ __attribute__((const)) ulong __ockl_get_local_id(uint);
__device__ __attribute__((const)) ulong __ockl_get_group_id(uint);
__device__ __attribute__((const)) ulong __ockl_get_global_size(uint);
__device__ __attribute__((const)) ulong __ockl_get_local_size(uint);
__device__ __attribute__((const)) ulong __ockl_get_num_groups(uint);

__device__ int __ockl_wgred_add_i32(int);
__device__ int __ockl_wgred_and_i32(int);
__device__ int __ockl_wgred_or_i32(int);

__device__ void __ockl_grid_sync(void);
__device__ __attribute__((const)) int __ockl_grid_is_valid(void);
__device__ __attribute__((const)) uint __ockl_multi_grid_num_grids(void);
__device__ __attribute__((const)) uint __ockl_multi_grid_grid_rank(void);
__device__ __attribute__((const)) uint __ockl_multi_grid_size(void);
__device__ __attribute__((const)) uint __ockl_multi_grid_thread_rank(void);
__device__ __attribute__((const)) int __ockl_multi_grid_is_valid(void);
__device__ void __ockl_multi_grid_sync(void);

// Messages to the host, one hostcall packet at a time.
__device__ unsigned long __ockl_printf_begin(unsigned long version);
__device__ unsigned long __ockl_printf_append_string_n(unsigned long descriptor, const char *data,
                                                       unsigned long length, uint is_last);
__device__ unsigned long __ockl_printf_append_args(unsigned long descriptor, uint count, unsigned long a0,
                                                   unsigned long a1, unsigned long a2, unsigned long a3,
                                                   unsigned long a4, unsigned long a5, unsigned long a6,
                                                   uint is_last);
__device__ unsigned long __ockl_fprintf_stdout_begin(void);
__device__ unsigned long __ockl_fprintf_stderr_begin(void);
__device__ unsigned long __ockl_fprintf_append_string_n(unsigned long descriptor, const char *data,
                                                        unsigned long length, uint is_last);
__device__ unsigned long __ockl_fprintf_append_args(unsigned long descriptor, uint count, unsigned long a0,
                                                    unsigned long a1, unsigned long a2, unsigned long a3,
                                                    unsigned long a4, unsigned long a5, unsigned long a6,
                                                    uint is_last);
}

typedef uint __cl_mem_fence_flags;
#define __CLK_LOCAL_MEM_FENCE  0x01
#define __CLK_GLOBAL_MEM_FENCE 0x02

typedef enum __memory_scope {
    __memory_scope_work_item = 0,
    __memory_scope_work_group = 1,
    __memory_scope_device = 2,
    __memory_scope_all_svm_devices = 3,
    __memory_scope_sub_group = 4
} __memory_scope;

typedef enum __memory_order {
    __memory_order_relaxed = __ATOMIC_RELAXED,
    __memory_order_acquire = __ATOMIC_ACQUIRE,
    __memory_order_release = __ATOMIC_RELEASE,
    __memory_order_acq_rel = __ATOMIC_ACQ_REL,
    __memory_order_seq_cst = __ATOMIC_SEQ_CST
} __memory_order;

// A fence whose order and scope are known only at run time picks one of the few the hardware has: a
// sequentially consistent fence is the strongest of each scope and always sufficient.
static inline __device__ void __atomic_work_item_fence(__cl_mem_fence_flags, __memory_order order,
                                                       __memory_scope scope)
{
    if (order == __memory_order_relaxed || scope == __memory_scope_work_item)
        return;
    switch (scope) {
    case __memory_scope_sub_group:
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
        break;
    case __memory_scope_work_group:
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
        break;
    case __memory_scope_device:
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
        break;
    default:
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
        break;
    }
}

#endif
