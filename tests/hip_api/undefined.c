/* SPDX-License-Identifier: MIT */
/*
 * Device code that uses a variable of nobody's, for tests/hip_api/modules.c, which loads undefined.hsaco:
 *   clang --target=amdgcn-amd-amdhsa -mcpu=gfx942 -O2 -nogpulib -fvisibility=default -Wl,-z,undefs \
 *       tests/hip_api/undefined.c -o tests/hip_api/undefined.hsaco
 */
typedef __attribute__((address_space(1))) int device_int;

extern device_int nowhere;
device_int *where = &nowhere;
