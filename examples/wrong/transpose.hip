// SPDX-License-Identifier: MIT
// A mistake, for the report that it gives: the matrix is 1000 x 500, and the kernel takes it for 500 x 1000.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void transpose(float *to, const float *from, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        to[x * width + y] = from[y * width + x]; // x * height + y is meant
}

int main()
{
    const int width = 1000, height = 500;
    float *from, *to;
    if (hipMalloc(&from, sizeof(float) * width * height) || hipMalloc(&to, sizeof(float) * width * height))
        return 1;
    transpose<<<dim3(63, 32), dim3(16, 16)>>>(to, from, width, height);
    const hipError_t status = hipDeviceSynchronize();
    printf("%s\n", hipGetErrorString(status));
    return status != hipSuccess;
}
