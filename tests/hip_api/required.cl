/* SPDX-License-Identifier: MIT */
/*
 * A kernel for blocks of one shape, for tests/hip_api/modules.c, which loads required.hsaco:
 *   clang -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib -O2 \
 *       tests/hip_api/required.cl -o tests/hip_api/required.hsaco
 */
__kernel __attribute__((reqd_work_group_size(16, 4, 1))) void exact(__global int *out)
{
    const int x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
    out[y * 16 + x] = y + 1;
}
