/* SPDX-License-Identifier: MIT */
/*
 * What the loader tests load; make.sh compiles it.  No HIP headers, so that a
 * compiler alone is enough.
 */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))

typedef unsigned int uint;
struct triple {
    int a, b, c;
};

/* Variables whose initial values are addresses: dynamic relocations. */
__device__ int table[4] = {10, 11, 12, 13};
__device__ int *middle = &table[2];
__device__ int zeros[1000];
__constant__ float scale = 2.5f;

extern "C" {

__device__ __attribute__((noinline)) int twice(int x)
{
    return x * 2 + table[x & 3];
}

__device__ __attribute__((noinline)) int thrice(int x)
{
    return x * 3;
}

__device__ int (*functions[2])(int) = {twice, thrice};

/* Explicit arguments of every size, and LDS. */
__global__ void args(char c, short s, int *out, const double *in, struct triple agg, float f)
{
    __shared__ int tile[96];
    uint i = __builtin_amdgcn_workitem_id_x();
    tile[i] = c + s;
    __builtin_amdgcn_s_barrier();
    out[i] = tile[95 - i] + agg.b + (int)(in[i] * f * scale);
}

/* Hidden arguments. */
__global__ void hidden(int *out)
{
    const __attribute__((address_space(4))) uint *implicit =
        (const __attribute__((address_space(4))) uint *)__builtin_amdgcn_implicitarg_ptr();
    out[__builtin_amdgcn_workgroup_id_y()] = implicit[0] + __builtin_amdgcn_workitem_id_z();
}

/* An indirect call: dynamic stack, scratch. */
__global__ __attribute__((amdgpu_flat_work_group_size(64, 64))) void indirect(int *out, int which)
{
    out[__builtin_amdgcn_workitem_id_x()] = functions[which & 1](*middle) + zeros[which];
}
}
