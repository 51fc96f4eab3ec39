/* SPDX-License-Identifier: MIT */
/*
 * Device code with global constructors and destructors, for tests/hip_api/modules.c, which loads
 * constructors.hsaco:
 *   clang --target=amdgcn-amd-amdhsa -mcpu=gfx942 -O2 -nogpulib tests/hip_api/constructors.c -o \
 *       tests/hip_api/constructors.hsaco
 */
typedef __attribute__((address_space(1))) int device_int;

static device_int state = 3;
static device_int *at_end;

__attribute__((constructor)) static void add(void)
{
    state += 4;
}

__attribute__((constructor)) static void twice(void)
{
    state *= 2;
}

__attribute__((destructor)) static void finish(void)
{
    if (at_end)
        *at_end = state;
}

__attribute__((amdgpu_kernel)) void begin(device_int *now, device_int *end);

__attribute__((amdgpu_kernel)) void begin(device_int *now, device_int *end)
{
    *now = state;
    at_end = end;
    state += 100;
}
