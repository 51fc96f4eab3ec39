// SPDX-License-Identifier: MIT
// The program of the projects here.
#include <hip/hip_runtime.h>

__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        y[i] += a * x[i];
}

int main()
{
    const int n = 1000;
    float *x, *y;
    if (hipMallocManaged(&x, n * sizeof(float)) != hipSuccess ||
        hipMallocManaged(&y, n * sizeof(float)) != hipSuccess)
        return 1;
    for (int i = 0; i < n; i++) {
        x[i] = static_cast<float>(i);
        y[i] = 1.0f;
    }
    saxpy<<<(n + 255) / 256, 256>>>(2.0f, x, y, n);
    if (hipDeviceSynchronize() != hipSuccess)
        return 2;
    for (int i = 0; i < n; i++)
        if (y[i] != 2.0f * static_cast<float>(i) + 1.0f)
            return 3;
    return 0;
}
