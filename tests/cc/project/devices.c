// SPDX-License-Identifier: MIT
// A C program that only calls the runtime.
#include <hip/hip_runtime_api.h>
#include <stdio.h>

int main(void)
{
    int count = 0;
    if (hipGetDeviceCount(&count) != hipSuccess)
        return 1;
    printf("%d devices\n", count);
    return count < 1;
}
