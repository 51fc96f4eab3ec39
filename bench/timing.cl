// SPDX-License-Identifier: MIT
// Kernels of the timing mode's benchmark.  Built with
//   clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O3 -fno-slp-vectorize timing.cl -o timing.hsaco
// and checked in, so that it runs without a compiler for gfx942.
#define WORK_ITEM (__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x())

// Eight chains of 8 FMAs a round.
kernel void fma(global float *out, int rounds)
{
    float a[8], m = (float)WORK_ITEM * 1.0e-6f;
    for (int k = 0; k < 8; k++)
        a[k] = (float)k;
    for (int i = 0; i < rounds; i++) {
#pragma unroll
        for (int k = 0; k < 64; k++)
            a[k % 8] = __builtin_fmaf(a[k % 8], m, 1.0f);
    }
    out[WORK_ITEM] = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
}

kernel void copy(global const float *from, global float *to)
{
    to[WORK_ITEM] = from[WORK_ITEM];
}

kernel void copy_wide(global const float4 *from, global float4 *to)
{
    to[WORK_ITEM] = from[WORK_ITEM];
}

// A chain of lines for each wave: all of its lanes follow the same one.
kernel void chase(global const uint *next, int steps, global uint *out)
{
    uint at = (WORK_ITEM / 64) * 2654435761u >> 13;
    for (int i = 0; i < steps; i++)
        at = next[at * 32];
    out[WORK_ITEM] = at;
}

// Every lane a random line, of as much as the shift leaves.
kernel void gather(global const uint *from, int rounds, uint shift, global uint *out)
{
    uint at = WORK_ITEM * 2654435761u, sum = 0;
    for (int i = 0; i < rounds; i++) {
        at = at * 1664525u + 1013904223u;
        sum += from[at >> shift];
    }
    out[WORK_ITEM] = sum;
}
