// SPDX-License-Identifier: MIT
// Kernels whose counters are compared: a first copy of 8 MiB, and STREAM's triad.
#include "measure.h"

__global__ void copy(const double *a, double *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i];
}

__global__ void triad(double *a, const double *b, const double *c, double scalar, size_t n)
{
    size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < n)
        a[i] = b[i] + scalar * c[i];
}

static double *allocate(size_t bytes)
{
    void *p;
    CHECK_HIP(hipMalloc(&p, bytes));
    return static_cast<double *>(p);
}

int main()
{
    const int n = 1 << 20;
    double *a = allocate(n * sizeof(double)), *b = allocate(n * sizeof(double));
    copy<<<n / 256, 256>>>(a, b, n);
    CHECK_HIP(hipDeviceSynchronize());
    const size_t elements = size_t{2} << 20; // 16 MiB: a 32nd of what was measured
    double *x = allocate(elements * 8), *y = allocate(elements * 8), *z = allocate(elements * 8);
    triad<<<static_cast<unsigned>((elements + 191) / 192), 192>>>(x, y, z, 0.4, elements);
    CHECK_HIP(hipDeviceSynchronize());
    return 0;
}
